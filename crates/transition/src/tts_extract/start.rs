//! The configurations in which runs start.
//!
//! The prelude runs alone, so it is over before a system begins: its search is part of finding the starts, and each
//! start has the steps that led to it. An error in the prelude itself is a start of its own, with a thread that is in a
//! target already.
//!
//! If the number of threads of a kind is only bounded from above, the system starts with the maximum: more threads can
//! do more, and a trace leaves out those that do nothing.

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::Stop;
use selvedge_ir::trace::{Start as TraceStart, Step, ThreadId};
use selvedge_ir::tts::{LocalId, SharedId, Start};
use selvedge_ir::{Count, EntryId};

use super::views::Views;
use crate::macro_step::explicit::parts::Local;
use crate::macro_step::explicit::start::{fresh, prelude, shared, thread, values};
use crate::macro_step::explicit::{Block, From, Model, compute};

/// A way in which a start of the system is reached.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// The start of the program, without its initial threads.
    pub(super) start: TraceStart,
    /// The steps of the prelude.
    pub(super) steps: Vec<Step>,
    /// True if the steps end in an error.
    pub(super) is_error: bool,
}

/// All starts, and for each of them the index of its beginning.
#[derive(Default)]
pub(super) struct Starts {
    pub(super) starts: Vec<Start>,
    pub(super) beginnings: Vec<Beginning>,
    pub(super) begins: Vec<u32>,
    /// The shared states with which the initial threads begin.
    begun: FxHashSet<SharedId>,
}

/// Computes all starts of the program.
pub(super) fn starts(views: &mut Views<'_, '_>) -> Result<Starts, Stop> {
    let mut found = Starts::default();
    let locals = prelude(views.model, views.run)?;
    for chosen in shared(views.model, views.run)? {
        views.within(found.starts.len())?;
        let start = TraceStart { choices: values(&chosen.choices), fresh: fresh(&chosen.fresh), threads: Vec::new() };
        let id = views.parts.shared(chosen.part);
        match &locals {
            None => found.begin(views, id, Beginning { start, steps: Vec::new(), is_error: false })?,
            Some(locals) => {
                for local in locals {
                    let mut start = start.clone();
                    start.fresh.extend(fresh(&local.fresh));
                    run_prelude(views, &mut found, id, &local.part, &start)?;
                }
            }
        }
    }
    Ok(found)
}

impl Starts {
    /// Adds the starts with the initial threads under a shared valuation, unless they are there already.
    fn begin(&mut self, views: &mut Views<'_, '_>, shared: u32, beginning: Beginning) -> Result<(), Stop> {
        let shared_id = views.shared(shared, false);
        if !self.begun.insert(shared_id) {
            return Ok(());
        }
        let (mut exact, mut any) = (Vec::new(), Vec::new());
        for (id, entry) in views.model.program().entries.iter_enumerated() {
            let options = options(views, id, shared)?;
            match entry.count {
                Count::Exactly(count) | Count::AtMost(count) => exact.push((options, count)),
                Count::Any => any.extend(options),
            }
        }
        any.sort_unstable();
        let kinds: Vec<(&[LocalId], u32)> = exact.iter().map(|(options, count)| (options.as_slice(), *count)).collect();
        self.beginnings.push(beginning);
        let before = self.starts.len();
        multisets(&kinds, &mut Vec::new(), &mut |marking| {
            let mut threads = marking.to_vec();
            threads.sort_unstable();
            self.starts.push(Start { shared: shared_id, threads, any: any.clone() });
            views.within(self.starts.len())
        })?;
        let number = self.beginnings.len() as u32 - 1;
        self.begins.extend((before..self.starts.len()).map(|_| number));
        Ok(())
    }

    /// Adds a start that is an error already.
    fn fail(&mut self, views: &mut Views<'_, '_>, from: From, beginning: Beginning) {
        let (shared, local) = (views.shared(from.shared, from.holds), views.local(from.local, from.holds));
        self.starts.push(Start { shared, threads: vec![local], any: Vec::new() });
        self.begins.push(self.beginnings.len() as u32);
        self.beginnings.push(beginning);
        views.errors.push((shared, local));
    }
}

/// Returns the states in which a thread of a kind can start.
fn options(views: &mut Views<'_, '_>, kind: EntryId, shared: u32) -> Result<Vec<LocalId>, Stop> {
    let bits = views.parts.shared[shared as usize].clone();
    let mut options = Vec::new();
    for chosen in thread(views.model, kind, &bits, views.run)? {
        let id = views.parts.local(chosen.part);
        options.push(views.local(id, false));
    }
    options.sort_unstable();
    options.dedup();
    Ok(options)
}

