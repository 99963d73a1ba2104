//! The variables of the diagrams, and which variables of the program are kept where.
//!
//! From the top of the order down: the shared variables, those of the moving thread, the choices of an edge, and those
//! of a second thread that takes part in a step: a started one, or one whose variables are read or assigned passively.
//! Each variable of the program has two, its value now and after the step, next to each other. Splitting needs this
//! order: the functions below a cut are the sets of local valuations that belong to sets of valuations above it.
//!
//! For views, whose threads are not split from each other, the same variable of all threads is kept together instead:
//! the copies of the threads that only look on, the peer, and the moving thread, which also has its value at the
//! beginning of a block.

use selvedge_ir::{LocId, Program, VarId};
use selvedge_logic::bdd::{Bdd, Limits, Manager, OutOfNodes, Renaming, Var, VarSet};

use super::relation::Layout;
use super::threads::ThreadLayout;
use crate::step::vars::{Keep, Kept, Slots, n_choices};

pub use super::relation::When;

/// The thread that a variable belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The thread that moves.
    Mover,
    /// Another thread that takes part.
    Peer,
}

/// The variables of the diagrams.
pub struct PairLayout {
    pub manager: Manager,
    slots: Slots,
    kept: Kept,
    shared_vars: Vec<[Var; 2]>,
    local_vars: Vec<[Var; 2]>,
    peer_vars: Vec<[Var; 2]>,
    /// For views: the variables of threads that look on, by thread and place; and the values of the shared variables
    /// and of the moving thread's at the beginning of a block, by place.
    pub copies: Vec<Vec<Var>>,
    begins: [Vec<Var>; 2],
    pub choices: Vec<Var>,
    /// The place of the program's variable, for each variable of the diagrams.
    slot_of: Vec<usize>,
    /// The cut between the shared variables above and the locals below.
    pub local_cut: Var,
    /// The cut between all other variables above and those of the peer below.
    pub peer_cut: Var,
    /// The set of all variables of a thread and all choices.
    pub all_locals: VarSet,
    pub all_choices: VarSet,
    /// Renames the variables of the moving thread to those of a peer.
    pub to_peer: Renaming,
    /// Renames the variables of a peer to those of the moving thread.
    pub to_mover: Renaming,
}

impl PairLayout {
    pub fn new(program: &Program, keep: Keep, limits: Limits) -> Result<PairLayout, OutOfNodes> {
        PairLayout::arranged(program, |slots| Kept::new(program, slots, keep), limits, Groups::new)
    }

    /// Creates the same arrangement for the variables of which `is_kept` holds at a location.
    pub fn keeping(
        program: &Program,
        is_kept: &dyn Fn(LocId, VarId) -> bool,
        limits: Limits,
    ) -> Result<PairLayout, OutOfNodes> {
        PairLayout::arranged(program, |slots| Kept::of(program, slots, is_kept), limits, Groups::new)
    }

    /// Creates the arrangement for views, with variables for a number of threads that look on.
    pub fn with_copies(
        program: &Program,
        keep: Keep,
        limits: Limits,
        n_copies: usize,
    ) -> Result<PairLayout, OutOfNodes> {
        let groups = |manager: &Manager, order: &[Vec<usize>; 2], n_choices| {
            Groups::side_by_side(manager, order, n_choices, n_copies)
        };
        PairLayout::arranged(program, |slots| Kept::new(program, slots, keep), limits, groups)
    }

