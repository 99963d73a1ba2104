//! Abstract analysis of symbolic executions, for programs with integers and nondeterministic input.
//!
//! After Albarghouthi, "Abstract Analysis via Symbolic Executions" (2010), Figs. 4.1 to 4.4. The order of work, with
//! the atoms of guards and assertions as the first predicates:
//!
//! 1. `explore`: symbolic execution along all paths, each up to an abstract state that the path has met before. An
//!    error found on the way is real.
//! 2. `analyse`: *safe fragment*: are the steps from all abstract states on loops and reachable from loops exact? Then
//!    nothing leaves the explored part. *Inductive invariant*: are all explored abstract states together closed under
//!    all steps?
//! 3. Otherwise the atoms of the preimages of inexact steps become predicates, and the next round begins.
//!
//! The published test of exactness is wrong for programs with input: see `analyse`. Each round without an answer finds
//! a new predicate: if the atoms of all preimages of a step's targets are predicates, then all states of an abstract
//! state have successors in the same abstract states, and the step is exact. Apart from that it need not end.
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

use super::control::control;
use super::model::TransitionModel;
use super::prover::Prover;
use super::trace::execution;
use abstraction::{AbstractionContext, Predicates};
use analyse::{AbstractStep, Analyser};
use certificate::certificate;
use explore::Explorer;
pub(super) use explore::Matching;

/// Number of visited states in a certificate above which a smaller one is tried.
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
    /// The greatest number of abstractions to try.
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

/// Refines the abstraction until one decides (Fig. 4.1).
pub(super) fn refine(
    task: &Task<'_>,
    iterations: usize,
    matching: Matching,
    (run, explanation): (&Run<'_>, &mut Explanation),
) -> Result<Verdict, Stop> {
    let mut prover = Prover::new(run)?;
    let model = TransitionModel::new(task);
    let control = control(&model, &mut prover)?;
    let mut predicates = Predicates::first(&model, &control, &mut prover)?;
    let mut figures = Refinement::default();
    for _ in 0..iterations {
        figures.iterations += 1;
        figures.predicates = predicates.all.len();
        let context = AbstractionContext::new(&model, &control, &predicates);
        match iterate(&context, &mut prover, (run, explanation), &mut figures, matching)? {
            RoundOutcome::Decided(verdict) => return Ok(verdict),
            RoundOutcome::Open(found) => {
                if predicates.add(&found) == 0 {
                    break;
                }
            }
        }
    }
    Err(Stop::BoundReached(Bound::Abstractions(u32::try_from(figures.iterations).unwrap_or(u32::MAX))))
}

/// The outcome of one abstraction.
enum RoundOutcome {
    Decided(Verdict),
    /// More predicates are needed, namely these.
    Open(BTreeSet<selvedge_logic::smt::Term>),
}

/// Explores one abstraction, and answers if it has an error or a proof; otherwise returns new predicates.
fn iterate(
    context: &AbstractionContext<'_>,
    prover: &mut Prover<'_>,
    (run, explanation): (&Run<'_>, &mut Explanation),
    figures: &mut Refinement,
    matching: Matching,
) -> Result<RoundOutcome, Stop> {
    let explored = Explorer::new(context, prover, (run, explanation), (*figures, matching)).explore()?;
    figures.states = explored.nodes.len();
    figures.abstract_states = explored.states.len();
    explanation.refine(*figures, run);
    if let Some((node, error)) = explored.error {
        let path = explored.error_path(context, node, error);
        let trace = execution(context.model, &path, prover)?;
        return Ok(RoundOutcome::Decided(Verdict::Unsafe(trace.expect("the path was found to be possible"))));
    }
    let mut analyser = Analyser { context, prover, run, explored: &explored, queries: figures.queries };
    let everything: BTreeSet<usize> = (0..explored.states.len()).collect();
    let fragment = match matching {
        Matching::Path | Matching::Shared => analyser.fragment(),
        Matching::Everywhere => everything.clone(),
    };
    let inexact = analyser.inexact(&fragment)?;
    let proof = proof(&mut analyser, matching, &inexact, (&fragment, &everything))?;
    figures.queries = analyser.queries;
    explanation.refine(*figures, run);
    if let Some(states) = proof {
        return Ok(RoundOutcome::Decided(Verdict::Safe(certificate(context, &explored, states, prover)?)));
    }
    let found = analyser.refine(&inexact)?;
    Ok(RoundOutcome::Open(found))
}

/// Returns the abstract states that prove the program safe: those of the fragment, if it is exact, or all of them, if
/// they are closed.
fn proof<'s>(
    analyser: &mut Analyser<'_, '_>,
    matching: Matching,
    inexact: &[AbstractStep],
    (fragment, everything): (&'s BTreeSet<usize>, &'s BTreeSet<usize>),
) -> Result<Option<&'s BTreeSet<usize>>, Stop> {
    if !inexact.is_empty() {
        let is_closed = matching != Matching::Everywhere && analyser.is_inductive(fragment, inexact)?;
        return Ok(is_closed.then_some(everything));
    }
    // Many visited states outside of the loops make a large certificate; all abstract states make a smaller one, if
    // they are closed. These queries do not count: the answer does not need them.
    let queries = analyser.queries;
    let n_outside = analyser.explored.nodes.iter().filter(|node| !fragment.contains(&node.state)).count();
    let is_closed = n_outside > VISITED && analyser.is_inductive(fragment, inexact)?;
    analyser.queries = queries;
    Ok(Some(if is_closed { everything } else { fragment }))
}
