//! The certificate of k-induction: the states from which no error is within k steps.
//!
//! This set is an invariant. No start has an error within k steps: that is the base. The successors of a state of the
//! set have no error within k - 1 steps; and an error k steps after a successor would follow k + 1 consecutive states
//! without error, which the step excludes.
//!
//! The set is computed backwards: `I(0)` are the states without error, and `I(n + 1)` those of them all of whose
//! successors are in `I(n)`. A step is left out if no state of `I(0)` has a successor by it outside of `I(n)`; that is
//! true of most steps, so the formulas stay small.

use std::collections::BTreeMap;

use selvedge_check::{Certificate, ControlPoint, IntegerProof, Run, Stop};
use selvedge_ir::{Expr, LocId};
use selvedge_logic::smt::{Symbol, Term};

use super::super::atoms::normal;
use super::super::model::{SymbolicStep, TransitionModel};
use super::super::prover::Prover;
use super::locations;

/// Limit on the size of the formulas; above it there is no certificate.
const PARTS: usize = 100_000;

/// A formula for each location.
type Formulas = BTreeMap<LocId, Term>;

/// Computes the certificate; returns `None` if it would be too large.
pub(super) fn certificate(
    model: &TransitionModel<'_>,
    k: u32,
    prover: &mut Prover<'_>,
    run: &Run<'_>,
) -> Result<Option<Certificate>, Stop> {
    let good = without_error(model, prover)?;
    let mut formulas = good.clone();
    for _ in 0..k {
        formulas = one_more(model, &good, &formulas, (prover, run))?;
        if formulas.values().map(parts).sum::<usize>() > PARTS {
            return Ok(None);
        }
    }
    let mut points = Vec::new();
    if model.starts.iter().any(|start| start.edge.is_some()) {
        // The starts come after the first location, at which every state is allowed.
        let first = model.program.procs[model.program.entries[0].proc].entry;
        points.push(ControlPoint { loc: first, values: Vec::new(), formula: Expr::Bool(true) });
    }
    for (loc, formula) in formulas {
        let Some(formula) = model.expr(&formula) else { return Ok(None) };
        points.push(ControlPoint { loc, values: Vec::new(), formula });
    }
    Ok(Some(Certificate::Integers(IntegerProof { control: Vec::new(), points })))
}

/// Returns the states without error.
fn without_error(model: &TransitionModel<'_>, prover: &mut Prover<'_>) -> Result<Formulas, Stop> {
    let mut formulas = Formulas::new();
    for loc in locations(model) {
        let mut parts = Vec::new();
        for error in model.errors.iter().filter(|error| error.loc == loc) {
            parts.push(normal(&prover.eliminate(&error.choices, &error.condition)?.not()));
        }
        formulas.insert(loc, Term::and(parts));
    }
    Ok(formulas)
}

/// Returns the good states all of whose successors are in a set.
fn one_more(
    model: &TransitionModel<'_>,
    good: &Formulas,
    set: &Formulas,
    (prover, run): (&mut Prover<'_>, &Run<'_>),
) -> Result<Formulas, Stop> {
    let mut formulas = good.clone();
    for (loc, steps) in &model.steps {
        let mut parts = vec![good[loc].clone()];
        for step in steps {
            run.tick()?;
            let leaves = leaving(model, step, &set[&step.to]);
            if prover.is_sat(&Term::and([good[loc].clone(), leaves.clone()]))? {
                parts.push(prover.eliminate(&step.choices, &leaves)?.not());
            }
        }
        formulas.insert(*loc, Term::and(parts));
    }
    Ok(formulas)
}

/// Returns the states, and choices, from which a step leads out of a set.
fn leaving(model: &TransitionModel<'_>, step: &SymbolicStep, set: &Term) -> Term {
    let updates = step.updates.iter().map(|(var, value)| (model.symbol(*var).clone(), value.clone()));
    let updates: BTreeMap<Symbol, Term> = updates.collect();
    Term::and([step.guard.clone(), normal(&set.substitute(&updates)).not()])
}

fn parts(term: &Term) -> usize {
    1 + term.parts().into_iter().map(parts).sum::<usize>()
}
