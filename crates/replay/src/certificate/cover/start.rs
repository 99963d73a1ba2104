//! The configurations in which a run may start, of the listed states.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Role, Run};
use selvedge_ir::tts::{LocalId, SharedId, Start, Tts};
use selvedge_ir::{Count, EntryId, Expr, LocId, Scope, VarId};

use super::super::concrete::{Arrival, Values, all_values, cases, read, write};
use super::super::route::Route;
use super::super::{Flaw, Refused, Unjudged};
use super::adequacy::Kinds;
use super::state_table::StateTable;
use crate::position::Position;
use crate::program::leaves;

/// More starts, or lists of threads that meet, than this are not listed.
pub(super) const LIMIT: usize = 1_000_000;

/// The ways in which the initial threads can begin.
pub(super) struct Crews {
    /// A location at which threads begin.
    pub(super) loc: LocId,
    /// For each shared state in which threads come to life, the states in which those of each kind can begin.
    by_shared: BTreeMap<SharedId, Vec<BTreeSet<LocalId>>>,
}

impl Crews {
    /// Follows the prelude, if there is one, and begins a thread of each kind in each state that it leads to.
    pub(super) fn new(table: &StateTable<'_>, run: &Run<'_>) -> Result<Crews, Refused> {
        let program = table.task.program;
        let may_start = |id: &EntryId| !matches!(program.entries[*id].count, Count::Exactly(0) | Count::AtMost(0));
        let entries: Vec<EntryId> = program.entries.indices().filter(may_start).collect();
        let Some(first) = entries.first() else { return Err(Flaw::OutOfScope("it starts no threads").into()) };
        let loc = program.procs[program.entries[*first].proc].entry;
        let mut by_shared = BTreeMap::new();
        for values in first_values(table, run)? {
            run.tick()?;
            let listed = table.proof.shared_vars.iter().copied();
            for now in all_values(&values, listed, table.proof.shareds.len()).ok_or(Flaw::Start(loc))? {
                let values = read(&now, table.proof.shared_vars.iter().copied());
                let shared = table.shared(values, false).ok_or(Flaw::Start(loc))?;
                let crew = by_shared.entry(shared).or_insert_with(|| vec![BTreeSet::new(); program.entries.len()]);
                for entry in &entries {
                    crew[entry.index()].extend(begin(table, *entry, &now, run)?);
                }
            }
        }
        Ok(Crews { loc, by_shared })
    }

    /// All starts: for each shared state, of each kind as many threads as there may be, each of which begins in some
    /// way.
    pub(super) fn starts(&self, table: &StateTable<'_>) -> Result<Vec<Start>, Refused> {
        let mut starts = Vec::new();
        for (shared, crew) in &self.by_shared {
            let mut any = BTreeSet::new();
            let mut lists: Vec<Vec<LocalId>> = vec![Vec::new()];
            for (entry, locals) in table.task.program.entries.iter().zip(crew) {
                match entry.count {
                    Count::Any => any.extend(locals.iter().copied()),
                    Count::Exactly(n) | Count::AtMost(n) => lists = with_threads(&lists, locals, n as usize)?,
                }
            }
            for mut threads in lists {
                threads.sort_unstable();
                starts.push(Start { shared: *shared, threads, any: any.iter().copied().collect() });
            }
        }
        Ok(starts)
    }

    /// The kinds of threads of a system, where how they begin does not depend on the shared state.
    pub(super) fn kinds<'s>(&self, table: &StateTable<'_>, tts: &'s Tts) -> Result<Kinds<'s>, Refused> {
        let program = table.task.program;
        let is_shared = |var: VarId| program.vars[var].scope == Scope::Shared;
        let mut initial = program.entries.iter().flat_map(|entry| &entry.init).flat_map(|(_, rhs)| leaves(rhs));
        if initial.any(|leaf| matches!(leaf, Expr::Var(var) if is_shared(*var))) {
            return Err(Unjudged::Beyond("how a thread begins depends on the shared state").into());
        }
        let of_kind = |id: EntryId| self.by_shared.values().flat_map(move |crew| &crew[id.index()]).copied();
        let begin = program.entries.indices().map(|id| of_kind(id).collect()).collect();
        let limit = |count: Count| match count {
            Count::Any => None,
            Count::Exactly(limit) | Count::AtMost(limit) => Some(limit),
        };
        let limits = program.entries.iter().map(|entry| limit(entry.count)).collect();
        Ok(Kinds { tts, first: self.by_shared.keys().copied().collect(), begin, limits })
    }
}

