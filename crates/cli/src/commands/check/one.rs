//! The check of one file, and what there is to say about its result.

use std::time::{Duration, Instant};

use selvedge_check::{Answer, EngineEnd, Model, Observer, Outcome, Reason, Run, Subject};
use selvedge_driver::Failure;
use selvedge_driver::defect::guard;
use selvedge_export::harness::harness;
use selvedge_export::witness;
use selvedge_frontend::diagnostic::{Code, Diagnostic};
use selvedge_frontend::{Language, LoadOptions};
use selvedge_ir::pds::{Pds, Threads};
use selvedge_ir::span::SourceMap;
use selvedge_replay::replay::replay;
use selvedge_report::html;
use selvedge_report::json::{self, CertificateFile, QuestionView, SystemCertificateFile, TraceFile};
use selvedge_report::sarif;
use selvedge_report::systems::{self, turns};
use selvedge_report::text::{self, Row, Style};
use selvedge_report::{Context, Source};
use serde_json::Value;

use super::options::options;
use super::system;
use crate::args::CheckArgs;
use crate::commands::language::{self, language_of};
use crate::commands::{program, reader};
use crate::crash;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;
use crate::supervise::NoResult;

/// A file that was checked, or was meant to be.
pub(super) struct Checked {
    pub(super) source: Source,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) result: CheckResult,
    map: SourceMap,
    load: Duration,
    /// The question, with the options of the file where the command line has none.
    question: QuestionView,
    /// The options that come from the file.
    file_options: String,
}

/// The result of the check of a file.
pub(super) enum CheckResult {
    Program(Box<Answer>),
    System(Box<Answer<Pds>>),
    Threads(Box<Answer<Threads>>),
    None(NoAnswer),
}

/// Why there is no answer.
pub(super) enum NoAnswer {
    /// The file could not be read; a sentence says why.
    NotRead(String),
    /// The diagnostics say what is wrong.
    Erroneous,
    /// The question does not fit the program.
    Invalid(selvedge_check::InvalidQuestion),
    /// No engine was run, or none supports it.
    Undecided(Reason),
    /// We are wrong.
    Internal(String),
}

/// The common parts of all results.
pub(super) struct Summary {
    /// `safe`, `unsafe`, `unknown` or `error`.
    name: &'static str,
    /// The same, for people: an answer that lacks evidence says so.
    word: &'static str,
    /// The reason why there is no verdict.
    pub(super) reason: Option<String>,
    /// The last line of text output.
    pub(super) line: String,
    /// The remark beside the verdict in the table of several files.
    remark: String,
    pub(super) exit: Exit,
}

impl From<Failure> for NoAnswer {
    fn from(failure: Failure) -> NoAnswer {
        match failure {
            Failure::Usage(invalid) => NoAnswer::Invalid(invalid),
            Failure::Unsupported(unsupported) => NoAnswer::Undecided(Reason::Unsupported(unsupported)),
            Failure::Internal { .. } | Failure::Panicked { .. } => NoAnswer::Internal(failure.to_string()),
        }
    }
}

impl From<NoResult> for NoAnswer {
    fn from(end: NoResult) -> NoAnswer {
        match end {
            NoResult::Stopped(stop) => NoAnswer::Undecided(Reason::Stop(stop)),
            NoResult::Panicked(panic) => match panic.stop() {
                Some(stop) => NoAnswer::Undecided(Reason::Stop(stop)),
                None => NoAnswer::Internal(panic.message),
            },
        }
    }
}

/// Checks a file. The clock of its time limit started at `start`.
pub(super) fn check(
    input: &Input,
    args: &CheckArgs,
    session: &Session,
    start: Instant,
    observer: &dyn Observer,
) -> Checked {
    let run = Run::new(session.cancel.clone(), args.limits.limits(), observer)
        .with_solvers(session.solvers.clone())
        .since(start);
    let reading = Instant::now();
    let language = language_of(input, args.input_format);
    if let Err(stop) = run.check_limits() {
        return Checked::early(input, NoAnswer::Undecided(Reason::Stop(stop)));
    }
    let source = match language::read(language, input, session) {
        Ok(source) => source,
        Err(message) => return Checked::early(input, NoAnswer::NotRead(message)),
    };
    let checked = guard(|| match language {
        Language::Pds => system::load_and_check(input, &source, args, &run, reading),
        Language::Bp | Language::C | Language::Gcl | Language::Tts | Language::Spec => {
            match asked(language, input, &source, args, session) {
                Ok(asked) => load_and_check(language, &source, args, asked, session, &run, reading),
                Err(message) => (ReadText::default(), Err(NoAnswer::NotRead(message))),
            }
        }
    });
    match checked {
        Ok((parts, result)) => {
            let result = result.unwrap_or_else(CheckResult::None);
            let source = parts.source.unwrap_or(source);
            let (question, file_options) = (parts.question, parts.file_options);
            let (diagnostics, map, load) = (parts.diagnostics, parts.map, parts.load);
            Checked { source, diagnostics, result, map, load, question, file_options }
        }
        Err(panic) => Checked { source, ..Checked::early(input, NoResult::Panicked(panic).into()) },
    }
}

