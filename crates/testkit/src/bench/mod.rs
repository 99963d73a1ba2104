//! The benchmarks: families of programs, each run of each tool in its own process, against a peer in the same run.
//!
//! Times are those of a whole process. A tool's *net* time leaves out what it takes for a trivial program, and is at
//! least a millisecond; ratios are those of net times. A tool that reached the limit on one size of a family is not
//! asked about the next, and counts with the limit, so that ratios are too small rather than too large.

pub mod families;
pub mod measure;
pub mod plot;
pub mod table;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use selvedge_driver::external::Spacer;
use selvedge_driver::{Question, Subject};
use selvedge_engines::EngineKind;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_report::{Context, Source, horn};
use serde::Serialize;

use crate::corpus::Expected;
use families::{FAMILIES, Family};
use measure::{Measured, measure};

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program `selvedge`.
    pub selvedge: PathBuf,
    /// The peer, where it is there.
    pub spacer: Option<Spacer>,
    /// The engines.
    pub engines: Vec<EngineKind>,
    /// The families by name; empty for all. `reading` and `corpus` are two more.
    pub families: Vec<String>,
    /// The greatest size; `None` for all.
    pub max_size: Option<usize>,
    /// The time for each run.
    pub limit: Duration,
    /// Where programs are written.
    pub scratch: PathBuf,
}

/// One run of one tool.
#[derive(Clone, Debug, Serialize)]
pub struct Record {
    /// The family, `reading` or `corpus`.
    pub family: String,
    /// The instance.
    pub instance: String,
    /// Its size, or its lines.
    pub size: usize,
    /// What it must be, where that is known.
    pub expected: Option<&'static str>,
    /// Who was asked.
    pub tool: String,
    /// What it said.
    pub verdict: String,
    /// Wall-clock seconds of the process.
    pub seconds: f64,
    /// The same without what a trivial program takes.
    pub net_seconds: f64,
    /// The greatest resident memory in bytes.
    pub peak_bytes: Option<u64>,
}

/// The name of the peer.
pub const PEER: &str = "spacer";

impl Record {
    /// Whether the tool decided.
    pub fn is_decided(&self) -> bool {
        matches!(self.verdict.as_str(), "safe" | "unsafe")
    }
}

/// The trivial program, for the time that a process takes to start.
const TRIVIAL: &str = "decl x;\nvoid main() begin\n  x := T;\n  assert(x);\nend\n";

struct Bench<'p> {
    plan: &'p Plan,
    /// What a trivial program takes, by tool.
    startup: Vec<(String, f64)>,
    records: Vec<Record>,
}

/// Runs the plan. `tell` hears of each record.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(&Record)) -> std::io::Result<Vec<Record>> {
    std::fs::create_dir_all(&plan.scratch)?;
    let mut bench = Bench { plan, startup: Vec::new(), records: Vec::new() };
    bench.measure_startup()?;
    if plan.wants("reading") {
        bench.reading(tell)?;
    }
    for family in FAMILIES.iter().filter(|family| plan.wants(family.name)) {
        bench.family(family, tell)?;
    }
    if plan.wants("corpus") {
        bench.corpus(tell)?;
    }
    Ok(bench.records)
}

impl Plan {
    fn wants(&self, family: &str) -> bool {
        self.families.is_empty() || self.families.iter().any(|wanted| wanted == family)
    }

    fn allows(&self, size: usize) -> bool {
        self.max_size.is_none_or(|max| size <= max)
    }

    fn tools(&self) -> Vec<String> {
        let engines = self.engines.iter().map(|engine| engine.name().to_string());
        engines.chain(self.spacer.iter().map(|_| PEER.to_string())).collect()
    }

    /// The command that asks a tool about a program; `None` if the program cannot be put to it.
    fn command(&self, tool: &str, file: &Path) -> std::io::Result<Option<Command>> {
        let seconds = self.limit.as_secs().max(1);
        if let (PEER, Some(spacer)) = (tool, &self.spacer) {
            let Some(clauses) = clauses(file)? else { return Ok(None) };
            let path = self.scratch.join("clauses.smt2");
            std::fs::write(&path, clauses)?;
            let mut command = Command::new(spacer.path());
            command.arg(format!("-T:{seconds}")).arg(path);
            return Ok(Some(command));
        }
        let mut command = Command::new(&self.selvedge);
        command.args(["check", "--quiet", "--engine", tool, "--time-limit", &format!("{seconds}s")]).arg(file);
        Ok(Some(command))
    }
}

