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
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;

use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::Comment;

pub use format::format;
pub use parser::MAX_DEPTH;
pub(crate) use suggest::nearest;

/// What the parser returns.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    pub file: ast::File,
    /// In the order of their places.
    pub comments: Vec<Comment>,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a text. What cannot be read is left out, and a diagnostic says so.
pub fn parse(text: &str) -> Parsed {
    read(text).0
}

/// Also returns the names in parts that could not be read.
fn read(text: &str) -> (Parsed, FxHashSet<ast::Symbol>) {
    if u32::try_from(text.len()).is_err() {
        let message = "texts of 4 GiB and more are not read";
        let diagnostic = Diagnostic::new(Code::BeyondLimit, message, ast::Span::default());
        return (Parsed { diagnostics: vec![diagnostic], ..Parsed::default() }, FxHashSet::default());
    }
    let (mut parsed, skipped) = parser::parse(text);
    parsed.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    (parsed, skipped)
}

/// What the meaning of a text depends on.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The procedure that the initial thread runs, instead of `main`.
    pub entry: Option<String>,
    /// Labels that somebody asks for; they count as used.
    pub labels: Vec<String>,
}

/// A text that has been read.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub ast: ast::File,
    /// In the order of their places.
    pub comments: Vec<Comment>,
    /// `None` if some diagnostic is an error.
    pub program: Option<Program>,
    /// The positions of the program's parts.
    pub source_map: SourceMap,
    /// In the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a text and lowers it.
pub fn load(text: &str, options: &LoadOptions) -> Loaded {
    let (Parsed { file, comments, mut diagnostics }, skipped) = read(text);
    let is_whole = !diagnostics.iter().any(Diagnostic::is_error);
    let lowered = lower::lower(&file, is_whole, skipped, options);
    diagnostics.extend(lowered.diagnostics);
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    let is_meaningful = !diagnostics.iter().any(Diagnostic::is_error);
    let program = is_meaningful.then_some(lowered.program);
    Loaded { ast: file, comments, program, source_map: lowered.source_map, diagnostics }
}
