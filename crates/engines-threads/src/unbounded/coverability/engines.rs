//! The searches as engines: a program becomes a thread-transition system, which is searched.

use selvedge_check::{Bound, CoverClaim, Engine, Event, Explanation, Run, Stop, Task, Unsupported, Verdict};
use selvedge_ir::tts::TtsRun;
use selvedge_transition::support::{supports_broadcasts, supports_unbounded};
use selvedge_transition::tts_extract::{self, System, extract};

use super::cutoff::Effort;
use super::views::Table;
use super::{Answer, Rules, bounded, certificate, decide, decide_from, karp_miller, net, views, widening};

/// The number of threads with which `views-explicit` begins.
const FEW: usize = 2;

/// Limit on the nodes of the tree that `views-explicit` builds.
const MOST_NODES: usize = 4_000;

/// Limit on the elements of the directed search of `views-explicit`.
const MOST_ELEMENTS: usize = 2_000;

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

/// The way in which an engine decides coverability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `views-explicit`: searches and proofs with k threads, for k = 1, 2, ..
    Views,
    /// `backward`: from the errors backwards, with guesses, within the views of two threads.
    Backward,
    /// `karp-miller-explicit`: the tree of Karp and Miller over explicit states.
    KarpMiller,
    /// `directed`: forwards and backwards in the net of the system, by the marking equation.
    Directed,
    /// `cutoff`: grows the number of threads until they reach all thread states that any number reaches.
    Cutoff,
}

/// The engines that list the states of a program as a thread-transition system and decide coverability there.
#[derive(Clone, Debug)]
pub struct Coverability {
    /// The way in which it decides.
    pub method: Method,
    /// Its options.
    pub options: Options,
}

impl Engine for Coverability {
    fn name(&self) -> &'static str {
        match self.method {
            Method::Views => "views-explicit",
            Method::Backward => "backward",
            Method::KarpMiller => "karp-miller-explicit",
            Method::Directed => "directed",
            Method::Cutoff => "cutoff",
        }
    }

    fn supports(&self, task: &Task<'_>) -> Result<(), Unsupported> {
        match self.method {
            Method::Views | Method::Backward | Method::Directed => supports_broadcasts(task, self.name()),
            Method::KarpMiller | Method::Cutoff => supports_unbounded(task, self.name()),
        }
    }

    fn decide(&self, task: &Task<'_>, run: &Run<'_>, explanation: &mut Explanation) -> Result<Verdict, Stop> {
        run.event(Event::Phase("listing states"));
        let system = extract(task, self.options.system, run)?;
        let answer = match self.method {
            Method::Views => self.by_views(&system, run)?,
            Method::Backward => self.backwards(&system, run)?,
            Method::KarpMiller => self.by_tree(&system, run)?,
            Method::Directed => self.directed(&system, run)?,
            Method::Cutoff => self.by_cutoff(&system, run, explanation)?,
        };
        match answer {
            Answer::Covered(found) => system.trace(&found, run).map(Verdict::Unsafe),
            Answer::Uncovered(claim) => Ok(Verdict::Safe(Some(system.certificate(claim)))),
        }
    }
}

impl Coverability {
    fn most(&self) -> Option<usize> {
        self.options.most_threads.map(|most| most as usize)
    }

    /// Decides with one and two threads; then by a small tree of Karp and Miller and by a short directed search, which
    /// find errors that need many threads; and then with more and more threads. If the system is a net, whose tokens
    /// are moved one by one, the directed search comes first: its shared states are too many for views.
    fn by_views(&self, system: &System<'_>, run: &Run<'_>) -> Result<Answer<CoverClaim>, Stop> {
        let is_net = net::is_net(&system.tts);
        if is_net
            && self.most().is_none()
            && let Some(answer) = directed_within(system, MOST_ELEMENTS, run)?
        {
            return Ok(answer);
        }
        run.event(Event::Phase("searching with k threads"));
        let few = self.most().map_or(FEW, |most| most.min(FEW));
        let answer = match decide(&system.tts, Some(few), run) {
            Err(Stop::BoundReached(_)) if self.most().is_none_or(|most| most > FEW) => {
                match self.by_many(system, is_net, run)? {
                    Some(answer) => return Ok(answer),
                    None => decide_from(FEW + 1, &system.tts, self.most(), run)?,
                }
            }
            answer => answer?,
        };
        Ok(match answer {
            Answer::Covered(found) => Answer::Covered(found),
            Answer::Uncovered(table) => Answer::Uncovered(certificate::views(&whole(system, table, run)?)),
        })
    }