/// The Horn clauses of a program.
pub fn clauses(file: &Path) -> std::io::Result<Option<String>> {
    let text = std::fs::read_to_string(file)?;
    let loaded = load(&text, &LoadOptions::default());
    let Some(program) = loaded.program else { return Ok(None) };
    let subject = Subject { program: &program, map: &loaded.source_map, text: &text };
    let Ok((asked, target, _)) = Question::default().pose(subject) else { return Ok(None) };
    let source = Source::new(file.display().to_string(), text.clone());
    Ok(horn::render(Context { program: &asked, map: &loaded.source_map, source: &source }, &target).ok())
}

impl Bench<'_> {
    fn measure_startup(&mut self) -> std::io::Result<()> {
        let file = self.plan.scratch.join("trivial.bp");
        std::fs::write(&file, TRIVIAL)?;
        for tool in self.plan.tools() {
            let mut least = f64::INFINITY;
            for _ in 0..3 {
                let command = self.plan.command(&tool, &file)?;
                let mut command = command.expect("every tool takes the trivial program");
                least = least.min(measure(&mut command, self.plan.limit)?.seconds);
            }
            self.startup.push((tool, least));
        }
        Ok(())
    }

    fn record(&mut self, place: &Instance, tool: &str, measured: Measured, tell: &mut dyn FnMut(&Record)) {
        let startup = self.startup.iter().find(|(name, _)| name == tool).map_or(0.0, |(_, seconds)| *seconds);
        let record = Record {
            family: place.family.to_string(),
            instance: place.name.clone(),
            size: place.size,
            expected: place.expected,
            tool: tool.to_string(),
            net_seconds: (measured.seconds - startup).max(0.001),
            verdict: measured.verdict,
            seconds: measured.seconds,
            peak_bytes: measured.peak,
        };
        tell(&record);
        self.records.push(record);
    }

    /// How long reading takes: texts, without a search.
    fn reading(&mut self, tell: &mut dyn FnMut(&Record)) -> std::io::Result<()> {
        for n_lines in [10_000, 1_000_000].into_iter().filter(|size| self.plan.allows(*size)) {
            let file = self.plan.scratch.join(format!("lines-{n_lines}.bp"));
            std::fs::write(&file, families::lines(n_lines))?;
            let mut command = Command::new(&self.plan.selvedge);
            let measured = measure(command.args(["show", "stats"]).arg(&file), Duration::from_secs(120))?;
            let place = Instance { family: "reading", name: n_lines.to_string(), size: n_lines, expected: None };
            self.record(&place, "reader", measured, tell);
            std::fs::remove_file(&file)?;
        }
        Ok(())
    }

    fn family(&mut self, family: &'static Family, tell: &mut dyn FnMut(&Record)) -> std::io::Result<()> {
        let mut tools = self.plan.tools();
        for size in family.sizes.iter().copied().filter(|size| self.plan.allows(*size)) {
            let file = self.plan.scratch.join(format!("{}-{size}.bp", family.name));
            std::fs::write(&file, (family.make)(size))?;
            let expected = Some(word(family.expected));
            let place = Instance { family: family.name, name: format!("{}-{size}", family.name), size, expected };
            for tool in tools.clone() {
                let Some(mut command) = self.plan.command(&tool, &file)? else { continue };
                let measured = measure(&mut command, self.plan.limit)?;
                if measured.verdict == "time limit" {
                    tools.retain(|other| *other != tool);
                }
                self.record(&place, &tool, measured, tell);
            }
        }
        Ok(())
    }

    fn corpus(&mut self, tell: &mut dyn FnMut(&Record)) -> std::io::Result<()> {
        for file in families::corpus() {
            let parts: Vec<_> = file.iter().rev().take(2).map(|part| part.to_string_lossy().into_owned()).collect();
            let name = parts.into_iter().rev().collect::<Vec<_>>().join("/");
            let size = std::fs::read_to_string(&file)?.lines().count();
            let place = Instance { family: "corpus", name, size, expected: None };
            for tool in self.plan.tools() {
                let Some(mut command) = self.plan.command(&tool, &file)? else { continue };
                let measured = measure(&mut command, self.plan.limit)?;
                self.record(&place, &tool, measured, tell);
            }
        }
        Ok(())
    }
}

struct Instance {
    family: &'static str,
    name: String,
    size: usize,
    expected: Option<&'static str>,
}

fn word(expected: Expected) -> &'static str {
    match expected {
        Expected::Safe => "safe",
        Expected::Unsafe => "unsafe",
    }
}

/// Instances on which two tools decided differently, or one not as it must: a sentence each.
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
