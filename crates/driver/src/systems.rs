//! Questions about pushdown systems: one, or several with a shared state that take turns.
//!
//! One system is saturated, and the judge looks at the run or the proof. Several systems become a program that does
//! what they do, which an engine with a bound on contexts searches; the rules that it used are executed on the
//! systems themselves. Or they become one system for each number of contexts.

use selvedge_check::{
    Answer, Bound, ContextBound, Engine, Event, Explanation, InvalidQuestion, Outcome, PdsRun, Reason, Run, Stop, Task,
    ThreadScope, ThreadsRun, Times, Unsupported, Verdict,
};
use selvedge_engines::contexts::lazy::Contexts;
use selvedge_engines::contexts::{Histories, Options as ContextOptions};
use selvedge_engines::pushdown;
use selvedge_engines::{EngineKind, contexts_eager};
use selvedge_ir::pds::program::{Question, question};
use selvedge_ir::pds::turns::{NoTurns, in_turns};
use selvedge_ir::pds::{Pds, PdsTrace, Threads};
use selvedge_replay::certificate::{Refused, Unjudged, verify_system};

use crate::attempt::timed;
use crate::{Checkable, Failure, Options};

const PUSHDOWN: &str = "pushdown";

impl Checkable<Pds> for Pds {
    fn answer(self, options: &Options, run: &Run<'_>) -> Result<Answer<Pds>, Failure> {
        if self.targets.is_empty() {
            return Err(invalid("the system has no target", "give --target '<p, g>', or write a line `target <p, g>`"));
        }
        let (mut times, mut unchecked) = (Times::default(), None);
        run.event(Event::Phase("searching"));
        let found = timed(&mut times.engine, || pushdown::check(&self, options.direction, run));
        run.event(Event::Phase("judging"));
        let outcome = timed(&mut times.judge, || match found {
            Ok(pushdown::SystemVerdict::Unreachable(proof)) => match verify_system(&self, &proof, run) {
                Ok(()) => Ok(Outcome::Safe(Some(proof))),
                Err(Refused::Unjudged(Unjudged::Stopped(Stop::Cancelled))) => {
                    Ok(Outcome::Unknown(Reason::Stop(Stop::Cancelled)))
                }
                Err(Refused::Unjudged(unjudged)) => {
                    unchecked = Some(unjudged.to_string());
                    Ok(Outcome::Safe(None))
                }
                Err(Refused::Flawed(flaw)) => {
                    Err(internal(PUSHDOWN, format!("the proof is flawed: {}", flaw.show(&self))))
                }
            },
            Ok(pushdown::SystemVerdict::Reachable(trace)) => executed(&self, trace),
            Err(stop) => Ok(Outcome::Unknown(Reason::Stop(stop))),
        })?;
        Ok(Answer { unchecked, ..Answer::new(self, outcome, PUSHDOWN, times) })
    }
}

fn executed(pds: &Pds, trace: PdsTrace) -> Result<Outcome<Pds>, Failure> {
    let configs = pds.replay(&trace).map_err(|reason| not_a_run(PUSHDOWN, &reason))?;
    Ok(Outcome::Unsafe(Box::new(PdsRun { trace, configs })))
}

fn not_a_run(engine: &'static str, reason: &impl std::fmt::Debug) -> Failure {
    internal(engine, format!("the run does not replay: {reason:?}"))
}

fn internal(engine: &'static str, message: String) -> Failure {
    Failure::Internal { engine, message }
}

fn invalid(message: &str, help: &str) -> Failure {
    Failure::Usage(InvalidQuestion { message: message.to_string(), help: Some(help.to_string()) })
}

fn missing(message: &str, extension: &str) -> Failure {
    invalid(message, &format!("put it beside the file, in a file of the same name that ends in .{extension}"))
}

