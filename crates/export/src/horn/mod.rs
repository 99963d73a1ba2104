//! Programs with one thread as constrained Horn clauses in SMT-LIB 2, for Spacer and similar solvers.
//!
//! Each location has a predicate over the variables at the entry of its procedure and their current values: a call with
//! this entry can reach this state. Each procedure has two: one over its entry and its return, the *summary*, and one
//! over its entry alone, from which it leads to an *error* before it returns. Each edge is a clause or two, and
//! recursion is a predicate that occurs on both sides. The program must not start in a state from which its procedure
//! leads to an error, so that `sat` means safe and `unsat` unsafe.
//!
//! Procedures may be entered with any values, not only with those that occur: a solver that works backwards from the
//! goal, as Spacer does, considers only the entries that it needs. Clauses that propagate reached entries to callees
//! take it a hundred times longer for a chain of eight calls, and only pay off if recursion leads to an error
//! (`bench/README.md`).
//!
//! A predicate has only the shared and per-thread variables that its procedure or a callee touches, and two values only
//! for those that are modified: the others keep their values.

mod clause;
mod edges;
mod integers;

use std::fmt::Write as _;

use index_vec::IndexVec;
use selvedge_frontend::Context;
use selvedge_ir::callgraph::{CallGraph, Through, is_sequential};
use selvedge_ir::dataflow::Arrows;
use selvedge_ir::flow::Flow;
use selvedge_ir::mod_ref::ModRef;
use selvedge_ir::slots::Slots;
use selvedge_ir::{LocId, Op, ProcId, Program, Scope, Target, Ty, VarId};

use clause::Clause;

/// Returns the clauses of a question, or the reason why there are none, without a full stop.
pub fn render(context: Context<'_>, target: &Target) -> Result<String, String> {
    if target.deadlock {
        return Err("Horn clauses do not support --deadlock".to_string());
    }
    if context.program.vars.iter().any(|var| var.ty == Ty::Int) {
        return integers::render(context, target);
    }
    in_scope(context.program)?;
    let writer = Writer::new(context, target);
    let mut text = writer.head();
    writer.predicates(&mut text);
    writer.entries(&mut text);
    writer.start(&mut text);
    for (id, edge) in context.program.edges.iter_enumerated() {
        if writer.runs[context.program.locs[edge.from].proc] {
            writer.edge(id, edge, &mut text);
        }
    }
    writer.targets(&mut text);
    text.push_str("(check-sat)\n");
    Ok(text)
}

fn in_scope(program: &Program) -> Result<(), String> {
    if program.has_machine_integers() {
        return Err("Horn clauses do not support machine integers".to_string());
    }
    if !is_sequential(program) {
        return Err("Horn clauses only support programs with one thread".to_string());
    }
    if let Some(prelude) = program.prelude {
        let runs = CallGraph::new(program).reachable([prelude], Through::Calls);
        if program.edges.iter().any(|edge| edge.op == Op::End && runs[program.locs[edge.from].proc]) {
            return Err("Horn clauses do not support programs whose prelude may end inside a call".to_string());
        }
    }
    Ok(())
}

struct Writer<'a> {
    context: Context<'a>,
    program: &'a Program,
    target: &'a Target,
    /// The shared and per-thread variables that a procedure or its callees touch.
    touched: IndexVec<ProcId, Vec<VarId>>,
    /// The touched variables that they may modify.
    modified: IndexVec<ProcId, Vec<VarId>>,
    /// The procedures that the thread or the prelude may run.
    runs: IndexVec<ProcId, bool>,
}

