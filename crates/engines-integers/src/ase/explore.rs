//! Symbolic execution with abstract matching (Figs. 4.2 and 4.4).
//!
//! The search is depth-first along all steps. A node is a symbolic state: the values of the variables as terms over the
//! unknowns of the start and the choices so far, and a path condition. It belongs to one abstract state, since
//! successors are split by all truth values that the predicates can have. A path ends at a node whose abstract state is
//! already on the path.
//!
//! The search ends because no abstract state occurs twice on a path and each node has finitely many successors. Every
//! node is real: its path condition is satisfiable.
//!
//! A node that represents the same states as one that was entered before is not entered again; [`Matching`] says when
//! that loses nothing, and `share` which nodes those are.

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::{Explanation, Refinement, Run, Stop};
use selvedge_ir::{LocId, Value};
use selvedge_logic::smt::{Node as Head, Symbol, Term};

use super::super::atoms::normal;
use super::super::model::{SymbolicStart, SymbolicStep};
use super::super::prover::Prover;
use super::super::trace::Path;
use super::abstraction::{AbstractionContext, PredicateState, StepEffect};
use super::analyse::AbstractStep;
use super::plain::{self, Slots};
use super::share::{self, StateKey};
use crate::terms::{constant, value};

/// The condition at which a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Matching {
    /// At an abstract state that is already on the path (Fig. 4.2), and at states that were entered before, provided
    /// nothing below them was cut off because of nodes above them: from there on nothing new would be found.
    Path,
    /// At an abstract state that is already on the path, and at states that were entered before on any path.
    ///
    /// This visits less than Fig. 4.2, and Theorem 4.2.3 does not hold for it, but it avoids walking along all paths of
    /// loops that can go everywhere. Both proofs remain valid: they need that each node outside of the loops was
    /// entered, or represents the same states as one that was.
    Shared,
    /// At an abstract state that was met on any path (Pasareanu, Pelánek and Visser).
    Everywhere,
}

/// A symbolic state.
#[derive(Clone)]
pub(super) struct SymbolicNode {
    pub(super) loc: LocId,
    /// The values of the model's variables, in their order.
    pub(super) values: Vec<Term>,
    pub(super) condition: Vec<Term>,
    pub(super) state: usize,
    origin: NodeOrigin,
    /// The choices of the step to it.
    choices: Vec<Symbol>,
}

/// The origin of a node.
#[derive(Clone, Copy)]
enum NodeOrigin {
    /// A start, by number.
    Start(usize),
    /// A step, by number, from another node.
    Step(usize, usize),
}

/// The result of an exploration.
#[derive(Default)]
pub(super) struct Explored {
    pub(super) nodes: Vec<SymbolicNode>,
    pub(super) states: Vec<PredicateState>,
    /// The numbers of the abstract states.
    pub(super) index: FxHashMap<PredicateState, usize>,
    /// The abstract states to which a step leads, by abstract state and number of the step.
    pub(super) edges: BTreeMap<(usize, usize), BTreeSet<usize>>,
    pub(super) initial: BTreeSet<usize>,
    /// The abstract states on closed loops.
    pub(super) looped: BTreeSet<usize>,
    /// A node with an error, and the error's number.
    pub(super) error: Option<(usize, usize)>,
    /// For abstract states, the values of the variables that are constant in them; computed on demand.
    known: RefCell<FxHashMap<usize, Rc<Slots>>>,
}

/// A node on the path.
struct PathFrame {
    node: usize,
    /// The next step.
    next: usize,
    /// Successors that were not visited yet.
    todo: Vec<usize>,
    /// The least depth of a node on the path with which a successor of this node, or a node below it, was matched; the
    /// greatest number if there was no match.
    low: usize,
}

/// The depth-first search.
pub(super) struct Explorer<'a, 'r> {
    context: &'a AbstractionContext<'a>,
    prover: &'a mut Prover<'r>,
    run: &'a Run<'a>,
    explanation: &'a mut Explanation,
    figures: Refinement,
    explored: Explored,
    stack: Vec<PathFrame>,
    /// The depth of each abstract state on the path.
    on_path: FxHashMap<usize, usize>,
    /// The nodes that need not be entered again.
    done: FxHashSet<StateKey>,
    matching: Matching,
    /// The abstract states that were entered, for [`Matching::Everywhere`].
    entered: FxHashSet<usize>,
    fresh: usize,
}

