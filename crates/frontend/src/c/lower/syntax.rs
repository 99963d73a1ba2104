//! Questions about the text of a program: what expressions and statements mention.

use rustc_hash::FxHashSet;

use super::super::tree::{BinaryOp, CastKind, Expr, ExprKind, FunctionId, LabelId, ObjectId, Stmt, StmtKind, Unit};
use super::super::types::{QualType, Type};
use super::place::direct;

/// Returns whether a label says that the statement behind it is a thread.
pub(super) fn is_async(label: &str) -> bool {
    label.starts_with("__CPROVER_ASYNC_")
}

/// Returns whether calls of a function are atomic sections.
pub(super) fn is_atomic(unit: &Unit, function: FunctionId) -> bool {
    unit.name(unit.functions[function].name).starts_with("__VERIFIER_atomic_")
}

/// Returns whether the part at an offset of an object belongs to an object of some types.
pub(super) fn is_part_of(unit: &Unit, ty: QualType, offset: u64, is_one: &dyn Fn(QualType) -> bool) -> bool {
    let types = &unit.types;
    if is_one(ty) {
        return true;
    }
    match types.get(ty) {
        Type::Array(of, _) => {
            let size = types.layout(*of).map_or(1, |layout| layout.size.max(1));
            is_part_of(unit, *of, offset % size, is_one)
        }
        Type::Record(_) => {
            let fields = types.record(ty).map_or(&[][..], |body| &body.fields);
            let field = fields.iter().rev().find(|field| field.offset <= offset);
            field.is_some_and(|field| is_part_of(unit, field.ty, offset - field.offset, is_one))
        }
        _ => false,
    }
}

/// Returns a pointer before its conversions to pointers that differ in qualifiers only.
pub(super) fn unqualified<'e>(unit: &Unit, pointer: &'e Expr) -> &'e Expr {
    let of = |pointer: &Expr| unit.types.pointee(pointer.ty).map(|of| of.id);
    match &pointer.kind {
        ExprKind::Cast { kind: CastKind::Pointer, value, .. } if of(pointer).is_some() && of(pointer) == of(value) => {
            unqualified(unit, value)
        }
        _ => pointer,
    }
}

/// Returns a pointer before its conversions to other pointers.
pub(super) fn uncast(pointer: &Expr) -> &Expr {
    match &pointer.kind {
        ExprKind::Cast { kind: CastKind::Pointer, value, .. } => uncast(value),
        _ => pointer,
    }
}

/// Returns the function that an expression names, whatever it is cast to.
pub(super) fn named_function(expr: &Expr) -> Option<FunctionId> {
    match &expr.kind {
        ExprKind::Decay(place) | ExprKind::AddressOf(place) => match place.kind {
            ExprKind::Function(function) => Some(function),
            _ => None,
        },
        ExprKind::Cast { value, .. } => named_function(value),
        _ => None,
    }
}

/// Returns the object that a place is a part of, if no pointer leads to it.
pub(super) fn root(place: &Expr) -> Option<ObjectId> {
    match &place.kind {
        ExprKind::Object(object) | ExprKind::CompoundLiteral(object) => Some(*object),
        ExprKind::Member(base, _) => root(base),
        ExprKind::Deref(pointer) => direct(pointer).and_then(|(place, _)| root(place)),
        _ => None,
    }
}

/// Returns the object whose value an expression is, also converted to a type that is not smaller.
pub(super) fn loaded(unit: &Unit, expr: &Expr) -> Option<ObjectId> {
    match &expr.kind {
        ExprKind::Load(place) => match place.kind {
            ExprKind::Object(object) => Some(object),
            _ => None,
        },
        ExprKind::Cast { value, .. } => {
            let size = |ty| unit.types.layout(ty).map(|layout| layout.size);
            loaded(unit, value).filter(|_| size(expr.ty) >= size(value.ty))
        }
        _ => None,
    }
}

/// Returns the object that `i++`, `++i` or `i += 1` increments.
pub(super) fn steps_by_one(step: &Expr) -> Option<ObjectId> {
    let target = match &step.kind {
        ExprKind::Increment { target, is_decrement: false, .. } => target,
        ExprKind::AssignOp { op: BinaryOp::Add, target, value, .. } => match value.kind {
            ExprKind::Integer(1) => target,
            _ => return None,
        },
        ExprKind::Cast { value, .. } => return steps_by_one(value),
        _ => return None,
    };
    match target.kind {
        ExprKind::Object(object) => Some(object),
        _ => None,
    }
}

/// Returns whether a statement may jump back to a label; adds the labels that it has.
pub(super) fn jumps_back(unit: &Unit, stmt: &Stmt, labels: &mut FxHashSet<LabelId>) -> bool {
    match &stmt.kind {
        StmtKind::Label(label) => {
            labels.insert(*label);
            false
        }
        StmtKind::Goto(label) => labels.contains(label),
        _ if exprs(stmt).into_iter().any(has_statements) => true,
        StmtKind::Declare(object) => {
            let items = unit.objects[*object].init.iter().flat_map(|init| &init.items);
            items.clone().any(|item| has_statements(&item.value))
        }
        _ => inner(stmt).into_iter().any(|stmt| jumps_back(unit, stmt, labels)),
    }
}

/// Returns whether statements are inside of an expression.
pub(super) fn has_statements(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Statements(_)) || expr.kind.operands().into_iter().any(has_statements)
}

/// Returns the statements directly inside of another.
pub(super) fn inner(stmt: &Stmt) -> Vec<&Stmt> {
    match &stmt.kind {
        StmtKind::Block(stmts) => stmts.iter().collect(),
        StmtKind::If { then, otherwise, .. } => std::iter::once(&**then).chain(otherwise.as_deref()).collect(),
        StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::Switch { body, .. } => vec![body],
        StmtKind::For { first, body, .. } => first.iter().chain([&**body]).collect(),
        _ => Vec::new(),
    }
}

/// Returns the expressions of a statement, without those of the statements in it and of declarations.
pub(super) fn exprs(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Annotation(expr) | StmtKind::Return(Some(expr)) => vec![expr],
        StmtKind::If { condition, .. }
        | StmtKind::While { condition, .. }
        | StmtKind::DoWhile { condition, .. }
        | StmtKind::Switch { value: condition, .. } => vec![condition],
        StmtKind::For { condition, step, .. } => condition.iter().chain(step).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether a statement uses an object otherwise than for reading its value.
pub(super) fn mentions_beside_reads(unit: &Unit, stmt: &Stmt, object: ObjectId) -> bool {
    let in_expr = |expr: &Expr| uses(expr, object);
    let here = match &stmt.kind {
        StmtKind::Declare(declared) => {
            unit.objects[*declared].init.iter().flat_map(|init| &init.items).any(|item| in_expr(&item.value))
        }
        StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::CaseLabel(_) | StmtKind::Asm => true,
        _ => exprs(stmt).into_iter().any(in_expr),
    };
    here || inner(stmt).into_iter().any(|stmt| mentions_beside_reads(unit, stmt, object))
}

pub(super) fn uses(expr: &Expr, object: ObjectId) -> bool {
    match &expr.kind {
        ExprKind::Load(place) if matches!(place.kind, ExprKind::Object(_)) => false,
        ExprKind::Object(used) => *used == object,
        ExprKind::Statements(_) | ExprKind::CompoundLiteral(_) => true,
        _ => expr.kind.operands().into_iter().any(|operand| uses(operand, object)),
    }
}
