//! Scopes: which name means what where.

use rustc_hash::FxHashMap;

use super::Typer;
use crate::c::files::Loc;
use crate::c::names::Symbol;
use crate::c::tree::{Expr, ExprKind, FunctionId, ObjectId};
use crate::c::types::{EnumId, QualType, RecordId};
use crate::diagnostic::Code;
use crate::suggest::nearest;

/// What an ordinary name means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Typedef(QualType),
    Object(ObjectId),
    Function(FunctionId),
    /// A constant of an enumeration.
    Constant(i128, QualType),
}

/// What a name behind `struct`, `union` or `enum` means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    Record(RecordId),
    Enum(EnumId),
}

/// The names that are declared in a block.
#[derive(Default)]
pub(crate) struct Scope {
    pub(crate) names: FxHashMap<Symbol, (Entry, Loc)>,
    pub(crate) tags: FxHashMap<Symbol, Tag>,
}

impl Typer {
    pub(crate) fn open_scope(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(crate) fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// Returns whether declarations are those of the file.
    pub(crate) fn is_file_scope(&self) -> bool {
        self.scopes.len() <= FILE_SCOPES
    }

    /// Returns the meaning of a name.
    pub(crate) fn lookup(&self, name: Symbol) -> Option<Entry> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(&name)).map(|(entry, _)| *entry)
    }

    pub(crate) fn lookup_tag(&self, name: Symbol) -> Option<Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(&name)).copied()
    }

    /// Returns the meaning of a name that is declared in the innermost scope, and where.
    pub(crate) fn lookup_here(&self, name: Symbol) -> Option<(Entry, Loc)> {
        self.scopes.last()?.names.get(&name).copied()
    }

    pub(crate) fn lookup_tag_here(&self, name: Symbol) -> Option<Tag> {
        self.scopes.last()?.tags.get(&name).copied()
    }

    pub(crate) fn insert(&mut self, name: Symbol, entry: Entry, loc: Loc) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, (entry, loc));
        }
    }

    pub(crate) fn insert_tag(&mut self, name: Symbol, tag: Tag) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tags.insert(name, tag);
        }
    }

    /// Returns the expression that a name is.
    pub(crate) fn name(&mut self, name: Symbol, loc: Loc) -> Expr {
        match self.lookup(name) {
            Some(Entry::Object(id)) => self.make(ExprKind::Object(id), self.unit.objects[id].ty, loc),
            Some(Entry::Function(id)) => self.make(ExprKind::Function(id), self.unit.functions[id].ty, loc),
            Some(Entry::Constant(value, ty)) => self.make(ExprKind::Integer(value), ty, loc),
            Some(Entry::Typedef(_)) => {
                let message = format!("`{}` is a type, and a value is needed here", self.text(name));
                self.reject(Code::UnexpectedToken, message, loc)
            }
            None => self.undeclared(name, loc),
        }
    }

    fn undeclared(&mut self, name: Symbol, loc: Loc) -> Expr {
        let text = self.text(name);
        let mut known: Vec<&str> = self.scopes[1..]
            .iter()
            .rev()
            .flat_map(|scope| {
                let mut names: Vec<&str> = scope.names.keys().map(|name| self.text(*name)).collect();
                names.sort_unstable();
                names
            })
            .collect();
        known.dedup();
        let near = nearest(text, known.into_iter());
        let message = format!("`{text}` is not declared");
        let diagnostic = self.diagnostic(Code::CUndeclared, message, loc).did_you_mean(near);
        self.push(diagnostic);
        // One finding for each name is enough.
        let ty = crate::c::types::basic::ERROR;
        let id = self.add_local(name, ty, crate::c::tree::Storage::Auto, loc);
        self.insert(name, Entry::Object(id), loc);
        self.wrong(loc)
    }
}

/// The scope of what is known beforehand, and that of the file.
const FILE_SCOPES: usize = 2;
