//! Reports as JSON: one object for any number of files.

use std::collections::BTreeMap;
use std::time::Duration;

use selvedge_check::{
    Answer, Asked, Contexts, Cutoff, EngineEnd, EngineRun, EveMove, Outcome, Refinement, Rounds, Size, Status,
    ThreadScope,
};
use selvedge_frontend::diagnostic::{Annotation, Diagnostic, Severity};
use selvedge_ir::{EdgeId, LocId, Target};
use serde::Serialize;

use super::reachable::ReachableView;
use super::trace::{QuestionView, TraceFile};
use super::{GENERATOR, VERSION};
use crate::annotated_trace::Context;
use crate::projection::ProjectionView;
use crate::source::Source;
use crate::systems::SystemView;
use crate::systems::turns::TurnsView;
use crate::text;

/// All results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct ReportFile {
    /// Always `selvedge-report`.
    pub format: &'static str,
    pub version: u32,
    pub generator: &'static str,
    /// The worst of the results'.
    pub exit_code: u8,
    pub results: Vec<ResultView>,
}

/// The result of one file.
#[derive(Clone, Debug, Serialize)]
pub struct ResultView {
    pub file: String,
    /// `safe`, `unsafe`, `unknown`, or `error` where there is no answer: not readable, not a program, not this
    /// question.
    pub verdict: &'static str,
    pub exit_code: u8,
    /// The last line of the text output.
    pub line: String,
    /// Why it is `unknown` or `error`.
    pub reason: Option<String>,
    pub diagnostics: Vec<DiagnosticView>,
    /// The answer about a program.
    pub answer: Option<AnswerView>,
    /// With `--all` and `--reachable`: the answer for each assertion and error label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub each: Option<Vec<EachView>>,
    /// The answer about a pushdown system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemView>,
    /// The answer about several pushdown systems that take turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<TurnsView>,
    /// With `--reachable`: everything that can be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<ReachableView>,
}

/// One assertion or error label.
#[derive(Clone, Debug, Serialize)]
pub struct EachView {
    pub line: Option<usize>,
    pub column: Option<usize>,
    pub text: String,
    /// `violated`, `holds`, `unreachable` or `unknown`.
    pub result: &'static str,
    /// For `holds` and `unreachable`: whether a certificate was checked.
    pub certified: Option<bool>,
    /// Why the certificate could not be checked, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// For `violated`: the trace, in the format of trace files.
    pub trace: Option<TraceFile>,
}

impl EachView {
    /// The answers for each error on its own.
    pub fn list(context: Context<'_>, question: &QuestionView, each: &[(Asked, Status)]) -> Vec<EachView> {
        let view = |(asked, status): &(Asked, Status)| {
            let (position, text) = text::place_of(context, *asked);
            EachView {
                line: position.map(|at| at.line),
                column: position.map(|at| at.column),
                text,
                result: status.name(),
                certified: status.certified(),
                unchecked: status.unchecked().map(str::to_string),
                trace: match status {
                    Status::Violated(found) => Some(TraceFile::new(context, question.clone(), found)),
                    _ => None,
                },
            }
        };
        each.iter().map(view).collect()
    }
}

/// The details of a decided or undecided question.
#[derive(Clone, Debug, Serialize)]
pub struct AnswerView {
    pub question: QuestionView,
    pub scope: ScopeView,
    pub target: TargetView,
    pub engine: &'static str,
    /// The engines that ran, in the order in which they began.
    pub legs: Vec<LegView>,
    /// For `safe`: whether a certificate was checked.
    pub certified: Option<bool>,
    /// Why the certificate could not be checked, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<String>,
    /// The engine that gave the certificate, if it was another one.
    pub certifier: Option<&'static str>,
    /// For `safe`: what closed the search, as far as the engine tells.
    pub arguments: Vec<&'static str>,
    /// The number of threads that are enough, if the engine tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<CutoffView>,
    /// The results for growing numbers of contexts per thread, for engines that bound them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contexts: Option<ContextsView>,
    /// With `--projection`: which statements an error can involve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<ProjectionView>,
    /// The figures of a loop of abstraction and refinement, for engines that have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refinement: Option<RefinementView>,
    /// The results for growing numbers of rounds, for engines that bound them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<RoundsView>,
    /// Assertions that no execution reaches, as far as the certificate tells.
    pub unreachable: Vec<PlaceView>,
    pub times: TimesView,
    /// The program before and after the passes.
    pub sizes: [SizeView; 2],
    /// For `unsafe`: the trace, in the format of trace files.
    pub trace: Option<TraceFile>,
}

/// One engine's part in a check.
#[derive(Clone, Debug, Serialize)]
pub struct LegView {
    pub engine: &'static str,
    pub seconds: f64,
    /// `won`, `overtaken` or `gave_up`.
    pub end: &'static str,
    /// Why it gave up.
    pub reason: Option<String>,
}

impl LegView {
    fn new(run: &EngineRun) -> LegView {
        let (end, reason) = match &run.end {
            EngineEnd::Answered => ("won", None),
            EngineEnd::Overtaken => ("overtaken", None),
            EngineEnd::GaveUp(reason) => ("gave_up", Some(reason.to_string())),
        };
        LegView { engine: run.engine, seconds: run.time.as_secs_f64(), end, reason }
    }
}

