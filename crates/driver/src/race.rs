//! The portfolio: which engines suit a question, and how they run side by side or in turns.
//!
//! Side by side, the first engine has a short start over the others, so that easy questions are always answered by the
//! same one; then as many run as there are jobs, and when one gives up or has had its time, the next begins. One that has
//! had its time goes on beside the others, who would never get their turn otherwise. The first judged answer wins and stops
//! the others. In turns, with one job, each engine gets a budget of work, counted in its own events and its solver's
//! units and not by the clock, which grows from round to round; so the same question has the same answer, trace and winner
//! each time. Either way a `safe` without certificate waits for a while for one with a certificate.
//!
//! Side by side, it ends when the engines do. In turns, it ends because a budget that grows without bound does not stop
//! an engine that ends. Both are right because every answer was judged where it was found.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Event, Observer, Run, Stop, Task, ThreadScope};
use selvedge_engines::EngineKind;
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::{Program, Target};

use crate::attempt::{Attempt, Member, attempt};
use crate::{Failure, Options, Outcome, Reason};

/// How long the first engine runs alone.
const HEAD_START: Duration = Duration::from_millis(30);

/// After how long an engine that has no answer stands in nobody's way any more.
const SLOW: Duration = Duration::from_millis(1000);

/// How long a `safe` without certificate waits for one with a certificate, at least.
const GRACE: Duration = Duration::from_millis(500);

/// The greatest budget of engines that look at all executions where some were asked about.
const MOST_HANDED_OVER: usize = 64;

/// How much work a solver does for an engine with a budget of one, in Z3's units: about half a second.
const SOLVER_WORK: u64 = 1_000_000;

/// The stack of an engine's thread: decision diagrams recurse deeply.
const STACK: usize = 1 << 30;

/// One engine's part in a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// Who.
    pub engine: &'static str,
    /// For how long.
    pub time: Duration,
    /// What became of it.
    pub end: LegEnd,
}

/// What became of an engine's part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LegEnd {
    /// Its answer is the one that counts.
    Won,
    /// Another answered before.
    Overtaken,
    /// It gave up.
    GaveUp(Reason),
}

/// The attempt that counts, by which member of the team, and what became of all.
pub(crate) struct Raced {
    pub(crate) winner: Member,
    pub(crate) attempt: Attempt,
    pub(crate) legs: Vec<Leg>,
}

/// The engine that the user names. Else those that take a question, of the group that suits it best, the most promising
/// first; the oracle if nobody does.
pub(crate) fn team(task: &Task<'_>, options: &Options) -> Vec<Member> {
    if let Some(kind) = options.engine {
        return vec![Member { kind, options: options.engine_options.clone() }];
    }
    if in_turns(options) {
        return vec![member(EngineKind::Contexts, options)];
    }
    if in_rounds(options) {
        return vec![member(EngineKind::Rounds, options)];
    }
    without_bound(task, options)
}

/// Whether a number of contexts is asked about, and the choice of the engine is ours.
fn in_turns(options: &Options) -> bool {
    options.engine.is_none() && options.engine_options.contexts.bound.is_some()
}

/// Whether a number of rounds is asked about, and the choice of the engine is ours.
fn in_rounds(options: &Options) -> bool {
    options.engine.is_none() && options.engine_options.rounds.bound.is_some()
}

/// Those that take a question about all executions.
fn without_bound(task: &Task<'_>, options: &Options) -> Vec<Member> {
    let takers = |kinds: &[EngineKind]| -> Vec<Member> {
        let members = kinds.iter().map(|kind| member(*kind, options));
        members.filter(|member| member.takes(task, options)).collect()
    };
    let mut teams = EngineKind::PORTFOLIO.into_iter().map(takers).filter(|team| !team.is_empty());
    let Some(mut team) = teams.next() else {
        // Recursion with any number of threads: nobody decides that, but errors can be found.
        let mut last = takers(&[EngineKind::Rounds]);
        last.push(member(EngineKind::Exhaustive, options));
        return last;
    };
    // Alone it would answer without certificate: its passes have left one thread of several.
    if team.iter().all(|member| member.kind == EngineKind::Sat) {
        team.splice(0..0, teams.next().unwrap_or_default());
    }
    team
}

/// An engine in a team, with what the user says. Partial orders are off unless the user wants one: a certificate needs all
/// states, and those that a partial order left out are explored after all.
fn member(kind: EngineKind, options: &Options) -> Member {
    Member { kind, options: options.engine_options.clone() }
}

