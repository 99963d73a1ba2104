//! The places of the variables in a state.

use index_vec::IndexVec;
use selvedge_ir::{ProcId, Program, Scope, Value, VarId};

use crate::program::has;
use crate::semantics::of_scope;
use selvedge_check::execution::{State, Thread};

/// The place of each variable among those of its scope.
#[derive(Clone, Debug)]
pub(crate) struct Layout<'p> {
    program: &'p Program,
    pub(crate) shared: Vec<VarId>,
    pub(crate) thread: Vec<VarId>,
    /// The place of a variable among the shared ones, the per-thread ones, or its procedure's locals.
    pub(crate) slot: IndexVec<VarId, usize>,
}

impl<'p> Layout<'p> {
    pub(crate) fn new(program: &'p Program) -> Layout<'p> {
        let shared: Vec<VarId> = of_scope(program, Scope::Shared).collect();
        let thread: Vec<VarId> = of_scope(program, Scope::Thread).collect();
        let mut slot = IndexVec::from_vec(vec![0; program.vars.len()]);
        for list in program.procs.iter().map(|proc| &proc.locals).chain([&shared, &thread]) {
            list.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        }
        Layout { program, shared, thread, slot }
    }

    /// The value of `var` as the thread at `position` has it. A local is that of the topmost frame of its procedure.
    pub(crate) fn read(&self, state: &State, position: usize, var: VarId) -> Value {
        let frame = |owner: ProcId| topmost(state, position, owner);
        self.read_in(state, position, var, frame)
    }

    /// The value of `var` as the thread at `position` has it in the frame that called the running one.
    pub(crate) fn read_below(&self, state: &State, position: usize, var: VarId) -> Value {
        self.read_in(state, position, var, |_| state.threads[position].stack.len() - 2)
    }

    fn read_in(&self, state: &State, position: usize, var: VarId, frame: impl Fn(ProcId) -> usize) -> Value {
        let values = match self.program.vars[var].scope {
            Scope::Shared => &state.shared,
            Scope::Thread => &state.threads[position].vars,
            Scope::Local(owner) => &state.threads[position].stack[frame(owner)].locals,
        };
        values[self.slot[var]]
    }

    pub(crate) fn write(&self, state: &mut State, position: usize, var: VarId, value: Value) {
        let values = match self.program.vars[var].scope {
            Scope::Shared => &mut state.shared,
            Scope::Thread => &mut state.threads[position].vars,
            Scope::Local(owner) => {
                let frame = topmost(state, position, owner);
                &mut state.threads[position].stack[frame].locals
            }
        };
        values[self.slot[var]] = value;
    }

    /// Returns whether the thread has this variable: a frame of its procedure, or its kind's per-thread variables.
    pub(crate) fn has(&self, thread: &Thread, var: VarId) -> bool {
        has(self.program, thread.entry, thread.stack.iter().map(|frame| frame.proc), var)
    }
}

/// The number of the topmost frame of a procedure on the stack of a thread.
fn topmost(state: &State, position: usize, proc: ProcId) -> usize {
    let frame = state.threads[position].stack.iter().rposition(|frame| frame.proc == proc);
    frame.expect("a thread reads and writes locals that it has")
}
