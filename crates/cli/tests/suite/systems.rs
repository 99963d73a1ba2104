//! Pushdown systems: checked, and written for programs.

use serde_json::{Value, json};

use crate::harness::{Ran, command, run, run_with_stdin, scratch};
use crate::schema::validate;

#[test]
fn a_reachable_target_fails_and_an_unreachable_one_does_not() {
    for direction in ["forward", "backward"] {
        let ran = run(&format!("check --direction {direction} stack.pds"));
        assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
        assert!(ran.out.contains("run of 3 rules") && ran.out.contains("<done, bottom>"), "{}", ran.out);

        let mut other = command(&format!("check --direction {direction} stack.pds"));
        let output = other.args(["--target", "<done, one>"]).output().expect("the program was built");
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout.ends_with(b"VERIFICATION SUCCESSFUL\n"));

        let ran = run(&format!("check --direction {direction} numbered.pds"));
        assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}{}", ran.out, ran.err);
    }
    let ran = run_with_stdin("check --input-format pds -", b"initial <p, g>\ntarget <q, *>\n<p, g> --> <q, ->\n");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}", ran.err);
}

#[test]
fn several_threads_are_unknown_and_mistakes_are_errors() {
    let check = |text: &str| run_with_stdin("check --input-format pds -", text.as_bytes());
    let ran = check("1\nPDA 1 1\nPDA 2 2\n");
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    assert!(ran.last_line().starts_with("VERIFICATION UNKNOWN ("), "{}", ran.out);
    assert_eq!(check("initial <p, g>\n").code, 1);
    assert_eq!(check("initial <p g>\n").code, 2);
}

#[test]
fn answers_about_systems_satisfy_the_schema() {
    let ran = run("check --format json stack.pds numbered.pds unsafe.bp");
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let results = &report["results"];
    let verdicts: Vec<&Value> = (0..3).map(|number| &results[number]["verdict"]).collect();
    assert_eq!(verdicts, ["unsafe", "safe", "unsafe"]);
    assert_eq!(results[0]["system"]["run"]["steps"].as_array().map(Vec::len), Some(3));
    assert_eq!(results[1]["system"]["run"], Value::Null);
    assert!(results[0]["answer"].is_null() && results[2].get("system").is_none(), "{}", ran.out);
}

#[test]
fn a_converted_program_has_the_verdict_of_the_program() {
    for name in ["safe", "unsafe", "recursion", "calls"] {
        let path = scratch(&format!("{name}.pds"));
        let ran = run(&format!("convert --to pds {name}.bp --output {path}"));
        assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{name}: {}", ran.err);
        let text = std::fs::read_to_string(&path).expect("it was written");
        assert_eq!(text, run(&format!("convert --to pds {name}.bp")).out);
        let (program, system) = (run(&format!("check {name}.bp")), run(&format!("check {path}")));
        assert_eq!((system.code, system.last_line()), (program.code, program.last_line()), "{name}: {}", system.err);
    }
}

#[test]
fn threads_have_no_pushdown_system_and_limits_are_for_all_formats() {
    let ran = run("convert --to pds threads.bp");
    assert_eq!((ran.code, ran.out.as_str()), (5, ""));
    assert!(ran.err.contains("threads.bp: "), "{}", ran.err);
    assert_eq!(run("convert --to horn --time-limit 1m safe.bp").code, 0);
    assert_eq!(run("convert --to pds --time-limit 1m safe.bp").code, 0);
}

#[test]
fn options_of_programs_and_of_systems_are_not_mixed() {
    for args in ["check --target <p,g> safe.bp", "check --label L stack.pds", "check --all stack.pds"] {
        let ran = run(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args}: {}", ran.err);
        assert!(ran.err.contains("pushdown systems"), "{}", ran.err);
    }
}

