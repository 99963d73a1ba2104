//! `selvedge batch merge`: the answer to each question, from the results of its tasks.
//!
//! Each piece of evidence is judged again. A question is unsafe if one trace is accepted: an execution that starts in a
//! part is one of the program. It is safe if the certificate of the whole is accepted, or those of parts that make the
//! whole. What a result claims without accepted evidence counts for nothing. Both at once is a disagreement.

use std::collections::BTreeMap;

use selvedge_report::names::count;
use serde_json::json;

use super::cubes::{Cube, cover};
use super::evidence::{Judgement, judge};
use super::manifest::{self, Task};
use super::results::{self, TaskResult};
use crate::args::MergeArgs;
use crate::commands::children;
use crate::exit::Exit;
use crate::outputs;
use crate::session::Session;

/// A result with what the judge says about its evidence; `None` if the task is not done.
pub(super) type Judged = Option<(TaskResult, Judgement)>;

/// All tasks with their results, and the answers.
pub(super) struct Merged {
    pub(super) tasks: Vec<(Task, Judged)>,
    /// For each file and question the answer.
    pub(super) answers: BTreeMap<(String, String), Combined>,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Combined {
    pub(super) verdict: &'static str,
    /// The tasks that it rests on, or why there is none.
    pub(super) because: String,
    /// The results whose evidence was rejected.
    pub(super) rejected: Vec<String>,
    pub(super) missing: usize,
}

pub(super) fn run(args: &MergeArgs, session: &Session) -> Result<Exit, Exit> {
    let merged = merge(args, session)?;
    session.printer.out(&table(&merged));
    Ok(Exit::worst([merged.exit(), write(&merged, args, session)]))
}

/// Writes the combined results as JSON, if they are wanted.
pub(super) fn write(merged: &Merged, args: &MergeArgs, session: &Session) -> Exit {
    let text = || view(merged).to_string() + "\n";
    args.out.as_ref().map_or(Exit::Success, |path| outputs::write(path, &text(), session))
}

/// Judges all evidence, and combines the results.
pub(super) fn merge(args: &MergeArgs, session: &Session) -> Result<Merged, Exit> {
    let tasks = manifest::read(&args.of.manifest, session)?;
    let judged = |task: &Task| {
        let result = results::read(&args.of.results, task)?;
        let judgement = judge(task, &result, args.limits, session);
        Some((result, judgement))
    };
    let found = children::in_parallel(&tasks, children::jobs(args.jobs), judged, |_, _| ());
    if session.cancel.is_cancelled() {
        return Err(session.refuse(Exit::Interrupted, "interrupted"));
    }
    let tasks: Vec<(Task, Judged)> = tasks.into_iter().zip(found).collect();
    let mut groups: BTreeMap<(String, String), Vec<&(Task, Judged)>> = BTreeMap::new();
    tasks.iter().for_each(|one| groups.entry(one.0.group()).or_default().push(one));
    let answers = groups.into_iter().map(|(group, members)| (group, combine(&members))).collect();
    Ok(Merged { tasks, answers })
}

/// Combines the results of a question.
fn combine(members: &[&(Task, Judged)]) -> Combined {
    let mut accepted: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    let (mut rejected, mut reasons, mut missing) = (Vec::new(), Vec::new(), 0);
    for (task, judged) in members {
        match judged {
            None => missing += 1,
            Some((result, Judgement::Accepted)) => accepted.entry(word(result)).or_default().push(task),
            Some((_, Judgement::Rejected(reason))) => rejected.push(format!("{}: {reason}", task.id)),
            Some((_, Judgement::Missing(reason))) => reasons.push(format!("{}: {reason}", task.id)),
        }
    }
    let traces = accepted.remove("unsafe").unwrap_or_default();
    let proofs = accepted.remove("safe").unwrap_or_default();
    let whole = proofs.iter().find(|task| task.question.starts.is_empty());
    let cubes: Vec<Cube> = proofs.iter().map(|task| task.question.starts.clone()).collect();
    let safe = match whole {
        Some(task) => Some(format!("certificate of {}", task.id)),
        None => cover(&cubes).then(|| format!("certificates of {} that make the whole", count(cubes.len(), "part"))),
    };
    let (verdict, because) = match (traces.first(), safe) {
        (Some(trace), Some(safe)) => ("disagreement", format!("trace of {}, {safe}", trace.id)),
        (Some(trace), None) => ("unsafe", format!("trace of {}", trace.id)),
        (None, Some(safe)) => ("safe", safe),
        (None, None) if missing > 0 => ("unknown", format!("{} not done", count(missing, "task"))),
        (None, None) => ("unknown", reasons.first().cloned().unwrap_or_else(|| "no evidence".to_string())),
    };
    Combined { verdict, because, rejected, missing }
}

fn word(result: &TaskResult) -> &'static str {
    if result.verdict() == "unsafe" { "unsafe" } else { "safe" }
}

impl Merged {
    /// Returns the end of the command: evidence that is rejected or contradicts itself is a defect.
    pub(super) fn exit(&self) -> Exit {
        let of = |answer: &Combined| match answer.verdict {
            "disagreement" => Exit::Internal,
            _ if !answer.rejected.is_empty() => Exit::Internal,
            "unsafe" => Exit::Unsafe,
            "safe" => Exit::Success,
            _ => Exit::Unknown,
        };
        Exit::worst(self.answers.values().map(of))
    }

    /// Returns how many tasks are done.
    pub(super) fn done(&self) -> usize {
        self.tasks.iter().filter(|(_, judged)| judged.is_some()).count()
    }
}

/// Returns the answers as lines, and a line that counts them.
pub(super) fn table(merged: &Merged) -> String {
    let mut text = String::new();
    for ((file, question), answer) in &merged.answers {
        let question = if question.is_empty() { String::new() } else { format!(" {question}") };
        text.push_str(&format!("{:12} {file}{question}: {}\n", answer.verdict, answer.because));
        for rejected in &answer.rejected {
            text.push_str(&format!("             evidence rejected: {rejected}\n"));
        }
    }
    let of = |verdict: &str| merged.answers.values().filter(|answer| answer.verdict == verdict).count();
    let n_rejected: usize = merged.answers.values().map(|answer| answer.rejected.len()).sum();
    text.push_str(&format!(
        "{} of {} done; {}: {} safe, {} unsafe, {} unknown, {} in disagreement; {n_rejected} rejected\n",
        merged.done(),
        count(merged.tasks.len(), "task"),
        count(merged.answers.len(), "question"),
        of("safe"),
        of("unsafe"),
        of("unknown"),
        of("disagreement"),
    ));
    text
}

fn view(merged: &Merged) -> serde_json::Value {
    let answer = |((file, question), answer): (&(String, String), &Combined)| {
        json!({
            "file": file,
            "question": question,
            "verdict": answer.verdict,
            "because": answer.because,
            "rejected": answer.rejected,
            "missing": answer.missing,
        })
    };
    let answers: Vec<_> = merged.answers.iter().map(answer).collect();
    json!({
        "format": "selvedge-batch",
        "version": 1,
        "tasks": merged.tasks.len(),
        "done": merged.done(),
        "results": answers,
    })
}
