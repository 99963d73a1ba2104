//! Claims that a number of rounds is enough as JSON: a part of a proof over listed states.

use selvedge_check::AdequacyClaim;
use selvedge_check::adequacy::{Block, Position, Turn, TurnState};
use selvedge_ir::tts::{LocalId, SharedId};
use serde::{Deserialize, Serialize};

/// The parts of [`AdequacyClaim`], with numbers for states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdequacyView {
    /// The number of rounds.
    pub k: u32,
    pub turns: Vec<TurnView>,
    /// For each number of rounds the blocks: threads of each limited kind, and two lists of shared states.
    pub left: Vec<Vec<BlockView>>,
    pub right: Vec<Vec<BlockView>>,
    /// Threads of each limited kind, two lists for Eve, two for Adam.
    pub positions: Vec<PositionView>,
}

/// A turn of a thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnView {
    /// The entry of the program.
    pub kind: u32,
    /// The turn before, and the shared state at its end; null in the first round.
    pub before: Option<(u32, u32)>,
    /// The shared state at the beginning.
    pub begun: u32,
    /// The shared state, the thread state (null if the thread has ended), and the number of the state before (null at
    /// the beginning).
    pub states: Vec<(u32, Option<u32>, Option<u32>)>,
}

type BlockView = (Vec<u32>, Vec<u32>, Vec<u32>);
type PositionView = (Vec<u32>, [Vec<u32>; 2], [Vec<u32>; 2]);

impl AdequacyView {
    pub(super) fn new(claim: &AdequacyClaim) -> AdequacyView {
        let position = |position: &Position| {
            let lists = |lists: &[Vec<SharedId>; 2]| [numbers(&lists[0]), numbers(&lists[1])];
            (position.used.clone(), lists(&position.eve), lists(&position.adam))
        };
        AdequacyView {
            k: claim.k,
            turns: claim.turns.iter().map(TurnView::new).collect(),
            left: blocks(&claim.left),
            right: blocks(&claim.right),
            positions: claim.positions.iter().map(position).collect(),
        }
    }

    pub(super) fn claim(&self) -> AdequacyClaim {
        let position = |(used, eve, adam): &PositionView| {
            let lists = |lists: &[Vec<u32>; 2]| [shareds(&lists[0]), shareds(&lists[1])];
            Position { used: used.clone(), eve: lists(eve), adam: lists(adam) }
        };
        let block = |(used, begins, ends): &BlockView| Block {
            used: used.clone(),
            begins: shareds(begins),
            ends: shareds(ends),
        };
        let rounds = |rounds: &[Vec<BlockView>]| rounds.iter().map(|list| list.iter().map(block).collect()).collect();
        AdequacyClaim {
            k: self.k,
            turns: self.turns.iter().map(TurnView::turn).collect(),
            left: rounds(&self.left),
            right: rounds(&self.right),
            positions: self.positions.iter().map(position).collect(),
        }
    }
}

impl TurnView {
    fn new(turn: &Turn) -> TurnView {
        let state = |state: &TurnState| (state.shared.raw(), state.local.map(LocalId::raw), state.from);
        TurnView {
            kind: turn.kind,
            before: turn.before.map(|(before, ended)| (before, ended.raw())),
            begun: turn.begun.raw(),
            states: turn.states.iter().map(state).collect(),
        }
    }

    fn turn(&self) -> Turn {
        let state = |(shared, local, from): &(u32, Option<u32>, Option<u32>)| TurnState {
            shared: SharedId::from_raw(*shared),
            local: local.map(LocalId::from_raw),
            from: *from,
        };
        Turn {
            kind: self.kind,
            before: self.before.map(|(before, ended)| (before, SharedId::from_raw(ended))),
            begun: SharedId::from_raw(self.begun),
            states: self.states.iter().map(state).collect(),
        }
    }
}

fn blocks(rounds: &[Vec<Block>]) -> Vec<Vec<BlockView>> {
    let view = |block: &Block| (block.used.clone(), numbers(&block.begins), numbers(&block.ends));
    rounds.iter().map(|list| list.iter().map(view).collect()).collect()
}

fn numbers(shareds: &[SharedId]) -> Vec<u32> {
    shareds.iter().map(|shared| shared.raw()).collect()
}

fn shareds(numbers: &[u32]) -> Vec<SharedId> {
    numbers.iter().map(|shared| SharedId::from_raw(*shared)).collect()
}
