//! Where the parts of a state are in its words.
//!
//! The first words hold two flags, the number of created threads if it matters, and the shared variables. Then come the
//! *slots*, one for each thread that may live at a time. The value of a slot is the number of the thread's *post* (its
//! kind, its role and its location), in the lowest bits, and the values of its variables; 0 means no thread. Threads
//! that can never be of the same kind have slots of their own; the others share a *group* of slots, whose values are in
//! ascending order, so that the numbers of threads do not matter. The prelude's thread is alone, and its slot is where
//! the others will be.

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::ThreadScope;
use selvedge_ir::{Count, LocId, Op, VarId};
use selvedge_transition::macro_step::explicit::Model;
use selvedge_transition::macro_step::explicit::footprint::footprint;
use selvedge_transition::macro_step::explicit::parts::{Kind, Local};
use selvedge_transition::macro_step::explicit::values::{Bits, get, set, zeros};

use crate::bounded::bound;

/// Programs with larger states are not packed.
pub(super) const MOST_WORDS: usize = 16;

/// Programs with more slots than this are not packed.
const MOST_SLOTS: usize = 4096;

const WORD: usize = u64::BITS as usize;

/// The bit that says whether a thread holds the atomic flag.
pub(super) const HELD: u64 = 1;

/// The bit that says whether the prelude runs.
pub(super) const PRELUDE: u64 = 2;

/// Where the number of created threads begins.
const CREATED: usize = 2;

/// A state: its words.
pub(super) type Packed<const W: usize> = [u64; W];

/// Where the parts of a state are.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) n_words: usize,
    /// The words that hold shared variables or flags.
    pub(super) n_shared_words: usize,
    /// The number of bits for the number of created threads.
    created_bits: usize,
    /// The shared variables, each with its bit.
    shared: Vec<(VarId, usize)>,
    /// The groups; the one of the prelude comes last, if there is one.
    pub(super) groups: Vec<Group>,
}

/// Slots of threads.
#[derive(Debug)]
pub(super) struct Group {
    /// The kinds of their threads.
    kinds: Vec<Kind>,
    /// The posts, the first one with number 1.
    pub(super) posts: Vec<Post>,
    numbers: FxHashMap<(Kind, bool, LocId), usize>,
    /// The bits of a slot that hold the number of its post.
    pub(super) post_mask: u64,
    /// The bits of a slot.
    mask: u64,
    /// Each slot's word, and its lowest bit there.
    pub(super) slots: Vec<(usize, u32)>,
}

/// A kind of thread, its role and its location.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) kind: Kind,
    pub(super) holds: bool,
    pub(super) loc: LocId,
    /// The variables that are kept there, each with its bit in the slot.
    vars: Vec<(VarId, usize)>,
    /// The bits of these variables.
    kept: u64,
    /// The bits of the slot that determine the blocks from there, and those of the words with shared variables.
    pub(super) own: u64,
    pub(super) shared: Vec<u64>,
    /// The bits that the blocks may change, or that determine them: of the slot, and of those words.
    own_concerned: u64,
    pub(super) shared_concerned: Vec<u64>,
    /// True if the blocks may start threads.
    pub(super) starts: bool,
}

impl Layout {
    /// Returns the layout of the states of a program; `None` if they are too large.
    pub(super) fn new(model: &Model<'_>) -> Option<Layout> {
        let bound = bound(&model.task) as usize;
        let created_bits = match model.task.threads {
            ThreadScope::Created(bound) => (u32::BITS - bound.leading_zeros()) as usize,
            _ => 0,
        };
        let first = CREATED + created_bits;
        let shared: Vec<(VarId, usize)> = model.live_shared_vars().zip(first..).collect();
        let n_shared_words = (first + shared.len()).div_ceil(WORD);
        let mut layout = Layout { n_words: 0, n_shared_words, created_bits, shared, groups: Vec::new() };
        let mut used = vec![first + layout.shared.len() - (n_shared_words - 1) * WORD];
        for (kinds, n_slots) in crews(model, bound)? {
            let mut group = layout.group(model, kinds)?;
            let width = (u64::BITS - group.mask.leading_zeros()) as usize;
            for _ in 0..n_slots {
                let word = used.iter().position(|used| used + width <= WORD).unwrap_or(used.len());
                if word == used.len() {
                    used.push(0);
                }
                group.slots.push((n_shared_words - 1 + word, used[word] as u32));
                used[word] += width;
            }
            layout.groups.push(group);
        }
        let mut n_words = n_shared_words - 1 + used.len();
        if model.program().prelude.is_some() {
            let mut group = layout.group(model, vec![Kind::Prelude])?;
            group.slots.push((n_shared_words, 0));
            n_words = n_words.max(n_shared_words + 1);
            layout.groups.push(group);
        }
        layout.n_words = n_words;
        (n_words <= MOST_WORDS).then_some(layout)
    }

