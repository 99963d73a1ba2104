//! The lexer of Boolean programs: words, signs and comments.
//!
//! The lexer never fails: text that is not a token is reported once and becomes [`TokenKind::Stray`], for which the
//! parser reports nothing, so that one bad character causes one diagnostic. For the same reason, malformed names are
//! reported and then treated as names. Comments are kept in a separate list.

use logos::Logos;
use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::tokens::{self, Lexed, token_kinds};

token_kinds! {
    // A reserved word may still name a procedure or a label.
    words {
        Void "void",
        Bool "bool",
        Decl "decl",
        Begin "begin",
        End "end",
        If "if",
        Then "then",
        Elsif "elsif",
        Else "else",
        Fi "fi",
        While "while",
        Do "do",
        Od "od",
        Goto "goto",
        Return "return",
        Skip "skip",
        Assert "assert",
        Assume "assume",
        Constrain "constrain",
        Schoose "schoose" | "choose",
        Dead "dead",
        Enforce "enforce",
        Abortif "abortif",
        Print "print",
        Sync "sync",
        StartThread "start_thread",
        EndThread "end_thread" | "thread_end",
        AtomicBegin "atomic_begin",
        AtomicEnd "atomic_end",
    }
    signs {
        LParen "(",
        RParen ")",
        LBracket "[",
        RBracket "]",
        Less "<",
        LessEq "<=",
        Greater ">",
        GreaterEq ">=",
        Plus "+",
        Minus "-",
        Percent "%",
        DotDot "..",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Becomes ":=",
        And "&" | "&&",
        Or "|" | "||",
        Xor "^",
        Eq "=" | "==",
        Ne "!=",
        Implies "=>" | "->",
        Not "!" | "~",
        Star "*",
        Question "?",
        Prime "'",
    }
    classes {
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
    }
}

/// Splits a text of less than 4 GiB into tokens and comments.
pub fn lex(text: &str) -> Lexed<TokenKind> {
    let mut lexed = tokens::lex(text, |lexed, kind, span, slice| match kind {
        TokenKind::Malformed => push_malformed(lexed, span, slice),
        kind => lexed.push(kind, span),
    });
    for diagnostic in &mut lexed.diagnostics {
        let is_brace = diagnostic.primary.span.of(text).starts_with(['{', '}']);
        if diagnostic.code == Code::StrayCharacter && is_brace {
            let help = "blocks are written `begin .. end`, `if .. then .. fi` and `while .. do .. od`";
            diagnostic.help = Some(help.to_owned());
        }
    }
    // A brace stands for the word that it was meant as, so that it is the only mistake.
    for token in lexed.tokens.iter_mut().filter(|token| token.kind == TokenKind::Stray) {
        match token.span.of(text) {
            "{" => token.kind = TokenKind::Begin,
            "}" => token.kind = TokenKind::End,
            _ => {}
        }
    }
    lexed
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

/// Returns whether a word is reserved.
pub fn is_keyword(word: &str) -> bool {
    let mut tokens = TokenKind::lexer(word);
    tokens.next().is_some_and(|token| token.is_ok_and(TokenKind::is_keyword)) && tokens.next().is_none()
}
