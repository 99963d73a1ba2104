//! Expressions that denote objects: `*p`, `a[i]`, `a.f`, `p->f`, and `&a`.

use super::Typer;
use crate::c::files::Loc;
use crate::c::literals::{self, Prefix};
use crate::c::names::Symbol;
use crate::c::tree::{Expr, ExprKind, StringLiteral};
use crate::c::types::{IntKind, Length, QualType, Quals, Type, basic};
use crate::diagnostic::Code;
use crate::suggest::nearest;

impl Typer {
    /// Returns `*p`.
    pub(crate) fn deref(&mut self, operand: Expr, loc: Loc) -> Expr {
        let pointer = self.value(operand);
        let Some(to) = self.unit.types.pointee(pointer.ty) else {
            if self.unit.types.is_error(pointer.ty) {
                return self.wrong(loc);
            }
            let message = format!("a value of type `{}` points to nothing", self.show(pointer.ty));
            return self.reject(Code::CWrongType, message, loc);
        };
        // A function is called through its address anyway.
        let kind = match pointer.kind {
            ExprKind::Decay(function) if self.unit.types.is_function(to) => return Expr { loc, ..*function },
            kind => kind,
        };
        let pointer = Expr { kind, ..pointer };
        self.make(ExprKind::Deref(Box::new(pointer)), to, loc)
    }

    /// Returns `a[i]`.
    pub(crate) fn index(&mut self, base: Expr, index: Expr, loc: Loc) -> Expr {
        let (base, index) = (self.value(base), self.value(index));
        let types = &self.unit.types;
        if types.is_error(base.ty) || types.is_error(index.ty) {
            return self.wrong(loc);
        }
        let (pointer, index) = if types.is_pointer(base.ty) { (base, index) } else { (index, base) };
        if !types.is_pointer(pointer.ty) || !types.is_integer(index.ty) {
            let (pointer, index) = (self.show(pointer.ty), self.show(index.ty));
            let message = format!("`[..]` needs a pointer or array and an integer, not `{pointer}` and `{index}`");
            return self.reject(Code::CWrongType, message, loc);
        }
        let place = self.offset(pointer, index, false, loc);
        if self.unit.types.is_error(place.ty) { place } else { self.deref(place, loc) }
    }

    /// Returns `&a`.
    pub(crate) fn address_of(&mut self, operand: Expr, loc: Loc) -> Expr {
        if self.unit.types.is_error(operand.ty) {
            return self.wrong(loc);
        }
        if !operand.is_place() {
            return self.reject(Code::CNotAssignable, "a value has no address: `&` needs an object", loc);
        }
        if self.bit_field(&operand).is_some() {
            return self.reject(Code::CNotAssignable, "a bit-field has no address", loc);
        }
        let ty = self.types().pointer(operand.ty);
        match operand.kind {
            ExprKind::Deref(pointer) => Expr { loc, ty, ..*pointer },
            _ => self.make(ExprKind::AddressOf(Box::new(operand)), ty, loc),
        }
    }

    /// Returns `a.f`, or `p->f`.
    pub(crate) fn member(&mut self, base: Expr, is_arrow: bool, name: Symbol, loc: Loc, name_loc: Loc) -> Expr {
        let base = if is_arrow { self.deref(base, loc) } else { base };
        if self.unit.types.is_error(base.ty) {
            return self.wrong(loc);
        }
        let Type::Record(id) = *self.unit.types.get(base.ty) else {
            let is_pointer = self.unit.types.pointee(base.ty).is_some_and(|to| self.unit.types.is_record(to));
            let message = format!("a value of type `{}` has no members", self.show(base.ty));
            let diagnostic = self.diagnostic(Code::CWrongType, message, loc);
            self.push(if is_pointer { diagnostic.help("use `->` for pointers") } else { diagnostic });
            return self.wrong(loc);
        };
        if self.unit.types.records[id].body.is_none() {
            let message = format!("`{}` is not defined here, only declared", self.show(base.ty.plain()));
            return self.reject(Code::CIncomplete, message, loc);
        }
        match self.find_member(base.ty, name) {
            Some(path) => self.follow(base, &path, loc),
            None => self.no_member(base.ty, name, name_loc),
        }
    }

    fn no_member(&mut self, ty: QualType, name: Symbol, loc: Loc) -> Expr {
        let text = self.text(name);
        let fields = self.unit.types.record(ty).map(|body| body.fields.as_slice()).unwrap_or_default();
        let known = fields.iter().filter_map(|field| field.name).map(|name| self.text(name));
        let near = nearest(text, known);
        let message = format!("`{}` has no member `{text}`", self.show(ty.plain()));
        let diagnostic = self.diagnostic(Code::CNoMember, message, loc).did_you_mean(near);
        self.push(diagnostic);
        self.wrong(loc)
    }

    /// Returns the way to a member, also through unnamed structs and unions.
    pub(crate) fn find_member(&self, ty: QualType, name: Symbol) -> Option<Vec<usize>> {
        let body = self.unit.types.record(ty)?;
        if let Some(number) = body.fields.iter().position(|field| field.name == Some(name)) {
            return Some(vec![number]);
        }
        body.fields.iter().enumerate().find_map(|(number, field)| {
            if field.name.is_some() || field.bits.is_some() {
                return None;
            }
            let mut path = self.find_member(field.ty, name)?;
            path.insert(0, number);
            Some(path)
        })
    }

    /// Returns the member at the end of a way. It has the qualifiers of the whole.
    fn follow(&mut self, base: Expr, path: &[usize], loc: Loc) -> Expr {
        let mut place = base;
        for number in path {
            let quals = place.ty.quals.without(Quals::ATOMIC);
            let field = self.unit.types.record(place.ty).and_then(|body| body.fields.get(*number));
            let Some(ty) = field.map(|field| field.ty) else { return self.wrong(loc) };
            let ty = self.types().qualify(ty, quals);
            place = self.make(ExprKind::Member(Box::new(place), *number), ty, loc);
        }
        place
    }

    /// Returns a string, whose parts are joined.
    pub(crate) fn string(&mut self, parts: &[Symbol], loc: Loc) -> Expr {
        let prefix = parts.iter().map(|part| literals::string_prefix(self.text(*part))).max();
        let prefix = prefix.unwrap_or(Prefix::Plain);
        let mut units = Vec::new();
        for part in parts {
            match literals::string(self.text(*part), prefix) {
                Ok(found) => units.extend(found),
                Err(message) => return self.reject(Code::CLiteral, message, loc),
            }
        }
        units.push(0);
        let element = self.element(prefix);
        let ty = self.types().array(element, Length::Known(units.len() as u64));
        let id = self.unit.strings.push(StringLiteral { prefix, units, ty, loc });
        self.make(ExprKind::String(id), ty, loc)
    }

    /// Returns the type of the elements of a string.
    pub(crate) fn element(&self, prefix: Prefix) -> QualType {
        match prefix {
            Prefix::Plain | Prefix::Utf8 => basic::CHAR,
            Prefix::Utf16 => basic::int(IntKind::UShort),
            Prefix::Utf32 => basic::UINT,
            Prefix::Wide => self.unit.types.wide_type(),
        }
    }
}
