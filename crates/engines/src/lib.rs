//! The registry of engines: their names, their options, and how they are built.
//!
//! The engines are in a crate per family, which depend on [`selvedge_transition`] and not on each other. Where one engine
//! uses another, it is handed over here. Engines never print, never read the environment and never see a file name.

pub mod induction;

use selvedge_check::Engine;
use selvedge_transition::sequential::SequentialEngine;

pub use selvedge_engines_contexts::{self as contexts, calculus};
pub use selvedge_engines_exhaustive as exhaustive;
pub use selvedge_engines_integers::{self as integers, abstraction, cegar, horn};
pub use selvedge_engines_sequential::{bmc, control_flow, pushdown, sat, summaries};
pub use selvedge_engines_threads::{bounded as threads, unbounded};
pub use selvedge_transition::tts_extract;

/// All engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EngineKind {
    /// Path edges and summaries in decision diagrams, for programs with one thread.
    Summaries,
    /// Summaries by symbolic simulation and SAT, for programs with one thread.
    Sat,
    /// Saturation of automata over explicit states, for programs with one thread: the twin of `Summaries`.
    Pushdown,
    /// All executions of so many steps by SAT, for programs with one thread.
    Bmc,
    /// k-induction by SAT, for programs with one thread and without recursion.
    Induction,
    /// Counter abstraction on decision diagrams, for a bounded number of threads without recursion.
    Threads,
    /// Counter abstraction over explicit valuations, for a bounded number of threads without recursion.
    ThreadsExplicit,
    /// The same question without symmetry: the partner of `Threads`.
    ThreadsPlain,
    /// Searches and views of a few threads over explicit states, for any number of threads without recursion.
    ViewsExplicit,
    /// Coverability backwards over explicit states, for any number of threads without recursion.
    Backward,
    /// The tree of Karp and Miller over explicit states, for any number of threads without recursion.
    KarpMillerExplicit,
    /// Growing numbers of threads over explicit states, up to one that is enough; without recursion.
    Cutoff,
    /// Views of a few threads on decision diagrams, for any number of threads without recursion.
    Views,
    /// The tree of Karp and Miller on decision diagrams, for any number of threads without recursion.
    KarpMiller,
    /// Path edges and summaries in decision diagrams, for a bounded number of contexts of each thread, with recursion.
    Contexts,
    /// A bounded number of contexts per thread, with recursion: reduced to one thread, and `Summaries`.
    ContextsEager,
    /// Linear interfaces in decision diagrams, for any number of threads in a bounded number of rounds, with recursion.
    Rounds,
    /// Symbolic execution with abstract matching, for programs with integers and one thread.
    Ase,
    /// Concrete states with abstract matching, for programs with integers, one start and no input.
    Ur,
    /// Horn clauses for z3's Spacer, for guarded commands over integers.
    Horn,
    /// Predicate abstraction to Boolean programs, refined by counterexamples, for guarded commands over integers.
    Cegar,
    /// Breadth-first search over the reference interpreter: the oracle.
    Exhaustive,
}