    /// Decides by searches that are not limited to few threads, with little effort.
    fn by_many(&self, system: &System<'_>, is_net: bool, run: &Run<'_>) -> Result<Option<Answer<CoverClaim>>, Stop> {
        if !system.tts.has_transfers()
            && let Some(answer) = karp_miller::decide_within(&Rules::new(&system.tts), MOST_NODES, run)?
        {
            return Ok(Some(match answer {
                Answer::Covered(found) => Answer::Covered(found),
                Answer::Uncovered(cover) => Answer::Uncovered(certificate::vectors(&cover)),
            }));
        }
        let is_new = !is_net && self.most().is_none();
        if is_new { directed_within(system, MOST_ELEMENTS, run) } else { Ok(None) }
    }

    fn backwards(&self, system: &System<'_>, run: &Run<'_>) -> Result<Answer<CoverClaim>, Stop> {
        let rules = Rules::new(&system.tts);
        run.event(Event::Phase("computing the views of two threads"));
        let table = whole(system, views::table(&rules, 2, run)?, run)?;
        run.event(Event::Phase("searching backwards"));
        Ok(match widening::decide(&rules, &system.tts.targets, Some(&table), run)? {
            Answer::Covered(found) => Answer::Covered(found),
            Answer::Uncovered(basis) => Answer::Uncovered(certificate::basis(&table, &basis)),
        })
    }

    /// Decides by the marking equation of the net. If that is too large, it decides backwards.
    fn directed(&self, system: &System<'_>, run: &Run<'_>) -> Result<Answer<CoverClaim>, Stop> {
        match directed_within(system, usize::MAX, run)? {
            Some(answer) => Ok(answer),
            None => self.backwards(system, run),
        }
    }

    fn by_tree(&self, system: &System<'_>, run: &Run<'_>) -> Result<Answer<CoverClaim>, Stop> {
        let rules = Rules::new(&system.tts);
        run.event(Event::Phase("growing the tree"));
        match karp_miller::decide(&rules, run)? {
            Some(Answer::Uncovered(cover)) => return Ok(Answer::Uncovered(certificate::vectors(&cover))),
            Some(Answer::Covered(found)) => return Ok(Answer::Covered(found)),
            None => {}
        }
        run.event(Event::Phase("searching for a run"));
        covering_run(&rules, self.most(), run).map(Answer::Covered)
    }

    fn by_cutoff(
        &self,
        system: &System<'_>,
        run: &Run<'_>,
        explanation: &mut Explanation,
    ) -> Result<Answer<CoverClaim>, Stop> {
        run.event(Event::Phase("counting thread states"));
        let effort = Effort { most: self.most(), most_views: 2, exact: true };
        let found = super::cutoff::search(&Rules::new(&system.tts), effort, run)?;
        explanation.cutoff = Some(found.cutoff);
        found.answer.ok_or(Stop::BoundReached(Bound::Threads(self.options.most_threads.unwrap_or(0))))
    }
}

/// Decides by the marking equation of the net, within a number of elements backwards.
fn directed_within(system: &System<'_>, most: usize, run: &Run<'_>) -> Result<Option<Answer<CoverClaim>>, Stop> {
    let rules = Rules::new(&system.tts);
    run.event(Event::Phase("searching the net"));
    Ok(match net::decide(&rules, most, run)? {
        None => None,
        Some(Answer::Covered(found)) => Some(Answer::Covered(found)),
        Some(Answer::Uncovered(proof)) => {
            let table = whole(system, views::table(&rules, 1, run)?, run)?;
            proof.basis(&table, run)?.map(|basis| Answer::Uncovered(certificate::basis(&table, &basis)))
        }
    })
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
