//! All starts of a program and all steps of a state, one for each way to choose; and what readers of states ask.
//!
//! Both are lazy: there are two to the number of choices of them. Judgements about deadlocks rest on them.

use std::collections::BTreeSet;

use selvedge_check::execution::{State, Thread};
use selvedge_ir::trace::{Fresh, Start, StartThread, Step};
use selvedge_ir::{Count, EdgeId, EntryId, Expr, Op, ProcId, Program, Scope, Ty, Value, Var, VarId};

use crate::interpreter::{Interpreter, StepScene};
use crate::program::{choice_types, concerns_others, default_value, exprs, is_per_thread};
use crate::semantics::participants;

/// The greatest number of bits of a machine integer whose values are listed.
pub const MAX_WIDTH: usize = 16;

impl Interpreter<'_> {
    /// Returns whether everything nondeterministic is Boolean or a machine integer of at most [`MAX_WIDTH`] bits, so
    /// that [`Interpreter::starts`] and [`Interpreter::steps`] list all there is; else a variable or edge that is not.
    pub fn enumerable(&self) -> Result<(), String> {
        if let Some(var) = self.program.vars.iter().find(|var| var.ty == Ty::Int) {
            return Err(format!("`{}` is an integer, which may start with infinitely many values", var.name));
        }
        if let Some(var) = self.all_fresh().into_iter().find(|var| width(self.program.vars[*var].ty) > MAX_WIDTH) {
            let Var { name, ty, .. } = &self.program.vars[var];
            return Err(format!("`{name}` may start with any value of type {ty}, too many to try one by one"));
        }
        let init_choices = |init: &[(VarId, Expr)]| choice_types(init.iter().map(|(_, rhs)| rhs));
        let of_edges = self.program.edges.iter().map(|edge| choice_types(exprs(&edge.op)));
        let of_entries = self.program.entries.iter().map(|entry| init_choices(&entry.init));
        let of_starts = of_entries.chain([init_choices(&self.program.init)]);
        let named = of_edges.map(|types| ("a step".to_owned(), types));
        for (name, types) in named.chain(of_starts.map(|types| ("an initial value".to_owned(), types))) {
            match types.into_iter().find(|ty| *ty == Ty::Int || width(*ty) > MAX_WIDTH) {
                Some(Ty::Int) => return Err(format!("{name} chooses an integer")),
                Some(ty) => {
                    return Err(format!("{name} chooses any value of type {ty}, too many to try one by one"));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// All variables that may start with any value.
    fn all_fresh(&self) -> Vec<VarId> {
        let mut fresh = self.fresh_shared();
        fresh.extend(self.program.entries.indices().flat_map(|id| self.open_thread(id).fresh));
        for edge in &self.program.edges {
            match &edge.op {
                Op::Call(call) => fresh.extend(self.fresh_locals(call.callee)),
                Op::Spawn(spawn) => fresh.extend(self.fresh_locals(spawn.callee)),
                _ => {}
            }
        }
        fresh
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
        let program = self.program;
        let shared = Open::new(&program.init, self.fresh_shared());
        let threads: Vec<(EntryId, Open)> = crew.into_iter().map(|id| (id, self.open_thread(id))).collect();
        let n_bits = shared.n_bits(program) + threads.iter().map(|(_, open)| open.n_bits(program)).sum::<usize>();
        assignments(n_bits).map(move |bits| {
            let mut bits = bits.into_iter();
            let (choices, fresh) = shared.fill(program, &mut bits);
            let thread = |(entry, open): &(EntryId, Open)| {
                let (choices, fresh) = open.fill(program, &mut bits);
                StartThread { entry: *entry, choices, fresh }
            };
            Start { choices, fresh, threads: threads.iter().map(thread).collect() }
        })
    }

    /// All steps of the thread at `position` along one of its edges, blocked ones included.
    pub fn steps(&self, state: &State, position: usize, edge: EdgeId) -> impl Iterator<Item = Step> {
        let op = &self.program.edges[edge].op;
        let types = choice_types(exprs(op));
        let (n_others, per_thread): (usize, Vec<bool>) = match op {
            Op::Assign(assign) if concerns_others(op) => {
                let per_thread = (0..types.len() as u32).map(|number| is_per_thread(assign, number)).collect();
                (
                    participants(assign, &StepScene { interpreter: self, state, position, choices: &[], passive: &[] })
                        .len(),
                    per_thread,
                )
            }
            _ => (0, vec![false; types.len()]),
        };
        let fresh = match op {
            Op::Call(call) => self.fresh_locals(call.callee),
            Op::Spawn(spawn) if self.has_room(state) => self.fresh_locals(spawn.callee),
            _ => Vec::new(),
        };
        let choices: Vec<(Ty, bool)> = types.into_iter().zip(per_thread).collect();
        let n_made = |wanted: bool| -> usize {
            choices.iter().filter(|(_, per_thread)| *per_thread == wanted).map(|(ty, _)| width(*ty)).sum()
        };
        let program = self.program;
        let n_bits = n_made(false) + n_others * n_made(true) + n_fresh_bits(program, &fresh);
        let thread = state.threads[position].id;
        assignments(n_bits).map(move |bits| {
            let mut bits = bits.into_iter();
            Step {
                thread,
                edge,
                choices: fill(&choices, false, &mut bits),
                passive: (0..n_others).map(|_| fill(&choices, true, &mut bits)).collect(),
                fresh: fill_fresh(program, &fresh, &mut bits),
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
    choices: Vec<Ty>,
    fresh: Vec<VarId>,
}

impl Open {
    fn new(init: &[(VarId, Expr)], fresh: Vec<VarId>) -> Open {
        Open { choices: choice_types(init.iter().map(|(_, rhs)| rhs)), fresh }
    }

    fn n_bits(&self, program: &Program) -> usize {
        self.choices.iter().map(|ty| width(*ty)).sum::<usize>() + n_fresh_bits(program, &self.fresh)
    }

    fn fill(&self, program: &Program, bits: &mut impl Iterator<Item = bool>) -> (Vec<Value>, Fresh) {
        let choices = self.choices.iter().map(|ty| take(*ty, bits)).collect();
        (choices, fill_fresh(program, &self.fresh, bits))
    }
}

/// Values for those choices that are made per thread, or for those that are not; default values for the others.
fn fill(choices: &[(Ty, bool)], wanted: bool, bits: &mut impl Iterator<Item = bool>) -> Vec<Value> {
    let mut value = |ty: Ty, per_thread: bool| if per_thread == wanted { take(ty, bits) } else { default_value(ty) };
    choices.iter().map(|(ty, per_thread)| value(*ty, *per_thread)).collect()
}

fn fill_fresh(program: &Program, vars: &[VarId], bits: &mut impl Iterator<Item = bool>) -> Fresh {
    vars.iter().map(|var| (*var, take(program.vars[*var].ty, bits))).collect()
}

fn n_fresh_bits(program: &Program, vars: &[VarId]) -> usize {
    vars.iter().map(|var| width(program.vars[*var].ty)).sum()
}

/// The number of bits that make a value. One integer stands for all.
fn width(ty: Ty) -> usize {
    match ty {
        Ty::Bool => 1,
        Ty::Machine(ty) => usize::from(ty.bits),
        Ty::Int => 0,
    }
}

/// The value of a type that the next bits make, the highest first.
fn take(ty: Ty, bits: &mut impl Iterator<Item = bool>) -> Value {
    let mut next = || bits.next().expect("as many bits as the values have");
    match ty {
        Ty::Bool => Value::Bool(next()),
        Ty::Machine(ty) => Value::Machine(ty, (0..ty.bits).fold(0, |value, _| value << 1 | u64::from(next()))),
        Ty::Int => Value::Int(0),
    }
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
