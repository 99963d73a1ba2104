//! Lowering of procedures: variables, labels, entry and end.
//!
//! Every statement has its own location, even if it does nothing, since labels refer to it. The locations of the
//! statements of a block are consecutive; those of the branches of one statement are reserved before the contents of
//! the branches. [`Body::number`] and [`Body::block`](super::stmt) traverse the tree in this order, so labels are known
//! before the first jump is lowered.

use rustc_hash::FxHashMap;
use selvedge_ir::simplify::{and, not};
use selvedge_ir::span::{Origin, Role, Span, View as Shown};
use selvedge_ir::{Assign, Edge, Expr, Label, Loc, LocId, Op, ProcId, Scope, Var, VarId};

use super::enforce::Enforce;
use super::initial::Initial;
use super::number::Check;
use super::stmt::Flow;
use super::{Lowering, Shape, View};
use crate::bp::LoadOptions;
use crate::bp::ast::{self, Block, Decl, DeclKind, Length, Name, Range, Stmt, StmtKind, Symbol};
use crate::bp::resolve::Unit;
use crate::diagnostic::{Code, Diagnostic};

/// A procedure while it is being lowered.
pub(super) struct Body<'l, 'a> {
    pub(super) low: &'l mut Lowering<'a>,
    pub(super) view: View,
    pub(super) proc: ProcId,
    pub(super) unit: Unit<'a>,
    pub(super) labels: FxHashMap<Symbol, LabelUse>,
    /// The first location that is not reserved for a block yet.
    pub(super) next: LocId,
    pub(super) enforce: Option<Enforce>,
    /// True if initial threads start here; their return values are discarded.
    pub(super) is_entry: bool,
}

/// A label of the procedure.
pub(super) struct LabelUse {
    pub(super) loc: LocId,
    pub(super) span: Span,
    pub(super) is_used: bool,
}

impl Lowering<'_> {
    /// Lowers one procedure.
    pub(super) fn body(&mut self, proc: ProcId, options: &LoadOptions) {
        if self.is_whole {
            self.unknown.clear();
        }
        let unit = self.tables.units[proc];
        let is_prelude = self.found.program.prelude == Some(proc);
        let view = View { process: unit.process, is_prelude, ..View::default() };
        let is_entry = unit.name == "main" || self.entry_procs.contains(&proc);
        let (labels, next) = (FxHashMap::default(), LocId::new(0));
        let mut body = Body { low: self, view, proc, unit, labels, next, enforce: None, is_entry };
        body.lower();
        body.finish_labels(options);
    }
}

