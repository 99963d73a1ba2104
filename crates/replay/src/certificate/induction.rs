//! Certificates by k-induction, for programs with one thread and without recursion.
//!
//! The states: a place ([`super::places`]) and the values of all variables; those of procedures that are not on the
//! stack are false, so that each state is written in one way. The questions, which must have no solution:
//!
//! 1. *base*: a path of at most k steps from a start to an error;
//! 2. *step*: k + 1 states without error that follow one another, distinct if the certificate says so, and an error in
//!    the step after them. The first of them is any state.
//!
//! A shortest path to an error would be longer than k by 1. Its last state is its only error and no state occurs on it
//! twice, so its last k + 2 states would answer 2.

use std::collections::BTreeMap;

use selvedge_check::{Paths, Run, Task};
use selvedge_ir::{EntryId, ProcId, Program, Scope, VarId};

use super::places::{Kind, Move, Places};
use super::sat::{Lit, Sat};
use super::{Flaw, MOST_STEPS, Refused, at_most};
use crate::program::is_sequential;
use crate::semantics::{Control, Effect, Meaning, Scene, Writes, call_of, control};

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, k: u32, paths: Paths, run: &Run<'_>) -> Result<(), Refused> {
    is_sequential(task.program)?;
    at_most(k as usize, MOST_STEPS)?;
    let places = Places::new(task, run)?;
    base(Path::from_start(task, &places, run)?, k)?;
    step(Path::from_anywhere(task, &places, run), k, paths)
}

/// Question 1, for each number of steps but 0, as the first place is not an error.
fn base(mut path: Path<'_>, k: u32) -> Result<(), Refused> {
    for steps in 1..=k {
        let error = path.extend()?;
        path.sat.refute(&[error], Flaw::Base(steps))?;
        path.sat.require(!error);
    }
    Ok(())
}

/// Question 2. A state with a step after it is not an error.
fn step(mut path: Path<'_>, k: u32, paths: Paths) -> Result<(), Refused> {
    for _ in 0..k {
        path.extend()?;
    }
    if paths == Paths::LoopFree {
        path.require_distinct()?;
    }
    let error = path.extend()?;
    path.sat.refute(&[error], Flaw::Step)
}

/// The number of a place in binary, and the value of each variable.
struct State {
    place: Vec<Lit>,
    vars: Vec<Lit>,
}

/// A sequence of states under construction.
struct Path<'a> {
    task: &'a Task<'a>,
    places: &'a Places,
    sat: Sat<'a>,
    run: &'a Run<'a>,
    states: Vec<State>,
}

/// The last value that a move writes to each variable; `None` is any value.
type Latest = BTreeMap<VarId, Option<Lit>>;

/// The values of a state, and those that the step from it chooses.
struct Now<'a> {
    vars: &'a [Lit],
    choices: &'a mut BTreeMap<u32, Lit>,
}

impl<'r> Scene<Sat<'r>> for Now<'_> {
    fn read(&mut self, _: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        Ok(self.vars[var.index()])
    }

    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        Ok(*self.choices.entry(number).or_insert_with(|| sat.fresh()))
    }
}

