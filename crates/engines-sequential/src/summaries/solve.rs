//! The fixed-point computation of path edges and summaries.

use std::collections::BTreeSet;

use index_vec::IndexVec;
use selvedge_check::{Event, Run, Stop};
use selvedge_ir::callgraph::CallGraph;
use selvedge_ir::flow::Flow;
use selvedge_ir::{EdgeId, LocId, ProcId, Program, Scope, Target, VarId};
use selvedge_logic::bdd::{Bdd, Limits, OutOfNodes};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::layout::{Order, PathLayout, When};
use selvedge_transition::paths::prepare::Prepared;
use selvedge_transition::paths::rings::{Ring, Rings};
use selvedge_transition::step::control::call_at;

/// The entries of procedures to consider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entries {
    /// The reached entries.
    Reached,
    /// All entries, reached or not; errors are ignored.
    All,
    /// The existing entries.
    Given,
}

/// An error that was found.
#[derive(Clone, Debug)]
pub(super) struct MetError {
    pub(super) loc: LocId,
    /// The assertion that fails there; `None` if the location itself is the error.
    pub(super) assert: Option<EdgeId>,
    /// The path edges to the error.
    pub(super) edges: Bdd,
}

/// The treatment of errors.
pub(super) enum OnError {
    /// The first error ends the search.
    End,
    /// Errors are recorded, the first of each location and assertion, and the search continues.
    Record(Vec<MetError>),
}

/// The origin of path edges. The diagrams are those from which they were computed.
pub(super) enum PathOrigin {
    /// The start of the program.
    Start,
    /// The return of the prelude, by this summary.
    Prelude(Bdd),
    /// The step of an assignment or of an assertion that holds.
    Step(EdgeId, Bdd),
    /// A call.
    Call(EdgeId, Bdd),
    /// A return from a call, by this summary.
    Return(EdgeId, Bdd, Bdd),
    /// The assumption that every entry is possible.
    Assumed,
}

/// A part of a summary, with the return edge and the path edges before it from which it was computed.
pub(super) struct SummaryRing {
    pub(super) summary: Bdd,
    pub(super) via: EdgeId,
    pub(super) before: Bdd,
}

/// A unit of work: path edges to follow, or a new part of a summary to apply at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WorkItem {
    Follow(LocId),
    Return(EdgeId),
}

/// The path edges and summaries found so far.
pub(super) struct Solver<'a> {
    pub(super) program: &'a Program,
    pub(super) target: &'a Target,
    run: &'a Run<'a>,
    pub(super) errors: OnError,
    pub(super) layout: PathLayout,
    pub(super) flow: Flow,
    sites: IndexVec<ProcId, Vec<EdgeId>>,
    prepared: IndexVec<EdgeId, Option<Prepared>>,
    /// For each location, the position of its procedure in the call graph, callees first, and its own in the procedure.
    rank: IndexVec<LocId, (u32, u32)>,
    pub(super) edges: IndexVec<LocId, Bdd>,
    /// The part of `edges` that has not been followed.
    waiting: IndexVec<LocId, Bdd>,
    pub(super) rings: IndexVec<LocId, Rings<PathOrigin>>,
    pub(super) summaries: IndexVec<ProcId, Bdd>,
    pub(super) summary_rings: IndexVec<ProcId, Vec<SummaryRing>>,
    /// The part of the callee's summary that has not been applied at a call.
    returns: IndexVec<EdgeId, Option<Bdd>>,
    work: BTreeSet<((u32, u32), WorkItem)>,
    /// The procedures for which [`Solver::enter_with_all_values`] was called.
    pub(super) entered: BTreeSet<ProcId>,
}

