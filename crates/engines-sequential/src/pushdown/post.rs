//! Saturation forward: all configurations that can be reached, as an automaton.
//!
//! After Bouajjani, Esparza and Maler (1997) in the form of Schwoon's thesis (2002, algorithm 2). The automaton reads a
//! configuration: its control state is where the automaton starts, its stack the word that it reads, top first. Beside
//! the control states there is one state [`Node::Entry`] for each head that a push makes, and [`Node::End`], where all
//! words end.
//!
//! Order of work: transitions in the order in which they were found. At the loop's head every transition before
//! `expanded` has all its consequences among the transitions:
//!
//! - `(p, g, n)` and `<p, g> --> <q, ->` give `(q, -, n)`: a transition that reads nothing;
//! - `(p, g, n)` and `<p, g> --> <q, h>` give `(q, h, n)`;
//! - `(p, g, n)` and `<p, g> --> <q, h i>` give `(q, h, e)` and `(e, i, n)` for the entry `e` of `<q, h>`;
//! - `(p, -, e)` and `(e, i, n)` give `(p, i, n)`.
//!
//! It ends if there are finitely many heads, since then there are finitely many transitions. It is right because each
//! consequence reads only configurations that can be reached, and no successor of a configuration that is read is
//! missing at the end. Each transition remembers what it is a consequence of; that is always older, which makes the
//! ways back end.

use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHasher};
use selvedge_check::{Event, Run, Stop};

/// A control state, by number.
pub(super) type Control = u32;

/// A stack symbol, by number.
pub(super) type Symbol = u32;

/// A map whose order is that of insertion.
pub(super) type Ordered<K, V> = IndexMap<K, V, BuildHasherDefault<FxHasher>>;

/// A step from a head: to a state, with a word of at most two symbols on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move<L> {
    pub(super) to: Control,
    pub(super) push: Word,
    /// What the step is to whoever made the system.
    pub(super) label: L,
}

/// The steps from a head, shared so that they can be walked while the automaton grows.
type Moves<L> = Rc<[Move<L>]>;

/// What replaces the topmost symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    Pop,
    Replace(Symbol),
    /// The new top, and what lies below it.
    Push(Symbol, Symbol),
}

/// A pushdown system whose rules are made when they are asked for.
pub(super) trait System {
    /// What a step is.
    type Label: Copy;

    /// The steps from a head. Asked once for each head.
    fn moves(&mut self, control: Control, top: Symbol) -> Result<Vec<Move<Self::Label>>, Stop>;

    /// Whether configurations with this head, or for `None` with this state and any stack, are asked for.
    fn is_target(&self, control: Control, top: Option<Symbol>) -> bool;
}

/// A state of the automaton that words lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Node {
    /// Where the words of the initial configuration with this number have so many symbols read.
    Initial(u32, u32),
    /// Behind the head that a push made.
    Entry(Control, Symbol),
    /// Nothing is left to read.
    End,
}

/// Where a transition begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum From {
    Control(Control),
    Node(Node),
}

/// A transition; `read` is `None` for those that read nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Transition {
    pub(super) from: From,
    pub(super) read: Option<Symbol>,
    pub(super) to: Node,
}

/// What a transition is a consequence of. Numbers are those of older transitions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason<L> {
    /// It reads a part of the initial configuration.
    Initial,
    /// A step from the head of that transition; for transitions from an entry, the push that made it.
    Step(usize, L),
    /// What lay below, after a transition that reads nothing.
    Below { popped: usize, below: usize },
}

/// The automaton, and the work on it.
pub(super) struct Saturation<'r, S: System> {
    pub(super) system: S,
    run: &'r Run<'r>,
    pub(super) transitions: Ordered<Transition, Reason<S::Label>>,
    expanded: usize,
    moves: FxHashMap<(Control, Symbol), Moves<S::Label>>,
    /// The transitions from each node, oldest first.
    out: FxHashMap<Node, Vec<usize>>,
    /// The transitions into each node that read nothing.
    popped: FxHashMap<Node, Vec<usize>>,
    /// The first transition that was asked for.
    hit: Option<usize>,
}

/// How far to saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// To the first target.
    Target,
    /// Everything, also behind targets.
    Done,
}

impl<'r, S: System> Saturation<'r, S> {
    /// An automaton that reads the initial configurations, each a state and a stack.
    pub(super) fn new(system: S, initial: &[(Control, Vec<Symbol>)], run: &'r Run<'r>) -> Saturation<'r, S> {
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

    /// The deepest symbols first, so that every transition leads to a node from which the rest is read already.
    fn add_initial(&mut self, number: u32, control: Control, stack: &[Symbol]) {
        let node = |depth: usize| if depth == stack.len() { Node::End } else { Node::Initial(number, depth as u32) };
        for (depth, symbol) in stack.iter().enumerate().skip(1).rev() {
            let transition = Transition { from: From::Node(node(depth)), read: Some(*symbol), to: node(depth + 1) };
            self.add(transition, Reason::Initial);
        }
        let first = stack.first().copied();
        let to = node(usize::from(first.is_some()));
        self.add(Transition { from: From::Control(control), read: first, to }, Reason::Initial);
    }

