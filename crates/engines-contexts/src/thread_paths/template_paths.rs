//! The path edges of one template of threads, context by context.
//!
//! The relation H of the paper relates the data state of a thread in its `k`th context to the state at the entry of the
//! running procedure, given the shared states with which all its contexts began; it has three vectors of `k` shared
//! states. Here a path edge has the *history* of the thread (the states with which its contexts began, and those with
//! which all but the last ended), the state at the entry, and the current state. The vectors of the paper follow: the
//! part that the entry saw of earlier contexts is the history up to the context in which it was entered, which is part
//! of the [`Level`], and the states in between are in the history as well.
//!
//! Summaries are keyed by the whole history, so a summary applies only to callers with the same history: this keeps the
//! effect of a call tied to what the other threads confirmed (`lazy_summary_context`).

use std::collections::{BTreeMap, BTreeSet};

use selvedge_check::{Event, Stop};
use selvedge_ir::{EdgeId, Expr, LocId, Op, ProcId, Scope, VarId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::layout::When;
use selvedge_transition::paths::prepare::{Prepared, PreparedCall};
use selvedge_transition::paths::rings::{Ring, Rings};

use super::columns::Side;
use super::shared_model::SharedModel;

/// The contexts of a frame: that in which it was entered, and the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level {
    pub(crate) entered: u32,
    pub(crate) now: u32,
}

impl Level {
    /// No history: private procedures, and the code before the threads.
    pub(crate) const NONE: Level = Level { entered: 0, now: 0 };
}

/// The origin of path edges. The diagrams are those from which they were computed.
pub(crate) enum EdgeOrigin {
    /// The start of the thread.
    Start,
    /// The step of an assignment or of an assertion that holds.
    Step(EdgeId, Bdd),
    /// A call, by frames of this level.
    Call(EdgeId, Level, Bdd),
    /// A return from a call.
    Return(ReturnOrigin),
    /// The resumption of the thread in the next context.
    Resume,
}

/// A call that has returned.
pub(crate) struct ReturnOrigin {
    pub(crate) edge: EdgeId,
    pub(crate) caller: Level,
    pub(crate) callee: Level,
    pub(crate) before: Bdd,
    pub(crate) summary: Bdd,
}

/// A part of a summary, with the return edge and the path edges before it from which it was computed.
pub(crate) struct SummaryRing {
    pub(crate) summary: Bdd,
    pub(crate) via: EdgeId,
    pub(crate) before: Bdd,
}

/// An error that was found.
#[derive(Clone, Debug)]
pub(crate) struct PathError {
    pub(crate) loc: LocId,
    pub(crate) level: Level,
    /// The assertion that fails there; `None` if the location itself is the error.
    pub(crate) assert: Option<EdgeId>,
    /// The path edges to the error.
    pub(crate) edges: Bdd,
}

/// The path edges at a location in a level.
pub(crate) struct PathCell {
    pub(crate) edges: Bdd,
    /// The part that has not been followed.
    waiting: Bdd,
    /// The part whose effect on others has not been recorded.
    unpublished: Bdd,
    pub(crate) rings: Rings<EdgeOrigin>,
}

/// A unit of work: path edges to follow, or a new part of a summary to apply at a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WorkItem {
    Follow(LocId, Level),
    Return(EdgeId, Level),
}

/// The beginning of the threads of a template.
#[derive(PartialEq)]
pub(crate) struct ThreadRoot {
    pub(crate) proc: ProcId,
    pub(crate) thread_vars: Vec<VarId>,
    pub(crate) init: Vec<(VarId, Expr)>,
}

/// The path edges of one template of threads.
pub(crate) struct TemplatePaths<'w, 'a> {
    pub(crate) model: &'w SharedModel<'a>,
    pub(crate) root: ThreadRoot,
    pub(crate) cells: BTreeMap<(LocId, Level), PathCell>,
    summaries: BTreeMap<(ProcId, Level), Bdd>,
    pub(crate) summary_rings: BTreeMap<(ProcId, Level), Vec<SummaryRing>>,
    /// The part of the callee's summary that has not been applied at a call.
    returns: BTreeMap<(EdgeId, Level), Bdd>,
    work: BTreeSet<((u32, u32), WorkItem)>,
    n_rounds: usize,
    /// The entries with which threads begin: over the history of the first context and the values at the entry.
    starts: Bdd,
    /// The histories that were confirmed, by context from 1.
    known: Vec<Bdd>,
    /// The effects of threads with confirmed histories (E of the paper), by context from 1.
    effects: Vec<Bdd>,
    /// The current shared states in which a run without history has ended.
    pub(crate) finished: Bdd,
    /// Errors that were found, possibly with histories that are not confirmed.
    failing: Vec<PathError>,
}

