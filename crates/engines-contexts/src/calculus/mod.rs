//! The fixed-point calculus: solves systems of equations over the relations of a program.
//!
//! After La Torre, Madhusudan and Parlato (2009), who write model checkers as equations. A program provides the base
//! relations (`base`); equations are translated to terms over named columns (`elaborate`) and solved by
//! [`selvedge_logic::fixpoint`], which explains the method. The engines may be faster; they must agree.

mod base;
mod elaborate;
mod encode;
mod used;

use selvedge_check::{Run, Stop, Unsupported};
use selvedge_ir::fp::{Base, Equation, Fixpoint, Formula, Symbol};
use selvedge_ir::{Count, Op, Program, Target, Ty};
use selvedge_logic::bdd::OutOfNodes;
use selvedge_logic::fixpoint::{Change, Order, Watch};
use selvedge_logic::relation::Relation;
use selvedge_transition::out_of_nodes;

use crate::thread_paths::track::track;
use crate::threads::{MOST_COUNTED, thread_limit};
use base::Bases;
use elaborate::elaborate;

/// The size of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its name.
    pub relation: String,
    /// The layer, and the number of rounds that the layer had taken before; `None` for the final size.
    pub step: Option<(usize, usize)>,
    /// The number of tuples; `None` if it exceeds 128 bits.
    pub tuples: Option<u128>,
    /// The nodes of its diagram.
    pub nodes: usize,
}

impl Size {
    fn of(equation: &Equation, step: Option<(usize, usize)>, value: &Relation) -> Size {
        Size { relation: equation.name.clone(), step, tuples: value.count(), nodes: value.bdd().node_count() }
    }
}

/// A solution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Solved {
    /// Set if the relation `Error()` holds, or an error is reached in `init`, which equations do not cover.
    pub error: bool,
    /// The sizes of all relations at the end.
    pub sizes: Vec<Size>,
    /// The sizes while relations grew, if requested.
    pub growth: Vec<Size>,
}

/// The times at which sizes are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeReports {
    /// Only at the end.
    End,
    /// In every round.
    Rounds,
}

/// Returns whether a program has the relations that the equations mention.
pub fn supports(fixpoint: &Fixpoint, program: &Program) -> Result<(), Unsupported> {
    if let Some(var) = program.vars.iter().find(|var| var.ty == Ty::Int) {
        return Err(Unsupported::new(format!(
            "`{}` is an integer, but equations only support Boolean programs",
            var.name
        )));
    }
    if program.has_machine_integers() {
        let reason = "there are machine integers, but equations only support Boolean programs";
        return Err(Unsupported::new(reason));
    }
    let of_prelude = |edge: &selvedge_ir::Edge| Some(program.locs[edge.from].proc) == program.prelude;
    let uses_calls = uses(fixpoint, Base::Call);
    for (id, edge) in program.edges.iter_enumerated() {
        let reason = match &edge.op {
            Op::Spawn(_) | Op::Fork(_) => "equations only support threads that exist from the beginning",
            Op::Assign(assign) if assign.is_passive() => "equations only support steps of one thread",
            Op::Call(_) if of_prelude(edge) => "calls before the threads start are not supported",
            Op::Call(_) if !uses_calls => "the equations do not mention calls, but this is one",
            _ => continue,
        };
        return Err(Unsupported::at(id, reason));
    }
    supports_counts(fixpoint, program)
}

/// Returns whether the equations cover the numbers of threads. Without an order of the templates and without counts
/// they are about one thread, or, if they say where a turn may end, about any number.
fn supports_counts(fixpoint: &Fixpoint, program: &Program) -> Result<(), Unsupported> {
    let one = program.entries.len() <= 1;
    if uses(fixpoint, Base::Next) && !uses(fixpoint, Base::Last) && one {
        return Err(Unsupported::new("the equations are about several templates, but the program has one"));
    }
    if !uses(fixpoint, Base::Begin) {
        return Ok(());
    }
    let single = |count: Count| matches!(count, Count::Exactly(1) | Count::AtMost(1));
    let (what, fits): (&str, &dyn Fn(Count) -> bool) = if uses(fixpoint, Base::First) {
        ("one thread of each template", &single)
    } else if uses(fixpoint, Base::More) {
        ("up to 32 threads of each template, or any number", &|count| {
            thread_limit(count).is_none_or(|limit| limit <= MOST_COUNTED)
        })
    } else if uses(fixpoint, Base::Free) {
        ("any number of threads of each template", &|count| count == Count::Any)
    } else {
        ("one thread", &|count| one && single(count))
    };
    match program.entries.iter().find(|entry| !fits(entry.count)) {
        Some(entry) => {
            let reason = format!("the equations are about {what}, which does not fit `{}`", entry.name);
            Err(Unsupported::new(reason))
        }
        None => Ok(()),
    }
}

/// Returns whether some equation mentions a relation of the program.
fn uses(fixpoint: &Fixpoint, base: Base) -> bool {
    fn in_formula(formula: &Formula, base: Base) -> bool {
        match formula {
            Formula::True | Formula::False | Formula::Equal { .. } => false,
            Formula::Atom { symbol, .. } => *symbol == Symbol::Base(base),
            Formula::And(parts) | Formula::Or(parts) => parts.iter().any(|part| in_formula(part, base)),
            Formula::Exists { body, .. } => in_formula(body, base),
        }
    }
    fixpoint.equations.iter().any(|equation| in_formula(&equation.body, base))
}

/// Solves a system that [`supports`] accepts.
pub fn solve(
    fixpoint: &Fixpoint,
    program: &Program,
    target: &Target,
    reports: SizeReports,
    run: &Run<'_>,
) -> Result<Solved, Stop> {
    let tracked = track(program);
    let bases = Bases::new(&tracked, target, fixpoint, run)?;
    let system = elaborate(fixpoint, &bases).map_err(out_of_nodes)?;
    let mut watcher = Watcher { run, names: fixpoint, reports, growth: Vec::new() };
    let order = match reports {
        SizeReports::End => Order::Priority,
        SizeReports::Rounds => Order::Rounds,
    };
    let solution = system.solve(order, &mut watcher).map_err(|CalculusStop(stop)| stop)?;
    let values = fixpoint.equations.iter().zip(&solution);
    let sizes = values.map(|(equation, value)| Size::of(equation, None, value)).collect();
    let fails = fixpoint.answer.is_some_and(|answer| !solution[answer].is_empty());
    Ok(Solved { error: fails || bases.init_fails, sizes, growth: watcher.growth })
}

/// Observes the solver within the limits of a run.
struct Watcher<'r, 'o> {
    run: &'r Run<'o>,
    names: &'r Fixpoint,
    reports: SizeReports,
    growth: Vec<Size>,
}

/// The reason why the solver stopped.
struct CalculusStop(Stop);

impl From<OutOfNodes> for CalculusStop {
    fn from(error: OutOfNodes) -> CalculusStop {
        CalculusStop(out_of_nodes(error))
    }
}

impl Watch for Watcher<'_, '_> {
    type Stop = CalculusStop;

    fn tick(&mut self) -> Result<(), CalculusStop> {
        self.run.check_limits().map_err(CalculusStop)
    }

    fn grown(&mut self, change: &Change<'_>) {
        if self.reports == SizeReports::Rounds {
            let equation = &self.names.equations[change.relation.index()];
            self.growth.push(Size::of(equation, Some((change.layer, change.step)), change.value));
        }
    }
}
