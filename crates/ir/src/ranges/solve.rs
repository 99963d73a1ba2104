//! The solver of the equations between sets of values.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use super::eval::Facts;
use super::live::live;
use super::{Range, Ranges};
use crate::flow::Flow;
use crate::syntax::{Assign, Call, Edge, Expr, LocId, MachineTy, Op, ProcId, Program, Scope, Ty, VarId};

/// The number of times that a set may grow without being widened.
const MAX_GROWTH: u32 = 4;

/// Finds the sets of all variables.
pub(super) fn solve(program: &Program) -> Ranges {
    let mut solver = Solver::new(program);
    solver.start();
    while let Some(loc) = solver.waiting.pop_front() {
        solver.waits.set(loc.index(), false);
        for edge in solver.flow.out(loc).to_vec() {
            solver.step(&program.edges[edge]);
        }
    }
    solver.ranges()
}

/// A set that grows.
#[derive(Clone)]
struct Growing {
    range: Range,
    growth: u32,
}

impl Growing {
    fn never() -> Growing {
        Growing { range: Range::Never, growth: 0 }
    }

    /// Adds values of a type; returns whether there are more than before.
    fn add(&mut self, more: &Range, ty: Ty, thresholds: &[i128]) -> bool {
        let joined = self.range.join(more);
        if joined == self.range {
            return false;
        }
        self.growth += 1;
        let widens = self.growth > MAX_GROWTH;
        let next = if widens { self.range.widen(&joined, thresholds) } else { joined };
        self.range = next.meet(&Range::all(ty));
        true
    }
}

struct Solver<'p> {
    program: &'p Program,
    flow: Flow,
    thresholds: Vec<i128>,
    /// The locals that are read later, at each location.
    live: IndexVec<LocId, FixedBitSet>,
    /// The variables with one set for the whole program: those that are not local, or that other threads mention.
    is_global: IndexVec<VarId, bool>,
    globals: IndexVec<VarId, Growing>,
    results: IndexVec<ProcId, Vec<Growing>>,
    /// The sets of the locals at each location that is reached, by their places in the procedure's list.
    locals: IndexVec<LocId, Option<Vec<Growing>>>,
    place: IndexVec<VarId, usize>,
    /// The locations whose steps read each global variable.
    readers: IndexVec<VarId, Vec<LocId>>,
    /// The calls of each procedure, by their locations.
    callers: IndexVec<ProcId, Vec<LocId>>,
    waiting: VecDeque<LocId>,
    waits: FixedBitSet,
}