/// The results of reading besides the program.
#[derive(Default)]
pub(super) struct ReadText {
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) map: SourceMap,
    /// The texts that positions refer to, where there are others beside the input.
    pub(super) source: Option<Source>,
    pub(super) load: Duration,
    pub(super) question: QuestionView,
    pub(super) file_options: String,
}

/// What is asked about a file, and how to read it.
struct Asked {
    question: QuestionView,
    reader: LoadOptions,
    /// The options that come from the file.
    file_options: String,
}

/// Joins the options of the command line with those of the file.
fn asked(
    language: Language,
    input: &Input,
    source: &Source,
    args: &CheckArgs,
    session: &Session,
) -> Result<Asked, String> {
    let mut file = reader::file_options(language, input, source, session);
    if args.all || args.reachable || (args.projection && (!file.together.is_empty() || file.asks_for_deadlocks())) {
        file = file.without_question();
    }
    let (question, taken) = args.question.view().or_file(&file);
    let (reader, words) = reader::options(language, input, &file, question.load_options(), session)?;
    Ok(Asked { file_options: program::file_words(&taken, &words), question, reader })
}

fn load_and_check(
    language: Language,
    source: &Source,
    args: &CheckArgs,
    asked: Asked,
    session: &Session,
    run: &Run<'_>,
    reading: Instant,
) -> (ReadText, Result<CheckResult, NoAnswer>) {
    let Asked { question, reader, file_options } = asked;
    let invalid = |error| NoAnswer::Invalid(program::because_of_file(error, &file_options));
    if let Err(error) = reader::validate(language, &reader, session) {
        return (ReadText::default(), Err(invalid(error)));
    }
    let mut loaded = language.load(source.text(), &reader);
    let load = reading.elapsed();
    let (diagnostics, map) = (std::mem::take(&mut loaded.diagnostics), std::mem::take(&mut loaded.source_map));
    let mut parts = ReadText { diagnostics, map, source: loaded.source.take(), load, ..ReadText::default() };
    let source = parts.source.as_ref().unwrap_or(source);
    let result = (|| {
        run.check_limits().map_err(|stop| NoAnswer::Undecided(Reason::Stop(stop)))?;
        let program = loaded.program.as_ref().ok_or(NoAnswer::Erroneous)?;
        question.validate(language, program).map_err(invalid)?;
        let subject = Subject { program, map: &parts.map, text: source.text() };
        let mut options = options(args, question.question());
        // A bound that no run exceeds changes no answer.
        options.question.threads =
            options.question.threads.or(loaded.threads.filter(|_| options.question.initial.is_none()));
        let answer = selvedge_driver::check(subject, &options, run).map_err(|failure| match failure {
            Failure::Usage(error) => invalid(error),
            failure => failure.into(),
        })?;
        Ok(CheckResult::Program(Box::new(answer)))
    })();
    (parts.question, parts.file_options) = (question, file_options);
    (parts, result)
}

impl Summary {
    fn of<M: Model>(answer: &Answer<M>, load: Duration) -> Summary {
        Summary {
            name: answer.outcome.name(),
            word: answer.word(),
            reason: answer.outcome.reason().map(ToString::to_string),
            line: answer.outcome.line(),
            remark: text::remark(answer, load),
            exit: Exit::from(&answer.outcome),
        }
    }

