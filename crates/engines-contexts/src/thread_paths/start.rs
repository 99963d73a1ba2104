//! The start of the threads: the shared states in which they start, and executions assembled from the runs of threads.

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{EntryId, Expr, Program, Scope, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::back::{Back, Tuple};
use selvedge_transition::paths::layout::When;
use selvedge_transition::paths::step::value;

use super::columns::Side;
use super::shared_model::SharedModel;
use super::template_paths::{PathError, TemplatePaths, ThreadRoot};
use super::walk::{StateVector, ThreadRun};

/// Computes the shared states when the threads start, as those with which a first context begins, or an error of the
/// code before. Some shared variables keep the values that others have then.
pub(crate) fn initial<'w, 'a>(
    model: &'w SharedModel<'a>,
    prelude: Option<&mut TemplatePaths<'w, 'a>>,
    kept: &[(VarId, VarId)],
) -> Result<Result<Bdd, PathError>, Stop> {
    let mut states = model.layout.initial(&model.program.init).map_err(out_of_nodes)?;
    if let Some(prelude) = prelude {
        if let Some(error) = prelude.begin_alone(&states)? {
            return Ok(Err(error));
        }
        states = prelude.finished.clone();
    }
    let (layout, columns) = (&model.layout, &model.columns);
    let pair = |(var, kept): &(VarId, VarId)| (layout.var(*var, When::Now), layout.var(*kept, When::Now));
    let kept = layout.manager.equal(&kept.iter().map(pair).collect::<Vec<_>>());
    let states = kept.and_then(|kept| states.and(&kept)).map_err(out_of_nodes)?;
    columns.meet(layout, &states).map_err(out_of_nodes)?;
    let first = columns.column(layout, Side::In, 1);
    Ok(Ok(columns.now_to(layout, &states, &first).map_err(out_of_nodes)?))
}

/// Returns the templates of the threads with which a program begins, and for each of its entries the number of its
/// template. Entries that begin alike share a template.
pub(crate) fn templates<'w, 'a>(
    model: &'w SharedModel<'a>,
    program: &Program,
) -> (Vec<TemplatePaths<'w, 'a>>, Vec<usize>) {
    let mut templates: Vec<TemplatePaths<'w, 'a>> = Vec::new();
    let mut of_entries = Vec::new();
    for entry in &program.entries {
        let alike = |template: &TemplatePaths<'w, 'a>| {
            (template.root.proc, &template.root.thread_vars, &template.root.init)
                == (entry.proc, &entry.thread_vars, &entry.init)
        };
        of_entries.push(templates.iter().position(alike).unwrap_or(templates.len()));
        if of_entries.last() == Some(&templates.len()) {
            let (thread_vars, init) = (entry.thread_vars.clone(), entry.init.clone());
            templates.push(TemplatePaths::new(model, ThreadRoot { proc: entry.proc, thread_vars, init }));
        }
    }
    (templates, of_entries)
}

/// Returns the code before the threads.
pub(crate) fn prelude<'w, 'a>(model: &'w SharedModel<'a>, program: &Program) -> Option<TemplatePaths<'w, 'a>> {
    let alone = |proc| TemplatePaths::new(model, ThreadRoot { proc, thread_vars: Vec::new(), init: Vec::new() });
    program.prelude.map(alone)
}

/// The parts of an execution: the code before the threads, and the run of each thread.
pub(crate) struct ExecutionParts<'s, 'a> {
    pub(crate) model: &'s SharedModel<'a>,
    pub(crate) prelude: Option<&'s TemplatePaths<'s, 'a>>,
    pub(crate) before: ThreadRun,
    /// The values of the shared variables when the threads start; `None` if they never do.
    pub(crate) shared: Option<StateVector>,
    /// The threads in the order of their numbers.
    pub(crate) threads: Vec<(EntryId, &'s ThreadRoot)>,
    /// The runs of the first of them. The others do nothing.
    pub(crate) parts: Vec<ThreadRun>,
}

impl ExecutionParts<'_, '_> {
    /// Assembles the whole execution; within a context the threads have their turns in the order of the parts.
    pub(crate) fn assembled(self) -> Result<Trace, OutOfNodes> {
        let (layout, program) = (&self.model.layout, self.model.program);
        let back = Back { layout, program, thread: ThreadId(0) };
        let now = self.model.columns.now(layout);
        let values: Tuple = match (&self.before.entry, self.shared) {
            (Some(entry), _) => now.iter().map(|var| (*var, entry[var])).collect(),
            (None, shared) => now.into_iter().zip(shared.expect("threads begin somehow")).collect(),
        };
        let open = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Shared);
        let mut fresh = uninitialised(&program.init, open, |var| values[&layout.var(var, When::Now)]);
        if let (Some(prelude), Some(entry)) = (self.prelude, &self.before.entry) {
            fresh.extend(back.fresh_locals(prelude.root.proc, entry));
        }
        let mut threads = Vec::new();
        for (place, (entry, root)) in self.threads.iter().enumerate() {
            let begins = self.parts.get(place).and_then(|part| part.entry.as_ref());
            threads.push(start_thread(&back, root, *entry, begins)?);
        }
        let start = Start { choices: back.initial_choices(&program.init, &values)?, fresh, threads };
        let mut steps: Vec<(u32, Step)> = self.parts.into_iter().flat_map(|part| part.steps).collect();
        // The sort is stable: threads keep their order within a context.
        steps.sort_by_key(|(context, _)| *context);
        let steps = self.before.steps.into_iter().chain(steps).map(|(_, step)| step).collect();
        Ok(Trace { start, steps, bodies: Vec::new() })
    }
}

/// Returns the start of a thread that begins with this path edge; without one, any start.
fn start_thread(
    back: &Back<'_>,
    root: &ThreadRoot,
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

/// Returns the values of variables without initial value.
fn uninitialised(init: &[(VarId, Expr)], vars: impl Iterator<Item = VarId>, of: impl Fn(VarId) -> bool) -> Fresh {
    let open = vars.filter(|var| !init.iter().any(|(initialised, _)| initialised == var));
    open.map(|var| (var, value(of(var)))).collect()
}
