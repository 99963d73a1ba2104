//! Certificates for programs with integers: one thread, no calls, one formula per control point.
//!
//! Three kinds of questions, none of which may have a solution:
//!
//! 1. *start*: a start of the program that no control point allows;
//! 2. *step*: a state that a control point allows, and a step from it to a state that none allows;
//! 3. *error*: a state that a control point allows, in which a target assertion can fail, or at a target location.
//!
//! Solvers answer them, one after the other, and each on its own (`solver`). Only `unsat` counts. Where the values that
//! are plain in a point and its step's guard exclude the step, or say where it leads, no question or a smaller one is
//! asked (`constant`).

mod constant;
mod solver;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{ControlPoint, IntegerProof, Run, Task};
use selvedge_ir::{Count, Edge, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Ty, Value, VarId};

use super::typed::type_of;
use super::{Accepted, Flaw, Refused};
use crate::domain::Domain as _;
use crate::program::{choice_types, concerns_others, default_value, exprs, leaving};
use crate::semantics::{Control, Meaning, child, control};
use constant::{Known, Plain};
use solver::Solvers;
use write::{Letters, Smt, Text, equation};

/// Checks the certificate.
pub(super) fn verify(task: &Task<'_>, proof: &IntegerProof, run: &Run<'_>) -> Result<Accepted, Refused> {
    let kind = in_scope(task.program)?;
    let points = Points::new(task.program, task.program.entries[kind].proc, proof)?;
    let mut checker = Checker { task, points, solvers: Solvers::start(run)? };
    checker.start(kind)?;
    let leaving = leaving(task.program);
    for point in &proof.points {
        run.check_limits()?;
        let known = checker.points.known(point, task.program);
        checker.error_at(point)?;
        for id in &leaving[point.loc] {
            checker.edge(point, &known, *id, &task.program.edges[*id])?;
        }
    }
    Ok(checker.solvers.accepted())
}

/// The one kind of initial thread of a program that these certificates speak of.
fn in_scope(program: &Program) -> Result<EntryId, Flaw> {
    let entry = match program.entries.as_raw_slice() {
        [entry] if entry.count == Count::Exactly(1) && program.prelude.is_none() => entry,
        _ => return Err(Flaw::OutOfScope("it has several threads")),
    };
    for edge in program.edges.iter().filter(|edge| program.locs[edge.from].proc == entry.proc) {
        match &edge.op {
            op if concerns_others(op) => return Err(Flaw::OutOfScope("it has passive variables")),
            Op::Call(_) => return Err(Flaw::OutOfScope("it has calls")),
            op if child(op).is_some() => return Err(Flaw::OutOfScope("it starts threads")),
            _ => {}
        }
    }
    Ok(EntryId::new(0))
}

/// The control points by location and values.
struct Points<'a> {
    program: &'a Program,
    control: &'a [VarId],
    formulas: BTreeMap<(LocId, Vec<Value>), &'a Expr>,
}

impl<'a> Points<'a> {
    fn new(program: &'a Program, proc: ProcId, proof: &'a IntegerProof) -> Result<Points<'a>, Refused> {
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
                && program.locs.get(point.loc).is_some_and(|loc| loc.proc == proc)
                && type_of(&point.formula, program) == Some(Ty::Bool);
            let known = formulas.insert((point.loc, point.values.clone()), &point.formula);
            if !fits || known.is_some() {
                return Err(Flaw::Malformed(None).into());
            }
        }
        Ok(Points { program, control: &proof.control, formulas })
    }

    /// The variables whose values in a point are plain: the control variables, and those of which its formula says so.
    fn known(&self, point: &ControlPoint, program: &Program) -> Known {
        let mut known = Known::nothing(program);
        self.control.iter().zip(&point.values).for_each(|(var, value)| known.set(*var, Some(*value)));
        known.learn(&point.formula);
        known
    }

    /// The values of the control variables, if all are known.
    fn values(&self, known: &Known) -> Option<Vec<Value>> {
        self.control.iter().map(|var| known.get(*var)).collect()
    }

    /// Returns whether a point plainly allows all states at a location in which some variables have these values.
    fn plainly_allow(&self, loc: LocId, known: &Known) -> bool {
        let formula = self.values(known).and_then(|values| self.formulas.get(&(loc, values)));
        formula.is_some_and(|formula| known.implies(self.program, formula))
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

struct Checker<'a> {
    task: &'a Task<'a>,
    points: Points<'a>,
    solvers: Solvers<'a>,
}

