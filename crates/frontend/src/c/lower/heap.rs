//! `malloc`, `calloc` and `free`.
//!
//! A place that allocates has a few objects, which it hands out one after the other; none is handed out twice. That
//! they suffice is a limit of the program. The type of the objects is that of the pointer to which the result is
//! converted, and their size is constant. Allocation does not fail. An object that is freed is not used any more: an
//! execution that does so ends there.

use selvedge_ir::simplify::not;
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineOp, MachineTy, Op, Scope, Ty, VarId};

use super::super::names::Symbol;
use super::super::property::Property;
use super::super::tree::{
    Callee, Definition, Expr, ExprKind, FunctionId, Linkage, Object, ObjectId, Stmt, StmtKind, Storage, Unit,
};
use super::super::types::{Length, QualType, TypeId};
use super::body::Body;
use super::facts::{Site, site};
use super::fresh::{Bytes, assigned, initialised};
use super::objects::Cell;
use super::place::{Access, any};
use super::syntax::{exprs, inner, uncast};
use super::{Lowered, Lowering, refuse};

/// A place that allocates objects.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    site: Site,
    /// The type of one element.
    of: TypeId,
    pub(super) slots: Vec<ObjectId>,
    /// Set if the objects are zero at first.
    pub(super) is_zero: bool,
    /// The local that gets the address, and the parts that are assigned before anybody can read them.
    into: Option<(ObjectId, Vec<Bytes>)>,
}

/// The variables of the places that allocate objects.
#[derive(Default)]
pub(super) struct Heap {
    /// How many objects each place has handed out.
    handed_out: Vec<VarId>,
    /// Whether an object has been freed.
    freed: Vec<(ObjectId, VarId)>,
}

impl Heap {
    /// Returns the initial values: nothing is handed out or freed.
    pub(super) fn initial_values(&self) -> Vec<(VarId, Ir)> {
        let handed_out = self.handed_out.iter().map(|var| (*var, COUNT.constant(0)));
        handed_out.chain(self.freed.iter().map(|(_, var)| (*var, Ir::FALSE))).collect()
    }
}

/// The type of numbers of objects.
const COUNT: MachineTy = MachineTy::unsigned(16);

/// Returns the size of the objects that a call allocates, and whether they are zero. `None` if it is no such call.
fn allocation(unit: &Unit, expr: &Expr) -> Option<(Option<i128>, bool)> {
    let ExprKind::Call { callee: Callee::Direct(function), args } = &expr.kind else { return None };
    let declared = &unit.functions[*function];
    match (unit.name(declared.name), args.as_slice()) {
        _ if declared.body.is_some() => None,
        ("malloc", [size]) => Some((unit.integer(size), false)),
        ("calloc", [count, size]) => {
            let product = unit.integer(count).zip(unit.integer(size)).and_then(|(one, other)| one.checked_mul(other));
            Some((product, true))
        }
        _ => None,
    }
}

/// Returns the call that allocates the object to which a pointer is converted.
pub(super) fn allocated<'e>(unit: &Unit, pointer: &'e Expr) -> Option<&'e Expr> {
    let call = uncast(pointer);
    allocation(unit, call).map(|_| call)
}

/// Adds the objects of all places that allocate some.
pub(super) fn pools(unit: &mut Unit, bound: u32) -> Vec<Pool> {
    let (mut found, mut into) = (Vec::new(), Vec::new());
    for function in unit.functions.indices() {
        if let Some(body) = &unit.functions[function].body {
            find_in_stmt(unit, &body.block, &mut |pointer: &Expr| found.push((function, pointer.clone())));
            find_into(unit, &body.block, &mut into);
        }
    }
    let mut pools: Vec<Pool> = Vec::new();
    for (function, pointer) in found {
        let Some(mut pool) = pool(unit, &pointer, function, pools.len(), bound) else { continue };
        match pools.iter_mut().find(|known| (known.site, known.of) == (pool.site, pool.of)) {
            // Two calls at one place, in a macro: nothing is known about what follows.
            Some(known) => known.into = None,
            None => {
                let mut here = into.iter().filter(|(site, _)| *site == pool.site);
                let first = here.next().map(|(_, into)| into.clone());
                pool.into = first.filter(|_| here.next().is_none());
                pools.push(pool);
            }
        }
    }
    pools
}

