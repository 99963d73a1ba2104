//! Random runs of programs with integers.
//!
//! An integer can have infinitely many values, so values are tried that the program is likely to tell apart: its
//! constants and their neighbours, small numbers, and the values of other variables. The first state must satisfy the
//! conditions of the first step, which a random valuation hardly does. So one condition that fails is taken after the
//! other, and one of its variables gets another value, until none fails or many attempts have been made.

use selvedge_check::{Run, Stop, Task};
use selvedge_ir::eval::holds;
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId};
use selvedge_ir::visit::reads;
use selvedge_ir::{BinaryOp, EntryId, Expr, Op, Program, Ty, Value, VarId};
use selvedge_replay::{Interpreter, Outcome, State};

use super::{Dice, RunEnd, Simulation, possible, walk};

/// Maximum number of changed values in the search for a first state.
const REPAIRS: usize = 20_000;
/// Number of attempts at the choices of a step.
const TRIES: usize = 16;

/// Runs a program of one thread from a random start for at most `n_steps` steps.
pub(super) fn simulate(task: &Task<'_>, seed: u64, n_steps: usize, run: &Run<'_>) -> Result<Simulation, Stop> {
    let mut choices = RandomValues { task, dice: Dice::new(seed), constants: constants(task.program) };
    let (start, found) = choices.start();
    let interpreter = Interpreter::new(task.program, task.threads);
    if !found {
        let nothing = walk(task, &interpreter, start, 0, run, |_| Err(RunEnd::NoStart))?;
        return Ok(Simulation { end: RunEnd::NoStart, ..nothing });
    }
    walk(task, &interpreter, start, n_steps, run, |state| {
        let none = if state.threads.is_empty() { RunEnd::Over } else { RunEnd::Deadlock };
        choices.step(&interpreter, state).ok_or(none)
    })
}

/// Chooses values and steps at random.
struct RandomValues<'t> {
    task: &'t Task<'t>,
    dice: Dice,
    constants: Vec<i64>,
}

impl RandomValues<'_> {
    /// A start, and whether its state satisfies the conditions of the first step.
    fn start(&mut self) -> (Start, bool) {
        let program = self.task.program;
        let conditions = first_conditions(program);
        let mut values: Vec<Value> = program.vars.iter().map(|var| var.ty.default_value()).collect();
        for number in 0..values.len() {
            values[number] = self.value(values[number].ty(), &values);
        }
        let mut found = false;
        for _ in 0..REPAIRS {
            let failing: Vec<&&Expr> = conditions
                .iter()
                .filter(|condition| holds(condition, &|leaf| leaf_value(leaf, &values)) != Ok(true))
                .collect();
            found = failing.is_empty();
            if found {
                break;
            }
            let vars = reads(failing[self.dice.below(failing.len())]);
            if vars.is_empty() {
                break;
            }
            let var = vars[self.dice.below(vars.len())];
            values[var.index()] = self.value(values[var.index()].ty(), &values);
        }
        let fresh = program.vars.indices().map(|var| (var, values[var.index()])).collect();
        let threads = vec![StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() }];
        (Start { choices: Vec::new(), fresh, threads }, found)
    }

    /// A value that may make a difference.
    fn value(&mut self, ty: Ty, known: &[Value]) -> Value {
        if ty != Ty::Int {
            let mut value = ty.default_value();
            self.dice.shake(std::slice::from_mut(&mut value));
            return value;
        }
        let ints: Vec<i64> = known.iter().filter_map(|value| int(*value)).collect();
        let near = [0, 0, 0, -1, 1][self.dice.below(5)];
        let base = match self.dice.below(4) {
            0 | 1 if !self.constants.is_empty() => self.constants[self.dice.below(self.constants.len())],
            2 if !ints.is_empty() => ints[self.dice.below(ints.len())],
            _ => [0, 1, 2, 3, 5, 8, -1, -2][self.dice.below(8)],
        };
        Value::Int(base.saturating_add(near))
    }

    /// A possible step, with its outcome. Conditions that hold are looked at only where they can fail.
    fn step(&mut self, interpreter: &Interpreter<'_>, state: &State) -> Option<(Step, Outcome)> {
        let thread = state.threads.first()?;
        let mut edges = interpreter.edges(state, thread).to_vec();
        let mut passing = None;
        while !edges.is_empty() {
            let edge = edges.swap_remove(self.dice.below(edges.len()));
            let types = self.task.program.edges[edge].op.choices();
            for _ in 0..if types.is_empty() { 1 } else { TRIES } {
                let choices = types.iter().map(|ty| self.value(*ty, &state.shared)).collect();
                let step = Step { thread: thread.id, edge, choices, ..step_of(thread.id) };
                let Some((step, outcome)) = possible(self.task, interpreter, state, step) else { continue };
                let changes = !matches!(&outcome, Outcome::Next(next) if next == state);
                if changes {
                    return Some((step, outcome));
                }
                passing.get_or_insert((step, outcome));
            }
        }
        passing.filter(|(step, _)| !matches!(self.task.program.edges[step.edge].op, Op::Assert(_)))
    }
}

fn step_of(thread: ThreadId) -> Step {
    Step { thread, edge: 0usize.into(), choices: Vec::new(), passive: Vec::new(), fresh: Vec::new(), body: None }
}

fn leaf_value(leaf: &Expr, values: &[Value]) -> Value {
    match leaf {
        Expr::Var(var) => values[VarId::index(*var)],
        _ => Value::Bool(false),
    }
}

fn int(value: Value) -> Option<i64> {
    match value {
        Value::Int(number) => Some(number),
        Value::Bool(_) | Value::Machine(..) => None,
    }
}

/// The conditions of the step with which the only thread begins, if it has just one.
fn first_conditions(program: &Program) -> Vec<&Expr> {
    let entry = program.entries.first().map(|entry| program.procs[entry.proc].entry);
    let mut firsts = program.edges.iter().filter(|edge| Some(edge.from) == entry);
    let (Some(first), None) = (firsts.next(), firsts.next()) else { return Vec::new() };
    let Op::Assign(assign) = &first.op else { return Vec::new() };
    let mut conditions = Vec::new();
    let mut open = vec![&assign.constrain];
    while let Some(condition) = open.pop() {
        match condition {
            Expr::Binary(BinaryOp::And, pair) => open.extend([&pair.1, &pair.0]),
            condition => conditions.push(condition),
        }
    }
    conditions
}

/// All constants of a program.
fn constants(program: &Program) -> Vec<i64> {
    let mut constants = Vec::new();
    for expr in program.edges.iter().flat_map(|edge| edge.exprs()) {
        expr.for_each_leaf(|leaf| {
            if let Expr::Int(number) = leaf {
                constants.push(*number);
            }
        });
    }
    constants.sort_unstable();
    constants.dedup();
    constants
}
