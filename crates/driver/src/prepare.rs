//! A program that is simplified once for each list of passes, whoever asks for it.

use std::sync::{Arc, Mutex, PoisonError};

use selvedge_check::{Engine, OwnedTask, Task, ThreadScope};

use crate::{Pass, Simplified, simplify};

/// A task, with the simplified programs that were made of it.
pub(crate) struct Prepared {
    task: OwnedTask,
    known: Mutex<Vec<(Recipe, Option<Arc<Simplified>>)>>,
}

/// A list of passes, with the treatment of the thread bound.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Recipe {
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
        let plain = self.after(passes);
        match plain.threads {
            ThreadScope::Created(_) if engine.supports(&plain.question()).is_err() => {
                self.made(true, passes).unwrap_or(plain)
            }
            _ => plain,
        }
    }

    /// Returns the task after some passes.
    pub(crate) fn after(&self, passes: &[Pass]) -> Arc<Simplified> {
        self.made(false, passes).expect("passes take every program")
    }

    fn made(&self, counted: bool, passes: &[Pass]) -> Option<Arc<Simplified>> {
        let recipe = Recipe { counted, passes: passes.to_vec() };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, simplified)) = known.iter().find(|(other, _)| *other == recipe) {
            return simplified.clone();
        }
        let task = self.task();
        let made = if counted { Simplified::counted(&task, passes) } else { Some(simplify(&task, passes)) };
        let made = made.map(Arc::new);
        known.push((recipe, made.clone()));
        made
    }
}
