//! Inductive invariants of programs with machine integers, found by SAT.
//!
//! The language of invariants are conjunctions of facts (`templates`): linear equations that hold up to multiples of a
//! power of two (`affine`), comparisons, and conditions of the program. The invariant at a cut (`model`) is the
//! strongest that the language has: it begins with a state that is reached there, and loses whatever is wrong in
//! another one.
//!
//! *Order of work*: regions wait whose cut has become weaker, at first the one of the start. Of a region the solver is
//! asked for a way to a cut in a state that the facts there do not allow, which then are weakened by this state, until
//! there is none. *Invariant*: the facts at a cut hold in states from which they were made; they are closed under all
//! regions that do not wait. *End*: each answer takes at least one fact or makes a hull of points grow, which can only
//! happen a number of times that is limited by the width of the numbers (King and Søndergaard, "Automatic abstraction
//! for congruences", VMCAI 2010; for comparisons Flanagan and Leino, "Houdini", FME 2001). *Correctness*: in the end no
//! region leads to a state that is not allowed; if none leads to an error from a state that is, there is none.
//!
//! The certificate has the facts that are needed, and no others: those that the solver used when it refuted the errors,
//! then those that it used when it refuted that these fail, and so on.
//!
//! Where the facts do not suffice, disjunctions of two conditions are added once. If that does not suffice either, the
//! engine gives up: it finds no errors.

mod affine;
mod model;
mod templates;

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{
    Bound, Certificate, Engine, Event, Explanation, Refinement, Run, Stop, Task, Unsupported, Verdict,
};
use selvedge_ir::callgraph::is_sequential;
use selvedge_ir::liveness::Liveness;
use selvedge_ir::passes::blast::accepts_wide;
use selvedge_ir::{BinaryOp, Expr, Ty, Value, VarId};
use selvedge_logic::aig::Lit;
use selvedge_logic::sat::Answer;

use crate::induction::inlined_graph::InlinedGraph;
use model::{Model, Region};
use templates::{Facts, Vocabulary};

/// The engine. It has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invariants;

impl Engine for Invariants {
    fn name(&self) -> &'static str {
        "invariants"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        task.refuse_deadlock(self.name())?;
        let unsupported = |reason: &str| Err(Unsupported::new(format!("`invariants` {reason}")));
        if !is_sequential(task.program) || task.program.prelude.is_some() || !task.target.together.is_empty() {
            return unsupported("only supports programs with one thread");
        }
        InlinedGraph::new(task).map(drop).or_else(&unsupported)?;
        if !task.program.has_machine_integers() {
            return unsupported("only supports programs with machine integers");
        }
        accepts_wide(task.program).or_else(|reason| unsupported(&reason))
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let undecided = Stop::BoundReached(Bound::Invariants);
        let model = Model::new(task).map_err(|_| undecided)?;
        let mut search = Search::new(&model, run)?;
        for disjoin in [false, true] {
            search.begin(disjoin);
            search.weaken()?;
            if let Some(needed) = search.needed()? {
                return Ok(Verdict::Safe(Some(certificate(&model, &search, &needed))));
            }
        }
        Err(undecided)
    }
}

/// The facts of a cut that are needed, by their places among all; of a cut that is not reached, none.
type Needed = BTreeMap<usize, BTreeSet<usize>>;

struct Search<'s, 't> {
    run: &'s Run<'s>,
    words: Vocabulary,
    /// The region of the start, and then those of the cuts.
    regions: Vec<Region<'s, 't>>,
    /// The variables that matter at each cut.
    vars: Vec<Vec<(VarId, Ty)>>,
    /// The states that were seen at each cut.
    seen: Vec<Vec<Vec<Value>>>,
    disjoin: bool,
    queries: usize,
    /// The facts at each cut; `None` if no state was seen there.
    facts: Vec<Option<Facts>>,
}

impl<'s, 't> Search<'s, 't> {
    fn new(model: &'s Model<'t>, run: &'s Run<'s>) -> Result<Search<'s, 't>, Stop> {
        let liveness = Liveness::new(model.program);
        let froms = std::iter::once(None).chain((0..model.cuts.len()).map(Some));
        let regions = froms.map(|from| Region::new(model, from, run)).collect::<Result<_, _>>()?;
        let typed = |var: VarId| (var, model.program.vars[var].ty);
        let live = |cut: &usize| model.graph.live(model.program, *cut, &liveness);
        let vars = model.cuts.iter().map(|cut| live(cut).into_iter().map(typed).collect()).collect();
        let (words, n_cuts) = (Vocabulary::new(model.program), model.cuts.len());
        Ok(Search {
            run,
            words,
            regions,
            vars,
            seen: vec![Vec::new(); n_cuts],
            disjoin: false,
            queries: 0,
            facts: Vec::new(),
        })
    }

    /// Begins with the strongest facts about the states that were seen.
    fn begin(&mut self, disjoin: bool) {
        self.disjoin = disjoin;
        self.facts = self.seen.iter().map(|_| None).collect();
        for (cut, states) in self.seen.clone().into_iter().enumerate() {
            for state in &states {
                self.add(cut, state);
            }
        }
    }

