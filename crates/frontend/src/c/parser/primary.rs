//! Expressions without operators: names, constants, parentheses, and operators that take types.

use super::Parser;
use crate::c::files::Loc;
use crate::c::lexer::{Kind, Token};
use crate::c::tree::{Expr, ExprKind};
use crate::c::types::{Length, QualType, Type, basic};
use crate::diagnostic::Code;

impl Parser {
    pub(super) fn primary(&mut self) -> Expr {
        let token = self.token();
        match token.kind {
            Kind::Number => {
                self.bump();
                self.typer.number(token.text, token.loc)
            }
            Kind::Character => {
                self.bump();
                self.typer.character(token.text, token.loc)
            }
            Kind::Str => self.string(),
            Kind::LParen => self.parentheses(),
            Kind::Generic => self.generic(),
            Kind::Name => self.name(token),
            _ => {
                self.miss("an expression");
                self.typer.wrong(token.loc)
            }
        }
    }

    fn string(&mut self) -> Expr {
        let start = self.loc();
        let mut parts = Vec::new();
        while self.at(Kind::Str) {
            parts.push(self.bump().text);
        }
        let loc = self.since(start);
        self.typer.string(&parts, loc)
    }

    /// Consumes an expression or statements in parentheses.
    fn parentheses(&mut self) -> Expr {
        let opener = self.bump().loc;
        if self.at(Kind::LBrace) {
            let value = self.nested(|this| this.statement_expression(opener));
            return value.unwrap_or_else(|| self.typer.wrong(opener));
        }
        let expr = self.nested(Self::expression).unwrap_or_else(|| self.typer.wrong(opener));
        self.close(Kind::RParen, opener);
        Expr { loc: self.since(opener), ..expr }
    }

    /// Consumes a name: a variable, a function, or what the compiler knows.
    fn name(&mut self, token: Token) -> Expr {
        if self.typer.lookup(token.text).is_none() {
            let text = self.text().to_owned();
            if text.starts_with("__")
                && let Some(expr) = self.known_name(token, &text)
            {
                return expr;
            }
            if self.peek(1) == Kind::LParen {
                self.bump();
                return self.typer.implicit(token.text, token.loc);
            }
        }
        self.bump();
        self.typer.name(token.text, token.loc)
    }

    /// Consumes a name that the compiler knows.
    fn known_name(&mut self, token: Token, text: &str) -> Option<Expr> {
        match text {
            "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__" => {
                self.bump();
                return Some(self.function_name(token.loc));
            }
            "__builtin_va_arg" => return Some(self.va_arg()),
            "__builtin_offsetof" => return Some(self.offset_of()),
            "__builtin_types_compatible_p" => return Some(self.types_compatible()),
            "__builtin_choose_expr" => return Some(self.choose()),
            _ => {}
        }
        if self.peek(1) != Kind::LParen {
            return None;
        }
        if self.typer.is_builtin(token.text) {
            self.bump();
            let args = self.arguments();
            let loc = self.since(token.loc);
            return Some(self.typer.builtin(token.text, args, loc));
        }
        if let Some(plain) = self.typer.library_name(token.text) {
            self.bump();
            return Some(match self.typer.lookup(plain) {
                Some(_) => self.typer.name(plain, token.loc),
                None => self.typer.library(plain, token.loc),
            });
        }
        text.starts_with("__builtin_").then(|| {
            self.unsupported(&format!("`{text}` is"), token.loc);
            self.bump();
            self.arguments();
            self.typer.wrong(token.loc)
        })
    }

    /// Returns the name of the function around as a string.
    fn function_name(&mut self, loc: Loc) -> Expr {
        let name = match &self.typer.function {
            Some(function) => self.typer.text(self.typer.unit.functions[function.id].name).to_owned(),
            None => String::new(),
        };
        let text = self.typer.unit.names.intern(&format!("\"{name}\""));
        self.typer.string(&[text], loc)
    }

    /// Consumes the name of a function of the compiler and its opening parenthesis.
    fn open_builtin(&mut self) -> (Loc, Loc) {
        let start = self.bump().loc;
        let opener = self.loc();
        self.expect(Kind::LParen);
        (start, opener)
    }

    fn va_arg(&mut self) -> Expr {
        let (start, opener) = self.open_builtin();
        let list = self.assignment();
        self.expect(Kind::Comma);
        let ty = self.type_name();
        self.close(Kind::RParen, opener);
        let loc = self.since(start);
        if self.lost {
            return self.typer.wrong(loc);
        }
        self.typer.make(ExprKind::VaArg(Box::new(list)), ty.plain(), loc)
    }

