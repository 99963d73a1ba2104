//! The results of the searches as certificates: the states of the program's system, and the set of configurations.

use std::collections::BTreeMap;

use selvedge_check::{CoverClaim, OmegaVector, ViewRow, ViewTable, Weighting};
use selvedge_ir::tts::{Cover, LocalId, SharedId};

use super::backward::Basis;
use super::karp_miller::CoverSet;
use super::net::Weights;
use super::views::Table;
use super::{OMEGA, Vector};

/// Returns the claim of a table.
pub fn views(table: &Table) -> CoverClaim {
    CoverClaim::Views(view_table(table))
}

/// Returns the claim of the tree of Karp and Miller.
pub fn vectors(cover: &CoverSet) -> CoverClaim {
    let counts = |vector: &Vector| {
        vector.counts().iter().map(|(local, count)| (*local, (*count != OMEGA).then_some(*count))).collect()
    };
    let vectors = cover.vectors.iter();
    CoverClaim::Vectors(vectors.map(|(shared, one)| OmegaVector { shared: *shared, counts: counts(one) }).collect())
}

/// Returns the claim of a basis, of configurations within a table.
pub fn basis(within: &Table, basis: &Basis) -> CoverClaim {
    let cover = |(shared, least): &(SharedId, Vector)| Cover { shared: *shared, threads: least.threads() };
    CoverClaim::Basis {
        within: view_table(within),
        weights: basis.weights.iter().map(weights).collect(),
        forbidden: basis.least.iter().map(cover).collect(),
    }
}

/// Returns weights without those that are 0.
fn weights(weights: &Weights) -> Weighting {
    let listed = |list: &[i64]| {
        let some = list.iter().enumerate().filter(|(_, weight)| **weight != 0);
        some.map(|(number, weight)| (number as u32, *weight)).collect::<Vec<_>>()
    };
    let shareds = listed(&weights.shareds).into_iter().map(|(shared, weight)| (SharedId::from_raw(shared), weight));
    let locals = listed(&weights.locals).into_iter().map(|(local, weight)| (LocalId::from_raw(local), weight));
    Weighting { shareds: shareds.collect(), locals: locals.collect(), most: weights.most }
}

fn view_table(table: &Table) -> ViewTable {
    let mut shareds = Vec::new();
    let mut rows: BTreeMap<(SharedId, Vec<LocalId>), Vec<LocalId>> = BTreeMap::new();
    for (shared, mut threads) in table.views() {
        match threads.pop() {
            None => shareds.push(shared),
            Some(last) => rows.entry((shared, threads)).or_default().push(last),
        }
    }
    let rows = rows.into_iter().map(|((shared, threads), last)| ViewRow { shared, threads, last }).collect();
    ViewTable { k: table.k() as u32, shareds, rows }
}
