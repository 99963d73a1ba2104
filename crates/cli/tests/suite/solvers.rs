//! With and without SMT solvers.

use std::process::Output;

use crate::harness::{command, programs, run};

/// The program where no other program can be found.
fn alone(args: &str) -> Output {
    let nothing = ["SELVEDGE_Z3", "SELVEDGE_CVC5"];
    let mut command = command(args);
    nothing.iter().for_each(|variable| {
        command.env_remove(variable);
    });
    command.env("PATH", "").current_dir(std::env::temp_dir()).output().expect("the program was built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("output is UTF-8")
}

#[test]
fn doctor_finds_what_is_installed() {
    let ran = run("doctor");
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("z3: Z3 version") && ran.out.contains("with integers are checked"), "{}", ran.out);
}

#[test]
fn doctor_says_how_to_install_what_is_missing() {
    let output = alone("doctor");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    assert!(said.contains("z3: not found") && said.contains("pip install"), "{said}");
    assert!(said.contains("cvc5: not found"), "{said}");
    assert!(said.contains("programs with integers need z3"), "{said}");
}

#[test]
fn boolean_programs_need_no_solver() {
    for (file, code) in [("safe.bp", 0), ("unsafe.bp", 10)] {
        let output = alone(&format!("check {}", programs().join(file).display()));
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stdout));
    }
}

#[test]
fn programs_with_integers_are_unknown_without_a_solver_and_it_says_what_to_install() {
    let program = programs().join("../../../../tests/programs/gcl/mutex.gcl");
    for engine in ["", "--engine ase", "--engine induction", "--engine horn", "--engine cegar"] {
        let output = alone(&format!("check {engine} {}", program.display()));
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(5), "{engine}: {said}");
        assert!(said.contains("VERIFICATION UNKNOWN"), "{engine}: {said}");
        assert!(said.contains("z3") && said.contains("selvedge doctor"), "{engine}: {said}");
    }
}

/// Solvers that lie: they call every question unsatisfiable.
#[cfg(unix)]
mod liars {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::path::PathBuf;

    use serde_json::{Value, json};

    use super::{Output, command, run, text};
    use crate::harness::scratch;
    use crate::schema::validate;

    /// The error is reached in three steps.
    const UNSAFE: &str = "var x: int = 0;\nprocess p {\n  at low: t1: x < 3 -> x := x + 1;\n  \
        at low: t2: x == 3 -> goto high;\n  at high;\n}\nsafe low: !(p at high);\n";

    const SAFE: &str = "var x: int = 0;\nprocess p {\n  at low: t1: x < 3 -> x := x + 1;\n  \
        at low: t2: x > 3 -> goto high;\n  at high;\n}\nsafe low: !(p at high);\n";

    const ENGINES: [&str; 6] = ["auto", "ase", "ur", "induction", "cegar", "horn"];

    /// A solver that is not there.
    const MISSING: &str = "/nowhere/solver";

    fn written(name: &str, content: &str) -> String {
        let path = scratch(name);
        fs::write(&path, content).expect("it can be written");
        path
    }

    /// A script in place of a solver, which calls every question unsatisfiable.
    fn liar(name: &str) -> String {
        solver(name, "echo unsat")
    }

