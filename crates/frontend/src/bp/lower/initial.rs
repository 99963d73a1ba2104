//! Lowering of initial values to one parallel assignment.
//!
//! Initialisers take effect one after the other, but the representation assigns them all at once. So a read of a
//! variable that already has its initial value is replaced by that value; a choice in it keeps its number, and thus has
//! the same value. An earlier variable without initialiser gets its own choice at its first read (locals need none:
//! they are read as they are). Replacing can make expressions large, so it is limited.

use rustc_hash::FxHashMap;
use selvedge_ir::span::Span;
use selvedge_ir::{Expr, Scope, VarId};

use super::expr::{Context, ExprCx};
use super::number::any;
use super::{Lowering, MAX_CHOICES, View};
use crate::bp::ast;
use crate::bp::resolve::Global;
use crate::diagnostic::{Code, Diagnostic};

/// Limit on the number of nodes that replace variables, in all initial values of a list.
const MAX_NODES: usize = 1_000_000;
/// Limit on the depth of an initial value.
const MAX_VALUE_DEPTH: usize = 1_000;

/// The initial values of a list of variables so far.
#[derive(Clone, Default)]
pub(super) struct Initial {
    /// The scope of the variables in the list.
    scope: Option<Scope>,
    /// The variable whose initialiser is being read.
    current: Option<VarId>,
    values: FxHashMap<VarId, InitialValue>,
    n_nodes: usize,
    n_choices: u32,
    assigned: Vec<(VarId, Expr)>,
    is_over_limit: bool,
}

#[derive(Clone)]
struct InitialValue {
    value: Expr,
    size: usize,
}

impl Initial {
    pub(super) fn new(scope: Scope) -> Initial {
        Initial { scope: Some(scope), ..Initial::default() }
    }

    /// Returns the parallel assignment.
    pub(super) fn into_assigned(self) -> Vec<(VarId, Expr)> {
        self.assigned
    }

    fn know(&mut self, var: VarId, value: Expr) {
        let size = measure(&value).size;
        self.values.insert(var, InitialValue { value: value.clone(), size });
        self.assigned.push((var, value));
    }
}

