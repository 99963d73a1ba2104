//! Certificates about programs with machine integers: a Boolean program over predicates that can do whatever the
//! program can, and a certificate about that one.
//!
//! A state of the Boolean program *stands for* a state of the program if they have the same threads, each at a location
//! that stands for the place of the other one, and each shared variable of the Boolean program, and each local that is
//! tracked where its thread is, has the truth value of its predicate. Other locals have any values. The questions, each
//! of which must have no solution:
//!
//! 1. a start of the program in which a shared variable of the Boolean program has not the value of its predicate;
//! 2. for each location of the Boolean program, and each step of the program from its place: a state before it, so that
//!    the step of the Boolean program, with choices that guess predicates after the step, is blocked, or fails an
//!    assertion where the program does not, or the other way round, or leads to a state that does not stand for the one
//!    after: of the thread that moves, of one that starts, or of any other thread, wherever it is.
//!
//! By induction over the length of an execution, there is one of the Boolean program whose states stand for its states,
//! so that an error of the program is one there. The converse is not needed. The predicates of other threads are asked
//! about for one of them at a time: what a step makes of one does not depend on the others.

use std::collections::{BTreeMap, BTreeSet};

use index_vec::IndexVec;
use selvedge_check::{PredicateProof, PredicateStep, Run, Task};
use selvedge_ir::{Edge, EdgeId, Expr, LocId, Op, Program, Scope, Target, Ty, VarId};

use super::bits::{Bits, Circuits};
use super::sat::{Lit, Sat};
use super::typed::type_of;
use super::{Flaw, Refused, Unjudged};
use crate::position::Position;
use crate::program::{Leaving, choice_types, concerns_others, exprs, is_boolean, leaves, leaving};
use crate::semantics::{Meaning, Scene, Writes};

const MALFORMED: Flaw = Flaw::Malformed(None);

/// Checks that the Boolean program can do whatever the program can.
pub(super) fn verify(program: &Program, proof: &PredicateProof, run: &Run<'_>) -> Result<(), Refused> {
    let is_plain = |edge: &Edge| edge.ensures == Expr::TRUE;
    if program.prelude.is_some() || program.vars.iter().any(|var| var.scope == Scope::Thread) {
        return Err(Flaw::OutOfScope("it has code before its threads, or variables of threads beside locals").into());
    }
    if !program.edges.iter().all(|edge| is_plain(edge) && !concerns_others(&edge.op)) {
        return Err(Unjudged::Beyond("steps ensure conditions, or concern other threads, and there are numbers").into());
    }
    let position = |loc: LocId| {
        let place = proof.places[loc].as_ref()?;
        Some(Position { calls: place.calls.clone(), loc: place.loc })
    };
    if !fits(program, proof) {
        return Err(MALFORMED.into());
    }
    let positions = proof.program.locs.indices().map(position).collect();
    let leaving_new = leaving(&proof.program);
    let checker = Checker { old: program, proof, positions, leaving: leaving(program), leaving_new, run };
    checker.start()?;
    proof.program.locs.indices().try_for_each(|loc| checker.location(loc))
}

/// The errors of the Boolean program that stand for the errors asked about.
pub(super) fn target(task: &Task<'_>, proof: &PredicateProof) -> Result<Target, Refused> {
    if !task.target.together.is_empty() {
        return Err(Flaw::OutOfScope("it says nothing about threads that meet").into());
    }
    let is_error = |edge: &EdgeId| task.target.has_assert(proof.steps[*edge].edge);
    let is_reached = |loc: &LocId| proof.places[*loc].as_ref().is_some_and(|place| task.target.has_loc(place.loc));
    let asserts = proof.steps.indices().filter(is_error).collect();
    let locs = proof.places.indices().filter(is_reached).collect();
    Ok(Target { asserts, locs, together: Vec::new(), deadlock: false })
}

