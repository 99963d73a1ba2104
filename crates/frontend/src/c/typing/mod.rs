//! The rules of C about names and types. The parser calls them while it reads; they build the typed tree.
//!
//! - `scope`: which name means what where.
//! - `declare`: declarations, linkage, definitions.
//! - `compatible`: which types fit each other.
//! - `convert`: conversions, made explicit.
//! - `operators`, `places`, `calls`: expressions.
//! - `builtins`: functions of the compiler.
//! - `initialise`: initial values, flattened.

mod builtins;
mod calls;
mod compatible;
mod convert;
mod declare;
mod initialise;
mod operators;
mod places;
mod scope;

use index_vec::IndexVec;
use rustc_hash::FxHashMap;

use super::DataModel;
use super::files::Loc;
use super::names::Symbol;
use super::preprocess::{MAX_ERRORS, Preprocessed};
use super::tree::{Expr, ExprKind, FunctionId, Label, LabelId, MAX_HEIGHT, Unit};
use super::types::{QualType, Types, basic};
use crate::diagnostic::{Code, Diagnostic};

pub(super) use declare::{Declared, StorageWords};
pub(super) use initialise::{Designator, RawInit, RawItem};
pub(super) use operators::{AssignKind, BinaryKind};
use scope::Scope;
pub(super) use scope::{Entry, Tag};

/// The state of the rules: the tree so far, and what the names mean here.
pub(super) struct Typer {
    pub(super) unit: Unit,
    pub(super) scopes: Vec<Scope>,
    /// The objects and functions with linkage, wherever they are declared.
    linked: FxHashMap<Symbol, Entry>,
    /// The functions that may be called without a declaration, with their types and whether they never return.
    known: FxHashMap<Symbol, (QualType, bool)>,
    pub(super) function: Option<FunctionState>,
    n_errors: usize,
    /// True while errors are not reported, because what is read is not evaluated for good.
    pub(super) is_quiet: bool,
}

/// The state of the function whose body is read.
pub(super) struct FunctionState {
    pub(super) id: FunctionId,
    pub(super) result: QualType,
    pub(super) labels: IndexVec<LabelId, Label>,
    pub(super) label_names: FxHashMap<Symbol, LabelState>,
}

/// What is known about a label.
#[derive(Clone, Copy)]
pub(super) struct LabelState {
    pub(super) id: LabelId,
    pub(super) is_defined: bool,
}

impl Typer {
    pub(super) fn new(preprocessed: Preprocessed, model: DataModel) -> (Typer, Vec<super::lexer::Token>) {
        let Preprocessed { tokens, files, names, expansions, diagnostics } = preprocessed;
        let n_errors = diagnostics.iter().filter(|found| found.is_error()).count();
        let unit = Unit {
            files,
            expansions,
            names,
            types: Types::new(model),
            objects: IndexVec::new(),
            functions: IndexVec::new(),
            strings: IndexVec::new(),
            lengths: IndexVec::new(),
            items: Vec::new(),
            diagnostics,
        };
        let (scopes, linked, known) = (vec![Scope::default()], FxHashMap::default(), FxHashMap::default());
        (Typer { unit, scopes, linked, known, function: None, n_errors, is_quiet: false }, tokens)
    }

    /// Takes the functions declared so far as those that may be called without a declaration. They are not part of the
    /// program until it uses them.
    pub(super) fn take_known(&mut self) {
        for function in std::mem::take(&mut self.unit.functions) {
            self.known.insert(function.name, (function.ty, function.is_noreturn));
        }
        self.unit.objects.clear();
        self.unit.items.clear();
        self.linked.clear();
        for scope in &mut self.scopes {
            scope.names.retain(|_, (entry, _)| matches!(entry, Entry::Typedef(_)));
        }
    }

    pub(super) fn types(&mut self) -> &mut Types {
        &mut self.unit.types
    }

    pub(super) fn text(&self, symbol: Symbol) -> &str {
        self.unit.names.text(symbol)
    }

    pub(super) fn show(&self, ty: QualType) -> String {
        self.unit.show_type(ty)
    }

    /// Returns whether so many errors have been reported that reading ends.
    pub(super) fn is_over(&self) -> bool {
        self.n_errors > MAX_ERRORS
    }

    pub(super) fn diagnostic(&self, code: Code, message: impl Into<String>, loc: Loc) -> Diagnostic {
        self.unit.expansions.diagnostic(code, message, loc)
    }

    pub(super) fn error(&mut self, code: Code, message: impl Into<String>, loc: Loc) {
        let diagnostic = self.diagnostic(code, message, loc);
        self.push(diagnostic);
    }

    pub(super) fn push(&mut self, diagnostic: Diagnostic) {
        if self.is_quiet {
            return;
        }
        self.n_errors += usize::from(diagnostic.is_error());
        if self.n_errors <= MAX_ERRORS {
            self.unit.diagnostics.push(diagnostic);
        }
    }

    /// Returns an expression; one that is too high becomes an error.
    pub(super) fn make(&mut self, kind: ExprKind, ty: QualType, loc: Loc) -> Expr {
        let expr = Expr::new(kind, ty, loc);
        if expr.height <= MAX_HEIGHT {
            return expr;
        }
        let message = format!("this expression has more than {MAX_HEIGHT} levels");
        let diagnostic = self.diagnostic(Code::BeyondLimit, message, loc).help("split it into several parts");
        self.push(diagnostic);
        self.wrong(loc)
    }

    /// Returns the expression in the place of one that has been reported.
    pub(super) fn wrong(&self, loc: Loc) -> Expr {
        Expr::new(ExprKind::Error, basic::ERROR, loc)
    }

    /// Reports an expression, and returns the one in its place.
    pub(super) fn reject(&mut self, code: Code, message: impl Into<String>, loc: Loc) -> Expr {
        self.error(code, message, loc);
        self.wrong(loc)
    }

    /// Returns an `int`.
    pub(super) fn int(&self, value: i128, loc: Loc) -> Expr {
        Expr::new(ExprKind::Integer(value), basic::INT, loc)
    }

    /// Returns a number of the type of `sizeof`.
    pub(super) fn size(&self, value: u64, loc: Loc) -> Expr {
        Expr::new(ExprKind::Integer(i128::from(value)), self.unit.types.size_type(), loc)
    }

    pub(super) fn join(&self, first: Loc, last: Loc) -> Loc {
        self.unit.files.join(first, last)
    }
}
