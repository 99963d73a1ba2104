//! Simulates threads that take turns by one thread: the reduction of Lal and Reps (2009), sections 2 and 3.
//!
//! The input is a program with a fixed list of threads ([`super::fix_threads`]) and a number K of contexts for each.
//! The result is a program of one thread that runs the threads one after the other, each through all its K contexts. It
//! has K copies of the shared variables, of whatever types; a counter gives the context of the running thread, and the
//! thread reads and writes the copies of that context only. The first copies start with the initial values of the
//! program. The copies of a later context start with a *guess* of the values that the last thread will leave behind at
//! the end of the previous context. The guess is stored, and the *Checker* at the end drops all runs in which a guess
//! was wrong. An error that occurs under guesses is recorded too, and asserted after the Checker.
//!
//! Details that the paper's figure omits: a thread may go to a later context any number of times before a step, so that
//! it idles in the contexts between; it may stop for good at any location where it could be interrupted, or never
//! begin, and then its later contexts stay idle; a thread that stops, ends or fails returns from all its procedures
//! before the next one begins. The value K + 1 of the paper's counter is the flag `over`. No thread goes to another
//! context or stops inside an atomic section.
//!
//! A thread needs to switch to a new context only before a step that other threads can notice or that depends on them,
//! and to stop only after a step that they can notice: earlier switches can be delayed, and later steps do not matter.
//!
//! *Correctness.* A run that passes the Checker corresponds to an execution, assembled from the pieces of all threads
//! in the order of contexts and threads: each piece begins with the shared values with which the previous piece ended.
//! Conversely, each execution within K contexts per thread corresponds to such a run, with the right guesses.

mod body;
mod copies;
mod lift;

pub use lift::{Purpose, SequentialLift};

use index_vec::IndexVec;

use crate::callgraph::{CallGraph, Through};
use crate::syntax::{
    BinaryOp, Count, Edge, EdgeId, Entry, EntryId, Expr, Label, Loc, LocId, Op, Proc, ProcId, Program, Scope, VarId,
};
use crate::target::{Target, sorted};
use crate::visit::{init_choices, reads};
use body::Mode;
use copies::Copies;

/// The result of the pass: one thread instead of several.
#[derive(Clone, Debug)]
pub struct Sequential {
    /// The program.
    pub program: Program,
    /// The assertion after the Checker.
    pub target: Target,
    /// The location before that assertion, which only runs with right guesses reach.
    pub confirmed: LocId,
    /// For each shared variable of the input its copy in the last context. At [`Sequential::confirmed`] these hold the
    /// values that are reachable within K contexts per thread.
    pub last: Vec<(VarId, VarId)>,
    /// The lift of executions, which also knows the purpose of each edge.
    pub lift: SequentialLift,
}

/// The order in which the copies of the shared variables are declared, each with its guess before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// All copies of one variable next to each other, for readability.
    ByVariable,
    /// All variables of one context next to each other, for decision diagrams: only the locations of the threads carry
    /// over from one context to the next, so few nodes are needed between two contexts.
    ByContext,
}

/// Runs the pass with a number of contexts per thread, at least one. The program must have a fixed list of threads.
pub fn run(program: &Program, target: &Target, contexts: u32) -> Sequential {
    arranged(program, target, contexts, Arrangement::ByVariable)
}

/// Runs the pass with the copies in a given order.
pub fn arranged(program: &Program, target: &Target, contexts: u32, arrangement: Arrangement) -> Sequential {
    let mut builder = Builder::new(program, target, contexts.max(1) as usize, arrangement);
    let prelude = program.prelude.map(|prelude| builder.copy_procs([prelude], Mode::Alone)[prelude]);
    let roots = builder.copy_procs(program.entries.iter().map(|entry| entry.proc), Mode::InTurns);
    let (confirmed, assertion) = builder.make_main(prelude, &roots);
    let Builder { new, purposes, vars, copies, .. } = builder;
    let last = copies.shared.iter().map(|(var, copies)| (*var, copies[copies.len() - 1])).collect();
    let lift = SequentialLift::new(program, purposes, vars);
    Sequential { program: new, target: Target::new(vec![assertion], Vec::new()), confirmed, last, lift }
}

/// The new program built so far.
struct Builder<'p> {
    old: &'p Program,
    target: &'p Target,
    new: Program,
    copies: Copies,
    purposes: IndexVec<EdgeId, Purpose>,
    /// For each new variable the old one whose fresh value it holds.
    vars: IndexVec<VarId, Option<VarId>>,
}

