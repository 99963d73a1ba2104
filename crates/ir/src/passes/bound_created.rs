//! Counts the threads that a run creates, so that a bound on created threads becomes one on live threads.
//!
//! Under a bound of N created threads an ended thread does not make room for another one. The pass adds a shared binary
//! counter of the threads that were started besides the initial ones. Each start of a thread becomes an atomic section:
//! if the counter is at its limit, nothing happens; otherwise it is increased and the thread is started. So at most N
//! threads are alive in the result, which needs no further bound.
//!
//! *Correctness.* No other thread moves between the steps of the section, so it represents the single step it was made
//! from. A section inside another one must not release the flag at its end. So it takes and releases the flag only if
//! the thread does not hold it. The pass gives up if a thread may or may not hold the flag, if the number of initial
//! threads varies, and if there is a prelude.

use super::edit::and_number;
use super::{LiftStep, Passed, Source, StepPart};
use crate::callgraph::CallGraph;
use crate::dataflow::{Analysis, Arrow, ArrowKind, Arrows, Direction, Values, solve};
use crate::syntax::{BinaryOp, Count, Edge, EdgeId, Expr, LocId, Op, ProcId, Program, VarId};
use crate::target::Target;

/// Returns whether counting ended threads makes a difference: threads are started, and threads end.
pub fn matters(program: &Program) -> bool {
    let spawned = program.edges.iter().filter(|edge| edge.op.starts_thread()).filter_map(|edge| edge.op.callee());
    let first: Vec<ProcId> = program.entries.iter().map(|entry| entry.proc).chain(spawned).collect();
    let ends = |edge: &Edge| match edge.op {
        Op::End => true,
        Op::Return(_) => first.contains(&program.locs[edge.from].proc),
        _ => false,
    };
    program.starts_threads() && program.edges.iter().any(ends)
}

/// Counts threads up to a bound, including the initial ones; `None` if the pass gives up.
pub fn run(program: &Program, target: &Target, bound: u32) -> Option<Passed> {
    if program.prelude.is_some() {
        return None;
    }
    let initial = program.entries.iter().map(|entry| match entry.count {
        Count::Exactly(count) => Some(count),
        Count::AtMost(_) | Count::Any => None,
    });
    let spare = bound.checked_sub(initial.sum::<Option<u32>>()?)?;
    let held = solve(&Arrows::new(program, &CallGraph::new(program)), &Held { program });
    let mut passed = Passed::unchanged(program, target);
    let counter = Counter::new(&mut passed, spare);
    let starts = program.edges.iter_enumerated().filter(|(_, edge)| edge.op.starts_thread());
    for (id, edge) in starts {
        match held[edge.from] {
            FREE => section(&mut passed, &counter, id),
            TAKEN => start(&mut passed, &counter, id, (edge.from, edge.to)),
            NEVER => {}
            _ => return None,
        }
    }
    Some(passed)
}

/// The thread at a location does not hold the atomic flag. The states that it may be in are added up.
const FREE: u8 = 1;
/// The thread holds the flag.
const TAKEN: u8 = 2;
/// The location is not reached.
const NEVER: u8 = 0;

/// The analysis of whether a thread at a location holds the atomic flag.
struct Held<'p> {
    program: &'p Program,
}

impl Analysis for Held<'_> {
    type Value = u8;
    const DIRECTION: Direction = Direction::Forward;

    fn start(&self, loc: LocId) -> u8 {
        let begins = self.program.entries.iter().any(|entry| self.program.procs[entry.proc].entry == loc);
        if begins { FREE } else { NEVER }
    }

    fn transfer(&self, arrow: &Arrow, values: &Values<u8>) -> u8 {
        let before = values[arrow.from];
        if before == NEVER {
            return before;
        }
        match arrow.kind {
            ArrowKind::Step(id) => match self.program.edges[id].op {
                Op::AtomicBegin => TAKEN,
                Op::AtomicEnd => FREE,
                _ => before,
            },
            ArrowKind::Enter(_) | ArrowKind::Leave(_) => before,
            ArrowKind::Across(_) => NEVER,
            ArrowKind::Fork(_) | ArrowKind::Spawn(_) | ArrowKind::Finish(_) | ArrowKind::Start(_) => FREE,
        }
    }
}

/// A number in shared variables, lowest bit first, and its limit.
struct Counter {
    bits: Vec<VarId>,
    last: u32,
}

