//! Live variables, whose values may still matter at a location: phase 2 of the interprocedural live-variable analysis
//! of appendix C of the thesis behind Boom, with the equation for exits that is missing there.
//!
//! A variable is live at a location if some path from there reads it before assigning it. A right-hand side counts as a
//! read only if its variable is live or occurs in the step's own condition. At a call the effects of the callee
//! ([`crate::mod_ref`]) represent its body; at the exit of a procedure, the variables are live that are live after one
//! of the calls to it. Threads see each other through shared variables and passive copies: in a program with several
//! threads a shared variable is live everywhere if some condition depends on it, whichever thread evaluates it, and
//! nowhere else; a variable that others read passively is live everywhere.
//!
//! Engines may start a frame with default values in the variables that are not live at its entry.

use fixedbitset::FixedBitSet;

use crate::callgraph::{CallGraph, is_sequential};
use crate::dataflow::{Analysis, Arrow, ArrowKind, Arrows, Direction, Values, solve};
use crate::mod_ref::ModRef;
use crate::passes::slice;
use crate::slots::Slots;
use crate::syntax::{EdgeId, EntryId, Expr, LocId, Op, Program, Scope, VarId};
use crate::visit::{for_each_old_read, reads};

/// The live variables of each location.
#[derive(Clone, Debug)]
pub struct Liveness {
    slots: Slots,
    live: Values<FixedBitSet>,
}

impl Liveness {
    /// Computes the live variables.
    pub fn new(program: &Program) -> Liveness {
        Liveness::in_environment(program, !is_sequential(program))
    }

    /// Computes the live variables as if other threads ran concurrently, even if the program has only one.
    pub fn among_threads(program: &Program) -> Liveness {
        Liveness::in_environment(program, true)
    }

    /// Computes the variables whose values are worth showing, as if other threads ran concurrently: a shared variable
    /// that is read somewhere is live everywhere, even if no condition depends on it.
    pub fn observed(program: &Program) -> Liveness {
        let shared = |var: &VarId| program.vars[*var].scope == Scope::Shared;
        Liveness::with_pinned(program, mentioned(program, shared), FixedBitSet::new())
    }

    fn in_environment(program: &Program, has_other_threads: bool) -> Liveness {
        if !has_other_threads {
            return Liveness::with_pinned(program, mentioned(program, |_| false), FixedBitSet::new());
        }
        let matter = slice::influencing(program);
        let (pinned, ignored): (Vec<VarId>, Vec<VarId>) = program
            .vars
            .indices()
            .filter(|var| program.vars[*var].scope == Scope::Shared)
            .partition(|var| matter.contains(var.index()));
        let passive = mentioned(program, |_| false);
        Liveness::with_pinned(program, [pinned, passive].concat(), ignored.into_iter().map(VarId::index).collect())
    }

    fn with_pinned(program: &Program, pinned: Vec<VarId>, ignored: FixedBitSet) -> Liveness {
        let (calls, slots) = (CallGraph::new(program), Slots::new(program));
        let arrows = Arrows::new(program, &calls);
        let mod_ref = ModRef::new(program, &slots, &calls, &arrows);
        let ignored = ignored.ones().map(|var| slots.get(VarId::from_usize(var))).collect();
        let live = solve(&arrows, &Live { program, slots: &slots, mod_ref, pinned, ignored });
        Liveness { slots, live }
    }

    /// Returns the live variables of a location, by their slots.
    pub(crate) fn live(&self, loc: LocId) -> &FixedBitSet {
        &self.live[loc]
    }

    /// Returns the numbering of the variables.
    pub(crate) fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Returns whether a variable is live at a location of a procedure in which it is visible.
    pub fn is_live(&self, loc: LocId, var: VarId) -> bool {
        self.live[loc].contains(self.slots.get(var))
    }
}

