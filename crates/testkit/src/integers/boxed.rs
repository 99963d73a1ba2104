//! A search of all states whose integers are within bounds, over the reference meaning of steps.
//!
//! It supports programs of guarded commands: one thread that makes a first step and then stays at one location. Errors
//! that it finds are errors; without an error, it says nothing about states outside of the box.

use std::collections::{HashMap, VecDeque};

use selvedge_check::{Target, Task, ThreadScope};
use selvedge_ir::eval::{eval, holds};
use selvedge_ir::trace::{Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::visit::reads;
use selvedge_ir::{BinaryOp, EdgeId, EntryId, Expr, Op, Program, Ty, Value, VarId};

/// The limits of the search.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The greatest absolute value of integers in states.
    pub size: i64,
    /// The greatest absolute value that is tried for inputs and for variables with an arbitrary initial value.
    pub inputs: i64,
    /// The limit on states.
    pub states: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { size: 60, inputs: 2, states: 20_000 }
    }
}

/// The result of the search.
#[derive(Clone, Debug)]
pub enum Found {
    /// An execution to an error.
    Error(Trace),
    /// No error.
    None {
        /// These are all states that the program can reach.
        complete: bool,
    },
}

type Valuation = Vec<Value>;

/// Searches breadth-first.
pub fn search(program: &Program, target: &Target, bounds: Bounds) -> Found {
    let Some(first) = program.edges.position(|edge| edge.from == entry(program)) else {
        return Found::None { complete: true };
    };
    let mut search = Search { program, bounds, complete: true, known: HashMap::new(), waiting: VecDeque::new() };
    search.starts(first);
    while let Some(state) = search.waiting.pop_front() {
        for (edge, data) in program.edges.iter_enumerated().filter(|(edge, _)| *edge != first) {
            match &data.op {
                Op::Assert(condition)
                    if target.has_assert(edge) && search.holds(condition, &state, &[]) == Some(false) =>
                {
                    return Found::Error(search.trace(first, &state, edge));
                }
                Op::Assign(_) => search.command(edge, &state),
                _ => {}
            }
        }
    }
    Found::None { complete: search.complete }
}

/// Returns the question about a program of guarded commands.
pub fn task<'p>(program: &'p Program, target: &'p Target) -> Task<'p> {
    Task { program, target, threads: ThreadScope::Unbounded }
}

fn entry(program: &Program) -> selvedge_ir::LocId {
    program.procs[program.entries[EntryId::new(0)].proc].entry
}

struct Search<'p> {
    program: &'p Program,
    bounds: Bounds,
    complete: bool,
    /// The predecessor of each state; `None` for initial states.
    known: HashMap<Valuation, Option<(Valuation, EdgeId, Vec<Value>)>>,
    waiting: VecDeque<Valuation>,
}

