//! Lowering of systems to programs.
//!
//! The shared state is a number in binary, in shared variables `s0`, `s1`, .. with the lowest bit first; each local
//! state is a location with the label `l0`, `l1`, ..; one thread runs `main`, which begins at `l0`. A rule is one edge
//! with the shared state as condition and the changed bits as assignment; a rule that starts a thread is an atomic
//! section, since a step that starts one does nothing else.
//!
//! In a system with transfers, local states from or to which threads are transferred are not locations, since a step
//! cannot change the locations of other threads: a thread there is at one common location, and per-thread variables
//! `t0`, `t1`, .. say in which of the states it is, as a number from 1 on. They are 0 elsewhere. A transfer assigns
//! these variables of all other threads. Such a state has no label, unless the question names it: then a thread there
//! may step aside to a location with the label.
//!
//! A target becomes the label `ERROR`, so that all engines and all questions support it: a thread in the target's local
//! state may go there while the shared state is the target's. For a target of several threads, these are collected one
//! at a time: each but the last steps aside, and the shared state becomes one that occurs in no rule and counts them.
//! Once the first has stepped aside, no other thread can move, so the others stay in their local states.
//!
//! For questions about deadlocks a thread must not be able to wait where the system has no state: targets are left out,
//! and a rule that starts a thread first changes the shared state to one that occurs in no rule, so that no other
//! thread moves until it is done.

use selvedge_ir::span::{Origin, Role, SourceMap, Span, SystemMap, View};
use selvedge_ir::tts::{LocalId, Rule, Tts};
use selvedge_ir::{
    Assign, BinaryOp, Edge, EntryId, Expr, Label, Loc, LocId, Op, ProcId, Program, Scope, Ty, UnaryOp, Var, VarId,
};

use super::is_plain;
use crate::load::add_main;

/// The positions of the parts of a system.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    /// The first line.
    pub head: Span,
    /// The positions of the rules.
    pub rules: Vec<Span>,
    /// The positions of the targets.
    pub targets: Vec<Span>,
}

/// Returns the program of a plain system. `labels` are those that the question refers to.
///
/// # Panics
///
/// If the system is not plain ([`is_plain`]).
pub fn lower(tts: &Tts, spans: &Spans, labels: &[String]) -> (Program, SourceMap) {
    assert!(is_plain(tts), "other systems are made plain first");
    let mut lowering = Lowering::new(tts, spans, n_bits(tts));
    lowering.labels(labels, spans);
    for (id, rule) in tts.rules.iter_enumerated() {
        lowering.rule(rule, spans.rules.get(id.index()).copied().unwrap_or_default());
    }
    lowering.targets(tts, spans);
    lowering.finish()
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
    lowering.finish()
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
    /// What the map says about the system.
    system: SystemMap,
    n_bits: u32,
    /// The states from or to which threads are transferred, in ascending order.
    moved: Vec<LocalId>,
    /// The number of per-thread variables, and their common location.
    n_own: u32,
    common: LocId,
    /// The shared state while a thread is started, where that is no atomic section.
    busy: Option<u32>,
}

/// A shared state, and the number that the per-thread variables of the thread have.
type Numbers = (u32, u32);

impl Lowering {
    /// Returns the program without edges. The location of a local state has its number; the exit follows.
    fn new(tts: &Tts, spans: &Spans, n_bits: u32) -> Lowering {
        let mut program = Program::default();
        let mut map = SourceMap::default();
        let mut system = SystemMap { n_shared: tts.n_shared, ..SystemMap::default() };
        for bit in 0..n_bits {
            let var = program.vars.push(Var { name: format!("s{bit}"), scope: Scope::Shared, ty: Ty::Bool });
            program.init.push((var, Expr::Bool(false)));
            map.vars.push(spans.head);
            map.views.insert(var, View::Hidden);
            system.shared.push(var);
        }
        let moved = moved(tts);
        for local in (0..tts.n_local).map(LocalId::from_raw) {
            let loc = program.locs.push(Loc { proc: MAIN });
            if moved.binary_search(&local).is_err() {
                system.locals.insert(loc, local.raw());
                program.labels.push(Label { name: label(local), loc });
            }
        }
        let exit = program.locs.push(Loc { proc: MAIN });
        add_main(&mut program, LocId::from(0usize), exit);
        map.procs.push(spans.head);
        let n_own = usize::BITS - moved.len().leading_zeros();
        let mut lowering = Lowering { program, map, system, n_bits, moved, n_own, common: exit, busy: None };
        if n_own > 0 {
            lowering.add_own(spans);
        }
        lowering
    }

