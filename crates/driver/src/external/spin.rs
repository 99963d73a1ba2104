//! SPIN: a model in Promela becomes a program in C, which is compiled and searches.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use selvedge_check::Run;

use super::{ExternalFailure, ExternalVerdict, PAUSE, find_program};

/// SPIN and the compiler that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    spin: PathBuf,
    compiler: PathBuf,
}

/// The storage of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// As they are: fast.
    Plain,
    /// In parts that are stored once: small.
    Collapsed,
}

/// The compiler's optimization of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// To be ready soon: for many small models.
    Quick,
    /// To run fast.
    Fast,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The verdict.
    pub word: ExternalVerdict,
    /// The number of stored states.
    pub states: Option<u64>,
    /// The longest run that was followed, in steps.
    pub depth: Option<u64>,
}

/// The memory that a search allocates and touches before it begins: for small models that is most of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// The longest run that it can follow, in steps; it is not complete if there are longer ones.
    pub depth: u64,
    /// The size of its table of states, as a power of two.
    pub table: u32,
}

impl Room {
    /// For models with few states.
    pub const SMALL: Room = Room { depth: 100_000, table: 18 };
    /// For models with many.
    pub const LARGE: Room = Room { depth: 10_000_000, table: 24 };

    /// As much as a search has used that was completed.
    pub fn fitting(search: &Search) -> Room {
        let states = search.states.unwrap_or(0).max(1);
        Room { depth: search.depth.unwrap_or(0) + 1_000, table: (64 - states.leading_zeros()).clamp(16, 28) }
    }
}

impl Spin {
    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.spin
    }

    /// Looks for `spin` and a C compiler where programs are, and for the former in a folder `.tools` here or above.
    pub fn find() -> Option<Spin> {
        let spin = find_program("spin", ".tools/spin/bin")?;
        let compiler = ["gcc", "cc", "clang"].iter().find_map(|name| find_program(name, ".tools/bin"))?;
        Some(Spin { spin, compiler })
    }

    /// Makes the program that searches, in a folder of its own; `megabytes` is the memory that it may use.
    pub fn compile(
        &self,
        model: &str,
        folder: &Path,
        (code, storage): (Code, Storage),
        megabytes: u64,
        run: &Run<'_>,
    ) -> Result<Pan, ExternalFailure> {
        std::fs::create_dir_all(folder).map_err(ExternalFailure::Failed)?;
        std::fs::write(folder.join("model.pml"), model).map_err(ExternalFailure::Failed)?;
        let mut generate = Command::new(&self.spin);
        generate.args(["-a", "model.pml"]);
        finish(&mut generate, folder, "spin", run)?;
        let mut compile = Command::new(&self.compiler);
        compile.arg(if code == Code::Fast { "-O2" } else { "-O0" });
        compile.args(["-w", "-DSAFETY", "-DNOFAIR", "-DVECTORSZ=8192"]).arg(format!("-DMEMLIM={megabytes}"));
        if storage == Storage::Collapsed {
            compile.arg("-DCOLLAPSE");
        }
        compile.args(["-o", "pan", "pan.c"]);
        finish(&mut compile, folder, "the C compiler", run)?;
        Ok(Pan { folder: folder.to_path_buf() })
    }

    /// Decides a model, in a folder of its own that it leaves behind.
    pub fn decide(
        &self,
        model: &str,
        folder: &Path,
        code: Code,
        megabytes: u64,
        run: &Run<'_>,
    ) -> Result<Search, ExternalFailure> {
        let pan = self.compile(model, folder, (code, Storage::Plain), megabytes, run)?;
        match pan.search(Room::SMALL, run)? {
            Search { word: ExternalVerdict::Other(_), .. } => pan.search(Room::LARGE, run),
            search => Ok(search),
        }
    }
}

/// A program that searches one model, with partial-order reduction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pan {
    folder: PathBuf,
}

impl Pan {
    /// The command that searches. Deadlock is not an error.
    pub fn command(&self, room: Room) -> Command {
        let mut search = Command::new(self.folder.join("pan"));
        search.args(["-E", "-n", &format!("-m{}", room.depth), &format!("-w{}", room.table)]);
        search.current_dir(&self.folder);
        search
    }

    /// Searches.
    pub fn search(&self, room: Room, run: &Run<'_>) -> Result<Search, ExternalFailure> {
        finish(&mut self.command(room), &self.folder, "pan", run).map(|text| read(&text))
    }
}

/// Runs a program to its end and returns what it prints; one that fails without a word is an error.
fn finish(command: &mut Command, folder: &Path, name: &str, run: &Run<'_>) -> Result<String, ExternalFailure> {
    let path = folder.join("output.txt");
    let output = std::fs::File::create(&path).map_err(ExternalFailure::Failed)?;
    let errors = output.try_clone().map_err(ExternalFailure::Failed)?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors).current_dir(folder);
    let mut child = command.spawn().map_err(ExternalFailure::Failed)?;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(ExternalFailure::Failed)? {
            break status;
        }
        if let Err(stop) = run.check_limits() {
            // It may have ended in the meantime, which is as good.
            let _ = child.kill();
            child.wait().map_err(ExternalFailure::Failed)?;
            return Err(ExternalFailure::Stop(stop));
        }
        std::thread::sleep(PAUSE.max(Duration::from_millis(1)));
    };
    let text = String::from_utf8_lossy(&std::fs::read(&path).map_err(ExternalFailure::Failed)?).into_owned();
    if status.success() || name == "pan" {
        return Ok(text);
    }
    let lines: Vec<&str> = text.lines().take(5).collect();
    Err(ExternalFailure::Failed(std::io::Error::other(format!("{name} failed: {}", lines.join("; ")))))
}

/// The verdict in the output of a search.
pub fn read(text: &str) -> Search {
    let states = text.lines().find_map(|line| line.trim().strip_suffix(" states, stored")?.trim().parse().ok());
    let depth = text.lines().find_map(|line| line.split_once("depth reached ")?.1.split(',').next()?.parse().ok());
    let errors = text.lines().find_map(|line| line.split_once("errors: ")?.1.trim().parse::<u64>().ok());
    let says = |words: &str| text.contains(words);
    let word = match errors {
        _ if says("assertion violated") => ExternalVerdict::Unsafe,
        _ if says("max search depth too small") => {
            ExternalVerdict::Other("the limit on the depth of the search was reached".to_string())
        }
        _ if says("out of memory") => ExternalVerdict::Other("the memory limit was reached".to_string()),
        Some(0) if !says("Search not completed") => ExternalVerdict::Safe,
        _ => ExternalVerdict::Other(text.lines().next().unwrap_or("no answer").to_string()),
    };
    Search { word, states, depth }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_states_are_read_off_the_output() {
        let safe = "State-vector 20 byte, depth reached 9, errors: 0\n       12 states, stored\n";
        assert_eq!(read(safe), Search { word: ExternalVerdict::Safe, states: Some(12), depth: Some(9) });
        let failed = "pan:1: assertion violated 0 (at depth 4)\n...\nWarning: Search not completed\nx, errors: 1\n";
        assert_eq!(read(failed).word, ExternalVerdict::Unsafe);
        let deep = "error: max search depth too small\nState-vector 20 byte, depth reached 9, errors: 0\n";
        assert!(matches!(read(deep).word, ExternalVerdict::Other(_)));
        assert!(matches!(read("").word, ExternalVerdict::Other(_)));
        assert!(matches!(read("pan: out of memory\nx, errors: 0\n").word, ExternalVerdict::Other(_)));
    }
}
