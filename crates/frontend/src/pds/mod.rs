//! Pushdown systems as text (`docs/pds.md`): our own form with named states and symbols, and the form of the tool CUBA
//! with numbers. The first word tells them apart: only the latter begins with a number.

mod cuba;
mod lexer;
mod named;

use selvedge_ir::pds::{Head, Pds};

use crate::diagnostic::Diagnostic;
use crate::load::{Loaded, System};

pub use cuba::{print_threads, print_view, read_view};
pub use named::{print, print_with_comments};

/// Parses a text.
pub fn load(text: &str) -> Loaded {
    let (tokens, mut diagnostics) = lexer::lex(text);
    let is_numbered = tokens.first().is_some_and(|token| token.number().is_some());
    let system = if is_numbered {
        System::Threads(cuba::parse(&tokens, &mut diagnostics))
    } else {
        System::Pds(named::parse(&tokens, text.len(), &mut diagnostics))
    };
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    let is_whole = !diagnostics.iter().any(Diagnostic::is_error);
    Loaded { system: is_whole.then_some(system), diagnostics, ..Loaded::default() }
}

/// Reads a head `<p, g>` or `<p, *>` of a system; fails with a message without a full stop.
pub fn read_head(text: &str, pds: &Pds) -> Result<Head, String> {
    named::read_head(text, pds)
}
