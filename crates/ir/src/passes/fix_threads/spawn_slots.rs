//! Programs that start threads: slots, their mailboxes, and the steps of a slot's thread between two bodies.
//!
//! The new program has all old edges under their old numbers, except those that start a thread: the old edge remains
//! for the case that no slot is free, and there is a new edge for each slot. A thread begins in the procedure of its
//! slot, which calls the procedure that it is to run.

use std::collections::{BTreeMap, btree_map};

use index_vec::IndexVec;

use super::lift::{Role, new_frames};
use super::{FixThreadsLift, FixedThreads, may_end};
use crate::callgraph::CallGraph;
use crate::flow::Flow;
use crate::passes::edit::and_number;
use crate::syntax::{
    Count, Edge, EdgeId, Entry, EntryId, Expr, Loc, LocId, Op, Proc, ProcId, Program, Scope, Ty, Var, VarId,
};
use crate::target::Target;

/// Builds the program with `n_slots` slots.
pub(super) fn run(old: &Program, target: &Target, initial: &[EntryId], n_slots: usize) -> FixedThreads {
    let mut builder = Builder::new(old, target, initial, n_slots);
    builder.unwind_ends();
    builder.copy_forked();
    builder.make_slots();
    builder.replace_starts();
    builder.make_threads();
    let Builder { new, asserts, locs, roles, vars, .. } = builder;
    let lift = FixThreadsLift {
        roles,
        vars,
        initial: initial.to_vec(),
        n_slots,
        has_prelude: old.prelude.is_some(),
        inlined: None,
    };
    FixedThreads { program: new, target: Target::new(asserts, locs), lift }
}

/// The code that a started thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ThreadBody {
    /// This procedure, with arguments.
    Proc(ProcId),
    /// The rest of the starter's procedure, from this location on, with the starter's locals.
    From(LocId),
}

/// The shared variables of a slot.
struct Slot {
    live: VarId,
    /// The number of the body, lowest bit first.
    what: Vec<VarId>,
    /// The arguments.
    args: Vec<VarId>,
    /// The per-thread variables of the starter, in the order of [`Builder::thread_vars`].
    thread_vars: Vec<VarId>,
}

struct Builder<'p> {
    old: &'p Program,
    initial: &'p [EntryId],
    n_slots: usize,
    new: Program,
    asserts: Vec<EdgeId>,
    locs: Vec<LocId>,
    roles: IndexVec<EdgeId, Role>,
    vars: IndexVec<VarId, Option<VarId>>,
    /// The flag of a thread that is unwinding its calls in order to end, if threads may end inside a call.
    ending: Option<VarId>,
    /// The per-thread variables of the old program.
    thread_vars: Vec<VarId>,
    /// All bodies, and the procedure of each.
    bodies: BTreeMap<ThreadBody, ProcId>,
    slots: Vec<Slot>,
}

