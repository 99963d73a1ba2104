//! The progress line: the phase, the number of states, and the speed.

use std::io::IsTerminal as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use selvedge_check::{Event, Observer};
use selvedge_report::text::grouped;

use crate::args::When;
use crate::session::Session;

/// Shows the events of a check: as an animated line on a terminal, as a line per second if progress is requested
/// anyway.
pub(crate) struct Progress {
    sink: Sink,
    /// The file that is checked.
    file: String,
    seen: Mutex<Seen>,
    finished: AtomicBool,
}

enum Sink {
    Nothing,
    Terminal(ProgressBar),
    Lines(Arc<Session>),
}

/// The progress of the current phase.
struct Seen {
    phase: &'static str,
    since: Instant,
    /// The time at which the last line was written or the bar's text changed.
    shown: Option<Instant>,
}

impl Progress {
    pub(crate) fn new(when: When, file: String, session: &Arc<Session>) -> Progress {
        let sink = match (when, std::io::stderr().is_terminal()) {
            (When::Never, _) | (When::Auto, false) => Sink::Nothing,
            (When::Auto | When::Always, true) => Sink::Terminal(spinner()),
            (When::Always, false) => Sink::Lines(Arc::clone(session)),
        };
        let seen = Mutex::new(Seen { phase: "", since: Instant::now(), shown: None });
        let progress = Progress { sink, file, seen, finished: AtomicBool::new(false) };
        progress.event(Event::Phase("reading"));
        progress
    }

    /// Removes the line. Work that was left behind shows nothing from now on.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
        if let Sink::Terminal(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }

    /// Shows a message, unless the last one was shown less than a pause ago.
    fn show(&self, seen: &mut Seen, message: &str, pause: Duration) {
        if seen.shown.is_some_and(|shown| shown.elapsed() < pause) {
            return;
        }
        seen.shown = Some(Instant::now());
        match &self.sink {
            Sink::Nothing => {}
            Sink::Terminal(bar) => bar.set_message(format!("{message} | {}", self.file)),
            Sink::Lines(session) => session.printer.err(&format!("{message}\n")),
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

impl Observer for Progress {
    fn event(&self, event: Event) {
        if matches!(self.sink, Sink::Nothing) || self.finished.load(Ordering::Relaxed) {
            return;
        }
        let Ok(mut seen) = self.seen.lock() else { return };
        if let Event::Phase(phase) = event {
            *seen = Seen { phase, since: Instant::now(), shown: None };
            self.show(&mut seen, phase, Duration::ZERO);
        } else {
            let message = format!("{}: {}", seen.phase, counts(event, seen.since));
            self.show(&mut seen, &message, self.pause());
        }
    }
}

/// Describes the progress within a phase, which began at a time.
fn counts(event: Event, since: Instant) -> String {
    match event {
        Event::Phase(phase) => phase.to_string(),
        Event::Closed(argument) => argument.to_string(),
        Event::Searched { visited, waiting, depth } => {
            let rate = grouped((visited as f64 / since.elapsed().as_secs_f64().max(0.001)) as usize);
            format!("{} states ({rate}/s), {} waiting, depth {depth}", grouped(visited), grouped(waiting))
        }
        Event::Diagrams { rounds, waiting, nodes } => {
            format!("{} rounds, {} waiting, {} nodes", grouped(rounds), grouped(waiting), grouped(nodes))
        }
        Event::ThreadStates { threads, states } => format!("{threads} threads, {} thread states", grouped(states)),
        Event::SharedStates { k, states } => format!("{k} turns per thread, {states} shared states"),
        Event::Views { k, views, waiting } => {
            format!("{} lists of {k} places, {} waiting", grouped(views), grouped(waiting))
        }
        Event::Unwound { steps, nodes } => format!("{} steps, {} nodes", grouped(steps), grouped(nodes)),
        Event::Solved { conflicts } => {
            format!("{} conflicts", grouped(usize::try_from(conflicts).unwrap_or(usize::MAX)))
        }
        Event::Refined(refinement) => format!(
            "abstraction {} with {} predicates, {} states, {} questions",
            refinement.iterations,
            refinement.predicates,
            grouped(refinement.states),
            grouped(refinement.queries)
        ),
    }
}

/// Returns a spinner that moves four times a second, also without events.
fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}");
    let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
