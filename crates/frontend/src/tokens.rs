//! Shared parts of the parsers: lists of tokens and comments, and a cursor over the tokens.
//!
//! Each language has its own kinds of tokens and its own parser. An error is reported once, and the cursor is then
//! `lost`: until the parser has recovered, further errors are suppressed.

use logos::Logos;
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};

/// The kinds of tokens of a language.
pub trait Kind: Copy + Eq {
    /// The end of the file.
    const EOF: Self;
    /// Text that is not a token. The lexer has reported it.
    const STRAY: Self;
    /// `// ..` or `# ..`; never in the list of tokens.
    const LINE_COMMENT: Self;
    /// `/* .. */`; never in the list of tokens.
    const BLOCK_COMMENT: Self;

    /// Returns the name that diagnostics use.
    fn describe(self) -> String;

    /// Adds a token of this kind to the list. Overridden for kinds that need further analysis and never occur in the
    /// list.
    fn push(self, lexed: &mut Lexed<Self>, span: Span, _slice: &str) {
        lexed.push(self, span);
    }
}

/// A token and its position.
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

/// The result of a lexer. The last token is [`Kind::EOF`].
#[derive(Clone, Debug)]
pub struct Lexed<K> {
    pub tokens: Vec<Token<K>>,
    /// The comments, ordered by position.
    pub comments: Vec<Comment>,
    pub diagnostics: Vec<Diagnostic>,
}

impl<K: Kind> Lexed<K> {
    /// Returns an empty list with capacity for the tokens of a text.
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
            let diagnostic = Diagnostic::new(Code::UnterminatedComment, "this comment is not closed", opener)
                .help("close it with `*/`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Adds a stray character; adjacent ones are reported together.
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

/// Splits a text of less than 4 GiB into tokens and comments.
pub(crate) fn lex<'t, K: Kind + Logos<'t, Source = str, Extras = ()>>(text: &'t str) -> Lexed<K> {
    let mut lexed = Lexed::for_text(text);
    let mut lexer = K::lexer(text);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        let (span, slice) = (Span::new(range.start, range.end), lexer.slice());
        match kind.unwrap_or(K::STRAY) {
            kind if kind == K::LINE_COMMENT => lexed.push_comment(CommentKind::Line, span, slice),
            kind if kind == K::BLOCK_COMMENT => lexed.push_comment(CommentKind::Block, span, slice),
            kind if kind == K::STRAY => lexed.push_stray(span, slice),
            kind => kind.push(&mut lexed, span, slice),
        }
    }
    lexed.push(K::EOF, Span::new(text.len(), text.len()));
    lexed
}

/// Consumes a block comment whose opening mark has been read: to its end, or to the end of the text.
pub(crate) fn block_comment<'t, K: Logos<'t, Source = str>>(lexer: &mut logos::Lexer<'t, K>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |place| place + 2));
}

/// The result of parsing a text. Parts that could not be parsed are omitted and reported.
#[derive(Clone, Debug, Default)]
pub struct Parsed<F> {
    pub file: F,
    /// The comments, ordered by position.
    pub comments: Vec<Comment>,
    /// The diagnostics, ordered by position.
    pub diagnostics: Vec<Diagnostic>,
}

/// Returns the diagnostic for a text whose positions do not fit in 32 bits.
pub(crate) fn too_long(text: &str) -> Option<Diagnostic> {
    let message = "texts of 4 GiB or more are not supported";
    u32::try_from(text.len()).is_err().then(|| Diagnostic::new(Code::BeyondLimit, message, Span::default()))
}

/// A position in a list of tokens, and the diagnostics so far.
pub(crate) struct Cursor<'t, K> {
    pub(crate) text: &'t str,
    /// The tokens, which end with [`Kind::EOF`]; that one is never consumed.
    pub(crate) tokens: Vec<Token<K>>,
    pub(crate) position: usize,
    /// True if an error has been reported and the parser has not recovered yet.
    pub(crate) lost: bool,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The current depth of nesting.
    pub(crate) depth: u32,
    /// True if the limit on the depth has been reported since this was last reset.
    pub(crate) is_limit_reported: bool,
}

/// The limit on the depth of nested parentheses, operators and blocks, counted together. A level costs less than 4 KiB
/// of stack in the parsers and lowerings, also without optimisation.
pub const MAX_DEPTH: u32 = 256;

impl<'t, K: Kind> Cursor<'t, K> {
    /// Returns a cursor at the first token.
    pub(crate) fn new(text: &'t str, tokens: Vec<Token<K>>, diagnostics: Vec<Diagnostic>) -> Cursor<'t, K> {
        Cursor { text, tokens, position: 0, lost: false, diagnostics, depth: 0, is_limit_reported: false }
    }

    pub(crate) fn kind(&self) -> K {
        self.tokens[self.position].kind
    }

    pub(crate) fn span(&self) -> Span {
        self.tokens[self.position].span
    }

    /// Returns the kind of the token after the next `ahead` ones.
    pub(crate) fn peek(&self, ahead: usize) -> K {
        self.tokens.get(self.position + ahead).map_or(K::EOF, |token| token.kind)
    }

    pub(crate) fn slice(&self) -> &'t str {
        self.span().of(self.text)
    }

    pub(crate) fn at(&self, kind: K) -> bool {
        self.kind() == kind
    }

    /// Consumes a token and returns its position.
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

    /// Returns the position of the last consumed token; the beginning of the file if there is none.
    pub(crate) fn previous(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::default(), |position| self.tokens[position].span)
    }

    /// Returns the empty span after the last consumed token.
    pub(crate) fn after_previous(&self) -> Span {
        let end = self.previous().end;
        Span { start: end, end }
    }

    /// Returns the span from `start` to the last consumed token.
    pub(crate) fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    /// Reports a finding, unless the cursor is lost or at a token that the lexer has reported.
    pub(crate) fn report(&mut self, diagnostic: Diagnostic) {
        if !self.lost && !self.at(K::STRAY) {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Reports an error from which the parser must recover.
    pub(crate) fn lose(&mut self, diagnostic: Diagnostic) {
        self.report(diagnostic);
        self.lost = true;
    }

    /// Returns the name of the next token for diagnostics.
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

    /// Goes one level deeper. Returns whether that is within the limit; if not, says so once per statement or item, and
    /// the caller skips what is nested deeper.
    pub(crate) fn descend(&mut self) -> bool {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return true;
        }
        if !self.is_limit_reported {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            let diagnostic = Diagnostic::new(Code::BeyondLimit, message, self.span());
            self.report(diagnostic.help("split it into several parts"));
        }
        self.is_limit_reported = true;
        self.lost = true;
        false
    }

    pub(crate) fn ascend(&mut self) {
        self.depth -= 1;
    }

    /// Consumes the closing token that belongs to `opener`.
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