/// The treatment of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnError {
    Stop,
    GoOn,
}

impl<'w, 'a> TemplatePaths<'w, 'a> {
    pub(crate) fn new(model: &'w SharedModel<'a>, root: ThreadRoot) -> TemplatePaths<'w, 'a> {
        TemplatePaths {
            model,
            root,
            cells: BTreeMap::new(),
            summaries: BTreeMap::new(),
            summary_rings: BTreeMap::new(),
            returns: BTreeMap::new(),
            work: BTreeSet::new(),
            n_rounds: 0,
            starts: model.layout.manager.bottom(),
            known: Vec::new(),
            effects: Vec::new(),
            finished: model.layout.manager.bottom(),
            failing: Vec::new(),
        }
    }

    /// Returns the effects of threads of this template in a number of contexts, for confirmed histories.
    pub(crate) fn effects(&self, context: u32) -> &Bdd {
        &self.effects[context as usize - 1]
    }

    /// Returns the histories that were confirmed for a context.
    pub(crate) fn known(&self, context: u32) -> &Bdd {
        &self.known[context as usize - 1]
    }

    /// Begins to run without history from the given current shared states.
    pub(crate) fn begin_alone(&mut self, shared: &Bdd) -> Result<Option<PathError>, Stop> {
        self.begin(shared, Level::NONE).map_err(out_of_nodes)?;
        self.saturate(OnError::Stop)
    }

    /// Adds histories that threads of this template may have when they come to their `context`th context, and computes
    /// everything that follows in this context, or an error.
    pub(crate) fn advance(&mut self, context: u32, histories: &Bdd) -> Result<Option<PathError>, Stop> {
        self.follow_histories(context, histories, OnError::Stop)
    }

    /// Works like [`TemplatePaths::advance`], for histories that need not be confirmed. Errors are recorded.
    pub(crate) fn explore(&mut self, context: u32, histories: &Bdd) -> Result<(), Stop> {
        self.follow_histories(context, histories, OnError::GoOn).map(|_| ())
    }

    /// Returns the histories that lead to an error in a context.
    pub(crate) fn failing_histories(&self, context: u32) -> Result<Bdd, OutOfNodes> {
        let mut found = self.model.layout.manager.bottom();
        for error in self.failing.iter().filter(|error| error.level.now == context) {
            let proc = self.model.program.locs[error.loc].proc;
            let shown = self.model.without_frame(proc, &error.edges)?;
            found = found.or(&shown.exists(&self.model.shared_now)?)?;
        }
        Ok(found)
    }

    /// Returns an error that threads reach in a context with one of the given histories.
    pub(crate) fn failing(&self, context: u32, histories: &Bdd) -> Result<Option<PathError>, OutOfNodes> {
        for error in self.failing.iter().filter(|error| error.level.now == context) {
            let edges = error.edges.and(histories)?;
            if !edges.is_false() {
                return Ok(Some(PathError { edges, ..error.clone() }));
            }
        }
        Ok(None)
    }

    fn follow_histories(
        &mut self,
        context: u32,
        histories: &Bdd,
        on_error: OnError,
    ) -> Result<Option<PathError>, Stop> {
        while self.known.len() < context as usize {
            self.known.push(self.model.layout.manager.bottom());
            self.effects.push(self.model.layout.manager.bottom());
        }
        let at = context as usize - 1;
        if histories.is_subset(&self.known[at]) {
            return Ok(None);
        }
        let new = histories.minus(&self.known[at]).map_err(out_of_nodes)?;
        self.known[at] = self.known[at].or(&new).map_err(out_of_nodes)?;
        self.enter_context(context, &new).map_err(out_of_nodes)?;
        let error = self.saturate(on_error)?;
        if error.is_none() {
            self.publish(context)?;
        }
        Ok(error)
    }

