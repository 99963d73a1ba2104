//! `selvedge check`: can an error be reached?

mod one;
pub(crate) mod options;
mod system;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use selvedge_engines::EngineKind;
use selvedge_engines::sat::SummaryMode;
use selvedge_engines::table::Threads;
use selvedge_report::diagnostic::Shown;
use selvedge_report::json;
use selvedge_report::sarif;
use selvedge_report::text;

use super::program;
use super::system::is_system;
use crate::args::{CheckArgs, Format};
use crate::crash;
use crate::exit::Exit;
use crate::input::Input;
use crate::memory;
use crate::outputs::{self, CommandFiles};
use crate::progress::Progress;
use crate::session::Session;
use crate::supervise::supervised;
use one::{CheckResult, Checked, NoAnswer, check};

pub(crate) fn run(args: &CheckArgs, session: &Arc<Session>) -> Exit {
    if let Err(message) = validate_engine(args).and_then(|()| validate(args).map_err(str::to_string)) {
        return session.refuse(Exit::Usage, message);
    }
    if let Err(exit) = check_files(args, session) {
        return exit;
    }
    let mut results = Vec::new();
    let shared = Arc::new(args.clone());
    for (number, input) in args.inputs.iter().enumerate() {
        let start = if number == 0 { session.start } else { Instant::now() };
        let progress = Arc::new(Progress::new(args.progress, input.name(), session));
        let checked = watched(input, &shared, session, start, &progress);
        progress.finish();
        if number > 0 && args.format == Format::Text && !args.quiet {
            session.printer.out("\n");
        }
        results.push(print(&checked, args, session));
    }
    let exit = finish(results, args, session);
    Exit::worst([exit, args.keep.as_ref().map_or(Exit::Success, |keep| keep.end(session))])
}

/// Checks the files that will be written, and makes the folder of `--keep`.
fn check_files(args: &CheckArgs, session: &Session) -> Result<(), Exit> {
    let files = CommandFiles::reading(&args.inputs, session).writing("--html", args.html.as_ref());
    let files = files.writing("--harness", args.harness.as_ref());
    let files = files.writing("--witness", args.witness.as_ref());
    let files = files.writing("--trace-out", args.trace_out.as_ref());
    let files = files.writing("--certificate", args.certificate.as_ref());
    let Some(keep) = &args.keep else { return files.check(session) };
    // A file of the folder that exists already and is an input, too, has the name of an abstraction.
    let kept: Vec<PathBuf> = (0..1000).map(|number| keep.file(number)).filter(|path| path.exists()).collect();
    kept.iter().fold(files, |files, path| files.writing("--keep", Some(path))).check(session)?;
    keep.make(session)
}

/// Checks a file within its limits. If the work on it must stop and does not, it is left behind.
fn watched(
    input: &Input,
    args: &Arc<CheckArgs>,
    session: &Arc<Session>,
    start: Instant,
    progress: &Arc<Progress>,
) -> Checked {
    let checked = {
        let (input, args, session) = (input.clone(), Arc::clone(args), Arc::clone(session));
        let (watch, progress) = (session.watch(args.limits, start), Arc::clone(progress));
        supervised(&watch, || true, move || check(&input, &args, &session, start, &*progress))
    };
    // What the work on this file has freed is not to count against the next one.
    memory::trim();
    checked.unwrap_or_else(|end| Checked::early(input, end.into()))
}

/// Checks that the engine named by the user takes the options.
fn validate_engine(args: &CheckArgs) -> Result<(), String> {
    let given = [
        ("bound", args.bound.is_some()),
        ("paths", args.paths.is_some()),
        ("summaries", args.summaries.is_some()),
        ("exact", args.exact),
        ("eager", args.eager),
        ("from-scratch", args.from_scratch),
    ];
    let is_misplaced = |option: &str| !args.engine.0.is_some_and(|engine| engine.takes_option(option));
    let misplaced = given.into_iter().find(|(option, is_given)| *is_given && is_misplaced(option));
    let Some((option, _)) = misplaced else { return Ok(()) };
    let engines = EngineKind::ALL.iter().filter(|engine| engine.takes_option(option));
    let names: Vec<String> = engines.map(|engine| format!("`{}`", engine.name())).collect();
    Err(match names.as_slice() {
        [name] => format!("--{option} is for the engine {name}: name it with --engine"),
        names => format!("--{option} is for the engines {}: name one of them with --engine", names.join(", ")),
    })
}

