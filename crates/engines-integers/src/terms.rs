//! Translates expressions to terms of the solver and back, for all engines for integers.

use selvedge_check::{SolverFailure, Stop};
use selvedge_ir::{BinaryOp, Expr, Program, Ty, UnaryOp, Value, VarId};
use selvedge_logic::smt::{Node, SmtValue, Sort, Symbol, Term};

use crate::atoms::sum;

const UNSUPPORTED: &str = "programs with machine integers or shared parts are refused";

/// Returns the sort of a type.
pub(crate) fn sort(ty: Ty) -> Sort {
    match ty {
        Ty::Bool => Sort::Bool,
        Ty::Int => Sort::Int,
        Ty::Machine(_) => unreachable!("{UNSUPPORTED}"),
    }
}

/// Returns the symbol of a variable before a step; `mark` distinguishes copies.
pub(crate) fn symbol(program: &Program, var: VarId, mark: &str) -> Symbol {
    Symbol::new(&format!("v{}{mark}", var.index()), sort(program.vars[var].ty))
}

/// Returns the symbol of a choice.
pub(crate) fn choice(number: u32, ty: Ty, mark: &str) -> Symbol {
    let kind = if ty == Ty::Int { "i" } else { "b" };
    Symbol::new(&format!("c{kind}{number}{mark}"), sort(ty))
}

/// Translates an expression over the variables and choices with the given mark.
pub(crate) fn marked(program: &Program, expr: &Expr, mark: &str) -> Term {
    term(expr, &|leaf| match leaf {
        Expr::Var(var) => symbol(program, *var, mark).into(),
        Expr::Choice(number, ty) => choice(*number, *ty, mark).into(),
        _ => unreachable!("guarded commands have no other leaves"),
    })
}

/// Translates an expression, with the given terms for its variables and choices.
pub(crate) fn term(expr: &Expr, leaf: &dyn Fn(&Expr) -> Term) -> Term {
    let of = |part: &Expr| term(part, leaf);
    match expr {
        Expr::Bool(value) => (*value).into(),
        Expr::Int(value) => (*value).into(),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => leaf(expr),
        Expr::Machine(..) | Expr::Let(_) | Expr::Part(_) | Expr::Unary(UnaryOp::Cast(..), _) => {
            unreachable!("{UNSUPPORTED}")
        }
        Expr::Unary(UnaryOp::Not, operand) => of(operand).not(),
        Expr::Unary(UnaryOp::Neg, operand) => of(operand).scale(-1),
        Expr::Unary(UnaryOp::DivisibleBy(divisor), operand) => of(operand).divisible(i128::from(*divisor)),
        Expr::Binary(op, pair) => binary(*op, &of(&pair.0), &of(&pair.1)),
        Expr::Ite(triple) => Term::ite(&of(&triple.0), &of(&triple.1), &of(&triple.2)),
    }
}

fn binary(op: BinaryOp, left: &Term, right: &Term) -> Term {
    match op {
        BinaryOp::And => Term::and([left.clone(), right.clone()]),
        BinaryOp::Or => Term::or([left.clone(), right.clone()]),
        BinaryOp::Xor | BinaryOp::Ne => left.equals(right).not(),
        BinaryOp::Implies => left.implies(right),
        BinaryOp::Eq => left.equals(right),
        BinaryOp::Add => Term::add([left.clone(), right.clone()]),
        BinaryOp::Sub => left.minus(right),
        BinaryOp::Lt => left.lt(right),
        BinaryOp::Le => left.le(right),
        BinaryOp::Mul => match (sum(left), sum(right)) {
            (Some(factor), _) if factor.is_constant() => right.scale(factor.constant),
            (_, Some(factor)) if factor.is_constant() => left.scale(factor.constant),
            _ => unreachable!("programs with other products are not supported"),
        },
        BinaryOp::Machine(..) => unreachable!("{UNSUPPORTED}"),
    }
}

/// Returns a value of the program as one of the solver.
pub(crate) fn smt_value(value: Value) -> SmtValue {
    match value {
        Value::Bool(value) => SmtValue::Bool(value),
        Value::Int(value) => SmtValue::Int(value.into()),
        Value::Machine(..) => unreachable!("{UNSUPPORTED}"),
    }
}

/// Returns a value as a term.
pub(crate) fn constant(value: Value) -> Term {
    smt_value(value).into()
}

/// Returns a value of the solver as one of the program; `None` if it is too large.
pub(crate) fn value(value: SmtValue) -> Option<Value> {
    match value {
        SmtValue::Bool(value) => Some(Value::Bool(value)),
        SmtValue::Int(value) => i64::try_from(value).ok().map(Value::Int),
    }
}

/// Returns values of the solver as values of the program; fails if one is too large.
pub(crate) fn program_values(values: Vec<SmtValue>) -> Result<Vec<Value>, Stop> {
    values.into_iter().map(value).collect::<Option<_>>().ok_or(Stop::Solver(SolverFailure::TooLarge))
}

/// Translates a term over the symbols of variables, which `var` returns, to an expression; returns `None` if it has
/// other symbols or numbers that are too large.
pub(crate) fn expr(term: &Term, var: &dyn Fn(&Symbol) -> Option<VarId>) -> Option<Expr> {
    let of = |part: &Term| expr(part, var);
    let chain = |op: BinaryOp, parts: &[Term]| -> Option<Expr> {
        let parts: Vec<Expr> = parts.iter().map(of).collect::<Option<_>>()?;
        Expr::balanced(op, parts)
    };
    Some(match term.head() {
        Node::Bool(value) => Expr::Bool(*value),
        Node::Int(value) => Expr::Int(i64::try_from(*value).ok()?),
        Node::Symbol(symbol) => Expr::Var(var(symbol)?),
        Node::Not(part) => Expr::negate(of(part)?),
        Node::And(parts) => chain(BinaryOp::And, parts)?,
        Node::Or(parts) => chain(BinaryOp::Or, parts)?,
        Node::Add(parts) => chain(BinaryOp::Add, parts)?,
        Node::Eq(left, right) => Expr::binary(BinaryOp::Eq, of(left)?, of(right)?),
        Node::Le(left, right) => Expr::binary(BinaryOp::Le, of(left)?, of(right)?),
        Node::Lt(left, right) => Expr::binary(BinaryOp::Lt, of(left)?, of(right)?),
        Node::Divisible(divisor, part) => {
            Expr::Unary(UnaryOp::DivisibleBy(u32::try_from(*divisor).ok()?), Box::new(of(part)?))
        }
        Node::Scale(factor, part) => Expr::binary(BinaryOp::Mul, Expr::Int(i64::try_from(*factor).ok()?), of(part)?),
        Node::Ite(condition, then, otherwise) => Expr::Ite(Box::new((of(condition)?, of(then)?, of(otherwise)?))),
    })
}
