//! The answer to a question: the outcome with its evidence, and everything else that a report says.
//!
//! Programs, pushdown systems and several pushdown systems that take turns have answers of one form. The type parameter
//! [`Model`] says which evidence there can be; a program is the default.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use selvedge_ir::pds::{Config, Pds, PdsTrace, Stacks, Threads};
use selvedge_ir::{EdgeId, LocId, Program, Target, Trace, VarId};

use crate::{
    Certificate, Event, Explanation, Exploration, Projection, Replay, Stop, SystemProof, Task, ThreadScope, Unsupported,
};

/// Something that questions are asked about, together with the errors that are asked for.
pub trait Model {
    /// An execution to an error, which was executed.
    type Run: Clone + fmt::Debug;
    /// A proof that no error can be reached, which was accepted.
    type Proof: Clone + fmt::Debug;
}

/// A program with the errors that are asked for: a [`Task`] that owns its parts.
#[derive(Clone, Debug)]
pub struct OwnedTask {
    /// The program: the user's, with the initial threads that the question names.
    pub program: Program,
    /// The errors that are asked for.
    pub target: Target,
    /// Limit on the number of threads.
    pub threads: ThreadScope,
}

impl Model for OwnedTask {
    type Run = Counterexample;
    type Proof = Certificate;
}

impl Model for Pds {
    type Run = PdsRun;
    type Proof = SystemProof;
}

/// Engines for several systems have a bound and prove nothing.
impl Model for Threads {
    type Run = ThreadsRun;
    type Proof = Infallible;
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub struct Answer<M: Model = OwnedTask> {
    /// The program or system that was checked, with the errors that were asked for.
    pub model: M,
    /// The outcome. Where each error was asked for on its own, it sums these answers up.
    pub outcome: Outcome<M>,
    /// The answer for each assertion and error location on its own, where that was asked: assertions, then locations,
    /// each in ascending order.
    pub each: Option<Vec<(Asked, Status)>>,
    /// The reachable states, where they were asked for and the search for them ended.
    pub exploration: Option<Exploration>,
    /// Which steps an error can involve, where that was asked.
    pub projection: Option<Projection>,
    /// The engine that found the outcome.
    pub engine: &'static str,
    /// The engines that ran, in the order in which they began.
    pub runs: Vec<EngineRun>,
    /// The engine that gave the certificate, if it was another one.
    pub certifier: Option<&'static str>,
    /// Why a certificate that the engine gave could not be checked: the answer is uncertified then.
    pub unchecked: Option<String>,
    /// The SMT solver that found the proof and alone judged it, where no other one did: the answer is not certified.
    pub own_judge: Option<&'static str>,
    /// The engine's explanation of its search.
    pub explanation: Explanation,
    /// The size of the program that was searched, after the passes.
    pub searched: Option<Size>,
    /// The time of each phase.
    pub times: Times,
}

/// The outcome of a question.
#[derive(Clone, Debug)]
pub enum Outcome<M: Model = OwnedTask> {
    /// No error can be reached. `None`: without a certificate that was accepted.
    Safe(Option<M::Proof>),
    /// An error can be reached, by this execution.
    Unsafe(Box<M::Run>),
    /// Not decided.
    Unknown(Reason),
}

/// An execution of a program that ends in an error, and was executed.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The choices.
    pub trace: Trace,
    /// The states, and the error.
    pub replay: Replay,
    /// The values that do not matter in it, where these were looked for.
    pub irrelevant: Irrelevant,
}

/// Values of an execution that do not matter: if any one of them is changed, an error that was asked for is still met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Irrelevant {
    /// Shared variables that start with any value.
    pub shared: BTreeSet<VarId>,
    /// The same of initial threads, by the position of the thread.
    pub threads: BTreeSet<(usize, VarId)>,
    /// Choices, by step and number.
    pub choices: BTreeSet<(usize, usize)>,
    /// Variables of callees and started threads, by step.
    pub fresh: BTreeSet<(usize, VarId)>,
}

/// A run of a pushdown system to a target, which was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdsRun {
    /// The rules.
    pub trace: PdsTrace,
    /// The configurations, the first one included.
    pub configs: Vec<Config>,
}

/// A run of several pushdown systems to a target, which was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadsRun {
    /// The number of contexts per thread within which it was found: the least of those that were looked at.
    pub contexts: u32,
    /// For each step its thread, and the position of the rule among those of the thread.
    pub rules: Vec<(usize, usize)>,
    /// The configurations, the first one included.
    pub configs: Vec<Stacks>,
}

