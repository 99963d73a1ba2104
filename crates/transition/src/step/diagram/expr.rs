//! Expressions as decision diagrams.

use selvedge_ir::{BinaryOp, Expr, UnaryOp};
use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes};

/// Encodes an expression, whose variables and choices `leaf` encodes.
pub fn encode(
    manager: &Manager,
    expr: &Expr,
    leaf: &mut dyn FnMut(&Expr) -> Result<Bdd, OutOfNodes>,
) -> Result<Bdd, OutOfNodes> {
    Ok(match expr {
        Expr::Bool(value) => manager.constant(*value),
        Expr::Unary(UnaryOp::Not, operand) => encode(manager, operand, leaf)?.not()?,
        Expr::Binary(op, pair) => {
            let left = encode(manager, &pair.0, leaf)?;
            binary(*op, &left, &encode(manager, &pair.1, leaf)?)?
        }
        Expr::Ite(triple) => {
            let condition = encode(manager, &triple.0, leaf)?;
            let then = encode(manager, &triple.1, leaf)?;
            condition.ite(&then, &encode(manager, &triple.2, leaf)?)?
        }
        Expr::Int(_) | Expr::Unary(..) => unreachable!("the engines support Boolean programs only"),
        leaf_expr => leaf(leaf_expr)?,
    })
}

fn binary(op: BinaryOp, left: &Bdd, right: &Bdd) -> Result<Bdd, OutOfNodes> {
    match op {
        BinaryOp::And => left.and(right),
        BinaryOp::Or => left.or(right),
        BinaryOp::Xor | BinaryOp::Ne => left.xor(right),
        BinaryOp::Implies => left.implies(right),
        BinaryOp::Eq => left.iff(right),
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le => {
            unreachable!("the engines support Boolean programs only")
        }
    }
}