impl Search<'_> {
    fn holds(&self, condition: &Expr, state: &[Value], choices: &[Value]) -> Option<bool> {
        holds(condition, &|leaf| leaf_value(leaf, state, choices)).ok()
    }

    fn keep(&mut self, state: Valuation, from: Option<(Valuation, EdgeId, Vec<Value>)>) {
        let inside = state.iter().all(|value| match value {
            Value::Int(number) => number.abs() <= self.bounds.size,
            Value::Bool(_) | Value::Machine(..) => true,
        });
        if self.known.contains_key(&state) {
            return;
        }
        if !inside || self.known.len() >= self.bounds.states {
            self.complete = false;
            return;
        }
        self.known.insert(state.clone(), from);
        self.waiting.push_back(state);
    }

    /// Finds all initial states, one variable after the other; each condition is evaluated once its variables have
    /// values.
    fn starts(&mut self, first: EdgeId) {
        let Op::Assign(assign) = &self.program.edges[first].op else { return };
        let conditions = assign.constrain.conjuncts();
        let n_vars = self.program.vars.len();
        let mut open: Vec<Vec<Option<Value>>> = vec![vec![None; n_vars]];
        while let Some(partial) = open.pop() {
            if self.known.len() >= self.bounds.states {
                self.complete = false;
                return;
            }
            let decided = |condition: &Expr| reads(condition).iter().all(|var| partial[var.index()].is_some());
            let refuted = conditions.iter().any(|condition| {
                decided(condition) && holds(condition, &|leaf| partial_value(leaf, &partial)) != Ok(true)
            });
            if refuted {
                continue;
            }
            match self.next_variable(&conditions, &partial) {
                None => {
                    let state = partial.iter().map(|value| value.expect("no variable is left")).collect();
                    self.keep(state, None);
                }
                Some((var, values)) => open.extend(values.into_iter().map(|value| {
                    let mut longer = partial.clone();
                    longer[var] = Some(value);
                    longer
                })),
            }
        }
    }

    /// Returns the variable to decide next, and its values: first one that an equation determines.
    fn next_variable(&mut self, conditions: &[&Expr], partial: &[Option<Value>]) -> Option<(usize, Vec<Value>)> {
        for condition in conditions {
            let Expr::Binary(BinaryOp::Eq, pair) = condition else { continue };
            for (var, other) in [(&pair.0, &pair.1), (&pair.1, &pair.0)] {
                let Expr::Var(var) = var else { continue };
                let is_given = reads(other).iter().all(|read| partial[read.index()].is_some());
                if partial[var.index()].is_none() && is_given {
                    let value = eval(other, &|leaf| partial_value(leaf, partial)).ok();
                    return Some((var.index(), value.into_iter().collect()));
                }
            }
        }
        let var = partial.iter().position(Option::is_none)?;
        let ty = self.program.vars[VarId::new(var)].ty;
        if ty == Ty::Int && !is_bounded(var, conditions, self.bounds.inputs) {
            self.complete = false;
        }
        Some((var, self.inputs(ty)))
    }

    fn inputs(&self, ty: Ty) -> Vec<Value> {
        match ty {
            Ty::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Ty::Machine(_) => unreachable!("guarded commands have no machine integers"),
            Ty::Int => {
                let mut values: Vec<i64> = (-self.bounds.inputs..=self.bounds.inputs).collect();
                values.sort_by_key(|value| std::cmp::Reverse(value.abs()));
                values.into_iter().map(Value::Int).collect()
            }
        }
    }

    /// Finds all states to which a command leads.
    fn command(&mut self, edge: EdgeId, state: &Valuation) {
        let Op::Assign(assign) = &self.program.edges[edge].op else { return };
        let types = assign.choices();
        self.complete &= !types.contains(&Ty::Int);
        let mut all: Vec<Vec<Value>> = vec![Vec::new()];
        for ty in types {
            let values = self.inputs(ty);
            all = all.into_iter().flat_map(|choices| values.iter().map(move |value| with(&choices, *value))).collect();
        }
        for choices in all {
            if self.holds(&assign.constrain, state, &choices) != Some(true) {
                continue;
            }
            let mut next = state.clone();
            let mut fits = true;
            for (var, rhs) in &assign.active {
                match eval(rhs, &|leaf| leaf_value(leaf, state, &choices)) {
                    Ok(value) => next[var.index()] = value,
                    Err(_) => fits = false,
                }
            }
            self.complete &= fits;
            if fits {
                self.keep(next, Some((state.clone(), edge, choices)));
            }
        }
    }

    fn trace(&self, first: EdgeId, state: &Valuation, failing: EdgeId) -> Trace {
        let mut steps = vec![step(failing, Vec::new())];
        let mut state = state;
        while let Some(Some((before, edge, choices))) = self.known.get(state) {
            steps.push(step(*edge, choices.clone()));
            state = before;
        }
        steps.push(step(first, Vec::new()));
        steps.reverse();
        let fresh = state.iter().enumerate().map(|(var, value)| (VarId::new(var), *value)).collect();
        let threads = vec![StartThread { entry: EntryId::new(0), choices: Vec::new(), fresh: Vec::new() }];
        Trace { start: Start { choices: Vec::new(), fresh, threads }, steps, bodies: Vec::new() }
    }
}

fn step(edge: EdgeId, choices: Vec<Value>) -> Step {
    Step { thread: ThreadId(0), edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None }
}

fn with(choices: &[Value], value: Value) -> Vec<Value> {
    choices.iter().copied().chain([value]).collect()
}

fn leaf_value(leaf: &Expr, state: &[Value], choices: &[Value]) -> Value {
    match leaf {
        Expr::Var(var) => state[var.index()],
        Expr::Choice(number, _) => choices[*number as usize],
        _ => unreachable!("guarded commands have no other leaves"),
    }
}

fn partial_value(leaf: &Expr, partial: &[Option<Value>]) -> Value {
    match leaf {
        Expr::Var(var) => partial[var.index()].expect("only decided conditions are looked at"),
        _ => unreachable!("conditions on first states have no other leaves"),
    }
}

/// Returns whether conditions keep a variable within the values that are tried for it.
fn is_bounded(var: usize, conditions: &[&Expr], most: i64) -> bool {
    let bound = |condition: &Expr| match condition {
        Expr::Binary(BinaryOp::Le, pair) => match &**pair {
            (Expr::Int(low), Expr::Var(this)) if this.index() == var => Some((Some(*low), None)),
            (Expr::Var(this), Expr::Int(high)) if this.index() == var => Some((None, Some(*high))),
            _ => None,
        },
        _ => None,
    };
    let bounds: Vec<(Option<i64>, Option<i64>)> = conditions.iter().filter_map(|condition| bound(condition)).collect();
    let low = bounds.iter().filter_map(|(low, _)| *low).max();
    let high = bounds.iter().filter_map(|(_, high)| *high).min();
    low.is_some_and(|low| low >= -most) && high.is_some_and(|high| high <= most)
}
