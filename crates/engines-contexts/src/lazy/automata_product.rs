//! The product of the threads as automata, for few shared states.
//!
//! A template is explored with all histories whose contexts begin with states with which some context was seen to
//! begin, whatever came before. Its effects hold for its threads whether or not the others confirm the history, and
//! they do not grow with the number of threads. As diagrams whose blocks of variables are contexts, they are an
//! automaton: the future behaviour of a thread after some contexts is a node below a cut, its *class*. So the product
//! of the threads is a finite system: the shared state and a class for each thread.
//!
//! *Order of work.* In each round all templates are explored from the states seen so far. Then the system takes its
//! turns from the beginning through this round. If a thread comes to its context with a state with which its template
//! was not explored, the template is explored from there, and the system runs again.
//!
//! *Invariant.* A state of the system occurs in an execution: each class represents a history of the thread, since all
//! boundaries of contexts are those of the system. So an error in a class is an error of the program.
//!
//! *It ends* because each repetition adds a shared state to those of a template in the round.
//!
//! *It is right.* Nothing is missed: when the last repetition adds nothing, every thread was explored with the history
//! that it has in any execution, up to steps that no other thread can see. Two histories of one class have the same
//! effects and errors through this round; the classes are recomputed for each round.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use selvedge_check::Stop;
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::out_of_nodes;

use super::rounds::{FoundError, RoundRelations, RoundSearch};
use crate::thread_paths::columns::Side;
use crate::thread_paths::walk::Boundaries;

/// The product of the threads.
pub(super) struct AutomataProduct {
    /// The shared states with which some context of some thread begins, in the first column.
    seen: Bdd,
    /// The shared states with which the templates were explored in the current round.
    explored: Vec<Bdd>,
    /// The shared states after the rounds so far.
    pub(super) reached: Bdd,
    /// The boundaries of an execution to an error.
    pub(super) boundaries: Vec<Boundaries>,
    registers: Option<Registers>,
    mark: Option<Var>,
}

/// Variables for the class of each thread before and after a turn.
struct Registers {
    width: usize,
    of_threads: Vec<[Vec<Var>; 2]>,
}

/// A template as an automaton; classes are numbers in the registers of the first thread, shared states are in the first
/// columns.
struct TemplateAutomaton {
    /// For each context: class, state at its beginning, state at its end, class.
    steps: Vec<Bdd>,
    /// Class and state at the beginning of the last context from which an error is reached in it.
    fails: Bdd,
}

/// The classes of a template, context by context, and the arcs between them.
struct Classes {
    /// Class before, states of a context, class after.
    arcs: Vec<Vec<(usize, Bdd, usize)>>,
    /// Class before the last context, and the states at its beginning from which an error is reached.
    fails: Vec<(usize, Bdd)>,
    n_classes: usize,
}

/// A valuation of the registers and the shared state.
type ProductState = BTreeMap<Var, bool>;

impl AutomataProduct {
    pub(super) fn new(initial: &Bdd, n_templates: usize) -> AutomataProduct {
        AutomataProduct {
            seen: initial.clone(),
            explored: vec![initial.clone(); n_templates],
            reached: initial.clone(),
            boundaries: Vec::new(),
            registers: None,
            mark: None,
        }
    }
}

impl RoundSearch<'_, '_> {
    /// Advances by one round.
    pub(super) fn advance_together(&mut self, mut product: AutomataProduct) -> Result<Option<FoundError>, Stop> {
        self.rounds.push(RoundRelations::default());
        let context = self.count();
        for template in 0..self.paths.templates.len() {
            product.explored[template] = self.model.layout.manager.bottom();
            let seen = product.seen.clone();
            self.explore_from(&mut product, template, &seen)?;
        }
        loop {
            self.model.run.check_limits()?;
            let automata = self.automata(&mut product)?;
            let registers = product.registers.as_ref().expect("automata have registers");
            let turns = self.turns(&automata, registers)?;
            if let Some((thread, state)) = self.failing(&automata, registers, &turns).map_err(out_of_nodes)? {
                product.boundaries = self.boundaries_to(&automata, registers, &turns, thread, state)?;
                let history = self.history(&product.boundaries[thread]).map_err(out_of_nodes)?;
                let error = self.paths.templates[self.paths.of_entries[thread]]
                    .failing(context, &history)
                    .map_err(out_of_nodes)?;
                self.product = Some(product);
                return Ok(Some(FoundError { thread, error: error.expect("the history leads to an error") }));
            }
            let (begun, reached) = self.begun(registers, &turns).map_err(out_of_nodes)?;
            let mut is_done = true;
            for (template, begun) in begun.into_iter().enumerate() {
                if !begun.is_subset(&product.explored[template]) {
                    self.explore_from(&mut product, template, &begun)?;
                    is_done = false;
                }
            }
            if is_done {
                product.reached = reached;
                self.product = Some(product);
                return Ok(None);
            }
        }
    }

