//! Lists the turns and blocks of all executions of a number of rounds.
//!
//! *Order of work.* Round by round: left blocks and turns extend each other until nothing is new; then the right blocks
//! of the round. *Invariant.* A turn and a left block that meet have been joined as soon as both exist. *It ends*
//! because there are finitely many shared states, or earlier, when the lists are too long.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::adequacy::{Block, Turn, TurnState};
use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{LocalId, SharedId};
use selvedge_transition::tts_extract::Rules;

use super::{LIMIT, SystemTemplates};

pub(super) type SharedVector = Vec<SharedId>;

/// The template of a thread, the states with which its turns began, and those with which all but the last ended.
pub(super) type Past = (u32, SharedVector, SharedVector);

/// Blocks of one round.
#[derive(Default)]
pub(super) struct BlockList {
    pub(super) list: Vec<Block>,
    by_begins: FxHashMap<SharedVector, Vec<usize>>,
    by_both: FxHashMap<(SharedVector, SharedVector), Vec<usize>>,
}

impl BlockList {
    fn add(&mut self, block: Block) {
        if !self.has(&block) {
            let number = self.list.len();
            self.by_begins.entry(block.begins.clone()).or_default().push(number);
            self.by_both.entry((block.begins.clone(), block.ends.clone())).or_default().push(number);
            self.list.push(block);
        }
    }

    /// Returns the numbers of threads of all blocks with these vectors.
    fn used(&self, begins: &[SharedId], ends: &[SharedId]) -> impl Iterator<Item = &[u32]> {
        let blocks = self.by_both.get(&(begins.to_vec(), ends.to_vec())).into_iter().flatten();
        blocks.map(|number| &*self.list[*number].used)
    }

    pub(super) fn has(&self, block: &Block) -> bool {
        self.used(&block.begins, &block.ends).any(|used| used == block.used)
    }

    /// Returns whether some block with these vectors fits next to the given numbers of threads.
    fn fits(&self, templates: &SystemTemplates<'_>, used: &[u32], begins: &[SharedId], ends: &[SharedId]) -> bool {
        self.used(begins, ends).any(|other| templates.fit_together(other, used))
    }
}

/// The result of the exploration.
#[derive(Default)]
pub(super) struct ListedRuns {
    pub(super) turns: Vec<Turn>,
    pub(super) pasts: Vec<Past>,
    numbers: FxHashMap<Past, u32>,
    pub(super) by_begin: FxHashMap<SharedVector, Vec<u32>>,
    by_end: FxHashMap<SharedVector, BTreeSet<u32>>,
    pub(super) left: Vec<BlockList>,
    pub(super) right: Vec<BlockList>,
    /// The total length of all lists.
    size: usize,
    /// Set if some turn has an error.
    fails: bool,
}

/// Lists all turns and blocks of executions of `k + 1` rounds, and right blocks of `k`; returns `None` if they are too
/// many, or have an error.
pub(super) fn explore(templates: &SystemTemplates<'_>, k: u32, run: &Run<'_>) -> Result<Option<ListedRuns>, Stop> {
    let rules = Rules::new(templates.tts);
    let mut explorer = Explorer { templates, rules, found: ListedRuns::default(), run };
    for round in 1..=k as usize + 1 {
        let left = explorer.left(round)?;
        explorer.found.left.push(left);
        if round <= k as usize && !explorer.is_over() {
            let right = explorer.right(round)?;
            explorer.found.right.push(right);
        }
        if explorer.is_over() {
            return Ok(None);
        }
    }
    Ok(Some(explorer.found))
}

struct Explorer<'s, 'r> {
    templates: &'s SystemTemplates<'s>,
    rules: Rules<'s>,
    found: ListedRuns,
    run: &'r Run<'r>,
}

impl Explorer<'_, '_> {
    fn is_over(&self) -> bool {
        self.found.fails || self.found.size > LIMIT
    }

    /// Lists the left blocks of a round, with the turns that they need.
    fn left(&mut self, round: usize) -> Result<BlockList, Stop> {
        let mut blocks = BlockList::default();
        self.empty_left(round, &mut blocks);
        let mut next = 0;
        while next < blocks.list.len() && !self.is_over() {
            self.run.tick()?;
            let block = blocks.list[next].clone();
            for (past, before) in self.asked(round, &block) {
                if let Some(turn) = self.make_turn(past, before)? {
                    let begins = self.found.pasts[turn as usize].1.clone();
                    for number in blocks.by_begins.get(&begins).cloned().unwrap_or_default() {
                        let shorter = blocks.list[number].clone();
                        self.lengthen(round, &shorter, turn, &mut blocks);
                    }
                }
            }
            for turn in self.found.by_begin.get(&block.begins).cloned().unwrap_or_default() {
                self.lengthen(round, &block, turn, &mut blocks);
            }
            next += 1;
            self.found.size += 1;
        }
        Ok(blocks)
    }

    fn empty_left(&self, round: usize, blocks: &mut BlockList) {
        let used = self.templates.no_threads();
        if round == 1 {
            for first in &self.templates.first {
                blocks.add(Block { used: used.clone(), begins: vec![*first], ends: Vec::new() });
            }
            return;
        }
        for block in &self.found.right[round - 2].list {
            let Some((last, ends)) = block.ends.split_last() else { continue };
            if self.templates.first.contains(&block.begins[0]) && block.begins[1..] == *ends {
                let begins = extended(&block.begins, *last);
                blocks.add(Block { used: used.clone(), begins, ends: block.ends.clone() });
            }
        }
    }

