//! Edits of programs and questions that keep all numbers, so that a certificate still speaks of the same parts.

use selvedge_check::{Target, ThreadScope};
use selvedge_ir::validate::{validate, validate_target};
use selvedge_ir::{BinaryOp, Count, EdgeId, Expr, LocId, MachineOp, Op, ProcId, Program, Scope, Spawn, Ty, VarId};

use crate::rng::Rng;

/// A program with a question about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) program: Program,
    pub(super) target: Target,
    pub(super) threads: ThreadScope,
}

/// What an edit may change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Expressions only: control and the question stay.
    Values,
    /// Everything but whether deadlocks are errors.
    All,
    /// Everything.
    Deadlocks,
}

impl Asked {
    /// Returns the program or the question after one or two edits; `None` if the result is not a valid program.
    pub(super) fn edited(&self, rng: &mut Rng, extent: Extent) -> Option<Asked> {
        let mut asked = self.clone();
        for _ in 0..1 + rng.below(4) / 3 {
            if extent == Extent::Deadlocks && rng.percent(10) {
                asked.target.deadlock = !asked.target.deadlock;
                continue;
            }
            match rng.below(10) {
                0 => asked.edit_start(rng)?,
                1 | 2 if extent != Extent::Values => asked.edit_question(rng)?,
                _ => asked.edit_step(rng, extent)?,
            }
        }
        let is_valid = validate(&asked.program).is_ok() && validate_target(&asked.program, &asked.target).is_ok();
        (is_valid && asked != *self).then_some(asked)
    }

    /// Edits the initial values of shared or per-thread variables.
    fn edit_start(&mut self, rng: &mut Rng) -> Option<()> {
        let n_entries = self.program.entries.len();
        let lists = self.program.entries.iter_mut().map(|entry| &mut entry.init).chain([&mut self.program.init]);
        let init = lists.into_iter().nth(if rng.coin() { n_entries } else { rng.below(n_entries + 1) })?;
        if init.is_empty() {
            return None;
        }
        let at = rng.below(init.len());
        if rng.coin() {
            init.remove(at);
        } else {
            let (var, rhs) = &mut init[at];
            *rhs = other_value(rng, self.program.vars[*var].ty, rhs.clone(), None);
        }
        Some(())
    }

    fn edit_question(&mut self, rng: &mut Rng) -> Option<()> {
        match rng.below(8) {
            0 | 1 => self.edit_threads(rng),
            2 | 3 => {
                let at = rng.below(self.program.entries.len().max(1));
                let entry = self.program.entries.iter_mut().nth(at)?;
                entry.count = match entry.count {
                    Count::Exactly(count) if rng.coin() => Count::Exactly(count + 1),
                    Count::Any => Count::Exactly(1 + rng.below(3) as u32),
                    _ => Count::Any,
                };
            }
            4 => {
                let proc = ProcId::new(rng.below(self.program.procs.len()));
                let at = rng.below(self.program.entries.len().max(1));
                self.program.entries.iter_mut().nth(at)?.proc = proc;
            }
            5 => {
                let locs = [0; 2].map(|_| self.some_loc(rng)).to_vec();
                self.target = self.target.clone().with_together([locs]);
            }
            _ => {
                let Target { asserts, mut locs, together, deadlock } = self.target.clone();
                locs.push(self.some_loc(rng));
                self.target = Target::new(asserts, locs).with_together(together).with_deadlock(deadlock);
            }
        }
        Some(())
    }

    fn edit_threads(&mut self, rng: &mut Rng) {
        let bound = match self.threads {
            ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
            ThreadScope::Unbounded => 1,
        };
        self.threads = match rng.below(4) {
            0 => ThreadScope::AtMost(bound + 1),
            1 => ThreadScope::AtMost(bound.saturating_sub(1).max(1)),
            2 => ThreadScope::Created(bound + rng.below(2) as u32),
            _ => ThreadScope::Unbounded,
        };
    }

    fn some_loc(&self, rng: &mut Rng) -> LocId {
        LocId::new(rng.below(self.program.locs.len()))
    }

