//! Lists of thread states in one form, whichever engine found them.
//!
//! *Order of work.* For each location the variables in the order of their declaration: the states are split by the
//! values of the first one, and the lists for these values are merged in turn. A variable with all values of its type
//! and the same list for each is free. *End.* There are finitely many variables. *Right.* The lists for different
//! values are about different states, and the states that a list stands for stay the same; so equal sets have equal
//! lists.

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Exploration, Run, Stop, ThreadState, ValuesAsked};
use selvedge_ir::{LocId, Program, Scope, Ty, Value, VarId};

/// The greatest number of bits of a variable whose values are listed beside states in which it is free.
const MOST_BITS: u8 = 10;

/// The values of the variables that are asked for; `None` where a variable is free.
type Row = Vec<Option<Value>>;

/// Replaces the values that were not asked for, so that states that differ only there are one, and merges the others.
pub(super) fn merged(
    seen: Exploration,
    program: &Program,
    asked: ValuesAsked<'_>,
    run: &Run<'_>,
) -> Result<Exploration, Stop> {
    let mut rows: BTreeMap<LocId, BTreeSet<Row>> = BTreeMap::new();
    let mut any = BTreeSet::new();
    for state in &seen.thread_states {
        run.tick()?;
        let vars = visible(program, state.loc);
        any.extend(vars.iter().filter(|var| !asked(state.loc, **var)).map(|var| (state.loc, *var)));
        let values = state.shared.iter().chain(&state.vars).chain(&state.locals);
        let wanted = vars.iter().zip(values).filter(|(var, _)| asked(state.loc, **var));
        let value = |(var, value): (&VarId, &Value)| (!state.free.contains(var)).then_some(*value);
        rows.entry(state.loc).or_default().insert(wanted.map(value).collect());
    }
    let mut merged = Merged { run, overlaps: seen.overlaps };
    let mut thread_states = BTreeSet::new();
    for (loc, rows) in rows {
        let vars: Vec<VarId> = visible(program, loc).into_iter().filter(|var| asked(loc, *var)).collect();
        let types: Vec<Ty> = vars.iter().map(|var| program.vars[*var].ty).collect();
        let rows: Vec<&[Option<Value>]> = rows.iter().map(Vec::as_slice).collect();
        let states = merged.list(&rows, &types)?.into_iter().map(|row| state(program, loc, &vars, &row));
        thread_states.extend(states);
    }
    Ok(Exploration { thread_states, any, overlaps: merged.overlaps, ..seen })
}

/// Returns the variables that can be seen at a location, in the order of a thread's state.
pub(super) fn visible(program: &Program, loc: LocId) -> Vec<VarId> {
    let of_scope = |scope: Scope| program.vars.indices().filter(move |var| program.vars[*var].scope == scope);
    let locals = &program.procs[program.locs[loc].proc].locals;
    of_scope(Scope::Shared).chain(of_scope(Scope::Thread)).chain(locals.iter().copied()).collect()
}

/// Returns the state with these values of some variables.
fn state(program: &Program, loc: LocId, vars: &[VarId], row: &Row) -> ThreadState {
    let known: BTreeMap<VarId, Option<Value>> = vars.iter().copied().zip(row.iter().copied()).collect();
    let value =
        |var: &VarId| known.get(var).copied().flatten().unwrap_or_else(|| program.vars[*var].ty.default_value());
    let of_scope = |scope: Scope| -> Vec<Value> {
        program.vars.indices().filter(|var| program.vars[*var].scope == scope).map(|var| value(&var)).collect()
    };
    let locals = program.procs[program.locs[loc].proc].locals.iter().map(value).collect();
    let mut free: Vec<VarId> = known.iter().filter(|(_, value)| value.is_none()).map(|(var, _)| *var).collect();
    free.sort_unstable();
    ThreadState { loc, shared: of_scope(Scope::Shared), vars: of_scope(Scope::Thread), locals, free }
}

/// The work of merging.
struct Merged<'r> {
    run: &'r Run<'r>,
    /// Set if some states are in several of those that are listed.
    overlaps: bool,
}

