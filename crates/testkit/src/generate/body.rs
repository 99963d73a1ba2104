//! Random bodies of procedures. Jumps have no targets yet.

use super::expr::ExprMaker;
use super::in_scope;
use super::weights::{Template, Weights};
use crate::model::{Assign, BinOp, Expr, Invocation, Kind, Model, Place, Procedure, Shape, Stmt};
use crate::rng::Rng;

/// The greatest nesting depth of statements.
const MAX_DEPTH: usize = 2;

/// Makes the body of one procedure.
pub(super) struct BodyMaker<'a> {
    rng: &'a mut Rng,
    weights: &'a Weights,
    me: &'a Procedure,
    /// All variables in scope.
    names: Vec<String>,
    /// The variables that other threads do not share.
    own: Vec<String>,
    /// The variables that have passive copies.
    passive: Vec<String>,
    /// The procedures that may be called.
    callees: Vec<&'a Procedure>,
    /// The procedures that a started thread may run.
    startable: Vec<&'a Procedure>,
    /// Whether the reader takes the program for one of Getafix, which has relational updates.
    relational: bool,
}

impl<'a> BodyMaker<'a> {
    pub(super) fn new(rng: &'a mut Rng, weights: &'a Weights, model: &'a Model, idx: usize, recursive: bool) -> Self {
        let me = &model.procs[idx];
        let locals = || me.params.iter().chain(me.locals.iter().map(|decl| &decl.name)).cloned();
        let globals = || in_scope(model, &me.name);
        let thread_locals = || globals().filter(|decl| decl.thread_local).map(|decl| decl.name.clone());
        let has_init = model.procs.iter().any(|procedure| procedure.name == "init");
        let is_callee =
            |(other, procedure): &(usize, &Procedure)| procedure.initial.is_none() && (*other > idx || recursive);
        let callees = model.procs.iter().enumerate().filter(is_callee).map(|(_, procedure)| procedure).collect();
        let startable = model.procs.iter().filter(|procedure| procedure.initial.is_none()).collect();
        BodyMaker {
            rng,
            weights,
            me,
            names: globals().map(|decl| decl.name.clone()).chain(locals()).collect(),
            own: thread_locals().chain(locals()).collect(),
            passive: thread_locals().chain(me.locals.iter().map(|decl| decl.name.clone())).collect(),
            callees,
            startable,
            relational: model.shape == Shape::Classic && has_init && !weights.starts_threads(),
        }
    }

    /// Makes a whole body.
    pub(super) fn body(mut self) -> Vec<Stmt> {
        let (low, high) = self.weights.statements;
        let n_stmts = self.rng.between(low, high);
        let mut body = self.first_start();
        body.extend(self.block(n_stmts, 0));
        if self.rng.percent(self.weights.chances.last_assert) {
            body.push(Stmt::new(Kind::Assert(self.condition(2))));
        }
        if self.me.results > 0 && self.rng.percent(85) {
            body.push(Stmt::new(self.return_values()));
        }
        body
    }

    /// Makes the start of a thread at the beginning of an initial one.
    fn first_start(&mut self) -> Vec<Stmt> {
        if self.me.initial.is_none() || !self.rng.percent(self.weights.chances.first_start) {
            return Vec::new();
        }
        let start = match self.started() {
            Some(call) if self.rng.percent(80) => Kind::StartCall(call),
            _ => Kind::StartGoto(String::new()),
        };
        vec![Stmt::new(start)]
    }

    /// Makes the condition of an assertion.
    pub(super) fn assertion(&mut self) -> Expr {
        let mut condition = self.condition(2);
        while self.rng.percent(self.weights.chances.weak_assert) {
            let literal = self.maker(self.reads(), 0).literal();
            condition = Expr::binary(BinOp::Or, condition, literal);
        }
        condition
    }

    /// Makes about this many statements.
    fn block(&mut self, n_stmts: usize, depth: usize) -> Vec<Stmt> {
        let mut body: Vec<Stmt> = Vec::new();
        let mut left = n_stmts;
        while left > 0 {
            let inner = if left > 1 { self.rng.between(1, (left - 1).min(4)) } else { 1 };
            let Some(template) = self.rng.weighted(&self.weights.templates) else { break };
            let Some(made) = self.template(template, inner, depth) else { continue };
            left = left.saturating_sub(crate::walk::count_stmts(&made));
            body.extend(made);
        }
        body
    }

