//! The passes before an engine, and the way back for its evidence.

use std::time::{Duration, Instant};

use selvedge_check::{BitProof, Certificate, Engine, Task, ThreadScope, Unsupported, Verdict};
use selvedge_ir::passes::blast::{self, Blasted};
use selvedge_ir::passes::{self, Copies, Lift, Pass, Passed};
use selvedge_ir::{EdgeId, Program, Target};

use crate::{predicate_proof, thread_proof};

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
    /// The program over bits, and the way back to machine integers, if it was written so before all passes.
    bits: Option<Box<Blasted>>,
    /// Why a program with machine integers was not written over bits, if it was not possible.
    refusal: Option<String>,
    /// The ways back, first pass first.
    lifts: Vec<Lift>,
}

/// Runs passes one after the other.
pub fn simplify(task: &Task<'_>, passes: &[Pass]) -> Simplified {
    let start = Instant::now();
    Simplified::unchanged(task).then(passes, start)
}

impl Simplified {
    pub(crate) fn unchanged(task: &Task<'_>) -> Simplified {
        let Task { program, target, threads } = *task;
        let (program, target) = (program.clone(), target.clone());
        let (bits, refusal, lifts) = (None, None, Vec::new());
        Simplified { program, target, threads, time: Duration::ZERO, bits, refusal, lifts }
    }

    /// Returns the task over bits, if that is possible and makes a difference.
    pub(crate) fn over_bits(task: &Task<'_>) -> Simplified {
        let unchanged = Simplified::unchanged(task);
        if !task.program.has_machine_integers() {
            return unchanged;
        }
        match blast::run(task.program) {
            Ok(blasted) => Simplified { program: blasted.program.clone(), bits: Some(Box::new(blasted)), ..unchanged },
            Err(reason) => Simplified { refusal: Some(reason), ..unchanged },
        }
    }

    /// Returns the task over bits in which every number has all bits of its type; says why not if that is not possible.
    pub(crate) fn over_all_bits(task: &Task<'_>) -> Result<Simplified, String> {
        let blasted = blast::run_wide(task.program)?;
        let program = blasted.program.clone();
        Ok(Simplified { program, bits: Some(Box::new(blasted)), ..Simplified::unchanged(task) })
    }

    /// Returns the program over bits, if there is one, with the way back.
    pub(crate) fn bits(&self) -> Option<&Blasted> {
        self.bits.as_deref()
    }

    /// Writes the program over bits, if that is possible and makes a difference, and runs passes.
    pub fn with_bits(task: &Task<'_>, passes: &[Pass]) -> Simplified {
        let start = Instant::now();
        Simplified::over_bits(task).then(passes, start)
    }

    /// Returns why a program with machine integers was not written over bits, if that was not possible.
    pub fn refused(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Runs passes on the program with a bound on live threads instead of one on those of a whole run, if there can be
    /// such a bound.
    pub fn counted(task: &Task<'_>, passes: &[Pass]) -> Option<Simplified> {
        let start = Instant::now();
        Some(Simplified::unchanged(task).with_live_threads()?.then(passes, start))
    }

    pub(crate) fn with_live_threads(self) -> Option<Simplified> {
        let ThreadScope::Created(bound) = self.threads else { return None };
        let passed = if passes::bound_created::matters(&self.program) {
            passes::bound_created::run(&self.program, &self.target, bound)?
        } else {
            Passed::unchanged(&self.program, &self.target)
        };
        Some(Simplified { threads: ThreadScope::AtMost(bound), ..self.after(passed) })
    }

    /// Runs some more passes: those that keep the errors that are asked for. The clock began at `start`.
    pub(crate) fn then(self, passes: &[Pass], start: Instant) -> Simplified {
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

    /// Returns whether an engine supports the question. If the program could not be written over bits, that is the
    /// reason why it does not.
    pub fn supported(&self, engine: &dyn Engine) -> Result<(), Unsupported> {
        engine.supports(&self.question()).map_err(|unsupported| match &self.refusal {
            Some(reason) => Unsupported::new(format!("`{}` works on bits, and {reason}", engine.name())),
            None => unsupported,
        })
    }

    /// Returns the parts of the program, or of the one over bits, that this one consists of, if calls were replaced and
    /// nothing else was done.
    pub(crate) fn copies(&self) -> Option<&Copies> {
        if let [lift] = &self.lifts[..] { lift.copies.as_ref() } else { None }
    }

    /// Returns the step of the program before the passes that a step was copied from.
    pub(crate) fn lifted_edge(&self, edge: EdgeId) -> Option<EdgeId> {
        let first = |edge: EdgeId, lift: &Lift| lift.edges[edge].first().map(|step| step.edge);
        self.lifts.iter().rev().try_fold(edge, first)
    }

    /// A refusal, with the step of the program before the passes that it is about.
    pub fn lift_refusal(&self, refusal: Unsupported) -> Unsupported {
        Unsupported { edge: refusal.edge.and_then(|edge| self.lifted_edge(edge)), ..refusal }
    }

    /// The verdict with evidence about the program before the passes. Of the certificates only proofs about several
    /// threads survive a pass, and only one that puts procedures in the place of calls.
    pub fn lift(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Unsafe(trace) => {
                let trace = self.lifts.iter().rev().fold(trace, |trace, lift| lift.trace(&trace));
                Verdict::Unsafe(match &self.bits {
                    Some(bits) => bits.lift.trace(&trace),
                    None => trace,
                })
            }
            Verdict::Safe(certificate) => {
                let lifts = self.lifts.iter().rev();
                let lifted = lifts.fold(certificate, |certificate, lift| lifted(&certificate?, lift));
                Verdict::Safe(lifted.map(|certificate| match &self.bits {
                    Some(bits) => over_bits(bits, certificate),
                    None => certificate,
                }))
            }
        }
    }
}

/// A certificate about the program with machine integers. That all states are seen says nothing about how: the judge
/// sees those of the program itself, which is needed for deadlocks.
fn over_bits(bits: &Blasted, certificate: Certificate) -> Certificate {
    if certificate == Certificate::AllStates {
        return certificate;
    }
    let (program, map) = (bits.program.clone(), bits.lift.map.clone());
    Certificate::OverBits(Box::new(BitProof { program, map, certificate }))
}

/// A certificate about the program before a pass, if it can be had.
fn lifted(certificate: &Certificate, lift: &Lift) -> Option<Certificate> {
    let copies = lift.copies.as_ref()?;
    match certificate {
        Certificate::Shapes(proof) => thread_proof::lifted(proof, copies).map(Certificate::Shapes),
        Certificate::Cover(proof) => thread_proof::lifted_cover(proof, copies).map(Certificate::Cover),
        Certificate::Unwound(steps) => Some(Certificate::Unwound(*steps)),
        Certificate::OverPredicates(proof) => {
            predicate_proof::lifted(proof, lift).map(|proof| Certificate::OverPredicates(Box::new(proof)))
        }
        _ => None,
    }
}
