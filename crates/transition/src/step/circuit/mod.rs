//! Symbolic simulation (thesis behind Boom, §3.2): the effect of steps on valuations whose values are formulas.
//!
//! A valuation gives each visible variable a literal of an and-inverter graph. Choices are inputs of the graph, fresh
//! for each step, so each assignment of the inputs is one execution. [`step`] returns the [`Effect`] of an edge; the
//! engine conjoins its condition to a guard and decides where the thread continues. The functions keep no state:
//! engines that unroll, merge or summarise share them.
//!
//! Programs are Boolean, and other threads take part in no step, so that passive conditions hold and passive
//! assignments do nothing. [`step`] is for programs with one thread, [`starts`] for the steps that start others.

mod start;

use std::convert::Infallible;

use selvedge_ir::visit::Parts;
use selvedge_ir::{Assign, BinaryOp, Call, Edge, EdgeId, Expr, Op, ProcId, Program, Scope, UnaryOp, Value, VarId};
use selvedge_logic::aig::{Aig, Input, Lit};

pub use start::{Begin, begin, begin_kind, begin_thread};

/// The beginning of a thread that a step starts.
pub struct Begun {
    /// The condition of the step.
    pub condition: Lit,
    /// The variables with which the thread begins: shared ones, its own, and the locals of its procedure.
    pub valuation: Valuation,
    /// The choices of the step.
    pub choices: Vec<Input>,
    /// The locals that start with any value.
    pub fresh: Vec<(VarId, Input)>,
}

/// A literal for each of some variables, in ascending order of the variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Valuation {
    lits: Vec<(VarId, Lit)>,
}

impl Valuation {
    /// Returns the literal of a variable.
    ///
    /// # Panics
    ///
    /// If the valuation does not have the variable.
    pub fn get(&self, var: VarId) -> Lit {
        self.find(var).expect("the variable is visible")
    }

    /// Returns the literal of a variable, if the valuation has it.
    pub fn find(&self, var: VarId) -> Option<Lit> {
        let at = self.lits.binary_search_by_key(&var, |(known, _)| *known).ok()?;
        Some(self.lits[at].1)
    }

    /// Sets the literal of a variable.
    pub fn set(&mut self, var: VarId, lit: Lit) {
        match self.lits.binary_search_by_key(&var, |(known, _)| *known) {
            Ok(at) => self.lits[at].1 = lit,
            Err(at) => self.lits.insert(at, (var, lit)),
        }
    }

    /// Sets the literals of all variables of another valuation.
    pub fn update(&mut self, other: &Valuation) {
        other.iter().for_each(|(var, lit)| self.set(var, lit));
    }

    /// Returns the variables with their literals, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (VarId, Lit)> + '_ {
        self.lits.iter().copied()
    }

    /// Returns the part about variables that satisfy a condition.
    #[must_use]
    pub fn restrict(&self, keep: impl Fn(VarId) -> bool) -> Valuation {
        self.iter().filter(|(var, _)| keep(*var)).collect()
    }

    /// Returns the first valuation where `select` is true, and the second one otherwise. A variable that only one of
    /// them has must not be read where the other one holds.
    #[must_use]
    pub fn select(aig: &mut Aig, select: Lit, yes: &Valuation, no: &Valuation) -> Valuation {
        let mut choose = |yes: Lit, no: Lit| if yes == no { yes } else { aig.ite(select, yes, no) };
        let both = yes.iter().map(|(var, lit)| (var, no.find(var).map_or(lit, |other| choose(lit, other))));
        let both: Vec<(VarId, Lit)> = both.collect();
        let rest = no.iter().filter(|(var, _)| yes.find(*var).is_none());
        both.into_iter().chain(rest).collect()
    }

    /// Returns a valuation of the same variables with other literals.
    #[must_use]
    pub fn map(&self, mut change: impl FnMut(VarId, Lit) -> Lit) -> Valuation {
        Valuation { lits: self.lits.iter().map(|(var, lit)| (*var, change(*var, *lit))).collect() }
    }
}

impl FromIterator<(VarId, Lit)> for Valuation {
    fn from_iter<I: IntoIterator<Item = (VarId, Lit)>>(pairs: I) -> Valuation {
        let mut lits: Vec<(VarId, Lit)> = pairs.into_iter().collect();
        lits.sort_unstable_by_key(|(var, _)| *var);
        lits.dedup_by_key(|(var, _)| *var);
        Valuation { lits }
    }
}

/// Returns the literal of a fresh input.
pub fn any_value(aig: &mut Aig) -> Lit {
    let input = aig.new_input();
    aig.input(input)
}

/// Creates a fresh input for each of some choices.
fn fresh(aig: &mut Aig, count: usize) -> Vec<Input> {
    (0..count).map(|_| aig.new_input()).collect()
}

/// Encodes an expression whose variables and choices `leaf` encodes.
fn expr(aig: &mut Aig, expr: &Expr, leaf: &dyn Fn(&Aig, &Expr) -> Lit) -> Lit {
    expr_in(&mut Parts::new(), aig, expr, leaf)
}

