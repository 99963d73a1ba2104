//! A program as a thread-transition system (thesis, §8.2).
//!
//! A shared state is a valuation of the live shared variables, together with the atomic flag; a local state is a
//! visible point of a thread (see [`crate::macro_step::visible_points`]), whether it holds the flag, and the valuation
//! of its variables that are live there. A rule is a block of steps of a thread from one visible point to the next, so
//! that whole atomic sections are rules, which may start several threads. An error on the way of a block is a target:
//! the pair of states from which the thread runs into it. A step that assigns variables of other threads makes a rule
//! that transfers them; it is the last one of its block, and threads that were started before it are visible.
//!
//! - `views`: the pairs of states that may occur, and the rules from them.
//! - `single`: locations with one thread at most.
//! - `start`: the first configurations, and the prelude before them.
//! - `targets`: the targets of the system.
//! - `trace`: from a run of the system to an execution of the program.

mod rules;
mod single;
mod start;
mod targets;
mod trace;
mod views;

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;
use rustc_hash::FxHashMap;
use selvedge_check::{
    Certificate, CoverClaim, CoverProof, LocalState, Place, Role, Run, SharedState, Stop, Task, ThreadState,
};
use selvedge_ir::tts::{LocalId, SharedId, Tts};
use selvedge_ir::{LocId, VarId};

use crate::macro_step::explicit::Model;
use crate::macro_step::explicit::parts::Parts;
use crate::macro_step::explicit::passive::Partner;
use crate::macro_step::explicit::values::get;
use crate::macro_step::reductions::Reductions;
use crate::macro_step::visible_points::VisiblePoints;
use crate::support::is_passive;
use start::Beginning;
use views::{Ids, Views};

pub use rules::{Configuration, Rules, configurations};
pub use start::multisets;

/// Options of the extraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Limit on the numbers of rules, of starts and of targets. Beyond it the extraction ends in [`Stop::StateLimit`].
    ///
    /// Default: 4,000,000.
    pub size: usize,
    /// Fuses steps that other threads cannot observe, and atomic sections, into one rule.
    ///
    /// Default: on.
    pub compress: bool,
    /// Forgets the values of variables that are not read any more.
    ///
    /// Default: on.
    pub dead: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { size: 4_000_000, compress: true, dead: true }
    }
}

/// The thread-transition system of a program, with the meaning of its states.
pub struct System<'p> {
    /// The system. Its targets are the task's; each start is one of the program's.
    pub tts: Tts,
    /// The shared variables in shared states.
    pub shared_vars: Vec<VarId>,
    /// The meaning of each shared state.
    pub shareds: IndexVec<SharedId, SharedState>,
    /// The places of threads in local states, in ascending order.
    pub places: Vec<Place>,
    /// The meaning of each local state.
    pub locals: IndexVec<LocalId, LocalState>,
    /// The local states that a search by single threads finds with each shared state: no configuration has others.
    pub views: IndexVec<SharedId, FixedBitSet>,
    model: Model<'p>,
    parts: Parts,
    ids: Ids,
    /// For each rule the step in which other threads take part, if there is one.
    partners: Vec<Option<Rc<Partner>>>,
    /// The ways in which the starts of the system are reached.
    beginnings: Vec<Beginning>,
    /// For each start of the system the index of its beginning.
    begins: Vec<u32>,
}

/// Extracts the system of a program for which [`supports_broadcasts`](crate::support::supports_broadcasts) holds.
pub fn extract<'p>(task: &Task<'p>, options: Options, run: &Run<'_>) -> Result<System<'p>, Stop> {
    let program = task.program;
    let visible_points = match options.compress {
        true if is_passive(program) => VisiblePoints::few(program, task.target),
        true => VisiblePoints::fewer(program, task.target),
        false => VisiblePoints::everywhere(program),
    };
    let reductions = Reductions { dead: options.dead, ..Reductions::NONE };
    let model = Model::with_visible_points(*task, visible_points, reductions);
    let mut views = Views::new(&model, options, run);
    let start::Starts { starts, beginnings, begins, .. } = start::starts(&mut views)?;
    views.close(&starts)?;
    let targets = targets::covers(&views)?;
    let (rules, partners) = views.rules_with_transfers()?.into_iter().unzip();
    let Views { parts, ids, seen, .. } = views;
    let (n_shared, n_local) = (ids.shareds.len() as u32, ids.locals.len() as u32);
    let tts = Tts { n_shared, n_local, rules: index_vec::IndexVec::from_vec(rules), starts, targets };
    let places = model.places();
    let locals = local_states(&model, &parts, &ids, &places);
    let shareds = shared_states(&model, &parts, &ids);
    let shared_vars = model.live_shared_vars().collect();
    let partners: Vec<Option<Rc<Partner>>> = partners;
    Ok(System {
        tts,
        shared_vars,
        shareds,
        places,
        locals,
        views: seen,
        model,
        parts,
        ids,
        partners,
        beginnings,
        begins,
    })
}

impl System<'_> {
    /// Converts a claim about the system to a certificate of the program.
    pub fn certificate(&self, claim: CoverClaim) -> Certificate {
        Certificate::Cover(CoverProof {
            shared_vars: self.shared_vars.clone(),
            shareds: self.shareds.clone(),
            places: self.places.clone(),
            locals: self.locals.clone(),
            claim,
        })
    }

    /// Returns the visible state of a thread.
    pub fn thread_state(&self, shared: SharedId, local: LocalId) -> ThreadState {
        self.parts.thread_state(&self.model, self.ids.shared(shared).0, self.ids.local(local).0)
    }
}

fn shared_states(model: &Model<'_>, parts: &Parts, ids: &Ids) -> IndexVec<SharedId, SharedState> {
    let state = |&(shared, held): &(u32, bool)| {
        let bits = &parts.shared[shared as usize];
        SharedState {
            values: model.live_shared_vars().map(|var| get(bits, model.steps.slots.get(var))).collect(),
            held,
        }
    };
    ids.shareds.iter().map(state).collect()
}

fn local_states(model: &Model<'_>, parts: &Parts, ids: &Ids, places: &[Place]) -> IndexVec<LocalId, LocalState> {
    let numbers: FxHashMap<(Role, LocId), u32> =
        places.iter().enumerate().map(|(number, place)| ((place.role, place.loc), number as u32)).collect();
    let state = |&(local, holds): &(u32, bool)| {
        let local = &parts.locals[local as usize];
        let place = numbers[&(local.kind.role(holds), local.loc)];
        let vars = &places[place as usize].vars;
        LocalState {
            place,
            values: vars.iter().map(|(_, var)| get(&local.bits, model.steps.slots.get(*var))).collect(),
        }
    };
    ids.locals.iter().map(state).collect()
}
