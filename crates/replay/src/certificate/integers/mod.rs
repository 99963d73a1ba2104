//! Certificates for programs with integers: one thread, no calls, one formula per control point.
//!
//! Three kinds of questions, none of which may have a solution:
//!
//! 1. *start*: a start of the program that no control point allows;
//! 2. *step*: a state that a control point allows, and a step from it to a state that none allows;
//! 3. *error*: a state that a control point allows, in which a target assertion can fail, or at a target location.
//!
//! A solver answers them, one after the other, and each on its own. Only `unsat` counts. Where the values that are plain
//! in a point exclude a step, or say where it leads, no question or a smaller one is asked (`constant`).

mod constant;
mod solver;
mod write;

use std::collections::BTreeMap;

use selvedge_check::{ControlPoint, IntegerProof, Run, Task};
use selvedge_ir::{Assign, Count, Edge, EdgeId, Entry, Expr, LocId, Op, Program, Scope, Ty, Value, VarId};

use super::Flaw;
use constant::{Known, constant, learn};
use solver::{Response, Solver};
use write::Text;

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &IntegerProof, run: &Run<'_>) -> Result<(), Flaw> {
    let entry = in_scope(task.program)?;
    let points = Points::new(task.program, entry, proof)?;
    let mut checker = Checker { task, points, solver: Solver::start(run)? };
    checker.start(entry)?;
    for point in &proof.points {
        run.check_limits()?;
        checker.error_at(point)?;
        for (id, edge) in task.program.edges.iter_enumerated().filter(|(_, edge)| edge.from == point.loc) {
            checker.edge(point, id, edge)?;
        }
    }
    Ok(())
}

/// The one kind of initial thread of a program that these certificates speak of.
pub(super) fn in_scope(program: &Program) -> Result<&Entry, Flaw> {
    let entry = match program.entries.as_slice().as_raw_slice() {
        [entry] if entry.count == Count::Exactly(1) && program.prelude.is_none() => entry,
        _ => return Err(Flaw::OutOfScope("it has several threads")),
    };
    for edge in program.edges.iter().filter(|edge| program.locs[edge.from].proc == entry.proc) {
        match &edge.op {
            Op::Assign(assign) if assign.is_passive() => return Err(Flaw::OutOfScope("it has passive variables")),
            Op::Call(_) => return Err(Flaw::OutOfScope("it has calls")),
            Op::Spawn(_) | Op::Fork(_) => return Err(Flaw::OutOfScope("it starts threads")),
            Op::Assign(_) | Op::Assert(_) | Op::Return(_) | Op::End | Op::AtomicBegin | Op::AtomicEnd => {}
        }
    }
    Ok(entry)
}

/// The control points by location and values.
struct Points<'a> {
    control: &'a [VarId],
    formulas: BTreeMap<(LocId, Vec<Value>), &'a Expr>,
}

impl<'a> Points<'a> {
    fn new(program: &Program, entry: &Entry, proof: &'a IntegerProof) -> Result<Points<'a>, Flaw> {
        let is_known = |var: &VarId| var.index() < program.vars.len();
        let mut control = proof.control.clone();
        control.sort_unstable();
        control.dedup();
        if control.len() != proof.control.len() || !control.iter().all(is_known) {
            return Err(Flaw::Malformed(None));
        }
        let mut formulas = BTreeMap::new();
        for point in &proof.points {
            let types = point.values.iter().map(|value| value.ty());
            let has_values = types.eq(proof.control.iter().map(|var| program.vars[*var].ty));
            let fits = (point.values.is_empty() || has_values)
                && program.locs.get(point.loc).is_some_and(|loc| loc.proc == entry.proc)
                && write::type_of(&point.formula, program) == Some(Ty::Bool);
            let known = formulas.insert((point.loc, point.values.clone()), &point.formula);
            if !fits || known.is_some() {
                return Err(Flaw::Malformed(None));
            }
        }
        Ok(Points { control: &proof.control, formulas })
    }

    /// The variables whose values in a point are plain: the control variables, and those of which its formula says so.
    fn known(&self, point: &ControlPoint) -> Known {
        let mut known = self.control.iter().copied().zip(point.values.iter().copied()).collect();
        learn(&point.formula, &mut known);
        known
    }

    /// Whether a point plainly allows all states at a location in which some variables have these values.
    fn plainly_allow(&self, loc: LocId, known: &Known) -> bool {
        let values = self.control.iter().map(|var| known.get(var).copied()).collect::<Option<Vec<Value>>>();
        let formula = values.and_then(|values| self.formulas.get(&(loc, values)));
        formula.is_some_and(|formula| constant(formula, known) == Some(Value::Bool(true)))
    }
}

struct Checker<'a> {
    task: &'a Task<'a>,
    points: Points<'a>,
    solver: Solver<'a>,
}

