//! Witnesses and tasks of verification competitions.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Ran, run, scratch};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn task(name: &str) -> String {
    root().join("contrib/benchexec/tasks").join(name).display().to_string()
}

/// Writes the witness of a task. Returns its path and text.
fn witness_of(name: &str) -> (String, String) {
    let path = scratch(&format!("{name}.yml"));
    let ran = run(&format!("check --quiet --witness {path} {}", task(&format!("{name}.c"))));
    assert!(ran.code == 10 || ran.code == 0, "{}{}", ran.out, ran.err);
    let text = std::fs::read_to_string(&path).expect("the witness was written");
    (path, text)
}

/// Validates a changed witness.
fn validate(text: &str, name: &str) -> Ran {
    let path = scratch(&format!("changed-{name}.yml"));
    std::fs::write(&path, text).expect("the folder is there");
    run(&format!("validate {path} {}", task(&format!("{name}.c"))))
}

#[test]
fn witnesses_that_we_write_are_valid() {
    for (name, version, code) in [
        ("counter_lost", "'2.2'", 10),
        ("flag_early", "'2.2'", 10),
        ("average", "'2.0'", 10),
        ("steps_of_three", "'2.0'", 10),
        ("maximum", "'2.0'", 0),
        ("store_buffer", "'2.0'", 0),
    ] {
        let (path, text) = witness_of(name);
        assert!(text.contains(&format!("format_version: {version}")), "{text}");
        let ran = run(&format!("validate {path} {}", task(&format!("{name}.c"))));
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn a_wrong_violation_witness_does_not_validate() {
    let (_, text) = witness_of("steps_of_three");
    // The loop is left after four rounds and not at once.
    let first = text.find("value: 'true'").expect("the loop is entered");
    let left = [&text[..first], "value: 'false'", &text[first + "value: 'true'".len()..]].concat();
    let ran = validate(&left, "steps_of_three");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("no execution passes these places"), "{}", ran.err);
    // The input is another one.
    let (_, text) = witness_of("average");
    let at = text.find("\\result == ").expect("there is an input") + "\\result == ".len();
    let end = at + text[at..].find('\n').expect("the line ends");
    let other = [&text[..at], "0", &text[end..]].concat();
    assert_eq!(validate(&other, "average").code, 2);
    // The error is elsewhere.
    let target = text.find("type: target").expect("it has a target");
    let line = target + text[target..].find("line: ").expect("it has a line");
    let end = line + text[line..].find('\n').expect("the line ends");
    let elsewhere = [&text[..line], "line: 2", &text[end..]].concat();
    let ran = validate(&elsewhere, "average");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("no step of the program is at line 2"), "{}", ran.err);
}

/// Two threads write an object, one of them behind a lock.
const RACE: &str = "#include <pthread.h>
int shared, other;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *locked(void *argument) {
  pthread_mutex_lock(&lock);
  shared = 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
void *plain(void *argument) {
  other = 1;
  shared = 2;
  return 0;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, locked, 0);
  pthread_create(&two, 0, plain, 0);
  return 0;
}
";

/// Validates a witness of a data race in [`RACE`].
fn validate_race(text: &str, name: &str) -> Ran {
    let (program, witness) = (scratch(&format!("{name}.c")), scratch(&format!("{name}.yml")));
    std::fs::write(&program, RACE).expect("the folder is there");
    std::fs::write(&witness, text).expect("the folder is there");
    run(&format!("validate --property no-data-race {witness} {program}"))
}

