//! C programs of other people, which are not part of the project: how many are read, supported and decided.
//!
//! A folder has the programs and `index.tsv`: a line for each with its path, its verdict, and the options that its
//! source gives. The first folder of the path is the source. Headers of theirs come from the fetched repositories
//! ([`crate::c_headers`]), or from the folder that `SELVEDGE_C_INCLUDE` names. `bench/c-settled.tsv` lists the programs
//! about which the source says something else than we, with the reason why ours is right.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use selvedge_frontend::c::{self, Options};
use selvedge_frontend::codes::Code;
use selvedge_frontend::{Extern, LoadOptions, Source, load};
use serde::Serialize;
use serde_json::Value;

use crate::Record;
use crate::c_headers::Headers;
use crate::c_peer::Cbmc;
use crate::measure::measure;

/// The disagreements that were settled by hand: the program, our verdict, and the reason.
const SETTLED: &str = include_str!("../../../bench/c-settled.tsv");

/// A program with its question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its path in the folder.
    name: String,
    pub(crate) path: PathBuf,
    expected: String,
    /// The bound on threads that the source gives.
    threads: Option<u32>,
    /// Macros with their bodies.
    pub(crate) defines: Vec<(String, String)>,
    /// A label that is an error.
    pub(crate) label: Option<String>,
    /// Set if the question is whether two threads race for an object.
    pub(crate) races: bool,
    /// The folders with headers.
    pub(crate) include: Vec<PathBuf>,
}

/// Returns the programs that the index of a folder lists. An error says what is missing.
pub fn cases(folder: &Path) -> Result<Vec<Case>, String> {
    let index = folder.join("index.tsv");
    let text = std::fs::read_to_string(&index).map_err(|error| format!("{}: {error}", index.display()))?;
    Ok(text.lines().skip(1).filter_map(|line| case(folder, line)).collect())
}

/// Finds the headers of a program.
pub fn with_headers(case: Case, headers: &Headers) -> io::Result<Case> {
    let text = String::from_utf8_lossy(&std::fs::read(&case.path)?).into_owned();
    let found = headers.of(&case.name, &case.path, &text)?;
    let named = std::env::var_os("SELVEDGE_C_INCLUDE").map(PathBuf::from);
    Ok(Case { include: named.into_iter().chain(found).collect(), ..case })
}

fn case(folder: &Path, line: &str) -> Option<Case> {
    let mut columns = line.split('\t');
    let (name, expected) = (columns.next()?.to_owned(), columns.next()?.to_owned());
    let words: Vec<&str> = columns.next().unwrap_or("").split_whitespace().collect();
    let behind = |option: &str| words.iter().skip_while(|word| **word != option).nth(1);
    let define = |word: &&str| {
        let (name, body) = word.strip_prefix("-D").map(|define| define.split_once('=').unwrap_or((define, "1")))?;
        Some((name.to_owned(), body.to_owned()))
    };
    Some(Case {
        path: folder.join(&name),
        expected,
        threads: behind("--max-threads").and_then(|number| number.parse().ok()),
        defines: words.iter().filter_map(define).collect(),
        label: behind("--error-label").map(|label| (*label).to_owned()),
        races: words.contains(&"--data-race-check") || name.contains("__races__"),
        include: Vec::new(),
        name,
    })
}

impl Case {
    /// Returns the source of the program.
    pub fn source(&self) -> &str {
        self.name.split('/').next().unwrap_or("")
    }

    /// Returns whether functions without a body change nothing and return any value, as SatAbs has it.
    fn has_extern(&self) -> bool {
        self.source() == "satabs"
    }
}

/// What the program `selvedge` can be asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Abilities {
    defines: bool,
    races: bool,
}

impl Abilities {
    /// Reads the help of the program.
    pub fn of(selvedge: &Path) -> io::Result<Abilities> {
        let help = Command::new(selvedge).args(["check", "--help"]).output()?.stdout;
        let help = String::from_utf8_lossy(&help);
        Ok(Abilities { defines: help.contains("-D "), races: help.contains("no-data-race") })
    }
}

