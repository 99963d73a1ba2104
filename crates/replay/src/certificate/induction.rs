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
use selvedge_ir::callgraph::is_sequential;
use selvedge_ir::{Assign, Call, Entry, Expr, Op, Program, Scope, Ty, VarId};

use super::encode;
use super::places::{Kind, Move, Place, Places};
use super::sat::{Lit, Sat};
use super::{Flaw, Refused};

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, k: u32, paths: Paths, run: &Run<'_>) -> Result<(), Refused> {
    if !is_sequential(task.program) {
        return Err(Flaw::OutOfScope("it has several threads").into());
    }
    if task.program.vars.iter().any(|var| var.ty != Ty::Bool) {
        return Err(Flaw::OutOfScope("it has integers").into());
    }
    let places = Places::new(task)?;
    base(Path::from_start(task, &places, run)?, k)?;
    step(Path::from_anywhere(task, &places, run), k, paths)
}

/// Question 1, for each number of steps.
fn base(mut path: Path<'_>, k: u32) -> Result<(), Refused> {
    if path.places.is_error(path.task, 0) {
        return Err(Flaw::Base(0).into());
    }
    for steps in 1..=k {
        let error = path.extend()?;
        if path.sat.satisfiable_with(error)? {
            return Err(Flaw::Base(steps).into());
        }
        path.sat.require(!error);
    }
    Ok(())
}

