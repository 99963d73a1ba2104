//! Path edges and summaries by a fixed point (thesis, Fig. 4.3).
//!
//! A *record* is a frame with the entry values for which it is explored: those of the call that made it. A call whose
//! entry values are covered by existing records (a formula with one quantifier alternation, equation 4.2) uses them;
//! any other call makes a record. The states that wait at a location are merged; a state is followed unless its guard
//! is unsatisfiable or everything it represents has been there before (equation 4.3).
//!
//! *Order.* That of [`super::program_facts::ProgramFacts::rank`]: callees before callers, returns last.
//!
//! *Invariant.* Between two rounds, everything that the followed states represent has its successors among the states
//! followed or waiting; every call is attached to records that cover it, and every summary of a record has been applied
//! to every call attached to it: including later calls, which line 19 of the figure misses.
//!
//! *End.* A state is followed, and a record made, only for some execution that was not there before: there are finitely
//! many pairs of an entry and a state.

use std::collections::BTreeMap;

use index_vec::IndexVec;
use selvedge_check::{Event, Stop};
use selvedge_ir::{LocId, ProcId};
use selvedge_logic::aig::Lit;

use super::call_effects::CallEffects;
use super::queries::{CopiedImage, Image, equal};
use super::root::Root;
use super::simulate::{CallSite, FrameId, Overlap, ProcedureEnds, Simulation, StateId, StateOutcome};

/// The exploration.
pub(super) struct Reach<'s, 'a> {
    pub(super) sim: &'s mut Simulation<'a>,
    /// The procedures whose effects are already known: their calls need no records.
    known: &'s IndexVec<ProcId, Option<CallEffects>>,
    /// The treatment of errors.
    errors: Errors,
    pub(super) records: Vec<EntryRecord>,
    of_proc: IndexVec<ProcId, Vec<usize>>,
    waiting: BTreeMap<((u32, u32), usize, LocId), StateId>,
    sites: Vec<(CallSite, usize)>,
}

/// The origin of a record.
#[derive(Clone, Debug)]
pub(super) enum Parent {
    /// The start of the program.
    Root(Root),
    /// The start of the initial thread, after the prelude has ended in this state of this record.
    Prelude(Root, StateId, usize),
    /// A call from a state of this record.
    Call(CallSite, usize),
    /// Any caller.
    AnyCaller,
}

/// A frame with the entry values for which it is explored.
pub(super) struct EntryRecord {
    pub(super) frame: FrameId,
    /// The condition on the frame's parameters, over the inputs on the path to the call.
    pub(super) reach: Lit,
    /// The entry values, for coverage queries; `None` if all are covered.
    entries: Option<CopiedImage>,
    /// The origin.
    pub(super) parent: Parent,
    history: BTreeMap<LocId, Vec<CopiedImage>>,
    /// The calls attached to it.
    sites: Vec<usize>,
    pub(super) ends: ProcedureEnds,
}

/// The treatment of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Errors {
    /// The first reachable error ends the exploration.
    Stop,
    /// An error is one possible end of a procedure.
    Collect,
}

/// A reachable error, and the record in which it was found.
pub(super) struct FoundError {
    pub(super) state: StateId,
    pub(super) record: usize,
}

impl<'s, 'a> Reach<'s, 'a> {
    pub(super) fn new(
        sim: &'s mut Simulation<'a>,
        known: &'s IndexVec<ProcId, Option<CallEffects>>,
        errors: Errors,
    ) -> Reach<'s, 'a> {
        let of_proc = sim.program.procs.iter().map(|_| Vec::new()).collect();
        Reach { sim, known, errors, records: Vec::new(), of_proc, waiting: BTreeMap::new(), sites: Vec::new() }
    }

    /// Adds a record for all entry values of a procedure.
    pub(super) fn enter_with_all_values(&mut self, proc: ProcId) -> usize {
        let frame = self.sim.frame(proc, None);
        self.record(frame, Lit::TRUE, None, Parent::AnyCaller)
    }

