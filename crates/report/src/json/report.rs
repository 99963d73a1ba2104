//! Reports as JSON: one object for any number of files. What the fields mean is said in `docs/schema/`.

use std::collections::BTreeMap;

use selvedge_check::{
    Answer, Asked, Contexts, Cutoff, EngineEnd, EngineRun, EveMove, Outcome, Refinement, Rounds, Size, Status,
    ThreadScope,
};
use selvedge_frontend::diagnostic::{Annotation, Diagnostic, Severity};
use selvedge_ir::{EdgeId, LocId, Target};
use serde::Serialize;
use serde_json::{Value, json};

use super::question::QuestionView;
use super::trace::TraceFile;
use super::{GENERATOR, VERSION};
use crate::Reading;
use crate::annotated_trace::Context;
use crate::exit::Exit;
use crate::source::Source;
use crate::{projection, text};

/// Returns all results of one run, of which the exit code is the worst of the results'.
pub fn report(exit_code: u8, results: &[Value]) -> Value {
    json!({
        "format": "selvedge-report",
        "version": VERSION,
        "generator": GENERATOR,
        "exit_code": exit_code,
        "results": results,
    })
}

/// The common parts of all results.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// `safe`, `unsafe`, `unknown` or `error`.
    pub verdict: &'a str,
    /// The same, for people: an answer that lacks evidence says so.
    pub headline: &'a str,
    pub exit: Exit,
    /// The last line of text output.
    pub line: &'a str,
    /// The reason why there is no verdict.
    pub reason: Option<&'a str>,
}

/// Returns the result for one file, to which its answer can be added.
pub fn result(source: &Source, found: &[Diagnostic], head: Head<'_>) -> Value {
    json!({
        "file": source.path,
        "verdict": head.verdict,
        "headline": head.headline,
        "exit_code": head.exit.code(),
        "line": head.line,
        "reason": head.reason,
        "diagnostics": diagnostics(source, found),
        "answer": null,
    })
}

/// Adds a field that is absent where there is nothing to say.
pub(crate) fn add(object: &mut Value, name: &str, content: Option<impl Serialize>) {
    if let Some(content) = content {
        object[name] = json!(content);
    }
}

/// Returns a list with the view of each item.
pub(crate) fn list<T>(items: impl IntoIterator<Item = T>, view: impl FnMut(T) -> Value) -> Value {
    items.into_iter().map(view).collect()
}

/// Returns the answers for each error on its own.
pub fn each(context: Context<'_>, question: &QuestionView, each: &[(Asked, Status)]) -> Value {
    list(each, |(asked, status)| {
        let (position, text) = text::place_of(context, *asked);
        let trace = status.counterexample().map(|found| TraceFile::new(context, question.clone(), found));
        let mut view = json!({
            "line": position.map(|at| at.line),
            "column": position.map(|at| at.column),
            "text": text,
            "result": status.name(),
            "certified": status.certified(),
            "trace": trace,
        });
        add(&mut view, "unchecked", status.unchecked());
        add(&mut view, "own_judge", status.own_judge());
        view
    })
}

/// Returns the details of an answer about a program.
pub fn answer(context: Context<'_>, question: &QuestionView, answer: &Answer, reading: Reading<'_>) -> Value {
    let (unreachable, trace) = match &answer.outcome {
        Outcome::Safe(Some(certificate)) => (text::unreachable_asserts(&answer.model, certificate), None),
        Outcome::Unsafe(found) => (Vec::new(), Some(TraceFile::new(context, question.clone(), found))),
        Outcome::Safe(None) | Outcome::Unknown(_) => (Vec::new(), None),
    };
    let (explanation, times) = (&answer.explanation, answer.times);
    let before = Size::of(&answer.model.program);
    let mut view = json!({
        "question": question,
        "scope": { "threads": threads(answer.model.threads), "text": text::scope(context, &answer.model.task()) },
        "target": target(context, &answer.model.target),
        "engine": answer.engine,
        "legs": list(&answer.runs, leg),
        "certified": answer.certified(),
        "certifier": answer.certifier,
        "arguments": list(&explanation.arguments, |argument| argument.name().into()),
        "unreachable": places(context, &unreachable),
        "times": {
            "load": reading.time.as_secs_f64(),
            "simplify": times.simplify.as_secs_f64(),
            "engine": times.engine.as_secs_f64(),
            "judge": times.judge.as_secs_f64(),
        },
        "sizes": [size(before), size(answer.searched.unwrap_or(before))],
        "trace": trace,
    });
    let file_options = Some(reading.file_options).filter(|options| !options.is_empty());
    add(&mut view, "file_options", file_options);
    add(&mut view, "warning", text::nothing_checked(context, answer));
    add(&mut view, "unchecked", answer.unchecked.as_ref());
    add(&mut view, "own_judge", answer.own_judge);
    add(&mut view, "cutoff", explanation.cutoff.as_ref().map(cutoff));
    add(&mut view, "contexts", explanation.contexts.as_ref().map(contexts));
    add(&mut view, "projection", answer.projection.as_ref().map(|steps| projection::view(context, steps)));
    add(&mut view, "refinement", explanation.refinement.map(refinement));
    add(&mut view, "rounds", explanation.rounds.as_ref().map(rounds));
    view
}

