//! Certificates about programs with machine integers: formulas in the text form of the representation.

use selvedge_check::{InvariantPlace, InvariantProof};
use selvedge_ir::text::{self, Names};
use selvedge_ir::{EdgeId, Program};
use serde::{Deserialize, Serialize};

use super::certificate::{VariableView, fits, known, location};
use super::trace::{ReadError, mismatch};

/// A formula for some of the places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvariantsView {
    /// The variables of the program.
    pub variables: Vec<VariableView>,
    /// The places that may be reached.
    pub places: Vec<StatedView>,
}

/// A place, and what holds there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedView {
    /// The edges of the calls that have not returned, the first one first.
    pub calls: Vec<u32>,
    pub location: u32,
    /// As `selvedge show ir` writes expressions, where a name that several variables have is followed by `@` and the
    /// number; null where nothing is stated.
    pub formula: Option<String>,
}

impl InvariantsView {
    pub(super) fn new(program: &Program, proof: &InvariantProof) -> InvariantsView {
        let names = Names::unique(program);
        let place = |place: &InvariantPlace| StatedView {
            calls: place.calls.iter().map(|call| call.index() as u32).collect(),
            location: place.loc.index() as u32,
            formula: place.formula.as_ref().map(|formula| text::expr_with(&names, formula)),
        };
        InvariantsView {
            variables: program.vars.indices().map(|id| VariableView::new(program, id)).collect(),
            places: proof.places.iter().map(place).collect(),
        }
    }

    pub(super) fn proof(&self, program: &Program) -> Result<InvariantProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let place = |(number, view): (usize, &StatedView)| {
            let call = |call: &u32| known(&program.edges, *call, "proof", "edge");
            let calls: Vec<EdgeId> = view.calls.iter().map(call).collect::<Result<_, _>>()?;
            let read = |formula: &String| {
                text::parse_expr(program, formula).map_err(|message| mismatch(&format!("place {number}"), message))
            };
            let formula = view.formula.as_ref().map(read).transpose()?;
            Ok(InvariantPlace { calls, loc: location(program, view.location)?, formula })
        };
        Ok(InvariantProof { places: self.places.iter().enumerate().map(place).collect::<Result<_, _>>()? })
    }
}
