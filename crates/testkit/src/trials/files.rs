//! The files that a trial leaves: each is the old one or whole, and nothing is left beside them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The files of a folder by name, with those of folders in it.
pub type Contents = BTreeMap<String, Vec<u8>>;

/// A folder that is removed in the end.
#[derive(Debug)]
pub struct Scratch {
    /// Where it is.
    pub path: PathBuf,
}

impl Scratch {
    /// Makes an empty folder.
    pub fn new() -> std::io::Result<Scratch> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("selvedge-scratch-{}-{number}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Scratch { path })
    }

    /// Makes the folder have these files and no others.
    pub fn reset(&self, files: &Contents) -> std::io::Result<()> {
        fs::remove_dir_all(&self.path)?;
        fs::create_dir_all(&self.path)?;
        for (name, bytes) in files {
            let path = self.path.join(name);
            fs::create_dir_all(path.parent().unwrap_or(&self.path))?;
            fs::write(path, bytes)?;
        }
        Ok(())
    }

    /// Reads all files.
    pub fn contents(&self) -> Contents {
        let mut found = Contents::new();
        read_into(&self.path, "", &mut found);
        found
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.path);
    }
}

fn read_into(folder: &Path, prefix: &str, found: &mut Contents) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), format!("{prefix}{}", entry.file_name().to_string_lossy()));
        if path.is_dir() {
            read_into(&path, &format!("{name}/"), found);
        } else {
            found.insert(name, fs::read(&path).unwrap_or_default());
        }
    }
}

/// Says what is wrong with the files after a run. `whole` are those after a run in which nothing went wrong.
pub fn problems(before: &Contents, after: &Contents, whole: Option<&Contents>) -> Vec<String> {
    let mut problems = Vec::new();
    for (name, bytes) in after {
        if before.get(name) != Some(bytes) && !is_whole(name, bytes, whole) {
            problems.push(format!("{name} is broken ({} bytes)", bytes.len()));
        }
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    problems.extend(gone.map(|name| format!("{name} is gone")));
    problems
}

/// Returns whether a new file is whole: by its form where that has an end, else by comparison.
fn is_whole(name: &str, bytes: &[u8], whole: Option<&Contents>) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match Path::new(name).extension().and_then(|ending| ending.to_str()) {
        Some("tmp") => false,
        Some("json" | "sarif") => serde_json::from_slice::<serde_json::Value>(bytes).is_ok(),
        Some("html") => text.trim_end().ends_with("</html>"),
        _ => whole.is_none_or(|whole| whole.get(name).is_some_and(|other| other == bytes)) && !bytes.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(files: &[(&str, &str)]) -> Contents {
        files.iter().map(|(name, text)| (name.to_string(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn broken_missing_and_left_files_are_noticed() {
        let before = contents(&[("a.json", "old"), ("b.bp", "old")]);
        let whole = contents(&[("a.json", "{}"), ("b.bp", "decl a;")]);
        assert_eq!(problems(&before, &before, Some(&whole)), Vec::<String>::new());
        assert_eq!(problems(&before, &whole, Some(&whole)), Vec::<String>::new());
        let half = contents(&[("a.json", "{"), ("b.bp", "decl"), (".selvedge-1-0.tmp", "x")]);
        assert_eq!(problems(&before, &half, Some(&whole)).len(), 3);
        assert_eq!(problems(&before, &contents(&[("a.json", "{}")]), Some(&whole)), ["b.bp is gone"]);
    }

    #[test]
    fn a_scratch_folder_has_the_given_files() {
        let scratch = Scratch::new().expect("a temporary folder can be made");
        let files = contents(&[("a", "1"), ("in/b", "2")]);
        scratch.reset(&files).expect("it can be filled");
        assert_eq!(scratch.contents(), files);
    }
}
