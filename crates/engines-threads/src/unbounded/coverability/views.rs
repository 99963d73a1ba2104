//! The possible states of any k threads: view abstraction after Abdulla, Haziza and Holík, over explicit states.
//!
//! A view is a shared state and k threads, some of which may be *asleep*: they represent threads that do not exist.
//! There are always enough of them, so a spawn wakes one, and a start with exactly one thread has no view with two. A
//! set of views represents the configurations all of whose views are in it. The table is the least set that contains
//! the views of the starts and, with the k+1 threads of any configuration it represents, the views after a step of one
//! of them. So it contains the views of all reachable configurations.
//!
//! **Order of work.** A view {R, b} is kept as a bit b in the row of the k-1 threads R, once for each of its threads.
//! Rows with new bits wait in a queue. For a new bit b in the row of R let I be the threads w for which all views of
//! {R, b, w} are there: the intersection of the rows of all k-1 threads among {R, b}. Then
//! - b moves: the rules of b put threads into the row of R after the step;
//! - b moves and w is watched: all of I goes into the row of R after the step;
//! - some w of I moves and b is watched: b goes into the row of R after the step.
//!
//! Where the rule transfers threads, the watched ones become others: then each list that all watched threads can become
//! is a view.
//!
//! **Invariant.** Every step of k+1 threads all of whose views were taken from the queue has been done. The last of the
//! views to be taken does it, in whichever of the three ways it takes part.
//!
//! **End.** A bit is set once, and there are finitely many.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;
use selvedge_check::{Event, Run, Stop};
use selvedge_ir::tts::{Cover, LocalId, Rule, RuleId, SharedId, Start};
use smallvec::SmallVec;

use super::Rules;
use super::choices::{ThreadList, choose, repeat};
use super::transfer::lists_after;

/// A thread of a view: 0 if it is asleep, else the number of its local state plus 1.
type ViewThread = u32;
const ASLEEP: ViewThread = 0;

/// No row.
const NONE: u32 = u32::MAX;

/// A table of views.
#[derive(Clone, Debug)]
pub struct Table {
    k: usize,
    n_threads: usize,
    /// The number of words of a row.
    width: usize,
    index: Index,
    /// The shared state and the threads of each row.
    keys: Vec<(u32, ThreadList)>,
    /// The rows, one after the other.
    bits: Vec<u64>,
}

/// The numbers of the rows.
#[derive(Clone, Debug)]
enum Index {
    /// Indexed by the shared state and the one thread, or none.
    Direct(Vec<u32>),
    Hashed(FxHashMap<(u32, ThreadList), u32>),
}

/// Returns the views of k threads, if they admit no target.
pub fn prove(rules: &Rules<'_>, k: usize, run: &Run<'_>) -> Result<Option<Table>, Stop> {
    let targets = rules.tts.targets.iter().filter(|target| target.threads.len() <= k).collect();
    let Some(table) = Closure::new(rules, k, targets).close(run)? else { return Ok(None) };
    let admits = |target: &Cover| table.admits(target.shared, &target.threads);
    Ok((!rules.tts.targets.iter().any(admits)).then_some(table))
}

/// Computes the views of k threads.
pub fn table(rules: &Rules<'_>, k: usize, run: &Run<'_>) -> Result<Table, Stop> {
    let table = Closure::new(rules, k, Vec::new()).close(run)?;
    Ok(table.expect("without targets nothing stops it early"))
}

impl Table {
    fn new(n_shared: usize, n_local: usize, k: usize) -> Table {
        let n_threads = n_local + 1;
        let direct = n_shared.checked_mul(n_threads).filter(|size| *size <= 1 << 26);
        let index = match (k, direct) {
            (1, _) => Index::Direct(vec![NONE; n_shared]),
            (2, Some(size)) => Index::Direct(vec![NONE; size]),
            _ => Index::Hashed(FxHashMap::default()),
        };
        Table { k, n_threads, width: n_threads.div_ceil(64), index, keys: Vec::new(), bits: Vec::new() }
    }

