//! What events read: each group of shared variables as the last event before wrote it.
//!
//! For each event that reads a group there is one *source*: the last event before it in the order that writes the
//! group, or the start. A candidate is an event that may write it. Where the events of threads are not all known yet,
//! there may be no candidate: the clause that requires one holds for the events that are known, and is replaced when
//! there are more ([`Memory::close`]).

use selvedge_check::{Run, Stop};
use selvedge_ir::VarId;
use selvedge_logic::aig::{Aig, Lit};
use selvedge_logic::sat::SatLit;
use selvedge_transition::step::circuit::Valuation;

use super::clauses::Clauses;
use super::layout::Group;
use super::order::{EventId, Order};

/// An event as others see it.
pub(super) struct Access {
    /// The condition that it happens.
    pub(super) happens: Lit,
    /// The values of shared variables before it.
    pub(super) before: Valuation,
    /// The variables that it reads, by group.
    pub(super) reads: Vec<(Group, Vec<VarId>)>,
    /// The conditions under which it writes groups.
    pub(super) writes: Vec<(Group, Lit)>,
    /// The values of the shared variables of these groups after it.
    pub(super) after: Valuation,
}

/// A group that an event reads.
struct Reader {
    event: EventId,
    happens: SatLit,
    vars: Vec<VarId>,
    /// The candidates for the source; `None` is the start.
    candidates: Vec<(Option<EventId>, SatLit)>,
}

/// The accesses of all events.
pub(super) struct Memory {
    /// The values at the start.
    start: Valuation,
    accesses: Vec<Access>,
    /// By group, those that read it.
    readers: Vec<Vec<Reader>>,
    /// By group, the events that may write it, with the condition.
    writers: Vec<Vec<(EventId, SatLit)>>,
    /// Where this holds, an event may have no source.
    open: Option<SatLit>,
}

impl Memory {
    pub(super) fn new(start: Valuation, n_groups: usize) -> Memory {
        let readers = (0..n_groups).map(|_| Vec::new()).collect();
        Memory { start, accesses: Vec::new(), readers, writers: vec![Vec::new(); n_groups], open: None }
    }

    /// Returns the values at the start.
    pub(super) fn start(&self) -> &Valuation {
        &self.start
    }

    /// Adds the next event.
    pub(super) fn add(
        &mut self,
        event: EventId,
        access: Access,
        order: &Order,
        (aig, clauses, run): (&Aig, &mut Clauses, &Run<'_>),
    ) -> Result<(), Stop> {
        let happens = clauses.lit(aig, access.happens);
        let (reads, writes) = (access.reads.clone(), access.writes.clone());
        self.accesses.push(access);
        for (group, condition) in writes {
            run.tick()?;
            let wrote = clauses.lit(aig, condition);
            let mut readers = std::mem::take(&mut self.readers[group]);
            for reader in readers.iter_mut().filter(|reader| order.known(reader.event, event) != Some(true)) {
                self.not_between(reader, (event, wrote), order, clauses);
                self.add_candidate(group, reader, Some((event, wrote)), order, (aig, &mut *clauses));
            }
            self.readers[group] = readers;
            self.writers[group].push((event, wrote));
        }
        for (group, vars) in reads {
            run.tick()?;
            let mut reader = Reader { event, happens, vars, candidates: Vec::new() };
            self.add_candidate(group, &mut reader, None, order, (aig, &mut *clauses));
            for writer in self.writers[group].clone() {
                if writer.0 != event && order.known(event, writer.0) != Some(true) {
                    self.add_candidate(group, &mut reader, Some(writer), order, (aig, &mut *clauses));
                }
            }
            self.readers[group].push(reader);
        }
        Ok(())
    }

    /// Makes a write, or the start, a candidate for the source of a reader.
    fn add_candidate(
        &self,
        group: Group,
        reader: &mut Reader,
        writer: Option<(EventId, SatLit)>,
        order: &Order,
        (aig, clauses): (&Aig, &mut Clauses),
    ) {
        let is_source = clauses.fresh();
        reader.candidates.push((writer.map(|(event, _)| event), is_source));
        let values = match writer {
            Some((event, wrote)) => {
                let before = order.before(event, reader.event, clauses);
                clauses.add(&[!is_source, wrote]);
                clauses.add(&[!is_source, before]);
                &self.accesses[event].after
            }
            None => &self.start,
        };
        for var in &reader.vars {
            let written = clauses.lit(aig, values.get(*var));
            let read = clauses.lit(aig, self.accesses[reader.event].before.get(*var));
            clauses.equal_where(is_source, written, read);
        }
        let candidate = (writer.map(|(event, _)| event), is_source);
        for other in &self.writers[group] {
            if Some(other.0) != candidate.0 && other.0 != reader.event {
                no_write_between(reader.event, candidate, *other, order, clauses);
            }
        }
    }

    /// A write does not come between a reader and its source.
    fn not_between(&self, reader: &Reader, writer: (EventId, SatLit), order: &Order, clauses: &mut Clauses) {
        for candidate in &reader.candidates {
            no_write_between(reader.event, *candidate, writer, order, clauses);
        }
    }

    /// Requires a source for each event that reads, among those that are known. Returns the assumption under which this
    /// is required: later there may be more.
    pub(super) fn close(&mut self, clauses: &mut Clauses) -> SatLit {
        if let Some(open) = self.open {
            clauses.add(&[open]);
        }
        let open = clauses.fresh();
        self.open = Some(open);
        for reader in self.readers.iter().flatten() {
            let sources = reader.candidates.iter().map(|(_, is_source)| *is_source);
            let clause: Vec<SatLit> = sources.chain([!reader.happens, open]).collect();
            clauses.add(&clause);
        }
        !open
    }
}

/// A write that comes before a reader comes before its source.
fn no_write_between(
    reader: EventId,
    (source, is_source): (Option<EventId>, SatLit),
    (other, wrote): (EventId, SatLit),
    order: &Order,
    clauses: &mut Clauses,
) {
    let before_source = match source {
        Some(source) => order.before(other, source, clauses),
        None => clauses.constant(false),
    };
    let after_reader = order.before(reader, other, clauses);
    clauses.add(&[!is_source, !wrote, before_source, after_reader]);
}