/// Returns whether the parts of a certificate belong together, so far as this does not depend on values.
fn fits(old: &Program, proof: &PredicateProof) -> bool {
    let new = &proof.program;
    let is_shared = |var: &VarId| old.vars[*var].scope == Scope::Shared;
    let reads_shared = |expr: &Expr| leaves(expr).all(|leaf| !matches!(leaf, Expr::Var(var) if !is_shared(var)));
    let var_fits = |var: VarId| {
        let (scope, predicate) = (new.vars[var].scope, &proof.predicates[var]);
        let sees = if scope == Scope::Shared { reads_shared(predicate) } else { scope != Scope::Thread };
        sees && type_of(predicate, old) == Some(Ty::Bool)
    };
    let place_fits = |loc: LocId| {
        let Some(place) = &proof.places[loc] else { return true };
        let is_call = |call: &EdgeId| old.edges.get(*call).is_some_and(|edge| matches!(edge.op, Op::Call(_)));
        let local = Scope::Local(new.locs[loc].proc);
        let is_own = |var: &VarId| new.vars.get(*var).is_some_and(|var| var.scope == local);
        place.calls.iter().all(is_call) && old.locs.get(place.loc).is_some() && place.tracked.iter().all(is_own)
    };
    let edge_fits = |id: EdgeId| {
        let (edge, PredicateStep { edge: step, choices }) = (&new.edges[id], &proof.steps[id]);
        let local = Scope::Local(new.locs[edge.from].proc);
        let is_own = |var: &VarId| [Scope::Shared, local].contains(&new.vars[*var].scope);
        let writes_own = match &edge.op {
            Op::Assign(assign) => {
                let is_local = |(var, _): &(VarId, Expr)| new.vars[*var].scope != Scope::Shared;
                assign.active.iter().all(|(var, _)| is_own(var)) && assign.passive.iter().all(is_local)
            }
            _ => true,
        };
        let starts = proof.places[edge.from].as_ref().map(|place| place.loc);
        edge.ensures == Expr::TRUE
            && writes_own
            && !matches!(edge.op, Op::Call(_))
            && old.edges.get(*step).map(|edge| edge.from) == starts
            && choices.len() >= choice_types(exprs(&edge.op)).len()
            && choices.iter().flatten().all(|var| new.vars.get(*var).is_some())
    };
    let entries = || old.entries.iter().zip(&new.entries);
    is_boolean(new).is_ok()
        && new.prelude.is_none()
        && proof.predicates.len() == new.vars.len()
        && (proof.places.len(), proof.steps.len()) == (new.locs.len(), new.edges.len())
        && new.vars.indices().all(var_fits)
        && new.locs.indices().all(place_fits)
        && new.edges.indices().all(edge_fits)
        && old.entries.len() == new.entries.len()
        && entries().all(|(old, new)| old.count == new.count && new.thread_vars.is_empty())
}

struct Checker<'a> {
    old: &'a Program,
    proof: &'a PredicateProof,
    positions: IndexVec<LocId, Option<Position>>,
    leaving: Leaving,
    leaving_new: Leaving,
    run: &'a Run<'a>,
}

impl<'a> Checker<'a> {
    /// A question about a step, or the start.
    fn question(&self, edge: Option<EdgeId>, from: Option<LocId>, other: Option<LocId>) -> Question<'_, 'a> {
        let choices = edge.map_or(&[][..], |edge| &self.proof.steps[edge].choices);
        let types =
            edge.map_or(Vec::new(), |edge| choice_types(exprs(&self.old.edges[self.proof.steps[edge].edge].op)));
        Question {
            checker: self,
            sat: Sat::new(self.run),
            both: Both {
                checker: self,
                from,
                other,
                vars: BTreeMap::new(),
                untracked: BTreeMap::new(),
                types,
                made: BTreeMap::new(),
                choices,
                writes: BTreeMap::new(),
                child: BTreeMap::new(),
                begins: false,
                asserted: None,
            },
            bad: Vec::new(),
        }
    }

    /// The place of a location.
    fn position(&self, loc: LocId) -> Result<&Position, Flaw> {
        self.positions[loc].as_ref().ok_or(MALFORMED)
    }

