//! The campaign: all classes of comparisons in turns, for hours, and from where the last one ended.
//!
//! Each class has a share of the time. The class that is furthest behind its share gets the next batch, of a size that
//! takes about a quarter of a minute. After each batch the state is written to a file, so that an interrupted campaign
//! loses one batch at most. A finding does not end the campaign: it is made small, written to a file of its own, and
//! counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use selvedge_driver::external::{Spin, find_solvers};
use serde::{Deserialize, Serialize};

use crate::c;
use crate::c::compiler::Compiler;
use crate::c::sequential::Sequential;
use crate::c::texts::BrokenPrograms;
use crate::c::threads::Threads;
use crate::calculus::EQUATIONS;
use crate::contexts::IN_TURNS;
use crate::contexts::numbers::NumbersInTurns;
use crate::coverability::{PLAIN, TRANSFERS};
use crate::deadlock::DEADLOCKS;
use crate::differ::ALL_WAYS;
use crate::engines::SEQUENTIAL;
use crate::harness::{CERTIFICATES, COMPARISONS, Campaign, Finding, Summary, run_all};
use crate::integers::compare::Integers;
use crate::machine::Machine;
use crate::numbers::Numbers;
use crate::rounds::IN_ROUNDS;
use crate::spin::MODELS;
use crate::texts::{self, Texts};
use crate::threads::CONCURRENT;
use crate::unbounded::ANY_NUMBER;
use crate::verify::Judge;
use crate::workers::Items;

/// The time that a batch should take.
const BATCH: Duration = Duration::from_secs(15);

/// The size of the first batch of a class, whose speed is not known yet.
const FIRST_BATCH: u64 = 200;

type Batch = Box<dyn Fn(u64, Items) -> (Summary, Result<(), Vec<Finding>>)>;

/// A class of comparisons.
pub struct Class {
    /// Its name, which is also the command that runs it alone.
    name: &'static str,
    /// Its share of the time, compared with those of the others.
    share: u32,
    /// The size of its first batch.
    first: u64,
    run: Batch,
}

impl Class {
    fn new<C: Campaign + Send + Sync + 'static>(
        name: &'static str,
        share: u32,
        make: impl Fn() -> C + 'static,
    ) -> Class {
        Class { name, share, first: FIRST_BATCH, run: Box::new(move |seed, items| run_all(make(), seed, items)) }
    }

    /// Returns the class with a small first batch, since each of its items takes long.
    fn slow(self) -> Class {
        Class { first: FIRST_BATCH / 20, ..self }
    }
}

/// Returns all classes with their shares.
///
/// # Errors
///
/// Returns a message if something that a class needs is missing.
pub fn classes() -> Result<Vec<Class>, String> {
    if Spin::find().is_none() {
        return Err("spin and a C compiler are needed (`./setup`)".into());
    }
    let solvers = find_solvers(&selvedge_check::Solvers::default());
    let [judging, turning] = [solvers.clone(), solvers.clone()];
    let sources = texts::sources()?;
    let broken = c::texts::sources()?;
    let mut classes = vec![
        Class::new("c-parser", 3, move || BrokenPrograms { sources: broken.clone() }),
        Class::new("passes", 9, || ALL_WAYS),
        Class::new("engines", 14, || SEQUENTIAL),
        Class::new("threads", 14, || CONCURRENT),
        Class::new("unbounded", 12, || ANY_NUMBER),
        Class::new("contexts", 10, || IN_TURNS),
        Class::new("turns", 6, move || NumbersInTurns { solvers: turning.clone() }),
        Class::new("rounds", 10, || IN_ROUNDS),
        Class::new("deadlock", 6, || DEADLOCKS),
        Class::new("calculus", 4, || EQUATIONS),
        Class::new("integers", 8, move || Integers { solvers: solvers.clone() }).slow(),
        Class::new("machine", 8, Machine::default),
        Class::new("numbers", 8, Numbers::default),
        Class::new("tts", 10, || PLAIN),
        Class::new("transfers", 10, || TRANSFERS),
        Class::new("spin", 4, || MODELS),
        Class::new("verify", 10, move || Judge { solvers: judging.clone(), pool: None, only: Vec::new() }).slow(),
        Class::new("parser", 5, move || Texts { sources: sources.clone() }),
    ];
    if let Some(compiler) = Compiler::find() {
        let another = compiler.clone();
        classes.push(Class::new("c", 8, move || Sequential { compiler: compiler.clone() }).slow());
        classes.push(Class::new("c-threads", 8, move || Threads::new(another.clone())).slow());
    }
    Ok(classes)
}

