//! From the states of a search back to an execution (thesis, Algorithm 7.2, over explicit states).
//!
//! The search kept neither the numbers of threads nor the steps. Both are found again from the start on: from each
//! state the block of some thread leads to the next one on the path. Where several do, the thread that moved last goes
//! on, so that there are few context switches.

use std::rc::Rc;

use selvedge_check::Stop;
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId, Trace};
use selvedge_transition::macro_step::explicit::parts::{Kind, Local, LocalId};
use selvedge_transition::macro_step::explicit::passive::{assignment, part_of, ways};
use selvedge_transition::macro_step::explicit::start::{fresh, prelude, shared, start_thread, values};
use selvedge_transition::macro_step::explicit::{Block, Error, Move, Out};
use selvedge_transition::trace_builder::waiting_threads;

use super::search::{ExplicitSearch, Met};
use super::start;
use super::store::State;
use crate::bounded::PartialOrder;

/// A state whose threads have numbers.
#[derive(Clone, Default)]
struct Concrete {
    shared: u32,
    holder: Option<ThreadId>,
    threads: Vec<(ThreadId, LocalId)>,
    next: u32,
    /// As in [`State::created`].
    created: u32,
}

/// The state of another thread after a step, with the choices made for it if it takes part.
type PeerOutcome = (LocalId, Option<Vec<bool>>);

/// A state, with the blocks that lead to it and the ends of their ways.
type Chase = (Concrete, Vec<(Rc<Block>, u32)>);

/// A concrete successor, with the choices of the threads that take part in the last step.
type Successor = (Concrete, Vec<Vec<bool>>);