/// How far a program is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Stage {
    /// It is not C as we read it.
    Broken,
    /// It has a tree, but no types.
    Parsed,
    /// It has types, but no meaning.
    Typed,
    /// It has a meaning.
    Supported,
}

/// What one run of the program says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Said {
    /// `safe`, `unsafe` or `unknown`.
    pub verdict: String,
    /// The engine that decided, or why none did.
    pub by: String,
    /// Set if a certificate was accepted.
    pub certified: bool,
    /// The time of the run.
    pub seconds: f64,
}

/// A line of the tables.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The path of the program.
    pub name: String,
    /// The verdict of the source.
    pub expected: String,
    /// How far the program is understood.
    pub stage: Stage,
    /// The answer to the question of the source.
    pub said: Said,
    /// The answer for any number of threads, if the program creates threads without a bound.
    pub any: Option<Said>,
    /// What a peer says, if there is one.
    pub peer: Option<Said>,
}

impl Row {
    fn source(&self) -> &str {
        self.name.split('/').next().unwrap_or("")
    }

    fn is_decided(&self) -> bool {
        self.said.verdict != "unknown"
    }

    fn is_other(&self) -> bool {
        self.is_decided() && self.said.verdict != self.expected
    }

    /// Returns why the verdict of the source is not ours, if that was settled by hand.
    fn settled(&self) -> Option<&'static str> {
        let lines = SETTLED.lines().map(|line| line.split('\t').collect::<Vec<_>>());
        let mut known = lines.filter_map(|line| <[&str; 3]>::try_from(line).ok());
        let found = known.find(|[name, verdict, _]| *name == self.name && *verdict == self.said.verdict);
        found.filter(|_| self.is_other()).map(|[_, _, reason]| reason)
    }

    fn is_wrong(&self) -> bool {
        self.is_other() && self.settled().is_none()
    }
}

/// Reads and checks one program.
pub fn row(case: &Case, selvedge: &Path, can: Abilities, peer: Option<&Cbmc>, limit: Duration) -> io::Result<Row> {
    let text = String::from_utf8_lossy(&std::fs::read(&case.path)?).into_owned();
    let (stage, threads) = read(case, &text);
    let is_unbounded = if stage == Stage::Supported { threads.is_none() } else { creates_in_a_loop(&text) };
    let said = ask(case, selvedge, can, limit, case.threads)?;
    let any = match (is_unbounded, case.threads) {
        (false, _) => None,
        (true, None) => Some(said.clone()),
        (true, Some(_)) => Some(ask(case, selvedge, can, limit, None)?),
    };
    let peer = peer.map(|peer| peer.ask(case, limit)).transpose()?;
    Ok(Row { name: case.name.clone(), expected: case.expected.clone(), stage, said, any, peer })
}

/// Returns how far a program is understood, and its number of threads if that has a bound.
fn read(case: &Case, text: &str) -> (Stage, Option<u32>) {
    let beside = case.path.parent().map(Path::to_path_buf);
    let include: Vec<PathBuf> = beside.into_iter().chain(case.include.clone()).collect();
    let (defines, read) = (case.defines.clone(), Rc::new(c::read_from_disk));
    let unit =
        c::read(Source::new("", text), &Options { include: include.clone(), defines, read, ..Options::default() });
    let errors: Vec<Code> = unit.diagnostics.iter().filter(|found| found.is_error()).map(|found| found.code).collect();
    let is_about_types = |code: &Code| *code > Code::CUnsupported;
    if !errors.is_empty() {
        return (if errors.iter().all(is_about_types) { Stage::Parsed } else { Stage::Broken }, None);
    }
    let (defines, path) = (case.defines.clone(), Some(case.path.clone()));
    let externs = Some(if case.has_extern() { Extern::Havoc } else { Extern::Refuse });
    let options = LoadOptions { defines, include, path, externs, ..LoadOptions::default() };
    let loaded = load(&case.path, text, &options);
    (if loaded.program.is_some() { Stage::Supported } else { Stage::Typed }, loaded.threads)
}