    /// Every start of the program has one of the Boolean program, whose locals start with any values.
    fn start(&self) -> Result<(), Refused> {
        let (old, new) = (self.old, &self.proof.program);
        let mut question = self.question(None, None, None);
        question.both.types = choice_types(old.init.iter().map(|(_, rhs)| rhs));
        let begun = question.in_program(|meaning| meaning.start_shared())?;
        question.write(begun)?;
        let over_predicates = question.in_boolean(|meaning| meaning.start_shared())?;
        for (var, value) in over_predicates {
            if let Some(value) = value {
                let predicate = question.predicate(var, Whose::Mover, When::After)?;
                question.must(None, value, predicate);
            }
        }
        question.answer(MALFORMED)?;
        for (before, after) in old.entries.iter().zip(&new.entries) {
            if *self.position(new.procs[after.proc].entry)? != Position::entry(old, before.proc) {
                return Err(MALFORMED.into());
            }
        }
        Ok(())
    }

    /// Each step of the program from the place of a location has one of the Boolean program.
    fn location(&self, loc: LocId) -> Result<(), Refused> {
        let Some(position) = &self.positions[loc] else { return Ok(()) };
        for id in &self.leaving[position.loc] {
            let mut steps = self.leaving_new[loc].iter();
            let found = steps.find(|step| self.proof.steps[**step].edge == *id).ok_or(Flaw::NotClosed(*id))?;
            self.edge(*found, position)?;
        }
        Ok(())
    }

    /// The step along an edge of the Boolean program.
    fn edge(&self, id: EdgeId, position: &Position) -> Result<(), Refused> {
        self.run.check_limits()?;
        let (new, step) = (&self.proof.program.edges[id], self.proof.steps[id].edge);
        let old = &self.old.edges[step];
        if position.recurs(self.old, &old.op) {
            return Err(Flaw::OutOfScope("it is recursive").into());
        }
        let after = position.after(self.old, step);
        let goes_on = after.is_some();
        let leads = match &after {
            Some(after) => self.positions[new.to].as_ref() == Some(after),
            None => matches!(new.op, Op::Return(_) | Op::End),
        };
        let child = match new.op {
            Op::Spawn(ref spawn) => Some(self.proof.program.procs[spawn.callee].entry),
            Op::Fork(loc) => Some(loc),
            _ => None,
        };
        let begins = child.map(|child| self.position(child)).transpose()?;
        if !leads || !same_kind(&old.op, &new.op, goes_on) || begins != position.child(self.old, &old.op).as_ref() {
            return Err(Flaw::NotClosed(step).into());
        }
        let to = goes_on.then_some(new.to);
        self.question(Some(id), Some(new.from), None)
            .step(old, new, position, (to, child))?
            .answer(Flaw::NotClosed(step))?;
        for other in self.others(old, new) {
            let question = self.question(Some(id), Some(new.from), Some(other));
            question.step(old, new, position, (None, None))?.answer(Flaw::NotClosed(step))?;
        }
        Ok(())
    }

    /// A location for each list of variables that are tracked in other threads, if a step concerns these.
    fn others(&self, old: &Edge, new: &Edge) -> Vec<LocId> {
        let is_shared = |(var, _): &(VarId, Expr)| self.old.vars[*var].scope == Scope::Shared;
        let assigns_shared = match &old.op {
            Op::Assign(assign) => assign.active.iter().any(is_shared),
            // A return may assign what the call names.
            Op::Return(_) => true,
            _ => false,
        };
        if !assigns_shared && !concerns_others(&new.op) {
            return Vec::new();
        }
        let mut seen = BTreeSet::new();
        let mut is_new = |loc: &LocId| {
            let place = self.proof.places[*loc].as_ref();
            place.is_some_and(|place| seen.insert((self.proof.program.locs[*loc].proc, &place.tracked)))
        };
        self.proof.places.indices().filter(|loc| is_new(loc)).collect()
    }
}

