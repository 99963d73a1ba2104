//! The initial states.

use selvedge_check::{Run, Stop, ThreadScope};
use selvedge_ir::{Count, EntryId, StartThread, Value};
use selvedge_transition::macro_step::explicit::Model;
use selvedge_transition::macro_step::explicit::parts::{LocalId, Parts, SharedId};
use selvedge_transition::macro_step::explicit::start::thread;
use selvedge_transition::macro_step::explicit::values::choices_of;

use super::store::State;
use crate::bounded::bound;

/// Returns the numbers of initial threads of each kind that the program and the bound allow.
pub(super) fn initial_counts(model: &Model<'_>) -> Vec<Vec<(EntryId, u32)>> {
    let bound = bound(&model.task);
    let mut counts: Vec<Vec<(EntryId, u32)>> = vec![Vec::new()];
    for (id, entry) in model.program().entries.iter_enumerated() {
        let extend = |marking: Vec<(EntryId, u32)>| {
            let room = bound - marking.iter().map(|(_, count)| count).sum::<u32>();
            let counts: Vec<u32> = match entry.count {
                Count::Exactly(count) => (count..=count).filter(|count| *count <= room).collect(),
                Count::AtMost(count) => (0..=count.min(room)).collect(),
                Count::Any => (0..=room).collect(),
            };
            counts.into_iter().map(move |count| marking.iter().copied().chain([(id, count)]).collect())
        };
        counts = counts.into_iter().flat_map(extend).collect();
    }
    counts
}

/// Returns all states with a shared valuation and the initial threads.
pub(super) fn states(
    model: &Model<'_>,
    parts: &mut Parts,
    shared: SharedId,
    run: &Run<'_>,
    found: &mut dyn FnMut(State) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let bits = parts.shared[shared as usize].clone();
    let mut options: Vec<Vec<LocalId>> = Vec::new();
    for id in model.program().entries.indices() {
        let mut locals: Vec<LocalId> =
            thread(model, id, &bits, run)?.into_iter().map(|chosen| parts.local(chosen.part)).collect();
        locals.sort_unstable();
        locals.dedup();
        options.push(locals);
    }
    for marking in initial_counts(model) {
        let kinds: Vec<(&[LocalId], u32)> =
            marking.iter().map(|(id, count)| (options[id.index()].as_slice(), *count)).collect();
        multisets(&kinds, &mut Vec::new(), run, &mut |threads| {
            let mut threads = threads.to_vec();
            threads.sort_unstable();
            let created = if counts_created(model) { threads.len() as u32 } else { 0 };
            found(State { shared, holder: None, created, threads })
        })?;
    }
    Ok(())
}

/// Returns whether the question bounds the number of threads that are created.
pub(super) fn counts_created(model: &Model<'_>) -> bool {
    matches!(model.task.threads, ThreadScope::Created(_))
}

/// Calls `found` with every way to draw from each list as often as its number says, in any order.
fn multisets(
    kinds: &[(&[LocalId], u32)],
    drawn: &mut Vec<LocalId>,
    run: &Run<'_>,
    found: &mut dyn FnMut(&[LocalId]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    run.tick()?;
    match kinds.split_first() {
        None => found(drawn),
        Some(((_, 0), rest)) => multisets(rest, drawn, run, found),
        Some(((options, count), rest)) => {
            for (at, local) in options.iter().enumerate() {
                drawn.push(*local);
                let mut kinds = vec![(&options[at..], count - 1)];
                kinds.extend_from_slice(rest);
                multisets(&kinds, drawn, run, found)?;
                drawn.pop();
            }
            Ok(())
        }
    }
}

/// Returns some initial threads that the program allows, for executions that end before these begin to run.
pub(super) fn any_initial_threads(model: &Model<'_>) -> Vec<StartThread> {
    let marking = initial_counts(model).into_iter().next().unwrap_or_default();
    let start = |id: EntryId| {
        let init = model.program().entries[id].init.iter().map(|(_, rhs)| rhs);
        let n_choices = choices_of(init).last().map_or(0, |last| *last as usize + 1);
        StartThread { entry: id, choices: vec![Value::Bool(false); n_choices], fresh: Vec::new() }
    };
    marking.into_iter().flat_map(|(id, count)| (0..count).map(move |_| start(id))).collect()
}
