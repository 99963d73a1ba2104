//! The check of a pushdown system.

use std::time::Instant;

use selvedge_check::{Bound, ContextBound, Run, Stop};
use selvedge_driver::{SystemOutcome, TurnsEngine, UsageError, check_system, check_turns};
use selvedge_engines::EngineKind;
use selvedge_engines::pushdown::Direction;
use selvedge_frontend::pds;
use selvedge_ir::pds::turns::{self, NoTurns};
use selvedge_ir::pds::{Pds, Threads};
use selvedge_ir::span::SourceMap;
use selvedge_report::Source;

use super::one::{Ending, Parts};
use crate::args::{CheckArgs, Way};
use crate::commands::system::{self, NoSystem};
use crate::input::Input;

pub(super) fn load_and_check(
    input: &Input,
    source: &Source,
    args: &CheckArgs,
    run: &Run<'_>,
    reading: Instant,
) -> (Parts, Ending) {
    if let Some(bound) = args.contexts {
        let (threads, diagnostics) = system::load_threads(input, source);
        let threads = threads.map_err(Ending::from).and_then(|threads| with_view(threads, args));
        let ending = threads.map_or_else(|ending| ending, |threads| in_turns(threads, bound, args, run));
        return (Parts { diagnostics, map: SourceMap::default(), load: reading.elapsed() }, ending);
    }
    let (system, diagnostics) = system::load(input, source);
    let ending = match system.map_err(Ending::from).and_then(|pds| with_target(pds, args)) {
        Ok(pds) => answer(pds, args, run),
        Err(ending) => ending,
    };
    let map = SourceMap::default();
    (Parts { diagnostics, map, load: reading.elapsed() }, ending)
}

impl From<NoSystem> for Ending {
    fn from(reason: NoSystem) -> Ending {
        match reason {
            NoSystem::Erroneous => Ending::Erroneous,
            NoSystem::Unsupported(reason) => Ending::Unsupported(reason),
            NoSystem::Incomplete(error) => Ending::Misasked(error),
            NoSystem::NotRead(message) => Ending::NotRead(message),
        }
    }
}

fn answer(pds: Pds, args: &CheckArgs, run: &Run<'_>) -> Ending {
    let direction = match args.direction {
        Way::Forward => Direction::Forward,
        Way::Backward => Direction::Backward,
    };
    match check_system(pds, direction, run) {
        Ok(report) => Ending::System(Box::new(report)),
        Err(reason) => Ending::Internal(format!("`pushdown` and the judge disagree: {reason}")),
    }
}

/// The answer about threads that take turns.
fn in_turns(threads: Threads, bound: ContextBound, args: &CheckArgs, run: &Run<'_>) -> Ending {
    if threads.target.is_none() {
        return incomplete("the system has no target", "spec");
    }
    let engine = match args.engine.0 {
        Some(EngineKind::Pushdown) => return as_one_system(&threads, bound, args, run),
        Some(EngineKind::ContextsEager) => TurnsEngine::Eager,
        _ => TurnsEngine::Lazy,
    };
    match check_turns(threads, bound, engine, run) {
        Ok(Some(report)) => Ending::Turns(Box::new(report)),
        Ok(None) => incomplete("the initial configuration is not known", "init"),
        Err(reason) => Ending::Internal(format!("an engine and the judge disagree: {reason}")),
    }
}

fn incomplete(message: &str, ending: &str) -> Ending {
    let help = format!("put it beside the file, in a file of the same name that ends in .{ending}");
    Ending::Misasked(UsageError { message: message.to_string(), help: Some(help) })
}

/// The answer by one pushdown system for each number of contexts, smallest first.
fn as_one_system(threads: &Threads, bound: ContextBound, args: &CheckArgs, run: &Run<'_>) -> Ending {
    let mut last = None;
    for k in bound.numbers() {
        let turns = match turns::in_turns(threads, k) {
            Ok(turns) => turns,
            Err(NoTurns::NoInitial) => return incomplete(&NoTurns::NoInitial.to_string(), "init"),
            Err(reason @ NoTurns::TooLarge(_)) => {
                return Ending::Unsupported(format!("{reason} (at {k} contexts per thread)"));
            }
        };
        match answer(turns.pds, args, run) {
            Ending::System(report) if matches!(report.outcome, SystemOutcome::Unreachable(_)) => last = Some(report),
            ending => return ending,
        }
    }
    let mut report = last.expect("a range has a number");
    report.outcome = SystemOutcome::Unknown(Stop::BoundReached(Bound::Contexts(bound.last)));
    Ending::System(report)
}

/// The threads with the target that the user asks for.
fn with_view(mut threads: Threads, args: &CheckArgs) -> Result<Threads, Ending> {
    if let Some(target) = &args.target {
        let view = pds::read_view(target, &threads).map_err(|found| {
            let message = found.first().map_or("it is empty", |diagnostic| diagnostic.message.as_str());
            wrong_target(target, message)
        });
        threads.target = Some(view?);
    }
    Ok(threads)
}

fn wrong_target(target: &str, message: &str) -> Ending {
    Ending::Misasked(UsageError { message: format!("--target {target}: {message}"), help: None })
}

/// The system with the target that the user asks for.
fn with_target(mut pds: Pds, args: &CheckArgs) -> Result<Pds, Ending> {
    if let Some(target) = &args.target {
        let head = pds::read_head(target, &pds);
        pds.targets = vec![head.map_err(|message| wrong_target(target, &message))?];
    }
    if pds.targets.is_empty() {
        return Err(Ending::Misasked(UsageError {
            message: "the system has no target".to_string(),
            help: Some("give --target '<p, g>', or write a line `target <p, g>`".to_string()),
        }));
    }
    Ok(pds)
}
