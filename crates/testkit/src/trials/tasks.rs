//! The small tasks of `fuzz faults`: every engine, every command that writes files, the portfolio, and both solvers.

use super::files::Contents;
use crate::corpus::root;

/// One command whose end is known.
#[derive(Clone, Debug)]
pub struct Task {
    /// Its arguments. Files that it writes are in its own folder.
    pub words: Vec<String>,
    /// The exit code if nothing goes wrong.
    pub code: i32,
    /// The commands that make its inputs.
    pub before: Vec<Vec<String>>,
    /// The engines that answer.
    pub engines: Engines,
}

/// The engines of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// None: the command computes no verdict by an engine.
    None,
    /// One: if it fails there is no answer.
    One,
    /// Several, of which others answer if one fails.
    Several,
}

/// The content of files before they are written.
const OLD: &str = "the old content\n";

/// A program that `fmt` changes.
const MESSY: &str = "decl  a ;\nvoid main( ) begin a:=*; assert( a|!a ) ; end\n";

impl Task {
    /// Returns a task. In the text of its arguments `@` stands for the folder of examples.
    pub fn new(text: &str, code: i32, engines: Engines) -> Task {
        Task { words: words(text), code, before: Vec::new(), engines }
    }

    /// The same task, after commands that write its inputs.
    fn after(mut self, text: &str) -> Task {
        self.before.push(words(text));
        self
    }

    /// Returns the files that are there before the commands that make inputs.
    pub fn files(&self) -> Contents {
        let written = |word: &&[String]| ["--html", "--trace-out", "--certificate", "-o"].contains(&word[0].as_str());
        let mut files: Contents =
            self.words.windows(2).filter(written).map(|pair| (pair[1].clone(), OLD.as_bytes().to_vec())).collect();
        if self.words[0] == "fmt" {
            files.insert("messy.bp".to_string(), MESSY.as_bytes().to_vec());
        }
        files
    }

    /// Returns the command as a line.
    pub fn line(&self) -> String {
        self.words.join(" ")
    }
}

fn words(text: &str) -> Vec<String> {
    let examples = root().canonicalize().unwrap_or_else(|_| root()).join("examples");
    let calculus = examples.with_file_name("calculus");
    let place = |word: &str| match (word.strip_prefix('@'), word.strip_prefix('%')) {
        (Some(file), _) => examples.join(file).display().to_string(),
        (_, Some(file)) => calculus.join(file).display().to_string(),
        _ => word.to_string(),
    };
    text.split_whitespace().map(place).collect()
}

/// Returns a task for every engine.
pub fn of_engines() -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut add = |text: String, code: i32| {
        let files = if code == 0 { "--certificate c.json" } else { "--trace-out t.json" };
        tasks.push(Task::new(&format!("check --html r.html {files} {text}"), code, Engines::One));
    };
    for engine in ["summaries", "sat", "pushdown"] {
        add(format!("--engine {engine} @abstraction.bp"), 0);
        add(format!("--engine {engine} @recursion.bp"), 10);
    }
    add("--engine bmc @recursion.bp".to_string(), 10);
    add("--engine induction @abstraction.bp".to_string(), 0);
    add("--engine induction @mutex.gcl".to_string(), 0);
    for engine in ["threads", "threads-explicit", "threads-plain", "exhaustive"] {
        add(format!("--engine {engine} --threads 2 @lock_fixed.bp"), 0);
        add(format!("--engine {engine} --threads 2 @worker_pool.bp"), 10);
    }
    for engine in ["views-explicit", "backward", "karp-miller-explicit", "directed", "cutoff", "views", "karp-miller"] {
        add(format!("--engine {engine} @mutex.tts"), 0);
        add(format!("--engine {engine} @mutex_broken.tts"), 10);
    }
    for engine in ["contexts", "contexts-eager"] {
        add(format!("--engine {engine} --contexts 2 --threads 2 @drivers.bp"), 10);
    }
    add("--engine rounds --rounds 3 @drivers.bp".to_string(), 10);
    for engine in ["ase", "horn", "cegar"] {
        add(format!("--engine {engine} @mutex.gcl"), 0);
    }
    add("--engine ur @bakery_wrap.gcl".to_string(), 10);
    add("--engine ase @bakery_wrap.gcl".to_string(), 10);
    add("--engine cegar --keep kept @mutex.gcl".to_string(), 0);
    tasks
}

