//! The commands that check programs.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use selvedge_check::ContextBound;
use selvedge_engines::sat::{Recursion, SummaryMode};

use super::examples::{BOOM_EXAMPLES, CHECK_EXAMPLES, CROSSCHECK_EXAMPLES};
use super::values::*;
use super::{LimitArgs, QuestionArgs};
use crate::input::Input;
use crate::outputs::Keep;
use crate::quantity;

#[derive(Clone, Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Program files; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    /// Input language [auto: determined by the file extension]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    /// For pushdown systems: search direction
    #[arg(long, value_name = "WAY", default_value = "forward")]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) direction: Way,
    /// Engine to use
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine_parser())]
    #[arg(help_heading = "Engines")]
    pub(crate) engine: EngineChoice,
    /// Maximum number of engines to run in parallel with `--engine auto`; with 1 they take turns, and the answer and
    /// its evidence are reproducible [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = positive)]
    #[arg(help_heading = "Engines")]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Check executions with at most K contexts per thread, where threads take turns in the order of their declaration;
    /// 1..K tries 1, 2, and so on up to the first error. Supports recursion; the answer is never `safe`
    #[arg(long, value_name = "K|1..K", value_parser = context_bound)]
    #[arg(help_heading = "Question")]
    pub(crate) contexts: Option<ContextBound>,
    /// Check executions of at most K rounds, for any number of threads, where each round gives every thread one turn;
    /// 1..K tries 1, 2, and so on. Also tries to prove that more rounds reach nothing new. Supports recursion
    #[arg(long, value_name = "K|1..K", value_parser = context_bound, conflicts_with = "contexts")]
    #[arg(help_heading = "Question")]
    pub(crate) rounds: Option<ContextBound>,
    /// For pushdown systems: check this head instead of the targets in the file, for example '<p, g>' or '<p, *>'; for
    /// several threads with --contexts, for example '3|1,-'
    #[arg(long, value_name = "HEAD")]
    #[arg(help_heading = "Question")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    #[arg(help_heading = "Output")]
    pub(crate) format: Format,
    /// Write the trace to the error as JSON (docs/schema/trace.schema.json); only with one FILE
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Output")]
    pub(crate) trace_out: Option<PathBuf>,
    /// With `--engine cegar` or `--engine predicates`: write the Boolean program of each iteration to this folder, and
    /// for `predicates` also its error
    #[arg(long, value_name = "DIR")]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) keep: Option<Keep>,
    /// Write the certificate of safety as JSON (docs/schema/certificate.schema.json, for pushdown systems
    /// docs/schema/system-certificate.schema.json); only with one FILE. If a sequential engine produces no certificate,
    /// `summaries` is run to produce one, within the limits
    #[arg(long, value_name = "FILE")]
    #[arg(help_heading = "Output")]
    pub(crate) certificate: Option<PathBuf>,
    /// Write an HTML report: an execution to step through, or a proof to read; only with one FILE
    #[arg(long, value_name = "FILE", conflicts_with = "reachable")]
    #[arg(help_heading = "Output")]
    pub(crate) html: Option<PathBuf>,
    /// For C: write a C program that forces the schedule and the inputs of the error and really fails; only with one
    /// FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "reachable"])]
    #[arg(help_heading = "Output")]
    pub(crate) harness: Option<PathBuf>,
    /// For C: write a witness of the answer for verification competitions (.yml): of an error, or, without invariants,
    /// of safety; only with one FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "reachable", "projection"])]
    #[arg(help_heading = "Output")]
    pub(crate) witness: Option<PathBuf>,
    /// Show the whole state after each step of a trace, not only the changes
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub(crate) full: bool,
    /// Print only the last line, and no warnings
    #[arg(long, short, conflicts_with = "full")]
    #[arg(help_heading = "Output")]
    pub(crate) quiet: bool,
    /// Check every assertion and error label separately
    #[arg(long, conflicts_with_all = ["trace_out", "certificate", "label", "assertion", "together", "deadlock"])]
    #[arg(help_heading = "Question")]
    pub(crate) all: bool,
    /// Explore all reachable states, also beyond errors, and print the number of distinct thread states and the result
    /// of each assertion; with `--format json` the states as well
    #[arg(long, conflicts_with_all = ["all", "trace_out", "certificate", "together", "deadlock", "passes"])]
    #[arg(help_heading = "Question")]
    pub(crate) reachable: bool,
    /// Mark each statement that lies on some execution to an error, within the bounds of the check: print the program
    /// with `!` for yes and `?` for undecided
    #[arg(long, conflicts_with_all = ["all", "reachable", "together", "deadlock"])]
    #[arg(help_heading = "Question")]
    pub(crate) projection: bool,
    /// Simplify the execution to the error, within a small budget: fewer threads, context switches and steps, with `*`
    /// for values that do not matter; on by default
    #[arg(long, overrides_with = "no_minimize")]
    #[arg(help_heading = "Output")]
    pub(crate) minimize: bool,
    /// Show the execution to the error exactly as the engine found it
    #[arg(long, overrides_with = "minimize")]
    #[arg(help_heading = "Output")]
    pub(crate) no_minimize: bool,
    /// Show an execution to the error with as few steps as possible, within a small budget; for programs with one
    /// thread
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub(crate) shortest: bool,
    /// Show all warnings, not only the first of each kind
    #[arg(long)]
    #[arg(help_heading = "Output")]
    pub(crate) all_warnings: bool,
    /// When to show progress on standard error [auto: if standard error is a terminal]
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    #[arg(help_heading = "Output")]
    pub(crate) progress: When,
    /// Comma-separated list of passes that simplify the program before the search, or `none` [default: those that suit
    /// the engine]
    #[arg(long, value_name = "LIST", value_parser = passes)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) passes: Option<Passes>,
    /// Maximum stack depth for `exhaustive`, in frames
    #[arg(long, value_name = "N", value_parser = positive)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) frames: Option<u32>,
    /// Kind of summaries that `sat` computes: for reached entries only, universal, or universal where they matter
    #[arg(long, value_name = "MODE", value_parser = summary_mode_parser())]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) summaries: Option<SummaryMode>,
    /// Method by which `sat` computes universal summaries of recursive procedures: a fixed point, or unrolling nested
    /// summaries until their entries and exits repeat (for small programs) [default: fixpoint]
    #[arg(long, value_name = "HOW", value_parser = recursion_parser())]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) recursion: Option<Recursion>,
    /// Make `summaries` summarise all procedures for all entries first
    #[arg(long)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) eager: bool,
    /// Make `predicates` abstract all steps again in each iteration, for comparison
    #[arg(long)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) from_scratch: bool,
    /// Make `summaries` track all variables from the start
    #[arg(long)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) exact: bool,
    /// Maximum number of steps for `bmc` and maximum k for `induction` [default: 200], of visible steps of each thread
    /// for `bmc-threads` [default: 100]; maximum number of threads in a view for `views`, `views-explicit` and `cutoff`
    /// [default: unlimited]
    #[arg(long, value_name = "K")]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) bound: Option<u32>,
    /// Paths that the induction step of `induction` considers [default: loop-free]
    #[arg(long, value_name = "PATHS")]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) paths: Option<PathsChoice>,
    /// Partial-order reduction for the engines for several threads
    #[arg(long, value_name = "ORDER", default_value = "off")]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) partial_order: PartialOrderChoice,
    /// Do not merge steps that other threads cannot observe (engines for several threads)
    #[arg(long)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) no_compress: bool,
    /// Keep the values of variables that are never read again (engines for several threads)
    #[arg(long)]
    #[arg(help_heading = "Engine tuning", hide = true)]
    pub(crate) no_dead: bool,
}