impl Checker<'_> {
    /// Question 1.
    fn start(&mut self, entry: &Entry) -> Result<(), Flaw> {
        let program = self.task.program;
        let loc = program.procs[entry.proc].entry;
        let mut text = Text::new(program);
        text.start(entry);
        self.none_allows(&mut text, loc, None);
        self.refute(text, Flaw::Start(loc))
    }

    /// Question 3, for locations.
    fn error_at(&mut self, point: &ControlPoint) -> Result<(), Flaw> {
        if !self.task.target.has_loc(point.loc) {
            return Ok(());
        }
        let mut text = Text::new(self.task.program);
        self.allowed(&mut text, point);
        self.refute(text, Flaw::Location(point.loc))
    }

    /// Questions 2 and 3 for one edge.
    fn edge(&mut self, point: &ControlPoint, id: EdgeId, edge: &Edge) -> Result<(), Flaw> {
        let nothing = Assign { active: Vec::new(), passive: Vec::new(), constrain: Expr::Bool(true) };
        match &edge.op {
            Op::Assign(assign) => self.step(point, id, edge, assign),
            Op::Assert(condition) => {
                if self.task.target.has_assert(id) {
                    self.failure(point, id, condition)?;
                }
                self.step(point, id, edge, &Assign { constrain: condition.clone(), ..nothing })
            }
            Op::AtomicBegin | Op::AtomicEnd => self.step(point, id, edge, &nothing),
            Op::Return(_) | Op::End => Ok(()),
            Op::Call(_) | Op::Spawn(_) | Op::Fork(_) => unreachable!("in_scope: the procedure has no such edge"),
        }
    }

    fn failure(&mut self, point: &ControlPoint, id: EdgeId, condition: &Expr) -> Result<(), Flaw> {
        if constant(condition, &self.points.known(point)) == Some(Value::Bool(true)) {
            return Ok(());
        }
        let mut text = Text::new(self.task.program);
        self.allowed(&mut text, point);
        text.choices(&self.task.program.edges[id].op.choices());
        text.require_not(condition);
        self.refute(text, Flaw::Assert(id))
    }

    fn step(&mut self, point: &ControlPoint, id: EdgeId, edge: &Edge, assign: &Assign) -> Result<(), Flaw> {
        let known = self.points.known(point);
        if constant(&assign.constrain, &known) == Some(Value::Bool(false)) {
            return Ok(());
        }
        let mut after = known.clone();
        for (var, rhs) in &assign.active {
            match constant(rhs, &known) {
                Some(value) => after.insert(*var, value),
                None => after.remove(var),
            };
        }
        if self.points.plainly_allow(edge.to, &after) {
            return Ok(());
        }
        let mut text = Text::new(self.task.program);
        self.allowed(&mut text, point);
        text.choices(&self.task.program.edges[id].op.choices());
        text.assign(assign);
        let next: Option<Vec<Value>> = self.points.control.iter().map(|var| after.get(var).copied()).collect();
        self.none_allows(&mut text, edge.to, next.as_deref());
        self.refute(text, Flaw::NotClosed(id))
    }

    /// The state before the step is one that the point allows.
    fn allowed(&self, text: &mut Text<'_>, point: &ControlPoint) {
        for (var, value) in self.points.control.iter().zip(&point.values) {
            text.require_value(*var, *value);
        }
        text.require(&point.formula);
    }

    /// The state after the step is at the location, and no point allows it. Where the values of the control variables
    /// are known, only one point can.
    fn none_allows(&self, text: &mut Text<'_>, loc: LocId, values: Option<&[Value]>) {
        let Some(values) = values else {
            let here = self.points.formulas.iter().filter(|((at, _), _)| *at == loc);
            here.for_each(|((_, values), formula)| text.exclude(self.points.control, values, formula));
            return;
        };
        // Points without values are for all of them. Where there are no control variables, both are the same.
        if let Some(formula) = self.points.formulas.get(&(loc, values.to_vec())) {
            text.exclude(self.points.control, values, formula);
        }
        if let Some(formula) = self.points.formulas.get(&(loc, Vec::new())) {
            text.exclude(self.points.control, &[], formula);
        }
    }

    fn refute(&mut self, text: Text<'_>, flaw: Flaw) -> Result<(), Flaw> {
        match self.solver.ask(&text.finish())? {
            Response::Unsat => Ok(()),
            Response::Sat => Err(flaw),
        }
    }
}

/// Whether a variable of a program in scope exists in its one thread.
pub(super) fn is_visible(program: &Program, entry: &Entry, var: VarId) -> bool {
    match program.vars[var].scope {
        Scope::Shared => true,
        Scope::Thread => entry.thread_vars.contains(&var),
        Scope::Local(proc) => proc == entry.proc,
    }
}