/// One error that is asked for on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The failure of an assertion.
    Assert(EdgeId),
    /// A thread at a location.
    Loc(LocId),
}

/// The answer for one error on its own.
#[derive(Clone, Debug)]
pub enum Status {
    /// It can happen: this execution ends in it.
    Violated(Box<Counterexample>),
    /// It cannot happen.
    Holds(Evidence),
    /// No execution reaches the assertion; for a location, it is not reached.
    Unreachable(Evidence),
    /// Not decided.
    Unknown(Reason),
}

/// The evidence for an error that cannot happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// A certificate that was accepted.
    Certified,
    /// A certificate that was judged by this SMT solver alone, which found it.
    OwnJudge(&'static str),
    /// There was no certificate, or it could not be checked for this reason.
    Uncertified(Option<String>),
}

/// Why a question was not decided.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The engine stopped.
    #[error("{0}")]
    Stop(Stop),
    /// No engine supports the program, or the chosen one does not.
    #[error("{0}")]
    Unsupported(Unsupported),
    /// Some of the errors that were asked for one by one were not decided.
    #[error("{} of {of} not decided", reasons.len())]
    Undecided {
        /// The number of errors.
        of: usize,
        /// The reason for each that was not decided.
        reasons: Vec<Reason>,
    },
    /// A bound of the engine cut off states.
    #[error("a bound of the engine was reached")]
    Truncated,
}

/// One engine's part in a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineRun {
    /// The engine.
    pub engine: &'static str,
    /// The time that it ran.
    pub time: Duration,
    /// The end of its run.
    pub end: EngineEnd,
    /// How far its search was, if it gave up.
    pub far: Option<Event>,
}

/// The end of an engine's run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineEnd {
    /// Its answer is the one that is reported.
    Answered,
    /// Another engine answered first.
    Overtaken,
    /// It gave up.
    GaveUp(Reason),
    /// It panicked, or its evidence was rejected: a defect of ours, which the message describes.
    Defect(String),
}

/// The size of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Procedures.
    pub procs: usize,
    /// Locations.
    pub locs: usize,
    /// Edges.
    pub edges: usize,
    /// Variables of all scopes.
    pub vars: usize,
}

/// The time of each phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The passes.
    pub simplify: Duration,
    /// The engine.
    pub engine: Duration,
    /// The judge.
    pub judge: Duration,
}

impl OwnedTask {
    /// Returns the task as engines get it.
    pub fn task(&self) -> Task<'_> {
        Task { program: &self.program, target: &self.target, threads: self.threads }
    }
}

impl From<Task<'_>> for OwnedTask {
    fn from(task: Task<'_>) -> OwnedTask {
        OwnedTask { program: task.program.clone(), target: task.target.clone(), threads: task.threads }
    }
}

impl<M: Model> Answer<M> {
    /// Creates an answer that says nothing but its outcome.
    pub fn new(model: M, outcome: Outcome<M>, engine: &'static str, times: Times) -> Answer<M> {
        Answer {
            model,
            outcome,
            each: None,
            exploration: None,
            projection: None,
            engine,
            runs: Vec::new(),
            certifier: None,
            unchecked: None,
            own_judge: None,
            explanation: Explanation::default(),
            searched: None,
            times,
        }
    }

    /// Returns, for safe answers, whether all of it is certified.
    pub fn certified(&self) -> Option<bool> {
        let each = self.each.as_ref().filter(|_| matches!(self.outcome, Outcome::Safe(_)));
        match (&self.outcome, each) {
            (_, Some(each)) => Some(each.iter().all(|(_, status)| status.certified() == Some(true))),
            (Outcome::Safe(proof), None) => Some(proof.is_some() && self.own_judge.is_none()),
            (Outcome::Unsafe(_) | Outcome::Unknown(_), None) => None,
        }
    }

    /// Returns `safe`, `safe (uncertified)`, `safe (checked by the solver that found it)`, `unsafe` or `unknown`.
    pub fn word(&self) -> &'static str {
        let each = self.each.iter().flatten().map(|(_, status)| status);
        let is_bare = |status: &Status| status.certified() == Some(false) && status.own_judge().is_none();
        let is_bare = each.clone().any(is_bare);
        let is_judged = self.own_judge.is_some() || each.clone().any(|status| status.own_judge().is_some());
        match self.certified() {
            Some(false) if is_judged && !is_bare => "safe (checked by the solver that found it)",
            Some(false) => "safe (uncertified)",
            Some(true) | None => self.outcome.name(),
        }
    }
}

