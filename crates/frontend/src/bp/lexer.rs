//! The lexer of Boolean programs: words, signs and comments.
//!
//! The lexer never fails: text that is not a token is reported once and becomes [`TokenKind::Stray`], for which the
//! parser reports nothing, so that one bad character causes one diagnostic. For the same reason, malformed names are
//! reported and then treated as names. Comments are kept in a separate list.

use logos::Logos;
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::{self, Kind, Lexed, block_comment};

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\x0B\x0C\u{FEFF}]+")]
pub enum TokenKind {
    #[token("void")]
    Void,
    #[token("bool")]
    Bool,
    #[token("decl")]
    Decl,
    #[token("begin")]
    Begin,
    #[token("end")]
    End,
    #[token("if")]
    If,
    #[token("then")]
    Then,
    #[token("elsif")]
    Elsif,
    #[token("else")]
    Else,
    #[token("fi")]
    Fi,
    #[token("while")]
    While,
    #[token("do")]
    Do,
    #[token("od")]
    Od,
    #[token("goto")]
    Goto,
    #[token("return")]
    Return,
    #[token("skip")]
    Skip,
    #[token("assert")]
    Assert,
    #[token("assume")]
    Assume,
    #[token("constrain")]
    Constrain,
    #[token("schoose")]
    #[token("choose")]
    Schoose,
    #[token("dead")]
    Dead,
    #[token("enforce")]
    Enforce,
    #[token("abortif")]
    Abortif,
    #[token("print")]
    Print,
    #[token("sync")]
    Sync,
    #[token("start_thread")]
    StartThread,
    #[token("end_thread")]
    #[token("thread_end")]
    EndThread,
    #[token("atomic_begin")]
    AtomicBegin,
    #[token("atomic_end")]
    AtomicEnd,

    /// A name, `T`, `F`, `_`, or a word that is only special in some positions.
    #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*")]
    #[regex(r"\{[ -z|~]+\}\$?")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    /// Never in the list of tokens: becomes a [`TokenKind::Word`] or a [`TokenKind::Stray`].
    #[regex(r"[0-9]+[A-Za-z_$][A-Za-z0-9_$]*")]
    #[regex(r"[A-Za-z0-9_$]*[^\x00-\x7F][A-Za-z0-9_$\u{80}-\u{10FFFF}]*", priority = 1)]
    Malformed,

    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(":=")]
    Becomes,
    #[token("&")]
    #[token("&&")]
    And,
    #[token("|")]
    #[token("||")]
    Or,
    #[token("^")]
    Xor,
    #[token("=")]
    #[token("==")]
    Eq,
    #[token("!=")]
    Ne,
    #[token("=>")]
    #[token("->")]
    Implies,
    #[token("!")]
    #[token("~")]
    Not,
    #[token("*")]
    Star,
    #[token("?")]
    Question,
    #[token("'")]
    Prime,

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

/// Adds a malformed word: one with non-ASCII letters or a leading digit is treated as a name; anything else is stray.
fn push_malformed(lexed: &mut Lexed<TokenKind>, span: Span, slice: &str) {
    if !slice.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$') {
        return lexed.push_stray(span, slice);
    }
    let message = format!("`{slice}` is not a name");
    let diagnostic = Diagnostic::new(Code::StrayCharacter, message, span)
        .help("names consist of ASCII letters, digits, `_` and `$`, and do not begin with a digit");
    lexed.diagnostics.push(diagnostic);
    lexed.push(TokenKind::Word, span);
}

impl Kind for TokenKind {
    const EOF: TokenKind = TokenKind::Eof;
    const STRAY: TokenKind = TokenKind::Stray;
    const LINE_COMMENT: TokenKind = TokenKind::LineComment;
    const BLOCK_COMMENT: TokenKind = TokenKind::BlockComment;

    fn push(self, lexed: &mut Lexed<TokenKind>, span: Span, slice: &str) {
        match self {
            TokenKind::Malformed => push_malformed(lexed, span, slice),
            kind => lexed.push(kind, span),
        }
    }

    fn describe(self) -> String {
        let text = match self {
            TokenKind::Word => "a name",
            TokenKind::Number => "a number",
            TokenKind::Eof => "the end of the file",
            TokenKind::Stray | TokenKind::Malformed => "a stray character",
            TokenKind::LineComment | TokenKind::BlockComment => "a comment",
            kind => kind.text(),
        };
        text.to_owned()
    }
}

impl TokenKind {
    /// Returns the text of a token that has only one spelling, in backquotes.
    fn text(self) -> &'static str {
        match self {
            TokenKind::Void => "`void`",
            TokenKind::Bool => "`bool`",
            TokenKind::Decl => "`decl`",
            TokenKind::Begin => "`begin`",
            TokenKind::End => "`end`",
            TokenKind::If => "`if`",
            TokenKind::Then => "`then`",
            TokenKind::Elsif => "`elsif`",
            TokenKind::Else => "`else`",
            TokenKind::Fi => "`fi`",
            TokenKind::While => "`while`",
            TokenKind::Do => "`do`",
            TokenKind::Od => "`od`",
            TokenKind::Goto => "`goto`",
            TokenKind::Return => "`return`",
            TokenKind::Skip => "`skip`",
            TokenKind::Assert => "`assert`",
            TokenKind::Assume => "`assume`",
            TokenKind::Constrain => "`constrain`",
            TokenKind::Schoose => "`schoose`",
            TokenKind::Dead => "`dead`",
            TokenKind::Enforce => "`enforce`",
            TokenKind::Abortif => "`abortif`",
            TokenKind::Print => "`print`",
            TokenKind::Sync => "`sync`",
            TokenKind::StartThread => "`start_thread`",
            TokenKind::EndThread => "`end_thread`",
            TokenKind::AtomicBegin => "`atomic_begin`",
            TokenKind::AtomicEnd => "`atomic_end`",
            TokenKind::LParen => "`(`",
            TokenKind::RParen => "`)`",
            TokenKind::LBracket => "`[`",
            TokenKind::RBracket => "`]`",
            TokenKind::Less => "`<`",
            TokenKind::Greater => "`>`",
            TokenKind::Comma => "`,`",
            TokenKind::Semicolon => "`;`",
            TokenKind::Colon => "`:`",
            TokenKind::Becomes => "`:=`",
            TokenKind::And => "`&`",
            TokenKind::Or => "`|`",
            TokenKind::Xor => "`^`",
            TokenKind::Eq => "`=`",
            TokenKind::Ne => "`!=`",
            TokenKind::Implies => "`=>`",
            TokenKind::Not => "`!`",
            TokenKind::Star => "`*`",
            TokenKind::Question => "`?`",
            TokenKind::Prime => "`'`",
            _ => "a token",
        }
    }

    /// Returns whether it is a reserved word. Such a word may still name a procedure or a label.
    pub fn is_keyword(self) -> bool {
        (self as u8) < (TokenKind::Word as u8)
    }
}

/// Returns whether a word is reserved.
pub fn is_keyword(word: &str) -> bool {
    let mut tokens = TokenKind::lexer(word);
    tokens.next().is_some_and(|token| token.is_ok_and(TokenKind::is_keyword)) && tokens.next().is_none()
}
