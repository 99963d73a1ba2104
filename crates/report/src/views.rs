//! What is shown of variables, procedures and values that the source does not have, or writes in another way.

use std::collections::BTreeMap;

use selvedge_ir::span::{SourceMap, View};
use selvedge_ir::trace::ThreadId;
use selvedge_ir::{ProcId, Value, VarId};
use selvedge_replay::Thread;

use crate::annotated_trace::Change;
use crate::thread_names::ThreadNames;

/// The names of the threads that hold locks. The value of a lock does not tell; the one that took it last is it.
pub(crate) type Holders = BTreeMap<VarId, String>;

/// Returns whether the source does not have a variable.
pub(crate) fn is_hidden(map: &SourceMap, var: VarId) -> bool {
    map.views.get(&var) == Some(&View::Hidden)
}

/// Returns whether the source does not have a procedure.
pub(crate) fn is_wrapper(map: &SourceMap, proc: ProcId) -> bool {
    map.wrappers.contains_key(&proc)
}

/// Returns how many callers are below the running procedure.
pub(crate) fn depth(map: &SourceMap, thread: &Thread) -> usize {
    thread.stack.iter().filter(|frame| !is_wrapper(map, frame.proc)).count().saturating_sub(1)
}

/// Returns a value in the words of the source, if it has some for it.
pub(crate) fn word(map: &SourceMap, holders: &Holders, var: VarId, value: Value) -> Option<String> {
    let number = value.number();
    let holder = || holders.get(&var).map_or("held".to_owned(), |name| format!("held by {name}"));
    match (map.views.get(&var), map.values.get(&var)) {
        (Some(View::Pointer), _) => pointer(map, number),
        (Some(View::Lock | View::ReadWriteLock), _) if number == 0 => Some("free".to_owned()),
        (Some(View::Lock), _) => Some(holder()),
        (Some(View::ReadWriteLock), _) if number == i128::from(u32::MAX) => Some(format!("{} for writing", holder())),
        (Some(View::ReadWriteLock), _) => Some(format!("held by {}", crate::names::count(number as usize, "reader"))),
        (Some(View::Words(words)), _) => words.iter().find(|(of, _)| *of == number).map(|(_, word)| word.clone()),
        (Some(View::Hidden) | None, Some(words)) => words.get(usize::try_from(number).ok()?).cloned(),
        (Some(View::Hidden) | None, None) => None,
    }
}

fn pointer(map: &SourceMap, number: i128) -> Option<String> {
    match u64::try_from(number).ok()? {
        0 => Some("NULL".to_owned()),
        address => map.addresses.get(&address).map(|name| format!("&{name}")),
    }
}

/// Notes who holds the locks that a step of a thread has changed.
pub(crate) fn follow(
    map: &SourceMap,
    holders: &mut Holders,
    names: &ThreadNames,
    thread: ThreadId,
    changes: &[Change],
) {
    for change in changes {
        if matches!(map.views.get(&change.var), Some(View::Lock | View::ReadWriteLock)) {
            match change.after.number() {
                0 => holders.remove(&change.var),
                _ => holders.insert(change.var, names.of(thread)),
            };
        }
    }
}
