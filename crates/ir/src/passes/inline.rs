//! Replaces calls of non-recursive procedures by their bodies, so that a program without recursion only has the
//! procedures with which threads start.
//!
//! Each call is replaced by a copy of the callee's body. Its locals become locals of the caller. The call becomes the
//! assignment of the arguments to the copied parameters and of a choice to each other copied local, since these start
//! with any value at each call; a return becomes the assignment of the results. So the number of steps and their
//! indivisibility stay the same, which matters when threads interleave; and each step lifts to the one that it was
//! copied from. A fork copies the whole stack: in the new program that is the frame of the caller, which holds the
//! callee's locals.
//!
//! Calls of a procedure whose locals other threads mention stay. A passive copy of a local refers to the topmost frame
//! of the procedure in each thread that has one; a copied local would still exist after the call, and several copies
//! may exist at once.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use rustc_hash::FxHashMap;

use super::edit::Keep;
use super::{Copies, Lift, LiftStep, Passed, Source, StepPart};
use crate::callgraph::{CallGraph, Through};
use crate::syntax::{Call, Edge, EdgeId, Expr, Label, Loc, LocId, Op, ProcId, Program, Scope, Var, VarId};
use crate::target::Target;

/// Limit on the number of edges of the result, unless the input already has more. A call that would exceed it stays a
/// call.
const MAX_EDGES: usize = 100_000;

/// Runs the pass.
pub fn run(program: &Program, target: &Target) -> Passed {
    run_within(program, target, MAX_EDGES)
}

fn run_within(program: &Program, target: &Target, max_edges: usize) -> Passed {
    let parts = Parts::new(program);
    let plan = Plan::within(program, &parts, max_edges);
    let mut builder = Builder::new(program, &parts, &plan);
    for host in plan.hosts.ones().map(ProcId::from_usize) {
        builder.build(host);
    }
    let Builder { new, mut lift, origin, .. } = builder;
    let copies = |wanted: &dyn Fn(LocId) -> bool| {
        origin.locs.indices().filter(|loc| wanted(origin.locs[*loc].1)).collect::<Vec<LocId>>()
    };
    let together = target.moved_together(|loc| copies(&|old| old == loc));
    let target = Target::new(lift.asserts(target), copies(&|old| target.has_loc(old)))
        .with_together(together)
        .with_deadlock(target.deadlock);
    lift.copies = Some(origin);
    let keep = Keep::procs(&new, plan.hosts);
    Passed { program: new, target, lift }.retain(&keep).renumber_choices(program)
}

/// The parts of each procedure.
struct Parts {
    edges: IndexVec<ProcId, Vec<EdgeId>>,
    /// All locations but the exit.
    locs: IndexVec<ProcId, Vec<LocId>>,
    /// The index of each location in that list.
    place: IndexVec<LocId, usize>,
    labels: IndexVec<ProcId, Vec<usize>>,
}

impl Parts {
    fn new(program: &Program) -> Parts {
        let n_procs = program.procs.len();
        let mut parts = Parts {
            edges: IndexVec::from_vec(vec![Vec::new(); n_procs]),
            locs: IndexVec::from_vec(vec![Vec::new(); n_procs]),
            place: IndexVec::from_vec(vec![0; program.locs.len()]),
            labels: IndexVec::from_vec(vec![Vec::new(); n_procs]),
        };
        for (id, edge) in program.edges.iter_enumerated() {
            parts.edges[program.locs[edge.from].proc].push(id);
        }
        for (id, loc) in program.locs.iter_enumerated().filter(|(id, loc)| program.procs[loc.proc].exit != *id) {
            parts.place[id] = parts.locs[loc.proc].len();
            parts.locs[loc.proc].push(id);
        }
        for (number, label) in program.labels.iter().enumerate() {
            parts.labels[program.locs[label.loc].proc].push(number);
        }
        parts
    }
}

/// The calls to replace.
struct Plan {
    /// The call edges to replace.
    inlined: FixedBitSet,
    /// The procedures that the result has: those that start threads, those that are still called, and those whose
    /// locals other threads mention.
    hosts: FixedBitSet,
}

impl Plan {
    /// Bounds the size of each procedure, first by the limit, and then by half of it each time until the whole result
    /// is small enough. With the bound 0 no call is replaced, so it ends.
    fn within(program: &Program, parts: &Parts, max_edges: usize) -> Plan {
        let calls = CallGraph::new(program);
        let mentioned = passive_owners(program);
        let may_go = |proc: ProcId| !calls.is_recursive(proc) && !mentioned.contains(proc.index());
        let limit = max_edges.max(program.edges.len());
        let mut bound = limit;
        loop {
            let (inlined, sizes) = choose(program, parts, &calls, &may_go, bound);
            let hosts = hosts(program, &calls, &inlined, &mentioned);
            let total = hosts.ones().fold(0usize, |sum, host| sum.saturating_add(sizes[host]));
            if total <= limit || bound == 0 {
                return Plan { inlined, hosts };
            }
            bound /= 2;
        }
    }
}

