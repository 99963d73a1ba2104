//! The states in which a thread can be, collected from the states of a search.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use selvedge_check::{Exploration, Run, Stop, ThreadState};
use selvedge_transition::macro_step::explicit::between::Between;
use selvedge_transition::macro_step::explicit::parts::{Local, LocalId, Parts, SharedId};
use selvedge_transition::macro_step::explicit::values::Bits;
use selvedge_transition::macro_step::explicit::{Error, Model};

/// The states of threads that were seen so far, those inside of blocks included.
///
/// *Order of work.* Depth first from each state of a thread along the steps that others cannot observe. *End.* There
/// are finitely many states, each of which is taken once. *Right.* See
/// [`observed`](selvedge_transition::macro_step::visible_points::VisiblePoints::observed).
pub(super) struct ThreadStates<'m, 'p> {
    model: &'m Model<'p>,
    run: &'m Run<'m>,
    between: Between,
    parts: Parts,
    seen: FxHashSet<(SharedId, LocalId)>,
    states: BTreeSet<ThreadState>,
}

impl<'m, 'p> ThreadStates<'m, 'p> {
    pub(super) fn new(model: &'m Model<'p>, run: &'m Run<'m>) -> ThreadStates<'m, 'p> {
        let between = Between::new(model);
        ThreadStates {
            model,
            run,
            between,
            parts: Parts::default(),
            seen: FxHashSet::default(),
            states: BTreeSet::new(),
        }
    }

    /// Adds the states of threads in a state of the search.
    pub(super) fn add(&mut self, shared: Bits, locals: impl IntoIterator<Item = Local>) -> Result<(), Stop> {
        self.run.tick()?;
        let shared = self.parts.shared(shared);
        let mut waiting: Vec<LocalId> = locals.into_iter().map(|local| self.parts.local(local)).collect();
        while let Some(local) = waiting.pop() {
            if !self.seen.insert((shared, local)) {
                continue;
            }
            self.states.insert(self.parts.thread_state(self.model, shared, local));
            let at = (self.parts.shared[shared as usize].clone(), self.parts.locals[local as usize].clone());
            let parts = &mut self.parts;
            self.between.next(self.model, (&at.0, &at.1), self.run, &mut |next| waiting.push(parts.local(next)))?;
        }
        Ok(())
    }

    /// Returns the result of a search that has met these errors.
    pub(super) fn exploration<'e>(self, n_states: usize, met: impl Iterator<Item = &'e Error>) -> Exploration {
        let fails = |error: &Error| if let Error::Fails(edge) = error { Some(*edge) } else { None };
        let failing = met.filter_map(fails).collect();
        Exploration { n_states, thread_states: self.states, failing, ..Exploration::default() }
    }
}
