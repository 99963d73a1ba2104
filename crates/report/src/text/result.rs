//! The result of a check: the verdict with its scope, and the last line.

use std::fmt::Write as _;
use std::time::Duration;

use selvedge_check::{
    Certificate, Contexts, CoverClaim, Cutoff, EveMove, Paths, Refinement, Rounds, Seen, ThreadScope,
};
use selvedge_driver::{LegEnd, Outcome, Reason, Report};
use selvedge_ir::{Count, EdgeId, Entry, LocId, Op, Program, Target};

use super::layout::list;
use super::trace::{Parts, trace_in};
use crate::names::count;
use crate::palette::{Palette, paint};
use crate::projection;
use crate::story::{Context, Execution};

/// How much a trace tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What changed.
    Changes,
    /// The whole state after each step.
    Full,
}

/// How text is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub palette: Palette,
    pub detail: Detail,
}

/// The question, as far as a result repeats it.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    pub program: &'a Program,
    pub target: &'a Target,
    pub threads: ThreadScope,
}

impl<'a> From<&'a Report> for Asked<'a> {
    fn from(report: &'a Report) -> Asked<'a> {
        Asked { program: &report.program, target: &report.target, threads: report.threads }
    }
}

/// The block of one result, without the last line. `load` is the time that reading took.
pub fn report(context: Context<'_>, report: &Report, load: Duration, style: Style) -> String {
    let palette = &style.palette;
    let verdict = match &report.outcome {
        Outcome::Safe(_) => paint(palette.good, verdict_word(&report.outcome)),
        Outcome::Unsafe(_) => paint(palette.bad, verdict_word(&report.outcome)),
        Outcome::Unknown(_) => paint(palette.open, verdict_word(&report.outcome)),
    };
    let mut text = format!("{}: {verdict}\n", paint(palette.strong, &context.source.name));
    let mut line = |name: &str, content: String| {
        let _ = writeln!(text, "  {:<12} {content}", format!("{name}:"));
    };
    if let Outcome::Unknown(reason) = &report.outcome {
        line("reason", reason_text(reason));
    }
    line("scope", scope(report.into()));
    line("asked", target(context, &report.target));
    if let Outcome::Safe(Some(certificate)) = &report.outcome {
        let certifier = report.certifier.map(|engine| format!(", by {engine}")).unwrap_or_default();
        let checked = seconds(report.times.judge);
        line("certificate", format!("{}{certifier}, checked in {checked}", certificate_text(certificate)));
        let unreachable = unreachable_asserts(report, certificate);
        if !unreachable.is_empty() {
            line("unreachable", lines_of(context, &unreachable));
        }
    }
    for argument in &report.explanation.arguments {
        line("argument", argument.to_string());
    }
    if let Some(cutoff) = &report.explanation.cutoff {
        line("cutoff", cutoff_text(cutoff));
    }
    if let Some(contexts) = &report.explanation.contexts {
        line("contexts", contexts_text(contexts));
    }
    if let Some(refinement) = &report.explanation.refinement {
        line("refinement", refinement_text(refinement));
    }
    if let Some(rounds) = &report.explanation.rounds {
        line("rounds", rounds_text(rounds));
        let play = if rounds.enough.is_none() { rounds.play.as_slice() } else { &[] };
        for (number, named) in play.iter().enumerate() {
            line("Eve's play", format!("{}. {}", number + 1, eve_text(named)));
        }
    }
    line("engine", format!("{}, {}", report.engine, times(report, load)));
    for leg in report.legs.iter().filter(|leg| leg.end != LegEnd::Won && report.legs.len() > 1) {
        line("beside", format!("{}, {}, {}", leg.engine, seconds(leg.time), leg_end(&leg.end)));
    }
    if let Outcome::Unsafe(counterexample) = &report.outcome {
        let execution = Execution::of(counterexample);
        text.push('\n');
        // A thread that is started may have a place before others that were there.
        let is_start = |edge: &selvedge_ir::Edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_));
        let in_turns = report.explanation.contexts.is_some() && !report.program.edges.iter().any(is_start);
        let parts = match &report.explanation.rounds {
            Some(_) => Parts::Rounds,
            None if in_turns => Parts::Contexts,
            None => Parts::Switches,
        };
        text.push_str(&trace_in(parts, context, execution, "counterexample", style));
    }
    if let Some(projection) = &report.projection {
        text.push('\n');
        text.push_str(&projection::listing(context, projection, palette));
    }
    text
}

/// How many threads are enough.
pub(crate) fn cutoff_text(cutoff: &Cutoff) -> String {
    let reached: Vec<String> = cutoff.reached.iter().map(usize::to_string).collect();
    let n_threads = count(cutoff.plateau(), "thread");
    let what = match cutoff.proof {
        Some(proof) => format!("{n_threads}, by {proof}"),
        None => format!("open: no more seen than with {n_threads}"),
    };
    format!("{what}; thread states of 1, 2, .. threads: {}", reached.join(", "))
}

