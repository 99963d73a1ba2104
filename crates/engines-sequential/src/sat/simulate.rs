//! Symbolic states with their origin, and the effects of steps, merges and summaries on them (thesis, §3.2 and §10.5).
//!
//! A *frame* is one symbolic run of a procedure: its variables at the entry are inputs of the graph, its *parameters*.
//! A state of the frame is reached from the entry values for which some assignment of the other inputs satisfies its
//! guard. This holds for all entry values, including those with which the procedure is never called; so a state at the
//! exit of a frame, or at an error, is applied to a call by replacing the parameters by the values at the call, and all
//! other inputs by fresh ones. No quantification is necessary.

use rustc_hash::FxHashMap;
use selvedge_check::{Argument, Explanation, Run, Stop, Task};
use selvedge_ir::{EdgeId, LocId, ProcId, Program, Target, VarId};
use selvedge_logic::aig::{Aig, Input, Lit};
use selvedge_transition::step::circuit::{self, Effect, Valuation, any_value};
use selvedge_transition::step::control::call_at;

use super::program_facts::ProgramFacts;
use super::queries::{CopiedImage, Image, Queries, equal};

/// The number of a state.
pub(super) type StateId = usize;
/// The number of a frame.
pub(super) type FrameId = usize;

/// The inputs of a frame, and their replacements at a use.
pub(super) type Renaming = Vec<(Input, Lit)>;

/// Everything that was simulated.
pub(super) struct Simulation<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    pub(super) run: &'a Run<'a>,
    pub(super) explanation: &'a mut Explanation,
    pub(super) facts: ProgramFacts,
    pub(super) aig: Aig,
    pub(super) queries: Queries,
    pub(super) states: Vec<SymbolicState>,
    pub(super) frames: Vec<SymbolicFrame>,
}

/// A symbolic state.
#[derive(Clone, Debug)]
pub(super) struct SymbolicState {
    pub(super) frame: FrameId,
    pub(super) loc: LocId,
    pub(super) guard: Lit,
    /// The values of all visible variables that are touched; dead ones are false. An error has none.
    pub(super) values: Valuation,
    /// At an exit, the returned values.
    pub(super) results: Vec<Lit>,
    pub(super) via: StateOrigin,
}

/// The origin of a state.
#[derive(Clone, Debug)]
pub(super) enum StateOrigin {
    /// The entry of the frame.
    Entry,
    /// A step inside the procedure, or one that fails.
    Step { edge: EdgeId, from: StateId, choices: Vec<Input> },
    /// The first state where the condition holds, otherwise the second.
    Merge { condition: Lit, then: StateId, otherwise: StateId },
    /// A call, executed by a state at the exit of another frame, or leading into an error there.
    Call { edge: EdgeId, from: StateId, choices: Vec<Input>, callee: StateId, renaming: Renaming },
    /// A call that is assumed to do anything.
    Guess { edge: EdgeId, from: StateId },
}

/// One symbolic run of a procedure.
#[derive(Clone, Debug)]
pub(super) struct SymbolicFrame {
    pub(super) proc: ProcId,
    /// The values of the procedure's inputs at the entry: parameters, or constants.
    pub(super) entry: Valuation,
    /// The parameters, each with a variable whose value it is.
    params: FxHashMap<Input, VarId>,
    /// The locals that start with any value.
    pub(super) locals: Vec<(VarId, Input)>,
}

/// A call from a state, with its arguments.
#[derive(Clone, Debug)]
pub(super) struct CallSite {
    pub(super) edge: EdgeId,
    pub(super) callee: ProcId,
    pub(super) from: StateId,
    pub(super) choices: Vec<Input>,
    /// The inputs of the callee.
    pub(super) actual: Valuation,
}

/// The result of following an edge from a state.
pub(super) enum StateOutcome {
    /// The next state.
    Next(StateId),
    /// An error.
    Error(StateId),
    /// A call, whose outcomes are those of the callee.
    Call(CallSite),
}