    /// Adds a state to those that are allowed at a cut. Returns whether it was not.
    fn add(&mut self, cut: usize, state: &[Value]) -> bool {
        match &mut self.facts[cut] {
            Some(facts) => facts.weaken(state),
            none => {
                *none = Some(Facts::of_state(&self.vars[cut], &self.words, self.disjoin, state));
                true
            }
        }
    }

    /// The literals of the facts at the beginning of a region; `None` if it is not reached.
    fn assumed(&mut self, region: usize) -> Option<Vec<Lit>> {
        let Some(cut) = region.checked_sub(1) else { return Some(Vec::new()) };
        let facts = self.facts[cut].as_ref()?;
        Some(facts.all.iter().map(|fact| self.regions[region].condition(None, fact)).collect())
    }

    /// Weakens the facts until they are closed.
    fn weaken(&mut self) -> Result<(), Stop> {
        let mut waiting: BTreeSet<usize> = (0..self.regions.len()).collect();
        while let Some(region) = waiting.pop_first() {
            let Some(assumed) = self.assumed(region) else { continue };
            let cuts: Vec<usize> = self.regions[region].arrivals.keys().copied().collect();
            let mut again = false;
            for cut in cuts {
                while let Some(state) = self.wrong(region, &assumed, cut)? {
                    if !self.add(cut, &state) {
                        return Err(Stop::BoundReached(Bound::Invariants));
                    }
                    self.seen[cut].push(state);
                    waiting.insert(cut + 1);
                    if cut + 1 == region {
                        again = true;
                        break;
                    }
                }
                if again {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Counts a question to the solver.
    fn count(&mut self) {
        self.queries += 1;
        self.run.event(Event::Refined(Refinement {
            iterations: 1 + usize::from(self.disjoin),
            queries: self.queries,
            predicates: self.facts.iter().flatten().map(|facts| facts.all.len()).sum(),
            states: self.seen.iter().map(Vec::len).sum(),
            abstract_states: 0,
        }));
    }

    /// Returns a state in which a region reaches a cut, and that the facts there do not allow.
    fn wrong(&mut self, region: usize, assumed: &[Lit], cut: usize) -> Result<Option<Vec<Value>>, Stop> {
        self.run.tick()?;
        self.count();
        let never = [Expr::FALSE];
        let facts = self.facts[cut].as_ref().map_or(&never[..], |facts| &facts.all);
        let region = &mut self.regions[region];
        let guard = region.arrivals[&cut].guard;
        let holding: Vec<Lit> = facts.iter().map(|fact| region.condition(Some(cut), fact)).collect();
        let bad = region.and_not_all(guard, &holding);
        match region.solve(bad, assumed, self.run)? {
            Answer::Sat => Ok(Some(region.reached(cut, &self.vars[cut]))),
            Answer::Unsat => Ok(None),
        }
    }

    /// Returns the facts that are needed to refute all errors; `None` if they do not suffice.
    fn needed(&mut self) -> Result<Option<Needed>, Stop> {
        let (mut needed, never) = (Needed::new(), Expr::FALSE);
        // A cut, and a fact there; that none is reached if there is no fact.
        let mut open: Vec<(usize, Option<usize>)> = Vec::new();
        for region in 0..self.regions.len() {
            let Some(assumed) = self.assumed(region) else { continue };
            let error = self.regions[region].error;
            let Some(used) = self.regions[region].refuted(error, &assumed, self.run)? else { return Ok(None) };
            note(region, &used, &mut needed, &mut open);
        }
        open.extend((0..self.facts.len()).filter(|cut| self.facts[*cut].is_none()).map(|cut| (cut, None)));
        while let Some((cut, fact)) = open.pop() {
            for region in 0..self.regions.len() {
                self.run.tick()?;
                let Some(assumed) = self.assumed(region) else { continue };
                let Some(guard) = self.regions[region].arrivals.get(&cut).map(|arrival| arrival.guard) else {
                    continue;
                };
                let facts = self.facts[cut].as_ref();
                let fact = fact.and_then(|fact| facts.map(|facts| &facts.all[fact])).unwrap_or(&never);
                let region_of = &mut self.regions[region];
                let holds = region_of.condition(Some(cut), fact);
                let bad = region_of.and_not_all(guard, &[holds]);
                let Some(used) = region_of.refuted(bad, &assumed, self.run)? else { return Ok(None) };
                note(region, &used, &mut needed, &mut open);
            }
        }
        Ok(Some(needed))
    }
}

/// Notes the facts at the beginning of a region that a refutation used.
fn note(region: usize, used: &[usize], needed: &mut Needed, open: &mut Vec<(usize, Option<usize>)>) {
    let Some(cut) = region.checked_sub(1) else { return };
    for fact in used {
        if needed.entry(cut).or_default().insert(*fact) {
            open.push((cut, Some(*fact)));
        }
    }
}

/// Returns the certificate with the facts that are needed.
fn certificate(model: &Model<'_>, search: &Search<'_, '_>, needed: &Needed) -> Certificate {
    let formula = |cut: usize| match &search.facts[cut] {
        None => Expr::FALSE,
        Some(facts) => {
            let facts = needed.get(&cut).into_iter().flatten().map(|fact| facts.all[*fact].clone());
            Expr::balanced(BinaryOp::And, facts.collect()).unwrap_or(Expr::TRUE)
        }
    };
    model.graph.certificate(&model.order, |place| model.cuts.binary_search(&place).ok().map(formula))
}
