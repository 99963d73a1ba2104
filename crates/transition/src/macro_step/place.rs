//! The place of a thread: its location and its role there.

use selvedge_check::Role;
use selvedge_ir::{Edge, EntryId, LocId, Op, Program};

use super::visible_points::VisiblePoints;
use crate::step::diagram::layout::PairLayout;

/// The location of a thread, and its role there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    pub role: Role,
    pub loc: LocId,
}

impl Place {
    /// Returns all visible points, each with every role that a thread can have there, and the beginning of the prelude,
    /// in ascending order.
    pub fn all(program: &Program, visible_points: &VisiblePoints) -> Vec<Place> {
        let roles = program.entries.indices().flat_map(|entry| [Role::Free(entry), Role::Holder(entry)]);
        let roles: Vec<Role> = roles.chain([Role::Prelude]).collect();
        let all = program.locs.indices().flat_map(|loc| roles.iter().map(move |role| Place { role: *role, loc }));
        let prelude = program.prelude.map(|proc| Place { role: Role::Prelude, loc: program.procs[proc].entry });
        let mut places: Vec<Place> =
            all.filter(|place| place.is_stop(visible_points) || Some(*place) == prelude).collect();
        places.sort_unstable();
        places
    }

    /// Returns the place as a certificate lists it, with the variables that are kept there.
    pub fn listed(self, layout: &PairLayout) -> selvedge_check::Place {
        let vars = layout.kept(self.loc).iter().map(|var| (0, *var)).collect();
        selvedge_check::Place { role: self.role, calls: Vec::new(), loc: self.loc, vars }
    }

    /// Returns the kind of thread; `None` for the prelude's.
    pub fn entry(self) -> Option<EntryId> {
        match self.role {
            Role::Prelude => None,
            Role::Holder(entry) | Role::Free(entry) => Some(entry),
        }
    }

    /// Returns whether no other thread can run.
    pub fn is_alone(self) -> bool {
        !matches!(self.role, Role::Free(_))
    }

    /// Returns whether the place is a visible point.
    pub fn is_stop(self, visible_points: &VisiblePoints) -> bool {
        if self.is_alone() { visible_points.is_stop_alone(self.loc) } else { visible_points.is_stop(self.loc) }
    }

    /// Returns the place after a step along an edge.
    pub fn after(self, edge: &Edge) -> Place {
        let role = match (&edge.op, self.role) {
            (Op::AtomicBegin, Role::Free(entry)) => Role::Holder(entry),
            (Op::AtomicEnd, Role::Holder(entry)) => Role::Free(entry),
            (_, role) => role,
        };
        Place { role, loc: edge.to }
    }
}