impl Counter {
    /// Returns a new counter from 0 to `last`.
    fn new(passed: &mut Passed, last: u32) -> Counter {
        let n_bits = u32::BITS - last.leading_zeros();
        Counter { bits: (0..n_bits).map(|bit| passed.add_flag(format!("$created{bit}"))).collect(), last }
    }

    /// Returns the condition that the counter is at its limit.
    fn is_full(&self) -> Expr {
        and_number(Expr::TRUE, &self.bits, self.last as usize)
    }

    /// Returns the step to the next number, which exists where a condition holds and the counter is not at its limit.
    fn increase(&self, condition: &Expr) -> Op {
        let mut carry = Expr::TRUE;
        let mut active = Vec::new();
        for bit in &self.bits {
            active.push((*bit, Expr::binary(BinaryOp::Xor, Expr::Var(*bit), carry.clone())));
            carry = Expr::and(carry, Expr::Var(*bit));
        }
        Op::guarded(active, Expr::and(Expr::negate(self.is_full()), condition.clone()))
    }
}

/// Replaces a start by a thread that does not hold the flag: begin the section, count and start or do nothing, end it.
fn section(passed: &mut Passed, counter: &Counter, id: EdgeId) {
    let Edge { from, to, ensures, .. } = passed.program.edges[id].clone();
    let [begun, done] = [(); 2].map(|()| passed.add_loc_near(from));
    let begin = passed.add_edge(from, begun, Op::AtomicBegin, Vec::new());
    passed.program.edges[begin].ensures = ensures;
    start(passed, counter, id, (begun, done));
    passed.add_edge(done, to, Op::AtomicEnd, Vec::new());
}

/// Counts and starts, or does nothing. The edge that starts keeps its number. What it ensures is a condition of the
/// step before it: it starts where no other thread moves.
fn start(passed: &mut Passed, counter: &Counter, id: EdgeId, (from, to): (LocId, LocId)) {
    let counted = passed.add_loc_near(from);
    let edge = &mut passed.program.edges[id];
    (edge.from, edge.to) = (counted, to);
    let ensures = std::mem::replace(&mut edge.ensures, Expr::TRUE);
    let choices = edge.op.choices().iter().map(|ty| Source::Value(ty.default_value())).collect();
    let nothing = LiftStep { edge: id, choices, fresh: Vec::new(), part: StepPart::Main };
    passed.add_edge(from, counted, counter.increase(&ensures), Vec::new());
    passed.add_edge(from, to, Op::assume(Expr::and(counter.is_full(), ensures)), vec![nothing]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::run_on;
    use crate::text::parse_with_target;

    const SPAWNER: &str = "
        proc main() from L0 to L3
          e0 L0 -> L1: fork L2
          e1 L1 -> L0: skip
          e2 L2 -> L3: end
        start main
        target L2
    ";

    fn reads(text: &str) -> (Program, Target) {
        parse_with_target(text).expect("the program reads")
    }

    #[test]
    fn only_programs_that_start_and_end_threads_need_a_counter() {
        assert!(matters(&reads(SPAWNER).0));
        assert!(matters(&reads(&SPAWNER.replace("end", "return")).0), "a first procedure's return ends the thread");
        assert!(!matters(&reads(&SPAWNER.replace("fork L2", "skip")).0));
        assert!(!matters(&reads(&SPAWNER.replace("L3: end", "L2: skip")).0));
    }

    #[test]
    fn a_thread_outside_sections_takes_the_flag_and_one_inside_does_not() {
        let counted = |program: &Program, target: &Target| run(program, target, 3).expect("it can count");
        let passed = run_on(counted, SPAWNER);
        let begins = |program: &Program| program.edges.iter().filter(|edge| edge.op == Op::AtomicBegin).count();
        assert_eq!((begins(&passed.program), passed.program.vars.len()), (1, 2), "two bits count to 2");
        let inside = SPAWNER.replace("e0 L0 -> L1: fork L2", "e0 L4 -> L1: fork L2\ne3 L0 -> L4: atomic_begin");
        let inside = inside.replace("e1 L1 -> L0: skip", "e1 L1 -> L0: atomic_end");
        assert_eq!(begins(&run_on(counted, &inside).program), 1, "only its own");
    }

    #[test]
    fn a_thread_that_may_hold_the_flag_is_refused() {
        let (program, target) = reads(&SPAWNER.replace("e1 L1 -> L0: skip", "e1 L1 -> L0: atomic_begin"));
        assert!(run(&program, &target, 3).is_none());
        let (program, target) = reads(SPAWNER);
        assert!(run(&program, &target, 0).is_none(), "there is no room for the initial thread");
    }
}
