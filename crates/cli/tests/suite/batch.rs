//! `selvedge batch`: manifests, tasks, and what their results are worth.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{command, run};
use crate::projects::folder;

const SAFE: &str = "decl a, b;\nvoid main() begin\n  if a then b := 1; else b := 1; fi;\n  assert(b);\nend\n";
const UNSAFE: &str = "decl a, b;\nvoid main() begin\n  if a then assert(!b); fi;\n  assert(a | !a);\nend\n";

/// A folder with programs, and the words that name its manifest and results.
struct Batch {
    folder: PathBuf,
}

impl Batch {
    fn new(name: &str, programs: &[(&str, &str)], split: &str) -> Batch {
        let folder = folder(name);
        fs::create_dir(folder.join("programs")).expect("it can be made");
        for (name, text) in programs {
            fs::write(folder.join("programs").join(name), text).expect("it can be written");
        }
        let batch = Batch { folder };
        let dir = batch.folder.display();
        let ran = run(&format!("batch plan {dir}/programs --out {dir}/tasks.jsonl --time-limit 1m {split}"));
        assert_eq!(ran.code, 0, "{}", ran.err);
        batch
    }

    /// Returns the words of a subcommand.
    fn words(&self, command: &str) -> String {
        let dir = self.folder.display();
        format!("batch {command} {dir}/tasks.jsonl --results {dir}/results")
    }