    /// Makes the statements of a template; `None` where it does not fit.
    fn template(&mut self, template: Template, inner: usize, depth: usize) -> Option<Vec<Stmt>> {
        let kind = match template {
            Template::Skip => Kind::Skip,
            Template::Assign => self.assign(1, false)?,
            Template::Parallel => self.assign(2, false)?,
            Template::Constrained => self.assign(2, true)?,
            Template::Broadcast => self.broadcast()?,
            Template::Assume => Kind::Assume(self.step_condition()),
            Template::LocalAssume => self.local_assume()?,
            Template::Blocked => Kind::Assume(Expr::Const(false)),
            Template::ConstrainStmt if self.relational && self.rng.coin() => self.relation()?,
            Template::ConstrainStmt => Kind::Constrain(self.step_condition()),
            Template::AbortIf => Kind::AbortIf(Expr::not(self.step_condition())),
            Template::Assert => Kind::Assert(self.assertion()),
            Template::Goto => Kind::Goto(vec![String::new(); self.rng.between(1, 3)]),
            Template::IfGoto => {
                let jump = Stmt::new(Kind::Goto(vec![String::new()]));
                Kind::If(vec![(self.condition(1), vec![jump])], None)
            }
            Template::If | Template::While if depth >= MAX_DEPTH => return None,
            Template::If => self.branches(inner, depth),
            Template::While => Kind::While(self.condition(1), self.block(inner, depth + 1)),
            Template::Call => self.call()?,
            Template::Return => self.return_values(),
            Template::Dead => Kind::Dead(self.some_names(2)?),
            Template::Print => Kind::Print(vec![self.condition(1)]),
            Template::StartGoto => Kind::StartGoto(String::new()),
            Template::StartLabel => Kind::StartLabel(String::new()),
            Template::StartCall => Kind::StartCall(self.started()?),
            Template::Async => Kind::Async(self.started()?),
            Template::EndThread => Kind::EndThread,
            Template::Atomic => return Some(self.atomic(inner, depth)),
            Template::StrayAtomic => [Kind::AtomicBegin, Kind::AtomicEnd][self.rng.below(2)].clone(),
        };
        Some(vec![Stmt::new(kind)])
    }

    fn reads(&self) -> Vec<Expr> {
        self.names.iter().map(|name| Expr::var(name)).collect()
    }

