//! The typed tree of a translation unit.
//!
//! Every conversion is a node: reading an object is [`ExprKind::Load`], an array that becomes a pointer is
//! [`ExprKind::Decay`], and implicit casts look like written ones. After that the operands of arithmetic have the type
//! of the result, those of a comparison have one type, and those of a shift are promoted.

use index_vec::IndexVec;

use super::files::{Expansions, Files, Loc};
use super::literals::Prefix;
use super::names::{Names, Symbol};
use super::types::{Bits, LengthId, QualType, Types};
use crate::diagnostic::Diagnostic;

index_vec::define_index_type! {
    /// A variable, parameter or compound literal.
    pub struct ObjectId = u32;
}

index_vec::define_index_type! {
    /// A function.
    pub struct FunctionId = u32;
}

index_vec::define_index_type! {
    /// A string literal.
    pub struct StringId = u32;
}

index_vec::define_index_type! {
    /// A label of one function.
    pub struct LabelId = u32;
}

/// A translation unit. Where diagnostics are errors, parts may be missing or have the type of errors.
#[derive(Debug)]
pub struct Unit {
    pub files: Files,
    pub expansions: Expansions,
    pub names: Names,
    pub types: Types,
    /// All objects: variables of the file and of functions, parameters, compound literals.
    pub objects: IndexVec<ObjectId, Object>,
    /// All functions that are declared, defined or called.
    pub functions: IndexVec<FunctionId, Function>,
    pub strings: IndexVec<StringId, StringLiteral>,
    /// The lengths of variable-length arrays, of the type of `sizeof`.
    pub lengths: IndexVec<LengthId, Expr>,
    /// The declarations of the file in their order.
    pub items: Vec<Item>,
    pub diagnostics: Vec<Diagnostic>,
}

/// The first declaration of something in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    Object(ObjectId),
    Function(FunctionId),
}

/// A place in memory with a type.
#[derive(Clone, Debug)]
pub struct Object {
    /// Empty for compound literals and unnamed parameters.
    pub name: Symbol,
    pub ty: QualType,
    pub storage: Storage,
    pub linkage: Linkage,
    pub definition: Definition,
    /// The initial values; without them, objects that live as long as the program or a thread are zero, and the others
    /// have any value.
    pub init: Option<Init>,
    /// The alignment that `_Alignas` or an attribute asks for.
    pub align: Option<u64>,
    /// The function that it is declared in.
    pub function: Option<FunctionId>,
    pub loc: Loc,
}

