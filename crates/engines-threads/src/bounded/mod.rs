//! A bounded number of threads, without recursion: chapters 5 to 7 of the thesis behind Boom.
//!
//! The engines here work on programs without calls (the driver inlines them): a thread stands at a location of one
//! procedure and has a valuation of its variables. Threads of one kind are interchangeable, so that a state is the
//! shared part and a multiset of thread states.
//!
//! - [`explicit`]: explicit valuations.
//! - [`symbolic`]: sets of valuations in decision diagrams.
//! - [`plain`]: the same without symmetry, for comparison.
//!
//! They share the question where a thread must be seen at all ([`stops`]), and those over explicit valuations what one
//! thread does from there to the next such place (`blocks`).

mod begin;
pub(crate) mod blocks;
pub mod dependence;
pub mod explicit;
pub(crate) mod layout;
pub(crate) mod passive;
pub(crate) mod place;
pub mod plain;
pub(crate) mod ranks;
pub(crate) mod step;
pub mod stops;
mod story;
pub mod symbolic;
pub(crate) mod vars;

use selvedge_check::{Argument, Certificate, Explanation, Run, Stop, Task, ThreadScope, Unsupported, Verdict};
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::{Count, Edge, Op, Program, Ty};

/// Which reductions an engine makes. None of them changes what is reachable as far as errors are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reductions {
    /// Fuses steps that other threads cannot notice with the next one that they can (algorithms of class (b), "local
    /// block compression"), and atomic sections to one step.
    ///
    /// Default: on.
    pub compress: bool,
    /// Forgets the values of variables that are not read any more (thesis, §10.9).
    ///
    /// Default: on.
    pub dead: bool,
    /// Leaves out interleavings that lead to the same states (thesis, chapter 6).
    pub partial_order: PartialOrder,
}

/// Which interleavings are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PartialOrder {
    /// None.
    #[default]
    Off,
    /// All but those of one thread whose step depends on nothing that the others can still do (thesis, §6.2).
    Ample,
    /// All but those of one group of threads that depend on each other (thesis, §6.3).
    Persistent,
    /// A thread runs on until its next step depends on what another can still do (thesis, §6.4).
    Cartesian,
}

impl Reductions {
    /// No reduction: the set of reachable states is exact.
    pub const NONE: Reductions = Reductions { compress: false, dead: false, partial_order: PartialOrder::Off };
}

impl Default for Reductions {
    fn default() -> Reductions {
        Reductions { compress: true, dead: true, partial_order: PartialOrder::Off }
    }
}

/// What became of closing a set of states under all steps, after a search under a partial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// It is closed.
    Closed,
    /// It would be much larger than what the search found.
    Large,
    /// It contains an error, which the partial order should not have lost.
    Error,
}

impl Closing {
    /// The verdict of a search that found no error: with a certificate, or that of a search in every order.
    fn verdict(
        self,
        (run, explanation): (&Run<'_>, &mut Explanation),
        certificate: impl FnOnce() -> Result<Option<Certificate>, Stop>,
        in_every_order: impl FnOnce(&mut Explanation) -> Result<Verdict, Stop>,
    ) -> Result<Verdict, Stop> {
        let certificate = match self {
            Closing::Closed => certificate()?,
            Closing::Large => None,
            Closing::Error => return in_every_order(explanation),
        };
        if certificate.is_none() {
            explanation.close(Argument::TooManyStates, run);
        }
        Ok(Verdict::Safe(certificate))
    }
}

/// How many states a set may have when it is closed, of which a partial order left so many.
fn at_most(n_states: usize) -> usize {
    n_states.saturating_mul(20).saturating_add(20_000)
}

/// Whether a task is one for the engines here: a bounded number of threads, no calls left, Boolean variables.
fn supports(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    if task.threads == ThreadScope::Unbounded && !has_bounded_threads(task.program) {
        let reason = format!("the number of threads is not bounded, and `{name}` needs a bound: give --threads N");
        return Err(Unsupported::new(reason));
    }
    supports_program(task.program, name)
}

/// Whether the engines here can work on a program: no calls left, Boolean variables.
pub(crate) fn supports_program(program: &Program, name: &str) -> Result<(), Unsupported> {
    let unsupported = |reason: String| Err(Unsupported::new(reason));
    if let Some(var) = program.vars.iter().find(|var| var.ty == Ty::Int) {
        return unsupported(format!("`{}` is an integer, and `{name}` takes Boolean variables only", var.name));
    }
    let calls = CallGraph::new(program);
    if let Some(proc) = program.procs.indices().find(|proc| calls.is_recursive(*proc)) {
        let name_of = &program.procs[proc].name;
        return unsupported(format!("`{name_of}` is recursive, and `{name}` takes programs without recursion only"));
    }
    let in_prelude = |edge: &Edge| Some(program.locs[edge.from].proc) == program.prelude;
    if program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)) && in_prelude(edge)) {
        return unsupported(format!("`init` starts threads, and `{name}` takes programs only where it runs alone"));
    }
    if program.edges.iter().any(|edge| matches!(edge.op, Op::Call(_))) {
        return unsupported(format!("some calls could not be inlined, and `{name}` takes programs without calls only"));
    }
    Ok(())
}

/// The greatest number of threads, where there is one.
fn bound(task: &Task<'_>) -> u32 {
    match task.threads {
        ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
        ThreadScope::Unbounded => most_initial(task.program),
    }
}

/// The greatest number of threads with which a run begins; the greatest there is if it may be any.
fn most_initial(program: &Program) -> u32 {
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => count,
        Count::Any => u32::MAX,
    };
    program.entries.iter().fold(0, |sum: u32, entry| sum.saturating_add(most(entry.count)))
}

/// Whether every run has a bounded number of threads: nothing spawns, and no kind of thread comes in any number.
pub(crate) fn has_bounded_threads(program: &Program) -> bool {
    let spawns = program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)));
    !spawns && program.entries.iter().all(|entry| entry.count != Count::Any)
}
