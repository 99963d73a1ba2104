//! Attributes: most are read over; those that change the meaning of a program are understood or refused.

use super::Parser;
use crate::c::lexer::Kind;
use crate::c::types::{IntKind, QualType, basic};

/// What attributes say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    pub(super) is_packed: bool,
    pub(super) is_noreturn: bool,
    pub(super) align: Option<u64>,
    /// The size in bytes that `mode` gives to an integer.
    mode: Option<u64>,
}

impl Attributes {
    pub(super) fn merge(&mut self, other: Attributes) {
        self.is_packed |= other.is_packed;
        self.is_noreturn |= other.is_noreturn;
        self.align = self.align.max(other.align);
        self.mode = self.mode.or(other.mode);
    }
}

impl Parser {
    /// Consumes attributes, if there are some.
    pub(super) fn attributes(&mut self) -> Attributes {
        let mut attributes = Attributes::default();
        while self.at(Kind::Attribute) {
            self.bump();
            let opener = self.loc();
            if !self.expect(Kind::LParen) || !self.expect(Kind::LParen) {
                break;
            }
            while !matches!(self.kind(), Kind::RParen | Kind::Eof) && !self.lost {
                self.attribute(&mut attributes);
                if !self.eat(Kind::Comma) {
                    break;
                }
            }
            self.close(Kind::RParen, opener);
            self.close(Kind::RParen, opener);
        }
        attributes
    }

    /// Consumes one attribute: a word, with arguments in parentheses.
    fn attribute(&mut self, attributes: &mut Attributes) {
        if matches!(self.kind(), Kind::Comma | Kind::RParen) {
            return;
        }
        let loc = self.loc();
        let name = self.text().trim_matches('_').to_owned();
        self.bump();
        match name.as_str() {
            "packed" => attributes.is_packed = true,
            "noreturn" => attributes.is_noreturn = true,
            "aligned" => return self.aligned(attributes),
            "mode" => return self.mode(attributes),
            "cleanup"
            | "constructor"
            | "destructor"
            | "alias"
            | "ifunc"
            | "vector_size"
            | "ms_struct"
            | "scalar_storage_order" => {
                self.unsupported(&format!("the attribute `{name}` is"), loc);
            }
            _ => {}
        }
        self.skip_arguments();
    }

    fn skip_arguments(&mut self) {
        let opener = self.loc();
        if self.eat(Kind::LParen) {
            self.skip_parens(opener);
        }
    }

    fn aligned(&mut self, attributes: &mut Attributes) {
        let opener = self.loc();
        if !self.eat(Kind::LParen) {
            attributes.align = attributes.align.max(Some(16));
            return;
        }
        let align = self.alignment();
        attributes.align = attributes.align.max(align);
        self.close(Kind::RParen, opener);
    }

    fn mode(&mut self, attributes: &mut Attributes) {
        let opener = self.loc();
        if !self.expect(Kind::LParen) {
            return;
        }
        let loc = self.loc();
        attributes.mode = match self.text().trim_matches('_') {
            "QI" | "byte" => Some(1),
            "HI" => Some(2),
            "SI" => Some(4),
            "DI" => Some(8),
            "word" | "pointer" => {
                self.typer.unit.types.layout(self.typer.unit.types.size_type()).map(|layout| layout.size)
            }
            _ => {
                self.unsupported("this mode is", loc);
                None
            }
        };
        self.bump();
        self.close(Kind::RParen, opener);
    }

    /// Returns a type with the size that an attribute gives it.
    pub(super) fn with_mode(&self, ty: QualType, attributes: Attributes) -> QualType {
        let types = &self.typer.unit.types;
        let (Some(size), Some(kind)) = (attributes.mode, types.integer(ty)) else { return ty };
        let signed = match size {
            1 => IntKind::SChar,
            2 => IntKind::Short,
            4 => IntKind::Int,
            _ if types.model == crate::c::DataModel::Lp64 => IntKind::Long,
            _ => IntKind::LongLong,
        };
        basic::int(if kind.is_signed() { signed } else { signed.unsigned() }).with(ty.quals)
    }
}
