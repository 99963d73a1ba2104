//! Solvers that stay alive between judgements.
//!
//! The judge starts the solvers for each certificate, which takes much longer than most of its questions. Nothing of
//! the judge is changed for its trials: it starts a small program, which hands its questions to a solver that another
//! judgement has left, and hands back the answers. Each question is on a level of its own that is popped behind it, so
//! that a solver that has answered is as good as new. One that has not, or said something else, is ended.

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

/// A solver is ended after this many certificates, so that it does not grow.
const USES: usize = 500;

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
        let (path, idle) = (path.to_path_buf(), Arc::new(Mutex::new(Vec::new())));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (path, idle) = (path.clone(), Arc::clone(&idle));
                thread::spawn(move || {
                    let waiting = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let warm = waiting.map_or_else(|| Warm::start(&path, args), Ok);
                    // Without a solver, or without the judge, the stream is closed, which the other side notices.
                    if let Ok(Some(warm)) = warm.and_then(|warm| warm.serve(stream)) {
                        idle.lock().unwrap_or_else(PoisonError::into_inner).push(warm);
                    }
                });
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

/// A solver that runs.
struct Warm {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
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

    /// Answers the questions of one judgement; returns the solver if it can answer more.
    fn serve(mut self, stream: UnixStream) -> io::Result<Option<Warm>> {
        self.uses += 1;
        let mut answers = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            let line = line?;
            if line == FIRST {
                continue;
            }
            writeln!(self.input, "{line}")?;
            if line != "(pop 1)" {
                continue;
            }
            let Ok(answer) = self.lines.recv_timeout(PATIENCE) else { return Ok(None) };
            writeln!(answers, "{answer}")?;
            if !["sat", "unsat", "unknown"].contains(&answer.as_str()) {
                return Ok(None);
            }
        }
        Ok((self.uses < USES).then_some(self))
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
