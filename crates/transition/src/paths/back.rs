//! The way back: from a path edge after a step to one before it, and the step between them.
//!
//! Diagrams may have more variables than frames do; those are given as the `history` of a path edge, and a step does
//! not change them.

use std::collections::BTreeMap;

use selvedge_ir::trace::{Fresh, Step, ThreadId};
use selvedge_ir::{Call, EdgeId, Expr, Op, ProcId, Program, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};

use super::layout::{PathLayout, When};
use super::step::value;
use crate::step::control::call_at;

/// A path edge, or a part of a summary: values of variables of the diagrams.
pub type Tuple = BTreeMap<Var, bool>;

/// The program, the variables of the diagrams, and the thread whose steps are followed back.
pub struct Back<'s> {
    pub layout: &'s PathLayout,
    pub program: &'s Program,
    /// The thread that moves.
    pub thread: ThreadId,
}

/// A call, with the sets of both sides.
pub struct Returned<'b> {
    pub edge: EdgeId,
    /// The path edges at the call.
    pub before: &'b Bdd,
    /// The summaries of the callee.
    pub summary: &'b Bdd,
    /// The variables that frames and summaries have beside those of their procedures.
    pub histories: [&'b [Var]; 2],
}

impl Back<'_> {
    /// Returns a path edge before an assignment or assertion, in a given set, that leads along the relation to a given
    /// one.
    pub fn step_back(
        &self,
        edge: EdgeId,
        relation: &Bdd,
        before: &Bdd,
        after: &Tuple,
    ) -> Result<(Tuple, Step), OutOfNodes> {
        let assign = self.program.edges[edge].as_assignment();
        let layout = self.layout;
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        let now = layout.vars(targets.iter().copied(), When::Now);
        let kept: Tuple =
            after.iter().filter(|(var, _)| !now.contains(var)).map(|(var, value)| (*var, *value)).collect();
        let next =
            targets.iter().map(|var| (layout.var(*var, When::Next), after[&layout.var(*var, When::Now)])).collect();
        let relation = relation.and(&self.cube(&next)?)?;
        let found = before.and(&self.cube(&kept)?)?.and(&relation)?;
        let before = self.pick(&found, &after.keys().copied().collect::<Vec<_>>());
        let mut choices = self.evaluate(&layout.constrain(&assign), &before, Some(after))?;
        for (var, rhs) in &assign.active {
            let wanted = layout.manager.constant(after[&layout.var(*var, When::Now)]);
            choices = choices.and(&self.evaluate(rhs, &before, None)?.iff(&wanted)?)?;
        }
        Ok((before, self.step(edge, &choices)))
    }

    /// Returns a path edge at a call, and the part of the summary that leads from it to one after the call.
    pub fn before_call(&self, returned: &Returned<'_>, after: &Tuple) -> Result<(Tuple, Tuple), OutOfNodes> {
        let (layout, program) = (self.layout, self.program);
        let call = call_at(program, returned.edge);
        let modified = &layout.scopes[call.callee].modified;
        let written: Vec<VarId> = call.results.iter().flatten().copied().collect();
        let lost = layout.vars(modified.iter().chain(&written).copied(), When::Now);
        let mut known: Tuple =
            after.iter().filter(|(var, _)| !lost.contains(var)).map(|(var, value)| (*var, *value)).collect();
        for var in modified.iter().filter(|var| !written.contains(var)) {
            known.insert(layout.var(*var, When::Next), after[&layout.var(*var, When::Now)]);
        }
        for (result, var) in layout.results.iter().zip(&call.results) {
            if let Some(var) = var {
                known.insert(*result, after[&layout.var(*var, When::Now)]);
            }
        }
        let arguments = layout.arguments(program, call)?;
        let found = returned.before.and(&arguments)?.and(&self.cube(&known)?)?.and(returned.summary)?;
        let caller = program.locs[program.edges[returned.edge].from].proc;
        let [at_call, at_return] = returned.histories;
        let (frame, effect) = (self.frame_vars(caller, at_call), self.summary_vars(call.callee, at_return));
        let all: Vec<Var> = frame.iter().chain(&effect).copied().collect();
        let picked = self.pick(&found, &all);
        let part = |vars: &[Var]| vars.iter().map(|var| (*var, picked[var])).collect();
        Ok((part(&frame), part(&effect)))
    }

    /// Returns a path edge before a return that has this effect, and the return.
    pub fn before_return(
        &self,
        edge: EdgeId,
        before: &Bdd,
        effect: &Tuple,
        history: &[Var],
    ) -> Result<(Tuple, Step), OutOfNodes> {
        let (layout, program) = (self.layout, self.program);
        let Op::Return(values) = &program.edges[edge].op else { unreachable!("summaries come from returns") };
        let proc = program.locs[program.edges[edge].from].proc;
        let scope = &layout.scopes[proc];
        let mut known: Tuple = history.iter().map(|var| (*var, effect[var])).collect();
        for var in &scope.globals {
            let at_entry = effect[&layout.var(*var, When::Now)];
            if scope.modified.contains(var) {
                known.insert(layout.var(*var, When::Entry), at_entry);
                known.insert(layout.var(*var, When::Now), effect[&layout.var(*var, When::Next)]);
            } else {
                known.insert(layout.var(*var, When::Now), at_entry);
            }
        }
        for var in &program.procs[proc].params {
            let when = if scope.modified_params.contains(var) { When::Entry } else { When::Now };
            known.insert(layout.var(*var, when), effect[&layout.var(*var, When::Next)]);
        }
        let results: Tuple = layout.results.iter().zip(values).map(|(result, _)| (*result, effect[result])).collect();
        let relation = layout.returning(program, proc, values)?.relation.and(&self.cube(&results)?)?;
        let found = before.and(&self.cube(&known)?)?.and(&relation)?;
        let last = self.pick(&found, &self.frame_vars(proc, history));
        let mut choices = layout.manager.top();
        for (result, value) in layout.results.iter().zip(values) {
            let wanted = layout.manager.constant(effect[result]);
            choices = choices.and(&self.evaluate(value, &last, None)?.iff(&wanted)?)?;
        }
        Ok((last, self.step(edge, &choices)))
    }

    /// Returns a path edge at a call that enters the callee in this way, and the call, which has not returned. The
    /// history of the callee's path edge is that of the caller's.
    pub fn call_into(
        &self,
        edge: EdgeId,
        callers: &Bdd,
        entry: &Tuple,
        history: &[Var],
    ) -> Result<(Tuple, Step), OutOfNodes> {
        let (layout, program) = (self.layout, self.program);
        let call = call_at(program, edge);
        let globals = layout.scopes[call.callee].globals.iter().map(|var| layout.var(*var, When::Now));
        let mut known: Tuple = globals.map(|var| (var, entry[&var])).collect();
        known.extend(history.iter().filter_map(|var| Some((*var, *entry.get(var)?))));
        for param in &program.procs[call.callee].params {
            known.insert(layout.var(*param, When::Next), entry[&layout.var(*param, When::Now)]);
        }
        let found = callers.and(&layout.arguments(program, call)?)?.and(&self.cube(&known)?)?;
        let caller = self.pick(&found, &self.frame_vars(program.locs[program.edges[edge].from].proc, history));
        let step = self.calling(edge, call, &caller, &known, entry)?;
        Ok((caller, step))
    }

    /// Returns the step of the call: its arguments are those of the effect, the callee's other locals start as at its
    /// entry.
    pub fn calling(
        &self,
        edge: EdgeId,
        call: &Call,
        caller: &Tuple,
        effect: &Tuple,
        entry: &Tuple,
    ) -> Result<Step, OutOfNodes> {
        let layout = self.layout;
        let mut choices = layout.manager.top();
        for (param, arg) in self.program.procs[call.callee].params.iter().zip(&call.args) {
            let wanted = layout.manager.constant(effect[&layout.var(*param, When::Next)]);
            choices = choices.and(&self.evaluate(arg, caller, None)?.iff(&wanted)?)?;
        }
        Ok(Step { fresh: self.fresh_locals(call.callee, entry), ..self.step(edge, &choices) })
    }

    /// Returns the step of an assertion that fails at a path edge.
    pub fn failing(&self, assert: EdgeId, tuple: &Tuple) -> Result<Step, OutOfNodes> {
        let failure = self.program.edges[assert].failure().expect("only assertions fail");
        let fails = self.evaluate(&failure, tuple, None)?;
        Ok(self.step(assert, &fails))
    }

    /// Returns the step of an edge whose choices do not matter.
    pub fn any(&self, edge: EdgeId) -> Step {
        self.step(edge, &self.layout.manager.top())
    }

    /// Returns the locals of a procedure that start with any value, as they are at a path edge.
    pub fn fresh_locals(&self, proc: ProcId, entry: &Tuple) -> Fresh {
        let proc = &self.program.procs[proc];
        let fresh = proc.locals.iter().filter(|local| !proc.params.contains(local));
        fresh.map(|local| (*local, value(entry[&self.layout.var(*local, When::Now)]))).collect()
    }

    /// Returns the choices that give these initial values.
    pub fn initial_choices(&self, init: &[(VarId, Expr)], values: &Tuple) -> Result<Vec<Value>, OutOfNodes> {
        let layout = self.layout;
        let mut choices = layout.manager.top();
        for (var, rhs) in init {
            let wanted = layout.manager.constant(values[&layout.var(*var, When::Now)]);
            choices = choices.and(&self.evaluate(rhs, values, None)?.iff(&wanted)?)?;
        }
        let n_choices = selvedge_ir::visit::choice_types(init.iter().map(|(_, rhs)| rhs)).len();
        Ok(self.choose(&choices, n_choices))
    }

    /// Returns the variables of the diagrams for the path edges of a procedure, the history last.
    pub fn frame_vars(&self, proc: ProcId, history: &[Var]) -> Vec<Var> {
        let layout = self.layout;
        let now = layout.vars(layout.visible(self.program, proc), When::Now);
        let entry = layout.vars(layout.scopes[proc].with_entry_copy(), When::Entry);
        now.into_iter().chain(entry).chain(history.iter().copied()).collect()
    }

    /// Returns the variables of the diagrams for the summary of a procedure, the history last.
    pub fn summary_vars(&self, proc: ProcId, history: &[Var]) -> Vec<Var> {
        let (layout, this) = (self.layout, &self.program.procs[proc]);
        let mut vars = layout.vars(layout.scopes[proc].globals.iter().copied(), When::Now);
        vars.extend(layout.vars(layout.scopes[proc].modified.iter().copied(), When::Next));
        vars.extend(layout.vars(this.params.iter().copied(), When::Next));
        vars.extend(&layout.results[..this.results.len()]);
        vars.extend(history);
        vars
    }

    /// Returns a tuple of a set that is not empty.
    pub fn pick(&self, set: &Bdd, vars: &[Var]) -> Tuple {
        let values = set.pick(vars).expect("a way back exists for everything that was found");
        vars.iter().copied().zip(values).collect()
    }

    pub fn cube(&self, tuple: &Tuple) -> Result<Bdd, OutOfNodes> {
        let literals: Vec<(Var, bool)> = tuple.iter().map(|(var, value)| (*var, *value)).collect();
        self.layout.manager.cube(&literals)
    }

    /// Encodes an expression in a state, over its choices; `after` gives the values of the variables after the step.
    fn evaluate(&self, expr: &Expr, now: &Tuple, after: Option<&Tuple>) -> Result<Bdd, OutOfNodes> {
        let layout = self.layout;
        layout.expr_in(expr, &|leaf| match (leaf, after) {
            (Expr::Var(var), _) => now[&layout.var(*var, When::Now)],
            (Expr::Next(var), Some(after)) => after[&layout.var(*var, When::Now)],
            _ => unreachable!("only conditions of assignments mention the next state"),
        })
    }

    /// Returns a step along an edge, with choices that satisfy a condition.
    fn step(&self, edge: EdgeId, condition: &Bdd) -> Step {
        let n_choices = self.program.edges[edge].op.choices().len();
        let choices = self.choose(condition, n_choices);
        Step { thread: self.thread, edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None }
    }

    fn choose(&self, condition: &Bdd, n_choices: usize) -> Vec<Value> {
        let choices = condition.pick(&self.layout.choices[..n_choices]);
        choices.expect("the condition of the step is satisfiable").into_iter().map(value).collect()
    }
}

/// Returns whether a tuple is in a set.
pub fn holds(set: &Bdd, tuple: &Tuple) -> bool {
    set.eval(|var| tuple.get(&var).copied().unwrap_or(false))
}
