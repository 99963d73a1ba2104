//! The judge's own way to SMT solvers: a process of each family, all of which answer one question after the other.
//!
//! The engines prove with one of these solvers, so that its word alone is not enough: every question goes to all of
//! them at the same time. They must agree. A solver that fails, or does not know an answer in time, judges no longer:
//! those that are left have answered every question. Each question is on a level of its own, which is left after the
//! answer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_check::{Run, SolverFailure, Stop};

use super::super::{Accepted, Flaw, Refused};

/// The time to wait for an answer between two looks at the limits.
const PAUSE: Duration = Duration::from_millis(2);

/// The time that a solver has for a question after another one has answered it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The solvers that have answered every question.
pub(super) struct Solvers<'r> {
    solvers: Vec<Solver>,
    run: &'r Run<'r>,
}

impl<'r> Solvers<'r> {
    /// Starts the solvers that the run names.
    pub(super) fn start(run: &'r Run<'r>) -> Result<Solvers<'r>, Stop> {
        let named = run.solvers();
        let z3 = named.z3.iter().map(|path| Solver::start("z3", path, &["-smt2", "-in"]));
        let cvc5 = named.cvc5.iter().map(|path| Solver::start("cvc5", path, &["--lang", "smt2", "--incremental"]));
        let solvers: Vec<Solver> = z3.chain(cvc5).filter_map(Result::ok).collect();
        match solvers.is_empty() {
            true if named.is_empty() => Err(Stop::NoSolver),
            true => Err(Stop::Solver(SolverFailure::NotStarted)),
            false => Ok(Solvers { solvers, run }),
        }
    }

    /// Returns what a certificate rests on if no question had a solution.
    pub(super) fn accepted(&self) -> Accepted {
        match &*self.solvers {
            [alone] => Accepted::ByOneSolver(alone.name),
            _ => Accepted::Certified,
        }
    }

    /// Returns whether all assertions of a question can hold together.
    pub(super) fn ask(&mut self, question: &str) -> Result<bool, Refused> {
        for solver in &self.solvers {
            solver.send(format!("(push 1)\n{question}(check-sat)\n(pop 1)\n"));
        }
        let mut answers = self.answers()?.into_iter();
        let mut failure = SolverFailure::Died;
        let (mut sat, mut unsat) = (None, None);
        self.solvers.retain(|solver| match answers.next() {
            Some(Ok(answer)) => {
                *(if answer { &mut sat } else { &mut unsat }) = Some(solver.name);
                true
            }
            Some(Err(why)) => {
                failure = why;
                false
            }
            None => false,
        });
        match (sat, unsat) {
            (Some(sat), Some(unsat)) => Err(Flaw::SolversDisagree { sat, unsat }.into()),
            (None, None) => Err(Stop::Solver(failure).into()),
            (sat, None | Some(_)) => Ok(sat.is_some()),
        }
    }

    /// Waits for the answers, in the order of the solvers.
    fn answers(&self) -> Result<Vec<Result<bool, SolverFailure>>, Stop> {
        let mut answers = vec![None; self.solvers.len()];
        let mut first = None;
        while answers.contains(&None) {
            self.run.check_limits()?;
            for (solver, answer) in self.solvers.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
                *answer = solver.answer();
            }
            if answers.iter().flatten().any(Result::is_ok)
                && first.get_or_insert_with(Instant::now).elapsed() > PATIENCE
            {
                answers.iter_mut().for_each(|answer| *answer = answer.or(Some(Err(SolverFailure::Undecided))));
            }
        }
        Ok(answers.into_iter().flatten().collect())
    }
}

/// The process of one solver.
struct Solver {
    name: &'static str,
    child: Child,
    input: Sender<String>,
    lines: Receiver<String>,
}

impl Solver {
    fn start(name: &'static str, path: &Path, args: &[&str]) -> Result<Solver, std::io::Error> {
        let mut command = Command::new(path);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (input, texts) = mpsc::channel::<String>();
        let (sender, lines) = mpsc::channel();
        let solver = Solver { name, child, input, lines };
        let (Some(mut stdin), Some(stdout)) = pipes else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        // A solver that no longer reads has ended, which its output tells.
        let writer = move || texts.iter().all(|text| stdin.write_all(text.as_bytes()).is_ok());
        thread::Builder::new().spawn(writer)?;
        let reader = move || {
            BufReader::new(stdout).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
        };
        thread::Builder::new().spawn(reader)?;
        solver.send("(set-logic ALL)\n".to_string());
        Ok(solver)
    }

    fn send(&self, text: String) {
        // If the writer has gone, so has the solver: the next answer will not come.
        let _ = self.input.send(text);
    }

    /// Returns whether the assertions can hold together, if there is an answer by now. Everything but `sat` and `unsat`
    /// is a failure: an error message comes before the answer that it spoils.
    fn answer(&self) -> Option<Result<bool, SolverFailure>> {
        match self.lines.recv_timeout(PAUSE) {
            Ok(line) => Some(response(line.trim())),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Err(SolverFailure::Died)),
        }
    }
}

fn response(line: &str) -> Result<bool, SolverFailure> {
    match line {
        "sat" => Ok(true),
        "unsat" => Ok(false),
        "unknown" | "timeout" => Err(SolverFailure::Undecided),
        _ => Err(SolverFailure::Strange),
    }
}

impl Drop for Solver {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
