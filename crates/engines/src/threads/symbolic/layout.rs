//! The variables of the diagrams, and which variables of the program are kept where.
//!
//! From the top of the order down: the shared variables, those of the moving thread, the choices of an edge, and those of
//! a second thread that takes part in a step: a started one, or one whose variables are read or assigned passively. Each
//! variable of the program has two, its value now and after the step, next to each other. The order is what splitting
//! needs: the functions below a cut are the sets of local valuations that belong to sets of valuations above it.

use index_vec::IndexVec;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::visit::{choice_types, reads};
use selvedge_ir::{Expr, LocId, Op, Program, Scope, VarId};
use selvedge_logic::bdd::{Bdd, Limits, Manager, OutOfNodes, Renaming, Var, VarSet};
use selvedge_logic::order::force;

/// The moment at which a variable of the program is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    Next,
}

/// Whose variables are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// The thread that moves.
    Mover,
    /// Another one that takes part.
    Peer,
}

/// The variables of the diagrams.
pub(super) struct Layout {
    pub(super) manager: Manager,
    /// The shared variables, and the per-thread ones, in the order of their declaration.
    pub(super) shared: Vec<VarId>,
    pub(super) thread_vars: Vec<VarId>,
    /// The place of a variable among the shared ones or among those of a thread. Locals of different procedures share
    /// places.
    slot: IndexVec<VarId, usize>,
    is_shared: IndexVec<VarId, bool>,
    shared_vars: Vec<[Var; 2]>,
    local_vars: Vec<[Var; 2]>,
    peer_vars: Vec<[Var; 2]>,
    pub(super) choices: Vec<Var>,
    /// The place of the program's variable, for each variable of the diagrams.
    slot_of: Vec<usize>,
    /// Above it stand the shared variables, from it on the locals.
    pub(super) local_cut: Var,
    /// Above it stands all but the peer.
    pub(super) peer_cut: Var,
    /// For each location the variables of a thread that are kept there, and those that are not.
    kept: IndexVec<LocId, Vec<VarId>>,
    dead: IndexVec<LocId, Vec<VarId>>,
    /// The shared variables that are kept, and those that nobody ever reads.
    pub(super) kept_shared: Vec<VarId>,
    pub(super) dead_shared: Vec<VarId>,
    /// All variables of a thread and all choices, prepared.
    pub(super) all_locals: VarSet,
    pub(super) all_choices: VarSet,
    /// From the variables of the moving thread to those of a peer.
    pub(super) to_peer: Renaming,
    /// And back.
    pub(super) to_mover: Renaming,
}

/// Whether variables that are not read any more are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    /// All.
    All,
    /// Only what may still be read.
    Live,
}

impl Layout {
    pub(super) fn new(program: &Program, keep: Keep, limits: Limits) -> Result<Layout, OutOfNodes> {
        let of_scope = |scope: Scope| -> Vec<VarId> {
            program.vars.indices().filter(|var| program.vars[*var].scope == scope).collect()
        };
        let (shared, thread_vars) = (of_scope(Scope::Shared), of_scope(Scope::Thread));
        let mut slot: IndexVec<VarId, usize> = program.vars.iter().map(|_| 0).collect();
        shared.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        thread_vars.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        for proc in &program.procs {
            proc.locals.iter().enumerate().for_each(|(place, var)| slot[*var] = thread_vars.len() + place);
        }
        let n_locals = thread_vars.len() + program.procs.iter().map(|proc| proc.locals.len()).max().unwrap_or(0);
        let is_shared: IndexVec<VarId, bool> = program.vars.iter().map(|var| var.scope == Scope::Shared).collect();
        let order = order(program, &slot, &is_shared, shared.len(), n_locals);
        let manager = Manager::new(limits);
        let vars = Groups::new(&manager, &order, shared.len(), n_locals, n_choices(program));
        let (kept, dead, kept_shared, dead_shared) = kept(program, &shared, &thread_vars, keep);
        let nows = |pairs: &[[Var; 2]]| -> Vec<Var> { pairs.iter().map(|[now, _]| *now).collect() };
        let (own, peer) = (nows(&vars.locals), nows(&vars.peers));
        let pairs: Vec<(Var, Var)> = own.iter().copied().zip(peer.iter().copied()).collect();
        let back: Vec<(Var, Var)> = pairs.iter().map(|(own, peer)| (*peer, *own)).collect();
        let mut slot_of = vec![0; manager.var_count()];
        for group in [&vars.shared, &vars.locals, &vars.peers] {
            for (slot, pair) in group.iter().enumerate() {
                pair.iter().for_each(|var| slot_of[var.level()] = slot);
            }
        }
        Ok(Layout {
            slot_of,
            all_locals: manager.var_set(&own)?,
            all_choices: manager.var_set(&vars.choices)?,
            to_peer: manager.renaming(&pairs),
            to_mover: manager.renaming(&back),
            shared_vars: vars.shared,
            local_vars: vars.locals,
            peer_vars: vars.peers,
            choices: vars.choices,
            local_cut: vars.local_cut,
            peer_cut: vars.peer_cut,
            manager,
            shared,
            thread_vars,
            slot,
            is_shared,
            kept,
            dead,
            kept_shared,
            dead_shared,
        })
    }

