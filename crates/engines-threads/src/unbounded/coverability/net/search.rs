//! The search of a net, forwards and backwards in turns.
//!
//! **Order of work.** Forwards, the configuration that is nearest to the goal is expanded first, according to the
//! marking equation. Backwards, elements wait in the order of their numbers of threads, as in `backward`,
//! and those that weights exclude are dropped. After some steps the other direction goes on. The search forwards ends
//! after a number of configurations, and leaves out transitions that transfer threads in several ways.
//!
//! **Invariant.** Forwards: all configurations are reached by the transitions by which they came. Backwards: from each
//! element a target can be covered; every configuration before a transition to something above an element that was
//! processed is above an element, or excluded by weights.
//!
//! **End.** As backwards, by Dickson's lemma.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use selvedge_check::{Event, Run, Stop};
use selvedge_ir::tts::{LocalId, SharedId, Start, Tts};

use super::super::Vector;
use super::super::transfer::origins;
use super::contract::{Net, Transition, ways};
use super::weights::{Distance, Far, Weights};

/// The steps of one direction before the other goes on.
const TURN: usize = 64;

/// Limit on the configurations forwards.
const MOST_FORWARDS: usize = 30_000;

/// The way to a goal: transitions, each with the configuration before it; of the start with the given number.
pub(super) struct Way {
    pub(super) start: usize,
    pub(super) steps: Vec<(usize, Vector)>,
}

/// The result of the search.
pub(super) enum Found {
    /// A way from a start to the goal. The configurations on it are those before the transitions, or below them.
    Way(Way),
    /// The least elements for each shared state, and the weights that exclude all other configurations.
    Basis(Vec<Vec<Vector>>, Vec<Weights>),
}

pub(super) struct Search<'t> {
    tts: &'t Tts,
    net: &'t Net,
    distance: Distance<'t>,
    /// For each shared state the transitions that lead there, and those that lead away.
    into: Vec<Vec<usize>>,
    out: Vec<Vec<usize>>,
    forwards: Forwards,
    elements: Vec<Element>,
    /// For each shared state the least elements.
    least: Vec<Vec<u32>>,
    waiting: BinaryHeap<Reverse<(u64, u32)>>,
    weights: Vec<Weights>,
}

/// The configurations that were reached.
#[derive(Default)]
struct Forwards {
    seen: IndexMap<(SharedId, Vector), Origin, FxBuildHasher>,
    /// The nearest first, among these the newest.
    waiting: BinaryHeap<(Reverse<u64>, usize)>,
}

/// The origin of a configuration.
#[derive(Clone, Copy)]
enum Origin {
    /// The start with this number.
    Start(usize),
    /// The configuration before, by its number, and the transition.
    Step(usize, usize),
}

struct Element {
    shared: SharedId,
    threads: Vector,
    /// The transition that leads from this element to something above another one.
    next: Option<(usize, u32)>,
    /// True if another element is below this one.
    dropped: bool,
}

