//! Programs: texts, and how to read them.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use selvedge_check::{InvalidQuestion, Subject};
use selvedge_frontend::diagnostic::{self, Code};
use selvedge_frontend::files::read_regular;
use selvedge_frontend::{self as inside, FileOptions, LoadOptions, Source, tts};
use selvedge_ir::span::SourceMap;
use selvedge_report::Context;
use selvedge_report::json::QuestionView;

use crate::choices::{DataModel, Dialect, Extern, Language};
use crate::error::{Diagnostic, Error};

/// A program: its text, which was read without errors, and how to read it. A question can change how it is read, so
/// that [`check`](crate::check) reads it again.
///
/// ```
/// use selvedge::{Error, Program};
///
/// let Err(Error::Program(found)) = "void main() begin\n  x := 1;\nend".parse::<Program>() else { panic!() };
/// assert_eq!((found[0].line, found[0].column), (2, 3));
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    reader: Arc<Reader>,
    language: Language,
    source: Arc<Source>,
    path: Option<PathBuf>,
    warnings: Vec<Diagnostic>,
}

/// How to read a program.
///
/// ```
/// use selvedge::{Language, Program, Reader};
///
/// let text = "int main(void) { return N; }";
/// let program = Reader::new().language(Language::C).define("N", "3").read_str(text)?;
/// assert_eq!(program.text(), text);
/// # Ok::<(), selvedge::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Reader {
    language: Option<Language>,
    name: Option<String>,
    options: LoadOptions,
}

/// A program that was read for a question.
pub(crate) struct Read {
    pub(crate) program: selvedge_ir::Program,
    pub(crate) map: SourceMap,
    pub(crate) source: Source,
    pub(crate) question: QuestionView,
    /// The number of threads in a run, if the text bounds it.
    pub(crate) threads: Option<u32>,
    /// The options of the file that count.
    pub(crate) file_options: String,
    pub(crate) warnings: Vec<diagnostic::Diagnostic>,
    pub(crate) time: Duration,
}

impl Reader {
    /// Creates a reader without options.
    pub fn new() -> Reader {
        Reader::default()
    }

    /// Sets the language; without it the extension of the file tells, and a text is a Boolean program.
    pub fn language(self, language: Language) -> Reader {
        Reader { language: Some(language), ..self }
    }

    /// Sets the name of the program in messages and evidence.
    pub fn name(self, name: impl Into<String>) -> Reader {
        Reader { name: Some(name.into()), ..self }
    }

    /// Sets the dialect of a Boolean program; without it, the shape of the program tells.
    pub fn dialect(mut self, dialect: Dialect) -> Reader {
        self.options.dialect = Some(dialect.into());
        self
    }

    /// Sets the sizes of the types of C.
    pub fn data_model(mut self, model: DataModel) -> Reader {
        self.options.data_model = Some(model.into());
        self
    }

    /// Defines a macro of C.
    pub fn define(mut self, name: impl Into<String>, body: impl Into<String>) -> Reader {
        self.options.defines.push((name.into(), body.into()));
        self
    }

