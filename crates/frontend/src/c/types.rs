//! Types. Equal types have equal numbers, except that each struct, union and enum is a type of its own.

use index_vec::IndexVec;
use rustc_hash::FxHashMap;

use super::DataModel;
use super::files::Loc;
use super::names::{Names, Symbol};

index_vec::define_index_type! {
    /// A type without qualifiers.
    pub struct TypeId = u32;
}

index_vec::define_index_type! {
    /// A struct or union.
    pub struct RecordId = u32;
}

index_vec::define_index_type! {
    /// An enumeration.
    pub struct EnumId = u32;
}

index_vec::define_index_type! {
    /// The length of an array that is computed when its declaration is executed.
    pub struct LengthId = u32;
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// The type of what has been reported.
    Error,
    Void,
    Bool,
    Int(IntKind),
    /// Typed, for lowering to refuse.
    Float(FloatKind),
    Enum(EnumId),
    Pointer(QualType),
    Array(QualType, Length),
    Function(Box<FunctionType>),
    Record(RecordId),
    /// `__builtin_va_list`
    VaList,
}

/// A type with its qualifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QualType {
    pub id: TypeId,
    pub quals: Quals,
}

/// A set of qualifiers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Quals(u8);

impl Quals {
    pub const NONE: Quals = Quals(0);
    pub const CONST: Quals = Quals(1);
    pub const VOLATILE: Quals = Quals(2);
    pub const RESTRICT: Quals = Quals(4);
    pub const ATOMIC: Quals = Quals(8);

    /// Returns the qualifiers of both.
    #[must_use]
    pub fn with(self, other: Quals) -> Quals {
        Quals(self.0 | other.0)
    }

    /// Returns the qualifiers that the other set does not have.
    #[must_use]
    pub fn without(self, other: Quals) -> Quals {
        Quals(self.0 & !other.0)
    }

    /// Returns whether all qualifiers of the other set are in this one.
    pub fn has(self, other: Quals) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The integer types except `_Bool` and enumerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IntKind {
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FloatKind {
    Float,
    Double,
    LongDouble,
    Quad,
}

/// The length of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    Known(u64),
    /// `int a[];`: not known here, or a flexible array at the end of a struct.
    Unknown,
    /// Computed when the declaration is executed: a variable-length array, for lowering to refuse.
    Variable(LengthId),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunctionType {
    pub result: QualType,
    /// Arrays and functions are pointers here.
    pub params: Vec<QualType>,
    /// True with `...`.
    pub variadic: bool,
    /// False for `int f()` and old definitions, whose calls are not checked.
    pub prototyped: bool,
}

/// A struct or union.
#[derive(Clone, Debug)]
pub struct Record {
    pub is_union: bool,
    pub tag: Option<Symbol>,
    pub loc: Loc,
    /// `None` until it is defined.
    pub body: Option<RecordBody>,
}

#[derive(Clone, Debug, Default)]
pub struct RecordBody {
    pub fields: Vec<Field>,
    /// In bytes.
    pub size: u64,
    pub align: u64,
    /// The number of types that are inside of each other in it.
    pub(super) height: u16,
}

/// A member of a struct or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// `None` for unnamed bit-fields and for structs and unions whose members count as those of this one.
    pub name: Option<Symbol>,
    pub ty: QualType,
    /// The first byte; for a bit-field, that of the object of its type that holds it.
    pub offset: u64,
    pub bits: Option<Bits>,
    pub loc: Loc,
}

/// The bits of a bit-field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The number of the lowest bit, counted from the lowest bit of the byte at the offset. In a packed struct the bits
    /// may extend beyond the object of the type.
    pub shift: u32,
    /// 0 only for unnamed ones.
    pub width: u32,
}

/// An enumeration.
#[derive(Clone, Debug)]
pub struct Enumeration {
    pub tag: Option<Symbol>,
    pub loc: Loc,
    /// The integer type that represents it; `None` until it is defined.
    pub kind: Option<IntKind>,
    /// The constants with their values.
    pub constants: Vec<(Symbol, i128)>,
}

/// All types of a translation unit.
#[derive(Clone, Debug)]
pub struct Types {
    pub model: DataModel,
    types: IndexVec<TypeId, Type>,
    /// For each type the number of types that are inside of each other in it.
    heights: IndexVec<TypeId, u16>,
    numbers: FxHashMap<Type, TypeId>,
    pub records: IndexVec<RecordId, Record>,
    pub enums: IndexVec<EnumId, Enumeration>,
}

/// The limit on types inside of each other.
pub(super) const MAX_TYPE_HEIGHT: u16 = 200;

