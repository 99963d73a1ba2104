//! `check --all`: every assertion and error label on its own.

use serde_json::{Value, json};

use crate::harness::{run, snapshot};
use crate::schema::validate;

#[test]
fn all_assertions_are_decided_in_one_table() {
    snapshot!("all", "check --all --engine summaries several.bp");
}

#[test]
fn all_as_json_fits_the_schema() {
    let ran = run("check --all --engine summaries --format json several.bp");
    let report: Value = serde_json::from_str(&ran.out).expect("it is JSON");
    assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
    let results: Vec<&Value> =
        report["results"][0]["each"].as_array().expect("a list").iter().map(|each| &each["result"]).collect();
    assert_eq!(json!(results), json!(["holds", "violated", "unreachable", "violated"]));
    assert_eq!(report["results"][0]["each"][1]["line"], json!(6));
    assert_eq!(ran.code, 10);
}

#[test]
fn all_without_a_violation_is_safe() {
    let ran = run("check --all --quiet safe.bp");
    assert_eq!((ran.code, ran.out.as_str()), (0, "VERIFICATION SUCCESSFUL\n"));
    let ran = run("check --all --quiet --time-limit 0s safe.bp");
    assert_eq!(ran.code, 11, "{}", ran.out);
    assert_eq!(run("check --all --label L safe.bp").code, 1);
}
