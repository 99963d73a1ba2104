//! Steps in which other threads take part: the step reads and assigns variables of each other thread.
//!
//! Given the moving thread's part of the step, each other thread has its own ways to take part, independent of those of
//! the rest. A thread without the variables in question has one way: it does not change.

use std::convert::Infallible;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_ir::{Assign, EdgeId, Expr, Op};

use super::Model;
use super::parts::{Local, LocalId, Parts};
use crate::step::explicit::known;
use crate::step::explicit::values::{Bits, Tri, choices_of, eval, for_each_choice, set};

/// The moving thread's part of a step with passive parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partner {
    pub edge: EdgeId,
    /// The choices that are made once.
    pub choices: Vec<bool>,
    /// The shared variables and its own, before the step.
    pub old: (Bits, Bits),
    /// The same after it.
    pub new: (Bits, Bits),
}

/// The ways of other threads, computed so far.
#[derive(Default)]
pub struct Ways {
    known: FxHashMap<(Rc<Partner>, LocalId), Rc<[LocalId]>>,
}

impl Ways {
    /// Returns the states in which another thread can be after the step; the list is empty if it does not allow the
    /// step.
    pub fn get(
        &mut self,
        model: &Model<'_>,
        parts: &mut Parts,
        partner: &Rc<Partner>,
        other: LocalId,
    ) -> Rc<[LocalId]> {
        let key = (Rc::clone(partner), other);
        if let Some(ways) = self.known.get(&key) {
            return Rc::clone(ways);
        }
        let local = parts.locals[other as usize].clone();
        let mut ways: Vec<LocalId> =
            ways(model, partner, &local).into_iter().map(|(local, _)| parts.local(local)).collect();
        ways.sort_unstable();
        ways.dedup();
        let ways: Rc<[LocalId]> = ways.into();
        self.known.insert(key, Rc::clone(&ways));
        ways
    }
}

/// Returns whether another thread takes part at all.
pub fn takes_part(model: &Model<'_>, assign: &Assign, other: &Local) -> bool {
    let assigned = assign.passive.iter().any(|(var, rhs)| model.has(other, *var) && has_all(model, other, rhs));
    assigned || (assign.constrain.is_passive() && has_all(model, other, &assign.constrain))
}

fn has_all(model: &Model<'_>, other: &Local, expr: &Expr) -> bool {
    !expr.any_leaf(|leaf| match leaf {
        Expr::Passive(var) | Expr::PassiveNext(var) => !model.has(other, *var),
        _ => false,
    })
}

pub fn assignment<'p>(model: &Model<'p>, edge: EdgeId) -> &'p Assign {
    match &model.program().edges[edge].op {
        Op::Assign(assign) => assign,
        _ => unreachable!("only assignments have passive parts"),
    }
}

/// Computes the ways of another thread to take part, each with the choices made for it.
pub fn ways(model: &Model<'_>, partner: &Partner, other: &Local) -> Vec<(Local, Vec<bool>)> {
    let assign = assignment(model, partner.edge);
    let n_choices = assign.choices().len();
    if !takes_part(model, assign, other) {
        return vec![(other.clone(), vec![false; n_choices])];
    }
    let pair = StepWithPeer { model, partner, assign, other, per_thread: assign.per_thread_choices() };
    let assigned: Vec<_> =
        assign.passive.iter().filter(|(var, rhs)| model.has(other, *var) && has_all(model, other, rhs)).collect();
    let condition =
        Some(&assign.constrain).filter(|condition| condition.is_passive() && has_all(model, other, condition));
    let mut used = choices_of(assigned.iter().map(|(_, rhs)| rhs).chain(condition));
    used.retain(|number| pair.per_thread[*number as usize]);
    let mut ways = Vec::new();
    let may = &mut |choices: &[Tri]| -> Result<bool, Infallible> {
        Ok(condition.is_none_or(|condition| pair.eval(condition, choices) != Tri::False))
    };
    let mut choices = vec![Tri::Open; n_choices];
    let Ok(()) = for_each_choice(&used, &mut choices, may, &mut |choices| {
        let mut local = other.clone();
        for (var, rhs) in &assigned {
            set(&mut local.bits, model.steps.layout.place(*var), pair.eval(rhs, choices) == Tri::True);
        }
        model.forget(&mut local);
        ways.push((local, known(choices)));
    });
    ways
}

/// A step together with one other thread.
struct StepWithPeer<'a, 'p> {
    model: &'a Model<'p>,
    partner: &'a Partner,
    assign: &'a Assign,
    other: &'a Local,
    per_thread: Vec<bool>,
}

impl StepWithPeer<'_, '_> {
    fn eval(&self, expr: &Expr, choices: &[Tri]) -> Tri {
        eval(expr, &|leaf| self.leaf(leaf, choices))
    }

    fn leaf(&self, leaf: &Expr, choices: &[Tri]) -> Tri {
        let layout = &self.model.steps.layout;
        let Partner { old, new, .. } = self.partner;
        match leaf {
            Expr::Var(var) => Tri::known(layout.read(&old.0, &old.1, *var)),
            Expr::Next(var) => Tri::known(layout.read(&new.0, &new.1, *var)),
            Expr::Passive(var) => Tri::known(layout.read(&old.0, &self.other.bits, *var)),
            Expr::PassiveNext(var) => match self.assigned(*var) {
                Some(rhs) => self.eval(rhs, choices),
                None => Tri::known(layout.read(&new.0, &self.other.bits, *var)),
            },
            Expr::Choice(number, _) if self.per_thread[*number as usize] => choices[*number as usize],
            Expr::Choice(number, _) => Tri::known(self.partner.choices[*number as usize]),
            _ => unreachable!("all other expressions have operands"),
        }
    }

    /// Returns the value that the step assigns to a variable of the other thread.
    fn assigned(&self, var: selvedge_ir::VarId) -> Option<&Expr> {
        let (_, rhs) = self.assign.passive.iter().find(|(assigned, _)| *assigned == var)?;
        (self.model.has(self.other, var) && has_all(self.model, self.other, rhs)).then_some(rhs)
    }
}
