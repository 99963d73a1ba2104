//! The command line, as data.

mod c;
mod examples;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use selvedge_check::{ContextBound, Initial, Limits, Question};
use selvedge_engines::sat::{Recursion, SummaryMode};
use selvedge_frontend::bp::{Dialect, LoadOptions};
use selvedge_frontend::c::{Properties, Property};
use selvedge_report::json::QuestionView;

use crate::input::Input;
use crate::memory;
use crate::outputs::Keep;
use crate::quantity;
pub(crate) use c::CArgs;
use c::{Asked, properties, union};
use examples::*;
pub(crate) use values::*;

/// A model checker for Boolean programs with threads. Every answer comes with evidence: an execution that has been
/// replayed, or a proof that has been checked.
#[derive(Debug, Parser)]
#[command(name = "selvedge", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours [auto: on terminals, unless NO_COLOR is set]
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,
    /// File with the target of a thread-transition system (.tts) [default: the .prop file next to it]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) prop: Option<PathBuf>,
    /// Dialect of Boolean programs [default: getafix for programs with `init` beside `thread0`, `thread1`, .., else
    /// selvedge]
    #[arg(long, value_name = "DIALECT", global = true, value_parser = dialect_parser())]
    pub(crate) dialect: Option<Dialect>,
    /// Ignore the options in the line `// options: ..` of a file
    #[arg(long, global = true)]
    pub(crate) no_file_options: bool,
    #[command(flatten)]
    pub(crate) c: CArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check whether an error can be reached.
    Check(Box<CheckArgs>),
    /// Act as a drop-in replacement for the model checker BOOM, for SatAbs.
    Boom(BoomArgs),
    /// Format programs.
    Fmt(FmtArgs),
    /// Explain a diagnostic code, or list all codes.
    Explain(ExplainArgs),
    /// Replay a saved trace on a program.
    Replay(ReplayArgs),
    /// Check a certificate of safety on a program or a pushdown system.
    Verify(VerifyArgs),
    /// Run a program with random choices, or step through it by hand.
    Simulate(SimulateArgs),
    /// Step forwards and backwards through an execution to an error, in the terminal.
    Debug(DebugArgs),
    /// Run a debug adapter (Debug Adapter Protocol) on standard input and output.
    Dap(ServeArgs),
    /// Run a language server (Language Server Protocol) on standard input and output.
    Lsp(ServeArgs),
    /// Write the manual pages to a folder.
    Man(ManArgs),
    /// Show a program's syntax tree, intermediate representation, control-flow graph or statistics.
    Show(ShowArgs),
    /// Convert a program to another format.
    Convert(ConvertArgs),
    /// Abstract guarded commands over integers to a Boolean program over predicates.
    Abstract(AbstractArgs),
    /// Turn a program with threads, each with a bounded number of contexts, into a sequential program.
    Sequentialize(SequentializeArgs),
    /// Solve fixed-point equations over relations on the states of a program.
    Solve(SolveArgs),
    /// Run all applicable engines and external tools, and compare their verdicts.
    Crosscheck(CrosscheckArgs),
    /// Show which external tools are installed, and how to install the missing ones.
    Doctor,
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

