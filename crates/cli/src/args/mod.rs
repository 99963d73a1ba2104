//! The command line, as data.

mod examples;
mod values;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use selvedge_check::ContextBound;
use selvedge_driver::{Initial, Question};
use selvedge_engines::sat::{Recursion, SummaryMode};

use crate::input::Input;
use crate::quantity;
use examples::*;
pub(crate) use values::*;

/// A model checker for Boolean programs with threads. It answers with evidence: a trace that has been executed, or a
/// proof that has been checked.
#[derive(Debug, Parser)]
#[command(name = "selvedge", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours [auto: on terminals, unless NO_COLOR is set]
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,
    /// For thread-transition systems (.tts): the file with the target [default: the .prop beside the system]
    #[arg(long, value_name = "FILE", global = true)]
    pub(crate) prop: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Can an error be reached?
    Check(Box<CheckArgs>),
    /// Answer as the model checker BOOM does, for SatAbs.
    Boom(BoomArgs),
    /// Format programs.
    Fmt(FmtArgs),
    /// Describe a diagnostic by its code, or list all codes.
    Explain(ExplainArgs),
    /// Execute a trace on a program.
    Replay(ReplayArgs),
    /// Check a certificate of safety on a program or a pushdown system.
    Verify(VerifyArgs),
    /// Run a program randomly.
    Simulate(SimulateArgs),
    /// Walk through an execution to an error in the terminal, forwards and backwards.
    Debug(DebugArgs),
    /// Serve a debugger by the Debug Adapter Protocol, on standard input and output.
    Dap(ServeArgs),
    /// Serve an editor by the Language Server Protocol, on standard input and output.
    Lsp(ServeArgs),
    /// Write the manual pages into a folder.
    Man(ManArgs),
    /// Show what was read: syntax tree, representation, control-flow graph, numbers.
    Show(ShowArgs),
    /// Write a program in another format.
    Convert(ConvertArgs),
    /// Write guarded commands over integers as a Boolean program over predicates.
    Abstract(AbstractArgs),
    /// Write threads that take turns, a number of contexts each, as a program of one thread.
    Sequentialize(SequentializeArgs),
    /// Solve equations between relations on the states of a program.
    Solve(SolveArgs),
    /// Ask all engines and other tools, and compare their verdicts.
    Crosscheck(CrosscheckArgs),
    /// Say which other programs are installed, and how to install the rest.
    Doctor,
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct CheckArgs {
    /// The programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    /// The language of the input [auto: by the ending of the file's name]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    /// For pushdown systems: ask for this head instead of the file's targets, as in '<p, g>' or '<p, *>'; for several
    /// threads with --contexts as in '3|1,-'
    #[arg(long, value_name = "HEAD")]
    pub(crate) target: Option<String>,
    /// For pushdown systems: from where to search
    #[arg(long, value_name = "WAY", default_value = "forward")]
    pub(crate) direction: Way,
    /// How to search
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine_parser())]
    pub(crate) engine: EngineChoice,
    /// How many engines may run side by side where the choice is left to us; with 1 they take turns, and the answer and
    /// its evidence are the same each time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) jobs: Option<u32>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Look at executions with at most K contexts per thread, threads taking turns in the order of their declaration; with
    /// 1..K at 1, 2, .. and so on, up to the first number with an error. Recursion is allowed; the answer is never safe
    #[arg(long, value_name = "K|1..K", value_parser = context_bound)]
    pub(crate) contexts: Option<ContextBound>,
    /// Look at executions of any number of threads, in any order, in at most K rounds, in each of which every thread has a
    /// turn; with 1..K at 1, 2, .. and so on, and whether so many are enough. Recursion is allowed
    #[arg(long, value_name = "K|1..K", value_parser = context_bound, conflicts_with = "contexts")]
    pub(crate) rounds: Option<ContextBound>,
    /// Stop after this time, counted from the reading of the file: 30s, 5m, 1h, 250ms
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Stop when this much memory is in use: 4GB, 500MB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
    /// For people or for programs (docs/schema/report.schema.json)
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: Format,
    /// Write the trace to an error as JSON (docs/schema/trace.schema.json); only with one FILE
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_out: Option<PathBuf>,
    /// With `--engine cegar`: write the Boolean program of each iteration into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Write the certificate of safety as JSON (docs/schema/certificate.schema.json, for pushdown systems
    /// docs/schema/system-certificate.schema.json); only with one FILE. An engine for one thread that gives none is
    /// helped out by `summaries`, within the limits
    #[arg(long, value_name = "FILE")]
    pub(crate) certificate: Option<PathBuf>,
    /// Write the result as a page for a browser: an execution to walk through, or a proof to read; only with one FILE
    #[arg(long, value_name = "FILE", conflicts_with = "reachable")]
    pub(crate) html: Option<PathBuf>,
    /// Show the whole state after each step of a trace, not only what changed
    #[arg(long)]
    pub(crate) full: bool,
    /// Print the last line only, and no warnings
    #[arg(long, short, conflicts_with = "full")]
    pub(crate) quiet: bool,
    /// Decide every assertion and error label on its own
    #[arg(long, conflicts_with_all = ["trace_out", "certificate", "label", "assertion", "together"])]
    pub(crate) all: bool,
    /// Visit everything that can be reached, errors or not: print the number of states in which a thread can be seen, and
    /// what becomes of each assertion; with `--format json` also the states
    #[arg(long, conflicts_with_all = ["all", "trace_out", "certificate", "together", "passes"])]
    pub(crate) reachable: bool,
    /// Say of every statement whether some execution to an error runs it, within the bounds of the question: the text of
    /// the program follows with marks, `!` yes, `?` not decided
    #[arg(long, conflicts_with_all = ["all", "reachable", "together"])]
    pub(crate) projection: bool,
    /// Search for an execution to the error with fewer threads, context switches and steps, and for values in it that do
    /// not matter, which are shown as `*`, within a small budget; on by default
    #[arg(long, overrides_with = "no_minimize")]
    pub(crate) minimize: bool,
    /// Show the execution to the error as the engine found it
    #[arg(long, overrides_with = "minimize")]
    pub(crate) no_minimize: bool,
    /// Show all warnings, not only the first of each kind
    #[arg(long)]
    pub(crate) all_warnings: bool,
    /// When to show progress on standard error [auto: if it is a terminal]
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) progress: When,
    /// A number that fixes what engines do at random; none of today's does
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Change the program by these passes before the search: names separated by commas, or `none`; by default those that
    /// suit the engine
    #[arg(long, value_name = "LIST", value_parser = passes)]
    pub(crate) passes: Option<Passes>,
    /// The greatest number of frames on a stack that `exhaustive` looks at
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Which summaries the engine `sat` makes: of reached entries, universal ones, or universal ones where they matter
    #[arg(long, value_name = "MODE", value_parser = summary_mode_parser())]
    pub(crate) summaries: Option<SummaryMode>,
    /// How `sat` closes the universal summaries of recursive procedures: by a fixed point, or by unrolling nested
    /// summaries until their entries and exits repeat, for small programs [default: fixpoint]
    #[arg(long, value_name = "HOW", value_parser = recursion_parser())]
    pub(crate) recursion: Option<Recursion>,
    /// Let the engine `summaries` summarise all procedures for all entries first
    #[arg(long)]
    pub(crate) eager: bool,
    /// Let the engine `summaries` track all variables from the start
    #[arg(long)]
    pub(crate) exact: bool,
    /// The greatest number of steps that `bmc` looks at, the greatest k of `induction` [default: 200], and the greatest
    /// number of threads that `views`, `views-explicit` and `cutoff` look at together [default: none]
    #[arg(long, value_name = "K")]
    pub(crate) bound: Option<u32>,
    /// The paths that the step of `induction` speaks of [default: loop-free]
    #[arg(long, value_name = "PATHS")]
    pub(crate) paths: Option<PathsChoice>,
    /// The interleavings that the engines for several threads leave out
    #[arg(long, value_name = "ORDER", default_value = "off")]
    pub(crate) partial_order: PartialOrderChoice,
    /// Let the engines for several threads see every step, also those that no other thread can notice
    #[arg(long)]
    pub(crate) no_compress: bool,
    /// Let the engines for several threads remember values that are not read any more
    #[arg(long)]
    pub(crate) no_dead: bool,
}

