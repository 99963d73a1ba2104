//! A running solver process: text goes in, words and lists come out.
//!
//! Writing and reading have their own threads, so that neither a full pipe nor a slow answer keeps the caller from its
//! callback. Dropping the process kills it.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_faults::{self as faults, Point};

use super::sexp::{Sexp, SexpReader};
use super::{Dialect, Interrupted, Program, SmtError};

/// The stack of a thread that reads or writes. Answers are dropped on the reader's, as deep as their lists nest.
const STACK: usize = 2 << 20;

/// The time to wait for an answer between two calls of the callback.
const PAUSE: Duration = Duration::from_millis(2);

pub(super) struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<Sexp>,
}

impl Process {
    pub(super) fn start(program: &Program) -> Result<Process, SmtError> {
        let mut command = Command::new(&program.path);
        match program.dialect {
            Dialect::Z3 => {
                command.args(["-smt2", "-in"]);
                command.args(program.memory.map(|megabytes| format!("-memory:{megabytes}")));
                // This is for each question; the façade adds them up. Z3 reads 32 bits.
                let work = program.work.filter(|units| u32::try_from(*units).is_ok());
                command.args(work.map(|units| format!("rlimit={units}")));
            }
            Dialect::Cvc5 => {
                command.args(["--lang", "smt2", "--incremental", "--produce-models", "--produce-unsat-assumptions"]);
            }
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Ctrl-C in a terminal reaches all processes of a group, and the solver is ours to stop.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = faults::attempt(Point::Process).and_then(|()| command.spawn());
        let child = child.map_err(|error| refusal(&error))?;
        let (input, texts) = mpsc::channel::<String>();
        let (answers, output) = mpsc::channel();
        // From here on the process is killed where something fails.
        let mut process = Process { child, input, output };
        let (Some(mut stdin), Some(stdout)) = (process.child.stdin.take(), process.child.stdout.take()) else {
            return Err(SmtError::NotStarted("it has no pipes".to_string()));
        };
        let writer = move || {
            // A solver that stops reading has died, as its output will show.
            for text in texts {
                if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        };
        start_thread(writer)?;
        start_thread(move || read(BufReader::new(stdout), &answers))?;
        Ok(process)
    }

    pub(super) fn send(&mut self, text: String) {
        // If the writer has gone, so has the solver: the next answer will not come.
        let _ = self.input.send(text);
    }

    /// Returns the next answer.
    pub(super) fn receive<E>(&mut self, proceed: &mut dyn FnMut() -> Result<(), E>) -> Result<Sexp, Interrupted<E>> {
        loop {
            match self.output.recv_timeout(PAUSE) {
                Ok(answer) => return misbehaved(answer, proceed),
                Err(RecvTimeoutError::Timeout) => proceed().map_err(Interrupted::Caller)?,
                Err(RecvTimeoutError::Disconnected) => return Err(SmtError::Died.into()),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have exited by itself, which is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns why a solver was not started. A system that has no room for a process has none for a thread either.
fn refusal(error: &io::Error) -> SmtError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::OutOfMemory => SmtError::NoThread,
        _ => SmtError::NotStarted(error.to_string()),
    }
}

/// Returns the answer, unless a test wants the solver to misbehave here.
fn misbehaved<E>(answer: Sexp, proceed: &mut dyn FnMut() -> Result<(), E>) -> Result<Sexp, Interrupted<E>> {
    let mut wait = |time: Duration| {
        let until = Instant::now() + time;
        while Instant::now() < until {
            proceed().map_err(Interrupted::Caller)?;
            thread::sleep(PAUSE);
        }
        Ok(())
    };
    match faults::misbehaviour() {
        None => Ok(answer),
        Some(Point::SolverBabbles) => Ok(Sexp::List(vec![Sexp::Atom("babble".to_string())])),
        Some(Point::SolverDelays) => wait(faults::DELAY).map(|()| answer),
        Some(Point::SolverHangs) => wait(Duration::from_secs(3600)).map(|()| answer),
        Some(_) => Err(SmtError::Died.into()),
    }
}

/// Starts a thread that needs little stack.
fn start_thread(work: impl FnOnce() + Send + 'static) -> Result<(), SmtError> {
    if faults::fails(Point::Thread) {
        return Err(SmtError::NoThread);
    }
    thread::Builder::new().stack_size(STACK).spawn(work).map(drop).map_err(|_| SmtError::NoThread)
}

/// Forwards what is read, line by line, until the end of the output or an unbalanced list.
fn read(mut stdout: BufReader<ChildStdout>, answers: &Sender<Sexp>) {
    let mut reader = SexpReader::default();
    let mut line = Vec::new();
    while stdout.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        for c in String::from_utf8_lossy(&line).chars() {
            let Some(done) = reader.push(c) else { return };
            for answer in done {
                if answers.send(answer).is_err() {
                    return;
                }
            }
        }
        line.clear();
    }
}
