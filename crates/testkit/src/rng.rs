//! A pseudo-random generator of our own, so that a seed gives the same program on every machine and in every version.
//!
//! xoshiro256** by Blackman and Vigna, its state filled by splitmix64.

/// A stream of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Creates the stream of a seed.
    pub fn new(seed: u64) -> Rng {
        let mut counter = seed;
        Rng { state: std::array::from_fn(|_| split_mix(&mut counter)) }
    }

    /// Creates the stream of the `number`-th item of a run: items can be made in any order and on any thread.
    pub fn for_item(seed: u64, number: u64) -> Rng {
        let mut counter = seed;
        let mixed = split_mix(&mut counter);
        Rng::new(mixed ^ number.wrapping_mul(0xD134_2543_DE82_EF95))
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number below `bound`, which is not zero. The bias of the multiplication is below one in 2^32 for our
    /// bounds.
    pub fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0, "there is no number below zero");
        (((self.next_u64() >> 32) * bound as u64) >> 32) as usize
    }

    /// Returns a number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// Returns true in this many of a hundred cases.
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < percent as usize
    }

    /// Returns either truth value with equal probability.
    pub fn coin(&mut self) -> bool {
        self.next_u64() >> 63 == 1
    }

    /// Picks one of the items; `None` if there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(&items[self.below(items.len())]) }
    }

    /// Picks one of the items with probability proportional to its weight; `None` if all weights are zero.
    pub fn weighted<T: Copy>(&mut self, items: &[(T, u32)]) -> Option<T> {
        let total: u32 = items.iter().map(|(_, weight)| weight).sum();
        if total == 0 {
            return None;
        }
        let mut place = self.below(total as usize) as u32;
        for (item, weight) in items {
            if place < *weight {
                return Some(*item);
            }
            place -= weight;
        }
        None
    }

    /// Picks up to `count` different items, in the order of the list.
    pub fn subset<T: Clone>(&mut self, items: &[T], count: usize) -> Vec<T> {
        let mut chosen: Vec<usize> = (0..items.len()).collect();
        while chosen.len() > count {
            chosen.remove(self.below(chosen.len()));
        }
        chosen.into_iter().map(|idx| items[idx].clone()).collect()
    }
}

fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *counter;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_for_ever() {
        let mut counter = 1234567;
        assert_eq!(split_mix(&mut counter), 6457827717110365317, "the published test vector of splitmix64");
        let mut rng = Rng::new(1);
        let numbers: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(numbers, [12966619160104079557, 9600361134598540522, 10590380919521690900]);
    }

    #[test]
    fn bounds_are_met_and_reached() {
        let mut rng = Rng::new(7);
        let seen: std::collections::BTreeSet<usize> = (0..1000).map(|_| rng.between(3, 9)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), (3..=9).collect::<Vec<_>>());
    }

    #[test]
    fn weights_of_zero_are_never_chosen() {
        let mut rng = Rng::new(3);
        for _ in 0..500 {
            assert_ne!(rng.weighted(&[('a', 3), ('b', 0), ('c', 1)]), Some('b'));
        }
        assert_eq!(rng.weighted(&[('a', 0)]), None);
    }
}