impl<'a> Writer<'a> {
    fn new(context: Context<'a>, target: &'a Target) -> Writer<'a> {
        let program = context.program;
        let calls = CallGraph::new(program);
        let slots = Slots::new(program);
        let effects = ModRef::new(program, &slots, &calls, &Arrows::new(program, &calls));
        let globals = |slots_of: &dyn Fn(usize) -> bool| {
            (0..slots.globals().len()).filter(|slot| slots_of(*slot)).map(|slot| slots.globals()[slot]).collect()
        };
        let touched = |proc: ProcId| {
            let effect = effects.of(proc);
            globals(&|slot| effect.refs.contains(slot) || effect.mods.contains(slot))
        };
        let modified = |proc: ProcId| globals(&|slot| effects.of(proc).mods.contains(slot));
        let starts = program.entries.iter().map(|entry| entry.proc).chain(program.prelude);
        let reachable = calls.reachable(starts, Through::Calls);
        Writer {
            context,
            program,
            target,
            touched: program.procs.indices().map(touched).collect(),
            modified: program.procs.indices().map(modified).collect(),
            runs: program.procs.indices().map(|proc| reachable[proc]).collect(),
        }
    }

    fn head(&self) -> String {
        format!(
            "; {}: sat means that no error can be reached, unsat that one can.\n\
             ; Variables: eN at the entry of the procedure, vN now, nN after a step, cN choices, rN returned values.\n\
             (set-logic HORN)\n",
            self.context.source.name.replace('\n', " ")
        )
    }

    /// Returns the variables that a procedure is entered with.
    fn inputs(&self, proc: ProcId) -> impl Iterator<Item = VarId> {
        self.touched[proc].iter().chain(&self.program.procs[proc].params).copied()
    }

    /// Returns the inputs whose value at the entry is kept in addition to their current value. The others do not
    /// change.
    fn copied(&self, proc: ProcId) -> impl Iterator<Item = VarId> {
        self.modified[proc].iter().chain(&self.program.procs[proc].params).copied()
    }

    /// Returns the name of a value at the entry of the procedure that runs.
    fn at_entry(&self, proc: ProcId, var: VarId) -> String {
        if self.copied(proc).any(|copied| copied == var) { clause::entry(var) } else { clause::now(var) }
    }

    /// Returns the fact that the running procedure leads to an error.
    fn fails(&self, proc: ProcId) -> String {
        self.fails_from(proc, &|var| self.at_entry(proc, var))
    }

    /// Returns the fact that a procedure that is entered with these values leads to an error.
    fn fails_from(&self, proc: ProcId, value: &dyn Fn(VarId) -> String) -> String {
        clause::apply('E', proc.index(), self.inputs(proc).map(value))
    }

    /// Returns the variables that are visible in a procedure.
    fn visible(&self, proc: ProcId) -> impl Iterator<Item = VarId> {
        self.touched[proc].iter().chain(&self.program.procs[proc].locals).copied()
    }

    /// Declares the predicates, with comments on their locations and variables.
    fn predicates(&self, text: &mut String) {
        let mut locs: IndexVec<ProcId, Vec<LocId>> = self.program.procs.iter().map(|_| Vec::new()).collect();
        for (id, loc) in self.program.locs.iter_enumerated() {
            locs[loc.proc].push(id);
        }
        let flow = Flow::new(self.program);
        for (id, proc) in self.program.procs.iter_enumerated().filter(|(id, _)| self.runs[*id]) {
            let names = |vars: Vec<VarId>, prefix: &str| {
                let name = |var: &VarId| format!("{prefix}{} {}", var.index(), self.program.vars[*var].name);
                vars.iter().map(name).collect::<Vec<_>>().join(", ")
            };
            let _ = writeln!(text, "\n; procedure {}", proc.name);
            let _ = writeln!(text, ";   entry: {}", names(self.copied(id).collect(), "e"));
            let _ = writeln!(text, ";   now: {}", names(self.visible(id).collect(), "v"));
            let n_inputs = self.inputs(id).count();
            let _ = writeln!(text, "(declare-fun E{} ({}) Bool)", id.index(), vec!["Bool"; n_inputs].join(" "));
            let n_summary = n_inputs + self.modified[id].len() + proc.results.len();
            let _ = writeln!(text, "(declare-fun S{} ({}) Bool)", id.index(), vec!["Bool"; n_summary].join(" "));
            let n_edges = self.copied(id).count() + self.visible(id).count();
            for loc in locs[id].iter().copied() {
                let sorts = vec!["Bool"; n_edges].join(" ");
                let _ = writeln!(text, "(declare-fun L{} ({sorts}) Bool){}", loc.index(), self.line(&flow, loc));
            }
        }
        text.push('\n');
    }

    /// Returns the line of the statement after a location, as a comment.
    fn line(&self, flow: &Flow, loc: LocId) -> String {
        flow.out(loc).first().map_or(String::new(), |edge| {
            let span = self.context.map.edges[*edge].span;
            format!(" ; line {}", self.context.source.line(span.start as usize))
        })
    }

    /// Writes the start of the program: the prelude, if there is one, and then its thread.
    fn start(&self, text: &mut String) {
        let Some(kind) = self.program.entries.first() else { return };
        let mut clause = Clause::default();
        let mut shared: IndexVec<VarId, String> = self.program.vars.indices().map(clause::now).collect();
        for (var, rhs) in &self.program.init {
            clause.define(clause::now(*var), rhs);
        }
        if let Some(prelude) = self.program.prelude {
            let mut begin = clause.clone();
            for var in self.thread_vars() {
                begin.require(format!("(not {})", clause::now(var)));
            }
            begin.require(self.fails_from(prelude, &clause::now));
            begin.conclude("false".to_string(), text);
            let entry = self.inputs(prelude).map(clause::now);
            let after = self.modified[prelude].iter().copied().map(clause::next);
            let results = (0..self.program.procs[prelude].results.len()).map(clause::result);
            clause.require(clause::apply('S', prelude.index(), entry.chain(after).chain(results)));
            for var in &self.modified[prelude] {
                shared[*var] = clause::next(*var);
            }
        }
        self.start_thread(clause, kind, &shared, text);
    }

    fn thread_vars(&self) -> impl Iterator<Item = VarId> {
        self.program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Thread).map(|(id, _)| id)
    }

    /// Writes the start of the thread with these values of the shared variables.
    fn start_thread(
        &self,
        mut clause: Clause,
        kind: &selvedge_ir::Entry,
        shared: &IndexVec<VarId, String>,
        text: &mut String,
    ) {
        let fresh = |var: VarId| match self.program.vars[var].scope {
            Scope::Shared => shared[var].clone(),
            Scope::Thread | Scope::Local(_) => format!("t{}", var.index()),
        };
        for (var, rhs) in &kind.init {
            let value = clause::value(rhs, "d", &fresh, &fresh);
            clause.require(format!("(= {} {value})", fresh(*var)));
        }
        for var in self.thread_vars().filter(|var| !kind.thread_vars.contains(var)) {
            clause.require(format!("(not {})", fresh(var)));
        }
        clause.require(self.fails_from(kind.proc, &fresh));
        clause.conclude("false".to_string(), text);
    }

    /// Writes that every procedure can be entered with any values.
    fn entries(&self, text: &mut String) {
        for (id, proc) in self.program.procs.iter_enumerated().filter(|(id, _)| self.runs[*id]) {
            let inputs: Vec<VarId> = self.inputs(id).collect();
            let value = |var: VarId| if inputs.contains(&var) { self.at_entry(id, var) } else { clause::now(var) };
            Clause::default().conclude(self.there(proc.entry, &value), text);
        }
    }

    fn targets(&self, text: &mut String) {
        for loc in &self.target.locs {
            let proc = self.program.locs[*loc].proc;
            if self.runs[proc] {
                Clause::at(self.here(*loc)).conclude(self.fails(proc), text);
            }
        }
    }

    /// Returns the fact that the thread is at a location.
    fn here(&self, loc: LocId) -> String {
        self.there(loc, &clause::now)
    }

    /// Returns the fact that the thread is at a location with these values of the variables.
    fn there(&self, loc: LocId, value: &dyn Fn(VarId) -> String) -> String {
        let proc = self.program.locs[loc].proc;
        let args = self.copied(proc).map(clause::entry).chain(self.visible(proc).map(value));
        clause::apply('L', loc.index(), args)
    }
}
