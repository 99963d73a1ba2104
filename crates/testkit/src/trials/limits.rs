//! The table of limits: how well limits on time and memory hold, for each engine, command and kind of input.
//!
//! Each task would run for minutes or forever. It is run with a limit of two seconds, and with limits of 200 MB and
//! 50 MB (and ten seconds, for those that need little memory). The table has what was asked for and what it took. A
//! time limit holds if the program ends within a second after it, a memory limit if the greatest resident memory, with
//! that of the solvers, is at most 20 % and 50 MB above it. An overrun is measured again, alone, before it counts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Setting;
use super::files::Scratch;
use super::heavy::{self, Heavy, task};
use super::process::{End, Ran, Trial};
use crate::corpus::root;

/// A limit that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Seconds.
    Time(u64),
    /// Megabytes.
    Memory(u64),
}

/// The limits of the table.
pub const LIMITS: [Limit; 3] = [Limit::Time(2), Limit::Memory(200), Limit::Memory(50)];

/// The time limit beside a memory limit, in seconds.
const BESIDE: u64 = 10;

/// The greatest number of tools that `crosscheck` asks one after the other.
const TOOLS: f64 = 6.0;

/// A measurement.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was run.
    pub name: String,
    /// The limit.
    pub limit: Limit,
    /// What was observed.
    pub ran: Ran,
}

impl Row {
    /// Returns whether the limit did not hold, or the exit code does not fit.
    pub fn is_overrun(&self) -> bool {
        let seconds = self.ran.time.as_secs_f64();
        // The limits of `crosscheck` are those of each tool.
        let seconds = if self.name.starts_with("crosscheck") { seconds / TOOLS } else { seconds };
        let is_over = match self.limit {
            Limit::Time(limit) => seconds > limit as f64 + 1.0,
            Limit::Memory(limit) => self.ran.peak > (limit * 12 / 10 + 50) * 1_000_000 || seconds > BESIDE as f64 + 1.0,
        };
        let fits = match self.ran.end {
            End::Code(12) => matches!(self.limit, Limit::Memory(_)),
            End::Code(code) => [0, 1, 2, 5, 10, 11].contains(&code),
            End::Signal(_) | End::Overdue => false,
        };
        is_over || !fits || !self.ran.orphans.is_empty()
    }

    /// Returns the row of the table.
    pub fn text(&self) -> String {
        let limit = match self.limit {
            Limit::Time(seconds) => format!("{seconds} s"),
            Limit::Memory(megabytes) => format!("{megabytes} MB"),
        };
        let Row { name, ran, .. } = self;
        let mark = if self.is_overrun() { " **overrun**" } else { "" };
        let (seconds, megabytes) = (ran.time.as_secs_f64(), ran.peak / 1_000_000);
        format!("| {name} | {limit} | {seconds:.1} s | {megabytes} MB | {}{mark} |", ran.end)
    }
}

/// Makes a task of a command and the files that it reads.
fn one(text: &str, files: &[(&str, String)]) -> Heavy {
    task(text, text, files)
}

/// Returns tasks of commands that do not end by themselves for minutes.
pub fn endless() -> Vec<Heavy> {
    let examples = root().canonicalize().unwrap_or_else(|_| root()).join("examples");
    let equations = examples.with_file_name("calculus").join("summaries.fp").display().to_string();
    let predicates: String = (0..400).map(|number| format!("x <= {number}\ny + z >= {number}\n")).collect();
    let crowd = [("crowd.bp", heavy::crowd())];
    let counting = [("counting.bp", heavy::counting())];
    let sums = [("sums.gcl", heavy::sums()), ("p.txt", predicates)];
    vec![
        one("check --all --threads 6 crowd.bp", &crowd),
        one("check --reachable --threads 6 crowd.bp", &crowd),
        one("check --projection counting.bp", &counting),
        one("boom -t --threadbound 6 crowd.bp", &crowd),
        one("simulate --steps 1000000000 counting.bp", &counting),
        task("solve summaries.fp counting.bp", &format!("solve {equations} counting.bp"), &counting),
        one("abstract --predicates p.txt sums.gcl", &sums),
        one("convert --to tts crowd.bp", &crowd),
        one("convert --to pds counting.bp", &counting),
    ]
}

/// Returns tasks of commands: those without end, and those that take long for large inputs.
fn of_commands() -> Vec<Heavy> {
    let crowd = [("crowd.bp", heavy::crowd())];
    let long = [("long.bp", heavy::lines(1_000_000))];
    // A large text in the place of a certificate or of an execution.
    let numbers = format!("{{\"format\": \"selvedge-certificate\", \"steps\": [{}0]}}\n", "0,\n".repeat(10_000_000));
    let numbers = [("numbers.json", numbers), ("a.bp", heavy::lines(1))];
    let mut tasks = endless();
    tasks.extend([
        one("crosscheck --threads 6 crowd.bp", &crowd),
        one("crosscheck sums.gcl", &[("sums.gcl", heavy::sums())]),
        one("sequentialize --contexts 64 --threads 64 crowd.bp", &crowd),
        one("check long.bp", &long),
        one("fmt long.bp", &long),
        one("show ir long.bp", &long),
        one("convert --to horn long.bp", &long),
        one("verify numbers.json a.bp", &numbers),
        one("replay numbers.json a.bp", &numbers),
    ]);
    tasks
}

