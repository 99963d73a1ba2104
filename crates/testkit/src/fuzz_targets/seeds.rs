//! Seeds of the targets: inputs that fuzzing begins with, made from our own programs, and the files in `fuzz/seeds/`,
//! which are written by hand or were found by fuzzing.

use std::path::Path;

use selvedge_check::{Certificate, Outcome, Run};
use selvedge_driver::{Options, check};
use selvedge_engines::control_flow;
use selvedge_frontend::bp::{LoadOptions, load};
use selvedge_frontend::codes::Code;
use selvedge_frontend::fp::{Schedule, system};
use selvedge_frontend::{pds, spec, tts};
use selvedge_ir::{Target, text};
use selvedge_report::json::{CertificateFile, QuestionView, SystemCertificateFile, TraceFile};
use serde_json::{Value, json};

use super::programs::{PROGRAMS, SYSTEMS, Subjected};
use crate::c;
use crate::corpus::{files, own, read, root};
use crate::coverability;
use crate::differ::item;
use crate::evidence::pieces;
use crate::integers::generate;
use crate::rng::Rng;
use crate::systems;

/// The longest seed, in bytes: long ones are slow and teach little.
const LONGEST: usize = 4_000;

/// The number of generated programs or systems of each kind.
const GENERATED: u64 = 20;

/// Returns the seeds of a target: those of its language, and the files in its folder. An error is a sentence that
/// names a file.
pub fn seeds(target: &str) -> Result<Vec<Vec<u8>>, String> {
    let texts = match target {
        "bp" | "bp_getafix" => programs()?,
        "c" => c_programs()?,
        "gcl" => commands()?,
        "predicates" => commands()?.iter().map(|text| with_predicates(text)).collect(),
        "tts" => transition_systems()?,
        "spec" => nets()?,
        "pds" => pushdown_systems()?,
        "fp" => equations()?,
        "ir" => representations()?,
        "diagnostics" => mistakes()?,
        "certificate" | "trace" => evidence(target),
        "system_certificate" => vec![system_certificate()],
        _ => Vec::new(),
    };
    let mut seeds: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    for path in files(&root().join("fuzz/seeds").join(target), "txt") {
        seeds.push(std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?);
    }
    seeds.retain(|seed| seed.len() <= LONGEST);
    Ok(seeds)
}

/// Reads all files with an ending in some folders of the repository.
fn texts(folders: &[&str], ending: &str) -> Result<Vec<String>, String> {
    let paths = folders.iter().flat_map(|folder| files(&root().join(folder), ending));
    paths.map(|path| read(&path)).collect()
}

fn programs() -> Result<Vec<String>, String> {
    let generated = (0..GENERATED).map(|number| item(1, number).to_string());
    Ok(own()?.into_iter().map(|entry| entry.text).chain(generated).collect())
}

/// Our own C programs, generated ones, and the mistakes that explanations show.
fn c_programs() -> Result<Vec<String>, String> {
    let mistakes = Code::ALL.iter().filter(|code| code.is_about_c()).filter_map(|code| incorrect(*code));
    Ok(c::texts::sources()?.into_iter().chain(mistakes.map(str::to_owned)).collect())
}

/// Returns the example of a mistake.
fn incorrect(code: Code) -> Option<&'static str> {
    let (_, wrong) = code.explain().split_once("\nIncorrect:\n\n")?;
    wrong.split_once("\nCorrect:\n\n").map(|(wrong, _)| wrong)
}

fn commands() -> Result<Vec<String>, String> {
    let generated = (0..GENERATED).map(|number| generate::program(1, number));
    Ok(texts(&["examples", "tests/programs"], "gcl")?.into_iter().chain(generated).collect())
}

/// Returns a program without empty lines, with an empty line and predicates behind it.
fn with_predicates(program: &str) -> String {
    let lines: Vec<&str> = program.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("{}\n\nx <= y + 1\nx == 2 * y | !(b < 3); p1 at critical\n", lines.join("\n"))
}

/// The systems in files, each with the targets beside it, and generated ones.
fn transition_systems() -> Result<Vec<String>, String> {
    let folders = ["examples", "crates/cli/tests/programs"];
    let paths = folders.iter().flat_map(|folder| files(&root().join(folder), "tts"));
    let with_target =
        |path: &Path| Ok(format!("{}\n{}", read(path)?, read(&path.with_extension("prop")).unwrap_or_default()));
    let written: Vec<String> = paths.map(|path| with_target(&path)).collect::<Result<_, String>>()?;
    let generated = (0..GENERATED).map(|number| {
        let plain = tts::plain(&coverability::random(&mut Rng::for_item(1, number))).tts;
        let targets: String = plain.targets.iter().map(tts::print_target).collect();
        format!("{}\n{targets}", tts::print(&plain))
    });
    Ok(written.into_iter().chain(generated).collect())
}

