//! `horn`: Horn clauses for Spacer, about integers or about machine integers.

use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_engines_integers::horn as integers;
use selvedge_engines_sequential::horn as machine;

/// The engine. It has no options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Horn;

/// Returns the engine for the numbers of a program.
fn engine(task: &Task<'_>) -> &'static dyn Engine {
    if task.program.has_machine_integers() { &machine::Horn } else { &integers::Horn }
}

impl Engine for Horn {
    fn name(&self) -> &'static str {
        "horn"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        engine(task).supports(task)
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        engine(task).decide(task, run, explanation)
    }
}