impl<'a> Solver<'a> {
    pub(super) fn new(program: &'a Program, target: &'a Target, run: &'a Run<'a>) -> Result<Solver<'a>, Stop> {
        Solver::ordered(program, target, Order::First, run)
    }

    pub(super) fn ordered(
        program: &'a Program,
        target: &'a Target,
        order: Order,
        run: &'a Run<'a>,
    ) -> Result<Solver<'a>, Stop> {
        let calls = CallGraph::new(program);
        let flow = Flow::new(program);
        let layout = PathLayout::new(program, &calls, order, limits(program, run));
        let bottom = layout.manager.bottom();
        let n_locs = program.locs.len();
        Ok(Solver {
            program,
            target,
            run,
            errors: OnError::End,
            sites: program.procs.indices().map(|proc| calls.sites(proc).to_vec()).collect(),
            prepared: program.edges.iter().map(|_| None).collect(),
            rank: calls.ranks(program, &flow),
            edges: IndexVec::from_vec(vec![bottom.clone(); n_locs]),
            waiting: IndexVec::from_vec(vec![bottom.clone(); n_locs]),
            rings: program.locs.iter().map(|_| Rings::default()).collect(),
            summaries: IndexVec::from_vec(vec![bottom; program.procs.len()]),
            summary_rings: program.procs.iter().map(|_| Vec::new()).collect(),
            returns: program.edges.iter().map(|_| None).collect(),
            work: BTreeSet::new(),
            entered: BTreeSet::new(),
            layout,
            flow,
        })
    }

    /// Removes the path edges, so that a second run finds those of reached entries with the existing summaries.
    pub(super) fn forget_all_but_summaries(&mut self) {
        let bottom = self.layout.manager.bottom();
        self.edges.iter_mut().for_each(|edges| *edges = bottom.clone());
        self.rings.iter_mut().for_each(|rings| *rings = Rings::default());
    }

    /// Follows path edges until none is left, or one leads to an error.
    pub(super) fn run(&mut self, entries: Entries) -> Result<Option<MetError>, Stop> {
        self.start(entries).map_err(out_of_nodes)?;
        let mut n_rounds = 0;
        while let Some((_, work)) = self.work.pop_first() {
            self.run.check_limits()?;
            self.layout.manager.tidy();
            n_rounds += 1;
            if n_rounds % 64 == 0 {
                let nodes = self.layout.manager.node_count();
                self.run.event(Event::Diagrams { rounds: n_rounds, waiting: self.work.len(), nodes });
            }
            let error = match work {
                WorkItem::Follow(loc) => self.follow(loc),
                WorkItem::Return(edge) => self.apply_return(edge).map(|()| None),
            };
            let error = error.map_err(out_of_nodes)?;
            if entries != Entries::All && error.is_some() {
                return Ok(error);
            }
        }
        Ok(None)
    }

    fn start(&mut self, entries: Entries) -> Result<(), OutOfNodes> {
        match entries {
            Entries::All => self.program.procs.indices().try_for_each(|proc| self.assume_entries(proc)),
            Entries::Reached => self.start_program(),
            Entries::Given => Ok(()),
        }
    }

    /// Adds all entries of a procedure. Returns whether they were not added before.
    pub(super) fn enter_with_all_values(&mut self, proc: ProcId) -> Result<bool, Stop> {
        self.assume_entries(proc).map_err(out_of_nodes)?;
        Ok(self.entered.insert(proc))
    }

    fn assume_entries(&mut self, proc: ProcId) -> Result<(), OutOfNodes> {
        let identity = self.layout.identity(proc)?;
        self.add(self.program.procs[proc].entry, identity, PathOrigin::Assumed)
    }

    fn start_program(&mut self) -> Result<(), OutOfNodes> {
        let shared = self.layout.initial(&self.program.init)?;
        match self.program.prelude {
            Some(prelude) => {
                self.enter(prelude, &shared.and(&self.unused(&[])?)?, PathOrigin::Start)?;
                let summary = self.summaries[prelude].clone();
                self.start_thread(&summary)
            }
            None => self.start_main(shared, PathOrigin::Start),
        }
    }

    /// Starts the initial thread with the given values of the shared variables.
    fn start_main(&mut self, shared: Bdd, via: PathOrigin) -> Result<(), OutOfNodes> {
        let program = self.program;
        let kind = program.entries.first().expect("a program with one thread has one entry");
        let states = shared.and(&self.layout.initial(&kind.init)?)?.and(&self.unused(&kind.thread_vars)?)?;
        self.enter(kind.proc, &states, via)
    }

    /// Requires the default value for the per-thread variables that a thread does not use: all but some.
    pub(super) fn unused(&self, used: &[VarId]) -> Result<Bdd, OutOfNodes> {
        let unused = self.thread_vars().filter(|var| !used.contains(var));
        let literals: Vec<_> = unused.map(|var| (self.layout.var(var, When::Now), false)).collect();
        self.layout.manager.cube(&literals)
    }

    /// Returns all per-thread variables.
    pub(super) fn thread_vars(&self) -> impl Iterator<Item = VarId> {
        let vars = self.program.vars.iter_enumerated();
        vars.filter(|(_, var)| var.scope == Scope::Thread).map(|(id, _)| id)
    }

    /// Starts the initial thread after each return of the prelude.
    fn start_thread(&mut self, summary: &Bdd) -> Result<(), OutOfNodes> {
        let Some(prelude) = self.program.prelude else { return Ok(()) };
        if summary.is_false() {
            return Ok(());
        }
        let shared = self.after_prelude(prelude, summary)?;
        self.start_main(shared, PathOrigin::Prelude(summary.clone()))
    }

    /// Returns the shared variables when the prelude returns from an initial state.
    fn after_prelude(&self, prelude: ProcId, summary: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (layout, program) = (&self.layout, self.program);
        let modified = layout.scopes[prelude].modified.iter().copied();
        let (shared, own): (Vec<VarId>, Vec<VarId>) =
            modified.partition(|var| program.vars[*var].scope == Scope::Shared);
        let lost = layout.vars(shared.iter().copied(), When::Now);
        let mut forget: Vec<_> = lost.iter().chain(&layout.results).copied().collect();
        forget.extend(layout.vars(self.thread_vars(), When::Now).into_iter().chain(layout.vars(own, When::Next)));
        let pairs: Vec<_> = layout.vars(shared, When::Next).into_iter().zip(lost).collect();
        let initial = layout.initial(&program.init)?.and(&self.unused(&[])?)?;
        let after = initial.and_exists(summary, &layout.manager.var_set(&forget)?)?;
        after.rename(&layout.manager.renaming(&pairs))
    }

    /// Enters a procedure in some states, given over all globals and its parameters.
    fn enter(&mut self, proc: ProcId, states: &Bdd, via: PathOrigin) -> Result<(), OutOfNodes> {
        let touched = &self.layout.scopes[proc].globals;
        let all = self.program.vars.iter_enumerated().filter(|(_, var)| !matches!(var.scope, Scope::Local(_)));
        let untouched = all.map(|(id, _)| id).filter(|id| !touched.contains(id));
        let forget = self.layout.manager.var_set(&self.layout.vars(untouched, When::Now))?;
        let states = states.exists(&forget)?.and(&self.layout.identity(proc)?)?;
        self.add(self.program.procs[proc].entry, states, via)
    }

    /// Adds path edges and queues the new ones. The queued set may contain old ones, which is harmless.
    fn add(&mut self, loc: LocId, edges: Bdd, via: PathOrigin) -> Result<(), OutOfNodes> {
        let known = &self.edges[loc];
        if edges.is_subset(known) {
            return Ok(());
        }
        let new = if known.is_false() { edges.clone() } else { edges.restrict(&known.not()?)? };
        self.edges[loc] = known.or(&edges)?;
        self.waiting[loc] = self.waiting[loc].or(&new)?;
        self.rings[loc].push(Ring { edges: new, via }, &self.edges[loc]);
        self.work.insert((self.rank[loc], WorkItem::Follow(loc)));
        Ok(())
    }

    /// Follows the waiting path edges of a location along all its edges.
    fn follow(&mut self, loc: LocId) -> Result<Option<MetError>, OutOfNodes> {
        let bottom = self.layout.manager.bottom();
        let edges = std::mem::replace(&mut self.waiting[loc], bottom);
        if self.target.has_loc(loc) {
            let error = self.handle_error(MetError { loc, assert: None, edges: edges.clone() });
            if error.is_some() {
                return Ok(error);
            }
        }
        for id in self.flow.out(loc).to_vec() {
            self.prepare(id)?;
            let to = self.program.edges[id].to;
            match self.prepared[id].as_ref().expect("the edge has just been prepared") {
                Prepared::Step(step) => {
                    let image = step.image(&edges)?;
                    self.add(to, image, PathOrigin::Step(id, edges.clone()))?;
                }
                Prepared::Assert { holds, fails } => {
                    let failing = if self.target.has_assert(id) && !edges.is_disjoint(fails) {
                        Some(edges.and(fails)?)
                    } else {
                        None
                    };
                    let image = holds.image(&edges)?;
                    let error = failing.and_then(|edges| self.handle_error(MetError { loc, assert: Some(id), edges }));
                    if error.is_some() {
                        return Ok(error);
                    }
                    self.add(to, image, PathOrigin::Step(id, edges.clone()))?;
                }
                Prepared::Call(_) => self.call(id, &edges)?,
                Prepared::Return(step) => {
                    let summary = step.image(&edges)?;
                    self.add_summary(id, summary, edges.clone())?;
                }
                Prepared::End => {}
            }
        }
        Ok(None)
    }

    /// Enters the callee from path edges at a call, and returns by the summary so far.
    fn call(&mut self, id: EdgeId, edges: &Bdd) -> Result<(), OutOfNodes> {
        let Some(Prepared::Call(call)) = &self.prepared[id] else { unreachable!("the edge is a prepared call") };
        let bound = edges.and(&call.arguments)?;
        let callee = call_at(self.program, id).callee;
        let states = bound.exists(&call.entering.0)?.rename(&call.entering.1)?;
        let states = states.and(&self.layout.identity(callee)?)?;
        let summary = self.summaries[callee].clone();
        let after = call.returned(&bound, &summary)?;
        self.add(self.program.procs[callee].entry, states, PathOrigin::Call(id, edges.clone()))?;
        self.add(self.program.edges[id].to, after, PathOrigin::Return(id, edges.clone(), summary))
    }

    /// Handles an error: returns it if the search ends with it.
    fn handle_error(&mut self, error: MetError) -> Option<MetError> {
        match &mut self.errors {
            OnError::End => Some(error),
            OnError::Record(recorded) => {
                if !recorded.iter().any(|known| (known.loc, known.assert) == (error.loc, error.assert)) {
                    recorded.push(error);
                }
                None
            }
        }
    }

    /// Adds to the summary of the procedure from which an edge returns, and queues it at all its calls.
    fn add_summary(&mut self, via: EdgeId, summary: Bdd, before: Bdd) -> Result<(), OutOfNodes> {
        let proc = self.program.locs[self.program.edges[via].from].proc;
        let known = &self.summaries[proc];
        if summary.is_subset(known) {
            return Ok(());
        }
        self.summaries[proc] = known.or(&summary)?;
        for id in self.sites[proc].clone() {
            let from = self.program.edges[id].from;
            let pending = self.returns[id].take();
            self.returns[id] = Some(pending.map_or(Ok(summary.clone()), |pending| pending.or(&summary))?);
            self.work.insert(((self.rank[from].0, u32::MAX), WorkItem::Return(id)));
        }
        if self.program.prelude == Some(proc) {
            self.start_thread(&summary)?;
        }
        self.summary_rings[proc].push(SummaryRing { summary, via, before });
        Ok(())
    }

    /// Applies the new part of a summary to all path edges at a call.
    fn apply_return(&mut self, id: EdgeId) -> Result<(), OutOfNodes> {
        let Some(summary) = self.returns[id].take() else { return Ok(()) };
        let from = self.program.edges[id].from;
        let edges = self.edges[from].clone();
        if edges.is_false() {
            return Ok(());
        }
        self.prepare(id)?;
        let Some(Prepared::Call(call)) = &self.prepared[id] else { unreachable!("returns are recorded at calls") };
        let after = call.returned(&edges.and(&call.arguments)?, &summary)?;
        self.add(self.program.edges[id].to, after, PathOrigin::Return(id, edges, summary))
    }

    fn prepare(&mut self, id: EdgeId) -> Result<(), OutOfNodes> {
        if self.prepared[id].is_none() {
            self.prepared[id] = Some(self.layout.prepared(self.program, id)?);
        }
        Ok(())
    }

    /// Returns the relation of an edge that is an assignment or an assertion and was followed.
    pub(super) fn relation(&self, id: EdgeId) -> Option<&Bdd> {
        self.prepared[id].as_ref()?.relation()
    }

    /// Stops if a limit is reached.
    pub(super) fn tick(&self) -> Result<(), Stop> {
        self.run.tick()
    }
}

/// Chooses the size of the manager: clearing a large cache would take longer than checking a small program.
fn limits(program: &Program, run: &Run<'_>) -> Limits {
    let limits = run.memory_limit().map_or(Limits::default(), |bytes| Limits::memory(bytes / 2));
    let wanted = (program.edges.len() * (program.vars.len() + 1) * 16).next_power_of_two();
    Limits { cache: limits.cache.min(wanted.max(1 << 12)), ..limits }
}
