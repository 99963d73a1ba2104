//! Evidence about Boolean programs: executions, and certificates of all kinds.

use std::time::Duration;

use selvedge_check::{
    CancelToken, Certificate, CoverClaim, Limits, Outcome, Question, Run, Seen, Task, ThreadScope, Verdict,
};
use selvedge_driver::{Options, Pass, Simplified, check, simplify};
use selvedge_engines::contexts::rounds::proof::certificate;
use selvedge_engines::{EngineKind, EngineOptions, build, control_flow};
use selvedge_frontend::{Context, Source};
use selvedge_ir::callgraph::has_bounded_threads;
use selvedge_ir::{Op, Program, text};
use selvedge_replay::certificate::verify;
use selvedge_replay::replay::replay;
use selvedge_report::json::{CertificateFile, QuestionView, TraceFile};
use serde::Deserialize;
use serde_json::Value;

use super::forge::Piece;
use super::stepper::is_execution;
use super::tamper::{Asked, Extent};
use super::visit::{self, Reach};
use super::{Court, Effort, Ruling, Trial, Truth};
use crate::differ::{Posed, pose};
use crate::evidence::pose_ir;
use crate::generate::{Weights, generate_with};
use crate::harness::{Fault, Tally, fault};
use crate::model::Model;
use crate::obligations::proves;
use crate::oracle::{Answer, Budget, ask, within};
use crate::rng::Rng;

/// The budget of engines and searches.
const BUDGET: Budget = Budget { patience: Some(Duration::from_secs(1)), frames: 4, ..Budget::states(1_500) };

/// The greatest number of threads that a search tries where their number is not bounded.
const MOST_THREADS: u32 = 3;

/// The limits of the search with the stepper.
const REACH: Reach = Reach { states: 600, frames: 4, ways: 500, steps: 20_000 };

/// The engines whose proofs over bits are tried.
const OVER_BITS: [EngineKind; 7] = [
    EngineKind::Summaries,
    EngineKind::Induction,
    EngineKind::Threads,
    EngineKind::ThreadsExplicit,
    EngineKind::Views,
    EngineKind::ViewsExplicit,
    EngineKind::Facts,
];

/// The greatest length of a certificate in bytes. A larger one takes long to read, and much longer to judge.
const LARGEST: usize = 50_000;

const EFFORT: Effort = Effort { edits: 12, forgeries: [60, 12] };

/// The effort where a certificate is a number, or nothing at all: programs are edited more often.
const PLAIN_EFFORT: Effort = Effort { edits: 80, forgeries: [12, 12] };

/// A kind of certificate about Boolean programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proofs {
    /// Locations that are closed under all steps.
    ControlFlow,
    /// Formulas for locations and procedures.
    Summaries,
    /// k-induction.
    Induction,
    /// Formulas about all threads.
    Threads,
    /// The first states of all threads, from which the judge finds the others.
    FirstStates,
    /// Formulas about a few of any number of threads.
    Views,
    /// The same, made of facts that are guessed.
    Facts,
    /// Listed views.
    CoverViews,
    /// Vectors with any numbers.
    CoverVectors,
    /// Forbidden configurations.
    CoverBasis,
    /// A number of rounds that is enough.
    Adequacy,
    /// Nothing: the judge visits all states.
    AllStates,
    /// The most visible steps of a thread.
    Unwound,
    /// A program over bits, and a proof about it.
    OverBits,
}

impl Proofs {
    /// Generates a program that may have such a proof.
    pub(super) fn program(self, rng: &mut Rng) -> Model {
        let weights: Vec<Weights> = match self {
            Proofs::ControlFlow => Weights::presets().into_iter().map(|(_, weights)| weights).collect(),
            Proofs::Summaries => vec![Weights::sequential(), Weights::recursive()],
            Proofs::Induction => vec![Weights::sequential()],
            Proofs::Adequacy => {
                Weights::in_rounds().into_iter().map(|(_, weights)| weights).skip(1).step_by(2).collect()
            }
            Proofs::AllStates => {
                let concurrent = Weights::concurrent().into_iter().map(|(_, weights)| weights);
                concurrent.chain([Weights::sequential()]).collect()
            }
            _ => Weights::concurrent().into_iter().map(|(_, weights)| weights).collect(),
        };
        let weights = &weights[rng.below(weights.len())];
        generate_with(rng, weights)
    }