/// What a loop of abstraction and refinement has come to.
fn refinement_text(refinement: &Refinement) -> String {
    format!(
        "{}, {}, {}, {} in {}",
        count(refinement.iterations, "iteration"),
        count(refinement.queries, "prover query").replace("querys", "queries"),
        count(refinement.predicates, "predicate"),
        count(refinement.states, "state"),
        count(refinement.abstract_states, "abstract state")
    )
}

/// What growing numbers of contexts per thread have come to.
pub(crate) fn contexts_text(contexts: &Contexts) -> String {
    let reached: Vec<String> = contexts.reached.iter().map(|(k, n_states)| format!("{n_states} at {k}")).collect();
    let error = contexts.error.map(|k| format!("an error within {} per thread", count(k as usize, "context")));
    let states = (!reached.is_empty()).then(|| format!("reachable shared states: {}", reached.join(", ")));
    error.into_iter().chain(states).collect::<Vec<_>>().join("; ")
}

/// A thread that Eve names in the adequacy game.
fn eve_text(named: &EveMove) -> String {
    let ended = if named.ended { ", which has ended" } else { "" };
    let values: Vec<String> =
        named.shared.iter().map(|(name, value)| format!("{name} = {}", u8::from(*value))).collect();
    format!("a thread of {}{ended}; {}", named.template, values.join(", "))
}

/// What growing numbers of rounds have come to.
fn rounds_text(rounds: &Rounds) -> String {
    let reached: Vec<String> = rounds.reached.iter().map(|(k, n_states)| format!("{n_states} at {k}")).collect();
    let error = rounds.error.map(|k| format!("an error within {}", count(k as usize, "round")));
    let states = (!reached.is_empty()).then(|| format!("reachable shared states: {}", reached.join(", ")));
    let enough = rounds.enough.map(|k| format!("all states are reached in {}", count(k as usize, "round")));
    let open: Vec<String> = rounds.open.iter().map(u32::to_string).collect();
    let open = (!open.is_empty()).then(|| format!("open whether all states are reached in {}", open.join(", ")));
    error.into_iter().chain(enough).chain(open).chain(states).collect::<Vec<_>>().join("; ")
}

/// `safe`, `safe (uncertified)`, `unsafe` or `unknown`.
pub fn verdict_word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Safe(Some(_)) => "safe",
        Outcome::Safe(None) => "safe (uncertified)",
        Outcome::Unsafe(_) => "unsafe",
        Outcome::Unknown(_) => "unknown",
    }
}

/// The last line of text output.
pub fn verdict_line(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Safe(_) => "VERIFICATION SUCCESSFUL".to_string(),
        Outcome::Unsafe(_) => "VERIFICATION FAILED".to_string(),
        Outcome::Unknown(reason) => format!("VERIFICATION UNKNOWN ({})", reason_text(reason)),
    }
}

/// Why a question is not decided, if it is not.
pub fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Safe(_) | Outcome::Unsafe(_) => None,
        Outcome::Unknown(reason) => Some(reason_text(reason)),
    }
}

/// The block of a file for which there is no report.
pub fn no_answer(file: &str, verdict: &str, reason: &str, palette: &Palette) -> String {
    format!("{}: {}\n  reason:      {reason}\n", paint(palette.strong, file), paint(palette.open, verdict))
}

/// What a summary says beside the verdict: the reason where there is none, else the engine and the time.
pub fn remark(report: &Report, load: Duration) -> String {
    let times = report.times;
    let total = seconds(load + times.simplify + times.engine + times.judge);
    reason(&report.outcome).unwrap_or_else(|| format!("{}, {total}", report.engine))
}

fn leg_end(end: &LegEnd) -> String {
    match end {
        LegEnd::Won => "won".to_string(),
        LegEnd::Overtaken => "overtaken".to_string(),
        LegEnd::GaveUp(reason) => reason_text(reason),
    }
}

pub(crate) fn reason_text(reason: &Reason) -> String {
    match reason {
        Reason::Stop(stop) => stop.to_string(),
        Reason::Unsupported(unsupported) => unsupported.to_string(),
    }
}

/// What the answer speaks of: how many threads, and with which ones a run begins.
pub fn scope(asked: Asked<'_>) -> String {
    let program = asked.program;
    let spawns = program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)));
    let threads = match (asked.threads, fixed_threads(program)) {
        (_, Some(1)) if !spawns => "single thread".to_string(),
        (ThreadScope::AtMost(bound), _) => format!("at most {}", count(bound as usize, "thread")),
        (ThreadScope::Created(bound), _) => format!("at most {} in a run", count(bound as usize, "thread")),
        (ThreadScope::Unbounded, Some(n_threads)) if !spawns => format!("the {n_threads} threads of the program"),
        (ThreadScope::Unbounded, _) => "any number of threads".to_string(),
    };
    format!("{threads}; {}", initial_threads(program))
}

/// The number of initial threads, if all runs have the same.
fn fixed_threads(program: &Program) -> Option<u32> {
    let counts = program.entries.iter().map(|entry| match entry.count {
        Count::Exactly(count) => Some(count),
        Count::AtMost(_) | Count::Any => None,
    });
    counts.sum()
}

