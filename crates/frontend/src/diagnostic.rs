//! What is wrong or odd in the user's program, as data. Rendering is the business of the crate `report`.

use selvedge_ir::span::Span;

pub use crate::codes::Code;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The place, and what to write beside it (may be empty).
    pub primary: Annotation,
    /// Further places that explain it.
    pub secondary: Vec<Annotation>,
    /// What to do about it.
    pub help: Option<String>,
}

/// A place with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub span: Span,
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program has no meaning.
    Error,
    /// The program has a meaning, perhaps not the one that was meant.
    Warning,
}

impl Diagnostic {
    /// Returns a finding of this kind; the code decides how severe it is.
    pub fn new(code: Code, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: Annotation { span, label: String::new() },
            secondary: Vec::new(),
            help: None,
        }
    }

    /// With a remark at its place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.primary.label = label.into();
        self
    }

    /// With a further place.
    #[must_use]
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.secondary.push(Annotation { span, label: label.into() });
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Returns whether it keeps the program from having a meaning.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
