//! C: from the text of a translation unit to a typed tree (`docs/c.md`).
//!
//! - `lexer`, `preprocess`: from files to tokens that know where they were written and which macros they are from.
//! - `annotations`: comments that are assertions.
//! - `parser`: from tokens to the typed tree (`tree`), with the rules of `typing` applied on the way, because C cannot
//!   be parsed without knowing which names are types.
//! - `types`, `layout`: types, their sizes and offsets in a data model.
//! - `fold`: the values of constant expressions.
//! - `property`: what is asked about a program.
//! - `lower`: the program of the representation, for the functions that run, with the checks that are asked for.
//! - `origin`: the places of the program in the files that the user has.
//! - `dump`: tokens and the typed tree as text.
//!
//! Nothing is approximated. A construct that is outside of the language that is read is an error with the code
//! [`CUnsupported`](crate::diagnostic::Code::CUnsupported) at its place; one that a program may contain without ever
//! executing it (inline assembly, floating-point numbers) is in the tree, so that lowering can refuse it where it is
//! used.

mod annotations;
pub mod dump;
pub mod files;
pub mod fold;
mod headers;
pub mod layout;
pub mod lexer;
pub mod literals;
mod lower;
pub mod names;
mod origin;
mod parser;
pub mod preprocess;
mod property;
pub mod tree;
pub mod types;
mod typing;

use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use lower::PointerUse;
pub use preprocess::{Preprocessed, preprocess};
pub use property::{Properties, Property, read_property_file};
pub use tree::Unit;

use origin::Origin;

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

/// A function that reads the user's headers; `None` if no header has this name.
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

/// Reads a translation unit with the options of a program, and with the user's headers if it is known where the text is
/// from.
pub fn read_with(text: &str, load: &crate::LoadOptions) -> Unit {
    let path = load.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let mut options = Options {
        model: load.data_model.unwrap_or_default(),
        include: load.include.clone(),
        defines: load.defines.clone(),
        ..Options::default()
    };
    if load.path.is_some() {
        options.read = Rc::new(read_from_disk);
    }
    read(Source::new(path, load.preprocessed.as_deref().unwrap_or(text)), &options)
}

/// Reads a translation unit and lowers it, with the checks for the properties that are asked about.
pub(crate) fn load(text: &str, load: &crate::LoadOptions) -> crate::Loaded {
    observed(text, load, false).0
}

/// Reads a translation unit and lowers it so that each pointer may lead to every part of the right shape, with the uses
/// of pointers and what the points-to analysis says about them.
pub fn observe(text: &str, load: &crate::LoadOptions) -> (crate::Loaded, Vec<PointerUse>) {
    observed(text, load, true)
}

fn observed(text: &str, load: &crate::LoadOptions, observes: bool) -> (crate::Loaded, Vec<PointerUse>) {
    let mut unit = read_with(text, load);
    let properties = if load.deadlock { Properties::of([Property::Deadlock]) } else { load.properties };
    let (mut loaded, mut uses) = (crate::Loaded::default(), Vec::new());
    if !unit.has_errors() {
        let malloc_bound = load.malloc_bound.unwrap_or(2);
        let externs = load.externs.unwrap_or_default();
        let options = lower::Options { malloc_bound, externs, asked: properties, observes };
        (loaded, uses) = lower::lower(&mut unit, &options);
    }
    loaded.diagnostics.extend(unit.diagnostics.iter().cloned());
    (placed(loaded, &unit, text, load), uses)
}

/// Returns what was found in reading a unit, without lowering it.
pub fn findings(unit: &Unit, text: &str, load: &crate::LoadOptions) -> crate::Loaded {
    let loaded = crate::Loaded { diagnostics: unit.diagnostics.clone(), ..crate::Loaded::default() };
    placed(loaded, unit, text, load)
}

/// Returns a program and findings with places in the user's files.
fn placed(mut loaded: crate::Loaded, unit: &Unit, text: &str, load: &crate::LoadOptions) -> crate::Loaded {
    let path = load.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let origin = match load.preprocessed {
        Some(_) => Origin::of_markers(&unit.files, &path, text),
        None => Origin::of_files(&unit.files, &path),
    };
    let source = origin.apply(&mut loaded.source_map, &mut loaded.diagnostics);
    loaded.source = Some(source).filter(|source| source.last_start() > 0);
    loaded.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
    loaded
}

/// Returns the headers of ours: their names and texts.
pub fn embedded_headers() -> &'static [(&'static str, &'static str)] {
    headers::EMBEDDED
}

/// Reads a header from the file system.
pub fn read_from_disk(path: &Path) -> Option<Vec<u8>> {
    crate::files::read_regular(path).ok()
}
