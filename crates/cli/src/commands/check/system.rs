//! The check of a pushdown system.

use std::path::PathBuf;
use std::time::Instant;

use selvedge_check::Run;
use selvedge_driver::{UsageError, check_system};
use selvedge_engines::pushdown::Direction;
use selvedge_frontend::pds::{self, System};
use selvedge_ir::pds::{NotSingle, Pds, Threads, View};
use selvedge_ir::span::SourceMap;
use selvedge_report::Source;

use super::one::{Ending, Parts};
use crate::args::{CheckArgs, Way};
use crate::input::Input;

pub(super) fn load_and_check(
    input: &Input,
    source: &Source,
    args: &CheckArgs,
    run: &Run<'_>,
    reading: Instant,
) -> (Parts, Ending) {
    let loaded = pds::load(source.text());
    let system = match loaded.system {
        Some(System::Single(pds)) => Ok(pds),
        Some(System::Threads(threads)) => single(threads, input),
        None => Err(Ending::Erroneous),
    };
    let ending = match system.and_then(|pds| with_target(pds, args)) {
        Ok(pds) => answer(pds, args, run),
        Err(ending) => ending,
    };
    let map = SourceMap::default();
    (Parts { diagnostics: loaded.diagnostics, map, load: reading.elapsed() }, ending)
}

fn answer(pds: Pds, args: &CheckArgs, run: &Run<'_>) -> Ending {
    let direction = match args.direction {
        Way::Forward => Direction::Forward,
        Way::Backward => Direction::Backward,
    };
    match check_system(pds, direction, run) {
        Ok(report) => Ending::System(Box::new(report)),
        Err(reason) => Ending::Internal(format!("`pushdown` found a run that is none: {reason:?}")),
    }
}

/// The system of one thread, with the configuration and the target that stand beside the file.
fn single(mut threads: Threads, input: &Input) -> Result<Pds, Ending> {
    threads.initial = beside(input, "init", &threads)?;
    threads.target = beside(input, "spec", &threads)?;
    threads.single().map_err(|reason| match reason {
        NotSingle::Threads(_) => Ending::Unsupported(reason.to_string()),
        NotSingle::NoInitial => Ending::Misasked(UsageError {
            message: reason.to_string(),
            help: Some("put it beside the file, in a file of the same name that ends in .init".to_string()),
        }),
    })
}

/// A file beside the input, if there is one.
fn beside(input: &Input, ending: &str, threads: &Threads) -> Result<Option<View>, Ending> {
    let Input::File(path) = input else { return Ok(None) };
    let path: PathBuf = path.with_extension(ending);
    if !path.exists() {
        return Ok(None);
    }
    let source = Input::File(path).read().map_err(Ending::NotRead)?;
    let view = pds::read_view(source.text(), threads);
    view.map(Some).map_err(|found| {
        let message = found.first().map_or("it is empty", |diagnostic| diagnostic.message.as_str());
        let line = found.first().map_or(1, |diagnostic| source.line(diagnostic.primary.span.start as usize));
        Ending::NotRead(format!("{}:{line}: {message}", source.name))
    })
}

/// The system with the target that the user asks for.
fn with_target(mut pds: Pds, args: &CheckArgs) -> Result<Pds, Ending> {
    if let Some(target) = &args.target {
        let head = pds::read_head(target, &pds);
        let wrong = |message| UsageError { message: format!("--target {target}: {message}"), help: None };
        pds.targets = vec![head.map_err(|message| Ending::Misasked(wrong(message)))?];
    }
    if pds.targets.is_empty() {
        return Err(Ending::Misasked(UsageError {
            message: "the system has no target".to_string(),
            help: Some("give --target '<p, g>', or write a line `target <p, g>`".to_string()),
        }));
    }
    Ok(pds)
}