    /// Adds a folder with headers of C.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Reader {
        self.options.include.push(folder.into());
        self
    }

    /// Sets how many objects each place of a C program may allocate.
    pub fn malloc_bound(mut self, bound: u32) -> Reader {
        self.options.malloc_bound = Some(bound);
        self
    }

    /// Sets what functions of C without a body do.
    pub fn externs(mut self, meaning: Extern) -> Reader {
        self.options.externs = Some(meaning.into());
        self
    }

    /// Leaves out the options that a text brings along in its line `// options: ..`.
    pub fn ignore_file_options(mut self) -> Reader {
        self.options.ignore_file_options = true;
        self
    }

    /// Reads a text.
    pub fn read_str(self, text: &str) -> Result<Program, Error> {
        let name = self.name.clone().unwrap_or_else(|| "<text>".to_string());
        let language = self.language.unwrap_or(Language::Bp);
        self.read(Source::new(name, text), language, None)
    }

    /// Reads a file, with the target of a thread-transition system from the file beside it that ends in `.prop`.
    pub fn read_path(self, path: impl AsRef<Path>) -> Result<Program, Error> {
        let path = path.as_ref();
        let mut source = self.file(path)?;
        let language = self.language.or_else(|| Language::of_path(path)).ok_or_else(|| Error::Question {
            message: "pushdown systems are not programs".to_string(),
            help: Some("check them with the command line".to_string()),
        })?;
        let beside = path.with_extension("prop");
        if language == Language::Tts && beside.exists() {
            let targets = self.file(&beside)?;
            source = tts::with_targets(source, targets).map_err(|message| Error::Question { message, help: None })?;
        }
        self.read(source, language, Some(path.to_path_buf()))
    }

    fn file(&self, path: &Path) -> Result<Source, Error> {
        let bytes = read_regular(path).map_err(|error| Error::Read { path: path.to_path_buf(), error })?;
        let name = self.name.clone().unwrap_or_else(|| path.to_string_lossy().into_owned());
        Ok(Source::from_bytes(name, bytes))
    }

    fn read(mut self, source: Source, language: Language, path: Option<PathBuf>) -> Result<Program, Error> {
        self.options.path.clone_from(&path);
        let (reader, source) = (Arc::new(self), Arc::new(source));
        let mut program = Program { reader, language, source, path, warnings: Vec::new() };
        let read = program.load(&QuestionView::default())?;
        program.warnings = read.warnings.iter().map(|found| Diagnostic::new(&read.source, found)).collect();
        Ok(program)
    }
}

impl FromStr for Program {
    type Err = Error;

    fn from_str(text: &str) -> Result<Program, Error> {
        Reader::new().read_str(text)
    }
}

impl Program {
    /// Reads a file; its extension tells the language.
    ///
    /// ```no_run
    /// let program = selvedge::Program::from_path("examples/lock.bp")?;
    /// # Ok::<(), selvedge::Error>(())
    /// ```
    pub fn from_path(path: impl AsRef<Path>) -> Result<Program, Error> {
        Reader::new().read_path(path)
    }

    /// Returns the text, with that of the targets of a thread-transition system.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// Returns the language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns what there is to say about the text.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Reads the text for a question, with the options that it brings along where none are given.
    pub(crate) fn load(&self, asked: &QuestionView) -> Result<Read, Error> {
        let start = Instant::now();
        let language = self.language;
        let file = match self.reader.options.ignore_file_options {
            true => FileOptions::default(),
            false => FileOptions::read(self.source.text(), self.path.as_deref()).0,
        };
        let (question, taken) = asked.clone().or_file(&file);
        if language != Language::C && !question.properties.is_empty() {
            return Err(InvalidQuestion {
                message: "properties are for C programs".to_string(),
                help: Some("leave them out".to_string()),
            }
            .into());
        }
        let of_question = question.load_options();
        let given = LoadOptions {
            entry: of_question.entry,
            labels: of_question.labels,
            deadlock: of_question.deadlock,
            properties: of_question.properties,
            ..self.reader.options.clone()
        };
        let (options, words) = given.or_file(&file);
        let loaded = inside::Language::from(language).load(self.source.text(), &options);
        let source = loaded.source.unwrap_or_else(|| (*self.source).clone());
        let Some(program) = loaded.program else { return Err(mistakes(&source, &loaded.diagnostics)) };
        let taken = Some(taken.options()).filter(|words| !words.is_empty());
        Ok(Read {
            program,
            map: loaded.source_map,
            source,
            question,
            threads: loaded.threads,
            file_options: taken.into_iter().chain(words).collect::<Vec<_>>().join(" "),
            warnings: loaded.diagnostics,
            time: start.elapsed(),
        })
    }
}

/// Returns the errors in a text: what is not supported yet is not wrong.
fn mistakes(source: &Source, found: &[diagnostic::Diagnostic]) -> Error {
    let errors = found.iter().filter(|found| found.is_error());
    let is_unsupported = errors.clone().all(|error| error.code == Code::CUnsupported);
    let listed = errors.map(|error| Diagnostic::new(source, error)).collect();
    if is_unsupported { Error::Unsupported(listed) } else { Error::Program(listed) }
}

impl Read {
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject { program: &self.program, map: &self.map, text: self.source.text() }
    }

    /// Returns the context of reports; `program` is the one with the initial threads of the question.
    pub(crate) fn context<'a>(&'a self, program: &'a selvedge_ir::Program) -> Context<'a> {
        Context { program, map: &self.map, source: &self.source }
    }
}
