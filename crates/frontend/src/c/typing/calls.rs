//! Calls, and constants.

use super::{Entry, Typer};
use crate::c::files::Loc;
use crate::c::literals::{self, FloatSuffix, Integer, Number, Prefix};
use crate::c::names::Symbol;
use crate::c::tree::{Callee, Expr, ExprKind, Function, FunctionId, Item, Linkage};
use crate::c::types::{FunctionType, IntKind, QualType, Type, basic};
use crate::diagnostic::Code;

impl Typer {
    /// Returns a call.
    pub(crate) fn call(&mut self, callee: Expr, args: Vec<Expr>, loc: Loc) -> Expr {
        let callee = self.value(callee);
        let to = self.unit.types.pointee(callee.ty);
        let Some(function) = to.and_then(|to| self.unit.types.function(to)).cloned() else {
            if !self.unit.types.is_error(callee.ty) {
                let message = format!("a value of type `{}` cannot be called", self.show(callee.ty));
                self.error(Code::CWrongType, message, callee.loc);
            }
            return self.wrong(loc);
        };
        let args = self.arguments(&function, args, &callee, loc);
        let result = function.result.plain();
        if self.unit.types.layout(result).is_none() {
            let message = format!("the result has the incomplete type `{}`", self.show(result));
            return self.reject(Code::CIncomplete, message, loc);
        }
        let callee = match callee.kind {
            ExprKind::Decay(inner) => match inner.kind {
                ExprKind::Function(id) => Callee::Direct(id),
                _ => Callee::Indirect(Box::new(Expr { kind: ExprKind::Decay(inner), ..callee })),
            },
            _ => Callee::Indirect(Box::new(callee)),
        };
        self.make(ExprKind::Call { callee, args }, result, loc)
    }

    /// Converts the arguments to the types of the parameters; those without a parameter are promoted.
    fn arguments(&mut self, function: &FunctionType, args: Vec<Expr>, callee: &Expr, loc: Loc) -> Vec<Expr> {
        let (n_params, n_args) = (function.params.len(), args.len());
        let is_count = !function.prototyped || n_args == n_params || function.variadic && n_args > n_params;
        if !is_count {
            let least = if function.variadic { "at least " } else { "" };
            let message = format!("this function takes {least}{}, not {n_args}", arguments(n_params));
            let mut diagnostic = self.diagnostic(Code::CArguments, message, loc);
            if let Some(id) = called(callee) {
                diagnostic = diagnostic.also(self.unit.functions[id].loc.span, "declared here");
            }
            self.push(diagnostic);
        }
        let params = if function.prototyped { function.params.as_slice() } else { &[] };
        let converted = args.into_iter().enumerate().map(|(number, arg)| match params.get(number) {
            Some(param) => self.assigned(arg, *param, "the parameter"),
            None => self.promoted_argument(arg),
        });
        converted.collect()
    }

    fn promoted_argument(&mut self, arg: Expr) -> Expr {
        let value = self.value(arg);
        if self.unit.types.is_void(value.ty) {
            return self.reject(Code::CWrongType, "an argument must have a value", value.loc);
        }
        if self.unit.types.is_integer(value.ty) {
            return self.promote(value);
        }
        let ty = self.default_promoted(value.ty);
        self.cast(value, ty, true)
    }

    /// Returns a function of the library that is known beforehand.
    pub(crate) fn library(&mut self, name: Symbol, loc: Loc) -> Expr {
        let was_quiet = std::mem::replace(&mut self.is_quiet, true);
        let function = self.implicit(name, loc);
        self.is_quiet = was_quiet;
        function
    }

    /// Returns the function that a name calls, which is not declared: one that everybody knows, or else one that
    /// returns `int`.
    pub(crate) fn implicit(&mut self, name: Symbol, loc: Loc) -> Expr {
        let known = self.known.get(&name).copied();
        let (ty, is_noreturn) = match known {
            Some(known) => known,
            None => {
                let old = FunctionType { result: basic::INT, params: Vec::new(), variadic: false, prototyped: false };
                (self.types().intern(Type::Function(Box::new(old))), false)
            }
        };
        // What is called `__..` has its meaning from us.
        if known.is_none() || !self.text(name).starts_with("__") {
            let message = format!("the function `{}` is not declared", self.text(name));
            let result = self.unit.types.function(ty).map_or(basic::INT, |ty| ty.result);
            let label = format!("assumed to return `{}`", self.show(result));
            let diagnostic = self.diagnostic(Code::CImplicitFunction, message, loc).label(label);
            self.push(diagnostic);
        }
        let id = match self.linked.get(&name) {
            Some(Entry::Function(id)) => *id,
            _ => self.add_implicit(name, ty, is_noreturn, loc),
        };
        if let Some(file) = self.scopes.get_mut(1) {
            file.names.insert(name, (Entry::Function(id), loc));
        }
        self.make(ExprKind::Function(id), ty, loc)
    }

