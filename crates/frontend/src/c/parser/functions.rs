//! Definitions of functions.

use index_vec::IndexVec;
use rustc_hash::FxHashMap;

use super::Parser;
use super::declarators::{Declarator, Param};
use super::specifiers::Specifiers;
use crate::c::files::Loc;
use crate::c::lexer::Kind;
use crate::c::names::Symbol;
use crate::c::tree::{Body, FunctionId, ObjectId, Storage};
use crate::c::types::{QualType, Type, basic};
use crate::c::typing::{Entry, FunctionState};
use crate::diagnostic::Code;

impl Parser {
    /// Consumes the body of a function whose declarator has been read, and for an old one the types of its parameters.
    pub(super) fn function_definition(&mut self, specifiers: &Specifiers, mut declarator: Declarator) {
        if !self.typer.is_file_scope() {
            self.unsupported("a function inside of a function is", declarator.loc);
            self.lost = true;
            return;
        }
        let old = declarator.params().map(|params| params.old.clone()).unwrap_or_default();
        if !old.is_empty() {
            let params = self.old_param_types(&old);
            if let Some(found) = declarator.params_mut() {
                found.params = params;
            }
        }
        let params = declarator.params().map(|params| params.params.clone()).unwrap_or_default();
        let Some(declared) = self.declared(&declarator, specifiers.ty, specifiers.words) else { return };
        let Some(Entry::Function(id)) = self.typer.declare(&declared) else {
            self.lost = true;
            return;
        };
        self.check_definition(id, declared.loc);
        self.typer.unit.functions[id].loc = declared.loc;
        self.body(id, declared.ty, &params);
    }

    fn check_definition(&mut self, id: FunctionId, loc: Loc) {
        let function = &self.typer.unit.functions[id];
        if function.body.is_some() {
            let message = format!("the function `{}` is defined twice", self.typer.text(function.name));
            let old = function.loc;
            let diagnostic =
                self.typer.diagnostic(Code::CRedeclared, message, loc).also(old.span, "first defined here");
            self.typer.push(diagnostic);
        }
        let Some(result) = self.typer.unit.types.function(self.typer.unit.functions[id].ty).map(|ty| ty.result) else {
            return;
        };
        if self.typer.unit.types.layout(result).is_none() {
            let message = format!("the result has the incomplete type `{}`", self.typer.show(result));
            self.typer.error(Code::CIncomplete, message, loc);
        }
    }

    /// Consumes the declarations between the names of the parameters and the body of an old function.
    fn old_param_types(&mut self, names: &[(Symbol, Loc)]) -> Vec<Param> {
        let mut types: FxHashMap<Symbol, (QualType, Loc)> = FxHashMap::default();
        while self.at_declaration() && !self.lost {
            let specifiers = self.specifiers();
            loop {
                let declarator = self.declarator(false);
                let ty = self.declared_type(&declarator, specifiers.ty);
                if let Some((name, loc)) = declarator.name {
                    if !names.iter().any(|(param, _)| *param == name) {
                        let message = format!("there is no parameter `{}`", self.typer.text(name));
                        self.typer.error(Code::CDeclaration, message, loc);
                    }
                    types.insert(name, (ty, loc));
                }
                if self.lost || !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.expect_semicolon();
        }
        self.typer.open_scope();
        let params = names
            .iter()
            .map(|(name, loc)| {
                let (ty, loc) = types.get(name).copied().unwrap_or((basic::INT, *loc));
                self.add_param(Some(*name), ty, loc)
            })
            .collect();
        self.typer.close_scope();
        params
    }

    /// Consumes a body. The parameters and the outermost declarations of the body share a scope.
    fn body(&mut self, id: FunctionId, ty: QualType, params: &[Param]) {
        let result = self.typer.unit.types.function(ty).map_or(basic::ERROR, |ty| ty.result.plain());
        let (labels, label_names) = (IndexVec::new(), FxHashMap::default());
        self.typer.function = Some(FunctionState { id, result, labels, label_names });
        self.typer.open_scope();
        for param in params {
            self.enter_param(id, param);
        }
        let start = self.loc();
        let opener = self.bump().loc;
        let stmts = self.statements(opener);
        let end = self.previous();
        self.typer.close_scope();
        self.check_labels();
        let block = crate::c::tree::Stmt { kind: crate::c::tree::StmtKind::Block(stmts), loc: self.since(start) };
        let labels = self.typer.function.take().map(|state| state.labels).unwrap_or_default();
        let params: Vec<ObjectId> = params.iter().map(|param| param.object).collect();
        let function = &mut self.typer.unit.functions[id];
        if function.body.is_none() {
            function.body = Some(Body { params, block, labels, end });
        }
    }

    fn enter_param(&mut self, id: FunctionId, param: &Param) {
        let object = &mut self.typer.unit.objects[param.object];
        object.function = Some(id);
        debug_assert_eq!(object.storage, Storage::Param);
        if let Some(name) = param.name {
            self.typer.insert(name, Entry::Object(param.object), param.loc);
        }
        let types = &self.typer.unit.types;
        if types.layout(param.ty).is_none() && !matches!(types.get(param.ty), Type::Error) {
            let message = format!("the parameter has the incomplete type `{}`", self.typer.show(param.ty));
            self.typer.error(Code::CIncomplete, message, param.loc);
        }
    }

    /// Reports labels that `goto` names and that no statement has.
    fn check_labels(&mut self) {
        let Some(state) = &self.typer.function else { return };
        let mut missing: Vec<_> =
            state.label_names.values().filter(|label| !label.is_defined).map(|label| label.id).collect();
        missing.sort();
        let missing: Vec<_> = missing.into_iter().map(|id| state.labels[id].clone()).collect();
        let mut known: Vec<&str> = Vec::new();
        known.extend(
            state.label_names.iter().filter(|(_, label)| label.is_defined).map(|(name, _)| self.typer.text(*name)),
        );
        known.sort_unstable();
        let mut found = Vec::new();
        for label in missing {
            let name = self.typer.text(label.name);
            let near = crate::suggest::nearest(name, known.iter().copied());
            let message = format!("there is no label `{name}` in this function");
            found.push(self.typer.diagnostic(Code::CLabel, message, label.loc).did_you_mean(near));
        }
        for diagnostic in found {
            self.typer.push(diagnostic);
        }
    }
}
