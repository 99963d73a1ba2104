//! Range checks: a variable of a finite range must obviously stay within it.

use selvedge_ir::span::Span;
use selvedge_ir::{Expr, VarId};

use super::Lowering;
use super::expr::constant;
use crate::diagnostic::{Code, Diagnostic};
use crate::gcl::ast::Type;

impl Lowering {
    /// Reports an assignment that may leave the variable's range.
    pub(super) fn check_range(&mut self, var: VarId, rhs: &Expr, span: Span) {
        let Type::Range(low, high) = self.infos[var].ty else { return };
        let name = &self.program.vars[var].name;
        let message = match self.bounds(rhs) {
            Some((least, most)) if low <= least && most <= high => return,
            Some((least, most)) if least == most => format!("{least} is not in the range {low}..{high} of `{name}`"),
            Some((least, most)) => {
                format!("a value in {least}..{most} may be outside the range {low}..{high} of `{name}`")
            }
            None => format!("this value may be outside the range {low}..{high} of `{name}`"),
        };
        let help = "constants, variables of such a range, and `c ? a : b` of them can be assigned; for other values \
                    declare the variable as `int`";
        self.report(Diagnostic::new(Code::OutsideRange, message, span).help(help));
    }

    /// Returns the least and the greatest value of an expression that may be assigned to variables of a range.
    fn bounds(&self, expr: &Expr) -> Option<(i64, i64)> {
        if let Some(number) = constant(expr) {
            return Some((number, number));
        }
        match expr {
            Expr::Var(var) => match self.infos[*var].ty {
                Type::Range(low, high) => Some((low, high)),
                _ => None,
            },
            Expr::Ite(triple) => {
                let (then, otherwise) = (self.bounds(&triple.1)?, self.bounds(&triple.2)?);
                Some((then.0.min(otherwise.0), then.1.max(otherwise.1)))
            }
            _ => None,
        }
    }
}
