//! Propositional formulas that share their parts, for certificates.

use selvedge_ir::VarId;

/// A formula, by its number in [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormulaId(pub u32);

/// A list of formulas. Each refers only to those before it, so that a walk along the list meets parts before wholes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formulas {
    nodes: Vec<Node>,
}

/// The outermost connective of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A constant.
    Const(bool),
    /// A proposition.
    Atom(Atom),
    /// Negation.
    Not(FormulaId),
    /// Conjunction.
    And(FormulaId, FormulaId),
    /// Disjunction.
    Or(FormulaId, FormulaId),
    /// `if .0 then .1 else .2`.
    Ite(FormulaId, FormulaId, FormulaId),
}

/// A proposition about a procedure that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// The value of a variable now; in a summary, at the return.
    Now(VarId),
    /// The value of a shared or per-thread variable or of a parameter when the procedure was entered.
    Entry(VarId),
    /// In a summary: the returned value with this number.
    Result(u32),
    /// With several threads: a variable of one of them.
    Of {
        /// The thread, by its number in [`crate::Shape::threads`].
        thread: u32,
        /// The variable, by its number in [`crate::Place::vars`].
        var: u32,
    },
}

impl Formulas {
    /// Adds a formula, or says which part of it is not there yet.
    pub fn add(&mut self, node: Node) -> Result<FormulaId, FormulaId> {
        match node.parts().into_iter().flatten().find(|part| part.0 as usize >= self.nodes.len()) {
            Some(missing) => Err(missing),
            None => {
                self.nodes.push(node);
                Ok(FormulaId(self.nodes.len() as u32 - 1))
            }
        }
    }

    /// All formulas, parts before wholes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The formula with this number.
    pub fn get(&self, id: FormulaId) -> Option<Node> {
        self.nodes.get(id.0 as usize).copied()
    }
}

impl Node {
    /// The parts, from left to right.
    pub fn parts(self) -> [Option<FormulaId>; 3] {
        match self {
            Node::Const(_) | Node::Atom(_) => [None, None, None],
            Node::Not(part) => [Some(part), None, None],
            Node::And(left, right) | Node::Or(left, right) => [Some(left), Some(right), None],
            Node::Ite(condition, then, otherwise) => [Some(condition), Some(then), Some(otherwise)],
        }
    }
}
