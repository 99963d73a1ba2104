//! Reconstructs the path to an error under an assignment of the inputs.
//!
//! Each state has its origin, and the assignment determines which of two merged states it was and the value of every
//! choice. At a call the path enters the frame of the summary, whose inputs have the values of their replacements.
//! Inputs that do not occur in a guard are false throughout: the guard holds whatever their values.

use rustc_hash::FxHashMap;
use selvedge_check::{Fresh, Step, ThreadId, Trace};
use selvedge_ir::{EdgeId, ProcId, Value};
use selvedge_logic::aig::{Aig, Input, Lit};
use selvedge_transition::step::circuit::choose;
use selvedge_transition::step::control::call_at;

use super::queries::InputModel;
use super::reach::{Parent, Reach};
use super::root::Root;
use super::simulate::{FrameId, Renaming, Simulation, StateId, StateOrigin};

type BodyKey = (StateId, Vec<(Input, bool)>, ThreadId);

/// Rebuilds executions.
pub(super) struct Tracer<'s, 'a> {
    sim: &'s Simulation<'a>,
    thread: ThreadId,
    bodies: Vec<Vec<Step>>,
    /// The bodies of calls that were rebuilt, by the state at the exit and the values of its inputs.
    built: FxHashMap<BodyKey, u32>,
    /// The first call on the path that was assumed to do anything.
    guessed: Option<ProcId>,
}

/// An error to which the summaries of the first procedures lead.
pub(super) struct Witness {
    pub(super) root: Root,
    /// The state at the end of the prelude, and the values of its inputs.
    pub(super) prelude: Option<(StateId, Renaming)>,
    /// The error, in a frame of the first procedure, and the values of its inputs.
    pub(super) error: (StateId, Renaming),
    pub(super) model: InputModel,
}

impl<'s, 'a> Tracer<'s, 'a> {
    pub(super) fn new(sim: &'s Simulation<'a>) -> Tracer<'s, 'a> {
        Tracer { sim, thread: ThreadId(0), bodies: Vec::new(), built: FxHashMap::default(), guessed: None }
    }

    /// Returns the execution to an error in summaries, or a procedure on the path whose effect was guessed.
    pub(super) fn witness(mut self, witness: &Witness) -> Result<Trace, ProcId> {
        let Witness { root, prelude, error, model } = witness;
        let mut start = root.start(self.sim.program, &|input| value(model, input));
        let mut steps = Vec::new();
        if let Some((end, renaming)) = prelude {
            let inside = renamed(&self.sim.aig, renaming, model);
            steps = self.path(*end, &inside);
            self.take_locals(&mut start.fresh, self.sim.states[*end].frame, &inside);
            self.thread = ThreadId(1);
        }
        let inside = renamed(&self.sim.aig, &error.1, model);
        steps.extend(self.path(error.0, &inside));
        let frame = self.sim.states[error.0].frame;
        let in_prelude = self.sim.program.prelude.is_some() && prelude.is_none();
        let fresh = if in_prelude { &mut start.fresh } else { &mut start.threads[0].fresh };
        self.take_locals(fresh, frame, &inside);
        match self.guessed {
            Some(proc) => Err(proc),
            None => Ok(Trace { start, steps, bodies: self.bodies }),
        }
    }

    /// Returns the execution to an error of a record.
    pub(super) fn found(mut self, reach: &Reach<'_, '_>, error: StateId, record: usize, model: &InputModel) -> Trace {
        let mut path: Vec<(StateId, usize)> = vec![(error, record)];
        let root = loop {
            let (_, record) = *path.last().expect("the path ends with the error");
            match &reach.records[record].parent {
                Parent::Call(site, caller) => path.push((site.from, *caller)),
                Parent::Prelude(root, end, prelude) => {
                    path.push((*end, *prelude));
                    break root.clone();
                }
                Parent::Root(root) => break root.clone(),
                Parent::AnyCaller => unreachable!("errors are looked for from the start of the program"),
            }
        };
        let mut start = root.start(self.sim.program, &|input| value(model, input));
        let mut steps = Vec::new();
        for (state, record) in path.into_iter().rev() {
            let Some(record) = reach.records.get(record) else { continue };
            match &record.parent {
                Parent::Call(site, _) => {
                    let mut call = self.step(site.edge, &site.choices, model);
                    self.take_locals(&mut call.fresh, record.frame, model);
                    steps.push(call);
                }
                Parent::Prelude(..) => {
                    self.thread = ThreadId(1);
                    self.take_locals(&mut start.threads[0].fresh, record.frame, model);
                }
                Parent::Root(root) if root.has_thread() => {
                    self.take_locals(&mut start.threads[0].fresh, record.frame, model);
                }
                Parent::Root(_) | Parent::AnyCaller => self.take_locals(&mut start.fresh, record.frame, model),
            }
            steps.extend(self.path(state, model));
        }
        Trace { start, steps, bodies: self.bodies }
    }

