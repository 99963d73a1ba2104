//! Selvedge for editors: a language server, and a debug adapter that walks through executions.
//!
//! Both speak their protocol over the streams that they are given and print nothing. How a text becomes a program is the
//! caller's business ([`Loader`]), so that an editor takes the same languages as the command line.

pub mod dap;
mod found;
pub mod server;

use std::path::Path;

use selvedge_check::Solvers;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_ir::Program;
use selvedge_ir::span::SourceMap;

/// Reads programs of all languages.
pub trait Loader: Sync {
    /// The program in a text; the name of its file tells the language.
    fn load(&self, path: &Path, text: &str, options: &LoadOptions) -> Loaded;

    /// The SMT solvers that checks of programs with integers use.
    fn solvers(&self) -> Solvers;
}

/// A text that was read.
pub struct Loaded {
    /// `None` if some diagnostic is an error.
    pub program: Option<Program>,
    pub map: SourceMap,
    pub diagnostics: Vec<Diagnostic>,
}
