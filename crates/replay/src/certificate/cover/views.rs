//! A table of views, and the check that it is closed.
//!
//! A view has k threads, of which some may be *asleep*: they stand for threads that do not exist, and there are always
//! enough of them. A configuration is admitted if all k of its threads, sleeping ones included, are a view of the
//! table.
//!
//! # Why it is right
//!
//! Let a configuration be admitted, and let one of its threads, b, move. A view of the configuration after the step has
//! some of the threads that the rule puts, A', and others, W, which were there before.
//!
//! - If A' is empty, W is a view of the table by being one of the configuration before, which has the same shared
//!   state; or the shared state is another one. Then let R be W without a thread w. All views of {R, b, w} are in the
//!   table, so that w is among the threads that go with R and b, and these must all be in the row of R after the step.
//! - Else, W, b and as many sleeping threads as A' has threads beyond one are a view of the table. So it is enough that
//!   for each view with a thread b, each rule of b and each choice of A' the view is there in which A' is in the place
//!   of b and of sleeping threads.
//!
//! If the rule transfers other threads, W is what became of threads U that were there before, of which the same holds.
//! So instead of W all lists are looked at that the threads of U can become; sleeping threads stay asleep.

use std::collections::BTreeMap;

use selvedge_check::{Run, ViewTable};
use selvedge_ir::tts::{LocalId, Rule, RuleId, SharedId, Start, Tts};

use super::super::{Flaw, MOST_SEEN, Refused, Unjudged, at_most};
use super::start::LIMIT;

/// A thread of a view: 0 if it is asleep, else the number of its state plus 1.
type Thread = u32;
const ASLEEP: Thread = 0;

/// The rows of a table: for a shared state and k - 1 threads, in ascending order, all that a further one can be.
pub(super) struct Views {
    k: usize,
    /// The number of words of a row.
    width: usize,
    rows: BTreeMap<(u32, Vec<Thread>), Vec<u64>>,
}

impl Views {
    /// The rows of a table: each view in the rows of all its threads.
    pub(super) fn new(tts: &Tts, table: &ViewTable, run: &Run<'_>) -> Result<Views, Refused> {
        let k = table.k as usize;
        if k == 0 {
            return Err(Flaw::Malformed(None).into());
        }
        at_most(k, MOST_SEEN)?;
        let width = (tts.n_local as usize + 1).div_ceil(64);
        let mut views = Views { k, width, rows: BTreeMap::new() };
        for shared in &table.shareds {
            if shared.raw() >= tts.n_shared {
                return Err(Flaw::Malformed(None).into());
            }
            views.insert(shared.raw(), &[]);
        }
        for row in &table.rows {
            let known = |local: &LocalId| local.raw() < tts.n_local;
            let fits = row.shared.raw() < tts.n_shared && row.threads.len() < k;
            if !fits || !row.threads.iter().chain(&row.last).all(known) {
                return Err(Flaw::Malformed(None).into());
            }
            let threads: Vec<Thread> = row.threads.iter().map(|local| local.raw() + 1).collect();
            for last in &row.last {
                run.tick()?;
                views.insert(row.shared.raw(), &[threads.as_slice(), &[last.raw() + 1]].concat());
            }
        }
        Ok(views)
    }

    fn insert(&mut self, shared: u32, threads: &[Thread]) {
        let mut view = vec![ASLEEP; self.k - threads.len()];
        view.extend(threads);
        view.sort_unstable();
        for place in 0..view.len() {
            let mut rest = view.clone();
            let thread = rest.remove(place);
            let width = self.width;
            set(self.rows.entry((shared, rest)).or_insert_with(|| vec![0; width]), thread);
        }
    }

    /// Returns whether a configuration with these threads is admitted. If not, none above it is.
    pub(super) fn admits(&self, shared: SharedId, threads: impl Iterator<Item = LocalId>) -> bool {
        let threads = threads.map(|local| local.raw() + 1);
        let mut threads: Vec<Thread> = threads.chain(std::iter::repeat_n(ASLEEP, self.k)).collect();
        threads.sort_unstable();
        all_choices(&threads, self.k, &mut Vec::new(), &|view| self.has(shared.raw(), view))
    }

    /// Returns whether all configurations of a start are: a view has no more than k threads of those of which there may
    /// be any number.
    fn admits_start(&self, start: &Start) -> bool {
        let any = start.any.iter().flat_map(|local| std::iter::repeat_n(*local, self.k));
        self.admits(start.shared, start.threads.iter().copied().chain(any))
    }

    /// Returns whether a view is in the table. Its threads may come in any order.
    fn has(&self, shared: u32, view: &[Thread]) -> bool {
        let mut rest = view.to_vec();
        rest.sort_unstable();
        let last = rest.pop().expect("a view has a thread");
        self.rows.get(&(shared, rest)).is_some_and(|row| get(row, last))
    }

    /// Checks that the starts are admitted, and whatever a step of an admitted configuration leads to.
    pub(super) fn check_closed(&self, tts: &Tts, run: &Run<'_>) -> Result<(), Refused> {
        for (number, start) in tts.starts.iter().enumerate() {
            run.tick()?;
            if !self.admits_start(start) {
                return Err(Flaw::Initial(number).into());
            }
        }
        let mut rules: BTreeMap<(u32, Thread), Vec<RuleId>> = BTreeMap::new();
        for (id, rule) in tts.rules.iter_enumerated() {
            rules.entry((rule.shared.raw(), rule.local.raw() + 1)).or_default().push(id);
        }
        for ((shared, rest), row) in &self.rows {
            for mover in ones(row) {
                let Some(rules) = rules.get(&(*shared, mover)) else { continue };
                self.check_step(tts, (*shared, rest), mover, rules, run)?;
            }
        }
        Ok(())
    }

