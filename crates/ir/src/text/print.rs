//! Printing: programs in the form that [`fn@super::parse`] reads, and single expressions and operations for reports.

use std::fmt::Write;

use super::OPERATORS;
use super::names::{Names, quote};
use crate::syntax::{
    Assign, BinaryOp, Call, Count, EdgeId, Entry, Expr, LocId, MachineOp, Op, ProcId, Program, Scope, Ty, UnaryOp,
    VarId,
};
use crate::target::Target;

/// Returns the textual form of a program.
pub fn print(program: &Program) -> String {
    let printer = Printer { program, names: Names::unique(program) };
    printer.program()
}

/// Returns the textual form of a target: a line, or nothing if the target is empty.
pub fn print_target(target: &Target) -> String {
    let asserts = target.asserts.iter().map(|edge| format!("e{}", edge.index()));
    let meeting = |locs: &Vec<LocId>| locs.iter().map(|loc| location(*loc)).collect::<Vec<_>>().join(" + ");
    let locs = target.locs.iter().map(|loc| location(*loc)).chain(target.together.iter().map(meeting));
    let deadlock = target.deadlock.then(|| "deadlock".to_string());
    let parts: Vec<String> = asserts.chain(locs).chain(deadlock).collect();
    if parts.is_empty() { String::new() } else { format!("target {}\n", parts.join(", ")) }
}

/// Returns the textual form of a program and a target, for [`super::parse_with_target`].
pub fn print_with_target(program: &Program, target: &Target) -> String {
    print(program) + &print_target(target)
}

/// Returns an expression with the names of the source, which may repeat.
pub fn expr(program: &Program, expr: &Expr) -> String {
    written(|out| write_expr(out, expr, &|var| source_var(program, var)))
}

/// Returns an operation with the names of the source, which may repeat.
pub fn op(program: &Program, op: &Op) -> String {
    written(|out| write_op(out, op, &|var| source_var(program, var), &|proc| source_proc(program, proc)))
}

/// Returns an expression with these names.
pub fn expr_with(names: &Names, expr: &Expr) -> String {
    written(|out| write_expr(out, expr, &|var| names.var(var)))
}

/// Returns an operation with these names.
pub fn op_with(names: &Names, op: &Op) -> String {
    written(|out| write_op(out, op, &|var| names.var(var), &|proc| names.proc(proc)))
}

fn source_var(program: &Program, var: VarId) -> &str {
    program.vars.get(var).map_or("?", |var| &var.name)
}

fn source_proc(program: &Program, proc: ProcId) -> &str {
    program.procs.get(proc).map_or("?", |proc| &proc.name)
}

fn written(write: impl FnOnce(&mut String)) -> String {
    let mut out = String::new();
    write(&mut out);
    out
}

/// Appends a line. Writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($arg:tt)*) => { writeln!($out, $($arg)*).expect("a string takes everything") };
}

struct Printer<'p> {
    program: &'p Program,
    names: Names,
}

/// The lines below the head of one procedure.
#[derive(Clone, Default)]
struct Body {
    labels: Vec<usize>,
    locs: Vec<LocId>,
    edges: Vec<EdgeId>,
}