    /// Adds the per-thread variables and their location.
    fn add_own(&mut self, spans: &Spans) {
        self.common = self.new_loc();
        let first = LocalId::from_raw(0);
        let number = self.number(first);
        let entry_loc = self.loc(first);
        let main = &mut self.program.entries[EntryId::from(0usize)];
        self.program.procs[MAIN].entry = entry_loc;
        for bit in 0..self.n_own {
            let var = self.program.vars.push(Var { name: format!("t{bit}"), scope: Scope::Thread, ty: Ty::Bool });
            main.thread_vars.push(var);
            main.init.push((var, Expr::Bool(is_set(number, bit))));
            self.map.vars.push(spans.head);
            self.map.views.insert(var, View::Hidden);
            self.system.own.0.push(var);
        }
        self.system.own.1 = self.moved.iter().map(|local| local.raw()).collect();
    }

    /// Returns the program with its map.
    fn finish(mut self) -> (Program, SourceMap) {
        self.map.system = Some(self.system);
        (self.program, self.map)
    }

    /// Returns the location of a thread in a local state.
    fn loc(&self, local: LocalId) -> LocId {
        if self.moved.binary_search(&local).is_ok() { self.common } else { LocId::from_raw(local.raw()) }
    }

    /// Returns the number that the per-thread variables have in a local state.
    fn number(&self, local: LocalId) -> u32 {
        self.moved.binary_search(&local).map_or(0, |place| place as u32 + 1)
    }

    /// Adds labels that the question refers to, where local states have none.
    fn labels(&mut self, labels: &[String], spans: &Spans) {
        for local in self.moved.clone() {
            if labels.contains(&label(local)) {
                let loc = LocId::from_raw(local.raw());
                self.program.labels.push(Label { name: label(local), loc });
                let number = self.number(local);
                let constrain = self.is_number(number).unwrap_or(Expr::TRUE);
                let own = (0..self.n_own).map(|bit| (self.own(bit), Expr::Bool(false))).collect();
                let aside = Op::Assign(Assign { active: own, passive: Vec::new(), constrain });
                self.aside(self.common, loc, aside, spans.head);
                self.edge(loc, loc, Op::skip(), spans.head);
            }
        }
    }

    /// Returns a per-thread variable.
    fn own(&self, bit: u32) -> VarId {
        VarId::from_raw(self.n_bits + bit)
    }

    /// Returns the condition that the per-thread variables have a number, if there are any.
    fn is_number(&self, number: u32) -> Option<Expr> {
        let literals = (0..self.n_own).map(|bit| literal(Expr::Var(self.own(bit)), is_set(number, bit)));
        literals.rev().reduce(|right, left| and(left, right))
    }

    fn edge(&mut self, from: LocId, to: LocId, op: Op, span: Span) {
        self.program.edges.push(Edge::new(from, to, op));
        self.map.edges.push(Origin { span, role: Role::Statement });
    }

    /// Adds a step by which a thread steps aside.
    fn aside(&mut self, from: LocId, to: LocId, op: Op, span: Span) {
        self.system.aside.insert(self.program.edges.next_idx());
        self.edge(from, to, op, span);
    }

    fn new_loc(&mut self) -> LocId {
        self.program.locs.push(Loc { proc: MAIN })
    }

    /// Returns a new location inside of a rule for threads in a local state. Where that is one of the states that are
    /// no locations, the variables of the thread say it.
    fn within(&mut self, local: LocalId) -> LocId {
        let loc = self.new_loc();
        self.system.within.insert(loc);
        if self.number(local) == 0 {
            self.system.locals.insert(loc, local.raw());
        }
        loc
    }

    fn rule(&mut self, rule: &Rule, span: Span) {
        let from = self.loc(rule.local);
        let before = (rule.shared.raw(), self.number(rule.local));
        match rule.after.as_slice() {
            [to] => {
                let moves = self.moves(before, (rule.shared_after.raw(), self.number(*to)), &rule.transfers);
                self.edge(from, self.loc(*to), moves, span);
            }
            [_, started] => self.starts(rule, *started, span),
            _ => unreachable!("the system is plain"),
        }
    }

    /// Adds a rule that starts a thread, as a copy of the one that moves: while it is copied, that one has the number
    /// of the new thread.
    fn starts(&mut self, rule: &Rule, started: LocalId, span: Span) {
        let (from, at) = (self.loc(rule.local), self.loc(started));
        let (own, new) = (self.number(rule.local), self.number(started));
        let [shared, after] = [rule.shared.raw(), rule.shared_after.raw()];
        if let Some(busy) = self.busy {
            let [checked, done] = [(); 2].map(|()| self.within(rule.local));
            let begins = self.moves((shared, own), (busy, new), &[]);
            let ends = self.moves((busy, new), (after, own), &[]);
            self.edge(from, checked, begins, span);
            self.edge(checked, done, Op::Fork(at), span);
            self.edge(done, from, ends, span);
        } else if self.n_bits == 0 && self.n_own == 0 {
            self.edge(from, from, Op::Fork(at), span);
        } else {
            let [entered, checked, mut done] = [(); 3].map(|()| self.within(rule.local));
            let begins = self.moves((shared, own), (after, new), &[]);
            self.edge(from, entered, Op::AtomicBegin, span);
            self.edge(entered, checked, begins, span);
            self.edge(checked, done, Op::Fork(at), span);
            if own != new {
                let back = self.within(rule.local);
                let ends = self.moves((after, new), (after, own), &[]);
                self.edge(done, back, ends, span);
                done = back;
            }
            self.edge(done, from, Op::AtomicEnd, span);
        }
    }

