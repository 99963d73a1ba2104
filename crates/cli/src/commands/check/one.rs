//! The check of one file: what it ends in, and what there is to say about it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_check::{Limits, Observer, Paths, RoundBound, Run, Stop};
use selvedge_driver::{
    self as driver, Certify, Each, Failure, Minimize, Options, Outcome, Reachable, Reason, Report, Subject,
    SystemOutcome, SystemReport, TurnsOutcome, TurnsReport, UsageError,
};
use selvedge_engines::EngineOptions;
use selvedge_engines::cegar::AbstractionListener;
use selvedge_engines::threads::{PartialOrder, Reductions};
use selvedge_frontend::Language;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_ir::span::SourceMap;
use selvedge_report::html;
use selvedge_report::json::{
    self, Answer, CertificateFile, EachView, QuestionView, ReachableView, ResultView, SystemCertificateFile, TraceFile,
};
use selvedge_report::sarif;
use selvedge_report::systems::turns::{self, TurnsView};
use selvedge_report::systems::{self, SystemView};
use selvedge_report::text::{self, Row, Style};
use selvedge_report::{Context, Source};

use super::system;
use crate::args::{CheckArgs, PartialOrderChoice, PathsChoice, QuestionArgs};
use crate::commands::abstraction;
use crate::commands::language::{self, language_of};
use crate::crash;
use crate::exit::Exit;
use crate::input::Input;
use crate::memory;
use crate::session::Session;

/// A file that was checked, or was meant to be.
pub(super) struct Checked {
    pub(super) source: Source,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) ending: Ending,
    map: SourceMap,
    load: Duration,
}

/// What the check of a file ends in.
pub(super) enum Ending {
    Answered(Box<Report>),
    /// Each assertion and error label on its own.
    Each(Box<Each>),
    /// Everything that can be reached.
    Reachable(Box<Reachable>),
    /// The answer about a pushdown system.
    System(Box<SystemReport>),
    /// The answer about several pushdown systems that take turns.
    Turns(Box<TurnsReport>),
    /// No engine takes it; a sentence says why.
    Unsupported(String),
    /// The file could not be read; a sentence says why.
    NotRead(String),
    /// The diagnostics say what is wrong.
    Erroneous,
    /// The question does not fit the program.
    Misasked(UsageError),
    /// Stopped before an engine was asked.
    Stopped(Stop),
    /// We are wrong.
    Internal(String),
}

/// Checks a file. The clock of its time limit started at `start`.
pub(super) fn check(
    input: &Input,
    args: &CheckArgs,
    session: &Session,
    start: Instant,
    observer: &dyn Observer,
) -> Checked {
    let limits = Limits { time: args.time_limit, memory: args.memory_limit, memory_in_use: Some(memory::in_use) };
    let run = Run::new(session.cancel.clone(), limits, observer).with_solvers(session.solvers.clone()).since(start);
    let reading = Instant::now();
    let language = language_of(input, args.input_format);
    let source = match (run.check_limits(), input) {
        (Err(stop), _) => return Checked::early(input, Ending::Stopped(stop)),
        (Ok(()), input) => match language::read(language, input, session) {
            Ok(source) => source,
            Err(message) => return Checked::early(input, Ending::NotRead(message)),
        },
    };
    session.listen_for_interrupts();
    match crash::guard(|| match language {
        Language::Pds => system::load_and_check(input, &source, args, &run, reading),
        Language::Bp | Language::Gcl | Language::Tts | Language::Spec => {
            load_and_check(language, &source, args, &run, reading)
        }
    }) {
        Ok((parts, ending)) => {
            Checked { source, diagnostics: parts.diagnostics, ending, map: parts.map, load: parts.load }
        }
        Err(message) => Checked { source, ..Checked::early(input, Ending::Internal(message)) },
    }
}

/// What reading gives beside the program.
pub(super) struct Parts {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) map: SourceMap,
    pub(super) load: Duration,
}

