//! Operators on values, and assignments.

use super::Typer;
use crate::c::files::Loc;
use crate::c::fold::Folded;
use crate::c::tree::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::c::types::{QualType, Quals, Type, basic};
use crate::diagnostic::Code;

/// A binary operator as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryKind {
    Op(BinaryOp),
    And,
    Or,
}

/// An assignment as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AssignKind {
    Plain,
    Op(BinaryOp),
}

impl BinaryOp {
    /// Returns the spelling.
    pub(crate) fn text(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        }
    }

    /// Returns whether the result is a truth value.
    pub fn is_comparison(self) -> bool {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    fn is_shift(self) -> bool {
        matches!(self, BinaryOp::Shl | BinaryOp::Shr)
    }

    fn needs_integers(self) -> bool {
        use BinaryOp::{And, Or, Rem, Shl, Shr, Xor};
        matches!(self, Rem | And | Or | Xor | Shl | Shr)
    }
}

impl Typer {
    /// Returns `left op right`.
    pub(crate) fn binary(&mut self, kind: BinaryKind, left: Expr, right: Expr) -> Expr {
        let loc = self.join(left.loc, right.loc);
        let op = match kind {
            BinaryKind::Op(op) => op,
            BinaryKind::And | BinaryKind::Or => return self.logical(kind == BinaryKind::And, left, right, loc),
        };
        let (left, right) = (self.value(left), self.value(right));
        if self.unit.types.is_error(left.ty) || self.unit.types.is_error(right.ty) {
            return self.wrong(loc);
        }
        let is_pointer = |ty| self.unit.types.is_pointer(ty);
        if is_pointer(left.ty) || is_pointer(right.ty) {
            return self.binary_pointers(op, left, right, loc);
        }
        if !self.are_operands(op, left.ty, right.ty) {
            return self.reject_operands(op, &left, &right, loc);
        }
        if op.is_shift() {
            let (left, right) = (self.promote(left), self.promote(right));
            let ty = left.ty;
            return self.operation(op, left, right, ty, loc);
        }
        let (left, right, ty) = self.balance(left, right);
        self.operation(op, left, right, if op.is_comparison() { basic::INT } else { ty }, loc)
    }