/// How long an object lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// As long as the program.
    Static,
    /// As long as a thread, which has its own.
    Thread,
    /// As long as the block that declares it.
    Auto,
    /// As long as the call.
    Param,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linkage {
    External,
    Internal,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Definition {
    /// Only declared with `extern`.
    Declared,
    /// Declared without an initial value: zero unless another declaration has one.
    Tentative,
    Defined,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Symbol,
    /// A function type.
    pub ty: QualType,
    pub linkage: Linkage,
    pub is_inline: bool,
    /// True if it never returns, as `_Noreturn` or an attribute says.
    pub is_noreturn: bool,
    /// True if it is only called, never declared.
    pub is_implicit: bool,
    /// The name for the linker, if `asm("name")` gives another one.
    pub asm_name: Option<String>,
    pub body: Option<Body>,
    /// Where its name is first declared, or defined.
    pub loc: Loc,
}

/// The definition of a function.
#[derive(Clone, Debug)]
pub struct Body {
    pub params: Vec<ObjectId>,
    /// A block.
    pub block: Stmt,
    pub labels: IndexVec<LabelId, Label>,
    /// The closing brace.
    pub end: Loc,
}

#[derive(Clone, Debug)]
pub struct Label {
    pub name: Symbol,
    pub loc: Loc,
}

/// A string literal, with the zero at its end.
#[derive(Clone, Debug)]
pub struct StringLiteral {
    pub prefix: Prefix,
    /// The elements, as unsigned numbers of their width.
    pub units: Vec<u32>,
    /// The array of its elements.
    pub ty: QualType,
    pub loc: Loc,
}

/// Initial values. Parts of the object that no item sets are zero.
#[derive(Clone, Debug, Default)]
pub struct Init {
    /// Ordered as the values are written; no two items set the same part. A part of a union that another item of the
    /// list overwrites is not among them.
    pub items: Vec<InitItem>,
}

/// The initial value of one part of an object.
#[derive(Clone, Debug)]
pub struct InitItem {
    /// The way to the part; empty for the object itself.
    pub path: Vec<PathStep>,
    /// The first byte of the part.
    pub offset: u64,
    /// The bits, if the part is a bit-field.
    pub bits: Option<Bits>,
    /// The type of the part: a scalar, or a struct or union that is assigned as a whole.
    pub ty: QualType,
    /// A value of this type. For objects that live as long as the program or a thread it is constant.
    pub value: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep {
    /// The member with this number.
    Field(usize),
    /// The element with this number.
    Index(u64),
}

/// An expression with its type. Whether it denotes an object (an lvalue) or a value is told by [`Expr::is_place`].
#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: QualType,
    pub loc: Loc,
    /// The number of levels of the tree, which is bounded by [`MAX_HEIGHT`].
    pub height: u16,
}

/// The limit on the height of an expression: a function that recurses over expressions does not overflow the stack.
pub const MAX_HEIGHT: u16 = 1000;

#[derive(Clone, Debug)]
pub enum ExprKind {
    /// What has been reported.
    Error,

    // Places: expressions that denote an object or a function.
    Object(ObjectId),
    Function(FunctionId),
    String(StringId),
    /// `*p`
    Deref(Box<Expr>),
    /// `a.f`, a part of a place, or of a value of struct type; the number is that of the member in the type of `a`.
    Member(Box<Expr>, usize),
    /// `(T){ .. }`: initialises the object each time that it is evaluated.
    CompoundLiteral(ObjectId),

    // Values.
    /// An integer, of an integer or enumeration type or `_Bool`, within the range of the type; the pattern of bits for
    /// values of `unsigned __int128` that are too large.
    Integer(i128),
    /// A number of floating point.
    Float(f64),
    /// The value of an object: one access to memory.
    Load(Box<Expr>),
    /// The address of the first element of an array, or of a function.
    Decay(Box<Expr>),
    /// `&a`
    AddressOf(Box<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `p + i` or `p - i` for a pointer and an integer of any type; `p[i]` is `*(p + i)`.
    Offset {
        pointer: Box<Expr>,
        index: Box<Expr>,
        is_negative: bool,
    },
    /// `p - q`, in elements.
    Difference(Box<Expr>, Box<Expr>),
    /// `a && b` or `a || b`; the operands are scalars.
    Logical {
        is_and: bool,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    /// `a ? b : c`; without `b` it is the value of `a`, evaluated once and converted to the type of the whole.
    Conditional {
        condition: Box<Expr>,
        then: Option<Box<Expr>>,
        otherwise: Box<Expr>,
    },
    Comma(Box<Expr>, Box<Expr>),
    /// `a = b`
    Assign {
        target: Box<Expr>,
        value: Box<Expr>,
    },
    /// `a op= b`: reads `a`, converts it to `type_of_operation`, applies `op` with `value`, converts to the type of `a`
    /// and writes it. `value` has the type of the operation, except for shifts.
    AssignOp {
        op: BinaryOp,
        type_of_operation: QualType,
        target: Box<Expr>,
        value: Box<Expr>,
    },
    /// `p += i` or `p -= i` for a pointer.
    AssignOffset {
        target: Box<Expr>,
        index: Box<Expr>,
        is_negative: bool,
    },
    /// `++a`, `a++`, `--a`, `a--`: adds 1 as in `a += 1`; a pointer moves by one element.
    Increment {
        target: Box<Expr>,
        is_decrement: bool,
        is_postfix: bool,
    },
    Cast {
        kind: CastKind,
        value: Box<Expr>,
        is_implicit: bool,
    },
    /// A call of a function, or through a pointer. Arguments have the types of the parameters; those of variadic
    /// functions beyond the parameters, and all of functions without a prototype, are promoted.
    Call {
        callee: Callee,
        args: Vec<Expr>,
    },
    /// A function of the compiler.
    Builtin(Builtin, Vec<Expr>),
    /// `({ .. })`; its value is that of the expression that is the last statement, if the type is not `void`.
    Statements(Box<Stmt>),
    /// `sizeof` of a variable-length array type: the size in bytes, computed now.
    SizeOf(QualType),
    /// `__builtin_va_arg(list, type)`
    VaArg(Box<Expr>),
}

#[derive(Clone, Debug)]
pub enum Callee {
    Direct(FunctionId),
    /// A pointer to a function.
    Indirect(Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-a`
    Minus,
    /// `~a`
    Complement,
    /// `!a` for any scalar; the result is an `int`.
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// What a conversion does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastKind {
    /// To an integer type: keeps the value modulo the width.
    Integer,
    /// To `_Bool`: whether a scalar is not zero.
    Bool,
    IntegerToPointer,
    PointerToInteger,
    Pointer,
    /// Drops the value.
    Void,
    IntegerToFloat,
    FloatToInteger,
    Float,
    /// To the same struct or union, with other qualifiers.
    Same,
}

/// A function of the compiler. Operands are typed as GCC documents it; orders are `int`s behind the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `(p, order)`: the value of `*p`.
    AtomicLoad,
    /// `(p, value, order)`
    AtomicStore,
    /// `(p, value)`: initialises an atomic object; no other thread may use it yet.
    AtomicInit,
    /// `(p, value, order)`: the old value.
    AtomicExchange,
    /// `(p, expected, desired, weak, success, failure)`: whether the values were equal; if not, `*expected` gets the
    /// value.
    AtomicCompareExchange,
    /// The forms that take the addresses of their operands: `(p, result, order)`, `(p, value, order)`, `(p, value,
    /// result, order)`, `(p, expected, desired, weak, success, failure)`.
    AtomicLoadInto,
    AtomicStoreFrom,
    AtomicExchangeInto,
    AtomicCompareExchangeFrom,
    /// `(p, value, order)`: the old or the new value; the operation is one of integers also for pointers, unless
    /// `scaled`.
    AtomicFetch {
        op: FetchOp,
        returns_new: bool,
        scaled: bool,
    },
    /// `(p, order)`: sets the byte and returns whether it was set.
    AtomicTestAndSet,
    /// `(p, order)`: clears the byte.
    AtomicClear,
    /// `(order)`
    ThreadFence,
    SignalFence,
    /// `(p, value)`: the same with `__sync` names, all sequentially consistent.
    SyncFetch {
        op: FetchOp,
        returns_new: bool,
    },
    /// `(p, old, new)`: whether the value was `old`.
    SyncBoolCompareAndSwap,
    /// `(p, old, new)`: the value before.
    SyncValCompareAndSwap,
    /// `(p, value)`: the old value; an acquire.
    SyncLockTestAndSet,
    /// `(p)`: writes 0; a release.
    SyncLockRelease,
    SyncSynchronize,
    /// Undefined if it is reached.
    Unreachable,
    Trap,
    /// `(a, b, result)`: computes exactly, stores the wrapped result, returns whether it does not fit.
    Overflow(BinaryOp),
    /// `(a, b, c)`: as `Overflow` with the type of `c`, which is not written.
    OverflowPredicate(BinaryOp),
    /// Numbers of bits: leading and trailing zeros, ones, parity, one plus the number of the lowest one.
    Clz,
    Ctz,
    Popcount,
    Parity,
    Ffs,
    Bswap,
    VaStart,
    VaEnd,
    VaCopy,
    /// `(size)`
    Alloca,
    /// `__builtin_return_address` and `__builtin_frame_address`.
    FrameAddress,
    /// Constants and functions of floating point.
    FloatConstant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchOp {
    Add,
    Sub,
    And,
    Or,
    Xor,
    Nand,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub loc: Loc,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `;`
    Empty,
    Expr(Expr),
    /// `//@ assert E;`
    Annotation(Expr),
    /// The declaration of an object with automatic storage, at its place: its initial value is assigned now.
    Declare(ObjectId),
    Block(Vec<Stmt>),
    If {
        condition: Expr,
        then: Box<Stmt>,
        otherwise: Option<Box<Stmt>>,
    },
    While {
        condition: Expr,
        body: Box<Stmt>,
    },
    DoWhile {
        body: Box<Stmt>,
        condition: Expr,
    },
    /// `first` is a list: a `for` may declare several objects.
    For {
        first: Vec<Stmt>,
        condition: Option<Expr>,
        step: Option<Expr>,
        body: Box<Stmt>,
    },
    /// The cases are in the order of the source; their labels are among those of the body, whatever its nesting.
    Switch {
        value: Expr,
        cases: Vec<Case>,
        body: Box<Stmt>,
    },
    /// The place of the case with this number in the innermost `switch` around it. The statement behind it follows in
    /// the same block.
    CaseLabel(usize),
    /// The place of a label.
    Label(LabelId),
    Goto(LabelId),
    Break,
    Continue,
    Return(Option<Expr>),
    /// Inline assembly, for lowering to refuse.
    Asm,
}

/// A `case` or `default` of a `switch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The first and the last value, in the type of the `switch`; `None` for `default`.
    pub range: Option<(i128, i128)>,
    pub loc: Loc,
}

impl Expr {
    /// Returns an expression; its height is that of its operands and one more.
    pub fn new(kind: ExprKind, ty: QualType, loc: Loc) -> Expr {
        let height = 1 + kind.operands().iter().map(|operand| operand.height).max().unwrap_or(0);
        Expr { kind, ty, loc, height }
    }

    /// Returns whether it denotes an object or a function rather than a value.
    pub fn is_place(&self) -> bool {
        match &self.kind {
            ExprKind::Object(_)
            | ExprKind::Function(_)
            | ExprKind::String(_)
            | ExprKind::Deref(_)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Error => true,
            ExprKind::Member(base, _) => base.is_place(),
            _ => false,
        }
    }
}

impl ExprKind {
    /// Returns the expressions directly below, in the order in which they are written; not those in statements.
    pub fn operands(&self) -> Vec<&Expr> {
        match self {
            ExprKind::Error
            | ExprKind::Object(_)
            | ExprKind::Function(_)
            | ExprKind::String(_)
            | ExprKind::CompoundLiteral(_)
            | ExprKind::Integer(_)
            | ExprKind::Float(_)
            | ExprKind::Statements(_)
            | ExprKind::SizeOf(_) => Vec::new(),
            ExprKind::Deref(of)
            | ExprKind::Member(of, _)
            | ExprKind::Load(of)
            | ExprKind::Decay(of)
            | ExprKind::AddressOf(of)
            | ExprKind::Unary(_, of)
            | ExprKind::VaArg(of)
            | ExprKind::Increment { target: of, .. }
            | ExprKind::Cast { value: of, .. } => vec![of],
            ExprKind::Binary(_, left, right)
            | ExprKind::Difference(left, right)
            | ExprKind::Comma(left, right)
            | ExprKind::Offset { pointer: left, index: right, .. }
            | ExprKind::Logical { left, right, .. }
            | ExprKind::Assign { target: left, value: right }
            | ExprKind::AssignOp { target: left, value: right, .. }
            | ExprKind::AssignOffset { target: left, index: right, .. } => vec![left, right],
            ExprKind::Conditional { condition, then, otherwise } => {
                let then = then.as_deref();
                std::iter::once(&**condition).chain(then).chain(std::iter::once(&**otherwise)).collect()
            }
            ExprKind::Call { callee: Callee::Direct(_), args } | ExprKind::Builtin(_, args) => args.iter().collect(),
            ExprKind::Call { callee: Callee::Indirect(callee), args } => {
                std::iter::once(&**callee).chain(args).collect()
            }
        }
    }
}

impl Unit {
    /// Returns whether some diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns the text of a name.
    pub fn name(&self, symbol: Symbol) -> &str {
        self.names.text(symbol)
    }

    /// Returns the function with this name.
    pub fn function(&self, name: &str) -> Option<FunctionId> {
        let name = self.names.find(name)?;
        self.functions.iter_enumerated().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }

    /// Returns a type as C writes it.
    pub fn show_type(&self, ty: QualType) -> String {
        self.types.show(ty, &self.names)
    }
}
