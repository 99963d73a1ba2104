//! The program as regions: the ways from the start, or from a place where executions go round, to the next such places,
//! as circuits over all bits of all variables.
//!
//! Such a place, a *cut*, is where a move leads back to in a depth-first search of the places. Without these moves
//! there is no cycle: places that are left in the opposite of the order in which the search finishes them are left
//! after all that leads to them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use selvedge_check::{Run, Stop, Task};
use selvedge_ir::passes::blast::{Blasted, run_wide};
use selvedge_ir::{EdgeId, Expr, Program, Ty, Value, VarId};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, SatLit, Solver};
use selvedge_transition::step::circuit::{self, Valuation};

use crate::induction::inlined_graph::{InlinedGraph, InlinedMove, MoveTarget, cut};

/// A program with its cuts.
pub(super) struct Model<'t> {
    pub(super) program: &'t Program,
    pub(super) graph: InlinedGraph,
    pub(super) blasted: Blasted,
    /// The places in the order in which they are left.
    pub(super) order: Vec<usize>,
    /// The number of each place in this order.
    rank: Vec<usize>,
    /// The places where executions go round.
    pub(super) cuts: Vec<usize>,
    /// The moves from each place.
    moves: Vec<Vec<InlinedMove>>,
}

impl<'t> Model<'t> {
    /// Writes a program over bits and finds its cuts; or says why that cannot be done.
    pub(super) fn new(task: &Task<'t>) -> Result<Model<'t>, String> {
        let graph = InlinedGraph::new(task).map_err(str::to_owned)?;
        let blasted = run_wide(task.program)?;
        let moves = graph.moves_by_place();
        let (order, cuts) = cut(&moves);
        let mut rank = vec![usize::MAX; moves.len()];
        order.iter().enumerate().for_each(|(number, place)| rank[*place] = number);
        Ok(Model { program: task.program, graph, blasted, order, rank, cuts, moves })
    }
}

/// Some executions come to a place where the guard holds, with these values.
#[derive(Clone)]
pub(super) struct Arrival {
    pub(super) guard: Lit,
    values: Valuation,
}

/// The ways from the start or from a cut.
pub(super) struct Region<'m, 't> {
    model: &'m Model<'t>,
    aig: Aig,
    encoder: Encoder,
    solver: Solver,
    /// The values at the cut.
    first: Valuation,
    /// The states in which cuts are reached, by their numbers.
    pub(super) arrivals: BTreeMap<usize, Arrival>,
    /// The condition that an error is reached.
    pub(super) error: Lit,
    /// The literals of conditions at the cut, and at others by their numbers.
    known: FxHashMap<(Option<usize>, Expr), Lit>,
}

impl<'m, 't> Region<'m, 't> {
    /// Follows all ways from a cut, by its number, or from the start.
    pub(super) fn new(model: &'m Model<'t>, from: Option<usize>, run: &Run<'_>) -> Result<Region<'m, 't>, Stop> {
        let (program, mut aig) = (&model.blasted.program, Aig::new());
        let first: Valuation = match from {
            Some(_) => program.vars.indices().map(|var| (var, circuit::any_value(&mut aig))).collect(),
            None => {
                let mut all: Valuation =
                    program.vars.indices().map(|var| (var, circuit::any_value(&mut aig))).collect();
                let shared = circuit::begin(&mut aig, program).valuation;
                all.update(&circuit::begin_thread(&mut aig, program, &shared).valuation);
                all
            }
        };
        let (encoder, solver, known) = (Encoder::new(), Solver::new(), FxHashMap::default());
        let (arrivals, error) = (BTreeMap::new(), Lit::FALSE);
        let mut region = Region { model, aig, encoder, solver, first: first.clone(), arrivals, error, known };
        let mut waiting: BTreeMap<usize, Arrival> = BTreeMap::new();
        let start = Arrival { guard: Lit::TRUE, values: first };
        match from {
            Some(cut) => drop(waiting.insert(model.rank[model.cuts[cut]], start)),
            None => region.arrive(0, start, &mut waiting),
        }
        while let Some((rank, states)) = waiting.pop_first() {
            run.tick()?;
            region.leave(model.order[rank], &states, &mut waiting);
        }
        Ok(region)
    }

    /// Adds states to those at a place.
    fn arrive(&mut self, place: usize, states: Arrival, waiting: &mut BTreeMap<usize, Arrival>) {
        let table = match self.model.cuts.binary_search(&place) {
            Ok(cut) => (cut, &mut self.arrivals),
            Err(_) => (self.model.rank[place], waiting),
        };
        let (key, table) = table;
        let all = match table.remove(&key) {
            Some(others) => merged(&mut self.aig, &states, &others),
            None => states,
        };
        table.insert(key, all);
    }

    /// Makes all moves from a place. Where the conditions of two edges do not exclude each other, inputs select one.
    fn leave(&mut self, place: usize, states: &Arrival, waiting: &mut BTreeMap<usize, Arrival>) {
        let (model, program) = (self.model, &self.model.blasted.program);
        let mut by_edge: BTreeMap<EdgeId, Vec<(MoveTarget, Lit, Valuation)>> = BTreeMap::new();
        for step in &model.moves[place] {
            let effect = model.graph.effect(&mut self.aig, program, step, &states.values);
            by_edge.entry(step.edge).or_default().push((step.to, effect.condition, effect.after));
        }
        let mut rest = states.guard;
        let exclusive = self.are_exclusive(&by_edge);
        let n_edges = by_edge.len();
        for (number, (_, moves)) in by_edge.into_iter().enumerate() {
            let mut here = rest;
            if !exclusive && number + 1 < n_edges {
                let this = circuit::any_value(&mut self.aig);
                here = self.aig.and(rest, this);
                rest = self.aig.and(rest, !this);
            }
            for (to, condition, values) in moves {
                let guard = self.aig.and(here, condition);
                match to {
                    _ if guard == Lit::FALSE => {}
                    MoveTarget::Place(to) => self.arrive(to, Arrival { guard, values }, waiting),
                    MoveTarget::Target | MoveTarget::Failure => self.error = self.aig.or(self.error, guard),
                }
            }
        }
    }

