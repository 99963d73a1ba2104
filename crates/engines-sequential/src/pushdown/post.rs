//! Forward saturation: all reachable configurations, as an automaton.
//!
//! After Bouajjani, Esparza and Maler (1997) in the form of Schwoon's thesis (2002, algorithm 2). The automaton reads a
//! configuration: it starts in the control state and reads the stack as a word, top first. Besides the control states
//! there is one state [`PostNode::Entry`] for each head that a push makes, and [`PostNode::End`], where all words end.
//!
//! Order of work: transitions in the order in which they were found. At the head of the loop, every transition before
//! `expanded` has all its consequences among the transitions:
//!
//! - `(p, g, n)` and `<p, g> --> <q, ->` give `(q, -, n)`: a transition that reads nothing;
//! - `(p, g, n)` and `<p, g> --> <q, h>` give `(q, h, n)`;
//! - `(p, g, n)` and `<p, g> --> <q, h i>` give `(q, h, e)` and `(e, i, n)` for the entry `e` of `<q, h>`;
//! - `(p, -, e)` and `(e, i, n)` give `(p, i, n)`.
//!
//! It ends if there are finitely many heads, since then there are finitely many transitions. It is right because each
//! consequence reads only reachable configurations, and at the end no successor of a configuration that is read is
//! missing. Each transition remembers its premises, which are always older, so that going back ends.

use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHasher};
use selvedge_check::{Event, Run, Stop};

/// A control state, by number.
pub(super) type Control = u32;

/// A stack symbol, by number.
pub(super) type StackSymbol = u32;

/// A map whose order is that of insertion.
pub(super) type Ordered<K, V> = IndexMap<K, V, BuildHasherDefault<FxHasher>>;

/// A step from a head: to a state, with a word of at most two symbols on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RuleMove<L> {
    pub(super) to: Control,
    pub(super) push: Word,
    /// The meaning of the step to the creator of the system.
    pub(super) label: L,
}

/// The steps from a head, shared so that they can be iterated while the automaton grows.
type RuleMoves<L> = Rc<[RuleMove<L>]>;

/// The word that replaces the topmost symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Pop,
    Replace(StackSymbol),
    /// The new top, and the symbol below it.
    Push(StackSymbol, StackSymbol),
}

/// A pushdown system whose rules are produced on demand.
pub(super) trait RuleSystem {
    /// The label of a step.
    type Label: Copy;

    /// Returns the steps from a head. Called once for each head.
    fn moves(&mut self, control: Control, top: StackSymbol) -> Result<Vec<RuleMove<Self::Label>>, Stop>;

    /// Returns whether configurations with this head, or for `None` with this state and any stack, are targets.
    fn is_target(&self, control: Control, top: Option<StackSymbol>) -> bool;
}

/// A state of the automaton in which transitions end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum PostNode {
    /// The state after some number of symbols of a numbered initial configuration.
    Initial(u32, u32),
    /// The state after the head that a push made.
    Entry(Control, StackSymbol),
    /// The state in which nothing is left to read.
    End,
}

/// The state in which a transition begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TransitionStart {
    Control(Control),
    Node(PostNode),
}

/// A transition; `read` is `None` for those that read nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PostTransition {
    pub(super) from: TransitionStart,
    pub(super) read: Option<StackSymbol>,
    pub(super) to: PostNode,
}

/// The premises of a transition. Numbers are those of older transitions.
#[derive(Clone, Copy, Debug)]
pub(super) enum PostReason<L> {
    /// The transition reads a part of the initial configuration.
    Initial,
    /// A step from the head of another transition; for transitions from an entry, the push that made it.
    Step(usize, L),
    /// The transition continues one that reads nothing with one below it.
    Below { popped: usize, below: usize },
}

/// The automaton, with the state of its saturation.
pub(super) struct Saturation<'r, S: RuleSystem> {
    pub(super) system: S,
    run: &'r Run<'r>,
    pub(super) transitions: Ordered<PostTransition, PostReason<S::Label>>,
    expanded: usize,
    moves: FxHashMap<(Control, StackSymbol), RuleMoves<S::Label>>,
    /// The transitions from each node, oldest first.
    out: FxHashMap<PostNode, Vec<usize>>,
    /// The transitions into each node that read nothing.
    popped: FxHashMap<PostNode, Vec<usize>>,
    /// The first transition that reads a target.
    hit: Option<usize>,
}

