//! A second, naive lowering from models to the representation, plain and independent of the reader.
//!
//! Each statement has its location before it; a statement's edges lead to the location of the next one. An `enforce`
//! clause is written out for all ways to make its choices.

use std::collections::BTreeMap;

use selvedge_check::{Initial, ThreadScope};
use selvedge_ir as ir;
use selvedge_ir::{Count, EntryId, LocId, ProcId, Scope, Target, Ty, VarId};

use crate::model::{Assign, BinOp, Copies, Decl, Expr, Invocation, Kind, Model, Place, Procedure, Shape, Stmt};
use crate::walk::for_each_stmt;

/// A program with the question about it.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The program.
    pub program: ir::Program,
    /// The errors of the question.
    pub target: Target,
    /// The bound on threads.
    pub threads: ThreadScope,
}

/// Lowers a model.
pub fn lower(model: &Model) -> Lowered {
    let mut lowering = Lowering { model, program: ir::Program::default(), globals: BTreeMap::new() };
    lowering.globals();
    match model.shape {
        Shape::Processes => lowering.processes(),
        Shape::Main | Shape::Classic => lowering.plain(),
    }
    let program = lowering.program;
    let target = match &model.question.label {
        Some(label) => Target::new(Vec::new(), locs_of(&program, &|name| name == label)),
        None => {
            let errors = locs_of(&program, &|name| name == "ERROR" || name == "SLIC_ERROR");
            Target::new(Target::all_asserts(&program).asserts, errors)
        }
    };
    let threads = model.question.threads.map_or(ThreadScope::Unbounded, ThreadScope::AtMost);
    Lowered { program, target, threads }
}

fn locs_of(program: &ir::Program, wanted: &dyn Fn(&str) -> bool) -> Vec<LocId> {
    program.labels.iter().filter(|label| wanted(&label.name)).map(|label| label.loc).collect()
}

struct Lowering<'m> {
    model: &'m Model,
    program: ir::Program,
    globals: BTreeMap<&'m str, VarId>,
}

impl<'m> Lowering<'m> {
    fn globals(&mut self) {
        for decl in &self.model.globals {
            let scope = if decl.thread_local { Scope::Thread } else { Scope::Shared };
            let var = self.program.vars.push(ir::Var { name: decl.name.clone(), scope, ty: Ty::Bool });
            self.globals.insert(&decl.name, var);
        }
        self.program.init = self.global_values(|decl| !decl.thread_local);
    }

    /// Returns the initial values of some variables outside procedures; an arbitrary value is a choice.
    fn global_values(&self, is_ours: impl Fn(&Decl) -> bool) -> Vec<(VarId, ir::Expr)> {
        let ours = self.model.globals.iter().filter(|decl| is_ours(decl));
        in_parallel(ours.map(|decl| (decl, decl.init.as_ref().unwrap_or(&Expr::Choice))), &self.globals)
    }

    fn plain(&mut self) {
        let all: Vec<&Procedure> = self.model.procs.iter().collect();
        let procs = self.procedures(&all, "");
        for procedure in &all {
            let proc = procs[procedure.name.as_str()];
            if self.model.shape == Shape::Classic && procedure.name == "init" {
                self.program.prelude = Some(proc);
            } else if procedure.initial.is_some() {
                let count = match self.model.question.initial {
                    Some(Initial::Exactly(n)) => Count::Exactly(n),
                    Some(Initial::Any) => Count::Any,
                    None => Count::Exactly(1),
                };
                self.entry(&procedure.name, proc, count);
            }
        }
    }

    fn processes(&mut self) {
        let helpers = || self.model.procs.iter().filter(|procedure| procedure.initial.is_none());
        for procedure in &self.model.procs {
            let Some(copies) = procedure.initial else { continue };
            let all: Vec<&Procedure> = std::iter::once(procedure).chain(helpers()).collect();
            let procs = self.procedures(&all, &format!("{}.", procedure.name));
            let count = match copies {
                Copies::Exactly(n) => Count::Exactly(n),
                Copies::Once => Count::AtMost(1),
                Copies::Any => Count::Any,
            };
            self.entry(&procedure.name, procs[procedure.name.as_str()], count);
        }
    }

