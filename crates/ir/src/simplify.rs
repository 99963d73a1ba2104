//! Simplification of expressions. The value stays the same for all values of the leaves.
//!
//! Integers are unbounded: an operation whose result does not fit into 64 bits is left as it is.

use crate::eval;
use crate::syntax::{BinaryOp, Expr, UnaryOp, Value};

/// Returns the expression, with every leaf replaced and then simplified from the leaves upwards.
pub fn substitute(expr: &Expr, replace: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    rebuild(expr, &mut |node| if node.is_leaf() { replace(&node) } else { simplify_head(node) })
}

/// Returns the expression, simplified.
pub fn simplify(expr: &Expr) -> Expr {
    rebuild(expr, &mut simplify_head)
}

/// Returns the number of leaves and operators of an expression.
pub fn size(expr: &Expr) -> usize {
    let mut size = 0;
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        size += 1;
        stack.extend(expr.operands());
    }
    size
}

/// Returns the negation, simplified if the operand is.
pub fn not(operand: Expr) -> Expr {
    match operand {
        Expr::Bool(value) => Expr::Bool(!value),
        Expr::Unary(UnaryOp::Not, inner) => *inner,
        Expr::Binary(BinaryOp::Eq, pair) => Expr::Binary(BinaryOp::Ne, pair),
        Expr::Binary(BinaryOp::Ne, pair) => Expr::Binary(BinaryOp::Eq, pair),
        operand => Expr::negate(operand),
    }
}

/// Returns the conjunction, simplified if the operands are.
pub fn and(left: Expr, right: Expr) -> Expr {
    simplify_head(Expr::binary(BinaryOp::And, left, right))
}

/// Applies a function to every node, operands first. Works without recursion: expressions may be deep.
fn rebuild(expr: &Expr, build: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    if expr.is_leaf() {
        return build(expr.clone());
    }
    // Each node twice: first to visit its operands, and then to be built from their results.
    let (mut work, mut done) = (vec![(expr, false)], Vec::new());
    while let Some((node, has_operands)) = work.pop() {
        if has_operands || node.is_leaf() {
            let built = with_operands(node, &mut done);
            done.push(build(built));
        } else {
            work.push((node, true));
            let first = work.len();
            work.extend(node.operands().map(|operand| (operand, false)));
            work[first..].reverse();
        }
    }
    done.pop().expect("one result for the root")
}

/// Returns the node with the last results as its operands.
fn with_operands(node: &Expr, done: &mut Vec<Expr>) -> Expr {
    let mut operand = || done.pop().expect("one result per operand");
    match node {
        Expr::Unary(op, _) => Expr::Unary(*op, Box::new(operand())),
        Expr::Binary(op, _) => {
            let right = operand();
            Expr::binary(*op, operand(), right)
        }
        Expr::Ite(_) => {
            let otherwise = operand();
            let then = operand();
            Expr::Ite(Box::new((operand(), then, otherwise)))
        }
        leaf => leaf.clone(),
    }
}

/// Simplifies an expression whose operands are simple already.
fn simplify_head(expr: Expr) -> Expr {
    match expr {
        Expr::Unary(op, operand) => unary(op, *operand),
        Expr::Binary(op, pair) => binary(op, pair.0, pair.1),
        Expr::Ite(triple) => ite(triple.0, triple.1, triple.2),
        leaf => leaf,
    }
}

fn unary(op: UnaryOp, operand: Expr) -> Expr {
    match (op, operand) {
        (UnaryOp::Not, operand) => not(operand),
        (UnaryOp::Neg, Expr::Int(value)) if value != i64::MIN => Expr::Int(-value),
        (UnaryOp::DivisibleBy(1), _) => Expr::TRUE,
        (UnaryOp::DivisibleBy(divisor), Expr::Int(value)) if divisor > 0 => Expr::Bool(value % i64::from(divisor) == 0),
        (op, operand) => Expr::Unary(op, Box::new(operand)),
    }
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    if let (Some(a), Some(b)) = (left.constant(), right.constant()) {
        return constants(op, a, b).unwrap_or_else(|| Expr::binary(op, left, right));
    }
    match (&left, &right) {
        (Expr::Bool(value), _) => bool_and_other(op, *value, right, Side::Left),
        (_, Expr::Bool(value)) => bool_and_other(op, *value, left, Side::Right),
        _ if left == right => same(op, left),
        _ if opposite(&left, &right) => opposites(op, left, right),
        _ => terms(op, left, right),
    }
}

