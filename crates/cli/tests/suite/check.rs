//! `selvedge check`: verdicts, scopes, traces, several files.

use crate::harness::{command, programs, run, run_with_stdin, scratch, snapshot};

#[test]
fn a_safe_program() {
    snapshot!("safe", "check --engine exhaustive --passes none safe.bp");
}

#[test]
fn an_unsafe_program() {
    snapshot!("unsafe", "check --engine exhaustive --passes none unsafe.bp");
}

#[test]
fn context_switches_and_spawns_are_visible() {
    snapshot!("threads", "check --engine exhaustive --passes none --threads 2 threads.bp");
}

#[test]
fn an_atomic_section_makes_the_lock_safe() {
    let ran = run("check --engine exhaustive --threads 2 atomic.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"));
    assert!(ran.out.contains("at most 2 threads; one initial thread runs main"), "{}", ran.out);
}

#[test]
fn atomic_sections_are_marked() {
    let ran = run("check --engine exhaustive --passes none --threads 2 --label worker atomic.bp");
    assert!(!ran.out.contains('┃'), "nothing is atomic before the label: {}", ran.out);
    let text = b"decl x; void main() begin atomic_begin; x := 1; atomic_end; L: skip; end";
    let ran = run_with_stdin("check --engine exhaustive --passes none --label L -", text);
    assert_eq!(ran.out.matches('┃').count(), 3, "{}", ran.out);
}

#[test]
fn calls_are_indented_and_locals_shown() {
    snapshot!("calls", "check --engine exhaustive --passes none calls.bp");
}

#[test]
fn full_shows_whole_states() {
    snapshot!("full", "check --engine exhaustive --passes none --full calls.bp");
}

#[test]
fn a_bound_on_frames_is_unknown() {
    snapshot!("frames", "check --engine exhaustive --passes none --frames 5 recursion.bp");
}

#[test]
fn bmc_ends_at_its_bound() {
    let ran = run("check --engine bmc --bound 12 safe.bp");
    assert_eq!((ran.code, ran.last_line()), (5, "VERIFICATION UNKNOWN (no error within 12 steps)"));
    let ran = run("check --engine bmc unsafe.bp");
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"));
}

#[test]
fn induction_says_with_which_k_it_closed() {
    let ran = run("check --engine induction safe.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"));
    assert!(ran.out.contains("k-induction with k = "), "{}", ran.out);
    let ran = run("check --engine induction --paths all --bound 0 safe.bp");
    assert_eq!((ran.code, ran.last_line()), (5, "VERIFICATION UNKNOWN (no error within 0 steps)"));
}

#[test]
fn sat_says_what_closed_the_search() {
    let ran = run("check --engine sat recursion.bp");
    assert!(ran.out.contains("argument:    nothing new is reached (fixed point, 2QBF)"), "{}", ran.out);
    let ran = run("check --engine sat --passes none --summaries universal --recursion unroll recursion.bp");
    assert!(ran.out.contains("argument:    deeper calls repeat an entry and its exit"), "{}", ran.out);
    assert!(!run("check --engine sat unsafe.bp").out.contains("argument:"));
}

#[test]
fn a_program_that_spawns_needs_a_thread_bound() {
    let ran = run("check --engine exhaustive --passes none spawner.bp");
    assert_eq!(ran.code, 5);
    assert!(ran.last_line().starts_with("VERIFICATION UNKNOWN ("), "{}", ran.out);
    assert!(ran.last_line().contains("--threads N"), "{}", ran.out);
}

#[test]
fn no_error_location() {
    let ran = run("check noerror.bp");
    assert_eq!((ran.code, ran.last_line()), (0, "VERIFICATION SUCCESSFUL"));
    assert!(ran.out.contains("nothing (the program has no assertions or error labels)"), "{}", ran.out);
    assert!(ran.out.contains("single thread; one initial thread runs main"), "{}", ran.out);
}

#[test]
fn an_assertion_that_no_execution_reaches_is_said_to_be_unreachable() {
    let ran = run("check unreachable.bp");
    assert_eq!(ran.code, 0);
    assert!(ran.out.contains("unreachable: the assertion on line 5"), "{}", ran.out);
    assert!(ran.out.starts_with("unreachable.bp: safe\n"), "certified: {}", ran.out);
}

#[test]
fn the_number_of_initial_threads_is_stated() {
    let ran = run("check --engine exhaustive --threads 2 --initial 2 safe.bp");
    assert!(ran.out.contains("at most 2 threads; 2 initial threads run main"), "{}", ran.out);
    let ran = run("check --engine exhaustive --threads 2 --initial any safe.bp");
    assert!(ran.out.contains("at most 2 threads; any number of initial threads run main"), "{}", ran.out);
}

#[test]
fn passive_assignments_name_the_other_thread() {
    let ran = run("check --engine exhaustive --passes none --threads 2 passive.bp");
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("main#2's seen: 0 → 1"), "{}", ran.out);
}

#[test]
fn one_assertion_by_line_or_label() {
    assert_eq!(run("check --engine exhaustive --assertion 6 unsafe.bp").code, 10);
    let ran = run("check --engine exhaustive --assertion 7 unsafe.bp");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("it has the assertion on line 6"), "{}", ran.err);
}

