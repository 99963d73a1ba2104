//! The words before the names of a declaration: storage, qualifiers and the type.

use super::Parser;
use super::attributes::Attributes;
use crate::c::files::Loc;
use crate::c::lexer::Kind;
use crate::c::types::{IntKind, QualType, Quals, basic};
use crate::c::typing::{Entry, StorageWords};
use crate::diagnostic::Code;
use crate::suggest::nearest;

/// What the words before the names say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Specifiers {
    pub(super) ty: QualType,
    pub(super) words: StorageWords,
    pub(super) attributes: Attributes,
    /// True for `__auto_type`: the type is that of the initial value.
    pub(super) is_auto_type: bool,
    pub(super) loc: Loc,
}

/// The words of a type, counted.
#[derive(Default)]
struct Words {
    /// A type that is complete by itself.
    whole: Option<QualType>,
    void: bool,
    boolean: bool,
    char: bool,
    short: bool,
    int: bool,
    longs: usize,
    signed: bool,
    unsigned: bool,
    float: bool,
    double: bool,
    int128: bool,
    quad: bool,
    complex: bool,
    auto_type: bool,
    quals: Quals,
}

impl Words {
    fn is_empty(&self) -> bool {
        self.whole.is_none() && !self.has_number() && !(self.void || self.boolean || self.auto_type)
    }

    fn has_number(&self) -> bool {
        self.has_size()
            || self.char
            || self.int
            || self.float
            || self.double
            || self.int128
            || self.quad
            || self.complex
    }

    fn has_size(&self) -> bool {
        self.short || self.longs > 0 || self.signed || self.unsigned
    }

    /// Returns the type that the words make together.
    fn ty(&self) -> Option<QualType> {
        let is_number = self.has_number();
        if let Some(whole) = self.whole {
            return (!is_number && !self.void && !self.boolean).then_some(whole);
        }
        if self.void || self.boolean {
            let is_alone = !is_number && self.void != self.boolean;
            return is_alone.then_some(if self.void { basic::VOID } else { basic::BOOL });
        }
        if self.float || self.double || self.quad {
            return self.float_type();
        }
        if self.signed && self.unsigned {
            return None;
        }
        let kind = match (self.char, self.short, self.longs, self.int128) {
            (true, false, 0, false) if !self.int => match (self.signed, self.unsigned) {
                (true, _) => IntKind::SChar,
                (_, true) => IntKind::UChar,
                _ => return Some(basic::CHAR),
            },
            (false, true, 0, false) => IntKind::Short,
            (false, false, 0, false) => IntKind::Int,
            (false, false, 1, false) => IntKind::Long,
            (false, false, 2, false) => IntKind::LongLong,
            (false, false, 0, true) if !self.int => IntKind::Int128,
            _ => return None,
        };
        Some(basic::int(if self.unsigned { kind.unsigned() } else { kind }))
    }

    fn float_type(&self) -> Option<QualType> {
        if self.signed || self.unsigned || self.short || self.char || self.int || self.int128 {
            return None;
        }
        match (self.float, self.double, self.quad, self.longs) {
            (true, false, false, 0) => Some(basic::FLOAT),
            (false, true, false, 0) => Some(basic::DOUBLE),
            (false, true, false, 1) => Some(basic::LONG_DOUBLE),
            (false, false, true, 0) => Some(basic::QUAD),
            _ => None,
        }
    }
}

impl Parser {
    /// Returns whether a declaration begins here.
    pub(super) fn at_declaration(&self) -> bool {
        self.at_type() || self.is_storage(self.kind()) || self.at(Kind::StaticAssert)
    }

    fn is_storage(&self, kind: Kind) -> bool {
        use Kind::{Alignas, Auto, Extern, Inline, Noreturn, Register, Static, ThreadLocal, Typedef};
        matches!(kind, Typedef | Extern | Static | ThreadLocal | Auto | Register | Inline | Noreturn | Alignas)
    }

    /// Returns whether the name of a type begins here.
    pub(super) fn at_type(&self) -> bool {
        self.is_type_at(0)
    }

    /// Returns whether the name of a type begins after the next `ahead` tokens.
    pub(super) fn is_type_at(&self, ahead: usize) -> bool {
        use Kind::{
            Atomic, Attribute, AutoType, Bool, Char, Complex, Const, Double, Enum, Extension, Float, Float128, Int,
            Int128, Long, Restrict, Short, Signed, Struct, Typeof, Union, Unsigned, Void, Volatile,
        };
        let Some(token) = self.tokens.get(self.at + ahead).copied() else { return false };
        match token.kind {
            Void | Bool | Char | Short | Int | Long | Signed | Unsigned | Float | Double | Int128 | Float128
            | Complex | Struct | Union | Enum | Typeof | AutoType | Const | Volatile | Restrict | Atomic => true,
            Extension | Attribute => ahead < 16 && self.is_type_behind(ahead),
            Kind::Name => self.is_typedef_name(token),
            _ => false,
        }
    }

