//! Guarded commands over integers (`docs/gcl.md`).
//!
//! A program has variables over the integers, truth values or finite ranges, a condition on its first states, commands
//! that are each one step, and conditions that must always hold. A process is a program counter with commands at its
//! locations.
//!
//! - `lexer`, `parser`: from the text to the tree (`ast`).
//! - `lower`: from the tree to the representation, with all findings about names and types.
//! - `format`: the formatter.

pub mod ast;
mod format;
pub mod lexer;
mod lower;
mod parser;

use crate::diagnostic::Diagnostic;
use crate::load::Loaded;
use crate::tokens::too_long;

pub use format::format;

/// The result of [`parse`].
pub type Parsed = crate::tokens::Parsed<ast::File>;

/// Parses a text. Parts that cannot be parsed are omitted and reported.
pub fn parse(text: &str) -> Parsed {
    if let Some(diagnostic) = too_long(text) {
        return Parsed { diagnostics: vec![diagnostic], ..Parsed::default() };
    }
    let mut parsed = parser::parse(text);
    parsed.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    parsed
}

/// Reads a text and lowers it.
pub fn load(text: &str) -> Loaded {
    let Parsed { file, mut diagnostics, .. } = parse(text);
    let is_whole = !diagnostics.iter().any(Diagnostic::is_error);
    let lowered = lower::lower(&file, is_whole);
    diagnostics.extend(lowered.diagnostics);
    Loaded::of_program(lowered.program, lowered.source_map, diagnostics)
}
