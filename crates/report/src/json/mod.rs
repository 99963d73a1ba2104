//! JSON: reports, traces and certificates in published formats (`docs/schema/`); traces and certificates are read back.
//!
//! The schemas are the format. What the rest of the code calls things may change; what a field means changes only with
//! [`VERSION`].

mod adequacy;
mod certificate;
mod cover;
mod integers;
mod reachable;
mod report;
mod system;
mod threads;
mod trace;

pub use certificate::{CertificateFile, ProofView, read_certificate};
pub use reachable::reachable;
pub(crate) use report::{add, list};
pub use report::{answer, diagnostics, each, report};
pub use system::{SystemCertificateFile, read_system_certificate};
pub use trace::{QuestionView, ReadError, TraceFile, digest, read_saved, read_trace};

use serde::{Deserialize, Serialize};

/// The version of all formats.
pub const VERSION: u32 = 1;

/// The program that writes the file.
pub const GENERATOR: &str = concat!("selvedge ", env!("CARGO_PKG_VERSION"));

/// A value: a truth value or an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ValueView {
    Bool(bool),
    Int(i64),
}

impl From<selvedge_ir::Value> for ValueView {
    fn from(value: selvedge_ir::Value) -> ValueView {
        match value {
            selvedge_ir::Value::Bool(value) => ValueView::Bool(value),
            selvedge_ir::Value::Int(value) => ValueView::Int(value),
        }
    }
}

impl From<ValueView> for selvedge_ir::Value {
    fn from(value: ValueView) -> selvedge_ir::Value {
        match value {
            ValueView::Bool(value) => selvedge_ir::Value::Bool(value),
            ValueView::Int(value) => selvedge_ir::Value::Int(value),
        }
    }
}

/// The text of a value that serialises without failure, for people: indented, with a line break at the end.
pub fn to_text(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    text.expect("the types of this module have string keys and no failing parts") + "\n"
}

/// The part of a file that tells how to read the rest.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

/// Reads a file of a format.
fn read<T: serde::de::DeserializeOwned>(text: &str, format: &str) -> Result<T, ReadError> {
    let syntax = |error: serde_json::Error| {
        let message = error.to_string();
        let end = message.rfind(" at line ").unwrap_or(message.len());
        ReadError::Syntax { line: error.line(), column: error.column(), message: message[..end].to_string() }
    };
    let head: Head = serde_json::from_str(text).map_err(syntax)?;
    if head.format != format {
        return Err(ReadError::Format(format!("this is `{}`, not `{format}`", head.format)));
    }
    if head.version != VERSION {
        return Err(ReadError::Format(format!("this is version {}, but only {VERSION} is known", head.version)));
    }
    serde_json::from_str(text).map_err(syntax)
}