/// Checks what the parser of the command line cannot see.
fn validate(args: &CheckArgs) -> Result<(), &'static str> {
    program::check_stdin(&args.inputs)?;
    let is_pds = args.inputs.iter().all(|input| is_system(input, args.input_format));
    let counts = |engine: EngineKind| {
        let of_one_thread = engine.row().scope.threads == Threads::One;
        engine.takes_option("contexts") || (of_one_thread && (!is_pds || engine == EngineKind::Pushdown))
    };
    let in_rounds = |engine: EngineKind| engine.takes_option("rounds");
    let (engine, several) = (args.engine.0, args.inputs.len() > 1);
    let any_summaries = matches!(args.summaries, None | Some(SummaryMode::Reachable));
    let mistakes = [
        (args.trace_out.is_some() && several, "--trace-out takes one trace, but several programs are given"),
        (args.certificate.is_some() && several, "--certificate takes one certificate, but several programs are given"),
        (args.html.is_some() && several, "--html takes one result, but several programs are given"),
        (args.harness.is_some() && several, "--harness takes one error, but several programs are given"),
        (args.witness.is_some() && several, "--witness takes one result, but several programs are given"),
        (args.keep.is_some() && several, "--keep takes the abstractions of one program, but several are given"),
        (
            args.recursion.is_some() && any_summaries,
            "--recursion is for universal summaries: choose --summaries universal or lazy",
        ),
        (
            args.contexts.is_some() && !engine.is_none_or(counts),
            "--contexts is for the engines `contexts` and `contexts-eager`, and for engines for one thread; files in \
             .pds have `pushdown`",
        ),
        (
            args.contexts.is_some() && (args.all || args.reachable),
            "--contexts cannot be combined with --all or --reachable",
        ),
        (args.rounds.is_some() && !engine.is_none_or(in_rounds), "--rounds is for the engine `rounds`"),
        (
            args.rounds.is_some() && (args.all || args.reachable),
            "--rounds cannot be combined with --all or --reachable",
        ),
    ];
    match mistakes.iter().find(|(is_made, _)| *is_made) {
        Some((_, message)) => Err(message),
        None => validate_systems(args),
    }
}

/// Checks that options of programs are not given for pushdown systems, and the other way round.
fn validate_systems(args: &CheckArgs) -> Result<(), &'static str> {
    let n_systems = args.inputs.iter().filter(|input| is_system(input, args.input_format)).count();
    if args.target.is_some() && n_systems < args.inputs.len() {
        return Err("--target is for pushdown systems (.pds); programs have --label and --assertion");
    }
    let of_programs =
        !args.question.is_empty() || args.all || args.reachable || args.projection || args.rounds.is_some();
    let counts = |engine: EngineKind| args.contexts.is_some() && engine.takes_option("contexts");
    let takes = |engine| engine == EngineKind::Pushdown || counts(engine);
    let engine = args.engine.0.is_some_and(|engine| !takes(engine));
    if n_systems > 0 && (of_programs || engine || args.passes.is_some() || args.trace_out.is_some()) {
        return Err("pushdown systems take no options of programs: of --engine only `pushdown`, with --contexts also \
             `contexts` and `contexts-eager`, and none of --threads, --initial, --label, --assertion, \
             --together, --entry, --rounds, --all, --reachable, --projection, --passes, --trace-out");
    }
    Ok(())
}

/// The parts of a file's result that are needed after it was printed.
struct Printed {
    row: text::Row,
    line: String,
    reason: Option<String>,
    exit: Exit,
    view: Option<serde_json::Value>,
    findings: Vec<sarif::Finding>,
}

impl Printed {
    /// Returns the last line. For several files an unknown names the file that it speaks of.
    fn last_line(&self, n_files: usize) -> String {
        match &self.reason {
            Some(reason) if n_files > 1 => format!("VERIFICATION UNKNOWN ({}: {reason})", self.row.name),
            _ => self.line.clone(),
        }
    }
}

/// Prints a result, in text format at once, and writes its evidence.
fn print(checked: &Checked, args: &CheckArgs, session: &Session) -> Printed {
    let printer = &session.printer;
    checked.defects().into_iter().for_each(|message| printer.err(&crash::report(message)));
    if args.format == Format::Text {
        print_text(checked, args, session);
    }
    let written = [
        write_trace(checked, args, session),
        write_part(args.certificate.as_ref(), || checked.certificate(), "there is no certificate", session),
        write_part(args.html.as_ref(), || checked.html(), "this result has no page", session),
        write_harness(args.harness.as_ref(), || checked.harness(), session),
        write_harness(args.witness.as_ref(), || checked.witness(&args.inputs[0], session), session),
    ];
    let summary = checked.summary();
    let exit = Exit::worst(written.into_iter().chain([summary.exit]));
    Printed {
        row: checked.row(exit),
        line: summary.line,
        reason: summary.reason,
        exit,
        view: (args.format == Format::Json).then(|| checked.view(exit, args)),
        findings: if args.format == Format::Sarif { checked.findings() } else { Vec::new() },
    }
}

