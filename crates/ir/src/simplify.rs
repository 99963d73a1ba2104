//! Simplification of expressions. The value stays the same for all values of the leaves.
//!
//! Integers are unbounded: an operation whose result does not fit into 64 bits is left as it is. Shared parts are
//! simplified once, where they are defined; those that turn out to be leaves take the place of their uses, and those
//! without use vanish.

use rustc_hash::FxHashSet;

use crate::eval;
use crate::machine;
use crate::syntax::{BinaryOp, Expr, Let, MachineOp, MachineTy, UnaryOp, Value};

/// Returns the expression, with every leaf replaced and then simplified from the leaves upwards.
pub fn substitute(expr: &Expr, replace: &mut dyn FnMut(&Expr) -> Expr) -> Expr {
    rebuild(expr, &mut |node| match node {
        Expr::Part(_) => node,
        _ if node.is_leaf() => replace(&node),
        _ => simplify_head(node),
    })
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

/// A task of [`rebuild`].
enum Work<'e> {
    /// Builds a node: at once if it is a leaf, and otherwise after its operands.
    Visit(&'e Expr),
    /// Builds a node from the last results.
    Build(&'e Expr),
    /// Brings the part whose value is the last result into scope.
    Bind(u32),
}

/// Applies a function to every node, operands first. Works without recursion: expressions may be deep.
fn rebuild(expr: &Expr, build: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    if expr.is_leaf() {
        return build(expr.clone());
    }
    let (mut work, mut done) = (vec![Work::Visit(expr)], Vec::new());
    // The parts in scope, the innermost last; those that are leaves with what takes the place of their uses.
    let mut parts: Vec<(u32, Option<Expr>)> = Vec::new();
    while let Some(next) = work.pop() {
        match next {
            Work::Visit(node @ Expr::Part(number)) => {
                let known = parts.iter().rev().find(|(part, _)| part == number);
                done.push(known.and_then(|(_, leaf)| leaf.clone()).unwrap_or_else(|| build(node.clone())));
            }
            Work::Visit(node) if node.is_leaf() => done.push(build(node.clone())),
            Work::Visit(node) => visit_operands(node, &mut work),
            Work::Build(node) => {
                if let Expr::Let(shared) = node {
                    parts.truncate(parts.len() - shared.parts.len());
                }
                let built = with_operands(node, &mut done);
                done.push(build(built));
            }
            Work::Bind(number) => {
                let is_closed_leaf = |value: &&Expr| value.is_leaf() && !matches!(value, Expr::Part(_));
                parts.push((number, done.last().filter(is_closed_leaf).cloned()));
            }
        }
    }
    done.pop().expect("one result for the root")
}

fn visit_operands<'e>(node: &'e Expr, work: &mut Vec<Work<'e>>) {
    work.push(Work::Build(node));
    match node {
        Expr::Let(shared) => {
            work.push(Work::Visit(&shared.body));
            for (number, part) in shared.parts.iter().rev() {
                work.extend([Work::Bind(*number), Work::Visit(part)]);
            }
        }
        node => work.extend(node.operands().rev().map(Work::Visit)),
    }
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
        Expr::Let(shared) => {
            let body = operand();
            let mut parts: Vec<(u32, Expr)> =
                shared.parts.iter().rev().map(|(number, _)| (*number, operand())).collect();
            parts.reverse();
            Expr::Let(Box::new(Let { parts, body }))
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
        Expr::Let(shared) => used_parts(*shared),
        leaf => leaf,
    }
}

/// Drops the parts that nothing uses.
fn used_parts(Let { parts, body }: Let) -> Expr {
    let mut used = FxHashSet::default();
    mark_used(&body, &mut used);
    let mut kept = Vec::new();
    for (number, part) in parts.into_iter().rev() {
        if used.contains(&number) {
            mark_used(&part, &mut used);
            kept.push((number, part));
        }
    }
    kept.reverse();
    if kept.is_empty() { body } else { Expr::Let(Box::new(Let { parts: kept, body })) }
}

/// Adds the numbers of all parts that occur.
fn mark_used(expr: &Expr, used: &mut FxHashSet<u32>) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        if let Expr::Part(number) = expr {
            used.insert(*number);
        }
        stack.extend(expr.operands());
    }
}

