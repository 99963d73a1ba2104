//! Numbers, arrays and locks as users see them.

use crate::harness::{run, scratch};

/// Writes a program and checks it.
fn check(name: &str, options: &str, text: &str) -> crate::harness::Ran {
    let path = scratch(&format!("numbers-{name}.bp"));
    std::fs::write(&path, text).expect("a scratch file can be written");
    run(&format!("check {options} {path}"))
}

#[test]
fn a_value_that_leaves_its_range_is_an_error_at_its_place() {
    let ran = check("range", "", "decl n : 0..3 := 2;\nvoid main() begin\n  n := n + 1;\n  n := n + 1;\nend\n");
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("n: 2 → 3"), "{}", ran.out);
    assert!(ran.out.contains("the value leaves the range 0..3 of `n`: "), "{}", ran.out);
    assert!(ran.out.contains("numbers-range.bp:4:3"), "{}", ran.out);
}

#[test]
fn an_index_that_leaves_its_array_is_an_error_at_its_place() {
    let text = "decl a[2] := 0;\nvoid main() begin\n  decl i : 0..2 := 2;\n  if a[i] then skip; fi\nend\n";
    let ran = check("index", "", text);
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the index leaves the array `a` of 2 elements: "), "{}", ran.out);
}

#[test]
fn the_release_of_a_free_lock_is_an_error() {
    let ran = check("unlock", "", "decl m := 0;\nvoid main() begin\n  lock(m);\n  unlock(m);\n  unlock(m);\nend\n");
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("`m` is not locked: "), "{}", ran.out);
}

#[test]
fn what_cannot_fail_holds() {
    let text = "decl n : 0..3 := 0, a[2] := 0;\nvoid main() begin\n  n := n + 1;\n  a[n] := 1;\n  assert(a[1]);\nend\n";
    let ran = check("holds", "--all", text);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(!ran.out.contains("unreachable"), "{}", ran.out);
}

#[test]
fn each_classic_has_a_bug_and_a_repair() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/classics");
    let mut n_programs = 0;
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("it can be read").path();
        let text = std::fs::read_to_string(&path).expect("it is a text");
        assert!(text.lines().count() < 30, "{}", path.display());
        let is_broken = path.file_stem().is_some_and(|name| name.to_string_lossy().ends_with("_broken"));
        let ran = run(&format!("check --time-limit 60s {}", path.display()));
        assert_eq!(ran.code, if is_broken { 10 } else { 0 }, "{}: {}{}", path.display(), ran.out, ran.err);
        assert!(is_broken || ran.out.contains("certificate: "), "{}: {}", path.display(), ran.out);
        n_programs += 1;
    }
    assert_eq!(n_programs, 10);
}

/// Checks that a text has an error, and help.
#[track_caller]
fn helped(text: &str, error: &str, help: &str) {
    let path = scratch(&format!("beginner-{}.bp", text.len()));
    std::fs::write(&path, text).expect("a scratch file can be written");
    let ran = run(&format!("check {path}"));
    assert_eq!(ran.code, 2, "{}{}", ran.out, ran.err);
    assert!(ran.err.contains(error) && ran.err.contains(help), "{}", ran.err);
    assert!(ran.err.contains("`selvedge explain SV"), "{}", ran.err);
}

#[test]
fn beginners_are_told_what_to_write() {
    let body = |statement: &str| format!("decl x := 0, y := 0;\nvoid main() begin\n  {statement}\nend\n");
    helped(&body("x = 1;"), "a value is assigned with `:=`", "expected `:=`");
    helped("decl x = 0;\nvoid main() begin\n  x := 1;\nend\n", "a value is assigned with `:=`", "expected `:=`");
    helped(&body("x := true;"), "there is no variable `true`", "the constant is written `T`, or `1`");
    helped(&body("assert(x and y);"), "`and` is not an operator", "write `&`");
    helped(&body("assert(not x);"), "`not` is not an operator", "write `!`");
    helped("void main()\n{\n  skip;\n}\n", "`{` is not part of the language", "blocks are written `begin .. end`");
    helped(&body("if x then y := 1; end"), "this `if` has no `fi`", "this block is closed by `fi`");
    helped(&body("x := main;"), "there is no variable `main`", "`main` is a procedure");
    helped(&body("x := 2;"), "`2` is not a truth value", "`decl n : 0..3`");
    helped("#include <assert.h>\nint main(void) { return 0; }\n", "this looks like C", "--input-format c");
}

#[test]
fn at_most_twenty_errors_are_shown() {
    let lines: String = (0..30).map(|number| format!("  z{number} := 1;\n")).collect();
    let path = scratch("many-errors.bp");
    std::fs::write(&path, format!("void main() begin\n{lines}end\n")).expect("a scratch file can be written");
    let ran = run(&format!("check {path}"));
    assert_eq!(ran.err.matches("error[SV0012]").count(), 20, "{}", ran.err);
    assert!(ran.err.contains("10 more errors not shown") && ran.err.contains("30 errors"), "{}", ran.err);
}

#[test]
fn a_condition_that_stops_all_threads_draws_a_warning() {
    let text = "decl l := 0;\nvoid main() begin\n  atomic_begin;\n  assume(!l);\n  l := 1;\n  \
                atomic_end;\n  assert(l);\nend\n";
    let ran = check("trap", "", text);
    assert!(ran.err.contains("warning[SV0107]") && ran.err.contains("lock(x)"), "{}", ran.err);
    let text = "decl l := 0;\nvoid main() begin\n  lock(l);\n  assert(l);\nend\n";
    assert_eq!(check("no-trap", "", text).err, "");
}

#[test]
fn a_file_in_the_place_of_a_command_is_to_be_checked() {
    let ran = run("safe.bp");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.contains("help: to check a file: selvedge check safe.bp"), "{}", ran.err);
}

#[test]
fn options_that_tune_engines_are_in_the_complete_help() {
    let (short, complete) = (run("check --help").out, run("check --help-all").out);
    for heading in ["Question:", "Limits:", "Output:", "Engines:"] {
        assert!(short.contains(heading) && complete.contains(heading), "{heading}: {short}");
    }
    assert!(!short.contains("--partial-order") && complete.contains("--partial-order"), "{complete}");
    assert!(complete.contains("Engine tuning:"), "{complete}");
}
