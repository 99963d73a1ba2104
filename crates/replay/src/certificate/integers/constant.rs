//! The value of an expression where only some variables are known.

use selvedge_ir::{BinaryOp, Expr, Program, UnaryOp, Value, VarId};

use selvedge_ir::eval;

/// Values of some variables before a step.
#[derive(Clone)]
pub(super) struct Known {
    values: Vec<Option<Value>>,
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

    /// Adds a value, unless one is known.
    fn add(&mut self, var: VarId, value: Value) {
        self.values[var.index()].get_or_insert(value);
    }
}

/// The value that an expression has whatever the other variables and the choices are; `None` if that is not plain.
pub(super) fn constant(expr: &Expr, known: &Known) -> Option<Value> {
    match expr {
        Expr::Bool(value) => Some(Value::Bool(*value)),
        Expr::Int(value) => Some(Value::Int(*value)),
        Expr::Var(var) => known.get(*var),
        Expr::Next(_) | Expr::Passive(_) | Expr::PassiveNext(_) | Expr::Choice(..) => None,
        Expr::Unary(op, operand) => eval::unary(*op, constant(operand, known)?).ok(),
        Expr::Binary(op, pair) => binary(*op, constant(&pair.0, known), || constant(&pair.1, known)),
        Expr::Ite(triple) => match constant(&triple.0, known)? {
            Value::Bool(true) => constant(&triple.1, known),
            Value::Bool(false) => constant(&triple.2, known),
            Value::Int(_) => None,
        },
    }
}

/// Adds what a condition says plainly of single variables: that one has a value, or is true, or false. What is known
/// already stays.
pub(super) fn learn(condition: &Expr, known: &mut Known) {
    match condition {
        Expr::Binary(BinaryOp::And, pair) => {
            learn(&pair.0, known);
            learn(&pair.1, known);
        }
        Expr::Binary(BinaryOp::Eq, pair) => {
            if let (Expr::Var(var), Expr::Int(value)) | (Expr::Int(value), Expr::Var(var)) = (&pair.0, &pair.1) {
                known.add(*var, Value::Int(*value));
            }
        }
        Expr::Var(var) => known.add(*var, Value::Bool(true)),
        Expr::Unary(UnaryOp::Not, operand) => {
            if let Expr::Var(var) = **operand {
                known.add(var, Value::Bool(false));
            }
        }
        _ => {}
    }
}

/// A conjunction with a false part is false, whatever the other part is; and so on.
fn binary(op: BinaryOp, left: Option<Value>, right: impl FnOnce() -> Option<Value>) -> Option<Value> {
    let absorbed = match op {
        BinaryOp::And => Some((false, false)),
        BinaryOp::Or => Some((true, true)),
        BinaryOp::Implies => Some((false, true)),
        _ => None,
    };
    let Some((by_left, by_right)) = absorbed else { return eval::binary(op, left?, right()?).ok() };
    let whole = Value::Bool(op != BinaryOp::And);
    if left == Some(Value::Bool(by_left)) {
        return Some(whole);
    }
    let right = right();
    if right == Some(Value::Bool(by_right)) { Some(whole) } else { eval::binary(op, left?, right?).ok() }
}
