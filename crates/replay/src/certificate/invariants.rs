//! Certificates for programs with machine integers, one thread and no recursion: formulas at some places.
//!
//! From the start, and from every state that the formula of a place allows, the thread is followed to the next places
//! with formulas; those without are passed. All states on the way are looked at together, as literals of a solver: they
//! wait at the places that they come to, and the place that is listed first is left first, so that what leads to a
//! place is there before it is left. The questions, each of which must have no solution:
//!
//! 1. a way to a place in a state that its formula does not allow;
//! 2. a way to a target location, or to the failure of a target assertion;
//! 3. a way to a place that is not listed, or that has no formula and is not listed behind the place before it.
//!
//! By induction over the number of places with formulas that an execution has passed, it is at each of them in a state
//! that is allowed, and between them on a way that was followed: no error is ever met.

use std::collections::{BTreeMap, HashMap};

use selvedge_check::{InvariantProof, Run, Task};
use selvedge_ir::{Edge, EdgeId, EntryId, Expr, LocId, Op, Program, Ty, VarId};

use super::bits::{Bits, Circuits};
use super::sat::{Lit, Sat};
use super::typed::type_of;
use super::{Flaw, Refused};
use crate::position::Position;
use crate::program::{Leaving, choice_types, exprs, has_one_thread, leaving};
use crate::semantics::{Meaning, Scene, Writes};

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &InvariantProof, run: &Run<'_>) -> Result<(), Refused> {
    let program = task.program;
    has_one_thread(program)?;
    if program.prelude.is_some() || !task.target.together.is_empty() {
        return Err(Flaw::OutOfScope("it has code before its thread, or meetings").into());
    }
    let position = |calls: &[EdgeId], loc: LocId| Position { calls: calls.to_vec(), loc };
    let places: Vec<Position> = proof.places.iter().map(|place| position(&place.calls, place.loc)).collect();
    let numbers: HashMap<Position, usize> = places.iter().cloned().zip(0..).collect();
    let is_formula = |(_, formula): (_, &Expr)| type_of(formula, program) == Some(Ty::Bool);
    let fit = places.iter().all(|place| is_place(program, place)) && proof.stated().all(is_formula);
    if numbers.len() != places.len() || !fit {
        return Err(Flaw::Malformed(None).into());
    }
    let checker = Checker { task, proof, places, numbers, leaving: leaving(program), run };
    checker.start()?;
    proof.places.iter().enumerate().try_for_each(|(number, place)| match &place.formula {
        Some(formula) => checker.follow(number, formula),
        None => Ok(()),
    })
}

/// Returns whether each call is in the procedure that the one before it calls, and the location in that of the last.
fn is_place(program: &Program, place: &Position) -> bool {
    let mut proc = program.entries[EntryId::new(0)].proc;
    for call in &place.calls {
        match program.edges.get(*call) {
            Some(Edge { from, op: Op::Call(call), .. }) if program.locs[*from].proc == proc => proc = call.callee,
            _ => return false,
        }
    }
    program.locs.get(place.loc).is_some_and(|loc| loc.proc == proc)
}

struct Checker<'a> {
    task: &'a Task<'a>,
    proof: &'a InvariantProof,
    places: Vec<Position>,
    numbers: HashMap<Position, usize>,
    leaving: Leaving,
    run: &'a Run<'a>,
}

impl Checker<'_> {
    /// The ways from the start.
    fn start(&self) -> Result<(), Refused> {
        let (program, kind) = (self.task.program, EntryId::new(0));
        let mut ways = Ways::new(self);
        let mut states = ways.anything(program.init.iter().map(|(_, rhs)| rhs));
        let shared = ways.with(&mut states, |meaning| meaning.start_shared())?;
        states.write(shared);
        states.choose(program.entries[kind].init.iter().map(|(_, rhs)| rhs));
        let begun = ways.with(&mut states, |meaning| meaning.start_thread(kind))?;
        states.write(begun);
        let first = Position::entry(program, program.entries[kind].proc);
        let flaw = Flaw::Start(first.loc);
        ways.arrive(None, states, first, flaw)?;
        ways.finish()
    }

    /// The ways from a place with a formula.
    fn follow(&self, number: usize, formula: &Expr) -> Result<(), Refused> {
        let mut ways = Ways::new(self);
        let mut states = ways.anything([]);
        states.guard = ways.with(&mut states, |meaning| meaning.value(formula))?[0];
        ways.waiting.insert(number, states);
        ways.finish()
    }
}

/// The states in which the guard holds: a literal for each bit of a variable, made when it is first needed.
#[derive(Clone)]
struct States<'a> {
    checker: &'a Checker<'a>,
    guard: Lit,
    vars: BTreeMap<VarId, Bits>,
    /// The types of the choices of the step that is made, and those that have been made.
    types: Vec<Ty>,
    made: BTreeMap<u32, Bits>,
}

impl States<'_> {
    /// A variable with any value gets its literals when they are needed.
    fn write(&mut self, writes: Writes<Bits>) {
        for (var, value) in writes {
            match value {
                Some(value) => drop(self.vars.insert(var, value)),
                None => drop(self.vars.remove(&var)),
            }
        }
    }

    /// Begins a step with the choices in these expressions.
    fn choose<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        (self.types, self.made) = (choice_types(exprs), BTreeMap::new());
    }
}

