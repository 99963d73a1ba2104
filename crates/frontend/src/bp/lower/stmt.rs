//! Lowering of statements to edges.

use rustc_hash::FxHashMap;
use selvedge_ir::span::{Origin, Role, Span};
use selvedge_ir::{Assign, BinaryOp, Expr, LocId, Op, VarId};

use super::body::{Body, inner_blocks, is_step, values};
use super::expr::{Context, ExprCx};
use super::number::{Check, NewValue, Place, any};
use super::relation::first_prime;
use super::{Lowering, Meaning, NameKind, Shape};
use crate::bp::ast::{self, Block, If, Name, Stmt, StmtKind, Symbol, Target, While};
use crate::diagnostic::{Code, Diagnostic};
use crate::suggest::nearest;

/// The control flow after a statement. Conditions are not evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Continues,
    Stops,
}

impl<'a> Body<'_, 'a> {
    /// Lowers the statements of a block, whose locations are consecutive from `first` on; after the last one control
    /// goes to `to`. A statement with a label, on it or inside, counts as reached.
    pub(super) fn block(&mut self, block: &'a Block, first: LocId, to: LocId) -> Flow {
        let mut flow = Flow::Continues;
        let mut stopped_by: Option<Span> = None;
        let mut steps = block.iter().filter(|stmt| is_step(stmt)).peekable();
        let mut from = first;
        while let Some(stmt) = steps.next() {
            if flow == Flow::Stops && has_label(stmt) {
                flow = Flow::Continues;
            }
            let is_reached = flow == Flow::Continues;
            if let Some(stopper) = stopped_by.take()
                && !is_reached
            {
                self.unreachable(stmt, stopper);
            }
            let next = if steps.peek().is_some() { from + 1 } else { to };
            let after = self.stmt(stmt, from, next);
            if is_reached {
                flow = after;
                stopped_by = (after == Flow::Stops).then_some(stmt.span);
            }
            from = next;
        }
        flow
    }

    fn unreachable(&mut self, stmt: &Stmt, stopper: Span) {
        let diagnostic = Diagnostic::new(Code::Unreachable, "this statement is never reached", stmt.span)
            .also(stopper, "control does not continue after this");
        self.low.report(diagnostic);
    }

    fn stmt(&mut self, stmt: &'a Stmt, from: LocId, to: LocId) -> Flow {
        let origin = Origin { span: stmt.span, role: Role::Statement };
        match &stmt.kind {
            StmtKind::Skip | StmtKind::Print(_) | StmtKind::Error | StmtKind::Decl(_) | StmtKind::Enforce(_) => {
                self.check_print(&stmt.kind);
                self.step(from, to, Op::skip(), 0, origin);
            }
            StmtKind::Goto(labels) => return self.goto_stmt(labels, from, origin),
            StmtKind::Return(results) => return self.return_stmt(results, from, origin),
            StmtKind::EndThread => {
                let (from, exit) = (self.before_end(from, origin), self.exit());
                self.edge(from, exit, Op::End, origin);
                return Flow::Stops;
            }
            StmtKind::If(branches) => return self.if_stmt(branches, from, to),
            StmtKind::While(repeated) => self.while_stmt(repeated, from, to),
            StmtKind::Assign(assign) => self.assign(assign, from, to, origin),
            StmtKind::Call(call) => self.call(stmt, call, from, to, origin),
            StmtKind::Assert(condition) => {
                let mut cx = ExprCx::new(&self.view);
                let condition = self.low.expr(&mut cx, Context::Plain, condition);
                let (n_choices, checks) = (cx.n_choices, cx.checks);
                let values = vec![(condition, Shape::default())];
                let (from, mut values, n_choices) = self.checked(from, checks, n_choices, values, origin);
                let condition = values.swap_remove(0);
                self.step(from, to, Op::Assert(condition), n_choices, origin);
            }
            StmtKind::Assume(condition) => self.assume(Context::Passive, condition, from, to, origin),
            StmtKind::Constrain(condition) => self.constrain(condition, from, to, origin),
            StmtKind::Abortif(condition) => {
                let (condition, guard, n_choices) = self.condition(Context::Passive, condition, from, origin);
                let condition = Expr::and(guard, Expr::negate(condition));
                self.step(from, to, Op::assume(condition), n_choices, origin);
            }
            StmtKind::Dead(names) => self.dead(names, from, to, origin),
            StmtKind::Sync => {
                let diagnostic = Diagnostic::new(Code::Unsupported, "`sync` is not supported", stmt.span);
                self.low.report(diagnostic);
            }
            StmtKind::StartThread(start) => self.start_thread(start, from, to, origin),
            StmtKind::AtomicBegin => self.atomic(Op::AtomicBegin, from, to, origin),
            StmtKind::AtomicEnd => self.atomic(Op::AtomicEnd, from, to, origin),
        }
        Flow::Continues
    }

    fn exit(&self) -> LocId {
        self.low.found.program.procs[self.proc].exit
    }

    /// Lowers the condition of a statement at a location. Also returns the condition without which there is an error
    /// instead of a step.
    fn condition(&mut self, context: Context, condition: &ast::Expr, from: LocId, origin: Origin) -> (Expr, Expr, u32) {
        let mut cx = ExprCx::new(&self.view);
        let expr = self.low.expr(&mut cx, context, condition);
        let (n_choices, checks) = (cx.n_choices, cx.checks);
        if !checks.is_empty() && expr.is_passive() {
            self.low.unchecked_passive(condition.span);
        }
        let guard = self.must_hold(from, checks, n_choices, origin);
        (expr, guard, n_choices)
    }

    pub(super) fn assume(&mut self, context: Context, condition: &ast::Expr, from: LocId, to: LocId, origin: Origin) {
        let (condition, guard, n_choices) = self.condition(context, condition, from, origin);
        self.step(from, to, Op::assume(Expr::and(guard, condition)), n_choices, origin);
    }

    /// Looks up the names in `print`, although it does nothing.
    fn check_print(&mut self, kind: &StmtKind) {
        if let StmtKind::Print(exprs) = kind {
            let mut cx = ExprCx::new(&self.view);
            for expr in exprs {
                let shape = if self.low.is_number(&cx, expr) { Shape::any_number() } else { Shape::default() };
                self.low.value(&mut cx, Context::Plain, (shape, "_"), expr);
            }
        }
    }

    fn goto_stmt(&mut self, labels: &[Name], from: LocId, origin: Origin) -> Flow {
        for label in labels {
            match self.jump_target(label.symbol) {
                Some(target) => self.step(from, target, Op::skip(), 0, origin),
                None => self.unknown_label(*label),
            }
        }
        Flow::Stops
    }

    pub(super) fn jump_target(&mut self, symbol: Symbol) -> Option<LocId> {
        let label = self.labels.get_mut(&symbol)?;
        label.is_used = true;
        Some(label.loc)
    }

    pub(super) fn unknown_label(&mut self, label: Name) {
        if !self.low.is_news(NameKind::Label, label.symbol) {
            return;
        }
        let text = self.low.text(label.symbol);
        let Some(owner) = self.low.label_owner(label.symbol) else {
            let message = format!("there is no label `{text}` in `{}`", self.unit.name);
            let diagnostic = Diagnostic::new(Code::UnknownLabel, message, label.span).label("not found");
            let near = self.near_label(text);
            return self.low.report(diagnostic.did_you_mean(near));
        };
        let owner = self.low.tables.units[owner];
        let message = format!("the label `{text}` belongs to `{}`, not to `{}`", owner.name, self.unit.name);
        let diagnostic = Diagnostic::new(Code::ForeignLabel, message, label.span)
            .label("jumps stay inside their procedure")
            .also(owner.header, "the label is in this procedure");
        self.low.report(diagnostic);
    }

    pub(super) fn near_label(&mut self, text: &str) -> Option<&'a str> {
        if !self.low.may_suggest() {
            return None;
        }
        let mut labels: Vec<(LocId, Symbol)> = Vec::new();
        labels.extend(self.labels.iter().map(|(symbol, label)| (label.loc, *symbol)));
        labels.sort_unstable();
        nearest(text, labels.iter().map(|(_, symbol)| self.low.text(*symbol)))
    }

    fn return_stmt(&mut self, results: &[ast::Expr], from: LocId, origin: Origin) -> Flow {
        let mut cx = ExprCx::new(&self.view);
        let exprs = results.iter().map(|expr| (self.low.expr(&mut cx, Context::Plain, expr), Shape::default()));
        let exprs: Vec<(Expr, Shape)> = exprs.collect();
        let (n_choices, checks) = (cx.n_choices, cx.checks);
        self.low.check_choices(n_choices, origin.span);
        let (from, mut exprs, _) = self.checked(from, checks, n_choices, exprs, origin);
        let (due, is_entry) = (self.unit.n_results, self.is_entry);
        if exprs.len() != due {
            match exprs.len() {
                _ if is_entry && (due == 0 || exprs.is_empty()) => {}
                0 => self.return_without_values(origin.span),
                given => self.wrong_return_count(given, origin.span),
            }
            exprs = self.arbitrary_results();
        }
        let (from, exit) = (self.before_return(from, origin), self.exit());
        self.edge(from, exit, Op::Return(exprs), origin);
        Flow::Stops
    }

    fn return_without_values(&mut self, span: Span) {
        let message = format!("`return` without values, but `{}` has results", self.unit.name);
        let diagnostic = Diagnostic::new(Code::ReturnWithoutValues, message, span)
            .also(self.unit.header, format!("{} due", values(self.unit.n_results)))
            .help("arbitrary values are returned; write them after `return`");
        self.low.report(diagnostic);
    }

    fn wrong_return_count(&mut self, given: usize, span: Span) {
        let message = format!("`{}` returns {}, not {given}", self.unit.name, values(self.unit.n_results));
        let diagnostic = Diagnostic::new(Code::WrongReturnCount, message, span)
            .label(format!("{} given", values(given)))
            .also(self.unit.header, "as declared here");
        self.low.report(diagnostic);
    }

    /// Adds two edges for a condition: it holds, or it does not. Each has its own choices.
    fn branch(&mut self, keyword: Span, condition: &ast::Expr, from: LocId, holds: LocId, fails: LocId) {
        let span = keyword.to(condition.span);
        let statement = Origin { span, role: Role::Statement };
        let (expr, guard, n_choices) = self.condition(Context::Plain, condition, from, statement);
        let holds_if = Expr::and(guard.clone(), expr.clone());
        let fails_if = Expr::and(guard, Expr::negate(expr));
        self.step(from, holds, Op::assume(holds_if), n_choices, Origin { span, role: Role::Holds });
        self.step(from, fails, Op::assume(fails_if), n_choices, Origin { span, role: Role::Fails });
    }

    fn if_stmt(&mut self, branches: &'a If, from: LocId, to: LocId) -> Flow {
        let firsts: Vec<LocId> = branches.arms.iter().map(|arm| self.entry_of(&arm.body, to)).collect();
        let otherwise = branches.otherwise.as_ref().map(|otherwise| &otherwise.body);
        let otherwise_first = otherwise.map_or(to, |block| self.entry_of(block, to));
        let mut flow = if otherwise.is_some() { Flow::Stops } else { Flow::Continues };
        let mut from = from;
        for (index, (arm, first)) in branches.arms.iter().zip(firsts).enumerate() {
            let is_last = index + 1 == branches.arms.len();
            let fails = if is_last { otherwise_first } else { self.new_loc() };
            self.branch(arm.keyword, &arm.condition, from, first, fails);
            flow = either(flow, self.block(&arm.body, first, to));
            from = fails;
        }
        match otherwise {
            Some(block) => either(flow, self.block(block, otherwise_first, to)),
            None => flow,
        }
    }

    /// Returns the first location of a block; for an empty one, the location after it.
    fn entry_of(&mut self, block: &Block, to: LocId) -> LocId {
        let first = self.take(block);
        if self.next == first { to } else { first }
    }

    fn while_stmt(&mut self, repeated: &'a While, from: LocId, to: LocId) {
        let first = self.entry_of(&repeated.body, from);
        self.branch(repeated.keyword, &repeated.condition, from, first, to);
        self.block(&repeated.body, first, from);
    }

    fn dead(&mut self, names: &[Name], from: LocId, to: LocId, origin: Origin) {
        let mut active = Vec::with_capacity(names.len());
        for name in names {
            if let Some(first) = self.low.active_target(&self.view, *name) {
                for var in self.low.found.cells(first) {
                    let choice = any(active.len() as u32, self.low.shape(var));
                    active.push((var, choice));
                }
            }
        }
        let n_choices = names.len().max(active.len()) as u32;
        active.sort_by_key(|(var, _)| *var);
        active.dedup_by_key(|(var, _)| *var);
        self.update(from, to, Assign { active, ..Assign::skip() }, n_choices, origin);
    }

    /// Lowers an assignment. Where a value leaves its range although the constraint holds, the step is an error.
    pub(super) fn assign(&mut self, assign: &ast::Assign, from: LocId, to: LocId, origin: Origin) {
        let mut cx = ExprCx::new(&self.view);
        let targets = self.low.targets(&mut cx, &assign.targets);
        if assign.targets.len() != assign.values.len() {
            self.low.wrong_value_count(assign);
        }
        let mut lowered = Assign::skip();
        let mut new_values = FxHashMap::default();
        for (index, value) in assign.values.iter().enumerate() {
            let (n_choices, n_checks) = (cx.n_choices, cx.checks.len());
            let target = targets.get(index).and_then(Option::as_ref);
            let context = match target {
                Some(Place { meaning: Meaning::Passive(_), .. }) => Context::Passive,
                _ => Context::Plain,
            };
            let Some(place) = target else {
                let shape = if self.low.is_number(&cx, value) { Shape::any_number() } else { Shape::default() };
                self.low.value(&mut cx, context, (shape, "_"), value);
                // The value is discarded, so its choices are not made.
                cx.n_choices = n_choices;
                cx.checks.truncate(n_checks);
                continue;
            };
            let (value, new_value) = self.low.value(&mut cx, context, (place.shape, &place.name), value);
            if matches!(place.meaning, Meaning::Passive(_)) && cx.checks.len() > n_checks {
                self.low.unchecked_passive(origin.span);
            }
            self.low.assign_place(place, value, new_value, &mut lowered, &mut new_values);
        }
        let checks = std::mem::take(&mut cx.checks);
        let first_of_constraint = cx.n_choices;
        if let Some(constrain) = &assign.constrain {
            lowered.constrain = self.low.expr(&mut cx, Context::Constrain, constrain);
        }
        let (n_choices, mut errors) = (cx.n_choices, std::mem::take(&mut cx.checks));
        if !(checks.is_empty() && errors.is_empty()) {
            if lowered.constrain.is_passive() {
                self.low.unchecked_passive(origin.span);
            }
            let all = checks.iter().chain(&errors).map(|check| check.holds.clone());
            lowered.constrain = all.fold(lowered.constrain, Expr::and);
        }
        if !checks.is_empty() {
            cx.n_choices = first_of_constraint;
            cx.new_values = new_values;
            errors.extend(self.low.where_possible(&mut cx, assign, checks));
        }
        self.must_hold(from, errors, n_choices, origin);
        self.update(from, to, lowered, n_choices, origin);
    }
}

