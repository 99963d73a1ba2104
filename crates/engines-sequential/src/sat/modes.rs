//! The ways of getting summaries: reached ones, universal ones of all procedures, or universal ones on demand.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use selvedge_check::{Argument, Stop, Trace};
use selvedge_ir::callgraph::Through;
use selvedge_ir::{ProcId, Program, Target, VarId};
use selvedge_logic::aig::Lit;

use super::Recursion;
use super::call_effects::CallEffects;
use super::nest::nest;
use super::reach::{Errors, FoundError, Reach};
use super::root::Root;
use super::simulate::{ProcedureEnds, Renaming, Simulation, StateId};
use super::trace::{Tracer, Witness};
use super::unroll::{Closure, unroll};

pub(super) type KnownEffects = IndexVec<ProcId, Option<CallEffects>>;

/// Decides by summaries of reached entries: a fixed point from the start of the program (Fig. 4.3).
pub(super) fn reachable(sim: &mut Simulation<'_>) -> Result<Option<Trace>, Stop> {
    let none: KnownEffects = sim.program.procs.iter().map(|_| None).collect();
    let mut reach = Reach::new(sim, &none, Errors::Stop);
    reach.start();
    let Some(FoundError { state, record }) = reach.run()? else {
        reach.sim.close(Argument::FixedPoint);
        return Ok(None);
    };
    let formula = reach.sim.aig.and(reach.sim.states[state].guard, reach.records[record].reach);
    let model = reach.sim.queries.model(&reach.sim.aig, formula, reach.sim.run)?;
    let model = model.expect("the error was found to be reachable");
    Ok(Some(Tracer::new(reach.sim).found(&reach, state, record, &model)))
}

/// Decides by universal summaries of all procedures that can be called, callees first (§4.2).
pub(super) fn universal(sim: &mut Simulation<'_>, recursion: Recursion) -> Result<Option<Trace>, Stop> {
    let mut known: KnownEffects = sim.program.procs.iter().map(|_| None).collect();
    for component in called(sim) {
        summarise(sim, &mut known, &component, recursion)?;
    }
    let Some(witness) = witness(sim, &known)? else { return Ok(None) };
    let trace = Tracer::new(sim).witness(&witness);
    Ok(Some(trace.expect("universal summaries guess nothing")))
}

/// Decides by structural abstraction (Fig. 4.8): a call may do anything until an error that cannot be excluded leads
/// through it; then its procedure gets a summary, computed from the known effects of its callees.
///
/// *End.* Each round summarises one more procedure. *Why it is right.* Summaries of over-approximated callees
/// over-approximate, so an error that they exclude does not exist, and one whose path has no guess does.
pub(super) fn lazy(sim: &mut Simulation<'_>, recursion: Recursion) -> Result<Option<Trace>, Stop> {
    let components = called(sim);
    let may_fail = may_fail(sim.program, sim.target, sim);
    let mut known: KnownEffects =
        may_fail.iter().map(|may_fail| Some(CallEffects::Nondeterministic { may_fail: *may_fail })).collect();
    let first = sim.program.entries.iter().map(|entry| entry.proc).chain(sim.program.prelude);
    let mut stale: BTreeSet<ProcId> = first.collect();
    loop {
        for component in &components {
            let is_summarised = |proc: &ProcId| matches!(known[*proc], Some(CallEffects::Universal(_)));
            let calls_stale =
                |proc: &ProcId| sim.facts.calls.callees(*proc).iter().any(|callee| stale.contains(callee));
            let stays = component.iter().all(|proc| !stale.contains(proc))
                && !component.iter().any(|proc| is_summarised(proc) && calls_stale(proc));
            if !stays {
                summarise(sim, &mut known, component, recursion)?;
                stale.extend(component);
            }
        }
        let Some(witness) = witness(sim, &known)? else { return Ok(None) };
        match Tracer::new(sim).witness(&witness) {
            Ok(trace) => return Ok(Some(trace)),
            Err(guessed) => stale = BTreeSet::from([guessed]),
        }
    }
}

/// Returns the components of the procedures that can be called, callees first.
fn called(sim: &Simulation<'_>) -> Vec<Vec<ProcId>> {
    let called = sim.facts.calls.reachable_from_entries(sim.program);
    let components = sim.facts.calls.components().iter().filter(|procs| procs.iter().any(|proc| called[*proc]));
    components.cloned().collect()
}

