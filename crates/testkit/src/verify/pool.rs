//! Solvers that stay alive between judgements.
//!
//! The judge starts the solvers for each certificate, which takes much longer than most of its questions. Nothing of
//! the judge is changed for its trials: it starts a small program, which hands its questions to a solver that another
//! judgement has left, and hands back the answers. Each question is on a level of its own that is popped behind it, so
//! that a solver that has answered is as good as new. One that has not, or said something else, is ended. Forgeries
//! of one proof put mostly the same questions: what a solver has answered is not asked again.

use std::collections::HashMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::fs::symlink;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use selvedge_check::Solvers;

/// What the name of the small program ends with. It is a link to this program.
const RELAY: &str = "relay";

/// The time that a solver has for a question.
const PATIENCE: Duration = Duration::from_secs(4);

/// A solver is ended after this many questions, so that it does not grow.
const USES: usize = 5_000;

/// The answers that are kept. Beyond them all are forgotten.
const MOST_ANSWERS: usize = 20_000;

/// The first line of the judge, which a solver takes only once.
const FIRST: &str = "(set-logic ALL)";

/// A folder with small programs that stand for solvers. It is removed at the end.
pub struct Pool {
    folder: PathBuf,
    /// The programs to name to the judge.
    pub solvers: Solvers,
}

impl Pool {
    /// Lets solvers be shared.
    pub fn new(solvers: &Solvers) -> io::Result<Pool> {
        let folder = std::env::temp_dir().join(format!("selvedge-solvers-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let mut pool = Pool { folder, solvers: Solvers::default() };
        if let Some(path) = &solvers.z3 {
            pool.solvers.z3 = Some(pool.share("z3", path, &["-smt2", "-in"])?.into());
        }
        if let Some(path) = &solvers.cvc5 {
            pool.solvers.cvc5 = Some(pool.share("cvc5", path, &["--lang", "smt2", "--incremental"])?.into());
        }
        Ok(pool)
    }

    /// Starts to serve a solver, and returns the program that stands for it.
    fn share(&self, name: &str, path: &Path, args: &'static [&'static str]) -> io::Result<PathBuf> {
        let listener = UnixListener::bind(self.folder.join(name).with_extension("socket"))?;
        let link = self.folder.join(name).with_extension(RELAY);
        symlink(std::env::current_exe()?, &link)?;
        let shared =
            Arc::new(Shared { path: path.to_path_buf(), args, idle: Mutex::default(), answers: Mutex::default() });
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                // Without a solver, or without the judge, the stream is closed, which the other side notices.
                thread::spawn(move || shared.serve(stream));
            }
        });
        Ok(link)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A solver that judgements share.
struct Shared {
    path: PathBuf,
    args: &'static [&'static str],
    /// Processes of it that no judgement uses.
    idle: Mutex<Vec<Warm>>,
    /// Its answers, by question.
    answers: Mutex<HashMap<String, String>>,
}

impl Shared {
    /// Answers the questions of one judgement.
    fn serve(&self, stream: UnixStream) -> io::Result<()> {
        let mut answers = stream.try_clone()?;
        let mut warm = None;
        let mut question = String::new();
        for line in BufReader::new(stream).lines() {
            let line = line?;
            if line == FIRST {
                continue;
            }
            question = question + &line + "\n";
            if line == "(pop 1)" {
                let Some(answer) = self.answer(std::mem::take(&mut question), &mut warm)? else { return Ok(()) };
                writeln!(answers, "{answer}")?;
            }
        }
        if let Some(warm) = warm.filter(|warm| warm.uses < USES) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(warm);
        }
        Ok(())
    }

    /// Returns the answer to a question, with a process that is taken or started when it is first needed; `None` if
    /// there is none in time.
    fn answer(&self, question: String, warm: &mut Option<Warm>) -> io::Result<Option<String>> {
        let known = self.answers.lock().unwrap_or_else(PoisonError::into_inner).get(&question).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let mut solver = match warm.take().or_else(|| self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()) {
            Some(solver) => solver,
            None => Warm::start(&self.path, self.args)?,
        };
        solver.uses += 1;
        solver.input.write_all(question.as_bytes())?;
        let Ok(answer) = solver.lines.recv_timeout(PATIENCE) else { return Ok(None) };
        if ["sat", "unsat"].contains(&answer.as_str()) {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            if answers.len() >= MOST_ANSWERS {
                answers.clear();
            }
            answers.insert(question, answer.clone());
            *warm = Some(solver);
        }
        Ok(Some(answer))
    }
}

/// A solver that runs.
struct Warm {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    /// The questions that it was asked.
    uses: usize,
}

impl Drop for Warm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Warm {
    fn start(path: &Path, args: &[&str]) -> io::Result<Warm> {
        let mut command = Command::new(path);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).all(|line| sender.send(line).is_ok())
        });
        writeln!(input, "{FIRST}")?;
        Ok(Warm { child, input, lines, uses: 0 })
    }
}

/// Does the work of the small program, if this program was started as one.
pub fn relay() -> Option<ExitCode> {
    let link = PathBuf::from(std::env::args_os().next()?);
    if link.extension()? != RELAY {
        return None;
    }
    Some(match hand_over(&link.with_extension("socket")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

/// Hands over what comes in, and hands back the answers.
fn hand_over(socket: &Path) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    let mut questions = stream.try_clone()?;
    thread::spawn(move || {
        let copied = io::copy(&mut io::stdin().lock(), &mut questions);
        copied.and_then(|_| questions.shutdown(Shutdown::Write))
    });
    let mut output = io::stdout().lock();
    let mut buffer = [0; 4096];
    loop {
        match io::Read::read(&mut stream, &mut buffer)? {
            0 => return Ok(()),
            count => output.write_all(&buffer[..count]).and_then(|()| output.flush())?,
        }
    }
}
