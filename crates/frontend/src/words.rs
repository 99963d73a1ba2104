//! Shared parts of the parsers of small formats: words with their positions, a cursor over them, and results that fail
//! with one diagnostic. Each format says how long its words are and compares them by their text.

use std::ops::RangeInclusive;

use selvedge_ir::span::Span;

use crate::diagnostic::{Code, Diagnostic};
use crate::source::REPLACEMENT;
use crate::tokens::{stray, too_long};

/// A part of a text, or the reason why it could not be parsed.
pub(crate) type Parse<T> = Result<T, Box<Diagnostic>>;

/// Fails with a diagnostic.
pub(crate) fn wrong<T>(code: Code, message: impl Into<String>, span: Span) -> Parse<T> {
    Err(Box::new(Diagnostic::new(code, message, span)))
}

/// Fails because something else was expected.
pub(crate) fn unexpected<T>(message: impl Into<String>, span: Span) -> Parse<T> {
    wrong(Code::UnexpectedToken, message, span)
}

/// A name, number or sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'t> {
    pub(crate) text: &'t str,
    pub(crate) span: Span,
    /// True if it is the first one of its line.
    pub(crate) begins_line: bool,
}

impl Word<'_> {
    /// Returns the value of a number; the greatest one if it is too large.
    pub(crate) fn number(&self) -> Option<u64> {
        let is_number = self.text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.text.parse().unwrap_or(u64::MAX))
    }

    /// Returns the value of a number within these bounds, which 32 bits can express.
    pub(crate) fn number_in(&self, bounds: RangeInclusive<u64>, what: &str) -> Parse<u32> {
        let Some(number) = self.number() else {
            return unexpected(format!("{what} must be a number"), self.span);
        };
        if !bounds.contains(&number) {
            let message = format!("{what} must be a number from {} to {}", bounds.start(), bounds.end());
            return wrong(Code::NumberOutOfRange, message, self.span);
        }
        Ok(u32::try_from(number).expect("the bounds are below the greatest number of 32 bits"))
    }
}

/// Splits a text into words, without white space, comments, which extend from `#` to the end of the line, and a byte
/// order mark at the start. `length` returns the length of the first word of a text, given whether it begins a line; 0
/// if its first character is not part of the language. Adjacent stray characters are reported together.
pub(crate) fn words(text: &str, mut length: impl FnMut(&str, bool) -> usize) -> (Vec<Word<'_>>, Vec<Diagnostic>) {
    if let Some(diagnostic) = too_long(text) {
        return (Vec::new(), vec![diagnostic]);
    }
    let (mut words, mut diagnostics) = (Vec::new(), Vec::new());
    let (mut rest, mut begins_line, mut last_stray) = (text, true, usize::MAX);
    while let Some(first) = rest.chars().next() {
        let start = text.len() - rest.len();
        let skipped = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            _ if first.is_whitespace() || (first == '\u{FEFF}' && start == 0) => first.len_utf8(),
            _ => 0,
        };
        let length = if skipped > 0 { 0 } else { length(rest, begins_line) };
        // Different bytes that are not UTF-8 must not make one name.
        let length = rest[..length].find(REPLACEMENT).unwrap_or(length);
        let end = start + skipped.max(length).max(first.len_utf8());
        let span = Span::new(start, end);
        if length > 0 {
            words.push(Word { text: &text[start..end], span, begins_line });
        } else if skipped == 0 {
            if last_stray != start {
                diagnostics.push(stray(span.of(text), span));
            }
            last_stray = end;
        }
        begins_line = first == '\n' || begins_line && length == 0;
        rest = &text[end..];
    }
    (words, diagnostics)
}

/// Returns the length of the longest beginning of a text whose characters are all of a class.
pub(crate) fn run(text: &str, class: impl Fn(char) -> bool) -> usize {
    text.find(|c| !class(c)).unwrap_or(text.len())
}

/// Returns the length of the first sign that a text begins with, or else of its first character.
pub(crate) fn sign(text: &str, signs: &[&str]) -> usize {
    let found = signs.iter().find(|sign| text.starts_with(**sign));
    found.map_or_else(|| text.chars().next().map_or(0, char::len_utf8), |sign| sign.len())
}

/// Returns the words of each line that has some.
pub(crate) fn lines<'w, 't>(words: &'w [Word<'t>]) -> impl Iterator<Item = &'w [Word<'t>]> {
    words.chunk_by(|_, next| !next.begins_line)
}

/// Returns the span of the words of a line.
pub(crate) fn whole(line: &[Word<'_>]) -> Span {
    line[0].span.to(line[line.len() - 1].span)
}

/// A position in a list of words.
pub(crate) struct WordCursor<'t> {
    words: Vec<Word<'t>>,
    pub(crate) position: usize,
    /// The end of the text.
    pub(crate) end: Span,
}

impl<'t> WordCursor<'t> {
    /// Returns a cursor at the first word of a text.
    pub(crate) fn new(text: &str, words: Vec<Word<'t>>) -> WordCursor<'t> {
        WordCursor { words, position: 0, end: Span::new(text.len(), text.len()) }
    }

    pub(crate) fn peek(&self) -> Option<Word<'t>> {
        self.words.get(self.position).copied()
    }

    /// Consumes a word.
    pub(crate) fn next(&mut self) -> Option<Word<'t>> {
        let word = self.peek();
        self.position += usize::from(word.is_some());
        word
    }

    /// Returns the position of the next word, or the end of the text.
    pub(crate) fn here(&self) -> Span {
        self.peek().map_or(self.end, |word| word.span)
    }

    /// Returns the position of the last consumed word; the beginning of the text if there is none.
    pub(crate) fn last(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::default(), |last| self.words[last].span)
    }

    pub(crate) fn at(&self, text: &str) -> bool {
        self.peek().is_some_and(|word| word.text == text)
    }

    /// Consumes this word, if it is next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        self.position += usize::from(found);
        found
    }

    /// Consumes this word; fails with the message if another one is next.
    pub(crate) fn expect(&mut self, text: &str, message: &str) -> Parse<()> {
        if self.eat(text) { Ok(()) } else { unexpected(message, self.here()) }
    }
}
