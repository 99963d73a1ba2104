//! `selvedge abstract`: guarded commands as a Boolean program over predicates.

use selvedge_check::Question;
use selvedge_engines::abstraction::{Abstraction, Predicates, abstracted};
use selvedge_engines::horn::Horn;
use selvedge_export::bp;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::gcl;
use selvedge_frontend::{Language, Source};
use selvedge_ir::{Expr, Op};

use super::program::{self, Warnings};
use crate::args::AbstractArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::session::Session;

pub(crate) fn run(args: &AbstractArgs, session: &Session) -> Result<Exit, Exit> {
    let subject = program::load_as(Language::Gcl, &args.input, &LoadOptions::default(), Warnings::Shown, session)?;
    let posed = subject.pose(&Question::default(), session)?;
    let task = posed.task();
    let refuse = |reason: String, exit: Exit| session.refuse(exit, format!("{}: {reason}", subject.source.name));
    if let Err(unsupported) = selvedge_check::Engine::supports(&Horn, &task) {
        return Err(refuse(unsupported.reason, Exit::Unknown));
    }
    let run = session.run();
    let stopped = |stop: selvedge_check::Stop| refuse(stop.to_string(), Exit::from(stop));
    let mut predicates = Predicates::of_conditions(&task).map_err(stopped)?;
    if let Some(path) = &args.predicates {
        for condition in read(&subject.source, &Input::File(path.clone()), session)? {
            predicates.add(&condition).map_err(stopped)?;
        }
    }
    let abstraction = abstracted(&task, &predicates, &run).map_err(stopped)?;
    let text = text(&subject.source.name, &abstraction);
    Ok(program::write_or_print(args.output.as_ref(), &text, session))
}

/// The predicates in a file, one per line, over the variables of a program. They are read as conditions behind it.
fn read(source: &Source, file: &Input, session: &Session) -> Result<Vec<Expr>, Exit> {
    let predicates = program::read(file, session)?;
    let lines: Vec<&str> = predicates
        .text()
        .lines()
        .map(|line| line.trim().trim_end_matches(';'))
        .filter(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#'))
        .collect();
    let behind: String = lines.iter().map(|line| format!("safe {line};\n")).collect();
    let both = Source::new(predicates.name.clone(), format!("{}\n{behind}", source.text()));
    let loaded = gcl::load(both.text());
    program::print_diagnostics(&both, &loaded.diagnostics, Warnings::Hidden, session);
    let program = loaded.program.ok_or(Exit::Input)?;
    let conditions = program.edges.iter().filter_map(|edge| match &edge.op {
        Op::Assert(condition) => Some(condition.clone()),
        _ => None,
    });
    let all: Vec<Expr> = conditions.collect();
    Ok(all[all.len().saturating_sub(lines.len())..].to_vec())
}

/// The text of an abstraction.
pub(crate) fn text(name: &str, abstraction: &Abstraction) -> String {
    let meanings = abstraction.program.vars.iter().zip(&abstraction.meanings);
    let head = [format!("The exact abstraction of {name} with these predicates:")]
        .into_iter()
        .chain(meanings.map(|(var, meaning)| format!("  {}: {meaning}", var.name)))
        .collect();
    bp::print(&abstraction.program, &bp::Notes { head, proc: &|_| None, edge: &|_| None })
}
