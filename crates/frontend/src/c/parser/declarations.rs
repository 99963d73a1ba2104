//! Declarations, and initial values.

use super::Parser;
use super::declarators::Declarator;
use super::specifiers::Specifiers;
use crate::c::files::Loc;
use crate::c::lexer::Kind;
use crate::c::tree::{ObjectId, Stmt, StmtKind, Storage};
use crate::c::types::{QualType, Type, basic};
use crate::c::typing::{Designator, Entry, RawInit, RawItem};
use crate::diagnostic::Code;

impl Parser {
    /// Consumes the whole file.
    pub(super) fn unit(&mut self) {
        while !self.at(Kind::Eof) {
            self.external();
            if self.lost {
                self.recover();
                // A closing brace that belongs to nothing.
                self.eat(Kind::RBrace);
            }
            self.stop_if_over();
        }
    }

    /// Consumes a declaration or definition of the file.
    fn external(&mut self) {
        match self.kind() {
            Kind::Semicolon => {
                self.bump();
            }
            Kind::Asm => {
                let loc = self.loc();
                self.skip_asm();
                self.unsupported("assembly outside of functions is", loc);
                self.eat(Kind::Semicolon);
            }
            Kind::StaticAssert => self.static_assert(),
            _ if self.at_declaration() || self.at_unknown_type() || self.at_old_function() => {
                self.declaration(&mut Vec::new());
            }
            _ => {
                self.miss("a declaration");
                self.bump();
            }
        }
    }

    /// Returns whether a function without a type begins here, or `x;` of old programs.
    fn at_old_function(&self) -> bool {
        self.at(Kind::Name)
            && matches!(self.peek(1), Kind::LParen | Kind::Assign | Kind::Semicolon | Kind::LBracket | Kind::Comma)
            || self.at(Kind::Star) && matches!(self.peek(1), Kind::Name | Kind::Star)
    }

