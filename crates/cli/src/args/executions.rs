//! The commands that run programs and judge evidence.

use std::path::PathBuf;

use clap::Args;
use selvedge_check::ContextBound;

use super::examples::{DEBUG_EXAMPLES, REPLAY_EXAMPLES, SIMULATE_EXAMPLES, VALIDATE_EXAMPLES, VERIFY_EXAMPLES};
use super::values::{EngineChoice, InputFormat, context_bound, engine_parser};
use super::{LimitArgs, QuestionArgs};
use crate::input::Input;

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
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateArgs {
    /// Witness file (.yml), formats 2.0 to 2.2; `-` reads standard input
    #[arg(value_name = "WITNESS")]
    pub(crate) witness: Input,
    /// C program; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) program: Input,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    /// Print only the last line, and no warnings
    #[arg(long, short)]
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

#[derive(Clone, Debug, Args)]
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
    #[command(flatten)]
    pub(crate) search: SearchArgs,
}

/// How an execution is searched for.
#[derive(Clone, Debug, Args)]
pub(crate) struct SearchArgs {
    /// Engine to use
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine_parser())]
    #[arg(help_heading = "Engines", conflicts_with = "trace")]
    pub(crate) engine: EngineChoice,
    /// Search executions with at most K contexts per thread
    #[arg(long, value_name = "K|1..K", value_parser = context_bound)]
    #[arg(help_heading = "Engines", conflicts_with = "trace")]
    pub(crate) contexts: Option<ContextBound>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}
