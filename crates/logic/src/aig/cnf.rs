//! Translation of graphs to clauses (Tseitin), part by part.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Aig, Input, Lit, Node};
use crate::sat::{SatLit, Solver};

/// The part of one graph that is already encoded in one solver. Each node has a variable that equals it in every
/// assignment that satisfies the clauses; encoding more of the graph adds clauses for the new nodes only.
#[derive(Clone, Debug, Default)]
pub struct Encoder {
    vars: FxHashMap<usize, SatLit>,
}

impl Encoder {
    /// Returns an encoder that has encoded nothing. The graph and the solver must be the same in all calls.
    pub fn new() -> Encoder {
        Encoder::default()
    }

    /// Returns the literal of the solver that represents a literal of the graph.
    pub fn encode(&mut self, aig: &Aig, lit: Lit, solver: &mut Solver) -> SatLit {
        for node in aig.cone(&[lit], |node| self.vars.contains_key(&node)) {
            let var = solver.new_var();
            match aig.nodes[node] {
                Node::False => solver.add_clause(&[!var]),
                Node::Input(_) => {}
                Node::And(a, b) => {
                    let (a, b) = (self.known(a), self.known(b));
                    solver.add_clause(&[!var, a]);
                    solver.add_clause(&[!var, b]);
                    solver.add_clause(&[var, !a, !b]);
                }
            }
            self.vars.insert(node, var);
        }
        self.known(lit)
    }

    /// Returns the literal of the solver that represents an input.
    pub fn input(&mut self, aig: &Aig, input: Input, solver: &mut Solver) -> SatLit {
        self.encode(aig, aig.input(input), solver)
    }

    /// Requires a literal to be true. A conjunction is split into its parts, which gives shorter clauses.
    pub fn assert(&mut self, aig: &Aig, lit: Lit, solver: &mut Solver) {
        let mut seen = FxHashSet::default();
        let mut open = vec![lit];
        while let Some(lit) = open.pop() {
            match (lit.is_negated(), aig.nodes[lit.node()]) {
                _ if !seen.insert(lit) => {}
                (true, Node::False) => {}
                (false, Node::And(a, b)) => open.extend([a, b]),
                _ => {
                    let lit = self.encode(aig, lit, solver);
                    solver.add_clause(&[lit]);
                }
            }
        }
    }

    /// Returns the literal of the solver that represents a literal of the graph, if it has been encoded.
    pub fn find(&self, lit: Lit) -> Option<SatLit> {
        self.vars.contains_key(&lit.node()).then(|| self.known(lit))
    }

    fn known(&self, lit: Lit) -> SatLit {
        let var = *self.vars.get(&lit.node()).expect("operands are older and so encoded first");
        if lit.is_negated() { !var } else { var }
    }
}
