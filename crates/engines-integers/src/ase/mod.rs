//! Abstract analysis of symbolic executions, for programs with integers and nondeterministic input.
//!
//! After Albarghouthi, "Abstract Analysis via Symbolic Executions" (2010), Figs. 4.1 to 4.4. The order of work, with the
//! atoms of guards and assertions as the first predicates:
//!
//! 1. `explore`: symbolic execution along all paths, each up to an abstract state that the path has met before. An error
//!    on the way is real.
//! 2. `analyse`: *safe fragment*: are the steps from all abstract states on and behind loops exact? Then nothing leaves
//!    what was explored. *Inductive invariant*: are all explored abstract states together closed under all steps?
//! 3. Else the atoms of the preimages of inexact steps become predicates, and it begins again.
//!
//! The published test of exactness is wrong for programs with input: see `analyse`. Each round that does not answer finds
//! a predicate that was not there: if the atoms of all preimages of a step's targets are predicates, then all states of an
//! abstract state have successors in the same abstract states, and the step is exact. It need not end otherwise.
//!
//! More predicates never explore fewer states (Theorem 4.2.3), but may prove less.

mod abstraction;
mod analyse;
mod bounds;
mod certificate;
mod explore;
pub mod picture;
mod plain;
mod share;

use selvedge_check::{Bound, Engine, Explanation, Refinement, Run, Stop, Task, Unsupported, Verdict};
use std::collections::BTreeSet;

use super::atoms::atoms;
use super::control::control;
use super::model::Model;
use super::prover::Prover;
use super::trace::execution;
use abstraction::{Predicates, World};
use analyse::Analyser;
use certificate::certificate;
pub(super) use certificate::expression;
use explore::Explorer;
pub(super) use explore::Matching;

/// How many visited states make a certificate for which a smaller one is worth a try.
const VISITED: usize = 50;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Ase {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The greatest number of abstractions that are looked at.
    ///
    /// Default: 1000. Range: 1 and more.
    pub iterations: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { iterations: 1000 }
    }
}

impl Engine for Ase {
    fn name(&self) -> &'static str {
        "ase"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        super::supports(task, "ase")
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        refine(task, self.options.iterations, Matching::Shared, (run, explanation))
    }
}

/// Abstractions, each finer than the one before, until one decides (Fig. 4.1).
pub(super) fn refine(
    task: &Task<'_>,
    iterations: usize,
    matching: Matching,
    (run, explanation): (&Run<'_>, &mut Explanation),
) -> Result<Verdict, Stop> {
    let mut prover = Prover::new(run)?;
    let model = Model::new(task);
    let control = control(&model, &mut prover)?;
    let mut predicates = Predicates::new(&model, &control);
    predicates.add(&first_predicates(&model, &mut prover)?);
    let mut figures = Refinement::default();
    for _ in 0..iterations {
        figures.iterations += 1;
        figures.predicates = predicates.all.len();
        let world = World::new(&model, &control, &predicates);
        match iterate(&world, &mut prover, (run, explanation), &mut figures, matching)? {
            Round::Decided(verdict) => return Ok(verdict),
            Round::Open(found) => {
                if predicates.add(&found) == 0 {
                    break;
                }
            }
        }
    }
    Err(Stop::BoundReached(Bound::Abstractions(u32::try_from(figures.iterations).unwrap_or(u32::MAX))))
}

/// What one abstraction comes to.
enum Round {
    Decided(Verdict),
    /// More predicates are needed: these.
    Open(BTreeSet<selvedge_logic::smt::Term>),
}

fn iterate(
    world: &World<'_>,
    prover: &mut Prover<'_>,
    (run, explanation): (&Run<'_>, &mut Explanation),
    figures: &mut Refinement,
    matching: Matching,
) -> Result<Round, Stop> {
    let explored = Explorer::new(world, prover, (run, explanation), (*figures, matching)).explore()?;
    figures.states = explored.nodes.len();
    figures.abstract_states = explored.states.len();
    explanation.refine(*figures, run);
    if let Some((node, error)) = explored.error {
        let path = explored.error_path(world, node, error);
        let trace = execution(world.model, &path, prover)?;
        return Ok(Round::Decided(Verdict::Unsafe(trace.expect("the path was found to be possible"))));
    }
    let mut analyser = Analyser { world, prover, run, explored: &explored, queries: figures.queries };
    let everything: BTreeSet<usize> = (0..explored.states.len()).collect();
    let fragment = match matching {
        Matching::Path | Matching::Shared => analyser.fragment(),
        Matching::Everywhere => everything.clone(),
    };
    let inexact = analyser.inexact(&fragment)?;
    let proof = if inexact.is_empty() {
        // All abstract states make a smaller certificate than many states that were visited above the loops.
        let queries = analyser.queries;
        let is_long = explored.nodes.iter().filter(|node| !fragment.contains(&node.state)).count() > VISITED;
        let is_closed = is_long && analyser.is_inductive(&fragment, &inexact)?;
        analyser.queries = queries;
        Some(if is_closed { &everything } else { &fragment })
    } else if matching == Matching::Everywhere {
        None
    } else {
        analyser.is_inductive(&fragment, &inexact)?.then_some(&everything)
    };
    figures.queries = analyser.queries;
    explanation.refine(*figures, run);
    if let Some(states) = proof {
        return Ok(Round::Decided(Verdict::Safe(certificate(world, &explored, states, prover)?)));
    }
    let found = analyser.refine(&inexact)?;
    Ok(Round::Open(found))
}

/// The atoms of guards and assertions.
fn first_predicates(model: &Model<'_>, prover: &mut Prover<'_>) -> Result<BTreeSet<selvedge_logic::smt::Term>, Stop> {
    let mut found = BTreeSet::new();
    for step in model.steps.values().flatten() {
        atoms(&prover.eliminate(&step.choices, &step.guard)?, &mut found);
    }
    for error in &model.errors {
        atoms(&prover.eliminate(&error.choices, &error.condition)?, &mut found);
    }
    Ok(found)
}
