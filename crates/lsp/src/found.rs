//! An execution to an error: found by a check, or read from a file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use selvedge_check::{Answer, ContextBound, Initial, Limits, Outcome, OwnedTask, Question, Run, Subject};
use selvedge_driver::{ExecutedTrace, Minimize, Options, check, engine_named};
use selvedge_frontend::FileOptions;
use selvedge_frontend::bp::{Dialect, LoadOptions};
use selvedge_frontend::c::{DataModel, Properties, Property};
use selvedge_frontend::files::read_regular;
use selvedge_frontend::visible::visible_name;
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_report::json::{QuestionView, read_saved};
use selvedge_report::{Context, Source};
use serde::Deserialize;

/// A launch configuration: the question of a user.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Wanted {
    /// The file of the program.
    pub(crate) program: String,
    /// A file with an execution that was saved, instead of a check.
    pub(crate) trace: Option<String>,
    pub(crate) threads: Option<u32>,
    /// A number, or `any`.
    pub(crate) initial: Option<serde_json::Value>,
    pub(crate) label: Option<String>,
    pub(crate) assertion: Option<String>,
    /// Labels at which different threads are to be at the same time.
    pub(crate) together: Vec<String>,
    /// For C: properties, with commas between them.
    pub(crate) property: Option<String>,
    pub(crate) deadlock: Option<bool>,
    pub(crate) entry: Option<String>,
    /// `getafix` or `selvedge`.
    pub(crate) dialect: Option<String>,
    /// For C: `lp64` or `ilp32`.
    #[serde(rename = "dataModel")]
    pub(crate) data_model: Option<String>,
    /// The engine, by its name; those that suit the program without it.
    pub(crate) engine: Option<String>,
    /// Limit on the number of contexts of each thread.
    pub(crate) contexts: Option<u32>,
    /// Limit on the time of the check, in seconds.
    #[serde(rename = "timeLimit")]
    pub(crate) time_limit: Option<f64>,
}

/// The largest number of contexts that can be asked for.
const MAX_CONTEXTS: u32 = 64;

impl Wanted {
    /// Returns the question, with the options of the file for those parts that are not given. `given` are the options
    /// of all programs of this session.
    pub(crate) fn asked(&self, text: &str, given: SessionOptions) -> Result<Asked, String> {
        let path = Path::new(&self.program);
        let file =
            if given.ignores_file_options { FileOptions::default() } else { FileOptions::read(text, Some(path)).0 };
        // A configuration that says that deadlocks are not asked about chooses the assertions.
        let file =
            if self.deadlock == Some(false) && file.asks_for_deadlocks() { file.without_question() } else { file };
        let (question, taken) = self.view()?.or_file(&file);
        let (options, words) = self.load_options(&question, given)?.or_file(&file);
        let question_words = Some(taken.options()).filter(|options| !options.is_empty());
        let file_options = question_words.into_iter().chain(words).collect::<Vec<_>>().join(" ");
        Ok(Asked { question: question.question(), options, file_options })
    }

    /// Returns the question as far as it is given.
    fn view(&self) -> Result<QuestionView, String> {
        let initial = match self.initial.as_ref().map(|value| value.to_string().replace('"', "")).as_deref() {
            Some("any") => Some(Initial::Any),
            Some(number) => Some(
                number.parse().map(Initial::Exactly).map_err(|_| format!("`{number}` is not a number of threads"))?,
            ),
            None => None,
        };
        let question = Question {
            threads: self.threads,
            initial,
            label: self.label.clone(),
            assertion: self.assertion.clone(),
            together: self.together.clone(),
            deadlock: self.deadlock.unwrap_or(false),
            ..Question::default()
        };
        Ok(QuestionView::new(&question, self.entry.as_deref()).with_properties(self.properties()?))
    }

    /// Returns the properties that a C program is checked for; the assertions if none are given.
    fn properties(&self) -> Result<Properties, String> {
        let named = |name: &str| Property::named(name.trim()).ok_or_else(|| format!("there is no property `{name}`"));
        match &self.property {
            None => Ok(Properties::default()),
            Some(names) => Ok(Properties::of(names.split(',').map(named).collect::<Result<Vec<_>, _>>()?)),
        }
    }

    /// Returns the limits of the check.
    pub(crate) fn limits(&self) -> Result<Limits, String> {
        let wrong = |_| "`timeLimit` must be a number of seconds".to_string();
        let time = self.time_limit.map(Duration::try_from_secs_f64).transpose().map_err(wrong)?;
        Ok(Limits { time, ..Limits::default() })
    }

    /// Returns whether it asks nothing but what the file asks.
    pub(crate) fn is_plain(&self) -> bool {
        *self == Wanted { program: self.program.clone(), ..Wanted::default() }
    }

    /// Returns the options of a check.
    fn options(&self, question: Question) -> Result<Options, String> {
        let mut options = Options { question, jobs: 2, minimize: Minimize::Yes, ..Options::default() };
        if let Some(name) = &self.engine {
            let engine = engine_named(name).ok_or_else(|| format!("there is no engine `{name}`"))?;
            options.engine = Some(engine);
        }
        if let Some(contexts) = self.contexts {
            if !(1..=MAX_CONTEXTS).contains(&contexts) {
                return Err(format!("`contexts` must be a number from 1 to {MAX_CONTEXTS}"));
            }
            options.engine_options.contexts.bound = Some(ContextBound::exactly(contexts));
        }
        Ok(options)
    }