/// Asks a team.
pub(crate) fn race(task: &Task<'_>, team: Vec<Member>, options: &Options, run: &Run<'_>) -> Result<Raced, Failure> {
    match team.as_slice() {
        [member] => {
            let attempt = attempt(task, member, options, run)?;
            let leg = Leg { engine: attempt.engine, time: attempt.times.total(), end: end_of(&attempt) };
            let alone = Raced { winner: member.clone(), attempt, legs: vec![leg] };
            if in_turns(options) || in_rounds(options) { hand_over(task, alone, options, run) } else { Ok(alone) }
        }
        _ if options.jobs <= 1 => Turns::new(team, usize::MAX).take(task, options, run),
        _ => SideBySide::new(task, team, options).go(run),
    }
}

/// Where there is no error within a number of contexts or rounds, and no recursion, engines that look at all executions get a
/// chance to say more, with little work.
fn hand_over(task: &Task<'_>, bounded: Raced, options: &Options, run: &Run<'_>) -> Result<Raced, Failure> {
    let at_bound = matches!(bounded.attempt.outcome, Outcome::Unknown(Reason::Stop(Stop::BoundReached(_))));
    if !at_bound || CallGraph::new(task.program).has_recursion() {
        return Ok(bounded);
    }
    let mut more = Turns::new(without_bound(task, options), MOST_HANDED_OVER).take(task, options, run)?;
    if worth(&more.attempt.outcome) == Worth::Open {
        return Ok(bounded);
    }
    if matches!(more.attempt.outcome, Outcome::Safe(_)) {
        more.attempt.explanation.contexts = bounded.attempt.explanation.contexts;
        more.attempt.explanation.rounds = bounded.attempt.explanation.rounds;
    }
    more.legs.splice(0..0, bounded.legs);
    Ok(more)
}

/// How good an answer is.
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

fn end_of(attempt: &Attempt) -> LegEnd {
    match &attempt.outcome {
        Outcome::Unknown(reason) => LegEnd::GaveUp(reason.clone()),
        Outcome::Safe(_) | Outcome::Unsafe(_) => LegEnd::Won,
    }
}

/// A team, the best answer yet, and who has given up.
struct Standing {
    team: Vec<Member>,
    legs: Vec<Option<Leg>>,
    best: Option<(usize, Attempt)>,
}

impl Standing {
    fn new(team: Vec<Member>) -> Standing {
        Standing { legs: vec![None; team.len()], team, best: None }
    }

    /// A member has come to this.
    fn note(&mut self, number: usize, attempt: Attempt, time: Duration) {
        let best = self.best.as_ref().map_or(Worth::Open, |(_, attempt)| worth(&attempt.outcome));
        let is_better = self.best.is_none() || worth(&attempt.outcome) > best;
        let end = match end_of(&attempt) {
            LegEnd::Won => LegEnd::Overtaken,
            end => end,
        };
        self.legs[number] = Some(Leg { engine: attempt.engine, time, end });
        if is_better {
            self.best = Some((number, attempt));
        }
    }

    fn worth(&self) -> Worth {
        self.best.as_ref().map_or(Worth::Open, |(_, attempt)| worth(&attempt.outcome))
    }

    /// The end: whoever has no leg and began so long ago was overtaken.
    fn close(mut self, began: &[Option<Instant>]) -> Raced {
        for (number, member) in self.team.iter().enumerate() {
            if let (None, Some(began)) = (&self.legs[number], began[number]) {
                let leg = Leg { engine: member.engine().name(), time: began.elapsed(), end: LegEnd::Overtaken };
                self.legs[number] = Some(leg);
            }
        }
        let (number, attempt) = self.best.expect("somebody came to an end");
        if let (Some(leg), true) = (&mut self.legs[number], worth(&attempt.outcome) > Worth::Open) {
            leg.end = LegEnd::Won;
        }
        Raced { winner: self.team.swap_remove(number), attempt, legs: self.legs.into_iter().flatten().collect() }
    }
}

/// A team whose members take turns.
struct Turns {
    standing: Standing,
    /// Those that have not given up.
    playing: Vec<usize>,
    /// The greatest budget that somebody gets.
    most: usize,
}

impl Turns {
    fn new(team: Vec<Member>, most: usize) -> Turns {
        Turns { playing: (0..team.len()).collect(), standing: Standing::new(team), most }
    }

