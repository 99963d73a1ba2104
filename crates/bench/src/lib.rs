//! The benchmarks: families of programs, each run of each tool in its own process, against a peer in the same run.
//!
//! Times are those of a whole process. A tool's *net* time leaves out what it takes for a trivial program, and is at
//! least a millisecond; ratios are those of net times. A tool that reached the limit on one size of a family does not
//! run on the next, and counts with the limit, so that ratios are too small rather than too large.

pub mod c;
pub mod c_headers;
pub mod c_peer;
pub mod concurrent;
pub mod families;
pub mod integers;
pub mod suite;
pub mod turns;

pub mod measure;
mod spin;
pub mod tool;

pub mod figures;
pub mod output;
pub mod plot;
pub mod rounds;
pub mod table;

#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde::Serialize;

use measure::measure;
use selvedge_check::Question;
use selvedge_testkit::corpus::Expected;
use suite::{Group, Growth, Instance, Text};
use tool::{Asked, Tool};

/// The programs, tools and limits of a run.
pub struct Plan {
    /// The program `selvedge`.
    pub selvedge: PathBuf,
    /// The tools.
    pub tools: Vec<Box<dyn Tool>>,
    /// The programs.
    pub groups: Vec<Group>,
    /// Includes the measurement of reading.
    pub reads: bool,
    /// The question about the trivial program.
    pub trivial: Question,
    /// The greatest size; `None` for all.
    pub max_size: Option<usize>,
    /// The time for each run.
    pub limit: Duration,
    /// The time for each run on programs that do not grow.
    pub corpus_limit: Duration,
    /// The tool with which ours are compared.
    pub peer: &'static str,
    /// The peer's time limit for programs that grow, if it differs from `limit`.
    pub peer_limit: Option<Duration>,
    /// The folder for generated programs.
    pub scratch: PathBuf,
}

/// One run of one tool.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Record {
    /// The family, `reading` or `corpus`.
    pub family: String,
    /// The instance.
    pub instance: String,
    /// Its size, or its lines.
    pub size: usize,
    /// The correct verdict, where it is known.
    pub expected: Option<&'static str>,
    /// The tool.
    pub tool: String,
    /// The verdict of the tool.
    pub verdict: String,
    /// Wall-clock seconds of the process.
    pub seconds: f64,
    /// The same without the time of a trivial program.
    pub net_seconds: f64,
    /// Seconds of processor time, counted in hundredths, where the system reports it.
    pub processor_seconds: Option<f64>,
    /// The greatest resident memory in bytes.
    pub peak_bytes: Option<u64>,
    /// Seconds of preparation that do not count: a translation, a compiler.
    pub prepare_seconds: f64,
    /// The number of states that the tool stored, where it reports it.
    pub states: Option<u64>,
    /// Further information: for the portfolio the winning engine, for the engine `cutoff` the cutoff, for engines with
    /// a bound on contexts the number within which there is an error.
    pub note: Option<String>,
}

impl Record {
    /// Returns whether the tool decided.
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict.as_str(), "safe" | "unsafe")
    }
}

/// The trivial program, for the time that a process takes to start. It is unsafe, which all tools can detect.
const TRIVIAL: &str = "decl x;\nvoid main() begin\n  x := F;\n  assert(x);\nend\n";

struct Bench<'p> {
    plan: &'p Plan,
    /// The times for the trivial program, by tool. A tool that does not decide it (because the engine lacks a switch)
    /// is not run on anything else.
    startup: Vec<(String, f64)>,
    records: Vec<Record>,
}

/// Runs the plan. `tell` is called with each record.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(&Record)) -> std::io::Result<Vec<Record>> {
    std::fs::create_dir_all(&plan.scratch)?;
    let mut bench = Bench { plan, startup: Vec::new(), records: Vec::new() };
    bench.measure_startup()?;
    if plan.reads {
        bench.reading(tell)?;
    }
    for group in &plan.groups {
        bench.group(group, tell)?;
    }
    Ok(bench.records)
}

impl Plan {
    /// Returns the time limit for one run of a tool.
    fn limit(&self, growth: Growth, tool: &dyn Tool) -> Duration {
        match growth {
            Growth::Unrelated => self.corpus_limit,
            Growth::Ascending if tool.name() == self.peer => self.peer_limit(),
            Growth::Ascending => self.limit,
        }
    }

    /// Returns the peer's time limit for programs that grow.
    pub fn peer_limit(&self) -> Duration {
        self.peer_limit.unwrap_or(self.limit)
    }

    fn allows(&self, size: usize) -> bool {
        self.max_size.is_none_or(|max| size <= max)
    }
}

