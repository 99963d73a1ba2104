//! From an error back to the start, ring by ring: values before a step that lead to given ones after it.

use selvedge_check::Stop;
use selvedge_ir::trace::{StartThread, Trace};
use selvedge_ir::{EdgeId, LocId, Op};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::macro_step::place::Place;
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::diagram::relation::{Assignment, Layout};
use selvedge_transition::step::diagram::threads::{Live, ThreadLayout};
use selvedge_transition::step::passive::Part;
use selvedge_transition::trace_builder::{BackStep, TraceBuilder, before_step, choices_of, own_choices, pick_with};

use super::search::{PlainError, PlainSearch, ThreadPlaces};

/// A state of the whole program, as far as variables are kept.
struct WholeState {
    key: ThreadPlaces,
    shared: Vec<bool>,
    /// The values of each thread; unused for numbers without a thread.
    locals: Vec<Vec<bool>>,
    /// The names of the threads.
    names: Vec<usize>,
}

/// A picked state, and choices.
struct Picked {
    shared: Vec<bool>,
    locals: Vec<Vec<bool>>,
    choices: Vec<bool>,
}

impl PlainSearch<'_> {
    /// Returns the execution that leads to an error in the last ring.
    pub(super) fn trace(&self, found: PlainError) -> Result<Trace, Stop> {
        let mut builder = TraceBuilder::default();
        let mut ring = self.rings.len() - 1;
        let (PlainError::Fails(mut entry, ..) | PlainError::Reached(mut entry)) = found;
        let mut state = self.last_state(&mut builder, found).map_err(out_of_nodes)?;
        while ring > 0 {
            self.run.tick()?;
            (entry, state) = self.back(&mut builder, ring, entry, state).map_err(out_of_nodes)?;
            ring -= 1;
        }
        self.finish(builder, state).map_err(out_of_nodes)
    }

    fn last_state(&self, builder: &mut TraceBuilder, found: PlainError) -> Result<WholeState, OutOfNodes> {
        let (PlainError::Fails(entry, ..) | PlainError::Reached(entry)) = found;
        let ring = self.rings.last().expect("an error is found in a ring");
        let (key, states) = ring.get_index(entry).expect("an error is found in an entry");
        let mut set = states.set.clone();
        if let PlainError::Fails(_, thread, edge) = found {
            let failure = self.program.edges[edge].failure().expect("only assertions fail");
            set = set.and(&self.layout.value(thread, &failure)?)?;
        }
        let picked = self.pick(&set).expect("the search found this error once");
        let names: Vec<usize> = key.iter().map(|_| builder.name()).collect();
        if let PlainError::Fails(_, thread, edge) = found {
            builder.steps.push(BackStep::new(self.program, names[thread], edge, &picked.choices));
        }
        Ok(WholeState { key: key.clone(), shared: picked.shared, locals: picked.locals, names })
    }

    fn pick(&self, set: &Bdd) -> Option<Picked> {
        let shared = self.layout.shared_now();
        let threads = 0..self.layout.copies.len();
        let locals: Vec<Vec<Var>> = threads.map(|thread| self.layout.locals_now(thread)).collect();
        let vars: Vec<Var> =
            shared.iter().chain(locals.iter().flatten()).chain(&self.layout.choices).copied().collect();
        let mut values = set.pick(&vars)?.into_iter();
        let shared = values.by_ref().take(shared.len()).collect();
        let locals = locals.iter().map(|vars| values.by_ref().take(vars.len()).collect()).collect();
        Some(Picked { shared, locals, choices: values.collect() })
    }

    /// Finds the entry of the ring before and the state there from which a step leads to the given one.
    fn back(
        &self,
        builder: &mut TraceBuilder,
        ring: usize,
        entry: usize,
        state: WholeState,
    ) -> Result<(usize, WholeState), OutOfNodes> {
        for (from, thread, edge) in &self.rings[ring][entry].arcs {
            let (key, before) = self.rings[ring - 1].get_index(*from).expect("arcs come from the ring before");
            let set = self.before(key, &before.set, *thread, *edge, &state)?;
            if let Some(picked) = self.pick(&set) {
                let state = self.made(builder, key, *thread, *edge, picked, state)?;
                return Ok((*from, state));
            }
        }
        unreachable!("each state of a ring comes from the ring before")
    }

    /// Returns the states, with choices, in which a step of a thread along an edge leads to the given one.
    fn before(
        &self,
        key: &ThreadPlaces,
        set: &Bdd,
        thread: usize,
        id: EdgeId,
        state: &WholeState,
    ) -> Result<Bdd, OutOfNodes> {
        let (layout, edge) = (&self.layout, &self.program.edges[id]);
        let op = &edge.op;
        let surviving = self.surviving(key, &state.key);
        let own = surviving.iter().find(|(other, _)| *other == thread);
        let own = own.map(|(_, loc)| (*loc, state.locals[thread].as_slice()));
        let child = started(op, key, &state.key).map(|child| state.locals[child].as_slice());
        let mut before = set.and(&before_step(layout, self.program, (thread, edge), &state.shared, own, child)?)?;
        let conditions = self.conditions(key, thread, op, state)?;
        for (other, loc) in surviving.into_iter().filter(|(other, _)| *other != thread) {
            let same = match conditions.iter().find(|(taking, _)| *taking == other) {
                Some((_, condition)) => condition.exists(&layout.manager.var_set(&self.own_choices(op))?)?,
                None => layout.fixed(other, layout.kept.at(loc), &state.locals[other])?,
            };
            before = before.and(&same)?;
        }
        Ok(before)
    }

    /// Returns the threads that live before and after a step, with their locations after it. At the end of a prelude
    /// there are none.
    fn surviving(&self, before: &ThreadPlaces, after: &ThreadPlaces) -> Vec<(usize, LocId)> {
        if ends_prelude(before, after) {
            return Vec::new();
        }
        let after = after.iter().enumerate().filter(|(thread, _)| before[*thread].is_some());
        after.filter_map(|(thread, place)| place.map(|place| (thread, place.loc))).collect()
    }

    /// Returns the choices that each thread that takes part in a step makes for itself.
    fn own_choices(&self, op: &Op) -> Vec<Var> {
        if let Op::Assign(assign) = op { own_choices(&self.layout, assign) } else { Vec::new() }
    }

    /// Returns, for each thread that takes part in a step, the condition under which it gets the values that it has.
    fn conditions(
        &self,
        key: &ThreadPlaces,
        mover: usize,
        op: &Op,
        state: &WholeState,
    ) -> Result<Vec<(usize, Bdd)>, OutOfNodes> {
        let Op::Assign(assign) = op else { return Ok(Vec::new()) };
        let condition = |(other, part): &(usize, Part<'_>)| {
            let loc = state.key[*other].expect("a thread that takes part lives").loc;
            let step = Assignment { assign, mover, peer: Some((*other, part)) };
            Ok((*other, self.layout.before_part(&step, loc, &state.locals[*other])?))
        };
        self.parts(key, mover, assign).iter().map(condition).collect()
    }

    /// Adds the step, and returns the state before it.
    fn made(
        &self,
        builder: &mut TraceBuilder,
        key: &ThreadPlaces,
        thread: usize,
        id: EdgeId,
        picked: Picked,
        mut state: WholeState,
    ) -> Result<WholeState, OutOfNodes> {
        let op = &self.program.edges[id].op;
        let child = started(op, key, &state.key);
        let mut passive = Vec::new();
        for (other, condition) in self.conditions(key, thread, op, &state)? {
            let choices = self.pick_choices(&condition, &picked, &self.own_choices(op))?;
            passive.push((state.names[other], choices_of(self.program, id, &choices)));
        }
        let started = |child: usize| self.layout.fresh_of_started(self.program, op, &state.locals[child]);
        let fresh = child.map(started).unwrap_or_default();
        if ends_prelude(key, &state.key) {
            builder.starts = self.start_threads(&state)?;
        }
        let child = child.map(|child| state.names[child]);
        if matches!(op, Op::End | Op::Return(_)) {
            state.names[thread] = builder.name();
        }
        let step = BackStep::new(self.program, state.names[thread], id, &picked.choices);
        builder.steps.push(BackStep { passive, child, fresh, ..step });
        Ok(WholeState { key: key.clone(), shared: picked.shared, locals: picked.locals, names: state.names })
    }

    /// Returns the choices of a thread that takes part, given all other values.
    fn pick_choices(&self, condition: &Bdd, picked: &Picked, own: &[Var]) -> Result<Vec<bool>, OutOfNodes> {
        let layout = &self.layout;
        let mut known: Vec<(Var, bool)> = layout.shared_now().into_iter().zip(picked.shared.iter().copied()).collect();
        for (thread, values) in picked.locals.iter().enumerate() {
            known.extend(layout.locals_now(thread).into_iter().zip(values.iter().copied()));
        }
        let choices = layout.choices.iter().copied().zip(picked.choices.iter().copied());
        known.extend(choices.filter(|(var, _)| !own.contains(var)));
        pick_with(layout, condition, &known, &layout.choices)
    }

    /// Returns the starts of initial threads, in a state in which all have just begun.
    fn start_threads(&self, state: &WholeState) -> Result<Vec<(usize, StartThread)>, OutOfNodes> {
        let start = |(thread, live): &(usize, Live)| {
            Ok((live.name, self.layout.start_thread(self.program, *thread, &state.shared, live)?))
        };
        state.live().iter().map(start).collect()
    }

    /// Completes the execution with its start.
    fn finish(&self, builder: TraceBuilder, state: WholeState) -> Result<Trace, OutOfNodes> {
        self.layout.finish(builder, self.program, &state.shared, &state.live(), 0)
    }
}

impl WholeState {
    /// Returns the threads that live.
    fn live(&self) -> Vec<(usize, Live)> {
        let live = |(thread, place): (usize, &Option<Place>)| {
            let live = Live { name: self.names[thread], place: (*place)?, locals: self.locals[thread].clone() };
            Some((thread, live))
        };
        self.key.iter().enumerate().filter_map(live).collect()
    }
}

/// Returns whether a step ends the prelude.
fn ends_prelude(before: &ThreadPlaces, after: &ThreadPlaces) -> bool {
    let is_prelude = |key: &ThreadPlaces| key.iter().flatten().any(|place| place.entry().is_none());
    is_prelude(before) && !is_prelude(after)
}

/// Returns the number of the thread that a step has started.
fn started(op: &Op, before: &ThreadPlaces, after: &ThreadPlaces) -> Option<usize> {
    let starts = matches!(op, Op::Fork(_) | Op::Spawn(_));
    (0..before.len()).find(|thread| starts && before[*thread].is_none() && after[*thread].is_some())
}
