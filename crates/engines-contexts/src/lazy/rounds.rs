//! The rounds: the effects of the threads on each other.
//!
//! The `j`th thread of `n` has in its `k`th context a history: the states `i` with which its contexts began and the
//! states `o` with which they ended. In a round-robin schedule a context begins as the context of the previous thread
//! ended, and those of the first thread as the last thread's of the previous round. So, with `E` the effects of each
//! thread, and `C_j = E_1 ; .. ; E_j` and `D_j = E_j ; .. ; E_n` composed over vectors of shared states,
//!
//! - the first context of thread `j` begins with a state to which `C_{j-1}` leads from an initial state;
//! - a history `(i_1 .. i_k+1, o_1 .. o_k)` of thread `j` is *confirmed* if `E_j(i_1 .. i_k, o_1 .. o_k)` and there are
//!   `a` with `C_{j-1}(a_1 .. a_k+1, i_1 .. i_k+1)` and `D_{j+1}(o_1 .. o_k, a_2 .. a_k+1)`.
//!
//! These are rules R8, R9 and R12 of Fig. 5 for any number of threads. For each round there are as many compositions as
//! threads, of relations with three vectors: the work is linear in the number of threads.
//!
//! A fact of `E` describes the behaviour of a thread with this template if its contexts begin so, whichever thread it
//! is and whatever the others did. Hence threads of one template share their relations, and each only adds the
//! histories that no thread of its template had before. A composition joins facts that agree on all boundaries, so it
//! is an execution; a confirmed history is one of an execution in which all threads have run up to there, and only
//! these are explored.

use selvedge_check::Stop;
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::out_of_nodes;

use super::automata_product::AutomataProduct;
use crate::Histories;
use crate::thread_paths::columns::Side;
use crate::thread_paths::shared_model::SharedModel;
use crate::thread_paths::start::ThreadPaths;
use crate::thread_paths::template_paths::PathError;

/// An error in a context of a thread.
pub(super) struct FoundError {
    pub(super) thread: usize,
    pub(super) error: PathError,
}

/// The relations of a round.
#[derive(Default)]
pub(super) struct RoundRelations {
    /// For each thread that has come to its context: its histories, and its effects.
    pub(super) histories: Vec<Bdd>,
    pub(super) effects: Vec<Bdd>,
    /// The compositions of the effects of the first threads, of one and more, but not of all. The initial state with
    /// which the first context of the first thread began is left out, since it is not needed.
    pub(super) upto: Vec<Bdd>,
    /// The compositions of the effects of the last threads, from each thread on, and of no threads at the end. For the
    /// next round.
    pub(super) from: Vec<Bdd>,
}

/// The rounds so far.
pub(super) struct RoundSearch<'w, 'a> {
    pub(super) model: &'w SharedModel<'a>,
    pub(super) paths: ThreadPaths<'w, 'a>,
    /// The product of the threads, if there are few shared states.
    pub(super) product: Option<AutomataProduct>,
    pub(super) rounds: Vec<RoundRelations>,
}

impl<'w, 'a> RoundSearch<'w, 'a> {
    /// Computes everything before the first context, or an error.
    pub(super) fn begin(model: &'w SharedModel<'a>) -> Result<(RoundSearch<'w, 'a>, Option<PathError>), Stop> {
        let (paths, error) = ThreadPaths::begin(model)?;
        let in_blocks = model.histories == Histories::Blocks;
        let product = in_blocks.then(|| AutomataProduct::new(&paths.initial, paths.templates.len()));
        Ok((RoundSearch { model, paths, product, rounds: Vec::new() }, error))
    }

    /// Returns the number of rounds that were begun.
    pub(super) fn count(&self) -> u32 {
        self.rounds.len() as u32
    }

    /// Returns the relations of a round, from 1 on.
    pub(super) fn round(&self, number: u32) -> &RoundRelations {
        &self.rounds[number as usize - 1]
    }

    /// Gives all threads one more context. The previous rounds are used and not recomputed.
    pub(super) fn advance(&mut self) -> Result<Option<FoundError>, Stop> {
        if let Some(product) = self.product.take() {
            return self.advance_together(product);
        }
        if !self.rounds.is_empty() {
            self.compose_last()?;
        }
        self.rounds.push(RoundRelations::default());
        let context = self.count();
        for thread in 0..self.paths.of_entries.len() {
            self.model.run.check_limits()?;
            let histories = match context {
                1 => self.first_histories(),
                _ => self.confirmed(thread),
            };
            let histories = histories.map_err(out_of_nodes)?;
            let error = self.paths.templates[self.paths.of_entries[thread]].advance(context, &histories)?;
            self.rounds[context as usize - 1].histories.push(histories);
            if let Some(error) = error {
                return Ok(Some(FoundError { thread, error }));
            }
            self.record_effects(thread).map_err(out_of_nodes)?;
        }
        Ok(None)
    }