    fn add_implicit(&mut self, name: Symbol, ty: QualType, is_noreturn: bool, loc: Loc) -> FunctionId {
        let id = self.unit.functions.push(Function {
            name,
            ty,
            linkage: Linkage::External,
            is_inline: false,
            is_noreturn,
            is_implicit: true,
            asm_name: None,
            body: None,
            loc,
        });
        self.linked.insert(name, Entry::Function(id));
        self.unit.items.push(Item::Function(id));
        id
    }

    /// Returns a number.
    pub(crate) fn number(&mut self, text: Symbol, loc: Loc) -> Expr {
        match literals::number(self.text(text)) {
            Ok(Number::Integer(found)) => match self.integer_type(found) {
                Some(kind) => {
                    let value = i128::try_from(found.value).expect("a number of at most 64 bits");
                    self.make(ExprKind::Integer(value), basic::int(kind), loc)
                }
                None => self.reject(Code::CLiteral, "this number is too large for every type", loc),
            },
            Ok(Number::Float(found)) => {
                let (ty, value) = match found.suffix {
                    FloatSuffix::Float => (basic::FLOAT, f64::from(narrow(found.value))),
                    FloatSuffix::Double => (basic::DOUBLE, found.value),
                    FloatSuffix::LongDouble => (basic::LONG_DOUBLE, found.value),
                    FloatSuffix::Quad => (basic::QUAD, found.value),
                };
                self.make(ExprKind::Float(value), ty, loc)
            }
            Err(message) => self.reject(Code::CLiteral, message, loc),
        }
    }

    /// Returns the first type in the standard's list that holds a number.
    fn integer_type(&self, number: Integer) -> Option<IntKind> {
        let kinds = [
            (IntKind::Int, 0),
            (IntKind::UInt, 0),
            (IntKind::Long, 1),
            (IntKind::ULong, 1),
            (IntKind::LongLong, 2),
            (IntKind::ULongLong, 2),
        ];
        let fits = |kind: IntKind| {
            let bits = kind.width(self.unit.types.model) - u32::from(kind.is_signed());
            number.value < 1 << bits
        };
        let may_be = |kind: IntKind| match kind.is_signed() {
            true => !number.unsigned,
            false => number.unsigned || !number.decimal,
        };
        kinds.iter().find(|(kind, longs)| *longs >= number.longs && may_be(*kind) && fits(*kind)).map(|(kind, _)| *kind)
    }

    /// Returns a character.
    pub(crate) fn character(&mut self, text: Symbol, loc: Loc) -> Expr {
        match literals::character(self.text(text)) {
            Ok(found) => {
                let ty = match found.prefix {
                    Prefix::Plain | Prefix::Utf8 => basic::INT,
                    prefix => self.element(prefix),
                };
                let is_unsigned = matches!(found.prefix, Prefix::Utf16 | Prefix::Utf32);
                let value = i128::from(found.value);
                let value = if is_unsigned { i128::from(found.value.cast_unsigned()) } else { value };
                self.make(ExprKind::Integer(value), ty, loc)
            }
            Err(message) => self.reject(Code::CLiteral, message, loc),
        }
    }
}

/// Returns a number of arguments in words.
pub(super) fn arguments(number: usize) -> String {
    format!("{number} argument{}", if number == 1 { "" } else { "s" })
}

/// Returns the function that an expression calls by its name.
fn called(callee: &Expr) -> Option<FunctionId> {
    let ExprKind::Decay(inner) = &callee.kind else { return None };
    match inner.kind {
        ExprKind::Function(id) => Some(id),
        _ => None,
    }
}

/// Rounds to the precision of `float`.
fn narrow(value: f64) -> f32 {
    value as f32
}
