//! The lives of objects that end with their block, or with the call of their function.
//!
//! A block makes its objects anew each time that it is entered, at its beginning or by a jump to a label inside. What
//! is noted about an object is whether it is alive. That is not enough for a block that is entered more than once: a
//! pointer to the object of an earlier time would look like one to that of now. Therefore such an object has a second
//! address. At most once in an execution, at any time that its block is entered, the object gets the second address
//! rather than the first, and after that time nothing at the second address is alive any more. *Correctness*: a pointer
//! that is used after its object has ended is found in the execution in which this object has the second address; and
//! whatever is at an address that is not alive has ended.

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_ir::simplify::not;
use selvedge_ir::{Expr as Ir, Op, Scope, Ty, VarId};

use super::super::super::property::Property;
use super::super::super::tree::{Expr, ExprKind, FunctionId, LabelId, ObjectId, Stmt, StmtKind, Storage, Unit};
use super::super::body::Body;
use super::super::objects::Cell;
use super::super::place::{Access, any};
use super::super::syntax::{exprs, inner};
use super::super::{Lowering, Values};

/// What is noted about the life of an object.
#[derive(Clone, Copy, Debug)]
struct Life {
    /// Whether there is an object at the first address.
    alive: VarId,
    second: Option<Second>,
}

/// What is noted about the second address of an object.
#[derive(Clone, Copy, Debug)]
struct Second {
    /// Whether there is an object there, and whether there has been one.
    alive: VarId,
    used: VarId,
    /// Whether it is the address of the object of this frame.
    is_mine: VarId,
}

#[derive(Default)]
pub(super) struct Lives {
    objects: FxHashMap<ObjectId, Life>,
}

impl Lives {
    /// Returns the initial values: nothing has begun to live.
    pub(super) fn initial_values(&self) -> Values {
        let shared =
            |life: &Life| [Some(life.alive), life.second.map(|two| two.alive), life.second.map(|two| two.used)];
        self.objects.values().flat_map(shared).flatten().map(|var| (var, Ir::FALSE)).collect()
    }
}

/// A block, or a statement that counts as one, with the objects whose lives are noted.
#[derive(Debug)]
pub(in super::super) struct Block {
    key: usize,
    objects: Vec<ObjectId>,
}

/// Returns a number for a statement: its place in memory, since the tree does not move.
fn key(stmt: &Stmt) -> usize {
    std::ptr::from_ref(stmt) as usize
}

impl Lowering<'_> {
    /// Declares what is noted about the lives of objects whose addresses are taken.
    pub(in super::super) fn prepare_memory(&mut self) {
        if !self.checks.asked.has(Property::Memory) {
            return;
        }
        for object in self.facts.taken.clone() {
            let declared = &self.unit.objects[object];
            let local = matches!(declared.storage, Storage::Auto | Storage::Param);
            let Some(function) = declared.function.filter(|_| local) else { continue };
            let alive = self.note_about("alive", object, Scope::Shared);
            let second = self.is_made_again(object, function).then(|| {
                let alive = self.note_about("alive again", object, Scope::Shared);
                let used = self.note_about("used", object, Scope::Shared);
                let is_mine = self.note_about("second", object, Scope::Local(self.procs[&function]));
                Second { alive, used, is_mine }
            });
            if second.is_some() {
                self.second_address(object);
            }
            self.checks.lives.objects.insert(object, Life { alive, second });
        }
    }

    fn note_about(&mut self, what: &str, object: ObjectId, scope: Scope) -> VarId {
        let declared = &self.unit.objects[object];
        let (name, span) = (format!("{what}({})", self.unit.name(declared.name)), declared.loc.span);
        let var = self.new_var(name, scope, Ty::Bool, span);
        self.hide([var]);
        var
    }

    /// Returns whether an object of a function may be made more than once in an execution.
    fn is_made_again(&self, object: ObjectId, function: FunctionId) -> bool {
        let body = self.unit.functions[function].body.as_ref();
        let is_once = body.is_some_and(|body| {
            let mut again = FxHashSet::default();
            made_in_loops(self.unit, &body.block, false, &mut again);
            body.labels.is_empty() && !again.contains(&object)
        });
        !(is_once && self.facts.once.contains(&function))
    }

    /// Returns the object that a cell, or a state of a lock, belongs to.
    fn owner(&self, cell: VarId) -> Option<ObjectId> {
        let of = |(_, cells): &(&ObjectId, &Vec<Cell>)| cells.iter().any(|known| known.var == cell);
        let of_lock = || self.sync.iter().find(|(_, known)| known.var == cell).map(|((object, ..), _)| *object);
        self.cells.iter().find(of).map(|(object, _)| *object).or_else(of_lock)
    }
}

