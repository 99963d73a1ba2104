//! Atomic sections that a shared variable `atomic` marks, in the dialect of Getafix: while it is true, no other thread
//! runs.
//!
//! The representation has a flag with a holder for this. Invariant, at every location of a statement: a thread holds
//! the flag if and only if `atomic` is true. So each step that may change `atomic` becomes three steps that no other
//! thread interrupts: the thread takes the flag, makes the step, and gives the flag back if `atomic` is false now.
//! Nothing is lost and nothing is added:
//!
//! - Between taking and giving back only this thread runs, so the other threads see the step alone.
//! - A step that is not possible (its constraint does not hold) must not stop the other threads. So where `atomic` is
//!   false, the thread can also give the flag back without the step. Where it is true, the other threads have to wait
//!   in any case.
//! - The results of a call are assigned by the step that returns from it. So a procedure whose results may go to
//!   `atomic` takes the flag before it returns, and all its callers look at `atomic` afterwards.
//! - A thread that ends releases the flag, but if `atomic` is true then, no other thread may run. So a thread ends only
//!   while `atomic` is false, and otherwise waits forever. This holds for `init` as well: threads start while `atomic`
//!   is false.
//!   The statements of `init` itself need no flag: no other thread exists, and its end releases what its callees took.
//! - Without `init`, `atomic` may be true at the start. The first thread that runs is then the only one, so each
//!   initial thread begins with a step that takes the flag.
//!
//! Statements `atomic_begin` and `atomic_end` use the same flag, so they are rejected beside such a variable. So is a
//! procedure that is both called and the first one of a thread, since only one of the two ends waits.

use rustc_hash::FxHashSet;
use selvedge_ir::span::{Origin, Role};
use selvedge_ir::{Assign, Expr, LocId, Op, ProcId, Scope, VarId};

use super::body::{Body, inner_blocks};
use super::{Lowering, View};
use crate::bp::Dialect;
use crate::bp::ast::{Name, StartThread, Stmt, StmtKind, Symbol, Target};
use crate::bp::resolve::Unit;
use crate::diagnostic::{Code, Diagnostic};

/// The variable that marks atomic sections, and the procedures to which it matters.
pub(super) struct Sections {
    var: VarId,
    /// The procedures with which threads begin; `init` is one.
    firsts: FxHashSet<ProcId>,
    /// The procedures whose results are assigned to the variable somewhere.
    resulting: FxHashSet<ProcId>,
    /// True if the variable may be true when the initial threads start.
    may_start_inside: bool,
}

/// A use of a procedure.
enum Use {
    Thread(Name),
    Call { callee: Name, assigns: bool },
}

impl Lowering<'_> {
    /// Looks for a variable that marks atomic sections, and for the procedures to which it matters.
    pub(super) fn find_sections(&mut self) {
        let symbol = self.tables.file.names.iter().find(|symbol| self.text(*symbol) == "atomic");
        let Some((symbol, var)) = symbol.and_then(|symbol| Some((symbol, *self.tables.vars.get(&symbol)?))) else {
            return;
        };
        if self.dialect != Dialect::Getafix || self.scope(var) != Scope::Shared {
            return;
        }
        let help =
            "Getafix marks atomic sections in this way; with `--dialect selvedge`, `atomic` is an ordinary variable";
        let message = "while `atomic` is true, no other thread runs";
        self.report(Diagnostic::new(Code::AtomicVariable, message, self.found.map.vars[var]).help(help));

        let program = &self.found.program;
        let starts_outside = program.prelude.is_some() || program.init.contains(&(var, Expr::FALSE));
        let mut firsts: FxHashSet<ProcId> = self.entry_procs.iter().copied().chain(program.prelude).collect();
        let (mut called, mut resulting) = (FxHashSet::default(), FxHashSet::default());
        for unit in &self.tables.units {
            let view = View { process: unit.process, ..View::default() };
            for used in uses(*unit, symbol, |label| self.text(label).starts_with("ASYNC_")) {
                let (Use::Thread(name) | Use::Call { callee: name, .. }) = used;
                let Some(proc) = self.find_procedure(&view, name.symbol) else { continue };
                match used {
                    Use::Thread(_) => drop(firsts.insert(proc)),
                    Use::Call { assigns, .. } => {
                        called.insert(proc);
                        resulting.extend(assigns.then_some(proc));
                    }
                }
            }
        }
        let mut both: Vec<ProcId> = firsts.intersection(&called).copied().collect();
        both.sort_unstable();
        for proc in both {
            let unit = self.tables.units[proc];
            let message =
                format!("a thread begins with `{}`, which is also called, beside a variable `atomic`", unit.name);
            let help = "call another procedure from both places";
            self.report(Diagnostic::new(Code::Unsupported, message, unit.header).help(help));
        }
        self.sections = Some(Sections { var, firsts, resulting, may_start_inside: !starts_outside });
    }
}

