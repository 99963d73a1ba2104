//! The reachable states of a program with calls, from those of the program in which bodies are in the place of calls.
//!
//! A state of a thread there lies in a copy of a procedure's body. It becomes the state of a thread in that procedure:
//! the copies of its locals are locals of the host. The pass keeps the number of steps and their indivisibility, so
//! that the two programs have the same states.

use std::collections::HashMap;

use selvedge_check::{Exploration, ThreadState, ValuesAsked};
use selvedge_ir::passes::Copies;
use selvedge_ir::{LocId, Program, Scope, Value, VarId};

use crate::Simplified;

/// A program and the one with bodies in the place of its calls.
pub(crate) struct InlinedStates<'a> {
    program: &'a Program,
    inlined: &'a Simplified,
    copies: &'a Copies,
    /// The copy of each local, by the calls that lead to its frame.
    locals: HashMap<(u32, VarId), VarId>,
}

impl<'a> InlinedStates<'a> {
    /// Returns the view of a program; `None` if more was done than to put bodies in the place of its calls.
    pub(crate) fn new(program: &'a Program, inlined: &'a Simplified) -> Option<InlinedStates<'a>> {
        let copies = inlined.copies()?;
        let locals = copies.vars.iter_enumerated().map(|(copy, (calls, local))| ((*calls, *local), copy)).collect();
        Some(InlinedStates { program, inlined, copies, locals })
    }

    /// Returns whether the value of a variable of the inlined program is wanted: that of a caller's local if it is
    /// asked for after the call.
    pub(crate) fn is_asked(&self, asked: ValuesAsked<'_>, loc: LocId, var: VarId) -> bool {
        let (frame, loc) = self.copies.locs[loc];
        let (owner, var) = self.copies.vars[var];
        let Scope::Local(proc) = self.program.vars[var].scope else { return asked(loc, var) };
        if owner == frame {
            return proc == self.program.locs[loc].proc && asked(loc, var);
        }
        let (calls, above) = (&self.copies.calls[frame as usize], &self.copies.calls[owner as usize]);
        let Some([call, ..]) = calls.strip_prefix(above.as_slice()) else { return false };
        let after = self.program.edges[*call].to;
        proc == self.program.locs[after].proc && asked(after, var)
    }

    /// Returns the states of the program with calls.
    pub(crate) fn lifted(&self, seen: Exploration) -> Exploration {
        let thread_states = seen.thread_states.iter().map(|state| self.thread_state(state)).collect();
        let failing = seen.failing.iter().filter_map(|edge| self.inlined.lifted_edge(*edge)).collect();
        Exploration { thread_states, failing, ..seen }
    }

    fn thread_state(&self, state: &ThreadState) -> ThreadState {
        let (frame, loc) = self.copies.locs[state.loc];
        let host = &self.inlined.program.procs[self.inlined.program.locs[state.loc].proc];
        let value = |var: &VarId| {
            let copy = self.locals.get(&(frame, *var));
            let slot = copy.and_then(|copy| host.locals.iter().position(|local| local == copy));
            slot.map_or(Value::Bool(false), |slot| state.locals[slot])
        };
        let locals = self.program.procs[self.program.locs[loc].proc].locals.iter().map(value).collect();
        ThreadState { loc, locals, free: self.free(state), ..state.clone() }
    }

    /// Returns the free variables, as those of the program with calls.
    fn free(&self, state: &ThreadState) -> Vec<VarId> {
        let (frame, loc) = self.copies.locs[state.loc];
        let own = state.free.iter().filter_map(|copy| {
            let (owner, var) = self.copies.vars[*copy];
            let is_visible = match self.program.vars[var].scope {
                Scope::Local(proc) => owner == frame && proc == self.program.locs[loc].proc,
                Scope::Shared | Scope::Thread => true,
            };
            is_visible.then_some(var)
        });
        let mut free: Vec<VarId> = own.collect();
        free.sort_unstable();
        free
    }
}
