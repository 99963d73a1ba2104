//! The parser of Boolean programs: names, lists, and recovery from errors.
//!
//! After an error the parser recovers at a `;`, at a closing word, or at something that can only begin a statement, a
//! declaration or a procedure ([`Parser::recover`]). Parsing continues where this search ends, so the total time is
//! linear. Names in the skipped part may have been declarations; they are recorded, so that they are not reported as
//! unknown. Recursion is bounded by [`crate::tokens::MAX_DEPTH`].

mod expr;
mod items;
mod stmt;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_ir::span::Span;

use super::Parsed;
use super::ast::{Decl, File, Name, Names, Symbol};
use super::lexer::{TokenKind, lex};
use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::{self, Cursor};

/// Parses any text. Also returns the names in parts that could not be parsed.
pub(super) fn parse(text: &str) -> (Parsed, FxHashSet<Symbol>) {
    let (parsed, state) = tokens::parse(text, lex, |parser: &mut Parser<'_>| {
        let items = parser.items();
        File { names: std::mem::take(&mut parser.state.names), items }
    });
    (parsed, state.skipped)
}

type Parser<'t> = Cursor<'t, TokenKind, State<'t>>;

#[derive(Default)]
struct State<'t> {
    /// The number of `if` without their `fi` so far.
    open_ifs: u32,
    /// The number of `while` without their `od` so far.
    open_whiles: u32,
    /// Set inside of a process.
    is_in_process: bool,
    names: Names,
    symbols: FxHashMap<&'t str, Symbol>,
    /// Reported declarations inside blocks of the current body; they count as declared there.
    misplaced: Vec<Decl>,
    /// Names in parts that could not be parsed.
    skipped: FxHashSet<Symbol>,
}

impl<'t> Parser<'t> {
    /// Returns whether the next token is this word, which is only special in some positions.
    fn at_word(&self, word: &str) -> bool {
        self.at(TokenKind::Word) && self.slice() == word
    }

    fn intern(&mut self, span: Span) -> Symbol {
        let text: &'t str = span.of(self.text);
        let State { names, symbols, skipped, .. } = &mut self.state;
        *symbols.entry(text).or_insert_with(|| {
            let symbol = names.push(text);
            if is_malformed(text) {
                skipped.insert(symbol);
            }
            symbol
        })
    }

    /// Consumes a token as a name.
    fn bump_name(&mut self) -> Name {
        let span = self.bump();
        Name { symbol: self.intern(span), span }
    }

    /// Consumes a name that belongs to a variable. A word that cannot be one is reported, and consumed if it is clearly
    /// meant as one.
    fn variable(&mut self) -> Option<Name> {
        if self.at(TokenKind::Word) && !matches!(self.slice(), "T" | "F" | "_") {
            return Some(self.bump_name());
        }
        if !self.at(TokenKind::Word) && !self.kind().is_keyword() {
            self.miss("the name of a variable");
            return None;
        }
        self.report_reserved("the name of a variable");
        let stands_for_name = matches!(
            self.peek(1),
            TokenKind::Comma | TokenKind::Semicolon | TokenKind::Becomes | TokenKind::RParen | TokenKind::Greater
        );
        if stands_for_name {
            self.bump();
        } else {
            self.lost = true;
        }
        None
    }

    /// Consumes `=` in the place of `:=`, and reports it.
    fn miss_becomes(&mut self) {
        let message = "`=` compares two values; a value is assigned with `:=`";
        let span = self.bump();
        self.report(Diagnostic::new(Code::UnexpectedToken, message, span).label("expected `:=`").replace_by(":="));
    }

