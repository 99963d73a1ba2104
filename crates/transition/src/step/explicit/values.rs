//! Packed valuations, and expressions over them in which some choices may be open.

use std::convert::Infallible;

use selvedge_ir::visit::Parts;
use selvedge_ir::{BinaryOp, Expr, UnaryOp, VarId};
use smallvec::SmallVec;

use super::Values;
use crate::step::vars::Slots;

pub use crate::step::passive::choices_of;

/// A valuation, one bit for each variable.
pub type Bits = SmallVec<[u64; 2]>;

pub fn zeros(n_bits: usize) -> Bits {
    SmallVec::from_elem(0, n_bits.div_ceil(64))
}

pub fn get(bits: &[u64], place: usize) -> bool {
    bits[place / 64] >> (place % 64) & 1 == 1
}

pub fn set(bits: &mut [u64], place: usize, value: bool) {
    let mask = 1 << (place % 64);
    if value { bits[place / 64] |= mask } else { bits[place / 64] &= !mask }
}

impl Slots {
    /// Returns values in which everything is false.
    pub fn blank(&self) -> Values {
        Values { shared: zeros(self.shared.len()), locals: zeros(self.n_locals) }
    }

    /// Returns the value of a variable.
    pub fn read(&self, shared: &[u64], locals: &[u64], var: VarId) -> bool {
        get(if self.is_shared(var) { shared } else { locals }, self.get(var))
    }

    /// Sets the value of a variable.
    pub fn write(&self, values: &mut Values, var: VarId, value: bool) {
        set(if self.is_shared(var) { &mut values.shared } else { &mut values.locals }, self.get(var), value);
    }
}

/// A truth value that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tri {
    False,
    True,
    Open,
}

impl Tri {
    pub fn known(value: bool) -> Tri {
        if value { Tri::True } else { Tri::False }
    }

    fn not(self) -> Tri {
        match self {
            Tri::False => Tri::True,
            Tri::True => Tri::False,
            Tri::Open => Tri::Open,
        }
    }

    fn equal(self, other: Tri) -> Tri {
        if self == Tri::Open || other == Tri::Open { Tri::Open } else { Tri::known(self == other) }
    }
}

/// Evaluates a Boolean expression, as far as its leaves have values. The result holds for all values of the open
/// choices.
pub fn eval(expr: &Expr, leaf: &dyn Fn(&Expr) -> Tri) -> Tri {
    eval_in(&mut Parts::new(), expr, leaf)
}

fn eval_in(parts: &mut Parts<Tri>, expr: &Expr, leaf: &dyn Fn(&Expr) -> Tri) -> Tri {
    match expr {
        Expr::Bool(value) => Tri::known(*value),
        Expr::Unary(UnaryOp::Not, operand) => eval_in(parts, operand, leaf).not(),
        Expr::Binary(op, pair) => binary(parts, *op, pair, leaf),
        Expr::Ite(triple) => match eval_in(parts, &triple.0, leaf) {
            Tri::True => eval_in(parts, &triple.1, leaf),
            Tri::False => eval_in(parts, &triple.2, leaf),
            Tri::Open => {
                let (then, otherwise) = (eval_in(parts, &triple.1, leaf), eval_in(parts, &triple.2, leaf));
                if then == otherwise { then } else { Tri::Open }
            }
        },
        Expr::Let(shared) => {
            let Ok(value) = parts.scope(shared, |parts, expr| Ok::<_, Infallible>(eval_in(parts, expr, leaf)));
            value
        }
        Expr::Part(number) => *parts.get(*number),
        Expr::Int(_) | Expr::Machine(..) | Expr::Unary(..) => {
            unreachable!("the engine supports Boolean programs only")
        }
        _ => leaf(expr),
    }
}

fn binary(parts: &mut Parts<Tri>, op: BinaryOp, pair: &(Expr, Expr), leaf: &dyn Fn(&Expr) -> Tri) -> Tri {
    let first = eval_in(parts, &pair.0, leaf);
    let decided = match op {
        BinaryOp::And => (first == Tri::False).then_some(Tri::False),
        BinaryOp::Or => (first == Tri::True).then_some(Tri::True),
        BinaryOp::Implies => (first == Tri::False).then_some(Tri::True),
        _ => None,
    };
    if let Some(decided) = decided {
        return decided;
    }
    let second = eval_in(parts, &pair.1, leaf);
    match (op, second) {
        (BinaryOp::And, Tri::False) => Tri::False,
        (BinaryOp::Or | BinaryOp::Implies, Tri::True) => Tri::True,
        (BinaryOp::And, _) if first == Tri::True => second,
        (BinaryOp::Or, _) if first == Tri::False => second,
        (BinaryOp::Implies, _) if first == Tri::True => second,
        (BinaryOp::Implies, Tri::False) => first.not(),
        (BinaryOp::And, Tri::True) | (BinaryOp::Or, Tri::False) => first,
        (BinaryOp::Eq, _) => first.equal(second),
        (BinaryOp::Ne | BinaryOp::Xor, _) => first.equal(second).not(),
        _ => Tri::Open,
    }
}

/// Tries all values of some choices, one after the other, and abandons a way as soon as `may` rules it out. At the end
/// all `used` choices are known; the others stay as they are.
pub fn for_each_choice<E>(
    used: &[u32],
    choices: &mut [Tri],
    may: &mut dyn FnMut(&[Tri]) -> Result<bool, E>,
    found: &mut dyn FnMut(&[Tri]),
) -> Result<(), E> {
    if !may(choices)? {
        return Ok(());
    }
    let Some((first, rest)) = used.split_first() else {
        found(choices);
        return Ok(());
    };
    for value in [Tri::False, Tri::True] {
        choices[*first as usize] = value;
        for_each_choice(rest, choices, may, found)?;
    }
    choices[*first as usize] = Tri::Open;
    Ok(())
}
