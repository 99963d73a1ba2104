//! Generated programs with threads, for the engines that answer for any number of them; and what these say, compared.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use selvedge_check::{Engine, Run, Stop, Task, ThreadScope, Verdict};
use selvedge_driver::{Pass, Simplified, simplify};
use selvedge_engines::tts_extract;
use selvedge_engines::unbounded::coverability::{Backward, Cutoff, KarpMillerExplicit, Options, ViewsExplicit};
use selvedge_engines::unbounded::karp_miller::KarpMiller;
use selvedge_engines::unbounded::supports;
use selvedge_engines::unbounded::views::{self, Views};
use selvedge_replay::{Judged, judge};

use crate::differ::{Fault, Posed, fault, panic_message, pose};
use crate::engines::{Compared, Comparison};
use crate::generate::{Weights, generate};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask, within};

/// The comparison of all engines for any number of threads.
pub const ANY_NUMBER: Comparison = Comparison { item: crate::threads::item, compare };

/// The greatest number of threads that is tried where nothing is proved.
const MOST_THREADS: u32 = 3;

/// The engines whose certificates list states.
pub fn listing() -> [Box<dyn Engine>; 5] {
    let system = tts_extract::Options { size: 20_000, ..Default::default() };
    let options = Options { most_threads: Some(MOST_THREADS), system };
    [
        Box::new(ViewsExplicit { options: options.clone() }),
        Box::new(Backward { options: options.clone() }),
        Box::new(KarpMillerExplicit { options: options.clone() }),
        Box::new(Cutoff { options }),
        Box::new(KarpMiller),
    ]
}

/// Compares the engines with each other and with few threads on a program. Panics are faults.
fn compare(model: &Model, _: u64, budget: Budget) -> Result<Compared, Fault> {
    let unwound = catch_unwind(AssertUnwindSafe(|| compare_task(&pose(model)?.task(), budget)));
    unwound.unwrap_or_else(|payload| fault("panic", panic_message(&*payload)))
}

/// Whoever decides says the same; every execution replays and every certificate is accepted, before and after calls were
/// replaced by bodies; and where the answer is safe, one to four threads find no error.
fn compare_task(task: &Task<'_>, budget: Budget) -> Result<Compared, Fault> {
    let original = Task { threads: ThreadScope::Unbounded, ..*task };
    let inlined = simplify(&original, &[Pass::Inline]);
    let (mut compared, mut known) = (Compared::default(), Answer::Large);
    let views: Box<dyn Engine> = Box::new(Views { options: views::Options { max_k: Some(MOST_THREADS) } });
    for engine in listing().into_iter().chain([views]) {
        let question = inlined.task(ThreadScope::Unbounded);
        if engine.supports(&question).is_err() {
            continue;
        }
        let found = within(budget, |run| match engine.check(&question, run) {
            Ok(verdict) => judge(&question, &verdict, run).map(|judged| match judged {
                Judged::Unjudged(_) => Err(Stop::Cancelled),
                _ => Ok(verdict),
            }),
            Err(stop) => Ok(Err(stop)),
        });
        compared.count_question(matches!(found, Ok(Ok(_))));
        let verdict = match found {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(Stop::BoundReached(_) | Stop::TimeLimit(_) | Stop::NodeLimit(_) | Stop::Cancelled)) => continue,
            Ok(Err(stop)) => return fault(engine.name(), stop.to_string()),
            Err(reject) => return fault(format!("{} (judge)", engine.name()), reject.to_string()),
        };
        let answer = judged(engine.name(), &original, &inlined.lift(verdict), &mut compared)?;
        if known.contradicts(&answer) {
            return fault(engine.name(), format!("{known} for the engines before, but then {answer}"));
        }
        known = answer;
    }
    compared.count(&known);
    for bound in (1..=4).filter(|_| known == Answer::Safe) {
        if let Answer::Unsafe(_) = ask(&Task { threads: ThreadScope::AtMost(bound), ..original }, budget) {
            return fault("few threads", format!("safe, but with {bound} threads there is an error"));
        }
    }
    Ok(compared)
}

/// The answer with evidence about the program as it is.
fn judged(name: &str, task: &Task<'_>, verdict: &Verdict, compared: &mut Compared) -> Result<Answer, Fault> {
    match (judge(task, verdict, &Run::unlimited()), verdict) {
        (Ok(_), Verdict::Unsafe(trace)) => Ok(Answer::Unsafe(trace.clone())),
        (Ok(judged), Verdict::Safe(_)) => {
            compared.count_evidence(judged == Judged::Certified);
            Ok(Answer::Safe)
        }
        (Err(reject), _) => fault(format!("{name} (lifted)"), reject.to_string()),
    }
}

/// A generated program, as it is and without calls.
pub struct Generated {
    /// What it is called: the weights by which it was made, and the seed.
    pub name: String,
    /// As it is.
    pub posed: Posed,
    /// With bodies in the places of calls.
    pub inlined: Simplified,
}

impl Generated {
    /// The question about any number of threads.
    pub fn original(&self) -> Task<'_> {
        Task { threads: ThreadScope::Unbounded, ..self.posed.task() }
    }

    /// The same about the program without calls.
    pub fn task(&self) -> Task<'_> {
        self.inlined.task(ThreadScope::Unbounded)
    }
}

/// For all weights of programs with threads one program for each seed, but for those that the engines do not take.
pub fn generated(seeds: Range<u64>) -> impl Iterator<Item = Generated> {
    Weights::concurrent().into_iter().enumerate().flat_map(move |(at, (name, weights))| {
        let one = move |seed: u64| {
            let posed = pose(&generate(seed * 100 + at as u64, &weights)).expect("generated programs are fine");
            let inlined = simplify(&posed.task(), &[Pass::Inline]);
            let generated = Generated { name: format!("{name}, seed {seed}"), posed, inlined };
            supports(&generated.task(), "test").is_ok().then_some(generated)
        };
        seeds.clone().filter_map(one)
    })
}
