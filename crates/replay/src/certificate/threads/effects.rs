//! What a thread with given values can do, listed one by one.

use std::rc::Rc;

use selvedge_ir::VarId;

use super::super::sat::Lit;
use super::super::{Flaw, Refused};
use super::route::Route;
use super::state::{Seen, State};
use super::walk::{Claim, End, Walk};

/// The values of a list of variables, the first one in the highest place: ascending numbers are ascending rows.
pub(super) type Bits = u64;

/// More values than this do not fit.
pub(super) const MOST_BITS: usize = Bits::BITS as usize;

/// What a macro step of a thread does.
#[derive(Clone, Debug)]
pub(super) struct Effect {
    /// The threads that there are instead of the one that moved: itself, unless it has ended, and those that it has
    /// started, each with its place and the values of the variables listed there.
    pub(super) threads: Vec<(u32, Bits)>,
    /// Whether the one that moved has ended.
    pub(super) ends: bool,
    /// The shared variables that formulas speak of.
    pub(super) shared: Bits,
    /// What to say if the state that this leads to is not in the set.
    pub(super) flaw: Flaw,
}

/// Who moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mover {
    pub(super) place: u32,
    pub(super) own: Bits,
    pub(super) shared: Bits,
    /// How many other threads count for the bound.
    pub(super) n_others: usize,
}

impl Walk<'_> {
    /// All effects of the macro steps of a thread, each once for each way that it comes about, or an error on the way.
    /// `told` are the shared variables of which the formulas speak. The walk is that of any other question; as it begins
    /// with constants, little is left to the solver: what the thread chooses.
    pub(super) fn effects(mut self, mover: Mover, told: &[VarId], route: &Route) -> Result<Vec<Effect>, Refused> {
        let mut shared = self.any_shared();
        for (number, var) in told.iter().enumerate() {
            shared[var.index()] = self.sat.constant(bit(mover.shared, told.len(), number));
        }
        let mut thread = self.any_thread(mover.place);
        let vars = &self.table.at(mover.place).vars;
        for (number, (_, var)) in vars.iter().enumerate() {
            Rc::make_mut(&mut thread.vars)[var.index()] = self.sat.constant(bit(mover.own, vars.len(), number));
        }
        let now = self.seen_by(&thread, &shared);
        (self.seen, self.n_untold) = (Claim::Nobody, mover.n_others);
        let guard = self.sat.constant(true);
        self.follow(route, State { guard, now, others: Vec::new(), n_sorted: 0, n_old: 0 })?;
        for (bad, flaw) in std::mem::take(&mut self.bad) {
            if self.can(&[bad])? {
                return Err(flaw.into());
            }
        }
        let mut effects = Vec::new();
        for end in std::mem::take(&mut self.ends) {
            self.ways_to(end, told, &mut effects)?;
        }
        Ok(effects)
    }

    /// All values with which an end is reached: solutions are excluded as they are found.
    fn ways_to(&mut self, end: End, told: &[VarId], effects: &mut Vec<Effect>) -> Result<(), Refused> {
        let End { state, place, flaw } = end;
        let now = Rc::new(state.now);
        let mut threads = state.others;
        threads.extend(place.map(|place| Seen { place, vars: Rc::clone(&now) }));
        let rows: Vec<(u32, Vec<Lit>)> = threads.iter().map(|thread| (thread.place, self.row(thread))).collect();
        let shared: Vec<Lit> = told.iter().map(|var| now[var.index()]).collect();
        let all: Vec<Lit> = rows.iter().flat_map(|(_, row)| row).chain(&shared).copied().collect();
        let open: Vec<Lit> = all.into_iter().filter(|lit| self.sat.known(*lit).is_none()).collect();
        let mut asked = vec![state.guard];
        while self.can(&asked)? {
            let values = |row: &[Lit]| bits(row.iter().map(|lit| self.sat.holds(*lit)));
            let threads = rows.iter().map(|(place, row)| (*place, values(row))).collect();
            effects.push(Effect { threads, ends: place.is_none(), shared: values(&shared), flaw: flaw.clone() });
            if open.is_empty() {
                break;
            }
            let others: Vec<Lit> = open.iter().map(|lit| if self.sat.holds(*lit) { !*lit } else { *lit }).collect();
            let another = self.sat.fresh();
            self.sat.clause(&[others.as_slice(), &[!another]].concat());
            asked.push(another);
        }
        Ok(())
    }

    /// Whether literals can hold together.
    fn can(&mut self, lits: &[Lit]) -> Result<bool, Refused> {
        if lits.iter().any(|lit| self.sat.known(*lit) == Some(false)) {
            return Ok(false);
        }
        self.sat.satisfiable_under(lits)
    }
}

/// The value with a number of a list of values.
fn bit(bits: Bits, len: usize, number: usize) -> bool {
    bits >> (len - 1 - number) & 1 == 1
}

/// A list of values.
fn bits(values: impl Iterator<Item = bool>) -> Bits {
    values.fold(0, |bits, value| bits << 1 | Bits::from(value))
}