/// The ends of runs of a procedure.
#[derive(Clone, Debug, Default)]
pub(super) struct ProcedureEnds {
    /// The states at the exit.
    pub(super) exits: Vec<StateId>,
    /// The states at errors.
    pub(super) failures: Vec<StateId>,
}

impl ProcedureEnds {
    /// Returns all states, those at the exit first.
    pub(super) fn all(&self) -> impl Iterator<Item = StateId> {
        self.exits.iter().chain(&self.failures).copied()
    }
}

impl<'a> Simulation<'a> {
    pub(super) fn new(task: &Task<'a>, run: &'a Run<'a>, explanation: &'a mut Explanation) -> Simulation<'a> {
        let Task { program, target, .. } = *task;
        Simulation {
            program,
            target,
            run,
            explanation,
            facts: ProgramFacts::new(program),
            aig: Aig::new(),
            queries: Queries::new(),
            states: Vec::new(),
            frames: Vec::new(),
        }
    }

    /// Records that an argument closed a part of the search.
    pub(super) fn close(&mut self, argument: Argument) {
        self.explanation.close(argument, self.run);
    }

    /// Creates a frame for all entry values, or for those of a shape: constants stay, and values that are always equal
    /// stay equal.
    pub(super) fn frame(&mut self, proc: ProcId, shape: Option<&Valuation>) -> FrameId {
        let mut frame =
            SymbolicFrame { proc, entry: Valuation::default(), params: FxHashMap::default(), locals: Vec::new() };
        let mut known: FxHashMap<Lit, Lit> = FxHashMap::default();
        for var in self.facts.inputs(self.program, proc) {
            let like = shape.map(|shape| shape.get(var));
            let lit = match like.and_then(|like| like.as_constant().map(Lit::from).or(known.get(&like).copied())) {
                Some(lit) => lit,
                None => {
                    let input = self.aig.new_input();
                    frame.params.insert(input, var);
                    self.aig.input(input)
                }
            };
            if let Some(like) = like {
                known.extend([(like, lit), (!like, !lit)]);
            }
            frame.entry.set(var, lit);
        }
        let this = &self.program.procs[proc];
        for local in this.locals.iter().filter(|local| !this.params.contains(local)) {
            frame.locals.push((*local, self.aig.new_input()));
        }
        self.frames.push(frame);
        self.frames.len() - 1
    }

    /// Creates the state at the entry of a frame.
    pub(super) fn entry(&mut self, id: FrameId) -> StateId {
        let frame = &self.frames[id];
        let loc = self.program.procs[frame.proc].entry;
        let mut values: Valuation = self.program.vars.indices().map(|var| (var, Lit::FALSE)).collect();
        for (var, lit) in frame.entry.iter() {
            values.set(var, lit);
        }
        for (var, input) in &frame.locals {
            values.set(*var, self.aig.input(*input));
        }
        self.add(id, loc, Lit::TRUE, &values, StateOrigin::Entry)
    }

    fn add(&mut self, frame: FrameId, loc: LocId, guard: Lit, values: &Valuation, via: StateOrigin) -> StateId {
        let values = self.facts.trim(self.program, loc, values);
        self.push(SymbolicState { frame, loc, guard, values, results: Vec::new(), via })
    }

    pub(super) fn push(&mut self, state: SymbolicState) -> StateId {
        self.states.push(state);
        self.states.len() - 1
    }

    /// Returns the set of executions that a state represents, as tuples of its values and results.
    pub(super) fn image(&self, id: StateId) -> Image {
        let state = &self.states[id];
        let tuple = state.values.iter().map(|(_, lit)| lit).chain(state.results.iter().copied()).collect();
        Image { guard: state.guard, tuple }
    }

    /// Returns a copy of that set in which only the parameters of the frame are the same inputs.
    pub(super) fn copied_image(&mut self, id: StateId) -> CopiedImage {
        let image = self.image(id);
        let params = &self.frames[self.states[id].frame].params;
        CopiedImage::new(&mut self.aig, &image, |input| !params.contains_key(&input))
    }

    /// Returns whether each tuple of a set of executions is in the union of others; `None` if that takes more than a
    /// number of slices of search.
    pub(super) fn is_covered(&mut self, image: &Image, by: &[&CopiedImage], effort: u32) -> Result<Option<bool>, Stop> {
        self.queries.is_covered(&mut self.aig, image, by, self.run, effort)
    }

    /// Merges two states at the same location. If their guards exclude each other, that of the first selects; otherwise
    /// a fresh input does.
    pub(super) fn merge(&mut self, then: StateId, otherwise: StateId, overlap: Overlap) -> StateId {
        let (left, right) = (self.states[then].clone(), self.states[otherwise].clone());
        if left.guard == right.guard && left.values == right.values && left.results == right.results {
            return then;
        }
        let exclude = overlap == Overlap::None || self.aig.and(left.guard, right.guard) == Lit::FALSE;
        let (condition, guard) = if exclude {
            (left.guard, self.aig.or(left.guard, right.guard))
        } else {
            let condition = any_value(&mut self.aig);
            (condition, self.aig.ite(condition, left.guard, right.guard))
        };
        let values = left.values.map(|var, lit| self.aig.ite(condition, lit, right.values.get(var)));
        let pairs = left.results.iter().zip(&right.results);
        let results = pairs.map(|(left, right)| self.aig.ite(condition, *left, *right)).collect();
        self.push(SymbolicState {
            guard,
            values,
            results,
            via: StateOrigin::Merge { condition, then, otherwise },
            ..left
        })
    }

    /// Follows an edge. Errors come before the next state.
    pub(super) fn step(&mut self, from: StateId, edge: EdgeId) -> Vec<StateOutcome> {
        let (program, state) = (self.program, self.states[from].clone());
        let (effect, choices) = circuit::step(&mut self.aig, program, edge, &state.values);
        let (mut results, mut failing) = (Vec::new(), Lit::FALSE);
        let (condition, after) = match effect {
            Effect::Next(condition, after) => (condition, after),
            Effect::Assert(needs, holds) => {
                failing = self.aig.and(needs, !holds);
                (self.aig.and(needs, holds), state.values)
            }
            Effect::Return(values) => {
                results = values;
                (Lit::TRUE, state.values)
            }
            Effect::Call(call, entry) => {
                let inputs = self.facts.inputs(program, call.callee).into_iter();
                let actual = inputs.map(|var| (var, entry.get(var))).collect();
                return vec![StateOutcome::Call(CallSite { edge, callee: call.callee, from, choices, actual })];
            }
            Effect::End => return Vec::new(),
        };
        let via = StateOrigin::Step { edge, from, choices };
        let (passes, fails) = (self.aig.and(state.guard, condition), self.aig.and(state.guard, failing));
        let mut outcomes = Vec::new();
        if self.target.has_assert(edge) && fails != Lit::FALSE {
            outcomes.push(StateOutcome::Error(self.error(state.frame, state.loc, fails, via.clone())));
        }
        if passes != Lit::FALSE {
            let next = self.add(state.frame, program.edges[edge].to, passes, &after, via);
            self.states[next].results = results;
            outcomes.push(StateOutcome::Next(next));
        }
        outcomes
    }

    pub(super) fn error(&mut self, frame: FrameId, loc: LocId, guard: Lit, via: StateOrigin) -> StateId {
        self.push(SymbolicState { frame, loc, guard, values: Valuation::default(), results: Vec::new(), via })
    }

    /// Returns whether a state at the end of a run of a procedure is at its exit, and not at an error.
    pub(super) fn is_exit(&self, state: StateId) -> bool {
        let SymbolicState { frame, loc, .. } = self.states[state];
        loc == self.program.procs[self.frames[frame].proc].exit
    }

    /// Executes a call by a state at the exit of a frame of the callee, or by one at an error there.
    pub(super) fn apply(&mut self, site: &CallSite, callee: StateId) -> Option<StateOutcome> {
        let (program, summary) = (self.program, self.states[callee].clone());
        let (values, guard, renaming) = self.instantiate(&summary, &site.actual);
        let caller = self.states[site.from].clone();
        let guard = self.aig.and(caller.guard, guard);
        if guard == Lit::FALSE {
            return None;
        }
        let CallSite { edge, from, choices, .. } = site.clone();
        let via = StateOrigin::Call { edge, from, choices, callee, renaming };
        if !self.is_exit(callee) {
            return Some(StateOutcome::Error(self.error(caller.frame, caller.loc, guard, via)));
        }
        let (globals, results) = values.split_at(values.len() - summary.results.len());
        let globals: Valuation = summary.values.iter().zip(globals).map(|((var, _), lit)| (var, *lit)).collect();
        let after = circuit::resume(program, call_at(program, edge), &caller.values, &globals, results);
        let ensured = circuit::ensured(&mut self.aig, program, edge, &after);
        let guard = self.aig.and(guard, ensured);
        if guard == Lit::FALSE {
            return None;
        }
        Some(StateOutcome::Next(self.add(caller.frame, program.edges[edge].to, guard, &after, via)))
    }

    /// Returns the values and results of a state of another frame, and its guard, for given entry values. Entry values
    /// that do not have the frame's shape are excluded.
    pub(super) fn instantiate(&mut self, state: &SymbolicState, actual: &Valuation) -> (Vec<Lit>, Lit, Renaming) {
        let frame = &self.frames[state.frame];
        let mut roots: Vec<Lit> =
            state.values.iter().map(|(_, lit)| lit).chain(state.results.iter().copied()).collect();
        let n_values = roots.len();
        roots.push(state.guard);
        roots.extend(frame.entry.iter().map(|(_, lit)| lit));
        let support = self.aig.support(&roots);
        let params = frame.params.clone();
        let mut renaming = Vec::new();
        for input in support {
            let lit = match params.get(&input) {
                Some(var) => actual.get(*var),
                None => any_value(&mut self.aig),
            };
            renaming.push((input, lit));
        }
        let new: FxHashMap<Input, Lit> = renaming.iter().copied().collect();
        let mut values = self.aig.substitute(&roots, |input| new.get(&input).copied());
        let entry = values.split_off(n_values + 1);
        let wanted: Vec<Lit> = actual.iter().map(|(_, lit)| lit).collect();
        let shape = equal(&mut self.aig, &entry, &wanted);
        let guard = values.pop().expect("the guard follows the values");
        (values, self.aig.and(guard, shape), renaming)
    }

    /// Returns the error state at a target location.
    pub(super) fn error_here(&mut self, state: StateId) -> StateId {
        let SymbolicState { frame, loc, guard, .. } = self.states[state].clone();
        self.error(frame, loc, guard, StateOrigin::Merge { condition: Lit::TRUE, then: state, otherwise: state })
    }

    /// Executes a call that may do anything.
    pub(super) fn guess(&mut self, site: &CallSite) -> StateId {
        let call = call_at(self.program, site.edge);
        let caller = self.states[site.from].clone();
        let aig = &mut self.aig;
        let results: Vec<Lit> = call.results.iter().map(|_| any_value(aig)).collect();
        let globals: Valuation = self.facts.modified(call.callee).map(|var| (var, any_value(aig))).collect();
        let after = circuit::resume(self.program, call, &caller.values, &globals, &results);
        let ensured = circuit::ensured(aig, self.program, site.edge, &after);
        let guard = aig.and(caller.guard, ensured);
        let to = self.program.edges[site.edge].to;
        self.add(caller.frame, to, guard, &after, StateOrigin::Guess { edge: site.edge, from: site.from })
    }

    /// Returns whether a state's guard is satisfiable, under a condition on the parameters of its frame.
    pub(super) fn is_feasible(&mut self, state: StateId, reach: Lit) -> Result<bool, Stop> {
        let formula = self.aig.and(self.states[state].guard, reach);
        self.queries.is_satisfiable(&self.aig, formula, self.run)
    }
}

/// Says whether the guards of states that are merged may hold together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overlap {
    None,
    Possible,
}
