//! The adequacy check of §5: are `k` rounds enough?
//!
//! Eve declares a state that is reached at the end of round `k+1`, thread by thread: the location and the values of
//! each thread, and the shared states with which its turns begin and end. Adam answers each move with the same thread
//! at the same position of the order, at the same location with the same values after `k` rounds. Both compose the
//! interfaces of their threads. Eve wins if Adam has no answer, or if her rounds are wrapped and his are not, or end
//! with another shared state. In the paper Adam has to leave the same shared state after every thread; but the claim is
//! only about states at the end, and this way he wins more often.
//!
//! If Adam has a strategy, every state at the end of round `k+1` is one at the end of round `k`, of the same threads in
//! the same order. Then it is so for all later rounds, by induction, and an error in a later round is one within `k+1`
//! rounds. So if `k+1` rounds have no error, the program is safe for any number of threads and rounds. If Eve wins,
//! nothing follows: she may have adapted her choice to his answers.
//!
//! *Positions.* Eve's block so far is a wanted block of round `k+1`: `In` are the states with which its turns end,
//! `Mid` those with which they began, from the second on. A player with such a block can extend it to a wrapped one,
//! since all other threads may idle in the last round; so Eve wins as soon as Adam has no answer, and unwanted blocks
//! need not be considered. The same holds for Adam's in round `k` (`OtherIn`, `OtherMid`): from an unwanted block he
//! cannot reach a wrapped one. In the E-move of the paper, σ and u₁ are those after the move (`e_move_primes`).
//!
//! *Order of work.* Adam's safe positions are a greatest fixed point: all positions in which Eve has not won, then
//! without those in which some move of hers has no answer that leads to a safe one. It ends since they only become
//! fewer. At the end the first moves are checked, from the empty blocks.

use selvedge_check::{EveMove, Stop};
use selvedge_ir::{EntryId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var, VarSet};
use selvedge_transition::out_of_nodes;

use super::blocks::BlockRelations;
use super::counts::BlockSide;
use super::interfaces::{FinalLoc, Interfaces, interfaces};
use crate::thread_paths::columns::Side;

/// The winner of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Winner {
    /// Adam: the number of rounds is enough.
    Adam,
    /// Eve, so nothing is known; with her moves in a play that she wins.
    Eve(Vec<EveMove>),
}

/// Returns whether the game can be played: only the program's own calls can prevent it.
pub(super) fn is_playable(blocks: &BlockRelations<'_, '_>) -> bool {
    let program = blocks.model.program;
    let of_threads = |edge: &&selvedge_ir::Edge| Some(program.locs[edge.from].proc) != program.prelude;
    !program.edges.iter().filter(of_threads).any(|edge| matches!(edge.op, Op::Call(_)))
}

/// Plays the game for one round less than have been explored.
pub(super) fn play(blocks: &BlockRelations<'_, '_>) -> Result<Winner, Stop> {
    let game = AdequacyGame::new(blocks).map_err(out_of_nodes)?;
    let mut stages = vec![game.not_lost().map_err(out_of_nodes)?];
    let mut gone = None;
    while let Some(safe) = stages.last() {
        let smaller = game.kept(safe, gone.as_ref())?;
        if smaller == *safe {
            break;
        }
        gone = Some(safe.minus(&smaller).map_err(out_of_nodes)?);
        stages.push(smaller);
        // Positions are only lost, so a first move without an answer remains one.
        if let won @ Winner::Eve(_) = game.opened(&stages)? {
            return Ok(won);
        }
    }
    game.opened(&stages)
}

/// The moves of both players with threads of one entry at one location.
struct EntryMoves {
    entry: EntryId,
    stand: FinalLoc,
    /// Eve's moves, over the variables of the thread, `In` and `Out`.
    eve: Bdd,
    /// Adam's moves, over the variables of the thread, `OtherIn` and `OtherOut`.
    adam: Bdd,
    /// The variables of Eve's move: those of the thread, and `Out`.
    moved: VarSet,
}

/// The columns of a player's block.
struct PlayerColumns {
    /// The states with which its turns end, before and after a move.
    now: Vec<Var>,
    next: Vec<Var>,
    /// The states with which they began, from the second on.
    wrap: Vec<Var>,
}

