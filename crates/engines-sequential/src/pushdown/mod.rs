//! Pushdown systems, explicitly: reachability by saturation of automata that read configurations.
//!
//! After Bouajjani, Esparza and Maler (*Reachability analysis of pushdown automata*, 1997) and Schwoon's thesis (*Model
//! checking pushdown systems*, 2002, chapter 3). `post` saturates forward and `pre` backward; both stop early and
//! remember why each transition was added. `systems` answers questions about systems that the user writes, and
//! [`convert()`] translates programs to such systems.
//!
//! As an engine for programs with one thread it is the naive counterpart of [`summaries`](crate::summaries): `system`
//! produces the rules of a program for heads that are reached, one valuation at a time. The automaton has a state for
//! each entry of a procedure with its valuation, so its transitions are the path edges and summaries, one by one, from
//! which `certificate` builds the certificate; `trace` goes back from an error. It ends because a program has finitely
//! many heads; it is right because saturation is.

mod certificate;
mod convert;
mod post;
mod pre;
mod relevant;
mod system;
mod systems;
mod trace;

use std::collections::BTreeSet;

use selvedge_check::ThreadState;
use selvedge_check::{Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::callgraph::prelude_ends_early;
use selvedge_ir::{LocId, Scope, Value, VarId};
use selvedge_transition::step::explicit::values::Bits;
use selvedge_transition::support::supports_one_thread;

pub use convert::{Converted, convert};
pub use systems::{Direction, SystemVerdict, check};

use post::{Saturation, Until};
use relevant::Relevant;
use system::{ControlState, ProgramSystem, StackFrame};

/// The engine.
#[derive(Clone, Debug)]
pub struct Pushdown;

impl Engine for Pushdown {
    fn name(&self) -> &'static str {
        "pushdown"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        let unsupported =
            |reason: &str| Err(Unsupported::new(format!("`pushdown` does not support programs {reason}")));
        let program = task.program;
        supports_one_thread(task, self.name())?;
        if prelude_ends_early(program) {
            return unsupported("whose prelude may end in the middle");
        }
        if ProgramSystem::new(task, &Relevant::new(program), &Run::unlimited()).most_bits() > 63 {
            return unsupported("with more than 63 choices in one step");
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let mut automaton = automaton(task, &Relevant::new(task.program), run);
        match automaton.run(Until::Target)? {
            Some(hit) => Ok(Verdict::Unsafe(trace::trace(&automaton, hit)?)),
            None => Ok(Verdict::Safe(certificate::certificate(&automaton)?)),
        }
    }
}

impl Pushdown {
    /// Returns all observable states of the thread, errors or not, for comparisons.
    pub fn explore(&self, task: &Task<'_>, run: &Run<'_>) -> Result<BTreeSet<ThreadState>, Stop> {
        let mut automaton = automaton(task, &Relevant::everything(task.program), run);
        automaton.run(Until::Done)?;
        let system = &automaton.system;
        let heads = automaton.heads();
        let seen = heads.filter_map(|(control, symbol)| {
            match (&system.states[control as usize], &system.frames[symbol as usize]) {
                (ControlState::At(globals), StackFrame::Here(loc, locals)) => Some((*loc, globals, locals)),
                _ => None,
            }
        });
        let values = |vars: &[VarId], scope: Scope, globals: &Bits, locals: &Bits| -> Vec<Value> {
            let vars = vars.iter().filter(|var| system.program.vars[**var].scope == scope);
            vars.map(|var| Value::Bool(system.steps.slots.read(globals, locals, *var))).collect()
        };
        let state = |(loc, globals, locals): (LocId, &Bits, &Bits)| {
            let proc = system.program.locs[loc].proc;
            ThreadState {
                loc,
                shared: values(&system.steps.slots.shared, Scope::Shared, globals, locals),
                vars: values(&system.steps.slots.shared, Scope::Thread, globals, locals),
                locals: values(&system.program.procs[proc].locals, Scope::Local(proc), globals, locals),
                free: Vec::new(),
            }
        };
        Ok(seen.map(state).collect())
    }
}

/// Creates the automaton of a program, before the first step.
fn automaton<'a>(task: &Task<'a>, relevant: &Relevant, run: &'a Run<'a>) -> Saturation<'a, ProgramSystem<'a>> {
    let mut system = ProgramSystem::new(task, relevant, run);
    let initial = system.initial();
    Saturation::new(system, &[initial], run)
}
