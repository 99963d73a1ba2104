//! Faults on purpose: for each kind of operation and each task, the first operation fails, then the second, and so on.
//!
//! Order of work: a task is run once without a fault, which gives its whole files and must end with its known code.
//! Then it is run with the n-th operation of a kind failing, for n = 1, 2, .. up to a number and in growing steps from
//! there, until the mark on standard error is missing: there are fewer operations, so that the loop ends. Each run is
//! judged: its code is one that the kind of fault allows, a verdict is the right one, every file is the old one or
//! whole, no file is left beside them, no process is left behind, and it ends in time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use selvedge_faults::{MARK, Point, VARIABLE};

use super::Setting;
use super::files::{Contents, Scratch, problems};
use super::process::{End, Ran, Trial};
use super::tasks::{Engines, Task};
use crate::workers::{self, Effort, Items};

/// How much is tried.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number up to which every operation fails in turn.
    pub dense: u64,
    /// The greatest number of faults of one kind in one task.
    pub most: u64,
    /// The number of tasks at a time.
    pub jobs: usize,
}

/// The time limit of tasks whose solver hangs.
const SHORT: &str = "1500ms";

/// What was observed for one kind of fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The tasks in which it happened.
    pub tasks: u64,
    /// The faults.
    pub points: u64,
    /// The number of runs by how they ended.
    pub ends: BTreeMap<String, u64>,
    /// What went wrong, each with the command that repeats it.
    pub findings: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Tally) {
        self.tasks += other.tasks;
        self.points += other.points;
        for (end, count) in other.ends {
            *self.ends.entry(end).or_default() += count;
        }
        self.findings.extend(other.findings);
    }
}

/// Tries all kinds of faults in all tasks. `progress` is told how many pairs are done.
pub fn run(setting: &Setting, tasks: Vec<Task>, plan: Plan, mut progress: impl FnMut(u64, u64)) -> Vec<(Point, Tally)> {
    let count = (tasks.len() * Point::ALL.len()) as u64;
    let items = Items { first: 0, count, jobs: plan.jobs };
    let effort = Effort { stack: 4 << 20, patience: Duration::from_secs(1800) };
    let (setting, tasks) = (setting.clone(), Arc::new(tasks));
    let mut tallies: BTreeMap<usize, Tally> = BTreeMap::new();
    let mut done = 0;
    let work = move |number: u64| {
        let (task, point) = (number as usize / Point::ALL.len(), number as usize % Point::ALL.len());
        (point, attempt(&setting, &tasks[task], Point::ALL[point], plan))
    };
    let end = workers::each(items, effort, work, |_, (point, tally)| {
        tallies.entry(point).or_default().add(tally);
        done += 1;
        progress(done, count);
        ControlFlow::Continue(())
    });
    if let Err(hang) = end {
        let finding = format!("no run ended for long: pairs {:?}", hang.numbers);
        tallies.entry(0).or_default().findings.push(finding);
    }
    tallies.into_iter().map(|(point, tally)| (Point::ALL[point], tally)).collect()
}

/// Tries one kind of fault in one task.
fn attempt(setting: &Setting, task: &Task, point: Point, plan: Plan) -> Tally {
    let mut tally = Tally::default();
    if let Err(message) = try_attempt(setting, task, point, plan, &mut tally) {
        tally.findings.push(format!("{}: {message}", task.line()));
    }
    tally
}

fn try_attempt(setting: &Setting, task: &Task, point: Point, plan: Plan, tally: &mut Tally) -> Result<(), String> {
    let scratch = Scratch::new().map_err(|error| error.to_string())?;
    let Prepared { before, whole, words } = prepare(setting, task, point, &scratch)?;
    let mut number = 1;
    while tally.points < plan.most {
        scratch.reset(&before).map_err(|error| error.to_string())?;
        let fault = format!("{}:{number}", point.name());
        let mut trial = Trial::new(words.clone(), &scratch.path);
        trial.variables.push((VARIABLE.to_string(), fault.clone()));
        let ran = trial.run(setting).map_err(|error| error.to_string())?;
        if !ran.err.contains(MARK) {
            break;
        }
        tally.points += 1;
        *tally.ends.entry(ran.end.to_string()).or_default() += 1;
        let mut wrong = judge(point, task, &ran);
        wrong.extend(problems(&before, &scratch.contents(), Some(&whole)));
        let describe = |wrong| format!("{VARIABLE}={fault} selvedge {}: {wrong}\n{}", words.join(" "), tail(&ran));
        tally.findings.extend(wrong.into_iter().map(describe));
        number = if number < plan.dense { number + 1 } else { number + number.div_ceil(3) };
    }
    tally.tasks += u64::from(tally.points > 0);
    Ok(())
}

/// A task that is ready for faults.
struct Prepared {
    /// The files before each run.
    before: Contents,
    /// The files after a run without fault.
    whole: Contents,
    /// The arguments.
    words: Vec<String>,
}

