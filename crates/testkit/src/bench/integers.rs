//! The programs of the thesis's tables with our engines, beside the published figures.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Limits, Refinement, Run, Solvers};
use selvedge_driver::{Failure, Options, Outcome, Subject, check};
use selvedge_engines::EngineKind;
use selvedge_frontend::gcl;

use crate::corpus::Expected;
use crate::integers::families::{Published, Row};

/// The engines of the table, where they exist; `auto` is the portfolio.
pub const ENGINES: [&str; 6] = ["auto", "ase", "ur", "induction", "horn", "cegar"];

/// One engine on one program.
#[derive(Clone, Debug)]
pub struct Cell {
    /// What it said: `safe`, `unsafe`, `-` for no answer, `wrong` for one that is not expected.
    pub verdict: &'static str,
    /// What its refinement came to.
    pub refinement: Option<Refinement>,
    /// For how long.
    pub time: Duration,
    /// Who answered, for the portfolio.
    pub by: &'static str,
}

/// Asks an engine; `None` if it does not exist or does not take the program.
pub fn ask(row: &Row, engine: &str, limit: Duration, solvers: &Solvers) -> Option<Cell> {
    let kind = match engine {
        "auto" => None,
        name => Some(EngineKind::from_name(name)?),
    };
    let loaded = gcl::load(&row.text);
    let program = loaded.program.as_ref()?;
    let limits = Limits { time: Some(limit), ..Limits::default() };
    let run = Run::new(CancelToken::default(), limits, &()).with_solvers(solvers.clone());
    let options = Options { engine: kind, jobs: 2, ..Options::default() };
    let start = Instant::now();
    let answer = check(Subject { program, map: &loaded.source_map, text: &row.text }, &options, &run);
    let time = start.elapsed();
    let (verdict, refinement, by) = match &answer {
        Ok(report) => match (&report.outcome, row.expected) {
            (Outcome::Safe(_), Expected::Safe) => ("safe", report.refinement, report.engine),
            (Outcome::Unsafe(_), Expected::Unsafe) => ("unsafe", report.refinement, report.engine),
            (Outcome::Unknown(selvedge_driver::Reason::Unsupported(_)), _) => return None,
            (Outcome::Unknown(_), _) => ("-", report.refinement, report.engine),
            _ => ("wrong", None, report.engine),
        },
        Err(Failure::Internal { engine, .. }) => ("wrong", None, *engine),
        Err(Failure::Usage(_)) => return None,
    };
    Some(Cell { verdict, refinement, time, by })
}

/// The head of the table.
pub fn head() -> String {
    let columns: String = ENGINES.iter().map(|engine| format!(" {engine} |")).collect();
    let rule: String = ENGINES.iter().map(|_| "---|").collect();
    format!("| figure | program | verdict | thesis, ASE | thesis, UR |{columns}\n|---|---|---|---|---|{rule}\n")
}

/// A line of the table.
pub fn line(row: &Row, cells: &[Option<Cell>]) -> String {
    let verdict = match row.expected {
        Expected::Safe => "safe",
        Expected::Unsafe => "unsafe",
    };
    let mut line = format!(
        "| {} | {} | {verdict} | {} | {} |",
        row.figure,
        row.name,
        row.ase.map_or("-".to_string(), published),
        row.ur.map_or("-".to_string(), published)
    );
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
    let seconds = format!("{:.2} s", cell.time.as_secs_f64());
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
