//! Edges as relations, translated when they are first needed.

use std::rc::Rc;

use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_ir::{Assign, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, VarSet};

use super::layout::{Layout, When, Who};
use crate::step::diagram::expr;
use crate::step::passive::{Part, choices, is_common};

/// What becomes of a set of states of a thread, shared variables included: conjoin `relation`, forget `forget`, rename.
pub struct Step {
    relation: Bdd,
    forget: VarSet,
    rename: Renaming,
}

impl Step {
    pub fn image(&self, from: &Bdd) -> Result<Bdd, OutOfNodes> {
        from.and_exists(&self.relation, &self.forget)?.rename(&self.rename)
    }
}

impl Layout {
    /// Where a step can be made: for some new values.
    pub fn domain(&self, step: &Step) -> Result<Bdd, OutOfNodes> {
        let next: Vec<_> = step.relation.support().into_iter().filter(|var| self.is_next(*var)).collect();
        step.relation.exists(&self.manager.var_set(&next)?)
    }
}

/// The relations of the edges that were met so far.
pub struct Steps {
    known: IndexVec<EdgeId, Option<Rc<Step>>>,
    failing: IndexVec<EdgeId, Option<Bdd>>,
    /// Of assignments with passive parts: what they say about the moving thread, and about others, by kind and
    /// procedure.
    active: FxHashMap<EdgeId, Bdd>,
    peers: FxHashMap<(EdgeId, Option<EntryId>, ProcId), Bdd>,
}

impl Steps {
    pub fn new(program: &Program) -> Steps {
        Steps {
            known: program.edges.iter().map(|_| None).collect(),
            failing: program.edges.iter().map(|_| None).collect(),
            active: FxHashMap::default(),
            peers: FxHashMap::default(),
        }
    }

    /// What a step along an edge does to the thread that makes it, as far as no other thread takes part.
    pub fn get(&mut self, program: &Program, layout: &Layout, id: EdgeId) -> Result<Rc<Step>, OutOfNodes> {
        if let Some(step) = &self.known[id] {
            return Ok(Rc::clone(step));
        }
        let edge = &program.edges[id];
        let step = Rc::new(match &edge.op {
            Op::Assign(assign) => layout.assignment(assign, edge.to)?,
            Op::Assert(condition) => {
                let holds = layout.expr(condition)?.exists(&layout.all_choices)?;
                layout.step(holds, &[], edge.to)?
            }
            _ => layout.step(layout.manager.top(), &[], edge.to)?,
        });
        self.known[id] = Some(Rc::clone(&step));
        Ok(step)
    }

    /// What an assignment with passive parts says about the moving thread.
    pub fn active(&mut self, layout: &Layout, id: EdgeId, assign: &Assign) -> Result<Bdd, OutOfNodes> {
        if let Some(known) = self.active.get(&id) {
            return Ok(known.clone());
        }
        let relation =
            layout.active(assign, &|number| is_common(assign, number) && in_passive_parts(assign, number))?;
        self.active.insert(id, relation.clone());
        Ok(relation)
    }

    /// What it says about another thread of a kind in a procedure.
    pub fn peer(
        &mut self,
        layout: &Layout,
        (id, entry, proc): (EdgeId, Option<EntryId>, ProcId),
        assign: &Assign,
        part: &Part<'_>,
    ) -> Result<Bdd, OutOfNodes> {
        if let Some(known) = self.peers.get(&(id, entry, proc)) {
            return Ok(known.clone());
        }
        let relation = layout.peer(assign, part)?;
        self.peers.insert((id, entry, proc), relation.clone());
        Ok(relation)
    }

    /// Where an assertion can fail.
    pub fn failing(&mut self, layout: &Layout, id: EdgeId, condition: &Expr) -> Result<Bdd, OutOfNodes> {
        if let Some(failing) = &self.failing[id] {
            return Ok(failing.clone());
        }
        let failing = layout.expr(condition)?.not()?.exists(&layout.all_choices)?;
        self.failing[id] = Some(failing.clone());
        Ok(failing)
    }
}

