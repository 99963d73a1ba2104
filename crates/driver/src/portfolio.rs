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
use std::time::{Duration, Instant};

use selvedge_check::{Answer, CancelToken, EngineEnd, EngineRun, Event, Observer, Outcome, Reason, Run, Stop};
use selvedge_engines::EngineKind;
use selvedge_engines::table::Row;
use selvedge_ir::callgraph::CallGraph;

use crate::attempt::{Attempt, CONTROL_FLOW, attempt, by_control_flow, equipped, takes};
use crate::defect::{Panic, guard};
use crate::threads;
use crate::{Failure, Minimize, Options, Prepared, minimize, shortest};

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

/// The time that engines have to notice that the run must stop.
const NOTICE: Duration = Duration::from_millis(200);

/// The most steps of executions that `bmc` looks at beside other engines.
const MOST_STEPS: u32 = 1_000_000;

/// The most nodes of the circuit of `bmc` beside other engines.
const MOST_NODES: usize = 5_000_000;

/// The longest time between two looks at the limits of the run.
const LOOK: Duration = Duration::from_millis(20);

/// The attempt whose answer is reported, the engine that made it, and the runs of all engines.
struct Best {
    row: &'static Row,
    attempt: Attempt,
    runs: Vec<EngineRun>,
}

/// Decides a question by the engine that the user names, or by engines that suit it.
pub(crate) fn decide(prepared: &Arc<Prepared>, options: &Options, run: &Run<'_>) -> Result<Answer, Failure> {
    run.event(Event::Phase("choosing"));
    let options = &without_step_bound(options);
    let mut defects = Vec::new();
    if options.engine.is_none() {
        let panicked = |Panic { message }| Some(Err(Failure::Panicked { engine: CONTROL_FLOW, message }));
        match guard(|| by_control_flow(prepared, run)).unwrap_or_else(panicked) {
            Some(Ok(attempt)) => return Ok(answer(prepared, attempt, Vec::new())),
            Some(Err(failure)) => defects.push(defect(CONTROL_FLOW, Duration::ZERO, &failure)),
            None => {}
        }
    }
    let Best { mut row, mut attempt, mut runs } = run_team(prepared, team(prepared, options), options, run)?;
    if let (Outcome::Unsafe(found), true) = (&attempt.outcome, options.shortest) {
        run.event(Event::Phase("shortening"));
        if let Some(shorter) = shortest::shorter(prepared, found.trace.length(), options, run) {
            (row, attempt) = (EngineKind::Bmc.row(), Attempt { engine: attempt.engine, ..shorter });
        }
    }
    if let (Outcome::Unsafe(found), Minimize::Yes) = (&mut attempt.outcome, options.minimize) {
        run.event(Event::Phase("minimizing"));
        let minimized = guard(|| {
            let (engine, simplified) = equipped(prepared, row, options);
            let task = prepared.task();
            let fewer = minimize::with_fewer_threads(&task, &*engine, &simplified, (**found).clone());
            minimize::minimize(&task, fewer)
        });
        match minimized {
            Ok(minimized) => **found = minimized,
            // The execution that was found is as good, only longer.
            Err(Panic { message }) => {
                defects.push(defect(row.name, Duration::ZERO, &Failure::Panicked { engine: row.name, message }));
            }
        }
    }
    runs.extend(defects);
    Ok(answer(prepared, attempt, runs))
}

/// Returns the options with which engines run side by side: there `bmc` has no bound on steps but the work of the
/// others.
fn without_step_bound(options: &Options) -> Options {
    let mut options = options.clone();
    if options.engine.is_none() {
        options.engine_options.bmc.steps = MOST_STEPS;
    }
    options
}

/// Returns whether an engine finds errors and proves nothing: it works beside others, not alone.
fn only_finds_errors(row: &Row) -> bool {
    row.name == EngineKind::Bmc.name()
}

/// Returns the run of an engine that ended in a defect.
pub(crate) fn defect(engine: &'static str, time: Duration, failure: &Failure) -> EngineRun {
    EngineRun { engine, time, end: EngineEnd::Defect(failure.to_string()) }
}

