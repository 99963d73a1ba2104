//! The values that variables may have, for all interleavings: intervals, and small sets of values.
//!
//! Variables that several threads can see (shared ones, per-thread ones, and locals that other threads read or assign)
//! have one set for the whole program, which the order of steps does not influence. A local has a set at each location.
//! Conditions restrict the sets of what they compare, in their own step; locals stay restricted behind it. A local
//! whose value at the entry is never read has no value there, whatever it holds.
//!
//! *Order of work.* Locations wait in a queue, at first those with which threads begin. The edges that leave a location
//! are evaluated over its sets; what flows into a set that grows lets the locations wait that read it. *Invariant*:
//! each set contains what flows into it from the locations that do not wait. *End*: a set that has grown a few times
//! only grows to bounds among finitely many thresholds. *Correctness*: by induction over an execution, each value that
//! a variable has at a location belongs to its set, unless it is the value of a local that is not read before it is
//! assigned.

mod eval;
mod live;
mod range;
mod solve;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

pub use crate::bits::Range;

use crate::bits::RangeMap;
use crate::syntax::{Loc, LocId, ProcId, Program, Ty, VarId};

/// The values that the variables of a program may have.
#[derive(Clone, Debug)]
pub struct Ranges {
    vars: IndexVec<VarId, Range>,
    /// The values of results, and those of the locals at each location, by their places; `None` if it is not reached.
    results: IndexVec<ProcId, Vec<Range>>,
    locals: IndexVec<LocId, Option<Vec<Range>>>,
    /// The variables with one set for the whole program, and the locals that are read later at each location.
    is_global: IndexVec<VarId, bool>,
    live: IndexVec<LocId, FixedBitSet>,
}

impl Ranges {
    /// Finds the values that the variables of a program may have.
    pub fn of(program: &Program) -> Ranges {
        solve::solve(program)
    }

    /// Returns all values of the types of variables and results.
    pub fn any(program: &Program) -> Ranges {
        let of = |ty: Ty| match ty {
            Ty::Machine(ty) => Range::Interval(ty.bounds().0, ty.bounds().1),
            Ty::Bool | Ty::Int => Range::Interval(0, 1),
        };
        let of_locals = |loc: &Loc| {
            let locals = program.procs[loc.proc].locals.iter();
            Some(locals.map(|local| of(program.vars[*local].ty)).collect())
        };
        Ranges {
            vars: program.vars.iter().map(|var| of(var.ty)).collect(),
            results: program.procs.iter().map(|proc| proc.results.iter().map(|ty| of(*ty)).collect()).collect(),
            locals: program.locs.iter().map(of_locals).collect(),
            is_global: program.vars.iter().map(|_| true).collect(),
            live: live::live(program),
        }
    }

    /// Returns the values that a variable may have where they matter.
    pub fn get(&self, var: VarId) -> &Range {
        &self.vars[var]
    }

    /// Returns the values that a procedure may return at a place.
    pub fn result(&self, proc: ProcId, place: usize) -> &Range {
        &self.results[proc][place]
    }

    /// Returns all that is known, as the judge checks it.
    pub fn map(&self, program: &Program) -> RangeMap {
        let at = |(loc, known): (LocId, &Option<Vec<Range>>)| {
            let locals = &program.procs[program.locs[loc].proc].locals;
            let live = |(var, _): &(&VarId, &Range)| !self.is_global[**var] && self.live[loc].contains(var.index());
            let named = |(var, range): (&VarId, &Range)| (*var, range.clone());
            known.as_ref().map(|known| locals.iter().zip(known).filter(live).map(named).collect())
        };
        RangeMap {
            vars: self.vars.clone(),
            locs: self.locals.iter_enumerated().map(at).collect(),
            results: self.results.clone(),
        }
    }

    /// Returns whether the value of a variable at a location may be read later. Only then it must be in the range.
    pub fn matters(&self, loc: LocId, var: VarId) -> bool {
        self.is_global[var] || self.live[loc].contains(var.index())
    }
}

#[cfg(test)]
mod tests;
