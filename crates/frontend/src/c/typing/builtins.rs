//! Functions of the compiler: `__atomic_..`, `__sync_..`, `__builtin_..`.

use super::Typer;
use super::calls::arguments;
use crate::c::files::Loc;
use crate::c::fold::{Base, Constant};
use crate::c::names::Symbol;
use crate::c::tree::{BinaryOp, Builtin, Expr, ExprKind, FetchOp};
use crate::c::types::{IntKind, QualType, basic};
use crate::diagnostic::Code;

/// The type of an operand or result. `T` is what the first operand points to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// `T *`; sets `T`.
    Pointer,
    /// A value of `T`.
    Value,
    /// A pointer to a plain `T`.
    Address,
    /// An `int`: memory orders and flags.
    Int,
    Bool,
    Void,
    /// Any integer of the type that the number of bits in the name tells.
    Integer(IntKind),
    /// Any value.
    Any,
    /// Any pointer.
    AnyPointer,
    /// Further arguments, which mean nothing.
    Rest,
    Size,
    /// A null pointer or an address.
    VoidPointer,
    Float(QualType),
}

use Part::{Address, AnyPointer, Int, Pointer, Rest, Value, Void};

/// A function of the compiler with the types of its operands and result.
struct Signature {
    builtin: Builtin,
    params: Vec<Part>,
    result: Part,
}

impl Typer {
    /// Returns whether a name is a function of the compiler that the program does not declare itself.
    pub(crate) fn is_builtin(&self, name: Symbol) -> bool {
        let text = self.text(name);
        text.starts_with("__") && self.lookup(name).is_none() && (signature(text).is_some() || is_special(text))
    }

    /// Returns the name of a function of the library that a name like `__builtin_memcpy` means.
    pub(crate) fn library_name(&self, name: Symbol) -> Option<Symbol> {
        let plain = self.unit.names.find(self.text(name).strip_prefix("__builtin_")?)?;
        self.known.contains_key(&plain).then_some(plain)
    }

    /// Returns a call of a function of the compiler.
    pub(crate) fn builtin(&mut self, name: Symbol, args: Vec<Expr>, loc: Loc) -> Expr {
        let text = self.text(name).to_owned();
        if is_special(&text) {
            return self.special(&text, args, loc);
        }
        let Some(Signature { builtin, params, result }) = signature(&text) else { return self.wrong(loc) };
        let has_rest = params.last() == Some(&Rest);
        let n_params = params.len() - usize::from(has_rest);
        if args.len() < n_params || args.len() > n_params && !has_rest {
            let message = format!("`{text}` takes {}, not {}", arguments(n_params), args.len());
            return self.reject(Code::CArguments, message, loc);
        }
        let mut operand = basic::ERROR;
        let mut converted = Vec::new();
        for (part, arg) in params.iter().take(n_params).zip(args) {
            let value = self.operand(*part, arg, &mut operand);
            if self.unit.types.is_error(value.ty) {
                return self.wrong(loc);
            }
            converted.push(value);
        }
        let ty = self.part_type(result, operand);
        self.make(ExprKind::Builtin(builtin, converted), ty, loc)
    }

    fn part_type(&mut self, part: Part, operand: QualType) -> QualType {
        match part {
            Pointer | Address => self.types().pointer(operand),
            Value => operand,
            Part::Bool => basic::BOOL,
            Void | Rest => basic::VOID,
            Part::Integer(kind) => basic::int(kind),
            Part::Size => self.unit.types.size_type(),
            AnyPointer | Part::VoidPointer => self.types().pointer(basic::VOID),
            Part::Float(ty) => ty,
            Int | Part::Any => basic::INT,
        }
    }

