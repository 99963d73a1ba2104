//! The initial states, and the choices that make them.

use selvedge_check::{Run, Stop, ThreadScope};
use selvedge_ir::{Count, EntryId, Expr, StartThread, Value, VarId};

use super::super::bound;
use super::blocks::Model;
use super::store::{Kind, Local, LocalId, Parts, SharedId, State};
use super::values::{Bits, Tri, choices_of, eval, for_each_choice, get, set, zeros};

/// One way to choose a part of an initial state.
#[derive(Clone, Debug)]
pub(super) struct Chosen<T> {
    pub(super) part: T,
    pub(super) choices: Vec<bool>,
    pub(super) fresh: Vec<(VarId, bool)>,
}

/// All shared valuations that a run can start with.
pub(super) fn shared(model: &Model<'_>, run: &Run<'_>) -> Result<Vec<Chosen<Bits>>, Stop> {
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

/// All states in which the prelude's thread can start.
pub(super) fn prelude(model: &Model<'_>, run: &Run<'_>) -> Result<Option<Vec<Chosen<Local>>>, Stop> {
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

/// All states in which a thread of a kind can start.
pub(super) fn thread(model: &Model<'_>, id: EntryId, shared: &Bits, run: &Run<'_>) -> Result<Vec<Chosen<Local>>, Stop> {
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

/// All values of the choices in initial values and of open variables.
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

/// The numbers of initial threads of each kind that the program and the bound allow.
pub(super) fn crews(model: &Model<'_>) -> Vec<Vec<(EntryId, u32)>> {
    let bound = bound(&model.task);
    let mut crews: Vec<Vec<(EntryId, u32)>> = vec![Vec::new()];
    for (id, entry) in model.program().entries.iter_enumerated() {
        let extend = |crew: Vec<(EntryId, u32)>| {
            let room = bound - crew.iter().map(|(_, count)| count).sum::<u32>();
            let counts: Vec<u32> = match entry.count {
                Count::Exactly(count) => (count..=count).filter(|count| *count <= room).collect(),
                Count::AtMost(count) => (0..=count.min(room)).collect(),
                Count::Any => (0..=room).collect(),
            };
            counts.into_iter().map(move |count| crew.iter().copied().chain([(id, count)]).collect())
        };
        crews = crews.into_iter().flat_map(extend).collect();
    }
    crews
}

/// All states with a shared valuation and the initial threads.
pub(super) fn states(
    model: &Model<'_>,
    parts: &mut Parts,
    shared: SharedId,
    run: &Run<'_>,
    found: &mut dyn FnMut(State) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let bits = parts.shared[shared as usize].clone();
    let mut options: Vec<Vec<LocalId>> = Vec::new();
    for id in model.program().entries.indices() {
        let mut locals: Vec<LocalId> =
            thread(model, id, &bits, run)?.into_iter().map(|chosen| parts.local(chosen.part)).collect();
        locals.sort_unstable();
        locals.dedup();
        options.push(locals);
    }
    for crew in crews(model) {
        let kinds: Vec<(&[LocalId], u32)> =
            crew.iter().map(|(id, count)| (options[id.index()].as_slice(), *count)).collect();
        multisets(&kinds, &mut Vec::new(), run, &mut |threads| {
            let mut threads = threads.to_vec();
            threads.sort_unstable();
            let created = if counts_created(model) { threads.len() as u32 } else { 0 };
            found(State { shared, holder: None, created, threads })
        })?;
    }
    Ok(())
}

/// Whether the question bounds how many threads are created.
pub(super) fn counts_created(model: &Model<'_>) -> bool {
    matches!(model.task.threads, ThreadScope::Created(_))
}

/// All ways to draw from each list as often as its number says, in any order.
fn multisets(
    kinds: &[(&[LocalId], u32)],
    drawn: &mut Vec<LocalId>,
    run: &Run<'_>,
    found: &mut dyn FnMut(&[LocalId]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    run.tick()?;
    match kinds.split_first() {
        None => found(drawn),
        Some(((_, 0), rest)) => multisets(rest, drawn, run, found),
        Some(((options, count), rest)) => {
            for (at, local) in options.iter().enumerate() {
                drawn.push(*local);
                let mut kinds = vec![(&options[at..], count - 1)];
                kinds.extend_from_slice(rest);
                multisets(&kinds, drawn, run, found)?;
                drawn.pop();
            }
            Ok(())
        }
    }
}

/// The choices that make a thread of the initial state.
pub(super) fn start_thread(
    model: &Model<'_>,
    parts: &Parts,
    shared: SharedId,
    local: LocalId,
    run: &Run<'_>,
) -> Result<StartThread, Stop> {
    let wanted = &parts.locals[local as usize];
    let Kind::Entry(entry) = wanted.kind else { unreachable!("the prelude's thread is no initial thread") };
    let ways = thread(model, entry, &parts.shared[shared as usize], run)?;
    let chosen = ways.into_iter().find(|chosen| chosen.part == *wanted).expect("the search found this start once");
    Ok(StartThread { entry, choices: values(&chosen.choices), fresh: fresh(&chosen.fresh) })
}

pub(super) fn values(values: &[bool]) -> Vec<Value> {
    values.iter().map(|value| Value::Bool(*value)).collect()
}

pub(super) fn fresh(fresh: &[(VarId, bool)]) -> Vec<(VarId, Value)> {
    fresh.iter().map(|(var, value)| (*var, Value::Bool(*value))).collect()
}

/// Some initial threads that the program allows, for executions that end before they live.
pub(super) fn any_crew(model: &Model<'_>) -> Vec<StartThread> {
    let crew = crews(model).into_iter().next().unwrap_or_default();
    let start = |id: EntryId| {
        let init = model.program().entries[id].init.iter().map(|(_, rhs)| rhs);
        let n_choices = choices_of(init).last().map_or(0, |last| *last as usize + 1);
        StartThread { entry: id, choices: vec![Value::Bool(false); n_choices], fresh: Vec::new() }
    };
    crew.into_iter().flat_map(|(id, count)| (0..count).map(move |_| start(id))).collect()
}
