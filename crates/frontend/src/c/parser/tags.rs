//! Structs, unions and enumerations.

use super::Parser;
use super::specifiers::Specifiers;
use crate::c::files::Loc;
use crate::c::layout::{Member, Shape};
use crate::c::lexer::Kind;
use crate::c::names::Symbol;
use crate::c::types::{
    EnumId, Enumeration, Field, IntKind, Length, MAX_TYPE_HEIGHT, QualType, Record, RecordId, Type, basic,
};
use crate::c::typing::{Entry, Tag};
use crate::diagnostic::Code;

impl Parser {
    /// Consumes a struct or union, with or without its members.
    pub(super) fn record(&mut self) -> QualType {
        let is_union = self.bump().kind == Kind::Union;
        let mut attributes = self.attributes();
        let loc = self.loc();
        let tag = if self.at(Kind::Name) { Some(self.bump().text) } else { None };
        if !self.at(Kind::LBrace) {
            let Some(tag) = tag else {
                self.miss("a name or `{`");
                return basic::ERROR;
            };
            return self.named_record(tag, is_union, loc);
        }
        let id = self.new_record(tag, is_union, loc);
        let opener = self.bump().loc;
        let mut members = self.nested(Self::members).unwrap_or_default();
        self.close(Kind::RBrace, opener);
        let more = self.attributes();
        attributes.merge(more);
        let shape = Shape { is_union, is_packed: attributes.is_packed, align: attributes.align };
        self.check_members(&mut members, is_union);
        let types = &mut self.typer.unit.types;
        match types.place(shape, members) {
            Some(body) if body.height <= MAX_TYPE_HEIGHT => types.records[id].body = Some(body),
            _ => self.typer.error(Code::BeyondLimit, "this type is too large", loc),
        }
        self.typer.types().intern(Type::Record(id))
    }

    /// Returns the struct or union with a name, and declares it if there is none.
    fn named_record(&mut self, tag: Symbol, is_union: bool, loc: Loc) -> QualType {
        let is_declaration = self.at(Kind::Semicolon);
        let known = if is_declaration { self.typer.lookup_tag_here(tag) } else { self.typer.lookup_tag(tag) };
        let id = match known {
            Some(Tag::Record(id)) if self.typer.unit.types.records[id].is_union == is_union => id,
            Some(_) => {
                let message = format!("`{}` is a different kind of type", self.typer.text(tag));
                self.typer.error(Code::CRedeclared, message, loc);
                return basic::ERROR;
            }
            None => self.add_record(Some(tag), is_union, loc),
        };
        self.typer.types().intern(Type::Record(id))
    }

    fn add_record(&mut self, tag: Option<Symbol>, is_union: bool, loc: Loc) -> RecordId {
        let id = self.typer.unit.types.records.push(Record { is_union, tag, loc, body: None });
        if let Some(tag) = tag {
            self.typer.insert_tag(tag, Tag::Record(id));
        }
        id
    }

    /// Returns the struct or union whose members follow.
    fn new_record(&mut self, tag: Option<Symbol>, is_union: bool, loc: Loc) -> RecordId {
        let known = tag.and_then(|tag| self.typer.lookup_tag_here(tag));
        match known {
            Some(Tag::Record(id)) => {
                let record = &self.typer.unit.types.records[id];
                let (is_new, old) = (record.body.is_none() && record.is_union == is_union, record.loc);
                if is_new {
                    return id;
                }
                self.report_twice(tag, loc, old);
            }
            Some(Tag::Enum(id)) => {
                let old = self.typer.unit.types.enums[id].loc;
                self.report_twice(tag, loc, old);
            }
            None => {}
        }
        self.add_record(tag, is_union, loc)
    }

    fn report_twice(&mut self, tag: Option<Symbol>, loc: Loc, old: Loc) {
        let name = tag.map_or("", |tag| self.typer.text(tag));
        let message = format!("`{name}` is defined twice");
        let diagnostic = self.typer.diagnostic(Code::CRedeclared, message, loc).also(old.span, "first defined here");
        self.typer.push(diagnostic);
    }

    /// Consumes the members of a struct or union.
    fn members(&mut self) -> Vec<Member> {
        let mut members = Vec::new();
        while !matches!(self.kind(), Kind::RBrace | Kind::Eof) {
            match self.kind() {
                Kind::Semicolon => {
                    self.bump();
                }
                Kind::StaticAssert => self.static_assert(),
                _ if self.at_declaration() || self.at_unknown_type() => self.member_declaration(&mut members),
                _ => self.miss("a member"),
            }
            if self.lost {
                self.recover();
            }
            self.stop_if_over();
        }
        members
    }

