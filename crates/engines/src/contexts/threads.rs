//! Which threads take turns: what the engines with a bound on contexts ask of a task, and make of it.

use selvedge_check::{ContextBound, Task, ThreadScope, Unsupported};
use selvedge_ir::Ty;
use selvedge_ir::passes::enlist::{self, Enlisted};

use super::Options;

/// The bound on contexts, and the task as programs of fixed lists of threads: one for each crew that a run may have.
pub fn enlisted(task: &Task<'_>, options: &Options, name: &str) -> Result<(ContextBound, Vec<Enlisted>), Unsupported> {
    let Some(bound) = options.bound else {
        return Err(Unsupported::new(format!(
            "`{name}` needs a bound on the contexts of each thread: give --contexts K"
        )));
    };
    if let Some(var) = task.program.vars.iter().find(|var| var.ty == Ty::Int) {
        let reason = format!("`{}` is an integer, and `{name}` takes Boolean variables only", var.name);
        return Err(Unsupported::new(reason));
    }
    if !task.target.together.is_empty() {
        return Err(Unsupported::new(format!("`{name}` cannot say which threads meet")));
    }
    let threads = match task.threads {
        ThreadScope::AtMost(bound) => Some(bound),
        ThreadScope::Unbounded => None,
        ThreadScope::Created(_) => {
            return Err(Unsupported::new(format!(
                "`{name}` takes bounds on live threads, not on those of a whole run"
            )));
        }
    };
    let lists = enlist::run(task.program, task.target, threads);
    lists
        .map(|lists| (bound, lists))
        .map_err(|refusal| Unsupported { reason: format!("`{name}`: {}", refusal.reason), edge: refusal.edge })
}
