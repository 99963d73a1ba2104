//! Equations and comparisons of sums, in a form that shows which of them say the same.
//!
//! Numbers of a width of `n` bits are those modulo 2^n, so that sums may be brought into any order. A sum is a constant
//! and a coefficient for each *term*: a variable, or what is no sum itself. An equation has all terms with coefficients
//! below 2^(n-1) on its left side, the others, negated, on the right side.

use std::collections::BTreeMap;

use selvedge_ir::simplify::simplify;
use selvedge_ir::{BinaryOp, Expr, MachineOp, MachineTy, Ty, UnaryOp, VarId};

/// A sum: the coefficients of terms, by their text, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum {
    terms: BTreeMap<String, (Expr, u64)>,
    constant: u64,
}

/// Gives the type of each variable.
pub(super) type Types<'t> = &'t dyn Fn(VarId) -> Ty;

/// Returns a comparison in its form; a constant if it always holds, or never does.
pub(super) fn normal(atom: Expr, types: Types<'_>) -> Expr {
    match &atom {
        Expr::Binary(BinaryOp::Eq, pair) => match type_of(&pair.0, types) {
            Some(ty) => equation(ty, &pair.0, &pair.1),
            None => atom,
        },
        Expr::Binary(BinaryOp::Machine(MachineOp::Lt, ty), pair) => {
            let side = |expr: &Expr| Sum::of(*ty, expr).written(*ty);
            simplify(&Expr::binary(BinaryOp::Machine(MachineOp::Lt, *ty), side(&pair.0), side(&pair.1)))
        }
        _ => atom,
    }
}

/// Returns the machine type of an expression, if it has one.
fn type_of(expr: &Expr, types: Types<'_>) -> Option<MachineTy> {
    match expr {
        Expr::Machine(ty, _) | Expr::Unary(UnaryOp::Cast(_, ty), _) | Expr::Choice(_, Ty::Machine(ty)) => Some(*ty),
        Expr::Binary(BinaryOp::Machine(op, ty), _) if !op.compares() => Some(*ty),
        Expr::Var(var) => match types(*var) {
            Ty::Machine(ty) => Some(ty),
            Ty::Bool | Ty::Int => None,
        },
        Expr::Ite(triple) => type_of(&triple.1, types),
        _ => None,
    }
}

fn equation(ty: MachineTy, left: &Expr, right: &Expr) -> Expr {
    let mut sum = Sum::of(ty, left);
    sum.add(ty, &Sum::of(ty, right), ty.mask());
    if sum.terms.is_empty() {
        return Expr::Bool(sum.constant == 0);
    }
    // The first term is on the left side.
    let first = sum.terms.values().next().map_or(0, |(_, factor)| *factor);
    if first > ty.mask() >> 1 {
        let mut negated = Sum::default();
        negated.add(ty, &sum, ty.mask());
        sum = negated;
    }
    let (mut one, mut other) = (Sum::default(), Sum::default());
    for (name, (term, factor)) in sum.terms {
        let (side, factor) = match factor > ty.mask() >> 1 {
            true => (&mut other, factor.wrapping_neg() & ty.mask()),
            false => (&mut one, factor),
        };
        side.terms.insert(name, (term, factor));
    }
    other.constant = sum.constant.wrapping_neg() & ty.mask();
    Expr::binary(BinaryOp::Eq, one.written(ty), other.written(ty))
}

impl Sum {
    fn of(ty: MachineTy, expr: &Expr) -> Sum {
        let mut sum = Sum::default();
        sum.collect(ty, expr, 1);
        sum
    }

    /// Adds an expression as often as a factor says.
    fn collect(&mut self, ty: MachineTy, expr: &Expr, factor: u64) {
        match expr {
            Expr::Machine(_, bits) => {
                self.constant = self.constant.wrapping_add(factor.wrapping_mul(*bits)) & ty.mask()
            }
            Expr::Binary(BinaryOp::Machine(MachineOp::Add, _), pair) => {
                self.collect(ty, &pair.0, factor);
                self.collect(ty, &pair.1, factor);
            }
            Expr::Binary(BinaryOp::Machine(MachineOp::Sub, _), pair) => {
                self.collect(ty, &pair.0, factor);
                self.collect(ty, &pair.1, factor.wrapping_neg());
            }
            Expr::Binary(BinaryOp::Machine(MachineOp::Mul, _), pair) => match &**pair {
                (Expr::Machine(_, bits), other) | (other, Expr::Machine(_, bits)) => {
                    self.collect(ty, other, factor.wrapping_mul(*bits));
                }
                _ => self.insert(ty, expr, factor),
            },
            _ => self.insert(ty, expr, factor),
        }
    }

    fn insert(&mut self, ty: MachineTy, term: &Expr, factor: u64) {
        let name = format!("{term:?}");
        let (_, known) = self.terms.entry(name.clone()).or_insert((term.clone(), 0));
        *known = known.wrapping_add(factor) & ty.mask();
        if *known == 0 {
            self.terms.remove(&name);
        }
    }

    /// Adds another sum as often as a factor says.
    fn add(&mut self, ty: MachineTy, other: &Sum, factor: u64) {
        for (term, known) in other.terms.values() {
            self.insert(ty, term, known.wrapping_mul(factor));
        }
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor)) & ty.mask();
    }

    fn written(&self, ty: MachineTy) -> Expr {
        let apply = |op, left, right| Expr::binary(BinaryOp::Machine(op, ty), left, right);
        let term = |(term, factor): &(Expr, u64)| match factor {
            1 => term.clone(),
            factor => apply(MachineOp::Mul, term.clone(), Expr::Machine(ty, *factor)),
        };
        let mut sum: Option<Expr> = None;
        for part in self.terms.values().map(term) {
            sum = Some(match sum {
                Some(sum) => apply(MachineOp::Add, sum, part),
                None => part,
            });
        }
        match sum {
            None => Expr::Machine(ty, self.constant),
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => apply(MachineOp::Add, sum, Expr::Machine(ty, self.constant)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TY: MachineTy = MachineTy::unsigned(32);

    fn of_numbers(atom: Expr) -> Expr {
        normal(atom, &|_| Ty::Machine(TY))
    }

    fn var(number: usize) -> Expr {
        Expr::Var(VarId::new(number))
    }

    fn apply(op: MachineOp, left: Expr, right: Expr) -> Expr {
        Expr::binary(BinaryOp::Machine(op, TY), left, right)
    }

    fn equal(left: Expr, right: Expr) -> Expr {
        Expr::binary(BinaryOp::Eq, left, right)
    }

    #[test]
    fn equations_of_the_same_sums_have_one_form() {
        let sum = |left, right| apply(MachineOp::Add, left, right);
        let plain = equal(sum(var(0), var(1)), var(2));
        let both = equal(sum(sum(var(0), var(3)), var(1)), sum(var(2), var(3)));
        let turned = equal(apply(MachineOp::Sub, var(2), var(1)), var(0));
        let forms = [plain, both, turned].map(of_numbers);
        assert_eq!(forms[0], forms[1]);
        assert_eq!(forms[0], forms[2]);
    }

    #[test]
    fn equations_that_hold_always_or_never_are_constants() {
        let one = Expr::Machine(TY, 1);
        let more = apply(MachineOp::Add, var(0), one.clone());
        assert_eq!(of_numbers(equal(apply(MachineOp::Sub, more.clone(), one), var(0))), Expr::TRUE);
        assert_eq!(of_numbers(equal(more, apply(MachineOp::Add, var(0), Expr::Machine(TY, 2)))), Expr::FALSE);
    }
}