    fn member_declaration(&mut self, members: &mut Vec<Member>) {
        let specifiers = self.specifiers();
        if self.at(Kind::Semicolon) {
            let ty = specifiers.ty;
            if self.typer.unit.types.is_record(ty) && self.typer.unit.types.record(ty).is_some() {
                let member = self.member(&specifiers, None, ty, specifiers.loc);
                members.push(member);
            }
            self.bump();
            return;
        }
        loop {
            let member = self.member_declarator(&specifiers);
            members.extend(member);
            if self.lost || !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect_semicolon();
    }

    fn member_declarator(&mut self, specifiers: &Specifiers) -> Option<Member> {
        let start = self.loc();
        let (name, ty, loc) = if self.at(Kind::Colon) {
            (None, specifiers.ty, start)
        } else {
            let declarator = self.declarator(false);
            let ty = self.declared_type(&declarator, specifiers.ty);
            let (name, loc) = declarator.name?;
            (Some(name), ty, loc)
        };
        let width = if self.eat(Kind::Colon) { Some(self.bit_width(name, ty)) } else { None };
        let attributes = self.attributes();
        let mut member = self.member(specifiers, name, ty, loc);
        member.width = width;
        member.align = member.align.max(attributes.align);
        member.is_packed |= attributes.is_packed;
        Some(member)
    }

    fn member(&self, specifiers: &Specifiers, name: Option<Symbol>, ty: QualType, loc: Loc) -> Member {
        let field = Field { name, ty, offset: 0, bits: None, loc };
        let (align, is_packed) = (specifiers.words.align, specifiers.attributes.is_packed);
        Member { field, width: None, align, is_packed }
    }

    /// Consumes the width of a bit-field.
    fn bit_width(&mut self, name: Option<Symbol>, ty: QualType) -> u32 {
        let Some((width, loc)) = self.constant() else { return 1 };
        let types = &self.typer.unit.types;
        if types.is_error(ty) {
            return 1;
        }
        let Some(kind) = types.integer(ty) else {
            self.typer.error(Code::CWrongType, "a bit-field must have an integer type", loc);
            return 1;
        };
        let most = if matches!(types.get(ty), Type::Bool) { 1 } else { kind.width(types.model) };
        let least = i128::from(name.is_some());
        if width < least || width > i128::from(most) {
            self.typer.error(Code::CDeclaration, format!("this bit-field has {width} bits; {most} is the most"), loc);
            return 1;
        }
        u32::try_from(width).unwrap_or(1)
    }

    /// Checks that members have sizes and different names. A flexible array may be the last member of a struct. A
    /// member without a size gets no type, so that no struct is a part of itself.
    fn check_members(&mut self, members: &mut [Member], is_union: bool) {
        let mut seen: rustc_hash::FxHashMap<Symbol, Loc> = rustc_hash::FxHashMap::default();
        for number in 0..members.len() {
            let Field { name, ty, loc, .. } = members[number].field;
            if let Some(name) = name
                && let Some(old) = seen.insert(name, loc)
            {
                let message = format!("there are two members `{}`", self.typer.text(name));
                let diagnostic = self.typer.diagnostic(Code::CRedeclared, message, loc).also(old.span, "the first one");
                self.typer.push(diagnostic);
            }
            let types = &self.typer.unit.types;
            let is_flexible = matches!(types.get(ty), Type::Array(_, Length::Unknown)) && number + 1 == members.len();
            let is_bad = types.is_void(ty) || types.is_function(ty);
            if is_bad || types.layout(ty).is_none() && (is_union || !is_flexible) {
                let message =
                    format!("a member cannot have the type `{}`, whose size is not known", self.typer.show(ty));
                self.typer.error(Code::CIncomplete, message, loc);
                members[number].field.ty = basic::ERROR;
            }
        }
    }

    /// Consumes an enumeration, with or without its constants.
    pub(super) fn enumeration(&mut self) -> QualType {
        self.bump();
        self.attributes();
        let loc = self.loc();
        let tag = if self.at(Kind::Name) { Some(self.bump().text) } else { None };
        if !self.at(Kind::LBrace) {
            let Some(tag) = tag else {
                self.miss("a name or `{`");
                return basic::ERROR;
            };
            return self.named_enum(tag, loc);
        }
        let id = self.new_enum(tag, loc);
        let opener = self.bump().loc;
        let ty = self.typer.types().intern(Type::Enum(id));
        let constants = self.enum_constants();
        self.close(Kind::RBrace, opener);
        if self.attributes().is_packed {
            self.unsupported("the attribute `packed` of an enumeration is", loc);
        }
        self.finish_enum(id, constants);
        ty
    }

    fn named_enum(&mut self, tag: Symbol, loc: Loc) -> QualType {
        let id = match self.typer.lookup_tag(tag) {
            Some(Tag::Enum(id)) => id,
            Some(Tag::Record(_)) => {
                let message = format!("`{}` is a different kind of type", self.typer.text(tag));
                self.typer.error(Code::CRedeclared, message, loc);
                return basic::ERROR;
            }
            None => self.add_enum(Some(tag), loc),
        };
        self.typer.types().intern(Type::Enum(id))
    }

    fn add_enum(&mut self, tag: Option<Symbol>, loc: Loc) -> EnumId {
        let id = self.typer.unit.types.enums.push(Enumeration { tag, loc, kind: None, constants: Vec::new() });
        if let Some(tag) = tag {
            self.typer.insert_tag(tag, Tag::Enum(id));
        }
        id
    }

    fn new_enum(&mut self, tag: Option<Symbol>, loc: Loc) -> EnumId {
        match tag.and_then(|tag| self.typer.lookup_tag_here(tag)) {
            Some(Tag::Enum(id)) if self.typer.unit.types.enums[id].kind.is_none() => return id,
            Some(Tag::Enum(id)) => {
                let old = self.typer.unit.types.enums[id].loc;
                self.report_twice(tag, loc, old);
            }
            Some(Tag::Record(id)) => {
                let old = self.typer.unit.types.records[id].loc;
                self.report_twice(tag, loc, old);
            }
            None => {}
        }
        self.add_enum(tag, loc)
    }

    /// Consumes the constants of an enumeration. While they are read they are of the smallest type from `int` on.
    fn enum_constants(&mut self) -> Vec<(Symbol, i128, Loc)> {
        let mut constants = Vec::new();
        let mut next = 0;
        while self.at(Kind::Name) {
            let name = self.bump();
            self.attributes();
            if self.eat(Kind::Assign)
                && let Some((value, _)) = self.constant()
            {
                next = value;
            }
            if let Some((_, old)) = self.typer.lookup_here(name.text) {
                let message = format!("`{}` is already declared", self.typer.text(name.text));
                let diagnostic = self.typer.diagnostic(Code::CRedeclared, message, name.loc);
                self.typer.push(diagnostic.also(old.span, "first declared here"));
            }
            let ty = basic::int(self.kind_for(next, next));
            self.typer.insert(name.text, Entry::Constant(next, ty), name.loc);
            constants.push((name.text, next, name.loc));
            next += 1;
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        constants
    }

    /// Returns the smallest type from `int` on that holds all values between two.
    fn kind_for(&self, least: i128, most: i128) -> IntKind {
        let types = &self.typer.unit.types;
        let kinds = [IntKind::Int, IntKind::UInt, IntKind::Long, IntKind::ULong, IntKind::LongLong, IntKind::ULongLong];
        let holds = |kind: &&IntKind| {
            let fits = |value| types.wrap(value, basic::int(**kind)) == value;
            fits(least) && fits(most)
        };
        kinds.iter().find(holds).copied().unwrap_or(IntKind::LongLong)
    }

    /// Chooses the type of an enumeration as GCC does: unsigned if no constant is negative. The constants are `int`s,
    /// unless one of them does not fit: then they have the type of the enumeration.
    fn finish_enum(&mut self, id: EnumId, constants: Vec<(Symbol, i128, Loc)>) {
        let least = constants.iter().map(|(_, value, _)| *value).min().unwrap_or(0);
        let most = constants.iter().map(|(_, value, _)| *value).max().unwrap_or(0);
        let kind = match self.kind_for(least, most) {
            kind if least < 0 => kind,
            kind => self.kind_for(0, most).max(kind).unsigned(),
        };
        let is_int = i32::try_from(least).is_ok() && i32::try_from(most).is_ok();
        let ty = if is_int { basic::INT } else { basic::int(kind) };
        for (name, value, loc) in &constants {
            self.typer.insert(*name, Entry::Constant(*value, ty), *loc);
        }
        let enumeration = &mut self.typer.unit.types.enums[id];
        enumeration.kind = Some(kind);
        enumeration.constants = constants.into_iter().map(|(name, value, _)| (name, value)).collect();
    }
}
