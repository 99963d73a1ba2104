//! What is asked: groups of instances.

use std::path::PathBuf;

use selvedge_driver::Question;

use super::concurrent::{CONCURRENT, Concurrent, Size, Twin};
use super::families::{self, FAMILIES};
use crate::corpus::{Expected, foreign};

/// Instances that belong together, the easier ones first.
pub struct Group {
    /// The name of the family, or of a part of the corpus.
    pub family: String,
    /// Whether a tool that reached the limit on one instance is still asked about the next.
    pub growth: Growth,
    /// The instances.
    pub instances: Vec<Instance>,
}

/// How the instances of a group relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Each is harder than the one before.
    Ascending,
    /// They have nothing to do with each other.
    Unrelated,
}

/// A program and a question about it.
pub struct Instance {
    /// Its name, different from all others.
    pub name: String,
    /// Its size, or its lines.
    pub size: usize,
    /// What the answer must be, where that is known.
    pub expected: Option<Expected>,
    /// The question.
    pub question: Question,
    /// The program.
    pub text: Text,
}

/// Where a program is.
pub enum Text {
    /// It is made when it is needed.
    Made(Box<dyn Fn() -> String>),
    /// In a file.
    File(PathBuf),
}

/// The families of programs with one thread, and the sequential part of the corpus.
pub fn sequential() -> Vec<Group> {
    let mut groups: Vec<Group> = FAMILIES.iter().map(sequential_family).collect();
    let question = Question::default();
    groups.push(files("corpus", families::corpus(), &question));
    groups
}

fn sequential_family(family: &'static families::Family) -> Group {
    let instance = |size: &usize| {
        let size = *size;
        Instance {
            name: format!("{}-{size}", family.name),
            size,
            expected: Some(family.expected),
            question: Question::default(),
            text: Text::Made(Box::new(move || (family.make)(size))),
        }
    };
    let instances = family.sizes.iter().map(instance).collect();
    Group { family: family.name.to_string(), growth: Growth::Ascending, instances }
}

/// The families of programs with threads, and the concurrent part of the corpus with up to 2, 3 and 4 threads.
pub fn threads() -> Vec<Group> {
    let mut groups = Vec::new();
    for family in CONCURRENT {
        groups.extend(Twin::BOTH.map(|twin| concurrent_family(family, twin)));
    }
    for threads in 2..=4 {
        let question = Question { threads: Some(threads), ..Question::default() };
        groups.push(files(&format!("corpus-{threads}"), concurrent_corpus(), &question));
    }
    groups
}

fn concurrent_family(family: &'static Concurrent, twin: Twin) -> Group {
    let name = format!("{}-{}", family.name, twin.suffix());
    let instance = |size: Size| Instance {
        name: format!("{name}-{}", family.number(size)),
        size: family.number(size),
        expected: Some(family.expected(size, twin)),
        question: family.question(size),
        text: Text::Made(Box::new(move || (family.make)(size, twin))),
    };
    let instances = family.sizes().into_iter().map(instance).collect();
    Group { family: name, growth: Growth::Ascending, instances }
}

/// The programs with threads that other people made, where they are there.
fn concurrent_corpus() -> Vec<PathBuf> {
    let folders = ["ijit", "satabs-refined", "ucob", "satabs-generated"];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| foreign(folder))
        .flat_map(|folder| crate::corpus::files(&folder, "bp"))
        .collect();
    let is_sequential =
        |path: &PathBuf| path.iter().any(|part| part == "safety") || file_name(path).starts_with("safety_");
    found.retain(|path| !is_sequential(path));
    found
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn files(family: &str, files: Vec<PathBuf>, question: &Question) -> Group {
    let instance = |file: PathBuf| {
        let parts: Vec<_> = file.iter().rev().take(3).map(|part| part.to_string_lossy().into_owned()).collect();
        let suffix = question.threads.map_or(String::new(), |threads| format!(" ({threads} threads)"));
        let name = parts.into_iter().rev().collect::<Vec<_>>().join("/") + &suffix;
        let size = std::fs::read(&file).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
        Instance { name, size, expected: None, question: question.clone(), text: Text::File(file) }
    };
    let instances = files.into_iter().map(instance).collect();
    Group { family: family.to_string(), growth: Growth::Unrelated, instances }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_instances_differ() {
        for groups in [sequential(), threads()] {
            let mut names: Vec<&str> =
                groups.iter().flat_map(|group| group.instances.iter().map(|instance| instance.name.as_str())).collect();
            names.sort_unstable();
            let n_names = names.len();
            names.dedup();
            assert_eq!(names.len(), n_names);
        }
    }

    #[test]
    fn sizes_ascend_in_families() {
        for group in sequential().iter().chain(&threads()).filter(|group| group.growth == Growth::Ascending) {
            let sizes: Vec<usize> = group.instances.iter().map(|instance| instance.size).collect();
            assert!(sizes.len() > 1 && sizes.is_sorted_by(|a, b| a < b), "{}: {sizes:?}", group.family);
        }
    }
}
