//! The steps that a thread makes before others are there: those of the prelude, and those of a single initial thread
//! before it can start another one. Its values are formulas over the inputs of its own steps; constants stay constants.

use std::collections::BTreeMap;

use selvedge_check::{Bound, Role, Run, Stop};
use selvedge_ir::{Scope, VarId};
use selvedge_logic::aig::{Aig, Lit};
use selvedge_logic::sat::Answer;
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::circuit::{self, Begin, Valuation};

use super::block::{Block, Move, Node, follow};
use super::clauses::Clauses;
use super::layout::Layout;

/// The most blocks of a single initial thread that are looked at in this way.
const MOST_ALONE: u32 = 256;

/// The steps of the prelude's thread, and of a single initial one.
#[derive(Default)]
pub(super) struct Alone {
    /// The moves of the prelude.
    pub(super) prelude: Vec<Move>,
    /// The moves of the initial thread.
    pub(super) thread: Vec<Move>,
    /// The number of blocks of the initial thread.
    pub(super) n_blocks: u32,
    /// The conditions of errors.
    pub(super) errors: Vec<Lit>,
}

/// The shared variables where the initial threads begin, and the condition that they do.
pub(super) struct Shared {
    pub(super) guard: Lit,
    pub(super) values: Valuation,
}

impl Alone {
    fn add(&mut self, block: &mut Block, is_prelude: bool) {
        self.errors.extend(block.error);
        let moves = if is_prelude { &mut self.prelude } else { &mut self.thread };
        moves.append(&mut block.moves);
    }

    /// Runs the prelude to its end, if there is one. `None` if it never ends.
    pub(super) fn prelude(
        &mut self,
        layout: &Layout<'_>,
        begin: &Begin,
        bound: u32,
        (aig, clauses, run): (&mut Aig, &mut Clauses, &Run<'_>),
    ) -> Result<Option<Shared>, Stop> {
        let program = layout.task.program;
        let mut values = begin.valuation.clone();
        let Some(prelude) = program.prelude else { return Ok(Some(Shared { guard: Lit::TRUE, values })) };
        let own = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Thread);
        own.for_each(|var| values.set(var, Lit::FALSE));
        let place = Place { role: Role::Prelude, loc: program.procs[prelude].entry };
        if layout.task.target.has_loc(place.loc) {
            self.errors.push(Lit::TRUE);
            return Ok(None);
        }
        let mut nodes = BTreeMap::from([(place, Node::new(Lit::TRUE, values))]);
        let mut end: Option<Node> = None;
        for depth in 1u32.. {
            let mut block = follow(layout, aig, nodes);
            self.add(&mut block, true);
            let merged = end.into_iter().chain(block.gone.take()).reduce(|known, node| known.merge(aig, node));
            end = merged;
            nodes = block.ends;
            if nodes.is_empty() {
                break;
            }
            run.check_limits()?;
            if (depth.is_power_of_two() || depth >= bound) && !is_possible(&nodes, aig, clauses, run)? {
                break;
            }
            if depth >= bound {
                return Err(Stop::BoundReached(Bound::VisibleSteps(bound)));
            }
        }
        let is_shared = |var: VarId| program.vars.get(var).is_some_and(|var| var.scope == Scope::Shared);
        Ok(end.map(|end| Shared { guard: end.guard, values: end.values.restrict(is_shared) }))
    }

    /// Runs a single initial thread until it may start another one. Returns the states from which it goes on.
    pub(super) fn thread(
        &mut self,
        layout: &Layout<'_>,
        mut nodes: BTreeMap<Place, Node>,
        (aig, run): (&mut Aig, &Run<'_>),
    ) -> Result<BTreeMap<Place, Node>, Stop> {
        for _ in 0..MOST_ALONE {
            run.check_limits()?;
            let mut block = follow(layout, aig, nodes.clone());
            if nodes.is_empty() || !block.children.is_empty() {
                break;
            }
            self.add(&mut block, false);
            self.n_blocks += 1;
            nodes = block.ends;
            nodes.values_mut().for_each(|node| node.written.clear());
        }
        Ok(nodes)
    }
}

/// Returns whether an execution leads to one of the places.
fn is_possible(
    nodes: &BTreeMap<Place, Node>,
    aig: &mut Aig,
    clauses: &mut Clauses,
    run: &Run<'_>,
) -> Result<bool, Stop> {
    let any = nodes.values().fold(Lit::FALSE, |any, node| aig.or(any, node.guard));
    let any = clauses.lit(aig, any);
    Ok(clauses.solve(&[any], run)? == Answer::Sat)
}

/// An initial thread.
pub(super) struct Initial {
    pub(super) place: Place,
    /// The condition that the thread exists.
    pub(super) exists: Lit,
    pub(super) begin: Begin,
}

/// Creates the initial threads: as many of each kind as any run may have. Inputs say which numbers of threads a run
/// has. Returns also the number of all threads, in binary.
pub(super) fn initial_threads(
    layout: &Layout<'_>,
    shared: &Shared,
    counts: &[Vec<(selvedge_ir::EntryId, u32)>],
    aig: &mut Aig,
) -> (Vec<Initial>, Vec<Lit>) {
    let program = layout.task.program;
    let ways = vec![vec![Lit::TRUE]; counts.len()];
    let chosen = circuit::selectors(aig, &ways);
    let mut threads = Vec::new();
    for kind in program.entries.indices() {
        let number_in = |count: &Vec<(selvedge_ir::EntryId, u32)>| {
            count.iter().filter(|(of, _)| *of == kind).map(|(_, number)| *number).sum::<u32>()
        };
        for number in 0..counts.iter().map(number_in).max().unwrap_or(0) {
            let has = counts.iter().zip(&chosen).filter(|(count, _)| number_in(count) > number);
            let exists = has.fold(Lit::FALSE, |any, (_, chosen)| aig.or(any, *chosen));
            let exists = aig.and(exists, shared.guard);
            let begin = circuit::begin_kind(aig, program, kind, &shared.values);
            let place = Place { role: Role::Free(kind), loc: program.procs[program.entries[kind].proc].entry };
            threads.push(Initial { place, exists, begin });
        }
    }
    let total = |count: &Vec<(selvedge_ir::EntryId, u32)>| count.iter().map(|(_, number)| *number).sum::<u32>();
    let n_bits = layout.count.as_ref().map_or(0, |count| count.bits.len());
    let bit = |place: usize, aig: &mut Aig| {
        let has = counts.iter().zip(&chosen).filter(|(count, _)| total(count) >> place & 1 == 1);
        has.fold(Lit::FALSE, |any, (_, chosen)| aig.or(any, *chosen))
    };
    let bits = (0..n_bits).map(|place| bit(place, aig)).collect();
    (threads, bits)
}