    fn entry(&mut self, name: &str, proc: ProcId, count: Count) {
        let thread_locals = self.model.globals.iter().filter(|decl| decl.thread_local);
        let init = self.global_values(|decl| decl.thread_local);
        let thread_vars = thread_locals.map(|decl| self.globals[decl.name.as_str()]).collect();
        let _: EntryId =
            self.program.entries.push(ir::Entry { name: name.to_string(), proc, count, thread_vars, init });
    }

    /// Lowers procedures that see each other.
    fn procedures(&mut self, all: &[&'m Procedure], prefix: &str) -> BTreeMap<&'m str, ProcId> {
        let mut procs = BTreeMap::new();
        for procedure in all {
            let id = ProcId::new(self.program.procs.len());
            let proc = self.signature(procedure, id, prefix);
            self.program.procs.push(proc);
            procs.insert(procedure.name.as_str(), id);
        }
        for procedure in all {
            let proc = procs[procedure.name.as_str()];
            BodyLowering::new(self, &procs, procedure, proc).run();
        }
        procs
    }

    fn signature(&mut self, procedure: &Procedure, id: ProcId, prefix: &str) -> ir::Proc {
        let entry = self.program.locs.push(ir::Loc { proc: id });
        let exit = self.program.locs.push(ir::Loc { proc: id });
        let names = procedure.params.iter().chain(procedure.locals.iter().map(|decl| &decl.name));
        let local = |name: &String| ir::Var { name: name.clone(), scope: Scope::Local(id), ty: Ty::Bool };
        let locals: Vec<VarId> = names.map(|name| self.program.vars.push(local(name))).collect();
        ir::Proc {
            name: format!("{prefix}{}", procedure.name),
            params: locals[..procedure.params.len()].to_vec(),
            locals,
            results: vec![Ty::Bool; procedure.results],
            entry,
            exit,
        }
    }
}

/// Makes one assignment of initial values, which take effect one after the other: a read of an earlier variable is
/// replaced by its value.
fn in_parallel<'m>(
    inits: impl Iterator<Item = (&'m Decl, &'m Expr)>,
    vars: &BTreeMap<&str, VarId>,
) -> Vec<(VarId, ir::Expr)> {
    let mut numbering = Numbering { n_choices: 0, vars };
    let mut values: Vec<(VarId, ir::Expr)> = Vec::new();
    for (decl, init) in inits {
        let value = numbering.expr(init).map_leaves(&mut |leaf| {
            let known = values.iter().find(|(var, _)| *leaf == ir::Expr::Var(*var));
            known.map_or_else(|| leaf.clone(), |(_, value)| value.clone())
        });
        values.push((vars[decl.name.as_str()], value));
    }
    values
}

struct BodyLowering<'a, 'm> {
    program: &'a mut ir::Program,
    procs: &'a BTreeMap<&'m str, ProcId>,
    procedure: &'m Procedure,
    proc: ProcId,
    vars: BTreeMap<&'m str, VarId>,
    /// The location before each statement, in the order of the text.
    locs: Vec<LocId>,
    labels: BTreeMap<&'m str, LocId>,
    /// The number of the next statement to lower.
    number: usize,
}

impl<'a, 'm> BodyLowering<'a, 'm> {
    fn new(
        outer: &'a mut Lowering<'m>,
        procs: &'a BTreeMap<&'m str, ProcId>,
        procedure: &'m Procedure,
        proc: ProcId,
    ) -> BodyLowering<'a, 'm> {
        let mut vars = outer.globals.clone();
        let names = procedure.params.iter().chain(procedure.locals.iter().map(|decl| &decl.name));
        vars.extend(names.map(String::as_str).zip(outer.program.procs[proc].locals.iter().copied()));
        let (mut locs, mut labels) = (Vec::new(), BTreeMap::new());
        for_each_stmt(&procedure.body, &mut |stmt| {
            let loc = outer.program.locs.push(ir::Loc { proc });
            locs.push(loc);
            for label in &stmt.labels {
                labels.insert(label.as_str(), loc);
                outer.program.labels.push(ir::Label { name: label.clone(), loc });
            }
        });
        BodyLowering { program: &mut outer.program, procs, procedure, proc, vars, locs, labels, number: 0 }
    }