/// What a class has done so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// The number of the next program.
    next: u64,
    /// The programs, systems or texts that were compared.
    programs: u64,
    /// The answers that were compared with another one.
    comparisons: u64,
    /// The certificates that the judge accepted.
    certificates: u64,
    /// The programs with a fault, and those that never ended.
    findings: u64,
    /// The time in seconds.
    seconds: f64,
}

/// The state of a campaign, as its file has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The seed of all programs.
    pub seed: u64,
    classes: BTreeMap<String, Done>,
}

impl State {
    /// Returns the state of a new campaign.
    pub fn new(seed: u64) -> State {
        State { seed, classes: BTreeMap::new() }
    }

    /// Reads the state from a file; `None` if there is no such file.
    ///
    /// # Errors
    ///
    /// Returns a message if the file cannot be read.
    pub fn read(file: &Path) -> Result<Option<State>, String> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", file.display())),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| format!("{}: {error}", file.display()))
    }

    fn write(&self, file: &Path) -> io::Result<()> {
        let beside = file.with_extension("new");
        fs::write(&beside, serde_json::to_string_pretty(self)? + "\n")?;
        fs::rename(beside, file)
    }

    /// Returns the number of findings of all classes.
    pub fn findings(&self) -> u64 {
        self.classes.values().map(|done| done.findings).sum()
    }

    /// Returns the table of all classes, as a table of Markdown.
    pub fn table(&self, classes: &[Class]) -> String {
        let mut table = "| class | programs | comparisons | certificates | findings | minutes |\n".to_string();
        table += "|---|---:|---:|---:|---:|---:|\n";
        let mut total = Done::default();
        let mut row = |name: &str, done: &Done| {
            let counts = [done.programs, done.comparisons, done.certificates, done.findings].map(grouped).join(" | ");
            let _ = writeln!(table, "| {name} | {counts} | {:.1} |", done.seconds / 60.0);
        };
        for class in classes {
            let done = self.classes.get(class.name).cloned().unwrap_or_default();
            row(&format!("`{}`", class.name), &done);
            total.programs += done.programs;
            total.comparisons += done.comparisons;
            total.certificates += done.certificates;
            total.findings += done.findings;
            total.seconds += done.seconds;
        }
        row("all", &total);
        table
    }
}

/// Writes a number with commas between the thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

/// Where a campaign keeps its state and its findings, and the number of its threads.
pub struct Setting {
    /// The file of the state.
    pub file: PathBuf,
    /// The number of threads.
    pub jobs: usize,
}

impl Setting {
    /// Returns the folder of the findings, which is beside the file of the state.
    pub fn findings(&self) -> PathBuf {
        self.file.with_extension("findings")
    }

    /// Runs batches until `is_over`, which is asked with the name of the class before each batch.
    ///
    /// # Errors
    ///
    /// Returns a message if the state or a finding cannot be written.
    pub fn go_on(
        &self,
        classes: &[Class],
        state: &mut State,
        mut is_over: impl FnMut(&str, &State) -> bool,
    ) -> Result<(), String> {
        loop {
            let used = |class: &Class| state.classes.get(class.name).map_or(0.0, |done| done.seconds);
            let used = |class: &&Class| used(class) / f64::from(class.share);
            let Some(class) = classes.iter().min_by(|left, right| used(left).total_cmp(&used(right))) else {
                return Ok(());
            };
            if is_over(class.name, state) {
                return Ok(());
            }
            self.run_batch(class, state)?;
            state.write(&self.file).map_err(|error| format!("{}: {error}", self.file.display()))?;
        }
    }

