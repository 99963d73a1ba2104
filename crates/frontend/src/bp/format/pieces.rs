//! The pieces of a statement, with the comments inside it.
//!
//! A comment inside a statement is printed before the next name or expression. If it began or ended a line, it does so
//! again; otherwise there is no line break next to it. So formatting the output treats it in the same way.

use std::borrow::Cow;

use super::Printer;
use super::layout::{Between, Piece};
use crate::bp::ast::{Name, Span};
use crate::bp::lexer::{TokenKind, lex};

impl<'t> Printer<'t> {
    pub(super) fn word(&mut self, word: &'t str) {
        self.pieces.push(Piece::Word(Cow::Borrowed(word)));
    }

    pub(super) fn owned(&mut self, word: String) {
        self.pieces.push(Piece::Word(Cow::Owned(word)));
    }

    pub(super) fn space(&mut self) {
        self.pieces.push(Piece::Space);
    }

    pub(super) fn soft_break(&mut self, between: Between) {
        self.pieces.push(Piece::Break(between));
    }

    pub(super) fn open(&mut self, indent: usize) {
        self.pieces.push(Piece::Open(indent));
    }

    pub(super) fn close(&mut self) {
        self.pieces.push(Piece::Close);
    }

    pub(super) fn name(&mut self, name: &Name) {
        self.comments_before(name.span.start);
        let file = self.file;
        self.word(file.names.text(name.symbol));
    }

    /// Prints elements with commas between them.
    pub(super) fn list<T>(&mut self, elements: &'t [T], mut element: impl FnMut(&mut Self, &'t T)) {
        for (index, item) in elements.iter().enumerate() {
            if index > 0 {
                self.word(",");
                self.soft_break(Between::Parts);
            }
            element(self, item);
        }
    }

    /// Prints the tokens of a part of the source that is not in the tree.
    pub(super) fn tokens(&mut self, span: Span) {
        let source = span.of(self.text);
        for token in lex(source).tokens.iter().filter(|token| token.kind != TokenKind::Eof) {
            self.comments_before(span.start + token.span.start);
            if token.span.start > 0 && !matches!(self.pieces.last(), Some(Piece::Space | Piece::Line)) {
                self.soft_break(Between::Parts);
            }
            self.word(token.span.of(source));
        }
    }

    /// Prints the comments before something that is about to be printed.
    pub(super) fn comments_before(&mut self, place: u32) {
        while let Some(comment) = self.take_comment(place) {
            let begins_line = self.begins_line(comment);
            self.separate(if begins_line { Piece::Line } else { Piece::Space });
            self.word(self.comment_text(comment));
            self.pieces.push(if self.ends_line(comment) { Piece::Line } else { Piece::Space });
        }
    }

    /// Puts a separator before a comment, replacing the one that is there, possibly before the groups that begin here.
    fn separate(&mut self, separator: Piece<'t>) {
        let last = self.pieces.iter().rposition(|piece| !matches!(piece, Piece::Open(_)));
        match last.map(|last| (last, &self.pieces[last])) {
            Some((_, Piece::Line)) => return,
            Some((last, Piece::Space | Piece::Break(_))) => {
                self.pieces.remove(last);
            }
            Some((_, Piece::Word(word))) if separator == Piece::Space && word.ends_with(['(', '<', '[', '!']) => return,
            _ => {}
        }
        self.pieces.push(separator);
    }
}
