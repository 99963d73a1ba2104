//! The recursions that the library lacks, on its node interface: generalised cofactor, renaming, inclusion, splitting.
//!
//! Results are kept in the library's own cache of results, which is emptied whenever nodes are freed, so that an entry
//! never outlives its nodes. The cache's keys are an operator of the library, the nodes and a number; the number comes
//! from the library's counter for substitutions, so that no two kinds of result share a key.

use std::borrow::Borrow;
use std::sync::LazyLock;

use oxidd::bdd::BDDFunction;
use oxidd::{BooleanFunction, Function, HasLevel, InnerNode, Manager, Node, NodeID};
use oxidd_core::function::{EdgeOfFunc, OwnEdgeOfFunc};
use oxidd_core::util::{AllocResult, EdgeDropGuard, Ref, new_substitution_id};
use oxidd_core::{ApplyCache, HasApplyCache, LevelView};
use oxidd_rules_bdd::simple::{BDDOp, BDDTerminal};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) type Nodes<'id> = <BDDFunction as Function>::Manager<'id>;
pub(super) type Edge<'a, 'id> = Ref<'a, EdgeOfFunc<'id, BDDFunction>>;
type Owned<'id> = OwnEdgeOfFunc<'id, BDDFunction>;

/// The level of the constants: below everything.
pub(super) const BOTTOM: u32 = u32::MAX;

static RESTRICT: LazyLock<u32> = LazyLock::new(new_substitution_id);
static SUBSET: LazyLock<u32> = LazyLock::new(new_substitution_id);
static DISJOINT: LazyLock<u32> = LazyLock::new(new_substitution_id);

/// The node at the end of an edge.
#[derive(Clone, Copy)]
pub(super) enum View<'a, 'id: 'a> {
    /// A constant.
    Constant(bool),
    /// A decision: the level, the edge if the variable is true, and the edge if it is false.
    Decision(u32, Edge<'a, 'id>, Edge<'a, 'id>),
}

pub(super) fn view<'a, 'id>(store: &'a Nodes<'id>, edge: Edge<'a, 'id>) -> View<'a, 'id> {
    match store.get_node(edge) {
        Node::Terminal(t) => View::Constant(*t.borrow() == BDDTerminal::True),
        Node::Inner(node) => View::Decision(node.level(), node.child(0), node.child(1)),
    }
}

impl<'a, 'id> View<'a, 'id> {
    fn level(self) -> u32 {
        match self {
            View::Constant(_) => BOTTOM,
            View::Decision(level, ..) => level,
        }
    }

    /// Returns the cofactors at a level that is not below this node.
    fn cofactors(self, edge: Edge<'a, 'id>, at: u32) -> (Edge<'a, 'id>, Edge<'a, 'id>) {
        match self {
            View::Decision(level, high, low) if level == at => (high, low),
            _ => (edge, edge),
        }
    }
}

fn guard<'a, 'id>(store: &'a Nodes<'id>, edge: Owned<'id>) -> EdgeDropGuard<'a, Nodes<'id>> {
    EdgeDropGuard::new(store, edge)
}

/// Returns the reduced node with the given children, which must lie below the level.
fn decision<'id>(
    store: &Nodes<'id>,
    level: u32,
    high: EdgeDropGuard<'_, Nodes<'id>>,
    low: EdgeDropGuard<'_, Nodes<'id>>,
) -> AllocResult<Owned<'id>> {
    if *high == *low {
        return Ok(high.into_edge());
    }
    let node = InnerNode::new(level, [high.into_edge(), low.into_edge()]);
    store.level(level).get_or_insert(node)
}

fn cached<'id>(store: &Nodes<'id>, operands: &[Edge<'_, 'id>], id: u32) -> Option<Owned<'id>> {
    let ([result], []) = store.apply_cache().get_extended(store, BDDOp::Substitute, (operands, &[id]))?;
    Some(result)
}