    /// Returns a group of threads of some kinds, without slots.
    fn group(&self, model: &Model<'_>, kinds: Vec<Kind>) -> Option<Group> {
        let spots: Vec<(Kind, bool, LocId)> = kinds.iter().flat_map(|kind| spots(model, *kind)).collect();
        let post_bits = (usize::BITS - spots.len().leading_zeros()) as usize;
        let kept = |loc: LocId| {
            let vars = model.steps.slots.visible(model.program(), loc);
            vars.into_iter().filter(move |var| model.steps.keeps(loc, *var))
        };
        // The variables of different procedures share bits.
        let mut bits: FxHashMap<VarId, usize> = FxHashMap::default();
        let mut ends: FxHashMap<usize, usize> = FxHashMap::default();
        let thread_vars = &model.steps.slots.thread_vars;
        let used: FxHashSet<VarId> = spots.iter().flat_map(|(_, _, loc)| kept(*loc)).collect();
        let first = post_bits + thread_vars.iter().filter(|var| used.contains(var)).count();
        bits.extend(thread_vars.iter().filter(|var| used.contains(var)).copied().zip(post_bits..));
        for (_, _, loc) in &spots {
            let end = ends.entry(model.program().locs[*loc].proc.index()).or_insert(first);
            for var in kept(*loc) {
                bits.entry(var).or_insert_with(|| {
                    *end += 1;
                    *end - 1
                });
            }
        }
        let width = ends.values().copied().max().unwrap_or(first);
        if width > WORD {
            return None;
        }
        let ones = |n: usize| u64::MAX.checked_shr((WORD - n) as u32).unwrap_or(0);
        let post_mask = ones(post_bits);
        let posts = spots.iter().map(|(kind, holds, loc)| {
            let vars: Vec<(VarId, usize)> = kept(*loc).map(|var| (var, bits[&var])).collect();
            let footprint = footprint(model, *loc, *holds || *kind == Kind::Prelude, *kind == Kind::Prelude);
            let mut concerned = footprint.decisive.clone();
            concerned.union_with(&footprint.written);
            let of_own = |of: &FixedBitSet| {
                vars.iter().filter(|(var, _)| of.contains(var.index())).fold(0, |mask, (_, bit)| mask | 1 << bit)
            };
            let of_shared = |of: &FixedBitSet| {
                let mut words = vec![0; self.n_shared_words];
                let vars = self.shared.iter().filter(|(var, _)| of.contains(var.index()));
                vars.for_each(|(_, bit)| words[bit / WORD] |= 1 << (bit % WORD));
                words
            };
            Post {
                kind: *kind,
                holds: *holds,
                loc: *loc,
                kept: vars.iter().fold(0, |mask, (_, bit)| mask | 1 << bit),
                own: of_own(&footprint.decisive) | post_mask,
                shared: of_shared(&footprint.decisive),
                own_concerned: of_own(&concerned) | post_mask,
                shared_concerned: of_shared(&concerned),
                starts: footprint.starts,
                vars,
            }
        });
        let posts = posts.collect();
        let numbers = spots.iter().copied().zip(1..).collect();
        Some(Group { kinds, posts, numbers, post_mask, mask: ones(width), slots: Vec::new() })
    }

