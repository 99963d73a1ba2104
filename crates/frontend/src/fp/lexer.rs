//! The lexer of systems of equations.

use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Name(String),
    /// One of `( ) , ; : & | ! = .`, or `:=` and `!=`.
    Mark(&'static str),
    End,
}

#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) span: Span,
}

const MARKS: [&str; 12] = [":=", "!=", "(", ")", ",", ";", ":", "&", "|", "!", "=", "."];

/// Returns the tokens of a text, with one at its end.
pub(super) fn lex(text: &str) -> (Vec<Token>, Vec<Diagnostic>) {
    let (mut tokens, mut diagnostics) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let length = if first.is_whitespace() {
            first.len_utf8()
        } else if rest.starts_with("//") || first == '#' {
            rest.find('\n').unwrap_or(rest.len())
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            tokens.push(Token { kind: Kind::Name(rest[..length].to_string()), span: Span::new(at, at + length) });
            length
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            tokens.push(Token { kind: Kind::Mark(mark), span: Span::new(at, at + mark.len()) });
            mark.len()
        } else {
            let span = Span::new(at, at + first.len_utf8());
            diagnostics.push(Diagnostic::new(
                Code::StrayCharacter,
                format!("`{first}` is not part of the language"),
                span,
            ));
            first.len_utf8()
        };
        at += length;
    }
    tokens.push(Token { kind: Kind::End, span: Span::new(text.len(), text.len()) });
    (tokens, diagnostics)
}