fn print_text(checked: &Checked, args: &CheckArgs, session: &Session) {
    let printer = &session.printer;
    let shown = if args.all_warnings { Shown::All } else { program::SHOWN };
    let diagnostics = checked.diagnostics.iter().filter(|diagnostic| diagnostic.is_error() || !args.quiet);
    let diagnostics: Vec<_> = diagnostics.cloned().collect();
    printer.err(&selvedge_report::diagnostic::render(&checked.source, &diagnostics, shown, &printer.err_palette()));
    match &checked.result {
        CheckResult::None(NoAnswer::NotRead(message)) => printer.error(message),
        CheckResult::None(NoAnswer::Invalid(error)) => drop(program::refuse(error, session)),
        _ => {}
    }
    if !args.quiet {
        printer.out(&checked.block(session.style(args.full)));
    }
}

/// Writes the trace, if there is one and it is wanted.
fn write_trace(checked: &Checked, args: &CheckArgs, session: &Session) -> Exit {
    let (Some(path), Some(trace)) = (&args.trace_out, checked.trace()) else { return Exit::Success };
    outputs::write(path, &json::to_text(&trace), session)
}

/// Writes a part of the result, if it is wanted. One that is wanted and missing is noted.
fn write_part(path: Option<&PathBuf>, part: impl FnOnce() -> Option<String>, missing: &str, session: &Session) -> Exit {
    let Some(path) = path else { return Exit::Success };
    if let Some(part) = part() {
        return outputs::write(path, &part, session);
    }
    session.printer.err(&format!("note: {missing}: {} is not written\n", outputs::shown(path)));
    Exit::Success
}

/// Writes a harness or a witness, if it is wanted and there is one; else a note says why not.
pub(crate) fn write_harness(
    path: Option<&PathBuf>,
    harness: impl FnOnce() -> Result<String, String>,
    session: &Session,
) -> Exit {
    let Some(path) = path else { return Exit::Success };
    match harness() {
        Ok(harness) => outputs::write(path, &harness, session),
        Err(reason) => {
            session.printer.err(&format!("note: {reason}: {} is not written\n", outputs::shown(path)));
            Exit::Success
        }
    }
}

/// The summary, the last line, or the whole JSON.
fn finish(results: Vec<Printed>, args: &CheckArgs, session: &Session) -> Exit {
    let exit = Exit::worst(results.iter().map(|printed| printed.exit));
    if args.format == Format::Json {
        let views: Vec<_> = results.into_iter().filter_map(|printed| printed.view).collect();
        session.printer.out(&json::to_text(&json::report(exit.code(), &views)));
        return exit;
    }
    if args.format == Format::Sarif {
        print_findings(results, exit, session);
        return exit;
    }
    let worst = results.iter().find(|printed| printed.exit == exit);
    let line = worst.map_or(String::new(), |printed| printed.last_line(results.len()));
    if results.len() > 1 {
        let rows: Vec<text::Row> = results.into_iter().map(|printed| printed.row).collect();
        if !args.quiet {
            session.printer.out(&format!("\n{}", text::summary(&rows, &session.printer.out_palette())));
        }
    }
    session.printer.out(&format!("{line}\n"));
    exit
}

/// Prints the findings of all files with the command line that led to them.
fn print_findings(results: Vec<Printed>, exit: Exit, session: &Session) {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let worst = results.iter().find(|printed| printed.exit == exit);
    let open = |printed: &Printed| Some((printed.row.name.clone(), printed.reason.clone()?));
    let invocation = sarif::Invocation {
        arguments: words.collect(),
        exit_code: exit.code(),
        last_line: worst.map_or(String::new(), |printed| printed.last_line(results.len())),
        is_complete: matches!(exit, Exit::Success | Exit::Unsafe | Exit::Unknown),
        open: results.iter().filter_map(open).collect(),
    };
    let findings: Vec<_> = results.into_iter().flat_map(|printed| printed.findings).collect();
    session.printer.out(&sarif::file(&findings, &invocation));
}
