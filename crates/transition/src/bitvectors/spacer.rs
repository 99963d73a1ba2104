//! z3 as a solver of Horn clauses, for the engines whose clauses are over bit vectors.
//!
//! What goes wrong in the process becomes a [`Stop`]. Nothing that the solver says is believed: its model becomes a
//! certificate, which the judge checks.

use selvedge_check::{Run, SolverFailure, Stop};
use selvedge_logic::smt::{Dialect, Interrupted, Program, Sexp, Smt, SmtError};

/// Starts z3, with the memory and the work that the run allows.
pub fn start(run: &Run<'_>) -> Result<Smt, Stop> {
    let path = run.solvers().z3.as_ref().ok_or(Stop::NoSolver)?;
    let memory = run.memory_limit().map(|bytes| (bytes / 1_000_000).max(64));
    Ok(Smt::new(Program { path: path.to_path_buf(), dialect: Dialect::Z3, memory, work: run.solver_work() }))
}

/// Returns relations that satisfy the clauses told before; `None` if there are not any.
pub fn model(smt: &mut Smt, run: &Run<'_>) -> Result<Option<Sexp>, Stop> {
    match ask(smt, "(check-sat)", run)?.atom() {
        Some("sat") => ask(smt, "(get-model)", run).map(Some),
        Some("unsat") => Ok(None),
        Some("unknown") if run.solver_work().is_some() => Err(Stop::PartStopped),
        Some("unknown") => Err(Stop::Solver(SolverFailure::Undecided)),
        _ => Err(Stop::Solver(SolverFailure::Strange)),
    }
}

fn ask(smt: &mut Smt, command: &str, run: &Run<'_>) -> Result<Sexp, Stop> {
    smt.ask(command, || run.check_limits()).map_err(|interrupted| match interrupted {
        Interrupted::Caller(stop) => stop,
        Interrupted::Solver(SmtError::Exhausted) => Stop::PartStopped,
        Interrupted::Solver(SmtError::NoThread) => Stop::NoThread,
        Interrupted::Solver(SmtError::NotStarted(_)) => Stop::Solver(SolverFailure::NotStarted),
        Interrupted::Solver(SmtError::Died) => Stop::Solver(SolverFailure::Died),
        Interrupted::Solver(SmtError::Undecided) => Stop::Solver(SolverFailure::Undecided),
        Interrupted::Solver(_) => Stop::Solver(SolverFailure::Strange),
    })
}
