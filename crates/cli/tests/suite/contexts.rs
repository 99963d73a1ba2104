//! `check --contexts` and `sequentialize`.

use serde_json::{Value, json};

use crate::harness::{run, scratch};
use crate::schema::validate;

#[test]
fn the_smallest_number_of_contexts_with_an_error_is_told_and_the_schedule_shows_them() {
    for engine in ["contexts", "contexts-eager"] {
        let ran = run(&format!("check --contexts 1..3 --engine {engine} turns.bp"));
        assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}", ran.err);
        assert!(ran.out.contains("an error within 2 contexts per thread"), "{}", ran.out);
        assert!(ran.out.contains("thread0, context 1") && ran.out.contains("thread0, context 2"), "{}", ran.out);
    }
}

#[test]
fn no_error_within_a_bound_is_unknown() {
    let ran = run("check --contexts 1 turns.bp");
    let line = "VERIFICATION UNKNOWN (no error within 1 context per thread)";
    assert_eq!((ran.code, ran.last_line()), (5, line), "{}", ran.err);
    assert!(ran.out.contains("reachable shared states: 3 at 1"), "{}", ran.out);
}

#[test]
fn a_program_without_recursion_is_proved_beyond_the_bound() {
    let ran = run("check --contexts 1..2 polite.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("certificate:") && ran.out.contains("no error within 2 contexts"), "{}", ran.out);
    let ran = run("check --contexts 1..2 --engine contexts polite.bp");
    assert_eq!(ran.code, 5, "the engine itself cannot know: {}", ran.out);
}

#[test]
fn contexts_as_json_fit_the_schema_and_the_trace_replays() {
    let trace = scratch("turns.json");
    let ran = run(&format!("check --contexts 1..3 --format json --trace-out {trace} turns.bp"));
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let contexts = &report["results"][0]["answer"]["contexts"];
    assert_eq!(contexts["error"], json!(2));
    assert_eq!(contexts["reached"][0], json!({ "contexts": 1, "shared_states": 3 }));
    let ran = run(&format!("replay {trace} turns.bp"));
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
}

#[test]
fn what_an_error_can_involve_is_marked_in_the_text_and_told_in_json() {
    let ran = run("check --contexts 2 --projection turns.bp");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}", ran.err);
    let marked: Vec<&str> = ran.out.lines().filter(|line| line.get(5..6) == Some("!")).collect();
    assert!(ran.out.contains("on executions to an error (!)") && !marked.is_empty(), "{}", ran.out);
    let ran = run("check --contexts 2 --projection --format json turns.bp");
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let projection = &report["results"][0]["answer"]["projection"];
    let statements = projection["statements"].as_array().expect("there are some");
    let involved = statements.iter().filter(|statement| statement["involved"] == json!("yes"));
    let lines: std::collections::BTreeSet<u64> = involved.filter_map(|statement| statement["line"].as_u64()).collect();
    assert_eq!(lines.len(), marked.len(), "{}", ran.out);
    let ran = run("check --contexts 1 --projection --format json turns.bp");
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    let statements = report["results"][0]["answer"]["projection"]["statements"].as_array().expect("there are some");
    assert!(statements.iter().all(|statement| statement["involved"] == json!("no")), "one context is not enough");
}

#[test]
fn a_sequential_program_has_the_verdict_of_its_threads_and_is_formatted() {
    let file = scratch("turns.seq.bp");
    for (contexts, code) in [(1, 0), (2, 10)] {
        let ran = run(&format!("sequentialize --contexts {contexts} turns.bp -o {file}"));
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
        let ran = run(&format!("check -q --engine summaries {file}"));
        assert_eq!((ran.code, ran.err.as_str()), (code, ""), "{}", ran.out);
        assert_eq!(run(&format!("fmt --check {file}")).code, 0);
    }
    let text = std::fs::read_to_string(&file).expect("the file was written");
    assert!(text.contains("turns.bp:11: assume(x)"), "the lines of the threads stand in comments:\n{text}");
}

