//! Shared valuations and thread states, each stored once and identified by a number.

use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::FxHasher;
use selvedge_check::{Role, ThreadState};
use selvedge_ir::{EntryId, LocId, Value};

use super::Model;
use super::values::{Bits, get};

type Hasher = BuildHasherDefault<FxHasher>;

/// The kind of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The prelude's thread.
    Prelude,
    /// A thread of this kind, or started by one.
    Entry(EntryId),
}

impl Kind {
    /// Returns the role of such a thread that holds the atomic flag, or does not.
    pub fn role(self, holds: bool) -> Role {
        match self {
            Kind::Prelude => Role::Prelude,
            Kind::Entry(entry) if holds => Role::Holder(entry),
            Kind::Entry(entry) => Role::Free(entry),
        }
    }
}

/// The state of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    pub kind: Kind,
    pub loc: LocId,
    pub bits: Bits,
}

/// A shared valuation, by its number.
pub type SharedId = u32;
/// A thread state, by its number.
pub type LocalId = u32;

/// Tables of shared valuations and thread states.
#[derive(Clone, Default)]
pub struct Parts {
    pub shared: IndexSet<Bits, Hasher>,
    pub locals: IndexSet<Local, Hasher>,
}

impl Parts {
    pub fn shared(&mut self, bits: Bits) -> SharedId {
        self.shared.insert_full(bits).0 as SharedId
    }

    pub fn local(&mut self, local: Local) -> LocalId {
        self.locals.insert_full(local).0 as LocalId
    }

    /// Returns the visible state of a thread.
    pub fn thread_state(&self, model: &Model<'_>, shared: SharedId, local: LocalId) -> ThreadState {
        let local = &self.locals[local as usize];
        let value = |bits: &[u64], var| Value::Bool(get(bits, model.steps.slots.get(var)));
        let locals = &model.program().procs[model.program().locs[local.loc].proc].locals;
        ThreadState {
            loc: local.loc,
            shared: model.steps.slots.shared.iter().map(|var| value(&self.shared[shared as usize], *var)).collect(),
            vars: model.steps.slots.thread_vars.iter().map(|var| value(&local.bits, *var)).collect(),
            locals: locals.iter().map(|var| value(&local.bits, *var)).collect(),
            free: Vec::new(),
        }
    }
}
