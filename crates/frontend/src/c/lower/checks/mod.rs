//! The checks that properties ask for. Each is an assertion before the step that it is about, with a note that says
//! what failed. A check computes with the values that the step uses: where an expression has checks, its shared cells
//! are read by steps of their own (`Body::is_checked`).

mod lives;
mod memory;
mod misuse;
mod overflow;
mod race;

use std::collections::BTreeMap;

use selvedge_ir::span::Role;
use selvedge_ir::{EdgeId, Expr as Ir, LocId, Op};

use super::super::property::{Properties, Property};
use super::super::tree::{Builtin, Expr, ExprKind, FunctionId, Stmt};
use super::body::Body;
use super::{Code, Loc, Lowered, Lowering, Values};
pub(super) use lives::Block;

/// The number of the memory order `memory_order_seq_cst`.
const SEQ_CST: i128 = 5;

/// What checks need to know beside the program.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) asked: Properties,
    /// What edges say besides their text.
    pub(super) notes: BTreeMap<EdgeId, String>,
    race: race::Race,
    misuse: misuse::Misuse,
    lives: lives::Lives,
    /// Set while an annotation is evaluated: it reads one state and is no access.
    pub(super) in_annotation: bool,
}

impl Checks {
    /// Returns the checks for some properties.
    pub(super) fn new(asked: Properties) -> Checks {
        Checks { asked, ..Checks::default() }
    }

    /// Returns the initial values of what the checks have added.
    pub(super) fn initial_values(&self) -> Values {
        let lives = self.lives.initial_values().into_iter();
        lives.chain(self.race.initial_values()).chain(self.misuse.initial_values()).collect()
    }
}

impl Lowering<'_> {
    /// Adds a warning or a note, once for each code.
    fn tell(&mut self, code: Code, message: &str, loc: Loc) {
        if self.diagnostics.iter().all(|known| known.code != code) {
            self.diagnostics.push(self.unit.expansions.diagnostic(code, message, loc));
        }
    }
}

impl Body<'_, '_> {
    /// Returns whether a property is asked about.
    pub(super) fn asks(&self, property: Property) -> bool {
        self.low.checks.asked.has(property)
    }

    /// Adds a note to the step that is added next.
    fn note(&mut self, text: String) {
        self.low.checks.notes.insert(self.low.program.edges.next_idx(), text);
    }

    /// Adds an error where a condition does not hold; the note says what is wrong there.
    pub(super) fn check(&mut self, holds: Ir, note: impl Into<String>) {
        if holds != Ir::TRUE {
            // The step that follows happens at the same place.
            let site = self.site;
            self.note(note.into());
            self.step(Op::Assert(holds));
            self.site = site;
        }
    }

    /// Adds an assertion of the program: an error if it is asked about, else the execution ends where it fails.
    pub(super) fn claim(&mut self, holds: Ir) {
        if self.asks(Property::Assertions) {
            self.step(Op::Assert(holds));
        } else {
            self.require(holds);
        }
    }

    /// Ends the execution where a condition does not hold.
    pub(super) fn require(&mut self, holds: Ir) {
        if self.asks(Property::Deadlock) {
            let (passes, fails) = (self.new_loc(), self.new_loc());
            self.fork(holds, passes, fails);
            self.dead_end(fails);
            self.at = passes;
        } else {
            self.step(Op::assume(holds));
        }
    }

    /// Notes that the program has ended at a location: where deadlocks are asked about, it must not look like one.
    pub(super) fn dead_end(&mut self, at: LocId) {
        if self.asks(Property::Deadlock) {
            self.low.edge(at, at, Op::skip(), self.span, Role::Statement);
        }
    }

    /// Evaluates the memory orders of an atomic operation, and says once that weaker ones are read as sequentially
    /// consistent.
    pub(super) fn orders(&mut self, builtin: Builtin, args: &[Expr]) -> Lowered<()> {
        let n_operands = match builtin {
            Builtin::ThreadFence => 0,
            Builtin::AtomicLoad | Builtin::AtomicTestAndSet | Builtin::AtomicClear => 1,
            Builtin::AtomicStore | Builtin::AtomicExchange | Builtin::AtomicFetch { .. } => 2,
            Builtin::AtomicLoadInto | Builtin::AtomicStoreFrom => 2,
            Builtin::AtomicExchangeInto => 3,
            Builtin::AtomicCompareExchange | Builtin::AtomicCompareExchangeFrom => 4,
            _ => return Ok(()),
        };
        for order in args.iter().skip(n_operands) {
            let known = self.unit.integer(order);
            if known != Some(SEQ_CST) {
                let message = "this memory order is read as sequentially consistent";
                self.low.tell(Code::CMemoryOrder, message, order.loc);
            }
            if known.is_none() {
                self.effects(order)?;
            }
        }
        Ok(())
    }

    /// Adds an annotation `assert`: it reads one state, so that all shared cells are read by one step.
    pub(super) fn annotation(&mut self, condition: &Expr) -> Lowered<()> {
        if !self.asks(Property::Assertions) {
            return Ok(());
        }
        if super::expr::has_effects(condition) {
            return super::refuse("an annotation with side effects is", condition.loc);
        }
        let before = (self.inline, self.low.checks.in_annotation);
        (self.inline, self.low.checks.in_annotation) = (true, true);
        let holds = self.truth(condition);
        (self.inline, self.low.checks.in_annotation) = before;
        self.check(holds?, "an annotation does not hold");
        Ok(())
    }

    /// Returns whether an operation needs a check, which must not read shared cells a second time.
    pub(super) fn is_checked(&self, expr: &Expr) -> bool {
        !self.low.checks.in_annotation && self.asks(Property::NoOverflow) && self.may_overflow(expr)
    }

    /// Returns whether it matters that operands behind the first one may not be evaluated: reading is checked.
    pub(super) fn is_late(&self, expr: &Expr) -> bool {
        let is_lazy = matches!(expr.kind, ExprKind::Logical { .. } | ExprKind::Conditional { .. });
        is_lazy && self.asks(Property::NoDataRace) && !self.low.checks.in_annotation
    }
}

/// Returns whether some expression of a statement, or of those in it, passes a test.
pub(super) fn any_expr(unit: &super::Unit, stmt: &Stmt, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    use super::super::tree::StmtKind;
    let mut found = super::syntax::exprs(stmt).into_iter().any(|expr| any_in(unit, expr, test));
    if let StmtKind::Declare(object) = &stmt.kind {
        let items = unit.objects[*object].init.iter().flat_map(|init| &init.items);
        found |= items.into_iter().any(|item| any_in(unit, &item.value, test));
    }
    found || super::syntax::inner(stmt).into_iter().any(|stmt| any_expr(unit, stmt, test))
}

fn any_in(unit: &super::Unit, expr: &Expr, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let inside = match &expr.kind {
        ExprKind::Statements(block) => any_expr(unit, block, test),
        ExprKind::CompoundLiteral(object) => {
            let items = unit.objects[*object].init.iter().flat_map(|init| &init.items);
            items.into_iter().any(|item| any_in(unit, &item.value, test))
        }
        _ => false,
    };
    inside || test(expr) || expr.kind.operands().into_iter().any(|operand| any_in(unit, operand, test))
}

/// Returns whether some expression of a function passes a test.
fn any_of_function(unit: &super::Unit, function: FunctionId, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    unit.functions[function].body.as_ref().is_some_and(|body| any_expr(unit, &body.block, test))
}
