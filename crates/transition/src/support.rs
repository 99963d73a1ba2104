//! The tasks that engines support.

use selvedge_check::{Task, ThreadScope, Unsupported};
use selvedge_ir::callgraph::{CallGraph, is_sequential};
use selvedge_ir::{Count, Edge, Op, Program, Ty};

/// Checks that the engines for one thread support a task: one thread, Boolean variables, no question about deadlocks.
pub fn supports_one_thread(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    let program = task.program;
    task.refuse_deadlock(name)?;
    let unsupported = |kind: &str| Err(Unsupported::new(format!("`{name}` only supports {kind}")));
    if !is_sequential(program) {
        return unsupported("programs with one thread");
    }
    if program.vars.iter().any(|var| var.ty != Ty::Bool) || program.has_machine_integers() {
        return unsupported("Boolean programs");
    }
    Ok(())
}

/// Checks that the engines for threads support a task: no calls left, Boolean variables, no question about deadlocks.
pub fn supports_program(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    let program = task.program;
    task.refuse_deadlock(name)?;
    let unsupported = |reason: String| Err(Unsupported::new(reason));
    if let Some(var) = program.vars.iter().find(|var| var.ty == Ty::Int) {
        return unsupported(format!("`{}` is an integer, and `{name}` only supports Boolean variables", var.name));
    }
    if program.has_machine_integers() {
        return unsupported(format!("there are machine integers, and `{name}` only supports Boolean variables"));
    }
    let calls = CallGraph::new(program);
    if let Some(proc) = program.procs.indices().find(|proc| calls.is_recursive(*proc)) {
        let name_of = &program.procs[proc].name;
        return unsupported(format!("`{name_of}` is recursive, and `{name}` does not support recursion"));
    }
    let in_prelude = |edge: &Edge| Some(program.locs[edge.from].proc) == program.prelude;
    if program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)) && in_prelude(edge)) {
        return unsupported(format!("`init` starts threads, and `{name}` supports `init` only if it runs alone"));
    }
    if program.edges.iter().any(|edge| matches!(edge.op, Op::Call(_))) {
        return unsupported(format!("some calls could not be inlined, and `{name}` does not support calls"));
    }
    Ok(())
}

/// Returns the maximum number of threads: the bound of the task if it has one, else that of the initial threads.
pub fn bound(task: &Task<'_>) -> u32 {
    match task.threads {
        ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
        ThreadScope::Unbounded => most_initial(task.program),
    }
}

/// Returns the maximum number of threads with which a run begins; `u32::MAX` if any number may begin.
pub fn most_initial(program: &Program) -> u32 {
    let most = |count: Count| match count {
        Count::Exactly(count) | Count::AtMost(count) => count,
        Count::Any => u32::MAX,
    };
    program.entries.iter().fold(0, |sum: u32, entry| sum.saturating_add(most(entry.count)))
}

/// Checks that an engine for any number of threads supports a task: no bound on threads, no calls left, Boolean
/// variables.
pub fn supports_any_number(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    if task.threads != ThreadScope::Unbounded {
        let reason =
            format!("the number of threads is bounded, but `{name}` answers for any number: leave out --threads");
        return Err(Unsupported::new(reason));
    }
    supports_program(task, name)
}

/// Checks the same, and that there is no step in which other threads take part.
pub fn supports_unbounded(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    supports_any_number(task, name)?;
    if is_passive(task.program) {
        let reason = format!("some steps read or assign variables of other threads, which `{name}` does not support");
        return Err(Unsupported::new(reason));
    }
    Ok(())
}

/// Checks the same, except that steps may assign variables of other threads, as long as no condition on all other
/// threads is necessary: then more threads can still do whatever fewer can.
pub fn supports_broadcasts(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    supports_any_number(task, name)?;
    let depends = |edge: &Edge| matches!(&edge.op, Op::Assign(assign) if assign.constrain.is_passive());
    if task.program.edges.iter().any(depends) {
        let reason = format!("some steps require a condition of all other threads, which `{name}` does not support");
        return Err(Unsupported::new(reason));
    }
    Ok(())
}

/// Returns whether a program has steps with passive parts.
pub fn is_passive(program: &Program) -> bool {
    program.edges.iter().any(|edge| matches!(&edge.op, Op::Assign(assign) if assign.is_passive()))
}