    /// Lowers initial values, `enforce`, the body, and the end.
    fn run(mut self) {
        let (entry, exit) = (self.program.procs[self.proc].entry, self.program.procs[self.proc].exit);
        let fall_off = self.new_loc();
        let body = if self.procedure.body.is_empty() { fall_off } else { self.locs[0] };
        let initialised = self.procedure.locals.iter().filter_map(|decl| Some((decl, decl.init.as_ref()?)));
        let active = in_parallel(initialised, &self.vars);
        let initialised = if self.procedure.enforce.is_some() { self.new_loc() } else { body };
        self.edge(entry, initialised, ir::Op::Assign(ir::Assign { active, ..ir::Assign::skip() }));
        if let Some(condition) = &self.procedure.enforce {
            let condition = self.numbers().expr(condition);
            self.edge(initialised, body, ir::Op::assume(condition));
        }
        self.block(&self.procedure.body, fall_off);
        let arbitrary = (0..self.procedure.results as u32).map(ir::Expr::choice).collect();
        self.edge(fall_off, exit, ir::Op::Return(arbitrary));
    }

    fn numbers(&self) -> Numbering<'_> {
        Numbering { n_choices: 0, vars: &self.vars }
    }

    /// Returns the variables that a relational update gives new values; the prelude has no per-thread ones.
    fn in_scope(&self) -> Vec<VarId> {
        let in_prelude = self.procedure.name == "init";
        let is_ours = |var: &VarId| !in_prelude || self.program.vars[*var].scope != Scope::Thread;
        self.vars.values().copied().filter(is_ours).collect()
    }

    fn new_loc(&mut self) -> LocId {
        self.program.locs.push(ir::Loc { proc: self.proc })
    }

    fn edge(&mut self, from: LocId, to: LocId, op: ir::Op) {
        self.program.edges.push(ir::Edge::new(from, to, op));
    }

    /// Adds an edge that leads only to states in which the `enforce` clause can hold.
    fn step(&mut self, from: LocId, to: LocId, op: ir::Op) {
        let Some(enforce) = &self.procedure.enforce else { return self.edge(from, to, op) };
        let mut numbers = self.numbers();
        let clause = numbers.expr(enforce);
        let ensures = for_some_choices(&clause, numbers.n_choices);
        let edge = match op {
            ir::Op::Assign(assign) if assign.constrain.is_passive() => {
                let ensures = ensures.map_leaves(&mut |leaf| {
                    let written = assign.active.iter().find(|(var, _)| *leaf == ir::Expr::Var(*var));
                    written.map_or(leaf, |(_, rhs)| rhs).clone()
                });
                ir::Edge { from, to, op: ir::Op::Assign(assign), ensures }
            }
            ir::Op::Assign(mut assign) => {
                assign.constrain = ir::Expr::and(assign.constrain, ensures.after_step());
                ir::Edge::new(from, to, ir::Op::Assign(assign))
            }
            op => ir::Edge { from, to, op, ensures },
        };
        self.program.edges.push(edge);
    }

    /// Returns the location before the statements that are lowered next, if there are any.
    fn start(&self, block: &[Stmt], otherwise: LocId) -> LocId {
        if block.is_empty() { otherwise } else { self.locs[self.number] }
    }

    fn block(&mut self, block: &'m [Stmt], end: LocId) {
        for (idx, stmt) in block.iter().enumerate() {
            let from = self.locs[self.number];
            let after = self.number + crate::walk::count_stmts(&block[idx..=idx]);
            let to = if idx + 1 < block.len() { self.locs[after] } else { end };
            self.number += 1;
            self.stmt(stmt, from, to);
        }
    }

