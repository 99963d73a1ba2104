//! From a run of the system to an execution of the program.
//!
//! Each rule is found again as the end of a block, whose steps are added to the trace. An execution ends in its first
//! error, also where the run goes on.

use selvedge_check::{Run, Stop};
use selvedge_ir::trace::{ThreadId, Trace};
use selvedge_ir::tts::{Cover, LocalId, Rule, SharedId, TtsRun, TtsStep};
use selvedge_ir::{Count, StartThread, Value};

use super::System;
use super::rules::{Configuration, configurations};
use super::start::until_error;
use crate::macro_step::explicit::parts::{Kind, Parts};
use crate::macro_step::explicit::passive::{Partner, assignment, part_of, ways};
use crate::macro_step::explicit::start::{start_thread, values};
use crate::macro_step::explicit::{Block, compute};
use crate::trace_builder::waiting_threads;

/// The first part of a run that ends in a target.
struct Ending<'r> {
    steps: &'r [TtsStep],
    /// The last configuration.
    now: Configuration,
    /// The threads that cover the target.
    covers: Vec<usize>,
}

impl System<'_> {
    /// Returns the execution of a run to a target, up to its first error.
    pub fn trace(&self, run: &TtsRun, ticks: &Run<'_>) -> Result<Trace, Stop> {
        let beginning = &self.beginnings[self.begins[run.start] as usize];
        let mut trace = Trace { start: beginning.start.clone(), steps: beginning.steps.clone(), bodies: Vec::new() };
        if beginning.is_error {
            trace.start.threads = waiting_threads(self.model.program());
            return Ok(trace);
        }
        let ending = self.ending(run);
        let mut walk = RunTranslation {
            system: self,
            parts: self.parts.clone(),
            ticks,
            numbers: self.numbers(run, &ending),
            trace,
        };
        walk.trace.start.threads = walk.start_threads(run)?;
        for (now, step) in configurations(&self.tts, run).zip(ending.steps) {
            ticks.tick()?;
            if walk.apply(&now, step)? {
                return Ok(walk.trace);
            }
        }
        if let [thread] = ending.covers.as_slice() {
            walk.fail(&ending.now, *thread)?;
        }
        Ok(walk.trace)
    }

    /// Cuts a run at the first configuration that covers a target.
    fn ending<'r>(&self, run: &'r TtsRun) -> Ending<'r> {
        let mut last = None;
        for (number, now) in configurations(&self.tts, run).enumerate() {
            let mover = number.checked_sub(1).map(|before| run.steps[before].thread);
            if let Some(covers) = self.covered(&now, mover) {
                return Ending { steps: &run.steps[..number], now, covers };
            }
            last = Some(now);
        }
        let now = last.expect("a run has a first configuration");
        Ending { steps: &run.steps, now, covers: Vec::new() }
    }

    /// Returns the threads that cover a target, if some do. The thread that moved last comes first. A thread that is in
    /// an error is preferred to one whose step fails.
    fn covered(&self, now: &Configuration, mover: Option<usize>) -> Option<Vec<usize>> {
        let targets = &self.tts.targets;
        let from = targets.partition_point(|target| target.shared < now.shared);
        let mut living: Vec<usize> = (0..now.threads.len()).filter(|thread| now.threads[*thread].is_some()).collect();
        living.sort_by_key(|thread| Some(*thread) != mover);
        let here = targets[from..].iter().take_while(|target| target.shared == now.shared);
        let covers: Vec<Vec<usize>> = here.filter_map(|target| assign(target, now, &living)).collect();
        let standing = covers.iter().position(|threads| self.are_in_error(now, threads));
        covers.into_iter().nth(standing.unwrap_or(0))
    }

    /// Returns whether threads that cover a target are in an error already.
    fn are_in_error(&self, now: &Configuration, threads: &[usize]) -> bool {
        let is_error = |thread: &usize| now.threads[*thread].is_some_and(|local| self.is_error(local));
        threads.len() != 1 || threads.iter().all(is_error)
    }

    fn is_error(&self, local: LocalId) -> bool {
        let loc = self.parts.locals[self.ids.local(local).0 as usize].loc;
        self.model.task.target.has_loc(loc)
    }

    /// Returns the numbers in the trace of the first threads of the run. The trace leaves out idle threads of kinds
    /// that need not be there; they have no number.
    fn numbers(&self, run: &TtsRun, ending: &Ending<'_>) -> Vec<Option<ThreadId>> {
        let mut next = u32::from(self.model.program().prelude.is_some());
        let mut number = |(thread, local): (usize, &LocalId)| {
            let moves = ending.steps.iter().any(|step| step.thread == thread);
            let stays = moves || ending.covers.contains(&thread) || self.must_be_there(*local);
            stays.then(|| {
                next += 1;
                ThreadId(next - 1)
            })
        };
        run.threads.iter().enumerate().map(&mut number).collect()
    }

    fn must_be_there(&self, local: LocalId) -> bool {
        match self.parts.locals[self.ids.local(local).0 as usize].kind {
            Kind::Prelude => true,
            Kind::Entry(entry) => matches!(self.model.program().entries[entry].count, Count::Exactly(_)),
        }
    }
}

