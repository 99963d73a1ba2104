//! The flow of values between variables, through assignments, calls and returns, without regard to the order of steps.

use index_vec::IndexVec;

use crate::syntax::{Edge, Expr, Op, ProcId, Program};

/// Numbers of cells. A cell represents all copies of a variable, whose number it has, or one result of a procedure.
pub(super) struct Cells {
    first_result: IndexVec<ProcId, usize>,
    /// The number of all cells.
    pub(super) len: usize,
}

/// The source of a value that flows into a cell.
#[derive(Clone, Copy)]
pub(super) enum Flows<'p> {
    Anything,
    Expr(&'p Expr),
    Cell(usize),
}

impl Cells {
    pub(super) fn new(program: &Program) -> Cells {
        let mut len = program.vars.len();
        let mut first_result = IndexVec::new();
        for proc in &program.procs {
            first_result.push(len);
            len += proc.results.len();
        }
        Cells { first_result, len }
    }

    /// Returns the cell of a result.
    pub(super) fn result(&self, proc: ProcId, place: usize) -> usize {
        self.first_result[proc] + place
    }

    /// Calls `visit` on each cell that a step changes, with the source of its value.
    pub(super) fn for_each_flow<'p>(
        &self,
        program: &'p Program,
        edge: &'p Edge,
        mut visit: impl FnMut(usize, Flows<'p>),
    ) {
        if let Some(callee) = edge.op.callee() {
            let params = program.procs[callee].params.iter();
            params.zip(edge.op.exprs()).for_each(|(param, arg)| visit(param.index(), Flows::Expr(arg)));
        }
        match &edge.op {
            Op::Assign(assign) => {
                let sides = assign.active.iter().chain(&assign.passive);
                sides.for_each(|(var, rhs)| visit(var.index(), Flows::Expr(rhs)));
            }
            Op::Call(call) => {
                for (place, var) in call.results.iter().enumerate() {
                    if let Some(var) = var {
                        visit(var.index(), Flows::Cell(self.result(call.callee, place)));
                    }
                }
            }
            Op::Return(values) => {
                let own = self.first_result[program.locs[edge.from].proc];
                (own..).zip(values).for_each(|(cell, value)| visit(cell, Flows::Expr(value)));
            }
            _ => {}
        }
    }
}
