//! The clauses of one edge.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use selvedge_ir::{Assign, Call, Edge, EdgeId, Expr, Op, ProcId, VarId};

use super::Writer;
use super::clause::{self, Clause};

impl Writer<'_> {
    pub(super) fn edge(&self, id: EdgeId, edge: &Edge, text: &mut String) {
        let span = self.context.map.edges[id].span;
        let line = self.context.source.line(span.start as usize);
        let _ = writeln!(text, "; line {line}: {}", self.context.source.flat(span));
        match &edge.op {
            Op::Assign(_) => self.assign(edge, &edge.as_assignment(), text),
            Op::Assert(_) => {
                if let Some(failure) = edge.failure().filter(|_| self.target.has_assert(id)) {
                    self.failure(edge, &failure, text);
                }
                self.assign(edge, &edge.as_assignment(), text);
            }
            Op::AtomicBegin | Op::AtomicEnd => self.assign(edge, &edge.as_assignment(), text),
            Op::Call(call) => self.call(edge, call, text),
            Op::Return(values) => self.returns(edge, values, text),
            Op::End => {}
            Op::Spawn(_) | Op::Fork(_) => unreachable!("programs with several threads are refused"),
        }
    }

    /// Writes the clause of an assignment. Without other threads, passive assignments do nothing, and passive
    /// conditions hold.
    fn assign(&self, edge: &Edge, assign: &Assign, text: &mut String) {
        let mut clause = Clause::at(self.here(edge.from));
        for (var, rhs) in &assign.active {
            clause.define(clause::next(*var), rhs);
        }
        let after = |var: VarId| {
            let is_assigned = assign.active.iter().any(|(assigned, _)| *assigned == var);
            if is_assigned { clause::next(var) } else { clause::now(var) }
        };
        if assign.constrain != Expr::TRUE && !assign.constrain.is_passive() {
            clause.require(clause::value(&assign.constrain, "c", &clause::now, &after));
        }
        clause.conclude(self.there(edge.to, &after), text);
    }

    fn failure(&self, edge: &Edge, failure: &Expr, text: &mut String) {
        let mut clause = Clause::at(self.here(edge.from));
        clause.require(clause::value(failure, "c", &clause::now, &clause::now));
        clause.conclude(self.fails(self.program.locs[edge.from].proc), text);
    }

    /// Writes the clauses of a call: if the callee leads to an error, so does the caller; and if it returns, the caller
    /// goes on.
    fn call(&self, edge: &Edge, call: &Call, text: &mut String) {
        let mut clause = Clause::at(self.here(edge.from));
        let params = &self.program.procs[call.callee].params;
        let mut args = BTreeMap::new();
        for (param, arg) in params.iter().zip(&call.args) {
            let name = format!("a{}", param.index());
            clause.define(name.clone(), arg);
            args.insert(*param, name);
        }
        let input = |var: VarId| args.get(&var).cloned().unwrap_or_else(|| clause::now(var));
        let mut failing = clause.clone();
        failing.require(self.fails_from(call.callee, &input));
        failing.conclude(self.fails(self.program.locs[edge.from].proc), text);
        let results = (0..self.program.procs[call.callee].results.len()).map(clause::result);
        let at_return = self.modified[call.callee].iter().copied().map(clause::next);
        let inputs = self.inputs(call.callee).map(input);
        clause.require(clause::apply('S', call.callee.index(), inputs.chain(at_return).chain(results)));
        let after = |var: VarId| self.after_call(call, var);
        if edge.ensures != Expr::TRUE {
            clause.require(clause::value(&edge.ensures, "c", &after, &after));
        }
        clause.conclude(self.there(edge.to, &after), text);
    }

    /// Returns the value of a caller's variable after a call: a result, the value left by the callee, or the old value.
    fn after_call(&self, call: &Call, var: VarId) -> String {
        match call.results.iter().position(|result| *result == Some(var)) {
            Some(number) => clause::result(number),
            None if self.modified[call.callee].contains(&var) => clause::next(var),
            None => clause::now(var),
        }
    }

    fn returns(&self, edge: &Edge, values: &[Expr], text: &mut String) {
        let proc: ProcId = self.program.locs[edge.from].proc;
        let mut clause = Clause::at(self.here(edge.from));
        for (number, value) in values.iter().enumerate() {
            clause.define(clause::result(number), value);
        }
        let entry = self.inputs(proc).map(|var| self.at_entry(proc, var));
        let now = self.modified[proc].iter().copied().map(clause::now);
        let results = (0..self.program.procs[proc].results.len()).map(clause::result);
        clause.conclude(clause::apply('S', proc.index(), entry.chain(now).chain(results)), text);
    }
}