/// Question 2. A state with a step after it is no error.
fn step(mut path: Path<'_>, k: u32, paths: Paths) -> Result<(), Refused> {
    for _ in 0..k {
        path.extend()?;
    }
    if paths == Paths::LoopFree {
        path.require_distinct()?;
    }
    let error = path.extend()?;
    if path.sat.satisfiable_with(error)? { Err(Flaw::Step.into()) } else { Ok(()) }
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

/// What a move needs and does; variables that are not listed keep their values.
#[derive(Default)]
struct Effect {
    guards: Vec<Lit>,
    /// `None`: any value.
    writes: BTreeMap<VarId, Option<Lit>>,
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
        let mut choices = BTreeMap::new();
        let falsehood = path.sat.constant(false);
        let mut values: BTreeMap<VarId, Option<Lit>> = BTreeMap::new();
        for (var, variable) in program.vars.iter_enumerated() {
            values.insert(var, if variable.scope == Scope::Shared { None } else { Some(falsehood) });
        }
        for (var, rhs) in &program.init {
            values.insert(*var, Some(path.expr(rhs, 0, &mut choices)?));
        }
        match program.prelude {
            Some(prelude) => values.extend(program.procs[prelude].locals.iter().map(|local| (*local, None))),
            None => path.thread_start(0, &mut values)?,
        }
        for (var, value) in values {
            let lit = path.states[0].vars[var.index()];
            if let Some(value) = value {
                let equal = path.sat.equal(lit, value);
                path.sat.require(equal);
            }
        }
        Ok(path)
    }

    fn any_state(&mut self) -> State {
        State {
            place: (0..width(self.places.all.len())).map(|_| self.sat.fresh()).collect(),
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
            let effect = self.effect(step, &mut choices)?;
            effect.writes.keys().for_each(|var| changes[var.index()].push(*taken));
            self.connect(step, *taken, effect);
        }
        self.keep_the_rest(changes);
        let is_error = |step: &Move| self.places.is_error(self.task, step.to);
        let errors = self.places.moves.iter().zip(&taken).filter(|(step, _)| is_error(step)).map(|(_, taken)| *taken);
        let errors: Vec<Lit> = errors.collect();
        let none = self.sat.constant(false);
        Ok(errors.into_iter().fold(none, |any, taken| self.sat.or(any, taken)))
    }

    /// In the first state, variables of procedures that are not on the stack are false. Moves keep it so.
    fn require_one_writing(&mut self, taken: &[Lit]) {
        let program = self.task.program;
        let stacks: Vec<_> = self.places.moves.iter().map(|step| self.places.procs(program, step.from)).collect();
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
    fn connect(&mut self, step: &Move, taken: Lit, effect: Effect) {
        let [.., now, next] = self.states.as_slice() else { unreachable!("a state was added") };
        for (state, number) in [(now, step.from), (next, step.to)] {
            for (place, bit) in state.place.iter().enumerate() {
                self.sat.clause(&[!taken, if number >> place & 1 == 1 { *bit } else { !*bit }]);
            }
        }
        for guard in effect.guards {
            self.sat.clause(&[!taken, guard]);
        }
        for (var, value) in effect.writes {
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
            self.run.check_limits()?;
            for earlier in 0..later {
                let (left, right) = (&self.states[earlier], &self.states[later]);
                let pairs = left.place.iter().chain(&left.vars).zip(right.place.iter().chain(&right.vars));
                let differ: Vec<Lit> = pairs.map(|(left, right)| !self.sat.equal(*left, *right)).collect();
                self.sat.clause(&differ);
            }
        }
        Ok(())
    }

    /// What a move from the last state but one to the last one needs and does.
    fn effect(&mut self, step: &Move, choices: &mut BTreeMap<u32, Lit>) -> Result<Effect, Refused> {
        let program = self.task.program;
        let now = self.states.len() - 2;
        let mut effect = Effect::default();
        let edge = &program.edges[step.edge];
        match (&edge.op, step.kind) {
            (_, Kind::Start) => {
                for proc in self.places.procs(program, step.from) {
                    self.forget(&program.procs[proc].locals, &mut effect);
                }
                self.thread_start(now, &mut effect.writes)?;
            }
            (Op::Assert(condition), Kind::Fail) => effect.guards.push(!self.expr(condition, now, choices)?),
            (Op::Assert(condition), _) => effect.guards.push(self.expr(condition, now, choices)?),
            (Op::Assign(assign), _) => self.assign(assign, now, choices, &mut effect)?,
            (Op::Call(call), _) => {
                let callee = &program.procs[call.callee];
                effect.writes.extend(callee.locals.iter().map(|local| (*local, None)));
                for (param, arg) in callee.params.iter().zip(&call.args) {
                    effect.writes.insert(*param, Some(self.expr(arg, now, choices)?));
                }
            }
            (Op::Return(values), _) => {
                self.forget(&program.procs[program.locs[edge.from].proc].locals, &mut effect);
                let results = &self.caller(step).results;
                for (result, value) in results.iter().zip(values) {
                    if let Some(var) = result {
                        effect.writes.insert(*var, Some(self.expr(value, now, choices)?));
                    }
                }
            }
            _ => {}
        }
        Ok(effect)
    }

    fn forget(&self, locals: &[VarId], effect: &mut Effect) {
        effect.writes.extend(locals.iter().map(|local| (*local, Some(self.sat.constant(false)))));
    }

    /// The call that a return ends.
    fn caller(&self, step: &Move) -> &'a Call {
        let Place::At { calls, .. } = &self.places.all[step.from] else { unreachable!("nothing leaves an error") };
        let call = calls.last().expect("only returns to a caller are moves of this kind");
        let Op::Call(call) = &self.task.program.edges[*call].op else { unreachable!("the list has calls") };
        call
    }

    /// Without other threads passive assignments do nothing, and passive conditions hold.
    fn assign(
        &mut self,
        assign: &Assign,
        now: usize,
        choices: &mut BTreeMap<u32, Lit>,
        effect: &mut Effect,
    ) -> Result<(), Refused> {
        for (var, rhs) in &assign.active {
            effect.writes.insert(*var, Some(self.expr(rhs, now, choices)?));
        }
        if !assign.constrain.is_passive() {
            effect.guards.push(self.expr(&assign.constrain, now, choices)?);
        }
        Ok(())
    }

    /// The thread begins: its per-thread variables and the locals of its first procedure.
    fn thread_start(&mut self, now: usize, writes: &mut BTreeMap<VarId, Option<Lit>>) -> Result<(), Refused> {
        let program = self.task.program;
        let kind = first_kind(program);
        for (var, _) in program.vars.iter_enumerated().filter(|(_, variable)| variable.scope == Scope::Thread) {
            let value = if kind.thread_vars.contains(&var) { None } else { Some(self.sat.constant(false)) };
            writes.insert(var, value);
        }
        let mut choices = BTreeMap::new();
        for (var, rhs) in &kind.init {
            writes.insert(*var, Some(self.expr(rhs, now, &mut choices)?));
        }
        writes.extend(program.procs[kind.proc].locals.iter().map(|local| (*local, None)));
        Ok(())
    }

    /// The gate of an expression in a state; the next values are those of the state after it.
    fn expr(&mut self, expr: &Expr, now: usize, choices: &mut BTreeMap<u32, Lit>) -> Result<Lit, Refused> {
        let states = &self.states;
        let mut leaf = |sat: &mut Sat<'_>, leaf: &Expr| match leaf {
            Expr::Var(var) => states[now].vars[var.index()],
            Expr::Next(var) => states[now + 1].vars[var.index()],
            Expr::Choice(number, _) => *choices.entry(*number).or_insert_with(|| sat.fresh()),
            _ => unreachable!("steps with passive parts are treated as a whole"),
        };
        encode::expr(&mut self.sat, expr, &mut leaf).ok_or(Flaw::OutOfScope("it has integers").into())
    }
}

fn first_kind(program: &Program) -> &Entry {
    program.entries.first().expect("a program with one thread has one kind of thread")
}

/// How many bits it takes to number so many things.
fn width(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}
