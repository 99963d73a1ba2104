//! Steps in which other threads take part: the step reads and assigns variables of each other thread.
//!
//! Given the moving thread's part of the step, each other thread has its own ways to take part, independent of those of
//! the rest. A thread without the variables in question has one way: it does not change.

use std::convert::Infallible;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_ir::{Assign, EdgeId, Expr, Op};

use super::Model;
use super::parts::{Kind, Local, LocalId, Parts};
use crate::step::explicit::known;
use crate::step::explicit::values::{Bits, Tri, choices_of, eval, for_each_choice, set};
use crate::step::passive::{Part, part};

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

/// Returns the part of a step that concerns another thread, if it takes part at all.
pub fn part_of<'e>(model: &Model<'_>, assign: &'e Assign, other: &Local) -> Option<Part<'e>> {
    let entry = match other.kind {
        Kind::Prelude => None,
        Kind::Entry(entry) => Some(entry),
    };
    part(model.program(), assign, entry, other.loc)
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
    let Some(part) = part_of(model, assign, other) else { return vec![(other.clone(), vec![false; n_choices])] };
    let mut used = choices_of(part.exprs());
    let pair = StepWithPeer { model, partner, part, other, per_thread: assign.per_thread_choices() };
    used.retain(|number| pair.per_thread[*number as usize]);
    let mut ways = Vec::new();
    let may = &mut |choices: &[Tri]| -> Result<bool, Infallible> {
        Ok(pair.part.constrain.is_none_or(|condition| pair.eval(condition, choices) != Tri::False))
    };
    let mut choices = vec![Tri::Open; n_choices];
    let Ok(()) = for_each_choice(&used, &mut choices, may, &mut |choices| {
        let mut local = other.clone();
        for (var, rhs) in &pair.part.assigned {
            set(&mut local.bits, model.steps.slots.get(*var), pair.eval(rhs, choices) == Tri::True);
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
    part: Part<'a>,
    other: &'a Local,
    per_thread: Vec<bool>,
}

impl StepWithPeer<'_, '_> {
    fn eval(&self, expr: &Expr, choices: &[Tri]) -> Tri {
        eval(expr, &|leaf| self.leaf(leaf, choices))
    }

    fn leaf(&self, leaf: &Expr, choices: &[Tri]) -> Tri {
        let slots = &self.model.steps.slots;
        let Partner { old, new, .. } = self.partner;
        match leaf {
            Expr::Var(var) => Tri::known(slots.read(&old.0, &old.1, *var)),
            Expr::Next(var) => Tri::known(slots.read(&new.0, &new.1, *var)),
            Expr::Passive(var) => Tri::known(slots.read(&old.0, &self.other.bits, *var)),
            Expr::PassiveNext(var) => match self.part.value_of(*var) {
                Some(rhs) => self.eval(rhs, choices),
                None => Tri::known(slots.read(&new.0, &self.other.bits, *var)),
            },
            Expr::Choice(number, _) if self.per_thread[*number as usize] => choices[*number as usize],
            Expr::Choice(number, _) => Tri::known(self.partner.choices[*number as usize]),
            _ => unreachable!("all other expressions have operands"),
        }
    }
}
