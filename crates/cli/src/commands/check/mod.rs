//! `selvedge check`: can an error be reached?

mod one;
mod system;

use std::time::Instant;

use selvedge_engines::EngineKind;
use selvedge_engines::sat::SummaryMode;
use selvedge_report::diagnostic::Shown;
use selvedge_report::json::{self, ReportFile};
use selvedge_report::sarif;
use selvedge_report::text::{self, Detail, Style};

use super::program;
use super::system::is_system;
use crate::args::{CheckArgs, Format};
use crate::crash;
use crate::exit::Exit;
use crate::input::Input;
use crate::progress::Progress;
use crate::session::Session;
use one::{Checked, Ending, check};

pub(crate) fn run(args: &CheckArgs, session: &Session) -> Exit {
    if let Some(mistake) = option_of_other_engine(args).or_else(|| mistake(args).map(str::to_string)) {
        session.printer.error(&mistake);
        return Exit::Usage;
    }
    let mut results = Vec::new();
    for (number, input) in args.inputs.iter().enumerate() {
        let start = if number == 0 { session.start } else { Instant::now() };
        let progress = Progress::new(args.progress, input.name(), &session.printer);
        let checked = check(input, args, session, start, &progress);
        progress.finish();
        if number > 0 && args.format == Format::Text && !args.quiet {
            session.printer.out("\n");
        }
        results.push(tell(&checked, args, session));
    }
    finish(results, args, session)
}

/// Returns what is wrong with the first option that the engine named by the user does not take.
fn option_of_other_engine(args: &CheckArgs) -> Option<String> {
    let given = [
        ("bound", args.bound.is_some()),
        ("paths", args.paths.is_some()),
        ("summaries", args.summaries.is_some()),
        ("exact", args.exact),
        ("eager", args.eager),
    ];
    let is_misplaced = |option: &str| !args.engine.0.is_some_and(|engine| engine.takes_option(option));
    let (option, _) = given.into_iter().find(|(option, is_given)| *is_given && is_misplaced(option))?;
    let engines = EngineKind::ALL.iter().filter(|engine| engine.takes_option(option));
    let names: Vec<String> = engines.map(|engine| format!("`{}`", engine.name())).collect();
    Some(match names.as_slice() {
        [name] => format!("--{option} is for the engine {name}: name it with --engine"),
        names => format!("--{option} is for the engines {}: name one of them with --engine", names.join(", ")),
    })
}

/// What the parser of the command line cannot see.
fn mistake(args: &CheckArgs) -> Option<&'static str> {
    if args.inputs.iter().filter(|input| **input == Input::Stdin).count() > 1 {
        return Some("standard input can be read once only: `-` is given twice");
    }
    if args.trace_out.is_some() && args.inputs.len() > 1 {
        return Some("--trace-out takes one trace, but several programs are given");
    }
    if args.certificate.is_some() && args.inputs.len() > 1 {
        return Some("--certificate takes one certificate, but several programs are given");
    }
    if args.html.is_some() && args.inputs.len() > 1 {
        return Some("--html takes one result, but several programs are given");
    }
    if args.recursion.is_some() && matches!(args.summaries, None | Some(SummaryMode::Reachable)) {
        return Some("--recursion is for universal summaries: choose --summaries universal or lazy");
    }
    let is_pds = args.inputs.iter().all(|input| is_system(input, args.input_format));
    let counts = |engine: EngineKind| engine.takes_option("contexts") || (is_pds && engine == EngineKind::Pushdown);
    if args.contexts.is_some() && !args.engine.0.is_none_or(counts) {
        return Some("--contexts is for the engines `contexts` and `contexts-eager`, and for `pushdown` with .pds");
    }
    if args.contexts.is_some() && (args.all || args.reachable) {
        return Some("--contexts cannot be combined with --all or --reachable");
    }
    if args.rounds.is_some() && !args.engine.0.is_none_or(|engine| engine.takes_option("rounds")) {
        return Some("--rounds is for the engine `rounds`");
    }
    if args.rounds.is_some() && (args.all || args.reachable) {
        return Some("--rounds cannot be combined with --all or --reachable");
    }
    misplaced_for_systems(args)
}

/// Options of programs beside pushdown systems, and the other way round.
fn misplaced_for_systems(args: &CheckArgs) -> Option<&'static str> {
    let n_systems = args.inputs.iter().filter(|input| is_system(input, args.input_format)).count();
    if args.target.is_some() && n_systems < args.inputs.len() {
        return Some("--target is for pushdown systems (.pds); programs have --label and --assertion");
    }
    let question = &args.question;
    let asks = question.threads.is_some() || question.initial.is_some() || question.label.is_some();
    let of_programs = asks
        || question.assertion.is_some()
        || question.entry.is_some()
        || args.all
        || args.reachable
        || args.projection
        || args.rounds.is_some();
    let counts = |engine: EngineKind| args.contexts.is_some() && engine.takes_option("contexts");
    let takes = |engine| engine == EngineKind::Pushdown || counts(engine);
    let engine = args.engine.0.is_some_and(|engine| !takes(engine));
    if n_systems > 0 && (of_programs || engine || args.passes.is_some() || args.trace_out.is_some()) {
        return Some(
            "pushdown systems take no options of programs: of --engine only `pushdown`, with --contexts also `contexts` \
             and `contexts-eager`, and none of --threads, \
             --initial, --label, --assertion, --entry, --rounds, --all, --reachable, --projection, --passes, --trace-out",
        );
    }
    None
}

