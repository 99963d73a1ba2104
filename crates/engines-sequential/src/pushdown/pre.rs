//! Backward saturation: all configurations from which a target is reachable, as an automaton.
//!
//! Schwoon's thesis, algorithm 1. The states of the automaton are the control states and [`PreNode::Any`], which reads
//! every stack. Order of work: transitions in the order in which they were found, first those of the targets and of the
//! rules that pop. At the head of the loop, every transition before `expanded` has its consequences among the
//! transitions:
//!
//! - `(q, h, n)` and `<p, g> --> <q, h>` give `(p, g, n)`;
//! - `(q, h, m)`, `(m, i, n)` and `<p, g> --> <q, h i>` give `(p, g, n)`.
//!
//! It ends because there are finitely many transitions, and is right because a configuration is read exactly if it is a
//! target, or a step from it leads to a configuration that is read. The premises of a transition are older, so that the
//! run from a configuration that is read ends in a target.

use rustc_hash::FxHashMap;
use selvedge_check::system::{self, Closure, SystemProof};
use selvedge_check::{Run, Stop};
use selvedge_ir::pds::{Config, Pds, PdsTrace, RuleId, StateId, SymbolId};

use super::post::Ordered;

/// A state of the automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum PreNode {
    Control(StateId),
    /// Reads every stack.
    Any,
}

type PreTransition = (PreNode, SymbolId, PreNode);

/// The premises of a transition.
#[derive(Clone, Copy, Debug)]
enum PreReason {
    /// The transition begins to read a target, or continues to.
    Target,
    Pop(RuleId),
    Replace(RuleId, usize),
    Push(RuleId, usize, usize),
}

/// The automaton, with the state of its saturation.
pub(super) struct BackwardSaturation<'p> {
    pds: &'p Pds,
    run: &'p Run<'p>,
    transitions: Ordered<PreTransition, PreReason>,
    expanded: usize,
    /// The transitions from each state, by the symbol that they read.
    out: FxHashMap<(PreNode, SymbolId), Vec<usize>>,
    /// The rules by the head to which they lead.
    into: FxHashMap<(StateId, SymbolId), Vec<RuleId>>,
    /// The first halves of pushes that wait for a transition from this state that reads this symbol.
    halves: FxHashMap<(PreNode, SymbolId), Vec<(RuleId, usize)>>,
}

