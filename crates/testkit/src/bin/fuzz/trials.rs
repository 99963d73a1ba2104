//! The commands that run the program itself while the world fails.

use std::path::PathBuf;
use std::process::ExitCode;

use selvedge_testkit::trials::interrupts::Interrupts;
use selvedge_testkit::trials::{Setting, faults, limits, tasks};
use selvedge_testkit::workers::Items;

/// The command line of trials.
struct Options {
    seed: u64,
    count: Option<u64>,
    jobs: usize,
    first: u64,
    program: Option<PathBuf>,
    inputs: Option<PathBuf>,
    only: String,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options =
        Options { seed: 1, count: None, jobs: 2, first: 0, program: None, inputs: None, only: String::new() };
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is not a number"));
        match option.as_str() {
            "--program" => options.program = Some(PathBuf::from(&value)),
            "--inputs" => options.inputs = Some(PathBuf::from(&value)),
            "--only" => options.only = value,
            "--first" => options.first = number()?,
            "--seed" => options.seed = number()?,
            "--count" => options.count = Some(number()?),
            "--jobs" => options.jobs = number()? as usize,
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(options)
}

impl Options {
    /// Returns the program that the user names, or the one of a profile.
    fn setting(&self, profile: &str) -> Result<Setting, String> {
        let Some(program) = &self.program else { return Setting::beside(profile) };
        let program = program.canonicalize().map_err(|error| format!("{}: {error}", program.display()))?;
        Ok(Setting::new(program))
    }
}

/// Makes each operation fail in turn, and prints the table.
pub(crate) fn faults(words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let options = parse(words)?;
    let plan = faults::Plan { dense: options.count.unwrap_or(20), most: u64::MAX, jobs: options.jobs };
    let show = |done, count| eprint!("\r{done} of {count} pairs of a kind and a task ");
    let tallies = faults::run(&options.setting("debug")?, tasks::all(), plan, show);
    eprintln!();
    let findings: Vec<&String> = tallies.iter().flat_map(|(_, tally)| &tally.findings).collect();
    findings.iter().for_each(|finding| println!("{finding}\n"));
    println!("{}", faults::table(&tallies));
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(6) })
}

/// Interrupts tasks at random moments, and prints how they ended.
pub(crate) fn interrupts(words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let options = parse(words)?;
    let items = Items { first: options.first, count: options.count.unwrap_or(1000), jobs: options.jobs };
    let campaign = Interrupts::new(options.setting("release")?);
    let command = "interrupts".to_string();
    let only = Vec::new();
    Ok(super::Options { command, seed: options.seed, items, states: None, frames: None, only }.run(campaign))
}

/// Measures how well limits hold, and prints the page.
pub(crate) fn limits(words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let options = parse(words)?;
    let inputs = options.inputs.as_deref().map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.into()));
    let show = |row: &limits::Row| eprintln!("{}", row.text());
    let groups = limits::measure(&options.setting("release")?, inputs.as_deref(), &options.only, show)?;
    print!("{}", limits::page(&groups));
    let holds = groups.iter().flat_map(|(_, rows)| rows).all(|row| !row.is_overrun());
    Ok(if holds { ExitCode::SUCCESS } else { ExitCode::from(6) })
}