/// Returns whether an operation of the Boolean program may stand for one of the program.
fn same_kind(old: &Op, new: &Op, goes_on: bool) -> bool {
    match old {
        Op::Call(_) => matches!(new, Op::Assign(_)),
        Op::Return(_) if goes_on => matches!(new, Op::Assign(_)),
        Op::Return(_) | Op::End => matches!(new, Op::Return(_) | Op::End),
        old => std::mem::discriminant(old) == std::mem::discriminant(new),
    }
}

/// The thread whose variables a predicate speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    Mover,
    Other,
    Child,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum When {
    Before,
    After,
}

/// A state of both programs, and the choices of a step.
struct Both<'q, 'a> {
    checker: &'q Checker<'a>,
    /// The locations of the thread that moves, and of another one, in the Boolean program.
    from: Option<LocId>,
    other: Option<LocId>,
    /// The variables of the program, before the step.
    vars: BTreeMap<(Whose, VarId), Bits>,
    /// The locals of the Boolean program that are not tracked.
    untracked: BTreeMap<(Whose, VarId), Lit>,
    /// The choices of the program.
    types: Vec<Ty>,
    made: BTreeMap<u32, Bits>,
    /// What the choices of the Boolean program guess.
    choices: &'q [Option<VarId>],
    /// What the step assigns, for the thread that moves and the one that starts.
    writes: BTreeMap<VarId, Bits>,
    child: BTreeMap<VarId, Bits>,
    /// Set if a thread starts.
    begins: bool,
    asserted: Option<Lit>,
}

/// The state that a predicate speaks of.
struct View<'v, 'q, 'a> {
    both: &'v mut Both<'q, 'a>,
    whose: Whose,
    when: When,
}

impl Both<'_, '_> {
    fn var(&mut self, circuits: &mut Circuits<'_, '_>, whose: Whose, var: VarId) -> Result<Bits, Refused> {
        let var_of = &self.checker.old.vars[var];
        let key = (if var_of.scope == Scope::Shared { Whose::Mover } else { whose }, var);
        if let Some(known) = self.vars.get(&key) {
            return Ok(known.clone());
        }
        let bits = circuits.any(var_of.ty)?;
        Ok(self.vars.entry(key).or_insert(bits).clone())
    }

    /// The value of a variable of the Boolean program before the step: that of its predicate, if it is tracked.
    fn before(&mut self, sat: &mut Sat<'_>, whose: Whose, var: VarId) -> Result<Lit, Refused> {
        let at = if whose == Whose::Other { self.other } else { self.from };
        let tracked = at.and_then(|at| self.checker.proof.places[at].as_ref()).map(|place| &place.tracked);
        let is_shared = self.checker.proof.program.vars[var].scope == Scope::Shared;
        if is_shared || tracked.is_some_and(|tracked| tracked.contains(&var)) {
            return self.predicate(sat, var, whose, When::Before);
        }
        Ok(*self.untracked.entry((whose, var)).or_insert_with(|| sat.fresh()))
    }

    fn predicate(&mut self, sat: &mut Sat<'_>, var: VarId, whose: Whose, when: When) -> Result<Lit, Refused> {
        let checker = self.checker;
        let mut view = View { both: self, whose, when };
        Ok(Meaning::new(checker.old, &mut Circuits(sat), &mut view).value(&checker.proof.predicates[var])?[0])
    }

    /// The value that a choice guesses; false if it guesses nothing.
    fn guess(&mut self, sat: &mut Sat<'_>, whose: Whose, number: u32) -> Result<Lit, Refused> {
        match (self.choices.get(number as usize), self.asserted) {
            (Some(Some(var)), _) => self.predicate(sat, *var, whose, When::After),
            (Some(None), Some(asserted)) => Ok(asserted),
            _ => Ok(sat.constant(false)),
        }
    }
}

