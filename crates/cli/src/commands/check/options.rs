//! The options of a check, from the command line.

use std::sync::Arc;

use selvedge_check::{Paths, Question};
use selvedge_driver::{Ask, Certify, Minimize, Options};
use selvedge_engines::cegar::AbstractionListener;
use selvedge_engines::pushdown::Direction;
use selvedge_engines::threads::{PartialOrder, Reductions};
use selvedge_engines::unbounded::predicates::IterationListener;
use selvedge_engines::{EngineKind, EngineOptions};

use crate::args::{CheckArgs, PartialOrderChoice, PathsChoice, Way};
use crate::commands::abstraction;
use crate::outputs::Keep;

/// Returns the options of a check of one question.
pub(super) fn options(args: &CheckArgs, question: Question) -> Options {
    let mut engine_options = EngineOptions::default();
    if let Some(frames) = args.frames {
        engine_options.exhaustive.frames = frames;
    }
    engine_options.cegar.keep = args.keep.clone().map(keep);
    engine_options.predicates.keep = args.keep.clone().map(keep_iterations);
    engine_options.predicates.from_scratch = args.from_scratch;
    engine_options.contexts.bound = args.contexts;
    engine_options.rounds.bound = args.rounds;
    engine_options.summaries.eager = args.eager;
    engine_options.summaries.exact = args.exact;
    engine_options.sat.summaries = args.summaries.unwrap_or_default();
    engine_options.sat.recursion = args.recursion.unwrap_or_default();
    if let Some(bound) = args.bound {
        engine_options.bmc.steps = bound;
        engine_options.bmc_threads.bound = bound;
        engine_options.induction.bound = bound;
        engine_options.views.max_k = Some(bound);
        engine_options.coverability.most_threads = Some(bound);
    }
    if let Some(paths) = args.paths {
        engine_options.induction.paths = match paths {
            PathsChoice::All => Paths::All,
            PathsChoice::LoopFree => Paths::LoopFree,
        };
    }
    engine_options.threads.reductions = reductions(args);
    engine_options.threads_explicit.reductions = reductions(args);
    engine_options.threads_plain.dead = !args.no_dead;
    engine_options.coverability.system.compress = !args.no_compress;
    engine_options.coverability.system.dead = !args.no_dead;
    Options {
        question,
        engine: args.engine.0.map(EngineKind::row),
        jobs: args.jobs.map_or_else(cores, |jobs| jobs as usize),
        engine_options,
        passes: args.passes.as_ref().map(|passes| passes.0.clone()),
        certify: if args.certificate.is_some() { Certify::Anybody } else { Certify::Engine },
        minimize: if args.no_minimize { Minimize::No } else { Minimize::Yes },
        ask: match () {
            () if args.reachable => Ask::Reachable,
            () if args.all => Ask::Each,
            () if args.projection => Ask::Projection,
            () => Ask::Any,
        },
        shortest: args.shortest,
        direction: match args.direction {
            Way::Forward => Direction::Forward,
            Way::Backward => Direction::Backward,
        },
    }
}

/// Writes each abstraction of `cegar` into a folder.
fn keep(keep: Keep) -> AbstractionListener {
    AbstractionListener(Arc::new(move |number, abstraction| {
        keep.write(number, &abstraction::text("the program", abstraction));
    }))
}

/// Writes each iteration of `predicates` into a folder.
fn keep_iterations(keep: Keep) -> IterationListener {
    IterationListener(Arc::new(move |iteration| {
        keep.write_plain(iteration.number, &abstraction::iteration_text(&iteration));
    }))
}

/// Returns how many engines the machine can run at a time.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

fn reductions(args: &CheckArgs) -> Reductions {
    let partial_order = match args.partial_order {
        PartialOrderChoice::Off => PartialOrder::Off,
        PartialOrderChoice::Ample => PartialOrder::Ample,
        PartialOrderChoice::Persistent => PartialOrder::Persistent,
        PartialOrderChoice::Cartesian => PartialOrder::Cartesian,
    };
    Reductions { compress: !args.no_compress, dead: !args.no_dead, partial_order }
}