    fn enter_context(&mut self, context: u32, histories: &Bdd) -> Result<(), OutOfNodes> {
        let model = self.model;
        let begun = model.column(Side::In, context);
        // A thread may do nothing in a context, at any location.
        let idle = model.equal(&begun, &model.column(Side::Out, context))?;
        let at = context as usize - 1;
        self.effects[at] = self.effects[at].or(&histories.and(&idle)?)?;
        let begins = histories.and(&model.is_now(&begun)?)?;
        if context == 1 { self.begin(&begins, Level { entered: 1, now: 1 }) } else { self.resume(context, &begins) }
    }

    /// Starts threads with the given current shared states.
    fn begin(&mut self, shared: &Bdd, level: Level) -> Result<(), OutOfNodes> {
        let (layout, program) = (&self.model.layout, self.model.program);
        let mut states = shared.and(&layout.initial(&self.root.init)?)?;
        let mut untouched = Vec::new();
        let scope = &layout.scopes[self.root.proc];
        for (var, _) in program.vars.iter_enumerated().filter(|(_, var)| var.scope == Scope::Thread) {
            let now = layout.var(var, When::Now);
            if !self.root.thread_vars.contains(&var) {
                states = states.and(&layout.manager.literal(now, false)?)?;
            }
            if !scope.globals.contains(&var) {
                untouched.push(now);
            }
        }
        let states = states.exists(&layout.manager.var_set(&untouched)?)?.and(&layout.identity(self.root.proc)?)?;
        self.starts = match self.model.calls.sites(self.root.proc) {
            [] => layout.manager.top(),
            _ => self.starts.or(&self.entries(&states)?)?,
        };
        self.add(program.procs[self.root.proc].entry, level, states, EdgeOrigin::Start)
    }

    /// Returns the values at the entry of path edges at the entry of the root, with their histories.
    fn entries(&self, states: &Bdd) -> Result<Bdd, OutOfNodes> {
        let (layout, program) = (&self.model.layout, self.model.program);
        let proc = &program.procs[self.root.proc];
        let free = proc.locals.iter().filter(|local| !proc.params.contains(local)).copied();
        let moving: Vec<VarId> = layout.scopes[self.root.proc].with_entry_copy().chain(free).collect();
        states.exists(&layout.manager.var_set(&layout.vars(moving, When::Now))?)
    }

    /// Resumes the threads that were interrupted where a visible step begins.
    fn resume(&mut self, context: u32, begins: &Bdd) -> Result<(), OutOfNodes> {
        let model = self.model;
        let out = model.column(Side::Out, context - 1);
        let before = |((loc, level), cell): (&(LocId, Level), &PathCell)| {
            (level.now == context - 1 && model.resumes[*loc]).then(|| (*loc, *level, cell.edges.clone()))
        };
        for (loc, level, edges) in self.cells.iter().filter_map(before).collect::<Vec<_>>() {
            let resumed = model.now_to(&edges.and(&model.released)?, &out)?.and(begins)?;
            let level = Level { now: context, ..level };
            if !resumed.is_false() {
                self.add(loc, level, resumed, EdgeOrigin::Resume)?;
            }
        }
        Ok(())
    }

    /// Follows path edges until none is left, or one leads to an error that ends the search.
    fn saturate(&mut self, on_error: OnError) -> Result<Option<PathError>, Stop> {
        let manager = &self.model.layout.manager;
        while let Some((_, work)) = self.work.pop_first() {
            self.model.run.check_limits()?;
            manager.tidy();
            self.n_rounds += 1;
            if self.n_rounds.is_multiple_of(64) {
                let (rounds, waiting) = (self.n_rounds, self.work.len());
                self.model.run.event(Event::Diagrams { rounds, waiting, nodes: manager.node_count() });
            }
            match work {
                WorkItem::Follow(loc, level) => self.follow(loc, level),
                WorkItem::Return(edge, level) => self.apply_return(edge, level),
            }
            .map_err(out_of_nodes)?;
            if on_error == OnError::Stop && !self.failing.is_empty() {
                return Ok(Some(self.failing.remove(0)));
            }
        }
        Ok(None)
    }

