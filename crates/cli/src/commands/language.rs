//! The language of an input, the files that belong to it, and the questions that fit it.

use std::path::Path;

use selvedge_check::InvalidQuestion;
use selvedge_frontend::{Language, Source, tts};
use selvedge_ir::Program;
use selvedge_report::json::QuestionView;

use crate::args::InputFormat;
use crate::input::Input;
use crate::session::Session;

/// Returns the language of an input: the one that the user names, or that of its file name.
pub(crate) fn language_of(input: &Input, format: InputFormat) -> Language {
    match (format, input) {
        (InputFormat::Bp, _) | (InputFormat::Auto, Input::Stdin) => Language::Bp,
        (InputFormat::C, _) => Language::C,
        (InputFormat::Gcl, _) => Language::Gcl,
        (InputFormat::Pds, _) => Language::Pds,
        (InputFormat::Tts, _) => Language::Tts,
        (InputFormat::Spec, _) => Language::Spec,
        (InputFormat::Auto, Input::File(path)) => Language::of_path(path),
    }
}

/// Reads the text of an input, or says why it cannot. The target of a thread-transition system is in a file of its own,
/// whose text is appended.
pub(crate) fn read(language: Language, input: &Input, session: &Session) -> Result<Source, String> {
    let source = input.read()?;
    if language != Language::Tts {
        return Ok(source);
    }
    let beside = match input {
        Input::File(path) => Some(path.with_extension("prop")).filter(|path| path.exists()),
        Input::Stdin => None,
    };
    match session.prop.as_ref().or(beside.as_ref()) {
        Some(path) => with_target(source, path),
        None => Ok(source),
    }
}

/// Checks that a question fits a program of this language, and that nothing is missing in it.
pub(crate) fn validate(language: Language, program: &Program, question: &QuestionView) -> Result<(), InvalidQuestion> {
    if matches!(language, Language::Bp | Language::Pds) {
        return Ok(());
    }
    let invalid =
        |message: &str, help: &str| Err(InvalidQuestion { message: message.to_string(), help: Some(help.to_string()) });
    if question.entry.is_some() {
        return invalid("--entry is for Boolean programs", "leave it out");
    }
    if matches!(language, Language::C | Language::Gcl) {
        return Ok(());
    }
    if question.deadlock && language == Language::Spec {
        return invalid("--deadlock is not for Petri nets", "write the net as a thread-transition system (.tts)");
    }
    let asks =
        question.label.is_some() || question.assertion.is_some() || !question.together.is_empty() || question.deadlock;
    if !asks && !has_target(program) {
        let help =
            "put it beside the file, in a file of the same name that ends in .prop, or give --prop FILE or --label";
        return invalid("the system has no target", help);
    }
    Ok(())
}

/// Returns whether the program of a system has a target.
fn has_target(program: &Program) -> bool {
    program.labels.iter().any(|label| label.name == "ERROR")
}

/// Returns a system with the targets in a second file, which has nothing else.
fn with_target(source: Source, path: &Path) -> Result<Source, String> {
    let target = Input::File(path.to_path_buf()).read()?;
    match tts::find_other_lines(target.text()) {
        Some(other) => Err(format!("{}: {}", target.place(other.primary.span.start as usize), other.message)),
        None => Ok(source.append(target)),
    }
}
