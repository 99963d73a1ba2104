//! What the readers of programs share: lists of tokens and comments, and a cursor that walks over the tokens.
//!
//! Each language has its own kinds of tokens and its own parser. A mistake is reported once. It makes the cursor
//! `lost`: until the parser has found its place again, further complaints are swallowed.

use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};

/// The kinds of tokens of a language.
pub trait Kind: Copy + Eq {
    /// The end of the file.
    const EOF: Self;
    /// Something that is no token. It has been reported.
    const STRAY: Self;

    /// How a diagnostic names it.
    fn describe(self) -> String;
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<K> {
    pub kind: K,
    pub span: Span,
}

/// A comment with its marks, without the end of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    pub kind: CommentKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentKind {
    /// `// ..` or `# ..`
    Line,
    /// `/* .. */`
    Block,
}

/// What a lexer returns. The last token is [`Kind::EOF`].
#[derive(Clone, Debug)]
pub struct Lexed<K> {
    pub tokens: Vec<Token<K>>,
    /// In the order of their places.
    pub comments: Vec<Comment>,
    pub diagnostics: Vec<Diagnostic>,
}

impl<K: Kind> Lexed<K> {
    /// No tokens yet, with room for those of a text.
    pub(crate) fn for_text(text: &str) -> Lexed<K> {
        Lexed { tokens: Vec::with_capacity(text.len() / 4), comments: Vec::new(), diagnostics: Vec::new() }
    }

    pub(crate) fn push(&mut self, kind: K, span: Span) {
        self.tokens.push(Token { kind, span });
    }

    pub(crate) fn push_comment(&mut self, kind: CommentKind, span: Span, slice: &str) {
        self.comments.push(Comment { kind, span });
        if kind == CommentKind::Block && (slice.len() < 4 || !slice.ends_with("*/")) {
            let opener = Span { start: span.start, end: span.start + 2 };
            let diagnostic = Diagnostic::new(Code::UnterminatedComment, "this comment has no end", opener)
                .help("close it with `*/`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Neighbouring stray characters are reported together.
    pub(crate) fn push_stray(&mut self, span: Span, slice: &str) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == K::STRAY
            && last.span.end == span.start
        {
            last.span.end = span.end;
            return;
        }
        let shown: String = slice.chars().take(1).flat_map(char::escape_debug).collect();
        let message = format!("`{shown}` is not part of the language");
        self.diagnostics.push(Diagnostic::new(Code::StrayCharacter, message, span));
        self.push(K::STRAY, span);
    }
}

/// The length of a block comment whose opening mark has been read: to its end, or to that of the text.
pub(crate) fn block_comment_length(rest: &str) -> usize {
    rest.find("*/").map_or(rest.len(), |place| place + 2)
}

/// A place in a list of tokens, and what was found wrong on the way there.
pub(crate) struct Cursor<'t, K> {
    pub(crate) text: &'t str,
    /// Ends with [`Kind::EOF`], which is never consumed.
    pub(crate) tokens: Vec<Token<K>>,
    pub(crate) position: usize,
    /// A mistake has been reported and the parser has not found its place again.
    pub(crate) lost: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl<'t, K: Kind> Cursor<'t, K> {
    /// Stands at the first token.
    pub(crate) fn new(text: &'t str, tokens: Vec<Token<K>>, diagnostics: Vec<Diagnostic>) -> Cursor<'t, K> {
        Cursor { text, tokens, position: 0, lost: false, diagnostics }
    }

    pub(crate) fn kind(&self) -> K {
        self.tokens[self.position].kind
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    /// The kind of the token after the next `ahead` ones.
    pub(crate) fn peek(&self, ahead: usize) -> K {
        self.tokens.get(self.position + ahead).map_or(K::EOF, |token| token.kind)
    }

    pub(crate) fn slice(&self) -> &'t str {
        self.span().of(self.text)
    }

    pub(crate) fn at(&self, kind: K) -> bool {
        self.kind() == kind
    }

    /// Consumes a token and returns its place.
    pub(crate) fn bump(&mut self) -> Span {
        let span = self.span();
        if !self.at(K::EOF) {
            self.position += 1;
        }
        span
    }

    /// Consumes a token of this kind, if it is next.
    pub(crate) fn eat(&mut self, kind: K) -> bool {
        let found = self.at(kind);
        if found {
            self.bump();
        }
        found
    }

    /// The place of the last consumed token; the beginning of the file if there is none.
    pub(crate) fn previous(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::default(), |position| self.tokens[position].span)
    }

    /// The empty place behind the last consumed token.
    pub(crate) fn after_previous(&self) -> Span {
        let end = self.previous().end;
        Span { start: end, end }
    }

    /// The span from `start` to the last consumed token.
    pub(crate) fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    /// Reports a finding, unless the cursor is lost or stands at something that the lexer has reported.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.lost && !self.at(K::STRAY) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports a mistake after which nothing is certain until the parser finds its place again.
    pub(crate) fn lose(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.lost = true;
    }

    /// How a diagnostic names the next token.
    pub(crate) fn found(&self) -> String {
        if self.at(K::EOF) { "the end of the file".to_owned() } else { format!("`{}`", self.slice()) }
    }

    pub(crate) fn unexpected(&self, expected: &str) -> Diagnostic {
        let message = format!("expected {expected}, found {}", self.found());
        Diagnostic::new(Code::UnexpectedToken, message, self.span()).label(format!("expected {expected}"))
    }

    /// Reports that something else was expected here; the cursor is lost.
    pub(crate) fn miss(&mut self, expected: &str) {
        self.lose(self.unexpected(expected));
    }

    /// Consumes a token of this kind; if another one is next, the cursor is lost.
    pub(crate) fn expect(&mut self, kind: K) -> bool {
        let found = self.eat(kind);
        if !found {
            self.miss(&kind.describe());
        }
        found
    }

    /// Consumes the closing sign that belongs to `opener`.
    pub(crate) fn close(&mut self, kind: K, opener: Span) {
        if self.eat(kind) {
            return;
        }
        let message = format!("expected {} to close this, found {}", kind.describe(), self.found());
        let diagnostic = Diagnostic::new(Code::Unclosed, message, opener)
            .label("not closed")
            .also(self.span(), "expected before this");
        self.lose(diagnostic);
    }
}
