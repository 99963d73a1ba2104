//! The conditions under which a check runs: cancellation, limits, and who watches.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::{Argument, Refinement, Solvers, Stop};

/// The conditions of one check. Loops call [`Run::tick`] at their head and after each long operation.
pub struct Run<'o> {
    cancel: CancelToken,
    limits: Limits,
    solvers: Solvers,
    solver_work: Option<u64>,
    start: Instant,
    observer: &'o dyn Observer,
    ticks: AtomicU32,
    conflicts: AtomicU64,
    /// The last event of this phase that says how far the search is.
    far: Mutex<Option<Event>>,
}

/// The conditions of a part of a check, which may outlive it in another thread.
#[derive(Clone)]
pub struct RunPart {
    /// Stops the part.
    pub cancel: CancelToken,
    limits: Limits,
    solvers: Solvers,
    solver_work: Option<u64>,
    start: Instant,
}

impl RunPart {
    /// The part as a run with its own observer.
    pub fn run<'o>(&self, observer: &'o dyn Observer) -> Run<'o> {
        let run = Run::new(self.cancel.clone(), self.limits, observer).since(self.start);
        Run { solver_work: self.solver_work, ..run.with_solvers(self.solvers.clone()) }
    }

    /// The same part, in which each solver of an engine may do so much work, in its own units. An engine whose solver
    /// has done it stops as if the part were stopped.
    #[must_use]
    pub fn with_solver_work(self, units: u64) -> RunPart {
        RunPart { solver_work: Some(units), ..self }
    }
}

/// The resources that a check may use.
#[derive(Clone, Copy, Default)]
pub struct Limits {
    /// Wall-clock time, from the start of the run.
    pub time: Option<Duration>,
    /// Bytes of memory in use.
    pub memory: Option<u64>,
    /// Tells the bytes in use now; without it the memory limit is not enforced.
    pub memory_in_use: Option<fn() -> u64>,
}

/// A switch that stops a check from outside. Clones are the same switch.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    own: Arc<AtomicBool>,
    /// The switch that stops this check together with others.
    above: Option<Arc<AtomicBool>>,
}

/// Something that happened in a check: plain numbers, for whoever shows progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A phase of the work begins.
    Phase(&'static str),
    /// A part of the search is closed.
    Closed(Argument),
    /// An explicit search has found `visited` states, of which `waiting` are not expanded; the newest is `depth` steps
    /// from the start.
    Searched {
        /// All states found.
        visited: usize,
        /// The states that are not expanded yet.
        waiting: usize,
        /// The steps from the start to the newest.
        depth: usize,
    },
    /// A symbolic search has done `rounds` rounds; `waiting` are known to be left; its diagrams have `nodes` nodes.
    Diagrams {
        /// The rounds done.
        rounds: usize,
        /// The rounds known to be left.
        waiting: usize,
        /// The nodes of all diagrams, garbage included.
        nodes: usize,
    },
    /// This number of threads reaches this number of thread states.
    ThreadStates {
        /// The threads.
        threads: usize,
        /// The thread states.
        states: usize,
    },
    /// In a search for any number of threads, views of `k` threads have been met for `views` lists of places, of which
    /// `waiting` are to be looked at again.
    Views {
        /// The threads of a view.
        k: usize,
        /// The lists of places.
        views: usize,
        /// The lists that wait.
        waiting: usize,
    },
    /// With `k` contexts per thread, or in `k` rounds, there is no error; that many valuations of the shared
    /// variables are reachable.
    SharedStates {
        /// The contexts per thread, or the rounds.
        k: u32,
        /// The valuations.
        states: u128,
    },
    /// All executions of `steps` steps are written as formulas, which have `nodes` nodes.
    Unwound {
        /// The steps.
        steps: usize,
        /// The nodes of all formulas.
        nodes: usize,
    },
    /// The SAT solvers of an engine have met this number of conflicts, in questions that take long.
    Solved {
        /// The conflicts of all these questions.
        conflicts: u64,
    },
    /// An abstraction of integers was looked at, or a part of it.
    Refined(Refinement),
}

/// Receives the events of a check.
pub trait Observer: Sync {
    /// Called when something happened. Must return quickly.
    fn event(&self, event: Event);
}

/// Watches nothing.
impl Observer for () {
    fn event(&self, _: Event) {}
}

impl<'o> Run<'o> {
    /// A run that starts now.
    pub fn new(cancel: CancelToken, limits: Limits, observer: &'o dyn Observer) -> Run<'o> {
        Run {
            cancel,
            limits,
            solvers: Solvers::default(),
            solver_work: None,
            start: Instant::now(),
            observer,
            ticks: AtomicU32::new(0),
            conflicts: AtomicU64::new(0),
            far: Mutex::default(),
        }
    }

    /// The same run, whose clock started at an earlier moment: reading the program counts too.
    #[must_use]
    pub fn since(self, start: Instant) -> Run<'o> {
        Run { start, ..self }
    }

