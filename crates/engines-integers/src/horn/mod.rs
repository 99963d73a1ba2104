//! Guarded commands as Horn clauses, for z3's Spacer (Komuravelli, Gurfinkel and Chaki, "SMT-based model checking for
//! recursive programs", CAV 2014).
//!
//! *Order of work*: one relation `P` over the variables stands for the states that can be reached. The condition on first
//! states implies it, every command keeps it, and a state of it in which a condition of the target fails implies the
//! error (`clauses`). Spacer is asked for the error. *Safe*: it prints an interpretation of `P` (`answer`), which becomes
//! the certificate; where there is none that we can read, k-induction may have one. *Unsafe*: it prints a derivation of the error, whose facts
//! about `P` are the states of an execution, in order (`answer`); between two of them a command is looked for that leads
//! from one to the other, by computing where it makes no choices, and else by asking the solver for them (`trace`).
//!
//! *Why it ends*: it need not; the time limit kills the solver. *Why it is right*: nothing is believed. The judge
//! checks the certificate, the replayer executes the trace; only a safe answer without certificate rests on Spacer, and
//! says so.

mod answer;
mod clauses;
pub(crate) mod system;
pub(crate) mod trace;

use selvedge_check::{
    Certificate, ControlPoint, Engine, Explanation, IntegerProof, Run, SolverFailure, Stop, Task, Unsupported, Verdict,
};
use selvedge_ir::Expr;
use selvedge_logic::smt::{Dialect, Interrupted, Program, Smt, SmtError};

use system::System;

/// How far [`by_induction`] looks back.
const STEPS: u32 = 2;

/// The engine. It has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horn;

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        System::of(task, self.name()).map(drop)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let system = System::of(task, self.name()).expect("only supported tasks are checked");
        let mut smt = Smt::new(z3(run)?);
        clauses::tell(&system, &mut smt);
        let answer = ask(&mut smt, clauses::QUERY, run)?;
        // The certificate is printed behind the answer; it comes when the next answer is awaited.
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

/// A certificate where Spacer's is not understood, or where it has none because no error was left after its
/// simplifications: such programs are safe for simple reasons.
fn by_induction(task: &Task<'_>, run: &Run<'_>) -> Result<Option<Certificate>, Stop> {
    if crate::supports(task, "horn").is_err() {
        return Ok(None);
    }
    match crate::induction::check(task, STEPS, run) {
        Ok(Verdict::Safe(certificate)) => Ok(certificate),
        Err(Stop::Cancelled) => Err(Stop::Cancelled),
        _ => Ok(None),
    }
}

fn ask(smt: &mut Smt, command: &str, run: &Run<'_>) -> Result<selvedge_logic::smt::Sexp, Stop> {
    smt.ask(command, || run.check_limits()).map_err(halted)
}

/// Where z3 is.
pub(crate) fn z3(run: &Run<'_>) -> Result<Program, Stop> {
    let path = run.solvers().z3.as_ref().ok_or(Stop::NoSolver)?;
    Ok(Program { path: path.to_path_buf(), dialect: Dialect::Z3, memory: None, work: run.solver_work() })
}

/// What a failure of the solver means for the check.
pub(crate) fn halted(halt: Interrupted<Stop>) -> Stop {
    match halt {
        Interrupted::Caller(stop) => stop,
        Interrupted::Solver(SmtError::Exhausted) => Stop::Cancelled,
        Interrupted::Solver(trouble) => Stop::Solver(match trouble {
            SmtError::NotStarted(_) => SolverFailure::NotStarted,
            SmtError::Died => SolverFailure::Died,
            SmtError::Undecided | SmtError::Exhausted => SolverFailure::Undecided,
            SmtError::Rejected(_) | SmtError::Strange(_) | SmtError::Incapable(_) => SolverFailure::Strange,
        }),
    }
}

/// Anything before the first step, and the formula behind it.
pub(crate) fn certificate(system: &System<'_>, formula: Expr) -> Certificate {
    let point = |loc, formula| ControlPoint { loc, values: Vec::new(), formula };
    let points = vec![point(system.entry, Expr::TRUE), point(system.head, formula)];
    Certificate::Integers(IntegerProof { control: Vec::new(), points })
}