    fn stmt(&mut self, stmt: &'m Stmt, from: LocId, to: LocId) {
        let mut numbers = self.numbers();
        let exit = self.program.procs[self.proc].exit;
        match &stmt.kind {
            Kind::Skip | Kind::Print(_) => self.step(from, to, ir::Op::skip()),
            Kind::Assign(assign) => {
                let assign = self.assign(assign);
                self.step(from, to, ir::Op::Assign(assign));
            }
            Kind::Assert(condition) => self.step(from, to, ir::Op::Assert(numbers.expr(condition))),
            Kind::Constrain(e) if has_new_values(e) => {
                let constrain = numbers.expr(e);
                let in_scope: Vec<VarId> = self.in_scope();
                let active = in_scope.into_iter().map(|var| (var, numbers.choice())).collect();
                self.step(from, to, ir::Op::guarded(active, constrain));
            }
            Kind::Assume(e) | Kind::Constrain(e) => self.step(from, to, ir::Op::assume(numbers.expr(e))),
            Kind::AbortIf(e) => self.step(from, to, ir::Op::assume(ir::Expr::negate(numbers.expr(e)))),
            Kind::Goto(labels) => {
                for label in labels {
                    self.step(from, self.labels[label.as_str()], ir::Op::skip());
                }
            }
            Kind::If(arms, otherwise) => self.branches(arms, otherwise.as_deref(), from, to),
            Kind::While(condition, body) => {
                self.condition(condition, from, self.start(body, from), to);
                self.block(body, from);
            }
            Kind::Call(results, call) => {
                let results = results.iter().map(|place| place.as_ref().map(|name| self.vars[name.as_str()])).collect();
                let (callee, args) = self.invocation(call);
                self.step(from, to, ir::Op::Call(ir::Call { results, callee, args }));
            }
            Kind::Return(values) => {
                let mut values: Vec<ir::Expr> = values.iter().map(|value| numbers.expr(value)).collect();
                let missing = (values.len()..self.procedure.results).map(|_| numbers.expr(&Expr::Choice));
                values.extend(missing.collect::<Vec<_>>());
                self.edge(from, exit, ir::Op::Return(values));
            }
            Kind::Dead(names) => {
                let active = names.iter().map(|name| (self.vars[name.as_str()], numbers.expr(&Expr::Choice))).collect();
                self.step(from, to, ir::Op::Assign(ir::Assign { active, ..ir::Assign::skip() }));
            }
            Kind::StartGoto(label) | Kind::StartLabel(label) => {
                self.step(from, to, ir::Op::Fork(self.labels[label.as_str()]));
            }
            Kind::StartCall(call) | Kind::Async(call) => {
                let (callee, args) = self.invocation(call);
                self.step(from, to, ir::Op::Spawn(ir::Spawn { callee, args }));
            }
            Kind::EndThread => self.edge(from, exit, ir::Op::End),
            Kind::AtomicBegin => self.step(from, to, ir::Op::AtomicBegin),
            Kind::AtomicEnd => self.step(from, to, ir::Op::AtomicEnd),
        }
    }

    fn invocation(&self, call: &Invocation) -> (ProcId, Vec<ir::Expr>) {
        let mut numbers = self.numbers();
        (self.procs[call.callee.as_str()], call.args.iter().map(|arg| numbers.expr(arg)).collect())
    }

    fn assign(&self, assign: &Assign) -> ir::Assign {
        let mut numbers = self.numbers();
        let mut lowered = ir::Assign::skip();
        for (place, value) in assign.places.iter().zip(&assign.values) {
            let value = numbers.expr(value);
            match place {
                Place::Var(name) => lowered.active.push((self.vars[name.as_str()], value)),
                Place::Passive(name) => lowered.passive.push((self.vars[name.as_str()], value)),
                Place::Discard => {}
            }
        }
        lowered.constrain = assign.constrain.as_ref().map_or(ir::Expr::TRUE, |condition| numbers.expr(condition));
        lowered
    }

    /// Adds both branches of a condition, each with its own choices.
    fn condition(&mut self, condition: &Expr, from: LocId, holds: LocId, fails: LocId) {
        let lowered = self.numbers().expr(condition);
        self.step(from, holds, ir::Op::assume(lowered.clone()));
        self.step(from, fails, ir::Op::assume(ir::Expr::negate(lowered)));
    }

