//! Declarators: the name with its stars, brackets and parentheses.
//!
//! A declarator is read into the list of what makes its type from the type before it, in the order of application:
//! first its stars, then its brackets and parameter lists from the last to the first, then what the parentheses around
//! the name hold.

use super::Parser;
use crate::c::files::Loc;
use crate::c::lexer::Kind;
use crate::c::names::Symbol;
use crate::c::tree::{ObjectId, Storage};
use crate::c::types::{FunctionType, Length, MAX_TYPE_HEIGHT, QualType, Quals, Type, basic};
use crate::c::typing::{Declared, Entry, StorageWords};
use crate::diagnostic::Code;

/// A name with what makes its type.
#[derive(Clone, Debug)]
pub(super) struct Declarator {
    pub(super) name: Option<(Symbol, Loc)>,
    modifiers: Vec<Modifier>,
    pub(super) loc: Loc,
}

#[derive(Clone, Debug)]
enum Modifier {
    Pointer(Quals),
    Array { length: ArrayLength, quals: Quals, loc: Loc },
    Function(Params, Loc),
}

#[derive(Clone, Debug)]
enum ArrayLength {
    Unknown,
    Known(u64),
    Variable(Box<crate::c::tree::Expr>),
}

/// The parameters of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Params {
    pub(super) params: Vec<Param>,
    variadic: bool,
    prototyped: bool,
    /// The names of an old definition, whose types follow.
    pub(super) old: Vec<(Symbol, Loc)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Param {
    pub(super) name: Option<Symbol>,
    pub(super) ty: QualType,
    pub(super) object: ObjectId,
    pub(super) loc: Loc,
}

/// Limit on the brackets, stars and parameter lists of a declarator.
const MAX_MODIFIERS: usize = 100;

impl Declarator {
    /// Returns the parameters, if the name is that of a function.
    pub(super) fn params(&self) -> Option<&Params> {
        match self.modifiers.last() {
            Some(Modifier::Function(params, _)) => Some(params),
            _ => None,
        }
    }

    pub(super) fn params_mut(&mut self) -> Option<&mut Params> {
        match self.modifiers.last_mut() {
            Some(Modifier::Function(params, _)) => Some(params),
            _ => None,
        }
    }
}

impl Parser {
    /// Consumes a declarator; its name may be missing if `is_abstract`.
    pub(super) fn declarator(&mut self, is_abstract: bool) -> Declarator {
        let start = self.loc();
        let mut modifiers = Vec::new();
        self.attributes();
        while self.eat(Kind::Star) {
            let mut quals = self.qualifiers();
            while self.at(Kind::Attribute) {
                self.attributes();
                quals = quals.with(self.qualifiers());
            }
            modifiers.push(Modifier::Pointer(quals));
        }
        let (name, inner) = self.direct(is_abstract);
        let mut suffixes = Vec::new();
        while matches!(self.kind(), Kind::LBracket | Kind::LParen) && !self.lost {
            let suffix = if self.at(Kind::LBracket) { self.array_suffix() } else { self.function_suffix() };
            suffixes.push(suffix);
        }
        suffixes.reverse();
        modifiers.extend(suffixes);
        modifiers.extend(inner);
        let loc = self.since(start);
        if modifiers.len() > MAX_MODIFIERS {
            self.typer.error(Code::BeyondLimit, format!("more than {MAX_MODIFIERS} parts of a type"), loc);
            modifiers.clear();
        }
        Declarator { name, modifiers, loc }
    }

    /// Consumes the name, or a declarator in parentheses.
    fn direct(&mut self, is_abstract: bool) -> (Option<(Symbol, Loc)>, Vec<Modifier>) {
        if self.at(Kind::Name) {
            let token = self.bump();
            return (Some((token.text, token.loc)), Vec::new());
        }
        if self.at(Kind::LParen) && self.is_nested_declarator(is_abstract) {
            let opener = self.bump().loc;
            let inner = self.nested(|this| this.declarator(is_abstract));
            self.close(Kind::RParen, opener);
            return inner.map_or((None, Vec::new()), |inner| (inner.name, inner.modifiers));
        }
        if !is_abstract {
            self.miss("a name");
        }
        (None, Vec::new())
    }

