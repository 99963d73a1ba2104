//! Certificates for programs with integers: one thread, no calls, one formula per control point.
//!
//! Three kinds of questions, none of which may have a solution:
//!
//! 1. *start*: a start of the program that no control point allows;
//! 2. *step*: a state that a control point allows, and a step from it to a state that none allows;
//! 3. *error*: a state that a control point allows, in which a target assertion can fail, or at a target location.
//!
//! A solver answers them, one after the other, and each on its own. Only `unsat` counts. Where the values that are plain
//! in a point and its step's guard exclude the step, or say where it leads, no question or a smaller one is asked
//! (`constant`).

mod constant;
mod solver;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{ControlPoint, IntegerProof, Run, Task};
use selvedge_ir::{Assign, Count, Edge, EdgeId, Entry, Expr, LocId, Op, Program, Scope, Ty, Value, VarId};

use super::{Flaw, Refused};
use constant::{Known, constant, learn};
use solver::{Response, Solver};
use write::Text;

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &IntegerProof, run: &Run<'_>) -> Result<(), Refused> {
    let entry = in_scope(task.program)?;
    let points = Points::new(task.program, entry, proof)?;
    let mut checker = Checker { task, points, solver: Solver::start(run)? };
    checker.start(entry)?;
    for point in &proof.points {
        run.check_limits()?;
        let place = Place { point, known: checker.points.known(point, task.program) };
        checker.error_at(point)?;
        for (id, edge) in task.program.edges.iter_enumerated().filter(|(_, edge)| edge.from == point.loc) {
            checker.edge(&place, id, edge)?;
        }
    }
    Ok(())
}

/// The one kind of initial thread of a program that these certificates speak of.
pub(super) fn in_scope(program: &Program) -> Result<&Entry, Refused> {
    let entry = match program.entries.as_slice().as_raw_slice() {
        [entry] if entry.count == Count::Exactly(1) && program.prelude.is_none() => entry,
        _ => return Err(Flaw::OutOfScope("it has several threads").into()),
    };
    for edge in program.edges.iter().filter(|edge| program.locs[edge.from].proc == entry.proc) {
        match &edge.op {
            Op::Assign(assign) if assign.is_passive() => {
                return Err(Flaw::OutOfScope("it has passive variables").into());
            }
            Op::Call(_) => return Err(Flaw::OutOfScope("it has calls").into()),
            Op::Spawn(_) | Op::Fork(_) => return Err(Flaw::OutOfScope("it starts threads").into()),
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
    fn new(program: &Program, entry: &Entry, proof: &'a IntegerProof) -> Result<Points<'a>, Refused> {
        let is_known = |var: &VarId| var.index() < program.vars.len();
        let mut control = proof.control.clone();
        control.sort_unstable();
        control.dedup();
        if control.len() != proof.control.len() || !control.iter().all(is_known) {
            return Err(Flaw::Malformed(None).into());
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
                return Err(Flaw::Malformed(None).into());
            }
        }
        Ok(Points { control: &proof.control, formulas })
    }

    /// The variables whose values in a point are plain: the control variables, and those of which its formula says so.
    fn known(&self, point: &ControlPoint, program: &Program) -> Known {
        let mut known = Known::nothing(program);
        self.control.iter().zip(&point.values).for_each(|(var, value)| known.set(*var, Some(*value)));
        learn(&point.formula, &mut known);
        known
    }

    /// The values of the control variables, if all are known.
    fn values(&self, known: &Known) -> Option<Vec<Value>> {
        self.control.iter().map(|var| known.get(*var)).collect()
    }

    /// Whether a point plainly allows all states at a location in which some variables have these values.
    fn plainly_allow(&self, loc: LocId, known: &Known) -> bool {
        let formula = self.values(known).and_then(|values| self.formulas.get(&(loc, values)));
        formula.is_some_and(|formula| constant(formula, known) == Some(Value::Bool(true)))
    }

    /// The points at a location that may allow states in which some variables have these values.
    fn at<'s>(&'s self, loc: LocId, known: &'s Known) -> impl Iterator<Item = (&'s [Value], &'s Expr)> {
        let fits = |(var, value): (&VarId, &Value)| known.get(*var).is_none_or(|known| known == *value);
        let here = self.formulas.range((loc, Vec::new())..).take_while(move |((at, _), _)| *at == loc);
        here.map(|((_, values), formula)| (&**values, *formula))
            .filter(move |(values, _)| self.control.iter().zip(*values).all(fits))
    }

    /// The same where the values of all control variables are known: the point with these values, and the one without
    /// values, which is for all of them. Where there are no control variables, both are the same.
    fn at_values(&self, loc: LocId, values: Vec<Value>) -> impl Iterator<Item = (&[Value], &Expr)> {
        let keys = BTreeSet::from([(loc, Vec::new()), (loc, values)]);
        let points = keys.into_iter().filter_map(|key| self.formulas.get_key_value(&key));
        points.map(|((_, values), formula)| (&**values, *formula))
    }
}

/// A control point, and the variables whose values in it are plain.
struct Place<'a> {
    point: &'a ControlPoint,
    known: Known,
}

