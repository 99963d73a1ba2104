//! The least execution to an error: a small program has the same one whichever engine found an error first.
//!
//! The order of work: states are taken from a queue in the order of their cost, which is the number of threads, then
//! the context switches, then the steps; among equals, those that were found first come first. Each is expanded by all
//! steps of the interpreter. The invariant: what was taken from the queue cannot be reached at a lower cost, because no
//! step lowers the cost and two executions to the same state can be continued by the same steps. So the first error
//! whose cost is not above that of the queue is the least one. The search ends because it may take only a fixed number
//! of steps of the interpreter, and keep only a fixed number of values in its states, which recursion makes large; then
//! there is no answer, as when the run must stop. It is right because the judge executes the result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::BuildHasherDefault;

use indexmap::IndexMap;
use rustc_hash::FxHasher;
use selvedge_check::execution::{State, Thread};
use selvedge_check::{Counterexample, Run, Task, ThreadScope};
use selvedge_ir::trace::{Start, Step, ThreadId, Trace};
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome, replay};

/// The steps of the interpreter that the search may take.
const BUDGET: usize = 100_000;

/// The values that its states may have, with the frames of their threads.
const ROOM: usize = 5_000_000;

/// The values for which the frame of a call counts.
const FRAME: usize = 4;

/// Threads, context switches, and steps.
type Cost = (u32, usize, usize);

/// A state with the thread that made the last step.
type Node = (State, Option<ThreadId>);

/// How a node is reached at the least known cost.
struct Way {
    cost: Cost,
    before: Before,
}

/// What a node is reached from: the start of an execution, or the node with this number.
#[derive(Clone)]
enum Before {
    Start(Start),
    Node(usize, Step),
}

/// An error: its cost, the node before it, and the step that fails, if one does.
type Goal = (Cost, usize, Option<Step>);

/// Returns the least execution to an error of the task, if the budget is enough to find one with at most this many
/// threads.
pub(crate) fn least(task: &Task<'_>, threads: u32, run: &Run<'_>) -> Option<Counterexample> {
    let interpreter = Interpreter::new(task.program, task.threads);
    interpreter.enumerable().ok()?;
    let mut search = Search {
        task,
        interpreter: &interpreter,
        threads,
        nodes: IndexMap::default(),
        queue: BinaryHeap::new(),
        goal: None,
        budget: BUDGET,
        room: ROOM,
        run,
    };
    let trace = search.run()?;
    let replay = replay(task, &trace).ok()?;
    Some(Counterexample::new(trace, replay))
}

struct Search<'a> {
    task: &'a Task<'a>,
    interpreter: &'a Interpreter<'a>,
    threads: u32,
    nodes: IndexMap<Node, Way, BuildHasherDefault<FxHasher>>,
    queue: BinaryHeap<Reverse<(Cost, usize)>>,
    goal: Option<Goal>,
    /// The steps that are left.
    budget: usize,
    /// The values that are left.
    room: usize,
    run: &'a Run<'a>,
}

impl Search<'_> {
    fn run(&mut self) -> Option<Trace> {
        let most = match self.task.threads {
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound.min(self.threads),
            ThreadScope::Unbounded => self.threads,
        };
        for start in self.interpreter.starts(most) {
            self.budget = self.budget.checked_sub(1)?;
            let state = self.interpreter.start(&start).ok()?;
            self.reach(state, None, (0, 0), Before::Start(start))?;
        }
        while let Some(Reverse((cost, number))) = self.queue.pop() {
            if self.goal.as_ref().is_some_and(|(least, ..)| *least <= cost) {
                break;
            }
            if self.nodes[number].cost == cost {
                self.expand(number, cost)?;
            }
        }
        self.trace()
    }

    /// Adds a node, or a cheaper way to it, unless it has too many threads. Returns `None` if there is no room for it.
    fn reach(
        &mut self,
        state: State,
        last: Option<ThreadId>,
        (switches, steps): (usize, usize),
        before: Before,
    ) -> Option<()> {
        let cost = (state.next_thread, switches, steps);
        if state.next_thread > self.threads {
            return Some(());
        }
        self.room = self.room.checked_sub(size(&state))?;
        let is_error = reached(self.task, &state).is_some();
        let entry = self.nodes.entry((state, last));
        let number = entry.index();
        let way = entry.or_insert_with(|| Way { cost: (u32::MAX, 0, 0), before: before.clone() });
        if cost < way.cost {
            *way = Way { cost, before };
            match is_error {
                true => self.aim(cost, number, None),
                false => self.queue.push(Reverse((cost, number))),
            }
        }
        Some(())
    }

    /// Takes note of an error, if it is less than the one that is known.
    fn aim(&mut self, cost: Cost, number: usize, step: Option<Step>) {
        if self.goal.as_ref().is_none_or(|(least, ..)| cost < *least) {
            self.goal = Some((cost, number, step));
        }
    }

    /// Makes all steps of a node. Returns `None` if the budget or the run does not allow them.
    fn expand(&mut self, number: usize, (threads, switches, steps): Cost) -> Option<()> {
        let (state, last) = self.nodes.get_index(number)?.0.clone();
        let mut has_step = state.threads.is_empty();
        for step in self.interpreter.all_steps(&state) {
            self.budget = self.budget.checked_sub(1)?;
            self.run.tick().ok()?;
            let switch = usize::from(last.is_some_and(|last| last != step.thread));
            let (switches, steps) = (switches + switch, steps + 1);
            match self.interpreter.step(&state, &step).ok()? {
                Outcome::Blocked => continue,
                Outcome::Next(next) => {
                    let thread = step.thread;
                    self.reach(next, Some(thread), (switches, steps), Before::Node(number, step))?;
                }
                Outcome::Failed if self.task.target.has_assert(step.edge) => {
                    self.aim((threads, switches, steps), number, Some(step));
                }
                Outcome::Failed => {}
            }
            has_step = true;
        }
        if self.task.target.deadlock && !has_step {
            self.aim((threads, switches, steps), number, None);
        }
        Some(())
    }

    /// Returns the execution to the error that was found.
    fn trace(&self) -> Option<Trace> {
        let (_, mut number, last) = self.goal.clone()?;
        let mut steps: Vec<Step> = last.into_iter().collect();
        loop {
            match self.nodes[number].before.clone() {
                Before::Start(start) => {
                    steps.reverse();
                    return Some(Trace { start, steps, bodies: Vec::new() });
                }
                Before::Node(before, step) => {
                    steps.push(step);
                    number = before;
                }
            }
        }
    }
}

/// Counts the values and frames of a state.
fn size(state: &State) -> usize {
    let of_thread = |thread: &Thread| -> usize {
        thread.vars.len() + thread.stack.iter().map(|frame| FRAME + frame.locals.len()).sum::<usize>()
    };
    state.shared.len() + state.threads.iter().map(of_thread).sum::<usize>()
}
