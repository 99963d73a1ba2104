//! The questions about one shape, or about the start, in one solver.
//!
//! A walk follows the routes of the threads of a shape symbolically. Where several moves leave a location, new literals
//! choose one of them, so that the ways that meet again at a location exclude each other and become one by a choice of
//! values. What must not be is collected as literals, each with the flaw that it shows. One call of the solver decides
//! whether one of them can hold; only if so, they are tried one by one.

use std::rc::Rc;

use selvedge_check::formula::{Atom, FormulaId};
use selvedge_check::{Role, Run, ThreadScope};
use selvedge_ir::{Count, EntryId, LocId, Op, Scope, VarId};

use super::super::encode;
use super::super::sat::{Lit, Sat};
use super::super::{Flaw, Refused};
use super::order::{choose, not_after, sort};
use super::route::{Move, Route, To};
use super::state::{Seen, State, add};
use super::step::{Choices, any_locals, assign, enter, expr, inherit, leave, seen};
use super::table::{Beside, Table};

pub(in crate::certificate) struct Walk<'a> {
    pub(super) table: &'a Table<'a>,
    run: &'a Run<'a>,
    pub(super) sat: Sat<'a>,
    /// What must not be.
    pub(super) bad: Vec<(Lit, Flaw)>,
    /// Who must be listed after a macro step.
    pub(super) seen: Claim,
    /// How many threads there are that the states do not tell of.
    pub(super) n_untold: usize,
    /// Where macro steps end, if nobody must be listed there.
    pub(super) ends: Vec<End>,
    /// How many threads have ended before it, where that matters.
    ended: u32,
}

/// The end of a way of a macro step.
pub(super) struct End {
    pub(super) state: State,
    /// Where the thread that moved stands; `None` if it has ended.
    pub(super) place: Option<u32>,
    /// What to say if the end is not in the set.
    pub(super) flaw: Flaw,
}

/// Who must be listed after a macro step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Claim {
    /// All threads.
    All,
    /// Those that were there before, but for the one that moved.
    AllButMover,
    /// Nobody yet: the ends are kept.
    Nobody,
}

