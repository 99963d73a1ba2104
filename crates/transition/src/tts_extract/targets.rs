//! The targets of the system: configurations to be covered.
//!
//! An error of one thread is a pair of states from which the thread runs into it. A meeting is a shared state with
//! threads at its locations, for all values of their variables: one target for each.

use selvedge_check::Stop;
use selvedge_ir::LocId;
use selvedge_ir::tts::{Cover, LocalId, SharedId};

use super::views::Views;

/// Computes all targets, in ascending order.
pub(super) fn covers(views: &Views<'_, '_>) -> Result<Vec<Cover>, Stop> {
    let single = |(shared, local): &(SharedId, LocalId)| Cover { shared: *shared, threads: vec![*local] };
    let mut covers: Vec<Cover> = views.errors.iter().map(single).collect();
    for meeting in &views.model.task.target.together {
        for shared in views.seen.indices() {
            let groups: Vec<Vec<LocalId>> = meeting.iter().map(|loc| at(views, shared, *loc)).collect();
            draw(views, shared, meeting, &groups, &mut Vec::new(), &mut covers)?;
        }
    }
    covers.sort_unstable();
    covers.dedup();
    Ok(covers)
}

/// Returns the local states at a location that occur with a shared state.
fn at(views: &Views<'_, '_>, shared: SharedId, loc: LocId) -> Vec<LocalId> {
    let is_there = |local: &LocalId| views.parts.locals[views.ids.local(*local).0 as usize].loc == loc;
    views.seen[shared].ones().map(LocalId::from).filter(is_there).collect()
}

/// Adds all ways to draw one local state from each list; those of equal locations in ascending order.
fn draw(
    views: &Views<'_, '_>,
    shared: SharedId,
    meeting: &[LocId],
    groups: &[Vec<LocalId>],
    drawn: &mut Vec<LocalId>,
    covers: &mut Vec<Cover>,
) -> Result<(), Stop> {
    views.within(covers.len())?;
    let number = drawn.len();
    let Some(group) = groups.get(number) else {
        let mut threads = drawn.clone();
        threads.sort_unstable();
        covers.push(Cover { shared, threads });
        return Ok(());
    };
    let least = drawn.last().copied().filter(|_| meeting[number] == meeting[number - 1]);
    for local in group.iter().filter(|local| least.is_none_or(|least| **local >= least)) {
        drawn.push(*local);
        draw(views, shared, meeting, groups, drawn, covers)?;
        drawn.pop();
    }
    Ok(())
}
