//! Certificates that are written, read back, and tampered with.

use serde_json::{Value, json};

use crate::harness::{Ran, run, scratch};
use crate::schema::validate;

/// Returns the certificate of a check as JSON, and its path.
fn certificate_of(args: &str, name: &str) -> (Value, String) {
    let path = scratch(name);
    let ran = run(&format!("check --quiet --certificate {path} {args}"));
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args}");
    let text = std::fs::read_to_string(&path).expect("the certificate was written");
    (serde_json::from_str(&text).expect("it is JSON"), path)
}

/// Verifies a certificate of `safe.bp` after a change.
fn verify_changed(name: &str, change: impl FnOnce(&mut Value)) -> Ran {
    let (mut certificate, path) = certificate_of("--engine summaries safe.bp", name);
    change(&mut certificate);
    std::fs::write(&path, certificate.to_string()).expect("it can be written");
    run(&format!("verify {path} safe.bp"))
}

#[track_caller]
fn rejected(ran: &Ran, message: &str) {
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains(message), "{}", ran.err);
}

#[test]
fn certificates_of_all_kinds_fit_the_schema_and_are_accepted_with_the_options_of_the_check() {
    let checks = [
        ("summaries", "", "safe.bp", "summaries"),
        ("summaries", "--assertion 6 --entry main", "safe.bp", "summaries"),
        ("induction", "", "safe.bp", "induction"),
        ("auto", "", "noerror.bp", "control_flow"),
    ];
    for (number, (engine, question, file, kind)) in checks.into_iter().enumerate() {
        let args = format!("--engine {engine} {question} {file}");
        let (certificate, path) = certificate_of(&args, &format!("accepted{number}.json"));
        assert_eq!(validate("certificate.schema.json", &certificate), Vec::<String>::new());
        assert_eq!(certificate["proof"]["kind"], json!(kind), "{args}");
        let ran = run(&format!("verify {question} {path} {file}"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args}");
        assert!(ran.out.starts_with(&format!("{file}: the certificate is accepted\n  scope:")), "{}", ran.out);
        assert_eq!(ran.last_line(), "VERIFICATION SUCCESSFUL");
        let quiet = run(&format!("verify --quiet {question} {path} {file}")).out;
        assert!(quiet.starts_with("  scope:       single thread;"), "{quiet}");
        assert!(quiet.ends_with("\nVERIFICATION SUCCESSFUL\n") && quiet.lines().count() == 3, "{quiet}");
    }
}

/// A certificate of the question about the procedure `flip` proves nothing about `main`.
#[test]
fn the_user_asks_the_question_and_a_certificate_of_another_one_is_refused_with_both() {
    let program = "../../../../tests/regress/0060-question-of-a-certificate.bp";
    let (_, path) = certificate_of(&format!("--entry flip {program}"), "flip.json");
    let ran = run(&format!("verify {path} {program}"));
    rejected(&ran, "the certificate answers another question\n  you ask:     (no options)\n");
    rejected(&ran, "  it answers:  --entry flip\n  help: to ask the question of the certificate, add --entry flip\n");
    let ran = run(&format!("verify --entry flip {path} {program}"));
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"), "{}", ran.err);
    assert!(ran.out.contains("runs flip"), "{}", ran.out);
    for options in ["--threads 2", "--initial any", "--label L", "--assertion 11", "--together L,L"] {
        rejected(&run(&format!("verify {options} {path} {program}")), &format!("you ask:     {options}\n"));
    }
}

/// What the file says about the question is not believed either.
#[test]
fn a_certificate_that_lies_about_its_question_is_judged_for_the_question_that_is_asked() {
    let program = "../../../../tests/regress/0060-question-of-a-certificate.bp";
    let (mut certificate, path) = certificate_of(&format!("--entry flip {program}"), "lies.json");
    certificate["question"]["entry"] = json!(null);
    certificate["question"]["label"] = json!("a 'b\u{1b}[1m");
    std::fs::write(&path, certificate.to_string()).expect("it can be written");
    rejected(&run(&format!("verify {path} {program}")), r"add --label 'a '\''b\u{1b}[1m'");
    certificate["question"]["label"] = json!(null);
    std::fs::write(&path, certificate.to_string()).expect("it can be written");
    rejected(&run(&format!("verify {path} {program}")), "the certificate is flawed");
}

#[test]
fn an_induction_over_fewer_states_is_rejected() {
    let (mut certificate, path) = certificate_of("--engine induction safe.bp", "induction.json");
    certificate["proof"]["k"] = json!(0);
    std::fs::write(&path, certificate.to_string()).expect("it can be written");
    rejected(&run(&format!("verify {path} safe.bp")), "its induction step does not hold");
}

#[test]
fn a_certificate_of_another_program_is_noticed() {
    let (_, path) = certificate_of("--engine summaries safe.bp", "other_program.json");
    let ran = run(&format!("verify {path} unsafe.bp"));
    rejected(&ran, "");
    assert!(ran.err.contains("unsafe.bp is not the text that the certificate was made from"), "{}", ran.err);
}

#[test]
fn a_missing_location_is_a_flaw_with_its_place() {
    let ran = verify_changed("missing_location.json", |certificate| {
        certificate["proof"]["locations"].as_array_mut().expect("a list").remove(0);
    });
    rejected(&ran, "the certificate is flawed: it does not allow every start at location");
    assert!(ran.err.contains("(line 4, `x := *"), "{}", ran.err);
}

#[test]
fn formulas_that_do_not_hold_together_are_refused() {
    let ran = verify_changed("dangling.json", |certificate| {
        certificate["proof"]["formulas"][0] = json!(["and", 5, 6]);
    });
    rejected(&ran, "formula 0: it refers to formula 5, not before it");
    let ran = verify_changed("number.json", |certificate| {
        certificate["proof"]["locations"][0][1] = json!(100_000);
    });
    rejected(&ran, "there is no formula 100000");
    let ran = verify_changed("place.json", |certificate| certificate["proof"]["locations"][0][0] = json!(100_000));
    rejected(&ran, "the program has no location 100000");
    let ran = verify_changed("name.json", |certificate| {
        certificate["proof"]["variables"] = json!([{"number": 0, "variable": "z", "procedure": null}]);
    });
    rejected(&ran, "variable 0 is `z`, but in the program it is `x`");
    let ran = verify_changed("word.json", |certificate| certificate["proof"]["formulas"][0] = json!(["nor", 1]));
    rejected(&ran, "word.json:1:");
}

#[test]
fn a_certificate_that_allows_everything_allows_the_error() {
    let ran = verify_changed("everything.json", |certificate| {
        let proof = &mut certificate["proof"];
        let number = proof["formulas"].as_array().expect("a list").len();
        proof["formulas"].as_array_mut().expect("a list").push(json!(["true"]));
        for pair in proof["locations"].as_array_mut().expect("a list") {
            pair[1] = json!(number);
        }
    });
    rejected(&ran, "it allows the failure of the assertion of edge");
    assert!(ran.err.contains("(line 6, `assert(x = y)`)"), "{}", ran.err);
}

#[test]
fn an_engine_without_certificates_is_helped_out_and_the_report_says_so() {
    let path = scratch("helped.json");
    for (engine, program) in [("sat", "recursion.bp"), ("exhaustive", "safe.bp")] {
        let ran = run(&format!("check --engine {engine} --certificate {path} {program}"));
        assert!(ran.out.contains(&format!("{program}: safe\n")) && ran.out.contains(", by summaries, "), "{}", ran.out);
        assert_eq!(run(&format!("verify {path} {program}")).code, 0);
        let ran = run(&format!("check --engine {engine} {program}"));
        assert!(ran.out.contains(&format!("{program}: safe (uncertified)\n")), "{}", ran.out);
    }
}

#[test]
fn a_wanted_certificate_that_is_missing_is_told() {
    let path = scratch("none.json");
    let ran = run(&format!("check --quiet --engine exhaustive --threads 2 --certificate {path} atomic.bp"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "VERIFICATION SUCCESSFUL\n"));
    assert!(ran.err.contains("note: there is no certificate"), "{}", ran.err);
    let ran = run(&format!("check --quiet --certificate {path} unsafe.bp"));
    assert_eq!(ran.code, 10);
    assert!(ran.err.contains("note: there is no certificate"), "{}", ran.err);
    assert_eq!(run(&format!("check --certificate {path} safe.bp safe.bp")).code, 1);
}

#[test]
fn other_files_are_no_certificates() {
    let path = scratch("no_certificate.json");
    std::fs::write(&path, "{\"format\": \"selvedge-trace\", \"version\": 1}").expect("it can be written");
    rejected(&run(&format!("verify {path} safe.bp")), "this is `selvedge-trace`, not `selvedge-certificate`");
    assert_eq!(run("verify - -").code, 1);
}
