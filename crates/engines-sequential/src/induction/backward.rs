//! The induction step: consecutive states that end in an error, built from the error backwards.
//!
//! A longer sequence is a shorter one with one more state in front, so nothing is ever retracted from the solver and it
//! keeps everything it has learnt. The places of a state are only those from which control flow leads to an error in
//! the number of steps after the state. The move taken is a number in binary over fresh inputs; the place of a state is
//! where the move that leaves it begins. The variables are inputs; those of the next state equal the results of the
//! move.
//!
//! Distinctness is only required of pairs of states that were equal in some solution: most pairs never are.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use selvedge_check::{Paths, Run, Stop, Task};
use selvedge_ir::{ProcId, Scope, VarId};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, Solver};
use selvedge_transition::step::circuit::{self, Valuation};

use super::inlined_graph::{InlinedGraph, InlinedMove, MoveTarget};

/// Sequences of states, the last one first, whose next state would be an error.
pub(super) struct BackwardUnrolling<'t> {
    task: Task<'t>,
    graph: &'t InlinedGraph,
    paths: Paths,
    aig: Aig,
    encoder: Encoder,
    solver: Solver,
    states: Vec<BackwardState>,
    /// Set once states have been required to be distinct.
    distinct: bool,
}

/// A state, represented by the move that leaves it.
struct BackwardState {
    vars: Valuation,
    /// The possible places of the state, each with the condition that it is the current one.
    at: BTreeMap<usize, Lit>,
}

