//! `selvedge boom`: in the place of BOOM.

use std::process::Command;

use crate::harness::{programs, run, scratch};

#[test]
fn a_violation_is_a_bound_a_trace_and_a_verdict() {
    let ran = run("boom --engine exhaustive --stats -t --threadbound 3 created.bp");
    assert_eq!(ran.code, 10, "{}", ran.err);
    let lines: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with("statistics")).collect();
    assert_eq!(lines.first(), Some(&"threadbound=3"));
    assert_eq!(lines.last(), Some(&"VERIFICATION FAILED"));
    assert!(lines[1..lines.len() - 1].iter().all(|line| line.starts_with("TRACE t=")), "{}", ran.out);
    let last = lines[lines.len() - 2];
    assert!(last.starts_with("TRACE t=2 second PC6 done=1 main::b0="), "{last}");
    assert_eq!(last.matches("main::b0=").count(), 3, "{last}");
}

#[test]
fn ended_threads_count_and_the_bound_is_two_unless_said() {
    let ran = run("boom -t created.bp");
    assert_eq!((ran.code, ran.out.as_str()), (0, "threadbound=2\nVERIFICATION SUCCESSFUL\n"));
    assert_eq!(run("check --threads 2 -q created.bp").code, 10, "live threads are another bound");
}

#[test]
fn without_t_there_is_no_trace() {
    assert_eq!(run("boom --threadbound 3 created.bp").out, "threadbound=3\nVERIFICATION FAILED\n");
}

#[test]
fn no_answer_is_no_line() {
    let ran = run("boom -t --time-limit 0s --threadbound 3 created.bp");
    assert_eq!((ran.code, ran.out.as_str()), (11, ""));
    assert!(ran.err.contains("time limit"), "{}", ran.err);
    assert_eq!(run("boom broken.bp").out, "");
}

#[test]
fn unknown_options_are_refused_and_known_ones_that_change_nothing_noted() {
    assert_eq!(run("boom --frobnicate created.bp").code, 1);
    assert_eq!(run("boom --threadbound 0 created.bp").code, 1);
    let ran = run("boom --algo hybdd --por created.bp");
    assert_eq!((ran.code, ran.out.as_str()), (0, "threadbound=2\nVERIFICATION SUCCESSFUL\n"));
    assert!(ran.err.contains("--algo is ignored") && ran.err.contains("--por is ignored"), "{}", ran.err);
}

#[cfg(unix)]
#[test]
fn under_the_name_boom_it_is_boom() {
    let link = scratch("boom");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_selvedge"), &link).expect("the folder can be written");
    let output = Command::new(&link).args(["--threadbound", "3", "created.bp"]).current_dir(programs()).output();
    let output = output.expect("the program was built");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "threadbound=3\nVERIFICATION FAILED\n");
}

/// The first way that a search by summaries finds goes round the loop.
#[test]
fn the_trace_is_a_shortest_one_unless_told_otherwise() {
    let file = scratch("loop.bp");
    let text = "void main() begin decl a, b; L: a := *; b := *; if a then goto L; fi; assert(b); goto L; end";
    std::fs::write(&file, text).expect("the folder can be written");
    let steps = |options: &str| {
        let ran = run(&format!("{options} {}", file));
        assert_eq!(ran.code, 10, "{}", ran.err);
        ran.out
    };
    let shortest = steps("check --engine bmc --no-minimize");
    assert!(shortest.contains("counterexample: 4 steps"), "{shortest}");
    assert!(steps("check --shortest --no-minimize").contains("counterexample: 4 steps"));
    assert_eq!(steps("boom -t").matches("TRACE").count(), 4);
    assert!(steps("boom -t --no-shortest").matches("TRACE").count() >= 4);
}
