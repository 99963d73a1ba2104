//! Programs whose threads take turns: times over the number of threads and over the number of contexts of each, as in
//! Figs. 6 to 8 of Lal and Reps (2009).
//!
//! Within a series, a tool that reached the limit is not run on harder points. SPIN, where it supports the program,
//! decides without a bound on contexts.

mod beem;
mod bluetooth;
mod tree;

pub mod fit;

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use selvedge_check::Question;
use selvedge_driver::external::Spin;
use serde::Serialize;

use super::concurrent::Size;
pub use super::concurrent::Twin;
use super::concurrent::peterson;
use super::measure::{measure, verdict};
use super::tool::{Asked, Tool};

/// One run of one tool.
#[derive(Clone, Debug, Serialize)]
pub struct Timing {
    /// The series.
    pub series: &'static str,
    /// The program.
    pub program: String,
    /// Its threads.
    pub threads: usize,
    /// The contexts of each; `None` for tools without such a bound.
    pub contexts: Option<u32>,
    /// The tool.
    pub tool: String,
    /// `no error` within the contexts, `unsafe`, `safe` from tools without a bound, or the reason why there is no
    /// answer.
    pub verdict: String,
    /// The number of contexts within which an error was found.
    pub found_at: Option<u32>,
    /// Wall-clock seconds of the process.
    pub seconds: f64,
    /// Seconds of processor time.
    pub processor_seconds: f64,
    /// The greatest resident memory in bytes.
    pub peak_bytes: Option<u64>,
}

/// The parameter that grows along a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The number of threads.
    Threads,
    /// The number of contexts of each thread.
    Contexts,
    /// Nothing: unrelated programs.
    None,
}

/// Programs with their bounds, the easier ones first.
pub struct Series {
    /// The name.
    pub name: &'static str,
    /// The parameter that grows.
    pub axis: Axis,
    /// Includes SPIN.
    pub with_spin: bool,
    /// The programs.
    pub points: Vec<Point>,
}

/// A program and a bound.
pub struct Point {
    /// The program's name.
    pub program: String,
    /// The number of threads.
    pub threads: usize,
    /// The bound on the contexts of each thread.
    pub contexts: u32,
    /// The paper's seconds for its own model of the program, and those of SPIN where they are given.
    pub paper: Option<String>,
    /// The program.
    pub text: String,
}

/// Returns all series.
pub fn series() -> Vec<Series> {
    let bluetooth = |name, axis, sizes: Vec<(usize, u32)>, twin: Twin| {
        let point = |(threads, contexts): (usize, u32)| Point {
            program: format!("bluetooth-{}-{threads}", twin.suffix()),
            threads,
            contexts,
            paper: None,
            text: bluetooth::driver(threads, twin),
        };
        Series { name, axis, with_spin: false, points: sizes.into_iter().map(point).collect() }
    };
    let threads = (1..=12).map(|threads| (threads, 4)).collect();
    let contexts = (1..=8).map(|contexts| (3, contexts)).collect();
    let errors = (3..=6).map(|threads| (threads, 4)).collect();
    let mut all = vec![
        bluetooth("bluetooth over threads", Axis::Threads, threads, Twin::Safe),
        bluetooth("bluetooth over contexts", Axis::Contexts, contexts, Twin::Safe),
        bluetooth("bluetooth with its error", Axis::Threads, errors, Twin::Unsafe),
    ];
    for (name, inserters, searchers) in [("tree 1+1", 1, 1), ("tree 2+1", 2, 1), ("tree 2+2", 2, 2)] {
        all.push(trees(name, inserters, searchers, Twin::Safe));
    }
    all.push(trees("tree 2+1 with its error", 2, 1, Twin::Unsafe));
    all.push(algorithms());
    all
}

/// Fig. 7: seconds for 2 to 6 contexts, by inserters and searchers.
const FIGURE_7: [((usize, usize), [&str; 5]); 3] = [
    ((1, 1), ["6.1", "21.6", "84.5", "314.8", "1054.8"]),
    ((2, 1), ["11.9", "46.8", "211.9", "832.0", "2995.6"]),
    ((2, 2), ["14.1", "64.4", "298.0", "1255.4", "4432.1"]),
];

fn trees(name: &'static str, inserters: usize, searchers: usize, twin: Twin) -> Series {
    let row = FIGURE_7.iter().find(|(threads, _)| *threads == (inserters, searchers) && twin == Twin::Safe);
    let point = |contexts: u32| Point {
        program: format!("tree-{}-{inserters}-{searchers}", twin.suffix()),
        threads: inserters + searchers,
        contexts,
        paper: row.map(|(_, seconds)| seconds[contexts as usize - 2].to_string()),
        text: tree::tree(inserters, searchers, twin),
    };
    Series { name, axis: Axis::Contexts, with_spin: false, points: (2..=6).map(point).collect() }
}

/// Returns the programs of Fig. 8, with the contexts that it gives.
fn algorithms() -> Series {
    let mut points = Vec::new();
    for twin in Twin::BOTH {
        let mut add = |name: &str, threads: usize, contexts: u32, papers: [&str; 2], text: String| {
            let program = format!("{name}-{}", twin.suffix());
            let paper = Some(papers[usize::from(twin == Twin::Unsafe)].to_string());
            points.push(Point { program, threads, contexts, paper, text });
        };
        add("anderson", 6, 2, ["52.46, SPIN no memory", "54.90, SPIN no memory"], beem::anderson(twin));
        add("bakery", 4, 2, ["5.87, SPIN 28.5", "13.88, SPIN 44.2"], beem::bakery(twin));
        let four = Size { threads: 4, locals: 0 };
        add("peterson", 4, 3, ["5.46, SPIN 3.05", "25.72, SPIN no memory"], peterson(four, twin));
        add("msmie", 20, 2, ["47.94, SPIN 31.0", "1.29, SPIN 1.04"], beem::msmie(twin));
    }
    Series { name: "algorithms", axis: Axis::None, with_spin: true, points }
}

