//! The order in which locations inside a block are processed.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use selvedge_ir::flow::Flow;
use selvedge_ir::{EdgeId, LocId, Op, Program};

use super::place::Place;
use super::visible_points::VisiblePoints;

/// Ranks of the locations that are not visible points, for threads that are alone or not: higher further inside a
/// block.
pub struct Ranks(FxHashMap<(bool, LocId), usize>);

impl Ranks {
    /// Computes a topological order: the reverse of the order in which a depth-first search leaves the locations. There
    /// are no cycles among them, since each cycle has a visible point.
    pub fn new(program: &Program, flow: &Flow, visible_points: &VisiblePoints) -> Ranks {
        let is_stop = |(alone, loc): (bool, LocId)| {
            if alone { visible_points.is_stop_alone(loc) } else { visible_points.is_stop(loc) }
        };
        let next = |(alone, loc): (bool, LocId)| -> Vec<(bool, LocId)> {
            let mut next = Vec::new();
            for edge in flow.out(loc).iter().map(|edge| &program.edges[*edge]) {
                next.push((alone || edge.op == Op::AtomicBegin, edge.to));
                if alone && edge.op == Op::AtomicEnd {
                    next.push((false, edge.to));
                }
            }
            next
        };
        let mut entered: BTreeSet<(bool, LocId)> = BTreeSet::new();
        let mut left: Vec<(bool, LocId)> = Vec::new();
        for root in [false, true].into_iter().flat_map(|alone| program.locs.indices().map(move |loc| (alone, loc))) {
            if is_stop(root) || !entered.insert(root) {
                continue;
            }
            let mut path = vec![(root, next(root))];
            while let Some((node, rest)) = path.last_mut() {
                match rest.pop() {
                    Some(to) if is_stop(to) || !entered.insert(to) => {}
                    Some(to) => path.push((to, next(to))),
                    None => {
                        left.push(*node);
                        path.pop();
                    }
                }
            }
        }
        Ranks(left.into_iter().rev().enumerate().map(|(rank, node)| (node, rank)).collect())
    }

    /// Returns the rank of a place inside a block: greater than that of each location that leads to it. Returns `None`
    /// for a visible point.
    pub fn get(&self, place: Place) -> Option<usize> {
        self.0.get(&(place.is_alone(), place.loc)).copied()
    }

    /// Returns the edges of the steps from a place to the next visible points.
    pub fn block_edges(&self, program: &Program, flow: &Flow, begin: Place) -> Vec<EdgeId> {
        let (mut seen, mut waiting, mut edges) = (BTreeSet::from([begin]), vec![begin], Vec::new());
        while let Some(place) = waiting.pop() {
            for edge in flow.out(place.loc) {
                edges.push(*edge);
                let next = place.after(&program.edges[*edge]);
                if self.get(next).is_some() && seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        edges
    }
}