impl<'a> Path<'a> {
    /// The first state is any.
    fn from_anywhere(task: &'a Task<'a>, places: &'a Places, run: &'a Run<'a>) -> Path<'a> {
        let mut path = Path { task, places, sat: Sat::new(run), run, states: Vec::new() };
        let state = path.any_state();
        path.states.push(state);
        path
    }

    /// The first state is a start of the program.
    fn from_start(task: &'a Task<'a>, places: &'a Places, run: &'a Run<'a>) -> Result<Path<'a>, Refused> {
        let mut path = Path::from_anywhere(task, places, run);
        for bit in path.states[0].place.clone() {
            path.sat.require(!bit);
        }
        let program = task.program;
        let Path { sat, states, .. } = &mut path;
        let vars = &states[0].vars;
        let mut start = Now { vars, choices: &mut BTreeMap::new() };
        let mut writes: Writes<Lit> = locals(program).map(|local| (local, Some(sat.constant(false)))).collect();
        writes.extend(Meaning::new(program, sat, &mut start).start_shared()?);
        start.choices.clear();
        let mut meaning = Meaning::new(program, sat, &mut start);
        writes.extend(match program.prelude {
            Some(prelude) => meaning.begin(prelude)?,
            None => meaning.start_thread(EntryId::new(0))?,
        });
        for (var, value) in latest(writes) {
            if let Some(value) = value {
                let equal = sat.equal(vars[var.index()], value);
                sat.require(equal);
            }
        }
        Ok(path)
    }

    fn any_state(&mut self) -> State {
        State {
            place: (0..width(self.places.all.len() + 1)).map(|_| self.sat.fresh()).collect(),
            vars: self.task.program.vars.iter().map(|_| self.sat.fresh()).collect(),
        }
    }

    /// Adds a state that follows the last one. Returns whether it is an error.
    fn extend(&mut self) -> Result<Lit, Refused> {
        self.run.check_limits()?;
        let next = self.any_state();
        self.states.push(next);
        let selector: Vec<Lit> = (0..width(self.places.moves.len())).map(|_| self.sat.fresh()).collect();
        let taken: Vec<Lit> = (0..self.places.moves.len()).map(|number| self.is_number(&selector, number)).collect();
        self.sat.clause(&taken);
        if self.states.len() == 2 {
            self.require_one_writing(&taken);
        }
        let mut changes: Vec<Vec<Lit>> = vec![Vec::new(); self.task.program.vars.len()];
        let mut choices = BTreeMap::new();
        for (step, taken) in self.places.moves.iter().zip(&taken) {
            let (guards, writes) = self.effect(step, &mut choices)?;
            writes.keys().for_each(|var| changes[var.index()].push(*taken));
            self.connect(step, *taken, guards, writes);
        }
        self.keep_the_rest(changes);
        let errors = self.places.moves.iter().zip(taken).filter(|(step, _)| step.to.is_none());
        let none = self.sat.constant(false);
        Ok(errors.fold(none, |any, (_, taken)| self.sat.or(any, taken)))
    }

    /// In the first state, variables of procedures that are not on the stack are false. Moves keep it so.
    fn require_one_writing(&mut self, taken: &[Lit]) {
        let program = self.task.program;
        let stack = |step: &Move| self.places.all[step.from].stack(program).collect::<Vec<_>>();
        let stacks: Vec<_> = self.places.moves.iter().map(stack).collect();
        for (var, variable) in program.vars.iter_enumerated() {
            if let Scope::Local(owner) = variable.scope {
                let lives = stacks.iter().zip(taken).filter(|(stack, _)| stack.contains(&owner));
                let clause: Vec<Lit> =
                    lives.map(|(_, taken)| *taken).chain([!self.states[0].vars[var.index()]]).collect();
                self.sat.clause(&clause);
            }
        }
    }

    /// The move is taken only if it connects the last two states.
    fn connect(&mut self, step: &Move, taken: Lit, guards: Vec<Lit>, writes: Latest) {
        let [.., now, next] = self.states.as_slice() else { unreachable!("a state was added") };
        for (state, number) in [(now, step.from), (next, step.to.unwrap_or(self.places.all.len()))] {
            for (place, bit) in state.place.iter().enumerate() {
                self.sat.clause(&[!taken, if number >> place & 1 == 1 { *bit } else { !*bit }]);
            }
        }
        for guard in guards {
            self.sat.clause(&[!taken, guard]);
        }
        for (var, value) in writes {
            if let Some(value) = value {
                let new = next.vars[var.index()];
                self.sat.clause(&[!taken, !new, value]);
                self.sat.clause(&[!taken, new, !value]);
            }
        }
    }

    fn keep_the_rest(&mut self, changes: Vec<Vec<Lit>>) {
        let [.., now, next] = self.states.as_slice() else { unreachable!("a state was added") };
        for (changes, (old, new)) in changes.into_iter().zip(now.vars.iter().zip(&next.vars)) {
            self.sat.clause(&[changes.as_slice(), &[*old, !*new]].concat());
            self.sat.clause(&[changes.as_slice(), &[!*old, *new]].concat());
        }
    }

    fn is_number(&mut self, bits: &[Lit], number: usize) -> Lit {
        let truth = self.sat.constant(true);
        bits.iter().enumerate().fold(truth, |all, (place, bit)| {
            let bit = if number >> place & 1 == 1 { *bit } else { !*bit };
            self.sat.and(all, bit)
        })
    }

    /// No two states are the same.
    fn require_distinct(&mut self) -> Result<(), Refused> {
        for later in 1..self.states.len() {
            for earlier in 0..later {
                self.run.tick()?;
                let (left, right) = (&self.states[earlier], &self.states[later]);
                let pairs = left.place.iter().chain(&left.vars).zip(right.place.iter().chain(&right.vars));
                let differ: Vec<Lit> = pairs.map(|(left, right)| !self.sat.equal(*left, *right)).collect();
                self.sat.clause(&differ);
            }
        }
        Ok(())
    }

    /// Computes what a move from the last state but one to the last one needs, and what it writes; `None` is any value.
    /// The variables of frames that are left become false.
    fn effect(&mut self, step: &Move, choices: &mut BTreeMap<u32, Lit>) -> Result<(Vec<Lit>, Latest), Refused> {
        let (program, position) = (self.task.program, &self.places.all[step.from]);
        let (edge, sat) = (&program.edges[step.edge], &mut self.sat);
        let falsehood = sat.constant(false);
        let forget = |procs: &[ProcId]| -> Writes<Lit> {
            let locals = procs.iter().flat_map(|proc| program.procs[*proc].locals.iter());
            locals.map(|local| (*local, Some(falsehood))).collect()
        };
        let mut now = Now { vars: &self.states[self.states.len() - 2].vars, choices };
        if step.kind == Kind::Start {
            let mut writes = forget(&position.stack(program).collect::<Vec<_>>());
            now.choices.clear();
            writes.extend(Meaning::new(program, sat, &mut now).start_thread(EntryId::new(0))?);
            now.choices.clear();
            return Ok((Vec::new(), latest(writes)));
        }
        let Effect { conditions: mut guards, asserted, writes, .. } =
            Meaning::new(program, sat, &mut now).effect(edge, position.caller())?;
        guards.extend(asserted.map(|holds| if step.kind == Kind::Fail { !holds } else { holds }));
        let popped = match control(edge, position.caller()) {
            Control::Return(call) => forget(&[call_of(program, call).callee]),
            Control::Go(_) | Control::Call(_) | Control::End => Vec::new(),
        };
        Ok((guards, latest(popped.into_iter().chain(writes))))
    }
}

/// The last value that is written to each variable.
fn latest(writes: impl IntoIterator<Item = (VarId, Option<Lit>)>) -> Latest {
    writes.into_iter().collect()
}

/// The locals of all procedures.
fn locals(program: &Program) -> impl Iterator<Item = VarId> {
    program.procs.iter().flat_map(|proc| proc.locals.iter().copied())
}

/// The number of bits of numbers below `count`.
fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}
