//! Data races, by instrumentation with one shared number `$race`, which is 0 at first.
//!
//! Before a plain access to a cell that several threads use, a thread may stop for ever, if `$race` is 0, and leave the
//! number of the cell there. Every access, atomic ones as well, first checks that `$race` does not name its cell, with
//! one of the two for writing. A thread that has stopped is still about to make its access, so a check that fails shows
//! a state in which two threads are about to access one cell. Conversely, in such a state the thread with the plain
//! access could have stopped where it is, and the check of the other one fails. This is exact for interleavings of
//! steps, for any number of threads. Two atomic accesses never stop. Nobody else runs while a thread that holds an
//! atomic section has stopped, so that two accesses in sections are no race either.
//!
//! One of the two accesses writes. If no write is atomic it is a plain one, and it is enough that threads stop before
//! those. Cells that one thread alone can access, and those that are never written, are left out, and so is everything
//! that `main` does before it may have created a thread.

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_ir::span::{Role, Span};
use selvedge_ir::{BinaryOp as IrOp, Expr as Ir, MachineTy, Op, Scope, Ty, VarId};

use super::super::super::property::Property;
use super::super::super::tree::{Callee, Expr, ExprKind, FunctionId, ObjectId, Stmt, StmtKind, Unit};
use super::super::super::types::{Bits, QualType, Type};
use super::super::body::Body;
use super::super::objects::Cell;
use super::super::place::{Access, any};
use super::super::syntax::{is_atomic, named_function, root};
use super::super::{Lowering, Values};
use super::{any_expr, any_of_function};

/// The type of `$race`: twice the number of the cell, plus one for a write.
const MARK: MachineTy = MachineTy::unsigned(16);

#[derive(Default)]
pub(super) struct Race {
    var: Option<VarId>,
    /// The numbers of cells, from 1 on; `None` for those that cannot race.
    numbers: FxHashMap<VarId, Option<u16>>,
    /// The objects that several threads may access, one of them for writing.
    shared: FxHashSet<ObjectId>,
    /// Set if threads stop before reading as well.
    reads_stop: bool,
    /// Set while the code that is lowered runs before any thread is created.
    is_alone: bool,
    /// Set while an access is atomic.
    is_atomic: bool,
    /// The functions that may create threads.
    creators: FxHashSet<FunctionId>,
}

impl Race {
    pub(super) fn initial_values(&self) -> Values {
        self.var.iter().map(|var| (*var, MARK.constant(0))).collect()
    }
}

/// How functions use an object.
#[derive(Default)]
struct Use {
    functions: FxHashSet<FunctionId>,
    is_written: bool,
}