    /// Explores a template in the current context from further shared states.
    fn explore_from(&mut self, product: &mut AutomataProduct, template: usize, begun: &Bdd) -> Result<(), Stop> {
        let model = self.model;
        let context = self.count();
        let [first, running] = [1, context].map(|context| model.column(Side::In, context));
        let histories = model.renamed(begun, &[(&first, &running)]).and_then(|begun| match context {
            1 => Ok(begun),
            _ => self.paths.templates[template].effects(context - 1).and(&begun),
        });
        product.explored[template] = product.explored[template].or(begun).map_err(out_of_nodes)?;
        product.seen = product.seen.or(begun).map_err(out_of_nodes)?;
        self.paths.templates[template].explore(context, &histories.map_err(out_of_nodes)?)
    }

    /// Returns the automata of all templates through the current context.
    fn automata(&self, product: &mut AutomataProduct) -> Result<Vec<TemplateAutomaton>, Stop> {
        let manager = &self.model.layout.manager;
        let mark = *product.mark.get_or_insert_with(|| manager.add_vars(1)[0]);
        let classes = (0..self.paths.templates.len())
            .map(|template| self.classes(template, mark))
            .collect::<Result<Vec<_>, _>>()?;
        let n_classes = classes.iter().map(|classes| classes.n_classes).max().unwrap_or(1);
        let width = (usize::BITS - n_classes.leading_zeros()) as usize;
        if product.registers.as_ref().is_none_or(|registers| registers.width < width) {
            product.registers = Some(self.registers(width + 2));
        }
        let registers = product.registers.as_ref().expect("they have just been made");
        classes.iter().map(|classes| self.automaton(classes, registers).map_err(out_of_nodes)).collect()
    }

    fn registers(&self, width: usize) -> Registers {
        let mut vars = self.model.layout.manager.add_vars(2 * width * self.paths.of_entries.len()).into_iter();
        let register = |_: &usize| {
            let pairs: Vec<Var> = vars.by_ref().take(2 * width).collect();
            [0, 1].map(|which| pairs.iter().copied().skip(which).step_by(2).collect())
        };
        Registers { width, of_threads: self.paths.of_entries.iter().map(register).collect() }
    }

    /// Computes the classes of a template: the possible futures after 0, 1, .. contexts. The mark distinguishes errors
    /// from effects.
    fn classes(&self, template: usize, mark: Var) -> Result<Classes, Stop> {
        let (model, context) = (self.model, self.count());
        let all = self.behaviour(template, mark).map_err(out_of_nodes)?;
        let mut classes = Classes { arcs: Vec::new(), fails: Vec::new(), n_classes: 1 };
        let mut before = vec![all];
        for number in 1..context {
            let cut = model.column(Side::In, number + 1).into_iter().min().expect("there are shared variables");
            let (mut arcs, mut after, mut numbers) = (Vec::new(), Vec::new(), FxHashMap::default());
            for (class, below) in before.iter().enumerate() {
                self.model.run.check_limits()?;
                for part in below.split_at(cut).map_err(out_of_nodes)? {
                    let next = *numbers.entry(part.below.clone()).or_insert_with(|| {
                        after.push(part.below.clone());
                        after.len() - 1
                    });
                    arcs.push((class, self.in_first(&part.above, number).map_err(out_of_nodes)?, next));
                }
            }
            classes.n_classes = classes.n_classes.max(after.len());
            classes.arcs.push(arcs);
            before = after;
        }
        let mut arcs = Vec::new();
        for (class, below) in before.iter().enumerate() {
            let [effects, errors] = self.unmarked(below, mark).map_err(out_of_nodes)?;
            arcs.push((class, self.in_first(&effects, context).map_err(out_of_nodes)?, 0));
            if !errors.is_false() {
                classes.fails.push((class, self.in_first(&errors, context).map_err(out_of_nodes)?));
            }
        }
        classes.arcs.push(arcs);
        Ok(classes)
    }

