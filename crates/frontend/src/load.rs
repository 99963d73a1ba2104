//! One door for all input languages: [`load`] recognises the language of a file and reads its text.

use std::path::{Path, PathBuf};

use selvedge_ir::pds::{Pds, Threads};
use selvedge_ir::span::SourceMap;
use selvedge_ir::tts::Tts;
use selvedge_ir::{Count, Entry, LocId, Proc, Program};

use crate::diagnostic::{Code, Diagnostic};
use crate::file_options::FileOptions;
use crate::source::Source;
use crate::{bp, c, foreign, gcl, pds, spec, tts};

/// An input language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Boolean programs.
    Bp,
    /// C with threads.
    C,
    /// Guarded commands over integers.
    Gcl,
    /// Pushdown systems.
    Pds,
    /// Thread-transition systems.
    Tts,
    /// Petri nets in the format of MIST.
    Spec,
}

/// The reading of those parts of a Boolean program that mean different things in different tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The language of this tool, which is that of Boppo, SatAbs and BOOM.
    Selvedge,
    /// That of Getafix: `constrain(e);` with primes updates all variables in scope, and no other thread runs while a
    /// shared variable `atomic` is true.
    Getafix,
}

impl Dialect {
    /// All dialects.
    pub const ALL: &[Dialect] = &[Dialect::Selvedge, Dialect::Getafix];

    /// Returns its name, as options and launch configurations write it.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Selvedge => "selvedge",
            Dialect::Getafix => "getafix",
        }
    }

    /// Returns the dialect with this name.
    pub fn named(name: &str) -> Option<Dialect> {
        Dialect::ALL.iter().copied().find(|dialect| dialect.name() == name)
    }
}

/// Options that change the meaning of a text.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The procedure that the initial thread runs, instead of `main`.
    pub entry: Option<String>,
    /// Labels that the question refers to; they count as used.
    pub labels: Vec<String>,
    /// The dialect of a Boolean program; without it, the shape of the program tells.
    pub dialect: Option<Dialect>,
    /// Set if the question is about deadlocks: then a thread-transition system becomes a program that keeps them.
    pub deadlock: bool,
    /// The sizes of the types of C; those of 64-bit machines if they are not given.
    pub data_model: Option<c::DataModel>,
    /// Macros of C to define, with their bodies.
    pub defines: Vec<(String, String)>,
    /// The folders of the user's headers of C.
    pub include: Vec<PathBuf>,
    /// The file that a text of C is from: headers are read beside it. Without it, no headers but ours are read.
    pub path: Option<PathBuf>,
    /// What another preprocessor has made of a text of C, with line markers.
    pub preprocessed: Option<String>,
    /// What is asked about a C program.
    pub properties: c::Properties,
    /// How many objects each place of a C program may allocate; 2 if it is not given.
    pub malloc_bound: Option<u32>,
    /// What functions of C without a body do that are not known; they are refused if it is not given.
    pub externs: Option<Extern>,
    /// Set if the options that the text brings along ([`FileOptions`]) do not count.
    pub ignore_file_options: bool,
}

/// What functions of C without a body do that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Extern {
    /// They are not supported.
    #[default]
    Refuse,
    /// They change nothing and return any value.
    Havoc,
    /// They change nothing and return 0.
    Skip,
}

impl Extern {
    /// Returns its name, as options write it.
    pub fn name(self) -> &'static str {
        match self {
            Extern::Refuse => "refuse",
            Extern::Havoc => "havoc",
            Extern::Skip => "skip",
        }
    }

    /// Returns the meaning with this name.
    pub fn named(name: &str) -> Option<Extern> {
        [Extern::Refuse, Extern::Havoc, Extern::Skip].into_iter().find(|meaning| meaning.name() == name)
    }
}

/// The result of reading a text.
#[derive(Clone, Debug, Default)]
pub struct Loaded {
    /// The program; `None` if some diagnostic is an error, and for pushdown systems.
    pub program: Option<Program>,
    /// The system that the text describes, if the language is one of systems and no diagnostic is an error.
    pub system: Option<System>,
    /// The number of threads in a run, the initial one included, if the text bounds it.
    pub threads: Option<u32>,
    /// The texts that positions refer to, where there are others beside the one that was read: headers of C.
    pub source: Option<Source>,
    /// The positions of the program's parts.
    pub source_map: SourceMap,
    /// The diagnostics, ordered by position.
    pub diagnostics: Vec<Diagnostic>,
}

