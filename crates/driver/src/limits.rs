//! Limits of programs, such as a number of objects that are allocated (`SourceMap::limits`).
//!
//! Exceeding a limit is an assertion that fails. If it is among the errors that cannot be reached, the answer is about
//! all executions of the text. If an execution exceeds a limit, the program without such executions is asked about: an
//! error that is found there is one, and else nothing is known.

use selvedge_check::{Answer, InvalidQuestion, Outcome, Reason, Subject, Unsupported, Violation};
use selvedge_ir::{EdgeId, Expr, Op, Program};

use crate::{Ask, Failure, Options};

/// Refuses questions whose answers would not say whether a limit is exceeded.
pub(crate) fn validate(subject: Subject<'_>, options: &Options) -> Result<(), InvalidQuestion> {
    let question = &options.question;
    let is_other = question.label.is_some() || question.assertion.is_some() || !question.together.is_empty();
    if subject.map.limits.is_empty() || !(is_other || question.deadlock || options.ask != Ask::Any) {
        return Ok(());
    }
    let message = "the program has limits (docs/c.md), so that all its assertions can only be checked together";
    let help = "leave out --label, --assertion, --together, --deadlock, --all and --reachable".to_string();
    Err(InvalidQuestion { message: message.to_string(), help: Some(help) })
}

/// Returns an answer about the text: asks again where an execution that exceeds a limit was found.
pub(crate) fn respect(
    answer: Answer,
    subject: Subject<'_>,
    ask: impl FnOnce(Subject<'_>) -> Result<Answer, Failure>,
) -> Result<Answer, Failure> {
    let Some((edge, what)) = exceeded(&answer, subject) else { return Ok(answer) };
    let program = within_limits(subject);
    let mut within = ask(Subject { program: &program, ..subject })?;
    if let Outcome::Safe(_) = within.outcome {
        let reason = format!("line {}: {what}", subject.line(edge));
        within.outcome = Outcome::Unknown(Reason::Unsupported(Unsupported { reason, edge: None }));
    }
    Ok(within)
}

/// Returns the limit that an execution to an error exceeds.
fn exceeded<'s>(answer: &Answer, subject: Subject<'s>) -> Option<(EdgeId, &'s str)> {
    let Outcome::Unsafe(found) = &answer.outcome else { return None };
    let Violation::Assert { edge, .. } = &found.replay.violation else { return None };
    subject.map.limits.get(edge).map(|what| (*edge, what.as_str()))
}

/// Returns the program in which executions end where they exceed limits. Its edges have the same numbers.
fn within_limits(subject: Subject<'_>) -> Program {
    let mut program = subject.program.clone();
    for edge in subject.map.limits.keys() {
        program.edges[*edge].op = Op::assume(Expr::FALSE);
    }
    program
}
