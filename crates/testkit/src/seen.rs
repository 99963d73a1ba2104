//! Proofs about several threads from the reference interpreter: all reachable states, none left out, no reduction.
//!
//! Results of engines with reductions are compared with them. The reachable states with all threads at listed places
//! are the least set that a proof with these places can have: a proof must not lack one of them.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Place, Role, Seen, Shape, ShapeProof, Task, ThreadScope};
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{EdgeId, LocId, ProcId, Program, Scope, Value, VarId};
use selvedge_replay::replay::reached;
use selvedge_replay::{Frame, Interpreter, Outcome, State, Thread};

use crate::obligations::evaluate;

/// The place of a thread: role, calls that have not returned, location.
pub type Spot = (Role, Vec<EdgeId>, LocId);

/// A state: the shared variables, and the threads in order, each with the values of [`vars`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// The shared variables, in the order of their declaration.
    pub shared: Vec<bool>,
    /// The threads.
    pub threads: Vec<(Spot, Vec<bool>)>,
}

/// The reachable states.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// The states.
    pub rows: BTreeSet<Row>,
    /// An error is among them, or an assertion fails in one.
    pub error: bool,
}

/// Returns the variables of a thread: per-thread ones, then the locals of each frame.
pub fn vars(program: &Program, (role, calls, loc): &Spot) -> Vec<(u32, VarId)> {
    let per_thread = match role {
        Role::Prelude => &[],
        Role::Holder(entry) | Role::Free(entry) => program.entries[*entry].thread_vars.as_slice(),
    };
    let locals = stack(program, calls, *loc).into_iter().zip(0..).flat_map(|(proc, frame)| {
        let locals = program.procs[proc].locals.iter();
        locals.map(move |local| (frame, *local))
    });
    per_thread.iter().map(|var| (0, *var)).chain(locals).collect()
}

/// Returns the procedures on a stack, the running one last.
fn stack(program: &Program, calls: &[EdgeId], loc: LocId) -> Vec<ProcId> {
    let callers = calls.iter().map(|call| program.locs[program.edges[*call].from].proc);
    callers.chain([program.locs[loc].proc]).collect()
}

/// Returns all states that are reachable from the start of a program; `None` if there are more than `limit`, or if the
/// prelude starts threads.
pub fn explore(task: &Task<'_>, limit: usize) -> Option<Reached> {
    let interpreter = Interpreter::new(task.program, task.threads);
    interpreter.enumerable().ok()?;
    let ThreadScope::AtMost(bound) = task.threads else { return None };
    let starts = interpreter.starts(bound).take(limit + 1);
    explore_from(task, starts.map(|start| interpreter.start(&start).expect("the start is listed")).collect(), limit)
}

/// Returns the states in which a run can start; `None` if the prelude starts threads.
pub fn starts(task: &Task<'_>) -> Option<BTreeSet<Row>> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let ThreadScope::AtMost(bound) = task.threads else { return None };
    let starts = interpreter.starts(bound);
    starts.map(|start| row(&interpreter, &interpreter.start(&start).expect("the start is listed"))).collect()
}

/// Returns all states that are reachable from some states; `None` if there are more than `limit`.
pub fn explore_from(task: &Task<'_>, mut waiting: Vec<State>, limit: usize) -> Option<Reached> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let mut found = Reached::default();
    let mut seen = BTreeSet::new();
    while let Some(state) = waiting.pop() {
        let row = row(&interpreter, &state)?;
        let waits = state.prelude.as_ref().map(|prelude| prelude.waiting.clone());
        if !seen.insert((row.clone(), waits)) {
            continue;
        }
        if seen.len() > limit || waiting.len() > 10 * limit {
            return None;
        }
        found.rows.insert(row);
        if reached(task, &state).is_some() {
            found.error = true;
            continue;
        }
        for (position, thread) in state.threads.iter().enumerate() {
            for edge in interpreter.edges(&state, thread) {
                for step in interpreter.steps(&state, position, *edge) {
                    match interpreter.step(&state, &step).expect("the step is listed") {
                        Outcome::Next(next) => waiting.push(next),
                        Outcome::Failed => found.error |= task.target.has_assert(*edge),
                        Outcome::Blocked => {}
                    }
                }
            }
        }
    }
    Some(found)
}

fn row(interpreter: &Interpreter<'_>, state: &State) -> Option<Row> {
    if state.prelude.is_some() && state.threads.len() > 1 {
        return None;
    }
    let truth = |value: &Value| *value == Value::Bool(true);
    let thread = |(position, thread): (usize, &Thread)| {
        let role = match thread.entry {
            None => Role::Prelude,
            Some(entry) if state.holder == Some(thread.id) => Role::Holder(entry),
            Some(entry) => Role::Free(entry),
        };
        let calls: Vec<EdgeId> = thread.stack.iter().filter_map(|frame| frame.call).collect();
        let spot = (role, calls, thread.loc());
        let vars = vars(interpreter.program(), &spot);
        let values = vars.iter().map(|(_, var)| truth(&interpreter.read(state, position, *var))).collect();
        (spot, values)
    };
    let mut threads: Vec<(Spot, Vec<bool>)> = state.threads.iter().enumerate().map(thread).collect();
    threads.sort();
    Some(Row { shared: state.shared.iter().map(truth).collect(), threads })
}

