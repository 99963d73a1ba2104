//! Certificates as JSON. A certificate names the question that it answers. Whoever verifies it asks a question of their
//! own; the one in the file only tells them that theirs is another.
//!
//! Formulas are a list of short arrays, of which each refers to earlier ones by number; locations, procedures and
//! variables are given by number. The names of the variables are there to notice that a certificate does not belong to
//! a program. Whether the certificate proves anything is for the judge to say.

use std::collections::BTreeSet;

use index_vec::{Idx, IndexSlice};
use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{Certificate, Paths, SummaryProof};
use selvedge_ir::{LocId, Program, VarId};
use serde::{Deserialize, Serialize};

use super::cover::CoverView;
use super::integers::IntegersView;
use super::invariants::InvariantsView;
use super::over_bits::OverBitsView;
use super::over_predicates::OverPredicatesView;
use super::question::QuestionView;
use super::threads::{self, ThreadsView, ViewsView};
use super::trace::{ProgramView, ReadError, mismatch, named_variable, owner};
use super::{GENERATOR, VERSION, read};
use crate::annotated_trace::Context;

const FORMAT: &str = "selvedge-certificate";

/// A certificate file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CertificateFile {
    /// Always `selvedge-certificate`.
    pub format: String,
    pub version: u32,
    #[serde(default)]
    pub generator: String,
    pub program: ProgramView,
    pub question: QuestionView,
    pub proof: ProofView,
}

