//! The text of a program with its name and line numbers, and the program together with its text.

use std::ops::Range;

use selvedge_ir::span::{Role, SourceMap, Span};
use selvedge_ir::{Assign, EdgeId, Expr, Op, Program};

use crate::visible::visible_name;

/// A program with the text it was read from: the program that evidence refers to, as the user wrote it.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub program: &'a Program,
    pub map: &'a SourceMap,
    pub source: &'a Source,
}

impl Context<'_> {
    /// Returns whether the program is a set of guarded commands rather than a sequence of statements.
    pub fn is_guarded(&self) -> bool {
        !self.map.values.is_empty() || !self.map.commands.is_empty()
    }

    /// Returns the statement of an edge on one line; for a step that is not in the source, words in parentheses that
    /// say what it does.
    pub fn statement(&self, edge: EdgeId) -> String {
        let origin = self.map.edges[edge];
        let words = match &self.program.edges[edge].op {
            _ if origin.role != Role::Section => return self.source.flat(origin.span),
            Op::AtomicBegin => "(the other threads wait)",
            Op::AtomicEnd => "(the other threads may run)",
            Op::Assign(Assign { constrain: Expr::Var(_), .. }) => "(atomic is true)",
            _ => "(atomic is false)",
        };
        words.to_owned()
    }
}

/// A program's text.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The name for people: the one that the user gave, without hidden characters.
    pub name: String,
    /// The name that the user gave: a path, or `<stdin>`.
    pub path: String,
    text: String,
    /// The first byte of each line.
    starts: Vec<usize>,
    /// The number of characters that begin before each byte whose number is a multiple of [`EVERY`].
    chars: Vec<usize>,
    /// Whether the file begins with a byte order mark, which is not part of the text.
    has_mark: bool,
    /// For each U+FFFD in the text the byte that it replaces, because it is not UTF-8; `None` for one that the file
    /// has itself. Empty if all bytes are UTF-8.
    replaced: Vec<Option<u8>>,
    /// The texts of other files behind that of this one: the first byte of each, and the file.
    appended: Vec<(usize, Source)>,
}

/// A position for users. Both numbers start at 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        let path = path.into();
        let mut chars = vec![0];
        for chunk in text.as_bytes().chunks(EVERY) {
            chars.push(chars[chars.len() - 1] + n_chars(chunk));
        }
        Source { name: visible_name(&path).into_owned(), path, text, starts, chars, ..Source::default() }
    }

    /// Returns the text in the bytes of a file. A byte order mark is skipped. Each byte that is not UTF-8 becomes
    /// U+FFFD, which no language has outside of comments, so that lines and columns stay right.
    pub fn from_bytes(path: impl Into<String>, mut bytes: Vec<u8>) -> Source {
        let has_mark = bytes.starts_with(MARK);
        if has_mark {
            bytes.drain(..MARK.len());
        }
        let mut replaced = Vec::new();
        let text = String::from_utf8(bytes).unwrap_or_else(|error| decode(error.as_bytes(), &mut replaced));
        Source { has_mark, replaced, ..Source::new(path, text) }
    }

    /// Returns the bytes of a file with this text instead, which was made from this one: with the byte order mark, if
    /// there was one, and the bytes that are not UTF-8. `None` if the text does not have as many U+FFFD.
    pub fn encode(&self, text: &str) -> Option<Vec<u8>> {
        let mut bytes = if self.has_mark { MARK.to_vec() } else { Vec::new() };
        if self.replaced.is_empty() {
            bytes.extend_from_slice(text.as_bytes());
            return Some(bytes);
        }
        let mut parts = text.split(REPLACEMENT);
        bytes.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        let mut replaced = self.replaced.iter();
        for part in parts {
            match replaced.next()? {
                Some(byte) => bytes.push(*byte),
                None => bytes.extend_from_slice(REPLACEMENT.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            bytes.extend_from_slice(part.as_bytes());
        }
        replaced.next().is_none().then_some(bytes)
    }

    /// Returns the offset of the first byte that is not UTF-8.
    pub fn first_not_utf8(&self) -> Option<usize> {
        let nth = self.replaced.iter().position(Option::is_some)?;
        self.text.match_indices(REPLACEMENT).nth(nth).map(|(at, _)| at)
    }

    /// Returns the text with that of another file behind it, on a line of its own.
    #[must_use]
    pub fn append(mut self, second: Source) -> Source {
        let between = if self.text.ends_with('\n') { "" } else { "\n" };
        let start = self.text.len() + between.len();
        let text = format!("{}{between}{}", self.text, second.text);
        self.appended.push((start, second));
        Source { appended: self.appended, ..Source::new(self.path, text) }
    }

    /// Returns the first byte of the file that was appended last; 0 if there is none.
    pub fn last_start(&self) -> usize {
        self.appended.last().map_or(0, |(start, _)| *start)
    }

    /// Returns the file that a byte belongs to, and the offset at which the text of that file begins in this one.
    pub fn part(&self, offset: usize) -> (&Source, usize) {
        match self.appended.iter().rfind(|(start, _)| offset >= *start) {
            Some((start, file)) => (file, *start),
            None => (self, 0),
        }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line of a byte, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Returns the position of a byte. Bytes beyond the end are at the end.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.line(offset);
        let start = self.starts[line - 1];
        Position { line, column: self.chars_before(offset).saturating_sub(self.chars_before(start)) + 1 }
    }

    /// Counts the characters that begin before a byte.
    fn chars_before(&self, offset: usize) -> usize {
        let offset = offset.min(self.text.len());
        let known = offset / EVERY;
        let rest = &self.text.as_bytes()[(known * EVERY).min(offset)..offset];
        self.chars.get(known).copied().unwrap_or(0) + n_chars(rest)
    }

    /// Returns the position of a byte in its file.
    pub fn position_in_file(&self, offset: usize) -> Position {
        let (file, start) = self.part(offset);
        file.position(offset - start)
    }

    /// Returns the bytes of some lines, including line breaks. Lines beyond the end are ignored.
    pub fn lines(&self, lines: Range<usize>) -> Range<usize> {
        let begin = |line: usize| self.starts.get(line - 1).copied().unwrap_or(self.text.len());
        begin(lines.start.max(1))..begin(lines.end.max(1))
    }

    /// Returns the text of a span on one line, for people: comments and line breaks become single spaces.
    pub fn flat(&self, span: Span) -> String {
        let without_comments = strip_comments(span.of(&self.text));
        let words: Vec<_> = without_comments.split_whitespace().map(visible_name).collect();
        words.join(" ")
    }

    /// Returns `name:line:column` of a byte in its file.
    pub fn place(&self, offset: usize) -> String {
        let (file, position) = (self.part(offset).0, self.position_in_file(offset));
        format!("{}:{}:{}", file.name, position.line, position.column)
    }
}

/// The number of bytes between two places at which the number of characters is known.
const EVERY: usize = 1024;

/// Counts the characters that begin in some bytes of UTF-8.
fn n_chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

/// The byte order mark in UTF-8.
const MARK: &[u8] = "\u{FEFF}".as_bytes();

/// The character in the place of a byte that is not UTF-8.
pub(crate) const REPLACEMENT: char = '\u{FFFD}';

/// Returns the text in some bytes, of which those that are not UTF-8 are replaced, and adds these bytes in order.
fn decode(bytes: &[u8], replaced: &mut Vec<Option<u8>>) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        replaced.extend(chunk.valid().matches(REPLACEMENT).map(|_| None));
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            replaced.push(Some(*byte));
            text.push(REPLACEMENT);
        }
    }
    text
}