    fn engine(self, rng: &mut Rng) -> EngineKind {
        match self {
            Proofs::ControlFlow | Proofs::Summaries => EngineKind::Summaries,
            Proofs::Induction => EngineKind::Induction,
            Proofs::Threads => [EngineKind::Threads, EngineKind::ThreadsExplicit][rng.below(2)],
            Proofs::FirstStates => EngineKind::ThreadsExplicit,
            Proofs::Views => EngineKind::Views,
            Proofs::Facts => EngineKind::Facts,
            Proofs::CoverViews => EngineKind::ViewsExplicit,
            Proofs::CoverVectors => [EngineKind::KarpMiller, EngineKind::KarpMillerExplicit][rng.below(2)],
            Proofs::CoverBasis => EngineKind::Backward,
            Proofs::Adequacy => EngineKind::Rounds,
            Proofs::AllStates => EngineKind::Exhaustive,
            Proofs::Unwound => EngineKind::BmcThreads,
            Proofs::OverBits => OVER_BITS[rng.below(OVER_BITS.len())],
        }
    }

    fn is_about_any_number(self) -> bool {
        use Proofs::{Adequacy, CoverBasis, CoverVectors, CoverViews, Views};
        matches!(self, Views | CoverViews | CoverVectors | CoverBasis | Adequacy)
    }

    /// Returns whether the judge finds the proof by itself, with a number at most.
    fn is_plain(self) -> bool {
        matches!(self, Proofs::AllStates | Proofs::Unwound)
    }

    fn has(self, certificate: &Certificate) -> bool {
        let claim = |is: fn(&CoverClaim) -> bool| matches!(certificate, Certificate::Cover(proof) if is(&proof.claim));
        let seen = |is: fn(Seen) -> bool| matches!(certificate, Certificate::Shapes(proof) if is(proof.seen));
        match self {
            Proofs::ControlFlow => matches!(certificate, Certificate::ControlFlow(_)),
            Proofs::Summaries => matches!(certificate, Certificate::Summaries(_)),
            Proofs::Induction => matches!(certificate, Certificate::Induction { .. }),
            Proofs::Threads => seen(|seen| seen == Seen::All),
            Proofs::FirstStates => seen(|seen| seen == Seen::Reached),
            Proofs::Views | Proofs::Facts => seen(|seen| !seen.is_all()),
            Proofs::CoverViews => claim(|claim| matches!(claim, CoverClaim::Views(_))),
            Proofs::CoverVectors => claim(|claim| matches!(claim, CoverClaim::Vectors(_))),
            Proofs::CoverBasis => claim(|claim| matches!(claim, CoverClaim::Basis { .. })),
            Proofs::Adequacy => claim(|claim| matches!(claim, CoverClaim::Adequacy(_))),
            Proofs::AllStates => *certificate == Certificate::AllStates,
            Proofs::Unwound => matches!(certificate, Certificate::Unwound(_)),
            Proofs::OverBits => matches!(certificate, Certificate::OverBits(_)),
        }
    }

    /// Returns the proof that an engine finds.
    fn find(self, asked: &Asked, rng: &mut Rng) -> Option<Certificate> {
        let task = asked.task();
        let found = match self {
            Proofs::ControlFlow => control_flow::certificate(&task),
            Proofs::AllStates => (visit::search(&task, REACH) == Truth::Safe).then_some(Certificate::AllStates),
            Proofs::Adequacy => within(BUDGET, |run| certificate(&task, [1, 2], run)).ok().flatten(),
            _ => self.found_by(self.engine(rng), &task),
        };
        found.filter(|certificate| self.has(certificate))
    }

    fn found_by(self, kind: EngineKind, task: &Task<'_>) -> Option<Certificate> {
        let mut options = EngineOptions::default();
        options.induction.bound = 6;
        options.coverability.most_threads = Some(MOST_THREADS);
        options.coverability.system.size = 2_000;
        options.views.max_k = Some(2);
        options.threads_explicit.most_listed = if self == Proofs::FirstStates { 0 } else { usize::MAX };
        let engine = build(kind, &options);
        let simplified = Simplified::with_bits(task, kind.row().passes);
        let simpler = simplified.task(task.threads);
        engine.supports(&simpler).ok()?;
        match simplified.lift(within(BUDGET.tight(), |run| engine.check(&simpler, run)).ok()?) {
            Verdict::Safe(certificate) => certificate,
            Verdict::Unsafe(_) => None,
        }
    }
}

