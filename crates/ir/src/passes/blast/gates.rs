//! Circuits under construction: gates that are made once each, and expressions that share what several gates use.

use rustc_hash::FxHashMap;

use crate::simplify::not;
use crate::syntax::{BinaryOp, Expr, Let};

/// A gate or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Lit(u32);

impl Lit {
    pub(super) const FALSE: Lit = Lit(0);
    pub(super) const TRUE: Lit = Lit(1);

    fn new(gate: usize) -> Lit {
        Lit(2 * gate as u32)
    }

    fn gate(self) -> usize {
        (self.0 / 2) as usize
    }

    fn is_negated(self) -> bool {
        self.0 % 2 == 1
    }
}

impl From<bool> for Lit {
    fn from(value: bool) -> Lit {
        Lit(u32::from(value))
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// A gate. Its inputs were made before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Gate {
    False,
    /// A variable or choice.
    Leaf(Expr),
    And(Lit, Lit),
    /// Of two gates that are not negated.
    Xor(Lit, Lit),
    /// The condition is not negated.
    Ite(Lit, Lit, Lit),
}

impl Gate {
    fn inputs(&self) -> impl Iterator<Item = Lit> {
        let inputs = match *self {
            Gate::False | Gate::Leaf(_) => [None, None, None],
            Gate::And(left, right) | Gate::Xor(left, right) => [Some(left), Some(right), None],
            Gate::Ite(condition, then, otherwise) => [Some(condition), Some(then), Some(otherwise)],
        };
        inputs.into_iter().flatten()
    }
}

/// A circuit.
pub(super) struct Gates {
    gates: Vec<Gate>,
    known: FxHashMap<Gate, Lit>,
}

impl Gates {
    pub(super) fn new() -> Gates {
        Gates { gates: vec![Gate::False], known: FxHashMap::default() }
    }

    fn add(&mut self, gate: Gate) -> Lit {
        if let Some(known) = self.known.get(&gate) {
            return *known;
        }
        let lit = Lit::new(self.gates.len());
        self.gates.push(gate.clone());
        self.known.insert(gate, lit);
        lit
    }

    pub(super) fn leaf(&mut self, leaf: Expr) -> Lit {
        self.add(Gate::Leaf(leaf))
    }

    pub(super) fn and(&mut self, left: Lit, right: Lit) -> Lit {
        match (left.min(right), left.max(right)) {
            (Lit::FALSE, _) => Lit::FALSE,
            (Lit::TRUE, other) => other,
            (left, right) if left == right => left,
            (left, right) if left == !right => Lit::FALSE,
            (left, right) => self.add(Gate::And(left, right)),
        }
    }

    pub(super) fn or(&mut self, left: Lit, right: Lit) -> Lit {
        !self.and(!left, !right)
    }

    pub(super) fn xor(&mut self, left: Lit, right: Lit) -> Lit {
        let negated = left.is_negated() != right.is_negated();
        let (left, right) = (Lit::new(left.gate()), Lit::new(right.gate()));
        let lit = match (left.min(right), left.max(right)) {
            (Lit::FALSE, other) => other,
            (left, right) if left == right => Lit::FALSE,
            (left, right) => self.add(Gate::Xor(left, right)),
        };
        if negated { !lit } else { lit }
    }

    pub(super) fn ite(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if condition.is_negated() {
            return self.ite(!condition, otherwise, then);
        }
        match (condition, then, otherwise) {
            (Lit::FALSE, ..) => otherwise,
            _ if then == otherwise => then,
            _ if then == !otherwise => !self.xor(condition, then),
            (_, Lit::TRUE, _) => self.or(condition, otherwise),
            (_, Lit::FALSE, _) => self.and(!condition, otherwise),
            (_, _, Lit::TRUE) => self.or(!condition, then),
            (_, _, Lit::FALSE) => self.and(condition, then),
            _ => self.add(Gate::Ite(condition, then, otherwise)),
        }
    }