/// The partial-order reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartialOrderChoice {
    /// Explore all interleavings
    Off,
    /// Explore a single thread where its next step is independent of everything the others can still do
    Ample,
    /// Explore a single group of threads where the group is independent of the rest
    Persistent,
    /// Like `ample`, but the thread keeps running for as long as this holds
    Cartesian,
}

#[derive(Debug, Args)]
#[command(after_help = BOOM_EXAMPLES)]
pub(crate) struct BoomArgs {
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Maximum number of threads in a run, including finished ones; a spawn beyond it has no effect
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = positive)]
    pub(crate) threadbound: u32,
    /// Print the execution that leads to the error
    #[arg(short = 't', long = "trace")]
    pub(crate) trace: bool,
    /// Print an execution with as few steps as possible, within a small budget; for programs with one thread; on by
    /// default
    #[arg(long, overrides_with = "no_shortest")]
    pub(crate) shortest: bool,
    /// Print the execution that the engine found
    #[arg(long, overrides_with = "shortest")]
    pub(crate) no_shortest: bool,
    /// Print which engine answered, and the time it took
    #[arg(long)]
    pub(crate) stats: bool,
    /// Ignored (BOOM's search algorithm)
    #[arg(long, value_name = "NAME")]
    pub(crate) algo: Option<String>,
    /// Ignored (partial-order reduction is used automatically where it helps)
    #[arg(long)]
    pub(crate) por: bool,
    /// Engine to use
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine_parser())]
    pub(crate) engine: EngineChoice,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

impl CrosscheckArgs {
    /// Returns the limits of each engine and tool.
    pub(crate) fn limits(&self) -> LimitArgs {
        LimitArgs { time_limit: Some(self.time_limit), memory_limit: self.memory_limit }
    }
}

#[derive(Clone, Debug, Args)]
#[command(after_help = CROSSCHECK_EXAMPLES)]
pub(crate) struct CrosscheckArgs {
    /// Program files; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Stop each engine or tool after this time: 250ms, 30s, 5m, 1h
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) time_limit: Duration,
    /// Stop an engine when this much memory is in use: 500MB, 4GB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
}
