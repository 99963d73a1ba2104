//! The blocks of a thread, with literals as values.
//!
//! A block is followed in *waves*: all states after one step, after two, and so on. States of one wave at the same
//! place are merged. A block ends behind the first step that others can notice, but not while the thread holds the
//! atomic flag, and at the latest after some waves: it may end anywhere, since more blocks are as good as one. So it
//! is finite. Under an assignment of the literals at most one state of a wave has a guard that holds: a step is chosen
//! among those that leave a place, and where it cannot be made the block does not happen.

use std::collections::BTreeMap;

use selvedge_check::{Run, Task};
use selvedge_ir::{EdgeId, Op, ProcId, Program, Scope, VarId};

use super::super::sat::{Lit, Sat};
use super::super::{Flaw, Refused, Unjudged};
use super::{Values, filled};
use crate::commutation::Commutation;
use crate::position::Position;
use crate::program::{Leaving, leaving};
use crate::semantics::{Child, Control, Meaning, Scene, Writes, call_of, child, control, flag, of_scope};

/// A block without the atomic flag ends after this many steps, and one with it must.
const MOST_STEPS: usize = 500;

/// A thread somewhere, where the guard holds.
#[derive(Clone)]
pub(super) struct Inside {
    pub(super) guard: Lit,
    /// The variables of the thread.
    own: Values,
    /// The shared variables that the block has written on some way: the condition that it has, and the value.
    written: BTreeMap<VarId, (Lit, Lit)>,
}

impl Inside {
    pub(super) fn new(guard: Lit, own: Values) -> Inside {
        Inside { guard, own, written: BTreeMap::new() }
    }
}

/// The results of a block.
pub(super) struct Block {
    pub(super) ends: BTreeMap<Position, Inside>,
    /// Whether it ended before the thread did something that others notice.
    pub(super) is_cut: bool,
    /// The condition that the block happens, up to its end or an error.
    pub(super) happens: Lit,
    pub(super) errors: Vec<Lit>,
    /// The shared variables that it reads, with their values before it.
    pub(super) reads: Values,
    pub(super) writes: BTreeMap<VarId, (Lit, Lit)>,
    /// The threads that it starts: where, the condition, and their variables.
    pub(super) children: Vec<(Position, Lit, Values)>,
}

/// What is needed to know to follow blocks.
pub(super) struct Blocks<'a> {
    task: &'a Task<'a>,
    leaving: Leaving,
    commutation: Commutation<'a>,
}

/// The state before a step. What the block has not written is read from before the block.
struct Now<'a> {
    program: &'a Program,
    state: &'a Inside,
    reads: &'a mut Values,
    choices: BTreeMap<u32, Lit>,
}

impl<'r> Scene<Sat<'r>> for Now<'_> {
    fn read(&mut self, sat: &mut Sat<'r>, var: VarId) -> Result<Lit, Refused> {
        if self.program.vars[var].scope != Scope::Shared {
            return self.state.own.get(&var).copied().ok_or_else(|| Flaw::Malformed(None).into());
        }
        Ok(match self.state.written.get(&var) {
            Some((wrote, value)) => {
                if sat.known(*wrote) == Some(true) {
                    return Ok(*value);
                }
                let before = before(sat, self.reads, var);
                sat.ite(*wrote, *value, before)
            }
            None => before(sat, self.reads, var),
        })
    }

    fn choice(&mut self, sat: &mut Sat<'r>, number: u32) -> Result<Lit, Refused> {
        Ok(*self.choices.entry(number).or_insert_with(|| sat.fresh()))
    }
}

/// The value of a shared variable before the block.
fn before(sat: &mut Sat<'_>, reads: &mut Values, var: VarId) -> Lit {
    *reads.entry(var).or_insert_with(|| sat.fresh())
}

/// The states after the same number of steps: where the thread is, and whether it holds the atomic flag.
type Wave = BTreeMap<(Position, bool), Inside>;

