//! Finds the variables that only ever hold one value.
//!
//! An equation describes what flows into a cell ([`Cells`]): an initial value, an assignment, an argument, a returned
//! value. The order of steps plays no role, which is why the answer holds for any number of threads.
//!
//! *Order of work.* All cells start as [`CellValue::Never`]; an equation is evaluated again when a cell that it reads
//! has changed. *Invariant*: each cell covers the values of the equations that are not waiting. *Termination*: a cell
//! changes at most twice. *Correctness*: at the end all equations are covered, so by induction over an execution, every
//! variable of it holds a value that its cell covers; an equation that is not counted belongs to a step that no state
//! can take.

use std::collections::VecDeque;

use index_vec::IndexVec;

use crate::passes::cells::{Cells, Flows};
use crate::simplify::substitute;
use crate::syntax::{Expr, Op, Program, Scope, Value, VarId};

/// The variables that hold one value only.
pub(super) struct Constants {
    vars: IndexVec<VarId, CellValue>,
}

/// The content of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellValue {
    /// No value so far.
    Never,
    /// This value and no other.
    Always(Value),
    /// Possibly more than one value.
    Varies,
}

impl CellValue {
    fn join(self, other: CellValue) -> CellValue {
        match (self, other) {
            (CellValue::Never, known) | (known, CellValue::Never) => known,
            (a, b) if a == b => a,
            _ => CellValue::Varies,
        }
    }
}

impl Constants {
    /// Finds the constants of a program.
    pub(super) fn find(program: &Program) -> Constants {
        let mut solver = Solver::new(program);
        solver.solve();
        let vars = solver.cells.into_iter().take(program.vars.len()).collect();
        Constants { vars }
    }

    /// Returns the value of a variable that has only one.
    pub(super) fn get(&self, var: VarId) -> Option<Expr> {
        match self.vars[var] {
            CellValue::Always(value) => Some(Expr::value(value)),
            CellValue::Never | CellValue::Varies => None,
        }
    }

    /// Returns the expression with these variables replaced, simplified.
    pub(super) fn fold(&self, expr: &Expr) -> Expr {
        substitute(expr, &mut |leaf| match leaf {
            Expr::Var(var) | Expr::Next(var) => self.get(*var).unwrap_or_else(|| leaf.clone()),
            leaf => leaf.clone(),
        })
    }
}

/// A value that flows into a cell.
struct Equation<'p> {
    cell: usize,
    source: Flows<'p>,
    /// The condition under which it flows.
    guard: Option<&'p Expr>,
}

struct Solver<'p> {
    program: &'p Program,
    cells: Vec<CellValue>,
    equations: Vec<Equation<'p>>,
    /// The equations that read each cell.
    readers: Vec<Vec<u32>>,
}