    /// Adds path edges and queues the new ones. The queued set may contain old ones, which is harmless.
    fn add(&mut self, loc: LocId, level: Level, edges: Bdd, via: EdgeOrigin) -> Result<(), OutOfNodes> {
        if edges.is_false() {
            return Ok(());
        }
        let bottom = self.model.layout.manager.bottom();
        let cell = self.cells.entry((loc, level)).or_insert_with(|| PathCell {
            edges: bottom.clone(),
            waiting: bottom.clone(),
            unpublished: bottom,
            rings: Rings::default(),
        });
        if edges.is_subset(&cell.edges) {
            return Ok(());
        }
        let new = if cell.edges.is_false() { edges.clone() } else { edges.restrict(&cell.edges.not()?)? };
        cell.edges = cell.edges.or(&edges)?;
        cell.waiting = cell.waiting.or(&new)?;
        if self.model.publishes[loc] {
            cell.unpublished = cell.unpublished.or(&new)?;
        }
        cell.rings.push(Ring { edges: new, via }, &cell.edges);
        self.work.insert((self.model.rank[loc], WorkItem::Follow(loc, level)));
        Ok(())
    }

    /// Follows the waiting path edges of a location along all its edges. Path edges at an error are not followed.
    fn follow(&mut self, loc: LocId, level: Level) -> Result<(), OutOfNodes> {
        let model = self.model;
        let cell = self.cells.get_mut(&(loc, level)).expect("work is noted for cells only");
        let edges = std::mem::replace(&mut cell.waiting, model.layout.manager.bottom());
        if model.target.has_loc(loc) {
            self.failing.push(PathError { loc, level, assert: None, edges });
            return Ok(());
        }
        for &id in model.flow.out(loc) {
            let to = model.program.edges[id].to;
            match model.prepared(id)? {
                Prepared::Step(step) => {
                    self.add(to, level, step.image(&edges)?, EdgeOrigin::Step(id, edges.clone()))?
                }
                Prepared::Assert { holds, fails } => {
                    if model.target.has_assert(id) && !edges.is_disjoint(fails) {
                        self.failing.push(PathError { loc, level, assert: Some(id), edges: edges.and(fails)? });
                    }
                    self.add(to, level, holds.image(&edges)?, EdgeOrigin::Step(id, edges.clone()))?;
                }
                Prepared::Call(call) => self.call(id, call, level, &edges)?,
                Prepared::Return(step) => {
                    if !model.calls.sites(model.program.locs[loc].proc).is_empty() {
                        self.add_summary(id, level, step.image(&edges)?, edges.clone())?;
                    }
                }
                Prepared::End => {}
            }
            if let Some(ending) = self.ending(id, level, &edges)? {
                self.end(model.program.locs[loc].proc, level, &ending)?;
            }
        }
        Ok(())
    }

    /// Returns the level in which a procedure is entered from a frame.
    fn entered(&self, callee: ProcId, caller: Level) -> Level {
        if self.model.private[callee] { Level::NONE } else { Level { entered: caller.now, now: caller.now } }
    }

    /// Makes a call from some frames.
    fn call(&mut self, id: EdgeId, call: &PreparedCall, level: Level, edges: &Bdd) -> Result<(), OutOfNodes> {
        let model = self.model;
        let callee = callee(model, id);
        let bound = edges.and(&call.arguments)?;
        let entered = self.entered(callee, level);
        let mut states = bound.exists(&call.entering.0)?;
        if entered == Level::NONE {
            states = states.exists(&model.all_history)?;
        }
        let states = states.rename(&call.entering.1)?.and(&model.layout.identity(callee)?)?;
        self.add(model.program.procs[callee].entry, entered, states, EdgeOrigin::Call(id, level, edges.clone()))?;
        if let Some(summary) = self.summaries.get(&(callee, entered)).cloned() {
            let after = call.returned(&bound, &summary)?;
            let via = ReturnOrigin { edge: id, caller: level, callee: entered, before: edges.clone(), summary };
            self.add(model.program.edges[id].to, level, after, EdgeOrigin::Return(via))?;
        }
        Ok(())
    }