    /// Returns whether a type or a storage word is behind `__extension__` or an attribute.
    fn is_type_behind(&self, ahead: usize) -> bool {
        if self.peek(ahead) == Kind::Attribute {
            return true;
        }
        self.is_type_at(ahead + 1) || self.is_storage(self.peek(ahead + 1))
    }

    /// Consumes the words before the names of a declaration.
    pub(super) fn specifiers(&mut self) -> Specifiers {
        let start = self.loc();
        let (mut words, mut storage, mut attributes) =
            (Words::default(), StorageWords::default(), Attributes::default());
        loop {
            if self.at(Kind::Attribute) {
                let more = self.attributes();
                attributes.merge(more);
            } else if !self.storage_word(&mut storage) && !self.type_word(&mut words) {
                break;
            }
            if self.lost {
                break;
            }
        }
        let loc = self.since(start);
        storage.align = storage.align.max(attributes.align);
        storage.is_noreturn |= attributes.is_noreturn;
        self.check_storage(storage, loc);
        let ty = self.type_of(&words, loc);
        let ty = self.with_mode(ty, attributes);
        Specifiers { ty, words: storage, attributes, is_auto_type: words.auto_type, loc }
    }

    fn type_of(&mut self, words: &Words, loc: Loc) -> QualType {
        if words.complex {
            self.unsupported("complex numbers are", loc);
            return basic::ERROR;
        }
        let ty = if words.is_empty() || words.auto_type { Some(basic::INT) } else { words.ty() };
        match ty {
            Some(ty) => self.typer.types().qualify(ty, words.quals),
            None => {
                self.typer.error(Code::CDeclaration, "these words do not make a type", loc);
                basic::ERROR
            }
        }
    }

    fn check_storage(&mut self, words: StorageWords, loc: Loc) {
        let n_words =
            [words.is_typedef, words.is_extern, words.is_static, words.is_auto].iter().filter(|is| **is).count();
        let is_bad_thread = words.is_thread && (words.is_typedef || words.is_auto);
        if n_words > 1 || is_bad_thread {
            self.typer.error(Code::CDeclaration, "these storage classes cannot be combined", loc);
        }
    }

    /// Consumes a word that is not about the type.
    fn storage_word(&mut self, words: &mut StorageWords) -> bool {
        match self.kind() {
            Kind::Typedef => words.is_typedef = true,
            Kind::Extern => words.is_extern = true,
            Kind::Static => words.is_static = true,
            Kind::ThreadLocal => words.is_thread = true,
            Kind::Auto | Kind::Register => words.is_auto = true,
            Kind::Inline => words.is_inline = true,
            Kind::Noreturn => words.is_noreturn = true,
            Kind::Extension => {}
            Kind::Alignas => {
                self.bump();
                let opener = self.loc();
                if self.expect(Kind::LParen) {
                    let align = if self.at_type() { self.type_alignment() } else { self.alignment() };
                    words.align = words.align.max(align);
                    self.close(Kind::RParen, opener);
                }
                return true;
            }
            _ => return false,
        }
        self.bump();
        true
    }

    fn type_alignment(&mut self) -> Option<u64> {
        let ty = self.type_name();
        self.typer.unit.types.layout(ty).map(|layout| layout.align)
    }

    /// Consumes a constant alignment.
    pub(super) fn alignment(&mut self) -> Option<u64> {
        let (value, loc) = self.constant()?;
        let align =
            u64::try_from(value).ok().filter(|align| *align == 0 || align.is_power_of_two() && *align <= 1 << 28);
        if align.is_none() {
            self.typer.error(Code::CDeclaration, "an alignment must be a power of two", loc);
        }
        align.filter(|align| *align > 0)
    }

