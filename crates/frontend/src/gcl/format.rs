//! The formatter of guarded commands.
//!
//! Tokens are printed in order, one item per line: a line ends after `;` and `{` and around `}`, and is continued with
//! more indentation if it would be too long. A comment that begins a line keeps its own line; another one stays after
//! the same token. Several blank lines become one. So the output has the same tokens and the same comments at the same
//! positions, and formatting is idempotent.

use selvedge_ir::span::Span;

use super::lexer::{TokenKind, lex};
use crate::diagnostic::Diagnostic;
use crate::tokens::{Kind, Token};

const INDENT: usize = 2;
const CONTINUATION: usize = 4;
const WIDTH: usize = 100;

/// Formats a text. If it has syntax errors, these are returned instead.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let parsed = super::parse(text);
    if parsed.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(parsed.diagnostics);
    }
    let mut printer = Printer { text, out: String::with_capacity(text.len()), ..Printer::default() };
    let mut comments = parsed.comments.into_iter().peekable();
    let tokens = lex(text).tokens;
    let runs = runs(&tokens);
    for (number, token) in tokens.iter().enumerate() {
        while let Some(comment) = comments.next_if(|comment| comment.span.start < token.span.start) {
            printer.comment(comment.span);
        }
        if token.kind != TokenKind::Eof {
            printer.token(*token, number.checked_sub(1).map(|before| tokens[before].kind), runs[number]);
        }
    }
    for comment in comments {
        printer.comment(comment.span);
    }
    Ok(printer.finish())
}

/// The state of the current line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Line {
    /// Nothing is on it.
    #[default]
    Empty,
    /// It has some text, and more may follow.
    Open,
    /// Only a comment may follow.
    Ended,
    /// Nothing may follow: it ends in a comment that reaches to its end.
    Closed,
}

#[derive(Default)]
struct Printer<'t> {
    text: &'t str,
    out: String,
    line: Line,
    /// The number of open braces.
    depth: usize,
    /// True if the line is not the first of its statement.
    continues: bool,
    /// True if nothing follows the last opening brace.
    opened: bool,
    /// The end of the last token or comment in the source.
    end: u32,
    /// True if the last token was the sign of a term.
    sign: bool,
    /// True in a declaration before its initial value.
    declares: bool,
}

impl Printer<'_> {
    /// Prints a token; `run` is the width that must stay on one line with it.
    fn token(&mut self, token: Token<TokenKind>, before: Option<TokenKind>, run: usize) {
        if token.kind == TokenKind::RBrace {
            self.depth = self.depth.saturating_sub(1);
            self.opened = true;
            self.continues = false;
        }
        let word = match token.kind {
            TokenKind::Eq if std::mem::take(&mut self.declares) => "=",
            kind => kind.text().unwrap_or(token.span.of(self.text)),
        };
        self.declares |= token.kind == TokenKind::Var;
        let is_sign = token.kind == TokenKind::Minus && before.is_none_or(|before| !ends_operand(before));
        let glued = before.is_some_and(|before| self.is_glued(before, token.kind));
        let fits = self.width() + 1 + run <= WIDTH;
        let may_break = !glued && breaks_before(token.kind, before);
        match self.line {
            Line::Open if fits || !may_break => {
                if !glued {
                    self.out.push(' ');
                }
            }
            _ => self.new_line(token.span),
        }
        self.out.push_str(word);
        self.sign = is_sign;
        self.end = token.span.end;
        self.line = Line::Open;
        self.continues = true;
        self.opened = false;
        match token.kind {
            TokenKind::Semicolon => self.end_statement(),
            TokenKind::LBrace => {
                self.depth += 1;
                self.end_statement();
                self.opened = true;
            }
            TokenKind::RBrace => self.end_statement(),
            _ => {}
        }
    }

    fn end_statement(&mut self) {
        self.line = Line::Ended;
        self.continues = false;
        self.declares = false;
    }

    /// Returns whether there is no space between two tokens.
    fn is_glued(&self, before: TokenKind, kind: TokenKind) -> bool {
        match (before, kind) {
            (_, TokenKind::Comma | TokenKind::Semicolon | TokenKind::RParen | TokenKind::Dots) => true,
            (TokenKind::LParen | TokenKind::Not | TokenKind::Dots, _) => true,
            // The colon of a conditional expression cannot be recognised here; it is printed like others.
            (_, TokenKind::Colon) => true,
            (TokenKind::Minus, _) => self.sign,
            _ => false,
        }
    }

    fn comment(&mut self, comment: Span) {
        let begins_line = self.text[self.end as usize..comment.start as usize].contains('\n') || self.end == 0;
        let text = comment.of(self.text).trim_end();
        if begins_line || self.line == Line::Closed {
            self.new_line(comment);
        } else if self.line != Line::Empty {
            self.out.push(' ');
        }
        self.out.push_str(text);
        self.end = comment.end;
        self.line = match (text.starts_with("/*"), self.line) {
            (false, _) => Line::Closed,
            (true, Line::Ended) => Line::Ended,
            (true, _) if begins_line => Line::Closed,
            (true, _) => Line::Open,
        };
        self.opened &= !begins_line;
    }

    /// Begins a line for a token or comment at this position.
    fn new_line(&mut self, span: Span) {
        let between = &self.text[self.end as usize..span.start as usize];
        let is_blank = between.matches('\n').count() > 1;
        if !self.out.is_empty() {
            self.out.push('\n');
            if is_blank && !self.opened && !self.continues {
                self.out.push('\n');
            }
        }
        let further = if self.continues { CONTINUATION } else { 0 };
        self.out.extend(std::iter::repeat_n(' ', self.depth * INDENT + further));
        self.line = Line::Empty;
    }

    fn width(&self) -> usize {
        self.out.len() - self.out.rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }
}

/// Returns for each token the width up to the next possible line break, with a space between any two tokens.
fn runs(tokens: &[Token<TokenKind>]) -> Vec<usize> {
    let mut runs = vec![0; tokens.len()];
    let mut behind = 0;
    for (number, token) in tokens.iter().enumerate().rev() {
        runs[number] = (token.span.end - token.span.start) as usize + behind;
        let before = number.checked_sub(1).map(|before| tokens[before].kind);
        let ends = matches!(before, Some(TokenKind::Semicolon | TokenKind::LBrace | TokenKind::RBrace));
        behind = if ends || breaks_before(token.kind, before) { 0 } else { runs[number] + 1 };
    }
    runs
}

/// Returns whether a token ends an operand, so that a `-` after it is a subtraction.
fn ends_operand(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Word
            | TokenKind::Number
            | TokenKind::RParen
            | TokenKind::True
            | TokenKind::False
            | TokenKind::Nondet
    )
}

/// Returns whether a line may be broken before a token.
fn breaks_before(kind: TokenKind, before: Option<TokenKind>) -> bool {
    let splits = matches!(before, Some(TokenKind::Comma | TokenKind::Arrow));
    let joins = matches!(kind, TokenKind::And | TokenKind::Or | TokenKind::Implies | TokenKind::Arrow);
    splits || joins || matches!(kind, TokenKind::Plus | TokenKind::Question)
}
