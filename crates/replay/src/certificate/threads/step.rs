//! What a step needs and does, as gates: the reference interpreter's rules on literals.

use std::collections::BTreeMap;
use std::rc::Rc;

use selvedge_ir::{Assign, Call, Expr, ProcId, Program, Scope, VarId};

use super::super::encode;
use super::super::sat::{Lit, Sat};
use super::super::{Flaw, Refused};
use super::state::{Seen, State};
use super::table::Table;

/// The values that a step chooses.
pub(super) type Choices = BTreeMap<u32, Lit>;

/// The gate of an expression over the values before a step.
pub(super) fn expr(sat: &mut Sat<'_>, expr: &Expr, now: &[Lit], choices: &mut Choices) -> Result<Lit, Refused> {
    leaves(sat, expr, &Leaves { now, next: now, other: None }, (choices, &mut Choices::new()), &[])
}

/// Where the leaves of an expression have their values.
struct Leaves<'a> {
    now: &'a [Lit],
    next: &'a [Lit],
    /// The other thread that takes part, before and after the step.
    other: Option<(&'a [Lit], &'a [Lit])>,
}

/// The gate of an expression; the choices are those made once, and those made for the other thread.
fn leaves(
    sat: &mut Sat<'_>,
    expr: &Expr,
    values: &Leaves<'_>,
    (once, of_other): (&mut Choices, &mut Choices),
    per_thread: &[bool],
) -> Result<Lit, Refused> {
    let mut misplaced = false;
    let mut leaf = |sat: &mut Sat<'_>, leaf: &Expr| match (leaf, values.other) {
        (Expr::Var(var), _) => values.now[var.index()],
        (Expr::Next(var), _) => values.next[var.index()],
        (Expr::Passive(var), Some((now, _))) => now[var.index()],
        (Expr::PassiveNext(var), Some((_, next))) => next[var.index()],
        (Expr::Choice(number, _), Some(_)) if per_thread[*number as usize] => {
            *of_other.entry(*number).or_insert_with(|| sat.fresh())
        }
        (Expr::Choice(number, _), _) => *once.entry(*number).or_insert_with(|| sat.fresh()),
        _ => {
            misplaced = true;
            sat.constant(false)
        }
    };
    let gate = encode::expr(sat, expr, &mut leaf).ok_or(Flaw::OutOfScope("it has integers"))?;
    if misplaced { Err(Flaw::OutOfScope("it mentions other threads where it may not").into()) } else { Ok(gate) }
}

/// An assignment. The state's guard becomes false where its condition does not hold.
pub(super) fn assign(sat: &mut Sat<'_>, table: &Table<'_>, assign: &Assign, state: &mut State) -> Result<(), Refused> {
    let mut once = Choices::new();
    let mut next = state.now.clone();
    for (var, rhs) in &assign.active {
        next[var.index()] = expr(sat, rhs, &state.now, &mut once)?;
    }
    if assign.is_passive() {
        passive(sat, table, assign, state, &next, &mut once)?;
    }
    // A condition on other threads holds where there is none; one without passive variables must hold always.
    if !assign.constrain.is_passive() {
        let values = Leaves { now: &state.now, next: &next, other: None };
        let holds = leaves(sat, &assign.constrain, &values, (&mut once, &mut Choices::new()), &[])?;
        state.guard = sat.and(state.guard, holds);
    }
    state.now = next;
    Ok(())
}

/// The part of an assignment that concerns other threads: those that have what a passive assignment or the condition
/// mentions.
fn passive(
    sat: &mut Sat<'_>,
    table: &Table<'_>,
    assign: &Assign,
    state: &mut State,
    next: &[Lit],
    once: &mut Choices,
) -> Result<(), Refused> {
    let per_thread = assign.per_thread_choices();
    for other in &mut state.others {
        let assigned = |(var, rhs): &&(VarId, Expr)| table.has(other.place, *var) && has_all(table, other.place, rhs);
        let assigned: Vec<&(VarId, Expr)> = assign.passive.iter().filter(assigned).collect();
        let constrained = has_all(table, other.place, &assign.constrain);
        if assigned.is_empty() && !(assign.constrain.is_passive() && constrained) {
            continue;
        }
        let mut of_other = Choices::new();
        let old = Rc::clone(&other.vars);
        for (var, rhs) in assigned {
            let values = Leaves { now: &state.now, next, other: Some((&old, &old)) };
            let value = leaves(sat, rhs, &values, (once, &mut of_other), &per_thread)?;
            Rc::make_mut(&mut other.vars)[var.index()] = value;
            state.n_sorted = 0;
        }
        if constrained {
            let values = Leaves { now: &state.now, next, other: Some((&old, &other.vars)) };
            let holds = leaves(sat, &assign.constrain, &values, (once, &mut of_other), &per_thread)?;
            state.guard = sat.and(state.guard, holds);
        }
    }
    Ok(())
}

/// Whether a thread at a place has all passive variables of an expression.
fn has_all(table: &Table<'_>, place: u32, expr: &Expr) -> bool {
    !expr.any_leaf(|leaf| match leaf {
        Expr::Passive(var) | Expr::PassiveNext(var) => !table.has(place, *var),
        _ => false,
    })
}

/// The values of the variables of a new frame: arguments for the parameters, any values for the other locals.
pub(super) fn enter(
    sat: &mut Sat<'_>,
    program: &Program,
    (callee, args): (ProcId, &[Expr]),
    now: &[Lit],
    into: &mut [Lit],
) -> Result<(), Refused> {
    let mut choices = Choices::new();
    let callee = &program.procs[callee];
    let args = args.iter().map(|arg| expr(sat, arg, now, &mut choices)).collect::<Result<Vec<Lit>, Refused>>()?;
    any_locals(sat, &callee.locals, into);
    for (param, arg) in callee.params.iter().zip(args) {
        into[param.index()] = arg;
    }
    Ok(())
}

/// Any values for some variables.
pub(super) fn any_locals(sat: &mut Sat<'_>, locals: &[VarId], into: &mut [Lit]) {
    locals.iter().for_each(|local| into[local.index()] = sat.fresh());
}

/// A return from a procedure to its caller: the values, read in it, are written there.
pub(super) fn leave(
    sat: &mut Sat<'_>,
    program: &Program,
    call: &Call,
    values: &[Expr],
    state: &mut State,
) -> Result<(), Refused> {
    let mut choices = Choices::new();
    let values = values.iter().map(|value| expr(sat, value, &state.now, &mut choices));
    let values = values.collect::<Result<Vec<Lit>, Refused>>()?;
    for local in &program.procs[call.callee].locals {
        state.now[local.index()] = sat.constant(false);
    }
    for (result, value) in call.results.iter().zip(values) {
        if let Some(var) = result {
            state.now[var.index()] = value;
        }
    }
    Ok(())
}

/// The per-thread variables that a thread hands to one that it starts.
pub(super) fn inherit(sat: &Sat<'_>, program: &Program, now: &[Lit]) -> Vec<Lit> {
    let falsehood = sat.constant(false);
    let vars = program.vars.iter().zip(now);
    vars.map(|(var, value)| if var.scope == Scope::Thread { *value } else { falsehood }).collect()
}

/// A thread that has begun at a place.
pub(super) fn seen(place: u32, vars: Vec<Lit>) -> Seen {
    Seen { place, vars: Rc::new(vars) }
}
