//! Lowering of systems to programs.
//!
//! The shared state is a number in binary, in shared variables `s0`, `s1`, .. with the lowest bit first; each local
//! state is a location with the label `l0`, `l1`, ..; one thread runs `main`, which begins at `l0`. A rule is one edge
//! with the shared state as condition and the changed bits as assignment; a rule that starts a thread is an atomic
//! section, since a step that starts one does nothing else.
//!
//! A target becomes the label `ERROR`, so that all engines and all questions support it: a thread in the target's local
//! state may go there while the shared state is the target's. For a target of several threads, these are collected one
//! at a time: each but the last steps aside, and the shared state becomes one that occurs in no rule and counts them.
//! Once the first has stepped aside, no other thread can move, so the others stay in their local states.
//!
//! For questions about deadlocks a thread must not be able to wait where the system has no state: targets are left out,
//! and a rule that starts a thread first changes the shared state to one that occurs in no rule, so that no other
//! thread moves until it is done.

use selvedge_ir::span::{Origin, Role, SourceMap, Span};
use selvedge_ir::tts::{LocalId, Rule, Tts};
use selvedge_ir::{
    Assign, BinaryOp, Edge, Expr, Label, Loc, LocId, Op, ProcId, Program, Scope, Ty, UnaryOp, Var, VarId,
};

use super::is_plain;
use crate::load::add_main;

/// The positions of the parts of a system.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The first line.
    pub head: Span,
    /// The positions of the rules.
    pub rules: Vec<RuleSpans>,
    /// The positions of the targets.
    pub targets: Vec<Span>,
}

/// The positions of the parts of a rule.
#[derive(Clone, Copy, Debug, Default)]
pub struct RuleSpans {
    /// The states before.
    pub before: Span,
    /// The arrow.
    pub arrow: Span,
    /// The local state of the thread that is started.
    pub started: Span,
    /// The whole rule.
    pub whole: Span,
}

/// Returns the program of a plain system.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn lower(tts: &Tts, spans: &Spans) -> (Program, SourceMap) {
    assert!(is_plain(tts), "other systems are made plain first");
    let mut lowering = Lowering::new(tts, spans, n_bits(tts));
    for (id, rule) in tts.rules.iter_enumerated() {
        lowering.rule(rule, spans.rules.get(id.index()).copied().unwrap_or_default());
    }
    lowering.targets(tts, spans);
    (lowering.program, lowering.map)
}

/// Returns the program of a plain system for questions about deadlocks, which has the deadlocks of the system.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn lower_for_deadlocks(tts: &Tts, spans: &Spans) -> (Program, SourceMap) {
    assert!(is_plain(tts), "other systems are made plain first");
    let n_bits = u32::BITS - tts.n_shared.leading_zeros();
    let mut lowering = Lowering { busy: Some(tts.n_shared), ..Lowering::new(tts, spans, n_bits) };
    for (id, rule) in tts.rules.iter_enumerated() {
        lowering.rule(rule, spans.rules.get(id.index()).copied().unwrap_or_default());
    }
    (lowering.program, lowering.map)
}

/// Returns the number of bits for the shared states, including those that count the threads of a target.
pub(super) fn n_bits(tts: &Tts) -> u32 {
    let n_gathering: usize = tts.targets.iter().map(|target| target.threads.len().saturating_sub(1)).sum();
    let n_shared = u64::from(tts.n_shared) + n_gathering as u64;
    u64::BITS - n_shared.saturating_sub(1).leading_zeros()
}

const MAIN: ProcId = ProcId::from_raw_unchecked(0);

struct Lowering {
    program: Program,
    map: SourceMap,
    n_bits: u32,
    /// The shared state while a thread is started, where that is no atomic section.
    busy: Option<u32>,
}

