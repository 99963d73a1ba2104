//! Decides every assertion and location of a target separately, in one run: errors are recorded, and the search
//! continues.
//!
//! An execution continues after an error, as if the error were not a target: so the path edges are those of the program
//! without a target, and each error is found as if it were the only one. Errors that were not recorded are unreachable.

use std::collections::BTreeSet;

use selvedge_check::{Findings, Run, Stop, Task};
use selvedge_ir::passes::slice;
use selvedge_ir::{EdgeId, LocId};

use super::certificate::SliceMap;
use super::solve::{Entries, MetError, OnError, Solver};

/// Decides each assertion and location of the target.
pub(super) fn check(task: &Task<'_>, run: &Run<'_>) -> Result<Findings, Stop> {
    let (sliced, results) = slice::run_with_results(task.program, task.target);
    let mut solver = Solver::new(&sliced.program, &sliced.target, run)?;
    solver.errors = OnError::Record(Vec::new());
    solver.run(Entries::Reached)?;
    let recorded = recorded(&mut solver);
    let back = SliceMap::new(&sliced.program, task.program, &sliced.lift, &results);
    let mut findings = Findings::default();
    for error in &recorded {
        let trace = sliced.lift.trace(&solver.trace(error)?);
        match error.assert {
            Some(edge) => findings.asserts.push((sliced.lift.edges[edge][0].edge, trace)),
            None => findings.locs.extend(back.locs.get(&error.loc).map(|loc| (*loc, trace))),
        }
    }
    findings.asserts.sort_by_key(|(edge, _)| *edge);
    findings.locs.sort_by_key(|(loc, _)| *loc);
    let reached: BTreeSet<LocId> =
        back.locs.iter().filter(|(loc, _)| !solver.edges[**loc].is_false()).map(|(_, old)| *old).collect();
    let is_unreachable = |edge: &EdgeId| !reached.contains(&task.program.edges[*edge].from);
    findings.unreachable = task.target.asserts.iter().copied().filter(is_unreachable).collect();
    findings.certificate = solver.certificate(task.program, &sliced.lift, &results)?;
    // Entering procedures with other values than the program does, for the certificate, may lead to other errors.
    if self::recorded(&mut solver).iter().any(|error| !is_known(&recorded, error)) {
        findings.certificate = None;
    }
    Ok(findings)
}

/// Returns the errors recorded so far, which stay recorded.
fn recorded(solver: &mut Solver<'_>) -> Vec<MetError> {
    match &solver.errors {
        OnError::End => Vec::new(),
        OnError::Record(recorded) => recorded.clone(),
    }
}

fn is_known(recorded: &[MetError], error: &MetError) -> bool {
    recorded.iter().any(|known| (known.loc, known.assert) == (error.loc, error.assert))
}
