//! The variables of a program as the symbolic engines see them: their places in valuations, and which are kept where.

use index_vec::IndexVec;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::visit::{choice_types, reads};
use selvedge_ir::{Edge, EntryId, Expr, LocId, Op, Program, Scope, VarId};
use selvedge_logic::order::force;

/// The places of variables in a valuation of the shared variables, or in one of a thread's. Locals of different
/// procedures share places.
pub struct Slots {
    /// The shared variables, in the order of their declaration.
    pub shared: Vec<VarId>,
    /// The per-thread variables that are not among the shared ones, in the order of their declaration.
    pub thread_vars: Vec<VarId>,
    /// The maximum number of variables of a thread.
    pub n_locals: usize,
    slot: IndexVec<VarId, usize>,
    is_shared: IndexVec<VarId, bool>,
}

impl Slots {
    /// Creates the places for a program with several threads.
    pub fn new(program: &Program) -> Slots {
        Slots::with_shared(program, |scope| scope == Scope::Shared)
    }

    /// Creates the places for a program with one thread, whose per-thread variables count as shared.
    pub fn of_one_thread(program: &Program) -> Slots {
        Slots::with_shared(program, |scope| !matches!(scope, Scope::Local(_)))
    }

    fn with_shared(program: &Program, is_shared: impl Fn(Scope) -> bool) -> Slots {
        let globals = program.vars.indices().filter(|var| !matches!(program.vars[*var].scope, Scope::Local(_)));
        let (shared, thread_vars) = globals.partition::<Vec<VarId>, _>(|var| is_shared(program.vars[*var].scope));
        let mut slot: IndexVec<VarId, usize> = program.vars.iter().map(|_| 0).collect();
        shared.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        thread_vars.iter().enumerate().for_each(|(place, var)| slot[*var] = place);
        for proc in &program.procs {
            proc.locals.iter().enumerate().for_each(|(place, var)| slot[*var] = thread_vars.len() + place);
        }
        Slots {
            n_locals: thread_vars.len() + program.procs.iter().map(|proc| proc.locals.len()).max().unwrap_or(0),
            is_shared: program.vars.iter().map(|var| is_shared(var.scope)).collect(),
            shared,
            thread_vars,
            slot,
        }
    }

    /// Returns the place of a variable among the shared ones, or among those of its thread.
    pub fn get(&self, var: VarId) -> usize {
        self.slot[var]
    }

    pub fn is_shared(&self, var: VarId) -> bool {
        self.is_shared[var]
    }

    /// Returns the variables that a thread sees at a location: per-thread ones and locals.
    pub fn visible(&self, program: &Program, loc: LocId) -> Vec<VarId> {
        let locals = &program.procs[program.locs[loc].proc].locals;
        self.thread_vars.iter().chain(locals).copied().collect()
    }

    /// Computes an order of the shared places, and one of the places of threads: variables that occur together are
    /// neighbours.
    pub fn order(&self, program: &Program) -> [Vec<usize>; 2] {
        let n_shared = self.shared.len();
        let item = |var: VarId| if self.is_shared[var] { self.slot[var] } else { n_shared + self.slot[var] };
        let together = |edge: &Edge| {
            let mut set: Vec<usize> = Vec::new();
            for expr in edge.exprs() {
                expr.for_each_leaf(|leaf| {
                    if let Expr::Var(var) | Expr::Next(var) | Expr::Passive(var) | Expr::PassiveNext(var) = leaf {
                        set.push(item(*var));
                    }
                });
            }
            if let Op::Assign(assign) = &edge.op {
                set.extend(assign.active.iter().chain(&assign.passive).map(|(var, _)| item(*var)));
            }
            set.sort_unstable();
            set.dedup();
            set
        };
        // Large sets of variables carry little information about neighbourhood and are expensive.
        let sets: Vec<Vec<usize>> =
            program.edges.iter().map(together).filter(|set| (2..=16).contains(&set.len())).collect();
        let all = force(n_shared + self.n_locals, &sets);
        let shared = all.iter().copied().filter(|item| *item < n_shared).collect();
        let locals = all.iter().filter(|item| **item >= n_shared).map(|item| item - n_shared).collect();
        [shared, locals]
    }
}