#[test]
fn a_data_race_has_two_targets_in_its_last_segment() {
    let (program, witness) = (scratch("race.c"), scratch("race.yml"));
    std::fs::write(&program, RACE).expect("the folder is there");
    let ran = run(&format!("check --quiet --property no-data-race --witness {witness} {program}"));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    let text = std::fs::read_to_string(&witness).expect("the witness was written");
    assert!(text.contains("format_version: '2.2'") && text.contains("LTL(G ! data-race)"), "{text}");
    let last = &text[text.rfind("- segment:").expect("it has segments")..];
    assert_eq!(last.matches("type: target").count(), 2, "{text}");
    assert_eq!(text.matches("type: target").count(), 2, "{text}");
    let ran = run(&format!("validate --property no-data-race {witness} {program}"));
    assert_eq!(ran.code, 10, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("the witness is valid"), "{}", ran.out);
    // Without the property, the program has no such errors.
    let ran = run(&format!("validate {witness} {program}"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("ask with --property no-data-race"), "{}", ran.err);
}

/// Writes a witness of a data race whose accesses are at two lines, by two threads.
fn race_at(targets: [(usize, u32); 2]) -> String {
    let waypoint = |kind: &str, (line, thread): (usize, u32)| {
        format!(
            "    - waypoint:\n        type: {kind}\n        action: follow\n        thread_id: {thread}\n        \
             location: {{ file_name: race.c, line: {line} }}\n"
        )
    };
    let creations: String =
        [17, 18].map(|line| format!("  - segment:\n{}", waypoint("function_enter", (line, 0)))).concat();
    let targets = targets.map(|target| waypoint("target", target)).concat();
    format!(
        "- entry_type: violation_sequence\n  metadata: {{ format_version: '2.2' }}\n  content:\n{creations}  \
         - segment:\n{targets}"
    )
}

#[test]
fn a_wrong_witness_of_a_data_race_does_not_validate() {
    for (name, targets, code) in [
        ("right", [(6, 1), (12, 2)], 10),
        ("right-in-another-order", [(12, 2), (6, 1)], 10),
        ("one-thread-twice", [(6, 1), (6, 1)], 2),
        ("threads-exchanged", [(6, 2), (12, 1)], 2),
        ("other-object", [(6, 1), (11, 2)], 2),
        ("no-access", [(6, 1), (2, 2)], 2),
        ("third-thread", [(6, 1), (12, 3)], 2),
    ] {
        let ran = validate_race(&race_at(targets), name);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
    }
    let text = race_at([(6, 1), (12, 2)]);
    let first = text.find("    - waypoint:\n        type: target").expect("it has a target");
    let second = first + text[first + 1..].find("    - waypoint:").expect("it has two") + 1;
    let ran = validate_race(&text[..second], "one-target");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("two waypoints `target`"), "{}", ran.err);
}

#[test]
fn threads_have_the_numbers_of_their_creations() {
    let (_, text) = witness_of("counter_lost");
    let other = text.replace("thread_id: 2", "thread_id: 7");
    assert_ne!(text, other, "{text}");
    let ran = validate(&other, "counter_lost");
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("no waypoint for the creation of thread 7"), "{}", ran.err);
}

/// The schemas of the format are other people's: a folder with files such as `violation-witness-2.2-schema.yml` is
/// named by an environment variable.
#[test]
#[expect(clippy::print_stderr, reason = "a test that has nothing to try says so")]
fn witnesses_have_the_published_form() {
    let Some(schemas) = std::env::var_os("SELVEDGE_WITNESS_SCHEMAS") else {
        eprintln!("SELVEDGE_WITNESS_SCHEMAS does not name a folder with the schemas of witnesses: nothing is tried");
        return;
    };
    let program = "import glob, json, sys, jsonschema, yaml\n\
        folder, witness = sys.argv[1:]\n\
        value = json.loads(json.dumps(yaml.safe_load(open(witness))))\n\
        kind = 'violation' if value[0]['entry_type'] == 'violation_sequence' else 'correctness'\n\
        version = value[0]['metadata']['format_version']\n\
        [schema] = glob.glob(f'{folder}/{kind}-witness-{version}-schema.*')\n\
        jsonschema.validate(value, yaml.safe_load(open(schema)))\n";
    for name in ["counter_lost", "flag_early", "average", "steps_of_three", "maximum", "store_buffer"] {
        let (path, text) = witness_of(name);
        let mut python = Command::new("python3");
        let ran = python.args(["-c", program]).arg(&schemas).arg(path).output().expect("Python is there");
        assert!(ran.status.success(), "{}\n{text}", String::from_utf8_lossy(&ran.stderr));
    }
}

