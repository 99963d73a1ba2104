//! Several pushdown systems with a shared state as a program: the symbolic encoding of Lal and Reps (2009), section 5.
//!
//! The shared state is a number in shared variables. A thread runs a procedure whose parameter is the symbol on top of
//! its stack: a rule that replaces the symbol is an assignment, one that pushes is a call with the new top, and one
//! that pops is a return. A thread with an empty stack is in its first procedure.
//!
//! A target with symbols for several threads describes their stacks at the same time. A thread whose topmost symbol is
//! in the target may come to *rest* when it has that symbol: it moves no more, as recorded in a shared variable. Any
//! thread may detect that the others rest and that the shared state is that of the target. So an error is reached
//! within some number of contexts if and only if the target is: the thread of the last step comes to rest, or detects
//! the target, in the same context, and the other threads rest in the context of their last step.

use std::collections::BTreeMap;

use super::{ThreadRule, Threads, View};
use crate::syntax::{
    Assign, Call, Count, Edge, EdgeId, Entry, Expr, Loc, LocId, Op, Proc, ProcId, Program, Scope, Ty, Var, VarId,
};
use crate::target::Target;

/// The question about some threads as one about a program.
#[derive(Clone, Debug)]
pub struct Question {
    /// The program. Its entries are the threads, in order.
    pub program: Program,
    /// The target; empty if the threads have none.
    pub target: Target,
    /// The edges that represent rules: the thread and the rule.
    pub rules: BTreeMap<EdgeId, (usize, usize)>,
}

/// Returns the question whether the target can be reached; `None` if the initial configuration is not known.
pub fn question(threads: &Threads) -> Option<Question> {
    let mut builder = built(threads, threads.target.as_ref())?;
    let target = Target::new(Vec::new(), std::mem::take(&mut builder.errors));
    Some(Question { program: builder.program, target, rules: builder.rules })
}

/// Returns the program of some threads; `None` if the initial configuration is not known.
pub fn program(threads: &Threads) -> Option<Program> {
    built(threads, None).map(|builder| builder.program)
}

fn built(threads: &Threads, target: Option<&View>) -> Option<Builder> {
    let initial = threads.initial.as_ref()?;
    let mut builder = Builder::default();
    let shared = builder.number("s", bits(threads.n_shared.saturating_sub(1)), Scope::Shared);
    builder.program.init = shared.iter().copied().zip(constants(initial.shared)).collect();
    builder.shared = shared;
    builder.ask(threads, target);
    for (number, thread) in threads.threads.iter().enumerate() {
        let tops = initial.tops.get(number).copied().flatten();
        let wanted = target.and_then(|target| target.tops.get(number).copied().flatten());
        let symbols = thread.rules.iter().flat_map(|rule| rule.push.iter().chain(&rule.top)).copied();
        let symbols = symbols.chain(tops).chain(wanted);
        let n_bits = bits(symbols.max().unwrap_or(0));
        builder.thread(number, &thread.rules, tops, n_bits);
    }
    Some(builder)
}

/// Returns the number of bits that a number needs.
fn bits(greatest: u32) -> usize {
    (u32::BITS - greatest.leading_zeros()) as usize
}

/// Returns the bits of a number, lowest first.
fn constants(number: u32) -> impl Iterator<Item = Expr> {
    (0..u32::BITS).map(move |bit| Expr::Bool(number >> bit & 1 == 1))
}

#[derive(Default)]
struct Builder {
    program: Program,
    /// The shared state.
    shared: Vec<VarId>,
    /// For each thread the symbol in the target, and the variable that records that it rests there.
    rests: Vec<Option<(u32, VarId)>>,
    /// The condition that the target is reached, if there is one.
    reached: Option<Expr>,
    rules: BTreeMap<EdgeId, (usize, usize)>,
    errors: Vec<LocId>,
}

impl Builder {
    fn number(&mut self, name: &str, n_bits: usize, scope: Scope) -> Vec<VarId> {
        let var = |bit: usize| self.program.vars.push(Var { name: format!("{name}{bit}"), scope, ty: Ty::Bool });
        (0..n_bits).map(var).collect()
    }

    /// Adds the variables for a target.
    fn ask(&mut self, threads: &Threads, target: Option<&View>) {
        self.rests = vec![None; threads.threads.len()];
        let Some(target) = target else { return };
        let mut reached = is_number(&self.shared, target.shared);
        for (number, top) in target.tops.iter().enumerate().take(threads.threads.len()) {
            let Some(top) = top else { continue };
            let var = Var { name: format!("rests{number}"), scope: Scope::Shared, ty: Ty::Bool };
            let rests = self.program.vars.push(var);
            self.program.init.push((rests, Expr::Bool(false)));
            self.rests[number] = Some((*top, rests));
            reached = Expr::and(reached, Expr::Var(rests));
        }
        self.reached = Some(reached);
    }

