//! Boolean programs.

pub mod ast;
pub mod dump;
pub mod format;
pub mod lexer;
mod lower;
mod parser;
mod resolve;
mod suggest;

use rustc_hash::FxHashSet;

use crate::diagnostic::Diagnostic;
use crate::load::Loaded;
use crate::tokens::too_long;

pub use crate::load::LoadOptions;
pub use crate::tokens::MAX_DEPTH;
pub use format::format;
pub(crate) use suggest::nearest;

/// The result of [`parse`].
pub type Parsed = crate::tokens::Parsed<ast::File>;

/// Parses a text. Parts that cannot be parsed are omitted and reported.
pub fn parse(text: &str) -> Parsed {
    read(text).0
}

/// Parses a text, and also returns the names in parts that could not be parsed.
fn read(text: &str) -> (Parsed, FxHashSet<ast::Symbol>) {
    if let Some(diagnostic) = too_long(text) {
        return (Parsed { diagnostics: vec![diagnostic], ..Parsed::default() }, FxHashSet::default());
    }
    let (mut parsed, skipped) = parser::parse(text);
    parsed.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    (parsed, skipped)
}

/// Reads a text and lowers it.
pub fn load(text: &str, options: &LoadOptions) -> Loaded {
    let (Parsed { file, mut diagnostics, .. }, skipped) = read(text);
    let is_whole = !diagnostics.iter().any(Diagnostic::is_error);
    let lowered = lower::lower(&file, is_whole, skipped, options);
    diagnostics.extend(lowered.diagnostics);
    Loaded::of_program(lowered.program, lowered.source_map, diagnostics)
}
