//! The check of a pushdown system.

use std::time::Instant;

use selvedge_check::{Reason, Run, Unsupported};
use selvedge_driver::{OneSystem, check};
use selvedge_engines::EngineKind;
use selvedge_frontend::pds;
use selvedge_ir::pds::Threads;
use selvedge_report::Source;

use super::one::{CheckResult, NoAnswer, ReadText};
use super::options::options;
use crate::args::CheckArgs;
use crate::commands::system::{self, NoSystem};
use crate::input::Input;

pub(super) fn load_and_check(
    input: &Input,
    source: &Source,
    args: &CheckArgs,
    run: &Run<'_>,
    reading: Instant,
) -> (ReadText, Result<CheckResult, NoAnswer>) {
    let (result, diagnostics) = if args.contexts.is_some() {
        let (threads, diagnostics) = system::load_threads(input, source);
        let threads = threads.map_err(NoAnswer::from).and_then(|threads| with_view(threads, args));
        (threads.and_then(|threads| in_turns(threads, args, run)), diagnostics)
    } else {
        let (system, diagnostics) = system::load(input, source);
        let system = system.map_err(NoAnswer::from).and_then(|pds| {
            let pds = system::with_target(pds, args.target.as_deref());
            pds.map_err(NoAnswer::Invalid)
        });
        let answer = system.and_then(|pds| Ok(check(pds, &options(args, args.question.question()), run)?));
        (answer.map(|answer| CheckResult::System(Box::new(answer))), diagnostics)
    };
    (ReadText { diagnostics, load: reading.elapsed(), ..ReadText::default() }, result)
}

impl From<NoSystem> for NoAnswer {
    fn from(reason: NoSystem) -> NoAnswer {
        match reason {
            NoSystem::Erroneous => NoAnswer::Erroneous,
            NoSystem::Unsupported(reason) => NoAnswer::Undecided(Reason::Unsupported(Unsupported::new(reason))),
            NoSystem::Incomplete(error) => NoAnswer::Invalid(error),
            NoSystem::NotRead(message) => NoAnswer::NotRead(message),
        }
    }
}

/// Checks threads that take turns.
fn in_turns(threads: Threads, args: &CheckArgs, run: &Run<'_>) -> Result<CheckResult, NoAnswer> {
    let options = options(args, args.question.question());
    Ok(match args.engine.0 {
        Some(EngineKind::Pushdown) => CheckResult::System(Box::new(check(OneSystem(threads), &options, run)?)),
        _ => CheckResult::Threads(Box::new(check(threads, &options, run)?)),
    })
}

/// The threads with the target that the user asks for.
fn with_view(mut threads: Threads, args: &CheckArgs) -> Result<Threads, NoAnswer> {
    if let Some(target) = &args.target {
        let view = pds::read_view(target, &threads).map_err(|found| {
            let message = found.first().map_or("it is empty", |diagnostic| diagnostic.message.as_str());
            NoAnswer::Invalid(system::wrong_target(target, message))
        });
        threads.target = Some(view?);
    }
    Ok(threads)
}
