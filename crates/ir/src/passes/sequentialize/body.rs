//! The procedures of the threads, with their steps in the context that the thread is in.

use std::collections::BTreeMap;

use index_vec::IndexVec;

use super::{Builder, Purpose};
use crate::flow::Flow;
use crate::syntax::{Assign, Call, Edge, EdgeId, Expr, LocId, Op, Proc, ProcId, Scope, UnaryOp, Var, VarId};

/// The mode in which a copy of a procedure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// In the prelude: all in the first context.
    Alone,
    /// As a part of a thread that can be interrupted.
    InTurns,
}

/// Copies a procedure; its new number is the next one.
pub(super) fn copy(builder: &mut Builder<'_>, proc: ProcId, numbers: &IndexVec<ProcId, ProcId>, mode: Mode) {
    let old = &builder.old.procs[proc];
    let id = builder.new.procs.next_idx();
    debug_assert_eq!(id, numbers[proc]);
    let locals: BTreeMap<VarId, VarId> =
        old.locals.iter().map(|local| (*local, local_of(builder, *local, id))).collect();
    let own_locs = builder.old.locs.indices().filter(|loc| builder.old.locs[*loc].proc == proc);
    let locs: BTreeMap<LocId, LocId> =
        own_locs.collect::<Vec<_>>().into_iter().map(|loc| (loc, builder.loc(id))).collect();
    let name = match mode {
        Mode::InTurns => old.name.clone(),
        Mode::Alone => format!("{}_alone", old.name),
    };
    let renamed = |vars: &[VarId]| vars.iter().map(|var| locals[var]).collect();
    builder.new.procs.push(Proc {
        name,
        params: renamed(&old.params),
        locals: renamed(&old.locals),
        results: old.results.clone(),
        entry: locs[&old.entry],
        exit: locs[&old.exit],
    });
    let leave = builder.loc(id);
    let values = old.results.iter().copied().map(Expr::default_of).collect();
    builder.edge(leave, locs[&old.exit], Op::Return(values), Purpose::Leave);
    let mut body = Body { builder, id, numbers, mode, locals, locs, leave };
    body.fill(proc);
}

fn local_of(builder: &mut Builder<'_>, old: VarId, proc: ProcId) -> VarId {
    builder.vars.push(Some(old));
    builder.new.vars.push(Var { scope: Scope::Local(proc), ..builder.old.vars[old].clone() })
}

/// A procedure that is being copied.
struct Body<'b, 'p> {
    builder: &'b mut Builder<'p>,
    /// The new procedure.
    id: ProcId,
    /// The new numbers of all procedures of this mode.
    numbers: &'b IndexVec<ProcId, ProcId>,
    mode: Mode,
    locals: BTreeMap<VarId, VarId>,
    locs: BTreeMap<LocId, LocId>,
    /// The location from which it returns when the thread makes no more steps.
    leave: LocId,
}

impl Body<'_, '_> {
    fn fill(&mut self, proc: ProcId) {
        let old = self.builder.old;
        let flow = Flow::new(old);
        for loc in old.locs.indices().filter(|loc| old.locs[*loc].proc == proc) {
            if self.builder.target.has_loc(loc) {
                let fail = self.fail(Expr::TRUE);
                self.builder.edge(self.locs[&loc], self.leave, fail, Purpose::Reached);
            }
            if self.mode == Mode::InTurns {
                self.turns(loc, &flow);
            }
            for edge in flow.out(loc) {
                self.step(*edge);
            }
        }
    }

    /// Adds the steps of the schedule at a location: to the next context before a step that touches shared variables,
    /// and to the end of the thread after a step that changes them.
    fn turns(&mut self, loc: LocId, flow: &Flow) {
        let (old, here) = (self.builder.old, self.locs[&loc]);
        if flow.out(loc).iter().any(|edge| self.touches(&old.edges[*edge])) {
            for context in 0..self.builder.copies.n_contexts - 1 {
                let advance = self.builder.copies.advance(context);
                self.builder.edge(here, here, advance, Purpose::Advance);
            }
        }
        if flow.into(loc).iter().any(|edge| self.changes(&old.edges[*edge].op)) {
            let copies = &self.builder.copies;
            let stop = Op::guarded(vec![(copies.over, Expr::TRUE)], copies.is_free());
            self.builder.edge(here, self.leave, stop, Purpose::Stop);
        }
    }

