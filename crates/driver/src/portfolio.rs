//! The portfolio: which engines suit a question, and how they run side by side or in turns.
//!
//! Side by side, the first engine has a short start over the others, so that easy questions are always answered by
//! the same one; then as many run as there are jobs, and when one gives up or has had its time, the next begins. One
//! that has had its time goes on beside the others, who would never get their turn otherwise. The first judged answer
//! wins and stops the others. In turns, with one job, each engine gets a budget of work, counted in its own events
//! and its solver's units and not by the clock, which grows from round to round; so the same question has the same
//! answer, trace and winner each time. Either way a `safe` without certificate waits for a while for one with a
//! certificate.
//!
//! Side by side, it ends when the engines do. In turns, it ends because a budget that grows without bound does not stop
//! an engine that ends. Both are right because every answer was judged where it was found.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_check::{Answer, CancelToken, EngineEnd, EngineRun, Event, Observer, Outcome, Reason, Run, Stop};
use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;
use selvedge_ir::callgraph::CallGraph;

use crate::attempt::{Attempt, attempt, by_control_flow, equipped, takes};
use crate::{Failure, Minimize, Options, Prepared, minimize};

/// The time that the first engine runs alone.
const HEAD_START: Duration = Duration::from_millis(30);

/// An engine that has run this long no longer counts against `jobs`.
const SLOW: Duration = Duration::from_millis(1000);

/// The least time that a `safe` without certificate waits for one with a certificate.
const GRACE: Duration = Duration::from_millis(500);

/// The greatest budget of engines that look at all executions where some were asked about.
const MOST_HANDED_OVER: usize = 64;

/// The work of a solver for an engine with a budget of one, in Z3's units: about half a second.
const SOLVER_WORK: u64 = 1_000_000;

/// The stack of an engine's thread: decision diagrams recurse deeply.
const STACK: usize = 1 << 30;

/// The attempt whose answer is reported, the engine that made it, and the runs of all engines.
struct Best {
    row: &'static Row,
    attempt: Attempt,
    runs: Vec<EngineRun>,
}

/// Decides a question by the engine that the user names, or by engines that suit it.
pub(crate) fn decide(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    run.event(Event::Phase("choosing"));
    if options.engine.is_none()
        && let Some(attempt) = by_control_flow(prepared, run)
    {
        return attempt.map(|attempt| answer(prepared, attempt, Vec::new()));
    }
    let Best { row, mut attempt, runs } = run_team(prepared, team(prepared, options), options, run)?;
    if let (Outcome::Unsafe(found), Minimize::Yes) = (&mut attempt.outcome, options.minimize) {
        run.event(Event::Phase("minimizing"));
        let (engine, simplified) = equipped(prepared, row, options);
        let task = prepared.task();
        let fewer = minimize::with_fewer_threads(&task, &*engine, &simplified, (**found).clone());
        **found = minimize::minimize(&task, fewer);
    }
    Ok(answer(prepared, attempt, runs))
}

fn answer(prepared: &Prepared, attempt: Attempt, runs: Vec<EngineRun>) -> Answer {
    Answer {
        runs,
        certifier: attempt.certifier,
        unchecked: attempt.unchecked,
        explanation: attempt.explanation,
        searched: Some(attempt.searched),
        ..Answer::new(prepared.task().into(), attempt.outcome, attempt.engine, attempt.times)
    }
}

/// Chooses the engine that the user names. Else those that take a question, of the group that suits it best, the most
/// promising first; the oracle if none does. Partial orders are off unless the user wants one: a certificate needs all
/// states, and those that a partial order left out are explored after all.
pub(crate) fn team(prepared: &Prepared, options: &Options) -> Vec<&'static Row> {
    if let Some(row) = options.engine {
        return vec![row];
    }
    if in_turns(options) {
        return vec![EngineKind::Contexts.row()];
    }
    if in_rounds(options) {
        return vec![EngineKind::Rounds.row()];
    }
    without_bound(prepared, options)
}

/// Returns whether a number of contexts is asked about and the user leaves the choice of the engine to us.
fn in_turns(options: &Options) -> bool {
    options.engine.is_none() && options.engine_options.contexts.bound.is_some()
}

/// Returns whether a number of rounds is asked about and the user leaves the choice of the engine to us.
fn in_rounds(options: &Options) -> bool {
    options.engine.is_none() && options.engine_options.rounds.bound.is_some()
}

/// Chooses engines that take a question about all executions.
fn without_bound(prepared: &Prepared, options: &Options) -> Vec<&'static Row> {
    let takers = |kinds: &[EngineKind]| -> Vec<EngineKind> {
        kinds.iter().copied().filter(|kind| takes(prepared, kind.row(), options).is_ok()).collect()
    };
    let mut teams = EngineKind::PORTFOLIO.into_iter().map(takers).filter(|team| !team.is_empty());
    let team = match teams.next() {
        // Alone it would answer without certificate: its passes have left one thread of several.
        Some(team) if team == [EngineKind::Sat] => [teams.next().unwrap_or_default(), team].concat(),
        Some(team) => team,
        // Recursion with any number of threads is undecidable, but errors can be found.
        None => [takers(&[EngineKind::Rounds]), vec![EngineKind::Exhaustive]].concat(),
    };
    team.into_iter().map(EngineKind::row).collect()
}