impl Printer<'_> {
    fn program(&self) -> String {
        let mut out = String::new();
        self.globals(&mut out);
        if !self.program.init.is_empty() {
            line!(out, "init {}", self.assignments(&self.program.init));
        }
        // Labels are printed with their procedures if that keeps their order.
        let is_sorted = self.program.labels.is_sorted_by_key(|label| self.body_of(label.loc));
        for (id, body) in self.bodies(is_sorted).iter().enumerate() {
            self.proc(&mut out, ProcId::new(id), body);
        }
        if !is_sorted {
            (0..self.program.labels.len()).for_each(|label| self.label(&mut out, label));
        }
        self.starts(&mut out);
        out
    }

    fn globals(&self, out: &mut String) {
        for (id, var) in self.program.vars.iter_enumerated() {
            let keyword = match var.scope {
                Scope::Shared => "shared",
                Scope::Thread => "thread",
                Scope::Local(_) => continue,
            };
            line!(out, "{keyword} {}: {}", self.names.var(id), var.ty);
        }
    }

    fn body_of(&self, loc: LocId) -> usize {
        self.program.locs.get(loc).map_or(0, |loc| loc.proc.index())
    }

    /// Sorts edges, the locations that nothing else mentions, and perhaps labels by procedure.
    fn bodies(&self, with_labels: bool) -> Vec<Body> {
        let program = self.program;
        let mut bodies = vec![Body::default(); program.procs.len()];
        let mut mentioned = vec![false; program.locs.len()];
        let ends = program.procs.iter().flat_map(|proc| [proc.entry, proc.exit]);
        for loc in ends.chain(program.edges.iter().flat_map(|edge| [edge.from, edge.to])) {
            if let Some(mentioned) = mentioned.get_mut(loc.index()) {
                *mentioned = true;
            }
        }
        for loc in program.locs.indices().filter(|loc| !mentioned[loc.index()]) {
            place(&mut bodies, self.body_of(loc), |body| body.locs.push(loc));
        }
        for (id, edge) in program.edges.iter_enumerated() {
            place(&mut bodies, self.body_of(edge.from), |body| body.edges.push(id));
        }
        if with_labels {
            for (idx, label) in program.labels.iter().enumerate() {
                place(&mut bodies, self.body_of(label.loc), |body| body.labels.push(idx));
            }
        }
        bodies
    }

    fn proc(&self, out: &mut String, id: ProcId, body: &Body) {
        let proc = &self.program.procs[id];
        let params_lead = proc.locals.starts_with(&proc.params);
        let param = |var: &VarId| if params_lead { self.declared(*var) } else { self.names.var(*var).to_owned() };
        let params = join(&proc.params, param);
        let results = join(&proc.results, |result| result.to_string());
        let returns = if results.is_empty() { String::new() } else { format!(" returns {results}") };
        let (entry, exit) = (location(proc.entry), location(proc.exit));
        line!(out, "\nproc {}({params}){returns} from {entry} to {exit}", self.names.proc(id));
        for local in proc.locals.iter().skip(if params_lead { proc.params.len() } else { 0 }) {
            line!(out, "  local {}", self.declared(*local));
        }
        body.labels.iter().for_each(|label| self.label(out, *label));
        body.locs.iter().for_each(|loc| line!(out, "  loc {}", location(*loc)));
        body.edges.iter().for_each(|edge| self.edge(out, *edge));
    }

    fn declared(&self, var: VarId) -> String {
        let declared = self.program.vars.get(var).map_or("?".to_owned(), |var| var.ty.to_string());
        format!("{}: {declared}", self.names.var(var))
    }

    fn label(&self, out: &mut String, label: usize) {
        let label = &self.program.labels[label];
        line!(out, "  label {}: {}", quote(&label.name), location(label.loc));
    }

    fn edge(&self, out: &mut String, id: EdgeId) {
        let edge = &self.program.edges[id];
        let (from, to) = (location(edge.from), location(edge.to));
        let ensures = match &edge.ensures {
            Expr::Bool(true) => String::new(),
            ensures => format!(" ensures {}", expr_with(&self.names, ensures)),
        };
        line!(out, "  e{} {from} -> {to}: {}{ensures}", id.index(), op_with(&self.names, &edge.op));
    }

    fn starts(&self, out: &mut String) {
        if self.program.prelude.is_some() || !self.program.entries.is_empty() {
            out.push('\n');
        }
        if let Some(prelude) = self.program.prelude {
            line!(out, "prelude {}", self.names.proc(prelude));
        }
        for entry in &self.program.entries {
            self.start(out, entry);
        }
    }

    fn start(&self, out: &mut String, entry: &Entry) {
        let count = match entry.count {
            Count::Exactly(count) => format!("exactly {count}"),
            Count::AtMost(count) => format!("at most {count}"),
            Count::Any => "any".to_owned(),
        };
        let vars = join(&entry.thread_vars, |var| self.names.var(*var).to_owned());
        let with = if vars.is_empty() { vars } else { format!(" with {vars}") };
        let init = self.assignments(&entry.init);
        let init = if init.is_empty() { init } else { format!(" init {init}") };
        line!(out, "start {}: {} {count}{with}{init}", quote(&entry.name), self.names.proc(entry.proc));
    }

    fn assignments(&self, assignments: &[(VarId, Expr)]) -> String {
        join(assignments, |(var, rhs)| format!("{} := {}", self.names.var(*var), expr_with(&self.names, rhs)))
    }
}

