//! Weights of states, and the check that no step makes the sum of a configuration greater.
//!
//! The sum of a configuration is the weight of its shared state and that of the state of each thread. If no start has a
//! greater sum than `most`, and no step makes a sum greater, then no configuration that is reached has a greater one.
//! States of threads do not weigh less than nothing, so that all above a configuration with a greater sum have one too.
//!
//! A step by a rule takes one thread away and puts others in its place. A thread that it transfers may become any that
//! it lists, none of which may weigh more. Threads of which there may be any number at the start must weigh nothing.

use selvedge_check::{Run, Weighting};
use selvedge_ir::tts::{LocalId, Rule, SharedId, Start, Tts};

use super::super::{Flaw, Refused};

/// The weights of all states.
pub(super) struct Weights {
    shareds: Vec<i128>,
    locals: Vec<i128>,
    most: i128,
}

impl Weights {
    pub(super) fn new(tts: &Tts, listed: &Weighting) -> Result<Weights, Refused> {
        let mut weights = Weights {
            shareds: vec![0; tts.n_shared as usize],
            locals: vec![0; tts.n_local as usize],
            most: i128::from(listed.most),
        };
        for (shared, weight) in &listed.shareds {
            *weights.shareds.get_mut(shared.index()).ok_or(Flaw::Malformed(None))? = i128::from(*weight);
        }
        for (local, weight) in &listed.locals {
            if *weight < 0 {
                return Err(Flaw::Malformed(None).into());
            }
            *weights.locals.get_mut(local.index()).ok_or(Flaw::Malformed(None))? = i128::from(*weight);
        }
        Ok(weights)
    }

    /// Returns whether a configuration with these numbers of threads, and all above it, have a sum that is too great.
    /// Numbers below 2³² of weights below 2⁶³ do not leave the range of 128 bits.
    pub(super) fn exclude(&self, shared: SharedId, counts: impl Iterator<Item = (LocalId, u32)>) -> bool {
        let sum: i128 = counts.map(|(local, count)| self.locals[local.index()] * i128::from(count)).sum();
        self.shareds[shared.index()] + sum > self.most
    }

    pub(super) fn check(&self, tts: &Tts, run: &Run<'_>) -> Result<(), Refused> {
        for (number, start) in tts.starts.iter().enumerate() {
            run.tick()?;
            if !self.allows_start(start) {
                return Err(Flaw::Initial(number).into());
            }
        }
        for (id, rule) in tts.rules.iter_enumerated() {
            run.tick()?;
            if !self.allows_rule(rule) {
                return Err(Flaw::Rule(id.index()).into());
            }
        }
        Ok(())
    }

    fn allows_start(&self, start: &Start) -> bool {
        self.shareds[start.shared.index()] + self.sum(&start.threads) <= self.most && self.sum(&start.any) == 0
    }

    fn allows_rule(&self, rule: &Rule) -> bool {
        let before = self.shareds[rule.shared.index()] + self.locals[rule.local.index()];
        let after = self.shareds[rule.shared_after.index()] + self.sum(&rule.after);
        let no_more = |from: &LocalId, to: &LocalId| self.locals[to.index()] <= self.locals[from.index()];
        after <= before && rule.transfers.iter().all(|(from, to)| to.iter().all(|to| no_more(from, to)))
    }

    fn sum(&self, threads: &[LocalId]) -> i128 {
        threads.iter().map(|local| self.locals[local.index()]).sum()
    }
}