impl Layout {
    /// The diagram of an expression over old values and choices of the moving thread.
    pub fn expr(&self, expr: &Expr) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.bdd(*var, Who::Mover, When::Now),
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            _ => unreachable!("only conditions of assignments and passive assignments have other leaves"),
        })
    }

    /// The diagram of an expression of an assignment in which those variables are assigned in the other thread that
    /// `assigned_in_peer` tells.
    pub fn expr_in(
        &self,
        assign: &Assign,
        expr: &Expr,
        assigned_in_peer: &dyn Fn(VarId) -> bool,
    ) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.bdd(*var, Who::Mover, When::Now),
            Expr::Next(var) if assign.active.iter().any(|(target, _)| target == var) => {
                self.bdd(*var, Who::Mover, When::Next)
            }
            Expr::Next(var) => self.bdd(*var, Who::Mover, When::Now),
            Expr::Passive(var) => self.bdd(*var, Who::Peer, When::Now),
            Expr::PassiveNext(var) if assigned_in_peer(*var) => self.bdd(*var, Who::Peer, When::Next),
            Expr::PassiveNext(var) => self.bdd(*var, Who::Peer, When::Now),
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            _ => unreachable!("all other leaves are constants"),
        })
    }

    /// The relation of an assignment in which no other thread takes part.
    fn assignment(&self, assign: &Assign, to: LocId) -> Result<Step, OutOfNodes> {
        let relation = self.active(assign, &|_| false)?;
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        self.step(relation, &targets, to)
    }

    /// What an assignment says about the moving thread and the shared variables. Choices are forgotten as early as
    /// possible, except those that `is_common` tells.
    ///
    /// The conjunction of many new values that are equal to choices of their own would be exponentially large, since
    /// choices stand below all values.
    pub fn active(&self, assign: &Assign, is_common: &dyn Fn(u32) -> bool) -> Result<Bdd, OutOfNodes> {
        let constrain = (!assign.constrain.is_passive()).then_some(&assign.constrain);
        let exprs = || assign.active.iter().map(|(_, rhs)| rhs).chain(constrain);
        let mut uses = vec![0; self.choices.len()];
        exprs().for_each(|expr| choices(expr).iter().for_each(|number| uses[*number as usize] += 1));
        let mut relation = self.manager.top();
        for (var, rhs) in &assign.active {
            let next = self.bdd(*var, Who::Mover, When::Next)?;
            let own: Vec<u32> =
                choices(rhs).into_iter().filter(|number| uses[*number as usize] == 1 && !is_common(*number)).collect();
            let equal = next.iff(&self.expr(rhs)?)?.exists(&self.choice_set(&own)?)?;
            relation = relation.and(&equal)?;
        }
        if let Some(constrain) = constrain {
            relation = relation.and(&self.expr_in(assign, constrain, &|_| false)?)?;
        }
        let rest: Vec<u32> = (0..self.choices.len() as u32).filter(|number| !is_common(*number)).collect();
        relation.exists(&self.choice_set(&rest)?)
    }

    pub fn choice_set(&self, numbers: &[u32]) -> Result<VarSet, OutOfNodes> {
        let vars: Vec<_> = numbers.iter().map(|number| self.choices[*number as usize]).collect();
        self.manager.var_set(&vars)
    }

    /// The step with a relation between the old values and the new ones of some variables, which leads to a location.
    pub fn step(&self, relation: Bdd, targets: &[VarId], to: LocId) -> Result<Step, OutOfNodes> {
        let (forget, pairs) = self.after(targets, to);
        Ok(Step { relation, forget: self.manager.var_set(&forget)?, rename: self.manager.renaming(&pairs) })
    }

    /// What is forgotten and what renamed after new values of some variables: old values, and what is not kept at the
    /// location.
    pub fn after(&self, targets: &[VarId], to: LocId) -> (Vec<Bvar>, Vec<(Bvar, Bvar)>) {
        let is_dead = |var: &VarId| self.dead(to).contains(var) || self.dead_shared().contains(var);
        let now = |var: &VarId| self.var(*var, Who::Mover, When::Now);
        let next = |var: &VarId| self.var(*var, Who::Mover, When::Next);
        let mut forget: Vec<Bvar> = self.dead(to).iter().chain(self.dead_shared()).map(now).collect();
        forget.extend(targets.iter().map(now));
        forget.extend(targets.iter().filter(|var| is_dead(var)).map(next));
        let pairs = targets.iter().filter(|var| !is_dead(var)).map(|var| (next(var), now(var))).collect();
        (forget, pairs)
    }
}

impl Layout {
    /// What is forgotten of another thread at a location after a step that concerns it, and what renamed.
    pub fn peer_after(&self, part: &Part<'_>, loc: LocId) -> Result<(VarSet, Renaming), OutOfNodes> {
        let peer = |var: &VarId, when| self.var(*var, Who::Peer, when);
        let (assigned, dead): (Vec<VarId>, _) = (part.assigned.iter().map(|(var, _)| *var).collect(), self.dead(loc));
        let mut forget: Vec<_> = assigned.iter().chain(dead).map(|var| peer(var, When::Now)).collect();
        forget.extend(assigned.iter().filter(|var| dead.contains(var)).map(|var| peer(var, When::Next)));
        let kept = assigned.iter().filter(|var| !dead.contains(var));
        let pairs: Vec<_> = kept.map(|var| (peer(var, When::Next), peer(var, When::Now))).collect();
        Ok((self.manager.var_set(&forget)?, self.manager.renaming(&pairs)))
    }

    /// The relation between the moving thread and another one, the choices of the latter forgotten.
    pub fn peer(&self, assign: &Assign, part: &Part<'_>) -> Result<Bdd, OutOfNodes> {
        let assigns = |var: VarId| part.assigns(var);
        let mut uses = vec![0; self.choices.len()];
        part.exprs().for_each(|expr| choices(expr).iter().for_each(|number| uses[*number as usize] += 1));
        let own = |number: &u32| !is_common(assign, *number);
        let mut relation = self.manager.top();
        for (var, rhs) in &part.assigned {
            let equal = self.bdd(*var, Who::Peer, When::Next)?.iff(&self.expr_in(assign, rhs, &assigns)?)?;
            let once: Vec<u32> =
                choices(rhs).into_iter().filter(|number| own(number) && uses[*number as usize] == 1).collect();
            relation = relation.and(&equal.exists(&self.choice_set(&once)?)?)?;
        }
        if let Some(constrain) = part.constrain {
            relation = relation.and(&self.expr_in(assign, constrain, &assigns)?)?;
        }
        let rest: Vec<u32> = (0..self.choices.len() as u32).filter(own).collect();
        relation.exists(&self.choice_set(&rest)?)
    }
}

type Bvar = selvedge_logic::bdd::Var;

fn in_passive_parts(assign: &Assign, number: u32) -> bool {
    let constrain = assign.constrain.is_passive().then_some(&assign.constrain);
    assign.passive.iter().map(|(_, rhs)| rhs).chain(constrain).any(|expr| choices(expr).contains(&number))
}
