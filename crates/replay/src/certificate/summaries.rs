//! Certificates for programs with one thread: a formula per location and a summary per procedure.
//!
//! For each location `n` of a procedure, *P(n)* relates the variables now to those at the procedure's entry; for each
//! procedure `f`, *S(f)* relates entry and return. The questions, each of which must have no solution:
//!
//! 1. a start of the program outside *P* of the first location, entry and now being the same;
//! 2. for each assignment and assertion from `n` to `m`: *P(n)*, a step, and not *P(m)* after it;
//! 3. for each call from `n` of `f`: *P(n)*, and not *P* of the entry of `f` for the arguments;
//! 4. for each call from `n` to `m` of `f`: *P(n)*, *S(f)* for the arguments, and not *P(m)* with the results;
//! 5. for each return from `n` of `f`: *P(n)*, and not *S(f)* for the returned values;
//! 6. *P* of a target location; *P(n)* and the failure of a target assertion at `n`.
//!
//! By induction over the length of an execution, every state of it satisfies *P* of its location in each frame: so no
//! error is ever met. A location without formula is never reached, a procedure without summary never returns.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::formula::{Atom, FormulaId};
use selvedge_check::{Run, SummaryProof, Task};
use selvedge_ir::callgraph::{CallGraph, Through, is_sequential};
use selvedge_ir::{Assign, Call, Edge, EdgeId, Expr, LocId, Op, ProcId, Program, Scope, Ty, VarId};

use super::encode;
use super::sat::{Lit, Sat};
use super::{Flaw, Refused};

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &SummaryProof, run: &Run<'_>) -> Result<(), Refused> {
    in_scope(task.program)?;
    let sorted = proof.locs.is_sorted_by_key(|(loc, _)| *loc) && proof.procs.is_sorted_by_key(|(proc, _)| *proc);
    let known = proof.locs.iter().all(|(loc, _)| loc.index() < task.program.locs.len());
    if !sorted || !known || proof.procs.iter().any(|(proc, _)| proc.index() >= task.program.procs.len()) {
        return Err(Flaw::Malformed(None).into());
    }
    let checker = Checker { task, proof, run, globals: globals(task.program), called: called(task.program) };
    checker.start()?;
    for (id, edge) in task.program.edges.iter_enumerated() {
        run.check_limits()?;
        if let Some(here) = proof.loc(edge.from) {
            checker.edge(id, edge, here)?;
        }
    }
    for loc in &task.target.locs {
        checker.location(*loc)?;
    }
    Ok(())
}

/// One thread, Boolean variables, and a prelude that ends by returning.
fn in_scope(program: &Program) -> Result<(), Refused> {
    if !is_sequential(program) {
        return Err(Flaw::OutOfScope("it has several threads").into());
    }
    if program.vars.iter().any(|var| var.ty != Ty::Bool) {
        return Err(Flaw::OutOfScope("it has integers").into());
    }
    if let Some(prelude) = program.prelude {
        let runs = CallGraph::new(program).reachable([prelude], Through::Calls);
        if program.edges.iter().any(|edge| edge.op == Op::End && runs[program.locs[edge.from].proc]) {
            return Err(Flaw::OutOfScope("its prelude may end in the middle").into());
        }
    }
    Ok(())
}

struct Checker<'a> {
    task: &'a Task<'a>,
    proof: &'a SummaryProof,
    run: &'a Run<'a>,
    /// The shared and per-thread variables.
    globals: Vec<VarId>,
    /// Which procedures must have a summary for their returns.
    called: BTreeSet<ProcId>,
}

fn globals(program: &Program) -> Vec<VarId> {
    let is_global = |var: &VarId| !matches!(program.vars[*var].scope, Scope::Local(_));
    program.vars.indices().filter(is_global).collect()
}

/// The procedures that somebody calls, and the prelude.
fn called(program: &Program) -> BTreeSet<ProcId> {
    let callees = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Call(call) => Some(call.callee),
        _ => None,
    });
    callees.chain(program.prelude).collect()
}

/// A valuation under construction: a literal per variable, made when it is first asked for.
#[derive(Default)]
struct Column(BTreeMap<VarId, Lit>);

impl Column {
    fn get(&mut self, sat: &mut Sat<'_>, var: VarId) -> Lit {
        *self.0.entry(var).or_insert_with(|| sat.fresh())
    }
}

