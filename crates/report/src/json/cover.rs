//! Proofs about any number of threads over listed states as JSON: a part of a certificate file.

use std::collections::BTreeSet;

use selvedge_check::{CoverClaim, CoverProof, LocalState, OmegaVector, SharedState, ViewRow, ViewTable, Weighting};
use selvedge_ir::tts::{Cover, LocalId, SharedId};
use selvedge_ir::{Program, VarId};
use serde::{Deserialize, Serialize};

use super::adequacy::AdequacyView;
use super::certificate::{VariableView, fits};
use super::threads::{PlaceView, var_id};
use super::trace::{ReadError, mismatch};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverView {
    /// The variables that shared states and places speak of.
    pub variables: Vec<VariableView>,
    /// The shared variables that shared states give values for.
    pub shared_variables: Vec<u32>,
    /// The shared states: whether the atomic flag is held, and the values as digits.
    pub shared_states: Vec<(bool, String)>,
    /// Each once.
    pub places: Vec<PlaceView>,
    /// The states of a thread: its place, and the values of the place's variables as digits.
    pub thread_states: Vec<(u32, String)>,
    pub claim: ClaimView,
}

/// Thread states with numbers of threads.
type CountsView = Vec<(u32, Option<u32>)>;

/// The set of configurations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ClaimView {
    /// All configurations whose views are in the table.
    Views(TableView),
    /// All configurations below a vector: the shared state, and thread states with numbers; null is any number.
    Vectors { vectors: Vec<(u32, CountsView)> },
    /// All configurations within the table and the weights that are not above a forbidden one: the shared state and the
    /// threads.
    Basis {
        within: TableView,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        weights: Vec<WeightingView>,
        forbidden: Vec<(u32, Vec<u32>)>,
    },
    /// All configurations that a number of rounds reaches.
    Adequacy(AdequacyView),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableView {
    /// The threads of a view.
    pub k: u32,
    /// The shared states that occur.
    pub shared: Vec<u32>,
    /// The shared state, all threads of the view but the last, and what the last can be.
    pub rows: Vec<(u32, Vec<u32>, Vec<u32>)>,
}

/// Weights of states, and the greatest sum that a start has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightingView {
    /// Shared states with their weights.
    pub shared: Vec<(u32, i64)>,
    /// Thread states with their weights.
    pub threads: Vec<(u32, i64)>,
    /// The greatest sum.
    pub most: i64,
}

impl CoverView {
    pub(super) fn new(program: &Program, proof: &CoverProof) -> CoverView {
        let in_places = proof.places.iter().flat_map(|place| place.vars.iter().map(|(_, var)| *var));
        let vars: BTreeSet<VarId> = in_places.chain(proof.shared_vars.iter().copied()).collect();
        CoverView {
            variables: vars.into_iter().map(|var| VariableView::new(program, var)).collect(),
            shared_variables: proof.shared_vars.iter().map(|var| var.raw()).collect(),
            shared_states: proof.shareds.iter().map(|state| (state.held, digits(&state.values))).collect(),
            places: proof.places.iter().map(PlaceView::new).collect(),
            thread_states: proof.locals.iter().map(|state| (state.place, digits(&state.values))).collect(),
            claim: ClaimView::new(&proof.claim),
        }
    }

    pub(super) fn proof(&self, program: &Program) -> Result<CoverProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let place = |(number, view): (usize, &PlaceView)| view.place(program, &format!("place {number}"));
        let shared_vars = self.shared_variables.iter().map(|var| var_id(program, "proof", *var));
        let shared = |(held, values): &(bool, String)| Ok(SharedState { values: bits(values)?, held: *held });
        let local = |(place, values): &(u32, String)| Ok(LocalState { place: *place, values: bits(values)? });
        Ok(CoverProof {
            shared_vars: shared_vars.collect::<Result<_, _>>()?,
            shareds: self.shared_states.iter().map(shared).collect::<Result<_, _>>()?,
            places: self.places.iter().enumerate().map(place).collect::<Result<_, _>>()?,
            locals: self.thread_states.iter().map(local).collect::<Result<_, _>>()?,
            claim: self.claim.claim(),
        })
    }
}