struct AdequacyGame<'b, 'w, 'a> {
    blocks: &'b BlockRelations<'w, 'a>,
    /// Adam's rounds.
    k: u32,
    hers: PlayerColumns,
    his: PlayerColumns,
    moves: Vec<EntryMoves>,
    /// Eve's blocks after a move: over the counts, `Out` and `Mid`.
    wanted: Bdd,
    /// The variables of Adam's answer: `OtherOut`.
    answered: VarSet,
}

impl<'b, 'w, 'a> AdequacyGame<'b, 'w, 'a> {
    fn new(blocks: &'b BlockRelations<'w, 'a>) -> Result<AdequacyGame<'b, 'w, 'a>, OutOfNodes> {
        let k = blocks.count() - 1;
        let model = blocks.model;
        let columns = |[now, next, wrap]: [Side; 3], rounds: u32| PlayerColumns {
            now: blocks.over(now, 1, rounds),
            next: blocks.over(next, 1, rounds),
            wrap: blocks.over(wrap, 1, rounds - 1),
        };
        let hers = columns([Side::In, Side::Out, Side::Mid], k + 1);
        let his = columns([Side::OtherIn, Side::OtherOut, Side::OtherMid], k);
        let wanted = model.renamed(&blocks.round(k + 1).wanted.all, &[(&hers.now, &hers.next)])?;
        let answered = model.set(&[&his.next])?;
        let mut game = AdequacyGame { blocks, k, hers, his, moves: Vec::new(), wanted, answered };
        for (template, root) in blocks.paths.templates.iter().enumerate() {
            let entries =
                blocks.counts.entries.iter().filter(|entry| blocks.paths.of_entries[entry.index()] == template);
            let [eve, adam] = [interfaces(root, k + 1)?, interfaces(root, k)?];
            for entry in entries {
                game.add_moves(*entry, &eve, &adam)?;
            }
        }
        Ok(game)
    }

    fn add_moves(&mut self, entry: EntryId, eve: &Interfaces, adam: &Interfaces) -> Result<(), OutOfNodes> {
        let model = self.blocks.model;
        let (hers, his) = (&self.hers, &self.his);
        let n_his = his.now.len();
        let pairs: [(&[_], &[_]); 2] = [(&hers.now[..n_his], &his.now), (&hers.next[..n_his], &his.next)];
        let moved = model.set(&[&hers.next, self.frame(entry)])?;
        for (stand, eve) in eve {
            let adam = match adam.get(stand) {
                Some(adam) => model.renamed(adam, &pairs)?,
                None => model.layout.manager.bottom(),
            };
            self.moves.push(EntryMoves { entry, stand: *stand, eve: eve.clone(), adam, moved: moved.clone() });
        }
        Ok(())
    }

    /// Returns the positions in which Adam has answered and Eve has not won: his block is wanted, and if hers is
    /// wrapped, his is wrapped as well and has left the same shared state.
    fn not_lost(&self) -> Result<Bdd, OutOfNodes> {
        let (blocks, model, k) = (self.blocks, self.blocks.model, self.k);
        let wrapped = |player: &PlayerColumns| model.equal(&player.now[..player.wrap.len()], &player.wrap);
        let [left, right] = [(Side::In, k + 1), (Side::OtherIn, k)].map(|(side, round)| model.column(side, round));
        let agreed = wrapped(&self.hers)?.implies(&model.equal(&left, &right)?.and(&wrapped(&self.his)?)?)?;
        blocks.round(k + 1).wanted.all.and(&self.other(&blocks.round(k).wanted.all)?)?.and(&agreed)
    }

    /// Renames a relation on left blocks in `k` rounds to one on Adam's.
    fn other(&self, wanted: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (hers, his) = (&self.hers, &self.his);
        let (n_his, n_wrap) = (his.now.len(), his.wrap.len());
        let pairs: [(&[_], &[_]); 2] = [(&hers.now[..n_his], &his.now), (&hers.wrap[..n_wrap], &his.wrap)];
        self.blocks.model.renamed(wanted, &pairs)
    }

    /// Returns Adam's answers for which the position is among the given ones afterwards: over the variables of the
    /// thread, the counts after the move, `Out`, `Mid`, `OtherIn` and `OtherMid`.
    fn answers(&self, moves: &EntryMoves, after: &Bdd) -> Result<Bdd, OutOfNodes> {
        moves.adam.and_exists(after, &self.answered)
    }

    /// Renames positions to those after the moves of both players.
    fn after(&self, positions: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (hers, his) = (&self.hers, &self.his);
        self.blocks.model.renamed(positions, &[(&hers.now, &hers.next), (&his.now, &his.next)])
    }

    /// Returns the given positions from which no move of Eve leaves them for good. `gone` are those that were lost
    /// last: a move that has become unanswered had an answer that led to one of them.
    fn kept(&self, safe: &Bdd, gone: Option<&Bdd>) -> Result<Bdd, Stop> {
        let after = self.after(safe).map_err(out_of_nodes)?;
        let gone = gone.map(|gone| self.after(gone)).transpose().map_err(out_of_nodes)?;
        let mut kept = safe.clone();
        for moves in &self.moves {
            self.blocks.model.run.check_limits()?;
            self.blocks.model.layout.manager.tidy();
            let lost = self.lost(moves, &after, gone.as_ref()).map_err(out_of_nodes)?;
            kept = kept.minus(&lost).map_err(out_of_nodes)?;
        }
        Ok(kept)
    }

    /// Returns the positions from which Eve has a move that Adam cannot answer. Her move is projected away at once.
    fn lost(&self, moves: &EntryMoves, after: &Bdd, gone: Option<&Bdd>) -> Result<Bdd, OutOfNodes> {
        let answers = self.answers(moves, after)?;
        let unanswered = match gone {
            None => self.wanted.minus(&answers)?,
            Some(gone) => self.answers(moves, gone)?.minus(&answers)?,
        };
        let from = moves.eve.and_exists(&unanswered, &moves.moved)?;
        self.blocks.counts.remove(BlockSide::Left, moves.entry, &from)
    }

    /// Returns whether Adam has an answer to every first move that leads to the last of the stages, in which he is
    /// safe. His first thread begins its turns as he likes.
    fn opened(&self, stages: &[Bdd]) -> Result<Winner, Stop> {
        let Some(safe) = stages.last() else { return Ok(Winner::Adam) };
        let after = self.after(safe).map_err(out_of_nodes)?;
        for moves in &self.moves {
            self.blocks.model.run.check_limits()?;
            let unanswered = self.unanswered(moves, &after).map_err(out_of_nodes)?;
            if !unanswered.is_false() {
                let play = self.played(moves, &unanswered, stages).map_err(out_of_nodes)?;
                return Ok(Winner::Eve(play));
            }
        }
        Ok(Winner::Adam)
    }

    /// Returns Eve's moves from her first one on, if Adam always gives an answer that leads to the last stage that he
    /// can reach. A position that is not in the next stage has a move of hers whose answers all lead to earlier ones,
    /// so it ends.
    fn played(&self, first: &EntryMoves, unanswered: &Bdd, stages: &[Bdd]) -> Result<Vec<EveMove>, OutOfNodes> {
        let mut play = Vec::new();
        let mut adam = self.other(&self.empty(self.k)?)?;
        let (mut moves, mut found) = (first, unanswered.clone());
        let mut reached = stages.len();
        loop {
            let chosen = self.pick(moves, &found)?;
            play.push(self.named(moves, &chosen));
            // The position once Adam has answered, in the last stage that he can reach.
            let answered = chosen.and(&moves.adam)?.and(&adam)?;
            let stage = (0..reached).rev().find_map(|stage| {
                let position = self.after(&stages[stage]).and_then(|after| answered.and(&after));
                position.map(|position| (!position.is_false()).then_some((stage, position))).transpose()
            });
            let Some((stage, position)) = stage.transpose()? else { return Ok(play) };
            let position = self.settled(moves, &position)?;
            let after = self.after(&stages[stage])?;
            let next = self.moves.iter().find_map(|moves| {
                let lost = self.losing(moves, &position, &after);
                lost.map(|lost| (!lost.is_false()).then_some((moves, lost))).transpose()
            });
            let Some((next, lost)) = next.transpose()? else { return Ok(play) };
            (moves, found, reached, adam) = (next, lost, stage, self.his(&position)?);
        }
    }

    /// Picks one of some moves: one tuple of the variables of the thread, the counts, `Out` and `Mid`.
    fn pick(&self, moves: &EntryMoves, found: &Bdd) -> Result<Bdd, OutOfNodes> {
        let counts = self.blocks.counts.vars(BlockSide::Left);
        self.picked(found, [self.frame(moves.entry), &counts, &self.hers.next, &self.hers.wrap].concat())
    }

    /// Picks one tuple of variables.
    fn picked(&self, set: &Bdd, vars: Vec<Var>) -> Result<Bdd, OutOfNodes> {
        self.blocks.model.fixed(&vars, &set.pick(&vars).unwrap_or_default())
    }

    /// Returns the variables of the threads of an entry.
    fn frame(&self, entry: EntryId) -> &'w [Var] {
        let model = self.blocks.model;
        model.frames[model.program.entries[entry].proc].vars()
    }