    /// Returns the pasts of threads that continue after a left block, each with the previous turn.
    fn asked(&self, round: usize, block: &Block) -> Vec<(Past, Option<u32>)> {
        let mut asked = Vec::new();
        if round == 1 {
            let templates = 0..self.templates.limits.len() as u32;
            let allowed = templates.filter(|template| self.templates.with_thread(&block.used, *template).is_some());
            asked.extend(allowed.map(|template| ((template, block.begins.clone(), Vec::new()), None)));
            return asked;
        }
        for turn in self.found.by_begin.get(&block.begins[..round - 1]).into_iter().flatten() {
            let template = self.found.pasts[*turn as usize].0;
            let Some(used) = self.templates.with_thread(&block.used, template) else { continue };
            for ends in self.ends(*turn) {
                if self.found.right[round - 2].fits(self.templates, &used, &ends, &block.ends) {
                    asked.push(((template, block.begins.clone(), ends), Some(*turn)));
                }
            }
        }
        asked
    }

    /// Returns the shared states with which a thread can end its turns.
    fn ends(&self, turn: u32) -> BTreeSet<SharedVector> {
        let ends = &self.found.pasts[turn as usize].2;
        self.found.turns[turn as usize].states.iter().map(|state| extended(ends, state.shared)).collect()
    }

    /// Adds the turn of a thread with a past, unless it is known.
    fn make_turn(&mut self, past: Past, before: Option<u32>) -> Result<Option<u32>, Stop> {
        if self.found.numbers.contains_key(&past) {
            return Ok(None);
        }
        let (template, begins, ends) = &past;
        let begun = *begins.last().expect("a turn has begun");
        let before = before.zip(ends.last().copied());
        let locals: BTreeSet<Option<LocalId>> = match before {
            None => self.templates.begin[*template as usize].iter().copied().map(Some).collect(),
            Some((turn, ended)) => {
                let states = self.found.turns[turn as usize].states.iter();
                states.filter(|state| state.shared == ended).map(|state| state.local).collect()
            }
        };
        let states = self.states(begun, &locals)?;
        let number = self.found.turns.len() as u32;
        self.found.size += states.len();
        let is_error =
            |state: &TurnState| state.local.is_some_and(|local| self.rules.is_target(state.shared, &[local]));
        self.found.fails |= states.iter().any(is_error);
        for state in &states {
            self.found.by_end.entry(extended(ends, state.shared)).or_default().insert(number);
        }
        self.found.by_begin.entry(begins.clone()).or_default().push(number);
        self.found.turns.push(Turn { kind: *template, before, begun, states });
        self.found.numbers.insert(past.clone(), number);
        self.found.pasts.push(past);
        Ok(Some(number))
    }

    /// Lists all states of a turn, each after one from which it follows.
    fn states(&self, begun: SharedId, locals: &BTreeSet<Option<LocalId>>) -> Result<Vec<TurnState>, Stop> {
        let begin = |local: &Option<LocalId>| TurnState { shared: begun, local: *local, from: None };
        let mut states: Vec<TurnState> = locals.iter().map(begin).collect();
        let mut known: FxHashSet<_> = states.iter().map(|state| (state.shared, state.local)).collect();
        let mut next = 0;
        while next < states.len() {
            self.run.tick()?;
            let TurnState { shared, local, .. } = states[next];
            let rules = local.map(|local| self.rules.of(shared, local)).unwrap_or_default();
            for rule in rules.iter().map(|id| self.rules.rule(*id)) {
                let after = (rule.shared_after, rule.after.first().copied());
                if known.insert(after) {
                    states.push(TurnState { shared: after.0, local: after.1, from: Some(next as u32) });
                }
            }
            next += 1;
        }
        Ok(states)
    }

    /// Extends a left block by one thread.
    fn lengthen(&self, round: usize, block: &Block, turn: u32, blocks: &mut BlockList) {
        let Some(used) = self.templates.with_thread(&block.used, self.found.pasts[turn as usize].0) else { return };
        for begins in self.ends(turn) {
            let right = round.checked_sub(2).map(|before| &self.found.right[before]);
            if right.is_none_or(|right| right.fits(self.templates, &used, &begins[..round - 1], &block.ends)) {
                blocks.add(Block { used: used.clone(), begins, ends: block.ends.clone() });
            }
        }
    }

    fn right(&mut self, round: usize) -> Result<BlockList, Stop> {
        let left = &self.found.left[round - 1];
        let mut blocks = BlockList::default();
        for block in left.list.iter().filter(|block| block.begins[..round - 1] == block.ends) {
            let states = block.begins.clone();
            blocks.add(Block { used: self.templates.no_threads(), begins: states.clone(), ends: states });
        }
        let mut next = 0;
        while next < blocks.list.len() && self.found.size + next <= LIMIT {
            self.run.tick()?;
            let block = blocks.list[next].clone();
            for turn in self.found.by_end.get(&block.begins).into_iter().flatten() {
                let (template, begins, _) = &self.found.pasts[*turn as usize];
                let Some(used) = self.templates.with_thread(&block.used, *template) else { continue };
                if left.fits(self.templates, &used, begins, &block.ends[..round - 1]) {
                    blocks.add(Block { used, begins: begins.clone(), ends: block.ends.clone() });
                }
            }
            next += 1;
        }
        self.found.size += blocks.list.len();
        Ok(blocks)
    }
}

pub(super) fn extended(vector: &[SharedId], last: SharedId) -> SharedVector {
    vector.iter().copied().chain([last]).collect()
}