    /// Consumes a word of the type.
    fn type_word(&mut self, words: &mut Words) -> bool {
        let loc = self.loc();
        let twice = match self.kind() {
            Kind::Void => std::mem::replace(&mut words.void, true),
            Kind::Bool => std::mem::replace(&mut words.boolean, true),
            Kind::Char => std::mem::replace(&mut words.char, true),
            Kind::Short => std::mem::replace(&mut words.short, true),
            Kind::Int => std::mem::replace(&mut words.int, true),
            Kind::Signed => std::mem::replace(&mut words.signed, true),
            Kind::Unsigned => std::mem::replace(&mut words.unsigned, true),
            Kind::Float => std::mem::replace(&mut words.float, true),
            Kind::Double => std::mem::replace(&mut words.double, true),
            Kind::Int128 => std::mem::replace(&mut words.int128, true),
            Kind::Float128 => std::mem::replace(&mut words.quad, true),
            Kind::Complex => std::mem::replace(&mut words.complex, true),
            Kind::AutoType => std::mem::replace(&mut words.auto_type, true),
            Kind::Long => {
                words.longs += 1;
                words.longs > 2
            }
            Kind::Const | Kind::Volatile | Kind::Restrict | Kind::Atomic => return self.qualifier_word(words),
            _ => return self.whole_type(words),
        };
        self.bump();
        if twice {
            self.typer.error(Code::CDeclaration, "this word does not belong here", loc);
        }
        true
    }

    fn qualifier_word(&mut self, words: &mut Words) -> bool {
        if self.at(Kind::Atomic) && self.peek(1) == Kind::LParen {
            self.bump();
            let opener = self.bump().loc;
            let ty = self.type_name();
            self.close(Kind::RParen, opener);
            return self.set_whole(words, ty.with(Quals::ATOMIC), opener);
        }
        let quals = self.qualifiers();
        words.quals = words.quals.with(quals);
        true
    }

    /// Consumes qualifiers, if there are some.
    pub(super) fn qualifiers(&mut self) -> Quals {
        let mut quals = Quals::NONE;
        loop {
            quals = quals.with(match self.kind() {
                Kind::Const => Quals::CONST,
                Kind::Volatile => Quals::VOLATILE,
                Kind::Restrict => Quals::RESTRICT,
                Kind::Atomic if self.peek(1) != Kind::LParen => Quals::ATOMIC,
                Kind::Extension => Quals::NONE,
                _ => return quals,
            });
            self.bump();
        }
    }

    fn set_whole(&mut self, words: &mut Words, ty: QualType, loc: Loc) -> bool {
        if words.whole.is_some() {
            self.typer.error(Code::CDeclaration, "these words do not make a type", loc);
        }
        words.whole = Some(ty);
        true
    }

    /// Consumes a type that is complete by itself: a struct, union, enumeration, `typeof`, or a name.
    fn whole_type(&mut self, words: &mut Words) -> bool {
        let token = self.token();
        match token.kind {
            Kind::Struct | Kind::Union => {
                let ty = self.record();
                self.set_whole(words, ty, token.loc)
            }
            Kind::Enum => {
                let ty = self.enumeration();
                self.set_whole(words, ty, token.loc)
            }
            Kind::Typeof => {
                let ty = self.type_of_operand();
                self.set_whole(words, ty, token.loc)
            }
            Kind::Name if words.is_empty() => match self.typer.lookup(token.text) {
                Some(Entry::Typedef(ty)) => {
                    self.bump();
                    self.set_whole(words, ty, token.loc)
                }
                None if self.at_unknown_type() => {
                    self.report_unknown_type();
                    self.bump();
                    self.set_whole(words, basic::ERROR, token.loc)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Returns whether an undeclared name must be meant as a type: another name follows it.
    pub(super) fn at_unknown_type(&self) -> bool {
        self.at(Kind::Name) && self.peek(1) == Kind::Name && self.typer.lookup(self.token().text).is_none()
            || self.at(Kind::Name)
                && self.peek(1) == Kind::Star
                && self.peek(2) == Kind::Name
                && self.typer.is_file_scope()
                && self.typer.lookup(self.token().text).is_none()
    }

    fn report_unknown_type(&mut self) {
        let name = self.text();
        let mut known: Vec<&str> = Vec::new();
        for scope in &self.typer.scopes {
            let mut names: Vec<&str> = scope
                .names
                .iter()
                .filter(|(_, (entry, _))| matches!(entry, Entry::Typedef(_)))
                .map(|(name, _)| self.typer.text(*name))
                .collect();
            names.sort_unstable();
            known.extend(names);
        }
        let near = nearest(name, known.into_iter());
        let message = format!("there is no type `{name}`");
        let diagnostic = self.typer.diagnostic(Code::CUndeclared, message, self.loc()).did_you_mean(near);
        self.typer.push(diagnostic);
    }

    /// Consumes `typeof(..)`.
    fn type_of_operand(&mut self) -> QualType {
        self.bump();
        let opener = self.loc();
        if !self.expect(Kind::LParen) {
            return basic::ERROR;
        }
        let ty = if self.at_type() { self.type_name() } else { self.expression().ty };
        self.close(Kind::RParen, opener);
        ty
    }
}