    /// Returns the group of the threads of a kind, by its number.
    pub(super) fn group_of(&self, kind: Kind) -> usize {
        let group = self.groups.iter().position(|group| group.kinds.contains(&kind));
        group.expect("each kind of which there may be threads has a group")
    }

    /// Returns the shared valuation of a state.
    pub(super) fn shared(&self, model: &Model<'_>, words: &[u64]) -> Bits {
        let mut bits = zeros(model.steps.slots.shared.len());
        for (var, bit) in &self.shared {
            set(&mut bits, model.steps.slots.get(*var), get(words, *bit));
        }
        bits
    }

    /// Writes a shared valuation into a state.
    pub(super) fn write_shared(&self, model: &Model<'_>, shared: &[u64], words: &mut [u64]) {
        for (var, bit) in &self.shared {
            set(words, *bit, get(shared, model.steps.slots.get(*var)));
        }
    }

    /// Returns the number of created threads, or 0 if it does not matter.
    pub(super) fn created(&self, words: &[u64]) -> u32 {
        (words[0] >> CREATED & ((1 << self.created_bits) - 1)) as u32
    }

    /// Returns whether the number of created threads matters.
    pub(super) fn counts_created(&self) -> bool {
        self.created_bits > 0
    }

    /// Adds to the number of created threads, if it matters.
    pub(super) fn add_created(&self, words: &mut [u64], number: usize) {
        if self.counts_created() {
            words[0] += (number as u64) << CREATED;
        }
    }

    /// Returns the thread states of a state, those that hold the atomic flag too.
    pub(super) fn locals(&self, model: &Model<'_>, words: &[u64]) -> Vec<(bool, Local)> {
        let all = self.groups_of(words).iter().flat_map(|group| group.values(words).map(move |own| (group, own)));
        all.map(|(group, own)| (group.post(own).holds, group.local(model, own))).collect()
    }

    /// Returns the groups that may have threads in a state.
    pub(super) fn groups_of(&self, words: &[u64]) -> &[Group] {
        let n_groups = self.groups.len();
        match self.groups.last() {
            Some(last) if last.kinds == [Kind::Prelude] => {
                if words[0] & PRELUDE != 0 {
                    &self.groups[n_groups - 1..]
                } else {
                    &self.groups[..n_groups - 1]
                }
            }
            _ => &self.groups,
        }
    }

    /// Returns the number of threads of a state.
    pub(super) fn n_threads(&self, words: &[u64]) -> usize {
        self.groups_of(words).iter().map(|group| group.values(words).count()).sum()
    }
}

impl Group {
    /// Returns the value of a slot.
    pub(super) fn get(&self, words: &[u64], slot: usize) -> u64 {
        let (word, shift) = self.slots[slot];
        words[word] >> shift & self.mask
    }

    fn set(&self, words: &mut [u64], slot: usize, value: u64) {
        let (word, shift) = self.slots[slot];
        words[word] = words[word] & !(self.mask << shift) | value << shift;
    }

    /// Returns the threads of the group in a state.
    pub(super) fn values<'g>(&'g self, words: &'g [u64]) -> impl Iterator<Item = u64> + 'g {
        (0..self.slots.len()).map(|slot| self.get(words, slot)).filter(|own| *own != 0)
    }

    /// Replaces the value of a slot, and puts the slots in order.
    pub(super) fn replace(&self, words: &mut [u64], mut slot: usize, value: u64) {
        while slot + 1 < self.slots.len() && self.get(words, slot + 1) < value {
            self.set(words, slot, self.get(words, slot + 1));
            slot += 1;
        }
        while slot > 0 && self.get(words, slot - 1) > value {
            self.set(words, slot, self.get(words, slot - 1));
            slot -= 1;
        }
        self.set(words, slot, value);
    }

    /// Returns the post of a thread.
    pub(super) fn post(&self, own: u64) -> &Post {
        &self.posts[self.number(own)]
    }

    /// Returns the number of a thread's post, from 0 on.
    pub(super) fn number(&self, own: u64) -> usize {
        (own & self.post_mask) as usize - 1
    }