/// Returns tasks of the portfolio, side by side and in turns.
pub fn of_portfolio() -> Vec<Task> {
    let mut tasks = Vec::new();
    for jobs in ["--jobs 1", "--jobs 2"] {
        for (text, code) in [
            ("--html r.html --certificate c.json @abstraction.bp", 0),
            ("--html r.html --trace-out t.json @recursion.bp", 10),
            ("--certificate c.json --threads 2 @lock_fixed.bp", 0),
            ("--trace-out t.json @worker_pool.bp", 10),
            ("--certificate c.json @mutex.tts", 0),
            ("--certificate c.json @mutex.gcl", 0),
        ] {
            tasks.push(Task::new(&format!("check {jobs} {text}"), code, Engines::Several));
        }
    }
    for (text, code) in [
        ("check --format json @worker_pool.bp", 10),
        ("check --format sarif @abstraction.bp", 0),
        ("check --format json @mutex.gcl @abstraction.bp", 0),
        ("check --all --html r.html @worker_pool.bp", 10),
        ("check --reachable --threads 2 @lock_fixed.bp", 0),
        ("check --projection @recursion.bp", 10),
        ("boom -t --threadbound 2 @worker_pool.bp", 10),
    ] {
        tasks.push(Task::new(text, code, Engines::Several));
    }
    tasks
}

/// Returns tasks of the other commands, all of which write something.
pub fn of_commands() -> Vec<Task> {
    let task = |text: &str, code: i32| Task::new(text, code, Engines::None);
    vec![
        task("fmt messy.bp", 0),
        task("abstract -o a.bp @mutex.gcl", 0),
        task("convert --to horn -o a.smt2 @recursion.bp", 0),
        task("convert --to pds -o a.pds @recursion.bp", 0),
        task("convert --to tts -o a.tts @lock_fixed.bp", 0),
        task("convert --to spec -o a.spec @mutex.tts", 0),
        task("convert --to promela --threads 2 -o a.pml @lock_fixed.bp", 0),
        task("sequentialize --contexts 2 --threads 2 -o a.bp @recursive-lock.bp", 0),
        task("solve %summaries.fp @recursion.bp", 10),
        task("show ir @recursion.bp", 0),
        task("show cfg --picture svg @recursion.bp", 0),
        task("show abstract-model @mutex.gcl", 0),
        task("simulate --seed 1 --trace-out t.json --html r.html @worker_pool.bp", 5),
        task("replay --html r.html in.json @worker_pool.bp", 10).after("check --trace-out in.json @worker_pool.bp"),
        task("verify in.json @abstraction.bp", 0).after("check --certificate in.json @abstraction.bp"),
        task("verify in.json @mutex.tts", 0).after("check --certificate in.json @mutex.tts"),
        task("verify in.json @mutex.gcl", 0).after("check --certificate in.json @mutex.gcl"),
        task("man pages", 0),
    ]
}

/// Returns all tasks.
pub fn all() -> Vec<Task> {
    [of_engines(), of_portfolio(), of_commands()].concat()
}

/// Returns a few tasks, in which every kind of fault can happen.
pub fn sample() -> Vec<Task> {
    vec![
        Task::new("check --engine summaries --html r.html --certificate c.json @abstraction.bp", 0, Engines::One),
        Task::new("check --engine ase --trace-out t.json @bakery_wrap.gcl", 10, Engines::One),
        Task::new("check --jobs 2 --format json --threads 2 @worker_pool.bp", 10, Engines::Several),
        Task::new("fmt messy.bp", 0, Engines::None),
        Task::new("convert --to tts -o a.tts @lock_fixed.bp", 0, Engines::None),
    ]
}