impl<'t> Search<'t> {
    pub(super) fn new(tts: &'t Tts, net: &'t Net, distance: Distance<'t>) -> Search<'t> {
        let n = net.goal.index() + 1;
        let (mut into, mut out) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for (number, transition) in net.transitions.iter().enumerate() {
            into[transition.to.index()].push(number);
            out[transition.from.index()].push(number);
        }
        Search {
            tts,
            net,
            distance,
            into,
            out,
            forwards: Forwards::default(),
            elements: Vec::new(),
            least: vec![Vec::new(); n],
            waiting: BinaryHeap::new(),
            weights: Vec::new(),
        }
    }

    /// Searches until the question is decided, or `most` elements were processed: then it returns `None`.
    pub(super) fn decide(mut self, most: usize, run: &Run<'_>) -> Result<Option<Found>, Stop> {
        self.add(self.net.goal, Vector::default(), None);
        for (number, start) in self.tts.starts.iter().enumerate() {
            self.reach(start.shared, self.first(start), Origin::Start(number));
        }
        let mut n_done = 0;
        while n_done < most {
            for _ in 0..TURN {
                if let Some(at) = self.step_forwards(run)? {
                    return Ok(Some(Found::Way(self.forwards.way(at))));
                }
            }
            for _ in 0..TURN {
                let Some(Reverse((_, number))) = self.waiting.pop() else { return Ok(Some(self.basis())) };
                run.check_limits()?;
                let element = &self.elements[number as usize];
                if element.dropped {
                    continue;
                }
                let starts = self.tts.starts.iter().enumerate();
                if let Some((start, _)) = starts.clone().find(|(_, start)| is_above(start, element)) {
                    return Ok(Some(Found::Way(self.way_from(number, start))));
                }
                n_done += 1;
                self.step_backwards(number, run)?;
            }
            run.event(Event::Searched { visited: self.elements.len(), waiting: self.waiting.len(), depth: 0 });
        }
        Ok(None)
    }

    /// Returns the configurations of a start as far as they matter.
    fn first(&self, start: &Start) -> Vector {
        let mut first = Vector::default();
        let matters = |local: &&LocalId| self.net.useful.contains(local.index());
        start.threads.iter().filter(matters).for_each(|local| first.add(*local));
        start.any.iter().filter(matters).for_each(|local| first.add_omega(*local));
        first
    }

    fn reach(&mut self, shared: SharedId, threads: Vector, origin: Origin) {
        if self.forwards.seen.len() >= MOST_FORWARDS || self.forwards.seen.contains_key(&(shared, threads.clone())) {
            return;
        }
        let far = match self.distance.of_goal(shared, &threads) {
            Far::Never => return,
            Far::Steps(steps) => (steps * 1024.0) as u64,
            Far::Unknown => u64::MAX,
        };
        let (number, _) = self.forwards.seen.insert_full((shared, threads), origin);
        self.forwards.waiting.push((Reverse(far), number));
    }

    /// Expands the nearest configuration; returns its number if it is at the goal.
    fn step_forwards(&mut self, run: &Run<'_>) -> Result<Option<usize>, Stop> {
        let Some((_, number)) = self.forwards.waiting.pop() else { return Ok(None) };
        let ((shared, threads), _) = self.forwards.seen.get_index(number).expect("it was reached");
        let (shared, threads) = (*shared, threads.clone());
        if shared == self.net.goal {
            return Ok(Some(number));
        }
        for at in self.out[shared.index()].clone() {
            run.tick()?;
            let transition = &self.net.transitions[at];
            if let Some(after) = self.after(transition, &threads) {
                self.reach(transition.to, after, Origin::Step(number, at));
            }
        }
        Ok(None)
    }

    /// Returns the configuration after a transition, if the threads that it needs are there and all others have one way
    /// to go.
    fn after(&self, transition: &Transition, threads: &Vector) -> Option<Vector> {
        if !transition.needs.is_covered_by(threads) {
            return None;
        }
        let mut left = threads.clone();
        transition.needs.threads().into_iter().for_each(|local| {
            left.remove(local);
        });
        let mut after = Vector::default();
        let mut put = |local: LocalId, count: u32| {
            if self.net.useful.contains(local.index()) {
                after.add_many(local, count);
            }
        };
        for (local, count) in left.counts() {
            let [way] = ways(&transition.transfers, local) else { return None };
            put(*way, *count);
        }
        transition.puts.counts().iter().for_each(|(local, count)| put(*local, *count));
        Some(after)
    }

    fn step_backwards(&mut self, number: u32, run: &Run<'_>) -> Result<(), Stop> {
        let Element { shared, threads, .. } = &self.elements[number as usize];
        let (shared, threads) = (*shared, threads.clone());
        for at in self.into[shared.index()].clone() {
            run.tick()?;
            let transition = &self.net.transitions[at];
            for before in before(transition, &threads, run)? {
                self.add(transition.from, before, Some((at, number)));
            }
        }
        Ok(())
    }

    fn add(&mut self, shared: SharedId, threads: Vector, next: Option<(usize, u32)>) {
        let (elements, least) = (&mut self.elements, &mut self.least[shared.index()]);
        if least.iter().rev().any(|other| elements[*other as usize].threads.is_covered_by(&threads)) {
            return;
        }
        if shared != self.net.goal {
            if self.weights.iter().any(|weights| weights.exclude(shared, &threads)) {
                return;
            }
            if let Some(weights) = self.distance.excluding(shared, &threads) {
                self.weights.push(weights);
                return;
            }
        }
        least.retain(|other| {
            let other = &mut elements[*other as usize];
            let above = threads.is_covered_by(&other.threads);
            other.dropped |= above;
            !above
        });
        let number = elements.len() as u32;
        self.waiting.push(Reverse((threads.total(), number)));
        elements.push(Element { shared, threads, next, dropped: false });
        least.push(number);
    }

    /// Returns the way from a start that is above an element.
    fn way_from(&self, element: u32, start: usize) -> Way {
        let mut steps = Vec::new();
        let mut at = &self.elements[element as usize];
        while let Some((transition, next)) = at.next {
            steps.push((transition, at.threads.clone()));
            at = &self.elements[next as usize];
        }
        Way { start, steps }
    }

    fn basis(self) -> Found {
        let Search { elements, least, mut weights, net, .. } = self;
        let threads = |number: &u32| elements[*number as usize].threads.clone();
        let mut least: Vec<Vec<Vector>> = least.iter().map(|here| here.iter().map(threads).collect()).collect();
        least.truncate(net.goal.index());
        weights.dedup();
        Found::Basis(least, weights)
    }
}

impl Forwards {
    fn way(&self, at: usize) -> Way {
        let mut steps = Vec::new();
        let mut at = at;
        loop {
            let (_, origin) = self.seen.get_index(at).expect("it was reached");
            match *origin {
                Origin::Step(before, transition) => {
                    let ((_, threads), _) = self.seen.get_index(before).expect("it was reached");
                    steps.push((transition, threads.clone()));
                    at = before;
                }
                Origin::Start(start) => {
                    steps.reverse();
                    return Way { start, steps };
                }
            }
        }
    }
}

/// Returns the least configurations from which a transition leads above some threads.
fn before(transition: &Transition, threads: &Vector, run: &Run<'_>) -> Result<Vec<Vector>, Stop> {
    let mut left = threads.clone();
    for local in transition.puts.threads() {
        left.remove(local);
    }
    origins(&transition.transfers, &left, &transition.needs, run)
}

fn is_above(start: &Start, element: &Element) -> bool {
    let enough = |(local, count): &(LocalId, u32)| {
        let there = start.threads.iter().filter(|thread| *thread == local).count();
        start.any.contains(local) || there >= *count as usize
    };
    start.shared == element.shared && element.threads.counts().iter().all(enough)
}