    /// The variable of the diagrams for a variable of the program.
    pub(super) fn var(&self, var: VarId, who: Who, when: When) -> Var {
        let pairs = match (self.is_shared[var], who) {
            (true, _) => &self.shared_vars,
            (false, Who::Mover) => &self.local_vars,
            (false, Who::Peer) => &self.peer_vars,
        };
        pairs[self.slot[var]][when as usize]
    }

    /// The place of a variable in a valuation of the shared variables or of a thread's.
    pub(super) fn slot(&self, var: VarId) -> usize {
        self.slot[var]
    }

    /// The number of places in a valuation of a thread's variables.
    pub(super) fn n_locals(&self) -> usize {
        self.local_vars.len()
    }

    /// The literal of a variable.
    pub(super) fn bdd(&self, var: VarId, who: Who, when: When) -> Result<Bdd, OutOfNodes> {
        self.manager.var(self.var(var, who, when))
    }

    /// The variables of a thread that are kept at a location.
    pub(super) fn kept(&self, loc: LocId) -> &[VarId] {
        &self.kept[loc]
    }

    /// The variables of a thread that are not kept at a location.
    pub(super) fn dead(&self, loc: LocId) -> &[VarId] {
        &self.dead[loc]
    }

    /// The variables that a thread sees at a location: per-thread ones and locals.
    pub(super) fn visible(&self, program: &Program, loc: LocId) -> Vec<VarId> {
        let locals = &program.procs[program.locs[loc].proc].locals;
        self.thread_vars.iter().chain(locals).copied().collect()
    }

    /// Whether a set of states of a thread holds this one.
    pub(super) fn holds(&self, set: &Bdd, shared: &[bool], locals: &[bool]) -> bool {
        set.eval(|var| {
            let values = if var < self.local_cut { shared } else { locals };
            values[self.slot_of[var.level()]]
        })
    }

    /// The variables of the diagrams for the values now of all shared variables, and of all variables of a thread, by
    /// place.
    pub(super) fn now(&self, who: Who) -> (Vec<Var>, Vec<Var>) {
        let locals = if who == Who::Mover { &self.local_vars } else { &self.peer_vars };
        (self.shared_vars.iter().map(|[now, _]| *now).collect(), locals.iter().map(|[now, _]| *now).collect())
    }

    pub(super) fn is_shared(&self, var: VarId) -> bool {
        self.is_shared[var]
    }
}

/// The variables of the diagrams by group; `order` lists shared places, then those of threads.
struct Groups {
    shared: Vec<[Var; 2]>,
    locals: Vec<[Var; 2]>,
    peers: Vec<[Var; 2]>,
    choices: Vec<Var>,
    local_cut: Var,
    peer_cut: Var,
}

