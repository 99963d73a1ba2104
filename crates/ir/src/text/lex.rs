//! The lexer of the textual form: the words of one line.

use super::names::{is_name_part, is_name_start};

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A word in plain letters, which may be a keyword.
    Word(String),
    /// A name between backquotes.
    Quoted(String),
    /// The number of a name: `@3`.
    At(u32),
    /// A number without sign.
    Number(u64),
    /// Anything else.
    Sign(&'static str),
}

/// The signs, longer ones before their beginnings.
const SIGNS: &[&str] = &[
    "->", ":=", "!=", "=>", "<=", ":", ";", ",", "(", ")", "'", "$", "?", "#", "!", "&", "|", "^", "=", "<", "+", "-",
    "*",
];

/// Splits a line into words, up to its comment.
pub(super) fn lex(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() && !rest.starts_with("//") {
        let (token, after) = token(rest)?;
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn token(text: &str) -> Result<(Token, &str), String> {
    if let Some(quoted) = text.strip_prefix('`') {
        return quoted_name(quoted);
    }
    if let Some(number) = text.strip_prefix('@') {
        let (digits, rest) = split(number, |char| char.is_ascii_digit());
        let number = digits.parse().map_err(|_| format!("`@{digits}` is not the number of a name"))?;
        return Ok((Token::At(number), rest));
    }
    if text.starts_with(is_name_start) {
        let (word, rest) = split(text, is_name_part);
        return Ok((Token::Word(word.to_owned()), rest));
    }
    if text.starts_with(|char: char| char.is_ascii_digit()) {
        let (digits, rest) = split(text, |char| char.is_ascii_digit());
        let number = digits.parse().map_err(|_| format!("the number {digits} is too large"))?;
        return Ok((Token::Number(number), rest));
    }
    let sign = SIGNS.iter().find(|sign| text.starts_with(**sign));
    let sign = sign.ok_or_else(|| format!("unexpected `{}`", text.chars().next().unwrap_or(' ')))?;
    Ok((Token::Sign(sign), &text[sign.len()..]))
}

fn split(text: &str, part: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|char| !part(char)).unwrap_or(text.len()))
}

/// Reads the rest of a name between backquotes, with the escapes that [`super::names::quote`] writes.
fn quoted_name(text: &str) -> Result<(Token, &str), String> {
    let mut name = String::new();
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match char {
            '`' => return Ok((Token::Quoted(name), chars.as_str())),
            '\\' if chars.as_str().starts_with("u{") => {
                let (code, rest) = chars.as_str()[2..].split_once('}').ok_or("an escape without its end")?;
                let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
                name.push(code.ok_or("an escape of no character")?);
                chars = rest.chars();
            }
            '\\' => name.push(chars.next().ok_or("an escape of nothing")?),
            char => name.push(char),
        }
    }
    Err("a quoted name without its closing backquote".to_owned())
}
