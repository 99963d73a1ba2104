//! A thread that follows a route with values that are known or open.
//!
//! A variable that a place or the shared states do not list may hold anything: its value is open until a step reads it;
//! then both values are followed. So are a choice, and a variable that starts with any value. All states on the way are
//! visited once.
//!
//! A step that assigns variables of other threads is the last one before the thread is seen. What it makes of another
//! thread is computed for each listed state that another thread may have; where it depends on something open, all that
//! any value leads to.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashSet;
use selvedge_check::{LocalState, Run};
use selvedge_ir::{Edge, EdgeId, Expr, Op, Program, Value, VarId};

use super::place_table::PlaceTable;
use super::route::{Move, Route, To, Traveller, travel};
use super::{Flaw, Refused, Unjudged};
use crate::domain::{Concrete, NoValue, is_true};
use crate::program::{leaves, mentions_others};
use crate::semantics::{Child, Control, Effect, Meaning, Scene, Writes, call_of, child, control};

/// More cases on the way from one place than this are not looked at.
const LIMIT: usize = 1 << 20;

const TOO_MANY: Unjudged = Unjudged::Beyond("too many steps may follow one another without being seen");

/// The values of all variables that a thread sees, by their numbers; `None` is open.
pub(super) type Values = Vec<Option<bool>>;

/// The values before a step, and those that it chooses, also for another thread if there is one.
#[derive(Clone)]
pub(super) struct Case<'a> {
    now: Values,
    choices: BTreeMap<u32, bool>,
    other: Option<Other<'a>>,
}

/// Another thread: its place, and its values.
#[derive(Clone, Copy)]
struct Other<'a> {
    table: &'a PlaceTable<'a>,
    place: u32,
    values: &'a [bool],
}

impl Other<'_> {
    fn value(&self, var: VarId) -> Option<bool> {
        self.table.vars(self.place).zip(self.values).find(|(listed, _)| *listed == var).map(|(_, value)| *value)
    }
}

impl Scene<Concrete> for Case<'_> {
    fn read(&mut self, _: &mut Concrete, var: VarId) -> Result<Value, NoValue> {
        self.now[var.index()].map(Value::Bool).ok_or(NoValue::Var(var))
    }

    fn choice(&mut self, _: &mut Concrete, number: u32) -> Result<Value, NoValue> {
        self.choices.get(&number).map(|value| Value::Bool(*value)).ok_or(NoValue::Choice(number))
    }

    fn n_others(&self) -> usize {
        usize::from(self.other.is_some())
    }

    fn has(&self, _: usize, var: VarId) -> bool {
        self.other.is_some_and(|other| other.table.has(other.place, var))
    }

    fn read_other(&mut self, _: &mut Concrete, _: usize, var: VarId) -> Result<Value, NoValue> {
        let value = self.other.and_then(|other| other.value(var));
        Ok(Value::Bool(value.expect("what is read of other threads is listed")))
    }
}

impl<'a> Case<'a> {
    /// The case in which something has this value.
    fn with(&self, needed: NoValue, value: bool) -> Case<'a> {
        let mut case = self.clone();
        match needed {
            NoValue::Var(var) => case.now[var.index()] = Some(value),
            NoValue::Choice(number) => drop(case.choices.insert(number, value)),
            NoValue::Overflow => unreachable!("Boolean programs do not compute"),
        }
        case
    }
}

/// All cases of what an operation needs to know, with its results; `may_read` objects to a need.
pub(super) fn cases<T>(
    program: &Program,
    now: Values,
    run: &Run<'_>,
    may_read: impl Fn(NoValue) -> Result<(), Refused>,
    operation: impl Fn(&mut Meaning<'_, Concrete, Case<'_>>) -> Result<T, NoValue>,
) -> Result<Vec<(Values, T)>, Refused> {
    let first = Case { now, choices: BTreeMap::new(), other: None };
    let all = cases_of(program, first, run, may_read, operation)?;
    Ok(all.into_iter().map(|(case, result)| (case.now, result)).collect())
}