struct Checker<'a> {
    task: &'a Task<'a>,
    points: Points<'a>,
    solver: Solver<'a>,
}

impl Checker<'_> {
    /// Question 1.
    fn start(&mut self, entry: &Entry) -> Result<(), Refused> {
        let program = self.task.program;
        let loc = program.procs[entry.proc].entry;
        let mut text = Text::new(program);
        text.start(entry);
        self.none_allows(&mut text, loc, &Known::nothing(program));
        self.refute(text, Flaw::Start(loc))
    }

    /// Question 3, for locations.
    fn error_at(&mut self, point: &ControlPoint) -> Result<(), Refused> {
        if !self.task.target.has_loc(point.loc) {
            return Ok(());
        }
        let mut text = Text::new(self.task.program);
        self.allowed(&mut text, point);
        self.refute(text, Flaw::Location(point.loc))
    }

    /// Questions 2 and 3 for one edge.
    fn edge(&mut self, place: &Place<'_>, id: EdgeId, edge: &Edge) -> Result<(), Refused> {
        let nothing = Assign { active: Vec::new(), passive: Vec::new(), constrain: Expr::Bool(true) };
        match &edge.op {
            Op::Assign(assign) => self.step(place, id, edge, assign),
            Op::Assert(condition) => {
                if self.task.target.has_assert(id) {
                    self.failure(place, id, condition)?;
                }
                self.step(place, id, edge, &Assign { constrain: condition.clone(), ..nothing })
            }
            Op::AtomicBegin | Op::AtomicEnd => self.step(place, id, edge, &nothing),
            Op::Return(_) | Op::End => Ok(()),
            Op::Call(_) | Op::Spawn(_) | Op::Fork(_) => unreachable!("in_scope: the procedure has no such edge"),
        }
    }

    fn failure(&mut self, place: &Place<'_>, id: EdgeId, condition: &Expr) -> Result<(), Refused> {
        if constant(condition, &place.known) == Some(Value::Bool(true)) {
            return Ok(());
        }
        let mut text = Text::new(self.task.program);
        self.allowed(&mut text, place.point);
        text.choices(&self.task.program.edges[id].op.choices());
        text.require_not(condition);
        self.refute(text, Flaw::Assert(id))
    }

    fn step(&mut self, place: &Place<'_>, id: EdgeId, edge: &Edge, assign: &Assign) -> Result<(), Refused> {
        // What changes nothing stays where it is.
        if assign.active.is_empty() && edge.to == place.point.loc {
            return Ok(());
        }
        if constant(&assign.constrain, &place.known) == Some(Value::Bool(false)) {
            return Ok(());
        }
        let mut known = place.known.clone();
        learn(&assign.constrain, &mut known);
        let mut after = known.clone();
        for (var, rhs) in &assign.active {
            after.set(*var, constant(rhs, &known));
        }
        if self.points.plainly_allow(edge.to, &after) {
            return Ok(());
        }
        let mut text = Text::new(self.task.program);
        self.allowed(&mut text, place.point);
        text.choices(&self.task.program.edges[id].op.choices());
        text.assign(assign);
        self.none_allows(&mut text, edge.to, &after);
        self.refute(text, Flaw::NotClosed(id))
    }

    /// The state before the step is one that the point allows.
    fn allowed(&self, text: &mut Text<'_>, point: &ControlPoint) {
        for (var, value) in self.points.control.iter().zip(&point.values) {
            text.require_value(*var, *value);
        }
        text.require(&point.formula);
    }

    /// The state after the step is at the location, and no point allows it. The points that are left out could allow it
    /// only if a variable had another value than is known.
    fn none_allows(&self, text: &mut Text<'_>, loc: LocId, known: &Known) {
        let mut exclude = |(values, formula): (&[Value], &Expr)| text.exclude(self.points.control, values, formula);
        match self.points.values(known) {
            Some(values) => self.points.at_values(loc, values).for_each(&mut exclude),
            None => self.points.at(loc, known).for_each(&mut exclude),
        }
    }

    fn refute(&mut self, text: Text<'_>, flaw: Flaw) -> Result<(), Refused> {
        match self.solver.ask(&text.finish())? {
            Response::Unsat => Ok(()),
            Response::Sat => Err(flaw.into()),
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
