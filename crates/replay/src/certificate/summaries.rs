//! Certificates for programs with one thread: a formula per location and a summary per procedure.
//!
//! For each location `n` of a procedure, *P(n)* relates the variables now to those at the procedure's entry; for each
//! procedure `f`, *S(f)* relates entry and return. The questions, each of which must have no solution:
//!
//! 1. a start of the program outside *P* of the first location, entry and now being the same;
//! 2. for each assignment and assertion from `n` to `m`: *P(n)*, a step, and not *P(m)* after it;
//! 3. for each call from `n` of `f`: *P(n)*, and not *P* of the entry of `f` for the arguments;
//! 4. for each call from `n` to `m` of `f`: *P(n)*, *S(f)* for the arguments, what the call ensures and not *P(m)*,
//!    both with the results;
//! 5. for each return from `n` of `f`: *P(n)*, and not *S(f)* for the returned values;
//! 6. *P* of a target location; *P(n)* and the failure of a target assertion at `n`.
//!
//! By induction over the length of an execution, every state of it satisfies *P* of its location in each frame: so no
//! error is ever met. A location without formula is never reached, a procedure without summary never returns.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::formula::{Atom, FormulaId};
use selvedge_check::{Run, SummaryProof, Task};
use selvedge_ir::{Edge, EdgeId, EntryId, LocId, Op, ProcId, Program, Scope, VarId};

use super::encode;
use super::sat::{Lit, Sat};
use super::{Flaw, Refused};
use crate::program::is_sequential;
use crate::semantics::{Control, Effect, Meaning, Scene, Writes, call_of, control, of_scope, results};

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &SummaryProof, run: &Run<'_>) -> Result<(), Refused> {
    in_scope(task.program)?;
    let sorted = proof.locs.is_sorted_by_key(|(loc, _)| *loc) && proof.procs.is_sorted_by_key(|(proc, _)| *proc);
    let known = proof.locs.iter().all(|(loc, _)| loc.index() < task.program.locs.len());
    if !sorted || !known || proof.procs.iter().any(|(proc, _)| proc.index() >= task.program.procs.len()) {
        return Err(Flaw::Malformed(None).into());
    }
    let checker = Checker { task, proof, run, called: called(task.program) };
    checker.start()?;
    for (id, edge) in task.program.edges.iter_enumerated() {
        run.check_limits()?;
        if let Some(here) = proof.loc(edge.from) {
            checker.edge(id, edge, here)?;
        }
    }
    task.target.locs.iter().try_for_each(|loc| checker.location(*loc))
}

/// One thread, Boolean variables, and a prelude that ends by returning.
fn in_scope(program: &Program) -> Result<(), Flaw> {
    is_sequential(program)?;
    if program.prelude.is_some_and(|prelude| ends_inside(program, prelude)) {
        return Err(Flaw::OutOfScope("its prelude may end in the middle"));
    }
    Ok(())
}

/// Returns whether a procedure, or one that it calls, has an edge that ends the thread.
fn ends_inside(program: &Program, proc: ProcId) -> bool {
    let (mut seen, mut waiting) = (BTreeSet::from([proc]), vec![proc]);
    while let Some(proc) = waiting.pop() {
        for edge in program.edges.iter().filter(|edge| program.locs[edge.from].proc == proc) {
            match &edge.op {
                Op::End => return true,
                Op::Call(call) if seen.insert(call.callee) => waiting.push(call.callee),
                _ => {}
            }
        }
    }
    false
}

/// The procedures that must have a summary for their returns: those that are called, and the prelude.
fn called(program: &Program) -> BTreeSet<ProcId> {
    let callees = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Call(call) => Some(call.callee),
        _ => None,
    });
    callees.chain(program.prelude).collect()
}

struct Checker<'a> {
    task: &'a Task<'a>,
    proof: &'a SummaryProof,
    run: &'a Run<'a>,
    called: BTreeSet<ProcId>,
}

/// A valuation under construction: a literal per variable, made when it is first needed.
#[derive(Clone, Default)]
struct Column(BTreeMap<VarId, Lit>);

impl Column {
    fn get(&mut self, sat: &mut Sat<'_>, var: VarId) -> Lit {
        *self.0.entry(var).or_insert_with(|| sat.fresh())
    }

