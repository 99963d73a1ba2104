//! The unwinding of a program: step by step, the states at each place as formulas.
//!
//! The inputs of the formulas are everything nondeterministic: choices, initial values, and which of several possible
//! edges is taken. Under an assignment of the inputs, the guard of at most one place holds, and at most one of the
//! moves that leave it is taken: by induction over the number of steps, an assignment is one execution.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use selvedge_check::{Event, Run, Stop, Task};
use selvedge_ir::flow::Flow;
use selvedge_ir::trace::{Step, ThreadId, Trace};
use selvedge_ir::{EdgeId, ProcId, Program, Scope, Value, VarId};
use selvedge_logic::aig::{Aig, Encoder, Input, Lit};
use selvedge_logic::sat::{Answer, Solver};
use selvedge_transition::step::circuit::{self, Begin, Effect, Valuation};
use selvedge_transition::step::control::call_at;

use super::frame::{Caller, Callers, Phase, UnwoundNode, UnwoundPlace};

/// All executions with a given number of steps; no shorter one ends in an error.
pub(crate) struct Unwinding<'t> {
    task: Task<'t>,
    flow: Flow,
    aig: Aig,
    encoder: Encoder,
    solver: Solver,
    begin: Begin,
    /// The start of the thread, if there is no prelude.
    thread: Option<Begin>,
    /// The moves of each step.
    moves: Vec<Vec<UnwoundMove>>,
    /// The states after the last step that are not errors.
    nodes: BTreeMap<UnwoundPlace, UnwoundNode>,
    /// The condition that the last step leads to an error.
    error: Lit,
}

/// One possible step.
struct UnwoundMove {
    guard: Lit,
    phase: Phase,
    edge: EdgeId,
    choices: Vec<Input>,
    /// The locals of a callee.
    fresh: Vec<(VarId, Input)>,
    /// The start of the thread, at the end of the prelude.
    thread: Option<Begin>,
}

/// A step along an edge from a node, before its guard is complete: the condition of the edge itself, and the result.
struct MoveOutcome {
    condition: Lit,
    /// The next state; `None` if a target assertion fails.
    to: Option<(UnwoundPlace, Valuation, Callers)>,
    fresh: Vec<(VarId, Input)>,
    thread: Option<Begin>,
}

