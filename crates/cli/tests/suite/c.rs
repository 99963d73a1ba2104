//! C programs: checked, with traces in lines of C, and what is refused.

use std::fs;
use std::path::Path;

use crate::harness::{run, run_with_stdin, scratch};

/// The folder of programs, from that of the command line's tests.
const PROGRAMS: &str = "../../../../tests/programs/c";

/// Returns the names of the programs with the exit codes of their verdicts.
fn programs() -> Vec<(String, i32)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/programs/c");
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
    let programs = programs();
    assert!(programs.len() >= 50, "{} programs", programs.len());
    for (name, code) in programs {
        let ran = run(&format!("check --time-limit 60s {PROGRAMS}/{name}"));
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
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
        ("extern int x;\nint main(void) {\n  return x;\n}", "3:", "`x`, which is defined elsewhere, is not supported"),
        (
            "#include <stdlib.h>\nint main(void) {\n  int *p = malloc(rand());\n}",
            "3:",
            "an allocation without a constant",
        ),
        ("#include <stdlib.h>\nint main(void) {\n  int *p = realloc(0, 4);\n}", "3:", "the function `realloc`"),
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
        assert_eq!(ran.err.contains("it is taken to change nothing"), code != 5, "{option}: {}", ran.err);
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
    assert_eq!(run(&format!("check --deadlock {PROGRAMS}/lost-update.c")).code, 1);
}