impl<'t> BackwardUnrolling<'t> {
    pub(super) fn new(task: Task<'t>, graph: &'t InlinedGraph, paths: Paths) -> BackwardUnrolling<'t> {
        let (aig, encoder, solver) = (Aig::new(), Encoder::new(), Solver::new());
        BackwardUnrolling { task, graph, paths, aig, encoder, solver, states: Vec::new(), distinct: false }
    }

    /// Adds a state in front of the others and returns whether no such sequence exists; if so, also whether that holds
    /// for all paths or only for those without repetition.
    pub(super) fn closes(&mut self, run: &Run<'_>) -> Result<Option<Paths>, Stop> {
        self.extend(run)?;
        loop {
            match self.solver.solve(&[], |conflicts| run.check_search(conflicts))? {
                Answer::Unsat if self.distinct => return Ok(Some(Paths::LoopFree)),
                Answer::Unsat => return Ok(Some(Paths::All)),
                Answer::Sat if self.paths == Paths::All => return Ok(None),
                Answer::Sat => {
                    let same = self.same_states();
                    if same.is_empty() {
                        return Ok(None);
                    }
                    for (left, right) in same {
                        self.require_distinct(left, right);
                    }
                }
            }
        }
    }

    /// Adds a state in front of the others. Its move ends where the next state begins.
    fn extend(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        let fits = |step: &&InlinedMove| match (step.to, self.states.last()) {
            (MoveTarget::Target | MoveTarget::Failure, None) => true,
            (MoveTarget::Place(to), Some(next)) => next.at.contains_key(&to),
            (MoveTarget::Place(_), None) | (MoveTarget::Target | MoveTarget::Failure, Some(_)) => false,
        };
        let moves: Vec<&InlinedMove> = self.graph.moves.iter().filter(fits).collect();
        let all = self.task.program.vars.indices();
        let vars = all.map(|var| (var, circuit::any_value(&mut self.aig))).collect();
        let taken = self.one_of(moves.len());
        if moves.is_empty() {
            self.require(Lit::FALSE);
        }
        let mut at: BTreeMap<usize, Lit> = BTreeMap::new();
        let mut after: Vec<(Lit, Valuation)> = Vec::new();
        for (step, taken) in moves.into_iter().zip(taken) {
            run.tick()?;
            let effect = self.graph.effect(&mut self.aig, self.task.program, step, &vars);
            let demand = self.aig.implies(taken, effect.condition);
            self.require(demand);
            if let (MoveTarget::Place(to), Some(next)) = (step.to, self.states.last()) {
                let demand = self.aig.implies(taken, next.at[&to]);
                self.require(demand);
            }
            let here = at.entry(step.from).or_insert(Lit::FALSE);
            *here = self.aig.or(*here, taken);
            after.push((taken, effect.after));
        }
        self.connect(&vars, &after);
        self.states.push(BackwardState { vars, at });
        Ok(())
    }

    /// Returns the given number of literals, of which always exactly one is true: the leaves of a tree with an input
    /// for each level.
    fn one_of(&mut self, count: usize) -> Vec<Lit> {
        let mut leaves = vec![Lit::TRUE; count.min(1)];
        while leaves.len() < count {
            let bit = circuit::any_value(&mut self.aig);
            let split = (count - leaves.len()).min(leaves.len());
            let (both, one) = leaves.split_at(split);
            let halves: Vec<Lit> =
                both.iter().flat_map(|leaf| [self.aig.and(*leaf, bit), self.aig.and(*leaf, !bit)]).collect();
            leaves = halves.into_iter().chain(one.iter().copied()).collect();
        }
        leaves
    }

    fn require(&mut self, lit: Lit) {
        if lit == Lit::FALSE {
            self.solver.add_clause(&[]);
        } else {
            self.encoder.assert(&self.aig, lit, &mut self.solver);
        }
    }

    /// Requires that the variables of the next state, unless it is an error, are the results of the move that is taken.
    fn connect(&mut self, now: &Valuation, after: &[(Lit, Valuation)]) {
        let Some(next) = self.states.last() else { return };
        let next = next.vars.clone();
        for ((var, old), (_, new)) in now.iter().zip(next.iter()) {
            let mut value = old;
            for (taken, after) in after {
                if after.get(var) != old {
                    value = self.aig.ite(*taken, after.get(var), value);
                }
            }
            let same = self.aig.iff(new, value);
            self.require(same);
        }
    }

    /// Returns the pairs of states that are equal in the solver's solution.
    fn same_states(&mut self) -> Vec<(usize, usize)> {
        let lits = self
            .states
            .iter()
            .flat_map(|state| state.at.values().copied().chain(state.vars.iter().map(|(_, lit)| lit)));
        let lits: Vec<Lit> = lits.collect();
        let mut inputs: FxHashMap<Input, bool> = FxHashMap::default();
        for input in self.aig.support(&lits) {
            let lit = self.encoder.input(&self.aig, input, &mut self.solver);
            inputs.insert(input, self.solver.value(lit));
        }
        let mut values = self.aig.eval(&lits, |input| inputs[&input]).into_iter();
        let mut seen: BTreeMap<(usize, Vec<bool>), usize> = BTreeMap::new();
        let mut same = Vec::new();
        for (number, state) in self.states.iter().enumerate() {
            let at: Vec<bool> = values.by_ref().take(state.at.len()).collect();
            let vars: Vec<bool> = values.by_ref().take(self.task.program.vars.len()).collect();
            let place = state.at.keys().zip(at).find(|(_, at)| *at).map(|(place, _)| *place);
            let place = place.expect("a state has a place");
            let visible = self.visible(place);
            let key = state.vars.iter().zip(vars).filter(|((var, _), _)| visible.contains(var)).map(|(_, value)| value);
            if let Some(earlier) = seen.insert((place, key.collect()), number) {
                same.push((earlier, number));
            }
        }
        same
    }

    /// Returns the variables of a state at a place: shared and per-thread ones, and the locals of all frames.
    fn visible(&self, place: usize) -> BTreeSet<VarId> {
        let program = self.task.program;
        let procs: Vec<ProcId> = self.graph.all.get_index(place).expect("the place is listed").procs(program);
        let is_visible = |var: &VarId| match program.vars[*var].scope {
            Scope::Shared | Scope::Thread => true,
            Scope::Local(owner) => procs.contains(&owner),
        };
        program.vars.indices().filter(is_visible).collect()
    }

    /// Requires that two states differ in their places, or in a variable that exists there.
    fn require_distinct(&mut self, left: usize, right: usize) {
        self.distinct = true;
        let (left, right) = (&self.states[left], &self.states[right]);
        let mut demands = Vec::new();
        for (place, at_left) in &left.at {
            let Some(at_right) = right.at.get(place) else { continue };
            let mut differences = vec![!*at_left, !*at_right];
            for var in self.visible(*place) {
                differences.push(self.aig.xor(left.vars.get(var), right.vars.get(var)));
            }
            demands.push(self.aig.or_all(&differences));
        }
        for demand in demands {
            self.require(demand);
        }
    }
}
