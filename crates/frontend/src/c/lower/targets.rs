//! Where pointers lead: the parts of objects that the points-to analysis names, and the limit on all others.
//!
//! A step that follows a pointer has one candidate for each part that the pointer may lead to. Nothing rests on the
//! analysis: next to each such step is one that exists where the address is in an object but not in one of the
//! candidates, and it exceeds a limit of the program. Most of these steps can never be made. The ranges of the lowered
//! program show that: up to the first such step of an execution, the program with fewer candidates does what the
//! program with all candidates does, so that the ranges contain the address, whatever the analysis has said. A limit
//! that the ranges rule out is taken away again, and the others stay in the program, where a proof has to show them.
//!
//! Addresses outside of objects, and those inside of a scalar part, are undefined behaviour and no limit. Where
//! deadlocks are asked about, which is no question for programs with limits, all parts are candidates.

use std::rc::Rc;

use index_vec::IndexVec;
use selvedge_ir::ranges::Ranges;
use selvedge_ir::simplify::not;
use selvedge_ir::span::SourceMap;
use selvedge_ir::{EdgeId, Expr as Ir, LocId, MachineOp, MachineTy, Op};

use super::super::files::Loc;
use super::super::property::Property;
use super::super::tree::{FunctionId, ObjectId};
use super::body::Body;
use super::objects::Cell;
use super::place::{Access, any, at_address, decided};
use super::points::{Target, Targets};
use super::{Lowered, Lowering};

/// An address, and what it may be the address of.
#[derive(Clone, Debug)]
pub(super) struct Address {
    pub(super) at: Ir,
    pub(super) to: Rc<Targets>,
}

/// The use of a pointer in a lowered program.
#[derive(Clone, Debug)]
pub struct PointerUse {
    /// A step just before the pointer is followed.
    pub edge: EdgeId,
    /// The pointer.
    pub address: Ir,
    /// The addresses to which it leads, as the analysis says.
    pub expected: Vec<u64>,
    /// The number of parts of the same shape in all objects whose addresses are taken.
    pub n_all: usize,
}

/// The limit on what a pointer leads to.
#[derive(Clone, Copy, Debug)]
struct Check {
    /// The step that exceeds it, its location, and the assertion behind it.
    step: EdgeId,
    beyond: LocId,
    failure: EdgeId,
    /// The step that goes on where it is not exceeded, if there is one.
    guard: Option<EdgeId>,
}

/// What is known about the pointers of a program.
#[derive(Default)]
pub(super) struct Pointers {
    checks: Vec<Check>,
    /// Set if all uses of pointers are noted and no candidate is left out.
    observes: bool,
    pub(super) uses: Vec<PointerUse>,
}

impl Pointers {
    pub(super) fn new(observes: bool) -> Pointers {
        Pointers { observes, ..Pointers::default() }
    }

    /// Follows new numbers of locations.
    pub(super) fn moved(&mut self, moved: &IndexVec<LocId, LocId>) {
        self.checks.iter_mut().for_each(|check| check.beyond = moved[check.beyond]);
    }
}

/// The text of the limit.
const LIMIT: &str = "a pointer leads to an object of another type, or to one that it was not derived from";

impl Body<'_, '_> {
    /// Returns whether the parts that the analysis does not name are left out.
    fn is_narrow(&self) -> bool {
        !self.asks(Property::Deadlock) && !self.low.pointers.observes
    }

    /// Returns which parts of objects an address leads to.
    pub(super) fn leads_to(&mut self, address: &Address, parts: Vec<(ObjectId, Cell)>, loc: Loc) -> Lowered<Access> {
        self.check_outside(&address.to, loc)?;
        let mut kept = Vec::new();
        for (object, cell) in &parts {
            if self.low.points.has(&address.to, *object, cell.offset) {
                kept.push((*object, *cell));
            }
        }
        self.note_use(address, &kept, parts.len());
        let kept = if self.is_narrow() { kept } else { parts };
        self.exceed_target(address, &kept);
        let mut candidates = Vec::with_capacity(kept.len());
        for (object, cell) in kept {
            let is_there = self.low.is_there(object);
            for (base, is_second) in self.low.bases(object) {
                let at = self.low.pointer_ty().constant(i128::from(base + cell.offset));
                let condition = Ir::and(at_address(&address.at, at), is_there.clone());
                candidates.push((condition, Cell { second: Some(is_second), ..cell }));
            }
        }
        Ok(decided(candidates))
    }

    fn note_use(&mut self, address: &Address, kept: &[(ObjectId, Cell)], n_all: usize) {
        if self.low.pointers.observes {
            let expected = kept.iter().map(|(object, cell)| self.low.address(*object) + cell.offset).collect();
            self.observe(address.at.clone(), expected, n_all);
        }
    }

    fn observe(&mut self, address: Ir, expected: Vec<u64>, n_all: usize) {
        let edge = self.low.program.edges.next_idx();
        self.step(Op::skip());
        self.low.pointers.uses.push(PointerUse { edge, address, expected, n_all });
    }

    /// Returns the functions that a call through a pointer may call, of those whose addresses are taken.
    pub(super) fn callees(&mut self, address: &Ir, callees: Option<Vec<FunctionId>>) -> Vec<FunctionId> {
        let all: Vec<FunctionId> = self.low.facts.taken_functions.iter().copied().collect();
        let callees = callees.unwrap_or_else(|| all.clone());
        let kept: Vec<FunctionId> = all.iter().copied().filter(|function| callees.contains(function)).collect();
        if self.low.pointers.observes {
            let expected = kept.iter().map(|function| self.low.function_address(*function)).collect();
            self.observe(address.clone(), expected, all.len());
        }
        kept
    }

