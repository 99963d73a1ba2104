//! Symbolic execution with abstract matching (Figs. 4.2 and 4.4).
//!
//! Depth-first along all steps. A node is a symbolic state: values of the variables as terms over the unknowns of the
//! start and the choices so far, and a path condition; it belongs to one abstract state, since it is split by all truth
//! values that the predicates can have in it. A path ends at a node whose abstract state is on the path already.
//!
//! It ends because a path has no abstract state twice and each node has finitely many successors. Every node is real:
//! its path condition can be satisfied.
//!
//! A node that stands for the same states as one that was entered before is not entered again; see [`Matching`] for when
//! that loses nothing, and `share` for which nodes those are.

use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_check::{Explanation, Refinement, Run, Stop};
use selvedge_ir::{LocId, Value, VarId};
use selvedge_logic::smt::{Node as Head, Symbol, Term};

use super::super::atoms::normal;
use super::super::control::constant;
use super::super::model::{Start, Transition};
use super::super::prover::Prover;
use super::super::trace::Path;
use super::abstraction::{Abstract, Effect, World};
use super::plain::{self, Slots};
use super::share::{self, Key};

/// Where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Matching {
    /// At an abstract state that is on the path already (Fig. 4.2), and at states that were entered before, if nothing
    /// below them was cut off because of what stood above them: from there on nothing new would come.
    Path,
    /// At an abstract state that is on the path already, and at states that were entered before on any path.
    ///
    /// This visits less than Fig. 4.2, and Theorem 4.2.3 is not true of it, but loops that go everywhere do not make it
    /// walk along all their paths. Both proofs stay right: they need that each node outside of the loops was entered, or
    /// stands for the same states as one that was.
    Shared,
    /// At an abstract state that was met on any path (Pasareanu, Pelánek and Visser).
    Everywhere,
}

/// A symbolic state.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) loc: LocId,
    /// The values of the model's variables, in their order.
    pub(super) values: Vec<Term>,
    pub(super) condition: Vec<Term>,
    pub(super) state: usize,
    origin: Origin,
    /// The choices of the step to it.
    choices: Vec<Symbol>,
}

/// Where a node comes from.
#[derive(Clone, Copy)]
enum Origin {
    /// A start, by number.
    Start(usize),
    /// A step, by number, from another node.
    Step(usize, usize),
}

/// What was explored.
#[derive(Default)]
pub(super) struct Explored {
    pub(super) nodes: Vec<Node>,
    pub(super) states: Vec<Abstract>,
    index: FxHashMap<Abstract, usize>,
    /// Where steps, by abstract state and number of the step, lead.
    pub(super) edges: BTreeMap<(usize, usize), BTreeSet<usize>>,
    pub(super) initial: BTreeSet<usize>,
    /// The abstract states on closed loops.
    pub(super) looped: BTreeSet<usize>,
    /// A node with an error, and the error's number.
    pub(super) error: Option<(usize, usize)>,
    /// For abstract states, the variables that have one value in them; only where somebody asked.
    known: RefCell<FxHashMap<usize, Rc<Slots>>>,
}

/// A node on the path.
struct Frame {
    node: usize,
    /// The next step.
    next: usize,
    /// Successors that were not looked at.
    todo: Vec<usize>,
    /// The least depth of a node on the path that this one's successors or something below them were matched with; the
    /// greatest number if there was none.
    low: usize,
}

pub(super) struct Explorer<'a, 'r> {
    world: &'a World<'a>,
    prover: &'a mut Prover<'r>,
    run: &'a Run<'a>,
    explanation: &'a mut Explanation,
    figures: Refinement,
    explored: Explored,
    stack: Vec<Frame>,
    /// The depth of each abstract state on the path.
    on_path: FxHashMap<usize, usize>,
    /// The nodes that need not be entered again.
    done: FxHashSet<Key>,
    matching: Matching,
    /// The abstract states that were entered, for [`Matching::Everywhere`].
    entered: FxHashSet<usize>,
    fresh: usize,
}

