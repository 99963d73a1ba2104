//! The lexer of guarded commands: words, signs and comments.
//!
//! The lexer never fails: text that is not a token is reported once and becomes [`TokenKind::Stray`], for which the
//! parser reports nothing. Comments are kept in a separate list.

use logos::Logos;

use crate::tokens::{self, Kind, Lexed, block_comment};

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
pub enum TokenKind {
    #[token("var")]
    Var,
    #[token("int")]
    Int,
    #[token("bool")]
    Bool,
    #[token("init")]
    Init,
    #[token("safe")]
    Safe,
    #[token("deadlock_free")]
    DeadlockFree,
    #[token("process")]
    Process,
    #[token("start")]
    Start,
    #[token("any")]
    Any,
    #[token("at")]
    At,
    #[token("goto")]
    Goto,
    #[token("skip")]
    Skip,
    #[token("nondet")]
    Nondet,
    #[token("true")]
    True,
    #[token("false")]
    False,
    #[token("divides")]
    Divides,

    /// A name; a variable of another process is qualified: `p.x`.
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")]
    Word,
    #[regex(r"[0-9]+")]
    Number,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(":=")]
    Becomes,
    #[token("->")]
    Arrow,
    #[token("..")]
    Dots,
    #[token("?")]
    Question,
    #[token("&")]
    #[token("&&")]
    And,
    #[token("|")]
    #[token("||")]
    Or,
    #[token("!")]
    Not,
    #[token("=>")]
    Implies,
    #[token("=")]
    #[token("==")]
    Eq,
    #[token("!=")]
    Ne,
    #[token("<")]
    Lt,
    #[token("<=")]
    Le,
    #[token(">")]
    Gt,
    #[token(">=")]
    Ge,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,

    /// Never in the list of tokens.
    #[regex(r"//[^\r\n]*")]
    #[regex(r"#[^\r\n]*")]
    LineComment,
    /// Never in the list of tokens. The callback consumes the comment up to its end, or to the end of the file.
    #[token("/*", block_comment)]
    BlockComment,

    /// Text that is not a token. It has been reported.
    Stray,
    /// The end of the file.
    Eof,
}

/// Splits a text of less than 4 GiB into tokens and comments.
pub fn lex(text: &str) -> Lexed<TokenKind> {
    tokens::lex(text)
}

impl Kind for TokenKind {
    const EOF: TokenKind = TokenKind::Eof;
    const STRAY: TokenKind = TokenKind::Stray;
    const LINE_COMMENT: TokenKind = TokenKind::LineComment;
    const BLOCK_COMMENT: TokenKind = TokenKind::BlockComment;

    fn describe(self) -> String {
        match self {
            TokenKind::Word => "a name".to_owned(),
            TokenKind::Number => "a number".to_owned(),
            TokenKind::Eof => "the end of the file".to_owned(),
            kind => format!("`{}`", kind.text().unwrap_or("?")),
        }
    }
}

impl TokenKind {
    /// Returns the text of a token that has a fixed spelling.
    pub(super) fn text(self) -> Option<&'static str> {
        Some(match self {
            TokenKind::Var => "var",
            TokenKind::Int => "int",
            TokenKind::Bool => "bool",
            TokenKind::Init => "init",
            TokenKind::Safe => "safe",
            TokenKind::DeadlockFree => "deadlock_free",
            TokenKind::Process => "process",
            TokenKind::Start => "start",
            TokenKind::Any => "any",
            TokenKind::At => "at",
            TokenKind::Goto => "goto",
            TokenKind::Skip => "skip",
            TokenKind::Nondet => "nondet",
            TokenKind::True => "true",
            TokenKind::False => "false",
            TokenKind::Divides => "divides",
            TokenKind::LParen => "(",
            TokenKind::RParen => ")",
            TokenKind::LBrace => "{",
            TokenKind::RBrace => "}",
            TokenKind::Comma => ",",
            TokenKind::Semicolon => ";",
            TokenKind::Colon => ":",
            TokenKind::Becomes => ":=",
            TokenKind::Arrow => "->",
            TokenKind::Dots => "..",
            TokenKind::Question => "?",
            TokenKind::And => "&",
            TokenKind::Or => "|",
            TokenKind::Not => "!",
            TokenKind::Implies => "=>",
            TokenKind::Eq => "==",
            TokenKind::Ne => "!=",
            TokenKind::Lt => "<",
            TokenKind::Le => "<=",
            TokenKind::Gt => ">",
            TokenKind::Ge => ">=",
            TokenKind::Plus => "+",
            TokenKind::Minus => "-",
            TokenKind::Star => "*",
            TokenKind::Slash => "/",
            TokenKind::Percent => "%",
            TokenKind::Word | TokenKind::Number => return None,
            TokenKind::LineComment | TokenKind::BlockComment | TokenKind::Stray | TokenKind::Eof => return None,
        })
    }

    /// Returns whether it is a reserved word.
    pub fn is_keyword(self) -> bool {
        (self as u8) < (TokenKind::Word as u8)
    }
}
