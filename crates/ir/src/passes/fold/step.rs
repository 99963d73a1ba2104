//! Folds one operation.

use rustc_hash::FxHashMap;

use super::constants::Constants;
use crate::simplify::{and, substitute};
use crate::syntax::{Assign, BinaryOp, Edge, Expr, Op, UnaryOp, Value, VarId};

/// Limit on the rounds in which facts of a constraint are carried into the rest of the step. Each round makes the step
/// smaller, but chains of facts are rare.
const MAX_ROUNDS: usize = 8;

/// Returns the folded operation and the choices that it fixes; `None` if no state can take the step. What the edge
/// ensures is folded already; an assertion that always holds becomes an assumption of it.
pub(super) fn fold_step(edge: &Edge, constants: &Constants) -> Option<(Op, Fixed)> {
    match &edge.op {
        _ if *edge.needs() == Expr::FALSE => None,
        Op::Assign(assign) if assign.is_passive() => Some((edge.op.clone(), Vec::new())),
        Op::Assign(assign) => fold_assign(assign, constants),
        op => match fold_exprs(op, constants) {
            Op::Assert(Expr::TRUE) => Some((Op::assume(edge.ensures.clone()), Vec::new())),
            folded => Some((folded, Vec::new())),
        },
    }
}

fn fold_exprs(op: &Op, constants: &Constants) -> Op {
    let mut folded = op.clone();
    for expr in folded.exprs_mut() {
        *expr = constants.fold(expr);
    }
    folded
}

/// Choices that the pass has fixed, by number.
pub(super) type Fixed = Vec<(u32, Value)>;

/// Folds an assignment in which no other thread takes part. A variable that always holds one value is not assigned.
fn fold_assign(assign: &Assign, constants: &Constants) -> Option<(Op, Fixed)> {
    let varies = assign.active.iter().filter(|(var, _)| constants.get(*var).is_none());
    let mut active: Vec<(VarId, Expr)> = varies.map(|(var, rhs)| (*var, constants.fold(rhs))).collect();
    let mut constrain = constants.fold(&assign.constrain);
    let mut fixed = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let facts = Facts::of(&resolve_next(&constrain, &active));
        let next = facts.condition();
        for (_, rhs) in &mut active {
            *rhs = substitute(rhs, &mut |leaf| facts.replace(leaf));
        }
        fixed.extend(facts.fixed());
        let settled = next == constrain;
        constrain = next;
        if settled {
            break;
        }
    }
    active.retain(|(var, rhs)| *rhs != Expr::Var(*var));
    (constrain != Expr::FALSE).then(|| (Op::guarded(active, constrain), fixed))
}

/// Replaces new values by equal expressions that are not longer: the old value of an unassigned variable, or a
/// right-hand side that is a leaf.
fn resolve_next(constrain: &Expr, active: &[(VarId, Expr)]) -> Expr {
    let rhs_of: FxHashMap<VarId, &Expr> = active.iter().map(|(var, rhs)| (*var, rhs)).collect();
    substitute(constrain, &mut |leaf| match leaf {
        Expr::Next(var) => match rhs_of.get(var) {
            None => Expr::Var(*var),
            Some(rhs) if rhs.is_leaf() => (*rhs).clone(),
            Some(_) => leaf.clone(),
        },
        leaf => leaf.clone(),
    })
}

/// A constraint as a list of conditions, some of which fix the value of a leaf.
struct Facts {
    /// The conditions in order; the first that fixes the value of a leaf is a fact.
    conditions: Vec<(Expr, Option<Expr>)>,
    values: FxHashMap<Expr, Value>,
}

impl Facts {
    fn of(constrain: &Expr) -> Facts {
        let mut facts = Facts { conditions: Vec::new(), values: FxHashMap::default() };
        for condition in constrain.conjuncts().into_iter().cloned() {
            let new = fact(&condition).filter(|(leaf, _)| !facts.values.contains_key(leaf));
            if let Some((leaf, value)) = &new {
                facts.values.insert(leaf.clone(), *value);
            }
            facts.conditions.push((condition, new.map(|(leaf, _)| leaf)));
        }
        facts
    }

    fn replace(&self, leaf: &Expr) -> Expr {
        self.values.get(leaf).map_or_else(|| leaf.clone(), |value| Expr::value(*value))
    }

    /// Returns the choices whose values are facts.
    fn fixed(&self) -> impl Iterator<Item = (u32, Value)> {
        self.conditions.iter().filter_map(|(_, leaf)| match leaf {
            Some(leaf @ Expr::Choice(number, _)) => Some((*number, self.values[leaf])),
            _ => None,
        })
    }

    /// Returns the constraint again, with the facts carried into the other conditions. A fact about a choice is
    /// removed, since the choice can be made accordingly.
    fn condition(&self) -> Expr {
        let mut condition = Expr::TRUE;
        for (part, leaf) in &self.conditions {
            let part = match leaf {
                Some(Expr::Choice(..)) => continue,
                Some(_) => part.clone(),
                None => substitute(part, &mut |leaf| self.replace(leaf)),
            };
            condition = and(condition, part);
        }
        condition
    }
}

/// Returns the leaf whose value a condition fixes, and the value.
fn fact(condition: &Expr) -> Option<(Expr, Value)> {
    match condition {
        Expr::Bool(_) => None,
        Expr::Unary(UnaryOp::Not, operand) if operand.is_leaf() => Some(((**operand).clone(), Value::Bool(false))),
        Expr::Binary(BinaryOp::Eq, pair) => {
            let number = |expr: &Expr| expr.constant().filter(|value| !matches!(value, Value::Bool(_)));
            match (number(&pair.0), number(&pair.1)) {
                (None, Some(value)) if pair.0.is_leaf() => Some((pair.0.clone(), value)),
                (Some(value), None) if pair.1.is_leaf() => Some((pair.1.clone(), value)),
                _ => None,
            }
        }
        leaf if leaf.is_leaf() => Some((leaf.clone(), Value::Bool(true))),
        _ => None,
    }
}
