//! Checking that an automaton proves the targets of a pushdown system unreachable.
//!
//! Two words of the automaton: `n` *reads* `w` to `m` if some path from `n` to `m` reads `w`, transitions that read
//! nothing allowed everywhere. A configuration `<p, w>` is accepted if `p` reads `w` to a final state.
//!
//! For [`Closure::Successors`] three things are checked.
//!
//! - Every initial configuration is accepted.
//! - For every rule `<p, g> --> <q, w>`: whatever `p` reads `g` to, `q` reads `w` to. Then the successor of an accepted
//!   configuration is accepted: `<p, g v>` is read through some `m` behind `g`, and `<q, w v>` through the same `m`.
//! - No target is accepted: no state behind its head has a path to a final one.
//!
//! So what is accepted contains all that can be reached, and no target. For [`Closure::Predecessors`] the same is
//! turned round: no initial configuration is accepted, `p` reads `g` to whatever `q` reads `w` to, and every
//! configuration with the head of a target is accepted, since behind the head there is a state that accepts every word
//! by staying among final states.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::system::{Closure, SystemProof};
use selvedge_check::{Run, Stop};
use selvedge_ir::pds::{Pds, SymbolId};

use super::{Flaw, Refused, at_most};

/// More pairs of states, one of which the automaton leads to from the other, than this are not listed.
const MOST_PAIRS: usize = 20_000_000;

/// States of the automaton.
type Nodes = BTreeSet<u32>;

/// Checks that an automaton proves the targets of a system unreachable.
pub fn verify_system(pds: &Pds, proof: &SystemProof, run: &Run<'_>) -> Result<(), Refused> {
    let automaton = Automaton::new(pds, proof, run)?;
    for (number, config) in pds.initial.iter().enumerate() {
        let ends = automaton.reads(config.state.raw(), &config.stack, run)?;
        let is_accepted = !ends.is_disjoint(&automaton.finals);
        if is_accepted != (proof.closure == Closure::Successors) {
            return Err(Flaw::Initial(number).into());
        }
    }
    for (id, rule) in pds.rules.iter_enumerated() {
        let before = automaton.reads(rule.from.raw(), &[rule.top], run)?;
        let after = automaton.reads(rule.to.raw(), &rule.push, run)?;
        let is_closed = match proof.closure {
            Closure::Successors => before.is_subset(&after),
            Closure::Predecessors => after.is_subset(&before),
        };
        if !is_closed {
            return Err(Flaw::Rule(id.index()).into());
        }
    }
    let decisive = match proof.closure {
        Closure::Successors => automaton.leading_to_finals(run)?,
        Closure::Predecessors => automaton.accepting_everything(pds, run)?,
    };
    for (number, head) in pds.targets.iter().enumerate() {
        let behind = automaton.reads(head.state.raw(), head.top.as_slice(), run)?;
        if behind.is_disjoint(&decisive) != (proof.closure == Closure::Successors) {
            return Err(Flaw::Target(number).into());
        }
    }
    Ok(())
}

/// An automaton, indexed.
struct Automaton {
    n_nodes: u32,
    finals: Nodes,
    /// The number of pairs of states in the two tables.
    size: usize,
    /// The states that each state leads to without reading, itself included.
    silent: Vec<Nodes>,
    /// The states that each state reads each symbol to, if there are any.
    read: BTreeMap<(u32, SymbolId), Nodes>,
}

impl Automaton {
    fn new(pds: &Pds, proof: &SystemProof, run: &Run<'_>) -> Result<Automaton, Refused> {
        if !is_well_formed(pds, proof) {
            return Err(Flaw::Malformed(None).into());
        }
        let finals = proof.finals.iter().copied().collect();
        let mut automaton =
            Automaton { n_nodes: proof.n_nodes, finals, size: 0, silent: Vec::new(), read: BTreeMap::new() };
        automaton.close_silent(proof, run)?;
        automaton.close_read(proof, run)?;
        Ok(automaton)
    }

