//! The long runs: many generated programs through all ways of the checker, many broken texts through the reader.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a tool for the terminal")]

use std::process::ExitCode;
use std::time::{Duration, Instant};

use selvedge_driver::external::Spin;
use selvedge_testkit::calculus;
use selvedge_testkit::campaign::{self, Campaign};
use selvedge_testkit::contexts::{self, systems::Effort};
use selvedge_testkit::coverability;
use selvedge_testkit::engines::{self, Comparison};
use selvedge_testkit::integers;
use selvedge_testkit::oracle::Budget;
use selvedge_testkit::rounds;
use selvedge_testkit::spin;
use selvedge_testkit::texts;
use selvedge_testkit::threads;
use selvedge_testkit::unbounded;
use selvedge_testkit::workers::{Hang, Items};

const USAGE: &str = "\
usage: fuzz passes|engines|threads|unbounded|contexts|systems|rounds|calculus|integers|tts|spin|parser|print [--count N] [--seed N] [--first N] [--jobs N] [--states N] [--frames N]

passes  compares generated programs before and after each pass, on all ways through the checker
engines compares all engines on programs with one thread: verdicts, evidence, reachable states
threads compares all engines on programs with several threads, each time with other combinations of reductions
unbounded compares all engines for any number of threads, and few threads
contexts compares the engines with a bound on contexts, and the sequential programs, with a search in turns
systems compares all ways to search the systems of CUBA in turns, with 1 to 4 contexts
rounds  compares the engine with a bound on rounds with searches over all schedules of up to three threads
calculus compares the equations of calculus/ with the engines
integers compares all engines on guarded commands, with a search over a box
tts     compares all ways to decide coverability on random thread-transition systems
spin    compares SPIN with the oracle on the models of programs with threads
parser  reads and formats mutated texts
print   prints the programs that `passes` would try
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next();
    let campaign = match parse(words) {
        Ok(campaign) => campaign,
        Err(message) => return usage(&message),
    };
    campaign::silence_panics();
    match command.as_deref() {
        Some("passes") => passes(&campaign),
        Some("engines") => compare_engines(&campaign, "engines", engines::SEQUENTIAL),
        Some("threads") => {
            let campaign = Campaign { budget: campaign.budget.tight(), ..campaign };
            compare_engines(&campaign, "threads", threads::CONCURRENT)
        }
        Some("unbounded") => {
            let budget = Budget { patience: Some(Duration::from_secs(1)), ..Budget::states(3_000) };
            compare_engines(&Campaign { budget, ..campaign }, "unbounded", unbounded::ANY_NUMBER)
        }
        Some("contexts") => compare_engines(&campaign, "contexts", contexts::IN_TURNS),
        Some("systems") => compare_in_turns(campaign.items.jobs),
        Some("rounds") => {
            let budget = Budget { frames: 4, ..Budget::states(4_000) };
            compare_engines(&Campaign { budget, ..campaign }, "rounds", rounds::IN_ROUNDS)
        }
        Some("calculus") => compare_engines(&campaign, "calculus", calculus::EQUATIONS),
        Some("integers") => compare_integers(&campaign),
        Some("tts") => compare_systems(&campaign),
        Some("spin") => compare_spin(&campaign),
        Some("parser") => parser(&campaign),
        Some("print") => print(&campaign),
        Some(other) => usage(&format!("unknown command `{other}`")),
        None => usage("which command?"),
    }
}

