//! The suites: groups of programs with questions about them.

use selvedge_check::{Initial, Question};
use std::path::{Path, PathBuf};

use super::concurrent::{CONCURRENT, Concurrent, Size};
use super::families::{self, FAMILIES, Twin};
use super::tool::is_for_threads;
use super::turns;
use selvedge_engines::EngineKind;
use selvedge_testkit::corpus::{Entry, Expected, System, boppo, foreign, own, refined, systems};

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
    /// Its name, different from those of other programs and questions.
    pub name: String,
    /// Its size, or its lines.
    pub size: usize,
    /// The correct verdict, where it is known.
    pub expected: Option<Expected>,
    /// The question.
    pub question: Question,
    /// The bound on the contexts of each thread, for the engines that need one.
    pub contexts: Option<u32>,
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

/// A suite: groups of programs, and the tools that run on them.
pub struct Suite {
    /// The tool with which ours are compared; empty for none.
    pub peer: &'static str,
    /// The time limit for each run in seconds.
    pub limit: u64,
    /// The time limit for each run on programs that do not grow, in seconds.
    pub corpus_limit: u64,
    /// The time limit for each run of the peer in seconds, if it has one of its own.
    pub peer_limit: Option<u64>,
    /// The bound on threads for the trivial program.
    pub threads: Option<u32>,
    /// The engines that run unless others are named; `None` is the portfolio.
    pub engines: Vec<Option<EngineKind>>,
    /// A function that returns the groups.
    pub groups: fn() -> Result<Vec<Group>, String>,
}

/// The engines for any number of threads.
const UNBOUNDED: [EngineKind; 7] = [
    EngineKind::Views,
    EngineKind::ViewsExplicit,
    EngineKind::KarpMiller,
    EngineKind::KarpMillerExplicit,
    EngineKind::Backward,
    EngineKind::Directed,
    EngineKind::Cutoff,
];

impl Suite {
    /// Returns the suite with a name.
    pub fn named(name: &str) -> Option<Suite> {
        let portfolio_and = |is_asked: &dyn Fn(&EngineKind) -> bool| {
            std::iter::once(None).chain(EngineKind::ALL.iter().copied().filter(is_asked).map(Some)).collect()
        };
        let others = [EngineKind::Exhaustive, EngineKind::Rounds, EngineKind::Contexts, EngineKind::ContextsEager];
        let is_sequential =
            |engine: &EngineKind| !is_for_threads(*engine) && !others.contains(engine) && !UNBOUNDED.contains(engine);
        let everything = Suite {
            peer: "",
            limit: 10,
            corpus_limit: 10,
            peer_limit: None,
            threads: None,
            engines: vec![None],
            groups: everything,
        };
        Some(match name {
            "sequential" => Suite {
                peer: "spacer",
                corpus_limit: 3,
                threads: Some(1),
                engines: portfolio_and(&is_sequential),
                groups: || Ok(sequential()),
                ..everything
            },
            "threads" => Suite {
                peer: "spin",
                threads: Some(1),
                engines: portfolio_and(&|engine| is_for_threads(*engine)),
                groups: || Ok(threads()),
                ..everything
            },
            "unbounded" => {
                Suite { engines: portfolio_and(&|engine| UNBOUNDED.contains(engine)), groups: unbounded, ..everything }
            }
            "contexts" => Suite {
                peer: "contexts-eager",
                limit: 60,
                peer_limit: Some(60),
                threads: Some(1),
                engines: [EngineKind::Contexts, EngineKind::ContextsEager].map(Some).into(),
                groups: || Ok(turns::groups()),
                ..everything
            },
            "everything" => everything,
            _ => return None,
        })
    }
}

/// Returns the families of programs with one thread, and the sequential part of the corpus.
fn sequential() -> Vec<Group> {
    let mut groups = Vec::new();
    for (family, twin) in FAMILIES.iter().flat_map(|family| Twin::BOTH.map(|twin| (family, twin))) {
        let name = format!("{}-{}", family.name, twin.suffix());
        let instance = |size: usize| Instance {
            name: format!("{name}-{size}"),
            size,
            expected: Some(twin.pick(Expected::Safe, Expected::Unsafe)),
            question: Question::default(),
            contexts: None,
            text: Text::Made(Box::new(move || (family.make)(size, twin))),
        };
        let instances = family.sizes.iter().copied().map(instance).collect();
        groups.push(Group { family: name, growth: Growth::Ascending, instances });
    }
    groups.push(files("corpus", families::corpus(), &Question::default()));
    groups
}