/// The interleavings that are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PartialOrderChoice {
    /// None
    Off,
    /// All but those of one thread whose step is independent of all that the others can still do
    Ample,
    /// All but those of one group of threads that do not depend on the rest
    Persistent,
    /// As `ample`, and a thread runs on without stopping while that holds
    Cartesian,
}

#[derive(Debug, Args)]
#[command(after_help = BOOM_EXAMPLES)]
pub(crate) struct BoomArgs {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// At most this many threads in a run, ended ones included; a spawn beyond them does nothing
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threadbound: u32,
    /// Print the execution that leads to the error
    #[arg(short = 't', long = "trace")]
    pub(crate) trace: bool,
    /// Print who answered and how long it took
    #[arg(long)]
    pub(crate) stats: bool,
    /// Ignored: how BOOM searches
    #[arg(long, value_name = "NAME")]
    pub(crate) algo: Option<String>,
    /// Ignored: partial orders, which are used where they help
    #[arg(long)]
    pub(crate) por: bool,
    /// How to search
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine_parser())]
    pub(crate) engine: EngineChoice,
    /// Stop after this time: 30s, 5m, 1h, 250ms
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Stop when this much memory is in use: 4GB, 500MB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
}

/// What is asked. The same for all subcommands that run programs.
#[derive(Clone, Debug, Args)]
pub(crate) struct QuestionArgs {
    /// At most this many threads at a time; without it, any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) threads: Option<u32>,
    /// How many threads run the first procedure at the start: a number, or `any` [default: one, or as the program says]
    #[arg(long, value_name = "N|any", value_parser = initial)]
    pub(crate) initial: Option<Initial>,
    /// Ask whether this label is reached, instead of the assertions
    #[arg(long, value_name = "LABEL", conflicts_with = "assertion")]
    pub(crate) label: Option<String>,
    /// Ask for one assertion only: a label before it, or its line
    #[arg(long, value_name = "LABEL|LINE")]
    pub(crate) assertion: Option<String>,
    /// Ask whether different threads stand at these labels at once, instead of the assertions: names separated by
    /// commas; the same one twice is for two threads
    #[arg(long, value_name = "LABELS", value_delimiter = ',', conflicts_with_all = ["label", "assertion"])]
    pub(crate) together: Vec<String>,
    /// The procedure in which the program starts [default: main]
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
            created: None,
        }
    }

    /// The labels that somebody asks for.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.label.iter().chain(&self.assertion).chain(&self.together).cloned().collect()
    }
}

