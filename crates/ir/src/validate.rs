//! The rules of well-formed programs, and their check.
//!
//! The check has two rounds: first that every number refers to something, then everything else, which may then follow
//! the numbers.
//!
//! - *Variables.* A procedure's locals are exactly the variables of its scope; its parameters are some of them. A
//!   procedure reads and writes shared variables, per-thread variables and its own locals; passive variables are not
//!   shared. [`Expr::Next`] and [`Expr::PassiveNext`] occur in constraints only, [`Expr::Passive`] there and in passive
//!   assignments. Nothing is assigned twice by one step.
//! - *Types.* Operators, assignments, arguments and returned values agree in type and number; one choice has one type.
//!   Machine integers have 1 to 64 bits, constants none beyond them. Shared parts are used only where they are defined.
//! - *Control.* An edge, and the place where its fork begins, lie within one procedure. [`Op::Return`] and [`Op::End`]
//!   lead to the procedure's exit, nothing else does, and nothing leaves it. What an edge ensures makes no choices;
//!   returns, ends and assignments without a condition on other threads ensure nothing.
//! - *Start.* Initial values of shared variables read nothing; those of per-thread variables read shared ones only.

use std::fmt;

use fixedbitset::FixedBitSet;

use crate::syntax::{
    Assign, BinaryOp, Call, Edge, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, Ty, UnaryOp, VarId,
};
use crate::target::{Target, sorted};

/// The highest number that a choice may have, so that lists of choices stay short.
const MAX_CHOICE: u32 = 1 << 20;

/// A broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The kind of the program's part that breaks it, and its number if there are several: `e` and 2, or `init`.
    pub part: (&'static str, Option<usize>),
    /// The message, without a full stop.
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            (kind, Some(number)) => write!(f, "{kind}{number}: {}", self.message),
            (kind, None) => write!(f, "{kind}: {}", self.message),
        }
    }
}

impl std::error::Error for Invalid {}

/// Checks a program.
pub fn validate(program: &Program) -> Result<(), Vec<Invalid>> {
    let mut validator = Validator { program, invalid: Vec::new(), part: ("init", None) };
    validator.numbers();
    if validator.invalid.is_empty() {
        validator.rules();
    }
    if validator.invalid.is_empty() { Ok(()) } else { Err(validator.invalid) }
}

/// Checks a target of a valid program: sorted, without repetition, assertions, and locations that threads can be at.
pub fn validate_target(program: &Program, target: &Target) -> Result<(), Vec<Invalid>> {
    let mut validator = Validator { program, invalid: Vec::new(), part: ("target", None) };
    validator.target(target);
    if validator.invalid.is_empty() { Ok(()) } else { Err(validator.invalid) }
}

