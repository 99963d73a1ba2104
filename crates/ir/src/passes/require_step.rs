//! Asks for the errors that are reached through steps of a given set only.
//!
//! A shared variable tells whether one of the watched steps was made. An assignment sets it at once. A passing assertion
//! becomes an assumption that sets it, beside the failing one, which leads nowhere. An atomic section that begins sets it
//! as its first step. All others, which have no value to set, are *announced*: a step before them sets the variable. A
//! failure counts where the variable is set, and that of a watched assertion always.
//!
//! *Right.* Where the variable is set, a watched step was made, or announced by a thread that then did not go on. Such a
//! step can be made where it was announced, in the same context: it needs nothing but the thread that makes it. That may
//! change what the others see only where it starts or ends a thread at a bound on threads; so whoever uses the pass
//! executes the completed execution before it believes in it.

use super::{Lift, LiftStep, Passed};
use crate::syntax::{Assign, BinaryOp, Edge, EdgeId, Expr, Loc, LocId, Op, ProcId, Program, Scope, Ty, Var, VarId};
use crate::target::Target;

/// What the pass returns.
#[derive(Clone, Debug)]
pub struct RequiredStep {
    /// The program that asks.
    pub passed: Passed,
    /// The edges that announce a step, each with the edge of that step, in ascending order.
    pub announced: Vec<(EdgeId, EdgeId)>,
}

/// Returns the same program with a failing assertion at each error location. It is the last step of an execution, made
/// after the thread has come to the location, not necessarily at once. The old edges keep their numbers.
pub fn failures(program: &Program, target: &Target) -> (Program, Target) {
    let (mut program, mut asserts) = (program.clone(), target.asserts.clone());
    for loc in &target.locs {
        let nowhere = program.locs.push(Loc { proc: program.locs[*loc].proc });
        asserts.push(program.edges.push(Edge { from: *loc, to: nowhere, op: Op::Assert(Expr::FALSE) }));
    }
    (program, Target::new(asserts, Vec::new()))
}

/// Watches the steps for which `watched` holds. The target must ask for assertions only, see [`failures`].
pub fn run(program: &Program, target: &Target, watched: impl Fn(EdgeId) -> bool) -> RequiredStep {
    debug_assert!(target.together.is_empty() && target.locs.is_empty(), "to stand somewhere is no step");
    let mut passed = Passed::unchanged(program, target);
    let made = passed.program.vars.push(Var { name: "$made".to_string(), scope: Scope::Shared, ty: Ty::Bool });
    passed.program.init.push((made, Expr::FALSE));
    passed.lift.vars.push(None);
    let mut watch = Watch { old: program, passed, made, announced: Vec::new() };
    for id in program.edges.indices() {
        match (&program.edges[id].op, watched(id)) {
            (Op::Assert(condition), is_watched) => watch.assertion(id, condition, target.has_assert(id), is_watched),
            (_, false) => {}
            (Op::Assign(_), true) => watch.assignment(id),
            (Op::AtomicBegin, true) => watch.section(id),
            (_, true) => watch.announce(id),
        }
    }
    RequiredStep { passed: watch.passed, announced: watch.announced }
}

struct Watch<'p> {
    old: &'p Program,
    passed: Passed,
    /// Whether a watched step was made.
    made: VarId,
    announced: Vec<(EdgeId, EdgeId)>,
}

impl Watch<'_> {
    fn assignment(&mut self, id: EdgeId) {
        if let Op::Assign(assign) = &mut self.passed.program.edges[id].op {
            assign.active.push((self.made, Expr::TRUE));
        }
    }

    /// The failing assertion keeps its number; the passing one is a step of its own.
    fn assertion(&mut self, id: EdgeId, condition: &Expr, is_asked: bool, is_watched: bool) {
        let Edge { from, to, .. } = self.old.edges[id];
        let active = if is_watched { vec![(self.made, Expr::TRUE)] } else { Vec::new() };
        let passing = Op::Assign(Assign { active, constrain: condition.clone(), ..Assign::skip() });
        if !is_asked {
            self.passed.program.edges[id].op = passing;
            return;
        }
        let step = self.passed.lift.edges[id].clone();
        self.add(from, to, passing, step);
        let nowhere = self.new_loc(self.old.locs[from].proc);
        let failing = if is_watched { condition.clone() } else { self.unless_made(condition.clone()) };
        self.passed.program.edges[id] = Edge { from, to: nowhere, op: Op::Assert(failing) };
    }

    /// Nobody else moves between the beginning of a section and its first step.
    fn section(&mut self, id: EdgeId) {
        let Edge { from, to, .. } = self.old.edges[id];
        let begun = self.new_loc(self.old.locs[from].proc);
        self.passed.program.edges[id].to = begun;
        self.add(begun, to, self.make(), Vec::new());
    }

    fn announce(&mut self, id: EdgeId) {
        let from = self.old.edges[id].from;
        let announced = self.new_loc(self.old.locs[from].proc);
        let edge = self.add(from, announced, self.make(), Vec::new());
        self.passed.program.edges[id].from = announced;
        self.announced.push((edge, id));
    }

    fn make(&self) -> Op {
        Op::Assign(Assign { active: vec![(self.made, Expr::TRUE)], ..Assign::skip() })
    }

    fn unless_made(&self, condition: Expr) -> Expr {
        Expr::binary(BinaryOp::Or, condition, Expr::negate(Expr::Var(self.made)))
    }

    fn new_loc(&mut self, proc: ProcId) -> LocId {
        self.passed.program.locs.push(Loc { proc })
    }

    fn add(&mut self, from: LocId, to: LocId, op: Op, steps: Vec<LiftStep>) -> EdgeId {
        let Passed { program, lift: Lift { edges, .. }, .. } = &mut self.passed;
        edges.push(steps);
        program.edges.push(Edge { from, to, op })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::check;

    fn watching(edges: &'static [usize]) -> impl Fn(&Program, &Target) -> Passed {
        move |program, target| run(program, target, |edge| edges.contains(&edge.index())).passed
    }

    #[test]
    fn watched_steps_are_told_and_failures_ask_for_them() {
        let before = "
            shared x: bool
            init x := F
            proc main() from L0 to L4
              e0 L0 -> L1: x := T
              e1 L1 -> L2: assert x
              e2 L2 -> L3: atomic_begin
              e3 L3 -> L4: return
            start main
            target e1
        ";
        let after = "
            shared x: bool
            shared `$made`: bool
            init x := F, `$made` := F
            proc main() from L0 to L4
              e0 L0 -> L1: x := T, `$made` := T
              e1 L1 -> L5: assert x | !`$made`
              e2 L2 -> L6: atomic_begin
              e3 L7 -> L4: return
              e4 L1 -> L2: assume x
              e5 L6 -> L3: `$made` := T
              e6 L3 -> L7: `$made` := T
            start main
            target e1
        ";
        check(watching(&[0, 2, 3]), before, after);
    }

    #[test]
    fn a_watched_assertion_counts_whenever_it_fails() {
        let before = "
            proc main() from L0 to L1
              e0 L0 -> L1: assert F
            start main
            target e0
        ";
        let (program, target) = crate::text::parse_with_target(before).expect("it reads");
        let watched = run(&program, &target, |_| true).passed;
        assert_eq!(watched.program.edges[EdgeId::from_usize(0)].op, Op::Assert(Expr::FALSE));
    }
}