impl Asked {
    fn of(posed: &Posed) -> Asked {
        Asked { program: posed.asked.clone(), target: posed.target.clone(), threads: posed.threads }
    }

    pub(super) fn task(&self) -> Task<'_> {
        Task { program: &self.program, target: &self.target, threads: self.threads }
    }

    /// Searches all states. Where the number of threads is not bounded, a few are tried: an error of theirs is one if
    /// its execution is also one of any number, or if no thread can notice that another one is missing.
    pub(super) fn search(&self) -> Truth {
        let task = self.task();
        if task.threads != ThreadScope::Unbounded || has_bounded_threads(task.program) {
            return match ask(&task, BUDGET) {
                Answer::Safe => Truth::Safe,
                Answer::Unsafe(_) => Truth::Unsafe,
                Answer::Deep | Answer::Large => Truth::Open,
            };
        }
        let is_error = |bound| match ask(&Task { threads: ThreadScope::AtMost(bound), ..task }, BUDGET) {
            Answer::Unsafe(trace) => !mentions_others(task.program) || replay(&task, &trace).is_ok(),
            _ => false,
        };
        if (1..=MOST_THREADS).any(is_error) { Truth::Unsafe } else { Truth::Open }
    }

    pub(super) fn show(&self) -> String {
        format!("{:?}\n{}", self.threads, text::print_with_target(&self.program, &self.target))
    }
}

fn mentions_others(program: &Program) -> bool {
    program.edges.iter().any(|edge| matches!(&edge.op, Op::Assign(assign) if assign.is_passive()))
}

/// Returns a limit on the time of the judge, which forged numbers may make long.
pub(super) fn patient() -> Run<'static> {
    limited(Duration::from_secs(2))
}

fn limited(time: Duration) -> Run<'static> {
    let limits = Limits { time: Some(time), ..Limits::default() };
    Run::new(CancelToken::default(), limits, &())
}

/// Certificates about Boolean programs.
pub(super) struct ProgramCourt {
    pub(super) proofs: Proofs,
}

impl Court for ProgramCourt {
    type Asked = Asked;

    fn edited(&self, rng: &mut Rng, asked: &Asked) -> Option<Asked> {
        asked.edited(rng, if self.proofs == Proofs::AllStates { Extent::Deadlocks } else { Extent::All })
    }

    fn search(&self, asked: &Asked) -> Truth {
        match self.proofs {
            Proofs::AllStates | Proofs::OverBits => visit::search(&asked.task(), REACH),
            _ => asked.search(),
        }
    }

    fn is_complete(&self) -> bool {
        self.proofs == Proofs::AllStates
    }

    fn rule(&self, asked: &Asked, file: &Value) -> Result<Ruling, Fault> {
        let task = asked.task();
        let read = CertificateFile::deserialize(file).ok().and_then(|file| file.certificate(task.program).ok());
        let Some(certificate) = read else { return Ok(Ruling::Unreadable) };
        // More states or events than a search looks at say nothing.
        let run = if self.proofs.is_plain() { limited(Duration::from_millis(300)) } else { patient() };
        let ruling = Ruling::of(&verify(&task, &certificate, &run));
        match &certificate {
            Certificate::Summaries(proof) if ruling == Ruling::Accepted && proves(&task, proof) == Some(false) => {
                fault("obligations", "accepted, but trying all valuations shows a flaw")
            }
            _ => Ok(ruling),
        }
    }

    fn show(&self, asked: &Asked) -> String {
        asked.show()
    }
}

impl ProgramCourt {
    pub(super) fn try_proofs(
        &self,
        kind: &'static str,
        model: &Model,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        self.try_posed(kind, &pose(model)?, rng, tally)
    }

    /// The same for a program with machine integers.
    pub(super) fn try_over_bits(
        &self,
        kind: &'static str,
        text: &str,
        rng: &mut Rng,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        let question = Question { threads: [Some(2), Some(3), None][rng.below(3)], ..Question::default() };
        match pose_ir(text.to_string(), &question) {
            Some(posed) => self.try_posed(kind, &posed, rng, tally),
            None => fault("read", "the program is refused"),
        }
    }

