//! Reconstructs an execution from an error.
//!
//! Path edges are kept in rings, in the order in which they were found, each with its origin. The first ring that
//! contains a path edge was computed from path edges (and summaries) that were there before; so going back from first
//! ring to first ring ends at the procedure's entry. A call that has returned is one step with the callee's steps as a
//! body, which is built once for each pair of entry and return.

use std::collections::BTreeMap;

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{EdgeId, Entry, EntryId, Expr, LocId, ProcId, Program, Scope, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes, Var};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::back::{Back, Returned, Tuple, holds};
use selvedge_transition::paths::layout::{PathLayout, When};
use selvedge_transition::paths::rings::Ring;
use selvedge_transition::paths::step::value;
use selvedge_transition::step::control::call_at;
use selvedge_transition::trace_builder::waiting_threads;

use super::solve::{MetError, PathOrigin, Solver};

/// Limit on the steps of traces that are written out.
const WRITTEN_OUT: u128 = 5_000;

impl Solver<'_> {
    /// Returns an execution that ends in the error.
    pub(super) fn trace(&self, error: &MetError) -> Result<Trace, Stop> {
        let back = Back { layout: &self.layout, program: self.program, thread: ThreadId(0) };
        let mut builder = TraceBuilder { solver: self, back, bodies: Vec::new(), known: BTreeMap::new() };
        let trace = builder.trace(error)?;
        Ok(if trace.length() <= WRITTEN_OUT { trace.written_out() } else { trace })
    }
}

struct TraceBuilder<'s, 'a> {
    solver: &'s Solver<'a>,
    back: Back<'s>,
    bodies: Vec<Vec<Step>>,
    /// The bodies by procedure and effect, each with the path edge at its entry.
    known: BTreeMap<(ProcId, Tuple), (u32, Tuple)>,
}

