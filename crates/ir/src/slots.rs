//! Numbers variables for bit sets: first those that outlive a frame, then the locals of each procedure anew.
//!
//! So the sets of a location only have bits for the variables visible there, and not for the locals of all procedures.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use crate::syntax::{ProcId, Program, Scope, VarId};

/// The numbering. "Global" here means shared or per thread.
#[derive(Clone, Debug)]
pub struct Slots {
    of: IndexVec<VarId, u32>,
    globals: Vec<VarId>,
    n_locals: IndexVec<ProcId, usize>,
}

impl Slots {
    /// Numbers the variables of a program.
    pub fn new(program: &Program) -> Slots {
        let mut of: IndexVec<VarId, u32> = IndexVec::from_vec(vec![0; program.vars.len()]);
        let is_global = |var: &VarId| !matches!(program.vars[*var].scope, Scope::Local(_));
        let globals: Vec<VarId> = program.vars.indices().filter(is_global).collect();
        for (slot, var) in globals.iter().enumerate() {
            of[*var] = slot as u32;
        }
        for proc in &program.procs {
            for (slot, var) in proc.locals.iter().enumerate() {
                of[*var] = (globals.len() + slot) as u32;
            }
        }
        Slots { of, globals, n_locals: program.procs.iter().map(|proc| proc.locals.len()).collect() }
    }

    /// Returns the number of a variable, among those visible in its procedure.
    pub fn get(&self, var: VarId) -> usize {
        self.of[var] as usize
    }

    /// Returns the global variables; the number of each is its index in the list.
    pub fn globals(&self) -> &[VarId] {
        &self.globals
    }

    /// Returns the part of a set of numbers that are those of global variables.
    pub(crate) fn globals_of(&self, set: &FixedBitSet) -> FixedBitSet {
        let mut globals = FixedBitSet::with_capacity(self.globals.len());
        globals.extend(set.ones().take_while(|slot| *slot < self.globals.len()));
        globals
    }

    /// Returns the number of variables that are visible in a procedure.
    pub fn visible(&self, proc: ProcId) -> usize {
        self.globals.len() + self.n_locals[proc]
    }
}
