//! Generated programs have one answer on all paths through the checker, and the harness would notice otherwise.

use selvedge_check::Task;
use selvedge_ir::passes::{Lift, Passed, Source};
use selvedge_ir::{Assign, Expr, Op, Program, Target, Value};
use selvedge_testkit::differ::{ALL_WAYS, NamedPass, compare_passes, item, pose};
use selvedge_testkit::generate::Weights;
use selvedge_testkit::harness::sample;
use selvedge_testkit::metamorph::{REWRITES, apply};
use selvedge_testkit::oracle::{Answer, Budget, ask};
use selvedge_testkit::rng::Rng;

/// Few programs are too large for the oracle, and both verdicts are common.
#[test]
fn generated_programs_have_one_answer() {
    let tally = sample(ALL_WAYS, 1, 0, 400);
    let total = tally.sum(&["safe", "unsafe", "deep", "skipped"]);
    assert!(tally["skipped"] * 10 < total, "{tally}");
    assert!(tally["unsafe"] * 4 >= total && tally["unsafe"] * 10 <= total * 6, "{tally}");
}

#[test]
fn every_rewrite_keeps_the_answer() {
    for (name, rewrite) in REWRITES {
        let mut n_rewritten = 0;
        for number in 0..120 {
            let model = item(2, number);
            let Some(rewritten) = apply(*rewrite, &model, &mut Rng::new(number)) else { continue };
            let answer = |model| ask(&pose(model).expect("generated programs are read").task(), Budget::default());
            let (before, after) = (answer(&model), answer(&rewritten));
            assert!(!before.contradicts(&after), "{name}: {before}, but then {after}\n{model}\n{rewritten}");
            n_rewritten += 1;
        }
        assert!(n_rewritten > 5, "{name}: only {n_rewritten} programs");
    }
}

#[test]
fn all_presets_make_programs_of_both_verdicts() {
    for (name, weights) in Weights::presets() {
        let (mut n_safe, mut n_unsafe) = (0, 0);
        for number in 0..100 {
            let model = selvedge_testkit::generate::generate(number, &weights);
            match ask(&pose(&model).expect("generated programs are read").task(), Budget::default()) {
                Answer::Safe => n_safe += 1,
                Answer::Unsafe(_) => n_unsafe += 1,
                Answer::Deep | Answer::Large => {}
            }
        }
        assert!(n_safe > 30 && n_unsafe > 25, "{name}: {n_safe} safe, {n_unsafe} unsafe");
    }
}

/// Applies a change to a program and pretends that it is a pass. Choices that the change removed are lifted to false.
fn change(program: &Program, target: &Target, change: impl Fn(&mut Program)) -> Passed {
    let mut changed = program.clone();
    change(&mut changed);
    let mut lift = Lift::identity(program);
    for (edge, steps) in lift.edges.iter_mut_enumerated() {
        let n_choices = changed.edges[edge].op.choices().len();
        for step in steps {
            step.choices[n_choices..].fill(Source::Value(Value::Bool(false)));
        }
    }
    if changed.init.is_empty() {
        lift.init.fill(Source::Value(Value::Bool(false)));
    }
    Passed { program: changed, target: target.clone(), lift }
}

fn change_ops(program: &Program, target: &Target, change_op: impl Fn(&mut Op)) -> Passed {
    change(program, target, |program| program.edges.iter_mut().for_each(|edge| change_op(&mut edge.op)))
}

fn forget_conditions(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::Assign(assign) = op {
            assign.constrain = Expr::TRUE;
        }
    })
}

fn forget_atomicity(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::AtomicBegin | Op::AtomicEnd = op {
            *op = Op::skip();
        }
    })
}

fn forget_spawns(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::Spawn(_) | Op::Fork(_) = op {
            *op = Op::skip();
        }
    })
}

fn forget_broadcasts(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::Assign(assign) = op {
            *assign = Assign { passive: Vec::new(), ..assign.clone() };
        }
    })
}

fn forget_results(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::Call(call) = op {
            call.results.iter_mut().for_each(|result| *result = None);
        }
    })
}

fn forget_arguments(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::Call(call) = op {
            call.args.iter_mut().for_each(|arg| *arg = Expr::TRUE);
        }
    })
}

fn end_at_returns(program: &Program, target: &Target) -> Passed {
    change_ops(program, target, |op| {
        if let Op::Return(_) = op {
            *op = Op::End;
        }
    })
}

fn forget_initial_values(program: &Program, target: &Target) -> Passed {
    change(program, target, |program| program.init.clear())
}

fn lift_no_choices(program: &Program, target: &Target) -> Passed {
    let mut passed = change(program, target, |_| {});
    let steps = passed.lift.edges.iter_mut().flatten();
    steps.for_each(|step| step.choices.fill(Source::Value(Value::Bool(false))));
    passed
}

fn lift_no_fresh_values(program: &Program, target: &Target) -> Passed {
    let mut passed = change(program, target, |_| {});
    passed.lift.vars.iter_mut().for_each(|var| *var = None);
    passed
}

#[test]
fn wrong_passes_are_noticed() {
    let wrong: &[NamedPass<'_>] = &[
        ("forget_conditions", &forget_conditions),
        ("forget_atomicity", &forget_atomicity),
        ("forget_spawns", &forget_spawns),
        ("forget_broadcasts", &forget_broadcasts),
        ("forget_results", &forget_results),
        ("forget_arguments", &forget_arguments),
        ("end_at_returns", &end_at_returns),
        ("forget_initial_values", &forget_initial_values),
        ("lift_no_choices", &lift_no_choices),
        ("lift_no_fresh_values", &lift_no_fresh_values),
    ];
    let budget = Budget::default();
    let programs: Vec<_> =
        (0..1200).map(|number| pose(&item(3, number)).expect("generated programs are read")).collect();
    let answers: Vec<Answer> = programs.iter().map(|posed| ask(&posed.task(), budget)).collect();
    for pass in wrong {
        let notices = |(task, answer): (Task<'_>, &Answer)| compare_passes(&task, &[*pass], answer, budget).is_err();
        let noticed = programs.iter().zip(&answers).position(|(posed, answer)| notices((posed.task(), answer)));
        assert!(noticed.is_some(), "{} is not noticed", pass.0);
    }
}
