//! Calls as one line each, in long executions.

use std::collections::BTreeMap;

use selvedge_ir::{Program, Scope};

use crate::annotated_trace::{AnnotatedStep, AnnotatedTrace, Change, Event};

/// The number of steps from which on calls are folded: shorter executions fit on a screen or two.
const LONG: usize = 40;

/// A call that is shown as one line.
pub(super) struct Fold {
    /// The number of its last step.
    pub(super) last: usize,
    /// What it changed, for those who can see that after the return.
    pub(super) changes: Vec<Change>,
}

/// Returns the calls to fold, by the numbers of their first steps: those that return before another thread moves. Of
/// calls inside of others, the outermost are folded.
pub(super) fn folds(program: &Program, annotated: &AnnotatedTrace) -> BTreeMap<usize, Fold> {
    let steps = &annotated.steps;
    let mut found = BTreeMap::new();
    if steps.len() <= LONG {
        return found;
    }
    let mut number = 0;
    while number < steps.len() {
        match returns_at(steps, number) {
            Some(last) => {
                let changes = net_changes(program, &steps[number..=last]);
                found.insert(number, Fold { last, changes });
                number = last + 1;
            }
            None => number += 1,
        }
    }
    found
}

/// Returns the step that returns from the call that a step makes, if no other thread moves and nothing fails before.
fn returns_at(steps: &[AnnotatedStep], call: usize) -> Option<usize> {
    let first = &steps[call];
    let is_call = first.events.iter().any(|event| matches!(event, Event::Calls { .. }));
    let inside = |step: &&AnnotatedStep| step.thread == first.thread && step.depth > first.depth;
    let length = steps[call + 1..].iter().take_while(inside).count();
    let last = call + length;
    let tells = |step: &AnnotatedStep| step.events.iter().any(|event| matches!(event, Event::AssertionFails));
    let returns = steps[last].events.iter().any(|event| matches!(event, Event::Returns(_)));
    let is_whole = is_call && length > 0 && returns && last + 1 < steps.len();
    (is_whole && !steps[call..=last].iter().any(tells)).then_some(last)
}

/// Returns the values before and after a call of the variables that outlive it. A variable that has its old value again
/// has not changed.
fn net_changes(program: &Program, steps: &[AnnotatedStep]) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let is_end = number == 0 || number + 1 == steps.len();
        // Locals of the caller get values by the call and by the return only.
        let outlives = |change: &&Change| {
            is_end || program.vars.get(change.var).is_none_or(|var| !matches!(var.scope, Scope::Local(_)))
        };
        for change in step.changes.iter().filter(outlives) {
            match changes.iter_mut().find(|other| (other.var, &other.of) == (change.var, &change.of)) {
                Some(known) => {
                    known.after = change.after;
                    known.free = change.free;
                    known.words[1].clone_from(&change.words[1]);
                }
                None => changes.push(change.clone()),
            }
        }
    }
    changes.retain(|change| change.before != Some(change.after));
    changes
}
