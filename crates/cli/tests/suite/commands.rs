//! The other subcommands.

use crate::harness::{programs, run, run_with_stdin, scratch, snapshot};

#[test]
fn explain_describes_a_code() {
    snapshot!("explain", "explain SV0012");
    assert_eq!(run("explain sv0012").out, run("explain 12").out);
}

#[test]
fn explain_lists_all_codes() {
    let ran = run("explain");
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("SV0001  error  ") && ran.out.contains("SV0101  warning"), "{}", ran.out);
}

#[test]
fn explain_refuses_an_unknown_code() {
    snapshot!("explain_unknown", "explain SV9999");
}

#[test]
fn fmt_rewrites_files_in_place() {
    let path = scratch("fmt_rewrites.bp");
    std::fs::copy(programs().join("ugly.bp"), &path).expect("it can be copied");
    let ran = run(&format!("fmt {path}"));
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "", ""));
    let formatted = std::fs::read_to_string(&path).expect("it is there");
    assert_eq!(formatted, "decl x;\n\nvoid main() begin // a remark\n  x := 1;\n  assert(x);\nend\n");
    assert_eq!(run(&format!("fmt --check {path}")).code, 0);
}

#[test]
fn fmt_goes_from_standard_input_to_standard_output() {
    let text = std::fs::read(programs().join("ugly.bp")).expect("the program is there");
    let ran = run_with_stdin("fmt -", &text);
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("  assert(x);\n"), "{}", ran.out);
}

#[test]
fn fmt_check_lists_what_would_change() {
    snapshot!("fmt_check", "fmt --check ugly.bp safe.bp");
    assert_eq!(run("fmt --check safe.bp unsafe.bp").code, 0);
}

#[test]
fn fmt_leaves_a_broken_file_alone() {
    let path = scratch("fmt_broken.bp");
    std::fs::write(&path, "void main() begin x := ; end").expect("it can be written");
    let ran = run(&format!("fmt {path}"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("error[SV"), "{}", ran.err);
    assert_eq!(std::fs::read_to_string(&path).expect("it is there"), "void main() begin x := ; end");
}

#[test]
fn show_ast() {
    snapshot!("show_ast", "show ast unsafe.bp");
}

#[test]
fn show_ir() {
    snapshot!("show_ir", "show ir calls.bp");
}

#[test]
fn show_cfg_as_dot() {
    let ran = run("show cfg calls.bp");
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("digraph"), "{}", ran.out);
}

#[test]
fn show_cfg_as_a_picture() {
    let ran = run("show cfg --picture svg calls.bp");
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with("<svg ") && ran.out.ends_with("</svg>\n"), "{}", ran.out);
    assert!(ran.out.contains(">L9 ERROR<"), "labels are drawn: {}", ran.out);
}

#[test]
fn show_stats() {
    snapshot!("show_stats", "show stats threads.bp");
}

#[test]
fn show_refuses_broken_programs() {
    for what in ["ir", "cfg", "stats"] {
        let ran = run(&format!("show {what} broken.bp"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{what}");
    }
    let ran = run("show ast broken.bp");
    assert_eq!(ran.code, 2);
    assert!(!ran.out.is_empty(), "the tree is shown as far as it was read");
}

#[test]
fn every_subcommand_reads_a_program_from_standard_input() {
    let text = std::fs::read(programs().join("noerror.bp")).expect("the program is there");
    for args in ["show ast -", "show ir -", "show cfg -", "show stats -", "fmt -"] {
        assert_eq!(run_with_stdin(args, &text).code, 0, "{args}");
    }
    assert_eq!(run_with_stdin("simulate -", &text).code, 5);
}

#[test]
fn completions_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let ran = run(&format!("completions {shell}"));
        assert_eq!(ran.code, 0);
        assert!(ran.out.contains("memory-limit"), "{shell}");
    }
    assert_eq!(run("completions dosbox").code, 1);
}

#[test]
fn simulate_is_fixed_by_its_seed() {
    snapshot!("simulate", "simulate --seed 3 --threads 2 threads.bp");
    let runs: Vec<String> = (0..8).map(|seed| run(&format!("simulate --seed {seed} crowd.bp")).out).collect();
    assert_eq!(runs[5], run("simulate --seed 5 crowd.bp").out);
    assert!(runs.iter().any(|other| *other != runs[0]), "all seeds give the same run");
}

#[test]
fn simulate_stops_at_a_deadlock_an_error_and_the_step_limit() {
    let ran = run("simulate deadlock.bp");
    assert_eq!(ran.code, 5);
    assert!(ran.last_line().contains("no thread can move"), "{}", ran.out);
    let ran = run("simulate --steps 3 crowd.bp");
    assert!(ran.last_line().contains("within its steps"), "{}", ran.out);
    assert!(ran.out.contains(": 3 steps"), "{}", ran.out);
    let failing = (0..50).map(|seed| run(&format!("simulate --seed {seed} unsafe.bp"))).find(|ran| ran.code == 10);
    let failing = failing.expect("one run in four fails");
    assert_eq!(failing.last_line(), "VERIFICATION FAILED");
    assert!(failing.out.contains("assertion fails: unsafe.bp:6:5"), "{}", failing.out);
}