fn remember<'id>(store: &Nodes<'id>, operands: &[Edge<'_, 'id>], id: u32, result: Edge<'_, 'id>) {
    store.apply_cache().add_extended(store, BDDOp::Substitute, (operands, &[id]), (&[result], &[]));
}

/// Coudert and Madre's restriction of `f` to a care set that is not empty: a function equal to `f` on the care set,
/// chosen to be small elsewhere, that depends on no variable that `f` does not depend on.
///
/// Correct by induction: if one cofactor of the care set is empty, the decision is dropped and the other side is used;
/// a variable that only the care set tests is quantified away, which enlarges the care set. No recursive call has an
/// empty care set. Ends, since each call goes down at least one level in one of the two.
pub(super) fn restrict<'id>(store: &Nodes<'id>, f: Edge<'_, 'id>, care: Edge<'_, 'id>) -> AllocResult<Owned<'id>> {
    let (fv, cv) = (view(store, f), view(store, care));
    let (View::Decision(level, ..), View::Decision(care_level, care_high, care_low)) = (fv, cv) else {
        return Ok(store.clone_edge(f));
    };
    if let Some(result) = cached(store, &[f, care], *RESTRICT) {
        return Ok(result);
    }
    let result = if care_level < level {
        let wider = guard(store, BDDFunction::or_edge(store, care_high, care_low)?);
        restrict(store, f, wider.borrowed())?
    } else {
        let ((high, low), (care_high, care_low)) = (fv.cofactors(f, level), cv.cofactors(care, level));
        if is_false(store, care_high) {
            restrict(store, low, care_low)?
        } else if is_false(store, care_low) {
            restrict(store, high, care_high)?
        } else {
            let high = guard(store, restrict(store, high, care_high)?);
            let low = guard(store, restrict(store, low, care_low)?);
            decision(store, level, high, low)?
        }
    };
    remember(store, &[f, care], *RESTRICT, result.borrowed());
    Ok(result)
}

pub(super) fn is_false<'id>(store: &Nodes<'id>, edge: Edge<'_, 'id>) -> bool {
    matches!(view(store, edge), View::Constant(false))
}

/// Replaces the variable of each level below `targets.len()` by the one given there, all at once.
///
/// Both branches are renamed first. If the new variable lies above both results, a node on top of them is the answer;
/// this is the case throughout where the renaming keeps the order on the variables that occur. Otherwise the new
/// variable decides between the two results, wherever it lies in them. Since the results are already renamed, nothing
/// is renamed twice and swaps are right.
pub(super) fn rename<'id>(store: &Nodes<'id>, f: Edge<'_, 'id>, targets: &[u32], id: u32) -> AllocResult<Owned<'id>> {
    let View::Decision(level, high, low) = view(store, f) else {
        return Ok(store.clone_edge(f));
    };
    let Some(&target) = targets.get(level as usize) else {
        return Ok(store.clone_edge(f));
    };
    if let Some(result) = cached(store, &[f], id) {
        return Ok(result);
    }
    let high = guard(store, rename(store, high, targets, id)?);
    let low = guard(store, rename(store, low, targets, id)?);
    let below = view(store, high.borrowed()).level().min(view(store, low.borrowed()).level());
    let result = if target < below {
        decision(store, target, high, low)?
    } else {
        let var = guard(store, BDDFunction::var_edge(store, target)?);
        BDDFunction::ite_edge(store, var.borrowed(), high.borrowed(), low.borrowed())?
    };
    remember(store, &[f], id, result.borrowed());
    Ok(result)
}

/// Returns whether `f` implies `g`, without creating a node. Only positive answers are cached: a negative one ends the
/// search.
pub(super) fn subset<'id>(store: &Nodes<'id>, f: Edge<'_, 'id>, g: Edge<'_, 'id>) -> bool {
    if f == g {
        return true;
    }
    let (fv, gv) = (view(store, f), view(store, g));
    match (fv, gv) {
        (View::Constant(false), _) | (_, View::Constant(true)) => return true,
        // A decision is neither valid nor unsatisfiable.
        (View::Constant(true), _) | (_, View::Constant(false)) => return false,
        _ => {}
    }
    both_branches(store, (f, fv), (g, gv), *SUBSET, subset)
}

