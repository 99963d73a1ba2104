//! The number of threads that are enough.

use std::fmt;

/// The thread states that growing numbers of threads reach. The *cutoff* is the number from which on no more are
/// reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cutoff {
    /// The number of thread states that N threads reach, for N = 1, 2, ..
    pub reached: Vec<usize>,
    /// The proof that no number of threads reaches more than the last.
    pub proof: Option<CutoffProof>,
}

/// The method that shows which thread states are reachable with any number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CutoffProof {
    /// The views of this number of threads admit no others.
    Views(u32),
    /// The tree of Karp and Miller has no others.
    KarpMiller,
}

impl Cutoff {
    /// The least number of threads that was looked at with as many thread states as the last: the cutoff where there
    /// is a proof, else only where nothing more was seen.
    pub fn plateau(&self) -> usize {
        let last = self.reached.last().copied().unwrap_or(0);
        self.reached.iter().take_while(|n_states| **n_states < last).count() + 1
    }
}

impl fmt::Display for CutoffProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutoffProof::Views(k) => write!(f, "the views of {k} threads"),
            CutoffProof::KarpMiller => write!(f, "the tree of Karp and Miller"),
        }
    }
}
