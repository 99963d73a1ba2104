//! A standalone C program that runs into the error of an execution of a C program.
//!
//! The text of the program is kept. Where the execution lets another thread take over, a call of `sv_turn` is added to
//! the expression at which that happens; what comes before and after the program, in C, makes threads take turns and
//! hands out inputs.
//!
//! The order of work: `schedule` brings the execution into an order in which threads take over only at sites, places
//! where the text has a point of control. Its caller executes it: an order that is no execution is refused. Then the
//! stops are computed: a thread hands its turn over when it arrives at a site for the n-th time. `edits` writes the
//! calls into the text, `library` the functions that the program declares only.

mod edits;
mod library;
mod schedule;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use selvedge_frontend::Context;
use selvedge_ir::span::{Site, Span, View};
use selvedge_ir::trace::Trace;
use selvedge_ir::{EdgeId, Expr, Op};

use edits::Edits;
use library::Library;
use schedule::Schedule;

/// The declarations before the program, and the definitions behind it.
const BEFORE: &str = include_str!("before.c");
const AFTER: &str = include_str!("after.c");

/// Returns a program that runs into the error of an execution, or a sentence that says why there is none. `executes`
/// says whether a list of choices is an execution to an error.
pub fn harness(context: Context<'_>, trace: &Trace, executes: &dyn Fn(&Trace) -> bool) -> Result<String, String> {
    if !context.map.several_steps {
        return Err("a harness can only be written for C programs".to_owned());
    }
    let trace = trace.written_out();
    if let Some(note) = trace.steps.last().and_then(|step| context.map.notes.get(&step.edge)) {
        return Err(format!("a harness can only make assertions fail, but the error is another one: {note}"));
    }
    if context.source.text().contains("thrd_create") {
        return Err("there is no harness for C11 threads, only for POSIX threads".to_owned());
    }
    let schedule = Schedule::new(context, &trace)?;
    if !executes(&schedule.trace) {
        return Err("there is no harness: a thread takes over where the source has no place for it".to_owned());
    }
    let mut edits = Edits::new(context.source.text());
    schedule.sites.iter().enumerate().for_each(|(number, site)| edits.turn(number, *site));
    reads_beside(context, &schedule.sites).into_iter().for_each(|span| edits.read(span));
    fail_at_last(context, &schedule.trace, &mut edits);
    let locals = schedule.locals(context);
    locals.iter().enumerate().for_each(|(number, local)| edits.local(number, local.name));
    let library = Library::new(context);
    let name = &context.source.name;
    let mut text = format!("// Made from {} by Selvedge. This program fails as the execution says:\n", flat(name));
    let _ = writeln!(text, "//   cc -pthread -o harness THIS.c && ./harness");
    text.push_str(BEFORE);
    let _ = writeln!(text, "#line 1 \"{}\"\n{}", flat(name), edits.write());
    let _ = writeln!(text, "#line 1 \"harness\"\n{}", library.includes());
    text.push_str(&tables(&schedule, &locals));
    text.push_str(AFTER);
    text.push_str(&library.definitions());
    Ok(text)
}

/// Returns a name that is safe in a comment and in a string.
fn flat(name: &str) -> String {
    name.replace(['"', '\\', '\n', '\r'], "_")
}

/// Returns the reads in the statements that are interrupted: C leaves open when they happen, the execution does not.
fn reads_beside(context: Context<'_>, sites: &[Site]) -> BTreeSet<Span> {
    let (program, map) = (context.program, context.map);
    let is_stop = |(_, site): &(&EdgeId, &Site)| sites.contains(site);
    let statements: BTreeSet<Span> = map.sites.iter().filter(is_stop).map(|(edge, _)| map.edges[*edge].span).collect();
    let is_read = |edge: EdgeId| match &program.edges[edge].op {
        Op::Assign(assign) => {
            matches!(assign.active.as_slice(), [(var, _)] if map.views.get(var) == Some(&View::Hidden))
        }
        _ => false,
    };
    let beside = map.sites.iter().filter(|(edge, _)| statements.contains(&map.edges[**edge].span) && is_read(**edge));
    let reads = beside.filter_map(|(_, site)| match site {
        Site::Before(span) => Some(*span),
        _ => None,
    });
    reads.collect()
}

/// Makes the last step fail for good where it is no `assert`, which does.
fn fail_at_last(context: Context<'_>, trace: &Trace, edits: &mut Edits<'_>) {
    let program = context.program;
    let Some(last) = trace.steps.last().map(|step| step.edge) else { return };
    let fails = |edge: EdgeId| program.edges[edge].op == Op::Assert(Expr::FALSE);
    // A label is reached by the step before the one that fails.
    let reached = match &program.edges[last].op {
        Op::Call(call) => program.procs[call.callee].entry,
        _ => program.edges[last].to,
    };
    let label = program.edges.indices().find(|edge| program.edges[*edge].from == reached && fails(*edge));
    match context.map.sites.get(&last) {
        Some(Site::Before(span)) if fails(last) => edits.fail(*span),
        None if fails(last) => edits.fail_at_label(context.map.edges[last].span),
        _ => label.into_iter().for_each(|edge| edits.fail_at_label(context.map.edges[edge].span)),
    }
}

/// Writes the turns, the stops, and the values that functions without a body and locals have.
fn tables(schedule: &Schedule, locals: &[schedule::Local<'_>]) -> String {
    let numbers = |numbers: &[String]| {
        let list = if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") };
        format!("{{ {list} }}")
    };
    let turns: Vec<String> = schedule.turns.iter().map(ToString::to_string).collect();
    let stop = |stop: &schedule::Stop| format!("{{ {}, {}, {} }}", stop.thread, stop.site, stop.count);
    let stops: Vec<String> = schedule.stops.iter().map(stop).collect();
    let input = |(thread, value): &(u32, i128)| format!("{{ {thread}, {} }}", constant(*value));
    let inputs: Vec<String> = schedule.inputs.iter().map(input).collect();
    let values = locals.iter().enumerate().flat_map(|(number, local)| {
        let one = move |(thread, value): &(u32, i128)| format!("{{ {thread}, {number}, {} }}", constant(*value));
        local.values.iter().map(one)
    });
    let values: Vec<String> = values.collect();
    let waking = schedule.sites.iter().position(|site| matches!(site, Site::Waking(_)));
    format!(
        "/* The threads that run, one turn after the other: main is 0, the others follow in the order of creation. */\n\
         static const int sv_turns[] = {};\nenum {{ SV_TURNS = {}, SV_SITES = {}, SV_WAKING = {} }};\n\
         /* A thread hands its turn over when it is at a site for the n-th time, counted from 0. */\n\
         static const struct {{ int thread, site, count; }} sv_stops[] = {};\nenum {{ SV_STOPS = {} }};\n\
         static const struct {{ int thread; long long value; }} sv_inputs[] = {};\nenum {{ SV_INPUTS = {} }};\n\
         static const struct {{ int thread, local; long long value; }} sv_locals[] = {};\nenum {{ SV_LOCALS = {} }};\n",
        numbers(&turns),
        turns.len(),
        schedule.sites.len().max(1),
        waking.map_or(-1, |number| number as i64),
        numbers(&stops),
        stops.len(),
        numbers(&inputs),
        inputs.len(),
        numbers(&values),
        values.len(),
    )
}

/// Returns a number of 64 bits as C writes it.
fn constant(number: i128) -> String {
    match number as i64 {
        i64::MIN => "(-9223372036854775807LL - 1)".to_owned(),
        number => format!("{number}LL"),
    }
}
