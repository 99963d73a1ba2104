//! Engines side by side: the first judged answer stops the others.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Event, Observer, Run, Stop};
use selvedge_engines::table::Row;

use super::standing::{Best, Standing, Worth};
use super::team::only_finds_errors;
use crate::attempt::{Attempt, attempt};
use crate::threads;
use crate::{Failure, Options, Prepared};

/// The time that the first engine runs alone.
const HEAD_START: Duration = Duration::from_millis(30);

/// An engine that has run this long no longer counts against `jobs`.
const SLOW: Duration = Duration::from_millis(1000);

/// The least time that a `safe` without certificate waits for one with a certificate.
const GRACE: Duration = Duration::from_millis(500);

/// The time that engines have to notice that the run must stop.
const NOTICE: Duration = Duration::from_millis(200);

/// The most nodes of the circuit of `bmc` beside other engines.
const MOST_NODES: usize = 5_000_000;

/// The longest time between two looks at the limits of the run.
const LOOK: Duration = Duration::from_millis(20);

/// A message from an engine's thread.
enum Message {
    Event(usize, Event),
    Done(usize, Box<Result<Attempt, Failure>>),
}

/// A team whose engines run in parallel. An engine that was overtaken may need a moment to notice, so that its thread
/// owns what it works on.
pub(super) struct Parallel {
    prepared: Arc<Prepared>,
    options: Arc<Options>,
    standing: Standing,
    /// When each engine began.
    began: Vec<Option<Instant>>,
    cancels: Vec<CancelToken>,
    running: Vec<usize>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
}

impl Parallel {
    pub(super) fn new(prepared: &Arc<Prepared>, team: Vec<&'static Row>, options: &Options) -> Parallel {
        let (sender, receiver) = mpsc::channel();
        Parallel {
            prepared: Arc::clone(prepared),
            options: Arc::new(options.clone()),
            began: vec![None; team.len()],
            standing: Standing::new(team),
            cancels: Vec::new(),
            running: Vec::new(),
            sender,
            receiver,
        }
    }

    pub(super) fn run(mut self, run: &Run<'_>) -> Result<Best, Failure> {
        let jobs = self.options.jobs;
        let started = Instant::now();
        self.start(run);
        let mut patience = HEAD_START;
        let mut stopping: Option<Instant> = None;
        loop {
            match self.receiver.recv_timeout(patience.min(LOOK)) {
                Ok(Message::Event(number, event)) => self.show(number, event, run),
                Ok(Message::Done(number, result)) => self.done(number, *result),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("a sender is kept here"),
            }
            // An engine that is in the middle of something long is left alone: it ends when it notices.
            if run.check_limits().is_err() && stopping.get_or_insert_with(Instant::now).elapsed() >= NOTICE {
                break;
            }
            let late = started.elapsed();
            let limit = if self.running.is_empty() || late >= HEAD_START { jobs + self.n_slow() } else { 1 };
            while self.standing.worth() == Worth::Open
                && self.running.len() < limit
                && run.check_limits().is_ok()
                && self.start(run)
            {}
            patience = match self.standing.worth() {
                Worth::Judged => break,
                _ if !self.can_prove() => break,
                Worth::Uncertified => {
                    let best = self.standing.best.as_ref();
                    let found = best.and_then(|(number, _)| self.standing.runs[*number].as_ref());
                    let wait = found.map_or(GRACE, |run| run.time.max(GRACE) + run.time);
                    match wait.checked_sub(late) {
                        Some(rest) if !rest.is_zero() => rest,
                        _ => break,
                    }
                }
                Worth::Open if late < HEAD_START => HEAD_START - late,
                Worth::Open => self.until_slow().unwrap_or(Duration::MAX / 2),
            };
        }
        self.cancels.iter().for_each(CancelToken::cancel);
        self.standing.close(&self.prepared, &self.began, run)
    }

    /// Returns whether an engine is left that can answer "safe".
    fn can_prove(&self) -> bool {
        self.running.iter().any(|number| !only_finds_errors(self.standing.team[*number]))
    }

    /// Counts the engines that have run for long.
    fn n_slow(&self) -> usize {
        self.ages().filter(|age| *age >= SLOW).count()
    }

    /// Returns how long it takes until one more engine has run for long, if another could begin then.
    fn until_slow(&self) -> Option<Duration> {
        let rest = self.ages().filter_map(|age| SLOW.checked_sub(age)).filter(|rest| !rest.is_zero()).min();
        rest.filter(|_| self.cancels.len() < self.standing.team.len())
    }

    /// Lists how long each engine has run that still runs.
    fn ages(&self) -> impl Iterator<Item = Duration> {
        self.running.iter().filter_map(|number| self.began[*number].map(|began| began.elapsed()))
    }

    /// Starts the next engine, if there is one.
    fn start(&mut self, run: &Run<'_>) -> bool {
        let number = self.cancels.len();
        let Some(row) = self.standing.team.get(number).copied() else { return false };
        let (prepared, options) = (Arc::clone(&self.prepared), Arc::clone(&self.options));
        let sender = self.sender.clone();
        let reporter = Reporter { number, sender: sender.clone() };
        let part = run.part();
        self.cancels.push(part.cancel.clone());
        let work = move || {
            let result = attempt(&prepared, row, &options, &part.run(&reporter));
            // The receiver is gone if another engine was faster.
            let _ = sender.send(Message::Done(number, Box::new(result)));
        };
        match threads::start(work) {
            Ok(_) => {
                self.began[number] = Some(Instant::now());
                self.running.push(number);
            }
            Err(_) => {
                let attempt = Attempt::stopped(&self.prepared, row, Stop::NoThread);
                self.standing.note(number, Ok(attempt), Duration::ZERO);
            }
        }
        true
    }

    /// Passes on the events of the engine that has run longest. One that only finds errors must leave memory to the
    /// others.
    fn show(&mut self, number: usize, event: Event, run: &Run<'_>) {
        let is_large = matches!(event, Event::Unwound { nodes, .. } if nodes > MOST_NODES);
        if is_large && only_finds_errors(self.standing.team[number]) {
            self.cancels[number].cancel();
        }
        self.standing.far[number] = match event {
            Event::Phase(_) => None,
            Event::Closed(_) => self.standing.far[number],
            _ => Some(event),
        };
        if self.running.first() == Some(&number) {
            run.event(event);
        }
    }

    fn done(&mut self, number: usize, result: Result<Attempt, Failure>) {
        self.running.retain(|other| *other != number);
        let time = self.began[number].map(|began| began.elapsed()).unwrap_or_default();
        self.standing.note(number, result, time);
    }
}

/// Sends what happens in an engine's thread to the one that asked.
struct Reporter {
    number: usize,
    sender: Sender<Message>,
}

impl Observer for Reporter {
    fn event(&self, event: Event) {
        let _ = self.sender.send(Message::Event(self.number, event));
    }
}
