//! Random numbers for comparisons with plain definitions.

/// A generator (xorshift); its seed is not 0.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}
