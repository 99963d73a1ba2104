//! Evidence that was saved, and the judge's opinion of it.

use selvedge_check::{OwnedTask, Run};
use selvedge_replay::certificate::{self, Accepted, Refused};
use selvedge_report::json::{CertificateFile, QuestionView, TraceFile, digest, read_certificate};
use selvedge_report::text::certificate_text;

use crate::limits::Listening;
use crate::posed::{Posed, deep};
use crate::{Error, Limits, Program, Question};

/// A certificate of safety.
#[derive(Clone, Debug)]
pub struct Certificate {
    file: CertificateFile,
    kind: Option<String>,
}

/// What an accepted certificate rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified {
    /// The judge alone, or with two SMT solvers of different families.
    Certified,
    /// The judge, and the answers of this SMT solver, which no other one confirms.
    ByOneSolver(&'static str),
}

/// A trace or a certificate in the form in which it is saved.
#[derive(Clone, Debug)]
pub(crate) enum SavedEvidence {
    Trace(TraceFile),
    Certificate(CertificateFile),
}

impl SavedEvidence {
    fn question(&self) -> &QuestionView {
        match self {
            SavedEvidence::Trace(file) => &file.question,
            SavedEvidence::Certificate(file) => &file.question,
        }
    }

    fn digest(&self) -> &str {
        match self {
            SavedEvidence::Trace(file) => &file.program.digest,
            SavedEvidence::Certificate(file) => &file.program.digest,
        }
    }
}

impl Certificate {
    pub(crate) fn new(file: CertificateFile, certificate: &selvedge_check::Certificate) -> Certificate {
        Certificate { file, kind: Some(certificate_text(certificate)) }
    }

    /// Reads a certificate from JSON. Whether it proves anything, [`Certificate::verify`] says.
    pub fn from_json(text: &str) -> Result<Certificate, Error> {
        let file = read_certificate(text).map_err(|error| Error::Rejected(error.to_string()))?;
        Ok(Certificate { file, kind: None })
    }

    /// Returns the certificate in the format that `selvedge verify` reads.
    pub fn to_json(&self) -> String {
        self.file.text()
    }

    /// Describes what it claims; `None` for one that was read and not fitted to a program yet.
    pub fn description(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// Lets the judge check that the certificate proves the program safe, for a question. It must be the question that
    /// the certificate answers.
    pub fn verify(&self, program: &Program, question: &Question, limits: &Limits) -> Result<Verified, Error> {
        let conditions = limits.clone();
        judge(SavedEvidence::Certificate(self.file.clone()), program, question, limits, move |posed, file| {
            let SavedEvidence::Certificate(file) = file else { unreachable!("the evidence is a certificate") };
            let listening = Listening(&conditions);
            let run = conditions.run(&listening)?;
            accepted(&posed.task, &file, &run).map(|(_, verified)| verified)
        })
    }

    pub(crate) fn file(&self) -> &CertificateFile {
        &self.file
    }
}

/// Lets the judge check a certificate.
pub(crate) fn accepted(
    task: &OwnedTask,
    file: &CertificateFile,
    run: &Run<'_>,
) -> Result<(selvedge_check::Certificate, Verified), Error> {
    let certificate = file.certificate(&task.program).map_err(|error| Error::Rejected(error.to_string()))?;
    let verified = match certificate::verify(&task.task(), &certificate, run) {
        Ok(Accepted::Certified) => Verified::Certified,
        Ok(Accepted::ByOneSolver(solver)) => Verified::ByOneSolver(solver),
        Err(Refused::Unjudged(reason)) => return Err(Error::NotJudged(reason.to_string())),
        Err(Refused::Flawed(flaw)) => return Err(Error::Rejected(flaw.rejection())),
    };
    Ok((certificate, verified))
}

/// Reads a program for a question and judges evidence about it, which must answer the question.
pub(crate) fn judge<T: Send + 'static>(
    evidence: SavedEvidence,
    program: &Program,
    question: &Question,
    limits: &Limits,
    decide: impl FnOnce(&Posed, SavedEvidence) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (program, asked, limits) = (program.clone(), question.view()?, limits.clone());
    deep(move || {
        let run = limits.run(&())?;
        let posed = Posed::new(&program, &asked)?;
        run.check_limits().map_err(|stop| Error::NotJudged(stop.to_string()))?;
        if posed.read.question != *evidence.question() {
            let [asked, answered] = [&posed.read.question, evidence.question()].map(|view| match view.options() {
                options if options.is_empty() => "(no options)".to_string(),
                options => options,
            });
            let message = format!("the evidence answers another question: {answered} instead of {asked}");
            return Err(Error::Rejected(message));
        }
        let is_other = evidence.digest() != digest(posed.read.source.text());
        decide(&posed, evidence).map_err(|error| match error {
            Error::Rejected(message) if is_other => {
                Error::Rejected(format!("{message} (it was made from another text than that of the program)"))
            }
            error => error,
        })
    })
}
