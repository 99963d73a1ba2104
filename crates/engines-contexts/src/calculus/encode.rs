//! The encoding of states as bits: the position of each variable of the program.
//!
//! A frame is its location in binary, lowest bit first, and then the locals of its procedure in their order; bits that
//! the procedure does not need are false, so that equal frames have equal bits.

use selvedge_ir::{LocId, ProcId, Program, Scope, VarId};
use selvedge_logic::bdd::{Bdd, Manager, OutOfNodes, Var};
use selvedge_logic::relation::{Column, Space};
use selvedge_transition::step::diagram::relation::{Layout, When};

/// The positions of variables in the columns of their sorts.
pub(super) struct Encoding<'p> {
    pub(super) program: &'p Program,
    /// The bit of each variable in a column of its sort.
    bits: Vec<usize>,
    pub(super) n_shared: usize,
    pub(super) n_own: usize,
    n_loc_bits: usize,
    pub(super) frame_width: usize,
}

/// The columns for a state of a thread.
#[derive(Clone, Copy)]
pub(super) struct StateColumns {
    pub(super) shared: Column,
    pub(super) own: Column,
    pub(super) frame: Column,
}

impl<'p> Encoding<'p> {
    pub(super) fn new(program: &'p Program) -> Encoding<'p> {
        let n_loc_bits = (usize::BITS - program.locs.len().leading_zeros()) as usize;
        let (mut n_shared, mut n_own) = (0, 0);
        let next = |count: &mut usize| {
            *count += 1;
            *count - 1
        };
        let bit = |(id, var): (VarId, &selvedge_ir::Var)| match var.scope {
            Scope::Shared => next(&mut n_shared),
            Scope::Thread => next(&mut n_own),
            Scope::Local(proc) => {
                let place = program.procs[proc].locals.iter().position(|local| *local == id);
                n_loc_bits + place.expect("a local is one of its procedure's")
            }
        };
        let bits = program.vars.iter_enumerated().map(bit).collect();
        let most = program.procs.iter().map(|proc| proc.locals.len()).max().unwrap_or(0);
        Encoding { program, bits, n_shared, n_own, n_loc_bits, frame_width: n_loc_bits + most }
    }
}

/// States in the columns of a space. An agent is the columns of a thread's state before a step, and of the state after
/// it.
pub(super) struct StateLayout<'s> {
    pub(super) encoding: &'s Encoding<'s>,
    pub(super) space: &'s Space,
    pub(super) choices: Vec<Var>,
}

impl<'s> StateLayout<'s> {
    /// Returns the variable of the diagrams for a variable of the program.
    pub(super) fn var(&self, at: StateColumns, var: VarId) -> Var {
        let column = match self.encoding.program.vars[var].scope {
            Scope::Shared => at.shared,
            Scope::Thread => at.own,
            Scope::Local(_) => at.frame,
        };
        self.space.var(column, self.encoding.bits[var.index()])
    }

    /// Requires that a thread is at a location; bits that its procedure does not need are false.
    pub(super) fn at_loc(&self, frame: Column, loc: LocId) -> Result<Bdd, OutOfNodes> {
        let Encoding { program, n_loc_bits, .. } = *self.encoding;
        let n_locals = program.procs[program.locs[loc].proc].locals.len();
        let mut bits = self.space.vars(frame);
        bits.drain(n_loc_bits..n_loc_bits + n_locals);
        self.manager().number(&bits, loc.index())
    }

    /// Requires that a thread has ended: all bits that are not those of the location are false.
    pub(super) fn ended(&self, frame: Column) -> Result<Bdd, OutOfNodes> {
        self.manager().number(&self.space.vars(frame), self.encoding.program.locs.len())
    }

    /// Returns all variables that a thread in a procedure can access.
    pub(super) fn visible(&self, proc: ProcId) -> impl Iterator<Item = VarId> + use<'s> {
        let sees = move |scope: Scope| !matches!(scope, Scope::Local(other) if other != proc);
        self.encoding.program.vars.iter_enumerated().filter(move |(_, var)| sees(var.scope)).map(|(id, _)| id)
    }
}

impl Layout for StateLayout<'_> {
    type Agent = [StateColumns; 2];

    fn manager(&self) -> &Manager {
        self.space.manager()
    }

    fn choices(&self) -> &[Var] {
        &self.choices
    }

    fn position(&self, var: VarId, agent: [StateColumns; 2], when: When) -> Var {
        self.var(agent[when as usize], var)
    }
}
