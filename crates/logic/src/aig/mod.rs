//! And-inverter graphs: formulas with shared parts.
//!
//! A node is an input or the conjunction of two literals; a literal is a node or its negation. Equal conjunctions are
//! one node, constants are eliminated, and a few rules that inspect one more level are applied before a node is
//! created. A node's operands are older than the node, so the numbers of nodes are a topological order.

mod cnf;

use std::fmt;
use std::ops::Not;

use rustc_hash::{FxHashMap, FxHashSet};

pub use cnf::Encoder;

/// A node of an [`Aig`] or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lit(u32);

/// An input of an [`Aig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Input(u32);

impl Lit {
    /// Always false.
    pub const FALSE: Lit = Lit(0);
    /// Always true.
    pub const TRUE: Lit = Lit(1);

    /// Returns the value, if it is a constant.
    pub fn as_constant(self) -> Option<bool> {
        (self.node() == 0).then_some(self.is_negated())
    }

    fn plain(node: usize) -> Lit {
        Lit(u32::try_from(node * 2).expect("there are fewer than 2^31 nodes"))
    }

    fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns this literal, negated if `flip` is set.
    fn flipped(self, flip: bool) -> Lit {
        Lit(self.0 ^ u32::from(flip))
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Lit {
        if value { Lit::TRUE } else { Lit::FALSE }
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        self.flipped(true)
    }
}

impl fmt::Debug for Lit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_negated() { "!" } else { "" }, self.node())
    }
}

#[derive(Clone, Copy, Debug)]
enum Node {
    False,
    Input(Input),
    And(Lit, Lit),
}

/// A part of a graph whose operands have been translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate<T> {
    /// The constant.
    False,
    /// An input.
    Input(Input),
    /// A negation.
    Not(T),
    /// A conjunction.
    And(T, T),
}

/// The translations of the nodes of one graph.
#[derive(Clone, Debug)]
pub struct Translated<T>(FxHashMap<usize, T>);

impl<T> Default for Translated<T> {
    fn default() -> Self {
        Translated(FxHashMap::default())
    }
}

/// A graph of formulas. It only grows.
#[derive(Clone, Debug)]
pub struct Aig {
    nodes: Vec<Node>,
    inputs: Vec<Lit>,
    /// The node of each conjunction, operands in ascending order. Only looked up.
    unique: FxHashMap<(Lit, Lit), Lit>,
}

impl Default for Aig {
    fn default() -> Self {
        Aig::new()
    }
}

impl Aig {
    /// Returns a graph with only the constants.
    pub fn new() -> Aig {
        Aig { nodes: vec![Node::False], inputs: Vec::new(), unique: FxHashMap::default() }
    }

    /// Returns a fresh input.
    pub fn new_input(&mut self) -> Input {
        let input = Input(self.inputs.len() as u32);
        self.inputs.push(Lit::plain(self.nodes.len()));
        self.nodes.push(Node::Input(input));
        input
    }

    /// Returns the literal of an input.
    pub fn input(&self, input: Input) -> Lit {
        self.inputs[input.0 as usize]
    }

