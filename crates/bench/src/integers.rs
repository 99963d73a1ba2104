//! The programs of the thesis's tables, run with our engines and compared with the published figures.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Limits, Outcome, Refinement, Run, Solvers, Subject};
use selvedge_driver::{Failure, Options, check};
use selvedge_engines::EngineKind;
use selvedge_frontend::gcl;

use crate::measure::processor_times;
use crate::table::geometric_mean;
use selvedge_testkit::corpus::Expected;
use selvedge_testkit::integers::families::{Published, Row};

/// The engines of the table, where they exist; `auto` is the portfolio.
pub const ENGINES: [&str; 6] = ["auto", "ase", "ur", "induction", "horn", "cegar"];

/// The result of one engine on one program.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The verdict: `safe`, `unsafe`, `-` for no answer, `wrong` for one that is not the expected one.
    pub verdict: &'static str,
    /// The statistics of its refinement.
    pub refinement: Option<Refinement>,
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Seconds of processor time, with those of solvers.
    pub processor: f64,
    /// The engine that answered, for the portfolio.
    pub by: &'static str,
}

/// Runs an engine on a program; `None` if the engine does not exist or does not support the program.
pub fn ask(row: &Row, engine: &str, limit: Duration, solvers: &Solvers) -> Option<Cell> {
    let kind = match engine {
        "auto" => None,
        name => Some(EngineKind::from_name(name)?),
    };
    let loaded = gcl::load(&row.text);
    let program = loaded.program.as_ref()?;
    let limits = Limits { time: Some(limit), ..Limits::default() };
    let run = Run::new(CancelToken::default(), limits, &()).with_solvers(solvers.clone());
    let options = Options { engine: kind.map(EngineKind::row), jobs: 2, ..Options::default() };
    let (start, before) = (Instant::now(), consumed());
    let answer = check(Subject { program, map: &loaded.source_map, text: &row.text }, &options, &run);
    let (seconds, processor) = (start.elapsed().as_secs_f64(), consumed() - before);
    let (verdict, refinement, by) = match &answer {
        Ok(report) => match (&report.outcome, row.expected) {
            (Outcome::Safe(_), Expected::Safe) => ("safe", report.explanation.refinement, report.engine),
            (Outcome::Unsafe(_), Expected::Unsafe) => ("unsafe", report.explanation.refinement, report.engine),
            (Outcome::Unknown(selvedge_check::Reason::Unsupported(_)), _) => return None,
            (Outcome::Unknown(_), _) => ("-", report.explanation.refinement, report.engine),
            _ => ("wrong", None, report.engine),
        },
        Err(Failure::Internal { engine, .. } | Failure::Panicked { engine, .. }) => ("wrong", None, *engine),
        Err(Failure::Usage(_) | Failure::Unsupported(_)) => return None,
    };
    Some(Cell { verdict, refinement, seconds, processor, by })
}

/// Returns the processor time of this process and of its finished children, in seconds; 0 where the system does not
/// report it. An engine that was overtaken may run on for a moment, which counts towards the next run.
fn consumed() -> f64 {
    processor_times("self").map_or(0.0, |times| times.iter().sum())
}

/// Returns the head of the table.
pub fn head() -> String {
    let columns: String = ENGINES.iter().map(|engine| format!(" {engine} |")).collect();
    let rule: String = ENGINES.iter().map(|_| "---|").collect();
    format!("| figure | program | verdict | thesis, ASE | thesis, UR |{columns}\n|---|---|---|---|---|{rule}\n")
}

/// Returns a line of the table.
pub fn line(row: &Row, cells: &[Option<Cell>]) -> String {
    let [ase, ur] = [row.ase, row.ur].map(|result| result.map_or("-".to_string(), published));
    let mut line = format!("| {} | {} | {} | {ase} | {ur} |", row.figure, row.name, row.expected.word());
    for (engine, cell) in ENGINES.iter().zip(cells) {
        let _ = write!(line, " {} |", cell.as_ref().map_or(String::new(), |cell| shown(engine, cell)));
    }
    line + "\n"
}

fn published(published: Published) -> String {
    let Published { iterations, queries, predicates, states, seconds } = published;
    format!("{iterations} it, {queries} q, {predicates} p, {}/{}, {seconds} s", states.0, states.1)
}

