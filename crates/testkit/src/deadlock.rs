//! Questions about deadlocks on generated programs with threads, compared with a search that knows no shortcut.
//!
//! The search keeps states as they are: threads keep their numbers, and every variable starts with every value. For
//! each engine that takes the question: its answer is the search's, its execution replays and its certificate is
//! accepted, also for the program with calls replaced by bodies. The driver gives the same answer, with an execution
//! made small. A deadlock that is found for any number of threads replays for any number.

use std::collections::HashSet;

use selvedge_check::{Outcome, Run, Target, Task, ThreadScope};
use selvedge_driver::{Minimize, Options, Pass, check, simplify};
use selvedge_engines::{EngineKind, EngineOptions};
use selvedge_ir::Count;
use selvedge_replay::{Interpreter, Outcome as StepOutcome, State};

use crate::contender::Contender;
use crate::differ::{Posed, pose};
use crate::generate::{Chances, Weights, generate_in_turn};
use crate::harness::{Comparison, Fault, Tally, fault};
use crate::model::Model;
use crate::oracle::{Answer, Budget};

/// The comparison of all engines that look for deadlocks.
pub const DEADLOCKS: Comparison = Comparison::new(item, compare).within(Budget::states(5_000).tight());

/// Generates the program with a number: the presets for threads take turns, with many `enforce` clauses in every third
/// round.
fn item(seed: u64, number: u64) -> Model {
    let presets = Weights::concurrent();
    let n_presets = presets.len() as u64;
    if !(number / n_presets).is_multiple_of(3) {
        return generate_in_turn(&presets, seed, number);
    }
    let enforcing = presets
        .map(|(name, weights)| (name, Weights { chances: Chances { enforce: 70, ..weights.chances }, ..weights }));
    generate_in_turn(&enforcing, seed, number)
}

/// The result of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A state in which a thread is alive and none can move.
    Deadlock,
    /// All states were seen, and none is a deadlock.
    None,
    /// There are too many states, or stacks are too deep.
    Open,
}

fn compare(model: &Model, number: u64, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let posed = pose(model)?;
    let target = Target::default().with_deadlock(true);
    let task = Task { target: &target, ..posed.task() };
    let found = search(&task, budget);
    tally.count(match found {
        Found::Deadlock => "unsafe",
        Found::None => "safe",
        Found::Open => "open",
    });
    let inlined = simplify(&task, &[Pass::Inline]);
    for kind in EngineKind::ALL.iter().copied() {
        let contender = Contender::new(kind, "", &EngineOptions::default());
        for inlined in [None, Some(&inlined)] {
            let answer = contender.decide(&task, inlined, budget, tally)?;
            answer.map_or(Ok(()), |answer| agree(&contender.name, found, &answer))?;
        }
        let any_number = Task { threads: ThreadScope::Unbounded, ..task };
        contender.decide(&any_number, None, budget, tally)?;
    }
    if number.is_multiple_of(4) && found != Found::Open {
        return compare_driver(model, &posed, found);
    }
    Ok(())
}

/// Checks that an answer is the search's.
fn agree(name: &str, found: Found, answer: &Answer) -> Result<(), Fault> {
    match (found, answer) {
        (Found::Deadlock, Answer::Safe) | (Found::None, Answer::Unsafe(_) | Answer::Deep) => {
            fault(name, format!("the search says {found:?}, but then {answer}"))
        }
        _ => Ok(()),
    }
}

/// Checks that the driver gives the same answer.
fn compare_driver(model: &Model, posed: &Posed, found: Found) -> Result<(), Fault> {
    let mut question = model.question.clone();
    (question.label, question.assertion, question.deadlock) = (None, None, true);
    let options = Options { question, minimize: Minimize::Yes, jobs: 1, ..Options::default() };
    match check(posed.subject(), &options, &Run::unlimited()).map(|answer| answer.outcome) {
        Ok(Outcome::Safe(Some(_))) if found == Found::None => Ok(()),
        Ok(Outcome::Unsafe(_)) if found == Found::Deadlock => Ok(()),
        Ok(outcome) => fault("driver", format!("the search says {found:?}, but then {}", outcome.name())),
        Err(failure) => fault("driver", failure.to_string()),
    }
}

/// Searches all states of a program with a bounded number of threads for one in which no thread can move.
pub fn search(task: &Task<'_>, budget: Budget) -> Found {
    let interpreter = Interpreter::new(task.program, task.threads);
    let most = |count: Count| if let Count::Exactly(count) | Count::AtMost(count) = count { count } else { 0 };
    let max_threads = match task.threads {
        ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
        ThreadScope::Unbounded => task.program.entries.iter().map(|entry| most(entry.count)).sum(),
    };
    let mut known: HashSet<State> = HashSet::new();
    let mut waiting: Vec<State> = Vec::new();
    for (number, start) in interpreter.starts(max_threads).enumerate() {
        if number >= budget.states {
            return Found::Open;
        }
        let state = interpreter.start(&start).expect("the interpreter lists legal starts");
        waiting.extend(known.insert(state.clone()).then_some(state));
    }
    while let Some(state) = waiting.pop() {
        let Some(next) = successors(&interpreter, &state) else { return Found::Deadlock };
        waiting.extend(next.into_iter().filter(|state| known.insert(state.clone())));
        let is_deep = |state: &State| state.threads.iter().any(|one| one.stack.len() > budget.frames as usize);
        if known.len() >= budget.states || waiting.iter().any(is_deep) {
            return Found::Open;
        }
    }
    Found::None
}

/// Lists the states after a step; `None` if a thread is alive and nothing happens.
fn successors(interpreter: &Interpreter<'_>, state: &State) -> Option<Vec<State>> {
    let (mut next, mut is_stuck) = (Vec::new(), !state.threads.is_empty());
    for position in 0..state.threads.len() {
        for edge in interpreter.edges(state, &state.threads[position]) {
            for step in interpreter.steps(state, position, *edge) {
                match interpreter.step(state, &step).expect("the interpreter lists legal steps") {
                    StepOutcome::Blocked => continue,
                    StepOutcome::Failed => {}
                    StepOutcome::Next(state) => next.push(state),
                }
                is_stuck = false;
            }
        }
    }
    (!is_stuck).then_some(next)
}
