//! The greatest set of facts that is closed under all steps.
//!
//! A *key* is a list of at most `k` places of threads, with whether another thread holds the atomic flag. At first no
//! key is met, and nothing holds. *Order of work.* A key that was met, or of which a fact was given up, waits. All
//! macro steps that it has a part in are asked about: is there one from states in which all facts hold, to threads
//! whose key was not met, or of which a fact does not hold? A solver answers with such a step, or says that there is
//! none. The key is met then, with all candidates; and those that the step refutes are given up. *Invariant.* No step
//! from keys that do not wait leads out of the set. *End.* Each answer meets a key or gives a fact up, and there are
//! finitely many. *Right.* In the end the set is closed, and the judge checks that.
//!
//! Errors are asked about at once, since sets only grow: where one is possible, these candidates prove nothing.

use std::collections::{BTreeSet, VecDeque};

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use selvedge_check::{Event, Role, Run, Stop};
use selvedge_ir::{Count, LocId, Scope, VarId};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, SatLit, Solver};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::step::circuit::{self, Valuation};

use super::super::choose::choose;
use super::block::{Block, Graph};
use super::candidates::Candidates;
use super::fact::{Fact, Slot};

/// Places of threads in ascending order, by number, and whether another thread holds the atomic flag.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) threads: Vec<u32>,
    pub(super) held: bool,
}

/// The search for views of `k` threads.
pub(super) struct Search<'a> {
    pub(super) graph: &'a Graph<'a>,
    pub(super) candidates: &'a Candidates<'a>,
    run: &'a Run<'a>,
    pub(super) k: usize,
    pub(super) aig: Aig,
    shared: Valuation,
    /// The variables of each of `k + 1` threads, the one that moves first.
    threads: Vec<FxHashMap<VarId, Lit>>,
    blocks: FxHashMap<u32, std::rc::Rc<Block>>,
    /// The facts that have not been given up, by key.
    pub(super) known: IndexMap<Key, Vec<Fact>, FxBuildHasher>,
    waiting: VecDeque<Key>,
    /// The places that threads were met at, except the prelude's.
    met: BTreeSet<u32>,
}

/// A thread after a step: its place and its variables.
struct After {
    place: u32,
    vars: Vars,
}

/// The variables of a thread.
enum Vars {
    /// Those of the thread with this number, which did not move.
    Old(usize),
    New(Valuation),
}

/// Threads that are looked at as a list of places: for each place the number of the thread.
type Order = Vec<usize>;

