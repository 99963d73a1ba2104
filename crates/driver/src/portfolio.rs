//! The portfolio: which engines suit a question, and how they run side by side or in turns.
//!
//! Side by side, the first engine has a short start over the others, so that easy questions are always answered by
//! the same one; then as many run as there are jobs, and when one gives up or has had its time, the next begins. One
//! that has had its time goes on beside the others, who would never get their turn otherwise. The first judged answer
//! wins and stops the others. In turns, with one job, each engine gets a budget of work, counted in its own events
//! and its solver's units and not by the clock, which grows from round to round; so the same question has the same
//! answer, trace and winner each time. Either way a `safe` without certificate waits for a while for one with a
//! certificate.
//!
//! Side by side, it ends when the engines do. In turns, it ends because a budget that grows without bound does not stop
//! an engine that ends. Both are right because every answer was judged where it was found.

mod as_one_thread;
mod parallel;
mod standing;
mod team;
mod turns;

use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_check::{Answer, Bound, EngineRun, Event, Outcome, Reason, Run, Stop};
use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;
use selvedge_ir::callgraph::CallGraph;
use selvedge_logic::bdd::set_deadline;

use crate::attempt::{Attempt, CONTROL_FLOW, attempt, by_control_flow, equipped};
use crate::defect::{Panic, guard};
use crate::{Failure, Minimize, Options, Prepared, minimize, shortest};
use parallel::Parallel;
pub(crate) use standing::defect;
use standing::{Best, Worth, end_of, worth};
pub(crate) use team::team;
use team::{in_rounds, in_turns, without_bound};
pub(crate) use turns::BudgetObserver;
use turns::RoundRobin;

/// The greatest budget of engines that look at all executions where some were asked about.
const MOST_HANDED_OVER: usize = 64;

/// The most steps of executions that `bmc` looks at beside other engines.
const MOST_STEPS: u32 = 1_000_000;

/// Decides a question by the engine that the user names, or by engines that suit it.
pub(crate) fn decide(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    set_deadline(run.time_left().and_then(|left| Instant::now().checked_add(left)));
    let answer = decide_before(prepared, options, run);
    set_deadline(None);
    answer
}

/// Does so while operations on decision diagrams know when the time is over.
fn decide_before(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    run.event(Event::Phase("choosing"));
    let options = &without_step_bound(options);
    let mut defects = Vec::new();
    if options.engine.is_none() {
        let panicked = |Panic { message }| Some(Err(Failure::Panicked { engine: CONTROL_FLOW, message }));
        match guard(|| by_control_flow(prepared, run)).unwrap_or_else(panicked) {
            Some(Ok(attempt)) => return Ok(answer(prepared, attempt, Vec::new())),
            Some(Err(failure)) => defects.push(defect(CONTROL_FLOW, Duration::ZERO, &failure)),
            None => {}
        }
    }
    let Best { mut row, mut attempt, mut runs } = match as_one_thread::is_wanted(prepared, options) {
        true => in_turns_as_one_thread(prepared, options, run)?,
        false => run_team(prepared, team(prepared, options), options, run)?,
    };
    if let (Outcome::Unsafe(found), true) = (&attempt.outcome, options.shortest) {
        run.event(Event::Phase("shortening"));
        if let Some(shorter) = shortest::shorter(prepared, found.trace.length(), options, run) {
            (row, attempt) = (EngineKind::Bmc.row(), Attempt { engine: attempt.engine, ..shorter });
        }
    }
    if let (Outcome::Unsafe(found), Minimize::Yes) = (&mut attempt.outcome, options.minimize) {
        run.event(Event::Phase("minimizing"));
        let minimized = guard(|| {
            let (engine, simplified) = equipped(prepared, row, options);
            let task = prepared.task();
            let shorter = minimize::anew(&task, &*engine, &simplified, (**found).clone(), run);
            minimize::minimize(&task, shorter, run)
        });
        match minimized {
            Ok(minimized) => **found = minimized,
            // The execution that was found is as good, only longer.
            Err(Panic { message }) => {
                defects.push(defect(row.name, Duration::ZERO, &Failure::Panicked { engine: row.name, message }));
            }
        }
    }
    runs.extend(defects);
    Ok(answer(prepared, attempt, runs))
}

/// Returns the options with which engines run side by side: there `bmc` has no bound on steps but the work of the
/// others.
fn without_step_bound(options: &Options) -> Options {
    let mut options = options.clone();
    if options.engine.is_none() {
        options.engine_options.bmc.steps = MOST_STEPS;
    }
    options
}