/// Returns the options for engines that search the program of several systems. Each rule reads and writes the shared
/// state as a whole, and there are many of them: the less a rule has to do with histories, the better.
pub fn turns_options(bound: ContextBound) -> ContextOptions {
    ContextOptions { bound: Some(bound), histories: Some(Histories::Values) }
}

/// Returns the bound on contexts, without which several systems are not checked, and checks that a target is there.
fn bound(threads: &Threads, options: &Options) -> Result<ContextBound, Failure> {
    if threads.target.is_none() {
        return Err(missing("the system has no target", "spec"));
    }
    options.engine_options.contexts.bound.ok_or_else(|| {
        invalid("the system has several threads", "give --contexts K for the number of contexts of each thread")
    })
}

impl Checkable<Threads> for Threads {
    fn answer(self, options: &Options, run: &Run<'_>) -> Result<Answer<Threads>, Failure> {
        let bound = bound(&self, options)?;
        run.event(Event::Phase("searching"));
        let question = question(&self).ok_or_else(|| missing("the initial configuration is not known", "init"))?;
        let engine: &dyn Engine = match options.engine {
            Some(row) if row.name == EngineKind::ContextsEager.name() => &contexts_eager(turns_options(bound)),
            _ => &Contexts { options: turns_options(bound) },
        };
        let task = Task { program: &question.program, target: &question.target, threads: ThreadScope::Unbounded };
        let (mut times, mut explanation) = (Times::default(), Explanation::default());
        let verdict = timed(&mut times.engine, || engine.decide(&task, run, &mut explanation));
        run.event(Event::Phase("judging"));
        let outcome = timed(&mut times.judge, || match verdict {
            Ok(verdict) => {
                let contexts = explanation.contexts.as_ref().and_then(|counts| counts.error).unwrap_or(bound.last);
                replayed(&self, &question, engine.name(), verdict, contexts)
            }
            Err(stop) => Ok(Outcome::Unknown(Reason::Stop(stop))),
        })?;
        let engine = engine.name();
        Ok(Answer::new(self, outcome, engine, times))
    }
}

/// Executes on the systems the rules that an execution of their program stands for.
fn replayed(
    threads: &Threads,
    question: &Question,
    engine: &'static str,
    verdict: Verdict,
    contexts: u32,
) -> Result<Outcome<Threads>, Failure> {
    let Verdict::Unsafe(trace) = verdict else {
        return Err(internal(engine, "engines with a bound prove nothing".to_string()));
    };
    let rule = |step: &selvedge_ir::Step| question.rules.get(&step.edge).copied();
    let rules: Vec<_> = trace.written_out().steps.iter().filter_map(rule).collect();
    let configs = threads.replay(&rules).map_err(|reason| not_a_run(engine, &reason))?;
    Ok(Outcome::Unsafe(Box::new(ThreadsRun { contexts, rules, configs })))
}

/// Several systems that are checked as one system for each number of contexts, smallest first.
pub struct OneSystem(pub Threads);

impl Checkable<Pds> for OneSystem {
    fn answer(self, options: &Options, run: &Run<'_>) -> Result<Answer<Pds>, Failure> {
        let bound = bound(&self.0, options)?;
        let mut last = None;
        for k in bound.numbers() {
            let pds = match in_turns(&self.0, k) {
                Ok(turns) => turns.pds,
                Err(NoTurns::NoInitial) => return Err(missing(&NoTurns::NoInitial.to_string(), "init")),
                Err(reason @ NoTurns::TooLarge(_)) => {
                    let reason = format!("{reason} (at {k} contexts per thread)");
                    return Err(Failure::Unsupported(Unsupported::new(reason)));
                }
            };
            match pds.answer(options, run)? {
                answer if matches!(answer.outcome, Outcome::Safe(_)) => last = Some(answer),
                answer => return Ok(answer),
            }
        }
        let mut answer = last.expect("a range has a number");
        answer.outcome = Outcome::Unknown(Reason::Stop(Stop::BoundReached(Bound::Contexts(bound.last))));
        Ok(answer)
    }
}
