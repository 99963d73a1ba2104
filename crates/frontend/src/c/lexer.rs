//! The lexer of C: from characters to the tokens of the preprocessor.
//!
//! A backslash at the end of a line joins it with the next one, also inside of a token. Where a text has such lines
//! they are joined first, and the positions of tokens are mapped back.

use std::borrow::Cow;
use std::ops::Range;

use logos::{Lexer, Logos};
use selvedge_ir::span::Span;

use super::annotations;
use super::files::Loc;
use super::names::{Names, Symbol};

/// Defines [`Kind`] from the reserved words with their spellings, the signs, and the classes of tokens.
macro_rules! kinds {
    (
        words { $($word:ident $($word_text:literal)|+,)* }
        signs { $($sign:ident $sign_text:literal $(| $sign_other:literal)*,)* }
        classes { $($(#[$attribute:meta])* $class:ident $describe:literal,)* }
    ) => {
        /// The kind of a token. The lexer returns names for reserved words; the parser tells them apart.
        #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Kind {
            $($word,)*
            $(#[token($sign_text)] $(#[token($sign_other)])* $sign,)*
            $($(#[$attribute])* $class,)*
            /// The end of the text.
            Eof,
        }

        impl Kind {
            /// The reserved words.
            pub(super) const WORDS: &[(&str, Kind)] = &[$($(($word_text, Kind::$word),)+)*];

            /// Returns the name for diagnostics.
            pub fn describe(self) -> &'static str {
                match self {
                    $(Kind::$word => kinds!(@first $($word_text)+),)*
                    $(Kind::$sign => concat!("`", $sign_text, "`"),)*
                    $(Kind::$class => $describe,)*
                    Kind::Eof => "the end of the file",
                }
            }
        }
    };
    (@first $first:literal $($rest:literal)*) => { concat!("`", $first, "`") };
}

kinds! {
    words {
        Alignas "_Alignas",
        Alignof "_Alignof" | "__alignof" | "__alignof__",
        Asm "__asm__" | "__asm" | "asm",
        Atomic "_Atomic",
        Attribute "__attribute__" | "__attribute",
        Auto "auto",
        AutoType "__auto_type",
        Bool "_Bool",
        Break "break",
        Case "case",
        Char "char",
        Complex "_Complex" | "__complex__" | "__complex",
        Const "const" | "__const" | "__const__",
        Continue "continue",
        Default "default",
        Do "do",
        Double "double",
        Else "else",
        Enum "enum",
        Extension "__extension__",
        Extern "extern",
        Float "float",
        Float128 "__float128" | "_Float128",
        For "for",
        Generic "_Generic",
        Goto "goto",
        If "if",
        Imag "__imag__" | "__imag",
        Inline "inline" | "__inline" | "__inline__",
        Int "int",
        Int128 "__int128",
        LabelDecl "__label__",
        Long "long",
        Noreturn "_Noreturn",
        Real "__real__" | "__real",
        Register "register",
        Restrict "restrict" | "__restrict" | "__restrict__",
        Return "return",
        Short "short",
        Signed "signed" | "__signed" | "__signed__",
        Sizeof "sizeof",
        Static "static",
        StaticAssert "_Static_assert",
        Struct "struct",
        Switch "switch",
        ThreadLocal "_Thread_local" | "__thread" | "__CPROVER_thread_local",
        Typedef "typedef",
        Typeof "typeof" | "__typeof" | "__typeof__",
        Union "union",
        Unsigned "unsigned",
        Void "void",
        Volatile "volatile" | "__volatile" | "__volatile__",
        While "while",
    }
    signs {
        LParen "(",
        RParen ")",
        LBracket "[" | "<:",
        RBracket "]" | ":>",
        LBrace "{" | "<%",
        RBrace "}" | "%>",
        Dot ".",
        Arrow "->",
        PlusPlus "++",
        MinusMinus "--",
        Amp "&",
        Star "*",
        Plus "+",
        Minus "-",
        Tilde "~",
        Bang "!",
        Slash "/",
        Percent "%",
        Shl "<<",
        Shr ">>",
        Lt "<",
        Gt ">",
        Le "<=",
        Ge ">=",
        EqEq "==",
        Ne "!=",
        Caret "^",
        Bar "|",
        AndAnd "&&",
        OrOr "||",
        Question "?",
        Colon ":",
        Semicolon ";",
        Ellipsis "...",
        Assign "=",
        StarAssign "*=",
        SlashAssign "/=",
        PercentAssign "%=",
        PlusAssign "+=",
        MinusAssign "-=",
        ShlAssign "<<=",
        ShrAssign ">>=",
        AmpAssign "&=",
        CaretAssign "^=",
        BarAssign "|=",
        Comma ",",
        Hash "#" | "%:",
        HashHash "##" | "%:%:",
    }
    classes {
        #[regex(r"[A-Za-z_$][A-Za-z0-9_$]*")]
        Name "a name",
        /// A number of the preprocessor: also what turns out not to be one of C.
        #[regex(r"\.?[0-9]", number)]
        Number "a number",
        #[token("'", quoted)]
        #[token("L'", quoted)]
        #[token("u'", quoted)]
        #[token("U'", quoted)]
        Character "a character",
        #[token("\"", quoted)]
        #[token("L\"", quoted)]
        #[token("u\"", quoted)]
        #[token("U\"", quoted)]
        #[token("u8\"", quoted)]
        Str "a string",
        #[token("\n")]
        Newline "the end of the line",
        #[regex(r"[ \t\r\x0B\x0C\u{FEFF}]+")]
        #[regex(r"//[^\n]*")]
        Space "a space",
        #[token("/*", block_comment)]
        Comment "a comment",
        /// An annotation: `assert`, or one that is not read.
        Annotation "an annotation",
        /// `==>` in annotations.
        Implies "`==>`",
        /// `<==>` in annotations.
        Iff "`<==>`",
        /// Text that is not a token.
        Stray "text that is not C",
    }
}

/// Consumes the rest of a number: digits, letters, points, and signs behind an exponent's letter.
fn number(lexer: &mut Lexer<'_, Kind>) {
    let rest = lexer.remainder().as_bytes();
    let mut length = 0;
    while let Some(byte) = rest.get(length) {
        let before = if length == 0 { b'0' } else { rest[length - 1] };
        let is_sign = matches!(byte, b'+' | b'-') && matches!(before, b'e' | b'E' | b'p' | b'P');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$') || is_sign) {
            break;
        }
        length += 1;
    }
    lexer.bump(length);
}

/// Consumes a string or character up to its closing quote; `false` if the line has none.
fn quoted(lexer: &mut Lexer<'_, Kind>) -> bool {
    let quote = lexer.slice().as_bytes()[lexer.slice().len() - 1];
    let rest = lexer.remainder().as_bytes();
    let mut length = 0;
    while let Some(byte) = rest.get(length) {
        match byte {
            b'\n' => return false,
            b'\\' => length += 1,
            byte if *byte == quote => {
                lexer.bump(length + 1);
                return true;
            }
            _ => {}
        }
        length += 1;
    }
    false
}

/// Consumes a comment up to its end; `false` if it has none.
fn block_comment(lexer: &mut Lexer<'_, Kind>) -> bool {
    let rest = lexer.remainder();
    let end = rest.find("*/");
    lexer.bump(end.map_or(rest.len(), |place| place + 2));
    end.is_some()
}

/// A token of the preprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    /// Its characters.
    pub text: Symbol,
    pub loc: Loc,
    /// True if white space is before it.
    pub space: bool,
    /// True if it is the first of its line.
    pub first: bool,
    /// True if it is the name of a macro that must not be replaced any more.
    pub fixed: bool,
}

/// Splits a text that begins at an offset into tokens, without white space and comments; ends of lines are tokens. Text
/// that is no token becomes [`Kind::Stray`]; it is an error only if it is used.
pub(super) fn lex(text: &str, base: u32, names: &mut Names) -> Vec<Token> {
    let joined = Joined::new(text);
    let mut tokens = Vec::with_capacity(text.len() / 4);
    let (mut space, mut first) = (false, true);
    let mut in_directive = false;
    let mut lexer = Kind::lexer(&joined.text);
    while let Some(kind) = lexer.next() {
        let kind = kind.unwrap_or(Kind::Stray);
        let range = lexer.span();
        let loc = |range: Range<usize>| {
            let end = joined.original(range.end - 1) + 1;
            Loc::new(Span { start: base + joined.original(range.start), end: base + end })
        };
        if matches!(kind, Kind::Space | Kind::Comment) {
            let pieces = annotations::tokens(lexer.slice()).filter(|_| !in_directive);
            for (kind, piece, text) in pieces.into_iter().flatten() {
                let text = names.intern(text.unwrap_or(&lexer.slice()[piece.clone()]));
                let loc = loc(range.start + piece.start..range.start + piece.end);
                tokens.push(Token { kind, text, loc, space: true, first: false, fixed: false });
            }
            space = true;
            continue;
        }
        in_directive = kind != Kind::Newline && (in_directive || first && kind == Kind::Hash);
        let loc = loc(range);
        tokens.push(Token { kind, text: names.intern(lexer.slice()), loc, space, first, fixed: false });
        (space, first) = (false, kind == Kind::Newline);
    }
    tokens
}

/// A text whose lines that end with a backslash are joined with the next ones.
struct Joined<'t> {
    text: Cow<'t, str>,
    /// For each join its offset in the joined text, and how many bytes have been left out up to there.
    joins: Vec<(u32, u32)>,
}

impl Joined<'_> {
    fn new(text: &str) -> Joined<'_> {
        let mut joined = String::new();
        let mut joins = Vec::new();
        let (mut rest, mut removed) = (text, 0);
        while let Some((at, length)) = next_join(rest) {
            joined.push_str(&rest[..at]);
            removed += length;
            joins.push((narrow(joined.len()), narrow(removed)));
            rest = &rest[at + length..];
        }
        if joins.is_empty() {
            return Joined { text: Cow::Borrowed(text), joins };
        }
        joined.push_str(rest);
        Joined { text: Cow::Owned(joined), joins }
    }

    /// Returns the offset in the original text.
    fn original(&self, offset: usize) -> u32 {
        let offset = narrow(offset);
        let before = self.joins.partition_point(|(at, _)| *at <= offset);
        offset + before.checked_sub(1).map_or(0, |last| self.joins[last].1)
    }
}

