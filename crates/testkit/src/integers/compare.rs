//! All engines for integers on one program: verdicts agree, evidence was judged, and the search over a box finds no error
//! in a program that some engine calls safe.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use selvedge_check::{CancelToken, Limits, Outcome, Run, Solvers, Subject, Task, ThreadScope};
use selvedge_driver::{Failure, Options, check};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::gcl;
use selvedge_ir::Target;

use super::boxed::{Bounds, Found, search};
use super::generate;
use crate::differ::{Fault, fault};
use crate::workers::{Enough, Hang, Items, each};

/// How long an engine may take for one program.
const PATIENCE: Duration = Duration::from_secs(5);

/// What engines said about programs, in numbers.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub programs: u64,
    /// Programs in which the search over the box found an error.
    pub errors_in_box: u64,
    /// For each engine how many programs it called safe, of these with a certificate, unsafe, and left open.
    pub engines: BTreeMap<&'static str, [u64; 4]>,
    /// Programs on which something disagrees, made small.
    pub findings: Vec<(u64, String, Fault)>,
}

/// What came out for one program.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    in_box: bool,
    engines: Vec<(&'static str, Said)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    Certified,
    Safe,
    Unsafe,
    Open,
}

/// The engines that take guarded commands.
pub fn engines(text: &str) -> Vec<EngineKind> {
    let loaded = gcl::load(text);
    let Some(program) = &loaded.program else { return Vec::new() };
    let target = Target::all_asserts(program);
    let task = Task { program, target: &target, threads: ThreadScope::Unbounded };
    let options = EngineOptions::default();
    let takes = |kind: &EngineKind| build(*kind, &options).supports(&task).is_ok();
    EngineKind::ALL.iter().copied().filter(takes).collect()
}

/// Asks everybody about a program.
pub fn compare(text: &str, solvers: &Solvers) -> Result<Compared, Fault> {
    let loaded = gcl::load(text);
    let Some(program) = &loaded.program else { return fault("read", "the program is not read") };
    let target = Target::all_asserts(program);
    let bounds = Bounds { size: 12, inputs: 3, states: 2_000 };
    let in_box = matches!(search(program, &target, bounds), Found::Error(_));
    let mut compared = Compared { in_box, engines: Vec::new() };
    for kind in engines(text) {
        let options = Options { engine: Some(kind), ..Options::default() };
        let limits = Limits { time: Some(PATIENCE), ..Limits::default() };
        let run = Run::new(CancelToken::default(), limits, &()).with_solvers(solvers.clone());
        let subject = Subject { program, map: &loaded.source_map, text };
        let report = match check(subject, &options, &run) {
            Ok(report) => report,
            Err(Failure::Internal { engine, message }) => return fault(engine, format!("the judge says: {message}")),
            Err(failure) => return fault(kind.name(), failure.to_string()),
        };
        let said = match report.outcome {
            Outcome::Safe(Some(_)) => Said::Certified,
            Outcome::Safe(None) => Said::Safe,
            Outcome::Unsafe(_) => Said::Unsafe,
            Outcome::Unknown(_) => Said::Open,
        };
        compared.engines.push((kind.name(), said));
    }
    compared.agreed()
}

impl Compared {
    fn agreed(self) -> Result<Compared, Fault> {
        let who = |wanted: &dyn Fn(Said) -> bool| -> Vec<&'static str> {
            self.engines.iter().filter(|(_, said)| wanted(*said)).map(|(name, _)| *name).collect()
        };
        let safe = who(&|said| matches!(said, Said::Certified | Said::Safe));
        let mut errors = who(&|said| said == Said::Unsafe);
        errors.extend(self.in_box.then_some("the search over a box"));
        if safe.is_empty() || errors.is_empty() {
            return Ok(self);
        }
        fault("verdict", format!("safe for {}, unsafe for {}", safe.join(", "), errors.join(", ")))
    }
}

/// Tries generated programs.
pub fn run(seed: u64, items: Items, solvers: &Solvers, mut progress: impl FnMut(u64, usize)) -> Result<Tally, Hang> {
    let mut tally = Tally::default();
    let asked = solvers.clone();
    let work = move |number| {
        let text = generate::program(seed, number);
        let compared = compare(&text, &asked);
        (compared, text)
    };
    each(items, work, |number, (compared, text)| {
        tally.programs += 1;
        match compared {
            Ok(compared) => tally.add(&compared),
            Err(found) => {
                let mut shows = |text: &str| compare(text, solvers).is_err_and(|fault| fault.stage == found.stage);
                tally.findings.push((number, generate::shrink(&text, &mut shows), found));
            }
        }
        progress(tally.programs, tally.findings.len());
        if tally.findings.len() < 10 { Enough::No } else { Enough::Yes }
    })?;
    Ok(tally)
}

impl Tally {
    fn add(&mut self, compared: &Compared) {
        self.errors_in_box += u64::from(compared.in_box);
        for (engine, said) in &compared.engines {
            let counts = self.engines.entry(engine).or_default();
            counts[0] += u64::from(matches!(said, Said::Certified | Said::Safe));
            counts[1] += u64::from(*said == Said::Certified);
            counts[2] += u64::from(*said == Said::Unsafe);
            counts[3] += u64::from(*said == Said::Open);
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} programs, {} with an error in the box", self.programs, self.errors_in_box)?;
        for (engine, [safe, certified, errors, open]) in &self.engines {
            writeln!(f, "{engine}: {safe} safe ({certified} certified), {errors} unsafe, {open} open")?;
        }
        Ok(())
    }
}
