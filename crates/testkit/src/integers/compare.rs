//! All engines for integers on one program: verdicts agree, evidence was judged, and the search over a box finds no
//! error in a program that an engine calls safe.

use std::time::Duration;

use selvedge_check::{CancelToken, Limits, Outcome, Run, Solvers, Subject, Task, ThreadScope};
use selvedge_driver::{Failure, Options, check};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::gcl;
use selvedge_ir::Target;

use super::boxed::{Bounds, Found, search};
use super::generate;
use crate::harness::{CERTIFICATES, COMPARISONS, Campaign, Fault, Tally, fault};

/// The time limit of an engine for one program.
const PATIENCE: Duration = Duration::from_secs(5);

/// The comparison of all engines for integers on generated guarded commands.
pub struct Integers {
    /// The solvers that engines and the judge use.
    pub solvers: Solvers,
}

impl Campaign for Integers {
    type Subject = String;

    fn subject(&self, seed: u64, number: u64) -> String {
        generate::program(seed, number)
    }

    fn compare(&self, text: &String, _: u64, tally: &mut Tally) -> Result<(), Fault> {
        compare(text, &self.solvers, tally)
    }

    fn shrink(&self, text: String, fails: &mut dyn FnMut(&String) -> bool) -> String {
        generate::shrink(text, fails)
    }

    fn show(&self, text: &String) -> String {
        text.clone()
    }
}

/// Returns the engines that support guarded commands.
pub fn engines(text: &str) -> Vec<EngineKind> {
    let loaded = gcl::load(text);
    let Some(program) = &loaded.program else { return Vec::new() };
    let target = Target::all_asserts(program);
    let task = Task { program, target: &target, threads: ThreadScope::Unbounded };
    let options = EngineOptions::default();
    let takes = |kind: &EngineKind| build(*kind, &options).supports(&task).is_ok();
    EngineKind::ALL.iter().copied().filter(takes).collect()
}

/// Runs all engines on a program: no engine calls it safe if another one, or the search over a box, finds an error.
fn compare(text: &str, solvers: &Solvers, tally: &mut Tally) -> Result<(), Fault> {
    let loaded = gcl::load(text);
    let Some(program) = &loaded.program else { return fault("read", "the program is not read") };
    let target = Target::all_asserts(program);
    let bounds = Bounds { size: 12, inputs: 3, states: 2_000 };
    let (mut safe, mut errors) = (Vec::new(), Vec::new());
    if matches!(search(program, &target, bounds), Found::Error(_)) {
        tally.count("errors in the box");
        errors.push("the search over a box");
    }
    for kind in engines(text) {
        let options = Options { engine: Some(kind.row()), ..Options::default() };
        let limits = Limits { time: Some(PATIENCE), ..Limits::default() };
        let run = Run::new(CancelToken::default(), limits, &()).with_solvers(solvers.clone());
        let subject = Subject { program, map: &loaded.source_map, text };
        let answer = match check(subject, &options, &run) {
            Ok(answer) => answer,
            Err(Failure::Internal { engine, message }) => return fault(engine, format!("the judge says: {message}")),
            Err(failure) => return fault(kind.name(), failure.to_string()),
        };
        let certified = answer.certified();
        let word = match answer.outcome {
            Outcome::Safe(_) => {
                safe.push(kind.name());
                if certified == Some(true) {
                    tally.count(CERTIFICATES);
                    "safe, certified"
                } else {
                    "safe"
                }
            }
            Outcome::Unsafe(_) => {
                errors.push(kind.name());
                "unsafe"
            }
            Outcome::Unknown(_) => "open",
        };
        tally.count(if word == "open" { "undecided" } else { COMPARISONS });
        tally.count(format!("{} {word}", kind.name()));
    }
    if safe.is_empty() || errors.is_empty() {
        return Ok(());
    }
    fault("verdict", format!("safe for {}, unsafe for {}", safe.join(", "), errors.join(", ")))
}
