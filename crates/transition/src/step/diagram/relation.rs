//! The one builder of relations: the meaning of expressions and assignments in decision diagrams, for every [`Layout`].
//!
//! A relation is between the values of variables now and the next ones of those that are assigned. Choices occur in it
//! as variables of their own, and are forgotten as early as possible.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use selvedge_ir::{Assign, Expr, VarId};
use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes, Renaming, Var, VarSet};

use super::expr;
use crate::step::passive::{Part, choices_of, is_common};

/// The moment at which a variable of the program is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before a step.
    Now,
    /// After the step.
    Next,
}

/// A step on sets of states: conjoin `relation`, forget `forget`, rename.
pub struct Step {
    /// Relates the values now to the next ones of variables that change.
    pub relation: Bdd,
    /// The variables that are forgotten.
    pub forget: VarSet,
    /// Renames the next values to the values now.
    pub rename: Renaming,
}

impl Step {
    /// Returns the states that the step leads to.
    pub fn image(&self, from: &Bdd) -> Result<Bdd, OutOfNodes> {
        from.and_exists(&self.relation, &self.forget)?.rename(&self.rename)
    }
}

/// An assignment of a thread, and another thread that takes part in it.
#[derive(Clone, Copy)]
pub struct Assignment<'s, A> {
    /// The assignment.
    pub assign: &'s Assign,
    /// The thread that makes it.
    pub mover: A,
    /// The other thread, and the part of the assignment that concerns it.
    pub peer: Option<(A, &'s Part<'s>)>,
}

impl<'s, A: Copy> Assignment<'s, A> {
    /// Creates an assignment in which no other thread takes part.
    pub fn of(mover: A, assign: &'s Assign) -> Assignment<'s, A> {
        Assignment { assign, mover, peer: None }
    }

    fn value_of(&self, var: VarId) -> Option<&'s Expr> {
        self.assign.active.iter().find(|(target, _)| *target == var).map(|(_, rhs)| rhs)
    }

    fn peer(&self) -> (A, &'s Part<'s>) {
        self.peer.expect("only expressions about another thread mention it")
    }
}

/// A conjunct of a relation, with the choices that may occur in it.
pub struct Conjunct {
    diagram: Bdd,
    choices: BTreeSet<u32>,
}

/// The variables of decision diagrams, by variable of the program, thread and moment.
pub trait Layout {
    /// Identifies a thread whose variables the diagrams have.
    type Agent: Copy;

    /// Returns the manager of the diagrams.
    fn manager(&self) -> &Manager;

    /// Returns the variables for the choices of an edge, by number.
    fn choices(&self) -> &[Var];

    /// Returns the variable for a variable of the program.
    fn position(&self, var: VarId, agent: Self::Agent, when: When) -> Var;

    /// Returns the literal of a variable of the program.
    fn literal(&self, var: VarId, agent: Self::Agent, when: When) -> Result<Bdd, OutOfNodes> {
        self.manager().var(self.position(var, agent, when))
    }

    /// Returns the literal of a choice.
    fn choice(&self, number: u32) -> Result<Bdd, OutOfNodes> {
        self.manager().var(self.choices()[number as usize])
    }

