//! Any number of threads by facts that are kept: the engine `facts`.
//!
//! For programs whose numbers are too wide to list their values. After Flanagan and Leino ("Houdini, an annotation
//! assistant for ESC/Java", FME 2001), with the views of Abdulla, Haziza and Holik (see [`super::views`]) in the place
//! of procedures: a view of `k` threads is described by a conjunction of *facts*, which are guessed from the program
//! (`candidates`): relations of two numbers, values of bits, conditions of the program. Facts that a step of one of the
//! threads, or of one more, can make false are given up until none is left that a step refutes (`search`). If what is
//! left allows no error, it is the proof (`certificate`). Numbers are recognised by the names of their bits
//! (`numbers`).
//!
//! Where the number of threads is bounded, a proof for any number is one for that number.
//!
//! The engine tries more facts, then views of two threads. It finds no errors, and it ends: there are finitely many
//! facts.

mod block;
mod candidates;
mod certificate;
mod fact;
mod numbers;
mod search;

use selvedge_check::{Bound, Engine, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_transition::support::{is_passive, supports_program};

use self::block::Graph;
use self::candidates::{Candidates, Reach};
use self::search::Search;

/// The engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts;

/// The threads of a view and the facts about them, in the order in which they are tried.
const TRIES: [(usize, Reach); 4] = [(1, Reach::Plain), (1, Reach::Guarded), (2, Reach::Plain), (2, Reach::Guarded)];

impl Engine for Facts {
    fn name(&self) -> &'static str {
        "facts"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        supports_program(task, self.name())?;
        if is_passive(task.program) {
            let reason = "some steps read or assign variables of other threads, which `facts` does not support";
            return Err(Unsupported::new(reason.to_owned()));
        }
        Ok(())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let graph = Graph::new(task.program, task.target);
        for (k, reach) in TRIES {
            let candidates = Candidates::new(task.program, reach);
            let mut search = Search::new(&graph, &candidates, k, run);
            if search.run()? {
                return Ok(Verdict::Safe(search.certificate()));
            }
        }
        Err(Stop::BoundReached(Bound::Abstractions(TRIES.len() as u32)))
    }
}
