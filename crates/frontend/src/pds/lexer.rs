//! The lexer of pushdown systems, for both forms.

use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::too_long;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `<`
    Open,
    /// `>`
    Close,
    Comma,
    /// `|`, between the parts of a view
    Bar,
    /// `-->` or `->`
    Arrow,
    /// The end of a line that is not empty.
    Newline,
    /// Everything else, up to a space or one of the signs above.
    Word,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    pub(super) span: Span,
}

impl Token<'_> {
    /// Returns the value of a word that is a number.
    pub(super) fn number(&self) -> Option<u64> {
        let is_number = self.kind == Kind::Word && self.text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.text.parse().unwrap_or(u64::MAX))
    }
}

/// Splits a text into words, without comments, which extend from `#` to the end of the line.
pub(super) fn lex(text: &str) -> (Vec<Token<'_>>, Vec<Diagnostic>) {
    if let Some(diagnostic) = too_long(text) {
        return (Vec::new(), vec![diagnostic]);
    }
    let mut tokens: Vec<Token<'_>> = Vec::new();
    let mut diagnostics = Vec::new();
    let mut start = 0;
    // Arrows occur between brackets, not inside: `<q, ->` has the empty word.
    let mut arrows = Arrows::Arrows;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = next(rest, arrows);
        arrows = match kind {
            Some(Kind::Open) => Arrows::Words,
            Some(Kind::Close | Kind::Newline) => Arrows::Arrows,
            _ => arrows,
        };
        let span = Span::new(start, start + length);
        let repeated = kind == Some(Kind::Newline) && tokens.last().is_none_or(|last| last.kind == Kind::Newline);
        match kind {
            Some(kind) if !repeated => tokens.push(Token { kind, text: &rest[..length], span }),
            None if rest.starts_with(char::is_control) && !rest.starts_with(char::is_whitespace) => {
                diagnostics.push(Diagnostic::new(
                    Code::StrayCharacter,
                    "this character is not part of the language",
                    span,
                ));
            }
            _ => {}
        }
        start += length;
    }
    (tokens, diagnostics)
}

/// The meaning of an arrow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arrows {
    Arrows,
    Words,
}

/// Returns the first word of a text that is not empty, and its length; `None` for separators.
fn next(rest: &str, arrows: Arrows) -> (Option<Kind>, usize) {
    let first = rest.chars().next().unwrap_or(' ');
    match first {
        '\n' => (Some(Kind::Newline), 1),
        '#' => (None, rest.find('\n').unwrap_or(rest.len())),
        '<' => (Some(Kind::Open), 1),
        '>' => (Some(Kind::Close), 1),
        ',' => (Some(Kind::Comma), 1),
        '|' => (Some(Kind::Bar), 1),
        _ if arrows == Arrows::Arrows && rest.starts_with("-->") => (Some(Kind::Arrow), 3),
        _ if arrows == Arrows::Arrows && rest.starts_with("->") => (Some(Kind::Arrow), 2),
        _ if first.is_whitespace() || first.is_control() => (None, first.len_utf8()),
        _ => (Some(Kind::Word), word_length(rest)),
    }
}

fn word_length(rest: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '#' | '<' | '>' | ',' | '|');
    rest.find(ends).unwrap_or(rest.len())
}
