//! Shorter executions to the same kind of error, and the values in them that do not matter.
//!
//! The order of work: the least execution is searched for (`least`); if the program is too large for that, the engine
//! is asked again within lower bounds on threads. Then whole ends of threads, and rounds that a thread makes back to
//! where it stood, are left out, and the steps of a thread that others interrupt are brought together. A candidate is
//! taken if it is an execution of the program that ends in an error that was asked for, and is better: fewer threads,
//! then fewer context switches, then fewer steps. In programs with machine integers, whose statements have several
//! steps, threads then run as long as they can before others take over. This is repeated until nothing is better any
//! more. At last each truth value that was chosen is turned around; where an error is still met, the value does not
//! matter.
//!
//! It ends because each taken candidate is better than the one before, and because all candidates together may take
//! only a fixed number of steps of the interpreter, which makes the result independent of the clock, unless the run
//! must stop: then the best execution so far is taken. It is right because the interpreter executes every candidate,
//! and the judge what is taken at last.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use selvedge_check::{
    CancelToken, Counterexample, Engine, Event, Irrelevant, Limits, Observer, Run, Task, ThreadScope, Verdict,
};
use selvedge_ir::trace::{Fresh, Step, ThreadId, Trace};
use selvedge_ir::{Expr, LocId, Program, Scope, Ty, Value, VarId};
use selvedge_replay::enumerate::least_threads;
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome, Replay, replay};

use crate::Simplified;
use crate::least::least;

/// The treatment of executions to errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Minimize {
    /// They are shown as they were found.
    #[default]
    No,
    /// They are, within a small budget.
    Yes,
}

/// The steps of the interpreter that all candidates together may take.
const BUDGET: usize = 60_000;

/// The longest execution that is looked at.
const MAX_STEPS: usize = 400;

/// The bytes of decision diagrams in a search for an execution with fewer threads. The relation of a single step can be
/// larger: where a shared number is added to a local one, it has as many nodes as there are numbers.
const DIAGRAMS: u64 = 16_000_000;

/// An execution with fewer threads, if the engine finds one within a lower bound on live threads and a small budget. A
/// start of a thread that does nothing at the lower bound does something at the real one: such an execution is left.
fn with_fewer_threads(
    task: &Task<'_>,
    engine: &dyn Engine,
    simplified: &Simplified,
    found: Counterexample,
    outer: &Run<'_>,
) -> Counterexample {
    let used = cost(task.program, &found.trace, &found.replay).0;
    for bound in least_threads(task.program).max(1)..used {
        if outer.check_limits().is_err() {
            break;
        }
        let watch = Watch { cancel: CancelToken::default(), outer };
        let limits = Limits { memory: Some(DIAGRAMS), time: outer.time_left(), ..Limits::default() };
        let run = Run::new(watch.cancel.clone(), limits, &watch);
        let small = simplified.task(ThreadScope::AtMost(bound));
        let answer = engine.supports(&small).ok().and_then(|()| engine.check(&small, &run).ok());
        let Some(Verdict::Unsafe(trace)) = answer.map(|verdict| simplified.lift(verdict)) else { continue };
        if let Ok(replay) = replay(task, &trace)
            && cost(task.program, &trace, &replay).0 < used
        {
            return Counterexample::new(trace, replay);
        }
    }
    found
}

/// Stops an engine that has worked for some while, by what it has done, not by the clock; and when the run must stop.
struct Watch<'a> {
    cancel: CancelToken,
    outer: &'a Run<'a>,
}

impl Observer for Watch<'_> {
    fn event(&self, event: Event) {
        let enough = match event {
            Event::Searched { visited, .. } => visited > 2_000,
            Event::Diagrams { rounds, nodes, .. } => rounds > 200 || nodes > 100_000,
            Event::Views { views, .. } => views > 1_000,
            Event::Unwound { steps, .. } => steps > 20,
            Event::ThreadStates { threads, .. } => threads > 20,
            Event::SharedStates { k, .. } => k > 2,
            Event::Solved { conflicts } => conflicts > 5_000,
            Event::Refined(refinement) => refinement.queries > 500,
            Event::Phase(_) | Event::Closed(_) => false,
        };
        if enough || self.outer.check_limits().is_err() {
            self.cancel.cancel();
        }
    }
}