/// One question under construction, about a procedure that runs: its variables at the entry and now, and the values of
/// the edge's choices.
struct Question<'a> {
    checker: &'a Checker<'a>,
    sat: Sat<'a>,
    proc: ProcId,
    entry: Column,
    now: Column,
    choices: BTreeMap<u32, Lit>,
}

impl<'a> Checker<'a> {
    fn program(&self) -> &'a Program {
        self.task.program
    }

    /// A question about a procedure in which the formula holds, entry and now being any that satisfy it.
    fn question(&'a self, proc: ProcId, here: FormulaId) -> Result<Question<'a>, Refused> {
        let mut question = self.blank(proc);
        let lit = question.formula(here, Place::Now)?;
        question.sat.require(lit);
        Ok(question)
    }

    fn blank(&'a self, proc: ProcId) -> Question<'a> {
        let (entry, now) = (Column::default(), Column::default());
        Question { checker: self, sat: Sat::new(self.run), proc, entry, now, choices: BTreeMap::new() }
    }

    /// Question 1, for the prelude and for the one initial thread.
    fn start(&'a self) -> Result<(), Refused> {
        let program = self.program();
        let kind = program.entries.first().expect("a program with one thread has one kind of thread");
        let mut shared = Column::default();
        let mut question = self.blank(program.prelude.unwrap_or(kind.proc));
        for (var, rhs) in &program.init {
            let value = question.expr(rhs, None)?;
            shared.0.insert(*var, value);
        }
        if let Some(prelude) = program.prelude {
            let no_thread_vars = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Thread);
            let falsehood = question.sat.constant(false);
            shared.0.extend(no_thread_vars.map(|var| (var, falsehood)));
            self.blank_from(prelude, &shared, question)?;
            return self.start_after_prelude(prelude);
        }
        self.thread_start(question, shared)
    }

    /// The prelude begins in every initial state.
    fn blank_from(&'a self, prelude: ProcId, shared: &Column, mut question: Question<'a>) -> Result<(), Refused> {
        question.now.0.clone_from(&shared.0);
        question.begins(prelude, Flaw::Start(self.program().procs[prelude].entry))
    }

    /// The thread begins in every state in which the prelude returns from an initial state.
    fn start_after_prelude(&'a self, prelude: ProcId) -> Result<(), Refused> {
        let Some(summary) = self.proof.proc(prelude) else { return Ok(()) };
        let mut question = self.blank(prelude);
        for (var, rhs) in &self.program().init {
            let value = question.expr(rhs, None)?;
            question.entry.0.insert(*var, value);
        }
        let mut results = Vec::new();
        let lit = question.formula(summary, Place::Return(&mut results))?;
        question.sat.require(lit);
        let after = std::mem::take(&mut question.now);
        question.choices.clear();
        self.thread_start(question, after)
    }

    /// The initial thread begins, whatever the shared variables of the column are.
    fn thread_start(&'a self, mut question: Question<'a>, shared: Column) -> Result<(), Refused> {
        let program = self.program();
        let kind = program.entries.first().expect("a program with one thread has one kind of thread");
        question.proc = kind.proc;
        question.entry = Column::default();
        question.now =
            Column(shared.0.into_iter().filter(|(var, _)| program.vars[*var].scope == Scope::Shared).collect());
        question.choices.clear();
        let mut values = Vec::new();
        for (var, rhs) in &kind.init {
            values.push((*var, question.expr(rhs, None)?));
        }
        let falsehood = question.sat.constant(false);
        for (var, _) in program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Thread) {
            if !kind.thread_vars.contains(&var) {
                question.now.0.insert(var, falsehood);
            }
        }
        question.now.0.extend(values);
        question.begins(kind.proc, Flaw::Start(program.procs[kind.proc].entry))
    }

    /// Questions 2 to 6 for one edge whose location is reached.
    fn edge(&'a self, id: EdgeId, edge: &Edge, here: FormulaId) -> Result<(), Refused> {
        let proc = self.program().locs[edge.from].proc;
        match &edge.op {
            Op::Assign(assign) => self.question(proc, here)?.assign(assign, id, edge.to),
            Op::Assert(condition) => self.assert(id, edge, here, condition),
            Op::AtomicBegin | Op::AtomicEnd => self.question(proc, here)?.assign(&Assign::skip(), id, edge.to),
            Op::Call(call) => self.call(id, edge, here, call),
            Op::Return(values) => self.return_from(id, proc, here, values),
            Op::End => Ok(()),
            Op::Spawn(_) | Op::Fork(_) => Err(Flaw::OutOfScope("it has several threads").into()),
        }
    }

    fn assert(&'a self, id: EdgeId, edge: &Edge, here: FormulaId, condition: &Expr) -> Result<(), Refused> {
        let proc = self.program().locs[edge.from].proc;
        if self.task.target.has_assert(id) {
            let mut question = self.question(proc, here)?;
            let holds = question.expr(condition, None)?;
            question.sat.require(!holds);
            question.no_solution(Flaw::Assert(id))?;
        }
        self.question(proc, here)?.assign(&Assign::assume(condition.clone()), id, edge.to)
    }

    fn call(&'a self, id: EdgeId, edge: &Edge, here: FormulaId, call: &Call) -> Result<(), Refused> {
        let proc = self.program().locs[edge.from].proc;
        let mut entering = self.question(proc, here)?;
        let args = entering.args(call)?;
        entering.callee(args).begins(call.callee, Flaw::Entry(id))?;
        match self.proof.proc(call.callee) {
            Some(summary) => self.question(proc, here)?.returned(call, summary, id, edge.to),
            None => Ok(()),
        }
    }

    fn return_from(&'a self, id: EdgeId, proc: ProcId, here: FormulaId, values: &[Expr]) -> Result<(), Refused> {
        if !self.called.contains(&proc) {
            return Ok(());
        }
        let mut question = self.question(proc, here)?;
        let mut results = Vec::new();
        for value in values {
            results.push(question.expr(value, None)?);
        }
        if let Some(summary) = self.proof.proc(proc) {
            let lit = question.formula(summary, Place::Return(&mut results))?;
            question.sat.require(!lit);
        }
        question.no_solution(Flaw::Summary(id))
    }

    fn location(&'a self, loc: LocId) -> Result<(), Refused> {
        match self.proof.loc(loc) {
            Some(here) => self.question(self.program().locs[loc].proc, here)?.no_solution(Flaw::Location(loc)),
            None => Ok(()),
        }
    }
}

