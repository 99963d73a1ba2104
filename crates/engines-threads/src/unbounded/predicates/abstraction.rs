//! What each step does to the predicates.
//!
//! A step of a thread gives new values to predicates on shared variables and on its own, and, if it assigns shared
//! variables, to those of every other thread that speak of these: a broadcast (Donaldson, Kaiser, Kroening and Wahl,
//! CAV 2011). The other thread has the same predicates, of which only its own values are known. A new value depends on
//! *premises*: predicates before the step, and new values of predicates that were looked at before, that have variables
//! in common with it, perhaps by way of others. A solver says which values of the premises determine it
//! ([`super::implicants`]).
//!
//! *Lazy abstraction.* What is known about a new value stays true. It is looked at again only if its premises are
//! others than in the iteration before.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop};
use selvedge_ir::simplify::substitute;
use selvedge_ir::visit::reads;
use selvedge_ir::{EdgeId, Expr, LocId, Op, Scope, VarId};
use selvedge_logic::aig::Lit;

use super::atoms::atom;
use super::implicants::{Implicants, Known};
use super::model::{Model, StepCircuit};
use super::predicate::{Predicate, Predicates};

/// The most premises of a new value.
const MOST_PREMISES: usize = 10;

/// The conflicts that a solver may meet with a question at first, how often as many where that is not enough, and at
/// most. What takes many is rarely needed, and takes the judge longer still.
const LEAST_EFFORT: u32 = 60;
const MORE_EFFORT: u32 = 20;
const MOST_EFFORT: u32 = 30_000;

/// A predicate, by its number, of one of the threads, before or after the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Premise {
    /// Of the thread that moves, before the step.
    Now(usize),
    /// Of the thread that moves, after it.
    Next(usize),
    /// Of another thread, before the step.
    Other(usize),
    /// Of another thread, after it.
    OtherNext(usize),
}

impl Premise {
    /// Returns the number of the predicate, whether it is of another thread, and whether after the step.
    fn parts(self) -> (usize, bool, bool) {
        match self {
            Premise::Now(number) => (number, false, false),
            Premise::Next(number) => (number, false, true),
            Premise::Other(number) => (number, true, false),
            Premise::OtherNext(number) => (number, true, true),
        }
    }
}

/// Something that premises may determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target {
    Condition,
    Asserted,
    Value(Premise),
    Child(usize),
}

/// What premises say.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub(super) premises: Vec<Premise>,
    pub(super) known: Known,
}

/// What a step does.
#[derive(Clone, Debug, Default)]
pub(super) struct AbstractStep {
    /// Of the condition it is only known where it fails.
    pub(super) condition: Option<Rc<Update>>,
    pub(super) asserted: Option<Rc<Update>>,
    /// The new values of predicates of the thread that moves, or on shared variables.
    pub(super) active: Vec<(usize, Rc<Update>)>,
    /// Those of other threads.
    pub(super) passive: Vec<(usize, Rc<Update>)>,
    /// Those of a thread that starts.
    pub(super) child: Vec<(usize, Rc<Update>)>,
}

/// The numbers of new values that were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Questions to the solver.
    pub(super) queries: usize,
    /// New values that were looked at.
    pub(super) computed: usize,
    /// New values that were known from the iteration before.
    pub(super) reused: usize,
}

/// The abstraction of steps, with what is known from iterations before.
pub(super) struct Abstracter<'m> {
    model: &'m Model<'m>,
    memo: FxHashMap<(EdgeId, Target), Rc<Update>>,
    /// Set if nothing is reused, for comparison.
    from_scratch: bool,
    /// The conflicts that the solver may meet with each question.
    effort: u32,
    pub(super) work: Work,
    run: &'m Run<'m>,
}

/// A variable: of another thread, or not.
type Seen = (bool, VarId);

/// A step that is being abstracted.
struct Stage<'s> {
    predicates: &'s Predicates<'s>,
    edge: EdgeId,
    from: LocId,
    circuit: Option<StepCircuit>,
    step: AbstractStep,
}

