//! The judge and forged evidence: a trace with one wrong step is rejected, and so is a certificate that lacks a
//! location.
//!
//! Each forgery is wrong by the program's text alone, so the judge is not measured by itself.

use std::sync::LazyLock;

use selvedge_check::{Certificate, Run, Task, Verdict};
use selvedge_engines::control_flow;
use selvedge_ir::eval::holds;
use selvedge_ir::{EdgeId, Expr, Op, Program, Step, Target, ThreadId, Trace, Ty, Value};
use selvedge_replay::{Interpreter, judge, replay};
use selvedge_testkit::differ::{Posed, pose};
use selvedge_testkit::generate::{Weights, generate_with};
use selvedge_testkit::oracle::{Answer, Budget, ask};
use selvedge_testkit::rng::Rng;

/// Generates programs of all presets.
fn programs(count: u64) -> impl Iterator<Item = Posed> {
    let presets = Weights::presets();
    (0..count).map(move |number| {
        let (_, weights) = &presets[(number % 4) as usize];
        pose(&generate_with(&mut Rng::for_item(77, number), weights)).expect("generated programs are read")
    })
}

/// Unsafe programs with their traces.
static TRACES: LazyLock<Vec<(Posed, Trace)>> = LazyLock::new(|| {
    let with_trace = |posed: Posed| match ask(&posed.task(), Budget::default()) {
        Answer::Unsafe(trace) => Some((posed, trace)),
        _ => None,
    };
    programs(400).filter_map(with_trace).collect()
});