/// Calls `found` with every way to draw from each list as often as its number says, in any order.
pub fn multisets<T: Copy>(
    kinds: &[(&[T], u32)],
    drawn: &mut Vec<T>,
    found: &mut dyn FnMut(&[T]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    match kinds.split_first() {
        None => found(drawn),
        Some(((_, 0), rest)) => multisets(rest, drawn, found),
        Some(((options, count), rest)) => {
            for (at, local) in options.iter().enumerate() {
                drawn.push(*local);
                let mut kinds = vec![(&options[at..], count - 1)];
                kinds.extend_from_slice(rest);
                multisets(&kinds, drawn, found)?;
                drawn.pop();
            }
            Ok(())
        }
    }
}

/// A point of the prelude, with the point before it and the steps from there.
struct PreludePoint {
    from: From,
    before: Option<usize>,
    steps: Vec<Step>,
    /// True if the steps end in an error, before the point.
    fails: bool,
}

/// Runs the prelude from one of its starts, depth first, each point once.
fn run_prelude(
    views: &mut Views<'_, '_>,
    found: &mut Starts,
    shared: u32,
    local: &Local,
    start: &TraceStart,
) -> Result<(), Stop> {
    let local = views.parts.local(local.clone());
    let first = From { shared, local, holds: false };
    let mut seen = vec![PreludePoint { from: first, before: None, steps: Vec::new(), fails: false }];
    let mut numbers: FxHashMap<From, usize> = [(first, 0)].into_iter().collect();
    let mut waiting = vec![0];
    while let Some(number) = waiting.pop() {
        views.within(seen.len())?;
        let from = seen[number].from;
        let block = compute(views.model, &mut views.parts, from, 0, views.run)?;
        let passed = first_error(views, &seen, number);
        let beginning = |steps: Vec<Step>, is_error: bool| match passed {
            Some(passed) => Beginning { start: start.clone(), steps: way(&seen, passed), is_error: true },
            None => {
                let steps = way(&seen, number).into_iter().chain(steps).collect();
                Beginning { start: start.clone(), steps, is_error }
            }
        };
        if let Some(steps) = steps_to_error(views, from, &block) {
            found.fail(views, from, beginning(steps, true));
        }
        // A block that ends the prelude begins the initial threads; any other one leads to a point of the prelude.
        let mut new = Vec::new();
        for out in &block.outs {
            let (steps, fails) = until_error(views.model, &block, out.last, ThreadId(0));
            match out.me {
                None => found.begin(views, out.shared, beginning(steps, fails))?,
                Some(me) => new.push((From { shared: out.shared, local: me, holds: out.holds }, steps, fails)),
            }
        }
        for (from, steps, fails) in new {
            numbers.entry(from).or_insert_with(|| {
                seen.push(PreludePoint { from, before: Some(number), steps, fails });
                waiting.push(seen.len() - 1);
                seen.len() - 1
            });
        }
    }
    Ok(())
}

/// Returns the steps from a point of the prelude to an error in its block, if there is one.
fn steps_to_error(views: &Views<'_, '_>, from: From, block: &Block) -> Option<Vec<Step>> {
    let target = views.model.task.target;
    if target.has_loc(views.parts.locals[from.local as usize].loc) {
        return Some(Vec::new());
    }
    let (_, last) = block.errors.iter().find(|(error, _)| error.is_in(target))?;
    Some(until_error(views.model, block, *last, ThreadId(0)).0)
}

/// Returns the first point on the way to a point, itself included, that is in an error or behind one: an execution ends
/// there.
fn first_error(views: &Views<'_, '_>, seen: &[PreludePoint], number: usize) -> Option<usize> {
    let is_error = |number: &usize| {
        let local = &views.parts.locals[seen[*number].from.local as usize];
        seen[*number].fails || views.model.task.target.has_loc(local.loc)
    };
    std::iter::successors(Some(number), |number| seen[*number].before).filter(is_error).last()
}

/// Returns the steps to a point.
fn way(seen: &[PreludePoint], number: usize) -> Vec<Step> {
    let mut parts = Vec::new();
    let mut at = Some(number);
    while let Some(number) = at {
        parts.push(&seen[number].steps);
        at = seen[number].before;
    }
    parts.into_iter().rev().flatten().cloned().collect()
}

/// Returns the steps of a block up to an index or to the first error of the target, and whether they end in one.
pub(super) fn until_error(model: &Model<'_>, block: &Block, last: u32, thread: ThreadId) -> (Vec<Step>, bool) {
    let mut steps = Vec::new();
    for step in block.path(last) {
        steps.push(step.concrete(model, thread));
        if step.error.is_some_and(|error| error.is_in(model.task.target)) {
            return (steps, true);
        }
    }
    (steps, false)
}
