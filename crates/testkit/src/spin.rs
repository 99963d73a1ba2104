//! SPIN's verdict on the models of generated programs with threads, against the oracle.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use selvedge_check::{CancelToken, Limits, Run};
use selvedge_driver::external::{Code, ExternalVerdict, Spin};
use selvedge_export::promela;
use selvedge_frontend::{Context, Source};

use crate::differ::{Fault, Posed, fault, panic_message, pose};
use crate::generate::{Weights, generate_with};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask};
use crate::rng::Rng;
use crate::shrink::shrink;
use crate::workers::{Enough, Hang, Items, each};

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// Both say that it is safe.
    Safe,
    /// Both say that it is unsafe.
    Unsafe,
    /// It has no model, too many states, or a thread count without bound.
    Skipped,
}

/// How many programs came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Both say that they are safe.
    pub safe: usize,
    /// Both say that they are unsafe.
    pub unsafe_: usize,
    /// Not compared.
    pub skipped: usize,
}

impl Tally {
    fn add(&mut self, agreement: Agreement) {
        *match agreement {
            Agreement::Safe => &mut self.safe,
            Agreement::Unsafe => &mut self.unsafe_,
            Agreement::Skipped => &mut self.skipped,
        } += 1;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SPIN agrees on {} safe and {} unsafe programs; ", self.safe, self.unsafe_)?;
        write!(f, "{} are not compared", self.skipped)
    }
}

/// The program with this number: small ones with threads and ones with everything take turns.
pub fn item(seed: u64, number: u64) -> Model {
    let mut weights = if number % 4 == 3 { Weights::everything() } else { Weights::threads() };
    weights.chances.recursion = 0;
    if number % 4 == 1 {
        weights = weights.with(crate::generate::Template::Atomic, 20).with(crate::generate::Template::StrayAtomic, 6);
    }
    generate_with(&mut Rng::for_item(seed, number), &weights)
}

/// The model of a program, or why there is none.
pub fn model(posed: &Posed, name: &str) -> Result<String, String> {
    let source = Source::new(name, posed.text.clone());
    promela::render(Context { program: &posed.asked, map: &posed.map, source: &source }, &posed.task())
}

/// Compares SPIN with the oracle on one program. Panics are faults.
pub fn compare(program: &Model, spin: &Spin, budget: Budget) -> Result<Agreement, Fault> {
    let unwound = catch_unwind(AssertUnwindSafe(|| compare_verdicts(program, spin, budget)));
    unwound.unwrap_or_else(|payload| fault("panic", panic_message(&*payload)))
}

fn compare_verdicts(program: &Model, spin: &Spin, budget: Budget) -> Result<Agreement, Fault> {
    let posed = pose(program)?;
    let Ok(text) = model(&posed, "generated") else { return Ok(Agreement::Skipped) };
    let ours = match ask(&posed.task(), budget) {
        Answer::Safe => ExternalVerdict::Safe,
        Answer::Unsafe(_) => ExternalVerdict::Unsafe,
        Answer::Deep | Answer::Large => return Ok(Agreement::Skipped),
    };
    let folder = scratch();
    let limits = Limits { time: Some(Duration::from_secs(100)), ..Limits::default() };
    let run = Run::new(CancelToken::default(), limits, &());
    let search = spin.decide(&text, &folder, Code::Quick, 2_000, &run);
    let _ = std::fs::remove_dir_all(&folder);
    match search {
        Ok(search) if search.word == ours && ours == ExternalVerdict::Safe => Ok(Agreement::Safe),
        Ok(search) if search.word == ours => Ok(Agreement::Unsafe),
        Ok(search) => fault("spin", format!("{ours:?}, but SPIN says {:?}\n{text}", search.word)),
        Err(silence) => fault("spin (no answer)", format!("{silence:?}\n{text}")),
    }
}

/// A folder that nobody else uses.
fn scratch() -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    Path::new(&std::env::temp_dir()).join(format!("selvedge-spin-{}-{number}", std::process::id()))
}

/// A program on which the verdicts differ, made small.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its number.
    pub number: u64,
    /// What is wrong with the small program.
    pub fault: Fault,
    /// The small program.
    pub small: Model,
}

/// Compares many programs.
pub fn run(
    seed: u64,
    items: Items,
    budget: Budget,
    spin: &Spin,
    mut progress: impl FnMut(u64, usize),
) -> Result<(Tally, Vec<Finding>), Hang> {
    let (mut tally, mut findings, mut done) = (Tally::default(), Vec::new(), 0);
    let for_work = spin.clone();
    each(
        items,
        move |number| compare(&item(seed, number), &for_work, budget),
        |number, result| {
            match result {
                Ok(agreement) => tally.add(agreement),
                Err(first) => findings.push(finding(number, &item(seed, number), &first, spin, budget)),
            }
            done += 1;
            progress(done, findings.len());
            if findings.len() < 3 { Enough::No } else { Enough::Yes }
        },
    )?;
    Ok((tally, findings))
}

fn finding(number: u64, program: &Model, first: &Fault, spin: &Spin, budget: Budget) -> Finding {
    let same = |smaller: &Model| matches!(compare(smaller, spin, budget), Err(other) if other.stage == first.stage);
    let small = shrink(program, 100, same).model;
    let fault = compare(&small, spin, budget).err().unwrap_or_else(|| first.clone());
    Finding { number, fault, small }
}