impl<'t> Unwinding<'t> {
    /// Creates the unwinding with executions of zero steps.
    pub(crate) fn new(task: Task<'t>) -> Unwinding<'t> {
        let program = task.program;
        let mut aig = Aig::new();
        let mut begin = circuit::begin(&mut aig, program);
        let mut unwinding = Unwinding {
            task,
            flow: Flow::new(program),
            encoder: Encoder::new(),
            solver: Solver::new(),
            begin: Begin::default(),
            thread: None,
            moves: Vec::new(),
            nodes: BTreeMap::new(),
            error: Lit::FALSE,
            aig,
        };
        let (phase, proc, valuation) = match program.prelude {
            Some(prelude) => {
                // The prelude's thread has no variables of its own; they have the default value.
                let thread = program.vars.indices().filter(|var| program.vars[*var].scope == Scope::Thread);
                thread.for_each(|var| begin.valuation.set(var, Lit::FALSE));
                (Phase::Prelude, prelude, begin.valuation.clone())
            }
            None => {
                let thread = circuit::begin_thread(&mut unwinding.aig, program, &begin.valuation);
                let valuation = thread.valuation.clone();
                unwinding.thread = Some(thread);
                (Phase::Thread, program.entries[0].proc, valuation)
            }
        };
        unwinding.begin = begin;
        let place = UnwoundPlace { phase, loc: program.procs[proc].entry, height: 0 };
        unwinding.arrive(place, UnwoundNode { guard: Lit::TRUE, valuation, callers: None });
        unwinding
    }

    /// Returns whether no execution has more steps.
    pub(crate) fn is_complete(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Extends the executions by one step.
    pub(crate) fn extend(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        self.error = Lit::FALSE;
        self.moves.push(Vec::new());
        for (place, node) in std::mem::take(&mut self.nodes) {
            run.tick()?;
            self.leave(place, &node);
        }
        Ok(())
    }

    /// Returns an execution with the current number of steps that ends in an error. If there is none, the solver
    /// remembers that.
    pub(crate) fn error(&mut self, run: &Run<'_>) -> Result<Option<Trace>, Stop> {
        run.event(Event::Unwound { steps: self.moves.len(), nodes: self.aig.node_count() });
        run.check_limits()?;
        if self.error == Lit::FALSE {
            return Ok(None);
        }
        let error = self.encoder.encode(&self.aig, self.error, &mut self.solver);
        match self.solver.solve(&[error], |conflicts| run.check_search(conflicts))? {
            Answer::Sat => Ok(Some(self.trace())),
            Answer::Unsat => {
                self.solver.add_clause(&[!error]);
                Ok(None)
            }
        }
    }

    /// Adds the states of a node to a place. Executions end at errors.
    fn arrive(&mut self, place: UnwoundPlace, node: UnwoundNode) {
        if self.task.target.has_loc(place.loc) {
            self.error = self.aig.or(self.error, node.guard);
            return;
        }
        let merged = match self.nodes.remove(&place) {
            Some(known) => known.merge(&mut self.aig, node),
            None => node,
        };
        self.nodes.insert(place, merged);
    }

    /// Adds all moves from a node. If the conditions of two edges do not exclude each other, inputs select the edge.
    fn leave(&mut self, place: UnwoundPlace, node: &UnwoundNode) {
        let mut edges = Vec::new();
        for edge in self.flow.out(place.loc).to_vec() {
            let (outcomes, choices) = self.outcomes(place, node, edge);
            if !outcomes.is_empty() {
                edges.push((edge, choices, outcomes));
            }
        }
        let conditions: Vec<Vec<Lit>> =
            edges.iter().map(|(_, _, outcomes)| outcomes.iter().map(|outcome| outcome.condition).collect()).collect();
        let selectors = circuit::selectors(&mut self.aig, &conditions);
        for ((edge, choices, outcomes), selector) in edges.into_iter().zip(selectors) {
            let guard = self.aig.and(node.guard, selector);
            for outcome in outcomes {
                self.follow(place.phase, guard, edge, choices.clone(), outcome);
            }
        }
    }

    /// Records a move and adds its result to the nodes.
    fn follow(&mut self, phase: Phase, guard: Lit, edge: EdgeId, choices: Vec<Input>, outcome: MoveOutcome) {
        let guard = self.aig.and(guard, outcome.condition);
        if guard == Lit::FALSE {
            return;
        }
        let MoveOutcome { to, fresh, thread, .. } = outcome;
        let step = self.moves.last_mut().expect("a step is being made");
        step.push(UnwoundMove { guard, phase, edge, choices, fresh, thread });
        match to {
            Some((place, valuation, callers)) => self.arrive(place, UnwoundNode { guard, valuation, callers }),
            None => self.error = self.aig.or(self.error, guard),
        }
    }

    /// Returns the possible results of a step along an edge, and its choices.
    fn outcomes(&mut self, place: UnwoundPlace, node: &UnwoundNode, id: EdgeId) -> (Vec<MoveOutcome>, Vec<Input>) {
        let program = self.task.program;
        let plain = |condition: Lit, to| MoveOutcome { condition, to, fresh: Vec::new(), thread: None };
        let next = |condition: Lit, valuation: Valuation| {
            let to = UnwoundPlace { loc: program.edges[id].to, ..place };
            plain(condition, Some((to, valuation, node.callers.clone())))
        };
        let (effect, choices) = circuit::step(&mut self.aig, program, id, &node.valuation);
        let outcomes = match effect {
            Effect::Next(condition, after) => vec![next(condition, after)],
            Effect::Assert(needs, holds) => {
                let (passes, fails) = (self.aig.and(needs, holds), self.aig.and(needs, !holds));
                let fails = self.task.target.has_assert(id).then(|| plain(fails, None));
                [next(passes, node.valuation.clone())].into_iter().chain(fails).collect()
            }
            Effect::Call(call, entry) => vec![self.call(place, node, id, call.callee, entry)],
            Effect::Return(results) if node.callers.is_some() => returns(&mut self.aig, program, place, node, &results),
            Effect::Return(_) | Effect::End if place.phase == Phase::Prelude => vec![self.start(node)],
            Effect::Return(_) | Effect::End => Vec::new(),
        };
        (outcomes, choices)
    }

    fn call(
        &mut self,
        place: UnwoundPlace,
        node: &UnwoundNode,
        id: EdgeId,
        callee: ProcId,
        mut entry: Valuation,
    ) -> MoveOutcome {
        let program = self.task.program;
        let fresh = circuit::add_locals(&mut self.aig, program, callee, &mut entry);
        let locals = node.valuation.restrict(|var| is_local(program, var));
        let caller = Caller { calls: vec![(id, Lit::TRUE)], locals, below: node.callers.clone() };
        let to = UnwoundPlace { loc: program.procs[callee].entry, height: place.height + 1, ..place };
        MoveOutcome { condition: Lit::TRUE, to: Some((to, entry, Some(Rc::new(caller)))), fresh, thread: None }
    }

    /// Ends the prelude and starts the thread.
    fn start(&mut self, node: &UnwoundNode) -> MoveOutcome {
        let program = self.task.program;
        let thread = circuit::begin_thread(&mut self.aig, program, &node.valuation);
        let loc = program.procs[program.entries[0].proc].entry;
        let to = UnwoundPlace { phase: Phase::Thread, loc, height: 0 };
        let to = Some((to, thread.valuation.clone(), None));
        MoveOutcome { condition: Lit::TRUE, to, fresh: Vec::new(), thread: Some(thread) }
    }

    /// Reads the execution that the solver has found.
    fn trace(&mut self) -> Trace {
        let guards: Vec<Lit> = self.moves.iter().flatten().map(|step| step.guard).collect();
        let mut inputs: FxHashMap<Input, bool> = FxHashMap::default();
        for input in self.aig.support(&guards) {
            let lit = self.encoder.input(&self.aig, input, &mut self.solver);
            inputs.insert(input, self.solver.value(lit));
        }
        let value = |input: Input| inputs.get(&input).copied().unwrap_or(false);
        let holds = self.aig.eval(&guards, value);
        let moves = self.moves.iter().flatten().zip(holds).filter(|(_, holds)| *holds).map(|(step, _)| step);
        let moves: Vec<&UnwoundMove> = moves.collect();
        let thread = self.thread.as_ref().or_else(|| moves.iter().find_map(|step| step.thread.as_ref()));
        // An error in the prelude comes before the thread starts: any start of the thread will do.
        let unstarted = circuit::begin_thread(&mut Aig::new(), self.task.program, &no_values(self.task.program));
        let start = self.begin.start(thread.unwrap_or(&unstarted), &value);
        let steps = moves.iter().map(|step| step.trace_step(self.task.program, &value)).collect();
        Trace { start, steps, bodies: Vec::new() }
    }
}

impl UnwoundMove {
    fn trace_step(&self, program: &Program, value: &dyn Fn(Input) -> bool) -> Step {
        let thread = match self.phase {
            Phase::Thread if program.prelude.is_some() => ThreadId(1),
            Phase::Prelude | Phase::Thread => ThreadId(0),
        };
        Step {
            thread,
            edge: self.edge,
            choices: circuit::choose(&self.choices, value),
            passive: Vec::new(),
            fresh: self.fresh.iter().map(|(var, input)| (*var, Value::Bool(value(*input)))).collect(),
            body: None,
        }
    }
}

/// Returns from a node to each of its callers.
fn returns(
    aig: &mut Aig,
    program: &Program,
    place: UnwoundPlace,
    node: &UnwoundNode,
    results: &[Lit],
) -> Vec<MoveOutcome> {
    let Some(caller) = &node.callers else { return Vec::new() };
    let mut return_to = |&(edge, condition): &(EdgeId, Lit)| {
        let owner = program.locs[program.edges[edge].from].proc;
        let locals = caller.locals.iter().filter(|(var, _)| program.vars[*var].scope == Scope::Local(owner));
        let globals = node.valuation.iter().filter(|(var, _)| !is_local(program, *var));
        let before: Valuation = globals.chain(locals).collect();
        let after = circuit::resume(program, call_at(program, edge), &before, &node.valuation, results);
        let ensured = circuit::ensured(aig, program, edge, &after);
        let condition = aig.and(condition, ensured);
        let to = UnwoundPlace { loc: program.edges[edge].to, height: place.height - 1, ..place };
        MoveOutcome { condition, to: Some((to, after, caller.below.clone())), fresh: Vec::new(), thread: None }
    };
    caller.calls.iter().map(&mut return_to).collect()
}

fn is_local(program: &Program, var: VarId) -> bool {
    matches!(program.vars[var].scope, Scope::Local(_))
}

/// Returns a valuation in which all shared variables are false.
fn no_values(program: &Program) -> Valuation {
    program
        .vars
        .indices()
        .filter(|var| program.vars[*var].scope == Scope::Shared)
        .map(|var| (var, Lit::FALSE))
        .collect()
}
