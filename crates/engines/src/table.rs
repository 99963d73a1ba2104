//! The table of all engines.
//!
//! A row gives the name of an engine, the programs that it supports, its idea in one line, its command-line options,
//! the passes that run before it, and its constructor. Help texts and the table in `docs/engines/README.md` are
//! generated from it. The engine's page is `docs/engines/NAME.md`.

use std::fmt;

use selvedge_check::Engine;
use selvedge_ir::passes::Pass;

use crate::unbounded::coverability::{Coverability, Method};
use crate::{
    EngineOptions, bmc, cegar, contexts, contexts_eager, exhaustive, horn, induction, integers, invariants, pushdown,
    sat, summaries, threads, unbounded,
};

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The name on the command line.
    pub name: &'static str,
    /// The programs that the engine takes.
    pub scope: Scope,
    /// The idea of the engine, in one line.
    pub idea: &'static str,
    /// The options on the command line that are for this engine and not for all.
    pub options: &'static [&'static str],
    /// The passes before the engine, unless the user names others. Engines that give certificates work on the program
    /// as it is, or with calls replaced by bodies, since their certificates survive nothing else.
    pub passes: &'static [Pass],
    /// Builds the engine.
    pub build: fn(&EngineOptions) -> Box<dyn Engine>,
}

/// The programs that an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// The threads.
    pub threads: Threads,
    /// Set if procedures may be recursive.
    pub recursion: bool,
    /// The values of variables.
    pub values: Values,
}

/// The threads that an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// A single one.
    One,
    /// As many as the user allows.
    UpToN,
    /// Any number.
    Any,
    /// The threads of a list, with as many contexts each as the user allows.
    Contexts,
    /// Any number, in as many rounds as the user allows.
    Rounds,
}

/// The values of variables that an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// Booleans.
    Booleans,
    /// Integers, in programs without procedures.
    Integers,
    /// Either.
    Both,
    /// Machine integers, which engines for Booleans take bit by bit.
    Machine,
    /// Integers, in programs without procedures, or machine integers.
    Numbers,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values {
            Values::Integers => return f.write_str("integers, one thread"),
            Values::Numbers => return f.write_str("integers or machine integers, one thread"),
            Values::Booleans | Values::Both | Values::Machine => {}
        }
        f.write_str(match self.threads {
            Threads::One => "one thread",
            Threads::UpToN => "up to N threads",
            Threads::Any => "any number of threads",
            Threads::Contexts => "up to K contexts per thread",
            Threads::Rounds => "any number of threads, up to K rounds",
        })?;
        f.write_str(if self.recursion { ", recursion" } else { ", no recursion" })?;
        match self.values {
            Values::Both => f.write_str("; integers"),
            Values::Machine => f.write_str("; machine integers"),
            Values::Booleans | Values::Integers | Values::Numbers => Ok(()),
        }
    }
}

const SEQUENTIAL: Scope = Scope { threads: Threads::One, recursion: true, values: Values::Booleans };
const UP_TO_N: Scope = Scope { threads: Threads::UpToN, recursion: false, values: Values::Booleans };
const ANY_NUMBER: Scope = Scope { threads: Threads::Any, recursion: false, values: Values::Booleans };
const CONTEXTS: Scope = Scope { threads: Threads::Contexts, recursion: true, values: Values::Booleans };
const ROUNDS: Scope = Scope { threads: Threads::Rounds, recursion: true, values: Values::Booleans };
const MACHINE: Scope = Scope { threads: Threads::One, recursion: false, values: Values::Machine };
const INTEGERS: Scope = Scope { threads: Threads::One, recursion: false, values: Values::Integers };
const NUMBERS: Scope = Scope { values: Values::Numbers, ..INTEGERS };

/// The passes before engines whose evidence survives all of them but inlining.
const SIMPLER: &[Pass] = &[Pass::Fold, Pass::Slice, Pass::DropDead, Pass::Compress];

