//! The model that all threads share: the program, the variables of the diagrams, and the points where contexts may
//! begin and end.
//!
//! A step is *visible* if it mentions a shared variable or takes the atomic flag. Other steps may as well be made in
//! the previous context: they neither depend on other threads nor affect them. So a thread resumes only where a visible
//! step begins, and its effect on others is recorded only where a shared variable was written or the flag released. A
//! procedure is *private* if no visible step can happen in it, nor by its return: no context ends inside of it, and its
//! behaviour does not depend on the history.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use index_vec::IndexVec;
use selvedge_check::{Run, Stop};
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::flow::Flow;
use selvedge_ir::visit::for_each_old_read;
use selvedge_ir::{Edge, EdgeId, Expr, LocId, Op, ProcId, Program, Scope, Target, VarId};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes, VarSet};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::layout::{Copies, Order, PathLayout, When};
use selvedge_transition::paths::prepare::Prepared;

use super::columns::{Side, number_column};
use super::numbers::{NUMBER_BITS, StateNumbers};
use super::track::Tracked;
use crate::Histories;
use crate::threads::shared_vars;

/// The model that all threads share.
pub(crate) struct SharedModel<'a> {
    pub(crate) program: &'a Program,
    /// Shared variables, each with the variable that keeps its value at the start.
    pub(super) kept: &'a [(VarId, VarId)],
    pub(crate) target: &'a Target,
    pub(crate) run: &'a Run<'a>,
    pub(crate) layout: PathLayout,
    pub(crate) shared: Vec<VarId>,
    /// The number of sides of the columns.
    pub(super) n_sides: usize,
    /// The numbers of the shared states, if they are numbered.
    pub(crate) numbers: Option<StateNumbers>,
    pub(crate) flow: Flow,
    pub(crate) calls: CallGraph,
    prepared: IndexVec<EdgeId, OnceCell<Prepared>>,
    /// For each location, the position of its procedure in the call graph, callees first, and its own in the procedure.
    pub(crate) rank: IndexVec<LocId, (u32, u32)>,
    pub(crate) private: IndexVec<ProcId, bool>,
    /// The locations where a visible step begins.
    pub(crate) resumes: IndexVec<LocId, bool>,
    /// The locations where a step ends that others can see.
    pub(crate) publishes: IndexVec<LocId, bool>,
    /// True if the thread does not hold the atomic flag.
    pub(crate) released: Bdd,
    /// For each procedure, the variables of a frame except the current shared state.
    pub(crate) frames: IndexVec<ProcId, VarSet>,
    /// The variables of the histories of all contexts.
    pub(crate) all_history: VarSet,
    /// The variables of the current shared state.
    pub(crate) shared_now: VarSet,
    pub(crate) histories: Histories,
}