impl<'p> Solver<'p> {
    fn new(program: &'p Program) -> Solver<'p> {
        let mut place = IndexVec::from_vec(vec![0; program.vars.len()]);
        for proc in &program.procs {
            proc.locals.iter().enumerate().for_each(|(idx, local)| place[*local] = idx);
        }
        let mut callers = IndexVec::from_vec(vec![Vec::new(); program.procs.len()]);
        for edge in &program.edges {
            if let Op::Call(call) = &edge.op {
                callers[call.callee].push(edge.from);
            }
        }
        Solver {
            program,
            flow: Flow::new(program),
            thresholds: thresholds(program),
            live: live(program),
            is_global: globals(program),
            globals: program.vars.iter().map(|_| Growing::never()).collect(),
            results: program.procs.iter().map(|proc| vec![Growing::never(); proc.results.len()]).collect(),
            locals: program.locs.iter().map(|_| None).collect(),
            place,
            readers: readers(program),
            callers,
            waiting: VecDeque::new(),
            waits: FixedBitSet::with_capacity(program.locs.len()),
        }
    }

    /// The initial values. A variable without one may start with any.
    fn start(&mut self) {
        let program = self.program;
        for (var, decl) in program.vars.iter_enumerated() {
            let is_open = match decl.scope {
                Scope::Shared => program.init.iter().all(|(initialised, _)| *initialised != var),
                // The thread of a prelude has no kind, so that its per-thread variables may hold anything.
                Scope::Thread => {
                    let open = |entry: &crate::Entry| {
                        entry.thread_vars.contains(&var)
                            && entry.init.iter().all(|(initialised, _)| *initialised != var)
                    };
                    program.prelude.is_some() || program.entries.iter().any(open)
                }
                Scope::Local(proc) => {
                    !program.procs[proc].params.contains(&var) || program.roots().any(|root| root == proc)
                }
            };
            if is_open && self.is_global[var] {
                self.add_global(var, &Range::all(decl.ty));
            }
            // Threads of other kinds have the default value.
            if decl.scope == Scope::Thread {
                self.add_global(var, &Range::one(0));
            }
        }
        for root in program.roots().collect::<Vec<_>>() {
            let params = program.procs[root].params.iter().map(|param| Range::all(program.vars[*param].ty)).collect();
            self.enter(root, params);
        }
        self.initial_values();
    }

    /// Adds what initial values evaluate to, again whenever a variable has grown that they read: at most as often as
    /// variables grow.
    fn initial_values(&mut self) {
        let program = self.program;
        let inits = program.entries.iter().flat_map(|entry| &entry.init).chain(&program.init);
        for (var, rhs) in inits {
            let range = Facts::new(&|leaf| self.leaf(&[], leaf)).eval(rhs);
            self.add_global(*var, &range);
        }
    }

    /// Returns the values of a leaf where the locals have these values.
    fn leaf(&self, locals: &[Growing], leaf: &Expr) -> Range {
        match leaf {
            Expr::Choice(_, ty) => Range::all(*ty),
            leaf => match leaf.var() {
                Some(var) if self.is_global[var] => self.globals[var].range.clone(),
                Some(var) => locals[self.place[var]].range.clone(),
                None => Range::Never,
            },
        }
    }

    fn add_global(&mut self, var: VarId, more: &Range) {
        let program = self.program;
        if !self.globals[var].add(more, program.vars[var].ty, &self.thresholds) {
            return;
        }
        for loc in self.readers[var].clone() {
            self.wait(loc);
        }
        let is_initial = |(_, rhs): &(VarId, Expr)| rhs.any_leaf(|leaf| *leaf == Expr::Var(var));
        if program.entries.iter().flat_map(|entry| &entry.init).any(is_initial) {
            self.initial_values();
        }
    }

    fn wait(&mut self, loc: LocId) {
        if self.locals[loc].is_some() && !self.waits.put(loc.index()) {
            self.waiting.push_back(loc);
        }
    }

    /// A frame of a procedure begins with these values of its parameters.
    fn enter(&mut self, proc: ProcId, args: Vec<Range>) {
        let program = self.program;
        let Procs { params, locals, entry } = Procs::of(program, proc);
        let mut begun: Vec<Range> = Vec::new();
        for local in locals {
            begun.push(match params.iter().position(|param| param == local) {
                Some(number) => args[number].clone(),
                None if self.live[entry].contains(local.index()) => Range::all(program.vars[*local].ty),
                None => Range::Never,
            });
        }
        for (local, range) in locals.iter().zip(&begun).filter(|(local, _)| params.contains(local)) {
            if self.is_global[*local] {
                self.add_global(*local, range);
            }
        }
        self.reach(entry, begun);
    }

    /// A location is reached with these values of the locals.
    fn reach(&mut self, loc: LocId, values: Vec<Range>) {
        let program = self.program;
        let proc = &program.procs[program.locs[loc].proc];
        let is_new = self.locals[loc].is_none();
        let known = self.locals[loc].get_or_insert_with(|| vec![Growing::never(); proc.locals.len()]);
        let mut grows = is_new;
        for ((known, more), local) in known.iter_mut().zip(&values).zip(&proc.locals) {
            grows |= known.add(more, program.vars[*local].ty, &self.thresholds);
        }
        if grows {
            self.wait(loc);
        }
    }

    /// Evaluates a step over the sets of its location.
    fn step(&mut self, edge: &Edge) {
        let Some(now) = self.locals[edge.from].clone() else { return };
        let values: Vec<Range> = now.iter().map(|local| local.range.clone()).collect();
        match &edge.op {
            Op::Assign(assign) => self.assign(edge, assign, &now),
            Op::Assert(condition) => {
                let after = {
                    let leaf = |leaf: &Expr| self.leaf(&now, leaf);
                    let mut facts = Facts::new(&leaf);
                    facts.learn(condition, true).then(|| self.restricted(edge, &facts))
                };
                after.into_iter().for_each(|after| self.reach(edge.to, after));
            }
            Op::Call(call) => {
                let args = self.evaluated(&now, &call.args);
                self.enter(call.callee, args);
                self.returned(edge, call, values);
            }
            Op::Spawn(spawn) => {
                let args = self.evaluated(&now, &spawn.args);
                self.enter(spawn.callee, args);
                self.reach(edge.to, values);
            }
            Op::Return(results) => {
                let (results, proc) = (self.evaluated(&now, results), self.program.locs[edge.from].proc);
                self.add_results(proc, &results);
            }
            Op::Fork(loc) => {
                self.reach(*loc, values.clone());
                self.reach(edge.to, values);
            }
            Op::AtomicBegin | Op::AtomicEnd => self.reach(edge.to, values),
            Op::End => {}
        }
    }

    fn evaluated(&self, now: &[Growing], exprs: &[Expr]) -> Vec<Range> {
        let leaf = |leaf: &Expr| self.leaf(now, leaf);
        exprs.iter().map(|expr| Facts::new(&leaf).eval(expr)).collect()
    }

    fn add_results(&mut self, proc: ProcId, results: &[Range]) {
        let mut grows = false;
        for (place, range) in results.iter().enumerate() {
            let ty = self.program.procs[proc].results[place];
            grows |= self.results[proc][place].add(range, ty, &self.thresholds);
        }
        if grows {
            self.callers[proc].clone().into_iter().for_each(|loc| self.wait(loc));
        }
    }

    /// A call returns with the values that the procedure has returned so far.
    fn returned(&mut self, edge: &Edge, call: &Call, mut values: Vec<Range>) {
        for (place, var) in call.results.iter().enumerate() {
            let range = self.results[call.callee][place].range.clone();
            match var {
                Some(var) if self.is_global[*var] => self.add_global(*var, &range),
                Some(var) => values[self.place[*var]] = range,
                None => {}
            }
        }
        self.reach(edge.to, values);
    }

    /// Returns the sets of the locals of an edge's procedure under some facts about their old values.
    fn restricted(&self, edge: &Edge, facts: &Facts<'_>) -> Vec<Range> {
        let proc = &self.program.procs[self.program.locs[edge.from].proc];
        proc.locals.iter().map(|local| facts.leaf(&Expr::Var(*local))).collect()
    }

    /// An assignment: the condition restricts what the right-hand sides read, and the new values. A condition on other
    /// threads need not hold where there are none.
    fn assign(&mut self, edge: &Edge, assign: &Assign, now: &[Growing]) {
        let written = {
            let leaf = |leaf: &Expr| match leaf {
                Expr::Next(var) => match assign.active.iter().find(|(assigned, _)| assigned == var) {
                    Some((_, rhs)) => Facts::new(&|leaf| self.leaf(now, leaf)).eval(rhs),
                    None => self.leaf(now, &Expr::Var(*var)),
                },
                leaf => self.leaf(now, leaf),
            };
            let mut facts = Facts::new(&leaf);
            if !assign.constrain.is_passive() && !facts.learn(&assign.constrain, true) {
                return;
            }
            let new = |(var, rhs): &(VarId, Expr)| (*var, facts.eval(rhs).meet(&facts.leaf(&Expr::Next(*var))));
            let active: Vec<(VarId, Range)> = assign.active.iter().map(new).collect();
            let passive: Vec<(VarId, Range)> =
                assign.passive.iter().map(|(var, rhs)| (*var, facts.eval(rhs))).collect();
            (self.restricted(edge, &facts), active, passive)
        };
        let (mut after, active, passive) = written;
        for (var, range) in active.into_iter().chain(passive) {
            match self.is_global[var] {
                true => self.add_global(var, &range),
                false => after[self.place[var]] = range,
            }
        }
        self.reach(edge.to, after);
    }

    fn ranges(self) -> Ranges {
        let program = self.program;
        let mut vars: IndexVec<VarId, Range> = self.globals.into_iter().map(|growing| growing.range).collect();
        for (loc, known) in self.locals.iter_enumerated() {
            let locals = &program.procs[program.locs[loc].proc].locals;
            for (local, known) in
                locals.iter().zip(known.iter().flatten()).filter(|(local, _)| !self.is_global[**local])
            {
                vars[*local] = vars[*local].join(&known.range);
            }
        }
        let results = |results: Vec<Growing>| results.into_iter().map(|growing| growing.range).collect();
        let results = self.results.into_iter().map(results).collect();
        let ranges = |known: Vec<Growing>| known.into_iter().map(|growing| growing.range).collect();
        let locals = self.locals.into_iter().map(|known| known.map(ranges)).collect();
        Ranges { vars, results, locals, is_global: self.is_global, live: self.live }
    }
}

/// The parts of a procedure that matter here.
struct Procs<'p> {
    params: &'p [VarId],
    locals: &'p [VarId],
    entry: LocId,
}