#[derive(Clone, Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// Program files; `-` reads standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    /// Input language [auto: determined by the file extension]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    /// For pushdown systems: check this head instead of the targets in the file, for example '<p, g>' or '<p, *>'; for
    /// several threads with --contexts, for example '3|1,-'
    #[arg(long, value_name = "HEAD")]
    pub(crate) target: Option<String>,
    /// For pushdown systems: search direction
    #[arg(long, value_name = "WAY", default_value = "forward")]
    pub(crate) direction: Way,
    /// Engine to use
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine_parser())]
    pub(crate) engine: EngineChoice,
    /// Maximum number of engines to run in parallel with `--engine auto`; with 1 they take turns, and the answer and
    /// its evidence are reproducible [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Check executions with at most K contexts per thread, where threads take turns in the order of their declaration;
    /// 1..K tries 1, 2, and so on up to the first error. Supports recursion; the answer is never `safe`
    #[arg(long, value_name = "K|1..K", value_parser = context_bound)]
    pub(crate) contexts: Option<ContextBound>,
    /// Check executions of at most K rounds, for any number of threads, where each round gives every thread one turn;
    /// 1..K tries 1, 2, and so on. Also tries to prove that more rounds reach nothing new. Supports recursion
    #[arg(long, value_name = "K|1..K", value_parser = context_bound, conflicts_with = "contexts")]
    pub(crate) rounds: Option<ContextBound>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Write the trace to the error as JSON (docs/schema/trace.schema.json); only with one FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_out: Option<PathBuf>,
    /// With `--engine cegar`: write the Boolean program of each iteration to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<Keep>,
    /// Write the certificate of safety as JSON (docs/schema/certificate.schema.json, for pushdown systems
    /// docs/schema/system-certificate.schema.json); only with one FILE. If a sequential engine produces no certificate,
    /// `summaries` is run to produce one, within the limits
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Write an HTML report: an execution to step through, or a proof to read; only with one FILE
    #[arg(long, value_name = "FILE", conflicts_with = "reachable")]
    pub(crate) html: Option<PathBuf>,
    /// For C: write a C program that forces the schedule and the inputs of the error and really fails; only with one
    /// FILE
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "reachable"])]
    pub(crate) harness: Option<PathBuf>,
    /// Show the whole state after each step of a trace, not only the changes
    #[arg(long)]
    pub(crate) full: bool,
    /// Print only the last line, and no warnings
    #[arg(long, short, conflicts_with = "full")]
    pub(crate) quiet: bool,
    /// Check every assertion and error label separately
    #[arg(long, conflicts_with_all = ["trace_out", "certificate", "label", "assertion", "together", "deadlock"])]
    pub(crate) all: bool,
    /// Explore all reachable states, also beyond errors, and print the number of distinct thread states and the result
    /// of each assertion; with `--format json` the states as well
    #[arg(long, conflicts_with_all = ["all", "trace_out", "certificate", "together", "deadlock", "passes"])]
    pub(crate) reachable: bool,
    /// Mark each statement that lies on some execution to an error, within the bounds of the check: print the program
    /// with `!` for yes and `?` for undecided
    #[arg(long, conflicts_with_all = ["all", "reachable", "together", "deadlock"])]
    pub(crate) projection: bool,
    /// Simplify the execution to the error, within a small budget: fewer threads, context switches and steps, with `*`
    /// for values that do not matter; on by default
    #[arg(long, overrides_with = "no_minimize")]
    pub(crate) minimize: bool,
    /// Show the execution to the error exactly as the engine found it
    #[arg(long, overrides_with = "minimize")]
    pub(crate) no_minimize: bool,
    /// Show an execution to the error with as few steps as possible, within a small budget; for programs with one
    /// thread
    #[arg(long)]
    pub(crate) shortest: bool,
    /// Show all warnings, not only the first of each kind
    #[arg(long)]
    pub(crate) all_warnings: bool,
    /// When to show progress on standard error [auto: if standard error is a terminal]
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: When,
    /// Random seed for the engines; no engine uses randomness at present
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Comma-separated list of passes that simplify the program before the search, or `none` [default: those that suit
    /// the engine]
    #[arg(long, value_name = "LIST", value_parser = passes)]
    pub(crate) passes: Option<Passes>,
    /// Maximum stack depth for `exhaustive`, in frames
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Kind of summaries that `sat` computes: for reached entries only, universal, or universal where they matter
    #[arg(long, value_name = "MODE", value_parser = summary_mode_parser())]
    pub(crate) summaries: Option<SummaryMode>,
    /// Method by which `sat` computes universal summaries of recursive procedures: a fixed point, or unrolling nested
    /// summaries until their entries and exits repeat (for small programs) [default: fixpoint]
    #[arg(long, value_name = "HOW", value_parser = recursion_parser())]
    pub(crate) recursion: Option<Recursion>,
    /// Make `summaries` summarise all procedures for all entries first
    #[arg(long)]
    pub(crate) eager: bool,
    /// Make `summaries` track all variables from the start
    #[arg(long)]
    pub(crate) exact: bool,
    /// Maximum number of steps for `bmc` and maximum k for `induction` [default: 200]; maximum number of threads in a
    /// view for `views`, `views-explicit` and `cutoff` [default: unlimited]
    #[arg(long, value_name = "K")]
    pub(crate) bound: Option<u32>,
    /// Paths that the induction step of `induction` considers [default: loop-free]
    #[arg(long, value_name = "PATHS")]
    pub(crate) paths: Option<PathsChoice>,
    /// Partial-order reduction for the engines for several threads
    #[arg(long, value_name = "ORDER", default_value = "off")]
    pub(crate) partial_order: PartialOrderChoice,
    /// Do not merge steps that other threads cannot observe (engines for several threads)
    #[arg(long)]
    pub(crate) no_compress: bool,
    /// Keep the values of variables that are never read again (engines for several threads)
    #[arg(long)]
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
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
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

/// The limits of a command.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Stop after this time, including the time to read the input: 250ms, 30s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Stop when this much memory is in use, including that of SMT solvers: 500MB, 4GB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
}

