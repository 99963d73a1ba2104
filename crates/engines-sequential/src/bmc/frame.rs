//! The symbolic states of an unwinding at one place: the guard, the values and the frames below; and how several paths
//! to one place are merged.

use std::rc::Rc;

use selvedge_ir::{EdgeId, LocId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_transition::step::circuit::Valuation;

/// The code that is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    Prelude,
    Thread,
}

/// The location of the thread after some number of steps, and its stack height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnwoundPlace {
    pub(super) phase: Phase,
    pub(super) loc: LocId,
    pub(super) height: u32,
}

/// The states at one place after some number of steps: the assignments of the inputs that satisfy the guard.
#[derive(Clone, Debug)]
pub(super) struct UnwoundNode {
    pub(super) guard: Lit,
    /// The shared and per-thread variables and the locals of the running procedure.
    pub(super) valuation: Valuation,
    pub(super) callers: Callers,
}

/// The frames below the running one, the last caller first.
pub(super) type Callers = Option<Rc<Caller>>;

/// A frame whose call has not returned.
#[derive(Debug)]
pub(super) struct Caller {
    /// The call, in ascending order of the edges; under the guard of the node, exactly one of the conditions holds.
    pub(super) calls: Vec<(EdgeId, Lit)>,
    /// The locals. They include those of a procedure if one of its calls is listed.
    pub(super) locals: Valuation,
    pub(super) below: Callers,
}

impl UnwoundNode {
    /// Merges two nodes. Their guards exclude each other, so that the guard of the second selects.
    pub(super) fn merge(self, aig: &mut Aig, other: UnwoundNode) -> UnwoundNode {
        let select = other.guard;
        UnwoundNode {
            guard: aig.or(self.guard, other.guard),
            valuation: Valuation::select(aig, select, &other.valuation, &self.valuation),
            callers: callers(aig, select, &other.callers, &self.callers),
        }
    }
}

fn choice(aig: &mut Aig, select: Lit, yes: Lit, no: Option<Lit>) -> Lit {
    match no {
        Some(no) if no != yes => aig.ite(select, yes, no),
        _ => yes,
    }
}

/// Merges the frames below. All paths to one place have the same number of frames.
fn callers(aig: &mut Aig, select: Lit, yes: &Callers, no: &Callers) -> Callers {
    let (Some(yes), Some(no)) = (yes, no) else { return None };
    if Rc::ptr_eq(yes, no) {
        return Some(Rc::clone(yes));
    }
    let below = callers(aig, select, &yes.below, &no.below);
    let locals = Valuation::select(aig, select, &yes.locals, &no.locals);
    Some(Rc::new(Caller { calls: calls(aig, select, &yes.calls, &no.calls), locals, below }))
}

fn calls(aig: &mut Aig, select: Lit, yes: &[(EdgeId, Lit)], no: &[(EdgeId, Lit)]) -> Vec<(EdgeId, Lit)> {
    let find = |calls: &[(EdgeId, Lit)], edge: EdgeId| {
        calls.binary_search_by_key(&edge, |(edge, _)| *edge).map_or(Lit::FALSE, |at| calls[at].1)
    };
    let mut edges: Vec<EdgeId> = yes.iter().chain(no).map(|(edge, _)| *edge).collect();
    edges.sort_unstable();
    edges.dedup();
    let merged = |edge: EdgeId| (edge, choice(aig, select, find(yes, edge), Some(find(no, edge))));
    edges.into_iter().map(merged).collect()
}
