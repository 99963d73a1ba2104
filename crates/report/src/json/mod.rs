//! JSON: reports, traces and certificates in published formats (`docs/schema/`); traces and certificates are read back.
//!
//! The schemas are the format. What the rest of the code calls things may change; what a field means changes only with
//! [`VERSION`].

mod adequacy;
mod certificate;
mod cover;
mod integers;
mod invariants;
mod over_bits;
mod over_predicates;
mod question;
mod reachable;
mod report;
mod system;
mod threads;
mod trace;

pub use certificate::{CertificateFile, ProofView, read_certificate};
pub use question::QuestionView;
pub use reachable::reachable;
pub use report::{Head, answer, diagnostics, each, report, result};
pub(crate) use report::{add, list};
pub use system::{SystemCertificateFile, read_system_certificate};
pub use trace::{ReadError, StepView, TraceFile, digest, read_saved, read_trace};

use selvedge_frontend::visible::is_hidden;
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
    /// A number of 64 bits without sign, beyond those with sign.
    Large(u64),
}

impl From<selvedge_ir::Value> for ValueView {
    fn from(value: selvedge_ir::Value) -> ValueView {
        match value {
            selvedge_ir::Value::Bool(value) => ValueView::Bool(value),
            selvedge_ir::Value::Int(value) => ValueView::Int(value),
            machine => match i64::try_from(machine.number()) {
                Ok(number) => ValueView::Int(number),
                Err(_) => ValueView::Large(machine.number() as u64),
            },
        }
    }
}

impl ValueView {
    /// Returns the value that stands where one of a type is expected; `None` if it is too large for the type. The
    /// judge refuses a value of another type.
    pub(crate) fn typed(self, ty: selvedge_ir::Ty) -> Option<selvedge_ir::Value> {
        use selvedge_ir::{Ty, Value};
        let number = match self {
            ValueView::Bool(value) => return Some(Value::Bool(value)),
            ValueView::Int(value) => i128::from(value),
            ValueView::Large(value) => i128::from(value),
        };
        match ty {
            Ty::Machine(ty) => {
                let bits = ty.wrap(number);
                (ty.read(bits) == number).then_some(Value::Machine(ty, bits))
            }
            Ty::Bool | Ty::Int => i64::try_from(number).ok().map(Value::Int),
        }
    }
}

/// The text of a value that serialises without failure, for people: indented, with a line break at the end.
pub fn to_text(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value);
    escape_hidden(text.expect("the types of this module have string keys and no failing parts") + "\n")
}

/// The same on one line.
fn to_line(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value);
    escape_hidden(text.expect("the types of this module have string keys and no failing parts") + "\n")
}

/// Returns a JSON text with the same value in which no hidden character occurs: such characters can only be in strings,
/// where JSON has escapes for them.
pub(crate) fn escape_hidden(text: String) -> String {
    let is_hidden = |char: char| !char.is_ascii_control() && is_hidden(char) || char == '\u{7F}';
    if text.is_ascii() && !text.contains('\u{7F}') || !text.contains(is_hidden) {
        return text;
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if is_hidden(char) {
            char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}")));
        } else {
            escaped.push(char);
        }
    }
    escaped
}

/// The part of a file that tells how to read the rest.
#[derive(Deserialize)]
struct Preamble {
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
    if !text.trim_start().starts_with('{') {
        let message = format!("this is no file in the format `{format}`, which is JSON and comes before the program");
        return Err(ReadError::Format(message));
    }
    let head: Preamble = serde_json::from_str(text).map_err(syntax)?;
    if head.format != format {
        return Err(ReadError::Format(format!("this is `{}`, not `{format}`", head.format)));
    }
    if head.version != VERSION {
        return Err(ReadError::Format(format!("this is version {}, but only {VERSION} is known", head.version)));
    }
    serde_json::from_str(text).map_err(syntax)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_stay_the_same() {
        let value = serde_json::json!({ "a\u{202E}": "b\u{7F}\u{9B}\u{E0041}\u{1B}ä\n" });
        for text in [to_text(&value), to_line(&value)] {
            assert!(!text.contains(|char: char| is_hidden(char) && char != '\n'), "{text}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
        }
    }
}