fn leg(run: &EngineRun) -> Value {
    let (end, reason) = match &run.end {
        EngineEnd::Answered => ("won", None),
        EngineEnd::Overtaken => ("overtaken", None),
        EngineEnd::GaveUp(reason) => ("gave_up", Some(reason.to_string())),
        EngineEnd::Defect(message) => ("defect", Some(message.clone())),
    };
    json!({ "engine": run.engine, "seconds": run.time.as_secs_f64(), "end": end, "reason": reason })
}

fn cutoff(cutoff: &Cutoff) -> Value {
    let proof = cutoff.proof.map(|proof| proof.to_string());
    json!({ "threads": cutoff.plateau(), "proof": proof, "thread_states": cutoff.reached })
}

fn contexts(contexts: &Contexts) -> Value {
    json!({ "error": contexts.error, "reached": reached("contexts", &contexts.reached) })
}

/// Returns how many shared states can be reached within numbers of contexts or rounds.
fn reached(within: &str, reached: &[(u32, u128)]) -> Value {
    list(reached, |(number, states)| {
        // Values hold 64 bits. Readers of larger numbers round them anyway.
        let states = u64::try_from(*states).map_or_else(|_| json!(*states as f64), Value::from);
        json!({ within: number, "shared_states": states })
    })
}

fn refinement(refinement: Refinement) -> Value {
    let Refinement { iterations, queries, predicates, states, abstract_states } = refinement;
    json!({
        "iterations": iterations,
        "queries": queries,
        "predicates": predicates,
        "states": states,
        "abstract_states": abstract_states,
    })
}

fn rounds(rounds: &Rounds) -> Value {
    let eve = |named: &EveMove| {
        let shared: BTreeMap<_, _> = named.shared.iter().cloned().collect();
        json!({ "template": named.template, "ended": named.ended, "shared": shared })
    };
    json!({
        "error": rounds.error,
        "reached": reached("rounds", &rounds.reached),
        "enough": rounds.enough,
        "open": rounds.open,
        "play": list(&rounds.play, eve),
    })
}

fn threads(scope: ThreadScope) -> Value {
    match scope {
        ThreadScope::AtMost(bound) => json!({ "at_most": bound }),
        ThreadScope::Created(bound) => json!({ "created": bound }),
        ThreadScope::Unbounded => json!("any"),
    }
}

fn target(context: Context<'_>, target: &Target) -> Value {
    let name = |loc: &LocId| {
        let label = context.program.labels.iter().find(|label| label.loc == *loc);
        label.map_or("", |label| label.name.as_str()).into()
    };
    let mut view =
        json!({ "assertions": places(context, &target.asserts), "labels": text::asked_labels(context, target) });
    let together = (!target.together.is_empty()).then(|| list(&target.together, |meeting| list(meeting, name)));
    add(&mut view, "together", together);
    add(&mut view, "deadlock", target.deadlock.then_some(true));
    add(&mut view, "properties", Some(&context.map.properties).filter(|names| !names.is_empty()));
    view
}

fn places(context: Context<'_>, edges: &[EdgeId]) -> Value {
    list(edges, |edge| {
        let span = context.map.edges[*edge].span;
        let position = context.source.position(span.start as usize);
        json!({ "line": position.line, "column": position.column, "text": context.source.flat(span) })
    })
}

fn size(size: Size) -> Value {
    json!({ "procedures": size.procs, "locations": size.locs, "edges": size.edges, "variables": size.vars })
}

/// Returns diagnostics with their places.
pub fn diagnostics(source: &Source, diagnostics: &[Diagnostic]) -> Value {
    let span = |annotation: &Annotation| {
        let (file, first) = source.part(annotation.span.start as usize);
        let start = file.position(annotation.span.start as usize - first);
        let end = file.position(annotation.span.end as usize - first);
        json!({ "line": start.line, "column": start.column, "end_line": end.line, "end_column": end.column })
    };
    list(diagnostics, |diagnostic| {
        let (file, first) = source.part(diagnostic.primary.span.start as usize);
        let mut view = json!({
            "code": diagnostic.code.as_str(),
            "severity": match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "note",
            },
            "message": diagnostic.message,
            "span": span(&diagnostic.primary),
            "label": diagnostic.primary.label,
            "secondary": list(&diagnostic.secondary, |other| json!({ "span": span(other), "label": other.label })),
            "help": diagnostic.help,
        });
        if first > 0 {
            view["file"] = file.path.as_str().into();
        }
        view
    })
}