impl EngineKind {
    /// All engines, in the order in which they are listed to the user.
    pub const ALL: &'static [EngineKind] = &[
        EngineKind::Summaries,
        EngineKind::Sat,
        EngineKind::Pushdown,
        EngineKind::Bmc,
        EngineKind::Induction,
        EngineKind::Threads,
        EngineKind::ThreadsExplicit,
        EngineKind::ThreadsPlain,
        EngineKind::ViewsExplicit,
        EngineKind::Backward,
        EngineKind::KarpMillerExplicit,
        EngineKind::Cutoff,
        EngineKind::Views,
        EngineKind::KarpMiller,
        EngineKind::Contexts,
        EngineKind::ContextsEager,
        EngineKind::Rounds,
        EngineKind::Ase,
        EngineKind::Ur,
        EngineKind::Horn,
        EngineKind::Cegar,
        EngineKind::Exhaustive,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            EngineKind::Summaries => "summaries",
            EngineKind::Sat => "sat",
            EngineKind::Pushdown => "pushdown",
            EngineKind::Bmc => "bmc",
            EngineKind::Induction => "induction",
            EngineKind::Threads => "threads",
            EngineKind::ThreadsExplicit => "threads-explicit",
            EngineKind::ThreadsPlain => "threads-plain",
            EngineKind::ViewsExplicit => "views-explicit",
            EngineKind::Backward => "backward",
            EngineKind::KarpMillerExplicit => "karp-miller-explicit",
            EngineKind::Cutoff => "cutoff",
            EngineKind::Views => "views",
            EngineKind::KarpMiller => "karp-miller",
            EngineKind::Contexts => "contexts",
            EngineKind::ContextsEager => "contexts-eager",
            EngineKind::Rounds => "rounds",
            EngineKind::Ase => "ase",
            EngineKind::Ur => "ur",
            EngineKind::Horn => "horn",
            EngineKind::Cegar => "cegar",
            EngineKind::Exhaustive => "exhaustive",
        }
    }

    /// One line for the user.
    pub fn summary(self) -> &'static str {
        match self {
            EngineKind::Summaries => "one thread, with recursion: path edges and summaries in decision diagrams",
            EngineKind::Sat => "one thread, with recursion: summaries by symbolic simulation and SAT",
            EngineKind::Pushdown => "one thread, with recursion: saturation of an automaton over explicit states",
            EngineKind::Bmc => {
                "one thread, with recursion: a shortest error within a number of steps, by SAT; never safe"
            }
            EngineKind::Induction => "one thread, without recursion: k-induction by SAT, with integers by SMT",
            EngineKind::Threads => "up to N threads, without recursion: counters over sets of valuations",
            EngineKind::ThreadsPlain => "up to N threads, without recursion and symmetry: one set over all threads",
            EngineKind::ThreadsExplicit => "up to N threads, without recursion: counters over explicit valuations",
            EngineKind::ViewsExplicit => {
                "any number of threads, without recursion: views of a few over explicit states"
            }
            EngineKind::Backward => "any number of threads, without recursion: from the errors backwards",
            EngineKind::KarpMillerExplicit => "any number of threads, without recursion: the tree of Karp and Miller",
            EngineKind::Cutoff => "any number of threads, without recursion: how many are enough, with a proof",
            EngineKind::Views => "any number of threads, without recursion: what a few of them can look like together",
            EngineKind::KarpMiller => {
                "any number of threads, without recursion: all that can be covered, with counters up to ω"
            }
            EngineKind::Contexts => {
                "up to K contexts per thread, with recursion: path edges with histories; never safe"
            }
            EngineKind::ContextsEager => {
                "up to K contexts per thread, with recursion: reduced to one thread, for `summaries`; never safe"
            }
            EngineKind::Rounds => {
                "any number of threads in up to K rounds, with recursion: linear interfaces of blocks of threads"
            }
            EngineKind::Ase => "integers: symbolic execution up to abstract states, refined by preimages",
            EngineKind::Ur => {
                "integers, one start, no input: concrete states up to abstract states, refined by preimages"
            }
            EngineKind::Horn => "integers: Horn clauses for z3's Spacer",
            EngineKind::Cegar => "integers: predicate abstraction to Boolean programs, refined by counterexamples",
            EngineKind::Exhaustive => "explicit breadth-first search over the reference interpreter",
        }
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<EngineKind> {
        EngineKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// What the engines can be told. Each takes what concerns it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// The options of [`summaries`].
    pub summaries: summaries::Options,
    /// The options of [`sat`].
    pub sat: sat::Options,
    /// The options of [`bmc`].
    pub bmc: bmc::Options,
    /// The options of [`induction`].
    pub induction: induction::Options,
    /// The options of [`pushdown`].
    pub pushdown: pushdown::Options,
    /// The options of [`threads::symbolic`].
    pub threads: threads::symbolic::Options,
    /// The options of [`threads::plain`].
    pub threads_plain: threads::plain::Options,
    /// The options of [`threads::explicit`].
    pub threads_explicit: threads::explicit::Options,
    /// The options of [`unbounded::coverability`].
    pub coverability: unbounded::coverability::Options,
    /// The options of [`unbounded::views`].
    pub views: unbounded::views::Options,
    /// The options of [`mod@cegar`].
    pub cegar: cegar::Options,
    /// The options of [`contexts`].
    pub contexts: contexts::Options,
    /// The options of [`contexts::rounds`].
    pub rounds: contexts::rounds::Options,
    /// The options of [`integers::ase`] and [`integers::ur`].
    pub ase: integers::ase::Options,
    /// The options of [`exhaustive`].
    pub exhaustive: exhaustive::Options,
}

