//! The differential harness: one loop for all comparisons.
//!
//! A [`Campaign`] makes the subject with a seed and a number (a program, a system, a text), compares all answers about
//! it with its oracle, and makes subjects smaller. [`run`] does the rest: for each number it makes the subject and
//! compares the answers, on several threads; it adds up the tallies, shrinks a subject on which something is wrong
//! while the same comparison fails, and reports it with the command that repeats it. A panic is a fault like any other.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{ControlFlow, Index};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::model::Model;
use crate::oracle::Budget;
use crate::shrink::shrink;
use crate::workers::{Effort, Items, each};

/// A campaign ends after this many findings, since most of them have one cause.
const MAX_FINDINGS: usize = 10;

/// The name under which a [`Tally`] counts answers that were compared with another one.
pub const COMPARISONS: &str = "comparisons";

/// The name under which a [`Tally`] counts certificates that the judge accepted.
pub const CERTIFICATES: &str = "certified";

/// A disagreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The comparison that failed. Shrinking keeps it.
    pub stage: String,
    /// A sentence with the expected and the actual result.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.stage, self.message)
    }
}

pub(crate) fn fault<T>(stage: impl Into<String>, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { stage: stage.into(), message: message.into() })
}

/// Checks that a set is the expected one, or contains it if that is not the whole set.
pub(crate) fn check_set<T: Ord + fmt::Debug>(
    stage: impl Into<String>,
    expected: &BTreeSet<T>,
    is_whole: bool,
    found: &BTreeSet<T>,
) -> Result<(), Fault> {
    if expected.is_subset(found) && (!is_whole || expected.len() == found.len()) {
        return Ok(());
    }
    let [missing, extra] = [expected.difference(found).next(), found.difference(expected).next()];
    let (n_expected, n_found) = (expected.len(), found.len());
    fault(stage, format!("{n_expected} expected, {n_found} found; missing {missing:?}, not expected {extra:?}"))
}

/// Counts of what comparisons observed, by name. A name that was never counted has the count 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: BTreeMap<Cow<'static, str>, u64>,
}

impl Tally {
    /// Counts one more.
    pub fn count(&mut self, name: impl Into<Cow<'static, str>>) {
        *self.counts.entry(name.into()).or_default() += 1;
    }

    /// Returns the sum of several counts.
    pub fn sum(&self, names: &[&str]) -> u64 {
        names.iter().map(|name| self[name]).sum()
    }

    fn add(&mut self, other: Tally) {
        for (name, count) in other.counts {
            *self.counts.entry(name).or_default() += count;
        }
    }
}

impl Index<&str> for Tally {
    type Output = u64;

    fn index(&self, name: &str) -> &u64 {
        self.counts.get(name).unwrap_or(&0)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.counts.iter().map(|(name, count)| format!("{name}: {count}")).collect();
        f.write_str(&counts.join(", "))
    }
}

/// Subjects, an oracle, and a comparison.
pub trait Campaign {
    /// The type of a subject: a program, a system or a text.
    type Subject: fmt::Debug;

    /// The stack of a worker, and the time after which a subject counts as hanging.
    const EFFORT: Effort = Effort { stack: 4 << 20, patience: Duration::from_secs(120) };

    /// Returns the subject with a number. It depends on the seed and the number only.
    fn subject(&self, seed: u64, number: u64) -> Self::Subject;

    /// Compares all answers about a subject. The number decides what is tried at random, so that a smaller subject is
    /// compared in the same way.
    fn compare(&self, subject: &Self::Subject, number: u64, tally: &mut Tally) -> Result<(), Fault>;

    /// Returns a smaller subject that still fails, where there are any.
    fn shrink(&self, subject: Self::Subject, _fails: &mut dyn FnMut(&Self::Subject) -> bool) -> Self::Subject {
        subject
    }

    /// Prints a subject.
    fn show(&self, subject: &Self::Subject) -> String {
        format!("{subject:?}")
    }

