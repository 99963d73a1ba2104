//! Restricts the errors to those on executions that take a step of a given set.
//!
//! A shared variable records whether one of the watched steps was taken. An assignment sets it at once. A passing
//! assertion becomes an assumption that sets it, next to the failing one, which leads nowhere. An atomic section that
//! begins sets it in its first step. The returns of a procedure whose calls ensure something return the new value of
//! the variable, too, so that it is set by a return that takes place. All other steps, which cannot assign, are
//! *announced*: a step before them sets the variable. A failure counts if the variable is set, and that of a watched
//! assertion always does.
//!
//! *Correctness.* If the variable is set, a watched step was taken, or announced by a thread that then did not move.
//! Such a step can be taken where it was announced, in the same context: it needs nothing but its own thread. The
//! exceptions are threads that are started or ended at a bound on threads, and returns of procedures that are called
//! and threads begin with as well, since the return from the first frame hands over nothing; so callers must replay
//! the completed execution.

use std::collections::BTreeSet;

use super::Passed;
use crate::syntax::{Edge, EdgeId, Expr, Op, ProcId, Program, Ty, VarId};
use crate::target::Target;

/// The result of the pass.
#[derive(Clone, Debug)]
pub struct RequiredStep {
    /// The program in which only such errors count.
    pub passed: Passed,
    /// The edges that announce a step, each with the edge of that step, in ascending order.
    pub announced: Vec<(EdgeId, EdgeId)>,
}

/// Returns the same program with a failing assertion at each error location. It is the last step of an execution, taken
/// after the thread has reached the location, not necessarily at once. The old edges keep their numbers.
pub fn failures(program: &Program, target: &Target) -> (Program, Target) {
    let (mut program, mut asserts) = (program.clone(), target.asserts.clone());
    for loc in &target.locs {
        let nowhere = program.locs.push(program.locs[*loc]);
        asserts.push(program.edges.push(Edge::new(*loc, nowhere, Op::Assert(Expr::FALSE))));
    }
    (program, Target::new(asserts, Vec::new()))
}

/// Watches the steps for which `watched` holds. The target must consist of assertions only; see [`failures`].
pub fn run(program: &Program, target: &Target, watched: impl Fn(EdgeId) -> bool) -> RequiredStep {
    debug_assert!(
        target.together.is_empty() && target.locs.is_empty() && !target.deadlock,
        "reaching a location is not a step"
    );
    let mut passed = Passed::unchanged(program, target);
    let made = passed.add_flag("$made".to_string());
    let mut watch = Watch { old: program, passed, made, announced: Vec::new() };
    let telling = telling(program);
    watch.tell(&telling, &watched);
    let tells = |id: EdgeId| {
        let edge = &program.edges[id];
        matches!(edge.op, Op::Return(_)) && telling.contains(&program.locs[edge.from].proc)
    };
    for id in program.edges.indices() {
        match (&program.edges[id].op, watched(id)) {
            (Op::Assert(condition), is_watched) => watch.assertion(id, condition, target.has_assert(id), is_watched),
            (_, false) => {}
            _ if tells(id) => {}
            (Op::Assign(_), true) => watch.assignment(id),
            (Op::AtomicBegin, true) => watch.section(id),
            (_, true) => watch.announce(id),
        }
    }
    RequiredStep { passed: watch.passed, announced: watch.announced }
}

/// Returns the procedures whose calls ensure something, and that no thread begins with.
fn telling(program: &Program) -> BTreeSet<ProcId> {
    let ensuring = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Call(call) if *edge.ensures_by_return() != Expr::TRUE => Some(call.callee),
        _ => None,
    });
    let mut telling: BTreeSet<ProcId> = ensuring.collect();
    let spawned = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Spawn(spawn) => Some(spawn.callee),
        _ => None,
    });
    let first = program.entries.iter().map(|entry| entry.proc).chain(program.prelude).chain(spawned);
    first.for_each(|proc| {
        telling.remove(&proc);
    });
    telling
}

