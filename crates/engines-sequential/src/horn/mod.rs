//! Programs with machine integers as Horn clauses over bit vectors, for z3's Spacer (Komuravelli, Gurfinkel and Chaki,
//! "SMT-based model checking for recursive programs", CAV 2014).
//!
//! *Order of work*: each place of the program with all calls inlined has a relation over the variables that matter
//! there, and each move is a clause (`clauses`). Spacer is asked whether the relations can be chosen such that no error
//! is derivable. If they can, its choice for the places where executions go round is read back
//! ([`selvedge_transition::bitvectors::read`]) and becomes the certificate. *Invariant*: every state that is reached
//! satisfies the relation of its place, since the clauses are the program. *Why it ends*: it need not; the time limit
//! kills the solver. *Why it is right*: nothing is believed. The judge checks the formulas over all bits, by proofs
//! that do not come from z3; where they cannot be read, there is no answer.
//!
//! Executions to errors are left to other engines: that an error is derivable is no evidence for it.

mod clauses;

use selvedge_check::{Bound, Engine, Explanation, Run, SolverFailure, Stop, Task, Unsupported, Verdict};
use selvedge_ir::Expr;
use selvedge_ir::callgraph::is_sequential;
use selvedge_ir::passes::blast::accepts_wide;
use selvedge_transition::bitvectors::spacer;

use crate::induction::inlined_graph::{InlinedGraph, cut};
use clauses::Clauses;

/// The engine. It has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horn;

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.refuse_deadlock(self.name())?;
        let unsupported = |reason: &str| Err(Unsupported::new(format!("`horn` {reason}")));
        if !is_sequential(task.program) || task.program.prelude.is_some() || !task.target.together.is_empty() {
            return unsupported("only supports programs with one thread");
        }
        InlinedGraph::new(task).map(drop).or_else(&unsupported)?;
        if !task.program.has_machine_integers() {
            return unsupported("only supports programs with integers");
        }
        accepts_wide(task.program).or_else(|reason| unsupported(&reason))
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let undecided = Stop::BoundReached(Bound::Invariants);
        let graph = InlinedGraph::new(task).map_err(|_| undecided)?;
        let (order, cuts) = cut(&graph.moves_by_place());
        let clauses = Clauses::new(task, &graph);
        let mut smt = spacer::start(run)?;
        clauses.tell(&mut smt, run)?;
        let model = spacer::model(&mut smt, run)?.ok_or(undecided)?;
        let formulas: Option<Vec<Expr>> = cuts.iter().map(|place| clauses.formula(&model, *place)).collect();
        let formulas = formulas.ok_or(Stop::Solver(SolverFailure::Strange))?;
        let formula = |place| cuts.binary_search(&place).ok().map(|cut| formulas[cut].clone());
        Ok(Verdict::Safe(Some(graph.certificate(&order, formula))))
    }
}