/// The thread states that growing numbers of threads reach.
#[derive(Clone, Debug, Serialize)]
pub struct CutoffView {
    /// The least number of threads with as many thread states as the last that was looked at.
    pub threads: usize,
    /// The proof that no number of threads reaches more; null if there is none.
    pub proof: Option<String>,
    /// The number of thread states that 1, 2, .. threads reach.
    pub thread_states: Vec<usize>,
}

impl CutoffView {
    fn new(cutoff: &Cutoff) -> CutoffView {
        CutoffView {
            threads: cutoff.plateau(),
            proof: cutoff.proof.map(|proof| proof.to_string()),
            thread_states: cutoff.reached.clone(),
        }
    }
}

/// The results for growing numbers of contexts per thread.
#[derive(Clone, Debug, Serialize)]
pub struct ContextsView {
    /// The number of contexts per thread within which there is an error; null if none was found.
    pub error: Option<u32>,
    /// For numbers of contexts per thread the number of shared states that are reachable where a context may end.
    pub reached: Vec<ReachedView>,
}

/// The number of shared states that are reachable within a number of contexts per thread.
#[derive(Clone, Debug, Serialize)]
pub struct ReachedView {
    pub contexts: u32,
    pub shared_states: u128,
}

/// The figures of a loop of abstraction and refinement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefinementView {
    /// The number of abstractions.
    pub iterations: usize,
    /// The number of queries to the prover.
    pub queries: usize,
    /// The predicates of the last abstraction.
    pub predicates: usize,
    /// The symbolic or concrete states of the last exploration.
    pub states: usize,
    /// The abstract states that they belong to.
    pub abstract_states: usize,
}

impl RefinementView {
    fn new(refinement: Refinement) -> RefinementView {
        let Refinement { iterations, queries, predicates, states, abstract_states } = refinement;
        RefinementView { iterations, queries, predicates, states, abstract_states }
    }
}

impl ContextsView {
    fn new(contexts: &Contexts) -> ContextsView {
        let reached = contexts.reached.iter();
        let view = |(contexts, shared_states): &(u32, u128)| ReachedView {
            contexts: *contexts,
            shared_states: *shared_states,
        };
        ContextsView { error: contexts.error, reached: reached.map(view).collect() }
    }
}

/// The results for growing numbers of rounds.
#[derive(Clone, Debug, Serialize)]
pub struct RoundsView {
    /// The number of rounds within which there is an error; null if none was found.
    pub error: Option<u32>,
    /// For numbers of rounds the number of shared states that are reachable where a turn may end.
    pub reached: Vec<ReachedInRounds>,
    /// The number of rounds that is enough for all states; null if that is not known.
    pub enough: Option<u32>,
    /// The numbers of rounds of which it is open whether they are enough.
    pub open: Vec<u32>,
    /// Why the last of them is open: the threads that Eve names in the adequacy game, until Adam has no answer.
    pub play: Vec<EveMoveView>,
}

/// A thread that Eve names, as it is left at the end of the last round.
#[derive(Clone, Debug, Serialize)]
pub struct EveMoveView {
    pub template: String,
    /// Set if the thread has ended.
    pub ended: bool,
    /// The shared variables when its last turn ends.
    pub shared: BTreeMap<String, bool>,
}

impl EveMoveView {
    fn new(named: &EveMove) -> EveMoveView {
        let shared = named.shared.iter().cloned().collect();
        EveMoveView { template: named.template.clone(), ended: named.ended, shared }
    }
}

/// The number of shared states that are reachable within a number of rounds.
#[derive(Clone, Debug, Serialize)]
pub struct ReachedInRounds {
    pub rounds: u32,
    pub shared_states: u128,
}