    /// Returns the expression of a literal, in which a gate with several uses is a shared part. Gates are written in
    /// the order in which they were made, so that their inputs come first.
    pub(super) fn expr(&self, root: Lit) -> Expr {
        let mut uses: FxHashMap<usize, u32> = FxHashMap::default();
        let mut open = vec![root.gate()];
        while let Some(gate) = open.pop() {
            let count = uses.entry(gate).or_default();
            *count += 1;
            if *count == 1 {
                open.extend(self.gates[gate].inputs().map(Lit::gate));
            }
        }
        let mut order: Vec<usize> = uses.keys().copied().collect();
        order.sort_unstable();
        let mut writer = Writer { exprs: FxHashMap::default(), parts: Vec::new() };
        for gate in order {
            let (expr, depth) = writer.gate(&self.gates[gate]);
            let is_shared = uses[&gate] > 1 && !expr.is_leaf();
            writer.keep(gate, expr, depth, is_shared);
        }
        let body = writer.literal(root).0;
        if writer.parts.is_empty() { body } else { Expr::Let(Box::new(Let { parts: writer.parts, body })) }
    }
}

/// Limit on the depth of an expression before it becomes a part, so that none is deep.
const MAX_DEPTH: u32 = 40;

struct Writer {
    /// The expressions of gates, with their depths. One that is used once is taken out.
    exprs: FxHashMap<usize, (Expr, u32)>,
    parts: Vec<(u32, Expr)>,
}

impl Writer {
    fn keep(&mut self, gate: usize, expr: Expr, depth: u32, is_shared: bool) {
        let (expr, depth) = if is_shared || depth > MAX_DEPTH {
            let number = self.parts.len() as u32;
            self.parts.push((number, expr));
            (Expr::Part(number), 0)
        } else {
            (expr, depth)
        };
        self.exprs.insert(gate, (expr, depth));
    }

    /// Returns the expression of a gate, and its depth.
    fn gate(&mut self, gate: &Gate) -> (Expr, u32) {
        match gate {
            Gate::False => (Expr::FALSE, 0),
            Gate::Leaf(leaf) => (leaf.clone(), 0),
            Gate::And(left, right) => self.pair(BinaryOp::And, *left, *right),
            Gate::Xor(left, right) => self.pair(BinaryOp::Xor, *left, *right),
            Gate::Ite(condition, then, otherwise) => {
                let (condition, a) = self.literal(*condition);
                let ((then, b), (otherwise, c)) = (self.literal(*then), self.literal(*otherwise));
                (Expr::Ite(Box::new((condition, then, otherwise))), 1 + a.max(b).max(c))
            }
        }
    }

    fn pair(&mut self, op: BinaryOp, left: Lit, right: Lit) -> (Expr, u32) {
        let ((left, a), (right, b)) = (self.literal(left), self.literal(right));
        (Expr::binary(op, left, right), 1 + a.max(b))
    }

    /// Returns the expression of a literal, and its depth. Leaves and parts may be used again.
    fn literal(&mut self, lit: Lit) -> (Expr, u32) {
        let (known, depth) = &self.exprs[&lit.gate()];
        let (expr, depth) = match known.is_leaf() {
            true => (known.clone(), *depth),
            false => self.exprs.remove(&lit.gate()).expect("it is known"),
        };
        if lit.is_negated() { (negated(expr), depth + 1) } else { (expr, depth) }
    }
}

/// Returns the negation: of a conjunction of negations the disjunction, of a difference the equality.
fn negated(expr: Expr) -> Expr {
    let is_negation = |expr: &Expr| matches!(expr, Expr::Unary(crate::syntax::UnaryOp::Not, _));
    match expr {
        Expr::Binary(BinaryOp::And, pair) if is_negation(&pair.0) || is_negation(&pair.1) => {
            Expr::binary(BinaryOp::Or, not(pair.0), not(pair.1))
        }
        Expr::Binary(BinaryOp::Xor, pair) => Expr::Binary(BinaryOp::Eq, pair),
        expr => not(expr),
    }
}