    /// Adds a record for the entry values of a procedure that some inputs produce under a guard.
    pub(super) fn enter(&mut self, proc: ProcId, entries: &Image, parent: Parent) -> usize {
        let vars = self.sim.facts.inputs(self.sim.program, proc);
        let shape = vars.into_iter().zip(entries.tuple.iter().copied()).collect();
        let frame = self.sim.frame(proc, Some(&shape));
        let own: Vec<Lit> = self.sim.frames[frame].entry.iter().map(|(_, lit)| lit).collect();
        let same = equal(&mut self.sim.aig, &own, &entries.tuple);
        let reach = self.sim.aig.and(entries.guard, same);
        let copied = CopiedImage::new(&mut self.sim.aig, entries, |_| true);
        self.record(frame, reach, Some(copied), parent)
    }

    fn record(&mut self, frame: FrameId, reach: Lit, entries: Option<CopiedImage>, parent: Parent) -> usize {
        let number = self.records.len();
        self.of_proc[self.sim.frames[frame].proc].push(number);
        let (history, sites, ends) = (BTreeMap::new(), Vec::new(), ProcedureEnds::default());
        self.records.push(EntryRecord { frame, reach, entries, parent, history, sites, ends });
        let entry = self.sim.entry(frame);
        self.wait(number, entry);
        number
    }

    /// Starts the program: with its prelude, if there is one.
    pub(super) fn start(&mut self) {
        let mut root = Root::new(self.sim);
        let proc = self.sim.program.prelude.unwrap_or_else(|| {
            root = root.thread(self.sim, &[]);
            root.main(self.sim.program)
        });
        let entries = root.entries(self.sim, proc, Lit::TRUE);
        self.enter(proc, &entries, Parent::Root(root));
    }

    /// Starts the initial thread if the prelude has come to its end.
    fn start_after(&mut self, record: usize, state: StateId) {
        let EntryRecord { parent: Parent::Root(root), frame, reach, .. } = &self.records[record] else { return };
        if self.sim.program.prelude != Some(self.sim.frames[*frame].proc) || root.has_thread() {
            return;
        }
        let (root, reach) = (root.clone(), *reach);
        let end = self.sim.states[state].clone();
        let values: Vec<_> = end.values.iter().collect();
        let root = root.thread(self.sim, &values);
        let main = root.main(self.sim.program);
        let guard = self.sim.aig.and(end.guard, reach);
        let entries = root.entries(self.sim, main, guard);
        self.enter(main, &entries, Parent::Prelude(root, state, record));
    }

