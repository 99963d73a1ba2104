//! Runs the program in the folder of test programs, and writes down what a caller sees.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of a run, as a caller sees it.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The last line on standard output.
    pub(crate) fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or("")
    }
}

pub(crate) fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// The program with these arguments, separated by blanks.
pub(crate) fn command(args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_selvedge"));
    command.args(args.split_whitespace()).current_dir(programs()).env_remove("NO_COLOR");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn run(args: &str) -> Ran {
    let output = command(args).output().expect("the program was built");
    Ran {
        code: output.status.code().expect("the program ends by itself"),
        out: String::from_utf8(output.stdout).expect("output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

pub(crate) fn run_with_stdin(args: &str, stdin: &[u8]) -> Ran {
    let mut child = command(args).stdin(Stdio::piped()).spawn().expect("the program was built");
    child.stdin.take().expect("it was piped").write_all(stdin).expect("the program reads it");
    let output = child.wait_with_output().expect("the program ends");
    Ran {
        code: output.status.code().expect("the program ends by itself"),
        out: String::from_utf8(output.stdout).expect("output is UTF-8"),
        err: String::from_utf8(output.stderr).expect("output is UTF-8"),
    }
}

/// A path in a folder for this test run.
pub(crate) fn scratch(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

/// Exit code, output and errors, without what differs from run to run.
pub(crate) fn transcript(args: &str, ran: &Ran) -> String {
    let text = format!(
        "$ selvedge {args}\nexit code {}\n── standard output\n{}── standard error\n{}",
        ran.code, ran.out, ran.err
    );
    let text = text.replace(env!("CARGO_TARGET_TMPDIR"), "[tmp]").replace(env!("CARGO_PKG_VERSION"), "[version]");
    without_times(&text)
}

/// Numbers with a decimal point become `[time]`.
fn without_times(text: &str) -> String {
    let mut redacted = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        redacted.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && !"+-.e".contains(c)).unwrap_or(rest.len());
        let is_time = rest[..end].parse::<f64>().is_ok() && rest[..end].contains(['.', 'e']);
        redacted.push_str(if is_time { "[time]" } else { &rest[..end] });
        rest = &rest[end..];
    }
    redacted + rest
}

/// Runs the program and compares the transcript with the kept one.
macro_rules! snapshot {
    ($name:literal, $args:expr) => {
        insta::assert_snapshot!($name, $crate::harness::transcript($args, &$crate::harness::run($args)))
    };
}
pub(crate) use snapshot;
