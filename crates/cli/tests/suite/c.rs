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

/// Returns the names of the programs in a folder of the project, their options and the exit codes of their verdicts.
fn programs(folder: &str) -> Vec<(String, String, i32)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            continue;
        }
        let text = fs::read_to_string(&path).expect("it is a text");
        let verdict = text.lines().find_map(|line| line.strip_prefix("// verdict: ")).expect("each has a verdict");
        let code = match verdict {
            "safe" => 0,
            "unsafe" => 10,
            other => panic!("{}: verdict {other}", path.display()),
        };
        let options = text.lines().find_map(|line| line.strip_prefix("// options: ")).unwrap_or_default();
        let word =
            |word: &str| if folder.join(word).exists() { format!("{PROGRAMS}/{word}") } else { word.to_string() };
        let options: Vec<String> = options.split_whitespace().map(word).collect();
        found.push((path.file_name().expect("it is a file").to_string_lossy().into_owned(), options.join(" "), code));
    }
    found.sort();
    found
}

#[test]
fn programs_have_the_verdicts_of_their_headers() {
    let programs = programs("tests/programs/c");
    assert!(programs.len() >= 50, "{} programs", programs.len());
    for (name, _, code) in programs {
        let ran = run(&format!("check --time-limit 60s {PROGRAMS}/{name}"));
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
        let is_proved = ran.out.contains("certificate: ") && ran.out.contains("checked in");
        assert!(!name.starts_with("unbounded-") || is_proved, "{name}: {}", ran.out);
    }
}