/// Adds the objects that are declared, or made by compound literals, in loops.
fn made_in_loops(unit: &Unit, stmt: &Stmt, is_inside: bool, found: &mut FxHashSet<ObjectId>) {
    let is_loop = matches!(stmt.kind, StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::For { .. });
    let is_inside = is_inside || is_loop;
    if is_inside {
        found.extend(made_by(unit, stmt));
    }
    for block in blocks_in(unit, stmt) {
        made_in_loops(unit, block, is_inside, found);
    }
    inner(stmt).into_iter().for_each(|stmt| made_in_loops(unit, stmt, is_inside, found));
}

/// Returns the objects that a statement itself makes, without the statements in it.
fn made_by(unit: &Unit, stmt: &Stmt) -> Vec<ObjectId> {
    let mut found = Vec::new();
    if let StmtKind::Declare(object) = &stmt.kind {
        found.push(*object);
        init_exprs(unit, *object).for_each(|expr| literals(unit, expr, &mut found));
    }
    exprs(stmt).into_iter().for_each(|expr| literals(unit, expr, &mut found));
    found
}

fn init_exprs(unit: &Unit, object: ObjectId) -> impl Iterator<Item = &Expr> {
    unit.objects[object].init.iter().flat_map(|init| &init.items).map(|item| &item.value)
}

fn literals(unit: &Unit, expr: &Expr, found: &mut Vec<ObjectId>) {
    if let ExprKind::CompoundLiteral(object) = expr.kind {
        found.push(object);
        init_exprs(unit, object).for_each(|expr| literals(unit, expr, found));
    }
    expr.kind.operands().into_iter().for_each(|operand| literals(unit, operand, found));
}

/// Returns the blocks in the expressions of a statement.
fn blocks_in<'u>(unit: &'u Unit, stmt: &'u Stmt) -> Vec<&'u Stmt> {
    let mut found = Vec::new();
    if let StmtKind::Declare(object) = &stmt.kind {
        init_exprs(unit, *object).for_each(|expr| add_blocks(unit, expr, &mut found));
    }
    exprs(stmt).into_iter().for_each(|expr| add_blocks(unit, expr, &mut found));
    found
}

fn add_blocks<'u>(unit: &'u Unit, expr: &'u Expr, found: &mut Vec<&'u Stmt>) {
    match &expr.kind {
        ExprKind::Statements(block) => found.push(block),
        ExprKind::CompoundLiteral(object) => {
            init_exprs(unit, *object).for_each(|expr| add_blocks(unit, expr, found));
        }
        _ => expr.kind.operands().into_iter().for_each(|operand| add_blocks(unit, operand, found)),
    }
}

/// Returns whether a statement is no block and has none of its own.
fn is_simple(stmt: &Stmt) -> bool {
    !matches!(stmt.kind, StmtKind::Block(_)) && inner(stmt).is_empty()
}

/// Returns the objects that end with a statement: those of the statements directly in a block, and of the expressions
/// of other statements.
fn objects_of(unit: &Unit, stmt: &Stmt) -> Vec<ObjectId> {
    match &stmt.kind {
        StmtKind::Block(stmts) => stmts.iter().filter(|stmt| is_simple(stmt)).flat_map(|s| made_by(unit, s)).collect(),
        StmtKind::For { first, .. } => {
            let mut found = made_by(unit, stmt);
            found.extend(first.iter().flat_map(|first| made_by(unit, first)));
            found
        }
        _ => made_by(unit, stmt),
    }
}

/// Notes the blocks around each label.
fn find_labels(unit: &Unit, stmt: &Stmt, around: &mut Vec<usize>, found: &mut FxHashMap<LabelId, Vec<usize>>) {
    around.push(key(stmt));
    if let StmtKind::Label(label) = &stmt.kind {
        found.insert(*label, around.clone());
    }
    for block in blocks_in(unit, stmt) {
        find_labels(unit, block, around, found);
    }
    inner(stmt).into_iter().for_each(|stmt| find_labels(unit, stmt, around, found));
    around.pop();
}

impl Body<'_, '_> {
    /// Returns whether it is noted which objects are alive.
    pub(in super::super) fn has_lives(&self) -> bool {
        !self.low.checks.lives.objects.is_empty()
    }

    /// Notes the blocks around the labels of the function.
    pub(in super::super) fn begin_function(&mut self, block: &Stmt) {
        if self.has_lives() {
            find_labels(self.unit, block, &mut Vec::new(), &mut self.around_labels);
        }
    }

    /// Enters a statement that may be a block: the objects of the block begin to live.
    pub(in super::super) fn open(&mut self, stmt: &Stmt, is_in_block: bool) {
        if !self.has_lives() || is_simple(stmt) && is_in_block {
            return;
        }
        let mut objects = objects_of(self.unit, stmt);
        objects.retain(|object| self.low.checks.lives.objects.contains_key(object));
        objects.iter().for_each(|object| self.begin_life(*object));
        self.blocks.push(Block { key: key(stmt), objects });
    }

    /// Leaves the blocks from some depth on at their end.
    pub(in super::super) fn close(&mut self, depth: usize) {
        // The outermost block ends with the function.
        if depth > 0 {
            self.leave_blocks(depth);
        }
        self.blocks.truncate(depth);
    }