    /// Consumes `__builtin_offsetof(type, member.part[index])`.
    fn offset_of(&mut self) -> Expr {
        let (start, opener) = self.open_builtin();
        let ty = self.type_name();
        self.expect(Kind::Comma);
        let pointer = self.typer.types().pointer(ty);
        let null = self.typer.int(0, start);
        let base = self.typer.cast(null, pointer, false);
        let Some((name, name_loc)) = self.expect_name("a member") else { return self.typer.wrong(start) };
        let place = self.typer.member(base, true, name, name_loc, name_loc);
        let place = self.postfix(place);
        self.close(Kind::RParen, opener);
        let loc = self.since(start);
        if self.lost || self.typer.unit.types.is_error(place.ty) {
            return self.typer.wrong(loc);
        }
        let address = self.typer.address_of(place, loc);
        let size = self.typer.unit.types.size_type();
        let offset = self.typer.cast(address, size, false);
        match self.typer.unit.integer(&offset).and_then(|value| u64::try_from(value).ok()) {
            Some(value) => self.typer.size(value, loc),
            None => offset,
        }
    }

    fn types_compatible(&mut self) -> Expr {
        let (start, opener) = self.open_builtin();
        let one = self.type_name();
        self.expect(Kind::Comma);
        let other = self.type_name();
        self.close(Kind::RParen, opener);
        let loc = self.since(start);
        let is_compatible = self.typer.is_compatible_plain(one, other);
        self.typer.int(i128::from(is_compatible), loc)
    }

    fn choose(&mut self) -> Expr {
        let (start, opener) = self.open_builtin();
        let condition = self.constant();
        self.expect(Kind::Comma);
        let then = self.assignment();
        self.expect(Kind::Comma);
        let otherwise = self.assignment();
        self.close(Kind::RParen, opener);
        match condition {
            Some((0, _)) => otherwise,
            Some(_) => then,
            None => self.typer.wrong(self.since(start)),
        }
    }

    /// Consumes `_Generic(value, type: expression, ..)`.
    fn generic(&mut self) -> Expr {
        let (start, opener) = self.open_builtin();
        let control = self.assignment();
        let control = self.typer.value(control);
        let (mut chosen, mut default) = (None, None);
        while self.eat(Kind::Comma) && !self.lost {
            let is_default = self.eat(Kind::Default);
            let ty = if is_default { basic::ERROR } else { self.type_name() };
            self.expect(Kind::Colon);
            let expr = self.nested(Self::assignment);
            match is_default {
                true => default = default.or(expr),
                false if self.typer.is_compatible(ty, control.ty) => chosen = chosen.or(expr),
                false => {}
            }
        }
        self.close(Kind::RParen, opener);
        let loc = self.since(start);
        if let Some(expr) = chosen.or(default) {
            return expr;
        }
        if self.lost || self.typer.unit.types.is_error(control.ty) {
            return self.typer.wrong(loc);
        }
        let message = format!("no type here fits `{}`", self.typer.show(control.ty));
        self.typer.reject(Code::CWrongType, message, loc)
    }

    /// Consumes the operand of `sizeof` or `_Alignof`: a type in parentheses, or an expression that is not evaluated.
    fn unevaluated(&mut self) -> (QualType, Option<Expr>) {
        if self.at(Kind::LParen) && self.is_type_at(1) {
            let opener = self.bump().loc;
            let ty = self.type_name();
            self.close(Kind::RParen, opener);
            if !self.at(Kind::LBrace) || self.lost {
                return (ty, None);
            }
            let literal = self.compound_literal(ty, opener);
            let expr = self.postfix(literal);
            return (expr.ty, Some(expr));
        }
        let expr = self.nested(Self::unary).unwrap_or_else(|| self.typer.wrong(self.loc()));
        (expr.ty, Some(expr))
    }

    pub(super) fn sizeof(&mut self) -> Expr {
        let start = self.bump().loc;
        let (ty, expr) = self.unevaluated();
        let loc = self.since(start);
        if self.lost || self.typer.unit.types.is_error(ty) {
            return self.typer.wrong(loc);
        }
        if expr.is_some_and(|expr| self.typer.bit_field(&expr).is_some()) {
            return self.typer.reject(Code::CWrongType, "a bit-field has no size in bytes", loc);
        }
        let types = &self.typer.unit.types;
        if let Some(layout) = types.layout(ty) {
            return self.typer.size(layout.size, loc);
        }
        if matches!(types.get(ty), Type::Array(_, Length::Variable(_) | Length::Known(_))) && types.is_variable(ty) {
            let size = types.size_type();
            return self.typer.make(ExprKind::SizeOf(ty), size, loc);
        }
        let message = format!("the size of `{}` is not known here", self.typer.show(ty));
        self.typer.reject(Code::CIncomplete, message, loc)
    }

    pub(super) fn alignof(&mut self) -> Expr {
        let is_standard = self.text() == "_Alignof";
        let start = self.bump().loc;
        let (ty, _) = self.unevaluated();
        let loc = self.since(start);
        let types = &self.typer.unit.types;
        let ty = match types.get(ty) {
            Type::Array(of, _) => *of,
            _ => ty,
        };
        let align = if is_standard { types.layout(ty).map(|layout| layout.align) } else { types.preferred_align(ty) };
        match align {
            Some(align) => self.typer.size(align, loc),
            None => {
                let message = format!("the alignment of `{}` is not known here", self.typer.show(ty));
                self.typer.reject(Code::CIncomplete, message, loc)
            }
        }
    }
}