fn answer(prepared: &Prepared, attempt: Attempt, runs: Vec<EngineRun>) -> Answer {
    Answer {
        runs,
        certifier: attempt.certifier,
        unchecked: attempt.unchecked,
        own_judge: attempt.own_judge,
        explanation: attempt.explanation,
        searched: Some(attempt.searched),
        ..Answer::new(prepared.task().into(), attempt.outcome, attempt.engine, attempt.times)
    }
}

/// Runs a team.
fn run_team(
    prepared: &Arc<Prepared>,
    team: Vec<&'static Row>,
    options: &Options,
    run: &Run<'_>,
) -> Result<Best, Failure> {
    match team.as_slice() {
        [row] => {
            let attempt = attempt(prepared, row, options, run)?;
            let end = end_of(&attempt);
            let alone = EngineRun { engine: attempt.engine, time: attempt.times.total(), end, far: attempt.far };
            let alone = Best { row, attempt, runs: vec![alone] };
            if in_turns(options) || in_rounds(options) { hand_over(prepared, alone, options, run) } else { Ok(alone) }
        }
        _ if options.jobs <= 1 => RoundRobin::new(team, usize::MAX).run(prepared, options, run),
        _ => Parallel::new(prepared, team, options).run(run),
    }
}

/// Lets threads take turns as one thread. Without `--engine`, this comes after a small share of work for `contexts`,
/// and before the engines that look at all executions.
fn in_turns_as_one_thread(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
    if options.engine.is_some() {
        return as_one_thread::decide(prepared, options, run);
    }
    let shortly = RoundRobin::new(team(prepared, options), MOST_HANDED_OVER).run(prepared, options, run)?;
    let best = match &shortly.attempt.outcome {
        Outcome::Unknown(Reason::Stop(Stop::BoundReached(Bound::Contexts(_)))) | Outcome::Unsafe(_) => shortly,
        _ => as_one_thread::decide(prepared, options, run)?,
    };
    hand_over(prepared, best, options, run)
}

/// Lets engines that look at all executions say more, with little work, if there is no error within a number of
/// contexts or rounds, and no recursion.
fn hand_over(prepared: &Prepared, bounded: Best, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
    let at_bound = matches!(bounded.attempt.outcome, Outcome::Unknown(Reason::Stop(Stop::BoundReached(_))));
    if !at_bound || CallGraph::new(prepared.task().program).has_recursion() {
        return Ok(bounded);
    }
    let mut more = RoundRobin::new(without_bound(prepared, options), MOST_HANDED_OVER).run(prepared, options, run)?;
    if worth(&more.attempt) == Worth::Open {
        return Ok(bounded);
    }
    if matches!(more.attempt.outcome, Outcome::Safe(_)) {
        more.attempt.explanation.contexts = bounded.attempt.explanation.contexts;
        more.attempt.explanation.rounds = bounded.attempt.explanation.rounds;
    }
    more.runs.splice(0..0, bounded.runs);
    Ok(more)
}

#[cfg(test)]
mod tests {
    use selvedge_check::{
        CancelToken, Engine, EngineEnd, Explanation, OwnedTask, Task, ThreadScope, Unsupported, Verdict,
    };
    use selvedge_ir::text::parse_with_target;

    use super::*;

    /// An engine with a defect.
    enum Defective {
        Panics,
        Lies,
        /// It never looks at its limits.
        Deaf,
        /// It ends at a bound.
        Bounded,
        /// Its solver searches for ever.
        Searches,
    }

    impl Engine for Defective {
        fn name(&self) -> &'static str {
            "defective"
        }

        fn supports(&self, _: &Task<'_>) -> Result<(), Unsupported> {
            Ok(())
        }

