//! The names of a program: where each is declared, where it is known, and where it is used.

mod bp;
mod gcl;

use std::collections::BTreeSet;

use selvedge_frontend::Language;
use selvedge_ir::span::Span;

use super::lexemes::{Lexeme, Lexemes, Sort};

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Shared,
    PerThread,
    Local,
    Parameter,
    Procedure,
    Process,
    Label,
    /// A variable of guarded commands, in or outside of a process.
    Variable,
    /// A location of a process of guarded commands.
    Location,
    Command,
    Safe,
}

/// Names of different sorts do not hide each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Namespace {
    Values,
    Code,
    Places,
}

impl Kind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::Shared => "shared variable",
            Kind::PerThread => "per-thread variable",
            Kind::Local => "local variable",
            Kind::Parameter => "parameter",
            Kind::Procedure => "procedure",
            Kind::Process => "process",
            Kind::Label => "label",
            Kind::Variable => "variable",
            Kind::Location => "location",
            Kind::Command => "command",
            Kind::Safe => "condition that must always hold",
        }
    }

    /// Returns whether control can be there.
    pub(crate) fn is_place(self) -> bool {
        self.namespace() == Namespace::Places
    }

    fn namespace(self) -> Namespace {
        match self {
            Kind::Shared | Kind::PerThread | Kind::Local | Kind::Parameter | Kind::Variable => Namespace::Values,
            Kind::Procedure | Kind::Process | Kind::Command | Kind::Safe => Namespace::Code,
            Kind::Label | Kind::Location => Namespace::Places,
        }
    }
}

/// A place where a name is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) span: Span,
    /// Whether the variable gets a value here.
    pub(crate) is_write: bool,
}

/// A declaration with all its uses.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The name where it is declared.
    pub(crate) declared: Span,
    /// The whole declaration.
    pub(crate) whole: Span,
    /// The part of the text in which the name is known.
    pub(crate) scope: Span,
    pub(crate) uses: Vec<Use>,
}

impl Entity {
    /// Returns the places of the name: that of the declaration first.
    pub(crate) fn places(&self) -> impl Iterator<Item = Span> {
        std::iter::once(self.declared).chain(self.uses.iter().map(|found| found.span))
    }
}

/// All declarations of a file.
#[derive(Default)]
pub(crate) struct Index {
    pub(crate) entities: Vec<Entity>,
    /// The words, signs and comments of the file.
    pub(crate) lexemes: Lexemes,
}

impl Index {
    pub(crate) fn new(language: Language, text: &str) -> Index {
        let whole = Span::new(0, text.len());
        let mut entities = match language {
            Language::Bp => bp::entities(&selvedge_frontend::bp::parse(text).file, whole),
            Language::Gcl => gcl::entities(&selvedge_frontend::gcl::parse(text).file, whole),
            Language::C | Language::Pds | Language::Tts | Language::Spec => Vec::new(),
        };
        let lexemes = Lexemes::new(language, text);
        for entity in &mut entities {
            let name = &entity.name;
            entity.uses.iter_mut().for_each(|found| found.span = narrowed(found.span, name, text, &lexemes));
            entity.uses.sort_by_key(|found| found.span);
            entity.uses.dedup();
        }
        Index { entities, lexemes }
    }

    /// Returns the declaration that a place belongs to, and the name there.
    pub(crate) fn at(&self, offset: u32) -> Option<(&Entity, Span)> {
        let holds = |span: &Span| span.start <= offset && offset <= span.end && span.start < span.end;
        self.entities.iter().find_map(|entity| Some((entity, entity.places().find(holds)?)))
    }

    /// Returns the names that are known at a place, the innermost first. A name that another one hides is left out.
    pub(crate) fn known_at(&self, offset: u32) -> Vec<&Entity> {
        let is_known = |entity: &&Entity| entity.scope.start <= offset && offset <= entity.scope.end;
        let mut known: Vec<&Entity> = self.entities.iter().filter(is_known).collect();
        known.sort_by_key(|entity| entity.scope.end - entity.scope.start);
        let mut seen = BTreeSet::new();
        known.retain(|entity| seen.insert((entity.kind.namespace(), entity.name.as_str())));
        known
    }
}

/// Returns the place of a name in the expression that is made of it: without parentheses, a prime, or the process
/// before it, or the variable behind it.
fn narrowed(span: Span, name: &str, text: &str, lexemes: &Lexemes) -> Span {
    let within = |word: &&Lexeme| word.sort == Sort::Name && span.start <= word.span.start && word.span.end <= span.end;
    let part = |word: &Lexeme| {
        let (start, written) = (word.span.start as usize, word.span.of(text));
        let before = written.strip_suffix(name).filter(|rest| rest.is_empty() || rest.ends_with('.'));
        let behind = written.strip_prefix(name).filter(|rest| rest.starts_with('.'));
        let start = behind.map(|_| start).or(before.map(|rest| start + rest.len()))?;
        Some(Span::new(start, start + name.len()))
    };
    lexemes.words.iter().filter(within).find_map(part).unwrap_or(span)
}
