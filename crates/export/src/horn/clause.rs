//! Clauses: premises, conclusion and variables.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selvedge_ir::{BinaryOp, Expr, UnaryOp, VarId};

/// The premises of a clause.
#[derive(Clone, Default)]
pub(super) struct Clause {
    premises: Vec<String>,
}

pub(super) fn entry(var: VarId) -> String {
    format!("e{}", var.index())
}

pub(super) fn now(var: VarId) -> String {
    format!("v{}", var.index())
}

pub(super) fn next(var: VarId) -> String {
    format!("n{}", var.index())
}

pub(super) fn result(number: usize) -> String {
    format!("r{number}")
}

/// Returns the application of a predicate to arguments.
pub(super) fn apply(kind: char, number: usize, args: impl Iterator<Item = String>) -> String {
    let args: Vec<String> = args.collect();
    if args.is_empty() { format!("{kind}{number}") } else { format!("({kind}{number} {})", args.join(" ")) }
}

impl Clause {
    /// Returns a clause with one premise.
    pub(super) fn at(premise: String) -> Clause {
        Clause { premises: vec![premise] }
    }

    pub(super) fn require(&mut self, premise: String) {
        self.premises.push(premise);
    }

    /// Returns an expression as a term. `value` names the variables, `next` their values after the step, `choices` the
    /// choices.
    pub(super) fn expr(
        &mut self,
        expr: &Expr,
        choices: &str,
        value: &dyn Fn(VarId) -> String,
        next: Option<&dyn Fn(VarId) -> String>,
    ) -> String {
        let mut text = String::new();
        write(expr, choices, value, next.unwrap_or(value), &mut text);
        text
    }

    /// Writes the clause. Its variables are recognised by their names.
    pub(super) fn conclude(&self, conclusion: String, text: &mut String) {
        let body = match self.premises.as_slice() {
            [] => conclusion,
            [premise] => format!("(=> {premise} {conclusion})"),
            premises => format!("(=> (and {}) {conclusion})", premises.join(" ")),
        };
        let vars = variables(&body);
        let _ = if vars.is_empty() {
            writeln!(text, "(assert {body})")
        } else {
            let vars: Vec<String> = vars.iter().map(|var| format!("({var} Bool)")).collect();
            writeln!(text, "(assert (forall ({}) {body}))", vars.join(" "))
        };
    }
}

/// Returns the variables of a term: lower-case letters with a number.
fn variables(term: &str) -> BTreeSet<&str> {
    let words = term.split(['(', ')', ' ']);
    let is_var = |word: &&str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|first| first.is_ascii_lowercase()) && chars.next().is_some_and(|c| c.is_ascii_digit())
    };
    words.filter(is_var).collect()
}

fn write(
    expr: &Expr,
    choices: &str,
    value: &dyn Fn(VarId) -> String,
    next: &dyn Fn(VarId) -> String,
    text: &mut String,
) {
    let mut operator = |name: &str, operands: &[&Expr]| {
        let _ = write!(text, "({name}");
        for operand in operands {
            text.push(' ');
            write(operand, choices, value, next, text);
        }
        text.push(')');
    };
    match expr {
        Expr::Bool(constant) => text.push_str(if *constant { "true" } else { "false" }),
        Expr::Var(var) => text.push_str(&value(*var)),
        Expr::Next(var) => text.push_str(&next(*var)),
        Expr::Choice(number, _) => {
            let _ = write!(text, "{choices}{number}");
        }
        Expr::Unary(UnaryOp::Not, operand) => operator("not", &[operand]),
        Expr::Binary(op, pair) => operator(binary(*op), &[&pair.0, &pair.1]),
        Expr::Ite(triple) => operator("ite", &[&triple.0, &triple.1, &triple.2]),
        Expr::Int(_) | Expr::Unary(UnaryOp::Neg | UnaryOp::DivisibleBy(_), _) => {
            unreachable!("programs with integers are refused")
        }
        Expr::Passive(_) | Expr::PassiveNext(_) => unreachable!("conditions on other threads are left out"),
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor | BinaryOp::Ne => "xor",
        BinaryOp::Implies => "=>",
        BinaryOp::Eq => "=",
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Lt | BinaryOp::Le => {
            unreachable!("programs with integers are refused")
        }
    }
}