    /// Returns the options with which a text is read, as far as they are given.
    fn load_options(&self, question: &QuestionView, given: SessionOptions) -> Result<LoadOptions, String> {
        let dialect = match &self.dialect {
            Some(name) => Some(Dialect::named(name).ok_or_else(|| format!("there is no dialect `{name}`"))?),
            None => given.dialect,
        };
        let data_model = match self.data_model.as_deref() {
            Some(name) => Some(DataModel::named(name).ok_or_else(|| format!("there is no data model `{name}`"))?),
            None => None,
        };
        let path = Some(PathBuf::from(&self.program));
        let ignore_file_options = given.ignores_file_options;
        Ok(LoadOptions { data_model, dialect, path, ignore_file_options, ..question.load_options() })
    }
}

/// What is asked about a program, and how to read it.
pub(crate) struct Asked {
    pub(crate) question: Question,
    pub(crate) options: LoadOptions,
    /// The options that come from the file.
    pub(crate) file_options: String,
}

/// The options of all programs of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionOptions {
    /// The dialect of Boolean programs, if the user names one.
    pub dialect: Option<Dialect>,
    /// Set if the options that files bring along do not count.
    pub ignores_file_options: bool,
}

/// An execution, and the text of its program.
pub(crate) struct Found {
    source: Source,
    map: SourceMap,
    pub(crate) execution: ExecutedTrace,
}

impl Found {
    pub(crate) fn context(&self) -> Context<'_> {
        Context { program: &self.execution.task.program, map: &self.map, source: &self.source }
    }
}

/// The result of a question.
pub(crate) enum Launched {
    Found(Box<Found>),
    /// There is no execution; the sentence says why.
    None(String),
}

/// A program with its text.
pub(crate) struct Subjected {
    pub(crate) source: Source,
    pub(crate) map: SourceMap,
    pub(crate) program: Program,
    /// The number of threads in a run, if the text bounds it.
    pub(crate) threads: Option<u32>,
}

/// Reads a program; else a sentence says what is wrong with it.
pub(crate) fn load(path: &str, text: String, options: &LoadOptions) -> Result<Subjected, String> {
    let mut loaded = selvedge_frontend::load(Path::new(path), &text, options);
    let source = loaded.source.take().unwrap_or_else(|| Source::new(path, text));
    match loaded.program {
        Some(program) => Ok(Subjected { source, map: loaded.source_map, program, threads: loaded.threads }),
        None => {
            let first = loaded.diagnostics.iter().find(|found| found.is_error());
            let first =
                first.map(|found| format!("{}: {}", source.place(found.primary.span.start as usize), found.message));
            Err(first.unwrap_or_else(|| format!("{path} is a pushdown system, which the editor cannot check")))
        }
    }
}

/// Checks a program.
pub(crate) fn ask(
    subjected: &Subjected,
    mut question: Question,
    wanted: &Wanted,
    run: &Run<'_>,
) -> Result<Answer, String> {
    question.threads = question.threads.or(subjected.threads.filter(|_| question.initial.is_none()));
    let subject = Subject { program: &subjected.program, map: &subjected.map, text: subjected.source.text() };
    check(subject, &wanted.options(question)?, run).map_err(|failure| failure.to_string())
}

/// The execution that a launch configuration asks for.
pub(crate) fn find(wanted: &Wanted, given: SessionOptions, run: &Run<'_>) -> Result<Launched, String> {
    let source = read(&wanted.program)?;
    let text = source.text().to_string();
    let Asked { question, options, .. } = wanted.asked(&text, given)?;
    if let Some(trace) = &wanted.trace {
        let trace = read(trace)?;
        if let Some(at) = trace.first_not_utf8() {
            return Err(format!("{}: this byte is not UTF-8", trace.place(at)));
        }
        return saved(wanted, text, &options, trace.text());
    }
    let subjected = load(&wanted.program, text, &options)?;
    let answer = ask(&subjected, question, wanted, run)?;
    let line = answer.outcome.line();
    match answer.outcome {
        Outcome::Unsafe(counterexample) => {
            let execution = ExecutedTrace { task: answer.model, counterexample: *counterexample };
            Ok(Launched::Found(Box::new(Found { source: subjected.source, map: subjected.map, execution })))
        }
        Outcome::Safe(_) | Outcome::Unknown(_) => Ok(Launched::None(line)),
    }
}

/// Reads a regular file: a client must not make the adapter wait or read without end.
fn read(path: &str) -> Result<Source, String> {
    let bytes =
        read_regular(Path::new(path)).map_err(|error| format!("cannot read {}: {error}", visible_name(path)))?;
    Ok(Source::from_bytes(path, bytes))
}

fn saved(wanted: &Wanted, text: String, given: &LoadOptions, trace: &str) -> Result<Launched, String> {
    let file = read_saved(trace).map_err(|error| error.to_string())?;
    let asked = file.question.load_options();
    let (entry, labels, deadlock) = (asked.entry, asked.labels, asked.deadlock);
    let options = LoadOptions { entry, labels, deadlock, properties: asked.properties, ..given.clone() };
    let Subjected { source, map, program, .. } = load(&wanted.program, text, &options)?;
    let subject = Subject { program: &program, map: &map, text: source.text() };
    let posed = file.question.question().pose(subject).map_err(|error| error.message)?;
    let (program, target, threads) = posed;
    let trace = file.trace(&program).map_err(|error| error.to_string())?;
    let execution = ExecutedTrace::new(OwnedTask { program, target, threads }, trace);
    let execution = execution.map_err(|error| format!("the trace does not replay: {error}"))?;
    Ok(Launched::Found(Box::new(Found { source, map, execution })))
}
