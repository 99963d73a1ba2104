//! `check --deadlock`, and the warning where nothing is checked.

use crate::harness::{run, scratch};
use crate::schema::validate;

const EXAMPLE: &str = "../../../../examples/philosophers.bp";

#[test]
fn a_program_without_errors_draws_a_warning() {
    let ran = run(&format!("check --no-file-options {EXAMPLE}"));
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}", ran.err);
    assert!(ran.out.lines().nth(1).is_some_and(|line| line.contains("nothing was checked")), "{}", ran.out);
    let json = run(&format!("check --no-file-options --format json {EXAMPLE}")).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert!(json["results"][0]["answer"]["warning"].as_str().is_some_and(|text| text.contains("--deadlock")));
    assert_eq!(validate("report.schema.json", &json), [""; 0]);
    assert!(!run("check safe.bp").out.contains("warning:"));
}

#[test]
fn a_deadlock_names_each_thread_that_waits() {
    let ran = run(&format!("check --deadlock {EXAMPLE}"));
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}", ran.err);
    let line = "kant waits at line 10: fork1 := 1 constrain !fork1, with fork1 = 1";
    assert!(ran.out.contains(line), "{}", ran.out);
    let json = run(&format!("check --deadlock --format json {EXAMPLE}")).out;
    let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &json), [""; 0]);
    let error = &json["results"][0]["answer"]["trace"]["error"];
    assert_eq!((&error["kind"], &error["threads"][1]["name"]), (&"deadlock".into(), &"plato".into()), "{error}");
    assert!(run(&format!("check --deadlock --format sarif {EXAMPLE}")).out.contains(r#""ruleId": "deadlock""#));
}

#[test]
fn the_evidence_is_replayed_and_verified_for_this_question_only() {
    let (trace, proof) = (scratch("deadlock.json"), scratch("free.json"));
    assert_eq!(run(&format!("check -q --deadlock --trace-out {trace} {EXAMPLE}")).code, 10);
    assert_eq!(run(&format!("replay --deadlock {trace} {EXAMPLE}")).code, 10);
    assert_eq!(run(&format!("replay --no-file-options {trace} {EXAMPLE}")).code, 2, "another question");
    let free = "../../../../tests/regress/0051-forks-in-one-order.bp";
    assert_eq!(run(&format!("check -q --deadlock --certificate {proof} {free}")).code, 0);
    assert_eq!(run(&format!("verify --deadlock {proof} {free}")).code, 0);
}

#[test]
fn systems_and_guarded_commands_have_their_own_deadlocks() {
    let mutex = "../../../../examples/mutex.tts";
    assert_eq!(run(&format!("check -q --deadlock --threads 3 {mutex}")).code, 0);
    assert_eq!(run(&format!("check -q --deadlock {mutex}")).code, 5, "any number of threads is open");
    let stuck = scratch("stuck.tts");
    std::fs::write(&stuck, "2 3\n0 0 +> 0 1\n0 0 -> 1 2\n0 1 -> 0 2\n").expect("the folder can be written");
    assert_eq!(run(&format!("check -q --deadlock --threads 2 {}", stuck)).code, 10);
    let gcl = run("check --deadlock ../../../../examples/mutex.gcl");
    assert!(gcl.code == 1 && gcl.err.contains("deadlock_free"), "{}", gcl.err);
}

#[test]
fn questions_that_do_not_fit_are_refused() {
    assert_eq!(run(&format!("check --deadlock --label L {EXAMPLE}")).code, 1);
    assert_eq!(run(&format!("check --deadlock --all {EXAMPLE}")).code, 1);
    let ran = run(&format!("check --deadlock --engine threads {EXAMPLE}"));
    assert!(ran.code == 5 && ran.out.contains("does not look for deadlocks"), "{}", ran.out);
}
