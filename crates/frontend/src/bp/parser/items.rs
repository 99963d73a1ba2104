//! Declarations, procedures and processes.

use selvedge_ir::span::Span;

use super::Parser;
use super::stmt::Nesting;
use crate::bp::ast::{
    Body, Copies, Decl, DeclKind, DeclVar, Init, Item, Length, Name, Param, Proc, Process, ProcessItem, Range, Results,
};
use crate::bp::lexer::TokenKind;
use crate::diagnostic::{Code, Diagnostic};

/// Limit on the number of values that a procedure returns, and on the declared number of threads of a process.
const MAX_COUNT: u32 = 65_536;

/// Limit on the number of elements of an array: each read of an element looks at all of them.
const MAX_LENGTH: u32 = 256;

impl Parser<'_> {
    /// Reads the whole file.
    pub(super) fn items(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        while !self.at(TokenKind::Eof) {
            if self.eat(TokenKind::Semicolon) {
                continue;
            }
            let start = self.position;
            match self.item() {
                Some(item) => items.push(item),
                None => self.skip_to_item(start),
            }
        }
        items
    }

    fn item(&mut self) -> Option<Item> {
        if self.at(TokenKind::Decl) || self.at_shared() {
            return Some(Item::Decl(self.decl_item()));
        }
        if self.at_procedure() {
            return self.procedure().map(Item::Proc);
        }
        if self.at(TokenKind::Word) && self.peek(1) == TokenKind::LParen {
            let message = format!("expected `void` or `bool` before {}", self.found());
            self.report(Diagnostic::new(Code::UnexpectedToken, message, self.span()));
            return self.procedure().map(Item::Proc);
        }
        if self.at_init() {
            return self.init().map(Item::Init);
        }
        if self.at_process() {
            return self.process().map(Item::Process);
        }
        let diagnostic = match self.kind() {
            TokenKind::End => Diagnostic::new(Code::UnexpectedToken, "`end` without `begin`", self.span()),
            _ => self.unexpected("a declaration or a procedure"),
        };
        self.lose(diagnostic);
        None
    }

    fn at_shared(&self) -> bool {
        self.at_word("shared") && self.peek(1) == TokenKind::Decl
    }

    fn at_init(&self) -> bool {
        self.at_word("init") && matches!(self.peek(1), TokenKind::Begin | TokenKind::Decl)
    }

    fn at_process(&self) -> bool {
        self.at_word("process") && self.peek(1) == TokenKind::Word
    }

    /// Skips at least one token, up to something that begins an item.
    fn skip_to_item(&mut self, start: usize) {
        loop {
            self.bump();
            let is_item = self.at(TokenKind::Decl) || self.at_procedure() || self.at(TokenKind::Eof);
            if is_item || self.at_shared() || self.at_init() || self.at_process() {
                self.lost = false;
                return self.skipped_since(start);
            }
        }
    }

    /// Reads a declaration outside procedures, with its `;`.
    fn decl_item(&mut self) -> Decl {
        self.is_limit_reported = false;
        let start = self.position;
        let decl = self.decl();
        if self.lost {
            self.recover(start);
        } else if !self.eat(TokenKind::Semicolon) {
            self.miss_semicolon();
            if !self.at_landmark() {
                self.recover(start);
            }
        }
        decl
    }

    /// Reads a declaration without its `;`.
    pub(super) fn decl(&mut self) -> Decl {
        let start = self.span();
        let mut kind = DeclKind::Plain;
        if self.at_shared() {
            self.bump();
            kind = DeclKind::Shared;
        }
        self.bump();
        if kind == DeclKind::Plain && self.at_word("thread_local") && self.peek(1) == TokenKind::Word {
            self.bump();
            kind = DeclKind::ThreadLocal;
        }
        let mut vars = Vec::new();
        loop {
            vars.extend(self.decl_var());
            if !self.next_in_list() {
                return Decl { span: self.since(start), kind, vars };
            }
        }
    }

    /// Returns whether the list of variables goes on. A comma that is missing before a name, or has no name before it,
    /// is reported, and the names after it are still parsed.
    fn next_in_list(&mut self) -> bool {
        if self.eat(TokenKind::Comma) {
            self.lost = false;
            return true;
        }
        let is_name = self.at(TokenKind::Word)
            && matches!(self.peek(1), TokenKind::Comma | TokenKind::Semicolon | TokenKind::Becomes);
        if !self.lost && is_name && !self.is_on_new_line() {
            let message = format!("expected `,` before {}", self.found());
            self.report(Diagnostic::new(Code::UnexpectedToken, message, self.span()).label("expected `,`"));
            return true;
        }
        false
    }

    fn is_on_new_line(&self) -> bool {
        let between = Span { start: self.previous().end, end: self.span().start };
        between.of(self.text).contains('\n')
    }

    fn decl_var(&mut self) -> Option<DeclVar> {
        let name = self.variable();
        let length = self.at(TokenKind::LBracket).then(|| self.length());
        let range = self.range();
        let is_equation = !self.lost && self.at(TokenKind::Eq);
        if is_equation {
            self.miss_becomes();
        }
        let init = (is_equation || self.eat(TokenKind::Becomes)).then(|| self.expr());
        name.map(|name| DeclVar { name, length, range, init })
    }

    /// Parses `[n]`.
    fn length(&mut self) -> Length {
        let opener = self.bump();
        let mut count = 1;
        if self.at(TokenKind::Number) {
            count = self.slice().parse().unwrap_or(u32::MAX);
            if !(1..=MAX_LENGTH).contains(&count) {
                let message = format!("`{}` is not between 1 and {MAX_LENGTH}", self.slice());
                self.report(Diagnostic::new(Code::NumberOutOfRange, message, self.span()));
                count = 1;
            }
            self.bump();
        } else {
            self.miss("the number of elements");
        }
        self.close(TokenKind::RBracket, opener);
        Length { count, span: self.since(opener) }
    }

    /// Parses `: lo..hi`, if it is there.
    fn range(&mut self) -> Option<Range> {
        if self.lost || !self.eat(TokenKind::Colon) {
            return None;
        }
        let start = self.span();
        if !self.at(TokenKind::Number) {
            self.miss("a range of numbers, such as `0..3`");
            return None;
        }
        let lo = self.small_number(0);
        if !self.expect(TokenKind::DotDot) {
            return None;
        }
        if !self.at(TokenKind::Number) {
            self.miss("the greatest number of the range");
            return None;
        }
        let hi = self.small_number(0);
        let span = self.since(start);
        if lo > hi {
            let message = format!("the range `{lo}..{hi}` is empty");
            self.report(Diagnostic::new(Code::NumberOutOfRange, message, span));
        }
        Some(Range { lo, hi: hi.max(lo), span })
    }

    fn param(&mut self) -> Option<Param> {
        let name = self.variable()?;
        Some(Param { name, range: self.range() })
    }

    /// Parses a procedure; `None` if the header cannot be parsed.
    fn procedure(&mut self) -> Option<Proc> {
        let start = self.span();
        let results = self.results();
        let name = self.procedure_name()?;
        let params = self.params();
        if self.lost && !self.skip_to_body() {
            return None;
        }
        self.lost = false;
        let header = self.since(start);
        let body = self.body(header)?;
        Some(Proc { span: self.since(start), header, results, name, params, body })
    }

    fn results(&mut self) -> Results {
        if self.eat(TokenKind::Void) || !self.eat(TokenKind::Bool) {
            return Results::Void;
        }
        if !self.at(TokenKind::Less) {
            return Results::Bool;
        }
        let opener = self.bump();
        let results = if self.at(TokenKind::Number) {
            Results::Bools(self.count())
        } else {
            Results::Named(self.comma_list(Self::variable))
        };
        self.close(TokenKind::Greater, opener);
        results
    }

    /// Reads a number from 1 to [`MAX_COUNT`].
    fn count(&mut self) -> u32 {
        let span = self.span();
        let count = self.slice().parse().ok().filter(|count| *count <= MAX_COUNT);
        if count.is_none_or(|count| count == 0) {
            let message = format!("`{}` is not between 1 and {MAX_COUNT}", self.slice());
            self.report(Diagnostic::new(Code::NumberOutOfRange, message, span));
        }
        self.bump();
        count.unwrap_or(1)
    }

    /// Parses the name of a procedure, which may be a keyword. If only the name is missing, the result is empty.
    fn procedure_name(&mut self) -> Option<Name> {
        let is_name = self.at(TokenKind::Word) && self.slice() != "_"
            || self.kind().is_keyword() && self.peek(1) == TokenKind::LParen;
        if is_name {
            return Some(self.bump_name());
        }
        let diagnostic = self.unexpected("the name of a procedure");
        if self.at(TokenKind::LParen) {
            self.report(diagnostic);
            let span = self.after_previous();
            return Some(Name { symbol: self.intern(span), span });
        }
        self.lose(diagnostic);
        None
    }

    fn params(&mut self) -> Vec<Param> {
        let opener = self.span();
        if !self.expect(TokenKind::LParen) || self.eat(TokenKind::RParen) {
            return Vec::new();
        }
        let params = self.comma_list(Self::param);
        self.close(TokenKind::RParen, opener);
        params
    }

    /// Skips to the beginning of the body after an error in a header, unless the next item comes first.
    fn skip_to_body(&mut self) -> bool {
        while !matches!(self.kind(), TokenKind::Begin | TokenKind::Decl | TokenKind::Eof) && !self.at_procedure() {
            self.bump();
        }
        matches!(self.kind(), TokenKind::Begin | TokenKind::Decl)
    }

    /// Parses declarations, `begin`, statements and `end`; `None` if there is no `begin`.
    fn body(&mut self, header: Span) -> Option<Body> {
        let mut outer = Vec::new();
        while self.at(TokenKind::Decl) {
            outer.push(self.decl_item());
        }
        let begin = self.span();
        if !self.eat(TokenKind::Begin) {
            self.report(self.unexpected("`begin`").also(header, "for this"));
            if self.at_procedure() || self.at(TokenKind::Eof) {
                return None;
            }
        }
        let stmts = self.block(Nesting::Body);
        let end = self.end_word(begin, header);
        outer.append(&mut self.state.misplaced);
        Some(Body { outer, begin, stmts, end })
    }

    /// Consumes `end` and a `;` after it, or reports that it is missing.
    fn end_word(&mut self, begin: Span, header: Span) -> Span {
        if self.at(TokenKind::End) {
            let end = self.bump();
            self.eat(TokenKind::Semicolon);
            return end;
        }
        let diagnostic = Diagnostic::new(Code::Unclosed, "this `begin` has no `end`", begin)
            .label("begins here")
            .also(header, "the body of this")
            .also(self.span(), "expected `end` before this");
        self.report(diagnostic);
        self.after_previous()
    }

    fn init(&mut self) -> Option<Init> {
        let word = self.bump();
        let body = self.body(word)?;
        Some(Init { span: word.to(body.end), word, body })
    }

    fn process(&mut self) -> Option<Process> {
        let start = self.bump();
        let name = self.bump_name();
        let copies = self.copies();
        let header = self.since(start);
        let begin = self.span();
        if !self.eat(TokenKind::Begin) {
            self.lose(self.unexpected("`begin`").also(header, "for this process"));
            return None;
        }
        self.state.is_in_process = true;
        let items = self.process_items();
        self.state.is_in_process = false;
        let end = self.end_word(begin, header);
        Some(Process { span: start.to(end), header, name, copies, begin, items, end })
    }

    fn copies(&mut self) -> Copies {
        if self.at_word("once") {
            self.bump();
            return Copies::Once;
        }
        if !self.at(TokenKind::LBracket) {
            return Copies::Any;
        }
        let opener = self.bump();
        let copies = if self.at(TokenKind::Number) {
            Copies::Exactly(self.count())
        } else {
            self.miss("the number of threads");
            Copies::Any
        };
        self.close(TokenKind::RBracket, opener);
        copies
    }

    fn process_items(&mut self) -> Vec<ProcessItem> {
        let mut items = Vec::new();
        loop {
            match self.kind() {
                TokenKind::Semicolon => {
                    self.bump();
                }
                TokenKind::Decl => items.push(ProcessItem::Decl(self.decl_item())),
                TokenKind::Void | TokenKind::Bool => match self.procedure() {
                    Some(procedure) => items.push(ProcessItem::Proc(procedure)),
                    None => self.skip_to_process_item(),
                },
                TokenKind::End | TokenKind::Eof => return items,
                _ if self.at_process() || self.at_init() || self.at_shared() => return items,
                _ => {
                    self.miss("a declaration or a procedure of the process");
                    self.skip_to_process_item();
                }
            }
        }
    }

    fn skip_to_process_item(&mut self) {
        let start = self.position;
        while !matches!(self.kind(), TokenKind::Decl | TokenKind::End | TokenKind::Eof) {
            self.bump();
            if self.at_procedure() || self.at_process() || self.at_init() {
                break;
            }
        }
        self.skipped_since(start);
        self.lost = false;
    }
}