/// Returns the variables that other threads mention as passive copies, and those of some others that are read.
fn mentioned(program: &Program, is_asked: impl Fn(&VarId) -> bool) -> Vec<VarId> {
    let mut mentioned = FixedBitSet::with_capacity(program.vars.len());
    let entry_inits = program.entries.iter().flat_map(|entry| entry.init.iter().map(|(_, rhs)| rhs));
    for expr in program.edges.iter().flat_map(|edge| edge.exprs()).chain(entry_inits) {
        expr.for_each_leaf(|leaf| match *leaf {
            Expr::Passive(var) | Expr::PassiveNext(var) => mentioned.insert(var.index()),
            Expr::Var(var) | Expr::Next(var) if is_asked(&var) => mentioned.insert(var.index()),
            _ => {}
        });
    }
    mentioned.ones().map(VarId::from_usize).collect()
}

struct Live<'p> {
    program: &'p Program,
    slots: &'p Slots,
    mod_ref: ModRef,
    /// The variables that are live everywhere.
    pinned: Vec<VarId>,
    /// The slots of variables that are live nowhere, wherever they are read.
    ignored: FixedBitSet,
}

impl Live<'_> {
    /// Returns the live variables before a step, from those after it.
    fn before(&self, id: EdgeId, mut live: FixedBitSet) -> FixedBitSet {
        let edge = &self.program.edges[id];
        let Op::Assign(assign) = &edge.op else {
            for_each_old_read(edge, |var| live.insert(self.slots.get(var)));
            return live;
        };
        let is_needed = |(var, rhs): &&(VarId, Expr)| {
            live.contains(self.slots.get(*var)) || assign.constrains_next(*var) || assign.binds_choices(rhs)
        };
        let needed: Vec<_> = assign.active.iter().filter(is_needed).collect();
        needed.iter().for_each(|(var, _)| live.remove(self.slots.get(*var)));
        let mut read = |leaf: &Expr| match *leaf {
            Expr::Var(var) => live.insert(self.slots.get(var)),
            Expr::Next(var) if !assign.assigns(var) => live.insert(self.slots.get(var)),
            _ => {}
        };
        let passive = assign.passive.iter().map(|(_, rhs)| rhs);
        for expr in needed.iter().map(|(_, rhs)| rhs).chain(passive).chain([&assign.constrain, edge.needs()]) {
            expr.for_each_leaf(&mut read);
        }
        live
    }

    /// Returns the live variables before a call: those in its arguments, those that the callee reads, and those that it
    /// passes on.
    fn before_call(&self, id: EdgeId, after: &FixedBitSet) -> FixedBitSet {
        let edge = &self.program.edges[id];
        let mut live = self.at_return(id, after);
        let Op::Call(call) = &edge.op else { return live };
        let effects = self.mod_ref.of(call.callee);
        (0..self.slots.globals().len())
            .filter(|slot| !effects.passed.contains(*slot))
            .for_each(|slot| live.remove(slot));
        live.union_with(&effects.exposed);
        self.before(id, live)
    }

    /// Returns the live variables of the caller when a call returns: those that are live after it and those of what it
    /// ensures, but for the results.
    fn at_return(&self, id: EdgeId, after: &FixedBitSet) -> FixedBitSet {
        let (mut live, edge) = (after.clone(), &self.program.edges[id]);
        live.extend(reads(edge.ensures_by_return()).into_iter().map(|var| self.slots.get(var)));
        edge.op.assigned().for_each(|var| live.remove(self.slots.get(var)));
        live
    }

    /// Returns the variables that are live when the initial threads start: those that one of this kind reads, including
    /// its initial values.
    fn before_start(&self, entry: EntryId, live: &FixedBitSet) -> FixedBitSet {
        let mut live = self.slots.globals_of(live);
        for (_, rhs) in &self.program.entries[entry].init {
            live.extend(reads(rhs).into_iter().map(|var| self.slots.get(var)));
        }
        live
    }
}