    /// Returns the states with which the first context of the next thread begins.
    fn first_histories(&self) -> Result<Bdd, OutOfNodes> {
        let Some(upto) = self.round(1).upto.last() else { return Ok(self.paths.initial.clone()) };
        let model = self.model;
        let [begun, ended] = [Side::In, Side::Out].map(|side| model.column(side, 1));
        model.renamed(upto, &[(&ended, &begun)])
    }

    /// Returns the histories of a thread, up to the beginning of the current context, that the other threads confirm.
    fn confirmed(&self, thread: usize) -> Result<Bdd, OutOfNodes> {
        let model = self.model;
        let last = self.count();
        let (before, now) = (self.round(last - 1), self.round(last));
        let over = |side: Side, first: u32, last: u32| model.columns(side, first, last);
        let (begun, ended) = (over(Side::In, 1, last - 1), over(Side::Out, 1, last - 1));
        // The later threads lead from the ends of this thread's contexts to the beginnings of the first one's.
        let behind = &before.from[thread + 1];
        let Some(ahead) = now.upto.last() else {
            let behind = model.renamed(behind, &[(&begun, &ended), (&ended, &over(Side::In, 2, last))])?;
            return before.effects[thread].and(&behind);
        };
        let behind = model.renamed(behind, &[(&begun, &ended), (&ended, &over(Side::Mid, 2, last))])?;
        let all = |side: Side| over(side, 1, last);
        let pairs: [(&[_], &[_]); 2] = [(&all(Side::In), &all(Side::Mid)), (&all(Side::Out), &all(Side::In))];
        let ahead = model.renamed(ahead, &pairs)?;
        before.effects[thread].and(&behind)?.and_exists(&ahead, &model.set(&[&all(Side::Mid)])?)
    }

    /// Records the effects of a thread after its context.
    fn record_effects(&mut self, thread: usize) -> Result<(), OutOfNodes> {
        let context = self.count();
        let round = self.round(context);
        let effects =
            self.paths.templates[self.paths.of_entries[thread]].effects(context).and(&round.histories[thread])?;
        let upto = match round.upto.last() {
            _ if thread + 1 == self.paths.of_entries.len() => None,
            Some(upto) => Some(self.composed(upto, &effects)?),
            None => {
                let model = self.model;
                Some(effects.exists(&model.set(&[&model.column(Side::In, 1)])?)?)
            }
        };
        let round = &mut self.rounds[context as usize - 1];
        round.effects.push(effects);
        round.upto.extend(upto);
        Ok(())
    }

    /// Composes two relations.
    fn composed(&self, first: &Bdd, second: &Bdd) -> Result<Bdd, OutOfNodes> {
        let model = self.model;
        let [begun, middle, ended] = [Side::In, Side::Mid, Side::Out].map(|side| model.columns(side, 1, self.count()));
        let first = model.renamed(first, &[(&ended, &middle)])?;
        let second = model.renamed(second, &[(&begun, &middle)])?;
        first.and_exists(&second, &model.set(&[&middle])?)
    }

    /// Computes the compositions of the effects of the last threads, for the next round. The one from the first thread
    /// on is not needed.
    fn compose_last(&mut self) -> Result<(), Stop> {
        let model = self.model;
        let context = self.count();
        let [begun, ended] = [Side::In, Side::Out].map(|side| model.columns(side, 1, context));
        let mut from = vec![model.equal(&begun, &ended).map_err(out_of_nodes)?];
        for effects in self.round(context).effects.iter().skip(1).rev() {
            self.model.run.check_limits()?;
            let last = from.last().expect("there is at least the identity");
            let longer = if from.len() == 1 { Ok(effects.clone()) } else { self.composed(effects, last) };
            from.push(longer.map_err(out_of_nodes)?);
        }
        from.push(model.layout.manager.bottom());
        from.reverse();
        self.rounds[context as usize - 1].from = from;
        Ok(())
    }

    /// Returns the shared states, as current ones, after at least one round: those at points where a context may end.
    pub(super) fn reached(&self) -> Result<Bdd, OutOfNodes> {
        let model = self.model;
        if let Some(product) = &self.product {
            return model.now_from(&product.reached, &model.column(Side::In, 1));
        }
        let context = self.count();
        let round = self.round(context);
        let Some(last) = round.effects.last() else {
            // Without threads nothing changes.
            let begun = model.column(Side::In, 1);
            return model.renamed(&self.paths.initial, &[(&begun, &model.now())]);
        };
        let [begun, middle] = [Side::In, Side::Mid].map(|side| model.columns(side, 1, context));
        let [before, ended] =
            [(1, context - 1), (context, context)].map(|(first, last)| model.columns(Side::Out, first, last));
        let states = match round.upto.last() {
            Some(upto) => {
                let out = model.columns(Side::Out, 1, context);
                let first = upto.exists(&model.set(&[&begun])?)?;
                let first = model.renamed(&first, &[(&out, &middle)])?;
                let second = model.renamed(last, &[(&begun, &middle)])?;
                first.and_exists(&second, &model.set(&[&middle, &before])?)?
            }
            None => last.exists(&model.set(&[&begun, &before])?)?,
        };
        model.now_from(&states, &ended)
    }
}
