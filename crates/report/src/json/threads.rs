//! Proofs about several threads as JSON: a part of a certificate file.

use std::collections::BTreeSet;

use selvedge_check::formula::Formulas;
use selvedge_check::{Place, Role, Shape, ThreadProof, View, ViewProof};
use selvedge_ir::{EdgeId, EntryId, Program, VarId};
use serde::{Deserialize, Serialize};

use super::certificate::{NodeView, VariableView, fits, formula, formulas, location, variable};
use super::trace::{ReadError, mismatch};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadsView {
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

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeView {
    /// The place of each thread, in ascending order.
    pub threads: Vec<u32>,
    /// How many have ended, where the number of threads in a run is bounded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u32,
    pub formula: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(number: &u32) -> bool {
    *number == 0
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
    pub views: Vec<ViewView>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewView {
    /// The place of each thread, in ascending order.
    pub threads: Vec<u32>,
    /// Whether another thread holds the atomic flag.
    pub held: bool,
    pub formula: u32,
}

/// The variables that places and formulas speak of.
fn variables(program: &Program, places: &[Place], formulas: &Formulas) -> Vec<VariableView> {
    let in_places = places.iter().flat_map(|place| place.vars.iter().map(|(_, var)| *var));
    let in_formulas = formulas.nodes().iter().filter_map(|node| variable(*node));
    let vars: BTreeSet<VarId> = in_places.chain(in_formulas).collect();
    vars.into_iter().map(|var| VariableView::new(program, var)).collect()
}

fn places(program: &Program, views: &[PlaceView]) -> Result<Vec<Place>, ReadError> {
    let place = |(number, view): (usize, &PlaceView)| view.place(program, &format!("place {number}"));
    views.iter().enumerate().map(place).collect()
}

impl ViewsView {
    pub(super) fn new(program: &Program, proof: &ViewProof) -> ViewsView {
        let view = |view: &View| ViewView { threads: view.threads.clone(), held: view.held, formula: view.formula.0 };
        ViewsView {
            k: proof.k,
            variables: variables(program, &proof.places, &proof.formulas),
            formulas: proof.formulas.nodes().iter().map(|node| NodeView::from(*node)).collect(),
            places: proof.places.iter().map(PlaceView::new).collect(),
            views: proof.views.iter().map(view).collect(),
        }
    }

    pub(super) fn proof(&self, program: &Program) -> Result<ViewProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let formulas = formulas(program, &self.formulas)?;
        let view = |(number, view): (usize, &ViewView)| {
            let formula = formula(&formulas, &format!("view {number}"), view.formula)?;
            Ok(View { threads: view.threads.clone(), held: view.held, formula })
        };
        Ok(ViewProof {
            k: self.k,
            places: places(program, &self.places)?,
            views: self.views.iter().enumerate().map(view).collect::<Result<_, _>>()?,
            formulas,
        })
    }
}

impl ThreadsView {
    pub(super) fn new(program: &Program, proof: &ThreadProof) -> ThreadsView {
        let shape =
            |shape: &Shape| ShapeView { threads: shape.threads.clone(), ended: shape.ended, formula: shape.formula.0 };
        ThreadsView {
            variables: variables(program, &proof.places, &proof.formulas),
            formulas: proof.formulas.nodes().iter().map(|node| NodeView::from(*node)).collect(),
            places: proof.places.iter().map(PlaceView::new).collect(),
            shapes: proof.shapes.iter().map(shape).collect(),
        }
    }

    pub(super) fn proof(&self, program: &Program) -> Result<ThreadProof, ReadError> {
        self.variables.iter().try_for_each(|variable| fits(program, variable))?;
        let formulas = formulas(program, &self.formulas)?;
        let shape = |(number, view): (usize, &ShapeView)| {
            let formula = formula(&formulas, &format!("shape {number}"), view.formula)?;
            Ok(Shape { threads: view.threads.clone(), ended: view.ended, formula })
        };
        Ok(ThreadProof {
            places: places(program, &self.places)?,
            shapes: self.shapes.iter().enumerate().map(shape).collect::<Result<_, _>>()?,
            formulas,
        })
    }
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
        let calls = self.calls.iter().map(|edge| call(program, place, *edge));
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

fn call(program: &Program, place: &str, number: u32) -> Result<EdgeId, ReadError> {
    let edge = EdgeId::new(number as usize);
    match program.edges.get(edge) {
        Some(_) => Ok(edge),
        None => Err(mismatch(place, format!("the program has no edge {number}"))),
    }
}

pub(super) fn var_id(program: &Program, place: &str, number: u32) -> Result<VarId, ReadError> {
    let var = VarId::new(number as usize);
    match program.vars.get(var) {
        Some(_) => Ok(var),
        None => Err(mismatch(place, format!("the program has no variable {number}"))),
    }
}