    /// Returns the number of threads of a view.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Returns whether the table represents a configuration.
    pub fn admits(&self, shared: SharedId, threads: &[LocalId]) -> bool {
        let mut threads: ThreadList = threads.iter().map(|local| local.raw() + 1).collect();
        threads.sort_unstable();
        if threads.len() < self.k {
            threads.insert_many(0, std::iter::repeat_n(ASLEEP, self.k - threads.len()));
        }
        let mut all = true;
        choose(&threads, self.k, &mut ThreadList::new(), &mut |view| all &= self.has(shared.raw(), view));
        all
    }

    /// Returns the thread states that the table admits, in ascending order.
    pub fn thread_states(&self) -> Vec<(SharedId, LocalId)> {
        let alone: ThreadList = std::iter::repeat_n(ASLEEP, self.k - 1).collect();
        let mut states = Vec::new();
        for (number, (shared, threads)) in self.keys.iter().enumerate().filter(|(_, (_, threads))| *threads == alone) {
            debug_assert_eq!(threads.len(), self.k - 1);
            let awake = ones(self.row(number as u32)).filter(|thread| *thread != ASLEEP);
            states.extend(awake.map(|thread| (SharedId::from_raw(*shared), LocalId::from_raw(thread - 1))));
        }
        states.sort_unstable();
        states
    }

    /// Returns all views, in ascending order, without the threads that do not exist.
    pub fn views(&self) -> Vec<(SharedId, Vec<LocalId>)> {
        let mut views = Vec::new();
        for (number, (shared, threads)) in self.keys.iter().enumerate() {
            let last = threads.last().copied().unwrap_or(ASLEEP);
            for thread in ones(self.row(number as u32)).filter(|thread| *thread >= last) {
                let all = threads.iter().copied().chain([thread]).filter(|thread| *thread != ASLEEP);
                views.push((SharedId::from_raw(*shared), all.map(|thread| LocalId::from_raw(thread - 1)).collect()));
            }
        }
        views.sort_unstable();
        views
    }

    /// Returns whether the table has a view. Its threads are sorted.
    fn has(&self, shared: u32, view: &[ViewThread]) -> bool {
        let (last, rest) = view.split_last().expect("a view has a thread");
        self.find(shared, rest).is_some_and(|row| get(self.row(row), *last))
    }

    fn row(&self, number: u32) -> &[u64] {
        &self.bits[number as usize * self.width..][..self.width]
    }

    fn find(&self, shared: u32, threads: &[ViewThread]) -> Option<u32> {
        let number = match &self.index {
            Index::Direct(rows) => rows[self.direct(shared, threads)],
            Index::Hashed(rows) => *rows.get(&(shared, ThreadList::from_slice(threads)))?,
        };
        (number != NONE).then_some(number)
    }

    fn direct(&self, shared: u32, threads: &[ViewThread]) -> usize {
        match threads {
            [] => shared as usize,
            [thread, ..] => shared as usize * self.n_threads + *thread as usize,
        }
    }

    fn find_or_make(&mut self, shared: u32, threads: &[ViewThread]) -> u32 {
        if let Some(row) = self.find(shared, threads) {
            return row;
        }
        let number = self.keys.len() as u32;
        let place = self.direct(shared, threads);
        match &mut self.index {
            Index::Direct(rows) => rows[place] = number,
            Index::Hashed(rows) => drop(rows.insert((shared, ThreadList::from_slice(threads)), number)),
        }
        self.keys.push((shared, ThreadList::from_slice(threads)));
        self.bits.resize(self.bits.len() + self.width, 0);
        number
    }
}

/// The rules from one shared state to another.
struct RuleGroup {
    after: u32,
    /// The threads that have such rules; empty if the shared state stays, since then other threads cannot observe the
    /// step.
    movers: Vec<u64>,
}

struct Closure<'t> {
    rules: &'t Rules<'t>,
    /// The targets with at most k threads, which a single view can cover.
    targets: Vec<&'t Cover>,
    table: Table,
    /// The bits of each row that were not taken from the queue yet.
    fresh: Vec<u64>,
    queue: VecDeque<u32>,
    waits: FixedBitSet,
    /// For each shared state the groups of its rules, and for each rule its group.
    groups: Vec<Vec<RuleGroup>>,
    group_of: Vec<u32>,
    /// For each shared state the rules that transfer threads, each with the thread that takes it.
    transferring: Vec<Vec<(ViewThread, RuleId)>>,
    /// True if a view covers a target.
    met: bool,
}