/// What a formula is about.
enum Place<'l> {
    /// A location: the atoms are about the procedure's variables.
    Now,
    /// A return: the atoms are about shared and per-thread variables and these results, which grow as they are asked
    /// for.
    Return(&'l mut Vec<Lit>),
}

impl<'a> Question<'a> {
    fn program(&self) -> &'a Program {
        self.checker.program()
    }

    /// It must have no solution.
    fn no_solution(mut self, flaw: Flaw) -> Result<(), Refused> {
        if self.sat.satisfiable()? { Err(flaw.into()) } else { Ok(()) }
    }

    /// The gate of an expression; `next` gives the values after the step.
    fn expr(&mut self, expr: &Expr, next: Option<&BTreeMap<VarId, Lit>>) -> Result<Lit, Refused> {
        let (now, choices) = (&mut self.now, &mut self.choices);
        let mut leaf = |sat: &mut Sat<'_>, leaf: &Expr| match leaf {
            Expr::Next(var) => match next.and_then(|next| next.get(var)) {
                Some(value) => *value,
                None => now.get(sat, *var),
            },
            Expr::Choice(number, _) => *choices.entry(*number).or_insert_with(|| sat.fresh()),
            Expr::Var(var) => now.get(sat, *var),
            _ => unreachable!("steps with passive parts are treated as a whole"),
        };
        encode::expr(&mut self.sat, expr, &mut leaf).ok_or(Flaw::OutOfScope("it has integers").into())
    }

    /// The gate of a formula about this procedure.
    fn formula(&mut self, id: FormulaId, place: Place<'_>) -> Result<Lit, Refused> {
        let (program, proc) = (self.checker.program(), self.proc);
        let (entry, now) = (&mut self.entry, &mut self.now);
        let (mut results, at_return) = match place {
            Place::Now => (None, false),
            Place::Return(results) => (Some(results), true),
        };
        let mut atom = |sat: &mut Sat<'_>, atom: Atom| match atom {
            Atom::Now(var) if sees(program, proc, var, at_return) => Some(now.get(sat, var)),
            Atom::Entry(var) if is_input(program, proc, var) => Some(entry.get(sat, var)),
            Atom::Result(number) if (number as usize) < program.procs[proc].results.len() => {
                let results = results.as_mut()?;
                while results.len() <= number as usize {
                    results.push(sat.fresh());
                }
                Some(results[number as usize])
            }
            _ => None,
        };
        encode::formula(&mut self.sat, &self.checker.proof.formulas, id, &mut atom)
            .ok_or(Flaw::Malformed(Some(proc)).into())
    }

    /// Question 2. Without other threads passive assignments do nothing, and passive conditions hold.
    fn assign(mut self, assign: &Assign, id: EdgeId, to: LocId) -> Result<(), Refused> {
        let mut next = BTreeMap::new();
        for (var, rhs) in &assign.active {
            next.insert(*var, self.expr(rhs, None)?);
        }
        if !assign.constrain.is_passive() {
            let constrain = self.expr(&assign.constrain, Some(&next))?;
            self.sat.require(constrain);
        }
        self.now.0.extend(next);
        self.arrives(to, Flaw::NotClosed(id))
    }

    /// The formula of a location must hold.
    fn arrives(mut self, to: LocId, flaw: Flaw) -> Result<(), Refused> {
        if let Some(there) = self.checker.proof.loc(to) {
            let lit = self.formula(there, Place::Now)?;
            self.sat.require(!lit);
        }
        self.no_solution(flaw)
    }

    fn args(&mut self, call: &Call) -> Result<BTreeMap<VarId, Lit>, Refused> {
        let params = &self.program().procs[call.callee].params;
        params.iter().zip(&call.args).map(|(param, arg)| Ok((*param, self.expr(arg, None)?))).collect()
    }

    /// The same moment, seen by the callee.
    fn callee(mut self, args: BTreeMap<VarId, Lit>) -> Question<'a> {
        let program = self.program();
        self.now.0.retain(|var, _| !matches!(program.vars[*var].scope, Scope::Local(_)));
        self.now.0.extend(args);
        self
    }

    /// Questions 1 and 3: a procedure begins with what is known of `now`; its entry is the same.
    fn begins(mut self, proc: ProcId, flaw: Flaw) -> Result<(), Refused> {
        let program = self.program();
        self.proc = proc;
        for var in self.checker.globals.iter().chain(&program.procs[proc].params) {
            self.now.get(&mut self.sat, *var);
        }
        self.entry = Column(self.now.0.clone());
        self.arrives(program.procs[proc].entry, flaw)
    }

    /// Question 4.
    fn returned(mut self, call: &Call, summary: FormulaId, id: EdgeId, to: LocId) -> Result<(), Refused> {
        let program = self.program();
        let is_global = |var: VarId| !matches!(program.vars[var].scope, Scope::Local(_));
        let args = self.args(call)?;
        for var in &self.checker.globals {
            self.now.get(&mut self.sat, *var);
        }
        let globals = self.now.0.iter().filter(|(var, _)| is_global(**var)).map(|(var, lit)| (*var, *lit));
        let callee_entry = Column(globals.chain(args).collect());
        let (caller, caller_entry, caller_now) =
            (self.proc, std::mem::replace(&mut self.entry, callee_entry), std::mem::take(&mut self.now));
        self.proc = call.callee;
        let mut results = Vec::new();
        let lit = self.formula(summary, Place::Return(&mut results))?;
        self.sat.require(lit);
        while results.len() < call.results.len() {
            results.push(self.sat.fresh());
        }
        let locals = caller_now.0.into_iter().filter(|(var, _)| !is_global(*var));
        self.now.0.extend(locals);
        self.now.0.extend(call.results.iter().zip(results).filter_map(|(var, lit)| Some(((*var)?, lit))));
        self.proc = caller;
        self.entry = caller_entry;
        self.arrives(to, Flaw::NotClosed(id))
    }
}

/// Whether a formula about a procedure may speak of the variable; at its return, only of those that outlive it.
fn sees(program: &Program, proc: ProcId, var: VarId, at_return: bool) -> bool {
    program.vars.get(var).is_some_and(|variable| match variable.scope {
        Scope::Shared | Scope::Thread => true,
        Scope::Local(owner) => owner == proc && !at_return,
    })
}

/// Whether the variable has a value when the procedure is entered that a formula may speak of.
fn is_input(program: &Program, proc: ProcId, var: VarId) -> bool {
    program.vars.get(var).is_some_and(|variable| match variable.scope {
        Scope::Shared | Scope::Thread => true,
        Scope::Local(_) => program.procs[proc].params.contains(&var),
    })
}