    /// A script in place of a solver, with its reaction to questions. The name keeps tests that run at the same time
    /// apart.
    fn solver(name: &str, reaction: &str) -> String {
        let loop_head = "while read -r line; do case \"$line\" in";
        let path = written(name, &format!("#!/bin/sh\n{loop_head} *'(check-sat'*) {reaction} ;; esac; done\n"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        path
    }

    /// The cvc5 that `./setup` installs, if it could.
    fn cvc5() -> Option<String> {
        let above = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let found = above.ancestors().map(|folder| folder.join(".tools/cvc5/bin/cvc5")).find(|path| path.is_file());
        found.map(|path| path.display().to_string())
    }

    fn with(z3: &str, cvc5: &str, args: &str) -> Output {
        command(args).env("SELVEDGE_Z3", z3).env("SELVEDGE_CVC5", cvc5).output().expect("the program was built")
    }

    fn told(output: &Output) -> String {
        format!("{}{}", text(&output.stdout), text(&output.stderr))
    }

    #[test]
    fn a_lie_that_another_solver_contradicts_is_no_answer() {
        let Some(cvc5) = cvc5() else { return };
        let (liar, program) = (liar("contradicted-z3"), written("contradicted.gcl", UNSAFE));
        let mut contradicted = 0;
        for engine in ENGINES {
            let output = with(&liar, &cvc5, &format!("check --engine {engine} --time-limit 2s {program}"));
            let (said, code) = (told(&output), output.status.code());
            assert!(!said.contains("SUCCESSFUL"), "{engine}: {said}");
            if said.contains("the SMT solvers disagree about the proof: z3 says `unsat`, cvc5 says `sat`") {
                assert_eq!(code, Some(5), "{engine}: {said}");
                contradicted += 1;
            }
        }
        assert!(contradicted >= 3, "{contradicted}");
    }

    #[test]
    fn a_solver_that_judges_its_own_proof_certifies_nothing() {
        let (liar, program) = (liar("alone"), written("alone.gcl", UNSAFE));
        let mut lies = 0;
        for (z3, cvc5) in [(&*liar, MISSING), (MISSING, &*liar)] {
            for engine in ENGINES {
                let args = format!("check --format json --engine {engine} --time-limit 2s {program}");
                let output = with(z3, cvc5, &args);
                let report: Value = serde_json::from_str(&text(&output.stdout)).expect("it is JSON");
                assert_eq!(validate("report.schema.json", &report), Vec::<String>::new());
                let result = &report["results"][0];
                assert_ne!(result["headline"], json!("safe"), "{engine}: {report}");
                assert_ne!(result["answer"]["certified"], json!(true), "{engine}: {report}");
                if result["answer"]["own_judge"] == json!("z3") {
                    assert_eq!(result["headline"], json!("safe (checked by the solver that found it)"));
                    lies += 1;
                }
            }
        }
        assert!(lies >= 3, "{lies}");
    }

    #[test]
    fn text_pages_and_each_error_say_that_the_solver_judged_its_own_proof() {
        let (program, page) = (written("own.gcl", SAFE), scratch("own.html"));
        let words = "(checked by the solver that found it)";
        let plain = |args: &str| {
            let output = command(args).env("SELVEDGE_CVC5", MISSING).output().expect("the program was built");
            assert_eq!(output.status.code(), Some(0), "{}", told(&output));
            text(&output.stdout)
        };
        let said = plain(&format!("check --engine induction --html {page} {program}"));
        assert!(said.contains(&format!("own.gcl: safe {words}\n")), "{said}");
        assert!(said.contains("checked by z3 alone in") && said.contains("selvedge doctor"), "{said}");
        assert!(said.ends_with("\nVERIFICATION SUCCESSFUL\n"), "{said}");
        let page = fs::read_to_string(page).expect("the page was written");
        assert!(page.contains(&format!("safe {words}")) && page.contains(&format!("holds {words}")));
        let said = plain(&format!("check --engine induction --all {program}"));
        assert!(said.contains(words) && said.contains(": by z3 alone"), "{said}");
        assert!(plain("doctor").contains("With one solver, proofs about integers are not certified"));
    }

    #[test]
    fn verify_says_which_solver_judged_alone_and_rejects_what_solvers_disagree_about() {
        let (liar, path) = (liar("verified"), scratch("verified.json"));
        let (good, bad) = (written("verified.gcl", SAFE), written("verified-unsafe.gcl", UNSAFE));
        assert_eq!(run(&format!("check --engine induction --certificate {path} {good}")).code, 0);
        let output = command(&format!("verify {path} {good}")).env("SELVEDGE_CVC5", MISSING).output();
        let said = told(&output.expect("the program was built"));
        assert!(said.contains("the certificate is accepted (checked by z3 alone)\n"), "{said}");
        assert!(said.ends_with("\nVERIFICATION SUCCESSFUL (checked by z3 alone)\n"), "{said}");
        let said = told(&with(&liar, MISSING, &format!("verify {path} {bad}")));
        assert!(said.ends_with("\nVERIFICATION SUCCESSFUL (checked by z3 alone)\n"), "{said}");
        let said = told(&with(MISSING, &liar, &format!("verify --quiet {path} {bad}")));
        assert!(said.ends_with("\nVERIFICATION SUCCESSFUL (checked by cvc5 alone)\n"), "{said}");
        let Some(cvc5) = cvc5() else { return };
        assert!(run(&format!("verify {path} {good}")).out.ends_with("\nVERIFICATION SUCCESSFUL\n"));
        let output = with(&liar, &cvc5, &format!("verify {path} {bad}"));
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("not accepted: the solvers disagree: z3 says `unsat`, cvc5 says `sat`"), "{said}");
    }

    /// Two lies that agree are beyond the judge, as `docs/trust.md` says. An execution needs no solver.
    #[test]
    fn a_solver_that_fails_before_the_judge_leaves_the_judgement_to_the_other() {
        let Some(cvc5) = cvc5() else { return };
        let (program, certificate) = (written("failing.gcl", SAFE), scratch("failing.json"));
        let made = run(&format!("check --certificate {certificate} {program}"));
        assert_eq!(made.code, 0, "{}{}", made.out, made.err);
        for (name, reaction, code, alone) in [
            ("dies", "exit 1", 0, 5),
            ("babbles", "echo '(babble)'", 0, 5),
            ("unbalanced", "echo '))))'", 0, 5),
            ("hangs", ":", 11, 11),
            ("delays", "sleep 0.1; echo unsat", 0, 0),
        ] {
            let failing = solver(&format!("failing-{name}"), reaction);
            for (other, expected) in [(&cvc5, code), (&failing, alone)] {
                let output = with(&failing, other, &format!("verify --time-limit 3s {certificate} {program}"));
                assert_eq!(output.status.code(), Some(expected), "{name}: {}", told(&output));
            }
        }
    }

    #[test]
    fn executions_to_errors_are_replayed_without_a_solver() {
        let (program, trace) = (written("replayed.gcl", UNSAFE), scratch("replayed.json"));
        for engine in ["ase", "induction"] {
            let ran = run(&format!("check --engine {engine} --trace-out {trace} {program}"));
            assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
            let output = with(MISSING, MISSING, &format!("replay {trace} {program}"));
            assert_eq!(output.status.code(), Some(10), "{}", told(&output));
        }
    }
}
