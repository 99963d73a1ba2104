//! Manifests: one task for each line, as JSON.

use std::path::{Path, PathBuf};

use selvedge_frontend::files::read_regular;
use selvedge_report::json::{QuestionView, digest};
use serde::{Deserialize, Serialize};

use crate::exit::Exit;
use crate::outputs::shown;
use crate::session::Session;

/// A task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Task {
    /// The number of the line, from 0, with leading zeros.
    pub(super) id: String,
    /// The program.
    pub(super) file: PathBuf,
    /// The fingerprint of the program when the task was planned.
    pub(super) digest: String,
    /// The question of the command line, without what the file says.
    pub(super) question: QuestionView,
    pub(super) engine: String,
    /// The whole command.
    pub(super) command: Vec<String>,
}

impl Task {
    /// Returns the question that the task takes part in: that of the task without the values at the start.
    pub(super) fn group(&self) -> (String, String) {
        let question = QuestionView { starts: Vec::new(), ..self.question.clone() };
        (shown(&self.file), question.options())
    }

    /// Returns a fingerprint of the task, by which its result knows it.
    pub(super) fn fingerprint(&self) -> String {
        digest(&line(self))
    }

    /// Returns whether the program is still the one that the task was planned for.
    pub(super) fn is_current(&self) -> bool {
        fingerprint_of(&self.file).is_ok_and(|now| now == self.digest)
    }
}

/// Returns the fingerprint of a program, with that of the file with its target.
pub(super) fn fingerprint_of(path: &Path) -> Result<String, String> {
    let read = |path: &Path| read_regular(path).map_err(|error| format!("cannot read {}: {error}", shown(path)));
    let mut text = String::from_utf8_lossy(&read(path)?).into_owned();
    let beside = path.with_extension("prop");
    if path.extension().is_some_and(|extension| extension == "tts") && beside.exists() {
        text.push_str(&String::from_utf8_lossy(&read(&beside)?));
    }
    Ok(digest(&text))
}

/// Returns the line of a task.
pub(super) fn line(task: &Task) -> String {
    serde_json::to_string(task).expect("a task has string keys and no failing parts")
}

/// Reads a manifest, or says which line is wrong.
pub(super) fn read(path: &Path, session: &Session) -> Result<Vec<Task>, Exit> {
    let name = shown(path);
    let bytes =
        read_regular(path).map_err(|error| session.refuse(Exit::Input, format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let mut tasks = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let task: Task = serde_json::from_str(line)
            .map_err(|error| session.refuse(Exit::Input, format!("{name}:{}: not a task: {error}", number + 1)))?;
        let is_program = task.command.first().is_some_and(|word| word == "selvedge");
        if !is_program || task.id != id(number) {
            let message = format!("{name}:{}: not a task of `selvedge batch plan`: plan again", number + 1);
            return Err(session.refuse(Exit::Input, message));
        }
        tasks.push(task);
    }
    if tasks.is_empty() {
        return Err(session.refuse(Exit::Input, format!("{name}: there are no tasks")));
    }
    Ok(tasks)
}

/// Returns the name of the task with a number.
pub(super) fn id(number: usize) -> String {
    format!("{number:06}")
}