impl<'a> Checker<'a> {
    /// Question 1. Variables of other procedures than the thread's first one are not used.
    fn start(&mut self, kind: EntryId) -> Result<(), Refused> {
        let program = self.task.program;
        let entry = &program.entries[kind];
        let loc = program.procs[entry.proc].entry;
        let mut text = Text::new(program);
        text.declare('c', &choice_types(program.init.iter().map(|(_, rhs)| rhs)));
        text.declare('d', &choice_types(entry.init.iter().map(|(_, rhs)| rhs)));
        text.define(Meaning::new(program, &mut Smt, &mut Letters('x', 'c')).start_shared()?);
        text.define(Meaning::new(program, &mut Smt, &mut Letters('y', 'd')).start_thread(kind)?);
        let others = program.procs.iter_enumerated().filter(|(proc, _)| *proc != entry.proc);
        let unused = others.flat_map(|(_, proc)| proc.locals.iter().copied());
        let default = |var: VarId| Ok((var, Some(Smt.lift(default_value(program.vars[var].ty))?)));
        text.define(unused.map(default).collect::<Result<_, Refused>>()?);
        self.refute_after(text, loc, &Known::nothing(program), Flaw::Start(loc))
    }

    /// Question 3, for locations.
    fn error_at(&mut self, point: &ControlPoint) -> Result<(), Refused> {
        if !self.task.target.has_loc(point.loc) {
            return Ok(());
        }
        let text = self.allowed(point)?;
        self.refute(text, Flaw::Location(point.loc))
    }

    /// Questions 2 and 3 for one edge: first with the values that are plain, then with a solver.
    fn edge(&mut self, point: &ControlPoint, known: &Known, id: EdgeId, edge: &Edge) -> Result<(), Refused> {
        let program = self.task.program;
        let Control::Go(to) = control(edge, None) else { return Ok(()) };
        if self.task.target.has_assert(id) {
            self.failure(point, known, id, edge)?;
        }
        let mut known = known.clone();
        match &edge.op {
            Op::Assign(assign) => known.learn(&assign.constrain),
            Op::Assert(condition) => known.learn(condition),
            _ => {}
        }
        let plain = Meaning::new(program, &mut Plain, &mut known.clone()).effect(edge, None)?;
        let mut guards = plain.conditions.iter().chain(&plain.asserted);
        // What changes nothing stays where it is.
        let stays = plain.writes.is_empty() && to == point.loc;
        if stays || guards.any(|guard| *guard == Some(Value::Bool(false))) {
            return Ok(());
        }
        for (var, value) in plain.writes {
            known.set(var, value.flatten());
        }
        if self.points.plainly_allow(to, &known) {
            return Ok(());
        }
        let mut text = self.allowed(point)?;
        text.declare('c', &choice_types(exprs(&edge.op)));
        let done = Meaning::new(program, &mut Smt, &mut Letters('x', 'c')).effect(edge, None)?;
        done.conditions.iter().chain(&done.asserted).for_each(|guard| text.require(guard));
        text.define(done.writes);
        self.refute_after(text, to, &known, Flaw::NotClosed(id))
    }

    /// The assertion of an edge cannot fail.
    fn failure(&mut self, point: &ControlPoint, known: &Known, id: EdgeId, edge: &Edge) -> Result<(), Refused> {
        let program = self.task.program;
        let plain = Meaning::new(program, &mut Plain, &mut known.clone()).effect(edge, None)?;
        if plain.asserted == Some(Some(Value::Bool(true))) {
            return Ok(());
        }
        let mut text = self.allowed(point)?;
        text.declare('c', &choice_types(exprs(&edge.op)));
        let done = Meaning::new(program, &mut Smt, &mut Letters('x', 'c')).effect(edge, None)?;
        done.conditions.iter().for_each(|guard| text.require(guard));
        done.asserted.iter().for_each(|holds| text.require(&format!("(not {holds})")));
        self.refute(text, Flaw::Assert(id))
    }

    /// A question in which the state before the step is one that the point allows.
    fn allowed(&self, point: &ControlPoint) -> Result<Text<'a>, Refused> {
        let mut text = Text::new(self.task.program);
        for (var, value) in self.points.control.iter().zip(&point.values) {
            text.require(&equation('x', *var, *value));
        }
        let formula = Meaning::new(self.task.program, &mut Smt, &mut Letters('x', 'c')).value(&point.formula)?;
        text.require(&formula);
        Ok(text)
    }

    /// The state after the step is at the location: some point must allow it. The points that are left out could allow
    /// it only if a variable had another value than is known.
    fn refute_after(&mut self, mut text: Text<'_>, loc: LocId, known: &Known, flaw: Flaw) -> Result<(), Refused> {
        text.keep_the_rest();
        let mut exclude = |(values, formula): (&[Value], &Expr)| text.exclude(self.points.control, values, formula);
        match self.points.values(known) {
            Some(values) => self.points.at_values(loc, values).try_for_each(&mut exclude)?,
            None => self.points.at(loc, known).try_for_each(&mut exclude)?,
        }
        self.refute(text, flaw)
    }

    fn refute(&mut self, text: Text<'_>, flaw: Flaw) -> Result<(), Refused> {
        if self.solvers.ask(&text.lines)? { Err(flaw.into()) } else { Ok(()) }
    }
}