/// With which threads a run begins.
pub fn initial_threads(program: &Program) -> String {
    let run = |entry: &Entry| {
        let name = &program.procs[entry.proc].name;
        match entry.count {
            Count::Exactly(1) => format!("one initial thread runs {name}"),
            Count::Exactly(count) => format!("{count} initial threads run {name}"),
            Count::AtMost(1) => format!("at most one initial thread runs {name}"),
            Count::AtMost(count) => format!("at most {count} initial threads run {name}"),
            Count::Any => format!("any number of initial threads run {name}"),
        }
    };
    let mut parts: Vec<String> = program.entries.iter().map(run).collect();
    if let Some(prelude) = program.prelude {
        parts.insert(0, format!("{} runs first", program.procs[prelude].name));
    }
    parts.join(", ")
}

/// The errors that were asked for.
pub fn target(context: Context<'_>, target: &Target) -> String {
    if target.is_empty() {
        return "no error location in the program".to_string();
    }
    let mut parts = Vec::new();
    match target.asserts.as_slice() {
        [] => {}
        [assert] => parts.push(format!("the assertion on line {}", line_of(context, *assert))),
        asserts => parts.push(count(asserts.len(), "assertion")),
    }
    let labels = context.program.labels.iter().filter(|label| target.has_loc(label.loc));
    let mut labels: Vec<&str> = labels.map(|label| label.name.as_str()).collect();
    labels.sort_unstable();
    labels.dedup();
    parts.extend(labels.iter().map(|label| format!("label {label}")));
    parts
        .extend(target.together.iter().map(|meeting| format!("threads at {} at once", meeting_text(context, meeting))));
    list(&parts, 15)
}

/// `A and B`, by the first label of each location.
pub(crate) fn meeting_text(context: Context<'_>, meeting: &[LocId]) -> String {
    let name = |loc: &LocId| {
        let label = context.program.labels.iter().find(|label| label.loc == *loc);
        label.map_or(format!("location {}", loc.index()), |label| label.name.clone())
    };
    meeting.iter().map(name).collect::<Vec<_>>().join(" and ")
}

fn line_of(context: Context<'_>, edge: EdgeId) -> usize {
    context.source.line(context.map.edges[edge].span.start as usize)
}

/// What a certificate says.
pub fn certificate_text(certificate: &Certificate) -> String {
    match certificate {
        Certificate::ControlFlow(_) => "no control path leads to an error".to_string(),
        Certificate::Summaries(_) => "what holds at each location, and how each procedure returns".to_string(),
        Certificate::Induction { k, paths: Paths::All } => format!("k-induction with k = {k}"),
        Certificate::Induction { k, paths: Paths::LoopFree } => format!("k-induction with k = {k}, loop-free paths"),
        Certificate::Shapes(proof) => {
            let places = count(proof.places.len(), "place");
            match proof.seen {
                Seen::All => format!("a closed set of {} of threads over {places}", count(proof.shapes.len(), "shape")),
                Seen::Any(k) => format!(
                    "a closed table of {} of {} over {places}",
                    count(proof.shapes.len(), "view"),
                    count(k as usize, "thread"),
                ),
            }
        }
        Certificate::Cover(proof) => {
            let states = format!(
                "over {} and {}",
                count(proof.shareds.len(), "shared state"),
                count(proof.locals.len(), "thread state")
            );
            match &proof.claim {
                CoverClaim::Views(table) => format!("a closed table of the views of {} threads {states}", table.k),
                CoverClaim::Vectors(vectors) => {
                    format!("a closed set of {} {states}", count(vectors.len(), "vector"))
                }
                CoverClaim::Basis { within, forbidden } => format!(
                    "a closed table of the views of {} threads without {} {states}",
                    within.k,
                    count(forbidden.len(), "forbidden configuration")
                ),
                CoverClaim::Adequacy(claim) => format!(
                    "nothing is new after {}: {} and {} {states}",
                    count(claim.k as usize, "round"),
                    count(claim.turns.len(), "turn"),
                    count(claim.positions.len(), "position")
                ),
            }
        }
        Certificate::Integers(proof) => {
            format!("a formula over integers for each of {}", count(proof.points.len(), "control point"))
        }
    }
}

/// The assertions that were asked for and that no execution reaches, as far as the certificate says.
pub(crate) fn unreachable_asserts(report: &Report, certificate: &Certificate) -> Vec<EdgeId> {
    let is_outside = |edge: &EdgeId| certificate.excludes(report.program.edges[*edge].from);
    report.target.asserts.iter().copied().filter(is_outside).collect()
}

fn lines_of(context: Context<'_>, asserts: &[EdgeId]) -> String {
    let lines: Vec<String> = asserts.iter().map(|edge| line_of(context, *edge).to_string()).collect();
    let noun = if lines.len() == 1 { "the assertion on line" } else { "the assertions on lines" };
    format!("{noun} {}", list(&lines, 15))
}

fn times(report: &Report, load: Duration) -> String {
    let times = report.times;
    let total = load + times.simplify + times.engine + times.judge;
    format!("{} (searching {}, judging {})", seconds(total), seconds(times.engine), seconds(times.judge))
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.3} s", time.as_secs_f64())
}
