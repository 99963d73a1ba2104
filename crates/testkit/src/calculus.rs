//! The equations of `calculus/`, and those that are generated for a number of rounds or contexts, compared with the
//! engines on generated programs.
//!
//! A third of the programs each: one thread, with recursion, for the three forms of sequential reachability; threads
//! that take turns; templates, also such that run once, in rounds. The last two in 1 to 3 rounds, half of them with
//! recursion.

use selvedge_check::{ContextBound, RoundBound, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::calculus::{SizeReports, solve, supports};
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::fp::{self, Schedule};
use selvedge_ir::fp::Fixpoint;
use selvedge_ir::{Count, Program};

use crate::corpus::root;
use crate::differ::pose;
use crate::generate::{Weights, generate_with};
use crate::harness::{COMPARISONS, Comparison, Fault, Tally, fault};
use crate::model::Model;
use crate::oracle::{Budget, patient};
use crate::rng::Rng;

/// The comparison of equations with engines.
pub const EQUATIONS: Comparison = Comparison::new(item, compare);

/// The equations about one thread.
pub const SEQUENTIAL: [&str; 3] = ["summaries", "entry-forward", "entry-forward-split"];

/// Generates the program with a number.
pub fn item(seed: u64, number: u64) -> Model {
    let half = number / 3;
    let weights = match number % 3 {
        0 => Weights::recursive(),
        1 => {
            let [(_, mut named), .., (_, mut sections), _] = Weights::in_turns();
            (named.threads, sections.threads) = ((2, 2), (2, 2));
            if half.is_multiple_of(2) {
                named.chances.recursion = 0;
            }
            if half % 4 < 2 { named } else { sections }
        }
        _ => Weights::in_rounds()[(half % 4) as usize].1.clone(),
    };
    generate_with(&mut Rng::for_item(seed, number), &weights)
}

/// Reads a file of `calculus/`.
pub fn equations(name: &str) -> Fixpoint {
    let path = root().join("calculus").join(format!("{name}.fp"));
    let text = std::fs::read_to_string(&path).expect("the equations are part of the project");
    let loaded = fp::load(&text);
    loaded.fixpoint.unwrap_or_else(|| panic!("{}: {:?}", path.display(), loaded.diagnostics))
}

fn compare(model: &Model, number: u64, _: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let posed = pose(model)?;
    let (third, k) = (number / 3, 1 + (number / 3 % 3) as u32);
    let (kind, schedule) = match number % 3 {
        0 => (EngineKind::Summaries, None),
        1 => (EngineKind::Contexts, Some(Schedule::Contexts)),
        _ => (EngineKind::Rounds, Some(Schedule::Rounds)),
    };
    let limited = number % 3 != 2 || third.is_multiple_of(2);
    let program = if limited { posed.asked.clone() } else { any_number(&posed.asked) };
    let task = Task { program: &program, target: &posed.target, threads: ThreadScope::Unbounded };
    let inlined = simplify(&task, if schedule.is_none() { &[] } else { &[Pass::Inline] });
    let small = inlined.task(task.threads);
    let mut options = EngineOptions::default();
    options.contexts.bound = Some(ContextBound::exactly(k));
    options.rounds.bound = Some(RoundBound::exactly(k));
    let engine = build(kind, &options);
    if engine.supports(&small).is_err() {
        tally.count("open");
        return Ok(());
    }
    // Within the bound the engine explores everything, so a bound that was reached means that there is no error within.
    let is_unsafe = match engine.check(&small, &Run::unlimited()) {
        Ok(Verdict::Unsafe(_)) => true,
        Ok(Verdict::Safe(_)) | Err(Stop::BoundReached(_)) => false,
        Err(stop) => return fault(kind.name(), stop.to_string()),
    };
    let systems = systems(kind, schedule, k);
    let mut n_solved = 0;
    for (name, fixpoint) in systems.iter().filter(|(_, fixpoint)| supports(fixpoint, small.program).is_ok()) {
        let reports = if number.is_multiple_of(2) { SizeReports::End } else { SizeReports::Rounds };
        let solved = solve(fixpoint, small.program, small.target, reports, &patient(10));
        let solved = match solved {
            Err(Stop::TimeLimit(_)) => {
                tally.count("undecided");
                continue;
            }
            solved => solved.or_else(|stop| fault(*name, stop.to_string()))?,
        };
        n_solved += 1;
        tally.count(COMPARISONS);
        if solved.error != is_unsafe {
            return fault(*name, format!("Error() is {}, but `{}` says {is_unsafe}", solved.error, kind.name()));
        }
    }
    tally.count(match (n_solved, is_unsafe) {
        (0, _) => "open",
        (_, true) => "unsafe",
        (_, false) => "safe",
    });
    Ok(())
}

/// Returns the equations that answer the question of an engine: those of `calculus/`, and generated ones.
fn systems(kind: EngineKind, schedule: Option<Schedule>, k: u32) -> Vec<(&'static str, Fixpoint)> {
    let Some(schedule) = schedule else { return SEQUENTIAL.map(|file| (file, equations(file))).into() };
    let of_file = (k == 2).then(|| (kind.name(), equations(kind.name())));
    of_file.into_iter().chain([("written", written(schedule, k))]).collect()
}

/// Returns the equations for a number of rounds or contexts.
pub fn written(schedule: Schedule, k: u32) -> Fixpoint {
    fp::load(&fp::system(schedule, k)).fixpoint.expect("what is written reads")
}

/// Returns the program with any number of threads of each kind.
fn any_number(program: &Program) -> Program {
    let mut program = program.clone();
    for entry in &mut program.entries {
        entry.count = Count::Any;
    }
    program
}
