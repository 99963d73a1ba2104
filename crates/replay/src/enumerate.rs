//! All starts of a program and all steps of a state, one for each way to choose; and what readers of states ask.
//!
//! Both are lazy: there are two to the number of choices of them. Judgements about deadlocks rest on them.

use std::collections::BTreeSet;

use selvedge_check::execution::{State, Thread};
use selvedge_ir::trace::{Fresh, Start, StartThread, Step};
use selvedge_ir::{Count, EdgeId, EntryId, Expr, Op, ProcId, Program, Scope, Ty, Value, VarId};

use crate::interpreter::{Interpreter, StepScene};
use crate::program::{choice_types, concerns_others, exprs, is_per_thread};
use crate::semantics::participants;

impl Interpreter<'_> {
    /// Returns whether everything nondeterministic is Boolean, so that [`Interpreter::starts`] and
    /// [`Interpreter::steps`] list all there is; else a variable or edge that is not.
    pub fn enumerable(&self) -> Result<(), String> {
        let int_var = self.program.vars.iter().find(|var| var.ty != Ty::Bool);
        if let Some(var) = int_var {
            return Err(format!("`{}` is an integer, which may start with infinitely many values", var.name));
        }
        match self.program.edges.iter().position(|edge| choice_types(exprs(&edge.op)).contains(&Ty::Int)) {
            Some(edge) => Err(format!("edge {edge} chooses an integer")),
            None => Ok(()),
        }
    }

    /// All starts with at most `max_threads` initial threads, those with fewer threads first.
    pub fn starts(&self, max_threads: u32) -> impl Iterator<Item = Start> {
        let mut crews = vec![Vec::new()];
        for (id, entry) in self.program.entries.iter_enumerated() {
            crews = crews.iter().flat_map(|crew| with_entry(crew, id, entry.count, max_threads)).collect();
        }
        crews.sort_by_key(Vec::len);
        crews.into_iter().flat_map(|crew| self.starts_of(crew))
    }

    /// All starts with these initial threads.
    fn starts_of(&self, crew: Vec<EntryId>) -> impl Iterator<Item = Start> {
        let shared = Open::new(&self.program.init, self.fresh_shared());
        let threads: Vec<(EntryId, Open)> = crew.into_iter().map(|id| (id, self.open_thread(id))).collect();
        let n_bits = shared.n_bits() + threads.iter().map(|(_, open)| open.n_bits()).sum::<usize>();
        assignments(n_bits).map(move |bits| {
            let mut bits = bits.into_iter();
            let (choices, fresh) = shared.fill(&mut bits);
            let thread = |(entry, open): &(EntryId, Open)| {
                let (choices, fresh) = open.fill(&mut bits);
                StartThread { entry: *entry, choices, fresh }
            };
            Start { choices, fresh, threads: threads.iter().map(thread).collect() }
        })
    }

    /// All steps of the thread at `position` along one of its edges, blocked ones included.
    pub fn steps(&self, state: &State, position: usize, edge: EdgeId) -> impl Iterator<Item = Step> {
        let op = &self.program.edges[edge].op;
        let n_choices = choice_types(exprs(op)).len();
        let (n_others, per_thread): (usize, Vec<bool>) = match op {
            Op::Assign(assign) if concerns_others(op) => {
                let per_thread = (0..n_choices as u32).map(|number| is_per_thread(assign, number)).collect();
                (
                    participants(assign, &StepScene { interpreter: self, state, position, choices: &[], passive: &[] })
                        .len(),
                    per_thread,
                )
            }
            _ => (0, vec![false; n_choices]),
        };
        let fresh = match op {
            Op::Call(call) => self.fresh_locals(call.callee),
            Op::Spawn(spawn) if self.has_room(state) => self.fresh_locals(spawn.callee),
            _ => Vec::new(),
        };
        let n_per_thread = per_thread.iter().filter(|per_thread| **per_thread).count();
        let n_bits = n_choices - n_per_thread + n_others * n_per_thread + fresh.len();
        let thread = state.threads[position].id;
        assignments(n_bits).map(move |bits| {
            let mut bits = bits.into_iter();
            Step {
                thread,
                edge,
                choices: fill(&per_thread, false, &mut bits),
                passive: (0..n_others).map(|_| fill(&per_thread, true, &mut bits)).collect(),
                fresh: fill_fresh(&fresh, &mut bits),
                body: None,
            }
        })
    }

    /// The open values of a thread of this kind.
    fn open_thread(&self, id: EntryId) -> Open {
        let entry = &self.program.entries[id];
        let uninitialised = entry.thread_vars.iter().filter(|var| !initialises(&entry.init, **var)).copied();
        let params = self.program.procs[entry.proc].params.iter().copied();
        let fresh = self.listed(uninitialised.chain(params)).into_iter().chain(self.fresh_locals(entry.proc));
        Open::new(&entry.init, fresh.collect())
    }

    fn fresh_shared(&self) -> Vec<VarId> {
        let shared = self.layout.shared.iter().filter(|var| !initialises(&self.program.init, **var)).copied();
        let prelude = self.program.prelude.map_or(Vec::new(), |prelude| self.fresh_locals(prelude));
        self.listed(shared).into_iter().chain(prelude).collect()
    }

    fn fresh_locals(&self, proc: ProcId) -> Vec<VarId> {
        let proc = &self.program.procs[proc];
        self.listed(proc.locals.iter().filter(|local| !proc.params.contains(local)).copied())
    }

    /// The variables whose fresh values are to be listed.
    fn listed(&self, vars: impl Iterator<Item = VarId>) -> Vec<VarId> {
        vars.filter(|var| !self.settled.contains(var)).collect()
    }
}

