//! Answers about several pushdown systems that take turns, as text and as JSON.

use std::fmt::Write as _;

use selvedge_driver::{TurnsOutcome, TurnsReport, TurnsRun};
use selvedge_ir::pds::{Stacks, ThreadRule, Threads};
use serde::Serialize;

use crate::names::count;
use crate::palette::{Palette, paint};
use crate::text::seconds;

/// The answer for other programs.
#[derive(Clone, Debug, Serialize)]
pub struct TurnsView {
    /// As in a `.spec` file.
    pub target: Option<String>,
    pub shared_states: u32,
    pub threads: usize,
    pub rules: usize,
    pub engine: &'static str,
    /// Seconds.
    pub search: f64,
    /// Seconds that the execution of the run took.
    pub judge: f64,
    /// For `unsafe`: the run.
    pub run: Option<TurnsRunView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TurnsRunView {
    /// The number of contexts per thread within which it was found.
    pub contexts: u32,
    pub start: StacksView,
    pub steps: Vec<TurnsStepView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct TurnsStepView {
    /// From 0.
    pub thread: usize,
    /// As it is written in a `.pds` file.
    pub rule: String,
    /// The configuration after the step.
    pub config: StacksView,
}

#[derive(Clone, Debug, Serialize)]
pub struct StacksView {
    pub shared: u32,
    /// For each thread, the top first.
    pub stacks: Vec<Vec<u32>>,
}

impl From<&Stacks> for StacksView {
    fn from(config: &Stacks) -> StacksView {
        StacksView { shared: config.shared, stacks: config.stacks.clone() }
    }
}

impl TurnsView {
    pub fn new(report: &TurnsReport) -> TurnsView {
        let threads = &report.threads;
        let run = match &report.outcome {
            TurnsOutcome::Reachable(run) => Some(TurnsRunView::new(threads, run)),
            TurnsOutcome::Unknown(_) => None,
        };
        TurnsView {
            target: threads.target.as_ref().map(ToString::to_string),
            shared_states: threads.n_shared,
            threads: threads.threads.len(),
            rules: threads.threads.iter().map(|thread| thread.rules.len()).sum(),
            engine: report.engine,
            search: report.search.as_secs_f64(),
            judge: report.judge.as_secs_f64(),
            run,
        }
    }
}

impl TurnsRunView {
    fn new(threads: &Threads, run: &TurnsRun) -> TurnsRunView {
        let step = |((thread, place), config): (&(usize, usize), &Stacks)| TurnsStepView {
            thread: *thread,
            rule: rule(threads, *thread, *place).to_string(),
            config: config.into(),
        };
        TurnsRunView {
            contexts: run.contexts,
            start: (&run.configs[0]).into(),
            steps: run.rules.iter().zip(&run.configs[1..]).map(step).collect(),
        }
    }
}

fn rule(threads: &Threads, thread: usize, place: usize) -> &ThreadRule {
    &threads.threads[thread].rules[place]
}

/// `unsafe` or `unknown`.
pub fn verdict_word(outcome: &TurnsOutcome) -> &'static str {
    match outcome {
        TurnsOutcome::Reachable(_) => "unsafe",
        TurnsOutcome::Unknown(_) => "unknown",
    }
}

/// The last line of text output.
pub fn verdict_line(outcome: &TurnsOutcome) -> String {
    match outcome {
        TurnsOutcome::Reachable(_) => "VERIFICATION FAILED".to_string(),
        TurnsOutcome::Unknown(stop) => format!("VERIFICATION UNKNOWN ({stop})"),
    }
}

/// The block of one result, without the last line.
pub fn render(name: &str, report: &TurnsReport, palette: &Palette) -> String {
    let view = TurnsView::new(report);
    let style = match report.outcome {
        TurnsOutcome::Reachable(_) => palette.bad,
        TurnsOutcome::Unknown(_) => palette.open,
    };
    let mut text = format!("{}: {}\n", paint(palette.strong, name), paint(style, verdict_word(&report.outcome)));
    if let TurnsOutcome::Unknown(stop) = report.outcome {
        let _ = writeln!(text, "  reason:      {stop}");
    }
    let (threads, rules) = (count(view.threads, "thread"), count(view.rules, "rule"));
    let _ = writeln!(text, "  system:      {threads}, {}, {rules}", count(view.shared_states as usize, "shared state"));
    let _ = writeln!(text, "  asked:       {}", view.target.as_deref().unwrap_or("nothing"));
    let _ = writeln!(text, "  engine:      {}, {}", report.engine, seconds(report.search));
    if let TurnsOutcome::Reachable(run) = &report.outcome {
        text.push_str(&run_text(&report.threads, run, palette));
    }
    text
}

/// The run, a paragraph for each turn.
fn run_text(threads: &Threads, run: &TurnsRun, palette: &Palette) -> String {
    let contexts = count(run.contexts as usize, "context");
    let mut text = format!("\nrun of {} within {contexts} per thread\n", count(run.rules.len(), "rule"));
    let _ = writeln!(text, "  {:>4}  {}", 0, run.configs[0]);
    let mut mover = None;
    for (number, ((thread, place), config)) in run.rules.iter().zip(&run.configs[1..]).enumerate() {
        if mover.replace(*thread) != Some(*thread) {
            let _ = writeln!(text, "{}", paint(palette.strong, format!("thread {thread}")));
        }
        let _ = writeln!(text, "        {}\n  {:>4}  {config}", rule(threads, *thread, *place), number + 1);
    }
    text
}
