//! A program that is simplified once for each list of passes, whoever asks for it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use selvedge_check::{Engine, OwnedTask, Task, ThreadScope};

use crate::{Pass, Simplified};

/// A task, with the simplified programs that were made of it.
pub(crate) struct Prepared {
    task: OwnedTask,
    known: Mutex<Vec<(Recipe, Option<Arc<Simplified>>)>>,
}

/// A list of passes, with the treatment of the thread bound.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Recipe {
    /// Set if the program is written over bits first.
    over_bits: bool,
    /// Set if a bound on the threads of a whole run becomes one on live threads first.
    counted: bool,
    passes: Vec<Pass>,
}

impl Prepared {
    pub(crate) fn new(task: OwnedTask) -> Arc<Prepared> {
        Arc::new(Prepared { task, known: Mutex::default() })
    }

    pub(crate) fn task(&self) -> Task<'_> {
        self.task.task()
    }

    /// Returns the task after some passes, for an engine that may not know a bound on the threads of a whole run: then
    /// such a bound becomes one on live threads first, if that is possible.
    pub(crate) fn simplified(&self, engine: &dyn Engine, passes: &[Pass]) -> Arc<Simplified> {
        let mut over_bits = false;
        let mut plain = self.after(passes);
        if self.task().program.has_machine_integers() && plain.supported(engine).is_err() {
            over_bits = true;
            plain = self.over_bits(passes);
        }
        match plain.threads {
            ThreadScope::Created(_) if plain.supported(engine).is_err() => {
                self.made(over_bits, true, passes).unwrap_or(plain)
            }
            _ => plain,
        }
    }

    /// Returns the task over bits after some passes.
    pub(crate) fn over_bits(&self, passes: &[Pass]) -> Arc<Simplified> {
        self.made(true, false, passes).expect("passes take every program")
    }

    /// Returns the task after some passes.
    pub(crate) fn after(&self, passes: &[Pass]) -> Arc<Simplified> {
        self.made(false, false, passes).expect("passes take every program")
    }

    fn made(&self, over_bits: bool, counted: bool, passes: &[Pass]) -> Option<Arc<Simplified>> {
        let recipe = Recipe { over_bits, counted, passes: passes.to_vec() };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, simplified)) = known.iter().find(|(other, _)| *other == recipe) {
            return simplified.clone();
        }
        let (task, start) = (self.task(), Instant::now());
        let first = if over_bits { Simplified::over_bits(&task) } else { Simplified::unchanged(&task) };
        let first = if counted { first.with_live_threads() } else { Some(first) };
        let made = first.map(|first| first.then(passes, start));
        let made = made.map(Arc::new);
        known.push((recipe, made.clone()));
        made
    }
}