    fn run_batch(&self, class: &Class, state: &mut State) -> Result<(), String> {
        let seed = state.seed;
        let done = state.classes.entry(class.name.to_string()).or_default();
        let count = match done.programs {
            0 => class.first,
            programs => (programs as f64 / done.seconds.max(0.001) * BATCH.as_secs_f64()) as u64,
        };
        let items = Items { first: done.next, count: count.clamp(self.jobs as u64, 200_000), jobs: self.jobs };
        let start = Instant::now();
        let (summary, end) = (class.run)(seed, items);
        done.seconds += start.elapsed().as_secs_f64();
        done.programs += summary.total;
        done.comparisons += summary.tally[COMPARISONS];
        done.certificates += summary.tally[CERTIFICATES];
        done.findings += summary.findings.len() as u64;
        done.next = items.first + items.count;
        let unfinished = end.err().unwrap_or_default();
        // Numbers are given out in order: those above the ones in progress were not tried.
        if let Some(last) = unfinished.iter().map(|finding| finding.number).max() {
            done.next = last + 1;
            done.findings += unfinished.len() as u64;
        }
        summary.findings.iter().chain(&unfinished).try_for_each(|finding| self.keep(class, seed, finding))
    }

    /// Writes a finding with the command that repeats it.
    fn keep(&self, class: &Class, seed: u64, finding: &Finding) -> Result<(), String> {
        let number = finding.number;
        let folder = self.findings();
        let file = folder.join(format!("{}-{seed}-{number}.txt", class.name));
        let again = format!("cargo run --release -p selvedge-testkit --bin fuzz -- {}", class.name);
        let text = format!("{finding}\n{again} --seed {seed} --first {number} --count 1\n");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| format!("{}: {error}", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Fault, Tally, fault};

    /// Numbers, of which 300 is wrong.
    struct Numbers;

    impl Campaign for Numbers {
        type Subject = u64;

        fn subject(&self, seed: u64, number: u64) -> u64 {
            seed + number
        }

        fn compare(&self, subject: &u64, _: u64, tally: &mut Tally) -> Result<(), Fault> {
            tally.count(COMPARISONS);
            if *subject == 300 { fault("number", "300") } else { Ok(()) }
        }
    }

    #[test]
    fn a_campaign_goes_on_where_it_stopped_and_after_findings() {
        let folder = std::env::temp_dir().join(format!("selvedge-campaign-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for temporary files");
        let setting = Setting { file: folder.join("state.json"), jobs: 2 };
        let classes = [Class::new("few", 1, || Numbers), Class::new("many", 3, || Numbers)];
        let mut state = State::new(1);
        let batches = |most: usize| {
            let mut n_batches = 0;
            move |_: &str, _: &State| {
                n_batches += 1;
                n_batches > most
            }
        };
        setting.go_on(&classes, &mut state, batches(2)).expect("it is written");
        assert_eq!([&state.classes["few"], &state.classes["many"]].map(|done| done.next), [FIRST_BATCH; 2]);
        let mut again = State::read(&setting.file).expect("it is read").expect("it is there");
        assert_eq!(again, state);
        setting.go_on(&classes, &mut again, batches(4)).expect("it is written");
        let [few, many] = [&again.classes["few"], &again.classes["many"]];
        assert!(few.next >= FIRST_BATCH && many.next >= FIRST_BATCH && few.next + many.next > 2 * FIRST_BATCH);
        assert_eq!(few.programs + many.programs, few.next + many.next);
        let found = [few, many].map(|done| u64::from(done.next > 299));
        assert_eq!([few.findings, many.findings], found);
        assert_eq!(again.findings(), found.iter().sum::<u64>());
        assert_eq!(few.comparisons + many.comparisons + again.findings(), few.programs + many.programs);
        for (class, found) in classes.iter().zip(found) {
            let text = fs::read_to_string(setting.findings().join(format!("{}-1-299.txt", class.name)));
            assert_eq!(text.is_ok_and(|text| text.contains("--seed 1 --first 299 --count 1")), found == 1);
        }
        assert!(again.table(&classes).contains("| `few` | "), "{}", again.table(&classes));
        fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