/// The evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProofView {
    /// The locations that threads may be at, in ascending order.
    ControlFlow { locations: Vec<u32> },
    /// Formulas about one thread.
    Summaries(SummariesView),
    /// k-induction, over all paths or over those in which no state occurs twice.
    Induction { k: u32, loop_free: bool },
    /// Formulas about several threads.
    Threads(ThreadsView),
    /// Listed states of any number of threads.
    Cover(CoverView),
    /// Formulas about a few of any number of threads.
    Views(ViewsView),
    /// Formulas over integers, for one thread.
    Integers(IntegersView),
    /// Formulas over machine integers, for one thread.
    Invariants(InvariantsView),
    /// Nothing: whoever reads it visits all states.
    AllStates,
    /// The most visible steps of a thread.
    Unwound { visible_steps: u32 },
    /// For machine integers, a program over bits and the evidence about it.
    OverBits(OverBitsView),
    /// For machine integers, a Boolean program over predicates and the evidence about it.
    OverPredicates(OverPredicatesView),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummariesView {
    /// The variables that formulas speak of.
    pub variables: Vec<VariableView>,
    /// Each refers only to those before it.
    pub formulas: Vec<NodeView>,
    /// Location and formula, in ascending order of the locations.
    pub locations: Vec<(u32, u32)>,
    /// Procedure and formula, in ascending order of the procedures.
    pub procedures: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VariableView {
    pub number: u32,
    pub variable: String,
    /// The procedure of a local; null for shared and per-thread variables.
    pub procedure: Option<String>,
}

/// A formula as an array of an operator and numbers: `["and", 3, 4]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NodeView {
    Nullary((Operator,)),
    Unary((Operator, u32)),
    Binary((Operator, u32, u32)),
    Ternary((Operator, u32, u32, u32)),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operator {
    True,
    False,
    /// The value of a variable now.
    Now,
    /// The value of a variable at the entry of the procedure.
    Entry,
    /// A returned value.
    Result,
    /// Of a thread, by its number in the shape, a variable, by its number in the place.
    Of,
    Not,
    And,
    Or,
    Ite,
}

/// Reads a certificate file; [`CertificateFile::certificate`] then fits it to a program.
pub fn read_certificate(text: &str) -> Result<CertificateFile, ReadError> {
    read(text, FORMAT)
}

impl CertificateFile {
    /// Writes down a certificate of the context's program.
    pub fn new(context: Context<'_>, question: QuestionView, certificate: &Certificate) -> CertificateFile {
        CertificateFile {
            format: FORMAT.to_string(),
            version: VERSION,
            generator: GENERATOR.to_string(),
            program: ProgramView::new(context),
            question,
            proof: ProofView::new(context.program, certificate),
        }
    }

    /// The text of the file. Formulas are many and short, so that everything is on one line.
    pub fn text(&self) -> String {
        super::to_line(self)
    }

    /// The certificate, whose numbers and names are checked against a program.
    pub fn certificate(&self, program: &Program) -> Result<Certificate, ReadError> {
        self.proof.certificate(program)
    }
}

impl ProofView {
    /// Writes down a certificate of a program.
    pub(super) fn new(program: &Program, certificate: &Certificate) -> ProofView {
        match certificate {
            Certificate::ControlFlow(locs) => {
                ProofView::ControlFlow { locations: locs.iter().map(|loc| loc.index() as u32).collect() }
            }
            Certificate::Summaries(proof) => ProofView::Summaries(SummariesView::new(program, proof)),
            Certificate::Induction { k, paths } => ProofView::Induction { k: *k, loop_free: *paths == Paths::LoopFree },
            Certificate::Shapes(proof) => threads::written(program, proof),
            Certificate::Cover(proof) => ProofView::Cover(CoverView::new(program, proof)),
            Certificate::Integers(proof) => ProofView::Integers(IntegersView::new(program, proof)),
            Certificate::Invariants(proof) => ProofView::Invariants(InvariantsView::new(program, proof)),
            Certificate::AllStates => ProofView::AllStates,
            Certificate::Unwound(visible_steps) => ProofView::Unwound { visible_steps: *visible_steps },
            Certificate::OverBits(proof) => ProofView::OverBits(OverBitsView::new(proof)),
            Certificate::OverPredicates(proof) => ProofView::OverPredicates(OverPredicatesView::new(program, proof)),
        }
    }

    /// The certificate, whose numbers and names are checked against a program.
    pub(super) fn certificate(&self, program: &Program) -> Result<Certificate, ReadError> {
        match self {
            ProofView::ControlFlow { locations } => {
                let locs = locations.iter().map(|loc| location(program, *loc));
                Ok(Certificate::ControlFlow(locs.collect::<Result<_, _>>()?))
            }
            ProofView::Summaries(view) => view.proof(program).map(Certificate::Summaries),
            ProofView::Induction { k, loop_free } => {
                let paths = if *loop_free { Paths::LoopFree } else { Paths::All };
                Ok(Certificate::Induction { k: *k, paths })
            }
            ProofView::Threads(view) => view.proof(program).map(Certificate::Shapes),
            ProofView::Cover(view) => view.proof(program).map(Certificate::Cover),
            ProofView::Views(view) => view.proof(program).map(Certificate::Shapes),
            ProofView::AllStates => Ok(Certificate::AllStates),
            ProofView::Unwound { visible_steps } => Ok(Certificate::Unwound(*visible_steps)),
            ProofView::Integers(view) => view.proof(program).map(Certificate::Integers),
            ProofView::Invariants(view) => view.proof(program).map(Certificate::Invariants),
            ProofView::OverBits(view) => Ok(Certificate::OverBits(Box::new(view.proof(program)?))),
            ProofView::OverPredicates(view) => Ok(Certificate::OverPredicates(Box::new(view.proof(program)?))),
        }
    }
}

impl SummariesView {
    fn new(program: &Program, proof: &SummaryProof) -> SummariesView {
        let vars: BTreeSet<VarId> = proof.formulas.nodes().iter().filter_map(|node| variable(*node)).collect();
        SummariesView {
            variables: vars.into_iter().map(|id| VariableView::new(program, id)).collect(),
            formulas: proof.formulas.nodes().iter().map(|node| NodeView::from(*node)).collect(),
            locations: proof.locs.iter().map(|(loc, formula)| (loc.index() as u32, formula.0)).collect(),
            procedures: proof.procs.iter().map(|(proc, formula)| (proc.index() as u32, formula.0)).collect(),
        }
    }

    fn proof(&self, program: &Program) -> Result<SummaryProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let formulas = formulas(program, &self.formulas)?;
        let loc = |(loc, number): &(u32, u32)| {
            Ok((location(program, *loc)?, formula(&formulas, &format!("location {loc}"), *number)?))
        };
        let proc = |(proc, number): &(u32, u32)| {
            Ok((
                known(&program.procs, *proc, "proof", "procedure")?,
                formula(&formulas, &format!("procedure {proc}"), *number)?,
            ))
        };
        Ok(SummaryProof {
            locs: self.locations.iter().map(loc).collect::<Result<_, _>>()?,
            procs: self.procedures.iter().map(proc).collect::<Result<_, _>>()?,
            formulas,
        })
    }
}

impl VariableView {
    pub(super) fn new(program: &Program, id: VarId) -> VariableView {
        VariableView {
            number: id.index() as u32,
            variable: program.vars[id].name.clone(),
            procedure: owner(program, id).map(str::to_string),
        }
    }
}

