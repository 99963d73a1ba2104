//! The configurations in which a run may start, of the listed states.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Role, Run, SharedState};
use selvedge_ir::tts::{LocalId, SharedId, Start, Tts};
use selvedge_ir::{Count, EntryId, Expr, LocId, Scope, VarId};

use super::super::{Flaw, Refused, Unjudged};
use super::adequacy::Kinds;
use super::census::Census;
use super::open::{Case, Needed, Values};
use super::walk::{Arrival, Walk, all_values};

/// More starts than this are not listed.
const LIMIT: usize = 1_000_000;

/// How the threads of each kind can begin.
type Crew = Vec<BTreeSet<LocalId>>;

/// All starts, each with a location at which one of its threads begins.
pub(super) fn starts(census: &Census<'_>, run: &Run<'_>) -> Result<Vec<(Start, LocId)>, Refused> {
    let program = census.task.program;
    let entries: Vec<EntryId> = program.entries.indices().filter(|id| may_start(program.entries[*id].count)).collect();
    let Some(first) = entries.first() else { return Err(Flaw::OutOfScope("it starts no threads").into()) };
    let loc = program.procs[program.entries[*first].proc].entry;
    let mut starts = Vec::new();
    for (shared, crew) in crews(census, &entries, loc, run)? {
        add_starts(census, shared, &entries, &crew, &mut |start| starts.push((start, loc)))?;
    }
    Ok(starts)
}

/// How the threads of some entries can begin, for each shared state in which they come to life.
fn crews(
    census: &Census<'_>,
    entries: &[EntryId],
    loc: LocId,
    run: &Run<'_>,
) -> Result<BTreeMap<SharedId, Crew>, Refused> {
    let mut crews: BTreeMap<SharedId, Crew> = BTreeMap::new();
    for values in first_values(census, run)? {
        run.tick()?;
        for case in split(Case::new(values), |case| case.read(census.proof.shared_vars.iter().copied())) {
            let (case, values) = case;
            let shared = census.shared(&SharedState { values, held: false }).ok_or(Flaw::Start(loc))?;
            let crew = crews.entry(shared).or_insert_with(|| vec![BTreeSet::new(); entries.len()]);
            for (entry, locals) in entries.iter().zip(crew) {
                locals.extend(begin(census, *entry, &case.now)?);
            }
        }
    }
    Ok(crews)
}

/// The kinds of threads of a system, where how they begin does not depend on the shared state.
pub(super) fn kinds<'s>(census: &Census<'_>, tts: &'s Tts, run: &Run<'_>) -> Result<Kinds<'s>, Refused> {
    let entries = &census.task.program.entries;
    let started: Vec<EntryId> = entries.indices().filter(|id| may_start(entries[*id].count)).collect();
    let mut reads = false;
    for (_, rhs) in entries.iter().flat_map(|entry| &entry.init) {
        let shared = |var: VarId| census.task.program.vars[var].scope == Scope::Shared;
        rhs.for_each_leaf(|leaf| reads |= matches!(leaf, Expr::Var(var) if shared(*var)));
    }
    if reads {
        return Err(Unjudged::Beyond("how a thread begins depends on the shared state").into());
    }
    let Some(first) = started.first() else { return Err(Flaw::OutOfScope("it starts no threads").into()) };
    let loc = census.task.program.procs[entries[*first].proc].entry;
    let crews = crews(census, &started, loc, run)?;
    let mut begin = vec![BTreeSet::new(); entries.len()];
    for (entry, locals) in crews.values().flat_map(|crew| started.iter().zip(crew)) {
        begin[entry.index()].extend(locals.iter().copied());
    }
    let limit = |count: Count| match count {
        Count::Any => None,
        Count::Exactly(limit) | Count::AtMost(limit) => Some(limit),
    };
    let limits = entries.iter().map(|entry| limit(entry.count)).collect();
    Ok(Kinds { tts, first: crews.into_keys().collect(), begin, limits })
}

fn may_start(count: Count) -> bool {
    !matches!(count, Count::Exactly(0) | Count::AtMost(0))
}

/// The values of the shared variables when the initial threads begin.
fn first_values(census: &Census<'_>, run: &Run<'_>) -> Result<Vec<Values>, Refused> {
    let program = census.task.program;
    let init = |case: &Case| -> Result<Values, Needed> {
        let mut values = case.now.clone();
        for (var, rhs) in &program.init {
            values[var.index()] = Some(case.value(rhs)?);
        }
        Ok(values)
    };
    let open: Values = vec![None; program.vars.len()];
    let first = split(Case::new(open), init).into_iter().map(|(_, values)| values);
    let Some(prelude) = program.prelude else { return Ok(first.collect()) };
    let entry = program.procs[prelude].entry;
    if census.task.target.has_loc(entry) {
        return Err(Flaw::Location(entry).into());
    }
    let mut all = BTreeSet::new();
    for values in first {
        for (edge, arrival) in Walk::prelude(census, prelude, values).explore(run)? {
            match arrival {
                Arrival::Start(values) => drop(all.insert(only_shared(census, values))),
                Arrival::Failed => return Err(Flaw::Assert(edge).into()),
                Arrival::Error(loc) => return Err(Flaw::Location(loc).into()),
                Arrival::Rule { .. } => unreachable!("the prelude is seen nowhere"),
            }
        }
    }
    Ok(all.into_iter().collect())
}

