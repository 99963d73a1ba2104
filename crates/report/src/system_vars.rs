//! The variables that are shown of a system in place of those of its program: of a thread-transition system the shared
//! state and the local state of each thread, of a Petri net the number of tokens on each place. Their numbers follow
//! those of the program's variables.

use selvedge_frontend::Context;
use selvedge_ir::span::{SourceMap, SystemMap};
use selvedge_ir::{Scope, Value, VarId};
use selvedge_replay::{State, Thread};

/// The local state of a thread that has stepped aside, as part of a target.
const ASIDE: Value = Value::Int(-1);

/// The variables of a system; none for a program that was not made from one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SystemVars<'a> {
    map: Option<&'a SystemMap>,
    names: Vec<(Scope, &'a str)>,
    /// The number of variables of the program.
    first: usize,
}

impl<'a> SystemVars<'a> {
    pub(crate) fn new(context: Context<'a>) -> SystemVars<'a> {
        let map = context.map.system.as_ref();
        let names = match map.map(|system| &system.net) {
            None => Vec::new(),
            Some(Some(net)) => net.places.iter().map(|place| (Scope::Shared, place.as_str())).collect(),
            Some(None) => vec![(Scope::Shared, "shared"), (Scope::Thread, "local")],
        };
        SystemVars { map, names, first: context.program.vars.len() }
    }

    /// Lists the variables of a scope.
    pub(crate) fn of_scope(&self, scope: Scope) -> Vec<VarId> {
        let all = self.names.iter().enumerate().filter(|(_, (of, _))| *of == scope);
        all.map(|(number, _)| VarId::new(self.first + number)).collect()
    }

    /// Lists all variables.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Scope, &'a str)> {
        self.names.iter().copied()
    }

    /// Returns the name of a variable, if it is one of the system.
    pub(crate) fn name(&self, var: VarId) -> Option<&'a str> {
        self.names.get(var.index().checked_sub(self.first)?).map(|(_, name)| *name)
    }

    /// Returns the values of the shared variables.
    pub(crate) fn shared(&self, state: &State) -> Vec<Value> {
        let Some(map) = self.map else { return Vec::new() };
        let Some(net) = &map.net else { return vec![Value::Int(i64::from(shared_state(map, state)))] };
        let mut tokens = vec![0; net.places.len()];
        for thread in &state.threads {
            let place = local_state(map, thread).and_then(|local| (local as usize).checked_sub(1));
            tokens.get_mut(place.unwrap_or(usize::MAX)).into_iter().for_each(|count| *count += 1);
        }
        tokens.into_iter().map(Value::Int).collect()
    }

    /// Returns the values of a thread's variables.
    pub(crate) fn of_thread(&self, thread: &Thread) -> Vec<Value> {
        match self.map {
            Some(map) if map.net.is_none() => {
                vec![local_state(map, thread).map_or(ASIDE, |local| Value::Int(i64::from(local)))]
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// Returns the word for a value that is no state of the system.
    pub(crate) fn word(&self, var: VarId, value: Value) -> Option<String> {
        let map = self.map.filter(|map| map.net.is_none())?;
        let is_beyond = match self.name(var)? {
            "shared" => value.number() >= i128::from(map.n_shared),
            _ => value == ASIDE,
        };
        is_beyond.then(|| "target".to_owned())
    }
}

/// Returns whether a state is inside of a rule that a thread has begun.
pub(crate) fn is_inside(map: &SystemMap, state: &State, thread: selvedge_ir::trace::ThreadId) -> bool {
    let is_within = state.thread(thread).is_some_and(|thread| map.within.contains(&thread.top().loc));
    is_within || map.net.as_ref().is_some_and(|net| shared_state(map, state) != net.ready)
}

/// Returns what a thread of a system is called: in a net it is the driver or a token.
pub(crate) fn thread_word(map: &SourceMap, thread: &Thread) -> Option<&'static str> {
    let system = map.system.as_ref()?;
    Some(match (&system.net, local_state(system, thread)) {
        (None, _) => "thread",
        (Some(_), Some(0)) => "driver",
        (Some(_), _) => "token",
    })
}

/// Returns the local state of a thread; `None` if it has stepped aside.
pub(crate) fn local_state(map: &SystemMap, thread: &Thread) -> Option<u32> {
    let (own, states) = &map.own;
    let place = |var: &VarId| thread.vars.get(var.index().checked_sub(map.shared.len())?);
    let bits = own.iter().map(|var| place(var) == Some(&Value::Bool(true)));
    let number = bits.rev().fold(0, |number, bit| number << 1 | usize::from(bit));
    let of_loc = || map.locals.get(&thread.top().loc).copied();
    of_loc().or_else(|| states.get(number.checked_sub(1)?).copied())
}

/// Returns the number of the shared state.
fn shared_state(map: &SystemMap, state: &State) -> u32 {
    let bits = map.shared.iter().map(|var| state.shared.get(var.index()) == Some(&Value::Bool(true)));
    bits.rev().fold(0, |number, bit| number << 1 | u32::from(bit))
}