impl<'a> Blocks<'a> {
    pub(super) fn new(task: &'a Task<'a>) -> Blocks<'a> {
        Blocks { task, leaving: leaving(task.program), commutation: Commutation::new(task.program) }
    }

    /// Follows a thread through its next block.
    pub(super) fn follow(
        &self,
        states: BTreeMap<Position, Inside>,
        sat: &mut Sat<'_>,
        run: &Run<'_>,
    ) -> Result<Block, Refused> {
        let begin = |(at, state): (Position, Inside)| ((at, false), Inside { written: BTreeMap::new(), ..state });
        let mut wave: Wave = states.into_iter().map(begin).collect();
        let (happens, errors, children) = (sat.constant(false), Vec::new(), Vec::new());
        let (reads, writes) = (Values::new(), BTreeMap::new());
        let mut block = Block { ends: BTreeMap::new(), is_cut: false, happens, errors, reads, writes, children };
        for n_steps in 1.. {
            let mut next = Wave::new();
            for ((at, holds), state) in wave {
                run.tick()?;
                self.leave((&at, holds), &state, n_steps < MOST_STEPS, (&mut block, &mut next), sat)?;
            }
            if next.is_empty() {
                return Ok(block);
            }
            if n_steps >= MOST_STEPS {
                break;
            }
            wave = next;
        }
        Err(Unjudged::Beyond("an atomic section has too many steps").into())
    }

    /// Makes all steps that leave a place. Where there are several, one is chosen.
    fn leave(
        &self,
        (at, holds): (&Position, bool),
        state: &Inside,
        may_go_on: bool,
        (block, next): (&mut Block, &mut Wave),
        sat: &mut Sat<'_>,
    ) -> Result<(), Refused> {
        let edges = &self.leaving[at.loc];
        let mut rest = state.guard;
        for (number, edge) in edges.iter().enumerate() {
            let mut guard = rest;
            if number + 1 < edges.len() {
                let here = sat.fresh();
                guard = sat.and(rest, here);
                rest = sat.and(rest, !here);
            }
            let state = Inside { guard, ..state.clone() };
            self.step((at, holds), *edge, state, may_go_on, (&mut *block, &mut *next), sat)?;
        }
        Ok(())
    }

    /// Makes a step, as far as it can be made, and starts a thread, ends the block or goes on with it.
    fn step(
        &self,
        (at, holds): (&Position, bool),
        id: EdgeId,
        mut state: Inside,
        may_go_on: bool,
        (block, next): (&mut Block, &mut Wave),
        sat: &mut Sat<'_>,
    ) -> Result<(), Refused> {
        let program = self.task.program;
        let edge = &program.edges[id];
        if at.recurs(program, &edge.op) {
            return Err(Flaw::OutOfScope("it is recursive").into());
        }
        let mut now = Now { program, state: &state, reads: &mut block.reads, choices: BTreeMap::new() };
        let effect = Meaning::new(program, sat, &mut now).effect(edge, at.caller())?;
        state.guard = effect.conditions.into_iter().fold(state.guard, |guard, condition| sat.and(guard, condition));
        if let Some(asserted) = effect.asserted {
            if self.task.target.has_assert(id) {
                block.error(sat.and(state.guard, !asserted), sat);
            }
            state.guard = sat.and(state.guard, asserted);
        }
        if sat.known(state.guard) == Some(false) {
            return Ok(());
        }
        self.start_thread(at, &edge.op, &state, effect.child, block, sat);
        self.write(control(edge, at.caller()), effect.writes, &mut state, sat);
        let Some(after) = at.after(program, id) else {
            block.end(sat, &state);
            return Ok(());
        };
        let holds_after = flag(&edge.op).unwrap_or(holds);
        let is_quiet = !holds && self.commutation.is_invisible(edge, at.caller());
        if self.task.target.has_loc(after.loc) {
            block.error(state.guard, sat);
        } else if holds_after || is_quiet && may_go_on {
            let merged = merged(sat, next.remove(&(after.clone(), holds_after)), state);
            next.insert((after, holds_after), merged);
        } else {
            block.is_cut |= is_quiet;
            block.end(sat, &state);
            if !self.leaving[after.loc].is_empty() {
                let merged = merged(sat, block.ends.remove(&after), state);
                block.ends.insert(after, merged);
            }
        }
        Ok(())
    }

    /// Records the thread that an operation starts. It begins with the variables before the step: a copy of the mover
    /// has them all, another one has its own frame and the per-thread variables.
    fn start_thread(
        &self,
        at: &Position,
        op: &Op,
        state: &Inside,
        begun: Writes<Lit>,
        block: &mut Block,
        sat: &mut Sat<'_>,
    ) {
        let program = self.task.program;
        let (Some(start), Some(from)) = (child(op), at.child(program, op)) else { return };
        let own = match start {
            Child::Fork(_) => state.own.clone(),
            Child::Spawn(_) => {
                let kept = of_scope(program, Scope::Thread).filter_map(|var| Some((var, *state.own.get(&var)?)));
                kept.chain(filled(sat, begun)).collect()
            }
        };
        if self.task.target.has_loc(from.loc) {
            block.error(state.guard, sat);
        }
        block.children.push((from, state.guard, own));
    }

    /// Writes what a step writes. A return drops the frame first.
    fn write(&self, control: Control, writes: Writes<Lit>, state: &mut Inside, sat: &mut Sat<'_>) {
        let program = self.task.program;
        if let Control::Return(call) = control {
            forget(program, call_of(program, call).callee, &mut state.own);
        }
        for (var, value) in writes {
            let value = value.unwrap_or_else(|| sat.fresh());
            if program.vars[var].scope == Scope::Shared {
                state.written.insert(var, (sat.constant(true), value));
            } else {
                state.own.insert(var, value);
            }
        }
    }
}