/// Returns inputs that never end, or never begin.
fn of_readers() -> Vec<Heavy> {
    let mut tasks = Vec::new();
    for format in ["bp", "gcl", "pds", "tts", "spec"] {
        let text = format!("check --input-format {format} /dev/zero");
        tasks.push(task(&text, &text, &[]));
    }
    for text in ["fmt /dev/zero", "verify /dev/zero a.bp", "replay /dev/zero a.bp", "solve /dev/zero a.bp"] {
        tasks.push(task(text, text, &[("a.bp", heavy::lines(1))]));
    }
    for text in ["check pipe", "fmt pipe", "simulate pipe", "verify pipe a.bp", "replay pipe a.bp", "solve pipe a.bp"] {
        tasks.push(task(&format!("{text} (without a writer)"), text, &[("a.bp", heavy::lines(1))]));
    }
    tasks
}

/// Returns a task for each file of a folder, by its ending.
fn of_folder(folder: &Path) -> Result<Vec<Heavy>, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let sums = ("sums.gcl", heavy::sums());
    let one = |path: &PathBuf| {
        let (name, place) = (path.file_name()?.to_string_lossy().into_owned(), path.display());
        let command = match path.extension()?.to_str()? {
            "json" => format!("verify {place} sums.gcl"),
            "txt" => format!("abstract --predicates {place} sums.gcl"),
            "fp" => format!("solve {place} sums.gcl"),
            "prop" => return None,
            _ => format!("check {place}"),
        };
        let shown = format!("{} {name}", command.split(' ').next().unwrap_or_default());
        Some(task(&shown, &command, std::slice::from_ref(&sums)))
    };
    Ok(paths.iter().filter_map(one).collect())
}

/// Measures all tasks whose names have a text in them, and those of a folder of inputs, if one is named. `progress`
/// sees each row.
pub fn measure(
    setting: &Setting,
    inputs: Option<&Path>,
    only: &str,
    mut progress: impl FnMut(&Row),
) -> Result<Vec<(&'static str, Vec<Row>)>, String> {
    let mut groups = vec![
        ("Engines", heavy::of_engines()),
        ("Commands", of_commands()),
        ("Inputs without end or beginning", of_readers()),
    ];
    if let Some(folder) = inputs {
        groups.push(("Deep, wide and broken inputs", of_folder(folder)?));
    }
    let mut measured = Vec::new();
    for (title, tasks) in groups {
        let mut rows = Vec::new();
        for task in tasks.into_iter().filter(|task| task.name.contains(only)) {
            for limit in LIMITS {
                let row = settled(setting, &task, limit).map_err(|error| error.to_string())?;
                progress(&row);
                rows.push(row);
            }
        }
        measured.push((title, rows));
    }
    Ok(measured)
}

/// Measures a task, and again if the limit did not hold.
fn settled(setting: &Setting, task: &Heavy, limit: Limit) -> std::io::Result<Row> {
    let mut row = once(setting, task, limit)?;
    for _ in 0..2 {
        if row.is_overrun() {
            row = once(setting, task, limit)?;
        }
    }
    Ok(row)
}

fn once(setting: &Setting, task: &Heavy, limit: Limit) -> std::io::Result<Row> {
    let scratch = Scratch::new()?;
    scratch.reset(&task.files)?;
    if task.words.iter().any(|word| word == "pipe") {
        Command::new("mkfifo").arg(scratch.path.join("pipe")).status()?;
    }
    let mut trial = Trial::new(task.words.clone(), &scratch.path);
    (trial.measured, trial.deadline) = (true, Duration::from_secs(90));
    let limits = match limit {
        Limit::Time(seconds) => vec!["--time-limit".to_string(), format!("{seconds}s")],
        Limit::Memory(megabytes) => {
            ["--time-limit", &format!("{BESIDE}s"), "--memory-limit", &format!("{megabytes}MB")]
                .map(str::to_string)
                .into()
        }
    };
    trial.words.splice(1..1, limits);
    Ok(Row { name: task.name.clone(), limit, ran: trial.run(setting)? })
}

/// Writes the page.
pub fn page(groups: &[(&'static str, Vec<Row>)]) -> String {
    let mut text = PREFACE.to_string();
    for (title, rows) in groups {
        let _ = write!(text, "\n## {title}\n\n| task | limit | time | peak | exit code |\n|---|---:|---:|---:|---:|\n");
        for row in rows {
            let _ = writeln!(text, "{}", row.text());
        }
    }
    let n_overruns = groups.iter().flat_map(|(_, rows)| rows).filter(|row| row.is_overrun()).count();
    let n_rows: usize = groups.iter().map(|(_, rows)| rows.len()).sum();
    let _ = write!(text, "\n{n_rows} measurements, {n_overruns} overruns.\n");
    text
}

const PREFACE: &str = "\
# How well limits hold

Each task below would run for minutes or forever, or is an input that is hard to read. It was run with
`--time-limit 2s`, with `--memory-limit 200MB` and with `--memory-limit 50MB` (these with `--time-limit 10s`, too). A
time limit holds if the program ends at most a second later. A memory limit holds if the resident memory of the program
and of its solvers is never more than 20 % and 50 MB above it. The [exit code](guide/contracts.md) is 11 at the time
limit and 12 at the memory limit; other codes mean that the task ended by itself. The limits of `crosscheck` are those
of each of its tools. Times are those of a busy machine with two cores.

The page is the output of

    cargo run --release -p selvedge-testkit --bin fuzz -- limits > docs/limits.md
";
