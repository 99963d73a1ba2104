//! Steps on explicit valuations.
//!
//! A thread sees two valuations: the shared variables, and its own. Everything nondeterministic in a step is a *draw*:
//! first the choices of the edge, by number, then the variables that start with any value. [`Explicit::steps`] tries
//! all draws that make a difference, and abandons those that the condition of an assignment rules out as soon as it
//! can. A search says where the values of variables are ([`Slots`]), which of them it keeps at each location, and what
//! it does with each [`Outcome`].

pub mod values;

use index_vec::IndexVec;
use selvedge_check::{Run, Stop};
use selvedge_ir::trace::Fresh;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Call, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Spawn, Value, VarId};

use self::values::{Bits, Tri, choices_of, eval, for_each_choice, get, set, zeros};
use crate::step::control::call_at;
use crate::step::vars::Slots;

/// The values of all variables that a thread sees.
#[derive(Clone, Copy)]
pub struct View<'v> {
    pub shared: &'v [u64],
    pub locals: &'v [u64],
}

/// The values of all variables that a thread sees, or a set of such variables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Values {
    pub shared: Bits,
    pub locals: Bits,
}

impl Values {
    pub fn view(&self) -> View<'_> {
        View { shared: &self.shared, locals: &self.locals }
    }
}

/// The values that are drawn in a step or at a start.
pub struct Draws {
    n_choices: usize,
    /// The variables that start with any value.
    fresh: Vec<VarId>,
    /// The draws that make a difference: choices, and after all choices the fresh variables.
    used: Vec<u32>,
}

impl Draws {
    fn new<'e>(n_choices: usize, exprs: impl Iterator<Item = &'e Expr>, fresh: Vec<VarId>) -> Draws {
        let of_fresh = (0..fresh.len()).map(|number| (n_choices + number) as u32);
        Draws { n_choices, used: choices_of(exprs).into_iter().chain(of_fresh).collect(), fresh }
    }

    /// Returns the number of draws that make a difference.
    pub fn n_used(&self) -> usize {
        self.used.len()
    }

    /// Returns drawn values as a number, the first draw lowest.
    pub fn number(&self, drawn: &[Tri]) -> u64 {
        let bits = self.used.iter().enumerate().map(|(at, used)| (drawn[*used as usize], at));
        bits.fold(0, |number, (value, at)| number | u64::from(value == Tri::True) << at)
    }

    /// Returns the drawn values with a number.
    pub fn numbered(&self, number: u64) -> Vec<bool> {
        let mut drawn = vec![false; self.n_choices + self.fresh.len()];
        self.used.iter().enumerate().for_each(|(at, used)| drawn[*used as usize] = number >> at & 1 == 1);
        drawn
    }

    /// Returns the choices and the fresh variables. Choices that were not drawn are false; fresh variables that were
    /// not drawn are left out.
    pub fn split(&self, drawn: &[bool]) -> (Vec<bool>, Vec<(VarId, bool)>) {
        let choices = (0..self.n_choices).map(|number| drawn.get(number).copied().unwrap_or(false));
        let fresh = self.fresh.iter().zip(drawn.iter().skip(self.n_choices));
        (choices.collect(), fresh.map(|(var, value)| (*var, *value)).collect())
    }

    fn fresh_draws<'d>(&'d self, drawn: &'d [Tri]) -> impl Iterator<Item = (VarId, bool)> + 'd {
        self.fresh.iter().zip(&drawn[self.n_choices..]).map(|(var, value)| (*var, *value == Tri::True))
    }

    /// Calls `found` with all draws that `may` allows, the last one varying fastest.
    fn each(&self, run: &Run<'_>, may: &dyn Fn(&[Tri]) -> bool, found: &mut dyn FnMut(&[Tri])) -> Result<(), Stop> {
        let mut drawn = vec![Tri::Open; self.n_choices + self.fresh.len()];
        for_each_choice(&self.used, &mut drawn, &mut |drawn| run.tick().map(|()| may(drawn)), found)
    }
}