    fn of_none(none: &NoAnswer, diagnostics: &[Diagnostic]) -> Summary {
        let (name, exit, reason) = match none {
            NoAnswer::NotRead(_) => ("error", Exit::Input, "the input cannot be read".to_string()),
            NoAnswer::Erroneous => {
                let errors: Vec<_> = diagnostics.iter().filter(|found| found.is_error()).cloned().collect();
                if errors.iter().all(|error| error.code == Code::CUnsupported) {
                    let reason = format!("unsupported: {}", errors[0].message);
                    let line = format!("VERIFICATION UNKNOWN ({reason})");
                    let (name, remark) = ("unknown", reason.clone());
                    return Summary { name, word: name, line, remark, reason: Some(reason), exit: Exit::Unknown };
                }
                ("error", Exit::Input, format!("{} in the input", selvedge_report::diagnostic::tally(&errors)))
            }
            NoAnswer::Invalid(invalid) => ("error", Exit::Usage, invalid.message.clone()),
            NoAnswer::Undecided(reason) => ("unknown", Exit::from(reason), reason.to_string()),
            NoAnswer::Internal(_) => ("error", Exit::Internal, "internal error".to_string()),
        };
        let line = format!("VERIFICATION UNKNOWN ({reason})");
        Summary { name, word: name, line, remark: reason.clone(), reason: Some(reason), exit }
    }
}

impl Checked {
    /// A file of which nothing is known but its name.
    pub(super) fn early(input: &Input, none: NoAnswer) -> Checked {
        Checked {
            source: Source::new(input.name(), ""),
            diagnostics: Vec::new(),
            result: CheckResult::None(none),
            map: SourceMap::default(),
            load: Duration::ZERO,
            question: QuestionView::default(),
            file_options: String::new(),
        }
    }

