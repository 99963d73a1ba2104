//! `selvedge test`: do the programs of a folder have the verdicts that their headers say?
//!
//! Each program is checked by a process of its own, within its own limits, so that one that fails badly does not take
//! the others with it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selvedge_frontend::files::read_regular;
use selvedge_frontend::{Expected, Source, expected_verdict};
use selvedge_report::Tone;
use selvedge_report::names::count;
use serde_json::Value;

use super::{files, junit};
use crate::args::{LimitArgs, TestArgs};
use crate::commands::children::{self, Ended};
use crate::exit::Exit;
use crate::outputs;
use crate::session::Session;

/// A program with the verdict that it should have.
pub(super) struct Case {
    pub(super) path: PathBuf,
    pub(super) expected: Expected,
    /// The line of the header, from 1.
    pub(super) line: usize,
}

/// The result of a case.
pub(super) struct CaseResult {
    pub(super) end: CaseEnd,
    /// What the check says: `unsafe`, `safe (uncertified)`, ..
    pub(super) headline: String,
    pub(super) time: Duration,
    exit: Exit,
}

/// The end of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CaseEnd {
    /// The verdict is the expected one.
    Passed,
    /// It is another one; a sentence says so.
    Wrong(String),
    /// There is none, for this reason.
    Undecided(String),
}

pub(crate) fn run(args: &TestArgs, session: &Session) -> Result<Exit, Exit> {
    let start = Instant::now();
    let paths = files::programs(&args.paths).map_err(|message| session.refuse(Exit::Input, message))?;
    let (cases, n_without) = cases(&paths).map_err(|message| session.refuse(Exit::Input, message))?;
    if cases.is_empty() {
        let message = format!("no program with a line `// verdict: ..` among {}", count(paths.len(), "program"));
        return Err(session.refuse(Exit::Input, message));
    }
    let tell = |case: &Case, result: &CaseResult| {
        if !args.quiet || result.end != CaseEnd::Passed {
            session.printer.out(&line(case, result, session));
        }
    };
    let jobs = children::jobs(args.jobs).min(cases.len());
    let limits = args.limits.shared(jobs);
    let work = |case: &Case| check(case, limits, args.certified, session);
    let results = children::in_parallel(&cases, jobs, work, tell);
    if session.cancel.is_cancelled() {
        return Err(session.refuse(Exit::Interrupted, "interrupted"));
    }
    session.printer.out(&summary(&results, n_without, start.elapsed()));
    let worst = Exit::worst(results.iter().map(|result| result.exit));
    let Some(path) = &args.junit else { return Ok(worst) };
    let written = outputs::write(path, &junit::report(&cases, &results, start.elapsed()), session);
    Ok(Exit::worst([worst, written]))
}

/// Reads the headers of programs; the number tells how many have none.
fn cases(paths: &[PathBuf]) -> Result<(Vec<Case>, usize), String> {
    let mut cases = Vec::new();
    let mut n_without = 0;
    for path in paths {
        let name = outputs::shown(path);
        let bytes = read_regular(path).map_err(|error| format!("cannot read {name}: {error}"))?;
        let source = Source::from_bytes(name.clone(), bytes);
        match expected_verdict(source.text()) {
            Some((line, Ok(expected))) => cases.push(Case { path: path.clone(), expected, line }),
            Some((line, Err(word))) => {
                return Err(format!("{name}:{line}: `{word}` is not a verdict: write `safe` or `unsafe`"));
            }
            None => n_without += 1,
        }
    }
    Ok((cases, n_without))
}

/// Checks a program in a process of its own.
fn check(case: &Case, limits: LimitArgs, needs_certificate: bool, session: &Session) -> CaseResult {
    let mut words: Vec<String> = ["check", "--format", "json", "--jobs", "1"].map(str::to_string).to_vec();
    words.extend(children::limit_words(limits));
    words.push(argument(&case.path));
    match children::run(&words, session, &mut || true) {
        Ok(ended) => judged(case, &ended, needs_certificate),
        Err(message) => CaseResult::undecided(message, Duration::ZERO, Exit::Internal),
    }
}