fn usage(message: &str) -> ExitCode {
    eprintln!("{message}\n\n{USAGE}");
    ExitCode::from(1)
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Campaign, String> {
    let items = Items { first: 0, count: 20_000, jobs: 1 };
    let mut campaign = Campaign { seed: 1, items, budget: Budget::default() };
    while let Some(option) = words.next() {
        let value = words.next().ok_or(format!("option `{option}` has no value"))?;
        let number: u64 = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        match option.as_str() {
            "--count" => campaign.items.count = number,
            "--seed" => campaign.seed = number,
            "--first" => campaign.items.first = number,
            "--jobs" => campaign.items.jobs = number as usize,
            "--states" => campaign.budget.states = number as usize,
            "--frames" => campaign.budget.frames = number as u32,
            _ => return Err(format!("unknown option `{option}`")),
        }
    }
    Ok(campaign)
}

fn print(campaign: &Campaign) -> ExitCode {
    let first = campaign.items.first;
    for number in first..first + campaign.items.count {
        let (preset, model) = campaign::item(campaign.seed, number);
        println!("// program {number} ({preset})\n{model}");
    }
    ExitCode::SUCCESS
}

fn passes(campaign: &Campaign) -> ExitCode {
    let (tally, findings) = match campaign::run(campaign, progress(campaign.items.count)) {
        Ok(result) => result,
        Err(hang) => return report_hang(campaign.seed, &hang),
    };
    eprintln!();
    for finding in &findings {
        println!("{}", finding.render(campaign.seed));
    }
    println!("{tally}; {} findings", findings.len());
    end(findings.len())
}

fn compare_engines(campaign: &Campaign, command: &str, comparison: Comparison) -> ExitCode {
    let Campaign { seed, items, budget } = *campaign;
    let (compared, findings) = match engines::run(comparison, seed, items, budget, progress(items.count)) {
        Ok(result) => result,
        Err(hang) => return report_hang(seed, &hang),
    };
    eprintln!();
    for finding in &findings {
        let again = format!("--bin fuzz -- {command} --seed {seed} --first {} --count 1", finding.number);
        println!("{}\n\n{}\nFrom program {}: {again}\n", finding.fault, finding.small, finding.number);
    }
    println!("{compared}; {} findings", findings.len());
    end(findings.len())
}

fn compare_integers(campaign: &Campaign) -> ExitCode {
    let Campaign { seed, items, .. } = *campaign;
    let solvers = selvedge_driver::external::find_solvers(&selvedge_check::Solvers::default());
    let tally = match integers::compare::run(seed, items, &solvers, progress(items.count)) {
        Ok(tally) => tally,
        Err(hang) => return report_hang(seed, &hang),
    };
    eprintln!();
    for (number, small, found) in &tally.findings {
        println!(
            "{found}\n\n{small}\nFrom program {number}: --bin fuzz -- integers --seed {seed} --first {number} --count 1\n"
        );
    }
    println!("{tally}{} findings", tally.findings.len());
    end(tally.findings.len())
}

fn compare_systems(campaign: &Campaign) -> ExitCode {
    let Campaign { seed, items, .. } = *campaign;
    let tally = match coverability::run(seed, items, progress(items.count)) {
        Ok(tally) => tally,
        Err(hang) => return report_hang(seed, &hang),
    };
    eprintln!();
    for (number, why) in &tally.faults {
        println!("{why}\nFrom system {number}: --bin fuzz -- tts --seed {seed} --first {number} --count 1\n");
    }
    println!("{tally}; {} findings", tally.faults.len());
    end(tally.faults.len())
}

fn compare_in_turns(jobs: usize) -> ExitCode {
    let patience = Some(Duration::from_secs(1_800));
    let effort = Effort { last: 4, eagerly: 4, rules: 1_500_000, height: 6, configurations: 300_000, patience };
    let tally = contexts::systems::compare_all(effort, jobs, |path, compared| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match compared {
            Ok(rows) => rows.iter().for_each(|row| println!("{name}: {row}")),
            Err(why) => println!("{name}: {why}"),
        }
    });
    println!("{tally}");
    end(tally.findings())
}

fn compare_spin(campaign: &Campaign) -> ExitCode {
    let Campaign { seed, items, budget } = *campaign;
    let Some(peer) = Spin::find() else { return usage("spin and a C compiler are needed") };
    let (tally, findings) = match spin::run(seed, items, budget, &peer, progress(items.count)) {
        Ok(result) => result,
        Err(hang) => return report_hang(seed, &hang),
    };
    eprintln!();
    for finding in &findings {
        println!("{}\n\n{}\nFrom program {}\n", finding.fault, finding.small, finding.number);
    }
    println!("{tally}; {} findings", findings.len());
    end(findings.len())
}

fn parser(campaign: &Campaign) -> ExitCode {
    let sources = match texts::sources() {
        Ok(sources) => sources,
        Err(message) => return usage(&message),
    };
    println!("{} sources", sources.len());
    let tally = match texts::run(sources, campaign.seed, campaign.items, progress(campaign.items.count)) {
        Ok(tally) => tally,
        Err(hang) => return report_hang(campaign.seed, &hang),
    };
    eprintln!();
    for (number, text, fault) in &tally.findings {
        println!("{fault}\n\n{}\n\n{text:?}\nFrom mutant {number}\n", String::from_utf8_lossy(text));
    }
    let (total, n_findings) = (tally.total(), tally.findings.len());
    println!(
        "{total} texts: {} broken, {} parsed, {} lowered; {n_findings} findings",
        tally.broken, tally.parsed, tally.lowered
    );
    end(n_findings)
}

/// Shows how far it is, once a second.
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

fn report_hang(seed: u64, hang: &Hang) -> ExitCode {
    println!("\nhangs: one of {:?} with --seed {seed}", hang.numbers);
    end(1)
}

fn end(n_findings: usize) -> ExitCode {
    if n_findings == 0 { ExitCode::SUCCESS } else { ExitCode::from(6) }
}
