//! Words, signs and comments.
//!
//! The lexer never fails: what is no token is reported once and becomes [`TokenKind::Stray`], at which the parser
//! stays silent, so that one bad character gives one diagnostic. Malformed names are reported and go on as names for
//! the same reason. Comments go to a list of their own.

use logos::Logos;
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};

/// A token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
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

/// What the lexer returns. The last token is [`TokenKind::Eof`].
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    pub tokens: Vec<Token>,
    pub comments: Vec<Comment>,
    pub diagnostics: Vec<Diagnostic>,
}

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

    /// A name, `T`, `F`, `_`, or a word that is special in some places only.
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
    let mut lexed = Lexed { tokens: Vec::with_capacity(text.len() / 4), ..Lexed::default() };
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
            TokenKind::LineComment => self.comments.push(Comment { kind: CommentKind::Line, span }),
            TokenKind::BlockComment => self.add_block_comment(span, slice),
            TokenKind::Malformed => self.add_malformed(span, slice),
            TokenKind::Stray => self.add_stray(span, slice),
            kind => self.tokens.push(Token { kind, span }),
        }
    }

    fn add_block_comment(&mut self, span: Span, slice: &str) {
        self.comments.push(Comment { kind: CommentKind::Block, span });
        if slice.len() < 4 || !slice.ends_with("*/") {
            let opener = Span { start: span.start, end: span.start + 2 };
            let diagnostic = Diagnostic::new(Code::UnterminatedComment, "this comment has no end", opener)
                .help("close it with `*/`");
            self.diagnostics.push(diagnostic);
        }
    }

    /// A word with letters outside ASCII or with a digit in front is taken as a name; anything else is stray.
    fn add_malformed(&mut self, span: Span, slice: &str) {
        if !slice.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '$') {
            return self.add_stray(span, slice);
        }
        let message = format!("`{slice}` is not a name");
        let diagnostic = Diagnostic::new(Code::StrayCharacter, message, span)
            .help("names consist of ASCII letters, digits, `_` and `$`, and do not begin with a digit");
        self.diagnostics.push(diagnostic);
        self.tokens.push(Token { kind: TokenKind::Word, span });
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
    pub fn describe(self) -> &'static str {
        match self {
            TokenKind::Word => "a name",
            TokenKind::Number => "a number",
            TokenKind::Eof => "the end of the file",
            TokenKind::Stray | TokenKind::Malformed => "a stray character",
            TokenKind::LineComment | TokenKind::BlockComment => "a comment",
            kind => kind.text(),
        }
    }

    /// The text of a token that has only one, in backquotes.
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

    /// Whether it is a reserved word. Such a word may still name a procedure or a label.
    pub fn is_keyword(self) -> bool {
        (self as u8) < (TokenKind::Word as u8)
    }
}

/// Whether a word is reserved.
pub fn is_keyword(word: &str) -> bool {
    let mut tokens = TokenKind::lexer(word);
    tokens.next().is_some_and(|token| token.is_ok_and(TokenKind::is_keyword)) && tokens.next().is_none()
}
