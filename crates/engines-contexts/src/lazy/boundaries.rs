//! The shared states at the boundaries of all contexts of one execution.
//!
//! A confirmed history of a thread says that the other threads have effects that match. The compositions are decomposed
//! thread by thread: each was computed from a shorter one and the effects of one thread, so there is a state in
//! between.

use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};

use super::rounds::RoundSearch;
use crate::thread_paths::columns::Side;
use crate::thread_paths::walk::{Boundaries, StateVector};

impl RoundSearch<'_, '_> {
    /// Returns the boundaries of all threads in an execution that ends in the last round, in a context of the given
    /// thread with the given history.
    pub(super) fn boundaries(&self, thread: usize, own: Boundaries) -> Result<Vec<Boundaries>, OutOfNodes> {
        if let Some(product) = &self.product {
            return Ok(product.boundaries.clone());
        }
        let first = self.first_begun(thread, &own)?;
        let mut earlier_threads = self.earlier_threads(thread, &first, &own.begun)?;
        let later_threads = self.later_threads(thread, &first, &own.ended)?;
        earlier_threads.push(own);
        earlier_threads.extend(later_threads);
        Ok(earlier_threads)
    }

    /// Returns the states with which the contexts of the first thread begin, from the second on.
    fn first_begun(&self, thread: usize, own: &Boundaries) -> Result<StateVector, OutOfNodes> {
        let (model, last) = (self.model, self.count());
        if thread == 0 {
            return Ok(own.begun[model.width()..].to_vec());
        }
        let over = |side: Side, first: u32, last: u32| model.columns(side, first, last);
        let second = over(Side::In, 2, last);
        let mut found =
            self.round(last).upto[thread - 1].and(&self.model.fixed(&over(Side::Out, 1, last), &own.begun)?)?;
        if last > 1 {
            let (begun, ended) = (over(Side::In, 1, last - 1), over(Side::Out, 1, last - 1));
            let later_threads = self.round(last - 1).from[thread + 1].and(&self.model.fixed(&begun, &own.ended)?)?;
            let later_threads = later_threads.exists(&model.set(&[&begun])?)?;
            found = found.and(&model.renamed(&later_threads, &[(&ended, &second)])?)?;
        }
        Ok(picked(&found, &second))
    }

    /// Returns the boundaries of the threads before the given one, which have all had their last context: `first` are
    /// the states with which the contexts of the first of them begin, from the second on, `last` those with which the
    /// contexts of the last of them end.
    fn earlier_threads(&self, thread: usize, first: &[bool], last: &[bool]) -> Result<Vec<Boundaries>, OutOfNodes> {
        let (model, context) = (self.model, self.count());
        let round = self.round(context);
        let [begun, second] = [1, 2].map(|from| model.columns(Side::In, from, context));
        let mut ended = last.to_vec();
        let mut result = Vec::new();
        for other in (0..thread).rev() {
            let before = match other {
                0 => {
                    let out = model.columns(Side::Out, 1, context);
                    let found = round.effects[0]
                        .and(&self.model.fixed(&second, first)?)?
                        .and(&self.model.fixed(&out, &ended)?)?;
                    picked(&found, &begun)
                }
                _ => {
                    let relations = [&round.upto[other - 1], &round.effects[other]];
                    self.between(context, relations, (&second, first), &ended)?
                }
            };
            result.push(Boundaries { ended: std::mem::replace(&mut ended, before.clone()), begun: before });
        }
        result.reverse();
        Ok(result)
    }

    /// Returns the boundaries of the threads after the given one, which have not come to their last context: `last` are
    /// the states with which the contexts of the last of them end, `first` those with which the contexts of the next
    /// one begin.
    fn later_threads(&self, thread: usize, last: &[bool], first: &[bool]) -> Result<Vec<Boundaries>, OutOfNodes> {
        let n_threads = self.paths.of_entries.len();
        let before = self.count() - 1;
        let mut begun = first.to_vec();
        let mut result = Vec::new();
        for other in thread + 1..n_threads {
            let ended = match before {
                0 => Vec::new(),
                _ if other + 1 == n_threads => last.to_vec(),
                _ => {
                    let round = self.round(before);
                    let vars = self.model.columns(Side::In, 1, before);
                    let relations = [&round.effects[other], &round.from[other + 1]];
                    self.between(before, relations, (&vars, &begun), last)?
                }
            };
            result.push(Boundaries { begun: std::mem::replace(&mut begun, ended.clone()), ended });
        }
        Ok(result)
    }

    /// Returns states between two relations over a number of contexts: the first relation leads to them from given
    /// states, the second from them to given states.
    fn between(
        &self,
        contexts: u32,
        relations: [&Bdd; 2],
        from: (&[Var], &[bool]),
        to: &[bool],
    ) -> Result<StateVector, OutOfNodes> {
        let model = self.model;
        let [begun, middle, ended] = [Side::In, Side::Mid, Side::Out].map(|side| model.columns(side, 1, contexts));
        let first = relations[0].and(&self.model.fixed(from.0, from.1)?)?;
        let first = model.renamed(&first.exists(&model.set(&[&begun])?)?, &[(&ended, &middle)])?;
        let second = relations[1].and(&self.model.fixed(&ended, to)?)?;
        let second = model.renamed(&second.exists(&model.set(&[&ended])?)?, &[(&begun, &middle)])?;
        Ok(picked(&first.and(&second)?, &middle))
    }
}

fn picked(set: &Bdd, vars: &[Var]) -> StateVector {
    set.pick(vars).expect("the other threads have confirmed the history")
}
