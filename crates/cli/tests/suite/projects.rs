//! `selvedge test` and `selvedge init`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{run, scratch};

/// Returns an empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(scratch(name));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

const SAFE: &str = "// verdict: safe\nvoid main() begin decl x; x := 1; assert(x); end\n";
const UNSAFE: &str = "// verdict: unsafe\nvoid main() begin decl x; x := 0; assert(x); end\n";
const WRONG: &str = "// a remark\n// verdict: safe\nvoid main() begin decl x; x := *; assert(x); end\n";
const ERRONEOUS: &str = "// verdict: safe\nvoid main() begin\n  y := 1;\nend\n";

/// Reads a report with the reader of Python's library, which accepts only well-formed XML, and prints what it counts.
const READER: &str = "
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
try:
    import junitparser
    report = junitparser.JUnitXml.fromfile(sys.argv[1])
    counted = tuple(int(root.get(name)) for name in ('tests', 'failures', 'errors'))
    assert (report.tests, report.failures, report.errors) == counted
    assert len([case for suite in report for case in suite]) == report.tests
except ImportError:
    pass
cases = root.findall('testsuite/testcase')
assert len(cases) == int(root.get('tests'))
for case in cases:
    inside = [(child.tag, child.get('message')) for child in case]
    print(case.get('name'), case.get('line'), inside)
";

fn read_junit(path: &str) -> String {
    let output = Command::new("python3").args(["-c", READER, path]).output().expect("python3 is there");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_folder_is_checked_against_its_headers() {
    let folder = folder("test-folder");
    fs::create_dir(folder.join("sub")).expect("it can be made");
    for (name, text) in [("a.bp", SAFE), ("sub/b.bp", UNSAFE), ("c.bp", "void main() begin skip; end")] {
        fs::write(folder.join(name), text).expect("it can be written");
    }
    let dir = folder.display();
    let ran = run(&format!("test {dir}"));
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.last_line().starts_with("2 programs: 2 ok, 0 wrong, 0 undecided; 1 program without"), "{}", ran.out);
    fs::write(folder.join("wrong & <odd>.bp"), WRONG).expect("it can be written");
    let junit = folder.join("results.xml");
    let ran = run(&format!("test {dir} --quiet --junit {}", junit.display()));
    assert_eq!(ran.code, 10, "{}", ran.out);
    assert!(ran.out.contains("odd>.bp:2: expected safe, but it is unsafe ("), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
    let read = read_junit(&junit.display().to_string());
    assert_eq!(read, "a.bp 1 []\nb.bp 1 []\nwrong & <odd>.bp 2 [('failure', 'expected safe, but it is unsafe')]\n");
    fs::write(folder.join("e.bp"), ERRONEOUS).expect("it can be written");
    let ran = run(&format!("test {dir}/e.bp --junit {}", junit.display()));
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.out.contains("1 error in the input: line 3: "), "{}", ran.out);
    assert!(read_junit(&junit.display().to_string()).contains("('error', "));
}

#[test]
fn what_is_no_test_is_said() {
    let folder = folder("test-none");
    let dir = folder.display();
    assert_eq!(run(&format!("test {dir}/none")).code, 2);
    let ran = run(&format!("test {dir}"));
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    fs::write(folder.join("a.bp"), "// verdict: maybe\nvoid main() begin skip; end").expect("it can be written");
    let ran = run(&format!("test {dir}"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("a.bp:1: `maybe` is not a verdict: write `safe` or `unsafe`"), "{}", ran.err);
}

#[test]
fn a_verdict_that_is_not_found_within_the_limits_is_undecided() {
    let folder = folder("test-limits");
    let names: Vec<String> = (0..40).map(|number| format!("v{number}")).collect();
    let steps: String =
        names.iter().map(|name| format!("if * then {name} := !{name}; fi; start_thread w(); ")).collect();
    let text = format!(
        "// verdict: safe\ndecl {};\nvoid w() begin {steps} end\nvoid main() begin while 1 do {steps} od; end",
        names.join(", ")
    );
    fs::write(folder.join("large.bp"), text + "\n// assert(1);").expect("it can be written");
    fs::write(folder.join("safe.bp"), SAFE).expect("it can be written");
    let ran = run(&format!("test --time-limit 1ms {}", folder.display()));
    assert_eq!(ran.code, 11, "{}", ran.out);
    assert!(ran.out.contains("undecided") && ran.out.contains("time limit"), "{}", ran.out);
}

#[test]
fn a_new_project_passes_its_tests_and_is_not_overwritten() {
    let folder = folder("init").join("project");
    let dir = folder.display();
    let ran = run(&format!("init {dir}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    let ran = run(&format!("test {dir}"));
    assert_eq!(ran.code, 0, "{}", ran.out);
    assert!(ran.last_line().starts_with("4 programs: 4 ok"), "{}", ran.out);
    let formatted = run(&format!("fmt --check {dir}/programs/lock.bp {dir}/programs/lock_broken.bp"));
    assert_eq!(formatted.code, 0, "{}{}", formatted.out, formatted.err);
    fs::remove_file(folder.join("README.md")).expect("it is there");
    let ran = run(&format!("init {dir}"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("already has programs/lock.bp"), "{}", ran.err);
    assert!(!folder.join("README.md").exists());
}
