//! Boolean programs.

pub mod ast;
pub mod dump;
pub mod format;
pub mod lexer;
mod lower;
mod parser;
mod resolve;

use crate::load::Loaded;

pub use crate::load::{Dialect, LoadOptions};
pub use crate::tokens::MAX_DEPTH;
pub use format::format;

/// The result of [`parse`].
pub type Parsed = crate::tokens::Parsed<ast::File>;

/// Parses a text. Parts that cannot be parsed are omitted and reported.
pub fn parse(text: &str) -> Parsed {
    parser::parse(text).0
}

/// Reads a text and lowers it.
pub fn load(text: &str, options: &LoadOptions) -> Loaded {
    let (Parsed { file, diagnostics, .. }, skipped) = parser::parse(text);
    lower::lower((&file, text), diagnostics, skipped, options)
}
