//! What a thread does, in tables: for its post, and the values of the variables that determine its blocks, the ends of
//! these blocks as bits to clear and bits to set.
//!
//! An entry of a table is computed when it is needed first, by the same code that searches without tables use, and
//! used from then on for all states that agree on these variables ([`footprint`]).
//!
//! [`footprint`]: selvedge_transition::macro_step::explicit::footprint

use std::ops::Range;

use super::layout::Layout;

/// The ends of the blocks of a thread.
#[derive(Debug, Default)]
pub(super) struct Rules {
    ends: Vec<End>,
    /// The bits of the words with shared variables that ends clear, and those that they set, word by word.
    shared: Vec<(u64, u64)>,
    /// The values of the slots of the threads that ends start.
    born: Vec<u64>,
    /// The entries: ranges of ends.
    entries: Vec<Range<u32>>,
    /// For each group and post its table.
    tables: Vec<Vec<Table>>,
}

/// One end of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The bits of the thread's slot that stay as they are.
    pub(super) keep: u64,
    /// The bits of its slot that are set.
    pub(super) set: u64,
    /// The first of the changes of the words with shared variables.
    shared: u32,
    /// The threads that are started.
    born: (u32, u32),
}

/// What [`Rules`] are to remember about an end.
#[derive(Debug)]
pub(super) struct NewEnd {
    pub(super) keep: u64,
    pub(super) set: u64,
    pub(super) shared: Vec<(u64, u64)>,
    pub(super) born: Vec<u64>,
}

impl Rules {
    pub(super) fn new(layout: &Layout) -> Rules {
        let tables = layout.groups.iter().map(|group| group.posts.iter().map(|_| Table::default()).collect());
        Rules { tables: tables.collect(), ..Rules::default() }
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the ends of an entry, by their numbers, if it is known. The key is the same for all states that agree on
    /// the variables that determine the blocks.
    pub(super) fn find(&self, group: usize, post: usize, key: impl Key) -> Option<Range<u32>> {
        let entry = self.tables[group][post].find(key)?;
        Some(self.entries[entry as usize].clone())
    }

    pub(super) fn end(&self, number: u32) -> End {
        self.ends[number as usize]
    }

    /// Makes the changes of an end to the words with shared variables.
    pub(super) fn change(&self, end: &End, words: &mut [u64]) {
        let changes = &self.shared[end.shared as usize..];
        words.iter_mut().zip(changes).for_each(|(word, (clear, set))| *word = *word & !clear | set);
    }

    /// Returns the threads that an end starts.
    pub(super) fn born(&self, end: &End) -> &[u64] {
        &self.born[end.born.0 as usize..end.born.1 as usize]
    }

    /// Adds an entry.
    pub(super) fn add(&mut self, group: usize, post: usize, key: impl Key, ends: Vec<NewEnd>) -> Range<u32> {
        let first = self.ends.len() as u32;
        for end in ends {
            let (shared, born) = (self.shared.len() as u32, self.born.len() as u32);
            self.shared.extend(end.shared);
            self.born.extend(end.born);
            let born = (born, self.born.len() as u32);
            self.ends.push(End { keep: end.keep, set: end.set, shared, born });
        }
        let range = first..self.ends.len() as u32;
        self.tables[group][post].insert(key, self.entries.len() as u32);
        self.entries.push(range.clone());
        range
    }
}

/// The words of a key, all of one length for one table.
pub(super) trait Key: Iterator<Item = u64> + Clone {}

impl<T: Iterator<Item = u64> + Clone> Key for T {}

/// A table with open addressing: each place has the number of the entry plus one, and then the words of its key.
#[derive(Debug, Default)]
struct Table {
    words: Vec<u64>,
    stride: usize,
    n_places: usize,
    len: usize,
}

impl Table {
    fn find(&self, key: impl Key) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let mut place = self.place(key.clone());
        loop {
            let words = &self.words[place * self.stride..][..self.stride];
            if words[0] == 0 {
                return None;
            }
            if words[1..].iter().copied().eq(key.clone()) {
                return Some(words[0] as u32 - 1);
            }
            place = (place + 1) & (self.n_places - 1);
        }
    }

    fn place(&self, key: impl Key) -> usize {
        hash(key) as usize & (self.n_places - 1)
    }

    /// Adds a key that is not there.
    fn insert(&mut self, key: impl Key, entry: u32) {
        if self.len * 2 >= self.n_places {
            self.grow(1 + key.clone().count());
        }
        self.len += 1;
        self.write(u64::from(entry) + 1, key);
    }

    fn write(&mut self, entry: u64, key: impl Key) {
        let mut place = self.place(key.clone());
        while self.words[place * self.stride] != 0 {
            place = (place + 1) & (self.n_places - 1);
        }
        let words = &mut self.words[place * self.stride..][..self.stride];
        words.iter_mut().zip([entry].into_iter().chain(key)).for_each(|(to, from)| *to = from);
    }

    fn grow(&mut self, stride: usize) {
        let n_places = (self.n_places * 2).max(8);
        let old = std::mem::replace(&mut self.words, vec![0; n_places * stride]);
        (self.n_places, self.stride) = (n_places, stride);
        for words in old.chunks_exact(stride).filter(|words| words[0] != 0) {
            self.write(words[0], words[1..].iter().copied());
        }
    }
}

/// Returns a number whose bits depend on all words.
pub(super) fn hash(words: impl Iterator<Item = u64>) -> u64 {
    let mixed = words.fold(0u64, |hash, word| {
        let product = u128::from(hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (product ^ product >> 64) as u64 ^ (product >> 96) as u64
    });
    mixed ^ mixed >> 29
}