impl<'a> Search<'a> {
    pub(super) fn new(graph: &'a Graph<'a>, candidates: &'a Candidates<'a>, k: usize, run: &'a Run<'a>) -> Search<'a> {
        let mut aig = Aig::new();
        let vars = |scope: &dyn Fn(Scope) -> bool| -> Vec<VarId> {
            graph.program.vars.iter_enumerated().filter(|(_, var)| scope(var.scope)).map(|(id, _)| id).collect()
        };
        let shared = vars(&|scope| scope == Scope::Shared);
        let own = vars(&|scope| scope != Scope::Shared);
        let shared = shared.into_iter().map(|var| (var, circuit::any_value(&mut aig))).collect();
        let threads = (0..=k).map(|_| own.iter().map(|var| (*var, circuit::any_value(&mut aig))).collect()).collect();
        Search {
            graph,
            candidates,
            run,
            k,
            aig,
            shared,
            threads,
            blocks: FxHashMap::default(),
            known: IndexMap::default(),
            waiting: VecDeque::new(),
            met: BTreeSet::new(),
        }
    }

    /// Closes the set. Returns whether it has no error.
    pub(super) fn run(&mut self) -> Result<bool, Stop> {
        match self.start().and_then(|()| self.close()) {
            Ok(()) => Ok(true),
            Err(Ended::Error) => Ok(false),
            Err(Ended::Stop(stop)) => Err(stop),
        }
    }

    fn close(&mut self) -> Result<(), Ended> {
        while let Some(key) = self.waiting.pop_front() {
            self.run.check_limits()?;
            self.run.event(Event::Views { k: self.k, views: self.known.len(), waiting: self.waiting.len() });
            if !key.held {
                self.members(&key)?;
            }
            if key.threads.len() == self.k && !self.is_prelude(key.threads[0]) {
                self.outsiders(&key)?;
            }
        }
        self.meetings()
    }

    fn place(&self, number: u32) -> Place {
        self.graph.places[number as usize]
    }

    fn number(&self, place: Place) -> u32 {
        self.graph.places.binary_search(&place).expect("threads are seen at places only") as u32
    }

    fn is_holder(&self, place: u32) -> bool {
        matches!(self.place(place).role, Role::Holder(_))
    }

    fn is_prelude(&self, place: u32) -> bool {
        self.place(place).role == Role::Prelude
    }

    /// Begins: the prelude, or the initial threads.
    fn start(&mut self) -> Result<(), Ended> {
        let program = self.graph.program;
        let mut begin = circuit::begin(&mut self.aig, program).valuation;
        match program.prelude {
            Some(proc) => {
                let per_thread = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Thread);
                per_thread.for_each(|var| begin.set(var, Lit::FALSE));
                let place = self.number(Place { role: Role::Prelude, loc: program.procs[proc].entry });
                let after = vec![After { place, vars: Vars::New(begin.clone()) }];
                self.claim(&[], Lit::TRUE, &after, &begin, &[0])
            }
            None => self.initial(&[], Lit::TRUE, &begin),
        }
    }

    /// The initial threads begin, where the shared variables have these values: all lists of at most `k` of them.
    fn initial(&mut self, sources: &[(Key, Order)], guard: Lit, shared: &Valuation) -> Result<(), Ended> {
        let program = self.graph.program;
        let (mut after, mut least) = (Vec::new(), 0);
        for (kind, entry) in program.entries.iter_enumerated() {
            let most = match entry.count {
                Count::Exactly(count) | Count::AtMost(count) => (count as usize).min(self.k),
                Count::Any => self.k,
            };
            least += if matches!(entry.count, Count::Exactly(_)) { most } else { 0 };
            for _ in 0..most {
                let place = self.number(Place { role: Role::Free(kind), loc: program.procs[entry.proc].entry });
                let begun = circuit::begin_kind(&mut self.aig, program, kind, shared).valuation;
                after.push(After { place, vars: Vars::New(begun) });
            }
        }
        for size in least.clamp(1, self.k)..=self.k.min(after.len()) {
            for chosen in choose(after.len(), size) {
                self.claim(sources, guard, &after, shared, &chosen)?;
            }
        }
        Ok(())
    }

    /// The steps of the threads of a key.
    fn members(&mut self, key: &Key) -> Result<(), Ended> {
        let holder = key.threads.iter().position(|place| self.is_holder(*place));
        for mover in 0..key.threads.len() {
            let is_repeated = mover > 0 && key.threads[mover] == key.threads[mover - 1];
            if is_repeated || holder.is_some_and(|holder| holder != mover) {
                continue;
            }
            // The thread that moves has number 0.
            let order: Order =
                (0..key.threads.len()).map(|at| if at == mover { 0 } else { at + usize::from(at < mover) }).collect();
            let mut places = key.threads.clone();
            let place = places.remove(mover);
            places.insert(0, place);
            self.steps(&places, &[(key.clone(), order)], true)?;
        }
        Ok(())
    }

    /// The steps of one of `k + 1` threads of which those of the key are a part.
    fn outsiders(&mut self, key: &Key) -> Result<(), Ended> {
        for more in self.met.clone() {
            if self.is_holder(more) != key.held {
                continue;
            }
            let mut all = key.threads.clone();
            all.push(more);
            all.sort_unstable();
            let holder = all.iter().position(|place| self.is_holder(*place));
            for mover in 0..all.len() {
                let is_repeated = mover > 0 && all[mover] == all[mover - 1];
                if is_repeated || holder.is_some_and(|holder| holder != mover) {
                    continue;
                }
                let mut places = all.clone();
                let place = places.remove(mover);
                places.insert(0, place);
                let lists: Vec<(Key, Order)> =
                    choose(places.len(), self.k).into_iter().map(|chosen| self.list(&places, &chosen)).collect();
                if lists.iter().all(|(key, _)| self.known.contains_key(key)) {
                    self.steps(&places, &lists, false)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the key of some threads, and the threads in the order of the key.
    fn list(&self, places: &[u32], chosen: &[usize]) -> (Key, Order) {
        let mut order = chosen.to_vec();
        order.sort_by_key(|thread| places[*thread]);
        let held = (0..places.len()).any(|thread| !chosen.contains(&thread) && self.is_holder(places[thread]));
        (Key { threads: order.iter().map(|thread| places[*thread]).collect(), held }, order)
    }

    fn block(&mut self, place: u32) -> std::rc::Rc<Block> {
        if let Some(known) = self.blocks.get(&place) {
            return known.clone();
        }
        let own = &self.threads[0];
        let at = self.place(place);
        let own = self.graph.own(at.loc).map(|var| (var, own[&var]));
        let now = self.shared.iter().chain(own).collect();
        let block = std::rc::Rc::new(self.graph.block(&mut self.aig, at, now));
        self.blocks.insert(place, block.clone());
        block
    }

    /// The steps of the first of some threads. `are_all` says whether these are all threads that are looked at: then
    /// all lists of threads after the step must be known, otherwise only that of the others.
    fn steps(&mut self, places: &[u32], sources: &[(Key, Order)], are_all: bool) -> Result<(), Ended> {
        self.run.tick()?;
        let block = self.block(places[0]);
        if are_all && block.error != Lit::FALSE && self.is_possible(sources, block.error)? {
            return Err(Ended::Error);
        }
        for outcome in &block.outcomes {
            let old = |(thread, place): (usize, &u32)| After { place: *place, vars: Vars::Old(thread) };
            let mut after: Vec<After> = places.iter().enumerate().skip(1).map(old).collect();
            let n_others = after.len();
            if self.is_prelude(places[0]) && outcome.to.is_none() {
                self.initial(sources, outcome.guard, &outcome.after)?;
                continue;
            }
            if let Some(to) = outcome.to {
                after.push(After { place: self.number(to), vars: Vars::New(outcome.after.clone()) });
            }
            if let Some((child, begun)) = &outcome.child {
                after.push(After { place: self.number(*child), vars: Vars::New(begun.clone()) });
            }
            if are_all {
                for chosen in choose(after.len(), self.k.min(after.len())) {
                    self.claim(sources, outcome.guard, &after, &outcome.after, &chosen)?;
                }
            } else if self.is_noticed(&outcome.after, places[0], outcome.to) {
                let others: Vec<usize> = (0..n_others).collect();
                self.claim(sources, outcome.guard, &after, &outcome.after, &others)?;
            }
        }
        Ok(())
    }

    /// Returns whether others can notice a step: a shared variable may change, or whether the flag is held.
    fn is_noticed(&self, after: &Valuation, from: u32, to: Option<Place>) -> bool {
        let holds = to.is_some_and(|to| matches!(to.role, Role::Holder(_)));
        holds != self.is_holder(from) || self.shared.iter().any(|(var, lit)| after.get(var) != lit)
    }

    /// Some threads after a step must be known where the guard holds: the key is met, and its facts hold.
    fn claim(
        &mut self,
        sources: &[(Key, Order)],
        guard: Lit,
        after: &[After],
        shared: &Valuation,
        chosen: &[usize],
    ) -> Result<(), Ended> {
        if chosen.is_empty() || guard == Lit::FALSE {
            return Ok(());
        }
        let places: Vec<u32> = after.iter().map(|after| after.place).collect();
        let (key, order) = self.list(&places, chosen);
        let mut facts = match self.known.get(&key) {
            Some(facts) => facts.clone(),
            None => self.candidates.of(&self.locs(&key)),
        };
        let is_new = !self.known.contains_key(&key);
        let (mut aig, n_facts) = (std::mem::take(&mut self.aig), facts.len());
        let mut lits: Vec<Lit> = {
            let value = |slot: Slot| self.value(slot, shared, &|thread| &after[order[thread]].vars);
            facts.iter().map(|fact| fact.lit(&mut aig, &value)).collect()
        };
        self.aig = aig;
        let mut mirrored = self.mirrored(&key, &order, &facts, after, shared);
        let mut query = Query::new(self.run);
        let assumed = self.assumed(sources);
        for lit in &assumed {
            query.require(&self.aig, *lit);
        }
        let assumed: FxHashSet<Lit> = assumed.into_iter().collect();
        query.require(&self.aig, guard);
        if is_new {
            if !query.is_satisfiable(&self.aig, None)? {
                return Ok(());
            }
            if self.locs(&key).iter().any(|loc| self.graph.target.has_loc(*loc)) {
                return Err(Ended::Error);
            }
            self.refuted(&query, &mut facts, &mut lits, &mut mirrored);
        }
        loop {
            let all = lits.iter().chain(mirrored.iter().flatten());
            let open: Vec<Lit> =
                all.copied().filter(|lit| *lit != Lit::TRUE && !assumed.contains(lit)).map(|lit| !lit).collect();
            if open.is_empty() {
                break;
            }
            let some = self.aig.or_all(&open);
            if some == Lit::FALSE || !query.is_satisfiable(&self.aig, Some(some))? {
                break;
            }
            self.refuted(&query, &mut facts, &mut lits, &mut mirrored);
        }
        if is_new || facts.len() < n_facts {
            self.learn(key, facts);
        }
        Ok(())
    }

    /// Takes note of the facts of a key, which is looked at again.
    fn learn(&mut self, key: Key, facts: Vec<Fact>) {
        let met: Vec<u32> = key.threads.iter().copied().filter(|place| !self.is_prelude(*place)).collect();
        self.met.extend(met);
        if !self.waiting.contains(&key) {
            self.waiting.push_back(key.clone());
        }
        self.known.insert(key, facts);
    }

    /// The facts about threads at one place must hold in both orders.
    fn mirrored(
        &mut self,
        key: &Key,
        order: &Order,
        facts: &[Fact],
        after: &[After],
        shared: &Valuation,
    ) -> Option<Vec<Lit>> {
        let [one, other] = key.threads.as_slice() else { return None };
        if one != other {
            return None;
        }
        let mut aig = std::mem::take(&mut self.aig);
        let order: Order = order.iter().rev().copied().collect();
        let value = |slot: Slot| self.value(slot, shared, &|thread| &after[order[thread]].vars);
        let lits = facts.iter().map(|fact| fact.lit(&mut aig, &value)).collect();
        self.aig = aig;
        Some(lits)
    }

    /// Gives up the facts that do not hold in the solution.
    fn refuted(&self, query: &Query<'_>, facts: &mut Vec<Fact>, lits: &mut Vec<Lit>, mirrored: &mut Option<Vec<Lit>>) {
        let holds = query.values(&self.aig, lits);
        let also = mirrored.as_ref().map(|lits| query.values(&self.aig, lits));
        let keep: Vec<bool> =
            holds.iter().enumerate().map(|(at, holds)| *holds && also.as_ref().is_none_or(|also| also[at])).collect();
        let retain = |lits: &mut Vec<Lit>| {
            let mut kept = keep.iter();
            lits.retain(|_| *kept.next().expect("there is one for each"));
        };
        retain(lits);
        mirrored.iter_mut().for_each(retain);
        let mut kept = keep.iter();
        facts.retain(|_| *kept.next().expect("there is one for each"));
    }

    fn locs(&self, key: &Key) -> Vec<LocId> {
        key.threads.iter().map(|place| self.place(*place).loc).collect()
    }

    /// Returns the value of a variable of some threads.
    fn value<'v>(&'v self, slot: Slot, shared: &Valuation, vars: &dyn Fn(usize) -> &'v Vars) -> Lit {
        let (Slot::Shared(var) | Slot::Own(_, var)) = slot;
        if let Some(lit) = shared.find(var).filter(|_| self.graph.program.vars[var].scope == Scope::Shared) {
            return lit;
        }
        let Slot::Own(thread, var) = slot else { unreachable!("shared variables have values") };
        match vars(thread as usize) {
            Vars::Old(thread) => self.threads[*thread][&var],
            Vars::New(valuation) => valuation.get(var),
        }
    }

    /// Returns the facts of some keys, about threads before a step.
    fn assumed(&mut self, sources: &[(Key, Order)]) -> Vec<Lit> {
        let mut aig = std::mem::take(&mut self.aig);
        let mut lits = Vec::new();
        for (key, order) in sources {
            let olds: Vec<Vars> = order.iter().map(|thread| Vars::Old(*thread)).collect();
            let value = |slot: Slot| self.value(slot, &self.shared, &|thread| &olds[thread]);
            lits.extend(self.known[key].iter().map(|fact| fact.lit(&mut aig, &value)));
        }
        self.aig = aig;
        lits
    }

    fn is_possible(&mut self, sources: &[(Key, Order)], guard: Lit) -> Result<bool, Stop> {
        let mut query = Query::new(self.run);
        for lit in self.assumed(sources) {
            query.require(&self.aig, lit);
        }
        query.require(&self.aig, guard);
        query.is_satisfiable(&self.aig, None)
    }

    /// Threads must not be at certain locations together.
    fn meetings(&mut self) -> Result<(), Ended> {
        for meeting in &self.graph.target.together {
            if meeting.len() <= self.k {
                let count = |locs: &[LocId], at: LocId| locs.iter().filter(|loc| **loc == at).count();
                let meets = |key: &Key| {
                    let locs = self.locs(key);
                    meeting.iter().all(|at| count(&locs, *at) >= count(meeting, *at))
                };
                if self.known.keys().any(meets) {
                    return Err(Ended::Error);
                }
            } else if self.k > 1 || meeting.len() > 2 || self.meets(meeting)? {
                return Err(Ended::Error);
            }
        }
        Ok(())
    }

    /// Two threads, which are seen one at a time, may be at two locations.
    fn meets(&mut self, meeting: &[LocId]) -> Result<bool, Stop> {
        let at = |loc: LocId| -> Vec<Key> {
            let is_there = |key: &&Key| self.place(key.threads[0]).loc == loc && !self.is_prelude(key.threads[0]);
            self.known.keys().filter(is_there).cloned().collect()
        };
        let (ones, others) = (at(meeting[0]), at(meeting[1]));
        for one in &ones {
            for other in &others {
                let holders = [one, other].map(|key| self.is_holder(key.threads[0]));
                let by_them = one.held == holders[1] && other.held == holders[0] && holders != [true, true];
                let fits = by_them || one.held && other.held && holders == [false, false];
                if fits && self.is_possible(&[(one.clone(), vec![0]), (other.clone(), vec![1])], Lit::TRUE)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Why a search ended.
enum Ended {
    Error,
    Stop(Stop),
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Ended {
        Ended::Stop(stop)
    }
}

/// A question to a solver of its own.
struct Query<'a> {
    solver: Solver,
    encoder: Encoder,
    run: &'a Run<'a>,
}

impl<'a> Query<'a> {
    fn new(run: &'a Run<'a>) -> Query<'a> {
        Query { solver: Solver::new(), encoder: Encoder::new(), run }
    }

    fn require(&mut self, aig: &Aig, lit: Lit) {
        if lit == Lit::FALSE {
            self.solver.add_clause(&[]);
        } else {
            self.encoder.assert(aig, lit, &mut self.solver);
        }
    }

    fn is_satisfiable(&mut self, aig: &Aig, more: Option<Lit>) -> Result<bool, Stop> {
        let assumed: Vec<SatLit> =
            more.into_iter().map(|lit| self.encoder.encode(aig, lit, &mut self.solver)).collect();
        Ok(self.solver.solve(&assumed, |conflicts| self.run.check_search(conflicts))? == Answer::Sat)
    }

    /// Returns the values of literals in the solution. Inputs that the solver has not seen are false.
    fn values(&self, aig: &Aig, lits: &[Lit]) -> Vec<bool> {
        let value = |input: Input| self.encoder.find(aig.input(input)).is_some_and(|lit| self.solver.value(lit));
        aig.eval(lits, value)
    }
}