impl RoundsView {
    fn new(rounds: &Rounds) -> RoundsView {
        let view =
            |(rounds, shared_states): &(u32, u128)| ReachedInRounds { rounds: *rounds, shared_states: *shared_states };
        RoundsView {
            error: rounds.error,
            reached: rounds.reached.iter().map(view).collect(),
            enough: rounds.enough,
            open: rounds.open.clone(),
            play: rounds.play.iter().map(EveMoveView::new).collect(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct ScopeView {
    pub threads: ThreadsView,
    /// The same as a sentence, with the threads that a run begins with.
    pub text: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadsView {
    AtMost(u32),
    Created(u32),
    Any,
}

#[derive(Clone, Debug, Serialize)]
pub struct TargetView {
    pub assertions: Vec<PlaceView>,
    pub labels: Vec<String>,
    /// Meetings: the labels at which threads are at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<Vec<String>>,
}

#[derive(Clone, Debug, Serialize)]
pub struct PlaceView {
    pub line: usize,
    pub column: usize,
    pub text: String,
}

/// Seconds.
#[derive(Clone, Debug, Serialize)]
pub struct TimesView {
    pub load: f64,
    pub simplify: f64,
    pub engine: f64,
    pub judge: f64,
}

#[derive(Clone, Debug, Serialize)]
pub struct SizeView {
    pub procedures: usize,
    pub locations: usize,
    pub edges: usize,
    pub variables: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct DiagnosticView {
    pub code: &'static str,
    pub severity: &'static str,
    pub message: String,
    pub span: SpanView,
    pub label: String,
    pub secondary: Vec<RemarkView>,
    pub help: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct RemarkView {
    pub span: SpanView,
    pub label: String,
}

/// Lines and columns from 1; the end is behind the last character.
#[derive(Clone, Debug, Serialize)]
pub struct SpanView {
    pub line: usize,
    pub column: usize,
    pub end_line: usize,
    pub end_column: usize,
}

impl ReportFile {
    pub fn new(exit_code: u8, results: Vec<ResultView>) -> ReportFile {
        ReportFile { format: "selvedge-report", version: VERSION, generator: GENERATOR, exit_code, results }
    }
}

impl AnswerView {
    /// The details of an answer. `load` is the time that reading took.
    pub fn new(context: Context<'_>, question: QuestionView, answer: &Answer, load: Duration) -> AnswerView {
        let (unreachable, trace) = match &answer.outcome {
            Outcome::Safe(Some(certificate)) => (text::unreachable_asserts(&answer.model, certificate), None),
            Outcome::Unsafe(found) => (Vec::new(), Some(TraceFile::new(context, question.clone(), found))),
            Outcome::Safe(None) | Outcome::Unknown(_) => (Vec::new(), None),
        };
        let (explanation, times) = (&answer.explanation, answer.times);
        let before = Size::of(&answer.model.program);
        AnswerView {
            question,
            scope: ScopeView { threads: threads(answer.model.threads), text: text::scope(&answer.model.task()) },
            target: target(context, &answer.model.target),
            engine: answer.engine,
            legs: answer.runs.iter().map(LegView::new).collect(),
            certified: answer.outcome.certified(),
            unchecked: answer.unchecked.clone(),
            certifier: answer.certifier,
            arguments: explanation.arguments.iter().map(|argument| argument.name()).collect(),
            cutoff: explanation.cutoff.as_ref().map(CutoffView::new),
            contexts: explanation.contexts.as_ref().map(ContextsView::new),
            projection: answer.projection.as_ref().map(|projection| ProjectionView::new(context, projection)),
            refinement: explanation.refinement.map(RefinementView::new),
            rounds: explanation.rounds.as_ref().map(RoundsView::new),
            unreachable: places(context, &unreachable),
            times: TimesView {
                load: load.as_secs_f64(),
                simplify: times.simplify.as_secs_f64(),
                engine: times.engine.as_secs_f64(),
                judge: times.judge.as_secs_f64(),
            },
            sizes: [before, answer.searched.unwrap_or(before)].map(size),
            trace,
        }
    }
}

fn threads(scope: ThreadScope) -> ThreadsView {
    match scope {
        ThreadScope::AtMost(bound) => ThreadsView::AtMost(bound),
        ThreadScope::Created(bound) => ThreadsView::Created(bound),
        ThreadScope::Unbounded => ThreadsView::Any,
    }
}

fn target(context: Context<'_>, target: &Target) -> TargetView {
    let is_asked = |loc: LocId| target.has_loc(loc);
    let labels = context.program.labels.iter().filter(|label| is_asked(label.loc));
    let mut labels: Vec<String> = labels.map(|label| label.name.clone()).collect();
    labels.sort();
    labels.dedup();
    let name = |loc: &LocId| {
        let label = context.program.labels.iter().find(|label| label.loc == *loc);
        label.map_or(String::new(), |label| label.name.clone())
    };
    let together = target.together.iter().map(|meeting| meeting.iter().map(name).collect()).collect();
    TargetView { assertions: places(context, &target.asserts), labels, together }
}

fn places(context: Context<'_>, edges: &[EdgeId]) -> Vec<PlaceView> {
    let place = |edge: &EdgeId| {
        let span = context.map.edges[*edge].span;
        let position = context.source.position(span.start as usize);
        PlaceView { line: position.line, column: position.column, text: context.source.flat(span) }
    };
    edges.iter().map(place).collect()
}

fn size(size: Size) -> SizeView {
    SizeView { procedures: size.procs, locations: size.locs, edges: size.edges, variables: size.vars }
}

/// Diagnostics with their places.
pub fn diagnostics(source: &Source, diagnostics: &[Diagnostic]) -> Vec<DiagnosticView> {
    let span = |annotation: &Annotation| {
        let start = source.position(annotation.span.start as usize);
        let end = source.position(annotation.span.end as usize);
        SpanView { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    };
    let view = |diagnostic: &Diagnostic| DiagnosticView {
        code: diagnostic.code.as_str(),
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        message: diagnostic.message.clone(),
        span: span(&diagnostic.primary),
        label: diagnostic.primary.label.clone(),
        secondary: diagnostic
            .secondary
            .iter()
            .map(|annotation| RemarkView { span: span(annotation), label: annotation.label.clone() })
            .collect(),
        help: diagnostic.help.clone(),
    };
    diagnostics.iter().map(view).collect()
}