/// Returns the least execution, or one with as few threads as the engine finds, if the program is too large for that.
pub(crate) fn anew(
    task: &Task<'_>,
    engine: &dyn Engine,
    simplified: &Simplified,
    found: Counterexample,
    run: &Run<'_>,
) -> Counterexample {
    let threads = cost(task.program, &found.trace, &found.replay).0;
    least(task, threads, run).unwrap_or_else(|| with_fewer_threads(task, engine, simplified, found, run))
}

/// A better execution, with what does not matter in it. Executions that share bodies of calls or are very long stay as
/// they are.
pub(crate) fn minimize(task: &Task<'_>, found: Counterexample, run: &Run<'_>) -> Counterexample {
    if !found.trace.bodies.is_empty() || found.trace.steps.len() > MAX_STEPS {
        return found;
    }
    let mut search = Search { task, interpreter: Interpreter::new(task.program, task.threads), budget: BUDGET, run };
    let mut best = found;
    while let Some(better) = search.better(&best) {
        best = better;
    }
    best.irrelevant = search.irrelevant(&best.trace);
    best
}

/// Returns the cost of an execution, the most important part first.
fn cost(program: &Program, trace: &Trace, replay: &Replay) -> (u32, usize, usize, Reverse<usize>) {
    let last = replay.states.last().unwrap_or(&replay.start);
    let is_switch = |number: &usize| trace.steps[*number].thread != trace.steps[number - 1].thread;
    let switches: Vec<usize> = (1..trace.steps.len()).filter(is_switch).collect();
    let late = if is_long(program) { switches.iter().sum() } else { 0 };
    (last.next_thread, switches.len(), trace.steps.len(), Reverse(late))
}

/// Returns whether statements of a program have several steps.
fn is_long(program: &Program) -> bool {
    program.vars.iter().any(|var| matches!(var.ty, Ty::Machine(_)))
}

struct Search<'a> {
    task: &'a Task<'a>,
    interpreter: Interpreter<'a>,
    /// The steps that are left.
    budget: usize,
    run: &'a Run<'a>,
}

