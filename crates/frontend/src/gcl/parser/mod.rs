//! Text to tree: the cursor, and what happens at a mistake.
//!
//! A mistake is reported once and makes the parser `lost`: until it has found its place again, further complaints are
//! swallowed. It finds its place behind a `;`, or before a word that can only begin something or a brace
//! ([`Parser::recover`]). Recursion is bounded by [`MAX_DEPTH`].

mod expr;
mod items;

use selvedge_ir::span::Span;

use super::Parsed;
use super::ast::{File, Name};
use super::lexer::{Lexed, Token, TokenKind, lex};
use crate::diagnostic::{Code, Diagnostic};

/// How deep parentheses and operators that nest may be nested, counted together.
const MAX_DEPTH: u32 = 256;

/// Reads a text of any content and less than 4 GiB.
pub(super) fn parse(text: &str) -> Parsed {
    let Lexed { tokens, comments, diagnostics } = lex(text);
    let mut parser = Parser { text, tokens, position: 0, depth: 0, lost: false, is_limit_reported: false, diagnostics };
    let items = parser.items();
    Parsed { file: File { items }, comments, diagnostics: parser.diagnostics }
}

struct Parser<'t> {
    text: &'t str,
    /// Ends with [`TokenKind::Eof`], which is never consumed.
    tokens: Vec<Token>,
    position: usize,
    depth: u32,
    /// A mistake has been reported and the parser has not found its place again.
    lost: bool,
    /// The limit of depth has been reported in the current item.
    is_limit_reported: bool,
    diagnostics: Vec<Diagnostic>,
}

impl<'t> Parser<'t> {
    fn kind(&self) -> TokenKind {
        self.tokens[self.position].kind
    }

    fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    /// The kind of the token after the next `ahead` ones.
    fn peek(&self, ahead: usize) -> TokenKind {
        self.tokens.get(self.position + ahead).map_or(TokenKind::Eof, |token| token.kind)
    }

    fn slice(&self) -> &'t str {
        self.span().of(self.text)
    }

    fn at(&self, kind: TokenKind) -> bool {
        self.kind() == kind
    }

    /// Consumes a token and returns its place.
    fn bump(&mut self) -> Span {
        let span = self.span();
        if !self.at(TokenKind::Eof) {
            self.position += 1;
        }
        span
    }

    /// Consumes a token of this kind, if it is next.
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// The place of the last consumed token; the beginning of the file if there is none.
    fn previous(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::default(), |position| self.tokens[position].span)
    }

    /// The empty place behind the last consumed token.
    fn after_previous(&self) -> Span {
        let end = self.previous().end;
        Span { start: end, end }
    }

    /// The span from `start` to the last consumed token.
    fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    /// Reports a finding, unless the parser is lost or stands at something that the lexer has reported.
    fn report(&mut self, diagnostic: Diagnostic) {
        if !self.lost && !self.at(TokenKind::Stray) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a mistake after which nothing is certain until the parser finds its place again.
    fn lose(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.lost = true;
    }

    /// How a diagnostic names the next token.
    fn found(&self) -> String {
        match self.kind() {
            TokenKind::Eof => "the end of the file".to_owned(),
            _ => format!("`{}`", self.slice()),
        }
    }

    fn unexpected(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found {}", self.found());
        Diagnostic::new(Code::UnexpectedToken, message, self.span()).label(format!("expected {expected}"))
    }

    /// Consumes a token of this kind; if another one is next, the parser is lost.
    fn expect(&mut self, kind: TokenKind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.lose(self.unexpected(&kind.describe()));
        }
        found
    }

    /// Consumes the closing sign that belongs to `opener`.
    fn close(&mut self, kind: TokenKind, opener: Span) {
        if self.eat(kind) {
            return;
        }
        let message = format!("expected {} to close this, found {}", kind.describe(), self.found());
        let diagnostic = Diagnostic::new(Code::Unclosed, message, opener)
            .label("not closed")
            .also(self.span(), "expected before this");
        self.lose(diagnostic);
    }

    /// Consumes a name. A reserved word is reported, and consumed where it clearly stands for a name.
    fn name(&mut self, what: &str) -> Option<Name> {
        if self.at(TokenKind::Word) {
            let text = self.slice().to_owned();
            return Some(Name { text, span: self.bump() });
        }
        if !self.kind().is_keyword() {
            self.lose(self.unexpected(what));
            return None;
        }
        let message = format!("{} cannot be {what}", self.found());
        self.report(Diagnostic::new(Code::ReservedWord, message, self.span()).label("has a meaning of its own"));
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
            self.report(Diagnostic::new(Code::BeyondLimit, message, self.span()));
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
