//! The canonical form of states that differ only in the numbers of their threads.

use selvedge_check::ThreadScope;
use selvedge_check::execution::{State, Thread};
use selvedge_ir::trace::ThreadId;

/// Sorts the threads by their state and numbers them in that order.
///
/// Two states have the same result exactly if a renaming of threads turns one into the other: holding the atomic flag
/// and running the prelude are part of a thread's state. Apart from these two distinctions the interpreter treats
/// threads alike, so renamed states have renamed successors, and a search may keep one of them. The number of threads
/// created so far matters only if it is bounded.
pub fn canonical(mut state: State, threads: ThreadScope) -> State {
    let holder = state.holder;
    let prelude = state.prelude.as_ref().map(|prelude| prelude.thread);
    state.threads.sort_by(|a, b| {
        let key = |thread: &Thread| (holder == Some(thread.id), prelude == Some(thread.id));
        key(a).cmp(&key(b)).then_with(|| (&a.entry, &a.vars, &a.stack).cmp(&(&b.entry, &b.vars, &b.stack)))
    });
    for (number, thread) in state.threads.iter_mut().enumerate() {
        let new = ThreadId(number as u32);
        if holder == Some(thread.id) {
            state.holder = Some(new);
        }
        if let Some(running) = &mut state.prelude
            && prelude == Some(thread.id)
        {
            running.thread = new;
        }
        thread.id = new;
    }
    if !matches!(threads, ThreadScope::Created(_)) {
        state.next_thread = state.threads.len() as u32;
    }
    if let Some(running) = &mut state.prelude {
        running.waiting.sort();
    }
    state
}
