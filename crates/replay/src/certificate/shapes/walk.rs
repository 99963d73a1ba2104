//! The questions about one shape, or about the start, in one solver.
//!
//! A walk follows the routes of the threads of a shape with literals. Where several moves leave a location, new
//! literals choose one of them, so that the ways that meet again at a location exclude each other and become one by a
//! choice of values. What must not be is collected as literals, each with the flaw that it shows. One call of the
//! solver decides whether one of them can hold; only if so, they are tried one by one.

use std::collections::BTreeMap;
use std::rc::Rc;

use selvedge_check::formula::{Atom, FormulaId};
use selvedge_check::{Role, Run, ThreadScope};
use selvedge_ir::{Count, EdgeId, EntryId, LocId, Scope, VarId};

use super::super::encode;
use super::super::place_table::PlaceTable;
use super::super::route::{Move, To, Traveller, travel};
use super::super::sat::{Lit, Sat};
use super::super::{Flaw, Refused};
use super::Routes;
use super::order::{choose, not_after, sort};
use super::state::{Seen, State, add};
use super::table::{Environment, Table, View};
use crate::position::Position;
use crate::semantics::{Child, Control, Meaning, Scene, Writes, call_of, child, control, of_scope};

pub(super) struct Walk<'a> {
    table: &'a Table<'a>,
    run: &'a Run<'a>,
    sat: Sat<'a>,
    /// The literals that must not hold, each with the flaw that it shows.
    bad: Vec<(Lit, Flaw)>,
    /// The threads that must be listed after a macro step.
    claim: Claim,
    /// The number of threads that have ended before it, where that matters.
    ended: u32,
}

/// The threads that must be listed after a macro step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// All threads.
    All,
    /// The threads that were there before, but for the one that moved.
    AllButMover,
}

/// The values before a step, those that it chooses, and those that it chooses for each other thread.
struct Standing<'a> {
    places: &'a PlaceTable<'a>,
    now: &'a [Lit],
    others: &'a [Seen],
    once: BTreeMap<u32, Lit>,
    each: BTreeMap<(usize, u32), Lit>,
}

impl<'a> Standing<'a> {
    fn new(places: &'a PlaceTable<'a>, now: &'a [Lit], others: &'a [Seen]) -> Standing<'a> {
        Standing { places, now, others, once: BTreeMap::new(), each: BTreeMap::new() }
    }
}

impl<'r> Scene<Sat<'r>> for Standing<'_> {
    fn read(&mut self, _: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        Ok(self.now[var.index()])
    }

    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        Ok(*self.once.entry(number).or_insert_with(|| sat.fresh()))
    }

    fn n_others(&self) -> usize {
        self.others.len()
    }

    fn has(&self, other: usize, var: VarId) -> bool {
        self.places.has(self.others[other].place, var)
    }

    fn read_other(&mut self, _: &mut Sat<'r>, other: usize, var: VarId) -> Result<Lit, Refused> {
        Ok(self.others[other].vars[var.index()])
    }

    fn choice_for(&mut self, sat: &mut Sat<'r>, number_of: usize, number: u32) -> Result<Lit, Refused> {
        Ok(*self.each.entry((number_of, number)).or_insert_with(|| sat.fresh()))
    }
}

/// Writes new values; any value is a new literal.
fn write(sat: &mut Sat<'_>, writes: Writes<Lit>, into: &mut [Lit]) {
    writes.into_iter().for_each(|(var, value)| into[var.index()] = value.unwrap_or_else(|| sat.fresh()));
}

