//! The benchmarks: `bench/run` calls this with release builds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use selvedge_bench::figures::{self, figures};
use selvedge_bench::gallery;
use selvedge_bench::integers as table_of_integers;
use selvedge_bench::suite::Group;
use selvedge_bench::table::{Page, is_group};
use selvedge_bench::tool::{Ours, Tool, is_for_threads, switches};
use selvedge_bench::{Plan, Record, contradictions, plot, rounds, run, suite, turns};
use selvedge_driver::Question;
use selvedge_driver::external::{Spacer, Spin, find_solvers};
use selvedge_engines::EngineKind;
use selvedge_testkit::corpus::root;

const USAGE: &str = "\
usage: bench [threads|unbounded|everything] [--families a,b] [--engines a,b] [--tools a,b] [--max-size N] [--limit SECONDS]
             [--peer-limit SECONDS] [--out FOLDER]
       bench integers [--families a,b] [--engines a,b] [--limit SECONDS] [--out FOLDER]
       bench contexts [--families a,b] [--engines a,b] [--limit SECONDS] [--eager-limit SECONDS] [--out FOLDER]
       bench rounds [--families a,b] [--limit SECONDS] [--out FOLDER] [--programs FOLDER]
       bench plots

Families: reading, corpus, and those of crates/bench/src/families.rs; with `threads` those of
crates/bench/src/concurrent, corpus-2, corpus-3 and corpus-4, and every engine with and without each reduction;
with `unbounded` corpus-tts-one, corpus-tts-any, corpus-bp and families; with `everything` the portfolio on all programs.
`plots` measures nothing: it draws the plots of docs/plots.md from the results that are there.
`--tools` keeps the named ones, an engine's switches being part of the name: `threads-explicit ample`.
Writes results.json, README.md and a plot per family into the folder, bench/results unless told otherwise; with
`threads` into bench/results-threads, and figures.json, and so on. With `contexts` the series of crates/bench/src/turns, into
bench/results-contexts. With `rounds` the programs of crates/bench/src/rounds, into bench/results-rounds;
`--programs` only writes these programs into a folder.
";

/// Which programs.
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

    fn folder(self) -> &'static str {
        match self {
            Suite::Sequential => "bench/results",
            Suite::Threads => "bench/results-threads",
            Suite::Unbounded => "bench/results-unbounded",
            Suite::Everything => "bench/results-everything",
        }
    }

    /// The time for each run on a program of a corpus.
    fn corpus_limit(self) -> Duration {
        match self {
            Suite::Sequential => Duration::from_secs(3),
            Suite::Threads | Suite::Unbounded | Suite::Everything => Duration::from_secs(10),
        }
    }

    /// The engines that are asked unless others are named; `None` is the portfolio.
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

    /// How the trivial program is asked about.
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

/// Draws the plots of the documentation.
fn draw() -> Result<ExitCode, String> {
    let folder = root().join("docs/plots");
    let plots = gallery::plots(&root().join("bench"))?;
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    for (name, svg) in &plots {
        std::fs::write(folder.join(name), svg).map_err(|error| format!("{name}: {error}"))?;
    }
    println!("{} plots in {}", plots.len(), folder.display());
    Ok(ExitCode::SUCCESS)
}

struct Options {
    suite: Suite,
    plan: Plan,
    out: PathBuf,
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|word| word == "contexts") {
        return contexts(std::env::args().skip(2)).unwrap_or_else(|message| {
            eprintln!("{message}\n\n{USAGE}");
            ExitCode::from(1)
        });
    }
    if std::env::args().nth(1).is_some_and(|word| word == "rounds") {
        return in_rounds(std::env::args().skip(2)).unwrap_or_else(|message| {
            eprintln!("{message}\n\n{USAGE}");
            ExitCode::from(1)
        });
    }
    if std::env::args().nth(1).is_some_and(|word| word == "integers") {
        return integers(std::env::args().skip(2)).unwrap_or_else(|message| {
            eprintln!("{message}\n\n{USAGE}");
            ExitCode::from(1)
        });
    }
    if std::env::args().nth(1).is_some_and(|word| word == "plots") {
        return draw().unwrap_or_else(|message| {
            eprintln!("{message}");
            ExitCode::from(2)
        });
    }
    match parse(std::env::args().skip(1)) {
        Ok(options) => execute(&options).unwrap_or_else(|error| {
            eprintln!("{error}");
            ExitCode::from(2)
        }),
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            ExitCode::from(1)
        }
    }
}