/// Returns the procedures whose locals other threads mention.
fn passive_owners(program: &Program) -> FixedBitSet {
    let mut owners = FixedBitSet::with_capacity(program.procs.len());
    for edge in &program.edges {
        edge.op.for_each_passive(|var| {
            if let Scope::Local(owner) = program.vars[var].scope {
                owners.insert(owner.index());
            }
        });
    }
    owners
}

/// Chooses the calls to replace, callees before callers, while no procedure exceeds a bound; returns them with the
/// resulting size of each procedure.
fn choose(
    program: &Program,
    parts: &Parts,
    calls: &CallGraph,
    may_go: &dyn Fn(ProcId) -> bool,
    bound: usize,
) -> (FixedBitSet, IndexVec<ProcId, usize>) {
    let mut inlined = FixedBitSet::with_capacity(program.edges.len());
    let mut sizes: IndexVec<ProcId, usize> = parts.edges.iter().map(Vec::len).collect();
    for proc in calls.components().iter().flatten() {
        for edge in &parts.edges[*proc] {
            if let Op::Call(call) = &program.edges[*edge].op
                && may_go(call.callee)
                && sizes[*proc] + sizes[call.callee] <= bound
            {
                sizes[*proc] += sizes[call.callee];
                inlined.insert(edge.index());
            }
        }
    }
    (inlined, sizes)
}

/// Returns the procedures that are still needed as such when some calls are replaced.
fn hosts(program: &Program, calls: &CallGraph, inlined: &FixedBitSet, mentioned: &FixedBitSet) -> FixedBitSet {
    let mut hosts = mentioned.clone();
    hosts.extend(program.roots().map(ProcId::index));
    let runs = calls.reachable(hosts.ones().map(ProcId::from_usize), Through::CallsAndSpawns);
    for (id, edge) in program.edges.iter_enumerated() {
        if let Some(callee) = edge.op.callee()
            && runs[program.locs[edge.from].proc]
            && !inlined.contains(id.index())
        {
            hosts.insert(callee.index());
        }
    }
    hosts
}

/// A copy of a procedure's body.
struct Instance {
    proc: ProcId,
    /// The first of its new locations.
    base: LocId,
    /// Its locals in the new program; a variable that is not listed stays itself.
    vars: FxHashMap<VarId, VarId>,
    /// The index in [`Copies::calls`] of the calls that lead to it.
    calls: u32,
    /// The way back to the caller; `None` for a procedure that stays.
    after: Option<After>,
}

/// What follows a return: the location behind the call, the variables that receive the results, and what the call
/// ensures.
struct After {
    loc: LocId,
    results: Vec<Option<VarId>>,
    ensures: Expr,
}

struct Builder<'p> {
    old: &'p Program,
    parts: &'p Parts,
    plan: &'p Plan,
    /// Old variables and procedures keep their numbers until the end.
    new: Program,
    lift: Lift,
    origin: Copies,
    /// The procedure that is being built, and the names of its variables, each with the highest number tried after it.
    host: ProcId,
    names: FxHashMap<String, u32>,
    /// The instances still to be copied into it, in order.
    work: VecDeque<Instance>,
}