/// Returns whether the text of a program that is not supported looks as if it created threads without a bound.
fn creates_in_a_loop(text: &str) -> bool {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect();
    let endless = ["while(1)", "while(true)", "for(;;)", "while(__VERIFIER_nondet", "while(nondet"];
    let behind = |head: &&str| text.split(*head).skip(1).any(|body| body.contains("pthread_create("));
    text.contains("__CPROVER_ASYNC_") || endless.iter().any(behind)
}

pub(crate) fn unknown(why: &str) -> Said {
    Said { verdict: "unknown".to_owned(), by: why.to_owned(), ..Said::default() }
}

/// Asks the program `selvedge`.
fn ask(case: &Case, selvedge: &Path, can: Abilities, limit: Duration, threads: Option<u32>) -> io::Result<Said> {
    if case.races && !can.races {
        return Ok(unknown("not asked: there is no question about races"));
    }
    if !case.defines.is_empty() && !can.defines {
        return Ok(unknown("not asked: there is no option `-D`"));
    }
    let mut command = Command::new(selvedge);
    command.args(["check", "--format", "json", "--time-limit", &format!("{}s", limit.as_secs())]);
    command.args(case.defines.iter().flat_map(|(name, body)| ["-D".to_owned(), format!("{name}={body}")]));
    command.args(case.include.iter().flat_map(|folder| ["-I".into(), folder.clone().into_os_string()]));
    command.args(threads.into_iter().flat_map(|threads| ["--threads".to_owned(), threads.to_string()]));
    command.args(if case.has_extern() { ["--extern", "havoc"].as_slice() } else { &[] });
    command.args(if case.races { ["--property", "no-data-race"].as_slice() } else { &[] });
    // The label ERROR is always an error.
    let label = case.label.as_ref().filter(|label| *label != "ERROR");
    command.args(label.into_iter().flat_map(|label| ["--label", label]));
    let record = measure(command.arg(&case.path), limit, &|output, _| output.to_owned())?;
    let said = serde_json::from_str::<Value>(&record.verdict).ok().map(|report| said(&report["results"][0]));
    Ok(Said { seconds: record.seconds, ..said.unwrap_or_else(|| unknown("no answer within the time limit")) })
}

fn said(result: &Value) -> Said {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let by = text(&result["answer"]["engine"]).filter(|_| result["reason"].is_null());
    let verdict = text(&result["verdict"]).filter(|verdict| verdict != "error");
    Said {
        verdict: verdict.unwrap_or_else(|| "unknown".to_owned()),
        by: by.or(text(&result["reason"])).unwrap_or_default(),
        certified: result["answer"]["certified"] == true,
        seconds: 0.0,
    }
}

/// Returns the tables as a page of Markdown.
pub fn markdown(rows: &[Row], peer: Option<&str>, limit: Duration) -> String {
    let mut page = format!("# C programs of other people\n\n{} seconds for each program.\n\n", limit.as_secs());
    page += "| source | programs | parsed | typed | supported | decided | right | settled | wrong \
             | safe with a certificate |\n";
    page += "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    let mut sources: Vec<&str> = rows.iter().map(Row::source).collect();
    sources.sort_unstable();
    sources.dedup();
    let mut line = |name: &str, rows: &[&Row]| {
        let _ = writeln!(page, "| {name} | {} |", counts(rows).map(|count| count.to_string()).join(" | "));
    };
    for source in &sources {
        line(source, &rows.iter().filter(|row| row.source() == *source).collect::<Vec<_>>());
    }
    if sources.len() > 1 {
        line("all", &rows.iter().collect::<Vec<_>>());
    }
    page += "\n## Other verdicts than those of the sources\n\n";
    for row in rows.iter().filter(|row| row.is_other()) {
        let Row { name, expected, said, .. } = row;
        let settled = row.settled().map_or("**open**".to_owned(), |reason| format!("settled: {reason}"));
        let _ = writeln!(page, "- `{name}`: {expected} in the source, {} by {}; {settled}", said.verdict, said.by);
    }
    page += "\n## Undecided\n\n";
    for row in rows.iter().filter(|row| !row.is_decided()) {
        let _ = writeln!(page, "- `{}` ({}): {}", row.name, row.expected, row.said.by);
    }
    page + &peer.map_or(String::new(), |peer| beside(rows, peer)) + &engines(rows) + &unbounded(rows)
}