/// The types with a fixed number.
pub mod basic {
    use super::{IntKind, QualType, Quals, TypeId};

    const fn fixed(number: u32) -> QualType {
        QualType { id: TypeId::from_raw_unchecked(number), quals: Quals::NONE }
    }

    pub const ERROR: QualType = fixed(0);
    pub const VOID: QualType = fixed(1);
    pub const BOOL: QualType = fixed(2);
    pub const VA_LIST: QualType = fixed(3);
    pub const CHAR: QualType = int(IntKind::Char);
    pub const INT: QualType = int(IntKind::Int);
    pub const UINT: QualType = int(IntKind::UInt);
    pub const FLOAT: QualType = fixed(17);
    pub const DOUBLE: QualType = fixed(18);
    pub const LONG_DOUBLE: QualType = fixed(19);
    pub const QUAD: QualType = fixed(20);

    /// Returns an integer type.
    pub const fn int(kind: IntKind) -> QualType {
        fixed(4 + kind as u32)
    }
}

const INT_KINDS: [IntKind; 13] = [
    IntKind::Char,
    IntKind::SChar,
    IntKind::UChar,
    IntKind::Short,
    IntKind::UShort,
    IntKind::Int,
    IntKind::UInt,
    IntKind::Long,
    IntKind::ULong,
    IntKind::LongLong,
    IntKind::ULongLong,
    IntKind::Int128,
    IntKind::UInt128,
];

impl IntKind {
    /// Returns whether it has negative values.
    pub fn is_signed(self) -> bool {
        use IntKind::{Char, Int, Int128, Long, LongLong, SChar, Short};
        matches!(self, Char | SChar | Short | Int | Long | LongLong | Int128)
    }

    /// Returns the number of bits.
    pub fn width(self, model: DataModel) -> u32 {
        match self {
            IntKind::Char | IntKind::SChar | IntKind::UChar => 8,
            IntKind::Short | IntKind::UShort => 16,
            IntKind::Int | IntKind::UInt => 32,
            IntKind::Long | IntKind::ULong => {
                if model == DataModel::Lp64 {
                    64
                } else {
                    32
                }
            }
            IntKind::LongLong | IntKind::ULongLong => 64,
            IntKind::Int128 | IntKind::UInt128 => 128,
        }
    }

    /// Returns the rank that conversions compare.
    pub(super) fn rank(self) -> u8 {
        match self {
            IntKind::Char | IntKind::SChar | IntKind::UChar => 1,
            IntKind::Short | IntKind::UShort => 2,
            IntKind::Int | IntKind::UInt => 3,
            IntKind::Long | IntKind::ULong => 4,
            IntKind::LongLong | IntKind::ULongLong => 5,
            IntKind::Int128 | IntKind::UInt128 => 6,
        }
    }

    /// Returns the unsigned type of the same size.
    #[must_use]
    pub fn unsigned(self) -> IntKind {
        match self {
            IntKind::Char | IntKind::SChar | IntKind::UChar => IntKind::UChar,
            IntKind::Short | IntKind::UShort => IntKind::UShort,
            IntKind::Int | IntKind::UInt => IntKind::UInt,
            IntKind::Long | IntKind::ULong => IntKind::ULong,
            IntKind::LongLong | IntKind::ULongLong => IntKind::ULongLong,
            IntKind::Int128 | IntKind::UInt128 => IntKind::UInt128,
        }
    }

    fn name(self) -> &'static str {
        match self {
            IntKind::Char => "char",
            IntKind::SChar => "signed char",
            IntKind::UChar => "unsigned char",
            IntKind::Short => "short",
            IntKind::UShort => "unsigned short",
            IntKind::Int => "int",
            IntKind::UInt => "unsigned int",
            IntKind::Long => "long",
            IntKind::ULong => "unsigned long",
            IntKind::LongLong => "long long",
            IntKind::ULongLong => "unsigned long long",
            IntKind::Int128 => "__int128",
            IntKind::UInt128 => "unsigned __int128",
        }
    }
}

impl QualType {
    /// Returns the type without qualifiers.
    #[must_use]
    pub fn plain(self) -> QualType {
        QualType { quals: Quals::NONE, ..self }
    }

    /// Returns the type with further qualifiers.
    #[must_use]
    pub fn with(self, quals: Quals) -> QualType {
        QualType { quals: self.quals.with(quals), ..self }
    }

    pub fn is_const(self) -> bool {
        self.quals.has(Quals::CONST)
    }

