//! The adequacy game over listed turns and blocks: answers for Adam.
//!
//! *Order of work.* Positions are assumed safe until shown otherwise. For each move of Eve from a position Adam has one
//! current answer; if that turns out to be lost, he takes the next one, and without any the position is lost. Only
//! positions that occur are considered. *It ends* because each answer is discarded at most once. At the end all current
//! answers are safe, since nothing contradicts them: the positions to which they lead from the start are closed.

use rustc_hash::FxHashMap;
use selvedge_check::adequacy::{Block, Position};
use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{LocalId, SharedId};

use super::explore::{ListedRuns, SharedVector, extended};
use super::{LIMIT, SystemTemplates};

/// Returns the positions of a strategy of Adam; `None` if there is no strategy, or if it is too long.
pub(super) fn solve(
    templates: &SystemTemplates<'_>,
    explored: &ListedRuns,
    k: u32,
    run: &Run<'_>,
) -> Result<Option<Vec<Position>>, Stop> {
    let mut game =
        ListedGame { templates, explored, k: k as usize, nodes: Vec::new(), numbers: FxHashMap::default(), size: 0 };
    game.nodes.push(GameNode::default());
    game.nodes[ROOT].questions = game.openings();
    let mut waiting = vec![ROOT];
    while let Some(number) = waiting.pop() {
        run.tick()?;
        if game.size > 4 * LIMIT {
            return Ok(None);
        }
        game.settle(number, &mut waiting);
        if game.nodes[ROOT].is_lost {
            return Ok(None);
        }
    }
    let positions = game.strategy();
    Ok((positions.len() <= LIMIT).then_some(positions))
}

/// The start, at which no thread has been named.
const ROOT: usize = 0;

/// A move of Eve, with Adam's answers. Those before the current one are discarded.
struct EveQuestion {
    answers: Vec<u32>,
    given_up: usize,
}

#[derive(Default)]
struct GameNode {
    /// The position; `None` at the start.
    position: Option<Position>,
    questions: Vec<EveQuestion>,
    is_known: bool,
    is_lost: bool,
    /// The positions, and their questions, whose current answer this is.
    held_by: Vec<(usize, usize)>,
}

struct ListedGame<'s> {
    templates: &'s SystemTemplates<'s>,
    explored: &'s ListedRuns,
    k: usize,
    nodes: Vec<GameNode>,
    numbers: FxHashMap<Position, u32>,
    size: usize,
}

