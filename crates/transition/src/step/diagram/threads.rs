//! Beginning threads, threads with given values, and starting threads, for every layout with variables of several
//! threads.
//!
//! Only the variables in [`Kept`] are kept at the location of a thread; the functions here are about those.

use selvedge_ir::trace::{Fresh, StartThread, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, EntryId, Expr, LocId, Op, Program, Spawn, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var, VarSet};

use super::relation::{Assignment, Layout, When};
use crate::macro_step::place::Place;
use crate::step::vars::{Kept, Slots};
use crate::trace_builder::TraceBuilder;

/// A thread on the way back from an error: its name, where it is, and the values of its variables by slot.
#[derive(Clone, Debug)]
pub struct Live {
    /// A number of its own; the numbers of the trace follow when the whole execution is known.
    pub name: usize,
    /// The place of the thread.
    pub place: Place,
    /// The values of its variables, by slot.
    pub locals: Vec<bool>,
}

/// Values of the shared variables and of a thread's, by slot.
#[derive(Clone, Copy)]
pub struct Values<'v> {
    /// The values of the shared variables.
    pub shared: &'v [bool],
    /// The values of the thread's variables.
    pub locals: &'v [bool],
}

/// A layout with variables of several threads.
pub trait ThreadLayout: Layout {
    /// Returns the slots of variables in valuations.
    fn slots(&self) -> &Slots;

    /// Returns which variables are kept.
    fn kept_vars(&self) -> &Kept;

    /// Returns the set of all choices.
    fn choice_set(&self) -> &VarSet;

    /// Returns the positions of variables, now.
    fn nows(&self, agent: Self::Agent, vars: &[VarId]) -> Vec<Var> {
        vars.iter().map(|var| self.position(*var, agent, When::Now)).collect()
    }

    /// Requires given values of variables, now.
    fn fixed(&self, agent: Self::Agent, vars: &[VarId], values: &[bool]) -> Result<Bdd, OutOfNodes> {
        let literal = |var: &VarId| (self.position(*var, agent, When::Now), values[self.slots().get(*var)]);
        self.manager().cube(&vars.iter().map(literal).collect::<Vec<_>>())
    }

    /// Requires that a variable has the value of an expression, now.
    fn has_value(&self, agent: Self::Agent, (var, rhs): &(VarId, Expr)) -> Result<Bdd, OutOfNodes> {
        self.literal(*var, agent, When::Now)?.iff(&self.value(agent, rhs)?)
    }

    /// Returns the shared valuations at the start.
    fn start(&self, program: &Program, agent: Self::Agent) -> Result<Bdd, OutOfNodes> {
        let mut start = self.manager().top();
        for init in &program.init {
            start = start.and(&self.has_value(agent, init)?)?;
        }
        let dead = self.nows(agent, &self.kept_vars().dead_shared);
        start.exists(self.choice_set())?.exists(&self.manager().var_set(&dead)?)
    }

    /// Returns the valuations of the prelude's thread at its beginning.
    fn prelude(&self, agent: Self::Agent, loc: LocId) -> Result<Bdd, OutOfNodes> {
        let kept = self.slots().thread_vars.iter().filter(|var| self.kept_vars().at(loc).contains(var));
        let all_false: Vec<_> = kept.map(|var| (self.position(*var, agent, When::Now), false)).collect();
        self.manager().cube(&all_false)
    }

    /// Returns the valuations of an initial thread, by the shared valuation at its start.
    fn entry(&self, program: &Program, agent: Self::Agent, id: EntryId) -> Result<Bdd, OutOfNodes> {
        let entry = &program.entries[id];
        let loc = program.procs[entry.proc].entry;
        let mut relation = self.manager().top();
        for init in &entry.init {
            relation = relation.and(&self.has_value(agent, init)?)?;
        }
        for var in self.slots().thread_vars.iter().filter(|var| !entry.thread_vars.contains(var)) {
            relation = relation.minus(&self.literal(*var, agent, When::Now)?)?;
        }
        let dead = self.nows(agent, self.kept_vars().dead(loc));
        relation.exists(self.choice_set())?.exists(&self.manager().var_set(&dead)?)
    }

    /// Adds to states of a thread a copy of it at a location, as far as its variables are kept there.
    fn forked(&self, set: &Bdd, [mover, child]: [Self::Agent; 2], at: LocId) -> Result<Bdd, OutOfNodes> {
        let kept = self.kept_vars().at(at).iter();
        kept.into_iter().try_fold(set.clone(), |joint, var| joint.and(&self.copied(*var, [mover, child])?))
    }

