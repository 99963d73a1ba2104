//! C: from the text of a translation unit to a typed tree (`docs/c.md`).
//!
//! - `lexer`, `preprocess`: from files to tokens that know where they were written and which macros they are from.
//! - `parser`: from tokens to the typed tree (`tree`), with the rules of `typing` applied on the way, because C cannot
//!   be parsed without knowing which names are types.
//! - `types`, `layout`: types, their sizes and offsets in a data model.
//! - `fold`: the values of constant expressions.
//! - `lower`: the program of the representation, for the functions that run.
//! - `dump`: tokens and the typed tree as text.
//!
//! Nothing is approximated. A construct that is outside of the language that is read is an error with the code
//! [`CUnsupported`](crate::diagnostic::Code::CUnsupported) at its place; one that a program may contain without ever
//! executing it (inline assembly, floating-point numbers) is in the tree, so that lowering can refuse it where it is
//! used.

pub mod dump;
pub mod files;
pub mod fold;
mod headers;
pub mod layout;
pub mod lexer;
pub mod literals;
mod lower;
pub mod names;
mod parser;
pub mod preprocess;
pub mod tree;
pub mod types;
mod typing;

use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use preprocess::{Preprocessed, preprocess};
pub use tree::Unit;

use selvedge_ir::span::Span;

use crate::source::Source;

/// The sizes of types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DataModel {
    /// `long` and pointers have 64 bits, as on x86-64.
    #[default]
    Lp64,
    /// `long` and pointers have 32 bits, as on i386.
    Ilp32,
}

impl DataModel {
    /// All data models.
    pub const ALL: &[DataModel] = &[DataModel::Lp64, DataModel::Ilp32];

    /// Returns its name, as options write it.
    pub fn name(self) -> &'static str {
        match self {
            DataModel::Lp64 => "lp64",
            DataModel::Ilp32 => "ilp32",
        }
    }

    /// Returns the data model with this name.
    pub fn named(name: &str) -> Option<DataModel> {
        DataModel::ALL.iter().copied().find(|model| model.name() == name)
    }
}

/// A function that reads the user's headers; `None` if there is none with this name.
pub type Reader = Rc<dyn Fn(&Path) -> Option<Vec<u8>>>;

/// Options of the reader of C.
#[derive(Clone)]
pub struct Options {
    pub model: DataModel,
    /// The folders of the user's headers.
    pub include: Vec<PathBuf>,
    /// Macros to define, with their bodies.
    pub defines: Vec<(String, String)>,
    /// Macros to forget, among those that are always defined.
    pub undefines: Vec<String>,
    pub read: Reader,
}

impl Default for Options {
    /// Returns options that read no files but the headers of ours.
    fn default() -> Options {
        let (include, defines, undefines) = (Vec::new(), Vec::new(), Vec::new());
        Options { model: DataModel::Lp64, include, defines, undefines, read: Rc::new(|_| None) }
    }
}

/// Reads a translation unit: preprocesses, parses and types it.
pub fn read(source: Source, options: &Options) -> Unit {
    parser::parse(preprocess(source, options), options)
}

/// Reads a translation unit and lowers it. Only the headers of ours are read.
pub(crate) fn load(text: &str, load: &crate::LoadOptions) -> crate::Loaded {
    let options = Options { model: load.data_model, defines: load.defines.clone(), ..Options::default() };
    let mut unit = read(Source::new("", text), &options);
    let mut loaded = crate::Loaded::default();
    if !unit.has_errors() {
        loaded = lower::lower(
            &mut unit,
            &lower::Options { malloc_bound: load.malloc_bound.unwrap_or(2), externs: load.externs },
        );
    }
    loaded.diagnostics.extend(unit.diagnostics.iter().cloned());
    // Places in our headers are not in the text: remarks about them are left out.
    let is_inside = |span: Span| span.end as usize <= text.len();
    for diagnostic in &mut loaded.diagnostics {
        diagnostic.secondary.retain(|remark| is_inside(remark.span));
        if !is_inside(diagnostic.primary.span) {
            diagnostic.primary.span = Span::default();
        }
    }
    loaded.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    loaded
}

/// Reads a header from the file system.
pub fn read_from_disk(path: &Path) -> Option<Vec<u8>> {
    crate::files::read_regular(path).ok()
}