fn expr_in(parts: &mut Parts<Lit>, aig: &mut Aig, expr: &Expr, leaf: &dyn Fn(&Aig, &Expr) -> Lit) -> Lit {
    match expr {
        Expr::Bool(value) => Lit::from(*value),
        Expr::Unary(UnaryOp::Not, operand) => !expr_in(parts, aig, operand, leaf),
        Expr::Binary(op, pair) => {
            let left = expr_in(parts, aig, &pair.0, leaf);
            let right = expr_in(parts, aig, &pair.1, leaf);
            binary(aig, *op, left, right)
        }
        Expr::Ite(triple) => {
            let condition = expr_in(parts, aig, &triple.0, leaf);
            let then = expr_in(parts, aig, &triple.1, leaf);
            let otherwise = expr_in(parts, aig, &triple.2, leaf);
            aig.ite(condition, then, otherwise)
        }
        Expr::Let(shared) => {
            let Ok(lit) = parts.scope(shared, |parts, expr| Ok::<_, Infallible>(expr_in(parts, aig, expr, leaf)));
            lit
        }
        Expr::Part(number) => *parts.get(*number),
        Expr::Var(_) | Expr::Next(_) | Expr::Choice(..) => leaf(aig, expr),
        Expr::Passive(_) | Expr::PassiveNext(_) => unreachable!("without other threads passive parts are left out"),
        Expr::Int(_) | Expr::Machine(..) | Expr::Unary(..) => {
            unreachable!("the engines of this module support Boolean programs only")
        }
    }
}

fn binary(aig: &mut Aig, op: BinaryOp, left: Lit, right: Lit) -> Lit {
    match op {
        BinaryOp::And => aig.and(left, right),
        BinaryOp::Or => aig.or(left, right),
        BinaryOp::Xor | BinaryOp::Ne => aig.xor(left, right),
        BinaryOp::Implies => aig.implies(left, right),
        BinaryOp::Eq => aig.iff(left, right),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Machine(..) => {
            unreachable!("the engines of this module support Boolean programs only")
        }
    }
}

/// Encodes an expression without new values of variables.
pub fn value(aig: &mut Aig, expr: &Expr, now: &Valuation, choices: &[Input]) -> Lit {
    self::expr(aig, expr, &|aig, leaf| match leaf {
        Expr::Var(var) => now.get(*var),
        Expr::Choice(number, _) => aig.input(choices[*number as usize]),
        _ => unreachable!("only conditions of assignments mention the next state"),
    })
}

/// The effect of a step on a valuation.
pub enum Effect<'p> {
    /// Leads to the end of the edge with these values where the condition holds, and nowhere else.
    Next(Lit, Valuation),
    /// Where the first condition holds: leads to the end of the edge where the second one holds, and fails elsewhere.
    /// Where the first does not hold, leads nowhere.
    Assert(Lit, Lit),
    /// Enters a procedure with these values of its parameters and of the variables that are not local.
    Call(&'p Call, Valuation),
    /// Returns these results.
    Return(Vec<Lit>),
    /// Ends the thread.
    End,
}

/// Returns the effect of a step along an edge, and the inputs that are its choices.
pub fn step<'p>(aig: &mut Aig, program: &'p Program, edge: EdgeId, now: &Valuation) -> (Effect<'p>, Vec<Input>) {
    let Edge { op, ensures, .. } = &program.edges[edge];
    let choices = fresh(aig, op.choices().len());
    let effect = match op {
        Op::Assign(step) => {
            let (condition, after) = assign(aig, step, now, &choices);
            let needs = value(aig, ensures, now, &[]);
            Effect::Next(aig.and(condition, needs), after)
        }
        Op::AtomicBegin | Op::AtomicEnd => Effect::Next(value(aig, ensures, now, &[]), now.clone()),
        Op::Assert(condition) => Effect::Assert(value(aig, ensures, now, &[]), value(aig, condition, now, &choices)),
        Op::Call(call) => Effect::Call(call, arguments(aig, program, call, now, &choices)),
        Op::Return(results) => Effect::Return(results.iter().map(|result| value(aig, result, now, &choices)).collect()),
        Op::End => Effect::End,
        Op::Spawn(_) | Op::Fork(_) => unreachable!("the engines of this module support programs with one thread only"),
    };
    (effect, choices)
}

/// Returns the beginning of the thread that a step along an edge starts; `None` if the edge starts none. Locals that
/// are no parameters have any value, those of a copy the same ones.
pub fn starts(aig: &mut Aig, program: &Program, edge: EdgeId, now: &Valuation) -> Option<Begun> {
    let Edge { op, ensures, .. } = &program.edges[edge];
    let choices = if op.starts_thread() { fresh(aig, op.choices().len()) } else { return None };
    let (valuation, fresh) = match op {
        Op::Spawn(spawn) => {
            let mut begun = now.restrict(|var| !matches!(program.vars[var].scope, Scope::Local(_)));
            for (param, arg) in program.procs[spawn.callee].params.iter().zip(&spawn.args) {
                begun.set(*param, value(aig, arg, now, &choices));
            }
            let fresh = add_locals(aig, program, spawn.callee, &mut begun);
            (begun, fresh)
        }
        _ => (now.clone(), Vec::new()),
    };
    Some(Begun { condition: value(aig, ensures, now, &[]), valuation, choices, fresh })
}

