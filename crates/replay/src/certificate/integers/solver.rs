//! The judge's own way to an SMT solver: a process that answers one question after the other.
//!
//! If cvc5 is installed, it is used rather than Z3, which the engines use: then another solver checks a proof than
//! found it. Each question is on a level of its own, which is left after the answer.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use selvedge_check::{Run, SolverFailure, Stop};

/// The time to wait for an answer between two looks at the limits.
const PAUSE: Duration = Duration::from_millis(2);

pub(super) struct Solver<'r> {
    child: Child,
    input: Sender<String>,
    lines: Receiver<String>,
    run: &'r Run<'r>,
}

impl<'r> Solver<'r> {
    /// Starts a solver that the run names.
    pub(super) fn start(run: &'r Run<'r>) -> Result<Solver<'r>, Stop> {
        let solvers = run.solvers();
        let mut command = match (&solvers.cvc5, &solvers.z3) {
            (Some(cvc5), _) => {
                let mut command = Command::new(&**cvc5);
                command.args(["--lang", "smt2", "--incremental"]);
                command
            }
            (None, Some(z3)) => {
                let mut command = Command::new(&**z3);
                command.args(["-smt2", "-in"]);
                command
            }
            (None, None) => return Err(Stop::NoSolver),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |_| Stop::Solver(SolverFailure::NotStarted);
        let mut child = command.spawn().map_err(failed)?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Stop::Solver(SolverFailure::NotStarted));
        };
        let (input, texts) = mpsc::channel::<String>();
        // A solver that no longer reads has ended, which its output tells.
        let writer = move || texts.iter().all(|text| stdin.write_all(text.as_bytes()).is_ok());
        thread::Builder::new().spawn(writer).map_err(failed)?;
        let (sender, lines) = mpsc::channel();
        let reader = move || {
            BufReader::new(stdout).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok());
        };
        thread::Builder::new().spawn(reader).map_err(failed)?;
        let solver = Solver { child, input, lines, run };
        solver.send("(set-logic ALL)\n".to_string());
        Ok(solver)
    }

    fn send(&self, text: String) {
        // If the writer has gone, so has the solver: the next answer will not come.
        let _ = self.input.send(text);
    }

    /// Returns whether all assertions of a question can hold together. Everything but `sat` and `unsat` is a failure:
    /// an error message comes before the answer that it spoils.
    pub(super) fn ask(&self, question: &str) -> Result<bool, Stop> {
        self.run.check_limits()?;
        self.send(format!("(push 1)\n{question}(check-sat)\n(pop 1)\n"));
        loop {
            match self.lines.recv_timeout(PAUSE) {
                Ok(line) => return response(line.trim()),
                Err(RecvTimeoutError::Timeout) => self.run.check_limits()?,
                Err(RecvTimeoutError::Disconnected) => return Err(Stop::Solver(SolverFailure::Died)),
            }
        }
    }
}

fn response(line: &str) -> Result<bool, Stop> {
    match line {
        "sat" => Ok(true),
        "unsat" => Ok(false),
        "unknown" | "timeout" => Err(Stop::Solver(SolverFailure::Undecided)),
        _ => Err(Stop::Solver(SolverFailure::Strange)),
    }
}

impl Drop for Solver<'_> {
    fn drop(&mut self) {
        // It may have ended by itself, which is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
