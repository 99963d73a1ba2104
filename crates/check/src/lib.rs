//! The vocabulary of a check, as plain data: the question ([`Task`]), the answer ([`Verdict`] or [`Stop`]), its
//! evidence ([`Trace`], [`Certificate`]), and the conditions under which it runs ([`Run`]).
//!
//! Nothing here knows how anything is computed.

#![warn(missing_docs)]

mod abstract_model;
pub mod adequacy;
mod answer;
mod argument;
mod certificate;
mod contexts;
mod cover;
mod cutoff;
mod engine;
pub mod execution;
mod explanation;
mod exploration;
pub mod formula;
mod integers;
mod invariants;
mod predicates;
mod projection;
mod question;
mod refinement;
mod rounds;
mod run;
mod solvers;
pub mod system;
mod task;

pub use abstract_model::{AbstractEdge, AbstractModel, AbstractState};
pub use adequacy::AdequacyClaim;
pub use answer::{
    Answer, Asked, Counterexample, EngineEnd, EngineRun, Evidence, Irrelevant, Model, Outcome, OwnedTask, PdsRun,
    Reason, Size, Status, ThreadsRun, Times,
};
pub use argument::Argument;
pub use certificate::{BitProof, Certificate, Paths, Place, Role, Seen, Shape, ShapeProof, SummaryProof};
pub use contexts::{ContextBound, Contexts};
pub use cover::{CoverClaim, CoverProof, LocalState, OmegaVector, SharedState, ViewRow, ViewTable, Weighting};
pub use cutoff::{Cutoff, CutoffProof};
pub use engine::{Bound, Engine, Findings, Stop, Unsupported, Verdict};
pub use execution::{Replay, Violation};
pub use explanation::Explanation;
pub use exploration::{Exploration, ThreadState, ValuesAsked};
pub use integers::{ControlPoint, IntegerProof};
pub use invariants::{InvariantPlace, InvariantProof};
pub use predicates::{PredicatePlace, PredicateProof, PredicateStep};
pub use projection::{Involved, Projection};
pub use question::{Initial, InvalidQuestion, Question, Subject, open_starts, takes_initial};
pub use refinement::Refinement;
pub use rounds::{EveMove, RoundBound, Rounds};
pub use run::{CancelToken, Event, Limits, Observer, Run, RunPart};
pub use selvedge_ir::Target;
pub use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
pub use solvers::{SolverFailure, Solvers};
pub use system::SystemProof;
pub use task::{Task, ThreadScope};
