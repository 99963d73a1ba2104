//! The suites: groups of programs with questions about them.

use selvedge_check::{Initial, Question};
use std::path::PathBuf;

use super::concurrent::{CONCURRENT, Concurrent, Size, Twin};
use super::families::{self, FAMILIES};
use selvedge_testkit::corpus::{Entry, Expected, boppo, foreign, own, refined, systems};

/// Instances that belong together, the easier ones first.
pub struct Group {
    /// The name of the family, or of a part of the corpus.
    pub family: String,
    /// Determines whether a tool that reached the limit on one instance still runs on the next.
    pub growth: Growth,
    /// The instances.
    pub instances: Vec<Instance>,
}

/// The relation between the instances of a group.
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
    /// The correct verdict, where it is known.
    pub expected: Option<Expected>,
    /// The question.
    pub question: Question,
    /// The program.
    pub text: Text,
}

/// The source of a program's text.
pub enum Text {
    /// A function that generates it.
    Made(Box<dyn Fn() -> String>),
    /// A file.
    File(PathBuf),
}

/// Returns the families of programs with one thread, and the sequential part of the corpus.
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

/// Returns the families of programs with threads, and the concurrent part of the corpus with up to 2, 3 and 4 threads.
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

/// Returns the groups for any number of threads: the thread-transition systems of the corpus with one initial thread
/// and with any number, the programs that some of them come from, and the families of programs with threads, each at
/// its first size.
pub fn unbounded() -> Result<Vec<Group>, String> {
    let systems = systems()?;
    let one = systems.iter().map(|system| Instance {
        name: format!("{} (one)", system.name),
        size: system.n_transitions,
        expected: system.one,
        question: Question::default(),
        text: Text::File(system.path.clone()),
    });
    let any = systems.iter().map(|system| Instance {
        name: format!("{} (any)", system.name),
        size: system.n_transitions,
        expected: system.any,
        question: Question { initial: Some(Initial::Any), ..Question::default() },
        text: Text::File(system.path.clone()),
    });
    let programs = systems.iter().filter(|system| system.path.with_extension("bp").is_file()).map(|system| Instance {
        name: format!("{} (program)", system.name),
        size: system.n_transitions,
        expected: system.one,
        question: Question::default(),
        text: Text::File(system.path.with_extension("bp")),
    });
    Ok(vec![
        unrelated("corpus-tts-one", one.collect()),
        unrelated("corpus-tts-any", any.collect()),
        unrelated("corpus-bp", programs.collect()),
        unrelated(
            "families",
            CONCURRENT.iter().flat_map(|family| Twin::BOTH.map(|twin| unbounded_twin(family, twin))).collect(),
        ),
    ])
}

/// Returns the smallest instance that has an error if the twin has one, without a bound on the threads. A twin that is
/// safe with few threads need not be safe with any number.
fn unbounded_twin(family: &'static Concurrent, twin: Twin) -> Instance {
    let sizes = family.sizes();
    let has_error = |size: &&Size| family.expected(**size, twin) == Expected::Unsafe;
    let size = *sizes.iter().find(has_error).unwrap_or(&sizes[0]);
    Instance {
        name: format!("{}-{}", family.name, twin.suffix()),
        size: family.number(size),
        expected: Some(family.expected(size, twin)).filter(|expected| *expected == Expected::Unsafe),
        question: Question { threads: None, ..family.question(size) },
        text: Text::Made(Box::new(move || (family.make)(size, twin))),
    }
}

/// Returns all programs of the repository and of the corpus, each with its own question.
pub fn everything() -> Result<Vec<Group>, String> {
    let mut groups = vec![
        entries("ours", own()?),
        entries("corpus-boppo", boppo()?),
        // Their verdicts count the threads created, these answers those that live.
        entries("corpus-refined", refined()?.into_iter().map(|entry| Entry { verdict: None, ..entry }).collect()),
    ];
    for folder in ["ijit", "ucob", "satabs-generated"] {
        let programs = foreign(folder).map_or(Vec::new(), |folder| selvedge_testkit::corpus::files(&folder, "bp"));
        groups.push(files(&format!("corpus-{folder}"), programs, &Question::default()));
    }
    groups.extend(unbounded()?.into_iter().filter(|group| group.family.starts_with("corpus-tts")));
    Ok(groups)
}

fn entries(family: &str, entries: Vec<Entry>) -> Group {
    let instance = |entry: Entry| {
        let size = entry.text.lines().count();
        let text = Text::Made(Box::new(move || entry.text.clone()));
        Instance { name: entry.name, size, expected: entry.verdict, question: entry.question, text }
    };
    unrelated(family, entries.into_iter().map(instance).collect())
}

fn unrelated(family: &str, instances: Vec<Instance>) -> Group {
    Group { family: family.to_string(), growth: Growth::Unrelated, instances }
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

/// Returns the programs with threads in the corpus, as far as the corpus is installed.
fn concurrent_corpus() -> Vec<PathBuf> {
    let folders = ["ijit", "satabs-refined", "ucob", "satabs-generated"];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| foreign(folder))
        .flat_map(|folder| selvedge_testkit::corpus::files(&folder, "bp"))
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
    unrelated(family, files.into_iter().map(instance).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_instances_differ() {
        let (unbounded, everything) = (unbounded().expect("all is there"), everything().expect("all is there"));
        for groups in [sequential(), threads(), unbounded, everything] {
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
