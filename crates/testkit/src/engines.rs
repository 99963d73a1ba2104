//! All engines on one program: verdicts, evidence and reachable sets against the exhaustive engine.
//!
//! For each engine that takes the program: its verdict does not contradict the oracle's, its trace replays, its
//! certificate is accepted. Two engines that decide must agree also where the oracle gave up. `pushdown` and `summaries`
//! list what they reach; the lists must be the oracle's, or contain them where it stopped at the bound on frames. The
//! pushdown system of the program has the same verdict after it was printed and read.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use selvedge_check::{Engine as _, Stop, Task, Verdict};
use selvedge_engines::exhaustive::{Exhaustive, Exploration, Options, ThreadState};
use selvedge_engines::pushdown::{self, Direction, Pushdown};
use selvedge_engines::sat::SummaryMode;
use selvedge_engines::summaries::Summaries;
use selvedge_engines::{EngineKind, EngineOptions, build};
use selvedge_frontend::System;
use selvedge_frontend::pds::{load, print};
use selvedge_ir::{LocId, Scope, Value, VarId};
use selvedge_replay::certificate::{Refused, verify_system};
use selvedge_replay::{Judged, judge};

use crate::differ::{Fault, fault, panic_message, pose};
use crate::generate::{Weights, generate_with};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, within};
use crate::rng::Rng;
use crate::shrink::{Shrunk, shrink};
use crate::workers::{Enough, Hang, Items, each};

/// What a comparison did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// Safe programs.
    pub safe: u64,
    /// Unsafe programs.
    pub unsafe_: u64,
    /// Programs that no engine decided within the budget.
    pub open: u64,
    /// Certificates that were accepted.
    pub certified: u64,
    /// Safe answers without certificate, those of `exhaustive` aside.
    pub uncertified: u64,
    /// Lists of reachable states that were compared.
    pub sets: u64,
    /// Lists of what became of every assertion and label that were compared.
    pub statuses: u64,
    /// Questions to engines.
    pub asked: u64,
    /// Those of them that an engine did not answer within the budget.
    pub undecided: u64,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Compared { safe, unsafe_, open, certified, uncertified, sets, statuses, asked, undecided } = self;
        write!(f, "{safe} safe, {unsafe_} unsafe, {open} open; ")?;
        write!(f, "{certified} certificates accepted, {uncertified} safe answers without; ")?;
        write!(f, "{sets} sets of states and {statuses} lists of answers compared")?;
        if *asked > 0 {
            let share = 100.0 * *undecided as f64 / *asked as f64;
            write!(f, "; {undecided} of {asked} questions undecided within the budget ({share:.2} %)")?;
        }
        Ok(())
    }
}

impl Compared {
    fn add(&mut self, other: Compared) {
        self.safe += other.safe;
        self.unsafe_ += other.unsafe_;
        self.open += other.open;
        self.certified += other.certified;
        self.uncertified += other.uncertified;
        self.sets += other.sets;
        self.statuses += other.statuses;
        self.asked += other.asked;
        self.undecided += other.undecided;
    }

    /// Counts a program.
    pub(crate) fn count(&mut self, known: &Answer) {
        match known {
            Answer::Safe => self.safe += 1,
            Answer::Unsafe(_) => self.unsafe_ += 1,
            Answer::Deep | Answer::Large => self.open += 1,
        }
    }

    /// Counts a question, and whether it was answered.
    pub(crate) fn count_question(&mut self, answered: bool) {
        self.asked += 1;
        self.undecided += u64::from(!answered);
    }

    /// Counts a safe answer.
    pub(crate) fn count_evidence(&mut self, certified: bool) {
        *(if certified { &mut self.certified } else { &mut self.uncertified }) += 1;
    }
}

/// A program on which engines disagree, made small.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its number in the campaign.
    pub number: u64,
    /// What is wrong with the generated program.
    pub fault: Fault,
    /// The small program.
    pub small: Model,
}

/// The program with this number: sequential and recursive ones take turns.
pub fn item(seed: u64, number: u64) -> Model {
    let weights = if number.is_multiple_of(2) { Weights::sequential() } else { Weights::recursive() };
    generate_with(&mut Rng::for_item(seed, number), &weights)
}

/// A comparison: which programs, and what is compared.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// The program of a seed and a number.
    pub item: fn(u64, u64) -> Model,
    /// The comparison of one program, whose number may choose what is tried. Panics are faults.
    pub compare: fn(&Model, u64, Budget) -> Result<Compared, Fault>,
}

