//! `selvedge batch run`: does a task, and writes its result.
//!
//! A task whose result is there is left alone, so that a task can be started again at any time: after a machine has
//! failed, or because a scheduler starts tasks twice. Two that run at the same time write the same result.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selvedge_frontend::files;
use selvedge_report::names::count;

use super::evidence::{Judgement, judge};
use super::manifest::{self, Task};
use super::results::{self, TaskResult};
use crate::args::{BatchRunArgs, LimitArgs};
use crate::commands::children;
use crate::exit::Exit;
use crate::outputs::shown;
use crate::session::Session;

/// The time between two looks whether another task has answered.
const LOOK: Duration = Duration::from_millis(200);

pub(super) fn run(args: &BatchRunArgs, session: &Session) -> Result<Exit, Exit> {
    let tasks = manifest::read(&args.of.manifest, session)?;
    let index = index(args).map_err(|message| session.refuse(Exit::Usage, message))?;
    let first = index.saturating_mul(args.per_index as usize);
    if first >= tasks.len() {
        let message = format!("there is no task {first}: the manifest has {}", count(tasks.len(), "task"));
        return Err(session.refuse(Exit::Usage, message));
    }
    let folder = &args.of.results;
    std::fs::create_dir_all(folder)
        .map_err(|error| session.refuse(Exit::Input, format!("cannot make the folder {}: {error}", shown(folder))))?;
    for task in tasks.iter().skip(first).take(args.per_index as usize) {
        if results::read(folder, task).is_some() {
            session.printer.out(&format!("{}: done before\n", task.id));
            continue;
        }
        let result = perform(task, args, session).map_err(|message| session.refuse(Exit::Input, message))?;
        if session.cancel.is_cancelled() {
            return Err(session.refuse(Exit::Interrupted, format!("{}: interrupted; no result is written", task.id)));
        }
        results::write(folder, task, &result)
            .map_err(|error| session.refuse(Exit::Input, format!("cannot write the result of {}: {error}", task.id)))?;
        let (name, seconds) = (shown(&task.file), result.seconds);
        session.printer.out(&format!("{}: {name}: {} ({seconds:.3} s)\n", task.id, result.verdict()));
    }
    Ok(Exit::Success)
}

/// Returns the number of the task: the one that is given, or that of whatever started the process.
fn index(args: &BatchRunArgs) -> Result<usize, String> {
    if let Some(index) = args.index {
        return Ok(index);
    }
    for (variable, first) in [("SLURM_ARRAY_TASK_ID", 0), ("JOB_COMPLETION_INDEX", 0), ("PARALLEL_SEQ", 1)] {
        let Ok(text) = std::env::var(variable) else { continue };
        let number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(first));
        return number.ok_or_else(|| format!("{variable} is `{text}`, not a number from {first}"));
    }
    Err("which task? give --index, or start it with Slurm, Kubernetes or GNU parallel".to_string())
}

/// Checks the program of a task.
fn perform(task: &Task, args: &BatchRunArgs, session: &Session) -> Result<TaskResult, String> {
    if !task.is_current() {
        let name = shown(&task.file);
        return Err(format!(
            "{}: {name} is missing or has changed since the manifest was written: plan again",
            task.id
        ));
    }
    let folder = &args.of.results;
    let certificate = Unfinished::new(folder, task);
    let mut words = task.command[1..].to_vec();
    words.splice(1..1, ["--certificate".to_string(), certificate.0.to_string_lossy().into_owned()]);
    let answered = results::answered(folder, task);
    let mut looked = Instant::now();
    let mut is_overtaken = args.portfolio && answered.exists();
    let mut is_wanted = || {
        if args.portfolio && looked.elapsed() >= LOOK {
            looked = Instant::now();
            is_overtaken |= answered.exists();
        }
        !is_overtaken
    };
    let ended = children::run(&words, session, &mut is_wanted)?;
    let result = TaskResult {
        id: task.id.clone(),
        task: task.fingerprint(),
        exit_code: ended.code,
        seconds: ended.time.as_secs_f64(),
        overtaken: ended.stopped,
        report: serde_json::from_str(&ended.output).unwrap_or_default(),
        certificate: std::fs::read_to_string(&certificate.0).ok().filter(|_| !ended.stopped),
    };
    // A part of a question does not answer it.
    let is_whole = task.question.starts.is_empty() || result.verdict() == "unsafe";
    if args.portfolio && is_whole && judge(task, &result, LimitArgs::default(), session) == Judgement::Accepted {
        files::write(&answered, task.id.as_bytes()).map_err(|error| format!("cannot write to the results: {error}"))?;
    }
    Ok(result)
}

/// A file for a while.
pub(super) struct Unfinished(pub(super) PathBuf);

impl Unfinished {
    /// Names a file that only this process uses.
    pub(super) fn new(folder: &Path, task: &Task) -> Unfinished {
        // The address tells two threads of one process apart.
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let name = format!(".{}-{}-{}-{:?}", task.id, host.trim(), std::process::id(), std::thread::current().id());
        Unfinished(folder.join(name.replace(['(', ')'], "")))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // There may be no such file.
        std::fs::remove_file(&self.0).unwrap_or_default();
    }
}
