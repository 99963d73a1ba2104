//! The question that a piece of evidence answers, in the user's words.

use selvedge_check::{Initial, Question};
use selvedge_frontend::FileOptions;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::c::{Properties, Property};
use selvedge_ir::Count;
use serde::{Deserialize, Serialize};

/// The question that a trace or a certificate answers, in the user's words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionView {
    /// `--threads`; null for any number.
    pub threads: Option<u32>,
    /// `--initial`; null where the program decides.
    pub initial: Option<InitialView>,
    pub label: Option<String>,
    pub assertion: Option<String>,
    pub entry: Option<String>,
    /// `--together`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub together: Vec<String>,
    /// `--deadlock`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deadlock: bool,
    /// `--property`, for C programs; empty for the assertions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<String>,
}

/// A number, or `"any"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum InitialView {
    Exactly(u32),
    Any(AnyWord),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnyWord {
    Any,
}

impl QuestionView {
    pub fn new(question: &Question, entry: Option<&str>) -> QuestionView {
        let initial = question.initial.map(|initial| match initial {
            Initial::Exactly(count) => InitialView::Exactly(count),
            Initial::Any => InitialView::Any(AnyWord::Any),
        });
        QuestionView {
            threads: question.threads,
            initial,
            label: question.label.clone(),
            assertion: question.assertion.clone(),
            entry: entry.map(str::to_string),
            together: question.together.clone(),
            deadlock: question.deadlock,
            properties: Vec::new(),
        }
    }

    /// Returns the question with properties of C programs.
    #[must_use]
    pub fn with_properties(self, asked: Properties) -> QuestionView {
        let is_said = asked == Properties::default() || asked == Properties::of([Property::Deadlock]) && self.deadlock;
        let names = asked.names().into_iter().map(str::to_string).filter(|_| !is_said);
        QuestionView { properties: names.collect(), ..self }
    }

    /// Returns the options of the command line that ask this question; none for the question without options.
    pub fn options(&self) -> String {
        let initial = self.initial.map(|initial| match initial {
            InitialView::Exactly(count) => count.to_string(),
            InitialView::Any(AnyWord::Any) => "any".to_string(),
        });
        let together = (!self.together.is_empty()).then(|| self.together.join(","));
        let options = [
            ("--threads", self.threads.map(|threads| threads.to_string())),
            ("--initial", initial),
            ("--label", self.label.clone()),
            ("--assertion", self.assertion.clone()),
            ("--together", together),
            ("--entry", self.entry.clone()),
            ("--property", (!self.properties.is_empty()).then(|| self.properties.join(","))),
        ];
        let given = options.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", shell_word(&value?))));
        let deadlock = self.deadlock.then(|| "--deadlock".to_string());
        given.chain(deadlock).collect::<Vec<_>>().join(" ")
    }

    /// Returns the options with which the program is read for this question.
    pub fn load_options(&self) -> LoadOptions {
        let labels = self.label.iter().chain(&self.assertion).chain(&self.together).cloned().collect();
        let properties = self.properties.iter().filter_map(|name| Property::named(name));
        let properties = match self.properties.is_empty() {
            true => Properties::default(),
            false => Properties::of(properties),
        };
        let entry = self.entry.clone();
        LoadOptions { entry, labels, deadlock: self.deadlock, properties, ..LoadOptions::default() }
    }

    /// The question without the entry, which concerns the reader of the program.
    pub fn question(&self) -> Question {
        let initial = self.initial.map(|initial| match initial {
            InitialView::Exactly(count) => Initial::Exactly(count),
            InitialView::Any(AnyWord::Any) => Initial::Any,
        });
        Question {
            threads: self.threads,
            initial,
            label: self.label.clone(),
            assertion: self.assertion.clone(),
            together: self.together.clone(),
            deadlock: self.deadlock,
            created: None,
        }
    }

    /// Returns the question with the options of a file where none are given, and apart the part of it that comes from
    /// the file. An option that chooses a question, such as `--label`, comes before all that the file says about this.
    #[must_use]
    pub fn or_file(self, file: &FileOptions) -> (QuestionView, QuestionView) {
        let taken = QuestionView {
            threads: file.threads.filter(|_| self.threads.is_none()),
            initial: file.initial.filter(|_| self.initial.is_none()).map(initial_view),
            entry: file.entry.clone().filter(|_| self.entry.is_none()),
            ..if self.chooses() { QuestionView::default() } else { QuestionView::choice_of(file) }
        };
        let asked = QuestionView {
            threads: self.threads.or(taken.threads),
            initial: self.initial.or(taken.initial),
            label: self.label.or(taken.label.clone()),
            assertion: self.assertion.or(taken.assertion.clone()),
            entry: self.entry.or(taken.entry.clone()),
            together: if self.together.is_empty() { taken.together.clone() } else { self.together },
            deadlock: self.deadlock || taken.deadlock,
            properties: if self.properties.is_empty() { taken.properties.clone() } else { self.properties },
        };
        (asked, taken)
    }

    /// Returns whether an option chooses a question other than the one about all assertions.
    fn chooses(&self) -> bool {
        let named = self.label.is_some() || self.assertion.is_some() || !self.together.is_empty();
        named || self.deadlock || !self.properties.is_empty()
    }

    /// Returns the question that a file chooses, without threads and entry.
    fn choice_of(file: &FileOptions) -> QuestionView {
        let chosen = QuestionView {
            label: file.label.clone(),
            assertion: file.assertion.clone(),
            together: file.together.clone(),
            deadlock: file.asks_for_deadlocks(),
            ..QuestionView::default()
        };
        chosen.with_properties(file.properties.unwrap_or_default())
    }
}

/// Returns the number of initial threads that a file asks for.
fn initial_view(count: Count) -> InitialView {
    match count {
        Count::Exactly(count) | Count::AtMost(count) => InitialView::Exactly(count),
        Count::Any => InitialView::Any(AnyWord::Any),
    }
}

/// Returns a text as one word of a shell's command line; characters that are not for a terminal are escaped.
fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.,:/".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_string();
    }
    let shown: String =
        text.chars().flat_map(|c| if c == '\'' { vec![c] } else { c.escape_debug().collect() }).collect();
    format!("'{}'", shown.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &str) -> FileOptions {
        FileOptions::read(&format!("// options: {words}"), None).0
    }

    #[test]
    fn a_file_says_what_the_command_line_does_not() {
        let given = QuestionView { threads: Some(2), ..QuestionView::default() };
        let (asked, taken) = given.or_file(&of("--threads 3 --initial any --label L"));
        assert_eq!(asked.options(), "--threads 2 --initial any --label L");
        assert_eq!(taken.options(), "--initial any --label L");
    }

    #[test]
    fn a_question_of_the_command_line_comes_before_that_of_the_file() {
        let given = QuestionView { assertion: Some("7".to_string()), ..QuestionView::default() };
        for file in ["--deadlock", "--label L", "--together A,A", "--property memory"] {
            let (asked, taken) = given.clone().or_file(&of(file));
            assert_eq!(asked, given, "{file}");
            assert_eq!(taken, QuestionView::default(), "{file}");
        }
    }

    #[test]
    fn deadlocks_are_a_property_too() {
        for file in ["--deadlock", "--property deadlock"] {
            let (asked, taken) = QuestionView::default().or_file(&of(file));
            assert_eq!(asked.options(), "--deadlock");
            assert_eq!(taken.options(), "--deadlock");
        }
    }
}