    /// Returns the steps from the entry of a frame to one of its states.
    fn path(&mut self, to: StateId, model: &InputModel) -> Vec<Step> {
        let sim = self.sim;
        let mut back: Vec<Step> = Vec::new();
        let mut at = to;
        loop {
            match &sim.states[at].via {
                StateOrigin::Entry => break,
                StateOrigin::Step { edge, from, choices } => {
                    back.push(self.step(*edge, choices, model));
                    at = *from;
                }
                StateOrigin::Merge { condition, then, otherwise } => {
                    at = if holds(&sim.aig, *condition, model) { *then } else { *otherwise };
                }
                StateOrigin::Call { edge, from, choices, callee, renaming } => {
                    let inside = renamed(&sim.aig, renaming, model);
                    let mut call = self.step(*edge, choices, model);
                    self.take_locals(&mut call.fresh, sim.states[*callee].frame, &inside);
                    if sim.is_exit(*callee) {
                        call.body = Some(self.body(*callee, renaming, &inside));
                    } else {
                        back.extend(self.path(*callee, &inside).into_iter().rev());
                    }
                    back.push(call);
                    at = *from;
                }
                StateOrigin::Guess { edge, from } => {
                    self.guessed = Some(call_at(sim.program, *edge).callee);
                    at = *from;
                }
            }
        }
        back.reverse();
        back
    }

    /// Returns the number of the body that leads to a state at the exit of a frame.
    fn body(&mut self, exit: StateId, renaming: &[(Input, Lit)], model: &InputModel) -> u32 {
        let values = renaming.iter().map(|(input, _)| (*input, value(model, *input))).collect();
        let key = (exit, values, self.thread);
        if let Some(number) = self.built.get(&key) {
            return *number;
        }
        let steps = self.path(exit, model);
        self.bodies.push(steps);
        let number = self.bodies.len() as u32 - 1;
        self.built.insert(key, number);
        number
    }

    fn step(&self, edge: EdgeId, choices: &[Input], model: &InputModel) -> Step {
        let choices = choose(choices, &|input| value(model, input));
        Step { thread: self.thread, edge, choices, passive: Vec::new(), fresh: Vec::new(), body: None }
    }

    /// Sets the locals of a frame that start with any value.
    fn take_locals(&self, fresh: &mut Fresh, frame: FrameId, model: &InputModel) {
        for (local, input) in &self.sim.frames[frame].locals {
            let value = Value::Bool(value(model, *input));
            match fresh.iter_mut().find(|(var, _)| var == local) {
                Some((_, known)) => *known = value,
                None => fresh.push((*local, value)),
            }
        }
    }
}

fn value(model: &InputModel, input: Input) -> bool {
    model.get(&input).copied().unwrap_or(false)
}

fn holds(aig: &Aig, lit: Lit, model: &InputModel) -> bool {
    aig.eval(&[lit], |input| value(model, input))[0]
}

/// Returns the values of inputs that were replaced.
fn renamed(aig: &Aig, renaming: &[(Input, Lit)], model: &InputModel) -> InputModel {
    let lits: Vec<Lit> = renaming.iter().map(|(_, lit)| *lit).collect();
    let values = aig.eval(&lits, |input| value(model, input));
    renaming.iter().zip(values).map(|((input, _), value)| (*input, value)).collect()
}
