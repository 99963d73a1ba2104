//! What most commands share: the question and the limits.

use std::time::Duration;

use clap::Args;
use selvedge_check::{Initial, Limits, Question};
use selvedge_frontend::c::{Properties, Property};
use selvedge_report::json::QuestionView;

use super::c::{Asked, properties, union};
use super::values::{initial, positive, start_value};
use crate::memory;
use crate::{quantity, system};

/// The limits of a command.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Stop after this time, including the time to read the input: 250ms, 30s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    #[arg(help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,
    /// Stop when this much memory is in use, including that of SMT solvers: 500MB, 4GB, 2GiB [default: four fifths of
    /// the machine's]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    #[arg(help_heading = "Limits")]
    pub(crate) memory_limit: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits as engines get them.
    pub(crate) fn limits(self) -> Limits {
        Limits { time: self.time_limit, memory: self.memory(), memory_in_use: Some(memory::in_use) }
    }

    /// Returns the memory that may be in use. The system would end the program, or others, if it took all that there
    /// is.
    pub(crate) fn memory(self) -> Option<u64> {
        self.memory_limit.or_else(|| Some(system::memory()? / 5 * 4))
    }

    /// Returns the limits of each of some processes that run at a time: they share the memory, unless a limit is given.
    pub(crate) fn shared(self, processes: usize) -> LimitArgs {
        let part = || Some(self.memory()? / processes.max(1) as u64);
        LimitArgs { memory_limit: self.memory_limit.or_else(part), ..self }
    }
}

/// The question, shared by all subcommands that execute programs.
#[derive(Clone, Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Maximum number of threads that exist at the same time [default: unlimited]
    #[arg(long, value_name = "N", value_parser = positive, allow_negative_numbers = true)]
    #[arg(help_heading = "Question")]
    pub(crate) threads: Option<u32>,
    /// Number of threads that run the entry procedure at the start, or `any` [default: one, or as the program says]
    #[arg(long, value_name = "N|any", value_parser = initial, allow_negative_numbers = true)]
    #[arg(help_heading = "Question")]
    pub(crate) initial: Option<Initial>,
    /// Check whether this label can be reached, instead of checking the assertions
    #[arg(long, value_name = "LABEL", conflicts_with = "assertion")]
    #[arg(help_heading = "Question")]
    pub(crate) label: Option<String>,
    /// Check a single assertion, given by its label or line number
    #[arg(long, value_name = "LABEL|LINE")]
    #[arg(help_heading = "Question")]
    pub(crate) assertion: Option<String>,
    /// Check whether different threads can be at these labels at the same time, instead of checking the assertions: a
    /// comma-separated list; name a label twice for two threads
    #[arg(long, value_name = "LABELS", value_delimiter = ',', conflicts_with_all = ["label", "assertion"])]
    #[arg(help_heading = "Question")]
    pub(crate) together: Vec<String>,
    /// Check whether a state can be reached in which a thread is alive and no thread can move, instead of checking the
    /// assertions
    #[arg(long, conflicts_with_all = ["label", "assertion", "together"])]
    #[arg(help_heading = "Question")]
    pub(crate) deadlock: bool,
    /// What to check in a C program: a comma-separated list of assertions, no-data-race, no-overflow, memory, deadlock
    /// and misuse, or a property file (.prp) [default: assertions]
    #[arg(long, value_name = "LIST|FILE.prp", value_parser = properties)]
    #[arg(conflicts_with_all = ["label", "together", "deadlock"])]
    #[arg(help_heading = "Question")]
    pub(crate) property: Vec<Asked>,
    /// Check only executions in which these shared variables, which can start with either truth value, start with
    /// these: a comma-separated list such as x=1,y=0
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = start_value)]
    #[arg(help_heading = "Question", hide = true)]
    pub(crate) starts: Vec<(String, bool)>,
    /// Entry procedure of the program [default: main]
    #[arg(long, value_name = "NAME")]
    #[arg(help_heading = "Question")]
    pub(crate) entry: Option<String>,
}

impl QuestionArgs {
    pub(crate) fn question(&self) -> Question {
        Question {
            threads: self.threads,
            initial: self.initial,
            label: self.label.clone(),
            assertion: self.assertion.clone(),
            together: self.together.clone(),
            deadlock: self.asks_for_deadlocks(),
            starts: self.starts.clone(),
            created: None,
        }
    }

    /// Returns the properties that a C program is checked for.
    pub(crate) fn properties(&self) -> Properties {
        union(&self.property)
    }

    pub(crate) fn asks_for_deadlocks(&self) -> bool {
        self.deadlock || self.properties().has(Property::Deadlock)
    }

    /// Returns whether no option is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.view() == QuestionView::default()
    }

    /// The question as traces and certificates name it.
    pub(crate) fn view(&self) -> QuestionView {
        QuestionView::new(&self.question(), self.entry.as_deref()).with_properties(self.properties())
    }
}