/// Runs a team.
fn run_team(
    prepared: &Arc<Prepared>,
    team: Vec<&'static Row>,
    options: &Options,
    run: &Run<'_>,
) -> Result<Best, Failure> {
    match team.as_slice() {
        [row] => {
            let attempt = attempt(prepared, row, options, run)?;
            let end = end_of(&attempt);
            let alone = EngineRun { engine: attempt.engine, time: attempt.times.total(), end };
            let alone = Best { row, attempt, runs: vec![alone] };
            if in_turns(options) || in_rounds(options) { hand_over(prepared, alone, options, run) } else { Ok(alone) }
        }
        _ if options.jobs <= 1 => RoundRobin::new(team, usize::MAX).run(prepared, options, run),
        _ => Parallel::new(prepared, team, options).run(run),
    }
}

/// Lets engines that look at all executions say more, with little work, if there is no error within a number of
/// contexts or rounds, and no recursion.
fn hand_over(prepared: &Prepared, bounded: Best, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
    let at_bound = matches!(bounded.attempt.outcome, Outcome::Unknown(Reason::Stop(Stop::BoundReached(_))));
    if !at_bound || CallGraph::new(prepared.task().program).has_recursion() {
        return Ok(bounded);
    }
    let mut more = RoundRobin::new(without_bound(prepared, options), MOST_HANDED_OVER).run(prepared, options, run)?;
    if worth(&more.attempt.outcome) == Worth::Open {
        return Ok(bounded);
    }
    if matches!(more.attempt.outcome, Outcome::Safe(_)) {
        more.attempt.explanation.contexts = bounded.attempt.explanation.contexts;
        more.attempt.explanation.rounds = bounded.attempt.explanation.rounds;
    }
    more.runs.splice(0..0, bounded.runs);
    Ok(more)
}

/// The quality of an answer, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    /// None.
    Open,
    /// Safe without certificate.
    Uncertified,
    /// With evidence.
    Judged,
}

fn worth(outcome: &Outcome) -> Worth {
    match outcome {
        Outcome::Unknown(_) => Worth::Open,
        Outcome::Safe(None) => Worth::Uncertified,
        Outcome::Safe(Some(_)) | Outcome::Unsafe(_) => Worth::Judged,
    }
}

fn end_of(attempt: &Attempt) -> EngineEnd {
    match &attempt.outcome {
        Outcome::Unknown(reason) => EngineEnd::GaveUp(reason.clone()),
        Outcome::Safe(_) | Outcome::Unsafe(_) => EngineEnd::Answered,
    }
}

/// A team, the best answer yet, and the runs that have ended.
struct Standing {
    team: Vec<&'static Row>,
    runs: Vec<Option<EngineRun>>,
    best: Option<(usize, Attempt)>,
}

impl Standing {
    fn new(team: Vec<&'static Row>) -> Standing {
        Standing { runs: vec![None; team.len()], team, best: None }
    }

    /// Notes the attempt of an engine.
    fn note(&mut self, number: usize, attempt: Attempt, time: Duration) {
        let is_better = self.best.is_none() || worth(&attempt.outcome) > self.worth();
        let end = match end_of(&attempt) {
            EngineEnd::Answered => EngineEnd::Overtaken,
            end => end,
        };
        self.runs[number] = Some(EngineRun { engine: attempt.engine, time, end });
        if is_better {
            self.best = Some((number, attempt));
        }
    }

    fn worth(&self) -> Worth {
        self.best.as_ref().map_or(Worth::Open, |(_, attempt)| worth(&attempt.outcome))
    }

    /// Ends it: engines that began and have not ended were overtaken.
    fn close(mut self, began: &[Option<Instant>]) -> Best {
        for (number, row) in self.team.iter().enumerate() {
            if let (None, Some(began)) = (&self.runs[number], began[number]) {
                let end = EngineEnd::Overtaken;
                self.runs[number] = Some(EngineRun { engine: row.name, time: began.elapsed(), end });
            }
        }
        let (number, attempt) = self.best.expect("an engine has ended");
        if let (Some(run), true) = (&mut self.runs[number], worth(&attempt.outcome) > Worth::Open) {
            run.end = EngineEnd::Answered;
        }
        Best { row: self.team[number], attempt, runs: self.runs.into_iter().flatten().collect() }
    }
}

/// A team whose engines take turns, each with a budget that grows from round to round.
struct RoundRobin {
    standing: Standing,
    /// The engines that have not given up.
    playing: Vec<usize>,
    /// The greatest budget of an engine.
    most: usize,
}

