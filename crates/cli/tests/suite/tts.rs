//! Thread-transition systems and Petri nets: read, checked and written.

use serde_json::Value;

use crate::harness::{run, run_with_stdin, scratch};
use crate::schema::validate;

#[test]
fn the_target_beside_a_system_is_asked_for_unless_another_is_named() {
    let ran = run("check --threads 2 gate.tts");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("0 0 +> 0 1") && ran.out.contains("1|0,2"), "{}", ran.out);
    let ran = run("check --threads 1 gate.tts");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    let ran = run("check --threads 3 --prop gate_closed.prop gate.tts");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    assert_eq!(run("check --threads 2 --prop missing.prop gate.tts").code, 2);
}

#[test]
fn a_system_without_a_target_is_refused_unless_a_label_is_asked_for() {
    let ran = run("check --threads 2 aimless.tts");
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("no target") && ran.err.contains(".prop"), "{}", ran.err);
    assert_eq!(run("check --threads 2 --label l1 aimless.tts").code, 10);
    assert_eq!(run("check --threads 2 --together l1,l1 aimless.tts").code, 0);
}

#[test]
fn standard_input_can_be_a_system_with_its_target() {
    let ran = run_with_stdin("check --threads 1 --input-format tts -", b"2 2\n0 0 -> 1 1\n1|1\n");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
    let ran = run_with_stdin("check --threads 1 --input-format tts -", b"2 2\n0 0 -> 2 1\n1|1\n");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("SV0010") && ran.err.contains("from 0 to 1"), "{}", ran.err);
}

#[test]
fn evidence_about_systems_is_replayed_and_verified() {
    let (trace, proof) = (scratch("gate.json"), scratch("gate-proof.json"));
    assert_eq!(run(&format!("check --threads 2 --trace-out {trace} gate.tts")).code, 10);
    assert_eq!(run(&format!("replay --threads 2 {trace} gate.tts")).code, 10);
    assert_eq!(run(&format!("check --threads 1 --certificate {proof} gate.tts")).code, 0);
    assert_eq!(run(&format!("verify --threads 1 {proof} gate.tts")).code, 0);
    let ran = run(&format!("verify --threads 1 --prop gate_closed.prop {proof} gate.tts"));
    assert_eq!(ran.code, 2, "the certificate speaks of another target: {}", ran.out);
    for command in [format!("verify {proof} gate.tts"), format!("replay --threads 3 {trace} gate.tts")] {
        let ran = run(&command);
        assert!(ran.code == 2 && ran.err.contains("answers another question"), "{command}: {}", ran.err);
    }
}

#[test]
fn systems_are_shown_simulated_and_reported_as_programs() {
    let ran = run("show ir gate.tts");
    assert!(ran.code == 0 && ran.out.contains("ERROR"), "{}{}", ran.out, ran.err);
    assert_eq!(run("show ast gate.tts").code, 1);
    assert!([5, 10].contains(&run("simulate --seed 3 --threads 2 gate.tts").code));
    let ran = run("check --threads 2 --format json gate.tts");
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    assert_eq!(report["results"][0]["verdict"], "unsafe");
}