impl<'a> SharedModel<'a> {
    /// Creates the model. The columns have `n_sides` sides for each context.
    pub(crate) fn new(
        tracked: &'a Tracked,
        target: &'a Target,
        (contexts, n_sides, histories): (u32, usize, Histories),
        run: &'a Run<'a>,
    ) -> Result<SharedModel<'a>, OutOfNodes> {
        let Tracked { program, flag, kept } = tracked;
        let (flag, roots) = (*flag, tracked.roots());
        let calls = CallGraph::new(program);
        let flow = Flow::new(program);
        let mut layout = layout(program, &calls, (contexts, n_sides, histories), run);
        let shared = shared_vars(program);
        let private = private(program, &calls, &layout, target, flag, &roots);
        // Widening comes before the sets of variables below, which depend on the scopes: a frame without the widened
        // variables would lose the shared state at its entry when a context ends inside of it.
        for proc in program.procs.indices().filter(|proc| !private[*proc]) {
            let is_root = roots.contains(&proc) && calls.sites(proc).is_empty();
            widen(&mut layout, &shared, (flag, is_root), proc, program);
        }
        let released = match flag {
            Some(flag) => layout.manager.literal(layout.var(flag, When::Now), false)?,
            None => layout.manager.top(),
        };
        let now = layout.vars(shared.iter().copied(), When::Now);
        let numbers = (histories == Histories::Numbers).then(|| {
            let first = number_column(&layout, n_sides, Side::In as usize, 0);
            StateNumbers::new(&layout.manager, now.clone(), first)
        });
        let frames = program.procs.indices().map(|proc| frame(program, &layout, proc));
        let frames = frames.collect::<Result<_, _>>()?;
        let (resumes, publishes) = switches(program, &calls, &flow, flag);
        let mut model = SharedModel {
            prepared: program.edges.iter().map(|_| OnceCell::new()).collect(),
            rank: calls.ranks(program, &flow),
            program,
            kept,
            target,
            run,
            shared,
            n_sides,
            numbers,
            flow,
            calls,
            private,
            resumes,
            publishes,
            released,
            frames,
            all_history: layout.manager.var_set(&[])?,
            shared_now: layout.manager.var_set(&now)?,
            layout,
            histories,
        };
        model.all_history = model.set(&[&model.history(contexts)])?;
        Ok(model)
    }

    /// Returns the effect of an edge on path edges.
    pub(crate) fn prepared(&self, id: EdgeId) -> Result<&Prepared, OutOfNodes> {
        if self.prepared[id].get().is_none() {
            // The cell is empty, as just tested.
            let _ = self.prepared[id].set(self.layout.prepared(self.program, id)?);
        }
        Ok(self.prepared[id].get().expect("the edge has just been prepared"))
    }

    /// Projects current shared states to some of the shared variables.
    fn only(&self, states: &Bdd, vars: &[VarId]) -> Result<Bdd, OutOfNodes> {
        let further = self.shared.iter().copied().filter(|var| !vars.contains(var));
        states.exists(&self.layout.manager.var_set(&self.layout.vars(further, When::Now))?)
    }

    /// Returns the number of valuations of some shared variables in current states; `None` if it exceeds 128 bits.
    pub(crate) fn count_states(&self, states: &Bdd, vars: &[VarId]) -> Result<Option<u128>, OutOfNodes> {
        Ok(self.only(states, vars)?.count(&self.layout.vars(vars.iter().copied(), When::Now)))
    }

    /// Returns the valuations of some shared variables in current states.
    pub(crate) fn list_states(&self, states: &Bdd, vars: &[VarId]) -> Result<BTreeSet<Vec<bool>>, Stop> {
        let now = self.layout.vars(vars.iter().copied(), When::Now);
        let states = self.only(states, vars).map_err(out_of_nodes)?;
        states.assignments(&now).map(|values| self.run.tick().map(|()| values)).collect()
    }

    /// Projects path edges of a procedure to the current shared state and the history.
    pub(crate) fn without_frame(&self, proc: ProcId, edges: &Bdd) -> Result<Bdd, OutOfNodes> {
        edges.exists(&self.frames[proc])
    }
}

/// Lays out the variables of the diagrams, with columns for the shared states at the boundaries of contexts.
fn layout(
    program: &Program,
    calls: &CallGraph,
    (contexts, n_sides, histories): (u32, usize, Histories),
    run: &Run<'_>,
) -> PathLayout {
    let n_columns = n_sides * contexts as usize;
    let copies = match histories {
        Histories::Values => Copies::ByVariable(n_columns),
        Histories::Blocks => Copies::InBlocks(contexts as usize, n_sides),
        Histories::Numbers => Copies::Above(n_columns * NUMBER_BITS),
    };
    PathLayout::with_copies(program, calls, Order::First, limits(program, contexts, run), copies)
}

/// Returns the locations where a visible step begins, and those where a step ends that others can see.
fn switches(
    program: &Program,
    calls: &CallGraph,
    flow: &Flow,
    flag: Option<VarId>,
) -> (IndexVec<LocId, bool>, IndexVec<LocId, bool>) {
    let visible: IndexVec<EdgeId, bool> =
        program.edges.iter().map(|edge| is_visible(program, calls, flag, edge)).collect();
    let resumes = program.locs.indices().map(|loc| flow.out(loc).iter().any(|id| visible[*id])).collect();
    let mut publishes = IndexVec::from_vec(vec![false; program.locs.len()]);
    let publishing = program.edges.iter().filter(|edge| is_published(program, flag, edge)).map(|edge| edge.to);
    publishing.for_each(|loc| publishes[loc] = true);
    (resumes, publishes)
}

/// Gives a procedure all shared variables, with their values at the entry, unless it is private: they may change
/// whenever a context ends. The values at the entry are not needed in a procedure where threads begin and that is never
/// called.
fn widen(
    layout: &mut PathLayout,
    shared: &[VarId],
    (flag, is_root): (Option<VarId>, bool),
    proc: ProcId,
    program: &Program,
) {
    let scope = &mut layout.scopes[proc];
    let of_thread = |var: &VarId| program.vars[*var].scope == Scope::Thread;
    let with_shared = |vars: &[VarId]| -> Vec<VarId> {
        shared.iter().copied().chain(vars.iter().copied().filter(of_thread)).collect()
    };
    scope.globals = with_shared(&scope.globals);
    scope.modified = if is_root { Vec::new() } else { with_shared(&scope.modified) };
    if is_root {
        scope.modified_params.clear();
    }
    // A callee inside an atomic section must know that no context ends there.
    if let Some(flag) = flag.filter(|flag| !scope.globals.contains(flag)) {
        scope.globals.push(flag);
    }
}

