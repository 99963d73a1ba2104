//! Lowering of calls, of the statements `lock` and `unlock`, which are written as calls, and of starts of threads.

use selvedge_ir::span::Origin;
use selvedge_ir::{BinaryOp, Call, Expr, LocId, Op, Spawn, VarId};

use super::body::{Body, values};
use super::expr::{Context, ExprCx};
use super::number::{Check, Place};
use super::{Meaning, NameKind, Shape};
use crate::bp::ast::{self, Name, StartThread, Stmt, Target};
use crate::diagnostic::{Code, Diagnostic};

impl Body<'_, '_> {
    /// Lowers `lock(x)`, which waits until `x` is false and makes it true in the same step, and `unlock(x)`, which is
    /// an error if `x` is false. Returns whether the call is one of them; procedures with these names come first.
    fn lock_stmt(&mut self, call: &ast::Call, from: LocId, to: LocId, origin: Origin) -> bool {
        let name = self.low.text(call.callee.symbol);
        let is_lock = name == "lock";
        let is_ours = (is_lock || name == "unlock") && call.targets.is_empty();
        let ([argument], true) = (call.args.as_slice(), is_ours) else { return false };
        if self.low.find_procedure(&self.view, call.callee.symbol).is_some() {
            return false;
        }
        let target = match &argument.kind {
            ast::ExprKind::Var(symbol) => Target::Var(Name { symbol: *symbol, span: argument.span }),
            ast::ExprKind::Element(element) if !element.is_primed => Target::Element(element.clone()),
            _ => {
                let message = format!("`{name}` takes a variable");
                self.low.report(Diagnostic::new(Code::TruthOrNumber, message, argument.span));
                return true;
            }
        };
        let mut cx = ExprCx::new(&self.view);
        let holds = self.low.expr(&mut cx, Context::Plain, argument);
        if cx.n_choices > 0 {
            let message = format!("`{name}` takes one variable, not any of several");
            self.low.report(Diagnostic::new(Code::Unsupported, message, argument.span));
            return true;
        }
        let (span, value) = (argument.span, if is_lock { ast::Const::T } else { ast::Const::F });
        let value = ast::Expr { span, kind: ast::ExprKind::Const(value) };
        let is_free = ast::Expr { span, kind: ast::ExprKind::Not(Box::new(argument.clone())) };
        if !is_lock {
            let mut locked = vec![Check {
                holds,
                message: format!("`{}` is not locked", span.of(self.low.source)),
                is_index: false,
            }];
            // An index that leaves the array is an error of the assignment.
            for outside in cx.checks {
                let inside = outside.holds;
                locked[0].holds = Expr::binary(BinaryOp::Implies, inside, locked[0].holds.clone());
            }
            self.must_hold(from, locked, 0, origin);
        }
        let constrain = Some(if is_lock { is_free } else { argument.clone() });
        self.assign(&ast::Assign { targets: vec![target], values: vec![value], constrain }, from, to, origin);
        true
    }

    pub(super) fn call(&mut self, stmt: &Stmt, call: &ast::Call, from: LocId, to: LocId, origin: Origin) {
        let is_async = stmt.labels.iter().any(|label| self.low.text(label.symbol).starts_with("ASYNC_"));
        if !is_async && self.lock_stmt(call, from, to, origin) {
            return;
        }
        let meanings = self.low.targets(&mut ExprCx::new(&self.view), &call.targets);
        let results = self.call_results(&call.targets, &meanings);
        let params = self.low.find_procedure(&self.view, call.callee.symbol).map(|id| self.low.tables.units[id].params);
        let (from, args, n_choices) = self.args(params, &call.args, from, origin);
        let Some(callee) = self.low.procedure(&self.view, call.callee.symbol, call.callee.span) else { return };
        self.check_args(callee, call.callee, args.len());
        if is_async {
            if !call.targets.is_empty() {
                self.async_results(call);
            }
            return self.step(from, to, Op::Spawn(Spawn { callee, args }), n_choices, origin);
        }
        let due = self.low.tables.units[callee].n_results;
        let results = if call.targets.is_empty() { vec![None; due] } else { results };
        if results.len() != due {
            self.wrong_result_count(call, due);
        }
        let back = self.after_call(callee, to, origin);
        self.step(from, back, Op::Call(Call { results, callee, args }), n_choices, origin);
    }

    fn call_results(&mut self, targets: &[Target], places: &[Option<Place>]) -> Vec<Option<VarId>> {
        let mut results = Vec::with_capacity(targets.len());
        for (target, place) in targets.iter().zip(places) {
            let is_plain = |place: &&Place| place.index.is_none() && place.shape.range.is_none();
            if let Some(other) = place.as_ref().filter(|place| !is_plain(place)) {
                let message = format!("the result of a call is a truth value, which cannot go to `{}`", other.name);
                let help = "assign the result to a Boolean variable, and use that in another statement";
                self.low.report(Diagnostic::new(Code::TruthOrNumber, message, target.span()).help(help));
            }
            results.push(match (target, place.as_ref().map(|place| place.meaning)) {
                (_, Some(Meaning::Active(var))) => Some(var),
                (Target::Var(name), Some(Meaning::Passive(_))) => self.low.active_target(&self.view, *name),
                _ => None,
            });
        }
        results
    }