    /// Writes the counts of all subjects for people to read.
    fn summarize(tally: &Tally) -> String {
        tally.to_string()
    }
}

/// A subject with a fault, made small.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The number of the subject.
    pub number: u64,
    /// The fault of the small subject.
    pub fault: Fault,
    /// The text of the small subject.
    pub small: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n\n{}\nFrom number {}", self.fault, self.small, self.number)
    }
}

/// The result of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The number of subjects.
    pub total: u64,
    /// The counts of subjects without fault.
    pub tally: Tally,
    /// The subjects with a fault, by number.
    pub findings: Vec<Finding>,
}

/// Runs a campaign, which ends after ten findings. `progress` is called after each subject, with the
/// numbers of subjects and of findings.
///
/// # Errors
///
/// Returns the subjects in progress if none of them finished for a long time.
pub fn run<C: Campaign + Send + Sync + 'static>(
    campaign: C,
    seed: u64,
    items: Items,
    mut progress: impl FnMut(u64, usize),
) -> Result<Summary, Vec<Finding>> {
    let end = |summary: &Summary| {
        progress(summary.total, summary.findings.len());
        if summary.findings.len() < MAX_FINDINGS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let (summary, end) = run_until(campaign, seed, items, end);
    end.map(|()| summary)
}

/// Runs a campaign on all items; only the first ten findings are made small. If some items never end, the
/// result is about those that did.
pub fn run_all<C: Campaign + Send + Sync + 'static>(
    campaign: C,
    seed: u64,
    items: Items,
) -> (Summary, Result<(), Vec<Finding>>) {
    run_until(campaign, seed, items, |_| ControlFlow::Continue(()))
}

fn run_until<C: Campaign + Send + Sync + 'static>(
    campaign: C,
    seed: u64,
    items: Items,
    mut go_on: impl FnMut(&Summary) -> ControlFlow<()>,
) -> (Summary, Result<(), Vec<Finding>>) {
    let campaign = Arc::new(campaign);
    let worker = Arc::clone(&campaign);
    let work = move |number| compare(&*worker, &worker.subject(seed, number), number);
    let mut summary = Summary::default();
    let end = each(items, C::EFFORT, work, |number, result| {
        summary.total += 1;
        match result {
            Ok(tally) => summary.tally.add(tally),
            Err(fault) if summary.findings.len() < MAX_FINDINGS => {
                summary.findings.push(finding(&*campaign, seed, number, fault));
            }
            Err(fault) => {
                let subject = campaign.show(&campaign.subject(seed, number));
                summary.findings.push(Finding { number, fault, small: subject });
            }
        }
        go_on(&summary)
    });
    summary.findings.sort_by_key(|finding| finding.number);
    let unfinished = |number: u64| {
        let fault =
            Fault { stage: "hang".to_string(), message: "one of the subjects in progress never ended".to_string() };
        Finding { number, fault, small: campaign.show(&campaign.subject(seed, number)) }
    };
    (summary, end.map_err(|hang| hang.numbers.into_iter().map(unfinished).collect()))
}

/// Runs a small campaign in a test, which fails with the findings if there are some.
pub fn sample<C: Campaign + Send + Sync + 'static>(campaign: C, seed: u64, first: u64, count: u64) -> Tally {
    let summary = run(campaign, seed, Items { first, count, jobs: 2 }, |_, _| {}).expect("no subject hangs");
    let findings: Vec<String> = summary.findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "{}", findings.join("\n\n"));
    summary.tally
}

