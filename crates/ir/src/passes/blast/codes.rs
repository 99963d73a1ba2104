//! The bits that stand for each variable.

use index_vec::IndexVec;

use crate::bits::{Code, Rest, Width};
use crate::ranges::{Range, Ranges};
use crate::syntax::{MachineTy, Program, Ty, Value, Var, VarId};

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

/// Returns the bits that stand for the values of a range.
pub(super) fn width_of(ty: Ty, range: &Range) -> Width {
    let Ty::Machine(machine) = ty else { return Width { ty, n_bits: 1, rest: Rest::Constant(0), returned: 1 } };
    let (n_bits, rest) = machine_width(machine, range);
    let n_bits = u32::from(n_bits);
    Width { ty, n_bits, rest, returned: n_bits }
}

fn machine_width(ty: MachineTy, range: &Range) -> (u8, Rest) {
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
    /// Chooses the bits of all variables. The lowest bits of all of them come first, and so on: what computes with
    /// several variables needs bits of one place together, which matters to decision diagrams.
    pub(super) fn new(program: &Program, ranges: &Ranges) -> Codes {
        let width = |(id, var): (VarId, &Var)| width_of(var.ty, ranges.get(id));
        let widths: IndexVec<VarId, Width> = program.vars.iter_enumerated().map(width).collect();
        let code = |width: &Width| Code { ty: width.ty, bits: Vec::new(), rest: width.rest };
        let mut chosen =
            Codes { codes: widths.iter().map(code).collect(), vars: IndexVec::new(), origin: IndexVec::new() };
        for bit in 0..widths.iter().map(|width| width.n_bits).max().unwrap_or(0) {
            for (id, var) in program.vars.iter_enumerated().filter(|(id, _)| bit < widths[*id].n_bits) {
                let name = if var.ty == Ty::Bool { var.name.clone() } else { format!("{}.{bit}", var.name) };
                let new = chosen.add(id, bit, Var { name, ty: Ty::Bool, ..var.clone() });
                chosen.codes[id].bits.push(new);
            }
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
