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
use crate::thread_paths::template_paths::TemplatePaths;

/// The location of a thread; `None` if it has ended.
pub(super) type FinalLoc = Option<LocId>;

/// For each location, the interfaces of threads that are there after their turns: over the current variables of the
/// thread, and over `In` and `Out` of all turns.
pub(super) type Interfaces = BTreeMap<FinalLoc, Bdd>;

/// Computes the interfaces of a template in a number of rounds.
pub(super) fn interfaces(template: &TemplatePaths<'_, '_>, rounds: u32) -> Result<Interfaces, OutOfNodes> {
    let mut all = Interfaces::new();
    for round in 1..=rounds {
        let mut longer = idle(template, round, &all)?;
        for (stand, moved) in moved(template, round)? {
            add(&mut longer, stand, &moved)?;
        }
        all = longer;
    }
    all.retain(|_, interfaces| !interfaces.is_false());
    Ok(all)
}

/// Returns the threads that do nothing in a round.
fn idle(template: &TemplatePaths<'_, '_>, round: u32, before: &Interfaces) -> Result<Interfaces, OutOfNodes> {
    let model = template.model;
    let [begun, ended] = [Side::In, Side::Out].map(|side| model.column(side, round));
    let same = template.known(round).and(&model.equal(&begun, &ended)?)?;
    before.iter().map(|(stand, interfaces)| Ok((*stand, interfaces.and(&same)?))).collect()
}

/// Returns the threads that begin or continue in a round.
fn moved(template: &TemplatePaths<'_, '_>, round: u32) -> Result<Interfaces, OutOfNodes> {
    let model = template.model;
    let (now, ended) = (model.now(), model.column(Side::Out, round));
    let mut found = Interfaces::new();
    for ((loc, level), cell) in template.cells.iter().filter(|((_, level), _)| level.now == round) {
        let standing = model.renamed(&cell.edges.and(&model.released)?, &[(&now, &ended)])?;
        add(&mut found, Some(*loc), &standing)?;
        for &id in model.flow.out(*loc) {
            if let Some(ending) = template.ending(id, *level, &cell.edges)? {
                let gone = model.without_frame(model.program.locs[*loc].proc, &ending)?;
                add(&mut found, None, &model.renamed(&gone, &[(&now, &ended)])?)?;
            }
        }
    }
    Ok(found)
}

fn add(all: &mut Interfaces, stand: FinalLoc, more: &Bdd) -> Result<(), OutOfNodes> {
    let known = match all.get(&stand) {
        Some(known) => known.or(more)?,
        None => more.clone(),
    };
    all.insert(stand, known);
    Ok(())
}