impl<'p> Builder<'p> {
    fn new(old: &'p Program, target: &Target, initial: &'p [EntryId], n_slots: usize) -> Builder<'p> {
        let bodies = old.edges.iter().filter_map(|edge| match &edge.op {
            Op::Spawn(spawn) => Some((ThreadBody::Proc(spawn.callee), spawn.callee)),
            Op::Fork(at) => Some((ThreadBody::From(*at), old.locs[*at].proc)),
            _ => None,
        });
        Builder {
            old,
            initial,
            n_slots,
            new: old.clone(),
            asserts: target.asserts.clone(),
            locs: target.locs.clone(),
            roles: old.edges.iter_enumerated().map(|(id, edge)| Role::Step(id, new_frames(&edge.op))).collect(),
            vars: old.vars.indices().map(Some).collect(),
            ending: None,
            thread_vars: old.vars.indices().filter(|var| old.vars[*var].scope == Scope::Thread).collect(),
            bodies: bodies.collect(),
            slots: Vec::new(),
        }
    }

    fn var(&mut self, name: String, scope: Scope, ty: Ty) -> VarId {
        self.vars.push(None);
        self.new.vars.push(Var { name, scope, ty })
    }

    fn ty(&self, var: VarId) -> Ty {
        self.new.vars[var].ty
    }

    fn default_of(&self, var: VarId) -> (VarId, Expr) {
        (var, Expr::default_of(self.ty(var)))
    }

    fn loc(&mut self, proc: ProcId) -> LocId {
        self.new.locs.push(Loc { proc })
    }

    fn edge(&mut self, from: LocId, to: LocId, op: Op, role: Role) -> EdgeId {
        self.roles.push(role);
        self.new.edges.push(Edge::new(from, to, op))
    }

    /// Makes a thread that ends inside a call return from all its procedures: `end` sets a flag of the thread, which
    /// each caller checks after the call.
    fn unwind_ends(&mut self) {
        let may_end = may_end(self.old, &CallGraph::new(self.old));
        if !may_end.contains(&true) {
            return;
        }
        let ending = self.var("$ending".to_string(), Scope::Thread, Ty::Bool);
        self.ending = Some(ending);
        let leave: IndexVec<ProcId, LocId> = self.old.procs.indices().map(|proc| self.leave(proc, &may_end)).collect();
        for (id, edge) in self.old.edges.iter_enumerated() {
            let proc = self.old.locs[edge.from].proc;
            match &edge.op {
                Op::End => {
                    let end = Op::set(vec![(ending, Expr::TRUE)]);
                    self.new.edges[id] = Edge::new(edge.from, leave[proc], end);
                    self.roles[id] = Role::Ends(id);
                }
                Op::Call(call) if may_end[call.callee] => {
                    let back = self.loc(proc);
                    let call = &mut self.new.edges[id];
                    call.to = back;
                    if call.ensures != Expr::TRUE {
                        call.ensures = Expr::or(call.ensures.clone(), Expr::Var(ending));
                    }
                    self.edge(back, leave[proc], Op::assume(Expr::Var(ending)), Role::Silent);
                    self.edge(back, edge.to, Op::assume(Expr::negate(Expr::Var(ending))), Role::Silent);
                }
                _ => {}
            }
        }
    }

    /// Returns the location from which a procedure returns because its thread ends, if it may; else just its entry.
    fn leave(&mut self, proc: ProcId, may_end: &IndexVec<ProcId, bool>) -> LocId {
        let Proc { entry, exit, ref results, .. } = self.old.procs[proc];
        if !may_end[proc] {
            return entry;
        }
        let values = results.iter().copied().map(Expr::default_of).collect();
        let leave = self.loc(proc);
        self.edge(leave, exit, Op::Return(values), Role::Silent);
        leave
    }

    /// Adds a copy of a procedure for each location at which a forked thread begins. All locals are parameters.
    fn copy_forked(&mut self) {
        for body in self.bodies.keys().copied().collect::<Vec<_>>() {
            if let ThreadBody::From(at) = body {
                let copy = self.copy(at);
                self.bodies.insert(body, copy);
            }
        }
    }

    fn copy(&mut self, at: LocId) -> ProcId {
        let old = self.new.locs[at].proc;
        let id = self.new.procs.next_idx();
        let template = self.new.procs[old].clone();
        let locals: BTreeMap<VarId, VarId> =
            template.locals.iter().map(|local| (*local, self.copied_var(*local, Scope::Local(id)))).collect();
        let flow = Flow::new(&self.new);
        let mut locs = BTreeMap::from([(at, self.loc(id)), (template.exit, self.loc(id))]);
        let mut open = vec![at];
        while let Some(loc) = open.pop() {
            self.locs.extend(self.locs.contains(&loc).then(|| locs[&loc]));
            for edge in flow.out(loc) {
                let to = self.new.edges[*edge].to;
                if let btree_map::Entry::Vacant(unknown) = locs.entry(to) {
                    unknown.insert(self.loc(id));
                    open.push(to);
                }
                self.copied_edge(*edge, &locs, &locals);
            }
        }
        let vars: Vec<VarId> = template.locals.iter().map(|local| locals[local]).collect();
        let name = format!("{}$from{}", template.name, at.index());
        let proc =
            Proc { name, params: vars.clone(), locals: vars, entry: locs[&at], exit: locs[&template.exit], ..template };
        self.new.procs.push(proc)
    }

    fn copied_var(&mut self, var: VarId, scope: Scope) -> VarId {
        self.vars.push(self.vars[var]);
        self.new.vars.push(Var { scope, ..self.new.vars[var].clone() })
    }

    fn copied_edge(&mut self, id: EdgeId, locs: &BTreeMap<LocId, LocId>, locals: &BTreeMap<VarId, VarId>) {
        let mut edge = self.new.edges[id].clone();
        edge.rename(&|var| locals.get(&var).copied().unwrap_or(var));
        let role = self.roles[id].clone();
        let copy = self.edge(locs[&edge.from], locs[&edge.to], edge.op, role);
        self.new.edges[copy].ensures = edge.ensures;
        self.asserts.extend(self.asserts.contains(&id).then_some(copy));
    }

    fn make_slots(&mut self) {
        let args = self.arg_types();
        let n_bits = (usize::BITS - self.bodies.len().saturating_sub(1).leading_zeros()) as usize;
        let bits = vec![Ty::Bool; n_bits];
        let copies: Vec<Ty> = self.thread_vars.iter().map(|var| self.ty(*var)).collect();
        for number in 0..self.n_slots {
            let live = self.var(format!("$live{number}"), Scope::Shared, Ty::Bool);
            let mut vars = |what: &str, types: &[Ty]| -> Vec<VarId> {
                let name = |place: usize| format!("${what}{number}_{place}");
                types.iter().enumerate().map(|(place, ty)| self.var(name(place), Scope::Shared, *ty)).collect()
            };
            let (what, args) = (vars("what", &bits), vars("arg", &args));
            let thread_vars = vars("copy", &copies);
            self.new.init.push((live, Expr::Bool(number < self.initial.len())));
            let emptied = what.iter().chain(&args).chain(&thread_vars).map(|var| self.default_of(*var));
            let emptied: Vec<(VarId, Expr)> = emptied.collect();
            self.new.init.extend(emptied);
            self.slots.push(Slot { live, what, args, thread_vars });
        }
    }

    /// Returns the types of the arguments in a mailbox: of each type as many as some body has.
    fn arg_types(&self) -> Vec<Ty> {
        let mut types: Vec<Ty> = Vec::new();
        for proc in self.bodies.values() {
            let mut left = types.clone();
            for param in &self.new.procs[*proc].params {
                match left.iter().position(|ty| *ty == self.ty(*param)) {
                    Some(place) => drop(left.remove(place)),
                    None => types.push(self.ty(*param)),
                }
            }
        }
        types
    }

    /// Returns which of some variables, one for each argument in a mailbox, are for the parameters of a procedure.
    fn args_of(&self, proc: ProcId, mail: &[VarId]) -> Vec<VarId> {
        let mut left = mail.to_vec();
        let mut take = |param: &VarId| {
            let place = left.iter().position(|var| self.ty(*var) == self.ty(*param));
            left.remove(place.expect("a mailbox has arguments for each body"))
        };
        self.new.procs[proc].params.iter().map(&mut take).collect()
    }

    /// Returns the number of a body.
    fn number(&self, body: ThreadBody) -> usize {
        self.bodies.keys().position(|known| *known == body).expect("all bodies are known")
    }

    /// Replaces each start of a thread by one edge for the case that no slot is free, and one for each slot.
    fn replace_starts(&mut self) {
        for id in self.new.edges.indices() {
            let (body, args) = match &self.new.edges[id].op {
                Op::Spawn(spawn) => (ThreadBody::Proc(spawn.callee), spawn.args.clone()),
                // A fork in a copy still names the location of the original.
                Op::Fork(at) => (ThreadBody::From(*at), self.locals_at(id)),
                _ => continue,
            };
            let Role::Step(old, _) = self.roles[id] else { unreachable!("starts are old edges") };
            let all_live = all_live(&self.slots);
            let Edge { from, to, ref op, ref ensures } = self.new.edges[id];
            let (choices, ensures) = (op.choices().iter().map(|ty| ty.default_value()).collect(), ensures.clone());
            self.new.edges[id] = Edge::new(from, to, Op::assume(Expr::and(all_live, ensures.clone())));
            self.roles[id] = Role::NoRoom(old, choices);
            for slot in 0..self.n_slots {
                let start = self.start(slot, body, &args, &ensures);
                let to = self.watched_start(body, from, to);
                self.edge(from, to, start, Role::Starts(old, slot));
            }
        }
    }

    /// Returns the locals of the procedure of an edge.
    fn locals_at(&self, id: EdgeId) -> Vec<Expr> {
        let proc = self.new.locs[self.new.edges[id].from].proc;
        self.new.procs[proc].locals.iter().map(|local| Expr::Var(*local)).collect()
    }

    /// Returns the step that wakes the thread of a slot if it is the first free one, and a condition holds.
    fn start(&self, slot: usize, body: ThreadBody, args: &[Expr], condition: &Expr) -> Op {
        let Slot { live, what, args: mail, thread_vars } = &self.slots[slot];
        let is_first_free = Expr::and(all_live(&self.slots[..slot]), Expr::negate(Expr::Var(*live)));
        let constrain = Expr::and(is_first_free, condition.clone());
        let number = self.number(body);
        let mut active = vec![(*live, Expr::TRUE)];
        active.extend(what.iter().enumerate().map(|(bit, var)| (*var, Expr::Bool(number >> bit & 1 == 1))));
        active.extend(self.args_of(self.bodies[&body], mail).into_iter().zip(args.iter().cloned()));
        active.extend(thread_vars.iter().copied().zip(self.thread_vars.iter().map(|var| Expr::Var(*var))));
        Op::guarded(active, constrain)
    }

    /// Returns the location after a start. If the first location of the new thread is in the target, the starter
    /// reports that at once.
    fn watched_start(&mut self, body: ThreadBody, from: LocId, to: LocId) -> LocId {
        let begins = match body {
            ThreadBody::Proc(proc) => self.old.procs[proc].entry,
            ThreadBody::From(at) => at,
        };
        if !self.locs.contains(&begins) {
            return to;
        }
        let hit = self.loc(self.new.locs[from].proc);
        self.locs.push(hit);
        self.edge(hit, to, Op::skip(), Role::Silent);
        hit
    }

    /// Builds the kinds and procedures of the slots.
    fn make_threads(&mut self) {
        let mut entries = IndexVec::new();
        for slot in 0..self.n_slots {
            let kind = self.initial.get(slot).map(|id| &self.old.entries[*id]);
            let name = kind.map_or_else(|| format!("slot{slot}"), |entry| entry.name.clone());
            let proc = self.make_thread(slot, kind.map(|entry| entry.proc));
            let own = kind.map_or(&[][..], |entry| &entry.thread_vars);
            let others = self.thread_vars.iter().filter(|var| !own.contains(var)).chain(&self.ending);
            let init = kind.map_or(&[][..], |entry| &entry.init).iter().cloned();
            let init = init.chain(others.map(|var| self.default_of(*var))).collect();
            let thread_vars = self.thread_vars.iter().copied().chain(self.ending).collect();
            entries.push(Entry { name, proc, count: Count::Exactly(1), thread_vars, init });
        }
        self.new.entries = entries;
    }

    /// Builds the procedure of a slot: the first body, and another one each time the thread is woken.
    fn make_thread(&mut self, slot: usize, first: Option<ProcId>) -> ProcId {
        let proc = self.new.procs.next_idx();
        let [sleep, over, exit] = [(); 3].map(|()| self.loc(proc));
        let args: Vec<Ty> = self.slots[slot].args.iter().map(|arg| self.ty(*arg)).collect();
        let local = |(place, ty): (usize, &Ty)| self.var(format!("arg{place}"), Scope::Local(proc), *ty);
        let locals: Vec<VarId> = args.iter().enumerate().map(local).collect();
        let entry = first.map_or(sleep, |first| self.first_body(proc, first, over));
        for (body, callee) in self.bodies.clone() {
            self.next_body(slot, (body, callee), &locals, (sleep, over));
        }
        self.fall_asleep(slot, over, sleep);
        let name = format!("$slot{slot}");
        self.new.procs.push(Proc { name, params: Vec::new(), locals, results: Vec::new(), entry, exit })
    }

    /// Adds the call of an initial thread's procedure, whose parameters have any values.
    fn first_body(&mut self, proc: ProcId, callee: ProcId, over: LocId) -> LocId {
        let entry = self.loc(proc);
        let params = self.old.procs[callee].params.clone();
        let args = (0..).zip(&params).map(|(number, param)| Expr::Choice(number, self.ty(*param))).collect();
        self.edge(entry, over, Op::call_without_results(self.old, callee, args), Role::First(params));
        entry
    }

    /// Adds the steps in which the thread wakes, empties its mailbox, and calls its body.
    fn next_body(&mut self, slot: usize, (body, callee): (ThreadBody, ProcId), locals: &[VarId], at: (LocId, LocId)) {
        let (sleep, over) = at;
        let Slot { live, what, args, thread_vars } = &self.slots[slot];
        let constrain = and_number(Expr::Var(*live), what, self.number(body));
        let (own, mail) = (self.args_of(callee, locals), self.args_of(callee, args));
        let from_mail = own.iter().zip(&mail).chain(self.thread_vars.iter().zip(thread_vars));
        let mut active: Vec<(VarId, Expr)> = from_mail.map(|(var, mail)| (*var, Expr::Var(*mail))).collect();
        active.extend(what.iter().chain(args).chain(thread_vars).map(|emptied| self.default_of(*emptied)));
        let ready = self.loc(self.new.locs[sleep].proc);
        self.edge(sleep, ready, Op::guarded(active, constrain), Role::Silent);
        let args = own.into_iter().map(Expr::Var).collect();
        self.edge(ready, over, Op::call_without_results(&self.new, callee, args), Role::Wakes);
    }

    /// Adds the step that frees the slot and the atomic flag.
    fn fall_asleep(&mut self, slot: usize, over: LocId, sleep: LocId) {
        let own = self.thread_vars.iter().chain(&self.ending).copied();
        let active = own.chain([self.slots[slot].live]).map(|var| self.default_of(var)).collect();
        let free = Op::set(active);
        let is_atomic = self.old.edges.iter().any(|edge| edge.op == Op::AtomicBegin);
        if is_atomic {
            let released = self.loc(self.new.locs[over].proc);
            self.edge(over, released, free, Role::Over);
            self.edge(released, sleep, Op::AtomicEnd, Role::Silent);
        } else {
            self.edge(over, sleep, free, Role::Over);
        }
    }
}

/// Returns the condition that the threads of some slots are live.
fn all_live(slots: &[Slot]) -> Expr {
    slots.iter().fold(Expr::TRUE, |all, slot| Expr::and(all, Expr::Var(slot.live)))
}