    fn tasks(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.folder.join("tasks.jsonl")).expect("it was written");
        text.lines().map(|line| serde_json::from_str(line).expect("a line is a task")).collect()
    }

    fn run_all(&self) {
        for index in 0..self.tasks().len() {
            let ran = run(&format!("{} --index {index}", self.words("run")));
            assert_eq!(ran.code, 0, "{}", ran.err);
        }
    }

    fn result(&self, id: &str) -> PathBuf {
        self.folder.join("results").join(format!("{id}.json"))
    }

    /// Changes a result by hand.
    fn forge(&self, id: &str, change: impl Fn(&mut Value)) {
        let path = self.result(id);
        let mut result: Value = serde_json::from_str(&fs::read_to_string(&path).expect("it is there")).expect("JSON");
        change(&mut result);
        fs::write(path, result.to_string()).expect("it can be written");
    }
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn tasks_are_done_once_and_combined_with_their_evidence() {
    let programs = [("safe.bp", SAFE), ("unsafe.bp", UNSAFE)];
    let batch = Batch::new("batch-cubes", &programs, "--split cube --cube-variables 1");
    assert_eq!(batch.tasks().len(), 4);
    assert_eq!(batch.tasks()[1]["question"]["starts"], json!([["a", true]]));
    let status = run(&batch.words("status"));
    assert_eq!((status.code, status.last_line()), (5, "missing: 0-3"), "{}", status.out);
    // The index of whoever starts the tasks; GNU parallel counts from 1.
    for (variable, value) in [("SLURM_ARRAY_TASK_ID", "0"), ("JOB_COMPLETION_INDEX", "1"), ("PARALLEL_SEQ", "3")] {
        let output = command(&batch.words("run")).env(variable, value).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let early = run(&batch.words("merge"));
    assert!(early.out.contains("3 of 4 tasks done"), "{}", early.out);
    assert_eq!(run(&batch.words("status")).last_line(), "missing: 3");
    batch.run_all();
    let again = run(&format!("{} --index 3", batch.words("run")));
    assert_eq!(again.out, "000003: done before\n");
    assert_eq!(files(&batch.folder.join("results")), ["000000.json", "000001.json", "000002.json", "000003.json"]);
    let merged = run(&batch.words("merge"));
    assert_eq!(merged.code, 10, "{}", merged.out);
    assert!(merged.out.contains("safe.bp: certificates of 2 parts that make the whole"), "{}", merged.out);
    assert!(merged.out.contains("unsafe.bp: trace of 000003"), "{}", merged.out);
    assert!(merged.out.contains("1 safe, 1 unsafe, 0 unknown, 0 in disagreement; 0 rejected"), "{}", merged.out);
}

#[test]
fn a_part_that_is_missing_leaves_the_whole_open() {
    let batch = Batch::new("batch-part", &[("safe.bp", SAFE)], "--split cube --cube-variables 2");
    batch.run_all();
    assert!(run(&batch.words("merge")).out.contains("certificates of 4 parts"));
    fs::remove_file(batch.result("000002")).expect("it is there");
    let merged = run(&batch.words("merge"));
    assert_eq!(merged.code, 5, "{}", merged.out);
    assert!(merged.out.starts_with("unknown "), "{}", merged.out);
    // The certificate of another part proves nothing about this one.
    fs::copy(batch.result("000001"), batch.result("000002")).expect("it can be copied");
    assert_eq!(run(&batch.words("merge")).code, 5);
    let fingerprint = {
        let ran = run(&format!("{} --index 2", batch.words("run")));
        assert!(ran.out.starts_with("000002: ") && !ran.out.contains("before"), "{}", ran.out);
        let text = fs::read_to_string(batch.result("000002")).expect("it is there");
        serde_json::from_str::<Value>(&text).expect("JSON")["task"].clone()
    };
    fs::copy(batch.result("000001"), batch.result("000002")).expect("it can be copied");
    batch.forge("000002", |result| {
        result["id"] = "000002".into();
        result["task"] = fingerprint.clone();
    });
    let merged = run(&batch.words("merge"));
    assert_eq!(merged.code, 6, "{}", merged.out);
    assert!(merged.out.contains("evidence rejected: 000002: verify: "), "{}", merged.out);
}

#[test]
fn a_claim_without_evidence_counts_for_nothing() {
    let programs = [("safe.bp", SAFE), ("unsafe.bp", UNSAFE)];
    let batch = Batch::new("batch-forged", &programs, "--split engine --engines summaries,bmc");
    batch.run_all();
    let honest = run(&batch.words("merge"));
    assert_eq!(honest.code, 10, "{}", honest.out);
    // The unsafe program is claimed to be safe, with the certificate of the other one; and both traces are dropped.
    let of_safe: Value = serde_json::from_str(&fs::read_to_string(batch.result("000000")).unwrap()).unwrap();
    for id in ["000002", "000003"] {
        batch.forge(id, |result| {
            result["report"] = of_safe["report"].clone();
            result["certificate"] = of_safe["certificate"].clone();
        });
    }
    let merged = run(&batch.words("merge"));
    assert_eq!(merged.code, 6, "{}", merged.out);
    assert!(
        !merged.out.contains("safe         ") || merged.out.contains("1 safe, 0 unsafe, 1 unknown"),
        "{}",
        merged.out
    );
    batch.forge("000002", |result| result["certificate"] = Value::Null);
    batch.forge("000003", |result| result["report"]["results"][0]["verdict"] = "unsafe".into());
    let merged = run(&batch.words("merge"));
    assert!(merged.out.contains("an unsafe answer without its trace"), "{}", merged.out);
    assert!(merged.out.contains("1 safe, 0 unsafe, 1 unknown"), "{}", merged.out);
    // A program that changes behind the manifest takes its results with it.
    fs::write(batch.folder.join("programs/safe.bp"), UNSAFE).expect("it can be written");
    let merged = run(&batch.words("merge"));
    assert!(merged.out.contains("0 safe"), "{}", merged.out);
    let ran = run(&format!("{} --index 0", batch.words("run")));
    assert_eq!(ran.out, "000000: done before\n");
    fs::remove_file(batch.result("000000")).expect("it is there");
    let ran = run(&format!("{} --index 0", batch.words("run")));
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("has changed since the manifest was written: plan again"), "{}", ran.err);
}