    /// Converts an operand.
    fn operand(&mut self, part: Part, arg: Expr, operand: &mut QualType) -> Expr {
        let is_pointer = matches!(part, Pointer | AnyPointer);
        if !is_pointer && part != Part::Any {
            let ty = self.part_type(part, *operand);
            return self.assigned(arg, ty, "the operand");
        }
        if arg.ty.id == basic::VA_LIST.id {
            return arg;
        }
        let value = self.value(arg);
        if !is_pointer || self.unit.types.is_error(value.ty) {
            return value;
        }
        let Some(to) = self.unit.types.pointee(value.ty) else {
            let message = format!("the operand must be a pointer, not `{}`", self.show(value.ty));
            return self.reject(Code::CWrongType, message, value.loc);
        };
        if part == Pointer && (self.unit.types.layout(to).is_none() || self.unit.types.is_void(to)) {
            let message = format!("the operand points to `{}`, whose size is not known", self.show(to));
            return self.reject(Code::CIncomplete, message, value.loc);
        }
        if part == Pointer {
            *operand = to.plain();
        }
        value
    }

    /// Returns a function of the compiler that is evaluated here.
    fn special(&mut self, text: &str, mut args: Vec<Expr>, loc: Loc) -> Expr {
        let n_args = if text == "__builtin_expect" {
            2
        } else if text == "__builtin_expect_with_probability" {
            3
        } else {
            1
        };
        let is_any = text == "__builtin_prefetch" || text == "__builtin_object_size";
        if args.len() != n_args && !is_any || args.is_empty() {
            let message = format!("`{text}` takes {}, not {}", arguments(n_args), args.len());
            return self.reject(Code::CArguments, message, loc);
        }
        let first = args.remove(0);
        match text {
            "__builtin_constant_p" => {
                let value = self.value(first);
                let is_constant = match self.unit.fold(&value).map(|folded| folded.constant) {
                    Some(Constant::Address(address)) => matches!(address.base, Base::Null | Base::String(_)),
                    constant => constant.is_some(),
                };
                self.int(i128::from(is_constant), loc)
            }
            "__builtin_expect" | "__builtin_expect_with_probability" => {
                let value = self.assigned(first, basic::int(IntKind::Long), "the operand");
                let second = self.value(args.remove(0));
                // The value of the second operand means nothing, but its effects do.
                if self.unit.fold(&second).is_some() { Expr { loc, ..value } } else { self.comma(second, value) }
            }
            "__builtin_prefetch" => {
                let value = self.value(first);
                self.cast(value, basic::VOID, false)
            }
            "__builtin_object_size" => {
                let value =
                    if args.first().and_then(|kind| self.unit.integer(kind)).unwrap_or(0) & 2 == 0 { -1 } else { 0 };
                let ty = self.unit.types.size_type();
                let value = self.unit.types.wrap(value, ty);
                self.make(ExprKind::Integer(value), ty, loc)
            }
            "__builtin_assume_aligned" | "__builtin_launder" => self.value(first),
            _ => self.lock_free(first, loc),
        }
    }

    /// Returns whether atomic objects of a size need no lock: sizes up to that of a pointer.
    fn lock_free(&mut self, size: Expr, loc: Loc) -> Expr {
        let size = self.value(size);
        let is_small = self.unit.integer(&size).is_some_and(|size| (0..=8).contains(&size));
        let value = self.int(i128::from(is_small), loc);
        self.cast(value, basic::BOOL, true)
    }
}

/// Returns whether a function of the compiler is evaluated when it is read.
fn is_special(text: &str) -> bool {
    matches!(
        text,
        "__builtin_constant_p"
            | "__builtin_expect"
            | "__builtin_expect_with_probability"
            | "__builtin_prefetch"
            | "__builtin_object_size"
            | "__builtin_launder"
            | "__atomic_is_lock_free"
            | "__atomic_always_lock_free"
    )
}

/// Returns the signature of a function of the compiler.
fn signature(text: &str) -> Option<Signature> {
    if let Some(name) = text.strip_prefix("__atomic_") {
        return atomic(name);
    }
    if let Some(name) = text.strip_prefix("__selvedge_atomic_") {
        return scaled(name);
    }
    if let Some(name) = text.strip_prefix("__sync_") {
        return sync(name);
    }
    builtin(text.strip_prefix("__builtin_")?)
}

