//! Reconstructs an execution of the program from an error.
//!
//! A transition into the entry of a procedure is a path edge: the run began with that entry and has come to the
//! transition's head. Its premises lead back to the entry, step by step; a call that has returned is one step whose
//! body is given by the transition that reads nothing, which the return made. Bodies are shared; those inside a body
//! are older than it, so listing them by age puts parts before wholes.

use std::collections::BTreeMap;

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{EntryId, Value};
use selvedge_transition::step::explicit::{Draws, fresh, values};

use super::post::{PostReason, Saturation};
use super::system::{ProgramSystem, RuleLabel};

/// Limit on the steps of traces that are written out.
const WRITTEN_OUT: u128 = 5_000;

/// A part of an execution: a rule and, if what it pushed was popped again, the transition that gives the steps between.
type RunPart = (RuleLabel, Option<usize>);

/// The end of the way back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Backtrack {
    ToEntry,
    ToStart,
}

type Automaton<'r, 'a> = Saturation<'r, ProgramSystem<'a>>;

/// Returns an execution that ends with a configuration that the transition reads.
pub(super) fn trace(automaton: &Automaton<'_, '_>, hit: usize) -> Result<Trace, Stop> {
    let system = &automaton.system;
    let mut builder = RunBuilder { automaton, bodies: BTreeMap::new() };
    let items = builder.items(hit, Backtrack::ToStart)?;
    let mut trace = Trace { start: Start::default(), steps: Vec::new(), bodies: Vec::new() };
    let entry = EntryId::new(0);
    // The choices of a thread that never starts.
    let (choices, _) = drawn(&system.thread_draws, 0);
    trace.start.threads.push(StartThread { entry, choices, fresh: Vec::new() });
    let is_started = items.iter().any(|(label, _)| matches!(label, RuleLabel::Thread(_)));
    let mover = ThreadId(u32::from(is_started && system.program.prelude.is_some()));
    let popped = items.iter().find_map(|(label, popped)| popped.filter(|_| matches!(label, RuleLabel::Start(_))));
    let prelude = popped.map_or(Ok(Vec::new()), |popped| builder.items(popped, Backtrack::ToEntry))?;
    builder.collect(&prelude, ThreadId(0))?;
    builder.collect(&items, mover)?;
    builder.number(&mut trace)?;
    trace.steps = builder.steps(&prelude, ThreadId(0));
    for (label, _) in &items {
        match label {
            RuleLabel::Start(bits) => {
                (trace.start.choices, trace.start.fresh) = drawn(&system.start_draws, *bits);
            }
            RuleLabel::Thread(bits) => {
                let (choices, fresh) = drawn(&system.thread_draws, *bits);
                trace.start.threads = vec![StartThread { entry, choices, fresh }];
            }
            RuleLabel::Step(..) | RuleLabel::Silent => {}
        }
    }
    trace.steps.extend(builder.steps(&items, mover));
    Ok(if trace.length() <= WRITTEN_OUT { trace.written_out() } else { trace })
}

struct RunBuilder<'b, 'r, 'a> {
    automaton: &'b Automaton<'r, 'a>,
    /// The bodies that are needed, by the transition that gives them and the thread that runs them, with their numbers.
    bodies: BTreeMap<(usize, ThreadId), (u32, Vec<RunPart>)>,
}

impl RunBuilder<'_, '_, '_> {
    /// Returns the parts of the run that lead to a transition, in order.
    fn items(&self, transition: usize, back: Backtrack) -> Result<Vec<RunPart>, Stop> {
        let automaton = self.automaton;
        let (mut number, mut items) = (transition, Vec::new());
        loop {
            automaton.tick()?;
            let to = automaton.transition(number).to;
            let (step, popped) = if automaton.is_pushed(number, to) {
                if back == Backtrack::ToEntry {
                    break;
                }
                let below = automaton.first_out(to).expect("something lies below what was pushed");
                (automaton.step_of(below), None)
            } else {
                match automaton.reason(number) {
                    PostReason::Initial => break,
                    PostReason::Step(before, label) => ((before, label), None),
                    PostReason::Below { popped, below } => (automaton.step_of(below), Some(popped)),
                }
            };
            items.push((step.1, popped));
            number = step.0;
        }
        items.reverse();
        Ok(items)
    }

    /// Collects the bodies that a list needs, and those that they need.
    fn collect(&mut self, items: &[RunPart], thread: ThreadId) -> Result<(), Stop> {
        let mut waiting: Vec<usize> = calls(items);
        while let Some(popped) = waiting.pop() {
            if self.bodies.contains_key(&(popped, thread)) {
                continue;
            }
            let body = self.items(popped, Backtrack::ToEntry)?;
            waiting.extend(calls(&body));
            self.bodies.insert((popped, thread), (0, body));
        }
        Ok(())
    }

    /// Numbers the bodies, oldest first, and writes them.
    fn number(&mut self, trace: &mut Trace) -> Result<(), Stop> {
        for (number, body) in self.bodies.values_mut().enumerate() {
            body.0 = number as u32;
        }
        for ((_, thread), (_, items)) in &self.bodies {
            self.automaton.tick()?;
            trace.bodies.push(self.steps(items, *thread));
        }
        Ok(())
    }

    fn steps(&self, items: &[RunPart], thread: ThreadId) -> Vec<Step> {
        let step = |(label, popped): &RunPart| {
            let RuleLabel::Step(edge, bits) = *label else { return None };
            let (choices, fresh) = drawn(self.automaton.system.steps.draws(edge), bits);
            let body = popped.map(|popped| self.bodies[&(popped, thread)].0);
            Some(Step { thread, edge, choices, passive: Vec::new(), fresh, body })
        };
        items.iter().filter_map(step).collect()
    }
}

/// Returns the transitions that give the bodies of calls.
fn calls(items: &[RunPart]) -> Vec<usize> {
    items.iter().filter_map(|(label, popped)| popped.filter(|_| matches!(label, RuleLabel::Step(..)))).collect()
}

/// Returns the choices and fresh values of draws with a number.
fn drawn(draws: &Draws, number: u64) -> (Vec<Value>, Fresh) {
    let (choices, open) = draws.split(&draws.numbered(number));
    (values(&choices), fresh(&open))
}
