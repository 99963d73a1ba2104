//! Threads that take turns, decided as one thread by engines that know no others (Lal and Reps, 2009, section 2.4).
//!
//! *Order of work*: for each number of contexts, smallest first, and each list of threads that a run may have, the
//! threads become one thread (`sequentialize`), and engines for one thread decide that program. *End*: the numbers and
//! lists are finite, and the engines keep to the limits of the run. *Correctness*: an error of the one thread is mapped
//! back to an execution of the threads, and judged there. If no list has an error, no error can be reached within this
//! number of contexts, which says nothing about more of them: the answer is never "safe".

use std::sync::Arc;

use selvedge_check::{Bound, Contexts, Explanation, Outcome, OwnedTask, Reason, Run, Stop, ThreadScope, Verdict};
use selvedge_engines::contexts::threads::{fixed_threads, up_to_error};
use selvedge_engines::table::{Row, Threads};
use selvedge_engines::{EngineKind, integers};
use selvedge_ir::passes::fix_threads::FixedThreads;
use selvedge_ir::passes::sequentialize::{self, Sequential};
use selvedge_ir::passes::{Passed, inline};

use super::standing::{Best, Worth, worth};
use super::{run_team, team::for_one_thread};
use crate::attempt::Attempt;
use crate::judged::{Examined, examine};
use crate::{Certify, Failure, Options, Prepared};

/// Returns whether threads are to take turns as one thread: contexts are counted, and the user names an engine for one
/// thread, or leaves the choice to us and the program computes with numbers.
pub(super) fn is_wanted(prepared: &Prepared, options: &Options) -> bool {
    let of_one_thread = |row: &Row| row.scope.threads == Threads::One;
    let program = prepared.task().program;
    let has_numbers = || program.has_machine_integers() || integers::has_integers(program);
    options.engine_options.contexts.bound.is_some() && options.engine.map_or_else(has_numbers, of_one_thread)
}

/// Decides the threads as one thread.
pub(super) fn decide(prepared: &Prepared, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
    let task = prepared.task();
    let row = options.engine.unwrap_or(EngineKind::Contexts.row());
    let (bound, lists) = match fixed_threads(&task, &options.engine_options.contexts, row.name) {
        Ok(found) => found,
        Err(unsupported) => {
            let outcome = Outcome::Unknown(Reason::Unsupported(unsupported));
            let attempt = Attempt { outcome, ..Attempt::stopped(prepared, row, Stop::PartStopped) };
            return Ok(Best { row, attempt, runs: Vec::new() });
        }
    };
    let (mut contexts, mut last) = (Contexts::default(), None);
    for k in bound.numbers() {
        let mut is_proved = true;
        for list in &lists {
            let reduced = Reduced::new(list, k);
            let mut best = reduced.decide(options, run)?;
            match &best.attempt.outcome {
                Outcome::Safe(_) => is_proved &= worth(&best.attempt) == Worth::Judged,
                Outcome::Unsafe(found) => {
                    contexts.error = Some(k);
                    let trace = up_to_error(&task, list.lift.trace(&reduced.trace(&found.trace)));
                    let judged = examine(&task, best.attempt.engine, Verdict::Unsafe(trace), run)?;
                    best.attempt = about_threads(best.attempt, judged, contexts);
                    return Ok(best);
                }
                Outcome::Unknown(_) => {
                    best.attempt.explanation = explanation(contexts);
                    return Ok(best);
                }
            }
            last = Some(best);
        }
        contexts.proved = is_proved.then_some(k);
    }
    let mut best = last.expect("there is a number of contexts, and a list of threads");
    let outcome = Outcome::Unknown(Reason::Stop(Stop::BoundReached(Bound::Contexts(bound.last))));
    best.attempt = about_threads(best.attempt, Examined { outcome, unchecked: None, own_judge: None }, contexts);
    Ok(best)
}

fn explanation(contexts: Contexts) -> Explanation {
    Explanation { contexts: Some(contexts), ..Explanation::default() }
}

/// Returns an attempt at the question about one thread as one at that about the threads.
fn about_threads(attempt: Attempt, judged: Examined, contexts: Contexts) -> Attempt {
    let Examined { outcome, unchecked, own_judge } = judged;
    Attempt { outcome, unchecked, own_judge, certifier: None, explanation: explanation(contexts), ..attempt }
}

/// A list of threads as one thread. For engines for mathematical integers, which know no calls, these are replaced.
struct Reduced {
    sequential: Sequential,
    passed: Passed,
}

impl Reduced {
    fn new(list: &FixedThreads, k: u32) -> Reduced {
        let sequential = sequentialize::run(&list.program, &list.target, k);
        let Sequential { program, target, .. } = &sequential;
        let passed = match integers::has_integers(program) {
            true => inline::run(program, target),
            false => Passed::unchanged(program, target),
        };
        Reduced { sequential, passed }
    }

    /// Lets engines for one thread decide it.
    fn decide(&self, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
        let Passed { program, target, .. } = self.passed.clone();
        let prepared = Prepared::new(OwnedTask { program, target, threads: ThreadScope::Unbounded });
        let mut options = Options { certify: Certify::Engine, shortest: false, ..options.clone() };
        options.engine_options.contexts.bound = None;
        let team = options.engine.map_or_else(|| for_one_thread(&prepared, &options), |row| vec![row]);
        run_team(&Arc::clone(&prepared), team, &options, run)
    }

    /// Returns the execution of the list of threads.
    fn trace(&self, trace: &selvedge_ir::trace::Trace) -> selvedge_ir::trace::Trace {
        self.sequential.lift.trace(&self.passed.lift.trace(trace))
    }
}
