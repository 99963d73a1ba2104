//! The clauses, as SMT-LIB text: a relation for each place, a clause for each move, one for the start.
//!
//! Variable 3 is `v3` before a step and `n3` after it, choice 3 is `c3`, a choice of the initial values `i3` or, for
//! the thread, `t3`. What a clause does not define may have any value.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Run, Stop, Task};
use selvedge_ir::liveness::Liveness;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Expr, Op, Program, Scope, Ty, VarId};
use selvedge_logic::smt::{Sexp, Smt};
use selvedge_transition::bitvectors::{self, read, sort};
use selvedge_transition::step::control::call_at;

use crate::induction::inlined_graph::{InlinedGraph, InlinedMove, MoveTarget};

/// A program as clauses.
pub(super) struct Clauses<'a> {
    program: &'a Program,
    graph: &'a InlinedGraph,
    /// The arguments of the relation of each place.
    vars: Vec<Vec<VarId>>,
}

impl<'a> Clauses<'a> {
    pub(super) fn new(task: &Task<'a>, graph: &'a InlinedGraph) -> Clauses<'a> {
        let liveness = Liveness::new(task.program);
        let vars = (0..graph.all.len()).map(|place| graph.live(task.program, place, &liveness)).collect();
        Clauses { program: task.program, graph, vars }
    }

    /// Sends all clauses to the solver. It must keep the relations as they are: what it would say about one that it
    /// has put into others has quantifiers.
    pub(super) fn tell(&self, smt: &mut Smt, run: &Run<'_>) -> Result<(), Stop> {
        for option in ["slice", "inline_linear", "inline_eager"] {
            smt.tell(format!("(set-option :fp.xform.{option} false)"));
        }
        smt.tell("(set-logic HORN)".to_string());
        for (place, vars) in self.vars.iter().enumerate() {
            let sorts: Vec<String> = vars.iter().map(|var| sort(self.program.vars[*var].ty)).collect();
            smt.tell(format!("(declare-fun P{place} ({}) Bool)", sorts.join(" ")));
        }
        smt.tell(self.start());
        for step in &self.graph.moves {
            run.tick()?;
            smt.tell(self.step(step));
        }
        Ok(())
    }

    /// Returns what the solver says about a place, over the variables of the program; `None` if that is not understood.
    pub(super) fn formula(&self, model: &Sexp, place: usize) -> Option<Expr> {
        {
            let args: Vec<Expr> = self.vars[place].iter().copied().map(Expr::Var).collect();
            read::definition(model, &format!("P{place}"), self.program, &args)
        }
    }

    /// The values at the start.
    fn start(&self) -> String {
        let program = self.program;
        let Some(entry) = program.entries.first() else { return String::new() };
        let mut clause = Clause::new(program);
        clause.choose('i', &choice_types(program.init.iter().map(|(_, rhs)| rhs)));
        clause.choose('t', &choice_types(entry.init.iter().map(|(_, rhs)| rhs)));
        for (var, rhs) in &program.init {
            let value = clause.value(rhs, 'i');
            clause.define(*var, &value);
        }
        for (var, rhs) in &entry.init {
            let value = clause.value(&rhs.after_step(), 't');
            clause.define(*var, &value);
        }
        let others = program.vars.iter_enumerated().filter(|(var, _)| !entry.thread_vars.contains(var));
        for (var, variable) in others.filter(|(_, variable)| variable.scope == Scope::Thread) {
            let value = clause.value(&Expr::value(variable.ty.default_value()), 't');
            clause.define(var, &value);
        }
        let all: BTreeSet<VarId> = program.vars.indices().collect();
        let first = self.fact(&mut clause, 0, &all);
        clause.implies(&first)
    }

    /// The clause of a move.
    fn step(&self, step: &InlinedMove) -> String {
        let (program, place) = (self.program, &self.graph.all[step.from]);
        let op = &program.edges[step.edge].op;
        let mut clause = Clause::new(program);
        clause.choose('c', &op.choices());
        let here = self.fact(&mut clause, step.from, &BTreeSet::new());
        clause.require(here);
        let mut changed = BTreeSet::new();
        let mut assign = |clause: &mut Clause<'_>, var: VarId, rhs: &Expr| {
            let value = clause.value(rhs, 'c');
            clause.define(var, &value);
            changed.insert(var);
        };
        match op {
            Op::Assign(step) => {
                step.active.iter().for_each(|(var, rhs)| assign(&mut clause, *var, rhs));
                let known = changed.clone();
                let unchanged = |leaf: &Expr| match leaf {
                    Expr::Next(var) if !known.contains(var) => Expr::Var(*var),
                    leaf => leaf.clone(),
                };
                let condition = clause.value(&step.constrain.map_leaves(&mut |leaf| unchanged(leaf)), 'c');
                clause.require(condition);
            }
            Op::Assert(condition) => {
                let holds = clause.value(condition, 'c');
                clause.require(if step.to == MoveTarget::Failure { format!("(not {holds})") } else { holds });
            }
            Op::Call(call) => {
                let params = &program.procs[call.callee].params;
                params.iter().zip(&call.args).for_each(|(param, arg)| assign(&mut clause, *param, arg));
                changed.extend(&program.procs[call.callee].locals);
            }
            Op::Return(values) => {
                let call = place.calls.last().map(|call| call_at(program, *call));
                for (target, value) in call.iter().flat_map(|call| &call.results).zip(values) {
                    target.iter().for_each(|var| assign(&mut clause, *var, value));
                }
            }
            Op::AtomicBegin | Op::AtomicEnd | Op::End | Op::Spawn(_) | Op::Fork(_) => {}
        }
        match step.to {
            MoveTarget::Place(to) => {
                let there = self.fact(&mut clause, to, &changed);
                clause.implies(&there)
            }
            MoveTarget::Target | MoveTarget::Failure => clause.implies("false"),
        }
    }

    /// The relation of a place, in the state after the step for some variables.
    fn fact(&self, clause: &mut Clause<'_>, place: usize, changed: &BTreeSet<VarId>) -> String {
        let mut argument = |var: &VarId| clause.name(if changed.contains(var) { 'n' } else { 'v' }, *var);
        let args: Vec<String> = self.vars[place].iter().map(&mut argument).collect();
        if args.is_empty() { format!("P{place}") } else { format!("(P{place} {})", args.join(" ")) }
    }
}

