//! The text of a program with its name and line numbers, and the program together with its text.

use std::ops::Range;

use selvedge_ir::Program;
use selvedge_ir::span::{SourceMap, Span};

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
}

/// A program's text.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The name that the user gave: a path, or `<stdin>`.
    pub name: String,
    text: String,
    /// The first byte of each line.
    starts: Vec<usize>,
}

/// A position for users. Both numbers start at 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let text = text.into();
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        Source { name: name.into(), text, starts }
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
        let before = self.text.get(start..offset.min(self.text.len())).unwrap_or("");
        Position { line, column: before.chars().count() + 1 }
    }

    /// Returns the bytes of some lines, including line breaks. Lines beyond the end are ignored.
    pub fn lines(&self, lines: Range<usize>) -> Range<usize> {
        let begin = |line: usize| self.starts.get(line - 1).copied().unwrap_or(self.text.len());
        begin(lines.start.max(1))..begin(lines.end.max(1))
    }

    /// Returns the text of a span on one line: comments and line breaks become single spaces.
    pub fn flat(&self, span: Span) -> String {
        let without_comments = strip_comments(span.of(&self.text));
        without_comments.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Returns `name:line:column`.
    pub fn place(&self, offset: usize) -> String {
        let position = self.position(offset);
        format!("{}:{}:{}", self.name, position.line, position.column)
    }
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
    fn a_statement_over_several_lines_becomes_one_without_comments() {
        let text = "x := /* first */ y // why\n   | z";
        assert_eq!(Source::new("p", text).flat(Span::new(0, text.len())), "x := y | z");
    }

    #[test]
    fn lines_beyond_the_end_are_left_out() {
        let source = Source::new("p", "a\nb\n");
        assert_eq!(source.lines(2..9), 2..4);
    }
}
