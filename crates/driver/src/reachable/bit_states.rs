//! The reachable states of a program with machine integers, from those of the program over bits.
//!
//! Each number has all bits of its type there, so that the two programs have the same states.

use std::collections::{BTreeSet, HashMap};

use selvedge_check::{Exploration, Run, Stop, ThreadState, ValuesAsked};
use selvedge_ir::bits::Code;
use selvedge_ir::passes::blast::Blasted;
use selvedge_ir::{LocId, Program, Scope, Ty, Value, VarId};

use super::merged::visible;

/// A program and the one over bits.
pub(super) struct BitStates<'a> {
    program: &'a Program,
    bits: &'a Blasted,
    /// The variable that each bit belongs to.
    owners: HashMap<VarId, VarId>,
}

impl<'a> BitStates<'a> {
    pub(super) fn new(program: &'a Program, bits: &'a Blasted) -> BitStates<'a> {
        let codes = bits.lift.map.vars.iter_enumerated();
        let owners = codes.flat_map(|(var, code)| code.bits.iter().map(move |bit| (*bit, var))).collect();
        BitStates { program, bits, owners }
    }

    /// Returns whether the value of a bit is wanted.
    pub(super) fn is_asked(&self, asked: ValuesAsked<'_>, loc: LocId, bit: VarId) -> bool {
        self.owners.get(&bit).is_some_and(|var| asked(loc, *var))
    }

    /// Returns the states of the program with machine integers.
    pub(super) fn lifted(&self, seen: Exploration, run: &Run<'_>) -> Result<Exploration, Stop> {
        let mut thread_states = BTreeSet::new();
        for state in &seen.thread_states {
            self.lift(state, run, &mut thread_states)?;
        }
        Ok(Exploration { thread_states, ..seen })
    }

    /// Adds a state; several if only some bits of a number are free.
    fn lift(&self, state: &ThreadState, run: &Run<'_>, found: &mut BTreeSet<ThreadState>) -> Result<(), Stop> {
        run.tick()?;
        let code = |var: &VarId| &self.bits.lift.map.vars[*var];
        let vars = visible(self.program, state.loc);
        let is_free = |bit: &VarId| state.free.binary_search(bit).is_ok();
        let partly = |var: &&VarId| code(var).bits.iter().any(is_free) && !code(var).bits.iter().all(is_free);
        if let Some(var) = vars.iter().find(partly) {
            let bit = code(var).bits.iter().copied().find(|bit| is_free(bit)).expect("a part of them is free");
            for value in [false, true] {
                self.lift(&self.fixed(state, bit, value), run, found)?;
            }
            return Ok(());
        }
        let own: HashMap<VarId, Value> = self.values(state);
        let value = |var: &VarId| number(code(var), &own);
        let mut values = vars.iter().map(value);
        let free = vars.iter().filter(|var| code(var).bits.iter().any(is_free)).copied();
        let mut free: Vec<VarId> = free.collect();
        free.sort_unstable();
        let n_of = |scope: Scope| self.program.vars.iter().filter(|var| var.scope == scope).count();
        let shared: Vec<Value> = values.by_ref().take(n_of(Scope::Shared)).collect();
        let of_thread: Vec<Value> = values.by_ref().take(n_of(Scope::Thread)).collect();
        found.insert(ThreadState { loc: state.loc, shared, vars: of_thread, locals: values.collect(), free });
        Ok(())
    }

    /// Returns the values of the bits of a state.
    fn values(&self, state: &ThreadState) -> HashMap<VarId, Value> {
        let values = state.shared.iter().chain(&state.vars).chain(&state.locals).copied();
        visible(&self.bits.program, state.loc).into_iter().zip(values).collect()
    }

    /// Returns the part of a state in which a free bit has a value.
    fn fixed(&self, state: &ThreadState, bit: VarId, value: bool) -> ThreadState {
        let mut state = state.clone();
        state.free.retain(|other| *other != bit);
        let vars = visible(&self.bits.program, state.loc);
        let values = state.shared.iter_mut().chain(&mut state.vars).chain(&mut state.locals);
        let own = vars.into_iter().zip(values).filter(|(var, _)| *var == bit);
        own.for_each(|(_, old)| *old = Value::Bool(value));
        state
    }
}

/// Returns the value that some bits stand for.
fn number(code: &Code, values: &HashMap<VarId, Value>) -> Value {
    let is_set = |bit: &VarId| values.get(bit) == Some(&Value::Bool(true));
    match code.ty {
        Ty::Machine(ty) => {
            let bits = code.bits.iter().enumerate().filter(|(_, bit)| is_set(bit));
            Value::Machine(ty, bits.fold(0, |number, (place, _)| number | 1 << place))
        }
        Ty::Bool | Ty::Int => Value::Bool(code.bits.iter().any(is_set)),
    }
}