impl<'p> Procs<'p> {
    fn of(program: &'p Program, proc: ProcId) -> Procs<'p> {
        let proc = &program.procs[proc];
        Procs { params: &proc.params, locals: &proc.locals, entry: proc.entry }
    }
}

/// Returns the bounds to which sets may be widened: constants and their neighbours, and the bounds of types, also of
/// those that no variable has: a variable needs no more bits for them.
fn thresholds(program: &Program) -> Vec<i128> {
    let mut thresholds: Vec<i128> = (0..64).flat_map(|bits| [(1 << bits) - 1, -(1 << bits)]).collect();
    let mut bounds = |ty: MachineTy| thresholds.extend([ty.bounds().0, ty.bounds().1]);
    program.vars.iter().for_each(|var| {
        if let Ty::Machine(ty) = var.ty {
            bounds(ty)
        }
    });
    program.procs.iter().flat_map(|proc| &proc.results).for_each(|ty| {
        if let Ty::Machine(ty) = ty {
            bounds(*ty)
        }
    });
    for expr in program.exprs() {
        expr.for_each_leaf(|leaf| {
            if let Expr::Machine(ty, bits) = leaf {
                let number = ty.read(*bits);
                thresholds.extend([number - 1, number, number + 1]);
            }
        });
    }
    thresholds.sort_unstable();
    thresholds.dedup();
    thresholds
}

/// Returns which variables have one set for the whole program.
fn globals(program: &Program) -> IndexVec<VarId, bool> {
    let mut globals: IndexVec<VarId, bool> =
        program.vars.iter().map(|var| !matches!(var.scope, Scope::Local(_))).collect();
    program.edges.iter().for_each(|edge| edge.op.for_each_passive(|var| globals[var] = true));
    globals
}

/// Returns the locations whose steps read each variable.
fn readers(program: &Program) -> IndexVec<VarId, Vec<LocId>> {
    let mut readers: IndexVec<VarId, Vec<LocId>> = program.vars.iter().map(|_| Vec::new()).collect();
    for edge in &program.edges {
        for expr in edge.op.exprs() {
            expr.for_each_leaf(|leaf| {
                if let Some(var) = leaf.var().filter(|var| readers[*var].last() != Some(&edge.from)) {
                    readers[var].push(edge.from);
                }
            });
        }
    }
    readers
}