/// The effect of the steps of one row.
struct Effect {
    /// For each group the threads that go into the row after the step.
    rows: Vec<Vec<u64>>,
    /// Further views, of which several threads are new.
    views: Vec<(u32, ThreadList)>,
}

impl<'t> Closure<'t> {
    fn new(rules: &'t Rules<'t>, k: usize, targets: Vec<&'t Cover>) -> Closure<'t> {
        let tts = rules.tts;
        let table = Table::new(tts.n_shared as usize, tts.n_local as usize, k);
        let (groups, group_of) = groups(rules, table.width);
        let (fresh, queue, waits) = (Vec::new(), VecDeque::new(), FixedBitSet::new());
        let mut transferring = vec![Vec::new(); tts.n_shared as usize];
        for (id, rule) in tts.rules.iter_enumerated().filter(|(_, rule)| !rule.transfers.is_empty()) {
            transferring[rule.shared.index()].push((rule.local.raw() + 1, id));
        }
        Closure { rules, targets, table, fresh, queue, waits, groups, group_of, transferring, met: false }
    }

    /// Computes the table; returns `None` if it admits a target.
    fn close(mut self, run: &Run<'_>) -> Result<Option<Table>, Stop> {
        for start in &self.rules.tts.starts {
            self.start(start, run)?;
        }
        let mut n_done = 0;
        while let Some(row) = self.queue.pop_front()
            && !self.met
        {
            run.check_limits()?;
            n_done += 1;
            if n_done % 1024 == 0 {
                let (visited, waiting) = (self.table.keys.len(), self.queue.len());
                run.event(Event::Searched { visited, waiting, depth: self.table.k });
            }
            self.waits.remove(row as usize);
            self.step(row, run)?;
        }
        Ok((!self.met).then_some(self.table))
    }

    fn start(&mut self, start: &Start, run: &Run<'_>) -> Result<(), Stop> {
        let k = self.table.k;
        let exact: ThreadList = start.threads.iter().map(|local| local.raw() + 1).collect();
        // A sleeping thread may be chosen any number of times.
        let any: ThreadList = [ASLEEP].into_iter().chain(start.any.iter().map(|local| local.raw() + 1)).collect();
        for n_exact in 0..=k.min(exact.len()) {
            let mut parts: Vec<ThreadList> = Vec::new();
            choose(&exact, n_exact, &mut ThreadList::new(), &mut |part| parts.push(ThreadList::from_slice(part)));
            for mut part in parts {
                run.tick()?;
                let shared = start.shared.raw();
                repeat(&any, k - n_exact, &mut part, &mut |view| self.insert(shared, ThreadList::from_slice(view)));
            }
        }
        Ok(())
    }

    /// Adds a view whose threads may be in any order.
    fn insert(&mut self, shared: u32, mut view: ThreadList) {
        view.sort_unstable();
        for place in 0..view.len() {
            if place > 0 && view[place] == view[place - 1] {
                continue;
            }
            let mut rest = view.clone();
            let thread = rest.remove(place);
            let row = self.table.find_or_make(shared, &rest);
            if !self.set(row, thread) {
                return;
            }
        }
        self.met |= self.targets.iter().any(|target| target.shared.raw() == shared && covers(&view, target));
    }

    /// Sets a bit; returns whether it is new.
    fn set(&mut self, row: u32, thread: ViewThread) -> bool {
        let first = row as usize * self.table.width;
        if get(&self.table.bits[first..], thread) {
            return false;
        }
        self.fresh.resize(self.table.bits.len(), 0);
        let (word, bit) = (first + thread as usize / 64, 1 << (thread % 64));
        self.table.bits[word] |= bit;
        self.fresh[word] |= bit;
        self.waits.grow(row as usize + 1);
        if !self.waits.put(row as usize) {
            self.queue.push_back(row);
        }
        true
    }

    /// Makes all steps in which the new bits of a row take part.
    fn step(&mut self, row: u32, run: &Run<'_>) -> Result<(), Stop> {
        let width = self.table.width;
        let fresh_row = &mut self.fresh[row as usize * width..][..width];
        let new: Vec<ViewThread> = ones(fresh_row).collect();
        fresh_row.fill(0);
        let (shared, rest) = self.table.keys[row as usize].clone();
        let effect = self.effect((shared, &rest), &new, run)?;
        for (group, found) in effect.rows.iter().enumerate() {
            let after = self.groups[shared as usize][group].after;
            let known = self.table.find(after, &rest);
            let fresh = |(word, bits): (usize, &u64)| bits & !known.map_or(0, |row| self.table.row(row)[word]);
            let fresh: Vec<u64> = found.iter().enumerate().map(fresh).collect();
            for thread in ones(&fresh) {
                let mut view = rest.clone();
                view.push(thread);
                self.insert(after, view);
            }
        }
        effect.views.into_iter().for_each(|(after, view)| self.insert(after, view));
        Ok(())
    }

    fn effect(&self, (shared, rest): (u32, &ThreadList), new: &[ViewThread], run: &Run<'_>) -> Result<Effect, Stop> {
        let groups = &self.groups[shared as usize];
        let mut effect = Effect { rows: vec![vec![0; self.table.width]; groups.len()], views: Vec::new() };
        let known: Vec<Option<u32>> = groups.iter().map(|group| self.table.find(group.after, rest)).collect();
        let mut others = vec![0; self.table.width];
        for thread in new {
            run.tick()?;
            self.moves((shared, rest), *thread, &mut effect);
            if !self.transferring[shared as usize].is_empty() {
                self.others((shared, rest), *thread, &mut others);
                self.transfers((shared, rest), *thread, &others, &mut effect, run)?;
            }
            let is_known = |group: usize| known[group].is_some_and(|row| get(self.table.row(row), *thread));
            let matters = |(group, moves): (usize, &RuleGroup)| {
                !moves.movers.is_empty() && (!is_known(group) || get(&moves.movers, *thread))
            };
            if !groups.iter().enumerate().any(matters) {
                continue;
            }
            self.others((shared, rest), *thread, &mut others);
            for (number, group) in groups.iter().enumerate().filter(|(_, group)| !group.movers.is_empty()) {
                let row = &mut effect.rows[number];
                if get(&group.movers, *thread) {
                    row.iter_mut().zip(&others).for_each(|(word, more)| *word |= more);
                }
                if !is_known(number) && group.movers.iter().zip(&others).any(|(mover, other)| mover & other != 0) {
                    row[*thread as usize / 64] |= 1 << (thread % 64);
                }
            }
        }
        Ok(effect)
    }

    /// Moves the thread and watches the rest.
    fn moves(&self, (shared, rest): (u32, &ThreadList), thread: ViewThread, effect: &mut Effect) {
        let Some(local) = thread.checked_sub(1) else { return };
        for id in self.rules.of(SharedId::from_raw(shared), LocalId::from_raw(local)) {
            let rule = self.rules.rule(*id);
            if !rule.transfers.is_empty() {
                continue;
            }
            let row = &mut effect.rows[self.group_of[id.index()] as usize];
            row[0] |= 1;
            for after in rule.after.iter().map(|local| local.raw() + 1) {
                row[after as usize / 64] |= 1 << (after % 64);
            }
            if rule.after.len() > 1 {
                self.wakes(rest, *id, effect);
            }
        }
    }

    /// Watches several new threads: they take the places of the one that moved and of sleeping ones.
    fn wakes(&self, rest: &ThreadList, id: RuleId, effect: &mut Effect) {
        let rule = self.rules.rule(id);
        let n_asleep = rest.iter().filter(|thread| **thread == ASLEEP).count();
        let new: ThreadList = rule.after.iter().map(|local| local.raw() + 1).collect();
        for n in 2..=new.len().min(n_asleep + 1) {
            let mut view = ThreadList::from_slice(&rest[n - 1..]);
            choose(&new, n, &mut view, &mut |view| {
                effect.views.push((rule.shared_after.raw(), ThreadList::from_slice(view)));
            });
        }
    }

    /// Makes the steps of rules that transfer threads, of the thread and of those that can be there together with it
    /// and the rest.
    fn transfers(
        &self,
        (shared, rest): (u32, &ThreadList),
        thread: ViewThread,
        others: &[u64],
        effect: &mut Effect,
        run: &Run<'_>,
    ) -> Result<(), Stop> {
        let with = |other: ViewThread| rest.iter().copied().chain([other]).collect::<ThreadList>();
        for (mover, id) in &self.transferring[shared as usize] {
            let rule = self.rules.rule(*id);
            if *mover != thread {
                if get(others, *mover) {
                    self.watch(rule, &with(thread), &[], effect, run)?;
                }
                continue;
            }
            for other in ones(others) {
                self.watch(rule, &with(other), &[], effect, run)?;
            }
            let n_asleep = rest.iter().filter(|thread| **thread == ASLEEP).count();
            let new: ThreadList = rule.after.iter().map(|local| local.raw() + 1).collect();
            for n in 1..=new.len().min(n_asleep + 1) {
                let mut chosen: Vec<ThreadList> = Vec::new();
                choose(&new, n, &mut ThreadList::new(), &mut |new| chosen.push(ThreadList::from_slice(new)));
                for new in chosen {
                    self.watch(rule, &rest[n - 1..], &new, effect, run)?;
                }
            }
        }
        Ok(())
    }

    /// Adds all views of what watched threads become, with new threads.
    fn watch(
        &self,
        rule: &Rule,
        watched: &[ViewThread],
        new: &[ViewThread],
        effect: &mut Effect,
        run: &Run<'_>,
    ) -> Result<(), Stop> {
        for list in lists_after(rule, &awake(watched), run)? {
            let mut view: ThreadList = list.iter().map(|local| local.raw() + 1).chain(new.iter().copied()).collect();
            view.insert_many(0, std::iter::repeat_n(ASLEEP, self.table.k - view.len()));
            effect.views.push((rule.shared_after.raw(), view));
        }
        Ok(())
    }

    /// Computes all threads that can be there together with these.
    fn others(&self, (shared, rest): (u32, &ThreadList), thread: ViewThread, others: &mut [u64]) {
        let own = self.table.find(shared, rest).expect("it is the row of a view");
        others.copy_from_slice(self.table.row(own));
        for place in 0..rest.len() {
            let mut key = rest.clone();
            key[place] = thread;
            key.sort_unstable();
            let row = self.table.find(shared, &key).expect("a view is in the rows of all its threads");
            others.iter_mut().zip(self.table.row(row)).for_each(|(word, more)| *word &= more);
        }
    }
}

fn groups(rules: &Rules<'_>, width: usize) -> (Vec<Vec<RuleGroup>>, Vec<u32>) {
    let tts = rules.tts;
    let mut groups: Vec<Vec<RuleGroup>> = (0..tts.n_shared).map(|_| Vec::new()).collect();
    let mut numbers: FxHashMap<(SharedId, SharedId), u32> = FxHashMap::default();
    let mut group_of = Vec::new();
    for rule in &tts.rules {
        let here = &mut groups[rule.shared.index()];
        let number = *numbers.entry((rule.shared, rule.shared_after)).or_insert_with(|| {
            here.push(RuleGroup { after: rule.shared_after.raw(), movers: Vec::new() });
            here.len() as u32 - 1
        });
        group_of.push(number);
        if rule.shared != rule.shared_after && rule.transfers.is_empty() {
            let movers = &mut here[number as usize].movers;
            movers.resize(width, 0);
            let thread = rule.local.raw() + 1;
            movers[thread as usize / 64] |= 1 << (thread % 64);
        }
    }
    (groups, group_of)
}

/// Returns whether the threads of a view, sorted, are at least those of a target.
fn covers(view: &[ViewThread], target: &Cover) -> bool {
    target.holds(target.shared, &awake(view))
}

/// Returns the states of the threads that are not asleep.
fn awake(view: &[ViewThread]) -> SmallVec<[LocalId; 4]> {
    view.iter().filter_map(|thread| thread.checked_sub(1)).map(LocalId::from_raw).collect()
}

fn get(row: &[u64], thread: ViewThread) -> bool {
    row[thread as usize / 64] >> (thread % 64) & 1 == 1
}

/// Returns the bits of a row, in ascending order.
fn ones(row: &[u64]) -> impl Iterator<Item = ViewThread> {
    row.iter().enumerate().flat_map(|(number, word)| {
        let mut left = *word;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let bit = left.trailing_zeros();
                left &= left - 1;
                number as u32 * 64 + bit
            })
        })
    })
}