impl Scene<Circuits<'_, '_>> for States<'_> {
    fn read(&mut self, circuits: &mut Circuits<'_, '_>, var: VarId) -> Result<Bits, Refused> {
        if let Some(known) = self.vars.get(&var) {
            return Ok(known.clone());
        }
        let bits = circuits.any(self.checker.task.program.vars[var].ty)?;
        Ok(self.vars.entry(var).or_insert(bits).clone())
    }

    fn choice(&mut self, circuits: &mut Circuits<'_, '_>, number: u32) -> Result<Bits, Refused> {
        if let Some(known) = self.made.get(&number) {
            return Ok(known.clone());
        }
        let bits = circuits.any(self.types[number as usize])?;
        Ok(self.made.entry(number).or_insert(bits).clone())
    }
}

/// The ways from the start, or from a place.
struct Ways<'a> {
    checker: &'a Checker<'a>,
    sat: Sat<'a>,
    /// The states that have come to places, by number, and have not left them.
    waiting: BTreeMap<usize, States<'a>>,
}

impl<'a> Ways<'a> {
    fn new(checker: &'a Checker<'a>) -> Ways<'a> {
        Ways { checker, sat: Sat::new(checker.run), waiting: BTreeMap::new() }
    }

    /// All states.
    fn anything<'e>(&self, choosing: impl IntoIterator<Item = &'e Expr>) -> States<'a> {
        let (guard, types) = (self.sat.constant(true), choice_types(choosing));
        States { checker: self.checker, guard, vars: BTreeMap::new(), types, made: BTreeMap::new() }
    }

    /// The meaning of steps in some states.
    fn with<T>(
        &mut self,
        states: &mut States<'a>,
        compute: impl FnOnce(&mut Meaning<'_, Circuits<'_, 'a>, States<'a>>) -> Result<T, Refused>,
    ) -> Result<T, Refused> {
        compute(&mut Meaning::new(self.checker.task.program, &mut Circuits(&mut self.sat), states))
    }

    /// Goes on until no states wait. It ends because states only come to places behind the one that they leave.
    fn finish(&mut self) -> Result<(), Refused> {
        while let Some((number, states)) = self.waiting.pop_first() {
            self.checker.run.check_limits()?;
            self.leave(number, states)?;
        }
        Ok(())
    }

    /// Divides the states at a place among the edges that leave it, in all ways.
    fn leave(&mut self, number: usize, mut states: States<'a>) -> Result<(), Refused> {
        let edges = &self.checker.leaving[self.checker.places[number].loc];
        for (place, edge) in edges.iter().enumerate() {
            let mut taken = states.clone();
            if place + 1 < edges.len() {
                let this = self.sat.fresh();
                taken.guard = self.sat.and(states.guard, this);
                states.guard = self.sat.and(states.guard, !this);
            }
            self.step(number, *edge, taken)?;
        }
        Ok(())
    }

    /// Makes a step along an edge.
    fn step(&mut self, number: usize, id: EdgeId, mut states: States<'a>) -> Result<(), Refused> {
        let checker = self.checker;
        let (program, position) = (checker.task.program, &checker.places[number]);
        let edge = &program.edges[id];
        if position.recurs(program, &edge.op) {
            return Err(Flaw::OutOfScope("it is recursive").into());
        }
        states.choose(exprs(&edge.op));
        let effect = self.with(&mut states, |meaning| meaning.effect(edge, position.caller()))?;
        for condition in &effect.conditions {
            states.guard = self.sat.and(states.guard, condition[0]);
        }
        if let Some(holds) = &effect.asserted {
            if checker.task.target.has_assert(id) {
                self.sat.refute(&[states.guard, !holds[0]], Flaw::Assert(id))?;
            }
            states.guard = self.sat.and(states.guard, holds[0]);
        }
        states.write(effect.writes);
        match position.after(program, id) {
            Some(after) => self.arrive(Some(number), states, after, Flaw::NotClosed(id)),
            None => Ok(()),
        }
    }

    /// States come to a place, from another one or from the start.
    fn arrive(&mut self, from: Option<usize>, mut states: States<'a>, to: Position, flaw: Flaw) -> Result<(), Refused> {
        let checker = self.checker;
        if checker.task.target.has_loc(to.loc) {
            return self.sat.refute(&[states.guard], Flaw::Location(to.loc));
        }
        let number = checker.numbers.get(&to).copied();
        let formula = number.and_then(|number| checker.proof.places[number].formula.as_ref());
        match (number, formula) {
            (_, Some(formula)) => {
                let holds = self.with(&mut states, |meaning| meaning.value(formula))?[0];
                self.sat.refute(&[states.guard, !holds], flaw)
            }
            (Some(number), None) if from.is_none_or(|from| from < number) => {
                let all = match self.waiting.remove(&number) {
                    Some(others) => self.merged(states, others)?,
                    None => states,
                };
                self.waiting.insert(number, all);
                Ok(())
            }
            _ => self.sat.refute(&[states.guard], flaw),
        }
    }

    /// The states of either kind. In no execution do both guards hold.
    fn merged(&mut self, mut left: States<'a>, mut right: States<'a>) -> Result<States<'a>, Refused> {
        let vars: Vec<VarId> = left.vars.keys().chain(right.vars.keys()).copied().collect();
        let mut circuits = Circuits(&mut self.sat);
        for var in vars {
            let (here, there) = (left.read(&mut circuits, var)?, right.read(&mut circuits, var)?);
            left.vars.insert(var, circuits.select(left.guard, &here, &there));
        }
        left.guard = self.sat.or(left.guard, right.guard);
        Ok(left)
    }
}