impl<'a> Walk<'a> {
    pub(in crate::certificate) fn new(table: &'a Table<'a>, run: &'a Run<'a>) -> Walk<'a> {
        Walk {
            table,
            run,
            sat: Sat::new(run),
            bad: Vec::new(),
            seen: Claim::All,
            n_untold: 0,
            ends: Vec::new(),
            ended: 0,
        }
    }

    /// All initial states belong to the set.
    pub(in crate::certificate) fn start(mut self) -> Result<(), Refused> {
        let program = self.table.task.program;
        let mut now = vec![self.sat.constant(false); program.vars.len()];
        let shared: Vec<VarId> = self.vars_of(Scope::Shared);
        any_locals(&mut self.sat, &shared, &mut now);
        let mut choices = Choices::new();
        for (var, rhs) in &program.init {
            now[var.index()] = expr(&mut self.sat, rhs, &now, &mut choices)?;
        }
        let guard = self.sat.constant(true);
        let mut state = State { guard, now, others: Vec::new(), n_sorted: 0, n_old: 0 };
        match program.prelude {
            None => self.start_threads(&state, &|loc| Flaw::Start(loc))?,
            Some(prelude) => {
                let prelude = &program.procs[prelude];
                any_locals(&mut self.sat, &prelude.locals, &mut state.now);
                if self.table.task.target.has_loc(prelude.entry) {
                    return Err(Flaw::Location(prelude.entry).into());
                }
                let place = self.table.place(Role::Prelude, &[], prelude.entry);
                let place = place.ok_or(Flaw::Start(prelude.entry))?;
                self.end(state, Some(place), Flaw::Start(prelude.entry))?;
            }
        }
        self.answer()
    }

    /// All macro steps from states with threads at these places, of whom a formula holds, after so many others have
    /// ended, lead to states of the set, without error.
    pub(in crate::certificate) fn all_threads<'t>(
        mut self,
        places: &[u32],
        ended: u32,
        formula: FormulaId,
        route: &dyn Fn(u32) -> &'t Route,
    ) -> Result<(), Refused> {
        self.ended = ended;
        let shared = self.any_shared();
        let threads: Vec<Seen> = places.iter().map(|place| self.any_thread(*place)).collect();
        self.assume_order(&threads);
        self.assume(&threads, formula, &shared)?;
        if let Some(loc) = self.error(&threads) {
            self.bad.push((self.sat.constant(true), Flaw::Location(loc)));
            return self.answer();
        }
        let holder = threads.iter().position(|thread| self.table.is_holder(thread.place));
        for mover in (0..threads.len()).filter(|mover| holder.is_none_or(|holder| holder == *mover)) {
            if mover > 0 && self.are_alike(&threads[mover - 1], &threads[mover]) {
                continue;
            }
            self.step_of(&threads, mover, &shared, route(threads[mover].place))?;
        }
        self.answer()
    }

    /// The macro steps of some of these threads, of whom all but one at a time are listed, lead to states in which the
    /// others are. Errors on the way count too.
    pub(in crate::certificate) fn others<'t>(
        mut self,
        places: &[u32],
        movers: &[usize],
        route: &dyn Fn(u32) -> &'t Route,
    ) -> Result<(), Refused> {
        let shared = self.any_shared();
        let threads: Vec<Seen> = places.iter().map(|place| self.any_thread(*place)).collect();
        self.assume_order(&threads);
        for gone in 0..threads.len() {
            let mut rest = threads.clone();
            let gone = rest.remove(gone);
            let places: Vec<u32> = rest.iter().map(|thread| thread.place).collect();
            let beside = Beside { held: self.table.is_holder(gone.place), ended: 0 };
            let Some(formula) = self.table.listed(&places, beside) else { return Ok(()) };
            self.assume(&rest, formula, &shared)?;
        }
        self.seen = Claim::AllButMover;
        for mover in movers {
            self.step_of(&threads, *mover, &shared, route(threads[*mover].place))?;
        }
        self.answer()
    }

    /// There are no threads at these places, more than are listed together, of which as many as are listed together
    /// always are, where the atomic flag is held by a thread that is not among them, or not.
    pub(in crate::certificate) fn never_together(
        mut self,
        places: &[u32],
        held_elsewhere: bool,
        flaw: Flaw,
    ) -> Result<(), Refused> {
        let holders: Vec<usize> = (0..places.len()).filter(|number| self.table.is_holder(places[*number])).collect();
        if holders.len() + usize::from(held_elsewhere) > 1 {
            return Ok(());
        }
        let shared = self.any_shared();
        let threads: Vec<Seen> = places.iter().map(|place| self.any_thread(*place)).collect();
        self.assume_order(&threads);
        for chosen in choose(threads.len(), self.table.together(threads.len())) {
            let held = held_elsewhere || holders.iter().any(|holder| !chosen.contains(holder));
            let places: Vec<u32> = chosen.iter().map(|number| places[*number]).collect();
            let Some(formula) = self.table.listed(&places, Beside { held, ended: 0 }) else { return Ok(()) };
            let chosen: Vec<Seen> = chosen.into_iter().map(|number| threads[number].clone()).collect();
            self.assume(&chosen, formula, &shared)?;
        }
        self.bad.push((self.sat.constant(true), flaw));
        self.answer()
    }

    /// One of some threads makes a macro step.
    fn step_of(&mut self, threads: &[Seen], mover: usize, shared: &[Lit], route: &Route) -> Result<(), Refused> {
        self.run.tick()?;
        let mut others = threads.to_vec();
        let own = others.remove(mover);
        let now = self.seen_by(&own, shared);
        let n_sorted = others.len();
        self.follow(route, State { guard: self.sat.constant(true), now, others, n_sorted, n_old: n_sorted })
    }

    pub(super) fn any_shared(&mut self) -> Vec<Lit> {
        let mut shared = vec![self.sat.constant(false); self.table.task.program.vars.len()];
        let all_shared = self.vars_of(Scope::Shared);
        any_locals(&mut self.sat, &all_shared, &mut shared);
        shared
    }

    /// Whether two threads of a shape are at one place of which no variable is listed. Whatever one of them does, the other
    /// can do, and nobody can tell which one did: states with the two exchanged belong to the set together.
    fn are_alike(&self, one: &Seen, other: &Seen) -> bool {
        one.place == other.place && self.table.at(one.place).vars.is_empty()
    }

    /// Whether nothing of what must not be can be.
    fn answer(mut self) -> Result<(), Refused> {
        let falsehood = self.sat.constant(false);
        self.bad.retain(|(bad, _)| *bad != falsehood);
        if self.bad.is_empty() {
            return Ok(());
        }
        let some: Vec<Lit> = self.bad.iter().map(|(bad, _)| *bad).collect();
        self.sat.clause(&some);
        if !self.sat.satisfiable()? {
            return Ok(());
        }
        for (bad, flaw) in self.bad {
            if self.sat.satisfiable_with(bad)? {
                return Err(flaw.into());
            }
        }
        unreachable!("one of them holds, as the solver said before")
    }

    fn vars_of(&self, scope: Scope) -> Vec<VarId> {
        let vars = self.table.task.program.vars.iter_enumerated();
        vars.filter(|(_, var)| var.scope == scope).map(|(id, _)| id).collect()
    }

    /// A thread at a place, with any values.
    pub(super) fn any_thread(&mut self, place: u32) -> Seen {
        let program = self.table.task.program;
        let mut vars = vec![self.sat.constant(false); program.vars.len()];
        let per_thread = self.vars_of(Scope::Thread);
        any_locals(&mut self.sat, &per_thread, &mut vars);
        for proc in self.table.stack(place) {
            any_locals(&mut self.sat, &program.procs[*proc].locals, &mut vars);
        }
        seen(place, vars)
    }

    /// The values of all variables as a thread sees them.
    pub(super) fn seen_by(&self, thread: &Seen, shared: &[Lit]) -> Vec<Lit> {
        let vars = self.table.task.program.vars.iter().zip(thread.vars.iter().zip(shared));
        vars.map(|(var, (own, shared))| if var.scope == Scope::Shared { *shared } else { *own }).collect()
    }

    /// Threads at one place are in order.
    fn assume_order(&mut self, threads: &[Seen]) {
        for pair in threads.windows(2).filter(|pair| pair[0].place == pair[1].place) {
            let (left, right) = (self.row(&pair[0]), self.row(&pair[1]));
            let in_order = not_after(&mut self.sat, &left, &right);
            self.sat.require(in_order);
        }
    }

    /// A formula holds of threads that are in order.
    fn assume(&mut self, threads: &[Seen], formula: FormulaId, shared: &[Lit]) -> Result<(), Refused> {
        let rows: Vec<Vec<Lit>> = threads.iter().map(|thread| self.row(thread)).collect();
        let formula = self.formula(formula, &rows, shared)?;
        self.sat.require(formula);
        Ok(())
    }

    /// The values of the listed variables of a thread.
    pub(super) fn row(&self, thread: &Seen) -> Vec<Lit> {
        self.table.at(thread.place).vars.iter().map(|(_, var)| thread.vars[var.index()]).collect()
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

    /// Follows a route from its place.
    pub(super) fn follow(&mut self, route: &Route, state: State) -> Result<(), Refused> {
        let mut states: Vec<Vec<State>> = route.nodes.iter().map(|_| Vec::new()).collect();
        states[0].push(state);
        for (number, moves) in route.nodes.iter().enumerate() {
            self.run.tick()?;
            for state in std::mem::take(&mut states[number]) {
                let mut guard = state.guard;
                for (left, step) in (0..moves.len()).rev().zip(moves) {
                    let taken = if left == 0 { self.sat.constant(true) } else { self.sat.fresh() };
                    let mut state = state.clone();
                    state.guard = self.sat.and(guard, taken);
                    guard = self.sat.and(guard, !taken);
                    self.go(step, state, &mut states)?;
                }
            }
        }
        Ok(())
    }

    /// One step of the moving thread.
    fn go(&mut self, step: &Move, mut state: State, states: &mut [Vec<State>]) -> Result<(), Refused> {
        let program = self.table.task.program;
        match &program.edges[step.edge].op {
            Op::Assign(op) => assign(&mut self.sat, self.table, op, &mut state)?,
            Op::Assert(condition) => {
                let holds = expr(&mut self.sat, condition, &state.now, &mut Choices::new())?;
                if self.table.task.target.has_assert(step.edge) {
                    let fails = self.sat.and(state.guard, !holds);
                    self.bad.push((fails, Flaw::Assert(step.edge)));
                }
                state.guard = self.sat.and(state.guard, holds);
            }
            Op::Call(call) => {
                let now = state.now.clone();
                enter(&mut self.sat, program, (call.callee, &call.args), &now, &mut state.now)?;
            }
            Op::Return(values) => {
                if let Some(Op::Call(call)) = step.call.map(|call| &program.edges[call].op) {
                    leave(&mut self.sat, program, call, values, &mut state)?;
                }
            }
            Op::Spawn(_) | Op::Fork(_) => {
                if self.has_room(&state) && !self.begin(step, &mut state)? {
                    return Ok(());
                }
            }
            Op::End | Op::AtomicBegin | Op::AtomicEnd => {}
        }
        self.arrive(step, state, states)
    }

    /// Whether one more thread may live beside the moving one and the others.
    fn has_room(&self, state: &State) -> bool {
        match self.table.task.threads {
            ThreadScope::Unbounded => true,
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => {
                self.n_untold + self.ended as usize + state.others.len() + 1 < bound as usize
            }
        }
    }

    /// Starts a thread; whether there is anything to say beyond its first location.
    fn begin(&mut self, step: &Move, state: &mut State) -> Result<bool, Refused> {
        let program = self.table.task.program;
        let place = match step.child {
            Some(To::Place(place)) => place,
            Some(To::Error(loc)) => {
                self.bad.push((state.guard, Flaw::Location(loc)));
                return Ok(false);
            }
            _ => {
                self.bad.push((state.guard, Flaw::NotClosed(step.edge)));
                return Ok(false);
            }
        };
        let vars = match &program.edges[step.edge].op {
            Op::Spawn(spawn) => {
                let mut vars = inherit(&self.sat, program, &state.now);
                enter(&mut self.sat, program, (spawn.callee, &spawn.args), &state.now, &mut vars)?;
                vars
            }
            _ => state.now.clone(),
        };
        state.others.push(seen(place, vars));
        if let Some(loc) = self.error(&state.others) {
            self.bad.push((state.guard, Flaw::Location(loc)));
            return Ok(false);
        }
        Ok(true)
    }

    /// A location at which one of these threads, or several of them together, are an error.
    fn error(&self, threads: &[Seen]) -> Option<LocId> {
        let places: Vec<u32> = threads.iter().map(|thread| thread.place).collect();
        self.table.error(&places)
    }

    /// What is to be said of the states after a step.
    fn arrive(&mut self, step: &Move, state: State, states: &mut [Vec<State>]) -> Result<(), Refused> {
        if state.guard == self.sat.constant(false) {
            return Ok(());
        }
        let flaw = Flaw::NotClosed(step.edge);
        match step.to {
            To::Inner(number) => add(&mut self.sat, &mut states[number], state),
            To::Place(place) => self.end(state, Some(place), flaw)?,
            To::Gone => self.end(state, None, flaw)?,
            To::Start => self.start_threads(&state, &|_| flaw.clone())?,
            To::Error(loc) => self.bad.push((state.guard, Flaw::Location(loc))),
            To::Unlisted => self.bad.push((state.guard, flaw)),
        }
        Ok(())
    }

    /// The moving thread has come to a place, or has ended: the state must belong to the set.
    fn end(&mut self, state: State, place: Option<u32>, flaw: Flaw) -> Result<(), Refused> {
        if self.seen == Claim::Nobody {
            self.ends.push(End { state, place, flaw });
            return Ok(());
        }
        let mut threads = state.others;
        if self.seen == Claim::AllButMover {
            threads.truncate(state.n_old);
            let beside = Beside { held: place.is_some_and(|place| self.table.is_holder(place)), ended: 0 };
            return self.listed(state.guard, &threads, beside, state.n_sorted, &state.now, flaw);
        }
        let ends = place.is_none() && matches!(self.table.task.threads, ThreadScope::Created(_));
        threads.extend(place.map(|place| Seen { place, vars: Rc::new(state.now.clone()) }));
        let ended = self.ended + u32::from(ends);
        self.belongs(state.guard, &threads, ended, state.n_sorted, &state.now, flaw)
    }

    /// Threads, of which the first `n_sorted` are in order at each place, must belong to the set: all of them, or as many
    /// at a time as the proof speaks of.
    fn belongs(
        &mut self,
        guard: Lit,
        threads: &[Seen],
        ended: u32,
        n_sorted: usize,
        shared: &[Lit],
        flaw: Flaw,
    ) -> Result<(), Refused> {
        for chosen in choose(threads.len(), self.table.together(threads.len())) {
            let is_holder = |number: &usize| self.table.is_holder(threads[*number].place);
            let held = (0..threads.len()).any(|number| is_holder(&number) && !chosen.contains(&number));
            let n_sorted = chosen.iter().filter(|number| **number < n_sorted).count();
            let chosen: Vec<Seen> = chosen.iter().map(|number| threads[*number].clone()).collect();
            self.listed(guard, &chosen, Beside { held, ended }, n_sorted, shared, flaw.clone())?;
        }
        Ok(())
    }

    /// Threads, of which the first `n_sorted` are in order at each place, must be listed, and the formula hold of them.
    fn listed(
        &mut self,
        guard: Lit,
        threads: &[Seen],
        beside: Beside,
        n_sorted: usize,
        shared: &[Lit],
        flaw: Flaw,
    ) -> Result<(), Refused> {
        let mut order: Vec<usize> = (0..threads.len()).collect();
        order.sort_by_key(|number| threads[*number].place);
        let places: Vec<u32> = order.iter().map(|number| threads[*number].place).collect();
        if places.is_empty() && self.table.allows_nobody() {
            return Ok(());
        }
        let Some(formula) = self.table.listed(&places, beside) else {
            self.bad.push((guard, flaw));
            return Ok(());
        };
        let mut rows: Vec<Vec<Lit>> = order.iter().map(|number| self.row(&threads[*number])).collect();
        let mut first = 0;
        while first < rows.len() {
            let after = first + places[first..].iter().take_while(|place| **place == places[first]).count();
            let n_sorted_here = order[first..after].iter().take_while(|number| **number < n_sorted).count();
            sort(&mut self.sat, &mut rows[first..after], n_sorted_here);
            first = after;
        }
        let formula = self.formula(formula, &rows, shared)?;
        let outside = self.sat.and(guard, !formula);
        self.bad.push((outside, flaw));
        Ok(())
    }

    /// The initial threads begin, in every number that is allowed. Once a number is found of which no shape speaks, the
    /// others need not be looked at: all begin where the guard holds.
    fn start_threads(&mut self, state: &State, flaw: &dyn Fn(LocId) -> Flaw) -> Result<(), Refused> {
        let mut crews = vec![Crew { kinds: 0, n_threads: 0, threads: Vec::new() }];
        while let Some(crew) = crews.pop() {
            self.run.tick()?;
            if crew.kinds < self.table.task.program.entries.len() {
                self.add_crews(&crew, &mut crews);
            } else if !self.start_crew(&crew.threads, state, flaw)? {
                break;
            }
        }
        Ok(())
    }

    /// A crew, extended by each allowed number of threads of one more kind. Of the numbers beyond what the shapes have
    /// one is as good as another.
    fn add_crews(&self, crew: &Crew, crews: &mut Vec<Crew>) {
        let room = match self.table.task.threads {
            ThreadScope::Unbounded => usize::MAX,
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => (bound as usize).saturating_sub(crew.n_threads),
        };
        let kind = EntryId::new(crew.kinds);
        let (least, most) = match self.table.task.program.entries[kind].count {
            Count::Exactly(count) => (count as usize, count as usize),
            Count::AtMost(count) => (0, (count as usize).min(self.table.longest + 1)),
            Count::Any => (0, self.table.longest + 1),
        };
        for n_threads in least..=most.min(room) {
            let told = std::iter::repeat_n(kind, n_threads.min(self.table.longest + 1));
            crews.push(Crew {
                kinds: crew.kinds + 1,
                n_threads: crew.n_threads + n_threads,
                threads: crew.threads.iter().copied().chain(told).collect(),
            });
        }
    }

    /// These initial threads begin; whether the proof knows of their places and their shape.
    fn start_crew(&mut self, crew: &[EntryId], state: &State, flaw: &dyn Fn(LocId) -> Flaw) -> Result<bool, Refused> {
        let program = self.table.task.program;
        let entry_loc = |kind: EntryId| program.procs[program.entries[kind].proc].entry;
        let mut threads = Vec::new();
        for kind in crew {
            let loc = entry_loc(*kind);
            if self.table.task.target.has_loc(loc) {
                self.bad.push((state.guard, Flaw::Location(loc)));
                return Ok(false);
            }
            let Some(place) = self.table.place(Role::Free(*kind), &[], loc) else {
                self.bad.push((state.guard, flaw(loc)));
                return Ok(false);
            };
            threads.push(self.initial_thread(*kind, place, &state.now)?);
        }
        let mut places: Vec<u32> = threads.iter().map(|thread| thread.place).collect();
        places.sort_unstable();
        let first = crew.first().copied().or(program.entries.indices().next());
        let flaw = first.map_or(Flaw::OutOfScope("it starts no threads"), |kind| flaw(entry_loc(kind)));
        self.belongs(state.guard, &threads, 0, 0, &state.now, flaw)?;
        Ok(self.table.speaks_of(&places))
    }

    /// A thread as it begins: initial values read shared variables.
    fn initial_thread(&mut self, kind: EntryId, place: u32, shared: &[Lit]) -> Result<Seen, Refused> {
        let program = self.table.task.program;
        let entry = &program.entries[kind];
        let mut vars = vec![self.sat.constant(false); program.vars.len()];
        any_locals(&mut self.sat, &entry.thread_vars, &mut vars);
        let mut choices = Choices::new();
        for (var, rhs) in &entry.init {
            vars[var.index()] = expr(&mut self.sat, rhs, shared, &mut choices)?;
        }
        any_locals(&mut self.sat, &program.procs[entry.proc].locals, &mut vars);
        Ok(seen(place, vars))
    }
}

/// Initial threads of the first kinds.
struct Crew {
    kinds: usize,
    n_threads: usize,
    /// The kinds of the threads; of more threads than the shapes have only some.
    threads: Vec<EntryId>,
}
