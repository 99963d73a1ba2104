//! Certificates about programs with integers: formulas in SMT-LIB.

use selvedge_check::{ControlPoint, IntegerProof};
use selvedge_ir::{Program, Ty};
use serde::{Deserialize, Serialize};

use super::ValueView;
use super::certificate::{VariableView, fits, location};
use super::threads::var_id;
use super::trace::{ReadError, mismatch, read_values};
use selvedge_export::smtlib::Symbols;

/// A formula for each control point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntegersView {
    /// The variables of the program.
    pub variables: Vec<VariableView>,
    /// The variables whose values belong to a control point, by number.
    pub control: Vec<u32>,
    /// The control points that may be reached.
    pub points: Vec<PointView>,
}

/// A location, values of the control variables, and what holds there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointView {
    pub location: u32,
    pub values: Vec<ValueView>,
    /// In SMT-LIB, over the variables' names as quoted symbols.
    pub formula: String,
}

impl IntegersView {
    pub(super) fn new(program: &Program, proof: &IntegerProof) -> IntegersView {
        let symbols = Symbols::new(program);
        let point = |point: &ControlPoint| PointView {
            location: point.loc.index() as u32,
            values: point.values.iter().map(|value| ValueView::from(*value)).collect(),
            formula: symbols.write(&point.formula),
        };
        IntegersView {
            variables: program.vars.indices().map(|id| VariableView::new(program, id)).collect(),
            control: proof.control.iter().map(|var| var.index() as u32).collect(),
            points: proof.points.iter().map(point).collect(),
        }
    }

    pub(super) fn proof(&self, program: &Program) -> Result<IntegerProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let symbols = Symbols::new(program);
        let control = self.control.iter().map(|number| var_id(program, "proof", *number));
        let control = control.collect::<Result<Vec<_>, _>>()?;
        let types: Vec<Ty> = control.iter().map(|var| program.vars[*var].ty).collect();
        let point = |(number, view): (usize, &PointView)| {
            let read = symbols.read(&view.formula);
            Ok(ControlPoint {
                loc: location(program, view.location)?,
                values: read_values(&view.values, &types, "proof")?,
                formula: read.map_err(|message| mismatch(&format!("control point {number}"), message))?,
            })
        };
        Ok(IntegerProof { control, points: self.points.iter().enumerate().map(point).collect::<Result<_, _>>()? })
    }
}
