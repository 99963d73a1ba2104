//! What can go wrong, with the places in the program.

use std::fmt;
use std::path::PathBuf;

use selvedge_check::InvalidQuestion;
use selvedge_frontend::Source;
use selvedge_frontend::diagnostic;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        error: std::io::Error,
    },
    /// The program has mistakes.
    #[error("{}", listed(.0))]
    Program(Vec<Diagnostic>),
    /// The program is right, as far as it was read, but has something that is not supported yet.
    #[error("{}", listed(.0))]
    Unsupported(Vec<Diagnostic>),
    /// The question does not fit the program. The second text says what to do, where that is known.
    #[error("{message}{}", help.as_ref().map(|help| format!(" (help: {help})")).unwrap_or_default())]
    Question {
        /// The problem.
        message: String,
        /// What to do.
        help: Option<String>,
    },
    /// Evidence was rejected: it cannot be read, belongs to another question or program, or proves nothing.
    #[error("{0}")]
    Rejected(String),
    /// The judge cannot tell whether evidence holds: a limit was reached, or a solver is missing.
    #[error("not judged: {0}")]
    NotJudged(String),
    /// An answer has no evidence that could be verified.
    #[error("the answer has no evidence")]
    NoEvidence,
    /// Selvedge is wrong: an engine and the judge disagree, or something panicked.
    #[error("internal error of selvedge: {0}")]
    Internal(String),
}

/// Something that there is to say about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The code, which `selvedge explain` explains.
    pub code: String,
    /// The file, as the caller named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The message.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Severity {
    /// There is no program.
    Error,
    /// The program is read, but may not mean what was meant.
    Warning,
    /// A remark.
    Note,
}

impl Diagnostic {
    pub(crate) fn new(source: &Source, found: &diagnostic::Diagnostic) -> Diagnostic {
        let (file, first) = source.part(found.primary.span.start as usize);
        let position = file.position(found.primary.span.start as usize - first);
        Diagnostic {
            severity: match found.severity {
                diagnostic::Severity::Error => Severity::Error,
                diagnostic::Severity::Warning => Severity::Warning,
                diagnostic::Severity::Note => Severity::Note,
            },
            code: found.code.as_str().to_string(),
            file: file.name.clone(),
            line: position.line,
            column: position.column,
            message: found.message.clone(),
            help: found.help.clone(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        write!(f, "{}:{}:{}: {severity}[{}]: {}", self.file, self.line, self.column, self.code, self.message)?;
        self.help.as_ref().map_or(Ok(()), |help| write!(f, " (help: {help})"))
    }
}

impl From<InvalidQuestion> for Error {
    fn from(invalid: InvalidQuestion) -> Error {
        Error::Question { message: invalid.message, help: invalid.help }
    }
}

fn listed(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