/// Returns the families of programs with threads, and the concurrent part of the corpus with up to 2, 3 and 4 threads.
fn threads() -> Vec<Group> {
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
fn unbounded() -> Result<Vec<Group>, String> {
    let systems = systems()?;
    let instance = |system: &System, word: &str, expected, initial, path: PathBuf| Instance {
        name: format!("{} ({word})", system.name),
        size: system.n_transitions,
        expected,
        question: Question { initial, ..Question::default() },
        contexts: None,
        text: Text::File(path),
    };
    let one = systems.iter().map(|system| instance(system, "one", system.one, None, system.path.clone()));
    let any = |system: &System| instance(system, "any", system.any, Some(Initial::Any), system.path.clone());
    let programs = systems.iter().filter(|system| system.path.with_extension("bp").is_file());
    let programs =
        programs.map(|system| instance(system, "program", system.one, None, system.path.with_extension("bp")));
    let twins = CONCURRENT.iter().flat_map(|family| Twin::BOTH.map(|twin| unbounded_twin(family, twin)));
    Ok(vec![
        unrelated("corpus-tts-one", one.collect()),
        unrelated("corpus-tts-any", systems.iter().map(any).collect()),
        unrelated("corpus-bp", programs.collect()),
        unrelated("families", twins.collect()),
    ])
}

/// Returns the smallest instance that has an error if the twin has one, without a bound on the threads. A twin that is
/// safe with few threads need not be safe with any number.
fn unbounded_twin(family: &'static Concurrent, twin: Twin) -> Instance {
    let sizes = family.sizes();
    let has_error = |size: &&Size| family.expected(**size, twin) == Expected::Unsafe;
    let size = *sizes.iter().find(has_error).unwrap_or(&sizes[0]);
    let instance = concurrent_instance(family, size, twin);
    Instance {
        name: format!("{}-{}", family.name, twin.suffix()),
        expected: instance.expected.filter(|expected| *expected == Expected::Unsafe),
        question: Question { threads: None, ..instance.question },
        ..instance
    }
}

/// Returns all programs of the repository and of the corpus, each with its own question.
fn everything() -> Result<Vec<Group>, String> {
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
        let program = entry.text;
        let text = Text::Made(Box::new(move || program.clone()));
        let Entry { name, verdict: expected, question, .. } = entry;
        Instance { name, size, expected, question, contexts: None, text }
    };
    unrelated(family, entries.into_iter().map(instance).collect())
}

fn unrelated(family: &str, instances: Vec<Instance>) -> Group {
    Group { family: family.to_string(), growth: Growth::Unrelated, instances }
}

fn concurrent_family(family: &'static Concurrent, twin: Twin) -> Group {
    let instances = family.sizes().into_iter().map(|size| concurrent_instance(family, size, twin)).collect();
    Group { family: format!("{}-{}", family.name, twin.suffix()), growth: Growth::Ascending, instances }
}

fn concurrent_instance(family: &'static Concurrent, size: Size, twin: Twin) -> Instance {
    let number = family.number(size);
    Instance {
        name: format!("{}-{}-{number}", family.name, twin.suffix()),
        size: number,
        expected: Some(family.expected(size, twin)),
        question: family.question(size),
        contexts: None,
        text: Text::Made(Box::new(move || (family.make)(size, twin))),
    }
}

/// Returns the programs with threads in the corpus, as far as the corpus is installed.
fn concurrent_corpus() -> Vec<PathBuf> {
    let folders = ["ijit", "satabs-refined", "ucob", "satabs-generated"];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| foreign(folder))
        .flat_map(|folder| selvedge_testkit::corpus::files(&folder, "bp"))
        .collect();
    let is_sequential = |path: &Path| {
        let is_named = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("safety_"));
        is_named || path.iter().any(|part| part == "safety")
    };
    found.retain(|path| !is_sequential(path));
    found
}

fn files(family: &str, files: Vec<PathBuf>, question: &Question) -> Group {
    let instance = |file: PathBuf| {
        let parts: Vec<_> = file.iter().rev().take(3).map(|part| part.to_string_lossy().into_owned()).collect();
        let suffix = question.threads.map_or(String::new(), |threads| format!(" ({threads} threads)"));
        let name = parts.into_iter().rev().collect::<Vec<_>>().join("/") + &suffix;
        let size = std::fs::read(&file).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count());
        Instance { name, size, expected: None, question: question.clone(), contexts: None, text: Text::File(file) }
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
