//! Everything that can be reached, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Answer, Asked, Status, ThreadState};
use selvedge_ir::flow::Flow;
use selvedge_ir::{LocId, Scope, VarId};
use serde_json::{Value, json};

use super::ValueView;
use super::report::list;
use crate::annotated_trace::Context;
use crate::names::vars_of;

/// Returns what can be reached, and the decided assertions, whose evidence is elsewhere in the report.
pub fn reachable(context: Context<'_>, answer: &Answer) -> Value {
    let flow = Flow::new(context.program);
    let seen = answer.exploration.as_ref();
    let states = seen.iter().flat_map(|seen| seen.thread_states.iter().map(|state| (&seen.any, state)));
    let status = |(asked, status): &(Asked, Status)| {
        let (Asked::Assert(edge), true) = (asked, !matches!(status, Status::Unknown(_))) else { return None };
        let span = context.map.edges[*edge].span;
        let line = context.source.line(span.start as usize);
        Some(json!({ "line": line, "text": context.source.flat(span), "status": status.name() }))
    };
    let n_thread_states = seen.and_then(|seen| seen.n_thread_states(context.program));
    let n_thread_states = n_thread_states.and_then(|number| u64::try_from(number).ok());
    json!({
        "engine": answer.engine,
        "seconds": answer.times.total().as_secs_f64(),
        "complete": seen.is_some_and(|seen| !seen.truncated),
        "states": seen.map_or(0, |seen| seen.n_states),
        "in_sets": seen.is_some_and(|seen| seen.in_sets),
        "n_thread_states": n_thread_states,
        "assertions": answer.each.iter().flatten().filter_map(status).collect::<Vec<_>>(),
        "thread_states": list(states, |(any, state)| view(context, &flow, any, state)),
    })
}

/// Returns a state of a thread; a value is null if no thread reads it any more, or if every value occurs.
fn view(context: Context<'_>, flow: &Flow, any: &BTreeSet<(LocId, VarId)>, state: &ThreadState) -> Value {
    let program = context.program;
    let proc = &program.procs[program.locs[state.loc].proc];
    let value = |var: VarId, value: selvedge_ir::Value| -> Option<ValueView> {
        let is_any = any.contains(&(state.loc, var)) || state.free.contains(&var);
        if is_any { None } else { Some(value.into()) }
    };
    let named = |vars: &[VarId], values: &[selvedge_ir::Value]| -> BTreeMap<&str, Option<ValueView>> {
        vars.iter().zip(values).map(|(var, of)| (program.vars[*var].name.as_str(), value(*var, *of))).collect()
    };
    let spans = flow.out(state.loc).iter().map(|edge| context.map.edges[*edge].span);
    json!({
        "procedure": proc.name,
        "line": spans.min().map(|span| context.source.line(span.start as usize)),
        "shared": named(&vars_of(program, Scope::Shared), &state.shared),
        "thread": named(&vars_of(program, Scope::Thread), &state.vars),
        "locals": named(&proc.locals, &state.locals),
    })
}
