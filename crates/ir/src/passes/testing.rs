//! Helpers for tests of passes: a program before and after, in text form.

use super::{Lift, LiftStep, Passed, Source};
use crate::syntax::{Program, Ty};
use crate::target::Target;
use crate::text::{parse_with_target, print_with_target};
use crate::validate::{validate, validate_target};
use crate::visit::init_choices;

/// Runs a pass on a program and compares the result with the program expected. Indentation is ignored in both.
pub(super) fn check(run: impl Fn(&Program, &Target) -> Passed, before: &str, after: &str) -> Passed {
    let passed = run_on(run, before);
    let (expected, expected_target) = parse_with_target(after).expect("the expected program reads");
    assert_eq!(
        print_with_target(&passed.program, &passed.target),
        print_with_target(&expected, &expected_target),
        "the result is not the one expected",
    );
    passed
}

/// Runs a pass on a program; both it and the result must be valid, and the lift well-formed.
pub(super) fn run_on(run: impl Fn(&Program, &Target) -> Passed, before: &str) -> Passed {
    let (program, target) = parse_with_target(before).expect("the program reads");
    check_valid(&program, &target);
    let passed = run(&program, &target);
    check_valid(&passed.program, &passed.target);
    check_lift(&program, &passed.program, &passed.lift);
    passed
}

/// Checks a program before or after a pass, and returns its text.
pub(super) fn check_valid(program: &Program, target: &Target) -> String {
    let text = print_with_target(program, target);
    assert_eq!(validate(program), Ok(()), "{text}");
    assert_eq!(validate_target(program, target), Ok(()), "{text}");
    text
}

/// Checks that each old choice has a source of its type.
fn check_lift(old: &Program, new: &Program, lift: &Lift) {
    assert_eq!(lift.vars.len(), new.vars.len());
    assert_eq!(lift.edges.len(), new.edges.len());
    for (steps, edge) in lift.edges.iter().zip(&new.edges) {
        for LiftStep { edge: old_edge, choices, fresh, .. } in steps {
            check_sources(choices, &old.edges[*old_edge].op.choices(), &edge.op.choices());
            for (var, source) in fresh {
                check_sources(&[*source], &[old.vars[*var].ty], &edge.op.choices());
            }
        }
    }
    check_sources(&lift.init, &init_choices(&old.init), &init_choices(&new.init));
    for (entry, sources) in lift.entries.iter_enumerated() {
        let types = |program: &Program| init_choices(&program.entries[entry].init);
        check_sources(sources, &types(old), &types(new));
    }
}

fn check_sources(sources: &[Source], old: &[Ty], new: &[Ty]) {
    let ty = |source: &Source| match source {
        Source::Choice(number) => new[*number as usize],
        Source::Value(value) => value.ty(),
    };
    assert_eq!(sources.iter().map(ty).collect::<Vec<_>>(), old);
}
