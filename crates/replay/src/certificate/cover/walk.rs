//! What one thread does from a place to the next ones.
//!
//! Between places a thread takes invisible steps, or any steps while it holds the atomic flag or is the prelude's, as in
//! [`super::super::threads`]. All states on the way are visited once.

use std::collections::{BTreeMap, HashSet};

use selvedge_check::{LocalState, Place, Role, Run, SharedState};
use selvedge_ir::tts::{LocalId, SharedId};
use selvedge_ir::{Assign, EdgeId, EntryId, Expr, LocId, Op, ProcId, Scope, VarId};

use super::super::threads::is_invisible;
use super::super::{Flaw, Refused, Unjudged};
use super::census::Census;
use super::open::{Case, Needed, Values};

/// More states on the way from one place than this are not looked at.
const LIMIT: usize = 4_000_000;

/// What a thread may do without being seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Mode {
    /// Invisible steps.
    Quiet,
    /// Any steps, since it holds the atomic flag.
    Held,
    /// Any steps, since it is alone.
    Prelude,
}

/// A thread on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Spot {
    mode: Mode,
    calls: Vec<EdgeId>,
    loc: LocId,
    now: Values,
    new: Born,
}

/// The threads that a thread has started since it was last seen, in ascending order; `None` if one of them is not listed,
/// so that the way must not end. It may have none: nobody moves before the atomic section is over.
type Born = Option<Vec<LocalId>>;

/// How a way ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// At a place, or with the end of the thread.
    Rule { shared: SharedId, own: Option<LocalId>, new: Vec<LocalId> },
    /// With the failure of a target assertion.
    Failed,
    /// With a thread at a target location.
    Error(LocId),
    /// With the end of the prelude, and these values.
    Start(Values),
}

pub(super) struct Walk<'a> {
    census: &'a Census<'a>,
    entry: Option<EntryId>,
    /// The variables that must not be read: where steps must be real, those of the place that it does not list.
    hidden: HashSet<VarId>,
    waiting: Vec<Spot>,
    seen: HashSet<Spot>,
    arrivals: Vec<(EdgeId, Arrival)>,
}

/// What a step makes of a thread.
#[derive(Clone)]
enum After {
    /// It is at a location, below calls.
    At {
        calls: Vec<EdgeId>,
        loc: LocId,
    },
    Gone,
    Failed,
    Blocked,
}