impl LimitArgs {
    /// Returns the limits as engines get them.
    pub(crate) fn limits(self) -> Limits {
        Limits { time: self.time_limit, memory: self.memory_limit, memory_in_use: Some(memory::in_use) }
    }
}

impl CrosscheckArgs {
    /// Returns the limits of each engine and tool.
    pub(crate) fn limits(&self) -> LimitArgs {
        LimitArgs { time_limit: Some(self.time_limit), memory_limit: self.memory_limit }
    }
}

impl Command {
    /// Returns the limits of all the work of a command. Those of `check` and `crosscheck` are for each file or tool.
    pub(crate) fn limits(&self) -> LimitArgs {
        match self {
            Command::Boom(args) => args.limits,
            Command::Fmt(args) => args.limits,
            Command::Replay(args) => args.limits,
            Command::Verify(args) => args.limits,
            Command::Simulate(args) => args.limits,
            Command::Show(args) => args.limits,
            Command::Convert(args) => args.limits,
            Command::Abstract(args) => args.limits,
            Command::Sequentialize(args) => args.limits,
            Command::Solve(args) => args.limits,
            Command::Check(_)
            | Command::Crosscheck(_)
            | Command::Explain(_)
            | Command::Debug(_)
            | Command::Dap(_)
            | Command::Lsp(_)
            | Command::Man(_)
            | Command::Doctor
            | Command::Completions(_) => LimitArgs::default(),
        }
    }
}

/// The question, shared by all subcommands that execute programs.
#[derive(Clone, Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Maximum number of threads that exist at the same time [default: unlimited]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: Option<u32>,
    /// Number of threads that run the entry procedure at the start, or `any` [default: one, or as the program says]
    #[arg(long, value_name = "N|any", value_parser = initial)]
    pub(crate) initial: Option<Initial>,
    /// Check whether this label can be reached, instead of checking the assertions
    #[arg(long, value_name = "LABEL", conflicts_with = "assertion")]
    pub(crate) label: Option<String>,
    /// Check a single assertion, given by its label or line number
    #[arg(long, value_name = "LABEL|LINE")]
    pub(crate) assertion: Option<String>,
    /// Check whether different threads can be at these labels at the same time, instead of checking the assertions: a
    /// comma-separated list; name a label twice for two threads
    #[arg(long, value_name = "LABELS", value_delimiter = ',', conflicts_with_all = ["label", "assertion"])]
    pub(crate) together: Vec<String>,
    /// Check whether a state can be reached in which a thread is alive and no thread can move, instead of checking the
    /// assertions
    #[arg(long, conflicts_with_all = ["label", "assertion", "together"])]
    pub(crate) deadlock: bool,
    /// What to check of a C program: a comma-separated list of assertions, no-data-race, no-overflow, memory, deadlock
    /// and misuse, or a property file (.prp) [default: assertions]
    #[arg(long, value_name = "LIST|FILE.prp", value_parser = properties)]
    #[arg(conflicts_with_all = ["label", "together", "deadlock"])]
    pub(crate) property: Vec<Asked>,
    /// Entry procedure of the program [default: main]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
}

impl QuestionArgs {
    pub(crate) fn question(&self) -> Question {
        Question {
            threads: self.threads,
            initial: self.initial,
            label: self.label.clone(),
            assertion: self.assertion.clone(),
            together: self.together.clone(),
            deadlock: self.asks_for_deadlocks(),
            created: None,
        }
    }

    /// Returns what is asked about a C program.
    pub(crate) fn properties(&self) -> Properties {
        union(&self.property)
    }

    pub(crate) fn asks_for_deadlocks(&self) -> bool {
        self.deadlock || self.properties().has(Property::Deadlock)
    }