impl<'p> Solver<'p> {
    fn new(program: &'p Program) -> Solver<'p> {
        let numbers = Cells::new(program);
        let (cells, readers) = (vec![CellValue::Never; numbers.len], vec![Vec::new(); numbers.len]);
        let mut solver = Solver { program, cells, equations: Vec::new(), readers };
        solver.starts();
        for edge in &program.edges {
            let guard = match &edge.op {
                Op::Assign(assign) if !assign.is_passive() => Some(&assign.constrain),
                _ => None,
            };
            numbers.for_each_flow(program, edge, |cell, source| solver.add(cell, source, guard));
        }
        solver
    }

    fn add(&mut self, cell: usize, source: Flows<'p>, guard: Option<&'p Expr>) {
        let number = self.equations.len() as u32;
        let expr = if let Flows::Expr(expr) = source { Some(expr) } else { None };
        for expr in expr.into_iter().chain(guard) {
            expr.for_each_leaf(|leaf| {
                if let Expr::Var(var) = leaf {
                    self.readers[var.index()].push(number);
                }
            });
        }
        if let Flows::Cell(read) = source {
            self.readers[read].push(number);
        }
        self.equations.push(Equation { cell, source, guard });
    }

    fn add_expr(&mut self, var: VarId, expr: &'p Expr) {
        self.add(var.index(), Flows::Expr(expr), None);
    }

    /// Adds the equations of initial values. Arguments flow into parameters elsewhere.
    fn starts(&mut self) {
        let program = self.program;
        let mut initialised = vec![false; program.vars.len()];
        for (var, rhs) in &program.init {
            initialised[var.index()] = true;
            self.add_expr(*var, rhs);
        }
        self.thread_starts(&mut initialised);
        for proc in program.roots() {
            program.procs[proc].params.iter().for_each(|param| self.add(param.index(), Flows::Anything, None));
        }
        for proc in &program.procs {
            proc.params.iter().for_each(|param| initialised[param.index()] = true);
        }
        for var in program.vars.indices().filter(|var| !initialised[var.index()]) {
            self.add(var.index(), Flows::Anything, None);
        }
    }

    /// Adds the initial values of per-thread variables. A variable without initial value may hold anything; so may all
    /// of them if there is a prelude, whose thread has no kind.
    fn thread_starts(&mut self, initialised: &mut [bool]) {
        let program = self.program;
        for entry in &program.entries {
            entry.thread_vars.iter().for_each(|var| initialised[var.index()] = true);
        }
        for entry in &program.entries {
            for (var, rhs) in &entry.init {
                self.add_expr(*var, rhs);
            }
            let has_value = |var: &VarId| entry.init.iter().any(|(given, _)| given == var);
            for var in entry.thread_vars.iter().filter(|var| !has_value(var)) {
                initialised[var.index()] = false;
            }
        }
        if program.prelude.is_some() {
            let is_per_thread = |var: &VarId| program.vars[*var].scope == Scope::Thread;
            program.vars.indices().filter(is_per_thread).for_each(|var| initialised[var.index()] = false);
        }
    }

    fn solve(&mut self) {
        let mut waiting: VecDeque<u32> = (0..self.equations.len() as u32).collect();
        let mut waits = vec![true; self.equations.len()];
        while let Some(number) = waiting.pop_front() {
            waits[number as usize] = false;
            let equation = &self.equations[number as usize];
            let (cell, known) = (equation.cell, self.flow(equation));
            let joined = self.cells[cell].join(known);
            if joined == self.cells[cell] {
                continue;
            }
            self.cells[cell] = joined;
            for reader in &self.readers[cell] {
                if !std::mem::replace(&mut waits[*reader as usize], true) {
                    waiting.push_back(*reader);
                }
            }
        }
    }

    fn flow(&self, equation: &Equation<'p>) -> CellValue {
        if self.cells[equation.cell] == CellValue::Varies {
            return CellValue::Varies;
        }
        if equation.guard.is_some_and(|guard| self.fold(guard) == Expr::FALSE) {
            return CellValue::Never;
        }
        match equation.source {
            Flows::Anything => CellValue::Varies,
            Flows::Cell(cell) => self.cells[cell],
            Flows::Expr(expr) => self.value(&self.fold(expr)),
        }
    }

    fn fold(&self, expr: &Expr) -> Expr {
        substitute(expr, &mut |leaf| match leaf {
            Expr::Var(var) => match self.cells[var.index()] {
                CellValue::Always(value) => Expr::value(value),
                CellValue::Never | CellValue::Varies => leaf.clone(),
            },
            leaf => leaf.clone(),
        })
    }

    /// Returns the value of a folded expression: none, as long as it reads a cell without a value.
    fn value(&self, folded: &Expr) -> CellValue {
        let never = |leaf: &Expr| matches!(leaf, Expr::Var(var) if self.cells[var.index()] == CellValue::Never);
        match folded.constant() {
            Some(value) => CellValue::Always(value),
            None if folded.any_leaf(never) => CellValue::Never,
            None => CellValue::Varies,
        }
    }
}
