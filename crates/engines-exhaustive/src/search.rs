//! The search, and the reconstruction of a trace from an error.

use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexSet;
use rustc_hash::FxHasher;
use selvedge_check::{Event, Run, Stop, Task, ThreadScope};
use selvedge_ir::trace::{Start, Step, Trace};
use selvedge_ir::{Count, Program};
use selvedge_replay::canonical::canonical;
use selvedge_replay::interpreter::Illegal;
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome, State, Thread};

use super::codec::{decode, encode};
use super::quiet::Quiet;
use super::{Exploration, Options, ThreadState};

/// The extent of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchExtent {
    /// Up to the first error.
    UntilError,
    /// Everything, also beyond errors.
    All,
}

/// An error that the search found.
#[derive(Clone, Copy, Debug)]
pub(super) enum FoundError {
    /// A step of the state with this number fails an assertion of the target.
    Fails(usize),
    /// In the state with this number a thread is at a target location, or no thread has a step.
    Reached(usize),
}

/// The search. States are numbered in the order in which they were found; those from `expanded` on are not expanded.
pub(super) struct ExhaustiveSearch<'a> {
    task: Task<'a>,
    run: &'a Run<'a>,
    /// Shared, so that its lists of steps can be iterated while the search grows.
    interpreter: Rc<Interpreter<'a>>,
    frames: usize,
    /// The most threads of the states that are looked at, where the question sets no limit.
    few: Option<u32>,
    found: IndexSet<Box<[u8]>, BuildHasherDefault<FxHasher>>,
    /// For each state its predecessor in the search, or its own number if it is initial.
    parents: Vec<u32>,
    expanded: usize,
    /// The number of states up to the last one of the current depth, and the depth.
    layer: (usize, usize),
    truncated: bool,
    /// Set if states with more threads than `few` were left out.
    more_threads: bool,
    /// How states are made fewer, if they are.
    quiet: Option<Quiet>,
    exploration: Exploration,
}

