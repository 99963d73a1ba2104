//! The variables and choices that an expression really reads in a state.

use std::cell::RefCell;

use selvedge_ir::eval::eval;
use selvedge_ir::{Expr, Value};

/// Returns the leaves on which the value of an expression depends, from left to right: of a conditional value only
/// those of the branch that is taken, so of an array only the element that an index names. All leaves, if the value of
/// one is not known.
pub(crate) fn read(expr: &Expr, value: &dyn Fn(&Expr) -> Option<Value>) -> Vec<Expr> {
    let mut all = Vec::new();
    expr.for_each_leaf(|leaf| all.push(leaf.clone()));
    all.retain(|leaf| !matches!(leaf, Expr::Bool(_) | Expr::Int(_) | Expr::Machine(..)));
    if all.iter().any(|leaf| value(leaf).is_none()) {
        return all;
    }
    let found = RefCell::new(Vec::new());
    let leaf = |leaf: &Expr| {
        found.borrow_mut().push(leaf.clone());
        value(leaf).expect("the values of all leaves are known")
    };
    match eval(expr, &leaf) {
        Ok(_) => found.take(),
        Err(_) => all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_ir::VarId;

    #[test]
    fn only_the_branch_that_is_taken_is_read() {
        let var = |number: usize| Expr::Var(VarId::new(number));
        let expr = Expr::Ite(Box::new((var(0), var(1), var(2))));
        let value = |known: [Option<bool>; 3]| {
            move |leaf: &Expr| match leaf {
                Expr::Var(var) => known[var.index()].map(Value::Bool),
                _ => None,
            }
        };
        assert_eq!(read(&expr, &value([Some(true), Some(false), Some(false)])), [var(0), var(1)]);
        assert_eq!(read(&expr, &value([Some(false), Some(false), Some(false)])), [var(0), var(2)]);
        assert_eq!(read(&expr, &value([None, Some(false), Some(false)])), [var(0), var(1), var(2)]);
    }
}
