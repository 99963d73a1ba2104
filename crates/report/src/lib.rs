//! The formats: a [`selvedge_check::Answer`], a run or a list of diagnostics as text and JSON, and graphs as pictures.
//!
//! Everything here is a pure function from data to a `String` (or back); the crate `cli` prints it.
//! [`annotated_trace`] turns an execution into what happened in it, step by step; [`text`] and [`json`] write that
//! down.

pub mod abstract_model;
pub mod annotated_trace;
pub mod boom;
mod changes;
mod condition;
pub mod diagnostic;
mod ending;
pub mod exit;
mod groups;
pub mod html;
pub mod invariant;
pub mod json;
mod lanes;
mod leaves;
pub mod names;
pub mod palette;
pub mod projection;
pub mod sarif;
pub mod session;
pub mod stats;
pub mod svg;
mod system_vars;
pub mod systems;
pub mod text;
pub mod thread_names;
mod views;
pub mod waits;

pub use annotated_trace::Execution;
pub use palette::{Palette, Tone};
pub(crate) use selvedge_frontend::source;
pub use selvedge_frontend::{Context, Position, Source};

/// What there is to say about reading a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading<'a> {
    /// The time that it took.
    pub time: std::time::Duration,
    /// The options that the file brings along and that count, as the command line would have them.
    pub file_options: &'a str,
    /// The command line; empty if there is none.
    pub command: &'a str,
}

impl Reading<'_> {
    /// Describes the options that come from the file, if there are any.
    pub(crate) fn options_text(&self) -> Option<String> {
        (!self.file_options.is_empty()).then(|| format!("{} (from the file)", self.file_options))
    }
}