impl Search<'_> {
    /// Takes steps from the budget. Returns `None` if it does not allow them, or the run must stop.
    fn spend(&mut self, steps: usize) -> Option<()> {
        let left = self.budget.checked_sub(steps).filter(|_| self.run.tick().is_ok());
        self.budget = left.unwrap_or(0);
        left.map(drop)
    }

    /// The first better execution among the candidates.
    fn better(&mut self, best: &Counterexample) -> Option<Counterexample> {
        let program = self.task.program;
        let old = cost(program, &best.trace, &best.replay);
        let plan = Plan::new(self.task, best);
        let longer = if is_long(program) { plan.with_longer_turns() } else { Vec::new() };
        let shorter = plan.without_ends().into_iter().chain(plan.without_rounds());
        let candidates = shorter.chain(plan.brought_together()).chain(longer);
        for order in candidates {
            if self.budget == 0 {
                return None;
            }
            let Some(trace) = self.execute(&plan, &order) else { continue };
            let Ok(replay) = replay(self.task, &trace) else { continue };
            if cost(program, &trace, &replay) < old {
                return Some(Counterexample::new(trace, replay));
            }
        }
        None
    }

    /// The execution of some steps of another in some order, up to the first error; `None` if there is none. Threads
    /// get the numbers that they have in it.
    fn execute(&mut self, plan: &Plan<'_>, order: &[usize]) -> Option<Trace> {
        let start = plan.trace.start.clone();
        let mut state = self.interpreter.start(&start).ok()?;
        let mut ids: BTreeMap<ThreadId, ThreadId> = state.threads.iter().map(|thread| (thread.id, thread.id)).collect();
        let mut steps = Vec::with_capacity(order.len());
        for number in order {
            if reached(self.task, &state).is_some() {
                break;
            }
            self.spend(1)?;
            let old = &plan.trace.steps[*number];
            let step = Step { thread: *ids.get(&old.thread)?, ..old.clone() };
            let outcome = self.interpreter.step(&state, &step).ok()?;
            steps.push(step);
            match outcome {
                Outcome::Blocked => return None,
                Outcome::Failed => return Some(Trace { start, steps, bodies: Vec::new() }),
                Outcome::Next(next) => {
                    let new = (state.next_thread..next.next_thread).map(ThreadId);
                    ids.extend(plan.created[*number].clone().map(ThreadId).zip(new));
                    state = next;
                }
            }
        }
        Some(Trace { start, steps, bodies: Vec::new() })
    }

    /// Turns each value around.
    fn irrelevant(&mut self, trace: &Trace) -> Irrelevant {
        let trace = &with_defaults(self.task.program, trace);
        let mut found = Irrelevant::default();
        let mut still = |change: &dyn Fn(&mut Trace)| {
            let mut changed = trace.clone();
            change(&mut changed);
            self.spend(changed.steps.len() + 1).is_some() && replay(self.task, &changed).is_ok()
        };
        for place in open(&trace.start.fresh) {
            if still(&|trace| flip(&mut trace.start.fresh[place].1)) {
                found.shared.insert(trace.start.fresh[place].0);
            }
        }
        for (thread, start) in trace.start.threads.iter().enumerate() {
            for place in open(&start.fresh) {
                if still(&|trace| flip(&mut trace.start.threads[thread].fresh[place].1)) {
                    found.threads.insert((thread, start.fresh[place].0));
                }
            }
        }
        for (number, step) in trace.steps.iter().enumerate() {
            let is_truth = |choice: &usize| matches!(step.choices[*choice], Value::Bool(_));
            for choice in (0..step.choices.len()).filter(is_truth) {
                if still(&|trace| flip(&mut trace.steps[number].choices[choice])) {
                    found.choices.insert((number, choice));
                }
            }
            for place in open(&step.fresh) {
                if still(&|trace| flip(&mut trace.steps[number].fresh[place].1)) {
                    found.fresh.insert((number, step.fresh[place].0));
                }
            }
        }
        found
    }
}

/// The same execution, with all values written out with which the initial threads start.
fn with_defaults(program: &Program, trace: &Trace) -> Trace {
    let mut trace = trace.clone();
    let listed = |fresh: &mut Fresh, vars: &[VarId], init: &[(VarId, Expr)]| {
        for var in vars {
            if !fresh.iter().any(|(other, _)| other == var) && !init.iter().any(|(other, _)| other == var) {
                fresh.push((*var, program.vars[*var].ty.default_value()));
            }
        }
    };
    let shared = program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared).map(|(id, _)| id);
    listed(&mut trace.start.fresh, &shared.collect::<Vec<_>>(), &program.init);
    for thread in &mut trace.start.threads {
        let entry = &program.entries[thread.entry];
        listed(&mut thread.fresh, &entry.thread_vars, &entry.init);
        listed(&mut thread.fresh, &program.procs[entry.proc].locals, &[]);
    }
    trace
}

/// The places of truth values.
fn open(fresh: &Fresh) -> Vec<usize> {
    let is_bool = |(_, (_, value)): &(usize, &(VarId, Value))| matches!(value, Value::Bool(_));
    fresh.iter().enumerate().filter(is_bool).map(|(place, _)| place).collect()
}

fn flip(value: &mut Value) {
    if let Value::Bool(value) = value {
        *value = !*value;
    }
}