    /// Adds the step that detects the target: a thread may take it anywhere, or only if it has come to rest.
    fn look(&mut self, number: usize, proc: ProcId, at: LocId, top: Option<&[VarId]>) {
        let Some(reached) = self.reached.clone() else { return };
        let from = match (self.rests[number], top) {
            (None, _) => at,
            // The empty stack has no symbol on top.
            (Some(_), None) => return,
            (Some((symbol, rests)), Some(top)) => {
                let resting = self.loc(proc);
                let active = vec![(rests, Expr::Bool(true))];
                let constrain = is_number(top, symbol);
                self.edge(at, resting, Op::Assign(Assign { active, constrain, ..Assign::skip() }));
                resting
            }
        };
        let error = self.loc(proc);
        self.edge(from, error, Op::Assign(Assign { constrain: reached, ..Assign::skip() }));
        self.errors.push(error);
    }

    fn loc(&mut self, proc: ProcId) -> LocId {
        self.program.locs.push(Loc { proc })
    }

    /// Adds the edge of a rule.
    fn rule(&mut self, from: LocId, to: LocId, op: Op, rule: (usize, usize)) {
        self.rules.insert(self.program.edges.next_idx(), rule);
        self.edge(from, to, op);
    }

    fn edge(&mut self, from: LocId, to: LocId, op: Op) {
        self.program.edges.push(Edge::new(from, to, op));
    }

    fn thread(&mut self, number: usize, rules: &[ThreadRule], first: Option<u32>, n_bits: usize) {
        let stack = self.stack(number, rules, n_bits);
        let proc = self.program.procs.next_idx();
        let [entry, empty, exit] = [(); 3].map(|()| self.loc(proc));
        match first {
            Some(first) => self.call(entry, empty, stack, first, n_bits),
            None => self.edge(entry, empty, Op::skip()),
        }
        self.look(number, proc, empty, None);
        for (place, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.top.is_none()) {
            let mut at = self.loc(proc);
            let step = self.step(rule, Vec::new(), Expr::TRUE);
            self.rule(empty, at, step, (number, place));
            for (place, symbol) in rule.push.iter().enumerate() {
                let next = if place + 1 == rule.push.len() { empty } else { self.loc(proc) };
                self.call(at, next, stack, *symbol, n_bits);
                at = next;
            }
            if rule.push.is_empty() {
                self.edge(at, empty, Op::skip());
            }
        }
        let name = format!("thread{number}");
        let (params, locals, results) = (Vec::new(), Vec::new(), Vec::new());
        self.program.procs.push(Proc { name: name.clone(), params, locals, results, entry, exit });
        let (thread_vars, init) = (Vec::new(), Vec::new());
        self.program.entries.push(Entry { name, proc, count: Count::Exactly(1), thread_vars, init });
    }

    /// Builds the procedure that runs with a symbol on top, until it is popped.
    fn stack(&mut self, number: usize, rules: &[ThreadRule], n_bits: usize) -> ProcId {
        let proc = self.program.procs.next_idx();
        let [entry, popped, exit] = [(); 3].map(|()| self.loc(proc));
        let top = self.number("top", n_bits, Scope::Local(proc));
        let name = format!("stack{number}");
        self.program.procs.push(Proc {
            name,
            params: top.clone(),
            locals: top.clone(),
            results: Vec::new(),
            entry,
            exit,
        });
        self.look(number, proc, entry, Some(&top));
        for (place, rule) in rules.iter().enumerate() {
            let Some(symbol) = rule.top else { continue };
            let is_top = is_number(&top, symbol);
            let becomes = |symbol: u32| top.iter().copied().zip(constants(symbol)).collect();
            match rule.push.as_slice() {
                [] => {
                    let step = self.step(rule, Vec::new(), is_top);
                    self.rule(entry, popped, step, (number, place));
                }
                [symbol] => {
                    let step = self.step(rule, becomes(*symbol), is_top);
                    self.rule(entry, entry, step, (number, place));
                }
                [upper, lower, ..] => {
                    let calling = self.loc(proc);
                    let step = self.step(rule, becomes(*lower), is_top);
                    self.rule(entry, calling, step, (number, place));
                    self.call(calling, entry, proc, *upper, n_bits);
                }
            }
        }
        self.edge(popped, exit, Op::Return(Vec::new()));
        proc
    }

    /// Returns the step from one shared state to another.
    fn step(&self, rule: &ThreadRule, mut active: Vec<(VarId, Expr)>, condition: Expr) -> Op {
        active.extend(self.shared.iter().copied().zip(constants(rule.to)));
        let constrain = Expr::and(is_number(&self.shared, rule.from), condition);
        Op::Assign(Assign { active, constrain, ..Assign::skip() })
    }

    fn call(&mut self, from: LocId, to: LocId, callee: ProcId, symbol: u32, n_bits: usize) {
        let args = constants(symbol).take(n_bits).collect();
        self.edge(from, to, Op::Call(Call { results: Vec::new(), callee, args }));
    }
}

/// Returns the condition that variables hold a number.
fn is_number(vars: &[VarId], number: u32) -> Expr {
    vars.iter().zip(constants(number)).fold(Expr::TRUE, |all, (var, bit)| {
        let literal = if bit == Expr::TRUE { Expr::Var(*var) } else { Expr::negate(Expr::Var(*var)) };
        Expr::and(all, literal)
    })
}
