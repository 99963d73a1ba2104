//! Thread linear interfaces with final localized states, for programs without calls.
//!
//! The effects of a template have the shared states with which the turns of a thread begin and end; here they also have
//! the location of the thread at the end of its last turn. Path edges suffice for that, with two additions: a thread
//! may idle at any location, but path edges resume only where a visible step begins; and a thread that has ended has no
//! location. Private steps of a thread in a turn are found in the previous turn, with the same shared states, so
//! nothing else is missing.

use std::collections::BTreeMap;

use selvedge_ir::LocId;
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use crate::thread_paths::columns::Side;
use crate::thread_paths::template_paths::Kind;

/// The location of a thread; `None` if it has ended.
pub(super) type Stand = Option<LocId>;

/// For each location, the interfaces of threads that are there after their turns: over the current variables of the
/// thread, and over `In` and `Out` of all turns.
pub(super) type Interfaces = BTreeMap<Stand, Bdd>;

/// Computes the interfaces of a template in a number of rounds.
pub(super) fn interfaces(kind: &Kind<'_, '_>, rounds: u32) -> Result<Interfaces, OutOfNodes> {
    let mut all = Interfaces::new();
    for round in 1..=rounds {
        let mut longer = idle(kind, round, &all)?;
        for (stand, moved) in moved(kind, round)? {
            add(&mut longer, stand, &moved)?;
        }
        all = longer;
    }
    all.retain(|_, interfaces| !interfaces.is_false());
    Ok(all)
}

/// Returns the threads that do nothing in a round.
fn idle(kind: &Kind<'_, '_>, round: u32, before: &Interfaces) -> Result<Interfaces, OutOfNodes> {
    let (layout, columns) = (&kind.world.layout, &kind.world.columns);
    let [begun, ended] = [Side::In, Side::Out].map(|side| columns.column(layout, side, round));
    let same = kind.known(round).and(&columns.equal(layout, &begun, &ended)?)?;
    before.iter().map(|(stand, interfaces)| Ok((*stand, interfaces.and(&same)?))).collect()
}

/// Returns the threads that begin or continue in a round.
fn moved(kind: &Kind<'_, '_>, round: u32) -> Result<Interfaces, OutOfNodes> {
    let world = kind.world;
    let (layout, columns) = (&world.layout, &world.columns);
    let (now, ended) = (columns.now(layout), columns.column(layout, Side::Out, round));
    let mut found = Interfaces::new();
    for ((loc, level), cell) in kind.cells.iter().filter(|((_, level), _)| level.now == round) {
        let standing = columns.renamed(layout, &cell.edges.and(&world.released)?, &[(&now, &ended)])?;
        add(&mut found, Some(*loc), &standing)?;
        for &id in world.flow.out(*loc) {
            if let Some(ending) = kind.ending(id, *level, &cell.edges)? {
                let gone = world.without_frame(world.program.locs[*loc].proc, &ending)?;
                add(&mut found, None, &columns.renamed(layout, &gone, &[(&now, &ended)])?)?;
            }
        }
    }
    Ok(found)
}

fn add(all: &mut Interfaces, stand: Stand, more: &Bdd) -> Result<(), OutOfNodes> {
    let known = match all.get(&stand) {
        Some(known) => known.or(more)?,
        None => more.clone(),
    };
    all.insert(stand, known);
    Ok(())
}
