//! The long runs: many generated programs on all paths through the checker, many broken texts through the reader.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

mod trials;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use selvedge_driver::external::{Spin, find_solvers};
use selvedge_testkit::c::compiler::Compiler;
use selvedge_testkit::c::pointers::Pointers;
use selvedge_testkit::c::sequential::Sequential;
use selvedge_testkit::c::texts::{self as broken, BrokenPrograms};
use selvedge_testkit::c::threads::Threads;
use selvedge_testkit::calculus::EQUATIONS;
use selvedge_testkit::campaign::{Setting, State, classes};
use selvedge_testkit::contexts::IN_TURNS;
use selvedge_testkit::contexts::numbers::NumbersInTurns;
use selvedge_testkit::contexts::systems::{Effort, InTurnsCampaign};
use selvedge_testkit::coverability::{PLAIN, TRANSFERS};
use selvedge_testkit::deadlock::DEADLOCKS;
use selvedge_testkit::differ::{ALL_WAYS, item};
use selvedge_testkit::engines::SEQUENTIAL;
use selvedge_testkit::evidence::records;
use selvedge_testkit::fuzz_targets::TARGETS;
use selvedge_testkit::fuzz_targets::seeds::seeds;
use selvedge_testkit::generate::Weights;
use selvedge_testkit::harness::{Campaign, Comparison, Finding, run, silence_panics};
use selvedge_testkit::integers::compare::Integers;
use selvedge_testkit::machine::Machine;
use selvedge_testkit::numbers::Numbers;
use selvedge_testkit::rounds::IN_ROUNDS;
use selvedge_testkit::spin::MODELS;
use selvedge_testkit::texts::{self, Texts};
use selvedge_testkit::threads::CONCURRENT;
use selvedge_testkit::unbounded::ANY_NUMBER;
use selvedge_testkit::verify::Judge;
use selvedge_testkit::verify::pool::{Pool, relay};
use selvedge_testkit::workers::Items;

const USAGE: &str = "\
usage: fuzz passes|engines|threads|unbounded|contexts|turns|systems|rounds|deadlock|calculus|integers|machine|numbers
            |tts|transfers|spin|c|c-threads|c-pointers|c-parser|parser|verify|print|evidence
            [--count N] [--seed N] [--first N] [--jobs N] [--states N] [--frames N] [--only KIND]
       fuzz faults [--count N] [--jobs N] [--program FILE]
       fuzz interrupts [--count N] [--seed N] [--first N] [--jobs N] [--program FILE]
       fuzz limits [--inputs FOLDER] [--only TEXT] [--program FILE]
       fuzz campaign --state FILE [--hours H] [--seed N] [--jobs N]
       fuzz seeds FOLDER

passes  compares generated programs before and after each pass, on all ways through the checker
engines compares all engines on programs with one thread: verdicts, evidence, reachable states
threads compares all engines on programs with several threads, each time with other combinations of reductions
unbounded compares all engines for any number of threads, and few threads
contexts compares the engines with a bound on contexts, and the sequential programs, with a search in turns
turns   compares engines for one thread on threads with machine integers in turns with a search in turns
systems compares all ways to search the systems of CUBA in turns, with 1 to 4 contexts
rounds  compares the engine with a bound on rounds with searches over all schedules of up to three threads
deadlock compares the engines that look for deadlocks with a search of all states as they are
calculus compares the equations of calculus/ with the engines
integers compares all engines on guarded commands, with a search over a box
machine compares all engines on programs with machine integers, over bits, with a search over the integers
numbers compares all engines on programs with numbers, arrays and locks with a search of its own
tts     compares all ways to decide coverability on random thread-transition systems
transfers  the same, on systems whose rules transfer threads, with plain searches
spin    compares SPIN with the oracle on the models of programs with threads
c       compares what sequential C programs compute with what `cc` makes of them, in batches of 50
c-threads compares all engines on C programs with threads, with what happens in runs of them, in batches of 10
c-pointers compares where pointers lead in runs of C programs with what the points-to analysis says
c-parser reads and lowers mutated C programs
parser  reads and formats mutated texts
verify  judges forged evidence about edited programs, and compares what is accepted with searches; --only KIND
print   prints the programs that `passes` would try
evidence prints programs with evidence and changes to it, for the tests of the judge
faults  makes the first N operations of each kind fail in turn, and others behind them, in a build for development
interrupts strikes tasks at random moments with signals, limits and closed pipes
limits  measures how well limits hold, and prints docs/limits.md
campaign runs all of these in turns for some hours, from where the state in the file ends, and prints a table
seeds   writes the inputs that coverage-guided fuzzing begins with (fuzz/run), in a folder for each target
";

