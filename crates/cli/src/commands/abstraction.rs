//! `selvedge abstract`: guarded commands as a Boolean program over predicates.

use selvedge_engines::abstraction::{Abstraction, Predicates, abstracted};
use selvedge_engines::horn::Horn;
use selvedge_engines::unbounded::predicates::Iteration;
use selvedge_export::bp;
use selvedge_frontend::diagnostic::Diagnostic;
use selvedge_frontend::gcl;
use selvedge_frontend::{Language, Source};
use selvedge_ir::Expr;
use selvedge_ir::text::{self, Names};
use selvedge_report::json::QuestionView;

use super::program::{self, FileQuestion, Warnings};
use crate::args::AbstractArgs;
use crate::exit::Exit;
use crate::input::Input;
use crate::outputs::{self, CommandFiles};
use crate::session::Session;

pub(crate) fn run(args: &AbstractArgs, session: &Session) -> Result<Exit, Exit> {
    let predicates = args.predicates.clone().map(Input::File);
    let files = CommandFiles::reading([&args.input].into_iter().chain(&predicates), session);
    files.writing("--output", args.output.as_ref()).check(session)?;
    let (asked, file) = (QuestionView::default(), FileQuestion::Ignored);
    let subject = program::load_as(Language::Gcl, &args.input, &asked, file, Warnings::Shown, session)?;
    let posed = subject.pose(session)?;
    let task = posed.task();
    let refuse = |reason: String, exit: Exit| session.refuse(exit, format!("{}: {reason}", subject.source.name));
    if let Err(unsupported) = selvedge_check::Engine::supports(&Horn, &task) {
        return Err(refuse(unsupported.reason, Exit::Unknown));
    }
    let run = session.run();
    let stopped = |stop: selvedge_check::Stop| refuse(stop.to_string(), Exit::from(stop));
    // The file is read first: a mistake in it is told before the work begins.
    let added = predicates.map(|file| read(&subject.source, &file, session)).transpose()?.unwrap_or_default();
    let mut predicates = Predicates::of_conditions(&task).map_err(stopped)?;
    for condition in added {
        predicates.add(&condition).map_err(stopped)?;
    }
    let abstraction = abstracted(&task, &predicates, &run).map_err(stopped)?;
    let text = self::text(&subject.source.name, &abstraction);
    Ok(outputs::write_or_print(args.output.as_ref(), &text, session))
}

/// The predicates in a file, one per line, over the variables of a program.
fn read(source: &Source, file: &Input, session: &Session) -> Result<Vec<Expr>, Exit> {
    let predicates = program::read(file, session)?;
    let (conditions, diagnostics) = gcl::load_predicates(source.text(), predicates.text());
    program::print_diagnostics(&predicates, &diagnostics, Warnings::Hidden, session);
    if diagnostics.iter().any(Diagnostic::is_error) { Err(Exit::Input) } else { Ok(conditions) }
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

/// The text of an iteration: the predicates, the steps of the error that the Boolean program has, and that program.
pub(crate) fn iteration_text(iteration: &Iteration<'_>) -> String {
    let Iteration { program, boolean, .. } = iteration;
    let names = Names::unique(program);
    let mut head = vec!["The abstraction of the program with these predicates:".to_owned()];
    let meanings = boolean.vars.iter().zip(iteration.predicates);
    head.extend(meanings.map(|(var, predicate)| format!("  {}: {}", var.name, text::expr_with(&names, predicate))));
    if iteration.steps.is_empty() {
        head.push("It has no error.".to_owned());
    } else if iteration.core.is_empty() {
        head.push("The program can execute its error:".to_owned());
    } else {
        head.push("Its error, of which the program cannot execute the steps with a star together:".to_owned());
    }
    for (number, (thread, edge)) in iteration.steps.iter().enumerate() {
        let mark = if iteration.core.contains(&number) { "*" } else { " " };
        let step = text::op_with(&names, &program.edges[*edge].op);
        head.push(format!("{mark} thread {thread}, step {}: {step}", edge.index()));
    }
    let head: String = head.iter().map(|line| format!("// {line}\n")).collect();
    format!("{head}\n{}", text::print(boolean))
}
