//! `contexts-eager`: the reduction to one thread ([`selvedge_ir::passes::sequentialize`]), and `summaries`.
//!
//! The order of work: for each number of contexts, smallest first, and each list of threads, the sequential program is
//! built and decided by `summaries`. All guesses of the other threads' effects are considered, including those that
//! never come true: this is the eager exploration with which Lal and Reps compare their lazy one. It ends because
//! `summaries` does and the numbers of contexts are bounded. It is right because the reduction is; an error is mapped
//! back to an execution of the threads.

use selvedge_check::{
    Bound, ContextBound, Contexts, Engine, Event, Explanation, Run, Stop, Task, ThreadScope, Unsupported, Verdict,
};
use selvedge_ir::passes::fix_threads::FixedThreads;
use selvedge_ir::passes::sequentialize::{self, Arrangement, Sequential};
use selvedge_ir::{Assign, Edge, Expr, Op, Program, Target, VarId};
use selvedge_transition::sequential::{BuildSequential, SequentialEngine, Values};

use super::Options;
use super::threads::{fixed_threads, shared_vars, supports_fixed_threads, up_to_error};

/// The engine.
#[derive(Clone, Debug)]
pub struct ContextsEager {
    /// Its options.
    pub options: Options,
    /// Builds the engine that decides the sequential programs.
    pub sequential: BuildSequential,
}

const NAME: &str = "contexts-eager";

impl Engine for ContextsEager {
    fn name(&self) -> &'static str {
        NAME
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_fixed_threads(task, &self.options, NAME)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let (bound, lists) = fixed_threads(task, &self.options, NAME).expect("the engine supports the task");
        let mut contexts = Contexts::default();
        let answer = self.deepen(bound, &lists, &mut contexts, run);
        explanation.contexts = Some(contexts);
        answer.map(|verdict| match verdict {
            Verdict::Unsafe(trace) => Verdict::Unsafe(up_to_error(task, trace)),
            safe => safe,
        })
    }
}

impl ContextsEager {
    fn deepen(
        &self,
        bound: ContextBound,
        lists: &[FixedThreads],
        contexts: &mut Contexts,
        run: &Run<'_>,
    ) -> Result<Verdict, Stop> {
        for k in bound.numbers() {
            for list in lists {
                let sequential = reduced(list, &list.target, k);
                if let Verdict::Unsafe(trace) = self.engine(list).check(&question(&sequential), run)? {
                    contexts.error = Some(k);
                    return Ok(Verdict::Unsafe(list.lift.trace(&sequential.lift.trace(&trace))));
                }
            }
            if let [list] = lists
                && let Some(n_states) = self.count(list, k, run)?
            {
                contexts.reached.push((k, n_states));
                run.event(Event::SharedStates { k, states: n_states });
            }
        }
        Err(Stop::BoundReached(Bound::Contexts(bound.last)))
    }

    fn engine(&self, list: &FixedThreads) -> Box<dyn SequentialEngine> {
        (self.sequential)(arrangement(&list.program) == Arrangement::ByContext)
    }

    /// Returns the number of valuations of the shared variables that are reachable within `k` contexts per thread;
    /// `None` if the limits do not suffice, which must not discard earlier results.
    fn count(&self, list: &FixedThreads, k: u32, run: &Run<'_>) -> Result<Option<u128>, Stop> {
        match self.shared_states(list, k, run) {
            Ok(values) => Ok(values.count()),
            Err(stop @ (Stop::Cancelled | Stop::PartStopped)) => Err(stop),
            Err(_) => Ok(None),
        }
    }

    /// Returns the valuations of the shared variables of the user's program, in the order of their declaration, that
    /// are reachable within `k` contexts per thread at points where a context may end.
    pub fn shared_states(&self, list: &FixedThreads, k: u32, run: &Run<'_>) -> Result<Values, Stop> {
        let mut sequential = reduced(list, &Target::default(), k);
        let mut last: Vec<(VarId, VarId)> =
            sequential.last.iter().filter_map(|(var, copy)| Some((list.lift.old_var(*var)?, *copy))).collect();
        last.sort_unstable();
        let vars: Vec<VarId> = last.into_iter().map(|(_, copy)| copy).collect();
        require_read(&mut sequential, &vars);
        self.engine(list).values_at(&sequential.program, sequential.confirmed, &vars, run)
    }
}

/// Chooses the arrangement of the copies of the shared variables. The condition that each context begins as the
/// previous one ended is small if the copies of one variable are adjacent. If the variables of a context are adjacent,
/// it has as many nodes as there are shared states, but everything else is smaller.
fn arrangement(program: &Program) -> Arrangement {
    if shared_vars(program).len() <= FEW { Arrangement::ByContext } else { Arrangement::ByVariable }
}

/// The number of shared variables that have few states.
const FEW: usize = 10;

fn reduced(list: &FixedThreads, target: &Target, k: u32) -> Sequential {
    sequentialize::arranged(&list.program, target, k, arrangement(&list.program))
}

fn question(sequential: &Sequential) -> Task<'_> {
    Task { program: &sequential.program, target: &sequential.target, threads: ThreadScope::Unbounded }
}

/// Adds a step that changes nothing and reads the given variables, so that all of them are tracked.
fn require_read(sequential: &mut Sequential, vars: &[VarId]) {
    let Sequential { program, confirmed, .. } = sequential;
    let active = vars.iter().map(|var| (*var, Expr::Var(*var))).collect();
    let op = Op::Assign(Assign { active, ..Assign::skip() });
    // The assertion that follows the Checker.
    let after = program.edges.iter().find(|edge| edge.from == *confirmed).expect("the assertion is there");
    let to = after.to;
    program.edges.push(Edge::new(*confirmed, to, op));
}