    fn arranged(
        program: &Program,
        kept: impl FnOnce(&Slots) -> Kept,
        limits: Limits,
        groups: impl FnOnce(&Manager, &[Vec<usize>; 2], usize) -> Groups,
    ) -> Result<PairLayout, OutOfNodes> {
        let slots = Slots::new(program);
        let order = slots.order(program);
        let manager = Manager::new(limits);
        let vars = groups(&manager, &order, n_choices(program));
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
        Ok(PairLayout {
            slot_of,
            all_locals: manager.var_set(&own)?,
            all_choices: manager.var_set(&vars.choices)?,
            to_peer: manager.renaming(&pairs),
            to_mover: manager.renaming(&back),
            shared_vars: vars.shared,
            local_vars: vars.locals,
            peer_vars: vars.peers,
            copies: vars.copies,
            begins: vars.begins,
            choices: vars.choices,
            local_cut: vars.local_cut,
            peer_cut: vars.peer_cut,
            kept: kept(&slots),
            manager,
            slots,
        })
    }

    /// Returns the variable of the diagrams for a variable of the program.
    pub fn var(&self, var: VarId, who: Who, when: When) -> Var {
        let pairs = match (self.slots.is_shared(var), who) {
            (true, _) => &self.shared_vars,
            (false, Who::Mover) => &self.local_vars,
            (false, Who::Peer) => &self.peer_vars,
        };
        pairs[self.slots.get(var)][when as usize]
    }

    /// Returns the variables of a shared variable at the beginning of a block, now, and after a step; for views.
    pub fn shared_moments(&self, var: VarId) -> [Var; 3] {
        let slot = self.slots.get(var);
        [self.begins[0][slot], self.shared_vars[slot][0], self.shared_vars[slot][1]]
    }

    /// Returns the variables of a variable of the moving thread at the same moments; for views.
    pub fn own_moments(&self, var: VarId) -> [Var; 3] {
        let slot = self.slots.get(var);
        [self.begins[1][slot], self.local_vars[slot][0], self.local_vars[slot][1]]
    }

    /// Returns all variables of the moving thread at these three moments, by place; for views.
    pub fn mover_moments(&self) -> impl Iterator<Item = [Var; 3]> {
        self.begins[1].iter().zip(&self.local_vars).map(|(begin, [now, next])| [*begin, *now, *next])
    }

    /// Returns whether a variable of the diagrams is a value after a step.
    pub fn is_next(&self, var: Var) -> bool {
        let groups = [&self.shared_vars, &self.local_vars, &self.peer_vars];
        groups.iter().any(|group| group.get(self.slot_of[var.level()]).is_some_and(|[_, next]| *next == var))
    }

    /// Returns the place of a variable in a valuation of the shared variables or of a thread's.
    pub fn slot(&self, var: VarId) -> usize {
        self.slots.get(var)
    }

    /// Returns the per-thread variables.
    pub fn thread_vars(&self) -> &[VarId] {
        &self.slots.thread_vars
    }

    /// Returns the shared variables that are kept.
    pub fn kept_shared(&self) -> &[VarId] {
        &self.kept.shared
    }

    /// Returns the shared variables that are never read.
    pub fn dead_shared(&self) -> &[VarId] {
        &self.kept.dead_shared
    }

    /// Returns the variables of a thread that are kept at a location.
    pub fn kept(&self, loc: LocId) -> &[VarId] {
        self.kept.at(loc)
    }

    /// Returns the variables of a thread that are not kept at a location.
    pub fn dead(&self, loc: LocId) -> &[VarId] {
        self.kept.dead(loc)
    }

    /// Returns the variables that a thread sees at a location: per-thread ones and locals.
    pub fn visible(&self, program: &Program, loc: LocId) -> Vec<VarId> {
        self.slots.visible(program, loc)
    }

    /// Returns whether a set of states of a thread has this one.
    pub fn holds(&self, set: &Bdd, shared: &[bool], locals: &[bool]) -> bool {
        set.eval(|var| {
            let values = if var < self.local_cut { shared } else { locals };
            values[self.slot_of[var.level()]]
        })
    }

    /// Returns the variables of the diagrams for the values now of all shared variables, and of all variables of a
    /// thread, by place.
    pub fn now(&self, who: Who) -> (Vec<Var>, Vec<Var>) {
        let locals = if who == Who::Mover { &self.local_vars } else { &self.peer_vars };
        (self.shared_vars.iter().map(|[now, _]| *now).collect(), locals.iter().map(|[now, _]| *now).collect())
    }