fn answer(prepared: &Prepared, attempt: Attempt, runs: Vec<EngineRun>) -> Answer {
    Answer {
        runs,
        certifier: attempt.certifier,
        unchecked: attempt.unchecked,
        own_judge: attempt.own_judge,
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
        // Alone they would answer without certificate: the passes of `sat` have left one thread of several.
        Some(team) if !team.contains(&EngineKind::Summaries) && team.contains(&EngineKind::Sat) => {
            [teams.next().unwrap_or_default(), team].concat()
        }
        // Programs of one thread with numbers often compute with few values, which are tried one by one: circuits over
        // bits in decision diagrams are large.
        Some(team) if team.contains(&EngineKind::Summaries) && prepared.task().program.has_machine_integers() => {
            let others = team.iter().copied().filter(|kind| *kind != EngineKind::Summaries);
            let (first, rest): (Vec<_>, Vec<_>) = others.partition(|kind| *kind == EngineKind::Sat);
            [takers(&[EngineKind::Pushdown]), first, vec![EngineKind::Summaries], rest].concat()
        }
        // A proof for any number of threads is one for a bounded number.
        Some(team) if team.contains(&EngineKind::Threads) => [team, takers(&[EngineKind::Facts])].concat(),
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
    if worth(&more.attempt) == Worth::Open {
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
    /// Safe without a certificate, or with one that only the solver judged which found it.
    Uncertified,
    /// With evidence.
    Judged,
}

fn worth(attempt: &Attempt) -> Worth {
    match (&attempt.outcome, attempt.own_judge) {
        (Outcome::Unknown(_), _) => Worth::Open,
        (Outcome::Safe(None), _) | (Outcome::Safe(Some(_)), Some(_)) => Worth::Uncertified,
        (Outcome::Safe(Some(_)), None) | (Outcome::Unsafe(_), _) => Worth::Judged,
    }
}

/// The order in which attempts are reported: by what the answer is worth, and without an answer by the reason.
fn rank(attempt: &Attempt) -> (Worth, Urgency) {
    (worth(attempt), urgency(&attempt.outcome))
}

/// The reasons to have no answer. With a higher limit an engine might have had one, which users should know, whatever
/// the bounds of other engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Urgency {
    /// Its turn was over.
    Turn,
    /// A bound of the engine's own.
    Bound,
    /// A limit of the run, or something that went wrong.
    Trouble,
}

fn urgency(outcome: &Outcome) -> Urgency {
    match outcome {
        Outcome::Unknown(Reason::Stop(Stop::PartStopped)) => Urgency::Turn,
        Outcome::Unknown(Reason::Stop(Stop::BoundReached(_))) => Urgency::Bound,
        _ => Urgency::Trouble,
    }
}

fn end_of(attempt: &Attempt) -> EngineEnd {
    match &attempt.outcome {
        Outcome::Unknown(reason) => EngineEnd::GaveUp(reason.clone()),
        Outcome::Safe(_) | Outcome::Unsafe(_) => EngineEnd::Answered,
    }
}

/// A team, the best answer yet, the first failure, and the runs that have ended.
struct Standing {
    team: Vec<&'static Row>,
    runs: Vec<Option<EngineRun>>,
    best: Option<(usize, Attempt)>,
    failure: Option<Failure>,
}

impl Standing {
    fn new(team: Vec<&'static Row>) -> Standing {
        Standing { runs: vec![None; team.len()], team, best: None, failure: None }
    }

    /// Notes the attempt of an engine, or the defect that ended it.
    fn note(&mut self, number: usize, attempt: Result<Attempt, Failure>, time: Duration) {
        let attempt = match attempt {
            Ok(attempt) => attempt,
            Err(failure) => {
                self.runs[number] = Some(defect(self.team[number].name, time, &failure));
                self.failure.get_or_insert(failure);
                return;
            }
        };
        let is_better = self.best.as_ref().is_none_or(|(_, best)| rank(&attempt) > rank(best));
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
        self.best.as_ref().map_or(Worth::Open, |(_, attempt)| worth(attempt))
    }

    /// Ends it. Engines that began and have not ended were overtaken, or did not notice that the run must stop. Without
    /// an answer, a defect of an engine is a failure.
    fn close(mut self, prepared: &Prepared, began: &[Option<Instant>], run: &Run<'_>) -> Result<Best, Failure> {
        let stop = if self.worth() == Worth::Open { run.check_limits().err() } else { None };
        for (number, row) in self.team.iter().enumerate() {
            if let (None, Some(began)) = (&self.runs[number], began[number]) {
                let end = stop.map_or(EngineEnd::Overtaken, |stop| EngineEnd::GaveUp(Reason::Stop(stop)));
                self.runs[number] = Some(EngineRun { engine: row.name, time: began.elapsed(), end });
            }
        }
        if let (Worth::Open, Some(failure)) = (self.worth(), self.failure) {
            return Err(failure);
        }
        let stopped = |stop| (0, Attempt::stopped(prepared, self.team[0], stop));
        let was_stopped = stop.is_some_and(|stop| {
            let end = EngineEnd::GaveUp(Reason::Stop(stop));
            self.runs.iter().flatten().any(|run| run.end == end)
        });
        let best = self.best.filter(|(_, attempt)| match urgency(&attempt.outcome) {
            Urgency::Turn => stop.is_none(),
            Urgency::Bound => !was_stopped,
            Urgency::Trouble => true,
        });
        let (number, attempt) = best.unwrap_or_else(|| stopped(stop.unwrap_or(Stop::PartStopped)));
        if let (Some(run), true) = (&mut self.runs[number], worth(&attempt) > Worth::Open) {
            run.end = EngineEnd::Answered;
        }
        Ok(Best { row: self.team[number], attempt, runs: self.runs.into_iter().flatten().collect() })
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
        while self.standing.worth() == Worth::Open && self.can_prove() && budget <= self.most {
            for number in std::mem::take(&mut self.playing) {
                let attempt = self.turn(number, prepared, options, run, budget);
                let time = attempt.as_ref().map_or(Duration::ZERO, |attempt| attempt.times.total());
                let is_over = attempt.as_ref().is_ok_and(|attempt| is_part_stopped(&attempt.outcome));
                if is_over && run.check_limits().is_ok() {
                    self.playing.push(number);
                }
                self.standing.note(number, attempt, time);
                if self.standing.worth() == Worth::Judged {
                    return self.standing.close(prepared, &began, run);
                }
            }
            let alone = self.playing.len() == 1 && self.most == usize::MAX;
            budget = if alone { usize::MAX } else { budget.saturating_mul(8) };
        }
        self.standing.close(prepared, &began, run)
    }

    /// Returns whether an engine is left that can answer "safe".
    fn can_prove(&self) -> bool {
        self.playing.iter().any(|number| !only_finds_errors(self.standing.team[*number]))
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
        let row = self.standing.team[number];
        let observer = BudgetObserver { row, budget, run, cancel: part.cancel.clone() };
        attempt(prepared, row, options, &part.run(&observer))
    }
}

/// Returns whether an engine stopped since its turn was over.
fn is_part_stopped(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown(Reason::Stop(Stop::PartStopped)))
}