    /// Returns whether a parenthesis holds a declarator rather than parameters.
    fn is_nested_declarator(&self, is_abstract: bool) -> bool {
        if !is_abstract {
            return true;
        }
        match self.peek(1) {
            Kind::Star | Kind::LParen | Kind::LBracket | Kind::Caret => true,
            Kind::Attribute => true,
            Kind::Name => !self.is_type_at(1),
            _ => false,
        }
    }

    fn array_suffix(&mut self) -> Modifier {
        let opener = self.bump().loc;
        let is_static = self.eat(Kind::Static);
        let quals = self.qualifiers();
        let _ = is_static || self.eat(Kind::Static);
        let length = match self.kind() {
            Kind::RBracket => ArrayLength::Unknown,
            Kind::Star if self.peek(1) == Kind::RBracket => {
                self.bump();
                ArrayLength::Unknown
            }
            _ => self.array_length(),
        };
        self.close(Kind::RBracket, opener);
        Modifier::Array { length, quals, loc: self.since(opener) }
    }

    fn array_length(&mut self) -> ArrayLength {
        let length = self.nested(Self::assignment).unwrap_or_else(|| self.typer.wrong(self.loc()));
        let length = self.typer.value(length);
        let loc = length.loc;
        if self.typer.unit.types.is_error(length.ty) {
            return ArrayLength::Known(1);
        }
        if !self.typer.unit.types.is_integer(length.ty) {
            self.typer.error(Code::CWrongType, "the length of an array must be an integer", loc);
            return ArrayLength::Known(1);
        }
        match self.typer.unit.integer(&length) {
            Some(value) => match u64::try_from(value) {
                Ok(value) => ArrayLength::Known(value),
                Err(_) => {
                    self.typer.error(Code::CDeclaration, "the length of this array is negative", loc);
                    ArrayLength::Known(1)
                }
            },
            None => {
                let size = self.typer.unit.types.size_type();
                ArrayLength::Variable(Box::new(self.typer.cast(length, size, true)))
            }
        }
    }

    fn function_suffix(&mut self) -> Modifier {
        let opener = self.bump().loc;
        self.typer.open_scope();
        let params = self.nested(Self::params).unwrap_or_default();
        self.typer.close_scope();
        self.close(Kind::RParen, opener);
        Modifier::Function(params, self.since(opener))
    }