/// The side of a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Returns the value of an operator on constants; `None` if the types do not fit, or the value not into 64 bits.
fn constants(op: BinaryOp, a: Value, b: Value) -> Option<Expr> {
    let fits = a.ty() == b.ty() && op.operand_ty().is_none_or(|ty| ty == a.ty());
    if fits { eval::binary(op, a, b).ok().map(Expr::value) } else { None }
}

/// Simplifies an operator on a truth constant and another operand.
fn bool_and_other(op: BinaryOp, value: bool, other: Expr, side: Side) -> Expr {
    match (op, value, side) {
        (BinaryOp::And, true, _) | (BinaryOp::Or, false, _) => other,
        (BinaryOp::And, false, _) => Expr::FALSE,
        (BinaryOp::Or, true, _) => Expr::TRUE,
        (BinaryOp::Xor | BinaryOp::Ne, false, _) | (BinaryOp::Eq, true, _) => other,
        (BinaryOp::Xor | BinaryOp::Ne, true, _) | (BinaryOp::Eq, false, _) => not(other),
        (BinaryOp::Implies, true, Side::Left) => other,
        (BinaryOp::Implies, false, Side::Left) | (BinaryOp::Implies, true, Side::Right) => Expr::TRUE,
        (BinaryOp::Implies, false, Side::Right) => not(other),
        (op, value, Side::Left) => Expr::binary(op, Expr::Bool(value), other),
        (op, value, Side::Right) => Expr::binary(op, other, Expr::Bool(value)),
    }
}

/// Simplifies an operator on two equal operands.
fn same(op: BinaryOp, operand: Expr) -> Expr {
    match op {
        BinaryOp::And | BinaryOp::Or => operand,
        BinaryOp::Xor | BinaryOp::Ne | BinaryOp::Lt => Expr::FALSE,
        BinaryOp::Implies | BinaryOp::Eq | BinaryOp::Le => Expr::TRUE,
        BinaryOp::Sub => Expr::Int(0),
        BinaryOp::Add | BinaryOp::Mul => Expr::binary(op, operand.clone(), operand),
    }
}

/// Returns whether one is the negation of the other.
fn opposite(left: &Expr, right: &Expr) -> bool {
    let negates = |a: &Expr, b: &Expr| matches!(a, Expr::Unary(UnaryOp::Not, inner) if **inner == *b);
    negates(left, right) || negates(right, left)
}

/// Simplifies an operator on a truth value and its negation.
fn opposites(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    match op {
        BinaryOp::And | BinaryOp::Eq => Expr::FALSE,
        BinaryOp::Or | BinaryOp::Xor | BinaryOp::Ne => Expr::TRUE,
        BinaryOp::Implies => right,
        op => Expr::binary(op, left, right),
    }
}

/// Simplifies an operator on integers: neutral and absorbing constants.
fn terms(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    match (op, &left, &right) {
        (BinaryOp::Add | BinaryOp::Sub, _, Expr::Int(0)) | (BinaryOp::Mul, _, Expr::Int(1)) => left,
        (BinaryOp::Add, Expr::Int(0), _) | (BinaryOp::Mul, Expr::Int(1), _) => right,
        (BinaryOp::Mul, _, Expr::Int(0)) | (BinaryOp::Mul, Expr::Int(0), _) => Expr::Int(0),
        _ => Expr::binary(op, left, right),
    }
}