    /// Follows waiting states until there are none, or an error is found.
    pub(super) fn run(&mut self) -> Result<Option<FoundError>, Stop> {
        let mut n_rounds = 0;
        while let Some(((_, record, loc), state)) = self.waiting.pop_first() {
            self.sim.run.check_limits()?;
            n_rounds += 1;
            if n_rounds % 64 == 0 {
                let nodes = self.sim.aig.node_count();
                self.sim.run.event(Event::Diagrams { rounds: n_rounds, waiting: self.waiting.len(), nodes });
            }
            if self.is_new(record, loc, state)?
                && let Some(found) = self.follow(record, loc, state)?
            {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    fn wait(&mut self, record: usize, state: StateId) {
        let loc = self.sim.states[state].loc;
        let key = (self.sim.facts.rank[loc], record, loc);
        let merged = match self.waiting.get(&key) {
            Some(other) => self.sim.merge(*other, state, Overlap::Possible),
            None => state,
        };
        self.waiting.insert(key, merged);
    }

    /// Returns whether a state represents something that has not been at its location, and records it if so.
    fn is_new(&mut self, record: usize, loc: LocId, state: StateId) -> Result<bool, Stop> {
        let reach = self.records[record].reach;
        if !self.sim.is_feasible(state, reach)? {
            return Ok(false);
        }
        if !self.sim.facts.is_join(loc) {
            return Ok(true);
        }
        let mut image = self.sim.image(state);
        image.guard = self.sim.aig.and(image.guard, reach);
        let before = self.records[record].history.entry(loc).or_default();
        let is_new = before.is_empty() || !is_covered(self.sim, &image, &before.iter().collect::<Vec<_>>())?;
        if is_new {
            before.push(self.sim.copied_image(state));
        }
        Ok(is_new)
    }

    fn follow(&mut self, record: usize, loc: LocId, state: StateId) -> Result<Option<FoundError>, Stop> {
        let program = self.sim.program;
        if self.sim.target.has_loc(loc) {
            let error = self.sim.error_here(state);
            return self.fail(record, error);
        }
        if loc == program.procs[program.locs[loc].proc].exit {
            self.records[record].ends.exits.push(state);
            self.start_after(record, state);
            return self.apply_to_all(record, state);
        }
        for edge in self.sim.facts.flow.out(loc).to_vec() {
            let outcomes = self.sim.step(state, edge);
            let found = self.take(record, outcomes)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn take(&mut self, record: usize, outcomes: Vec<StateOutcome>) -> Result<Option<FoundError>, Stop> {
        for outcome in outcomes {
            let found = match outcome {
                StateOutcome::Next(state) => {
                    self.wait(record, state);
                    None
                }
                StateOutcome::Error(state) => self.fail(record, state)?,
                StateOutcome::Call(site) => self.call(record, site)?,
            };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Handles a possible error, which is one if its guard is satisfiable. A collected error is handed to the callers
    /// if the record has not failed from these entry values before.
    fn fail(&mut self, record: usize, state: StateId) -> Result<Option<FoundError>, Stop> {
        let reach = self.records[record].reach;
        if !self.sim.is_feasible(state, reach)? {
            return Ok(None);
        }
        if self.errors == Errors::Stop {
            return Ok(Some(FoundError { state, record }));
        }
        let failures = self.records[record].ends.failures.iter();
        let own: Vec<CopiedImage> = failures.map(|failure| self.sim.copied_image(*failure)).collect();
        let image = self.sim.image(state);
        if !own.is_empty() && is_covered(self.sim, &image, &own.iter().collect::<Vec<_>>())? {
            return Ok(None);
        }
        self.records[record].ends.failures.push(state);
        self.apply_to_all(record, state)
    }

    fn apply_to_all(&mut self, record: usize, summary: StateId) -> Result<Option<FoundError>, Stop> {
        for number in self.records[record].sites.clone() {
            let (site, caller) = self.sites[number].clone();
            let outcome = self.sim.apply(&site, summary);
            if let Some(found) = self.take(caller, outcome.into_iter().collect())? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Attaches a call to records that cover it, and applies all their summaries so far.
    fn call(&mut self, record: usize, site: CallSite) -> Result<Option<FoundError>, Stop> {
        if let Some(known) = &self.known[site.callee] {
            let outcomes = known.outcomes(self.sim, &site);
            return self.take(record, outcomes);
        }
        let number = self.sites.len();
        self.sites.push((site.clone(), record));
        for at in self.covering(record, &site)? {
            self.records[at].sites.push(number);
            for end in self.records[at].ends.clone().all() {
                let outcome = self.sim.apply(&site, end);
                if let Some(found) = self.take(record, outcome.into_iter().collect())? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    /// Returns records that together cover the entry values of a call: a single one if possible, otherwise all,
    /// otherwise a new one.
    fn covering(&mut self, caller: usize, site: &CallSite) -> Result<Vec<usize>, Stop> {
        let guard = self.sim.aig.and(self.sim.states[site.from].guard, self.records[caller].reach);
        let image = Image { guard, tuple: site.actual.iter().map(|(_, lit)| lit).collect() };
        let all = self.of_proc[site.callee].clone();
        let alone = all.iter().map(|record| vec![*record]);
        let together = (all.len() > 1).then(|| all.clone());
        for records in alone.chain(together) {
            let entries: Option<Vec<&CopiedImage>> =
                records.iter().map(|record| self.records[*record].entries.as_ref()).collect();
            let Some(by) = entries else { return Ok(records) };
            if is_covered(self.sim, &image, &by)? {
                return Ok(records);
            }
        }
        Ok(vec![self.enter(site.callee, &image, Parent::Call(site.clone(), caller))])
    }
}

/// Returns whether each tuple of a set of executions is in the union of others.
fn is_covered(sim: &mut Simulation<'_>, image: &Image, by: &[&CopiedImage]) -> Result<bool, Stop> {
    Ok(sim.is_covered(image, by, u32::MAX)?.expect("the effort is not limited"))
}
