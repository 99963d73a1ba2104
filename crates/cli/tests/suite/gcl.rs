//! Guarded commands: checked, formatted, simulated, shown, converted and abstracted.

use serde_json::Value;

use crate::harness::{run, run_with_stdin, scratch};

/// The folder of programs, from that of the command line's tests.
const PROGRAMS: &str = "../../../../tests/programs/gcl";

#[test]
fn an_error_is_told_with_commands_locations_and_integers() {
    let trace = scratch("bakery-error.json");
    let ran = run(&format!("check {PROGRAMS}/b_bakery2-e.gcl --trace-out {trace}"));
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("at idle: choose") && ran.out.contains("p: waiting → critical"), "{}", ran.out);
    assert!(ran.out.contains("with p = critical, q = critical"), "{}", ran.out);
    assert!(ran.out.contains("2 processes") && ran.out.contains("── switch to q ──"), "{}", ran.out);
    assert!(ran.out.contains("  scope:       2 processes: p, q\n") && !ran.out.contains("main"), "{}", ran.out);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&trace).expect("it was written")).expect("JSON");
    let steps = written["steps"].as_array().expect("a trace has steps");
    assert!(steps.iter().any(|step| step["command"] == "q.enter"), "{written}");
    assert_eq!(run(&format!("replay {trace} {PROGRAMS}/b_bakery2-e.gcl")).code, 10);
}

#[test]
fn a_safe_program_has_a_certificate_that_is_verified() {
    for engine in ["horn", "cegar"] {
        let proof = scratch(&format!("mutex-{engine}.json"));
        let ran = run(&format!("check --engine {engine} {PROGRAMS}/mutex.gcl --certificate {proof}"));
        assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
        let ran = run(&format!("verify {proof} {PROGRAMS}/mutex.gcl"));
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
}

#[test]
fn the_usual_commands_take_them() {
    assert_eq!(run(&format!("fmt --check {PROGRAMS}/rax.gcl")).code, 0);
    let ran = run_with_stdin("check --input-format gcl -", b"var x: int;\ninit x ==;\nsafe y > 0;\n");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("SV0003"), "{}", ran.err);
    let ran = run(&format!("show ir {PROGRAMS}/synapse.gcl"));
    assert!(ran.code == 0 && ran.out.contains("shared invalid: int"), "{}", ran.out);
    let ran = run(&format!("simulate --seed 3 --steps 20 {PROGRAMS}/bakery2.gcl"));
    assert!(ran.code == 5 && ran.out.contains("p: idle → waiting"), "{}", ran.out);
    let ran = run(&format!("convert --to horn {PROGRAMS}/mutex.gcl"));
    assert!(ran.code == 0 && ran.out.contains("(set-logic HORN)"), "{}{}", ran.out, ran.err);
}

#[test]
fn an_abstraction_is_a_boolean_program_with_the_same_verdict() {
    let (predicates, program) = (scratch("predicates.txt"), scratch("mutex-abstract.bp"));
    std::fs::write(&predicates, "# how many have arrived\nb == 0\nb == 1\n").expect("the folder is there");
    let ran = run(&format!("abstract {PROGRAMS}/mutex.gcl --predicates {predicates} -o {program}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let ran = run(&format!("check {program}"));
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    std::fs::write(&predicates, "nothing > 0\n").expect("the folder is there");
    assert_eq!(run(&format!("abstract {PROGRAMS}/mutex.gcl --predicates {predicates}")).code, 2);
    let kept = scratch("kept");
    let ran = run(&format!("check --engine cegar --keep {kept} {PROGRAMS}/synapse.gcl"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(std::path::Path::new(&kept).join("001.bp").exists());
}

#[test]
fn an_abstract_model_is_drawn() {
    let ran = run(&format!("show abstract-model {PROGRAMS}/mutex.gcl"));
    assert!(ran.code == 0 && ran.out.starts_with("digraph abstract"), "{}{}", ran.out, ran.err);
    let (states, inexact) = (ran.out.matches("[label=\"a").count(), ran.out.matches("style=dotted").count());
    let ran = run(&format!("show abstract-model --picture svg {PROGRAMS}/mutex.gcl"));
    assert!(ran.code == 0 && ran.out.starts_with("<svg ") && ran.out.ends_with("</svg>\n"), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out.matches("<rect data-state=").count(), states);
    let dotted = ran.out.matches("class=\"edge inexact\"").count();
    assert!(dotted > 0 && dotted <= inexact, "{dotted} of {inexact}");
}
