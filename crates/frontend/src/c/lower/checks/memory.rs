//! Uses of memory outside of objects: null and stray pointers, indices, and what is freed.

use selvedge_ir::span::Role;
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, LocId, MachineOp, MachineTy, Op};

use super::super::super::property::Property;
use super::super::super::tree::ObjectId;
use super::super::body::Body;
use super::super::objects::Cell;
use super::super::place::{Access, Index, Place, any};
use super::super::{Code, Loc};

impl Body<'_, '_> {
    /// Checks that a pointer leads to one of the cells. Where that is not asked about, the execution ends if it does
    /// not.
    pub(in super::super) fn check_pointer(&mut self, address: &Ir, candidates: &[(Ir, Cell)]) {
        if self.low.checks.in_annotation {
            return;
        }
        if self.asks(Property::Memory) {
            let null = self.low.pointer_ty().constant(0);
            self.check(Ir::binary(IrOp::Ne, address.clone(), null), "a null pointer is followed");
        }
        self.check_candidates(candidates, "the pointer does not lead to a live object of this type".to_owned());
    }

    /// Checks that a pointer leads to a lock or the like that is alive.
    pub(in super::super) fn check_lock(&mut self, place: &Place, state: &Access) {
        if let Access::Candidates(candidates) = state {
            match place {
                Place::Address(address) => self.check_pointer(&address.at, candidates),
                Place::Object { object, .. } => self.check_index(*object, candidates),
            }
        }
        self.check_alive(state);
    }

    /// Checks that what is freed is null, or an object that was allocated and has not been freed.
    pub(in super::super) fn check_freed(&mut self, is_allowed: Ir) {
        if self.asks(Property::Memory) {
            self.check(is_allowed, "the freed object was not allocated, or was freed before");
        } else if self.asks(Property::Deadlock) {
            self.require(is_allowed);
        }
    }

    /// Checks that an index is one of those of its array.
    pub(in super::super) fn check_index(&mut self, object: ObjectId, candidates: &[(Ir, Cell)]) {
        if !self.low.checks.in_annotation {
            let name = self.unit.name(self.unit.objects[object].name);
            self.check_candidates(candidates, format!("an index is outside of `{name}`"));
        }
    }

    /// Checks that the address of an element is one of its array, or just behind it.
    pub(in super::super) fn check_element(&mut self, object: ObjectId, indices: &[Index]) {
        if self.asks(Property::Memory) && !self.low.checks.in_annotation {
            let inside = indices.iter().map(Index::is_inside).fold(Ir::TRUE, Ir::and);
            let name = self.unit.name(self.unit.objects[object].name);
            self.check(inside, format!("the address of an element is outside of `{name}`"));
        }
    }

    fn check_candidates(&mut self, candidates: &[(Ir, Cell)], note: String) {
        let valid = any(candidates.iter().map(|(condition, _)| condition.clone()).collect());
        if self.asks(Property::Memory) {
            self.check(valid, note);
        } else if self.asks(Property::Deadlock) {
            self.require(valid);
        } else {
            let message = "an execution ends where this pointer or index leads to no object";
            self.low.tell(Code::CMayEnd, message, Loc::new(self.span));
            if let Some(told) = self.low.diagnostics.iter_mut().find(|known| known.code == Code::CMayEnd) {
                told.help = Some("`--property memory` asks whether there is such an execution".to_owned());
            }
        }
    }

    /// Checks that a pointer that is moved by a number of elements stays in its object, or just behind it. Other
    /// objects must not be reached from it.
    pub(in super::super) fn check_moved(&mut self, base: &Ir, (number, ty): (&Ir, MachineTy), size: u64, moved: &Ir) {
        if !self.asks(Property::Memory) || self.low.checks.in_annotation {
            return;
        }
        if matches!(number, Ir::Machine(_, 0)) {
            return;
        }
        let pointer = self.low.pointer_ty();
        let within = |value: &Ir, first: u64, last: u64| {
            let (first, last) = (pointer.constant(i128::from(first)), pointer.constant(i128::from(last)));
            let above = pointer.apply(MachineOp::Le, first, value.clone());
            Ir::and(above, pointer.apply(MachineOp::Le, value.clone(), last))
        };
        let mut inside = vec![Ir::binary(IrOp::Eq, number.clone(), ty.constant(0))];
        let mut longest = 0;
        for object in self.low.facts.taken.clone() {
            let length = self.unit.types.layout(self.unit.objects[object].ty).map_or(1, |layout| layout.size);
            longest = longest.max(length / size.max(1));
            for (first, _) in self.low.bases(object) {
                let last = first + length;
                inside.push(Ir::and(within(base, first, last), within(moved, first, last)));
            }
        }
        let (longest, (least, greatest)) = (i128::from(longest), ty.bounds());
        let above = ty.apply(MachineOp::Le, ty.constant((-longest).max(least)), number.clone());
        let below = ty.apply(MachineOp::Le, number.clone(), ty.constant(longest.min(greatest)));
        self.check(Ir::and(Ir::and(above, below), any(inside)), "the pointer is moved out of its object");
    }

    /// Checks at a location that a call through a pointer leads to one of the functions.
    pub(in super::super) fn check_callee(&mut self, at: LocId, known: Vec<Ir>) {
        let is_none = selvedge_ir::simplify::not(any(known));
        let end = self.new_loc();
        if self.asks(Property::Memory) {
            self.low.edge(at, end, Op::assume(is_none), self.span, Role::Statement);
            self.at = end;
            self.check(Ir::FALSE, "the pointer leads to no function of this type");
        } else if self.asks(Property::Deadlock) {
            self.low.edge(at, end, Op::assume(is_none), self.span, Role::Statement);
            self.dead_end(end);
        }
    }
}