    /// Returns an operation on converted operands; warns if they are constants and the result does not fit.
    fn operation(&mut self, op: BinaryOp, left: Expr, right: Expr, ty: QualType, loc: Loc) -> Expr {
        let expr = self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, loc);
        self.warn_overflow(&expr);
        expr
    }

    /// Warns if an operation on small constant operands overflows.
    fn warn_overflow(&mut self, expr: &Expr) {
        // Higher expressions are left out: this runs for each operator, and must not take quadratic time.
        let overflows = |expr: &Expr| matches!(self.unit.fold(expr), Some(Folded { overflows: true, .. }));
        if expr.height <= 5 && overflows(expr) && !expr.kind.operands().into_iter().any(overflows) {
            let message = "the value of this expression does not fit its type and wraps around";
            self.error(Code::COverflow, message, expr.loc);
        }
    }

    fn are_operands(&self, op: BinaryOp, left: QualType, right: QualType) -> bool {
        let types = &self.unit.types;
        match op.needs_integers() {
            true => types.is_integer(left) && types.is_integer(right),
            false => types.is_arithmetic(left) && types.is_arithmetic(right),
        }
    }

    fn reject_operands(&mut self, op: BinaryOp, left: &Expr, right: &Expr, loc: Loc) -> Expr {
        let (left, right) = (self.show(left.ty), self.show(right.ty));
        let message = format!("`{}` has no meaning for `{left}` and `{right}`", op.text());
        self.reject(Code::CWrongType, message, loc)
    }

    fn logical(&mut self, is_and: bool, left: Expr, right: Expr, loc: Loc) -> Expr {
        let (left, right) = (Box::new(self.condition(left)), Box::new(self.condition(right)));
        self.make(ExprKind::Logical { is_and, left, right }, basic::INT, loc)
    }

    fn binary_pointers(&mut self, op: BinaryOp, left: Expr, right: Expr, loc: Loc) -> Expr {
        let types = &self.unit.types;
        let (is_left, is_right) = (types.is_pointer(left.ty), types.is_pointer(right.ty));
        let (int_left, int_right) = (types.is_integer(left.ty), types.is_integer(right.ty));
        match op {
            BinaryOp::Add if is_left && int_right => self.offset(left, right, false, loc),
            BinaryOp::Add if int_left && is_right => self.offset(right, left, false, loc),
            BinaryOp::Sub if is_left && int_right => self.offset(left, right, true, loc),
            BinaryOp::Sub if is_left && is_right => self.difference(left, right, loc),
            _ if op.is_comparison() && (is_left || int_left) && (is_right || int_right) => {
                self.compare_pointers(op, left, right, loc)
            }
            _ => self.reject_operands(op, &left, &right, loc),
        }
    }

    /// Returns a pointer moved by a number of elements.
    pub(crate) fn offset(&mut self, pointer: Expr, index: Expr, is_negative: bool, loc: Loc) -> Expr {
        if !self.has_elements(&pointer, loc) {
            return self.wrong(loc);
        }
        let index = self.promote(index);
        let ty = pointer.ty;
        self.make(ExprKind::Offset { pointer: Box::new(pointer), index: Box::new(index), is_negative }, ty, loc)
    }

    /// Checks that the size of what a pointer points to is known.
    fn has_elements(&mut self, pointer: &Expr, loc: Loc) -> bool {
        let Some(to) = self.unit.types.pointee(pointer.ty) else { return false };
        if self.unit.types.layout(to).is_some() || self.unit.types.is_variable(to) {
            return true;
        }
        let message = format!("the size of `{}` is not known here", self.show(to));
        self.error(Code::CIncomplete, message, loc);
        false
    }

    fn difference(&mut self, left: Expr, right: Expr, loc: Loc) -> Expr {
        let (Some(one), Some(other)) = (self.unit.types.pointee(left.ty), self.unit.types.pointee(right.ty)) else {
            return self.wrong(loc);
        };
        if !self.is_compatible_below(one, other) {
            return self.reject_operands(BinaryOp::Sub, &left, &right, loc);
        }
        if !self.has_elements(&left, loc) {
            return self.wrong(loc);
        }
        let ty = self.unit.types.difference_type();
        self.make(ExprKind::Difference(Box::new(left), Box::new(right)), ty, loc)
    }

    fn compare_pointers(&mut self, op: BinaryOp, left: Expr, right: Expr, loc: Loc) -> Expr {
        let (left, right) = match (self.unit.types.pointee(left.ty), self.unit.types.pointee(right.ty)) {
            (Some(one), Some(other)) => {
                let is_void = self.unit.types.is_void(one) || self.unit.types.is_void(other);
                if !is_void && !self.is_compatible_below(one, other) {
                    self.warn_pointers(&left, &right, loc);
                }
                let ty = if self.unit.types.is_void(one) { left.ty } else { right.ty };
                (self.cast(left, ty, true), self.cast(right, ty, true))
            }
            (Some(_), None) => {
                let ty = left.ty;
                (left, self.assigned(right, ty, "the other operand"))
            }
            _ => {
                let ty = right.ty;
                (self.assigned(left, ty, "the other operand"), right)
            }
        };
        self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), basic::INT, loc)
    }

    fn warn_pointers(&mut self, left: &Expr, right: &Expr, loc: Loc) {
        let (left, right) = (self.show(left.ty), self.show(right.ty));
        let message = format!("pointers of the different types `{left}` and `{right}`");
        self.error(Code::CConversion, message, loc);
    }

    /// Returns `-a`, `~a` or `!a`; `+a` without an operator.
    pub(crate) fn unary(&mut self, op: Option<UnaryOp>, operand: Expr, loc: Loc) -> Expr {
        if op == Some(UnaryOp::Not) {
            let operand = self.condition(operand);
            return self.make(ExprKind::Unary(UnaryOp::Not, Box::new(operand)), basic::INT, loc);
        }
        let operand = self.value(operand);
        let types = &self.unit.types;
        if types.is_error(operand.ty) {
            return self.wrong(loc);
        }
        let is_fine = types.is_integer(operand.ty) || op != Some(UnaryOp::Complement) && types.is_float(operand.ty);
        if !is_fine {
            let message = format!("this operator has no meaning for `{}`", self.show(operand.ty));
            return self.reject(Code::CWrongType, message, loc);
        }
        let operand = self.promote(operand);
        let ty = operand.ty;
        match op {
            Some(op) => {
                let expr = self.make(ExprKind::Unary(op, Box::new(operand)), ty, loc);
                self.warn_overflow(&expr);
                expr
            }
            None => Expr { loc, ..operand },
        }
    }

    /// Returns `a, b`.
    pub(crate) fn comma(&mut self, left: Expr, right: Expr) -> Expr {
        let loc = self.join(left.loc, right.loc);
        let (left, right) = (self.value(left), self.value(right));
        let ty = right.ty;
        self.make(ExprKind::Comma(Box::new(left), Box::new(right)), ty, loc)
    }

    /// Returns `a ? b : c`, or `a ?: c`.
    pub(crate) fn conditional(&mut self, condition: Expr, then: Option<Expr>, otherwise: Expr) -> Expr {
        let loc = self.join(condition.loc, otherwise.loc);
        let condition = self.condition(condition);
        let is_short = then.is_none();
        let then = match then {
            Some(then) => self.value(then),
            None => Expr::new(ExprKind::Error, condition.ty, condition.loc),
        };
        let otherwise = self.value(otherwise);
        let types = &self.unit.types;
        if [&condition, &then, &otherwise].iter().any(|part| types.is_error(part.ty)) {
            return self.wrong(loc);
        }
        let Some(ty) = self.common(&then, &otherwise, is_short) else {
            let (then, otherwise) = (self.show(then.ty), self.show(otherwise.ty));
            let message = format!("the two values have the types `{then}` and `{otherwise}`, which do not fit");
            return self.reject(Code::CWrongType, message, loc);
        };
        let then = (!is_short).then(|| Box::new(self.cast(then, ty, true)));
        let otherwise = Box::new(self.cast(otherwise, ty, true));
        self.make(ExprKind::Conditional { condition: Box::new(condition), then, otherwise }, ty, loc)
    }

    /// Returns the type of a conditional expression.
    fn common(&mut self, then: &Expr, otherwise: &Expr, is_short: bool) -> Option<QualType> {
        let types = &self.unit.types;
        let (one, other) = (then.ty, otherwise.ty);
        if types.is_void(one) || types.is_void(other) {
            return Some(basic::VOID);
        }
        if types.is_arithmetic(one) && types.is_arithmetic(other) {
            return Some(self.balance(then.clone(), otherwise.clone()).2);
        }
        match (types.get(one).clone(), types.get(other).clone()) {
            (Type::Record(one_id), Type::Record(other_id)) => (one_id == other_id).then_some(one),
            (Type::Pointer(to), Type::Pointer(other_to)) => {
                if !is_short && self.is_null(then) && types.is_void(to) {
                    return Some(other);
                }
                if self.is_null(otherwise) && types.is_void(other_to) {
                    return Some(one);
                }
                Some(self.common_pointer(to, other_to))
            }
            (Type::Pointer(_), _) if types.is_integer(other) => Some(one),
            (_, Type::Pointer(_)) if types.is_integer(one) => Some(other),
            _ => None,
        }
    }

    fn common_pointer(&mut self, one: QualType, other: QualType) -> QualType {
        let quals = one.quals.with(other.quals);
        let types = &self.unit.types;
        let to = match () {
            () if types.is_void(one) || types.is_void(other) => basic::VOID,
            () if self.is_compatible_plain(one, other) => self.composite(one.plain(), other.plain()),
            // Compilers accept it with a warning, and forget the qualifiers.
            () => return self.types().pointer(basic::VOID),
        };
        self.types().pointer(to.with(quals))
    }

    /// Checks that a place can be assigned.
    fn is_assignable(&mut self, target: &Expr, loc: Loc) -> bool {
        let types = &self.unit.types;
        if types.is_error(target.ty) {
            return false;
        }
        let message = match () {
            () if !target.is_place() => "this is not an object that can be assigned".to_owned(),
            () if types.is_array(target.ty) || types.is_function(target.ty) => {
                format!("a value of type `{}` cannot be assigned", self.show(target.ty))
            }
            () if self.has_const(target.ty) => {
                format!("this object is `const`: its type is `{}`", self.show(target.ty))
            }
            () if types.layout(target.ty).is_none() || types.is_void(target.ty) => {
                format!("the type `{}` is not complete", self.show(target.ty))
            }
            () => return true,
        };
        self.error(Code::CNotAssignable, message, loc);
        false
    }

    /// Returns whether an object is `const`, or a struct with a member that is.
    fn has_const(&self, ty: QualType) -> bool {
        ty.quals.has(Quals::CONST)
            || self.unit.types.record(ty).is_some_and(|body| {
                body.fields.iter().any(|field| {
                    let mut ty = field.ty;
                    while let Type::Array(of, _) = self.unit.types.get(ty) {
                        ty = *of;
                    }
                    self.has_const(ty)
                })
            })
    }

    /// Returns `a = b` or `a op= b`.
    pub(crate) fn assign(&mut self, kind: AssignKind, target: Expr, value: Expr) -> Expr {
        let loc = self.join(target.loc, value.loc);
        if !self.is_assignable(&target, loc) {
            return self.wrong(loc);
        }
        let ty = target.ty.plain();
        match kind {
            AssignKind::Plain => {
                let value = self.assigned(value, ty, "the assigned object");
                self.make(ExprKind::Assign { target: Box::new(target), value: Box::new(value) }, ty, loc)
            }
            AssignKind::Op(op) => self.assign_op(op, target, value, loc),
        }
    }

    fn assign_op(&mut self, op: BinaryOp, target: Expr, value: Expr, loc: Loc) -> Expr {
        let value = self.value(value);
        let ty = target.ty.plain();
        let types = &self.unit.types;
        if types.is_error(value.ty) {
            return self.wrong(loc);
        }
        let is_negative = op == BinaryOp::Sub;
        if types.is_pointer(ty) && types.is_integer(value.ty) && (is_negative || op == BinaryOp::Add) {
            let read = self.value(target.clone());
            if !self.has_elements(&read, loc) {
                return self.wrong(loc);
            }
            let index = Box::new(self.promote(value));
            return self.make(ExprKind::AssignOffset { target: Box::new(target), index, is_negative }, ty, loc);
        }
        if !self.are_operands(op, ty, value.ty) {
            return self.reject_operands(op, &target, &value, loc);
        }
        let read = self.value(target.clone());
        let (type_of_operation, value) = if op.is_shift() {
            (self.promote(read).ty, self.promote(value))
        } else {
            let (_, value, ty) = self.balance(read, value);
            (ty, value)
        };
        let (target, value) = (Box::new(target), Box::new(value));
        self.make(ExprKind::AssignOp { op, type_of_operation, target, value }, ty, loc)
    }

    /// Returns `++a`, `a++`, `--a` or `a--`.
    pub(crate) fn increment(&mut self, target: Expr, is_decrement: bool, is_postfix: bool, loc: Loc) -> Expr {
        if !self.is_assignable(&target, loc) {
            return self.wrong(loc);
        }
        if !self.unit.types.is_scalar(target.ty) {
            let message = format!("a value of type `{}` cannot be incremented or decremented", self.show(target.ty));
            return self.reject(Code::CWrongType, message, loc);
        }
        if self.unit.types.is_pointer(target.ty) {
            let read = self.value(target.clone());
            if !self.has_elements(&read, loc) {
                return self.wrong(loc);
            }
        }
        let ty = target.ty.plain();
        self.make(ExprKind::Increment { target: Box::new(target), is_decrement, is_postfix }, ty, loc)
    }
}
