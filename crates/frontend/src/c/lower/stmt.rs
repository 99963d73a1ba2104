//! Lowering of statements.

use selvedge_ir::span::{Role, Span};
use selvedge_ir::{BinaryOp, Expr as Ir, Label, LocId, MachineOp, Op, Scope, Ty};

use super::super::files::Loc;
use super::super::property::Property;
use super::super::tree::{Case, Expr, ExprKind, LabelId, ObjectId, Stmt, StmtKind};
use super::body::Body;
use super::objects::Cell;
use super::place::{Access, cast};
use super::syntax::{inner, is_async};
use super::{Lowered, refuse};

impl Body<'_, '_> {
    /// Lowers a statement that is not directly in a block.
    fn single(&mut self, stmt: &Stmt) {
        let depth = self.blocks.len();
        if inner(stmt).is_empty() {
            self.open(stmt, false);
        }
        self.stmt(stmt);
        self.close_to(depth);
    }

    pub(super) fn close_to(&mut self, depth: usize) {
        if self.blocks.len() > depth {
            self.close(depth);
        }
    }

    /// Lowers a statement; what is not supported in it is reported.
    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        (self.span, self.site) = (stmt.loc.span, None);
        self.watch_creation(stmt);
        let kept = self.in_use.len();
        let depth = self.blocks.len();
        self.open(stmt, true);
        if let Err(refused) = self.try_stmt(stmt) {
            self.low.report(refused);
        }
        self.close_to(depth);
        self.inline = false;
        self.release(kept);
    }

    fn try_stmt(&mut self, stmt: &Stmt) -> Lowered<()> {
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => self.effects(expr)?,
            StmtKind::Declare(object) => self.declare(*object)?,
            StmtKind::Block(stmts) => self.block(stmts),
            StmtKind::If { condition, then, otherwise } => self.if_(condition, then, otherwise.as_deref())?,
            StmtKind::While { condition, body } => {
                self.loop_(Some(stmt.loc.span.start), Some(condition), None, body, false)?;
            }
            StmtKind::DoWhile { body, condition } => self.loop_(None, Some(condition), None, body, true)?,
            StmtKind::For { first, condition, step, body } => {
                first.iter().for_each(|stmt| self.stmt(stmt));
                self.loop_(None, condition.as_ref(), step.as_ref(), body, false)?;
            }
            StmtKind::Switch { value, cases, body } => self.switch(value, cases, body)?,
            StmtKind::CaseLabel(number) => {
                let Some(to) = self.cases.last().and_then(|cases| cases.get(*number)).copied() else {
                    return refuse("a case outside of a switch is", stmt.loc);
                };
                self.arrive(to);
                self.arrive_in_blocks();
            }
            StmtKind::Label(label) => self.label(*label),
            StmtKind::Goto(label) => {
                self.leave_for(*label);
                self.jump(self.labels[*label]);
            }
            StmtKind::Break => self.jump_to(self.breaks.last().copied(), stmt.loc)?,
            StmtKind::Continue => self.jump_to(self.continues.last().copied(), stmt.loc)?,
            StmtKind::Return(value) => self.return_(value.as_ref(), stmt.loc)?,
            StmtKind::Annotation(condition) => self.annotation(condition)?,
            StmtKind::Asm => return refuse("inline assembly is", stmt.loc),
        }
        Ok(())
    }

    /// Lowers the statements of a block. A statement behind a label `__CPROVER_ASYNC_1` is a thread, which has copies
    /// of the locals.
    fn block(&mut self, stmts: &[Stmt]) {
        let mut after = None;
        for stmt in stmts {
            if after.is_some() && !matches!(stmt.kind, StmtKind::Expr(_)) {
                let what = "a thread that is not one expression is".to_owned();
                self.low.report(super::Refused { what, loc: stmt.loc });
            }
            self.stmt(stmt);
            if let Some(after) = after.take() {
                let exit = self.low.program.procs[self.proc].exit;
                self.low.edge(self.at, exit, Op::End, self.span, Role::FallOff);
                self.at = after;
            } else if self.is_async(stmt) {
                let (begin, behind) = (self.new_loc(), self.new_loc());
                self.span = stmt.loc.span;
                self.low.edge(self.at, behind, Op::Fork(begin), self.span, Role::Statement);
                self.at = begin;
                after = Some(behind);
            }
        }
    }

    fn is_async(&self, stmt: &Stmt) -> bool {
        let body = self.unit.functions[self.function].body.as_ref();
        match (&stmt.kind, body) {
            (StmtKind::Label(label), Some(body)) => is_async(self.unit.name(body.labels[*label].name)),
            _ => false,
        }
    }

    fn jump_to(&mut self, to: Option<(LocId, usize)>, loc: Loc) -> Lowered<()> {
        match to {
            Some((to, depth)) => {
                self.leave_blocks(depth);
                self.jump(to);
            }
            None => return refuse("a jump out of no loop and no `switch` is", loc),
        }
        Ok(())
    }

    /// Goes on at a location that others may jump to.
    fn arrive(&mut self, at: LocId) {
        self.low.join(self.at, at);
        self.at = at;
    }

    fn label(&mut self, label: LabelId) {
        self.arrive(self.labels[label]);
        self.arrive_in_blocks();
        let body = self.unit.functions[self.function].body.as_ref();
        let name = body.map_or("", |body| self.unit.name(body.labels[label].name)).to_owned();
        let is_error = name == "ERROR";
        if self.asks(Property::Assertions) || !matches!(name.as_str(), "ERROR" | "SLIC_ERROR") {
            self.low.program.labels.push(Label { name, loc: self.at });
        }
        if is_error {
            self.claim(Ir::FALSE);
        }
    }

    fn return_(&mut self, value: Option<&Expr>, loc: Loc) -> Lowered<()> {
        let results = self.results(loc)?;
        let values = match value {
            Some(value) if !self.is_main && self.unit.types.is_record(value.ty) => Some(self.aggregate(value)?),
            Some(value) if !results.is_empty() => Some(vec![self.read_once(value)?]),
            Some(value) => {
                self.effects(value)?;
                None
            }
            None => None,
        };
        self.leave(values, Role::Statement)
    }

    fn if_(&mut self, condition: &Expr, then: &Stmt, otherwise: Option<&Stmt>) -> Lowered<()> {
        let (holds, fails, end) = (self.new_loc(), self.new_loc(), self.new_loc());
        let keyword = Some(self.span.start);
        self.condition(keyword, condition, holds, fails)?;
        self.at = holds;
        self.single(then);
        self.jump(end);
        self.at = fails;
        otherwise.into_iter().for_each(|stmt| self.single(stmt));
        self.jump(end);
        self.at = end;
        Ok(())
    }

    /// Branches on the condition of a statement, whose text is from the keyword to the closing parenthesis, if the
    /// keyword is next to it.
    fn condition(&mut self, keyword: Option<u32>, condition: &Expr, holds: LocId, fails: LocId) -> Lowered<()> {
        self.span = condition.loc.span;
        let end = Span { start: self.span.end, end: self.span.end + 1 };
        if let Some(start) = keyword.filter(|start| *start < end.start && self.unit.files.text(end) == ")") {
            self.span = Span { start, end: end.end };
        }
        let kept = self.in_use.len();
        self.branch(condition, holds, fails)?;
        self.release(kept);
        Ok(())
    }

    fn loop_(
        &mut self,
        keyword: Option<u32>,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        is_late: bool,
    ) -> Lowered<()> {
        let repeats = std::mem::replace(&mut self.repeats, true);
        let (head, inside, next, end) = (self.new_loc(), self.new_loc(), self.new_loc(), self.new_loc());
        self.jump(if is_late { inside } else { head });
        self.at = head;
        match condition {
            Some(condition) => self.condition(keyword, condition, inside, end)?,
            None => self.jump(inside),
        }
        self.at = inside;
        let depth = self.blocks.len();
        self.breaks.push((end, depth));
        self.continues.push((next, depth));
        self.single(body);
        self.breaks.pop();
        self.continues.pop();
        self.arrive(next);
        if let Some(step) = step {
            self.span = step.loc.span;
            let kept = self.in_use.len();
            self.effects(step)?;
            self.release(kept);
        }
        self.jump(head);
        self.at = end;
        self.repeats = repeats;
        Ok(())
    }

    fn switch(&mut self, value: &Expr, cases: &[Case], body: &Stmt) -> Lowered<()> {
        self.span = value.loc.span;
        let ty = self.scalar(value.ty, value.loc)?;
        let value = self.value(value)?;
        let value = self.save(value, ty);
        let places: Vec<LocId> = cases.iter().map(|_| self.new_loc()).collect();
        let end = self.new_loc();
        let (mut none, mut default) = (Ir::TRUE, end);
        for (case, place) in cases.iter().zip(&places) {
            let Some((first, last)) = case.range else {
                default = *place;
                continue;
            };
            let (first, last) = (ty.constant(first), ty.constant(last));
            let is = match first == last {
                true => Ir::binary(BinaryOp::Eq, value.clone(), first),
                false => {
                    Ir::and(ty.apply(MachineOp::Le, first, value.clone()), ty.apply(MachineOp::Le, value.clone(), last))
                }
            };
            none = Ir::and(none, selvedge_ir::simplify::not(is.clone()));
            self.low.edge(self.at, *place, Op::assume(is), self.span, Role::Holds);
        }
        self.low.edge(self.at, default, Op::assume(none), self.span, Role::Fails);
        self.at = self.new_loc();
        self.cases.push(places);
        self.breaks.push((end, self.blocks.len()));
        self.single(body);
        self.cases.pop();
        self.breaks.pop();
        self.arrive(end);
        Ok(())
    }

    /// Lowers the declaration of a local object.
    fn declare(&mut self, object: ObjectId) -> Lowered<()> {
        let declared = &self.unit.objects[object];
        if self.low.facts.opaque.contains(&declared.ty.id) {
            return self.reset(object);
        }
        if declared.init.is_some() {
            return self.initialise(object, declared.loc);
        }
        self.compute_length(object)?;
        let cells = self.low.cells(object, declared.loc)?;
        if self.low.facts.handles.contains(&object) {
            // Until a thread is created, no thread has this number.
            self.step(Op::set(cells.iter().map(|cell| (cell.var, cell.ty.constant(0))).collect()));
        } else if self.repeats || cells.iter().any(|cell| self.low.is_shared(cell.var)) {
            let any = |(number, cell): (usize, &Cell)| (cell.var, Ir::Choice(number as u32, Ty::Machine(cell.ty)));
            self.step(Op::set(cells.iter().enumerate().map(any).collect()));
        }
        Ok(())
    }

    /// Gives an object its initial values: one step that sets all cells.
    pub(super) fn initialise(&mut self, object: ObjectId, loc: Loc) -> Lowered<()> {
        let unit = self.unit;
        let cells = self.low.cells(object, loc)?;
        let mut values: Vec<Ir> = cells.iter().map(|cell| cell.ty.constant(0)).collect();
        let items: Vec<_> = unit.objects[object].init.iter().flat_map(|init| &init.items).collect();
        if let ([item], [cell]) = (items.as_slice(), cells.as_slice())
            && unit.types.is_scalar(item.ty)
        {
            let ty = self.scalar(item.ty, item.value.loc)?;
            self.span = unit.files.join(loc, item.value.loc).span;
            let value =
                if self.low.is_shared(cell.var) { self.value(&item.value)? } else { self.read_once(&item.value)? };
            if self.low.is_shared(cell.var) {
                self.site = Some(self.after(&item.value));
            }
            self.check_race(&Access::Known(*cell), true);
            self.step(Op::set(vec![(cell.var, cast(value, ty, cell.ty))]));
            return Ok(());
        }
        let exprs: Vec<&Expr> = items.iter().map(|item| &item.value).collect();
        for (item, given) in items.iter().zip(self.passed(&exprs)?) {
            for (part, (value, ty)) in self.low.parts(item.ty, item.value.loc)?.into_iter().zip(given) {
                let bits = item.bits.or(part.bits);
                let is_part = |cell: &Cell| (cell.offset, cell.bits) == (item.offset + part.offset, bits);
                let Some(at) = cells.iter().position(is_part) else {
                    return refuse("an initial value of this part is", item.value.loc);
                };
                values[at] = cast(value, ty, cells[at].ty);
            }
        }
        cells.iter().for_each(|cell| self.check_race(&Access::Known(*cell), true));
        self.step(Op::set(cells.iter().map(|cell| cell.var).zip(values).collect()));
        Ok(())
    }

    /// Evaluates statements in an expression; returns the value of the last one.
    pub(super) fn statements(&mut self, block: &Stmt, whole: &Expr) -> Lowered<Ir> {
        let StmtKind::Block(stmts) = &block.kind else { return refuse("this expression is", whole.loc) };
        let Some((last, before)) = stmts.split_last() else { return refuse("this expression is", whole.loc) };
        let (span, depth) = (self.span, self.blocks.len());
        self.open(block, false);
        before.iter().for_each(|stmt| self.stmt(stmt));
        self.span = span;
        let value = self.last_statement(last, whole);
        self.close_to(depth);
        value
    }

    fn last_statement(&mut self, last: &Stmt, whole: &Expr) -> Lowered<Ir> {
        let span = self.span;
        match &last.kind {
            StmtKind::Expr(expr) if !self.unit.types.is_void(whole.ty) => {
                let ty = self.scalar(whole.ty, whole.loc)?;
                let value = self.value(expr)?;
                Ok(self.save(value, ty))
            }
            _ => {
                self.stmt(last);
                self.span = span;
                Ok(Ir::TRUE)
            }
        }
    }

    /// Returns whether an object belongs to frames of this function.
    pub(super) fn is_local(&self, object: ObjectId) -> bool {
        let loc = self.unit.objects[object].loc;
        matches!(self.low.scope(object, loc), Ok(Scope::Local(_) | Scope::Thread))
    }

    /// Returns whether an expression is a call, or void for another reason.
    pub(super) fn is_void(&self, expr: &Expr) -> bool {
        self.unit.types.is_void(expr.ty)
            || matches!(expr.kind, ExprKind::Cast { kind: super::super::tree::CastKind::Void, .. })
    }
}
