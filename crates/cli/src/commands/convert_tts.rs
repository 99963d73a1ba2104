//! `selvedge convert` to thread-transition systems, Petri nets, and Boolean programs.
//!
//! A system or a net is written as it is read; of a Boolean program the part is written that any number of threads can
//! see.

use selvedge_check::{Initial, LocalState, SharedState, Stop, Task};
use selvedge_driver::{Pass, simplify};
use selvedge_engines::tts_extract::{Options, System, extract};
use selvedge_engines::unbounded::supports_broadcasts;
use selvedge_frontend::bp::LoadOptions;
use selvedge_frontend::{Language, System as Described, spec, tts};
use selvedge_ir::tts::{Cover, LocalId, SharedId, Start, Tts};
use selvedge_ir::{Program, Value, VarId};
use selvedge_report::names::value;

use super::language::{self, language_of};
use super::program::{self, FileQuestion, Warnings};
use crate::args::{ConvertArgs, ConvertTo, InputFormat};
use crate::exit::Exit;
use crate::outputs;
use crate::session::Session;

/// A system, with what there is to say about it.
struct Titled {
    tts: Tts,
    comments: Vec<String>,
    legend: Legend,
}

/// The meaning of the states of a system, where that is worth a comment.
#[derive(Default)]
struct Legend {
    shareds: Vec<String>,
    locals: Vec<String>,
}

impl Legend {
    /// The lines, with the numbers that the states have.
    fn lines(&self, shared: impl Fn(SharedId) -> SharedId, local: impl Fn(LocalId) -> LocalId) -> Vec<String> {
        let mut shareds: Vec<(usize, &String)> =
            self.shareds.iter().enumerate().map(|(id, what)| (shared(id.into()).index(), what)).collect();
        let mut locals: Vec<(usize, &String)> =
            self.locals.iter().enumerate().map(|(id, what)| (local(id.into()).index(), what)).collect();
        shareds.sort_unstable();
        locals.sort_unstable();
        let shareds = shareds.into_iter().map(|(number, what)| format!("shared {number}: {what}"));
        shareds.chain(locals.into_iter().map(|(number, what)| format!("local {number}: {what}"))).collect()
    }
}

/// The reason why there is no system: a sentence, and the exit code.
type Refused = (String, Exit);

pub(super) fn convert(args: &ConvertArgs, session: &Session) -> Result<Exit, Exit> {
    let language = language_of(&args.input, InputFormat::Auto);
    let titled = match language {
        Language::Tts | Language::Spec => of_system(language, args, session)?,
        Language::Bp | Language::C | Language::Pds | Language::Gcl => of_program(args, session)?,
    };
    refuse_transfers(&titled.tts, args.to).map_err(|reason| session.refuse(Exit::Unknown, reason))?;
    let write = |text: &str| outputs::write_or_print(args.output.as_ref(), text, session);
    match args.to {
        ConvertTo::Tts => write_system(&titled, args, session),
        ConvertTo::Spec => {
            let legend = titled.legend.lines(|shared| shared, |local| local);
            let comments: Vec<String> = titled.comments.into_iter().chain(legend).collect();
            Ok(write(&spec::print(&titled.tts, &comments)))
        }
        _ => Ok(write(&tts::print_as_program(&tts::plain(&titled.tts).tts, &titled.comments))),
    }
}

/// Says why a system with transfers cannot be written in a format.
fn refuse_transfers(system: &Tts, to: ConvertTo) -> Result<(), String> {
    match to {
        ConvertTo::Tts => Ok(()),
        ConvertTo::Spec if spec::can_print(system) => Ok(()),
        ConvertTo::Spec => {
            Err("in a net, threads that are transferred cannot choose where they go: use --to tts".into())
        }
        _ if !system.has_transfers() => Ok(()),
        _ => Err("the system transfers threads, which only --to tts and --to spec can express".into()),
    }
}

/// Writes a system, and its target beside it; on standard output the target is the last line.
fn write_system(titled: &Titled, args: &ConvertArgs, session: &Session) -> Result<Exit, Exit> {
    let plain = tts::plain(&titled.tts);
    let legend = titled.legend.lines(|shared| plain.shared(shared), |local| plain.local(local));
    let comments: Vec<String> = titled.comments.iter().cloned().chain(legend).collect();
    let text = tts::print_with_comments(&plain.tts, &comments);
    let target: String = plain.tts.targets.iter().map(tts::print_target).collect();
    let Some(path) = &args.output else {
        session.printer.out(&format!("{text}{target}"));
        return Ok(Exit::Success);
    };
    let beside = path.with_extension("prop");
    let written = [outputs::write(path, &text, session), outputs::write(&beside, &target, session)];
    Ok(Exit::worst(written))
}

