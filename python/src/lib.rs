//! Selvedge as a module of Python, over the library.
//!
//! Work runs on another thread while the interpreter is free; now and then signals are looked at, so that Ctrl-C stops
//! a check.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use selvedge::{Error, Language, Property, Reader, Value, Verified};

pyo3::create_exception!(_selvedge, SelvedgeError, pyo3::exceptions::PyException);

/// The time between two looks at signals.
const LOOK: Duration = Duration::from_millis(50);

fn raised(error: Error) -> PyErr {
    match error {
        Error::Read { .. } => PyOSError::new_err(error.to_string()),
        Error::Question { .. } => PyValueError::new_err(error.to_string()),
        error => SelvedgeError::new_err(error.to_string()),
    }
}

/// Does some work while the interpreter is free. A signal cancels it.
fn detached<T: Send + 'static>(
    py: Python<'_>,
    cancel: &selvedge::CancelToken,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // The receiver is gone after a signal.
        drop(sender.send(work()));
    });
    loop {
        let (received, back) = py.detach(|| {
            let received = receiver.recv_timeout(LOOK);
            (received, receiver)
        });
        receiver = back;
        match received {
            Ok(result) => return result.map_err(raised),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(SelvedgeError::new_err("the work ended in a panic")),
        }
        if let Err(signal) = py.check_signals() {
            cancel.cancel();
            return Err(signal);
        }
    }
}

fn reader(defines: Option<BTreeMap<String, String>>, include: Vec<PathBuf>, file_options: bool) -> Reader {
    let reader = if file_options { Reader::new() } else { Reader::new().ignore_file_options() };
    let defines = defines.unwrap_or_default();
    let reader = defines.into_iter().fold(reader, |reader, (name, body)| reader.define(name, body));
    include.into_iter().fold(reader, Reader::include)
}

/// A program: its text, which was read without errors.
#[pyclass(frozen, module = "selvedge")]
struct Program(selvedge::Program);

#[pymethods]
impl Program {
    #[new]
    #[pyo3(signature = (text, *, language="bp", name=None, defines=None, include=vec![], file_options=true))]
    fn new(
        text: &str,
        language: &str,
        name: Option<String>,
        defines: Option<BTreeMap<String, String>>,
        include: Vec<PathBuf>,
        file_options: bool,
    ) -> PyResult<Program> {
        let language = match language {
            "bp" => Language::Bp,
            "c" => Language::C,
            "gcl" => Language::Gcl,
            "tts" => Language::Tts,
            "spec" => Language::Spec,
            other => {
                let message = format!("there is no language `{other}`: the languages are bp, c, gcl, tts and spec");
                return Err(PyValueError::new_err(message));
            }
        };
        let reader = reader(defines, include, file_options).language(language);
        let reader = name.into_iter().fold(reader, Reader::name);
        reader.read_str(text).map(Program).map_err(raised)
    }

    /// Reads a file; its extension tells the language.
    #[staticmethod]
    #[pyo3(signature = (path, *, defines=None, include=vec![], file_options=true))]
    fn from_path(
        path: PathBuf,
        defines: Option<BTreeMap<String, String>>,
        include: Vec<PathBuf>,
        file_options: bool,
    ) -> PyResult<Program> {
        reader(defines, include, file_options).read_path(path).map(Program).map_err(raised)
    }

    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings().iter().map(ToString::to_string).collect()
    }
}

/// What is asked about a program.
#[pyclass(frozen, module = "selvedge")]
#[derive(Clone, Default)]
struct Question(selvedge::Question);

#[derive(FromPyObject)]
enum Initial {
    Exactly(u32),
    Word(String),
}

