//! Any number of threads, without recursion: chapters 8 and 9 of the thesis behind Boom.
//!
//! Threads never ask for the absence of another, so what some threads can do, more threads can do. The question whether
//! an error can be reached is one of coverability, which is decidable.
//!
//! - [`system`]: a program as a thread-transition system over explicit valuations.
//! - [`karp_miller`]: all that can be covered, on decision diagrams.
//! - [`explicit`]: what such a system can cover.
//! - [`views`]: what a few threads can look like together, on the program itself, in decision diagrams.

pub mod explicit;
pub mod karp_miller;
pub mod system;
pub mod views;

use selvedge_check::{Task, ThreadScope, Unsupported};
use selvedge_ir::{Op, Program};

/// Whether a task is one for the engines here: any number of threads, no calls left, Boolean variables, and no step in
/// which other threads take part.
pub fn supports(task: &Task<'_>, name: &str) -> Result<(), Unsupported> {
    if task.threads != ThreadScope::Unbounded {
        let reason =
            format!("the number of threads is bounded, and `{name}` answers for any number: leave out --threads");
        return Err(Unsupported::new(reason));
    }
    crate::threads::supports_program(task.program, name)?;
    if is_passive(task.program) {
        let reason = format!("some steps read or assign variables of other threads, and `{name}` takes none such");
        return Err(Unsupported::new(reason));
    }
    Ok(())
}

/// Whether a program has steps with passive parts.
fn is_passive(program: &Program) -> bool {
    program.edges.iter().any(|edge| matches!(&edge.op, Op::Assign(assign) if assign.is_passive()))
}
