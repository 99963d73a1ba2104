//! Counterexample-guided refinement of a predicate abstraction (Clarke, Grumberg, Jha, Lu and Veith, CAV 2000; Ball and
//! Rajamani's SLAM), on the Boolean programs that the other engines are for.
//!
//! *Order of work*: the predicates are those of the program's conditions. The program is abstracted exactly (`crate::
//! abstraction`), and `summaries` looks for an error in the Boolean program. If it finds none, there is none: its
//! certificate, with the predicates in the place of their variables, is ours. An execution to an error names commands;
//! the solver says whether the program can take them in this order (`simulate`). If it can, that is the answer. If not,
//! a core says which conditions on the way contradict each other, and the conditions under which the rest of the way,
//! with these alone, leads to the error become predicates, step by step (`refine`).
//!
//! *Why it goes on*: with these predicates the abstraction no longer has the execution. Had it, its last valuation would
//! satisfy the condition at the end, so would the one before satisfy the condition before, since the abstraction is
//! exact, and so on to a first state that satisfies the first one, which the core excludes. *Why it ends*: it need not.
//! *Why it is right*: the abstraction has every execution of the program; executions are replayed, certificates checked.

mod refine;
mod simulate;

use std::fmt;
use std::sync::Arc;

use selvedge_check::formula::{Atom, FormulaId, Formulas, Node};
use selvedge_check::{
    Certificate, Engine, Explanation, Refinement, Run, SolverFailure, Stop, SummaryProof, Task, Unsupported, Verdict,
};
use selvedge_ir::{EdgeId, Expr, Trace};

use crate::abstraction::{Abstraction, Predicates, abstracted};
use crate::horn::certificate;
use crate::horn::system::System;
use simulate::Simulated;

/// The options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Who hears of each abstraction.
    pub keep: Option<Keep>,
}

/// Hears of each abstraction, with its number from 1.
#[derive(Clone)]
pub struct Keep(pub Arc<Listener>);

/// See [`Keep`].
pub type Listener = dyn Fn(usize, &Abstraction) + Send + Sync;

impl PartialEq for Keep {
    fn eq(&self, other: &Keep) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Keep {}

impl fmt::Debug for Keep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Keep")
    }
}

/// The engine.
pub struct Cegar {
    /// Its options.
    pub options: Options,
    /// The engine that decides the Boolean programs, with certificates of kind [`Certificate::Summaries`].
    pub boolean: Box<dyn Engine>,
}

/// The largest formula that becomes a certificate, written out.
const LARGEST: usize = 200_000;

impl Engine for Cegar {
    fn name(&self) -> &'static str {
        "cegar"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        System::of(task, self.name()).map(drop)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let system = System::of(task, self.name()).expect("only supported tasks are checked");
        let mut predicates = Predicates::of_conditions(task)?;
        let mut figures = Refinement::default();
        loop {
            let abstraction = abstracted(task, &predicates, run)?;
            figures.iterations += 1;
            figures.queries += abstraction.queries;
            figures.predicates = predicates.len();
            explanation.refine(figures, run);
            if let Some(keep) = &self.options.keep {
                (keep.0)(figures.iterations, &abstraction);
            }
            let abstract_task = Task { program: &abstraction.program, ..*task };
            let trace = match self.boolean.check(&abstract_task, run)? {
                Verdict::Unsafe(trace) => trace,
                Verdict::Safe(proof) => {
                    let formula = proof.and_then(|proof| formula(&proof, &system, &predicates));
                    return Ok(Verdict::Safe(formula.map(|formula| certificate(&system, formula))));
                }
            };
            let way = way(&system, &trace).ok_or(Stop::Solver(SolverFailure::Strange))?;
            let before = predicates.len();
            match simulate::simulate(&system, &way, run)? {
                Simulated::Real(trace) => return Ok(Verdict::Unsafe(trace)),
                Simulated::Spurious(core) => refine::refine(&system, &way, &core, &mut predicates, run)?,
            }
            if predicates.len() == before {
                return Err(Stop::Solver(SolverFailure::Undecided));
            }
        }
    }
}

/// The commands of an execution, and the assertion that fails at its end.
pub(crate) struct Way {
    pub(crate) commands: Vec<EdgeId>,
    pub(crate) failing: EdgeId,
}

/// The steps of an execution that are commands; assertions that hold on the way change nothing.
fn way(system: &System<'_>, trace: &Trace) -> Option<Way> {
    let (last, steps) = trace.steps.split_last()?;
    let is_command = |edge: EdgeId| system.commands.iter().any(|(id, _)| *id == edge);
    let commands = steps.iter().map(|step| step.edge).filter(|edge| is_command(*edge)).collect();
    system.asserts.iter().any(|(id, _)| *id == last.edge).then_some(Way { commands, failing: last.edge })
}

/// What the proof says of the place where the commands are, over the program's variables.
fn formula(proof: &Certificate, system: &System<'_>, predicates: &Predicates) -> Option<Expr> {
    let Certificate::Summaries(SummaryProof { formulas, locs, .. }) = proof else { return None };
    let Some((_, id)) = locs.iter().find(|(loc, _)| *loc == system.head) else { return Some(Expr::FALSE) };
    let exprs: Vec<&Expr> = predicates.exprs().collect();
    if size(formulas, *id)? > LARGEST {
        return None;
    }
    written_out(formulas, *id, &exprs)
}

/// How large a formula is, written out.
fn size(formulas: &Formulas, id: FormulaId) -> Option<usize> {
    let mut sizes: Vec<usize> = Vec::new();
    for node in formulas.nodes() {
        let of = |part: FormulaId| sizes[part.0 as usize];
        sizes.push(match *node {
            Node::Const(_) | Node::Atom(_) => 1,
            Node::Not(part) => of(part).saturating_add(1),
            Node::And(left, right) | Node::Or(left, right) => of(left).saturating_add(of(right)).saturating_add(1),
            Node::Ite(a, b, c) => of(a).saturating_add(of(b)).saturating_add(of(c)).saturating_add(1),
        });
    }
    sizes.get(id.0 as usize).copied()
}

fn written_out(formulas: &Formulas, id: FormulaId, exprs: &[&Expr]) -> Option<Expr> {
    let of = |part: FormulaId| written_out(formulas, part, exprs);
    Some(match formulas.get(id)? {
        Node::Const(value) => Expr::Bool(value),
        Node::Atom(Atom::Now(var)) => (*exprs.get(var.index())?).clone(),
        Node::Atom(_) => return None,
        Node::Not(part) => Expr::negate(of(part)?),
        Node::And(left, right) => Expr::and(of(left)?, of(right)?),
        Node::Or(left, right) => Expr::or(of(left)?, of(right)?),
        Node::Ite(condition, then, otherwise) => Expr::Ite(Box::new((of(condition)?, of(then)?, of(otherwise)?))),
    })
}
