//! Runs along rules, with the threads that are needed on the way.

use selvedge_ir::tts::{RuleId, Tts, TtsRun};
use selvedge_transition::tts_extract::Configuration;

use super::{Vector, transfer};

/// Returns the run from a start along some rules, each with the threads that are needed after it. `need` are those that
/// are needed at first; those that no start has are of kinds of which there may be any number.
///
/// # Panics
///
/// If a rule does not lead from what is needed before it to what is needed after it.
pub(super) fn follow(tts: &Tts, start: usize, need: &Vector, way: &[(RuleId, Vector)]) -> TtsRun {
    let mut threads = tts.starts[start].threads.clone();
    let mut more = need.clone();
    for local in &threads {
        more.remove(*local);
    }
    threads.extend(more.threads());
    let mut now = Configuration::start(tts, start, &threads);
    let mut steps = Vec::new();
    for (id, need) in way {
        let rule = &tts.rules[*id];
        let mover = now.threads.iter().position(|thread| *thread == Some(rule.local));
        let mover = mover.expect("the run has what is needed");
        let mut wanted = need.clone();
        for local in &rule.after {
            wanted.remove(*local);
        }
        let is_other = |thread: &usize| *thread != mover && now.threads[*thread].is_some();
        let others: Vec<usize> = (0..now.threads.len()).filter(is_other).collect();
        let step = transfer::step((*id, rule), &now.threads, mover, &others, &wanted.threads());
        now.step(tts, &step);
        steps.push(step);
    }
    TtsRun { start, threads, steps }
}
