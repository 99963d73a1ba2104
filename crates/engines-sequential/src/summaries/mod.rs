//! Reachability in programs with one thread, recursive or not, by path edges and summaries in decision diagrams.
//!
//! After Ball and Rajamani (Bebop, 2000), with what Getafix and the thesis behind Boom (chapters 3 and 10) found to
//! matter: an explicit program counter, only reached entries, the summary of a procedure computed once per change and
//! not per call site, entry copies of modified variables only, and differences instead of whole sets.
//!
//! For each location `n` of a procedure, the *path edges* of `n` are the pairs of a valuation at the procedure's entry
//! and a valuation at `n` to which it leads. The order of work: the location that is first in its procedure, of the
//! procedure that is lowest in the call graph, among those with path edges that have not been followed (`solve`).
//! Between two rounds, every path edge that was followed has all its successors among the path edges, including calls:
//! the entry of its callee, and the successors by each known summary. It ends because path edges only grow. It is right
//! because a path edge is added only for a step from another one, and none is missing at the end.
//!
//! The engine works on a slice of the program ([`selvedge_ir::passes::slice`]) and answers about the whole program.
//! Before that it tries a coarser program with fewer variables, whose safety is sufficient (`coarse`).

mod certificate;
mod coarse;
mod each;
mod explore;
mod solve;
mod trace;

use index_vec::IndexVec;
use selvedge_check::{Certificate, Engine, Explanation, Findings, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::callgraph::prelude_ends_early;
use selvedge_ir::passes::{Passed, slice};
use selvedge_ir::{LocId, ProcId, Program, VarId};
use selvedge_transition::paths::layout::Order;
use selvedge_transition::sequential::{SequentialEngine, Values};
use selvedge_transition::support::supports_one_thread;

use solve::{Entries, Solver};

pub use explore::Reached;

/// The engine.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    /// Its options.
    pub options: Options,
}

/// The options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Computes the summaries of all procedures for all entries before looking for errors: rules R0 to R6 of Lal and
    /// Reps (2009, Fig. 3).
    ///
    /// Default: no.
    pub eager: bool,
    /// Tracks all variables from the start. Otherwise a coarse program with only those variables on which the asserted
    /// values depend is tried first: if it is safe, so is the program.
    ///
    /// Default: no. All variables are also tracked if all summaries or all errors are to be computed.
    pub exact: bool,
    /// Orders the variables in the diagrams as they are declared, below the locals. Otherwise variables that are read
    /// and written together are placed near each other.
    ///
    /// Default: no.
    pub declared: bool,
}

impl Engine for Summaries {
    fn name(&self) -> &'static str {
        "summaries"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_one_thread(task, self.name())?;
        if prelude_ends_early(task.program) {
            let reason = "`summaries` does not support programs whose `init` ends its thread in the middle";
            return Err(Unsupported::new(reason));
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let (sliced, results) = slice::run_with_results(task.program, task.target);
        if !self.options.exact && !self.options.eager {
            let certificate = self::coarsely_safe(task, sliced.program.vars.len(), run)?;
            if certificate.is_some() {
                return Ok(Verdict::Safe(certificate));
            }
        }
        match self.attempt(task, &sliced, &results, self.order(), run) {
            Err(Stop::NodeLimit(_)) => self.attempt(task, &sliced, &results, Order::Rescue, run),
            answer => answer,
        }
    }

    fn check_each(&self, task: &Task<'_>, run: &Run<'_>) -> Option<Result<Findings, Stop>> {
        Some(each::check(task, run))
    }
}

impl Summaries {
    fn order(&self) -> Order {
        if self.options.declared { Order::Declared } else { Order::First }
    }

    /// Decides a task with one order of the variables.
    fn attempt(
        &self,
        task: &Task<'_>,
        sliced: &Passed,
        results: &IndexVec<ProcId, Vec<usize>>,
        order: Order,
        run: &Run<'_>,
    ) -> Result<Verdict, Stop> {
        let mut solver = Solver::ordered(&sliced.program, &sliced.target, order, run)?;
        if self.options.eager {
            solver.run(Entries::All)?;
            solver.forget_all_but_summaries();
        }
        match solver.run(Entries::Reached)? {
            None => Ok(Verdict::Safe(solver.certificate(task.program, &sliced.lift, results)?)),
            // Reconstructing a path through a summary needs path edges of reached entries only.
            Some(_) if self.options.eager => {
                Summaries { options: Options { exact: true, eager: false, ..self.options } }.check(task, run)
            }
            Some(error) => Ok(Verdict::Unsafe(sliced.lift.trace(&solver.trace(&error)?))),
        }
    }

    /// Returns all reachable states, for comparisons.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<Reached, Stop> {
        let no_target = selvedge_ir::Target::default();
        let mut solver = Solver::ordered(task.program, &no_target, self.order(), run)?;
        if self.options.eager {
            solver.run(Entries::All)?;
            solver.forget_all_but_summaries();
        }
        solver.run(Entries::Reached)?;
        solver.reached()
    }
}

impl SequentialEngine for Summaries {
    fn values_at(&self, program: &Program, loc: LocId, vars: &[VarId], run: &Run<'_>) -> Result<Values, Stop> {
        let no_target = selvedge_ir::Target::default();
        let mut solver = Solver::ordered(program, &no_target, self.order(), run)?;
        solver.run(Entries::Reached)?;
        solver.values(loc, vars)
    }
}

/// Returns the certificate of a coarse program (`coarse`), if there is one and it is safe.
fn coarsely_safe(task: &Task<'_>, n_relevant: usize, run: &Run<'_>) -> Result<Option<Certificate>, Stop> {
    let Some(coarse) = coarse::coarse(task.program, task.target, n_relevant) else { return Ok(None) };
    let (sliced, results) = slice::run_with_results(&coarse, task.target);
    let mut solver = Solver::new(&sliced.program, &sliced.target, run)?;
    match solver.run(Entries::Reached) {
        Ok(None) => solver.certificate(&coarse, &sliced.lift, &results),
        // All variables together may need fewer nodes.
        Ok(Some(_)) | Err(Stop::NodeLimit(_)) => Ok(None),
        Err(stop) => Err(stop),
    }
}
