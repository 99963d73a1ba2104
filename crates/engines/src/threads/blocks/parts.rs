//! Shared valuations and thread states, each kept once and known by a number.

use std::hash::BuildHasherDefault;

use indexmap::IndexSet;
use rustc_hash::FxHasher;
use selvedge_ir::{EntryId, LocId};

use super::values::Bits;

type Hasher = BuildHasherDefault<FxHasher>;

/// What a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The prelude's thread.
    Prelude,
    /// A thread of this kind, or started by one.
    Entry(EntryId),
}

/// The state of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Local {
    pub(crate) kind: Kind,
    pub(crate) loc: LocId,
    pub(crate) bits: Bits,
}

/// A shared valuation, by its number.
pub(crate) type SharedId = u32;
/// A thread state, by its number.
pub(crate) type LocalId = u32;

/// Shared valuations and thread states.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) shared: IndexSet<Bits, Hasher>,
    pub(crate) locals: IndexSet<Local, Hasher>,
}

impl Parts {
    pub(crate) fn shared(&mut self, bits: Bits) -> SharedId {
        self.shared.insert_full(bits).0 as SharedId
    }

    pub(crate) fn local(&mut self, local: Local) -> LocalId {
        self.locals.insert_full(local).0 as LocalId
    }
}
