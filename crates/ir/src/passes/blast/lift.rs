//! Executions over bits as executions over machine integers. Edges and locations have the same numbers in both.

use std::collections::BTreeMap;

use index_vec::IndexVec;

use crate::bits::{BitChoice, BitMap};
use crate::syntax::{Ty, Value, VarId};
use crate::trace::{Fresh, Start, StartThread, Step, Trace};

/// Maps executions of the program over bits to executions of the program with machine integers.
#[derive(Clone, Debug)]
pub struct BitLift {
    /// The new variables and choices that stand for the old ones.
    pub map: BitMap,
    /// For each new variable the old one, and the number of its bit.
    pub(super) origin: IndexVec<VarId, (VarId, u32)>,
}

impl BitLift {
    /// Returns the old execution that a new one represents.
    pub fn trace(&self, trace: &Trace) -> Trace {
        let thread = |thread: &StartThread| StartThread {
            entry: thread.entry,
            choices: made(&self.map.entries[thread.entry], &thread.choices),
            fresh: self.fresh(&thread.fresh),
        };
        let start = Start {
            choices: made(&self.map.init, &trace.start.choices),
            fresh: self.fresh(&trace.start.fresh),
            threads: trace.start.threads.iter().map(thread).collect(),
        };
        let lifted = |steps: &[Step]| steps.iter().map(|step| self.step(step)).collect();
        Trace { start, steps: lifted(&trace.steps), bodies: trace.bodies.iter().map(|body| lifted(body)).collect() }
    }

    fn step(&self, step: &Step) -> Step {
        let choices = &self.map.edges[step.edge];
        Step {
            choices: made(choices, &step.choices),
            passive: step.passive.iter().map(|values| made(choices, values)).collect(),
            fresh: self.fresh(&step.fresh),
            ..step.clone()
        }
    }

    fn fresh(&self, fresh: &Fresh) -> Fresh {
        let mut bits: BTreeMap<VarId, u64> = BTreeMap::new();
        for (var, value) in fresh {
            let (old, bit) = self.origin[*var];
            *bits.entry(old).or_default() |= u64::from(*value == Value::Bool(true)) << bit;
        }
        bits.into_iter().map(|(var, bits)| (var, self.map.vars[var].value(bits))).collect()
    }
}

/// Returns the values of old choices.
fn made(choices: &[BitChoice], values: &[Value]) -> Vec<Value> {
    let bit = |number: &Option<u32>| number.is_some_and(|number| values[number as usize] == Value::Bool(true));
    let value = |choice: &BitChoice| {
        let bits = choice.bits.iter().rev().fold(0, |bits, number| bits << 1 | u64::from(bit(number)));
        match choice.ty {
            Ty::Machine(ty) => Value::Machine(ty, bits),
            Ty::Bool | Ty::Int => Value::Bool(bits == 1),
        }
    };
    choices.iter().map(value).collect()
}
