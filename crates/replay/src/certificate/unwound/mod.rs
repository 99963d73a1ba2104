//! Certificates by unwinding, for a bounded number of threads without recursion: no thread makes more than a number of
//! *blocks*, and no execution with so few of each meets an error.
//!
//! A block of a thread is some steps that others cannot notice and one that they can, or an atomic section ([`block`]).
//! An *event* is a block of a thread, the first, second and so on; it happens or not. Each execution up to an error can
//! be reordered so that no block is interrupted ([`crate::commutation`]); what its threads do is written as formulas
//! over what their blocks read of shared variables:
//!
//! 1. The events of an execution happen one after the other: of two, one comes *earlier*. The events of one thread are
//!    in order, and the one that starts a thread comes before its events. The relation is transitive.
//! 2. For each variable that an event reads there is a *source*: an event that writes it and comes earlier, or the
//!    start. It has the value that is read there, and no event that writes the variable comes between.
//!
//! Every execution in which no thread makes more blocks than the certificate says satisfies both, with its own order:
//! where the formulas leave an event no way but to happen that is not part of the execution, it comes behind all that
//! are, with what the formulas say. Two questions must have no solution:
//!
//! 3. an error in some block;
//! 4. a thread that is somewhere behind its last event.
//!
//! Assume that a thread makes more blocks in some execution. Up to the first such block the execution satisfies 1 and
//! 2, and before that block its thread is somewhere behind its last event, which is 4. So no execution has more blocks,
//! and by 3 none meets an error. It does not matter if more is possible by the formulas than by the program: where the
//! number of threads is limited, a thread that may not start starts or not. A thread that another one starts in an
//! atomic section moves after the section, so only if the whole block happens.

mod block;

use std::collections::BTreeMap;

use selvedge_check::{Run, Task, ThreadScope};
use selvedge_ir::{Count, Op, VarId};

use self::block::{Blocks, Inside};
use super::sat::{Lit, Sat};
use super::{Flaw, Refused, Unjudged, at_most};
use crate::position::Position;
use crate::program::{concerns_others, is_boolean};
use crate::semantics::{Meaning, Scene, Writes};

/// The most events that are looked at: the clauses are as many as triples of them.
const MOST_EVENTS: usize = 200;

/// The values of variables.
pub(super) type Values = BTreeMap<VarId, Lit>;

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, depth: u32, run: &Run<'_>) -> Result<(), Refused> {
    is_boolean(task.program)?;
    in_scope(task)?;
    at_most(depth as usize, MOST_EVENTS)?;
    let mut unwound = Unwound::new(task, run)?;
    unwound.begin()?;
    let mut next = 0;
    while next < unwound.threads.len() {
        for _ in 0..depth {
            unwound.extend(next)?;
        }
        next += 1;
    }
    unwound.order_events()?;
    unwound.connect_reads()?;
    unwound.no_error(depth)
}

fn in_scope(task: &Task<'_>) -> Result<(), Refused> {
    let program = task.program;
    if program.prelude.is_some() {
        return Err(Unjudged::Beyond("code runs before the initial threads").into());
    }
    if !task.target.together.is_empty() {
        return Err(Unjudged::Beyond("it asks whether threads meet").into());
    }
    if program.edges.iter().any(|edge| concerns_others(&edge.op)) {
        return Err(Unjudged::Beyond("threads read or assign variables of each other").into());
    }
    Ok(())
}

/// A thread.
struct Thread {
    /// The event that starts it; `None` for an initial thread.
    parent: Option<usize>,
    /// Where it can be behind its last event.
    states: BTreeMap<Position, Inside>,
    /// Its events.
    events: Vec<usize>,
}

/// A block of a thread, as the others see it.
struct Event {
    thread: usize,
    /// Its number among those of the thread.
    number: usize,
    happens: Lit,
    /// The values of the shared variables that it reads, before it.
    reads: Values,
    /// The shared variables that it may write: the condition that it does, and the value.
    writes: BTreeMap<VarId, (Lit, Lit)>,
}

struct Unwound<'a> {
    task: &'a Task<'a>,
    run: &'a Run<'a>,
    blocks: Blocks<'a>,
    sat: Sat<'a>,
    start: Values,
    threads: Vec<Thread>,
    events: Vec<Event>,
    /// The conditions of errors.
    errors: Vec<Lit>,
    /// Whether some block ended before its thread did something that others notice.
    is_cut: bool,
    /// For two events, the smaller number first: the first one comes earlier.
    earlier: BTreeMap<(usize, usize), Lit>,
}

/// The variables of a beginning, all of which have a value.
struct Beginning<'a>(&'a Values, BTreeMap<u32, Lit>);