/// Returns the procedures that a procedure uses. `symbol` is the name of the variable, unless a local hides it.
fn uses(unit: Unit<'_>, symbol: Symbol, starts_thread: impl Fn(Symbol) -> bool) -> Vec<Use> {
    let is_local = is_declared(unit, symbol);
    let assigns = |target: &Target| !is_local && matches!(target, Target::Var(name) if name.symbol == symbol);
    let mut uses = Vec::new();
    let mut stmts: Vec<&Stmt> = unit.body.stmts.iter().collect();
    while let Some(stmt) = stmts.pop() {
        match &stmt.kind {
            StmtKind::Call(call) if stmt.labels.iter().any(|label| starts_thread(label.symbol)) => {
                uses.push(Use::Thread(call.callee));
            }
            StmtKind::Call(call) => {
                uses.push(Use::Call { callee: call.callee, assigns: call.targets.iter().any(assigns) });
            }
            StmtKind::StartThread(start) => match **start {
                StartThread::Name(callee) | StartThread::Call { callee, .. } => uses.push(Use::Thread(callee)),
                StartThread::Goto(_) => {}
            },
            _ => {}
        }
        stmts.extend(inner_blocks(stmt).into_iter().flatten());
    }
    uses
}

fn is_declared(unit: Unit<'_>, symbol: Symbol) -> bool {
    let in_body = unit.body.stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Decl(decl) => Some(&**decl),
        _ => None,
    });
    let mut declared = unit.body.outer.iter().chain(in_body).flat_map(|decl| &decl.vars);
    unit.params.iter().any(|param| param.name.symbol == symbol) || declared.any(|var| var.name.symbol == symbol)
}

impl Body<'_, '_> {
    /// Adds an assignment, in a section of its own if it may change the variable that marks sections.
    pub(super) fn update(&mut self, from: LocId, to: LocId, assign: Assign, n_choices: u32, origin: Origin) {
        let sections = self.low.sections.as_ref().filter(|_| !self.view.is_prelude);
        let marker = sections.map(|sections| sections.var);
        let written = assign.active.iter().find(|(var, _)| Some(*var) == marker);
        let Some((var, value)) = written.filter(|(var, value)| *value != Expr::Var(*var)).cloned() else {
            return self.step(from, to, Op::Assign(assign), n_choices, origin);
        };
        let may_block = assign.constrain != Expr::TRUE || self.enforce.is_some();
        let inside = match value {
            // The thread holds the flag already, or does not need it.
            Expr::FALSE => from,
            _ => self.enter_section(var, from, may_block, origin),
        };
        let after = match value {
            Expr::TRUE => to,
            Expr::FALSE => {
                let after = self.new_loc();
                self.section_edge(after, to, Op::AtomicEnd, origin);
                after
            }
            _ => self.leave_section(var, to, origin),
        };
        self.step(inside, after, Op::Assign(assign), n_choices, origin);
    }