/// A system as its text describes it, before any lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum System {
    /// A thread-transition system; [`Loaded::program`] is its lowering.
    Tts(Tts),
    /// A pushdown system: one thread, with named states and symbols.
    Pds(Pds),
    /// Several pushdown systems with shared states, all numbered.
    Threads(Threads),
}

/// Reads a text. The path tells the language; nothing is read from the file system.
pub fn load(path: &Path, text: &str, options: &LoadOptions) -> Loaded {
    Language::of_path(path).load(text, options)
}

impl Language {
    /// Returns the language of a file by its extension. Other extensions, and none, mean a Boolean program.
    pub fn of_path(path: &Path) -> Language {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("c" | "i") => Language::C,
            Some("gcl") => Language::Gcl,
            Some("pds") => Language::Pds,
            Some("tts") => Language::Tts,
            Some("spec") => Language::Spec,
            _ => Language::Bp,
        }
    }

    /// Reads a text in this language, with the options that it brings along where none are given. Mistakes in these
    /// options are mistakes in the text.
    pub fn load(self, text: &str, options: &LoadOptions) -> Loaded {
        if options.ignore_file_options {
            return self.read(text, options);
        }
        let (file, mistakes) = FileOptions::read(text, options.path.as_deref());
        if file == FileOptions::default() && mistakes.is_empty() {
            return self.read(text, options);
        }
        let mut loaded = self.read(text, &options.clone().or_file(&file).0);
        loaded.diagnostics.extend(mistakes);
        loaded.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
        if loaded.has_errors() {
            (loaded.program, loaded.system) = (None, None);
        }
        loaded
    }

    fn read(self, text: &str, options: &LoadOptions) -> Loaded {
        match self {
            Language::Bp => other_language(text, bp::load(text, options)),
            Language::C => c::load(text, options),
            Language::Gcl => gcl::load(text),
            Language::Pds => pds::load(text),
            Language::Tts if options.deadlock => tts::load_for_deadlocks(text),
            Language::Tts => tts::load_with_labels(text, &options.labels),
            Language::Spec => spec::load_with_labels(text, &options.labels),
        }
    }

    /// Formats a text; fails with its syntax errors. `None` for languages without a formatter.
    pub fn format(self, text: &str) -> Option<Result<String, Vec<Diagnostic>>> {
        match self {
            Language::Bp => Some(bp::format(text)),
            Language::Gcl => Some(gcl::format(text)),
            Language::C | Language::Pds | Language::Tts | Language::Spec => None,
        }
    }
}

/// Replaces the errors in a Boolean program by one, if its text is in another language.
fn other_language(text: &str, loaded: Loaded) -> Loaded {
    if !loaded.has_errors() {
        return loaded;
    }
    let Some((name, advice, span)) = foreign::recognise(text) else { return loaded };
    let message = format!("this looks like {name}, but it is read as a Boolean program");
    let diagnostic = Diagnostic::new(Code::OtherLanguage, message, span).help(advice);
    Loaded { diagnostics: vec![diagnostic], ..Loaded::default() }
}

/// Adds the procedure `main` between two locations, which one thread runs.
pub(crate) fn add_main(program: &mut Program, entry: LocId, exit: LocId) {
    let name = "main".to_owned();
    let (params, locals, results) = (Vec::new(), Vec::new(), Vec::new());
    let proc = program.procs.push(Proc { name: name.clone(), params, locals, results, entry, exit });
    let (thread_vars, init) = (Vec::new(), Vec::new());
    program.entries.push(Entry { name, proc, count: Count::Exactly(1), thread_vars, init });
}

impl Loaded {
    /// Returns a program with the diagnostics about it; if some are errors, the program is dropped.
    pub(crate) fn of_program(program: Program, source_map: SourceMap, diagnostics: Vec<Diagnostic>) -> Loaded {
        let mut loaded = Loaded { program: Some(program), source_map, diagnostics, ..Loaded::default() };
        loaded.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
        if loaded.has_errors() {
            loaded.program = None;
        }
        loaded
    }

    /// Returns whether some diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns the thread-transition system, if the text describes one.
    pub fn tts(&self) -> Option<&Tts> {
        match &self.system {
            Some(System::Tts(tts)) => Some(tts),
            Some(System::Pds(_) | System::Threads(_)) | None => None,
        }
    }
}