fn nets() -> Result<Vec<String>, String> {
    let generated = (0..GENERATED).map(|number| spec::print(&coverability::random(&mut Rng::for_item(1, number)), &[]));
    Ok(texts(&["crates/cli/tests/programs"], "spec")?.into_iter().chain(generated).collect())
}

fn pushdown_systems() -> Result<Vec<String>, String> {
    let generated = (0..GENERATED).map(|number| pds::print(&systems::random(&mut Rng::for_item(1, number))));
    Ok(texts(&["crates/cli/tests/programs"], "pds")?.into_iter().chain(generated).collect())
}

fn equations() -> Result<Vec<String>, String> {
    let written = [Schedule::Rounds, Schedule::Contexts].map(|schedule| system(schedule, 1));
    Ok(texts(&["calculus"], "fp")?.into_iter().chain(written).collect())
}

/// The programs in their textual form.
fn representations() -> Result<Vec<String>, String> {
    let lowered = programs()?.into_iter().filter_map(|text| load(&text, &LoadOptions::default()).program);
    let asserts = |program: &selvedge_ir::Program| Target {
        asserts: program.edges.indices().take(1).collect(),
        ..Target::default()
    };
    Ok(lowered.map(|program| text::print_with_target(&program, &asserts(&program))).collect())
}

/// The mistakes that explanations show, and programs of all languages, each behind the letter of its language.
fn mistakes() -> Result<Vec<String>, String> {
    let letter = |code: Code| match code {
        code if code.is_about_commands() => 'g',
        code if code.is_about_c() => 'c',
        _ => 'b',
    };
    let explained = Code::ALL.iter().filter_map(|code| Some(format!("{}{}", letter(*code), incorrect(*code)?)));
    let mut found: Vec<String> = explained.collect();
    for (letter, texts) in [('t', transition_systems()?), ('s', nets()?), ('p', pushdown_systems()?)] {
        found.extend(texts.into_iter().take(5).map(|text| format!("{letter}{text}")));
    }
    Ok(found)
}

/// What engines say about the programs: certificates, or traces.
fn evidence(target: &str) -> Vec<String> {
    let mut found = Vec::new();
    for subject in PROGRAMS.iter().filter(|subject| subject.is_safe == (target == "certificate")) {
        if subject.file.ends_with(".bp") {
            let pieces = pieces(&subject.posed, &subject.question);
            found.extend(pieces.into_iter().map(|(_, piece)| piece.to_string()));
            found.extend(
                control_flow::certificate(&subject.posed.task()).map(|locs| written(subject, &locs).to_string()),
            );
        } else if target == "trace" {
            found.extend(trace_of(subject));
        } else {
            found.push(integers(subject));
        }
    }
    found
}

/// Returns an execution of an unsafe program to its error, as JSON; `None` if no engine finds one without solvers.
pub(super) fn trace_of(subject: &Subjected) -> Option<String> {
    let options = Options { question: subject.question.clone(), ..Options::default() };
    let answer = check(subject.posed.subject(), &options, &Run::unlimited()).ok()?;
    let Outcome::Unsafe(found) = answer.outcome else { return None };
    let file = TraceFile::new(subject.context(), QuestionView::new(&subject.question, None), &found);
    serde_json::to_string(&file).ok()
}

fn written(subject: &Subjected, certificate: &Certificate) -> Value {
    let file = CertificateFile::new(subject.context(), QuestionView::new(&subject.question, None), certificate);
    serde_json::to_value(file).expect("certificates are JSON")
}

/// A certificate about integers, whose formulas are those of solvers.
fn integers(subject: &Subjected) -> String {
    let mut file = written(subject, &Certificate::ControlFlow(Vec::new()));
    file["proof"] = json!({
        "kind": "integers",
        "variables": [{ "number": 0, "variable": "x", "procedure": null }],
        "control": [],
        "points": [{ "location": 1, "values": [], "formula": "(and (<= |x| 5) (not (= 0 (+ |x| (* 2 1)))))" }],
    });
    file.to_string()
}

fn system_certificate() -> String {
    use selvedge_engines::pushdown::{Direction, SystemVerdict, check};
    let (source, pds) = &SYSTEMS[0];
    match check(pds, Direction::Forward, &Run::unlimited()) {
        Ok(SystemVerdict::Unreachable(proof)) => SystemCertificateFile::new(source, pds, &proof).text(),
        _ => panic!("the first system is safe"),
    }
}
