//! Numbers of threads in each state, up to ω: any number.

use selvedge_ir::tts::LocalId;

/// Any number of threads.
pub const OMEGA: u32 = u32::MAX;

/// Numbers of threads, for the states that have any: in ascending order of the states, no number zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Vector {
    counts: Vec<(LocalId, u32)>,
    /// The states that have threads, as bits of a word into which they are hashed. A vector that is covered by another
    /// has no bit that the other lacks.
    signature: u64,
}

impl Vector {
    /// Counts the threads of a list.
    pub fn of(threads: &[LocalId]) -> Vector {
        let mut vector = Vector::default();
        threads.iter().for_each(|local| vector.add(*local));
        vector
    }

    /// Returns the states that have threads, with their numbers.
    pub fn counts(&self) -> &[(LocalId, u32)] {
        &self.counts
    }

    /// Returns the number of threads in a state.
    pub fn count(&self, local: LocalId) -> u32 {
        self.place(local).map_or(0, |place| self.counts[place].1)
    }

    /// Returns the number of all threads; ω counts as a large number.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|(_, count)| u64::from(*count)).sum()
    }

    /// Returns the threads one by one, where no number is ω.
    pub fn threads(&self) -> Vec<LocalId> {
        self.counts.iter().flat_map(|(local, count)| std::iter::repeat_n(*local, *count as usize)).collect()
    }

    /// Adds a thread.
    pub fn add(&mut self, local: LocalId) {
        match self.place(local) {
            Ok(place) if self.counts[place].1 != OMEGA => self.counts[place].1 += 1,
            Ok(_) => {}
            Err(place) => self.insert(place, local, 1),
        }
    }

    /// Adds threads in one state: a number, or any number.
    pub fn add_many(&mut self, local: LocalId, count: u32) {
        match self.place(local) {
            _ if count == 0 => {}
            Ok(place) => {
                let own = &mut self.counts[place].1;
                *own = if *own == OMEGA || count == OMEGA { OMEGA } else { own.saturating_add(count) };
            }
            Err(place) => self.insert(place, local, count),
        }
    }

    /// Adds any number of threads.
    pub fn add_omega(&mut self, local: LocalId) {
        match self.place(local) {
            Ok(place) => self.counts[place].1 = OMEGA,
            Err(place) => self.insert(place, local, OMEGA),
        }
    }

    /// Removes a thread; returns whether there was one.
    pub fn remove(&mut self, local: LocalId) -> bool {
        let Ok(place) = self.place(local) else { return false };
        match self.counts[place].1 {
            OMEGA => {}
            1 => {
                self.counts.remove(place);
                self.signature = self.counts.iter().fold(0, |bits, (local, _)| bits | bit(*local));
            }
            _ => self.counts[place].1 -= 1,
        }
        true
    }

    /// Returns whether the other has at least as many threads in each state.
    pub fn is_covered_by(&self, other: &Vector) -> bool {
        if self.signature & !other.signature != 0 || self.counts.len() > other.counts.len() {
            return false;
        }
        let mut others = other.counts.iter();
        self.counts.iter().all(|(local, count)| {
            let there = others.by_ref().find(|(other, _)| other >= local);
            there.is_some_and(|(other, n)| other == local && n >= count)
        })
    }

    /// Puts ω where the other, which this covers, has fewer threads; returns whether anything changed.
    pub(super) fn accelerate(&mut self, other: &Vector) -> bool {
        let mut changed = false;
        for (local, count) in &mut self.counts {
            if *count != OMEGA && other.count(*local) < *count {
                *count = OMEGA;
                changed = true;
            }
        }
        changed
    }

    fn place(&self, local: LocalId) -> Result<usize, usize> {
        self.counts.binary_search_by_key(&local, |(local, _)| *local)
    }

    fn insert(&mut self, place: usize, local: LocalId, count: u32) {
        self.counts.insert(place, (local, count));
        self.signature |= bit(local);
    }
}

fn bit(local: LocalId) -> u64 {
    1 << (local.raw().wrapping_mul(0x9E37_79B9) >> 26)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(threads: &[usize]) -> Vector {
        Vector::of(&threads.iter().map(|local| LocalId::from(*local)).collect::<Vec<_>>())
    }

    #[test]
    fn more_threads_cover_fewer() {
        assert!(vector(&[]).is_covered_by(&vector(&[])));
        assert!(vector(&[1, 1]).is_covered_by(&vector(&[3, 1, 0, 1])));
        assert!(!vector(&[1, 1]).is_covered_by(&vector(&[1, 3])));
        assert!(!vector(&[0]).is_covered_by(&vector(&[64])));
    }

    #[test]
    fn any_number_stays_any_number() {
        let mut many = vector(&[2]);
        many.add_omega(2.into());
        assert!(many.remove(2.into()));
        many.add(2.into());
        assert_eq!(many.count(2.into()), OMEGA);
        assert!(vector(&[2, 2, 2]).is_covered_by(&many) && !many.is_covered_by(&vector(&[2, 2])));
    }

    #[test]
    fn growth_becomes_any_number() {
        let mut grown = vector(&[1, 1, 2, 3]);
        assert!(grown.accelerate(&vector(&[1, 2])));
        assert_eq!(grown.counts(), [(1.into(), OMEGA), (2.into(), 1), (3.into(), OMEGA)]);
    }
}