    fn branches(&mut self, arms: &'m [(Expr, Vec<Stmt>)], otherwise: Option<&'m [Stmt]>, from: LocId, to: LocId) {
        let mut from = from;
        for (idx, (condition, body)) in arms.iter().enumerate() {
            let holds = self.start(body, to);
            let is_last = idx + 1 == arms.len();
            let fails = match otherwise {
                _ if !is_last => self.new_loc(),
                Some(block) if !block.is_empty() => self.locs[self.number + crate::walk::count_stmts(body)],
                _ => to,
            };
            self.condition(condition, from, holds, fails);
            self.block(body, to);
            from = fails;
        }
        if let Some(block) = otherwise {
            self.block(block, to);
        }
    }
}

/// Lowers the expressions of one step, numbering their choices.
struct Numbering<'a> {
    n_choices: u32,
    vars: &'a BTreeMap<&'a str, VarId>,
}

impl Numbering<'_> {
    fn expr(&mut self, expr: &Expr) -> ir::Expr {
        match expr {
            Expr::Const(value) => ir::Expr::Bool(*value),
            Expr::Var(name) => ir::Expr::Var(self.vars[name.as_str()]),
            Expr::Next(name) => ir::Expr::Next(self.vars[name.as_str()]),
            Expr::Passive(name) => ir::Expr::Passive(self.vars[name.as_str()]),
            Expr::PassiveNext(name) => ir::Expr::PassiveNext(self.vars[name.as_str()]),
            Expr::Choice => self.choice(),
            Expr::Choose(pair) => {
                let (holds, fails) = (self.expr(&pair.0), self.expr(&pair.1));
                let open = ir::Expr::binary(ir::BinaryOp::And, ir::Expr::negate(fails), self.choice());
                ir::Expr::binary(ir::BinaryOp::Or, holds, open)
            }
            Expr::Not(operand) => ir::Expr::negate(self.expr(operand)),
            Expr::Binary(op, pair) => {
                let left = self.expr(&pair.0);
                ir::Expr::binary(operator(*op), left, self.expr(&pair.1))
            }
            Expr::Ite(triple) => {
                let condition = self.expr(&triple.0);
                let then = self.expr(&triple.1);
                ir::Expr::Ite(Box::new((condition, then, self.expr(&triple.2))))
            }
        }
    }

    fn choice(&mut self) -> ir::Expr {
        self.n_choices += 1;
        ir::Expr::choice(self.n_choices - 1)
    }
}

fn operator(op: BinOp) -> ir::BinaryOp {
    match op {
        BinOp::And => ir::BinaryOp::And,
        BinOp::Or => ir::BinaryOp::Or,
        BinOp::Xor => ir::BinaryOp::Xor,
        BinOp::Eq => ir::BinaryOp::Eq,
        BinOp::Ne => ir::BinaryOp::Ne,
        BinOp::Implies => ir::BinaryOp::Implies,
    }
}

/// Returns whether a condition mentions new values.
fn has_new_values(expr: &Expr) -> bool {
    match expr {
        Expr::Next(_) => true,
        Expr::Not(operand) => has_new_values(operand),
        Expr::Choose(pair) | Expr::Binary(_, pair) => has_new_values(&pair.0) || has_new_values(&pair.1),
        Expr::Ite(triple) => [&triple.0, &triple.1, &triple.2].into_iter().any(has_new_values),
        Expr::Const(_) | Expr::Var(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice => false,
    }
}

/// Returns the disjunction of an expression over all ways to make its choices.
fn for_some_choices(expr: &ir::Expr, n_choices: u32) -> ir::Expr {
    let made = |row: u32| {
        expr.map_leaves(&mut |leaf| match leaf {
            ir::Expr::Choice(number, _) => ir::Expr::Bool(row >> number & 1 == 1),
            leaf => leaf.clone(),
        })
    };
    (1..1 << n_choices).fold(made(0), |some, row| ir::Expr::or(some, made(row)))
}
