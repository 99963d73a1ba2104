//! Traces that are written, read back, and tampered with.

use serde_json::{Value, json};

use crate::harness::{Ran, programs, run, scratch, snapshot};

/// Returns the trace of a check as JSON, and its path.
fn trace_of(args: &str, name: &str) -> (Value, String) {
    let path = scratch(name);
    let ran = run(&format!("check --engine exhaustive --passes none --quiet --trace-out {path} {args}"));
    assert_eq!(ran.code, 10, "{}", ran.err);
    let text = std::fs::read_to_string(&path).expect("the trace was written");
    (serde_json::from_str(&text).expect("it is JSON"), path)
}

/// Replays a trace after a change.
fn replay_changed(name: &str, change: impl FnOnce(&mut Value)) -> Ran {
    let (mut trace, path) = trace_of("--threads 2 threads.bp", name);
    change(&mut trace);
    std::fs::write(&path, trace.to_string()).expect("it can be written");
    run(&format!("replay --threads 2 {path} threads.bp"))
}

#[track_caller]
fn rejected(ran: &Ran, message: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains(message), "{}", ran.err);
}

#[test]
fn a_trace_replays_with_the_options_of_the_check() {
    let (_, path) = trace_of("--threads 2 threads.bp", "replays.json");
    snapshot!("replay", &format!("replay --threads 2 {path} threads.bp"));
    let options = "--threads 2 --initial any --label worker";
    let (_, path) = trace_of(&format!("{options} threads.bp"), "label.json");
    assert_eq!(run(&format!("replay {options} {path} threads.bp")).code, 10);
    let options = "--threads 3 --initial 2 --assertion 9 --entry main";
    let (_, path) = trace_of(&format!("{options} threads.bp"), "assertion.json");
    let told = "  scope:       at most 3 threads; 2 initial threads run main\n  question:    the assertion on line 9\n";
    let ran = run(&format!("replay --quiet {options} {path} threads.bp"));
    assert_eq!(ran.out, format!("{told}VERIFICATION FAILED\n"));
}

#[test]
fn a_trace_of_another_question_is_refused_with_both() {
    let (_, path) = trace_of("--threads 2 threads.bp", "question.json");
    let ran = run(&format!("replay --threads 3 --entry main {path} threads.bp"));
    rejected(&ran, "the trace answers another question\n  you ask:     --threads 3 --entry main\n");
    rejected(&ran, "  it answers:  --threads 2\n  help: to ask the question of the trace, add --threads 2\n");
    rejected(&run(&format!("debug --trace {path} threads.bp")), "the trace answers another question");
    let (_, path) = trace_of("unsafe.bp", "no_options.json");
    rejected(&run(&format!("replay --threads 2 {path} unsafe.bp")), "leave out --threads 2");
}

#[test]
fn passive_choices_and_calls_survive_the_way_through_json() {
    for (options, file) in [("--threads 2", "passive.bp"), ("", "calls.bp"), ("", "unsafe.bp")] {
        let (_, path) = trace_of(&format!("{options} {file}"), "survive.json");
        assert_eq!(run(&format!("replay {options} {path} {file}")).code, 10, "{file}");
    }
}

#[test]
fn a_missing_step_is_noticed() {
    let ran = replay_changed("missing_step.json", |trace| {
        trace["steps"].as_array_mut().expect("a list").remove(1);
    });
    rejected(&ran, "does not replay: in step 6: the thread is not where edge");
}

#[test]
fn a_step_of_another_thread_is_noticed() {
    let ran = replay_changed("other_thread.json", |trace| trace["steps"][0]["thread"] = json!(7));
    rejected(&ran, "in step 1: there is no live thread 7 (main#1, line 5, `start_thread worker`)");
}

#[test]
fn a_trace_that_stops_early_is_noticed() {
    let ran = replay_changed("early.json", |trace| {
        trace["steps"].as_array_mut().expect("a list").pop();
    });
    rejected(&ran, "at the end: the trace ends without an error");
}

#[test]
fn a_trace_under_another_thread_bound_is_noticed() {
    let (mut trace, path) = trace_of("--threads 2 threads.bp", "bound.json");
    trace["question"]["threads"] = json!(1);
    std::fs::write(&path, trace.to_string()).expect("it can be written");
    rejected(&run(&format!("replay --threads 2 {path} threads.bp")), "the trace answers another question");
    rejected(&run(&format!("replay --threads 1 {path} threads.bp")), "does not replay");
}

#[test]
fn a_trace_of_another_program_is_noticed() {
    let (_, path) = trace_of("--threads 2 threads.bp", "other_program.json");
    let ran = run(&format!("replay --threads 2 {path} noerror.bp"));
    rejected(&ran, "step 4: the program has no edge 2 (line 8, `lock := 1`)");
    assert!(ran.err.contains("noerror.bp is not the text that the trace was made from"), "{}", ran.err);
    let (_, path) = trace_of("calls.bp", "other_variables.json");
    assert_eq!(run(&format!("replay {path} threads.bp")).code, 2);
}

#[test]
fn a_variable_with_another_name_is_noticed() {
    let (mut trace, path) = trace_of("unsafe.bp", "variable.json");
    trace["start"]["fresh"] = json!([{"variable": "z", "procedure": null, "number": 0, "value": true}]);
    std::fs::write(&path, trace.to_string()).expect("it can be written");
    rejected(&run(&format!("replay {path} unsafe.bp")), "start: variable 0 is `z`, but in the program it is `x`");
    trace["start"]["fresh"][0]["variable"] = json!("x");
    std::fs::write(&path, trace.to_string()).expect("it can be written");
    assert_eq!(run(&format!("replay {path} unsafe.bp")).code, 10, "`x` is overwritten");
}

#[test]
fn broken_files_are_located() {
    let path = scratch("broken.json");
    let write = |text: &str| std::fs::write(&path, text).expect("it can be written");
    write("{\n  \"format\": \"selvedge-trace\",\n  \"version\": }");
    rejected(&run(&format!("replay {path} threads.bp")), "broken.json:3:14: expected value");
    write("{\"format\": \"selvedge-trace\", \"version\": 1}");
    rejected(&run(&format!("replay {path} threads.bp")), "broken.json:1:42: missing field `program`");
    write("{\"format\": \"selvedge-report\", \"version\": 1}");
    rejected(&run(&format!("replay {path} threads.bp")), "this is `selvedge-report`, not `selvedge-trace`");
    write("{\"format\": \"selvedge-trace\", \"version\": 99}");
    rejected(&run(&format!("replay {path} threads.bp")), "version 99");
    rejected(&run("replay nowhere.json threads.bp"), "cannot read nowhere.json");
    assert!(programs().join("threads.bp").exists());
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error() {
    let ran = run("check --engine exhaustive --trace-out no/such/folder/t.json unsafe.bp");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("cannot write no/such/folder/t.json"), "{}", ran.err);
}

#[test]
fn a_simulated_error_replays() {
    let path = scratch("simulated.json");
    let failing = (0..50).find(|seed| run(&format!("simulate --seed {seed} --trace-out {path} unsafe.bp")).code == 10);
    assert!(failing.is_some(), "one run in four fails");
    assert_eq!(run(&format!("replay {path} unsafe.bp")).code, 10);
}