    pub fn is_volatile(self) -> bool {
        self.quals.has(Quals::VOLATILE)
    }

    pub fn is_atomic(self) -> bool {
        self.quals.has(Quals::ATOMIC)
    }
}

impl Types {
    pub fn new(model: DataModel) -> Types {
        let (records, enums) = (IndexVec::new(), IndexVec::new());
        let mut types = Types {
            model,
            types: IndexVec::new(),
            heights: IndexVec::new(),
            numbers: FxHashMap::default(),
            records,
            enums,
        };
        for fixed in [Type::Error, Type::Void, Type::Bool, Type::VaList] {
            types.intern(fixed);
        }
        for kind in INT_KINDS {
            types.intern(Type::Int(kind));
        }
        for kind in [FloatKind::Float, FloatKind::Double, FloatKind::LongDouble, FloatKind::Quad] {
            types.intern(Type::Float(kind));
        }
        types
    }

    /// Returns a type without qualifiers.
    pub fn intern(&mut self, ty: Type) -> QualType {
        let id = match self.numbers.get(&ty) {
            Some(id) => *id,
            None => {
                let height = self.height_of(&ty);
                let id = self.types.push(ty.clone());
                self.heights.push(height);
                self.numbers.insert(ty, id);
                id
            }
        };
        QualType { id, quals: Quals::NONE }
    }

    /// Returns the number of types that are inside of each other in a type.
    pub(super) fn height(&self, ty: QualType) -> u16 {
        match self.get(ty) {
            Type::Record(id) => self.records[*id].body.as_ref().map_or(1, |body| body.height),
            _ => self.heights[ty.id],
        }
    }

    fn height_of(&self, ty: &Type) -> u16 {
        let below = match ty {
            Type::Pointer(of) | Type::Array(of, _) => self.height(*of),
            Type::Function(function) => {
                let parts = function.params.iter().chain([&function.result]);
                parts.map(|part| self.height(*part)).max().unwrap_or(0)
            }
            _ => 0,
        };
        below.saturating_add(1)
    }

    /// Gives an array of variable length a number of elements. Nothing may be added to the types afterwards.
    pub(super) fn fix_length(&mut self, array: QualType, elements: u64) {
        if let Type::Array(_, length) = &mut self.types[array.id] {
            *length = Length::Known(elements);
        }
    }

    pub fn get(&self, ty: QualType) -> &Type {
        &self.types[ty.id]
    }

    pub fn pointer(&mut self, to: QualType) -> QualType {
        self.intern(Type::Pointer(to))
    }

    pub fn array(&mut self, of: QualType, length: Length) -> QualType {
        self.intern(Type::Array(of, length))
    }

    /// Returns the type that a pointer points to.
    pub fn pointee(&self, ty: QualType) -> Option<QualType> {
        match self.get(ty) {
            Type::Pointer(to) => Some(*to),
            _ => None,
        }
    }

    /// Returns the type of a function.
    pub fn function(&self, ty: QualType) -> Option<&FunctionType> {
        match self.get(ty) {
            Type::Function(function) => Some(function),
            _ => None,
        }
    }

    /// Returns the members and the layout of a struct or union that is defined.
    pub fn record(&self, ty: QualType) -> Option<&RecordBody> {
        match self.get(ty) {
            Type::Record(id) => self.records[*id].body.as_ref(),
            _ => None,
        }
    }

    /// Returns the integer type that represents an integer, an enumeration or `_Bool` (as `unsigned char`).
    pub fn integer(&self, ty: QualType) -> Option<IntKind> {
        match self.get(ty) {
            Type::Bool => Some(IntKind::UChar),
            Type::Int(kind) => Some(*kind),
            Type::Enum(id) => Some(self.enums[*id].kind.unwrap_or(IntKind::UInt)),
            _ => None,
        }
    }

    pub fn is_integer(&self, ty: QualType) -> bool {
        self.integer(ty).is_some()
    }