#[test]
fn what_is_no_program_is_recognised() {
    let ran = run("check .");
    assert!(ran.code == 2 && ran.err.contains("`selvedge test .`"), "{}", ran.err);
    let ran = run("check ../../../../README.md");
    assert!(ran.code == 2 && ran.err.contains("this looks like a text in Markdown"), "{}", ran.err);
    let ran = run("replay unsafe.bp unsafe.bp");
    assert!(ran.code == 2 && ran.err.contains("which is JSON and comes before the program"), "{}", ran.err);
    let ran = run("check --threads -1 unsafe.bp");
    assert!(ran.code == 1 && ran.err.contains("expected a positive number"), "{}", ran.err);
}

#[test]
fn a_c_program_without_assertions_gets_a_hint() {
    let file = scratch("nothing-asserted.c");
    std::fs::write(&file, "int x;\nint main(void) { x++; return 0; }\n").expect("written");
    let ran = run(&format!("check {file}"));
    assert!(ran.code == 0 && ran.out.contains("--property no-data-race,no-overflow,memory"), "{}", ran.out);
}

#[test]
fn braces_and_an_end_for_a_block_are_single_mistakes() {
    for (name, text, mistakes) in [
        ("braces.bp", "decl x;\nvoid main() {\n  x := T;\n}\n", "2 errors"),
        ("end-for-fi.bp", "decl x;\nvoid main() begin\n  if x then\n    x := F;\n  end;\nend\n", "1 error\n"),
    ] {
        let file = scratch(name);
        std::fs::write(&file, text).expect("written");
        let ran = run(&format!("check {file}"));
        assert!(ran.code == 2 && ran.err.contains(&format!("{name}: {mistakes}")), "{}", ran.err);
    }
}

#[test]
fn another_procedure_as_entry() {
    let ran = run("check --engine exhaustive --passes none --entry down recursion.bp");
    assert_eq!(ran.code, 5, "{}", ran.out);
    assert!(ran.out.contains("one initial thread runs down"), "{}", ran.out);
    assert_eq!(run("check --entry nobody recursion.bp").code, 2);
}

#[test]
fn quiet_prints_the_last_line_only() {
    let ran = run("check --engine exhaustive --quiet unsafe.bp");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (10, "VERIFICATION FAILED\n", ""));
    let ran = run("check --quiet warnings.bp");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (0, "VERIFICATION SUCCESSFUL\n", ""));
}

#[test]
fn a_program_from_standard_input() {
    let text = std::fs::read(programs().join("unsafe.bp")).expect("the program is there");
    let ran = run_with_stdin("check --engine exhaustive -", &text);
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"));
    assert!(ran.out.contains("assertion fails: <stdin>:6:5"), "{}", ran.out);
}

#[test]
fn several_files_end_in_a_summary_and_the_worst_exit_code() {
    snapshot!("several", "check --engine exhaustive --passes none safe.bp unsafe.bp missing.bp recursion.bp");
    let ran = run("check --engine exhaustive --passes none --quiet safe.bp unsafe.bp recursion.bp");
    assert_eq!((ran.code, ran.out.as_str()), (10, "VERIFICATION FAILED\n"));
    let ran = run("check --engine exhaustive --passes none --quiet safe.bp recursion.bp");
    let line = "VERIFICATION UNKNOWN (recursion.bp: no error within 24 frames per stack)\n";
    assert_eq!((ran.code, ran.out.as_str()), (5, line));
}

#[test]
fn a_missing_file() {
    snapshot!("missing", "check missing.bp");
}

#[test]
fn a_folder_is_no_program() {
    assert_eq!(run("check .").code, 2);
}

#[test]
fn a_file_that_is_no_text() {
    let ran = run_with_stdin("check -", b"decl x;\n\xff");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("this byte is not UTF-8") && ran.err.contains("<stdin>:2:1"), "{}", ran.err);
}

#[test]
fn ten_mistakes_give_ten_diagnostics() {
    snapshot!("broken", "check broken.bp");
    let errors = run("check broken.bp").err.matches("error[SV").count();
    assert!(errors >= 10, "{errors} errors");
}

#[test]
fn many_warnings_of_a_kind_are_counted() {
    snapshot!("warnings", "check warnings.bp");
    assert_eq!(run("check --all-warnings warnings.bp").err.matches("warning[SV0101]").count(), 12);
}

#[test]
fn colours_only_where_they_are_wanted() {
    assert!(!run("check --engine exhaustive unsafe.bp").out.contains('\u{1b}'));
    assert!(run("check --engine exhaustive --color always unsafe.bp").out.contains('\u{1b}'));
    let output = command("check --color always unsafe.bp").env("NO_COLOR", "1").output().expect("it runs");
    assert!(output.stdout.contains(&0x1b), "an option weighs more than the environment");
}

#[test]
fn the_execution_that_is_shown_does_not_depend_on_the_engine() {
    let programs = ["lock", "bluetooth", "classics/buffer_broken", "classics/peterson_broken"];
    for program in programs {
        let shown = |engine: &str| {
            let ran = run(&format!("check --engine {engine} ../../../../examples/{program}.bp"));
            assert_eq!(ran.code, 10, "{program}, {engine}: {}", ran.err);
            let from = ran.out.find("counterexample:").expect("there is one");
            ran.out[from..].to_string()
        };
        let least = shown("exhaustive");
        for engine in ["threads", "threads-explicit", "threads-plain"] {
            assert_eq!(shown(engine), least, "{program}, {engine}");
        }
    }
}
