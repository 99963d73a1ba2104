//! Declarations: what they add to the scopes, linkage, and definitions.

use super::{Entry, Typer};
use crate::c::files::Loc;
use crate::c::names::Symbol;
use crate::c::tree::{Definition, Function, FunctionId, Init, Item, Linkage, Object, ObjectId, Storage};
use crate::c::types::{Length, QualType, Type};
use crate::diagnostic::Code;

/// The words of a declaration that are not about the type.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StorageWords {
    pub(crate) is_typedef: bool,
    pub(crate) is_extern: bool,
    pub(crate) is_static: bool,
    pub(crate) is_thread: bool,
    /// `auto` or `register`.
    pub(crate) is_auto: bool,
    pub(crate) is_inline: bool,
    pub(crate) is_noreturn: bool,
    /// The alignment that `_Alignas` or an attribute asks for.
    pub(crate) align: Option<u64>,
}

/// A name with its type, as a declarator gives it.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: Symbol,
    pub(crate) ty: QualType,
    pub(crate) loc: Loc,
    pub(crate) words: StorageWords,
    pub(crate) asm_name: Option<String>,
}

impl Typer {
    /// Adds a declaration to the innermost scope, and to the tree.
    pub(crate) fn declare(&mut self, declared: &Declared) -> Option<Entry> {
        let words = declared.words;
        if words.is_typedef {
            self.declare_typedef(declared);
            return None;
        }
        if self.unit.types.is_function(declared.ty) {
            return Some(Entry::Function(self.declare_function(declared)));
        }
        if self.unit.types.is_void(declared.ty) {
            let message = format!("`{}` cannot have the type `void`", self.text(declared.name));
            self.error(Code::CIncomplete, message, declared.loc);
            return None;
        }
        let is_linked = self.is_file_scope() || words.is_extern;
        Some(Entry::Object(if is_linked { self.declare_linked(declared) } else { self.declare_local(declared) }))
    }

    fn declare_typedef(&mut self, declared: &Declared) {
        if let Some((old, loc)) = self.lookup_here(declared.name) {
            let is_same = matches!(old, Entry::Typedef(ty) if self.is_compatible(ty, declared.ty));
            if !is_same {
                self.report_redeclared(declared, loc);
            }
        }
        self.insert(declared.name, Entry::Typedef(declared.ty), declared.loc);
    }

    fn report_redeclared(&mut self, declared: &Declared, old: Loc) {
        let message = format!("`{}` is already declared, differently", self.text(declared.name));
        let diagnostic =
            self.diagnostic(Code::CRedeclared, message, declared.loc).also(old.span, "first declared here");
        self.push(diagnostic);
    }

    /// Checks that a name with linkage does not mean something else in this scope.
    fn check_here(&mut self, declared: &Declared, is_function: bool) {
        let Some((old, loc)) = self.lookup_here(declared.name) else { return };
        let is_fine = match old {
            Entry::Function(_) => is_function,
            Entry::Object(id) => !is_function && self.unit.objects[id].linkage != Linkage::None,
            Entry::Typedef(_) | Entry::Constant(..) => false,
        };
        if !is_fine {
            self.report_redeclared(declared, loc);
        }
    }

    fn declare_function(&mut self, declared: &Declared) -> FunctionId {
        self.check_here(declared, true);
        let old = match self.linked.get(&declared.name) {
            Some(Entry::Function(id)) => Some(*id),
            _ => None,
        };
        let id = match old {
            Some(id) => {
                self.merge_function(id, declared);
                id
            }
            None => self.add_function(declared),
        };
        self.insert(declared.name, Entry::Function(id), declared.loc);
        id
    }

    fn add_function(&mut self, declared: &Declared) -> FunctionId {
        let linkage = if declared.words.is_static { Linkage::Internal } else { Linkage::External };
        let id = self.unit.functions.push(Function {
            name: declared.name,
            ty: declared.ty,
            linkage,
            is_inline: declared.words.is_inline,
            is_noreturn: declared.words.is_noreturn,
            is_implicit: false,
            asm_name: declared.asm_name.clone(),
            body: None,
            loc: declared.loc,
        });
        self.linked.insert(declared.name, Entry::Function(id));
        self.unit.items.push(Item::Function(id));
        id
    }

    fn merge_function(&mut self, id: FunctionId, declared: &Declared) {
        let old = self.unit.functions[id].clone();
        let is_conflict = !self.is_compatible(old.ty, declared.ty);
        // The type that a call without a declaration gave it is forgotten.
        if is_conflict && !old.is_implicit {
            self.report_redeclared(declared, old.loc);
        }
        let ty = if is_conflict { declared.ty } else { self.composite(old.ty, declared.ty) };
        let function = &mut self.unit.functions[id];
        function.ty = ty;
        function.is_implicit = false;
        function.is_inline |= declared.words.is_inline;
        function.is_noreturn |= declared.words.is_noreturn;
        if function.asm_name.is_none() {
            function.asm_name.clone_from(&declared.asm_name);
        }
        if declared.words.is_static {
            function.linkage = Linkage::Internal;
        }
    }

