//! Any number of threads over wide numbers, by predicates: the engine `predicates`.
//!
//! Predicate abstraction with refinement for programs with threads, as in SatAbs: Donaldson, Kaiser, Kroening and Wahl
//! ("Symmetry-aware predicate abstraction for shared-variable concurrent programs", CAV 2011), on top of the engines of
//! this family for Boolean programs.
//!
//! *Order of work.* Predicates are conditions on shared variables, on those of one thread, or on both. The first ones
//! are the comparisons of the target's assertions. What each step does to them (`abstraction`) is written as a Boolean
//! program (`boolean`), in which a step that assigns shared variables also assigns the predicates of all other threads
//! that speak of them. So the program of one thread stands for all threads, and an engine for any number of threads
//! decides it. If it has no error, the program has none. The steps of an error are executed with the numbers of the
//! program, bit by bit, by a SAT solver (`path`). If they can be executed, that is the error. Otherwise some of their
//! conditions exclude each other, and the conditions from which the rest of the path leads to the error give new
//! predicates (`preimage`).
//!
//! *Why it ends*: it need not; each iteration has more predicates than the one before, or is the last. *Why it is
//! right*: the Boolean program can do whatever the program can, which the judge checks step by step; and executions are
//! replayed.

mod abstraction;
mod atoms;
mod boolean;
mod implicants;
mod linear;
mod model;
mod path;
mod predicate;
mod preimage;

use std::fmt;
use std::sync::Arc;

use index_vec::IndexVec;
use selvedge_check::{
    Bound, Certificate, Engine, Event, Explanation, PredicateProof, Refinement, Run, Stop, Task, ThreadScope,
    Unsupported, Verdict,
};
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::passes::blast;
use selvedge_ir::visit::reads;
use selvedge_ir::{EdgeId, Expr, Op, Program, Scope, VarId};
use selvedge_logic::aig::Lit;
use selvedge_transition::step::circuit;
use selvedge_transition::support::is_passive;

use self::abstraction::{AbstractStep, Abstracter};
use self::boolean::{Boolean, boolean};
use self::implicants::Implicants;
use self::model::Model;
use self::path::{Followed, Path, follow};
use self::predicate::Predicates;
use super::coverability::{Coverability, Method};
use super::views::Views;

/// The options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Computes each abstraction from scratch, instead of what changed since the one before. For comparison.
    ///
    /// Default: no.
    pub from_scratch: bool,
    /// Receives each iteration.
    pub keep: Option<IterationListener>,
}

/// What an iteration has found.
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'i> {
    /// Its number, from 1.
    pub number: usize,
    /// The program that is abstracted.
    pub program: &'i Program,
    /// The Boolean program.
    pub boolean: &'i Program,
    /// The meaning of each of its variables.
    pub predicates: &'i [Expr],
    /// The steps of its error, each with the number of its thread, if it has one.
    pub steps: &'i [(usize, EdgeId)],
    /// Those of the steps whose conditions exclude each other.
    pub core: &'i [usize],
}

/// A listener that receives each iteration.
#[derive(Clone)]
pub struct IterationListener(pub Arc<Listener>);

/// See [`IterationListener`].
pub type Listener = dyn Fn(Iteration<'_>) + Send + Sync;

impl PartialEq for IterationListener {
    fn eq(&self, other: &IterationListener) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for IterationListener {}

impl fmt::Debug for IterationListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IterationListener")
    }
}

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct PredicateAbstraction {
    /// Its options.
    pub options: Options,
}

impl Engine for PredicateAbstraction {
    fn name(&self) -> &'static str {
        "predicates"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        let (program, name) = (task.program, self.name());
        task.refuse_deadlock(name)?;
        if task.threads != ThreadScope::Unbounded {
            return Err(Unsupported::new(format!(
                "the number of threads is bounded, but `{name}` answers for any number: leave out --threads"
            )));
        }
        let unsupported = |reason: String| Err(Unsupported::new(reason));
        if !program.has_machine_integers() {
            return unsupported(format!("`{name}` only supports programs with machine integers"));
        }
        blast::accepts_wide(program).map_err(Unsupported::new)?;
        let calls = CallGraph::new(program);
        if let Some(proc) = program.procs.indices().find(|proc| calls.is_recursive(*proc)) {
            let name_of = &program.procs[proc].name;
            return unsupported(format!("`{name_of}` is recursive, and `{name}` does not support recursion"));
        }
        if let Some((id, _)) = program.edges.iter_enumerated().find(|(_, edge)| matches!(edge.op, Op::Call(_))) {
            let reason = format!("some calls could not be inlined, and `{name}` does not support calls");
            return Err(Unsupported::at(id, reason));
        }
        if program.prelude.is_some() || program.edges.iter().any(|edge| matches!(edge.op, Op::Fork(_))) {
            return unsupported(format!("there is `init` or `fork`, which `{name}` does not support"));
        }
        if is_passive(program) || program.vars.iter().any(|var| var.scope == Scope::Thread) {
            return unsupported(format!("`{name}` does not support variables of threads beside locals"));
        }
        if !task.target.together.is_empty() {
            return unsupported(format!("`{name}` does not support locations that threads reach together"));
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let Ok(model) = Model::new(task.program) else {
            return Err(Stop::BoundReached(Bound::Abstractions(0)));
        };
        let mut predicates = first_predicates(task, &model);
        let mut abstracter = Abstracter::new(&model, self.options.from_scratch, run);
        let mut figures = Refinement::default();
        loop {
            let boolean = abstracted(&model, &predicates, &mut abstracter, run)?;
            figures.iterations += 1;
            figures.predicates = predicates.all.len();
            figures.queries = abstracter.work.queries;
            explanation.refine(figures, run);
            let trace = match decide_boolean(task, &boolean, run)? {
                Verdict::Safe(certificate) => {
                    self.keep(figures.iterations, task, &boolean, None, &[]);
                    return Ok(Verdict::Safe(certificate.map(|certificate| proof(boolean, certificate))));
                }
                Verdict::Unsafe(trace) => trace,
            };
            let path = Path::new(task, &trace);
            run.event(Event::Phase("following an execution"));
            let followed = match preimage::refuted_by_form(&model, &path) {
                Some(step) => Followed::Infeasible(vec![step]),
                None => follow(&model, &path, run)?,
            };
            match followed {
                Followed::Real(trace) => {
                    self.keep(figures.iterations, task, &boolean, Some(&path), &[]);
                    return Ok(Verdict::Unsafe(trace));
                }
                Followed::Infeasible(core) => {
                    self.keep(figures.iterations, task, &boolean, Some(&path), &core);
                    if !preimage::refine(&model, &path, &core, &mut predicates) && !abstracter.try_harder() {
                        return Err(Stop::BoundReached(Bound::Abstractions(figures.iterations as u32)));
                    }
                }
            }
        }
    }
}