/// The variables that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// All variables.
    All,
    /// The variables that may still be read.
    Live,
}

/// The variables that are kept, and those that are not.
pub struct Kept {
    at: IndexVec<LocId, Vec<VarId>>,
    dead: IndexVec<LocId, Vec<VarId>>,
    /// The shared variables that are kept.
    pub shared: Vec<VarId>,
    /// The shared variables that are never read.
    pub dead_shared: Vec<VarId>,
}

impl Kept {
    pub fn new(program: &Program, slots: &Slots, keep: Keep) -> Kept {
        let liveness = Liveness::new(program);
        Kept::of(program, slots, &|loc, var| keep == Keep::All || liveness.is_live(loc, var))
    }

    /// Keeps the variables of which this holds at a location: at least the live ones. A shared variable is kept
    /// everywhere or nowhere.
    pub fn of(program: &Program, slots: &Slots, is_kept: &dyn Fn(LocId, VarId) -> bool) -> Kept {
        let initial: Vec<VarId> =
            program.entries.iter().flat_map(|entry| entry.init.iter().flat_map(|(_, rhs)| reads(rhs))).collect();
        let is_read = |var: &VarId| initial.contains(var) || program.locs.indices().any(|loc| is_kept(loc, *var));
        let (shared, dead_shared) = slots.shared.iter().copied().partition(is_read);
        let split =
            |loc: LocId| slots.visible(program, loc).into_iter().partition::<Vec<VarId>, _>(|var| is_kept(loc, *var));
        let (at, dead): (Vec<_>, Vec<_>) = program.locs.indices().map(split).unzip();
        Kept { at: IndexVec::from_vec(at), dead: IndexVec::from_vec(dead), shared, dead_shared }
    }

    /// Returns the variables of a thread that are kept at a location.
    pub fn at(&self, loc: LocId) -> &[VarId] {
        &self.at[loc]
    }

    /// Returns the variables of a thread that are not kept at a location.
    pub fn dead(&self, loc: LocId) -> &[VarId] {
        &self.dead[loc]
    }
}

/// Returns the greatest number of choices that an edge or an initial value makes.
pub fn n_choices(program: &Program) -> usize {
    let of_edges = program.edges.iter().map(|edge| edge.op.choices().len()).max().unwrap_or(0);
    let of_entry = |init: &[(VarId, Expr)]| choice_types(init.iter().map(|(_, rhs)| rhs)).len();
    let of_entries = program.entries.iter().map(|entry| of_entry(&entry.init)).max().unwrap_or(0);
    of_edges.max(of_entries).max(of_entry(&program.init))
}

/// Returns the numbers of initial threads of each kind that the program and the bound allow, those with fewer threads
/// first.
pub fn initial_counts(program: &Program, bound: u32) -> Vec<Vec<(EntryId, u32)>> {
    let mut initial_counts: Vec<Vec<(EntryId, u32)>> = vec![Vec::new()];
    for (id, entry) in program.entries.iter_enumerated() {
        let longer = |marking: &Vec<(EntryId, u32)>| {
            let room = bound - marking.iter().map(|(_, count)| count).sum::<u32>();
            let counts = (0..=room).filter(|count| entry.count.allows(*count as usize));
            counts.map(|count| marking.iter().copied().chain([(id, count)]).collect()).collect::<Vec<_>>()
        };
        initial_counts = initial_counts.iter().flat_map(longer).collect();
    }
    initial_counts.sort_by_key(|marking| marking.iter().map(|(_, count)| count).sum::<u32>());
    initial_counts
}
