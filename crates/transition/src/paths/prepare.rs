//! Diagrams that are prepared once for each edge of a program.

use selvedge_ir::{Assign, EdgeId, Expr, Op, Program, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Renaming, VarSet};

use super::layout::{PathLayout, When};
use super::step::Step;
use crate::step::diagram::relation::Layout;

/// The effect of an edge on path edges.
pub enum Prepared {
    Step(Step),
    Assert { holds: Step, fails: Bdd },
    Call(PreparedCall),
    Return(Step),
    End,
}

pub struct PreparedCall {
    /// The arguments, as the callee's parameters next.
    pub arguments: Bdd,
    /// Takes path edges at the call, with the arguments conjoined, to states at the callee's entry.
    pub entering: (VarSet, Renaming),
    /// Takes path edges at the call, with the arguments and a summary conjoined, to path edges after it.
    pub after: (VarSet, Renaming),
}

impl Prepared {
    /// Returns the relation of an assignment or assertion.
    pub fn relation(&self) -> Option<&Bdd> {
        match self {
            Prepared::Step(step) | Prepared::Assert { holds: step, .. } => Some(&step.relation),
            _ => None,
        }
    }
}

impl PathLayout {
    /// Computes the effect on path edges of an edge of a program that starts no threads.
    pub fn prepared(&self, program: &Program, id: EdgeId) -> Result<Prepared, OutOfNodes> {
        let edge = &program.edges[id];
        let proc = program.locs[edge.from].proc;
        Ok(match &edge.op {
            Op::Assign(assign) => Prepared::Step(self.assignment(assign)?),
            Op::Assert(condition) => {
                let negated = Assign::assume(Expr::negate(condition.clone()));
                let holds = self.assignment(&Assign::assume(condition.clone()))?;
                Prepared::Assert { holds, fails: self.assignment(&negated)?.relation }
            }
            Op::AtomicBegin | Op::AtomicEnd => Prepared::Step(self.assignment(&Assign::skip())?),
            Op::Call(call) => Prepared::Call(PreparedCall {
                arguments: self.arguments(program, call)?,
                entering: self.entering(program, proc, call.callee)?,
                after: self.after_call(program, call)?,
            }),
            Op::Return(values) => Prepared::Return(self.returning(program, proc, values)?),
            Op::End => Prepared::End,
            Op::Spawn(_) | Op::Fork(_) => unreachable!("path edges are for programs that start no threads"),
        })
    }

    /// Returns the states after some initial values.
    pub fn initial(&self, init: &[(VarId, Expr)]) -> Result<Bdd, OutOfNodes> {
        let mut states = self.manager.top();
        for (var, rhs) in init {
            let value = self.value((), rhs)?;
            states = states.and(&self.manager.var(self.var(*var, When::Now))?.iff(&value)?)?;
        }
        states.exists(&self.manager.var_set(&self.choices)?)
    }
}
