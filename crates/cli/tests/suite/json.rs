//! JSON output, and that it is what the published schemas say.

use serde_json::Value;

use crate::harness::{run, scratch, transcript};
use crate::schema::validate;

/// The report of a check, which fits the schema.
#[track_caller]
fn report(args: &str) -> Value {
    let ran = run(&format!("check --format json --engine exhaustive --passes none {args}"));
    let report: Value = serde_json::from_str(&ran.out).expect("standard output is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    assert_eq!(report["exit_code"], ran.code);
    report
}

#[test]
fn every_verdict_fits_the_schema() {
    assert_eq!(report("safe.bp")["results"][0]["verdict"], "safe");
    assert_eq!(report("unsafe.bp")["results"][0]["verdict"], "unsafe");
    assert_eq!(report("--threads 2 passive.bp")["results"][0]["verdict"], "unsafe");
    assert_eq!(report("calls.bp")["results"][0]["verdict"], "unsafe");
    assert_eq!(report("recursion.bp")["results"][0]["verdict"], "unknown");
    assert_eq!(report("broken.bp")["results"][0]["verdict"], "error");
    assert_eq!(report("missing.bp")["results"][0]["verdict"], "error");
    assert_eq!(report("--label Q safe.bp")["results"][0]["verdict"], "error");
    assert_eq!(report("--time-limit 0s safe.bp")["results"][0]["verdict"], "unknown");
}

#[test]
fn an_unsafe_report() {
    let args = "check --format json --engine exhaustive --passes none --threads 2 threads.bp";
    insta::assert_snapshot!("json_unsafe", transcript(args, &run(args)));
}

#[test]
fn several_files_are_one_object() {
    let report = report("safe.bp unsafe.bp broken.bp");
    assert_eq!(report["exit_code"], 2);
    assert_eq!(report["results"].as_array().map(Vec::len), Some(3));
    let diagnostics = report["results"][2]["diagnostics"].as_array().expect("a list");
    assert!(diagnostics.len() >= 10);
    assert_eq!(report["results"][0]["answer"]["certified"], false);
}

#[test]
fn arguments_and_certifiers_have_names() {
    let path = scratch("arguments.json");
    let ran = run(&format!("check --format json --engine sat --certificate {path} recursion.bp"));
    let report: Value = serde_json::from_str(&ran.out).expect("standard output is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let answer = &report["results"][0]["answer"];
    assert_eq!(answer["arguments"], serde_json::json!(["fixed-point"]));
    assert_eq!((&answer["certified"], &answer["certifier"]), (&Value::from(true), &Value::from("summaries")));
}

#[test]
fn every_argument_is_in_the_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema/report.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("it is there")).expect("it is JSON");
    let names: Vec<&str> = selvedge_check::Argument::ALL.iter().map(|argument| argument.name()).collect();
    let items = &schema["$defs"]["answer"]["properties"]["arguments"]["items"]["enum"];
    assert_eq!(*items, serde_json::json!(names));
}

#[test]
fn a_certificate_is_mentioned() {
    let ran = run("check --format json unreachable.bp");
    let report: Value = serde_json::from_str(&ran.out).expect("standard output is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    assert_eq!(report["results"][0]["answer"]["certified"], true);
    assert_eq!(report["results"][0]["answer"]["unreachable"][0]["line"], 5);
}

#[test]
fn a_trace_file_fits_its_schema() {
    let path = scratch("schema.json");
    run(&format!("check --engine exhaustive --passes none --threads 2 --trace-out {path} passive.bp"));
    let trace = std::fs::read_to_string(&path).expect("the trace was written");
    let mut trace: Value = serde_json::from_str(&trace).expect("it is JSON");
    assert_eq!(validate("trace.schema.json", &trace), Vec::<String>::new());
    trace["steps"][0]["edge"] = "seven".into();
    assert_eq!(validate("trace.schema.json", &trace).len(), 1, "the validator sees a wrong type");
}

#[test]
fn the_reason_of_an_unchecked_certificate_is_in_the_schema() {
    for (args, part) in [("safe.bp", "answer"), ("--all safe.bp", "each"), ("numbered.pds", "system")] {
        let ran = run(&format!("check --format json {args}"));
        let mut report: Value = serde_json::from_str(&ran.out).expect("standard output is JSON");
        let part = &mut report["results"][0][part];
        let part = if part.is_array() { &mut part[0] } else { part };
        part["unchecked"] = "there was no time".into();
        assert_eq!(validate("report.schema.json", &report), Vec::<String>::new(), "{args}");
    }
}

/// An independent validator, which knows all of JSON Schema and finds schemas by their `$id`, agrees.
#[test]
fn another_validator_reads_the_schemas_by_their_names_and_accepts_what_is_written() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let (trace, certificate, system) = (scratch("s.trace"), scratch("s.certificate"), scratch("s.system"));
    let written = [
        ("report", run("check --format json --jobs 1 unsafe.bp safe.bp recursion.bp broken.bp stack.pds").out),
        ("report", run("check --format json --all several.bp").out),
        ("trace", run_for(&format!("check --quiet --threads 2 --trace-out {trace} threads.bp"), &trace)),
        (
            "certificate",
            run_for(&format!("check --quiet --threads 2 --certificate {certificate} safe.bp"), &certificate),
        ),
        ("system-certificate", run_for(&format!("check --quiet --certificate {system} numbered.pds"), &system)),
    ];
    for (number, (schema, text)) in written.iter().enumerate() {
        let path = scratch(&format!("schemas-{number}.json"));
        std::fs::write(&path, text).expect("the folder of the build is writable");
        let validated = std::process::Command::new("python3")
            .env("PYTHONPATH", format!("{root}/.tools/jsonschema"))
            .arg(format!("{root}/crates/cli/tests/suite/schemas.py"))
            .arg(format!("{root}/docs/schema"))
            .args([schema, path.as_str()])
            .output()
            .expect("Python is installed");
        let said = String::from_utf8_lossy(&validated.stderr).into_owned();
        assert!(validated.status.success(), "{schema}: {said}\n(./setup installs jsonschema)");
        assert_eq!(String::from_utf8_lossy(&validated.stdout).trim(), "accepted, and refused when broken");
    }
}

/// Runs a command, and returns the text of the file that it writes.
fn run_for(command: &str, path: &str) -> String {
    let ran = run(command);
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{command}: {error}: {}{}", ran.out, ran.err))
}
