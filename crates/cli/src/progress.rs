//! The progress line: which phase, how many states, how fast.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use selvedge_check::{Event, Observer};

use crate::args::When;
use crate::printer::Printer;

/// Shows the events of a check: as a line that moves on a terminal, as a line a second if progress is wanted anyway.
pub(crate) struct Progress<'p> {
    sink: Sink<'p>,
    /// The file that is checked.
    file: String,
    seen: Mutex<Seen>,
}

enum Sink<'p> {
    Nothing,
    Terminal(ProgressBar),
    Lines(&'p Printer),
}

/// The progress of the current phase.
struct Seen {
    phase: &'static str,
    since: Instant,
    /// When the last line was written or the bar's text changed.
    told: Option<Instant>,
}

impl<'p> Progress<'p> {
    pub(crate) fn new(when: When, file: String, printer: &'p Printer) -> Progress<'p> {
        let sink = match (when, std::io::stderr().is_terminal()) {
            (When::Never, _) | (When::Auto, false) => Sink::Nothing,
            (When::Auto | When::Always, true) => Sink::Terminal(spinner()),
            (When::Always, false) => Sink::Lines(printer),
        };
        let seen = Mutex::new(Seen { phase: "", since: Instant::now(), told: None });
        let progress = Progress { sink, file, seen };
        progress.event(Event::Phase("reading"));
        progress
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        if let Sink::Terminal(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }

    fn tell(&self, seen: &mut Seen, message: &str, pause: Duration) {
        if seen.told.is_some_and(|told| told.elapsed() < pause) {
            return;
        }
        seen.told = Some(Instant::now());
        match &self.sink {
            Sink::Nothing => {}
            Sink::Terminal(bar) => bar.set_message(format!("{message} | {}", self.file)),
            Sink::Lines(printer) => printer.err(&format!("{message}\n")),
        }
    }

    /// Returns how long to wait between two messages.
    fn pause(&self) -> Duration {
        match self.sink {
            Sink::Nothing | Sink::Terminal(_) => Duration::from_millis(100),
            Sink::Lines(_) => Duration::from_secs(1),
        }
    }
}

impl Observer for Progress<'_> {
    fn event(&self, event: Event) {
        if let Sink::Nothing = self.sink {
            return;
        }
        let Ok(mut seen) = self.seen.lock() else { return };
        match event {
            Event::Phase(phase) => {
                *seen = Seen { phase, since: Instant::now(), told: None };
                self.tell(&mut seen, phase, Duration::ZERO);
            }
            Event::Closed(argument) => {
                let message = format!("{}: {argument}", seen.phase);
                self.tell(&mut seen, &message, self.pause());
            }
            Event::Searched { visited, waiting, depth } => {
                let rate = visited as f64 / seen.since.elapsed().as_secs_f64().max(0.001);
                let message = format!(
                    "{}: {} states ({}/s), {} waiting, depth {depth}",
                    seen.phase,
                    grouped(visited),
                    grouped(rate as usize),
                    grouped(waiting)
                );
                self.tell(&mut seen, &message, self.pause());
            }
            Event::Diagrams { rounds, waiting, nodes } => {
                let message = format!(
                    "{}: {} rounds, {} waiting, {} nodes",
                    seen.phase,
                    grouped(rounds),
                    grouped(waiting),
                    grouped(nodes)
                );
                self.tell(&mut seen, &message, self.pause());
            }
            Event::ThreadStates { threads, states } => {
                let message = format!("{}: {} threads, {} thread states", seen.phase, threads, grouped(states));
                self.tell(&mut seen, &message, self.pause());
            }
            Event::SharedStates { k, states } => {
                let message = format!("{}: {k} turns per thread, {states} shared states", seen.phase);
                self.tell(&mut seen, &message, self.pause());
            }
            Event::Views { k, views, waiting } => {
                let message =
                    format!("{}: {} lists of {k} places, {} waiting", seen.phase, grouped(views), grouped(waiting));
                self.tell(&mut seen, &message, self.pause());
            }
            Event::Unwound { steps, nodes } => {
                let message = format!("{}: {} steps, {} nodes", seen.phase, grouped(steps), grouped(nodes));
                self.tell(&mut seen, &message, self.pause());
            }
            Event::Refined(refinement) => {
                let message = format!(
                    "{}: abstraction {} with {} predicates, {} states, {} questions",
                    seen.phase,
                    refinement.iterations,
                    refinement.predicates,
                    grouped(refinement.states),
                    grouped(refinement.queries)
                );
                self.tell(&mut seen, &message, self.pause());
            }
        }
    }
}

/// Moves four times a second by itself, whether or not events come.
fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}

/// A number with a comma before each group of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_by_three() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
