//! Random pushdown systems, and an oracle for proofs about them.

use std::collections::BTreeSet;

use selvedge_check::SystemProof;
use selvedge_check::system::Closure;
use selvedge_ir::pds::{Config, Head, Pds, Rule, StateId, SymbolId};

use crate::rng::Rng;

fn state(rng: &mut Rng, pds: &Pds) -> StateId {
    StateId::new(rng.between(0, pds.states.len() - 1))
}

fn word(rng: &mut Rng, pds: &Pds, length: usize) -> Vec<SymbolId> {
    (0..length).map(|_| SymbolId::new(rng.between(0, pds.symbols.len() - 1))).collect()
}

/// Generates a system with few states, whose rules pop, replace and push; initial stacks may be empty or deep.
pub fn random(rng: &mut Rng) -> Pds {
    let names = |rng: &mut Rng, letter: char, most: usize| -> Vec<String> {
        (0..rng.between(1, most)).map(|number| format!("{letter}{number}")).collect()
    };
    let mut pds = Pds {
        states: names(rng, 'p', 4).into_iter().collect(),
        symbols: names(rng, 'g', 4).into_iter().collect(),
        ..Pds::default()
    };
    for _ in 0..rng.between(0, 9) {
        let length = rng.between(0, 2);
        let (from, to) = (state(rng, &pds), state(rng, &pds));
        let (top, push) = (word(rng, &pds, 1)[0], word(rng, &pds, length));
        pds.rules.push(Rule { from, top, to, push });
    }
    for _ in 0..rng.between(1, 2) {
        let height = rng.between(0, 3);
        let config = Config { state: state(rng, &pds), stack: word(rng, &pds, height) };
        pds.initial.push(config);
    }
    for _ in 0..rng.between(1, 2) {
        let top = rng.percent(75).then(|| word(rng, &pds, 1)[0]);
        let head = Head { state: state(rng, &pds), top };
        pds.targets.push(head);
    }
    pds
}

/// The opinion of an oracle about a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// The set of configurations is not a proof, as one with a short stack shows.
    Refuted,
    /// It satisfies the conditions that the judge is meant to check.
    Accepted,
    /// No short stack shows a flaw, but the conditions, which are sufficient and not necessary, do not hold.
    NotShown,
}

/// Examines a proof in two ways that share nothing with the judge. The set that the automaton accepts is tried on all
/// stacks up to a height; the conditions are tried with matrices over all pairs of states.
pub fn opinion(pds: &Pds, proof: &SystemProof, height: usize) -> Opinion {
    let matrices = Matrices::new(pds, proof);
    match (is_refuted(pds, proof, &matrices, height), matrices.satisfy(pds, proof)) {
        (true, _) => Opinion::Refuted,
        (false, true) => Opinion::Accepted,
        (false, false) => Opinion::NotShown,
    }
}

/// Returns whether a configuration with at most `height` symbols shows that the accepted set, or for predecessors the
/// rest, is not closed under a rule, lacks an initial configuration, or has a target.
fn is_refuted(pds: &Pds, proof: &SystemProof, matrices: &Matrices, height: usize) -> bool {
    let is_inside = |config: &Config| {
        let is_accepted = matrices.accepts(proof, config);
        is_accepted == (proof.closure == Closure::Successors)
    };
    let is_flaw = |config: &Config| {
        is_inside(config)
            && (pds.targets.iter().any(|head| head.holds(config))
                || pds.rules.indices().filter_map(|rule| pds.apply(rule, config)).any(|next| !is_inside(&next)))
    };
    let mut words: Vec<Vec<SymbolId>> = vec![Vec::new()];
    let mut refuted = pds.initial.iter().any(|config| !is_inside(config));
    for _ in 0..=height {
        for state in pds.states.indices() {
            refuted |= words.iter().any(|word| is_flaw(&Config { state, stack: word.clone() }));
        }
        let longer = |word: &Vec<SymbolId>| -> Vec<Vec<SymbolId>> {
            pds.symbols.indices().map(|symbol| [word.as_slice(), &[symbol]].concat()).collect()
        };
        words = words.iter().flat_map(longer).collect();
    }
    refuted
}

