//! `selvedge show`: what was read, in several forms.

use selvedge_check::{Limits, Question, Run, Task};
use selvedge_driver::abstract_model;
use selvedge_frontend::Language;
use selvedge_frontend::bp::{self, LoadOptions, dump};
use selvedge_ir::{dot, text};
use selvedge_report::abstract_model::dot as dot_of_abstraction;
use selvedge_report::{stats, svg, systems};

use super::language::language_of;
use super::program::{self, Program, Warnings};
use super::system::{is_system, load_or_refuse};
use crate::args::{Picture, ShowArgs, What};
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &ShowArgs, session: &Session) -> Exit {
    show(args, session).unwrap_or_else(|exit| exit)
}

fn show(args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    if is_system(&args.input, args.input_format) {
        return show_system(args, session);
    }
    let language = language_of(&args.input, args.input_format);
    if args.what == What::Ast && language == Language::Bp {
        return show_tree(args, session);
    }
    let options = LoadOptions { entry: args.entry.clone(), labels: Vec::new() };
    let subject = program::load_as(language, &args.input, &options, Warnings::Hidden, session)?;
    let posed = Question::default().pose(subject.subject());
    let (program, target, _) = posed.map_err(|error| program::refuse(&error, session))?;
    session.printer.out(&match args.what {
        What::Ast => {
            session.printer.error("only Boolean programs have a syntax tree to show: `show ir` shows the program");
            return Err(Exit::Usage);
        }
        What::Ir => text::print_with_target(&program, &target),
        What::Stats => stats::render(&program, &target),
        What::AbstractModel => return show_abstract_model(&subject, args, session),
        What::Cfg => match args.picture {
            Picture::Dot => dot::render(&program, &target),
            Picture::Svg => svg::render(&program, &target),
        },
    });
    Ok(Exit::Success)
}

/// The abstract model, which needs a solver.
fn show_abstract_model(subject: &Program, args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    let posed = Question::default().pose(subject.subject());
    let (program, target, threads) = posed.map_err(|error| program::refuse(&error, session))?;
    let run = Run::new(session.cancel.clone(), Limits::default(), &()).with_solvers(session.solvers.clone());
    let model = abstract_model(&Task { program: &program, target: &target, threads }, &run);
    match model {
        Ok(model) => {
            session.printer.out(&match args.picture {
                Picture::Dot => dot_of_abstraction(&program, &subject.map, &model),
                Picture::Svg => svg::render_abstract_model(&program, &subject.map, &model),
            });
            Ok(Exit::Success)
        }
        Err(reason) => {
            session.printer.error(&reason.to_string());
            Err(Exit::from(&reason))
        }
    }
}

/// A pushdown system has no tree, and one form of picture.
fn show_system(args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    let refuse = |message: &str| {
        session.printer.error(message);
        Err(Exit::Usage)
    };
    match (args.what, args.picture) {
        (What::Ast, _) => return refuse("pushdown systems have no syntax tree: `show ir` shows what was read"),
        (What::Cfg, Picture::Svg) => return refuse("pushdown systems are drawn for Graphviz only: --picture dot"),
        (What::AbstractModel, _) => return refuse("pushdown systems have no integers: `show cfg` draws them"),
        _ if args.entry.is_some() => return refuse("--entry is for programs"),
        _ => {}
    }
    let (_, pds) = load_or_refuse(&args.input, Warnings::Hidden, session)?;
    session.printer.out(&match args.what {
        What::Ast | What::Ir => selvedge_frontend::pds::print(&pds),
        What::Stats | What::AbstractModel => systems::stats(&pds),
        What::Cfg => systems::dot(&pds),
    });
    Ok(Exit::Success)
}

/// The tree is shown as far as it could be read; mistakes are reported beside it.
fn show_tree(args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    let source = program::read(&args.input, session)?;
    let parsed = bp::parse(source.text());
    program::print_diagnostics(&source, &parsed.diagnostics, Warnings::Hidden, session);
    session.printer.out(&dump::dump(&parsed.file));
    let is_broken = parsed.diagnostics.iter().any(|diagnostic| diagnostic.is_error());
    Ok(if is_broken { Exit::Input } else { Exit::Success })
}
