//! `selvedge verify` for pushdown systems.

use std::time::Instant;

use selvedge_ir::pds::Pds;
use selvedge_replay::certificate::{Refused, Unjudged, verify_system};
use selvedge_report::Source;
use selvedge_report::json::{SystemCertificateFile, read_system_certificate};
use selvedge_report::names::count;
use selvedge_report::systems::{asked, proof_text};

use super::program::{self, Warnings};
use super::system;
use super::verify::stopped;
use crate::args::VerifyArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(super) fn examine(args: &VerifyArgs, certificate: &Source, session: &Session) -> Result<Exit, Exit> {
    let file = read_system_certificate(certificate.text())
        .map_err(|error| program::not_readable(certificate, &error, session))?;
    let warnings = if args.quiet { Warnings::Hidden } else { Warnings::Shown };
    let (source, pds) = system::load_or_refuse(&args.program, warnings, session)?;
    let pds = system::with_target(pds, args.target.as_deref()).map_err(|error| program::refuse(&error, session))?;
    same_targets(&pds, &file, args, certificate, session)?;
    let reject = |message: String| {
        let message = format!("{}: {message}", certificate.name);
        program::reject(&message, "certificate", &file.system.digest, &source, session)
    };
    let proof = file.proof(&pds).map_err(|error| reject(error.to_string()))?;
    let start = Instant::now();
    match verify_system(&pds, &proof, &session.run()) {
        Ok(()) => {}
        Err(Refused::Unjudged(Unjudged::Stopped(stop))) => return Ok(stopped(stop, session)),
        Err(Refused::Unjudged(unjudged)) => return Err(reject(unjudged.to_string())),
        Err(Refused::Flawed(flaw)) => return Err(reject(format!("the certificate is flawed: {}", flaw.show(&pds)))),
    }
    let asked = format!("  question:    {}\n", asked(&file.targets));
    if args.quiet {
        session.printer.out(&asked);
    } else {
        session.printer.out(&format!(
            "{}: the certificate is accepted\n{asked}  certificate: {}\n  checked:     the start, {}, {} in {:.3} s\n",
            source.name,
            proof_text(&proof),
            count(pds.rules.len(), "rule"),
            count(pds.targets.len(), "target"),
            start.elapsed().as_secs_f64(),
        ));
    }
    session.printer.out("VERIFICATION SUCCESSFUL\n");
    Ok(Exit::Success)
}

/// Refuses a certificate about other targets than those that the user asks for.
fn same_targets(
    pds: &Pds,
    file: &SystemCertificateFile,
    args: &VerifyArgs,
    certificate: &Source,
    session: &Session,
) -> Result<(), Exit> {
    let asked: Vec<String> = pds.targets.iter().map(|head| pds.show_head(*head)).collect();
    if asked.is_empty() {
        return Err(session.refuse(Exit::Usage, "the system names no target: add --target HEAD"));
    }
    if asked == file.targets {
        return Ok(());
    }
    let help = match file.targets.as_slice() {
        _ if args.target.is_some() => format!("ask for {}", shown(&file.targets)),
        [target] => format!("add --target '{}'", target.escape_debug()),
        _ => format!("declare {} in the system", shown(&file.targets)),
    };
    Err(program::other_question([shown(&asked), shown(&file.targets)], &help, "certificate", certificate, session))
}

/// The targets, if they are few.
fn shown(targets: &[String]) -> String {
    asked(&targets.iter().map(|target| target.escape_debug().to_string()).collect::<Vec<_>>())
}