    /// Returns the effects of a template through the current context, and, marked, the histories that lead to an error
    /// in it.
    fn behaviour(&self, template: usize, mark: Var) -> Result<Bdd, OutOfNodes> {
        let manager = &self.model.layout.manager;
        let effects = self.paths.templates[template].effects(self.count()).and(&manager.literal(mark, false)?)?;
        let failing = self.paths.templates[template].failing_histories(self.count())?;
        effects.or(&failing.and(&manager.literal(mark, true)?)?)
    }

    fn unmarked(&self, below: &Bdd, mark: Var) -> Result<[Bdd; 2], OutOfNodes> {
        let manager = &self.model.layout.manager;
        let marks = manager.var_set(&[mark])?;
        let part = |value: bool| below.and_exists(&manager.literal(mark, value)?, &marks);
        Ok([part(false)?, part(true)?])
    }

    /// Renames the states of a context to those of the first.
    fn in_first(&self, states: &Bdd, context: u32) -> Result<Bdd, OutOfNodes> {
        let model = self.model;
        let column = |side: Side, context: u32| model.column(side, context);
        let pairs: [(&[_], &[_]); 2] =
            [(&column(Side::In, context), &column(Side::In, 1)), (&column(Side::Out, context), &column(Side::Out, 1))];
        if context == 1 { Ok(states.clone()) } else { model.renamed(states, &pairs) }
    }

    fn automaton(&self, classes: &Classes, registers: &Registers) -> Result<TemplateAutomaton, OutOfNodes> {
        let manager = &self.model.layout.manager;
        let [before, after] = &registers.of_threads[0];
        let arc = |(class, states, next): &(usize, Bdd, usize)| {
            states.and(&manager.number(before, *class)?)?.and(&manager.number(after, *next)?)
        };
        let steps = classes.arcs.iter().map(|arcs| manager.any(arcs.iter().map(arc)));
        let fails = classes.fails.iter().map(|(class, states)| states.and(&manager.number(before, *class)?));
        Ok(TemplateAutomaton { steps: steps.collect::<Result<_, _>>()?, fails: manager.any(fails)? })
    }

    /// Renames a relation of the first thread to one of another.
    fn of_thread(&self, relation: &Bdd, registers: &Registers, thread: usize) -> Result<Bdd, OutOfNodes> {
        let [from, to] = [0, thread].map(|thread| &registers.of_threads[thread]);
        match thread {
            0 => Ok(relation.clone()),
            _ => self.model.renamed(relation, &[(&from[0], &to[0]), (&from[1], &to[1])]),
        }
    }

    /// Returns the states of the system before each turn, and at the end of the current round.
    fn turns(&self, automata: &[TemplateAutomaton], registers: &Registers) -> Result<Vec<Bdd>, Stop> {
        let mut state = self.paths.initial.clone();
        for register in &registers.of_threads {
            state = state
                .and(&self.model.layout.manager.number(&register[0], 0).map_err(out_of_nodes)?)
                .map_err(out_of_nodes)?;
        }
        let mut turns = vec![state];
        for context in 0..self.rounds.len() {
            for thread in 0..self.paths.of_entries.len() {
                self.model.run.check_limits()?;
                let step = &automata[self.paths.of_entries[thread]].steps[context];
                let last = turns.last().expect("there is a beginning");
                turns.push(self.after(last, step, registers, thread).map_err(out_of_nodes)?);
            }
        }
        Ok(turns)
    }

    fn after(&self, state: &Bdd, step: &Bdd, registers: &Registers, thread: usize) -> Result<Bdd, OutOfNodes> {
        let model = self.model;
        let [begun, ended] = [Side::In, Side::Out].map(|side| model.column(side, 1));
        let [before, after] = &registers.of_threads[thread];
        let step = self.of_thread(step, registers, thread)?;
        let next = state.and_exists(&step, &model.set(&[&begun, before])?)?;
        model.renamed(&next, &[(&ended, &begun), (after, before)])
    }

