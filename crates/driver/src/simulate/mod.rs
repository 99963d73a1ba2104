//! One random run of a program. The same seed gives the same run.

mod integers;

use selvedge_check::{Run, Stop, Task, ThreadScope};
use selvedge_ir::trace::{Fresh, Start, Step, Trace};
use selvedge_ir::{Count, Program, Ty, Value};
use selvedge_replay::enumerate::least_threads;
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome, State, Violation};

/// A run that was made.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// The choices.
    pub trace: Trace,
    /// The initial state.
    pub start: State,
    /// The state after each step; the last step has none if it fails an assertion.
    pub states: Vec<State>,
    /// Why the run ends.
    pub end: RunEnd,
}

/// Why a run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// In an error that was asked for.
    Error(Violation),
    /// All threads have ended.
    Over,
    /// Threads live, but none can move.
    Deadlock,
    /// No possible step was found among very many.
    Stuck,
    /// The wanted number of steps was made.
    StepLimit,
    /// No first state was found among very many.
    NoStart,
}

/// Number of random steps that are tried before all steps are listed.
const TRIES: usize = 32;
/// Maximum number of steps that are listed to find one that is possible.
const LISTED: usize = 1 << 16;
/// The greatest number of initial threads of a kind that comes in any number.
const ANY: u32 = 3;

/// Runs a program from a random start for at most `n_steps` steps.
///
/// Each step is one that the interpreter accepts. First steps are guessed: a thread, an edge and all values at random;
/// if that finds only blocked ones, all steps are listed and one of the possible ones is taken. So "deadlock" is never
/// said lightly. It ends because each round makes a step or ends the run.
pub fn simulate(task: &Task<'_>, seed: u64, n_steps: usize, run: &Run<'_>) -> Result<Simulation, Stop> {
    if task.program.vars.iter().any(|var| var.ty == Ty::Int) {
        return integers::simulate(task, seed, n_steps, run);
    }
    let mut dice = Dice::new(seed);
    let crewed = with_crew(task, &mut dice);
    let template = Interpreter::new(&crewed, task.threads).starts(least_threads(&crewed)).next();
    let start = template.map(|start| shaken_start(start, &mut dice)).unwrap_or_default();
    let interpreter = Interpreter::new(task.program, task.threads);
    walk(task, &interpreter, start, n_steps, run, |state| next(task, &interpreter, state, &mut dice))
}

/// Makes the steps that `next` chooses, until the run ends in an error, the limit is reached, or no step is possible.
fn walk(
    task: &Task<'_>,
    interpreter: &Interpreter<'_>,
    start: Start,
    n_steps: usize,
    run: &Run<'_>,
    mut next: impl FnMut(&State) -> Result<(Step, Outcome), RunEnd>,
) -> Result<Simulation, Stop> {
    let first = interpreter.start(&start).expect("the start has threads of the program, and values of their types");
    let (mut steps, mut states): (Vec<Step>, Vec<State>) = (Vec::new(), Vec::new());
    let end = loop {
        let state = states.last().unwrap_or(&first);
        run.tick()?;
        if let Some(violation) = reached(task, state) {
            break RunEnd::Error(violation);
        }
        if steps.len() >= n_steps {
            break RunEnd::StepLimit;
        }
        match next(state) {
            Ok((step, Outcome::Next(next))) => {
                steps.push(step);
                states.push(next);
            }
            Ok((step, _)) => {
                let violation = Violation::Assert { thread: step.thread, edge: step.edge };
                steps.push(step);
                break RunEnd::Error(violation);
            }
            Err(RunEnd::Deadlock) if let Ok(Some(violation)) = interpreter.last_error(task, state) => {
                break RunEnd::Error(violation);
            }
            Err(end) => break end,
        }
    };
    Ok(Simulation { trace: Trace { start, steps, bodies: Vec::new() }, start: first, states, end })
}

