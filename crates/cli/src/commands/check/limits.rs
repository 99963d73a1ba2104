//! Limits of programs, such as a number of objects that are allocated.
//!
//! Exceeding a limit is an assertion that fails. If it is among the errors that cannot be reached, the answer is about
//! all executions of the text. If an execution exceeds a limit, the program without such executions is asked about: an
//! error that is found there is one, and else nothing is known.

use selvedge_check::{Answer, InvalidQuestion, Outcome, Reason, Subject, Unsupported, Violation};
use selvedge_driver::Failure;
use selvedge_frontend::{Limit, Loaded};

use crate::args::CheckArgs;

/// Refuses questions whose answers would not say whether a limit is exceeded.
pub(super) fn validate(loaded: &Loaded, args: &CheckArgs) -> Result<(), InvalidQuestion> {
    let question = &args.question;
    let asks = question.label.is_some()
        || question.assertion.is_some()
        || !question.together.is_empty()
        || question.asks_for_deadlocks();
    if loaded.limits.is_empty() || !(asks || args.all || args.reachable) {
        return Ok(());
    }
    let message = "the program has limits (docs/c.md): only the question for all assertions together fits it";
    let help = "leave out --label, --assertion, --together, --deadlock, --all and --reachable".to_string();
    Err(InvalidQuestion { message: message.to_string(), help: Some(help) })
}

/// Returns an answer about the text: asks again where an execution that exceeds a limit was found.
pub(super) fn respect(
    answer: Answer,
    loaded: &Loaded,
    subject: Subject<'_>,
    ask: impl FnOnce(Subject<'_>) -> Result<Answer, Failure>,
) -> Result<Answer, Failure> {
    let Some(limit) = exceeded(&answer, loaded) else { return Ok(answer) };
    let Some(program) = loaded.within_limits() else { return Ok(answer) };
    let mut within = ask(Subject { program: &program, ..subject })?;
    if let Outcome::Safe(_) = within.outcome {
        let reason = format!("line {}: {}", subject.line(limit.edge), limit.what);
        within.outcome = Outcome::Unknown(Reason::Unsupported(Unsupported { reason, edge: Some(limit.edge) }));
    }
    Ok(within)
}

/// Returns the limit that an execution to an error exceeds.
fn exceeded<'l>(answer: &Answer, loaded: &'l Loaded) -> Option<&'l Limit> {
    let Outcome::Unsafe(found) = &answer.outcome else { return None };
    let Violation::Assert { edge, .. } = &found.replay.violation else { return None };
    loaded.limits.iter().find(|limit| limit.edge == *edge)
}
