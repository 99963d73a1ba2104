//! The effects of a call on the variables that outlive it: phase 1 of the interprocedural live-variable analysis of
//! appendix C of the thesis behind Boom, after Srivastava and Wall.
//!
//! A variable here is a shared one or one of the thread that makes the call. The effects of other threads, and of
//! threads started inside the call, are not part of the call; but a started thread inherits the per-thread variables,
//! which counts as reading those that it reads.

use fixedbitset::FixedBitSet;
use index_vec::IndexVec;

use crate::callgraph::CallGraph;
use crate::dataflow::{Analysis, Arrow, ArrowKind, Arrows, Direction, Join, Values, solve};
use crate::slots::Slots;
use crate::syntax::{EdgeId, LocId, Op, ProcId, Program, VarId};
use crate::visit::{for_each_old_read, reads};

/// The effects of the calls to each procedure.
#[derive(Clone, Debug)]
pub struct ModRef {
    effects: IndexVec<ProcId, Effects>,
}

/// The effects of a call and of the calls inside it: sets of [`Slots::globals`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effects {
    /// May be read.
    pub refs: FixedBitSet,
    /// May be modified.
    pub mods: FixedBitSet,
    /// May be read before being assigned: the thesis's REF.
    pub exposed: FixedBitSet,
    /// May reach the return without being assigned: the complement of the thesis's MOD, which is definitely assigned.
    pub passed: FixedBitSet,
}

impl ModRef {
    /// Computes the effects: `refs` and `mods` by union along the calls, the others by a dataflow analysis.
    pub fn new(program: &Program, slots: &Slots, calls: &CallGraph, arrows: &Arrows) -> ModRef {
        let exposure = solve(arrows, &Exposure { program, slots });
        let mut effects: IndexVec<ProcId, Effects> = program
            .procs
            .iter()
            .map(|proc| Effects {
                refs: FixedBitSet::with_capacity(slots.globals().len()),
                mods: FixedBitSet::with_capacity(slots.globals().len()),
                exposed: exposure[proc.entry].exposed.clone(),
                passed: exposure[proc.entry].passed.clone(),
            })
            .collect();
        for edge in &program.edges {
            let own = &mut effects[program.locs[edge.from].proc];
            for_each_old_read(edge, |var| insert_global(&mut own.refs, slots, var));
            reads(edge.ensures_by_return()).into_iter().for_each(|var| insert_global(&mut own.refs, slots, var));
            edge.op.assigned().for_each(|var| insert_global(&mut own.mods, slots, var));
        }
        close(&mut effects, calls);
        ModRef { effects }
    }

    /// Returns the effects of a call to a procedure.
    pub fn of(&self, proc: ProcId) -> &Effects {
        &self.effects[proc]
    }
}

/// Adds the effects of callees to those of their callers, callees first. All members of a component call each other,
/// hence have the same effects.
fn close(effects: &mut IndexVec<ProcId, Effects>, calls: &CallGraph) {
    for component in calls.components() {
        let first = component[0];
        let (mut refs, mut mods) = (effects[first].refs.clone(), effects[first].mods.clone());
        for proc in component.iter().flat_map(|proc| std::iter::once(proc).chain(calls.callees(*proc))) {
            refs.union_with(&effects[*proc].refs);
            mods.union_with(&effects[*proc].mods);
        }
        for proc in component {
            effects[*proc].refs.clone_from(&refs);
            effects[*proc].mods.clone_from(&mods);
        }
    }
}

fn insert_global(set: &mut FixedBitSet, slots: &Slots, var: VarId) {
    let slot = slots.get(var);
    if slot < slots.globals().len() {
        set.insert(slot);
    }
}

/// The analysis behind [`Effects::exposed`] and [`Effects::passed`]: their values if the procedure began at a location.
/// Nothing flows from callers into callees, so that the value at an entry depends on the procedure alone.
struct Exposure<'p> {
    program: &'p Program,
    slots: &'p Slots,
}

#[derive(Clone)]
struct Exposed {
    exposed: FixedBitSet,
    passed: FixedBitSet,
}

