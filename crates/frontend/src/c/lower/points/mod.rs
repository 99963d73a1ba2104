//! What pointers may lead to: an inclusion-based points-to analysis, in the manner of Andersen, over the typed tree.
//!
//! A target is an object with an offset, where offsets that differ in indices of arrays only are one ([`offsets`]), or
//! a function. Each part of each object has one set of targets, whatever the type of the part: integers that are made
//! from pointers have their targets, and arithmetic with them leads anywhere in the same objects. The order of
//! statements, the branches that they are in and the calls of a function are not told apart. Allocated objects are
//! those that the place of their allocation hands out.
//!
//! *Order of work.* The functions that are reached, at first `main`, are walked over in rounds. A walk evaluates every
//! expression over the sets that are known and adds what is assigned, passed and returned; functions that are called,
//! also through pointers or as threads, are reached. *Invariant*: sets only grow, and each target in them is there in
//! every solution of the inclusions. *End*: a round in which no set has grown is the last one; there are finitely many
//! objects, and finitely many classes of offsets in each. The work is bounded besides: beyond the bound nothing is
//! known, and pointers lead anywhere. *Correctness*: in the last round every assignment of every function has been
//! evaluated over sets that contain its operands, so that by induction over the steps of an execution each value that
//! was computed from an address has the target of the address in its set. Threads change nothing about this: a step of
//! any thread is an assignment of some function, and the sets are for all times. What a thread returns and the data of
//! threads are assigned to sets of their own.
//!
//! Pointers that are made from integers which no pointer flows into lead anywhere. Those that are made from constants,
//! that have no initial value, or that have left their object lead nowhere that is defined.
//!
//! Nothing rests on this argument: where a pointer leads to a part of an object that is not among its targets, the
//! lowered program says so (`exceed_target` in `lower/targets.rs`).

mod library;
mod offsets;
mod query;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashSet;

use super::super::tree::{FunctionId, ObjectId, Unit};
use super::super::types::QualType;
use super::facts::Site;
use super::input::is_stream;
use super::made::Made;
use offsets::{Move, Offsets};

/// What a pointer may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    /// The offsets of a class in an object.
    Part(ObjectId, u64),
    /// Any offset in an object.
    Whole(ObjectId),
    Function(FunctionId),
    /// What is not part of the program: its arguments, and the streams of the library.
    Outside,
    /// Any object and function whose address is taken.
    Anything,
}

/// A set of targets.
pub(super) type Targets = BTreeSet<Target>;

/// The limit on targets that are looked at, beyond which nothing is known.
const MAX_WORK: u64 = 20_000_000;

/// The solution: what each pointer may lead to.
pub(super) struct Points<'a> {
    unit: &'a Unit,
    made: &'a Made,
    offsets: Offsets,
    /// The targets of what the parts of objects hold, by the part.
    held: BTreeMap<Target, Targets>,
    /// The targets of what functions return, by the function and the offset in the result.
    results: BTreeMap<(FunctionId, u64), Targets>,
    /// The functions that may run, in the order in which they are found.
    reached: Vec<FunctionId>,
    is_reached: FxHashSet<FunctionId>,
    /// The functions that threads begin with, and those whose addresses are values.
    started: BTreeSet<FunctionId>,
    taken: BTreeSet<FunctionId>,
    /// What `pthread_exit` is called with, and the data of threads.
    exits: Targets,
    data: Targets,
    /// The functions that get data of threads when a thread ends.
    destructors: BTreeSet<FunctionId>,
    /// The conversions of integers to pointers that no pointer flows into; those that have been found in this round.
    blank: FxHashSet<Site>,
    found_blank: FxHashSet<Site>,
    current: Option<FunctionId>,
    grows: bool,
    work: u64,
    gave_up: bool,
}

