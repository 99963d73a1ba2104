//! The interface of the library, as a text beside the tests: a change of it is a decision.
//!
//! The listing is made from the sources: all that is public in them is public outside. What a line promised and the
//! next release does not breaks callers, so that it needs a new number of the version; new lines do not.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::root;

/// The listing of a file, line by line.
#[derive(Default)]
struct Listing {
    lines: Vec<String>,
    /// The attributes before an item that are promises.
    attributes: String,
    /// The item that is open, with the indentation of its members.
    open: Option<(String, usize)>,
    /// A signature that goes on.
    signature: Option<String>,
}

impl Listing {
    fn read(&mut self, text: &str) {
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines() {
            let (indent, words) = (line.len() - line.trim_start().len(), line.trim());
            if words.is_empty() || words.starts_with("//") || words.contains('$') {
                continue;
            }
            match self.signature.take() {
                Some(before) => self.signature(format!("{before} {words}")),
                None => self.line(indent, words),
            }
        }
    }

    fn line(&mut self, indent: usize, words: &str) {
        let is_promise = words.starts_with("#[derive") || words == "#[non_exhaustive]" || words == "#[must_use]";
        if is_promise && (indent == 0 || words == "#[non_exhaustive]") {
            let _ = write!(self.attributes, "{words} ");
            return;
        }
        if let Some(rest) = words.strip_prefix("pub ")
            && ["fn ", "const ", "type ", "use ", "struct ", "enum "].iter().any(|kind| rest.starts_with(kind))
        {
            let attributes = std::mem::take(&mut self.attributes);
            let owner = match &self.open {
                Some((owner, _)) if indent > 0 => format!("{owner}: "),
                _ => String::new(),
            };
            let is_type = rest.starts_with("struct ") || rest.starts_with("enum ");
            if is_type {
                let name = rest.split(|char: char| !char.is_alphanumeric()).nth(1).unwrap_or_default();
                self.open = Some((name.to_string(), 4));
            }
            return self.signature(format!("{owner}{attributes}{rest}"));
        }
        match (&self.open, words) {
            (_, words) if indent == 0 && words.starts_with("impl") => {
                let header = words.trim_end_matches(['{', '}', ' ']);
                let name = header.rsplit(' ').next().unwrap_or_default();
                self.open = Some((name.to_string(), 0));
                if header.contains(" for ") {
                    self.lines.push(header.to_string());
                }
            }
            // A type of `choices!` and its members.
            (None, words) if indent == 4 && words.contains(" of ") => {
                let name = words.split(' ').next().unwrap_or_default();
                self.lines.push(format!("#[non_exhaustive] enum {name}"));
                self.open = Some((name.to_string(), 8));
            }
            (Some((owner, at)), words) if indent > 0 && indent == *at && words != "}" && !words.starts_with("#[") => {
                let member = words.strip_prefix("pub ").unwrap_or(words);
                let is_public = words.starts_with("pub ") || words.starts_with(char::is_uppercase);
                if is_public {
                    self.lines.push(format!("{owner}: {}", member.trim_end_matches(['{', ',', ' '])));
                }
            }
            (_, words) if indent == 0 => {
                self.open = None;
                if !words.starts_with("#[") {
                    self.attributes.clear();
                }
            }
            _ => {}
        }
    }

    /// Takes a part of a signature; it ends before its body.
    fn signature(&mut self, text: String) {
        let is_whole = text.ends_with(['{', ';', '}']);
        if is_whole {
            let end = if text.contains("use ") { [';'; 4] } else { ['{', '}', ';', ' '] };
            let text = text.trim_end_matches(end).replace("( ", "(").replace(", )", ")");
            self.lines.push(text);
        } else {
            self.signature = Some(text);
        }
    }
}

fn listing() -> BTreeSet<String> {
    let folder = root().join("crates/selvedge/src");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut listing = Listing::default();
    for file in files {
        listing.open = None;
        listing.attributes.clear();
        listing.read(&std::fs::read_to_string(file).unwrap());
    }
    listing.lines.into_iter().collect()
}

/// `SELVEDGE_API=write` writes the listing anew.
#[test]
fn the_interface_is_the_one_that_was_decided() {
    let path = root().join("crates/selvedge/tests/suite/api.txt");
    let now = listing();
    assert!(now.len() > 100, "{now:#?}");
    if std::env::var_os("SELVEDGE_API").is_some() {
        let text = now.iter().fold(String::new(), |text, line| text + line + "\n");
        return std::fs::write(path, text).unwrap();
    }
    let text = std::fs::read_to_string(path).unwrap();
    let decided: BTreeSet<String> = text.lines().map(str::to_string).collect();
    let gone: Vec<&String> = decided.difference(&now).collect();
    let new: Vec<&String> = now.difference(&decided).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the interface of the library has changed (`SELVEDGE_API=write` accepts it).\n\
         gone, which breaks callers and needs a new version: {gone:#?}\nnew: {new:#?}"
    );
}