impl Bench<'_> {
    fn measure_startup(&mut self) -> std::io::Result<()> {
        let file = self.plan.scratch.join("trivial.bp");
        std::fs::write(&file, TRIVIAL)?;
        let Plan { trivial: question, limit, scratch, .. } = self.plan;
        for tool in &self.plan.tools {
            let mut least = f64::INFINITY;
            for contexts in [None, Some(1)].repeat(3) {
                let asked = Asked { file: &file, question, contexts, limit: *limit, scratch };
                let measured = ask(&**tool, &asked)?.filter(|measured| measured.verdict == "unsafe");
                least = measured.map_or(least, |measured| least.min(measured.seconds));
            }
            if least.is_finite() {
                self.startup.push((tool.name(), least));
            }
        }
        Ok(())
    }

    /// Completes the record of a run and keeps it.
    fn record(&mut self, family: &str, place: &Instance, tool: &str, run: Record, tell: &mut dyn FnMut(&Record)) {
        let startup = self.startup.iter().find(|(name, _)| name == tool).map_or(0.0, |(_, seconds)| *seconds);
        let record = Record {
            family: family.to_string(),
            instance: place.name.clone(),
            size: place.size,
            expected: place.expected.map(Expected::word),
            tool: tool.to_string(),
            net_seconds: (run.seconds - startup).max(0.001),
            ..run
        };
        tell(&record);
        self.records.push(record);
    }

    /// Measures reading: texts are parsed, without a search.
    fn reading(&mut self, tell: &mut dyn FnMut(&Record)) -> std::io::Result<()> {
        for size in [10_000, 1_000_000].into_iter().filter(|size| self.plan.allows(*size)) {
            let file = self.plan.scratch.join(format!("lines-{size}.bp"));
            std::fs::write(&file, families::lines(size))?;
            let mut command = Command::new(&self.plan.selvedge);
            let measured =
                measure(command.args(["show", "stats"]).arg(&file), Duration::from_secs(120), &measure::verdict)?;
            let (name, question, text) = (size.to_string(), Question::default(), Text::File(file.clone()));
            let place = Instance { name, size, expected: None, question, contexts: None, text };
            self.record("reading", &place, "reader", measured, tell);
            std::fs::remove_file(&file)?;
        }
        Ok(())
    }

    fn group(&mut self, group: &Group, tell: &mut dyn FnMut(&Record)) -> std::io::Result<()> {
        let takes_part = |tool: &&dyn Tool| self.startup.iter().any(|(name, _)| *name == tool.name());
        let mut tools: Vec<&dyn Tool> = self.plan.tools.iter().map(|tool| &**tool).filter(takes_part).collect();
        for instance in group.instances.iter().filter(|instance| self.plan.allows(instance.size)) {
            let (file, is_ours) = match &instance.text {
                Text::File(file) => (file.clone(), false),
                Text::Made(make) => {
                    let file = self.plan.scratch.join(format!("{}.bp", instance.name.replace('/', "-")));
                    std::fs::write(&file, make())?;
                    (file, true)
                }
            };
            let Plan { scratch, .. } = self.plan;
            for tool in tools.clone() {
                let limit = self.plan.limit(group.growth, tool);
                let Instance { question, contexts, .. } = instance;
                let asked = Asked { file: &file, question, contexts: *contexts, limit, scratch };
                let Some(measured) = ask(tool, &asked)? else { continue };
                if ["time limit", "memory limit"].contains(&measured.verdict.as_str())
                    && group.growth == Growth::Ascending
                {
                    tools.retain(|other| other.name() != tool.name());
                }
                self.record(&group.family, instance, &tool.name(), measured, tell);
            }
            if is_ours {
                std::fs::remove_file(&file)?;
            }
        }
        Ok(())
    }
}

/// Runs a tool once in each configuration and returns the best result: one that decides is better than one that does
/// not, then the faster. `None` if the tool does not support the program.
fn ask(tool: &dyn Tool, asked: &Asked<'_>) -> std::io::Result<Option<Record>> {
    let Some(mut best) = ask_as_configured(tool, asked, None)? else { return Ok(None) };
    for option in tool.configurations() {
        let Some(other) = ask_as_configured(tool, asked, Some(option))? else { continue };
        let key = |run: &Record| (!run.is_decided(), run.seconds);
        if key(&other) < key(&best) {
            best = other;
        }
    }
    Ok(Some(best))
}

/// Runs a tool once, with one more option if there is one.
fn ask_as_configured(tool: &dyn Tool, asked: &Asked<'_>, option: Option<&str>) -> std::io::Result<Option<Record>> {
    let start = Instant::now();
    let Some(mut command) = tool.command(asked)? else { return Ok(None) };
    command.args(option);
    let (prepare_seconds, states, note) = (start.elapsed().as_secs_f64(), Cell::new(None), Cell::new(None));
    let read = |text: &str, code: Option<i32>| {
        states.set(tool.states(text));
        note.set(tool.note(text));
        tool.verdict(text, code)
    };
    let measured = measure(&mut command, asked.limit, &read)?;
    Ok(Some(Record { prepare_seconds, states: states.get(), note: note.take(), ..measured }))
}

/// Returns a sentence for each instance on which two tools decided differently, or one gave an unexpected verdict.
pub fn contradictions(records: &[Record]) -> Vec<String> {
    let mut found = Vec::new();
    for record in records.iter().filter(|record| record.is_decided()) {
        let same = records.iter().filter(|other| other.instance == record.instance && other.is_decided());
        let first = same.map(|other| other.verdict.as_str()).next().unwrap_or_default();
        let right = record.expected.unwrap_or(first);
        if record.verdict != right {
            found.push(format!("{} is {right}, but {} says {}", record.instance, record.tool, record.verdict));
        }
    }
    found
}
