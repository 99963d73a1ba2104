//! The benchmarks: `bench/run` calls this with release builds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use selvedge_bench::figures::{self, figures};
use selvedge_bench::integers as table_of_integers;
use selvedge_bench::output::Output;
use selvedge_bench::suite::Group;
use selvedge_bench::table::{Page, is_group};
use selvedge_bench::tool::{Ours, Tool, is_for_threads, switches};
use selvedge_bench::{Plan, Record, contradictions, plot, rounds, run, suite, turns};
use selvedge_check::Question;
use selvedge_driver::external::{Spacer, Spin, find_solvers};
use selvedge_engines::EngineKind;
use selvedge_testkit::corpus::root;

const USAGE: &str = "\
usage: bench [threads|unbounded|everything] [--families a,b] [--engines a,b] [--tools a,b] [--max-size N]
             [--limit SECONDS] [--peer-limit SECONDS] [--against PROGRAM] [--out FOLDER]
       bench integers [--families a,b] [--engines a,b] [--limit SECONDS] [--out FOLDER]
       bench contexts [--families a,b] [--engines a,b] [--limit SECONDS] [--eager-limit SECONDS] [--out FOLDER]
       bench rounds [--families a,b] [--limit SECONDS] [--out FOLDER] [--programs FOLDER]

Families: reading, corpus, and those of crates/bench/src/families.rs; with `threads` those of
crates/bench/src/concurrent, corpus-2, corpus-3 and corpus-4, and every engine with and without each reduction;
with `unbounded` corpus-tts-one, corpus-tts-any, corpus-bp and families; with `everything` the portfolio on all
programs; with `contexts` the series of crates/bench/src/turns; with `rounds` the programs of crates/bench/src/rounds,
which `--programs` only writes into a folder.
`--against` compares with another version of `selvedge`, which runs on each program as well.
`--tools` keeps the named ones, an engine's switches being part of the name: `threads-explicit ample`.
Writes results.json and README.md into bench/results/<suite> and plots into docs/plots/<suite>, or everything into the
folder that `--out` names.
";

/// The name of another version of Selvedge in the results.
const OTHER_VERSION: &str = "before";

/// The suites of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Suite {
    Sequential,
    Threads,
    Unbounded,
    Everything,
}

impl Suite {
    fn peer(self) -> &'static str {
        match self {
            Suite::Sequential => "spacer",
            Suite::Threads => "spin",
            Suite::Unbounded | Suite::Everything => "",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Suite::Sequential => "sequential",
            Suite::Threads => "threads",
            Suite::Unbounded => "unbounded",
            Suite::Everything => "everything",
        }
    }

    /// Returns the time limit for each run on a program of a corpus.
    fn corpus_limit(self) -> Duration {
        match self {
            Suite::Sequential => Duration::from_secs(3),
            Suite::Threads | Suite::Unbounded | Suite::Everything => Duration::from_secs(10),
        }
    }

    /// Returns the engines that run unless others are named; `None` is the portfolio.
    fn engines(self) -> Vec<Option<EngineKind>> {
        const UNBOUNDED: [EngineKind; 6] = [
            EngineKind::Views,
            EngineKind::ViewsExplicit,
            EngineKind::KarpMiller,
            EngineKind::KarpMillerExplicit,
            EngineKind::Backward,
            EngineKind::Cutoff,
        ];
        let is_asked = |engine: &EngineKind| match self {
            Suite::Sequential => {
                let others = [EngineKind::Exhaustive, EngineKind::Rounds];
                !is_for_threads(*engine) && !others.contains(engine) && !UNBOUNDED.contains(engine)
            }
            Suite::Threads => is_for_threads(*engine),
            Suite::Unbounded => UNBOUNDED.contains(engine),
            Suite::Everything => false,
        };
        std::iter::once(None).chain(EngineKind::ALL.iter().copied().filter(is_asked).map(Some)).collect()
    }

    /// Returns the question about the trivial program.
    fn trivial(self) -> Question {
        let threads = match self {
            Suite::Sequential | Suite::Threads => Some(1),
            Suite::Unbounded | Suite::Everything => None,
        };
        Question { threads, ..Question::default() }
    }

    fn groups(self) -> Result<Vec<Group>, String> {
        match self {
            Suite::Sequential => Ok(suite::sequential()),
            Suite::Threads => Ok(suite::threads()),
            Suite::Unbounded => suite::unbounded(),
            Suite::Everything => suite::everything(),
        }
    }
}