impl Answer {
    /// Lists the executions to errors.
    pub fn counterexamples(&self) -> Vec<&Counterexample> {
        match (&self.each, &self.outcome) {
            (Some(each), _) => each.iter().filter_map(|(_, status)| status.counterexample()).collect(),
            (None, Outcome::Unsafe(found)) => vec![found],
            (None, Outcome::Safe(_) | Outcome::Unknown(_)) => Vec::new(),
        }
    }
}

impl<M: Model> Outcome<M> {
    /// Returns `safe`, `unsafe` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Safe(_) => "safe",
            Outcome::Unsafe(_) => "unsafe",
            Outcome::Unknown(_) => "unknown",
        }
    }

    /// Returns the last line of text output.
    pub fn line(&self) -> String {
        match self {
            Outcome::Safe(_) => "VERIFICATION SUCCESSFUL".to_string(),
            Outcome::Unsafe(_) => "VERIFICATION FAILED".to_string(),
            Outcome::Unknown(reason) => format!("VERIFICATION UNKNOWN ({reason})"),
        }
    }

    /// Returns why the question is not decided, if it is not.
    pub fn reason(&self) -> Option<&Reason> {
        match self {
            Outcome::Safe(_) | Outcome::Unsafe(_) => None,
            Outcome::Unknown(reason) => Some(reason),
        }
    }
}

impl Counterexample {
    /// Creates an execution of which nothing else is known.
    pub fn new(trace: Trace, replay: Replay) -> Counterexample {
        Counterexample { trace, replay, irrelevant: Irrelevant::default() }
    }
}

impl Asked {
    /// Lists the assertions and locations of a target, in this order.
    pub fn list(target: &Target) -> Vec<Asked> {
        let locs = target.locs.iter().copied().map(Asked::Loc);
        target.asserts.iter().copied().map(Asked::Assert).chain(locs).collect()
    }

    /// Returns the target that asks for this error alone.
    pub fn target(self) -> Target {
        match self {
            Asked::Assert(edge) => Target::new(vec![edge], Vec::new()),
            Asked::Loc(loc) => Target::new(Vec::new(), vec![loc]),
        }
    }

    /// Returns the location at which a thread is when the error happens.
    pub fn loc(self, program: &Program) -> LocId {
        match self {
            Asked::Assert(edge) => program.edges[edge].from,
            Asked::Loc(loc) => loc,
        }
    }
}

impl Status {
    /// Returns the execution to the error, if it can happen.
    pub fn counterexample(&self) -> Option<&Counterexample> {
        match self {
            Status::Violated(found) => Some(found),
            Status::Holds(_) | Status::Unreachable(_) | Status::Unknown(_) => None,
        }
    }

    /// Returns `violated`, `holds`, `unreachable` or `unknown`.
    pub fn name(&self) -> &'static str {
        match self {
            Status::Violated(_) => "violated",
            Status::Holds(_) => "holds",
            Status::Unreachable(_) => "unreachable",
            Status::Unknown(_) => "unknown",
        }
    }

    /// Returns the name, for people: one that lacks evidence says so.
    pub fn word(&self) -> String {
        let lacks = match (self.own_judge(), self.certified()) {
            (Some(_), _) => " (checked by the solver that found it)",
            (None, Some(false)) => " (uncertified)",
            (None, _) => "",
        };
        format!("{}{lacks}", self.name())
    }

    /// Returns the SMT solver that judged its own proof, if one did.
    pub fn own_judge(&self) -> Option<&'static str> {
        match self {
            Status::Holds(Evidence::OwnJudge(solver)) | Status::Unreachable(Evidence::OwnJudge(solver)) => Some(solver),
            _ => None,
        }
    }

    /// Returns why the certificate of an error that cannot happen could not be checked, if that is so.
    pub fn unchecked(&self) -> Option<&str> {
        match self {
            Status::Holds(Evidence::Uncertified(reason)) | Status::Unreachable(Evidence::Uncertified(reason)) => {
                reason.as_deref()
            }
            _ => None,
        }
    }

    /// Returns, for errors that cannot happen, whether that is certified.
    pub fn certified(&self) -> Option<bool> {
        match self {
            Status::Holds(evidence) | Status::Unreachable(evidence) => Some(*evidence == Evidence::Certified),
            Status::Violated(_) | Status::Unknown(_) => None,
        }
    }
}

impl Size {
    /// Measures a program.
    pub fn of(program: &Program) -> Size {
        Size {
            procs: program.procs.len(),
            locs: program.locs.len(),
            edges: program.edges.len(),
            vars: program.vars.len(),
        }
    }
}

impl Times {
    /// Returns the time of all phases.
    pub fn total(&self) -> Duration {
        self.simplify + self.engine + self.judge
    }
}
