//! Writes the formulas of certificates.

use rustc_hash::FxHashMap;
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_logic::bdd::{Bdd, Var};

/// Limit on the nodes of a certificate. Larger ones are not given: they would take too long to check.
const MOST_NODES: usize = 2_000_000;

/// The diagrams that have been written with the same atoms.
pub type Written = FxHashMap<Bdd, FormulaId>;

/// Formulas under construction. Each is written once.
#[derive(Default)]
pub struct FormulaWriter {
    /// The formulas written so far.
    pub formulas: Formulas,
    known: FxHashMap<Node, FormulaId>,
}

impl FormulaWriter {
    /// Returns whether a certificate with these formulas would be too large.
    pub fn is_too_large(&self) -> bool {
        self.formulas.nodes().len() > MOST_NODES
    }

    /// Writes a formula whose parts are written.
    pub fn node(&mut self, node: Node) -> FormulaId {
        if let Some(known) = self.known.get(&node) {
            return *known;
        }
        let id = self.formulas.add(node).expect("parts are written before wholes");
        self.known.insert(node, id);
        id
    }

    /// Writes the formula of a diagram, given the meaning of its variables.
    #[expect(clippy::mutable_key_type, reason = "a diagram is compared and hashed by the function that it denotes")]
    pub fn diagram(&mut self, set: &Bdd, atom: &dyn Fn(Var) -> Atom, written: &mut Written) -> FormulaId {
        if let Some(known) = written.get(set) {
            return *known;
        }
        let formula = match set.decision() {
            None => self.node(Node::Const(set.is_true())),
            Some((var, high, low)) => {
                let (high, low) = (self.diagram(&high, atom, written), self.diagram(&low, atom, written));
                let atom = self.node(Node::Atom(atom(var)));
                self.node(Node::Ite(atom, high, low))
            }
        };
        written.insert(set.clone(), formula);
        formula
    }
}