/// Finds the allocations whose results are assigned to locals, with the parts of objects that are then assigned.
fn find_into(unit: &Unit, stmt: &Stmt, into: &mut Vec<(Site, (ObjectId, Vec<Bytes>))>) {
    if let StmtKind::Block(stmts) = &stmt.kind {
        for (number, stmt) in stmts.iter().enumerate() {
            if let Some((object, value)) = assigned(unit, stmt)
                && let Some(call) = allocated(unit, value)
            {
                into.push((site(call.loc), (object, initialised(unit, object, &stmts[number + 1..]))));
            }
        }
    }
    inner(stmt).into_iter().for_each(|stmt| find_into(unit, stmt, into));
}

fn pool(unit: &mut Unit, pointer: &Expr, function: FunctionId, number: usize, bound: u32) -> Option<Pool> {
    let call = allocated(unit, pointer)?;
    let (size, is_zero) = allocation(unit, call)?;
    let of = unit.types.pointee(pointer.ty).filter(|of| !unit.types.is_void(*of) && !unit.types.is_function(*of))?;
    let one = unit.types.layout(of)?.size.max(1);
    let size = size.and_then(|size| u64::try_from(size).ok()).filter(|size| *size > 0 && size.is_multiple_of(one))?;
    let plain = of.plain();
    let ty = if size == one { plain } else { unit.types.array(plain, Length::Known(size / one)) };
    unit.types.layout(ty)?;
    let slots = (1..=bound).map(|slot| {
        let name = unit.names.intern(&format!("heap{}#{slot}", number + 1));
        unit.objects.push(slot_object(name, ty, call, function))
    });
    Some(Pool { site: site(call.loc), of: of.id, slots: slots.collect(), is_zero, into: None })
}

fn slot_object(name: Symbol, ty: QualType, call: &Expr, function: FunctionId) -> Object {
    let (storage, linkage, definition) = (Storage::Static, Linkage::None, Definition::Defined);
    let (init, align) = (None, None);
    Object { name, ty, storage, linkage, definition, init, align, function: Some(function), loc: call.loc }
}

/// Finds the pointers to which results of allocations are converted.
fn find_in_stmt(unit: &Unit, stmt: &Stmt, found: &mut dyn FnMut(&Expr)) {
    if let StmtKind::Declare(object) = &stmt.kind {
        find_in_init(unit, *object, found);
    }
    exprs(stmt).into_iter().for_each(|expr| find_in_expr(unit, expr, found));
    inner(stmt).into_iter().for_each(|stmt| find_in_stmt(unit, stmt, found));
}

fn find_in_init(unit: &Unit, object: ObjectId, found: &mut dyn FnMut(&Expr)) {
    let items = unit.objects[object].init.iter().flat_map(|init| &init.items);
    items.for_each(|item| find_in_expr(unit, &item.value, found));
}

fn find_in_expr(unit: &Unit, expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        ExprKind::Cast { .. } if allocated(unit, expr).is_some() => found(expr),
        ExprKind::Statements(block) => find_in_stmt(unit, block, found),
        ExprKind::CompoundLiteral(object) => find_in_init(unit, *object, found),
        _ => expr.kind.operands().into_iter().for_each(|operand| find_in_expr(unit, operand, found)),
    }
}

/// Returns the place that a conversion allocates objects at.
pub(super) fn pool_of(unit: &Unit, pools: &[Pool], pointer: &Expr) -> Option<usize> {
    let call = allocated(unit, pointer)?;
    let of = unit.types.pointee(pointer.ty)?;
    pools.iter().position(|pool| (pool.site, pool.of) == (site(call.loc), of.id))
}

impl Lowering<'_> {
    /// Declares the variables of the places that allocate objects.
    pub(super) fn declare_heap(&mut self) {
        for number in 0..self.facts.pools.len() {
            let slots = self.facts.pools[number].slots.clone();
            let Some(span) = slots.first().map(|slot| self.unit.objects[*slot].loc.span) else { continue };
            let name = format!("allocated(heap{})", number + 1);
            let var = self.new_var(name, Scope::Shared, Ty::Machine(COUNT), span);
            self.hide([var]);
            self.heap.handed_out.push(var);
            let is_freed = self.facts.library.contains("free");
            for slot in slots.into_iter().filter(|_| is_freed) {
                let name = format!("freed({})", self.unit.name(self.unit.objects[slot].name));
                let var = self.new_var(name, Scope::Shared, Ty::Bool, span);
                self.hide([var]);
                self.heap.freed.push((slot, var));
            }
        }
    }

    /// Returns whether an object is there: it has not been freed.
    pub(super) fn is_there(&self, object: ObjectId) -> Ir {
        let freed = self.heap.freed.iter().find(|(slot, _)| *slot == object);
        freed.map_or(Ir::TRUE, |(_, var)| not(Ir::Var(*var)))
    }

    /// Returns the initial values of the parts of an allocated object that do not have any value at first; `None` for
    /// other objects.
    pub(super) fn slot_values(&self, object: ObjectId) -> Option<Vec<(VarId, Ir)>> {
        let pool = self.facts.pools.iter().find(|pool| pool.slots.contains(&object))?;
        let into = pool.into.as_ref().filter(|(pointer, _)| !self.facts.taken.contains(pointer));
        let parts = into.map_or(&[][..], |(_, parts)| parts);
        let is_set = |cell: &&Cell| {
            let end = cell.offset + cell.size;
            pool.is_zero || parts.iter().any(|(from, to)| *from <= cell.offset && end <= *to)
        };
        let cells = self.cells.get(&object)?;
        Some(cells.iter().filter(is_set).map(|cell| (cell.var, cell.ty.constant(0))).collect())
    }
}