    /// Returns whether a step reads or changes shared variables. A return does so if it assigns its results to some, or
    /// if what a call ensures by it reads some.
    fn touches(&self, edge: &Edge) -> bool {
        let (old, copies) = (self.builder.old, &self.builder.copies);
        let proc = old.locs[edge.from].proc;
        let is_site = |site: &&Edge| matches!(&site.op, Op::Call(call) if call.callee == proc);
        let mut sites = old.edges.iter().filter(is_site);
        edge.op == Op::AtomicBegin
            || self.writes(&edge.op)
            || edge.exprs().any(|expr| copies.touches(expr))
            || (matches!(edge.op, Op::Return(_))
                && sites.any(|site| self.writes(&site.op) || copies.touches(&site.ensures)))
    }

    /// Returns whether other threads may notice an operation, or can run only after it.
    fn changes(&self, op: &Op) -> bool {
        *op == Op::AtomicEnd || self.writes(op)
    }

    fn writes(&self, op: &Op) -> bool {
        op.assigned().any(|var| self.builder.copies.is_shared(var))
    }

    /// Returns the contexts for which an operation has an edge of its own: one for all contexts if it does not depend
    /// on them.
    fn contexts(&self, touches: bool) -> Vec<(usize, Expr)> {
        let copies = &self.builder.copies;
        match self.mode {
            Mode::InTurns if touches => {
                (0..copies.n_contexts).map(|context| (context, copies.is_in(context))).collect()
            }
            Mode::InTurns | Mode::Alone => vec![(0, Expr::TRUE)],
        }
    }

    fn var(&self, var: VarId, context: usize) -> VarId {
        self.builder.copies.var(var, context, &self.locals)
    }

    fn expr(&self, expr: &Expr, context: usize) -> Expr {
        self.builder.copies.expr(expr, context, &self.locals)
    }

    fn exprs_now(&self, exprs: &[Expr]) -> Vec<Expr> {
        let now = |expr: &Expr| match self.mode {
            Mode::InTurns => self.builder.copies.expr_now(expr, &self.locals),
            Mode::Alone => self.expr(expr, 0),
        };
        exprs.iter().map(now).collect()
    }

    /// Returns the step that records an error if the condition holds, and ends the thread.
    fn fail(&self, constrain: Expr) -> Op {
        let copies = &self.builder.copies;
        Op::guarded(vec![(copies.failed, Expr::TRUE), (copies.over, Expr::TRUE)], constrain)
    }

    fn step(&mut self, id: EdgeId) {
        let edge = &self.builder.old.edges[id];
        let (from, to) = (self.locs[&edge.from], self.locs[&edge.to]);
        let set = |flag: VarId, value: bool| Op::set(vec![(flag, Expr::Bool(value))]);
        let (to, op) = match &edge.op {
            Op::Assign(assign) => return self.assign(id, assign, from, to),
            Op::Assert(condition) => return self.assert(id, condition, from, to),
            Op::Call(call) => return self.call(id, call, from, to),
            Op::Return(values) => (to, Op::Return(self.exprs_now(values))),
            Op::End => (self.leave, set(self.builder.copies.over, true)),
            Op::AtomicBegin | Op::AtomicEnd => return self.section(id, from, to),
            Op::Spawn(_) | Op::Fork(_) => unreachable!("the threads are a fixed list"),
        };
        self.builder.edge(from, to, op, Purpose::Step(id));
    }

    fn assign(&mut self, id: EdgeId, assign: &Assign, from: LocId, to: LocId) {
        for (context, guard) in self.contexts(self.touches(&self.builder.old.edges[id])) {
            let active = assign.active.iter().map(|(var, rhs)| (self.var(*var, context), self.expr(rhs, context)));
            let step = Op::guarded(active.collect(), Expr::and(guard, self.expr(&assign.constrain, context)));
            self.builder.edge(from, to, step, Purpose::Step(id));
        }
    }