#[pymethods]
impl Question {
    #[new]
    #[pyo3(signature = (*, threads=None, initial=None, label=None, assertion=None, together=vec![], deadlock=false,
        entry=None, properties=vec![]))]
    #[expect(clippy::too_many_arguments, reason = "they are named where they are given")]
    fn new(
        threads: Option<u32>,
        initial: Option<Initial>,
        label: Option<String>,
        assertion: Option<String>,
        together: Vec<String>,
        deadlock: bool,
        entry: Option<String>,
        properties: Vec<String>,
    ) -> PyResult<Question> {
        let question = selvedge::Question::new();
        let question = threads.into_iter().fold(question, selvedge::Question::threads);
        let question = match initial {
            None => question,
            Some(Initial::Exactly(count)) => question.initial(count),
            Some(Initial::Word(word)) if word == "any" => question.initial_any(),
            Some(Initial::Word(word)) => {
                return Err(PyValueError::new_err(format!("`{word}` is neither a number nor `any`")));
            }
        };
        let question = label.into_iter().fold(question, selvedge::Question::label);
        let question = assertion.into_iter().fold(question, selvedge::Question::assertion);
        let question = if together.is_empty() { question } else { question.together(together) };
        let question = if deadlock { question.deadlock() } else { question };
        let mut question = entry.into_iter().fold(question, selvedge::Question::entry);
        for name in properties {
            let property = Property::named(&name);
            let unknown = || PyValueError::new_err(format!("there is no property `{name}`"));
            question = question.property(property.ok_or_else(unknown)?);
        }
        Ok(Question(question))
    }
}

/// Stops checks from outside, also from other threads.
#[pyclass(frozen, module = "selvedge")]
#[derive(Clone, Default)]
struct CancelToken(selvedge::CancelToken);

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> CancelToken {
        CancelToken::default()
    }

    fn cancel(&self) {
        self.0.cancel();
    }

    #[getter]
    fn cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// How a check may run.
#[pyclass(frozen, module = "selvedge")]
#[derive(Clone, Default)]
struct Limits {
    limits: selvedge::Limits,
    cancel: selvedge::CancelToken,
}

#[pymethods]
impl Limits {
    #[new]
    #[pyo3(signature = (*, time=None, memory=None, jobs=None, engine=None, cancel=None))]
    fn new(
        time: Option<f64>,
        memory: Option<u64>,
        jobs: Option<usize>,
        engine: Option<String>,
        cancel: Option<PyRef<'_, CancelToken>>,
    ) -> PyResult<Limits> {
        let cancel = cancel.map(|cancel| cancel.0.clone()).unwrap_or_default();
        let mut limits = selvedge::Limits::default().cancel(&cancel);
        if let Some(seconds) = time {
            let time = Duration::try_from_secs_f64(seconds);
            let wrong = |_| PyValueError::new_err(format!("`{seconds}` is not a number of seconds"));
            limits = limits.time(time.map_err(wrong)?);
        }
        let limits = memory.into_iter().fold(limits, selvedge::Limits::memory);
        let limits = jobs.into_iter().fold(limits, selvedge::Limits::jobs);
        let limits = engine.into_iter().fold(limits, selvedge::Limits::engine);
        Ok(Limits { limits, cancel })
    }
}

/// Does some work about a program while the interpreter is free. The question and the limits can be left out.
fn asked<T: Send + 'static>(
    py: Python<'_>,
    program: PyRef<'_, Program>,
    question: Option<PyRef<'_, Question>>,
    limits: Option<PyRef<'_, Limits>>,
    work: impl FnOnce(&selvedge::Program, &selvedge::Question, &selvedge::Limits) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (program, question) = (program.0.clone(), question.map(|question| question.0.clone()).unwrap_or_default());
    let Limits { limits, cancel } = given(limits);
    detached(py, &cancel, move || work(&program, &question, &limits))
}

/// Returns the limits of a call, which can be left out.
fn given(limits: Option<PyRef<'_, Limits>>) -> Limits {
    limits.map_or_else(fresh, |limits| limits.clone())
}

/// Returns no limits, with a switch of their own.
fn fresh() -> Limits {
    let cancel = selvedge::CancelToken::default();
    Limits { limits: selvedge::Limits::default().cancel(&cancel), cancel }
}

/// Answers a question about a program.
#[pyfunction]
#[pyo3(signature = (program, question=None, limits=None))]
fn check(
    py: Python<'_>,
    program: PyRef<'_, Program>,
    question: Option<PyRef<'_, Question>>,
    limits: Option<PyRef<'_, Limits>>,
) -> PyResult<Answer> {
    asked(py, program, question, limits, selvedge::check).map(Answer)
}