    /// Writes new values; a variable with any value gets its literal when it is needed.
    fn write(&mut self, writes: Writes<Lit>) {
        for (var, value) in writes {
            match value {
                Some(value) => drop(self.0.insert(var, value)),
                None => drop(self.0.remove(&var)),
            }
        }
    }

    /// The values of shared and per-thread variables, all of which have literals then.
    fn globals(&mut self, sat: &mut Sat<'_>, program: &Program) -> Column {
        let vars = of_scope(program, Scope::Shared).chain(of_scope(program, Scope::Thread));
        Column(vars.map(|var| (var, self.get(sat, var))).collect())
    }
}

/// The values before a step, and those that it chooses.
#[derive(Default)]
struct Now {
    vars: Column,
    choices: BTreeMap<u32, Lit>,
}

impl<'r> Scene<Sat<'r>> for Now {
    fn read(&mut self, sat: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        Ok(self.vars.get(sat, var))
    }

    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        Ok(*self.choices.entry(number).or_insert_with(|| sat.fresh()))
    }
}

/// Questions under construction about a procedure that runs: its variables at the entry and now.
struct Question<'a> {
    checker: &'a Checker<'a>,
    sat: Sat<'a>,
    proc: ProcId,
    entry: Column,
    now: Now,
}

impl<'a> Checker<'a> {
    /// Questions about a procedure of which nothing is known.
    fn blank(&'a self, proc: ProcId) -> Question<'a> {
        Question { checker: self, sat: Sat::new(self.run), proc, entry: Column::default(), now: Now::default() }
    }

    /// Questions about a procedure in which a formula holds.
    fn question(&'a self, proc: ProcId, here: FormulaId) -> Result<Question<'a>, Refused> {
        let mut question = self.blank(proc);
        let holds = question.formula(here, None)?;
        question.sat.require(holds);
        Ok(question)
    }

    /// Question 1: the prelude begins in every initial state, and the thread in every state in which it returns; or the
    /// thread begins in every initial state.
    fn start(&'a self) -> Result<(), Refused> {
        let program = self.task.program;
        let kind = EntryId::new(0);
        let first = program.prelude.unwrap_or(program.entries[kind].proc);
        let mut question = self.blank(first);
        let shared = question.meaning().start_shared()?;
        question.now.vars.write(shared);
        if let Some(prelude) = program.prelude {
            let begun = question.meaning().begin(prelude)?;
            question.now.vars.write(begun);
            question.begins(prelude, Flaw::Start(program.procs[prelude].entry))?;
            let Some(summary) = self.proof.proc(prelude) else { return Ok(()) };
            let entry = question.now.vars.globals(&mut question.sat, program);
            question.returned(prelude, summary, entry)?;
        }
        question.now.choices.clear();
        let begun = question.meaning().start_thread(kind)?;
        question.now.vars.write(begun);
        let proc = program.entries[kind].proc;
        question.begins(proc, Flaw::Start(program.procs[proc].entry))
    }

    /// Questions 2 to 6 for one edge whose location is reached.
    fn edge(&'a self, id: EdgeId, edge: &Edge, here: FormulaId) -> Result<(), Refused> {
        let program = self.task.program;
        let proc = program.locs[edge.from].proc;
        let mut question = self.question(proc, here)?;
        if let (Op::Return(exprs), true) = (&edge.op, self.called.contains(&proc)) {
            let results = question.meaning().values(exprs)?;
            return question.returns(&results, Flaw::Summary(id));
        }
        let Effect { conditions, asserted, writes, .. } = question.meaning().effect(edge, None)?;
        conditions.into_iter().for_each(|condition| question.sat.require(condition));
        if let Some(holds) = asserted {
            if self.task.target.has_assert(id) {
                question.sat.refute(&[!holds], Flaw::Assert(id))?;
            }
            question.sat.require(holds);
        }
        match control(edge, None) {
            Control::Go(to) => {
                question.now.vars.write(writes);
                question.must_hold(to, Flaw::NotClosed(id))
            }
            Control::Call(callee) => question.call(id, callee, writes),
            Control::Return(_) => unreachable!("there is no caller"),
            Control::End => Ok(()),
        }
    }

    fn location(&'a self, loc: LocId) -> Result<(), Refused> {
        let Some(here) = self.proof.loc(loc) else { return Ok(()) };
        self.question(self.task.program.locs[loc].proc, here)?.sat.refute(&[], Flaw::Location(loc))
    }
}

impl<'a> Question<'a> {
    fn meaning(&mut self) -> Meaning<'_, Sat<'a>, Now> {
        Meaning::new(self.checker.task.program, &mut self.sat, &mut self.now)
    }

    /// The gate of a formula about this procedure: at a location, or, with the returned values, at its return.
    fn formula(&mut self, id: FormulaId, results: Option<&[Lit]>) -> Result<Lit, Refused> {
        let (program, proc) = (self.checker.task.program, self.proc);
        let (entry, now) = (&mut self.entry, &mut self.now.vars);
        let is_visible = |var: VarId, may_be_local: bool| match program.vars.get(var).map(|var| var.scope) {
            Some(Scope::Shared | Scope::Thread) => true,
            Some(Scope::Local(owner)) => owner == proc && may_be_local,
            None => false,
        };
        let mut atom = |sat: &mut Sat<'_>, atom: Atom| match atom {
            Atom::Now(var) if is_visible(var, results.is_none()) => Some(now.get(sat, var)),
            Atom::Entry(var) if is_visible(var, program.procs[proc].params.contains(&var)) => Some(entry.get(sat, var)),
            Atom::Result(number) => results?.get(number as usize).copied(),
            _ => None,
        };
        encode::formula(&mut self.sat, &self.checker.proof.formulas, id, &mut atom)
            .ok_or(Flaw::Malformed(Some(proc)).into())
    }

    /// The formula of a location must hold, or the location must not be reached. The question may go on then.
    fn must_hold(&mut self, loc: LocId, flaw: Flaw) -> Result<(), Refused> {
        let holds = match self.checker.proof.loc(loc) {
            Some(there) => self.formula(there, None)?,
            None => self.sat.constant(false),
        };
        self.sat.refute(&[!holds], flaw)
    }

    /// Questions 1 and 3: a procedure begins with the values of `now`; its entry is the same.
    fn begins(&mut self, proc: ProcId, flaw: Flaw) -> Result<(), Refused> {
        let program = self.checker.task.program;
        let mut entry = self.now.vars.globals(&mut self.sat, program);
        let params = program.procs[proc].params.iter();
        entry.0.extend(params.map(|param| (*param, self.now.vars.get(&mut self.sat, *param))));
        (self.proc, self.entry) = (proc, entry);
        self.must_hold(program.procs[proc].entry, flaw)
    }

    /// Question 5: the summary must allow the return.
    fn returns(mut self, results: &[Lit], flaw: Flaw) -> Result<(), Refused> {
        if let Some(summary) = self.checker.proof.proc(self.proc) {
            let allowed = self.formula(summary, Some(results))?;
            self.sat.require(!allowed);
        }
        self.sat.refute(&[], flaw)
    }

    /// A procedure that was entered with these values has returned as its summary says; returns its results.
    fn returned(&mut self, callee: ProcId, summary: FormulaId, entry: Column) -> Result<Vec<Lit>, Refused> {
        (self.proc, self.entry, self.now) = (callee, entry, Now::default());
        let results = self.checker.task.program.procs[callee].results.iter().map(|_| self.sat.fresh());
        let results: Vec<Lit> = results.collect();
        let allowed = self.formula(summary, Some(&results))?;
        self.sat.require(allowed);
        Ok(results)
    }

    /// Questions 3 and 4: `frame` are the variables of the callee's frame.
    fn call(mut self, id: EdgeId, callee: ProcId, frame: Writes<Lit>) -> Result<(), Refused> {
        let program = self.checker.task.program;
        let globals = self.now.vars.globals(&mut self.sat, program);
        let (caller, caller_entry) = (self.proc, std::mem::take(&mut self.entry));
        let mut caller_now = std::mem::replace(&mut self.now, Now { vars: globals, ..Now::default() });
        self.now.vars.write(frame);
        self.begins(callee, Flaw::Entry(id))?;
        let Some(summary) = self.checker.proof.proc(callee) else { return Ok(()) };
        let entry = self.entry.clone();
        let values = self.returned(callee, summary, entry)?;
        let after = self.now.vars.globals(&mut self.sat, program);
        caller_now.vars.0.extend(after.0);
        caller_now.vars.write(results(call_of(program, id), values));
        (self.proc, self.entry, self.now) = (caller, caller_entry, caller_now);
        let ensured = self.meaning().value(&program.edges[id].ensures)?;
        self.sat.require(ensured);
        self.must_hold(program.edges[id].to, Flaw::NotClosed(id))
    }
}