/// Returns how many programs a peer decides, and those about which it says something else than the source.
fn beside(rows: &[Row], peer: &str) -> String {
    let said: Vec<(&Row, &Said)> = rows.iter().filter_map(|row| Some((row, row.peer.as_ref()?))).collect();
    let count = |wanted: &dyn Fn(&Row, &Said) -> bool| said.iter().filter(|(row, said)| wanted(row, said)).count();
    let asked = count(&|_, said| !said.by.starts_with("not asked"));
    let right = count(&|row, said| said.verdict == row.expected);
    let other = count(&|row, said| said.verdict != "unknown" && said.verdict != row.expected);
    let ours = count(&|row, said| row.said.verdict == row.expected && !said.by.starts_with("not asked"));
    let mut page = format!("\n## Beside {peer}\n\n");
    let _ =
        writeln!(page, "Of {asked} programs that it can be asked about, it decides {right} as the source says, and");
    let _ = writeln!(page, "{other} otherwise; Selvedge decides {ours} of them as the source says.\n");
    for (row, said) in said.iter().filter(|(row, said)| said.verdict != "unknown" && said.verdict != row.expected) {
        let ours = &row.said.verdict;
        let _ = writeln!(page, "- `{}`: {} in the source, {} here, {ours} by us", row.name, row.expected, said.verdict);
    }
    page
}

/// Returns which engine decided how many programs.
fn engines(rows: &[Row]) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.is_decided()) {
        *counts.entry((&row.said.by, &row.said.verdict)).or_default() += 1;
    }
    let mut list = "\n## Who decided\n\n| engine | verdict | programs |\n|---|---|---:|\n".to_owned();
    for ((engine, verdict), count) in counts {
        let _ = writeln!(list, "| {engine} | {verdict} | {count} |");
    }
    list
}

/// Returns the answers as records of tools, for plots.
pub fn records(rows: &[Row], peer: Option<&str>) -> Vec<Record> {
    let record = |row: &Row, tool: &str, said: &Said| Record {
        family: "c".to_owned(),
        instance: row.name.clone(),
        tool: tool.to_owned(),
        // Wrong answers are no use.
        verdict: if said.verdict == row.expected { said.verdict.clone() } else { "unknown".to_owned() },
        seconds: said.seconds,
        ..Record::default()
    };
    let ours = rows.iter().map(|row| record(row, "Selvedge", &row.said));
    let its = rows.iter().filter_map(|row| Some(record(row, peer?, row.peer.as_ref()?)));
    ours.chain(its).collect()
}

/// Returns the list of programs that create threads without a bound.
fn unbounded(rows: &[Row]) -> String {
    let mut list = "\n## Threads without a bound\n\n| program | in the source | for any number | by |\n".to_owned();
    list += "|---|---|---|---|\n";
    for row in rows {
        let Some(any) = &row.any else { continue };
        let evidence = if any.certified { " with a certificate" } else { "" };
        let _ = writeln!(list, "| `{}` | {} | {}{evidence} | {} |", row.name, row.expected, any.verdict, any.by);
    }
    list
}

