//! Engines in turns: each has a budget of work, which grows from round to round.

use std::time::Duration;

use selvedge_check::{CancelToken, Event, Observer, Outcome, Reason, Run, Stop};
use selvedge_engines::table::Row;

use super::standing::{Best, Standing, Worth};
use super::team::only_finds_errors;
use crate::attempt::{Attempt, attempt};
use crate::{Failure, Options, Prepared};

/// The work of a solver for an engine with a budget of one, in Z3's units: about half a second.
const SOLVER_WORK: u64 = 1_000_000;

/// A team whose engines take turns, each with a budget that grows from round to round.
pub(super) struct RoundRobin {
    standing: Standing,
    /// The engines that have not given up.
    playing: Vec<usize>,
    /// The greatest budget of an engine.
    most: usize,
}

impl RoundRobin {
    pub(super) fn new(team: Vec<&'static Row>, most: usize) -> RoundRobin {
        RoundRobin { playing: (0..team.len()).collect(), standing: Standing::new(team), most }
    }

    pub(super) fn run(mut self, prepared: &Prepared, options: &Options, run: &Run<'_>) -> Result<Best, Failure> {
        let began = vec![None; self.standing.team.len()];
        let mut budget = 1;
        while self.standing.worth() == Worth::Open && self.can_prove() && budget <= self.most {
            for number in std::mem::take(&mut self.playing) {
                let attempt = self.turn(number, prepared, options, run, budget);
                let time = attempt.as_ref().map_or(Duration::ZERO, |attempt| attempt.times.total());
                let is_over = attempt.as_ref().is_ok_and(|attempt| is_part_stopped(&attempt.outcome));
                if is_over && run.check_limits().is_ok() {
                    self.playing.push(number);
                }
                self.standing.note(number, attempt, time);
                if self.standing.worth() == Worth::Judged {
                    return self.standing.close(prepared, &began, run);
                }
            }
            let alone = self.playing.len() == 1 && self.most == usize::MAX;
            budget = if alone { usize::MAX } else { budget.saturating_mul(8) };
        }
        self.standing.close(prepared, &began, run)
    }

    /// Returns whether an engine is left that can answer "safe".
    fn can_prove(&self) -> bool {
        self.playing.iter().any(|number| !only_finds_errors(self.standing.team[*number]))
    }

    /// Lets an engine work until it has used up the budget.
    fn turn(
        &self,
        number: usize,
        prepared: &Prepared,
        options: &Options,
        run: &Run<'_>,
        budget: usize,
    ) -> Result<Attempt, Failure> {
        let part = match u64::try_from(budget) {
            Ok(budget) if budget < u64::MAX => run.part().with_solver_work(budget.saturating_mul(SOLVER_WORK)),
            _ => run.part(),
        };
        let row = self.standing.team[number];
        let observer = BudgetObserver { row, budget, run, cancel: part.cancel.clone() };
        attempt(prepared, row, options, &part.run(&observer))
    }
}

/// Returns whether an engine stopped since its turn was over.
fn is_part_stopped(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Unknown(Reason::Stop(Stop::PartStopped)))
}

/// Stops an engine that has used up its budget, counted in its events.
pub(crate) struct BudgetObserver<'r, 'o> {
    pub(crate) row: &'static Row,
    pub(crate) budget: usize,
    pub(crate) run: &'r Run<'o>,
    pub(crate) cancel: CancelToken,
}

impl Observer for BudgetObserver<'_, '_> {
    fn event(&self, event: Event) {
        let used = match event {
            Event::Searched { visited, .. } => visited / 20_000,
            Event::Diagrams { rounds, nodes, .. } => (rounds / 500).max(nodes / 200_000),
            Event::Views { k, views, .. } => (views / 2_000).max(k / 6),
            // Long executions are cheap for `bmc` as long as their circuit is small.
            Event::Unwound { steps, nodes } if only_finds_errors(self.row) => (steps / 20_000).max(nodes / 50_000),
            Event::Unwound { steps, nodes } => (steps / 40).max(nodes / 200_000),
            Event::ThreadStates { threads, .. } => threads / 10,
            Event::SharedStates { k, .. } => k as usize / 4,
            Event::Solved { conflicts } => usize::try_from(conflicts / 10_000).unwrap_or(usize::MAX),
            Event::Refined(refinement) => (refinement.queries / 500).max(refinement.states / 100_000),
            Event::Phase(_) | Event::Closed(_) => 0,
        };
        if used >= self.budget {
            self.cancel.cancel();
        }
        self.run.event(event);
    }
}
