//! Reconstructs the steps of one thread.
//!
//! The first ring that contains a path edge was computed from path edges and summaries that were there before, so going
//! back from first ring to first ring ends where the thread begins. A call that has returned is written out, since
//! other threads may run in the middle of it.

use selvedge_check::Stop;
use selvedge_ir::trace::{Step, ThreadId};
use selvedge_ir::{EdgeId, LocId, Op, ProcId};
use selvedge_logic::bdd::{Bdd, OutOfNodes};
use selvedge_transition::out_of_nodes;
use selvedge_transition::paths::back::{Back, Returned, Tuple, holds};
use selvedge_transition::paths::rings::Ring;

use super::columns::Side;
use super::shared_model::SharedModel;
use super::template_paths::{EdgeOrigin, Level, PathCell, PathError, ReturnOrigin, TemplatePaths};

/// A step with its context; 0 in frames without history.
pub(crate) type ContextStep = (u32, Step);

/// Shared states, one context after the other.
pub(crate) type StateVector = Vec<bool>;

/// The states with which the contexts of a thread begin and end. The last context may be open.
#[derive(Clone, Debug)]
pub(crate) struct Boundaries {
    pub(crate) begun: StateVector,
    pub(crate) ended: StateVector,
}

/// The run of one thread.
#[derive(Default)]
pub(crate) struct ThreadRun {
    /// The path edge with which it begins; `None` if it never moves.
    pub(crate) entry: Option<Tuple>,
    pub(crate) steps: Vec<ContextStep>,
    /// The path edge, with its history, of the last frame that has one.
    pub(crate) history: Tuple,
}

impl ThreadRun {
    /// Returns the boundaries of the contexts of a run that is in the given context.
    pub(crate) fn boundaries(&self, model: &SharedModel<'_>, context: u32) -> Boundaries {
        let vector = |side: Side, last: u32| -> StateVector {
            model.columns(side, 1, last).iter().map(|var| self.history[var]).collect()
        };
        Boundaries { begun: vector(Side::In, context), ended: vector(Side::Out, context - 1) }
    }
}

/// Goes back in the path edges of one template.
pub(crate) struct Walker<'s, 'a> {
    template: &'s TemplatePaths<'s, 'a>,
    back: Back<'s>,
}

/// A path edge and its location and level.
struct PathPoint {
    loc: LocId,
    level: Level,
    tuple: Tuple,
}

impl<'s, 'a> Walker<'s, 'a> {
    pub(crate) fn new(template: &'s TemplatePaths<'s, 'a>, thread: usize) -> Walker<'s, 'a> {
        let back =
            Back { layout: &template.model.layout, program: template.model.program, thread: ThreadId(thread as u32) };
        Walker { template, back }
    }

    /// Returns the run of another thread of the template as one of this thread.
    pub(crate) fn renumbered(&self, mut run: ThreadRun) -> ThreadRun {
        run.steps.iter_mut().for_each(|(_, step)| step.thread = self.back.thread);
        run
    }

    /// Returns the run to an error.
    pub(crate) fn to_error(&self, error: &PathError) -> Result<ThreadRun, Stop> {
        let at = self.pick(error.loc, error.level, &error.edges);
        let mut steps = Vec::new();
        if let Some(assert) = error.assert {
            steps.push((error.level.now, self.back.failing(assert, &at.tuple).map_err(out_of_nodes)?));
        }
        self.walk(at, steps)
    }

    /// Returns the run through contexts with the given boundaries. The last contexts may be idle.
    pub(crate) fn to_effect(&self, boundaries: &Boundaries) -> Result<ThreadRun, Stop> {
        let model = self.template.model;
        let width = model.width();
        let chunk = |vector: &[bool], context: usize| vector[width * (context - 1)..width * context].to_vec();
        let n_contexts = boundaries.ended.len().checked_div(width).unwrap_or(0);
        let moves = |context: &usize| chunk(&boundaries.begun, *context) != chunk(&boundaries.ended, *context);
        let Some(context) = (1..=n_contexts).rev().find(moves) else { return Ok(ThreadRun::default()) };
        let mut known = Tuple::new();
        for (side, vector, last) in
            [(Side::In, &boundaries.begun, context), (Side::Out, &boundaries.ended, context - 1)]
        {
            let columns = model.columns(side, 1, last as u32);
            known.extend(columns.into_iter().zip(vector.iter().copied()));
        }
        let now = model.now();
        known.extend(now.into_iter().zip(model.state(&chunk(&boundaries.ended, context))));
        self.to_state(context as u32, &known)
    }