impl Lowering<'_> {
    /// Finds out which objects may race, if that is asked about.
    pub(in super::super) fn prepare_race(&mut self) {
        if !self.checks.asked.has(Property::NoDataRace) {
            return;
        }
        let var = self.new_var("$race".to_owned(), Scope::Shared, Ty::Machine(MARK), Span::default());
        self.hide([var]);
        let (unit, running) = (self.unit, self.facts.running.clone());
        let mut uses: FxHashMap<ObjectId, Use> = FxHashMap::default();
        for function in &running {
            any_of_function(unit, *function, &mut |expr| {
                note_use(expr, *function, &mut uses);
                false
            });
        }
        let atomic = |expr: &Expr| matches!(expr.kind, ExprKind::Builtin(..)) || expr.ty.is_atomic();
        let has_atomics = running.iter().any(|function| any_of_function(unit, *function, &mut |expr| atomic(expr)));
        let has_sections = self.facts.sections || running.iter().any(|function| is_atomic(unit, *function));
        let taken = self.facts.taken.iter().copied();
        let shared = uses.iter().filter(|(_, used)| self.may_race(used)).map(|(object, _)| *object);
        let shared = shared.chain(taken).collect();
        let creators = self.creators();
        let race =
            Race { var: Some(var), shared, reads_stop: has_atomics || has_sections, creators, ..Race::default() };
        self.checks.race = race;
    }

    /// Returns whether several threads may access an object whose address is not taken, and write it.
    fn may_race(&self, used: &Use) -> bool {
        if self.facts.forks {
            return used.is_written;
        }
        let uses = |below: &std::collections::BTreeSet<FunctionId>| used.functions.iter().any(|f| below.contains(f));
        let threads: Vec<_> =
            self.facts.roots.iter().filter(|(_, below)| uses(below)).map(|(times, _)| *times).collect();
        used.is_written && threads != [Some(1)]
    }

    /// Returns the functions that may create threads, directly or by what they call.
    fn creators(&self) -> FxHashSet<FunctionId> {
        let unit = self.unit;
        let running = &self.facts.running;
        let mut found: FxHashSet<FunctionId> = FxHashSet::default();
        loop {
            let before = found.len();
            for function in running {
                if any_of_function(unit, *function, &mut |expr| creates(unit, expr, &found)) {
                    found.insert(*function);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    /// Notes that a function is lowered: the code of `main` runs alone until a thread may be created. Behind labels the
    /// order of the text says nothing.
    pub(in super::super) fn begin_race(&mut self, is_main: bool, has_labels: bool) {
        self.checks.race.is_alone = is_main && !has_labels && !self.facts.forks;
    }

    /// Returns the number of a cell; `None` if it cannot race.
    fn race_number(&mut self, cell: VarId) -> Option<u16> {
        if let Some(number) = self.checks.race.numbers.get(&cell) {
            return *number;
        }
        let number = match self.first_of_location(cell) {
            Some(first) if first != cell => self.race_number(first),
            Some(_) => {
                let known = self.checks.race.numbers.values().flatten().max().copied().unwrap_or(0);
                Some(Some(known + 1).filter(|number| *number < 1 << 15).unwrap_or(0))
            }
            None => None,
        };
        self.checks.race.numbers.insert(cell, number);
        number
    }

    /// Returns the first cell of the memory location that a cell belongs to; `None` if it cannot race. A cell is a
    /// location of its own, but neighbouring bit-fields are one.
    fn first_of_location(&self, cell: VarId) -> Option<VarId> {
        let (object, cells) = self.cells.iter().find(|(_, cells)| cells.iter().any(|known| known.var == cell))?;
        if !self.is_shared(cell) || !self.checks.race.shared.contains(object) {
            return None;
        }
        let known = cells.iter().find(|known| known.var == cell)?;
        let first = first_of_fields(self.unit, self.unit.objects[*object].ty, 0, known);
        let is_first = |cell: &&Cell| first.is_some_and(|first| first == (cell.offset, cell.bits));
        Some(cells.iter().find(is_first).map_or(cell, |first| first.var))
    }
}

/// Returns the offset and the bits of the first of the neighbouring bit-fields that a cell belongs to, in a type at an
/// offset. Fields of no bits, and those that are no bit-fields, separate neighbours; fields without a name hold
/// nothing.
fn first_of_fields(unit: &Unit, ty: QualType, at: u64, cell: &Cell) -> Option<(u64, Option<Bits>)> {
    cell.bits?;
    let types = &unit.types;
    if let Type::Array(of, _) = types.get(ty) {
        let size = types.layout(*of)?.size.max(1);
        return first_of_fields(unit, *of, at + (cell.offset - at) / size * size, cell);
    }
    let mut first = None;
    for field in &types.record(ty)?.fields {
        let offset = at + field.offset;
        match field.bits {
            Some(bits) if bits.width > 0 => {
                let is_named = field.name.is_some();
                first = first.or(is_named.then_some((offset, field.bits)));
                if is_named && (offset, field.bits) == (cell.offset, cell.bits) {
                    return first;
                }
            }
            _ => first = None,
        }
        let size = types.layout(field.ty).map_or(0, |layout| layout.size);
        if field.bits.is_none()
            && (offset..offset + size).contains(&cell.offset)
            && let Some(found) = first_of_fields(unit, field.ty, offset, cell)
        {
            return Some(found);
        }
    }
    None
}

fn creates(unit: &Unit, expr: &Expr, creators: &FxHashSet<FunctionId>) -> bool {
    match &expr.kind {
        ExprKind::Call { callee: Callee::Direct(function), args } => {
            let name = unit.name(unit.functions[*function].name);
            let named = args.iter().filter_map(named_function);
            matches!(name, "pthread_create" | "thrd_create")
                || named.chain([*function]).any(|function| creators.contains(&function))
        }
        ExprKind::Call { callee: Callee::Indirect(_), .. } => true,
        _ => false,
    }
}

/// Notes which objects an expression mentions, and which it may write: those that it does not only read.
fn note_use(expr: &Expr, function: FunctionId, uses: &mut FxHashMap<ObjectId, Use>) {
    match &expr.kind {
        ExprKind::Object(object) => drop(uses.entry(*object).or_default().functions.insert(function)),
        ExprKind::Load(_) | ExprKind::Member(..) | ExprKind::Deref(_) => {}
        _ => {
            for place in expr.kind.operands().into_iter().filter(|operand| operand.is_place()) {
                if let Some(object) = root(place) {
                    uses.entry(object).or_default().is_written = true;
                }
            }
        }
    }
}

impl Body<'_, '_> {
    /// Notes before a statement is lowered whether it may create threads.
    pub(in super::super) fn watch_creation(&mut self, stmt: &Stmt) {
        if self.low.checks.race.is_alone && !matches!(stmt.kind, StmtKind::Block(_)) {
            let (unit, creators) = (self.unit, &self.low.checks.race.creators);
            let may_create = any_expr(unit, stmt, &mut |expr| creates(unit, expr, creators));
            self.low.checks.race.is_alone = !may_create;
        }
    }

    /// Makes accesses that are atomic if a condition holds.
    pub(in super::super) fn atomically<T>(&mut self, is_atomic: bool, access: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.low.checks.race.is_atomic, is_atomic);
        let made = access(self);
        self.low.checks.race.is_atomic = before;
        made
    }

    /// Checks that no other thread is about to access the same cell, and lets the thread stop before a plain access.
    pub(in super::super) fn check_race(&mut self, access: &Access, is_write: bool) {
        let (race, checks) = (self.low.checks.race.var, &self.low.checks);
        let Some(race) = race.filter(|_| !checks.race.is_alone && !checks.in_annotation) else { return };
        let cells = match access {
            Access::Known(cell) => vec![(Ir::TRUE, *cell)],
            Access::Candidates(candidates) => candidates.clone(),
        };
        let mut numbered = Vec::new();
        let mut names = Vec::new();
        for (condition, cell) in cells {
            if let Some(number) = self.low.race_number(cell.var) {
                numbered.push((condition, number));
                names.push(self.low.program.vars[cell.var].name.clone());
            }
        }
        if numbered.is_empty() {
            return;
        }
        if numbered.iter().any(|(_, number)| *number == 0) {
            let what = "a question about data races with more parts of objects than are supported is".to_owned();
            return self.low.report(super::super::Refused { what, loc: super::super::Loc::new(self.span) });
        }
        let what = if names.len() <= 3 {
            format!("`{}`", names.join("` or `"))
        } else {
            "what a pointer or index leads to".to_owned()
        };
        let verb = if is_write { "write" } else { "read" };
        if !self.low.checks.race.is_atomic && (is_write || self.low.checks.race.reads_stop) {
            self.may_stop(race, &numbered, is_write, format!("is about to {verb} {what}"));
        }
        let is_named = |(condition, number): &(Ir, u16)| {
            let mark = |bit: i128| Ir::binary(IrOp::Eq, Ir::Var(race), MARK.constant(2 * i128::from(*number) + bit));
            let also_read = is_write && self.low.checks.race.reads_stop;
            Ir::and(condition.clone(), if also_read { Ir::or(mark(0), mark(1)) } else { mark(1) })
        };
        let is_race = any(numbered.iter().map(is_named).collect());
        let done = if is_write { "written" } else { "read" };
        self.check(selvedge_ir::simplify::not(is_race), format!("data race on {what}, {done} here"));
    }

    /// Adds a step after which the thread makes no other.
    fn may_stop(&mut self, race: VarId, numbered: &[(Ir, u16)], is_write: bool, note: String) {
        let mut mark = MARK.constant(0);
        for (condition, number) in numbered.iter().rev() {
            let own = MARK.constant(2 * i128::from(*number) + i128::from(is_write));
            mark = if *condition == Ir::TRUE { own } else { Ir::Ite(Box::new((condition.clone(), own, mark))) };
        }
        let is_free = Ir::binary(IrOp::Eq, Ir::Var(race), MARK.constant(0));
        let valid = any(numbered.iter().map(|(condition, _)| condition.clone()).collect());
        let end = self.new_loc();
        self.note(note);
        self.low.edge(
            self.at,
            end,
            Op::guarded(vec![(race, mark)], Ir::and(is_free, valid)),
            self.span,
            Role::Statement,
        );
    }
}
