//! The parts of initial states, and the choices that produce them.

use selvedge_check::{Run, Stop};
use selvedge_ir::{EntryId, Expr, StartThread, VarId};

use super::Model;
use super::parts::{Kind, Local, LocalId, Parts, SharedId};
use crate::step::explicit::values::Bits;
use crate::step::explicit::{Values, initial_draws, initialises, known};

pub use crate::step::explicit::{fresh, values};

/// One way to choose a part of an initial state.
#[derive(Clone, Debug)]
pub struct Chosen<T> {
    pub part: T,
    pub choices: Vec<bool>,
    pub fresh: Vec<(VarId, bool)>,
}

/// Returns all shared valuations that a run can start with.
pub fn shared(model: &Model<'_>, run: &Run<'_>) -> Result<Vec<Chosen<Bits>>, Stop> {
    let init = &model.program().init;
    let open = model.live_shared_vars().filter(|var| !initialises(init, *var)).collect();
    chosen(model, init, open, &model.steps.slots.blank(), run, |values| {
        let mut shared = values.shared;
        model.forget_shared(&mut shared);
        shared
    })
}

/// Returns all states in which the prelude's thread can start.
pub fn prelude(model: &Model<'_>, run: &Run<'_>) -> Result<Option<Vec<Chosen<Local>>>, Stop> {
    let Some(proc) = model.program().prelude else { return Ok(None) };
    let loc = model.program().procs[proc].entry;
    let part = |values: Values| Local { kind: Kind::Prelude, loc, bits: values.locals };
    chosen(model, &[], model.steps.open_locals(proc), &model.steps.slots.blank(), run, part).map(Some)
}

/// Returns all states in which a thread of a kind can start.
pub fn thread(model: &Model<'_>, id: EntryId, shared: &Bits, run: &Run<'_>) -> Result<Vec<Chosen<Local>>, Stop> {
    let entry = &model.program().entries[id];
    let before = Values { shared: shared.clone(), ..model.steps.slots.blank() };
    chosen(model, &entry.init, model.steps.open_vars(id), &before, run, |values| {
        let loc = model.program().procs[entry.proc].entry;
        let mut part = Local { kind: Kind::Entry(id), loc, bits: values.locals };
        model.forget(&mut part);
        part
    })
}

/// Returns all parts with some initial values and open variables.
fn chosen<T>(
    model: &Model<'_>,
    init: &[(VarId, Expr)],
    open: Vec<VarId>,
    before: &Values,
    run: &Run<'_>,
    part: impl Fn(Values) -> T,
) -> Result<Vec<Chosen<T>>, Stop> {
    let draws = initial_draws(init, open);
    let mut all = Vec::new();
    model.steps.starts(init, &draws, before, run, &mut |drawn, values| {
        let (choices, fresh) = draws.split(&known(drawn));
        all.push(Chosen { part: part(values), choices, fresh });
    })?;
    Ok(all)
}

/// Returns the choices that produce a thread of the initial state.
pub fn start_thread(
    model: &Model<'_>,
    parts: &Parts,
    shared: SharedId,
    local: LocalId,
    run: &Run<'_>,
) -> Result<StartThread, Stop> {
    let wanted = &parts.locals[local as usize];
    let Kind::Entry(entry) = wanted.kind else { unreachable!("the prelude's thread is not an initial thread") };
    let ways = thread(model, entry, &parts.shared[shared as usize], run)?;
    let chosen = ways.into_iter().find(|chosen| chosen.part == *wanted).expect("the search found this start once");
    Ok(StartThread { entry, choices: values(&chosen.choices), fresh: fresh(&chosen.fresh) })
}
