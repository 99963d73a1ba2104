//! Finds control variables, which act like a program counter: they have few initial values, and are only assigned
//! constants and each other's values.

use std::collections::BTreeSet;

use selvedge_check::Stop;
use selvedge_ir::{Ty, VarId};
use selvedge_logic::smt::{Node, Symbol, Term};

use super::model::{SymbolicStart, TransitionModel};
use super::prover::Prover;
use crate::terms::constant;

/// Limit on the initial values of an integer control variable.
const VALUES: usize = 64;

/// Returns the control variables, in ascending order. A Boolean must have a single initial value: otherwise it does as
/// well as a predicate.
///
/// The loop ends because each round excludes a variable. The result is right for any answer of the solver: it only
/// selects the variables that are worth treating specially.
pub(super) fn control(model: &TransitionModel<'_>, prover: &mut Prover<'_>) -> Result<Vec<VarId>, Stop> {
    let mut control: BTreeSet<VarId> = model.vars.iter().copied().collect();
    for var in model.vars.clone() {
        let few = match model.program.vars[var].ty {
            Ty::Bool => 1,
            Ty::Int | Ty::Machine(_) => VALUES,
        };
        for start in &model.starts {
            if control.contains(&var) && !has_few_values(start, var, few, prover)? {
                control.remove(&var);
            }
        }
    }
    loop {
        let symbols: BTreeSet<Symbol> = control.iter().map(|var| model.symbol(*var).clone()).collect();
        let updates = model.steps.values().flatten().flat_map(|step| &step.updates);
        let mut outside = updates.filter(|(var, value)| control.contains(var) && !is_control(value, &symbols));
        let Some((var, _)) = outside.next() else { return Ok(control.into_iter().collect()) };
        control.remove(var);
    }
}

fn is_control(value: &Term, control: &BTreeSet<Symbol>) -> bool {
    match value.head() {
        Node::Bool(_) | Node::Int(_) => true,
        Node::Symbol(symbol) => control.contains(symbol),
        Node::Ite(condition, then, otherwise) => {
            condition.symbols().is_subset(control) && is_control(then, control) && is_control(otherwise, control)
        }
        _ => false,
    }
}

fn has_few_values(start: &SymbolicStart, var: VarId, few: usize, prover: &mut Prover<'_>) -> Result<bool, Stop> {
    let value = &start.values[&var];
    if value.as_bool().is_some() || value.as_int().is_some() {
        return Ok(true);
    }
    let mut rest = start.condition.clone();
    for _ in 0..=few {
        let Some(found) = prover.values(&rest, std::slice::from_ref(value))? else { return Ok(true) };
        let differs = value.equals(&constant(found[0])).not();
        rest = Term::and([rest, differs]);
    }
    Ok(false)
}
