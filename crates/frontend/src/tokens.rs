//! Shared parts of the parsers: lists of tokens and comments, and a cursor over the tokens.
//!
//! Each language has its own kinds of tokens and its own parser. An error is reported once, and the cursor is then
//! `lost`: until the parser has recovered, further errors are suppressed.

use logos::Logos;
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::REPLACEMENT;

/// The kinds of tokens of a language; `token_kinds!` defines them.
pub trait Kind: Copy + Eq {
    /// The end of the file.
    const EOF: Self;
    /// Text that is not a token. The lexer has reported it.
    const STRAY: Self;
    /// `// ..` or `# ..`; never in the list of tokens.
    const LINE_COMMENT: Self;
    /// `/* .. */`; never in the list of tokens.
    const BLOCK_COMMENT: Self;
    /// The separator of lists.
    const COMMA: Self;
    /// A name.
    const WORD: Self;
    const NUMBER: Self;

    /// Returns whether it is a reserved word.
    fn is_reserved(self) -> bool;

    /// Returns the spelling of a reserved word or sign, the first one if there are several.
    fn text(self) -> Option<&'static str>;

    /// Returns the name that diagnostics use.
    fn describe(self) -> String {
        self.text().map_or_else(|| "a token".to_owned(), |text| format!("`{text}`"))
    }
}

