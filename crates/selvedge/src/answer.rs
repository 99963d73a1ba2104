//! The answer to a question, with its evidence.

use std::sync::Arc;
use std::time::Duration;

use selvedge_check::{Outcome, Reason, Run, Stop, Times};
use selvedge_driver::{Ask, Certify, Failure, Minimize, Options};
use selvedge_engines::{EngineKind, EngineOptions};
use selvedge_report::exit::Exit;
use selvedge_report::json::{self, CertificateFile, Head, TraceFile};
use selvedge_report::text::{self, Detail, Style, WIDTH};
use selvedge_report::{Context, Palette, Reading, html};

use crate::evidence::{SavedEvidence, accepted};
use crate::limits::Listening;
use crate::posed::{Posed, bounded, deep, deep_within};
use crate::trace::replayed;
use crate::{Certificate, Error, Limits, Program, Question, Trace, Verified};

/// The answer to a question about a program.
#[derive(Clone)]
pub struct Answer {
    posed: Arc<Posed>,
    answer: Arc<selvedge_check::Answer>,
    program: Program,
    question: Question,
    trace: Option<Trace>,
    certificate: Option<Certificate>,
}

/// The verdict about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// No error can be reached.
    Safe,
    /// An error can be reached.
    Unsafe,
    /// Not decided; [`Answer::reason`] says why.
    Unknown,
}

/// The engine that an answer names if evidence of the previous answer was accepted again.
const REUSED: &str = "evidence of the previous answer";

pub(crate) fn check(
    program: &Program,
    question: &Question,
    limits: &Limits,
    before: Option<SavedEvidence>,
) -> Result<Answer, Error> {
    let (asked, engine) = (question.view()?, limits.named_engine()?);
    let watch = limits.run(&())?;
    let unread = program.clone();
    let posed = Arc::new(deep(move || Posed::new(&unread, &asked))?);
    let (conditions, shared) = (limits.clone(), Arc::clone(&posed));
    let decided = deep_within(&watch, move || {
        let listening = Listening(&conditions);
        let run = conditions.run(&listening)?;
        match before.and_then(|evidence| reuse(&shared, evidence, &run)) {
            Some(answer) => Ok(answer),
            None => search(&shared, engine, &conditions, &run),
        }
    })?;
    let mut answer = decided.unwrap_or_else(|stop| {
        let times = Times { engine: watch.elapsed(), ..Times::default() };
        selvedge_check::Answer::new(posed.task.clone(), Outcome::Unknown(Reason::Stop(stop)), "", times)
    });
    // Where there is one thread, diagrams that give up because the time is over say that they are full.
    if let (Outcome::Unknown(Reason::Stop(Stop::NodeLimit(_))), Err(stop)) = (&answer.outcome, watch.check_limits()) {
        answer.outcome = Outcome::Unknown(Reason::Stop(stop));
    }
    Ok(Answer::new(posed, answer, program.clone(), question.clone()))
}

/// Lets engines search for the answer.
fn search(
    posed: &Posed,
    engine: Option<EngineKind>,
    limits: &Limits,
    run: &Run<'_>,
) -> Result<selvedge_check::Answer, Error> {
    let options = Options {
        question: bounded(&posed.read),
        ask: Ask::Any,
        engine: engine.map(EngineKind::row),
        jobs: limits.parallel(),
        engine_options: EngineOptions::default(),
        certify: Certify::Anybody,
        minimize: Minimize::Yes,
        ..Options::default()
    };
    selvedge_driver::check(posed.read.subject(), &options, run).or_else(|failure| no_engine(posed, failure))
}

/// Returns the answer that follows from the evidence of another one, if the judge accepts it for this question.
fn reuse(posed: &Posed, evidence: SavedEvidence, run: &Run<'_>) -> Option<selvedge_check::Answer> {
    let start = std::time::Instant::now();
    let outcome = match evidence {
        SavedEvidence::Trace(file) => replayed(&posed.task, &file).map(|found| Outcome::Unsafe(Box::new(found))),
        SavedEvidence::Certificate(file) => match accepted(&posed.task, &file, run) {
            Ok((certificate, Verified::Certified)) => Ok(Outcome::Safe(Some(certificate))),
            Ok((_, Verified::ByOneSolver(_))) => Err(Error::NoEvidence),
            Err(error) => Err(error),
        },
    };
    let times = Times { judge: start.elapsed(), ..Times::default() };
    // Evidence that does not fit any more is what a search is for.
    outcome.ok().map(|outcome| selvedge_check::Answer::new(posed.task.clone(), outcome, REUSED, times))
}

/// Returns the answer that no engine supports the program; other failures have none.
fn no_engine(posed: &Posed, failure: Failure) -> Result<selvedge_check::Answer, Error> {
    match failure {
        Failure::Unsupported(unsupported) => {
            let outcome = Outcome::Unknown(Reason::Unsupported(unsupported));
            Ok(selvedge_check::Answer::new(posed.task.clone(), outcome, "", Times::default()))
        }
        Failure::Usage(invalid) => Err(invalid.into()),
        failure => Err(Error::Internal(failure.to_string())),
    }
}