/// The engine of a kind.
pub fn build(kind: EngineKind, options: &EngineOptions) -> Box<dyn Engine> {
    match kind {
        EngineKind::Summaries => Box::new(summaries::Summaries { options: options.summaries.clone() }),
        EngineKind::Sat => Box::new(sat::Sat { options: options.sat.clone() }),
        EngineKind::Pushdown => Box::new(pushdown::Pushdown { options: options.pushdown.clone() }),
        EngineKind::Bmc => Box::new(bmc::Bmc { options: options.bmc.clone() }),
        EngineKind::Induction => Box::new(induction::Induction { options: options.induction.clone() }),
        EngineKind::Threads => Box::new(threads::symbolic::Threads { options: options.threads.clone() }),
        EngineKind::ThreadsPlain => Box::new(threads::plain::ThreadsPlain { options: options.threads_plain.clone() }),
        EngineKind::ThreadsExplicit => {
            Box::new(threads::explicit::ThreadsExplicit { options: options.threads_explicit.clone() })
        }
        EngineKind::ViewsExplicit => {
            Box::new(unbounded::coverability::ViewsExplicit { options: options.coverability.clone() })
        }
        EngineKind::Backward => Box::new(unbounded::coverability::Backward { options: options.coverability.clone() }),
        EngineKind::KarpMillerExplicit => {
            Box::new(unbounded::coverability::KarpMillerExplicit { options: options.coverability.clone() })
        }
        EngineKind::Cutoff => Box::new(unbounded::coverability::Cutoff { options: options.coverability.clone() }),
        EngineKind::Views => Box::new(unbounded::views::Views { options: options.views.clone() }),
        EngineKind::KarpMiller => Box::new(unbounded::karp_miller::KarpMiller),
        EngineKind::Contexts => Box::new(contexts::lazy::Contexts { options: options.contexts.clone() }),
        EngineKind::ContextsEager => Box::new(contexts_eager(options.contexts.clone())),
        EngineKind::Rounds => Box::new(contexts::rounds::Rounds { options: options.rounds.clone() }),
        EngineKind::Ase => Box::new(integers::ase::Ase { options: options.ase.clone() }),
        EngineKind::Ur => Box::new(integers::ur::Ur { options: options.ase.clone() }),
        EngineKind::Horn => Box::new(horn::Horn),
        EngineKind::Cegar => Box::new(cegar(options.cegar.clone())),
        EngineKind::Exhaustive => Box::new(exhaustive::Exhaustive { options: options.exhaustive.clone() }),
    }
}

/// Returns the engine `cegar`, which decides its Boolean programs by `summaries`.
pub fn cegar(options: cegar::Options) -> cegar::Cegar {
    cegar::Cegar { options, boolean: Box::new(summaries::Summaries::default()) }
}

/// Returns the engine `contexts-eager`, which decides its sequential programs by `summaries`.
pub fn contexts_eager(options: contexts::Options) -> contexts::eager::ContextsEager {
    contexts::eager::ContextsEager { options, sequential: summaries_in_order }
}

fn summaries_in_order(declared: bool) -> Box<dyn SequentialEngine> {
    Box::new(summaries::Summaries { options: summaries::Options { declared, ..Default::default() } })
}