/// The programs, engines and limits of a run.
pub struct Plan {
    /// The program `selvedge`.
    pub selvedge: PathBuf,
    /// The series by name; empty for all.
    pub series: Vec<String>,
    /// The engines.
    pub engines: Vec<String>,
    /// The time for each run.
    pub limit: Duration,
    /// The time for each run of `contexts-eager`, which reaches it nearly always.
    pub eager_limit: Duration,
    /// The folder for generated programs.
    pub scratch: PathBuf,
}

impl Plan {
    fn limit_of(&self, engine: &str) -> Duration {
        if engine == "contexts-eager" { self.eager_limit } else { self.limit }
    }
}

/// Runs the plan. `tell` is called with each timing.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(&Timing)) -> io::Result<Vec<Timing>> {
    std::fs::create_dir_all(&plan.scratch)?;
    let mut timings = Vec::new();
    let wanted = |series: &Series| plan.series.is_empty() || plan.series.iter().any(|name| name == series.name);
    for series in series().into_iter().filter(wanted) {
        let mut engines: Vec<&String> = plan.engines.iter().collect();
        for point in &series.points {
            let file = plan.scratch.join(format!("{}.bp", point.program));
            std::fs::write(&file, &point.text)?;
            for engine in engines.clone() {
                let timing = ask(plan, &series, point, engine)?;
                tell(&timing);
                if timing.verdict.ends_with("limit") && series.axis != Axis::None {
                    engines.retain(|other| *other != engine);
                }
                timings.push(timing);
            }
            let spin = Spin::find().filter(|_| series.with_spin).map(|spin| ask_spin(plan, &series, point, &spin));
            if let Some(timing) = spin.transpose()?.flatten() {
                tell(&timing);
                timings.push(timing);
            }
        }
    }
    Ok(timings)
}

fn ask(plan: &Plan, series: &Series, point: &Point, engine: &str) -> io::Result<Timing> {
    let mut command = Command::new(&plan.selvedge);
    command.args(["check", "--engine", engine, "--contexts", &format!("1..{}", point.contexts)]);
    let limit = plan.limit_of(engine);
    command.args(["--time-limit", &format!("{}s", limit.as_secs().max(1))]);
    command.arg(plan.scratch.join(format!("{}.bp", point.program)));
    let found_at = Cell::new(None);
    let read = |text: &str, code: Option<i32>| {
        found_at.set(error_within(text));
        match verdict(text, code).as_str() {
            "unknown" => "no error".to_string(),
            word => word.to_string(),
        }
    };
    let measured = measure(&mut command, limit, &read)?;
    Ok(Timing {
        series: series.name,
        program: point.program.clone(),
        threads: point.threads,
        contexts: Some(point.contexts),
        tool: engine.to_string(),
        verdict: measured.verdict,
        found_at: found_at.get(),
        seconds: measured.seconds,
        processor_seconds: measured.processor.unwrap_or(measured.seconds),
        peak_bytes: measured.peak,
    })
}

/// Returns the number in `an error within 2 contexts per thread`.
fn error_within(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("an error within ")?;
    rest.split_whitespace().next()?.parse().ok()
}

fn ask_spin(plan: &Plan, series: &Series, point: &Point, spin: &Spin) -> io::Result<Option<Timing>> {
    let file = plan.scratch.join(format!("{}.bp", point.program));
    let question = Question { threads: Some(point.threads as u32), ..Question::default() };
    let asked = Asked { file: &file, question: &question, limit: plan.limit, scratch: &plan.scratch };
    let Some(mut command) = spin.command(&asked)? else { return Ok(None) };
    let measured = measure(&mut command, plan.limit, &|text, code| spin.verdict(text, code))?;
    Ok(Some(Timing {
        series: series.name,
        program: point.program.clone(),
        threads: point.threads,
        contexts: None,
        tool: spin.name(),
        verdict: measured.verdict,
        found_at: None,
        seconds: measured.seconds,
        processor_seconds: measured.processor.unwrap_or(measured.seconds),
        peak_bytes: measured.peak,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_can_be_read_and_have_the_threads_they_say() {
        for point in series().iter().flat_map(|series| &series.points) {
            let loaded = selvedge_frontend::bp::load(&point.text, &selvedge_frontend::bp::LoadOptions::default());
            let program = loaded.program.unwrap_or_else(|| panic!("{}: {:?}", point.program, loaded.diagnostics));
            let count = |entry: &selvedge_ir::Entry| match entry.count {
                selvedge_ir::Count::Exactly(count) => count as usize,
                _ => 0,
            };
            assert_eq!(program.entries.iter().map(count).sum::<usize>(), point.threads, "{}", point.program);
        }
    }

    #[test]
    fn the_number_of_contexts_is_read_off_the_report() {
        assert_eq!(error_within("  contexts  4 at 1; an error within 2 contexts per thread\n"), Some(2));
        assert_eq!(error_within("no error within 2 contexts per thread"), None);
    }
}
