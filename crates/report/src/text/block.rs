//! The block of one answer: a headline, and a line for each fact.

use std::fmt::Write as _;

use selvedge_check::{Answer, Model};

use crate::palette::{Palette, Tone, paint};

/// A block that is written.
pub(crate) struct Block {
    pub(crate) text: String,
}

impl Block {
    /// Begins a block: `file: headline`.
    pub(crate) fn new(file: &str, headline: &str, palette: &Palette) -> Block {
        Block { text: format!("{}: {headline}\n", paint(palette.strong, file)) }
    }

    /// Begins the block of an answer, with the reason if there is no verdict. The headline is the verdict unless the
    /// answer has a better one.
    pub(crate) fn of<M: Model>(file: &str, answer: &Answer<M>, headline: Option<String>, palette: &Palette) -> Block {
        let style = palette.tone(Tone::of(&answer.outcome));
        let headline = headline.unwrap_or_else(|| paint(style, answer.word()));
        let mut block = Block::new(file, &headline, palette);
        if let Some(reason) = answer.outcome.reason() {
            block.fact("reason", reason);
        }
        block
    }

    /// Adds why the certificate was not checked, if it could not be.
    pub(crate) fn unchecked<M: Model>(&mut self, answer: &Answer<M>) {
        if let Some(reason) = &answer.unchecked {
            self.fact("certificate", format!("not checked: {reason}"));
        }
    }

    /// Adds a fact.
    pub(crate) fn fact(&mut self, name: &str, content: impl std::fmt::Display) {
        let _ = writeln!(self.text, "  {:<12} {content}", format!("{name}:"));
    }
}

/// Renders the block of a file for which there is no answer.
pub fn no_answer(file: &str, verdict: &str, reason: &str, palette: &Palette) -> String {
    let mut block = Block::new(file, &paint(palette.open, verdict), palette);
    block.fact("reason", reason);
    block.text
}
