//! Evidence in files. The judge ends in time, whatever a certificate says; no certificate is accepted for an unsafe
//! program, and no trace replays on a safe one. What can be read is written and read back as the same.

use std::time::{Duration, Instant};

use selvedge_check::{CancelToken, Certificate, Counterexample, Limits, Run, Task};
use selvedge_frontend::Source;
use selvedge_ir::Trace;
use selvedge_replay::certificate::{verify, verify_system};
use selvedge_replay::replay;
use selvedge_report::json::{
    CertificateFile, QuestionView, SystemCertificateFile, TraceFile, read_certificate, read_saved,
    read_system_certificate,
};
use selvedge_report::session::Session;

use super::programs::{PROGRAMS, SYSTEMS, Subjected};
use crate::harness::{Fault, fault};

/// The time that the judge is given, and the time after which it must have ended.
const PATIENCE: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];

fn source(bytes: &[u8]) -> Source {
    Source::from_bytes("evidence.json", bytes.to_vec())
}

/// Lets the judge work for a while.
fn in_time<T>(judge: impl FnOnce(&Run<'_>) -> T) -> Result<T, Fault> {
    let limits = Limits { time: Some(PATIENCE[0]), ..Limits::default() };
    let start = Instant::now();
    let judged = judge(&Run::new(CancelToken::default(), limits, &()));
    if start.elapsed() > PATIENCE[1] {
        return fault("time", format!("the judge took {:?}", start.elapsed()));
    }
    Ok(judged)
}

/// Certificates of programs.
pub fn certificate(bytes: &[u8]) -> Result<(), Fault> {
    let Ok(file) = read_certificate(source(bytes).text()) else { return Ok(()) };
    for subject in PROGRAMS.iter() {
        if let Ok(certificate) = file.certificate(&subject.posed.asked) {
            check_written(subject, &file, &certificate)?;
            check_certificate(subject, &subject.posed.task(), &certificate)?;
        }
    }
    Ok(())
}

fn check_certificate(subject: &Subjected, task: &Task<'_>, certificate: &Certificate) -> Result<(), Fault> {
    let judged = in_time(|run| verify(task, certificate, run))?;
    if judged.is_ok() && !subject.is_safe {
        return fault("unsafe", format!("{} is unsafe, but this is accepted: {certificate:?}", subject.file));
    }
    Ok(())
}

/// Checks that a certificate is written and read back as the same.
fn check_written(subject: &Subjected, file: &CertificateFile, certificate: &Certificate) -> Result<(), Fault> {
    let written = CertificateFile::new(subject.context(), file.question.clone(), certificate).text();
    let again = read_certificate(&written).and_then(|file| file.certificate(&subject.posed.asked));
    match again {
        Ok(again) if again == *certificate => Ok(()),
        Ok(_) => fault("written", format!("the certificate is written as another one: {written}")),
        Err(error) => fault("written", format!("{error}: {written}")),
    }
}

/// Certificates of pushdown systems.
pub fn system_certificate(bytes: &[u8]) -> Result<(), Fault> {
    let Ok(file) = read_system_certificate(source(bytes).text()) else { return Ok(()) };
    for (number, (source, pds)) in SYSTEMS.iter().enumerate() {
        let Ok(proof) = file.proof(pds) else { continue };
        if in_time(|run| verify_system(pds, &proof, run))?.is_ok() && number == 1 {
            return fault("unsafe", format!("the system is unsafe, but this is accepted: {proof:?}"));
        }
        let written = SystemCertificateFile::new(source, pds, &proof).text();
        if read_system_certificate(&written).and_then(|file| file.proof(pds)) != Ok(proof) {
            return fault("written", format!("the certificate is written as another one: {written}"));
        }
    }
    Ok(())
}

/// Traces, alone or in a report.
pub fn trace(bytes: &[u8]) -> Result<(), Fault> {
    let Ok(file) = read_saved(source(bytes).text()) else { return Ok(()) };
    for subject in PROGRAMS.iter() {
        if let Ok(trace) = file.trace(&subject.posed.asked) {
            check_trace(subject, &file.question, trace)?;
        }
    }
    Ok(())
}

/// Replays a trace; if it can be executed, walks through it and writes it.
fn check_trace(subject: &Subjected, question: &QuestionView, trace: Trace) -> Result<(), Fault> {
    let task = subject.posed.task();
    let Ok(replayed) = in_time(|_| replay(&task, &trace))? else { return Ok(()) };
    if subject.is_safe {
        return fault("safe", format!("{} is safe, but this trace replays: {trace:?}", subject.file));
    }
    let counterexample = Counterexample::new(trace, replayed);
    let session = Session::of(subject.context(), &task, &counterexample);
    if session.len() < counterexample.trace.steps.len() || session.ending().is_none() {
        return fault("session", "the walk is shorter than the trace, or does not end in its error");
    }
    let written = TraceFile::new(subject.context(), question.clone(), &counterexample);
    if written.trace(&subject.posed.asked).as_ref() != Ok(&counterexample.trace) {
        return fault("written", format!("the trace is written as another one: {:?}", counterexample.trace));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::fuzz_targets::seeds::{seeds, trace_of};

    fn seeds_of(target: &str) -> Vec<String> {
        let seeds = seeds(target).expect("the seeds are readable");
        seeds.into_iter().map(|seed| String::from_utf8(seed).expect("evidence is text")).collect()
    }

    /// Returns whether the judge accepts a certificate for a safe program, and whether it does for an unsafe one.
    fn accepted(file: &CertificateFile) -> [bool; 2] {
        [true, false].map(|is_safe| {
            PROGRAMS.iter().filter(|subject| subject.is_safe == is_safe).any(|subject| {
                let certificate = file.certificate(&subject.posed.asked);
                certificate.is_ok_and(|found| verify(&subject.posed.task(), &found, &Run::unlimited()).is_ok())
            })
        })
    }

    #[test]
    fn certificates_of_several_kinds_are_accepted_for_the_safe_programs_only() {
        let mut kinds = BTreeSet::new();
        for seed in seeds_of("certificate") {
            let kind =
                serde_json::from_str::<serde_json::Value>(&seed).expect("it is JSON")["proof"]["kind"].to_string();
            if kind == "\"integers\"" {
                continue;
            }
            let file = read_certificate(&seed).expect("it is a certificate");
            assert_eq!(accepted(&file), [true, false], "{seed}");
            kinds.insert(kind);
        }
        assert!(kinds.len() >= 6, "{kinds:?}");
        assert!(seeds_of("system_certificate").iter().all(|seed| {
            let proof = read_system_certificate(seed).and_then(|file| file.proof(&SYSTEMS[0].1));
            proof.is_ok_and(|proof| verify_system(&SYSTEMS[0].1, &proof, &Run::unlimited()).is_ok())
        }));
    }

    #[test]
    fn every_unsafe_boolean_program_has_a_trace_that_replays() {
        for subject in PROGRAMS.iter().filter(|subject| !subject.is_safe && subject.file.ends_with(".bp")) {
            let trace = trace_of(subject).unwrap_or_else(|| panic!("{} has no trace", subject.file));
            let trace = read_saved(&trace).and_then(|file| file.trace(&subject.posed.asked));
            assert!(trace.is_ok_and(|trace| replay(&subject.posed.task(), &trace).is_ok()), "{}", subject.file);
        }
    }
}