/// The programs with one kernel and any number of drivers.
fn in_rounds(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let (mut limit, mut families) = (Duration::from_secs(30), Vec::new());
    let (mut out, mut programs) = (root().join("bench/results-rounds"), None);
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        match option.as_str() {
            "--families" => families = value.split(',').map(str::to_string).collect(),
            "--limit" => limit = Duration::from_secs(value.parse().map_err(|_| format!("`{value}` is no number"))?),
            "--out" => out = PathBuf::from(&value),
            "--programs" => programs = Some(PathBuf::from(&value)),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    let wanted = |instance: &rounds::Instance| families.is_empty() || families.contains(&instance.family);
    if let Some(folder) = programs {
        return write_programs(&folder, rounds::instances().into_iter().filter(wanted))
            .map_err(|error| error.to_string());
    }
    let mut rows = Vec::new();
    for instance in rounds::instances().into_iter().filter(wanted) {
        let row = rounds::measure(&instance, limit);
        let answers = [&row.two_threads, &row.rounds, &row.views, &row.auto].into_iter().chain(&row.adequacy);
        let told = answers.map(|answer| format!("{:<9} {:>7.3} s", answer.verdict, answer.seconds));
        println!("{:<14} {:>3}  {}", row.family, row.number, told.collect::<Vec<_>>().join("  "));
        rows.push(row);
    }
    write_rounds(&rows, limit, &out).map_err(|error| error.to_string())
}

fn write_programs(folder: &Path, instances: impl Iterator<Item = rounds::Instance>) -> std::io::Result<ExitCode> {
    std::fs::create_dir_all(folder)?;
    for instance in instances {
        std::fs::write(folder.join(format!("{}-{}.bp", instance.family, instance.number)), &instance.text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_rounds(rows: &[rounds::Row], limit: Duration, out: &Path) -> std::io::Result<ExitCode> {
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("results.json"), serde_json::to_string_pretty(rows)? + "\n")?;
    std::fs::write(out.join("README.md"), rounds::markdown(rows, limit.as_secs_f64()))?;
    let wrong = rounds::contradictions(rows);
    wrong.iter().for_each(|line| eprintln!("{line}"));
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(6) })
}

/// The tables of guarded commands, beside the published ones.
fn integers(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let (mut limit, mut out) = (Duration::from_secs(60), root().join("bench/results-integers"));
    let (mut only, mut engines) = (Vec::new(), Vec::new());
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let list = || value.split(',').map(str::to_string).collect::<Vec<String>>();
        match option.as_str() {
            "--limit" => limit = Duration::from_secs(value.parse().map_err(|_| format!("`{value}` is no number"))?),
            "--families" => only = list(),
            "--engines" => engines = list(),
            "--out" => out = PathBuf::from(value),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
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
    let page = table_of_integers::page(&rows, limit);
    let write = || std::fs::create_dir_all(&out).and_then(|()| std::fs::write(out.join("README.md"), page));
    write().map_err(|error| error.to_string())?;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(6) })
}