impl<'a> Points<'a> {
    /// Analyses the functions that may run from `main` on.
    pub(super) fn new(unit: &'a Unit, main: FunctionId, made: &'a Made) -> Points<'a> {
        let mut points = Points {
            unit,
            made,
            offsets: Offsets::default(),
            held: BTreeMap::new(),
            results: BTreeMap::new(),
            reached: Vec::new(),
            is_reached: FxHashSet::default(),
            started: BTreeSet::new(),
            taken: BTreeSet::new(),
            exits: Targets::new(),
            data: Targets::new(),
            destructors: BTreeSet::new(),
            blank: FxHashSet::default(),
            found_blank: FxHashSet::default(),
            current: None,
            grows: true,
            work: 0,
            gave_up: false,
        };
        points.reach(main);
        points.hold_outside(main);
        points.solve();
        points.gave_up = points.is_too_much();
        points
    }

    /// Lets the arguments of `main` and the streams of the library lead to what is outside of the program.
    fn hold_outside(&mut self, main: FunctionId) {
        let unit = self.unit;
        let params = unit.functions[main].body.as_ref().map_or(&[][..], |body| &body.params);
        let streams = unit.objects.indices().filter(|object| is_stream(unit, *object));
        let pointers = params.iter().copied().filter(|param| unit.types.is_pointer(unit.objects[*param].ty));
        for object in pointers.chain(streams).collect::<Vec<_>>() {
            let part = self.part(object, 0);
            self.assign(&Targets::from([part]), &Targets::from([Target::Outside]));
        }
    }

    fn solve(&mut self) {
        while self.grows && !self.is_too_much() {
            self.grows = false;
            self.found_blank.clear();
            self.round();
            if !self.grows {
                let known = self.blank.len();
                self.blank.extend(self.found_blank.drain());
                self.grows = self.blank.len() > known;
            }
        }
        self.current = None;
    }

    /// Returns whether there was too much to do: then nothing is known.
    pub(super) fn gave_up(&self) -> bool {
        self.gave_up
    }

    fn is_too_much(&self) -> bool {
        self.work > MAX_WORK
    }

    /// Returns whether some pointers may lead anywhere.
    pub(super) fn has_blank(&self) -> bool {
        self.gave_up || !self.blank.is_empty()
    }

    fn reach(&mut self, function: FunctionId) {
        if self.unit.functions[function].body.is_some() && self.is_reached.insert(function) {
            self.reached.push(function);
            self.grows = true;
        }
    }

    /// Returns the type of an object.
    fn ty(&self, object: ObjectId) -> QualType {
        self.unit.objects[object].ty
    }

    /// Returns the targets of a part of an object.
    fn part(&mut self, object: ObjectId, offset: u64) -> Target {
        let ty = self.ty(object);
        let class = self.offsets.class(&self.unit.types, ty, offset);
        class.map_or(Target::Whole(object), |class| Target::Part(object, class))
    }

    /// Returns the targets of pointers that are moved.
    fn moved(&mut self, targets: &Targets, by: Move) -> Targets {
        let mut found = Targets::new();
        for target in targets {
            match *target {
                Target::Part(object, class) => {
                    let ty = self.ty(object);
                    match self.offsets.moved(&self.unit.types, ty, class, by) {
                        Some(classes) => found.extend(classes.iter().map(|class| Target::Part(object, *class))),
                        None => drop(found.insert(Target::Whole(object))),
                    }
                }
                Target::Whole(_) | Target::Anything | Target::Outside => drop(found.insert(*target)),
                Target::Function(_) => {}
            }
        }
        self.work += found.len() as u64;
        found
    }

    /// Returns the targets of what is computed from numbers that were made from pointers.
    fn blurred(&self, targets: Targets) -> Targets {
        let blur = |target| match target {
            Target::Part(object, _) => Target::Whole(object),
            other => other,
        };
        targets.into_iter().map(blur).collect()
    }

    /// Returns the targets of what some parts of objects hold.
    fn contents(&mut self, of: &Targets) -> Targets {
        let mut found = Targets::new();
        let anywhere = self.held.get(&Target::Anything);
        for target in of {
            match *target {
                Target::Part(object, _) => {
                    found.extend(self.held.get(target).into_iter().flatten());
                    found.extend(self.held.get(&Target::Whole(object)).into_iter().flatten());
                }
                Target::Whole(object) => {
                    let parts = self.held.range(Target::Part(object, 0)..=Target::Part(object, u64::MAX));
                    found.extend(parts.flat_map(|(_, held)| held));
                    found.extend(self.held.get(target).into_iter().flatten());
                }
                Target::Anything => found.extend(self.held.values().flatten()),
                Target::Outside => drop(found.insert(Target::Outside)),
                Target::Function(_) => {}
            }
            found.extend(anywhere.into_iter().flatten());
        }
        self.work += (of.len() + found.len()) as u64;
        found
    }

    /// Notes that some parts of objects may hold some values.
    fn assign(&mut self, at: &Targets, values: &Targets) {
        if values.is_empty() {
            return;
        }
        for target in at {
            let held = self.held.entry(*target).or_default();
            self.work += values.len() as u64;
            self.grows |= add(held, values);
        }
    }
}

/// Adds targets to a set; returns whether there are more than before.
fn add(known: &mut Targets, more: &Targets) -> bool {
    let before = known.len();
    known.extend(more);
    known.len() > before
}