/// The command line.
struct Options {
    command: String,
    seed: u64,
    items: Items,
    states: Option<usize>,
    frames: Option<u32>,
    only: Vec<String>,
}

fn main() -> ExitCode {
    if let Some(code) = relay() {
        return code;
    }
    let mut words = std::env::args().skip(1);
    let Some(command) = words.next() else { return usage("which command?") };
    if ["campaign", "interrupts"].contains(&command.as_str()) {
        silence_panics();
    }
    match command.as_str() {
        "campaign" => return campaign(words).unwrap_or_else(|message| usage(&message)),
        "interrupts" => return trials::interrupts(words).unwrap_or_else(|message| usage(&message)),
        "limits" => return trials::limits(words).unwrap_or_else(|message| usage(&message)),
        "faults" => return trials::faults(words).unwrap_or_else(|message| usage(&message)),
        "seeds" => return write_seeds(words).unwrap_or_else(|message| usage(&message)),
        _ => {}
    }
    let options = match parse(command, words) {
        Ok(options) => options,
        Err(message) => return usage(&message),
    };
    silence_panics();
    match options.command.as_str() {
        "passes" => options.compare(ALL_WAYS),
        "engines" => options.compare(SEQUENTIAL),
        "threads" => options.compare(CONCURRENT),
        "unbounded" => options.compare(ANY_NUMBER),
        "contexts" => options.compare(IN_TURNS),
        "turns" => options.run(NumbersInTurns { solvers: find_solvers(&selvedge_check::Solvers::default()) }),
        "rounds" => options.compare(IN_ROUNDS),
        "deadlock" => options.compare(DEADLOCKS),
        "calculus" => options.compare(EQUATIONS),
        "spin" if Spin::find().is_none() => usage("spin and a C compiler are needed"),
        "spin" => options.compare(MODELS),
        "systems" => options.compare_systems(),
        "integers" => options.run(Integers { solvers: find_solvers(&selvedge_check::Solvers::default()) }),
        "machine" => options.run(Machine::default()),
        "numbers" => options.run(Numbers::default()),
        "c" | "c-threads" => options.compile(),
        "tts" => options.run(PLAIN),
        "transfers" => options.run(TRANSFERS),
        "verify" => options.run(options.judge()),
        "c-pointers" => options.run(Pointers),
        "c-parser" => match broken::sources() {
            Ok(sources) => options.run(BrokenPrograms { sources }),
            Err(message) => usage(&message),
        },
        "parser" => match texts::sources() {
            Ok(sources) => options.run(Texts { sources }),
            Err(message) => usage(&message),
        },
        "print" => options.print(),
        "evidence" => {
            print!("{}", records(options.seed, options.items.count));
            ExitCode::SUCCESS
        }
        other => usage(&format!("unknown command `{other}`")),
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("{message}\n\n{USAGE}");
    ExitCode::from(1)
}

fn parse(command: String, mut words: impl Iterator<Item = String>) -> Result<Options, String> {
    let items = Items { first: 0, count: 20_000, jobs: 1 };
    let mut options = Options { command, seed: 1, items, states: None, frames: None, only: Vec::new() };
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        if option == "--only" {
            options.only.push(value);
            continue;
        }
        let number: u64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
        match option.as_str() {
            "--count" => options.items.count = number,
            "--seed" => options.seed = number,
            "--first" => options.items.first = number,
            "--jobs" => options.items.jobs = number as usize,
            "--states" => options.states = Some(number as usize),
            "--frames" => options.frames = Some(number as u32),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(options)
}

/// Writes the seeds of each target of `fuzz/` into a folder of its name.
fn write_seeds(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let folder = PathBuf::from(words.next().ok_or("`seeds FOLDER` says where they are written")?);
    for (target, _) in TARGETS {
        let folder = folder.join(target);
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (number, seed) in seeds(target)?.iter().enumerate() {
            let path = folder.join(format!("seed-{number}"));
            std::fs::write(&path, seed).map_err(|error| format!("{}: {error}", path.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs all classes in turns, from where the state in the file ends, and prints the table.
fn campaign(mut words: impl Iterator<Item = String>) -> Result<ExitCode, String> {
    let (mut file, mut hours, mut seed, mut jobs) = (None, 1.0, None, 2);
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let wrong = |_| format!("`{value}` is not a number");
        match option.as_str() {
            "--state" => file = Some(value),
            "--hours" => hours = value.parse::<f64>().map_err(|_| format!("`{value}` is not a number of hours"))?,
            "--seed" => seed = Some(value.parse::<u64>().map_err(wrong)?),
            "--jobs" => jobs = value.parse::<usize>().map_err(wrong)?.max(1),
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    let file = PathBuf::from(file.ok_or("`--state FILE` says where the state is kept")?);
    let mut state = match (State::read(&file)?, seed) {
        (None, seed) => State::new(seed.unwrap_or(1)),
        (Some(state), Some(seed)) if seed != state.seed => {
            return Err(format!("{} is about seed {}; give another file for seed {seed}", file.display(), state.seed));
        }
        (Some(state), _) => state,
    };
    let (classes, setting) = (classes()?, Setting { file, jobs });
    let start = Instant::now();
    setting.go_on(&classes, &mut state, |class, state| {
        eprint!(
            "\r{:.1} minutes, {} findings, now {class:<12}",
            start.elapsed().as_secs_f64() / 60.0,
            state.findings()
        );
        start.elapsed().as_secs_f64() >= hours * 3600.0
    })?;
    eprintln!();
    println!("Seed {}, {} jobs.\n\n{}", state.seed, setting.jobs, state.table(&classes));
    if state.findings() == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    println!("The findings are in {}.", setting.findings().display());
    Ok(ExitCode::from(6))
}

impl Options {
    fn judge(&self) -> Judge {
        let solvers = find_solvers(&selvedge_check::Solvers::default());
        // Without a pool each judgement starts its own solvers, which is only slower.
        Judge { pool: Pool::new(&solvers).ok(), solvers, only: self.only.clone() }
    }

    /// Runs a comparison on generated programs with the budget of the command line.
    fn compare(&self, comparison: Comparison) -> ExitCode {
        let mut budget = comparison.budget;
        budget.states = self.states.unwrap_or(budget.states);
        budget.frames = self.frames.unwrap_or(budget.frames);
        self.run(comparison.within(budget))
    }

    /// Compares C programs with what the compiler of the machine makes of them.
    fn compile(&self) -> ExitCode {
        match Compiler::find() {
            Some(compiler) if self.command == "c" => self.run(Sequential { compiler }),
            Some(compiler) => self.run(Threads::new(compiler)),
            None => usage("a C compiler with `-fsanitize=undefined` and `-pthread` is needed"),
        }
    }

    /// Compares all systems of the corpus of CUBA.
    fn compare_systems(&self) -> ExitCode {
        let patience = Some(Duration::from_secs(1_800));
        let effort = Effort { last: 4, eagerly: 4, rules: 1_500_000, height: 6, configurations: 300_000, patience };
        let campaign = InTurnsCampaign::new(effort);
        let items = Items { first: 0, count: campaign.systems.len() as u64, ..self.items };
        Options { command: self.command.clone(), only: Vec::new(), items, ..*self }.run(campaign)
    }

    /// Runs a campaign and prints its findings, each with the command that repeats it.
    fn run<C: Campaign + Send + Sync + 'static>(&self, campaign: C) -> ExitCode {
        let Options { command, seed, items, .. } = self;
        let show = |findings: &[Finding]| {
            for finding in findings {
                let only: String = self.only.iter().map(|kind| format!(" --only {kind:?}")).collect();
                let again = format!("--bin fuzz -- {command} --seed {seed} --first {} --count 1{only}", finding.number);
                println!("{finding}: {again}\n");
            }
        };
        let summary = match run(campaign, *seed, *items, progress(items.count)) {
            Ok(summary) => summary,
            Err(unfinished) => {
                show(&unfinished);
                return ExitCode::from(6);
            }
        };
        eprintln!();
        show(&summary.findings);
        println!("{} compared ({}); {} findings", summary.total, C::summarize(&summary.tally), summary.findings.len());
        if summary.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(6) }
    }

    fn print(&self) -> ExitCode {
        let first = self.items.first;
        for number in first..first + self.items.count {
            let (presets, model) = (Weights::presets(), item(self.seed, number));
            println!("// program {number} ({})\n{model}", presets[number as usize % presets.len()].0);
        }
        ExitCode::SUCCESS
    }
}

/// Shows the progress, once a second.
fn progress(count: u64) -> impl FnMut(u64, usize) {
    let start = Instant::now();
    let mut shown = Duration::ZERO;
    move |done, n_findings| {
        if start.elapsed() - shown > Duration::from_secs(1) {
            shown = start.elapsed();
            eprint!("\r{done} of {count}, {n_findings} findings, {} s ", shown.as_secs());
        }
    }
}
