//! The oracle for bounds on contexts: an explicit search in which the threads take turns, over the reference
//! interpreter.
//!
//! It is independent of the engines' way to make a list of threads: the places of threads are numbers here. A thread
//! that is started gets the first free place; its number as a thread is that of its place, so that states with the same
//! threads at the same places are one state.
//!
//! For each place there is the set of states that were seen in turns of its thread. A turn takes over the states of the
//! turn before in which no thread holds the atomic flag, and adds all that steps of its own thread lead to. The sets
//! only grow, since a thread may idle; so a state is expanded once for each place.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use selvedge_check::{Task, ThreadScope};
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{Count, Value};
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome, State};

use crate::oracle::Budget;

/// The states that are reachable within 1, 2, .. contexts per thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InTurns<S = Vec<bool>> {
    /// The shared states for each number; of programs, the valuations in which no thread holds the atomic flag.
    pub shared: Vec<BTreeSet<S>>,
    /// The least number within which an error, or the target of a system, is reached.
    pub error: Option<u32>,
    /// The least number within which a stack was deeper than the bound.
    pub deep: Option<u32>,
}

impl<S> InTurns<S> {
    /// Returns whether the search within this number of contexts was complete.
    pub fn is_exact(&self, k: u32) -> bool {
        self.deep.is_none_or(|deep| deep > k)
    }

    /// Returns whether there is an error within this number of contexts, as far as it was seen.
    pub fn has_error(&self, k: u32) -> bool {
        self.error.is_some_and(|error| error <= k)
    }
}

/// Searches up to a number of contexts per thread; `None` beyond the budget.
pub fn search(task: &Task<'_>, last: u32, budget: Budget) -> Option<InTurns> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let n_places = n_places(task);
    let mut search = Search {
        task,
        first: u32::from(task.program.prelude.is_some()),
        n_places,
        budget,
        seen: (0..n_places).map(|_| IndexSet::new()).collect(),
        expanded: vec![0; n_places as usize],
        found: InTurns::default(),
        k: 1,
    };
    let mut states = search.starts(&interpreter)?;
    for k in 1..=last {
        search.k = k;
        for place in 0..n_places {
            states = search.turn(&interpreter, place, states)?;
        }
        search.found.shared.push(states.iter().map(|state| bools(&state.shared)).collect());
    }
    Some(search.found)
}

fn n_places(task: &Task<'_>) -> u32 {
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => count,
        Count::Any => 0,
    };
    match task.threads {
        ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
        ThreadScope::Unbounded => task.program.entries.iter().map(|entry| most(entry.count)).sum(),
    }
}

fn bools(values: &[Value]) -> Vec<bool> {
    values.iter().map(|value| *value == Value::Bool(true)).collect()
}

struct Search<'a> {
    task: &'a Task<'a>,
    /// The number of the thread at the first place.
    first: u32,
    n_places: u32,
    budget: Budget,
    /// The states of the turns of each place.
    seen: Vec<IndexSet<State>>,
    /// The number of expanded states of each place.
    expanded: Vec<usize>,
    found: InTurns,
    k: u32,
}

impl Search<'_> {
    /// Returns the states in which the threads start: those at the ends of the prelude, if there is one.
    fn starts(&mut self, interpreter: &Interpreter<'_>) -> Option<Vec<State>> {
        let mut seen: IndexSet<State> = IndexSet::new();
        for start in interpreter.starts(self.n_places) {
            let state = interpreter.start(&start).expect("the interpreter lists legal starts");
            seen.insert(self.placed(state));
            if seen.len() > self.budget.states {
                return None;
            }
        }
        let mut next = 0;
        while next < seen.len() {
            let state = seen[next].clone();
            next += 1;
            self.look(&state);
            if state.prelude.is_some() {
                for after in self.successors(interpreter, &state, ThreadId(0)) {
                    seen.insert(after);
                }
            }
            if seen.len() > self.budget.states {
                return None;
            }
        }
        Some(seen.into_iter().filter(|state| state.prelude.is_none() && state.holder.is_none()).collect())
    }

    /// Executes the turn of a thread; returns the states that it hands on.
    fn turn(&mut self, interpreter: &Interpreter<'_>, place: u32, from: Vec<State>) -> Option<Vec<State>> {
        let number = place as usize;
        self.seen[number].extend(from);
        while self.expanded[number] < self.seen[number].len() {
            let state = self.seen[number][self.expanded[number]].clone();
            self.expanded[number] += 1;
            self.look(&state);
            let after = self.successors(interpreter, &state, ThreadId(self.first + place));
            self.seen[number].extend(after);
            if self.seen.iter().map(IndexSet::len).sum::<usize>() > self.budget.states {
                return None;
            }
        }
        Some(self.seen[number].iter().filter(|state| state.holder.is_none()).cloned().collect())
    }

    /// Returns the states after one step of a thread, if it lives.
    fn successors(&mut self, interpreter: &Interpreter<'_>, state: &State, thread: ThreadId) -> Vec<State> {
        let Some(position) = state.position(thread) else { return Vec::new() };
        let edges = interpreter.edges(state, &state.threads[position]).to_vec();
        let mut found = Vec::new();
        for step in edges.iter().flat_map(|edge| interpreter.steps(state, position, *edge)) {
            match interpreter.step(state, &step).expect("the interpreter lists legal steps") {
                Outcome::Next(next) => found.push(self.placed(next)),
                Outcome::Failed if self.task.target.has_assert(step.edge) => self.meet_error(),
                Outcome::Failed | Outcome::Blocked => {}
            }
        }
        let frames = self.budget.frames as usize;
        let n_found = found.len();
        found.retain(|state| state.threads.iter().all(|thread| thread.stack.len() <= frames));
        if found.len() < n_found {
            self.found.deep = self.found.deep.or(Some(self.k));
        }
        found
    }

    fn look(&mut self, state: &State) {
        if reached(self.task, state).is_some() {
            self.meet_error();
        }
    }

    fn meet_error(&mut self) {
        self.found.error = self.found.error.or(Some(self.k));
    }

    /// Returns the same state, with new threads at the first free places.
    fn placed(&self, mut state: State) -> State {
        if state.prelude.is_some() {
            return state;
        }
        let end = self.first + self.n_places;
        let mut free = (self.first..end).filter(|id| state.position(ThreadId(*id)).is_none()).collect::<Vec<_>>();
        free.reverse();
        for thread in state.threads.iter_mut().filter(|thread| thread.id.0 >= end) {
            thread.id = ThreadId(free.pop().expect("there is room for a new thread"));
        }
        state.threads.sort_by_key(|thread| thread.id);
        state.next_thread = end;
        state
    }
}
