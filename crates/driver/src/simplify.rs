//! The passes before an engine, and the way back for its evidence.

use std::time::{Duration, Instant};

use selvedge_check::{Certificate, Task, ThreadScope, Unsupported, Verdict};
use selvedge_ir::passes::{self, Copies, Lift, Pass, Passed};
use selvedge_ir::{EdgeId, Program, Target};

use crate::thread_proof;

/// A program after some passes.
#[derive(Clone, Debug)]
pub struct Simplified {
    /// The program.
    pub program: Program,
    /// The same errors in it.
    pub target: Target,
    /// Limit on its threads.
    pub threads: ThreadScope,
    /// The time that the passes took.
    pub time: Duration,
    /// The ways back, first pass first.
    lifts: Vec<Lift>,
}

/// Runs passes one after the other.
pub fn simplify(task: &Task<'_>, passes: &[Pass]) -> Simplified {
    let start = Instant::now();
    Simplified::unchanged(task).then(passes, start)
}

impl Simplified {
    fn unchanged(task: &Task<'_>) -> Simplified {
        let Task { program, target, threads } = *task;
        let (program, target) = (program.clone(), target.clone());
        Simplified { program, target, threads, time: Duration::ZERO, lifts: Vec::new() }
    }

    /// Runs passes on the program with a bound on live threads instead of one on those of a whole run, if there can be
    /// such a bound.
    pub fn counted(task: &Task<'_>, passes: &[Pass]) -> Option<Simplified> {
        let start = Instant::now();
        let ThreadScope::Created(bound) = task.threads else { return None };
        let passed = if passes::bound_created::matters(task.program) {
            passes::bound_created::run(task.program, task.target, bound)?
        } else {
            Passed::unchanged(task.program, task.target)
        };
        let counted = Simplified { threads: ThreadScope::AtMost(bound), ..Simplified::unchanged(task).after(passed) };
        Some(counted.then(passes, start))
    }

    /// Runs some more passes: those that keep the errors that are asked for. The clock began at `start`.
    fn then(self, passes: &[Pass], start: Instant) -> Simplified {
        let keeps = |pass: &&Pass| !self.target.deadlock || pass.keeps_deadlocks();
        let passes: Vec<Pass> = passes.iter().filter(keeps).copied().collect();
        let simplified = passes.into_iter().fold(self, |simplified, pass| {
            let passed = pass.run(&simplified.program, &simplified.target);
            simplified.after(passed)
        });
        Simplified { time: start.elapsed(), ..simplified }
    }

    fn after(mut self, passed: Passed) -> Simplified {
        self.lifts.push(passed.lift);
        Simplified { program: passed.program, target: passed.target, ..self }
    }

    /// The question about the simplified program.
    pub fn question(&self) -> Task<'_> {
        self.task(self.threads)
    }

    /// The same with another number of threads.
    pub fn task(&self, threads: ThreadScope) -> Task<'_> {
        Task { program: &self.program, target: &self.target, threads }
    }

    /// A refusal, with the step of the program before the passes that it is about.
    pub fn lift_refusal(&self, refusal: Unsupported) -> Unsupported {
        let first = |edge: EdgeId, lift: &Lift| lift.edges[edge].first().map(|step| step.edge);
        let edge = self.lifts.iter().rev().try_fold(refusal.edge, |edge, lift| Some(first(edge?, lift)));
        Unsupported { edge: edge.flatten(), ..refusal }
    }

    /// The verdict with evidence about the program before the passes. Of the certificates only proofs about several
    /// threads survive a pass, and only one that puts procedures in the place of calls.
    pub fn lift(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Unsafe(trace) => {
                Verdict::Unsafe(self.lifts.iter().rev().fold(trace, |trace, lift| lift.trace(&trace)))
            }
            Verdict::Safe(certificate) => {
                let lifts = self.lifts.iter().rev();
                Verdict::Safe(lifts.fold(certificate, |certificate, lift| lifted(&certificate?, lift.copies.as_ref()?)))
            }
        }
    }
}

/// A certificate about the program before a pass, if it can be had.
fn lifted(certificate: &Certificate, copies: &Copies) -> Option<Certificate> {
    match certificate {
        Certificate::Shapes(proof) => thread_proof::lifted(proof, copies).map(Certificate::Shapes),
        Certificate::Cover(proof) => thread_proof::lifted_cover(proof, copies).map(Certificate::Cover),
        _ => None,
    }
}
