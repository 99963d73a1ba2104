//! Coverability backwards: from the targets to all configurations from which they can be covered.
//!
//! This set is closed upwards, since no rule requires the absence of a thread; so its finitely many least elements
//! represent it.
//!
//! **Order of work.** Elements wait in the order of their numbers of threads, those of one number in the order in which
//! they were found. For each rule that leads to an element's shared state, the least configuration before the step has
//! the threads of the element that the rule does not put there, and the thread that moves. If the rule transfers
//! threads, there are several: one for each way in which the threads of the element can have come there. It is dropped
//! if an element is below it; else the elements above it are dropped. Configurations that forward facts exclude are
//! dropped too: if a table of views does not admit some threads of a configuration, no run gets there.
//!
//! **Invariant.** Each element can cover a target, by the chain of rules that it came by. Every configuration before a
//! step to something above an element that was processed is above an element, or excluded.
//!
//! **End.** By Dickson's lemma there is no infinite list of configurations of which none is above an earlier one. If no
//! start is above an element, no target can be covered.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use selvedge_check::{Event, Run, Stop};
use selvedge_ir::tts::{Cover, LocalId, RuleId, SharedId, Start, TtsRun};

use super::follow::follow;
use super::net::Weights;
use super::transfer::before;
use super::views::Table;
use super::widening::SeenThreads;
use super::{Answer, Rules, Vector};

/// An upward-closed set of configurations from which something can be covered, and which no run reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The least elements, in ascending order. None is above another.
    pub least: Vec<(SharedId, Vector)>,
    /// Weights that exclude further configurations.
    pub weights: Vec<Weights>,
}

/// Decides whether one of the targets can be covered. Configurations that the table does not admit are excluded.
pub fn decide(
    rules: &Rules<'_>,
    targets: &[Cover],
    known: Option<&Table>,
    run: &Run<'_>,
) -> Result<Answer<Basis>, Stop> {
    Ok(match BackwardSearch::new(rules, known, None).decide(targets, run)? {
        Meeting::Run(found) | Meeting::WrongGuess(found) => Answer::Covered(found),
        Meeting::None(basis) => Answer::Uncovered(basis),
    })
}

/// The result of the search.
pub(super) enum Meeting {
    /// A run that covers a target.
    Run(TtsRun),
    /// A run that covers a guess.
    WrongGuess(TtsRun),
    /// No start is above an element.
    None(Basis),
}

/// Computes the thread states that can be covered, one by one, in ascending order.
pub fn thread_states(rules: &Rules<'_>, run: &Run<'_>) -> Result<Vec<(SharedId, LocalId)>, Stop> {
    let mut states = Vec::new();
    for shared in (0..rules.tts.n_shared).map(SharedId::from_raw) {
        for local in (0..rules.tts.n_local).map(LocalId::from_raw) {
            let target = Cover { shared, threads: vec![local] };
            if matches!(decide(rules, &[target], None, run)?, Answer::Covered(_)) {
                states.push((shared, local));
            }
        }
    }
    Ok(states)
}

struct Element {
    shared: SharedId,
    threads: Vector,
    /// The rule that leads from this element to something above another one.
    next: Option<(RuleId, u32)>,
    /// True if another element is below this one.
    dropped: bool,
    /// True if this is a guess, see [`super::widening`].
    guessed: bool,
}

pub(super) struct BackwardSearch<'t> {
    rules: &'t Rules<'t>,
    known: Option<&'t Table>,
    /// The threads seen forwards, from which guesses are made, if any are.
    seen: Option<&'t SeenThreads>,
    elements: Vec<Element>,
    /// For each shared state the least elements.
    least: Vec<Vec<u32>>,
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
}

