//! Values of expressions, whatever they are: numbers and truth values, literals of a SAT solver, text for an SMT
//! solver.

use selvedge_ir::{BinaryOp, Expr, UnaryOp, Value, VarId};

/// A domain of values, with the operators of expressions.
pub(crate) trait Domain {
    /// A value.
    type Value: Clone;
    /// The reason why an expression has no value.
    type Error;

    /// The value of a constant.
    fn lift(&mut self, value: Value) -> Result<Self::Value, Self::Error>;
    fn unary(&mut self, op: UnaryOp, operand: Self::Value) -> Result<Self::Value, Self::Error>;
    fn binary(&mut self, op: BinaryOp, left: Self::Value, right: Self::Value) -> Result<Self::Value, Self::Error>;
    fn ite(
        &mut self,
        condition: Self::Value,
        then: Self::Value,
        otherwise: Self::Value,
    ) -> Result<Self::Value, Self::Error>;

    /// Returns the truth value of a condition where it is known: then one branch of a conditional has no part in its
    /// value.
    fn known(&self, condition: &Self::Value) -> Option<bool>;
}

/// A function that gives the leaves of an expression their values.
pub(crate) type Leaf<'l, D> = dyn FnMut(&mut D, &Expr) -> Result<<D as Domain>::Value, <D as Domain>::Error> + 'l;

/// Computes the value of an expression, in which `leaf` gives the values of variables and choices.
pub(crate) fn eval<D: Domain>(domain: &mut D, expr: &Expr, leaf: &mut Leaf<'_, D>) -> Result<D::Value, D::Error> {
    match expr {
        Expr::Bool(value) => domain.lift(Value::Bool(*value)),
        Expr::Int(value) => domain.lift(Value::Int(*value)),
        Expr::Var(_) | Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => leaf(domain, expr),
        Expr::Unary(op, operand) => {
            let operand = eval(domain, operand, leaf)?;
            domain.unary(*op, operand)
        }
        Expr::Binary(op, pair) => {
            let left = eval(domain, &pair.0, leaf)?;
            let right = eval(domain, &pair.1, leaf)?;
            domain.binary(*op, left, right)
        }
        Expr::Ite(triple) => {
            let condition = eval(domain, &triple.0, leaf)?;
            match domain.known(&condition) {
                Some(true) => eval(domain, &triple.1, leaf),
                Some(false) => eval(domain, &triple.2, leaf),
                None => {
                    let then = eval(domain, &triple.1, leaf)?;
                    let otherwise = eval(domain, &triple.2, leaf)?;
                    domain.ite(condition, then, otherwise)
                }
            }
        }
    }
}

/// The values themselves. Panics on ill-typed expressions, which valid programs do not have.
pub(crate) struct Concrete;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoValue {
    /// An integer left the 64 bits that the interpreter computes with.
    Overflow,
    /// The value of this variable is open.
    Var(VarId),
    /// The choice with this number has not been made.
    Choice(u32),
}

const TYPED: &str = "the validator rejects ill-typed operands";

impl Domain for Concrete {
    type Value = Value;
    type Error = NoValue;

    fn lift(&mut self, value: Value) -> Result<Value, NoValue> {
        Ok(value)
    }

    fn unary(&mut self, op: UnaryOp, operand: Value) -> Result<Value, NoValue> {
        Ok(match (op, operand) {
            (UnaryOp::Not, Value::Bool(value)) => Value::Bool(!value),
            (UnaryOp::Neg, Value::Int(value)) => Value::Int(value.checked_neg().ok_or(NoValue::Overflow)?),
            (UnaryOp::DivisibleBy(divisor), Value::Int(value)) => Value::Bool(value % i64::from(divisor) == 0),
            _ => unreachable!("{TYPED}"),
        })
    }

    fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Result<Value, NoValue> {
        use Value::{Bool, Int};
        let number = |result: Option<i64>| result.map(Int).ok_or(NoValue::Overflow);
        match (op, left, right) {
            (BinaryOp::Eq, left, right) => Ok(Bool(left == right)),
            (BinaryOp::Ne | BinaryOp::Xor, left, right) => Ok(Bool(left != right)),
            (BinaryOp::And, Bool(left), Bool(right)) => Ok(Bool(left && right)),
            (BinaryOp::Or, Bool(left), Bool(right)) => Ok(Bool(left || right)),
            (BinaryOp::Implies, Bool(left), Bool(right)) => Ok(Bool(!left || right)),
            (BinaryOp::Lt, Int(left), Int(right)) => Ok(Bool(left < right)),
            (BinaryOp::Le, Int(left), Int(right)) => Ok(Bool(left <= right)),
            (BinaryOp::Add, Int(left), Int(right)) => number(left.checked_add(right)),
            (BinaryOp::Sub, Int(left), Int(right)) => number(left.checked_sub(right)),
            (BinaryOp::Mul, Int(left), Int(right)) => number(left.checked_mul(right)),
            _ => unreachable!("{TYPED}"),
        }
    }

    fn ite(&mut self, condition: Value, then: Value, otherwise: Value) -> Result<Value, NoValue> {
        Ok(if is_true(condition) { then } else { otherwise })
    }

    fn known(&self, condition: &Value) -> Option<bool> {
        Some(is_true(*condition))
    }
}

/// Returns whether a truth value is true.
pub(crate) fn is_true(value: Value) -> bool {
    match value {
        Value::Bool(value) => value,
        Value::Int(_) => unreachable!("{TYPED}"),
    }
}
