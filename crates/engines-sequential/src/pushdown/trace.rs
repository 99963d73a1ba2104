//! Reconstructs an execution of the program from an error.
//!
//! A transition into the entry of a procedure is a path edge: the run began with that entry and has come to the
//! transition's head. Its premises lead back to the entry, step by step; a call that has returned is one step whose
//! body is given by the transition that reads nothing, which the return made. Bodies are shared; those inside a body
//! are older than it, so listing them by age puts parts before wholes.

use std::collections::BTreeMap;

use selvedge_check::Stop;
use selvedge_ir::trace::{Fresh, Start, StartThread, Step, ThreadId, Trace};
use selvedge_ir::{EdgeId, EntryId, Value};

use super::post::{Reason, Saturation};
use super::system::{Drawn, Label, ProgramSystem};

/// Limit on the steps of traces that are written out.
const WRITTEN_OUT: u128 = 5_000;

/// A part of an execution.
#[derive(Clone, Copy)]
enum Item {
    Start(u64),
    Thread(u64),
    Step(EdgeId, u64),
    /// A call that has returned, with the transition that gives its body.
    Call(EdgeId, u64, usize),
    /// The prelude, given by this transition.
    Prelude(usize),
}

/// The end of the way back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Back {
    ToEntry,
    ToStart,
}

type Automaton<'r, 'a> = Saturation<'r, ProgramSystem<'a>>;

/// Returns an execution that ends with a configuration that the transition reads.
pub(super) fn trace(automaton: &Automaton<'_, '_>, hit: usize) -> Result<Trace, Stop> {
    let system = &automaton.system;
    let thread = ThreadId(u32::from(system.program.prelude.is_some()));
    let mut builder = Builder { automaton, bodies: BTreeMap::new() };
    let items = builder.items(hit, Back::ToStart)?;
    let mut trace = Trace { start: Start::default(), steps: Vec::new(), bodies: Vec::new() };
    let entry = EntryId::new(0);
    trace.start.threads.push(no_choices(system, entry));
    let n_prelude = items.iter().position(|item| matches!(item, Item::Thread(_)));
    let prelude = match items.iter().find(|item| matches!(item, Item::Prelude(_))) {
        Some(Item::Prelude(popped)) => builder.items(*popped, Back::ToEntry)?,
        _ => Vec::new(),
    };
    builder.collect(&prelude, ThreadId(0))?;
    builder.collect(&items, if n_prelude.is_some() { thread } else { ThreadId(0) })?;
    builder.number(&mut trace)?;
    trace.steps = builder.steps(&prelude, ThreadId(0));
    for item in &items {
        match item {
            Item::Start(bits) => {
                let drawn = system.open_start().draw(*bits);
                (trace.start.choices, trace.start.fresh) = (values(&drawn.choices), fresh(&drawn));
            }
            Item::Thread(bits) => {
                let drawn = system.open_thread().draw(*bits);
                trace.start.threads =
                    vec![StartThread { entry, choices: values(&drawn.choices), fresh: fresh(&drawn) }];
            }
            Item::Prelude(_) | Item::Step(..) | Item::Call(..) => {}
        }
    }
    let mover = if n_prelude.is_some() { thread } else { ThreadId(0) };
    trace.steps.extend(builder.steps(&items, mover));
    Ok(if trace.length() <= WRITTEN_OUT { trace.written_out() } else { trace })
}

/// Returns a thread that never starts.
fn no_choices(system: &ProgramSystem<'_>, entry: EntryId) -> StartThread {
    let drawn = system.open_thread().draw(0);
    StartThread { entry, choices: values(&drawn.choices), fresh: Vec::new() }
}

struct Builder<'b, 'r, 'a> {
    automaton: &'b Automaton<'r, 'a>,
    /// The bodies that are needed, by the transition that gives them and the thread that runs them, with their numbers.
    bodies: BTreeMap<(usize, ThreadId), (u32, Vec<Item>)>,
}

impl Builder<'_, '_, '_> {
    /// Returns the parts of the run that lead to a transition, in order.
    fn items(&self, transition: usize, back: Back) -> Result<Vec<Item>, Stop> {
        let automaton = self.automaton;
        let (mut number, mut items) = (transition, Vec::new());
        loop {
            automaton.tick()?;
            let to = automaton.transition(number).to;
            let (before, label) = if automaton.is_pushed(number, to) {
                if back == Back::ToEntry {
                    break;
                }
                let below = automaton.first_out(to).expect("something lies below what was pushed");
                automaton.step_of(below)
            } else {
                match automaton.reason(number) {
                    Reason::Initial => break,
                    Reason::Step(before, label) => (before, label),
                    Reason::Below { popped, below } => {
                        let (before, label) = automaton.step_of(below);
                        match label {
                            Label::Step(edge, bits) => items.push(Item::Call(edge, bits, popped)),
                            Label::Start(bits) => items.extend([Item::Prelude(popped), Item::Start(bits)]),
                            Label::Thread(_) | Label::Silent => {}
                        }
                        number = before;
                        continue;
                    }
                }
            };
            items.extend(match label {
                Label::Step(edge, bits) => Some(Item::Step(edge, bits)),
                Label::Start(bits) => Some(Item::Start(bits)),
                Label::Thread(bits) => Some(Item::Thread(bits)),
                Label::Silent => None,
            });
            number = before;
        }
        items.reverse();
        Ok(items)
    }

    /// Collects the bodies that a list needs, and those that they need.
    fn collect(&mut self, items: &[Item], thread: ThreadId) -> Result<(), Stop> {
        let mut waiting: Vec<usize> = calls(items);
        while let Some(popped) = waiting.pop() {
            if self.bodies.contains_key(&(popped, thread)) {
                continue;
            }
            let body = self.items(popped, Back::ToEntry)?;
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

    fn steps(&self, items: &[Item], thread: ThreadId) -> Vec<Step> {
        let step = |item: &Item| match item {
            Item::Step(edge, bits) => Some(self.step(*edge, *bits, thread, None)),
            Item::Call(edge, bits, popped) => {
                Some(self.step(*edge, *bits, thread, Some(self.bodies[&(*popped, thread)].0)))
            }
            Item::Start(_) | Item::Thread(_) | Item::Prelude(_) => None,
        };
        items.iter().filter_map(step).collect()
    }

    fn step(&self, edge: EdgeId, bits: u64, thread: ThreadId, body: Option<u32>) -> Step {
        let drawn = self.automaton.system.open(edge).draw(bits);
        Step { thread, edge, choices: values(&drawn.choices), passive: Vec::new(), fresh: fresh(&drawn), body }
    }
}

fn calls(items: &[Item]) -> Vec<usize> {
    items.iter().filter_map(|item| if let Item::Call(_, _, popped) = item { Some(*popped) } else { None }).collect()
}

fn values(bits: &[bool]) -> Vec<Value> {
    bits.iter().copied().map(Value::Bool).collect()
}

fn fresh(drawn: &Drawn) -> Fresh {
    drawn.fresh.iter().map(|(var, value)| (*var, Value::Bool(*value))).collect()
}
