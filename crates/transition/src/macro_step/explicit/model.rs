//! The data that does not change during a search: the places of variables, the visible points, and the live variables.

use index_vec::IndexVec;
use selvedge_check::{Place, Role, Task, ValuesAsked};
use selvedge_ir::flow::Flow;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::{Expr, LocId, Program, VarId};

use super::parts::Local;
use crate::macro_step::reductions::Reductions;
use crate::macro_step::visible_points::VisiblePoints;
use crate::step::explicit::Explicit;
use crate::step::explicit::values::{Bits, get, set, zeros};
use crate::step::vars::Slots;

/// The data that does not change during a search.
pub struct Model<'p> {
    pub task: Task<'p>,
    /// The steps of the program. Variables that are not live are not kept.
    pub steps: Explicit<'p>,
    pub flow: Flow,
    pub visible_points: VisiblePoints,
    /// The shared variables that are live somewhere.
    live_shared: Bits,
}

impl<'p> Model<'p> {
    pub fn new(task: Task<'p>, reductions: Reductions) -> Model<'p> {
        let program = task.program;
        let visible_points = if reductions.compress {
            VisiblePoints::few(program, task.target)
        } else {
            VisiblePoints::everywhere(program)
        };
        Model::with_visible_points(task, visible_points, reductions)
    }

    /// Creates the model of a program with these visible points.
    pub fn with_visible_points(task: Task<'p>, visible_points: VisiblePoints, reductions: Reductions) -> Model<'p> {
        let liveness = reductions.dead.then(|| Liveness::among_threads(task.program));
        let matters = |loc: LocId, var: VarId| liveness.as_ref().is_none_or(|liveness| liveness.is_live(loc, var));
        Model::with_values(task, visible_points, &matters)
    }

    /// Creates the model for a visit of everything that keeps the values that are asked for.
    pub fn observed(task: Task<'p>, compress: bool, asked: ValuesAsked<'_>) -> Model<'p> {
        let program = task.program;
        let visible_points =
            if compress { VisiblePoints::observed(program) } else { VisiblePoints::everywhere(program) };
        let liveness = Liveness::among_threads(program);
        Model::with_values(task, visible_points, &|loc, var| asked(loc, var) || liveness.is_live(loc, var))
    }

    /// Creates the model that keeps the values of variables where they matter: at least where they are live.
    fn with_values(task: Task<'p>, visible_points: VisiblePoints, matters: &dyn Fn(LocId, VarId) -> bool) -> Model<'p> {
        let program = task.program;
        let slots = Slots::new(program);
        let mut live_shared = zeros(slots.shared.len());
        for var in &slots.shared {
            let somewhere = program.locs.indices().any(|loc| matters(loc, *var));
            set(&mut live_shared, slots.get(*var), somewhere || read_at_start(program, *var));
        }
        let places: IndexVec<VarId, Option<usize>> =
            program.vars.indices().map(|var| slots.is_shared(var).then(|| slots.get(var))).collect();
        let keeps = |loc: LocId, var: VarId| places[var].map_or_else(|| matters(loc, var), |at| get(&live_shared, at));
        let steps = Explicit::new(program, slots, &keeps);
        Model { task, steps, flow: Flow::new(program), visible_points, live_shared }
    }

    pub fn program(&self) -> &'p Program {
        self.task.program
    }

    /// Forgets the values of variables that are not live.
    pub fn forget(&self, local: &mut Local) {
        self.steps.forget(local.loc, &mut local.bits);
    }

    pub fn forget_shared(&self, shared: &mut Bits) {
        shared.iter_mut().zip(&self.live_shared).for_each(|(bits, live)| *bits &= live);
    }

    /// Returns the live shared variables, in the order of their declaration.
    pub fn live_shared_vars(&self) -> impl Iterator<Item = VarId> + '_ {
        let shared = self.steps.slots.shared.iter().copied();
        shared.filter(|var| get(&self.live_shared, self.steps.slots.get(*var)))
    }

    /// Returns the shared variables that a proof with [`Model::places`] mentions. They are live by the same analysis as
    /// the variables of threads there, from which they are computed; the search may have kept more.
    pub fn proof_shared(&self) -> Vec<VarId> {
        let program = self.program();
        let liveness = Liveness::among_threads(program);
        let is_live = |var: &VarId| program.locs.indices().any(|loc| liveness.is_live(loc, *var));
        self.steps.slots.shared.iter().copied().filter(|var| is_live(var) || read_at_start(program, *var)).collect()
    }

    /// Returns all visible points, each with every role that a thread can have there, in ascending order.
    pub fn places(&self) -> Vec<Place> {
        let program = self.program();
        // Variables that are not live at a place are left out, even if the search kept them.
        let liveness = Liveness::among_threads(program);
        let place = |loc: LocId| {
            let locals = self.steps.slots.thread_vars.iter().chain(&program.procs[program.locs[loc].proc].locals);
            let vars: Vec<(u32, VarId)> =
                locals.filter(|var| liveness.is_live(loc, **var)).map(|var| (0, *var)).collect();
            move |role: Role| Place { role, calls: Vec::new(), loc, vars: vars.clone() }
        };
        let mut places = Vec::new();
        let kinds = || program.entries.indices();
        for loc in program.locs.indices() {
            let free = kinds().filter(|_| self.visible_points.is_stop(loc)).map(Role::Free);
            let alone =
                kinds().map(Role::Holder).chain([Role::Prelude]).filter(|_| self.visible_points.is_stop_alone(loc));
            places.extend(free.chain(alone).map(place(loc)));
        }
        // The prelude begins at its entry, whether or not that is a visible point.
        if let Some(proc) = program.prelude {
            places.push(place(program.procs[proc].entry)(Role::Prelude));
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

fn read_at_start(program: &Program, var: VarId) -> bool {
    let sides = program.entries.iter().flat_map(|entry| entry.init.iter().map(|(_, rhs)| rhs));
    sides.into_iter().any(|rhs| rhs.any_leaf(|leaf| *leaf == Expr::Var(var)))
}