fn load_and_check(
    language: Language,
    source: &Source,
    args: &CheckArgs,
    run: &Run<'_>,
    reading: Instant,
) -> (Parts, Ending) {
    let options = LoadOptions { entry: args.question.entry.clone(), labels: args.question.labels() };
    let loaded = language.load(source.text(), &options);
    let parts = Parts { diagnostics: loaded.diagnostics, map: loaded.source_map, load: reading.elapsed() };
    let ending = match (loaded.program, run.check_limits()) {
        (_, Err(stop)) => Ending::Stopped(stop),
        (None, Ok(())) => Ending::Erroneous,
        (Some(program), Ok(())) => {
            if let Some(mistake) = language::mistake(language, &program, &args.question) {
                return (parts, Ending::Misasked(mistake));
            }
            let subject = Subject { program: &program, map: &parts.map, text: source.text() };
            answer(subject, args, run)
        }
    };
    (parts, ending)
}

fn answer(subject: Subject<'_>, args: &CheckArgs, run: &Run<'_>) -> Ending {
    let answer = if args.reachable {
        selvedge_driver::reachable(subject, &options(args), run).map(|found| Ending::Reachable(Box::new(found)))
    } else if args.all {
        selvedge_driver::check_each(subject, &options(args), run).map(|each| Ending::Each(Box::new(each)))
    } else {
        selvedge_driver::check(subject, &options(args), run).map(|report| Ending::Answered(Box::new(report)))
    };
    match answer {
        Ok(ending) => ending,
        Err(Failure::Usage(error)) => Ending::Misasked(error),
        Err(Failure::Internal { engine, reject }) => {
            Ending::Internal(format!("the engine `{engine}` and the judge disagree: {reject}"))
        }
    }
}

fn options(args: &CheckArgs) -> Options {
    let mut engine_options = EngineOptions::default();
    if let Some(frames) = args.frames {
        engine_options.exhaustive.frames = frames;
    }
    engine_options.cegar.keep = args.keep.clone().map(keep);
    engine_options.contexts.bound = args.contexts;
    engine_options.rounds.bound = args.rounds.map(RoundBound::from);
    engine_options.summaries.eager = args.eager;
    engine_options.summaries.exact = args.exact;
    engine_options.sat.summaries = args.summaries.unwrap_or_default();
    engine_options.sat.recursion = args.recursion.unwrap_or_default();
    if let Some(bound) = args.bound {
        engine_options.bmc.steps = bound;
        engine_options.induction.bound = bound;
        engine_options.views.max_k = Some(bound);
        engine_options.coverability.most_threads = Some(bound);
    }
    if let Some(paths) = args.paths {
        engine_options.induction.paths = match paths {
            PathsChoice::All => Paths::All,
            PathsChoice::LoopFree => Paths::LoopFree,
        };
    }
    engine_options.threads.reductions = reductions(args);
    engine_options.threads_explicit.reductions = reductions(args);
    engine_options.threads_plain.dead = !args.no_dead;
    engine_options.coverability.system.compress = !args.no_compress;
    engine_options.coverability.system.dead = !args.no_dead;
    Options {
        question: args.question.question(),
        engine: args.engine.0,
        jobs: args.jobs.map_or_else(cores, |jobs| jobs as usize),
        engine_options,
        passes: args.passes.as_ref().map(|passes| passes.0.clone()),
        certify: if args.certificate.is_some() { Certify::Anybody } else { Certify::Engine },
        minimize: if args.no_minimize { Minimize::No } else { Minimize::Yes },
        projection: args.projection,
    }
}

/// Writes each abstraction of `cegar` into a folder. What cannot be written is missed there, and nowhere else.
fn keep(folder: std::path::PathBuf) -> AbstractionListener {
    AbstractionListener(Arc::new(move |number, abstraction| {
        let text = abstraction::text("the program", abstraction);
        let _ = std::fs::create_dir_all(&folder);
        let _ = std::fs::write(folder.join(format!("{number:03}.bp")), text);
    }))
}

/// How many engines the machine can run at a time.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

