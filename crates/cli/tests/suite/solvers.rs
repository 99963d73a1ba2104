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
