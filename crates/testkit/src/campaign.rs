//! Many generated programs through the differential harness: what the suite does a little of and the binary a lot.

use std::fmt;
use std::panic;

use crate::differ::{Fault, compare, shrink_fault};
use crate::generate::{Weights, generate_with};
use crate::model::Model;
use crate::oracle::{Answer, Budget};
use crate::rng::Rng;
use crate::workers::{Enough, Hang, Items, each};

/// A campaign ends after this many findings: most of them are one.
const MAX_FINDINGS: usize = 10;

/// What is tried.
#[derive(Clone, Copy, Debug)]
pub struct Campaign {
    /// The seed of the whole.
    pub seed: u64,
    /// Which programs.
    pub items: Items,
    /// How far the oracle looks.
    pub budget: Budget,
}

/// What came out, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Safe programs.
    pub safe: u64,
    /// Unsafe programs.
    pub unsafe_: u64,
    /// Programs with deep recursion and no error within the bound on frames.
    pub deep: u64,
    /// Programs that are skipped, since they have too many states.
    pub skipped: u64,
}

/// A program on which the ways part, made small.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its number in the campaign.
    pub number: u64,
    /// The preset that it was made with.
    pub preset: &'static str,
    /// What is wrong with the generated program.
    pub fault: Fault,
    /// The generated program.
    pub model: Model,
    /// The small program, and what is wrong with it.
    pub small: (Model, Fault),
}

/// The program with this number: the presets take turns.
pub fn item(seed: u64, number: u64) -> (&'static str, Model) {
    let presets = Weights::presets();
    let (preset, weights) = &presets[(number % presets.len() as u64) as usize];
    (preset, generate_with(&mut Rng::for_item(seed, number), weights))
}

/// Runs a campaign. `progress` is called after each program, with the number of programs so far and of findings.
pub fn run(campaign: &Campaign, mut progress: impl FnMut(u64, usize)) -> Result<(Tally, Vec<Finding>), Hang> {
    let (mut tally, mut findings) = (Tally::default(), Vec::new());
    let Campaign { seed, budget, .. } = *campaign;
    let work = move |number| compare(&item(seed, number).1, number, budget);
    each(campaign.items, work, |number, result| {
        match result {
            Ok(answer) => tally.add(&answer),
            Err(fault) => findings.push(finding(campaign, number, fault)),
        }
        progress(tally.total() + findings.len() as u64, findings.len());
        if findings.len() < MAX_FINDINGS { Enough::No } else { Enough::Yes }
    })?;
    findings.sort_by_key(|finding| finding.number);
    Ok((tally, findings))
}

/// Shrinks a program with a fault. What [`compare`] tries at random depends on the number only, so it is the same for
/// smaller programs.
fn finding(campaign: &Campaign, number: u64, fault: Fault) -> Finding {
    let (preset, model) = item(campaign.seed, number);
    let small = shrink_fault(&model, &fault, number, campaign.budget).model;
    let small_fault = compare(&small, number, campaign.budget).err().unwrap_or_else(|| fault.clone());
    Finding { number, preset, fault, model, small: (small, small_fault) }
}

impl Finding {
    /// What a person needs: the small program, what is wrong with it, and how to find it again.
    pub fn render(&self, seed: u64) -> String {
        let (model, fault) = &self.small;
        let again = format!("--bin fuzz -- passes --seed {seed} --first {} --count 1", self.number);
        format!("{fault}\n\n{model}\nFrom program {} ({}): {again}\n", self.number, self.preset)
    }
}

impl Tally {
    fn add(&mut self, answer: &Answer) {
        match answer {
            Answer::Safe => self.safe += 1,
            Answer::Unsafe(_) => self.unsafe_ += 1,
            Answer::Deep => self.deep += 1,
            Answer::Large => self.skipped += 1,
        }
    }

    /// All programs.
    pub fn total(&self) -> u64 {
        self.safe + self.unsafe_ + self.deep + self.skipped
    }

    /// Whether few programs were skipped, and both verdicts are common.
    pub fn is_balanced(&self) -> bool {
        let total = self.total();
        self.skipped * 10 < total && self.unsafe_ * 4 >= total && self.unsafe_ * 10 <= total * 6
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |count: u64| 100.0 * count as f64 / self.total().max(1) as f64;
        write!(f, "{} programs: {:.1} % safe, ", self.total(), percent(self.safe))?;
        write!(f, "{:.1} % unsafe, {:.1} % deep, ", percent(self.unsafe_), percent(self.deep))?;
        write!(f, "{} skipped", self.skipped)
    }
}

/// Keeps panics from being printed: they come back as faults.
pub fn silence_panics() {
    panic::set_hook(Box::new(|_| {}));
}