impl<'m> Abstracter<'m> {
    pub(super) fn new(model: &'m Model<'m>, from_scratch: bool, run: &'m Run<'m>) -> Abstracter<'m> {
        Abstracter { model, memo: FxHashMap::default(), from_scratch, effort: LEAST_EFFORT, work: Work::default(), run }
    }

    /// Looks at all steps again with more effort, if there is more.
    pub(super) fn try_harder(&mut self) -> bool {
        self.effort *= MORE_EFFORT;
        self.memo.clear();
        self.effort <= MOST_EFFORT
    }

    /// Abstracts a step along an edge.
    pub(super) fn step(&mut self, edge: EdgeId, predicates: &Predicates<'_>) -> Result<AbstractStep, Stop> {
        self.run.tick()?;
        let program = self.model.program;
        let old = &program.edges[edge];
        let mut stage = Stage { predicates, edge, from: old.from, circuit: None, step: AbstractStep::default() };
        match &old.op {
            Op::Assert(_) => stage.step.asserted = Some(self.update(&mut stage, Target::Asserted)?),
            Op::Assign(assign) if assign.constrain != Expr::TRUE => {
                stage.step.condition = Some(self.update(&mut stage, Target::Condition)?);
            }
            _ => {}
        }
        if let Op::Spawn(spawn) = &old.op {
            let entry = program.procs[spawn.callee].entry;
            for (number, predicate) in predicates.all.iter().enumerate() {
                if predicate.owner.is_some() && predicate.is_tracked(entry) {
                    let update = self.update(&mut stage, Target::Child(number))?;
                    stage.step.child.push((number, update));
                }
            }
        }
        if matches!(old.op, Op::Return(_) | Op::End) {
            return Ok(stage.step);
        }
        let assigned: Vec<VarId> = old.op.assigned().collect();
        for (number, predicate) in predicates.all.iter().enumerate() {
            let is_new = !predicate.is_tracked(old.from) || predicate.reads_any(&assigned);
            if predicate.is_tracked(old.to) && is_new {
                let update = self.update(&mut stage, Target::Value(Premise::Next(number)))?;
                stage.step.active.push((number, update));
            }
        }
        let shared = self.model.shared_writes(edge);
        for (number, predicate) in predicates.all.iter().enumerate() {
            if predicate.owner.is_some() && predicate.reads_any(&shared) {
                let update = self.update(&mut stage, Target::Value(Premise::OtherNext(number)))?;
                stage.step.passive.push((number, update));
            }
        }
        Ok(stage.step)
    }

    fn update(&mut self, stage: &mut Stage<'_>, target: Target) -> Result<Rc<Update>, Stop> {
        let premises = self.premises(stage, target);
        let key = (stage.edge, target);
        if let Some(known) = self.memo.get(&key).filter(|known| !self.from_scratch && known.premises == premises) {
            self.work.reused += 1;
            return Ok(known.clone());
        }
        self.work.computed += 1;
        let known = self.known(stage, target, &premises)?;
        let update = Rc::new(Update { premises, known });
        self.memo.insert(key, update.clone());
        Ok(update)
    }

    /// Returns what premises say about a target.
    fn known(&mut self, stage: &mut Stage<'_>, target: Target, premises: &[Premise]) -> Result<Known, Stop> {
        if let Some(known) = self.by_form(stage, target, premises) {
            return Ok(known);
        }
        let circuit = stage.circuit.get_or_insert_with(|| self.model.step(stage.edge));
        let all = &stage.predicates.all;
        let lits: Vec<Lit> = premises.iter().map(|premise| literal(circuit, all, *premise)).collect();
        let (condition, target_lit) = match target {
            Target::Condition => (Lit::TRUE, circuit.condition),
            Target::Asserted => (circuit.condition, circuit.asserted.unwrap_or(Lit::TRUE)),
            Target::Value(premise) => (circuit.condition, literal(circuit, all, premise)),
            Target::Child(number) => {
                let child = circuit.child.clone().expect("the step starts a thread");
                (circuit.condition, all[number].lit(&mut circuit.aig, &child))
            }
        };
        if let Some(known) = directly(target_lit, &lits) {
            return Ok(known);
        }
        let search = Implicants::new(&circuit.aig, condition, (target_lit, &lits), self.run).within(self.effort);
        let (known, queries) = match target {
            Target::Condition => {
                let (fails, queries) = search.impossible()?;
                (Known { fails, ..Known::default() }, queries)
            }
            _ => search.known()?,
        };
        self.work.queries += queries;
        Ok(known)
    }

    /// Returns what is known about a new value that has the form of one of the premises, or of a constant. Sums are
    /// hard for a solver.
    fn by_form(&self, stage: &Stage<'_>, target: Target, premises: &[Premise]) -> Option<Known> {
        let Target::Value(value) = target else { return None };
        let form = self.form(stage, value)?;
        if let Expr::Bool(value) = form {
            let (holds, fails) = if value { (vec![Vec::new()], Vec::new()) } else { (Vec::new(), vec![Vec::new()]) };
            return Some(Known { holds, fails, is_exact: true });
        }
        let place = premises.iter().position(|premise| self.form(stage, *premise).as_ref() == Some(&form))?;
        Some(Known { holds: vec![vec![(place, true)]], fails: vec![vec![(place, false)]], is_exact: true })
    }

    /// Returns a premise over the variables before the step; those of another thread have numbers behind all others.
    fn form(&self, stage: &Stage<'_>, premise: Premise) -> Option<Expr> {
        let vars = &self.model.program.vars;
        let is_shared = |var: VarId| vars[var].scope == Scope::Shared;
        let (number, is_other, is_after) = premise.parts();
        let written = match &self.model.program.edges[stage.edge].op {
            Op::Assign(assign) if is_after => assign.active.as_slice(),
            _ => &[],
        };
        let leaf = |leaf: &Expr| match leaf {
            Expr::Var(var) if is_other && !is_shared(*var) => Expr::Var(VarId::new(var.index() + vars.len())),
            Expr::Var(var) => {
                let rhs = written.iter().find(|(assigned, _)| assigned == var);
                rhs.map_or_else(|| leaf.clone(), |(_, rhs)| rhs.clone())
            }
            leaf => leaf.clone(),
        };
        let form = substitute(&stage.predicates.all[number].expr, &mut |node| leaf(node));
        if let Expr::Bool(_) = form {
            return Some(form);
        }
        let form = atom(&form, &|var| vars[VarId::new(var.index() % vars.len())].ty)?;
        (!form.any_leaf(|leaf| matches!(leaf, Expr::Choice(..)))).then_some(form)
    }

    /// Returns the premises of a target: predicates that share variables with it, then those that share variables with
    /// these, and so on.
    fn premises(&self, stage: &Stage<'_>, target: Target) -> Vec<Premise> {
        let all = &stage.predicates.all;
        let candidates = self.candidates(stage, target);
        let mut linked: BTreeSet<Seen> = self.seen(stage, target);
        let condition: BTreeSet<Seen> = self.seen(stage, Target::Condition);
        let mut chosen: Vec<Premise> = Vec::new();
        loop {
            if linked.iter().any(|var| condition.contains(var)) {
                linked.extend(&condition);
            }
            let near: Vec<Premise> = candidates
                .iter()
                .copied()
                .filter(|premise| !chosen.contains(premise))
                .filter(|premise| seen_by(stage, self.model, all, *premise).iter().any(|var| linked.contains(var)))
                .collect();
            if near.is_empty() || chosen.len() >= MOST_PREMISES {
                break;
            }
            near.iter().for_each(|premise| linked.extend(seen_by(stage, self.model, all, *premise)));
            chosen.extend(near);
        }
        chosen.truncate(MOST_PREMISES);
        chosen.sort_unstable();
        chosen
    }

    /// Returns what may be a premise: what has a value before the step, and new values that are not determined by
    /// their own premises.
    fn candidates(&self, stage: &Stage<'_>, target: Target) -> Vec<Premise> {
        let all = &stage.predicates.all;
        let now = all.iter().enumerate().filter(|(_, one)| one.is_tracked(stage.from)).map(|(id, _)| Premise::Now(id));
        let mut candidates: Vec<Premise> = now.collect();
        let open = |updates: &[(usize, Rc<Update>)]| -> Vec<usize> {
            updates.iter().filter(|(_, update)| !update.known.is_exact).map(|(number, _)| *number).collect()
        };
        match target {
            Target::Value(Premise::Next(_)) => {
                candidates.extend(open(&stage.step.active).into_iter().map(Premise::Next));
            }
            Target::Value(Premise::OtherNext(number)) => {
                let is_known = |one: &Predicate| one.owner == all[number].owner && self.covers(one, &all[number]);
                let others = all.iter().enumerate().filter(|(_, one)| is_known(one));
                candidates.extend(others.map(|(id, _)| Premise::Other(id)));
                candidates.extend(open(&stage.step.active).into_iter().map(Premise::Next));
                let known = open(&stage.step.passive).into_iter().filter(|id| is_known(&all[*id]));
                candidates.extend(known.map(Premise::OtherNext));
            }
            _ => {}
        }
        candidates
    }

    /// Returns whether a predicate is tracked wherever another one is.
    fn covers(&self, one: &Predicate, other: &Predicate) -> bool {
        self.model.program.locs.indices().all(|loc| one.is_tracked(loc) || !other.is_tracked(loc))
    }

    /// Returns the variables before the step that a target depends on.
    fn seen(&self, stage: &Stage<'_>, target: Target) -> BTreeSet<Seen> {
        let op = &self.model.program.edges[stage.edge].op;
        let all = &stage.predicates.all;
        match target {
            Target::Condition | Target::Asserted => {
                self.model.conditions(stage.edge).iter().flat_map(reads).map(|var| (false, var)).collect()
            }
            Target::Value(premise) => seen_by(stage, self.model, all, premise),
            Target::Child(number) => {
                let Op::Spawn(spawn) = op else { return BTreeSet::new() };
                let params = &self.model.program.procs[spawn.callee].params;
                let before = |var: &VarId| match params.iter().position(|param| param == var) {
                    Some(place) => reads(&spawn.args[place]),
                    None => vec![*var],
                };
                all[number].vars.iter().flat_map(before).map(|var| (false, var)).collect()
            }
        }
    }
}

