//! The command line, as data.

mod c;
mod check;
mod examples;
mod executions;
mod models;
mod projects;
mod question;
mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use selvedge_frontend::bp::Dialect;

use crate::input::Input;
pub(crate) use c::{Asked, CArgs, properties};
pub(crate) use check::*;
use examples::*;
pub(crate) use executions::*;
pub(crate) use models::*;
pub(crate) use projects::*;
pub(crate) use question::*;
pub(crate) use values::*;

/// A model checker for programs with threads. Every answer comes with evidence: an execution that has been
/// replayed, or a proof that has been checked.
#[derive(Debug, Parser)]
#[command(name = "selvedge", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    /// When to use colours [auto: on terminals, unless NO_COLOR is set]
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub(crate) color: When,
    /// File with the target of a thread-transition system (.tts) [default: the .prop file next to it]
    #[arg(long, value_name = "FILE", global = true)]
    #[arg(help_heading = "Reading")]
    pub(crate) prop: Option<PathBuf>,
    /// Dialect of Boolean programs [default: getafix for programs with `init` beside `thread0`, `thread1`, .., else
    /// selvedge]
    #[arg(long, value_name = "DIALECT", global = true, value_parser = dialect_parser())]
    #[arg(help_heading = "Reading")]
    pub(crate) dialect: Option<Dialect>,
    /// Ignore the options in the line `// options: ..` of a file
    #[arg(long, global = true)]
    #[arg(help_heading = "Reading")]
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
    /// Validate a witness of a verification competition on a C program.
    Validate(ValidateArgs),
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
    /// Check the programs of a folder against the verdicts in their first comments.
    Test(TestArgs),
    /// Make a project: programs with verdicts, and files for continuous integration.
    Init(InitArgs),
    /// Check many programs on many machines.
    Batch(BatchArgs),
    /// Show which external tools are installed, and how to install the missing ones.
    Doctor,
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

/// Returns the command line with all options in its help texts, also those that tune single engines.
pub(crate) fn with_all_options() -> clap::Command {
    fn unhide(command: clap::Command) -> clap::Command {
        let command = command.mut_args(|arg| arg.hide(false));
        command.mut_subcommands(unhide)
    }
    unhide(<Cli as clap::CommandFactory>::command())
}

impl Command {
    /// Returns the limits of all the work of a command. Those of `check` and `crosscheck` are for each file or tool.
    pub(crate) fn limits(&self) -> LimitArgs {
        match self {
            Command::Boom(args) => args.limits,
            Command::Fmt(args) => args.limits,
            Command::Replay(args) => args.limits,
            Command::Verify(args) => args.limits,
            Command::Validate(args) => args.limits,
            Command::Simulate(args) => args.limits,
            Command::Show(args) => args.limits,
            Command::Convert(args) => args.limits,
            Command::Abstract(args) => args.limits,
            Command::Sequentialize(args) => args.limits,
            Command::Solve(args) => args.limits,
            Command::Check(_)
            | Command::Crosscheck(_)
            | Command::Test(_)
            | Command::Init(_)
            | Command::Batch(_)
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

/// The options of `lsp` and `dap`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Use standard input and output; this is the default, and some clients pass the option anyway
    #[arg(long)]
    stdio: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Output folder
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
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
