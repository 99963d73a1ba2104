//! A small generator of numbers, the same on every run.

pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn seeded(seed: u64) -> Numbers {
        Numbers((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }
}
