//! Everything that can be reached, as JSON.

use std::collections::BTreeMap;

use selvedge_check::{Answer, Asked, Status, ThreadState};
use selvedge_ir::flow::Flow;
use selvedge_ir::{Scope, Value, VarId};
use serde::Serialize;

use super::ValueView;
use crate::annotated_trace::Context;

/// The reachable states.
#[derive(Clone, Debug, Serialize)]
pub struct ReachableView {
    pub engine: &'static str,
    pub seconds: f64,
    /// Set if everything was seen.
    pub complete: bool,
    /// The number of reachable states of the whole program; threads have no numbers in it.
    pub states: usize,
    /// The assertions that were decided; `each` of the result has the evidence.
    pub assertions: Vec<StatusView>,
    pub thread_states: Vec<ThreadStateView>,
}

/// The answer for an assertion.
#[derive(Clone, Debug, Serialize)]
pub struct StatusView {
    pub line: usize,
    pub text: String,
    /// `violated`, `holds` or `unreachable`.
    pub status: &'static str,
}

/// The state of one thread.
#[derive(Clone, Debug, Serialize)]
pub struct ThreadStateView {
    pub procedure: String,
    /// The line of the statement that the thread executes next; null at the end of a procedure.
    pub line: Option<usize>,
    pub shared: BTreeMap<String, ValueView>,
    pub thread: BTreeMap<String, ValueView>,
    pub locals: BTreeMap<String, ValueView>,
}

impl ReachableView {
    /// Creates the view of an answer that tells what can be reached.
    pub fn new(context: Context<'_>, answer: &Answer) -> ReachableView {
        let flow = Flow::new(context.program);
        let seen = answer.exploration.as_ref();
        let status = |(asked, status): &(Asked, Status)| {
            let (Asked::Assert(edge), true) = (asked, !matches!(status, Status::Unknown(_))) else { return None };
            let span = context.map.edges[*edge].span;
            let line = context.source.line(span.start as usize);
            Some(StatusView { line, text: context.source.flat(span), status: status.name() })
        };
        ReachableView {
            engine: answer.engine,
            seconds: answer.times.total().as_secs_f64(),
            complete: seen.is_some_and(|seen| !seen.truncated),
            states: seen.map_or(0, |seen| seen.n_states),
            assertions: answer.each.iter().flatten().filter_map(status).collect(),
            thread_states: seen.map_or(Vec::new(), |seen| {
                seen.thread_states.iter().map(|state| view(context, &flow, state)).collect()
            }),
        }
    }
}

fn view(context: Context<'_>, flow: &Flow, state: &ThreadState) -> ThreadStateView {
    let program = context.program;
    let proc = &program.procs[program.locs[state.loc].proc];
    let of_scope = |scope: Scope| -> Vec<VarId> {
        program.vars.iter_enumerated().filter(|(_, var)| var.scope == scope).map(|(id, _)| id).collect()
    };
    let named = |vars: &[VarId], values: &[Value]| {
        vars.iter().zip(values).map(|(var, value)| (program.vars[*var].name.clone(), (*value).into())).collect()
    };
    let spans = flow.out(state.loc).iter().map(|edge| context.map.edges[*edge].span);
    ThreadStateView {
        procedure: proc.name.clone(),
        line: spans.min().map(|span| context.source.line(span.start as usize)),
        shared: named(&of_scope(Scope::Shared), &state.shared),
        thread: named(&of_scope(Scope::Thread), &state.vars),
        locals: named(&proc.locals, &state.locals),
    }
}