    fn params(&mut self) -> Params {
        match self.kind() {
            Kind::RParen => return Params::default(),
            Kind::Void if self.peek(1) == Kind::RParen => {
                self.bump();
                return Params { prototyped: true, ..Params::default() };
            }
            Kind::Name if !self.at_type() && matches!(self.peek(1), Kind::Comma | Kind::RParen) => {
                return self.old_params();
            }
            _ => {}
        }
        let mut params = Params { prototyped: true, ..Params::default() };
        while !self.lost {
            if self.eat(Kind::Ellipsis) {
                params.variadic = true;
                break;
            }
            let param = self.param();
            params.params.push(param);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        params
    }

    /// Consumes the names of the parameters of an old definition.
    fn old_params(&mut self) -> Params {
        let mut params = Params::default();
        while let Some(name) = self.expect_name("the name of a parameter") {
            params.old.push(name);
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        params
    }

    fn param(&mut self) -> Param {
        let start = self.loc();
        if !self.at_declaration() && !self.at_unknown_type() {
            self.miss("the type of a parameter");
        }
        let specifiers = self.specifiers();
        let declarator = self.declarator(true);
        self.attributes();
        let ty = self.declared_type(&declarator, specifiers.ty);
        let loc = declarator.name.map_or_else(|| self.since(start), |(_, loc)| loc);
        self.add_param(declarator.name.map(|(name, _)| name), ty, loc)
    }

    /// Adds a parameter to the scope. Arrays and functions become pointers.
    pub(super) fn add_param(&mut self, name: Option<Symbol>, ty: QualType, loc: Loc) -> Param {
        let ty = match *self.typer.unit.types.get(ty) {
            Type::Array(of, _) => self.typer.types().pointer(of),
            Type::Function(_) => self.typer.types().pointer(ty),
            Type::Void => {
                self.typer.error(Code::CIncomplete, "a parameter cannot have the type `void`", loc);
                basic::ERROR
            }
            _ => ty,
        };
        let symbol = name.unwrap_or_else(|| self.typer.unit.names.intern(""));
        let object = self.typer.add_local(symbol, ty, Storage::Param, loc);
        if let Some(name) = name {
            if let Some((_, old)) = self.typer.lookup_here(name) {
                let message = format!("two parameters have the name `{}`", self.typer.text(name));
                let diagnostic = self.typer.diagnostic(Code::CRedeclared, message, loc).also(old.span, "the first one");
                self.typer.push(diagnostic);
            }
            self.typer.insert(name, Entry::Object(object), loc);
        }
        Param { name, ty, object, loc }
    }

    /// Returns the type of a declared name.
    pub(super) fn declared_type(&mut self, declarator: &Declarator, base: QualType) -> QualType {
        let mut ty = base;
        for modifier in &declarator.modifiers {
            if self.typer.unit.types.is_error(ty) {
                return ty;
            }
            ty = match modifier {
                Modifier::Pointer(quals) => self.typer.types().pointer(ty).with(*quals),
                Modifier::Array { length, quals, loc } => self.array_of(ty, length, *quals, *loc),
                Modifier::Function(params, loc) => self.function_of(ty, params, *loc),
            };
        }
        if self.typer.unit.types.height(ty) > MAX_TYPE_HEIGHT {
            let message = format!("more than {MAX_TYPE_HEIGHT} nested types");
            self.typer.error(Code::BeyondLimit, message, declarator.loc);
            return basic::ERROR;
        }
        ty
    }

    fn array_of(&mut self, of: QualType, length: &ArrayLength, quals: Quals, loc: Loc) -> QualType {
        let types = &self.typer.unit.types;
        let is_bad = types.is_void(of) || types.is_function(of);
        if is_bad || types.layout(of).is_none() && !types.is_variable(of) {
            let code = if is_bad { Code::CDeclaration } else { Code::CIncomplete };
            let message = format!("there is no array of `{}`", self.typer.show(of));
            self.typer.error(code, message, loc);
            return basic::ERROR;
        }
        let length = match length {
            ArrayLength::Unknown => Length::Unknown,
            ArrayLength::Known(length) => Length::Known(*length),
            ArrayLength::Variable(expr) => Length::Variable(self.typer.unit.lengths.push((**expr).clone())),
        };
        let ty = self.typer.types().array(of, length);
        if matches!(length, Length::Known(_))
            && self.typer.unit.types.layout(ty).is_none()
            && !self.typer.unit.types.is_variable(of)
        {
            self.typer.error(Code::BeyondLimit, "this array is too large", loc);
            return basic::ERROR;
        }
        ty.with(quals)
    }

    fn function_of(&mut self, result: QualType, params: &Params, loc: Loc) -> QualType {
        let types = &self.typer.unit.types;
        if types.is_array(result) || types.is_function(result) {
            let message = format!("a function cannot return `{}`", self.typer.show(result));
            self.typer.error(Code::CDeclaration, message, loc);
            return basic::ERROR;
        }
        let function = FunctionType {
            result,
            params: params.params.iter().map(|param| param.ty.plain()).collect(),
            variadic: params.variadic,
            prototyped: params.prototyped,
        };
        self.typer.types().intern(Type::Function(Box::new(function)))
    }

    /// Consumes the name of a type, as in casts.
    pub(super) fn type_name(&mut self) -> QualType {
        let specifiers = self.specifiers();
        let declarator = self.declarator(true);
        if let Some((_, loc)) = declarator.name {
            self.typer.error(Code::UnexpectedToken, "a type has no name here", loc);
        }
        self.declared_type(&declarator, specifiers.ty)
    }

    /// Returns what a declarator declares.
    pub(super) fn declared(
        &mut self,
        declarator: &Declarator,
        base: QualType,
        words: StorageWords,
    ) -> Option<Declared> {
        let (name, loc) = declarator.name?;
        let ty = self.declared_type(declarator, base);
        Some(Declared { name, ty, loc, words, asm_name: None })
    }
}