    fn reading(&self) -> selvedge_report::Reading<'_> {
        selvedge_report::Reading { time: self.load, file_options: &self.file_options, command: "" }
    }

    /// Lists the defects of ours that were noticed: of engines, although another one may have answered.
    pub(super) fn defects(&self) -> Vec<&str> {
        let runs = match &self.result {
            CheckResult::Program(answer) => &answer.runs,
            CheckResult::System(answer) => &answer.runs,
            CheckResult::Threads(answer) => &answer.runs,
            CheckResult::None(NoAnswer::Internal(message)) => return vec![message],
            CheckResult::None(_) => return Vec::new(),
        };
        let mut messages = Vec::new();
        for run in runs {
            if let EngineEnd::Defect(message) = &run.end {
                messages.push(message.as_str());
            }
        }
        messages
    }

    pub(super) fn summary(&self) -> Summary {
        match &self.result {
            CheckResult::Program(answer) => Summary::of(answer, self.load),
            CheckResult::System(answer) => Summary::of(answer, self.load),
            CheckResult::Threads(answer) => Summary::of(answer, self.load),
            CheckResult::None(none) => Summary::of_none(none, &self.diagnostics),
        }
    }

    fn context<'a>(&'a self, answer: &'a Answer) -> Context<'a> {
        Context { program: &answer.model.program, map: &self.map, source: &self.source }
    }

    /// The answer about a program, if this is one.
    fn program(&self) -> Option<(Context<'_>, &Answer)> {
        match &self.result {
            CheckResult::Program(answer) => Some((self.context(answer), answer)),
            CheckResult::System(_) | CheckResult::Threads(_) | CheckResult::None(_) => None,
        }
    }

    /// The block of text output, without the last line.
    pub(super) fn block(&self, style: Style) -> String {
        let (name, palette) = (&self.source.name, &style.palette);
        match &self.result {
            CheckResult::Program(answer) => text::report(self.context(answer), answer, self.reading(), style),
            CheckResult::System(answer) => systems::render(name, answer, palette),
            CheckResult::Threads(answer) => turns::render(name, answer, palette),
            CheckResult::None(_) => {
                let summary = self.summary();
                text::no_answer(name, summary.word, &summary.reason.unwrap_or_default(), palette)
            }
        }
    }

    /// The line of the table of several files.
    pub(super) fn row(&self, exit: Exit) -> Row {
        let Summary { word, remark, .. } = self.summary();
        Row { name: self.source.name.clone(), verdict: word.to_string(), tone: exit.tone(), time: None, remark }
    }

    /// The trace to an error, if there is one.
    pub(super) fn trace(&self) -> Option<TraceFile> {
        let (context, answer) = self.program()?;
        let Outcome::Unsafe(counterexample) = &answer.outcome else { return None };
        Some(TraceFile::new(context, self.question.clone(), counterexample))
    }

    /// The text of the certificate of safety, if there is one.
    pub(super) fn certificate(&self) -> Option<String> {
        match &self.result {
            CheckResult::Program(answer) => match &answer.outcome {
                Outcome::Safe(Some(certificate)) => {
                    Some(CertificateFile::new(self.context(answer), self.question.clone(), certificate).text())
                }
                _ => None,
            },
            CheckResult::System(answer) => match &answer.outcome {
                Outcome::Safe(Some(proof)) => {
                    Some(SystemCertificateFile::new(&self.source, &answer.model, proof).text())
                }
                _ => None,
            },
            CheckResult::Threads(_) | CheckResult::None(_) => None,
        }
    }

    /// Returns what is found in the file: diagnostics and errors that can be reached.
    pub(super) fn findings(&self) -> Vec<sarif::Finding> {
        let mut findings = sarif::diagnostics(&self.source, &self.diagnostics);
        if let Some((context, answer)) = self.program() {
            findings.extend(answer.counterexamples().into_iter().map(|found| sarif::violation(context, found)));
        }
        findings
    }

    /// The page of the result, where it is an answer about a program.
    pub(super) fn html(&self) -> Option<String> {
        let command = crash::command_line();
        let reading = selvedge_report::Reading { command: &command, ..self.reading() };
        self.program().map(|(context, answer)| html::report(context, answer, reading))
    }

    /// Returns a program in C that runs into the error. An error says why it cannot be written.
    pub(super) fn harness(&self) -> Result<String, String> {
        let found = self.program().and_then(|(context, answer)| match &answer.outcome {
            Outcome::Unsafe(found) => Some((context, answer, found)),
            _ => None,
        });
        let (context, answer, found) = found.ok_or("there is no execution to an error")?;
        let task = answer.model.task();
        harness(context, &found.trace, &|trace| replay(&task, trace).is_ok())
    }

    /// Returns a witness of the answer. An error says why it cannot be written.
    pub(super) fn witness(&self, input: &Input, session: &Session) -> Result<String, String> {
        let (context, answer) = self.program().ok_or("there is no answer about a program")?;
        if !context.map.several_steps {
            return Err("a witness is written for programs in C only".to_owned());
        }
        let model = session.c.data_model.unwrap_or_default().name().to_uppercase();
        let time = humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string();
        let (program, specification) = (program_bytes(input, &self.source), specification(&self.question)?);
        let head = witness::Head { program: &program, specification, data_model: &model, time: &time };
        match &answer.outcome {
            Outcome::Unsafe(found) => witness::violation(context, &found.trace, &head),
            Outcome::Safe(_) => witness::correctness(context, &head),
            Outcome::Unknown(_) => Err("nothing is decided".to_owned()),
        }
    }

    /// The result for other programs.
    pub(super) fn view(&self, exit: Exit, args: &CheckArgs) -> Value {
        let summary = self.summary();
        let (verdict, headline, line) = (summary.name, summary.word, &summary.line);
        let head = json::Head { verdict, headline, exit, line, reason: summary.reason.as_deref() };
        let mut result = json::result(&self.source, &self.diagnostics, head);
        match &self.result {
            CheckResult::Program(answer) => self.add_views(&mut result, answer, args),
            CheckResult::System(answer) => result["system"] = systems::view(answer),
            CheckResult::Threads(answer) => result["turns"] = turns::view(answer),
            CheckResult::None(NoAnswer::NotRead(message) | NoAnswer::Internal(message)) => {
                result["reason"] = message.as_str().into();
            }
            CheckResult::None(_) => {}
        }
        result
    }

    fn add_views(&self, result: &mut Value, answer: &Answer, args: &CheckArgs) {
        let (context, question) = (self.context(answer), &self.question);
        match &answer.each {
            Some(each) => result["each"] = json::each(context, question, each),
            None if args.reachable => {}
            None => result["answer"] = json::answer(context, question, answer, self.reading()),
        }
        if args.reachable {
            result["reachable"] = json::reachable(context, answer);
        }
    }
}

/// Returns the property of a question as competitions write it.
fn specification(question: &QuestionView) -> Result<&'static str, String> {
    let properties: Vec<&str> = question.properties.iter().map(String::as_str).collect();
    Ok(match properties.as_slice() {
        [] | ["assertions"] => "CHECK( init(main()), LTL(G ! call(reach_error())) )",
        ["no-overflow"] => "CHECK( init(main()), LTL(G ! overflow) )",
        ["no-data-race"] => "CHECK( init(main()), LTL(G ! data-race) )",
        ["memory"] => "CHECK( init(main()), LTL(G valid-deref) )",
        other => return Err(format!("a witness about {} is not supported", other.join(", "))),
    })
}

