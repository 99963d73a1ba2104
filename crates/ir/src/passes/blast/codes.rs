//! The bits that stand for each variable.

use index_vec::IndexVec;

use crate::ranges::{Range, Ranges};
use crate::syntax::{MachineTy, Program, Ty, Value, Var, VarId};

/// The variables of the new program that stand for one of the old program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) ty: Ty,
    /// The variables of the lowest bits, the lowest first.
    pub(super) bits: Vec<VarId>,
    pub(super) rest: Rest,
}

/// The bits above those that have a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// As in this constant.
    Constant(u64),
    /// As the highest one with a variable.
    Sign,
}

impl Code {
    /// Returns the value that the bits with variables make.
    pub(super) fn value(&self, bits: u64) -> Value {
        let n_bits = self.bits.len() as u32;
        match (self.ty, self.rest) {
            (Ty::Machine(ty), Rest::Constant(rest)) => Value::Machine(ty, bits | rest),
            (Ty::Machine(ty), Rest::Sign) => {
                let is_negative = bits >> (n_bits - 1) & 1 == 1;
                let rest = if is_negative { u64::MAX.checked_shl(n_bits).unwrap_or(0) } else { 0 };
                Value::Machine(ty, (bits | rest) & ty.mask())
            }
            _ => Value::Bool(bits == 1),
        }
    }
}

/// Returns the number of bits that a range needs, and what is above them.
fn width(ty: MachineTy, range: &Range) -> (u8, Rest) {
    let length = |number: i128| (128 - number.leading_zeros()) as u8;
    match range.bounds() {
        None => (0, Rest::Constant(0)),
        Some((least, greatest)) if least == greatest => (0, Rest::Constant(ty.wrap(least))),
        Some((least, greatest)) if least >= 0 => (length(greatest).min(ty.bits), Rest::Constant(0)),
        Some((least, greatest)) => (1 + length(greatest.max(-1 - least)), Rest::Sign),
    }
}

/// The codes of all variables, and the new variables.
pub(super) struct Codes {
    pub(super) codes: IndexVec<VarId, Code>,
    pub(super) vars: IndexVec<VarId, Var>,
    /// For each new variable the old one, and the number of its bit.
    pub(super) origin: IndexVec<VarId, (VarId, u32)>,
}

impl Codes {
    /// Chooses the bits of all variables.
    pub(super) fn new(program: &Program, ranges: &Ranges) -> Codes {
        let mut chosen = Codes { codes: IndexVec::new(), vars: IndexVec::new(), origin: IndexVec::new() };
        for (id, var) in program.vars.iter_enumerated() {
            let Ty::Machine(ty) = var.ty else {
                let bits = vec![chosen.add(id, 0, Var { ..var.clone() })];
                chosen.codes.push(Code { ty: var.ty, bits, rest: Rest::Constant(0) });
                continue;
            };
            let (width, rest) = width(ty, ranges.get(id));
            let bit = |bit: u8| Var { name: format!("{}.{bit}", var.name), ty: Ty::Bool, ..var.clone() };
            let bits = (0..width).map(|number| chosen.add(id, number.into(), bit(number))).collect();
            chosen.codes.push(Code { ty: var.ty, bits, rest });
        }
        chosen
    }

    fn add(&mut self, old: VarId, bit: u32, var: Var) -> VarId {
        self.origin.push((old, bit));
        self.vars.push(var)
    }

    /// Returns the variables that stand for some variables, in order.
    pub(super) fn all(&self, vars: &[VarId]) -> Vec<VarId> {
        vars.iter().flat_map(|var| self.codes[*var].bits.iter().copied()).collect()
    }
}
