//! `selvedge crosscheck`: what all engines and other tools say about a program.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_check::{Outcome, OwnedTask, Reason, Run, Task};
use selvedge_driver::external::{Code, ExternalFailure, ExternalVerdict, Spacer, Spin};
use selvedge_driver::{Failure, Options};
use selvedge_engines::EngineKind;
use selvedge_export::{horn, promela};
use selvedge_report::Context;
use selvedge_report::text::{self, Row};

use super::part;
use super::program::{self, FileQuestion, Program, Warnings};
use crate::args::CrosscheckArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::memory;
use crate::session::Session;
use crate::supervise::{NoResult, supervised};

pub(crate) fn run(args: &CrosscheckArgs, session: &Arc<Session>) -> Exit {
    if let Err(message) = program::check_stdin(&args.inputs) {
        return session.refuse(Exit::Usage, message);
    }
    let others = Others { spacer: Spacer::find(), spin: Spin::find() };
    if others.spacer.is_none() {
        session.printer.err("note: `z3` was not found, so Spacer is not run\n");
    }
    if others.spin.is_none() {
        session.printer.err("note: `spin` or a C compiler was not found, so SPIN is not run\n");
    }
    let mut exits = Vec::new();
    for (number, input) in args.inputs.iter().enumerate() {
        if number > 0 {
            session.printer.out("\n");
        }
        exits.push(one(input, args, &others, session).unwrap_or_else(|exit| exit));
        if session.cancel.is_cancelled() {
            exits.push(Exit::Interrupted);
            break;
        }
    }
    let exit = Exit::worst(exits);
    session.printer.out(&format!("{}\n", last_line(exit)));
    exit
}

fn last_line(exit: Exit) -> &'static str {
    match exit {
        Exit::Success => "VERIFICATION SUCCESSFUL",
        Exit::Unsafe => "VERIFICATION FAILED",
        Exit::Internal => "VERIFICATION UNKNOWN (the tools disagree)",
        Exit::Interrupted => "VERIFICATION UNKNOWN (interrupted)",
        Exit::Usage | Exit::Input => "VERIFICATION UNKNOWN (errors in the input)",
        Exit::MemoryLimit | Exit::TimeLimit | Exit::Unknown => "VERIFICATION UNKNOWN (no tool decided)",
    }
}

/// Other tools that were found.
struct Others {
    spacer: Option<Spacer>,
    spin: Option<Spin>,
}

/// Runs all tools on one program.
fn one(input: &Input, args: &CrosscheckArgs, others: &Others, session: &Arc<Session>) -> Result<Exit, Exit> {
    let (subject, posed) = read(input, args, session)?;
    let subject = Arc::new(subject);
    let (context, task) = (subject.context(&posed.program), posed.task());
    let mut opinions = Vec::new();
    for kind in EngineKind::ALL {
        opinions.push(engine(*kind, &subject, args, session));
    }
    opinions.extend(others.spacer.as_ref().map(|spacer| ask_spacer(spacer, context, &task, args, session)));
    opinions.extend(others.spin.as_ref().map(|spin| ask_spin(spin, context, &task, args, session)));
    let shown: Vec<Row> = opinions.iter().map(|(opinion, _)| opinion.clone()).collect();
    session.printer.out(&text::crosscheck(&subject.source.name, &shown, &session.printer.out_palette()));
    let exit = agreement(&opinions.iter().map(|(_, exit)| *exit).collect::<Vec<_>>());
    if exit == Exit::Internal {
        session.printer.error(&format!("the tools disagree about {}: please report this", subject.source.name));
    }
    Ok(exit)
}

/// Reads a program and poses the question, within the limits of a tool.
fn read(input: &Input, args: &CrosscheckArgs, session: &Arc<Session>) -> Result<(Program, OwnedTask), Exit> {
    let watch = session.watch(args.limits(), Instant::now());
    let (input, question, inner) = (input.clone(), args.question.clone(), Arc::clone(session));
    let read = move || program::pose(&input, &question, FileQuestion::Counts, Warnings::Hidden, &inner);
    part(session, &watch, read)
}

/// The verdict of those who have one, if it is the same.
fn agreement(exits: &[Exit]) -> Exit {
    let says = |exit: Exit| exits.contains(&exit);
    match (says(Exit::Internal), says(Exit::Success), says(Exit::Unsafe)) {
        (true, _, _) | (_, true, true) => Exit::Internal,
        (false, true, false) => Exit::Success,
        (false, false, true) => Exit::Unsafe,
        (false, false, false) => Exit::Unknown,
    }
}

/// Returns the conditions of one tool.
fn conditions(args: &CrosscheckArgs, session: &Session) -> Run<'static> {
    session.run_within(args.limits())
}