/// Returns the bytes of a program that was read.
fn program_bytes(input: &Input, source: &Source) -> Vec<u8> {
    match input {
        Input::File(path) => std::fs::read(path).unwrap_or_else(|_| source.text().as_bytes().to_vec()),
        Input::Stdin => source.text().as_bytes().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use clap::Parser as _;
    use selvedge_check::{CancelToken, Event};
    use selvedge_report::Palette;
    use selvedge_report::text::Detail;

    use super::*;
    use crate::args::{Cli, Command, LimitArgs, When};
    use crate::printer::Printer;
    use crate::session::solvers;

    struct Panicking;

    impl Observer for Panicking {
        fn event(&self, event: Event) {
            assert_ne!(event, Event::Phase("judging"), "the observer gives up");
        }
    }

    /// Checks one of the programs beside the tests.
    fn check_file(words: &str, prop: Option<&str>, observer: &dyn Observer) -> (Checked, CheckArgs) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let (options, file) = words.rsplit_once(' ').unwrap_or(("", words));
        let words = ["selvedge", "check"].into_iter().chain(options.split_whitespace()).map(PathBuf::from);
        let cli = Cli::try_parse_from(words.chain([folder.join(file)])).expect("the arguments are right");
        let Command::Check(args) = cli.command else { unreachable!("it is a check") };
        let session = Session {
            solvers: solvers(),
            printer: Printer::new(When::Never),
            cancel: CancelToken::default(),
            start: Instant::now(),
            prop: prop.map(|name| folder.join(name)),
            limits: LimitArgs::default(),
            dialect: None,
            ignores_file_options: false,
            c: Default::default(),
        };
        (check(&args.inputs[0], &args, &session, session.start, observer), *args)
    }

    fn check_safe(observer: &dyn Observer) -> Checked {
        check_file("safe.bp", None, observer).0
    }

    #[test]
    fn a_panic_inside_a_check_is_an_internal_error() {
        selvedge_driver::defect::install();
        let checked = check_safe(&Panicking);
        assert_eq!(checked.summary().exit, Exit::Internal);
        assert_eq!(checked.summary().line, "VERIFICATION UNKNOWN (internal error)");
        let CheckResult::None(NoAnswer::Internal(message)) = &checked.result else {
            unreachable!("the exit code says so")
        };
        assert!(message.contains("the observer gives up"), "{message}");
        assert_eq!(check_safe(&()).summary().exit, Exit::Success);
    }

    /// Lets time pass before certificates are looked at.
    struct Dawdling;

    const LIMIT: Duration = Duration::from_secs(2);

    impl Observer for Dawdling {
        fn event(&self, event: Event) {
            if event == Event::Phase("judging") {
                std::thread::sleep(LIMIT);
            }
        }
    }

    /// Returns where a report says why a certificate was not checked.
    fn unchecked(words: &str, prop: Option<&str>) -> Value {
        let words = format!("--time-limit 2s {words}");
        let (checked, args) = check_file(&words, prop, &Dawdling);
        let report = checked.view(Exit::Success, &args);
        assert_eq!(report["verdict"], "safe", "{words}: {report}");
        let text = checked.block(Style { palette: Palette::plain(), detail: Detail::Changes, width: text::WIDTH });
        assert!(text.contains("not checked: "), "{words}: {text}");
        let parts = [&report["answer"], &report["each"][0], &report["system"]];
        parts.into_iter().map(|part| part["unchecked"].clone()).find(|reason| !reason.is_null()).unwrap_or_default()
    }

    #[test]
    fn a_report_says_why_a_certificate_was_not_checked() {
        // The judge reads the clock now and then only, so that the system must have some rules.
        let path = std::env::temp_dir().join(format!("selvedge-{}.pds", std::process::id()));
        let rules = (0..200).map(|number| format!("<p, g{number}> --> <p, g{}>\n", number + 1));
        let text = format!("initial <p, g0>\ntarget <q, g0>\n{}<q, g0> --> <q, g0>\n", rules.collect::<String>());
        std::fs::write(&path, text).expect("a temporary file can be written");
        let pds = path.display().to_string();
        let gcl = "--engine ase ../../../../tests/programs/gcl/mutex.gcl";
        let cases = [
            ("--engine summaries safe.bp", None),
            ("--engine induction --all safe.bp", None),
            ("--engine summaries --all safe.bp", None),
            ("--jobs 1 --reachable safe.bp", None),
            ("--engine summaries --projection safe.bp", None),
            (&pds, None),
            ("--engine threads-explicit --threads 3 gate.tts", Some("gate_closed.prop")),
            (gcl, None),
        ];
        std::thread::scope(|scope| {
            for (words, prop) in cases {
                scope.spawn(move || {
                    let expected = "its check was not finished: time limit of 2 s reached";
                    assert_eq!(unchecked(words, prop), expected, "{words}");
                });
            }
        });
        drop(std::fs::remove_file(path));
    }
}