/// Returns for each procedure whether it or one that it calls has an error.
fn may_fail(program: &Program, target: &Target, sim: &Simulation<'_>) -> IndexVec<ProcId, bool> {
    let asserts = target.asserts.iter().map(|edge| program.edges[*edge].from);
    let failing: BTreeSet<ProcId> =
        asserts.chain(target.locs.iter().copied()).map(|loc| program.locs[loc].proc).collect();
    let below = |proc: ProcId| sim.facts.calls.reachable([proc], Through::Calls);
    program
        .procs
        .indices()
        .map(|proc| below(proc).iter_enumerated().any(|(callee, reached)| *reached && failing.contains(&callee)))
        .collect()
}

/// Computes universal summaries of a component: by unrolling if it is not recursive, otherwise as the option says.
fn summarise(
    sim: &mut Simulation<'_>,
    known: &mut KnownEffects,
    component: &[ProcId],
    recursion: Recursion,
) -> Result<(), Stop> {
    if let [proc] = component
        && !sim.facts.calls.is_recursive(*proc)
    {
        known[*proc] = Some(CallEffects::Universal(unroll(sim, known, *proc, Closure::Either)?));
        return Ok(());
    }
    match recursion {
        Recursion::Fixpoint => fixpoint(sim, known, component),
        Recursion::Unroll => nest(sim, known, component),
    }
}

/// Computes universal summaries of a recursive component by a fixed point from all entries.
fn fixpoint(sim: &mut Simulation<'_>, known: &mut KnownEffects, component: &[ProcId]) -> Result<(), Stop> {
    for proc in component {
        known[*proc] = None;
    }
    let mut reach = Reach::new(sim, known, Errors::Collect);
    let records: Vec<usize> = component.iter().map(|proc| reach.enter_with_all_values(*proc)).collect();
    reach.run()?;
    let ends: Vec<ProcedureEnds> = records.into_iter().map(|record| reach.records[record].ends.clone()).collect();
    for (proc, ends) in component.iter().zip(ends) {
        known[*proc] = Some(CallEffects::Universal(ends));
    }
    sim.close(Argument::FixedPoint);
    Ok(())
}

/// Returns an error of the first procedures that the initial values allow.
fn witness(sim: &mut Simulation<'_>, known: &KnownEffects) -> Result<Option<Witness>, Stop> {
    let root = Root::new(sim);
    let Some(prelude) = sim.program.prelude else {
        let root = root.thread(sim, &[]);
        return first_error(sim, known, &root, root.main(sim.program), None, Lit::TRUE);
    };
    if let Some(witness) = first_error(sim, known, &root, prelude, None, Lit::TRUE)? {
        return Ok(Some(witness));
    }
    for exit in &ends(known, prelude).exits {
        let state = sim.states[*exit].clone();
        let actual = root.actual(sim, prelude);
        let (values, guard, renaming) = sim.instantiate(&state, &actual);
        let changed: Vec<(VarId, Lit)> = state.values.iter().zip(values).map(|((var, _), lit)| (var, lit)).collect();
        let root = root.thread(sim, &changed);
        let main = root.main(sim.program);
        if let Some(witness) = first_error(sim, known, &root, main, Some((*exit, renaming)), guard)? {
            return Ok(Some(witness));
        }
    }
    Ok(None)
}

fn first_error(
    sim: &mut Simulation<'_>,
    known: &KnownEffects,
    root: &Root,
    proc: ProcId,
    prelude: Option<(StateId, Renaming)>,
    condition: Lit,
) -> Result<Option<Witness>, Stop> {
    for failure in &ends(known, proc).failures {
        let state = sim.states[*failure].clone();
        let actual = root.actual(sim, proc);
        let (_, guard, renaming) = sim.instantiate(&state, &actual);
        let formula = sim.aig.and(guard, condition);
        if let Some(model) = sim.queries.model(&sim.aig, formula, sim.run)? {
            let error = (*failure, renaming);
            return Ok(Some(Witness { root: root.clone(), prelude, error, model }));
        }
    }
    Ok(None)
}

fn ends(known: &KnownEffects, proc: ProcId) -> &ProcedureEnds {
    match &known[proc] {
        Some(CallEffects::Universal(ends)) => ends,
        _ => unreachable!("the first procedures are summarised"),
    }
}