/// A list of initial threads, extended by each allowed number of threads of one more kind.
fn with_entry(crew: &[EntryId], id: EntryId, count: Count, max_threads: u32) -> Vec<Vec<EntryId>> {
    let room = (max_threads as usize).saturating_sub(crew.len());
    let counts = (0..=room).filter(|n_threads| count.allows(*n_threads));
    counts.map(|n_threads| crew.iter().copied().chain(std::iter::repeat_n(id, n_threads)).collect()).collect()
}

/// The open parts of the initial values of a scope: the choices, and the variables that start with any value.
struct Open {
    n_choices: usize,
    fresh: Vec<VarId>,
}

impl Open {
    fn new(init: &[(VarId, Expr)], fresh: Vec<VarId>) -> Open {
        Open { n_choices: choice_types(init.iter().map(|(_, rhs)| rhs)).len(), fresh }
    }

    fn n_bits(&self) -> usize {
        self.n_choices + self.fresh.len()
    }

    fn fill(&self, bits: &mut impl Iterator<Item = bool>) -> (Vec<Value>, Fresh) {
        let choices = bits.by_ref().take(self.n_choices).map(Value::Bool).collect();
        (choices, fill_fresh(&self.fresh, bits))
    }
}

/// Values for those choices that are made per thread, or for those that are not; `false` for the others.
fn fill(per_thread: &[bool], wanted: bool, bits: &mut impl Iterator<Item = bool>) -> Vec<Value> {
    let value = |per_thread: &bool| Value::Bool(*per_thread == wanted && bits.next().expect("a bit per choice"));
    per_thread.iter().map(value).collect()
}

fn fill_fresh(vars: &[VarId], bits: &mut impl Iterator<Item = bool>) -> Fresh {
    vars.iter().zip(bits).map(|(var, bit)| (*var, Value::Bool(bit))).collect()
}

fn initialises(init: &[(VarId, Expr)], var: VarId) -> bool {
    init.iter().any(|(initialised, _)| *initialised == var)
}

/// All assignments to `n_bits` bits, in the order of binary numbers.
fn assignments(n_bits: usize) -> impl Iterator<Item = Vec<bool>> {
    let mut next = Some(vec![false; n_bits]);
    std::iter::from_fn(move || {
        let current = next.take()?;
        next = successor(&current);
        Some(current)
    })
}

/// The next binary number with the last bit lowest, or `None` after the greatest.
fn successor(bits: &[bool]) -> Option<Vec<bool>> {
    let lowest_zero = bits.iter().rposition(|bit| !bit)?;
    let mut bits = bits.to_vec();
    bits[lowest_zero] = true;
    bits[lowest_zero + 1..].fill(false);
    Some(bits)
}

/// The number of initial threads that every run has.
pub fn least_threads(program: &Program) -> u32 {
    let least = |count: Count| if let Count::Exactly(count) = count { count } else { 0 };
    program.entries.iter().map(|entry| least(entry.count)).sum()
}

/// Questions of those who read states.
impl<'p> Interpreter<'p> {
    /// Lets these variables start with the default value in all starts and steps that it lists. For variables that
    /// no thread reads before they are written this loses nothing.
    pub fn settling(self, settled: BTreeSet<VarId>) -> Interpreter<'p> {
        Interpreter { settled, ..self }
    }

    /// The program that it executes.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The edges along which a thread could move: none if another thread holds the atomic flag.
    pub fn edges(&self, state: &State, thread: &Thread) -> &[EdgeId] {
        if state.may_move(thread.id) { &self.leaving[thread.loc()] } else { &[] }
    }

    /// The value of a variable as the thread at `position` sees it.
    pub fn read(&self, state: &State, position: usize, var: VarId) -> Value {
        self.layout.read(state, position, var)
    }

    /// The shared variables, in the order of [`State::shared`].
    pub fn shared_vars(&self) -> &[VarId] {
        &self.layout.shared
    }

    /// The per-thread variables, in the order of [`Thread::vars`].
    pub fn thread_vars(&self) -> &[VarId] {
        &self.layout.thread
    }

    /// Returns whether a variable of this scope is visible in a procedure.
    pub fn sees(&self, proc: ProcId, var: VarId) -> bool {
        match self.program.vars[var].scope {
            Scope::Shared | Scope::Thread => true,
            Scope::Local(owner) => owner == proc,
        }
    }
}
