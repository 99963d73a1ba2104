//! The directives.

use std::cell::Cell;
use std::rc::Rc;

use super::{Condition, MAX_NESTING, Macro, MacroKind, Preprocessor};
use crate::c::files::Loc;
use crate::c::lexer::{Kind, Token};
use crate::c::names::Symbol;
use crate::diagnostic::Code;

impl Preprocessor<'_> {
    /// Executes a directive, whose `#` has been read.
    pub(super) fn directive(&mut self, hash: Token) {
        let line = self.rest_of_line();
        let Some((name, rest)) = line.split_first() else { return };
        if name.kind == Kind::Number {
            return self.line_marker(*name, rest);
        }
        let loc = self.files.join(hash.loc, name.loc);
        match self.text(name.text).to_owned().as_str() {
            "define" => self.define(loc, rest),
            "undef" => self.undefine(loc, rest),
            "include" | "include_next" | "import" => self.include(loc, rest),
            "if" => self.open(loc, rest, Test::Expression),
            "ifdef" => self.open(loc, rest, Test::Defined),
            "ifndef" => self.open(loc, rest, Test::Undefined),
            "elif" => self.alternative(loc, false),
            "else" => self.alternative(loc, true),
            "endif" => self.close(loc),
            "line" => self.line_directive(loc, rest),
            "error" => self.message(Code::CDirective, "#error", hash, rest),
            "warning" => self.message(Code::CWarning, "#warning", hash, rest),
            "pragma" => self.pragma(loc, rest),
            "ident" | "sccs" | "assert" | "unassert" => {}
            other => {
                let message = format!("there is no directive `#{other}`");
                self.error(Code::CDirective, message, loc);
            }
        }
    }

    /// Returns the tokens up to the end of the line.
    fn rest_of_line(&mut self) -> Vec<Token> {
        let Some(frame) = self.frames.last_mut() else { return Vec::new() };
        let rest = &frame.tokens[frame.next..];
        let length = rest.iter().position(|token| token.kind == Kind::Newline).unwrap_or(rest.len());
        let line = rest[..length].to_vec();
        frame.next += length;
        self.count(length);
        line
    }

    fn message(&mut self, code: Code, name: &str, hash: Token, rest: &[Token]) {
        let whole = |first: &Token| rest.last().map_or(first.loc, |last| self.files.join(first.loc, last.loc));
        let text = rest.first().map_or("", |first| self.files.text(whole(first).span)).to_owned();
        let loc = whole(&hash);
        self.error(code, format!("{name} {text}"), loc);
    }

    /// Reads over a pragma. One that changes the layout of structs must not be ignored.
    fn pragma(&mut self, loc: Loc, rest: &[Token]) {
        let Some(first) = rest.first() else { return };
        match self.text(first.text) {
            "once" => {
                if let Some(frame) = self.frames.last() {
                    self.once.insert(frame.file);
                }
            }
            "pack" => self.error(Code::CUnsupported, "`#pragma pack` is not supported", loc),
            _ => {}
        }
    }

    /// Returns the name that a directive begins with.
    fn name(&mut self, loc: Loc, rest: &[Token]) -> Option<Token> {
        let name = rest.first().filter(|token| token.kind == Kind::Name).copied();
        if name.is_none() {
            let at = rest.first().map_or(loc, |token| token.loc);
            self.error(Code::CDirective, "expected the name of a macro", at);
        }
        name
    }

    fn undefine(&mut self, loc: Loc, rest: &[Token]) {
        if let Some(name) = self.name(loc, rest) {
            self.macros.remove(&name.text);
        }
    }

    fn define(&mut self, loc: Loc, rest: &[Token]) {
        let Some(name) = self.name(loc, rest) else { return };
        if name.text == self.words.defined {
            return self.error(Code::CDirective, "`defined` cannot be the name of a macro", name.loc);
        }
        let rest = &rest[1..];
        let is_call = rest.first().is_some_and(|token| token.kind == Kind::LParen && !token.space);
        let (params, variadic, body) = if is_call {
            let Some((params, variadic, length)) = self.params(name, &rest[1..]) else { return };
            (Some(params), variadic, &rest[1 + length..])
        } else {
            (None, false, rest)
        };
        let mut body = body.to_vec();
        if let Some(first) = body.first_mut() {
            first.space = false;
        }
        if [body.first(), body.last()].iter().flatten().any(|token| token.kind == Kind::HashHash) {
            return self.error(Code::CMacro, "`##` must be between two tokens", name.loc);
        }
        let (defined, kind, busy) = (name.loc.span, MacroKind::User, Cell::new(false));
        self.insert(name, Macro { params, variadic, body, defined, kind, busy });
    }

    /// Adds a macro; warns if it replaces a different one.
    fn insert(&mut self, name: Token, new: Macro) {
        let old = self.macros.insert(name.text, Rc::new(new));
        let Some(old) = old else { return };
        let new = &self.macros[&name.text];
        let spellings = |found: &Macro| found.body.iter().map(|token| (token.kind, token.text)).collect::<Vec<_>>();
        if old.kind == new.kind && old.params == new.params && spellings(&old) == spellings(new) {
            return;
        }
        let message = format!("the macro `{}` is defined a second time, differently", self.text(name.text));
        let mut diagnostic = self.expansions.diagnostic(Code::CMacroRedefined, message, name.loc);
        if old.defined != selvedge_ir::span::Span::default() {
            diagnostic = diagnostic.also(old.defined, "first defined here");
        }
        self.push(diagnostic);
    }

    /// Reads the parameters behind an opening parenthesis. Returns them, whether the last one takes all further
    /// arguments, and the number of tokens read.
    fn params(&mut self, name: Token, rest: &[Token]) -> Option<(Vec<Symbol>, bool, usize)> {
        let (mut params, mut variadic, mut at) = (Vec::new(), false, 0);
        let kind = |at: usize| rest.get(at).map(|token: &Token| token.kind);
        if kind(0) == Some(Kind::RParen) {
            return Some((params, false, 1));
        }
        loop {
            match kind(at) {
                Some(Kind::Name) if !variadic => params.push(rest[at].text),
                Some(Kind::Ellipsis) if !variadic => {
                    params.push(self.words.va_args);
                    variadic = true;
                }
                _ => break,
            }
            at += 1;
            if kind(at) == Some(Kind::Ellipsis) && !variadic {
                (variadic, at) = (true, at + 1);
            }
            match kind(at) {
                Some(Kind::RParen) => return self.distinct(name, params).map(|params| (params, variadic, at + 1)),
                Some(Kind::Comma) => at += 1,
                _ => break,
            }
        }
        let loc = rest.get(at).map_or(name.loc, |token| token.loc);
        self.error(Code::CDirective, "expected the parameters of a macro: names between commas", loc);
        None
    }

    fn distinct(&mut self, name: Token, params: Vec<Symbol>) -> Option<Vec<Symbol>> {
        let twice = params.iter().enumerate().find(|(at, param)| params[..*at].contains(param));
        if let Some((_, twice)) = twice {
            let message = format!("two parameters of the macro have the name `{}`", self.text(*twice));
            self.error(Code::CMacro, message, name.loc);
            return None;
        }
        Some(params)
    }

    /// Executes `# 12 "name"`, which preprocessors write.
    fn line_marker(&mut self, number: Token, rest: &[Token]) {
        let line = self.text(number.text).parse::<u32>().ok();
        let name = rest.first().filter(|token| token.kind == Kind::Str).copied();
        match (line, rest.is_empty() || name.is_some()) {
            (Some(line), true) => self.mark(line, name),
            _ => self.error(Code::CDirective, "expected a line number and a file name", number.loc),
        }
    }

    fn line_directive(&mut self, loc: Loc, rest: &[Token]) {
        let rest = self.expand_all(rest.to_vec());
        match rest.split_first() {
            Some((number, rest)) if number.kind == Kind::Number => self.line_marker(*number, rest),
            _ => self.error(Code::CDirective, "expected a line number after `#line`", loc),
        }
    }

    /// Notes that the next line has another number, and perhaps belongs to another file.
    fn mark(&mut self, line: u32, name: Option<Token>) {
        let name = name.map(|token| {
            let text = self.text(token.text);
            text[1..text.len() - 1].replace("\\\\", "\\").replace("\\\"", "\"")
        });
        let Some(newline) = self.frames.last().and_then(|frame| frame.tokens.get(frame.next)) else { return };
        self.files.mark(newline.loc.span.end, line as usize, name);
    }

    /// Opens a conditional group, and skips it unless the test holds.
    fn open(&mut self, loc: Loc, rest: &[Token], test: Test) {
        let holds = self.holds(loc, rest, test);
        let Some(frame) = self.frames.last_mut() else { return };
        frame.conditions.push(Condition { loc, is_done: holds, has_else: false });
        if frame.conditions.len() > MAX_NESTING {
            self.error(Code::BeyondLimit, format!("`#if` nested more than {MAX_NESTING} levels deep"), loc);
            self.steps = usize::MAX;
            return;
        }
        if !holds {
            self.skip_groups();
        }
    }

    fn holds(&mut self, loc: Loc, rest: &[Token], test: Test) -> bool {
        match test {
            Test::Expression => self.condition(loc, rest),
            Test::Defined => self.name(loc, rest).is_some_and(|name| self.is_defined(name.text)),
            Test::Undefined => self.name(loc, rest).is_some_and(|name| !self.is_defined(name.text)),
        }
    }

    pub(super) fn is_defined(&self, name: Symbol) -> bool {
        self.macros.contains_key(&name) || name == self.words.has_include
    }

    /// Executes `#elif` or `#else` behind a group that was read: all further groups are skipped.
    fn alternative(&mut self, loc: Loc, is_else: bool) {
        let Some(condition) = self.frames.last_mut().and_then(|frame| frame.conditions.last_mut()) else {
            return self.error(Code::CDirective, "this directive has no `#if` before it", loc);
        };
        let had_else = condition.has_else;
        (condition.is_done, condition.has_else) = (true, had_else || is_else);
        if had_else {
            self.error(Code::CDirective, "this directive comes after `#else`", loc);
        }
        self.skip_groups();
    }

    fn close(&mut self, loc: Loc) {
        if self.frames.last_mut().and_then(|frame| frame.conditions.pop()).is_none() {
            self.error(Code::CDirective, "this directive has no `#if` before it", loc);
        }
    }

    /// Skips groups up to one whose test holds, or behind the `#endif`. Groups inside are skipped with them.
    fn skip_groups(&mut self) {
        let mut depth = 0;
        while let Some((hash, line)) = self.next_directive() {
            let Some(name) = line.first() else { continue };
            let loc = self.files.join(hash.loc, name.loc);
            match self.text(name.text).to_owned().as_str() {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth > 0 => depth -= 1,
                "endif" => return self.close(loc),
                "elif" if depth == 0 && self.begins_group(loc, Some(&line[1..])) => return,
                "else" if depth == 0 && self.begins_group(loc, None) => return,
                _ => {}
            }
        }
    }

    /// Returns whether the group behind `#elif` or `#else` is the one to read.
    fn begins_group(&mut self, loc: Loc, test: Option<&[Token]>) -> bool {
        let Some(condition) = self.frames.last_mut().and_then(|frame| frame.conditions.last_mut()) else {
            return false;
        };
        let (is_done, had_else) = (condition.is_done, condition.has_else);
        condition.has_else |= test.is_none();
        if had_else {
            self.error(Code::CDirective, "this directive comes after `#else`", loc);
            return false;
        }
        let holds = !is_done && test.is_none_or(|test| self.condition(loc, test));
        if let Some(condition) = self.frames.last_mut().and_then(|frame| frame.conditions.last_mut()) {
            condition.is_done |= holds;
        }
        holds
    }

    /// Goes to the next directive of the file, and returns it.
    fn next_directive(&mut self) -> Option<(Token, Vec<Token>)> {
        let frame = self.frames.last_mut()?;
        let rest = &frame.tokens[frame.next..];
        let skipped = rest.iter().position(|token| token.kind == Kind::Hash && token.first);
        let Some(skipped) = skipped else {
            frame.next = frame.tokens.len();
            return None;
        };
        let hash = rest[skipped];
        frame.next += skipped + 1;
        self.count(skipped + 1);
        if self.is_over() {
            return None;
        }
        Some((hash, self.rest_of_line()))
    }

    /// Ends the reading of a file.
    pub(super) fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        for condition in frame.conditions {
            self.error(Code::CDirective, "this `#if` has no `#endif`", condition.loc);
        }
    }
}

/// What decides whether a group is read.
#[derive(Clone, Copy)]
enum Test {
    Expression,
    Defined,
    Undefined,
}
