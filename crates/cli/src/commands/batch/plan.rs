//! `selvedge batch plan`: the tasks for some programs.

use std::path::Path;

use selvedge_check::{Target, open_starts};
use selvedge_engines::EngineKind;
use selvedge_frontend::Language;
use selvedge_frontend::c::Property;
use selvedge_report::json::QuestionView;
use selvedge_report::names::count;

use super::cubes::Cube;
use super::manifest::{Task, fingerprint_of, id, line};
use crate::args::{PlanArgs, Split};
use crate::commands::children::limit_words;
use crate::commands::program::{self, FileQuestion, Warnings};
use crate::commands::project::files;
use crate::commands::project::test::argument;
use crate::exit::Exit;
use crate::input::Input;
use crate::outputs;
use crate::session::Session;

pub(super) fn run(args: &PlanArgs, session: &Session) -> Result<Exit, Exit> {
    let mut paths = files::programs(&args.paths).map_err(|message| session.refuse(Exit::Input, message))?;
    let found = paths.len();
    paths.retain(|path| Language::of_path(path) != Language::Pds);
    if paths.len() < found {
        let left = count(found - paths.len(), "pushdown system");
        session.printer.err(&format!("note: {left} left out: their executions cannot be saved for `merge` to judge\n"));
    }
    let mut tasks = Vec::new();
    for path in &paths {
        let digest = fingerprint_of(path).map_err(|message| session.refuse(Exit::Input, message))?;
        for question in questions(path, args, session)? {
            for cube in cubes(path, &question, args, session)? {
                let question = QuestionView { starts: cube, ..question.clone() };
                for engine in engines(args) {
                    tasks.push(task(tasks.len(), path, &digest, &question, engine, args));
                }
            }
        }
    }
    let text: String = tasks.iter().map(|task| line(task) + "\n").collect();
    let exit = outputs::write(&args.out, &text, session);
    if exit == Exit::Success {
        let message = format!("{} for {}\n", count(tasks.len(), "task"), count(paths.len(), "program"));
        session.printer.out(&message);
    }
    Ok(exit)
}

fn engines(args: &PlanArgs) -> Vec<&'static str> {
    if !args.split.contains(&Split::Engine) {
        return vec!["auto"];
    }
    let named: Vec<&str> = args.engines.iter().map(|engine| engine.0.map_or("auto", EngineKind::name)).collect();
    if named.is_empty() { EngineKind::ALL.iter().map(|engine| engine.name()).collect() } else { named }
}

/// Returns the questions about a program: one for each bound and property.
fn questions(path: &Path, args: &PlanArgs, session: &Session) -> Result<Vec<QuestionView>, Exit> {
    let asked = args.question.view();
    let mut questions = vec![asked.clone()];
    if args.split.contains(&Split::Bound) {
        let with = |threads: &u32| QuestionView { threads: Some(*threads), ..asked.clone() };
        questions = args.bounds.iter().map(with).collect();
    }
    if !args.split.contains(&Split::Property) {
        return Ok(questions);
    }
    let parts = properties(path, &asked, session)?;
    let with = |question: &QuestionView| {
        let with_part = |part: &QuestionView| QuestionView { threads: question.threads, ..part.clone() };
        parts.iter().map(with_part).collect::<Vec<_>>()
    };
    Ok(questions.iter().flat_map(with).collect())
}

/// Returns a question for each assertion of a program, or for each property of a C program; the one that is asked if it
/// has no assertions.
fn properties(path: &Path, asked: &QuestionView, session: &Session) -> Result<Vec<QuestionView>, Exit> {
    if Language::of_path(path) == Language::C {
        let with = |property: &Property| match property {
            Property::Deadlock => QuestionView { deadlock: true, properties: Vec::new(), ..asked.clone() },
            other => QuestionView { properties: vec![other.name().to_string()], ..asked.clone() },
        };
        return Ok(Property::ALL.iter().map(with).collect());
    }
    let program = load(path, asked, session)?;
    let asserts = Target::all_asserts(&program.program).asserts;
    let mut lines: Vec<usize> = asserts.into_iter().map(|edge| program.subject().line(edge)).collect();
    lines.sort_unstable();
    lines.dedup();
    let with = |line: &usize| QuestionView { assertion: Some(line.to_string()), ..asked.clone() };
    Ok(if lines.is_empty() { vec![asked.clone()] } else { lines.iter().map(with).collect() })
}

/// Returns the parts of a question by values at the start. A program without variables that can start with any value
/// has one part.
fn cubes(path: &Path, question: &QuestionView, args: &PlanArgs, session: &Session) -> Result<Vec<Cube>, Exit> {
    if !args.split.contains(&Split::Cube) {
        return Ok(vec![question.starts.clone()]);
    }
    let program = load(path, question, session)?;
    let open = open_starts(&program.program);
    let mut names: Vec<String> = open.iter().map(|var| program.program.vars[*var].name.clone()).collect();
    let all = names.clone();
    // A variable whose name another one has cannot be told from it.
    names.retain(|name| all.iter().filter(|other| *other == name).count() == 1);
    names.retain(|name| !question.starts.iter().any(|(given, _)| given == name));
    names.truncate(args.cube_variables as usize);
    let cube = |number: u32| {
        let value = |(at, name): (usize, &String)| (name.clone(), number >> at & 1 == 1);
        question.starts.iter().cloned().chain(names.iter().enumerate().map(value)).collect()
    };
    Ok((0..1 << names.len()).map(cube).collect())
}

fn load(path: &Path, question: &QuestionView, session: &Session) -> Result<program::Program, Exit> {
    let input = Input::File(path.to_path_buf());
    program::load(&input, question, FileQuestion::Counts, Warnings::Hidden, session)
}

fn task(number: usize, path: &Path, digest: &str, question: &QuestionView, engine: &str, args: &PlanArgs) -> Task {
    let mut command: Vec<String> =
        ["selvedge", "check", "--format", "json", "--jobs", "1"].map(str::to_string).to_vec();
    if engine != "auto" {
        command.extend(["--engine".to_string(), engine.to_string()]);
    }
    command.extend(question.words());
    command.extend(limit_words(args.limits));
    command.push(argument(path));
    Task {
        id: id(number),
        file: path.to_path_buf(),
        digest: digest.to_string(),
        question: question.clone(),
        engine: engine.to_string(),
        command,
    }
}