    /// Returns the run to the end of the code without history, with the given shared values.
    pub(crate) fn to_finished(&self, shared: &[bool]) -> Result<ThreadRun, Stop> {
        let model = self.template.model;
        let now = model.now();
        self.to_state(0, &now.into_iter().zip(shared.iter().copied()).collect())
    }

    /// Returns the run to a point with the given history and shared state at which others may continue.
    fn to_state(&self, context: u32, known: &Tuple) -> Result<ThreadRun, Stop> {
        let model = self.template.model;
        let known = self.back.cube(known).map_err(out_of_nodes)?;
        let in_context = |((_, level), _): &(&(LocId, Level), &PathCell)| level.now == context;
        if context > 0 {
            let released = known.and(&model.released).map_err(out_of_nodes)?;
            let publishing =
                self.template.cells.iter().filter(in_context).filter(|((loc, _), _)| model.publishes[*loc]);
            for ((loc, level), cell) in publishing {
                let found = cell.edges.and(&released).map_err(out_of_nodes)?;
                if !found.is_false() {
                    return self.walk(self.pick(*loc, *level, &found), Vec::new());
                }
            }
        }
        for ((loc, level), cell) in self.template.cells.iter().filter(in_context) {
            for &id in model.flow.out(*loc) {
                let Some(ending) = self.template.ending(id, *level, &cell.edges).map_err(out_of_nodes)? else {
                    continue;
                };
                let found = ending.and(&known).map_err(out_of_nodes)?;
                if !found.is_false() {
                    let last = (level.now, self.back.any(id));
                    return self.walk(self.pick(*loc, *level, &found), vec![last]);
                }
            }
        }
        unreachable!("every effect is that of some point")
    }

    fn pick(&self, loc: LocId, level: Level, edges: &Bdd) -> PathPoint {
        let model = self.template.model;
        let vars = self.back.frame_vars(model.program.locs[loc].proc, &model.history(level.now));
        PathPoint { loc, level, tuple: self.back.pick(edges, &vars) }
    }

    /// Goes back from a path edge through the frames of the stack to the beginning of the thread; `steps` follow it.
    fn walk(&self, at: PathPoint, mut steps: Vec<ContextStep>) -> Result<ThreadRun, Stop> {
        let mut at = at;
        let mut history = None;
        loop {
            if at.level != Level::NONE && history.is_none() {
                history = Some(at.tuple.clone());
            }
            let (mut before, entry, ring) = self.path(at)?;
            before.append(&mut steps);
            steps = before;
            match &ring.via {
                EdgeOrigin::Call(edge, caller, callers) => {
                    let beside = self.template.model.history(caller.now);
                    let (tuple, step) =
                        self.back.call_into(*edge, callers, &entry.tuple, &beside).map_err(out_of_nodes)?;
                    steps.insert(0, (caller.now, step));
                    at = PathPoint { loc: self.from(*edge), level: *caller, tuple };
                }
                _ => {
                    fill(&mut steps);
                    return Ok(ThreadRun { entry: Some(entry.tuple), steps, history: history.unwrap_or_default() });
                }
            }
        }
    }

    fn from(&self, edge: EdgeId) -> LocId {
        self.back.program.edges[edge].from
    }

