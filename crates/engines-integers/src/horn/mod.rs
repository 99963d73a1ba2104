//! Guarded commands as Horn clauses, for z3's Spacer (Komuravelli, Gurfinkel and Chaki, "SMT-based model checking for
//! recursive programs", CAV 2014).
//!
//! *Order of work*: one relation `P` over the variables represents the reachable states. The initial condition implies
//! it, every command preserves it, and a state of it that violates an assertion of the target implies the error
//! (`clauses`). Spacer is asked whether the error is derivable. *Safe*: it prints an interpretation of `P` (`answer`),
//! which becomes the certificate; if that cannot be read, k-induction may provide one. *Unsafe*: it prints a derivation
//! of the error, whose facts about `P` are the states of an execution, in order (`answer`). Between two consecutive
//! states some command leads from one to the other: it is found by evaluation if the command makes no choices, and
//! otherwise by asking the solver for them (`trace`).
//!
//! *Why it ends*: it need not; the time limit kills the solver. *Why it is right*: nothing is believed. The judge
//! checks the certificate, and the replayer executes the trace; only a safe answer without a certificate relies on
//! Spacer, and is reported as such.

mod answer;
mod clauses;
pub(crate) mod guarded_commands;
pub(crate) mod trace;

use selvedge_check::{
    Certificate, ControlPoint, Engine, Explanation, IntegerProof, Run, SolverFailure, Stop, Task, Unsupported, Verdict,
};
use selvedge_ir::Expr;
use selvedge_logic::smt::{Dialect, Program, Smt};

use crate::prover::solver_stop;
use guarded_commands::GuardedCommands;

/// Bound for [`by_induction`].
const STEPS: u32 = 2;

/// The engine. It has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horn;

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        GuardedCommands::of(task, self.name()).map(drop)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let system = GuardedCommands::of(task, self.name()).expect("only supported tasks are checked");
        let mut smt = Smt::new(z3(run)?);
        clauses::tell(&system, &mut smt);
        let answer = ask(&mut smt, clauses::QUERY, run)?;
        // The certificate is printed after the answer; it arrives together with the next answer.
        let evidence = |smt: &mut Smt| ask(smt, "(echo \"end\")", run);
        match answer.atom() {
            Some("unsat") => {
                let formula = answer::interpretation(&evidence(&mut smt)?, task.program);
                let certificate = formula.map(|formula| certificate(&system, formula));
                Ok(Verdict::Safe(certificate.map_or_else(|| by_induction(task, run), |known| Ok(Some(known)))?))
            }
            Some("sat") => {
                let states = answer::states(&evidence(&mut smt)?, task.program);
                let states = states.ok_or(Stop::Solver(SolverFailure::Strange))?;
                trace::trace(&system, &states, run).map(Verdict::Unsafe)
            }
            Some("unknown") => Err(Stop::Solver(SolverFailure::Undecided)),
            _ => Err(Stop::Solver(SolverFailure::Strange)),
        }
    }
}

/// Looks for a certificate by k-induction, for programs where Spacer's is not understood, or where Spacer has none
/// because its simplifications left no error: such programs are safe for simple reasons.
fn by_induction(task: &Task<'_>, run: &Run<'_>) -> Result<Option<Certificate>, Stop> {
    if crate::supports(task, "horn").is_err() {
        return Ok(None);
    }
    match crate::induction::check(task, STEPS, run) {
        Ok(Verdict::Safe(certificate)) => Ok(certificate),
        Err(stop @ (Stop::Cancelled | Stop::PartStopped)) => Err(stop),
        _ => Ok(None),
    }
}

fn ask(smt: &mut Smt, command: &str, run: &Run<'_>) -> Result<selvedge_logic::smt::Sexp, Stop> {
    smt.ask(command, || run.check_limits()).map_err(solver_stop)
}

/// Returns how to start z3.
pub(crate) fn z3(run: &Run<'_>) -> Result<Program, Stop> {
    let path = run.solvers().z3.as_ref().ok_or(Stop::NoSolver)?;
    Ok(Program { path: path.to_path_buf(), dialect: Dialect::Z3, memory: None, work: run.solver_work() })
}

/// Builds the certificate: anything before the first step, and the formula after it.
pub(crate) fn certificate(system: &GuardedCommands<'_>, formula: Expr) -> Certificate {
    let point = |loc, formula| ControlPoint { loc, values: Vec::new(), formula };
    let points = vec![point(system.entry, Expr::TRUE), point(system.head, formula)];
    Certificate::Integers(IntegerProof { control: Vec::new(), points })
}