/// Counts programs, those of each stage, the decided ones, right, settled and wrong ones, and those with a certificate.
fn counts(rows: &[&Row]) -> [usize; 9] {
    let count = |wanted: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    [
        rows.len(),
        count(&|row| row.stage >= Stage::Parsed),
        count(&|row| row.stage >= Stage::Typed),
        count(&|row| row.stage >= Stage::Supported),
        count(&Row::is_decided),
        count(&|row| row.is_decided() && !row.is_other()),
        count(&|row| row.settled().is_some()),
        count(&Row::is_wrong),
        count(&|row| row.said.verdict == "safe" && row.said.certified),
    ]
}

/// Returns a line for each verdict that is not that of the source.
pub fn contradictions(rows: &[Row]) -> Vec<String> {
    let wrong = rows.iter().filter(|row| row.is_wrong());
    wrong.map(|row| format!("{}: {} in the source, but {}", row.name, row.expected, row.said.verdict)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_index_are_understood() {
        let line = "a/x__races__y.c\tunsafe\tCORE --max-threads 3 -DBUG -DN=2 --error-label L";
        let found = case(Path::new("corpus"), line).expect("it has all columns");
        assert_eq!((found.threads, found.label.as_deref(), found.races), (Some(3), Some("L"), true));
        let defines = [("BUG", "1"), ("N", "2")].map(|(name, body)| (name.to_owned(), body.to_owned()));
        assert_eq!((found.defines.as_slice(), found.name.as_str()), (defines.as_slice(), "a/x__races__y.c"));
        let plain = case(Path::new("corpus"), "b/y.c\tsafe\t").expect("it has all columns");
        assert_eq!((plain.threads, plain.label, plain.races, plain.defines.len()), (None, None, false, 0));
    }

    #[test]
    fn programs_are_counted_by_what_is_said_about_them() {
        let row = |expected: &str, stage: Stage, verdict: &str| {
            let said = Said { verdict: verdict.to_owned(), certified: verdict == "safe", ..Said::default() };
            Row { name: "a/p.c".to_owned(), expected: expected.to_owned(), stage, said, any: None, peer: None }
        };
        let rows = [
            row("safe", Stage::Supported, "safe"),
            row("safe", Stage::Supported, "unsafe"),
            row("unsafe", Stage::Typed, "unknown"),
            row("unsafe", Stage::Parsed, "unknown"),
            row("safe", Stage::Broken, "unknown"),
        ];
        assert_eq!(counts(&rows.iter().collect::<Vec<_>>()), [5, 4, 3, 2, 2, 1, 0, 1, 1]);
        assert_eq!(contradictions(&rows), ["a/p.c: safe in the source, but unsafe"]);
        assert!(markdown(&rows, None, Duration::from_secs(1)).contains("| a | 5 | 4 | 3 | 2 | 2 | 1 | 0 | 1 | 1 |"));
    }

    #[test]
    fn settled_disagreements_are_not_wrong() {
        let (name, verdict, _) = SETTLED
            .lines()
            .find_map(|line| {
                let parts: Vec<&str> = line.split('\t').collect();
                <[&str; 3]>::try_from(parts).ok().map(|[name, verdict, reason]| (name, verdict, reason))
            })
            .expect("there is one");
        let expected = if verdict == "safe" { "unsafe" } else { "safe" };
        let row = |verdict: &str, expected: &str| {
            let said = Said { verdict: verdict.to_owned(), ..Said::default() };
            Row {
                name: name.to_owned(),
                expected: expected.to_owned(),
                stage: Stage::Supported,
                said,
                any: None,
                peer: None,
            }
        };
        assert!(row(verdict, expected).settled().is_some() && !row(verdict, expected).is_wrong());
        assert!(row(expected, verdict).is_wrong(), "only our verdict was settled");
    }

    #[test]
    fn loops_that_create_threads_are_seen() {
        assert!(creates_in_a_loop("while (1) { pthread_create(&t, 0, f, 0); }"));
        assert!(creates_in_a_loop("__CPROVER_ASYNC_1: f();"));
        assert!(!creates_in_a_loop("pthread_create(&t, 0, f, 0); while (1);"));
    }
}