    /// Returns a thread that reaches an error in the current round, with a state of the system before its turn.
    fn failing(
        &self,
        automata: &[TemplateAutomaton],
        registers: &Registers,
        turns: &[Bdd],
    ) -> Result<Option<(usize, ProductState)>, OutOfNodes> {
        let n_threads = self.paths.of_entries.len();
        let first = (self.rounds.len() - 1) * n_threads;
        for thread in 0..n_threads {
            let fails = self.of_thread(&automata[self.paths.of_entries[thread]].fails, registers, thread)?;
            let found = turns[first + thread].and(&fails)?;
            if !found.is_false() {
                return Ok(Some((thread, self.picked(&found, registers))));
            }
        }
        Ok(None)
    }

    fn picked(&self, states: &Bdd, registers: &Registers) -> ProductState {
        let mut vars = self.model.column(Side::In, 1);
        vars.extend(registers.of_threads.iter().flat_map(|register| &register[0]));
        let values = states.pick(&vars).expect("there is a state");
        vars.into_iter().zip(values).collect()
    }

    /// Returns the boundaries of all contexts on a path to a state before the turn of a thread in the current round.
    fn boundaries_to(
        &self,
        automata: &[TemplateAutomaton],
        registers: &Registers,
        turns: &[Bdd],
        thread: usize,
        mut state: ProductState,
    ) -> Result<Vec<Boundaries>, Stop> {
        let (model, n_threads) = (self.model, self.paths.of_entries.len());
        let [begun, ended] = [Side::In, Side::Out].map(|side| model.column(side, 1));
        let shared = |state: &ProductState| -> Vec<bool> { begun.iter().map(|var| state[var]).collect() };
        let mut pieces = vec![(thread, shared(&state), None)];
        for turn in (0..(self.rounds.len() - 1) * n_threads + thread).rev() {
            let mover = turn % n_threads;
            let [before, after] = &registers.of_threads[mover];
            let moved = begun.iter().zip(&ended).chain(before.iter().zip(after)).collect::<BTreeMap<_, _>>();
            let place = |var: &Var| moved.get(var).map_or(*var, |after| **after);
            let literals: Vec<(Var, bool)> = state.iter().map(|(var, value)| (place(var), *value)).collect();
            let step =
                self.of_thread(&automata[self.paths.of_entries[mover]].steps[turn / n_threads], registers, mover);
            let known = model.layout.manager.cube(&literals).and_then(|known| turns[turn].and(&step?)?.and(&known));
            let found = self.picked(&known.map_err(out_of_nodes)?, registers);
            pieces.push((mover, shared(&found), Some(shared(&state))));
            state = found;
        }
        let mut all = vec![Boundaries { begun: Vec::new(), ended: Vec::new() }; n_threads];
        for (mover, first, last) in pieces.into_iter().rev() {
            all[mover].begun.extend(first);
            all[mover].ended.extend(last.into_iter().flatten());
        }
        Ok(all)
    }

    /// Returns a history as a condition.
    fn history(&self, boundaries: &Boundaries) -> Result<Bdd, OutOfNodes> {
        let (model, last) = (self.model, self.count());
        let vars = [model.columns(Side::In, 1, last), model.columns(Side::Out, 1, last - 1)].concat();
        model.fixed(&vars, &[&*boundaries.begun, &*boundaries.ended].concat())
    }

    /// Returns, for each template, the states with which the current contexts of its threads begin, and those after the
    /// round.
    fn begun(&self, registers: &Registers, turns: &[Bdd]) -> Result<(Vec<Bdd>, Bdd), OutOfNodes> {
        let manager = &self.model.layout.manager;
        let of_all: Vec<Var> = registers.of_threads.iter().flat_map(|register| register[0].iter().copied()).collect();
        let of_all = manager.var_set(&of_all)?;
        let first = turns.len() - 1 - self.paths.of_entries.len();
        let mut begun = vec![manager.bottom(); self.paths.templates.len()];
        for (thread, template) in self.paths.of_entries.iter().enumerate() {
            begun[*template] = begun[*template].or(&turns[first + thread].exists(&of_all)?)?;
        }
        Ok((begun, turns[turns.len() - 1].exists(&of_all)?))
    }
}