impl Answer {
    fn new(posed: Arc<Posed>, answer: selvedge_check::Answer, program: Program, question: Question) -> Answer {
        let context = posed.read.context(&answer.model.program);
        let asked = &posed.read.question;
        let (trace, certificate) = match &answer.outcome {
            Outcome::Unsafe(found) => {
                (Some(Trace::new(context, TraceFile::new(context, asked.clone(), found), found)), None)
            }
            Outcome::Safe(Some(proof)) => {
                let file = CertificateFile::new(context, asked.clone(), proof);
                (None, Some(Certificate::new(file, proof)))
            }
            Outcome::Safe(None) | Outcome::Unknown(_) => (None, None),
        };
        Answer { posed, answer: Arc::new(answer), program, question, trace, certificate }
    }

    /// Returns the verdict.
    pub fn verdict(&self) -> Verdict {
        match &self.answer.outcome {
            Outcome::Safe(_) => Verdict::Safe,
            Outcome::Unsafe(_) => Verdict::Unsafe,
            Outcome::Unknown(_) => Verdict::Unknown,
        }
    }

    /// Returns the verdict for people; a safe one without a certificate says so.
    pub fn headline(&self) -> &str {
        self.answer.word()
    }

    /// Returns why the question is not decided, if it is not.
    pub fn reason(&self) -> Option<String> {
        self.answer.outcome.reason().map(ToString::to_string)
    }

    /// Returns whether a safe answer has a certificate that the judge accepted.
    pub fn is_certified(&self) -> bool {
        self.answer.certified() == Some(true)
    }

    /// Returns the execution to the error of an unsafe answer.
    pub fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }

    /// Returns the certificate of a safe answer, if the engine gave one.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// Returns the name of the engine that answered.
    pub fn engine(&self) -> &str {
        self.answer.engine
    }

    /// Returns the time that was spent, with that to read the program.
    pub fn time(&self) -> Duration {
        self.posed.read.time + self.answer.times.total()
    }

    /// Judges the evidence once more, as if it came from a stranger: it is written, read back, and judged on the
    /// program, which is read anew.
    ///
    /// ```
    /// use selvedge::{Error, Limits, Program, Question, check};
    ///
    /// let program: Program = "void main() begin decl x; x := 1; assert(x); end".parse()?;
    /// check(&program, &Question::new(), &Limits::default())?.verify(&Limits::default())?;
    /// # Ok::<(), Error>(())
    /// ```
    pub fn verify(&self, limits: &Limits) -> Result<Verified, Error> {
        match (&self.trace, &self.certificate) {
            (Some(trace), _) => trace.verify(&self.program, &self.question, limits).map(|()| Verified::Certified),
            (None, Some(certificate)) => {
                Certificate::from_json(&certificate.to_json())?.verify(&self.program, &self.question, limits)
            }
            (None, None) => Err(Error::NoEvidence),
        }
    }

    /// Returns a report in the format of `selvedge check --format json`.
    pub fn to_json(&self) -> String {
        let (answer, read) = (&self.answer, &self.posed.read);
        let exit = Exit::from(&answer.outcome);
        let reason = self.reason();
        let head = Head {
            verdict: answer.outcome.name(),
            headline: answer.word(),
            exit,
            line: &answer.outcome.line(),
            reason: reason.as_deref(),
        };
        let mut result = json::result(&read.source, &read.warnings, head);
        result["answer"] = json::answer(self.context(), &read.question, answer, self.reading());
        json::to_text(&json::report(exit.code(), &[result]))
    }

    /// Returns a page that shows the program and the answer, and lets one step through an execution. It needs no
    /// network.
    pub fn to_html(&self) -> String {
        html::report(self.context(), &self.answer, self.reading())
    }

    /// Returns the answer as the command line prints it.
    pub fn to_text(&self) -> String {
        let style = Style { palette: Palette::plain(), detail: Detail::Changes, width: WIDTH };
        let block = text::report(self.context(), &self.answer, self.reading(), style);
        format!("{block}{}\n", self.answer.outcome.line())
    }

    pub(crate) fn evidence(&self) -> Option<SavedEvidence> {
        let trace = self.trace.as_ref().map(|trace| SavedEvidence::Trace(trace.file().clone()));
        let certificate = self.certificate.as_ref();
        trace.or_else(|| certificate.map(|certificate| SavedEvidence::Certificate(certificate.file().clone())))
    }

    fn context(&self) -> Context<'_> {
        self.posed.read.context(&self.answer.model.program)
    }

    fn reading(&self) -> Reading<'_> {
        let read = &self.posed.read;
        Reading { time: read.time, file_options: &read.file_options, ..Reading::default() }
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer")
            .field("headline", &self.headline())
            .field("engine", &self.engine())
            .finish_non_exhaustive()
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
        })
    }
}