impl Lowering<'_> {
    /// Lowers the initial values of all variables outside procedures.
    pub(super) fn initial_values(&mut self) {
        let globals = std::mem::take(&mut self.tables.globals);
        let (shared, threads): (Vec<Global<'_>>, Vec<Global<'_>>) =
            globals.iter().partition(|global| self.scope(global.var) == Scope::Shared);
        let file = View::default();
        let mut of_shared = Initial::new(Scope::Shared);
        self.initialise_all(&mut of_shared, &file, &shared);
        self.found.program.init = of_shared.into_assigned();

        let mut of_threads = Initial::new(Scope::Thread);
        self.initialise_all(&mut of_threads, &file, &threads);
        let thread_vars: Vec<VarId> = threads.iter().map(|global| global.var).collect();
        if self.tables.processes.is_empty() {
            for entry in &mut self.found.program.entries {
                entry.thread_vars.clone_from(&thread_vars);
                entry.init.clone_from(&of_threads.assigned);
            }
        }
        let n_copies = thread_vars.len().saturating_mul(self.tables.processes.len());
        if n_copies > MAX_NODES {
            let message = "there are too many per-thread variables for this number of processes";
            let diagnostic = Diagnostic::new(Code::BeyondLimit, message, self.tables.processes[0].header);
            self.report(diagnostic);
            return;
        }
        for process in 0..self.tables.processes.len() {
            self.process_initial_values(process, &thread_vars, of_threads.clone());
        }
        self.tables.globals = globals;
    }

    fn process_initial_values(&mut self, process: usize, thread_vars: &[VarId], mut initial: Initial) {
        let globals = std::mem::take(&mut self.tables.processes[process].globals);
        let view = View { process: Some(process), ..View::default() };
        self.initialise_all(&mut initial, &view, &globals);
        if let Some(entry) = self.tables.processes[process].entry {
            let entry = &mut self.found.program.entries[entry];
            entry.thread_vars = thread_vars.iter().copied().chain(globals.iter().map(|global| global.var)).collect();
            entry.init = initial.into_assigned();
        }
    }

    fn initialise_all(&mut self, initial: &mut Initial, view: &View, globals: &[Global<'_>]) {
        for global in globals {
            match global.init {
                Some(init) => self.initialise(initial, view, global.var, init),
                None if self.shape(global.var).is_full() => {}
                None => self.initialise_to_any(initial, global.var),
            }
        }
    }

    /// Lets a variable begin with any value of its range.
    pub(super) fn initialise_to_any(&mut self, initial: &mut Initial, var: VarId) {
        let value = any(initial.n_choices, self.shape(var));
        initial.n_choices += 1;
        initial.know(var, value);
    }

    /// Adds the initial value of one variable.
    pub(super) fn initialise(&mut self, initial: &mut Initial, view: &View, var: VarId, init: &ast::Expr) {
        initial.current = Some(var);
        let n_choices = initial.n_choices;
        let shape = self.shape(var);
        let name = self.found.program.vars[var].name.clone();
        let mut cx = ExprCx { n_choices, initial: Some(initial), ..ExprCx::new(view) };
        let (value, _) = self.value(&mut cx, Context::Plain, (shape, &name), init);
        let (n_choices, checks) = (cx.n_choices, std::mem::take(&mut cx.checks));
        if let Some(check) = checks.first() {
            let message = format!("{} in some executions", check.message);
            let help = "assign the value in a statement, where this is an error that a check finds";
            self.report(Diagnostic::new(Code::NumberOutOfRange, message, init.span).help(help));
        }
        initial.n_choices = n_choices;
        let is_too_large =
            initial.n_nodes > MAX_NODES || n_choices > MAX_CHOICES || measure(&value).depth > MAX_VALUE_DEPTH;
        if is_too_large && !initial.is_over_limit {
            initial.is_over_limit = true;
            let message = "this initial value becomes too large when earlier ones are substituted into it";
            let help = "assign the values in statements instead";
            self.report(Diagnostic::new(Code::BeyondLimit, message, init.span).help(help));
        }
        let value = if initial.is_over_limit { Expr::FALSE } else { value };
        initial.know(var, value);
    }

    /// Returns the value of a variable that an initialiser reads.
    pub(super) fn initial_read(&mut self, cx: &mut ExprCx<'_>, var: VarId, span: Span) -> Expr {
        let read_scope = self.scope(var);
        let Some(initial) = cx.initial.as_deref_mut() else { return Expr::Var(var) };
        if let Some(known) = initial.values.get(&var) {
            initial.n_nodes += known.size;
            if initial.n_nodes <= MAX_NODES {
                return known.value.clone();
            }
            return Expr::FALSE;
        }
        let own_scope = initial.scope;
        if own_scope == Some(Scope::Shared) && read_scope != Scope::Shared {
            let message =
                format!("`{}` is a per-thread variable, but no thread exists yet", self.found.program.vars[var].name);
            self.early_read(message, var, span);
            return Expr::FALSE;
        }
        if own_scope != Some(read_scope) {
            return Expr::Var(var);
        }
        if initial.current.is_some_and(|current| var >= current) {
            let message = format!("`{}` has no value yet", self.found.program.vars[var].name);
            self.early_read(message, var, span);
            return Expr::FALSE;
        }
        if matches!(read_scope, Scope::Local(_)) {
            return Expr::Var(var);
        }
        let choice = any(cx.n_choices, self.found.shapes[var]);
        cx.n_choices += 1;
        initial.know(var, choice.clone());
        choice
    }

    fn early_read(&mut self, message: String, var: VarId, span: Span) {
        let diagnostic = Diagnostic::new(Code::EarlyRead, message, span)
            .also(self.found.map.vars[var], "declared here")
            .help("initial values are computed in the order of the declarations");
        self.report(diagnostic);
    }
}

pub(super) struct Measure {
    pub(super) size: usize,
    depth: usize,
}

/// Returns the number of nodes and the depth.
pub(super) fn measure(expr: &Expr) -> Measure {
    let inner = expr.operands().map(measure);
    let sum = inner.fold(Measure { size: 0, depth: 0 }, |sum, operand| Measure {
        size: sum.size + operand.size,
        depth: sum.depth.max(operand.depth),
    });
    Measure { size: sum.size + 1, depth: sum.depth + 1 }
}