    /// Declares an object with linkage.
    fn declare_linked(&mut self, declared: &Declared) -> ObjectId {
        self.check_here(declared, false);
        let definition = if declared.words.is_extern { Definition::Declared } else { Definition::Tentative };
        let id = match self.linked.get(&declared.name) {
            Some(Entry::Object(id)) => {
                let id = *id;
                self.merge_object(id, declared, definition);
                id
            }
            _ => self.add_linked(declared, definition),
        };
        self.insert(declared.name, Entry::Object(id), declared.loc);
        id
    }

    fn add_linked(&mut self, declared: &Declared, definition: Definition) -> ObjectId {
        let id = self.unit.objects.push(Object {
            name: declared.name,
            ty: declared.ty,
            storage: if declared.words.is_thread { Storage::Thread } else { Storage::Static },
            linkage: if declared.words.is_static { Linkage::Internal } else { Linkage::External },
            definition,
            init: None,
            align: declared.words.align,
            function: None,
            loc: declared.loc,
        });
        self.linked.insert(declared.name, Entry::Object(id));
        self.unit.items.push(Item::Object(id));
        id
    }

    fn merge_object(&mut self, id: ObjectId, declared: &Declared, definition: Definition) {
        let old = self.unit.objects[id].clone();
        let is_thread = old.storage == Storage::Thread;
        if !self.is_compatible(old.ty, declared.ty) || is_thread != declared.words.is_thread {
            self.report_redeclared(declared, old.loc);
            return;
        }
        let ty = self.composite(old.ty, declared.ty);
        let object = &mut self.unit.objects[id];
        object.ty = ty;
        object.align = object.align.max(declared.words.align);
        if definition > object.definition {
            (object.definition, object.loc) = (definition, declared.loc);
        }
    }

    /// Declares an object of a block.
    fn declare_local(&mut self, declared: &Declared) -> ObjectId {
        if let Some((_, loc)) = self.lookup_here(declared.name) {
            let message = format!("`{}` is declared twice in this block", self.text(declared.name));
            let diagnostic =
                self.diagnostic(Code::CRedeclared, message, declared.loc).also(loc.span, "first declared here");
            self.push(diagnostic);
        }
        let storage = match declared.words {
            StorageWords { is_thread: true, .. } => Storage::Thread,
            StorageWords { is_static: true, .. } => Storage::Static,
            _ => Storage::Auto,
        };
        let id = self.add_local(declared.name, declared.ty, storage, declared.loc);
        self.unit.objects[id].align = declared.words.align;
        self.insert(declared.name, Entry::Object(id), declared.loc);
        id
    }

    /// Adds an object without linkage to the tree.
    pub(crate) fn add_local(&mut self, name: Symbol, ty: QualType, storage: Storage, loc: Loc) -> ObjectId {
        let function = self.function.as_ref().map(|function| function.id);
        let (linkage, definition) = (Linkage::None, Definition::Defined);
        self.unit.objects.push(Object {
            name,
            ty,
            storage,
            linkage,
            definition,
            init: None,
            align: None,
            function,
            loc,
        })
    }

    /// Gives an object its initial values.
    pub(crate) fn define(&mut self, id: ObjectId, ty: QualType, init: Init, loc: Loc) {
        let old = &self.unit.objects[id];
        if old.init.is_some() {
            let message = format!("`{}` has an initial value already", self.text(old.name));
            let diagnostic = self.diagnostic(Code::CRedeclared, message, loc).also(old.loc.span, "defined here");
            self.push(diagnostic);
            return;
        }
        let object = &mut self.unit.objects[id];
        (object.ty, object.init, object.definition) = (ty, Some(init), Definition::Defined);
        // The definition is what people look for.
        if object.linkage != Linkage::None {
            object.loc = loc;
        }
    }

    /// Checks that the type of a declared object is complete.
    pub(crate) fn check_complete(&mut self, id: ObjectId) {
        let Object { ty, loc, storage, .. } = self.unit.objects[id];
        if self.unit.types.is_error(ty) || self.unit.types.layout(ty).is_some() {
            return;
        }
        if self.unit.types.is_variable(ty) && storage == Storage::Auto {
            return;
        }
        let (code, message) = match self.unit.types.is_variable(ty) {
            true => (Code::CNotConstant, "the length of this array must be constant".to_owned()),
            false => (Code::CIncomplete, format!("the size of `{}` is not known here", self.show(ty))),
        };
        self.error(code, message, loc);
        self.unit.objects[id].ty = crate::c::types::basic::ERROR;
    }

    /// Completes the objects of the file at its end: an array without a length has one element.
    pub(crate) fn finish(&mut self) {
        for id in self.unit.objects.indices() {
            let object = &self.unit.objects[id];
            if object.linkage == Linkage::None || object.definition == Definition::Declared {
                continue;
            }
            if let Type::Array(of, Length::Unknown) = *self.unit.types.get(object.ty) {
                self.unit.objects[id].ty = self.types().array(of, Length::Known(1));
            }
            self.check_complete(id);
        }
    }
}