impl Lowering<'_> {
    /// Adds the assignment of a value to a place.
    fn assign_place(
        &mut self,
        place: &Place,
        value: Expr,
        new_value: NewValue,
        lowered: &mut Assign,
        new_values: &mut FxHashMap<VarId, NewValue>,
    ) {
        match (place.meaning, &place.index) {
            (Meaning::Passive(var), _) => lowered.passive.push((var, value)),
            (Meaning::Active(var), None) => {
                new_values.insert(var, new_value);
                lowered.active.push((var, value));
            }
            (Meaning::Active(first), Some(index)) => {
                for (var, is_this) in self.assigned_elements(first, index) {
                    let (value, new_value) = self.value_of_element(var, is_this, &value, &new_value);
                    new_values.insert(var, new_value);
                    lowered.active.push((var, value));
                }
            }
        }
    }

    /// Returns the checks of the new values: each must hold where the constraint allows the step.
    fn where_possible(&mut self, cx: &mut ExprCx<'_>, assign: &ast::Assign, checks: Vec<Check>) -> Vec<Check> {
        let possible = match &assign.constrain {
            Some(constrain) => self.expr(cx, Context::Constrain, constrain),
            None => Expr::TRUE,
        };
        // Where an index leaves its array, there is no new value that the constraint could be about.
        let reads_new_values = assign.constrain.as_ref().and_then(first_prime).is_some();
        let weakened = checks.into_iter().map(|check| match &possible {
            Expr::Bool(true) => check,
            _ if check.is_index && reads_new_values => check,
            possible => Check { holds: Expr::binary(BinaryOp::Implies, possible.clone(), check.holds), ..check },
        });
        weakened.collect()
    }
}