impl<'a> Body<'_, 'a> {
    /// Lowers the procedure: variables, locations and labels, the entry of the body, the body, and its end.
    fn lower(&mut self) {
        let inits = self.declare_locals();
        self.enforce = self.read_enforce();
        let block = &self.unit.body.stmts;
        let first = self.reserve(block);
        let fall = self.new_loc();
        let exit = self.new_loc();
        self.procedure().exit = exit;
        let inside = if block.iter().any(is_step) { first } else { fall };
        let entry = self.way_in(inside, &inits);
        let entry = self.before_thread(entry);
        self.procedure().entry = entry;
        self.next = first + block.iter().filter(|stmt| is_step(stmt)).count();
        if self.block(block, first, fall) == Flow::Continues {
            self.way_out(fall);
        }
    }

    fn procedure(&mut self) -> &mut selvedge_ir::Proc {
        &mut self.low.found.program.procs[self.proc]
    }

    /// Declares parameters and locals; returns the locals with their initialisers.
    fn declare_locals(&mut self) -> Vec<(VarId, Option<&'a ast::Expr>)> {
        let unit = self.unit;
        let params: Vec<VarId> =
            unit.params.iter().map(|param| self.declare(param.name, (param.range, None))).collect();
        if let Some(param) = unit.params.iter().find(|param| self.is_entry && param.range.is_some()) {
            let message = "a number as a parameter of the procedure with which a run begins";
            let help = "call another procedure with the number";
            self.low.report(Diagnostic::new(Code::Unsupported, message, param.name.span).help(help));
        }
        for param in &params {
            self.low.used[*param] = true;
        }
        let mut locals = params.clone();
        let mut inits = Vec::new();
        for decl in &unit.body.outer {
            self.declare_list(decl, &mut locals, &mut inits);
        }
        let mut has_steps = false;
        for stmt in &unit.body.stmts {
            if let StmtKind::Decl(decl) = &stmt.kind {
                let n_inits = inits.len();
                self.declare_list(decl, &mut locals, &mut inits);
                if let Some(init) = inits[n_inits..].iter().find_map(|(_, init)| *init).filter(|_| has_steps) {
                    self.late_initialiser(init.span);
                }
            }
            has_steps |= is_step(stmt);
        }
        self.procedure().params = params;
        self.procedure().locals = locals;
        inits
    }

    fn declare(&mut self, name: Name, shape: (Option<Range>, Option<Length>)) -> VarId {
        let (low, scope) = (&mut *self.low, Scope::Local(self.proc));
        let var = low.found.declare(low.tables.file, name, shape, scope, &mut self.view.locals);
        low.used.resize(low.found.program.vars.len(), false);
        var
    }

    /// Declares variables. Numbers without an initial value get one, unless their type has no other values.
    fn declare_list(
        &mut self,
        decl: &'a Decl,
        locals: &mut Vec<VarId>,
        inits: &mut Vec<(VarId, Option<&'a ast::Expr>)>,
    ) {
        if decl.kind == DeclKind::ThreadLocal {
            let message = "`thread_local` inside a procedure";
            let help = "declare the variable outside the procedures, or as an ordinary local";
            self.low.report(Diagnostic::new(Code::MisplacedDeclaration, message, decl.span).help(help));
        }
        for declared in &decl.vars {
            let first = self.declare(declared.name, (declared.range, declared.length));
            let needs_value = declared.init.is_some() || !self.low.shape(first).is_full();
            for var in self.low.found.cells(first) {
                locals.push(var);
                inits.extend(needs_value.then_some((var, declared.init.as_ref())));
            }
        }
    }

    fn late_initialiser(&mut self, span: Span) {
        let message = "an initial value after the first statement";
        let help = "locals get their initial values when the procedure is entered; assign the value in a statement";
        self.low.report(Diagnostic::new(Code::LateInitialiser, message, span).help(help));
    }

    /// Reserves locations for all statements of the body and records the labels. Returns the first one.
    fn reserve(&mut self, block: &'a Block) -> LocId {
        let first = LocId::new(self.low.found.program.locs.len());
        self.next = first;
        let first_of_block = self.take(block);
        self.number(block, first_of_block);
        let missing = (self.next - first).index();
        self.low.found.program.locs.extend(std::iter::repeat_n(Loc { proc: self.proc }, missing));
        first
    }

    /// Takes the next reserved locations for the statements of a block.
    pub(super) fn take(&mut self, block: &Block) -> LocId {
        let first = self.next;
        self.next = first + block.iter().filter(|stmt| is_step(stmt)).count();
        first
    }

    /// Records the labels of a block whose first statement is at `first`.
    fn number(&mut self, block: &'a Block, first: LocId) {
        for (index, stmt) in block.iter().filter(|stmt| is_step(stmt)).enumerate() {
            for label in &stmt.labels {
                self.add_label(*label, first + index);
            }
            let inner = inner_blocks(stmt);
            let firsts: Vec<LocId> = inner.iter().map(|block| self.take(block)).collect();
            for (block, first) in inner.iter().zip(firsts) {
                self.number(block, first);
            }
        }
    }

    fn add_label(&mut self, label: Name, loc: LocId) {
        let name = self.low.text(label.symbol);
        if let Some(first) = self.labels.get(&label.symbol) {
            if first.loc == loc {
                return;
            }
            let diagnostic =
                Diagnostic::new(Code::DuplicateLabel, format!("the label `{name}` is defined twice"), label.span)
                    .label("defined again here")
                    .also(first.span, "first defined here");
            return self.low.report(diagnostic);
        }
        self.labels.insert(label.symbol, LabelUse { loc, span: label.span, is_used: false });
        self.low.found.program.labels.push(Label { name: name.to_owned(), loc });
    }

    pub(super) fn new_loc(&mut self) -> LocId {
        self.low.found.program.locs.push(Loc { proc: self.proc })
    }

    /// Adds the initial values of locals and the `enforce` clause before the body.
    fn way_in(&mut self, inside: LocId, inits: &[(VarId, Option<&'a ast::Expr>)]) -> LocId {
        let mut initial = Initial::new(Scope::Local(self.proc));
        for (var, init) in inits {
            match init {
                Some(init) => self.low.initialise(&mut initial, &self.view, *var, init),
                None => self.low.initialise_to_any(&mut initial, *var),
            }
        }
        let mut entry = inside;
        if let Some(enforce) = &self.enforce {
            let op = Op::assume(enforce.expr.clone());
            let origin = Origin { span: enforce.span, role: Role::Enforce };
            entry = self.new_loc();
            self.edge(entry, inside, op, origin);
        }
        let active = initial.into_assigned();
        if let (Some(first), Some(last)) = (inits.first(), inits.last()) {
            let span = |(var, init): &(VarId, Option<&ast::Expr>)| match init {
                Some(init) => init.span,
                None => self.low.found.map.vars[*var],
            };
            let origin = Origin { span: span(first).to(span(last)), role: Role::Initialise };
            let after = std::mem::replace(&mut entry, self.new_loc());
            self.edge(entry, after, Op::Assign(Assign { active, ..Assign::skip() }), origin);
        }
        entry
    }

    /// Adds the end of the procedure without `return`: the results are arbitrary.
    fn way_out(&mut self, fall: LocId) {
        let end = self.unit.body.end;
        if self.unit.n_results > 0 && !self.is_entry {
            let message = format!("`{}` can end without returning a value", self.unit.name);
            let diagnostic = Diagnostic::new(Code::FallsOffEnd, message, end)
                .also(self.unit.header, format!("{} expected", values(self.unit.n_results)))
                .help("arbitrary values are returned; write a `return`");
            self.low.report(diagnostic);
        }
        let op = Op::Return(self.arbitrary_results());
        let exit = self.procedure().exit;
        let origin = Origin { span: end, role: Role::FallOff };
        let last = self.before_return(fall, origin);
        self.edge(last, exit, op, origin);
    }

    pub(super) fn arbitrary_results(&self) -> Vec<Expr> {
        (0..self.unit.n_results as u32).map(Expr::choice).collect()
    }

    /// Adds the error that happens where a check of a step from a location does not hold. Returns the condition under
    /// which all checks hold: only then there is the step itself.
    pub(super) fn must_hold(&mut self, from: LocId, checks: Vec<Check>, n_choices: u32, origin: Origin) -> Expr {
        let mut by_message: Vec<(String, Expr)> = Vec::new();
        for Check { holds, message, .. } in checks {
            match by_message.iter_mut().find(|(known, _)| *known == message) {
                Some((_, all)) => *all = and(std::mem::replace(all, Expr::TRUE), holds),
                None => by_message.push((message, holds)),
            }
        }
        let origin = Origin { role: Role::Violation, ..origin };
        let mut all_hold = Expr::TRUE;
        for (message, holds) in by_message {
            all_hold = Expr::and(all_hold, holds.clone());
            self.low.check_choices(n_choices, origin.span);
            let error = self.new_loc();
            let exit = self.procedure().exit;
            let nowhere = self.new_loc();
            self.edge(from, error, Op::assume(not(holds)), origin);
            self.low.found.map.notes.insert(self.low.found.program.edges.next_idx(), message);
            self.edge(error, nowhere, Op::Assert(Expr::FALSE), origin);
            self.edge(nowhere, exit, Op::End, origin);
        }
        all_hold
    }

    /// Returns a location at which values are known to be those that a statement uses, and the values as they are known
    /// there. If they need checks, they are computed in a step of their own, into variables that the source does not
    /// have; no other thread can see the difference.
    pub(super) fn checked(
        &mut self,
        from: LocId,
        checks: Vec<Check>,
        n_choices: u32,
        values: Vec<(Expr, Shape)>,
        origin: Origin,
    ) -> (LocId, Vec<Expr>, u32) {
        if checks.is_empty() {
            return (from, values.into_iter().map(|(value, _)| value).collect(), n_choices);
        }
        let constrain = self.must_hold(from, checks, n_choices, origin);
        let (mut active, mut names) = (Vec::new(), Vec::new());
        for (value, shape) in values {
            let var = self.hidden_local(shape, origin.span);
            active.push((var, value));
            names.push(Expr::Var(var));
        }
        let known = self.new_loc();
        self.step(from, known, Op::Assign(Assign { active, constrain, ..Assign::skip() }), n_choices, origin);
        (known, names, 0)
    }

    /// Adds a local that the source does not have.
    fn hidden_local(&mut self, shape: Shape, span: Span) -> VarId {
        let found = &mut self.low.found;
        let scope = Scope::Local(self.proc);
        let var = found.program.vars.push(Var { name: "_checked".to_owned(), scope, ty: shape.ty() });
        found.map.vars.push(span);
        found.map.views.insert(var, Shown::Hidden);
        found.shapes.push(shape);
        self.low.used.push(true);
        self.procedure().locals.push(var);
        var
    }

    pub(super) fn edge(&mut self, from: LocId, to: LocId, op: Op, origin: Origin) {
        self.add_edge(Edge::new(from, to, op), origin);
    }

    pub(super) fn add_edge(&mut self, edge: Edge, origin: Origin) {
        self.low.found.program.edges.push(edge);
        self.low.found.map.edges.push(origin);
    }

    fn finish_labels(&mut self, options: &LoadOptions) {
        let mut unused: Vec<(Span, Symbol)> = Vec::new();
        unused.extend(
            self.labels.iter().filter(|(_, label)| !label.is_used).map(|(symbol, label)| (label.span, *symbol)),
        );
        unused.sort_unstable();
        for (span, symbol) in unused {
            self.low.unused_label(symbol, span, options);
        }
    }
}

/// Returns whether a statement is executable rather than a declaration.
pub(super) fn is_step(stmt: &Stmt) -> bool {
    !matches!(stmt.kind, StmtKind::Decl(_) | StmtKind::Enforce(_))
}

/// Returns the blocks inside a statement, in order.
pub(super) fn inner_blocks(stmt: &Stmt) -> Vec<&Block> {
    match &stmt.kind {
        StmtKind::If(branches) => {
            let otherwise = branches.otherwise.as_ref().map(|otherwise| &otherwise.body);
            branches.arms.iter().map(|arm| &arm.body).chain(otherwise).collect()
        }
        StmtKind::While(repeated) => vec![&repeated.body],
        _ => Vec::new(),
    }
}

/// Returns "1 value", "2 values", and so on.
pub(super) fn values(count: usize) -> String {
    if count == 1 { "1 value".to_owned() } else { format!("{count} values") }
}