/// Makes the inputs of a task, and runs it without a fault.
fn prepare(setting: &Setting, task: &Task, point: Point, scratch: &Scratch) -> Result<Prepared, String> {
    let io = |error: std::io::Error| error.to_string();
    scratch.reset(&task.files()).map_err(io)?;
    for words in &task.before {
        Trial::new(words.clone(), &scratch.path).run(setting).map_err(io)?;
    }
    let before = scratch.contents();
    let mut words = task.words.clone();
    if point == Point::SolverHangs && words[0] != "man" {
        words.splice(1..1, ["--time-limit".to_string(), SHORT.to_string()]);
    }
    let ran = Trial::new(task.words.clone(), &scratch.path).run(setting).map_err(io)?;
    if ran.end != End::Code(task.code) {
        return Err(format!("it ends with {} and not {} without a fault\n{}", ran.end, task.code, tail(&ran)));
    }
    Ok(Prepared { before, whole: scratch.contents(), words })
}

/// Returns the end of what a run has printed.
fn tail(ran: &Ran) -> String {
    let last =
        |text: &str| text.lines().rev().take(4).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n  ");
    format!("  {}\n  {}", last(&ran.out), last(&ran.err))
}

/// Says what is wrong with the end of a run.
fn judge(point: Point, task: &Task, ran: &Ran) -> Vec<String> {
    let mut wrong = Vec::new();
    let allowed = allowed(point, task);
    if !matches!(ran.end, End::Code(code) if allowed.contains(&code)) {
        wrong.push(format!("it ends with {}, allowed are {allowed:?}", ran.end));
    }
    let claims = [("VERIFICATION SUCCESSFUL", 0), ("VERIFICATION FAILED", 10)];
    if claims.iter().any(|(line, code)| ran.last_line() == *line && task.code != *code) {
        wrong.push(format!("a wrong verdict: {}", ran.last_line()));
    }
    let is_json = task.words.windows(2).any(|pair| pair[0] == "--format");
    if is_json && !ran.out.is_empty() && serde_json::from_str::<serde_json::Value>(&ran.out).is_err() {
        wrong.push("standard output is broken".to_string());
    }
    if matches!(ran.end, End::Code(code) if code != task.code) && ran.out.trim().is_empty() && says_nothing(ran) {
        wrong.push("it says nothing about the fault".to_string());
    }
    wrong.extend(ran.orphans.iter().map(|orphan| format!("it leaves a process behind: {orphan}")));
    wrong
}

/// Returns whether standard error has nothing but the mark.
fn says_nothing(ran: &Ran) -> bool {
    ran.err.lines().all(|line| line.starts_with(MARK) || line.trim().is_empty())
}

/// Returns the exit codes that are right after a fault.
fn allowed(point: Point, task: &Task) -> Vec<i32> {
    match point {
        Point::Read | Point::Write | Point::Rename => vec![2],
        Point::Engine if task.engines == Engines::One => vec![6],
        Point::Engine => vec![task.code],
        Point::Diagrams | Point::Allocation | Point::Thread | Point::Process => vec![12, task.code],
        Point::SolverDies | Point::SolverBabbles => vec![5, task.code],
        Point::SolverHangs => vec![11, task.code],
        Point::SolverDelays => vec![task.code],
    }
}

/// Writes the table.
pub fn table(tallies: &[(Point, Tally)]) -> String {
    let mut text = String::from("| kind | tasks | faults | exit codes | findings |\n|---|---:|---:|---|---:|\n");
    let mut sum = Tally::default();
    for (point, tally) in tallies {
        let _ = writeln!(text, "{}", row(point.name(), tally));
        sum.add(tally.clone());
    }
    text + &row("all", &sum)
}

fn row(name: &str, tally: &Tally) -> String {
    let ends: Vec<String> = tally.ends.iter().map(|(end, count)| format!("{end}: {count}")).collect();
    format!("| {name} | {} | {} | {} | {} |", tally.tasks, tally.points, ends.join(", "), tally.findings.len())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Runs a script instead of the program, which fails in its own way with the first fault.
    fn findings(script: &str) -> Vec<String> {
        use std::os::unix::fs::PermissionsExt as _;
        let scratch = Scratch::new().expect("a temporary folder can be made");
        let program = scratch.path.join("program");
        let text = format!(
            "#!/bin/sh\necho '{{}}' > c.json\ncase \"$SELVEDGE_FAULT\" in\n*:1) echo '{MARK}it' >&2; {script};;\n\
             *) echo VERIFICATION SUCCESSFUL;;\nesac\n"
        );
        std::fs::write(&program, text).expect("it can be written");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        let setting = Setting { program, solvers: Vec::new() };
        let task = Task::new("check --certificate c.json x.bp", 0, Engines::One);
        let plan = Plan { dense: 2, most: 3, jobs: 1 };
        attempt(&setting, &task, Point::Diagrams, plan).findings
    }

    #[test]
    fn misbehaviour_is_found() {
        assert_eq!(findings("echo 'VERIFICATION UNKNOWN (..)'; exit 12"), Vec::<String>::new());
        for (script, expected) in [
            ("echo 'VERIFICATION UNKNOWN (..)'; exit 6", "it ends with 6"),
            ("exit 12", "it says nothing about the fault"),
            ("echo VERIFICATION FAILED; exit 10", "a wrong verdict"),
            ("echo '{' > c.json; echo no; exit 12", "c.json is broken"),
            ("rm c.json; echo no; exit 12", "c.json is gone"),
            ("touch .selvedge-1-0.tmp; echo no; exit 12", ".selvedge-1-0.tmp is broken"),
            ("sleep 30 & echo no; exit 12", "it leaves a process behind: sleep 30"),
        ] {
            let found = findings(script);
            assert!(found.iter().any(|finding| finding.contains(expected)), "{script}: {found:?}");
        }
    }
}