    /// Lowers the arguments of a call, whose parameters are known if the procedure exists. Returns the location from
    /// which the call is made.
    fn args(
        &mut self,
        params: Option<&[ast::Param]>,
        args: &[ast::Expr],
        from: LocId,
        origin: Origin,
    ) -> (LocId, Vec<Expr>, u32) {
        let mut cx = ExprCx::new(&self.view);
        let mut values = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let param = params.and_then(|params| params.get(index));
            let range = param.and_then(|param| param.range).map(|range| (range.lo, range.hi));
            let shape = match param {
                None if self.low.is_number(&cx, arg) => Shape::any_number(),
                _ => Shape { range, ..Shape::default() },
            };
            let name = param.map_or("_", |param| self.low.text(param.name.symbol));
            values.push((self.low.value(&mut cx, Context::Plain, (shape, name), arg).0, shape));
        }
        let (n_choices, checks) = (cx.n_choices, cx.checks);
        self.checked(from, checks, n_choices, values, origin)
    }

    fn check_args(&mut self, callee: selvedge_ir::ProcId, name: Name, given: usize) {
        let unit = self.low.tables.units[callee];
        if unit.params.len() == given {
            return;
        }
        let noun = if unit.params.len() == 1 { "argument" } else { "arguments" };
        let message = format!("`{}` takes {} {noun}, not {given}", unit.name, unit.params.len());
        let diagnostic =
            Diagnostic::new(Code::WrongArgumentCount, message, name.span).also(unit.header, "as declared here");
        self.low.report(diagnostic);
    }

    fn wrong_result_count(&mut self, call: &ast::Call, due: usize) {
        let callee = self.low.text(call.callee.symbol);
        let message = format!("`{callee}` returns {}, not {}", values(due), call.targets.len());
        let first = call.targets.first().map_or(call.callee.span, Target::span);
        let last = call.targets.last().map_or(call.callee.span, Target::span);
        let diagnostic = Diagnostic::new(Code::WrongResultCount, message, first.to(last))
            .label(format!("takes {}", values(call.targets.len())))
            .help("use `_` to discard a value");
        self.low.report(diagnostic);
    }

    fn async_results(&mut self, call: &ast::Call) {
        let message = "a call in a new thread has no results";
        let span = call.targets.first().map_or(call.callee.span, Target::span);
        let help = "remove the left-hand side, or the label `ASYNC_..`";
        self.low.report(Diagnostic::new(Code::AsyncResults, message, span).help(help));
    }

    pub(super) fn start_thread(&mut self, start: &StartThread, from: LocId, to: LocId, origin: Origin) {
        match start {
            StartThread::Goto(label) => match self.jump_target(label.symbol) {
                Some(target) => self.step(from, to, Op::Fork(target), 0, origin),
                None => self.unknown_label(*label),
            },
            StartThread::Name(name) => self.start_by_name(*name, from, to, origin),
            StartThread::Call { callee, args } => {
                let params = self.low.find_procedure(&self.view, callee.symbol);
                let params = params.map(|id| self.low.tables.units[id].params);
                let (from, args, n_choices) = self.args(params, args, from, origin);
                let Some(id) = self.low.procedure(&self.view, callee.symbol, callee.span) else { return };
                self.check_args(id, *callee, args.len());
                self.step(from, to, Op::Spawn(Spawn { callee: id, args }), n_choices, origin);
            }
        }
    }

    /// Starts a thread at a label, or with a procedure if there is no such label.
    fn start_by_name(&mut self, name: Name, from: LocId, to: LocId, origin: Origin) {
        if let Some(target) = self.jump_target(name.symbol) {
            return self.step(from, to, Op::Fork(target), 0, origin);
        }
        if let Some(callee) = self.low.find_procedure(&self.view, name.symbol) {
            self.check_args(callee, name, 0);
            return self.step(from, to, Op::Spawn(Spawn { callee, args: Vec::new() }), 0, origin);
        }
        if !self.low.is_news(NameKind::Label, name.symbol) {
            return;
        }
        let text = self.low.text(name.symbol);
        let message = format!("`{text}` is neither a label of `{}` nor a procedure", self.unit.name);
        let diagnostic = Diagnostic::new(Code::UnknownThreadStart, message, name.span).label("not found");
        let diagnostic = match self.low.label_owner(name.symbol) {
            Some(owner) => {
                diagnostic.also(self.low.tables.units[owner].header, "a label of this name is in this procedure")
            }
            None => {
                let near = self.near_label(text).or_else(|| self.low.near_procedure(&self.view, text));
                diagnostic.did_you_mean(near)
            }
        };
        self.low.report(diagnostic);
    }
}