/// Returns a condition for each of several ways to go on, given the conditions of their results, such that no two ways
/// can be taken at once, and one that alone is possible can be taken. Inputs select where the ways do not exclude each
/// other.
pub fn selectors(aig: &mut Aig, ways: &[Vec<Lit>]) -> Vec<Lit> {
    let mut exclusive = true;
    for (number, left) in ways.iter().enumerate() {
        for right in &ways[..number] {
            exclusive &= left.iter().all(|left| right.iter().all(|right| aig.and(*left, *right) == Lit::FALSE));
        }
    }
    if exclusive {
        return vec![Lit::TRUE; ways.len()];
    }
    let mut rest = Lit::TRUE;
    let mut selectors = Vec::new();
    for _ in 1..ways.len() {
        let here = any_value(aig);
        selectors.push(aig.and(rest, here));
        rest = aig.and(rest, !here);
    }
    selectors.push(rest);
    selectors
}

/// Returns the literal of a condition about the variables of a valuation.
pub fn holds(aig: &mut Aig, condition: &Expr, value: &dyn Fn(VarId) -> Lit) -> Lit {
    expr(aig, condition, &|_, leaf| match leaf {
        Expr::Var(var) => value(*var),
        _ => unreachable!("the condition makes no choices and speaks of one state"),
    })
}

/// Returns the condition of an assignment, and the valuation after it. Assigned variables that the valuation does not
/// have are left out, unless the condition mentions them.
fn assign(aig: &mut Aig, assign: &Assign, now: &Valuation, choices: &[Input]) -> (Lit, Valuation) {
    let mut after = now.clone();
    let mut all = now.clone();
    for (var, rhs) in &assign.active {
        let known = now.find(*var).is_some();
        if known || assign.constrains_next(*var) {
            let lit = value(aig, rhs, now, choices);
            all.set(*var, lit);
            if known {
                after.set(*var, lit);
            }
        }
    }
    if assign.constrain.is_passive() {
        return (Lit::TRUE, after);
    }
    let condition = expr(aig, &assign.constrain, &|aig, leaf| match leaf {
        Expr::Var(var) => now.get(*var),
        Expr::Next(var) => all.get(*var),
        Expr::Choice(number, _) => aig.input(choices[*number as usize]),
        _ => unreachable!("all other leaves are constants"),
    });
    (condition, after)
}

/// Returns the caller's variables that are not local, and the parameters of the callee.
fn arguments(aig: &mut Aig, program: &Program, call: &Call, caller: &Valuation, choices: &[Input]) -> Valuation {
    let mut entry = caller.restrict(|var| !matches!(program.vars[var].scope, Scope::Local(_)));
    for (param, arg) in program.procs[call.callee].params.iter().zip(&call.args) {
        entry.set(*param, value(aig, arg, caller, choices));
    }
    entry
}

/// Gives the locals of a procedure that are not parameters any value. Returns them with their inputs.
pub fn add_locals(aig: &mut Aig, program: &Program, proc: ProcId, entry: &mut Valuation) -> Vec<(VarId, Input)> {
    let proc = &program.procs[proc];
    let locals = proc.locals.iter().copied().filter(|local| !proc.params.contains(local));
    let locals: Vec<(VarId, Input)> = locals.map(|local| (local, aig.new_input())).collect();
    locals.iter().for_each(|(local, input)| entry.set(*local, aig.input(*input)));
    locals
}

/// Returns the valuation of the caller after a return: its locals as they were, shared and per-thread variables as the
/// callee left them (those that the callee's valuation does not have are unchanged), and the results assigned.
pub fn resume(program: &Program, call: &Call, caller: &Valuation, callee: &Valuation, results: &[Lit]) -> Valuation {
    let mut after = caller.map(|var, lit| match program.vars[var].scope {
        Scope::Local(_) => lit,
        Scope::Shared | Scope::Thread => callee.find(var).unwrap_or(lit),
    });
    for (target, result) in call.results.iter().zip(results) {
        if let Some(var) = target {
            after.set(*var, *result);
        }
    }
    after
}

/// Returns the condition that a call ensures, for the valuation of the caller after its return.
pub fn ensured(aig: &mut Aig, program: &Program, call: EdgeId, after: &Valuation) -> Lit {
    value(aig, program.edges[call].ensures_by_return(), after, &[])
}

/// Converts the values of inputs to a step's choices.
pub fn choose(choices: &[Input], value: &dyn Fn(Input) -> bool) -> Vec<Value> {
    choices.iter().map(|input| Value::Bool(value(*input))).collect()
}