impl ListedGame<'_> {
    /// Returns Eve's first moves.
    fn openings(&mut self) -> Vec<EveQuestion> {
        let (k, explored, templates) = (self.k, self.explored, self.templates);
        let mut his: Vec<(SharedVector, SharedVector)> = explored
            .by_begin
            .keys()
            .filter(|begins| begins.len() == k && templates.first.contains(&begins[0]))
            .map(|begins| (begins.clone(), begins[1..].to_vec()))
            .collect();
        his.sort_unstable();
        let empty = templates.no_threads();
        let is_empty = |block: &&Block| {
            block.used == empty && templates.first.contains(&block.begins[0]) && block.begins[1..] == block.ends
        };
        let empty: Vec<&Block> = explored.left[k].list.iter().filter(is_empty).collect();
        empty.into_iter().flat_map(|block| self.questions(&block.used, [&block.begins, &block.ends], &his)).collect()
    }

    /// Returns Eve's moves, with the answers of Adam, whose block is one of the given ones.
    fn questions(
        &mut self,
        used: &[u32],
        [begins, ends]: [&SharedVector; 2],
        his: &[(SharedVector, SharedVector)],
    ) -> Vec<EveQuestion> {
        let explored = self.explored;
        let mut questions = Vec::new();
        for turn in explored.by_begin.get(begins).into_iter().flatten() {
            let (template, _, past) = &explored.pasts[*turn as usize];
            let Some(used) = self.templates.with_thread(used, *template) else { continue };
            for state in &explored.turns[*turn as usize].states {
                let begins = extended(past, state.shared);
                let after = Block { used: used.clone(), begins, ends: ends.clone() };
                if explored.left[self.k].has(&after) {
                    let answers = self.answers(*template, state.local, &after, his);
                    self.size += answers.len() + 1;
                    questions.push(EveQuestion { answers, given_up: 0 });
                }
            }
        }
        questions
    }

    fn answers(
        &mut self,
        template: u32,
        local: Option<LocalId>,
        hers: &Block,
        his: &[(SharedVector, SharedVector)],
    ) -> Vec<u32> {
        let explored = self.explored;
        let mut answers = Vec::new();
        for (begins, ends) in his {
            for turn in explored.by_begin.get(begins).into_iter().flatten() {
                let (own, _, past) = &explored.pasts[*turn as usize];
                if *own != template {
                    continue;
                }
                for state in explored.turns[*turn as usize].states.iter().filter(|state| state.local == local) {
                    let block =
                        Block { used: hers.used.clone(), begins: extended(past, state.shared), ends: ends.clone() };
                    // From an unwanted block he cannot reach a wrapped one.
                    if explored.left[self.k - 1].has(&block) && self.is_open(hers, &block) {
                        answers.push(self.number(hers, block));
                    }
                }
            }
        }
        answers
    }

    /// Returns whether Eve has not won yet: if her rounds are wrapped, so are his, and the shared state is the same.
    fn is_open(&self, hers: &Block, his: &Block) -> bool {
        let last = |states: &[SharedId]| states.last().copied();
        hers.begins[..self.k] != hers.ends
            || (his.begins[..self.k - 1] == his.ends && last(&his.begins) == last(&hers.begins))
    }

    fn number(&mut self, hers: &Block, his: Block) -> u32 {
        let position =
            Position { used: his.used, eve: [hers.begins.clone(), hers.ends.clone()], adam: [his.begins, his.ends] };
        let next = self.nodes.len() as u32;
        let number = *self.numbers.entry(position.clone()).or_insert(next);
        if number == next {
            self.nodes.push(GameNode { position: Some(position), ..GameNode::default() });
        }
        number
    }

    /// Finds the moves from a position, if not done before, and takes an answer for each question without one.
    fn settle(&mut self, number: usize, waiting: &mut Vec<usize>) {
        if !self.nodes[number].is_known {
            self.nodes[number].is_known = true;
            if let Some(Position { used, eve: [begins, ends], adam: [his, his_ends] }) =
                self.nodes[number].position.clone()
            {
                let questions = self.questions(&used, [&begins, &ends], &[(his, his_ends)]);
                self.nodes[number].questions = questions;
            }
            for question in 0..self.nodes[number].questions.len() {
                self.hold(number, question, waiting);
            }
        }
    }

    /// Takes the next answer to a question that is not lost. Without one the position is lost, and so are the answers
    /// that led to it.
    fn hold(&mut self, number: usize, question: usize, waiting: &mut Vec<usize>) {
        let mut open = vec![(number, question)];
        while let Some((number, question)) = open.pop() {
            if self.nodes[number].is_lost {
                continue;
            }
            let EveQuestion { answers, given_up } = &self.nodes[number].questions[question];
            let next = (*given_up..answers.len()).find(|at| !self.nodes[answers[*at] as usize].is_lost);
            match next {
                Some(at) => {
                    let answer = answers[at] as usize;
                    self.nodes[number].questions[question].given_up = at;
                    self.nodes[answer].held_by.push((number, question));
                    if !self.nodes[answer].is_known {
                        waiting.push(answer);
                    }
                }
                None => {
                    self.nodes[number].is_lost = true;
                    self.nodes[number].questions.clear();
                    open.append(&mut self.nodes[number].held_by);
                }
            }
        }
    }

    /// Returns the positions to which the answers lead from the start.
    fn strategy(&self) -> Vec<Position> {
        let mut seen = vec![false; self.nodes.len()];
        let mut waiting = vec![ROOT];
        let mut positions = Vec::new();
        while let Some(number) = waiting.pop() {
            if std::mem::replace(&mut seen[number], true) {
                continue;
            }
            positions.extend(self.nodes[number].position.clone());
            let held = |question: &EveQuestion| question.answers[question.given_up] as usize;
            waiting.extend(self.nodes[number].questions.iter().map(held));
        }
        positions.sort_unstable();
        positions
    }
}
