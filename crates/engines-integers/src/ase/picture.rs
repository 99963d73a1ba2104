//! The abstract model of a program, for pictures (Fig. 2.2): the last exploration, and which of its steps are exact.

use std::collections::BTreeSet;

use selvedge_check::{AbstractEdge, AbstractModel, AbstractState, Explanation, Refinement, Run, Stop, Task};
use selvedge_ir::Expr;

use super::super::atoms::atoms;
use super::super::control::control;
use super::super::model::TransitionModel;
use super::super::prover::Prover;
use super::abstraction::{AbstractionContext, Predicates};
use super::analyse::Analyser;
use super::certificate::visited;
use super::explore::{Explorer, Matching};

/// The abstract model of a task that the engine supports, under its first predicates and some more. An error ends the
/// exploration.
pub fn abstract_model(task: &Task<'_>, more: &[Expr], run: &Run<'_>) -> Result<AbstractModel, Stop> {
    let mut prover = Prover::new(run)?;
    let model = TransitionModel::new(task);
    let control = control(&model, &mut prover)?;
    let mut predicates = Predicates::first(&model, &control, &mut prover)?;
    let mut found = BTreeSet::new();
    more.iter().for_each(|predicate| atoms(&model.condition(predicate), &mut found));
    predicates.add(&found);
    let context = AbstractionContext::new(&model, &control, &predicates);
    let figures = (Refinement::default(), Matching::Path);
    let explored = Explorer::new(&context, &mut prover, (run, &mut Explanation::default()), figures).explore()?;
    let mut analyser = Analyser { context: &context, prover: &mut prover, run, explored: &explored, queries: 0 };
    let edges = edges(&mut analyser)?;
    let fragment = analyser.fragment();
    let inexact = analyser.inexact(&fragment)?;
    let is_inductive = analyser.is_inductive(&fragment, &inexact)?;
    let mut nodes = Vec::new();
    for node in &explored.nodes {
        let formula = visited(&context, node, &mut prover)?;
        nodes.push((node.state, model.expr(&formula).unwrap_or(Expr::Bool(true))));
    }
    let states = explored.states.iter().enumerate().map(|(number, state)| AbstractState {
        loc: state.loc,
        control: state.control.clone(),
        bits: state.bits.clone(),
        is_initial: explored.initial.contains(&number),
    });
    let written = predicates.all.iter().map(|predicate| model.expr(predicate).unwrap_or(Expr::Bool(true)));
    Ok(AbstractModel {
        predicates: written.collect(),
        states: states.collect(),
        edges,
        visited: nodes,
        is_safe_fragment: inexact.is_empty(),
        is_inductive,
        control: control.clone(),
    })
}

/// Returns the explored edges, with whether they are exact.
fn edges(analyser: &mut Analyser<'_, '_>) -> Result<Vec<AbstractEdge>, Stop> {
    let (model, explored) = (analyser.context.model, analyser.explored);
    let mut edges = Vec::new();
    for (place, targets) in &explored.edges {
        let is_exact = analyser.is_covered(*place, targets)?;
        let step = &model.from(explored.states[place.0].loc)[place.1];
        edges.extend(targets.iter().map(|to| AbstractEdge { from: place.0, edge: step.edge, to: *to, is_exact }));
    }
    Ok(edges)
}