/// Calls `check` with unsafe programs and their traces.
fn with_traces(mut check: impl FnMut(&Task<'_>, &Trace)) {
    assert!(TRACES.len() > 100, "only {} traces", TRACES.len());
    TRACES.iter().for_each(|(posed, trace)| check(&posed.task(), trace));
}

fn is_rejected(task: &Task<'_>, trace: &Trace) -> bool {
    judge(task, &Verdict::Unsafe(trace.clone()), &Run::unlimited()).is_err()
}

/// Changes each step of each trace by `forge`; all results must be rejected.
fn all_rejected(name: &str, forge: impl Fn(&Program, &Trace, usize) -> Option<Trace>) {
    let mut n_forged = 0;
    with_traces(|task, trace| {
        assert!(!is_rejected(task, trace), "the honest trace is accepted");
        for number in 0..trace.steps.len() {
            if let Some(forged) = forge(task.program, trace, number) {
                n_forged += 1;
                assert!(is_rejected(task, &forged), "{name}: accepted a forgery in step {number} of {trace:?}");
            }
        }
    });
    assert!(n_forged > 10, "{name}: only {n_forged} forged traces");
}

fn change(trace: &Trace, number: usize, change: impl FnOnce(&mut Step)) -> Option<Trace> {
    let mut lie = trace.clone();
    change(&mut lie.steps[number]);
    Some(lie)
}

#[test]
fn a_thread_that_does_not_exist_is_rejected() {
    all_rejected("thread", |_, trace, number| change(trace, number, |step| step.thread = ThreadId(1_000)));
}

#[test]
fn an_edge_that_leaves_another_location_is_rejected() {
    all_rejected("edge", |program, trace, number| {
        let from = program.edges[trace.steps[number].edge].from;
        let other = program.edges.indices().find(|edge| program.edges[*edge].from != from)?;
        change(trace, number, |step| step.edge = other)
    });
}

#[test]
fn an_edge_that_does_not_exist_is_rejected() {
    all_rejected("no edge", |program, trace, number| {
        change(trace, number, |step| step.edge = EdgeId::new(program.edges.len()))
    });
}

#[test]
fn wrong_choices_are_rejected() {
    all_rejected("one more", |_, trace, number| change(trace, number, |step| step.choices.push(Value::Bool(true))));
    all_rejected("integer", |_, trace, number| {
        let place = trace.steps[number].choices.len().checked_sub(1)?;
        change(trace, number, |step| step.choices[place] = Value::Int(1))
    });
    all_rejected("one less", |_, trace, number| {
        trace.steps[number].choices.last()?;
        change(trace, number, |step| step.choices.truncate(step.choices.len() - 1))
    });
}

#[test]
fn choices_for_threads_that_take_no_part_are_rejected() {
    all_rejected("passive", |program, trace, number| {
        let choices = program.edges[trace.steps[number].edge].op.choices();
        let values = choices.iter().map(|ty: &Ty| ty.default_value()).collect();
        change(trace, number, |step| step.passive.push(values))
    });
}

#[test]
fn values_of_variables_that_do_not_start_are_rejected() {
    all_rejected("fresh", |program, trace, number| {
        let shared = program.vars.indices().find(|var| program.vars[*var].scope == selvedge_ir::Scope::Shared)?;
        change(trace, number, |step| step.fresh.push((shared, Value::Bool(true))))
    });
    all_rejected("fresh twice", |_, trace, number| {
        let first = *trace.steps[number].fresh.first()?;
        change(trace, number, |step| step.fresh.push(first))
    });
}

#[test]
fn bodies_that_do_not_exist_are_rejected() {
    all_rejected("body", |_, trace, number| {
        trace.bodies.is_empty().then_some(())?;
        change(trace, number, |step| step.body = Some(0))
    });
}

/// Returns the next step of the thread that makes this one.
fn next_of_same_thread(trace: &Trace, number: usize) -> Option<usize> {
    let thread = trace.steps[number].thread;
    (number + 1..trace.steps.len()).find(|later| trace.steps[*later].thread == thread)
}

#[test]
fn a_missing_step_is_rejected() {
    all_rejected("missing", |program, trace, number| {
        let next = next_of_same_thread(trace, number)?;
        let from = |number: usize| program.edges[trace.steps[number].edge].from;
        (from(next) != from(number)).then_some(())?;
        let mut lie = trace.clone();
        lie.steps.remove(number);
        Some(lie)
    });
}

#[test]
fn swapped_steps_of_one_thread_are_rejected() {
    all_rejected("swapped", |program, trace, number| {
        let next = next_of_same_thread(trace, number).filter(|next| *next == number + 1)?;
        let from = |number: usize| program.edges[trace.steps[number].edge].from;
        (from(next) != from(number)).then_some(())?;
        let mut lie = trace.clone();
        lie.steps.swap(number, next);
        Some(lie)
    });
}

#[test]
fn a_repeated_step_is_rejected() {
    all_rejected("repeated", |program, trace, number| {
        let edge = &program.edges[trace.steps[number].edge];
        let moves_on = !matches!(edge.op, Op::Call(_) | Op::Return(_)) && edge.from != edge.to;
        moves_on.then_some(())?;
        let mut lie = trace.clone();
        lie.steps.insert(number, trace.steps[number].clone());
        Some(lie)
    });
}

#[test]
fn a_trace_that_stops_early_or_goes_on_is_rejected() {
    with_traces(|task, trace| {
        let mut longer = trace.clone();
        if let Some(last) = trace.steps.last() {
            longer.steps.push(last.clone());
            assert!(is_rejected(task, &longer), "goes on after the error: {trace:?}");
        }
        for length in 0..trace.steps.len() {
            let mut shorter = trace.clone();
            shorter.steps.truncate(length);
            assert!(is_rejected(task, &shorter), "stops after {length} steps: {trace:?}");
        }
    });
}

#[test]
fn wrong_initial_threads_are_rejected() {
    with_traces(|task, trace| {
        let mut none = trace.clone();
        none.start.threads.clear();
        let mut extra = trace.clone();
        for _ in 0..10 {
            extra.start.threads.extend(trace.start.threads.first().cloned());
        }
        let mut unknown = trace.clone();
        unknown.start.threads.iter_mut().for_each(|thread| thread.entry = selvedge_ir::EntryId::new(99));
        for lie in [extra, unknown] {
            assert!(lie == *trace || is_rejected(task, &lie), "{lie:?}");
        }
        let by_thread = !trace.steps.is_empty() && task.program.prelude.is_none();
        assert!(!by_thread || is_rejected(task, &none), "{none:?}");
    });
}

#[test]
fn an_error_that_was_not_asked_for_is_rejected() {
    with_traces(|task, trace| {
        let nothing = Target::default();
        assert!(is_rejected(&Task { target: &nothing, ..*task }, trace));
    });
}

#[test]
fn an_assertion_that_passes_is_no_error() {
    let mut n_lies = 0;
    with_traces(|task, trace| {
        let Some(last) = trace.steps.last() else { return };
        let Op::Assert(condition) = &task.program.edges[last.edge].op else { return };
        let replayed = replay(task, trace).expect("the honest trace is accepted");
        let before = replayed.states.last().unwrap_or(&replayed.start);
        let position = before.position(last.thread).expect("the thread moves");
        let interpreter = Interpreter::new(task.program, task.threads);
        for place in 0..last.choices.len() {
            let mut lie = trace.clone();
            let choices = &mut lie.steps.last_mut().expect("it has a last step").choices;
            choices[place] = Value::Bool(choices[place] == Value::Bool(false));
            let choices = choices.clone();
            let passes = holds(condition, &|leaf| match leaf {
                Expr::Choice(number, _) => choices[*number as usize],
                Expr::Var(var) => interpreter.read(before, position, *var),
                _ => unreachable!("assertions read old values"),
            });
            if passes == Ok(true) {
                n_lies += 1;
                assert!(is_rejected(task, &lie), "{trace:?}");
            }
        }
    });
    assert!(n_lies > 2, "only {n_lies} lies");
}

#[test]
fn a_start_value_for_a_variable_with_an_initial_value_is_rejected() {
    let mut n_lies = 0;
    with_traces(|task, trace| {
        if let Some((var, _)) = task.program.init.first() {
            let mut lie = trace.clone();
            lie.start.fresh.push((*var, Value::Bool(true)));
            assert!(is_rejected(task, &lie));
            n_lies += 1;
        }
    });
    assert!(n_lies > 50, "only {n_lies} lies");
}

/// A certificate of the engine is the least closed set: each location is a start or has a predecessor in it.
#[test]
fn a_certificate_without_one_of_its_locations_is_rejected() {
    let mut n_lies = 0;
    for posed in programs(1500) {
        let task = posed.task();
        let Some(certificate) = control_flow::certificate(&task) else { continue };
        assert!(judge(&task, &Verdict::Safe(Some(certificate.clone())), &Run::unlimited()).is_ok());
        let Certificate::ControlFlow(locs) = &certificate else { continue };
        for missing in 0..locs.len() {
            let mut fewer = locs.clone();
            fewer.remove(missing);
            let lie = Verdict::Safe(Some(Certificate::ControlFlow(fewer)));
            assert!(judge(&task, &lie, &Run::unlimited()).is_err(), "{:?} without the location at {missing}", locs);
            n_lies += 1;
        }
    }
    assert!(n_lies > 50, "only {n_lies} lies");
}

#[test]
fn a_certificate_for_an_unsafe_program_is_rejected() {
    with_traces(|task, _| {
        let everything = task.program.locs.indices().collect();
        let lie = Verdict::Safe(Some(Certificate::ControlFlow(everything)));
        assert!(judge(task, &lie, &Run::unlimited()).is_err());
    });
}
