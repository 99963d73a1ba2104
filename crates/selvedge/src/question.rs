//! What is asked about a program.

use selvedge_check::Initial;
use selvedge_frontend::c::Properties;
use selvedge_report::json::QuestionView;

use crate::choices::Property;
use crate::error::Error;

/// What is asked about a program. The default asks whether an assertion can fail or an error label can be reached, with
/// any number of threads, or as many as the program's own line `// options: ..` says.
///
/// ```
/// use selvedge::{Limits, Program, Question, Verdict, check};
///
/// let program: Program = "
///     decl turn := 0;
///     void main() begin
///         start_thread other();
///         A: turn := 1;
///     end
///     void other() begin B: turn := 0; end".parse()?;
/// let question = Question::new().threads(2).together(["A", "B"]);
/// assert_eq!(check(&program, &question, &Limits::default())?.verdict(), Verdict::Unsafe);
/// # Ok::<(), selvedge::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Question {
    inner: selvedge_check::Question,
    entry: Option<String>,
    properties: Vec<Property>,
}

impl Question {
    /// Creates the question about all assertions and error labels.
    pub fn new() -> Question {
        Question::default()
    }

    /// Sets how many threads there are at the same time, at most.
    pub fn threads(mut self, threads: u32) -> Question {
        self.inner.threads = Some(threads);
        self
    }

    /// Sets how many threads run the entry procedure at first.
    pub fn initial(mut self, threads: u32) -> Question {
        self.inner.initial = Some(Initial::Exactly(threads));
        self
    }

    /// Lets any number of threads run the entry procedure at first.
    pub fn initial_any(mut self) -> Question {
        self.inner.initial = Some(Initial::Any);
        self
    }

    /// Asks whether a thread can be at this label, instead of the assertions.
    pub fn label(mut self, label: impl Into<String>) -> Question {
        self.inner.label = Some(label.into());
        self
    }

    /// Asks about one assertion, by its label or its line.
    pub fn assertion(mut self, assertion: impl Into<String>) -> Question {
        self.inner.assertion = Some(assertion.into());
        self
    }

    /// Asks whether different threads can be at these labels at the same time, instead of the assertions.
    pub fn together<S: Into<String>>(mut self, labels: impl IntoIterator<Item = S>) -> Question {
        self.inner.together = labels.into_iter().map(Into::into).collect();
        self
    }

    /// Asks whether a thread can be alive while no thread can move, instead of the assertions.
    pub fn deadlock(mut self) -> Question {
        self.inner.deadlock = true;
        self
    }

    /// Sets the procedure that the initial thread runs, instead of `main`, for Boolean programs.
    pub fn entry(mut self, procedure: impl Into<String>) -> Question {
        self.entry = Some(procedure.into());
        self
    }

    /// Asks about this property of a C program, beside those that were named before; without any, about its assertions.
    pub fn property(mut self, property: Property) -> Question {
        self.properties.push(property);
        self
    }

    /// Returns the question as evidence names it.
    pub(crate) fn view(&self) -> Result<QuestionView, Error> {
        let invalid = |message: &str, help: &str| Error::Question { message: message.into(), help: Some(help.into()) };
        let Question { inner, entry, properties } = self;
        let asks_for_deadlocks = inner.deadlock || properties.contains(&Property::Deadlock);
        if asks_for_deadlocks && properties.iter().any(|property| *property != Property::Deadlock) {
            let message = "deadlocks are a separate question, which cannot be combined with other properties";
            return Err(invalid(message, "check for deadlocks separately"));
        }
        let choices =
            [inner.label.is_some(), inner.assertion.is_some(), !inner.together.is_empty(), asks_for_deadlocks];
        if choices.iter().filter(|chosen| **chosen).count() > 1 {
            let message = "`label`, `assertion`, `together` and `deadlock` ask different questions";
            return Err(invalid(message, "ask them one by one"));
        }
        if (inner.label.is_some() || !inner.together.is_empty()) && !properties.is_empty() {
            return Err(invalid("a property and a label are different questions", "ask them one by one"));
        }
        let counts = [("threads", inner.threads), ("initial", exactly(inner.initial))];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == Some(0)) {
            return Err(invalid(&format!("`{name}` is 0"), "there is at least one thread"));
        }
        let inner = selvedge_check::Question { deadlock: asks_for_deadlocks, ..inner.clone() };
        let view = QuestionView::new(&inner, entry.as_deref());
        Ok(match properties.is_empty() {
            true => view,
            false => view.with_properties(Properties::of(properties.iter().copied().map(Into::into))),
        })
    }
}

fn exactly(initial: Option<Initial>) -> Option<u32> {
    match initial {
        Some(Initial::Exactly(count)) => Some(count),
        Some(Initial::Any) | None => None,
    }
}