/// Returns all variables of the path edges of a procedure except the current shared ones.
fn frame(program: &Program, layout: &PathLayout, proc: ProcId) -> Result<VarSet, OutOfNodes> {
    let own = |var: &VarId| program.vars[*var].scope != Scope::Shared;
    let mut vars = layout.vars(layout.visible(program, proc).into_iter().filter(own), When::Now);
    vars.extend(layout.vars(layout.scopes[proc].with_entry_copy(), When::Entry));
    layout.manager.var_set(&vars)
}

/// Returns whether a step mentions shared variables or takes the flag. The step of a call that has returned is that of
/// its return.
fn is_visible(program: &Program, calls: &CallGraph, flag: Option<VarId>, edge: &Edge) -> bool {
    let is_shared = |var: VarId| program.vars[var].scope == Scope::Shared;
    let mut visible = false;
    for_each_old_read(edge, |var| visible |= is_shared(var));
    visible
        || match &edge.op {
            Op::Assign(assign) => assign.active.iter().any(|(var, _)| is_shared(*var) || Some(*var) == flag),
            Op::Return(_) => returns_visibly(program, calls, program.locs[edge.from].proc),
            _ => false,
        }
}

/// Returns whether some call of a procedure assigns its results to shared variables, or ensures something about them.
fn returns_visibly(program: &Program, calls: &CallGraph, proc: ProcId) -> bool {
    let is_shared = |leaf: &Expr| leaf.var().is_some_and(|var| program.vars[var].scope == Scope::Shared);
    let is_visible = |edge: &Edge| has_shared_result(program, edge) || edge.ensures.any_leaf(is_shared);
    calls.sites(proc).iter().any(|site| is_visible(&program.edges[*site]))
}

fn has_shared_result(program: &Program, edge: &Edge) -> bool {
    let Op::Call(call) = &edge.op else { return false };
    call.results.iter().flatten().any(|var| program.vars[*var].scope == Scope::Shared)
}

/// Returns whether a step may make something new visible to others: a new shared state, or one after an atomic section.
fn is_published(program: &Program, flag: Option<VarId>, edge: &Edge) -> bool {
    let shown = |var: VarId| program.vars[var].scope == Scope::Shared || Some(var) == flag;
    match &edge.op {
        Op::Assign(assign) => assign.active.iter().any(|(var, _)| shown(*var)),
        _ => has_shared_result(program, edge),
    }
}

/// Returns the procedures in which, and by whose return, nothing visible happens, and in which no thread begins or ends
/// or reaches an error, since errors have histories.
fn private(
    program: &Program,
    calls: &CallGraph,
    layout: &PathLayout,
    target: &Target,
    flag: Option<VarId>,
    roots: &[ProcId],
) -> IndexVec<ProcId, bool> {
    let touches = |proc: ProcId| {
        let shared = |var: &VarId| program.vars[*var].scope == Scope::Shared || Some(*var) == flag;
        layout.scopes[proc].globals.iter().any(shared)
    };
    let open = |proc: ProcId| touches(proc) || roots.contains(&proc) || returns_visibly(program, calls, proc);
    let mut private: IndexVec<ProcId, bool> = program.procs.indices().map(|proc| !open(proc)).collect();
    for edge in program.edges.iter().filter(|edge| edge.op == Op::End) {
        private[program.locs[edge.from].proc] = false;
    }
    for loc in target.asserts.iter().map(|id| program.edges[*id].from).chain(target.locs.iter().copied()) {
        private[program.locs[loc].proc] = false;
    }
    // Callees come first.
    for component in calls.components() {
        let all = component.iter().all(|proc| {
            private[*proc] && calls.callees(*proc).iter().all(|callee| component.contains(callee) || private[*callee])
        });
        component.iter().for_each(|proc| private[*proc] = all);
    }
    private
}

/// Chooses the size of the manager: clearing a large cache would take longer than checking a small program.
fn limits(program: &Program, contexts: u32, run: &Run<'_>) -> Limits {
    let limits = run.memory_limit().map_or(Limits::default(), |bytes| Limits::memory(bytes / 2));
    let largest = if run.memory_limit().is_some() { limits.cache } else { 4 * limits.cache };
    let wanted = program.edges.len() * (program.vars.len() + 1) * 64 * (contexts as usize * contexts as usize);
    Limits { cache: largest.min(wanted.next_power_of_two().max(1 << 12)), ..limits }
}