impl<'a> ExhaustiveSearch<'a> {
    pub(super) fn new(
        task: Task<'a>,
        interpreter: Interpreter<'a>,
        run: &'a Run<'a>,
        options: &Options,
    ) -> ExhaustiveSearch<'a> {
        ExhaustiveSearch {
            task,
            run,
            interpreter: Rc::new(interpreter),
            frames: options.frames as usize,
            few: None,
            found: IndexSet::default(),
            parents: Vec::new(),
            expanded: 0,
            layer: (0, 0),
            truncated: false,
            more_threads: false,
            quiet: None,
            exploration: Exploration::default(),
        }
    }

    /// Leaves out states with more than this many threads.
    pub(super) fn within(self, few: u32) -> ExhaustiveSearch<'a> {
        let more_threads = most_initial(self.task.program).is_none_or(|most| most > few);
        ExhaustiveSearch { few: Some(few), more_threads, ..self }
    }

    /// Leaves out states that do not matter to the question whether there is a deadlock.
    pub(super) fn for_deadlocks(self) -> ExhaustiveSearch<'a> {
        ExhaustiveSearch { quiet: Some(Quiet::new(self.task.program)), ..self }
    }

    /// Returns whether states with more threads were left out.
    pub(super) fn leaves_out_threads(&self) -> bool {
        self.more_threads
    }

    pub(super) fn n_states(&self) -> usize {
        self.found.len()
    }

    pub(super) fn truncated(&self) -> bool {
        self.truncated
    }

    pub(super) fn exploration(self) -> Exploration {
        Exploration { n_states: self.found.len(), truncated: self.truncated, ..self.exploration }
    }

    /// Finds all states, or those up to an error. At the head of the loop every state before `expanded` has all its
    /// successors among the found ones, except those beyond the bound on frames.
    pub(super) fn run(&mut self, visit: SearchExtent) -> Result<Option<FoundError>, Stop> {
        let interpreter = Rc::clone(&self.interpreter);
        for start in interpreter.starts(self.max_threads()) {
            self.run.tick()?;
            let state = interpreter.start(&start).expect("the interpreter lists legal starts");
            let error = self.add(state, None);
            if let (SearchExtent::UntilError, Some(error)) = (visit, error) {
                return Ok(Some(error));
            }
        }
        while self.expanded < self.found.len() {
            let error = self.expand(visit)?;
            if let (SearchExtent::UntilError, Some(error)) = (visit, error) {
                return Ok(Some(error));
            }
        }
        Ok(None)
    }

    /// Returns the key of a state: the same for all states that differ only in the numbers of their threads, and if
    /// states are made fewer, in values that no thread reads later.
    fn key(&self, state: &State) -> Box<[u8]> {
        let mut state = state.clone();
        if let Some(quiet) = &self.quiet {
            quiet.forget(self.task.program, &mut state);
        }
        encode(&canonical(state, self.task.threads))
    }

    /// Returns the greatest number of initial threads.
    fn max_threads(&self) -> u32 {
        match self.task.threads {
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
            ThreadScope::Unbounded => self.few.or_else(|| most_initial(self.task.program)).unwrap_or(0),
        }
    }

    /// Adds the successors of the next state.
    fn expand(&mut self, visit: SearchExtent) -> Result<Option<FoundError>, Stop> {
        let number = self.expanded;
        self.expanded += 1;
        self.report(number);
        let state = decode(&self.found[number]);
        let (mut first, mut has_step) = (None, state.threads.is_empty());
        let interpreter = Rc::clone(&self.interpreter);
        if self.moves_quietly(number, &state)? {
            return Ok(None);
        }
        for step in interpreter.all_steps(&state) {
            self.run.tick()?;
            let outcome = outcome(&interpreter, &state, &step);
            has_step |= outcome != Outcome::Blocked;
            let error = match outcome {
                Outcome::Next(next) => self.add(next, Some(number)),
                Outcome::Blocked => None,
                Outcome::Failed => {
                    self.exploration.failing.insert(step.edge);
                    self.task.target.has_assert(step.edge).then_some(FoundError::Fails(number))
                }
            };
            if visit == SearchExtent::UntilError && error.is_some() {
                return Ok(error);
            }
            first = first.or(error);
        }
        if self.task.target.deadlock && !has_step {
            first = first.or(Some(FoundError::Reached(number)));
        }
        if visit == SearchExtent::All {
            self.exploration.thread_states.extend(state.threads.iter().map(|thread| thread_state(&state, thread)));
        }
        Ok(first)
    }

    /// Adds the successors by the steps of one thread, if no other thread notices these, some are possible, and all
    /// lead to new states. The judge has the argument why that loses no deadlock.
    fn moves_quietly(&mut self, number: usize, state: &State) -> Result<bool, Stop> {
        let Some(quiet) = &self.quiet else { return Ok(false) };
        let interpreter = Rc::clone(&self.interpreter);
        for thread in
            state.threads.iter().filter(|thread| quiet.is_quiet(self.task.program, &interpreter, state, thread))
        {
            let steps = interpreter.all_steps(state).filter(|step| step.thread == thread.id);
            let mut after = Vec::new();
            for step in steps {
                self.run.tick()?;
                if let Outcome::Next(next) = outcome(&interpreter, state, &step) {
                    after.push(next);
                }
            }
            if !after.is_empty() && after.iter().all(|next| !self.found.contains(&self.key(next))) {
                for next in after {
                    self.add(next, Some(number));
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds a state unless it is known, too deep, or has too many threads.
    fn add(&mut self, state: State, parent: Option<usize>) -> Option<FoundError> {
        if state.threads.iter().any(|thread| thread.stack.len() > self.frames) {
            self.truncated = true;
            return None;
        }
        if self.few.is_some_and(|few| state.threads.len() > few as usize) {
            self.more_threads = true;
            return None;
        }
        let (number, new) = self.found.insert_full(self.key(&state));
        if !new {
            return None;
        }
        self.parents.push(parent.unwrap_or(number) as u32);
        reached(&self.task, &state).map(|_| FoundError::Reached(number))
    }

    fn report(&mut self, number: usize) {
        if number == self.layer.0 {
            self.layer = (self.found.len(), self.layer.1 + 1);
        }
        if number.is_multiple_of(256) {
            let (visited, waiting) = (self.found.len(), self.found.len() - number);
            self.run.event(Event::Searched { visited, waiting, depth: self.layer.1 });
        }
    }

    /// Returns the execution that leads to an error. The search kept no steps: they are recomputed, from the start on,
    /// as those that lead to the next canonical state on the path.
    pub(super) fn trace(&self, error: FoundError) -> Result<Trace, Stop> {
        let (FoundError::Fails(last) | FoundError::Reached(last)) = error;
        let mut path = vec![last];
        while let Some(number) = path.last().map(|number| self.parents[*number] as usize)
            && path.last() != Some(&number)
        {
            path.push(number);
        }
        path.reverse();
        let (start, mut state) = self.find_start(path[0])?;
        let mut steps = Vec::with_capacity(path.len());
        for number in &path[1..] {
            let wanted = &self.found[*number];
            let (step, next) = self.find_step(&state, |_, outcome| match outcome {
                Outcome::Next(next) => self.key(next) == *wanted,
                Outcome::Blocked | Outcome::Failed => false,
            })?;
            steps.push(step);
            let Outcome::Next(next) = next else { unreachable!("only states are wanted") };
            state = next;
        }
        if let FoundError::Fails(_) = error {
            let fails =
                |step: &Step, outcome: &Outcome| *outcome == Outcome::Failed && self.task.target.has_assert(step.edge);
            steps.push(self.find_step(&state, fails)?.0);
        }
        Ok(Trace { start, steps, bodies: Vec::new() })
    }

    fn find_start(&self, number: usize) -> Result<(Start, State), Stop> {
        for start in self.interpreter.starts(self.max_threads()) {
            self.run.tick()?;
            let state = self.interpreter.start(&start).expect("the interpreter lists legal starts");
            if self.key(&state) == self.found[number] {
                return Ok((start, state));
            }
        }
        unreachable!("the path begins with an initial state")
    }

    fn find_step(&self, state: &State, wanted: impl Fn(&Step, &Outcome) -> bool) -> Result<(Step, Outcome), Stop> {
        for step in self.interpreter.all_steps(state) {
            self.run.tick()?;
            let outcome = outcome(&self.interpreter, state, &step);
            if wanted(&step, &outcome) {
                return Ok((step, outcome));
            }
        }
        unreachable!("the search found this step once")
    }
}

fn outcome(interpreter: &Interpreter<'_>, state: &State, step: &Step) -> Outcome {
    interpreter.step(state, step).unwrap_or_else(|illegal: Illegal| {
        unreachable!("the interpreter lists legal steps, but: {illegal}");
    })
}

/// Returns the greatest number of initial threads, if there is one.
fn most_initial(program: &Program) -> Option<u32> {
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => Some(count),
        Count::Any => None,
    };
    program.entries.iter().map(|entry| most(entry.count)).sum()
}

fn thread_state(state: &State, thread: &Thread) -> ThreadState {
    let top = thread.top();
    let (shared, vars) = (state.shared.clone(), thread.vars.clone());
    ThreadState { loc: top.loc, shared, vars, locals: top.locals.clone(), free: Vec::new() }
}
