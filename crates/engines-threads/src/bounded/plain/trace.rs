//! From an error back to the start, ring by ring: values before a step that lead to given ones behind it.

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, StartThread, Trace};
use selvedge_ir::visit::choice_types;
use selvedge_ir::{Assign, EdgeId, Expr, LocId, Op, ProcId, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::out_of_nodes;
use selvedge_transition::step::passive::{Part, is_common};
use selvedge_transition::trace_builder::{BackStep, TraceBuilder};

use super::search::{Found, Key, Search};

/// A state of the whole program, as far as variables are kept.
struct State {
    key: Key,
    shared: Vec<bool>,
    /// By thread; of no use where none lives.
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

impl Search<'_> {
    /// The execution that leads to an error in the last ring.
    pub(super) fn trace(&self, found: Found) -> Result<Trace, Stop> {
        let mut builder = TraceBuilder::default();
        let mut ring = self.rings.len() - 1;
        let (Found::Fails(mut entry, ..) | Found::Reached(mut entry)) = found;
        let mut state = self.last_state(&mut builder, found).map_err(out_of_nodes)?;
        while ring > 0 {
            self.run.tick()?;
            (entry, state) = self.back(&mut builder, ring, entry, state).map_err(out_of_nodes)?;
            ring -= 1;
        }
        self.finish(builder, state).map_err(out_of_nodes)
    }

    fn last_state(&self, builder: &mut TraceBuilder, found: Found) -> Result<State, OutOfNodes> {
        let (Found::Fails(entry, ..) | Found::Reached(entry)) = found;
        let ring = self.rings.last().expect("an error is met in a ring");
        let (key, states) = ring.get_index(entry).expect("an error is met in an entry");
        let mut set = states.set.clone();
        if let Found::Fails(_, thread, edge) = found {
            let Op::Assert(condition) = &self.program.edges[edge].op else { unreachable!("only assertions fail") };
            set = set.minus(&self.layout.expr(thread, condition)?)?;
        }
        let picked = self.pick(&set).expect("the search found this error once");
        let names: Vec<usize> = key.iter().map(|_| builder.name()).collect();
        if let Found::Fails(_, thread, edge) = found {
            let choices = self.choices_of(edge, &picked.choices);
            let (passive, fresh) = (Vec::new(), Vec::new());
            builder.steps.push(BackStep { mover: names[thread], edge, choices, passive, child: None, fresh });
        }
        Ok(State { key: key.clone(), shared: picked.shared, locals: picked.locals, names })
    }

    fn pick(&self, set: &Bdd) -> Option<Picked> {
        let shared = self.layout.shared_now();
        let n_threads = self.rings[0].keys().next().map_or(0, Vec::len);
        let locals: Vec<Vec<Var>> = (0..n_threads).map(|thread| self.layout.locals_now(thread)).collect();
        let vars: Vec<Var> =
            shared.iter().chain(locals.iter().flatten()).chain(&self.layout.choices).copied().collect();
        let mut values = set.pick(&vars)?.into_iter();
        let shared = values.by_ref().take(shared.len()).collect();
        let locals = locals.iter().map(|vars| values.by_ref().take(vars.len()).collect()).collect();
        Some(Picked { shared, locals, choices: values.collect() })
    }

    /// As many choices as an edge makes.
    fn choices_of(&self, edge: EdgeId, choices: &[bool]) -> Vec<bool> {
        choices[..self.program.edges[edge].op.choices().len()].to_vec()
    }

    /// The entry of the ring before and the state there from which a step leads to the given one.
    fn back(
        &self,
        builder: &mut TraceBuilder,
        ring: usize,
        entry: usize,
        state: State,
    ) -> Result<(usize, State), OutOfNodes> {
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

    /// The states, with choices, in which a step of a thread along an edge leads to the given one.
    fn before(&self, key: &Key, set: &Bdd, thread: usize, id: EdgeId, state: &State) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        let op = &self.program.edges[id].op;
        if let Op::Assign(assign) = op {
            return self.before_assign(key, set, thread, assign, state);
        }
        let mut before = set.and(&layout.fixed(0, &layout.kept.shared, &state.shared)?)?;
        for other in self.surviving(key, &state.key) {
            let loc = state.key[other].expect("it lives on").loc;
            before = before.and(&layout.fixed(other, layout.kept.at(loc), &state.locals[other])?)?;
        }
        if let Op::Assert(condition) = op {
            before = before.and(&layout.expr(thread, condition)?)?;
        }
        let Some(child) = started(op, key, &state.key) else { return Ok(before) };
        let values = &state.locals[child];
        match op {
            Op::Fork(at) => before.and(&layout.fixed(thread, layout.kept.at(*at), values)?),
            Op::Spawn(spawn) => {
                let callee = &self.program.procs[spawn.callee];
                let is_kept = |var: &&VarId| layout.kept.at(callee.entry).contains(var);
                let copied: Vec<VarId> = layout.slots.thread_vars.iter().filter(is_kept).copied().collect();
                before = before.and(&layout.fixed(thread, &copied, values)?)?;
                for (param, arg) in callee.params.iter().zip(&spawn.args).filter(|(param, _)| is_kept(param)) {
                    let value = layout.manager.constant(values[layout.slots.get(*param)]);
                    before = before.and(&layout.expr(thread, arg)?.iff(&value)?)?;
                }
                Ok(before)
            }
            _ => Ok(before),
        }
    }

    /// The threads that live before and behind a step. At the end of a prelude there are none.
    fn surviving(&self, before: &Key, behind: &Key) -> Vec<usize> {
        let is_prelude = |key: &Key| key.iter().flatten().any(|place| place.entry().is_none());
        if is_prelude(before) && !is_prelude(behind) {
            return Vec::new();
        }
        (0..before.len()).filter(|thread| before[*thread].is_some() && behind[*thread].is_some()).collect()
    }

    fn before_assign(
        &self,
        key: &Key,
        set: &Bdd,
        thread: usize,
        assign: &Assign,
        state: &State,
    ) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        let parts = self.parts(key, thread, assign);
        let is_active = |var: &VarId| assign.active.iter().any(|(target, _)| target == var);
        let unassigned: Vec<VarId> = layout.kept.shared.iter().copied().filter(|var| !is_active(var)).collect();
        let mut before = set.and(&layout.fixed(thread, &unassigned, &state.shared)?)?;
        for (other, place) in state.key.iter().enumerate().filter_map(|(at, place)| place.map(|place| (at, place))) {
            let part = parts.iter().find(|(taking, _)| *taking == other).map(|(_, part)| part);
            let is_new = |var: &VarId| {
                if other == thread { is_active(var) } else { part.is_some_and(|part| part.assigns(*var)) }
            };
            let old: Vec<VarId> = layout.kept.at(place.loc).iter().copied().filter(|var| !is_new(var)).collect();
            before = before.and(&layout.fixed(other, &old, &state.locals[other])?)?;
        }
        let kept = layout.kept.at(state.key[thread].expect("the moving thread lives on").loc);
        for (var, rhs) in &assign.active {
            if kept.contains(var) || layout.kept.shared.contains(var) {
                let values = if layout.slots.is_shared(*var) { &state.shared } else { &state.locals[thread] };
                let value = layout.manager.constant(values[layout.slots.get(*var)]);
                before = before.and(&layout.expr(thread, rhs)?.iff(&value)?)?;
            }
        }
        if !assign.constrain.is_passive() {
            before = before.and(&layout.resolved(assign, thread, None, &assign.constrain)?)?;
        }
        let own: Vec<Var> = self.own_choices(assign);
        for (other, part) in &parts {
            let condition = self.condition_on(assign, thread, (*other, part), state)?;
            before = before.and(&condition.exists(&layout.manager.var_set(&own)?)?)?;
        }
        Ok(before)
    }

    /// The choices that each thread that takes part makes for itself.
    fn own_choices(&self, assign: &Assign) -> Vec<Var> {
        let numbers = (0..self.layout.choices.len() as u32).filter(|number| !is_common(assign, *number));
        numbers.map(|number| self.layout.choices[number as usize]).collect()
    }

    /// The condition under which a thread that takes part gets the values that it has.
    fn condition_on(
        &self,
        assign: &Assign,
        mover: usize,
        (other, part): (usize, &Part<'_>),
        state: &State,
    ) -> Result<Bdd, OutOfNodes> {
        let layout = &self.layout;
        let kept = layout.kept.at(state.key[other].expect("a thread that takes part lives").loc);
        let mut condition = layout.manager.top();
        for (var, rhs) in part.assigned.iter().filter(|(var, _)| kept.contains(var)) {
            let value = layout.manager.constant(state.locals[other][layout.slots.get(*var)]);
            let new = layout.resolved(assign, mover, Some((other, part)), rhs)?;
            condition = condition.and(&new.iff(&value)?)?;
        }
        match part.constrain {
            Some(constrain) => condition.and(&layout.resolved(assign, mover, Some((other, part)), constrain)?),
            None => Ok(condition),
        }
    }

    /// Notes the step, and gives the state before it.
    fn made(
        &self,
        builder: &mut TraceBuilder,
        key: &Key,
        thread: usize,
        id: EdgeId,
        picked: Picked,
        mut state: State,
    ) -> Result<State, OutOfNodes> {
        let op = &self.program.edges[id].op;
        let child = started(op, key, &state.key);
        let mut passive = Vec::new();
        if let Op::Assign(assign) = op {
            for (other, part) in self.parts(key, thread, assign) {
                let condition = self.condition_on(assign, thread, (other, &part), &state)?;
                let choices = self.pick_choices(&condition, &picked, &self.own_choices(assign))?;
                passive.push((state.names[other], self.choices_of(id, &choices)));
            }
        }
        let fresh = match (op, child) {
            (Op::Spawn(spawn), Some(child)) => self.open_locals(spawn.callee, &state.locals[child]),
            _ => Vec::new(),
        };
        if key.iter().flatten().any(|place| place.entry().is_none())
            && state.key.iter().flatten().all(|place| place.entry().is_some())
        {
            builder.starts = self.start_threads(&state)?;
        }
        let child = child.map(|child| state.names[child]);
        if matches!(op, Op::End | Op::Return(_)) {
            state.names[thread] = builder.name();
        }
        let mover = state.names[thread];
        let choices = self.choices_of(id, &picked.choices);
        builder.steps.push(BackStep { mover, edge: id, choices, passive, child, fresh });
        Ok(State { key: key.clone(), shared: picked.shared, locals: picked.locals, names: state.names })
    }

    /// The choices of a thread that takes part, where all else is known.
    fn pick_choices(&self, condition: &Bdd, picked: &Picked, own: &[Var]) -> Result<Vec<bool>, OutOfNodes> {
        let layout = &self.layout;
        let mut known: Vec<(Var, bool)> = layout.shared_now().into_iter().zip(picked.shared.iter().copied()).collect();
        for (thread, values) in picked.locals.iter().enumerate() {
            known.extend(layout.locals_now(thread).into_iter().zip(values.iter().copied()));
        }
        let choices = layout.choices.iter().copied().zip(picked.choices.iter().copied());
        known.extend(choices.filter(|(var, _)| !own.contains(var)));
        let picked = condition.and(&layout.manager.cube(&known)?)?.pick(&layout.choices);
        Ok(picked.expect("the other values were picked with this in mind"))
    }

    /// The locals of a started thread that start with any value.
    fn open_locals(&self, callee: ProcId, values: &[bool]) -> Fresh {
        let callee = &self.program.procs[callee];
        let open = callee.locals.iter().copied().filter(|var| !callee.params.contains(var));
        self.kept_values(open, callee.entry, values)
    }

    fn kept_values(&self, vars: impl Iterator<Item = VarId>, loc: LocId, values: &[bool]) -> Fresh {
        let kept = vars.filter(|var| self.layout.kept.at(loc).contains(var));
        kept.map(|var| (var, Value::Bool(values[self.layout.slots.get(var)]))).collect()
    }

    /// The initial threads of a state in which all have just come to life.
    fn start_threads(&self, state: &State) -> Result<Vec<(usize, StartThread)>, OutOfNodes> {
        let mut starts = Vec::new();
        for (thread, place) in state.key.iter().enumerate() {
            let Some(place) = place else { continue };
            let id = place.entry().expect("initial threads have a kind");
            let entry = &self.program.entries[id];
            let is_open = |var: &VarId| !entry.init.iter().any(|(known, _)| known == var);
            let open = entry.thread_vars.iter().copied().filter(is_open);
            let all = open.chain(self.program.procs[entry.proc].locals.iter().copied());
            let fresh = self.kept_values(all, place.loc, &state.locals[thread]);
            let choices = self.initial_choices(&entry.init, state, thread, self.layout.kept.at(place.loc))?;
            starts.push((state.names[thread], StartThread { entry: id, choices, fresh }));
        }
        Ok(starts)
    }

    /// The choices of initial values that lead to the values of a state.
    fn initial_choices(
        &self,
        init: &[(VarId, Expr)],
        state: &State,
        thread: usize,
        kept: &[VarId],
    ) -> Result<Vec<Value>, OutOfNodes> {
        let layout = &self.layout;
        let mut all = layout.fixed(thread, &layout.kept.shared, &state.shared)?;
        for (var, rhs) in init.iter().filter(|(var, _)| kept.contains(var)) {
            let values = if layout.slots.is_shared(*var) { &state.shared } else { &state.locals[thread] };
            let value = layout.manager.constant(values[layout.slots.get(*var)]);
            all = all.and(&layout.expr(thread, rhs)?.iff(&value)?)?;
        }
        let choices = all.pick(&layout.choices).expect("the start was reached with these values");
        let n_choices = choice_types(init.iter().map(|(_, rhs)| rhs)).len();
        Ok(choices[..n_choices].iter().map(|choice| Value::Bool(*choice)).collect())
    }

    /// The start, and with it the whole execution.
    fn finish(&self, mut builder: TraceBuilder, state: State) -> Result<Trace, OutOfNodes> {
        let (layout, program) = (&self.layout, self.program);
        let is_open = |var: &&VarId| !program.init.iter().any(|(known, _)| known == *var);
        let open = layout.kept.shared.iter().filter(is_open);
        let mut fresh: Fresh = open.map(|var| (*var, Value::Bool(state.shared[layout.slots.get(*var)]))).collect();
        let mut first = None;
        match program.prelude {
            Some(proc) => {
                let proc = &program.procs[proc];
                fresh.extend(self.kept_values(proc.locals.iter().copied(), proc.entry, &state.locals[0]));
                first = Some(state.names[0]);
            }
            None => builder.starts = self.start_threads(&state)?,
        }
        let choices = self.initial_choices(&program.init, &state, 0, &layout.kept.shared)?;
        Ok(builder.build(program, first, choices, fresh))
    }
}

/// The place of the thread that a step has started.
fn started(op: &Op, before: &Key, behind: &Key) -> Option<usize> {
    let starts = matches!(op, Op::Fork(_) | Op::Spawn(_));
    (0..before.len()).find(|thread| starts && before[*thread].is_none() && behind[*thread].is_some())
}