/// Returns the variables that a premise depends on: before the step and, if it gives them new values, after it.
fn seen_by(stage: &Stage<'_>, model: &Model<'_>, all: &[Predicate], premise: Premise) -> BTreeSet<Seen> {
    let is_shared = |var: VarId| model.program.vars[var].scope == Scope::Shared;
    let (number, is_other, is_after) = premise.parts();
    let mut seen = BTreeSet::new();
    for var in &all[number].vars {
        let own = is_other && !is_shared(*var);
        seen.insert((own, *var));
        if let (Op::Assign(assign), true, false) = (&model.program.edges[stage.edge].op, is_after, own) {
            let rhs = assign.active.iter().find(|(assigned, _)| assigned == var);
            seen.extend(rhs.into_iter().flat_map(|(_, rhs)| reads(rhs)).map(|var| (false, var)));
        }
    }
    seen
}

fn literal(circuit: &mut StepCircuit, all: &[Predicate], premise: Premise) -> Lit {
    let StepCircuit { aig, now, other, after, other_after, .. } = circuit;
    match premise {
        Premise::Now(number) => all[number].lit(aig, now),
        Premise::Next(number) => all[number].lit(aig, after),
        Premise::Other(number) => all[number].lit(aig, other),
        Premise::OtherNext(number) => all[number].lit(aig, other_after),
    }
}

/// Returns what is known without a solver: the target is constant, or one of the premises, or its negation.
fn directly(target: Lit, premises: &[Lit]) -> Option<Known> {
    let known = |holds, fails| Some(Known { holds, fails, is_exact: true });
    match target.as_constant() {
        Some(true) => return known(vec![Vec::new()], Vec::new()),
        Some(false) => return known(Vec::new(), vec![Vec::new()]),
        None => {}
    }
    let place = premises.iter().position(|premise| *premise == target || *premise == !target)?;
    let same = premises[place] == target;
    known(vec![vec![(place, same)]], vec![vec![(place, !same)]])
}