/// Returns what an engine says, judged.
fn engine(kind: EngineKind, subject: &Arc<Program>, args: &CrosscheckArgs, session: &Session) -> (Row, Exit) {
    let options = Options { question: subject.question.question(), engine: Some(kind.row()), ..Options::default() };
    let run = conditions(args, session);
    let start = Instant::now();
    let subject = Arc::clone(subject);
    let work = move || selvedge_driver::check(subject.subject(), &options, &run);
    let answer = supervised(&session.watch(args.limits(), start), || true, work);
    memory::trim();
    let time = Some(start.elapsed());
    let says = |verdict: &str, time, remark, exit| opinion(kind.name(), verdict, time, remark, exit);
    match answer {
        Ok(Ok(answer)) => {
            let remark = answer.outcome.reason().map_or(String::new(), ToString::to_string);
            match &answer.outcome {
                Outcome::Unknown(Reason::Unsupported(_)) => says("not run", None, remark, Exit::Unknown),
                Outcome::Unknown(_) => says(answer.word(), time, remark, Exit::Unknown),
                outcome => says(answer.word(), time, remark, Exit::from(outcome)),
            }
        }
        Ok(Err(Failure::Internal { message, .. } | Failure::Panicked { message, .. })) => {
            says("wrong", time, message, Exit::Internal)
        }
        Ok(Err(failure)) => says("not run", None, failure.to_string(), Exit::Unknown),
        Err(NoResult::Stopped(stop)) => says("unknown", time, stop.to_string(), Exit::Unknown),
        Err(NoResult::Panicked(panic)) => says("wrong", time, panic.message, Exit::Internal),
    }
}

/// Returns what Spacer says about the Horn clauses of the program.
fn ask_spacer(
    spacer: &Spacer,
    context: Context<'_>,
    task: &Task<'_>,
    args: &CrosscheckArgs,
    session: &Session,
) -> (Row, Exit) {
    let clauses = match horn::render(context, task.target) {
        Ok(clauses) => clauses,
        Err(reason) => return opinion("z3 spacer", "not run", None, reason, Exit::Unknown),
    };
    let start = Instant::now();
    let answer = spacer.decide(&clauses, &conditions(args, session));
    external("z3 spacer", start.elapsed(), answer)
}

/// Returns what SPIN says about the model of the program. The time is that of the compiler, too.
fn ask_spin(
    spin: &Spin,
    context: Context<'_>,
    task: &Task<'_>,
    args: &CrosscheckArgs,
    session: &Session,
) -> (Row, Exit) {
    let model = match promela::render(context, task) {
        Ok(model) => model,
        Err(reason) => return opinion("spin", "not run", None, reason, Exit::Unknown),
    };
    let folder = std::env::temp_dir().join(format!("selvedge-crosscheck-{}", std::process::id()));
    let megabytes = args.memory_limit.map_or(4_000, |bytes| (bytes / 1_000_000).max(1));
    let start = Instant::now();
    let run = conditions(args, session);
    let answer = spin.decide(&model, &folder, Code::Quick, megabytes, &run);
    let time = start.elapsed();
    // What is left in the folder for temporary files does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    external("spin", time, answer.map(|search| search.word))
}

fn external(tool: &str, time: Duration, answer: Result<ExternalVerdict, ExternalFailure>) -> (Row, Exit) {
    let says = |verdict: &str, time, remark, exit| opinion(tool, verdict, time, remark, exit);
    match answer {
        Ok(ExternalVerdict::Safe) => says("safe (uncertified)", Some(time), String::new(), Exit::Success),
        Ok(ExternalVerdict::Unsafe) => says("unsafe", Some(time), "no trace".to_string(), Exit::Unsafe),
        Ok(ExternalVerdict::Other(line)) => says("unknown", Some(time), line, Exit::Unknown),
        Err(ExternalFailure::Stop(stop)) => says("unknown", Some(time), stop.to_string(), Exit::Unknown),
        Err(ExternalFailure::Failed(error)) => says("not run", None, error.to_string(), Exit::Unknown),
    }
}

fn opinion(tool: &str, verdict: &str, time: Option<Duration>, remark: String, exit: Exit) -> (Row, Exit) {
    let remark = remark.lines().next().unwrap_or_default().to_string();
    let opinion = Row { name: tool.to_string(), verdict: verdict.to_string(), tone: exit.tone(), time, remark };
    (opinion, exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_verdicts_that_differ_are_an_internal_error() {
        assert_eq!(agreement(&[Exit::Success, Exit::Unknown, Exit::Unsafe]), Exit::Internal);
        assert_eq!(agreement(&[Exit::Success, Exit::Unknown, Exit::Success]), Exit::Success);
        assert_eq!(agreement(&[Exit::Unknown, Exit::Unsafe]), Exit::Unsafe);
        assert_eq!(agreement(&[Exit::Unsafe, Exit::Internal]), Exit::Internal);
        assert_eq!(agreement(&[]), Exit::Unknown);
    }
}