/// Returns a statement's text with each comment replaced by a space. Quoted names may contain anything but a comment.
fn strip_comments(text: &str) -> String {
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = ["//", "/*", "#"].iter().filter_map(|opening| rest.find(opening)).min() {
        stripped.push_str(&rest[..at]);
        stripped.push(' ');
        let (opening, closing) = match &rest[at..at + 1] {
            "#" => (1, "\n"),
            _ if rest[at..].starts_with("//") => (2, "\n"),
            _ => (2, "*/"),
        };
        rest = rest[at + opening..].split_once(closing).map_or("", |(_, after)| after);
    }
    stripped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let source = Source::new("p", "ab\nä=b\n");
        assert_eq!(source.place(0), "p:1:1");
        assert_eq!(source.place(5), "p:2:2");
        assert_eq!(source.place(99), "p:3:1");
    }

    #[test]
    fn columns_of_long_lines_are_counted_from_places_in_between() {
        let text = format!("a\n{}", "ä=b".repeat(2 * EVERY));
        let source = Source::new("p", text.as_str());
        for (column, (offset, _)) in text[2..].char_indices().enumerate() {
            assert_eq!(source.position(offset + 2), Position { line: 2, column: column + 1 });
        }
        assert_eq!(source.position(text.len()).column, 6 * EVERY + 1);
        let exact = Source::new("p", "x".repeat(3 * EVERY));
        assert_eq!(exact.position(3 * EVERY).column, 3 * EVERY + 1);
    }

    #[test]
    fn a_statement_over_several_lines_becomes_one_without_comments() {
        let text = "x := /* first */ y // why\n   | z";
        assert_eq!(Source::new("p", text).flat(Span::new(0, text.len())), "x := y | z");
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_and_restored_in_order() {
        let bytes = b"\xEF\xBB\xBF# caf\xE9 \xEF\xBF\xBD\xC3\xA4 \xFF\xFE\nx";
        let source = Source::from_bytes("p", bytes.to_vec());
        assert_eq!(source.text(), "# caf\u{FFFD} \u{FFFD}\u{E4} \u{FFFD}\u{FFFD}\nx");
        assert_eq!(source.first_not_utf8().map(|at| source.place(at)), Some("p:1:6".to_string()));
        assert_eq!(source.encode(source.text()).as_deref(), Some(&bytes[..]));
        let indented = source.text().replace('x', "  x");
        assert!(source.encode(&indented).is_some_and(|bytes| bytes.ends_with(b"\xFF\xFE\n  x")));
        assert_eq!(source.encode("# caf"), None);
        assert_eq!(source.encode(&source.text().repeat(2)), None);
        assert_eq!(Source::from_bytes("p", b"\xEF\xBB\xBFa".to_vec()).place(0), "p:1:1");
    }

    #[test]
    fn places_in_an_appended_file_are_those_of_that_file() {
        let both = Source::new("s.tts", "1 1\n0 0 -> 0 0").append(Source::new("s.prop", "# why\n0|0\n"));
        assert_eq!(both.place(0), "s.tts:1:1");
        assert_eq!((both.place(14), both.place(15)), ("s.tts:2:11".to_string(), "s.prop:1:1".to_string()));
        let target = both.text().find('|').expect("it is there");
        assert_eq!((both.place(target), both.line(target)), ("s.prop:2:2".to_string(), 4));
        assert_eq!(both.place(999), "s.prop:3:1");
    }

    #[test]
    fn lines_beyond_the_end_are_left_out() {
        let source = Source::new("p", "a\nb\n");
        assert_eq!(source.lines(2..9), 2..4);
    }
}