impl<'a> Walk<'a> {
    /// From a place, in a state in which the thread may move.
    pub(super) fn from_place(census: &'a Census<'a>, shared: &SharedState, local: &LocalState) -> Walk<'a> {
        let place = &census.proof.places[local.place as usize];
        let mut now: Values = vec![None; census.task.program.vars.len()];
        for (var, value) in census.proof.shared_vars.iter().zip(&shared.values) {
            now[var.index()] = Some(*value);
        }
        for ((_, var), value) in place.vars.iter().zip(&local.values) {
            now[var.index()] = Some(*value);
        }
        let (entry, mode) = match place.role {
            Role::Prelude => (None, Mode::Prelude),
            Role::Holder(entry) => (Some(entry), Mode::Held),
            Role::Free(entry) => (Some(entry), Mode::Quiet),
        };
        let hidden = if census.is_exact { hidden(census, place) } else { HashSet::new() };
        let first = Spot { mode, calls: place.calls.clone(), loc: place.loc, now, new: Some(Vec::new()) };
        Walk { hidden, ..Walk::new(census, entry, first) }
    }

    /// Through the prelude, from these values on.
    pub(super) fn prelude(census: &'a Census<'a>, proc: ProcId, now: Values) -> Walk<'a> {
        let loc = census.task.program.procs[proc].entry;
        Walk::new(census, None, Spot { mode: Mode::Prelude, calls: Vec::new(), loc, now, new: Some(Vec::new()) })
    }

    fn new(census: &'a Census<'a>, entry: Option<EntryId>, first: Spot) -> Walk<'a> {
        let (hidden, seen) = (HashSet::new(), HashSet::new());
        Walk { census, entry, hidden, waiting: vec![first], seen, arrivals: Vec::new() }
    }

    /// All ways, each with its last edge.
    pub(super) fn explore(mut self, run: &Run<'_>) -> Result<Vec<(EdgeId, Arrival)>, Refused> {
        while let Some(spot) = self.waiting.pop() {
            run.tick()?;
            if self.seen.len() > LIMIT {
                return Err(Unjudged::Beyond("too many steps may follow one another without being seen").into());
            }
            for edge in self.census.flow.out(spot.loc) {
                self.step(&spot, *edge)?;
            }
        }
        Ok(self.arrivals)
    }

    /// One step along an edge, in all cases that matter: of what is open before it and read by it, and then of what is
    /// open after it and listed where it leads.
    fn step(&mut self, spot: &Spot, edge: EdgeId) -> Result<(), Refused> {
        let mut cases = vec![Case::new(spot.now.clone())];
        while let Some(case) = cases.pop() {
            let mut next = Spot { now: case.now.clone(), ..spot.clone() };
            match self.act(&case, &mut next, edge)? {
                Err(needed) => {
                    self.may_read(needed)?;
                    cases.extend([case.with(needed, true), case.with(needed, false)]);
                }
                Ok(after) => self.end_step(&case, next, &after, edge)?,
            }
        }
        Ok(())
    }

    fn end_step(&mut self, case: &Case, next: Spot, after: &After, edge: EdgeId) -> Result<(), Refused> {
        let mut ends = vec![next];
        while let Some(next) = ends.pop() {
            match self.arrive(case, &next, after.clone(), edge) {
                Ok(arrived) => arrived?,
                Err(Needed::Var(var)) => {
                    self.may_read(Needed::Var(var))?;
                    ends.extend([false, true].map(|value| {
                        let mut next = next.clone();
                        next.now[var.index()] = Some(value);
                        next
                    }));
                }
                Err(Needed::Choice(_)) => unreachable!("all that a step reads was chosen before"),
            }
        }
        Ok(())
    }

    fn may_read(&self, needed: Needed) -> Result<(), Refused> {
        match needed {
            Needed::Var(var) if self.hidden.contains(&var) => {
                Err(Unjudged::Beyond("a variable is read that is not listed").into())
            }
            _ => Ok(()),
        }
    }

    /// What the operation of an edge does to the values, and where it leads.
    fn act(&mut self, case: &Case, next: &mut Spot, id: EdgeId) -> Result<Result<After, Needed>, Refused> {
        let program = self.census.task.program;
        let edge = &program.edges[id];
        let at = |calls: &[EdgeId], loc: LocId| After::At { calls: calls.to_vec(), loc };
        Ok(match &edge.op {
            Op::Assign(assign) if assign.is_passive() => {
                return Err(Flaw::OutOfScope("some steps concern other threads").into());
            }
            Op::Assign(assign) => assigned(case, assign, &mut next.now)
                .map(|holds| if holds { at(&next.calls, edge.to) } else { After::Blocked }),
            Op::Assert(condition) => case.value(condition).map(|holds| match holds {
                true => at(&next.calls, edge.to),
                false if self.census.task.target.has_assert(id) => After::Failed,
                false => After::Blocked,
            }),
            Op::Call(call) => {
                if self.on_stack(next, call.callee) {
                    return Err(Flaw::OutOfScope("it is recursive").into());
                }
                let calls = [next.calls.as_slice(), &[id]].concat();
                let entered = self.enter(case, call.callee, &call.args, &mut next.now);
                entered.map(|()| at(&calls, program.procs[call.callee].entry))
            }
            Op::Return(values) => match next.calls.split_last() {
                None => Ok(After::Gone),
                Some((call, calls)) => {
                    let to = program.edges[*call].to;
                    self.leave(case, *call, values, &mut next.now).map(|()| at(calls, to))
                }
            },
            Op::Spawn(_) | Op::Fork(_) if self.entry.is_none() => {
                return Err(Flaw::OutOfScope("a thread may start before the initial ones").into());
            }
            Op::Spawn(spawn) => {
                let read: Result<Vec<bool>, Needed> = spawn.args.iter().map(|arg| case.value(arg)).collect();
                read.map(|_| at(&next.calls, edge.to))
            }
            Op::Fork(_) | Op::AtomicBegin | Op::AtomicEnd => Ok(at(&next.calls, edge.to)),
            Op::End => Ok(After::Gone),
        })
    }

    /// The new frame of a procedure: arguments for the parameters, open values for the other locals.
    fn enter(&self, case: &Case, callee: ProcId, args: &[Expr], now: &mut Values) -> Result<(), Needed> {
        let callee = &self.census.task.program.procs[callee];
        let args: Vec<bool> = args.iter().map(|arg| case.value(arg)).collect::<Result<_, _>>()?;
        callee.locals.iter().for_each(|local| now[local.index()] = None);
        callee.params.iter().zip(args).for_each(|(param, arg)| now[param.index()] = Some(arg));
        Ok(())
    }

    /// A return to the caller: the values, read in the callee, are written there.
    fn leave(&self, case: &Case, call: EdgeId, values: &[Expr], now: &mut Values) -> Result<(), Needed> {
        let program = self.census.task.program;
        let Op::Call(call) = &program.edges[call].op else { unreachable!("places have calls only on their stacks") };
        let values: Vec<bool> = values.iter().map(|value| case.value(value)).collect::<Result<_, _>>()?;
        program.procs[call.callee].locals.iter().for_each(|local| now[local.index()] = None);
        for (result, value) in call.results.iter().zip(values) {
            if let Some(var) = result {
                now[var.index()] = Some(value);
            }
        }
        Ok(())
    }

    /// What is to be said after a step; the inner result is a flaw.
    fn arrive(&mut self, case: &Case, next: &Spot, after: After, edge: EdgeId) -> Result<Result<(), Refused>, Needed> {
        let not_closed = Ok(Err(Flaw::NotClosed(edge).into()));
        let (calls, loc) = match after {
            After::At { calls, loc } if !self.census.task.target.has_loc(loc) => (calls, loc),
            After::Gone if next.mode != Mode::Prelude => {
                let Some(shared) = self.shared(&next.now, false)? else { return not_closed };
                return Ok(self.end(edge, shared, None, vec![next.new.clone()]));
            }
            After::Blocked => return Ok(Ok(())),
            After::Failed => return Ok(self.stop(edge, Arrival::Failed)),
            After::Gone => return Ok(self.stop(edge, Arrival::Start(next.now.clone()))),
            After::At { loc, .. } => return Ok(self.stop(edge, Arrival::Error(loc))),
        };
        let news = match self.children(case, next, edge)? {
            Ok(news) => news,
            Err(flaw) => return Ok(Err(flaw)),
        };
        let (role, mode) = self.after(next, edge);
        let place = if mode == Some(Mode::Prelude) { None } else { self.census.place(role, &calls, loc) };
        match (place, mode) {
            (Some(place), _) => {
                let shared = self.shared(&next.now, matches!(role, Role::Holder(_)))?;
                let (Some(shared), Some(own)) = (shared, self.local(&next.now, place)?) else { return not_closed };
                return Ok(self.end(edge, shared, Some(own), news));
            }
            (None, Some(mode)) if mode == Mode::Prelude || !self.is_watched(loc, edge) => {
                for new in news {
                    let spot = Spot { mode, calls: calls.clone(), loc, now: next.now.clone(), new };
                    if self.seen.insert(spot.clone()) {
                        self.waiting.push(spot);
                    }
                }
            }
            (None, _) => return not_closed,
        }
        Ok(Ok(()))
    }

    fn stop(&mut self, edge: EdgeId, arrival: Arrival) -> Result<(), Refused> {
        self.arrivals.push((edge, arrival));
        Ok(())
    }

    fn end(&mut self, edge: EdgeId, shared: SharedId, own: Option<LocalId>, news: Vec<Born>) -> Result<(), Refused> {
        for new in news {
            let new = new.ok_or(Flaw::NotClosed(edge))?;
            self.arrivals.push((edge, Arrival::Rule { shared, own, new }));
        }
        Ok(())
    }

    /// Whether it matters that a thread is at a location, or that one begins with the step along an edge that leads there:
    /// others may be where they must not be together, and the way may never end.
    fn is_watched(&self, loc: LocId, edge: EdgeId) -> bool {
        let program = self.census.task.program;
        let target = self.census.task.target;
        target.watches(loc)
            || match &program.edges[edge].op {
                Op::Spawn(spawn) => target.watches(program.procs[spawn.callee].entry),
                Op::Fork(at) => target.watches(*at),
                _ => false,
            }
    }

    /// The threads that were started on the way, the step along the edge included: a list for each way in which the new
    /// one can begin.
    fn children(&self, case: &Case, next: &Spot, edge: EdgeId) -> Result<Result<Vec<Born>, Refused>, Needed> {
        let program = self.census.task.program;
        let Some(entry) = self.entry else { return Ok(Ok(vec![Some(Vec::new())])) };
        let mut now = next.now.clone();
        let (calls, loc, locals): (&[EdgeId], LocId, &[VarId]) = match &program.edges[edge].op {
            Op::Spawn(spawn) => {
                self.enter(case, spawn.callee, &spawn.args, &mut now)?;
                let callee = &program.procs[spawn.callee];
                (&[], callee.entry, &callee.locals)
            }
            Op::Fork(at) => (&next.calls, *at, &[]),
            _ => return Ok(Ok(vec![next.new.clone()])),
        };
        if self.census.task.target.has_loc(loc) {
            return Ok(Err(Flaw::Location(loc).into()));
        }
        let (Some(place), Some(born)) = (self.census.place(Role::Free(entry), calls, loc), &next.new) else {
            return Ok(Ok(vec![None]));
        };
        // What the child has for itself may be anything; the rest it has from the thread that starts it.
        let listed = &self.census.proof.places[place as usize].vars;
        let own = |var: &VarId| locals.contains(var) && now[var.index()].is_none();
        let open: Vec<VarId> = listed.iter().map(|(_, var)| *var).filter(own).collect();
        let mut lists = Vec::new();
        for values in all_values(&now, &open) {
            lists.push(self.local(&values, place)?.map(|child| {
                let mut new = born.clone();
                new.push(child);
                new.sort_unstable();
                new
            }));
        }
        Ok(Ok(lists))
    }

    /// The shared state of some values; `None` if it is not listed.
    fn shared(&self, now: &Values, held: bool) -> Result<Option<SharedId>, Needed> {
        let values = Case::new(now.clone()).read(self.census.proof.shared_vars.iter().copied())?;
        Ok(self.census.shared(&SharedState { values, held }))
    }

    /// The state of a thread at a place; `None` if it is not listed.
    fn local(&self, now: &Values, place: u32) -> Result<Option<LocalId>, Needed> {
        let vars = &self.census.proof.places[place as usize].vars;
        let values = Case::new(now.clone()).read(vars.iter().map(|(_, var)| *var))?;
        Ok(self.census.local(place, &values))
    }

    /// Who the thread is after a step along an edge, and what it may then do without being seen.
    fn after(&self, spot: &Spot, edge: EdgeId) -> (Role, Option<Mode>) {
        let Some(entry) = self.entry else { return (Role::Prelude, Some(Mode::Prelude)) };
        let program = self.census.task.program;
        match (&program.edges[edge].op, spot.mode) {
            (Op::AtomicBegin, _) => (Role::Holder(entry), Some(Mode::Held)),
            (Op::AtomicEnd, _) => (Role::Free(entry), None),
            (_, Mode::Held) => (Role::Holder(entry), Some(Mode::Held)),
            (op, _) => {
                let quiet = is_invisible(program, &self.census.visibility, op, &spot.calls);
                (Role::Free(entry), quiet.then_some(Mode::Quiet))
            }
        }
    }

    fn on_stack(&self, spot: &Spot, callee: ProcId) -> bool {
        let program = self.census.task.program;
        let proc = |loc: LocId| program.locs[loc].proc;
        proc(spot.loc) == callee || spot.calls.iter().any(|call| proc(program.edges[*call].from) == callee)
    }
}

