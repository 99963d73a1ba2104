//! Pushdown systems as text (`docs/pds.md`): our own form with named states and symbols, and the form of the tool CUBA
//! with numbers. The first word tells them apart: only the latter begins with a number.

mod cuba;
mod named;

use crate::diagnostic::Diagnostic;
use crate::load::{Loaded, System};
use crate::words::{Word, run, words};

pub use cuba::{print_threads, print_view, read_view};
pub use named::{print, print_with_comments, read_head};

/// Parses a text.
pub fn load(text: &str) -> Loaded {
    let (tokens, mut diagnostics) = lex(text);
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

/// Splits a text into `<`, `>`, `,`, `|`, `->`, `-->`, and names and numbers, which extend up to a space or one of the
/// signs before.
fn lex(text: &str) -> (Vec<Word<'_>>, Vec<Diagnostic>) {
    let in_word = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '#' | '<' | '>' | ',' | '|');
    // Arrows occur between brackets, not inside: `<q, ->` has the empty word.
    let mut is_inside = false;
    words(text, |rest, begins_line| {
        is_inside &= !begins_line;
        let arrow = ["-->", "->"].into_iter().find(|arrow| !is_inside && rest.starts_with(arrow));
        match rest.chars().next() {
            Some(bracket @ ('<' | '>')) => {
                is_inside = bracket == '<';
                1
            }
            Some(',' | '|') => 1,
            _ => arrow.map_or_else(|| run(rest, in_word), str::len),
        }
    })
}

fn is_arrow(word: &Word<'_>) -> bool {
    matches!(word.text, "->" | "-->")
}
