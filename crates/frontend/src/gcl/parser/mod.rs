//! The parser of guarded commands: names, lists, and recovery from errors.
//!
//! After an error the parser recovers after a `;`, or before a brace or a word that can only begin an item
//! ([`Parser::recover`]). Recursion is bounded by [`crate::tokens::MAX_DEPTH`].

mod expr;
mod items;

use selvedge_ir::span::Span;

use super::Parsed;
use super::ast::{Expr, File, Name};
use super::lexer::{TokenKind, lex};
use crate::diagnostic::Diagnostic;
use crate::tokens::{self, Cursor, Lexed, Token};

/// Parses a text. Parts that cannot be parsed are omitted and reported.
pub fn parse(text: &str) -> Parsed {
    let file = |parser: &mut Parser<'_>| File { items: parser.items() };
    tokens::parse(text, lex, file).0
}

/// Parses predicates, one per line or with `;` between them.
///
/// The tokens are divided first, at line breaks and `;`, and each part is parsed alone: a line that begins with a sign
/// does not continue the one before it.
pub(super) fn parse_predicates(text: &str) -> (Vec<Expr>, Vec<Diagnostic>) {
    if let Some(diagnostic) = tokens::too_long(text) {
        return (Vec::new(), vec![diagnostic]);
    }
    let Lexed { tokens, mut diagnostics, .. } = lex(text);
    let mut predicates = Vec::new();
    let breaks_line = |one: &Token<TokenKind>, next: &Token<TokenKind>| {
        text[one.span.end as usize..next.span.start as usize].contains('\n')
    };
    let is_end = |token: &Token<TokenKind>| matches!(token.kind, TokenKind::Semicolon | TokenKind::Eof);
    for line in tokens.chunk_by(|one, next| !breaks_line(one, next)) {
        for part in line.split(is_end).filter(|part| !part.is_empty()) {
            let end = part[part.len() - 1].span.end;
            let eof = Token { kind: TokenKind::Eof, span: Span { start: end, end } };
            let mut parser = Parser::new(text, part.iter().copied().chain([eof]).collect(), Vec::new());
            predicates.push(parser.expr());
            if !parser.lost && !parser.at(TokenKind::Eof) {
                parser.miss("the end of the predicate: a line break or `;`");
            }
            diagnostics.append(&mut parser.diagnostics);
        }
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    (predicates, diagnostics)
}

type Parser<'t> = Cursor<'t, TokenKind>;

impl Parser<'_> {
    /// Consumes a name. A reserved word is reported.
    fn name(&mut self, what: &str) -> Option<Name> {
        if self.at(TokenKind::Word) {
            let text = self.slice().to_owned();
            return Some(Name { text, span: self.bump() });
        }
        if !self.kind().is_keyword() {
            self.miss(what);
            return None;
        }
        self.report_reserved(what);
        self.lost = true;
        None
    }

    /// Skips to a position where an item can begin or end.
    fn skip(&mut self) {
        while !self.at_landmark() {
            self.bump();
        }
    }

    /// Recovers from an error; a `;` is consumed.
    fn recover(&mut self) {
        self.lost = false;
        self.is_limit_reported = false;
        self.skip();
        self.eat(TokenKind::Semicolon);
    }

    /// Returns whether the next token ends an item or can only begin one.
    fn at_landmark(&self) -> bool {
        match self.kind() {
            TokenKind::At => self.position.checked_sub(1).is_none_or(|before| self.ends_item(before)),
            TokenKind::Semicolon
            | TokenKind::LBrace
            | TokenKind::RBrace
            | TokenKind::Var
            | TokenKind::Init
            | TokenKind::Safe
            | TokenKind::DeadlockFree
            | TokenKind::Process
            | TokenKind::Start
            | TokenKind::Eof => true,
            _ => false,
        }
    }

    fn ends_item(&self, position: usize) -> bool {
        matches!(self.tokens[position].kind, TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace)
    }
}