    fn are_exclusive(&mut self, by_edge: &BTreeMap<EdgeId, Vec<(MoveTarget, Lit, Valuation)>>) -> bool {
        let edges: Vec<&Vec<(MoveTarget, Lit, Valuation)>> = by_edge.values().collect();
        let mut pairs = (0..edges.len()).flat_map(|left| (0..left).map(move |right| (left, right)));
        pairs.all(|(left, right)| {
            edges[left].iter().all(|left| edges[right].iter().all(|right| self.aig.and(left.1, right.1) == Lit::FALSE))
        })
    }

    /// Returns the literal of a condition on the variables at the cut, or, with a number, where that cut is reached.
    pub(super) fn condition(&mut self, at: Option<usize>, condition: &Expr) -> Lit {
        if let Some(known) = self.known.get(&(at, condition.clone())) {
            return *known;
        }
        let over_bits = self.model.blasted.condition(condition);
        let values = at.map_or(&self.first, |at| &self.arrivals[&at].values);
        let lit = circuit::value(&mut self.aig, &over_bits, values, &[]);
        self.known.insert((at, condition.clone()), lit);
        lit
    }

    /// Returns whether some literals can hold together under assumptions.
    pub(super) fn solve(&mut self, holds: Lit, assumed: &[Lit], run: &Run<'_>) -> Result<Answer, Stop> {
        let lits: Vec<SatLit> = assumed.iter().chain([&holds]).map(|lit| self.encode(*lit)).collect();
        self.solver.solve(&lits, |conflicts| run.check_search(conflicts))
    }

    fn encode(&mut self, lit: Lit) -> SatLit {
        self.encoder.encode(&self.aig, lit, &mut self.solver)
    }

    /// Returns the places of assumptions with which a literal cannot hold; `None` if it can hold with all of them. Each
    /// of them is left out once, the last first, to see whether the others do.
    pub(super) fn refuted(&mut self, bad: Lit, assumed: &[Lit], run: &Run<'_>) -> Result<Option<Vec<usize>>, Stop> {
        if self.solve(bad, assumed, run)? == Answer::Sat {
            return Ok(None);
        }
        let mut used = self.responsible(&(0..assumed.len()).collect::<Vec<_>>(), assumed);
        let mut at = used.len();
        while at > 0 {
            at -= 1;
            let fewer: Vec<usize> = used.iter().copied().filter(|place| *place != used[at]).collect();
            let lits: Vec<Lit> = fewer.iter().map(|place| assumed[*place]).collect();
            if self.solve(bad, &lits, run)? == Answer::Unsat {
                used = self.responsible(&fewer, assumed);
                at = at.min(used.len());
            }
        }
        Ok(Some(used))
    }

    /// After the answer that assumptions cannot hold together, returns those of some places that are responsible.
    fn responsible(&mut self, places: &[usize], assumed: &[Lit]) -> Vec<usize> {
        let core = self.solver.core();
        places.iter().copied().filter(|place| core.contains(&self.encode(assumed[*place]))).collect()
    }

    pub(super) fn and_not_all(&mut self, guard: Lit, conditions: &[Lit]) -> Lit {
        let all = self.aig.and_all(conditions);
        self.aig.and(guard, !all)
    }

    /// After a solution, returns the values of variables with which a cut is reached.
    pub(super) fn reached(&mut self, cut: usize, vars: &[(VarId, Ty)]) -> Vec<Value> {
        let values = &self.arrivals[&cut].values;
        let codes = &self.model.blasted.lift.map.vars;
        let bits = vars.iter().flat_map(|(var, _)| codes[*var].bits.iter());
        let lits: Vec<Lit> = bits.map(|bit| values.find(*bit).unwrap_or(Lit::FALSE)).collect();
        let mut inputs: FxHashMap<Input, bool> = FxHashMap::default();
        for input in self.aig.support(&lits) {
            let lit = self.encoder.input(&self.aig, input, &mut self.solver);
            inputs.insert(input, self.solver.value(lit));
        }
        let mut bits = self.aig.eval(&lits, |input| inputs[&input]).into_iter();
        let mut number =
            |width: u8| (0..width).fold(0, |number, bit| number | u64::from(bits.next() == Some(true)) << bit);
        let value = |(_, ty): &(VarId, Ty)| match ty {
            Ty::Machine(ty) => Value::Machine(*ty, number(ty.bits)),
            Ty::Bool | Ty::Int => Value::Bool(number(1) == 1),
        };
        vars.iter().map(value).collect()
    }
}

/// Returns the states of either kind, which have values for all variables. Their guards exclude each other.
fn merged(aig: &mut Aig, left: &Arrival, right: &Arrival) -> Arrival {
    let values = left.values.map(|var, here| aig.ite(left.guard, here, right.values.get(var)));
    Arrival { guard: aig.or(left.guard, right.guard), values }
}