struct Options {
    plan: Plan,
    output: Output,
}

/// The reason why a run has no results.
enum Failure {
    /// The command line is invalid.
    Usage(String),
    /// Something could not be written or started.
    Io(io::Error),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Usage(message)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Io(error)
    }
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    let suite = words.next_if(|word| !word.starts_with("--"));
    let end = match suite.as_deref() {
        None => parse(Suite::Sequential, words).and_then(|options| execute(&options)),
        Some("threads") => parse(Suite::Threads, words).and_then(|options| execute(&options)),
        Some("unbounded") => parse(Suite::Unbounded, words).and_then(|options| execute(&options)),
        Some("everything") => parse(Suite::Everything, words).and_then(|options| execute(&options)),
        Some("contexts") => contexts(words),
        Some("rounds") => in_rounds(words),
        Some("integers") => integers(words),
        Some(other) => Err(Failure::Usage(format!("unknown suite `{other}`"))),
    };
    end.unwrap_or_else(|failure| match failure {
        Failure::Usage(message) => {
            eprintln!("{message}\n\n{USAGE}");
            ExitCode::from(1)
        }
        Failure::Io(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    })
}

/// Prints what contradicts an expected verdict, and returns the exit code.
fn end(contradictions: &[String]) -> ExitCode {
    contradictions.iter().for_each(|line| eprintln!("{line}"));
    if contradictions.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(6) }
}

/// Reads the command line as options with values.
fn each_option(
    mut words: impl Iterator<Item = String>,
    mut read: impl FnMut(&str, String) -> Result<(), String>,
) -> Result<(), String> {
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        read(&option, value)?;
    }
    Ok(())
}

fn unknown(option: &str) -> Result<(), String> {
    Err(format!("unknown option `{option}`"))
}

fn list(value: &str) -> Vec<String> {
    value.split(',').map(str::to_string).collect()
}

fn seconds(value: &str) -> Result<Duration, String> {
    value.parse().map(Duration::from_secs).map_err(|_| format!("`{value}` is not a number"))
}

/// Runs the programs with one kernel and any number of drivers.
fn in_rounds(words: impl Iterator<Item = String>) -> Result<ExitCode, Failure> {
    let (mut limit, mut families, mut programs) = (Duration::from_secs(30), Vec::new(), None);
    let mut output = Output::of_suite(&root(), "rounds");
    each_option(words, |option, value| {
        match option {
            "--families" => families = list(&value),
            "--limit" => limit = seconds(&value)?,
            "--out" => output = Output::folder(PathBuf::from(value)),
            "--programs" => programs = Some(PathBuf::from(value)),
            _ => return unknown(option),
        }
        Ok(())
    })?;
    let wanted = |instance: &rounds::Instance| families.is_empty() || families.contains(&instance.family);
    if let Some(folder) = programs {
        return Ok(write_programs(&folder, rounds::instances().into_iter().filter(wanted))?);
    }
    let mut rows = Vec::new();
    for instance in rounds::instances().into_iter().filter(wanted) {
        let row = rounds::measure(&instance, limit);
        let answers = [&row.two_threads, &row.rounds, &row.views, &row.auto].into_iter().chain(&row.adequacy);
        let cells = answers.map(|answer| format!("{:<9} {:>7.3} s", answer.verdict, answer.seconds));
        println!("{:<14} {:>3}  {}", row.family, row.number, cells.collect::<Vec<_>>().join("  "));
        rows.push(row);
    }
    output.write_records(&rows)?;
    output.write_page(&rounds::markdown(&rows, limit.as_secs_f64()))?;
    Ok(end(&rounds::contradictions(&rows)))
}