    fn close_silent(&mut self, proof: &SystemProof, run: &Run<'_>) -> Result<(), Refused> {
        let mut next: Vec<Vec<u32>> = vec![Vec::new(); self.n_nodes as usize];
        for step in proof.transitions.iter().filter(|step| step.read.is_none()) {
            next[step.from as usize].push(step.to);
        }
        for node in 0..self.n_nodes {
            self.silent.push(closure(Nodes::from([node]), &next, run)?);
            self.size += self.silent[node as usize].len();
            at_most(self.size, MOST_PAIRS)?;
        }
        Ok(())
    }

    fn close_read(&mut self, proof: &SystemProof, run: &Run<'_>) -> Result<(), Refused> {
        let mut direct: Vec<Vec<(SymbolId, u32)>> = vec![Vec::new(); self.n_nodes as usize];
        for step in &proof.transitions {
            direct[step.from as usize].extend(step.read.map(|symbol| (symbol, step.to)));
        }
        for from in 0..self.n_nodes {
            for (symbol, to) in self.silent[from as usize].iter().flat_map(|node| &direct[*node as usize]) {
                run.tick()?;
                let nodes = self.read.entry((from, *symbol)).or_default();
                let n_before = nodes.len();
                nodes.extend(&self.silent[*to as usize]);
                self.size += nodes.len() - n_before;
                at_most(self.size, MOST_PAIRS)?;
            }
        }
        Ok(())
    }

    /// Computes what a state reads a word to.
    fn reads(&self, from: u32, word: &[SymbolId], run: &Run<'_>) -> Result<Nodes, Stop> {
        let mut nodes = self.silent[from as usize].clone();
        for symbol in word {
            run.tick()?;
            nodes = nodes.iter().filter_map(|node| self.read.get(&(*node, *symbol))).flatten().copied().collect();
        }
        Ok(nodes)
    }

    /// The states from which some word is accepted: the least set with the final ones, closed backward.
    fn leading_to_finals(&self, run: &Run<'_>) -> Result<Nodes, Stop> {
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); self.n_nodes as usize];
        let silent = (0..).zip(&self.silent);
        for (from, nodes) in silent.chain(self.read.iter().map(|((from, _), nodes)| (*from, nodes))) {
            run.tick()?;
            nodes.iter().for_each(|to| before[*to as usize].push(from));
        }
        closure(self.finals.clone(), &before, run)
    }

    /// States from which every word is accepted: the greatest set of final states that read every symbol to one of the
    /// set.
    fn accepting_everything(&self, pds: &Pds, run: &Run<'_>) -> Result<Nodes, Stop> {
        let mut accepting = self.finals.clone();
        loop {
            run.check_limits()?;
            let stays = |node: &u32| {
                let behind = |symbol: SymbolId| self.read.get(&(*node, symbol));
                pds.symbols.indices().all(|symbol| behind(symbol).is_some_and(|nodes| !nodes.is_disjoint(&accepting)))
            };
            let fewer: Nodes = accepting.iter().copied().filter(stays).collect();
            if fewer.len() == accepting.len() {
                return Ok(accepting);
            }
            accepting = fewer;
        }
    }
}

/// Some states, and all that they lead to by steps from each state to those in its list.
fn closure(mut nodes: Nodes, next: &[Vec<u32>], run: &Run<'_>) -> Result<Nodes, Stop> {
    let mut waiting: Vec<u32> = nodes.iter().copied().collect();
    while let Some(node) = waiting.pop() {
        run.tick()?;
        waiting.extend(next[node as usize].iter().copied().filter(|next| nodes.insert(*next)));
    }
    Ok(nodes)
}

/// Returns whether the numbers are those of states and symbols, and there are no more states than numbers: so that what
/// is laid out for them is no larger than system and proof.
fn is_well_formed(pds: &Pds, proof: &SystemProof) -> bool {
    let is_node = |node: u32| node < proof.n_nodes;
    let is_symbol = |symbol: SymbolId| symbol.index() < pds.symbols.len();
    let mut steps = proof.transitions.iter();
    let most = pds.states.len() + 2 * proof.transitions.len() + proof.finals.len();
    (pds.states.len()..=most).contains(&(proof.n_nodes as usize))
        && steps.all(|step| is_node(step.from) && is_node(step.to) && step.read.is_none_or(is_symbol))
        && proof.finals.iter().all(|node| is_node(*node))
}
