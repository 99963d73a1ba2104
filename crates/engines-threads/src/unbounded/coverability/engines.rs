//! The searches as engines: a program becomes a thread-transition system, which is searched.

use selvedge_check::{Bound, CoverClaim, Engine, Event, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::tts::TtsRun;
use selvedge_transition::tts_extract::{self, System, extract};

use super::cutoff::{Effort, Exact};
use super::views::Table;
use super::{Answer, Rules, bounded, certificate, decide, karp_miller, views, widening};

/// The options of these engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The maximum number of threads that are followed together: `None` goes on until the question is decided.
    /// `backward` and `karp-miller-explicit` decide every question without it.
    ///
    /// Default: none. Range: at least 1.
    pub most_threads: Option<u32>,
    /// The options for extracting a system from a program.
    pub system: tts_extract::Options,
}

impl Options {
    fn most(&self) -> Option<usize> {
        self.most_threads.map(|most| most as usize)
    }
}

/// `views-explicit`: searches and proofs with k threads, for k = 1, 2, ..
#[derive(Clone, Debug, Default)]
pub struct ViewsExplicit {
    /// Its options.
    pub options: Options,
}

impl Engine for ViewsExplicit {
    fn name(&self) -> &'static str {
        "views-explicit"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        selvedge_transition::support::supports_unbounded(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let system = build(task, &self.options, run)?;
        run.event(Event::Phase("searching with k threads"));
        match decide(&system.tts, self.options.most(), run)?.answer {
            Answer::Covered(found) => unsafe_by(&system, &found, run),
            Answer::Uncovered(table) => safe(&system, certificate::views(&whole(&system, table, run)?)),
        }
    }
}

/// `backward`: from the errors backwards, with guesses, within the views of two threads.
#[derive(Clone, Debug, Default)]
pub struct Backward {
    /// Its options.
    pub options: Options,
}

impl Engine for Backward {
    fn name(&self) -> &'static str {
        "backward"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        selvedge_transition::support::supports_unbounded(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let system = build(task, &self.options, run)?;
        let rules = Rules::new(&system.tts);
        run.event(Event::Phase("computing the views of two threads"));
        let table = whole(&system, views::table(&rules, 2, run)?, run)?;
        run.event(Event::Phase("searching backwards"));
        match widening::decide(&rules, &system.tts.targets, Some(&table), run)? {
            Answer::Covered(found) => unsafe_by(&system, &found, run),
            Answer::Uncovered(basis) => safe(&system, certificate::basis(&table, &basis)),
        }
    }
}

/// `karp-miller-explicit`: the tree of Karp and Miller over explicit states.
#[derive(Clone, Debug, Default)]
pub struct KarpMillerExplicit {
    /// Its options.
    pub options: Options,
}

impl Engine for KarpMillerExplicit {
    fn name(&self) -> &'static str {
        "karp-miller-explicit"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        selvedge_transition::support::supports_unbounded(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, _: &mut Explanation) -> Result<Verdict, Stop> {
        let system = build(task, &self.options, run)?;
        let rules = Rules::new(&system.tts);
        run.event(Event::Phase("growing the tree"));
        match karp_miller::prove(&rules, run)? {
            Some(cover) => safe(&system, certificate::vectors(&cover)),
            None => {
                run.event(Event::Phase("searching for a run"));
                unsafe_by(&system, &covering_run(&rules, self.options.most(), run)?, run)
            }
        }
    }
}

/// `cutoff`: grows the number of threads until they reach all thread states that any number reaches.
#[derive(Clone, Debug, Default)]
pub struct Cutoff {
    /// Its options.
    pub options: Options,
}

impl Engine for Cutoff {
    fn name(&self) -> &'static str {
        "cutoff"
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        selvedge_transition::support::supports_unbounded(task, self.name())
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        let system = build(task, &self.options, run)?;
        let rules = Rules::new(&system.tts);
        run.event(Event::Phase("counting thread states"));
        let effort = Effort { most: self.options.most(), most_views: 2, exact: Some(Exact::KarpMiller) };
        let found = super::cutoff::search(&rules, effort, run)?;
        explanation.cutoff = Some(found.cutoff);
        match found.answer {
            Some(Answer::Covered(found)) => unsafe_by(&system, &found, run),
            Some(Answer::Uncovered(claim)) => safe(&system, claim),
            None => Err(Stop::BoundReached(Bound::Threads(self.options.most_threads.unwrap_or(0)))),
        }
    }
}

fn build<'p>(task: &Task<'p>, options: &Options, run: &Run<'_>) -> Result<System<'p>, Stop> {
    run.event(Event::Phase("listing states"));
    extract(task, options.system, run)
}

/// Returns a table that admits only thread states whose rules the system has. A system leaves out the rules of thread
/// states that cannot occur because there is only one thread of a kind; views of one thread do not know that. Views of
/// more threads do: in the end the table admits only states that can be covered.
fn whole(system: &System<'_>, table: Table, run: &Run<'_>) -> Result<Table, Stop> {
    let rules = Rules::new(&system.tts);
    let mut table = table;
    while !table.thread_states().iter().all(|(shared, local)| system.views[*shared].contains(local.index())) {
        table = views::table(&rules, table.k() + 1, run)?;
    }
    Ok(table)
}

fn unsafe_by(system: &System<'_>, found: &TtsRun, run: &Run<'_>) -> Result<Verdict, Stop> {
    system.trace(found, run).map(Verdict::Unsafe)
}

fn safe(system: &System<'_>, claim: CoverClaim) -> Result<Verdict, Stop> {
    Ok(Verdict::Safe(Some(system.certificate(claim))))
}

/// Finds a run to a target that can be covered, with as few threads as possible.
fn covering_run(rules: &Rules<'_>, most: Option<usize>, run: &Run<'_>) -> Result<TtsRun, Stop> {
    let mut k = 1;
    while most.is_none_or(|most| k <= most) {
        if let Some(found) = bounded::find(rules, k, run)? {
            return Ok(found);
        }
        k += 1;
    }
    Err(Stop::BoundReached(Bound::Threads(k as u32 - 1)))
}