impl PredicateAbstraction {
    fn keep(&self, number: usize, task: &Task<'_>, boolean: &Boolean, path: Option<&Path>, core: &[usize]) {
        let Some(listener) = &self.options.keep else { return };
        let steps: Vec<(usize, EdgeId)> =
            path.into_iter().flat_map(|path| &path.steps).map(|step| (step.thread, step.edge)).collect();
        let predicates = boolean.predicates.as_raw_slice();
        let (program, boolean, steps) = (task.program, &boolean.program, steps.as_slice());
        (listener.0)(Iteration { number, program, boolean, predicates, steps, core });
    }
}

/// Returns the comparisons of the target's assertions, and those of shared variables on which steps wait: without
/// locks, threads would do everything at once.
fn first_predicates<'m>(task: &Task<'_>, model: &'m Model<'m>) -> Predicates<'m> {
    let mut predicates = Predicates::new(model);
    for (id, edge) in task.program.edges.iter_enumerated() {
        let is_shared = |var: &VarId| task.program.vars[*var].scope == Scope::Shared;
        let is_asked = matches!(edge.op, Op::Assert(_)) && task.target.has_assert(id);
        for condition in model.conditions(id) {
            let vars = reads(&condition);
            if is_asked || (!vars.is_empty() && vars.iter().all(is_shared)) {
                predicates.add_atoms(&condition);
            }
        }
    }
    predicates
}

/// Computes the Boolean program.
fn abstracted(
    model: &Model<'_>,
    predicates: &Predicates<'_>,
    abstracter: &mut Abstracter<'_>,
    run: &Run<'_>,
) -> Result<Boolean, Stop> {
    run.event(Event::Phase("abstracting"));
    let steps = model.program.edges.indices().map(|edge| abstracter.step(edge, predicates));
    let steps: IndexVec<EdgeId, AbstractStep> = steps.collect::<Result<_, Stop>>()?;
    let initial = initial_values(model, predicates, run)?;
    Ok(boolean(model.program, predicates, &initial, &steps))
}

/// Returns the values of predicates on shared variables at the start, where they are determined.
fn initial_values(model: &Model<'_>, predicates: &Predicates<'_>, run: &Run<'_>) -> Result<Vec<Option<bool>>, Stop> {
    let mut aig = selvedge_logic::aig::Aig::new();
    let begin = circuit::begin(&mut aig, &model.blasted.program).valuation;
    let mut values = Vec::new();
    for predicate in &predicates.all {
        values.push(match predicate.owner {
            Some(_) => None,
            None => {
                let lit = predicate.lit(&mut aig, &begin);
                let (known, _) = Implicants::new(&aig, Lit::TRUE, (lit, &[]), run).known()?;
                known.is_exact.then_some(!known.holds.is_empty())
            }
        });
    }
    Ok(values)
}

/// Decides the Boolean program for any number of threads: state by state, or, if there are too many, in diagrams.
fn decide_boolean(task: &Task<'_>, boolean: &Boolean, run: &Run<'_>) -> Result<Verdict, Stop> {
    let task = Task { program: &boolean.program, target: task.target, threads: ThreadScope::Unbounded };
    let explicit = Coverability { method: Method::Views, options: Default::default() };
    match explicit.check(&task, run) {
        Err(Stop::StateLimit(_)) => Views::default().check(&task, run),
        decided => decided,
    }
}

fn proof(boolean: Boolean, certificate: Certificate) -> Certificate {
    let Boolean { program, predicates, places, steps } = boolean;
    Certificate::OverPredicates(Box::new(PredicateProof { program, predicates, places, steps, certificate }))
}
