//! Certificates about programs with machine integers: a Boolean program, in the text form of the representation, the
//! conditions that its variables stand for, and a certificate about it.

use selvedge_check::{PredicatePlace, PredicateProof, PredicateStep};
use selvedge_ir::text::{self, Names};
use selvedge_ir::validate::validate;
use selvedge_ir::{EdgeId, Program, VarId};
use serde::{Deserialize, Serialize};

use super::certificate::{ProofView, VariableView, fits, known, location};
use super::trace::{ReadError, mismatch};

/// A Boolean program over predicates, and a certificate about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverPredicatesView {
    /// The variables of the program.
    pub variables: Vec<VariableView>,
    /// The Boolean program.
    pub boolean: String,
    /// For each of its variables the condition that it stands for, as `selvedge show ir` writes expressions, where a
    /// name that several variables have is followed by `@` and the number.
    pub predicates: Vec<String>,
    /// For each of its locations the place of the program; null where no thread ever is.
    pub places: Vec<Option<TrackedView>>,
    /// For each of its edges the step of the program.
    pub steps: Vec<GuessedView>,
    /// The certificate about the Boolean program.
    pub proof: Box<ProofView>,
}

/// A place, and the locals of the Boolean program that have the values of their conditions there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackedView {
    /// The edges of the calls that have not returned, the first one first.
    pub calls: Vec<u32>,
    pub location: u32,
    pub tracked: Vec<u32>,
}

/// A step, and for each choice of the Boolean program's edge the variable whose new value it guesses; null guesses the
/// condition of an assertion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuessedView {
    pub edge: u32,
    pub choices: Vec<Option<u32>>,
}

impl OverPredicatesView {
    pub(super) fn new(program: &Program, proof: &PredicateProof) -> OverPredicatesView {
        let names = Names::unique(program);
        let number = |var: &VarId| var.index() as u32;
        let place = |place: &PredicatePlace| TrackedView {
            calls: place.calls.iter().map(|call| call.index() as u32).collect(),
            location: place.loc.index() as u32,
            tracked: place.tracked.iter().map(number).collect(),
        };
        let step = |step: &PredicateStep| GuessedView {
            edge: step.edge.index() as u32,
            choices: step.choices.iter().map(|choice| choice.as_ref().map(number)).collect(),
        };
        OverPredicatesView {
            variables: program.vars.indices().map(|id| VariableView::new(program, id)).collect(),
            boolean: text::print(&proof.program),
            predicates: proof.predicates.iter().map(|predicate| text::expr_with(&names, predicate)).collect(),
            places: proof.places.iter().map(|one| one.as_ref().map(place)).collect(),
            steps: proof.steps.iter().map(step).collect(),
            proof: Box::new(ProofView::new(&proof.program, &proof.certificate)),
        }
    }

    /// The proof. The judge compares it with the program.
    pub(super) fn proof(&self, program: &Program) -> Result<PredicateProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let wrong = |message: String| mismatch("Boolean program", message);
        let boolean = text::parse(&self.boolean).map_err(|error| wrong(error.to_string()))?;
        validate(&boolean).map_err(|invalid| wrong(invalid.first().map(ToString::to_string).unwrap_or_default()))?;
        let predicate = |(number, view): (usize, &String)| {
            text::parse_expr(program, view).map_err(|message| mismatch(&format!("predicate {number}"), message))
        };
        let var = |number: &u32| known(&boolean.vars, *number, "proof", "Boolean variable");
        let place = |view: &TrackedView| -> Result<PredicatePlace, ReadError> {
            let call = |call: &u32| known(&program.edges, *call, "proof", "edge");
            let calls: Vec<EdgeId> = view.calls.iter().map(call).collect::<Result<_, _>>()?;
            let tracked = view.tracked.iter().map(var).collect::<Result<_, _>>()?;
            Ok(PredicatePlace { calls, loc: location(program, view.location)?, tracked })
        };
        let step = |view: &GuessedView| -> Result<PredicateStep, ReadError> {
            let edge = known(&program.edges, view.edge, "proof", "edge")?;
            let choices = view.choices.iter().map(|choice| choice.as_ref().map(var).transpose());
            Ok(PredicateStep { edge, choices: choices.collect::<Result<_, _>>()? })
        };
        let place = |view: &Option<TrackedView>| view.as_ref().map(place).transpose();
        Ok(PredicateProof {
            predicates: self.predicates.iter().enumerate().map(predicate).collect::<Result<_, _>>()?,
            places: self.places.iter().map(place).collect::<Result<_, _>>()?,
            steps: self.steps.iter().map(step).collect::<Result<_, _>>()?,
            certificate: self.proof.certificate(&boolean)?,
            program: boolean,
        })
    }
}
