//! Programs as the commands need them: read, or refused with their diagnostics.

use selvedge_check::{InvalidQuestion, OwnedTask, Subject, Task};
use selvedge_driver::Failure;
use selvedge_frontend::Language;
use selvedge_frontend::diagnostic::{Code, Diagnostic};
use selvedge_ir::span::SourceMap;
use selvedge_report::diagnostic::{Shown, render};
use selvedge_report::json::{QuestionView, ReadError, digest};
use selvedge_report::{Context, Source, text};

use super::language::{self, language_of};
use super::reader;
use crate::args::{InputFormat, QuestionArgs};
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
    /// The number of threads in a run, if the text bounds it.
    pub(crate) threads: Option<u32>,
    /// The question about it.
    pub(crate) question: QuestionView,
    /// The options of the question and of reading that come from the file.
    pub(crate) file_options: String,
}

impl Program {
    /// Poses the question, or says why it does not fit.
    pub(crate) fn pose(&self, session: &Session) -> Result<OwnedTask, Exit> {
        let posed = self.question.question().pose(self.subject());
        let posed = posed.map_err(|error| refuse(&because_of_file(error, &self.file_options), session))?;
        let (program, target, threads) = posed;
        Ok(OwnedTask { program, target, threads })
    }

    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { program: &self.program, map: &self.map, text: self.source.text() }
    }

    /// Says what is asked, in two lines.
    pub(crate) fn asked(&self, task: &Task<'_>) -> String {
        let context = self.context(task.program);
        let target = text::target(context, task.target);
        let options = match self.file_options.as_str() {
            "" => String::new(),
            options => format!("  options:     {options} (from the file)\n"),
        };
        format!("{options}  scope:       {}\n  question:    {target}\n", text::scope(context, task))
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

/// What the options of a file decide, beside how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileQuestion {
    /// The question, where the command line leaves it open.
    Counts,
    /// Nothing: the command asks no question about the program, or only that of its command line.
    Ignored,
}

/// Reads a program and prints its diagnostics; those that are errors refuse it.
pub(crate) fn load(
    input: &Input,
    question: &QuestionView,
    file: FileQuestion,
    warnings: Warnings,
    session: &Session,
) -> Result<Program, Exit> {
    load_as(language_of(input, InputFormat::Auto), input, question, file, warnings, session)
}

/// The same for an input of a language that is known.
pub(crate) fn load_as(
    language: Language,
    input: &Input,
    question: &QuestionView,
    file: FileQuestion,
    warnings: Warnings,
    session: &Session,
) -> Result<Program, Exit> {
    let source = language::read(language, input, session).map_err(|message| session.refuse(Exit::Input, message))?;
    load_text((language, input), source, question, file, warnings, session)
}

/// The same for the text of an input, or one that is made from it.
pub(crate) fn load_text(
    (language, input): (Language, &Input),
    source: Source,
    question: &QuestionView,
    file: FileQuestion,
    warnings: Warnings,
    session: &Session,
) -> Result<Program, Exit> {
    let file_options = reader::file_options(language, input, &source, session);
    let (question, taken) = match file {
        FileQuestion::Counts => question.clone().or_file(&file_options),
        FileQuestion::Ignored => (question.clone(), QuestionView::default()),
    };
    let options = reader::options(language, input, &file_options, question.load_options(), session);
    let (options, words) = options.map_err(|message| session.refuse(Exit::Input, message))?;
    let file_options = file_words(&taken, &words);
    reader::validate(language, &options, session).map_err(|error| refuse(&error, session))?;
    let mut loaded = language.load(source.text(), &options);
    let source = loaded.source.take().unwrap_or(source);
    print_diagnostics(&source, &loaded.diagnostics, warnings, session);
    if loaded.system.is_some() && loaded.program.is_none() {
        session.printer.error(&format!("{}: this command does not support pushdown systems", source.name));
    }
    let program = loaded.program.ok_or_else(|| without_program(&loaded.diagnostics))?;
    Ok(Program { source, map: loaded.source_map, program, threads: loaded.threads, question, file_options })
}

/// Returns the options that come from a file, as the command line would have them.
pub(crate) fn file_words(question: &QuestionView, reading: &[String]) -> String {
    let question = Some(question.options()).filter(|options| !options.is_empty());
    question.iter().chain(reading).cloned().collect::<Vec<_>>().join(" ")
}