/// The values of the shared variables when the initial threads begin.
fn first_values(table: &StateTable<'_>, run: &Run<'_>) -> Result<Vec<Values>, Refused> {
    let program = table.task.program;
    let open: Values = vec![None; program.vars.len()];
    let starts = cases(program, open, run, |_| Ok(()), |meaning| meaning.start_shared())?;
    let first = starts.into_iter().map(|(mut values, writes)| {
        write(&mut values, &writes);
        values
    });
    let Some(prelude) = program.prelude else { return Ok(first.collect()) };
    let entry = program.procs[prelude].entry;
    if table.task.target.has_loc(entry) {
        return Err(Flaw::Location(entry).into());
    }
    let (route, _) = Route::alone(&table.places, prelude, run)?;
    let mut all = BTreeSet::new();
    for values in first {
        for (_, arrival) in table.explorer(None).explore(&route, values, run)? {
            match arrival {
                Arrival::Start(values) => drop(all.insert(only_shared(table, values))),
                Arrival::Error(error) => return Err(error.into()),
                Arrival::Rule { .. } => unreachable!("the prelude is seen nowhere"),
            }
        }
    }
    Ok(all.into_iter().collect())
}

/// The values without those of the prelude's own variables.
fn only_shared(table: &StateTable<'_>, values: Values) -> Values {
    let vars = table.task.program.vars.iter().zip(values);
    vars.map(|(var, value)| if var.scope == Scope::Shared { value } else { None }).collect()
}

/// The states in which a thread of a kind can begin.
fn begin(table: &StateTable<'_>, kind: EntryId, shared: &Values, run: &Run<'_>) -> Result<BTreeSet<LocalId>, Refused> {
    let program = table.task.program;
    let position = Position::entry(program, program.entries[kind].proc);
    if table.task.target.has_loc(position.loc) {
        return Err(Flaw::Location(position.loc).into());
    }
    let flaw = Flaw::Start(position.loc);
    let place = table.places.place(Role::Free(kind), &position).ok_or(flaw.clone())?;
    let mut locals = BTreeSet::new();
    let starts = cases(program, shared.clone(), run, |_| Ok(()), |meaning| meaning.start_thread(kind))?;
    for (mut values, writes) in starts {
        write(&mut values, &writes);
        let all = all_values(&values, table.places.vars(place), table.proof.locals.len());
        for values in all.ok_or(flaw.clone())? {
            let seen = (place, read(&values, table.places.vars(place)));
            locals.insert(table.local(&seen).ok_or(flaw.clone())?);
        }
    }
    Ok(locals)
}

/// The lists with `n` more threads, each of which is one of these.
fn with_threads(lists: &[Vec<LocalId>], locals: &BTreeSet<LocalId>, n: usize) -> Result<Vec<Vec<LocalId>>, Refused> {
    let too_many = Unjudged::Beyond("its threads can begin in too many ways");
    if n > LIMIT / lists.len() {
        return Err(too_many.into());
    }
    // Threads of one kind come in ascending order, so that each choice is made once.
    let mut longer: Vec<(Vec<LocalId>, Option<LocalId>)> = lists.iter().map(|list| (list.clone(), None)).collect();
    for _ in 0..n {
        let mut next = Vec::new();
        for (list, last) in &longer {
            for local in locals.iter().filter(|local| last.is_none_or(|last| last <= **local)) {
                next.push((list.iter().copied().chain([*local]).collect(), Some(*local)));
            }
            if next.len() > LIMIT {
                return Err(too_many.into());
            }
        }
        longer = next;
    }
    Ok(longer.into_iter().map(|(list, _)| list).collect())
}