    /// Picks one position, as it is before the next moves, of those after a move and its answers.
    fn settled(&self, moves: &EntryMoves, answered: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (model, hers, his) = (self.blocks.model, &self.hers, &self.his);
        let after = answered.exists(&model.set(&[self.frame(moves.entry), &his.now, &hers.now])?)?;
        let after = model.renamed(&after, &[(&his.next, &his.now), (&hers.next, &hers.now)])?;
        let counts = self.blocks.counts.vars(BlockSide::Left);
        self.picked(&after, [&*hers.now, &his.now, &counts, &hers.wrap, &his.wrap].concat())
    }

    /// Returns Adam's part of a position.
    fn his(&self, position: &Bdd) -> Result<Bdd, OutOfNodes> {
        let counts = self.blocks.counts.vars(BlockSide::Left);
        position.exists(&self.blocks.model.set(&[&self.hers.now, &self.hers.wrap, &counts])?)
    }

    /// Returns Eve's moves from some positions that have no answer: over the variables of the thread, the counts, `Out`
    /// and `Mid`.
    fn losing(&self, moves: &EntryMoves, positions: &Bdd, after: &Bdd) -> Result<Bdd, OutOfNodes> {
        let counts = &self.blocks.counts;
        let answers = self.answers(moves, after)?;
        let legal = counts.add(BlockSide::Left, moves.entry, positions)?.and(&moves.eve)?.and(&self.wanted)?;
        legal.minus(&answers)
    }

