//! Findings about the user's program, as data. The crate `report` renders them.

use std::borrow::Cow;

use selvedge_ir::span::Span;

pub use crate::codes::Code;
use crate::visible::visible_name;

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub code: Code,
    pub severity: Severity,
    /// One sentence without a full stop.
    pub message: String,
    /// The position, with a remark that may be empty.
    pub primary: Annotation,
    /// Further positions that explain it.
    pub secondary: Vec<Annotation>,
    /// A suggestion.
    pub help: Option<String>,
    /// An edit that follows the suggestion; see [`Diagnostic::fix_in`].
    pub fix: Option<Fix>,
}

/// An edit that mends a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The text to replace; empty to insert one.
    pub span: Span,
    /// The text to put there.
    pub text: String,
}

/// A position with a remark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub span: Span,
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The program has no meaning.
    Error,
    /// The program has a meaning, but perhaps not the intended one.
    Warning,
    /// The program has a meaning that a reader should know of.
    Note,
}

impl Diagnostic {
    /// Returns a finding; its code determines the severity.
    pub fn new(code: Code, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            message: shown(message),
            primary: Annotation { span, label: String::new() },
            secondary: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Adds a remark at its position.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.primary.label = shown(label);
        self
    }

    /// Adds a further position.
    #[must_use]
    pub fn also(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.secondary.push(Annotation { span, label: shown(label) });
        self
    }

    /// Adds a suggestion.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(shown(help));
        self
    }

    /// Suggests another name, if there is one.
    #[must_use]
    pub fn did_you_mean(self, name: Option<&str>) -> Diagnostic {
        match name {
            Some(name) => self.help(format!("did you mean `{name}`?")).replace_by(name),
            None => self,
        }
    }

    /// Adds the edit that replaces the text at the position.
    #[must_use]
    pub fn replace_by(mut self, text: impl Into<String>) -> Diagnostic {
        self.fix = Some(Fix { span: self.primary.span, text: text.into() });
        self
    }

    /// Adds the edit that inserts a text behind the position.
    #[must_use]
    pub fn append(mut self, text: impl Into<String>) -> Diagnostic {
        let end = self.primary.span.end;
        self.fix = Some(Fix { span: Span { start: end, end }, text: text.into() });
        self
    }

    /// Returns the edit in the text that the finding is about. An edit may replace only what the message quotes: the
    /// position of a finding can be wider than the name that is wrong, or in another file. Parentheses around the name
    /// stay.
    pub fn fix_in(&self, text: &str) -> Option<Fix> {
        let fix = self.fix.as_ref()?;
        let (start, end) = (fix.span.start as usize, fix.span.end as usize);
        let whole = text.get(start..end)?;
        if whole.is_empty() {
            return Some(fix.clone());
        }
        let replaced = whole.trim_matches(|c: char| matches!(c, '(' | ')') || c.is_whitespace());
        let quoted = replaced.trim_matches(['<', '>', '"']);
        let start = start + whole.find(replaced)?;
        let span = Span::new(start, start + replaced.len());
        self.message.contains(&format!("`{quoted}`")).then(|| Fix { span, text: fix.text.clone() })
    }

    /// Returns whether the finding is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// The longest word of a sentence for people, in characters.
const LONGEST_WORD: usize = 500;

/// Returns a sentence for people: names in it are shown without hidden characters, and long ones without their end.
fn shown(sentence: impl Into<String>) -> String {
    let sentence = brief(sentence.into());
    match visible_name(&sentence) {
        Cow::Borrowed(_) => sentence,
        Cow::Owned(escaped) => escaped,
    }
}

/// Cuts off long words.
fn brief(sentence: String) -> String {
    if sentence.len() <= LONGEST_WORD {
        return sentence;
    }
    let word = |word: &str| match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_string(),
    };
    sentence.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_off() {
        let name = "ä".repeat(3 * LONGEST_WORD);
        let cut = shown(format!("`{name}` is never read"));
        assert_eq!(cut, format!("`{}… is never read", "ä".repeat(LONGEST_WORD - 1)));
        let sentence = "a word ".repeat(LONGEST_WORD);
        assert_eq!(shown(sentence.as_str()), sentence);
    }
}
