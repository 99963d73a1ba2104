//! Does what was explored cover all that can be reached? (Figs. 4.1 and 4.3, with joint exactness.)
//!
//! The paper calls an edge from `a` to `b` exact if each state of `a` has *some* successor in `b`. With nondeterministic
//! input that is no argument: other successors may be elsewhere. Here all edges of one step `t` from `a` are exact
//! *together* if every successor of every state of `a` by `t` is in one of the abstract states that they lead to. Steps
//! without an edge are asked about as well, unless the predicates exclude them.

use std::collections::BTreeSet;

use selvedge_check::{Run, Stop};
use selvedge_logic::smt::{Symbol, Term};

use super::super::atoms::atoms;
use super::super::model::Transition;
use super::super::prover::{Asked, Prover};
use super::abstraction::{Abstract, Condition, World};
use super::explore::Explored;

/// An abstract state and the number of a step.
pub(super) type Place = (usize, usize);

pub(super) struct Analyser<'a, 'r> {
    pub(super) world: &'a World<'a>,
    pub(super) prover: &'a mut Prover<'r>,
    pub(super) run: &'a Run<'a>,
    pub(super) explored: &'a Explored,
    /// How many questions were asked.
    pub(super) queries: usize,
}

impl Analyser<'_, '_> {
    /// The abstract states on loops, and those behind them.
    pub(super) fn fragment(&self) -> BTreeSet<usize> {
        let mut fragment = self.explored.looped.clone();
        let mut waiting: Vec<usize> = fragment.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            let edges = self.explored.edges.range((state, 0)..(state + 1, 0));
            for next in edges.flat_map(|(_, targets)| targets) {
                if fragment.insert(*next) {
                    waiting.push(*next);
                }
            }
        }
        fragment
    }

    /// The steps of some abstract states whose edges are not exact together.
    pub(super) fn inexact(&mut self, states: &BTreeSet<usize>) -> Result<Vec<Place>, Stop> {
        let nowhere = BTreeSet::new();
        let mut inexact = Vec::new();
        for state in states {
            for number in self.steps(*state) {
                let targets = self.explored.edges.get(&(*state, number)).unwrap_or(&nowhere);
                if !self.is_covered((*state, number), targets)? {
                    inexact.push((*state, number));
                }
            }
        }
        Ok(inexact)
    }

    /// Whether all abstract states together are closed under all steps. Those that are exact are not asked about.
    pub(super) fn is_inductive(&mut self, fragment: &BTreeSet<usize>, inexact: &[Place]) -> Result<bool, Stop> {
        for state in 0..self.explored.states.len() {
            for number in self.steps(state) {
                let is_exact = fragment.contains(&state) && inexact.binary_search(&(state, number)).is_err();
                if !is_exact && !self.is_covered((state, number), &self.everywhere((state, number)))? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The abstract states where a step may lead to.
    fn everywhere(&self, (state, number): Place) -> BTreeSet<usize> {
        let from = &self.explored.states[state];
        let step = &self.world.model.from(from.loc)[number];
        let control = self.world.control_after(number, from);
        let states = self.explored.states.iter().enumerate();
        states.filter(|(_, to)| to.loc == step.to && to.control == control).map(|(number, _)| number).collect()
    }

    /// The steps from an abstract state that its predicates do not exclude.
    pub(super) fn steps(&self, state: usize) -> Vec<usize> {
        let known = self.explored.known(state, self.world);
        let state = &self.explored.states[state];
        let guard = |number: &usize| &self.world.effect(state.loc, *number).guard;
        let steps = 0..self.world.model.from(state.loc).len();
        steps.filter(|number| self.world.decided(guard(number), state, &known) != Some(false)).collect()
    }

    /// Whether all successors by a step are in some abstract states. A solver is asked only if the predicates do not tell
    /// where the step leads, and nothing equal was asked before.
    pub(super) fn is_covered(&mut self, place: Place, targets: &BTreeSet<usize>) -> Result<bool, Stop> {
        self.run.tick()?;
        if let Some(answer) = self.is_plainly_covered(place, targets) {
            return Ok(answer);
        }
        let uncovered = self.uncovered(place, targets);
        let (is_sat, asked) = self.prover.is_sat_once(&uncovered)?;
        self.queries += usize::from(asked == Asked::Now);
        Ok(!is_sat)
    }

    /// The answer, where the predicates determine the one abstract state in which all successors are.
    fn is_plainly_covered(&self, (state, number): Place, targets: &BTreeSet<usize>) -> Option<bool> {
        let from = &self.explored.states[state];
        let step = &self.world.model.from(from.loc)[number];
        let known = self.explored.known(state, self.world);
        let effect = self.world.effect(from.loc, number);
        let mut to = Abstract { loc: step.to, control: Vec::new(), bits: from.bits.clone() };
        for (number, predicate) in &effect.affected {
            to.bits[*number] = self.world.decided(predicate, from, &known)?;
        }
        to.control = self.world.control_after(number, from);
        match self.explored.number(&to).is_some_and(|to| targets.contains(&to)) {
            true => Some(true),
            // An abstract state has states, and all of them have a successor there.
            false => (self.world.decided(&effect.guard, from, &known) == Some(true)).then_some(false),
        }
    }

    /// The states of an abstract state, and choices, for which a step leads to none of some abstract states.
    fn uncovered(&self, (state, number): Place, targets: &BTreeSet<usize>) -> Term {
        let from = &self.explored.states[state];
        let step = &self.world.model.from(from.loc)[number];
        let affected = &self.world.effect(from.loc, number).affected;
        let control = self.world.control_after(number, from);
        let fits = |to: &&Abstract| {
            let changes = |number: usize| affected.binary_search_by_key(&number, |(affected, _)| *affected).is_ok();
            let same = |number: usize| to.bits[number] == from.bits[number] || changes(number);
            to.loc == step.to && to.control == control && (0..to.bits.len()).all(same)
        };
        let targets = targets.iter().map(|target| &self.explored.states[*target]).filter(fits);
        let missed: BTreeSet<Term> = targets.map(|to| literals(to, affected).not()).collect();
        let also = affected.iter().flat_map(|(_, predicate)| predicate.term.symbols()).collect();
        self.world.restricted(&Term::and([step.guard.clone()].into_iter().chain(missed)), also, from)
    }

    /// New predicates from the preimages of where inexact steps lead to, explored or not.
    pub(super) fn refine(&mut self, inexact: &[Place]) -> Result<BTreeSet<Term>, Stop> {
        let mut found = BTreeSet::new();
        let mut done: BTreeSet<(selvedge_ir::EdgeId, Vec<bool>)> = BTreeSet::new();
        let nowhere = BTreeSet::new();
        for place in inexact {
            self.run.tick()?;
            let loc = self.explored.states[place.0].loc;
            let step = &self.world.model.from(loc)[place.1];
            let affected = &self.world.effect(loc, place.1).affected;
            if step.choices.is_empty() {
                // Whatever the step leads to, its preimage is made of the same atoms.
                if done.insert((step.edge, Vec::new())) {
                    atoms(&step.guard, &mut found);
                    affected.iter().for_each(|(_, predicate)| atoms(&predicate.term, &mut found));
                }
                continue;
            }
            let explored = self.explored.edges.get(place).unwrap_or(&nowhere);
            let of = |state: &Abstract| affected.iter().map(|(number, _)| state.bits[*number]).collect::<Vec<bool>>();
            let mut targets: BTreeSet<Vec<bool>> = explored.iter().map(|to| of(&self.explored.states[*to])).collect();
            let terms: Vec<Term> = affected.iter().map(|(_, predicate)| predicate.term.clone()).collect();
            let uncovered = self.uncovered(*place, explored);
            let valuation = self.world.valuation(&self.explored.states[place.0].control);
            let here: Vec<Term> = terms.iter().map(|term| term.substitute(&valuation)).collect();
            targets.extend(self.prover.all_solutions(&uncovered, &here)?);
            for bits in targets {
                if done.insert((step.edge, bits.clone())) {
                    self.preimage(step, &terms, &bits, &mut found)?;
                }
            }
        }
        Ok(found)
    }

    /// The atoms of the preimage of some truth values of predicates.
    fn preimage(
        &mut self,
        step: &Transition,
        terms: &[Term],
        bits: &[bool],
        found: &mut BTreeSet<Term>,
    ) -> Result<(), Stop> {
        let choices: BTreeSet<Symbol> = step.choices.iter().cloned().collect();
        let literals = terms.iter().zip(bits).map(|(term, bit)| if *bit { term.clone() } else { term.not() });
        let all = [step.guard.clone()].into_iter().chain(literals);
        let (open, plain): (Vec<Term>, Vec<Term>) = all.partition(|part| !part.symbols().is_disjoint(&choices));
        plain.iter().for_each(|part| atoms(part, found));
        let closed = self.prover.eliminate(&step.choices, &Term::and(open))?;
        atoms(&closed, found);
        Ok(())
    }
}

/// What holds before a step that leads to an abstract state, of the predicates that the step may change.
fn literals(to: &Abstract, affected: &[(usize, Condition)]) -> Term {
    let literal = |bit: bool, term: &Term| if bit { term.clone() } else { term.not() };
    Term::and(affected.iter().map(|(number, before)| literal(to.bits[*number], &before.term)))
}
