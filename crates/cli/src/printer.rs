//! The only place that writes to standard output and standard error.

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal as _, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use selvedge_faults::{self as faults, Point};
use selvedge_frontend::visible::visible;
use selvedge_report::Palette;

use crate::args::When;

/// Returns a text with escapes in the place of hidden characters. With colours, the sequences that change colour and
/// weight stay, and no others: names that have some cannot hide anything.
fn visible_styled<'t>(text: &'t str, palette: &Palette) -> Cow<'t, str> {
    if !palette.is_coloured() {
        return visible(text);
    }
    let mut shown = String::with_capacity(text.len());
    for (number, part) in text.split(ESCAPE).enumerate() {
        let style = if number == 0 { 0 } else { style_length(part) };
        if number > 0 {
            shown.push_str(if style > 0 { "\u{1B}" } else { "\\u{1b}" });
        }
        shown.push_str(&part[..style]);
        shown.push_str(&visible(&part[style..]));
    }
    Cow::Owned(shown)
}

const ESCAPE: char = '\u{1B}';

/// Returns the length of the rest of an escape sequence that sets a colour, a weight, or nothing; 0 if it is another.
fn style_length(text: &str) -> usize {
    let Some(end) = text.find('m').filter(|_| text.starts_with('[')) else { return 0 };
    let is_style = |number: &str| {
        matches!(number.parse::<u8>(), Ok(0..=4 | 22 | 24 | 30..=37 | 39 | 90..=97)) || number.is_empty()
    };
    let numbers = &text[1..end];
    let is_colour = ["38;5;", "1;38;5;"]
        .iter()
        .any(|start| numbers.strip_prefix(start).is_some_and(|number| number.parse::<u8>().is_ok()));
    if is_colour || numbers.split(';').all(is_style) { end + 1 } else { 0 }
}

/// Writes text. A reader that has closed the pipe (`| head`) is not an error: the rest is dropped.
pub(crate) struct Printer {
    colour: When,
    /// Set if standard output could not be written for another reason than a closed pipe.
    failed: AtomicBool,
    output: Mutex<Output>,
}

/// Who answers for a command: the first who writes a part of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Output {
    Open,
    /// The work has begun to write.
    Begun,
    /// The work was left behind, and this thread answers in its place.
    Taken(ThreadId),
}

impl Printer {
    pub(crate) fn new(colour: When) -> Printer {
        Printer { colour, failed: AtomicBool::new(false), output: Mutex::new(Output::Open) }
    }

    /// Begins the result: whoever watches the limits waits from now on until it is written. A thread that was left
    /// behind waits here for the end of the program.
    pub(crate) fn begin(&self) {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        match *output {
            Output::Open => *output = Output::Begun,
            Output::Taken(by) if by != thread::current().id() => {
                drop(output);
                loop {
                    thread::park();
                }
            }
            Output::Begun | Output::Taken(_) => {}
        }
    }

    /// Lets this thread answer instead of the work. Returns whether that is possible: not if the work has begun to
    /// write.
    pub(crate) fn take_over(&self) -> bool {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if *output == Output::Open {
            *output = Output::Taken(thread::current().id());
        }
        *output == Output::Taken(thread::current().id())
    }

    /// Writes text for people to standard output: hidden characters are escaped.
    pub(crate) fn out(&self, text: &str) {
        self.out_bytes(visible_styled(text, &self.out_palette()).as_bytes());
    }

    /// Writes to standard output what other programs read.
    pub(crate) fn out_bytes(&self, bytes: &[u8]) {
        self.begin();
        let mut out = io::stdout().lock();
        match faults::attempt(Point::Write).and_then(|()| out.write_all(bytes)).and_then(|()| out.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                if !self.failed.swap(true, Ordering::Relaxed) {
                    self.error(&format!("cannot write to standard output: {error}"));
                }
            }
            Ok(()) | Err(_) => {}
        }
    }

    /// Writes text for people to standard error. A failure to write cannot be reported and is ignored.
    pub(crate) fn err(&self, text: &str) {
        let _ = io::stderr().lock().write_all(visible_styled(text, &self.err_palette()).as_bytes());
    }

    /// An error that belongs to no place in a program.
    pub(crate) fn error(&self, message: &str) {
        let style = self.err_palette().bad;
        self.err(&format!("{style}error{style:#}: {message}\n"));
    }

    /// Prints a suggestion after an error.
    pub(crate) fn help(&self, message: &str) {
        self.err(&format!("  help: {message}\n"));
    }

    /// Returns whether standard output could not be written.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    pub(crate) fn out_palette(&self) -> Palette {
        self.palette(io::stdout().is_terminal())
    }

    pub(crate) fn err_palette(&self) -> Palette {
        self.palette(io::stderr().is_terminal())
    }

    fn palette(&self, is_terminal: bool) -> Palette {
        let wanted = match self.colour {
            When::Always => true,
            When::Never => false,
            When::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        };
        if wanted { Palette::coloured() } else { Palette::plain() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_stay_and_other_sequences_are_escaped() {
        let coloured = Palette::coloured();
        let bad = coloured.bad;
        let own = format!("{bad}error{bad:#}: \u{1B}[38;5;9mx\u{1B}[0m\n");
        assert_eq!(visible_styled(&own, &coloured), own);
        assert_eq!(visible_styled("\u{1B}[2Ja\u{1B}]0;m\u{1B}[8m", &coloured), "\\u{1b}[2Ja\\u{1b}]0;m\\u{1b}[8m");
        assert_eq!(visible_styled("\u{1B}[31m\u{202E}", &Palette::plain()), "\\u{1b}[31m\\u{202e}");
        assert_eq!(visible_styled("a\u{1B}", &coloured), "a\\u{1b}");
    }
}