    /// Returns a move in readable form.
    fn named(&self, moves: &EntryMoves, chosen: &Bdd) -> EveMove {
        let model = self.blocks.model;
        let last = model.column(Side::Out, self.k + 1);
        let values = chosen.pick(&last).unwrap_or_default();
        let names = model.shared.iter().map(|var| model.program.vars[*var].name.clone());
        EveMove {
            template: model.program.entries[moves.entry].name.clone(),
            ended: moves.stand.is_none(),
            shared: names.zip(values).collect(),
        }
    }

    /// Returns the empty left blocks of a round, with any counts.
    fn empty(&self, round: u32) -> Result<Bdd, OutOfNodes> {
        let blocks = self.blocks;
        blocks.round(round).wanted.rings[0].exists(&blocks.counts.set(BlockSide::Left)?)
    }

    fn unanswered(&self, moves: &EntryMoves, after: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (blocks, k) = (self.blocks, self.k);
        let counts = &blocks.counts;
        let first = counts.add(BlockSide::Left, moves.entry, &counts.empty(BlockSide::Left)?)?;
        let forgotten = blocks.model.set(&[&self.his.now, &self.his.wrap, &self.his.next])?;
        let answers = moves.adam.and(&self.other(&self.empty(k)?)?)?.and_exists(after, &forgotten)?;
        self.empty(k + 1)?.and(&first)?.and(&moves.eve)?.and(&self.wanted)?.minus(&answers)
    }
}
