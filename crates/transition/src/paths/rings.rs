//! Path edges in the order in which they were found, each with the way in which it was found.

use selvedge_logic::bdd::Bdd;

/// Path edges that were found at one time, in one way.
pub struct Ring<V> {
    pub edges: Bdd,
    pub via: V,
}

/// The rings of a location, in the order in which they were found.
pub struct Rings<V> {
    rings: Vec<Ring<V>>,
    /// All path edges that were known after each group of rings, so that the first ring with a path edge is found fast.
    known: Vec<Bdd>,
}

impl<V> Default for Rings<V> {
    fn default() -> Rings<V> {
        Rings { rings: Vec::new(), known: Vec::new() }
    }
}

impl<V> Rings<V> {
    const STRIDE: usize = 16;

    pub fn push(&mut self, ring: Ring<V>, known: &Bdd) {
        self.rings.push(ring);
        if self.rings.len().is_multiple_of(Rings::<V>::STRIDE) {
            self.known.push(known.clone());
        }
    }

    /// Returns the first ring with a path edge.
    pub fn first(&self, holds: impl Fn(&Bdd) -> bool) -> Option<&Ring<V>> {
        let skipped = self.known.partition_point(|known| !holds(known)) * Rings::<V>::STRIDE;
        self.rings[skipped..].iter().find(|ring| holds(&ring.edges))
    }
}