impl<'a, 'r> Explorer<'a, 'r> {
    pub(super) fn new(
        world: &'a World<'a>,
        prover: &'a mut Prover<'r>,
        (run, explanation): (&'a Run<'a>, &'a mut Explanation),
        (figures, matching): (Refinement, Matching),
    ) -> Explorer<'a, 'r> {
        Explorer {
            world,
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
        for (number, start) in self.world.model.starts.iter().enumerate() {
            let choices = start.edge.iter().flat_map(|(_, choices)| choices).cloned().collect();
            let Some((values, condition)) = self.begin(start)? else { continue };
            let condition = Vec::from_iter((condition.as_bool() != Some(true)).then_some(condition));
            let node = Node { loc: start.loc, values, condition, state: 0, origin: Origin::Start(number), choices };
            for node in self.split(node, None)? {
                self.explored.initial.insert(self.explored.nodes[node].state);
                if self.has_error(node)? {
                    return Ok(self.explored);
                }
                self.look_at_start(node);
                if self.search()? {
                    return Ok(self.explored);
                }
            }
        }
        Ok(self.explored)
    }

    /// The values and the condition of a start, in which unknowns that can have one value only are that value; `None` if
    /// there is no such start. The way to an error has the whole condition.
    fn begin(&mut self, start: &Start) -> Result<Option<(Vec<Term>, Term)>, Stop> {
        let terms: Vec<Term> = self.world.model.vars.iter().map(|var| normal(&start.values[var])).collect();
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

    fn look_at_start(&mut self, node: usize) {
        let is_new = match self.matching {
            Matching::Path => true,
            Matching::Shared => !self.done.contains(&self.key(node)),
            Matching::Everywhere => !self.entered.contains(&self.explored.nodes[node].state),
        };
        if is_new {
            self.enter(node);
        }
    }

    /// The search below the node that was entered. Returns whether it found an error.
    fn search(&mut self) -> Result<bool, Stop> {
        while let Some(depth) = self.stack.len().checked_sub(1) {
            self.run.tick()?;
            let frame = &mut self.stack[depth];
            if let Some(child) = frame.todo.pop() {
                self.look_at(child);
                continue;
            }
            let (node, step) = (frame.node, frame.next);
            frame.next += 1;
            if step < self.world.model.from(self.explored.nodes[node].loc).len() {
                if self.expand(node, step)? {
                    return Ok(true);
                }
            } else {
                self.leave(depth);
            }
        }
        Ok(false)
    }

    fn enter(&mut self, node: usize) {
        let depth = self.stack.len();
        self.entered.insert(self.explored.nodes[node].state);
        self.on_path.insert(self.explored.nodes[node].state, depth);
        if self.matching == Matching::Shared {
            self.done.insert(self.key(node));
        }
        self.stack.push(Frame { node, next: 0, todo: Vec::new(), low: usize::MAX });
    }

    /// Follows a successor, unless its abstract state is on the path or it brings nothing new.
    fn look_at(&mut self, child: usize) {
        let depth = self.stack.len() - 1;
        if self.matching == Matching::Everywhere {
            return self.look_at_start(child);
        }
        match self.on_path.get(&self.explored.nodes[child].state) {
            Some(above) => self.stack[depth].low = self.stack[depth].low.min(*above),
            None if self.done.contains(&self.key(child)) => {}
            None => self.enter(child),
        }
    }

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

    fn key(&self, node: usize) -> Key {
        let node = &self.explored.nodes[node];
        share::key(node.loc, &node.values, &node.condition)
    }

    /// Executes a step. Returns whether a successor has an error.
    fn expand(&mut self, from: usize, number: usize) -> Result<bool, Stop> {
        let world = self.world;
        let node = &self.explored.nodes[from];
        let (step, effect) = (&world.model.from(node.loc)[number], world.effect(node.loc, number));
        let state = &self.explored.states[node.state];
        let is_enabled = world.decided(&effect.guard, state, &self.explored.known(node.state, world));
        if is_enabled == Some(false) {
            return Ok(false);
        }
        let slots = plain::slots(&node.values);
        // A guard that holds in the whole abstract state holds in the node.
        let is_enabled = is_enabled.or_else(|| effect.guard.holds(&slots));
        if is_enabled == Some(false) {
            return Ok(false);
        }
        let choices: Vec<Symbol> =
            step.choices.iter().zip(self.fresh..).map(|(choice, number)| named(choice, number)).collect();
        self.fresh += choices.len();
        let values = LazyCell::new(|| values_at(world, node, step, &choices));
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
            let changed = || normal(&step.updates[&world.model.vars[*slot]].substitute(&values));
            after[*slot] = update.value(&slots, &[]).map_or_else(changed, plain::term);
        }
        drop(values);
        let (before, loc) = (node.state, step.to);
        let next = Node { loc, values: after, condition, state: 0, origin: Origin::Step(from, number), choices };
        let children = self.split(next, Some((before, effect)))?;
        for child in &children {
            let reached = self.explored.nodes[*child].state;
            self.explored.edges.entry((before, number)).or_default().insert(reached);
            if self.has_error(*child)? {
                return Ok(true);
            }
        }
        self.stack.last_mut().expect("the node is on the path").todo = children.into_iter().rev().collect();
        Ok(false)
    }

    /// The parts of a node by abstract states, in ascending order. Where it comes from a step, predicates about other
    /// variables than the assigned ones are as before it.
    fn split(&mut self, node: Node, parent: Option<(usize, &Effect)>) -> Result<Vec<usize>, Stop> {
        let mut parts = Vec::new();
        for (control, node) in self.split_control(node)? {
            parts.extend(self.split_predicates(control, node, parent)?);
        }
        if self.explored.nodes.len().is_multiple_of(256) {
            self.tell();
        }
        Ok(parts)
    }

    fn tell(&mut self) {
        let (states, abstract_states) = (self.explored.nodes.len(), self.explored.states.len());
        self.explanation.refine(Refinement { states, abstract_states, ..self.figures }, self.run);
    }

    fn slot(&self, var: VarId) -> usize {
        self.world.model.vars.binary_search(&var).expect("the variables are in ascending order")
    }

    /// The parts of a node by the values of control variables, which are constants in each.
    fn split_control(&mut self, node: Node) -> Result<Vec<(Vec<Value>, Node)>, Stop> {
        let slots: Vec<usize> = self.world.control.iter().map(|var| self.slot(*var)).collect();
        let open: Vec<usize> = slots.iter().copied().filter(|slot| value(&node.values[*slot]).is_none()).collect();
        let of = |node: &Node| -> Vec<Value> {
            let known = |slot: &usize| value(&node.values[*slot]).expect("it is a constant by now");
            slots.iter().map(known).collect()
        };
        if open.is_empty() {
            return Ok(vec![(of(&node), node)]);
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
        Ok(found.into_iter().map(|values| self.with_control(&node, &open, &terms, &values, &of)).collect())
    }

    fn with_control(
        &self,
        node: &Node,
        open: &[usize],
        terms: &[Term],
        values: &[Value],
        of: &dyn Fn(&Node) -> Vec<Value>,
    ) -> (Vec<Value>, Node) {
        let mut part = node.clone();
        for ((slot, term), value) in open.iter().zip(terms).zip(values) {
            part.values[*slot] = constant(*value);
            part.condition.push(term.equals(&constant(*value)));
        }
        (of(&part), part)
    }

    fn split_predicates(
        &mut self,
        control: Vec<Value>,
        node: Node,
        parent: Option<(usize, &Effect)>,
    ) -> Result<Vec<usize>, Stop> {
        let world = self.world;
        let predicates = &world.predicates.all;
        let slots = plain::slots(&node.values);
        let values = LazyCell::new(|| valuation(world, &node));
        let mut bits = match parent {
            Some((state, _)) => self.explored.states[state].bits.clone(),
            None => vec![false; predicates.len()],
        };
        let mut open = Vec::new();
        let mut look_at = |number: usize| {
            let here = || normal(&predicates[number].substitute(&values));
            match world.holds(number, &slots).map_or_else(here, Term::from) {
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
            // Only a condition that was added by the step can exclude everything.
            let is_real = self.is_as_before(&node) || self.prover.is_sat(&condition)?;
            return Ok(if is_real { vec![self.add(control, bits, node)] } else { Vec::new() });
        }
        let terms: Vec<Term> = open.iter().map(|(_, term)| term.clone()).collect();
        let solutions = self.prover.all_solutions(&condition, &terms)?;
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
        Ok(parts)
    }

    /// Whether the path condition is the one of the node before, which can be satisfied.
    fn is_as_before(&self, node: &Node) -> bool {
        match node.origin {
            Origin::Start(_) => false,
            Origin::Step(from, _) => self.explored.nodes[from].condition.len() == node.condition.len(),
        }
    }

    fn add(&mut self, control: Vec<Value>, bits: Vec<bool>, node: Node) -> usize {
        let state = Abstract { loc: node.loc, control, bits };
        let number = self.explored.states.len();
        let number = *self.explored.index.entry(state.clone()).or_insert(number);
        if number == self.explored.states.len() {
            self.explored.states.push(state);
        }
        self.explored.nodes.push(Node { state: number, ..node });
        self.explored.nodes.len() - 1
    }

    /// Notes an error in a node, if there is one.
    fn has_error(&mut self, node: usize) -> Result<bool, Stop> {
        let world = self.world;
        let Node { loc, state, ref values, .. } = self.explored.nodes[node];
        let (known, slots) = (self.explored.known(state, world), plain::slots(values));
        let errors = world.model.errors.iter().enumerate().filter(|(_, error)| error.loc == loc);
        for (number, _) in errors {
            let happens = world.error(number);
            let is_excluded = world.decided(happens, &self.explored.states[state], &known) == Some(false);
            if is_excluded || happens.holds(&slots) == Some(false) {
                continue;
            }
            let condition = self.explored.error_path(world, node, number).condition;
            if self.prover.is_sat(&normal(&condition))? {
                self.explored.error = Some((node, number));
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// What variables stand for in a node.
fn valuation(world: &World<'_>, node: &Node) -> BTreeMap<Symbol, Term> {
    let vars = world.model.vars.iter().zip(&node.values);
    vars.map(|(var, value)| (world.model.symbol(*var).clone(), value.clone())).collect()
}

/// What variables and choices stand for in a step from a node, where the choices have these names.
fn values_at(world: &World<'_>, node: &Node, step: &Transition, choices: &[Symbol]) -> BTreeMap<Symbol, Term> {
    let mut values = valuation(world, node);
    values.extend(step.choices.iter().cloned().zip(choices.iter().map(|choice| choice.clone().into())));
    values
}

/// A new name for a choice.
fn named(choice: &Symbol, number: usize) -> Symbol {
    Symbol::new(&format!("c{number}"), choice.sort)
}

/// The value of a constant.
fn value(term: &Term) -> Option<Value> {
    let int = || term.as_int().and_then(|value| i64::try_from(value).ok()).map(Value::Int);
    term.as_bool().map(Value::Bool).or_else(int)
}

impl Explored {
    /// The variables that have one value in an abstract state.
    pub(super) fn known(&self, state: usize, world: &World<'_>) -> Rc<Slots> {
        let mut known = self.known.borrow_mut();
        Rc::clone(known.entry(state).or_insert_with(|| Rc::new(world.known(&self.states[state]))))
    }

    /// The number of an abstract state, if it was met.
    pub(super) fn number(&self, state: &Abstract) -> Option<usize> {
        self.index.get(state).copied()
    }

    /// The path to an error in a node.
    pub(super) fn error_path(&self, world: &World<'_>, node: usize, error: usize) -> Path {
        let model = world.model;
        let error = &model.errors[error];
        let at = &self.nodes[node];
        let condition = error.condition.substitute(&valuation(world, at));
        let mut condition = Term::and([condition].into_iter().chain(at.condition.iter().cloned()));
        let mut steps = Vec::new();
        steps.extend(error.edge.map(|edge| (edge, error.choices.clone())));
        let mut here = at;
        loop {
            match here.origin {
                Origin::Start(number) => {
                    condition = Term::and([condition, model.starts[number].condition.clone()]);
                    let edge = model.starts[number].edge.as_ref();
                    steps.extend(edge.map(|(edge, _)| (*edge, here.choices.clone())));
                    break;
                }
                Origin::Step(from, number) => {
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