    /// Returns the same run with these SMT solvers. By default there are no solvers.
    #[must_use]
    pub fn with_solvers(self, solvers: Solvers) -> Run<'o> {
        Run { solvers, ..self }
    }

    /// The SMT solvers that there are.
    pub fn solvers(&self) -> &Solvers {
        &self.solvers
    }

    /// Returns how much work each solver of an engine may do, in its own units; see [`RunPart::with_solver_work`].
    pub fn solver_work(&self) -> Option<u64> {
        self.solver_work
    }

    /// A part of the run that can be stopped on its own, and stops with the run. It has the run's limits and clock.
    /// Parts have no parts.
    pub fn part(&self) -> RunPart {
        let cancel = CancelToken { own: Arc::default(), above: Some(Arc::clone(&self.cancel.own)) };
        RunPart {
            cancel,
            limits: self.limits,
            solvers: self.solvers.clone(),
            solver_work: self.solver_work,
            start: self.start,
        }
    }

    /// Returns a run without limits and without an observer.
    pub fn unlimited() -> Run<'static> {
        Run::new(CancelToken::default(), Limits::default(), &())
    }

    /// Says whether the check must stop, and why. The clock is read once in 64 calls, so a call costs next to nothing.
    pub fn tick(&self) -> Result<(), Stop> {
        self.cancel.check()?;
        if self.ticks.fetch_add(1, Ordering::Relaxed).is_multiple_of(64) { self.check_limits() } else { Ok(()) }
    }

    /// Like [`Run::tick`], and always reads the clock: for work that takes long between two calls.
    pub fn check_limits(&self) -> Result<(), Stop> {
        self.cancel.check()?;
        if let Some(limit) = self.limits.time
            && self.start.elapsed() >= limit
        {
            return Err(Stop::TimeLimit(limit));
        }
        if let (Some(limit), Some(in_use)) = (self.limits.memory, self.limits.memory_in_use)
            && in_use() >= limit
        {
            return Err(Stop::MemoryLimit(limit));
        }
        Ok(())
    }

    /// Like [`Run::check_limits`], between two slices of the search of a SAT solver; the observer is told about the
    /// conflicts of the last one.
    pub fn check_search(&self, conflicts: u32) -> Result<(), Stop> {
        if conflicts > 0 {
            let before = self.conflicts.fetch_add(conflicts.into(), Ordering::Relaxed);
            self.event(Event::Solved { conflicts: before + u64::from(conflicts) });
        }
        self.check_limits()
    }

    /// Returns whether the whole check was cancelled, not only this part of it.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.check() == Err(Stop::Cancelled)
    }

    /// Tells the observer.
    pub fn event(&self, event: Event) {
        match event {
            Event::Phase(_) => self.set_far(None),
            Event::Closed(_) | Event::Solved { .. } => {}
            _ => self.set_far(Some(event)),
        }
        self.observer.event(event);
    }

    fn set_far(&self, event: Option<Event>) {
        *self.far.lock().unwrap_or_else(PoisonError::into_inner) = event;
    }

    /// Returns the last event of this phase that says how far the search is.
    pub fn far(&self) -> Option<Event> {
        *self.far.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes that the check may use, for engines that lay out their memory beforehand.
    pub fn memory_limit(&self) -> Option<u64> {
        self.limits.memory
    }

    /// Returns the time until the limit, if there is one.
    pub fn time_left(&self) -> Option<Duration> {
        self.limits.time.map(|limit| limit.saturating_sub(self.start.elapsed()))
    }

    /// The time since the start of the run.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

impl CancelToken {
    /// Asks the check to stop.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Returns whether the check was asked to stop.
    pub fn is_cancelled(&self) -> bool {
        let is_set = |switch: &Arc<AtomicBool>| switch.load(Ordering::Relaxed);
        is_set(&self.own) || self.above.as_ref().is_some_and(is_set)
    }

    /// Says whether the check must stop, and whether all of it or only this part.
    fn check(&self) -> Result<(), Stop> {
        let is_set = |switch: &Arc<AtomicBool>| switch.load(Ordering::Relaxed);
        match &self.above {
            Some(above) if is_set(above) => Err(Stop::Cancelled),
            Some(_) if is_set(&self.own) => Err(Stop::PartStopped),
            None if is_set(&self.own) => Err(Stop::Cancelled),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_stops_alone_or_with_the_whole() {
        let run = Run::unlimited();
        let (one, other) = (run.part(), run.part());
        let (first, second) = (one.run(&()), other.run(&()));
        one.cancel.cancel();
        assert_eq!((first.tick(), second.tick(), run.tick()), (Err(Stop::PartStopped), Ok(()), Ok(())));
        run.cancel.cancel();
        assert_eq!((first.tick(), second.tick()), (Err(Stop::Cancelled), Err(Stop::Cancelled)));
    }
}