    /// Returns the bits of a slot that a block from one post to another leaves as they are.
    pub(super) fn untouched(&self, from: u64, to: u64) -> u64 {
        let (from, to) = (self.post(from), self.post(to));
        from.kept & to.kept & !from.own_concerned
    }

    /// Returns the state of a thread.
    pub(super) fn local(&self, model: &Model<'_>, own: u64) -> Local {
        let post = self.post(own);
        let mut bits = zeros(model.steps.slots.n_locals);
        for (var, bit) in &post.vars {
            set(&mut bits, model.steps.slots.get(*var), own >> bit & 1 == 1);
        }
        Local { kind: post.kind, loc: post.loc, bits }
    }

    /// Returns the value of the slot of a thread.
    pub(super) fn packed(&self, model: &Model<'_>, local: &Local, holds: bool) -> u64 {
        let number = self.numbers[&(local.kind, holds, local.loc)];
        let vars = self.posts[number - 1].vars.iter();
        vars.fold(number as u64, |own, (var, bit)| {
            own | u64::from(get(&local.bits, model.steps.slots.get(*var))) << bit
        })
    }
}

/// Returns the kinds of threads that can be of the same group, with the number of them that may live at a time; `None`
/// if there are too many.
fn crews(model: &Model<'_>, bound: usize) -> Option<Vec<(Vec<Kind>, usize)>> {
    let program = model.program();
    let (mut crews, mut starters) = (Vec::new(), Vec::new());
    for (id, entry) in program.entries.iter_enumerated() {
        let most = match entry.count {
            Count::Exactly(count) | Count::AtMost(count) => bound.min(count as usize),
            Count::Any => bound,
        };
        match reached(model, Kind::Entry(id)).1 {
            _ if most == 0 => {}
            true => starters.push(Kind::Entry(id)),
            false => crews.push((vec![Kind::Entry(id)], most)),
        }
    }
    if !starters.is_empty() {
        crews.push((starters, bound));
    }
    let n_slots: usize = crews.iter().map(|(_, most)| *most).fold(0, usize::saturating_add);
    (n_slots <= MOST_SLOTS).then_some(crews)
}

/// Returns the visible points that a thread of a kind can come to, each with whether it may hold the atomic flag there.
fn spots(model: &Model<'_>, kind: Kind) -> Vec<(Kind, bool, LocId)> {
    let points = &model.visible_points;
    let first = match kind {
        Kind::Prelude => model.program().prelude.map(|proc| model.program().procs[proc].entry),
        Kind::Entry(_) => None,
    };
    let mut spots = Vec::new();
    for loc in reached(model, kind).0 {
        let is_alone = points.is_stop_alone(loc) || first == Some(loc);
        if if kind == Kind::Prelude { is_alone } else { points.is_stop(loc) } {
            spots.push((kind, false, loc));
        }
        if is_alone {
            spots.push((kind, true, loc));
        }
    }
    spots
}

/// Returns the locations that threads of a kind can come to, and whether they may start threads.
fn reached(model: &Model<'_>, kind: Kind) -> (Vec<LocId>, bool) {
    let program = model.program();
    let proc = match kind {
        Kind::Prelude => program.prelude.expect("the prelude has a procedure"),
        Kind::Entry(id) => program.entries[id].proc,
    };
    let mut waiting = vec![program.procs[proc].entry];
    let (mut seen, mut starts): (FxHashSet<LocId>, bool) = (waiting.iter().copied().collect(), false);
    let mut locs = Vec::new();
    while let Some(loc) = waiting.pop() {
        locs.push(loc);
        for edge in model.flow.out(loc).iter().map(|id| &program.edges[*id]) {
            let child = match &edge.op {
                Op::Spawn(spawn) => Some(program.procs[spawn.callee].entry),
                Op::Fork(at) => Some(*at),
                _ => None,
            };
            starts |= child.is_some();
            waiting.extend([Some(edge.to), child].into_iter().flatten().filter(|to| seen.insert(*to)));
        }
    }
    locs.sort_unstable();
    (locs, starts)
}