/// What is left to check of an expression.
enum Rest<'e> {
    /// An expression that must have this type.
    Expr(&'e Expr, Ty),
    /// The definition of a part, which comes into scope behind it.
    Part(u32, &'e Expr),
    /// A part of this type comes into scope.
    Bind(u32, Ty),
    /// Only so many parts stay in scope.
    Leave(usize),
}

struct Validator<'p> {
    program: &'p Program,
    invalid: Vec<Invalid>,
    /// The part that is being checked.
    part: (&'static str, Option<usize>),
}

/// The values that an expression may read, by its position.
#[derive(Clone, Copy)]
enum Reads {
    /// No variable.
    Nothing,
    /// Shared variables.
    Shared,
    /// The old values of the variables visible in the procedure.
    Old(ProcId),
    /// Old values, and those of the assigned thread.
    OldAndPassive(ProcId),
    /// Old and new values of the stepping and of other threads.
    All(ProcId),
}

impl Validator<'_> {
    fn report(&mut self, message: impl Into<String>) {
        self.invalid.push(Invalid { part: self.part, message: message.into() });
    }

    fn demand(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.report(message());
        }
    }

    /// Checks in the first round that every number refers to something.
    fn numbers(&mut self) {
        let program = self.program;
        for (id, var) in program.vars.iter_enumerated() {
            self.part = ("variable ", Some(id.index()));
            self.type_exists(var.ty);
            if let Scope::Local(proc) = var.scope {
                self.has_proc(proc);
            }
        }
        for (id, proc) in program.procs.iter_enumerated() {
            self.part = ("procedure ", Some(id.index()));
            proc.params.iter().chain(&proc.locals).for_each(|var| self.has_var(*var));
            proc.results.iter().for_each(|ty| self.type_exists(*ty));
            self.has_loc(proc.entry);
            self.has_loc(proc.exit);
        }
        for (id, loc) in program.locs.iter_enumerated() {
            self.part = ("L", Some(id.index()));
            self.has_proc(loc.proc);
        }
        for (id, edge) in program.edges.iter_enumerated() {
            self.part = ("e", Some(id.index()));
            self.has_loc(edge.from);
            self.has_loc(edge.to);
            self.op_numbers(&edge.op);
            self.expr_numbers(&edge.ensures);
        }
        for (idx, label) in program.labels.iter().enumerate() {
            self.part = ("label ", Some(idx));
            self.has_loc(label.loc);
        }
        self.start_numbers();
    }

    fn start_numbers(&mut self) {
        let program = self.program;
        self.part = ("init", None);
        self.assignment_numbers(&program.init);
        self.part = ("prelude", None);
        program.prelude.iter().for_each(|proc| self.has_proc(*proc));
        for (id, entry) in program.entries.iter_enumerated() {
            self.part = ("start ", Some(id.index()));
            self.has_proc(entry.proc);
            entry.thread_vars.iter().for_each(|var| self.has_var(*var));
            self.assignment_numbers(&entry.init);
        }
    }

    fn op_numbers(&mut self, op: &Op) {
        op.exprs().for_each(|expr| self.expr_numbers(expr));
        op.assigned().for_each(|var| self.has_var(var));
        op.callee().into_iter().for_each(|proc| self.has_proc(proc));
        match op {
            Op::Assign(assign) => assign.passive.iter().for_each(|(var, _)| self.has_var(*var)),
            Op::Fork(loc) => self.has_loc(*loc),
            _ => {}
        }
    }

    fn assignment_numbers(&mut self, assignments: &[(VarId, Expr)]) {
        for (var, rhs) in assignments {
            self.has_var(*var);
            self.expr_numbers(rhs);
        }
    }

    fn expr_numbers(&mut self, expr: &Expr) {
        expr.for_each_leaf(|leaf| {
            leaf.var().into_iter().for_each(|var| self.has_var(var));
            if let Expr::Choice(number, _) = leaf {
                self.demand(*number <= MAX_CHOICE, || format!("the number of the choice ?{number} is too large"));
            }
        });
    }

    fn has_var(&mut self, var: VarId) {
        self.demand(var < self.program.vars.len_idx(), || format!("there is no variable {}", var.index()));
    }

    fn has_proc(&mut self, proc: ProcId) {
        self.demand(proc < self.program.procs.len_idx(), || format!("there is no procedure {}", proc.index()));
    }

    fn has_loc(&mut self, loc: LocId) {
        self.demand(loc < self.program.locs.len_idx(), || format!("there is no location L{}", loc.index()));
    }

    /// Checks everything else, in the second round.
    fn rules(&mut self) {
        let program = self.program;
        self.locals();
        for id in program.procs.indices() {
            self.part = ("procedure ", Some(id.index()));
            self.proc(id);
        }
        for id in program.edges.indices() {
            self.part = ("e", Some(id.index()));
            self.edge(id);
        }
        self.part = ("init", None);
        self.init();
        for id in program.entries.indices() {
            self.part = ("start ", Some(id.index()));
            self.entry(id);
        }
    }

    /// Checks that each local variable is in its procedure's list, once.
    fn locals(&mut self) {
        let program = self.program;
        let mut listed = FixedBitSet::with_capacity(program.vars.len());
        for (id, proc) in program.procs.iter_enumerated() {
            self.part = ("procedure ", Some(id.index()));
            for local in &proc.locals {
                let (own, again) = (program.vars[*local].scope == Scope::Local(id), listed.put(local.index()));
                if !own {
                    self.report(format!("{} is not a local variable of this procedure", named(program, *local)));
                } else if again {
                    self.report(format!("{} is listed twice", named(program, *local)));
                }
            }
        }
        for (id, var) in program.vars.iter_enumerated() {
            self.part = ("variable ", Some(id.index()));
            let listed = listed.contains(id.index()) || !matches!(var.scope, Scope::Local(_));
            self.demand(listed, || format!("`{}` is missing in the list of its procedure's locals", var.name));
        }
    }

    fn proc(&mut self, id: ProcId) {
        let proc = &self.program.procs[id];
        for param in &proc.params {
            let own = self.program.vars[*param].scope == Scope::Local(id);
            self.demand(own, || format!("the parameter {} is not a local variable", param.index()));
        }
        self.once(proc.params.iter().copied(), "a parameter");
        for loc in [proc.entry, proc.exit] {
            let own = self.program.locs[loc].proc == id;
            self.demand(own, || format!("L{} belongs to another procedure", loc.index()));
        }
        self.demand(proc.entry != proc.exit, || "the entry is the exit".to_owned());
    }

    /// Checks that each variable occurs at most once.
    fn once(&mut self, vars: impl Iterator<Item = VarId>, role: &str) {
        let mut vars: Vec<VarId> = vars.collect();
        vars.sort_unstable();
        for pair in vars.windows(2).filter(|pair| pair[0] == pair[1]) {
            self.report(format!("{} is {role} twice", named(self.program, pair[0])));
        }
    }

    fn edge(&mut self, id: EdgeId) {
        let edge = &self.program.edges[id];
        let owner = self.program.locs[edge.from].proc;
        let proc = &self.program.procs[owner];
        let stays = self.program.locs[edge.to].proc == owner;
        self.demand(stays, || "leads into another procedure".to_owned());
        self.demand(edge.from != proc.exit, || "leaves the exit".to_owned());
        let ends = matches!(edge.op, Op::Return(_) | Op::End);
        self.demand(ends || edge.to != proc.exit, || "leads to the exit without returning".to_owned());
        self.demand(!ends || edge.to == proc.exit, || "returns, but does not lead to the exit".to_owned());
        self.op(&edge.op, owner);
        self.choices(edge.op.exprs());
        self.ensures(edge, owner);
    }

    fn ensures(&mut self, edge: &Edge, owner: ProcId) {
        self.expr(&edge.ensures, Ty::Bool, Reads::Old(owner));
        let may_ensure = match &edge.op {
            Op::Assign(assign) => assign.constrain.is_passive(),
            op => !matches!(op, Op::Return(_) | Op::End),
        };
        self.demand(may_ensure || edge.ensures == Expr::TRUE, || "an operation that cannot ensure anything".to_owned());
        let chooses = edge.ensures.any_leaf(|leaf| matches!(leaf, Expr::Choice(..)));
        self.demand(!chooses, || "a choice in what a step ensures".to_owned());
    }

    fn op(&mut self, op: &Op, owner: ProcId) {
        let old = Reads::Old(owner);
        match op {
            Op::Assign(assign) => self.assign(assign, owner),
            Op::Assert(condition) => self.expr(condition, Ty::Bool, old),
            Op::Call(call) => self.call(call, owner),
            Op::Return(values) => self.values(values, &self.program.procs[owner].results, old),
            Op::Spawn(spawn) => self.values(&spawn.args, &self.param_types(spawn.callee), old),
            Op::Fork(loc) => {
                let proc = &self.program.procs[owner];
                let own = self.program.locs[*loc].proc == owner;
                self.demand(own, || format!("the copy begins at L{} in another procedure", loc.index()));
                self.demand(*loc != proc.exit, || "the copy begins at the exit".to_owned());
            }
            Op::End | Op::AtomicBegin | Op::AtomicEnd => {}
        }
    }

    fn assign(&mut self, assign: &Assign, owner: ProcId) {
        for (var, rhs) in &assign.active {
            self.visible(*var, Reads::Old(owner));
            self.expr(rhs, self.program.vars[*var].ty, Reads::Old(owner));
        }
        for (var, rhs) in &assign.passive {
            self.not_shared(*var);
            self.expr(rhs, self.program.vars[*var].ty, Reads::OldAndPassive(owner));
        }
        self.expr(&assign.constrain, Ty::Bool, Reads::All(owner));
        self.once(assign.active.iter().map(|(var, _)| *var), "assigned");
        self.once(assign.passive.iter().map(|(var, _)| *var), "assigned in other threads");
    }

    fn call(&mut self, call: &Call, owner: ProcId) {
        self.values(&call.args, &self.param_types(call.callee), Reads::Old(owner));
        let types = &self.program.procs[call.callee].results;
        let (given, due) = (call.results.len(), types.len());
        self.demand(given == due, || format!("{given} results, but the procedure returns {due}"));
        for (var, ty) in call.results.iter().zip(types) {
            if let Some(var) = *var {
                self.visible(var, Reads::Old(owner));
                let same = self.program.vars[var].ty == *ty;
                self.demand(same, || format!("a result of another type than variable {}", var.index()));
            }
        }
        self.once(call.results.iter().copied().flatten(), "a result");
    }

    fn param_types(&self, proc: ProcId) -> Vec<Ty> {
        self.program.procs[proc].params.iter().map(|param| self.program.vars[*param].ty).collect()
    }

    fn values(&mut self, values: &[Expr], expected: &[Ty], reads: Reads) {
        let (given, due) = (values.len(), expected.len());
        self.demand(given == due, || format!("{given} values, but {due} are expected"));
        for (value, ty) in values.iter().zip(expected) {
            self.expr(value, *ty, reads);
        }
    }

    /// Checks the types and the reads of an expression. The type of an expression can be told from its head and the
    /// types of the shared parts in scope, so it suffices to compare each operand's type with the one that its operator
    /// requires, in any order within a scope.
    fn expr(&mut self, expr: &Expr, expected: Ty, reads: Reads) {
        let mut parts: Vec<(u32, Ty)> = Vec::new();
        let mut rest = vec![Rest::Expr(expr, expected)];
        while let Some(next) = rest.pop() {
            match next {
                Rest::Expr(expr, expected) => self.head(expr, expected, reads, &mut parts, &mut rest),
                Rest::Part(number, part) => {
                    let ty = self.ty(part, &mut parts);
                    rest.extend([Rest::Bind(number, ty), Rest::Expr(part, ty)]);
                }
                Rest::Bind(number, ty) => parts.push((number, ty)),
                Rest::Leave(outside) => parts.truncate(outside),
            }
        }
    }

    fn head<'e>(
        &mut self,
        expr: &'e Expr,
        expected: Ty,
        reads: Reads,
        parts: &mut Vec<(u32, Ty)>,
        rest: &mut Vec<Rest<'e>>,
    ) {
        if let Expr::Let(shared) = expr {
            rest.extend([Rest::Leave(parts.len()), Rest::Expr(&shared.body, expected)]);
            return rest.extend(shared.parts.iter().rev().map(|(number, part)| Rest::Part(*number, part)));
        }
        let ty = self.ty(expr, parts);
        self.demand(ty == expected, || format!("an expression of type {ty:?}, but {expected:?} is expected"));
        match expr {
            Expr::Unary(op, operand) => {
                self.demand(*op != UnaryOp::DivisibleBy(0), || "divisibility by zero".to_owned());
                rest.push(Rest::Expr(operand, self.operand_ty(*op)));
            }
            Expr::Binary(op, pair) => {
                let of_operands = op.operand_ty().unwrap_or_else(|| self.ty(&pair.0, parts));
                self.type_exists(of_operands);
                rest.extend([Rest::Expr(&pair.1, of_operands), Rest::Expr(&pair.0, of_operands)]);
            }
            Expr::Ite(triple) => {
                rest.extend([Rest::Expr(&triple.2, ty), Rest::Expr(&triple.1, ty), Rest::Expr(&triple.0, Ty::Bool)]);
            }
            Expr::Part(number) => {
                let known = parts.iter().any(|(known, _)| known == number);
                self.demand(known, || format!("the part #{number} is not defined here"));
            }
            leaf => self.leaf(leaf, reads),
        }
    }

    fn operand_ty(&mut self, op: UnaryOp) -> Ty {
        match op {
            UnaryOp::Not => Ty::Bool,
            UnaryOp::Neg | UnaryOp::DivisibleBy(_) => Ty::Int,
            UnaryOp::Cast(from, to) => {
                self.type_exists(Ty::Machine(to));
                self.type_exists(Ty::Machine(from));
                Ty::Machine(from)
            }
        }
    }

    fn type_exists(&mut self, ty: Ty) {
        if let Ty::Machine(ty) = ty {
            self.demand(ty.exists(), || format!("a machine integer of {} bits: there are those of 1 to 64", ty.bits));
        }
    }

    /// Returns the type of an expression, given those of the parts in scope.
    fn ty(&self, mut expr: &Expr, parts: &mut Vec<(u32, Ty)>) -> Ty {
        while let Expr::Ite(triple) = expr {
            expr = &triple.1;
        }
        match expr {
            Expr::Let(shared) => {
                let outside = parts.len();
                for (number, part) in &shared.parts {
                    let ty = self.ty(part, parts);
                    parts.push((*number, ty));
                }
                let ty = self.ty(&shared.body, parts);
                parts.truncate(outside);
                ty
            }
            Expr::Part(number) => parts.iter().rev().find(|(known, _)| known == number).map_or(Ty::Bool, |(_, ty)| *ty),
            Expr::Choice(_, ty) => *ty,
            Expr::Int(_) | Expr::Unary(UnaryOp::Neg, _) => Ty::Int,
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, _) => Ty::Int,
            Expr::Binary(BinaryOp::Machine(op, ty), _) if !op.compares() => Ty::Machine(*ty),
            Expr::Machine(ty, _) | Expr::Unary(UnaryOp::Cast(_, ty), _) => Ty::Machine(*ty),
            other => other.var().map_or(Ty::Bool, |var| self.program.vars[var].ty),
        }
    }

    fn leaf(&mut self, leaf: &Expr, reads: Reads) {
        let in_constraint = matches!(reads, Reads::All(_));
        let (allowed, value) = match leaf {
            Expr::Next(_) => (in_constraint, "a new value"),
            Expr::Passive(_) => {
                (in_constraint || matches!(reads, Reads::OldAndPassive(_)), "another thread's variable")
            }
            Expr::PassiveNext(_) => (in_constraint, "another thread's new value"),
            _ => (true, ""),
        };
        self.demand(allowed, || format!("{value} outside of a constraint"));
        match leaf {
            Expr::Choice(_, ty) => self.type_exists(*ty),
            Expr::Machine(ty, bits) => {
                self.type_exists(Ty::Machine(*ty));
                self.demand(!ty.exists() || bits & !ty.mask() == 0, || format!("a constant beyond the type {ty}"));
            }
            Expr::Var(var) | Expr::Next(var) => self.visible(*var, reads),
            Expr::Passive(var) | Expr::PassiveNext(var) => self.not_shared(*var),
            _ => {}
        }
    }

    fn visible(&mut self, var: VarId, reads: Reads) {
        let program = self.program;
        let visible = match (program.vars[var].scope, reads) {
            (_, Reads::Nothing) => false,
            (scope, Reads::Shared) => scope == Scope::Shared,
            (Scope::Shared | Scope::Thread, _) => true,
            (Scope::Local(proc), Reads::Old(owner) | Reads::OldAndPassive(owner) | Reads::All(owner)) => proc == owner,
        };
        self.demand(visible, || format!("{} is not visible here", named(program, var)));
    }

    fn not_shared(&mut self, var: VarId) {
        let program = self.program;
        let shared = program.vars[var].scope == Scope::Shared;
        self.demand(!shared, || format!("{} is shared: no other thread has its own", named(program, var)));
    }

    /// Checks that each choice has one type.
    fn choices<'e>(&mut self, exprs: impl Iterator<Item = &'e Expr>) {
        let mut types: Vec<(u32, Ty)> = Vec::new();
        for expr in exprs {
            expr.for_each_leaf(|leaf| {
                if let Expr::Choice(number, ty) = leaf {
                    types.push((*number, *ty));
                }
            });
        }
        for pair in sorted(types).windows(2).filter(|pair| pair[0].0 == pair[1].0) {
            self.report(format!("the choice ?{} has two types", pair[0].0));
        }
    }

    fn init(&mut self) {
        let program = self.program;
        for (var, _) in &program.init {
            let shared = program.vars[*var].scope == Scope::Shared;
            self.demand(shared, || format!("{} is not shared", named(program, *var)));
        }
        self.initial_values(&program.init, Reads::Nothing);
    }

    fn initial_values(&mut self, init: &[(VarId, Expr)], reads: Reads) {
        init.iter().for_each(|(var, rhs)| self.expr(rhs, self.program.vars[*var].ty, reads));
        self.once(init.iter().map(|(var, _)| *var), "initialised");
        self.choices(init.iter().map(|(_, rhs)| rhs));
    }

    fn entry(&mut self, id: EntryId) {
        let program = self.program;
        let entry = &program.entries[id];
        for var in &entry.thread_vars {
            let per_thread = program.vars[*var].scope == Scope::Thread;
            self.demand(per_thread, || format!("{} is not a per-thread variable", named(program, *var)));
        }
        for (var, _) in &entry.init {
            let listed = entry.thread_vars.contains(var);
            self.demand(listed, || format!("{} is not among the variables of this kind", named(program, *var)));
        }
        self.once(entry.thread_vars.iter().copied(), "listed");
        self.initial_values(&entry.init, Reads::Shared);
    }

    fn target(&mut self, target: &Target) {
        let program = self.program;
        let Target { asserts, locs, together, deadlock } = target.clone();
        let ordered = Target::new(asserts, locs).with_together(together).with_deadlock(deadlock);
        self.demand(*target == ordered, || {
            "the lists are not sorted or have repetitions, or a meeting has too few locations".to_owned()
        });
        for edge in &target.asserts {
            let is_assert = matches!(program.edges.get(*edge), Some(edge) if matches!(edge.op, Op::Assert(_)));
            self.demand(is_assert, || format!("e{} is not an assertion", edge.index()));
        }
        for loc in &target.watched() {
            let owner = program.locs.get(*loc).and_then(|loc| program.procs.get(loc.proc));
            let is_inner = owner.is_some_and(|proc| proc.exit != *loc);
            self.demand(is_inner, || format!("no thread can be at L{}", loc.index()));
        }
    }
}

fn named(program: &Program, var: VarId) -> String {
    format!("`{}` (variable {})", program.vars[var].name, var.index())
}

#[cfg(test)]
mod tests;
