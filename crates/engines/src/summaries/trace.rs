//! From an error back to the start.
//!
//! Path edges are kept in rings, in the order in which they were found, each with the way in which it was found. A path
//! edge lies for the first time in some ring, and was computed from path edges (and summaries) that were there before;
//! so going back from first ring to first ring ends at the procedure's entry. A call that has returned is one step with
//! the callee's steps as a body, which is built once for each pair of entry and return.

use std::collections::BTreeMap;

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{Assign, Call, EdgeId, EntryId, Expr, LocId, Op, ProcId, Program, Scope, Value, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};

use super::layout::{Layout, When};
use super::solve::{Error, Ring, Solver, Via, callee};
use super::step::value;
use crate::out_of_nodes;

/// Traces with at most this many steps are written out.
const WRITTEN_OUT: u128 = 5_000;

/// A path edge, or a part of a summary: values of variables of the diagrams.
type Tuple = BTreeMap<Var, bool>;

impl Solver<'_> {
    /// An execution that ends in the error.
    pub(super) fn trace(&self, error: &Error) -> Result<Trace, Stop> {
        let thread = ThreadId(u32::from(self.program.prelude.is_some()));
        let mut builder = Builder { solver: self, thread, bodies: Vec::new(), known: BTreeMap::new() };
        let trace = builder.trace(error)?;
        Ok(if trace.length() <= WRITTEN_OUT { trace.written_out() } else { trace })
    }
}

struct Builder<'s, 'a> {
    solver: &'s Solver<'a>,
    /// The thread that moves.
    thread: ThreadId,
    bodies: Vec<Vec<Step>>,
    /// The bodies by procedure and effect, each with the path edge at its entry.
    known: BTreeMap<(ProcId, Tuple), (u32, Tuple)>,
}