impl Lowering {
    /// Returns the program without edges. The location of a local state has its number; the exit follows.
    fn new(tts: &Tts, spans: &Spans, n_bits: u32) -> Lowering {
        let mut program = Program::default();
        let mut map = SourceMap::default();
        for bit in 0..n_bits {
            let var = program.vars.push(Var { name: format!("s{bit}"), scope: Scope::Shared, ty: Ty::Bool });
            program.init.push((var, Expr::Bool(false)));
            map.vars.push(spans.head);
        }
        for local in 0..tts.n_local {
            let loc = program.locs.push(Loc { proc: MAIN });
            program.labels.push(Label { name: format!("l{local}"), loc });
        }
        let exit = program.locs.push(Loc { proc: MAIN });
        add_main(&mut program, LocId::from(0usize), exit);
        map.procs.push(spans.head);
        Lowering { program, map, n_bits, busy: None }
    }

    fn edge(&mut self, from: LocId, to: LocId, op: Op, span: Span) {
        self.program.edges.push(Edge::new(from, to, op));
        self.map.edges.push(Origin { span, role: Role::Statement });
    }

    fn new_loc(&mut self) -> LocId {
        self.program.locs.push(Loc { proc: MAIN })
    }

    fn rule(&mut self, rule: &Rule, spans: RuleSpans) {
        let from = loc(rule.local);
        let moves = self.moves(rule.shared.raw(), rule.shared_after.raw());
        match rule.after.as_slice() {
            [to] => self.edge(from, loc(*to), moves, spans.whole),
            [_, started] if self.n_bits == 0 => self.edge(from, from, Op::Fork(loc(*started)), spans.whole),
            [_, started] if let Some(busy) = self.busy => {
                let [checked, done] = [(); 2].map(|()| self.new_loc());
                let [begins, ends] =
                    [(rule.shared.raw(), busy), (busy, rule.shared_after.raw())].map(|(from, to)| self.moves(from, to));
                self.edge(from, checked, begins, spans.whole);
                self.edge(checked, done, Op::Fork(loc(*started)), spans.started);
                self.edge(done, from, ends, spans.arrow);
            }
            [_, started] => {
                let [entered, checked, done] = [(); 3].map(|()| self.new_loc());
                self.edge(from, entered, Op::AtomicBegin, spans.before);
                self.edge(entered, checked, moves, spans.whole);
                self.edge(checked, done, Op::Fork(loc(*started)), spans.started);
                self.edge(done, from, Op::AtomicEnd, spans.arrow);
            }
            _ => unreachable!("the system is plain"),
        }
    }

    /// Returns a step from a shared state to another.
    fn moves(&self, from: u32, to: u32) -> Op {
        let bit = |number: u32, at: u32| number >> at & 1 == 1;
        let literal = |at: u32| {
            let var = Expr::Var(VarId::from_raw(at));
            if bit(from, at) { var } else { Expr::Unary(UnaryOp::Not, Box::new(var)) }
        };
        let and = |right: Expr, left: Expr| Expr::Binary(BinaryOp::And, Box::new((left, right)));
        let condition = (0..self.n_bits).rev().map(literal).reduce(and);
        let changed = (0..self.n_bits).filter(|at| bit(from, *at) != bit(to, *at));
        Op::Assign(Assign {
            active: changed.map(|at| (VarId::from_raw(at), Expr::Bool(bit(to, at)))).collect(),
            passive: Vec::new(),
            constrain: condition.unwrap_or(Expr::Bool(true)),
        })
    }

    fn targets(&mut self, tts: &Tts, spans: &Spans) {
        if tts.targets.is_empty() {
            return;
        }
        let (error, aside) = (self.new_loc(), self.new_loc());
        self.program.labels.push(Label { name: "ERROR".to_string(), loc: error });
        // A self-loop, so that messages have a position.
        self.edge(error, error, Op::skip(), spans.targets.first().copied().unwrap_or_default());
        let mut next = tts.n_shared;
        for (number, target) in tts.targets.iter().enumerate() {
            let span = spans.targets.get(number).copied().unwrap_or_default();
            let mut now = target.shared.raw();
            for (at, local) in target.threads.iter().enumerate() {
                if at + 1 == target.threads.len() {
                    let moves = self.moves(now, now);
                    self.edge(loc(*local), error, moves, span);
                } else {
                    let moves = self.moves(now, next);
                    self.edge(loc(*local), aside, moves, span);
                    (now, next) = (next, next + 1);
                }
            }
        }
    }
}

fn loc(local: LocalId) -> LocId {
    LocId::from_raw(local.raw())
}