#[test]
fn a_witness_is_about_one_program() {
    let (_, text) = witness_of("counter_lost");
    let ran = validate(&text, "counter_locked");
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("about another text"), "{}", ran.err);
}

#[test]
fn invariants_are_checked() {
    let witness = |value: &str, kind: &str| {
        format!(
            "- entry_type: invariant_set\n  metadata: {{ format_version: '2.0' }}\n  content:\n  - invariant:\n      \
             type: {kind}\n      location: {{ file_name: a.c, line: 5, column: 3 }}\n      \
             value: {value}\n      format: c_expression\n"
        )
    };
    for (value, kind, code) in [
        ("i <= 10 && i % 2 == 0", "loop_invariant", 0),
        ("i < 10", "loop_invariant", 2),
        ("i == 0", "location_invariant", 0),
        ("i == 1", "location_invariant", 2),
        ("unknown_name == 1", "location_invariant", 2),
    ] {
        let ran = validate(&witness(value, kind), "steps_of_two");
        assert_eq!(ran.code, code, "{value}: {}{}", ran.out, ran.err);
    }
}

#[test]
fn task_files_are_checked_with_their_options() {
    for (name, code) in [("counter_locked.yml", 0), ("counter_lost.yml", 10), ("average.yml", 10)] {
        let ran = run(&format!("check --quiet {}", task(name)));
        assert_eq!(ran.code, code, "{name}: {}{}", ran.out, ran.err);
    }
    let path = scratch("not-a-task.yml");
    std::fs::write(&path, "format_version: [1]\n").expect("the folder is there");
    let ran = run(&format!("check {path}"));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not a task file"), "{}", ran.err);
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that has nothing to try says so")]
fn benchexec_runs_the_tasks() {
    let tools = root().join(".tools/benchexec");
    if !tools.is_dir() {
        eprintln!("BenchExec is not there (./setup installs it): its test is skipped");
        return;
    }
    let folder = Path::new(env!("CARGO_BIN_EXE_selvedge")).parent().expect("a program has a folder").to_owned();
    let mut command = Command::new("python3");
    command.args(["-m", "benchexec.benchexec", "--no-container", "--no-compress-results", "--tool-directory"]);
    command.arg(&folder).arg("contrib/benchexec/selvedge.xml").args(["-o", &format!("{}/", scratch("benchexec"))]);
    let paths = std::env::join_paths([tools, PathBuf::from(".")]).expect("the paths have no colon");
    let ran = command.current_dir(root()).env("PYTHONPATH", paths).output().expect("Python is there");
    let out = String::from_utf8_lossy(&ran.stdout);
    let err = String::from_utf8_lossy(&ran.stderr);
    if !out.contains("Statistics") && err.to_lowercase().contains("cgroup") {
        eprintln!("BenchExec cannot use the control groups of this machine: its test is skipped");
        return;
    }
    let line = |word: &str| out.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") == word);
    assert!(line("correct: 10") && line("incorrect: 0") && line("unknown: 0"), "{out}{err}");
}

#[test]
fn the_program_for_competitions_says_one_word_and_writes_a_witness() {
    let wrapper = root().join("contrib/svcomp/selvedge-svcomp");
    for (name, word) in [("counter_lost", "FALSE"), ("counter_locked", "TRUE")] {
        let witness = scratch(&format!("svcomp-{name}.yml"));
        let mut command = Command::new(&wrapper);
        command.env("SELVEDGE", env!("CARGO_BIN_EXE_selvedge")).env("WITNESS", &witness);
        command.args(["--32", "--prp", &task("unreach-call.prp"), &task(&format!("{name}.c"))]);
        let ran = command.output().expect("there is a shell");
        assert_eq!(String::from_utf8_lossy(&ran.stdout), format!("{word}\n"));
        let text = std::fs::read_to_string(&witness).expect("the witness was written");
        assert!(text.contains("data_model: ILP32"), "{text}");
    }
}