impl Scene<Circuits<'_, '_>> for View<'_, '_, '_> {
    fn read(&mut self, circuits: &mut Circuits<'_, '_>, var: VarId) -> Result<Bits, Refused> {
        let is_shared = self.both.checker.old.vars[var].scope == Scope::Shared;
        let written = match (self.whose, self.when) {
            (Whose::Child, _) if !is_shared => self.both.child.get(&var),
            (Whose::Mover, When::After) => self.both.writes.get(&var),
            (_, When::After) if is_shared => self.both.writes.get(&var),
            _ => None,
        };
        match written {
            Some(written) => Ok(written.clone()),
            None => self.both.var(circuits, self.whose, var),
        }
    }

    fn choice(&mut self, _: &mut Circuits<'_, '_>, _: u32) -> Result<Bits, Refused> {
        Err(MALFORMED.into())
    }
}

/// The program's own step.
impl Scene<Circuits<'_, '_>> for Both<'_, '_> {
    fn read(&mut self, circuits: &mut Circuits<'_, '_>, var: VarId) -> Result<Bits, Refused> {
        self.var(circuits, Whose::Mover, var)
    }

    fn choice(&mut self, circuits: &mut Circuits<'_, '_>, number: u32) -> Result<Bits, Refused> {
        if let Some(known) = self.made.get(&number) {
            return Ok(known.clone());
        }
        let bits = circuits.any(self.types[number as usize])?;
        Ok(self.made.entry(number).or_insert(bits).clone())
    }
}

/// The step of the Boolean program.
impl<'r> Scene<Sat<'r>> for Both<'_, '_> {
    fn read(&mut self, sat: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        self.before(sat, Whose::Mover, var)
    }

    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        let whose = if self.begins { Whose::Child } else { Whose::Mover };
        self.guess(sat, whose, number)
    }

    fn n_others(&self) -> usize {
        usize::from(self.other.is_some())
    }

    fn has(&self, _: usize, var: VarId) -> bool {
        let new = &self.checker.proof.program;
        match new.vars[var].scope {
            Scope::Local(owner) => self.other.is_some_and(|other| new.locs[other].proc == owner),
            scope => scope == Scope::Shared,
        }
    }

    fn read_other(&mut self, sat: &mut Sat<'r>, _: usize, var: VarId) -> Result<Lit, Refused> {
        self.before(sat, Whose::Other, var)
    }

    fn choice_for(&mut self, sat: &mut Sat<'r>, _: usize, number: u32) -> Result<Lit, Refused> {
        self.guess(sat, Whose::Other, number)
    }
}

/// A question about one step, or the start.
struct Question<'q, 'a> {
    checker: &'q Checker<'a>,
    sat: Sat<'q>,
    both: Both<'q, 'a>,
    /// What must not be.
    bad: Vec<Lit>,
}

