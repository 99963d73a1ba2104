//! Lifts: traces of a pass's result as traces of its input.

use index_vec::IndexVec;

use crate::syntax::{Edge, EdgeId, Entry, EntryId, LocId, Program, Value, VarId};
use crate::target::Target;
use crate::trace::{Fresh, Start, StartThread, Step, Trace};
use crate::visit::init_choices;

/// Maps traces of a pass's result to traces of its input. "New" is the result of the pass, "old" its input.
#[derive(Clone, Debug)]
pub struct Lift {
    /// For each new edge the old steps that it represents, all of the same thread.
    pub edges: IndexVec<EdgeId, Vec<LiftStep>>,
    /// For each new variable the old one whose fresh value it holds; `None` for a variable that the pass made.
    pub vars: IndexVec<VarId, Option<VarId>>,
    /// The choices of the old program's initial values.
    pub init: Vec<Source>,
    /// The same for each kind of initial thread. Passes keep the list of kinds.
    pub entries: IndexVec<EntryId, Vec<Source>>,
    /// The old locations and variables of the new ones, for certificates; `None` if a pass does not keep them apart.
    pub copies: Option<Copies>,
}

/// The parts of the old program that the new one consists of, possibly in several copies, for passes that replace calls
/// by bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// For each copy, the old calls that have not returned there, the outermost first.
    pub calls: Vec<Vec<EdgeId>>,
    /// For each new location the index in `calls`, and the old location.
    pub locs: IndexVec<LocId, (u32, LocId)>,
    /// For each new variable the index in `calls` of its frame, and the old variable.
    pub vars: IndexVec<VarId, (u32, VarId)>,
}

/// An old step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiftStep {
    /// The old edge.
    pub edge: EdgeId,
    /// The values of its choices.
    pub choices: Vec<Source>,
    /// Fresh values that are choices in the new program; those that are fresh there too are carried over.
    pub fresh: Vec<(VarId, Source)>,
    /// The part of the new step that it takes over.
    pub part: StepPart,
}

/// The part of the new step, besides its choices, that an old step takes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// The choices of other threads, the fresh values and the body of a call.
    Main,
    /// Nothing: an assignment without other threads that is fused with a step of another kind.
    Silent,
}

/// The source of an old choice's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This choice of the new edge.
    Choice(u32),
    /// A constant: the value does not matter, or was fixed by the pass.
    Value(Value),
}

impl Lift {
    /// Returns the lift of a pass that changes nothing. Passes start from it.
    pub fn identity(program: &Program) -> Lift {
        let all_choices =
            |n_choices: usize| -> Vec<Source> { (0..n_choices).map(|number| Source::Choice(number as u32)).collect() };
        let step = |(id, edge): (EdgeId, &Edge)| {
            let choices = all_choices(edge.op.choices().len());
            vec![LiftStep { edge: id, choices, fresh: Vec::new(), part: StepPart::Main }]
        };
        let of_entry = |entry: &Entry| all_choices(init_choices(&entry.init).len());
        Lift {
            edges: program.edges.iter_enumerated().map(step).collect(),
            vars: program.vars.indices().map(Some).collect(),
            init: all_choices(init_choices(&program.init).len()),
            entries: program.entries.iter().map(of_entry).collect(),
            copies: None,
        }
    }

    /// Returns the old execution that a new one represents.
    pub fn trace(&self, trace: &Trace) -> Trace {
        let start = Start {
            choices: resolve(&self.init, &trace.start.choices),
            fresh: self.fresh(&trace.start.fresh),
            threads: trace.start.threads.iter().map(|thread| self.start_thread(thread)).collect(),
        };
        let lifted = |steps: &[Step]| steps.iter().flat_map(|step| self.step(step)).collect();
        let bodies = trace.bodies.iter().map(|body| lifted(body)).collect();
        Trace { start, steps: lifted(&trace.steps), bodies }
    }

    fn start_thread(&self, thread: &StartThread) -> StartThread {
        StartThread {
            entry: thread.entry,
            choices: resolve(&self.entries[thread.entry], &thread.choices),
            fresh: self.fresh(&thread.fresh),
        }
    }

    fn step(&self, step: &Step) -> impl Iterator<Item = Step> {
        self.edges[step.edge].iter().map(move |old| {
            let made = old.fresh.iter().map(|(var, source)| (*var, resolve_one(*source, &step.choices)));
            let choices = resolve(&old.choices, &step.choices);
            let (passive, fresh, body) = match old.part {
                StepPart::Silent => (Vec::new(), made.collect(), None),
                StepPart::Main => (
                    step.passive.iter().map(|choices| resolve(&old.choices, choices)).collect(),
                    self.fresh(&step.fresh).into_iter().chain(made).collect(),
                    step.body,
                ),
            };
            Step { thread: step.thread, edge: old.edge, choices, passive, fresh, body }
        })
    }

    fn fresh(&self, fresh: &Fresh) -> Fresh {
        old_fresh(&self.vars, fresh)
    }

    /// Returns the new edges that represent assertions of the old target.
    pub(super) fn asserts(&self, target: &Target) -> Vec<EdgeId> {
        let is_error = |id: &EdgeId| self.edges[*id].iter().any(|step| target.has_assert(step.edge));
        self.edges.indices().filter(is_error).collect()
    }

    /// Returns the first old edge that a new one represents.
    pub(super) fn old_edge(&self, edge: EdgeId) -> Option<EdgeId> {
        self.edges[edge].first().map(|step| step.edge)
    }
}

/// Returns fresh values as those of the old variables that hold them; others are dropped.
pub(super) fn old_fresh(vars: &IndexVec<VarId, Option<VarId>>, fresh: &Fresh) -> Fresh {
    fresh.iter().filter_map(|(var, value)| Some((vars[*var]?, *value))).collect()
}

fn resolve(sources: &[Source], choices: &[Value]) -> Vec<Value> {
    sources.iter().map(|source| resolve_one(*source, choices)).collect()
}

fn resolve_one(source: Source, choices: &[Value]) -> Value {
    match source {
        Source::Choice(number) => choices[number as usize],
        Source::Value(value) => value,
    }
}
