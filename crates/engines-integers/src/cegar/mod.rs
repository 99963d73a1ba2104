//! Counterexample-guided refinement of a predicate abstraction (Clarke, Grumberg, Jha, Lu and Veith, CAV 2000; Ball and
//! Rajamani's SLAM), on top of the engines for Boolean programs.
//!
//! *Order of work*: the first predicates are those of the program's conditions. The program is abstracted exactly
//! (`crate::abstraction`), and `summaries` looks for an error in the Boolean program. If there is none, the program is
//! safe: the certificate of `summaries`, with predicates for their variables, is the certificate of this engine. An
//! execution to an error names commands; the solver decides whether the program can execute them in this order
//! (`simulate`). If so, the program is unsafe. If not, a core says which conditions on the path contradict each other,
//! and the conditions under which the rest of the path, restricted to the core, leads to the error become predicates,
//! step by step (`refine`).
//!
//! *Why it makes progress*: with these predicates the abstraction no longer has the execution. Otherwise its last
//! valuation would satisfy the condition at the end, so would the one before satisfy the condition before, since the
//! abstraction is exact, and so on to an initial state that satisfies the first condition, which the core excludes.
//! *Why it ends*: it need not. *Why it is right*: the abstraction has every execution of the program; executions are
//! replayed, and certificates checked.

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
use crate::horn::guarded_commands::GuardedCommands;
use simulate::Simulated;

/// The options of the engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Receives each abstraction.
    pub keep: Option<AbstractionListener>,
}

/// A listener that receives each abstraction, with its number from 1.
#[derive(Clone)]
pub struct AbstractionListener(pub Arc<Listener>);

/// See [`AbstractionListener`].
pub type Listener = dyn Fn(usize, &Abstraction) + Send + Sync;

impl PartialEq for AbstractionListener {
    fn eq(&self, other: &AbstractionListener) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for AbstractionListener {}

impl fmt::Debug for AbstractionListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AbstractionListener")
    }
}

/// The engine.
pub struct Cegar {
    /// Its options.
    pub options: Options,
    /// The engine that decides the Boolean programs, with certificates of kind [`Certificate::Summaries`].
    pub boolean: Box<dyn Engine>,
}

/// Limit on the size of a formula in a certificate, as a tree.
const LARGEST: usize = 200_000;

impl Engine for Cegar {
    fn name(&self) -> &'static str {
        "cegar"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        GuardedCommands::of(task, self.name()).map(drop)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let system = GuardedCommands::of(task, self.name()).expect("only supported tasks are checked");
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
            let path = command_path(&system, &trace).ok_or(Stop::Solver(SolverFailure::Strange))?;
            let before = predicates.len();
            match simulate::simulate(&system, &path, run)? {
                Simulated::Real(trace) => return Ok(Verdict::Unsafe(trace)),
                Simulated::Spurious(core) => refine::refine(&system, &path, &core, &mut predicates, run)?,
            }
            if predicates.len() == before {
                return Err(Stop::Solver(SolverFailure::Undecided));
            }
        }
    }
}

/// The commands of an execution, and the assertion that fails at its end.
pub(crate) struct CommandPath {
    pub(crate) commands: Vec<EdgeId>,
    pub(crate) failing: EdgeId,
}

/// Returns the commands of an execution; assertions that hold on the way change nothing.
fn command_path(system: &GuardedCommands<'_>, trace: &Trace) -> Option<CommandPath> {
    let (last, steps) = trace.steps.split_last()?;
    let is_command = |edge: EdgeId| system.commands.iter().any(|(id, _)| *id == edge);
    let commands = steps.iter().map(|step| step.edge).filter(|edge| is_command(*edge)).collect();
    system.asserts.iter().any(|(id, _)| *id == last.edge).then_some(CommandPath { commands, failing: last.edge })
}

/// Returns the invariant of the proof at the location of the commands, over the program's variables.
fn formula(proof: &Certificate, system: &GuardedCommands<'_>, predicates: &Predicates) -> Option<Expr> {
    let Certificate::Summaries(SummaryProof { formulas, locs, .. }) = proof else { return None };
    let Some((_, id)) = locs.iter().find(|(loc, _)| *loc == system.head) else { return Some(Expr::FALSE) };
    let exprs: Vec<&Expr> = predicates.exprs().collect();
    if size(formulas, *id)? > LARGEST {
        return None;
    }
    written_out(formulas, *id, &exprs)
}

/// Returns the size of a formula as a tree.
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

/// Writes a formula as an expression, with predicates for its variables.
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
