//! The crates of the workspace and their dependencies, read from the manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates, without the prefix of the project.
pub(super) struct Graph {
    /// For each crate those that it depends on, without those for its tests.
    below: BTreeMap<String, BTreeSet<String>>,
    /// For each crate the modules that its `lib.rs` declares.
    modules: BTreeMap<String, Vec<String>>,
}

impl Graph {
    /// Reads the manifests of the crates in a folder.
    pub(super) fn read(crates: &Path) -> Graph {
        let mut graph = Graph { below: BTreeMap::new(), modules: BTreeMap::new() };
        for entry in std::fs::read_dir(crates).expect("the crates can be listed") {
            let folder = entry.expect("the crates can be listed").path();
            let Ok(manifest) = std::fs::read_to_string(folder.join("Cargo.toml")) else { continue };
            let name = folder.file_name().expect("a crate has a folder").to_string_lossy().into_owned();
            graph.below.insert(name.clone(), dependencies(&manifest));
            graph.modules.insert(name, modules(&folder));
        }
        graph
    }

    /// Returns the names of the crates, in alphabetical order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.below.keys().map(String::as_str)
    }

    /// Returns the modules of a crate.
    pub(super) fn modules(&self, name: &str) -> &[String] {
        &self.modules[name]
    }

    /// Returns all crates that a crate depends on, directly or not.
    pub(super) fn all_below(&self, name: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut waiting: Vec<&str> = self.direct(name).collect();
        while let Some(next) = waiting.pop() {
            if found.insert(next) {
                waiting.extend(self.direct(next));
            }
        }
        found
    }

    /// Returns the direct dependencies of a crate that are not dependencies of another one of them.
    pub(super) fn reduced(&self, name: &str) -> Vec<&str> {
        let is_implied = |one: &str| self.direct(name).any(|other| self.all_below(other).contains(one));
        self.direct(name).filter(|one| !is_implied(one)).collect()
    }

    /// Returns the length of the longest chain of dependencies below a crate.
    pub(super) fn depth(&self, name: &str) -> usize {
        self.direct(name).map(|below| self.depth(below) + 1).max().unwrap_or(0)
    }

    fn direct(&self, name: &str) -> impl Iterator<Item = &str> {
        self.below[name].iter().map(String::as_str)
    }
}

/// Returns the crates of the project in the section `[dependencies]` of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.lines().skip_while(|line| *line != "[dependencies]").skip(1);
    let section = section.take_while(|line| !line.starts_with('['));
    let name = |line: &str| Some(line.strip_prefix("selvedge-")?.split(['.', ' ', '=']).next()?.to_string());
    section.filter_map(name).collect()
}

/// Returns the modules that a crate declares in its first file.
fn modules(folder: &Path) -> Vec<String> {
    let first =
        ["lib.rs", "main.rs"].iter().find_map(|file| std::fs::read_to_string(folder.join("src").join(file)).ok());
    let name = |line: &str| {
        let rest = line.strip_prefix("pub mod ").or_else(|| line.strip_prefix("mod "))?;
        Some(rest.strip_suffix(';')?.to_string())
    };
    first.unwrap_or_default().lines().filter_map(name).collect()
}