    /// Consumes a declaration; adds the statements that execute it.
    pub(super) fn declaration(&mut self, stmts: &mut Vec<Stmt>) {
        if self.at(Kind::StaticAssert) {
            return self.static_assert();
        }
        let specifiers = self.specifiers();
        if self.lost || self.eat(Kind::Semicolon) {
            return;
        }
        let mut is_first = true;
        loop {
            let declarator = self.declarator(false);
            if self.lost {
                return;
            }
            if is_first && self.at_body(&declarator) {
                return self.function_definition(&specifiers, declarator);
            }
            is_first = false;
            self.init_declarator(&specifiers, &declarator, stmts);
            if self.lost || !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect_semicolon();
    }

    /// Returns whether the body of a function follows, or the types of the parameters of an old one.
    fn at_body(&self, declarator: &Declarator) -> bool {
        let Some(params) = declarator.params() else { return false };
        self.at(Kind::LBrace) || !params.old.is_empty() && self.at_declaration() && !self.at(Kind::Attribute)
    }

    /// Consumes what is behind a declarator, and declares it.
    fn init_declarator(&mut self, specifiers: &Specifiers, declarator: &Declarator, stmts: &mut Vec<Stmt>) {
        let Some(mut declared) = self.declared(declarator, specifiers.ty, specifiers.words) else { return };
        declared.asm_name = self.asm_label();
        let attributes = self.attributes();
        declared.words.align = declared.words.align.max(attributes.align);
        declared.words.is_noreturn |= attributes.is_noreturn;
        declared.ty = self.with_mode(declared.ty, attributes);
        if specifiers.is_auto_type {
            let Some(ty) = self.auto_type(declared.loc) else { return };
            (declared.ty, _) = ty;
            let entry = self.typer.declare(&declared);
            return self.finish_object(entry, Some(RawInit::Expr(ty.1)), declared.loc, stmts);
        }
        if declared.words.is_typedef && self.at(Kind::Assign) {
            return self.miss("`;`");
        }
        let entry = self.typer.declare(&declared);
        let init = if self.eat(Kind::Assign) { Some(self.initialiser()) } else { None };
        if let (Some(_), Some(Entry::Function(_))) = (&init, entry) {
            self.typer.error(Code::CInitialiser, "a function has no initial value", declared.loc);
        }
        self.finish_object(entry, init, declared.loc, stmts);
    }

    /// Reads the initial value of `__auto_type x = ..;`, and returns its type.
    fn auto_type(&mut self, loc: Loc) -> Option<(QualType, crate::c::tree::Expr)> {
        if !self.eat(Kind::Assign) {
            self.typer.error(Code::CDeclaration, "`__auto_type` needs an initial value", loc);
            return None;
        }
        let value = self.assignment();
        let value = self.typer.value(value);
        Some((value.ty, value))
    }

    /// Gives a declared object its initial value, and checks that its type is complete.
    fn finish_object(&mut self, entry: Option<Entry>, init: Option<RawInit>, loc: Loc, stmts: &mut Vec<Stmt>) {
        let Some(Entry::Object(id)) = entry else { return };
        let (storage, ty) = (self.typer.unit.objects[id].storage, self.typer.unit.objects[id].ty);
        if let Some(init) = init {
            self.set_init(id, ty, init, loc);
        }
        let object = &self.typer.unit.objects[id];
        let is_local = object.linkage == crate::c::tree::Linkage::None;
        if is_local {
            self.typer.check_complete(id);
        }
        if storage == Storage::Auto {
            stmts.push(Stmt { kind: StmtKind::Declare(id), loc });
        }
    }

    fn set_init(&mut self, id: ObjectId, ty: QualType, init: RawInit, loc: Loc) {
        if self.typer.unit.types.is_error(ty) {
            return;
        }
        if self.typer.unit.types.is_variable(ty) && self.typer.unit.types.is_array(ty) {
            return self.typer.error(Code::CInitialiser, "an array of variable length has no initial value", loc);
        }
        let is_static = self.typer.unit.objects[id].storage != Storage::Auto;
        let (ty, init) = self.typer.initialise(ty, init, is_static);
        self.typer.define(id, ty, init, loc);
    }

    /// Consumes `asm("name")`.
    fn asm_label(&mut self) -> Option<String> {
        if !self.at(Kind::Asm) {
            return None;
        }
        self.bump();
        let opener = self.loc();
        self.expect(Kind::LParen);
        let mut name = String::new();
        while self.at(Kind::Str) {
            name.push_str(self.text().trim_matches('"'));
            self.bump();
        }
        self.close(Kind::RParen, opener);
        Some(name)
    }

    /// Consumes an initial value: an expression, or a list in braces.
    pub(super) fn initialiser(&mut self) -> RawInit {
        if !self.at(Kind::LBrace) {
            return RawInit::Expr(self.assignment());
        }
        let opener = self.loc();
        let items = self.nested(Self::initialiser_list).unwrap_or_default();
        RawInit::List(items, self.since(opener))
    }

    fn initialiser_list(&mut self) -> Vec<RawItem> {
        let opener = self.bump().loc;
        let mut items = Vec::new();
        while !matches!(self.kind(), Kind::RBrace | Kind::Eof) && !self.lost {
            let designators = self.designators();
            let value = self.initialiser();
            items.push(RawItem { designators, value });
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        match self.lost {
            true => self.skip_braces(),
            false => self.close(Kind::RBrace, opener),
        }
        items
    }

    fn designators(&mut self) -> Vec<Designator> {
        let mut designators = Vec::new();
        if self.at(Kind::Name) && self.peek(1) == Kind::Colon {
            // The old form of GNU.
            let token = self.bump();
            self.bump();
            return vec![Designator::Field(token.text, token.loc)];
        }
        while matches!(self.kind(), Kind::Dot | Kind::LBracket) && !self.lost {
            let start = self.bump();
            if start.kind == Kind::Dot {
                designators.extend(self.expect_name("a member").map(|(name, loc)| Designator::Field(name, loc)));
            } else {
                designators.extend(self.index_designator(start.loc));
            }
        }
        if !designators.is_empty() && !self.eat(Kind::Assign) && !self.at(Kind::Name) && !self.at(Kind::Number) {
            self.miss("`=`");
        }
        designators
    }

    fn index_designator(&mut self, opener: Loc) -> Option<Designator> {
        let first = self.constant().map(|(value, _)| value);
        let last = if self.eat(Kind::Ellipsis) { self.constant().map(|(value, _)| value) } else { first };
        self.close(Kind::RBracket, opener);
        let loc = self.since(opener);
        let (Ok(first), Ok(last)) = (u64::try_from(first?), u64::try_from(last?)) else {
            self.typer.error(Code::CInitialiser, "there is no element with a negative number", loc);
            return None;
        };
        Some(Designator::Index(first, last, loc))
    }

    /// Consumes a constant integer.
    pub(super) fn constant(&mut self) -> Option<(i128, Loc)> {
        let value = self.nested(Self::conditional)?;
        let value = self.typer.value(value);
        let loc = value.loc;
        if self.typer.unit.types.is_error(value.ty) {
            return None;
        }
        let found = self.typer.unit.integer(&value);
        if found.is_none() {
            self.typer.error(Code::CNotConstant, "an integer constant is needed here", loc);
        }
        found.map(|value| (value, loc))
    }

    pub(super) fn static_assert(&mut self) {
        let start = self.bump().loc;
        let opener = self.loc();
        if !self.expect(Kind::LParen) {
            return;
        }
        let value = self.constant();
        let mut message = String::new();
        if self.eat(Kind::Comma) {
            while self.at(Kind::Str) {
                message.push_str(self.text().trim_matches('"'));
                self.bump();
            }
        }
        self.close(Kind::RParen, opener);
        let loc = self.since(start);
        self.expect_semicolon();
        if let Some((0, _)) = value {
            self.typer.error(Code::CStaticAssert, format!("this static assertion fails: {message}"), loc);
        }
    }

    /// Consumes inline assembly up to its closing parenthesis.
    pub(super) fn skip_asm(&mut self) {
        self.bump();
        while matches!(self.kind(), Kind::Volatile | Kind::Goto | Kind::Inline) {
            self.bump();
        }
        let opener = self.loc();
        if self.expect(Kind::LParen) {
            self.skip_parens(opener);
        }
    }

    /// Returns a compound literal, whose type has been read.
    pub(super) fn compound_literal(&mut self, ty: QualType, start: Loc) -> crate::c::tree::Expr {
        let raw = self.initialiser();
        let loc = self.since(start);
        if self.typer.unit.types.is_error(ty) {
            return self.typer.wrong(loc);
        }
        let is_static = self.typer.function.is_none();
        let (ty, init) = self.typer.initialise(ty, raw, is_static);
        let name = self.typer.unit.names.intern("");
        let storage = if is_static { Storage::Static } else { Storage::Auto };
        let id = self.typer.add_local(name, ty, storage, loc);
        self.typer.unit.objects[id].init = Some(init);
        self.typer.check_complete(id);
        let is_complete = !matches!(self.typer.unit.types.get(self.typer.unit.objects[id].ty), Type::Error);
        let ty = if is_complete { ty } else { basic::ERROR };
        self.typer.make(crate::c::tree::ExprKind::CompoundLiteral(id), ty, loc)
    }
}