/// Returns a path as an argument that is not taken for an option.
pub(crate) fn argument(path: &Path) -> String {
    let text = path.to_string_lossy();
    if text.starts_with('-') { format!("./{text}") } else { text.into_owned() }
}

fn judged(case: &Case, ended: &Ended, needs_certificate: bool) -> CaseResult {
    let report: Value = serde_json::from_str(&ended.output).unwrap_or_default();
    let result = &report["results"][0];
    let code = ended.code.and_then(|code| u8::try_from(code).ok());
    let exit = Exit::ALL.into_iter().find(|exit| Some(exit.code()) == code).unwrap_or(Exit::Internal);
    let headline = result["headline"].as_str().unwrap_or("error").to_string();
    let verdict = result["verdict"].as_str().unwrap_or("error");
    let is_uncertified = needs_certificate && verdict == "safe" && result["answer"]["certified"] != true;
    if verdict == case.expected.word() && !is_uncertified {
        return CaseResult { end: CaseEnd::Passed, headline, time: ended.time, exit: Exit::Success };
    }
    if matches!(verdict, "safe" | "unsafe") {
        let message = format!("expected {}, but it is {headline}", case.expected.word());
        return CaseResult { end: CaseEnd::Wrong(message), headline, time: ended.time, exit: Exit::Unsafe };
    }
    let reason = result["reason"].as_str().map(str::to_string);
    let silence = if ended.code.is_none() { "the system ended it" } else { "it ended without a report" };
    let reason = reason.unwrap_or_else(|| ended.errors.lines().next().unwrap_or(silence).to_string());
    let first = &result["diagnostics"].as_array().and_then(|all| all.iter().find(|one| one["severity"] == "error"));
    let place = first.map_or(String::new(), |one| {
        format!(": line {}: {}", one["span"]["line"], one["message"].as_str().unwrap_or_default())
    });
    CaseResult::undecided(format!("{reason}{place}"), ended.time, exit)
}

impl CaseResult {
    fn undecided(reason: String, time: Duration, exit: Exit) -> CaseResult {
        CaseResult { end: CaseEnd::Undecided(reason), headline: "unknown".to_string(), time, exit }
    }
}

/// Returns the line about a case.
fn line(case: &Case, result: &CaseResult, session: &Session) -> String {
    let (word, tone, rest) = match &result.end {
        CaseEnd::Passed => ("ok       ", Tone::Good, result.headline.clone()),
        CaseEnd::Wrong(message) => ("WRONG    ", Tone::Bad, message.clone()),
        CaseEnd::Undecided(reason) => ("undecided", Tone::Open, format!("expected {}: {reason}", case.expected.word())),
    };
    let (name, seconds) = (outputs::shown(&case.path), result.time.as_secs_f64());
    let place = if result.end == CaseEnd::Passed { name } else { format!("{name}:{}", case.line) };
    let style = session.printer.out_palette().tone(tone);
    format!("{style}{word}{style:#} {place}: {rest} ({seconds:.3} s)\n")
}

fn summary(results: &[CaseResult], n_without: usize, time: Duration) -> String {
    let of = |is_counted: fn(&CaseEnd) -> bool| results.iter().filter(|result| is_counted(&result.end)).count();
    let passed = of(|end| *end == CaseEnd::Passed);
    let wrong = of(|end| matches!(end, CaseEnd::Wrong(_)));
    let undecided = of(|end| matches!(end, CaseEnd::Undecided(_)));
    let without = match n_without {
        0 => String::new(),
        n_without => format!("; {} without a verdict left out", count(n_without, "program")),
    };
    let programs = count(results.len(), "program");
    format!("{programs}: {passed} ok, {wrong} wrong, {undecided} undecided{without} ({:.1} s)\n", time.as_secs_f64())
}