/// The formulas, each of which speaks of variables of the program and of formulas before it.
pub(super) fn formulas(program: &Program, views: &[NodeView]) -> Result<Formulas, ReadError> {
    let mut formulas = Formulas::default();
    for (number, view) in views.iter().enumerate() {
        let place = || format!("formula {number}");
        let wrong = || mismatch(&place(), "its operator does not have this number of operands".to_string());
        let node = view.node().ok_or_else(wrong)?;
        if variable(node).is_some_and(|var| program.vars.get(var).is_none()) {
            return Err(mismatch(&place(), "it speaks of a variable that the program does not have".to_string()));
        }
        let missing = |id: FormulaId| mismatch(&place(), format!("it refers to formula {}, not before it", id.0));
        formulas.add(node).map_err(missing)?;
    }
    Ok(formulas)
}

/// The formula with this number.
pub(super) fn formula(formulas: &Formulas, place: &str, number: u32) -> Result<FormulaId, ReadError> {
    match formulas.get(FormulaId(number)) {
        Some(_) => Ok(FormulaId(number)),
        None => Err(mismatch(place, format!("there is no formula {number}"))),
    }
}

pub(super) fn location(program: &Program, number: u32) -> Result<LocId, ReadError> {
    known(&program.locs, number, "proof", "location")
}

/// Returns the number of something that the program has.
pub(super) fn known<I: Idx, T>(
    items: &IndexSlice<I, [T]>,
    number: u32,
    place: &str,
    what: &str,
) -> Result<I, ReadError> {
    let id = I::from_usize(number as usize);
    match items.get(id) {
        Some(_) => Ok(id),
        None => Err(mismatch(place, format!("the program has no {what} {number}"))),
    }
}

/// Returns whether the program has the variable under this number.
pub(super) fn fits(program: &Program, view: &VariableView) -> Result<(), ReadError> {
    named_variable(program, "proof", view.number, &view.variable, view.procedure.as_deref()).map(drop)
}

/// The variable that an atom is about.
pub(super) fn variable(node: Node) -> Option<VarId> {
    match node {
        Node::Atom(Atom::Now(var) | Atom::Entry(var)) => Some(var),
        _ => None,
    }
}

impl From<Node> for NodeView {
    fn from(node: Node) -> NodeView {
        match node {
            Node::Const(true) => NodeView::Nullary((Operator::True,)),
            Node::Const(false) => NodeView::Nullary((Operator::False,)),
            Node::Atom(Atom::Now(var)) => NodeView::Unary((Operator::Now, var.index() as u32)),
            Node::Atom(Atom::Entry(var)) => NodeView::Unary((Operator::Entry, var.index() as u32)),
            Node::Atom(Atom::Result(number)) => NodeView::Unary((Operator::Result, number)),
            Node::Atom(Atom::Of { thread, var }) => NodeView::Binary((Operator::Of, thread, var)),
            Node::Not(operand) => NodeView::Unary((Operator::Not, operand.0)),
            Node::And(left, right) => NodeView::Binary((Operator::And, left.0, right.0)),
            Node::Or(left, right) => NodeView::Binary((Operator::Or, left.0, right.0)),
            Node::Ite(condition, then, otherwise) => {
                NodeView::Ternary((Operator::Ite, condition.0, then.0, otherwise.0))
            }
        }
    }
}

impl NodeView {
    /// Returns the formula; `None` if the operator has another number of operands.
    fn node(&self) -> Option<Node> {
        let var = |number: u32| VarId::new(number as usize);
        Some(match *self {
            NodeView::Nullary((Operator::True,)) => Node::Const(true),
            NodeView::Nullary((Operator::False,)) => Node::Const(false),
            NodeView::Unary((Operator::Now, number)) => Node::Atom(Atom::Now(var(number))),
            NodeView::Unary((Operator::Entry, number)) => Node::Atom(Atom::Entry(var(number))),
            NodeView::Unary((Operator::Result, number)) => Node::Atom(Atom::Result(number)),
            NodeView::Unary((Operator::Not, operand)) => Node::Not(FormulaId(operand)),
            NodeView::Binary((Operator::Of, thread, var)) => Node::Atom(Atom::Of { thread, var }),
            NodeView::Binary((Operator::And, left, right)) => Node::And(FormulaId(left), FormulaId(right)),
            NodeView::Binary((Operator::Or, left, right)) => Node::Or(FormulaId(left), FormulaId(right)),
            NodeView::Ternary((Operator::Ite, condition, then, otherwise)) => {
                Node::Ite(FormulaId(condition), FormulaId(then), FormulaId(otherwise))
            }
            _ => return None,
        })
    }
}
