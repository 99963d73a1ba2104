//! The start of the program, and the formulas of its initial values.

use selvedge_ir::trace::Start;
use selvedge_ir::visit::choice_types;
use selvedge_ir::{ProcId, Program, Value, VarId};
use selvedge_logic::aig::{Input, Lit};
use selvedge_transition::step::circuit::{Begin, Valuation, begin, begin_thread};

use super::queries::Image;
use super::simulate::Simulation;

/// The start of a run: the shared variables, and the initial thread once it has started.
#[derive(Clone, Debug)]
pub(super) struct Root {
    first: Begin,
    thread: Option<Begin>,
}

impl Root {
    /// Creates the shared variables at the start, with the locals of the prelude.
    pub(super) fn new(sim: &mut Simulation<'_>) -> Root {
        Root { first: begin(&mut sim.aig, sim.program), thread: None }
    }

    /// Starts the initial thread, after a prelude that has changed some variables.
    pub(super) fn thread(&self, sim: &mut Simulation<'_>, changed: &[(VarId, Lit)]) -> Root {
        let mut shared = self.first.valuation.clone();
        for (var, lit) in changed {
            shared.set(*var, *lit);
        }
        let thread = begin_thread(&mut sim.aig, sim.program, &shared);
        Root { first: self.first.clone(), thread: Some(thread) }
    }

    pub(super) fn has_thread(&self) -> bool {
        self.thread.is_some()
    }

    /// Returns the first procedure of the initial thread.
    pub(super) fn main(&self, program: &Program) -> ProcId {
        program.entries.first().expect("a program with one thread has one entry").proc
    }

    fn valuation(&self) -> &Valuation {
        self.thread.as_ref().map_or(&self.first.valuation, |thread| &thread.valuation)
    }

    /// Returns the values with which the first procedure is entered. A prelude does not use per-thread variables.
    pub(super) fn actual(&self, sim: &Simulation<'_>, proc: ProcId) -> Valuation {
        let inputs = sim.facts.inputs(sim.program, proc);
        inputs.into_iter().map(|var| (var, self.valuation().find(var).unwrap_or(Lit::FALSE))).collect()
    }

    /// Returns these values as a set, under a guard.
    pub(super) fn entries(&self, sim: &Simulation<'_>, proc: ProcId, guard: Lit) -> Image {
        Image { guard, tuple: self.actual(sim, proc).iter().map(|(_, lit)| lit).collect() }
    }

    /// Returns the start of a trace. If the run ends before the initial thread starts, its choices are made
    /// nevertheless.
    pub(super) fn start(&self, program: &Program, value: &dyn Fn(Input) -> bool) -> Start {
        match &self.thread {
            Some(thread) => self.first.start(thread, value),
            None => {
                let mut start = self.first.start(&Begin::default(), value);
                for (thread, entry) in start.threads.iter_mut().zip(&program.entries) {
                    let n_choices = choice_types(entry.init.iter().map(|(_, rhs)| rhs)).len();
                    thread.choices = vec![Value::Bool(false); n_choices];
                }
                start
            }
        }
    }
}