    /// Encodes an expression over old values of a thread, and choices.
    fn value(&self, agent: Self::Agent, expr: &Expr) -> Result<Bdd, OutOfNodes> {
        expr::encode(self.manager(), expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.literal(*var, agent, When::Now),
            Expr::Choice(number, _) => self.choice(*number),
            _ => unreachable!("only conditions of assignments and passive assignments have other leaves"),
        })
    }

    /// Encodes an expression of an assignment: a new value is the next one of a variable that is assigned, and the
    /// value now of any other.
    fn value_in(&self, step: &Assignment<'_, Self::Agent>, expr: &Expr) -> Result<Bdd, OutOfNodes> {
        let when = |is_assigned: bool| if is_assigned { When::Next } else { When::Now };
        expr::encode(self.manager(), expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.literal(*var, step.mover, When::Now),
            Expr::Next(var) => self.literal(*var, step.mover, when(step.value_of(*var).is_some())),
            Expr::Passive(var) => self.literal(*var, step.peer().0, When::Now),
            Expr::PassiveNext(var) => self.literal(*var, step.peer().0, when(step.peer().1.assigns(*var))),
            Expr::Choice(number, _) => self.choice(*number),
            _ => unreachable!("all other leaves are constants"),
        })
    }

    /// Encodes an expression of an assignment over old values and choices alone: a new value is what is assigned.
    fn resolved(&self, step: &Assignment<'_, Self::Agent>, expr: &Expr) -> Result<Bdd, OutOfNodes> {
        expr::encode(self.manager(), expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.literal(*var, step.mover, When::Now),
            Expr::Next(var) => match step.value_of(*var) {
                Some(rhs) => self.value(step.mover, rhs),
                None => self.literal(*var, step.mover, When::Now),
            },
            Expr::Passive(var) => self.literal(*var, step.peer().0, When::Now),
            Expr::PassiveNext(var) => match step.peer().1.value_of(*var) {
                Some(rhs) => self.resolved(step, rhs),
                None => self.literal(*var, step.peer().0, When::Now),
            },
            Expr::Choice(number, _) => self.choice(*number),
            _ => unreachable!("all other leaves are constants"),
        })
    }

    /// Returns the relation between the values now and next of the thread that makes an assignment, without the choices
    /// that `keeps` does not hold for.
    fn moved(&self, mover: Self::Agent, assign: &Assign, keeps: &dyn Fn(u32) -> bool) -> Result<Bdd, OutOfNodes> {
        let step = Assignment::of(mover, assign);
        let mut conjuncts = Vec::new();
        // A passive condition is about other threads: without any it holds.
        if !assign.constrain.is_passive() {
            for part in assign.constrain.conjuncts().into_iter().filter(|part| **part != Expr::TRUE) {
                conjuncts.push(conjunct(self.value_in(&step, part)?, part));
            }
        }
        for (var, rhs) in assign.active.iter().filter(|(_, rhs)| !is_free(assign, rhs, keeps)) {
            conjuncts.push(self.equation(self.position(*var, mover, When::Next), mover, rhs)?);
        }
        self.conjoined(conjuncts, keeps)
    }

    /// Returns the relation between the thread that makes an assignment and the one that takes part, without the
    /// choices of the latter.
    fn took_part(&self, step: &Assignment<'_, Self::Agent>) -> Result<Bdd, OutOfNodes> {
        let (peer, part) = step.peer();
        let mut conjuncts = Vec::new();
        for (var, rhs) in &part.assigned {
            let equal = self.literal(*var, peer, When::Next)?.iff(&self.value_in(step, rhs)?)?;
            conjuncts.push(conjunct(equal, rhs));
        }
        if let Some(constrain) = part.constrain {
            conjuncts.push(conjunct(self.value_in(step, constrain)?, constrain));
        }
        self.conjoined(conjuncts, &|number| is_common(step.assign, number))
    }

    /// States that a variable of the diagrams has the value of an expression of a thread.
    fn equation(&self, var: Var, agent: Self::Agent, value: &Expr) -> Result<Conjunct, OutOfNodes> {
        Ok(conjunct(self.manager().var(var)?.iff(&self.value(agent, value)?)?, value))
    }

    /// Returns the conjunction without the choices that `keeps` does not hold for.
    ///
    /// A choice is forgotten as soon as the conjuncts in which it occurs are conjoined, and most choices occur in one
    /// only. Conjoined at once, the conjuncts of an assignment of many nondeterministic values would have one diagram
    /// below the variables for each valuation of the choices. The remaining conjuncts are conjoined from the bottom of
    /// the order up.
    fn conjoined(&self, mut conjuncts: Vec<Conjunct>, keeps: &dyn Fn(u32) -> bool) -> Result<Bdd, OutOfNodes> {
        while let Some(choice) = rarest_choice(&conjuncts, keeps) {
            let (with, without) = conjuncts.into_iter().partition(|part: &Conjunct| part.choices.contains(&choice));
            conjuncts = without;
            let forget = self.manager().var_set(&[self.choices()[choice as usize]])?;
            conjuncts.push(without_choice(self.manager(), with, choice, &forget)?);
        }
        let top = |part: &Conjunct| part.diagram.decision().map(|(var, ..)| var);
        conjuncts.sort_by_cached_key(|part| Reverse(top(part)));
        let before = self.manager().node_count();
        conjuncts.iter().try_fold(self.manager().top(), |all, part| {
            expr::is_within(self.manager(), before)?;
            part.diagram.and(&all)
        })
    }
}

fn conjunct(diagram: Bdd, expr: &Expr) -> Conjunct {
    Conjunct { diagram, choices: choices_of([expr]).into_iter().collect() }
}

/// Conjoins the conjuncts in which a choice occurs and forgets it.
fn without_choice(
    manager: &Manager,
    parts: Vec<Conjunct>,
    choice: u32,
    forget: &VarSet,
) -> Result<Conjunct, OutOfNodes> {
    let mut choices = BTreeSet::new();
    let mut all = manager.top();
    let last = parts.len().saturating_sub(1);
    for (place, part) in parts.iter().enumerate() {
        all = if place == last { all.and_exists(&part.diagram, forget)? } else { all.and(&part.diagram)? };
        choices.extend(part.choices.iter().copied().filter(|other| *other != choice));
    }
    Ok(Conjunct { diagram: all, choices })
}

/// Returns the choice that occurs in the fewest conjuncts, among those that are not kept.
fn rarest_choice(parts: &[Conjunct], keeps: &dyn Fn(u32) -> bool) -> Option<u32> {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for choice in parts.iter().flat_map(|part| &part.choices).filter(|choice| !keeps(**choice)) {
        *counts.entry(*choice).or_default() += 1;
    }
    counts.into_iter().min_by_key(|(_, count)| *count).map(|(choice, _)| choice)
}

/// Returns whether a right-hand side is a choice that occurs nowhere else, so that the assigned variable gets any
/// value.
fn is_free(assign: &Assign, rhs: &Expr, keeps: &dyn Fn(u32) -> bool) -> bool {
    let Expr::Choice(number, _) = rhs else { return false };
    let mut uses = 0;
    let mut count = |expr: &Expr| {
        expr.for_each_leaf(|leaf| uses += u32::from(matches!(leaf, Expr::Choice(other, _) if other == number)))
    };
    assign.active.iter().for_each(|(_, rhs)| count(rhs));
    count(&assign.constrain);
    uses == 1 && !keeps(*number)
}