impl Body<'_, '_> {
    /// Evaluates an allocation whose result is converted to a pointer.
    pub(super) fn allocate(&mut self, pointer: &Expr) -> Lowered<Ir> {
        let pool = pool_of(self.unit, &self.low.facts.pools, pointer);
        let Some(pool) = pool else {
            return refuse("an allocation whose size is not a constant number of objects is", pointer.loc);
        };
        let Pool { slots, .. } = self.low.facts.pools[pool].clone();
        let (count, ty) = (self.low.heap.handed_out[pool], self.low.pointer_ty());
        let is_full = Ir::binary(IrOp::Eq, Ir::Var(count), COUNT.constant(slots.len() as i128));
        let what = format!("more than {} objects are allocated here (--malloc-bound)", slots.len());
        self.exceed(is_full, &what);
        let mut address = ty.constant(0);
        for (number, slot) in slots.iter().enumerate().rev() {
            self.low.cells(*slot, pointer.loc)?;
            let is = Ir::binary(IrOp::Eq, Ir::Var(count), COUNT.constant(number as i128));
            address = Ir::Ite(Box::new((is, ty.constant(i128::from(self.low.address(*slot))), address)));
        }
        let is_left = COUNT.apply(MachineOp::Lt, Ir::Var(count), COUNT.constant(slots.len() as i128));
        let next = COUNT.apply(MachineOp::Add, Ir::Var(count), COUNT.constant(1));
        let var = self.temporary(ty);
        self.step(Op::guarded(vec![(var, address), (count, next)], is_left));
        Ok(Ir::Var(var))
    }

    /// Frees an object; the null pointer is ignored, and other pointers end the execution.
    pub(super) fn free(&mut self, pointer: &Expr) -> Lowered<()> {
        let ty = self.low.pointer_ty();
        let pointer = self.value(uncast(pointer))?;
        let pointer = self.save(pointer, ty);
        let mut allowed = vec![Ir::binary(IrOp::Eq, pointer.clone(), ty.constant(0))];
        let mut active = Vec::new();
        for (slot, freed) in self.low.heap.freed.clone() {
            let base = ty.constant(i128::from(self.low.address(slot)));
            let is = Ir::binary(IrOp::Eq, pointer.clone(), base);
            allowed.push(Ir::and(is.clone(), not(Ir::Var(freed))));
            active.push((freed, Ir::or(Ir::Var(freed), is)));
        }
        self.check_freed(any(allowed.clone()));
        self.check_freed_race(&pointer)?;
        self.step(Op::guarded(active, any(allowed)));
        Ok(())
    }

    /// Checks that no other thread is about to access a part of the object that is freed: each part is written.
    fn check_freed_race(&mut self, pointer: &Ir) -> Lowered<()> {
        if !self.asks(Property::NoDataRace) {
            return Ok(());
        }
        let ty = self.low.pointer_ty();
        let mut parts: Vec<Vec<(Ir, Cell)>> = Vec::new();
        for (slot, freed) in self.low.heap.freed.clone() {
            let base = ty.constant(i128::from(self.low.address(slot)));
            let is_freed = Ir::and(Ir::binary(IrOp::Eq, pointer.clone(), base), not(Ir::Var(freed)));
            for (number, cell) in self.low.cells(slot, self.unit.objects[slot].loc)?.into_iter().enumerate() {
                parts.resize_with(parts.len().max(number + 1), Vec::new);
                parts[number].push((is_freed.clone(), cell));
            }
        }
        for part in parts {
            self.atomically(false, |body| body.check_race(&Access::Candidates(part), true));
        }
        Ok(())
    }
}
