//! `selvedge batch`: many checks, on many machines, by whatever starts processes there.
//!
//! - `plan` writes a manifest: one task for each line, with a command of its own.
//! - `run` does a task and writes its result as a whole; where there is one, it does nothing.
//! - `merge` judges the evidence of all results again, and combines those that answer one question.
//!
//! There is no server and no lock: tasks share a folder, and each writes files of its own.

mod cubes;
mod evidence;
mod manifest;
mod merge;
mod page;
mod plan;
mod results;
mod run;
mod status;

use crate::args::{BatchArgs, BatchCommand};
use crate::exit::Exit;
use crate::session::Session;

pub(super) fn run(args: &BatchArgs, session: &Session) -> Result<Exit, Exit> {
    match &args.command {
        BatchCommand::Plan(args) => plan::run(args, session),
        BatchCommand::Run(args) => run::run(args, session),
        BatchCommand::Merge(args) => merge::run(args, session),
        BatchCommand::Status(args) => status::run(args, session),
        BatchCommand::Report(args) => page::run(args, session),
    }
}
