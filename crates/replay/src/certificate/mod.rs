//! Checking certificates: one file for each kind.
//!
//! Nothing here trusts who made the certificate: a list that is not sorted, a formula about a variable that is not
//! visible, a missing part are flaws like any other.

mod all_states;
mod bits;
mod concrete;
mod control_flow;
mod cover;
mod dead;
mod encode;
mod induction;
mod integers;
mod invariants;
mod lrat;
mod over_bits;
mod over_predicates;
mod place_table;
mod places;
mod route;
mod sat;
mod shapes;
mod summaries;
mod system;
mod typed;
mod unwound;

use selvedge_check::{Certificate, Run, Stop, Task};
use selvedge_ir::{EdgeId, LocId, ProcId};

pub use cover::verify_claim;
pub use shapes::verify_with_solvers;
pub use system::verify_system;

/// The most threads of a view, and the most rounds of a claim, that are looked at. A table has a row for each part of a
/// view, so that its size is the square of this.
const MOST_SEEN: usize = 100;

/// The most threads of a shape, and the most steps of an induction, that are looked at.
const MOST_STEPS: usize = 10_000;

/// Why a certificate proves nothing. The first kinds are about programs, the last ones about systems.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// An initial thread may begin at this location in a way that the certificate does not allow.
    Start(LocId),
    /// A step along this edge leads to something that the certificate does not allow.
    NotClosed(EdgeId),
    /// The procedure may be entered by this call in a way that the certificate does not allow.
    Entry(EdgeId),
    /// The summary does not allow the return along this edge.
    Summary(EdgeId),
    /// The certificate allows a thread at a target location.
    Location(LocId),
    /// The certificate allows the failure of a target assertion.
    Assert(EdgeId),
    /// The certificate denies a deadlock in which a thread waits at this location.
    Deadlock(LocId),
    /// An error can be reached within this many steps of the start.
    Base(u32),
    /// After states without error, as many as the certificate says, the next can be an error.
    Step,
    /// A formula of this procedure speaks of something that is not visible there, or a list is not in order.
    Malformed(Option<ProcId>),
    /// This kind of certificate does not cover the program.
    OutOfScope(&'static str),
    /// The SAT solver found no counterexample, but its proof of this does not check: the defect is the solver's.
    SatProof,
    /// The initial configurations with this number are not all on the right side.
    Initial(usize),
    /// It is not closed under the rule with this number.
    Rule(usize),
    /// The target with this number is on the wrong side.
    Target(usize),
    /// One SMT solver has a solution of a question of which another one says that there is none.
    SolversDisagree {
        /// The solver that has a solution.
        sat: &'static str,
        /// The other one.
        unsat: &'static str,
    },
}

/// What a certificate that the judge accepts rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// The judge, and two SMT solvers of different families if it needs answers of a solver.
    Certified,
    /// The judge, and the answers of this SMT solver, which no other one confirms.
    ByOneSolver(&'static str),
}

/// Why the judge does not accept a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It proves nothing: whoever made it is wrong.
    Flawed(Flaw),
    /// The judge cannot tell. The answer is uncertified.
    Unjudged(Unjudged),
}

/// Why the judge cannot tell whether a certificate proves something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// The certificate or the program goes beyond what the judge looks at.
    Beyond(&'static str),
    /// The check was not finished.
    Stopped(Stop),
}

impl From<Stop> for Refused {
    fn from(stop: Stop) -> Refused {
        Refused::Unjudged(Unjudged::Stopped(stop))
    }
}

impl From<Unjudged> for Refused {
    fn from(unjudged: Unjudged) -> Refused {
        Refused::Unjudged(unjudged)
    }
}

impl From<Flaw> for Refused {
    fn from(flaw: Flaw) -> Refused {
        Refused::Flawed(flaw)
    }
}

/// Refuses a number that a certificate claims before anything is laid out for it.
fn at_most(number: usize, most: usize) -> Result<(), Unjudged> {
    if number <= most { Ok(()) } else { Err(Unjudged::Beyond("it speaks of too many threads, steps or rounds")) }
}

/// Checks that a certificate proves the target unreachable.
pub fn verify(task: &Task<'_>, certificate: &Certificate, run: &Run<'_>) -> Result<Accepted, Refused> {
    match certificate {
        Certificate::AllStates => all_states::verify(task, run),
        _ if task.target.deadlock => Err(Flaw::OutOfScope("it says nothing about deadlocks").into()),
        Certificate::ControlFlow(locs) => control_flow::verify(task, locs),
        Certificate::Summaries(proof) => summaries::verify(task, proof, run),
        Certificate::Induction { k, paths } => induction::verify(task, *k, *paths, run),
        Certificate::Shapes(proof) => shapes::verify(task, proof, run),
        Certificate::Cover(proof) => cover::verify(task, proof, run),
        Certificate::Integers(proof) => return integers::verify(task, proof, run),
        Certificate::Unwound(blocks) => unwound::verify(task, *blocks, run),
        Certificate::Invariants(proof) => invariants::verify(task, proof, run),
        Certificate::OverBits(proof) => {
            over_bits::verify(task.program, proof, run)?;
            return verify(&Task { program: &proof.program, ..*task }, &proof.certificate, run);
        }
        Certificate::OverPredicates(proof) => {
            over_predicates::verify(task.program, proof, run)?;
            let target = over_predicates::target(task, proof)?;
            return verify(&Task { program: &proof.program, target: &target, ..*task }, &proof.certificate, run);
        }
    }?;
    Ok(Accepted::Certified)
}
