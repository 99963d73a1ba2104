//! An execution to an error: found by a check, or read from a file.

use std::path::Path;

use selvedge_check::{Answer, Initial, Outcome, OwnedTask, Question, Run, Subject};
use selvedge_driver::{ExecutedTrace, Options, check};
use selvedge_frontend::bp::{Dialect, LoadOptions};
use selvedge_frontend::c::{DataModel, Properties, Property};
use selvedge_frontend::files::read_regular;
use selvedge_frontend::visible::visible_name;
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;
use selvedge_report::json::read_saved;
use selvedge_report::{Context, Source};
use serde::Deserialize;

/// A launch configuration: the question of a user.
#[derive(Clone, Debug, Default, Deserialize)]
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
    pub(crate) deadlock: Option<bool>,
    pub(crate) entry: Option<String>,
    /// `getafix` or `selvedge`.
    pub(crate) dialect: Option<String>,
    /// For C: `lp64` or `ilp32`.
    #[serde(rename = "dataModel")]
    pub(crate) data_model: Option<String>,
}

impl Wanted {
    /// The question, with what the program's header says for those parts that are not given: a line `// options: ..`
    /// names options of the command line.
    pub(crate) fn question(&self, text: &str) -> Question {
        let of_header = |name: &str| header_option(text, name);
        let initial = self.initial.as_ref().map(|value| value.to_string().replace('"', ""));
        let initial = initial.or_else(|| of_header("--initial").map(str::to_string));
        Question {
            threads: self.threads.or_else(|| of_header("--threads")?.parse().ok()),
            initial: initial.and_then(|initial| match initial.as_str() {
                "any" => Some(Initial::Any),
                number => number.parse().ok().map(Initial::Exactly),
            }),
            label: self.label.clone().or_else(|| of_header("--label").map(str::to_string)),
            assertion: self.assertion.clone(),
            deadlock: self.asks_for_deadlocks(text),
            ..Question::default()
        }
    }

    /// Returns whether deadlocks are asked for: a label or an assertion that is given comes before the header.
    fn asks_for_deadlocks(&self, text: &str) -> bool {
        let is_other = self.label.is_some() || self.assertion.is_some();
        self.deadlock.unwrap_or_else(|| !is_other && header(text).any(|word| word == "--deadlock"))
    }

    /// Returns the options with which a text is read. `given` is the dialect of all programs of this session.
    pub(crate) fn load_options(
        &self,
        question: &Question,
        text: &str,
        given: Option<Dialect>,
    ) -> Result<LoadOptions, String> {
        let labels = question.label.iter().chain(&question.assertion).cloned().collect();
        let dialect = match &self.dialect {
            Some(name) => Some(Dialect::named(name).ok_or_else(|| format!("there is no dialect `{name}`"))?),
            None => dialect_of(text, given),
        };
        let data_model = match self.data_model.as_deref().or_else(|| header_option(text, "--data-model")) {
            Some(name) => DataModel::named(name).ok_or_else(|| format!("there is no data model `{name}`"))?,
            None => DataModel::default(),
        };
        Ok(LoadOptions {
            data_model,
            entry: self.entry.clone(),
            labels,
            dialect,
            deadlock: question.deadlock,
            ..header_options(text, Path::new(&self.program))
        })
    }
}

/// Returns the dialect of a text: the one of the session, or the one in the text's header.
pub(crate) fn dialect_of(text: &str, given: Option<Dialect>) -> Option<Dialect> {
    given.or_else(|| header_option(text, "--dialect").and_then(Dialect::named))
}

/// Returns the options for reading a C program that its header has: `--property`, `--data-model`, `-I` and `-D`.
/// Folders are those beside the file.
pub(crate) fn header_options(text: &str, path: &Path) -> LoadOptions {
    let named = |name: &str| Property::named(name);
    let properties = header_option(text, "--property").map(|names| names.split(',').filter_map(named));
    let folder = path.parent().unwrap_or(Path::new(""));
    let behind = |option: &'static str| {
        header(text).zip(header(text).skip(1)).filter(move |(word, _)| *word == option).map(|(_, value)| value)
    };
    let define = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or((word, "1"));
        (name.to_string(), value.to_string())
    };
    LoadOptions {
        properties: properties.map_or(Properties::default(), Properties::of),
        data_model: header_option(text, "--data-model").and_then(DataModel::named).unwrap_or_default(),
        include: behind("-I").map(|name| folder.join(name)).collect(),
        defines: behind("-D").map(define).collect(),
        malloc_bound: header_option(text, "--malloc-bound").and_then(|bound| bound.parse().ok()),
        path: Some(path.to_path_buf()),
        ..LoadOptions::default()
    }
}

/// Returns the value of an option in the line `// options: ..` of a text.
fn header_option<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    header(text).skip_while(|word| *word != name).nth(1)
}

/// Lists the words of the line `// options: ..` of a text.
fn header(text: &str) -> impl Iterator<Item = &str> {
    let line = text.lines().find_map(|line| line.strip_prefix("// options:"));
    line.unwrap_or_default().split_whitespace()
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
pub(crate) fn ask(subjected: &Subjected, mut question: Question, run: &Run<'_>) -> Result<Answer, String> {
    question.threads = question.threads.or(subjected.threads.filter(|_| question.initial.is_none()));
    let subject = Subject { program: &subjected.program, map: &subjected.map, text: subjected.source.text() };
    let options = Options { question, jobs: 2, ..Options::default() };
    check(subject, &options, run).map_err(|failure| failure.to_string())
}

/// The execution that a launch configuration asks for.
pub(crate) fn find(wanted: &Wanted, given: Option<Dialect>, run: &Run<'_>) -> Result<Launched, String> {
    let source = read(&wanted.program)?;
    let text = source.text().to_string();
    let question = wanted.question(&text);
    let options = wanted.load_options(&question, &text, given)?;
    if let Some(trace) = &wanted.trace {
        let trace = read(trace)?;
        if let Some(at) = trace.first_not_utf8() {
            return Err(format!("{}: this byte is not UTF-8", trace.place(at)));
        }
        return saved(wanted, text, &options, trace.text());
    }
    let subjected = load(&wanted.program, text, &options)?;
    let answer = ask(&subjected, question, run)?;
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
