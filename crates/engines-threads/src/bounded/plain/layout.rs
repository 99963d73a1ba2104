//! The variables of the diagrams: the shared ones, then those of all threads side by side, then choices.
//!
//! Each variable of the program has two, its value now and after the step, next to each other. The same variable of
//! different threads is kept together.

use selvedge_ir::{LocId, Program, VarId};
use selvedge_logic::bdd::{Limits, Manager, OutOfNodes, Var, VarSet};
use selvedge_transition::step::diagram::relation::{Layout, When};
use selvedge_transition::step::diagram::threads::ThreadLayout;
use selvedge_transition::step::vars::{Keep, Kept, Slots, n_choices};

/// The variables of the diagrams.
pub(super) struct ProductLayout {
    pub(super) manager: Manager,
    pub(super) slots: Slots,
    pub(super) kept: Kept,
    shared_vars: Vec<[Var; 2]>,
    /// The variables of threads, by thread and place.
    pub(super) copies: Vec<Vec<[Var; 2]>>,
    pub(super) choices: Vec<Var>,
    pub(super) all_choices: VarSet,
}

impl ProductLayout {
    pub(super) fn new(
        program: &Program,
        n_threads: usize,
        keep: Keep,
        limits: Limits,
    ) -> Result<ProductLayout, OutOfNodes> {
        let slots = Slots::new(program);
        let order = slots.order(program);
        let (n_shared, n_locals) = (order[0].len(), order[1].len());
        let manager = Manager::new(limits);
        let n_choices = n_choices(program);
        let begin_choices = 2 * (n_shared + n_locals * n_threads);
        let vars = manager.add_vars((begin_choices + n_choices).max(2));
        let pair = |begin: usize| [vars[begin], vars[begin + 1]];
        let mut shared_vars = vec![pair(0); n_shared];
        for (place, slot) in order[0].iter().enumerate() {
            shared_vars[*slot] = pair(2 * place);
        }
        let mut copies = vec![vec![pair(0); n_locals]; n_threads];
        for (place, slot) in order[1].iter().enumerate() {
            for (thread, copy) in copies.iter_mut().enumerate() {
                copy[*slot] = pair(2 * (n_shared + place * n_threads + thread));
            }
        }
        let choices = vars[begin_choices..begin_choices + n_choices].to_vec();
        Ok(ProductLayout {
            all_choices: manager.var_set(&choices)?,
            kept: Kept::new(program, &slots, keep),
            shared_vars,
            copies,
            manager,
            slots,
            choices,
        })
    }

    /// Returns the values now of all shared variables, by place.
    pub(super) fn shared_now(&self) -> Vec<Var> {
        self.shared_vars.iter().map(|[now, _]| *now).collect()
    }

    /// Returns the values now of all variables of a thread, by place.
    pub(super) fn locals_now(&self, thread: usize) -> Vec<Var> {
        self.copies[thread].iter().map(|[now, _]| *now).collect()
    }

    /// Returns the variables that are not kept at the location of a thread, and the shared ones that are never kept.
    pub(super) fn dead(&self, thread: usize, loc: LocId) -> Vec<Var> {
        let dead = self.kept.dead(loc).iter().chain(&self.kept.dead_shared);
        dead.map(|var| self.position(*var, thread, When::Now)).collect()
    }
}

impl Layout for ProductLayout {
    type Agent = usize;

    fn manager(&self) -> &Manager {
        &self.manager
    }

    fn choices(&self) -> &[Var] {
        &self.choices
    }

    fn position(&self, var: VarId, thread: usize, when: When) -> Var {
        let pairs = if self.slots.is_shared(var) { &self.shared_vars } else { &self.copies[thread] };
        pairs[self.slots.get(var)][when as usize]
    }
}

impl ThreadLayout for ProductLayout {
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