/// Returns whether `f` and `g` exclude each other, without creating a node.
pub(super) fn disjoint<'id>(store: &Nodes<'id>, f: Edge<'_, 'id>, g: Edge<'_, 'id>) -> bool {
    let (fv, gv) = (view(store, f), view(store, g));
    match (fv, gv) {
        (View::Constant(false), _) | (_, View::Constant(false)) => return true,
        (View::Constant(true), _) | (_, View::Constant(true)) => return false,
        _ if f == g => return false,
        _ => {}
    }
    both_branches(store, (f, fv), (g, gv), *DISJOINT, disjoint)
}

/// Returns whether the test holds of both pairs of cofactors at the topmost level of two decisions.
fn both_branches<'a, 'id>(
    store: &'a Nodes<'id>,
    (f, fv): (Edge<'a, 'id>, View<'a, 'id>),
    (g, gv): (Edge<'a, 'id>, View<'a, 'id>),
    id: u32,
    test: impl Fn(&Nodes<'id>, Edge<'_, 'id>, Edge<'_, 'id>) -> bool,
) -> bool {
    if let Some(hit) = cached(store, &[f, g], id) {
        store.drop_edge(hit);
        return true;
    }
    let level = fv.level().min(gv.level());
    let ((fh, fl), (gh, gl)) = (fv.cofactors(f, level), gv.cofactors(g, level));
    let holds = test(store, fl, gl) && test(store, fh, gh);
    if holds {
        remember(store, &[f, g], id, f);
    }
    holds
}

/// Returns the distinct functions below a cut, except constant false, in the order of a traversal that takes the false
/// branch first.
pub(super) fn parts_below<'id>(store: &Nodes<'id>, f: Edge<'_, 'id>, cut: u32) -> Vec<(NodeID, BDDFunction)> {
    let mut parts = Vec::new();
    collect_parts(store, f, cut, &mut FxHashSet::default(), &mut parts);
    parts
}

fn collect_parts<'id>(
    store: &Nodes<'id>,
    f: Edge<'_, 'id>,
    cut: u32,
    seen: &mut FxHashSet<NodeID>,
    parts: &mut Vec<(NodeID, BDDFunction)>,
) {
    if is_false(store, f) || !seen.insert(f.node_id()) {
        return;
    }
    match view(store, f) {
        View::Decision(level, high, low) if level < cut => {
            collect_parts(store, low, cut, seen, parts);
            collect_parts(store, high, cut, seen, parts);
        }
        _ => parts.push((f.node_id(), BDDFunction::from_edge_ref(store, f))),
    }
}

/// Returns the condition on the variables above the cut under which `f` leads to the given part.
pub(super) fn leads_to<'id>(
    store: &Nodes<'id>,
    f: Edge<'_, 'id>,
    cut: u32,
    part: NodeID,
    memo: &mut FxHashMap<NodeID, BDDFunction>,
) -> AllocResult<Owned<'id>> {
    let (level, high, low) = match view(store, f) {
        View::Decision(level, high, low) if level < cut => (level, high, low),
        _ if f.node_id() == part => return Ok(BDDFunction::t_edge(store)),
        _ => return Ok(BDDFunction::f_edge(store)),
    };
    if let Some(known) = memo.get(&f.node_id()) {
        return Ok(store.clone_edge(known.as_edge(store)));
    }
    let high = guard(store, leads_to(store, high, cut, part, memo)?);
    let low = guard(store, leads_to(store, low, cut, part, memo)?);
    let result = decision(store, level, high, low)?;
    memo.insert(f.node_id(), BDDFunction::from_edge_ref(store, result.borrowed()));
    Ok(result)
}
