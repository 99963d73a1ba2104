//! The parts of a step that concern other threads.

use selvedge_ir::{Assign, EntryId, Expr, LocId, Program, Scope, VarId};

/// The part of a step that concerns one other thread.
pub struct Part<'e> {
    /// The assignments to its variables.
    pub assigned: Vec<&'e (VarId, Expr)>,
    /// The condition, if it concerns this thread.
    pub constrain: Option<&'e Expr>,
}

impl<'e> Part<'e> {
    /// Returns the value that the step assigns to a variable of the thread.
    pub fn value_of(&self, var: VarId) -> Option<&'e Expr> {
        self.assigned.iter().find(|(assigned, _)| *assigned == var).map(|(_, rhs)| rhs)
    }

    /// Returns whether the step assigns a variable of the thread.
    pub fn assigns(&self, var: VarId) -> bool {
        self.value_of(var).is_some()
    }

    /// Returns the expressions that concern the thread.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.assigned.iter().map(|(_, rhs)| rhs).chain(self.constrain)
    }
}

/// Returns the part of a step that concerns a thread of a kind at a location; `None` if it does not take part.
pub fn part<'e>(program: &Program, assign: &'e Assign, entry: Option<EntryId>, loc: LocId) -> Option<Part<'e>> {
    let has = |var: VarId| match program.vars[var].scope {
        Scope::Shared => true,
        Scope::Thread => entry.is_some_and(|entry| program.entries[entry].thread_vars.contains(&var)),
        Scope::Local(owner) => program.locs[loc].proc == owner,
    };
    let has_all = |expr: &Expr| {
        !expr.any_leaf(|leaf| match leaf {
            Expr::Passive(var) | Expr::PassiveNext(var) => !has(*var),
            _ => false,
        })
    };
    let assigned: Vec<_> = assign.passive.iter().filter(|(var, rhs)| has(*var) && has_all(rhs)).collect();
    let concerned = assign.constrain.is_passive() && has_all(&assign.constrain);
    (concerned || !assigned.is_empty()).then(|| Part { assigned, constrain: concerned.then_some(&assign.constrain) })
}

/// Returns whether the moving thread has a choice of an assignment in common with all others: whether it occurs in its
/// own assignments.
pub fn is_common(assign: &Assign, number: u32) -> bool {
    makes(assign.active.iter().map(|(_, rhs)| rhs), number)
}

/// Returns the numbers of the choices in some expressions, in ascending order.
pub fn choices_of<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<u32> {
    let mut used = Vec::new();
    for expr in exprs {
        expr.for_each_leaf(|leaf| {
            if let Expr::Choice(number, _) = leaf {
                used.push(*number);
            }
        });
    }
    used.sort_unstable();
    used.dedup();
    used
}

/// Returns whether a choice of an assignment occurs in its parts for other threads.
pub fn in_passive_parts(assign: &Assign, number: u32) -> bool {
    let constrain = assign.constrain.is_passive().then_some(&assign.constrain);
    makes(assign.passive.iter().map(|(_, rhs)| rhs).chain(constrain), number)
}

fn makes<'e>(mut exprs: impl Iterator<Item = &'e Expr>, number: u32) -> bool {
    exprs.any(|expr| expr.any_leaf(|leaf| matches!(leaf, Expr::Choice(other, _) if *other == number)))
}
