//! Answers about pushdown systems, as text and as JSON.

mod show;
pub mod turns;

use std::fmt::Write as _;

use selvedge_check::system::Closure;
use selvedge_check::{Answer, Outcome, PdsRun, SystemProof};
use selvedge_ir::pds::{Config, Pds};
use serde::Serialize;

use crate::names::count;
use crate::palette::Palette;
use crate::text::block::Block;
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
    /// Why the certificate could not be checked, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
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
    pub fn new(answer: &Answer<Pds>) -> SystemView {
        let pds = &answer.model;
        SystemView {
            targets: pds.targets.iter().map(|head| pds.show_head(*head)).collect(),
            states: pds.states.len(),
            symbols: pds.symbols.len(),
            rules: pds.rules.len(),
            search: answer.times.engine.as_secs_f64(),
            judge: answer.times.judge.as_secs_f64(),
            certified: answer.certified(),
            unchecked: answer.unchecked.clone(),
            run: match &answer.outcome {
                Outcome::Unsafe(run) => Some(RunView::new(pds, run)),
                Outcome::Safe(_) | Outcome::Unknown(_) => None,
            },
        }
    }
}

impl RunView {
    fn new(pds: &Pds, run: &PdsRun) -> RunView {
        let step =
            |(rule, config)| StepView { rule: pds.show_rule(&pds.rules[rule]), config: ConfigView::new(pds, config) };
        let steps = run.trace.rules.iter().copied().zip(&run.configs[1..]).map(step).collect();
        RunView { start: ConfigView::new(pds, &run.configs[0]), steps }
    }
}

/// Renders the block of one answer, without the last line.
pub fn render(name: &str, answer: &Answer<Pds>, palette: &Palette) -> String {
    let pds = &answer.model;
    let mut block = Block::of(name, answer, None, palette);
    let sizes = format!("{} states, {} symbols, {} rules", pds.states.len(), pds.symbols.len(), pds.rules.len());
    block.fact("system", sizes);
    let targets: Vec<String> = pds.targets.iter().map(|head| pds.show_head(*head)).collect();
    block.fact("checked", asked(&targets));
    if let Outcome::Safe(Some(proof)) = &answer.outcome {
        block.fact("certificate", format!("{}, checked in {}", proof_text(proof), seconds(answer.times.judge)));
    }
    block.unchecked(answer);
    block.fact("engine", format!("{}, {}", answer.engine, seconds(answer.times.engine)));
    let mut text = block.text;
    if let Outcome::Unsafe(run) = &answer.outcome {
        let _ = writeln!(text, "\nrun of {} rules\n  {:>4}  {}", run.trace.rules.len(), 0, pds.show(&run.configs[0]));
        for (number, (rule, config)) in run.trace.rules.iter().zip(&run.configs[1..]).enumerate() {
            let rule = pds.show_rule(&pds.rules[*rule]);
            let _ = writeln!(text, "        {rule}\n  {:>4}  {}", number + 1, pds.show(config));
        }
    }
    text
}

/// Describes a proof.
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