/// The comparison of all engines on programs with one thread.
pub const SEQUENTIAL: Comparison = Comparison { item, compare: |model, _, budget| compare(model, budget) };

/// Compares the engines on many programs. `progress` is called after each, with the numbers of programs and findings.
pub fn run(
    comparison: Comparison,
    seed: u64,
    items: Items,
    budget: Budget,
    mut progress: impl FnMut(u64, usize),
) -> Result<(Compared, Vec<Finding>), Hang> {
    let Comparison { item, compare } = comparison;
    let (mut total, mut findings, mut done) = (Compared::default(), Vec::new(), 0);
    each(
        items,
        move |number| compare(&item(seed, number), number, budget),
        |number, result| {
            match result {
                Ok(compared) => total.add(compared),
                Err(fault) => {
                    let small = comparison.shrink_fault(&item(seed, number), number, &fault, budget).model;
                    findings.push(Finding { number, fault, small });
                }
            }
            done += 1;
            progress(done, findings.len());
            if findings.len() < 10 { Enough::No } else { Enough::Yes }
        },
    )?;
    Ok((total, findings))
}

impl Comparison {
    /// Shrinks the program with a number and a fault to a small one with a fault of the same stage.
    pub fn shrink_fault(self, model: &Model, number: u64, fault: &Fault, budget: Budget) -> Shrunk {
        shrink(
            model,
            5_000,
            |smaller| matches!((self.compare)(smaller, number, budget), Err(other) if other.stage == fault.stage),
        )
    }
}

/// Compares the engines on one program. Panics are faults.
pub fn compare(model: &Model, budget: Budget) -> Result<Compared, Fault> {
    let unwound = catch_unwind(AssertUnwindSafe(|| compare_engines(model, budget)));
    unwound.unwrap_or_else(|payload| fault("panic", panic_message(&*payload)))
}

fn compare_engines(model: &Model, budget: Budget) -> Result<Compared, Fault> {
    let posed = pose(model)?;
    let task = posed.task();
    let mut known = ask(&task, budget);
    let mut compared = Compared::default();
    for (kind, options) in variants() {
        let Some(found) = decide(kind, &options, &task, budget, &mut compared)? else { continue };
        if known.contradicts(&found) {
            let sat = format!("summaries {}", options.sat.summaries.name());
            return fault(kind.name(), format!("{known} for the engines before, but then {found} (sat: {sat})"));
        }
        if matches!(found, Answer::Safe | Answer::Unsafe(_)) {
            known = found;
        }
    }
    compared.count(&known);
    compare_sets(&task, budget, &mut compared)?;
    compare_converted(&task, &known, budget)?;
    Ok(compared)
}

/// The engines with their default options; `sat` in all its modes.
fn variants() -> Vec<(EngineKind, EngineOptions)> {
    let mut variants = Vec::new();
    for kind in EngineKind::ALL.iter().copied().filter(|kind| *kind != EngineKind::Exhaustive) {
        let modes = if kind == EngineKind::Sat { SummaryMode::ALL } else { &SummaryMode::ALL[..1] };
        for mode in modes {
            let mut options = EngineOptions::default();
            options.sat.summaries = *mode;
            variants.push((kind, options));
        }
    }
    variants
}

/// The answer of an engine, with evidence that was judged; `None` if it does not take the program.
fn decide(
    kind: EngineKind,
    options: &EngineOptions,
    task: &Task<'_>,
    budget: Budget,
    compared: &mut Compared,
) -> Result<Option<Answer>, Fault> {
    let engine = build(kind, options);
    if engine.supports(task).is_err() {
        return Ok(None);
    }
    let answer = within(budget, |run| match engine.check(task, run) {
        Ok(verdict) => judge(task, &verdict, run).map(|judged| Ok((verdict, judged))),
        Err(stop) => Ok(Err(stop)),
    });
    match answer {
        Ok(Ok((Verdict::Unsafe(trace), _))) => Ok(Some(Answer::Unsafe(trace))),
        Ok(Ok((Verdict::Safe(_), judged))) => {
            compared.count_evidence(judged == Judged::Certified);
            Ok(Some(Answer::Safe))
        }
        Ok(Err(Stop::BoundReached(_))) => Ok(Some(Answer::Deep)),
        Ok(Err(_)) => Ok(Some(Answer::Large)),
        Err(reject) => fault(format!("{} (judge)", kind.name()), reject.to_string()),
    }
}

