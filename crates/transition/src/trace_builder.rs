//! Builds executions from their end: threads have names while the search goes back, and get numbers at the end.
//!
//! The values before a step are those of a diagram: [`before_step`] relates them to known values after it, and a thread
//! that takes part in the step makes its own choices ([`own_choices`], [`pick_with`]).

use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, Count, Edge, EdgeId, EntryId, LocId, Op, Program, Value};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};

use crate::step::diagram::relation::Layout;
use crate::step::diagram::threads::{ThreadLayout, Values};
use crate::step::passive::is_common;

/// A step, with the names of threads instead of their numbers.
pub struct BackStep {
    pub mover: usize,
    pub edge: EdgeId,
    pub choices: Vec<bool>,
    /// The choices of the threads that take part.
    pub passive: Vec<(usize, Vec<bool>)>,
    /// The thread that the step starts.
    pub child: Option<usize>,
    pub fresh: Fresh,
}

impl BackStep {
    /// Creates a step with some choices, of which it makes the first ones; no other thread takes part.
    pub fn new(program: &Program, mover: usize, edge: EdgeId, choices: &[bool]) -> BackStep {
        let choices = choices_of(program, edge, choices);
        BackStep { mover, edge, choices, passive: Vec::new(), child: None, fresh: Vec::new() }
    }
}

/// Returns as many choices as an edge makes.
pub fn choices_of(program: &Program, edge: EdgeId, choices: &[bool]) -> Vec<bool> {
    choices[..program.edges[edge].op.choices().len()].to_vec()
}

/// Returns the old values and choices with which a step of a thread leads to given values: of the shared variables, of
/// the thread at its location, unless it has ended, and of a thread that the step has started. Other threads are left
/// aside.
pub fn before_step<L: ThreadLayout>(
    layout: &L,
    program: &Program,
    (mover, edge): (L::Agent, &Edge),
    shared: &[bool],
    own: Option<(LocId, &[bool])>,
    child: Option<&[bool]>,
) -> Result<Bdd, OutOfNodes> {
    if let (Op::Assign(assign), Some((loc, locals))) = (&edge.op, own) {
        let before = layout.before_assign(mover, assign, loc, Values { shared, locals })?;
        return before.and(&layout.value(mover, edge.needs())?);
    }
    let kept = layout.kept_vars();
    let mut before = layout.fixed(mover, &kept.shared, shared)?;
    if let Some((loc, locals)) = own {
        before = before.and(&layout.fixed(mover, kept.at(loc), locals)?)?;
    }
    if let Op::Assert(condition) = &edge.op {
        before = before.and(&layout.value(mover, condition)?)?;
    }
    before = before.and(&layout.value(mover, edge.needs())?)?;
    match child {
        Some(locals) => before.and(&layout.before_start(program, mover, &edge.op, locals)?),
        None => Ok(before),
    }
}

/// Returns the choices that each thread that takes part in an assignment makes for itself.
pub fn own_choices<L: Layout>(layout: &L, assign: &Assign) -> Vec<Var> {
    let choices = layout.choices().iter().zip(0..);
    choices.filter(|(_, number)| !is_common(assign, *number)).map(|(var, _)| *var).collect()
}

/// Picks values of some variables that satisfy a condition, given the values of others.
pub fn pick_with<L: Layout>(
    layout: &L,
    condition: &Bdd,
    known: &[(Var, bool)],
    vars: &[Var],
) -> Result<Vec<bool>, OutOfNodes> {
    let picked = condition.and(&layout.manager().cube(known)?)?.pick(vars);
    Ok(picked.expect("the known values satisfy the condition"))
}

/// An execution being built from its end.
#[derive(Default)]
pub struct TraceBuilder {
    /// The steps, the last one first.
    pub steps: Vec<BackStep>,
    n_names: usize,
    /// The initial threads, once the way back has reached them.
    pub starts: Vec<(usize, StartThread)>,
}

impl TraceBuilder {
    /// Returns a name that is not in use.
    pub fn name(&mut self) -> usize {
        self.n_names += 1;
        self.n_names - 1
    }

    /// Returns the execution. It begins with the prelude's thread, if there is one, and the given choices and fresh
    /// values.
    pub fn build(mut self, program: &Program, prelude: Option<usize>, choices: Vec<Value>, fresh: Fresh) -> Trace {
        let mut numbers = Numbers { of: vec![None; self.n_names], next: 0 };
        if let Some(name) = prelude {
            numbers.number(name);
            // A run that ends inside the prelude has initial threads, too.
            if self.starts.is_empty() {
                self.starts = waiting_threads(program).into_iter().map(|start| (usize::MAX, start)).collect();
            }
        }
        self.starts.iter().for_each(|(name, _)| numbers.number(*name));
        let start = Start { choices, fresh, threads: self.starts.into_iter().map(|(_, start)| start).collect() };
        let steps = self.steps.into_iter().rev().map(|made| numbers.step(made)).collect();
        Trace { start, steps, bodies: Vec::new() }
    }
}

/// Returns as few initial threads as the program allows, for executions that end before these begin to run.
pub fn waiting_threads(program: &Program) -> Vec<StartThread> {
    let start = |entry: EntryId| {
        let n_choices = choice_types(program.entries[entry].init.iter().map(|(_, rhs)| rhs)).len();
        StartThread { entry, choices: vec![Value::Bool(false); n_choices], fresh: Vec::new() }
    };
    let least = |count: Count| if let Count::Exactly(count) = count { count as usize } else { 0 };
    let entries = program.entries.iter_enumerated();
    entries.flat_map(|(id, entry)| std::iter::repeat_n(start(id), least(entry.count))).collect()
}

/// The numbers of threads by name.
struct Numbers {
    of: Vec<Option<u32>>,
    next: u32,
}

impl Numbers {
    /// Gives a thread the next number.
    fn number(&mut self, name: usize) {
        if let Some(number) = self.of.get_mut(name) {
            *number = Some(self.next);
        }
        self.next += 1;
    }

    /// Converts a step from names to numbers of threads.
    fn step(&mut self, made: BackStep) -> Step {
        let values = |choices: Vec<bool>| choices.into_iter().map(Value::Bool).collect::<Vec<Value>>();
        let of = |name: usize| self.of[name].expect("a thread has a number when it moves");
        let thread = ThreadId(of(made.mover));
        let mut passive: Vec<(u32, Vec<bool>)> =
            made.passive.into_iter().map(|(name, choices)| (of(name), choices)).collect();
        passive.sort_by_key(|(number, _)| *number);
        if let Some(child) = made.child {
            self.number(child);
        }
        Step {
            thread,
            edge: made.edge,
            choices: values(made.choices),
            passive: passive.into_iter().map(|(_, choices)| values(choices)).collect(),
            fresh: made.fresh,
            body: None,
        }
    }
}
