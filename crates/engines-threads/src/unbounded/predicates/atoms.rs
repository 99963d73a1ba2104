//! The comparisons that conditions are made of.

use selvedge_ir::simplify::{simplify, size};
use selvedge_ir::{BinaryOp, Expr, Let, MachineOp, UnaryOp};

use super::linear::{Types, normal};

/// Larger expressions are not looked at.
const LARGEST: usize = 400;

/// Returns a comparison in its form, if the expression is one that is not negated.
pub(super) fn atom(expr: &Expr, types: Types<'_>) -> Option<Expr> {
    match simplify(expr) {
        Expr::Bool(value) => Some(Expr::Bool(value)),
        expr => plain(expr).map(|atom| normal(atom, types)),
    }
}

/// Adds the comparisons and truth values that a condition is made of, without choices between numbers, and each
/// without negation. Those that are constant or too large are left out.
pub(super) fn atoms(condition: &Expr, types: Types<'_>, found: &mut Vec<Expr>) {
    let Some(expanded) = expanded(condition, &mut Vec::new(), &mut { LARGEST }) else { return };
    let mut open = vec![simplify(&expanded)];
    let mut left = LARGEST;
    while let Some(expr) = open.pop() {
        left = left.saturating_sub(1);
        if left == 0 || size(&expr) > LARGEST {
            continue;
        }
        match expr {
            Expr::Unary(UnaryOp::Not, operand) => open.push(*operand),
            Expr::Binary(op, pair) if is_connective(op, &pair) => open.extend([pair.1, pair.0]),
            Expr::Ite(triple) => open.extend([triple.2, triple.1, triple.0]),
            expr => match divided(&expr) {
                Some((condition, then, otherwise)) => open.extend([simplify(&otherwise), simplify(&then), condition]),
                None => match plain(positive(expr)).map(|atom| normal(atom, types)) {
                    Some(Expr::Unary(UnaryOp::Not, operand)) => open.push(*operand),
                    atom => found.extend(atom.filter(|atom| !matches!(atom, Expr::Bool(_)))),
                },
            },
        }
    }
}

fn is_connective(op: BinaryOp, pair: &(Expr, Expr)) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Implies => true,
        BinaryOp::Eq | BinaryOp::Ne => is_truth(&pair.0) || is_truth(&pair.1),
        _ => false,
    }
}

/// Returns whether an expression is a truth value by its form.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Bool(_) | Expr::Unary(UnaryOp::Not, _) => true,
        Expr::Binary(op, _) => match op {
            BinaryOp::Machine(op, _) => op.compares(),
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => false,
            _ => true,
        },
        Expr::Ite(triple) => is_truth(&triple.1),
        _ => false,
    }
}

/// A comparison, or its negation: equality, or less than.
fn positive(atom: Expr) -> Expr {
    match atom {
        Expr::Binary(BinaryOp::Ne, pair) => Expr::Binary(BinaryOp::Eq, pair),
        Expr::Binary(BinaryOp::Machine(MachineOp::Le, ty), pair) => {
            Expr::binary(BinaryOp::Machine(MachineOp::Lt, ty), pair.1, pair.0)
        }
        atom => atom,
    }
}

/// A comparison that is not a negation.
fn plain(atom: Expr) -> Option<Expr> {
    Some(match atom {
        Expr::Binary(BinaryOp::Eq | BinaryOp::Machine(MachineOp::Lt, _), _) | Expr::Var(_) => atom,
        _ => return None,
    })
}

/// Returns the condition of the first choice between numbers in an expression, and the expression for both results.
fn divided(expr: &Expr) -> Option<(Expr, Expr, Expr)> {
    match expr {
        Expr::Ite(triple) => Some((triple.0.clone(), triple.1.clone(), triple.2.clone())),
        Expr::Unary(op, operand) => {
            let (condition, then, otherwise) = divided(operand)?;
            let whole = |operand: Expr| Expr::Unary(*op, Box::new(operand));
            Some((condition, whole(then), whole(otherwise)))
        }
        Expr::Binary(op, pair) => {
            if let Some((condition, then, otherwise)) = divided(&pair.0) {
                let whole = |left: Expr| Expr::binary(*op, left, pair.1.clone());
                return Some((condition, whole(then), whole(otherwise)));
            }
            let (condition, then, otherwise) = divided(&pair.1)?;
            let whole = |right: Expr| Expr::binary(*op, pair.0.clone(), right);
            Some((condition, whole(then), whole(otherwise)))
        }
        _ => None,
    }
}

/// Returns the expression with its parts written out, unless that is too large.
fn expanded(expr: &Expr, parts: &mut Vec<(u32, Expr)>, left: &mut usize) -> Option<Expr> {
    *left = left.checked_sub(1)?;
    Some(match expr {
        Expr::Let(shared) => {
            let Let { parts: defined, body } = &**shared;
            let before = parts.len();
            for (number, part) in defined {
                let part = expanded(part, parts, left)?;
                parts.push((*number, part));
            }
            let body = expanded(body, parts, left)?;
            parts.truncate(before);
            body
        }
        Expr::Part(number) => {
            let (_, part) = parts.iter().rev().find(|(known, _)| known == number)?;
            *left = left.checked_sub(size(part))?;
            part.clone()
        }
        Expr::Unary(op, operand) => Expr::Unary(*op, Box::new(expanded(operand, parts, left)?)),
        Expr::Binary(op, pair) => {
            let one = expanded(&pair.0, parts, left)?;
            Expr::binary(*op, one, expanded(&pair.1, parts, left)?)
        }
        Expr::Ite(triple) => {
            let condition = expanded(&triple.0, parts, left)?;
            let then = expanded(&triple.1, parts, left)?;
            Expr::Ite(Box::new((condition, then, expanded(&triple.2, parts, left)?)))
        }
        leaf => leaf.clone(),
    })
}