impl RoundRobin {
    fn new(team: Vec<&'static Row>, most: usize) -> RoundRobin {
        RoundRobin { playing: (0..team.len()).collect(), standing: Standing::new(team), most }
    }

    fn run(mut self, prepared: &Prepared, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
        let began = vec![None; self.standing.team.len()];
        let mut budget = 1;
        while self.standing.worth() == Worth::Open && !self.playing.is_empty() && budget <= self.most {
            for number in std::mem::take(&mut self.playing) {
                let attempt = self.turn(number, prepared, options, run, budget)?;
                let time = attempt.times.total();
                if is_interrupted(&attempt.outcome) && run.check_limits().is_ok() {
                    self.playing.push(number);
                }
                self.standing.note(number, attempt, time);
                if self.standing.worth() == Worth::Judged {
                    return Ok(self.standing.close(&began));
                }
            }
            let alone = self.playing.len() == 1 && self.most == usize::MAX;
            budget = if alone { usize::MAX } else { budget.saturating_mul(8) };
        }
        Ok(self.standing.close(&began))
    }

    /// Lets an engine work until it has used up the budget.
    fn turn(
        &self,
        number: usize,
        prepared: &Prepared,
        options: &Options,
        run: &Run<'_>,
        budget: usize,
    ) -> Result<Attempt, Failure> {
        let part = match u64::try_from(budget) {
            Ok(budget) if budget < u64::MAX => run.part().with_solver_work(budget.saturating_mul(SOLVER_WORK)),
            _ => run.part(),
        };
        let observer = BudgetObserver { budget, run, cancel: part.cancel.clone() };
        attempt(prepared, self.standing.team[number], options, &part.run(&observer))
    }
}

fn is_interrupted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown(Reason::Stop(Stop::Cancelled)))
}

/// Stops an engine that has used up its budget, counted in its events.
struct BudgetObserver<'r, 'o> {
    budget: usize,
    run: &'r Run<'o>,
    cancel: CancelToken,
}

impl Observer for BudgetObserver<'_, '_> {
    fn event(&self, event: Event) {
        let used = match event {
            Event::Searched { visited, .. } => visited / 20_000,
            Event::Diagrams { rounds, nodes, .. } => (rounds / 500).max(nodes / 200_000),
            Event::Views { k, views, .. } => (views / 2_000).max(k / 6),
            Event::Unwound { steps, nodes } => (steps / 40).max(nodes / 200_000),
            Event::ThreadStates { threads, .. } => threads / 10,
            Event::SharedStates { k, .. } => k as usize / 4,
            Event::Refined(refinement) => (refinement.queries / 500).max(refinement.states / 100_000),
            Event::Phase(_) | Event::Closed(_) => 0,
        };
        if used >= self.budget {
            self.cancel.cancel();
        }
        self.run.event(event);
    }
}

/// A message from an engine's thread.
enum Message {
    Event(usize, Event),
    Done(usize, Box<thread::Result<Result<Attempt, Failure>>>),
}

/// A team whose engines run in parallel. An engine that was overtaken may need a moment to notice, so that its thread
/// owns what it works on.
struct Parallel {
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
    fn new(prepared: &Arc<Prepared>, team: Vec<&'static Row>, options: &Options) -> Parallel {
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

    fn run(mut self, run: &Run<'_>) -> Result<Best, Failure> {
        let jobs = self.options.jobs;
        let started = Instant::now();
        self.start(run);
        let mut patience = HEAD_START;
        loop {
            match self.receiver.recv_timeout(patience) {
                Ok(Message::Event(number, event)) => self.show(number, event, run),
                Ok(Message::Done(number, result)) => self.done(number, *result)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => unreachable!("a sender is kept here"),
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
                _ if self.running.is_empty() => break,
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
        Ok(self.standing.close(&self.began))
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
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                attempt(&prepared, row, &options, &part.run(&reporter))
            }));
            // The receiver is gone if another engine was faster.
            let _ = sender.send(Message::Done(number, Box::new(result)));
        };
        thread::Builder::new().stack_size(STACK).spawn(work).expect("the system gives a thread");
        self.began[number] = Some(Instant::now());
        self.running.push(number);
        true
    }

    /// Passes on the events of the engine that has run longest.
    fn show(&self, number: usize, event: Event, run: &Run<'_>) {
        if self.running.first() == Some(&number) {
            run.event(event);
        }
    }

    fn done(&mut self, number: usize, result: thread::Result<Result<Attempt, Failure>>) -> Result<(), Failure> {
        self.running.retain(|other| *other != number);
        let result = result.unwrap_or_else(|panic| {
            self.cancels.iter().for_each(CancelToken::cancel);
            std::panic::resume_unwind(panic)
        });
        let time = self.began[number].map(|began| began.elapsed()).unwrap_or_default();
        self.standing.note(number, result.inspect_err(|_| self.cancels.iter().for_each(CancelToken::cancel))?, time);
        Ok(())
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
