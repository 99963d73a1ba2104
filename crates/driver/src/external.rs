//! Other programs on this machine that answer the same question, for comparisons.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use selvedge_check::{Run, Solvers, Stop};

mod spin;

pub use spin::{Code, Pan, Room, Search, Spin, Storage, read as read_search};

/// A program that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spacer {
    path: PathBuf,
}

/// The verdict of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExternalVerdict {
    /// No error can be reached.
    Safe,
    /// An error can be reached.
    Unsafe,
    /// Something else; its first line.
    Other(String),
}

/// Why another program said nothing.
#[derive(Debug)]
pub enum ExternalFailure {
    /// A limit of the run.
    Stop(Stop),
    /// It could not be run.
    Failed(std::io::Error),
}

/// The time between two looks at a running program.
const PAUSE: Duration = Duration::from_millis(1);

impl Spacer {
    /// Looks for `z3` where programs are, and in a folder `.tools` here or above.
    pub fn find() -> Option<Spacer> {
        find_program("z3", ".tools/z3/bin").map(|path| Spacer { path })
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Decides Horn clauses in which `sat` means safe. One answer is expected.
    pub fn decide(&self, clauses: &str, run: &Run<'_>) -> Result<ExternalVerdict, ExternalFailure> {
        let answers = self.decide_all(clauses, run)?;
        Ok(answers.into_iter().next().unwrap_or(ExternalVerdict::Other("no answer".to_string())))
    }

    /// The answers to a text with several questions, in order.
    pub fn decide_all(&self, clauses: &str, run: &Run<'_>) -> Result<Vec<ExternalVerdict>, ExternalFailure> {
        let mut command = Command::new(&self.path);
        command.args(["-smt2", "-in"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(ExternalFailure::Failed)?;
        let text = converse(&mut child, clauses, run);
        if text.is_err() {
            // It may have ended in the meantime, which is as good.
            let _ = child.kill();
        }
        child.wait().map_err(ExternalFailure::Failed)?;
        Ok(text?.lines().map(word).collect())
    }
}

/// The SMT solvers of this machine: those that the caller names, else those where programs are, else those in a folder
/// `.tools` here or above.
pub fn find_solvers(named: &Solvers) -> Solvers {
    let find = |name: &str, folder: &str| find_program(name, folder).map(|path| Arc::from(path.as_path()));
    Solvers {
        z3: named.z3.clone().or_else(|| find("z3", ".tools/z3/bin")),
        cvc5: named.cvc5.clone().or_else(|| find("cvc5", ".tools/cvc5/bin")),
    }
}

/// Looks for a program where programs are, and in a folder here or above.
fn find_program(name: &str, folder: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let on_path = std::env::var_os("PATH");
    let on_path = on_path.iter().flat_map(std::env::split_paths).map(|folder| folder.join(&name));
    let here = std::env::current_dir().unwrap_or_default();
    let tools = here.ancestors().map(|above| above.join(folder).join(&name));
    on_path.chain(tools).find(|path| is_file(path))
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file())
}

/// Writes to a program and reads from it, each on its own thread, until it has closed its output.
fn converse(child: &mut Child, input: &str, run: &Run<'_>) -> Result<String, ExternalFailure> {
    let (mut stdin, mut stdout) = (child.stdin.take(), child.stdout.take());
    let input = input.to_string();
    let writer = std::thread::spawn(move || {
        // A program that stops reading has its reasons; its output tells.
        stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(input.as_bytes()))
    });
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.as_mut().map_or(Ok(0), |stdout| stdout.read_to_string(&mut text)).map(|_| text)
    });
    while !reader.is_finished() {
        run.check_limits().map_err(ExternalFailure::Stop)?;
        std::thread::sleep(PAUSE);
    }
    drop(writer.join());
    let text = reader.join().unwrap_or_else(|_| Err(std::io::Error::other("the reading thread failed")));
    text.map_err(ExternalFailure::Failed)
}

fn word(line: &str) -> ExternalVerdict {
    match line.trim() {
        "sat" => ExternalVerdict::Safe,
        "unsat" => ExternalVerdict::Unsafe,
        other => ExternalVerdict::Other(other.to_string()),
    }
}
