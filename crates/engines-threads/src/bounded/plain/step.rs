//! What a step of one thread does to a set of states of the whole program.

use selvedge_check::Role;
use selvedge_ir::{Assign, EdgeId, Expr, LocId, Op, Program, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::passive::{Part, choices, is_common, part};

use super::layout::{Assigned, When};
use super::search::{Key, Search};

impl Search<'_> {
    /// The states that a step of a thread along an edge leads to.
    pub(super) fn follow(
        &mut self,
        key: &Key,
        set: &Bdd,
        thread: usize,
        id: EdgeId,
    ) -> Result<Vec<(Key, Bdd)>, OutOfNodes> {
        let edge = &self.program.edges[id];
        let place = key[thread].expect("only live threads move");
        let mut next = key.clone();
        next[thread] = Some(after(place, &edge.op, edge.to));
        let image = match &edge.op {
            Op::Assign(assign) => self.assigned(key, set, thread, id, assign)?,
            Op::Assert(condition) => {
                let holds = self.layout.expr(thread, condition)?.exists(&self.layout.all_choices)?;
                self.settled(&set.and(&holds)?, thread, edge.to)?
            }
            Op::Return(_) | Op::End => return self.ended(key, set, thread),
            Op::AtomicBegin | Op::AtomicEnd => self.settled(set, thread, edge.to)?,
            Op::Fork(_) | Op::Spawn(_) => {
                let started = self.started(&mut next, set, thread, &edge.op)?;
                self.settled(&started, thread, edge.to)?
            }
            Op::Call(_) => unreachable!("the engine takes programs without calls only"),
        };
        Ok(vec![(next, image)])
    }

    /// Starts a thread, if there is room for one: a copy of this one, or one that runs a procedure.
    fn started(&self, next: &mut Key, set: &Bdd, thread: usize, op: &Op) -> Result<Bdd, OutOfNodes> {
        let Some(child) = self.free_slot(next) else { return Ok(set.clone()) };
        let layout = &self.layout;
        let entry = next[thread].and_then(Place::entry).expect("the prelude starts no threads");
        let (mut both, loc) = (set.clone(), starts_at(self.program, op));
        let kept = layout.kept.at(loc);
        let mut copied: Vec<VarId> = kept.to_vec();
        if let Op::Spawn(spawn) = op {
            let params = &self.program.procs[spawn.callee].params;
            for (param, arg) in params.iter().zip(&spawn.args).filter(|(param, _)| kept.contains(param)) {
                let value = layout.bdd(child, *param, When::Now)?;
                both = both.and(&value.iff(&layout.expr(thread, arg)?)?)?;
            }
            both = both.exists(&layout.all_choices)?;
            copied.retain(|var| layout.slots.thread_vars.contains(var));
        }
        for var in copied {
            both = both.and(&self.copied(thread, child, var)?)?;
        }
        next[child] = Some(Place { role: Role::Free(entry), loc });
        Ok(both)
    }

    /// A variable has the same value in two threads.
    fn copied(&self, thread: usize, child: usize, var: VarId) -> Result<Bdd, OutOfNodes> {
        self.layout.bdd(child, var, When::Now)?.iff(&self.layout.bdd(thread, var, When::Now)?)
    }

    /// The place of a new thread, if there is room for one.
    fn free_slot(&self, key: &Key) -> Option<usize> {
        let n_live = key.iter().flatten().filter(|place| place.role != Role::Prelude).count();
        if n_live < self.bound as usize { key.iter().position(Option::is_none) } else { None }
    }

    /// Forgets what is not kept where a thread stands now.
    fn settled(&self, set: &Bdd, thread: usize, loc: LocId) -> Result<Bdd, OutOfNodes> {
        set.exists(&self.layout.manager.var_set(&self.layout.dead(thread, loc))?)
    }

    /// The thread vanishes; behind a prelude the initial threads come to life.
    fn ended(&mut self, key: &Key, set: &Bdd, thread: usize) -> Result<Vec<(Key, Bdd)>, OutOfNodes> {
        let rest = set.exists(&self.layout.manager.var_set(&self.layout.locals_now(thread))?)?;
        if key[thread].is_some_and(|place| place.role == Role::Prelude) {
            return self.begin(&rest);
        }
        let mut next = key.clone();
        next[thread] = None;
        Ok(vec![(next, rest)])
    }

    /// The image of an assignment.
    fn assigned(
        &mut self,
        key: &Key,
        set: &Bdd,
        thread: usize,
        id: EdgeId,
        assign: &Assign,
    ) -> Result<Bdd, OutOfNodes> {
        let parts = self.parts(key, thread, assign);
        let relation = match self.relations.get(&(id, thread)) {
            Some(known) if parts.is_empty() => known.clone(),
            _ => {
                let relation = self.relation(thread, assign, &parts)?;
                if parts.is_empty() {
                    self.relations.insert((id, thread), relation.clone());
                }
                relation
            }
        };
        let mut all = vec![Assigned { thread, values: assign.active.iter().collect() }];
        all.extend(parts.into_iter().map(|(thread, part)| Assigned { thread, values: part.assigned }));
        let (mut forget, mut rename): (Vec<Var>, Vec<(Var, Var)>) = (Vec::new(), Vec::new());
        let layout = &self.layout;
        for assigned in &all {
            for (var, _) in &assigned.values {
                let now = layout.var(assigned.thread, *var, When::Now);
                forget.push(now);
                rename.push((layout.var(assigned.thread, *var, When::Next), now));
            }
        }
        let image =
            set.and_exists(&relation, &layout.manager.var_set(&forget)?)?.rename(&layout.manager.renaming(&rename))?;
        let mut image = self.settled(&image, thread, self.program.edges[id].to)?;
        for assigned in &all[1..] {
            let place = key[assigned.thread].expect("only live threads take part");
            image = self.settled(&image, assigned.thread, place.loc)?;
        }
        Ok(image)
    }

    /// The other threads that take part in an assignment of a thread, and how.
    pub(super) fn parts<'e>(&self, key: &Key, thread: usize, assign: &'e Assign) -> Vec<(usize, Part<'e>)> {
        if !assign.is_passive() {
            return Vec::new();
        }
        let others = key.iter().enumerate().filter(|(other, _)| *other != thread);
        let live = others.filter_map(|(other, place)| place.map(|place| (other, place)));
        live.filter_map(|(other, place)| part(self.program, assign, place.entry(), place.loc).map(|part| (other, part)))
            .collect()
    }

    /// The relation of an assignment: what it says about the moving thread, and about each that takes part. These make
    /// their own choices, which are forgotten before those in common.
    fn relation(&self, thread: usize, assign: &Assign, parts: &[(usize, Part<'_>)]) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        // A choice of the moving thread also shows in the new values that a condition on others mentions.
        let shares = |number: u32| {
            let shows = |expr: &Expr| {
                choices(expr).contains(&number)
                    || assign.active.iter().any(|(var, rhs)| {
                        let is_new = |leaf: &Expr| matches!(leaf, Expr::Next(next) if next == var);
                        choices(rhs).contains(&number) && expr.any_leaf(is_new)
                    })
            };
            let of = |part: &Part<'_>| part.exprs().any(shows);
            is_common(assign, number) && parts.iter().any(|(_, part)| of(part))
        };
        let constrain = (!assign.constrain.is_passive()).then_some(&assign.constrain);
        let values: Vec<&(VarId, Expr)> = assign.active.iter().collect();
        let equal = |(var, rhs): &&(VarId, Expr)| Ok((layout.var(thread, *var, When::Next), layout.expr(thread, rhs)?));
        let values: Vec<(Var, Bdd)> = values.iter().map(equal).collect::<Result<_, _>>()?;
        let condition = constrain.map(|expr| layout.resolved(assign, thread, None, expr)).transpose()?;
        let mut relation = self.conjoined(&values, condition, &|number| !shares(number))?;
        for (other, part) in parts {
            let new = |(var, rhs): &&(VarId, Expr)| {
                let value = layout.resolved(assign, thread, Some((*other, part)), rhs)?;
                Ok((layout.var(*other, *var, When::Next), value))
            };
            let values: Vec<(Var, Bdd)> = part.assigned.iter().map(new).collect::<Result<_, _>>()?;
            let condition =
                part.constrain.map(|expr| layout.resolved(assign, thread, Some((*other, part)), expr)).transpose()?;
            let own = |number: u32| !is_common(assign, number);
            relation = relation.and(&self.conjoined(&values, condition, &own)?)?;
        }
        relation.exists(&layout.all_choices)
    }

    /// New values and a condition, without the choices that `is_own` tells. A choice that occurs in one place is
    /// forgotten there, since many new values that are equal to choices of their own have no small diagram.
    fn conjoined(
        &self,
        values: &[(Var, Bdd)],
        condition: Option<Bdd>,
        is_own: &dyn Fn(u32) -> bool,
    ) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        let own: Vec<Var> = (0..layout.choices.len() as u32)
            .filter(|number| is_own(*number))
            .map(|at| layout.choices[at as usize])
            .collect();
        let supports: Vec<Vec<Var>> =
            values.iter().map(|(_, value)| value.support()).chain(condition.as_ref().map(Bdd::support)).collect();
        let is_single = |var: &&Var| supports.iter().filter(|support| support.contains(var)).count() == 1;
        let single: Vec<Var> = own.iter().filter(is_single).copied().collect();
        let mut all = condition.unwrap_or_else(|| layout.manager.top());
        for (next, value) in values {
            let here: Vec<Var> = single.iter().filter(|var| value.support().contains(var)).copied().collect();
            let equal = layout.manager.var(*next)?.iff(value)?.exists(&layout.manager.var_set(&here)?)?;
            all = all.and(&equal)?;
        }
        all.exists(&layout.manager.var_set(&own)?)
    }
}

/// Where a step leads, and as what.
fn after(place: Place, op: &Op, loc: LocId) -> Place {
    let role = match (op, place.role) {
        (Op::AtomicBegin, Role::Free(entry)) => Role::Holder(entry),
        (Op::AtomicEnd, Role::Holder(entry)) => Role::Free(entry),
        (_, role) => role,
    };
    Place { role, loc }
}

/// Where a new thread begins.
fn starts_at(program: &Program, op: &Op) -> LocId {
    match op {
        Op::Fork(at) => *at,
        Op::Spawn(spawn) => program.procs[spawn.callee].entry,
        _ => unreachable!("only these start threads"),
    }
}