    fn maker(&mut self, leaves: Vec<Expr>, choices: u32) -> ExprMaker<'_> {
        ExprMaker { rng: self.rng, chances: &self.weights.chances, leaves, choices_left: choices }
    }

    fn condition(&mut self, depth: usize) -> Expr {
        self.maker(self.reads(), 1).expr(depth)
    }

    /// Makes a condition that may also read passive copies: for `assume`.
    fn step_condition(&mut self) -> Expr {
        let mut leaves = self.reads();
        if self.rng.percent(self.weights.chances.passive) {
            leaves.extend(self.passive.iter().cloned().map(Expr::Passive));
        }
        let condition = self.maker(leaves.clone(), 1).expr(1);
        Expr::binary(BinOp::Or, condition, self.maker(leaves, 1).literal())
    }

    /// Makes an update that says which new values some variables may have; all others are free.
    fn relation(&mut self) -> Option<Kind> {
        let names = self.some_names(2)?;
        let first = Expr::Next(names[0].clone());
        let leaves = self.reads().into_iter().chain(names.into_iter().map(Expr::Next)).collect();
        let condition = self.maker(leaves, 0).expr(2);
        Some(Kind::Constrain(Expr::binary(if self.rng.coin() { BinOp::Or } else { BinOp::Eq }, first, condition)))
    }

    fn local_assume(&mut self) -> Option<Kind> {
        let leaves: Vec<Expr> = self.own.iter().map(|name| Expr::var(name)).collect();
        if leaves.is_empty() { None } else { Some(Kind::Assume(self.maker(leaves, 1).expr(1))) }
    }

    fn some_names(&mut self, count: usize) -> Option<Vec<String>> {
        let n_names = self.rng.between(1, count);
        let names = self.rng.subset(&self.names, n_names);
        (!names.is_empty()).then_some(names)
    }

    fn assign(&mut self, count: usize, constrained: bool) -> Option<Kind> {
        let names = if count > 1 { self.rng.subset(&self.names, count) } else { self.some_names(1)? };
        let mut places: Vec<Place> = names.iter().cloned().map(Place::Var).collect();
        if count > 1 && self.rng.percent(8) {
            places.push(Place::Discard);
        }
        if places.is_empty() {
            return None;
        }
        let choices = if constrained { 2 } else { 1 };
        let reads = self.reads();
        let mut maker = self.maker(reads, choices);
        let values = places.iter().map(|_| if constrained && maker.rng.coin() { Expr::Choice } else { maker.expr(2) });
        let values = values.collect();
        let constrain = constrained.then(|| self.constraint(&names));
        Some(Kind::Assign(Assign { places, values, constrain }))
    }

    /// Makes a condition on old and new values.
    fn constraint(&mut self, assigned: &[String]) -> Expr {
        let mut leaves = self.reads();
        for _ in 0..2 {
            leaves.extend(assigned.iter().cloned().map(Expr::Next));
        }
        leaves.extend(self.names.first().cloned().map(Expr::Next));
        // The reader refuses arbitrary values beside a condition on other threads, where there is an `enforce` clause.
        if self.me.enforce.is_none() && self.rng.percent(self.weights.chances.passive) {
            leaves.extend(self.passive.iter().cloned().map(Expr::Passive));
            leaves.extend(self.passive.iter().cloned().map(Expr::PassiveNext));
        }
        let condition = self.maker(leaves.clone(), 1).expr(2);
        let literal = self.maker(leaves, 0).literal();
        if self.rng.percent(60) { Expr::binary(BinOp::Or, condition, literal) } else { condition }
    }

    /// Makes an assignment to a passive copy, perhaps together with one to an own variable.
    fn broadcast(&mut self) -> Option<Kind> {
        let name = self.rng.pick(&self.passive)?.clone();
        let mut places = vec![Place::Passive(name.clone())];
        let mut leaves = self.reads();
        leaves.extend(self.passive.iter().cloned().map(Expr::Passive));
        let mut values = vec![self.maker(leaves, 1).expr(1)];
        if self.rng.coin() {
            places.insert(0, Place::Var(name.clone()));
            values.insert(0, self.condition(1));
        }
        let constrain = self.rng.percent(25).then(|| self.constraint(&[name]));
        Some(Kind::Assign(Assign { places, values, constrain }))
    }

    fn branches(&mut self, inner: usize, depth: usize) -> Kind {
        let n_arms = if inner > 1 && self.rng.percent(20) { 2 } else { 1 };
        let arms = (0..n_arms).map(|_| (self.condition(1), self.block(inner.div_ceil(2), depth + 1))).collect();
        let otherwise = self.rng.percent(40).then(|| self.block(inner / 2, depth + 1));
        Kind::If(arms, otherwise)
    }

    fn invocation(&mut self, callee: &Procedure) -> Invocation {
        let args = callee.params.iter().map(|_| self.condition(1)).collect();
        Invocation { callee: callee.name.clone(), args }
    }

    fn call(&mut self) -> Option<Kind> {
        let callee = *self.rng.pick(&self.callees)?;
        let mut places: Vec<Option<String>> =
            self.rng.subset(&self.names, callee.results).into_iter().map(Some).collect();
        places.resize(callee.results, None);
        if !places.is_empty() && self.rng.percent(10) {
            places[0] = None;
        }
        Some(Kind::Call(places, self.invocation(callee)))
    }

    fn started(&mut self) -> Option<Invocation> {
        let callee = *self.rng.pick(&self.startable)?;
        Some(self.invocation(callee))
    }

    fn return_values(&mut self) -> Kind {
        if self.rng.percent(4) {
            return Kind::Return(Vec::new());
        }
        Kind::Return((0..self.me.results).map(|_| self.condition(1)).collect())
    }

    fn atomic(&mut self, inner: usize, depth: usize) -> Vec<Stmt> {
        let mut body = vec![Stmt::new(Kind::AtomicBegin)];
        body.extend(self.block(inner, depth));
        body.push(Stmt::new(Kind::AtomicEnd));
        body
    }
}
