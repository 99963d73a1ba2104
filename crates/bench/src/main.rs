//! The benchmarks: `bench/run` calls this with release builds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use selvedge_bench::c_headers::Headers;
use selvedge_bench::c_peer::Cbmc;
use selvedge_bench::figures::{self, figures};
use selvedge_bench::integers as table_of_integers;
use selvedge_bench::output::Output;
use selvedge_bench::suite::Suite;
use selvedge_bench::table::{Page, is_group};
use selvedge_bench::tool::{Ours, Tool, switches};
use selvedge_bench::{Plan, Record, c, contradictions, plot, rounds, run, turns};
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
       bench c [--families a,b] [--limit SECONDS] [--out FOLDER]

Families: reading, corpus, and those of crates/bench/src/families.rs; with `threads` those of
crates/bench/src/concurrent, corpus-2, corpus-3 and corpus-4, and every engine with and without each reduction;
with `unbounded` corpus-tts-one, corpus-tts-any, corpus-bp and families; with `everything` the portfolio on all
programs; with `contexts` the series of crates/bench/src/turns; with `rounds` the programs of crates/bench/src/rounds,
which `--programs` only writes into a folder; with `c` the C programs in the folder that SELVEDGE_C_CORPUS names.
`--against` compares with another version of `selvedge`, which runs on each program as well.
`--tools` keeps the named ones, an engine's switches being part of the name: `threads-explicit ample`.
Writes results.json and README.md into bench/results/<suite> and plots into docs/plots/<suite>, or everything into the
folder that `--out` names.
";

/// The name of another version of Selvedge in the results.
const OTHER_VERSION: &str = "before";

/// The command line.
#[derive(Default)]
struct Options {
    families: Vec<String>,
    engines: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    max_size: Option<usize>,
    limit: Option<Duration>,
    peer_limit: Option<Duration>,
    against: Option<PathBuf>,
    out: Option<PathBuf>,
    programs: Option<PathBuf>,
}

impl Options {
    /// Parses options with values, of which a suite allows some.
    fn parse(mut words: impl Iterator<Item = String>, allowed: &str) -> Result<Options, String> {
        let list = |value: &str| -> Vec<String> { value.split(',').map(str::to_string).collect() };
        let number = |value: &str| value.parse().map_err(|_| format!("`{value}` is not a number"));
        let seconds = |value: &str| number(value).map(|seconds: usize| Some(Duration::from_secs(seconds as u64)));
        let mut options = Options::default();
        while let Some(option) = words.next() {
            let value = words.next().ok_or(format!("option `{option}` has no value"))?;
            match option.as_str() {
                name if !allowed.split(' ').any(|known| known == name) => {
                    return Err(format!("unknown option `{name}`"));
                }
                "--families" => options.families = list(&value),
                "--engines" => options.engines = Some(list(&value)),
                "--tools" => options.tools = Some(list(&value)),
                "--max-size" => options.max_size = Some(number(&value)?),
                "--limit" => options.limit = seconds(&value)?,
                "--peer-limit" | "--eager-limit" => options.peer_limit = seconds(&value)?,
                "--against" => options.against = Some(PathBuf::from(value)),
                "--out" => options.out = Some(PathBuf::from(value)),
                "--programs" => options.programs = Some(PathBuf::from(value)),
                _ => unreachable!("all options that a suite allows are listed"),
            }
        }
        Ok(options)
    }

    fn output(&self, suite: &str) -> Output {
        self.out.clone().map_or_else(|| Output::of_suite(&root(), suite), Output::folder)
    }

    fn limit(&self, seconds: u64) -> Duration {
        self.limit.unwrap_or(Duration::from_secs(seconds))
    }

    fn wants_family(&self, name: &str) -> bool {
        self.families.is_empty() || self.families.iter().any(|family| family == name)
    }

