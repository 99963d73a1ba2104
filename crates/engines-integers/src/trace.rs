//! Turns a path of symbolic steps into an execution.

use selvedge_check::{Start as TraceStart, StartThread, Stop, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{EdgeId, EntryId, Program, Scope, Value, VarId};
use selvedge_logic::smt::{Symbol, Term};

use super::model::{TransitionModel, symbols};
use super::prover::Prover;
use crate::horn::trace::step;

/// A path: its steps with the symbols of their choices, and a condition on all symbols.
pub(super) struct Path {
    pub(super) steps: Vec<(EdgeId, Vec<Symbol>)>,
    pub(super) condition: Term,
}

/// Returns an execution along the path with small values; `None` if there is none.
pub(super) fn execution(
    model: &TransitionModel<'_>,
    path: &Path,
    prover: &mut Prover<'_>,
) -> Result<Option<Trace>, Stop> {
    let program = model.program;
    let entry = &program.entries[0];
    let shared = symbols("init", &choice_types(program.init.iter().map(|(_, rhs)| rhs)));
    let own = symbols("thread", &choice_types(entry.init.iter().map(|(_, rhs)| rhs)));
    let first: Vec<Symbol> = model.vars.iter().map(|var| model.symbol(*var).clone()).collect();
    let choices = path.steps.iter().flat_map(|(_, choices)| choices);
    let symbols: Vec<Symbol> = first.iter().chain(&shared).chain(&own).chain(choices).cloned().collect();
    let Some(values) = prover.small_model(&path.condition, &symbols)? else { return Ok(None) };
    let mut values = values.into_iter();
    let mut take = |count: usize| -> Vec<Value> { values.by_ref().take(count).collect() };
    let first: Vec<(VarId, Value)> = model.vars.iter().copied().zip(take(first.len())).collect();
    let (shared, own) = (take(shared.len()), take(own.len()));
    let steps = path.steps.iter().map(|(edge, choices)| step(*edge, take(choices.len()))).collect();
    let thread =
        StartThread { entry: EntryId::new(0), choices: own, fresh: fresh(program, &first, &entry.init, false) };
    let start =
        TraceStart { choices: shared, fresh: fresh(program, &first, &program.init, true), threads: vec![thread] };
    Ok(Some(Trace { start, steps, bodies: Vec::new() }))
}

/// Returns the initial values of those variables, shared ones or others, that start with any value.
fn fresh(
    program: &Program,
    first: &[(VarId, Value)],
    init: &[(VarId, selvedge_ir::Expr)],
    shared: bool,
) -> Vec<(VarId, Value)> {
    let is_free = |var: VarId| init.iter().all(|(initialised, _)| *initialised != var);
    let is_shared = |var: VarId| program.vars[var].scope == Scope::Shared;
    first.iter().filter(|(var, _)| is_shared(*var) == shared && is_free(*var)).copied().collect()
}
