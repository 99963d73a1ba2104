//! A thread-transition system as a net: rules are joined where the shared state between them is passed through.
//!
//! Where a system represents a Petri net, the shared state records the progress of a transition, which takes and puts
//! its tokens one by one. Other threads do not move in between, so that the steps together are one transition, which
//! needs several threads and puts several.
//!
//! **Order of work.** A shared state is eliminated that is no start, and from which no rule leads to itself: each pair
//! of a transition that leads there and one that leads away becomes one, if these are not more than those they replace.
//! What the second needs is taken from what the first has put, and the rest from the threads before.
//!
//! **Right.** Threads in the same state are not told apart. Between two steps that are joined no other is possible, as
//! each visit to the shared state begins with one that leads there and ends with one that leads away. Transfers are
//! joined only where it is known what is transferred: else the state stays.
//!
//! **End.** Each elimination makes one shared state fewer.

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop};
use selvedge_ir::tts::{LocalId, Rule, RuleId, SharedId, Tts};

use super::super::Vector;

/// Transfers, as in a rule: in ascending order of the states, with the states to one of which each thread there goes.
type Transfers = Vec<(LocalId, Vec<LocalId>)>;

/// A step of several threads.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub(super) from: SharedId,
    pub(super) to: SharedId,
    /// The threads that it takes away.
    pub(super) needs: Vector,
    /// The threads that it puts, after the transfers.
    pub(super) puts: Vector,
    /// What becomes of all others.
    pub(super) transfers: Transfers,
    /// The rules that it consists of.
    pub(super) rules: Vec<RuleId>,
    /// The number of the target, if it leads to the goal.
    pub(super) target: Option<usize>,
}

/// The net of a system. The goal is a further shared state, to which a transition leads from each target.
pub(super) struct Net {
    pub(super) transitions: Vec<Transition>,
    pub(super) goal: SharedId,
    /// The shared states that were eliminated, each after those to which its rules lead.
    pub(super) eliminated: Vec<SharedId>,
    /// The local states that matter: transitions need threads there, or threads there may become such.
    pub(super) useful: FixedBitSet,
}

/// Makes the net of a system.
pub(super) fn contract(tts: &Tts, run: &Run<'_>) -> Result<Net, Stop> {
    let goal = SharedId::from_raw(tts.n_shared);
    let mut contraction = Contraction::new(tts, goal);
    let mut waiting: Vec<SharedId> = (0..tts.n_shared).rev().map(SharedId::from_raw).collect();
    while let Some(shared) = waiting.pop() {
        run.tick()?;
        if contraction.eliminate(shared) {
            // Its neighbours may have become candidates; those with a higher number still wait.
            waiting.extend(contraction.retry.drain(..).filter(|other| *other < shared));
        }
    }
    let transitions: Vec<Transition> = contraction.all.into_iter().flatten().collect();
    let useful = useful(tts.n_local, &transitions);
    Ok(Net { transitions, goal, eliminated: in_order(tts, &contraction.gone), useful })
}

struct Contraction {
    all: Vec<Option<Transition>>,
    /// For each shared state the transitions that lead there, and those that lead away.
    into: Vec<Vec<usize>>,
    out: Vec<Vec<usize>>,
    /// The shared states that stay in any case.
    kept: FixedBitSet,
    gone: FixedBitSet,
    /// States whose transitions have changed.
    retry: Vec<SharedId>,
}

impl Contraction {
    fn new(tts: &Tts, goal: SharedId) -> Contraction {
        let n = goal.index() + 1;
        let mut kept = FixedBitSet::with_capacity(n);
        kept.insert(goal.index());
        tts.starts.iter().for_each(|start| kept.insert(start.shared.index()));
        let (into, out) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        let gone = FixedBitSet::with_capacity(n);
        let mut contraction = Contraction { all: Vec::new(), into, out, kept, gone, retry: Vec::new() };
        // A rule that changes nothing would keep its shared state.
        let changes = |rule: &Rule| rule.shared != rule.shared_after || rule.after != [rule.local] || moves(rule);
        for (id, rule) in tts.rules.iter_enumerated().filter(|(_, rule)| changes(rule)) {
            contraction.add(Transition {
                from: rule.shared,
                to: rule.shared_after,
                needs: Vector::of(&[rule.local]),
                puts: Vector::of(&rule.after),
                transfers: rule.transfers.clone(),
                rules: vec![id],
                target: None,
            });
        }
        for (number, target) in tts.targets.iter().enumerate() {
            contraction.add(Transition {
                from: target.shared,
                to: goal,
                needs: Vector::of(&target.threads),
                puts: Vector::default(),
                transfers: Vec::new(),
                rules: Vec::new(),
                target: Some(number),
            });
        }
        contraction
    }

    fn add(&mut self, transition: Transition) {
        let number = self.all.len();
        self.into[transition.to.index()].push(number);
        self.out[transition.from.index()].push(number);
        self.all.push(Some(transition));
    }