    fn wants_engine(&self, name: &str) -> bool {
        self.engines.as_ref().is_none_or(|engines| engines.iter().any(|engine| engine == name))
    }
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
    let name = words.next_if(|word| !word.starts_with("--")).unwrap_or("sequential".to_string());
    let parse = |allowed: &str| Options::parse(words, allowed).map_err(Failure::Usage);
    let end = match (name.as_str(), Suite::named(&name)) {
        ("rounds", _) => parse("--families --limit --out --programs").and_then(|options| in_rounds(&options)),
        ("c", _) => parse("--families --limit --out").and_then(|options| programs_of_others(&options)),
        ("integers", _) => parse("--families --engines --limit --out").and_then(|options| integers(&options)),
        ("contexts", Some(suite)) => parse("--families --engines --limit --eager-limit --out")
            .and_then(|options| measure(&name, suite, &options, contexts_page)),
        (_, Some(suite)) => parse("--families --engines --tools --max-size --limit --peer-limit --against --out")
            .and_then(|options| measure(&name, suite, &options, page)),
        (_, None) => Err(Failure::Usage(format!("unknown suite `{name}`"))),
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

/// Runs the programs with one kernel and any number of drivers.
fn in_rounds(options: &Options) -> Result<ExitCode, Failure> {
    let (limit, output) = (options.limit(30), options.output("rounds"));
    let instances = rounds::instances().into_iter().filter(|instance| options.wants_family(&instance.family));
    if let Some(folder) = &options.programs {
        std::fs::create_dir_all(folder)?;
        for rounds::Instance { family, number, text } in instances {
            std::fs::write(folder.join(format!("{family}-{number}.bp")), text)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut rows = Vec::new();
    for instance in instances {
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

/// Reads and checks the C programs in a folder.
fn programs_of_others(options: &Options) -> Result<ExitCode, Failure> {
    let folder = std::env::var_os("SELVEDGE_C_CORPUS").ok_or("SELVEDGE_C_CORPUS names the folder".to_owned())?;
    let (limit, output) = (options.limit(10), options.output("c"));
    let selvedge = std::env::current_exe()?.with_file_name("selvedge");
    let can = c::Abilities::of(&selvedge)?;
    let mut rows = Vec::new();
    let (headers, peer) = (Headers::find(), Cbmc::find());
    for case in c::cases(Path::new(&folder))?.into_iter().filter(|case| options.wants_family(case.source())) {
        let row = c::row(&c::with_headers(case, &headers)?, &selvedge, can, peer.as_ref(), limit)?;
        println!("{:<100} {:<8} {:>7.3} s  {}", row.name, row.said.verdict, row.said.seconds, row.said.by);
        rows.push(row);
    }
    output.write_records(&rows)?;
    let peer = peer.as_ref().map(Cbmc::name);
    let mut page = c::markdown(&rows, peer.as_deref(), limit);
    if let Some(svg) = plot::cactus(&c::records(&rows, peer.as_deref()), "c") {
        output.write_plot("c.svg", &svg)?;
        page.push_str(&output.image("c", "c.svg"));
    }
    output.write_page(&page)?;
    Ok(end(&c::contradictions(&rows)))
}

/// Runs the guarded commands and compares with the published tables.
fn integers(options: &Options) -> Result<ExitCode, Failure> {
    let limit = options.limit(60);
    let solvers = find_solvers(&selvedge_check::Solvers::default());
    print!("{}", table_of_integers::head());
    let mut rows = Vec::new();
    for row in selvedge_testkit::integers::rows().into_iter().filter(|row| options.wants_family(&row.name)) {
        let ask = |engine: &str| table_of_integers::ask(&row, engine, limit, &solvers);
        let cell = |engine: &&str| options.wants_engine(engine).then(|| ask(engine)).flatten();
        let cells: Vec<_> = table_of_integers::ENGINES.iter().map(cell).collect();
        print!("{}", table_of_integers::line(&row, &cells));
        rows.push((row, cells));
    }
    let wrong = rows.iter().flat_map(|(_, cells)| cells).flatten().filter(|cell| cell.verdict == "wrong").count();
    print!("{}", table_of_integers::summary(&rows));
    options.output("integers").write_page(&table_of_integers::page(&rows, limit))?;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(6) })
}

/// Runs a suite and writes its records and its page.
fn measure(
    name: &str,
    suite: Suite,
    options: &Options,
    write: fn(&[Record], &Plan, &Output) -> io::Result<String>,
) -> Result<ExitCode, Failure> {
    let output = options.output(name);
    let plan = plan(name, suite, options)?;
    if !plan.peer.is_empty() && !plan.tools.iter().any(|tool| tool.name() == plan.peer) {
        eprintln!("{} was not found: there is no peer to compare with", plan.peer);
    }
    let tell = |record: &Record| {
        let Record { instance, tool, verdict, seconds, .. } = record;
        println!("{instance:<32} {tool:<28} {verdict:<12} {seconds:>8.3} s");
    };
    let records = run(&plan, &mut { tell })?;
    output.write_records(&records)?;
    output.write_page(&write(&records, &plan, &output)?)?;
    Ok(end(&contradictions(&records)))
}

fn plan(name: &str, suite: Suite, options: &Options) -> Result<Plan, Failure> {
    let selvedge = std::env::current_exe()?.with_file_name("selvedge");
    let engines = match &options.engines {
        Some(names) => names.iter().map(|name| engine(name)).collect::<Result<_, _>>()?,
        None => suite.engines,
    };
    let (mut tools, mut peer) = (tools(name, &engines, &selvedge), suite.peer);
    tools.retain(|tool| options.tools.as_ref().is_none_or(|kept| kept.contains(&tool.name())));
    if let Some(selvedge) = options.against.clone() {
        tools.push(Box::new(Ours { selvedge, engine: None, switches: Vec::new(), name: Some(OTHER_VERSION) }));
        peer = OTHER_VERSION;
    }
    let mut groups = (suite.groups)()?;
    groups.retain(|group| options.wants_family(&group.family));
    Ok(Plan {
        selvedge,
        tools,
        groups,
        reads: name == "sequential" && options.wants_family("reading"),
        trivial: Question { threads: suite.threads, ..Question::default() },
        max_size: options.max_size,
        limit: options.limit(suite.limit),
        corpus_limit: options.limit(suite.corpus_limit),
        peer,
        peer_limit: options.peer_limit.or(suite.peer_limit.map(Duration::from_secs)),
        scratch: std::env::temp_dir().join("selvedge-bench"),
    })
}

/// Returns the engine with a name, `None` for the portfolio.
fn engine(name: &str) -> Result<Option<EngineKind>, String> {
    match EngineKind::from_name(name) {
        _ if name == "auto" => Ok(None),
        Some(engine) => Ok(Some(engine)),
        None => Err(format!("there is no engine `{name}`")),
    }
}

/// Returns the engines, those for threads with each of their switches, and the tools of others.
fn tools(suite: &str, engines: &[Option<EngineKind>], selvedge: &Path) -> Vec<Box<dyn Tool>> {
    let mut tools: Vec<Box<dyn Tool>> = Vec::new();
    for engine in engines.iter().copied() {
        for switches in switches(engine) {
            tools.push(Box::new(Ours { selvedge: selvedge.to_path_buf(), engine, switches, name: None }));
        }
    }
    match suite {
        "sequential" => tools.extend(Spacer::find().map(|spacer| Box::new(spacer) as Box<dyn Tool>)),
        "threads" | "contexts" => tools.extend(Spin::find().map(|spin| Box::new(spin) as Box<dyn Tool>)),
        _ => {}
    }
    tools
}

/// Returns the page of a suite, and writes its plots.
fn page(records: &[Record], plan: &Plan, output: &Output) -> io::Result<String> {
    let limit = plan.limit.as_secs_f64();
    let table = Page { records, limit, peer: plan.peer, peer_limit: plan.peer_limit().as_secs_f64() };
    let mut page = table.markdown();
    let figures = figures(records, limit);
    if !figures.is_empty() {
        page.push_str("\n## Switches\n\n");
        page.push_str(&figures::markdown(&figures));
    }
    if plan.peer == OTHER_VERSION {
        page.push_str(&table.versions());
    }
    let scatters = figures.iter().map(|figure| (format!("figure-{}", figure.figure), figure.svg()));
    for (name, svg) in growth_plots(records).into_iter().chain(scatters) {
        output.write_plot(&format!("{name}.svg"), &svg)?;
        page.push_str(&output.image(&name, &format!("{name}.svg")));
    }
    Ok(page)
}

/// Returns the page about threads that take turns, and writes its plots.
fn contexts_page(records: &[Record], plan: &Plan, output: &Output) -> io::Result<String> {
    for series in turns::series() {
        if let Some(svg) = turns::fit::svg(records, &series) {
            output.write_plot(&turns::fit::file_name(&series), &svg)?;
        }
    }
    let [limit, eager_limit] = [plan.limit, plan.peer_limit()].map(|limit| limit.as_secs_f64());
    Ok(turns::fit::markdown(records, limit, eager_limit, output))
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
