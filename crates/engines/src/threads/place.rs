//! Where a thread is seen, and as what.

use selvedge_check::Role;
use selvedge_ir::{EntryId, LocId};

/// See above.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) role: Role,
    pub(super) loc: LocId,
}

impl Place {
    /// The kind of thread; `None` for the prelude's.
    pub(super) fn entry(self) -> Option<EntryId> {
        match self.role {
            Role::Prelude => None,
            Role::Holder(entry) | Role::Free(entry) => Some(entry),
        }
    }

    /// Whether nobody else runs.
    pub(super) fn is_alone(self) -> bool {
        !matches!(self.role, Role::Free(_))
    }
}