/// Returns a state with this row; `None` in the prelude, where the row does not show which threads wait for its end.
pub fn state(task: &Task<'_>, row: &Row) -> Option<State> {
    let interpreter = Interpreter::new(task.program, task.threads);
    let mut holder = None;
    let mut threads = Vec::new();
    for (number, (spot, values)) in row.threads.iter().enumerate() {
        let id = ThreadId(number as u32);
        let entry = match spot.0 {
            Role::Prelude => return None,
            Role::Holder(entry) => {
                holder = Some(id);
                entry
            }
            Role::Free(entry) => entry,
        };
        let listed = vars(task.program, spot);
        let value = |var: &VarId| {
            let place = listed.iter().position(|(_, other)| other == var);
            Value::Bool(place.is_some_and(|place| values[place]))
        };
        let procs = stack(task.program, &spot.1, spot.2);
        let frame = |(number, proc): (usize, &ProcId)| Frame {
            proc: *proc,
            loc: spot.1.get(number).map_or(spot.2, |call| task.program.edges[*call].from),
            call: spot.1.get(number).copied(),
            locals: task.program.procs[*proc].locals.iter().map(value).collect(),
        };
        threads.push(Thread {
            id,
            entry: Some(entry),
            vars: interpreter.thread_vars().iter().map(value).collect(),
            stack: procs.iter().enumerate().map(frame).collect(),
        });
    }
    let next_thread = threads.len() as u32;
    let shared = row.shared.iter().map(|value| Value::Bool(*value)).collect();
    Some(State { shared, holder, threads, prelude: None, next_thread })
}

/// Returns all places of some states.
pub fn spots(rows: &BTreeSet<Row>) -> BTreeSet<Spot> {
    rows.iter().flat_map(|row| row.threads.iter().map(|(spot, _)| spot.clone())).collect()
}

/// Returns the proof that consists of the states in which all threads are at listed places.
pub fn proof(program: &Program, rows: &BTreeSet<Row>, listed: &BTreeSet<Spot>) -> ShapeProof {
    let place = |spot: &Spot| Place { role: spot.0, calls: spot.1.clone(), loc: spot.2, vars: vars(program, spot) };
    let numbers: BTreeMap<&Spot, u32> = listed.iter().zip(0..).collect();
    let mut shapes: BTreeMap<Vec<u32>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let threads: Option<Vec<u32>> = row.threads.iter().map(|(spot, _)| numbers.get(spot).copied()).collect();
        if let Some(threads) = threads {
            shapes.entry(threads).or_default().push(row);
        }
    }
    let mut writer = Writer { shared: shared(program), formulas: Formulas::default() };
    let shape = |(threads, rows): (Vec<u32>, Vec<&Row>)| Shape::of_all(threads, 0, writer.either(&rows));
    let shapes = shapes.into_iter().map(shape).collect();
    ShapeProof { seen: Seen::All, formulas: writer.formulas, places: listed.iter().map(place).collect(), shapes }
}

fn shared(program: &Program) -> Vec<VarId> {
    program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared).map(|(id, _)| id).collect()
}

/// Returns whether a proof allows a state; `None` if a thread is at a place that it does not list.
pub fn allows(program: &Program, proof: &ShapeProof, row: &Row) -> Option<bool> {
    let mut threads: Vec<(u32, Vec<bool>)> = Vec::new();
    for (spot, values) in &row.threads {
        let is_here = |place: &Place| (place.role, &place.calls, place.loc) == (spot.0, &spot.1, spot.2);
        let number = proof.places.iter().position(is_here)?;
        let all = vars(program, spot);
        let value =
            |(_, var): &(u32, VarId)| all.iter().position(|(_, other)| other == var).is_some_and(|at| values[at]);
        threads.push((number as u32, proof.places[number].vars.iter().map(value).collect()));
    }
    threads.sort();
    let places: Vec<u32> = threads.iter().map(|(place, _)| *place).collect();
    let Some(shape) = proof.shapes.iter().find(|shape| shape.threads == places) else { return Some(false) };
    let shared = shared(program);
    let atom = |atom: Atom| match atom {
        Atom::Now(var) => shared.iter().position(|other| *other == var).map(|at| row.shared[at]),
        Atom::Of { thread, var } => threads.get(thread as usize)?.1.get(var as usize).copied(),
        Atom::Entry(_) | Atom::Result(_) => None,
    };
    evaluate(&proof.formulas, shape.formula, &|proposition| Some(atom(proposition).unwrap_or(false)))
}

struct Writer {
    shared: Vec<VarId>,
    formulas: Formulas,
}

impl Writer {
    fn add(&mut self, node: Node) -> FormulaId {
        self.formulas.add(node).expect("parts come first")
    }

    fn either(&mut self, rows: &[&Row]) -> FormulaId {
        let falsehood = self.add(Node::Const(false));
        rows.iter().fold(falsehood, |all, row| {
            let row = self.exactly(row);
            self.add(Node::Or(all, row))
        })
    }

    fn exactly(&mut self, row: &Row) -> FormulaId {
        let shared = self.shared.iter().map(|var| Atom::Now(*var)).zip(row.shared.iter().copied());
        let of_thread = |(thread, (_, values)): (u32, &(Spot, Vec<bool>))| {
            let atoms = values.iter().zip(0..).map(move |(value, var)| (Atom::Of { thread, var }, *value));
            atoms.collect::<Vec<_>>()
        };
        let threads = (0..).zip(&row.threads).flat_map(of_thread);
        let literals: Vec<(Atom, bool)> = shared.chain(threads).collect();
        let truth = self.add(Node::Const(true));
        literals.into_iter().fold(truth, |all, (atom, value)| {
            let atom = self.add(Node::Atom(atom));
            let literal = if value { atom } else { self.add(Node::Not(atom)) };
            self.add(Node::And(all, literal))
        })
    }
}
