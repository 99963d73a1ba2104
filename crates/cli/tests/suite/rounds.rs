//! `check --rounds` and `solve`.

use serde_json::{Value, json};

use crate::harness::{run, scratch};
use crate::schema::validate;

#[test]
fn an_error_is_told_with_its_rounds_and_threads() {
    let ran = run("check --rounds 1..3 drivers.bp");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}", ran.err);
    assert!(ran.out.contains("an error within 2 rounds"), "{}", ran.out);
    assert!(
        ran.out.contains("round 1") && ran.out.contains("round 2") && ran.out.contains("driver.main"),
        "{}",
        ran.out
    );
    let ran = run("check --rounds 1 --engine rounds drivers.bp");
    let line = "VERIFICATION UNKNOWN (no error within 1 round)";
    assert_eq!((ran.code, ran.last_line()), (5, line), "{}", ran.err);
}

/// The search for the least execution once kept states whose stacks grew with each step, until the memory was used up.
#[test]
fn an_execution_of_a_recursive_program_is_made_shorter_in_little_memory() {
    let ran = run("check --rounds 1..3 --memory-limit 500MB ../../../../examples/drivers.bp");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
}

#[test]
fn enough_rounds_are_a_proof_with_a_certificate() {
    let ran = run("check --rounds 1..4 --engine rounds locked.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("nothing is new after") && ran.out.contains("all states are reached in"), "{}", ran.out);
    let file = scratch("locked.json");
    let ran = run(&format!("check --rounds 1..4 --engine rounds --certificate {file} locked.bp"));
    assert!(ran.code == 0 && !ran.out.contains("by views"), "{}{}", ran.out, ran.err);
    assert_eq!(run(&format!("verify {file} locked.bp")).code, 0);
    let text = std::fs::read_to_string(&file).expect("it was written");
    let mut proof: Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(validate("certificate.schema.json", &proof), Vec::<String>::new());
    assert_eq!(proof["proof"]["claim"]["kind"], json!("adequacy"));
    proof["proof"]["claim"]["positions"] = json!([]);
    std::fs::write(&file, proof.to_string()).expect("the folder is there");
    assert_eq!(run(&format!("verify {file} locked.bp")).code, 2);
}

#[test]
fn rounds_as_json_fit_the_schema_and_the_trace_replays() {
    let trace = scratch("drivers.json");
    let ran = run(&format!("check --rounds 1..3 --format json --trace-out {trace} drivers.bp"));
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    assert_eq!(report["results"][0]["answer"]["rounds"]["error"], json!(2));
    let ran = run(&format!("replay {trace} drivers.bp"));
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
}

#[test]
fn the_play_that_leaves_a_number_open_is_told_in_json() {
    let ran = run("check --rounds 1..2 --engine rounds --format json handover.bp");
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let rounds = &report["results"][0]["answer"]["rounds"];
    assert_eq!(rounds["open"], json!([1]), "{rounds}");
    let play = rounds["play"].as_array().expect("it is a list");
    assert!(!play.is_empty() && play.iter().all(|named| named["shared"]["turn"].is_boolean()), "{rounds}");
    let text = run("check --rounds 1..2 --engine rounds handover.bp");
    assert_eq!(text.out.matches("Eve's play:").count(), play.len(), "{}", text.out);
}

#[test]
fn rounds_are_for_their_engine_and_for_any_number_of_threads() {
    assert_eq!(run("check --rounds 2 --engine views drivers.bp").code, 1);
    assert_eq!(run("check --rounds 2 --contexts 2 drivers.bp").code, 1);
    let ran = run("check --rounds 2 --threads 2 drivers.bp");
    assert!(ran.code == 5 && ran.out.contains("leave out --threads"), "{}{}", ran.out, ran.err);
}

#[test]
fn equations_are_solved_and_mistakes_in_them_located() {
    let rounds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../calculus/rounds.fp");
    let ran = run(&format!("solve --verbose {rounds} locked.bp"));
    assert_eq!((ran.code, ran.last_line()), (0, "Error() does not hold"), "{}", ran.err);
    assert!(ran.out.contains("layer 0, round 1: T1: "), "{}", ran.out);
    let ran = run(&format!("solve {rounds} drivers.bp"));
    assert!(ran.code == 5 && ran.err.contains("does not fit `kernel`"), "{}", ran.err);
    assert_eq!(run("solve --rounds 1 drivers.bp").code, 0);
    assert_eq!(run("solve --rounds 2 drivers.bp").code, 10);
    let printed = run("solve --rounds 2 --print");
    let equations = scratch("rounds-2.fp");
    std::fs::write(&equations, &printed.out).expect("the folder is there");
    assert_eq!(run(&format!("solve {equations} drivers.bp")).code, 10);
    assert_eq!(run("solve --contexts 2 --print drivers.bp").code, 1);
    let equations = scratch("wrong.fp");
    std::fs::write(&equations, "rel Error() :=\n  exists g: Shared. Free(g);\n").expect("the folder is there");
    let ran = run(&format!("solve {equations} locked.bp"));
    assert!(ran.code == 2 && ran.err.contains(":2:") && ran.err.contains("`Own` is expected"), "{}", ran.err);
}