    /// One thread of a view moves.
    fn check_step(
        &self,
        tts: &Tts,
        (shared, rest): (u32, &[Thread]),
        mover: Thread,
        rules: &[RuleId],
        run: &Run<'_>,
    ) -> Result<(), Refused> {
        let others = self.others(shared, rest, mover);
        let n_asleep = rest.iter().filter(|thread| **thread == ASLEEP).count();
        for id in rules {
            run.tick()?;
            let rule = &tts.rules[*id];
            if !rule.transfers.is_empty() {
                let closed = self.check_transfer(rule, rest, &others, run)?;
                closed.then_some(()).ok_or(Flaw::Rule(id.index()))?;
                continue;
            }
            let after = rule.shared_after.raw();
            let row = self.rows.get(&(after, rest.to_vec()));
            let holds = |word: usize| row.map_or(0, |row| row[word]);
            if after != shared && (0..self.width).any(|word| others[word] & !holds(word) != 0) {
                return Err(Flaw::Rule(id.index()).into());
            }
            let new: Vec<Thread> = rule.after.iter().map(|local| local.raw() + 1).collect();
            // Sleeping threads come first.
            let has_all = |n: usize| all_choices(&new, n, &mut rest[n - 1..].to_vec(), &|view| self.has(after, view));
            let has_each = new.iter().all(|thread| row.is_some_and(|row| get(row, *thread)));
            if !has_each || !(2..=new.len().min(n_asleep + 1)).all(has_all) {
                return Err(Flaw::Rule(id.index()).into());
            }
        }
        Ok(())
    }

    /// Returns whether all views are there after a thread beside these has taken a rule that transfers others.
    fn check_transfer(&self, rule: &Rule, rest: &[Thread], others: &[u64], run: &Run<'_>) -> Result<bool, Refused> {
        let after = rule.shared_after.raw();
        for other in ones(others) {
            let lists = transferred(rule, &[rest, &[other]].concat(), run)?;
            if !lists.iter().all(|list| self.has(after, list)) {
                return Ok(false);
            }
        }
        let n_asleep = rest.iter().filter(|thread| **thread == ASLEEP).count();
        let new: Vec<Thread> = rule.after.iter().map(|local| local.raw() + 1).collect();
        for n in 1..=new.len().min(n_asleep + 1) {
            // Sleeping threads come first.
            for mut list in transferred(rule, &rest[n - 1..], run)? {
                if !all_choices(&new, n, &mut list, &|view| self.has(after, view)) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// All threads that go with these: every k of them are a view.
    fn others(&self, shared: u32, rest: &[Thread], mover: Thread) -> Vec<u64> {
        let mut others = vec![u64::MAX; self.width];
        let mut meet = |key: Vec<Thread>| match self.rows.get(&(shared, key)) {
            Some(row) => others.iter_mut().zip(row).for_each(|(word, more)| *word &= more),
            None => others.fill(0),
        };
        meet(rest.to_vec());
        for place in 0..rest.len() {
            let mut key = rest.to_vec();
            key[place] = mover;
            key.sort_unstable();
            meet(key);
        }
        others
    }
}

/// All that threads can become beside one that takes a rule.
fn transferred(rule: &Rule, threads: &[Thread], run: &Run<'_>) -> Result<Vec<Vec<Thread>>, Refused> {
    let mut lists: Vec<Vec<Thread>> = vec![Vec::new()];
    for thread in threads {
        let local = thread.checked_sub(1).map(LocalId::from_raw);
        let ways: Vec<Thread> = match &local {
            Some(local) => rule.ways(local).iter().map(|way| way.raw() + 1).collect(),
            None => vec![ASLEEP],
        };
        if lists.len().saturating_mul(ways.len()) > LIMIT {
            return Err(Unjudged::Beyond("threads may be transferred in too many ways").into());
        }
        let mut longer = Vec::new();
        for list in &lists {
            run.tick()?;
            longer.extend(ways.iter().map(|way| list.iter().copied().chain([*way]).collect::<Vec<Thread>>()));
        }
        lists = longer;
    }
    Ok(lists)
}

fn set(row: &mut [u64], thread: Thread) {
    row[thread as usize / 64] |= 1 << (thread % 64);
}

fn get(row: &[u64], thread: Thread) -> bool {
    row[thread as usize / 64] >> (thread % 64) & 1 == 1
}

/// The bits of a row, in ascending order.
fn ones(row: &[u64]) -> impl Iterator<Item = Thread> {
    let threads = |(number, word): (usize, &u64)| {
        let word = *word;
        (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| number as u32 * 64 + bit)
    };
    row.iter().enumerate().filter(|(_, word)| **word != 0).flat_map(threads)
}

/// Returns whether something holds of all lists that are longer by `n` of the items. Choices of equal items next to one
/// another are made once.
fn all_choices(items: &[Thread], n: usize, list: &mut Vec<Thread>, holds: &impl Fn(&[Thread]) -> bool) -> bool {
    if n == 0 {
        return holds(list);
    }
    (0..(items.len() + 1).saturating_sub(n)).all(|place| {
        if place > 0 && items[place] == items[place - 1] {
            return true;
        }
        list.push(items[place]);
        let all = all_choices(&items[place + 1..], n - 1, list, holds);
        list.pop();
        all
    })
}