impl ClaimView {
    fn new(claim: &CoverClaim) -> ClaimView {
        match claim {
            CoverClaim::Views(table) => ClaimView::Views(TableView::new(table)),
            CoverClaim::Vectors(vectors) => {
                let view = |vector: &OmegaVector| {
                    (vector.shared.raw(), vector.counts.iter().map(|(local, count)| (local.raw(), *count)).collect())
                };
                ClaimView::Vectors { vectors: vectors.iter().map(view).collect() }
            }
            CoverClaim::Basis { within, weights, forbidden } => {
                let view = |cover: &Cover| (cover.shared.raw(), numbers(&cover.threads));
                ClaimView::Basis {
                    within: TableView::new(within),
                    weights: weights.iter().map(WeightingView::new).collect(),
                    forbidden: forbidden.iter().map(view).collect(),
                }
            }
            CoverClaim::Adequacy(claim) => ClaimView::Adequacy(AdequacyView::new(claim)),
        }
    }

    fn claim(&self) -> CoverClaim {
        match self {
            ClaimView::Views(table) => CoverClaim::Views(table.table()),
            ClaimView::Vectors { vectors } => {
                let vector = |(shared, counts): &(u32, CountsView)| OmegaVector {
                    shared: SharedId::from_raw(*shared),
                    counts: counts.iter().map(|(local, count)| (LocalId::from_raw(*local), *count)).collect(),
                };
                CoverClaim::Vectors(vectors.iter().map(vector).collect())
            }
            ClaimView::Basis { within, weights, forbidden } => {
                let cover = |(shared, threads): &(u32, Vec<u32>)| Cover {
                    shared: SharedId::from_raw(*shared),
                    threads: locals(threads),
                };
                CoverClaim::Basis {
                    within: within.table(),
                    weights: weights.iter().map(WeightingView::weighting).collect(),
                    forbidden: forbidden.iter().map(cover).collect(),
                }
            }
            ClaimView::Adequacy(view) => CoverClaim::Adequacy(view.claim()),
        }
    }
}

impl WeightingView {
    fn new(weights: &Weighting) -> WeightingView {
        WeightingView {
            shared: weights.shareds.iter().map(|(shared, weight)| (shared.raw(), *weight)).collect(),
            threads: weights.locals.iter().map(|(local, weight)| (local.raw(), *weight)).collect(),
            most: weights.most,
        }
    }

    fn weighting(&self) -> Weighting {
        Weighting {
            shareds: self.shared.iter().map(|(shared, weight)| (SharedId::from_raw(*shared), *weight)).collect(),
            locals: self.threads.iter().map(|(local, weight)| (LocalId::from_raw(*local), *weight)).collect(),
            most: self.most,
        }
    }
}

impl TableView {
    fn new(table: &ViewTable) -> TableView {
        let row = |row: &ViewRow| (row.shared.raw(), numbers(&row.threads), numbers(&row.last));
        TableView {
            k: table.k,
            shared: table.shareds.iter().map(|shared| shared.raw()).collect(),
            rows: table.rows.iter().map(row).collect(),
        }
    }

    fn table(&self) -> ViewTable {
        let row = |(shared, threads, last): &(u32, Vec<u32>, Vec<u32>)| ViewRow {
            shared: SharedId::from_raw(*shared),
            threads: locals(threads),
            last: locals(last),
        };
        ViewTable {
            k: self.k,
            shareds: self.shared.iter().map(|shared| SharedId::from_raw(*shared)).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

fn numbers(locals: &[LocalId]) -> Vec<u32> {
    locals.iter().map(|local| local.raw()).collect()
}

fn locals(numbers: &[u32]) -> Vec<LocalId> {
    numbers.iter().map(|local| LocalId::from_raw(*local)).collect()
}

fn digits(values: &[bool]) -> String {
    values.iter().map(|value| if *value { '1' } else { '0' }).collect()
}

fn bits(digits: &str) -> Result<Vec<bool>, ReadError> {
    let bit = |digit: char| match digit {
        '0' => Ok(false),
        '1' => Ok(true),
        other => Err(mismatch("proof", format!("`{other}` is not a value"))),
    };
    digits.chars().map(bit).collect()
}