fn narrow(offset: usize) -> u32 {
    u32::try_from(offset).expect("the list of files refuses texts of 4 GiB and more")
}

/// Returns where a line ends with a backslash, and the length of the backslash with the end of the line.
fn next_join(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|at| from + at) {
        let after = text[at + 1..].trim_start_matches([' ', '\t', '\r']);
        if after.starts_with('\n') {
            return Some((at, text.len() - after.len() + 1 - at));
        }
        from = at + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(text: &str) -> Vec<(Kind, String, u32)> {
        let mut names = Names::default();
        let tokens = lex(text, 0, &mut names);
        tokens.iter().map(|token| (token.kind, names.text(token.text).to_owned(), token.loc.span.start)).collect()
    }

    #[test]
    fn numbers_strings_and_signs_are_the_longest_ones() {
        let kinds: Vec<String> =
            spellings("x+++1.5e+3f L'a' u8\"b\\\"c\" %:%: <<=..").into_iter().map(|t| t.1).collect();
        assert_eq!(kinds, ["x", "++", "+", "1.5e+3f", "L'a'", "u8\"b\\\"c\"", "%:%:", "<<=", ".", "."]);
    }

    #[test]
    fn joined_lines_keep_their_places() {
        let found = spellings("ab\\\ncd \\\n ef\n");
        assert_eq!(found[0], (Kind::Name, "abcd".to_owned(), 0));
        assert_eq!(found[1], (Kind::Name, "ef".to_owned(), 10));
    }

    #[test]
    fn what_is_not_closed_is_stray() {
        assert_eq!(spellings("'abc\n")[0].0, Kind::Stray);
        assert_eq!(spellings("x /* y")[1].0, Kind::Stray);
        assert_eq!(spellings("@")[0].0, Kind::Stray);
    }
}
