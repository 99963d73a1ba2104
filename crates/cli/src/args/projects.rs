//! The commands for many programs: `test`, `init` and `batch`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::examples::{BATCH_EXAMPLES, TEST_EXAMPLES};
use super::values::{EngineChoice, engine_parser, positive};
use super::{LimitArgs, QuestionArgs};

#[derive(Clone, Debug, Args)]
#[command(after_help = TEST_EXAMPLES)]
pub(crate) struct TestArgs {
    /// Programs, and folders whose programs with a line `// verdict: safe` or `unsafe` are checked
    #[arg(value_name = "PATH", default_value = ".")]
    pub(crate) paths: Vec<PathBuf>,
    /// Maximum number of programs to check in parallel [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) jobs: Option<u32>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Count a safe program as wrong if its certificate is missing
    #[arg(long)]
    pub(crate) certified: bool,
    /// Print only the programs that are wrong or not decided, and the last line
    #[arg(long, short)]
    pub(crate) quiet: bool,
    // Limits for each program.
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder of the project; it is made if it is missing
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
}

#[derive(Clone, Debug, Args)]
#[command(after_help = BATCH_EXAMPLES)]
pub(crate) struct BatchArgs {
    #[command(subcommand)]
    pub(crate) command: BatchCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum BatchCommand {
    /// Write the tasks for some programs to a manifest.
    Plan(Box<PlanArgs>),
    /// Run one task of a manifest, or a few, and write the results.
    Run(BatchRunArgs),
    /// Judge the evidence of all results again, and combine them.
    Merge(MergeArgs),
    /// Show which tasks are done.
    Status(ResultArgs),
    /// Write a page with the results and plots of times.
    Report(BatchReportArgs),
}

/// A way to make several tasks of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Split {
    /// One task for each engine of `--engines`; the first judged answer counts
    Engine,
    /// One question for each number of threads in `--bounds`
    Bound,
    /// One question for each assertion; for C programs, for each property
    Property,
    /// One task for each value that `--cube-variables` shared variables can start with; all of them make the answer
    Cube,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct PlanArgs {
    /// Programs, and folders with programs
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,
    /// Manifest to write
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// How to make several tasks of a program
    #[arg(long, value_name = "WAYS", value_delimiter = ',')]
    pub(crate) split: Vec<Split>,
    /// Engines, for `--split engine` [default: all]
    #[arg(long, value_name = "ENGINES", value_delimiter = ',', value_parser = engine_parser())]
    pub(crate) engines: Vec<EngineChoice>,
    /// Numbers of threads, for `--split bound`
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "2,3,4")]
    #[arg(value_parser = positive)]
    pub(crate) bounds: Vec<u32>,
    /// Number of variables whose values at the start are tried, for `--split cube`; 2^N tasks
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=16))]
    pub(crate) cube_variables: u32,
    #[command(flatten)]
    pub(crate) question: QuestionArgs,
    // Limits for each task.
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ResultArgs {
    /// Manifest
    #[arg(value_name = "MANIFEST")]
    pub(crate) manifest: PathBuf,
    /// Folder of the results
    #[arg(long, value_name = "FOLDER")]
    pub(crate) results: PathBuf,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct BatchRunArgs {
    #[command(flatten)]
    pub(crate) of: ResultArgs,
    /// Number of the task, from 0 [default: SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or PARALLEL_SEQ - 1]
    #[arg(long, value_name = "N")]
    pub(crate) index: Option<usize>,
    /// Number of tasks to run; the index then counts groups of this size
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive)]
    pub(crate) per_index: u32,
    /// Stop as soon as another task has answered the same question
    #[arg(long)]
    pub(crate) portfolio: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct MergeArgs {
    #[command(flatten)]
    pub(crate) of: ResultArgs,
    /// Write the combined results as JSON
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Maximum number of pieces of evidence to judge in parallel [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub(crate) jobs: Option<u32>,
    // Limits for each piece of evidence.
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct BatchReportArgs {
    #[command(flatten)]
    pub(crate) merge: MergeArgs,
    /// Page to write
    #[arg(long, value_name = "FILE")]
    pub(crate) html: PathBuf,
}