    /// Returns a valuation of the shared variables, the moving thread's variables, and the choices.
    pub fn pick(&self, set: &Bdd) -> Option<Picked> {
        let (shared, locals) = self.now(Who::Mover);
        let vars: Vec<_> = shared.iter().chain(&locals).chain(&self.choices).copied().collect();
        let mut picked = set.pick(&vars)?;
        let choices = picked.split_off(shared.len() + locals.len());
        let locals = picked.split_off(shared.len());
        Some(Picked { shared: picked, locals, choices })
    }
}

impl Layout for PairLayout {
    type Agent = Who;

    fn manager(&self) -> &Manager {
        &self.manager
    }

    fn choices(&self) -> &[Var] {
        &self.choices
    }

    fn position(&self, var: VarId, agent: Who, when: When) -> Var {
        self.var(var, agent, when)
    }
}

impl ThreadLayout for PairLayout {
    fn slots(&self) -> &Slots {
        &self.slots
    }

    fn kept_vars(&self) -> &Kept {
        &self.kept
    }

    fn choice_set(&self) -> &VarSet {
        &self.all_choices
    }
}

/// A picked state of a thread.
pub struct Picked {
    /// The values of the shared variables, by slot.
    pub shared: Vec<bool>,
    /// The values of the thread's variables, by slot.
    pub locals: Vec<bool>,
    /// The choices.
    pub choices: Vec<bool>,
}

/// The variables of the diagrams by group; `order` lists shared places, then those of threads.
struct Groups {
    shared: Vec<[Var; 2]>,
    locals: Vec<[Var; 2]>,
    peers: Vec<[Var; 2]>,
    copies: Vec<Vec<Var>>,
    begins: [Vec<Var>; 2],
    choices: Vec<Var>,
    local_cut: Var,
    peer_cut: Var,
}

impl Groups {
    /// Creates the groups for split sets. Each of the groups below a cut has at least one variable, so that there is a
    /// cut.
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
            copies: Vec::new(),
            begins: [Vec::new(), Vec::new()],
            choices: vars[begin_choices..begin_peers].to_vec(),
            local_cut: vars[begin_locals],
            peer_cut: vars[begin_peers],
        }
    }

    /// Creates the groups for views: shared variables above those of threads, all of one place together; choices below.
    /// Sets are never split in this order.
    fn side_by_side(manager: &Manager, order: &[Vec<usize>; 2], n_choices: usize, n_copies: usize) -> Groups {
        let (shared_width, local_width) = (3, n_copies + 5);
        let begin_locals = shared_width * order[0].len();
        let begin_choices = begin_locals + local_width * order[1].len();
        let vars = manager.add_vars((begin_choices + n_choices).max(1));
        let column = |begin: usize, width: usize, order: &[usize], at: usize| {
            let mut column = vec![vars[0]; order.len()];
            order.iter().enumerate().for_each(|(place, slot)| column[*slot] = vars[begin + width * place + at]);
            column
        };
        let shared = |at: usize| column(0, shared_width, &order[0], at);
        let local = |at: usize| column(begin_locals, local_width, &order[1], at);
        let pairs =
            |left: Vec<Var>, right: Vec<Var>| left.into_iter().zip(right).map(|(now, next)| [now, next]).collect();
        Groups {
            shared: pairs(shared(1), shared(2)),
            locals: pairs(local(n_copies + 3), local(n_copies + 4)),
            peers: pairs(local(n_copies), local(n_copies + 1)),
            copies: (0..n_copies).map(local).collect(),
            begins: [shared(0), local(n_copies + 2)],
            choices: vars[begin_choices..begin_choices + n_choices].to_vec(),
            local_cut: vars[begin_locals.min(vars.len() - 1)],
            peer_cut: vars[vars.len() - 1],
        }
    }
}
