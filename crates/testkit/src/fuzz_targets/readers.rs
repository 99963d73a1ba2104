//! The readers: whatever the bytes are, reading ends without a panic and gives the same again; places lie inside of the
//! text; a program without errors is valid; and what is formatted or printed is read as what it was.

use selvedge_frontend::bp::{Dialect, LoadOptions};
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_frontend::{Language, Loaded, Source, System, fp as calculus, gcl as commands, load, pds as systems};
use selvedge_frontend::{spec as nets, tts as threads};
use selvedge_ir::pds::Threads;
use selvedge_ir::text;
use selvedge_ir::tts::Tts;
use selvedge_ir::validate::{validate, validate_target};
use selvedge_report::diagnostic::{Shown, render};
use selvedge_report::session::Watch;
use selvedge_report::{Palette, json};

use crate::c::texts;
use crate::harness::{Fault, fault};
use crate::texts::{check_loaded, check_same, check_spans, read_commands, read_program};

/// Returns the text in some bytes, which give the same bytes again.
fn source(name: &str, bytes: &[u8]) -> Result<Source, Fault> {
    let source = Source::from_bytes(name, bytes.to_vec());
    match source.encode(source.text()) {
        Some(encoded) if encoded == bytes => Ok(source),
        _ => fault("bytes", "the text does not give the bytes that it was read from"),
    }
}

/// Splits a text at its first empty line.
fn halves(text: &str) -> (&str, &str) {
    text.split_once("\n\n").unwrap_or((text, ""))
}

/// Boolean programs, of the dialect that their shape tells, and of ours.
pub fn bp(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("p.bp", bytes)?;
    read_program(source.text(), &LoadOptions::default())?;
    let dialect = Some(Dialect::Selvedge);
    let (ours, any) = (LoadOptions { dialect, ..LoadOptions::default() }, Language::Bp);
    check_loaded(source.text(), &any.load(source.text(), &ours))
}

/// Boolean programs of Getafix.
pub fn bp_getafix(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("p.bp", bytes)?;
    let dialect = Some(Dialect::Getafix);
    read_program(source.text(), &LoadOptions { dialect, ..LoadOptions::default() }).map(drop)
}

/// C programs.
pub fn c(bytes: &[u8]) -> Result<(), Fault> {
    texts::read(&source("p.c", bytes)?).map(drop)
}

/// Guarded commands.
pub fn gcl(bytes: &[u8]) -> Result<(), Fault> {
    read_commands(source("p.gcl", bytes)?.text())
}

/// Predicates over the variables of a program, which an empty line separates from them.
pub fn predicates(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("p.gcl", bytes)?;
    let (program, predicates) = halves(source.text());
    let (conditions, diagnostics) = commands::load_predicates(program, predicates);
    check_spans(predicates, &diagnostics)?;
    if commands::load_predicates(program, predicates) != (conditions, diagnostics) {
        return fault("twice", "the same predicates are read in two ways");
    }
    Ok(())
}

/// Loads a text twice and checks what came of it.
fn load_system(language: Language, text: &str) -> Result<Loaded, Fault> {
    let options = LoadOptions::default();
    let loaded = language.load(text, &options);
    check_spans(text, &loaded.diagnostics)?;
    check_same(&loaded, &language.load(text, &options))?;
    if loaded.has_errors() == loaded.system.is_some() {
        return fault("errors", "a system with errors has a meaning, or one without has none");
    }
    Ok(loaded)
}

/// Returns a system with the targets behind its first empty line in a file of their own.
fn with_target(whole: &Source) -> Source {
    let (system, target) = halves(whole.text());
    Source::new("s.tts", system).append(Source::new("s.prop", target))
}

/// Thread-transition systems, with targets in a file of their own behind an empty line.
pub fn tts(bytes: &[u8]) -> Result<(), Fault> {
    let source = with_target(&source("s.tts", bytes)?);
    let (text, target) = (source.text(), source.part(source.text().len()).0.text());
    let loaded = load_system(Language::Tts, text)?;
    check_loaded(text, &loaded)?;
    if let Some(found) = threads::find_other_lines(target) {
        check_spans(target, &[found])?;
    }
    let Some(tts) = loaded.tts() else { return Ok(()) };
    check_printed(tts)
}

/// Checks that a system that can be written down is read as it was printed.
fn check_printed(tts: &Tts) -> Result<(), Fault> {
    if !threads::is_plain(tts) {
        return fault("plain", "a system that was read is none that can be written");
    }
    let targets: String = tts.targets.iter().map(threads::print_target).collect();
    let printed = format!("{}{targets}", threads::print(tts));
    let again = threads::load(&printed);
    if again.tts() != Some(tts) {
        return fault("print", format!("the printed system is another one:\n{printed}"));
    }
    Ok(())
}

