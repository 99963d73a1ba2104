//! `check --together`, `--reachable` and `--no-minimize`.

use serde_json::{Value, json};

use crate::harness::{run, scratch};
use crate::schema::validate;

#[test]
fn threads_that_meet_are_named_with_their_labels() {
    let ran = run("check --threads 2 --together IN,IN lock.bp");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}", ran.err);
    assert!(ran.out.contains("2 threads meet"), "{}", ran.out);
    assert!(ran.out.contains("threads at IN and IN at once"), "{}", ran.out);
    assert!(ran.out.contains("main#1 at IN, line 8") && ran.out.contains("main#2 at IN, line 8"), "{}", ran.out);
    assert_eq!(run("check --threads 1 --together IN,IN -q lock.bp").code, 0);
    assert_eq!(run("check --threads 2 --together IN,NOWHERE -q lock.bp").code, 1);
    assert_eq!(run("check --together IN --label OUT lock.bp").code, 1);
}

#[test]
fn a_meeting_as_json_fits_the_schemas_and_replays() {
    let trace = scratch("meeting.json");
    let ran = run(&format!("check --threads 2 --together IN,OUT --format json --trace-out {trace} lock.bp"));
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let answer = &report["results"][0]["answer"];
    assert_eq!(answer["target"]["together"], json!([["IN", "OUT"]]));
    assert_eq!(answer["trace"]["error"]["kind"], json!("together"));
    assert_eq!(answer["trace"]["error"]["threads"][1]["labels"], json!(["OUT"]));
    let ran = run(&format!("replay --threads 2 --together IN,OUT {trace} lock.bp"));
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
}

#[test]
fn everything_that_can_be_reached_is_counted_and_listed() {
    let ran = run("check --threads 2 --reachable --engine exhaustive lock.bp");
    assert_eq!(ran.code, 10, "{}", ran.err);
    assert!(ran.out.contains("reachable thread states") && ran.out.contains("violated"), "{}", ran.out);
    let counts = |args: &str| {
        let ran = run(args);
        let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
        assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
        let found = &report["results"][0]["reachable"];
        assert_eq!(found["complete"], json!(true));
        [&found["n_thread_states"], &found["thread_states"], &found["assertions"][0]["status"]].map(Value::clone)
    };
    let exhaustive = counts("check --threads 2 --reachable --engine exhaustive --format json lock.bp");
    assert_eq!(exhaustive, counts("check --threads 2 --reachable --format json lock.bp"));
    assert_eq!(exhaustive, counts("check --threads 2 --reachable --engine threads --format json lock.bp"));
    assert_eq!((&exhaustive[0], &exhaustive[2]), (&json!(30), &json!("violated")));
}

/// Threads with many variables have too many states to list one by one.
#[test]
fn threads_with_many_variables_are_visited_as_sets() {
    let names: Vec<String> = (0..24).map(|number| format!("w{number}")).collect();
    let text = format!(
        "decl lock := 0;\nvoid main() begin\n  decl {all};\n  again:\n  lock := 1 constrain !lock;\n  \
         while w23 do\n    {all} := *, {before};\n  od;\n  lock := 0;\n  goto again;\nend\n",
        all = names.join(", "),
        before = names[..23].join(", "),
    );
    let path = scratch("many-locals.bp");
    std::fs::write(&path, text).expect("it can be written");
    let ran = run(&format!("check --threads 3 --initial 3 --reachable --format json --time-limit 1m {path}"));
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let found = &report["results"][0]["reachable"];
    assert_eq!((&found["complete"], &found["in_sets"]), (&json!(true), &json!(true)), "{found}");
    assert!(found["n_thread_states"].as_u64().is_some_and(|number| number > 1 << 24), "{found}");
    assert!(found["thread_states"].as_array().is_some_and(|states| states.len() < 100), "{found}");
}

/// `--reachable` never gives a verdict without evidence: each violated assertion has a trace, and one that holds is
/// certified or says that it is not.
#[test]
fn reachable_gives_evidence_for_each_assertion() {
    let each = |args: &str| {
        let report: Value = serde_json::from_str(&run(args).out).expect("it is JSON");
        assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
        report["results"][0]["each"][0].clone()
    };
    let violated = each("check --threads 2 --reachable --format json lock.bp");
    assert_eq!(violated["result"], json!("violated"));
    assert_eq!(violated["trace"]["error"]["kind"], json!("assertion"));
    let holds = each("check --threads 1 --reachable --format json lock.bp");
    assert_eq!((&holds["result"], &holds["certified"]), (&json!("holds"), &json!(true)));
    let plain = each("check --threads 1 --reachable --engine exhaustive --format json lock.bp");
    assert_eq!((&plain["result"], &plain["certified"]), (&json!("holds"), &json!(false)));
    let shown = run("check --threads 1 --reachable --engine exhaustive lock.bp");
    assert!(shown.out.contains("holds (uncertified)"), "{}", shown.out);
    let shown = run("check --threads 2 --reachable lock.bp");
    assert!(shown.out.contains("counterexample for line"), "{}", shown.out);
}

#[test]
fn reachable_without_an_error_is_safe_and_needs_a_bound() {
    let ran = run("check --threads 1 --reachable lock.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}", ran.out);
    assert!(ran.out.contains("holds"), "{}", ran.out);
    assert_eq!(run("check --reachable -q lock.bp").code, 5);
    assert_eq!(run("check --reachable --all lock.bp").code, 1);
}

#[test]
fn a_minimized_trace_has_fewer_steps_and_marks_what_does_not_matter() {
    let steps = |args: &str| {
        let report: Value = serde_json::from_str(&run(args).out).expect("it is JSON");
        report["results"][0]["answer"]["trace"]["steps"].as_array().expect("a trace").len()
    };
    let options = "--threads 2 --engine exhaustive --format json lock.bp";
    assert!(steps(&format!("check {options}")) <= steps(&format!("check --no-minimize {options}")));
    let shown = run("check --engine exhaustive unsafe.bp");
    let plain = run("check --no-minimize --engine exhaustive unsafe.bp");
    assert_eq!((shown.code, plain.code), (10, 10));
    assert!(shown.out.contains("= *"), "{}", shown.out);
    assert!(!plain.out.contains("= *"), "{}", plain.out);
}