    /// Eliminates a shared state, if that makes the net smaller; returns whether it is gone.
    fn eliminate(&mut self, shared: SharedId) -> bool {
        let at = shared.index();
        if self.kept.contains(at) || self.gone.contains(at) {
            return false;
        }
        let lives = |number: &usize| self.all[*number].is_some();
        let into: Vec<usize> = self.into[at].iter().copied().filter(lives).collect();
        let out: Vec<usize> = self.out[at].iter().copied().filter(lives).collect();
        let is_loop = |number: &usize| self.all[*number].as_ref().is_some_and(|one| one.from == one.to);
        if into.len() * out.len() > into.len() + out.len() || out.iter().any(is_loop) {
            return false;
        }
        let Some(joined) = self.joined(&into, &out) else { return false };
        for number in into.iter().chain(&out) {
            let gone = self.all[*number].take().expect("it lives");
            self.retry.extend([gone.from, gone.to]);
        }
        self.gone.insert(at);
        joined.into_iter().for_each(|transition| self.add(transition));
        true
    }

    fn joined(&self, into: &[usize], out: &[usize]) -> Option<Vec<Transition>> {
        let pairs = into.iter().flat_map(|first| out.iter().map(move |second| (*first, *second)));
        pairs.map(|(first, second)| join(self.all[first].as_ref()?, self.all[second].as_ref()?)).collect()
    }
}

fn moves(rule: &Rule) -> bool {
    !rule.transfers.is_empty()
}

/// Joins two transitions, if it is known what is transferred.
fn join(first: &Transition, second: &Transition) -> Option<Transition> {
    let (mut needs, mut left) = (first.needs.clone(), first.puts.clone());
    for local in second.needs.threads() {
        if left.remove(local) {
            continue;
        }
        let moved = first.transfers.iter().filter(|(_, to)| to.contains(&local)).map(|(from, _)| *from);
        let stays = first.transfers.iter().all(|(from, _)| *from != local).then_some(local);
        let mut origins = stays.into_iter().chain(moved);
        let origin = origins.next()?;
        // One that has several ways might have gone another one, which is not the same.
        let is_sure = origins.next().is_none() && ways(&first.transfers, &origin).len() == 1;
        needs.add(is_sure.then_some(origin)?);
    }
    let mut puts = second.puts.clone();
    for local in left.threads() {
        let [way] = ways(&second.transfers, &local) else { return None };
        puts.add(*way);
    }
    let transfers = after_both(&first.transfers, &second.transfers);
    let rules = first.rules.iter().chain(&second.rules).copied().collect();
    Some(Transition { from: first.from, to: second.to, needs, puts, transfers, rules, target: second.target })
}

/// Returns the states to one of which a thread is transferred, or where it stays.
pub(super) fn ways<'t>(transfers: &'t [(LocalId, Vec<LocalId>)], local: &'t LocalId) -> &'t [LocalId] {
    let place = transfers.binary_search_by_key(local, |(from, _)| *from);
    place.map_or(std::slice::from_ref(local), |place| &transfers[place].1)
}

/// Returns the transfers of two steps.
fn after_both(first: &Transfers, second: &Transfers) -> Transfers {
    let mut from: Vec<LocalId> = first.iter().chain(second).map(|(from, _)| *from).collect();
    from.sort_unstable();
    from.dedup();
    let both = |from: LocalId| {
        let mut to: Vec<LocalId> =
            ways(first, &from).iter().flat_map(|between| ways(second, between)).copied().collect();
        to.sort_unstable();
        to.dedup();
        (from, to)
    };
    from.into_iter().map(both).filter(|(from, to)| to != &[*from]).collect()
}

fn useful(n_local: u32, transitions: &[Transition]) -> FixedBitSet {
    let mut useful = FixedBitSet::with_capacity(n_local as usize);
    let needed = transitions.iter().flat_map(|transition| transition.needs.counts());
    needed.for_each(|(local, _)| useful.insert(local.index()));
    loop {
        let n_before = useful.count_ones(..);
        for (from, to) in transitions.iter().flat_map(|transition| &transition.transfers) {
            if to.iter().any(|to| useful.contains(to.index())) {
                useful.insert(from.index());
            }
        }
        if useful.count_ones(..) == n_before {
            return useful;
        }
    }
}

/// Returns the shared states that were eliminated, each after those to which its rules lead. There is an order: a
/// cycle has a state that stays, since the last one of a cycle would have a transition to itself.
fn in_order(tts: &Tts, gone: &FixedBitSet) -> Vec<SharedId> {
    let mut left: FxHashMap<SharedId, usize> = gone.ones().map(|shared| (SharedId::from(shared), 0)).collect();
    let mut into: FxHashMap<SharedId, Vec<SharedId>> = FxHashMap::default();
    let is_inner = |rule: &&Rule| {
        let inside = gone.contains(rule.shared.index()) && gone.contains(rule.shared_after.index());
        inside && rule.shared != rule.shared_after
    };
    for rule in tts.rules.iter().filter(is_inner) {
        into.entry(rule.shared_after).or_default().push(rule.shared);
        *left.get_mut(&rule.shared).expect("it is gone") += 1;
    }
    let mut order: Vec<SharedId> = gone.ones().map(SharedId::from).filter(|shared| left[shared] == 0).collect();
    let mut next = 0;
    while let Some(shared) = order.get(next) {
        for before in into.get(shared).into_iter().flatten() {
            let left = left.get_mut(before).expect("it is gone");
            *left -= 1;
            if *left == 0 {
                order.push(*before);
            }
        }
        next += 1;
    }
    order
}
