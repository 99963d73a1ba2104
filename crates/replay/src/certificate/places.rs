//! Where the one thread of a program without recursion can stand, its callers included, and how it moves on.
//!
//! Errors are places without moves: a target location, and *failed*, where the failure of a target assertion leads.

use std::collections::BTreeMap;

use selvedge_check::Task;
use selvedge_ir::flow::Flow;
use selvedge_ir::{EdgeId, LocId, Op, ProcId, Program};

use super::{Flaw, Refused, Unjudged};

/// More places than this are not listed.
const LIMIT: usize = 20_000;

/// Whose stack it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    Prelude,
    Thread,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// At a location, below the calls that have not returned, the first one first.
    At { phase: Phase, calls: Vec<EdgeId>, loc: LocId },
    /// A target assertion has failed.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A step along the edge to the next location of this thread.
    Step,
    /// The failure of the assertion of the edge.
    Fail,
    /// The end of the prelude, which starts the thread.
    Start,
}

pub(super) struct Move {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) edge: EdgeId,
    pub(super) kind: Kind,
}

/// The first place has the number 0.
pub(super) struct Places {
    pub(super) all: Vec<Place>,
    pub(super) moves: Vec<Move>,
    numbers: BTreeMap<Place, usize>,
}

impl Places {
    /// All places that control flow can reach. Each is looked at once.
    pub(super) fn new(task: &Task<'_>) -> Result<Places, Refused> {
        let flow = Flow::new(task.program);
        let mut places = Places { all: Vec::new(), moves: Vec::new(), numbers: BTreeMap::new() };
        places.number(first(task.program));
        let mut from = 0;
        while from < places.all.len() {
            if let Place::At { phase, calls, loc } = places.all[from].clone()
                && !task.target.has_loc(loc)
            {
                for edge in flow.out(loc) {
                    places.follow(task, from, (phase, &calls), *edge)?;
                }
            }
            if places.all.len() > LIMIT {
                return Err(Unjudged::Beyond("its calls can be nested in too many ways").into());
            }
            from += 1;
        }
        Ok(places)
    }

    fn number(&mut self, place: Place) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(place.clone()).or_insert(next);
        if number == next {
            self.all.push(place);
        }
        number
    }

    fn add(&mut self, from: usize, edge: EdgeId, kind: Kind, place: Place) {
        let to = self.number(place);
        self.moves.push(Move { from, to, edge, kind });
    }

    /// The moves along an edge.
    fn follow(&mut self, task: &Task<'_>, from: usize, stack: (Phase, &[EdgeId]), id: EdgeId) -> Result<(), Refused> {
        let (program, (phase, calls)) = (task.program, stack);
        let edge = &program.edges[id];
        let here = |loc: LocId| Place::At { phase, calls: calls.to_vec(), loc };
        match &edge.op {
            Op::Assign(_) | Op::AtomicBegin | Op::AtomicEnd => self.add(from, id, Kind::Step, here(edge.to)),
            Op::Assert(_) => {
                self.add(from, id, Kind::Step, here(edge.to));
                if task.target.has_assert(id) {
                    self.add(from, id, Kind::Fail, Place::Failed);
                }
            }
            Op::Call(call) if procs(program, phase, calls).contains(&call.callee) => {
                return Err(Flaw::OutOfScope("it is recursive").into());
            }
            Op::Call(call) => {
                let calls = [calls, &[id]].concat();
                self.add(from, id, Kind::Step, Place::At { phase, calls, loc: program.procs[call.callee].entry });
            }
            Op::Return(_) if !calls.is_empty() => {
                let (call, calls) = calls.split_last().expect("it is not empty");
                let place = Place::At { phase, calls: calls.to_vec(), loc: program.edges[*call].to };
                self.add(from, id, Kind::Step, place);
            }
            Op::Return(_) | Op::End if phase == Phase::Prelude => self.add(from, id, Kind::Start, thread(program)),
            Op::Return(_) | Op::End => {}
            Op::Spawn(_) | Op::Fork(_) => return Err(Flaw::OutOfScope("it has several threads").into()),
        }
        Ok(())
    }

    /// Whether a place is an error.
    pub(super) fn is_error(&self, task: &Task<'_>, number: usize) -> bool {
        match &self.all[number] {
            Place::At { loc, .. } => task.target.has_loc(*loc),
            Place::Failed => true,
        }
    }

    /// The procedures on the stack of a place, the running one last.
    pub(super) fn procs(&self, program: &Program, number: usize) -> Vec<ProcId> {
        match &self.all[number] {
            Place::At { phase, calls, .. } => procs(program, *phase, calls),
            Place::Failed => Vec::new(),
        }
    }
}

fn first(program: &Program) -> Place {
    match program.prelude {
        Some(prelude) => Place::At { phase: Phase::Prelude, calls: Vec::new(), loc: program.procs[prelude].entry },
        None => thread(program),
    }
}

/// Where the thread begins.
fn thread(program: &Program) -> Place {
    let proc = program.entries.first().expect("a program with one thread has one kind of thread").proc;
    Place::At { phase: Phase::Thread, calls: Vec::new(), loc: program.procs[proc].entry }
}

fn procs(program: &Program, phase: Phase, calls: &[EdgeId]) -> Vec<ProcId> {
    let first = match phase {
        Phase::Prelude => program.prelude,
        Phase::Thread => program.entries.first().map(|entry| entry.proc),
    };
    let callee = |edge: &EdgeId| match &program.edges[*edge].op {
        Op::Call(call) => Some(call.callee),
        _ => None,
    };
    first.into_iter().chain(calls.iter().filter_map(callee)).collect()
}