/// The program with a fixed number of initial threads of each kind.
fn with_crew(task: &Task<'_>, dice: &mut Dice) -> Program {
    let mut program = task.program.clone();
    let mut room = match task.threads {
        ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound.saturating_sub(least_threads(&program)),
        ThreadScope::Unbounded => u32::MAX,
    };
    for entry in &mut program.entries {
        let count = match entry.count {
            Count::Exactly(count) => count,
            Count::AtMost(bound) => dice.below(bound.min(room) as usize + 1) as u32,
            Count::Any if room == 0 => 0,
            Count::Any => 1 + dice.below(ANY.min(room) as usize) as u32,
        };
        if !matches!(entry.count, Count::Exactly(_)) {
            room = room.saturating_sub(count);
        }
        entry.count = Count::Exactly(count);
    }
    program
}

/// A step that is possible, with its outcome, or why there is none.
fn next(
    task: &Task<'_>,
    interpreter: &Interpreter<'_>,
    state: &State,
    dice: &mut Dice,
) -> Result<(Step, Outcome), RunEnd> {
    if state.threads.is_empty() {
        return Err(RunEnd::Over);
    }
    for _ in 0..TRIES {
        let position = dice.below(state.threads.len());
        let edges = interpreter.edges(state, &state.threads[position]);
        if edges.is_empty() {
            continue;
        }
        let template = interpreter.steps(state, position, edges[dice.below(edges.len())]).next();
        let step = template.map(|step| shaken(step, dice));
        if let Some(found) = step.and_then(|step| possible(task, interpreter, state, step)) {
            return Ok(found);
        }
    }
    let mut n_listed = 0;
    let listed = interpreter.all_steps(state).take(LISTED).inspect(|_| n_listed += 1);
    let mut found: Vec<(Step, Outcome)> =
        listed.filter_map(|step| possible(task, interpreter, state, step)).take(TRIES).collect();
    match found.len() {
        0 if n_listed == LISTED => Err(RunEnd::Stuck),
        0 => Err(RunEnd::Deadlock),
        n_found => Ok(found.swap_remove(dice.below(n_found))),
    }
}

/// Returns the steps that are possible in a state with their outcomes, up to a limit, to choose from.
pub fn possible_steps(task: &Task<'_>, state: &State, limit: usize) -> Vec<(Step, Outcome)> {
    let interpreter = &Interpreter::new(task.program, task.threads);
    interpreter
        .all_steps(state)
        .take(LISTED)
        .filter_map(|step| possible(task, interpreter, state, step))
        .take(limit)
        .collect()
}

/// The step with its outcome. An assertion that fails and was not asked for stops its thread.
fn possible(task: &Task<'_>, interpreter: &Interpreter<'_>, state: &State, step: Step) -> Option<(Step, Outcome)> {
    match interpreter.step(state, &step) {
        Ok(Outcome::Blocked) | Err(_) => None,
        Ok(Outcome::Failed) if !task.target.has_assert(step.edge) => None,
        Ok(outcome) => Some((step, outcome)),
    }
}

/// The start with all values chosen at random.
fn shaken_start(mut start: Start, dice: &mut Dice) -> Start {
    dice.shake(&mut start.choices);
    dice.shake_fresh(&mut start.fresh);
    for thread in &mut start.threads {
        dice.shake(&mut thread.choices);
        dice.shake_fresh(&mut thread.fresh);
    }
    start
}

/// The step with all values chosen at random.
fn shaken(mut step: Step, dice: &mut Dice) -> Step {
    dice.shake(&mut step.choices);
    step.passive.iter_mut().for_each(|choices| dice.shake(choices));
    dice.shake_fresh(&mut step.fresh);
    step
}

/// A small generator of random numbers: an additive counter, scrambled by shifts and multiplications.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is not zero.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Mathematical integers stay as they are: there is no sensible way to choose one of infinitely many.
    fn shake(&mut self, values: &mut [Value]) {
        for value in values {
            match value {
                Value::Bool(value) => *value = self.next() & 1 == 1,
                // Small numbers matter more often than others do.
                Value::Machine(ty, bits) if self.next() & 1 == 1 => *bits = ty.wrap(self.below(5) as i128 - 1),
                Value::Machine(ty, bits) => *bits = self.next() & ty.mask(),
                Value::Int(_) => {}
            }
        }
    }

    fn shake_fresh(&mut self, fresh: &mut Fresh) {
        for (_, value) in fresh {
            self.shake(std::slice::from_mut(value));
        }
    }
}