/// Compares what the engines reach.
fn compare_sets(task: &Task<'_>, budget: Budget, compared: &mut Compared) -> Result<(), Fault> {
    if Pushdown::default().supports(task).is_err() || Summaries::default().supports(task).is_err() {
        return Ok(());
    }
    let oracle = Exhaustive { options: Options { frames: budget.frames } };
    let Ok(seen) = within(budget, |run| oracle.explore(task, run)) else { return Ok(()) };
    let Ok(found) = within(budget, |run| Pushdown::default().explore(task, run)) else { return Ok(()) };
    compared.sets += 1;
    check_set("pushdown (states)", &seen, &seen.thread_states, &found)?;
    let Ok(reached) = within(budget, |run| Summaries::default().explore(task, run)) else { return Ok(()) };
    compared.sets += 1;
    let project = |state: &ThreadState| -> (LocId, Vec<bool>) {
        let place = reached.vars.binary_search_by_key(&state.loc, |(loc, _)| *loc);
        let vars = place.map_or(&[][..], |place| &reached.vars[place].1);
        (state.loc, vars.iter().map(|var| value(task, state, *var)).collect())
    };
    let projected: BTreeSet<_> = found.iter().map(project).collect();
    if projected != reached.states {
        return fault("summaries (states)", difference(&projected, &reached.states));
    }
    Ok(())
}

/// The oracle sees less where the bound on frames stopped it, never more.
fn check_set(
    stage: &str,
    seen: &Exploration,
    expected: &BTreeSet<ThreadState>,
    found: &BTreeSet<ThreadState>,
) -> Result<(), Fault> {
    let agrees = if seen.truncated { expected.is_subset(found) } else { expected == found };
    if agrees { Ok(()) } else { fault(stage, difference(expected, found)) }
}

pub(crate) fn difference<T: Ord + fmt::Debug>(expected: &BTreeSet<T>, found: &BTreeSet<T>) -> String {
    let missing = expected.difference(found).next();
    let extra = found.difference(expected).next();
    format!("{} states expected, {} found; missing {missing:?}, not expected {extra:?}", expected.len(), found.len())
}

fn value(task: &Task<'_>, state: &ThreadState, var: VarId) -> bool {
    let program = task.program;
    let scope = program.vars[var].scope;
    let of_scope: Vec<VarId> = match scope {
        Scope::Local(proc) => program.procs[proc].locals.clone(),
        _ => program.vars.indices().filter(|other| program.vars[*other].scope == scope).collect(),
    };
    let list = match scope {
        Scope::Shared => &state.shared,
        Scope::Thread => &state.vars,
        Scope::Local(_) => &state.locals,
    };
    let place = of_scope.iter().position(|other| *other == var);
    place.is_some_and(|place| list[place] == Value::Bool(true))
}

/// The pushdown system, printed and read, has the same verdict in both directions.
fn compare_converted(task: &Task<'_>, known: &Answer, budget: Budget) -> Result<(), Fault> {
    if Pushdown::default().supports(task).is_err() {
        return Ok(());
    }
    let Ok(converted) = within(budget, |run| pushdown::convert(task, run)) else { return Ok(()) };
    let Some(System::Pds(pds)) = load(&print(&converted.pds)).system else {
        return fault("convert", "the printed system is not read");
    };
    for direction in [Direction::Forward, Direction::Backward] {
        let Ok(answer) = within(budget, |run| pushdown::check(&pds, direction, run)) else { continue };
        let found = match answer {
            pushdown::SystemVerdict::Unreachable(proof) => {
                match within(budget, |run| match verify_system(&pds, &proof, run) {
                    Err(Refused::Flawed(flaw)) => Err(flaw),
                    Ok(()) | Err(Refused::Unjudged(_)) => Ok(()),
                }) {
                    Err(flaw) => return fault("convert (proof)", format!("{direction:?}: {}", flaw.show(&pds))),
                    Ok(()) => Answer::Safe,
                }
            }
            pushdown::SystemVerdict::Reachable(trace) => match pds.replay(&trace) {
                Ok(_) => Answer::Unsafe(selvedge_check::Trace::default()),
                Err(reason) => return fault("convert (trace)", format!("{direction:?}: {reason:?}")),
            },
        };
        if known.contradicts(&found) {
            return fault("convert", format!("{direction:?}: {known}, but as a pushdown system {found}"));
        }
    }
    Ok(())
}
