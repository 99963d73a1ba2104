//! The lanes of an execution: its threads, or the processes of guarded commands, which are one thread for the engines.

use selvedge_ir::EdgeId;
use selvedge_ir::span::SourceMap;

use crate::annotated_trace::AnnotatedStep;

/// The process of a guarded command: its number, and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    pub number: u32,
    pub name: String,
}

/// Returns the names of the processes: those of the variables that hold where they are. Empty without processes.
pub(crate) fn processes(map: &SourceMap, name: impl Fn(selvedge_ir::VarId) -> String) -> Vec<String> {
    map.values.keys().map(|var| name(*var)).collect()
}

/// Returns the process that a step belongs to; `None` for steps of no process.
pub(crate) fn process(map: &SourceMap, processes: &[String], edge: EdgeId) -> Option<Process> {
    let command = map.commands.get(&edge)?;
    let name = command.split('.').next().unwrap_or_default();
    let number = processes.iter().position(|process| process == name)?;
    Some(Process { number: number as u32, name: name.to_string() })
}

impl AnnotatedStep {
    /// Returns the number of the lane: that of the process or of the thread.
    pub(crate) fn lane(&self) -> u32 {
        self.process.as_ref().map_or(self.thread.0, |process| process.number)
    }

    /// Returns the name of the process or of the thread.
    pub(crate) fn who(&self) -> &str {
        self.process.as_ref().map_or(&self.name, |process| &process.name)
    }

    /// Returns the statement without the name of the process.
    pub(crate) fn statement(&self) -> &str {
        let own = self.process.as_ref().and_then(|process| self.text.strip_prefix(process.name.as_str()));
        own.and_then(|rest| rest.strip_prefix(' ')).unwrap_or(&self.text)
    }
}