    pub fn is_float(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Float(_))
    }

    pub fn is_arithmetic(&self, ty: QualType) -> bool {
        self.is_integer(ty) || self.is_float(ty)
    }

    pub fn is_pointer(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Pointer(_))
    }

    /// Returns whether values of the type can be tested and compared with zero.
    pub fn is_scalar(&self, ty: QualType) -> bool {
        self.is_arithmetic(ty) || self.is_pointer(ty)
    }

    pub fn is_void(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Void)
    }

    pub fn is_error(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Error)
    }

    pub fn is_array(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Array(..))
    }

    pub fn is_function(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Function(_))
    }

    pub fn is_record(&self, ty: QualType) -> bool {
        matches!(self.get(ty), Type::Record(_))
    }

    /// Returns whether the type or a part of it is a variable-length array.
    pub fn is_variable(&self, ty: QualType) -> bool {
        match self.get(ty) {
            Type::Array(_, Length::Variable(_)) => true,
            Type::Array(of, _) | Type::Pointer(of) => self.is_variable(*of),
            _ => false,
        }
    }

    /// Returns the type of `sizeof`.
    pub fn size_type(&self) -> QualType {
        basic::int(if self.model == DataModel::Lp64 { IntKind::ULong } else { IntKind::UInt })
    }

    /// Returns the type of the difference of pointers.
    pub fn difference_type(&self) -> QualType {
        basic::int(if self.model == DataModel::Lp64 { IntKind::Long } else { IntKind::Int })
    }

    /// Returns the type of wide characters.
    pub fn wide_type(&self) -> QualType {
        basic::int(if self.model == DataModel::Lp64 { IntKind::Int } else { IntKind::Long })
    }

    /// Adds qualifiers; those of an array are the elements'.
    pub fn qualify(&mut self, ty: QualType, quals: Quals) -> QualType {
        if quals == Quals::NONE {
            return ty;
        }
        match *self.get(ty) {
            Type::Array(of, length) => {
                let of = self.qualify(of, quals);
                self.array(of, length)
            }
            _ => ty.with(quals),
        }
    }

    /// Returns a type as C writes it.
    pub fn show(&self, ty: QualType, names: &Names) -> String {
        self.declare(ty, String::new(), names)
    }

    /// Returns the declaration of something with this type.
    pub fn declare(&self, ty: QualType, inner: String, names: &Names) -> String {
        let quals = show_quals(ty.quals);
        match self.get(ty) {
            Type::Pointer(to) => {
                let star = if quals.is_empty() || inner.is_empty() {
                    format!("*{quals}{inner}")
                } else {
                    format!("*{quals} {inner}")
                };
                let is_suffixed = matches!(self.get(*to), Type::Array(..) | Type::Function(_));
                self.declare(*to, if is_suffixed { format!("({star})") } else { star }, names)
            }
            Type::Array(of, length) => self.declare(*of, format!("{inner}[{}]", show_length(*length)), names),
            Type::Function(function) => {
                let params = self.show_params(function, names);
                self.declare(function.result, format!("{inner}({params})"), names)
            }
            _ => {
                let words = [quals, self.show_base(ty, names), inner];
                words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
            }
        }
    }

    fn show_params(&self, function: &FunctionType, names: &Names) -> String {
        let mut params: Vec<String> = function.params.iter().map(|param| self.show(*param, names)).collect();
        if function.variadic {
            params.push("...".to_owned());
        }
        if params.is_empty() && function.prototyped { "void".to_owned() } else { params.join(", ") }
    }

    fn show_base(&self, ty: QualType, names: &Names) -> String {
        let tagged = |word: &str, tag: Option<Symbol>, number: usize| match tag {
            Some(tag) => format!("{word} {}", names.text(tag)),
            None => format!("{word} <{number}>"),
        };
        match self.get(ty) {
            Type::Error => "<error>".to_owned(),
            Type::Void => "void".to_owned(),
            Type::Bool => "_Bool".to_owned(),
            Type::Int(kind) => kind.name().to_owned(),
            Type::Float(FloatKind::Float) => "float".to_owned(),
            Type::Float(FloatKind::Double) => "double".to_owned(),
            Type::Float(FloatKind::LongDouble) => "long double".to_owned(),
            Type::Float(FloatKind::Quad) => "_Float128".to_owned(),
            Type::VaList => "va_list".to_owned(),
            Type::Enum(id) => tagged("enum", self.enums[*id].tag, id.index()),
            Type::Record(id) => {
                let record = &self.records[*id];
                tagged(if record.is_union { "union" } else { "struct" }, record.tag, id.index())
            }
            Type::Pointer(_) | Type::Array(..) | Type::Function(_) => String::new(),
        }
    }
}

fn show_length(length: Length) -> String {
    match length {
        Length::Known(length) => length.to_string(),
        Length::Unknown => String::new(),
        Length::Variable(_) => "*".to_owned(),
    }
}

fn show_quals(quals: Quals) -> String {
    let words = [
        (Quals::CONST, "const"),
        (Quals::VOLATILE, "volatile"),
        (Quals::RESTRICT, "restrict"),
        (Quals::ATOMIC, "_Atomic"),
    ];
    words.iter().filter(|(qual, _)| quals.has(*qual)).map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}