    /// Consumes a word that other languages have in the place of an operator, if it is next and can be meant as one,
    /// and reports it.
    fn eat_foreign(&mut self, word: &str, operator: &str) -> bool {
        let begins_operand = matches!(
            self.peek(1),
            TokenKind::Word | TokenKind::Number | TokenKind::LParen | TokenKind::Not | TokenKind::Prime
        );
        if !self.at_word(word) || !begins_operand {
            return false;
        }
        let span = self.bump();
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, format!("`{word}` is not an operator"), span);
        self.report(diagnostic.help(format!("write `{operator}`")).replace_by(operator));
        true
    }

    /// Reports that `;` is missing after the last token.
    fn miss_semicolon(&mut self) {
        let message = format!("expected `;` before {}", self.found());
        let diagnostic = Diagnostic::new(Code::MissingSemicolon, message, self.previous());
        self.report(diagnostic.label("expected `;` after this").append(";"));
    }

    /// Skips to a position where a statement, a declaration or a procedure can begin or end. A `;` is consumed. The
    /// names from `start` on are recorded.
    fn recover(&mut self, start: usize) {
        self.lost = false;
        while !self.at_landmark() && !self.at(TokenKind::Semicolon) {
            self.bump();
        }
        self.eat(TokenKind::Semicolon);
        self.skipped_since(start);
    }

    /// Records the names since a position.
    fn skipped_since(&mut self, start: usize) {
        for position in start..self.position {
            let token = self.tokens[position];
            if matches!(token.kind, TokenKind::Word | TokenKind::Number) {
                let symbol = self.intern(token.span);
                self.state.skipped.insert(symbol);
            }
        }
    }

    /// Returns whether the next token can only begin a statement, or ends a block or the file.
    fn at_landmark(&self) -> bool {
        match self.kind() {
            TokenKind::Constrain | TokenKind::Then | TokenKind::Do | TokenKind::Schoose => false,
            // After a comma it is the last of several left-hand sides.
            TokenKind::Word if self.peek(1) == TokenKind::Becomes => !self.is_behind(TokenKind::Comma),
            TokenKind::Word | TokenKind::Number => self.begins_statement(),
            TokenKind::Eof => true,
            kind => kind.is_keyword(),
        }
    }

    fn is_behind(&self, kind: TokenKind) -> bool {
        self.position.checked_sub(1).is_some_and(|position| self.tokens[position].kind == kind)
    }

    /// Returns whether the next tokens begin a statement (or a label before one) and cannot go on with an expression.
    fn begins_statement(&self) -> bool {
        match self.kind() {
            TokenKind::Word if self.peek(1) == TokenKind::LBracket => self.begins_element_assignment(),
            TokenKind::Word => matches!(self.peek(1), TokenKind::Colon | TokenKind::Becomes | TokenKind::LParen),
            TokenKind::Number => self.peek(1) == TokenKind::Colon,
            TokenKind::If
            | TokenKind::While
            | TokenKind::Goto
            | TokenKind::Return
            | TokenKind::Skip
            | TokenKind::Assert
            | TokenKind::Assume
            | TokenKind::Dead
            | TokenKind::Enforce
            | TokenKind::Abortif
            | TokenKind::Print
            | TokenKind::Sync
            | TokenKind::StartThread
            | TokenKind::EndThread
            | TokenKind::AtomicBegin
            | TokenKind::AtomicEnd
            | TokenKind::Decl => true,
            _ => false,
        }
    }

    /// Returns whether `a[..] :=` follows, with few tokens in the brackets.
    fn begins_element_assignment(&self) -> bool {
        const MOST: usize = 12;
        let close = (2..MOST).find(|ahead| self.peek(*ahead) == TokenKind::RBracket);
        close.is_some_and(|close| self.peek(close + 1) == TokenKind::Becomes)
    }

    /// Returns whether the next token ends a block.
    fn at_closer(&self) -> bool {
        matches!(
            self.kind(),
            TokenKind::End | TokenKind::Fi | TokenKind::Od | TokenKind::Else | TokenKind::Elsif | TokenKind::Eof
        ) || self.at_procedure()
    }

    /// Returns whether a procedure begins here.
    fn at_procedure(&self) -> bool {
        matches!(self.kind(), TokenKind::Void | TokenKind::Bool)
    }
}

/// Returns whether the lexer has reported the name.
fn is_malformed(text: &str) -> bool {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    !text.is_ascii() || text.starts_with(|first: char| first.is_ascii_digit()) && !is_number
}