/// Defines the enum `TokenKind` of a language from its reserved words and signs with their spellings, and its classes
/// of tokens as the crate `logos` describes them. White space, comments and the end of the file are the same in all
/// languages.
macro_rules! token_kinds {
    (
        words { $($word:ident $word_text:literal $(| $word_other:literal)*,)* }
        signs { $($sign:ident $sign_text:literal $(| $sign_other:literal)*,)* }
        classes { $($(#[$attribute:meta])* $class:ident,)* }
    ) => {
        #[derive(logos::Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
        pub enum TokenKind {
            $(#[token($word_text)] $(#[token($word_other)])* $word,)*
            $(#[token($sign_text)] $(#[token($sign_other)])* $sign,)*
            $($(#[$attribute])* $class,)*

            /// Never in the list of tokens.
            #[regex(r"//[^\r\n]*")]
            #[regex(r"#[^\r\n]*")]
            LineComment,
            /// Never in the list of tokens. The callback consumes the comment up to its end, or to the end of the file.
            #[token("/*", crate::tokens::block_comment)]
            BlockComment,

            /// Text that is not a token. It has been reported.
            Stray,
            /// The end of the file.
            Eof,
        }

        impl crate::tokens::Kind for TokenKind {
            const EOF: TokenKind = TokenKind::Eof;
            const STRAY: TokenKind = TokenKind::Stray;
            const LINE_COMMENT: TokenKind = TokenKind::LineComment;
            const BLOCK_COMMENT: TokenKind = TokenKind::BlockComment;
            const COMMA: TokenKind = TokenKind::Comma;
            const WORD: TokenKind = TokenKind::Word;
            const NUMBER: TokenKind = TokenKind::Number;

            fn is_reserved(self) -> bool {
                self.is_keyword()
            }

            fn text(self) -> Option<&'static str> {
                match self {
                    $(TokenKind::$word => Some($word_text),)*
                    $(TokenKind::$sign => Some($sign_text),)*
                    _ => None,
                }
            }
        }

        impl TokenKind {
            /// The reserved words, each in its usual spelling.
            pub const KEYWORDS: &[&str] = &[$($word_text),*];

            /// Returns whether it is a reserved word.
            pub fn is_keyword(self) -> bool {
                matches!(self, $(TokenKind::$word)|*)
            }
        }
    };
}
pub(crate) use token_kinds;

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
        self.diagnostics.push(stray(slice, span));
        self.push(K::STRAY, span);
    }
}

/// Splits a text of less than 4 GiB into tokens and comments. `push` adds a token that is neither a comment nor stray.
pub(crate) fn lex<'t, K: Kind + Logos<'t, Source = str, Extras = ()>>(
    text: &'t str,
    push: impl Fn(&mut Lexed<K>, K, Span, &str),
) -> Lexed<K> {
    let mut lexed = Lexed { tokens: Vec::with_capacity(text.len() / 4), comments: Vec::new(), diagnostics: Vec::new() };
    let mut lexer = K::lexer(text);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        let (span, slice) = (Span::new(range.start, range.end), lexer.slice());
        match kind.unwrap_or(K::STRAY) {
            kind if kind == K::LINE_COMMENT => lexed.push_comment(CommentKind::Line, span, slice),
            kind if kind == K::BLOCK_COMMENT => lexed.push_comment(CommentKind::Block, span, slice),
            kind if kind == K::STRAY => lexed.push_stray(span, slice),
            kind => push(&mut lexed, kind, span, slice),
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

/// Returns the diagnostic for text that is not a token.
pub(crate) fn stray(slice: &str, span: Span) -> Diagnostic {
    let first = slice.chars().next().unwrap_or(' ');
    if first == REPLACEMENT {
        let message = "this byte is not UTF-8, or another program has replaced it with the character U+FFFD";
        let help = "outside comments, all text must be UTF-8: save the file in this encoding";
        return Diagnostic::new(Code::StrayCharacter, message, span).help(help);
    }
    let shown = if first.is_ascii_graphic() { first.to_string() } else { first.escape_debug().to_string() };
    Diagnostic::new(Code::StrayCharacter, format!("`{shown}` is not part of the language"), span)
}

/// Returns the diagnostic for a text whose positions do not fit in 32 bits.
pub(crate) fn too_long(text: &str) -> Option<Diagnostic> {
    let message = "texts of 4 GiB or more are not supported";
    u32::try_from(text.len()).is_err().then(|| Diagnostic::new(Code::BeyondLimit, message, Span::default()))
}

/// Parses a text: `lex` splits it into tokens, and `file` parses these. Also returns the parser's state at the end.
pub(crate) fn parse<'t, K: Kind, S: Default, F: Default>(
    text: &'t str,
    lex: impl FnOnce(&'t str) -> Lexed<K>,
    file: impl FnOnce(&mut Cursor<'t, K, S>) -> F,
) -> (Parsed<F>, S) {
    if let Some(diagnostic) = too_long(text) {
        return (Parsed { diagnostics: vec![diagnostic], ..Parsed::default() }, S::default());
    }
    let Lexed { tokens, comments, diagnostics } = lex(text);
    let mut cursor = Cursor::new(text, tokens, diagnostics);
    let file = file(&mut cursor);
    cursor.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    (Parsed { file, comments, diagnostics: cursor.diagnostics }, cursor.state)
}

/// A parser: a position in a list of tokens, and the diagnostics so far.
pub(crate) struct Cursor<'t, K, S = ()> {
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
    /// What the parser of a language records in addition.
    pub(crate) state: S,
}

/// The limit on the depth of nested parentheses, operators and blocks, counted together. A level costs less than 4 KiB
/// of stack in the parsers and lowerings, also without optimisation.
pub const MAX_DEPTH: u32 = 256;

impl<'t, K: Kind, S: Default> Cursor<'t, K, S> {
    /// Returns a cursor at the first of some tokens, which end with [`Kind::EOF`].
    pub(crate) fn new(text: &'t str, tokens: Vec<Token<K>>, diagnostics: Vec<Diagnostic>) -> Cursor<'t, K, S> {
        let state = S::default();
        Cursor { text, tokens, position: 0, lost: false, diagnostics, depth: 0, is_limit_reported: false, state }
    }
}

impl<'t, K: Kind, S> Cursor<'t, K, S> {
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
        match self.slice() {
            _ if !self.at(K::EOF) => format!("`{}`", self.slice()),
            _ if (self.span().end as usize) < self.text.len() => "the end of the line".to_owned(),
            _ => "the end of the file".to_owned(),
        }
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

    /// Reports that a reserved word cannot be used here.
    pub(crate) fn report_reserved(&mut self, what: &str) {
        let message = format!("{} cannot be {what}", self.found());
        let diagnostic = Diagnostic::new(Code::ReservedWord, message, self.span());
        self.report(diagnostic.label("this word is reserved"));
    }

    /// Consumes `element`s between commas.
    pub(crate) fn comma_list<T>(&mut self, mut element: impl FnMut(&mut Self) -> Option<T>) -> Vec<T> {
        let mut list = Vec::new();
        loop {
            list.extend(element(self));
            if self.lost || !self.eat(K::COMMA) {
                return list;
            }
        }
    }

    /// Parses something one level deeper; `too_deep` skips what is nested deeper than the limit.
    pub(crate) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> T, too_deep: impl FnOnce(&mut Self) -> T) -> T {
        let parsed = if self.descend() { inner(self) } else { too_deep(self) };
        self.depth -= 1;
        parsed
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
