//! Locations with one thread at most.
//!
//! If a run starts with at most one thread of a kind, then there is at most one of this kind at all the locations that
//! no started thread of the kind comes to. The first thread of a program is often an example: it starts the others,
//! which run elsewhere.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use selvedge_ir::flow::Flow;
use selvedge_ir::{Count, EntryId, LocId, Op, Program};

/// Returns for each kind the locations with at most one thread of this kind on all of them together.
pub(super) fn single_locs(program: &Program) -> IndexVec<EntryId, FixedBitSet> {
    let flow = Flow::new(program);
    let of_kind = |entry: &selvedge_ir::Entry| {
        let mut single = FixedBitSet::with_capacity(program.locs.len());
        if matches!(entry.count, Count::Exactly(0 | 1) | Count::AtMost(0 | 1)) {
            single.insert_range(..);
            single.difference_with(&started(program, &flow, program.procs[entry.proc].entry));
        }
        single
    };
    program.entries.iter().map(of_kind).collect()
}

/// Returns the locations to which started threads come: those started by a thread that begins here, and those that they
/// start.
fn started(program: &Program, flow: &Flow, entry: LocId) -> FixedBitSet {
    let mut by_first = FixedBitSet::with_capacity(program.locs.len());
    let mut by_started = FixedBitSet::with_capacity(program.locs.len());
    let mut waiting = vec![(entry, false)];
    while let Some((loc, is_started)) = waiting.pop() {
        let seen = if is_started { &mut by_started } else { &mut by_first };
        if seen.put(loc.index()) {
            continue;
        }
        for edge in flow.out(loc) {
            let edge = &program.edges[*edge];
            waiting.push((edge.to, is_started));
            match &edge.op {
                Op::Fork(at) => waiting.push((*at, true)),
                Op::Spawn(spawn) => waiting.push((program.procs[spawn.callee].entry, true)),
                _ => {}
            }
        }
    }
    by_started
}