    /// Adds to the summary of the procedure from which an edge returns, and queues it at all its calls.
    fn add_summary(&mut self, via: EdgeId, level: Level, summary: Bdd, before: Bdd) -> Result<(), OutOfNodes> {
        let model = self.model;
        let proc = model.program.locs[model.program.edges[via].from].proc;
        let known = self.summaries.entry((proc, level)).or_insert_with(|| model.layout.manager.bottom());
        if summary.is_subset(known) {
            return Ok(());
        }
        *known = known.or(&summary)?;
        for &id in model.calls.sites(proc) {
            let pending = self.returns.remove(&(id, level));
            let pending = pending.map_or(Ok(summary.clone()), |pending| pending.or(&summary))?;
            self.returns.insert((id, level), pending);
            let rank = model.rank[model.program.edges[id].from].0;
            self.work.insert(((rank, u32::MAX), WorkItem::Return(id, level)));
        }
        self.summary_rings.entry((proc, level)).or_default().push(SummaryRing { summary, via, before });
        Ok(())
    }

    /// Applies the new part of a summary to all path edges at a call. A new summary of a private procedure is only
    /// applied to calls of the current context: earlier calls were entered, and returned, before.
    fn apply_return(&mut self, id: EdgeId, callee: Level) -> Result<(), OutOfNodes> {
        let Some(summary) = self.returns.remove(&(id, callee)) else { return Ok(()) };
        let model = self.model;
        let edge = &model.program.edges[id];
        let Prepared::Call(call) = model.prepared(id)? else { unreachable!("returns are noted at calls") };
        let (private, running) = match callee {
            Level::NONE => (Some(Level::NONE), self.known.len() as u32),
            _ => (None, callee.entered),
        };
        let levels = (1..=running).map(|entered| Level { entered, now: running });
        for caller in levels.chain(private) {
            let Some(cell) = self.cells.get(&(edge.from, caller)) else { continue };
            let before = cell.edges.clone();
            let after = call.returned(&before.and(&call.arguments)?, &summary)?;
            let now = if callee == Level::NONE { caller.now } else { callee.now };
            let via = ReturnOrigin { edge: id, caller, callee, before, summary: summary.clone() };
            self.add(edge.to, Level { now, ..caller }, after, EdgeOrigin::Return(via))?;
        }
        Ok(())
    }

    /// Returns the part of some path edges at which an edge ends the thread; `None` if the edge does not.
    pub(crate) fn ending(&self, id: EdgeId, level: Level, edges: &Bdd) -> Result<Option<Bdd>, OutOfNodes> {
        let edge = &self.model.program.edges[id];
        match edge.op {
            Op::End => Ok(Some(edges.clone())),
            Op::Return(_) if self.model.program.locs[edge.from].proc == self.root.proc && level.entered <= 1 => {
                edges.and(&self.starts).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Ends threads with these path edges, at any location, and releases the flag.
    fn end(&mut self, proc: ProcId, level: Level, edges: &Bdd) -> Result<(), OutOfNodes> {
        let states = self.model.without_frame(proc, edges)?;
        if level == Level::NONE {
            self.finished = self.finished.or(&states)?;
            return Ok(());
        }
        self.add_effects(level.now, &states)
    }

    /// Records the effects of the threads that others can see.
    fn publish(&mut self, context: u32) -> Result<(), Stop> {
        let model = self.model;
        let mut unpublished = Vec::new();
        for ((loc, level), cell) in &mut self.cells {
            if level.now == context && !cell.unpublished.is_false() {
                let edges = std::mem::replace(&mut cell.unpublished, model.layout.manager.bottom());
                unpublished.push((model.program.locs[*loc].proc, edges));
            }
        }
        for (proc, edges) in unpublished {
            model.run.check_limits()?;
            let shown = edges.and(&model.released).and_then(|edges| model.without_frame(proc, &edges));
            self.add_effects(context, &shown.map_err(out_of_nodes)?).map_err(out_of_nodes)?;
        }
        Ok(())
    }

    /// Records that threads can be interrupted with these histories and current shared states.
    fn add_effects(&mut self, context: u32, states: &Bdd) -> Result<(), OutOfNodes> {
        let model = self.model;
        let out = model.column(Side::Out, context);
        model.meet(&states.exists(&self.model.all_history)?)?;
        let effects = model.now_to(states, &out)?;
        let at = context as usize - 1;
        self.effects[at] = self.effects[at].or(&effects)?;
        Ok(())
    }
}

/// Returns the procedure that an edge calls.
fn callee(model: &SharedModel<'_>, id: EdgeId) -> ProcId {
    match &model.program.edges[id].op {
        Op::Call(call) => call.callee,
        _ => unreachable!("only calls have callees"),
    }
}