/// The same from a case on.
fn cases_of<'a, T>(
    program: &Program,
    first: Case<'a>,
    run: &Run<'_>,
    may_read: impl Fn(NoValue) -> Result<(), Refused>,
    operation: impl Fn(&mut Meaning<'_, Concrete, Case<'a>>) -> Result<T, NoValue>,
) -> Result<Vec<(Case<'a>, T)>, Refused> {
    let mut results = Vec::new();
    let mut open = vec![first];
    while let Some(mut case) = open.pop() {
        run.tick()?;
        match operation(&mut Meaning::new(program, &mut Concrete, &mut case)) {
            Ok(result) => results.push((case, result)),
            Err(needed) => {
                may_read(needed)?;
                if results.len() + open.len() > LIMIT {
                    return Err(TOO_MANY.into());
                }
                open.extend([case.with(needed, true), case.with(needed, false)]);
            }
        }
    }
    Ok(results)
}

/// Writes new values; any value is open.
pub(super) fn write(now: &mut Values, writes: &Writes<Value>) {
    writes.iter().for_each(|(var, value)| now[var.index()] = value.map(is_true));
}

/// All values of the variables that are open; `None` if there are more than `most`.
pub(super) fn all_values(now: &Values, mut open: impl Iterator<Item = VarId>, most: usize) -> Option<Vec<Values>> {
    open.try_fold(vec![now.clone()], |all, var| {
        let both = |mut values: Values| match values[var.index()] {
            Some(_) => vec![values],
            None => {
                values[var.index()] = Some(false);
                let mut other = values.clone();
                other[var.index()] = Some(true);
                vec![values, other]
            }
        };
        (all.len() <= most).then(|| all.into_iter().flat_map(both).collect())
    })
    .filter(|all: &Vec<Values>| all.len() <= most)
}

/// The values of variables, none of which is open.
pub(super) fn read(now: &Values, vars: impl Iterator<Item = VarId>) -> Vec<bool> {
    vars.map(|var| now[var.index()].expect("the variables that are listed were given values")).collect()
}

/// A thread at a place, with the values of the variables that the place lists.
pub(super) type Seen = (u32, Vec<bool>);

/// For each listed state of other threads what they may become, each once; empty if they stay as they are.
pub(super) type Others = Vec<BTreeSet<Seen>>;

/// The end of a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// At a place, or with the end of the thread: the shared values, the thread, those that it has started, and what
    /// the others may become.
    Rule { shared: Vec<bool>, own: Option<Seen>, new: Vec<Seen>, others: Others },
    /// With the failure of a target assertion, or with a thread at a target location.
    Error(Flaw),
    /// With the end of the prelude, and these values.
    Start(Values),
}

/// A thread on its way: its values, and the threads that it has started since it was last seen, in ascending order;
/// `None` if one of them is not listed, so that the way must not end. It may have no end: no other thread moves before
/// the atomic section is over.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Way {
    now: Values,
    new: Option<Vec<Seen>>,
}

/// A traveller with known and open values.
pub(super) struct Explorer<'a> {
    pub(super) table: &'a PlaceTable<'a>,
    /// The shared variables that are listed.
    pub(super) shared_vars: &'a [VarId],
    /// The variables that must not be read.
    pub(super) hidden: FxHashSet<VarId>,
    /// The number of threads that may be started.
    pub(super) room: usize,
    /// The states of the other threads that are there; `None` if there are none.
    pub(super) others: Option<&'a [&'a LocalState]>,
    /// The number of cases that may still be looked at.
    pub(super) left: Rc<Cell<usize>>,
    seen: FxHashSet<(usize, Way)>,
    arrivals: Vec<(EdgeId, Arrival)>,
}