impl<'p> Builder<'p> {
    fn new(old: &'p Program, parts: &'p Parts, plan: &'p Plan) -> Builder<'p> {
        let mut lift = Lift::identity(old);
        lift.edges = IndexVec::new();
        let new = Program { locs: IndexVec::new(), edges: IndexVec::new(), labels: Vec::new(), ..old.clone() };
        Builder {
            old,
            parts,
            plan,
            new,
            lift,
            origin: Copies {
                calls: vec![Vec::new()],
                locs: IndexVec::new(),
                vars: old.vars.indices().map(|var| (0, var)).collect(),
            },
            host: ProcId::new(0),
            names: FxHashMap::default(),
            work: VecDeque::new(),
        }
    }

    /// Builds a procedure that stays: its own body, then the bodies of its calls. It ends because the replaced calls
    /// form no cycle; the plan bounds how long that takes.
    fn build(&mut self, host: ProcId) {
        self.host = host;
        let visible = |var: &&Var| !matches!(var.scope, Scope::Local(owner) if owner != host);
        self.names = self.old.vars.iter().filter(visible).map(|var| (var.name.clone(), 1)).collect();
        let base = self.add_locs(host, 0);
        let exit = self.new.locs.push(Loc { proc: host });
        self.origin.locs.push((0, self.old.procs[host].exit));
        self.new.procs[host].entry = base + self.parts.place[self.old.procs[host].entry];
        self.new.procs[host].exit = exit;
        self.work.push_back(Instance { proc: host, base, vars: FxHashMap::default(), calls: 0, after: None });
        while let Some(instance) = self.work.pop_front() {
            self.copy(&instance);
        }
    }

    fn add_locs(&mut self, proc: ProcId, calls: u32) -> LocId {
        let base = self.new.locs.len_idx();
        self.origin.locs.extend(self.parts.locs[proc].iter().map(|loc| (calls, *loc)));
        self.new.locs.extend(self.parts.locs[proc].iter().map(|_| Loc { proc: self.host }));
        base
    }

    /// Returns the copy of a location.
    fn loc(&self, instance: &Instance, loc: LocId) -> LocId {
        let is_exit = self.old.procs[instance.proc].exit == loc;
        if is_exit { self.new.procs[self.host].exit } else { instance.base + self.parts.place[loc] }
    }

    fn copy(&mut self, instance: &Instance) {
        for label in self.parts.labels[instance.proc].iter().map(|number| &self.old.labels[*number]) {
            let loc = self.loc(instance, label.loc);
            if instance.after.is_none() || loc != self.new.procs[self.host].exit {
                self.new.labels.push(Label { name: label.name.clone(), loc });
            }
        }
        for id in &self.parts.edges[instance.proc] {
            self.copy_edge(instance, *id);
        }
    }

    fn copy_edge(&mut self, instance: &Instance, id: EdgeId) {
        let edge = &self.old.edges[id];
        let n_choices = edge.op.choices().len() as u32;
        let choices = (0..n_choices).map(Source::Choice).collect();
        let mut step = LiftStep { edge: id, choices, fresh: Vec::new(), part: StepPart::Main };
        let mut to = self.loc(instance, edge.to);
        let op = match (&edge.op, &instance.after) {
            (Op::Call(call), _) if self.plan.inlined.contains(id.index()) => {
                let results = call.results.iter().map(|result| result.map(|var| instance.var(var))).collect();
                let above = &self.origin.calls[instance.calls as usize];
                let calls = above.iter().copied().chain([id]).collect();
                let after = After { loc: to, results, ensures: instance.expr(&edge.ensures) };
                let callee = self.instance(call.callee, calls, after);
                to = self.loc(&callee, self.old.procs[call.callee].entry);
                let op = self.enter(instance, call, &callee, &mut step);
                self.work.push_back(callee);
                op
            }
            (Op::Return(values), Some(after)) => {
                to = after.loc;
                let pairs = after.results.iter().zip(values);
                let active = pairs.filter_map(|(var, value)| Some(((*var)?, instance.expr(value)))).collect();
                Op::guarded(active, after.ensures.after_step())
            }
            (op, _) => {
                let mut op = op.clone();
                if !instance.vars.is_empty() {
                    op.rename(&|var| instance.var(var));
                }
                if let Op::Fork(loc) = &mut op {
                    *loc = self.loc(instance, *loc);
                }
                op
            }
        };
        let stays = matches!(edge.op, Op::Assign(_)) || !matches!(op, Op::Assign(_));
        let ensures = if stays { instance.expr(&edge.ensures) } else { Expr::TRUE };
        self.new.edges.push(Edge { from: self.loc(instance, edge.from), to, op, ensures });
        self.lift.edges.push(vec![step]);
    }

    /// Returns a copy of a callee's body, with locals of its own.
    fn instance(&mut self, proc: ProcId, calls: Vec<EdgeId>, after: After) -> Instance {
        let number = self.origin.calls.len() as u32;
        self.origin.calls.push(calls);
        let mut vars = FxHashMap::default();
        for local in &self.old.procs[proc].locals {
            let Var { name, ty, .. } = &self.old.vars[*local];
            let name = self.unique(format!("{}.{name}", self.old.procs[proc].name));
            let copy = self.new.vars.push(Var { name, scope: Scope::Local(self.host), ty: *ty });
            self.lift.vars.push(None);
            self.origin.vars.push((number, *local));
            self.new.procs[self.host].locals.push(copy);
            vars.insert(*local, copy);
        }
        Instance { proc, base: self.add_locs(proc, number), vars, calls: number, after: Some(after) }
    }

    /// Returns the name, with a number appended if it is taken.
    fn unique(&mut self, name: String) -> String {
        let mut next = self.names.get(&name).copied().unwrap_or(1);
        let mut free = name.clone();
        while self.names.contains_key(&free) {
            next += 1;
            free = format!("{name}.{next}");
        }
        self.names.insert(free.clone(), 1);
        self.names.insert(name, next);
        free
    }

    /// Returns the step that replaces a call: arguments for the parameters, and a choice for each other local, which is
    /// where the old step's fresh values come from.
    fn enter(&self, caller: &Instance, call: &Call, callee: &Instance, step: &mut LiftStep) -> Op {
        let old = &self.old.procs[call.callee];
        let params = old.params.iter().zip(&call.args).map(|(param, arg)| (callee.var(*param), caller.expr(arg)));
        let mut active: Vec<(VarId, Expr)> = params.collect();
        let others = old.locals.iter().filter(|local| !old.params.contains(local));
        for (local, number) in others.zip(step.choices.len() as u32..) {
            active.push((callee.var(*local), Expr::Choice(number, self.old.vars[*local].ty)));
            step.fresh.push((*local, Source::Choice(number)));
        }
        Op::set(active)
    }
}

impl Instance {
    fn var(&self, var: VarId) -> VarId {
        self.vars.get(&var).copied().unwrap_or(var)
    }

    fn expr(&self, expr: &Expr) -> Expr {
        expr.renamed(&|var| self.var(var))
    }
}

#[cfg(test)]
mod tests;
