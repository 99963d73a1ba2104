//! The initial states.

use selvedge_check::{Run, Stop, ThreadScope};
use selvedge_transition::macro_step::explicit::Model;
use selvedge_transition::macro_step::explicit::parts::{LocalId, Parts, SharedId};
use selvedge_transition::macro_step::explicit::start::thread;
use selvedge_transition::step::vars::initial_counts;
use selvedge_transition::tts_extract::multisets;

use super::store::State;
use crate::bounded::bound;

/// Returns all states with a shared valuation and the initial threads.
pub(super) fn states(
    model: &Model<'_>,
    parts: &mut Parts,
    shared: SharedId,
    run: &Run<'_>,
) -> Result<Vec<State>, Stop> {
    let bits = parts.shared[shared as usize].clone();
    let mut options: Vec<Vec<LocalId>> = Vec::new();
    for id in model.program().entries.indices() {
        let mut locals: Vec<LocalId> =
            thread(model, id, &bits, run)?.into_iter().map(|chosen| parts.local(chosen.part)).collect();
        locals.sort_unstable();
        locals.dedup();
        options.push(locals);
    }
    let mut markings = initial_counts(model.program(), bound(&model.task));
    markings.sort_unstable();
    let mut states = Vec::new();
    for marking in markings {
        let kinds: Vec<(&[LocalId], u32)> =
            marking.iter().map(|(id, count)| (options[id.index()].as_slice(), *count)).collect();
        multisets(&kinds, &mut Vec::new(), &mut |threads| {
            run.tick()?;
            let mut threads = threads.to_vec();
            threads.sort_unstable();
            let created = if counts_created(model) { threads.len() as u32 } else { 0 };
            states.push(State { shared, holder: None, created, threads });
            Ok(())
        })?;
    }
    Ok(states)
}

/// Returns whether the question bounds the number of threads that are created.
pub(super) fn counts_created(model: &Model<'_>) -> bool {
    matches!(model.task.threads, ThreadScope::Created(_))
}
