//! A question posed about a program.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use selvedge_check::{OwnedTask, Run, Stop};
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
        read.question.validate(program.language().into(), &read.program)?;
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
    settled(done.map_err(|_| Error::Internal("a panic inside a panic".to_string()))?)
}

fn settled<T>(done: Result<Result<T, Error>, Panic>) -> Result<T, Error> {
    done.map_err(|panic| match panic.stop() {
        Some(stop) => Error::NotJudged(stop.to_string()),
        None => Error::Internal(panic.message),
    })?
}

/// The time that work has to notice that the run must stop.
const NOTICE: Duration = Duration::from_millis(500);

/// The time between two looks at the run.
const LOOK: Duration = Duration::from_millis(20);

/// Does the same, but not for much longer than the run may last: work that is in the middle of something long is left
/// behind, with the reason why it should have stopped. Its thread ends when it notices.
pub(crate) fn deep_within<T: Send + 'static>(
    run: &Run<'_>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<Result<T, Stop>, Error> {
    if cfg!(target_family = "wasm") {
        return deep(work).map(Ok);
    }
    let (sender, receiver) = mpsc::channel();
    // If nobody receives, the work was left behind.
    let told = move || drop(sender.send(guard(work)));
    threads::start(told).map_err(|error| Error::NotJudged(error.to_string()))?;
    let mut late: Option<Instant> = None;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return settled(done).map(Ok),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Internal("a panic inside a panic".to_string())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Err(stop) = run.check_limits() else { continue };
        if late.get_or_insert_with(Instant::now).elapsed() >= NOTICE {
            return Ok(Err(stop));
        }
    }
}
