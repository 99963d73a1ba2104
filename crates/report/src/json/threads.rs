//! Proofs about several threads as JSON: a part of a certificate file.

use std::collections::BTreeSet;

use selvedge_check::formula::Formulas;
use selvedge_check::{Place, Role, Seen, Shape, ShapeProof};
use selvedge_ir::{EntryId, Program, VarId};
use serde::{Deserialize, Serialize};

use super::certificate::{NodeView, ProofView, VariableView, fits, formula, formulas, known, location, variable};
use super::trace::{ReadError, mismatch};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadsView {
    /// Set if the shapes are those of the first states only; absent if they are all.
    #[serde(default, skip_serializing_if = "is_false")]
    pub first_only: bool,
    /// The variables that places and formulas speak of.
    pub variables: Vec<VariableView>,
    /// Each refers only to those before it.
    pub formulas: Vec<NodeView>,
    /// In ascending order.
    pub places: Vec<PlaceView>,
    /// In ascending order of their threads, those with fewer ended threads first.
    pub shapes: Vec<ShapeView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceView {
    pub role: RoleWord,
    /// The kind of the thread; null in the prelude.
    pub entry: Option<u32>,
    /// The calls that have not returned, the first one first.
    pub calls: Vec<u32>,
    pub location: u32,
    /// The number of the frame, and the variable.
    pub variables: Vec<(u32, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleWord {
    Prelude,
    Holder,
    Free,
}

/// Threads at places, and the formula that holds of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeView {
    /// The place of each thread, in ascending order.
    pub threads: Vec<u32>,
    /// Set if another thread holds the atomic flag; absent where all threads are seen together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<bool>,
    /// The number of threads that have ended, where the number of threads in a run is bounded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u32,
    pub formula: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewsView {
    /// The number of threads that are seen together.
    pub k: u32,
    /// The variables that places and formulas speak of.
    pub variables: Vec<VariableView>,
    /// Each refers only to those before it.
    pub formulas: Vec<NodeView>,
    /// In ascending order.
    pub places: Vec<PlaceView>,
    /// In ascending order of their threads, those whose flag is free first.
    pub views: Vec<ShapeView>,
}

/// The view of a proof in which all threads, or some of them, are seen together.
pub(super) fn written(program: &Program, proof: &ShapeProof) -> ProofView {
    let variables = variables(program, &proof.places, &proof.formulas);
    let formulas = proof.formulas.nodes().iter().map(|node| NodeView::from(*node)).collect();
    let places = proof.places.iter().map(PlaceView::new).collect();
    let is_told = !proof.seen.is_all();
    let shape = |shape: &Shape| ShapeView {
        threads: shape.threads.clone(),
        held: is_told.then_some(shape.held),
        ended: shape.ended,
        formula: shape.formula.0,
    };
    let shapes = proof.shapes.iter().map(shape).collect();
    match proof.seen {
        Seen::All | Seen::Reached => {
            let first_only = proof.seen == Seen::Reached;
            ProofView::Threads(ThreadsView { first_only, variables, formulas, places, shapes })
        }
        Seen::Any(k) => ProofView::Views(ViewsView { k, variables, formulas, places, views: shapes }),
    }
}

/// The variables that places and formulas speak of.
fn variables(program: &Program, places: &[Place], formulas: &Formulas) -> Vec<VariableView> {
    let in_places = places.iter().flat_map(|place| place.vars.iter().map(|(_, var)| *var));
    let in_formulas = formulas.nodes().iter().filter_map(|node| variable(*node));
    let vars: BTreeSet<VarId> = in_places.chain(in_formulas).collect();
    vars.into_iter().map(|var| VariableView::new(program, var)).collect()
}

impl ThreadsView {
    pub(super) fn proof(&self, program: &Program) -> Result<ShapeProof, ReadError> {
        let seen = if self.first_only { Seen::Reached } else { Seen::All };
        let shapes = (seen, "shape", self.shapes.as_slice());
        proof(program, &self.variables, &self.formulas, &self.places, shapes)
    }
}

impl ViewsView {
    pub(super) fn proof(&self, program: &Program) -> Result<ShapeProof, ReadError> {
        let shapes = (Seen::Any(self.k), "view", self.views.as_slice());
        proof(program, &self.variables, &self.formulas, &self.places, shapes)
    }
}

/// The proof with these parts; shapes come with the threads that are seen together, and the word for one of them.
fn proof(
    program: &Program,
    variables: &[VariableView],
    nodes: &[NodeView],
    places: &[PlaceView],
    (seen, word, shapes): (Seen, &str, &[ShapeView]),
) -> Result<ShapeProof, ReadError> {
    variables.iter().try_for_each(|variable| fits(program, variable))?;
    let formulas = formulas(program, nodes)?;
    let place = |(number, view): (usize, &PlaceView)| view.place(program, &format!("place {number}"));
    let shape = |(number, view): (usize, &ShapeView)| {
        let formula = formula(&formulas, &format!("{word} {number}"), view.formula)?;
        Ok(Shape { threads: view.threads.clone(), held: view.held.unwrap_or(false), ended: view.ended, formula })
    };
    Ok(ShapeProof {
        seen,
        places: places.iter().enumerate().map(place).collect::<Result<_, _>>()?,
        shapes: shapes.iter().enumerate().map(shape).collect::<Result<_, _>>()?,
        formulas,
    })
}

impl PlaceView {
    pub(super) fn new(place: &Place) -> PlaceView {
        let (role, entry) = match place.role {
            Role::Prelude => (RoleWord::Prelude, None),
            Role::Holder(entry) => (RoleWord::Holder, Some(entry.index() as u32)),
            Role::Free(entry) => (RoleWord::Free, Some(entry.index() as u32)),
        };
        PlaceView {
            role,
            entry,
            calls: place.calls.iter().map(|edge| edge.index() as u32).collect(),
            location: place.loc.index() as u32,
            variables: place.vars.iter().map(|(frame, var)| (*frame, var.index() as u32)).collect(),
        }
    }

    pub(super) fn place(&self, program: &Program, place: &str) -> Result<Place, ReadError> {
        let calls = self.calls.iter().map(|edge| known(&program.edges, *edge, place, "edge"));
        let vars = self.variables.iter().map(|(frame, var)| Ok((*frame, var_id(program, place, *var)?)));
        Ok(Place {
            role: self.role(program, place)?,
            calls: calls.collect::<Result<_, _>>()?,
            loc: location(program, self.location)?,
            vars: vars.collect::<Result<_, _>>()?,
        })
    }

    fn role(&self, program: &Program, place: &str) -> Result<Role, ReadError> {
        let entry = |number: u32| match program.entries.get(EntryId::new(number as usize)) {
            Some(_) => Ok(EntryId::new(number as usize)),
            None => Err(mismatch(place, format!("the program has no kind {number} of threads"))),
        };
        match (self.role, self.entry) {
            (RoleWord::Prelude, None) => Ok(Role::Prelude),
            (RoleWord::Holder, Some(number)) => entry(number).map(Role::Holder),
            (RoleWord::Free, Some(number)) => entry(number).map(Role::Free),
            (_, None) => Err(mismatch(place, "its thread has no kind".to_string())),
            (RoleWord::Prelude, Some(_)) => Err(mismatch(place, "the prelude has a kind of threads".to_string())),
        }
    }
}

pub(super) fn var_id(program: &Program, place: &str, number: u32) -> Result<VarId, ReadError> {
    known(&program.vars, number, place, "variable")
}
