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

use selvedge_ir::Expr;

use crate::diagnostic::Diagnostic;
use crate::load::Loaded;

pub use format::format;
pub use parser::parse;

/// The result of [`parse`].
pub type Parsed = crate::tokens::Parsed<ast::File>;

/// Reads a text and lowers it.
pub fn load(text: &str) -> Loaded {
    let Parsed { file, diagnostics, .. } = parse(text);
    lower::lower(&file, diagnostics)
}

/// Reads predicates over the variables of a program: conditions, one per line or with `;` between them. The findings
/// are about the text of the predicates.
pub fn load_predicates(program: &str, predicates: &str) -> (Vec<Expr>, Vec<Diagnostic>) {
    let (conditions, diagnostics) = parser::parse_predicates(predicates);
    lower::lower_predicates(&parse(program).file, &conditions, diagnostics)
}