impl Groups {
    /// Each of the groups below a cut has at least one variable, so that there is a cut.
    fn new(manager: &Manager, order: &[Vec<usize>; 2], n_shared: usize, n_locals: usize, n_choices: usize) -> Groups {
        let (n_below, begin_locals) = (n_locals.max(1), 2 * n_shared);
        let begin_choices = begin_locals + 2 * n_below;
        let begin_peers = begin_choices + n_choices;
        let vars = manager.add_vars(begin_peers + 2 * n_below);
        let group = |begin: usize, order: &[usize]| {
            let mut pairs = vec![[vars[0]; 2]; order.len()];
            for (place, slot) in order.iter().enumerate() {
                pairs[*slot] = [vars[begin + 2 * place], vars[begin + 2 * place + 1]];
            }
            pairs
        };
        Groups {
            shared: group(0, &order[0]),
            locals: group(begin_locals, &order[1]),
            peers: group(begin_peers, &order[1]),
            choices: vars[begin_choices..begin_peers].to_vec(),
            local_cut: vars[begin_locals],
            peer_cut: vars[begin_peers],
        }
    }
}

/// The greatest number of choices that an edge or an initial value makes.
pub(in crate::threads) fn n_choices(program: &Program) -> usize {
    let of_edges = program.edges.iter().map(|edge| edge.op.choices().len()).max().unwrap_or(0);
    let of_entry = |init: &[(VarId, Expr)]| choice_types(init.iter().map(|(_, rhs)| rhs)).len();
    let of_entries = program.entries.iter().map(|entry| of_entry(&entry.init)).max().unwrap_or(0);
    of_edges.max(of_entries).max(of_entry(&program.init))
}

/// An order of the shared places and one of the places of threads, by what occurs together.
fn order(
    program: &Program,
    slot: &IndexVec<VarId, usize>,
    is_shared: &IndexVec<VarId, bool>,
    n_shared: usize,
    n_locals: usize,
) -> [Vec<usize>; 2] {
    let item = |var: VarId| if is_shared[var] { slot[var] } else { n_shared + slot[var] };
    let together = |op: &Op| {
        let mut set: Vec<usize> = Vec::new();
        for expr in op.exprs() {
            expr.for_each_leaf(|leaf| {
                if let Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
                    set.push(item(*var));
                }
            });
        }
        if let Op::Assign(assign) = op {
            set.extend(assign.active.iter().chain(&assign.passive).map(|(var, _)| item(*var)));
        }
        set.sort_unstable();
        set.dedup();
        set
    };
    // Sets of more than a few variables say little about neighbourhood and cost much.
    let sets: Vec<Vec<usize>> =
        program.edges.iter().map(|edge| together(&edge.op)).filter(|set| (2..=16).contains(&set.len())).collect();
    let all = force(n_shared + n_locals, &sets);
    let shared = all.iter().copied().filter(|item| *item < n_shared).collect();
    let locals = all.iter().filter(|item| **item >= n_shared).map(|item| item - n_shared).collect();
    [shared, locals]
}

type Kept = (IndexVec<LocId, Vec<VarId>>, IndexVec<LocId, Vec<VarId>>, Vec<VarId>, Vec<VarId>);

/// What is kept and what is not: of a thread at each location, and of the shared variables.
fn kept(program: &Program, shared: &[VarId], thread_vars: &[VarId], keep: Keep) -> Kept {
    let liveness = Liveness::new(program);
    let visible = |loc: LocId| {
        let locals = &program.procs[program.locs[loc].proc].locals;
        thread_vars.iter().chain(locals).copied().collect::<Vec<VarId>>()
    };
    let is_kept = |loc: LocId, var: VarId| keep == Keep::All || liveness.is_live(loc, var);
    let initial: Vec<VarId> =
        program.entries.iter().flat_map(|entry| entry.init.iter().flat_map(|(_, rhs)| reads(rhs))).collect();
    let is_read = |var: &VarId| initial.contains(var) || program.locs.indices().any(|loc| is_kept(loc, *var));
    let (kept_shared, dead_shared) = shared.iter().copied().partition(is_read);
    let split = |loc: LocId| visible(loc).into_iter().partition::<Vec<VarId>, _>(|var| is_kept(loc, *var));
    let (kept, dead): (Vec<_>, Vec<_>) = program.locs.indices().map(split).unzip();
    (IndexVec::from_vec(kept), IndexVec::from_vec(dead), kept_shared, dead_shared)
}