fn ite(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    match (condition, then, otherwise) {
        (Expr::TRUE, then, _) => then,
        (Expr::FALSE, _, otherwise) => otherwise,
        (_, then, otherwise) if then == otherwise => then,
        (Expr::Unary(UnaryOp::Not, condition), then, otherwise) => ite(*condition, otherwise, then),
        (condition, Expr::TRUE, otherwise) => binary(BinaryOp::Or, condition, otherwise),
        (condition, then, Expr::FALSE) => binary(BinaryOp::And, condition, then),
        (condition, Expr::FALSE, otherwise) => binary(BinaryOp::And, not(condition), otherwise),
        (condition, then, Expr::TRUE) => binary(BinaryOp::Implies, condition, then),
        (condition, then, otherwise) => Expr::Ite(Box::new((condition, then, otherwise))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Op, Program};
    use crate::text;

    fn program(condition: &str) -> Program {
        let text = format!("shared a, b: bool, n, m: int\nproc f() from L0 to L1\nL0 -> L0: assert {condition}");
        text::parse(&text).unwrap()
    }

    fn check(before: &str, after: &str) {
        let program = program(before);
        let Op::Assert(condition) = &program.edges[0].op else { panic!("an assertion was written") };
        assert_eq!(text::expr(&program, &simplify(condition)), after, "{before}");
    }

    #[test]
    fn truth_values_are_folded() {
        check("a & T", "a");
        check("F | a & T", "a");
        check("a & (b & F)", "F");
        check("!!a", "a");
        check("a & a", "a");
        check("a | !a", "T");
        check("a & !a", "F");
        check("a ^ a", "F");
        check("a ^ T", "!a");
        check("a = a", "T");
        check("a = F", "!a");
        check("a != T", "!a");
        check("!(a = b)", "a != b");
        check("a => a", "T");
        check("a => F", "!a");
        check("a => !a", "!a");
        check("!a => a", "a");
        check("?0 | !?0", "T");
        check("?0 | !?1", "?0 | !?1");
    }

    #[test]
    fn conditionals_are_folded() {
        check("if T then a else b", "a");
        check("if a then b else b", "b");
        check("if a then T else F", "a");
        check("if a then F else T", "!a");
        check("if !a then b else F", "!a & b");
        check("if a then b else T", "a => b");
        check("if a then T else b", "a | b");
        check("(if a then n else n) = n", "T");
    }

    #[test]
    fn integers_are_folded_within_64_bits() {
        check("1 + 2 * 3 = 7", "T");
        check("n + 0 < n * 1", "F");
        check("n - n <= 0 * m", "T");
        check("divisible(3, -6)", "T");
        check("divisible(3, 1 - 6)", "F");
        check("divisible(1, n)", "T");
        check("9223372036854775807 + 1 < n", "9223372036854775807 + 1 < n");
        check("-(-9223372036854775808) = n", "-(-9223372036854775808) = n");
    }

    /// Returns the value of a condition over `a` and `b`.
    fn value(expr: &Expr, a: bool, b: bool) -> bool {
        let values = [a, b];
        let constant = substitute(expr, &mut |leaf| match leaf {
            Expr::Var(var) => Expr::Bool(values[var.index()]),
            leaf => leaf.clone(),
        });
        let Expr::Bool(value) = constant else { panic!("all leaves are constants") };
        value
    }

    #[test]
    fn simplified_conditions_have_the_same_table() {
        let operands = ["a", "b", "!a", "T", "F", "(a & b)", "!(a = b)", "(if a then b else F)"];
        for left in operands {
            for right in operands {
                for sign in ["&", "|", "^", "=>", "=", "!="] {
                    let program = program(&format!("if {left} {sign} {right} then {right} else !{left}"));
                    let Op::Assert(condition) = &program.edges[0].op else { panic!("an assertion was written") };
                    let simple = simplify(condition);
                    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
                        assert_eq!(value(&simple, a, b), value(condition, a, b), "{left} {sign} {right}");
                    }
                }
            }
        }
    }
}
