//! Expressions and parallel assignments in Promela.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selvedge_ir::visit::reads;
use selvedge_ir::{BinaryOp, Expr, UnaryOp, VarId};

/// Returns an expression, its variables named by a function; choices are in the temporary variables with their numbers.
/// All composite expressions are parenthesised.
pub(super) fn expr(expr: &Expr, name: &dyn Fn(VarId) -> String) -> String {
    let part = |part: &Expr| self::expr(part, name);
    match expr {
        Expr::Bool(value) => u8::from(*value).to_string(),
        Expr::Int(value) => value.to_string(),
        Expr::Var(var) => name(*var),
        Expr::Choice(number, _) => format!("h{number}"),
        Expr::Unary(UnaryOp::Not, operand) => negated(&part(operand)),
        Expr::Binary(op, pair) => {
            let (left, right) = (part(&pair.0), part(&pair.1));
            match op {
                BinaryOp::And => format!("({left} && {right})"),
                BinaryOp::Or => format!("({left} || {right})"),
                BinaryOp::Xor | BinaryOp::Ne => format!("({left} != {right})"),
                BinaryOp::Implies => format!("({} || {right})", negated(&left)),
                BinaryOp::Eq => format!("({left} == {right})"),
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Machine(..) => {
                    unreachable!("programs with integers are refused")
                }
            }
        }
        Expr::Ite(triple) => format!("({} -> {} : {})", part(&triple.0), part(&triple.1), part(&triple.2)),
        Expr::Machine(..) | Expr::Let(_) | Expr::Part(_) => {
            unreachable!("programs with integers or shared parts are refused")
        }
        Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Unary(..) => {
            unreachable!("moves are over the state before, of one thread, without integers")
        }
    }
}

/// Returns the negation. Two `!` in a row mean something else in Promela.
fn negated(operand: &str) -> String {
    if operand.starts_with('!') { format!("!({operand})") } else { format!("!{operand}") }
}

/// Returns a parallel assignment as a sequence of assignments, and the number of temporary variables `h` that it needs
/// in addition to the `n_used` that are in use.
///
/// An assignment is made when no later one reads its variable. If every variable is still read by another assignment,
/// one of them is saved in a temporary variable first.
pub(super) fn sequence(
    updates: &[(VarId, Expr)],
    name: &dyn Fn(VarId) -> String,
    n_used: usize,
) -> (Vec<String>, usize) {
    let mut left: Vec<&(VarId, Expr)> = updates.iter().collect();
    let mut saved: Vec<(VarId, usize)> = Vec::new();
    let mut lines = Vec::new();
    while !left.is_empty() {
        let is_saved = |var: VarId| saved.iter().any(|(other, _)| *other == var);
        let read_by_others = |place: usize| -> bool {
            let var = left[place].0;
            let mut others = left.iter().enumerate().filter(|(other, _)| *other != place);
            !is_saved(var) && others.any(|(_, (_, rhs))| reads(rhs).contains(&var))
        };
        match (0..left.len()).find(|place| !read_by_others(*place)) {
            Some(place) => {
                let (var, rhs) = left.remove(place);
                let old = |read: VarId| match saved.iter().find(|(other, _)| *other == read) {
                    Some((_, number)) => format!("h{number}"),
                    None => name(read),
                };
                lines.push(format!("{} = {}", name(*var), expr(rhs, &old)));
            }
            None => {
                let (var, number) = (left[0].0, n_used + saved.len());
                lines.push(format!("h{number} = {}", name(var)));
                saved.push((var, number));
            }
        }
    }
    (lines, saved.len())
}

/// Returns statements that choose a value for each temporary variable `h` from `first` on.
pub(super) fn select(first: usize, number: usize) -> String {
    (first..first + number).fold(String::new(), |mut text, place| {
        let _ = write!(text, "if :: h{place} = 0 :: h{place} = 1 fi; ");
        text
    })
}

/// Returns the variables that some expressions read.
pub(super) fn read_in<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> BTreeSet<VarId> {
    exprs.into_iter().flat_map(reads).collect()
}
