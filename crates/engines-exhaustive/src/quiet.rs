//! What need not be distinguished where deadlocks are all that is asked for.

use selvedge_ir::liveness::Liveness;
use selvedge_ir::visibility::Visibility;
use selvedge_ir::{Op, Program, Scope, Value, VarId};
use selvedge_replay::{Interpreter, State, Thread};

/// The variables that are read later, and the steps that other threads notice.
pub(super) struct Quiet {
    liveness: Liveness,
    visibility: Visibility,
    /// The shared variables, and whether each is live: everywhere or nowhere.
    shared: Vec<(VarId, bool)>,
    per_thread: Vec<VarId>,
}

impl Quiet {
    pub(super) fn new(program: &Program) -> Quiet {
        let (liveness, visibility) = (Liveness::among_threads(program), Visibility::new(program));
        let of = |scope: Scope| program.vars.indices().filter(move |var| program.vars[*var].scope == scope);
        let is_live = |var: VarId| program.locs.indices().any(|loc| liveness.is_live(loc, var));
        let shared = of(Scope::Shared).map(|var| (var, is_live(var))).collect();
        let per_thread = of(Scope::Thread).collect();
        Quiet { liveness, visibility, shared, per_thread }
    }

    /// Gives the variables that no thread reads later their default values. All of them: what is only assigned to one
    /// of them is not read later either, so that a state that keeps one would depend on what others have lost.
    pub(super) fn forget(&self, program: &Program, state: &mut State) {
        let reset = |var: VarId, value: &mut Value, is_live: bool| {
            if !is_live {
                *value = program.vars[var].ty.default_value();
            }
        };
        self.shared.iter().zip(&mut state.shared).for_each(|((var, is_live), value)| reset(*var, value, *is_live));
        for thread in &mut state.threads {
            let loc = thread.loc();
            for (var, value) in self.per_thread.iter().zip(&mut thread.vars) {
                reset(*var, value, self.liveness.is_live(loc, *var));
            }
            for frame in &mut thread.stack {
                for (var, value) in program.procs[frame.proc].locals.iter().zip(&mut frame.locals) {
                    reset(*var, value, self.liveness.is_live(frame.loc, *var));
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