/// Returns whether a jump could lead to the statement or into it.
fn has_label(stmt: &Stmt) -> bool {
    !stmt.labels.is_empty() || inner_blocks(stmt).into_iter().flatten().any(has_label)
}

impl Lowering<'_> {
    fn wrong_value_count(&mut self, assign: &ast::Assign) {
        let (n_targets, n_values) = (assign.targets.len(), assign.values.len());
        let (Some(first), Some(last)) = (assign.targets.first(), assign.targets.last()) else { return };
        let noun = if n_targets == 1 { "variable" } else { "variables" };
        let message = format!("{} for {n_targets} {noun}", values(n_values));
        let mut diagnostic = Diagnostic::new(Code::WrongValueCount, message, first.span().to(last.span()))
            .label(format!("{n_targets} {noun}"));
        if let (Some(first), Some(last)) = (assign.values.first(), assign.values.last()) {
            diagnostic = diagnostic.also(first.span.to(last.span), values(n_values));
        }
        self.report(diagnostic);
    }

    /// Resolves left-hand sides; `None` for `_` and for names that were reported.
    pub(super) fn targets(&mut self, cx: &mut ExprCx<'_>, targets: &[Target]) -> Vec<Option<Place>> {
        let mut places = Vec::with_capacity(targets.len());
        for target in targets {
            places.push(self.place(cx, target));
        }
        if targets.len() > 1 {
            self.check_assigned_once(targets, &mut places);
        }
        places
    }

    /// Reports variables that are assigned twice. Of an array, different elements may be assigned if their numbers are
    /// constants.
    fn check_assigned_once(&mut self, targets: &[Target], places: &mut [Option<Place>]) {
        let mut seen: FxHashMap<(VarId, bool), Span> = FxHashMap::default();
        for (target, place) in targets.iter().zip(places) {
            let Some(assigned) = place.as_ref() else { continue };
            let keys: Vec<(VarId, bool)> = match (assigned.meaning, &assigned.index) {
                (Meaning::Passive(var), _) => vec![(var, true)],
                (Meaning::Active(var), None) => vec![(var, false)],
                (Meaning::Active(first), Some(index)) => {
                    self.assigned_elements(first, index).into_iter().map(|(var, _)| (var, false)).collect()
                }
            };
            let earlier = keys.iter().find_map(|key| seen.get(key).copied());
            seen.extend(keys.into_iter().map(|key| (key, target.span())));
            let Some(first) = earlier else { continue };
            let message = match assigned.index {
                None => format!("`{}` is assigned twice in one statement", assigned.name),
                Some(_) => format!("an element of `{}` may be assigned twice in one statement", assigned.name),
            };
            let diagnostic = Diagnostic::new(Code::AssignedTwice, message, target.span())
                .label("again here")
                .also(first, "first here")
                .help("use `_` to discard a value");
            self.report(diagnostic);
            *place = None;
        }
    }

    /// Returns the first procedure that has this label.
    pub(super) fn label_owner(&mut self, symbol: Symbol) -> Option<selvedge_ir::ProcId> {
        let tables = &self.tables;
        let owners = self.label_owners.get_or_insert_with(|| {
            let mut owners = FxHashMap::default();
            for (proc, unit) in tables.units.iter_enumerated() {
                let mut blocks = vec![&unit.body.stmts];
                while let Some(block) = blocks.pop() {
                    for stmt in block {
                        for label in &stmt.labels {
                            owners.entry(label.symbol).or_insert(proc);
                        }
                        blocks.extend(inner_blocks(stmt));
                    }
                }
            }
            owners
        });
        owners.get(&symbol).copied()
    }
}

fn either(one: Flow, other: Flow) -> Flow {
    if one == Flow::Continues { one } else { other }
}