    /// Returns a step from a shared state to another, of a thread that goes from a number to another, with transfers.
    fn moves(&self, from: Numbers, to: Numbers, transfers: &[(LocalId, Vec<LocalId>)]) -> Op {
        let shared = (0..self.n_bits).map(|bit| (VarId::from_raw(bit), is_set(from.0, bit), is_set(to.0, bit)));
        let own = (0..self.n_own).map(|bit| (self.own(bit), is_set(from.1, bit), is_set(to.1, bit)));
        let all: Vec<(VarId, bool, bool)> = shared.chain(own).collect();
        let literals = all.iter().rev().map(|(var, before, _)| literal(Expr::Var(*var), *before));
        let changed = all.iter().filter(|(_, before, after)| before != after);
        Op::Assign(Assign {
            active: changed.map(|(var, _, after)| (*var, Expr::Bool(*after))).collect(),
            passive: self.passive(transfers),
            constrain: literals.reduce(|right, left| and(left, right)).unwrap_or(Expr::TRUE),
        })
    }

    /// Returns what transfers assign to the variables of other threads. A thread is in one state, so that the same
    /// choices serve for the ways of all states.
    fn passive(&self, transfers: &[(LocalId, Vec<LocalId>)]) -> Vec<(VarId, Expr)> {
        let bits = if transfers.is_empty() { 0..0 } else { 0..self.n_own };
        let new_value = |bit: u32| {
            let stays = Expr::Passive(self.own(bit));
            let rhs = transfers.iter().rev().fold(stays, |rest, (from, to)| {
                let number = self.number(*from);
                let literals = (0..self.n_own).map(|bit| literal(Expr::Passive(self.own(bit)), is_set(number, bit)));
                let is_there = literals.rev().reduce(|right, left| and(left, right));
                ite(is_there.unwrap_or(Expr::TRUE), self.chosen(to, 0, bit), rest)
            });
            (self.own(bit), rhs)
        };
        bits.map(new_value).collect()
    }

    /// Returns a bit of the number of one of some states, as the choices from one on say: each leaves one half of them.
    fn chosen(&self, ways: &[LocalId], choice: u32, bit: u32) -> Expr {
        let (first, second) = ways.split_at(ways.len() / 2);
        match (first, second) {
            ([], ways) => Expr::Bool(ways.iter().any(|way| is_set(self.number(*way), bit))),
            _ => {
                let [first, second] = [first, second].map(|half| self.chosen(half, choice + 1, bit));
                ite(Expr::Choice(choice, Ty::Bool), first, second)
            }
        }
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
                let (from, number) = (self.loc(*local), self.number(*local));
                if at + 1 == target.threads.len() {
                    let moves = self.moves((now, number), (now, 0), &[]);
                    self.aside(from, error, moves, span);
                } else {
                    let moves = self.moves((now, number), (next, 0), &[]);
                    self.aside(from, aside, moves, span);
                    (now, next) = (next, next + 1);
                }
            }
        }
    }
}

fn label(local: LocalId) -> String {
    format!("l{}", local.index())
}

/// Returns the states from or to which threads are transferred, in ascending order.
fn moved(tts: &Tts) -> Vec<LocalId> {
    let transfers = tts.rules.iter().flat_map(|rule| &rule.transfers);
    let mut moved: Vec<LocalId> = transfers.flat_map(|(from, to)| to.iter().copied().chain([*from])).collect();
    moved.sort_unstable();
    moved.dedup();
    moved
}

fn is_set(number: u32, bit: u32) -> bool {
    number >> bit & 1 == 1
}

fn literal(var: Expr, is_true: bool) -> Expr {
    if is_true { var } else { Expr::Unary(UnaryOp::Not, Box::new(var)) }
}

fn and(left: Expr, right: Expr) -> Expr {
    Expr::Binary(BinaryOp::And, Box::new((left, right)))
}

fn ite(condition: Expr, then: Expr, otherwise: Expr) -> Expr {
    Expr::Ite(Box::new((condition, then, otherwise)))
}