impl<'p> Builder<'p> {
    fn new(old: &'p Program, target: &'p Target, contexts: usize, arrangement: Arrangement) -> Builder<'p> {
        let mut new = Program::default();
        let mut vars = IndexVec::new();
        let copies = Copies::new(old, contexts, arrangement, &mut new, &mut vars);
        Builder { old, target, new, copies, purposes: IndexVec::new(), vars }
    }

    fn loc(&mut self, proc: ProcId) -> LocId {
        self.new.locs.push(Loc { proc })
    }

    fn edge(&mut self, from: LocId, to: LocId, op: Op, role: Purpose) -> EdgeId {
        self.purposes.push(role);
        self.new.edges.push(Edge::new(from, to, op))
    }

    /// Copies these procedures and all that they call; returns the new number of each copied procedure.
    fn copy_procs(&mut self, roots: impl IntoIterator<Item = ProcId>, mode: Mode) -> IndexVec<ProcId, ProcId> {
        let wanted = CallGraph::new(self.old).reachable(roots, Through::Calls);
        let mut next = self.new.procs.len();
        // Procedures that are not copied have a number too, which is never used.
        let numbers: IndexVec<ProcId, ProcId> = wanted
            .iter()
            .map(|wanted| {
                next += usize::from(*wanted);
                ProcId::from_usize(next.saturating_sub(1))
            })
            .collect();
        for proc in self.old.procs.indices().filter(|proc| wanted[*proc]) {
            body::copy(self, proc, &numbers, mode);
        }
        numbers
    }

    /// Builds the procedure that runs the prelude and the threads, checks the guesses and asserts that nothing failed.
    /// Returns the location before the assertion, and the assertion.
    fn make_main(&mut self, prelude: Option<ProcId>, roots: &IndexVec<ProcId, ProcId>) -> (LocId, EdgeId) {
        let main = self.new.procs.next_idx();
        let [entry, guessed, confirmed, asserted, exit] = [(); 5].map(|()| self.loc(main));
        let guess = self.copies.guess(self.old);
        self.edge(entry, guessed, guess, Purpose::Guess);
        let mut at = guessed;
        if let Some(callee) = prelude {
            let back = self.loc(main);
            self.edge(at, back, Op::call_without_results(&self.new, callee, Vec::new()), Purpose::Prelude);
            at = back;
        }
        if let Some(keep) = self.copies.keep_start() {
            let kept = self.loc(main);
            self.edge(at, kept, keep, Purpose::Keep);
            at = kept;
        }
        for (id, entry) in self.old.entries.clone().iter_enumerated() {
            at = self.run_thread(main, at, (id, entry), roots[entry.proc]);
        }
        let check = self.copies.check();
        self.edge(at, confirmed, Op::assume(check), Purpose::Check);
        let sound = Expr::negate(Expr::Var(self.copies.failed));
        let assertion = self.edge(confirmed, asserted, Op::Assert(sound), Purpose::Confirm);
        self.edge(asserted, exit, Op::Return(Vec::new()), Purpose::Confirm);
        let name = "main".to_string();
        let (params, locals, results) = (Vec::new(), Vec::new(), Vec::new());
        self.new.procs.push(Proc { name, params, locals, results, entry, exit });
        self.new.labels.push(Label { name: "confirmed".to_string(), loc: confirmed });
        let entry = Entry {
            name: "main".to_string(),
            proc: main,
            count: Count::Exactly(1),
            thread_vars: Vec::new(),
            init: Vec::new(),
        };
        self.new.entries.push(entry);
        (confirmed, assertion)
    }

    /// Adds the steps in which one thread runs through all its contexts, or idles in all of them. Returns the location
    /// at which main continues.
    fn run_thread(&mut self, main: ProcId, at: LocId, (id, entry): (EntryId, &Entry), callee: ProcId) -> LocId {
        let [begun, over] = [(); 2].map(|()| self.loc(main));
        let (begin, fresh) = self.begin(entry);
        self.edge(at, begun, begin, Purpose::Begin(id, fresh));
        self.edge(at, over, Op::skip(), Purpose::Idle(id));
        let params = self.old.procs[entry.proc].params.clone();
        let any = |(number, param): (u32, &VarId)| Expr::Choice(number, self.old.vars[*param].ty);
        let args = (0..).zip(&params).map(any).collect();
        self.edge(begun, over, Op::call_without_results(&self.new, callee, args), Purpose::Root(id, params));
        over
    }

    /// Returns the step before a thread runs: the first context, and the values of its own variables. Also returns the
    /// variables that start with any value; their choices follow those of the initial values.
    fn begin(&self, entry: &Entry) -> (Op, Vec<VarId>) {
        let n_choices = init_choices(&entry.init).len() as u32;
        let is_open = |var: &&VarId| !entry.init.iter().any(|(initialised, _)| initialised == *var);
        let open: Vec<VarId> = entry.thread_vars.iter().filter(is_open).copied().collect();
        let mut active = self.copies.reset();
        for (var, own) in &self.copies.own {
            let initial =
                entry.init.iter().find(|(initialised, _)| initialised == var).map(|(_, rhs)| self.copies.at_start(rhs));
            let (ty, place) = (self.old.vars[*var].ty, open.iter().position(|open| open == var));
            let any = || Some(Expr::Choice(n_choices + place? as u32, ty));
            active.push((*own, initial.or_else(any).unwrap_or(Expr::default_of(ty))));
        }
        (Op::set(active), open)
    }
}

/// Returns the shared variables that the initial values of threads read.
fn read_at_start(program: &Program) -> Vec<VarId> {
    let read = program.entries.iter().flat_map(|entry| &entry.init).flat_map(|(_, rhs)| reads(rhs));
    sorted(read.filter(|var| program.vars[*var].scope == Scope::Shared).collect())
}

fn equal(left: VarId, right: VarId) -> Expr {
    Expr::binary(BinaryOp::Eq, Expr::Var(left), Expr::Var(right))
}

#[cfg(test)]
mod tests;