impl<'t> BackwardSearch<'t> {
    pub(super) fn new(
        rules: &'t Rules<'t>,
        known: Option<&'t Table>,
        seen: Option<&'t SeenThreads>,
    ) -> BackwardSearch<'t> {
        let least = vec![Vec::new(); rules.tts.n_shared as usize];
        BackwardSearch { rules, known, seen, elements: Vec::new(), least, waiting: BinaryHeap::new() }
    }

    pub(super) fn decide(mut self, targets: &[Cover], run: &Run<'_>) -> Result<Meeting, Stop> {
        for target in targets {
            self.add(target.shared, Vector::of(&target.threads), None);
        }
        Ok(match self.search(run)? {
            Some((element, start)) => self.way_from(element, start),
            None => Meeting::None(self.basis()),
        })
    }

    /// Returns an element below a start, and the number of the start.
    fn search(&mut self, run: &Run<'_>) -> Result<Option<(u32, usize)>, Stop> {
        let mut n_done = 0;
        while let Some(Reverse((_, number))) = self.waiting.pop() {
            run.check_limits()?;
            let element = &self.elements[number as usize];
            if element.dropped {
                continue;
            }
            let starts = self.rules.tts.starts.iter();
            if let Some(start) = starts.enumerate().find(|(_, start)| allows(start, element)).map(|(start, _)| start) {
                return Ok(Some((number, start)));
            }
            n_done += 1;
            if n_done % 1024 == 0 {
                let (visited, waiting) = (self.elements.len(), self.waiting.len());
                run.event(Event::Searched { visited, waiting, depth: 0 });
            }
            self.expand(number, run)?;
        }
        Ok(None)
    }

    fn expand(&mut self, number: u32, run: &Run<'_>) -> Result<(), Stop> {
        let Element { shared, threads, .. } = &self.elements[number as usize];
        let (shared, threads) = (*shared, threads.clone());
        for id in self.rules.into(shared) {
            run.tick()?;
            let rule = self.rules.rule(*id);
            let (before, puts) = before(rule, &threads, run)?;
            // Configurations above the element itself are not new.
            if puts || rule.shared != shared || !rule.transfers.is_empty() {
                before.into_iter().for_each(|before| self.add(rule.shared, before, Some((*id, number))));
            }
        }
        Ok(())
    }

    fn add(&mut self, shared: SharedId, threads: Vector, next: Option<(RuleId, u32)>) {
        let (elements, least) = (&mut self.elements, &mut self.least[shared.index()]);
        if least.iter().rev().any(|other| elements[*other as usize].threads.is_covered_by(&threads)) {
            return;
        }
        if self.known.is_some_and(|table| !table.admits(shared, &threads.threads())) {
            return;
        }
        let guess = self.seen.and_then(|seen| seen.guess(shared, &threads));
        let guessed = guess.is_some();
        let threads = guess.unwrap_or(threads);
        least.retain(|other| {
            let other = &mut elements[*other as usize];
            let above = threads.is_covered_by(&other.threads);
            other.dropped |= above;
            !above
        });
        let number = elements.len() as u32;
        self.waiting.push(Reverse((threads.total(), number)));
        elements.push(Element { shared, threads, next, dropped: false, guessed });
        least.push(number);
    }

    /// Returns the run from a start that is above an element, up to the first guess or else to a target.
    fn way_from(&self, element: u32, start: usize) -> Meeting {
        let first = &self.elements[element as usize];
        let mut way = Vec::new();
        let mut at = first;
        while let Some((id, element)) = at.next.filter(|_| !at.guessed) {
            at = &self.elements[element as usize];
            way.push((id, at.threads.clone()));
        }
        let found = follow(self.rules.tts, start, &first.threads, &way);
        if at.guessed { Meeting::WrongGuess(found) } else { Meeting::Run(found) }
    }

    fn basis(&self) -> Basis {
        let numbers = self.least.iter().flatten();
        let mut least: Vec<(SharedId, Vector)> = numbers
            .map(|number| &self.elements[*number as usize])
            .map(|one| (one.shared, one.threads.clone()))
            .collect();
        least.sort_unstable();
        Basis { least, weights: Vec::new() }
    }
}

/// Returns whether a run may start above an element.
fn allows(start: &Start, element: &Element) -> bool {
    let enough = |(local, count): &(LocalId, u32)| {
        start.any.contains(local) || start.threads.iter().filter(|thread| *thread == local).count() >= *count as usize
    };
    start.shared == element.shared && element.threads.counts().iter().all(enough)
}