    fn take(mut self, task: &Task<'_>, options: &Options, run: &Run<'_>) -> Result<Raced, Failure> {
        let began = vec![None; self.standing.team.len()];
        let mut budget = 1;
        while self.standing.worth() == Worth::Open && !self.playing.is_empty() && budget <= self.most {
            for number in std::mem::take(&mut self.playing) {
                let attempt = self.turn(number, task, options, run, budget)?;
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

    /// A member works until it has used up the budget.
    fn turn(
        &self,
        number: usize,
        task: &Task<'_>,
        options: &Options,
        run: &Run<'_>,
        budget: usize,
    ) -> Result<Attempt, Failure> {
        let part = match u64::try_from(budget) {
            Ok(budget) if budget < u64::MAX => run.part().with_solver_work(budget.saturating_mul(SOLVER_WORK)),
            _ => run.part(),
        };
        let purse = Purse { budget, run, cancel: part.cancel.clone() };
        attempt(task, &self.standing.team[number], options, &part.run(&purse))
    }
}

fn is_interrupted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown(Reason::Stop(Stop::Cancelled)))
}

/// Stops an engine that has worked for so long, by what it has done.
struct Purse<'r, 'o> {
    budget: usize,
    run: &'r Run<'o>,
    cancel: CancelToken,
}

impl Observer for Purse<'_, '_> {
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

/// A question that outlives whoever asked it: an engine that was overtaken may need a moment to notice.
struct Owned {
    program: Program,
    target: Target,
    threads: ThreadScope,
    options: Options,
}

/// What an engine's thread says.
enum Message {
    Event(usize, Event),
    Done(usize, Box<thread::Result<Result<Attempt, Failure>>>),
}

/// A team whose members run at the same time.
struct SideBySide {
    question: Arc<Owned>,
    standing: Standing,
    /// When each began.
    began: Vec<Option<Instant>>,
    cancels: Vec<CancelToken>,
    running: Vec<usize>,
    sender: Sender<Message>,
    receiver: Receiver<Message>,
}

impl SideBySide {
    fn new(task: &Task<'_>, team: Vec<Member>, options: &Options) -> SideBySide {
        let question = Owned {
            program: task.program.clone(),
            target: task.target.clone(),
            threads: task.threads,
            options: options.clone(),
        };
        let (sender, receiver) = mpsc::channel();
        SideBySide {
            question: Arc::new(question),
            began: vec![None; team.len()],
            standing: Standing::new(team),
            cancels: Vec::new(),
            running: Vec::new(),
            sender,
            receiver,
        }
    }

    fn go(mut self, run: &Run<'_>) -> Result<Raced, Failure> {
        let jobs = self.question.options.jobs;
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
                    let found =
                        self.standing.best.as_ref().and_then(|(number, _)| self.standing.legs[*number].as_ref());
                    let wait = found.map_or(GRACE, |leg| leg.time.max(GRACE) + leg.time);
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

    /// How many of those that run have had their time.
    fn n_slow(&self) -> usize {
        self.ages().filter(|age| *age >= SLOW).count()
    }

    /// How long until one more has had its time, if another could begin then.
    fn until_slow(&self) -> Option<Duration> {
        let rest = self.ages().filter_map(|age| SLOW.checked_sub(age)).filter(|rest| !rest.is_zero()).min();
        rest.filter(|_| self.cancels.len() < self.standing.team.len())
    }

    /// How long those have run that do.
    fn ages(&self) -> impl Iterator<Item = Duration> {
        self.running.iter().filter_map(|number| self.began[*number].map(|began| began.elapsed()))
    }

    /// Starts the next member, if there is one.
    fn start(&mut self, run: &Run<'_>) -> bool {
        let number = self.cancels.len();
        let Some(member) = self.standing.team.get(number).cloned() else { return false };
        let (question, sender) = (Arc::clone(&self.question), self.sender.clone());
        let reporter = Reporter { number, sender: sender.clone() };
        let part = run.part();
        self.cancels.push(part.cancel.clone());
        let work = move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let Owned { program, target, threads, options } = &*question;
                let task = Task { program, target, threads: *threads };
                attempt(&task, &member, options, &part.run(&reporter))
            }));
            // Nobody listens any more if another was faster.
            let _ = sender.send(Message::Done(number, Box::new(result)));
        };
        thread::Builder::new().stack_size(STACK).spawn(work).expect("the system gives a thread");
        self.began[number] = Some(Instant::now());
        self.running.push(number);
        true
    }

    /// Passes on what the longest running engine tells.
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
