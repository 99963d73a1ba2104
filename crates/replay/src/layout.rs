//! The places of the variables in a state.

use index_vec::IndexVec;
use selvedge_ir::{EntryId, ProcId, Program, Scope, Value, VarId};

use selvedge_check::execution::{Frame, State, Thread};

/// The place of each variable among those of its scope.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) shared: Vec<VarId>,
    pub(crate) thread: Vec<VarId>,
    /// The place of a variable among the shared ones, the per-thread ones, or its procedure's locals.
    pub(crate) slot: IndexVec<VarId, usize>,
    scope: IndexVec<VarId, Scope>,
    thread_vars: IndexVec<EntryId, Vec<VarId>>,
}

impl Layout {
    pub(crate) fn new(program: &Program) -> Layout {
        let of_scope = |scope: Scope| -> Vec<VarId> {
            program.vars.iter_enumerated().filter(|(_, var)| var.scope == scope).map(|(id, _)| id).collect()
        };
        let (shared, thread) = (of_scope(Scope::Shared), of_scope(Scope::Thread));
        let mut slot = IndexVec::from_vec(vec![0; program.vars.len()]);
        let lists = program.procs.iter().map(|proc| &proc.locals).chain([&shared, &thread]);
        for list in lists {
            for (place, var) in list.iter().enumerate() {
                slot[*var] = place;
            }
        }
        Layout {
            scope: program.vars.iter().map(|var| var.scope).collect(),
            thread_vars: program.entries.iter().map(|entry| entry.thread_vars.clone()).collect(),
            shared,
            thread,
            slot,
        }
    }

    /// The value of `var` as the thread at `position` has it. A local is that of the topmost frame of its procedure.
    pub(crate) fn read(&self, state: &State, position: usize, var: VarId) -> Value {
        let thread = &state.threads[position];
        match self.scope[var] {
            Scope::Shared => state.shared[self.slot[var]],
            Scope::Thread => thread.vars[self.slot[var]],
            Scope::Local(owner) => {
                let frame = thread.stack.iter().rfind(|frame| frame.proc == owner);
                frame.expect("a thread reads locals that it has").locals[self.slot[var]]
            }
        }
    }

    pub(crate) fn write(&self, state: &mut State, position: usize, var: VarId, value: Value) {
        let thread = &mut state.threads[position];
        let place = match self.scope[var] {
            Scope::Shared => &mut state.shared[self.slot[var]],
            Scope::Thread => &mut thread.vars[self.slot[var]],
            Scope::Local(owner) => {
                let frame = topmost(&mut thread.stack, owner).expect("a thread writes locals that it has");
                &mut frame.locals[self.slot[var]]
            }
        };
        *place = value;
    }

    /// Returns whether the thread has this variable: a frame of its procedure, or its kind's per-thread variables.
    pub(crate) fn has(&self, thread: &Thread, var: VarId) -> bool {
        match self.scope[var] {
            Scope::Shared => true,
            Scope::Thread => thread.entry.is_some_and(|entry| self.thread_vars[entry].contains(&var)),
            Scope::Local(owner) => thread.stack.iter().any(|frame| frame.proc == owner),
        }
    }
}

fn topmost(stack: &mut [Frame], proc: ProcId) -> Option<&mut Frame> {
    stack.iter_mut().rfind(|frame| frame.proc == proc)
}
