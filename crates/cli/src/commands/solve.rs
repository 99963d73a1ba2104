//! `selvedge solve`: a system of equations over the relations of a program.

use std::fmt::Write as _;

use selvedge_check::ThreadScope;
use selvedge_driver::{Pass, simplify};
use selvedge_engines::calculus::{Size, SizeReports, Solved, solve, supports};
use selvedge_frontend::fp::{self, Schedule};
use selvedge_report::Source;

use super::program::{self, FileQuestion, Warnings};
use crate::args::SolveArgs;
use crate::exit::Exit;
use crate::session::Session;

pub(crate) fn run(args: &SolveArgs, session: &Session) -> Result<Exit, Exit> {
    let written = args.rounds.map(|k| fp::system(Schedule::Rounds, k));
    let written = written.or(args.contexts.map(|k| fp::system(Schedule::Contexts, k)));
    let (equations, input) = match (&written, args.inputs.as_slice(), args.print) {
        (Some(text), [], true) => {
            session.printer.out(text);
            return Ok(Exit::Success);
        }
        (Some(text), [input], false) => (Source::new("equations", text), input),
        (None, [equations, input], false) => (program::read(equations, session)?, input),
        _ => {
            let message = "give EQUATIONS and FILE, or --rounds or --contexts and FILE, or one of them and --print";
            return Err(session.refuse(Exit::Usage, message));
        }
    };
    let loaded = fp::load(equations.text());
    program::print_diagnostics(&equations, &loaded.diagnostics, Warnings::Shown, session);
    let fixpoint = loaded.fixpoint.ok_or(Exit::Input)?;
    let (subject, posed) = program::pose(input, &args.question, FileQuestion::Ignored, Warnings::Hidden, session)?;
    if posed.target.deadlock {
        let message = "--deadlock cannot be used with equations, which define the error themselves";
        return Err(session.refuse(Exit::Usage, message));
    }
    if posed.threads != ThreadScope::Unbounded {
        let message = "--threads cannot be used with equations, which define the threads themselves";
        return Err(session.refuse(Exit::Usage, message));
    }
    let simplified = simplify(&posed.task(), &[Pass::Inline]);
    let task = simplified.task(posed.threads);
    if let Err(unsupported) = supports(&fixpoint, task.program) {
        return Err(session.refuse(Exit::Unknown, format!("{}: {unsupported}", subject.source.name)));
    }
    let conditions = session.run();
    let reports = if args.verbose { SizeReports::Rounds } else { SizeReports::End };
    match solve(&fixpoint, task.program, task.target, reports, &conditions) {
        Ok(solved) => Ok(tell(&solved, session)),
        Err(stop) => {
            session.printer.out(&format!("unknown: {stop}\n"));
            Ok(Exit::from(stop))
        }
    }
}

fn tell(solved: &Solved, session: &Session) -> Exit {
    let mut text = String::new();
    for size in solved.growth.iter().chain(&solved.sizes) {
        let when = match size.step {
            Some((layer, round)) => format!("layer {layer}, round {round}: "),
            None => String::new(),
        };
        let _ = writeln!(text, "{when}{}", line(size));
    }
    let holds = if solved.error { "holds" } else { "does not hold" };
    let _ = writeln!(text, "Error() {holds}");
    session.printer.out(&text);
    if solved.error { Exit::Unsafe } else { Exit::Success }
}

fn line(size: &Size) -> String {
    let tuples = size.tuples.map_or("very many".to_string(), |tuples| tuples.to_string());
    format!("{}: {tuples} tuples, {} nodes", size.relation, size.nodes)
}