fn make(builtin: Builtin, params: &[Part], result: Part) -> Option<Signature> {
    Some(Signature { builtin, params: params.to_vec(), result })
}

fn atomic(name: &str) -> Option<Signature> {
    match name {
        "load_n" => make(Builtin::AtomicLoad, &[Pointer, Int], Value),
        "load" => make(Builtin::AtomicLoadInto, &[Pointer, Address, Int], Void),
        "store_n" => make(Builtin::AtomicStore, &[Pointer, Value, Int], Void),
        "store" => make(Builtin::AtomicStoreFrom, &[Pointer, Address, Int], Void),
        "exchange_n" => make(Builtin::AtomicExchange, &[Pointer, Value, Int], Value),
        "exchange" => make(Builtin::AtomicExchangeInto, &[Pointer, Address, Address, Int], Void),
        "compare_exchange_n" => {
            make(Builtin::AtomicCompareExchange, &[Pointer, Address, Value, Part::Bool, Int, Int], Part::Bool)
        }
        "compare_exchange" => {
            make(Builtin::AtomicCompareExchangeFrom, &[Pointer, Address, Address, Part::Bool, Int, Int], Part::Bool)
        }
        "test_and_set" => make(Builtin::AtomicTestAndSet, &[AnyPointer, Int], Part::Bool),
        "clear" => make(Builtin::AtomicClear, &[AnyPointer, Int], Void),
        "thread_fence" => make(Builtin::ThreadFence, &[Int], Void),
        "signal_fence" => make(Builtin::SignalFence, &[Int], Void),
        _ => {
            let (op, returns_new) = match name.strip_prefix("fetch_") {
                Some(op) => (op, false),
                None => (name.strip_suffix("_fetch")?, true),
            };
            let kind = Builtin::AtomicFetch { op: fetch_op(op)?, returns_new, scaled: false };
            make(kind, &[Pointer, Value, Int], Value)
        }
    }
}

/// Returns the operations of `<stdatomic.h>` that GCC's do not have.
fn scaled(name: &str) -> Option<Signature> {
    match name {
        "init" => make(Builtin::AtomicInit, &[Pointer, Value], Void),
        _ => {
            let op = fetch_op(name.strip_prefix("fetch_")?)?;
            let kind = Builtin::AtomicFetch { op, returns_new: false, scaled: true };
            make(kind, &[Pointer, Part::Any, Int], Value)
        }
    }
}

fn sync(name: &str) -> Option<Signature> {
    match name {
        "synchronize" => make(Builtin::SyncSynchronize, &[Rest], Void),
        "bool_compare_and_swap" => make(Builtin::SyncBoolCompareAndSwap, &[Pointer, Value, Value, Rest], Part::Bool),
        "val_compare_and_swap" => make(Builtin::SyncValCompareAndSwap, &[Pointer, Value, Value, Rest], Value),
        "lock_test_and_set" => make(Builtin::SyncLockTestAndSet, &[Pointer, Value, Rest], Value),
        "lock_release" => make(Builtin::SyncLockRelease, &[Pointer, Rest], Void),
        _ => {
            let (op, returns_new) = match name.strip_prefix("fetch_and_") {
                Some(op) => (op, false),
                None => (name.strip_suffix("_and_fetch")?, true),
            };
            make(Builtin::SyncFetch { op: fetch_op(op)?, returns_new }, &[Pointer, Value, Rest], Value)
        }
    }
}

fn fetch_op(name: &str) -> Option<FetchOp> {
    Some(match name {
        "add" => FetchOp::Add,
        "sub" => FetchOp::Sub,
        "and" => FetchOp::And,
        "or" => FetchOp::Or,
        "xor" => FetchOp::Xor,
        "nand" => FetchOp::Nand,
        _ => return None,
    })
}