/// The system in a file.
fn of_system(language: Language, args: &ConvertArgs, session: &Session) -> Result<Titled, Exit> {
    let read = language::read(language, &args.input, session);
    let source = read.map_err(|message| session.refuse(Exit::Input, message))?;
    let loaded = language.load(source.text(), &LoadOptions::default());
    program::print_diagnostics(&source, &loaded.diagnostics, Warnings::Shown, session);
    let Some(Described::Tts(mut tts)) = loaded.system else { return Err(Exit::Input) };
    let question = &args.question;
    let asks = question.label.is_some() || question.assertion.is_some() || !question.together.is_empty();
    if asks || question.entry.is_some() || question.threads.is_some() {
        let message = "systems are converted as they are: of the options of the question, only --initial applies";
        return Err(session.refuse(Exit::Usage, message));
    }
    if let Some(initial) = question.initial {
        tts.starts = tts.starts.iter().map(|start| with_initial(start, initial)).collect();
    }
    let mut comments = vec![format!("From {}.", source.name)];
    if language == Language::Spec {
        comments.push("Local state 0 is the driver; the places follow in their order.".to_string());
    }
    Ok(Titled { tts, comments, legend: Legend::default() })
}

fn with_initial(start: &Start, initial: Initial) -> Start {
    match initial {
        Initial::Exactly(count) => {
            Start { threads: (0..count).flat_map(|_| start.threads.clone()).collect(), ..start.clone() }
        }
        Initial::Any => Start { threads: Vec::new(), any: start.threads.clone(), ..start.clone() },
    }
}

/// The system of a program.
fn of_program(args: &ConvertArgs, session: &Session) -> Result<Titled, Exit> {
    let (subject, posed) = program::pose(&args.input, &args.question, FileQuestion::Ignored, Warnings::Shown, session)?;
    let simplified = simplify(&posed.task(), &[Pass::Inline]);
    let task = simplified.task(posed.threads);
    let name = &subject.source.name;
    let system = system(&task, args, session);
    let system = system.map_err(|(reason, exit)| session.refuse(exit, format!("{name}: {reason}")))?;
    let mut comments = vec![format!("The thread-transition system of {name}: what any number of threads can see.")];
    let legend = legend(&system, task.program);
    if !legend.shareds.is_empty() {
        comments.push("States that were added to fit the format have other numbers.".to_string());
    }
    Ok(Titled { tts: with_some_target(system.tts), comments, legend })
}

/// A system that is read again needs a target: where no error is in sight, a shared state that nothing leads to.
fn with_some_target(mut tts: Tts) -> Tts {
    if tts.targets.is_empty() {
        tts.targets.push(Cover { shared: SharedId::from_raw(tts.n_shared), threads: vec![0.into()] });
        tts.n_shared += 1;
        tts.n_local = tts.n_local.max(1);
    }
    tts
}

fn system<'p>(task: &Task<'p>, args: &ConvertArgs, session: &Session) -> Result<System<'p>, Refused> {
    if args.to == ConvertTo::Bp {
        return Err(("it is already a Boolean program".to_string(), Exit::Usage));
    }
    supports_broadcasts(task, "convert").map_err(|unsupported| (unsupported.to_string(), Exit::Unknown))?;
    let run = session.run();
    extract(task, Options::default(), &run).map_err(|stop: Stop| (stop.to_string(), Exit::from(stop)))
}

/// Returns what the states of a system are, if there are few enough to read.
fn legend(system: &System<'_>, program: &Program) -> Legend {
    const MOST: usize = 2_000;
    if system.shareds.len() + system.locals.len() > MOST {
        return Legend::default();
    }
    let binding = |var: VarId, held: bool| format!("{} = {}", program.vars[var].name, value(Value::Bool(held)));
    let shared = |shared: &SharedState| {
        let values = system.shared_vars.iter().zip(&shared.values).map(|(var, held)| binding(*var, *held));
        values.chain(shared.held.then(|| "atomic".to_string())).collect::<Vec<_>>().join(", ")
    };
    let local = |local: &LocalState| {
        let place = &system.places[local.place as usize];
        let labels = program.labels.iter().filter(|label| label.loc == place.loc).map(|label| label.name.clone());
        let values = place.vars.iter().zip(&local.values).map(|((_, var), held)| binding(*var, *held));
        let at = format!("L{}", place.loc.index());
        [at].into_iter().chain(labels).chain(values).collect::<Vec<_>>().join(", ")
    };
    Legend { shareds: system.shareds.iter().map(shared).collect(), locals: system.locals.iter().map(local).collect() }
}