struct Watch<'p> {
    old: &'p Program,
    passed: Passed,
    /// The variable that records whether a watched step was taken.
    made: VarId,
    announced: Vec<(EdgeId, EdgeId)>,
}

impl Watch<'_> {
    /// Lets some procedures return the value that the variable has after the return, and their calls take it.
    fn tell(&mut self, telling: &BTreeSet<ProcId>, watched: &impl Fn(EdgeId) -> bool) {
        for proc in telling {
            self.passed.program.procs[*proc].results.push(Ty::Bool);
        }
        for (id, edge) in self.passed.program.edges.iter_mut_enumerated() {
            match &mut edge.op {
                Op::Return(values) if telling.contains(&self.old.locs[edge.from].proc) => {
                    values.push(if watched(id) { Expr::TRUE } else { Expr::Var(self.made) });
                }
                Op::Call(call) if telling.contains(&call.callee) => call.results.push(Some(self.made)),
                _ => {}
            }
        }
    }

    fn assignment(&mut self, id: EdgeId) {
        if let Op::Assign(assign) = &mut self.passed.program.edges[id].op {
            assign.active.push((self.made, Expr::TRUE));
        }
    }

    /// Splits an assertion: the failing one keeps its number, and the passing one is a separate step.
    fn assertion(&mut self, id: EdgeId, condition: &Expr, is_asked: bool, is_watched: bool) {
        let (from, to) = (self.old.edges[id].from, self.old.edges[id].to);
        let active = if is_watched { vec![(self.made, Expr::TRUE)] } else { Vec::new() };
        let ensures = self.old.edges[id].ensures.clone();
        let passing = Op::guarded(active, Expr::and(condition.clone(), ensures.clone()));
        if !is_asked {
            self.passed.program.edges[id] = Edge::new(from, to, passing);
            return;
        }
        let step = self.passed.lift.edges[id].clone();
        self.passed.add_edge(from, to, passing, step);
        let nowhere = self.passed.add_loc_near(from);
        let unless_made = || Expr::or(condition.clone(), Expr::negate(Expr::Var(self.made)));
        let failing = if is_watched { condition.clone() } else { unless_made() };
        self.passed.program.edges[id] = Edge { from, to: nowhere, op: Op::Assert(failing), ensures };
    }

    /// Sets the variable in the first step of an atomic section: no other thread moves before it.
    fn section(&mut self, id: EdgeId) {
        let (from, to) = (self.old.edges[id].from, self.old.edges[id].to);
        let begun = self.passed.add_loc_near(from);
        self.passed.program.edges[id].to = begun;
        self.passed.add_edge(begun, to, self.make(), Vec::new());
    }

    fn announce(&mut self, id: EdgeId) {
        let from = self.old.edges[id].from;
        let announced = self.passed.add_loc_near(from);
        let make = Op::guarded(vec![(self.made, Expr::TRUE)], self.old.edges[id].needs().clone());
        let edge = self.passed.add_edge(from, announced, make, Vec::new());
        self.passed.program.edges[id].from = announced;
        self.announced.push((edge, id));
    }

    fn make(&self) -> Op {
        Op::set(vec![(self.made, Expr::TRUE)])
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
    fn a_return_that_must_ensure_something_tells_that_it_took_place() {
        let before = "
            shared x: bool
            init x := F
            proc main() from L0 to L2
              e0 L0 -> L1: x := call f() ensures x
              e1 L1 -> L2: return
            proc f() returns bool from L3 to L4
              e2 L3 -> L4: return ?0
              e3 L3 -> L4: return T
            start main
        ";
        let after = "
            shared x: bool
            shared `$made`: bool
            init x := F, `$made` := F
            proc main() from L0 to L2
              e0 L0 -> L1: x, `$made` := call f() ensures x
              e1 L1 -> L2: return
            proc f() returns bool, bool from L3 to L4
              e2 L3 -> L4: return ?0, T
              e3 L3 -> L4: return T, `$made`
            start main
        ";
        check(watching(&[2]), before, after);
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
