//! Pushdown systems as the commands need them: read, or refused.

use std::path::PathBuf;

use selvedge_check::InvalidQuestion;
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_frontend::{Language, System, pds};
use selvedge_ir::pds::{NotSingle, Pds, Threads, View};
use selvedge_report::Source;

use super::language::language_of;
use super::program::{self, Warnings};
use crate::args::InputFormat;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

/// Why there is no system of one thread.
pub(crate) enum NoSystem {
    /// The diagnostics say what is wrong.
    Erroneous,
    /// It has several threads; a sentence says so.
    Unsupported(String),
    /// Something is missing; a sentence says what.
    Incomplete(InvalidQuestion),
    /// A file beside it could not be read; a sentence says why.
    NotRead(String),
}

/// Returns whether an input is a pushdown system.
pub(crate) fn is_system(input: &Input, format: InputFormat) -> bool {
    language_of(input, format) == Language::Pds
}

/// The system in a text, with its diagnostics.
pub(crate) fn load(input: &Input, source: &Source) -> (Result<Pds, NoSystem>, Vec<Diagnostic>) {
    let loaded = pds::load(source.text());
    let system = match loaded.system {
        Some(System::Pds(pds)) => Ok(pds),
        Some(System::Threads(threads)) => single(threads, input),
        Some(System::Tts(_)) | None => Err(NoSystem::Erroneous),
    };
    (system, loaded.diagnostics)
}

/// The same for commands that end where there is no system: prints why.
pub(crate) fn load_or_refuse(input: &Input, warnings: Warnings, session: &Session) -> Result<(Source, Pds), Exit> {
    let source = program::read(input, session)?;
    let (system, diagnostics) = load(input, &source);
    program::print_diagnostics(&source, &diagnostics, warnings, session);
    match system {
        Ok(pds) => Ok((source, pds)),
        Err(NoSystem::Erroneous) => Err(Exit::Input),
        Err(NoSystem::NotRead(message)) => Err(session.refuse(Exit::Input, message)),
        Err(NoSystem::Unsupported(reason)) => Err(session.refuse(Exit::Unknown, format!("{}: {reason}", source.name))),
        Err(NoSystem::Incomplete(error)) => Err(program::refuse(&error, session)),
    }
}

/// The system with the target that the user asks for in the place of those in the file.
pub(crate) fn with_target(mut pds: Pds, target: Option<&str>) -> Result<Pds, InvalidQuestion> {
    if let Some(target) = target {
        let head = pds::read_head(target, &pds);
        pds.targets = vec![head.map_err(|message| wrong_target(target, &message))?];
    }
    Ok(pds)
}

pub(crate) fn wrong_target(target: &str, message: &str) -> InvalidQuestion {
    InvalidQuestion { message: format!("--target {target}: {message}"), help: None }
}

/// The threads of a system with several, with their diagnostics.
pub(crate) fn load_threads(input: &Input, source: &Source) -> (Result<Threads, NoSystem>, Vec<Diagnostic>) {
    let loaded = pds::load(source.text());
    let threads = match loaded.system {
        Some(System::Threads(threads)) => beside_threads(threads, input),
        Some(System::Pds(_)) => Err(NoSystem::Incomplete(InvalidQuestion {
            message: "the system has one thread, whose contexts need not be counted".to_string(),
            help: Some("leave --contexts out".to_string()),
        })),
        Some(System::Tts(_)) | None => Err(NoSystem::Erroneous),
    };
    (threads, loaded.diagnostics)
}

fn beside_threads(mut threads: Threads, input: &Input) -> Result<Threads, NoSystem> {
    threads.initial = beside(input, "init", &threads)?;
    threads.target = beside(input, "spec", &threads)?;
    Ok(threads)
}

/// The system of one thread, with the configuration and the target that are in files next to it.
fn single(threads: Threads, input: &Input) -> Result<Pds, NoSystem> {
    beside_threads(threads, input)?.single().map_err(|reason| match reason {
        NotSingle::NoThread | NotSingle::Several => NoSystem::Unsupported(reason.to_string()),
        NotSingle::NoInitial => NoSystem::Incomplete(InvalidQuestion {
            message: reason.to_string(),
            help: Some("put it beside the file, in a file of the same name that ends in .init".to_string()),
        }),
    })
}

/// A file beside the input, if there is one.
fn beside(input: &Input, ending: &str, threads: &Threads) -> Result<Option<View>, NoSystem> {
    let Input::File(path) = input else { return Ok(None) };
    let path: PathBuf = path.with_extension(ending);
    if !path.exists() {
        return Ok(None);
    }
    let source = Input::File(path).read().map_err(NoSystem::NotRead)?;
    let view = pds::read_view(source.text(), threads);
    view.map(Some).map_err(|found| {
        let message = found.first().map_or("it is empty", |diagnostic| diagnostic.message.as_str());
        let line = found.first().map_or(1, |diagnostic| source.line(diagnostic.primary.span.start as usize));
        NoSystem::NotRead(format!("{}:{line}: {message}", source.name))
    })
}
