//! The way of a trace back through a pass.

use index_vec::IndexVec;

use crate::syntax::{EdgeId, EntryId, LocId, Program, Value, VarId};
use crate::trace::{Fresh, Start, StartThread, Step, Trace};
use crate::visit::choice_types;

/// Maps traces of a pass's result to traces of its input. "New" is the result of the pass, "old" its input.
#[derive(Clone, Debug)]
pub struct Lift {
    /// For each new edge the old steps that it stands for, all of the same thread.
    pub edges: IndexVec<EdgeId, Vec<LiftStep>>,
    /// For each new variable the old one whose fresh value it holds; `None` for a variable that the pass made.
    pub vars: IndexVec<VarId, Option<VarId>>,
    /// The choices of the old program's initial values.
    pub init: Vec<Source>,
    /// The same for each kind of initial thread. Passes keep the list of kinds.
    pub entries: IndexVec<EntryId, Vec<Source>>,
    /// Where threads of the new program stand in the old one, for certificates; `None` from passes after which that
    /// cannot be said.
    pub copies: Option<Copies>,
}

/// Of which parts of the old program the new one consists, each in how many copies, for passes that put procedures in
/// the place of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copies {
    /// The lists of old calls that have not returned in a copy, the first one first.
    pub calls: Vec<Vec<EdgeId>>,
    /// For each new location the number of its calls, and the old location.
    pub locs: IndexVec<LocId, (u32, LocId)>,
    /// For each new variable the number of the calls below the frame that it is in, and the old variable.
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
    /// What it has of the new step.
    pub part: StepPart,
}

/// What an old step has of the new one beside its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepPart {
    /// The choices of other threads, the fresh values and the body of a call.
    Main,
    /// Nothing: an assignment in which no other thread takes part, beside a step of another kind.
    Silent,
}

/// Where the value of an old choice comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// From this choice of the new edge.
    Choice(u32),
    /// It does not matter, or was fixed by the pass.
    Value(Value),
}

impl Lift {
    /// Returns the lift of a pass that changes nothing. Passes start from it.
    pub fn identity(program: &Program) -> Lift {
        let all_choices =
            |n_choices: usize| -> Vec<Source> { (0..n_choices).map(|number| Source::Choice(number as u32)).collect() };
        let of_init = |init: &[(VarId, crate::syntax::Expr)]| -> Vec<Source> {
            all_choices(choice_types(init.iter().map(|(_, rhs)| rhs)).len())
        };
        let step = |(edge, choices): (EdgeId, usize)| {
            vec![LiftStep { edge, choices: all_choices(choices), fresh: Vec::new(), part: StepPart::Main }]
        };
        let edges = program.edges.iter_enumerated().map(|(id, edge)| step((id, edge.op.choices().len())));
        Lift {
            edges: edges.collect(),
            vars: program.vars.indices().map(Some).collect(),
            init: of_init(&program.init),
            entries: program.entries.iter().map(|entry| of_init(&entry.init)).collect(),
            copies: None,
        }
    }

    /// Returns the old execution that a new one stands for.
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
            let alone = Step {
                thread: step.thread,
                edge: old.edge,
                choices,
                passive: Vec::new(),
                fresh: made.collect(),
                body: None,
            };
            match old.part {
                StepPart::Silent => alone,
                StepPart::Main => Step {
                    passive: step.passive.iter().map(|choices| resolve(&old.choices, choices)).collect(),
                    fresh: self.fresh(&step.fresh).into_iter().chain(alone.fresh).collect(),
                    body: step.body,
                    ..alone
                },
            }
        })
    }

    fn fresh(&self, fresh: &Fresh) -> Fresh {
        fresh.iter().filter_map(|(var, value)| Some((self.vars[*var]?, *value))).collect()
    }
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