    /// Adds to states of a thread a new one that runs a procedure. Locals that are not parameters have any value.
    fn spawned(
        &self,
        program: &Program,
        set: &Bdd,
        [mover, child]: [Self::Agent; 2],
        spawn: &Spawn,
    ) -> Result<Bdd, OutOfNodes> {
        let callee = &program.procs[spawn.callee];
        let is_kept = |var: &VarId| self.kept_vars().at(callee.entry).contains(var);
        let mut joint = set.clone();
        for (param, arg) in callee.params.iter().zip(&spawn.args).filter(|(param, _)| is_kept(param)) {
            joint = joint.and(&self.literal(*param, child, When::Now)?.iff(&self.value(mover, arg)?)?)?;
        }
        let joint = joint.exists(self.choice_set())?;
        let inherited = self.slots().thread_vars.iter().filter(|var| is_kept(var));
        inherited.into_iter().try_fold(joint, |joint, var| joint.and(&self.copied(*var, [mover, child])?))
    }

    /// Requires that a variable has the same value in two threads.
    fn copied(&self, var: VarId, [mover, child]: [Self::Agent; 2]) -> Result<Bdd, OutOfNodes> {
        self.literal(var, child, When::Now)?.iff(&self.literal(var, mover, When::Now)?)
    }

    /// Requires that an expression has a given value.
    fn equals(&self, diagram: &Bdd, value: bool) -> Result<Bdd, OutOfNodes> {
        diagram.iff(&self.manager().constant(value))
    }

    /// Returns the old values and choices with which an assignment of a thread leads to given values at a location.
    fn before_assign(
        &self,
        mover: Self::Agent,
        assign: &Assign,
        loc: LocId,
        values: Values<'_>,
    ) -> Result<Bdd, OutOfNodes> {
        let (shared, kept) = (&self.kept_vars().shared, self.kept_vars().at(loc));
        let is_assigned = |var: &VarId| assign.active.iter().any(|(target, _)| target == var);
        let others = |vars: &[VarId]| -> Vec<VarId> { vars.iter().copied().filter(|var| !is_assigned(var)).collect() };
        let mut before = self.fixed(mover, &others(shared), values.shared)?;
        before = before.and(&self.fixed(mover, &others(kept), values.locals)?)?;
        for (var, rhs) in assign.active.iter().filter(|(var, _)| shared.contains(var) || kept.contains(var)) {
            let value = self.value_of(values, *var);
            before = before.and(&self.equals(&self.value(mover, rhs)?, value)?)?;
        }
        if assign.constrain.is_passive() {
            return Ok(before);
        }
        before.and(&self.resolved(&Assignment::of(mover, assign), &assign.constrain)?)
    }

    /// Returns the old values and choices with which a thread that takes part in an assignment gets given values at its
    /// location.
    fn before_part(&self, step: &Assignment<'_, Self::Agent>, loc: LocId, locals: &[bool]) -> Result<Bdd, OutOfNodes> {
        let Some((peer, part)) = step.peer else { return Ok(self.manager().top()) };
        let kept = self.kept_vars().at(loc);
        let others: Vec<VarId> = kept.iter().copied().filter(|var| !part.assigns(*var)).collect();
        let mut before = self.fixed(peer, &others, locals)?;
        for (var, rhs) in part.assigned.iter().filter(|(var, _)| kept.contains(var)) {
            let value = locals[self.slots().get(*var)];
            before = before.and(&self.equals(&self.resolved(step, rhs)?, value)?)?;
        }
        match part.constrain {
            Some(constrain) => before.and(&self.resolved(step, constrain)?),
            None => Ok(before),
        }
    }

    /// Returns the old values and choices with which a step starts a thread that has given values.
    fn before_start(&self, program: &Program, mover: Self::Agent, op: &Op, locals: &[bool]) -> Result<Bdd, OutOfNodes> {
        match op {
            Op::Fork(at) => self.fixed(mover, self.kept_vars().at(*at), locals),
            Op::Spawn(spawn) => {
                let callee = &program.procs[spawn.callee];
                let is_kept = |var: &&VarId| self.kept_vars().at(callee.entry).contains(var);
                let copied: Vec<VarId> = self.slots().thread_vars.iter().filter(is_kept).copied().collect();
                let mut before = self.fixed(mover, &copied, locals)?;
                for (param, arg) in callee.params.iter().zip(&spawn.args).filter(|(param, _)| is_kept(param)) {
                    let value = locals[self.slots().get(*param)];
                    before = before.and(&self.equals(&self.value(mover, arg)?, value)?)?;
                }
                Ok(before)
            }
            _ => unreachable!("only these operations start threads"),
        }
    }

