//! Results: one file for each task, written as a whole.

use std::path::{Path, PathBuf};

use selvedge_frontend::files::{self, read_regular};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::manifest::Task;

/// The result of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TaskResult {
    pub(super) id: String,
    /// The fingerprint of the task.
    pub(super) task: String,
    /// The exit code of the check; null if a signal ended it.
    pub(super) exit_code: Option<i32>,
    pub(super) seconds: f64,
    /// Set if the check was stopped because another task had answered the question.
    #[serde(default)]
    pub(super) overtaken: bool,
    /// The report of the check; null if it left none.
    pub(super) report: Value,
    /// The certificate, as a text.
    pub(super) certificate: Option<String>,
}

impl TaskResult {
    /// Returns `safe`, `unsafe`, `unknown` or `error`.
    pub(super) fn verdict(&self) -> &str {
        match self.report["results"][0]["verdict"].as_str() {
            Some(verdict) => verdict,
            None if self.overtaken => "overtaken",
            None => "error",
        }
    }

    /// Returns the trace to the error as a text, if there is one.
    pub(super) fn trace(&self) -> Option<String> {
        let trace = &self.report["results"][0]["answer"]["trace"];
        trace.is_object().then(|| trace.to_string())
    }

    /// Returns why there is no verdict.
    pub(super) fn reason(&self) -> String {
        let reason = self.report["results"][0]["reason"].as_str();
        reason.map_or_else(|| format!("exit code {:?}", self.exit_code), str::to_string)
    }
}

/// Returns the file of a task's result.
pub(super) fn path(folder: &Path, task: &Task) -> PathBuf {
    folder.join(format!("{}.json", task.id))
}

/// Reads the result of a task; `None` if there is none, or one of another task.
pub(super) fn read(folder: &Path, task: &Task) -> Option<TaskResult> {
    let bytes = read_regular(&path(folder, task)).ok()?;
    let result: TaskResult = serde_json::from_slice(&bytes).ok()?;
    (result.id == task.id && result.task == task.fingerprint()).then_some(result)
}

/// Writes the result of a task: at every moment there is a whole one or none.
pub(super) fn write(folder: &Path, task: &Task, result: &TaskResult) -> std::io::Result<()> {
    let text = serde_json::to_string(result).expect("a result has string keys and no failing parts");
    files::write(&path(folder, task), (text + "\n").as_bytes())
}

/// Returns the file that says that a question is answered.
pub(super) fn answered(folder: &Path, task: &Task) -> PathBuf {
    let (file, question) = task.group();
    folder.join(format!("answered-{}", selvedge_report::json::digest(&format!("{file}\n{question}"))))
}
