//! A bounded number of threads, without recursion: chapters 5 to 7 of the thesis behind Boom.
//!
//! The engines here work on programs without calls (the driver inlines them): a thread is at a location of one
//! procedure and has a valuation of its variables. Threads of one kind are interchangeable, so a state is the shared
//! part and a multiset of thread states.
//!
//! - [`bmc`]: executions as formulas, by SAT.
//! - [`explicit`]: explicit valuations.
//! - [`symbolic`]: sets of valuations in decision diagrams.
//! - [`plain`]: the same without symmetry, for comparison.
//!
//! The transition layer defines the visible points of threads, and their steps from one to the next
//! ([`selvedge_transition::macro_step`]).

pub mod bmc;
pub mod explicit;
pub mod plain;
pub mod symbolic;

use std::hash::Hash;

use rustc_hash::FxHashMap;
use selvedge_check::{
    Argument, Certificate, Explanation, Findings, Run, Stop, Task, ThreadScope, ThreadState, Unsupported, Verdict,
};
use selvedge_ir::callgraph::has_bounded_threads;
use selvedge_ir::{EdgeId, LocId, Trace, Value};
use selvedge_transition::macro_step::explicit::Error;
use selvedge_transition::support::{bound, most_initial, supports_program};

pub use selvedge_transition::macro_step::reductions::{PartialOrder, Reductions};

/// The extent of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visit {
    /// Up to the first error of the target.
    UntilError,
    /// All states, including those after errors; each error is recorded once.
    Each,
    /// All states; of the errors only the assertions that fail are needed.
    All,
}

/// Collects the errors that a search has found, each with its execution, and the assertions that it has not reached.
fn findings<S>(
    task: &Task<'_>,
    search: &mut S,
    trace: impl Fn(&mut S, Error) -> Result<Option<Trace>, Stop>,
    is_reached: impl Fn(&S, EdgeId) -> bool,
) -> Result<Findings, Stop> {
    let mut findings = Findings::default();
    for edge in &task.target.asserts {
        match trace(search, Error::Fails(*edge))? {
            Some(trace) => findings.asserts.push((*edge, trace)),
            None if is_reached(search, *edge) => {}
            None => findings.unreachable.push(*edge),
        }
    }
    for loc in &task.target.locs {
        findings.locs.extend(trace(search, Error::Reaches(*loc))?.map(|trace| (*loc, trace)));
    }
    Ok(findings)
}

/// The result of closing a set of states under all steps, after a search under a partial order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    /// The set is closed.
    Closed,
    /// The closed set would be much larger than the one that the search found.
    Large,
    /// The set contains an error, which the partial order should not have lost.
    Error,
}

impl Closing {
    /// Returns the verdict of a search that found no error: with a certificate, or that of a search in every order.
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

/// Returns the visible state of a thread at a location, given the values of the shared variables, of the per-thread
/// ones and of its locals, one after the other.
fn thread_state(loc: LocId, n_shared: usize, n_thread_vars: usize, values: Vec<bool>) -> ThreadState {
    let mut values = values.into_iter().map(Value::Bool);
    let shared = values.by_ref().take(n_shared).collect();
    let vars = values.by_ref().take(n_thread_vars).collect();
    ThreadState { loc, shared, vars, locals: values.collect(), free: Vec::new() }
}

/// Limit on the number of stored results of blocks; beyond it they are computed again.
const MAX_KNOWN: usize = 1 << 18;

/// Stores a result of a block.
pub(crate) fn remember<K: Eq + Hash, V>(known: &mut FxHashMap<K, V>, key: K, value: V) {
    if known.len() >= MAX_KNOWN {
        known.clear();
    }
    known.insert(key, value);
}

/// Returns the maximum size of a closed set, given the number of states found under a partial order.
fn at_most(n_states: usize) -> usize {
    n_states.saturating_mul(20).saturating_add(20_000)
}

/// Checks that the engines here support a task: a bounded number of threads, no calls left, Boolean variables.
fn supports(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    if task.threads == ThreadScope::Unbounded && !has_bounded_threads(task.program) {
        let reason = format!("the number of threads is not bounded, but `{name}` needs a bound: use --threads N");
        return Err(Unsupported::new(reason));
    }
    supports_program(task, name)
}
