//! One state for all that differ only in the numbers of their threads.

use selvedge_check::ThreadScope;
use selvedge_ir::trace::ThreadId;
use selvedge_replay::{State, Thread};

/// Sorts the threads by what they are and numbers them in that order.
///
/// Two states have the same result exactly if a renaming of threads turns one into the other: whether a thread holds
/// the atomic flag or runs the prelude is part of what it is. The interpreter treats threads alike but for these two
/// distinctions, so renamed states have renamed successors, and a search may keep one of them. How many threads have been
/// created matters only where that number is bounded.
pub(super) fn canonical(mut state: State, threads: ThreadScope) -> State {
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