    /// Returns the steps from the entry of the procedure to a path edge, the path edge at the entry, and its origin.
    fn path(&self, at: PathPoint) -> Result<(Vec<ContextStep>, PathPoint, &'s Ring<EdgeOrigin>), Stop> {
        let model = self.template.model;
        let (mut at, mut steps) = (at, Vec::new());
        loop {
            model.run.tick()?;
            let cell = &self.template.cells[&(at.loc, at.level)];
            let ring = cell.rings.first(|edges| holds(edges, &at.tuple)).expect("every path edge lies in a ring");
            match &ring.via {
                EdgeOrigin::Step(edge, before) => {
                    let (tuple, step) = self.step_back(*edge, before, &at.tuple).map_err(out_of_nodes)?;
                    steps.push((at.level.now, step));
                    at = PathPoint { loc: self.from(*edge), tuple, ..at };
                }
                EdgeOrigin::Return(via) => {
                    let (tuple, mut body) = self.back_call(via, &at.tuple)?;
                    body.reverse();
                    steps.append(&mut body);
                    at = PathPoint { loc: self.from(via.edge), level: via.caller, tuple };
                }
                EdgeOrigin::Resume => at = self.interrupted(at),
                EdgeOrigin::Start | EdgeOrigin::Call(..) => {
                    steps.reverse();
                    return Ok((steps, at, ring));
                }
            }
        }
    }

    fn step_back(&self, edge: EdgeId, before: &Bdd, after: &Tuple) -> Result<(Tuple, Step), OutOfNodes> {
        let relation =
            self.template.model.prepared(edge)?.relation().expect("assignments and assertions have relations");
        self.back.step_back(edge, relation, before, after)
    }

    /// Returns the same path edge at the end of the previous context.
    fn interrupted(&self, at: PathPoint) -> PathPoint {
        let model = self.template.model;
        let context = at.level.now;
        let mut tuple = at.tuple;
        let ended = model.column(Side::Out, context - 1).into_iter();
        let values = ended.map(|var| tuple.remove(&var).expect("the history has all contexts that ended"));
        let state = model.state(&values.collect::<Vec<_>>());
        tuple.extend(model.now().into_iter().zip(state));
        for begun in model.column(Side::In, context) {
            tuple.remove(&begun);
        }
        PathPoint { tuple, level: Level { now: context - 1, ..at.level }, ..at }
    }

    /// Returns a path edge before a call that has returned, and the call with all steps through its return.
    fn back_call(&self, via: &ReturnOrigin, after: &Tuple) -> Result<(Tuple, Vec<ContextStep>), Stop> {
        let model = self.template.model;
        let Op::Call(call) = &model.program.edges[via.edge].op else { unreachable!("only calls return") };
        let (of_caller, of_callee) = (model.history(via.caller.now), model.history(via.callee.now));
        let returned = Returned {
            edge: via.edge,
            before: &via.before,
            summary: &via.summary,
            histories: [&of_caller, &of_callee],
        };
        let (before, effect) = self.back.before_call(&returned, after).map_err(out_of_nodes)?;
        let (mut steps, entry) = self.returning(call.callee, via.callee, &effect)?;
        let step = self.back.calling(via.edge, call, &before, &effect, &entry).map_err(out_of_nodes)?;
        steps.insert(0, (via.caller.now, step));
        Ok((before, steps))
    }

    /// Returns the steps of a procedure from its entry through a return with this effect, and the path edge at the
    /// entry.
    fn returning(&self, proc: ProcId, level: Level, effect: &Tuple) -> Result<(Vec<ContextStep>, Tuple), Stop> {
        let model = self.template.model;
        let ring = self.template.summary_rings[&(proc, level)].iter().find(|ring| holds(&ring.summary, effect));
        let ring = ring.expect("every part of a summary lies in a ring");
        let history = model.history(level.now);
        let (tuple, step) = self.back.before_return(ring.via, &ring.before, effect, &history).map_err(out_of_nodes)?;
        let (mut steps, entry, _) = self.path(PathPoint { loc: self.from(ring.via), level, tuple })?;
        steps.push((level.now, step));
        Ok((steps, entry.tuple))
    }
}

/// Gives steps of frames without history the context of their callers.
fn fill(steps: &mut [ContextStep]) {
    let mut context = 0;
    for (tag, _) in steps {
        if *tag == 0 {
            *tag = context;
        }
        context = *tag;
    }
}
