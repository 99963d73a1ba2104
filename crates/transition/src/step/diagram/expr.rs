//! Expressions as decision diagrams.

use selvedge_ir::visit::Parts;
use selvedge_ir::{BinaryOp, Expr, UnaryOp};
use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes};

/// A function that encodes variables and choices.
type Leaf<'l> = dyn FnMut(&Expr) -> Result<Bdd, OutOfNodes> + 'l;

/// The most nodes that the diagrams of one step may take, with those on the way to them. Where numbers are added whose
/// bits are far apart in the order, each bit doubles the diagrams, and nobody would look at the limits of the run for
/// a long time.
pub const MOST_NODES: usize = 1 << 22;

/// Says whether more nodes have been made than one step may take, since there were `before`.
pub fn is_within(manager: &Manager, before: usize) -> Result<(), OutOfNodes> {
    let is_within = manager.node_count() <= before.saturating_add(MOST_NODES);
    if is_within { Ok(()) } else { Err(OutOfNodes { limit: MOST_NODES }) }
}

/// Encodes an expression, whose variables and choices `leaf` encodes.
pub fn encode(manager: &Manager, expr: &Expr, leaf: &mut Leaf<'_>) -> Result<Bdd, OutOfNodes> {
    let before = manager.node_count();
    let mut leaf = |expr: &Expr| {
        is_within(manager, before)?;
        leaf(expr)
    };
    encode_in(&mut Parts::new(), manager, expr, &mut leaf)
}

fn encode_in(parts: &mut Parts<Bdd>, manager: &Manager, expr: &Expr, leaf: &mut Leaf<'_>) -> Result<Bdd, OutOfNodes> {
    Ok(match expr {
        Expr::Bool(value) => manager.constant(*value),
        Expr::Unary(UnaryOp::Not, operand) => encode_in(parts, manager, operand, leaf)?.not()?,
        Expr::Binary(op, pair) => {
            let left = encode_in(parts, manager, &pair.0, leaf)?;
            binary(*op, &left, &encode_in(parts, manager, &pair.1, leaf)?)?
        }
        Expr::Ite(triple) => {
            let condition = encode_in(parts, manager, &triple.0, leaf)?;
            let then = encode_in(parts, manager, &triple.1, leaf)?;
            condition.ite(&then, &encode_in(parts, manager, &triple.2, leaf)?)?
        }
        Expr::Let(shared) => parts.scope(shared, |parts, expr| encode_in(parts, manager, expr, leaf))?,
        Expr::Part(number) => parts.get(*number).clone(),
        Expr::Int(_) | Expr::Machine(..) | Expr::Unary(..) => {
            unreachable!("the engines support Boolean programs only")
        }
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
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Machine(..) => {
            unreachable!("the engines support Boolean programs only")
        }
    }
}
