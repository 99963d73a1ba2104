//! The certificate of a proof: a formula for each control point.
//!
//! If the abstract states are closed, they are the certificate. If only those on loops and reachable from loops are
//! exact, the certificate consists of these, and of the visited symbolic states outside, whose unknowns are eliminated.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Certificate, ControlPoint, IntegerProof, Stop};
use selvedge_ir::{BinaryOp, Expr, LocId, UnaryOp, Value, VarId};
use selvedge_logic::smt::{Node as Head, Symbol, Term};

use super::super::model::TransitionModel;
use super::super::prover::Prover;
use super::abstraction::AbstractionContext;
use super::explore::{Explored, SymbolicNode};

/// Limit on the symbolic states in a certificate; above it there is none.
const NODES: usize = 5_000;

/// Builds the certificate from a set of abstract states and the nodes outside of it; returns `None` if it would be too
/// large.
pub(super) fn certificate(
    context: &AbstractionContext<'_>,
    explored: &Explored,
    states: &BTreeSet<usize>,
    prover: &mut Prover<'_>,
) -> Result<Option<Certificate>, Stop> {
    let mut parts: BTreeMap<(LocId, Vec<Value>), BTreeSet<Term>> = BTreeMap::new();
    for state in states {
        let state = &explored.states[*state];
        parts.entry((state.loc, state.control.clone())).or_default().insert(context.formula(state));
    }
    let outside: Vec<&SymbolicNode> = explored.nodes.iter().filter(|node| !states.contains(&node.state)).collect();
    if outside.len() > NODES {
        return Ok(None);
    }
    for node in outside {
        let state = &explored.states[node.state];
        let formula = visited(context, node, prover)?;
        parts.entry((state.loc, state.control.clone())).or_default().insert(formula);
    }
    let points = parts.into_iter().map(|((loc, values), formulas)| {
        let formula = expression(&Term::or(formulas), context.model)?;
        Some(ControlPoint { loc, values, formula })
    });
    let Some(mut points) = points.collect::<Option<Vec<ControlPoint>>>() else { return Ok(None) };
    let first = context.model.program.procs[context.model.program.entries[0].proc].entry;
    if points.iter().all(|point| point.loc != first) {
        // The starts come after the first location, at which every state is allowed.
        points.insert(0, ControlPoint { loc: first, values: Vec::new(), formula: Expr::Bool(true) });
    }
    Ok(Some(Certificate::Integers(IntegerProof { control: context.control.to_vec(), points })))
}

/// Returns the condition on the variables in a node. A variable whose value is an unknown gives the unknown its name;
/// other unknowns are eliminated.
pub(super) fn visited(
    context: &AbstractionContext<'_>,
    node: &SymbolicNode,
    prover: &mut Prover<'_>,
) -> Result<Term, Stop> {
    let model = context.model;
    // The unknowns of the start have the names of variables, so they are renamed first.
    let condition = Term::and(node.condition.iter().cloned());
    let unknowns: BTreeSet<Symbol> = node.values.iter().chain([&condition]).flat_map(|term| term.symbols()).collect();
    let renamed = |symbol: &Symbol| Symbol::new(&format!("u!{}", symbol.name), symbol.sort);
    let mut names: BTreeMap<Symbol, Term> =
        unknowns.iter().map(|symbol| (symbol.clone(), renamed(symbol).into())).collect();
    let mut named = BTreeSet::new();
    let mut equations = Vec::new();
    let vars = model.vars.iter().zip(&node.values).filter(|(var, _)| !context.control.contains(var));
    for (var, value) in vars {
        let own = Term::from(model.symbol(*var).clone());
        match value.head() {
            Head::Symbol(unknown) if named.insert(unknown.clone()) => {
                names.insert(unknown.clone(), own);
            }
            _ => equations.push((own, value)),
        }
    }
    let equations: Vec<Term> =
        equations.into_iter().map(|(own, value)| own.equals(&value.substitute(&names))).collect();
    let formula = Term::and(equations.into_iter().chain([condition.substitute(&names)]));
    let rest: Vec<Symbol> = unknowns.difference(&named).map(renamed).collect();
    prover.eliminate(&rest, &formula)
}

/// Returns a term over the variables as an expression; `None` if its numbers are too large.
pub(in super::super) fn expression(term: &Term, model: &TransitionModel<'_>) -> Option<Expr> {
    let of = |part: &Term| expression(part, model);
    let pair = |op: BinaryOp, left: &Term, right: &Term| Some(Expr::Binary(op, Box::new((of(left)?, of(right)?))));
    match term.head() {
        Head::Bool(value) => Some(Expr::Bool(*value)),
        Head::Int(value) => i64::try_from(*value).ok().map(Expr::Int),
        Head::Symbol(symbol) => {
            let number = model.now.iter().position(|known| known == symbol)?;
            Some(Expr::Var(VarId::new(number)))
        }
        Head::Not(part) => Some(Expr::Unary(UnaryOp::Not, Box::new(of(part)?))),
        Head::And(parts) => several(parts, BinaryOp::And, model),
        Head::Or(parts) => several(parts, BinaryOp::Or, model),
        Head::Add(parts) => several(parts, BinaryOp::Add, model),
        Head::Eq(left, right) => pair(BinaryOp::Eq, left, right),
        Head::Le(left, right) => pair(BinaryOp::Le, left, right),
        Head::Lt(left, right) => pair(BinaryOp::Lt, left, right),
        Head::Divisible(divisor, part) => {
            Some(Expr::Unary(UnaryOp::DivisibleBy(u32::try_from(*divisor).ok()?), Box::new(of(part)?)))
        }
        Head::Scale(factor, part) => {
            let factor = Expr::Int(i64::try_from(*factor).ok()?);
            Some(Expr::Binary(BinaryOp::Mul, Box::new((factor, of(part)?))))
        }
        Head::Ite(condition, then, otherwise) => Some(Expr::Ite(Box::new((of(condition)?, of(then)?, of(otherwise)?)))),
    }
}

/// Builds a balanced tree of one operator, so that long lists do not nest deeply.
fn several(parts: &[Term], op: BinaryOp, model: &TransitionModel<'_>) -> Option<Expr> {
    match parts {
        [] => unreachable!("a list has two parts or more"),
        [part] => expression(part, model),
        _ => {
            let (left, right) = parts.split_at(parts.len() / 2);
            Some(Expr::Binary(op, Box::new((several(left, op, model)?, several(right, op, model)?))))
        }
    }
}
