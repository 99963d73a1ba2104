//! Directed search: coverability in nets, guided and pruned by the marking equation (Blondin, Haase and Offtermatt,
//! "Directed Reachability for Infinite-State Systems"; Geffroy, Leroux and Sutre, "Occam's Razor Applied to the Petri
//! Net Coverability Problem").
//!
//! - `contract`: the system as a net, whose transitions are several rules each.
//! - `relaxation`: linear programs over the rationals.
//! - `weights`: the marking equation as a linear program, and weights that show that it has no solution.
//! - `search`: forwards, the nearest configuration first, and backwards, in turns.
//! - `unfold`: from the net to the rules: runs, and bases for all shared states.

mod contract;
mod relaxation;
mod search;
#[cfg(test)]
mod tests;
mod unfold;
mod weights;

use selvedge_check::{Run, Stop};
use selvedge_ir::tts::Tts;

use self::contract::{Net, contract};
use self::search::{Found, Search};
use self::weights::Distance;
pub use self::weights::Weights;
use super::backward::Basis;
use super::views::Table;
use super::{Answer, Rules, Vector};

/// A proof that no target can be covered: of the shared states of the net, without those that were eliminated.
pub struct NetProof<'t> {
    tts: &'t Tts,
    net: Net,
    /// For each shared state the least elements.
    least: Vec<Vec<Vector>>,
    weights: Vec<Weights>,
}

/// Decides whether one of the targets can be covered. Returns `None` if the marking equation is too large, or if `most`
/// elements of the search backwards do not decide it.
pub fn decide<'t>(rules: &Rules<'t>, most: usize, run: &Run<'_>) -> Result<Option<Answer<NetProof<'t>>>, Stop> {
    let tts = rules.tts;
    let net = contract(tts, run)?;
    let Some(distance) = Distance::new(tts, &net) else { return Ok(None) };
    Ok(match Search::new(tts, &net, distance).decide(most, run)? {
        None => None,
        Some(Found::Way(way)) => Some(Answer::Covered(unfold::run(tts, &net, &way, run)?)),
        Some(Found::Basis(least, weights)) => Some(Answer::Uncovered(NetProof { tts, net, least, weights })),
    })
}

/// The number of shared states from which on a system is a net rather than a program.
const MANY: usize = 64;

/// Returns whether a system looks like a net: it has many shared states, from most of which one rule leads away.
pub fn is_net(tts: &Tts) -> bool {
    let mut n_leading = vec![0u32; tts.n_shared as usize];
    tts.rules.iter().for_each(|rule| n_leading[rule.shared.index()] += 1);
    tts.targets.iter().for_each(|target| n_leading[target.shared.index()] += 1);
    n_leading.len() >= MANY && 2 * n_leading.iter().filter(|n| **n == 1).count() > n_leading.len()
}

impl NetProof<'_> {
    /// Returns the basis for all shared states, of configurations that a table admits; `None` if it would be too large.
    pub fn basis(&self, known: &Table, run: &Run<'_>) -> Result<Option<Basis>, Stop> {
        unfold::basis(self.tts, &self.net, known, self.least.clone(), &self.weights, run)
    }
}
