//! The language of an input, and the files that belong to it.

use std::path::Path;

use selvedge_frontend::{Language, Source, tts};

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

/// Returns a system with the targets in a second file, which has nothing else.
fn with_target(source: Source, path: &Path) -> Result<Source, String> {
    let target = Input::File(path.to_path_buf()).read()?;
    tts::with_targets(source, target)
}
