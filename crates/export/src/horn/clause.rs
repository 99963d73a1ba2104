//! Clauses: premises, conclusion and variables.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selvedge_ir::{BinaryOp, Expr, VarId};

use crate::smtlib::{term, word};

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

    /// Requires that a variable of the clause equals an expression over the current values.
    pub(super) fn define(&mut self, name: String, expr: &Expr) {
        self.require(format!("(= {name} {})", value(expr, "c", &now, &now)));
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

/// Returns an expression as a term. `now` names the variables, `next` their values after the step, `choices` the
/// choices.
pub(super) fn value(
    expr: &Expr,
    choices: &str,
    now: &dyn Fn(VarId) -> String,
    next: &dyn Fn(VarId) -> String,
) -> String {
    term(expr, operator, &|leaf| match leaf {
        Expr::Var(var) => now(*var),
        Expr::Next(var) => next(*var),
        Expr::Choice(number, _) => format!("{choices}{number}"),
        _ => unreachable!("conditions on other threads are left out"),
    })
}

/// Returns the name of an operator between truth values.
fn operator(op: BinaryOp) -> &'static str {
    if op == BinaryOp::Ne { "xor" } else { word(op) }
}
