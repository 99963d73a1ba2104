//! The names of a program: where each is declared, and where it is used.

mod bp;
mod gcl;

use selvedge_frontend::Language;
use selvedge_ir::span::Span;

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
    pub(crate) uses: Vec<Span>,
}

/// All declarations of a file.
pub(crate) struct Index {
    entities: Vec<Entity>,
    /// The comments of the file.
    pub(crate) comments: Vec<Span>,
}

impl Index {
    pub(crate) fn new(language: Language, text: &str) -> Index {
        match language {
            Language::Bp => {
                let parsed = selvedge_frontend::bp::parse(text);
                let comments = parsed.comments.iter().map(|comment| comment.span).collect();
                Index { entities: bp::entities(&parsed.file), comments }
            }
            Language::Gcl => {
                let parsed = selvedge_frontend::gcl::parse(text);
                Index {
                    entities: gcl::entities(&parsed.file),
                    comments: parsed.comments.iter().map(|comment| comment.span).collect(),
                }
            }
            Language::C | Language::Pds | Language::Tts | Language::Spec => {
                Index { entities: Vec::new(), comments: Vec::new() }
            }
        }
    }

    /// The declaration that a place belongs to.
    pub(crate) fn at(&self, offset: u32) -> Option<&Entity> {
        let holds = |span: &Span| span.start <= offset && offset <= span.end && span.start < span.end;
        self.entities.iter().find(|entity| holds(&entity.declared) || entity.uses.iter().any(holds))
    }
}
