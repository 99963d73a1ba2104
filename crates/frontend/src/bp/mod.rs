//! Boolean programs.

pub mod ast;
pub mod dump;
pub mod lexer;
mod parser;

use crate::diagnostic::{Code, Diagnostic};

pub use parser::MAX_DEPTH;

/// What the parser returns.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    pub file: ast::File,
    /// In the order of their places.
    pub comments: Vec<lexer::Comment>,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a text. What cannot be read is left out, and a diagnostic says so.
pub fn parse(text: &str) -> Parsed {
    if u32::try_from(text.len()).is_err() {
        let message = "texts of 4 GiB and more are not read";
        let diagnostic = Diagnostic::new(Code::BeyondLimit, message, ast::Span::default());
        return Parsed { diagnostics: vec![diagnostic], ..Parsed::default() };
    }
    let mut parsed = parser::parse(text);
    parsed.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    parsed
}