/// Matches the threads of a target with threads of the configuration, if there are enough.
fn assign(target: &Cover, now: &Configuration, living: &[usize]) -> Option<Vec<usize>> {
    let mut taken: Vec<usize> = Vec::new();
    for wanted in &target.threads {
        let mut free = living.iter().filter(|thread| !taken.contains(thread));
        taken.push(*free.find(|thread| now.threads[**thread] == Some(*wanted))?);
    }
    Some(taken)
}

/// A trace being built.
struct RunTranslation<'w, 'p> {
    system: &'w System<'p>,
    parts: Parts,
    ticks: &'w Run<'w>,
    /// The numbers of the run's threads in the trace.
    numbers: Vec<Option<ThreadId>>,
    trace: Trace,
}

impl RunTranslation<'_, '_> {
    fn start_threads(&self, run: &TtsRun) -> Result<Vec<StartThread>, Stop> {
        let system = self.system;
        let (shared, _) = system.ids.shared(system.tts.starts[run.start].shared);
        let there = run.threads.iter().zip(&self.numbers).filter(|(_, number)| number.is_some());
        there
            .map(|(local, _)| {
                start_thread(&system.model, &system.parts, shared, system.ids.local(*local).0, self.ticks)
            })
            .collect()
    }

    fn block(&mut self, shared: SharedId, local: LocalId) -> Result<Block, Stop> {
        let from = self.system.ids.from(shared, local);
        compute(&self.system.model, &mut self.parts, from, u32::MAX, self.ticks)
    }

    fn thread(&self, thread: usize) -> ThreadId {
        self.numbers[thread].expect("a thread that moves is in the trace")
    }

    /// Adds the steps of a rule; returns whether they end in an error.
    fn apply(&mut self, now: &Configuration, step: &TtsStep) -> Result<bool, Stop> {
        let system = self.system;
        let (rule, partner) = (&system.tts.rules[step.rule], &system.partners[step.rule.index()]);
        let plain = Rule { transfers: Vec::new(), ..rule.clone() };
        let block = self.block(now.shared, rule.local)?;
        let is_it = |out: &&crate::macro_step::explicit::Out| {
            out.partner == *partner && system.ids.rule(rule.shared, rule.local, out).as_ref() == Some(&plain)
        };
        let out = block.outs.iter().find(is_it).expect("the rule was the end of this block");
        let (mut steps, failed) = until_error(&system.model, &block, out.last, self.thread(step.thread));
        if let (Some(partner), Some(last)) = (partner, steps.last_mut())
            && last.edge == partner.edge
        {
            last.passive = self.choices(now, step, partner);
        }
        self.trace.steps.extend(steps);
        let new = (self.next_number()..).map(|number| Some(ThreadId(number))).take(rule.parts().1.len());
        self.numbers.extend(new);
        Ok(failed)
    }

    /// Returns the choices of the other threads of the trace that take part in a step, in the order of their numbers.
    fn choices(&self, now: &Configuration, step: &TtsStep, partner: &Partner) -> Vec<Vec<Value>> {
        let (system, rule) = (self.system, &self.system.tts.rules[step.rule]);
        let assign = assignment(&system.model, partner.edge);
        let mut transferred = step.transferred.iter();
        let mut choices = Vec::new();
        for (thread, local) in now.threads.iter().enumerate().filter(|(thread, _)| *thread != step.thread) {
            let Some(local) = local else { continue };
            let wanted = if rule.transfers(*local) { transferred.next().unwrap_or(local) } else { local };
            let (id, _) = system.ids.local(*local);
            let before = &self.parts.locals[id as usize];
            if self.numbers[thread].is_none() || part_of(&system.model, assign, before).is_none() {
                continue;
            }
            let after = &self.parts.locals[system.ids.local(*wanted).0 as usize];
            let ways = ways(&system.model, partner, before);
            let way = ways.into_iter().find(|(way, _)| way == after);
            choices.push(values(&way.expect("the rule transfers the thread there").1));
        }
        choices
    }

    /// Returns the number of the next thread.
    fn next_number(&self) -> u32 {
        let first = u32::from(self.system.model.program().prelude.is_some());
        self.numbers.iter().flatten().map(|number| number.0 + 1).max().unwrap_or(first)
    }

    /// Adds the steps to the error that a thread runs into, unless the thread is in it already.
    fn fail(&mut self, now: &Configuration, thread: usize) -> Result<(), Stop> {
        let system = self.system;
        let local = now.threads[thread].expect("a thread that covers a target lives");
        if system.is_error(local) {
            return Ok(());
        }
        let block = self.block(now.shared, local)?;
        let mut errors = block.errors.iter().filter(|(error, _)| error.is_in(system.model.task.target));
        let (_, last) = errors.next().expect("the pair is a target because its block meets an error");
        let (steps, _) = until_error(&system.model, &block, *last, self.thread(thread));
        self.trace.steps.extend(steps);
        Ok(())
    }
}