/// Stops an engine that has used up its budget, counted in its events.
struct BudgetObserver<'r, 'o> {
    row: &'static Row,
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
            // Long executions are cheap for `bmc` as long as their circuit is small.
            Event::Unwound { steps, nodes } if only_finds_errors(self.row) => (steps / 2_000).max(nodes / 50_000),
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
    Done(usize, Box<Result<Attempt, Failure>>),
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
    fn show(&self, number: usize, event: Event, run: &Run<'_>) {
        let is_large = matches!(event, Event::Unwound { nodes, .. } if nodes > MOST_NODES);
        if is_large && only_finds_errors(self.standing.team[number]) {
            self.cancels[number].cancel();
        }
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

#[cfg(test)]
mod tests {
    use selvedge_check::{Engine, Explanation, OwnedTask, Task, ThreadScope, Unsupported, Verdict};
    use selvedge_ir::text::parse_with_target;

    use super::*;

    /// An engine with a defect.
    enum Defective {
        Panics,
        Lies,
        /// It never looks at its limits.
        Deaf,
        /// It ends at a bound.
        Bounded,
    }

    impl Engine for Defective {
        fn name(&self) -> &'static str {
            "defective"
        }

        fn supports(&self, _: &Task<'_>) -> Result<(), Unsupported> {
            Ok(())
        }

        fn decide(&self, _: &Task<'_>, _: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
            match self {
                Defective::Panics => panic!("this cannot happen"),
                Defective::Lies => Ok(Verdict::Unsafe(selvedge_check::Trace::default())),
                Defective::Bounded => Err(Stop::BoundReached(selvedge_check::Bound::Steps(1))),
                Defective::Deaf => loop {
                    std::thread::sleep(Duration::from_millis(10));
                },
            }
        }
    }

    const fn row(build: fn(&selvedge_engines::EngineOptions) -> Box<dyn Engine>) -> Row {
        use selvedge_engines::table::{Scope, Threads, Values};
        let scope = Scope { threads: Threads::UpToN, recursion: true, values: Values::Booleans };
        Row { name: "defective", scope, idea: "a toy", options: &[], passes: &[], build }
    }

    static PANICS: Row = row(|_| Box::new(Defective::Panics));
    static LIES: Row = row(|_| Box::new(Defective::Lies));
    static DEAF: Row = row(|_| Box::new(Defective::Deaf));
    static BOUNDED: Row = row(|_| Box::new(Defective::Bounded));

    fn ask(team: &[&'static Row], jobs: usize, run: &Run<'_>) -> Result<Best, Failure> {
        crate::defect::install();
        let text = "shared x: bool\ninit x := F\nproc main() from L0 to L2\nL0 -> L1: x := T\n\
            L1 -> L2: assert x\nstart main\ntarget e1";
        let (program, target) = parse_with_target(text).expect("it is well-formed");
        let prepared = Prepared::new(OwnedTask { program, target, threads: ThreadScope::Unbounded });
        run_team(&prepared, team.to_vec(), &Options { jobs, ..Options::default() }, run)
    }

    #[test]
    fn a_defect_of_one_engine_is_reported_and_the_others_go_on() {
        for (defective, expected) in [(&PANICS, "panicked: this cannot happen (at "), (&LIES, "judge disagree")] {
            for jobs in [1, 2] {
                let team = [defective, EngineKind::Summaries.row()];
                let best = ask(&team, jobs, &Run::unlimited()).expect("another engine answers");
                assert!(matches!(best.attempt.outcome, Outcome::Safe(Some(_))), "{:?}", best.attempt);
                let [first, second] = best.runs.as_slice() else { panic!("{:?}", best.runs) };
                let EngineEnd::Defect(message) = &first.end else { panic!("{first:?}") };
                assert!(message.contains(expected), "{message}");
                assert_eq!(second.end, EngineEnd::Answered);
            }
        }
    }

    #[test]
    fn a_defect_is_a_failure_where_no_engine_answers() {
        for team in [&[&PANICS][..], &[&PANICS, &LIES]] {
            for jobs in [1, 2] {
                let failure = ask(team, jobs, &Run::unlimited()).err();
                assert!(matches!(failure, Some(Failure::Panicked { engine: "defective", .. })), "{failure:?}");
            }
        }
    }

    #[test]
    fn a_limit_that_ended_an_engine_is_the_reason_whatever_the_bounds_of_others() {
        let limit = Duration::from_millis(100);
        let limits = selvedge_check::Limits { time: Some(limit), ..selvedge_check::Limits::default() };
        let run = Run::new(CancelToken::default(), limits, &());
        let best = ask(&[&BOUNDED, &DEAF], 2, &run).expect("there is no defect");
        assert_eq!(best.attempt.outcome.reason(), Some(&Reason::Stop(Stop::TimeLimit(limit))));
        let bound = Reason::Stop(Stop::BoundReached(selvedge_check::Bound::Steps(1)));
        let best = ask(&[&BOUNDED, &BOUNDED], 2, &Run::unlimited()).expect("there is no defect");
        assert_eq!(best.attempt.outcome.reason(), Some(&bound));
    }

    #[test]
    fn an_engine_that_does_not_look_at_its_limits_is_left_behind() {
        let limit = Duration::from_millis(50);
        let limits = selvedge_check::Limits { time: Some(limit), ..selvedge_check::Limits::default() };
        let run = Run::new(CancelToken::default(), limits, &());
        let best = ask(&[&DEAF, &DEAF], 2, &run).expect("there is no defect");
        let stop = Reason::Stop(Stop::TimeLimit(limit));
        assert_eq!(best.attempt.outcome.reason(), Some(&stop));
        assert!(best.runs.iter().all(|run| run.end == EngineEnd::GaveUp(stop.clone())), "{:?}", best.runs);
        assert!(run.elapsed() < Duration::from_secs(2), "{:?}", run.elapsed());
    }
}
