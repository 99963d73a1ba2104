//! The parser of guarded commands: names, lists, and recovery from errors.
//!
//! After an error the parser recovers after a `;`, or before a brace or a word that can only begin an item
//! ([`Parser::recover`]). Recursion is bounded by [`crate::tokens::MAX_DEPTH`].

mod expr;
mod items;

use std::ops::{Deref, DerefMut};

use super::Parsed;
use super::ast::{File, Name};
use super::lexer::{TokenKind, lex};
use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::{Cursor, Lexed};

/// Parses any text of less than 4 GiB.
pub(super) fn parse(text: &str) -> Parsed {
    let Lexed { tokens, comments, diagnostics } = lex(text);
    let cursor = Cursor::new(text, tokens, diagnostics);
    let mut parser = Parser { cursor };
    let items = parser.items();
    Parsed { file: File { items }, comments, diagnostics: parser.cursor.diagnostics }
}

struct Parser<'t> {
    cursor: Cursor<'t, TokenKind>,
}

impl<'t> Deref for Parser<'t> {
    type Target = Cursor<'t, TokenKind>;

    fn deref(&self) -> &Self::Target {
        &self.cursor
    }
}

impl DerefMut for Parser<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.cursor
    }
}

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
        let message = format!("{} cannot be {what}", self.found());
        let diagnostic = Diagnostic::new(Code::ReservedWord, message, self.span()).label("this word is reserved");
        self.report(diagnostic);
        self.lost = true;
        None
    }

    /// Consumes `element`s between commas.
    fn comma_list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Option<T>) -> Vec<T> {
        let mut list = Vec::new();
        loop {
            list.extend(element(self));
            if self.lost || !self.eat(TokenKind::Comma) {
                return list;
            }
        }
    }

    /// Goes one level deeper, or skips what would be deeper than the limit.
    fn descend(&mut self) -> bool {
        let fits = self.cursor.descend();
        if !fits {
            self.skip();
        }
        fits
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
