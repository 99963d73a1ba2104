//! The types of formulas over numbers.

use selvedge_ir::{BinaryOp, Expr, MachineOp, Program, Ty, UnaryOp};

/// The type of a formula over plain variables of the program, without shared parts, if it has one.
pub(super) fn type_of(expr: &Expr, program: &Program) -> Option<Ty> {
    let both = |pair: &(Expr, Expr), ty: Ty| {
        (type_of(&pair.0, program)? == ty && type_of(&pair.1, program)? == ty).then_some(())
    };
    let one = |operand: &Expr, ty: Ty| (type_of(operand, program)? == ty).then_some(());
    match expr {
        Expr::Bool(_) => Some(Ty::Bool),
        Expr::Int(_) => Some(Ty::Int),
        Expr::Machine(ty, bits) => {
            ((1..=64).contains(&ty.bits) && bits >> (ty.bits - 1) <= 1).then_some(Ty::Machine(*ty))
        }
        Expr::Var(var) => program.vars.get(*var).map(|variable| variable.ty),
        Expr::Let(_) | Expr::Part(_) => None,
        Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => None,
        Expr::Unary(UnaryOp::Not, operand) => one(operand, Ty::Bool).map(|()| Ty::Bool),
        Expr::Unary(UnaryOp::Neg, operand) => one(operand, Ty::Int).map(|()| Ty::Int),
        Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => {
            one(operand, Ty::Int).filter(|()| *divisor > 0).map(|()| Ty::Bool)
        }
        Expr::Unary(UnaryOp::Cast(from, to), operand) => {
            one(operand, Ty::Machine(*from)).filter(|()| (1..=64).contains(&to.bits)).map(|()| Ty::Machine(*to))
        }
        Expr::Binary(BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Implies, pair) => {
            both(pair, Ty::Bool).map(|()| Ty::Bool)
        }
        Expr::Binary(BinaryOp::Eq | BinaryOp::Ne, pair) => {
            (type_of(&pair.0, program)? == type_of(&pair.1, program)?).then_some(Ty::Bool)
        }
        Expr::Binary(BinaryOp::Lt | BinaryOp::Le, pair) => both(pair, Ty::Int).map(|()| Ty::Bool),
        Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, pair) => both(pair, Ty::Int).map(|()| Ty::Int),
        Expr::Binary(BinaryOp::Machine(op, ty), pair) => {
            let is_comparison = matches!(op, MachineOp::Lt | MachineOp::Le);
            both(pair, Ty::Machine(*ty)).map(|()| if is_comparison { Ty::Bool } else { Ty::Machine(*ty) })
        }
        Expr::Ite(triple) => {
            let (condition, then, otherwise) =
                (type_of(&triple.0, program)?, type_of(&triple.1, program)?, type_of(&triple.2, program)?);
            (condition == Ty::Bool && then == otherwise).then_some(then)
        }
    }
}