fn value(py: Python<'_>, value: Value) -> PyResult<Py<PyAny>> {
    match value {
        Value::Bool(value) => Ok(value.into_pyobject(py)?.to_owned().into_any().unbind()),
        // Values have 64 bits at most, so that the range of both types is enough.
        Value::Int(number) => match i64::try_from(number) {
            Ok(number) => Ok(number.into_pyobject(py)?.into_any().unbind()),
            Err(_) => Ok((number as u64).into_pyobject(py)?.into_any().unbind()),
        },
        other => Err(SelvedgeError::new_err(format!("a value of an unknown kind: {other}"))),
    }
}

/// A variable that got another value.
#[pyclass(frozen, get_all, module = "selvedge")]
struct Change {
    variable: String,
    before: Option<Py<PyAny>>,
    after: Py<PyAny>,
}

#[pymethods]
impl Change {
    fn __repr__(&self, py: Python<'_>) -> String {
        let before = self.before.as_ref().map_or(String::new(), |before| format!("{} -> ", before.bind(py)));
        format!("<{}: {before}{}>", self.variable, self.after.bind(py))
    }
}

/// A statement that a thread executes.
#[pyclass(frozen, get_all, module = "selvedge")]
struct Step {
    thread: String,
    procedure: String,
    file: String,
    line: usize,
    column: usize,
    statement: String,
    changes: Vec<Py<Change>>,
    notes: Vec<String>,
}

#[pymethods]
impl Step {
    fn __repr__(&self) -> String {
        format!("<{}, line {}: {}>", self.thread, self.line, self.statement)
    }
}

/// The error at the end of a trace.
#[pyclass(frozen, get_all, module = "selvedge")]
struct Failure {
    what: String,
    thread: String,
    file: String,
    line: usize,
    column: usize,
    statement: String,
}

#[pymethods]
impl Failure {
    fn __repr__(&self) -> String {
        format!("<{}: {}, line {}: {}>", self.what, self.thread, self.line, self.statement)
    }
}

/// An execution to an error, which was replayed.
#[pyclass(frozen, module = "selvedge")]
struct Trace(selvedge::Trace);

#[pymethods]
impl Trace {
    /// Reads a trace, and replays it on a program.
    #[staticmethod]
    #[pyo3(signature = (text, program, question=None, limits=None))]
    fn from_json(
        py: Python<'_>,
        text: String,
        program: PyRef<'_, Program>,
        question: Option<PyRef<'_, Question>>,
        limits: Option<PyRef<'_, Limits>>,
    ) -> PyResult<Trace> {
        let read = move |program: &_, question: &_, limits: &_| {
            selvedge::Trace::from_json(&text, program, question, limits)
        };
        asked(py, program, question, limits, read).map(Trace)
    }

    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<Vec<Step>> {
        let change = |change: &selvedge::Change| -> PyResult<Py<Change>> {
            let before = change.before.map(|before| value(py, before)).transpose()?;
            Py::new(py, Change { variable: change.variable.clone(), before, after: value(py, change.after)? })
        };
        let step = |step: &selvedge::Step| -> PyResult<Step> {
            Ok(Step {
                thread: step.thread.clone(),
                procedure: step.procedure.clone(),
                file: step.file.clone(),
                line: step.line,
                column: step.column,
                statement: step.statement.clone(),
                changes: step.changes.iter().map(change).collect::<PyResult<_>>()?,
                notes: step.notes.clone(),
            })
        };
        self.0.steps().iter().map(step).collect()
    }