impl<'a, 'r> Explorer<'a, 'r> {
    pub(super) fn new(
        context: &'a AbstractionContext<'a>,
        prover: &'a mut Prover<'r>,
        (run, explanation): (&'a Run<'a>, &'a mut Explanation),
        (figures, matching): (Refinement, Matching),
    ) -> Explorer<'a, 'r> {
        Explorer {
            context,
            prover,
            run,
            explanation,
            figures,
            explored: Explored::default(),
            stack: Vec::new(),
            on_path: FxHashMap::default(),
            done: FxHashSet::default(),
            matching,
            entered: FxHashSet::default(),
            fresh: 0,
        }
    }

    /// Explores everything, or until an error.
    pub(super) fn explore(mut self) -> Result<Explored, Stop> {
        for (number, start) in self.context.model.starts.iter().enumerate() {
            let choices = start.edge.iter().flat_map(|(_, choices)| choices).cloned().collect();
            let Some((values, condition)) = self.begin(start)? else { continue };
            let condition = Vec::from_iter((condition.as_bool() != Some(true)).then_some(condition));
            let node = SymbolicNode {
                loc: start.loc,
                values,
                condition,
                state: 0,
                origin: NodeOrigin::Start(number),
                choices,
            };
            for node in self.split(node, None)? {
                self.explored.initial.insert(self.explored.nodes[node].state);
                if self.has_error(node)? {
                    return Ok(self.explored);
                }
                self.visit_start(node);
                if self.search()? {
                    return Ok(self.explored);
                }
            }
        }
        Ok(self.explored)
    }

    /// Returns the values and the condition of a start, in which unknowns with only one possible value are replaced by
    /// that value; `None` if the start is impossible. The path to an error keeps the whole condition.
    fn begin(&mut self, start: &SymbolicStart) -> Result<Option<(Vec<Term>, Term)>, Stop> {
        let terms: Vec<Term> = self.context.model.vars.iter().map(|var| normal(&start.values[var])).collect();
        let Some(found) = self.prover.values(&start.condition, &terms)? else { return Ok(None) };
        let mut known: BTreeMap<Symbol, Term> = BTreeMap::new();
        for (term, value) in terms.iter().zip(found) {
            if let Head::Symbol(symbol) = term.head() {
                let other = Term::and([start.condition.clone(), term.equals(&constant(value)).not()]);
                if !self.prover.is_sat(&other)? {
                    known.insert(symbol.clone(), constant(value));
                }
            }
        }
        let values = terms.iter().map(|term| normal(&term.substitute(&known))).collect();
        Ok(Some((values, normal(&start.condition.substitute(&known)))))
    }

    /// Enters a start, unless matching says that it brings nothing new.
    fn visit_start(&mut self, node: usize) {
        let is_new = match self.matching {
            Matching::Path => true,
            Matching::Shared => !self.done.contains(&self.key(node)),
            Matching::Everywhere => !self.entered.contains(&self.explored.nodes[node].state),
        };
        if is_new {
            self.enter(node);
        }
    }

    /// Searches below the node that was entered. Returns whether there is an error.
    fn search(&mut self) -> Result<bool, Stop> {
        while let Some(depth) = self.stack.len().checked_sub(1) {
            self.run.tick()?;
            let frame = &mut self.stack[depth];
            if let Some(child) = frame.todo.pop() {
                self.visit_successor(child);
                continue;
            }
            let (node, step) = (frame.node, frame.next);
            frame.next += 1;
            if step < self.context.model.from(self.explored.nodes[node].loc).len() {
                if self.expand(node, step)? {
                    return Ok(true);
                }
            } else {
                self.leave(depth);
            }
        }
        Ok(false)
    }

    /// Pushes a node on the path.
    fn enter(&mut self, node: usize) {
        let depth = self.stack.len();
        self.entered.insert(self.explored.nodes[node].state);
        self.on_path.insert(self.explored.nodes[node].state, depth);
        if self.matching == Matching::Shared {
            self.done.insert(self.key(node));
        }
        self.stack.push(PathFrame { node, next: 0, todo: Vec::new(), low: usize::MAX });
    }

    /// Enters a successor, unless its abstract state is on the path or it brings nothing new.
    fn visit_successor(&mut self, child: usize) {
        let depth = self.stack.len() - 1;
        if self.matching == Matching::Everywhere {
            return self.visit_start(child);
        }
        match self.on_path.get(&self.explored.nodes[child].state) {
            Some(above) => self.stack[depth].low = self.stack[depth].low.min(*above),
            None if self.done.contains(&self.key(child)) => {}
            None => self.enter(child),
        }
    }

    /// Pops the last node of the path and records what is known about it.
    fn leave(&mut self, depth: usize) {
        let frame = self.stack.pop().expect("the depth is that of the last frame");
        let state = self.explored.nodes[frame.node].state;
        self.on_path.remove(&state);
        // Something at or below this node leads back to it or above it.
        if frame.low <= depth {
            self.explored.looped.insert(state);
        }
        if self.matching == Matching::Path && frame.low >= depth {
            self.done.insert(self.key(frame.node));
        }
        if let Some(above) = self.stack.last_mut() {
            above.low = above.low.min(frame.low);
        }
    }

    fn key(&self, node: usize) -> StateKey {
        let node = &self.explored.nodes[node];
        share::key(node.loc, &node.values, &node.condition)
    }

    /// Executes a step. Returns whether a successor has an error.
    ///
    /// Most guards are decided without terms, either by the abstract state or by constant values; only the others
    /// become part of the path condition. New values are likewise evaluated where possible and substituted otherwise.
    fn expand(&mut self, from: usize, number: usize) -> Result<bool, Stop> {
        let context = self.context;
        let node = &self.explored.nodes[from];
        let (step, effect) = (&context.model.from(node.loc)[number], context.effect(node.loc, number));
        let state = &self.explored.states[node.state];
        let is_enabled = context.decided(&effect.guard, state, &self.explored.known(node.state, context));
        if is_enabled == Some(false) {
            return Ok(false);
        }
        let slots = plain::slots(&node.values);
        let is_enabled = is_enabled.or_else(|| effect.guard.holds(&slots));
        if is_enabled == Some(false) {
            return Ok(false);
        }
        let renamed = |(choice, number): (&Symbol, usize)| Symbol::new(&format!("c{number}"), choice.sort);
        let choices: Vec<Symbol> = step.choices.iter().zip(self.fresh..).map(renamed).collect();
        self.fresh += choices.len();
        let values = LazyCell::new(|| values_at(context, node, step, &choices));
        let mut condition = node.condition.clone();
        if is_enabled.is_none() {
            match normal(&step.guard.substitute(&values)) {
                guard if guard.as_bool() == Some(false) => return Ok(false),
                guard if guard.as_bool() == Some(true) => {}
                guard => condition.push(guard),
            }
        }
        let mut after = node.values.clone();
        for (slot, update) in &effect.updates {
            let changed = || normal(&step.updates[&context.model.vars[*slot]].substitute(&values));
            after[*slot] = update.value(&slots, &[]).map_or_else(changed, Term::from);
        }
        drop(values);
        let (before, loc) = (node.state, step.to);
        let next =
            SymbolicNode { loc, values: after, condition, state: 0, origin: NodeOrigin::Step(from, number), choices };
        let children = self.split(next, Some((before, effect)))?;
        self.connect((before, number), children)
    }

    /// Adds the edges of a step, and queues its successors. Returns whether one of them has an error.
    fn connect(&mut self, step: AbstractStep, children: Vec<usize>) -> Result<bool, Stop> {
        for child in &children {
            let reached = self.explored.nodes[*child].state;
            self.explored.edges.entry(step).or_default().insert(reached);
            if self.has_error(*child)? {
                return Ok(true);
            }
        }
        self.stack.last_mut().expect("the node is on the path").todo = children.into_iter().rev().collect();
        Ok(false)
    }

    /// Splits a node by abstract states and returns the parts in ascending order. After a step, predicates that do not
    /// mention assigned variables keep their truth values.
    fn split(&mut self, node: SymbolicNode, parent: Option<(usize, &StepEffect)>) -> Result<Vec<usize>, Stop> {
        let mut parts = Vec::new();
        for (control, node) in self.split_control(node)? {
            parts.extend(self.split_predicates(control, node, parent)?);
        }
        let (states, abstract_states) = (self.explored.nodes.len(), self.explored.states.len());
        if states.is_multiple_of(256) {
            self.explanation.refine(Refinement { states, abstract_states, ..self.figures }, self.run);
        }
        Ok(parts)
    }

    /// Splits a node by the values of control variables, which are constants in each part.
    fn split_control(&mut self, node: SymbolicNode) -> Result<Vec<(Vec<Value>, SymbolicNode)>, Stop> {
        let slots = &self.context.slots;
        let open: Vec<usize> = slots.iter().copied().filter(|slot| node.values[*slot].as_value().is_none()).collect();
        let with_control = |node: SymbolicNode| {
            let known = |slot: &usize| node.values[*slot].as_value().and_then(value).expect("it is a constant by now");
            (slots.iter().map(known).collect(), node)
        };
        if open.is_empty() {
            return Ok(vec![with_control(node)]);
        }
        let terms: Vec<Term> = open.iter().map(|slot| node.values[*slot].clone()).collect();
        let mut found = Vec::new();
        let mut rest = Term::and(node.condition.iter().cloned());
        while let Some(values) = self.prover.values(&rest, &terms)? {
            let same = Term::and(terms.iter().zip(&values).map(|(term, value)| term.equals(&constant(*value))));
            rest = Term::and([rest, same.not()]);
            found.push(values);
        }
        found.sort_unstable();
        let part = |values: Vec<Value>| {
            let mut part = node.clone();
            for ((slot, term), value) in open.iter().zip(&terms).zip(values) {
                part.values[*slot] = constant(value);
                part.condition.push(term.equals(&constant(value)));
            }
            with_control(part)
        };
        Ok(found.into_iter().map(part).collect())
    }

    /// Splits a node by the truth values of the predicates. Those that the node's values determine are evaluated; the
    /// solver enumerates the others, and their literals extend the path condition if there are several solutions.
    fn split_predicates(
        &mut self,
        control: Vec<Value>,
        node: SymbolicNode,
        parent: Option<(usize, &StepEffect)>,
    ) -> Result<Vec<usize>, Stop> {
        let context = self.context;
        let predicates = &context.predicates.all;
        let slots = plain::slots(&node.values);
        let values = LazyCell::new(|| valuation(context, &node));
        let mut bits = match parent {
            Some((state, _)) => self.explored.states[state].bits.clone(),
            None => vec![false; predicates.len()],
        };
        let mut open = Vec::new();
        let mut look_at = |number: usize| {
            let here = || normal(&predicates[number].substitute(&values));
            match context.holds(number, &slots).map_or_else(here, Term::from) {
                here if here.as_bool().is_some() => bits[number] = here.as_bool() == Some(true),
                here => open.push((number, here)),
            }
        };
        match parent {
            Some((_, effect)) => effect.affected.iter().for_each(|(number, _)| look_at(*number)),
            None => (0..predicates.len()).for_each(look_at),
        }
        drop(values);
        let condition = Term::and(node.condition.iter().cloned());
        if open.is_empty() {
            // Only a condition added by the step can make the node impossible.
            let is_real = self.is_as_before(&node) || self.prover.is_sat(&condition)?;
            return Ok(if is_real { vec![self.add(control, bits, node)] } else { Vec::new() });
        }
        let terms: Vec<Term> = open.iter().map(|(_, term)| term.clone()).collect();
        let solutions = self.prover.all_solutions(&condition, &terms)?;
        Ok(self.split_by(solutions, &open, (control, bits), &node))
    }

    /// Splits a node by the truth values that the open predicates can have together.
    fn split_by(
        &mut self,
        solutions: Vec<Vec<bool>>,
        open: &[(usize, Term)],
        (control, bits): (Vec<Value>, Vec<bool>),
        node: &SymbolicNode,
    ) -> Vec<usize> {
        let is_split = solutions.len() > 1;
        let mut parts = Vec::new();
        for solution in solutions {
            let (mut bits, mut part) = (bits.clone(), node.clone());
            for ((number, term), bit) in open.iter().zip(solution) {
                bits[*number] = bit;
                if is_split {
                    part.condition.push(if bit { term.clone() } else { term.not() });
                }
            }
            parts.push(self.add(control.clone(), bits, part));
        }
        parts
    }

    /// Returns whether the path condition is that of the previous node, which is satisfiable.
    fn is_as_before(&self, node: &SymbolicNode) -> bool {
        match node.origin {
            NodeOrigin::Start(_) => false,
            NodeOrigin::Step(from, _) => self.explored.nodes[from].condition.len() == node.condition.len(),
        }
    }

    /// Adds a node with its abstract state and returns the number of the node.
    fn add(&mut self, control: Vec<Value>, bits: Vec<bool>, node: SymbolicNode) -> usize {
        let state = PredicateState { loc: node.loc, control, bits };
        let number = self.explored.states.len();
        let number = *self.explored.index.entry(state.clone()).or_insert(number);
        if number == self.explored.states.len() {
            self.explored.states.push(state);
        }
        self.explored.nodes.push(SymbolicNode { state: number, ..node });
        self.explored.nodes.len() - 1
    }

    /// Records an error in a node, if there is one.
    fn has_error(&mut self, node: usize) -> Result<bool, Stop> {
        let context = self.context;
        let SymbolicNode { loc, state, ref values, .. } = self.explored.nodes[node];
        let (known, slots) = (self.explored.known(state, context), plain::slots(values));
        let errors = context.model.errors.iter().zip(&context.errors).enumerate();
        for (number, (_, happens)) in errors.filter(|(_, (error, _))| error.loc == loc) {
            let is_excluded = context.decided(happens, &self.explored.states[state], &known) == Some(false);
            if is_excluded || happens.holds(&slots) == Some(false) {
                continue;
            }
            let condition = self.explored.error_path(context, node, number).condition;
            if self.prover.is_sat(&normal(&condition))? {
                self.explored.error = Some((node, number));
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Maps the symbols of variables to their values in a node.
fn valuation(context: &AbstractionContext<'_>, node: &SymbolicNode) -> BTreeMap<Symbol, Term> {
    let vars = context.model.vars.iter().zip(&node.values);
    vars.map(|(var, value)| (context.model.symbol(*var).clone(), value.clone())).collect()
}

/// Maps the symbols of variables and choices to their values in a step from a node, where the choices have new names.
fn values_at(
    context: &AbstractionContext<'_>,
    node: &SymbolicNode,
    step: &SymbolicStep,
    choices: &[Symbol],
) -> BTreeMap<Symbol, Term> {
    let mut values = valuation(context, node);
    values.extend(step.choices.iter().cloned().zip(choices.iter().map(|choice| choice.clone().into())));
    values
}

impl Explored {
    /// Returns the values of the variables that are constant in an abstract state.
    pub(super) fn known(&self, state: usize, context: &AbstractionContext<'_>) -> Rc<Slots> {
        let mut known = self.known.borrow_mut();
        Rc::clone(known.entry(state).or_insert_with(|| Rc::new(context.known(&self.states[state]))))
    }

    /// Returns the path to an error in a node.
    pub(super) fn error_path(&self, context: &AbstractionContext<'_>, node: usize, error: usize) -> Path {
        let model = context.model;
        let error = &model.errors[error];
        let at = &self.nodes[node];
        let condition = error.condition.substitute(&valuation(context, at));
        let mut condition = Term::and([condition].into_iter().chain(at.condition.iter().cloned()));
        let mut steps = Vec::new();
        steps.extend(error.edge.map(|edge| (edge, error.choices.clone())));
        let mut here = at;
        loop {
            match here.origin {
                NodeOrigin::Start(number) => {
                    condition = Term::and([condition, model.starts[number].condition.clone()]);
                    let edge = model.starts[number].edge.as_ref();
                    steps.extend(edge.map(|(edge, _)| (*edge, here.choices.clone())));
                    break;
                }
                NodeOrigin::Step(from, number) => {
                    let from = &self.nodes[from];
                    steps.push((model.from(from.loc)[number].edge, here.choices.clone()));
                    here = from;
                }
            }
        }
        steps.reverse();
        Path { steps, condition }
    }
}