fn place(bodies: &mut [Body], idx: usize, put: impl FnOnce(&mut Body)) {
    if let Some(body) = bodies.get_mut(idx) {
        put(body);
    }
}

fn join<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn location(loc: LocId) -> String {
    format!("L{}", loc.index())
}

type NameOf<'n, Id> = &'n dyn Fn(Id) -> &'n str;

fn write_op<'n>(out: &mut String, op: &Op, var: NameOf<'n, VarId>, proc: NameOf<'n, ProcId>) {
    match op {
        Op::Assign(assign) => write_assign(out, assign, var),
        Op::Assert(condition) => {
            out.push_str("assert ");
            write_expr(out, condition, var);
        }
        Op::Call(call) => write_call(out, call, var, proc),
        Op::Return(values) => {
            out.push_str(if values.is_empty() { "return" } else { "return " });
            write_list(out, values, var);
        }
        Op::Spawn(spawn) => {
            out.extend(["spawn ", proc(spawn.callee), "("]);
            write_list(out, &spawn.args, var);
            out.push(')');
        }
        Op::Fork(loc) => out.extend(["fork ", &location(*loc)]),
        Op::End => out.push_str("end"),
        Op::AtomicBegin => out.push_str("atomic_begin"),
        Op::AtomicEnd => out.push_str("atomic_end"),
    }
}

fn write_assign<'n>(out: &mut String, assign: &Assign, var: NameOf<'n, VarId>) {
    let is_empty = assign.active.is_empty() && assign.passive.is_empty();
    let active = assign.active.iter().map(|(target, rhs)| (*target, " := ", rhs));
    let passive = assign.passive.iter().map(|(target, rhs)| (*target, "$ := ", rhs));
    for (idx, (target, sign, rhs)) in active.chain(passive).enumerate() {
        out.extend([if idx == 0 { "" } else { ", " }, var(target), sign]);
        write_expr(out, rhs, var);
    }
    match (is_empty, &assign.constrain) {
        (true, &Expr::TRUE) => out.push_str("skip"),
        (false, &Expr::TRUE) => {}
        (true, constrain) => {
            out.push_str("assume ");
            write_expr(out, constrain, var);
        }
        (false, constrain) => {
            out.push_str(" constrain ");
            write_expr(out, constrain, var);
        }
    }
}

fn write_call<'n>(out: &mut String, call: &Call, var: NameOf<'n, VarId>, proc: NameOf<'n, ProcId>) {
    for (idx, result) in call.results.iter().enumerate() {
        out.extend([if idx == 0 { "" } else { ", " }, result.map_or("_", var)]);
    }
    out.extend([if call.results.is_empty() { "call " } else { " := call " }, proc(call.callee), "("]);
    write_list(out, &call.args, var);
    out.push(')');
}

fn write_list<'n>(out: &mut String, exprs: &[Expr], var: NameOf<'n, VarId>) {
    for (idx, expr) in exprs.iter().enumerate() {
        out.push_str(if idx == 0 { "" } else { ", " });
        write_expr(out, expr, var);
    }
}