/// Adds that options of the file take part in a question that does not fit.
pub(crate) fn because_of_file(error: InvalidQuestion, file_options: &str) -> InvalidQuestion {
    let misses_name = error.message.contains("no label") || error.message.starts_with("no assertion");
    let names = ["--label", "--assertion", "--together"].iter().any(|option| file_options.contains(option));
    if file_options.is_empty() || misses_name && !names {
        return error;
    }
    let file = format!("the file asks for {file_options}; --no-file-options ignores this");
    InvalidQuestion { help: Some(error.help.map_or(file.clone(), |help| format!("{help}; {file}"))), ..error }
}

/// Returns the end of a command whose input has errors: one that only has what is not supported yet is not wrong.
fn without_program(diagnostics: &[Diagnostic]) -> Exit {
    let mut errors = diagnostics.iter().filter(|found| found.is_error()).peekable();
    let is_unsupported = errors.peek().is_some() && errors.all(|error| error.code == Code::CUnsupported);
    if is_unsupported { Exit::Unknown } else { Exit::Input }
}

/// Reads a text, or says why not.
pub(crate) fn read(input: &Input, session: &Session) -> Result<Source, Exit> {
    input.read().map_err(|message| session.refuse(Exit::Input, message))
}

/// Reads a trace or a certificate, or says why not.
pub(crate) fn read_data(input: &Input, session: &Session) -> Result<Source, Exit> {
    input.read_data().map_err(|message| session.refuse(Exit::Input, message))
}

/// Reads a program and poses a question about it.
pub(crate) fn pose(
    input: &Input,
    question: &QuestionArgs,
    file: FileQuestion,
    warnings: Warnings,
    session: &Session,
) -> Result<(Program, OwnedTask), Exit> {
    let program = load(input, &question.view(), file, warnings, session)?;
    let task = program.pose(session)?;
    Ok((program, task))
}

/// Refuses evidence, a `trace` or a `certificate`, that answers another question than the one that the user asks.
pub(crate) fn same_question(
    asked: &QuestionView,
    answered: &QuestionView,
    evidence: &str,
    from: &Source,
    session: &Session,
) -> Result<(), Exit> {
    if asked == answered {
        return Ok(());
    }
    let help = match answered.options() {
        options if options.is_empty() => format!("leave out {}", asked.options()),
        options => format!("add {options}"),
    };
    let questions = [asked.options(), answered.options()];
    Err(other_question(questions, &help, evidence, from, session))
}

/// Prints that evidence answers another question, given both as the options that ask them, and how to ask that one.
pub(crate) fn other_question(
    [asked, answered]: [String; 2],
    help: &str,
    evidence: &str,
    from: &Source,
    session: &Session,
) -> Exit {
    let shown = |options: String| if options.is_empty() { "(no options)".to_string() } else { options };
    session.printer.error(&format!(
        "{}: the {evidence} answers another question\n  you ask:     {}\n  it answers:  {}",
        from.name,
        shown(asked),
        shown(answered)
    ));
    session.printer.help(&format!("to ask the question of the {evidence}, {help}"));
    Exit::Input
}

/// Refuses evidence, and says so if it was made from another text than that of the program.
pub(crate) fn reject(message: &str, evidence: &str, made_from: &str, source: &Source, session: &Session) -> Exit {
    session.printer.error(message);
    if digest(source.text()) != made_from {
        session.printer.help(&format!("{} is not the text that the {evidence} was made from", source.name));
    }
    Exit::Input
}

/// Refuses standard input as two of the inputs.
pub(crate) fn check_stdin<'i>(inputs: impl IntoIterator<Item = &'i Input>) -> Result<(), &'static str> {
    match inputs.into_iter().filter(|input| **input == Input::Stdin).count() {
        0 | 1 => Ok(()),
        _ => Err("standard input can be read once only: `-` is given twice"),
    }
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

/// Says why there is no answer to a question.
pub(crate) fn failed(failure: &Failure, session: &Session) -> Exit {
    match failure {
        Failure::Usage(error) => refuse(error, session),
        Failure::Unsupported(unsupported) => session.refuse(Exit::Unknown, unsupported),
        Failure::Internal { .. } | Failure::Panicked { .. } => {
            session.printer.err(&crash::report(&failure.to_string()));
            Exit::Internal
        }
    }
}

/// Says why a question does not fit a program.
pub(crate) fn refuse(error: &InvalidQuestion, session: &Session) -> Exit {
    session.printer.error(&error.message);
    if let Some(help) = &error.help {
        session.printer.help(help);
    }
    Exit::Usage
}

/// Says why a trace or a certificate cannot be read.
pub(crate) fn not_readable(source: &Source, error: &ReadError, session: &Session) -> Exit {
    let separator = if matches!(error, ReadError::Syntax { .. }) { ":" } else { ": " };
    session.refuse(Exit::Input, format!("{}{separator}{error}", source.name))
}
