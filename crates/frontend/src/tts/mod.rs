//! Thread-transition systems as text (`docs/tts.md`), and as programs.
//!
//! The first line is the number of shared and of local states; a line `s l -> s' l'` lets a thread move, a line `s l +>
//! s' l'` lets it start another; transfers `p ~> q` behind a rule move all other threads in `p`; a line `s|l1,l2,..` is
//! a target. Other tools keep the target in a separate file (`.prop`), whose text can be appended. A run starts with
//! one thread in local state 0 and shared state 0.
//!
//! - `parse`, `print`: the parser and printer.
//! - `lower`: the lowering to a program.
//! - `plain`: any system in the form that the text can express.
//! - `bp`: the printer as a Boolean program.

mod bp;
mod lower;
mod parse;
mod plain;
mod print;

use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_ir::tts::Tts;

use crate::diagnostic::Diagnostic;
use crate::load::{Loaded, System};
use crate::source::Source;

pub use bp::print_as_program;
pub use lower::{Spans, lower, lower_for_deadlocks};
pub use parse::find_other_lines;
pub use plain::{Plain, is_plain, plain};
pub use print::{print, print_target, print_with_comments};

/// Parses a text and lowers the system.
pub fn load(text: &str) -> Loaded {
    load_with_labels(text, &[])
}

/// Parses a text and lowers the system for a question that refers to labels.
pub fn load_with_labels(text: &str, labels: &[String]) -> Loaded {
    let (tts, spans, diagnostics) = parse::parse(text);
    finish(tts, &spans, diagnostics, labels)
}

/// Parses a text and lowers the system for questions about deadlocks.
pub fn load_for_deadlocks(text: &str) -> Loaded {
    let (tts, spans, diagnostics) = parse::parse(text);
    finish_with(|tts| lower_for_deadlocks(tts, &spans), tts, diagnostics)
}

/// Returns a system with the targets in a second text, which must have nothing else.
pub fn with_targets(system: Source, targets: Source) -> Result<Source, String> {
    match find_other_lines(targets.text()) {
        Some(other) => Err(format!("{}: {}", targets.place(other.primary.span.start as usize), other.message)),
        None => Ok(system.append(targets)),
    }
}

/// Lowers a system that was read, unless some diagnostic is an error.
pub(crate) fn finish(tts: Tts, spans: &Spans, diagnostics: Vec<Diagnostic>, labels: &[String]) -> Loaded {
    finish_with(|tts| lower(tts, spans, labels), tts, diagnostics)
}

fn finish_with(lower: impl FnOnce(&Tts) -> (Program, SourceMap), tts: Tts, mut diagnostics: Vec<Diagnostic>) -> Loaded {
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Loaded { diagnostics, ..Loaded::default() };
    }
    let (program, source_map) = lower(&tts);
    Loaded { program: Some(program), system: Some(System::Tts(tts)), source_map, diagnostics, ..Loaded::default() }
}
