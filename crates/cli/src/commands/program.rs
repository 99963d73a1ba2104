//! Programs as the commands need them: read, or refused with their diagnostics.

use std::path::Path;

use selvedge_check::Subject;
use selvedge_driver::Failure;
use selvedge_frontend::Language;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_ir::span::SourceMap;
use selvedge_report::diagnostic::{Shown, render};
use selvedge_report::json::ReadError;
use selvedge_report::{Context, Source};

use super::language::{self, language_of};
use crate::args::InputFormat;
use crate::crash;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

/// The number of warnings of one kind that are shown.
pub(crate) const SHOWN: Shown = Shown::PerCode(5);

/// A program with its text.
pub(crate) struct Program {
    pub(crate) source: Source,
    pub(crate) map: SourceMap,
    pub(crate) program: selvedge_ir::Program,
}

impl Program {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { program: &self.program, map: &self.map, text: self.source.text() }
    }

    /// The same for reports; `program` is the one with the initial threads of the question.
    pub(crate) fn context<'a>(&'a self, program: &'a selvedge_ir::Program) -> Context<'a> {
        Context { program, map: &self.map, source: &self.source }
    }
}

/// Which warnings reach the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Warnings {
    Shown,
    Hidden,
}

/// Reads a program and prints its diagnostics; those that are errors refuse it.
pub(crate) fn load(
    input: &Input,
    options: &LoadOptions,
    warnings: Warnings,
    session: &Session,
) -> Result<Program, Exit> {
    load_as(language_of(input, InputFormat::Auto), input, options, warnings, session)
}

/// The same for an input of a language that is known.
pub(crate) fn load_as(
    language: Language,
    input: &Input,
    options: &LoadOptions,
    warnings: Warnings,
    session: &Session,
) -> Result<Program, Exit> {
    let source = language::read(language, input, session).map_err(|message| {
        session.printer.error(&message);
        Exit::Input
    })?;
    let loaded = language.load(source.text(), options);
    print_diagnostics(&source, &loaded.diagnostics, warnings, session);
    if loaded.system.is_some() && loaded.program.is_none() {
        session.printer.error(&format!("{}: this command does not support pushdown systems", source.name));
    }
    let program = loaded.program.ok_or(Exit::Input)?;
    Ok(Program { source, map: loaded.source_map, program })
}

/// Reads a text, or says why not.
pub(crate) fn read(input: &Input, session: &Session) -> Result<Source, Exit> {
    input.read().map_err(|message| {
        session.printer.error(&message);
        Exit::Input
    })
}

/// Prints diagnostics on standard error. Where warnings are hidden, errors are not.
pub(crate) fn print_diagnostics(source: &Source, diagnostics: &[Diagnostic], warnings: Warnings, session: &Session) {
    let errors: Vec<Diagnostic>;
    let shown = match warnings {
        Warnings::Shown => diagnostics,
        Warnings::Hidden => {
            errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).cloned().collect();
            &errors
        }
    };
    session.printer.err(&render(source, shown, SHOWN, &session.printer.err_palette()));
}

/// Writes a file, or says why not.
pub(crate) fn write(path: &Path, text: &str, session: &Session) -> Exit {
    match std::fs::write(path, text) {
        Ok(()) => Exit::Success,
        Err(error) => {
            session.printer.error(&format!("cannot write {}: {error}", path.display()));
            Exit::Input
        }
    }
}

/// Says why there is no answer to a question.
pub(crate) fn failed(failure: &Failure, session: &Session) -> Exit {
    match failure {
        Failure::Usage(error) => refuse(error, session),
        Failure::Unsupported(unsupported) => {
            session.printer.error(&unsupported.reason);
            Exit::Unknown
        }
        Failure::Internal { .. } => {
            session.printer.err(&crash::report(&failure.to_string()));
            Exit::Internal
        }
    }
}

/// Says why a question does not fit a program.
pub(crate) fn refuse(error: &selvedge_check::InvalidQuestion, session: &Session) -> Exit {
    session.printer.error(&error.message);
    if let Some(help) = &error.help {
        session.printer.help(help);
    }
    Exit::Usage
}

/// Says why a trace or a certificate cannot be read.
pub(crate) fn not_readable(source: &Source, error: &ReadError, session: &Session) -> Exit {
    let separator = if matches!(error, ReadError::Syntax { .. }) { ":" } else { ": " };
    session.printer.error(&format!("{}{separator}{error}", source.name));
    Exit::Input
}
