//! A question posed about a program.

use selvedge_check::OwnedTask;
use selvedge_driver::defect::{Panic, guard};
use selvedge_driver::threads;
use selvedge_report::Context;
use selvedge_report::json::QuestionView;

use crate::program::Read;
use crate::{Error, Program};

/// A question posed about a program that was read for it.
pub(crate) struct Posed {
    pub(crate) read: Read,
    pub(crate) task: OwnedTask,
}

impl Posed {
    pub(crate) fn new(program: &Program, asked: &QuestionView) -> Result<Posed, Error> {
        let read = program.load(asked)?;
        read.question.validate(program.language(), &read.program)?;
        let (program, target, threads) = bounded(&read).pose(read.subject())?;
        Ok(Posed { task: OwnedTask { program, target, threads }, read })
    }

    /// Returns the context of reports about the task.
    pub(crate) fn context(&self) -> Context<'_> {
        self.read.context(&self.task.program)
    }
}

/// Returns the question with the bound on threads that the text implies: one that no run exceeds changes no answer.
pub(crate) fn bounded(read: &Read) -> selvedge_check::Question {
    let question = read.question.question();
    let threads = question.threads.or(read.threads.filter(|_| question.initial.is_none()));
    selvedge_check::Question { threads, ..question }
}

/// Does some work on a stack that is deep enough for it.
pub(crate) fn deep<T: Send + 'static>(work: impl FnOnce() -> Result<T, Error> + Send + 'static) -> Result<T, Error> {
    let done = threads::run(move || guard(work)).map_err(|error| Error::NotJudged(error.to_string()))?;
    let internal = |panic: Panic| match panic.stop() {
        Some(stop) => Error::NotJudged(stop.to_string()),
        None => Error::Internal(panic.message),
    };
    done.map_err(|_| Error::Internal("a panic inside a panic".to_string()))?.map_err(internal)?
}