        fn decide(&self, _: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
            match self {
                Defective::Searches => loop {
                    run.check_search(1_000)?;
                },
                Defective::Panics => panic!("this cannot happen"),
                Defective::Lies => Ok(Verdict::Unsafe(selvedge_check::Trace::default())),
                Defective::Bounded => Err(Stop::BoundReached(selvedge_check::Bound::Steps(1))),
                Defective::Deaf => loop {
                    std::thread::sleep(Duration::from_millis(10));
                },
            }
        }
    }

    const fn row(build: fn(&selvedge_engines::EngineOptions) -> Box<dyn Engine>) -> Row {
        use selvedge_engines::table::{Scope, Threads, Values};
        let scope = Scope { threads: Threads::UpToN, recursion: true, values: Values::Booleans };
        Row { name: "defective", scope, idea: "a toy", options: &[], passes: &[], build }
    }

    static PANICS: Row = row(|_| Box::new(Defective::Panics));
    static LIES: Row = row(|_| Box::new(Defective::Lies));
    static DEAF: Row = row(|_| Box::new(Defective::Deaf));
    static BOUNDED: Row = row(|_| Box::new(Defective::Bounded));
    static SEARCHES: Row = row(|_| Box::new(Defective::Searches));

    fn ask(team: &[&'static Row], jobs: usize, run: &Run<'_>) -> Result<Best, Failure> {
        crate::defect::install();
        let text = "shared x: bool\ninit x := F\nproc main() from L0 to L2\nL0 -> L1: x := T\n\
            L1 -> L2: assert x\nstart main\ntarget e1";
        let (program, target) = parse_with_target(text).expect("it is well-formed");
        let prepared = Prepared::new(OwnedTask { program, target, threads: ThreadScope::Unbounded });
        run_team(&prepared, team.to_vec(), &Options { jobs, ..Options::default() }, run)
    }

    #[test]
    fn a_defect_of_one_engine_is_reported_and_the_others_go_on() {
        for (defective, expected) in [(&PANICS, "panicked: this cannot happen (at "), (&LIES, "judge disagree")] {
            for jobs in [1, 2] {
                let team = [defective, EngineKind::Summaries.row()];
                let best = ask(&team, jobs, &Run::unlimited()).expect("another engine answers");
                assert!(matches!(best.attempt.outcome, Outcome::Safe(Some(_))), "{:?}", best.attempt);
                let [first, second] = best.runs.as_slice() else { panic!("{:?}", best.runs) };
                let EngineEnd::Defect(message) = &first.end else { panic!("{first:?}") };
                assert!(message.contains(expected), "{message}");
                assert_eq!(second.end, EngineEnd::Answered);
            }
        }
    }

    #[test]
    fn a_defect_is_a_failure_where_no_engine_answers() {
        for team in [&[&PANICS][..], &[&PANICS, &LIES]] {
            for jobs in [1, 2] {
                let failure = ask(team, jobs, &Run::unlimited()).err();
                assert!(matches!(failure, Some(Failure::Panicked { engine: "defective", .. })), "{failure:?}");
            }
        }
    }

    #[test]
    fn a_limit_that_ended_an_engine_is_the_reason_whatever_the_bounds_of_others() {
        let limit = Duration::from_millis(100);
        let limits = selvedge_check::Limits { time: Some(limit), ..selvedge_check::Limits::default() };
        let run = Run::new(CancelToken::default(), limits, &());
        let best = ask(&[&BOUNDED, &DEAF], 2, &run).expect("there is no defect");
        assert_eq!(best.attempt.outcome.reason(), Some(&Reason::Stop(Stop::TimeLimit(limit))));
        let bound = Reason::Stop(Stop::BoundReached(selvedge_check::Bound::Steps(1)));
        let best = ask(&[&BOUNDED, &BOUNDED], 2, &Run::unlimited()).expect("there is no defect");
        assert_eq!(best.attempt.outcome.reason(), Some(&bound));
    }

    #[test]
    fn an_engine_whose_solver_searches_for_long_loses_its_turn() {
        let best = ask(&[&SEARCHES, EngineKind::Summaries.row()], 1, &Run::unlimited()).expect("there is no defect");
        assert!(matches!(best.attempt.outcome, Outcome::Safe(Some(_))), "{:?}", best.attempt);
    }

    #[test]
    fn an_engine_that_does_not_look_at_its_limits_is_left_behind() {
        let limit = Duration::from_millis(50);
        let limits = selvedge_check::Limits { time: Some(limit), ..selvedge_check::Limits::default() };
        let run = Run::new(CancelToken::default(), limits, &());
        let best = ask(&[&DEAF, &DEAF], 2, &run).expect("there is no defect");
        let stop = Reason::Stop(Stop::TimeLimit(limit));
        assert_eq!(best.attempt.outcome.reason(), Some(&stop));
        assert!(best.runs.iter().all(|run| run.end == EngineEnd::GaveUp(stop.clone())), "{:?}", best.runs);
        assert!(run.elapsed() < Duration::from_secs(2), "{:?}", run.elapsed());
    }
}
