//! The start of a run: initial values as formulas, and from their inputs to the start of a trace.

use selvedge_ir::trace::{Fresh, Start, StartThread};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{EntryId, Expr, ProcId, Program, Scope, Value, VarId};
use selvedge_logic::aig::{Aig, Input, Lit};

use super::{Valuation, choose, fresh, value};

/// The values with which a procedure begins, and the inputs that they depend on.
#[derive(Clone, Debug, Default)]
pub struct Begin {
    /// The shared and per-thread variables, and the locals of the procedure.
    pub valuation: Valuation,
    /// The choices of the initial values.
    pub choices: Vec<Input>,
    /// The variables that start with any value.
    pub fresh: Vec<(VarId, Input)>,
}

/// Returns the shared variables at the start, with the locals of the prelude, if there is one.
pub fn begin(aig: &mut Aig, program: &Program) -> Begin {
    let mut begin = Begin::default();
    let shared = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Shared);
    begin.initialise(aig, &program.init, shared);
    if let Some(prelude) = program.prelude {
        begin.locals(aig, program, prelude);
    }
    begin
}

/// Begins the initial thread where the shared variables have these values: adds its per-thread variables and the locals
/// of its first procedure. Per-thread variables of other kinds are false.
pub fn begin_thread(aig: &mut Aig, program: &Program, shared: &Valuation) -> Begin {
    let kind = program.entries.indices().next().expect("a program with one thread has one kind of thread");
    begin_kind(aig, program, kind, shared)
}

/// Begins an initial thread of a kind in the same way.
pub fn begin_kind(aig: &mut Aig, program: &Program, kind: EntryId, shared: &Valuation) -> Begin {
    let kind = &program.entries[kind];
    let shared = shared.restrict(|var| program.vars[var].scope == Scope::Shared);
    let mut begin = Begin { valuation: shared, ..Begin::default() };
    begin.initialise(aig, &kind.init, kind.thread_vars.iter().copied());
    for (var, _) in program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Thread) {
        if begin.valuation.find(var).is_none() {
            begin.valuation.set(var, Lit::FALSE);
        }
    }
    begin.locals(aig, program, kind.proc);
    begin
}

impl Begin {
    /// Gives values to variables, all at once; those without an initial value get an input.
    fn initialise(&mut self, aig: &mut Aig, init: &[(VarId, Expr)], vars: impl Iterator<Item = VarId>) {
        self.choices = fresh(aig, choice_types(init.iter().map(|(_, rhs)| rhs)).len());
        let lits: Vec<Lit> = init.iter().map(|(_, rhs)| value(aig, rhs, &self.valuation, &self.choices)).collect();
        for ((var, _), lit) in init.iter().zip(lits) {
            self.valuation.set(*var, lit);
        }
        for var in vars.filter(|var| !init.iter().any(|(initialised, _)| initialised == var)) {
            self.any(aig, var);
        }
    }

    fn locals(&mut self, aig: &mut Aig, program: &Program, proc: ProcId) {
        for local in &program.procs[proc].locals {
            self.any(aig, *local);
        }
    }

    fn any(&mut self, aig: &mut Aig, var: VarId) {
        let input = aig.new_input();
        self.fresh.push((var, input));
        self.valuation.set(var, aig.input(input));
    }

    /// Returns the values of the variables that start with any value.
    fn fresh_values(&self, value: &dyn Fn(Input) -> bool) -> Fresh {
        self.fresh.iter().map(|(var, input)| (*var, Value::Bool(value(*input)))).collect()
    }

    /// Returns the start of a trace in which the thread, begun as `thread`, follows this beginning. Fresh variables and
    /// choices have the values of their inputs.
    pub fn start(&self, thread: &Begin, value: &dyn Fn(Input) -> bool) -> Start {
        self.start_of(vec![thread.thread(EntryId::new(0), value)], value)
    }

    /// Returns the start of a trace in which these threads follow this beginning.
    pub fn start_of(&self, threads: Vec<StartThread>, value: &dyn Fn(Input) -> bool) -> Start {
        Start { choices: choose(&self.choices, value), fresh: self.fresh_values(value), threads }
    }

    /// Returns the initial thread of a kind that begins so.
    pub fn thread(&self, entry: EntryId, value: &dyn Fn(Input) -> bool) -> StartThread {
        StartThread { entry, choices: choose(&self.choices, value), fresh: self.fresh_values(value) }
    }
}