    /// Edits one step: its expressions, where it leads, or what it does.
    fn edit_step(&mut self, rng: &mut Rng, extent: Extent) -> Option<()> {
        let edge = EdgeId::new(rng.below(self.program.edges.len().max(1)));
        let proc = self.program.locs[self.program.edges.get(edge)?.from].proc;
        if extent != Extent::Values && rng.percent(40) {
            return self.edit_control(rng, edge, proc);
        }
        let literal = literal(rng, &self.program, proc)?;
        let vars = self.program.vars.clone();
        match &mut self.program.edges[edge].op {
            Op::Assert(condition) => {
                let old = condition.clone();
                *condition = match rng.below(4) {
                    0 => Expr::Bool(false),
                    1 => Expr::negate(old),
                    _ => Expr::and(old, literal),
                };
            }
            Op::Assign(assign) if assign.active.is_empty() || rng.percent(40) => {
                let old = assign.constrain.clone();
                assign.constrain = match rng.below(5) {
                    0 | 1 => Expr::Bool(true),
                    2 => Expr::negate(old),
                    3 => Expr::or(old, literal),
                    _ => Expr::and(old, literal),
                };
            }
            Op::Assign(assign) => {
                let n_active = assign.active.len();
                let at = rng.below(n_active + assign.passive.len());
                if rng.percent(25) {
                    if at < n_active {
                        assign.active.remove(at)
                    } else {
                        assign.passive.remove(at - n_active)
                    };
                } else {
                    let (var, rhs) = assign.active.iter_mut().chain(&mut assign.passive).nth(at)?;
                    *rhs = other_value(rng, vars[*var].ty, rhs.clone(), Some(literal));
                }
            }
            op => {
                let mut exprs = op.exprs_mut();
                let at = rng.below(exprs.len().max(1));
                let expr = exprs.get_mut(at)?;
                **expr = other_value(rng, Ty::Bool, (**expr).clone(), Some(literal));
            }
        }
        Some(())
    }

    fn edit_control(&mut self, rng: &mut Rng, edge: EdgeId, proc: ProcId) -> Option<()> {
        let locs: Vec<LocId> = self.program.locs.indices().filter(|loc| self.program.locs[*loc].proc == proc).collect();
        let to = *rng.pick(&locs)?;
        let callee = ProcId::new(rng.below(self.program.procs.len()));
        let literal = literal(rng, &self.program, proc)?;
        let is_assert = matches!(self.program.edges[edge].op, Op::Assert(_));
        let changed = &mut self.program.edges[edge];
        match rng.below(9) {
            0..3 => changed.to = to,
            3 => changed.op = Op::skip(),
            4 => changed.op = Op::Assert(literal),
            5 => changed.op = [Op::AtomicBegin, Op::AtomicEnd][rng.below(2)].clone(),
            6 => changed.op = Op::Spawn(Spawn { callee, args: Vec::new() }),
            7 => match &mut changed.op {
                Op::Call(call) if rng.coin() => call.callee = callee,
                Op::Call(call) => call.results.iter_mut().for_each(|result| *result = None),
                Op::Spawn(spawn) => spawn.callee = callee,
                Op::Fork(at) => *at = to,
                op => *op = Op::Fork(to),
            },
            _ => {
                // One more step, beside another one.
                let mut more = changed.clone();
                (more.op, more.to) = (Op::assume(literal), to);
                self.program.edges.push(more);
            }
        }
        let is_now = matches!(self.program.edges[edge].op, Op::Assert(_));
        if is_assert != is_now {
            self.target.asserts.retain(|assert| *assert != edge);
            let asserts = self.target.asserts.iter().copied().chain(is_now.then_some(edge)).collect();
            let Target { locs, together, deadlock, .. } = self.target.clone();
            self.target = Target::new(asserts, locs).with_together(together).with_deadlock(deadlock);
        }
        Some(())
    }
}

/// Returns another expression of a type.
fn other_value(rng: &mut Rng, ty: Ty, old: Expr, literal: Option<Expr>) -> Expr {
    match (ty, rng.below(4), literal) {
        (Ty::Bool, 0, _) => Expr::Bool(rng.coin()),
        (Ty::Bool, 1, Some(literal)) => literal,
        (Ty::Bool, 2, Some(literal)) => Expr::and(old, literal),
        (Ty::Bool, ..) => Expr::negate(old),
        (Ty::Int, 0, _) => Expr::Int(rng.below(5) as i64 - 2),
        (Ty::Int, 1, _) => Expr::binary(BinaryOp::Sub, old, Expr::Int(1)),
        (Ty::Int, ..) => Expr::binary(BinaryOp::Add, old, Expr::Int(1 + rng.below(2) as i64)),
        (Ty::Machine(ty), kind, _) => {
            let number = Expr::Machine(ty, u64::from(rng.coin()));
            let op = [MachineOp::Add, MachineOp::Sub, MachineOp::Xor].get(kind).copied();
            op.map_or(number.clone(), |op| Expr::binary(BinaryOp::Machine(op, ty), old, number))
        }
    }
}

/// Returns a condition on one variable that a procedure sees.
fn literal(rng: &mut Rng, program: &Program, proc: ProcId) -> Option<Expr> {
    let is_seen = |var: &VarId| match program.vars[*var].scope {
        Scope::Shared | Scope::Thread => true,
        Scope::Local(owner) => owner == proc,
    };
    let vars: Vec<VarId> = program.vars.indices().filter(is_seen).collect();
    let var = *rng.pick(&vars)?;
    let value = match program.vars[var].ty {
        Ty::Bool => Expr::Var(var),
        Ty::Int => Expr::binary(BinaryOp::Le, Expr::Var(var), Expr::Int(rng.below(7) as i64 - 3)),
        Ty::Machine(ty) => Expr::binary(BinaryOp::Eq, Expr::Var(var), Expr::Machine(ty, 1)),
    };
    Some(if rng.coin() { value } else { Expr::negate(value) })
}
