//! `selvedge doctor`: which other programs are installed, and how to install the rest.

use std::path::Path;
use std::process::{Command, Stdio};

use selvedge_driver::external::Spin;

use crate::exit::Exit;
use crate::session::Session;

/// A program that selvedge can make use of.
struct Tool<'t> {
    name: &'static str,
    path: Option<&'t Path>,
    /// The argument that makes it print its version.
    question: &'static str,
    purpose: &'static str,
    install: &'static str,
}

pub(crate) fn run(session: &Session) -> Exit {
    let spin = Spin::find();
    let tools = [
        Tool {
            name: "z3",
            path: session.solvers.z3.as_deref(),
            question: "--version",
            purpose: "programs with integers (.gcl), their certificates, and `crosscheck`",
            install: "pip install --target .tools/z3 z3-solver, or apt-get install z3; or set SELVEDGE_Z3 to its path",
        },
        Tool {
            name: "cvc5",
            path: session.solvers.cvc5.as_deref(),
            question: "--version",
            purpose: "the other judge of proofs about integers: z3 and cvc5 must agree, or an answer is not certified",
            install: "a binary from the releases of cvc5 in PATH or in .tools/cvc5/bin; or set SELVEDGE_CVC5 to its \
                      path",
        },
        Tool {
            name: "spin",
            path: spin.as_ref().map(Spin::path),
            question: "-V",
            purpose: "`crosscheck` of programs with a bounded number of threads",
            install: "apt-get install spin, or its binary in .tools/spin/bin",
        },
    ];
    tools.iter().for_each(|tool| session.printer.out(&told(tool)));
    let starts = |tool: &&Tool<'_>| tool.path.is_some_and(|path| version(path, tool.question).is_some());
    let integers = match tools[..2].iter().filter(starts).count() {
        0 => "Boolean programs are checked; programs with integers need z3.\n",
        1 => {
            "Boolean programs and programs with integers are checked. With one solver, proofs about integers are not \
             certified: it would judge its own.\n"
        }
        _ => "Boolean programs and programs with integers are checked.\n",
    };
    session.printer.out(integers);
    Exit::Success
}

fn told(tool: &Tool<'_>) -> String {
    let Some(path) = tool.path else {
        return format!("{}: not found\n  for:     {}\n  install: {}\n", tool.name, tool.purpose, tool.install);
    };
    let state = version(path, tool.question).unwrap_or_else(|| "does not start".to_string());
    format!("{}: {state}\n  for:     {}\n  path:    {}\n", tool.name, tool.purpose, path.display())
}

/// The first line that a program says about itself.
fn version(path: &Path, question: &str) -> Option<String> {
    let mut command = Command::new(path);
    let output = command.arg(question).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_string())
}
