//! The variables of the diagrams, and which variables of the program are kept where.
//!
//! From the top of the order down: the shared variables, those of the moving thread, the choices of an edge, and those of
//! a second thread that takes part in a step: a started one, or one whose variables are read or assigned passively. Each
//! variable of the program has two, its value now and after the step, next to each other. The order is what splitting
//! needs: the functions below a cut are the sets of local valuations that belong to sets of valuations above it.

use selvedge_ir::{LocId, Program, VarId};
use selvedge_logic::bdd::{Bdd, Limits, Manager, OutOfNodes, Renaming, Var, VarSet};

use crate::threads::vars::{Keep, Kept, Slots, n_choices};

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
    slots: Slots,
    kept: Kept,
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
    /// All variables of a thread and all choices, prepared.
    pub(super) all_locals: VarSet,
    pub(super) all_choices: VarSet,
    /// From the variables of the moving thread to those of a peer.
    pub(super) to_peer: Renaming,
    /// And back.
    pub(super) to_mover: Renaming,
}

impl Layout {
    pub(super) fn new(program: &Program, keep: Keep, limits: Limits) -> Result<Layout, OutOfNodes> {
        let slots = Slots::new(program);
        let order = slots.order(program);
        let manager = Manager::new(limits);
        let vars = Groups::new(&manager, &order, n_choices(program));
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
            kept: Kept::new(program, &slots, keep),
            manager,
            slots,
        })
    }

    /// The variable of the diagrams for a variable of the program.
    pub(super) fn var(&self, var: VarId, who: Who, when: When) -> Var {
        let pairs = match (self.slots.is_shared(var), who) {
            (true, _) => &self.shared_vars,
            (false, Who::Mover) => &self.local_vars,
            (false, Who::Peer) => &self.peer_vars,
        };
        pairs[self.slots.get(var)][when as usize]
    }

    /// Whether a variable of the diagrams stands for a value after a step.
    pub(super) fn is_next(&self, var: Var) -> bool {
        let groups = [&self.shared_vars, &self.local_vars, &self.peer_vars];
        groups.iter().any(|group| group.get(self.slot_of[var.level()]).is_some_and(|[_, next]| *next == var))
    }

    /// The place of a variable in a valuation of the shared variables or of a thread's.
    pub(super) fn slot(&self, var: VarId) -> usize {
        self.slots.get(var)
    }

    /// The per-thread variables.
    pub(super) fn thread_vars(&self) -> &[VarId] {
        &self.slots.thread_vars
    }

    /// The shared variables that are kept.
    pub(super) fn kept_shared(&self) -> &[VarId] {
        &self.kept.shared
    }

    /// The shared variables that nobody ever reads.
    pub(super) fn dead_shared(&self) -> &[VarId] {
        &self.kept.dead_shared
    }

    /// The literal of a variable.
    pub(super) fn bdd(&self, var: VarId, who: Who, when: When) -> Result<Bdd, OutOfNodes> {
        self.manager.var(self.var(var, who, when))
    }

    /// The variables of a thread that are kept at a location.
    pub(super) fn kept(&self, loc: LocId) -> &[VarId] {
        self.kept.at(loc)
    }

    /// The variables of a thread that are not kept at a location.
    pub(super) fn dead(&self, loc: LocId) -> &[VarId] {
        self.kept.dead(loc)
    }

    /// The variables that a thread sees at a location: per-thread ones and locals.
    pub(super) fn visible(&self, program: &Program, loc: LocId) -> Vec<VarId> {
        self.slots.visible(program, loc)
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
        self.slots.is_shared(var)
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
    fn new(manager: &Manager, order: &[Vec<usize>; 2], n_choices: usize) -> Groups {
        let (n_shared, n_locals) = (order[0].len(), order[1].len());
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