    #[getter]
    fn failure(&self) -> Failure {
        let failure = self.0.failure();
        Failure {
            what: failure.what.clone(),
            thread: failure.thread.clone(),
            file: failure.file.clone(),
            line: failure.line,
            column: failure.column,
            statement: failure.statement.clone(),
        }
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Returns the steps as a frame of pandas: one row for each, with a column for each variable that changes.
    fn to_frame(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let rows = PyList::empty(py);
        for step in self.0.steps() {
            let row = PyDict::new(py);
            row.set_item("thread", &step.thread)?;
            row.set_item("line", step.line)?;
            row.set_item("statement", &step.statement)?;
            for change in &step.changes {
                row.set_item(&change.variable, value(py, change.after)?)?;
            }
            rows.append(row)?;
        }
        Ok(py.import("pandas")?.getattr("DataFrame")?.call1((rows,))?.unbind())
    }

    /// Replays the trace on a program.
    #[pyo3(signature = (program, question=None, limits=None))]
    fn verify(
        &self,
        py: Python<'_>,
        program: PyRef<'_, Program>,
        question: Option<PyRef<'_, Question>>,
        limits: Option<PyRef<'_, Limits>>,
    ) -> PyResult<()> {
        let trace = self.0.clone();
        asked(py, program, question, limits, move |program, question, limits| trace.verify(program, question, limits))
    }

    fn __len__(&self) -> usize {
        self.0.steps().len()
    }
}

fn verified(verified: Verified) -> String {
    match verified {
        Verified::Certified => "certified".to_string(),
        Verified::ByOneSolver(solver) => format!("checked by {solver} alone"),
        _ => "accepted".to_string(),
    }
}

/// A certificate of safety.
#[pyclass(frozen, module = "selvedge")]
struct Certificate(selvedge::Certificate);

#[pymethods]
impl Certificate {
    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Certificate> {
        selvedge::Certificate::from_json(text).map(Certificate).map_err(raised)
    }

    #[getter]
    fn description(&self) -> Option<&str> {
        self.0.description()
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    /// Lets the judge check that the certificate proves a program safe.
    #[pyo3(signature = (program, question=None, limits=None))]
    fn verify(
        &self,
        py: Python<'_>,
        program: PyRef<'_, Program>,
        question: Option<PyRef<'_, Question>>,
        limits: Option<PyRef<'_, Limits>>,
    ) -> PyResult<String> {
        let certificate = self.0.clone();
        let judge = move |program: &_, question: &_, limits: &_| certificate.verify(program, question, limits);
        asked(py, program, question, limits, judge).map(verified)
    }
}

/// The answer to a question.
#[pyclass(frozen, module = "selvedge")]
struct Answer(selvedge::Answer);

#[pymethods]
impl Answer {
    #[getter]
    fn verdict(&self) -> String {
        self.0.verdict().to_string()
    }

    #[getter]
    fn headline(&self) -> &str {
        self.0.headline()
    }

    #[getter]
    fn reason(&self) -> Option<String> {
        self.0.reason()
    }

    #[getter]
    fn certified(&self) -> bool {
        self.0.is_certified()
    }

    #[getter]
    fn engine(&self) -> &str {
        self.0.engine()
    }

    #[getter]
    fn seconds(&self) -> f64 {
        self.0.time().as_secs_f64()
    }

    #[getter]
    fn trace(&self) -> Option<Trace> {
        self.0.trace().cloned().map(Trace)
    }

    #[getter]
    fn certificate(&self) -> Option<Certificate> {
        self.0.certificate().cloned().map(Certificate)
    }

    /// Judges the evidence once more, on the program as it is read anew.
    #[pyo3(signature = (limits=None))]
    fn verify(&self, py: Python<'_>, limits: Option<PyRef<'_, Limits>>) -> PyResult<String> {
        let Limits { limits, cancel } = given(limits);
        let answer = self.0.clone();
        detached(py, &cancel, move || answer.verify(&limits)).map(verified)
    }

    fn to_json(&self) -> String {
        self.0.to_json()
    }

    fn to_html(&self) -> String {
        self.0.to_html()
    }

    /// Returns the page in a frame of its own, for notebooks: the page has scripts and styles that must not mix with
    /// those of the notebook.
    fn _repr_html_(&self) -> String {
        let page = self.0.to_html().replace('&', "&amp;").replace('"', "&quot;");
        format!("<iframe srcdoc=\"{page}\" width=\"100%\" height=\"600\"></iframe>")
    }

    fn __repr__(&self) -> String {
        format!("<selvedge.Answer: {}>", self.0.headline())
    }
}

#[pymodule]
fn _selvedge(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("SelvedgeError", module.py().get_type::<SelvedgeError>())?;
    module.add_class::<Program>()?;
    module.add_class::<Question>()?;
    module.add_class::<CancelToken>()?;
    module.add_class::<Limits>()?;
    module.add_class::<Change>()?;
    module.add_class::<Step>()?;
    module.add_class::<Failure>()?;
    module.add_class::<Trace>()?;
    module.add_class::<Certificate>()?;
    module.add_class::<Answer>()?;
    module.add_function(wrap_pyfunction!(check, module)?)
}