impl<'q, 'a> Question<'q, 'a> {
    /// Computes something of the program.
    fn in_program<T>(
        &mut self,
        compute: impl FnOnce(&mut Meaning<'_, Circuits<'_, 'q>, Both<'q, 'a>>) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        compute(&mut Meaning::new(self.checker.old, &mut Circuits(&mut self.sat), &mut self.both))
    }

    /// Computes something of the Boolean program.
    fn in_boolean<T>(
        &mut self,
        compute: impl FnOnce(&mut Meaning<'_, Sat<'q>, Both<'q, 'a>>) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        compute(&mut Meaning::new(&self.checker.proof.program, &mut self.sat, &mut self.both))
    }

    fn predicate(&mut self, var: VarId, whose: Whose, when: When) -> Result<Lit, Refused> {
        self.both.predicate(&mut self.sat, var, whose, when)
    }

    /// Notes what the program's step assigns.
    fn write(&mut self, writes: Writes<Bits>) -> Result<(), Refused> {
        self.both.writes = self.valued(writes)?;
        Ok(())
    }

    fn valued(&mut self, writes: Writes<Bits>) -> Result<BTreeMap<VarId, Bits>, Refused> {
        let mut valued = BTreeMap::new();
        for (var, value) in writes {
            let any = |sat| Circuits(sat).any(self.checker.old.vars[var].ty);
            valued.insert(var, value.map_or_else(|| any(&mut self.sat), Ok)?);
        }
        Ok(valued)
    }

    /// Where the guard holds, two literals must be equal.
    fn must(&mut self, guard: Option<Lit>, left: Lit, right: Lit) {
        let differ = !self.sat.equal(left, right);
        let guard = guard.unwrap_or(self.sat.constant(true));
        let bad = self.sat.and(guard, differ);
        self.bad.push(bad);
    }

    /// Makes a step, which leads to a location and may start a thread at another one.
    fn step(
        mut self,
        old: &Edge,
        new: &Edge,
        position: &Position,
        (to, child): (Option<LocId>, Option<LocId>),
    ) -> Result<Question<'q, 'a>, Refused> {
        let effect = self.in_program(|meaning| meaning.effect(old, position.caller()))?;
        self.write(effect.writes)?;
        self.both.child = self.valued(effect.child)?;
        self.both.asserted = effect.asserted.as_ref().map(|asserted| asserted[0]);
        self.both.begins = matches!(new.op, Op::Spawn(_));
        let over_predicates = self.in_boolean(|meaning| meaning.effect(new, None))?;
        let mut guard = self.sat.constant(true);
        for condition in effect.conditions {
            guard = self.sat.and(guard, condition[0]);
        }
        let truth = self.sat.constant(true);
        for condition in over_predicates.conditions {
            self.must(Some(guard), condition, truth);
        }
        if let (Some(asserted), Some(guessed)) = (self.both.asserted, over_predicates.asserted) {
            self.must(Some(guard), asserted, guessed);
            guard = self.sat.and(guard, asserted);
        }
        let written: BTreeMap<VarId, Lit> =
            over_predicates.writes.into_iter().filter_map(|(var, value)| Some((var, value?))).collect();
        if self.both.other.is_some() {
            let passive = over_predicates.passive.into_iter().map(|(_, var, value)| (var, value)).collect();
            self.arrives(guard, self.both.other, Whose::Other, &passive)?;
            return Ok(self);
        }
        let shared = self.checker.proof.program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Shared);
        for (var, _) in shared {
            self.stands_for(guard, var, Whose::Mover, &written)?;
        }
        self.arrives(guard, to, Whose::Mover, &written)?;
        if matches!(new.op, Op::Fork(_)) {
            self.arrives(guard, child, Whose::Mover, &written)?;
        } else if let Some(child) = child.and_then(|child| self.checker.proof.places[child].as_ref()) {
            // A local without an argument starts with any value.
            for (var, value) in over_predicates.child.iter().filter(|(var, _)| child.tracked.contains(var)) {
                if let Some(value) = value {
                    let predicate = self.predicate(*var, Whose::Child, When::After)?;
                    self.must(Some(guard), *value, predicate);
                }
            }
        }
        Ok(self)
    }

    /// The tracked locals of a thread have the values of their predicates after the step.
    fn arrives(
        &mut self,
        guard: Lit,
        at: Option<LocId>,
        whose: Whose,
        written: &BTreeMap<VarId, Lit>,
    ) -> Result<(), Refused> {
        let place = at.and_then(|at| self.checker.proof.places[at].as_ref());
        place
            .into_iter()
            .flat_map(|place| &place.tracked)
            .try_for_each(|var| self.stands_for(guard, *var, whose, written))
    }

    fn stands_for(
        &mut self,
        guard: Lit,
        var: VarId,
        whose: Whose,
        written: &BTreeMap<VarId, Lit>,
    ) -> Result<(), Refused> {
        let value = match written.get(&var) {
            Some(value) => *value,
            None => self.both.before(&mut self.sat, whose, var)?,
        };
        let predicate = self.predicate(var, whose, When::After)?;
        self.must(Some(guard), value, predicate);
        Ok(())
    }

    /// Nothing of what must not be can be.
    fn answer(mut self, flaw: Flaw) -> Result<(), Refused> {
        let falsehood = self.sat.constant(false);
        self.bad.retain(|bad| *bad != falsehood);
        if self.bad.is_empty() {
            return Ok(());
        }
        self.sat.clause(&self.bad);
        self.sat.refute(&[], flaw)
    }
}
