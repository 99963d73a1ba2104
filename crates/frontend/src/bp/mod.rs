//! Boolean programs.

pub mod ast;
pub mod lexer;

use crate::diagnostic::Diagnostic;

/// What the parser returns.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    pub file: ast::File,
    /// In the order of their places.
    pub comments: Vec<lexer::Comment>,
    pub diagnostics: Vec<Diagnostic>,
}
