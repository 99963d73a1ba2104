//! The commands that show programs, and turn them into others.

use std::path::PathBuf;

use clap::Args;

use super::examples::{ABSTRACT_EXAMPLES, CONVERT_EXAMPLES, SEQUENTIALIZE_EXAMPLES, SHOW_EXAMPLES, SOLVE_EXAMPLES};
use super::values::*;
use super::{LimitArgs, QuestionArgs};
use crate::input::Input;

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
