//! The colours of text output. The caller decides whether there are any.

use std::fmt;

use anstyle::{AnsiColor, Effects, Style};
use selvedge_check::{Model, Outcome, Status};

/// The styles of text output.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    /// Titles and verdicts of no particular colour.
    pub strong: Style,
    /// The style of what can be skipped: line numbers, steps without effect.
    pub dim: Style,
    /// Values that changed.
    pub change: Style,
    /// Errors.
    pub bad: Style,
    /// Safe.
    pub good: Style,
    /// Not decided.
    pub open: Style,
    coloured: bool,
}

/// The tone of a result: of its colour in text, and of its class in HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Safe.
    Good,
    /// Unsafe, or an error of the user or of ours.
    Bad,
    /// Not decided.
    Open,
}

impl Tone {
    /// Returns the tone of an outcome.
    pub fn of<M: Model>(outcome: &Outcome<M>) -> Tone {
        match outcome {
            Outcome::Safe(_) => Tone::Good,
            Outcome::Unsafe(_) => Tone::Bad,
            Outcome::Unknown(_) => Tone::Open,
        }
    }

    /// Returns the tone of the answer for one error.
    pub fn of_status(status: &Status) -> Tone {
        match status {
            Status::Violated(_) => Tone::Bad,
            Status::Holds(_) | Status::Unreachable(_) => Tone::Good,
            Status::Unknown(_) => Tone::Open,
        }
    }

    /// Returns the class in HTML.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Tone::Good => "safe",
            Tone::Bad => "unsafe",
            Tone::Open => "unknown",
        }
    }
}

const THREADS: [AnsiColor; 5] =
    [AnsiColor::Cyan, AnsiColor::Magenta, AnsiColor::Blue, AnsiColor::Green, AnsiColor::Yellow];

impl Palette {
    /// No styles at all.
    pub fn plain() -> Palette {
        Palette::default()
    }

    pub fn coloured() -> Palette {
        let bold = |colour: AnsiColor| colour.on_default().effects(Effects::BOLD);
        Palette {
            strong: Style::new().bold(),
            dim: Style::new().dimmed(),
            change: AnsiColor::Yellow.on_default(),
            bad: bold(AnsiColor::Red),
            good: bold(AnsiColor::Green),
            open: bold(AnsiColor::Yellow),
            coloured: true,
        }
    }

    /// Returns the style of a tone.
    pub fn tone(&self, tone: Tone) -> Style {
        match tone {
            Tone::Good => self.good,
            Tone::Bad => self.bad,
            Tone::Open => self.open,
        }
    }

    /// Returns whether there are colours.
    pub fn is_coloured(&self) -> bool {
        self.coloured
    }

    /// The style of a thread.
    pub fn thread(&self, number: u32) -> Style {
        if self.coloured { THREADS[number as usize % THREADS.len()].on_default() } else { Style::new() }
    }
}

/// Text in a style.
pub(crate) fn paint(style: Style, text: impl fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