/// `*` is another choice each time: one that two variables begin with has a variable of its own.
#[test]
fn first_values_of_a_sequential_program_are_chosen_once() {
    let file = scratch("starts.seq.bp");
    let ran = run(&format!("sequentialize --contexts 1 starts.bp -o {file}"));
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let ran = run(&format!("check -q --engine summaries {file}"));
    assert_eq!(ran.code, 0, "{}", ran.out);
}

#[test]
fn a_stack_that_cannot_be_copied_is_refused_with_its_line() {
    let ran = run("check --contexts 2 --threads 2 copies.bp");
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.last_line().contains("line 11") && ran.last_line().contains("cannot be copied"), "{}", ran.last_line());
    let ran = run("sequentialize --contexts 2 --threads 2 copies.bp");
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.err.contains("line 11"), "{}", ran.err);
}

#[test]
fn an_open_number_of_threads_is_refused_with_what_fixes_it() {
    let ran = run("sequentialize --contexts 2 --threads 3 drivers.bp");
    assert_eq!(ran.code, 5, "{}", ran.out);
    let help = "declare how many there are of `kernel` and `driver`, for example `process kernel [2]`";
    assert!(ran.err.contains(help), "{}", ran.err);
}

#[test]
fn pushdown_systems_of_several_threads_take_turns() {
    let ran = run("check --contexts 1 two.pds");
    let line = "VERIFICATION UNKNOWN (no error within 1 context per thread)";
    assert_eq!((ran.code, ran.last_line()), (5, line), "{}{}", ran.out, ran.err);
    let ran = run("check --contexts 1..2 two.pds");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
    let ran = run("check two.pds");
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    assert!(ran.last_line().contains("--contexts"), "{}", ran.last_line());
}

#[test]
fn engines_for_pushdown_systems_in_turns_agree_and_show_the_rules_of_the_threads() {
    for engine in ["contexts", "contexts-eager", "pushdown"] {
        let ran = run(&format!("check --engine {engine} --contexts 1..3 two.pds"));
        assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{engine}: {}{}", ran.out, ran.err);
        let ran = run(&format!("check --engine {engine} --contexts 1..3 --target 2|0,5 two.pds"));
        let line = "VERIFICATION UNKNOWN (no error within 3 contexts per thread)";
        assert_eq!((ran.code, ran.last_line()), (5, line), "{engine}: {}{}", ran.out, ran.err);
    }
    let ran = run("check --contexts 1..3 two.pds");
    assert!(ran.out.contains("run of 3 rules within 2 contexts per thread"), "{}", ran.out);
    assert!(ran.out.contains("thread 1\n        1 5 -> 2 6\n     2  2|0,6\nthread 0\n"), "{}", ran.out);
    let wrong = run("check --contexts 1 --target 2|0 two.pds");
    assert_eq!(wrong.code, 1, "{}", wrong.err);
    assert!(wrong.err.contains("2 threads, but 1 symbol"), "{}", wrong.err);
}

#[test]
fn runs_of_pushdown_systems_in_turns_as_json_fit_the_schema() {
    let ran = run("check --format json --contexts 1..2 two.pds");
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let found = &report["results"][0]["turns"]["run"];
    assert_eq!(found["contexts"], 2);
    assert_eq!(found["steps"][2]["config"], serde_json::json!({ "shared": 2, "stacks": [[1], [6]] }));
}

#[test]
fn contexts_are_for_engines_that_count_them() {
    let ran = run("check --contexts 2 --engine threads turns.bp");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("--contexts is for the engines `contexts` and `contexts-eager`"), "{}", ran.err);
    assert_eq!(run("check --contexts 2 --engine summaries turns.bp").code, 10);
    assert_eq!(run("check --contexts 0 turns.bp").code, 1);
    assert_eq!(run("check --engine contexts-eager turns.bp").code, 5);
}
