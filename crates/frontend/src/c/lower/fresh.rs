//! Parts of allocated objects that get a value before anybody can read them.
//!
//! Behind `p = malloc(..)`, where `p` is a local, statements that assign to parts of `*p` and do not mention `p`
//! otherwise are looked at, up to the first other one. Until then only `p` leads to the object. What memory held before
//! does not matter for these parts, so that they need not start with any value.

use super::super::tree::{Callee, Expr, ExprKind, ObjectId, Stmt, StmtKind, Storage, Unit};
use super::syntax::{exprs, inner};

/// A part of an object: the first byte and the one behind the last.
pub(super) type Bytes = (u64, u64);

/// Returns the local to which a statement assigns an expression.
pub(super) fn assigned<'u>(unit: &'u Unit, stmt: &'u Stmt) -> Option<(ObjectId, &'u Expr)> {
    let (object, value) = match &stmt.kind {
        StmtKind::Declare(object) => match unit.objects[*object].init.as_ref()?.items.as_slice() {
            [item] if item.path.is_empty() => (*object, &item.value),
            _ => return None,
        },
        StmtKind::Expr(Expr { kind: ExprKind::Assign { target, value }, .. }) => match target.kind {
            ExprKind::Object(object) => (object, &**value),
            _ => return None,
        },
        _ => return None,
    };
    (unit.objects[object].storage == Storage::Auto).then_some((object, value))
}

/// Returns the parts of `*p` that the first of some statements assign.
pub(super) fn initialised(unit: &Unit, pointer: ObjectId, stmts: &[Stmt]) -> Vec<Bytes> {
    let mut found = Vec::new();
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Expr(expr) if assigns(unit, expr, pointer, &mut found) => {}
            StmtKind::If { condition, then, otherwise } if only_tests(condition) => {
                let bodies = std::iter::once(&**then).chain(otherwise.as_deref());
                if bodies.into_iter().any(|body| stmt_mentions(unit, body, pointer)) {
                    break;
                }
            }
            _ => break,
        }
    }
    found
}

/// Notes the parts of `*p` that an assignment sets; returns whether `p` is not used otherwise.
fn assigns(unit: &Unit, expr: &Expr, pointer: ObjectId, found: &mut Vec<Bytes>) -> bool {
    let ExprKind::Assign { target, value } = &expr.kind else { return false };
    let Some(offset) = offset_behind(unit, target, pointer) else { return false };
    let is_fine = match &value.kind {
        ExprKind::Assign { .. } => assigns(unit, value, pointer, found),
        _ => !mentions(unit, value, pointer),
    };
    if is_fine && let Some(layout) = unit.types.layout(target.ty) {
        found.push((offset, offset + layout.size));
    }
    is_fine
}

/// Returns the offset of a place inside of `*p`. A bit-field is not a whole part.
fn offset_behind(unit: &Unit, place: &Expr, pointer: ObjectId) -> Option<u64> {
    match &place.kind {
        ExprKind::Deref(address) => match &address.kind {
            ExprKind::Load(loaded) => matches!(loaded.kind, ExprKind::Object(found) if found == pointer).then_some(0),
            _ => None,
        },
        ExprKind::Member(base, number) => {
            let field = unit.types.record(base.ty)?.fields.get(*number)?;
            let offset = offset_behind(unit, base, pointer)?;
            field.bits.is_none().then_some(offset + field.offset)
        }
        _ => None,
    }
}

/// Returns whether an expression compares values of objects and constants and does nothing else.
fn only_tests(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Load(place) => matches!(place.kind, ExprKind::Object(_)),
        ExprKind::Integer(_) => true,
        ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::Logical { .. } | ExprKind::Cast { .. } => {
            expr.kind.operands().into_iter().all(only_tests)
        }
        _ => false,
    }
}

fn stmt_mentions(unit: &Unit, stmt: &Stmt, object: ObjectId) -> bool {
    let here = match &stmt.kind {
        StmtKind::Declare(declared) => init_mentions(unit, *declared, object),
        // A jump could skip the assignments that follow; behind a return there is no `p` any more.
        StmtKind::Goto(_) | StmtKind::Label(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Asm => true,
        _ => exprs(stmt).into_iter().any(|expr| mentions(unit, expr, object)),
    };
    here || inner(stmt).into_iter().any(|stmt| stmt_mentions(unit, stmt, object))
}

fn init_mentions(unit: &Unit, declared: ObjectId, object: ObjectId) -> bool {
    let mut items = unit.objects[declared].init.iter().flat_map(|init| &init.items);
    items.any(|item| mentions(unit, &item.value, object))
}

fn mentions(unit: &Unit, expr: &Expr, object: ObjectId) -> bool {
    match &expr.kind {
        ExprKind::Object(found) => *found == object,
        ExprKind::CompoundLiteral(literal) => init_mentions(unit, *literal, object),
        ExprKind::Statements(_) => true,
        ExprKind::Call { callee: Callee::Indirect(_), .. } => true,
        _ => expr.kind.operands().into_iter().any(|operand| mentions(unit, operand, object)),
    }
}
