//! The start of the threads: the shared states in which they start, and executions assembled from the runs of threads.

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{EntryId, Expr, Scope, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::back::{Back, Tuple};
use selvedge_transition::paths::layout::When;
use selvedge_transition::paths::step::value;

use super::columns::Side;
use super::shared_model::SharedModel;
use super::template_paths::{PathError, TemplatePaths, ThreadRoot};
use super::walk::{StateVector, ThreadRun, Walker};

/// Returns the shared states when the threads start, as those with which a first context begins, from the current ones.
/// Some shared variables keep the values that others have then.
fn first_states(model: &SharedModel<'_>, states: &Bdd) -> Result<Bdd, OutOfNodes> {
    let now = |var: VarId| model.layout.var(var, When::Now);
    let pairs: Vec<(Var, Var)> = model.kept.iter().map(|(var, kept)| (now(*var), now(*kept))).collect();
    let states = states.and(&model.layout.manager.equal(&pairs)?)?;
    model.meet(&states)?;
    model.now_to(&states, &model.column(Side::In, 1))
}

/// Returns the templates of the threads with which a program begins, and for each of its entries the number of its
/// template. Entries that begin alike share a template.
fn templates<'w, 'a>(model: &'w SharedModel<'a>) -> (Vec<TemplatePaths<'w, 'a>>, Vec<usize>) {
    let mut templates: Vec<TemplatePaths<'w, 'a>> = Vec::new();
    let mut of_entries = Vec::new();
    for entry in &model.program.entries {
        let (thread_vars, init) = (entry.thread_vars.clone(), entry.init.clone());
        let root = ThreadRoot { proc: entry.proc, thread_vars, init };
        let known = templates.iter().position(|template| template.root == root);
        of_entries.push(known.unwrap_or(templates.len()));
        if known.is_none() {
            templates.push(TemplatePaths::new(model, root));
        }
    }
    (templates, of_entries)
}

/// The path edges of all threads, and of the code before them.
pub(crate) struct ThreadPaths<'w, 'a> {
    pub(crate) model: &'w SharedModel<'a>,
    prelude: Option<TemplatePaths<'w, 'a>>,
    pub(crate) templates: Vec<TemplatePaths<'w, 'a>>,
    /// The template of each entry of the program.
    pub(crate) of_entries: Vec<usize>,
    /// The shared states when the threads start, as those with which a first context begins.
    pub(crate) initial: Bdd,
}

impl<'w, 'a> ThreadPaths<'w, 'a> {
    /// Computes everything before the threads start, or an error.
    pub(crate) fn begin(model: &'w SharedModel<'a>) -> Result<(ThreadPaths<'w, 'a>, Option<PathError>), Stop> {
        let alone = |proc| TemplatePaths::new(model, ThreadRoot { proc, thread_vars: Vec::new(), init: Vec::new() });
        let mut prelude = model.program.prelude.map(alone);
        let mut states = model.layout.initial(&model.program.init).map_err(out_of_nodes)?;
        let mut error = None;
        if let Some(prelude) = &mut prelude {
            error = prelude.begin_alone(&states)?;
            states = prelude.finished.clone();
        }
        let initial = match error {
            Some(_) => model.layout.manager.bottom(),
            None => first_states(model, &states).map_err(out_of_nodes)?,
        };
        let (templates, of_entries) = templates(model);
        Ok((ThreadPaths { model, prelude, templates, of_entries, initial }, error))
    }

    pub(crate) fn template(&self, entry: EntryId) -> &TemplatePaths<'w, 'a> {
        &self.templates[self.of_entries[entry.index()]]
    }

    /// Returns the walker for a thread of an entry, by the position of the thread in an execution.
    pub(crate) fn walker(&self, entry: EntryId, place: usize) -> Walker<'_, 'a> {
        Walker::new(self.template(entry), usize::from(self.prelude.is_some()) + place)
    }

    /// Returns an execution to an error before the threads start.
    pub(crate) fn trace_before(&self, error: &PathError, threads: &[EntryId]) -> Result<Trace, Stop> {
        let prelude = self.prelude.as_ref().expect("only a prelude fails before the threads");
        let before = Walker::new(prelude, 0).to_error(error)?;
        self.assembled(before, None, threads, Vec::new()).map_err(out_of_nodes)
    }

    /// Returns the execution in which threads of the given entries start in a shared state and have these runs. Threads
    /// without a run do nothing.
    pub(crate) fn trace(&self, shared: StateVector, threads: &[EntryId], parts: Vec<ThreadRun>) -> Result<Trace, Stop> {
        let before = match &self.prelude {
            Some(prelude) => Walker::new(prelude, 0).to_finished(&shared)?,
            None => ThreadRun::default(),
        };
        self.assembled(before, Some(shared), threads, parts).map_err(out_of_nodes)
    }

    /// Assembles the whole execution; within a context the threads have their turns in the order of the parts.
    fn assembled(
        &self,
        before: ThreadRun,
        shared: Option<StateVector>,
        entries: &[EntryId],
        parts: Vec<ThreadRun>,
    ) -> Result<Trace, OutOfNodes> {
        let (layout, program) = (&self.model.layout, self.model.program);
        let back = Back { layout, program, thread: ThreadId(0) };
        let now = self.model.now();
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
        for (place, entry) in entries.iter().enumerate() {
            let begins = parts.get(place).and_then(|part| part.entry.as_ref());
            threads.push(start_thread(&back, &self.template(*entry).root, *entry, begins)?);
        }
        let start = Start { choices: back.initial_choices(&program.init, &values)?, fresh, threads };
        let mut steps: Vec<(u32, Step)> = parts.into_iter().flat_map(|part| part.steps).collect();
        // The sort is stable: threads keep their order within a context.
        steps.sort_by_key(|(context, _)| *context);
        let steps = before.steps.into_iter().chain(steps).map(|(_, step)| step).collect();
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
