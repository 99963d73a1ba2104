//! The words, signs and comments of a text, in the one form that the requests about texts need.

use selvedge_frontend::tokens::{Kind, Lexed};
use selvedge_frontend::{Language, bp, gcl};
use selvedge_ir::span::Span;

/// What a word or sign is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Keyword,
    Name,
    Number,
    Sign,
}

/// A word or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub(crate) sort: Sort,
    pub(crate) span: Span,
}

/// All of a text, ordered by their places.
#[derive(Default)]
pub(crate) struct Lexemes {
    pub(crate) words: Vec<Lexeme>,
    pub(crate) comments: Vec<Span>,
    /// Whether some part of the text is no word, sign or comment.
    pub(crate) has_errors: bool,
}

impl Lexemes {
    pub(crate) fn new(language: Language, text: &str) -> Lexemes {
        match language {
            Language::Bp => Lexemes::of(bp::lexer::lex(text)),
            Language::Gcl => Lexemes::of(gcl::lexer::lex(text)),
            Language::C | Language::Pds | Language::Tts | Language::Spec => Lexemes::default(),
        }
    }

    fn of<K: Kind>(lexed: Lexed<K>) -> Lexemes {
        let sort = |kind: K| match kind {
            _ if kind == K::STRAY || kind == K::EOF => None,
            _ if kind.is_reserved() => Some(Sort::Keyword),
            _ if kind == K::WORD => Some(Sort::Name),
            _ if kind == K::NUMBER => Some(Sort::Number),
            _ => Some(Sort::Sign),
        };
        let words = lexed.tokens.iter();
        let words = words.filter_map(|token| Some(Lexeme { sort: sort(token.kind)?, span: token.span })).collect();
        let comments = lexed.comments.iter().map(|one| one.span).collect();
        Lexemes { words, comments, has_errors: !lexed.diagnostics.is_empty() }
    }

    /// Returns the words that end before a place, the nearest first.
    pub(crate) fn before(&self, offset: usize) -> impl Iterator<Item = &Lexeme> {
        let count = self.words.partition_point(|word| word.span.end as usize <= offset);
        self.words[..count].iter().rev()
    }

    /// Returns the comment around a place, or up to it.
    pub(crate) fn comment_at(&self, offset: usize) -> Option<Span> {
        let holds = |span: &&Span| (span.start as usize) < offset && offset <= span.end as usize;
        self.comments.iter().find(holds).copied()
    }
}

/// Returns the reserved words of a language.
pub(crate) fn keywords(language: Language) -> &'static [&'static str] {
    match language {
        Language::Bp => bp::lexer::TokenKind::KEYWORDS,
        Language::Gcl => gcl::lexer::TokenKind::KEYWORDS,
        Language::C | Language::Pds | Language::Tts | Language::Spec => &[],
    }
}
