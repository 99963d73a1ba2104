//! States picked from sets of states, and expressions without new values: what the way back along steps needs.

use selvedge_ir::{Assign, Expr, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};

use super::expr;
use super::layout::{Layout, When, Who};
use crate::step::passive::Part;

/// A picked state of a thread.
pub struct Picked {
    pub shared: Vec<bool>,
    pub locals: Vec<bool>,
    pub choices: Vec<bool>,
}

impl Layout {
    /// A valuation of the shared variables, the moving thread's variables, and the choices.
    pub fn pick(&self, set: &Bdd) -> Option<Picked> {
        let (shared, locals) = self.now(Who::Mover);
        let vars: Vec<_> = shared.iter().chain(&locals).chain(&self.choices).copied().collect();
        let mut picked = set.pick(&vars)?;
        let choices = picked.split_off(shared.len() + locals.len());
        let locals = picked.split_off(shared.len());
        Some(Picked { shared: picked, locals, choices })
    }

    /// Variables of the moving thread, or shared ones, have given values.
    pub fn fixed(&self, vars: &[VarId], values: &[bool]) -> Result<Bdd, OutOfNodes> {
        self.fixed_of(Who::Mover, vars, values)
    }

    /// The same for either thread.
    pub fn fixed_of(&self, who: Who, vars: &[VarId], values: &[bool]) -> Result<Bdd, OutOfNodes> {
        let literal = |var: &VarId| (self.var(*var, who, When::Now), values[self.slot(*var)]);
        let literals: Vec<_> = vars.iter().map(literal).collect();
        self.manager.cube(&literals)
    }

    /// The diagram of an expression of an assignment, with what is assigned in the place of new values.
    pub fn resolved(&self, assign: &Assign, expr: &Expr, part: Option<&Part<'_>>) -> Result<Bdd, OutOfNodes> {
        expr::encode(&self.manager, expr, &mut |leaf| match leaf {
            Expr::Var(var) => self.bdd(*var, Who::Mover, When::Now),
            Expr::Next(var) => match assign.active.iter().find(|(target, _)| target == var) {
                Some((_, rhs)) => self.expr(rhs),
                None => self.bdd(*var, Who::Mover, When::Now),
            },
            Expr::Passive(var) => self.bdd(*var, Who::Peer, When::Now),
            Expr::PassiveNext(var) => {
                let assigned = part.and_then(|part| part.assigned.iter().find(|(target, _)| target == var));
                match assigned {
                    Some((_, rhs)) => self.resolved(assign, rhs, part),
                    None => self.bdd(*var, Who::Peer, When::Now),
                }
            }
            Expr::Choice(number, _) => self.manager.var(self.choices[*number as usize]),
            _ => unreachable!("all other leaves are constants"),
        })
    }
}