/// The certificate of `numbered.pds` after a change, verified.
fn verify_changed(name: &str, direction: &str, change: impl FnOnce(&mut Value)) -> Ran {
    let path = scratch(name);
    let ran = run(&format!("check --quiet --direction {direction} --certificate {path} numbered.pds"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let text = std::fs::read_to_string(&path).expect("the certificate was written");
    let mut certificate = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(validate("system-certificate.schema.json", &certificate), Vec::<String>::new());
    change(&mut certificate);
    std::fs::write(&path, certificate.to_string()).expect("it can be written");
    run(&format!("verify {path} numbered.pds"))
}

#[test]
fn answers_have_certificates_that_are_accepted_and_tampered_ones_are_not() {
    for (direction, closure) in [("forward", "successors"), ("backward", "predecessors")] {
        let ran = run(&format!("check --direction {direction} numbered.pds"));
        assert!(
            ran.out.starts_with("numbered.pds: safe\n") && ran.out.contains("certificate: an automaton"),
            "{}",
            ran.out
        );
        let name = |what: &str| format!("{what}_{direction}.json");
        let ran = verify_changed(&name("kept"), direction, |certificate| {
            assert_eq!(certificate["proof"]["closure"], json!(closure));
        });
        assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}", ran.err);
        assert!(ran.out.starts_with("numbered.pds: the certificate is accepted\n"), "{}", ran.out);
        let ran = verify_changed(&name("emptied"), direction, |certificate| {
            certificate["proof"]["transitions"] = json!([]);
            certificate["proof"]["states"] = json!(certificate["system"]["states"].as_array().map_or(0, Vec::len) + 1);
        });
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("the certificate is flawed: "), "{}", ran.err);
        let ran = verify_changed(&name("renamed"), direction, |certificate| {
            certificate["system"]["states"][0] = json!("elsewhere");
        });
        assert!(ran.code == 2 && ran.err.contains("state 0 is `elsewhere`, but in the system it is"), "{}", ran.err);
        let ran = verify_changed(&name("aimless"), direction, |certificate| certificate["targets"] = json!([]));
        assert!(ran.code == 2 && ran.err.contains("answers another question"), "{}", ran.err);
    }
}

#[test]
fn the_user_names_the_target_that_a_certificate_is_about() {
    let path = scratch("of_one_head.json");
    assert_eq!(run(&format!("check --quiet --target <2,2> --certificate {path} numbered.pds")).code, 0);
    let ran = run(&format!("verify --quiet --target <2,2> {path} numbered.pds"));
    assert_eq!(ran.out, "  question:    <2, 2>\nVERIFICATION SUCCESSFUL\n", "{}", ran.err);
    let ran = run(&format!("verify {path} numbered.pds"));
    assert!(ran.code == 2 && ran.err.contains("add --target '<2, 2>'"), "{}", ran.err);
    for args in ["verify --label L {} numbered.pds", "verify --target <2,2> {} safe.bp"] {
        let ran = run(&args.replace("{}", &path));
        assert!(ran.code == 1 && ran.err.contains("pushdown systems"), "{}", ran.err);
    }
}

#[test]
fn certificates_of_programs_and_of_systems_are_not_mixed() {
    let path = scratch("of_program.json");
    assert_eq!(run(&format!("check --quiet --engine pushdown --certificate {path} safe.bp")).code, 0);
    assert_eq!(run(&format!("verify --quiet {path} safe.bp")).code, 0);
    let ran = run(&format!("verify {path} numbered.pds"));
    assert!(ran.code == 2 && ran.err.contains("not `selvedge-system-certificate`"), "{}", ran.err);
    let ran = run(&format!("check --quiet --certificate {path} stack.pds"));
    assert!(ran.code == 10 && ran.err.contains("there is no certificate"), "{}", ran.err);
}

#[test]
fn systems_are_shown_in_numbers_as_text_and_as_a_graph() {
    let stats = run("show stats stack.pds");
    assert_eq!((stats.code, stats.err.as_str()), (0, ""));
    assert!(
        stats.out.contains("states:") && stats.out.contains(" pop, ") && stats.out.contains("targets:"),
        "{}",
        stats.out
    );
    let graph = run("show cfg stack.pds");
    assert_eq!(graph.code, 0);
    assert!(graph.out.starts_with("digraph system {\n") && graph.out.contains("color=red"), "{}", graph.out);
    let printed = run("show ir stack.pds");
    let again = run_with_stdin("show ir --input-format pds -", printed.out.as_bytes());
    assert_eq!((printed.code, &printed.out), (0, &again.out));
    for args in ["show ast stack.pds", "show cfg --picture svg stack.pds", "show stats --entry f stack.pds"] {
        assert_eq!(run(args).code, 1, "{args}");
    }
}