    /// Returns the value of a variable.
    fn value_of(&self, values: Values<'_>, var: VarId) -> bool {
        let of = if self.slots().is_shared(var) { values.shared } else { values.locals };
        of[self.slots().get(var)]
    }

    /// Returns the fresh values of variables of a thread, as far as they are kept at a location.
    fn fresh(&self, vars: impl Iterator<Item = VarId>, loc: LocId, locals: &[bool]) -> Fresh
    where
        Self: Sized,
    {
        let kept = vars.filter(|var| self.kept_vars().at(loc).contains(var));
        kept.map(|var| (var, Value::Bool(locals[self.slots().get(var)]))).collect()
    }

    /// Returns the fresh values of a thread that a step has started: its locals that are not parameters.
    fn fresh_of_started(&self, program: &Program, op: &Op, locals: &[bool]) -> Fresh
    where
        Self: Sized,
    {
        let Op::Spawn(spawn) = op else { return Vec::new() };
        let callee = &program.procs[spawn.callee];
        let open = callee.locals.iter().copied().filter(|var| !callee.params.contains(var));
        self.fresh(open, callee.entry, locals)
    }

    /// Returns the choices of initial values that lead to given values, of variables that are kept at a location.
    fn initial_choices(
        &self,
        agent: Self::Agent,
        init: &[(VarId, Expr)],
        kept: &[VarId],
        values: Values<'_>,
    ) -> Result<Vec<Value>, OutOfNodes> {
        let shared = &self.kept_vars().shared;
        let mut all = self.fixed(agent, shared, values.shared)?;
        for (var, rhs) in init.iter().filter(|(var, _)| shared.contains(var) || kept.contains(var)) {
            all = all.and(&self.equals(&self.value(agent, rhs)?, self.value_of(values, *var))?)?;
        }
        let choices = all.pick(self.choices()).expect("the start was reached with these values");
        let n_choices = choice_types(init.iter().map(|(_, rhs)| rhs)).len();
        Ok(choices[..n_choices].iter().map(|choice| Value::Bool(*choice)).collect())
    }

    /// Returns how an initial thread begins with given values.
    fn start_thread(
        &self,
        program: &Program,
        agent: Self::Agent,
        shared: &[bool],
        live: &Live,
    ) -> Result<StartThread, OutOfNodes>
    where
        Self: Sized,
    {
        let id = live.place.entry().expect("initial threads have a template");
        let entry = &program.entries[id];
        let is_open = |var: &VarId| !entry.init.iter().any(|(known, _)| known == var);
        let open = entry.thread_vars.iter().copied().filter(is_open);
        let all = open.chain(program.procs[entry.proc].locals.iter().copied());
        let fresh = self.fresh(all, live.place.loc, &live.locals);
        let kept = self.kept_vars().at(live.place.loc);
        let values = Values { shared, locals: &live.locals };
        Ok(StartThread { entry: id, choices: self.initial_choices(agent, &entry.init, kept, values)?, fresh })
    }

    /// Completes an execution whose first state has these values: of the prelude alone, if the program has one, else of
    /// the initial threads.
    fn finish(
        &self,
        mut builder: TraceBuilder,
        program: &Program,
        shared: &[bool],
        threads: &[(Self::Agent, Live)],
        agent: Self::Agent,
    ) -> Result<Trace, OutOfNodes>
    where
        Self: Sized,
    {
        let is_open = |var: &&VarId| !program.init.iter().any(|(known, _)| known == *var);
        let open = self.kept_vars().shared.iter().filter(is_open);
        let mut fresh: Fresh = open.map(|var| (*var, Value::Bool(shared[self.slots().get(*var)]))).collect();
        let mut first = None;
        if let Some(proc) = program.prelude {
            let [(_, prelude)] = threads else { unreachable!("the prelude begins alone") };
            fresh.extend(self.fresh(program.procs[proc].locals.iter().copied(), prelude.place.loc, &prelude.locals));
            first = Some(prelude.name);
        } else {
            let start = |(agent, live): &(Self::Agent, Live)| {
                Ok((live.name, self.start_thread(program, *agent, shared, live)?))
            };
            builder.starts = threads.iter().map(start).collect::<Result<_, OutOfNodes>>()?;
        }
        let values = Values { shared, locals: &[] };
        let choices = self.initial_choices(agent, &program.init, &[], values)?;
        Ok(builder.build(program, first, choices, fresh))
    }
}