#[test]
fn each_example_has_a_bug_that_is_found_and_a_twin_with_a_checked_proof() {
    let examples = programs("examples/c");
    assert_eq!(examples.len(), 10);
    for (name, _, code) in examples {
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
        // A harness makes assertions fail; what else may be asked about does not show in a run. Nor do values of
        // memory that was never set, and a program with headers of its own needs the options of the user.
        let is_failure = |(name, options, code): &(String, String, i32)| {
            let is_assertion = *code == 10 && !options.contains("--property") && !options.contains("-I");
            is_assertion && name != "fresh-memory.c"
        };
        for (name, options, _) in programs(folder).into_iter().filter(is_failure) {
            let harness = scratch(&format!("harness-{name}"));
            let ran = run(&format!("check --quiet --time-limit 60s {options} --harness {harness} {place}/{name}"));
            let refusals = ["an annotation does not hold", "C11 threads", "the source has no place for it"];
            if ran.code == 10 && refusals.iter().any(|refusal| ran.err.contains(refusal)) {
                continue;
            }
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
    assert!(ran.code == 10 && ran.err.contains("can only be written for C programs"), "{}", ran.err);
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
        (
            "#include <pthread.h>\nvoid *run(void *);\nint main(void) {\n  pthread_t t;\n\
             \x20 pthread_create(&t, 0, run, 0);\n  pthread_join(t, 0);\n}",
            "5:",
            "a thread whose function has no body is not supported",
        ),
        ("extern int x;\nint main(void) {\n  return x;\n}", "3:", "`x`, which is defined elsewhere, is not supported"),
        (
            "#include <stdlib.h>\nstruct pair { int x, y; } *p;\n\
             int main(void) {\n  p = malloc(-sizeof *p);\n  p->x = 0;\n}",
            "4:",
            "an allocation whose size is not a constant number of objects is not supported",
        ),
        (
            "#include <stdlib.h>\nstruct pair { int x, y; } *p;\n\
             int main(void) {\n  p = malloc(sizeof *p << 40);\n  p->x = 0;\n}",
            "4:",
            "an object with more than 4096 parts is not supported",
        ),
        (
            "#include <stdlib.h>\nint main(void) {\n  int *p = malloc(rand());\n}",
            "3:",
            "an allocation whose size is not a constant",
        ),
        (
            "#include <stdlib.h>\nint main(void) {\n  int *p = realloc(0, 4);\n}",
            "3:",
            "`realloc`, after which an object has another size",
        ),
        ("#include <string.h>\nint a[2], n;\nint main(void) {\n  memset(a, 0, n);\n}", "4:", "with a computed size"),
        ("int f(int n, ...) { return n; }\nint main(void) {\n  f(1);\n}", "1:", "the variadic function `f`"),
        ("int f(int *p) {\n  int x;\n  return f(&x);\n}\nint main(void) { f(0); }", "3:", "the address of `x`"),
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
fn exceeding_a_limit_is_not_safe() {
    let text = "#include <assert.h>\n#include <stdlib.h>\nint main(void) {\n  int *p, last = 0;\n\
                for (int i = 0; i < 3; i++) {\n    p = malloc(sizeof *p);\n    *p = last = i;\n  }\n  assert(LAST);\n}";
    let (safe, wrong) = (text.replace("LAST", "last < 3"), text.replace("LAST", "last != 1"));
    let ask = |options: &str, text: &str| {
        run_with_stdin(&format!("check --time-limit 20s --input-format c {options} -"), text.as_bytes())
    };
    let ran = ask("", &safe);
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    let reason = "VERIFICATION UNKNOWN (line 6: more than 2 objects are allocated here (--malloc-bound))";
    assert_eq!(ran.last_line(), reason, "{}", ran.out);
    assert_eq!(ask("--malloc-bound 3", &safe).code, 0);
    // An error within the limit is one, and also beyond the first limit that is found.
    assert_eq!(ask("--malloc-bound 3", &wrong.replace("!= 1", "!= 2")).code, 10);
    assert_eq!(ask("--malloc-bound 2", &wrong.replace("i < 3; i++) {", "i < 3; i++) {\n assert(i != 1);")).code, 10);
    let ran = ask("--label ERROR", &safe);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
}

#[test]
fn pointers_to_objects_of_another_type_are_not_followed() {
    let text = "int x;\nint main(void) {\n  char *p = (char *)&x;\n  *p = 1;\n  __VERIFIER_assert(x == 0);\n}";
    let ran = check(text);
    assert_eq!(ran.code, 5, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("line 4: a pointer leads to an object of another type"), "{}", ran.out);
    let ran = check(&text.replace("*p = 1", "int *q = (int *)p; *q = 1"));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
}

#[test]
fn unknown_functions_do_what_the_user_says() {
    let text = b"int f(int);\nint main(void) {\n  __VERIFIER_assert(f(1) == 0);\n}";
    for (option, code) in [("", 5), ("--extern skip", 0), ("--extern havoc", 10)] {
        let ran = run_with_stdin(&format!("check --input-format c {option} -"), text);
        assert_eq!(ran.code, code, "{option}: {}{}", ran.out, ran.err);
        assert_eq!(ran.err.contains("it is assumed to change nothing"), code != 5, "{option}: {}", ran.err);
    }
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
    assert_eq!(run(&format!("check --deadlock {PROGRAMS}/lost-update.c")).code, 0);
}

#[test]
fn errors_of_properties_say_what_is_wrong() {
    let cases = [
        ("race.c", "no-data-race", "data race on `shared`, "),
        ("overflow.c", "no-overflow", "`+` of signed integers of 32 bits overflows"),
        ("division.c", "no-overflow", "`/` of signed integers of 32 bits overflows"),
        ("overflow-shift.c", "no-overflow", "a shift of unsigned integers of 32 bits goes too far"),
        ("out-of-bounds.c", "memory", "an index is outside of `a`"),
        ("null.c", "memory", "a null pointer is followed"),
        ("stray.c", "memory", "the pointer is moved out of its object"),
        ("dangling.c", "memory", "the pointer leads to an object that has ended with its block or function"),
        ("block-again.c", "memory", "the pointer leads to an object that has ended with its block or function"),
        ("freed-local.c", "memory", "the freed object was not allocated, or was freed before"),
        ("freed-race.c", "no-data-race", "data race on "),
        ("unlock.c", "misuse", "unlock of a mutex that this thread does not hold"),
        ("join-twice.c", "misuse", "a thread is joined a second time"),
        ("deadlock.c", "deadlock", "no thread can move"),
    ];
    for (name, property, message) in cases {
        let ran = run(&format!("check --property {property} {PROGRAMS}/{name}"));
        assert!(ran.code == 10 && ran.out.contains(message), "{name}: {}{}", ran.out, ran.err);
        let scope = format!("checked:     {property}");
        assert!(ran.out.contains(&scope), "{name}: {}", ran.out);
    }
}

#[test]
fn a_race_is_told_with_both_accesses() {
    let ran = run(&format!("check --property no-data-race {PROGRAMS}/race.c"));
    assert!(ran.out.contains("(is about to "), "{}", ran.out);
    assert!(ran.out.contains("on line 11") || ran.out.contains("on line 20"), "{}", ran.out);
}

#[test]
fn evidence_belongs_to_its_properties() {
    let certificate = scratch("no-race.json");
    let check = format!("check --property no-data-race {PROGRAMS}/no-race.c --certificate {certificate}");
    assert_eq!(run(&check).code, 0);
    let verify = |options: &str| run(&format!("verify {options} {certificate} {PROGRAMS}/no-race.c"));
    assert_eq!(verify("--property no-data-race").code, 0);
    let other = verify("--property memory");
    assert!(other.code == 2 && other.err.contains("add --property no-data-race"), "{}{}", other.out, other.err);
    assert_eq!(verify("").code, 0, "the program says which property is meant");
    assert_eq!(verify("--no-file-options").code, 2);
    let trace = scratch("header.json");
    let options = format!("-I {PROGRAMS}/include -D LIMIT=3 -DSTEP");
    assert_eq!(run(&format!("check {options} {PROGRAMS}/user-header.c --trace-out {trace}")).code, 10);
    assert_eq!(run(&format!("replay {options} {trace} {PROGRAMS}/user-header.c")).code, 10);
    let ran = run(&format!("replay -I {PROGRAMS}/include -D LIMIT=9 -DSTEP {trace} {PROGRAMS}/user-header.c"));
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
}

#[test]
fn options_of_c_are_refused_elsewhere() {
    for option in ["--property memory", "-I .", "-D N=1", "--data-model lp64", "--cc cc"] {
        let ran = run(&format!("check {option} safe.bp"));
        let name = option.split(' ').next().expect("it has a name");
        assert!(ran.code == 1 && ran.err.contains(&format!("{name} is for C programs")), "{option}: {}", ran.err);
    }
    let ran = run(&format!("check --property deadlock,memory {PROGRAMS}/null.c"));
    assert!(ran.code == 1 && ran.err.contains("deadlocks are a separate question"), "{}", ran.err);
    let ran = run(&format!("check --property races {PROGRAMS}/null.c"));
    assert!(ran.err.contains("there is no property `races`"), "{}", ran.err);
}

#[test]
fn what_cannot_be_read_is_told() {
    let ran = check("#include \"missing.h\"\nint main(void) { return 0; }\n");
    assert!(ran.code == 2 && ran.err.contains("the header `missing.h` is not found"), "{}", ran.err);
    let ran = check("This is not C.\n");
    assert_eq!(ran.code, 2, "{}", ran.err);
    let ran = run(&format!("check --cc /nowhere/cc {PROGRAMS}/null.c"));
    assert!(ran.code == 2 && ran.err.contains("cannot run /nowhere/cc"), "{}", ran.err);
    let ran = run(&format!("check --cc false {PROGRAMS}/null.c"));
    assert!(ran.code == 2 && ran.err.contains("false -E failed"), "{}", ran.err);
}

#[test]
fn remarks_are_made_once() {
    let text = "#include <stdatomic.h>\natomic_int x;\nint a[2], i;\n//@ requires 1;\nint main(void) {\n\
                atomic_store_explicit(&x, 1, memory_order_relaxed);\n  a[i] = atomic_load_explicit(&x, 0);\n\
                return a[i];\n}\n";
    let ran = check(text);
    for code in ["SV0202", "SV0407", "SV0408"] {
        assert_eq!(ran.err.matches(code).count(), 1, "{code}: {}", ran.err);
    }
}