/// A part of an expression that is still to be written.
enum Rest<'e> {
    Expr(&'e Expr),
    Operand(&'e Expr),
    Text(&'static str),
    Part(u32),
}

/// Writes an expression. The rest is kept on an explicit stack, so that deep expressions cannot overflow the call
/// stack.
fn write_expr<'n>(out: &mut String, expr: &Expr, var: NameOf<'n, VarId>) {
    let mut stack = vec![Rest::Expr(expr)];
    while let Some(rest) = stack.pop() {
        match rest {
            Rest::Text(text) => out.push_str(text),
            Rest::Part(number) => out.push_str(&format!("#{number}")),
            Rest::Operand(expr) if is_atom(expr) => stack.push(Rest::Expr(expr)),
            Rest::Operand(expr) => stack.extend([Rest::Text(")"), Rest::Expr(expr), Rest::Text("(")]),
            Rest::Expr(expr) => write_head(out, expr, &mut stack, var),
        }
    }
}

/// Writes a leaf, or the beginning of an expression, and leaves the remaining parts on the stack.
fn write_head<'n, 'e>(out: &mut String, expr: &'e Expr, stack: &mut Vec<Rest<'e>>, var: NameOf<'n, VarId>) {
    match expr {
        Expr::Bool(value) => out.push(if *value { 'T' } else { 'F' }),
        Expr::Int(value) => out.push_str(&value.to_string()),
        Expr::Var(id) => out.push_str(var(*id)),
        Expr::Next(id) => out.extend([var(*id), "'"]),
        Expr::Passive(id) => out.extend([var(*id), "$"]),
        Expr::PassiveNext(id) => out.extend([var(*id), "$'"]),
        Expr::Choice(number, Ty::Bool) => out.push_str(&format!("?{number}")),
        Expr::Choice(number, ty) => out.push_str(&format!("?{number}:{ty}")),
        Expr::Machine(ty, bits) => out.push_str(&format!("{}:{ty}", ty.read(*bits))),
        Expr::Unary(UnaryOp::Not, operand) => stack.extend([Rest::Operand(operand), Rest::Text("!")]),
        Expr::Unary(UnaryOp::Neg, operand) => match **operand {
            Expr::Int(_) => stack.extend([Rest::Text(")"), Rest::Expr(operand), Rest::Text("-(")]),
            _ => stack.extend([Rest::Operand(operand), Rest::Text("-")]),
        },
        Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => {
            out.push_str(&format!("divisible({divisor}, "));
            stack.extend([Rest::Text(")"), Rest::Expr(operand)]);
        }
        Expr::Unary(UnaryOp::Cast(from, to), operand) => {
            out.push_str(&format!("{from}.{to}("));
            stack.extend([Rest::Text(")"), Rest::Expr(operand)]);
        }
        Expr::Binary(BinaryOp::Machine(op, ty), pair) => {
            out.push_str(&format!("{ty}.{}(", machine_name(*op)));
            stack.extend([Rest::Text(")"), Rest::Expr(&pair.1), Rest::Text(", "), Rest::Expr(&pair.0)]);
        }
        Expr::Binary(op, pair) => {
            let right = if binds_tighter(&pair.1, *op) { Rest::Expr(&pair.1) } else { Rest::Operand(&pair.1) };
            let chains = matches!(&pair.0, Expr::Binary(left, _) if left == op) && associates(*op);
            let left = if chains || binds_tighter(&pair.0, *op) { Rest::Expr(&pair.0) } else { Rest::Operand(&pair.0) };
            stack.extend([right, Rest::Text(" "), Rest::Text(sign(*op)), Rest::Text(" "), left]);
        }
        Expr::Ite(triple) => {
            let parts = [Rest::Expr(&triple.2), Rest::Text(" else "), Rest::Expr(&triple.1), Rest::Text(" then ")];
            stack.extend(parts);
            stack.extend([Rest::Expr(&triple.0), Rest::Text("if ")]);
        }
        Expr::Let(shared) => {
            stack.extend([Rest::Expr(&shared.body), Rest::Text(" in ")]);
            for (idx, (number, part)) in shared.parts.iter().enumerate().rev() {
                let before = Rest::Text(if idx == 0 { "let " } else { "; " });
                stack.extend([Rest::Expr(part), Rest::Text(" = "), Rest::Part(*number), before]);
            }
        }
        Expr::Part(number) => out.push_str(&format!("#{number}")),
    }
}

/// Returns whether an operand needs no parentheses.
fn is_atom(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, _) => matches!(op, BinaryOp::Machine(..)),
        expr => !matches!(expr, Expr::Ite(_) | Expr::Let(_)),
    }
}

/// Returns whether an operand may be written without parentheses below an operator, for readability as well as for the
/// parser: terms below comparisons, and products below sums.
fn binds_tighter(operand: &Expr, above: BinaryOp) -> bool {
    let Expr::Binary(op, _) = operand else { return is_atom(operand) };
    if matches!(op, BinaryOp::Machine(..)) {
        return true;
    }
    match above {
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le => is_arithmetic(*op),
        BinaryOp::Add | BinaryOp::Sub => *op == BinaryOp::Mul,
        _ => false,
    }
}

fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
}

/// Returns whether a chain of the operator is written without parentheses.
fn associates(op: BinaryOp) -> bool {
    is_arithmetic(op) || matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor)
}

fn machine_name(op: MachineOp) -> &'static str {
    MachineOp::ALL.iter().find(|(known, _)| *known == op).expect("all operators are listed").1
}

fn sign(op: BinaryOp) -> &'static str {
    OPERATORS.iter().find(|(known, ..)| *known == op).expect("all operators are listed").1
}
