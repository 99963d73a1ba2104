//! Answers about several pushdown systems that take turns, as text and as JSON.

use std::fmt::Write as _;

use selvedge_check::{Answer, Outcome, ThreadsRun};
use selvedge_ir::pds::{Stacks, ThreadRule, Threads};
use serde_json::{Value, json};

use crate::json::list;
use crate::names::count;
use crate::palette::{Palette, paint};
use crate::text::block::Block;
use crate::text::seconds;

/// Returns the answer for other programs.
pub fn view(answer: &Answer<Threads>) -> Value {
    let threads = &answer.model;
    json!({
        "target": threads.target.as_ref().map(ToString::to_string),
        "shared_states": threads.n_shared,
        "threads": threads.threads.len(),
        "rules": n_rules(threads),
        "engine": answer.engine,
        "search": answer.times.engine.as_secs_f64(),
        "judge": answer.times.judge.as_secs_f64(),
        "run": match &answer.outcome {
            Outcome::Unsafe(run) => run_view(threads, run),
            Outcome::Safe(_) | Outcome::Unknown(_) => Value::Null,
        },
    })
}

fn run_view(threads: &Threads, run: &ThreadsRun) -> Value {
    let config = |config: &Stacks| json!({ "shared": config.shared, "stacks": config.stacks });
    let step = |((thread, place), after): (&(usize, usize), &Stacks)| {
        let rule = rule(threads, *thread, *place).to_string();
        json!({ "thread": thread, "rule": rule, "config": config(after) })
    };
    let steps = list(run.rules.iter().zip(&run.configs[1..]), step);
    json!({ "contexts": run.contexts, "start": config(&run.configs[0]), "steps": steps })
}

fn n_rules(threads: &Threads) -> usize {
    threads.threads.iter().map(|thread| thread.rules.len()).sum()
}

fn rule(threads: &Threads, thread: usize, place: usize) -> &ThreadRule {
    &threads.threads[thread].rules[place]
}

/// Renders the block of one answer, without the last line.
pub fn render(name: &str, answer: &Answer<Threads>, palette: &Palette) -> String {
    let threads = &answer.model;
    let mut block = Block::of(name, answer, None, palette);
    let (n_threads, rules) = (count(threads.threads.len(), "thread"), count(n_rules(threads), "rule"));
    let shared = count(threads.n_shared as usize, "shared state");
    block.fact("system", format!("{n_threads}, {shared}, {rules}"));
    block.fact("checked", threads.target.as_ref().map_or("nothing".to_string(), ToString::to_string));
    block.fact("engine", format!("{}, {}", answer.engine, seconds(answer.times.engine)));
    let mut text = block.text;
    if let Outcome::Unsafe(run) = &answer.outcome {
        text.push_str(&run_text(threads, run, palette));
    }
    text
}

/// The run, a paragraph for each turn.
fn run_text(threads: &Threads, run: &ThreadsRun, palette: &Palette) -> String {
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