    /// Adds the limit: the address is in an object, and not in one of the candidates there.
    fn exceed_target(&mut self, address: &Address, kept: &[(ObjectId, Cell)]) {
        if self.low.pointers.observes || self.asks(Property::Deadlock) && !self.may_be_mistyped(address, kept) {
            return;
        }
        let ty = self.low.pointer_ty();
        let mut wrong = Vec::new();
        for object in self.low.facts.taken.clone() {
            let bases = self.low.bases(object);
            let size = self.unit.types.layout(self.unit.objects[object].ty).map_or(1, |layout| layout.size);
            let cells = kept.iter().filter(|(of, _)| *of == object).map(|(_, cell)| (cell.offset, cell.size));
            for (from, to) in rest(size, cells.collect()) {
                wrong.extend(bases.iter().map(|(base, _)| within(&address.at, ty, base + from, base + to)));
            }
        }
        if let Some(outside) = self.low.addresses.outside {
            wrong.push(within(&address.at, ty, outside, outside + 1));
        }
        let wrong = any(wrong.into_iter().filter(|condition| *condition != Ir::FALSE).collect());
        if wrong == Ir::FALSE {
            return;
        }
        self.exceed_beyond(wrong.clone(), LIMIT);
        if self.asks(Property::Memory) {
            // What is beyond the limit is not known to be an error.
            let guard = self.low.program.edges.next_idx();
            self.step(Op::assume(not(wrong)));
            self.low.pointers.checks.last_mut().into_iter().for_each(|check| check.guard = Some(guard));
        }
    }

    /// Adds a limit that is taken away again where the ranges show that it is not exceeded.
    pub(super) fn exceed_beyond(&mut self, wrong: Ir, what: &str) {
        let (step, failure) = self.exceed(wrong, what);
        let beyond = self.low.program.edges[step].to;
        self.low.pointers.checks.push(Check { step, beyond, failure, guard: None });
    }

    /// Returns whether some target of an address is not among the candidates: it has another type.
    fn may_be_mistyped(&mut self, address: &Address, kept: &[(ObjectId, Cell)]) -> bool {
        address.to.iter().any(|target| match *target {
            Target::Part(object, class) => {
                let size = self.unit.types.layout(self.unit.objects[object].ty).map_or(1, |layout| layout.size);
                let mut cells = kept.iter().filter(|(of, _)| *of == object);
                class < size && !cells.any(|(_, cell)| cell.offset == class)
            }
            Target::Whole(_) | Target::Anything => true,
            Target::Function(_) | Target::Outside => false,
        })
    }
}

/// Returns what is left of some bytes without some parts, as intervals.
fn rest(size: u64, mut parts: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    parts.sort_unstable();
    let (mut at, mut found) = (0, Vec::new());
    for (offset, length) in parts {
        if at < offset {
            found.push((at, offset));
        }
        at = at.max(offset + length);
    }
    if at < size {
        found.push((at, size));
    }
    found
}

/// Returns whether an address is between two others.
fn within(address: &Ir, ty: MachineTy, from: u64, to: u64) -> Ir {
    if let Ir::Machine(_, bits) = address {
        return Ir::Bool((from..to).contains(bits));
    }
    let (from, to) = (ty.constant(i128::from(from)), ty.constant(i128::from(to)));
    let begins = ty.apply(MachineOp::Le, from, address.clone());
    Ir::and(begins, ty.apply(MachineOp::Lt, address.clone(), to))
}

impl Lowering<'_> {
    /// Takes the limits away that the ranges of the program show are never exceeded. The program is complete.
    pub(super) fn drop_limits(&mut self) {
        if self.pointers.checks.is_empty() {
            return;
        }
        let reached = Ranges::of(&self.program).map(&self.program).locs;
        let mut gone: Vec<EdgeId> = Vec::new();
        for Check { step, failure, beyond, guard } in std::mem::take(&mut self.pointers.checks) {
            if reached[beyond].is_some() {
                continue;
            }
            gone.extend([step, failure]);
            if let Some(guard) = guard {
                let (from, to) = (self.program.edges[guard].from, self.program.edges[guard].to);
                self.join(from, to);
                gone.push(guard);
            }
        }
        gone.sort_unstable();
        self.drop_edges(&gone);
    }

    /// Takes edges away; the others get new numbers. Locations without edges stay.
    fn drop_edges(&mut self, gone: &[EdgeId]) {
        let is_gone = |edge: &EdgeId| gone.binary_search(edge).is_ok();
        let moved = |edge: EdgeId| EdgeId::from(edge.index() - gone.partition_point(|before| *before < edge));
        let edges = std::mem::take(&mut self.program.edges);
        self.program.edges = edges.into_iter_enumerated().filter(|(edge, _)| !is_gone(edge)).map(|(_, e)| e).collect();
        let SourceMap { edges, limits, inputs, sites, notes, .. } = &mut self.map;
        let origins = std::mem::take(edges).into_iter_enumerated();
        *edges = origins.filter(|(edge, _)| !is_gone(edge)).map(|(_, origin)| origin).collect();
        for texts in [limits, inputs, notes, &mut self.checks.notes] {
            let kept = std::mem::take(texts).into_iter().filter(|(edge, _)| !is_gone(edge));
            *texts = kept.map(|(edge, text)| (moved(edge), text)).collect();
        }
        let kept = std::mem::take(sites).into_iter().filter(|(edge, _)| !is_gone(edge));
        *sites = kept.map(|(edge, site)| (moved(edge), site)).collect();
        self.pointers.uses.retain(|used| !is_gone(&used.edge));
        for used in &mut self.pointers.uses {
            used.edge = moved(used.edge);
        }
    }
}
