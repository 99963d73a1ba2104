//! Text to tree: names, lists, and what happens at a mistake.
//!
//! Behind a mistake the parser finds its place behind a `;`, or before a word that can only begin something or a brace
//! ([`Parser::recover`]). Recursion is bounded by [`MAX_DEPTH`].

mod expr;
mod items;

use std::ops::{Deref, DerefMut};

use super::Parsed;
use super::ast::{File, Name};
use super::lexer::{TokenKind, lex};
use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::{Cursor, Lexed};

/// How deep parentheses and operators that nest may be nested, counted together.
const MAX_DEPTH: u32 = 256;

/// Reads a text of any content and less than 4 GiB.
pub(super) fn parse(text: &str) -> Parsed {
    let Lexed { tokens, comments, diagnostics } = lex(text);
    let cursor = Cursor::new(text, tokens, diagnostics);
    let mut parser = Parser { cursor, depth: 0, is_limit_reported: false };
    let items = parser.items();
    Parsed { file: File { items }, comments, diagnostics: parser.cursor.diagnostics }
}

struct Parser<'t> {
    cursor: Cursor<'t, TokenKind>,
    depth: u32,
    /// The limit of depth has been reported in the current item.
    is_limit_reported: bool,
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
    /// Consumes a name. A reserved word is reported, and consumed where it clearly stands for a name.
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
        let diagnostic = Diagnostic::new(Code::ReservedWord, message, self.span()).label("has a meaning of its own");
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

    /// Goes one level deeper, or reports that the limit is reached, once per item, and skips what would be deeper.
    fn descend(&mut self) -> bool {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return true;
        }
        if !self.is_limit_reported {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            let diagnostic = Diagnostic::new(Code::BeyondLimit, message, self.span());
            self.report(diagnostic);
        }
        self.is_limit_reported = true;
        self.lost = true;
        self.skip();
        false
    }

    fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Skips to a place where something can begin or end.
    fn skip(&mut self) {
        while !self.at_landmark() {
            self.bump();
        }
    }

    /// Finds a place from which to go on; a `;` is consumed.
    fn recover(&mut self) {
        self.lost = false;
        self.is_limit_reported = false;
        self.skip();
        self.eat(TokenKind::Semicolon);
    }

    /// Whether the next token ends something or can only begin something.
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
