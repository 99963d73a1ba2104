//! C programs: checked, with traces in lines of C, and what is refused.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use crate::harness::{run, run_with_stdin, scratch};

/// The folder of programs, from that of the command line's tests.
const PROGRAMS: &str = "../../../../tests/programs/c";

/// The folder of examples, from there.
const EXAMPLES: &str = "../../../../examples/c";

/// Returns the names of the programs in a folder of the project with the exit codes of their verdicts.
fn programs(folder: &str) -> Vec<(String, i32)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let text = fs::read_to_string(&path).expect("it is a text");
        let verdict = text.lines().find_map(|line| line.strip_prefix("// verdict: ")).expect("each has a verdict");
        let code = match verdict {
            "safe" => 0,
            "unsafe" => 10,
            other => panic!("{}: verdict {other}", path.display()),
        };
        found.push((path.file_name().expect("it is a file").to_string_lossy().into_owned(), code));
    }
    found.sort();
    found
}

#[test]
fn programs_have_the_verdicts_of_their_headers() {
    let programs = programs("tests/programs/c");
    assert!(programs.len() >= 25, "{} programs", programs.len());
    for (name, code) in programs {
        let ran = run(&format!("check --time-limit 60s {PROGRAMS}/{name}"));
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn each_example_has_a_bug_that_is_found_and_a_twin_with_a_checked_proof() {
    let examples = programs("examples/c");
    assert_eq!(examples.len(), 10);
    for (name, code) in examples {
        assert_eq!(code == 10, name.ends_with("_broken.c"), "{name}");
        let ran = run(&format!("check --time-limit 60s {EXAMPLES}/{name}"));
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
        assert!(
            code == 10 || ran.out.contains("certificate: ") && ran.out.contains("checked in"),
            "{name}: {}",
            ran.out
        );
    }
}

/// Compiles a harness and runs it; returns whether it was aborted, and what it said. `None` without a compiler.
fn run_harness(harness: &str) -> Option<(bool, String)> {
    let program = harness.trim_end_matches(".c");
    let compiled = Command::new("cc").args(["-w", "-pthread", "-o", program, harness]).output().ok()?;
    assert!(compiled.status.success(), "{harness}: {}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(program).output().expect("it was compiled");
    let aborted = ran.status.signal() == Some(6);
    Some((aborted, String::from_utf8_lossy(&ran.stderr).into_owned()))
}

#[test]
fn a_harness_of_every_unsafe_program_really_fails() {
    for (folder, place) in [("tests/programs/c", PROGRAMS), ("examples/c", EXAMPLES)] {
        for (name, _) in programs(folder).into_iter().filter(|(_, code)| *code == 10) {
            let harness = scratch(&format!("harness-{name}"));
            let ran = run(&format!("check --quiet --time-limit 60s --harness {harness} {place}/{name}"));
            assert_eq!((ran.code, ran.err.as_str()), (10, ""), "{name}");
            let Some((aborted, told)) = run_harness(&harness) else { return };
            let line = told.lines().last().unwrap_or_default();
            assert!(aborted && (line.contains("Assertion") || line.contains("the error is reached")), "{name}: {told}");
        }
    }
}

#[test]
fn a_harness_is_written_for_a_saved_trace_and_not_for_other_languages() {
    let (trace, harness) = (scratch("stack.json"), scratch("replayed-stack.c"));
    assert_eq!(run(&format!("check --quiet --trace-out {trace} {EXAMPLES}/stack_broken.c")).code, 10);
    let ran = run(&format!("replay --quiet --harness {harness} {trace} {EXAMPLES}/stack_broken.c"));
    assert_eq!(ran.code, 10, "{}", ran.err);
    assert!(run_harness(&harness).is_none_or(|(aborted, _)| aborted));
    let other = scratch("other.c");
    let ran = run(&format!("check --quiet --threads 3 --harness {other} ../../../../examples/lock.bp"));
    assert!(ran.code == 10 && ran.err.contains("for programs in C only"), "{}", ran.err);
    let ran = run(&format!("check --quiet --harness {other} {EXAMPLES}/stack.c"));
    assert!(ran.code == 0 && ran.err.contains("there is no execution to an error"), "{}", ran.err);
    assert!(!Path::new(&other).exists());
}

#[test]
fn a_trace_speaks_of_the_source() {
    let shown = |name: &str| run(&format!("check --jobs 1 {EXAMPLES}/{name}_broken.c")).out;
    let once = shown("once");
    assert!(once.contains("lock: free → held by client#"), "{once}");
    assert!(once.contains("mine: NULL → &settings"), "{once}");
    assert!(once.contains("with settings.port = 8080, settings.limit = 0"), "{once}");
    let ticket = shown("ticket_lock");
    assert!(!ticket.contains('$') && !ticket.contains(" thread_") && !ticket.contains("done("), "{ticket}");
    let lost = run(&format!("check --jobs 1 {PROGRAMS}/lost-update.c")).out;
    assert!(lost.contains("reads counter = 0") && lost.contains("counter stays 1"), "{lost}");
    let input = run(&format!("check --jobs 1 {PROGRAMS}/nondet.c")).out;
    assert!(input.contains("__VERIFIER_nondet_uchar() returned 13"), "{input}");
    let words = "enum colour { RED, GREEN } c;\nvoid f(void) {}\nvoid (*g)(void);\nint a[3], *p, n;\n\
        int main(void) {\n  c = GREEN;\n  g = f;\n  p = &a[2];\n  n = -1;\n  p++;\n  __VERIFIER_assert(c == RED);\n}\n";
    let ran = check(words);
    for part in ["c: RED → GREEN", "g: NULL → &f", "p: NULL → &a[2]", "p: &a[2] → &a[3]", "n: 0 → -1", "c = GREEN"]
    {
        assert!(ran.out.contains(part), "{part}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_trace_shows_lines_of_c_and_is_replayed() {
    let trace = scratch("lost-update.json");
    let ran = run(&format!("check {PROGRAMS}/lost-update.c --trace-out {trace}"));
    assert_eq!((ran.code, ran.last_line()), (10, "VERIFICATION FAILED"), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("counter++;") && ran.out.contains("counter: 0 → 1"), "{}", ran.out);
    assert!(ran.out.contains("lost-update.c:19:3") && ran.out.contains("with counter = 1"), "{}", ran.out);
    assert_eq!(run(&format!("replay {trace} {PROGRAMS}/lost-update.c")).code, 10);
}

/// Checks a text of C from standard input.
fn check(text: &str) -> crate::harness::Ran {
    run_with_stdin("check --time-limit 20s --input-format c -", text.as_bytes())
}

#[test]
fn what_is_not_supported_is_refused_at_its_place() {
    let cases = [
        ("int main(void) {\n  double x = 1.5;\n}", "2:", "a value of type `double` is not supported"),
        ("int main(void) {\n  __asm__(\"nop\");\n}", "2:", "inline assembly is not supported"),
        ("void f(void);\nint main(void) {\n  f();\n}", "3:", "the function `f`, which has no body, is not supported"),
        ("int main(int argc, char **argv) {\n  return argc;\n}", "2:", "the use of the arguments of the program"),
        ("struct { int b : 3; } s;\nint main(void) {\n  s.b = 1;\n}", "3:", "a bit-field is not supported"),
        ("extern int x;\nint main(void) {\n  return x;\n}", "3:", "`x`, which is defined elsewhere, is not supported"),
        ("int x;\nint main(void) {\n  char *p = (char *)&x;\n}", "3:", "a conversion to `char *` is not supported"),
        ("#include <stdlib.h>\nint main(void) {\n  int *p = malloc(4);\n}", "3:", "the function `malloc`"),
        ("struct s { int a, b; } x, y;\nint main(void) {\n  x = y;\n}", "3:", "the assignment of a struct or union"),
        ("int f(int n, ...) { return n; }\nint main(void) {\n  f(1);\n}", "1:", "the variadic function `f`"),
        ("int f(int *p) {\n  int x;\n  return f(&x);\n}\nint main(void) { f(0); }", "3:", "the address of `x`"),
        (
            "#include <pthread.h>\nvoid *f(void *a) { return a; }\nint main(void) {\n  pthread_t t;\n  while (1) {\n\
             pthread_create(&t, 0, f, 0);\n    pthread_join(t, 0);\n  }\n}",
            "6:",
            "waiting for threads of which any number may be created here is not supported",
        ),
    ];
    for (text, place, message) in cases {
        let ran = check(text);
        assert_eq!(ran.code, 5, "{text}: {}{}", ran.out, ran.err);
        assert!(ran.err.contains("SV0304") && ran.err.contains(message), "{text}: {}", ran.err);
        assert!(ran.err.contains(&format!("<stdin>:{place}")), "{text}: {}", ran.err);
    }
    assert_eq!(check("int main(void) { return x; }").code, 2);
}

#[test]
fn functions_that_never_run_are_not_looked_at() {
    let ran = check("double half(double x) { return x / 2; }\nint main(void) { return 0; }\n");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn types_have_the_sizes_of_the_data_model() {
    let text = b"#include <assert.h>\nint main(void) { assert(sizeof(long) == 4); }\n";
    for (model, code) in [("lp64", 10), ("ilp32", 0)] {
        let ran = run_with_stdin(&format!("check --data-model {model} --input-format c -"), text);
        assert_eq!(ran.code, code, "{model}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn the_usual_commands_take_them() {
    let ran = run(&format!("show ir {PROGRAMS}/lost-update.c"));
    assert!(ran.code == 0 && ran.out.contains("shared counter"), "{}", ran.out);
    let ran = run(&format!("simulate --seed 3 --steps 20 {PROGRAMS}/lost-update.c"));
    assert!(ran.out.contains("counter++;"), "{}{}", ran.out, ran.err);
    assert_eq!(run(&format!("check --deadlock {PROGRAMS}/lost-update.c")).code, 1);
}
