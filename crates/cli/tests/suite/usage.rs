//! Wrong usage: exit code 1, a message that helps, no verdict.

use selvedge_engines::EngineKind;

use crate::harness::{run, snapshot};

/// Ends with exit code 1, nothing on standard output, and this on standard error.
#[track_caller]
fn refused(args: &str, message: &str) {
    let ran = run(args);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    assert!(ran.err.contains(message), "{}", ran.err);
}

#[test]
fn no_arguments() {
    refused("", "Usage: selvedge");
}

#[test]
fn unknown_words_and_options() {
    refused("chekc safe.bp", "'check'");
    refused("check --treads 2 safe.bp", "'--threads'");
    refused("check", "<FILE>");
}

#[test]
fn an_unknown_engine() {
    refused("check --engine exhaustiv safe.bp", "'exhaustive'");
}

#[test]
fn the_help_lists_every_engine() {
    let help = run("check --help").out;
    for kind in EngineKind::ALL {
        assert!(help.contains(&format!("- {}:", kind.name())), "{} is missing", kind.name());
    }
}

#[test]
fn values_that_make_no_sense() {
    refused("check --threads 0 safe.bp", "--threads");
    refused("check --initial none safe.bp", "positive number of threads, or `any`");
    refused("check --time-limit 30 safe.bp", "unit is missing");
    refused("check --memory-limit 4XB safe.bp", "`XB` is not a unit");
    refused("check --passes nonsense safe.bp", "no pass `nonsense`");
    refused("check --frames 0 safe.bp", "--frames");
    refused("check --format yaml safe.bp", "json");
}

#[test]
fn options_that_exclude_each_other() {
    refused("check --label L --assertion 3 safe.bp", "cannot be used with");
    refused("check --quiet --full safe.bp", "cannot be used with");
    refused("check --trace-out t.json safe.bp unsafe.bp", "--trace-out takes one trace");
    refused("check --bound 5 safe.bp", "--bound is for the engines `bmc`, `induction`, `bmc-threads`");
    refused(
        "check --engine exhaustive --bound 5 safe.bp",
        "--bound is for the engines `bmc`, `induction`, `bmc-threads`",
    );
    refused("check --engine bmc --paths all safe.bp", "--paths is for the engine `induction`");
    refused("check - -", "`-` is given twice");
    refused("replay - -", "`-` is given twice");
}

#[test]
fn an_option_of_another_engine() {
    refused("check --summaries lazy safe.bp", "--summaries is for the engine `sat`");
    refused("check --engine sat --eager safe.bp", "--eager is for the engine `summaries`");
    refused("check --engine sat --exact safe.bp", "--exact is for the engine `summaries`");
    refused("check --engine sat --summaries eager safe.bp", "universal");
    refused("check --engine sat --recursion unroll safe.bp", "--recursion is for universal summaries");
    refused("check --engine sat --summaries lazy --recursion depth safe.bp", "fixpoint");
}

#[test]
fn a_question_that_does_not_fit_the_program() {
    snapshot!("unknown_label", "check --label NOWHERE calls.bp");
    let ran = run("check --initial 3 --threads 2 safe.bp");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("raise --threads to 3"), "{}", ran.err);
}

#[test]
fn help_has_examples_for_every_subcommand() {
    for subcommand in ["check", "fmt", "explain", "replay", "simulate", "show", "completions"] {
        let ran = run(&format!("{subcommand} --help"));
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("Examples:\n  "), "{subcommand}: {}", ran.out);
    }
    assert!(run("--help").out.contains("the first of these that occurred:\n  6, 130, 1, 2, 10, 12, 11, 5, 0."));
}

#[test]
fn the_version() {
    let ran = run("--version");
    assert_eq!((ran.code, ran.out), (0, format!("selvedge {}\n", env!("CARGO_PKG_VERSION"))));
}
