//! Generated programs with threads, for comparing the engines for any number of threads.

use std::ops::Range;
use std::time::Duration;

use selvedge_check::{Engine, Task, ThreadScope};
use selvedge_driver::{Pass, Simplified, simplify};
use selvedge_engines::unbounded::coverability::{Coverability, Method, Options};
use selvedge_engines::unbounded::karp_miller::KarpMiller;
use selvedge_engines::unbounded::supports;
use selvedge_engines::unbounded::views::{self, Views};
use selvedge_engines::{EngineKind, tts_extract};
use selvedge_replay::replay::replay;

use crate::contender::Contender;
use crate::differ::{Posed, pose};
use crate::generate::{Weights, generate};
use crate::harness::{Comparison, Fault, Tally, fault};
use crate::model::Model;
use crate::oracle::{Answer, Budget, ask};

/// The comparison of all engines for any number of threads.
pub const ANY_NUMBER: Comparison = Comparison::new(crate::threads::item, compare)
    .within(Budget { patience: Some(Duration::from_secs(1)), ..Budget::states(3_000) });

/// The greatest number of threads that is tried if nothing is proved.
const MOST_THREADS: u32 = 3;

/// Returns the engines whose certificates list states.
pub fn listing() -> [Box<dyn Engine>; 5] {
    let system = tts_extract::Options { size: 20_000, ..Default::default() };
    let options = Options { most_threads: Some(MOST_THREADS), system };
    let engine = |method| Box::new(Coverability { method, options: options.clone() });
    [
        engine(Method::Views),
        engine(Method::Backward),
        engine(Method::KarpMiller),
        engine(Method::Cutoff),
        Box::new(KarpMiller),
    ]
}

/// Checks that all engines that decide agree; that every execution replays and every certificate is accepted, before
/// and after inlining; and that if the answer is safe, one to four threads find no error. A spawn at the limit has no
/// effect, and a condition on all other threads may hold for that reason alone. So an error of few threads counts only
/// if its execution is also one of any number of threads.
fn compare(model: &Model, _: u64, budget: Budget, tally: &mut Tally) -> Result<(), Fault> {
    let posed = pose(model)?;
    let task = Task { threads: ThreadScope::Unbounded, ..posed.task() };
    let inlined = simplify(&task, &[Pass::Inline]);
    let mut known = Answer::Large;
    let views: Box<dyn Engine> = Box::new(Views { options: views::Options { max_k: Some(MOST_THREADS) } });
    for engine in listing().into_iter().chain([views]) {
        let kind = EngineKind::from_name(engine.name()).expect("the table has all engines");
        let contender = Contender { kind, name: engine.name().to_string(), engine };
        contender.compare(&task, Some(&inlined), &mut known, budget, tally)?;
    }
    known.count(tally);
    for bound in (1..=4).filter(|_| known == Answer::Safe) {
        let found = ask(&Task { threads: ThreadScope::AtMost(bound), ..task }, budget);
        if matches!(&found, Answer::Unsafe(trace) if replay(&task, trace).is_ok()) {
            return fault("few threads", format!("safe, but with {bound} threads there is an error"));
        }
    }
    Ok(())
}

/// A generated program, as it is and inlined.
pub struct Generated {
    /// Its name: the weights by which it was made, and the seed.
    pub name: String,
    /// The program as it is.
    pub posed: Posed,
    /// The inlined program.
    pub inlined: Simplified,
}

impl Generated {
    /// Returns the question about any number of threads.
    pub fn original(&self) -> Task<'_> {
        Task { threads: ThreadScope::Unbounded, ..self.posed.task() }
    }

    /// Returns the same question about the inlined program.
    pub fn task(&self) -> Task<'_> {
        self.inlined.task(ThreadScope::Unbounded)
    }
}

/// Generates for all weights of programs with threads one program for each seed, leaving out those that the engines do
/// not support.
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
