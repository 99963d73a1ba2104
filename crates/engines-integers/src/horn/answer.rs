//! Parses the evidence that Spacer prints after its answer.

use std::collections::BTreeMap;

use selvedge_ir::{Expr, Program, Value, VarId};
use selvedge_logic::smt::{Sexp, Symbol, read_term, read_value};

use super::clauses::RELATION;
use crate::terms::{expr, symbol, value};

/// Reads the interpretation of the relation from the printed conjunction: a formula whose variables are those of the
/// program in their order. Returns `None` if the text is not understood.
pub(super) fn interpretation(printed: &Sexp, program: &Program) -> Option<Expr> {
    let mut open = vec![printed];
    while let Some(part) = open.pop() {
        let Some(parts) = part.list() else { continue };
        match parts {
            [Sexp::Atom(word), Sexp::List(names), body] if word == "forall" => {
                if let Some(formula) = definition(names, body, program) {
                    return Some(formula);
                }
            }
            [Sexp::Atom(word), rest @ ..] if word == "and" => open.extend(rest),
            [Sexp::Atom(word), Sexp::List(bindings), body] if word == "let" => {
                open.extend(bindings.iter().filter_map(|binding| binding.list()?.get(1)));
                open.push(body);
            }
            [Sexp::Atom(word), body, ..] if word == "!" => open.push(body),
            _ => {}
        }
    }
    None
}

/// Reads `(let (..) (= (P A B) e))`, which may be nested in other expressions.
fn definition(names: &[Sexp], body: &Sexp, program: &Program) -> Option<Expr> {
    let mut lets: Vec<&Sexp> = Vec::new();
    let mut body = body;
    let (left, right) = loop {
        match body.list()? {
            [Sexp::Atom(word), inner, ..] if word == "!" => body = inner,
            [Sexp::Atom(word), bindings, inner] if word == "let" => {
                lets.push(bindings);
                body = inner;
            }
            [Sexp::Atom(word), left, right] if word == "=" => break (left, right),
            _ => return None,
        }
    };
    let [Sexp::Atom(relation), columns @ ..] = left.list()? else { return None };
    if relation != RELATION || columns.len() != program.vars.len() || names.len() != columns.len() {
        return None;
    }
    let mut symbols: BTreeMap<String, Symbol> = BTreeMap::new();
    let mut vars: BTreeMap<Symbol, VarId> = BTreeMap::new();
    for (column, var) in columns.iter().zip(program.vars.indices()) {
        let symbol = symbol(program, var, "");
        if symbols.insert(column.atom()?.to_string(), symbol.clone()).is_some() {
            return None;
        }
        vars.insert(symbol, var);
    }
    let wrap =
        |inner: Sexp, bindings: &&Sexp| Sexp::List(vec![Sexp::Atom("let".to_string()), (*bindings).clone(), inner]);
    let formula = lets.iter().rev().fold(right.clone(), wrap);
    expr(&read_term(&formula, &symbols).ok()?, &|symbol| vars.get(symbol).copied())
}

/// Reads the states in a derivation of the error, first to last. Returns `None` if the text is not understood.
///
/// A derivation is a chain: `((_ hyper-res ..) clause premise conclusion)`, where the premise is again a derivation,
/// and `let` binds names for parts. Each name is bound once.
pub(super) fn states(printed: &Sexp, program: &Program) -> Option<Vec<Vec<Value>>> {
    let mut names: BTreeMap<&str, &Sexp> = BTreeMap::new();
    let mut proof = printed;
    while let [Sexp::Atom(word), Sexp::List(bindings), inner] = proof.list()?
        && word == "let"
    {
        for binding in bindings {
            let [name, meaning] = binding.list()? else { return None };
            if names.insert(name.atom()?, meaning).is_some() {
                return None;
            }
        }
        proof = inner;
    }
    let resolve = |sexp: &'_ Sexp| -> Option<Sexp> { Some(resolved(sexp, &names)?.clone()) };
    let mut states = Vec::new();
    let mut next = Some(resolve(proof)?);
    while let Some(node) = next.take() {
        let (rule, parts) = node.list()?.split_first()?;
        if rule.atom() == Some("mp") {
            next = Some(resolve(parts.first()?)?);
            continue;
        }
        let rule = rule.list()?;
        if rule.get(1)?.atom()? != "hyper-res" {
            return None;
        }
        let [_, premises @ .., conclusion] = parts else { return None };
        states.extend(fact(&resolve(conclusion)?, &names, program)?);
        next = match premises {
            [] => None,
            [premise] => Some(resolve(premise)?),
            _ => return None,
        };
    }
    states.reverse();
    Some(states)
}

fn resolved<'s>(sexp: &'s Sexp, names: &BTreeMap<&str, &'s Sexp>) -> Option<&'s Sexp> {
    let mut sexp = sexp;
    for _ in 0..=names.len() {
        match sexp.atom().and_then(|word| names.get(word)) {
            Some(meaning) => sexp = meaning,
            None => return Some(sexp),
        }
    }
    None
}

/// Returns the values in a fact about the relation, or `Some(None)` for other facts.
fn fact(conclusion: &Sexp, names: &BTreeMap<&str, &Sexp>, program: &Program) -> Option<Option<Vec<Value>>> {
    let parts = match conclusion {
        Sexp::Atom(word) if word == RELATION => &[][..],
        Sexp::List(parts) if parts.first().and_then(Sexp::atom) == Some(RELATION) => &parts[1..],
        _ => return Some(None),
    };
    let values: Vec<Value> =
        parts.iter().map(|part| read_value(resolved(part, names)?).ok().and_then(value)).collect::<Option<_>>()?;
    let types = values.iter().map(|value| value.ty());
    types.eq(program.vars.iter().map(|var| var.ty)).then_some(Some(values))
}