impl<'a> Walk<'a> {
    pub(super) fn new(table: &'a Table<'a>, run: &'a Run<'a>) -> Walk<'a> {
        Walk { table, run, sat: Sat::new(run), bad: Vec::new(), claim: Claim::All, ended: 0 }
    }

    /// All initial states belong to the set.
    pub(super) fn start(mut self) -> Result<(), Refused> {
        let program = self.table.task.program;
        let mut now = self.blank();
        let mut standing = Standing::new(&self.table.places, &now, &[]);
        let mut meaning = Meaning::new(program, &mut self.sat, &mut standing);
        let shared = meaning.start_shared()?;
        let begun = program.prelude.map(|prelude| meaning.begin(prelude)).transpose()?;
        write(&mut self.sat, shared, &mut now);
        write(&mut self.sat, begun.unwrap_or_default(), &mut now);
        let state = State { guard: self.sat.constant(true), now, others: Vec::new(), n_sorted: 0, n_old: 0 };
        match program.prelude {
            None => drop(self.start_threads(&state, &[], 0, 0, None)?),
            Some(prelude) => {
                let position = Position::entry(program, prelude);
                if self.table.task.target.has_loc(position.loc) {
                    return Err(Flaw::Location(position.loc).into());
                }
                let flaw = Flaw::Start(position.loc);
                let place = self.table.places.place(Role::Prelude, &position).ok_or(flaw.clone())?;
                self.end(state, Some(place), flaw)?;
            }
        }
        self.answer()
    }

    /// Checks that all macro steps from states with threads at these places, of which a formula holds, after a number
    /// of others have ended, lead to states of the set, without error.
    pub(super) fn all_threads(
        mut self,
        places: &[u32],
        ended: u32,
        formula: FormulaId,
        routes: &Routes<'_>,
    ) -> Result<(), Refused> {
        self.ended = ended;
        let (threads, shared) = self.given(places, &[((0..places.len()).collect(), formula)])?;
        if let Some(loc) = self.table.places.error(places) {
            return self.sat.refute(&[], Flaw::Location(loc));
        }
        let holder = places.iter().position(|place| self.table.places.is_holder(*place));
        for mover in (0..threads.len()).filter(|mover| holder.is_none_or(|holder| holder == *mover)) {
            if mover > 0 && self.are_alike(places[mover - 1], places[mover]) {
                continue;
            }
            self.step_of(&threads, mover, &shared, routes)?;
        }
        self.answer()
    }

    /// The macro steps of some of these threads, of which some lists satisfy formulas, lead to states in which the
    /// others are listed. Errors on the way count too.
    pub(super) fn others(
        mut self,
        places: &[u32],
        views: &[View],
        movers: &[usize],
        routes: &Routes<'_>,
    ) -> Result<(), Refused> {
        let (threads, shared) = self.given(places, views)?;
        self.claim = Claim::AllButMover;
        movers.iter().try_for_each(|mover| self.step_of(&threads, *mover, &shared, routes))?;
        self.answer()
    }

    /// There are no threads at these places of which some lists satisfy formulas.
    pub(super) fn never_together(mut self, places: &[u32], views: &[View], flaw: Flaw) -> Result<(), Refused> {
        self.given(places, views)?;
        self.sat.refute(&[], flaw)
    }

    /// Threads at these places, which are in order, with any values; some lists of them satisfy formulas. Returns the
    /// threads and the shared variables.
    fn given(&mut self, places: &[u32], views: &[View]) -> Result<(Vec<Seen>, Vec<Lit>), Refused> {
        let shared = self.any(of_scope(self.table.task.program, Scope::Shared));
        let threads: Vec<Seen> = places.iter().map(|place| self.any_thread(*place)).collect();
        let rows: Vec<Vec<Lit>> = threads.iter().map(|thread| self.row(thread)).collect();
        for (pair, rows) in places.windows(2).zip(rows.windows(2)) {
            if pair[0] == pair[1] {
                let in_order = not_after(&mut self.sat, &rows[0], &rows[1]);
                self.sat.require(in_order);
            }
        }
        for (chosen, formula) in views {
            let rows: Vec<Vec<Lit>> = chosen.iter().map(|number| rows[*number].clone()).collect();
            let formula = self.formula(*formula, &rows, &shared)?;
            self.sat.require(formula);
        }
        Ok((threads, shared))
    }

    /// One of some threads makes a macro step.
    fn step_of(&mut self, threads: &[Seen], mover: usize, shared: &[Lit], routes: &Routes<'_>) -> Result<(), Refused> {
        self.run.tick()?;
        let mut others = threads.to_vec();
        let own = others.remove(mover);
        // The values of all variables as the thread sees them.
        let vars = self.table.task.program.vars.iter().zip(own.vars.iter().zip(shared));
        let now = vars.map(|(var, (own, shared))| if var.scope == Scope::Shared { *shared } else { *own }).collect();
        let n_sorted = others.len();
        let state = State { guard: self.sat.constant(true), now, others, n_sorted, n_old: n_sorted };
        travel(routes.of(own.place), state, self, self.run)
    }

    /// No values: all variables are false.
    fn blank(&self) -> Vec<Lit> {
        vec![self.sat.constant(false); self.table.task.program.vars.len()]
    }

    /// New literals for some variables; the others are false.
    fn any(&mut self, vars: impl IntoIterator<Item = VarId>) -> Vec<Lit> {
        let mut values = self.blank();
        vars.into_iter().for_each(|var| values[var.index()] = self.sat.fresh());
        values
    }

    /// Returns whether two threads of a shape are at one place of which no variable is listed. Whatever one of them
    /// does, the other can do, and no thread can tell which one did: states with the two exchanged belong to the set
    /// together.
    fn are_alike(&self, one: u32, other: u32) -> bool {
        one == other && self.table.places.at(one).vars.is_empty()
    }

    /// Returns whether nothing of what must not be can be.
    fn answer(mut self) -> Result<(), Refused> {
        let falsehood = self.sat.constant(false);
        self.bad.retain(|(bad, _)| *bad != falsehood);
        if self.bad.is_empty() {
            return Ok(());
        }
        let some: Vec<Lit> = self.bad.iter().map(|(bad, _)| *bad).collect();
        self.sat.clause(&some);
        if !self.sat.satisfiable(&[])? {
            return Ok(());
        }
        self.bad.into_iter().try_for_each(|(bad, flaw)| self.sat.refute(&[bad], flaw))?;
        unreachable!("one of them holds, as the solver said before")
    }

    /// A thread at a place, with any values.
    fn any_thread(&mut self, place: u32) -> Seen {
        let program = self.table.task.program;
        let locals = self.table.places.stack(place).iter().flat_map(|proc| program.procs[*proc].locals.iter().copied());
        let vars = of_scope(program, Scope::Thread).chain(locals);
        Seen::new(place, self.any(vars))
    }

    /// The values of the listed variables of a thread.
    fn row(&self, thread: &Seen) -> Vec<Lit> {
        self.table.places.at(thread.place).vars.iter().map(|(_, var)| thread.vars[var.index()]).collect()
    }

    fn formula(&mut self, formula: FormulaId, rows: &[Vec<Lit>], shared: &[Lit]) -> Result<Lit, Refused> {
        let program = self.table.task.program;
        let is_shared = |var: VarId| program.vars.get(var).is_some_and(|var| var.scope == Scope::Shared);
        let mut atom = |_: &mut Sat<'_>, atom: Atom| match atom {
            Atom::Now(var) if is_shared(var) => Some(shared[var.index()]),
            Atom::Of { thread, var } => rows.get(thread as usize)?.get(var as usize).copied(),
            _ => None,
        };
        let gate = encode::formula(&mut self.sat, &self.table.proof.formulas, formula, &mut atom);
        gate.ok_or(Flaw::Malformed(None).into())
    }

    /// Returns whether one more thread may live beside the moving one and the others.
    fn has_room(&self, state: &State) -> bool {
        match self.table.task.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => {
                self.ended as usize + state.others.len() + 1 < bound as usize
            }
        }
    }

    /// Starts a thread at a place; returns whether there is anything to say beyond its first location.
    fn begin(&mut self, edge: EdgeId, to: To, frame: Writes<Lit>, state: &mut State) -> bool {
        let program = self.table.task.program;
        let To::Place(place) = to else {
            let flaw = if let To::Error(loc) = to { Flaw::Location(loc) } else { Flaw::NotClosed(edge) };
            self.bad.push((state.guard, flaw));
            return false;
        };
        let mut vars = state.now.clone();
        if let Some(Child::Spawn(_)) = child(&program.edges[edge].op) {
            vars = self.blank();
            of_scope(program, Scope::Thread).for_each(|var| vars[var.index()] = state.now[var.index()]);
            write(&mut self.sat, frame, &mut vars);
        }
        state.others.push(Seen::new(place, vars));
        let places: Vec<u32> = state.others.iter().map(|thread| thread.place).collect();
        if let Some(loc) = self.table.places.error(&places) {
            self.bad.push((state.guard, Flaw::Location(loc)));
            return false;
        }
        true
    }

    /// The moving thread has come to a place, or has ended: the state must belong to the set.
    fn end(&mut self, mut state: State, place: Option<u32>, flaw: Flaw) -> Result<(), Refused> {
        if self.claim == Claim::AllButMover {
            state.others.truncate(state.n_old);
            let all: Vec<usize> = (0..state.n_old).collect();
            let held = place.is_some_and(|place| self.table.places.is_holder(place));
            return self.listed(&state, &all, Environment { held, ended: 0 }, flaw);
        }
        let ends = place.is_none() && matches!(self.table.task.threads, ThreadScope::Created(_));
        state.others.extend(place.map(|place| Seen::new(place, state.now.clone())));
        self.belongs(&state, self.ended.saturating_add(u32::from(ends)), flaw)
    }

    /// The threads of a state must belong to the set: all of them, or as many at a time as the proof speaks of.
    fn belongs(&mut self, state: &State, ended: u32, flaw: Flaw) -> Result<(), Refused> {
        let n_threads = state.others.len();
        for chosen in choose(n_threads, self.table.together(n_threads)) {
            self.run.tick()?;
            let is_holder = |number: &usize| self.table.places.is_holder(state.others[*number].place);
            let held = (0..n_threads).any(|number| is_holder(&number) && !chosen.contains(&number));
            self.listed(state, &chosen, Environment { held, ended }, flaw.clone())?;
        }
        Ok(())
    }

    /// Some threads of a state, given by their numbers in ascending order, must be listed, and the formula hold of
    /// them.
    fn listed(&mut self, state: &State, chosen: &[usize], environment: Environment, flaw: Flaw) -> Result<(), Refused> {
        let mut order = chosen.to_vec();
        order.sort_by_key(|number| state.others[*number].place);
        let places: Vec<u32> = order.iter().map(|number| state.others[*number].place).collect();
        if places.is_empty() && self.table.allows_empty() {
            return Ok(());
        }
        let Some(formula) = self.table.listed(&places, environment) else {
            self.bad.push((state.guard, flaw));
            return Ok(());
        };
        let mut rows: Vec<Vec<Lit>> = order.iter().map(|number| self.row(&state.others[*number])).collect();
        let mut first = 0;
        while first < rows.len() {
            let after = first + places[first..].iter().take_while(|place| **place == places[first]).count();
            let n_sorted = order[first..after].iter().take_while(|number| **number < state.n_sorted).count();
            sort(&mut self.sat, &mut rows[first..after], n_sorted);
            first = after;
        }
        let formula = self.formula(formula, &rows, &state.now)?;
        let outside = self.sat.and(state.guard, !formula);
        self.bad.push((outside, flaw));
        Ok(())
    }

    /// The initial threads begin, in every number that is allowed, after those of the first kinds, of which there are
    /// `n_begun`, at the end of the prelude with an edge, or at the start. Returns whether the proof speaks of them;
    /// once a number is found of which it does not, the others need not be looked at: all begin where the guard holds.
    /// Of the numbers beyond what the shapes have one is as good as another, so that `begun` lists only some.
    fn start_threads(
        &mut self,
        state: &State,
        begun: &[EntryId],
        n_begun: usize,
        n_kinds: usize,
        edge: Option<EdgeId>,
    ) -> Result<bool, Refused> {
        self.run.tick()?;
        let kind = EntryId::new(n_kinds);
        let Some(entry) = self.table.task.program.entries.get(kind) else {
            return self.start_all(state, begun, edge);
        };
        let room = match self.table.task.threads {
            ThreadScope::Unbounded => usize::MAX,
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => (bound as usize).saturating_sub(n_begun),
        };
        let enough = self.table.longest + 1;
        let (least, most) = match entry.count {
            Count::Exactly(count) => (count as usize, count as usize),
            Count::AtMost(count) => (0, (count as usize).min(enough)),
            Count::Any => (0, enough),
        };
        for n_threads in (least..=most.min(room)).rev() {
            let begun = [begun, &vec![kind; n_threads.min(enough)]].concat();
            if !self.start_threads(state, &begun, n_begun + n_threads, n_kinds + 1, edge)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Initial threads of these kinds begin; returns whether the proof knows of their places and their shape.
    fn start_all(&mut self, state: &State, kinds: &[EntryId], edge: Option<EdgeId>) -> Result<bool, Refused> {
        let program = self.table.task.program;
        let entry = |kind: EntryId| Position::entry(program, program.entries[kind].proc);
        let flaw = |loc: LocId| edge.map_or(Flaw::Start(loc), Flaw::NotClosed);
        let mut others = Vec::new();
        for kind in kinds {
            let position = entry(*kind);
            if self.table.task.target.has_loc(position.loc) {
                self.bad.push((state.guard, Flaw::Location(position.loc)));
                return Ok(false);
            }
            let Some(place) = self.table.places.place(Role::Free(*kind), &position) else {
                self.bad.push((state.guard, flaw(position.loc)));
                return Ok(false);
            };
            let mut standing = Standing::new(&self.table.places, &state.now, &[]);
            let begun = Meaning::new(program, &mut self.sat, &mut standing).start_thread(*kind)?;
            let mut vars = self.blank();
            write(&mut self.sat, begun, &mut vars);
            others.push(Seen::new(place, vars));
        }
        let mut places: Vec<u32> = others.iter().map(|thread| thread.place).collect();
        places.sort_unstable();
        let first = kinds.first().copied().or(program.entries.indices().next());
        let flaw = first.map_or(Flaw::OutOfScope("it starts no threads"), |kind| flaw(entry(kind).loc));
        self.belongs(&State { others, n_sorted: 0, n_old: 0, ..state.clone() }, 0, flaw)?;
        Ok(self.table.speaks_of(&places))
    }
}

impl Traveller for Walk<'_> {
    type State = State;

    /// New literals choose one of the moves.
    fn split(&mut self, state: State, n_moves: usize) -> Vec<State> {
        let mut guard = state.guard;
        let mut states = Vec::new();
        for left in (0..n_moves).rev() {
            let taken = if left == 0 { self.sat.constant(true) } else { self.sat.fresh() };
            states.push(State { guard: self.sat.and(guard, taken), ..state.clone() });
            guard = self.sat.and(guard, !taken);
        }
        states
    }

    fn step(&mut self, step: &Move, mut state: State, _: &Run<'_>) -> Result<Vec<State>, Refused> {
        let program = self.table.task.program;
        let edge = &program.edges[step.edge];
        let mut standing = Standing::new(&self.table.places, &state.now, &state.others);
        let done = Meaning::new(program, &mut self.sat, &mut standing).effect(edge, step.caller)?;
        for condition in done.conditions {
            state.guard = self.sat.and(state.guard, condition);
        }
        if let Some(holds) = done.asserted {
            if self.table.task.target.has_assert(step.edge) {
                let fails = self.sat.and(state.guard, !holds);
                self.bad.push((fails, Flaw::Assert(step.edge)));
            }
            state.guard = self.sat.and(state.guard, holds);
        }
        for (other, var, value) in done.passive {
            Rc::make_mut(&mut state.others[other].vars)[var.index()] = value;
            state.n_sorted = 0;
        }
        if let Some(to) = step.child
            && self.has_room(&state)
            && !self.begin(step.edge, to, done.child, &mut state)
        {
            return Ok(Vec::new());
        }
        // The callee's variables are forgotten before the results are written, which are the caller's.
        if let Control::Return(call) = control(edge, step.caller) {
            let falsehood = self.sat.constant(false);
            let locals = &program.procs[call_of(program, call).callee].locals;
            locals.iter().for_each(|local| state.now[local.index()] = falsehood);
        }
        write(&mut self.sat, done.writes, &mut state.now);
        if state.guard == self.sat.constant(false) {
            return Ok(Vec::new());
        }
        let flaw = Flaw::NotClosed(step.edge);
        match step.to {
            To::Inner(_) => return Ok(vec![state]),
            To::Place(place) => self.end(state, Some(place), flaw)?,
            To::Gone => self.end(state, None, flaw)?,
            To::Start => drop(self.start_threads(&state, &[], 0, 0, Some(step.edge))?),
            To::Error(loc) => self.bad.push((state.guard, Flaw::Location(loc))),
            To::Unlisted => self.bad.push((state.guard, flaw)),
        }
        Ok(Vec::new())
    }

    fn wait(&mut self, _: usize, waiting: &mut Vec<State>, state: State) -> Result<(), Refused> {
        add(&mut self.sat, waiting, state);
        Ok(())
    }
}
