//! Where in the text a step happens: the places at which another thread can be let in.
//!
//! A step that other threads may notice has a site, the point of control just before it, where the text has such a
//! point. Steps inside of one call of the library have none, except the first and the one after a wait.

use selvedge_ir::span::{Site, Span, Update};
use selvedge_ir::visit::for_each_old_read;
use selvedge_ir::{Edge, EdgeId, Expr as Ir, MachineOp, MachineTy, Op, Scope, Ty, VarId};

use super::super::files::Loc;
use super::super::tree::{BinaryOp, Expr, ExprKind};
use super::Lowered;
use super::body::Body;

/// The functions of the library whose results are never negative.
const NOT_NEGATIVE: &[&str] = &["rand", "random", "lrand48"];

impl Body<'_, '_> {
    /// Returns the characters of an expression: in the body of a macro those of the body, if the file has it.
    fn written(&self, loc: Loc) -> Span {
        let length = self.unit.files.iter().next().map_or(0, |file| file.source.text().len());
        if loc.written.end as usize <= length { loc.written } else { loc.span }
    }

    pub(super) fn before(&self, expr: &Expr) -> Site {
        Site::Before(self.written(expr.loc))
    }

    pub(super) fn after(&self, expr: &Expr) -> Site {
        Site::After(self.written(expr.loc))
    }

    /// Returns the parts of an expression that reads and writes an object.
    pub(super) fn between(
        &self,
        whole: &Expr,
        target: &Expr,
        value: Option<&Expr>,
        operator: &'static str,
        is_postfix: bool,
    ) -> Update {
        let value = value.map(|value| self.written(value.loc));
        let (whole, target) = (self.written(whole.loc), self.written(target.loc));
        Update { whole, target, operator, value, is_postfix }
    }

    /// Gives the last edges their site, if other threads may notice them.
    pub(super) fn note_site(&mut self, n_edges: usize) {
        let Some(site) = self.site.take() else { return };
        let end = self.low.program.edges.len();
        for number in end - n_edges..end {
            let edge = EdgeId::from_usize(number);
            if self.is_noticed(&self.low.program.edges[edge]) {
                self.low.map.sites.insert(edge, site);
            }
        }
    }

    /// Returns whether other threads may notice a step.
    fn is_noticed(&self, edge: &Edge) -> bool {
        let is_shared = |var: VarId| self.low.program.vars[var].scope == Scope::Shared;
        let mut found = matches!(edge.op, Op::AtomicBegin | Op::Spawn(_) | Op::Fork(_) | Op::Assert(_));
        for_each_old_read(edge, |var| found |= is_shared(var));
        if let Op::Assign(assign) = &edge.op {
            found |= assign.active.iter().any(|(var, _)| is_shared(*var));
        }
        found
    }

    /// Lowers a call of the library; its first step happens at the call, behind the evaluation of its arguments.
    pub(super) fn at_call<T>(
        &mut self,
        call: &Expr,
        args: &[Expr],
        lower: impl FnOnce(&mut Self) -> Lowered<T>,
    ) -> Lowered<T> {
        let first = self.low.program.edges.len();
        let result = lower(self)?;
        let edges = first..self.low.program.edges.len();
        let is_open = |body: &Self, edge: EdgeId| {
            let found = &body.low.program.edges[edge];
            found.from != body.low.program.procs[body.proc].exit
                && body.low.program.locs[found.from].proc == body.proc
                && !body.low.map.sites.contains_key(&edge)
                && body.is_noticed(found)
        };
        let open: Vec<EdgeId> = edges.map(EdgeId::from_usize).filter(|edge| is_open(self, *edge)).collect();
        let with_steps: Vec<&Expr> = args.iter().filter(|arg| self.has_access(arg)).collect();
        let site = match with_steps.as_slice() {
            [] => self.before(call),
            [arg] => self.after(arg),
            _ => return Ok(result),
        };
        let Some(from) = open.first().map(|edge| self.low.program.edges[*edge].from) else { return Ok(result) };
        for edge in &open {
            if self.low.program.edges[*edge].from == from {
                self.low.map.sites.insert(*edge, site);
            }
        }
        Ok(result)
    }

    /// Gives the last step the site of a thread that wakes up in a call.
    pub(super) fn wakes(&mut self, call: &Expr) {
        let last = EdgeId::from_usize(self.low.program.edges.len() - 1);
        self.low.map.sites.insert(last, Site::Waking(self.written(call.loc)));
    }

    /// Marks the next step as the result of a function without a body.
    pub(super) fn input(&mut self, function: &str, ty: MachineTy) -> Ir {
        let edge = self.low.program.edges.len_idx();
        self.low.map.inputs.insert(edge, function.to_owned());
        if !NOT_NEGATIVE.contains(&function) {
            return self.any_value(ty);
        }
        let var = self.temporary(ty);
        let condition = ty.apply(MachineOp::Le, ty.constant(0), Ir::Next(var));
        self.step(Op::guarded(vec![(var, Ir::Choice(0, Ty::Machine(ty)))], condition));
        Ir::Var(var)
    }

    /// Returns whether the evaluation of an expression has steps that other threads may notice.
    pub(super) fn has_access(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Load(place) => match &place.kind {
                ExprKind::Object(object) => !self.is_local(*object),
                ExprKind::Member(base, _) => {
                    self.has_access(&Expr::new(ExprKind::Load(base.clone()), place.ty, place.loc))
                }
                _ => true,
            },
            ExprKind::Assign { .. }
            | ExprKind::AssignOp { .. }
            | ExprKind::AssignOffset { .. }
            | ExprKind::Increment { .. }
            | ExprKind::Call { .. }
            | ExprKind::Builtin(..)
            | ExprKind::Statements(_)
            | ExprKind::CompoundLiteral(_) => true,
            _ => expr.kind.operands().into_iter().any(|operand| self.has_access(operand)),
        }
    }
}

/// Returns the text of an operator.
pub(super) fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::Shl => "<<",
        BinaryOp::Shr => ">>",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
    }
}