impl<'s> Builder<'s, '_> {
    fn layout(&self) -> &Layout {
        &self.solver.layout
    }

    fn program(&self) -> &Program {
        self.solver.program
    }

    /// Goes back from the error through the frames of the stack to the start.
    fn trace(&mut self, error: &Error) -> Result<Trace, Stop> {
        let proc = self.program().locs[error.loc].proc;
        let mut tuple = self.pick(&error.edges, &self.frame_vars(proc));
        let mut loc = error.loc;
        let mut steps = Vec::new();
        if let Some(assert) = error.assert {
            let Op::Assert(condition) = &self.program().edges[assert].op else { unreachable!("only assertions fail") };
            let fails = self.evaluate(&Expr::negate(condition.clone()), &tuple, None).map_err(out_of_nodes)?;
            steps.push(self.step(assert, &fails));
        }
        loop {
            let (mut before, entry, ring) = self.path(loc, tuple)?;
            before.extend(steps);
            steps = before;
            match &ring.via {
                Via::Call(edge, callers) => {
                    let (caller, step) = self.call_into(*edge, callers, &entry).map_err(out_of_nodes)?;
                    steps.insert(0, step);
                    (loc, tuple) = (self.program().edges[*edge].from, caller);
                }
                Via::Start => {
                    let start = self.start(&entry, None).map_err(out_of_nodes)?.0;
                    return Ok(Trace { start, steps, bodies: std::mem::take(&mut self.bodies) });
                }
                Via::Prelude(summary) => return self.with_prelude(&entry, summary, steps),
                Via::Step(..) | Via::Return(..) | Via::Assumed => unreachable!("paths begin at reached entries"),
            }
        }
    }

    /// The steps from the entry of the procedure to a path edge at one of its locations, the path edge at the entry, and
    /// how that came about.
    fn path(&mut self, loc: LocId, tuple: Tuple) -> Result<(Vec<Step>, Tuple, &'s Ring), Stop> {
        let solver = self.solver;
        let (mut loc, mut tuple, mut steps) = (loc, tuple, Vec::new());
        loop {
            solver.tick()?;
            let ring = solver.rings[loc].first(|edges| holds(edges, &tuple));
            let ring = ring.expect("every path edge lies in a ring");
            let (edge, before, step) = match &ring.via {
                Via::Step(edge, before) => {
                    let (before, step) = self.back_step(*edge, before, &tuple).map_err(out_of_nodes)?;
                    (*edge, before, step)
                }
                Via::Return(edge, before, summary) => {
                    let (before, step) = self.back_call(*edge, before, summary, &tuple)?;
                    (*edge, before, step)
                }
                Via::Start | Via::Prelude(_) | Via::Call(..) | Via::Assumed => {
                    steps.reverse();
                    return Ok((steps, tuple, ring));
                }
            };
            steps.push(step);
            (loc, tuple) = (self.program().edges[edge].from, before);
        }
    }

    /// A path edge before an assignment or assertion, among some, that leads to one after it.
    fn back_step(&self, edge: EdgeId, before: &Bdd, after: &Tuple) -> Result<(Tuple, Step), OutOfNodes> {
        let assign = match &self.program().edges[edge].op {
            Op::Assign(assign) => assign.clone(),
            Op::Assert(condition) => Assign::assume(condition.clone()),
            _ => Assign::skip(),
        };
        let layout = self.layout();
        let targets: Vec<VarId> = assign.active.iter().map(|(var, _)| *var).collect();
        let now = layout.vars(targets.iter().copied(), When::Now);
        let kept: Tuple =
            after.iter().filter(|(var, _)| !now.contains(var)).map(|(var, value)| (*var, *value)).collect();
        let next =
            targets.iter().map(|var| (layout.var(*var, When::Next), after[&layout.var(*var, When::Now)])).collect();
        let relation = self.solver.relation(edge).expect("the edge was followed").and(&self.cube(&next)?)?;
        let proc = self.program().locs[self.program().edges[edge].from].proc;
        let found = before.and(&self.cube(&kept)?)?.and(&relation)?;
        let before = self.pick(&found, &self.frame_vars(proc));
        let mut choices = self.evaluate(&layout.constrain(&assign), &before, Some(after))?;
        for (var, rhs) in &assign.active {
            let wanted = layout.manager.constant(after[&layout.var(*var, When::Now)]);
            choices = choices.and(&self.evaluate(rhs, &before, None)?.iff(&wanted)?)?;
        }
        Ok((before, self.step(edge, &choices)))
    }

    /// A path edge before a call that has returned by a summary, and the call with its body.
    fn back_call(&mut self, edge: EdgeId, before: &Bdd, summary: &Bdd, after: &Tuple) -> Result<(Tuple, Step), Stop> {
        let program = self.solver.program;
        let Op::Call(call) = &program.edges[edge].op else { unreachable!("only calls return") };
        let (before, effect) = self.before_call(edge, call, before, summary, after).map_err(out_of_nodes)?;
        let (body, entry) = self.body(call.callee, &effect)?;
        let mut step = self.calling(edge, call, &before, &effect, &entry).map_err(out_of_nodes)?;
        step.body = Some(body);
        Ok((before, step))
    }

    /// A path edge at a call, and the part of the summary that leads from it to one behind the call.
    fn before_call(
        &self,
        edge: EdgeId,
        call: &Call,
        before: &Bdd,
        summary: &Bdd,
        after: &Tuple,
    ) -> Result<(Tuple, Tuple), OutOfNodes> {
        let (layout, program) = (self.layout(), self.program());
        let modified = &layout.scopes[call.callee].modified;
        let written: Vec<VarId> = call.results.iter().flatten().copied().collect();
        let lost = layout.vars(modified.iter().chain(&written).copied(), When::Now);
        let mut known: Tuple =
            after.iter().filter(|(var, _)| !lost.contains(var)).map(|(var, value)| (*var, *value)).collect();
        for var in modified.iter().filter(|var| !written.contains(var)) {
            known.insert(layout.var(*var, When::Next), after[&layout.var(*var, When::Now)]);
        }
        for (result, var) in layout.results.iter().zip(&call.results) {
            if let Some(var) = var {
                known.insert(*result, after[&layout.var(*var, When::Now)]);
            }
        }
        let arguments = layout.arguments(program, call)?;
        let found = before.and(&arguments)?.and(&self.cube(&known)?)?.and(summary)?;
        let caller = program.locs[program.edges[edge].from].proc;
        let (frame, effect) = (self.frame_vars(caller), self.summary_vars(call.callee));
        let all: Vec<Var> = frame.iter().chain(&effect).copied().collect();
        let picked = self.pick(&found, &all);
        let part = |vars: &[Var]| vars.iter().map(|var| (*var, picked[var])).collect();
        Ok((part(&frame), part(&effect)))
    }

    /// The body of a call with this effect, and the path edge at its entry.
    fn body(&mut self, proc: ProcId, effect: &Tuple) -> Result<(u32, Tuple), Stop> {
        let key = (proc, effect.clone());
        if let Some((body, entry)) = self.known.get(&key) {
            return Ok((*body, entry.clone()));
        }
        let (steps, entry) = self.returning(proc, effect)?;
        let body = self.bodies.len() as u32;
        self.bodies.push(steps);
        self.known.insert(key, (body, entry.clone()));
        Ok((body, entry))
    }

    /// The steps of a procedure from its entry through a return with this effect, and the path edge at the entry.
    fn returning(&mut self, proc: ProcId, effect: &Tuple) -> Result<(Vec<Step>, Tuple), Stop> {
        let solver = self.solver;
        let ring = solver.summary_rings[proc].iter().find(|ring| holds(&ring.summary, effect));
        let ring = ring.expect("every part of a summary lies in a ring");
        let (last, step) = self.before_return(proc, ring.via, &ring.before, effect).map_err(out_of_nodes)?;
        let (mut steps, entry, _) = self.path(solver.program.edges[ring.via].from, last)?;
        steps.push(step);
        Ok((steps, entry))
    }

    /// A path edge before a return that has this effect, and the return.
    fn before_return(
        &self,
        proc: ProcId,
        edge: EdgeId,
        before: &Bdd,
        effect: &Tuple,
    ) -> Result<(Tuple, Step), OutOfNodes> {
        let (layout, program) = (self.layout(), self.program());
        let Op::Return(values) = &program.edges[edge].op else { unreachable!("summaries come from returns") };
        let scope = &layout.scopes[proc];
        let mut known = Tuple::new();
        for var in &scope.globals {
            let at_entry = effect[&layout.var(*var, When::Now)];
            if scope.modified.contains(var) {
                known.insert(layout.var(*var, When::Entry), at_entry);
                known.insert(layout.var(*var, When::Now), effect[&layout.var(*var, When::Next)]);
            } else {
                known.insert(layout.var(*var, When::Now), at_entry);
            }
        }
        for var in &program.procs[proc].params {
            let when = if scope.modified_params.contains(var) { When::Entry } else { When::Now };
            known.insert(layout.var(*var, when), effect[&layout.var(*var, When::Next)]);
        }
        let results: Tuple = layout.results.iter().zip(values).map(|(result, _)| (*result, effect[result])).collect();
        let relation = layout.returning(program, proc, values)?.relation.and(&self.cube(&results)?)?;
        let found = before.and(&self.cube(&known)?)?.and(&relation)?;
        let last = self.pick(&found, &self.frame_vars(proc));
        let mut choices = layout.manager.verum();
        for (result, value) in layout.results.iter().zip(values) {
            let wanted = layout.manager.constant(effect[result]);
            choices = choices.and(&self.evaluate(value, &last, None)?.iff(&wanted)?)?;
        }
        Ok((last, self.step(edge, &choices)))
    }

    /// A path edge at a call that enters the callee in this way, and the call, which has not returned.
    fn call_into(&self, edge: EdgeId, callers: &Bdd, entry: &Tuple) -> Result<(Tuple, Step), OutOfNodes> {
        let (layout, program) = (self.layout(), self.program());
        let Op::Call(call) = &program.edges[edge].op else { unreachable!("only calls enter procedures") };
        let globals = layout.scopes[call.callee].globals.iter().map(|var| layout.var(*var, When::Now));
        let mut known: Tuple = globals.map(|var| (var, entry[&var])).collect();
        for param in &program.procs[call.callee].params {
            known.insert(layout.var(*param, When::Next), entry[&layout.var(*param, When::Now)]);
        }
        let found = callers.and(&layout.arguments(program, call)?)?.and(&self.cube(&known)?)?;
        let caller = self.pick(&found, &self.frame_vars(program.locs[program.edges[edge].from].proc));
        let step = self.calling(edge, call, &caller, &known, entry)?;
        Ok((caller, step))
    }

    /// The call itself: its arguments are those of the effect, the callee's other locals start as at its entry.
    fn calling(
        &self,
        edge: EdgeId,
        call: &Call,
        caller: &Tuple,
        effect: &Tuple,
        entry: &Tuple,
    ) -> Result<Step, OutOfNodes> {
        let layout = self.layout();
        let mut choices = layout.manager.verum();
        for (param, arg) in self.program().procs[call.callee].params.iter().zip(&call.args) {
            let wanted = layout.manager.constant(effect[&layout.var(*param, When::Next)]);
            choices = choices.and(&self.evaluate(arg, caller, None)?.iff(&wanted)?)?;
        }
        Ok(Step { fresh: self.fresh_locals(callee(self.program(), edge), entry), ..self.step(edge, &choices) })
    }

    /// The locals of a procedure that start with any value, as they are at a path edge.
    fn fresh_locals(&self, proc: ProcId, entry: &Tuple) -> Fresh {
        let proc = &self.program().procs[proc];
        let fresh = proc.locals.iter().filter(|local| !proc.params.contains(local));
        fresh.map(|local| (*local, value(entry[&self.layout().var(*local, When::Now)]))).collect()
    }

    /// The start of a run whose thread begins with this path edge; after a prelude, from these values of the globals.
    /// Also the values of all globals when the thread begins.
    fn start(&self, entry: &Tuple, prelude: Option<&Tuple>) -> Result<(Start, Tuple), OutOfNodes> {
        let (layout, program) = (self.layout(), self.program());
        let kind = program.entries.first().expect("a program with one thread has one kind of thread");
        let globals = self.globals();
        let at_start = match prelude {
            Some(values) => self.cube(values)?,
            None => self.solver.initial(&program.init)?,
        };
        let known = globals
            .iter()
            .filter_map(|var| Some((layout.var(*var, When::Now), *entry.get(&layout.var(*var, When::Now))?)));
        let known = self.cube(&known.collect())?;
        let found = at_start.and(&self.solver.initial(&kind.init)?)?.and(&known)?;
        let values = self.pick(&found, &layout.vars(globals.iter().copied(), When::Now));
        let of_scope = |scope: Scope| globals.iter().copied().filter(move |var| program.vars[*var].scope == scope);
        let fresh = |vars: &mut dyn Iterator<Item = VarId>, init: &[(VarId, Expr)]| -> Fresh {
            let open = vars.filter(|var| !init.iter().any(|(initialised, _)| initialised == var));
            open.map(|var| (var, value(values[&layout.var(var, When::Now)]))).collect()
        };
        let params = program.procs[kind.proc].params.iter();
        let mut of_thread =
            fresh(&mut of_scope(Scope::Thread).filter(|var| kind.thread_vars.contains(var)), &kind.init);
        of_thread.extend(params.map(|param| (*param, value(entry[&layout.var(*param, When::Now)]))));
        of_thread.extend(self.fresh_locals(kind.proc, entry));
        let choices = self.initial_choices(&kind.init, &values)?;
        let thread = StartThread { entry: EntryId::new(0), choices, fresh: of_thread };
        let start = Start {
            choices: self.initial_choices(&program.init, &values)?,
            fresh: fresh(&mut of_scope(Scope::Shared), &program.init),
            threads: vec![thread],
        };
        Ok((start, values))
    }

    /// The choices that give these initial values.
    fn initial_choices(&self, init: &[(VarId, Expr)], values: &Tuple) -> Result<Vec<Value>, OutOfNodes> {
        let layout = self.layout();
        let mut choices = layout.manager.verum();
        for (var, rhs) in init {
            let wanted = layout.manager.constant(values[&layout.var(*var, When::Now)]);
            choices = choices.and(&self.evaluate(rhs, values, None)?.iff(&wanted)?)?;
        }
        let n_choices = selvedge_ir::visit::choice_types(init.iter().map(|(_, rhs)| rhs)).len();
        Ok(self.choose(&choices, n_choices))
    }

    /// The trace of a thread that begins with this path edge after the prelude has returned by a summary.
    fn with_prelude(&mut self, entry: &Tuple, summary: &Bdd, steps: Vec<Step>) -> Result<Trace, Stop> {
        let prelude = self.program().prelude.expect("a prelude has returned");
        let (start, effect) = self.through_prelude(prelude, entry, summary).map_err(out_of_nodes)?;
        self.thread = ThreadId(0);
        let (mut all, first) = self.returning(prelude, &effect)?;
        let locals = self.fresh_locals(prelude, &first);
        all.extend(steps);
        let fresh = start.fresh.into_iter().chain(locals).collect();
        Ok(Trace { start: Start { fresh, ..start }, steps: all, bodies: std::mem::take(&mut self.bodies) })
    }

    /// The start of a run that leads through the prelude to this path edge, and the effect of the prelude.
    fn through_prelude(&self, prelude: ProcId, entry: &Tuple, summary: &Bdd) -> Result<(Start, Tuple), OutOfNodes> {
        let layout = self.layout();
        let kind = self.program().entries.first().expect("a program with one thread has one kind of thread");
        let touched = &layout.scopes[kind.proc].globals;
        let modified = &layout.scopes[prelude].modified;
        let mut known = Tuple::new();
        for var in touched.iter().filter(|var| self.program().vars[**var].scope == Scope::Shared) {
            let when = if modified.contains(var) { When::Next } else { When::Now };
            known.insert(layout.var(*var, when), entry[&layout.var(*var, When::Now)]);
        }
        // What the thread's initial values read of the shared variables is part of the path edge's history.
        let after: Vec<(Var, Var)> =
            modified.iter().map(|var| (layout.var(*var, When::Now), layout.var(*var, When::Next))).collect();
        let thread_init = self.solver.initial(&kind.init)?;
        let thread_vars = touched.iter().filter(|var| self.program().vars[**var].scope == Scope::Thread);
        let of_thread =
            thread_vars.map(|var| (layout.var(*var, When::Now), entry[&layout.var(*var, When::Now)])).collect();
        let thread_init = thread_init.and(&self.cube(&of_thread)?)?;
        let own = layout.vars(kind.init.iter().map(|(var, _)| *var), When::Now);
        let thread_init =
            thread_init.exists(&layout.manager.var_set(&own)?)?.rename(&layout.manager.renaming(&after))?;
        let found =
            self.solver.initial(&self.program().init)?.and(summary)?.and(&self.cube(&known)?)?.and(&thread_init)?;
        let shared: Vec<VarId> =
            self.globals().into_iter().filter(|var| self.program().vars[*var].scope == Scope::Shared).collect();
        let (before, effect_vars) = (layout.vars(shared.iter().copied(), When::Now), self.summary_vars(prelude));
        let picked = self.pick(&found, &before.iter().chain(&effect_vars).copied().collect::<Vec<_>>());
        let at_thread_start = shared.iter().map(|var| {
            let when = if modified.contains(var) { When::Next } else { When::Now };
            (layout.var(*var, When::Now), picked[&layout.var(*var, when)])
        });
        let (mut start, _) = self.start(entry, Some(&at_thread_start.collect()))?;
        let first: Tuple = before.iter().map(|var| (*var, picked[var])).collect();
        start.choices = self.initial_choices(&self.program().init, &first)?;
        let init = &self.program().init;
        let open = shared.iter().filter(|var| !init.iter().any(|(initialised, _)| initialised == *var));
        start.fresh = open.map(|var| (*var, value(first[&layout.var(*var, When::Now)]))).collect();
        Ok((start, effect_vars.iter().map(|var| (*var, picked[var])).collect()))
    }

    fn globals(&self) -> Vec<VarId> {
        let is_global = |var: &VarId| !matches!(self.program().vars[*var].scope, Scope::Local(_));
        self.program().vars.indices().filter(is_global).collect()
    }

    /// The variables of the diagrams for the path edges of a procedure.
    fn frame_vars(&self, proc: ProcId) -> Vec<Var> {
        let layout = self.layout();
        let now = layout.vars(layout.visible(self.program(), proc), When::Now);
        now.into_iter().chain(layout.vars(layout.scopes[proc].with_entry_copy(), When::Entry)).collect()
    }

    /// The variables of the diagrams for the summary of a procedure.
    fn summary_vars(&self, proc: ProcId) -> Vec<Var> {
        let (layout, this) = (self.layout(), &self.program().procs[proc]);
        let mut vars = layout.vars(layout.scopes[proc].globals.iter().copied(), When::Now);
        vars.extend(layout.vars(layout.scopes[proc].modified.iter().copied(), When::Next));
        vars.extend(layout.vars(this.params.iter().copied(), When::Next));
        vars.extend(&layout.results[..this.results.len()]);
        vars
    }

    /// Some tuple of a set that is not empty.
    fn pick(&self, set: &Bdd, vars: &[Var]) -> Tuple {
        let values = set.pick(vars).expect("a way back exists for everything that was found");
        vars.iter().copied().zip(values).collect()
    }

    fn cube(&self, tuple: &Tuple) -> Result<Bdd, OutOfNodes> {
        let literals: Vec<(Var, bool)> = tuple.iter().map(|(var, value)| (*var, *value)).collect();
        self.layout().manager.cube(&literals)
    }

    /// An expression in a state, over its choices; `after` gives the values of the variables after the step.
    fn evaluate(&self, expr: &Expr, now: &Tuple, after: Option<&Tuple>) -> Result<Bdd, OutOfNodes> {
        let layout = self.layout();
        layout.expr_in(expr, &|leaf| match (leaf, after) {
            (Expr::Var(var), _) => now[&layout.var(*var, When::Now)],
            (Expr::Next(var), Some(after)) => after[&layout.var(*var, When::Now)],
            _ => unreachable!("only conditions of assignments speak of the next state"),
        })
    }

    /// A step along an edge, with choices that satisfy a condition.
    fn step(&self, edge: EdgeId, condition: &Bdd) -> Step {
        let n_choices = self.program().edges[edge].op.choices().len();
        let choices = self.choose(condition, n_choices);
        Step { thread: self.thread, edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None }
    }

    fn choose(&self, condition: &Bdd, n_choices: usize) -> Vec<Value> {
        let choices = condition.pick(&self.layout().choices[..n_choices]);
        choices.expect("the step was found").into_iter().map(value).collect()
    }
}

fn holds(set: &Bdd, tuple: &Tuple) -> bool {
    set.eval(|var| tuple.get(&var).copied().unwrap_or(false))
}