    /// Lowers `atomic_begin` and `atomic_end`.
    pub(super) fn atomic(&mut self, op: Op, from: LocId, to: LocId, origin: Origin) {
        if let Some(sections) = &self.low.sections {
            let message = "atomic sections of both kinds: this statement, and a variable `atomic`";
            let diagnostic = Diagnostic::new(Code::Unsupported, message, origin.span)
                .also(self.low.found.map.vars[sections.var], "while it is true, no other thread runs")
                .help("use one of them; with `--dialect selvedge`, `atomic` is an ordinary variable");
            return self.low.report(diagnostic);
        }
        self.step(from, to, op, 0, origin);
    }

    /// Returns the place from which the procedure returns.
    pub(super) fn before_return(&mut self, from: LocId, origin: Origin) -> LocId {
        let Some(sections) = &self.low.sections else { return from };
        let (is_first, is_resulting) = (sections.firsts.contains(&self.proc), sections.resulting.contains(&self.proc));
        match (is_first, is_resulting) {
            (true, _) => self.before_end(from, origin),
            (false, true) => {
                let last = self.new_loc();
                self.section_edge(from, last, Op::AtomicBegin, origin);
                last
            }
            (false, false) => from,
        }
    }

    /// Returns the place from which the thread ends: it is reached outside sections only.
    pub(super) fn before_end(&mut self, from: LocId, origin: Origin) -> LocId {
        let Some(var) = self.low.sections.as_ref().map(|sections| sections.var) else { return from };
        let last = self.new_loc();
        self.section_edge(from, last, Op::assume(Expr::negate(Expr::Var(var))), origin);
        last
    }

    /// Returns the place where a call returns to, from which control goes to `to`.
    pub(super) fn after_call(&mut self, callee: ProcId, to: LocId, origin: Origin) -> LocId {
        let sections = self.low.sections.as_ref().filter(|sections| sections.resulting.contains(&callee));
        let Some(var) = sections.map(|sections| sections.var) else { return to };
        self.leave_section(var, to, origin)
    }

    /// Returns the place where a thread that runs the procedure begins, from which control goes to `to`.
    pub(super) fn before_thread(&mut self, to: LocId) -> LocId {
        let is_initial = self.low.entry_procs.contains(&self.proc);
        let sections = self.low.sections.as_ref().filter(|sections| is_initial && sections.may_start_inside);
        let Some(var) = sections.map(|sections| sections.var) else { return to };
        let origin = Origin { span: self.unit.header, role: Role::Section };
        let inside = self.leave_section(var, to, origin);
        let entry = self.new_loc();
        self.section_edge(entry, inside, Op::AtomicBegin, origin);
        entry
    }

    /// Takes the flag; returns the place with it. If the step from there may be impossible, control can go back.
    fn enter_section(&mut self, var: VarId, from: LocId, may_block: bool, origin: Origin) -> LocId {
        let inside = self.new_loc();
        self.section_edge(from, inside, Op::AtomicBegin, origin);
        if may_block {
            self.release(var, inside, from, origin);
        }
        inside
    }

    /// Returns a place from which control goes to `to`, with the flag if and only if the variable is true.
    fn leave_section(&mut self, var: VarId, to: LocId, origin: Origin) -> LocId {
        let after = self.new_loc();
        self.section_edge(after, to, Op::assume(Expr::Var(var)), origin);
        self.release(var, after, to, origin);
        after
    }

    /// Gives the flag back if the variable is false.
    fn release(&mut self, var: VarId, from: LocId, to: LocId, origin: Origin) {
        let outside = self.new_loc();
        self.section_edge(from, outside, Op::assume(Expr::negate(Expr::Var(var))), origin);
        self.section_edge(outside, to, Op::AtomicEnd, origin);
    }

    fn section_edge(&mut self, from: LocId, to: LocId, op: Op, origin: Origin) {
        self.edge(from, to, op, Origin { role: Role::Section, ..origin });
    }
}
