//! Sizes, alignments and the places of members, as GCC chooses them on x86-64 and i386.

use super::DataModel;
use super::types::{Bits, Field, FloatKind, IntKind, Length, QualType, RecordBody, Type, Types};

/// The size of a type and its alignment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub size: u64,
    pub align: u64,
}

/// The limit on the size of an object.
pub const MAX_SIZE: u64 = 1 << 60;

/// What attributes say about a struct or union.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub(super) is_union: bool,
    pub(super) is_packed: bool,
    /// The smallest alignment that an attribute asks for.
    pub(super) align: Option<u64>,
}

/// A member before it has a place.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) field: Field,
    /// The width of a bit-field.
    pub(super) width: Option<u32>,
    /// The alignment that an attribute of the member asks for.
    pub(super) align: Option<u64>,
    pub(super) is_packed: bool,
}

impl Types {
    /// Returns the size and alignment of a type, as a member or element has it; `None` if the type is incomplete, has a
    /// variable length or is too large.
    pub fn layout(&self, ty: QualType) -> Option<Layout> {
        let same = |size: u64| Some(Layout { size, align: size });
        let is_lp64 = self.model == DataModel::Lp64;
        // On i386, members of 8 bytes are aligned to 4.
        let wide = |size: u64| Some(Layout { size, align: if is_lp64 { size } else { 4 } });
        let layout = match self.get(ty) {
            Type::Error | Type::Void | Type::Function(_) => same(1),
            Type::Bool => same(1),
            Type::Int(kind) => self.int_layout(*kind),
            Type::Enum(id) => self.enums[*id].kind.and_then(|kind| self.int_layout(kind)),
            Type::Float(FloatKind::Float) => same(4),
            Type::Float(FloatKind::Double) => wide(8),
            Type::Float(FloatKind::LongDouble) => {
                if is_lp64 {
                    same(16)
                } else {
                    Some(Layout { size: 12, align: 4 })
                }
            }
            Type::Float(FloatKind::Quad) => same(16),
            Type::Pointer(_) => same(if is_lp64 { 8 } else { 4 }),
            Type::VaList => Some(if is_lp64 { Layout { size: 24, align: 8 } } else { Layout { size: 4, align: 4 } }),
            Type::Record(id) => {
                self.records[*id].body.as_ref().map(|body| Layout { size: body.size, align: body.align })
            }
            Type::Array(of, Length::Known(length)) => {
                let of = self.layout(*of)?;
                let size = of.size.checked_mul(*length).filter(|size| *size <= MAX_SIZE)?;
                Some(Layout { size, align: of.align })
            }
            Type::Array(_, Length::Unknown | Length::Variable(_)) => None,
        }?;
        // Atomic objects are aligned so that one access reaches them.
        let is_raised = ty.is_atomic() && layout.size.is_power_of_two() && layout.size <= 16;
        Some(if is_raised { Layout { align: layout.align.max(layout.size), ..layout } } else { layout })
    }

    fn int_layout(&self, kind: IntKind) -> Option<Layout> {
        let size = u64::from(kind.width(self.model) / 8);
        Some(Layout { size, align: if self.model == DataModel::Ilp32 { size.min(4) } else { size } })
    }

    /// Returns the alignment that GCC gives to an object of the type on its own (`__alignof__`).
    pub fn preferred_align(&self, ty: QualType) -> Option<u64> {
        let layout = self.layout(ty)?;
        let is_wide = match self.get(ty) {
            Type::Int(IntKind::LongLong | IntKind::ULongLong) | Type::Float(FloatKind::Double) => true,
            Type::Enum(_) => layout.size == 8,
            Type::Array(of, _) => return self.preferred_align(*of),
            _ => false,
        };
        Some(if is_wide { 8 } else { layout.align })
    }

    /// Gives the members of a struct or union their places. `None` if it is too large.
    ///
    /// Bits are counted from the beginning of the struct. A bit-field goes to the next bit, unless it would then cross
    /// more boundaries of its type than an object of the type does; in this case it goes to the next boundary. Unnamed
    /// bit-fields do not align the struct; one of width 0 moves the next member to a boundary of its type.
    pub(super) fn place(&self, shape: Shape, members: Vec<Member>) -> Option<RecordBody> {
        let mut placing = Placing { next: 0, end: 0, align: 1 };
        let mut fields = Vec::with_capacity(members.len());
        for member in members {
            if shape.is_union {
                placing.next = 0;
            }
            let of = self.member_layout(&member, shape.is_packed);
            let is_packed = shape.is_packed || member.is_packed;
            fields.push(match member.width {
                None => placing.plain(member, of)?,
                Some(width) => placing.bits(member, of, width, is_packed)?,
            });
            placing.end = placing.end.max(placing.next);
        }
        let align = placing.align.max(shape.align.unwrap_or(1));
        let size = round_up(placing.end.div_ceil(8), align)?;
        let height = fields.iter().map(|field| self.height(field.ty)).max().unwrap_or(0).saturating_add(1);
        (size <= MAX_SIZE).then_some(RecordBody { fields, size, align, height })
    }

    /// Returns the size and alignment of a member. An incomplete one is a flexible array, or has been reported.
    fn member_layout(&self, member: &Member, is_packed: bool) -> Layout {
        let of = self.layout(member.field.ty).unwrap_or_else(|| Layout { size: 0, align: self.element_align(member) });
        let is_packed = is_packed || member.is_packed;
        let align = if is_packed { 1 } else { of.align };
        Layout { align: align.max(member.align.unwrap_or(1)), ..of }
    }

    fn element_align(&self, member: &Member) -> u64 {
        match self.get(member.field.ty) {
            Type::Array(of, _) => self.layout(*of).map_or(1, |of| of.align),
            _ => 1,
        }
    }
}

/// The state of the placement of members, in bits.
struct Placing {
    next: u64,
    end: u64,
    /// In bytes.
    align: u64,
}

impl Placing {
    fn plain(&mut self, mut member: Member, of: Layout) -> Option<Field> {
        self.align = self.align.max(of.align);
        let offset = round_up(self.next.div_ceil(8), of.align)?;
        member.field.offset = offset;
        self.next = offset.checked_add(of.size).filter(|end| *end <= MAX_SIZE)?.checked_mul(8)?;
        Some(member.field)
    }

    fn bits(&mut self, mut member: Member, of: Layout, width: u32, is_packed: bool) -> Option<Field> {
        let unit = of.align * 8;
        let (size, bits) = (of.size * 8, u64::from(width));
        if width == 0 {
            let boundary = if is_packed { of.size.max(1) * 8 } else { unit };
            self.next = round_up(self.next, boundary)?;
        } else {
            if member.field.name.is_some() {
                self.align = self.align.max(of.align);
            }
            let is_aligned = member.align.is_some();
            let n_units = (self.next + bits).div_ceil(unit) - self.next / unit;
            if is_aligned || !is_packed && n_units > (size / unit).max(1) {
                self.next = round_up(self.next, unit)?;
            }
        }
        let holder = if is_packed { 8 } else { unit };
        member.field.offset = self.next / holder * (holder / 8);
        let shift = u32::try_from(self.next % holder).expect("a holder has at most 128 bits");
        member.field.bits = Some(Bits { shift, width });
        self.next += bits;
        Some(member.field)
    }
}

/// Returns the next multiple of an alignment.
fn round_up(value: u64, align: u64) -> Option<u64> {
    value.checked_next_multiple_of(align.max(1))
}