fn shown(engine: &str, cell: &Cell) -> String {
    let seconds = format!("{:.2} s", cell.processor);
    let by = if engine == "auto" { format!(" by {}", cell.by) } else { String::new() };
    match (cell.verdict, cell.refinement) {
        ("-", _) => format!("- ({seconds})"),
        ("wrong", _) => format!("WRONG{by}"),
        (_, Some(figures)) if figures.iterations > 0 && engine != "auto" => {
            let Refinement { iterations, queries, predicates, states, abstract_states } = figures;
            format!("{iterations} it, {queries} q, {predicates} p, {states}/{abstract_states}, {seconds}")
        }
        _ => format!("{seconds}{by}"),
    }
}

/// Summarizes the rows in sentences. An engine without an answer counts with the time that it used.
pub fn summary(rows: &[(Row, Vec<Option<Cell>>)]) -> String {
    let mut text = String::new();
    let column = |engine: &str| ENGINES.iter().position(|name| *name == engine).expect("it is an engine of the table");
    let (auto, ase, horn) = (column("auto"), column("ase"), column("horn"));
    let answered = |cell: &&Cell| !matches!(cell.verdict, "-" | "wrong");
    for (number, engine) in ENGINES.iter().enumerate() {
        let asked: Vec<&Cell> = rows.iter().filter_map(|(_, cells)| cells[number].as_ref()).collect();
        let decided: Vec<f64> = asked.iter().copied().filter(answered).map(|cell| cell.processor).collect();
        let (n_decided, n_asked) = (decided.len(), asked.len());
        let slowest = decided.into_iter().fold(0.0, f64::max);
        let _ =
            writeln!(text, "- `{engine}`: {n_decided} of {n_asked} decided, the slowest of these in {slowest:.2} s");
    }
    let missed =
        rows.iter().filter(|(row, cells)| row.ase.is_some() && cells[ase].iter().filter(answered).count() == 0);
    let _ = writeln!(text, "- rows that the thesis's tool decided and `ase` does not: {}", listed(missed));
    let slow = rows.iter().filter(|(_, cells)| {
        let best = cells.iter().skip(1).flatten().filter(answered).map(|cell| cell.processor).fold(f64::MAX, f64::min);
        cells[auto].as_ref().is_some_and(|auto| best < f64::MAX && auto.processor > 3.0 * best + 1.0)
    });
    let slow = listed(slow);
    let _ = writeln!(text, "- rows where `auto` takes more than three times the best engine and a second: {slow}");
    let pairs = rows.iter().filter_map(|(_, cells)| Some((cells[auto].as_ref()?, cells[horn].as_ref()?)));
    let ratios: Vec<f64> = pairs.map(|(auto, horn)| horn.processor.max(0.01) / auto.processor.max(0.01)).collect();
    let mean = geometric_mean(&ratios).unwrap_or(1.0);
    let _ = writeln!(
        text,
        "- `auto` is {mean:.2} times as fast as `horn` by geometric mean (processor time, at least 0.01 s)"
    );
    text
}

fn listed<'r>(rows: impl Iterator<Item = &'r (Row, Vec<Option<Cell>>)>) -> String {
    let names: Vec<&str> = rows.map(|(row, _)| row.name.as_str()).collect();
    if names.is_empty() { "none".to_string() } else { names.join(", ") }
}

/// Returns the page with the table.
pub fn page(rows: &[(Row, Vec<Option<Cell>>)], limit: Duration) -> String {
    let table: String = rows.iter().map(|(row, cells)| line(row, cells)).collect();
    format!(
        "# Guarded commands over integers\n\nThe programs of Figs. 1.1, 5.1 and 5.2 of \"Abstract Analysis via \
         Symbolic Executions\" (2010), written by us, beside the figures of the thesis. `it`: iterations, `q`: \
         questions to the prover, `p`: predicates, then symbolic (or concrete) and abstract states of the last \
         iteration. Our times are seconds of processor time with the time of solvers and of judging, `-` is no answer \
         within {} s of wall-clock time. The machine was not idle. `NOTES.md` explains what is missing and why figures \
         differ.\n\nWritten by `bench/run integers`.\n\n{}{table}\n## In sum\n\n{}",
        limit.as_secs(),
        head(),
        summary(rows)
    )
}
