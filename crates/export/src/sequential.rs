//! Prints threads that take turns as one sequential program.

use selvedge_frontend::Context;
use selvedge_ir::passes::fix_threads::FixedThreads;
use selvedge_ir::passes::sequentialize::{Purpose, Sequential};
use selvedge_ir::{EdgeId, ProcId};

use crate::bp::{Notes, print};

/// Prints the sequential program of a list of threads with a number of contexts each. `context` is the program that the
/// list was made from.
pub fn render(context: Context<'_>, list: &FixedThreads, sequential: &Sequential, contexts: u32) -> String {
    let edge = |id: EdgeId| remark(context, list, sequential.lift.purpose(id));
    let proc = |id: ProcId| {
        let name = &sequential.program.procs[id].name;
        Some(match sequential.program.entries.iter().any(|entry| entry.proc == id) {
            true => "The threads, one after the other, and the Checker.".to_string(),
            false => format!("From {name}."),
        })
    };
    print(&sequential.program, &Notes { head: head(context, list, contexts), proc: &proc, edge: &edge })
}

fn head(context: Context<'_>, list: &FixedThreads, contexts: u32) -> Vec<String> {
    let threads: Vec<&str> = list.program.entries.iter().map(|entry| entry.name.as_str()).collect();
    let (name, plural) = (&context.source.name, if contexts == 1 { "" } else { "s" });
    let mut lines = vec![
        format!("The threads of {name} in turns, with at most {contexts} context{plural} each, as one thread."),
        format!("The turns: {}.", threads.join(", ")),
        "x_1 is the shared variable x in the first context of the running thread, and so on. What it holds at the"
            .to_string(),
        "beginning of a later context is guessed (x_guess_2, ..); the Checker at the end of main drops wrong guesses."
            .to_string(),
        "context_0, .. count the contexts from 0, lowest bit first. over: the running thread makes no more steps."
            .to_string(),
        "failed: an error occurred, which counts if the Checker confirms all guesses.".to_string(),
    ];
    if contexts == 1 {
        lines.truncate(2);
    }
    lines
}

/// Returns the comment on an edge.
fn remark(context: Context<'_>, list: &FixedThreads, purpose: &Purpose) -> Option<String> {
    let thread =
        |entry: &selvedge_ir::EntryId| format!("thread {} ({})", entry.index(), list.program.entries[*entry].name);
    Some(match purpose {
        Purpose::Guess => "the later contexts begin with guesses".to_string(),
        Purpose::Prelude => "init runs alone".to_string(),
        Purpose::Keep => "what the initial values of threads read".to_string(),
        Purpose::Begin(entry, _) => format!("{} begins, in its first context", thread(entry)),
        Purpose::Root(..) | Purpose::Back => return None,
        Purpose::Idle(entry) => format!("{} idles in all its contexts", thread(entry)),
        Purpose::Check => "the Checker".to_string(),
        Purpose::Confirm => return None,
        Purpose::Advance => "the next context".to_string(),
        Purpose::Stop => "the thread stops here".to_string(),
        Purpose::Leave => "the thread makes no more steps".to_string(),
        Purpose::Step(edge) => statement(context, list, *edge)?,
        Purpose::Fails(edge) => format!("{} fails", statement(context, list, *edge)?),
        Purpose::Reached => "an error location".to_string(),
    })
}

/// Returns the position and the text of the statement that an edge of the list's program was made from.
fn statement(context: Context<'_>, list: &FixedThreads, edge: EdgeId) -> Option<String> {
    let span = context.map.edges.get(list.lift.old_edge(edge)?)?.span;
    let text: Vec<&str> = span.of(context.source.text()).split_whitespace().collect();
    Some(format!("{}:{}: {}", context.source.name, context.source.line(span.start as usize), text.join(" ")))
}