fn write_programs(folder: &Path, instances: impl Iterator<Item = rounds::Instance>) -> std::io::Result<ExitCode> {
    std::fs::create_dir_all(folder)?;
    for instance in instances {
        std::fs::write(folder.join(format!("{}-{}.bp", instance.family, instance.number)), &instance.text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the guarded commands and compares with the published tables.
fn integers(words: impl Iterator<Item = String>) -> Result<ExitCode, Failure> {
    let (mut limit, mut output) = (Duration::from_secs(60), Output::of_suite(&root(), "integers"));
    let (mut only, mut engines) = (Vec::new(), Vec::new());
    each_option(words, |option, value| {
        match option {
            "--limit" => limit = seconds(&value)?,
            "--families" => only = list(&value),
            "--engines" => engines = list(&value),
            "--out" => output = Output::folder(PathBuf::from(value)),
            _ => return unknown(option),
        }
        Ok(())
    })?;
    let solvers = find_solvers(&selvedge_check::Solvers::default());
    print!("{}", table_of_integers::head());
    let wanted = |names: &[String], name: &str| names.is_empty() || names.iter().any(|known| known == name);
    let mut rows = Vec::new();
    for row in selvedge_testkit::integers::rows().into_iter().filter(|row| wanted(&only, &row.name)) {
        let ask = |engine: &&str| {
            wanted(&engines, engine).then(|| table_of_integers::ask(&row, engine, limit, &solvers)).flatten()
        };
        let cells: Vec<_> = table_of_integers::ENGINES.iter().map(ask).collect();
        print!("{}", table_of_integers::line(&row, &cells));
        rows.push((row, cells));
    }
    let wrong = rows.iter().flat_map(|(_, cells)| cells).flatten().filter(|cell| cell.verdict == "wrong").count();
    print!("{}", table_of_integers::summary(&rows));
    output.write_page(&table_of_integers::page(&rows, limit))?;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(6) })
}

/// Runs the series of programs whose threads take turns.
fn contexts(words: impl Iterator<Item = String>) -> Result<ExitCode, Failure> {
    let mut plan = turns::Plan {
        selvedge: std::env::current_exe()?.with_file_name("selvedge"),
        series: Vec::new(),
        engines: vec!["contexts".to_string(), "contexts-eager".to_string()],
        limit: Duration::from_secs(60),
        eager_limit: Duration::from_secs(60),
        scratch: std::env::temp_dir().join("selvedge-bench-contexts"),
    };
    let mut output = Output::of_suite(&root(), "contexts");
    each_option(words, |option, value| {
        match option {
            "--families" => plan.series = list(&value),
            "--engines" => plan.engines = list(&value),
            "--limit" => plan.limit = seconds(&value)?,
            "--eager-limit" => plan.eager_limit = seconds(&value)?,
            "--out" => output = Output::folder(PathBuf::from(value)),
            _ => return unknown(option),
        }
        Ok(())
    })?;
    let tell = |timing: &turns::Timing| {
        let turns::Timing { program, contexts, tool, verdict, seconds, .. } = timing;
        let contexts = contexts.map_or("-".to_string(), |contexts| contexts.to_string());
        println!("{program:<28} {contexts:>2} {tool:<16} {verdict:<12} {seconds:>8.3} s");
    };
    let timings = turns::run(&plan, &mut { tell })?;
    output.write_records(&timings)?;
    output.write_page(&turns::fit::markdown(&timings, &plan, &output))?;
    for series in turns::series() {
        if let Some(svg) = turns::fit::svg(&timings, &series) {
            output.write_plot(&turns::fit::file_name(&series), &svg)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(suite: Suite, words: impl Iterator<Item = String>) -> Result<Options, Failure> {
    let beside = std::env::current_exe()?.with_file_name("selvedge");
    let mut engines = suite.engines();
    let mut plan = Plan {
        selvedge: beside,
        tools: Vec::new(),
        groups: Vec::new(),
        families: Vec::new(),
        reads: suite == Suite::Sequential,
        trivial: suite.trivial(),
        max_size: None,
        limit: Duration::from_secs(10),
        corpus_limit: suite.corpus_limit(),
        peer: suite.peer(),
        peer_limit: None,
        scratch: std::env::temp_dir().join("selvedge-bench"),
    };
    let mut output = Output::of_suite(&root(), suite.name());
    let (mut kept, mut against): (Option<Vec<String>>, Option<PathBuf>) = (None, None);
    each_option(words, |option, value| {
        match option {
            "--families" => plan.families = list(&value),
            "--engines" => engines = value.split(',').map(engine).collect::<Result<_, _>>()?,
            "--tools" => kept = Some(list(&value)),
            "--peer-limit" => plan.peer_limit = Some(seconds(&value)?),
            "--against" => against = Some(PathBuf::from(value)),
            "--max-size" => plan.max_size = Some(value.parse().map_err(|_| format!("`{value}` is not a number"))?),
            "--limit" => (plan.limit, plan.corpus_limit) = (seconds(&value)?, seconds(&value)?),
            "--out" => output = Output::folder(PathBuf::from(value)),
            _ => return unknown(option),
        }
        Ok(())
    })?;
    plan.tools = tools(suite, &engines, &plan.selvedge);
    if let Some(kept) = kept {
        plan.tools.retain(|tool| kept.contains(&tool.name()));
    }
    if let Some(selvedge) = against {
        plan.tools.push(Box::new(Ours { selvedge, engine: None, switches: Vec::new(), name: Some(OTHER_VERSION) }));
        plan.peer = OTHER_VERSION;
    }
    plan.groups = suite.groups()?;
    Ok(Options { plan, output })
}

/// Returns the engine with a name, `None` for the portfolio.
fn engine(name: &str) -> Result<Option<EngineKind>, String> {
    match EngineKind::from_name(name) {
        _ if name == "auto" => Ok(None),
        Some(engine) => Ok(Some(engine)),
        None => Err(format!("there is no engine `{name}`")),
    }
}

/// Returns the engines, those for threads with each of their switches, and the peer.
fn tools(suite: Suite, engines: &[Option<EngineKind>], selvedge: &Path) -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> = Vec::new();
    for engine in engines.iter().copied() {
        for switches in switches(engine) {
            tools.push(Box::new(Ours { selvedge: selvedge.to_path_buf(), engine, switches, name: None }));
        }
    }
    match suite {
        Suite::Sequential => tools.extend(Spacer::find().map(|spacer| Box::new(spacer) as Box<dyn Tool>)),
        Suite::Threads => tools.extend(Spin::find().map(|spin| Box::new(spin) as Box<dyn Tool>)),
        Suite::Unbounded | Suite::Everything => {}
    }
    tools
}

fn execute(options: &Options) -> Result<ExitCode, Failure> {
    let Options { plan, output } = options;
    let peer = plan.peer;
    if !peer.is_empty() && !plan.tools.iter().any(|tool| tool.name() == peer) {
        eprintln!("{peer} was not found: there is no peer to compare with");
    }
    let tell = |record: &Record| {
        let Record { instance, tool, verdict, seconds, .. } = record;
        println!("{instance:<32} {tool:<28} {verdict:<12} {seconds:>8.3} s");
    };
    let records = run(plan, &mut { tell })?;
    let limit = plan.limit.as_secs_f64();
    let peer_limit = plan.peer_limit.unwrap_or(plan.limit).as_secs_f64();
    output.write_records(&records)?;
    let mut page = Page { records: &records, limit, peer, peer_limit }.markdown();
    let figures = figures(&records, limit);
    if !figures.is_empty() {
        page.push_str("\n## Switches\n\n");
        page.push_str(&figures::markdown(&figures));
    }
    if peer == OTHER_VERSION {
        page.push_str(&Page { records: &records, limit, peer, peer_limit }.versions());
    }
    let scatters = figures.iter().map(|figure| (format!("figure-{}", figure.figure), figure.svg()));
    for (name, svg) in growth_plots(&records).into_iter().chain(scatters) {
        output.write_plot(&format!("{name}.svg"), &svg)?;
        page.push_str(&output.image(&name, &format!("{name}.svg")));
    }
    output.write_page(&page)?;
    Ok(end(&contradictions(&records)))
}

/// Draws a plot for each family that has one.
fn growth_plots(records: &[Record]) -> Vec<(String, String)> {
    let mut families: Vec<&str> = records.iter().map(|record| record.family.as_str()).collect();
    families.dedup();
    let draw = |family: &str| {
        let svg = if is_group(family) { plot::cactus(records, family) } else { plot::svg(records, family) };
        svg.map(|svg| (family.to_string(), svg))
    };
    families.into_iter().filter(|family| *family != "reading").filter_map(draw).collect()
}
