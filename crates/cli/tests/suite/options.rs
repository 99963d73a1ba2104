//! The options that files bring along: all commands ask the same question.

use crate::harness::{run, scratch};

const BROKEN: &str = "../../../../examples/ticket_lock_broken.bp";
const FIXED: &str = "../../../../examples/ticket_lock.bp";

#[test]
fn a_check_asks_the_question_of_the_file_and_says_so() {
    let ran = run(&format!("check {BROKEN}"));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("  options:     --threads 2 --initial 2 (from the file)\n"), "{}", ran.out);
    assert!(ran.out.contains("  scope:       at most 2 threads;"), "{}", ran.out);
}

#[test]
fn a_line_of_options_that_is_not_read_draws_a_warning() {
    let file = scratch("misplaced-options.bp");
    std::fs::write(&file, "decl x := 1;\n// options: --threads 2\nvoid main() begin assert(x); end\n")
        .expect("written");
    let ran = run(&format!("check {file}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("warning[SV0109]: this line of options is not read"), "{}", ran.err);
    assert!(!ran.out.contains("from the file"), "{}", ran.out);
}

#[test]
fn the_command_line_comes_before_the_file() {
    let ran = run(&format!("check --initial 1 {BROKEN}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("options:     --threads 2 (from the file)"), "{}", ran.out);
    let ran = run(&format!("check --threads 2 --initial 2 {BROKEN}"));
    assert_eq!(ran.code, 10);
    assert!(!ran.out.contains("from the file"), "{}", ran.out);
}

#[test]
fn the_options_of_a_file_can_be_ignored() {
    let ran = run(&format!("check --no-file-options {BROKEN}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("from the file"), "{}", ran.out);
}

#[test]
fn several_files_are_asked_their_own_questions() {
    let ran = run(&format!("check --quiet {BROKEN} {FIXED} ../../../../examples/classics/philosophers_broken.bp"));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    let ran = run(&format!("check {FIXED} ../../../../examples/classics/philosophers_broken.bp"));
    assert!(ran.out.contains("--threads 3 --initial 3 (from the file)"), "{}", ran.out);
    assert!(ran.out.contains("--threads 3 --deadlock (from the file)"), "{}", ran.out);
}

#[test]
fn evidence_is_checked_under_the_question_of_the_file() {
    let (trace, proof) = (scratch("options-trace.json"), scratch("options-proof.json"));
    assert_eq!(run(&format!("check --quiet --trace-out {trace} {BROKEN}")).code, 10);
    assert_eq!(run(&format!("replay {trace} {BROKEN}")).code, 10);
    let other = run(&format!("replay --no-file-options {trace} {BROKEN}"));
    assert_eq!(other.code, 2);
    assert!(other.err.contains("answers another question"), "{}", other.err);
    assert_eq!(run(&format!("check --quiet --certificate {proof} {FIXED}")).code, 0);
    assert_eq!(run(&format!("verify {proof} {FIXED}")).code, 0);
}

#[test]
fn a_question_of_the_command_line_replaces_that_of_the_file() {
    let philosophers = "../../../../examples/classics/philosophers_broken.bp";
    let ran = run(&format!("check --all {philosophers}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("options:     --threads 3 (from the file)"), "{}", ran.out);
}

#[test]
fn a_mistake_in_the_line_is_an_error() {
    let path = scratch("mistaken.bp");
    std::fs::write(&path, "// options: --thread 2\nvoid main() begin\n  assert(T);\nend\n").expect("it can be written");
    let ran = run(&format!("check {path}"));
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("error[SV0042]: a file cannot set the option `--thread`"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `--threads`?"), "{}", ran.err);
    assert_eq!(run(&format!("check --quiet --no-file-options {path}")).code, 0);
}

#[test]
fn a_question_that_does_not_fit_says_that_the_file_asks_it() {
    let ran = run(&format!("check --threads 1 {BROKEN}"));
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("the file asks for --initial 2; --no-file-options ignores this"), "{}", ran.err);
}