/// A relation between states of the automaton.
type Matrix = Vec<Vec<bool>>;

struct Matrices {
    /// No symbol is read, any number of transitions that read nothing are taken.
    silent: Matrix,
    /// A symbol is read, with such transitions before and after it.
    read: Vec<Matrix>,
}

impl Matrices {
    fn new(pds: &Pds, proof: &SystemProof) -> Matrices {
        let size = proof.n_nodes as usize;
        let direct = |read: Option<SymbolId>| -> Matrix {
            let mut matrix = vec![vec![false; size]; size];
            for step in proof.transitions.iter().filter(|step| step.read == read) {
                matrix[step.from as usize][step.to as usize] = true;
            }
            matrix
        };
        let mut silent = direct(None);
        (0..size).for_each(|node| silent[node][node] = true);
        for _ in 0..size {
            silent = product(&silent, &silent);
        }
        let read = |symbol| product(&product(&silent, &direct(Some(symbol))), &silent);
        Matrices { read: pds.symbols.indices().map(read).collect(), silent }
    }

    fn word(&self, word: &[SymbolId]) -> Matrix {
        word.iter().fold(self.silent.clone(), |matrix, symbol| product(&matrix, &self.read[symbol.index()]))
    }

    fn accepts(&self, proof: &SystemProof, config: &Config) -> bool {
        let row = &self.word(&config.stack)[config.state.index()];
        proof.finals.iter().any(|node| row[*node as usize])
    }

    /// Checks the three conditions of the judge, from their definitions.
    fn satisfy(&self, pds: &Pds, proof: &SystemProof) -> bool {
        let forward = proof.closure == Closure::Successors;
        let starts = pds.initial.iter().all(|config| self.accepts(proof, config) == forward);
        let closed = pds.rules.iter().all(|rule| {
            let before = self.word(&[rule.top])[rule.from.index()].clone();
            let after = self.word(&rule.push)[rule.to.index()].clone();
            let (less, more) = if forward { (before, after) } else { (after, before) };
            less.iter().zip(&more).all(|(less, more)| !less || *more)
        });
        let everything = self.everything(proof);
        let ends = pds.targets.iter().all(|head| {
            let behind = &self.word(head.top.as_slice())[head.state.index()];
            let behind: Vec<usize> = (0..behind.len()).filter(|node| behind[*node]).collect();
            let lives = |node: &usize| self.some_word(proof, *node);
            if forward { !behind.iter().any(lives) } else { behind.iter().any(|node| everything.contains(node)) }
        });
        starts && closed && ends
    }

    /// Returns whether some word is accepted from a state: one shorter than the number of states.
    fn some_word(&self, proof: &SystemProof, node: usize) -> bool {
        let any = self.read.iter().fold(self.silent.clone(), |sum, matrix| union(&sum, matrix));
        let reach = (0..any.len()).fold(any.clone(), |reach, _| product(&reach, &any));
        proof.finals.iter().any(|end| reach[node][*end as usize])
    }

    /// Returns the greatest set of final states that no word leaves.
    fn everything(&self, proof: &SystemProof) -> BTreeSet<usize> {
        let mut set: BTreeSet<usize> = proof.finals.iter().map(|node| *node as usize).collect();
        for _ in 0..=self.silent.len() {
            let old = set.clone();
            set.retain(|node| self.read.iter().all(|matrix| old.iter().any(|next| matrix[*node][*next])));
        }
        set
    }
}

fn product(left: &Matrix, right: &Matrix) -> Matrix {
    let cell = |row: &Vec<bool>, column: usize| row.iter().zip(right).any(|(is_set, next)| *is_set && next[column]);
    left.iter().map(|row| (0..right.len()).map(|column| cell(row, column)).collect()).collect()
}

fn union(left: &Matrix, right: &Matrix) -> Matrix {
    left.iter().zip(right).map(|(left, right)| left.iter().zip(right).map(|(a, b)| *a || *b).collect()).collect()
}