/// An execution, and what its candidates are made of.
struct Plan<'a> {
    trace: &'a Trace,
    /// For each step the numbers of the threads that it creates. The last step of a prelude may create many.
    created: Vec<Range<u32>>,
    /// For each thread its steps, with the location before each.
    threads: BTreeMap<ThreadId, Vec<(usize, LocId)>>,
}

impl Plan<'_> {
    fn new<'a>(task: &Task<'_>, found: &'a Counterexample) -> Plan<'a> {
        let Counterexample { trace, replay, .. } = found;
        let befores = std::iter::once(&replay.start).chain(&replay.states);
        let mut plan = Plan { trace, created: Vec::new(), threads: BTreeMap::new() };
        for (number, (step, before)) in trace.steps.iter().zip(befores).enumerate() {
            let after = replay.states.get(number).unwrap_or(before);
            plan.created.push(before.next_thread..after.next_thread);
            let from = task.program.edges[step.edge].from;
            plan.threads.entry(step.thread).or_default().push((number, from));
        }
        plan
    }

    /// All steps but some.
    fn without(&self, gone: &BTreeSet<usize>) -> Vec<usize> {
        (0..self.trace.steps.len()).filter(|number| !gone.contains(number)).collect()
    }

    /// A thread stops early, or does not move at all.
    fn without_ends(&self) -> Vec<Vec<usize>> {
        let of_thread = |steps: &Vec<(usize, LocId)>| -> Vec<Vec<usize>> {
            let ends = (0..steps.len()).map(|first| steps[first..].iter().map(|(number, _)| *number).collect());
            ends.map(|gone| self.without(&gone)).collect()
        };
        self.threads.values().flat_map(of_thread).collect()
    }

    /// A thread does not go around, longest rounds first.
    fn without_rounds(&self) -> Vec<Vec<usize>> {
        let mut rounds: Vec<BTreeSet<usize>> = Vec::new();
        for steps in self.threads.values() {
            for (first, (_, from)) in steps.iter().enumerate() {
                let again = |later: &usize| steps[*later].1 == *from;
                let (next, last) = ((first + 1..steps.len()).find(again), (first + 1..steps.len()).rfind(again));
                let ends = next.into_iter().chain(last.filter(|last| next != Some(*last)));
                rounds.extend(ends.map(|later| steps[first..later].iter().map(|(number, _)| *number).collect()));
            }
        }
        rounds.sort_by_key(|round| Reverse(round.len()));
        rounds.iter().map(|round| self.without(round)).collect()
    }

    /// A thread makes its next step before others take over.
    fn with_longer_turns(&self) -> Vec<Vec<usize>> {
        let thread = |number: usize| self.trace.steps[number].thread;
        let mut orders = Vec::new();
        for switch in (1..self.trace.steps.len()).filter(|number| thread(*number) != thread(number - 1)) {
            let next = (switch..self.trace.steps.len()).find(|number| thread(*number) == thread(switch - 1));
            orders.extend(next.map(|next| {
                let mut order: Vec<usize> = (0..self.trace.steps.len()).collect();
                order[switch..=next].rotate_right(1);
                order
            }));
        }
        orders
    }

    /// A block of steps of one thread moves to the next or the last block of the same thread.
    fn brought_together(&self) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.trace.steps.len()).collect();
        let blocks: Vec<&[usize]> =
            all.chunk_by(|one, next| self.trace.steps[*one].thread == self.trace.steps[*next].thread).collect();
        let thread = |block: &[usize]| self.trace.steps[block[0]].thread;
        let mut orders = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            let same = |other: &usize| thread(blocks[*other]) == thread(block);
            if let Some(next) = (place + 1..blocks.len()).find(same) {
                let between = blocks[place + 1..next].concat();
                let (before, after) = (blocks[..place].concat(), blocks[next + 1..].concat());
                let pulled = [&before[..], block, blocks[next], &between, &after].concat();
                let pushed = [&before[..], &between, block, blocks[next], &after].concat();
                orders.extend([pulled, pushed]);
            }
        }
        orders
    }
}
