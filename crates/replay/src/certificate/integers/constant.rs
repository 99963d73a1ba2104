//! The value of an expression where only some variables are known.

use selvedge_ir::{BinaryOp, Expr, Program, UnaryOp, Value, VarId};

use super::super::Refused;
use crate::domain::{Concrete, Domain};
use crate::semantics::{Meaning, Scene};

/// Values that an expression has whatever the other variables and the choices are; `None` if that is not plain.
pub(super) struct Plain;

impl Domain for Plain {
    type Value = Option<Value>;
    type Error = Refused;

    fn lift(&mut self, value: Value) -> Result<Option<Value>, Refused> {
        Ok(Some(value))
    }

    fn unary(&mut self, op: UnaryOp, operand: Option<Value>) -> Result<Option<Value>, Refused> {
        Ok(operand.and_then(|operand| Concrete.unary(op, operand).ok()))
    }

    /// A conjunction with a false part is false, whatever the other part is; and so on.
    fn binary(&mut self, op: BinaryOp, left: Option<Value>, right: Option<Value>) -> Result<Option<Value>, Refused> {
        let is = |operand: Option<Value>, value: bool| operand == Some(Value::Bool(value));
        Ok(match op {
            BinaryOp::And if is(left, false) || is(right, false) => Some(Value::Bool(false)),
            BinaryOp::Or if is(left, true) || is(right, true) => Some(Value::Bool(true)),
            BinaryOp::Implies if is(left, false) || is(right, true) => Some(Value::Bool(true)),
            _ => left.zip(right).and_then(|(left, right)| Concrete.binary(op, left, right).ok()),
        })
    }

    fn ite(&mut self, _: Option<Value>, _: Option<Value>, _: Option<Value>) -> Result<Option<Value>, Refused> {
        Ok(None)
    }

    fn known(&self, condition: &Option<Value>) -> Option<bool> {
        match condition {
            Some(Value::Bool(value)) => Some(*value),
            _ => None,
        }
    }
}

/// Values of some variables before a step.
#[derive(Clone)]
pub(super) struct Known {
    values: Vec<Option<Value>>,
}

impl Scene<Plain> for Known {
    fn read(&mut self, _: &mut Plain, var: VarId) -> Result<Option<Value>, Refused> {
        Ok(self.get(var))
    }

    fn choice(&mut self, _: &mut Plain, _: u32) -> Result<Option<Value>, Refused> {
        Ok(None)
    }
}

impl Known {
    /// Nothing is known of the variables of a program.
    pub(super) fn nothing(program: &Program) -> Known {
        Known { values: vec![None; program.vars.len()] }
    }

    /// The value of a variable, if it is known.
    pub(super) fn get(&self, var: VarId) -> Option<Value> {
        self.values[var.index()]
    }

    /// From now on this is known of a variable.
    pub(super) fn set(&mut self, var: VarId, value: Option<Value>) {
        self.values[var.index()] = value;
    }

    /// Returns whether a formula plainly holds.
    pub(super) fn implies(&self, program: &Program, formula: &Expr) -> bool {
        Meaning::new(program, &mut Plain, &mut self.clone()).value(formula) == Ok(Some(Value::Bool(true)))
    }

    /// Adds what a condition says plainly of single variables: that one has a value, or is true, or false. What is
    /// known already stays.
    pub(super) fn learn(&mut self, condition: &Expr) {
        let fact = match condition {
            Expr::Binary(BinaryOp::And, pair) => {
                self.learn(&pair.0);
                return self.learn(&pair.1);
            }
            Expr::Binary(BinaryOp::Eq, pair) => match (&pair.0, &pair.1) {
                (Expr::Var(var), Expr::Int(value)) | (Expr::Int(value), Expr::Var(var)) => {
                    Some((*var, Value::Int(*value)))
                }
                _ => None,
            },
            Expr::Var(var) => Some((*var, Value::Bool(true))),
            Expr::Unary(UnaryOp::Not, operand) => match **operand {
                Expr::Var(var) => Some((var, Value::Bool(false))),
                _ => None,
            },
            _ => None,
        };
        if let Some((var, value)) = fact {
            self.values[var.index()].get_or_insert(value);
        }
    }
}
