//! Answers about pushdown systems, as text and as JSON.

mod show;
pub mod turns;

use std::fmt::Write as _;

use selvedge_check::system::Closure;
use selvedge_check::{Answer, Outcome, PdsRun, SystemProof};
use selvedge_ir::pds::{Config, Pds};
use serde_json::{Value, json};

use crate::json::{add, list};
use crate::names::count;
use crate::palette::Palette;
use crate::text::block::Block;
use crate::text::seconds;

pub(crate) use show::escape;
pub use show::{dot, stats};

/// Returns the answer for other programs.
pub fn view(answer: &Answer<Pds>) -> Value {
    let pds = &answer.model;
    let mut view = json!({
        "targets": list(&pds.targets, |head| pds.show_head(*head).into()),
        "states": pds.states.len(),
        "symbols": pds.symbols.len(),
        "rules": pds.rules.len(),
        "search": answer.times.engine.as_secs_f64(),
        "judge": answer.times.judge.as_secs_f64(),
        "certified": answer.certified(),
        "run": match &answer.outcome {
            Outcome::Unsafe(run) => run_view(pds, run),
            Outcome::Safe(_) | Outcome::Unknown(_) => Value::Null,
        },
    });
    add(&mut view, "unchecked", answer.unchecked.as_ref());
    view
}

fn run_view(pds: &Pds, run: &PdsRun) -> Value {
    let config = |config: &Config| {
        let stack = list(&config.stack, |symbol| pds.symbols[*symbol].as_str().into());
        json!({ "state": pds.states[config.state], "stack": stack })
    };
    let steps = list(
        run.trace.rules.iter().zip(&run.configs[1..]),
        |(rule, after)| json!({ "rule": pds.show_rule(&pds.rules[*rule]), "config": config(after) }),
    );
    json!({ "start": config(&run.configs[0]), "steps": steps })
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
