//! Words, signs and comments of guarded commands.
//!
//! The lexer never fails: what is no token is reported once and becomes [`TokenKind::Stray`], at which the parser stays
//! silent. Comments go to a list of their own.

use logos::Logos;
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// What the lexer returns. The last token is [`TokenKind::Eof`].
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    pub tokens: Vec<Token>,
    /// The comments with their marks, in the order of their places.
    pub comments: Vec<Span>,
    pub diagnostics: Vec<Diagnostic>,
}

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

    /// A name; of another process's variable, with the process in front: `p.x`.
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
    /// Never in the list of tokens. The callback takes the comment to its end, or to the end of the file.
    #[token("/*", block_comment)]
    BlockComment,

    /// Something that is no token. It has been reported.
    Stray,
    /// The end of the file.
    Eof,
}

/// Consumes a block comment.
fn block_comment(lexer: &mut logos::Lexer<'_, TokenKind>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |place| place + 2));
}

/// Splits a text of less than 4 GiB into tokens and comments.
pub fn lex(text: &str) -> Lexed {
    let mut lexed = Lexed::default();
    let mut lexer = TokenKind::lexer(text);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        lexed.add(kind.unwrap_or(TokenKind::Stray), Span::new(range.start, range.end), lexer.slice());
    }
    lexed.tokens.push(Token { kind: TokenKind::Eof, span: Span::new(text.len(), text.len()) });
    lexed
}

impl Lexed {
    fn add(&mut self, kind: TokenKind, span: Span, slice: &str) {
        match kind {
            TokenKind::LineComment => self.comments.push(span),
            TokenKind::BlockComment => self.add_block_comment(span, slice),
            TokenKind::Stray => self.add_stray(span, slice),
            kind => self.tokens.push(Token { kind, span }),
        }
    }

    fn add_block_comment(&mut self, span: Span, slice: &str) {
        self.comments.push(span);
        if slice.len() < 4 || !slice.ends_with("*/") {
            let opener = Span { start: span.start, end: span.start + 2 };
            let diagnostic = Diagnostic::new(Code::UnterminatedComment, "this comment has no end", opener)
                .help("close it with `*/`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// Neighbouring stray characters are reported together.
    fn add_stray(&mut self, span: Span, slice: &str) {
        if let Some(last) = self.tokens.last_mut()
            && last.kind == TokenKind::Stray
            && last.span.end == span.start
        {
            last.span.end = span.end;
            return;
        }
        let shown: String = slice.chars().take(1).flat_map(char::escape_debug).collect();
        let message = format!("`{shown}` is not part of the language");
        self.diagnostics.push(Diagnostic::new(Code::StrayCharacter, message, span));
        self.tokens.push(Token { kind: TokenKind::Stray, span });
    }
}

impl TokenKind {
    /// How a diagnostic names it.
    pub fn describe(self) -> String {
        match self {
            TokenKind::Word => "a name".to_owned(),
            TokenKind::Number => "a number".to_owned(),
            TokenKind::Eof => "the end of the file".to_owned(),
            kind => format!("`{}`", kind.text().unwrap_or("?")),
        }
    }

    /// The text of a token that the formatter writes in one way.
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

    /// Whether it is a reserved word.
    pub fn is_keyword(self) -> bool {
        (self as u8) < (TokenKind::Word as u8)
    }
}
