//! `selvedge verify` for pushdown systems.

use std::time::Instant;

use selvedge_frontend::pds::read_head;
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
    session.listen_for_interrupts();
    let reject = |message: String| {
        let message = format!("{}: {message}", certificate.name);
        program::reject(&message, "certificate", &file.system.digest, &source, session)
    };
    let pds = with_targets(pds, &file).map_err(&reject)?;
    let proof = file.proof(&pds).map_err(|error| reject(error.to_string()))?;
    let start = Instant::now();
    match verify_system(&pds, &proof, &session.run(args.time_limit, None)) {
        Ok(()) => {}
        Err(Refused::Unjudged(Unjudged::Stopped(stop))) => return Ok(stopped(stop, session)),
        Err(Refused::Unjudged(unjudged)) => return Err(reject(unjudged.to_string())),
        Err(Refused::Flawed(flaw)) => return Err(reject(format!("the certificate is flawed: {}", flaw.show(&pds)))),
    }
    if !args.quiet {
        session.printer.out(&format!(
            "{}: the certificate is accepted\n  asked:       {}\n  certificate: {}\n  checked:     the start, {}, {} \
             in {:.3} s\n",
            source.name,
            asked(&file.targets),
            proof_text(&proof),
            count(pds.rules.len(), "rule"),
            count(pds.targets.len(), "target"),
            start.elapsed().as_secs_f64(),
        ));
    }
    session.printer.out("VERIFICATION SUCCESSFUL\n");
    Ok(Exit::Success)
}

/// The system with the targets that the certificate speaks of.
fn with_targets(mut pds: Pds, file: &SystemCertificateFile) -> Result<Pds, String> {
    let heads =
        file.targets.iter().map(|text| read_head(text, &pds).map_err(|message| format!("target {text}: {message}")));
    pds.targets = heads.collect::<Result<_, _>>()?;
    if pds.targets.is_empty() { Err("the certificate names no target".to_string()) } else { Ok(pds) }
}