/// Compares all answers about one subject. Panics are faults.
pub fn compare<C: Campaign>(campaign: &C, subject: &C::Subject, number: u64) -> Result<Tally, Fault> {
    let mut tally = Tally::default();
    let unwound = catch_unwind(AssertUnwindSafe(|| campaign.compare(subject, number, &mut tally)));
    unwound.unwrap_or_else(|payload| fault("panic", panic_message(&*payload))).map(|()| tally)
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let message = payload.downcast_ref::<String>().cloned();
    message.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

/// Shrinks a subject while the same comparison fails.
fn finding<C: Campaign>(campaign: &C, seed: u64, number: u64, fault: Fault) -> Finding {
    let mut fails =
        |smaller: &C::Subject| compare(campaign, smaller, number).is_err_and(|other| other.stage == fault.stage);
    let small = campaign.shrink(campaign.subject(seed, number), &mut fails);
    let fault = compare(campaign, &small, number).err().unwrap_or(fault);
    Finding { number, fault, small: campaign.show(&small) }
}

/// Keeps panics from being printed: they are returned as faults.
pub fn silence_panics() {
    panic::set_hook(Box::new(|_| {}));
}

/// A comparison on generated Boolean programs.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// A function that generates the program of a seed and a number.
    pub item: fn(u64, u64) -> Model,
    /// The comparison of one program.
    pub compare: fn(&Model, u64, Budget, &mut Tally) -> Result<(), Fault>,
    /// The budget of the oracle and the engines.
    pub budget: Budget,
    /// The greatest number of comparisons that shrinking makes.
    pub shrinks: usize,
}

impl Comparison {
    /// Returns a comparison with the usual budget.
    pub const fn new(
        item: fn(u64, u64) -> Model,
        compare: fn(&Model, u64, Budget, &mut Tally) -> Result<(), Fault>,
    ) -> Comparison {
        Comparison { item, compare, budget: Budget::states(20_000), shrinks: 5_000 }
    }

    /// Returns the same comparison with another budget.
    #[must_use]
    pub const fn within(self, budget: Budget) -> Comparison {
        Comparison { budget, ..self }
    }
}

impl Campaign for Comparison {
    type Subject = Model;

    fn subject(&self, seed: u64, number: u64) -> Model {
        (self.item)(seed, number)
    }

    fn compare(&self, model: &Model, number: u64, tally: &mut Tally) -> Result<(), Fault> {
        (self.compare)(model, number, self.budget, tally)
    }

    fn shrink(&self, model: Model, fails: &mut dyn FnMut(&Model) -> bool) -> Model {
        shrink(&model, self.shrinks, fails).model
    }

    fn show(&self, model: &Model) -> String {
        model.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, of which those above 60 and divisible by 7 are wrong.
    struct Numbers;

    impl Campaign for Numbers {
        type Subject = u64;

        fn subject(&self, seed: u64, number: u64) -> u64 {
            seed + number
        }

        fn compare(&self, subject: &u64, _: u64, tally: &mut Tally) -> Result<(), Fault> {
            tally.count(if subject.is_multiple_of(2) { "even" } else { "odd" });
            assert!(*subject != 13, "unlucky");
            if *subject > 60 && subject.is_multiple_of(7) { fault("seven", subject.to_string()) } else { Ok(()) }
        }

        fn shrink(&self, mut subject: u64, fails: &mut dyn FnMut(&u64) -> bool) -> u64 {
            while subject >= 7 && fails(&(subject - 7)) {
                subject -= 7;
            }
            subject
        }
    }

    #[test]
    fn faults_and_panics_are_found_and_shrunk() {
        let items = Items { first: 0, count: 80, jobs: 3 };
        let summary = run(Numbers, 0, items, |_, _| {}).expect("nothing hangs");
        let found: Vec<_> = summary.findings.iter().map(|found| (found.number, found.small.as_str())).collect();
        assert_eq!(found, [(13, "13"), (63, "63"), (70, "63"), (77, "63")]);
        assert_eq!(summary.findings[0].fault, Fault { stage: "panic".into(), message: "unlucky".into() });
        assert_eq!((summary.total, summary.tally["even"], summary.tally["odd"]), (80, 39, 37));
    }

    #[test]
    #[should_panic(expected = "seven: 63")]
    fn a_sample_fails_with_its_findings() {
        sample(Numbers, 0, 60, 5);
    }
}