/// What remains of a file's result after it was told.
struct Told {
    row: text::Row,
    line: String,
    exit: Exit,
    view: json::ResultView,
    findings: Vec<sarif::Finding>,
}

/// Prints a result, in text format at once, and writes its evidence.
fn tell(checked: &Checked, args: &CheckArgs, session: &Session) -> Told {
    let printer = &session.printer;
    if let Ending::Internal(message) = &checked.ending {
        printer.err(&crash::report(message));
    }
    if args.format == Format::Text {
        print_text(checked, args, session);
    }
    let written = [
        write_trace(checked, args, session),
        write_certificate(checked, args, session),
        write_html(checked, args, session),
    ];
    let exit = Exit::worst(written.into_iter().chain([checked.ending.exit()]));
    Told {
        row: checked.row(exit),
        line: checked.line(),
        exit,
        view: checked.view(exit, &args.question),
        findings: checked.findings(),
    }
}

fn print_text(checked: &Checked, args: &CheckArgs, session: &Session) {
    let printer = &session.printer;
    let shown = if args.all_warnings { Shown::All } else { program::SHOWN };
    let diagnostics = checked.diagnostics.iter().filter(|diagnostic| diagnostic.is_error() || !args.quiet);
    let diagnostics: Vec<_> = diagnostics.cloned().collect();
    printer.err(&selvedge_report::diagnostic::render(&checked.source, &diagnostics, shown, &printer.err_palette()));
    match &checked.ending {
        Ending::NotRead(message) => printer.error(message),
        Ending::Misasked(error) => drop(program::refuse(error, session)),
        Ending::Answered(_)
        | Ending::Each(_)
        | Ending::Reachable(_)
        | Ending::System(_)
        | Ending::Turns(_)
        | Ending::Unsupported(_)
        | Ending::Erroneous
        | Ending::Stopped(_)
        | Ending::Internal(_) => {}
    }
    if !args.quiet {
        let detail = if args.full { Detail::Full } else { Detail::Changes };
        printer.out(&checked.block(Style { palette: printer.out_palette(), detail }));
    }
}

/// Writes the trace, if there is one and it is wanted.
fn write_trace(checked: &Checked, args: &CheckArgs, session: &Session) -> Exit {
    let (Some(path), Some(trace)) = (&args.trace_out, checked.trace(&args.question)) else { return Exit::Success };
    program::write(path, &json::to_text(&trace), session)
}

/// Writes the certificate, if there is one and it is wanted. One that is wanted and missing is told.
fn write_certificate(checked: &Checked, args: &CheckArgs, session: &Session) -> Exit {
    let Some(path) = &args.certificate else { return Exit::Success };
    match checked.certificate(&args.question) {
        Some(certificate) => program::write(path, &certificate, session),
        None => {
            session.printer.err(&format!("note: there is no certificate: {} is not written\n", path.display()));
            Exit::Success
        }
    }
}

/// Writes the page, if it is wanted. A result that has none is told.
fn write_html(checked: &Checked, args: &CheckArgs, session: &Session) -> Exit {
    let Some(path) = &args.html else { return Exit::Success };
    match checked.html() {
        Some(page) => program::write(path, &page, session),
        None => {
            session.printer.err(&format!("note: this result has no page: {} is not written\n", path.display()));
            Exit::Success
        }
    }
}

/// The summary, the last line, or the whole JSON.
fn finish(results: Vec<Told>, args: &CheckArgs, session: &Session) -> Exit {
    let exit = Exit::worst(results.iter().map(|told| told.exit));
    if args.format == Format::Json {
        let views = results.into_iter().map(|told| told.view).collect();
        session.printer.out(&json::to_text(&ReportFile::new(exit.code(), views)));
        return exit;
    }
    if args.format == Format::Sarif {
        let findings: Vec<_> = results.into_iter().flat_map(|told| told.findings).collect();
        session.printer.out(&sarif::file(&findings));
        return exit;
    }
    let worst = results.iter().find(|told| told.exit == exit);
    let mut line = worst.map_or(String::new(), |told| told.line.clone());
    if results.len() > 1 {
        let rows: Vec<text::Row> = results.into_iter().map(|told| told.row).collect();
        if !args.quiet {
            session.printer.out(&format!("\n{}", text::summary(&rows, &session.printer.out_palette())));
        }
        line = with_file(line, &rows, exit);
    }
    session.printer.out(&format!("{line}\n"));
    exit
}

/// The last line for several files: an unknown names the file that it speaks of.
fn with_file(line: String, rows: &[text::Row], exit: Exit) -> String {
    let file = rows.iter().find(|row| row.exit_code == exit.code()).map(|row| row.file.as_str());
    match (line.strip_prefix("VERIFICATION UNKNOWN ("), file) {
        (Some(reason), Some(file)) => format!("VERIFICATION UNKNOWN ({file}: {reason}"),
        _ => line,
    }
}