/// The variables that a thread sees at a place and that neither the place nor the shared states list.
fn hidden(census: &Census<'_>, place: &Place) -> HashSet<VarId> {
    let program = census.task.program;
    let running = place.calls.iter().map(|call| program.edges[*call].from).chain([place.loc]);
    let procs: HashSet<ProcId> = running.map(|loc| program.locs[loc].proc).collect();
    let sees = |var: &VarId| match program.vars[*var].scope {
        Scope::Local(proc) => procs.contains(&proc),
        Scope::Shared | Scope::Thread => true,
    };
    let listed: HashSet<VarId> =
        census.proof.shared_vars.iter().copied().chain(place.vars.iter().map(|(_, var)| *var)).collect();
    program.vars.indices().filter(sees).filter(|var| !listed.contains(var)).collect()
}

/// Writes the values of an assignment; says whether its condition holds.
fn assigned(case: &Case, assign: &Assign, now: &mut Values) -> Result<bool, Needed> {
    let mut next: BTreeMap<VarId, bool> = BTreeMap::new();
    for (var, rhs) in &assign.active {
        next.insert(*var, case.value(rhs)?);
    }
    let holds = case.value_with(&assign.constrain, &next)?;
    next.into_iter().for_each(|(var, value)| now[var.index()] = Some(value));
    Ok(holds)
}

/// All values of the variables that are open.
pub(super) fn all_values(now: &Values, open: &[VarId]) -> Vec<Values> {
    open.iter().fold(vec![now.clone()], |all, var| {
        let both = |values: &Values| {
            [false, true].map(|value| {
                let mut values = values.clone();
                values[var.index()] = Some(value);
                values
            })
        };
        all.iter().flat_map(both).collect()
    })
}
