//! Values that may be open, and expressions over them.

use std::cell::Cell;
use std::collections::BTreeMap;

use selvedge_ir::{Expr, Value, VarId};

use selvedge_ir::eval::eval;

/// The values of all variables that a thread sees, by their numbers; `None` is open.
pub(super) type Values = Vec<Option<bool>>;

/// Something whose value is open, and needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needed {
    Var(VarId),
    Choice(u32),
}

/// The values before a step, those that it chooses, and those after it.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) now: Values,
    pub(super) choices: BTreeMap<u32, bool>,
}

impl Case {
    pub(super) fn new(now: Values) -> Case {
        Case { now, choices: BTreeMap::new() }
    }

    /// The case in which something is this value.
    pub(super) fn with(&self, needed: Needed, value: bool) -> Case {
        let mut case = self.clone();
        match needed {
            Needed::Var(var) => case.now[var.index()] = Some(value),
            Needed::Choice(number) => drop(case.choices.insert(number, value)),
        }
        case
    }

    /// The value of an expression before the step.
    pub(super) fn value(&self, expr: &Expr) -> Result<bool, Needed> {
        self.value_with(expr, &BTreeMap::new())
    }

    /// The value of an expression that may also speak of the values after the step, of which those that it changes are
    /// given.
    pub(super) fn value_with(&self, expr: &Expr, next: &BTreeMap<VarId, bool>) -> Result<bool, Needed> {
        let needed: Cell<Option<Needed>> = Cell::new(None);
        let get = |value: Option<bool>, name: Needed| {
            if value.is_none() && needed.get().is_none() {
                needed.set(Some(name));
            }
            Value::Bool(value.unwrap_or(false))
        };
        let leaf = |leaf: &Expr| match leaf {
            Expr::Next(var) if next.contains_key(var) => Value::Bool(next[var]),
            Expr::Var(var) | Expr::Next(var) => get(self.now[var.index()], Needed::Var(*var)),
            Expr::Choice(number, _) => get(self.choices.get(number).copied(), Needed::Choice(*number)),
            _ => unreachable!("steps that concern other threads are out of scope"),
        };
        let value = eval(expr, &leaf).expect("Boolean programs do not compute");
        match (needed.get(), value) {
            (Some(needed), _) => Err(needed),
            (None, Value::Bool(value)) => Ok(value),
            (None, Value::Int(_)) => unreachable!("integers are out of scope"),
        }
    }

    /// The values of variables.
    pub(super) fn read(&self, vars: impl Iterator<Item = VarId>) -> Result<Vec<bool>, Needed> {
        vars.map(|var| self.now[var.index()].ok_or(Needed::Var(var))).collect()
    }
}