#[test]
fn a_portfolio_stops_when_one_of_its_tasks_has_answered() {
    let batch = Batch::new("batch-portfolio", &[("safe.bp", SAFE)], "--split engine --engines summaries,exhaustive");
    let first = run(&format!("{} --portfolio --index 0", batch.words("run")));
    assert!(first.out.contains(": safe ("), "{}", first.out);
    let second = run(&format!("{} --portfolio --index 1", batch.words("run")));
    assert!(second.out.contains(": overtaken ("), "{}", second.out);
    let merged = run(&batch.words("merge"));
    assert_eq!(merged.code, 0, "{}", merged.out);
    assert!(merged.out.contains("certificate of 000000"), "{}", merged.out);
}

#[test]
fn questions_are_split_by_bounds_and_properties() {
    let batch = Batch::new("batch-bounds", &[("a.bp", UNSAFE)], "--split bound,property --bounds 1,2");
    let questions: Vec<(Value, Value)> = batch
        .tasks()
        .iter()
        .map(|task| (task["question"]["threads"].clone(), task["question"]["assertion"].clone()))
        .collect();
    let expected = [(1, "3"), (1, "4"), (2, "3"), (2, "4")];
    assert_eq!(questions, expected.map(|(threads, line)| (json!(threads), json!(line))));
    let all = run(&format!("{} --index 0 --per-index 10", batch.words("run")));
    assert_eq!((all.code, all.out.lines().count()), (0, 4), "{}", all.err);
    let page = batch.folder.join("report.html");
    let report = run(&format!("{} --html {}", batch.words("report"), page.display()));
    assert_eq!(report.code, 10, "{}", report.out);
    let html = fs::read_to_string(page).expect("it was written");
    assert!(html.contains("<polyline") && html.contains("--threads 2 --assertion 3"), "{html}");
    // Each command of the manifest works on its own.
    let words = batch.tasks()[1]["command"].as_array().expect("a list").clone();
    let words: Vec<&str> = words.iter().skip(1).filter_map(Value::as_str).collect();
    let output = Command::new(env!("CARGO_BIN_EXE_selvedge")).args(words).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn mistakes_of_batch_are_explained() {
    let batch = Batch::new("batch-mistakes", &[("a.bp", SAFE)], "");
    let ran = run(&format!("{} --index 7", batch.words("run")));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("there is no task 7: the manifest has 1 task"), "{}", ran.err);
    let ran = run(&batch.words("run"));
    assert!(ran.code == 1 && ran.err.contains("give --index"), "{}", ran.err);
    fs::write(batch.folder.join("tasks.jsonl"), "{}\n").expect("it can be written");
    let ran = run(&batch.words("merge"));
    assert!(ran.code == 2 && ran.err.contains("tasks.jsonl:1: not a task"), "{}", ran.err);
}

#[test]
fn starts_are_part_of_a_question() {
    let folder = folder("starts");
    let path = folder.join("a.bp");
    fs::write(&path, UNSAFE).expect("it can be written");
    let (program, dir) = (path.display(), folder.display());
    assert_eq!(run(&format!("check --starts a=0 {program}")).code, 0);
    let found = run(&format!("check --starts b=1,a=1 --trace-out {dir}/t.json {program}"));
    assert_eq!(found.code, 10);
    assert_eq!(run(&format!("replay --starts b=1,a=1 {dir}/t.json {program}")).code, 10);
    let other = run(&format!("replay {dir}/t.json {program}"));
    assert!(other.code == 2 && other.err.contains("--starts b=1,a=1"), "{}", other.err);
    for (words, message) in
        [("c=1", "no shared variable `c`"), ("a=1,a=0", "no shared variable `a`"), ("a=2", "0 or 1")]
    {
        let ran = run(&format!("check --starts {words} {program}"));
        assert!(ran.code == 1 && ran.err.contains(message), "{words}: {}", ran.err);
    }
    // A variable with a value of its own cannot start with another one.
    fs::write(&path, "decl a := 1;\nvoid main() begin assert(a); end\n").expect("it can be written");
    assert_eq!(run(&format!("check --starts a=1 {program}")).code, 1);
}
