//! What a thread does, in tables: for its post, and the values of the variables that determine its blocks, the ends of
//! these blocks as bits to clear and bits to set.
//!
//! An entry of a table is computed when it is needed first, by the same code that searches without tables use, and
//! used from then on for all states that agree on these variables ([`footprint`]).
//!
//! [`footprint`]: selvedge_transition::macro_step::explicit::footprint

use super::layout::{Layout, Packed};

/// The ends of the blocks of threads.
#[derive(Debug)]
pub(super) struct Rules<const W: usize> {
    ends: Vec<End<W>>,
    /// The values of the slots of the threads that ends start.
    born: Vec<u64>,
    /// For each group and post its table.
    tables: Vec<Vec<Table<W>>>,
    n_entries: usize,
}

/// One end of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct End<const W: usize> {
    /// The bits of the thread's slot that stay as they are.
    pub(super) keep: u64,
    /// The bits of its slot that are set.
    pub(super) set: u64,
    /// The other bits that are cleared, and those that are set then.
    pub(super) clear: Packed<W>,
    pub(super) put: Packed<W>,
    /// The threads that are started.
    born: (u32, u32),
}

impl<const W: usize> End<W> {
    /// Makes the changes outside of slots.
    pub(super) fn change(&self, words: &mut Packed<W>) {
        for (word, (clear, put)) in words.iter_mut().zip(self.clear.iter().zip(&self.put)) {
            *word = *word & !clear | put;
        }
    }
}

/// What determines the blocks of a thread at a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key<const W: usize> {
    pub(super) own: u64,
    pub(super) shared: Packed<W>,
    /// The number of threads that may start, where that matters.
    pub(super) room: u64,
}

impl<const W: usize> Key<W> {
    fn hash(&self) -> u64 {
        hash([self.own, self.room].into_iter().chain(self.shared))
    }
}

/// The numbers of the first end of an entry and of the first one behind it.
pub(super) type Range = (u32, u32);

impl<const W: usize> Rules<W> {
    pub(super) fn new(layout: &Layout) -> Rules<W> {
        let tables = layout.groups.iter().map(|group| group.posts.iter().map(|_| Table::default()).collect());
        Rules { ends: Vec::new(), born: Vec::new(), tables: tables.collect(), n_entries: 0 }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.n_entries
    }

    /// Returns the ends of an entry, if it is known.
    pub(super) fn find(&self, group: usize, post: usize, key: &Key<W>) -> Option<Range> {
        self.tables[group][post].find(key)
    }

    pub(super) fn end(&self, number: u32) -> &End<W> {
        &self.ends[number as usize]
    }

    /// Returns the threads that an end starts.
    pub(super) fn born(&self, end: &End<W>) -> &[u64] {
        &self.born[end.born.0 as usize..end.born.1 as usize]
    }

    /// Adds an end, with the threads that it starts; those of one entry follow one another.
    pub(super) fn add_end(&mut self, keep: u64, set: u64, (clear, put): (Packed<W>, Packed<W>), born: &[u64]) {
        let first = self.born.len() as u32;
        self.born.extend(born);
        self.ends.push(End { keep, set, clear, put, born: (first, self.born.len() as u32) });
    }

    /// Returns the number of ends.
    pub(super) fn n_ends(&self) -> u32 {
        self.ends.len() as u32
    }

    /// Adds an entry with the ends from a number on.
    pub(super) fn add(&mut self, group: usize, post: usize, key: Key<W>, first: u32) -> Range {
        let ends = (first, self.n_ends());
        self.tables[group][post].insert(key, ends);
        self.n_entries += 1;
        ends
    }
}

/// A table with open addressing, at most half full.
#[derive(Debug)]
struct Table<const W: usize> {
    places: Vec<Option<(Key<W>, Range)>>,
    len: usize,
}

impl<const W: usize> Default for Table<W> {
    fn default() -> Table<W> {
        Table { places: Vec::new(), len: 0 }
    }
}

impl<const W: usize> Table<W> {
    fn find(&self, key: &Key<W>) -> Option<Range> {
        if self.places.is_empty() {
            return None;
        }
        let mask = self.places.len() - 1;
        let mut place = key.hash() as usize & mask;
        while let Some((known, ends)) = &self.places[place] {
            if known == key {
                return Some(*ends);
            }
            place = (place + 1) & mask;
        }
        None
    }

    /// Adds a key that is not there.
    fn insert(&mut self, key: Key<W>, ends: Range) {
        if self.len * 2 >= self.places.len() {
            let n_places = (self.places.len() * 2).max(8);
            let old = std::mem::replace(&mut self.places, vec![None; n_places]);
            old.into_iter().flatten().for_each(|(key, ends)| self.write(key, ends));
        }
        self.len += 1;
        self.write(key, ends);
    }

    fn write(&mut self, key: Key<W>, ends: Range) {
        let mask = self.places.len() - 1;
        let mut place = key.hash() as usize & mask;
        while self.places[place].is_some() {
            place = (place + 1) & mask;
        }
        self.places[place] = Some((key, ends));
    }
}

/// Returns a number whose bits depend on all words.
pub(super) fn hash(words: impl IntoIterator<Item = u64>) -> u64 {
    let mixed = words.into_iter().fold(0u64, |hash, word| {
        let product = u128::from(hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (product >> 64) as u64 ^ product as u64
    });
    mixed ^ mixed >> 29
}
