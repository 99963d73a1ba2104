//! How a check may run: its limits, its engines, the switch that stops it, and who listens.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use selvedge_check::{Event, InvalidQuestion, Observer, Run, Solvers};
use selvedge_driver::external::find_solvers;
use selvedge_engines::EngineKind;

use crate::Error;

/// Stops checks from outside, also from other threads. Clones are the same switch.
///
/// ```
/// use selvedge::{CancelToken, Limits, Program, Question, Verdict, check};
///
/// let cancel = CancelToken::default();
/// cancel.cancel();
/// let program: Program = "void main() begin assert(0); end".parse()?;
/// let answer = check(&program, &Question::new(), &Limits::default().cancel(&cancel))?;
/// assert_eq!(answer.verdict(), Verdict::Unknown);
/// # Ok::<(), selvedge::Error>(())
/// ```
pub use selvedge_check::CancelToken;

type Listener = Arc<dyn Fn(Progress) + Send + Sync>;

/// How a check may run. The default has no limits, and runs engines in parallel that suit the program.
#[derive(Clone, Default)]
#[must_use]
pub struct Limits {
    time: Option<Duration>,
    memory: Option<u64>,
    jobs: Option<usize>,
    engine: Option<String>,
    cancel: CancelToken,
    progress: Option<Listener>,
}

/// What a check is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The phase that begins, if one does: `searching`, `judging` and others, words for people.
    pub phase: Option<&'static str>,
    /// The number of states, views or nodes that the engine has found.
    pub found: Option<u64>,
    /// The number of those that wait.
    pub waiting: Option<u64>,
}

impl Limits {
    /// Sets the time after which a check stops, without an answer. The clock starts with the call of
    /// [`check`](crate::check).
    pub fn time(self, time: Duration) -> Limits {
        Limits { time: Some(time), ..self }
    }

    /// Sets the memory of the process, in bytes, beyond which a check stops, without an answer. Only Linux tells the
    /// memory in use: elsewhere a check with such a limit is refused.
    pub fn memory(self, bytes: u64) -> Limits {
        Limits { memory: Some(bytes), ..self }
    }

    /// Sets how many engines run in parallel; without it, as many as the machine has processors. With one they take
    /// turns, and the answer is the same each time.
    pub fn jobs(self, jobs: usize) -> Limits {
        Limits { jobs: Some(jobs.max(1)), ..self }
    }

    /// Sets the engine, by its name in the table of engines, instead of several that suit the program.
    pub fn engine(self, name: impl Into<String>) -> Limits {
        Limits { engine: Some(name.into()), ..self }
    }

    /// Sets the switch that stops the check.
    pub fn cancel(self, cancel: &CancelToken) -> Limits {
        Limits { cancel: cancel.clone(), ..self }
    }

    /// Sets who listens. Engines call the function from their threads, so it must return quickly.
    pub fn progress(self, listener: impl Fn(Progress) + Send + Sync + 'static) -> Limits {
        Limits { progress: Some(Arc::new(listener)), ..self }
    }

    pub(crate) fn parallel(&self) -> usize {
        self.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get))
    }

    /// Returns the engine that the caller names.
    pub(crate) fn named_engine(&self) -> Result<Option<EngineKind>, Error> {
        let Some(name) = self.engine.as_deref().filter(|name| *name != "auto") else { return Ok(None) };
        EngineKind::from_name(name).map(Some).ok_or_else(|| {
            let names: Vec<&str> = EngineKind::ALL.iter().map(|engine| engine.name()).collect();
            let help = Some(format!("the engines are auto, {}", names.join(", ")));
            InvalidQuestion { message: format!("there is no engine `{name}`"), help }.into()
        })
    }

    /// Returns the conditions of a check that starts now.
    pub(crate) fn run<'o>(&self, observer: &'o dyn Observer) -> Result<Run<'o>, Error> {
        if self.memory.is_some() && resident().is_none() {
            let message = "this system does not tell how much memory is in use".to_string();
            return Err(InvalidQuestion { message, help: Some("leave out the limit on memory".to_string()) }.into());
        }
        let limits = selvedge_check::Limits { time: self.time, memory: self.memory, memory_in_use: Some(in_use) };
        Ok(Run::new(self.cancel.clone(), limits, observer).with_solvers(find_solvers(&Solvers::default())))
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { time, memory, jobs, engine, cancel, progress } = self;
        let mut text = f.debug_struct("Limits");
        text.field("time", time).field("memory", memory).field("jobs", jobs).field("engine", engine);
        text.field("cancel", cancel).field("progress", &progress.is_some()).finish()
    }
}

/// Hands events on to the one who listens.
pub(crate) struct Listening<'a>(pub(crate) &'a Limits);

impl Observer for Listening<'_> {
    fn event(&self, event: Event) {
        if let Some(listener) = &self.0.progress {
            listener(Progress::of(event));
        }
    }
}

impl Progress {
    fn of(event: Event) -> Progress {
        let number = |number: usize| Some(number as u64);
        let (phase, found, waiting) = match event {
            Event::Phase(phase) => (Some(phase), None, None),
            Event::Closed(_) => (None, None, None),
            Event::Searched { visited, waiting, .. } => (None, number(visited), number(waiting)),
            Event::Diagrams { nodes, waiting, .. } => (None, number(nodes), number(waiting)),
            Event::ThreadStates { states, .. } => (None, number(states), None),
            Event::Views { views, waiting, .. } => (None, number(views), number(waiting)),
            Event::SharedStates { states, .. } => (None, u64::try_from(states).ok(), None),
            Event::Solved { conflicts } => (None, Some(conflicts), None),
            Event::Unwound { nodes, .. } => (None, number(nodes), None),
            Event::Refined(refinement) => (None, number(refinement.states), None),
        };
        Progress { phase, found, waiting }
    }
}

/// The last look at the memory: the bytes, and the milliseconds since the first look.
static RESIDENT: AtomicU64 = AtomicU64::new(0);
static LOOKED: AtomicU64 = AtomicU64::new(u64::MAX);

/// The milliseconds between two looks.
const PAUSE: u64 = 4;

/// Returns the bytes of memory that the process has and no file backs.
fn in_use() -> u64 {
    static FIRST: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let now = FIRST.elapsed().as_millis() as u64;
    let looked = LOOKED.load(Ordering::Relaxed);
    if looked == u64::MAX || now >= looked.saturating_add(PAUSE) {
        LOOKED.store(now, Ordering::Relaxed);
        RESIDENT.store(resident().unwrap_or(0), Ordering::Relaxed);
    }
    RESIDENT.load(Ordering::Relaxed)
}

/// Returns the same, if the system tells it.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
