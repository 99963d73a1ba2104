//! The languages of inputs, and how a text in each of them becomes a program.

use std::path::Path;

use selvedge_driver::UsageError;
use selvedge_frontend::bp::{self, LoadOptions};
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_frontend::{gcl, spec, tts};
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_report::Source;

use crate::args::{InputFormat, QuestionArgs};
use crate::input::Input;
use crate::session::Session;

/// A language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Boolean programs.
    Bp,
    /// Guarded commands over integers.
    Gcl,
    /// Pushdown systems.
    Pds,
    /// Thread-transition systems.
    Tts,
    /// Petri nets as MIST writes them.
    Spec,
}

impl Language {
    /// The language of an input.
    pub(crate) fn of(input: &Input, format: InputFormat) -> Language {
        let ending = match input {
            Input::File(path) => path.extension().and_then(|ending| ending.to_str()),
            Input::Stdin => None,
        };
        match (format, ending) {
            (InputFormat::Gcl, _) | (InputFormat::Auto, Some("gcl")) => Language::Gcl,
            (InputFormat::Pds, _) | (InputFormat::Auto, Some("pds")) => Language::Pds,
            (InputFormat::Tts, _) | (InputFormat::Auto, Some("tts")) => Language::Tts,
            (InputFormat::Spec, _) | (InputFormat::Auto, Some("spec")) => Language::Spec,
            (InputFormat::Bp | InputFormat::Auto, _) => Language::Bp,
        }
    }

    /// The text of an input, or a sentence that says why there is none. The target of a thread-transition system stands
    /// in a file of its own, which is read as if it stood at the end.
    pub(crate) fn read(self, input: &Input, session: &Session) -> Result<Source, String> {
        let source = input.read()?;
        if self != Language::Tts {
            return Ok(source);
        }
        let beside = match input {
            Input::File(path) => Some(path.with_extension("prop")).filter(|path| path.exists()),
            Input::Stdin => None,
        };
        match session.prop.as_ref().or(beside.as_ref()) {
            Some(path) => with_target(&source, path),
            None => Ok(source),
        }
    }

    /// The program in a text. Pushdown systems are none.
    pub(crate) fn load(self, text: &str, options: &LoadOptions) -> Loaded {
        let of_system = |loaded: tts::Loaded| Loaded {
            program: loaded.program,
            map: loaded.source_map,
            diagnostics: loaded.diagnostics,
        };
        match self {
            Language::Bp | Language::Pds => {
                let loaded = bp::load(text, options);
                Loaded { program: loaded.program, map: loaded.source_map, diagnostics: loaded.diagnostics }
            }
            Language::Gcl => {
                let loaded = gcl::load(text);
                Loaded { program: loaded.program, map: loaded.source_map, diagnostics: loaded.diagnostics }
            }
            Language::Tts => of_system(tts::load(text)),
            Language::Spec => of_system(spec::load(text)),
        }
    }

    /// What is missing in a question about a program of this language, or does not fit it.
    pub(crate) fn mistake(self, program: &Program, question: &QuestionArgs) -> Option<UsageError> {
        if matches!(self, Language::Bp | Language::Pds) {
            return None;
        }
        let usage =
            |message: &str, help: &str| Some(UsageError { message: message.to_string(), help: Some(help.to_string()) });
        if question.entry.is_some() {
            return usage("--entry is for Boolean programs", "leave it out");
        }
        if self == Language::Gcl {
            return None;
        }
        let asks = question.label.is_some() || question.assertion.is_some() || !question.together.is_empty();
        if !asks && !has_target(program) {
            let help =
                "put it beside the file, in a file of the same name that ends in .prop, or give --prop FILE or --label";
            return usage("the system has no target", help);
        }
        None
    }
}

/// Whether a program that a system stands for has a target.
fn has_target(program: &Program) -> bool {
    program.labels.iter().any(|label| label.name == "ERROR")
}

/// A text that was read.
pub(crate) struct Loaded {
    /// `None` if some diagnostic is an error.
    pub(crate) program: Option<Program>,
    pub(crate) map: SourceMap,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

fn with_target(source: &Source, path: &Path) -> Result<Source, String> {
    let target = Input::File(path.to_path_buf()).read()?;
    let between = if source.text().ends_with('\n') { "" } else { "\n" };
    Ok(Source::new(source.name.clone(), format!("{}{between}{}", source.text(), target.text())))
}