impl<'s> TraceBuilder<'s, '_> {
    fn layout(&self) -> &PathLayout {
        &self.solver.layout
    }

    fn program(&self) -> &Program {
        self.solver.program
    }

    /// Goes back from the error through the frames of the stack to the start.
    fn trace(&mut self, error: &MetError) -> Result<Trace, Stop> {
        let proc = self.program().locs[error.loc].proc;
        let mut tuple = self.back.pick(&error.edges, &self.back.frame_vars(proc, &[]));
        let mut loc = error.loc;
        let mut steps = Vec::new();
        if let Some(assert) = error.assert {
            steps.push(self.back.failing(assert, &tuple).map_err(out_of_nodes)?);
        }
        loop {
            let (mut before, entry, ring) = self.path(loc, tuple)?;
            before.extend(steps);
            steps = before;
            match &ring.via {
                PathOrigin::Call(edge, callers) => {
                    let (caller, step) = self.back.call_into(*edge, callers, &entry, &[]).map_err(out_of_nodes)?;
                    steps.insert(0, step);
                    (loc, tuple) = (self.program().edges[*edge].from, caller);
                }
                PathOrigin::Start => {
                    let start = self.start(&entry).map_err(out_of_nodes)?;
                    return Ok(Trace { start, steps, bodies: std::mem::take(&mut self.bodies) });
                }
                PathOrigin::Prelude(summary) => return self.with_prelude(&entry, summary, steps),
                PathOrigin::Step(..) | PathOrigin::Return(..) | PathOrigin::Assumed => {
                    unreachable!("paths begin at reached entries")
                }
            }
        }
    }

    /// Returns the steps from the entry of the procedure to a path edge at one of its locations, the path edge at the
    /// entry, and its origin.
    fn path(&mut self, loc: LocId, tuple: Tuple) -> Result<(Vec<Step>, Tuple, &'s Ring<PathOrigin>), Stop> {
        let solver = self.solver;
        let (mut loc, mut tuple, mut steps) = (loc, tuple, Vec::new());
        loop {
            solver.tick()?;
            let ring = solver.rings[loc].first(|edges| holds(edges, &tuple));
            let ring = ring.expect("every path edge lies in a ring");
            let (edge, before, step) = match &ring.via {
                PathOrigin::Step(edge, before) => {
                    let relation = solver.relation(*edge).expect("the edge was followed");
                    let (before, step) = self.back.step_back(*edge, relation, before, &tuple).map_err(out_of_nodes)?;
                    (*edge, before, step)
                }
                PathOrigin::Return(edge, before, summary) => {
                    let (before, step) = self.back_call(*edge, before, summary, &tuple)?;
                    (*edge, before, step)
                }
                PathOrigin::Start | PathOrigin::Prelude(_) | PathOrigin::Call(..) | PathOrigin::Assumed => {
                    steps.reverse();
                    return Ok((steps, tuple, ring));
                }
            };
            steps.push(step);
            (loc, tuple) = (self.program().edges[edge].from, before);
        }
    }

    /// Returns a path edge before a call that has returned by a summary, and the call with its body.
    fn back_call(&mut self, edge: EdgeId, before: &Bdd, summary: &Bdd, after: &Tuple) -> Result<(Tuple, Step), Stop> {
        let call = call_at(self.solver.program, edge);
        let returned = Returned { edge, before, summary, histories: [&[], &[]] };
        let (before, effect) = self.back.before_call(&returned, after).map_err(out_of_nodes)?;
        let (body, entry) = self.body(call.callee, &effect)?;
        let mut step = self.back.calling(edge, call, &before, &effect, &entry).map_err(out_of_nodes)?;
        step.body = Some(body);
        Ok((before, step))
    }

    /// Returns the body of a call with this effect, and the path edge at its entry.
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

    /// Returns the steps of a procedure from its entry through a return with this effect, and the path edge at the
    /// entry.
    fn returning(&mut self, proc: ProcId, effect: &Tuple) -> Result<(Vec<Step>, Tuple), Stop> {
        let solver = self.solver;
        let ring = solver.summary_rings[proc].iter().find(|ring| holds(&ring.summary, effect));
        let ring = ring.expect("every part of a summary lies in a ring");
        let (last, step) = self.back.before_return(ring.via, &ring.before, effect, &[]).map_err(out_of_nodes)?;
        let (mut steps, entry, _) = self.path(solver.program.edges[ring.via].from, last)?;
        steps.push(step);
        Ok((steps, entry))
    }

    /// Returns the start of a run whose first thread, or prelude, begins with this path edge. Threads behind a prelude
    /// do not begin then.
    fn start(&self, entry: &Tuple) -> Result<Start, OutOfNodes> {
        let (program, initial) = (self.program(), self.layout().initial(&self.program().init)?);
        match program.prelude {
            Some(prelude) => {
                let values = self.globals_at(&initial.and(&self.solver.unused(&[])?)?, entry)?;
                let start = self.start_with(&values, waiting_threads(program))?;
                Ok(with_locals(start, self.back.fresh_locals(prelude, entry)))
            }
            None => {
                let of_thread = self.layout().initial(&self.kind().init)?;
                let values = self.globals_at(&initial.and(&of_thread)?, entry)?;
                self.start_with(&values, vec![self.thread(entry, &values)?])
            }
        }
    }

    /// Returns the start of a run in which the globals have these values.
    fn start_with(&self, values: &Tuple, threads: Vec<StartThread>) -> Result<Start, OutOfNodes> {
        let init = &self.program().init;
        let fresh = self.fresh(self.shared(), init, values);
        Ok(Start { choices: self.back.initial_choices(init, values)?, fresh, threads })
    }

    /// Returns the beginning of the initial thread with this path edge, while the globals have these values.
    fn thread(&self, entry: &Tuple, values: &Tuple) -> Result<StartThread, OutOfNodes> {
        let (layout, program, kind) = (self.layout(), self.program(), self.kind());
        let mut fresh = self.fresh(kind.thread_vars.clone(), &kind.init, values);
        let params = program.procs[kind.proc].params.iter();
        fresh.extend(params.map(|param| (*param, value(entry[&layout.var(*param, When::Now)]))));
        fresh.extend(self.back.fresh_locals(kind.proc, entry));
        let choices = self.back.initial_choices(&kind.init, values)?;
        Ok(StartThread { entry: EntryId::new(0), choices, fresh })
    }

    /// Picks values of all globals from a set, among those of a path edge at an entry.
    fn globals_at(&self, set: &Bdd, entry: &Tuple) -> Result<Tuple, OutOfNodes> {
        let globals = self.layout().vars(self.globals(), When::Now);
        let known = globals.iter().filter_map(|var| Some((*var, *entry.get(var)?))).collect();
        Ok(self.back.pick(&set.and(&self.back.cube(&known)?)?, &globals))
    }

    /// Returns the values of those variables that no initial value is given for.
    fn fresh(&self, vars: Vec<VarId>, init: &[(VarId, Expr)], values: &Tuple) -> Fresh {
        let open = vars.into_iter().filter(|var| !init.iter().any(|(initialised, _)| initialised == var));
        open.map(|var| (var, value(values[&self.layout().var(var, When::Now)]))).collect()
    }

    /// Returns the trace of a thread that begins with this path edge after the prelude has returned by a summary. The
    /// steps so far are those of the thread, with number 1; the prelude's thread has number 0.
    fn with_prelude(&mut self, entry: &Tuple, summary: &Bdd, mut steps: Vec<Step>) -> Result<Trace, Stop> {
        let prelude = self.program().prelude.expect("a prelude has returned");
        let (start, effect) = self.through_prelude(prelude, entry, summary).map_err(out_of_nodes)?;
        steps.iter_mut().chain(self.bodies.iter_mut().flatten()).for_each(|step| step.thread = ThreadId(1));
        self.known.clear();
        let (mut all, first) = self.returning(prelude, &effect)?;
        all.extend(steps);
        let start = with_locals(start, self.back.fresh_locals(prelude, &first));
        Ok(Trace { start, steps: all, bodies: std::mem::take(&mut self.bodies) })
    }

    /// Returns the start of a run that leads through the prelude to this path edge, and the effect of the prelude.
    fn through_prelude(&self, prelude: ProcId, entry: &Tuple, summary: &Bdd) -> Result<(Start, Tuple), OutOfNodes> {
        let (layout, program, kind) = (self.layout(), self.program(), self.kind());
        let modified = &layout.scopes[prelude].modified;
        let after = |var: VarId| layout.var(var, if modified.contains(&var) { When::Next } else { When::Now });
        let touched = layout.scopes[kind.proc].globals.iter().copied();
        let touched = touched.filter(|var| program.vars[*var].scope == Scope::Shared);
        let known = touched.map(|var| (after(var), entry[&layout.var(var, When::Now)])).collect();
        let thread_init = self.thread_init(kind, modified, entry)?;
        let initial = layout.initial(&program.init)?.and(&self.solver.unused(&[])?)?;
        let found = initial.and(summary)?.and(&self.back.cube(&known)?)?.and(&thread_init)?;
        let (before, effect) = (layout.vars(self.globals(), When::Now), self.back.summary_vars(prelude, &[]));
        let picked = self.back.pick(&found, &before.iter().chain(&effect).copied().collect::<Vec<_>>());
        let shared = self.shared().into_iter();
        let at_begin = shared.map(|var| (layout.var(var, When::Now), picked[&after(var)])).collect();
        let at_begin = self.back.cube(&at_begin)?.and(&layout.initial(&kind.init)?)?;
        let thread = self.thread(entry, &self.globals_at(&at_begin, entry)?)?;
        let start = self.start_with(&picked, vec![thread])?;
        Ok((start, effect.iter().map(|var| (*var, picked[var])).collect()))
    }

    /// Returns the shared variables after the prelude with which a thread of this path edge can start: those that its
    /// initial values read are part of the path edge's history.
    fn thread_init(&self, kind: &Entry, modified: &[VarId], entry: &Tuple) -> Result<Bdd, OutOfNodes> {
        let layout = self.layout();
        let after: Vec<(Var, Var)> =
            modified.iter().map(|var| (layout.var(*var, When::Now), layout.var(*var, When::Next))).collect();
        let touched = layout.scopes[kind.proc].globals.iter();
        let thread_vars = touched.filter(|var| self.program().vars[**var].scope == Scope::Thread);
        let of_thread =
            thread_vars.map(|var| (layout.var(*var, When::Now), entry[&layout.var(*var, When::Now)])).collect();
        let init = layout.initial(&kind.init)?.and(&self.back.cube(&of_thread)?)?;
        let own = layout.vars(self.solver.thread_vars(), When::Now);
        init.exists(&layout.manager.var_set(&own)?)?.rename(&layout.manager.renaming(&after))
    }

    fn kind(&self) -> &'s Entry {
        self.solver.program.entries.first().expect("a program with one thread has one entry")
    }

    fn globals(&self) -> Vec<VarId> {
        let is_global = |var: &VarId| !matches!(self.program().vars[*var].scope, Scope::Local(_));
        self.program().vars.indices().filter(is_global).collect()
    }

    fn shared(&self) -> Vec<VarId> {
        let is_shared = |var: &VarId| self.program().vars[*var].scope == Scope::Shared;
        self.program().vars.indices().filter(is_shared).collect()
    }
}

/// Adds the locals with which the prelude begins.
fn with_locals(mut start: Start, locals: Fresh) -> Start {
    start.fresh.extend(locals);
    start
}