/// The result of a step of a thread.
pub enum Outcome<'p> {
    /// The thread goes to the end of the edge with these values.
    Next(Values),
    /// An assertion holds: the thread goes to the end of the edge.
    Passes,
    /// An assertion fails.
    Fails,
    /// The thread goes to the end of the edge and then holds the atomic flag, or does not.
    Holds(bool),
    /// The thread enters a procedure with these values of its own variables.
    Calls(&'p Call, Bits),
    /// The thread returns these values.
    Returns(Vec<bool>),
    /// The thread ends.
    Ends,
    /// The thread goes to the end of the edge, and unless there are too many threads a new one begins at a location,
    /// with these values of its own variables.
    Starts(Option<(LocId, Bits)>),
}

/// The steps of a program, for places of its variables.
pub struct Explicit<'p> {
    pub program: &'p Program,
    pub slots: Slots,
    /// The variables whose values are kept at each location; the others are false.
    kept: IndexVec<LocId, Values>,
    edges: IndexVec<EdgeId, EdgePlan<'p>>,
}

/// What is known about the steps along an edge before they are made.
struct EdgePlan<'p> {
    draws: Draws,
    /// Whether each of the assignments makes a difference.
    needed: Vec<bool>,
    /// The condition of an assignment, unless it is about other threads: without any it holds, and a search with other
    /// threads asks them.
    condition: Option<&'p Expr>,
}

impl<'p> Explicit<'p> {
    /// Prepares the steps of a program that keeps the variables of each location for which `keeps` holds.
    pub fn new(program: &'p Program, slots: Slots, keeps: &dyn Fn(LocId, VarId) -> bool) -> Explicit<'p> {
        let kept = program.locs.iter_enumerated().map(|(id, loc)| {
            let mut kept = slots.blank();
            for var in slots.shared.iter().chain(&slots.thread_vars).chain(&program.procs[loc.proc].locals) {
                slots.write(&mut kept, *var, keeps(id, *var));
            }
            kept
        });
        let mut explicit = Explicit { program, kept: kept.collect(), slots, edges: IndexVec::new() };
        explicit.edges = program.edges.indices().map(|edge| explicit.plan(edge)).collect();
        explicit
    }

    fn plan(&self, id: EdgeId) -> EdgePlan<'p> {
        let edge = &self.program.edges[id];
        let n_choices = edge.op.choices().len();
        let (mut needed, mut condition) = (Vec::new(), None);
        let draws = match &edge.op {
            Op::Assign(assign) => {
                let is_needed = |(var, rhs): &(VarId, Expr)| {
                    self.keeps(edge.to, *var) || assign.constrains_next(*var) || assign.binds_choices(rhs)
                };
                needed = assign.active.iter().map(is_needed).collect();
                condition = Some(&assign.constrain).filter(|condition| !condition.is_passive());
                let sides = assign.active.iter().zip(&needed).filter(|(_, needed)| **needed).map(|((_, rhs), _)| rhs);
                Draws::new(n_choices, sides.chain(condition), Vec::new())
            }
            Op::Call(Call { callee, .. }) | Op::Spawn(Spawn { callee, .. }) => {
                Draws::new(n_choices, edge.op.exprs(), self.open_locals(*callee))
            }
            op => Draws::new(n_choices, op.exprs(), Vec::new()),
        };
        EdgePlan { draws, needed, condition }
    }

    /// Returns the draws in a step along an edge.
    pub fn draws(&self, edge: EdgeId) -> &Draws {
        &self.edges[edge].draws
    }

    /// Returns whether the value of a variable is kept at a location.
    pub fn keeps(&self, loc: LocId, var: VarId) -> bool {
        let kept = &self.kept[loc];
        self.slots.read(&kept.shared, &kept.locals, var)
    }

    /// Forgets the values of a thread's own variables that are not kept at a location.
    pub fn forget(&self, loc: LocId, locals: &mut Bits) {
        locals.iter_mut().zip(&self.kept[loc].locals).for_each(|(bits, kept)| *bits &= kept);
    }

    /// Forgets the values of shared variables that are not kept at a location.
    pub fn forget_shared(&self, loc: LocId, shared: &mut Bits) {
        shared.iter_mut().zip(&self.kept[loc].shared).for_each(|(bits, kept)| *bits &= kept);
    }