fn builtin(name: &str) -> Option<Signature> {
    let any = Part::Any;
    match name {
        "unreachable" => make(Builtin::Unreachable, &[], Void),
        "trap" => make(Builtin::Trap, &[], Void),
        "add_overflow" => make(Builtin::Overflow(BinaryOp::Add), &[any, any, AnyPointer], Part::Bool),
        "sub_overflow" => make(Builtin::Overflow(BinaryOp::Sub), &[any, any, AnyPointer], Part::Bool),
        "mul_overflow" => make(Builtin::Overflow(BinaryOp::Mul), &[any, any, AnyPointer], Part::Bool),
        "add_overflow_p" => make(Builtin::OverflowPredicate(BinaryOp::Add), &[any, any, any], Part::Bool),
        "sub_overflow_p" => make(Builtin::OverflowPredicate(BinaryOp::Sub), &[any, any, any], Part::Bool),
        "mul_overflow_p" => make(Builtin::OverflowPredicate(BinaryOp::Mul), &[any, any, any], Part::Bool),
        "va_start" | "c23_va_start" => make(Builtin::VaStart, &[any, Rest], Void),
        "va_end" => make(Builtin::VaEnd, &[any], Void),
        "va_copy" => make(Builtin::VaCopy, &[any, any], Void),
        "alloca" => make(Builtin::Alloca, &[Part::Size], Part::VoidPointer),
        "return_address" | "frame_address" => make(Builtin::FrameAddress, &[Int], Part::VoidPointer),
        "huge_val" | "inf" => make(Builtin::FloatConstant, &[], Part::Float(basic::DOUBLE)),
        "inff" | "huge_valf" => make(Builtin::FloatConstant, &[], Part::Float(basic::FLOAT)),
        "nan" => make(Builtin::FloatConstant, &[any], Part::Float(basic::DOUBLE)),
        "nanf" => make(Builtin::FloatConstant, &[any], Part::Float(basic::FLOAT)),
        "bswap16" => swap(IntKind::UShort),
        "bswap32" => swap(IntKind::UInt),
        "bswap64" => swap(IntKind::ULongLong),
        _ => typed_overflow(name).or_else(|| count_bits(name)),
    }
}

fn swap(kind: IntKind) -> Option<Signature> {
    make(Builtin::Bswap, &[Part::Integer(kind)], Part::Integer(kind))
}

/// Returns functions like `__builtin_saddl_overflow`, whose name tells the type.
fn typed_overflow(name: &str) -> Option<Signature> {
    let name = name.strip_suffix("_overflow")?;
    let (is_signed, name) = match name.strip_prefix('s') {
        Some(name) => (true, name),
        None => (false, name.strip_prefix('u')?),
    };
    let (op, longs) = name.split_at_checked(3)?;
    let op = match op {
        "add" => BinaryOp::Add,
        "sub" => BinaryOp::Sub,
        "mul" => BinaryOp::Mul,
        _ => return None,
    };
    let kind = match (longs, is_signed) {
        ("", true) => IntKind::Int,
        ("", false) => IntKind::UInt,
        ("l", true) => IntKind::Long,
        ("l", false) => IntKind::ULong,
        ("ll", true) => IntKind::LongLong,
        ("ll", false) => IntKind::ULongLong,
        _ => return None,
    };
    let part = Part::Integer(kind);
    make(Builtin::Overflow(op), &[part, part, AnyPointer], Part::Bool)
}

fn count_bits(name: &str) -> Option<Signature> {
    let plain = name.trim_end_matches('l');
    let (kind, signed_operand) = match plain {
        "clz" => (Builtin::Clz, false),
        "ctz" => (Builtin::Ctz, false),
        "popcount" => (Builtin::Popcount, false),
        "parity" => (Builtin::Parity, false),
        "ffs" => (Builtin::Ffs, true),
        _ => return None,
    };
    let operand = match (name.len() - plain.len(), signed_operand) {
        (0, true) => IntKind::Int,
        (0, false) => IntKind::UInt,
        (1, true) => IntKind::Long,
        (1, false) => IntKind::ULong,
        (2, true) => IntKind::LongLong,
        (2, false) => IntKind::ULongLong,
        _ => return None,
    };
    make(kind, &[Part::Integer(operand)], Int)
}
