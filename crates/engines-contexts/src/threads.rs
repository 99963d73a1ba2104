//! The threads that take turns: the requirements of the engines with a bound on contexts, and the fixed lists of
//! threads.

use selvedge_check::{ContextBound, Task, ThreadScope, Trace, Unsupported};
use selvedge_ir::passes::fix_threads::{self, FixedThreads, Refusal};
use selvedge_ir::{Count, Program, Scope, Ty, VarId};
use selvedge_replay::replay::reached;
use selvedge_replay::{Interpreter, Outcome};

use super::Options;

/// Returns the bound on contexts, and the task as programs with fixed lists of threads: one for each list that a run
/// may have.
pub fn fixed_threads(
    task: &Task<'_>,
    options: &Options,
    name: &str,
) -> Result<(ContextBound, Vec<FixedThreads>), Unsupported> {
    let (contexts, threads) = bounds(task, options, name)?;
    let lists = fix_threads::run(task.program, task.target, threads).map_err(|refusal| refused(refusal, name))?;
    Ok((contexts, lists))
}

/// Checks whether a task has fixed lists of threads and only Boolean variables, without building the lists.
pub fn supports_fixed_threads(task: &Task<'_>, options: &Options, name: &str) -> Result<(), Unsupported> {
    supports_each_thread(task, name)?;
    let (_, threads) = bounds(task, options, name)?;
    fix_threads::supports(task.program, task.target, threads).map_err(|refusal| refused(refusal, name))
}

fn refused(refusal: Refusal, name: &str) -> Unsupported {
    Unsupported { reason: format!("`{name}`: {}", refusal.reason), edge: refusal.edge }
}

/// Returns the bounds on the contexts of each thread and on live threads, of a task with supported threads.
fn bounds(task: &Task<'_>, options: &Options, name: &str) -> Result<(ContextBound, Option<u32>), Unsupported> {
    let Some(contexts) = options.bound else {
        return Err(Unsupported::new(format!(
            "`{name}` needs a bound on the contexts of each thread: give --contexts K"
        )));
    };
    refuse_meetings(task, name)?;
    match task.threads {
        ThreadScope::AtMost(threads) => Ok((contexts, Some(threads))),
        ThreadScope::Unbounded => Ok((contexts, None)),
        ThreadScope::Created(_) => {
            Err(Unsupported::new(format!("`{name}` supports bounds on live threads, not on those of a whole run")))
        }
    }
}

/// Checks the requirements of all engines here: Boolean variables, and a target for single threads.
pub(crate) fn supports_each_thread(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    refuse_meetings(task, name)?;
    if let Some(var) = task.program.vars.iter().find(|var| var.ty == Ty::Int) {
        let reason = format!("`{}` is an integer, and `{name}` only supports Boolean variables", var.name);
        return Err(Unsupported::new(reason));
    }
    if task.program.has_machine_integers() {
        let reason = format!("there are machine integers, and `{name}` only supports Boolean variables");
        return Err(Unsupported::new(reason));
    }
    Ok(())
}

/// Checks that the target is one for single threads.
fn refuse_meetings(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    task.refuse_deadlock(name)?;
    if !task.target.together.is_empty() {
        return Err(Unsupported::new(format!("`{name}` cannot decide whether several threads meet")));
    }
    Ok(())
}

/// Returns the shared variables of a program.
pub(crate) fn shared_vars(program: &Program) -> Vec<VarId> {
    program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Shared).collect()
}

/// The largest number of threads of one template that is counted.
pub(crate) const MOST_COUNTED: u32 = 32;

/// Returns the number of threads of a template that may move; `None` if it is not limited.
pub(crate) fn thread_limit(count: Count) -> Option<u32> {
    match count {
        Count::Any => None,
        Count::Exactly(limit) | Count::AtMost(limit) => Some(limit),
    }
}

/// Cuts an execution off at its first error. A thread may be at an error location from the beginning, or from the step
/// that starts it, which an engine only sees when the thread has its turn.
pub fn up_to_error(task: &Task<'_>, mut trace: Trace) -> Trace {
    if task.target.locs.is_empty() {
        return trace;
    }
    let interpreter = Interpreter::new(task.program, task.threads);
    let Ok(mut state) = interpreter.start(&trace.start) else { return trace };
    for number in 0..trace.steps.len() {
        if reached(task, &state).is_some() {
            trace.steps.truncate(number);
            return trace;
        }
        let Ok(Outcome::Next(next)) = interpreter.step(&state, &trace.steps[number]) else { return trace };
        state = next;
    }
    trace
}
