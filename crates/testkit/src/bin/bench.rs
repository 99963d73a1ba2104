//! The benchmarks: `bench/run` calls this with release builds.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use selvedge_driver::external::Spacer;
use selvedge_engines::EngineKind;
use selvedge_testkit::bench::{Plan, Record, contradictions, plot, run, table};
use selvedge_testkit::corpus::root;

const USAGE: &str = "\
usage: bench [--families a,b] [--engines a,b] [--max-size N] [--limit SECONDS] [--out FOLDER]

Families: reading, corpus, and those of crates/testkit/src/bench/families.rs. Writes results.json, README.md and a plot
per family into the folder, bench/results unless told otherwise.
";

struct Options {
    plan: Plan,
    out: PathBuf,
}

fn main() -> ExitCode {
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

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let beside = std::env::current_exe().map_err(|error| error.to_string())?.with_file_name("selvedge");
    let engines = EngineKind::ALL.iter().copied().filter(|engine| *engine != EngineKind::Exhaustive);
    let mut plan = Plan {
        selvedge: beside,
        spacer: Spacer::find(),
        engines: engines.collect(),
        families: Vec::new(),
        max_size: None,
        limit: Duration::from_secs(10),
        scratch: std::env::temp_dir().join("selvedge-bench"),
    };
    let mut out = root().join("bench/results");
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let number = || value.parse::<usize>().map_err(|_| format!("`{value}` is no number"));
        match option.as_str() {
            "--families" => plan.families = value.split(',').map(str::to_string).collect(),
            "--engines" => {
                let engine = |name: &str| EngineKind::from_name(name).ok_or(format!("there is no engine `{name}`"));
                plan.engines = value.split(',').map(engine).collect::<Result<_, _>>()?;
            }
            "--max-size" => plan.max_size = Some(number()?),
            "--limit" => plan.limit = Duration::from_secs(number()? as u64),
            "--out" => out = PathBuf::from(&value),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(Options { plan, out })
}

fn execute(options: &Options) -> std::io::Result<ExitCode> {
    let Options { plan, out } = options;
    if plan.spacer.is_none() {
        eprintln!("z3 was not found: there is no peer to compare with");
    }
    let tell = |record: &Record| {
        let Record { instance, tool, verdict, seconds, .. } = record;
        println!("{instance:<32} {tool:<12} {verdict:<12} {seconds:>8.3} s");
    };
    let records = run(plan, &mut { tell })?;
    std::fs::create_dir_all(out)?;
    std::fs::write(out.join("results.json"), serde_json::to_string_pretty(&records)? + "\n")?;
    let mut page = table::markdown(&records, plan.limit.as_secs_f64());
    let mut families: Vec<&str> = records.iter().map(|record| record.family.as_str()).collect();
    families.dedup();
    for family in families.into_iter().filter(|family| !["corpus", "reading"].contains(family)) {
        if let Some(svg) = plot::svg(&records, family) {
            std::fs::write(out.join(format!("{family}.svg")), svg)?;
            page.push_str(&format!("\n![{family}]({family}.svg)\n"));
        }
    }
    std::fs::write(out.join("README.md"), page)?;
    let wrong = contradictions(&records);
    wrong.iter().for_each(|line| eprintln!("{line}"));
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(6) })
}
