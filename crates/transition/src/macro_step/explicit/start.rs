//! The parts of initial states, and the choices that produce them.

use selvedge_check::{Run, Stop};
use selvedge_ir::{EntryId, Expr, StartThread, Value, VarId};

use super::Model;
use super::parts::{Kind, Local, LocalId, Parts, SharedId};
use super::values::{Bits, Tri, choices_of, eval, for_each_choice, get, set, zeros};

/// One way to choose a part of an initial state.
#[derive(Clone, Debug)]
pub struct Chosen<T> {
    pub part: T,
    pub choices: Vec<bool>,
    pub fresh: Vec<(VarId, bool)>,
}

/// Returns all shared valuations that a run can start with.
pub fn shared(model: &Model<'_>, run: &Run<'_>) -> Result<Vec<Chosen<Bits>>, Stop> {
    let program = model.program();
    let layout = &model.layout;
    let matters = |var: &VarId| get(&model.live_shared, layout.place(*var));
    let open = layout.shared.iter().filter(|var| matters(var) && !initialises(&program.init, **var));
    let open: Vec<VarId> = open.copied().collect();
    let ways = ways(&program.init, &open, run)?;
    let fill = |way: Vec<bool>| {
        let (choices, values) = way.split_at(way.len() - open.len());
        let mut bits = zeros(layout.shared.len());
        for (var, rhs) in &program.init {
            set(&mut bits, layout.place(*var), value(rhs, choices, &|_| unreachable!("initial values read nothing")));
        }
        open.iter().zip(values).for_each(|(var, value)| set(&mut bits, layout.place(*var), *value));
        model.forget_shared(&mut bits);
        let fresh = open.iter().copied().zip(values.iter().copied()).collect();
        Chosen { part: bits, choices: choices.to_vec(), fresh }
    };
    Ok(ways.into_iter().map(fill).collect())
}

/// Returns all states in which the prelude's thread can start.
pub fn prelude(model: &Model<'_>, run: &Run<'_>) -> Result<Option<Vec<Chosen<Local>>>, Stop> {
    let Some(proc) = model.program().prelude else { return Ok(None) };
    let open = model.open_locals(proc);
    let entry = model.program().procs[proc].entry;
    let fill = |values: Vec<bool>| {
        let mut bits = zeros(model.layout.n_locals);
        open.iter().zip(&values).for_each(|(var, value)| set(&mut bits, model.layout.place(*var), *value));
        let part = Local { kind: Kind::Prelude, loc: entry, bits };
        Chosen { part, choices: Vec::new(), fresh: open.iter().copied().zip(values).collect() }
    };
    Ok(Some(ways(&[], &open, run)?.into_iter().map(fill).collect()))
}

/// Returns all states in which a thread of a kind can start.
pub fn thread(model: &Model<'_>, id: EntryId, shared: &Bits, run: &Run<'_>) -> Result<Vec<Chosen<Local>>, Stop> {
    let program = model.program();
    let layout = &model.layout;
    let entry = &program.entries[id];
    let at = program.procs[entry.proc].entry;
    let uninitialised = entry.thread_vars.iter().filter(|var| !initialises(&entry.init, **var));
    let params = &program.procs[entry.proc].params;
    let open = uninitialised.chain(params).filter(|var| model.is_live(at, **var)).copied();
    let open: Vec<VarId> = open.chain(model.open_locals(entry.proc)).collect();
    let read = |var: VarId| get(shared, layout.place(var));
    let fill = |way: Vec<bool>| {
        let (choices, values) = way.split_at(way.len() - open.len());
        let mut bits = zeros(layout.n_locals);
        for (var, rhs) in &entry.init {
            set(&mut bits, layout.place(*var), value(rhs, choices, &read));
        }
        open.iter().zip(values).for_each(|(var, value)| set(&mut bits, layout.place(*var), *value));
        let mut part = Local { kind: Kind::Entry(id), loc: at, bits };
        model.forget(&mut part);
        let fresh = open.iter().copied().zip(values.iter().copied()).collect();
        Chosen { part, choices: choices.to_vec(), fresh }
    };
    Ok(ways(&entry.init, &open, run)?.into_iter().map(fill).collect())
}

fn initialises(init: &[(VarId, Expr)], var: VarId) -> bool {
    init.iter().any(|(initialised, _)| *initialised == var)
}

/// Returns all values of the choices in initial values and of open variables.
fn ways(init: &[(VarId, Expr)], open: &[VarId], run: &Run<'_>) -> Result<Vec<Vec<bool>>, Stop> {
    let used = choices_of(init.iter().map(|(_, rhs)| rhs));
    let n_choices = used.last().map_or(0, |last| *last as usize + 1);
    let n_open = open.len();
    let used: Vec<u32> = used.into_iter().chain((n_choices..n_choices + n_open).map(|at| at as u32)).collect();
    let mut choices = vec![Tri::Open; n_choices + n_open];
    let mut ways = Vec::new();
    let mut stopped = None;
    let may = &mut |_: &[Tri]| {
        stopped = stopped.or_else(|| run.tick().err());
        stopped.is_none()
    };
    for_each_choice(&used, &mut choices, may, &mut |choices| {
        ways.push(choices.iter().map(|choice| *choice == Tri::True).collect());
    });
    stopped.map_or(Ok(ways), Err)
}

fn value(rhs: &Expr, choices: &[bool], read: &dyn Fn(VarId) -> bool) -> bool {
    let leaf = |leaf: &Expr| match leaf {
        Expr::Choice(number, _) => Tri::known(choices[*number as usize]),
        Expr::Var(var) => Tri::known(read(*var)),
        _ => unreachable!("the validator rejects other leaves in initial values"),
    };
    eval(rhs, &leaf) == Tri::True
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

pub fn values(values: &[bool]) -> Vec<Value> {
    values.iter().map(|value| Value::Bool(*value)).collect()
}

pub fn fresh(fresh: &[(VarId, bool)]) -> Vec<(VarId, Value)> {
    fresh.iter().map(|(var, value)| (*var, Value::Bool(*value))).collect()
}