/// Makes [`EngineKind`], and the row of each kind, of one entry per engine.
macro_rules! engines {
    ($($kind:ident: $name:literal, $scope:expr, $idea:literal, $options:expr, $passes:expr, $build:expr;)*) => {
        /// All engines.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EngineKind {
            $(#[doc = concat!("`", $name, "`: ", $idea, ".")] $kind,)*
        }

        impl EngineKind {
            /// All engines, in the order in which they are listed to the user.
            pub const ALL: &'static [EngineKind] = &[$(EngineKind::$kind),*];

            /// The row of the table for this engine.
            pub fn row(self) -> &'static Row {
                match self {
                    $(EngineKind::$kind => &Row {
                        name: $name, scope: $scope, idea: $idea, options: $options, passes: $passes, build: $build,
                    },)*
                }
            }
        }
    };
}

engines! {
    Summaries: "summaries", SEQUENTIAL,
        "path edges and summaries in decision diagrams",
        &["exact", "eager"], &[], |all| Box::new(summaries::Summaries { options: all.summaries.clone() });
    Sat: "sat", SEQUENTIAL,
        "summaries by symbolic simulation and SAT",
        &["summaries", "recursion"], SIMPLER, |all| Box::new(sat::Sat { options: all.sat.clone() });
    Pushdown: "pushdown", SEQUENTIAL,
        "saturation of an automaton over explicit states",
        &[], &[], |_| Box::new(pushdown::Pushdown);
    Bmc: "bmc", SEQUENTIAL,
        "shortest error within a bounded number of steps, by SAT; never answers safe",
        &["bound"], &[], |all| Box::new(bmc::Bmc { options: all.bmc.clone() });
    Induction: "induction", Scope { recursion: false, values: Values::Both, ..SEQUENTIAL },
        "k-induction by SAT, with integers by SMT",
        &["bound", "paths"], &[], |all| Box::new(induction::Induction { options: all.induction.clone() });
    Invariants: "invariants", MACHINE,
        "inductive invariants over machine integers, by SAT; finds no errors",
        &[], &[], |_| Box::new(invariants::Invariants);
    Threads: "threads", UP_TO_N,
        "counter abstraction in decision diagrams",
        &[], &[Pass::Inline], |all| Box::new(threads::symbolic::Threads { options: all.threads.clone() });
    ThreadsExplicit: "threads-explicit", UP_TO_N,
        "counter abstraction over explicit thread states",
        &[], &[Pass::Inline],
        |all| Box::new(threads::explicit::ThreadsExplicit { options: all.threads_explicit.clone() });
    ThreadsPlain: "threads-plain", UP_TO_N,
        "product of all threads, without symmetry; for comparison",
        &[], &[Pass::Inline], |all| Box::new(threads::plain::ThreadsPlain { options: all.threads_plain.clone() });
    BmcThreads: "bmc-threads", UP_TO_N,
        "executions with few steps of each thread, by SAT; safe if no thread makes more",
        &["bound"], &[Pass::Inline], |all| Box::new(threads::bmc::BmcThreads { options: all.bmc_threads.clone() });
    ViewsExplicit: "views-explicit", ANY_NUMBER,
        "views of a few threads, over explicit states",
        &["bound"], &[Pass::Inline],
        |all| Box::new(Coverability { method: Method::Views, options: all.coverability.clone() });
    Backward: "backward", ANY_NUMBER,
        "backward search from the errors, restricted by views",
        &[], &[Pass::Inline],
        |all| Box::new(Coverability { method: Method::Backward, options: all.coverability.clone() });
    KarpMillerExplicit: "karp-miller-explicit", ANY_NUMBER,
        "Karp-Miller tree over explicit states",
        &[], &[Pass::Inline],
        |all| Box::new(Coverability { method: Method::KarpMiller, options: all.coverability.clone() });
    Directed: "directed", ANY_NUMBER,
        "forwards and backwards, directed and pruned by the marking equation",
        &[], &[Pass::Inline],
        |all| Box::new(Coverability { method: Method::Directed, options: all.coverability.clone() });
    Cutoff: "cutoff", ANY_NUMBER,
        "a number of threads that reaches everything, with a proof",
        &["bound"], &[Pass::Inline],
        |all| Box::new(Coverability { method: Method::Cutoff, options: all.coverability.clone() });
    Views: "views", ANY_NUMBER,
        "views of k threads, for k = 1, 2, .., in decision diagrams",
        &["bound"], &[Pass::Inline], |all| Box::new(unbounded::views::Views { options: all.views.clone() });
    Facts: "facts", ANY_NUMBER,
        "facts about one or two threads that no step makes false; never answers unsafe",
        &[], &[Pass::Inline], |_| Box::new(unbounded::facts::Facts);
    Predicates: "predicates", Scope { values: Values::Machine, ..ANY_NUMBER },
        "predicate abstraction with broadcasts, refined by counterexamples",
        &["from-scratch"], &[Pass::Inline],
        |all| Box::new(unbounded::predicates::PredicateAbstraction { options: all.predicates.clone() });
    KarpMiller: "karp-miller", ANY_NUMBER,
        "Karp-Miller tree in decision diagrams",
        &[], &[Pass::Inline], |_| Box::new(unbounded::karp_miller::KarpMiller);
    // The number of shared states is one of the whole program, so that no pass comes before.
    Contexts: "contexts", CONTEXTS,
        "path edges with histories of contexts; never answers safe",
        &["contexts"], &[], |all| Box::new(contexts::lazy::Contexts { options: all.contexts.clone() });
    ContextsEager: "contexts-eager", CONTEXTS,
        "reduction to one thread; never answers safe",
        &["contexts"], &[], |all| Box::new(contexts_eager(all.contexts.clone()));
    Rounds: "rounds", ROUNDS,
        "linear interfaces; safe if a game shows that K suffices",
        &["rounds"], Pass::ALL, |all| Box::new(contexts::rounds::Rounds { options: all.rounds.clone() });
    Ase: "ase", INTEGERS,
        "symbolic execution up to abstract states, refined by preimages",
        &[], &[], |all| Box::new(integers::ase::Ase { options: all.ase.clone() });
    Ur: "ur", INTEGERS,
        "concrete states up to abstract states; one initial state, no inputs",
        &[], &[], |all| Box::new(integers::ur::Ur { options: all.ase.clone() });
    Horn: "horn", NUMBERS,
        "Horn clauses for z3's Spacer",
        &[], &[], |_| Box::new(horn::Horn);
    Cegar: "cegar", INTEGERS,
        "predicate abstraction to Boolean programs, refined by counterexamples",
        &[], &[], |all| Box::new(cegar(all.cegar.clone()));
    Exhaustive: "exhaustive", Scope { recursion: true, ..UP_TO_N },
        "breadth-first search over the reference interpreter",
        &[], SIMPLER, |all| Box::new(exhaustive::Exhaustive { options: all.exhaustive.clone() });
}

impl EngineKind {
    /// The engines that run without `--engine`, in groups that suit a question about all executions: of the first group
    /// with an engine that supports the question, those that do, the most promising first.
    pub const PORTFOLIO: [&'static [EngineKind]; 4] = [
        &[EngineKind::Summaries, EngineKind::Sat, EngineKind::Bmc],
        &[EngineKind::Threads, EngineKind::ThreadsExplicit],
        &[
            EngineKind::ViewsExplicit,
            EngineKind::Views,
            EngineKind::Facts,
            EngineKind::Backward,
            EngineKind::KarpMiller,
        ],
        &[EngineKind::Ase, EngineKind::Cegar, EngineKind::Induction, EngineKind::Horn],
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// One line for the user: what the engine takes, and how it works.
    pub fn summary(self) -> String {
        let Row { scope, idea, .. } = self.row();
        format!("{scope}: {idea}")
    }

    /// The engine with this name.
    pub fn from_name(name: &str) -> Option<EngineKind> {
        EngineKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns whether an option on the command line is for this engine.
    pub fn takes_option(self, option: &str) -> bool {
        self.row().options.contains(&option)
    }
}