#[derive(Debug, Args)]
#[command(after_help = FMT_EXAMPLES)]
pub(crate) struct FmtArgs {
    /// The programs, which are rewritten in place; `-` goes from standard input to standard output
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    /// Write nothing; list the files that would change, and end with exit code 2 if there are any
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct ExplainArgs {
    /// The code, as in `error[SV0012]`
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = REPLAY_EXAMPLES)]
pub(crate) struct ReplayArgs {
    /// The trace, as `check --trace-out` writes it; `-` is standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: Input,
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: Input,
    /// Write the execution as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the whole state after each step, not only what changed
    #[arg(long)]
    pub(crate) full: bool,
    /// Print the last line only, and no warnings
    #[arg(long, short, conflicts_with = "full")]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// The certificate, as `check --certificate` writes it; `-` is standard input
    #[arg(value_name = "CERTIFICATE")]
    pub(crate) certificate: Input,
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: Input,
    /// The language of the input [auto: by the ending of the file's name]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    /// Stop after this time: 30s, 5m, 1h, 250ms
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Print the last line only, and no warnings
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub(crate) struct SimulateArgs {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// The number that fixes all random choices
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Choose each step by hand, in the terminal
    #[arg(long, short, conflicts_with = "steps")]
    pub(crate) interactive: bool,
    /// Stop after this many steps
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) steps: usize,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write the run as JSON if it meets an error (docs/schema/trace.schema.json)
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_out: Option<PathBuf>,
    /// Write the run as a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Show the whole state after each step, not only what changed
    #[arg(long)]
    pub(crate) full: bool,
}