/// The values without those of the prelude's own variables.
fn only_shared(census: &Census<'_>, values: Values) -> Values {
    let vars = census.task.program.vars.iter().zip(values);
    vars.map(|(var, value)| if var.scope == Scope::Shared { value } else { None }).collect()
}

/// All cases of what an operation needs to know, with its results.
fn split<T>(case: Case, operation: impl Fn(&Case) -> Result<T, Needed>) -> Vec<(Case, T)> {
    let mut results = Vec::new();
    let mut cases = vec![case];
    while let Some(case) = cases.pop() {
        match operation(&case) {
            Ok(result) => results.push((case, result)),
            Err(needed) => cases.extend([case.with(needed, true), case.with(needed, false)]),
        }
    }
    results
}

/// How a thread of a kind can begin.
fn begin(census: &Census<'_>, id: EntryId, shared: &Values) -> Result<BTreeSet<LocalId>, Refused> {
    let program = census.task.program;
    let entry = &program.entries[id];
    let loc = program.procs[entry.proc].entry;
    if census.task.target.has_loc(loc) {
        return Err(Flaw::Location(loc).into());
    }
    let place = census.place(Role::Free(id), &[], loc).ok_or(Flaw::Start(loc))?;
    let init = |case: &Case| -> Result<Values, Needed> {
        let mut values = case.now.clone();
        for (var, slot) in program.vars.iter().zip(&mut values) {
            if var.scope == Scope::Thread {
                *slot = Some(false);
            }
        }
        entry.thread_vars.iter().for_each(|var| values[var.index()] = None);
        for (var, rhs) in &entry.init {
            values[var.index()] = Some(case.value(rhs)?);
        }
        Ok(values)
    };
    let mut locals = BTreeSet::new();
    let listed: Vec<VarId> = census.proof.places[place as usize].vars.iter().map(|(_, var)| *var).collect();
    for (_, values) in split(Case::new(shared.clone()), init) {
        let open: Vec<VarId> = listed.iter().copied().filter(|var| values[var.index()].is_none()).collect();
        for values in all_values(&values, &open) {
            let values: Vec<bool> = listed.iter().map(|var| values[var.index()] == Some(true)).collect();
            locals.insert(census.local(place, &values).ok_or(Flaw::Start(loc))?);
        }
    }
    Ok(locals)
}

/// All starts with a shared state: of each kind as many threads as there may be, each of which begins in some way.
fn add_starts(
    census: &Census<'_>,
    shared: SharedId,
    entries: &[EntryId],
    crew: &Crew,
    each: &mut impl FnMut(Start),
) -> Result<(), Refused> {
    let mut any = BTreeSet::new();
    let mut lists: Vec<Vec<LocalId>> = vec![Vec::new()];
    for (entry, locals) in entries.iter().zip(crew) {
        match census.task.program.entries[*entry].count {
            Count::Any => any.extend(locals.iter().copied()),
            Count::Exactly(n) | Count::AtMost(n) => lists = with_threads(&lists, locals, n as usize)?,
        }
    }
    for mut threads in lists {
        threads.sort_unstable();
        each(Start { shared, threads, any: any.iter().copied().collect() });
    }
    Ok(())
}

/// The lists with `n` more threads, each of which is one of these.
fn with_threads(lists: &[Vec<LocalId>], locals: &BTreeSet<LocalId>, n: usize) -> Result<Vec<Vec<LocalId>>, Refused> {
    // Threads of one kind come in ascending order, so that each choice is made once.
    let mut longer: Vec<(Vec<LocalId>, Option<LocalId>)> = lists.iter().map(|list| (list.clone(), None)).collect();
    for _ in 0..n {
        let mut next = Vec::new();
        for (list, last) in &longer {
            for local in locals.iter().filter(|local| last.is_none_or(|last| last <= **local)) {
                next.push((list.iter().copied().chain([*local]).collect(), Some(*local)));
            }
            if next.len() > LIMIT {
                return Err(Unjudged::Beyond("its threads can begin in too many ways").into());
            }
        }
        longer = next;
    }
    Ok(longer.into_iter().map(|(list, _)| list).collect())
}
