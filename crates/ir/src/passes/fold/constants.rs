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

use fixedbitset::FixedBitSet;

use crate::passes::cells::{Cells, Flows};
use crate::simplify::substitute;
use crate::syntax::{Expr, Op, Program, Value, VarId};

/// The cells that hold one value only.
pub(super) struct Constants {
    cells: Vec<CellValue>,
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
        solver.known
    }

    /// Returns the value of a variable that has only one.
    pub(super) fn get(&self, var: VarId) -> Option<Expr> {
        match self.cells[var.index()] {
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
    known: Constants,
    equations: Vec<Equation<'p>>,
    /// The equations that read each cell.
    readers: Vec<Vec<u32>>,
}

impl<'p> Solver<'p> {
    fn new(program: &'p Program) -> Solver<'p> {
        let numbers = Cells::new(program);
        let known = Constants { cells: vec![CellValue::Never; numbers.len] };
        let mut solver = Solver { program, known, equations: Vec::new(), readers: vec![Vec::new(); numbers.len] };
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

    /// Adds the equations of initial values. Variables without one may hold anything; so may the parameters of
    /// procedures with which threads begin. Arguments flow into the other parameters elsewhere.
    fn starts(&mut self) {
        let program = self.program;
        let mut open: FixedBitSet = (0..program.vars.len()).collect();
        program.procs.iter().flat_map(|proc| &proc.params).for_each(|param| open.remove(param.index()));
        program.init.iter().for_each(|(var, _)| open.remove(var.index()));
        // The thread of a prelude has no kind, so that its per-thread variables may hold anything.
        if program.prelude.is_none() {
            let per_thread = program.entries.iter().flat_map(|entry| &entry.thread_vars);
            per_thread.for_each(|var| open.remove(var.index()));
            for entry in &program.entries {
                let has_value = |var: &VarId| entry.init.iter().any(|(given, _)| given == var);
                open.extend(entry.thread_vars.iter().filter(|var| !has_value(var)).map(|var| var.index()));
            }
        }
        open.extend(program.roots().flat_map(|proc| &program.procs[proc].params).map(|param| param.index()));
        open.ones().for_each(|cell| self.add(cell, Flows::Anything, None));
        let entry_inits = program.entries.iter().flat_map(|entry| &entry.init);
        program.init.iter().chain(entry_inits).for_each(|(var, rhs)| self.add(var.index(), Flows::Expr(rhs), None));
    }

    fn solve(&mut self) {
        let mut waiting: VecDeque<u32> = (0..self.equations.len() as u32).collect();
        let mut waits = vec![true; self.equations.len()];
        while let Some(number) = waiting.pop_front() {
            waits[number as usize] = false;
            let equation = &self.equations[number as usize];
            let (cell, known) = (equation.cell, self.flow(equation));
            let joined = self.known.cells[cell].join(known);
            if std::mem::replace(&mut self.known.cells[cell], joined) == joined {
                continue;
            }
            for reader in &self.readers[cell] {
                if !std::mem::replace(&mut waits[*reader as usize], true) {
                    waiting.push_back(*reader);
                }
            }
        }
    }

    fn flow(&self, equation: &Equation<'p>) -> CellValue {
        if self.known.cells[equation.cell] == CellValue::Varies {
            return CellValue::Varies;
        }
        if equation.guard.is_some_and(|guard| self.fold(guard) == Expr::FALSE) {
            return CellValue::Never;
        }
        match equation.source {
            Flows::Anything => CellValue::Varies,
            Flows::Cell(cell) => self.known.cells[cell],
            Flows::Expr(expr) => self.value(&self.fold(expr)),
        }
    }

    fn fold(&self, expr: &Expr) -> Expr {
        substitute(expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.known.get(*var).unwrap_or_else(|| leaf.clone()),
            leaf => leaf.clone(),
        })
    }

    /// Returns the value of a folded expression: none, as long as it reads a cell without a value.
    fn value(&self, folded: &Expr) -> CellValue {
        let never = |leaf: &Expr| matches!(leaf, Expr::Var(var) if self.known.cells[var.index()] == CellValue::Never);
        match folded.constant() {
            Some(value) => CellValue::Always(value),
            None if folded.any_leaf(never) => CellValue::Never,
            None => CellValue::Varies,
        }
    }
}
