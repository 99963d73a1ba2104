//! Rows of numbers, all of one length, each stored once.
//!
//! Rows follow one another in pieces of memory that do not move when there are more. A table with open addressing has
//! the number of each row, behind half of its hash: the upper bits of that half are the place from which the row was
//! put, so that the table grows without a look at the rows, and all of it tells most rows apart without one.

/// The number of rows in a piece.
const PIECE: usize = 1 << 12;

/// The least logarithm of the number of places, and the greatest: as many bits has half of a hash.
const LEAST_LOG: u32 = 6;
const MOST_LOG: u32 = 32;

pub(super) struct Rows {
    /// The length of a row.
    width: usize,
    len: usize,
    pieces: Vec<Vec<u32>>,
    /// Half of the hash of a row in the upper half, and its number plus one; 0 where there is none. A fifth is free.
    places: Vec<u64>,
    log: u32,
}

impl Rows {
    pub(super) fn new(width: usize) -> Rows {
        Rows { width, len: 0, pieces: Vec::new(), places: vec![0; 1 << LEAST_LOG], log: LEAST_LOG }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn get(&self, number: usize) -> &[u32] {
        let start = number % PIECE * self.width;
        &self.pieces[number / PIECE][start..start + self.width]
    }

    /// The place of a row, or the free one where it would be, with half of its hash.
    fn place(&self, row: &[u32]) -> (usize, u64) {
        let half = hash(row) >> u32::BITS << u32::BITS;
        let mut place = self.first_place(half);
        loop {
            let found = self.places[place];
            let is_here = || (found ^ half) >> u32::BITS == 0 && self.get(found as u32 as usize - 1) == row;
            if found == 0 || is_here() {
                return (place, half);
            }
            place = self.after(place);
        }
    }

    pub(super) fn contains(&self, row: &[u32]) -> bool {
        self.places[self.place(row).0] != 0
    }

    /// Adds a row unless it is there.
    pub(super) fn insert(&mut self, row: &[u32]) {
        let (place, half) = self.place(row);
        if self.places[place] != 0 {
            return;
        }
        if self.len.is_multiple_of(PIECE) {
            self.pieces.push(Vec::with_capacity(PIECE * self.width));
        }
        self.pieces[self.len / PIECE].extend_from_slice(row);
        self.len += 1;
        self.places[place] = half | self.len as u64;
        if self.len * 5 > self.places.len() * 4 && self.log < MOST_LOG {
            self.grow();
        }
    }

    fn first_place(&self, half: u64) -> usize {
        (half >> (u64::BITS - self.log)) as usize
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    fn grow(&mut self) {
        self.log += 1;
        let old = std::mem::replace(&mut self.places, vec![0; 1 << self.log]);
        for found in old.into_iter().filter(|found| *found != 0) {
            let mut place = self.first_place(found);
            while self.places[place] != 0 {
                place = self.after(place);
            }
            self.places[place] = found;
        }
    }
}

/// A number whose bits depend on all of a row.
fn hash(row: &[u32]) -> u64 {
    row.chunks(2).fold(0, |hash, pair| {
        let word = pair.iter().fold(0, |word, number| word << u32::BITS | u64::from(*number));
        let product = u128::from(hash ^ word) * 0x9e37_79b9_7f4a_7c15;
        (product >> u64::BITS) as u64 ^ product as u64
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_is_stored_once_and_keeps_its_number() {
        let mut rows = Rows::new(3);
        let row = |number: u32| [number / 7, number.wrapping_mul(0x9e37_79b9), 5];
        for number in 0..50_000 {
            rows.insert(&row(number));
            rows.insert(&row(number / 2));
        }
        assert_eq!(rows.len(), 50_000);
        assert!((0..50_000).all(|number| rows.get(number) == row(number as u32)));
        assert!(rows.contains(&row(49_999)) && !rows.contains(&row(50_000)));
    }

    #[test]
    fn rows_with_one_half_of_a_hash_are_told_apart() {
        let row = |number: u32| [number, number.wrapping_mul(0x85eb_ca6b), number];
        let mut rows = Rows::new(3);
        let mut by_half = std::collections::HashMap::new();
        let pair = (0..1 << 20)
            .find_map(|number| by_half.insert(hash(&row(number)) >> 32, number).map(|other| [number, other].map(row)));
        let [one, other] = pair.expect("some hashes have one half");
        rows.insert(&one);
        assert!(!rows.contains(&other));
        rows.insert(&other);
        assert_eq!((rows.len(), rows.get(1)), (2, other.as_slice()));
    }
}
