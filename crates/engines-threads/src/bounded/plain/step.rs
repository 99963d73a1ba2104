//! The effect of a step of one thread on a set of states of the whole program.

use selvedge_check::Role;
use selvedge_ir::{Assign, EdgeId, LocId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::diagram::relation::{Assignment, Layout, When};
use selvedge_transition::step::diagram::threads::ThreadLayout;
use selvedge_transition::step::passive::{Part, in_passive_parts, is_common, part};

use super::search::{PlainSearch, ThreadPlaces};

impl PlainSearch<'_> {
    /// Returns the states that a step of a thread along an edge leads to.
    pub(super) fn follow(
        &mut self,
        key: &ThreadPlaces,
        set: &Bdd,
        thread: usize,
        id: EdgeId,
    ) -> Result<Vec<(ThreadPlaces, Bdd)>, OutOfNodes> {
        let edge = &self.program.edges[id];
        let place = key[thread].expect("only live threads move");
        let mut next = key.clone();
        next[thread] = Some(place.after(edge));
        let set = &set.and(&self.layout.value(thread, edge.needs())?)?;
        let image = match &edge.op {
            Op::Assign(assign) => self.assigned(key, set, thread, id, assign)?,
            Op::Assert(condition) => {
                let holds = self.layout.value(thread, condition)?.exists(&self.layout.all_choices)?;
                self.settled(&set.and(&holds)?, thread, edge.to)?
            }
            Op::Return(_) | Op::End => return self.ended(key, set, thread),
            Op::AtomicBegin | Op::AtomicEnd => self.settled(set, thread, edge.to)?,
            Op::Fork(_) | Op::Spawn(_) => {
                let started = self.started(&mut next, set, thread, &edge.op)?;
                self.settled(&started, thread, edge.to)?
            }
            Op::Call(_) => unreachable!("the engine supports programs without calls only"),
        };
        Ok(vec![(next, image)])
    }

    /// Starts a thread, if the bound allows one more: a copy of this one, or one that runs a procedure.
    fn started(&self, next: &mut ThreadPlaces, set: &Bdd, thread: usize, op: &Op) -> Result<Bdd, OutOfNodes> {
        let Some(child) = self.free_slot(next) else { return Ok(set.clone()) };
        let layout = &self.layout;
        let entry = next[thread].and_then(Place::entry).expect("the prelude starts no threads");
        let (both, loc) = match op {
            Op::Fork(at) => (layout.forked(set, [thread, child], *at)?, *at),
            Op::Spawn(spawn) => {
                let loc = self.program.procs[spawn.callee].entry;
                (layout.spawned(self.program, set, [thread, child], spawn)?, loc)
            }
            _ => unreachable!("only these operations start threads"),
        };
        next[child] = Some(Place { role: Role::Free(entry), loc });
        Ok(both)
    }

    /// Returns the number of a new thread, if the bound allows one more.
    fn free_slot(&self, key: &ThreadPlaces) -> Option<usize> {
        let n_live = key.iter().flatten().filter(|place| place.role != Role::Prelude).count();
        if n_live < self.bound as usize { key.iter().position(Option::is_none) } else { None }
    }

    /// Forgets the variables that are not kept at the new location of a thread.
    fn settled(&self, set: &Bdd, thread: usize, loc: LocId) -> Result<Bdd, OutOfNodes> {
        set.exists(&self.layout.manager.var_set(&self.layout.dead(thread, loc))?)
    }

    /// Removes a thread that has ended; after a prelude the initial threads begin.
    fn ended(&mut self, key: &ThreadPlaces, set: &Bdd, thread: usize) -> Result<Vec<(ThreadPlaces, Bdd)>, OutOfNodes> {
        let rest = set.exists(&self.layout.manager.var_set(&self.layout.locals_now(thread))?)?;
        if key[thread].is_some_and(|place| place.role == Role::Prelude) {
            return self.begin(&rest);
        }
        let mut next = key.clone();
        next[thread] = None;
        Ok(vec![(next, rest)])
    }

    /// Returns the image of an assignment.
    fn assigned(
        &mut self,
        key: &ThreadPlaces,
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
        let own = assign.active.iter().map(|(var, _)| (thread, *var));
        let of_parts = parts.iter().flat_map(|(other, part)| part.assigned.iter().map(|(var, _)| (*other, *var)));
        let layout = &self.layout;
        let (mut forget, mut rename): (Vec<Var>, Vec<(Var, Var)>) = (Vec::new(), Vec::new());
        for (thread, var) in own.chain(of_parts) {
            let now = layout.position(var, thread, When::Now);
            forget.push(now);
            rename.push((layout.position(var, thread, When::Next), now));
        }
        let image =
            set.and_exists(&relation, &layout.manager.var_set(&forget)?)?.rename(&layout.manager.renaming(&rename))?;
        let mut image = self.settled(&image, thread, self.program.edges[id].to)?;
        for (other, _) in &parts {
            let place = key[*other].expect("only live threads take part");
            image = self.settled(&image, *other, place.loc)?;
        }
        Ok(image)
    }

    /// Returns the other threads that take part in an assignment of a thread, each with the part that concerns it.
    pub(super) fn parts<'e>(&self, key: &ThreadPlaces, thread: usize, assign: &'e Assign) -> Vec<(usize, Part<'e>)> {
        if !assign.is_passive() {
            return Vec::new();
        }
        let others = key.iter().enumerate().filter(|(other, _)| *other != thread);
        let live = others.filter_map(|(other, place)| place.map(|place| (other, place)));
        live.filter_map(|(other, place)| part(self.program, assign, place.entry(), place.loc).map(|part| (other, part)))
            .collect()
    }

    /// Returns the relation of an assignment: of the moving thread, and of each thread that takes part. The latter make
    /// their own choices, which are forgotten before those in common.
    fn relation(&self, thread: usize, assign: &Assign, parts: &[(usize, Part<'_>)]) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        let keeps = |number: u32| is_common(assign, number) && in_passive_parts(assign, number);
        let mut relation = layout.moved(thread, assign, &keeps)?;
        for (other, part) in parts {
            let step = Assignment { assign, mover: thread, peer: Some((*other, part)) };
            relation = relation.and(&layout.took_part(&step)?)?;
        }
        relation.exists(&layout.all_choices)
    }
}