impl Analysis for Live<'_> {
    type Value = FixedBitSet;
    const DIRECTION: Direction = Direction::Backward;

    fn start(&self, loc: LocId) -> FixedBitSet {
        let proc = self.program.locs[loc].proc;
        let mut live = FixedBitSet::with_capacity(self.slots.visible(proc));
        for var in &self.pinned {
            match self.program.vars[*var].scope {
                Scope::Local(owner) if owner != proc => {}
                _ => live.insert(self.slots.get(*var)),
            }
        }
        live
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<FixedBitSet>) -> FixedBitSet {
        let after = &values[arrow.to];
        let mut live = match arrow.kind {
            ArrowKind::Step(edge) => self.before(edge, after.clone()),
            ArrowKind::Across(edge) => self.before_call(edge, after),
            ArrowKind::Leave(edge) => self.slots.globals_of(&self.at_return(edge, after)),
            ArrowKind::Fork(_) => after.clone(),
            ArrowKind::Spawn(_) | ArrowKind::Finish(_) => self.slots.globals_of(after),
            ArrowKind::Start(entry) => self.before_start(entry, after),
            ArrowKind::Enter(_) => FixedBitSet::new(),
        };
        live.difference_with(&self.ignored);
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let program = crate::text::parse(text).unwrap();
        let liveness = Liveness::new(&program);
        let live_at = |loc: LocId| {
            let proc = program.locs[loc].proc;
            let visible = |var: &VarId| !matches!(program.vars[*var].scope, Scope::Local(owner) if owner != proc);
            let live = program.vars.indices().filter(|var| visible(var) && liveness.is_live(loc, *var));
            live.map(|var| program.vars[var].name.as_str()).collect::<Vec<_>>().join(" ")
        };
        let found: Vec<String> = program.locs.indices().map(live_at).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn only_what_is_read_before_it_is_assigned_is_live() {
        check(
            "shared g: bool
             proc main() from L0 to L3
               local l, k: bool
               L0 -> L1: l := g, k := k
               L1 -> L2: g := l constrain g' | k'
               L2 -> L3: return
             start main",
            &["g k", "l k", "", ""],
        );
    }

    #[test]
    fn the_exit_has_what_is_live_after_any_call() {
        let text = "shared g, h: bool
             proc main() from L0 to L4
               L0 -> L1: call f()
               L1 -> L2: assert g
               L2 -> L3: call f()
               L3 -> L0: assert h
             proc f() from L5 to L6
               L5 -> L6: return
             start main";
        check(text, &["g h", "g h", "g h", "g h", "", "g h", "g h"]);
        let set = text.replace("L5 -> L6: return", "L5 -> L5: g := T\nL5 -> L6: end");
        check(&set, &["", "g", "", "h", "", "", "g h"]);
    }

    #[test]
    fn with_several_threads_what_no_condition_depends_on_is_dead() {
        let text = "shared g, h, k: bool
             proc main() from L0 to L1
               local l: bool
               L0 -> L0: g := h, h := k, k := g
               L0 -> L2: l := k
               L2 -> L2: k := l
               L2 -> L1: return
             proc other() from L3 to L4
               L3 -> L3: assume COND
             start main
             start other";
        check(&text.replace("COND", "T"), &["", "", "", "", ""]);
        check(&text.replace("COND", "h"), &["g h k", "g h k", "g h k l", "g h k", "g h k"]);
        let program = crate::text::parse(&text.replace("COND", "T")).unwrap();
        let observed = Liveness::observed(&program);
        assert!(program.vars.indices().take(3).all(|var| observed.is_live(LocId::new(4), var)));
    }

    #[test]
    fn with_several_threads_what_is_read_anywhere_is_live() {
        let text = "shared g, h: bool
             proc main() from L0 to L1
               L0 -> L0: g := T, h := T
             proc other() from L2 to L3
               L2 -> L2: assume h
             start main
             start other";
        check(text, &["h", "h", "h", "h"]);
    }
}