/// The series of programs whose threads take turns.
fn contexts(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let mut plan = turns::Plan {
        selvedge: std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("selvedge"),
        series: Vec::new(),
        engines: vec!["contexts".to_string(), "contexts-eager".to_string()],
        limit: Duration::from_secs(60),
        eager_limit: Duration::from_secs(60),
        scratch: std::env::temp_dir().join("selvedge-bench-contexts"),
    };
    let mut out = root().join("bench/results-contexts");
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let list = || value.split(',').map(str::to_string).collect();
        match option.as_str() {
            "--families" => plan.series = list(),
            "--engines" => plan.engines = list(),
            "--limit" => plan.limit = seconds(&value)?,
            "--eager-limit" => plan.eager_limit = seconds(&value)?,
            "--out" => out = PathBuf::from(&value),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    measure_turns(&plan, &out).map_err(|error| error.to_string())
}

fn seconds(value: &str) -> Result<Duration, String> {
    value.parse().map(Duration::from_secs).map_err(|_| format!("`{value}` is no number"))
}

fn measure_turns(plan: &turns::Plan, out: &Path) -> std::io::Result<ExitCode> {
    let tell = |timing: &turns::Timing| {
        let turns::Timing { program, contexts, tool, verdict, seconds, .. } = timing;
        let contexts = contexts.map_or("-".to_string(), |contexts| contexts.to_string());
        println!("{program:<28} {contexts:>2} {tool:<16} {verdict:<12} {seconds:>8.3} s");
    };
    let timings = turns::run(plan, &mut { tell })?;
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("results.json"), serde_json::to_string_pretty(&timings)? + "\n")?;
    std::fs::write(out.join("README.md"), turns::fit::markdown(&timings, plan))?;
    for series in turns::series() {
        if let Some(svg) = turns::fit::svg(&timings, &series) {
            std::fs::write(out.join(turns::fit::file_name(&series)), svg)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut words = words.peekable();
    let suite = match words.peek().map(String::as_str) {
        Some("threads") => Suite::Threads,
        Some("unbounded") => Suite::Unbounded,
        Some("everything") => Suite::Everything,
        _ => Suite::Sequential,
    };
    if suite != Suite::Sequential {
        words.next();
    }
    let beside = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("selvedge");
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
    let mut out = root().join(suite.folder());
    let mut kept: Option<Vec<String>> = None;
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let number = || value.parse::<usize>().map_err(|_| format!("`{value}` is no number"));
        match option.as_str() {
            "--families" => plan.families = value.split(',').map(str::to_string).collect(),
            "--engines" => {
                let engine = |name: &str| match (name, EngineKind::from_name(name)) {
                    ("auto", _) => Ok(None),
                    (_, Some(engine)) => Ok(Some(engine)),
                    (_, None) => Err(format!("there is no engine `{name}`")),
                };
                engines = value.split(',').map(engine).collect::<Result<_, _>>()?;
            }
            "--tools" => kept = Some(value.split(',').map(str::to_string).collect()),
            "--peer-limit" => plan.peer_limit = Some(Duration::from_secs(number()? as u64)),
            "--max-size" => plan.max_size = Some(number()?),
            "--limit" => {
                plan.limit = Duration::from_secs(number()? as u64);
                plan.corpus_limit = plan.limit;
            }
            "--out" => out = PathBuf::from(&value),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    plan.tools = tools(suite, &engines, &plan.selvedge);
    if let Some(kept) = kept {
        plan.tools.retain(|tool| kept.contains(&tool.name()));
    }
    plan.groups = suite.groups()?;
    Ok(Options { suite, plan, out })
}

/// The engines, those for threads with each of their switches, and the peer.
fn tools(suite: Suite, engines: &[Option<EngineKind>], selvedge: &Path) -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> = Vec::new();
    for engine in engines.iter().copied() {
        for switches in switches(engine) {
            tools.push(Box::new(Ours { selvedge: selvedge.to_path_buf(), engine, switches }));
        }
    }
    match suite {
        Suite::Sequential => tools.extend(Spacer::find().map(|spacer| Box::new(spacer) as Box<dyn Tool>)),
        Suite::Threads => tools.extend(Spin::find().map(|spin| Box::new(spin) as Box<dyn Tool>)),
        Suite::Unbounded | Suite::Everything => {}
    }
    tools
}

fn execute(options: &Options) -> std::io::Result<ExitCode> {
    let Options { suite, plan, out } = options;
    let peer = suite.peer();
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
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("results.json"), serde_json::to_string_pretty(&records)? + "\n")?;
    let mut page = Page { records: &records, limit, peer, peer_limit }.markdown();
    let figures = figures(&records, limit);
    if !figures.is_empty() {
        std::fs::write(out.join("figures.json"), serde_json::to_string_pretty(&figures)? + "\n")?;
        page.push_str("\n## Switches\n\n");
        page.push_str(&figures::markdown(&figures));
    }
    write_plots(&records, out, &mut page)?;
    std::fs::write(out.join("README.md"), page)?;
    let wrong = contradictions(&records);
    wrong.iter().for_each(|line| eprintln!("{line}"));
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(6) })
}

fn write_plots(records: &[Record], out: &Path, page: &mut String) -> std::io::Result<()> {
    let mut families: Vec<&str> = records.iter().map(|record| record.family.as_str()).collect();
    families.dedup();
    for family in families.into_iter().filter(|family| *family != "reading") {
        let plot = if is_group(family) { plot::cactus(records, family) } else { plot::svg(records, family) };
        if let Some(svg) = plot {
            std::fs::write(out.join(format!("{family}.svg")), svg)?;
            page.push_str(&format!("\n![{family}]({family}.svg)\n"));
        }
    }
    Ok(())
}