/// The end of saturation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// The first target.
    Target,
    /// The fixed point, also beyond targets.
    Done,
}

impl<'r, S: RuleSystem> Saturation<'r, S> {
    /// Creates an automaton that reads the initial configurations, each a state and a stack.
    pub(super) fn new(system: S, initial: &[(Control, Vec<StackSymbol>)], run: &'r Run<'r>) -> Saturation<'r, S> {
        let mut saturation = Saturation {
            system,
            run,
            transitions: Ordered::default(),
            expanded: 0,
            moves: FxHashMap::default(),
            out: FxHashMap::default(),
            popped: FxHashMap::default(),
            hit: None,
        };
        for (number, (control, stack)) in initial.iter().enumerate() {
            saturation.add_initial(number as u32, *control, stack);
        }
        saturation
    }

    /// Adds an initial configuration, deepest symbols first, so that every transition leads to a node from which the
    /// rest is already read.
    fn add_initial(&mut self, number: u32, control: Control, stack: &[StackSymbol]) {
        let node =
            |depth: usize| if depth == stack.len() { PostNode::End } else { PostNode::Initial(number, depth as u32) };
        for (depth, symbol) in stack.iter().enumerate().skip(1).rev() {
            let transition =
                PostTransition { from: TransitionStart::Node(node(depth)), read: Some(*symbol), to: node(depth + 1) };
            self.add(transition, PostReason::Initial);
        }
        let first = stack.first().copied();
        let to = node(usize::from(first.is_some()));
        self.add(PostTransition { from: TransitionStart::Control(control), read: first, to }, PostReason::Initial);
    }

    /// Adds transitions until nothing new follows or, if requested, until one reads a target; returns the first that
    /// does.
    pub(super) fn run(&mut self, until: Until) -> Result<Option<usize>, Stop> {
        while self.expanded < self.transitions.len() {
            self.run.tick()?;
            if until == Until::Target && self.hit.is_some() {
                break;
            }
            let number = self.expanded;
            self.expanded += 1;
            self.report(number);
            self.expand(number)?;
        }
        Ok(self.hit)
    }

    fn expand(&mut self, number: usize) -> Result<(), Stop> {
        let PostTransition { from, read, to } = self.transition(number);
        match (from, read) {
            (TransitionStart::Control(control), Some(top)) => {
                for step in self.moves(control, top)?.iter() {
                    self.run.tick()?;
                    self.step(number, to, *step);
                }
            }
            (TransitionStart::Control(_), None) => {
                self.popped.entry(to).or_default().push(number);
                for below in self.out.get(&to).cloned().unwrap_or_default() {
                    self.meet(number, below);
                }
            }
            (TransitionStart::Node(node), _) => {
                for popped in self.popped.get(&node).cloned().unwrap_or_default() {
                    self.meet(popped, number);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, number: usize, to: PostNode, step: RuleMove<S::Label>) {
        let reason = PostReason::Step(number, step.label);
        let from = TransitionStart::Control(step.to);
        match step.push {
            Word::Pop => self.add(PostTransition { from, read: None, to }, reason),
            Word::Replace(top) => self.add(PostTransition { from, read: Some(top), to }, reason),
            Word::Push(top, below) => {
                let entry = PostNode::Entry(step.to, top);
                self.add(PostTransition { from: TransitionStart::Node(entry), read: Some(below), to }, reason);
                self.add(PostTransition { from, read: Some(top), to: entry }, reason);
            }
        }
    }

    /// Combines a transition that reads nothing with one that reads what lies below.
    fn meet(&mut self, popped: usize, below: usize) {
        let from = self.transition(popped).from;
        let PostTransition { read, to, .. } = self.transition(below);
        self.add(PostTransition { from, read, to }, PostReason::Below { popped, below });
    }

    fn add(&mut self, transition: PostTransition, reason: PostReason<S::Label>) {
        let number = self.transitions.len();
        if self.transitions.contains_key(&transition) {
            return;
        }
        self.transitions.insert(transition, reason);
        match transition.from {
            TransitionStart::Node(node) => self.out.entry(node).or_default().push(number),
            TransitionStart::Control(control) => {
                let asked = transition.read.is_some_and(|top| self.system.is_target(control, Some(top)))
                    || self.system.is_target(control, None);
                if asked && self.hit.is_none() {
                    self.hit = Some(number);
                }
            }
        }
    }

    fn moves(&mut self, control: Control, top: StackSymbol) -> Result<RuleMoves<S::Label>, Stop> {
        if let Some(known) = self.moves.get(&(control, top)) {
            return Ok(Rc::clone(known));
        }
        let moves: RuleMoves<S::Label> = self.system.moves(control, top)?.into();
        self.moves.insert((control, top), Rc::clone(&moves));
        Ok(moves)
    }

    fn report(&self, number: usize) {
        if number.is_multiple_of(256) {
            let (visited, waiting) = (self.transitions.len(), self.transitions.len() - number);
            self.run.event(Event::Searched { visited, waiting, depth: 0 });
        }
    }

    /// Returns the transition with this number.
    pub(super) fn transition(&self, number: usize) -> PostTransition {
        *self.transitions.get_index(number).expect("numbers are those of transitions").0
    }

    /// Returns the premises of the transition with this number.
    pub(super) fn reason(&self, number: usize) -> PostReason<S::Label> {
        *self.transitions.get_index(number).expect("numbers are those of transitions").1
    }

    /// Returns the step that added a transition from an entry.
    pub(super) fn step_of(&self, number: usize) -> (usize, S::Label) {
        let PostReason::Step(before, label) = self.reason(number) else {
            unreachable!("transitions from entries are made by pushes")
        };
        (before, label)
    }

    /// Stops if a limit is reached.
    pub(super) fn tick(&self) -> Result<(), Stop> {
        self.run.tick()
    }

    /// Returns the oldest transition from a node.
    pub(super) fn first_out(&self, node: PostNode) -> Option<usize> {
        self.out.get(&node).and_then(|out| out.first().copied())
    }

    /// Returns all transitions from control states that read a symbol, oldest first.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Control, StackSymbol)> {
        self.transitions.keys().filter_map(|transition| match (transition.from, transition.read) {
            (TransitionStart::Control(control), Some(symbol)) => Some((control, symbol)),
            _ => None,
        })
    }

    /// Returns the steps from a head that was reached.
    pub(super) fn known_moves(&self, control: Control, top: StackSymbol) -> &[RuleMove<S::Label>] {
        self.moves.get(&(control, top)).map_or(&[], |moves| moves)
    }

    /// Returns the labels of a run from an initial configuration to one that the transition reads, first step first.
    ///
    /// The loop keeps the transitions that read the current configuration. Going one step back replaces one or two of
    /// them by older ones (Schwoon's thesis, section 3.1.6), so it ends.
    pub(super) fn run_to(&self, hit: usize) -> Result<(Vec<S::Label>, Vec<usize>), Stop> {
        // The topmost symbol's transition comes last.
        let mut reading = self.rest(hit);
        reading.push(hit);
        let mut labels = Vec::new();
        while let Some(top) = reading.pop() {
            self.run.tick()?;
            match (self.reason(top), self.transition(top).to) {
                (PostReason::Initial, _) => {
                    reading.push(top);
                    break;
                }
                (PostReason::Below { popped, below }, _) => reading.extend([below, popped]),
                (PostReason::Step(..), to) if self.is_pushed(top, to) => {
                    let below = reading.pop().expect("something lies below what was pushed");
                    let (before, label) = self.step_of(below);
                    labels.push(label);
                    reading.push(before);
                }
                (PostReason::Step(before, label), _) => {
                    labels.push(label);
                    reading.push(before);
                }
            }
        }
        labels.reverse();
        Ok((labels, reading))
    }

    /// Returns whether the transition is the upper half of a push, and not a later one that reads the same entry's
    /// words.
    pub(super) fn is_pushed(&self, number: usize, to: PostNode) -> bool {
        let PostTransition { from, read, .. } = self.transition(number);
        matches!((from, read, to), (TransitionStart::Control(control), Some(top), PostNode::Entry(pushed, entry))
            if control == pushed && top == entry)
    }

    /// Returns the oldest transitions that read the rest of a word after a transition, the deepest first.
    fn rest(&self, number: usize) -> Vec<usize> {
        let mut rest = Vec::new();
        let mut node = self.transition(number).to;
        while let Some(below) = self.first_out(node) {
            rest.push(below);
            node = self.transition(below).to;
        }
        rest.reverse();
        rest
    }
}
