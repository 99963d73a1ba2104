//! The certificate of a proof: a formula for each control point.
//!
//! If the abstract states are closed, they are the certificate. If only those on loops and reachable from loops are
//! exact, the certificate consists of these, and of the visited symbolic states outside, whose unknowns are eliminated.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Certificate, ControlPoint, IntegerProof, Stop};
use selvedge_ir::{Expr, LocId, Value};
use selvedge_logic::smt::{Node as Head, Symbol, Term};

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
        let formula = context.model.expr(&Term::or(formulas))?;
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