    fn try_posed(&self, kind: &'static str, posed: &Posed, rng: &mut Rng, tally: &mut Tally) -> Result<(), Fault> {
        let mut asked = Asked::of(posed);
        if self.proofs == Proofs::AllStates && rng.coin() {
            asked.target.deadlock = true;
        }
        if self.proofs.is_about_any_number() {
            asked.threads = ThreadScope::Unbounded;
        }
        if self.proofs == Proofs::Adequacy {
            let inlined = simplify(&asked.task(), &[Pass::Inline]);
            let task = inlined.task(asked.threads);
            asked = Asked { program: task.program.clone(), target: task.target.clone(), threads: asked.threads };
        }
        let source = Source::new("program.bp", posed.text.clone());
        let written = |asked: &Asked, certificate: &Certificate| {
            let context = Context { program: &asked.program, map: &posed.map, source: &source };
            let file = CertificateFile::new(context, QuestionView::new(&Question::default(), None), certificate);
            Piece::new(serde_json::to_value(file).expect("certificates are JSON"))
        };
        let Some(certificate) = self.proofs.find(&asked, rng) else { return Ok(()) };
        let piece = written(&asked, &certificate);
        if piece.value.to_string().len() > LARGEST {
            return Ok(());
        }
        let other = asked.edited(rng, Extent::All);
        let donor = other.and_then(|other| Some(written(&other, &self.proofs.find(&other, rng)?)));
        let donors = donor.into_iter().collect();
        let effort = if self.proofs.is_plain() { PLAIN_EFFORT } else { EFFORT };
        Trial { kind, court: self, effort, donors }.run(&asked, &piece, rng, tally)
    }
}

/// Executions.
struct ExecutionCourt;

impl Court for ExecutionCourt {
    type Asked = Asked;

    fn edited(&self, rng: &mut Rng, asked: &Asked) -> Option<Asked> {
        asked.edited(rng, Extent::All)
    }

    fn search(&self, asked: &Asked) -> Truth {
        asked.search()
    }

    fn claim(&self) -> Truth {
        Truth::Unsafe
    }

    fn rule(&self, asked: &Asked, file: &Value) -> Result<Ruling, Fault> {
        let task = asked.task();
        let read = TraceFile::deserialize(file).ok().and_then(|file| file.trace(task.program).ok());
        let Some(trace) = read else { return Ok(Ruling::Unreadable) };
        let judged = replay(&task, &trace);
        // Only bodies that the judge accepts can be written out.
        if judged.is_err() && !trace.bodies.is_empty() {
            return Ok(Ruling::Rejected);
        }
        match (judged, is_execution(&task, &trace)) {
            (Ok(_), Ok(())) => Ok(Ruling::Accepted),
            (Err(_), Err(_)) => Ok(Ruling::Rejected),
            (Ok(_), Err(why)) => fault("stepper", format!("accepted, but {why}")),
            (Err(mismatch), Ok(())) => fault("stepper", format!("an execution, but the judge says {mismatch}")),
        }
    }

    fn show(&self, asked: &Asked) -> String {
        asked.show()
    }
}

/// Generates a program that may have an error.
pub(super) fn with_execution(rng: &mut Rng) -> Model {
    let weights: Vec<(&str, Weights)> = Weights::presets().into_iter().chain(Weights::concurrent()).collect();
    let weights = &weights[rng.below(weights.len())].1;
    generate_with(rng, weights)
}

pub(super) fn try_executions(kind: &'static str, model: &Model, rng: &mut Rng, tally: &mut Tally) -> Result<(), Fault> {
    let posed = pose(model)?;
    let engines =
        [EngineKind::Exhaustive, EngineKind::Summaries, EngineKind::Threads, EngineKind::Bmc, EngineKind::Views];
    let engine = engines[rng.below(engines.len())];
    let mut options = Options { engine: Some(engine.row()), question: model.question.clone(), ..Options::default() };
    options.engine_options.bmc.steps = 25;
    let Ok(answer) = within(BUDGET.tight(), |run| check(posed.subject(), &options, run)) else { return Ok(()) };
    let Outcome::Unsafe(counterexample) = answer.outcome else { return Ok(()) };
    let source = Source::new("program.bp", posed.text.clone());
    let context = Context { program: &posed.asked, map: &posed.map, source: &source };
    let file = TraceFile::new(context, QuestionView::new(&model.question, None), &counterexample);
    let piece = Piece::new(serde_json::to_value(file).expect("executions are JSON"));
    let effort = Effort { edits: 8, forgeries: [40, 40] };
    Trial { kind, court: &ExecutionCourt, effort, donors: Vec::new() }.run(&Asked::of(&posed), &piece, rng, tally)
}