    /// Returns the number of nodes: one for the constants, the inputs, the conjunctions.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the conjunction.
    ///
    /// Rules that look at the operands of an operand are tried first. Each gives the result or continues with an older
    /// literal in place of one operand, so this terminates.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = ordered(a, b);
        // The constants are the smallest literals.
        match a.as_constant() {
            Some(false) => return Lit::FALSE,
            Some(true) => return b,
            None => {}
        }
        if a == b {
            return a;
        }
        if a == !b {
            return Lit::FALSE;
        }
        if let Some(&known) = self.unique.get(&(a, b)) {
            return known;
        }
        match self.simplified(a, b).or_else(|| self.simplified(b, a)) {
            Some(Simpler::Literal(lit)) => lit,
            Some(Simpler::And(a, b)) => self.and(a, b),
            None => {
                let lit = Lit::plain(self.nodes.len());
                self.nodes.push(Node::And(a, b));
                self.unique.insert((a, b), lit);
                lit
            }
        }
    }

    /// Applies the two-level rules; `a` is the operand whose own operands are inspected.
    fn simplified(&self, a: Lit, b: Lit) -> Option<Simpler> {
        let (x, y) = self.operands(a)?;
        let inner = self.operands(b);
        if a.is_negated() {
            // a is the negation of (x and y).
            if b == !x || b == !y {
                return Some(Simpler::Literal(b));
            }
            for (here, rest) in [(x, y), (y, x)] {
                if b == here {
                    return Some(Simpler::And(b, !rest));
                }
                match inner {
                    Some((u, v)) if !b.is_negated() && (u == !here || v == !here) => return Some(Simpler::Literal(b)),
                    Some((u, v)) if !b.is_negated() && (u == here || v == here) => return Some(Simpler::And(b, !rest)),
                    Some((u, v)) if b.is_negated() && (u, v) == ordered(here, !rest) => {
                        return Some(Simpler::Literal(!here));
                    }
                    _ => {}
                }
            }
            return None;
        }
        if b == x || b == y {
            return Some(Simpler::Literal(a));
        }
        let clash = |lit: Lit| lit == !x || lit == !y;
        let clashes = clash(b) || (!b.is_negated() && inner.is_some_and(|(u, v)| clash(u) || clash(v)));
        clashes.then_some(Simpler::Literal(Lit::FALSE))
    }

    /// Returns the operands of the conjunction of a literal's node.
    fn operands(&self, lit: Lit) -> Option<(Lit, Lit)> {
        match self.nodes[lit.node()] {
            Node::And(x, y) => Some((x, y)),
            Node::False | Node::Input(_) => None,
        }
    }

    /// Returns the disjunction.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Returns the implication.
    pub fn implies(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(a, !b)
    }

    /// Returns the exclusive disjunction.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        // One node for the four combinations of negated operands.
        let flip = a.is_negated() != b.is_negated();
        let (a, b) = (a.flipped(a.is_negated()), b.flipped(b.is_negated()));
        let (both, none) = (self.and(a, b), self.and(!a, !b));
        self.and(!both, !none).flipped(flip)
    }

    /// Returns the equivalence.
    pub fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// Returns the literal that equals the second where the first is true, and the third elsewhere.
    pub fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        let (yes, no) = (self.and(condition, then), self.and(!condition, otherwise));
        self.or(yes, no)
    }

    /// Returns the conjunction of all, as a balanced tree.
    pub fn and_all(&mut self, lits: &[Lit]) -> Lit {
        match lits {
            [] => Lit::TRUE,
            &[lit] => lit,
            _ => {
                let (left, right) = lits.split_at(lits.len() / 2);
                let (left, right) = (self.and_all(left), self.and_all(right));
                self.and(left, right)
            }
        }
    }

    /// Returns the disjunction of all, as a balanced tree.
    pub fn or_all(&mut self, lits: &[Lit]) -> Lit {
        let negated: Vec<Lit> = lits.iter().map(|&lit| !lit).collect();
        !self.and_all(&negated)
    }

    /// Returns the values of literals under an assignment of the inputs.
    pub fn eval(&self, roots: &[Lit], value: impl Fn(Input) -> bool) -> Vec<bool> {
        let mut values: FxHashMap<usize, bool> = FxHashMap::default();
        let at = |values: &FxHashMap<usize, bool>, lit: Lit| values[&lit.node()] != lit.is_negated();
        for node in self.cone(roots, |_| false) {
            let result = match self.nodes[node] {
                Node::False => false,
                Node::Input(input) => value(input),
                Node::And(a, b) => at(&values, a) && at(&values, b),
            };
            values.insert(node, result);
        }
        roots.iter().map(|&root| at(&values, root)).collect()
    }

    /// Returns the literals with inputs replaced, all at once; inputs for which there is no replacement stay. With
    /// constants as replacements these are cofactors.
    pub fn substitute(&mut self, roots: &[Lit], replacement: impl Fn(Input) -> Option<Lit>) -> Vec<Lit> {
        let mut new: FxHashMap<usize, Lit> = FxHashMap::default();
        let at = |new: &FxHashMap<usize, Lit>, lit: Lit| new[&lit.node()].flipped(lit.is_negated());
        for node in self.cone(roots, |_| false) {
            let result = match self.nodes[node] {
                Node::False => Lit::FALSE,
                Node::Input(input) => replacement(input).unwrap_or_else(|| self.input(input)),
                Node::And(a, b) => {
                    let (a, b) = (at(&new, a), at(&new, b));
                    self.and(a, b)
                }
            };
            new.insert(node, result);
        }
        roots.iter().map(|&root| at(&new, root)).collect()
    }

    /// Translates a literal into something else, from the inputs on. `known` has what was translated before.
    pub fn translate<T: Copy>(&self, root: Lit, known: &mut Translated<T>, make: &mut dyn FnMut(Gate<T>) -> T) -> T {
        for node in self.cone(&[root], |node| known.0.contains_key(&node)) {
            let mut operand = |lit: Lit| {
                let plain = known.0[&lit.node()];
                if lit.is_negated() { make(Gate::Not(plain)) } else { plain }
            };
            let translated = match self.nodes[node] {
                Node::False => make(Gate::False),
                Node::Input(input) => make(Gate::Input(input)),
                Node::And(a, b) => {
                    let (a, b) = (operand(a), operand(b));
                    make(Gate::And(a, b))
                }
            };
            known.0.insert(node, translated);
        }
        let plain = known.0[&root.node()];
        if root.is_negated() { make(Gate::Not(plain)) } else { plain }
    }

    /// Returns the inputs that literals are made of, in the order of their creation.
    pub fn support(&self, roots: &[Lit]) -> Vec<Input> {
        let inputs = self.cone(roots, |_| false).into_iter().filter_map(|node| match self.nodes[node] {
            Node::Input(input) => Some(input),
            Node::False | Node::And(..) => None,
        });
        inputs.collect()
    }

    /// Returns the nodes below literals in topological order, without known nodes and the nodes that are only below
    /// those.
    fn cone(&self, roots: &[Lit], known: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut seen = FxHashSet::default();
        let mut open: Vec<usize> = roots.iter().map(|root| root.node()).collect();
        let mut cone = Vec::new();
        while let Some(node) = open.pop() {
            if known(node) || !seen.insert(node) {
                continue;
            }
            cone.push(node);
            if let Node::And(a, b) = self.nodes[node] {
                open.extend([a.node(), b.node()]);
            }
        }
        cone.sort_unstable();
        cone
    }
}

/// A simpler form of a conjunction.
enum Simpler {
    Literal(Lit),
    And(Lit, Lit),
}

fn ordered(a: Lit, b: Lit) -> (Lit, Lit) {
    if a <= b { (a, b) } else { (b, a) }
}
