//! The variables that a block concerns: two states that agree on them have the same blocks, and a block leaves all
//! others as they are.
//!
//! *Right.* The steps of a block read only the variables in the expressions of their edges, and those that a thread
//! that it starts takes over. These determine the ways through the block, and all values that it writes. A variable
//! that every way writes has a value that they determine, too; one that only some ways write is added, since the others
//! leave it as it was. The variables of a thread that are not live where the block ends are false there.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use selvedge_ir::{EdgeId, Expr, LocId, Op, VarId};

use super::Model;

/// The variables that the blocks of threads at a visible point concern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footprint {
    /// The variables that determine the blocks, by their numbers: shared ones and those of the thread.
    pub decisive: FixedBitSet,
    /// The variables that the blocks may write.
    pub written: FixedBitSet,
    /// True if a thread may be started.
    pub starts: bool,
}

/// A location inside a block, and whether the thread holds the atomic flag or runs the prelude there.
type Inner = (LocId, bool);

/// Returns the footprint of the blocks that begin at a location; `alone` says whether the thread holds the atomic flag
/// or runs the prelude, and `is_prelude` which of the two.
pub fn footprint(model: &Model<'_>, loc: LocId, alone: bool, is_prelude: bool) -> Footprint {
    let n_vars = model.program().vars.len();
    let (decisive, written) = (FixedBitSet::with_capacity(n_vars), FixedBitSet::with_capacity(n_vars));
    let mut search = Search { model, is_prelude, footprint: Footprint { decisive, written, starts: false } };
    let mut always: FxHashMap<Inner, FixedBitSet> = FxHashMap::default();
    // Inner locations behind the ones that lead to them: the path to the one that is being looked at, each with the
    // number of its edges that are done. There are no cycles of inner locations.
    let mut path = vec![((loc, alone), 0)];
    while let Some((inner, next)) = path.last_mut() {
        let (inner, edges) = (*inner, model.flow.out(inner.0));
        let Some(edge) = edges.get(*next) else {
            let written_always = search.written_always(inner, &always);
            always.insert(inner, written_always);
            path.pop();
            continue;
        };
        *next += 1;
        search.note(*edge);
        if let Some(to) = search.after(inner, *edge).filter(|to| !always.contains_key(to)) {
            path.push((to, 0));
        }
    }
    let mut footprint = search.footprint;
    let mut sometimes = footprint.written.clone();
    sometimes.difference_with(&always[&(loc, alone)]);
    footprint.decisive.union_with(&sometimes);
    footprint
}

struct Search<'m, 'p> {
    model: &'m Model<'p>,
    is_prelude: bool,
    footprint: Footprint,
}

impl Search<'_, '_> {
    /// Adds what a step reads and writes.
    fn note(&mut self, id: EdgeId) {
        let program = self.model.program();
        let edge = &program.edges[id];
        let decisive = &mut self.footprint.decisive;
        for expr in edge.exprs() {
            expr.for_each_leaf(|leaf| {
                if let Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
                    decisive.insert(var.index());
                }
            });
        }
        let slots = &self.model.steps.slots;
        match &edge.op {
            Op::Assign(assign) => {
                self.footprint.written.extend(assign.active.iter().map(|(var, _)| var.index()));
            }
            Op::Spawn(_) => {
                decisive.extend(slots.thread_vars.iter().map(|var| var.index()));
                self.footprint.starts = true;
            }
            Op::Fork(at) => {
                decisive.extend(slots.visible(program, *at).into_iter().map(VarId::index));
                self.footprint.starts = true;
            }
            _ => {}
        }
    }

    /// Returns the inner location to which a step leads; `None` if the block ends behind it.
    fn after(&self, (_, alone): Inner, id: EdgeId) -> Option<Inner> {
        let program = self.model.program();
        let edge = &program.edges[id];
        let alone = match edge.op {
            Op::AtomicBegin => true,
            Op::AtomicEnd => self.is_prelude,
            _ => alone,
        };
        let points = &self.model.visible_points;
        let is_end = edge.to == program.procs[program.locs[edge.from].proc].exit
            || if alone { points.is_stop_alone(edge.to) } else { points.is_stop(edge.to) };
        (!is_end).then_some((edge.to, alone))
    }

    /// Returns the variables that every way from an inner location writes, given those from the ones behind it.
    fn written_always(&self, inner: Inner, always: &FxHashMap<Inner, FixedBitSet>) -> FixedBitSet {
        let mut common: Option<FixedBitSet> = None;
        for id in self.model.flow.out(inner.0) {
            let mut written = match self.after(inner, *id) {
                Some(to) => always[&to].clone(),
                None => FixedBitSet::with_capacity(self.footprint.written.len()),
            };
            if let Op::Assign(assign) = &self.model.program().edges[*id].op {
                written.extend(assign.active.iter().map(|(var, _)| var.index()));
            }
            match &mut common {
                Some(common) => common.intersect_with(&written),
                None => common = Some(written),
            }
        }
        common.unwrap_or_else(|| FixedBitSet::with_capacity(self.footprint.written.len()))
    }
}
