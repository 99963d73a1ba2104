//! `selvedge show`: what was read, in several forms.

use selvedge_check::Task;
use selvedge_driver::abstract_model;
use selvedge_frontend::Language;
use selvedge_frontend::bp::{self, LoadOptions, dump};
use selvedge_frontend::c;
use selvedge_ir::{dot, text};
use selvedge_report::abstract_model::dot as dot_of_abstraction;
use selvedge_report::json::QuestionView;
use selvedge_report::{stats, svg, systems};

use super::language::language_of;
use super::program::{self, FileQuestion, Program, Warnings};
use super::reader;
use super::system::{is_system, load_or_refuse};
use crate::args::{Picture, ShowArgs, What};
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    if is_system(&args.input, args.input_format) {
        return show_system(args, session);
    }
    let language = language_of(&args.input, args.input_format);
    if args.what == What::Ast && language == Language::Bp {
        return show_tree(args, session);
    }
    if args.what == What::Types {
        return show_types(language, args, session);
    }
    let asked = QuestionView { entry: args.entry.clone(), ..QuestionView::default() };
    let (file, warnings) = (FileQuestion::Ignored, Warnings::Hidden);
    let subject = program::load_as(language, &args.input, &asked, file, warnings, session)?;
    let posed = subject.pose(session)?;
    let (program, target) = (&posed.program, &posed.target);
    session.printer.out(&match args.what {
        What::Ast => {
            let message = "only Boolean programs have a syntax tree to show: `show ir` shows the program";
            return Err(session.refuse(Exit::Usage, message));
        }
        What::Ir | What::Types => text::print_with_target(program, target),
        What::Stats => stats::render(program, target),
        What::AbstractModel => return show_abstract_model(&subject, &posed.task(), args, session),
        What::Cfg => match args.picture {
            Picture::Dot => dot::render(program, target),
            Picture::Svg => svg::render(program, target),
        },
    });
    Ok(Exit::Success)
}

/// The refusal of `show types`.
const TYPES: &str = "only C programs have types to show: `show ir` shows what was read";

/// The declarations of a C program, as far as it could be read; mistakes are reported beside them.
fn show_types(language: Language, args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    if language != Language::C {
        return Err(session.refuse(Exit::Usage, TYPES));
    }
    let source = program::read(&args.input, session)?;
    let file = reader::file_options(language, &args.input, &source, session);
    let options = reader::options(language, &args.input, &file, LoadOptions::default(), session);
    let (options, _) = options.map_err(|message| session.refuse(Exit::Input, message))?;
    let unit = c::read_with(source.text(), &options);
    let loaded = c::findings(&unit, source.text(), &options);
    let source = loaded.source.unwrap_or(source);
    program::print_diagnostics(&source, &loaded.diagnostics, Warnings::Hidden, session);
    session.printer.out(&c::dump::declarations(&unit));
    Ok(if unit.has_errors() { Exit::Input } else { Exit::Success })
}

/// The abstract model, which needs a solver.
fn show_abstract_model(subject: &Program, task: &Task<'_>, args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    let model = abstract_model(task, &session.run());
    let model = model.map_err(|reason| session.refuse(Exit::from(&reason), reason))?;
    session.printer.out(&match args.picture {
        Picture::Dot => dot_of_abstraction(task.program, &subject.map, &model),
        Picture::Svg => svg::render_abstract_model(task.program, &subject.map, &model),
    });
    Ok(Exit::Success)
}

/// A pushdown system has no tree, and one form of picture.
fn show_system(args: &ShowArgs, session: &Session) -> Result<Exit, Exit> {
    let refuse = |message: &str| Err(session.refuse(Exit::Usage, message));
    match (args.what, args.picture) {
        (What::Ast, _) => return refuse("pushdown systems have no syntax tree: `show ir` shows what was read"),
        (What::Cfg, Picture::Svg) => return refuse("pushdown systems are drawn for Graphviz only: --picture dot"),
        (What::AbstractModel, _) => return refuse("pushdown systems have no integers: `show cfg` draws them"),
        (What::Types, _) => return refuse(TYPES),
        _ if args.entry.is_some() => return refuse("--entry is for programs"),
        _ => {}
    }
    let (_, pds) = load_or_refuse(&args.input, Warnings::Hidden, session)?;
    session.printer.out(&match args.what {
        What::Ast | What::Ir | What::Types => selvedge_frontend::pds::print(&pds),
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
