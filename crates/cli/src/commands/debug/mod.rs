//! `selvedge debug` and `selvedge simulate --interactive`: an execution, step by step, in the terminal.

mod app;
mod draw;
mod terminal;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use selvedge_check::Task;
use selvedge_driver::possible_steps;
use selvedge_ir::trace::Step;
use selvedge_replay::replay::reached;
use selvedge_replay::{Outcome, Violation};
use selvedge_report::session::Session as Walk;

use super::{part, walk};
use crate::args::DebugArgs;
use crate::exit::Exit;
use crate::session::Session;
use app::{App, Next};
use terminal::Terminal;

/// Maximum number of steps that are offered at a time.
const MAX_CHOICES: usize = 200;

pub(crate) fn run(args: &DebugArgs, session: &Arc<Session>) -> Result<Exit, Exit> {
    let (args, conditions) = (args.clone(), Arc::clone(session));
    // The limits are those of the search: the user may take all the time in the world.
    let (subject, found) =
        part(session, &session.watch(args.search.limits, session.start), move || match &args.trace {
            Some(trace) => walk::saved(trace, &args.input, &args.question, &conditions),
            None => walk::checked(&args.input, &args.question, &args.search, &conditions),
        })?;
    let task = found.task.task();
    let mut walk = Walk::of(subject.context(&found.task.program), &task, &found.counterexample);
    in_terminal(&mut App::new(&mut walk), session)?;
    Ok(Exit::Unsafe)
}

/// Makes an execution by hand, from a start.
pub(crate) fn by_hand(walk: &mut Walk<'_>, task: &Task<'_>, session: &Session) -> Result<(), Exit> {
    let steps = |walk: &Walk<'_>| possible_steps(task, walk.state(walk.len()), MAX_CHOICES);
    let judge = |step: &Step, outcome: &Outcome| violation(task, step, outcome);
    in_terminal(&mut App::by_hand(walk, &steps, &judge), session)
}

/// The error that a step leads to.
fn violation(task: &Task<'_>, step: &Step, outcome: &Outcome) -> Option<Violation> {
    match outcome {
        Outcome::Next(state) => reached(task, state),
        Outcome::Failed => Some(Violation::Assert { thread: step.thread, edge: step.edge }),
        Outcome::Blocked => None,
    }
}

/// Draws, waits for a key and presses it, until the user quits.
fn in_terminal(app: &mut App<'_, '_>, session: &Session) -> Result<(), Exit> {
    let mut terminal = Terminal::open().map_err(|message| session.refuse(Exit::Usage, message))?;
    let result = loop {
        match terminal.show(app).and_then(|()| terminal.key()) {
            Ok(Some(key)) if app.press(key) == Next::Quit => break Ok(()),
            Ok(_) => {}
            Err(error) => break Err(error),
        }
    };
    drop(terminal);
    result.map_err(|error| session.refuse(Exit::Input, format!("the terminal fails: {error}")))
}
