//! The evidence of results, judged again: a trace by `selvedge replay`, a certificate by `selvedge verify`, each in a
//! process of its own.

use std::path::Path;

use super::manifest::Task;
use super::results::TaskResult;
use super::run::Unfinished;
use crate::args::LimitArgs;
use crate::commands::children::{self, limit_words};
use crate::commands::project::test::argument;
use crate::exit::Exit;
use crate::session::Session;

/// What the judge says about the evidence of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// It holds.
    Accepted,
    /// There is none: the verdict is unknown, or safe without a certificate.
    Missing(String),
    /// It does not hold, or could not be judged, for this reason.
    Rejected(String),
}

/// Judges the evidence of a result again, on the program as it is now.
pub(super) fn judge(task: &Task, result: &TaskResult, limits: LimitArgs, session: &Session) -> Judgement {
    if !task.is_current() {
        return Judgement::Rejected("the program is missing or has changed since the manifest was written".to_string());
    }
    match (result.verdict(), result.trace(), &result.certificate) {
        ("unsafe", Some(trace), _) => with_file(task, "replay", &trace, Exit::Unsafe, limits, session),
        ("safe", _, Some(certificate)) => with_file(task, "verify", certificate, Exit::Success, limits, session),
        ("safe", _, None) => Judgement::Missing("safe (uncertified)".to_string()),
        ("unsafe", None, _) => Judgement::Rejected("an unsafe answer without its trace".to_string()),
        _ => Judgement::Missing(result.reason()),
    }
}

fn with_file(
    task: &Task,
    command: &str,
    text: &str,
    accepted: Exit,
    limits: LimitArgs,
    session: &Session,
) -> Judgement {
    let file = Unfinished::new(&std::env::temp_dir(), task);
    if let Err(error) = std::fs::write(&file.0, text) {
        return Judgement::Rejected(format!("cannot write the evidence to a file: {error}"));
    }
    match children::run(&words(task, command, &file.0, limits), session, &mut || true) {
        Err(message) => Judgement::Rejected(message),
        // A certificate that one solver alone confirms is accepted with these words, and is not certified.
        Ok(ended) if ended.output.contains("alone)") => Judgement::Missing("checked by one solver alone".to_string()),
        Ok(ended) if ended.code == Some(i32::from(accepted.code())) => Judgement::Accepted,
        Ok(ended) => {
            let said = ended.errors.lines().next().or(ended.output.lines().last());
            Judgement::Rejected(format!("{command}: {}", said.unwrap_or("it ended without output")))
        }
    }
}

/// Returns the command that judges evidence: with the question of the task.
fn words(task: &Task, command: &str, evidence: &Path, limits: LimitArgs) -> Vec<String> {
    let mut words = vec![command.to_string(), "--quiet".to_string()];
    words.extend(task.question.words());
    words.extend(limit_words(limits));
    words.extend([evidence.to_string_lossy().into_owned(), argument(&task.file)]);
    words
}