impl ExplicitSearch<'_> {
    /// Returns an execution that ends in an error, the first one of the target on its way.
    pub(super) fn first_trace(&mut self, error: Error) -> Result<Trace, Stop> {
        let mut trace = self.trace(error)?;
        if let (Some(local), state) = (self.met[&error].by, self.store.get(self.met[&error].state)) {
            let block = self.block(&state, local, state.holder == Some(local))?;
            let (_, last) = block.errors.iter().find(|(other, _)| *other == error).expect("the block has the error");
            let path = block.path(*last);
            let is_target_error = |step: &&Move| step.error.is_some_and(|error| self.is_target_error(error));
            let first = path.iter().position(is_target_error).map_or(path.len(), |at| at + 1);
            trace.steps.truncate(trace.steps.len() - (path.len() - first));
        }
        Ok(trace)
    }

    /// Returns an execution that ends in an error.
    pub(super) fn trace(&mut self, error: Error) -> Result<Trace, Stop> {
        let Met { state, by } = self.met[&error];
        let path = self.path(state);
        let (start, mut now) = self.concrete_start(path[0])?;
        let mut found = Trace { start, steps: Vec::new(), bodies: Vec::new() };
        for number in &path[1..] {
            self.run.tick()?;
            now = self.advance(&now, *number, &mut found)?;
        }
        if let Some(local) = by {
            let mover = self.last_mover_first(&now, &found).into_iter().find(|(_, other)| *other == local);
            let (thread, local) = mover.expect("a thread of this state has the error");
            let block = self.block(&now.canonical(), local, now.holder == Some(thread))?;
            let (_, last) = block.errors.iter().find(|(other, _)| *other == error).expect("the block has the error");
            self.emit(&block, *last, thread, &[], &mut found);
        }
        if now.threads.iter().any(|(_, local)| self.parts.locals[*local as usize].kind == Kind::Prelude) {
            found.start.threads = waiting_threads(self.model.program());
        }
        Ok(found)
    }

    fn concrete_start(&mut self, number: usize) -> Result<(Start, Concrete), Stop> {
        let state = self.store.get(number);
        let wanted = &self.parts.shared[state.shared as usize];
        let mut shared = shared(self.model, self.run)?.into_iter().filter(|chosen| chosen.part == *wanted);
        let chosen = shared.next().expect("the search found this start once");
        let mut start = Start { choices: values(&chosen.choices), fresh: fresh(&chosen.fresh), threads: Vec::new() };
        let mut now = Concrete { shared: state.shared, created: state.created, ..Concrete::default() };
        match prelude(self.model, self.run)? {
            Some(locals) => {
                let wanted = &self.parts.locals[state.threads[0] as usize];
                let local = locals.iter().find(|local| local.part == *wanted);
                start.fresh.extend(fresh(&local.expect("the search found this start once").fresh));
                now.add(state.threads[0]);
            }
            None => start.threads = self.initial_threads(&state, &mut now)?,
        }
        Ok((start, now))
    }

    fn initial_threads(&self, state: &State, now: &mut Concrete) -> Result<Vec<StartThread>, Stop> {
        let mut threads = Vec::new();
        for local in &state.threads {
            threads.push(start_thread(self.model, &self.parts, state.shared, *local, self.run)?);
            now.add(*local);
        }
        Ok(threads)
    }

    fn last_mover_first(&self, now: &Concrete, found: &Trace) -> Vec<(ThreadId, LocalId)> {
        let last = found.steps.last().map(|step| step.thread);
        let (mut threads, others): (Vec<_>, Vec<_>) =
            now.threads.iter().copied().partition(|(thread, _)| Some(*thread) == last);
        threads.extend(others);
        threads.retain(|(thread, _)| now.holder.is_none_or(|holder| holder == *thread));
        threads
    }

    /// Goes on to the next state of the path.
    fn advance(&mut self, now: &Concrete, number: usize, found: &mut Trace) -> Result<Concrete, Stop> {
        let wanted = self.store.get(number);
        for (thread, local) in self.last_mover_first(now, found) {
            let block = self.block(&now.canonical(), local, now.holder == Some(thread))?;
            let ends_prelude = self.parts.locals[local as usize].kind == Kind::Prelude;
            for out in &block.outs {
                self.run.tick()?;
                if ends_prelude && out.me.is_none() {
                    if out.shared == wanted.shared {
                        self.emit(&block, out.last, thread, &[], found);
                        let (next, created) = (now.next, wanted.created);
                        let mut next = Concrete { shared: out.shared, next, created, ..Concrete::default() };
                        found.start.threads = self.initial_threads(&wanted, &mut next)?;
                        return Ok(next);
                    }
                } else if let Some((next, passive)) = self.successor(now, thread, out, &wanted) {
                    self.emit(&block, out.last, thread, &passive, found);
                    return Ok(next);
                } else if let Some((next, way)) = self.chase(now, thread, out, &wanted)? {
                    self.emit(&block, out.last, thread, &[], found);
                    way.iter().for_each(|(block, last)| self.emit(block, *last, thread, &[], found));
                    return Ok(next);
                }
            }
        }
        unreachable!("the search found this step once")
    }

    /// Returns the blocks along which the thread runs on to the wanted state after this one, if it does.
    fn chase(&mut self, now: &Concrete, thread: ThreadId, out: &Out, wanted: &State) -> Result<Option<Chase>, Stop> {
        if self.partial_order != PartialOrder::Cartesian || out.me.is_none() || out.holds || out.partner.is_some() {
            return Ok(None);
        }
        let mut first = self.moved(now, thread, out);
        out.born.iter().for_each(|child| first.add(*child));
        let mut waiting = vec![(first, Vec::new())];
        while let Some((state, way)) = waiting.pop() {
            self.run.tick()?;
            if state.canonical() == *wanted {
                return Ok(Some((state, way)));
            }
            let mover = state.threads.iter().find(|(other, _)| *other == thread);
            let (_, local) = *mover.expect("a thread that runs on does not end");
            if let Some(block) = self.runs_on(&state.canonical(), local)? {
                waiting.extend(block.outs.iter().map(|out| {
                    let way: Vec<_> = way.iter().cloned().chain([(Rc::clone(&block), out.last)]).collect();
                    (self.moved(&state, thread, out), way)
                }));
            }
        }
        Ok(None)
    }

    /// Returns the state after a block, without the threads that it starts and before others take part.
    fn moved(&self, now: &Concrete, thread: ThreadId, out: &Out) -> Concrete {
        let mut next = Concrete { shared: out.shared, ..now.clone() };
        if start::counts_created(self.model) {
            next.created += out.born.len() as u32;
        }
        next.holder = out.holds.then_some(thread);
        match out.me {
            Some(me) => {
                next.threads.iter_mut().filter(|(other, _)| *other == thread).for_each(|(_, local)| *local = me);
            }
            None => next.threads.retain(|(other, _)| *other != thread),
        }
        next
    }

    /// Returns the successor along the end of a block, if it is the wanted one.
    fn successor(&self, now: &Concrete, thread: ThreadId, out: &Out, wanted: &State) -> Option<Successor> {
        let mut next = self.moved(now, thread, out);
        let Some(partner) = &out.partner else {
            out.born.iter().for_each(|child| next.add(*child));
            return (next.canonical() == *wanted).then_some((next, Vec::new()));
        };
        let others: Vec<usize> = (0..next.threads.len()).filter(|at| next.threads[*at].0 != thread).collect();
        let assign = assignment(self.model, partner.edge);
        let options: Vec<Vec<PeerOutcome>> = others
            .iter()
            .map(|at| {
                let other = &self.parts.locals[next.threads[*at].1 as usize];
                let part = part_of(self.model, assign, other).is_some();
                let known = |local: &Local| self.parts.locals.get_index_of(local).map(|id| id as LocalId);
                let ways = ways(self.model, partner, other).into_iter();
                ways.filter_map(|(local, choices)| Some((known(&local)?, part.then_some(choices)))).collect()
            })
            .collect();
        choose(&mut next, &others, &options, wanted)
    }

    fn emit(&self, block: &Rc<Block>, last: u32, thread: ThreadId, passive: &[Vec<bool>], found: &mut Trace) {
        let path = block.path(last);
        let n_steps = path.len();
        for (at, step) in path.into_iter().enumerate() {
            let passive = if at + 1 == n_steps { passive } else { &[] };
            let passive = passive.iter().map(|choices| values(choices)).collect();
            found.steps.push(Step { passive, ..step.concrete(self.model, thread) });
        }
    }
}

/// Tries the states of the other threads after a step until the whole is the wanted state.
fn choose(next: &mut Concrete, others: &[usize], options: &[Vec<PeerOutcome>], wanted: &State) -> Option<Successor> {
    let Some((first, rest)) = others.split_first() else {
        return (next.canonical() == *wanted).then(|| (next.clone(), Vec::new()));
    };
    let old = next.threads[*first].1;
    for (local, choices) in &options[0] {
        if wanted.threads.binary_search(local).is_err() {
            continue;
        }
        next.threads[*first].1 = *local;
        if let Some((found, mut passive)) = choose(next, rest, &options[1..], wanted) {
            if let Some(choices) = choices {
                passive.insert(0, choices.clone());
            }
            return Some((found, passive));
        }
    }
    next.threads[*first].1 = old;
    None
}

impl Concrete {
    fn add(&mut self, local: LocalId) {
        self.threads.push((ThreadId(self.next), local));
        self.next += 1;
    }

    /// Returns the state without the numbers of its threads.
    fn canonical(&self) -> State {
        let mut state = State { shared: self.shared, created: self.created, ..State::default() };
        for (thread, local) in &self.threads {
            if self.holder == Some(*thread) {
                state.holder = Some(*local);
            } else {
                state.threads.push(*local);
            }
        }
        state.threads.sort_unstable();
        state
    }
}
