//! Questions to the solution.

use super::super::super::tree::{Expr, FunctionId, ObjectId};
use super::offsets::Move;
use super::{Points, Target, Targets};

impl Points<'_> {
    /// Returns what a pointer may lead to.
    pub(in super::super) fn of(&mut self, pointer: &Expr) -> Targets {
        if self.gave_up() {
            return Targets::from([Target::Anything]);
        }
        self.value(pointer)
    }

    /// Returns what the pointers in a place may lead to.
    pub(in super::super) fn held_by(&mut self, place: &Expr) -> Targets {
        let at = self.place(place);
        self.contents(&at)
    }

    /// Returns the elements of arrays of a length.
    pub(in super::super) fn elements(&mut self, targets: &Targets, size: u64, length: u64) -> Targets {
        self.moved(targets, Move::Element { size, length })
    }

    /// Returns the targets some bytes behind others.
    pub(in super::super) fn parts_behind(&mut self, targets: &Targets, by: u64) -> Targets {
        self.behind(targets, by)
    }

    /// Returns the functions to which a pointer may lead; `None` if they may be any.
    pub(in super::super) fn callees(&mut self, pointer: &Expr) -> Option<Vec<FunctionId>> {
        let targets = self.of(pointer);
        (!targets.contains(&Target::Anything)).then(|| self.functions(&targets))
    }

    /// Returns whether an offset in an object is among some targets.
    pub(in super::super) fn has(&mut self, targets: &Targets, object: ObjectId, offset: u64) -> bool {
        let whole = [Target::Anything, Target::Whole(object)];
        let part = self.part(object, offset);
        whole.iter().any(|whole| targets.contains(whole)) || targets.contains(&part)
    }
}
