//! What the values of some conditions say about another one.

use selvedge_check::{Run, Stop};
use selvedge_logic::aig::{Aig, Encoder, Lit};
use selvedge_logic::sat::{Answer, SatLit, Solver};

/// The most combinations of values that are looked at.
const MOST_MODELS: usize = 64;

/// Some conditions, by their places in a list, with the values that they have.
pub(super) type Cube = Vec<(usize, bool)>;

/// What is known about a condition.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// It holds where one of these does.
    pub(super) holds: Vec<Cube>,
    /// It does not hold where one of these does.
    pub(super) fails: Vec<Cube>,
    /// Set if one of these holds wherever the step is possible.
    pub(super) is_exact: bool,
}

/// A solver with a condition that always holds, a target and some premises.
pub(super) struct Implicants<'r> {
    solver: Solver,
    target: SatLit,
    premises: Vec<SatLit>,
    /// Holds where combinations that have been looked at are excluded.
    fresh: SatLit,
    /// The conflicts after which a question stays open: products and sums can be hard.
    effort: u32,
    run: &'r Run<'r>,
    queries: usize,
}

impl<'r> Implicants<'r> {
    /// Creates the solver for a target and premises, of which a step has this condition.
    pub(super) fn new(aig: &Aig, holds: Lit, (target, premises): (Lit, &[Lit]), run: &'r Run<'r>) -> Implicants<'r> {
        let (mut solver, mut encoder) = (Solver::new(), Encoder::new());
        if holds == Lit::FALSE {
            solver.add_clause(&[]);
        } else {
            encoder.assert(aig, holds, &mut solver);
        }
        let mut encode = |lit: Lit| encoder.encode(aig, lit, &mut solver);
        let target = encode(target);
        let premises = premises.iter().map(|lit| encode(*lit)).collect();
        let fresh = solver.new_var();
        Implicants { solver, target, premises, fresh, effort: u32::MAX, run, queries: 0 }
    }

    /// Sets the conflicts after which a question stays open.
    pub(super) fn within(self, effort: u32) -> Implicants<'r> {
        Implicants { effort, ..self }
    }

    /// Finds out which values of the premises determine the target.
    ///
    /// A solution shows a combination of values that is possible. If the target has one value only with it, the same
    /// holds for a part of it, found by leaving values out. Such a part, or else the whole combination, is excluded
    /// from then on, so that this ends.
    pub(super) fn known(mut self) -> Result<(Known, usize), Stop> {
        let mut known = Known { is_exact: true, ..Known::default() };
        for _ in 0..MOST_MODELS {
            match self.solve(&[self.fresh])? {
                Some(Answer::Unsat) => return Ok((known, self.queries)),
                Some(Answer::Sat) => {}
                None => break,
            }
            let (cube, holds) = self.solution();
            let opposite = if holds { !self.target } else { self.target };
            let excluded = match self.part(&cube, opposite)? {
                Some(part) => {
                    let list = if holds { &mut known.holds } else { &mut known.fails };
                    list.push(part.clone());
                    part
                }
                None => {
                    known.is_exact = false;
                    cube
                }
            };
            self.exclude(&excluded);
        }
        known.is_exact = false;
        Ok((known, self.queries))
    }

    /// Finds values of the premises with which the target cannot hold.
    pub(super) fn impossible(mut self) -> Result<(Vec<Cube>, usize), Stop> {
        let mut found = Vec::new();
        for _ in 0..MOST_MODELS {
            if self.solve(&[self.fresh, !self.target])? != Some(Answer::Sat) {
                break;
            }
            let (cube, _) = self.solution();
            let part = self.part(&cube, self.target)?;
            found.extend(part.clone());
            self.exclude(&part.unwrap_or(cube));
        }
        Ok((found, self.queries))
    }

    /// Asks a question; `None` leaves it open.
    fn solve(&mut self, assumed: &[SatLit]) -> Result<Option<Answer>, Stop> {
        self.queries += 1;
        self.run.tick()?;
        let answer = self.solver.solve_within(assumed, self.effort);
        if answer.is_none() {
            self.run.check_search(self.effort)?;
        }
        Ok(answer)
    }

    /// Returns the values of the premises and of the target in the solution.
    fn solution(&self) -> (Cube, bool) {
        let values = self.premises.iter().map(|lit| self.solver.value(*lit)).enumerate();
        (values.collect(), self.solver.value(self.target))
    }

    /// Returns a part of a combination with which a literal cannot hold, if it cannot hold with the whole.
    fn part(&mut self, cube: &Cube, lit: SatLit) -> Result<Option<Cube>, Stop> {
        if self.solve(&self.assumed(cube, lit))? != Some(Answer::Unsat) {
            return Ok(None);
        }
        let mut part = self.responsible(cube);
        let mut at = part.len();
        while at > 0 {
            at -= 1;
            let mut fewer = part.clone();
            fewer.remove(at);
            if self.solve(&self.assumed(&fewer, lit))? == Some(Answer::Unsat) {
                part = self.responsible(&fewer);
                at = at.min(part.len());
            }
        }
        Ok(Some(part))
    }

    fn assumed(&self, cube: &Cube, lit: SatLit) -> Vec<SatLit> {
        cube.iter().map(|value| self.literal(*value)).chain([lit]).collect()
    }

    fn literal(&self, (place, value): (usize, bool)) -> SatLit {
        if value { self.premises[place] } else { !self.premises[place] }
    }

    fn responsible(&self, cube: &Cube) -> Cube {
        let core = self.solver.core();
        cube.iter().copied().filter(|value| core.contains(&self.literal(*value))).collect()
    }

    fn exclude(&mut self, cube: &Cube) {
        let clause: Vec<SatLit> = cube.iter().map(|value| !self.literal(*value)).chain([!self.fresh]).collect();
        self.solver.add_clause(&clause);
    }
}