/// Petri nets.
pub fn spec(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("n.spec", bytes)?;
    let loaded = load_system(Language::Spec, source.text())?;
    check_loaded(source.text(), &loaded)?;
    if nets::load_net(source.text()).is_some() != loaded.diagnostics.is_empty() {
        return fault("net", "a net without diagnostics is not read, or one with diagnostics is");
    }
    let Some(tts) = loaded.tts() else { return Ok(()) };
    let printed = nets::print(tts, &[]);
    match nets::load(&printed).diagnostics.first() {
        None => Ok(()),
        Some(found) => fault("print", format!("the printed net is wrong: {}\n{printed}", found.message)),
    }
}

/// Pushdown systems of both forms; the last line is tried as a target as well.
pub fn pds(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("s.pds", bytes)?;
    let text = source.text();
    let loaded = load_system(Language::Pds, text)?;
    let last = text.lines().last().unwrap_or_default();
    match &loaded.system {
        Some(System::Pds(pds)) => {
            if let Ok(head) = systems::read_head(last, pds)
                && systems::read_head(&pds.show_head(head), pds) != Ok(head)
            {
                return fault("head", format!("{last} is printed as another target"));
            }
            let printed = systems::print(pds);
            let again = systems::load(&printed);
            let is_same = matches!(&again.system, Some(System::Pds(other)) if systems::print(other) == printed);
            if is_same { Ok(()) } else { fault("print", format!("the printed system is another one:\n{printed}")) }
        }
        Some(System::Threads(threads)) => {
            if let Err(found) = systems::read_view(last, threads) {
                check_spans(last, &found)?;
            }
            let printed = systems::print_threads(threads);
            let is_same = |again: &Threads| again.n_shared == threads.n_shared && again.threads == threads.threads;
            match systems::load(&printed).system {
                Some(System::Threads(again)) if is_same(&again) => Ok(()),
                _ => fault("print", format!("the printed threads are others:\n{printed}")),
            }
        }
        Some(System::Tts(_)) => fault("language", "a pushdown system is read as a thread-transition system"),
        None => Ok(()),
    }
}

/// Equations of the calculus.
pub fn fp(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("e.fp", bytes)?;
    let (first, second) = (calculus::load(source.text()), calculus::load(source.text()));
    check_spans(source.text(), &first.diagnostics)?;
    if (&first.fixpoint, &first.diagnostics) != (&second.fixpoint, &second.diagnostics) {
        return fault("twice", "the same equations are read in two ways");
    }
    if first.diagnostics.iter().any(Diagnostic::is_error) == first.fixpoint.is_some() {
        return fault("errors", "equations with errors have a meaning, or some without have none");
    }
    Ok(())
}

/// The textual form of programs: every valid program survives it.
pub fn ir(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("p.ir", bytes)?;
    let read = text::parse_with_target(source.text());
    if read != text::parse_with_target(source.text()) {
        return fault("twice", "the same text is read in two ways");
    }
    let (program, target) = match read {
        Ok(read) => read,
        Err(error) if (1..=source.text().lines().count().max(1)).contains(&error.line) => return Ok(()),
        Err(error) => return fault("line", format!("{error}: there is no such line")),
    };
    if validate(&program).is_err() || validate_target(&program, &target).is_err() {
        return Ok(());
    }
    let printed = text::print_with_target(&program, &target);
    match text::parse_with_target(&printed) {
        Ok(again) if again == (program, target) => Ok(()),
        Ok(_) => fault("print", format!("the printed program is another one:\n{printed}")),
        Err(error) => fault("print", format!("{error}:\n{printed}")),
    }
}

/// Expressions that the debuggers evaluate.
pub fn watch(bytes: &[u8]) -> Result<(), Fault> {
    let source = source("w", bytes)?;
    let Ok(watch) = Watch::parse(source.text()) else { return Ok(()) };
    let lookup = |name: &str| match name.len() % 3 {
        0 => None,
        1 => Some(selvedge_ir::Value::Bool(true)),
        _ => Some(selvedge_ir::Value::Int(i64::MAX)),
    };
    // Most expressions have no value; the attempt must only end.
    drop((watch.value(&lookup), watch.holds(&lookup)));
    Ok(())
}

/// What a user is shown about a text; its first byte tells the language.
pub fn diagnostics(bytes: &[u8]) -> Result<(), Fault> {
    let (first, rest) = bytes.split_first().unwrap_or((&b'b', bytes));
    let name = match first {
        b'c' => "p.c",
        b'g' => "p.gcl",
        b't' => "p.tts",
        b's' => "p.spec",
        b'p' => "p.pds",
        _ => "p.bp",
    };
    let source = source(name, rest)?;
    let source = if *first == b't' { with_target(&source) } else { source };
    let loaded = load(std::path::Path::new(name), source.text(), &LoadOptions::default());
    let shown = render(&source, &loaded.diagnostics, Shown::PerCode(3), &Palette::plain());
    if shown.is_empty() != loaded.diagnostics.is_empty() {
        return fault("shown", "diagnostics are shown as nothing, or none as something");
    }
    let listed = json::diagnostics(&source, &loaded.diagnostics);
    if listed.as_array().map(Vec::len) == Some(loaded.diagnostics.len()) {
        return Ok(());
    }
    fault("listed", format!("the list of diagnostics is another one: {listed}"))
}