fn unary(op: UnaryOp, operand: Expr) -> Expr {
    match (op, operand) {
        (UnaryOp::Not, operand) => not(operand),
        (UnaryOp::Neg, Expr::Int(value)) if value != i64::MIN => Expr::Int(-value),
        (UnaryOp::DivisibleBy(1), _) => Expr::TRUE,
        (UnaryOp::DivisibleBy(divisor), Expr::Int(value)) if divisor > 0 => Expr::Bool(value % i64::from(divisor) == 0),
        (UnaryOp::Cast(from, to), operand) if from == to => operand,
        (UnaryOp::Cast(from, to), Expr::Machine(_, bits)) => Expr::value(machine::cast(from, to, bits)),
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
        BinaryOp::Machine(MachineOp::And | MachineOp::Or, _) => operand,
        BinaryOp::Machine(MachineOp::Sub | MachineOp::Xor, ty) => Expr::Machine(ty, 0),
        BinaryOp::Machine(MachineOp::Lt, _) => Expr::FALSE,
        BinaryOp::Machine(MachineOp::Le, _) => Expr::TRUE,
        BinaryOp::Add | BinaryOp::Mul | BinaryOp::Machine(..) => Expr::binary(op, operand.clone(), operand),
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
        (BinaryOp::Machine(op, ty), ..) => machine_terms(op, ty, left, right),
        _ => Expr::binary(op, left, right),
    }
}

/// Simplifies an operator on machine integers: neutral and absorbing constants.
fn machine_terms(op: MachineOp, ty: MachineTy, left: Expr, right: Expr) -> Expr {
    use MachineOp::{Add, And, Div, Mul, Or, Shl, Shr, Sub, Xor};
    let is = |operand: &Expr, number: i128| *operand == ty.constant(number);
    match op {
        Add | Or | Xor | Sub | Shl | Shr if is(&right, 0) => left,
        Add | Or | Xor if is(&left, 0) => right,
        Mul | Div if is(&right, 1) => left,
        Mul if is(&left, 1) => right,
        Mul | And if is(&left, 0) || is(&right, 0) => ty.constant(0),
        And if is(&right, -1) => left,
        And if is(&left, -1) => right,
        _ => ty.apply(op, left, right),
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
        let text =
            format!("shared a, b: bool, n, m: int, x: u8, y: i8\nproc f() from L0 to L1\nL0 -> L0: assert {condition}");
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

    #[test]
    fn machine_integers_are_folded() {
        check("u8.add(255:u8, 2:u8) = 1:u8", "T");
        check("i8.lt(y, y) | u8.le(x, x)", "T");
        check("u8.sub(x, x) = u8.xor(x, x)", "T");
        check("u8.mul(1:u8, u8.add(x, 0:u8)) = u8.and(x, 255:u8)", "T");
        check("i8.u8(-1:i8) = u8.or(x, 0:u8)", "255:u8 = x");
        check("u8.u8(x) = x", "T");
        check("i8.div(y, 0:i8) = y", "i8.div(y, 0:i8) = y");
        check("u8.add(x, x) = x", "u8.add(x, x) = x");
    }

    #[test]
    fn shared_parts_are_simplified_where_they_are_defined() {
        check("let #0 = a & T in #0 | b", "a | b");
        check("let #0 = a & b; #1 = #0 | a in b", "b");
        check("let #0 = a & b; #1 = #0 | F in #1 = (#1 ^ a)", "let #0 = a & b; #1 = #0 in #1 = (#1 ^ a)");
        check("let #0 = a & b in let #0 = a in #0 & b", "a & b");
        check("(let #0 = F in #0) | (let #0 = a = b in #0 & #0)", "let #0 = a = b in #0");
        check("let #0 = a & b in (let #0 = a | b in !#0) ^ #0", "let #0 = a & b in (let #0 = a | b in !#0) ^ #0");
        check("let #0 = a & !a in if #0 then a else b", "b");
    }

    #[test]
    fn substitution_keeps_parts_shared() {
        let program = program("let #0 = a & b; #1 = #0 ^ #0; #2 = #1 & #0; #3 = #2 | #2 in #3 | a");
        let Op::Assert(shared) = &program.edges[0].op else { panic!("an assertion was written") };
        let inner = parsed("let #0 = a ^ b in #0 = (#0 & a)");
        let mut deep = shared.clone();
        for round in 1..=5 {
            deep =
                substitute(shared, &mut |leaf| if *leaf == Expr::Var(0.into()) { deep.clone() } else { leaf.clone() });
            assert!(size(&deep) <= 40 << round, "{}", size(&deep));
        }
        let expected =
            substitute(shared, &mut |leaf| if *leaf == Expr::Var(0.into()) { inner.clone() } else { leaf.clone() });
        for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
            let of_inner = value(&inner, a, b);
            assert_eq!(value(&expected, a, b), value(shared, of_inner, b), "no part is captured");
        }
    }

    fn parsed(condition: &str) -> Expr {
        let program = program(condition);
        let Op::Assert(condition) = &program.edges[0].op else { panic!("an assertion was written") };
        condition.clone()
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
