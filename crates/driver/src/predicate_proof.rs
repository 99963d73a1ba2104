//! The way of a proof by predicates back through a pass that put procedures in the place of calls.
//!
//! A location of a copied body stands for the one that was copied, below the calls that the copy stands for. A
//! predicate on a copied local becomes one on the local: without recursion, a local exists once at most on the stack of
//! a thread, and the predicate is tracked where that one is the copied one. The Boolean program stays as it is.

use selvedge_check::{PredicatePlace, PredicateProof, PredicateStep};
use selvedge_ir::Expr;
use selvedge_ir::passes::Lift;

/// Returns the proof about the program before a pass; `None` if the pass did something else, or left calls.
pub(crate) fn lifted(proof: &PredicateProof, lift: &Lift) -> Option<PredicateProof> {
    let copies = lift.copies.as_ref()?;
    let predicate = |predicate: &Expr| {
        predicate.map_leaves(&mut |leaf| match leaf {
            Expr::Var(var) => Expr::Var(copies.vars[*var].1),
            leaf => leaf.clone(),
        })
    };
    let place = |place: &Option<PredicatePlace>| match place {
        Some(place) if place.calls.is_empty() => {
            let (number, loc) = *copies.locs.get(place.loc)?;
            Some(Some(PredicatePlace { calls: copies.calls[number as usize].clone(), loc, ..place.clone() }))
        }
        Some(_) => None,
        None => Some(None),
    };
    let step = |step: &PredicateStep| Some(PredicateStep { edge: lift.edges[step.edge].first()?.edge, ..step.clone() });
    Some(PredicateProof {
        program: proof.program.clone(),
        predicates: proof.predicates.iter().map(predicate).collect(),
        places: proof.places.iter().map(place).collect::<Option<_>>()?,
        steps: proof.steps.iter().map(step).collect::<Option<_>>()?,
        certificate: proof.certificate.clone(),
    })
}