    /// Returns the locals of a procedure that start with any value and are kept at its entry.
    pub fn open_locals(&self, proc: ProcId) -> Vec<VarId> {
        let this = &self.program.procs[proc];
        let is_open = |var: &VarId| !this.params.contains(var) && self.keeps(this.entry, *var);
        this.locals.iter().copied().filter(is_open).collect()
    }

    /// Calls `found` with the draws and the outcome of each step along an edge. Threads start only if `may_start`
    /// holds. Values are not forgotten.
    pub fn steps(
        &self,
        id: EdgeId,
        now: View<'_>,
        may_start: bool,
        run: &Run<'_>,
        found: &mut dyn FnMut(&[Tri], Outcome<'p>),
    ) -> Result<(), Stop> {
        let edge = &self.program.edges[id];
        if self.value(edge.needs(), now, &[]) == Tri::False {
            return Ok(());
        }
        let op = &edge.op;
        if !may_start && matches!(op, Op::Spawn(_) | Op::Fork(_)) {
            found(&[], Outcome::Starts(None));
            return Ok(());
        }
        let plan = &self.edges[id];
        let may = |drawn: &[Tri]| match (op, plan.condition) {
            (Op::Assign(assign), Some(condition)) => self.holds(condition, assign, now, drawn) != Tri::False,
            _ => true,
        };
        plan.draws.each(run, &may, &mut |drawn| found(drawn, self.outcome(id, now, drawn)))
    }

    /// Returns the outcome of a step that exists.
    fn outcome(&self, id: EdgeId, now: View<'_>, drawn: &[Tri]) -> Outcome<'p> {
        let program = self.program;
        let holds = |expr: &Expr| self.value(expr, now, drawn) == Tri::True;
        match &program.edges[id].op {
            Op::Assign(assign) => Outcome::Next(self.assigned(assign, &self.edges[id].needed, now, drawn)),
            Op::Assert(condition) if holds(condition) => Outcome::Passes,
            Op::Assert(_) => Outcome::Fails,
            Op::Call(call) => Outcome::Calls(call, self.entered(id, call.callee, &call.args, now, drawn)),
            Op::Return(values) => Outcome::Returns(values.iter().map(holds).collect()),
            Op::End => Outcome::Ends,
            Op::Spawn(spawn) => {
                let entry = program.procs[spawn.callee].entry;
                Outcome::Starts(Some((entry, self.entered(id, spawn.callee, &spawn.args, now, drawn))))
            }
            Op::Fork(at) => Outcome::Starts(Some((*at, now.locals.into()))),
            Op::AtomicBegin => Outcome::Holds(true),
            Op::AtomicEnd => Outcome::Holds(false),
        }
    }

    /// Returns the value of a leaf before a step.
    fn leaf(&self, leaf: &Expr, now: View<'_>, drawn: &[Tri]) -> Tri {
        match leaf {
            Expr::Var(var) => Tri::known(self.slots.read(now.shared, now.locals, *var)),
            Expr::Choice(number, _) => drawn[*number as usize],
            _ => unreachable!("the validator allows other leaves in constraints only"),
        }
    }

    /// Returns the value of an expression without new values, as far as its draws are known.
    fn value(&self, expr: &Expr, now: View<'_>, drawn: &[Tri]) -> Tri {
        eval(expr, &|leaf| self.leaf(leaf, now, drawn))
    }

    /// Returns the value of an assignment's condition, as far as the draws are known.
    fn holds(&self, condition: &Expr, assign: &Assign, now: View<'_>, drawn: &[Tri]) -> Tri {
        eval(condition, &|leaf| match leaf {
            Expr::Next(var) => match assign.active.iter().find(|(assigned, _)| assigned == var) {
                Some((_, rhs)) => self.value(rhs, now, drawn),
                None => Tri::known(self.slots.read(now.shared, now.locals, *var)),
            },
            leaf => self.leaf(leaf, now, drawn),
        })
    }

    /// Returns the values after an assignment, as far as they are needed.
    fn assigned(&self, assign: &Assign, needed: &[bool], now: View<'_>, drawn: &[Tri]) -> Values {
        let mut after = Values { shared: now.shared.into(), locals: now.locals.into() };
        for ((var, rhs), _) in assign.active.iter().zip(needed).filter(|(_, needed)| **needed) {
            self.slots.write(&mut after, *var, self.value(rhs, now, drawn) == Tri::True);
        }
        after
    }

    /// Returns the own variables of a thread that enters a procedure, or begins with it: per-thread variables as they
    /// are, the arguments, and fresh locals.
    fn entered(&self, id: EdgeId, callee: ProcId, args: &[Expr], now: View<'_>, drawn: &[Tri]) -> Bits {
        let slots = &self.slots;
        let mut locals = zeros(slots.n_locals);
        for place in slots.thread_vars.iter().map(|var| slots.get(*var)) {
            set(&mut locals, place, get(now.locals, place));
        }
        for (param, arg) in self.program.procs[callee].params.iter().zip(args) {
            set(&mut locals, slots.get(*param), self.value(arg, now, drawn) == Tri::True);
        }
        for (var, value) in self.edges[id].draws.fresh_draws(drawn) {
            set(&mut locals, slots.get(var), value);
        }
        locals
    }

    /// Assigns the results of a call that returns to the values of its caller; returns whether what it ensures holds
    /// then, so that it can return.
    pub fn resume(&self, id: EdgeId, caller: &mut Values, results: &[bool]) -> bool {
        for (result, value) in call_at(self.program, id).results.iter().zip(results) {
            if let Some(var) = result {
                self.slots.write(caller, *var, *value);
            }
        }
        self.value(self.program.edges[id].ensures_by_return(), caller.view(), &[]) == Tri::True
    }

    /// Returns the variables of an initial thread of a kind that start with any value and are kept at its entry.
    pub fn open_vars(&self, entry: EntryId) -> Vec<VarId> {
        let kind = &self.program.entries[entry];
        let proc = &self.program.procs[kind.proc];
        let thread_vars = kind.thread_vars.iter().filter(|var| !initialises(&kind.init, **var));
        let open = thread_vars.chain(&proc.params).copied().filter(|var| self.keeps(proc.entry, *var));
        open.chain(self.open_locals(kind.proc)).collect()
    }

    /// Calls `found` with the draws and the values of each start. Initial values read `before`; variables that they do
    /// not assign and that are not drawn have their values there.
    pub fn starts(
        &self,
        init: &[(VarId, Expr)],
        draws: &Draws,
        before: &Values,
        run: &Run<'_>,
        found: &mut dyn FnMut(&[Tri], Values),
    ) -> Result<(), Stop> {
        draws.each(run, &|_| true, &mut |drawn| {
            let mut values = before.clone();
            for (var, rhs) in init {
                self.slots.write(&mut values, *var, self.value(rhs, before.view(), drawn) == Tri::True);
            }
            for (var, value) in draws.fresh_draws(drawn) {
                self.slots.write(&mut values, var, value);
            }
            found(drawn, values);
        })
    }
}

/// Returns the draws of initial values, with some variables that start with any value.
pub fn initial_draws(init: &[(VarId, Expr)], open: Vec<VarId>) -> Draws {
    let sides = || init.iter().map(|(_, rhs)| rhs);
    Draws::new(choice_types(sides()).len(), sides(), open)
}

/// Returns whether each draw is true. Those that make no difference are false.
pub fn known(drawn: &[Tri]) -> Vec<bool> {
    drawn.iter().map(|value| *value == Tri::True).collect()
}

/// Converts choices to those of a trace.
pub fn values(choices: &[bool]) -> Vec<Value> {
    choices.iter().map(|value| Value::Bool(*value)).collect()
}

/// Converts fresh values to those of a trace.
pub fn fresh(fresh: &[(VarId, bool)]) -> Fresh {
    fresh.iter().map(|(var, value)| (*var, Value::Bool(*value))).collect()
}

/// Returns whether a variable has an initial value.
pub fn initialises(init: &[(VarId, Expr)], var: VarId) -> bool {
    init.iter().any(|(initialised, _)| *initialised == var)
}
