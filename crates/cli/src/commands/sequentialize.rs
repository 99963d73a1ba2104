//! `selvedge sequentialize`: threads that take turns as a program of one thread.

use selvedge_check::{ContextBound, takes_initial};
use selvedge_engines::contexts::{
    Options,
    threads::{fixed_threads, supports_fixed_threads},
};
use selvedge_export::sequential;
use selvedge_ir::passes::sequentialize;
use selvedge_ir::{Count, Entry, Program};

use super::program::{self, FileQuestion, Warnings};
use crate::args::SequentializeArgs;
use crate::exit::Exit;
use crate::outputs::{self, CommandFiles};
use crate::session::Session;

pub(crate) fn run(args: &SequentializeArgs, session: &Session) -> Result<Exit, Exit> {
    CommandFiles::reading([&args.input], session).writing("--output", args.output.as_ref()).check(session)?;
    let (subject, posed) = program::pose(&args.input, &args.question, FileQuestion::Ignored, Warnings::Shown, session)?;
    let refuse = |reason: String| session.refuse(Exit::Unknown, format!("{}: {reason}", subject.source.name));
    let options = Options { bound: Some(ContextBound::exactly(args.contexts)), ..Options::default() };
    let (name, task) = ("sequentialize", posed.task());
    let lists = supports_fixed_threads(&task, &options, name).and_then(|()| fixed_threads(&task, &options, name));
    let (_, lists) = lists.map_err(|unsupported| {
        let line = unsupported.edge.map(|edge| subject.source.line(subject.map.edges[edge].span.start as usize));
        refuse(line.map_or(String::new(), |line| format!("line {line}: ")) + &unsupported.reason)
    })?;
    let [list] = lists.as_slice() else {
        return Err(refuse(format!("the number of initial threads is open: {}", fixing(&posed.program))));
    };
    let reduced = sequentialize::run(&list.program, &list.target, args.contexts);
    let text = sequential::render(subject.context(&posed.program), list, &reduced, args.contexts);
    Ok(outputs::write_or_print(args.output.as_ref(), &text, session))
}

/// Returns how the number of initial threads can be fixed.
fn fixing(program: &Program) -> String {
    if takes_initial(program) {
        return "give it with --initial N".to_string();
    }
    let is_open = |entry: &&Entry| !matches!(entry.count, Count::Exactly(_));
    let open: Vec<String> = program.entries.iter().filter(is_open).map(|entry| format!("`{}`", entry.name)).collect();
    format!(
        "declare how many there are of {}, for example `process {} [2]`",
        open.join(" and "),
        open[0].trim_matches('`')
    )
}