impl Merged<'_> {
    /// Returns the list of the states of some rows, which are about variables of these types.
    fn list(&mut self, rows: &[&[Option<Value>]], types: &[Ty]) -> Result<Vec<Row>, Stop> {
        self.run.tick()?;
        let Some((ty, types)) = types.split_first() else { return Ok(vec![Row::new()]) };
        let free: Vec<&[Option<Value>]> = rows.iter().filter(|row| row[0].is_none()).map(|row| &row[1..]).collect();
        let mut groups: BTreeMap<Value, Vec<&[Option<Value>]>> = BTreeMap::new();
        for row in rows {
            groups.extend(row[0].filter(|value| !groups.contains_key(value)).map(|value| (value, free.clone())));
            row[0].iter().for_each(|value| groups.get_mut(value).expect("it was added").push(&row[1..]));
        }
        if groups.is_empty() {
            return Ok(with(None, self.list(&free, types)?).collect());
        }
        let all = all_values(*ty);
        if !free.is_empty() {
            match &all {
                Some(all) => all.iter().for_each(|value| {
                    groups.entry(*value).or_insert_with(|| free.clone());
                }),
                // Too many values to list those that only free variables have.
                None => self.overlaps = true,
            }
        }
        let mut lists = Vec::new();
        for (value, group) in &groups {
            lists.push((*value, self.list(group, types)?));
        }
        let is_whole = all.as_ref().is_some_and(|all| all.len() == lists.len());
        if is_whole && lists.windows(2).all(|pair| pair[0].1 == pair[1].1) {
            let (_, list) = lists.swap_remove(0);
            return Ok(with(None, list).collect());
        }
        let mut found: Vec<Row> = Vec::new();
        if all.is_none() && !free.is_empty() {
            found.extend(with(None, self.list(&free, types)?));
        }
        lists.into_iter().for_each(|(value, list)| found.extend(with(Some(value), list)));
        Ok(found)
    }
}

/// Puts a value in front of rows.
fn with(value: Option<Value>, rows: Vec<Row>) -> impl Iterator<Item = Row> {
    rows.into_iter().map(move |row| std::iter::once(value).chain(row).collect())
}

/// Returns all values of a type, if they are few.
fn all_values(ty: Ty) -> Option<Vec<Value>> {
    match ty {
        Ty::Bool => Some(vec![Value::Bool(false), Value::Bool(true)]),
        Ty::Machine(ty) if ty.bits <= MOST_BITS => {
            Some((0..1_u64 << ty.bits).map(|bits| Value::Machine(ty, bits)).collect())
        }
        Ty::Machine(_) | Ty::Int => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(rows: &[&str]) -> Vec<String> {
        let value = |letter: char| match letter {
            '*' => None,
            letter => Some(Value::Bool(letter == '1')),
        };
        let rows: Vec<Row> = rows.iter().map(|row| row.chars().map(value).collect()).collect();
        let slices: Vec<&[Option<Value>]> = rows.iter().map(Vec::as_slice).collect();
        let mut merged = Merged { run: &Run::unlimited(), overlaps: false };
        let list = merged.list(&slices, &vec![Ty::Bool; rows[0].len()]).expect("there is no limit");
        assert!(!merged.overlaps);
        let letter =
            |value: &Option<Value>| value.map_or('*', |value| if value == Value::Bool(true) { '1' } else { '0' });
        list.iter().map(|row| row.iter().map(letter).collect()).collect()
    }

    #[test]
    fn equal_sets_have_equal_lists() {
        assert_eq!(list(&["00", "01", "10", "11"]), ["**"]);
        assert_eq!(list(&["00", "01", "11"]), ["0*", "11"]);
        assert_eq!(list(&["0*", "*1"]), ["0*", "11"]);
        assert_eq!(list(&["*0", "01"]), ["0*", "10"]);
        assert_eq!(list(&["00", "10"]), ["*0"]);
        assert_eq!(list(&["01", "10"]), ["01", "10"]);
    }
}