    /// Copies the begin or end of an atomic section. Without a section that begins there is no flag.
    fn section(&mut self, id: EdgeId, from: LocId, to: LocId) {
        let edge = &self.builder.old.edges[id];
        let holds = Expr::Bool(edge.op == Op::AtomicBegin);
        let active: Vec<(VarId, Expr)> = self.builder.copies.held.map(|held| (held, holds)).into_iter().collect();
        for (context, guard) in self.contexts(self.builder.copies.touches(&edge.ensures)) {
            let step = Op::guarded(active.clone(), Expr::and(guard, self.expr(&edge.ensures, context)));
            self.builder.edge(from, to, step, Purpose::Step(id));
        }
    }

    fn assert(&mut self, id: EdgeId, condition: &Expr, from: LocId, to: LocId) {
        let ensures = &self.builder.old.edges[id].ensures;
        let contexts = self.contexts(self.builder.copies.touches(condition) || self.builder.copies.touches(ensures));
        let contexts: Vec<(usize, Expr)> = contexts
            .into_iter()
            .map(|(context, guard)| (context, Expr::and(guard, self.expr(ensures, context))))
            .collect();
        for (context, guard) in &contexts {
            let holds = Op::assume(Expr::and(guard.clone(), self.expr(condition, *context)));
            self.builder.edge(from, to, holds, Purpose::Step(id));
        }
        for (context, guard) in contexts.into_iter().filter(|_| self.builder.target.has_assert(id)) {
            let fails = match self.expr(condition, context) {
                Expr::Unary(UnaryOp::Not, operand) => *operand,
                condition => Expr::negate(condition),
            };
            let fails = self.fail(Expr::and(guard, fails));
            self.builder.edge(from, self.leave, fails, Purpose::Fails(id));
        }
    }

    /// Copies a call. If the thread made its last step inside, the caller leaves too. Results for shared variables are
    /// kept in locals until the context of the return is known, and what the call ensures is required then; nothing
    /// happens in between.
    fn call(&mut self, id: EdgeId, call: &Call, from: LocId, to: LocId) {
        let back = self.builder.loc(self.id);
        let mut waiting = Vec::new();
        let results = call.results.iter().map(|result| {
            let var = (*result)?;
            if !self.builder.copies.is_shared(var) {
                return Some(self.var(var, 0));
            }
            let wait = self.waiting(var);
            waiting.push((var, wait));
            Some(wait)
        });
        let results = results.collect();
        let step = Call { results, callee: self.numbers[call.callee], args: self.exprs_now(&call.args) };
        self.builder.edge(from, back, Op::Call(step), Purpose::Step(id));
        let over = Expr::Var(self.builder.copies.over);
        self.builder.edge(back, self.leave, Op::assume(over.clone()), Purpose::Back);
        let ensures = self.builder.old.edges[id].ensures.after_step();
        for (context, guard) in self.contexts(!waiting.is_empty() || self.builder.copies.touches(&ensures)) {
            let active = waiting.iter().map(|(var, wait)| (self.var(*var, context), Expr::Var(*wait))).collect();
            let guard = Expr::and(guard, self.expr(&ensures, context));
            let constrain = Expr::and(Expr::negate(over.clone()), guard);
            self.builder.edge(back, to, Op::guarded(active, constrain), Purpose::Back);
        }
    }

    /// Returns a local that holds a result for a shared variable.
    fn waiting(&mut self, var: VarId) -> VarId {
        let Var { name, ty, .. } = &self.builder.old.vars[var];
        self.builder.vars.push(None);
        let waiting = Var { name: format!("{name}_result"), scope: Scope::Local(self.id), ty: *ty };
        let wait = self.builder.new.vars.push(waiting);
        self.builder.new.procs[self.id].locals.push(wait);
        wait
    }
}