fn reductions(args: &CheckArgs) -> Reductions {
    let partial_order = match args.partial_order {
        PartialOrderChoice::Off => PartialOrder::Off,
        PartialOrderChoice::Ample => PartialOrder::Ample,
        PartialOrderChoice::Persistent => PartialOrder::Persistent,
        PartialOrderChoice::Cartesian => PartialOrder::Cartesian,
    };
    Reductions { compress: !args.no_compress, dead: !args.no_dead, partial_order }
}

impl Ending {
    pub(super) fn exit(&self) -> Exit {
        match self {
            Ending::Answered(report) => match &report.outcome {
                Outcome::Safe(_) => Exit::Success,
                Outcome::Unsafe(_) => Exit::Unsafe,
                Outcome::Unknown(Reason::Stop(stop)) => Exit::from(*stop),
                Outcome::Unknown(Reason::Unsupported(_)) => Exit::Unknown,
            },
            Ending::Each(each) => Exit::worst(each.answers.iter().map(|(_, answer)| match answer {
                driver::Answer::Violated(_) => Exit::Unsafe,
                driver::Answer::Holds(_) | driver::Answer::Unreachable(_) => Exit::Success,
                driver::Answer::Unknown(Reason::Stop(stop)) => Exit::from(*stop),
                driver::Answer::Unknown(Reason::Unsupported(_)) => Exit::Unknown,
            })),
            Ending::Reachable(found) => match &found.outcome {
                _ if found.has_error() => Exit::Unsafe,
                Ok(seen) if seen.truncated => Exit::Unknown,
                Ok(_) => Exit::Success,
                Err(Reason::Stop(stop)) => Exit::from(*stop),
                Err(Reason::Unsupported(_)) => Exit::Unknown,
            },
            Ending::System(report) => match report.outcome {
                SystemOutcome::Unreachable(_) => Exit::Success,
                SystemOutcome::Reachable(..) => Exit::Unsafe,
                SystemOutcome::Unknown(stop) => Exit::from(stop),
            },
            Ending::Turns(report) => match report.outcome {
                TurnsOutcome::Reachable(_) => Exit::Unsafe,
                TurnsOutcome::Unknown(stop) => Exit::from(stop),
            },
            Ending::Unsupported(_) => Exit::Unknown,
            Ending::NotRead(_) | Ending::Erroneous => Exit::Input,
            Ending::Misasked(_) => Exit::Usage,
            Ending::Stopped(stop) => Exit::from(*stop),
            Ending::Internal(_) => Exit::Internal,
        }
    }
}

impl Checked {
    /// A file of which nothing is known but its name.
    fn early(input: &Input, ending: Ending) -> Checked {
        Checked {
            source: Source::new(input.name(), ""),
            diagnostics: Vec::new(),
            ending,
            map: SourceMap::default(),
            load: Duration::ZERO,
        }
    }

    fn context<'a>(&'a self, report: &'a Report) -> Context<'a> {
        self.about(&report.program)
    }

    fn about<'a>(&'a self, program: &'a selvedge_ir::Program) -> Context<'a> {
        Context { program, map: &self.map, source: &self.source }
    }

