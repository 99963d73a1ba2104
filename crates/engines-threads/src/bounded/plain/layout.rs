//! The variables of the diagrams: the shared ones, then those of all threads side by side, then choices.
//!
//! Each variable of the program has two, its value now and after the step, next to each other. The same variable of
//! different threads stands together.

use selvedge_ir::{Assign, Expr, LocId, Program, VarId};
use selvedge_logic::bdd::{Bdd, Limits, Manager, OutOfNodes, Var, VarSet};
use selvedge_transition::step::diagram::expr;
use selvedge_transition::step::passive::Part;
use selvedge_transition::step::vars::{Keep, Kept, Slots, n_choices};

/// The moment at which a variable of the program is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Now,
    Next,
}

/// The variables of the diagrams.
pub(super) struct Layout {
    pub(super) manager: Manager,
    pub(super) slots: Slots,
    pub(super) kept: Kept,
    shared_vars: Vec<[Var; 2]>,
    /// By thread and place.
    copies: Vec<Vec<[Var; 2]>>,
    pub(super) choices: Vec<Var>,
    pub(super) all_choices: VarSet,
}

/// New values for a thread in a step: those that it says itself, or those of a passive part.
pub(super) struct Assigned<'e> {
    pub(super) thread: usize,
    pub(super) values: Vec<&'e (VarId, Expr)>,
}

impl Layout {
    pub(super) fn new(program: &Program, n_threads: usize, keep: Keep, limits: Limits) -> Result<Layout, OutOfNodes> {
        let slots = Slots::new(program);
        let order = slots.order(program);
        let (n_shared, n_locals) = (order[0].len(), order[1].len());
        let manager = Manager::new(limits);
        let n_choices = n_choices(program);
        let vars = manager.add_vars(2 * (n_shared + n_locals * n_threads) + n_choices);
        let mut shared_vars = vec![None; n_shared];
        for (place, slot) in order[0].iter().enumerate() {
            shared_vars[*slot] = Some([vars[2 * place], vars[2 * place + 1]]);
        }
        let mut copies = vec![vec![None; n_locals]; n_threads];
        for (place, slot) in order[1].iter().enumerate() {
            for (thread, copy) in copies.iter_mut().enumerate() {
                let begin = 2 * (n_shared + place * n_threads + thread);
                copy[*slot] = Some([vars[begin], vars[begin + 1]]);
            }
        }
        let all = |pairs: Vec<Option<[Var; 2]>>| -> Vec<[Var; 2]> {
            pairs.into_iter().map(|pair| pair.expect("an order lists every place")).collect()
        };
        let choices = vars[2 * (n_shared + n_locals * n_threads)..].to_vec();
        Ok(Layout {
            all_choices: manager.var_set(&choices)?,
            kept: Kept::new(program, &slots, keep),
            shared_vars: all(shared_vars),
            copies: copies.into_iter().map(all).collect(),
            manager,
            slots,
            choices,
        })
    }

    /// The variable of the diagrams for a variable of the program, as a thread sees it.
    pub(super) fn var(&self, thread: usize, var: VarId, when: When) -> Var {
        let pairs = if self.slots.is_shared(var) { &self.shared_vars } else { &self.copies[thread] };
        pairs[self.slots.get(var)][when as usize]
    }

    pub(super) fn bdd(&self, thread: usize, var: VarId, when: When) -> Result<Bdd, OutOfNodes> {
        self.manager.var(self.var(thread, var, when))
    }

    /// The values now of all shared variables, by place.
    pub(super) fn shared_now(&self) -> Vec<Var> {
        self.shared_vars.iter().map(|[now, _]| *now).collect()
    }

    /// The values now of all variables of a thread, by place.
    pub(super) fn locals_now(&self, thread: usize) -> Vec<Var> {
        self.copies[thread].iter().map(|[now, _]| *now).collect()
    }

    /// The variables that are not kept where a thread stands, and the shared ones that are never kept.
    pub(super) fn dead(&self, thread: usize, loc: LocId) -> Vec<Var> {
        let dead = self.kept.dead(loc).iter().chain(&self.kept.dead_shared);
        dead.map(|var| self.var(thread, *var, When::Now)).collect()
    }

    /// Variables, as a thread sees them, have given values.
    pub(super) fn fixed(&self, thread: usize, vars: &[VarId], values: &[bool]) -> Result<Bdd, OutOfNodes> {
        let literal = |var: &VarId| (self.var(thread, *var, When::Now), values[self.slots.get(*var)]);
        self.manager.cube(&vars.iter().map(literal).collect::<Vec<_>>())
    }

    /// The diagram of an expression over old values of a thread, and choices.
    pub(super) fn expr(&self, thread: usize, expr: &Expr) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.bdd(thread, *var, When::Now),
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            _ => unreachable!("only conditions of assignments and passive assignments have other leaves"),
        })
    }

    /// The diagram of an expression of an assignment of a thread, over old values and choices: new values are what is
    /// assigned. The other thread is the one that takes part.
    pub(super) fn resolved(
        &self,
        assign: &Assign,
        mover: usize,
        other: Option<(usize, &Part<'_>)>,
        expr: &Expr,
    ) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.bdd(mover, *var, When::Now),
            Expr::Next(var) => match assign.active.iter().find(|(target, _)| target == var) {
                Some((_, rhs)) => self.expr(mover, rhs),
                None => self.bdd(mover, *var, When::Now),
            },
            Expr::Passive(var) => self.bdd(other_of(other).0, *var, When::Now),
            Expr::PassiveNext(var) => {
                let (thread, part) = other_of(other);
                match part.assigned.iter().find(|(target, _)| target == var) {
                    Some((_, rhs)) => self.resolved(assign, mover, other, rhs),
                    None => self.bdd(thread, *var, When::Now),
                }
            }
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            _ => unreachable!("all other leaves are constants"),
        })
    }
}

fn other_of<'p>(other: Option<(usize, &'p Part<'p>)>) -> (usize, &'p Part<'p>) {
    other.expect("only expressions about another thread mention it")
}
