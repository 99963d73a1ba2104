//! Formatting of lines, and of comments and blank lines between them.
//!
//! A comment at the end of a line stays at the end of the last printed line. A comment that begins a line gets its own
//! line. Several blank lines become one, except at the beginning and at the end of a block, where they are removed.

use super::layout::fill;
use super::{INDENT, Printer};
use crate::tokens::{Comment, CommentKind};

/// Returns whether a character is white space to the lexer.
fn is_white(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n' | '\x0B' | '\x0C' | '\u{FEFF}')
}

impl<'t> Printer<'t> {
    /// Prints the comments before `place` on the line that is open, or on separate lines.
    pub(super) fn gap(&mut self, place: u32) {
        while let Some(comment) = self.take_comment(place) {
            if self.begins_line(comment) || self.ends_in_line_comment || self.out.is_empty() {
                self.blank |= self.blank_line_before(comment.span.start);
                self.begin_plain_line();
            } else {
                self.out.push(' ');
            }
            self.out.push_str(self.comment_text(comment));
            self.ends_in_line_comment = comment.kind == CommentKind::Line;
        }
    }

    /// Begins the line of something at `place`, after the comments before it.
    pub(super) fn begin_line(&mut self, place: u32) {
        self.gap(place);
        self.blank |= self.blank_line_before(place);
        self.begin_plain_line();
    }

    /// Begins a line, after a blank one if it is due.
    pub(super) fn begin_plain_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.blank && !self.opened {
                self.out.push('\n');
            }
        }
        self.out.extend(std::iter::repeat_n(' ', self.depth * INDENT));
        self.blank = false;
        self.opened = false;
        self.ends_in_line_comment = false;
    }

    /// Prints a line that consists of one word.
    pub(super) fn plain_line(&mut self, word: &str) {
        self.begin_plain_line();
        self.out.push_str(word);
    }

    /// Prints the statement that has been cut into pieces, and a word after it.
    pub(super) fn end_line(&mut self, word: &'static str) {
        self.word(word);
        let pieces = std::mem::take(&mut self.pieces);
        fill(&pieces, self.depth * INDENT, &mut self.out);
        self.pieces = pieces;
        self.pieces.clear();
    }

    /// Prints the remaining comments and the end of the last line, and returns the text.
    pub(super) fn finish(mut self) -> String {
        self.gap(u32::MAX);
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out
    }

    /// Returns the next comment, if it begins before `place`.
    pub(super) fn take_comment(&mut self, place: u32) -> Option<Comment> {
        let comment = *self.comments.get(self.next)?;
        if comment.span.start >= place {
            return None;
        }
        self.next += 1;
        Some(comment)
    }

    /// Returns the text without white space at its end.
    pub(super) fn comment_text(&self, comment: Comment) -> &'t str {
        comment.span.of(self.text).trim_end()
    }

    /// Returns whether a comment is the first thing on its line.
    pub(super) fn begins_line(&self, comment: Comment) -> bool {
        let before = &self.text[..comment.span.start as usize];
        line_ends(before) > 0 || before.trim_end_matches(is_white).is_empty()
    }

    /// Returns whether a comment is the last thing on its line.
    pub(super) fn ends_line(&self, comment: Comment) -> bool {
        let mut after = self.text[comment.span.end as usize..].chars().take_while(|letter| is_white(*letter));
        comment.kind == CommentKind::Line || after.any(|letter| letter == '\n' || letter == '\r')
    }

    /// Returns whether there is a blank line before a position.
    fn blank_line_before(&self, place: u32) -> bool {
        line_ends(&self.text[..place as usize]) > 1
    }
}

/// Returns the number of line ends in the white space at the end of a text: `\n`, `\r\n` or `\r`.
fn line_ends(text: &str) -> usize {
    let (mut ends, mut later) = (0, ' ');
    for letter in text.chars().rev().take_while(|letter| is_white(*letter)) {
        if letter == '\n' || letter == '\r' && later != '\n' {
            ends += 1;
        }
        later = letter;
    }
    ends
}
