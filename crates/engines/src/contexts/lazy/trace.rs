//! From an error back to the start: an execution in which the threads take turns.
//!
//! First the boundaries of all contexts (`boundaries`), then each thread on its own (`walk`). Every step is noted with
//! its context; the execution is the steps of all threads, sorted by context.

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{EntryId, Expr, Scope, Value, VarId};
use selvedge_logic::bdd::OutOfNodes;

use super::boundaries::{Boundaries, Vector};
use super::columns::Side;
use super::kind::Root;
use super::rounds::{Met, Rounds};
use super::walk::{Part, Walker};
use crate::out_of_nodes;
use crate::paths::back::{Back, Tuple};
use crate::paths::layout::When;
use crate::paths::step::value;

impl Rounds<'_, '_> {
    /// An execution that ends in the error.
    pub(super) fn trace(&self, met: &Met) -> Result<Trace, Stop> {
        match met {
            Met::Alone(error) => {
                let prelude = self.prelude.as_ref().expect("only a prelude fails before the threads");
                let part = Walker::new(prelude, 0).to_error(error)?;
                self.assembled(None, part, Vec::new()).map_err(out_of_nodes)
            }
            Met::In { thread, error } => {
                let failing = self.walker(*thread).to_error(error)?;
                let boundaries = self.boundaries(*thread, self.own(&failing)).map_err(out_of_nodes)?;
                let parts = self.parts(*thread, failing, &boundaries)?;
                let first = boundaries[0].begun[..self.world.columns.shared.len()].to_vec();
                let before = match &self.prelude {
                    Some(prelude) => Walker::new(prelude, 0).to_finished(&first)?,
                    None => Part::default(),
                };
                self.assembled(Some(first), before, parts).map_err(out_of_nodes)
            }
        }
    }

    fn walker(&self, thread: usize) -> Walker<'_, '_> {
        Walker::new(&self.kinds[self.threads[thread]], usize::from(self.prelude.is_some()) + thread)
    }

    /// The boundaries of the thread that fails.
    fn own(&self, failing: &Part) -> Boundaries {
        let (layout, columns) = (&self.world.layout, &self.world.columns);
        let vector = |side: Side, last: u32| -> Vector {
            columns.columns(layout, side, 1, last).iter().map(|var| failing.history[var]).collect()
        };
        Boundaries { begun: vector(Side::In, self.count()), ended: vector(Side::Out, self.count() - 1) }
    }

    fn parts(&self, thread: usize, failing: Part, boundaries: &[Boundaries]) -> Result<Vec<Part>, Stop> {
        let mut failing = Some(failing);
        let part = |(other, boundaries): (usize, &Boundaries)| match failing.take_if(|_| other == thread) {
            Some(part) => Ok(part),
            None => self.walker(other).to_effect(boundaries),
        };
        boundaries.iter().enumerate().map(part).collect()
    }

    /// The whole execution, from what each thread does; `shared` are the values when the threads begin.
    fn assembled(&self, shared: Option<Vector>, before: Part, parts: Vec<Part>) -> Result<Trace, OutOfNodes> {
        let (layout, program) = (&self.world.layout, self.world.program);
        let back = Back { layout, program, thread: ThreadId(0) };
        let now = self.world.columns.now(layout);
        let values: Tuple = match (&before.entry, shared) {
            (Some(entry), _) => now.iter().map(|var| (*var, entry[var])).collect(),
            (None, shared) => now.into_iter().zip(shared.expect("threads begin somehow")).collect(),
        };
        let open = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Shared);
        let mut fresh = uninitialised(&program.init, open, |var| values[&layout.var(var, When::Now)]);
        if let (Some(prelude), Some(entry)) = (&self.prelude, &before.entry) {
            fresh.extend(back.fresh_locals(prelude.root.proc, entry));
        }
        let mut threads = Vec::new();
        for (place, kind) in self.threads.iter().enumerate() {
            let begins = parts.get(place).and_then(|part| part.entry.as_ref());
            threads.push(start_thread(&back, &self.kinds[*kind].root, EntryId::new(place), begins)?);
        }
        let start = Start { choices: back.initial_choices(&program.init, &values)?, fresh, threads };
        let mut steps: Vec<(u32, Step)> = parts.into_iter().flat_map(|part| part.steps).collect();
        // Threads stay in their order within a context.
        steps.sort_by_key(|(context, _)| *context);
        let steps = before.steps.into_iter().chain(steps).map(|(_, step)| step).collect();
        Ok(Trace { start, steps, bodies: Vec::new() })
    }
}

/// How a thread comes to life that begins with this path edge; without one, anyhow.
fn start_thread(
    back: &Back<'_>,
    root: &Root,
    entry: EntryId,
    begins: Option<&Tuple>,
) -> Result<StartThread, OutOfNodes> {
    let (layout, program) = (back.layout, back.program);
    let is_local = |var: &VarId| matches!(program.vars[*var].scope, Scope::Local(_));
    let globals = layout.vars(program.vars.indices().filter(|var| !is_local(var)), When::Now);
    let known: Tuple = begins
        .map(|begins| globals.iter().filter_map(|var| Some((*var, *begins.get(var)?))).collect())
        .unwrap_or_default();
    let values = back.pick(&layout.initial(&root.init)?.and(&back.cube(&known)?)?, &globals);
    let vars = root.thread_vars.iter().copied();
    let mut fresh = uninitialised(&root.init, vars, |var| values[&layout.var(var, When::Now)]);
    let choices = match begins {
        Some(begins) => {
            let locals = program.procs[root.proc].locals.iter();
            fresh.extend(locals.map(|local| (*local, value(begins[&layout.var(*local, When::Now)]))));
            back.initial_choices(&root.init, &values)?
        }
        None => vec![Value::Bool(false); choice_types(root.init.iter().map(|(_, rhs)| rhs)).len()],
    };
    Ok(StartThread { entry, choices, fresh })
}

/// The values of variables without initial value.
fn uninitialised(init: &[(VarId, Expr)], vars: impl Iterator<Item = VarId>, of: impl Fn(VarId) -> bool) -> Fresh {
    let open = vars.filter(|var| !init.iter().any(|(initialised, _)| initialised == var));
    open.map(|var| (var, value(of(var)))).collect()
}
