//! The texts of open files, and what checks have found about them. Checks run on threads of their own, so both are
//! behind a lock.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::client::Client;
use super::diagnostics::of_text;
use super::found::Checked;
use super::guarded;
use super::places::Places;
use crate::found::SessionOptions;

/// An open file.
#[derive(Clone, Default)]
pub(super) struct File {
    pub(super) text: Arc<str>,
    /// The results of the checks of this text, one for each question, the last one first.
    pub(super) checked: Vec<Arc<Checked>>,
}

impl File {
    /// Returns the last execution to an error.
    pub(super) fn failure(&self) -> Option<&Arc<Checked>> {
        self.checked.iter().find(|checked| checked.failure.is_some())
    }
}

/// The open files by their addresses.
#[derive(Default)]
pub(super) struct Files {
    open: Mutex<BTreeMap<String, File>>,
    /// Held while diagnostics are published, so that the last ones that a client gets are about the last text.
    publishing: Mutex<()>,
}

impl Files {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, File>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a file; `None` if it is not open.
    pub(super) fn get(&self, uri: &str) -> Option<File> {
        self.lock().get(uri).cloned()
    }

    /// Returns the addresses of the open files with their texts.
    pub(super) fn all(&self) -> Vec<(String, Arc<str>)> {
        self.lock().iter().map(|(uri, file)| (uri.clone(), Arc::clone(&file.text))).collect()
    }

    /// Sets the text of a file. What was found about another text is forgotten.
    pub(super) fn set(&self, uri: &str, text: &str) {
        let mut open = self.lock();
        let file = open.entry(uri.to_string()).or_default();
        if *file.text != *text {
            *file = File { text: text.into(), checked: Vec::new() };
        }
    }

    /// Makes the changes of a notification, in order. Returns whether they can be made.
    pub(super) fn change(&self, uri: &str, changes: &[Value]) -> bool {
        let Some(file) = self.get(uri) else { return false };
        let changed = changes.iter().try_fold(file.text.to_string(), changed);
        changed.map(|text| self.set(uri, &text)).is_some()
    }

    pub(super) fn close(&self, uri: &str) {
        self.lock().remove(uri);
    }

    /// Keeps the result of a check, if the file still has the text that was checked. Returns whether it has.
    pub(super) fn record(&self, uri: &str, text: &str, checked: Checked) -> bool {
        let mut open = self.lock();
        let Some(file) = open.get_mut(uri).filter(|file| *file.text == *text) else { return false };
        file.checked.retain(|other| other.asked != checked.asked);
        file.checked.insert(0, Arc::new(checked));
        true
    }

    /// Tells the client what is wrong with a file: with its text, and what checks have found.
    pub(super) fn publish(&self, uri: &str, client: &Client<'_>, given: SessionOptions) -> io::Result<()> {
        let _one_at_a_time = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.get(uri);
        // A text on which the reader fails has no diagnostics.
        let of_text = file.as_ref().map(|file| guarded(|| of_text(uri, &file.text, given)).unwrap_or_default());
        let failures = file.iter().flat_map(|file| &file.checked).filter_map(|checked| checked.failure.as_ref());
        let mut failures: Vec<Value> = failures.map(|failure| failure.diagnostic(uri)).collect();
        failures.dedup_by(|one, other| one["range"] == other["range"] && one["code"] == other["code"]);
        let diagnostics: Vec<Value> = of_text.into_iter().flatten().chain(failures).collect();
        client.notify("textDocument/publishDiagnostics", &json!({ "uri": uri, "diagnostics": diagnostics }))
    }
}

/// Makes one change: of a range, or of the whole text.
fn changed(mut text: String, change: &Value) -> Option<String> {
    let new = change["text"].as_str()?;
    let Some(range) = change.get("range").filter(|range| !range.is_null()) else { return Some(new.to_string()) };
    let places = Places::new(&text);
    let (start, end) = (places.offset(&range["start"]), places.offset(&range["end"]));
    (start <= end).then(|| text.replace_range(start..end, new))?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(line: u64, from: u64, to: u64, text: &str) -> Value {
        let place = |character: u64| json!({ "line": line, "character": character });
        json!({ "range": { "start": place(from), "end": place(to) }, "text": text })
    }

    #[test]
    fn changes_are_made_in_order_and_counted_in_utf16_units() {
        let files = Files::default();
        files.set("f", "a\n𝒳b := c;\n");
        assert!(files.change("f", &[change(1, 2, 3, "bee"), change(1, 9, 10, "sea"), change(0, 1, 1, "\nnew")]));
        assert_eq!(&*files.get("f").unwrap().text, "a\nnew\n𝒳bee := sea;\n");
        assert!(files.change("f", &[json!({ "text": "all" }), change(0, 3, 3, "!")]));
        assert_eq!(&*files.get("f").unwrap().text, "all!");
        assert!(!files.change("f", &[change(0, 3, 1, "?")]));
        assert!(!files.change("g", &[json!({ "text": "all" })]));
        assert_eq!(&*files.get("f").unwrap().text, "all!");
    }
}
