//! Programs in other formats, and what others say about them.

use crate::harness::{run, scratch, snapshot};

#[test]
fn a_recursive_program_is_written_as_horn_clauses() {
    snapshot!("horn", "convert --to horn recursion.bp");
    let path = scratch("recursion.smt2");
    let ran = run(&format!("convert --to horn recursion.bp --output {path}"));
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    let text = std::fs::read_to_string(&path).expect("it was written");
    assert_eq!(text, run("convert --to horn recursion.bp").out);
}

#[test]
fn threads_have_no_horn_clauses() {
    let ran = run("convert --to horn threads.bp");
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert!(ran.err.contains("Horn clauses only support programs with one thread"), "{}", ran.err);
}

#[test]
fn a_crosscheck_ends_with_the_common_verdict() {
    for (args, code) in [("safe.bp", 0), ("unsafe.bp", 10), ("safe.bp unsafe.bp", 10), ("broken.bp", 2)] {
        let ran = run(&format!("crosscheck --time-limit 20s {args}"));
        assert_eq!(ran.code, code, "{args}: {}{}", ran.out, ran.err);
    }
    let ran = run("crosscheck safe.bp");
    let row = |tool: &str| ran.out.lines().find(|line| line.trim_start().starts_with(tool));
    assert!(row("summaries").is_some_and(|row| row.contains("safe ") && row.ends_with(" s")), "{}", ran.out);
    assert!(row("exhaustive").is_some_and(|row| row.contains("safe (uncertified)")), "{}", ran.out);
    let has_spacer = row("z3 spacer").is_some_and(|row| row.contains("safe (uncertified)"));
    assert!(has_spacer != ran.err.contains("`z3` was not found"), "{}{}", ran.out, ran.err);
}

#[test]
fn a_crosscheck_says_who_was_not_asked() {
    let ran = run("crosscheck --threads 2 threads.bp");
    assert_eq!(ran.code, 10, "{}", ran.err);
    let row = |tool: &str| ran.out.lines().find(|line| line.trim_start().starts_with(tool));
    let is_refused = row("summaries").is_some_and(|row| row.contains("not run") && row.contains("one thread"));
    assert!(is_refused, "{}", ran.out);
    let has_spin = row("spin").is_some_and(|row| row.contains("unsafe"));
    assert!(has_spin != ran.err.contains("SPIN is not run"), "{}{}", ran.out, ran.err);
}

#[test]
fn an_atomic_section_is_one_transition_of_the_model() {
    snapshot!("promela", "convert --to promela --threads 3 atomic.bp");
}

#[test]
fn programs_that_have_no_model_for_spin_are_refused_with_the_reason() {
    let refused = [
        ("--threads 2 passive.bp", "line 7, `seen$ := 1`"),
        ("recursion.bp", "`down` calls itself"),
        ("threads.bp", "use --threads"),
    ];
    for (args, reason) in refused {
        let ran = run(&format!("convert --to promela {args}"));
        assert_eq!((ran.code, ran.out.as_str()), (5, ""), "{args}");
        assert!(ran.err.contains(reason), "{args}: {}", ran.err);
    }
}
