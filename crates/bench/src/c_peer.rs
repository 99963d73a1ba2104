//! CBMC as a peer on C programs: bounded, with the same number of rounds of each loop for all programs.
//!
//! Where an unwinding assertion fails and nothing else does, CBMC has not decided the program. It knows no annotations:
//! `//@ assert` becomes an assertion of its own, as one step, in a copy of the program. It has no question about races.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::c::{Case, Said, unknown};
use crate::measure::measure;

/// The number of rounds of each loop.
const ROUNDS: u32 = 5;

/// The program `cbmc`.
pub struct Cbmc {
    path: PathBuf,
    /// What it says about itself.
    version: String,
}

impl Cbmc {
    /// Looks for the program that `SELVEDGE_CBMC` names, else for `cbmc`.
    pub fn find() -> Option<Cbmc> {
        let path = std::env::var_os("SELVEDGE_CBMC").map_or_else(|| PathBuf::from("cbmc"), PathBuf::from);
        let told = Command::new(&path).arg("--version").output().ok().filter(|told| told.status.success())?;
        let version = String::from_utf8_lossy(&told.stdout).split_whitespace().next()?.to_owned();
        Some(Cbmc { path, version })
    }

    /// Returns how it is named in tables.
    pub fn name(&self) -> String {
        format!("CBMC {}, {ROUNDS} rounds of each loop", self.version)
    }

    /// Asks about a program.
    pub fn ask(&self, case: &Case, limit: Duration) -> io::Result<Said> {
        if case.races {
            return Ok(unknown("not asked: there is no question about races"));
        }
        let text = String::from_utf8_lossy(&std::fs::read(&case.path)?).into_owned();
        let copy = std::env::temp_dir().join(format!("selvedge-cbmc-{}.c", std::process::id()));
        std::fs::write(&copy, with_assertions(&text))?;
        let said = self.run(case, &copy, limit);
        std::fs::remove_file(&copy)?;
        said
    }

    fn run(&self, case: &Case, copy: &Path, limit: Duration) -> io::Result<Said> {
        let mut command = Command::new(&self.path);
        command.arg(copy).args(["--unwind", &ROUNDS.to_string(), "--unwinding-assertions", "--no-standard-checks"]);
        command.args(["begin", "end"].map(|word| format!("-D__VERIFIER_atomic_{word}=__CPROVER_atomic_{word}")));
        command.args(case.defines.iter().map(|(name, body)| format!("-D{name}={body}")));
        let beside = case.path.parent().map(Path::to_path_buf);
        command.args(case.include.iter().chain(&beside).flat_map(|folder| ["-I".into(), folder.clone()]));
        command.args(["--error-label", case.label.as_deref().unwrap_or("ERROR")]);
        let record = measure(&mut command, limit, &|output, _| output.to_owned())?;
        Ok(Said { seconds: record.seconds, ..said(&record.verdict) })
    }
}

/// Returns a text in which annotations are assertions.
fn with_assertions(text: &str) -> String {
    let annotated = |line: &str| {
        let (before, condition) = line.split_once("//@ assert ")?;
        let condition = condition.split(';').next()?.replace("\\true", "1").replace("\\false", "0");
        let asserted = format!("__CPROVER_assert(({condition}), \"annotation\");");
        Some(format!("{before}__CPROVER_atomic_begin(); {asserted} __CPROVER_atomic_end();"))
    };
    let line = |line: &str| annotated(line).unwrap_or_else(|| line.to_owned()) + "\n";
    text.lines().map(line).collect()
}

/// Reads the output.
fn said(output: &str) -> Said {
    let failures: Vec<&str> = output.lines().filter(|line| line.trim_end().ends_with(": FAILURE")).collect();
    let is_error = |line: &&&str| !line.contains("unwinding assertion") && !line.contains("recursion unwinding");
    let decided = |verdict: &str| Said { verdict: verdict.to_owned(), by: "cbmc".to_owned(), ..Said::default() };
    match output.lines().rfind(|line| line.starts_with("VERIFICATION")) {
        Some("VERIFICATION SUCCESSFUL") => decided("safe"),
        Some("VERIFICATION FAILED") if failures.iter().any(|line| is_error(&line)) => decided("unsafe"),
        Some("VERIFICATION FAILED") => unknown("more rounds of a loop are possible"),
        _ => unknown("no answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_unwinding_assertion_decides_nothing() {
        let unwinding = "[main.unwind.0] line 3 unwinding assertion loop 0: FAILURE\nVERIFICATION FAILED\n";
        assert_eq!(said(unwinding).verdict, "unknown");
        let error = "[main.assertion.1] line 5 assertion x == 2: FAILURE\n";
        assert_eq!(said(&format!("{error}{unwinding}")).verdict, "unsafe");
        assert_eq!(said("VERIFICATION SUCCESSFUL\n").verdict, "safe");
        assert_eq!(said("").verdict, "unknown");
    }

    #[test]
    fn annotations_become_assertions_in_one_step() {
        let text = "  //@ assert x == 1;\nint y;\n";
        let asserted = "__CPROVER_assert((x == 1), \"annotation\");";
        let expected = format!("  __CPROVER_atomic_begin(); {asserted} __CPROVER_atomic_end();\nint y;\n");
        assert_eq!(with_assertions(text), expected);
    }
}
