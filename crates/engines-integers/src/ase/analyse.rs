//! Does the explored part cover everything reachable? (Figs. 4.1 and 4.3, with joint exactness.)
//!
//! The paper calls an edge from `a` to `b` exact if each state of `a` has *some* successor in `b`. With
//! nondeterministic input that proves nothing: other successors may be elsewhere. Here all edges of one step `t` from
//! `a` are *jointly* exact if every successor of every state of `a` by `t` is in one of the abstract states to which
//! they lead. Steps without an edge are checked as well, unless the predicates exclude them.

use std::collections::BTreeSet;

use selvedge_check::{Run, Stop};
use selvedge_logic::smt::{Symbol, Term};

use super::super::atoms::atoms;
use super::super::model::SymbolicStep;
use super::super::prover::{AnswerSource, Prover};
use super::abstraction::{AbstractionContext, Condition, PredicateState};
use super::explore::Explored;

/// An abstract state and the number of a step.
pub(super) type AbstractStep = (usize, usize);

/// Decides which steps of an exploration are exact, and refines those that are not.
pub(super) struct Analyser<'a, 'r> {
    pub(super) context: &'a AbstractionContext<'a>,
    pub(super) prover: &'a mut Prover<'r>,
    pub(super) run: &'a Run<'a>,
    pub(super) explored: &'a Explored,
    /// The number of solver queries so far.
    pub(super) queries: usize,
}

impl Analyser<'_, '_> {
    /// Returns the abstract states on loops, and those reachable from them.
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

    /// Returns the steps of the given abstract states whose edges are not jointly exact.
    pub(super) fn inexact(&mut self, states: &BTreeSet<usize>) -> Result<Vec<AbstractStep>, Stop> {
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

    /// Returns whether all abstract states together are closed under all steps. Exact steps need no check.
    pub(super) fn is_inductive(&mut self, fragment: &BTreeSet<usize>, inexact: &[AbstractStep]) -> Result<bool, Stop> {
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

    /// Returns the explored abstract states in which a step can end, as far as location and control variables tell.
    fn everywhere(&self, (state, number): AbstractStep) -> BTreeSet<usize> {
        let from = &self.explored.states[state];
        let step = &self.context.model.from(from.loc)[number];
        let control = self.context.control_after(number, from);
        let states = self.explored.states.iter().enumerate();
        states.filter(|(_, to)| to.loc == step.to && to.control == control).map(|(number, _)| number).collect()
    }

    /// Returns the steps from an abstract state that its predicates do not exclude.
    pub(super) fn steps(&self, state: usize) -> Vec<usize> {
        let known = self.explored.known(state, self.context);
        let state = &self.explored.states[state];
        let guard = |number: &usize| &self.context.effect(state.loc, *number).guard;
        let steps = 0..self.context.model.from(state.loc).len();
        steps.filter(|number| self.context.decided(guard(number), state, &known) != Some(false)).collect()
    }

    /// Returns whether all successors by a step are in the given abstract states. The solver is needed only if the
    /// predicates do not determine where the step leads, and the same query was not answered before.
    pub(super) fn is_covered(&mut self, place: AbstractStep, targets: &BTreeSet<usize>) -> Result<bool, Stop> {
        self.run.tick()?;
        if let Some(answer) = self.is_plainly_covered(place, targets) {
            return Ok(answer);
        }
        let uncovered = self.uncovered(place, targets);
        let (is_sat, source) = self.prover.is_sat_once(&uncovered)?;
        self.queries += usize::from(source == AnswerSource::Solver);
        Ok(!is_sat)
    }

    /// Answers without the solver if the predicates determine the one abstract state that contains all successors.
    fn is_plainly_covered(&self, (state, number): AbstractStep, targets: &BTreeSet<usize>) -> Option<bool> {
        let from = &self.explored.states[state];
        let step = &self.context.model.from(from.loc)[number];
        let known = self.explored.known(state, self.context);
        let effect = self.context.effect(from.loc, number);
        let mut to = PredicateState { loc: step.to, control: Vec::new(), bits: from.bits.clone() };
        for (number, predicate) in &effect.affected {
            to.bits[*number] = self.context.decided(predicate, from, &known)?;
        }
        to.control = self.context.control_after(number, from);
        match self.explored.index.get(&to).is_some_and(|to| targets.contains(to)) {
            true => Some(true),
            // The abstract state is not empty, and all its states have a successor there.
            false => (self.context.decided(&effect.guard, from, &known) == Some(true)).then_some(false),
        }
    }

    /// Describes the states of an abstract state, and the choices, for which a step leads to none of the given abstract
    /// states.
    fn uncovered(&self, (state, number): AbstractStep, targets: &BTreeSet<usize>) -> Term {
        let from = &self.explored.states[state];
        let step = &self.context.model.from(from.loc)[number];
        let affected = &self.context.effect(from.loc, number).affected;
        let control = self.context.control_after(number, from);
        let fits = |to: &&PredicateState| {
            let changes = |number: usize| affected.binary_search_by_key(&number, |(affected, _)| *affected).is_ok();
            let same = |number: usize| to.bits[number] == from.bits[number] || changes(number);
            to.loc == step.to && to.control == control && (0..to.bits.len()).all(same)
        };
        let targets = targets.iter().map(|target| &self.explored.states[*target]).filter(fits);
        let missed: BTreeSet<Term> = targets.map(|to| literals(to, affected).not()).collect();
        let also = affected.iter().flat_map(|(_, predicate)| predicate.term.symbols()).collect();
        self.context.restricted(&Term::and([step.guard.clone()].into_iter().chain(missed)), also, from)
    }

    /// Returns new predicates from the preimages of the abstract states, explored or not, to which inexact steps lead.
    pub(super) fn refine(&mut self, inexact: &[AbstractStep]) -> Result<BTreeSet<Term>, Stop> {
        let mut found = BTreeSet::new();
        let mut done: BTreeSet<(selvedge_ir::EdgeId, Vec<bool>)> = BTreeSet::new();
        let nowhere = BTreeSet::new();
        for place in inexact {
            self.run.tick()?;
            let loc = self.explored.states[place.0].loc;
            let step = &self.context.model.from(loc)[place.1];
            let affected = &self.context.effect(loc, place.1).affected;
            if step.choices.is_empty() {
                // Whatever the step leads to, its preimage is made of the same atoms.
                if done.insert((step.edge, Vec::new())) {
                    atoms(&step.guard, &mut found);
                    affected.iter().for_each(|(_, predicate)| atoms(&predicate.term, &mut found));
                }
                continue;
            }
            let explored = self.explored.edges.get(place).unwrap_or(&nowhere);
            let of =
                |state: &PredicateState| affected.iter().map(|(number, _)| state.bits[*number]).collect::<Vec<bool>>();
            let mut targets: BTreeSet<Vec<bool>> = explored.iter().map(|to| of(&self.explored.states[*to])).collect();
            let terms: Vec<Term> = affected.iter().map(|(_, predicate)| predicate.term.clone()).collect();
            let uncovered = self.uncovered(*place, explored);
            let valuation = self.context.valuation(&self.explored.states[place.0].control);
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

    /// Collects the atoms of the preimage of a valuation of predicates.
    fn preimage(
        &mut self,
        step: &SymbolicStep,
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

/// Returns the condition under which a step leads to an abstract state, restricted to the predicates that it may
/// change.
fn literals(to: &PredicateState, affected: &[(usize, Condition)]) -> Term {
    let literal = |bit: bool, term: &Term| if bit { term.clone() } else { term.not() };
    Term::and(affected.iter().map(|(number, before)| literal(to.bits[*number], &before.term)))
}