/// The options of `lsp` and `dap`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Use standard input and output. This is always so; many clients say it anyway.
    #[arg(long)]
    stdio: bool,
}

#[derive(Debug, Args)]
#[command(after_help = DEBUG_EXAMPLES)]
pub(crate) struct DebugArgs {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Walk through the execution in this file, which `check --trace-out` or `check --format json` has written
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<Input>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = SHOW_EXAMPLES)]
pub(crate) struct ShowArgs {
    /// What to show
    #[arg(value_name = "WHAT")]
    pub(crate) what: What,
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// The language of the input [auto: by the ending of the file's name]
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    pub(crate) input_format: InputFormat,
    /// The form of `cfg`
    #[arg(long, value_name = "FORM", default_value = "dot")]
    pub(crate) picture: Picture,
    /// The procedure in which the program starts [default: main]
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    pub(crate) to: ConvertTo,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// For `pds`, `tts` and `spec`: stop after this time: 30s, 5m, 1h, 250ms
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// For `pds`, `tts` and `spec`: stop when this much memory is in use: 4GB, 500MB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = ABSTRACT_EXAMPLES)]
pub(crate) struct AbstractArgs {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// Predicates beside those of the program's own conditions: one per line, as in `x <= y + 1`
    #[arg(long, value_name = "FILE")]
    pub(crate) predicates: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = SEQUENTIALIZE_EXAMPLES)]
pub(crate) struct SequentializeArgs {
    /// The program; `-` is standard input
    #[arg(value_name = "FILE")]
    pub(crate) input: Input,
    /// The number of contexts of each thread
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONTEXTS)))]
    pub(crate) contexts: u32,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
pub(crate) struct SolveArgs {
    /// The equations, and the program; `-` is standard input
    #[arg(value_name = "EQUATIONS|FILE", num_args = 0..=2)]
    pub(crate) inputs: Vec<Input>,
    /// Solve the equations for any number of threads in K rounds, which need no file
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONTEXTS)))]
    pub(crate) rounds: Option<u32>,
    /// Solve the equations for the threads of the text with K contexts each, which need no file
    #[arg(long, value_name = "K", conflicts_with = "rounds", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONTEXTS)))]
    pub(crate) contexts: Option<u32>,
    /// Print the equations and do not solve them
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Solve in rounds and print the size of every relation that has grown, round by round
    #[arg(long, short)]
    pub(crate) verbose: bool,
    /// Stop after this time: 30s, 5m, 1h, 250ms
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    pub(crate) time_limit: Option<Duration>,
    /// Stop when this much memory is in use: 4GB, 500MB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = CROSSCHECK_EXAMPLES)]
pub(crate) struct CrosscheckArgs {
    /// The programs; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) inputs: Vec<Input>,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Stop each tool after this time: 30s, 5m, 1h, 250ms
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = quantity::duration)]
    pub(crate) time_limit: Duration,
    /// Stop an engine when this much memory is in use: 4GB, 500MB, 2GiB
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes)]
    pub(crate) memory_limit: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
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
