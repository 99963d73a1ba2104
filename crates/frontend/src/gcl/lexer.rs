//! The lexer of guarded commands: words, signs and comments.
//!
//! The lexer never fails: text that is not a token is reported once and becomes [`TokenKind::Stray`], for which the
//! parser reports nothing. Comments are kept in a separate list.

use crate::tokens::{self, Lexed, token_kinds};

token_kinds! {
    words {
        Var "var",
        Int "int",
        Bool "bool",
        Init "init",
        Safe "safe",
        DeadlockFree "deadlock_free",
        Process "process",
        Start "start",
        Any "any",
        At "at",
        Goto "goto",
        Skip "skip",
        Nondet "nondet",
        True "true",
        False "false",
        Divides "divides",
    }
    signs {
        LParen "(",
        RParen ")",
        LBrace "{",
        RBrace "}",
        Comma ",",
        Semicolon ";",
        Colon ":",
        Becomes ":=",
        Arrow "->",
        Dots "..",
        Question "?",
        And "&" | "&&",
        Or "|" | "||",
        Not "!",
        Implies "=>",
        Eq "==" | "=",
        Ne "!=",
        Lt "<",
        Le "<=",
        Gt ">",
        Ge ">=",
        Plus "+",
        Minus "-",
        Star "*",
        Slash "/",
        Percent "%",
    }
    classes {
        /// A name; a variable of another process is qualified: `p.x`.
        #[regex(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")]
        Word,
        #[regex(r"[0-9]+")]
        Number,
    }
}

/// Splits a text of less than 4 GiB into tokens and comments.
pub fn lex(text: &str) -> Lexed<TokenKind> {
    tokens::lex(text, |lexed, kind, span, _| lexed.push(kind, span))
}
