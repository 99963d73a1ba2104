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
    after: (VarSet, Renaming),
    /// What must hold after it.
    ensures: Bdd,
}

impl PreparedCall {
    /// Returns the path edges after the call, from those at it with the arguments conjoined, by a summary.
    pub fn returned(&self, bound: &Bdd, summary: &Bdd) -> Result<Bdd, OutOfNodes> {
        bound.and_exists(summary, &self.after.0)?.rename(&self.after.1)?.and(&self.ensures)
    }
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
            Op::Assign(_) => Prepared::Step(self.assignment(&edge.as_assignment())?),
            Op::Assert(_) => {
                let failure = edge.failure().expect("the edge is an assertion");
                let fails = self.assignment(&Assign::assume(failure))?.relation;
                Prepared::Assert { holds: self.assignment(&edge.as_assignment())?, fails }
            }
            Op::AtomicBegin | Op::AtomicEnd => Prepared::Step(self.assignment(&edge.as_assignment())?),
            Op::Call(call) => Prepared::Call(PreparedCall {
                arguments: self.arguments(program, call)?,
                entering: self.entering(program, proc, call.callee)?,
                after: self.after_call(program, call)?,
                ensures: self.value((), &edge.ensures)?,
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
