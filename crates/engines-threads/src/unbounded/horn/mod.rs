//! Any number of threads by Horn clauses: the engine `horn-threads`.
//!
//! Thread-modular proofs after Hoenicke, Majumdar and Podelski ("Thread modularity at many levels", POPL 2017) and
//! Gupta, Popeea and Rybalchenko ("Predicate abstraction and refinement for verifying multi-threaded programs", POPL
//! 2011): relations speak of the shared variables and of the variables of one thread at a place, or of two threads at
//! two places. The clauses (`clauses`) say that they hold at the start, and stay closed under the steps of these
//! threads and of one more. Spacer is asked whether there are such relations that allow no error; the steps are bit
//! vectors.
//!
//! *Order of work*: one thread, then two. *Invariant*: relations that satisfy the clauses contain what threads look
//! like in all executions, for any number of threads, since the clauses are those of views ([`super::views`]). *Why it
//! ends*: it need not; the limits of the run stop the solver. *Why it is right*: nothing is believed. What the solver
//! prints becomes the certificate of views of one or two threads (`proof`), which the judge checks over all bits,
//! without z3. It finds no errors: that one is derivable is no evidence for it.
//!
//! The engine replaces calls itself, in the program and in the one over bits, whose locations are the same: the
//! relations speak of numbers, the certificate of bits.

mod block;
mod clauses;
mod proof;

use selvedge_check::{Bound, Engine, Explanation, Run, SolverFailure, Stop, Task, Unsupported, Verdict};
use selvedge_ir::Op;
use selvedge_ir::passes::blast;
use selvedge_ir::passes::inline;
use selvedge_transition::bitvectors::spacer;
use selvedge_transition::support::is_passive;

use self::clauses::System;
use self::proof::Bits;

/// The engine. It has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HornThreads;

const NAME: &str = "horn-threads";

/// The most threads that a relation speaks of.
const MOST_SEEN: usize = 2;

impl Engine for HornThreads {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.refuse_deadlock(NAME)?;
        let unsupported = |reason: &str| Err(Unsupported::new(format!("`{NAME}` {reason}")));
        let program = task.program;
        if program.prelude.is_some() || !task.target.together.is_empty() {
            return unsupported("does not support `init` and questions whether threads meet");
        }
        if is_passive(program) {
            return unsupported("does not support steps that read or assign variables of other threads");
        }
        if program.edges.iter().any(|edge| edge.ensures != selvedge_ir::Expr::TRUE) {
            return unsupported("does not support `enforce`");
        }
        blast::accepts_wide(program).or_else(|reason| unsupported(&format!("works on bits, and {reason}")))?;
        let inlined = inline::run(program, task.target);
        if inlined.program.edges.iter().any(|edge| matches!(edge.op, Op::Call(_))) {
            return unsupported("does not support recursion, and calls that could not be inlined");
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let undecided = Stop::BoundReached(Bound::Invariants);
        let inlined = inline::run(task.program, task.target);
        let bits = Bits::new(task.program, &inlined).ok_or(undecided)?;
        for k in 1..=MOST_SEEN {
            let Some(system) = System::new(&inlined.program, &inlined.target, k, run)? else { return Err(undecided) };
            let mut smt = spacer::start(run)?;
            system.tell(&mut smt, run)?;
            let Some(model) = spacer::model(&mut smt, run)? else { continue };
            let certificate = bits.certificate(&system, &model, run)?;
            return certificate.map(|found| Verdict::Safe(Some(found))).ok_or(Stop::Solver(SolverFailure::Strange));
        }
        Err(undecided)
    }
}
