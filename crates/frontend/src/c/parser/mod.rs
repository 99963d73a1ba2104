//! The parser of C: recursive descent over the tokens behind the preprocessor, with one token of lookahead and, where a
//! name could be a type, the scopes of the typing rules.
//!
//! After an error the parser is `lost`: until it has found the end of the statement or declaration, further errors of
//! syntax are suppressed. Nesting is bounded, so that the stack is.

mod attributes;
mod declarations;
mod declarators;
mod expressions;
mod functions;
mod primary;
mod specifiers;
mod statements;
mod tags;

use super::files::Loc;
use super::lexer::{Kind, Token};
use super::names::Symbol;
use super::preprocess::Preprocessed;
use super::tree::{Case, Unit};
use super::types::QualType;
use super::typing::{Entry, Typer};
use super::{Options, headers, lexer};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Source;
use crate::tokens::MAX_DEPTH;

/// Parses the tokens of a translation unit.
pub(super) fn parse(preprocessed: Preprocessed, options: &Options) -> Unit {
    let (typer, tokens) = Typer::new(preprocessed, options.model);
    let mut parser = Parser {
        tokens: Vec::new(),
        at: 0,
        typer,
        lost: false,
        depth: 0,
        is_limit_reported: false,
        n_loops: 0,
        switches: Vec::new(),
        break_depth: 0,
    };
    parser.read_builtins(options);
    parser.typer.open_scope();
    (parser.tokens, parser.at) = (tokens, 0);
    parser.unit();
    parser.typer.finish();
    parser.typer.unit.diagnostics.sort_by_key(|found| found.primary.span);
    parser.typer.unit
}

pub(super) struct Parser {
    /// The tokens, which end with [`Kind::Eof`]; that one is never consumed.
    tokens: Vec<Token>,
    at: usize,
    typer: Typer,
    lost: bool,
    depth: u32,
    is_limit_reported: bool,
    /// The number of loops around, which `continue` can be for.
    n_loops: usize,
    switches: Vec<SwitchState>,
    /// The number of loops and `switch`es around.
    break_depth: usize,
}

/// A `switch` whose body is read.
struct SwitchState {
    /// The promoted type of its value.
    ty: QualType,
    cases: Vec<Case>,
}

impl Parser {
    /// Reads the declarations of what may be used without a declaration, in a scope of their own.
    fn read_builtins(&mut self, options: &Options) {
        let text = headers::embedded("builtins.h").unwrap_or_default();
        let mut inner = super::preprocess::preprocess(Source::new("<built-in>", text), options);
        // The places mean nothing: these are not part of the program.
        let names = std::mem::take(&mut inner.names);
        self.tokens = inner
            .tokens
            .iter()
            .map(|token| {
                let text = self.typer.unit.names.intern(names.text(token.text));
                lexer::Token { text, loc: Loc::default(), ..*token }
            })
            .collect();
        self.unit();
        self.typer.take_known();
        let name = self.typer.unit.names.intern("__builtin_va_list");
        self.typer.insert(name, Entry::Typedef(super::types::basic::VA_LIST), Loc::default());
        if options.model == super::DataModel::Lp64 {
            self.insert_int128();
        }
    }

    fn insert_int128(&mut self) {
        use super::types::{IntKind, basic};
        for (name, kind) in [("__int128_t", IntKind::Int128), ("__uint128_t", IntKind::UInt128)] {
            let name = self.typer.unit.names.intern(name);
            self.typer.insert(name, Entry::Typedef(basic::int(kind)), Loc::default());
        }
    }

    fn token(&self) -> Token {
        self.tokens[self.at]
    }

    fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// Returns the kind of the token after the next `ahead` ones.
    fn peek(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::Eof, |token| token.kind)
    }

    fn loc(&self) -> Loc {
        self.tokens[self.at].loc
    }

    /// Returns the text of the next token.
    fn text(&self) -> &str {
        self.typer.text(self.token().text)
    }

    fn at(&self, kind: Kind) -> bool {
        self.kind() == kind
    }

    /// Consumes a token.
    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::Eof {
            self.at += 1;
        }
        token
    }

    /// Consumes a token of this kind, if it is next.
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// Returns the place of the last consumed token.
    fn previous(&self) -> Loc {
        self.at.checked_sub(1).map_or_else(Loc::default, |at| self.tokens[at].loc)
    }

    /// Returns the place from `start` to the last consumed token.
    fn since(&self, start: Loc) -> Loc {
        self.typer.join(start, self.previous())
    }

    /// Reports an error from which the parser must recover.
    fn lose(&mut self, diagnostic: Diagnostic) {
        if !self.lost {
            self.typer.push(diagnostic);
        }
        self.lost = true;
    }

    fn found(&self) -> String {
        match self.kind() {
            Kind::Eof => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text()),
        }
    }

    /// Reports that something else was expected here.
    fn miss(&mut self, expected: &str) {
        let message = format!("expected {expected}, found {}", self.found());
        let diagnostic = self.typer.diagnostic(Code::UnexpectedToken, message, self.loc());
        self.lose(diagnostic.label(format!("expected {expected}")));
    }

    /// Consumes a token of this kind; if another one is next, the parser is lost.
    fn expect(&mut self, kind: Kind) -> bool {
        let found = self.eat(kind);
        if !found {
            self.miss(kind.describe());
        }
        found
    }

    /// Consumes the semicolon behind a statement or declaration.
    fn expect_semicolon(&mut self) {
        if self.lost || self.eat(Kind::Semicolon) {
            return;
        }
        let message = format!("expected `;` before {}", self.found());
        let end = self.previous().span.end;
        let span = selvedge_ir::span::Span { start: end, end };
        let mut diagnostic = self.typer.diagnostic(Code::MissingSemicolon, message, self.previous());
        diagnostic.primary.span = span;
        self.lose(diagnostic);
    }

    /// Consumes the closing token that belongs to `opener`.
    fn close(&mut self, kind: Kind, opener: Loc) {
        if self.lost || self.eat(kind) {
            return;
        }
        let message = format!("expected {} to close this, found {}", kind.describe(), self.found());
        let diagnostic = self.typer.diagnostic(Code::Unclosed, message, opener).label("not closed");
        let diagnostic = diagnostic.also(self.loc().span, "expected before this");
        self.lose(diagnostic);
    }

    /// Parses something one level deeper; `None` if that is too deep.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.depth += 1;
        let parsed = if self.depth <= MAX_DEPTH { Some(inner(self)) } else { None };
        self.depth -= 1;
        if parsed.is_none() {
            if !self.is_limit_reported {
                let message = format!("nested more than {MAX_DEPTH} levels deep");
                let diagnostic = self.typer.diagnostic(Code::BeyondLimit, message, self.loc());
                self.lose(diagnostic.help("split it into several parts"));
            }
            self.is_limit_reported = true;
            self.lost = true;
        }
        parsed
    }

    /// Skips to the end of the statement or declaration: behind a semicolon, or before or behind a closing brace.
    fn recover(&mut self) {
        let mut depth = 0;
        while self.lost {
            match self.kind() {
                Kind::Eof => break,
                Kind::Semicolon if depth == 0 => {
                    self.bump();
                    break;
                }
                Kind::RBrace if depth == 0 => break,
                Kind::LBrace => depth += 1,
                Kind::RBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        break;
                    }
                }
                _ => {}
            }
            self.bump();
        }
        (self.lost, self.is_limit_reported) = (false, false);
    }

    /// Skips to behind the brace that closes the one before, or to a semicolon that is not in other braces.
    fn skip_braces(&mut self) {
        let mut depth = 0;
        while !self.at(Kind::Eof) {
            match self.kind() {
                Kind::Semicolon if depth == 0 => return,
                Kind::LBrace => depth += 1,
                Kind::RBrace if depth == 0 => {
                    self.bump();
                    return;
                }
                Kind::RBrace => depth -= 1,
                _ => {}
            }
            self.bump();
        }
    }

    /// Ends reading if there are too many errors.
    fn stop_if_over(&mut self) {
        if self.typer.is_over() {
            self.at = self.tokens.len() - 1;
        }
    }

    /// Skips tokens up to the parenthesis that closes the one before.
    fn skip_parens(&mut self, opener: Loc) {
        let mut depth = 0;
        while !self.at(Kind::Eof) {
            match self.kind() {
                Kind::LParen => depth += 1,
                Kind::RParen if depth == 0 => break,
                Kind::RParen => depth -= 1,
                _ => {}
            }
            self.bump();
        }
        self.close(Kind::RParen, opener);
    }

    /// Consumes a name.
    fn expect_name(&mut self, what: &str) -> Option<(Symbol, Loc)> {
        if self.at(Kind::Name) {
            let token = self.bump();
            return Some((token.text, token.loc));
        }
        self.miss(what);
        None
    }

    /// Returns whether a token names a type in this scope.
    fn is_typedef_name(&self, token: Token) -> bool {
        token.kind == Kind::Name && matches!(self.typer.lookup(token.text), Some(Entry::Typedef(_)))
    }

    fn unsupported(&mut self, what: &str, loc: Loc) {
        self.typer.error(Code::CUnsupported, format!("{what} not supported"), loc);
    }
}