    /// `safe`, `unsafe`, `unknown` or `error`.
    fn verdict(&self) -> &'static str {
        match &self.ending {
            Ending::Answered(report) => text::verdict_word(&report.outcome),
            Ending::Each(_) | Ending::Reachable(_) => match self.ending.exit() {
                Exit::Success => "safe",
                Exit::Unsafe => "unsafe",
                _ => "unknown",
            },
            Ending::System(report) => systems::verdict_word(&report.outcome),
            Ending::Turns(report) => turns::verdict_word(&report.outcome),
            Ending::Stopped(_) | Ending::Unsupported(_) => "unknown",
            Ending::NotRead(_) | Ending::Erroneous | Ending::Misasked(_) | Ending::Internal(_) => "error",
        }
    }

    /// Why there is no verdict, if there is none.
    fn reason(&self) -> Option<String> {
        match &self.ending {
            Ending::Answered(report) => text::reason(&report.outcome),
            Ending::Each(each) => {
                let line = text::each_line(each);
                let reason = line.strip_prefix("VERIFICATION UNKNOWN (")?.strip_suffix(')')?;
                Some(reason.to_string())
            }
            Ending::Reachable(found) if found.has_error() => None,
            Ending::Reachable(found) => text::reachable_reason(found),
            Ending::System(report) => match report.outcome {
                SystemOutcome::Unknown(stop) => Some(stop.to_string()),
                SystemOutcome::Unreachable(_) | SystemOutcome::Reachable(..) => None,
            },
            Ending::Turns(report) => match report.outcome {
                TurnsOutcome::Unknown(stop) => Some(stop.to_string()),
                TurnsOutcome::Reachable(_) => None,
            },
            Ending::Unsupported(reason) => Some(reason.clone()),
            Ending::Stopped(stop) => Some(stop.to_string()),
            Ending::NotRead(_) => Some("the input cannot be read".to_string()),
            Ending::Erroneous => {
                let errors: Vec<_> = self.diagnostics.iter().filter(|found| found.is_error()).cloned().collect();
                Some(format!("{} in the input", selvedge_report::diagnostic::tally(&errors)))
            }
            Ending::Misasked(error) => Some(error.message.clone()),
            Ending::Internal(_) => Some("internal error".to_string()),
        }
    }

    /// The last line of text output.
    pub(super) fn line(&self) -> String {
        match &self.ending {
            Ending::Answered(report) => text::verdict_line(&report.outcome),
            Ending::Each(each) => text::each_line(each),
            Ending::Reachable(found) => text::reachable_line(found),
            Ending::System(report) => systems::verdict_line(&report.outcome),
            Ending::Turns(report) => turns::verdict_line(&report.outcome),
            _ => format!("VERIFICATION UNKNOWN ({})", self.reason().unwrap_or_default()),
        }
    }

    /// The block of text output, without the last line.
    pub(super) fn block(&self, style: Style) -> String {
        match &self.ending {
            Ending::Answered(report) => text::report(self.context(report), report, self.load, style),
            Ending::Each(each) => text::each(self.about(&each.program), each, self.load, style),
            Ending::Reachable(found) => text::reachable(self.about(&found.program), found, self.load, style),
            Ending::System(report) => systems::render(&self.source.name, report, &style.palette),
            Ending::Turns(report) => turns::render(&self.source.name, report, &style.palette),
            _ => {
                let reason = self.reason().unwrap_or_default();
                text::no_answer(&self.source.name, self.verdict(), &reason, &style.palette)
            }
        }
    }

    /// The line of the summary.
    pub(super) fn row(&self, exit: Exit) -> Row {
        let remark = match &self.ending {
            Ending::Answered(report) => text::remark(report, self.load),
            Ending::System(_) => self.reason().unwrap_or_else(|| "pushdown".to_string()),
            Ending::Turns(report) => self.reason().unwrap_or_else(|| report.engine.to_string()),
            _ => self.reason().unwrap_or_default(),
        };
        Row { file: self.source.name.clone(), verdict: self.verdict().to_string(), remark, exit_code: exit.code() }
    }

    /// The trace to an error, if there is one.
    pub(super) fn trace(&self, question: &QuestionArgs) -> Option<TraceFile> {
        let Ending::Answered(report) = &self.ending else { return None };
        let Outcome::Unsafe(counterexample) = &report.outcome else { return None };
        Some(TraceFile::new(self.context(report), view(question), counterexample))
    }

    /// The text of the certificate of safety, if there is one.
    pub(super) fn certificate(&self, question: &QuestionArgs) -> Option<String> {
        match &self.ending {
            Ending::Answered(report) => match &report.outcome {
                Outcome::Safe(Some(certificate)) => {
                    Some(CertificateFile::new(self.context(report), view(question), certificate).text())
                }
                _ => None,
            },
            Ending::System(report) => match &report.outcome {
                SystemOutcome::Unreachable(proof) => {
                    Some(SystemCertificateFile::new(&self.source, &report.pds, proof).text())
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What is found in the file: diagnostics and errors that can be reached.
    pub(super) fn findings(&self) -> Vec<sarif::Finding> {
        let mut findings = sarif::diagnostics(&self.source, &self.diagnostics);
        match &self.ending {
            Ending::Answered(report) => {
                if let Outcome::Unsafe(found) = &report.outcome {
                    findings.push(sarif::violation(self.context(report), found));
                }
            }
            Ending::Each(each) => {
                for (_, answer) in &each.answers {
                    if let driver::Answer::Violated(found) = answer {
                        findings.push(sarif::violation(self.about(&each.program), found));
                    }
                }
            }
            _ => {}
        }
        findings
    }

    /// The page of the result, where it is an answer about a program.
    pub(super) fn html(&self) -> Option<String> {
        match &self.ending {
            Ending::Answered(report) => Some(html::report(self.context(report), report, self.load)),
            Ending::Each(each) => Some(html::each(self.about(&each.program), each, self.load)),
            _ => None,
        }
    }

    /// The result for other programs.
    pub(super) fn view(&self, exit: Exit, question: &QuestionArgs) -> ResultView {
        let answer = match &self.ending {
            Ending::Answered(report) => Some(Answer::new(self.context(report), view(question), report, self.load)),
            _ => None,
        };
        let system = match &self.ending {
            Ending::System(report) => Some(SystemView::new(report)),
            _ => None,
        };
        let turns = match &self.ending {
            Ending::Turns(report) => Some(TurnsView::new(report)),
            _ => None,
        };
        let reason = match &self.ending {
            Ending::NotRead(message) | Ending::Internal(message) => Some(message.clone()),
            _ => self.reason(),
        };
        ResultView {
            file: self.source.name.clone(),
            verdict: self.verdict().split(' ').next().unwrap_or_default().to_string(),
            exit_code: exit.code(),
            line: self.line(),
            reason,
            diagnostics: json::diagnostics(&self.source, &self.diagnostics),
            answer,
            each: match &self.ending {
                Ending::Each(each) => Some(EachView::list(self.about(&each.program), &view(question), each)),
                _ => None,
            },
            system,
            turns,
            reachable: match &self.ending {
                Ending::Reachable(found) => Some(ReachableView::new(self.about(&found.program), found)),
                _ => None,
            },
        }
    }
}

fn view(question: &QuestionArgs) -> QuestionView {
    QuestionView::new(&question.question(), question.entry.as_deref())
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;
    use selvedge_check::{CancelToken, Event, Solvers};

    use super::*;
    use crate::args::{Cli, Command, When};
    use crate::printer::Printer;

    struct Panicking;

    impl Observer for Panicking {
        fn event(&self, event: Event) {
            assert_ne!(event, Event::Phase("judging"), "the observer gives up");
        }
    }

    fn check_safe(observer: &dyn Observer) -> Checked {
        crash::install();
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/safe.bp");
        let cli = Cli::try_parse_from(["selvedge", "check", file]).expect("the arguments are right");
        let Command::Check(args) = cli.command else { unreachable!("it is a check") };
        let session = Session {
            solvers: Solvers::default(),
            printer: Printer::new(When::Never),
            cancel: CancelToken::default(),
            start: Instant::now(),
            prop: None,
        };
        check(&args.inputs[0], &args, &session, session.start, observer)
    }

    #[test]
    fn a_panic_inside_a_check_is_an_internal_error() {
        let checked = check_safe(&Panicking);
        assert_eq!(checked.ending.exit(), Exit::Internal);
        assert_eq!(checked.line(), "VERIFICATION UNKNOWN (internal error)");
        let Ending::Internal(message) = &checked.ending else { unreachable!("the exit code says so") };
        assert!(message.contains("the observer gives up"), "{message}");
        assert_eq!(check_safe(&()).ending.exit(), Exit::Success);
    }
}
