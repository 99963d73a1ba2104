//! Lists of numbers, each stored once and identified by a number. The lists follow one another in one block of memory.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;

/// The lists found so far, numbered in the order in which they were added.
#[derive(Default)]
pub(crate) struct Rows {
    words: Vec<u32>,
    /// The end of each list in `words`.
    ends: Vec<usize>,
    numbers: HashTable<u32>,
    hasher: BuildHasherDefault<FxHasher>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, number: usize) -> &[u32] {
        row(&self.words, &self.ends, number)
    }

    /// Adds a list, given in two parts; returns its number, or `None` if it is known.
    pub(crate) fn add(&mut self, head: &[u32], tail: &[u32]) -> Option<usize> {
        let start = self.words.len();
        self.words.extend_from_slice(head);
        self.words.extend_from_slice(tail);
        let (words, ends, hasher) = (&self.words, &self.ends, &self.hasher);
        let new = &words[start..];
        let known = self.numbers.entry(
            hasher.hash_one(new),
            |number| row(words, ends, *number as usize) == new,
            |number| hasher.hash_one(row(words, ends, *number as usize)),
        );
        match known {
            Entry::Occupied(_) => {
                self.words.truncate(start);
                None
            }
            Entry::Vacant(place) => {
                let number = self.ends.len();
                place.insert(number as u32);
                self.ends.push(self.words.len());
                Some(number)
            }
        }
    }
}

fn row<'w>(words: &'w [u32], ends: &[usize], number: usize) -> &'w [u32] {
    let start = if number == 0 { 0 } else { ends[number - 1] };
    &words[start..ends[number]]
}