impl<'r> Scene<Sat<'r>> for Beginning<'_> {
    fn read(&mut self, _: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        self.0.get(&var).copied().ok_or_else(|| Flaw::Malformed(None).into())
    }

    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        Ok(*self.1.entry(number).or_insert_with(|| sat.fresh()))
    }
}

impl<'a> Unwound<'a> {
    fn new(task: &'a Task<'a>, run: &'a Run<'a>) -> Result<Unwound<'a>, Refused> {
        let mut sat = Sat::new(run);
        let nothing = Values::new();
        let mut scene = Beginning(&nothing, BTreeMap::new());
        let writes = Meaning::new(task.program, &mut sat, &mut scene).start_shared()?;
        let start = filled(&mut sat, writes);
        let (threads, events, errors, earlier) = (Vec::new(), Vec::new(), Vec::new(), BTreeMap::new());
        let (blocks, is_cut) = (Blocks::new(task), false);
        Ok(Unwound { task, run, blocks, sat, start, threads, events, errors, is_cut, earlier })
    }

    /// Returns whether the number of threads is limited, so that a thread may not start.
    fn is_limited(&self) -> bool {
        let counts = self.task.program.entries.iter().map(|entry| entry.count);
        let starts = self.task.program.edges.iter().any(|edge| matches!(edge.op, Op::Spawn(_) | Op::Fork(_)));
        starts && self.task.threads != ThreadScope::Unbounded
            || counts.into_iter().any(|count| !matches!(count, Count::Exactly(_)))
    }

    /// Begins the initial threads: all that a run may have, each of which may be missing if the program does not say
    /// how many there are.
    fn begin(&mut self) -> Result<(), Refused> {
        for (kind, entry) in self.task.program.entries.iter_enumerated() {
            let bound = match self.task.threads {
                ThreadScope::AtMost(bound) | ThreadScope::Created(bound) => bound,
                ThreadScope::Unbounded => u32::MAX,
            };
            let (most, is_open) = match entry.count {
                Count::Exactly(count) => (count, false),
                Count::AtMost(count) => (count.min(bound), true),
                Count::Any => (bound, true),
            };
            at_most(most as usize, MOST_EVENTS)?;
            for _ in 0..most {
                let mut scene = Beginning(&self.start, BTreeMap::new());
                let writes = Meaning::new(self.task.program, &mut self.sat, &mut scene).start_thread(kind)?;
                let own = filled(&mut self.sat, writes);
                let guard = if is_open { self.sat.fresh() } else { self.sat.constant(true) };
                self.add_thread(None, Position::entry(self.task.program, entry.proc), guard, own);
            }
        }
        Ok(())
    }

    fn add_thread(&mut self, parent: Option<usize>, at: Position, guard: Lit, own: Values) {
        let mut states = BTreeMap::new();
        if self.task.target.has_loc(at.loc) {
            self.errors.push(guard);
        } else {
            states.insert(at, Inside::new(guard, own));
        }
        self.threads.push(Thread { parent, states, events: Vec::new() });
    }

    /// Adds the next event of a thread, if it can be anywhere.
    fn extend(&mut self, thread: usize) -> Result<(), Refused> {
        self.run.check_limits()?;
        let states = std::mem::take(&mut self.threads[thread].states);
        if states.is_empty() {
            return Ok(());
        }
        if self.events.len() >= MOST_EVENTS {
            return Err(Unjudged::Beyond("it speaks of too many threads, steps or rounds").into());
        }
        let block = self.blocks.follow(states, &mut self.sat, self.run)?;
        let event = self.events.len();
        let number = self.threads[thread].events.len();
        self.threads[thread].events.push(event);
        self.threads[thread].states = block.ends;
        self.errors.extend(block.errors);
        self.is_cut |= block.is_cut;
        let (happens, reads, writes) = (block.happens, block.reads, block.writes);
        self.events.push(Event { thread, number, happens, reads, writes });
        for (at, started, own) in block.children {
            let mut guard = self.sat.and(started, happens);
            if self.is_limited() {
                let starts = self.sat.fresh();
                guard = self.sat.and(guard, starts);
            }
            self.add_thread(Some(event), at, guard, own);
        }
        Ok(())
    }

    /// Returns whether an event of one thread comes before another, along threads and their starts.
    fn precedes(&self, first: usize, second: usize) -> bool {
        let mut at = Some(second);
        while let Some(event) = at {
            if self.events[event].thread == self.events[first].thread {
                return event == first && first != second || self.events[first].number < self.events[event].number;
            }
            at = self.threads[self.events[event].thread].parent;
        }
        false
    }

    /// Returns the literal that says whether one event comes earlier than another one.
    fn earlier(&self, first: usize, second: usize) -> Lit {
        if first < second { self.earlier[&(first, second)] } else { !self.earlier[&(second, first)] }
    }

    /// Condition 1.
    fn order_events(&mut self) -> Result<(), Refused> {
        let n_events = self.events.len();
        for second in 0..n_events {
            for first in 0..second {
                let lit = match (self.precedes(first, second), self.precedes(second, first)) {
                    (true, _) => self.sat.constant(true),
                    (_, true) => self.sat.constant(false),
                    _ => self.sat.fresh(),
                };
                self.earlier.insert((first, second), lit);
            }
        }
        for third in 0..n_events {
            self.run.check_limits()?;
            for second in 0..third {
                for first in 0..second {
                    let (one, two) = (self.earlier(first, second), self.earlier(second, third));
                    let both = self.earlier(first, third);
                    self.clause(&[!one, !two, both]);
                    self.clause(&[one, two, !both]);
                }
            }
        }
        Ok(())
    }

    /// Adds a clause unless a literal of it is known to hold.
    fn clause(&mut self, lits: &[Lit]) {
        if !lits.iter().any(|lit| self.sat.known(*lit) == Some(true)) {
            self.sat.clause(lits);
        }
    }

    /// Condition 2. Variables that the same events write under the same conditions have the same sources.
    fn connect_reads(&mut self) -> Result<(), Refused> {
        let mut alike: BTreeMap<Vec<(usize, Lit)>, Vec<VarId>> = BTreeMap::new();
        for var in self.start.keys() {
            let writes = self.events.iter().enumerate();
            let writes = writes.filter_map(|(event, access)| Some((event, access.writes.get(var)?.0)));
            alike.entry(writes.collect()).or_default().push(*var);
        }
        for (writers, vars) in alike {
            for reader in 0..self.events.len() {
                self.run.tick()?;
                let is_read = |var: &VarId| self.events[reader].reads.contains_key(var);
                let read: Vec<VarId> = vars.iter().copied().filter(is_read).collect();
                if !read.is_empty() {
                    self.connect(reader, &read, &writers);
                }
            }
        }
        Ok(())
    }

    /// Gives an event that reads variables a source for them.
    fn connect(&mut self, reader: usize, vars: &[VarId], writers: &[(usize, Lit)]) {
        let others = writers.iter().copied().filter(|(event, _)| *event != reader);
        let others: Vec<(usize, Lit)> = others.filter(|(event, _)| !self.precedes(reader, *event)).collect();
        let mut sources = vec![!self.events[reader].happens];
        for source in [None].into_iter().chain(others.iter().copied().map(Some)) {
            let is_source = self.sat.fresh();
            sources.push(is_source);
            if let Some((event, wrote)) = source {
                let before = self.earlier(event, reader);
                self.clause(&[!is_source, wrote]);
                self.clause(&[!is_source, before]);
            }
            for var in vars {
                let value = match source {
                    Some((event, _)) => self.events[event].writes[var].1,
                    None => self.start[var],
                };
                let read = self.events[reader].reads[var];
                self.clause(&[!is_source, !value, read]);
                self.clause(&[!is_source, value, !read]);
            }
            for (other, wrote) in others.iter().filter(|(other, _)| source.is_none_or(|(event, _)| event != *other)) {
                let behind = self.earlier(reader, *other);
                let ahead = source.map_or(self.sat.constant(false), |(event, _)| self.earlier(*other, event));
                self.clause(&[!is_source, !*wrote, ahead, behind]);
            }
        }
        self.clause(&sources);
    }

    /// Questions 3 and 4.
    fn no_error(&mut self, depth: u32) -> Result<(), Refused> {
        let mut any = self.sat.constant(false);
        for error in self.errors.clone() {
            any = self.sat.or(any, error);
        }
        self.refute(any, Flaw::Base(depth))?;
        for thread in 0..self.threads.len() {
            let mut any = self.sat.constant(false);
            for guard in self.threads[thread].states.values().map(|state| state.guard).collect::<Vec<_>>() {
                any = self.sat.or(any, guard);
            }
            self.refute(any, Flaw::Step)?;
        }
        Ok(())
    }

    /// Checks that a literal cannot hold. Where more is possible by the formulas than by the program, this is no flaw.
    fn refute(&mut self, lit: Lit, flaw: Flaw) -> Result<(), Refused> {
        match self.sat.satisfiable(&[lit])? {
            false => Ok(()),
            true if self.is_limited() => {
                Err(Unjudged::Beyond("it depends on the limit on the number of threads").into())
            }
            true if self.is_cut => Err(Unjudged::Beyond("too many steps follow one another unseen").into()),
            true => Err(flaw.into()),
        }
    }
}

/// The values of variables, of which those that are open are any.
pub(super) fn filled(sat: &mut Sat<'_>, writes: Writes<Lit>) -> Values {
    writes.into_iter().map(|(var, value)| (var, value.unwrap_or_else(|| sat.fresh()))).collect()
}