impl Block {
    /// Records an error, with which the block ends.
    fn error(&mut self, guard: Lit, sat: &mut Sat<'_>) {
        self.errors.push(guard);
        self.happens = sat.or(self.happens, guard);
    }

    /// Ends the block in a state.
    fn end(&mut self, sat: &mut Sat<'_>, state: &Inside) {
        self.happens = sat.or(self.happens, state.guard);
        for (var, (wrote, value)) in &state.written {
            let here = sat.and(state.guard, *wrote);
            let never = (sat.constant(false), *value);
            let (known, last) = self.writes.get(var).copied().unwrap_or(never);
            self.writes.insert(*var, (sat.or(known, here), sat.ite(here, *value, last)));
        }
    }
}

/// Drops the variables of a procedure's frame.
fn forget(program: &Program, proc: ProcId, own: &mut Values) {
    own.retain(|var, _| !program.procs[proc].locals.contains(var));
}

/// Merges two states at one place. At most one of their guards holds.
fn merged(sat: &mut Sat<'_>, known: Option<Inside>, state: Inside) -> Inside {
    let Some(known) = known else { return state };
    let select = state.guard;
    let own = state.own.iter().map(|(var, value)| {
        let other = known.own.get(var).copied().unwrap_or(*value);
        (*var, sat.ite(select, *value, other))
    });
    let own = own.collect();
    let vars: std::collections::BTreeSet<VarId> = state.written.keys().chain(known.written.keys()).copied().collect();
    let never = sat.constant(false);
    let written = vars.into_iter().map(|var| {
        let (wrote, value) = state.written.get(&var).copied().unwrap_or_else(|| (never, known.written[&var].1));
        let (other_wrote, other) = known.written.get(&var).copied().unwrap_or((never, value));
        (var, (sat.ite(select, wrote, other_wrote), sat.ite(select, value, other)))
    });
    let written = written.collect();
    Inside { guard: sat.or(known.guard, select), own, written }
}