    /// Notes that the objects of the blocks from some depth on end, where a jump leaves these blocks.
    pub(in super::super) fn leave_blocks(&mut self, depth: usize) {
        let blocks = self.blocks.get(depth..).unwrap_or_default();
        let ended: Vec<ObjectId> = blocks.iter().flat_map(|block| &block.objects).copied().collect();
        self.end_objects(&ended);
    }

    /// Notes that the objects of the blocks end that a jump to a label leaves.
    pub(in super::super) fn leave_for(&mut self, label: LabelId) {
        let around = self.around_labels.get(&label).map_or(&[][..], Vec::as_slice);
        let is_around = |block: &Block| around.contains(&block.key);
        let depth = self.blocks.iter().take_while(|block| is_around(block)).count();
        self.leave_blocks(depth);
    }

    /// Notes at a label that the objects of the blocks around it live: jumps may have come from outside.
    pub(in super::super) fn arrive_in_blocks(&mut self) {
        let objects: Vec<ObjectId> = self.blocks.iter().flat_map(|block| &block.objects).copied().collect();
        for object in objects {
            let Some(life) = self.low.checks.lives.objects.get(&object).copied() else { continue };
            let old = Ir::or(Ir::Var(life.alive), life.second.map_or(Ir::FALSE, |second| Ir::Var(second.alive)));
            let keep = |(var, new): (VarId, Ir)| (var, Ir::Ite(Box::new((old.clone(), Ir::Var(var), new))));
            self.step(Op::set(born(life).into_iter().map(keep).collect()));
        }
    }

    /// Notes that an object begins to live.
    pub(in super::super) fn begin_life(&mut self, object: ObjectId) {
        if let Some(life) = self.low.checks.lives.objects.get(&object).copied() {
            self.step(Op::set(born(life)));
        }
    }

    /// Notes that the objects of the function end.
    pub(in super::super) fn end_lives(&mut self) {
        let of_function = |object: &ObjectId| self.unit.objects[*object].function == Some(self.function);
        let mut ended: Vec<ObjectId> = self.low.checks.lives.objects.keys().copied().filter(of_function).collect();
        ended.sort_unstable();
        self.end_objects(&ended);
    }

    fn end_objects(&mut self, objects: &[ObjectId]) {
        let lives = &self.low.checks.lives.objects;
        let vars = |life: &Life| [Some(life.alive), life.second.map(|second| second.alive)];
        let ended: Vec<VarId> =
            objects.iter().filter_map(|object| lives.get(object)).flat_map(vars).flatten().collect();
        if !ended.is_empty() {
            self.step(Op::set(ended.into_iter().map(|var| (var, Ir::FALSE)).collect()));
        }
    }

    /// Checks that the object that is accessed has not ended.
    pub(in super::super) fn check_alive(&mut self, access: &Access) {
        let Access::Candidates(candidates) = access else { return };
        if !self.has_lives() || self.low.checks.in_annotation {
            return;
        }
        let mut dead = Vec::new();
        for (condition, cell) in candidates {
            // An object that is named is alive.
            let Some(is_second) = cell.second else { continue };
            let owner = self.low.owner(cell.var);
            if let Some(life) = owner.and_then(|object| self.low.checks.lives.objects.get(&object)) {
                let second = life.second.filter(|_| is_second);
                let alive = second.map_or(life.alive, |second| second.alive);
                dead.push(Ir::and(condition.clone(), not(Ir::Var(alive))));
            }
        }
        if !dead.is_empty() {
            self.check(not(any(dead)), "the pointer leads to an object that has ended with its block or function");
        }
    }

    /// Returns the address of the object of this frame that is some bytes behind the beginning.
    pub(in super::super) fn own_address(&mut self, object: ObjectId, offset: u64) -> Ir {
        let ty = self.low.pointer_ty();
        let first = ty.constant(i128::from(self.low.address(object) + offset));
        let life = self.low.checks.lives.objects.get(&object);
        match (life.and_then(|life| life.second), self.low.addresses.second.get(&object)) {
            (Some(Second { is_mine, .. }), Some(second)) => {
                let second = ty.constant(i128::from(second + offset));
                Ir::Ite(Box::new((Ir::Var(is_mine), second, first)))
            }
            _ => first,
        }
    }
}

/// Returns what is assigned when an object begins to live.
fn born(life: Life) -> Vec<(VarId, Ir)> {
    let Some(Second { alive, used, is_mine }) = life.second else { return vec![(life.alive, Ir::TRUE)] };
    let is_second = Ir::and(not(Ir::Var(used)), Ir::Choice(0, Ty::Bool));
    let is_used = Ir::or(Ir::Var(used), Ir::Choice(0, Ty::Bool));
    vec![(life.alive, not(is_second.clone())), (alive, is_second.clone()), (is_mine, is_second), (used, is_used)]
}