impl Exposure<'_> {
    fn none(&self) -> Exposed {
        let none = FixedBitSet::with_capacity(self.slots.globals().len());
        Exposed { exposed: none.clone(), passed: none }
    }

    /// Returns what flows over a step, given the value after it.
    fn before(&self, id: EdgeId, mut value: Exposed) -> Exposed {
        let edge = &self.program.edges[id];
        let n_globals = self.slots.globals().len();
        for slot in edge.op.assigned().map(|var| self.slots.get(var)).filter(|slot| *slot < n_globals) {
            value.exposed.remove(slot);
            value.passed.remove(slot);
        }
        for_each_old_read(edge, |var| insert_global(&mut value.exposed, self.slots, var));
        value
    }

    /// Returns what flows over a call: its arguments, what the callee reads, and the part of the value after it that
    /// the callee passes on. The results are assigned last, and then what the call ensures is read.
    fn before_call(&self, id: EdgeId, values: &Values<Exposed>) -> Exposed {
        let edge = &self.program.edges[id];
        let Op::Call(call) = &edge.op else { return self.none() };
        let callee = &values[self.program.procs[call.callee].entry];
        let mut after = values[edge.to].clone();
        reads(&edge.ensures).into_iter().for_each(|var| insert_global(&mut after.exposed, self.slots, var));
        let mut value = self.before(id, after);
        value.exposed.intersect_with(&callee.passed);
        value.passed.intersect_with(&callee.passed);
        value.exposed.union_with(&callee.exposed);
        for_each_old_read(edge, |var| insert_global(&mut value.exposed, self.slots, var));
        value
    }
}

impl Analysis for Exposure<'_> {
    type Value = Exposed;
    const DIRECTION: Direction = Direction::Backward;

    fn start(&self, loc: LocId) -> Exposed {
        let mut value = self.none();
        if self.program.procs[self.program.locs[loc].proc].exit == loc {
            value.passed.insert_range(..);
        }
        value
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<Exposed>) -> Exposed {
        match arrow.kind {
            ArrowKind::Step(edge) => self.before(edge, values[arrow.to].clone()),
            ArrowKind::Across(edge) | ArrowKind::Enter(edge) => self.before_call(edge, values),
            ArrowKind::Fork(_) => values[arrow.to].clone(),
            ArrowKind::Spawn(_) => Exposed { exposed: values[arrow.to].exposed.clone(), ..self.none() },
            ArrowKind::Finish(_) => {
                let mut value = self.none();
                value.exposed.insert_range(..);
                value
            }
            ArrowKind::Leave(_) | ArrowKind::Start(_) => self.none(),
        }
    }
}

impl Join for Exposed {
    fn join(&mut self, come: &Exposed) -> bool {
        let exposed = self.exposed.join(&come.exposed);
        self.passed.join(&come.passed) || exposed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, proc: &str, expected: &str) {
        let program = crate::text::parse(text).unwrap();
        let (slots, calls) = (Slots::new(&program), CallGraph::new(&program));
        let mod_ref = ModRef::new(&program, &slots, &calls, &Arrows::new(&program, &calls));
        let id = program.procs.indices().find(|id| program.procs[*id].name == proc).unwrap();
        let list = |set: &FixedBitSet| {
            let names = set.ones().map(|slot| program.vars[slots.globals()[slot]].name.as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        let Effects { refs, mods, exposed, passed } = mod_ref.of(id);
        let found = [("refs", refs), ("mods", mods), ("exposed", exposed), ("passed", passed)];
        let found: Vec<String> = found.iter().map(|(name, set)| format!("{name}: {}", list(set))).collect();
        assert_eq!(found.join(", "), expected);
    }

    #[test]
    fn effects_include_those_of_callees() {
        let text = "shared a, b, c, d: bool
             proc f() from L0 to L3
               L0 -> L1: a := b
               L1 -> L2: b := call g(c)
               L2 -> L3: return
             proc g(p: bool) returns bool from L4 to L6
               L4 -> L5: assume a & d' & p
               L5 -> L6: return p";
        check(text, "g", "refs: a d, mods: , exposed: a d, passed: a b c d");
        check(text, "f", "refs: a b c d, mods: a b, exposed: b c d, passed: c d");
    }

    #[test]
    fn a_variable_is_passed_if_one_way_of_a_recursion_does_not_assign_it() {
        let text = "shared a, b: bool
             proc f() from L0 to L3
               L0 -> L1: a := T
               L1 -> L2: call f()
               L2 -> L3: return
               L1 -> L2: b := F
               L0 -> L3: end";
        check(text, "f", "refs: , mods: a b, exposed: , passed: ");
        let text = text.replace("b := F", "skip");
        check(&text, "f", "refs: , mods: a, exposed: , passed: b");
    }

    #[test]
    fn a_fork_goes_on_in_the_callers_too() {
        let text = "thread t, u: bool
             proc f() from L0 to L3
               L0 -> L1: fork L2
               L1 -> L2: t := T
               L2 -> L3: return
               L1 -> L2: t := u";
        check(text, "f", "refs: u, mods: t, exposed: u, passed: t u");
    }
}
