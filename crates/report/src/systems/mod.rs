//! Answers about pushdown systems, as text and as JSON.

mod show;
pub mod turns;

use std::fmt::Write as _;

use selvedge_check::SystemProof;
use selvedge_check::system::Closure;
use selvedge_driver::{SystemOutcome, SystemReport};
use selvedge_ir::pds::{Config, Pds};
use serde::Serialize;

use crate::names::count;
use crate::palette::{Palette, paint};
use crate::text::seconds;

pub use show::{dot, stats};

/// The answer for other programs.
#[derive(Clone, Debug, Serialize)]
pub struct SystemView {
    pub targets: Vec<String>,
    pub states: usize,
    pub symbols: usize,
    pub rules: usize,
    /// Seconds.
    pub search: f64,
    /// Seconds that the judge took.
    pub judge: f64,
    /// For `safe`: whether a certificate was checked.
    pub certified: Option<bool>,
    /// For `unsafe`: the run.
    pub run: Option<RunView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RunView {
    pub start: ConfigView,
    pub steps: Vec<StepView>,
}

#[derive(Clone, Debug, Serialize)]
pub struct StepView {
    /// As it is written in a `.pds` file.
    pub rule: String,
    /// The configuration after the step.
    pub config: ConfigView,
}

#[derive(Clone, Debug, Serialize)]
pub struct ConfigView {
    pub state: String,
    /// The top first.
    pub stack: Vec<String>,
}

impl ConfigView {
    fn new(pds: &Pds, config: &Config) -> ConfigView {
        let stack = config.stack.iter().map(|symbol| pds.symbols[*symbol].clone()).collect();
        ConfigView { state: pds.states[config.state].clone(), stack }
    }
}

impl SystemView {
    pub fn new(report: &SystemReport) -> SystemView {
        let pds = &report.pds;
        let run = match &report.outcome {
            SystemOutcome::Reachable(trace, configs) => {
                let step = |(rule, config)| StepView {
                    rule: pds.show_rule(&pds.rules[rule]),
                    config: ConfigView::new(pds, config),
                };
                let steps = trace.rules.iter().copied().zip(&configs[1..]).map(step).collect();
                Some(RunView { start: ConfigView::new(pds, &configs[0]), steps })
            }
            SystemOutcome::Unreachable(_) | SystemOutcome::Unknown(_) => None,
        };
        SystemView {
            targets: pds.targets.iter().map(|head| pds.show_head(*head)).collect(),
            states: pds.states.len(),
            symbols: pds.symbols.len(),
            rules: pds.rules.len(),
            search: report.search.as_secs_f64(),
            judge: report.judge.as_secs_f64(),
            certified: matches!(report.outcome, SystemOutcome::Unreachable(_)).then_some(true),
            run,
        }
    }
}

/// `safe`, `unsafe` or `unknown`.
pub fn verdict_word(outcome: &SystemOutcome) -> &'static str {
    match outcome {
        SystemOutcome::Unreachable(_) => "safe",
        SystemOutcome::Reachable(..) => "unsafe",
        SystemOutcome::Unknown(_) => "unknown",
    }
}

/// The last line of text output.
pub fn verdict_line(outcome: &SystemOutcome) -> String {
    match outcome {
        SystemOutcome::Unreachable(_) => "VERIFICATION SUCCESSFUL".to_string(),
        SystemOutcome::Reachable(..) => "VERIFICATION FAILED".to_string(),
        SystemOutcome::Unknown(stop) => format!("VERIFICATION UNKNOWN ({stop})"),
    }
}

/// The block of one result, without the last line.
pub fn render(name: &str, report: &SystemReport, palette: &Palette) -> String {
    let style = match report.outcome {
        SystemOutcome::Unreachable(_) => palette.good,
        SystemOutcome::Reachable(..) => palette.bad,
        SystemOutcome::Unknown(_) => palette.open,
    };
    let view = SystemView::new(report);
    let mut text = format!("{}: {}\n", paint(palette.strong, name), paint(style, verdict_word(&report.outcome)));
    if let SystemOutcome::Unknown(stop) = report.outcome {
        let _ = writeln!(text, "  reason:      {stop}");
    }
    let sizes = format!("{} states, {} symbols, {} rules", view.states, view.symbols, view.rules);
    let _ = writeln!(text, "  system:      {sizes}");
    let _ = writeln!(text, "  asked:       {}", asked(&view.targets));
    if let SystemOutcome::Unreachable(proof) = &report.outcome {
        let _ = writeln!(text, "  certificate: {}, checked in {}", proof_text(proof), seconds(report.judge));
    }
    let _ = writeln!(text, "  engine:      pushdown, {}", seconds(report.search));
    if let SystemOutcome::Reachable(trace, configs) = &report.outcome {
        let _ = writeln!(text, "\nrun of {} rules\n  {:>4}  {}", trace.rules.len(), 0, report.pds.show(&configs[0]));
        for (number, (rule, config)) in trace.rules.iter().zip(&configs[1..]).enumerate() {
            let rule = report.pds.show_rule(&report.pds.rules[*rule]);
            let _ = writeln!(text, "        {rule}\n  {:>4}  {}", number + 1, report.pds.show(config));
        }
    }
    text
}

/// What a proof says.
pub fn proof_text(proof: &SystemProof) -> String {
    let states = count(proof.n_nodes as usize, "state");
    let accepted = match proof.closure {
        Closure::Successors => "what can be reached",
        Closure::Predecessors => "what can reach a target",
    };
    format!("an automaton for {accepted}: {states}, {}", count(proof.transitions.len(), "transition"))
}

/// The targets, if they are few.
pub fn asked(targets: &[String]) -> String {
    match targets.len() {
        0..=8 => targets.join(", "),
        n_targets => format!("{}, .. ({n_targets} heads)", targets[..8].join(", ")),
    }
}