impl<'p> BackwardSaturation<'p> {
    pub(super) fn new(pds: &'p Pds, run: &'p Run<'p>) -> BackwardSaturation<'p> {
        let mut into: FxHashMap<_, Vec<RuleId>> = FxHashMap::default();
        for (id, rule) in pds.rules.iter_enumerated() {
            if let Some(top) = rule.push.first() {
                into.entry((rule.to, *top)).or_default().push(id);
            }
        }
        let (transitions, out, halves) = (Ordered::default(), FxHashMap::default(), FxHashMap::default());
        BackwardSaturation { pds, run, transitions, expanded: 0, out, into, halves }
    }

    /// Returns a run from an initial configuration to a target, if there is one.
    pub(super) fn check(&mut self) -> Result<Option<PdsTrace>, Stop> {
        self.add_targets();
        for (id, rule) in self.pds.rules.iter_enumerated() {
            if rule.push.is_empty() {
                self.add((PreNode::Control(rule.from), rule.top, PreNode::Control(rule.to)), PreReason::Pop(id));
            }
        }
        while self.expanded < self.transitions.len() {
            self.run.tick()?;
            let number = self.expanded;
            self.expanded += 1;
            self.expand(number);
            if let Some(trace) = self.early(number)? {
                return Ok(Some(trace));
            }
        }
        self.finish()
    }

    fn add_targets(&mut self) {
        for symbol in self.pds.symbols.indices() {
            self.add((PreNode::Any, symbol, PreNode::Any), PreReason::Target);
        }
        for head in &self.pds.targets {
            match head.top {
                Some(top) => self.add((PreNode::Control(head.state), top, PreNode::Any), PreReason::Target),
                None => {
                    for symbol in self.pds.symbols.indices() {
                        self.add((PreNode::Control(head.state), symbol, PreNode::Any), PreReason::Target);
                    }
                }
            }
        }
    }

    fn add(&mut self, transition: PreTransition, reason: PreReason) {
        let number = self.transitions.len();
        if !self.transitions.contains_key(&transition) {
            self.transitions.insert(transition, reason);
            self.out.entry((transition.0, transition.1)).or_default().push(number);
        }
    }

    fn transition(&self, number: usize) -> PreTransition {
        *self.transitions.get_index(number).expect("numbers are those of transitions").0
    }

    fn expand(&mut self, number: usize) {
        let pds = self.pds;
        let (from, read, to) = self.transition(number);
        let rules = match from {
            PreNode::Control(state) => self.into.get(&(state, read)).cloned().unwrap_or_default(),
            PreNode::Any => Vec::new(),
        };
        for id in rules {
            let rule = &pds.rules[id];
            match rule.push[..] {
                [_, below] => {
                    self.halves.entry((to, below)).or_default().push((id, number));
                    for second in self.out.get(&(to, below)).cloned().unwrap_or_default() {
                        self.add_push(id, number, second);
                    }
                }
                _ => self.add((PreNode::Control(rule.from), rule.top, to), PreReason::Replace(id, number)),
            }
        }
        for (id, first) in self.halves.get(&(from, read)).cloned().unwrap_or_default() {
            self.add_push(id, first, number);
        }
    }

    fn add_push(&mut self, id: RuleId, first: usize, second: usize) {
        let rule = &self.pds.rules[id];
        let to = self.transition(second).2;
        self.add((PreNode::Control(rule.from), rule.top, to), PreReason::Push(id, first, second));
    }

    /// Returns a run if a new transition makes the automaton read an initial configuration.
    fn early(&self, number: usize) -> Result<Option<PdsTrace>, Stop> {
        let (from, read, _) = self.transition(number);
        let begins = |config: &Config| PreNode::Control(config.state) == from && config.stack.first() == Some(&read);
        if self.pds.initial.iter().any(begins) { self.finish() } else { Ok(None) }
    }

    /// Returns the automaton of all configurations from which a target is reachable.
    pub(super) fn proof(&self) -> SystemProof {
        let any = self.pds.states.len() as u32;
        let number = |node: PreNode| match node {
            PreNode::Control(state) => state.raw(),
            PreNode::Any => any,
        };
        let transition = |(from, read, to): &PreTransition| system::Transition {
            from: number(*from),
            read: Some(*read),
            to: number(*to),
        };
        let states = self.pds.states.indices().map(PreNode::Control).chain([PreNode::Any]);
        SystemProof {
            closure: Closure::Predecessors,
            n_nodes: any + 1,
            finals: states.filter(|node| self.accepts(*node)).map(number).collect(),
            transitions: self.transitions.keys().map(transition).collect(),
        }
    }

    fn finish(&self) -> Result<Option<PdsTrace>, Stop> {
        for (start, config) in self.pds.initial.iter().enumerate() {
            if let Some(reading) = self.reading(config)? {
                return Ok(Some(PdsTrace { start, rules: self.run_from(reading)? }));
            }
        }
        Ok(None)
    }

    /// Returns whether a word may end in a state.
    fn accepts(&self, node: PreNode) -> bool {
        match node {
            PreNode::Any => true,
            PreNode::Control(state) => self.pds.targets.iter().any(|head| head.state == state && head.top.is_none()),
        }
    }

    /// Returns the transitions that read a configuration, the topmost symbol's last.
    fn reading(&self, config: &Config) -> Result<Option<Vec<usize>>, Stop> {
        // For each state after some number of symbols, the transition by which it was first reached.
        let mut layers: Vec<Ordered<PreNode, Option<usize>>> =
            vec![[(PreNode::Control(config.state), None)].into_iter().collect()];
        for symbol in &config.stack {
            self.run.tick()?;
            let mut next = Ordered::default();
            for node in layers.last().into_iter().flat_map(|layer| layer.keys()) {
                for number in self.out.get(&(*node, *symbol)).into_iter().flatten() {
                    next.entry(self.transition(*number).2).or_insert(Some(*number));
                }
            }
            layers.push(next);
        }
        let last = layers.last().and_then(|layer| layer.keys().find(|node| self.accepts(**node)).copied());
        let Some(mut node) = last else { return Ok(None) };
        let mut reading = Vec::new();
        for layer in layers.iter().rev() {
            if let Some(Some(number)) = layer.get(&node) {
                reading.push(*number);
                node = self.transition(*number).0;
            }
        }
        Ok(Some(reading))
    }

    /// Returns the rules from a configuration that is read to a target: each step replaces the topmost symbol's
    /// transition by older ones.
    fn run_from(&self, mut reading: Vec<usize>) -> Result<Vec<RuleId>, Stop> {
        let mut rules = Vec::new();
        while let Some(top) = reading.pop() {
            self.run.tick()?;
            match *self.transitions.get_index(top).expect("numbers are those of transitions").1 {
                PreReason::Target => break,
                PreReason::Pop(rule) => rules.push(rule),
                PreReason::Replace(rule, next) => {
                    rules.push(rule);
                    reading.push(next);
                }
                PreReason::Push(rule, first, second) => {
                    rules.push(rule);
                    reading.extend([second, first]);
                }
            }
        }
        Ok(rules)
    }
}
