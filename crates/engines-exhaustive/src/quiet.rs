//! What need not be distinguished where deadlocks are all that is asked for.

use selvedge_ir::liveness::Liveness;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{Op, Program};
use selvedge_replay::{Interpreter, State, Thread};

/// The locals that are read later, and the steps that other threads notice.
pub(super) struct Quiet {
    liveness: Liveness,
    visibility: Visibility,
}

impl Quiet {
    pub(super) fn new(program: &Program) -> Quiet {
        Quiet { liveness: Liveness::among_threads(program), visibility: Visibility::new(program) }
    }

    /// Gives the locals that no thread reads later their default values.
    pub(super) fn forget(&self, program: &Program, state: &mut State) {
        for frame in state.threads.iter_mut().flat_map(|thread| &mut thread.stack) {
            for (var, value) in program.procs[frame.proc].locals.iter().zip(&mut frame.locals) {
                if !self.liveness.is_live(frame.loc, *var) {
                    *value = program.vars[*var].ty.default_value();
                }
            }
        }
    }

    /// Returns whether no other thread notices any step that a thread can make next.
    pub(super) fn is_quiet(&self, program: &Program, all: &Interpreter<'_>, state: &State, thread: &Thread) -> bool {
        let mut edges = all.edges(state, thread).iter().map(|edge| &program.edges[*edge]);
        edges.len() > 0
            && edges.all(|edge| self.visibility.is_invisible_step(edge) && !matches!(edge.op, Op::Assert(_)))
    }
}
