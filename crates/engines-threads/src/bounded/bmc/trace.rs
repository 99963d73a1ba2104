//! From an assignment of the solver to an execution.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use selvedge_check::Task;
use selvedge_ir::trace::{StartThread, Step, ThreadId, Trace};
use selvedge_ir::{LocId, Op, Value};
use selvedge_logic::aig::{Input, Lit};
use selvedge_transition::step::circuit;
use selvedge_transition::trace_builder::waiting_threads;

use super::block::{Move, start_of};
use super::meeting::Meeting;
use super::order::EventId;
use super::unwinding::Unwinding;

/// Builds the steps of an execution.
struct Steps<'u> {
    task: Task<'u>,
    value: &'u dyn Fn(Input) -> bool,
    steps: Vec<Step>,
    n_threads: u32,
    /// Where each thread is.
    places: BTreeMap<ThreadId, LocId>,
}

impl Steps<'_> {
    /// Adds a step. Returns the number of the thread that it starts, if it does.
    fn add(&mut self, thread: ThreadId, step: &Move, starts: bool) -> Option<ThreadId> {
        let value = |input: Input| Value::Bool((self.value)(input));
        let fresh = step.fresh.iter().filter(|_| starts).map(|(var, input)| (*var, value(*input))).collect();
        let choices = circuit::choose(&step.choices, self.value);
        self.steps.push(Step { thread, edge: step.edge, choices, passive: Vec::new(), fresh, body: None });
        let program = self.task.program;
        let edge = &program.edges[step.edge];
        match edge.op {
            Op::Return(_) | Op::End => self.places.remove(&thread),
            _ => self.places.insert(thread, edge.to),
        };
        starts.then(|| self.begin(start_of(&edge.op, |callee| program.procs[callee].entry)))
    }

    /// Lets the next thread begin at a location.
    fn begin(&mut self, loc: LocId) -> ThreadId {
        let thread = ThreadId(self.n_threads);
        self.n_threads += 1;
        self.places.insert(thread, loc);
        thread
    }

    /// Returns whether some thread is at a target location, or threads meet.
    fn are_at_error(&self) -> bool {
        let target = self.task.target;
        let n_at = |loc: LocId| self.places.values().filter(|place| **place == loc).count();
        let meet =
            |locs: &Vec<LocId>| locs.iter().all(|loc| n_at(*loc) >= locs.iter().filter(|other| *other == loc).count());
        self.places.values().any(|loc| target.has_loc(*loc)) || target.together.iter().any(meet)
    }
}

/// The values of conditions in an assignment.
struct Values(FxHashMap<Lit, bool>);

impl Values {
    fn holds(&self, lit: Lit) -> bool {
        self.0[&lit]
    }

    /// Returns the moves that are taken, in order.
    fn taken<'m>(&self, moves: &'m [Move]) -> Vec<&'m Move> {
        moves.iter().filter(|step| self.holds(step.guard)).collect()
    }
}

impl Unwinding<'_> {
    /// Reads the execution that the solver has found, up to its first error.
    pub(super) fn trace(&self, meetings: &[Meeting]) -> Trace {
        let value = |input: Input| self.clauses.input(&self.aig, input);
        let values = self.values(&value);
        let program = self.layout.task.program;
        let n_threads = u32::from(program.prelude.is_some());
        let (task, places) = (self.layout.task, BTreeMap::new());
        let mut steps = Steps { task, value: &value, steps: Vec::new(), n_threads, places };
        for step in values.taken(&self.alone.prelude) {
            steps.add(ThreadId(0), step, false);
        }
        let (starts, mut numbers) = self.initial_threads(&values, &mut steps);
        if let Some(Some(first)) = numbers.first() {
            for step in values.taken(&self.alone.thread) {
                steps.add(*first, step, false);
            }
        }
        if !self.alone.errors.iter().any(|error| values.holds(*error)) {
            for event in self.up_to_error(meetings, &values) {
                if steps.are_at_error() {
                    break;
                }
                self.add_event(event, &values, &mut numbers, &mut steps);
            }
        }
        Trace { start: self.begin.start_of(starts, &value), steps: steps.steps, bodies: Vec::new() }
    }

    /// Evaluates all conditions that the execution depends on.
    fn values(&self, value: &dyn Fn(Input) -> bool) -> Values {
        let moves = self.events.iter().flat_map(|event| &event.moves);
        let moves = moves.chain(&self.alone.prelude).chain(&self.alone.thread).map(|step| step.guard);
        let events = self.events.iter().flat_map(|event| [event.happens, event.error]);
        let threads = self.threads.iter().map(|thread| thread.begins);
        let initial = self.initial.iter().map(|thread| thread.exists).chain(self.alone.errors.iter().copied());
        let lits: Vec<Lit> = moves.chain(events).chain(threads).chain(initial).collect();
        let values = self.aig.eval(&lits, value);
        Values(lits.into_iter().zip(values).collect())
    }

    /// Returns the initial threads, and the number of each thread in the execution, as far as it is known. An execution
    /// that ends before threads begin has those that it must have.
    fn initial_threads(&self, values: &Values, steps: &mut Steps<'_>) -> (Vec<StartThread>, Vec<Option<ThreadId>>) {
        let mut numbers = vec![None; self.threads.len()];
        let mut starts = Vec::new();
        for (number, thread) in self.initial.iter().enumerate().filter(|(_, thread)| values.holds(thread.exists)) {
            let kind = thread.place.entry().expect("initial threads have a kind");
            starts.push(thread.begin.thread(kind, steps.value));
            numbers[number] = Some(steps.begin(thread.place.loc));
        }
        if starts.is_empty() {
            starts = waiting_threads(self.layout.task.program);
        }
        (starts, numbers)
    }

    /// Adds the steps of an event, and numbers the threads that it starts. A thread may begin at an error, although the
    /// block that starts it goes on.
    fn add_event(&self, event: EventId, values: &Values, numbers: &mut [Option<ThreadId>], steps: &mut Steps<'_>) {
        let event = &self.events[event];
        let thread = numbers[event.thread].expect("a thread has started when it moves");
        for step in values.taken(&event.moves) {
            if steps.are_at_error() {
                return;
            }
            let child = step.child.map(|child| event.children[child]);
            let starts = child.is_some_and(|child| values.holds(self.threads[child].begins));
            let started = steps.add(thread, step, starts);
            if let Some(child) = child {
                numbers[child] = started;
            }
        }
    }

    /// Returns the events that happen, in order, up to the first that is an error or with which threads meet.
    fn up_to_error(&self, meetings: &[Meeting], values: &Values) -> Vec<EventId> {
        let happens = |event: &EventId| values.holds(self.events[*event].happens);
        let mut events: Vec<EventId> = (0..self.events.len()).filter(happens).collect();
        let is_before = |first: EventId, second: EventId| {
            first != second && self.clauses.value(self.order.before(first, second, &self.clauses))
        };
        events.sort_by(|left, right| {
            if left == right {
                Ordering::Equal
            } else if is_before(*left, *right) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        });
        let met: Vec<EventId> = meetings
            .iter()
            .filter(|meeting| self.clauses.value(meeting.lit))
            .flat_map(|meeting| &meeting.came)
            .filter(|(came, _)| self.clauses.value(*came))
            .map(|(_, event)| *event)
            .collect();
        let error = events.iter().position(|event| values.holds(self.events[*event].error));
        let end = match error {
            Some(error) => error + 1,
            None => events.iter().rposition(|event| met.contains(event)).map_or(0, |last| last + 1),
        };
        events.truncate(end);
        events
    }
}