#[test]
fn converted_systems_keep_their_verdict() {
    let path = scratch("gate-copy.tts");
    assert_eq!(run(&format!("convert gate.tts --to tts -o {path}")).code, 0);
    assert_eq!(run(&format!("check --threads 2 {path}")).code, 10);
    assert_eq!(run(&format!("check --threads 1 {path}")).code, 0);
    let program = scratch("gate.bp");
    assert_eq!(run(&format!("convert gate.tts --to bp -o {program}")).code, 0);
    assert_eq!(run(&format!("check --threads 2 {program}")).code, 10);
    assert_eq!(run(&format!("check --threads 1 {program}")).code, 0);
    let path = scratch("spawner.tts");
    let ran = run(&format!("convert spawner.bp --to tts -o {path}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert_eq!(run(&format!("check --threads 2 {path}")).code, run("check --threads 2 spawner.bp").code);
    assert_eq!(run("convert safe.bp --to bp").code, 1);
    assert_eq!(run("convert gate.tts --to tts --label l1").code, 1);
}

#[test]
fn nets_are_checked_and_written() {
    let ran = run("check --threads 6 tokens.spec");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    let path = scratch("gate.spec");
    assert_eq!(run(&format!("convert gate.tts --to spec -o {path}")).code, 0);
    assert_eq!(run(&format!("check --threads 4 {path}")).code, 10);
    let ran = run_with_stdin(
        "check --input-format spec -",
        b"vars x y rules x = 0 -> y' = 1; init x = 1, y = 0 target y >= 1",
    );
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("SV0028") && ran.err.contains("absence of tokens"), "{}", ran.err);
}

/// Threads wait in 1 until one wakes all others: two may be in 2 together, but not one that waits with one that runs.
const WAKES: &str = "2 4\n0 0 +> 0 1\n0 1 -> 1 2 1 ~> 2\n1 2 -> 0 3\n";

#[test]
fn systems_with_transfers_are_checked_and_written() {
    for (target, code, engines) in
        [("1|2,2", 10, ["views-explicit", "backward"]), ("1|1,2", 0, ["views-explicit", "backward"])]
    {
        let text = format!("{WAKES}{target}\n");
        for engine in engines {
            let ran = run_with_stdin(&format!("check --input-format tts --engine {engine} -"), text.as_bytes());
            assert_eq!(ran.code, code, "{engine}: {}{}", ran.out, ran.err);
            assert!(!ran.out.contains("uncertified"), "{engine}: {}", ran.out);
        }
        let ran = run_with_stdin("check --input-format tts --engine karp-miller-explicit -", text.as_bytes());
        assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
        for (to, path) in [("tts", scratch("wakes.tts")), ("spec", scratch("wakes.spec"))] {
            std::fs::write(scratch("wakes-original.tts"), &text).expect("the folder is there");
            let from = scratch("wakes-original.tts");
            assert_eq!(run(&format!("convert {from} --to {to} -o {path}")).code, 0);
            assert_eq!(run(&format!("check {path}")).code, code, "{to} {target}");
        }
    }
    let ran = run(&format!("convert {} --to bp", scratch("wakes-original.tts")));
    assert!(ran.code != 0 && ran.err.contains("--to tts"), "{}", ran.err);
    let ran = run(&format!("check --label l2 {}", scratch("wakes-original.tts")));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    let ran = run(&format!("check --together l1,l2 {}", scratch("wakes-original.tts")));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
}

#[test]
fn executions_of_systems_are_told_in_their_states_and_rules() {
    let ran = run_with_stdin("check --input-format tts -", b"2 3\n0 0 +> 0 1\n0 1 -> 1 2\n1 2 -> 0 0 1 ~> 2\n0|2,2\n");
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    for part in [
        "checked:     target 0|2,2",
        "start: shared = 0",
        "0 0 +> 0 1         starts thread#2: local = 1",
        "0 1 -> 1 2         shared: 0 → 1, local: 1 → 2",
        "thread#3's local: 1 → 2",
        "the target is covered: <stdin>:5:1",
        "with shared = 0, thread#3's local = 2",
    ] {
        assert!(ran.out.contains(part), "{part}:\n{}", ran.out);
    }
    assert!(!ran.out.contains("s0") && !ran.out.contains("main#"), "{}", ran.out);
    let steps = ran.out.lines().filter(|line| line.contains("->") || line.contains("+>")).count();
    assert_eq!(steps, 5, "a rule is one step: {}", ran.out);
}

#[test]
fn executions_of_nets_are_told_in_tokens() {
    let net = "vars\n x y\nrules\n x >= 2 ->\n x' = x - 2, y' = y + 1;\ninit\n x = 3, y = 0\ntarget\n x >= 1, y >= 1\n";
    let ran = run_with_stdin("check --input-format spec -", net.as_bytes());
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    for part in
        ["2 steps", "init", "x: 0 → 3", "x: 3 → 1, y: 0 → 1", "the target is covered: <stdin>:9:2", "with x = 1, y = 1"]
    {
        assert!(ran.out.contains(part), "{part}:\n{}", ran.out);
    }
}

#[test]
fn proofs_about_systems_speak_of_their_states() {
    let page = scratch("gate-proof.html");
    assert_eq!(run(&format!("check --threads 1 --html {page} gate.tts")).code, 0);
    let html = std::fs::read_to_string(&page).expect("the page is written");
    assert!(html.contains("local state 0") && html.contains("shared &lt;= 1") && !html.contains("!s0"), "{html}");
}
