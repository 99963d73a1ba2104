//! `selvedge verify`: checks a certificate of safety on a program or a pushdown system.

use std::time::Instant;

use selvedge_check::{Certificate, Seen, Stop, Task};
use selvedge_ir::span::Span;
use selvedge_ir::{EdgeId, LocId};
use selvedge_replay::certificate::{Accepted, Flaw, Refused, Unjudged, verify};
use selvedge_report::Source;
use selvedge_report::json::{CertificateFile, read_certificate};
use selvedge_report::names::count;
use selvedge_report::text;

use super::language::language_of;
use super::program::{self, FileQuestion, Program, Warnings};
use super::system::is_system;
use super::verify_system;
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &VerifyArgs, session: &Session) -> Result<Exit, Exit> {
    program::check_stdin([&args.certificate, &args.program]).map_err(|message| session.refuse(Exit::Usage, message))?;
    let is_system = is_system(&args.program, args.input_format);
    if is_system && !args.question.is_empty() {
        return Err(session
            .refuse(Exit::Usage, "the options for programs do not apply to pushdown systems, which have --target"));
    }
    if !is_system && args.target.is_some() {
        return Err(session.refuse(Exit::Usage, "--target is for pushdown systems (.pds)"));
    }
    let source = program::read_data(&args.certificate, session)?;
    if is_system {
        return verify_system::examine(args, &source, session);
    }
    let file = read_certificate(source.text()).map_err(|error| program::not_readable(&source, &error, session))?;
    let warnings = if args.quiet { Warnings::Hidden } else { Warnings::Shown };
    let language = language_of(&args.program, args.input_format);
    let asked = args.question.view();
    let subject = program::load_as(language, &args.program, &asked, FileQuestion::Counts, warnings, session)?;
    program::same_question(&subject.question, &file.question, "certificate", &source, session)?;
    judge(&file, &source, &subject, args, session)
}

fn judge(
    file: &CertificateFile,
    source: &Source,
    subject: &Program,
    args: &VerifyArgs,
    session: &Session,
) -> Result<Exit, Exit> {
    let posed = subject.pose(session)?;
    let task = posed.task();
    let reject = |message: String| {
        let message = format!("{}: {message}", source.name);
        program::reject(&message, "certificate", &file.program.digest, &subject.source, session)
    };
    let certificate = file.certificate(task.program).map_err(|error| reject(error.to_string()))?;
    let start = Instant::now();
    let judge = match verify(&task, &certificate, &session.run()) {
        Ok(Accepted::Certified) => None,
        Ok(Accepted::ByOneSolver(solver)) => Some(format!("checked by {solver} alone")),
        Err(Refused::Unjudged(Unjudged::Stopped(stop))) => return Ok(stopped(stop, session)),
        Err(Refused::Unjudged(unjudged)) => return Err(reject(unjudged.to_string())),
        Err(Refused::Flawed(flaw)) => {
            return Err(reject(format!("{}{}", flaw.rejection(), place(subject, &flaw))));
        }
    };
    let time = format!("{:.3} s", start.elapsed().as_secs_f64());
    session.printer.out(&match args.quiet {
        true => subject.asked(&task),
        false => told(subject, &task, &certificate, &time, judge.as_deref()),
    });
    let judge = judge.map(|judge| format!(" ({judge})")).unwrap_or_default();
    session.printer.out(&format!("VERIFICATION SUCCESSFUL{judge}\n"));
    Ok(Exit::Success)
}

pub(super) fn stopped(stop: Stop, session: &Session) -> Exit {
    session.printer.out(&format!("VERIFICATION UNKNOWN ({stop})\n"));
    stop.into()
}

/// The place in the program that a flaw speaks of.
fn place(subject: &Program, flaw: &Flaw) -> String {
    let edge = |edge: EdgeId| Some(subject.map.edges[edge].span);
    let loc = |loc: LocId| {
        let leaving = subject.program.edges.iter_enumerated().find(|(_, edge)| edge.from == loc);
        leaving.map(|(id, _)| subject.map.edges[id].span)
    };
    let span = match flaw {
        Flaw::Start(at) | Flaw::Location(at) | Flaw::Deadlock(at) => loc(*at),
        Flaw::NotClosed(at) | Flaw::Entry(at) | Flaw::Summary(at) | Flaw::Assert(at) => edge(*at),
        _ => None,
    };
    let text = |span: Span| {
        let line = subject.source.line(span.start as usize);
        format!(" (line {line}, `{}`)", subject.source.flat(span))
    };
    span.map_or(String::new(), text)
}

/// Describes what was checked, and what it means.
fn told(subject: &Program, task: &Task<'_>, certificate: &Certificate, time: &str, judge: Option<&str>) -> String {
    let hint = judge.map(|_| format!("  hint:        {}\n", text::SECOND_SOLVER)).unwrap_or_default();
    format!(
        "{}: the certificate is accepted{}\n{}  certificate: {}\n  checked:     {} in {time}\n{hint}",
        subject.source.name,
        judge.map(|judge| format!(" ({judge})")).unwrap_or_default(),
        subject.asked(task),
        text::certificate_text(certificate),
        obligations(task, certificate),
    )
}

/// Describes how much was checked.
fn obligations(task: &Task<'_>, certificate: &Certificate) -> String {
    let reached = |loc: LocId| !certificate.excludes(loc);
    if let Certificate::AllStates = certificate {
        return "all starts, and all steps of all states".to_string();
    }
    if let Certificate::Unwound(steps) = certificate {
        return format!("executions with up to {steps} visible steps of each thread");
    }
    if let Certificate::Induction { k, .. } = certificate {
        return format!(
            "no error within {} of the start, and none after {}",
            count(*k as usize, "step"),
            count(*k as usize + 1, "state")
        );
    }
    if let Certificate::Shapes(proof) = certificate {
        let threads: usize = proof.shapes.iter().map(|shape| shape.threads.len()).sum();
        return match proof.seen {
            Seen::Reached => "the start, and all steps of all states between places".to_string(),
            Seen::All => format!(
                "the start, and the steps of {} in {}",
                count(threads, "thread"),
                count(proof.shapes.len(), "shape")
            ),
            Seen::Any(_) => format!(
                "the start, the steps of the threads of {}, and those of one more thread",
                count(proof.shapes.len(), "view")
            ),
        };
    }
    if let Certificate::Cover(proof) = certificate {
        return format!(
            "the start, and the steps of {} with {}",
            count(proof.locals.len(), "thread state"),
            count(proof.shareds.len(), "shared state")
        );
    }
    let edges = task.program.edges.iter().filter(|edge| reached(edge.from)).count();
    let asserts = task.target.asserts.iter().filter(|edge| reached(task.program.edges[**edge].from)).count();
    let locs = task.program.locs.indices().filter(|loc| reached(*loc)).count();
    format!(
        "the start, {} of {} locations, the {} that leave them, {} of {} that can be reached",
        locs,
        task.program.locs.len(),
        count(edges, "edge"),
        asserts,
        count(task.target.asserts.len(), "assertion"),
    )
}