/// A clause under construction.
struct Clause<'a> {
    program: &'a Program,
    /// The names of variables and choices that occur, with their sorts.
    names: BTreeMap<String, Ty>,
    conditions: Vec<String>,
}

impl<'a> Clause<'a> {
    fn new(program: &'a Program) -> Clause<'a> {
        Clause { program, names: BTreeMap::new(), conditions: Vec::new() }
    }

    fn choose(&mut self, letter: char, types: &[Ty]) {
        self.names.extend(types.iter().enumerate().map(|(number, ty)| (format!("{letter}{number}"), *ty)));
    }

    fn name(&mut self, letter: char, var: VarId) -> String {
        let name = format!("{letter}{}", var.index());
        self.names.insert(name.clone(), self.program.vars[var].ty);
        name
    }

    fn require(&mut self, condition: String) {
        self.conditions.push(condition);
    }

    fn define(&mut self, var: VarId, value: &str) {
        let name = self.name('n', var);
        self.require(format!("(= {name} {value})"));
    }

    /// Returns an expression as text.
    fn value(&mut self, expr: &Expr, choices: char) -> String {
        expr.for_each_leaf(|leaf| match leaf {
            Expr::Var(var) => drop(self.name('v', *var)),
            Expr::Next(var) => drop(self.name('n', *var)),
            _ => {}
        });
        bitvectors::text(expr, &|leaf| match leaf {
            Expr::Var(var) => format!("v{}", var.index()),
            Expr::Next(var) => format!("n{}", var.index()),
            Expr::Choice(number, _) => format!("{choices}{number}"),
            _ => unreachable!("there is one thread"),
        })
    }

    fn implies(&self, conclusion: &str) -> String {
        let names: String = self.names.iter().map(|(name, ty)| format!("({name} {})", sort(*ty))).collect();
        let clause = format!("(=> (and true {}) {conclusion})", self.conditions.join(" "));
        if names.is_empty() { format!("(assert {clause})") } else { format!("(assert (forall ({names}) {clause}))") }
    }
}