    /// Returns whether no option is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.view() == QuestionView::default()
    }

    /// The question as traces and certificates name it.
    pub(crate) fn view(&self) -> QuestionView {
        QuestionView::new(&self.question(), self.entry.as_deref()).with_properties(self.properties())
    }

    /// Returns the options with which a program is read for this question.
    pub(crate) fn load_options(&self) -> LoadOptions {
        let labels = self.label.iter().chain(&self.assertion).chain(&self.together).cloned().collect();
        let (entry, deadlock, properties) = (self.entry.clone(), self.asks_for_deadlocks(), self.properties());
        LoadOptions { entry, labels, deadlock, properties, ..LoadOptions::default() }
    }
}

#[derive(Debug, Args)]
#[command(after_help = FMT_EXAMPLES)]
pub(crate) struct FmtArgs {
    /// Program files to rewrite in place; `-` formats standard input to standard output
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    /// Write nothing; list the files that would change, and exit with code 2 if there are any
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// Code of the diagnostic, for example `SV0012` from `error[SV0012]`
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// Trace file written by `check --trace-out`; `-` reads standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: Input,
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: Input,
    /// Input language [auto: determined by the file extension]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write the execution as an HTML report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// For C: write a C program that forces the schedule and the inputs of the trace and really fails
    #[arg(long, value_name = "FILE")]
    pub(crate) harness: Option<PathBuf>,
    /// Show the whole state after each step, not only the changes
    #[arg(long)]
    pub(crate) full: bool,
    /// Print only the question and the last line, and no warnings
    #[arg(long, short, conflicts_with = "full")]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// Certificate file written by `check --certificate`; `-` reads standard input
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: Input,
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: Input,
    /// Input language [auto: determined by the file extension]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// For pushdown systems: the head that was checked instead of the targets in the file
    #[arg(long, value_name = "HEAD")]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Print only the question and the last line, and no warnings
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Random seed; the same seed gives the same run
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Choose each step yourself, in the terminal
    #[arg(long, short, conflicts_with = "steps")]
    pub(crate) interactive: bool,
    /// Stop after this many steps
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) steps: usize,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write the run as JSON if it ends in an error (docs/schema/trace.schema.json)
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_out: Option<PathBuf>,
    /// Write the run as an HTML report
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the whole state after each step, not only the changes
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// The options of `lsp` and `dap`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Use standard input and output; this is the default, and some clients pass the option anyway
    #[arg(long)]
    stdio: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DEBUG_EXAMPLES)]
pub(crate) struct DebugArgs {
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Step through the execution in this file, written by `check --trace-out` or `check --format json`; give the
    /// same options as to the check
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<Input>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Output folder
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// View of the program to show
    #[arg(value_name = "WHAT")]
    pub(crate) what: What,
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Input language [auto: determined by the file extension]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    /// Output format of `cfg` and `abstract-model`
    #[arg(long, value_name = "FORM", default_value = "dot")]
    pub(crate) picture: Picture,
    /// Entry procedure of the program [default: main]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Target format
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: ConvertTo,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(after_help = ABSTRACT_EXAMPLES)]
pub(crate) struct AbstractArgs {
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// File with predicates to add to those from the program's own conditions, one per line, for example `x <= y + 1`
    #[arg(long, value_name = "FILE")]
    pub(crate) predicates: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(after_help = SEQUENTIALIZE_EXAMPLES)]
pub(crate) struct SequentializeArgs {
    /// Program file; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Number of contexts of each thread
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONTEXTS)))]
    pub(crate) contexts: u32,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
pub(crate) struct SolveArgs {
    /// Equations file and program file; `-` reads standard input
    #[arg(value_name = "EQUATIONS|FILE", num_args = 0..=2)]
    pub(crate) inputs: Vec<Input>,
    /// Generate and solve the equations for any number of threads in K rounds; no equations file is needed
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONTEXTS)))]
    pub(crate) rounds: Option<u32>,
    /// Generate and solve the equations for the program's threads with K contexts each; no equations file is needed
    #[arg(long, value_name = "K", conflicts_with = "rounds")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONTEXTS)))]
    pub(crate) contexts: Option<u32>,
    /// Print the equations instead of solving them
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Solve iteration by iteration, and print the size of each relation that grew
    #[arg(long, short)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
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

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Shell to write the completion script for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