impl<'a> Explorer<'a> {
    pub(super) fn new(table: &'a PlaceTable<'a>, shared_vars: &'a [VarId]) -> Explorer<'a> {
        let (hidden, seen, arrivals) = (FxHashSet::default(), FxHashSet::default(), Vec::new());
        let (room, left) = (usize::MAX, Rc::new(Cell::new(LIMIT)));
        Explorer { table, shared_vars, hidden, room, others: None, left, seen, arrivals }
    }

    /// The values of a thread at a place.
    pub(super) fn values(&self, shared: &[bool], place: u32, own: &[bool]) -> Values {
        let mut now = vec![None; self.table.task.program.vars.len()];
        let listed = self.shared_vars.iter().copied().zip(shared).chain(self.table.vars(place).zip(own));
        listed.for_each(|(var, value)| now[var.index()] = Some(*value));
        now
    }

    /// All ends of a route, each with its last edge.
    pub(super) fn explore(
        mut self,
        route: &Route,
        now: Values,
        run: &Run<'_>,
    ) -> Result<Vec<(EdgeId, Arrival)>, Refused> {
        travel(route, Way { now, new: Some(Vec::new()) }, &mut self, run)?;
        Ok(self.arrivals)
    }

    fn may_read(&self, needed: NoValue) -> Result<(), Refused> {
        match needed {
            NoValue::Var(var) if self.hidden.contains(&var) => {
                Err(Unjudged::Beyond("a variable is read that is not listed").into())
            }
            _ => self.spend(1),
        }
    }

    /// Notes that cases are looked at.
    fn spend(&self, n_cases: usize) -> Result<(), Refused> {
        let left = self.left.get().checked_sub(n_cases);
        self.left.set(left.ok_or(TOO_MANY)?);
        Ok(())
    }

    /// All ways to give values to variables that are open.
    fn settled(&self, now: &Values, vars: &[VarId]) -> Result<Vec<Values>, Refused> {
        let open: Vec<VarId> = vars.iter().copied().filter(|var| now[var.index()].is_none()).collect();
        open.iter().try_for_each(|var| self.may_read(NoValue::Var(*var)))?;
        let all = all_values(now, vars.iter().copied(), self.left.get()).ok_or(TOO_MANY)?;
        self.spend(all.len())?;
        Ok(all)
    }

    /// A step, once all that it reads has a value: in all cases of what is open after it and listed where it leads.
    fn go(
        &mut self,
        step: &Move,
        way: &Way,
        case: Case<'a>,
        done: Effect<Value>,
        run: &Run<'_>,
    ) -> Result<Vec<Way>, Refused> {
        let program = self.table.task.program;
        let edge = &program.edges[step.edge];
        if !done.conditions.iter().all(|condition| is_true(*condition)) {
            return Ok(Vec::new());
        }
        if done.asserted.is_some_and(|holds| !is_true(holds)) {
            let is_error = self.table.task.target.has_assert(step.edge);
            self.arrivals.extend(is_error.then_some((step.edge, Arrival::Error(Flaw::Assert(step.edge)))));
            return Ok(Vec::new());
        }
        let others = self.others_after(step, way, &case, run)?;
        let mut now = case.now;
        if let Control::Return(call) = control(edge, step.caller) {
            let callee = call_of(program, call).callee;
            program.procs[callee].locals.iter().for_each(|local| now[local.index()] = None);
        }
        write(&mut now, &done.writes);
        let begun = step.child.filter(|_| way.new.as_ref().is_none_or(|new| new.len() < self.room));
        if let (Some(To::Error(loc)), _) | (_, To::Error(loc)) = (begun, step.to) {
            self.arrivals.push((step.edge, Arrival::Error(Flaw::Location(loc))));
            return Ok(Vec::new());
        }
        let own = if let Some(Child::Spawn(_)) = child(&edge.op) { done.child } else { Vec::new() };
        let mut after = Vec::new();
        for now in self.settled(&now, &self.listed(step, begun, &own))? {
            for new in self.with_child(&way.new, begun, &own, &now)? {
                after.extend(self.arrive(step, now.clone(), new, &others)?);
            }
        }
        Ok(after)
    }

    /// What a step makes of other threads. It may assign their variables, but no condition on them may be necessary.
    fn others_after(&self, step: &Move, way: &Way, case: &Case<'a>, run: &Run<'_>) -> Result<Others, Refused> {
        let program = self.table.task.program;
        let edge = &program.edges[step.edge];
        let (Op::Assign(assign), Some(others)) = (&edge.op, self.others) else { return Ok(Vec::new()) };
        if mentions_others(&assign.constrain) {
            return Err(Unjudged::Beyond("a step depends on all other threads").into());
        }
        if assign.passive.is_empty() {
            return Ok(Vec::new());
        }
        let is_seen = matches!(step.to, To::Place(_) | To::Error(_)) && way.new.as_ref().is_some_and(Vec::is_empty);
        let read = |var: &VarId| {
            assign.passive.iter().flat_map(|(_, rhs)| leaves(rhs)).any(|leaf| *leaf == Expr::Passive(*var))
        };
        let hides = |other: &&&LocalState| {
            program.vars.indices().filter(read).any(|var| {
                self.table.has(other.place, var) && !self.table.vars(other.place).any(|listed| listed == var)
            })
        };
        if !is_seen || others.iter().any(|other| hides(&other)) {
            return Err(
                Unjudged::Beyond("a step assigns variables of threads that are not seen before or after").into()
            );
        }
        others.iter().map(|other| self.other_after(edge, step, case, other, run)).collect()
    }

    fn other_after(
        &self,
        edge: &Edge,
        step: &Move,
        case: &Case<'a>,
        other: &'a LocalState,
        run: &Run<'_>,
    ) -> Result<BTreeSet<Seen>, Refused> {
        let program = self.table.task.program;
        let beside = Other { table: self.table, place: other.place, values: &other.values };
        let case = Case { other: Some(beside), ..case.clone() };
        let effects =
            cases_of(program, case, run, |needed| self.may_read(needed), |meaning| meaning.effect(edge, step.caller))?;
        let after = |done: Effect<Value>| {
            let value = |(var, before): (VarId, &bool)| {
                let written = done.passive.iter().find(|(_, written, _)| *written == var);
                written.map_or(*before, |(_, _, value)| is_true(*value))
            };
            (other.place, self.table.vars(other.place).zip(&other.values).map(value).collect())
        };
        Ok(effects.into_iter().map(|(_, done)| after(done)).collect())
    }

    /// The variables that must have values after a step: those that are listed where it ends, and those that a new
    /// thread has from the one that starts it.
    fn listed(&self, step: &Move, begun: Option<To>, own: &Writes<Value>) -> Vec<VarId> {
        let mut vars = match step.to {
            To::Place(place) => self.shared_vars.iter().copied().chain(self.table.vars(place)).collect(),
            To::Gone => self.shared_vars.to_vec(),
            _ => Vec::new(),
        };
        if let Some(To::Place(place)) = begun {
            vars.extend(self.table.vars(place).filter(|var| !own.iter().any(|(local, _)| local == var)));
        }
        vars
    }

    /// The threads that were started, with one that begins now: a list for each way in which it can begin.
    fn with_child(
        &self,
        new: &Option<Vec<Seen>>,
        begun: Option<To>,
        own: &Writes<Value>,
        now: &Values,
    ) -> Result<Vec<Option<Vec<Seen>>>, Refused> {
        let Some(to) = begun else { return Ok(vec![new.clone()]) };
        let (To::Place(place), Some(new)) = (to, new) else { return Ok(vec![None]) };
        let mut begins = now.clone();
        write(&mut begins, own);
        let with = |values: Values| {
            let mut new = new.clone();
            new.push((place, read(&values, self.table.vars(place))));
            new.sort_unstable();
            Some(new)
        };
        let all = all_values(&begins, self.table.vars(place), self.left.get()).ok_or(TOO_MANY)?;
        self.spend(all.len())?;
        Ok(all.into_iter().map(with).collect())
    }

    /// The end of a step: of the way, or on the way.
    fn arrive(
        &mut self,
        step: &Move,
        now: Values,
        new: Option<Vec<Seen>>,
        others: &Others,
    ) -> Result<Option<Way>, Refused> {
        let own = match step.to {
            To::Inner(_) => return Ok(Some(Way { now, new })),
            To::Place(place) => Some((place, read(&now, self.table.vars(place)))),
            To::Gone => None,
            To::Start => {
                self.arrivals.push((step.edge, Arrival::Start(now)));
                return Ok(None);
            }
            To::Unlisted | To::Error(_) => return Err(Flaw::NotClosed(step.edge).into()),
        };
        let new = new.ok_or(Flaw::NotClosed(step.edge))?;
        let shared = read(&now, self.shared_vars.iter().copied());
        self.arrivals.push((step.edge, Arrival::Rule { shared, own, new, others: others.clone() }));
        Ok(None)
    }
}

impl Traveller for Explorer<'_> {
    type State = Way;

    fn split(&mut self, state: Way, n_moves: usize) -> Vec<Way> {
        vec![state; n_moves]
    }

    fn step(&mut self, step: &Move, state: Way, run: &Run<'_>) -> Result<Vec<Way>, Refused> {
        let program = self.table.task.program;
        let edge = &program.edges[step.edge];
        let first = Case { now: state.now.clone(), choices: BTreeMap::new(), other: None };
        let effects =
            cases_of(program, first, run, |needed| self.may_read(needed), |meaning| meaning.effect(edge, step.caller))?;
        let mut after = Vec::new();
        for (case, done) in effects {
            after.extend(self.go(step, &state, case, done, run)?);
        }
        Ok(after)
    }

    fn wait(&mut self, node: usize, waiting: &mut Vec<Way>, state: Way) -> Result<(), Refused> {
        self.spend(1)?;
        if self.seen.insert((node, state.clone())) {
            waiting.push(state);
        }
        Ok(())
    }
}