    /// Adds transitions until nothing follows or, if wanted, until one reads a target; returns the first that does.
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
        let Transition { from, read, to } = self.transition(number);
        match (from, read) {
            (From::Control(control), Some(top)) => {
                for step in self.moves(control, top)?.iter() {
                    self.run.tick()?;
                    self.step(number, to, *step);
                }
            }
            (From::Control(_), None) => {
                self.popped.entry(to).or_default().push(number);
                for below in self.out.get(&to).cloned().unwrap_or_default() {
                    self.meet(number, below);
                }
            }
            (From::Node(node), _) => {
                for popped in self.popped.get(&node).cloned().unwrap_or_default() {
                    self.meet(popped, number);
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, number: usize, to: Node, step: Move<S::Label>) {
        let reason = Reason::Step(number, step.label);
        let from = From::Control(step.to);
        match step.push {
            Word::Pop => self.add(Transition { from, read: None, to }, reason),
            Word::Replace(top) => self.add(Transition { from, read: Some(top), to }, reason),
            Word::Push(top, below) => {
                let entry = Node::Entry(step.to, top);
                self.add(Transition { from: From::Node(entry), read: Some(below), to }, reason);
                self.add(Transition { from, read: Some(top), to: entry }, reason);
            }
        }
    }

    /// A state with nothing left of a frame goes on with what lies below.
    fn meet(&mut self, popped: usize, below: usize) {
        let from = self.transition(popped).from;
        let Transition { read, to, .. } = self.transition(below);
        self.add(Transition { from, read, to }, Reason::Below { popped, below });
    }

    fn add(&mut self, transition: Transition, reason: Reason<S::Label>) {
        let number = self.transitions.len();
        if self.transitions.contains_key(&transition) {
            return;
        }
        self.transitions.insert(transition, reason);
        match transition.from {
            From::Node(node) => self.out.entry(node).or_default().push(number),
            From::Control(control) => {
                let asked = transition.read.is_some_and(|top| self.system.is_target(control, Some(top)))
                    || self.system.is_target(control, None);
                if asked && self.hit.is_none() {
                    self.hit = Some(number);
                }
            }
        }
    }

    fn moves(&mut self, control: Control, top: Symbol) -> Result<Moves<S::Label>, Stop> {
        if let Some(known) = self.moves.get(&(control, top)) {
            return Ok(Rc::clone(known));
        }
        let moves: Moves<S::Label> = self.system.moves(control, top)?.into();
        self.moves.insert((control, top), Rc::clone(&moves));
        Ok(moves)
    }

    fn report(&self, number: usize) {
        if number.is_multiple_of(256) {
            let (visited, waiting) = (self.transitions.len(), self.transitions.len() - number);
            self.run.event(Event::Searched { visited, waiting, depth: 0 });
        }
    }

    /// The transition with this number.
    pub(super) fn transition(&self, number: usize) -> Transition {
        *self.transitions.get_index(number).expect("numbers are those of transitions").0
    }

    /// Why the transition with this number is there.
    pub(super) fn reason(&self, number: usize) -> Reason<S::Label> {
        *self.transitions.get_index(number).expect("numbers are those of transitions").1
    }

    /// The step that a transition from an entry is a consequence of.
    pub(super) fn step_of(&self, number: usize) -> (usize, S::Label) {
        let Reason::Step(before, label) = self.reason(number) else {
            unreachable!("transitions from entries are made by pushes")
        };
        (before, label)
    }

    /// Says whether the work must stop.
    pub(super) fn tick(&self) -> Result<(), Stop> {
        self.run.tick()
    }

    /// The oldest transition from a node.
    pub(super) fn first_out(&self, node: Node) -> Option<usize> {
        self.out.get(&node).and_then(|out| out.first().copied())
    }

    /// All transitions from control states that read a symbol, oldest first.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Control, Symbol, Node)> {
        self.transitions.keys().filter_map(|transition| match (transition.from, transition.read) {
            (From::Control(control), Some(symbol)) => Some((control, symbol, transition.to)),
            _ => None,
        })
    }

    /// The steps from a head that was reached.
    pub(super) fn known_moves(&self, control: Control, top: Symbol) -> &[Move<S::Label>] {
        self.moves.get(&(control, top)).map_or(&[], |moves| moves)
    }

    /// The labels of a run from an initial configuration to one that the transition reads, first step first.
    ///
    /// Kept are the transitions that read the present configuration. Going one step back replaces one or two of them by
    /// older ones (Schwoon's thesis, section 3.1.6), so it ends.
    pub(super) fn way_to(&self, hit: usize) -> Result<(Vec<S::Label>, Vec<usize>), Stop> {
        // The topmost symbol's transition last.
        let mut reading = self.rest(hit);
        reading.push(hit);
        let mut labels = Vec::new();
        while let Some(top) = reading.pop() {
            self.run.tick()?;
            match (self.reason(top), self.transition(top).to) {
                (Reason::Initial, _) => {
                    reading.push(top);
                    break;
                }
                (Reason::Below { popped, below }, _) => reading.extend([below, popped]),
                (Reason::Step(..), to) if self.is_pushed(top, to) => {
                    let below = reading.pop().expect("something lies below what was pushed");
                    let (before, label) = self.step_of(below);
                    labels.push(label);
                    reading.push(before);
                }
                (Reason::Step(before, label), _) => {
                    labels.push(label);
                    reading.push(before);
                }
            }
        }
        labels.reverse();
        Ok((labels, reading))
    }

    /// Whether the transition is the upper half of a push, and not a later one that reads the same entry's words.
    pub(super) fn is_pushed(&self, number: usize, to: Node) -> bool {
        let Transition { from, read, .. } = self.transition(number);
        matches!((from, read, to), (From::Control(control), Some(top), Node::Entry(pushed, entry))
            if control == pushed && top == entry)
    }

    /// The oldest transitions that read the rest of a word behind a transition, the deepest first.
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
