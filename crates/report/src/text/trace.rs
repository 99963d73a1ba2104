//! The trace a person reads: one line per step, and only what changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use selvedge_ir::span::Role;
use selvedge_ir::trace::ThreadId;
use selvedge_replay::{State, Thread};

use super::folds::folds;
use super::layout::{cut, equations, fill, list};
use super::result::{Detail, Style};
use crate::annotated_trace::{
    AnnotatedStep, AnnotatedTrace, Annotator, Binding, Change, Context, Ending, Event, Execution, Operand,
    ReachedError, StartedThread,
};
use crate::names::{self, count, shown};
use crate::palette::paint;
use crate::thread_names::ThreadNames;
use crate::views::{Holders, follow, is_wrapper};

/// The widest statement that is not cut, in a line of the usual width.
const MAX_STATEMENT: usize = 48;
/// The room that is left for changes at least.
const LEAST_CHANGES: usize = 24;
/// The column in which statements begin.
const STATEMENT: usize = 23;
/// The least width of the column of threads.
const LEAST_NAME: usize = 6;

/// The way in which the steps of different threads are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// As switches from one thread to another.
    Switches,
    /// As contexts of threads that take turns in the order of their numbers.
    Contexts,
    /// As rounds, in which threads take turns in the order of their numbers.
    Rounds,
}

/// An execution: its start, its steps, and its error if it ends in one. `title` says what it is.
pub fn trace(context: Context<'_>, execution: Execution<'_>, title: &str, style: Style) -> String {
    trace_in(Grouping::Switches, context, execution, title, style)
}

/// The same with other lines between the threads.
pub(super) fn trace_in(
    parts: Grouping,
    context: Context<'_>,
    execution: Execution<'_>,
    title: &str,
    style: Style,
) -> String {
    let annotated = AnnotatedTrace::by_statements(context, execution);
    let annotator = Annotator::new(context);
    let extent = if is_net(context) { count(annotated.steps.len(), "step") } else { extent(&annotated) };
    let mut text = format!("{}: {extent}\n", paint(style.palette.strong, title));
    text.push_str(&start(&annotated, style.width, has_threads(context)));
    let names = annotated.names.clone();
    let name_width = name_width(context, &annotated);
    let most = most_of_statement(style.width, (STATEMENT + name_width).saturating_sub(LEAST_NAME));
    let width = statement_width(&annotated, most);
    let page = Page { context, annotator, style, width, most, name_width, names };
    if !annotated.steps.is_empty() {
        let (thread, what) = match &context.map.system {
            None if !context.is_guarded() => ("thread", "statement"),
            None => (if annotated.n_processes() > 0 { "process" } else { "" }, "command"),
            Some(system) => (if system.net.is_some() { "" } else { "thread" }, "rule"),
        };
        let heading = format!("{:>6} {:>width$} {:>6}   {what}", "step", thread, "line", width = page.name_width);
        let _ = writeln!(text, "{}", paint(style.palette.dim, heading));
    }
    page.steps(parts, &annotated, execution, &mut text);
    if let Some(ending) = &annotated.ending {
        text.push('\n');
        page.ending(ending, &mut text);
    }
    text
}

/// Returns whether an execution is that of a Petri net, which has tokens and no threads.
fn is_net(context: Context<'_>) -> bool {
    context.map.system.as_ref().is_some_and(|system| system.net.is_some())
}

/// Returns whether the steps of an execution belong to threads, rather than to tokens or processes.
fn has_threads(context: Context<'_>) -> bool {
    !is_net(context) && !context.is_guarded()
}

fn extent(annotated: &AnnotatedTrace) -> String {
    let steps = count(annotated.steps.len(), "step");
    if annotated.n_processes() > 0 {
        let switches = count(annotated.switches(), "switch");
        return format!("{steps}, {}, {switches}", count(annotated.n_processes(), "process"));
    }
    let switches = count(annotated.switches(), "context switch");
    match (annotated.n_threads(), annotated.movers()) {
        (0 | 1, _) => steps,
        (n_threads, movers) if n_threads == movers => format!("{steps}, {n_threads} threads, {switches}"),
        (n_threads, movers) => format!("{steps}, {n_threads} threads, of which {movers} move, {switches}"),
    }
}

/// Returns how much of a statement is shown in lines of a width: all that leaves some room for changes. In wider lines
/// than usual, half of the room is for statements.
fn most_of_statement(width: usize, before: usize) -> usize {
    let room = width.saturating_sub(before + 2);
    room.saturating_sub(LEAST_CHANGES).min(MAX_STATEMENT.max(room / 2)).max(LEAST_CHANGES)
}

fn start(annotated: &AnnotatedTrace, width: usize, has_threads: bool) -> String {
    let mut text = String::new();
    if !annotated.shared.is_empty() {
        let _ = writeln!(text, "  start: {}", list(&equations(&annotated.shared), 9, width));
    }
    let mut threads: Vec<&StartedThread> = annotated.threads.iter().filter(|_| has_threads).collect();
    threads.sort_by_key(|thread| thread.entry);
    for thread in threads {
        let _ = writeln!(text, "  start: {}", newcomer(thread, 9, width));
    }
    text
}

/// `stopper#1: x = 0`.
fn newcomer(newcomer: &StartedThread, indent: usize, width: usize) -> String {
    if newcomer.bindings.is_empty() {
        return newcomer.name.clone();
    }
    format!("{}: {}", newcomer.name, list(&equations(&newcomer.bindings), indent, width))
}

fn statement_width(annotated: &AnnotatedTrace, most: usize) -> usize {
    let widths = annotated.steps.iter().map(|told| indent(told).len() + told.statement().chars().count());
    widths.max().unwrap_or(0).min(most)
}

/// Returns the width of the column of threads or processes: that of the longest name, but not more than a third of a
/// line. A step that belongs to none has no name.
fn name_width(context: Context<'_>, annotated: &AnnotatedTrace) -> usize {
    let has_threads = has_threads(context);
    let named = annotated.steps.iter().filter(|told| has_threads || told.process.is_some());
    let Some(widest) = named.map(|told| told.who().chars().count()).max() else { return 0 };
    widest.clamp(if has_threads { LEAST_NAME } else { "process".len() }, 24)
}

/// Calls move to the right, up to a limit.
fn indent(told: &AnnotatedStep) -> String {
    "  ".repeat(told.depth.min(8))
}

/// The common parts of all lines.
struct Page<'a> {
    context: Context<'a>,
    annotator: Annotator<'a>,
    style: Style,
    /// The widths of statements and of names of threads.
    width: usize,
    /// The widest statement that is not cut.
    most: usize,
    name_width: usize,
    names: ThreadNames,
}

impl Page<'_> {
    /// The column in which statements begin.
    fn indent(&self) -> usize {
        (STATEMENT + self.name_width).saturating_sub(LEAST_NAME)
    }

    /// Writes the steps.
    fn steps(&self, parts: Grouping, annotated: &AnnotatedTrace, execution: Execution<'_>, text: &mut String) {
        let first = u32::from(self.context.program.prelude.is_some());
        let mut turn = 1;
        let mut running: Option<ThreadId> = None;
        let has_processes = annotated.n_processes() > 0;
        let mut lane: Option<u32> = None;
        let mut holders = Holders::new();
        let folds = match self.style.detail {
            Detail::Changes => folds(self.context.program, annotated),
            Detail::Full => BTreeMap::new(),
        };
        if !folds.is_empty() {
            let hint = "  calls that no other thread interrupts are one line each: --full shows all steps\n";
            text.push_str(&paint(self.style.palette.dim, hint));
        }
        let mut folded_to = None;
        for (number, told) in annotated.steps.iter().enumerate() {
            if is_net(self.context) {
                // Rules of a net belong to no thread.
            } else if has_processes {
                // A step of no process is between those of processes, and nothing is said about it.
                if told.process.is_some() && lane != Some(told.lane()) {
                    self.switch(told, lane.is_some(), text);
                    lane = Some(told.lane());
                }
            } else if running != Some(told.thread) {
                // A switch to a thread of a smaller number begins the next context or round; the prelude is outside of
                // both.
                turn += u32::from(running.is_some_and(|running| running.0 >= first && told.thread < running));
                match parts {
                    Grouping::Contexts if told.thread.0 >= first => self.turn(told, "context", turn, text),
                    Grouping::Rounds if told.thread.0 >= first => self.turn(told, "round", turn, text),
                    Grouping::Contexts | Grouping::Rounds | Grouping::Switches => {
                        self.switch(told, running.is_some_and(|thread| !annotated.is_prelude(thread)), text)
                    }
                }
                running = Some(told.thread);
            }
            if folded_to.is_none_or(|last| number > last) {
                match folds.get(&number) {
                    Some(fold) => {
                        let short = AnnotatedStep { events: Vec::new(), changes: fold.changes.clone(), ..told.clone() };
                        self.step(number + 1, &short, Some(fold.last - number), text);
                        folded_to = Some(fold.last);
                    }
                    None => self.step(number + 1, told, None, text),
                }
            }
            follow(self.context.map, &mut holders, &self.names, told.thread, &told.changes);
            if let (Detail::Full, Some(state)) = (self.style.detail, execution.states.get(told.last)) {
                self.state(&holders, state, text);
            }
        }
    }

    /// A line between the steps of two threads, and before the first step.
    fn switch(&self, told: &AnnotatedStep, is_switch: bool, text: &mut String) {
        let what = if is_switch { "switch to " } else { "" };
        let line = format!("────── {what}{} ──────", told.who());
        let _ = writeln!(text, "{:>7}{}", "", paint(self.style.palette.thread(told.lane()), line));
    }

    /// A line before the steps of a thread in one of its contexts, or in a round.
    fn turn(&self, told: &AnnotatedStep, what: &str, turn: u32, text: &mut String) {
        let line = format!("────── {}, {what} {turn} ──────", told.name);
        let _ = writeln!(text, "{:>7}{}", "", paint(self.style.palette.thread(told.thread.0), line));
    }

    /// Writes the line of a step; for a folded call with the number of its steps.
    fn step(&self, number: usize, told: &AnnotatedStep, folded: Option<usize>, text: &mut String) {
        let palette = &self.style.palette;
        let bar = if told.atomic { "┃" } else { " " };
        let is_named = has_threads(self.context) || told.process.is_some();
        let name = if is_named { cut(told.who(), self.name_width) } else { String::new() };
        let thread = paint(palette.thread(told.lane()), format!("{name:>width$}", width = self.name_width));
        let line = paint(palette.dim, format!("{:>6}", told.position.line));
        let statement = cut(&format!("{}{}", indent(told), told.statement()), self.most);
        let shown = if told.idle { paint(palette.dim, &statement) } else { statement.clone() };
        let effects = self.effects(told, folded);
        let gap = if effects.is_empty() { String::new() } else { fill(&statement, self.width) + "  " };
        let _ = writeln!(text, "{number:>6} {thread} {line} {bar} {shown}{gap}{effects}");
    }

    fn effects(&self, told: &AnnotatedStep, folded: Option<usize>) -> String {
        let palette = &self.style.palette;
        let folded = folded.map(|n_steps| paint(palette.dim, format!("… {}", count(n_steps, "step"))));
        let mut parts: Vec<String> = folded.into_iter().collect();
        parts.extend(told.events.iter().map(|event| self.event(told, event)));
        parts.extend(note(told.role).map(str::to_string));
        parts.extend(told.changes.iter().map(|change| paint(palette.change, change_text(change))));
        list(&parts, self.indent() + 2 + self.width, self.style.width)
    }

    fn event(&self, told: &AnnotatedStep, event: &Event) -> String {
        let palette = &self.style.palette;
        match event {
            Event::Starts(thread) => {
                let what = format!("starts {}", newcomer(thread, self.indent(), self.style.width));
                paint(palette.thread(thread.thread.0), what)
            }
            Event::AssertionFails => paint(palette.bad, "fails"),
            event => event_text(&told.name, event),
        }
    }

    /// The whole state after a step.
    fn state(&self, holders: &Holders, state: &State, text: &mut String) {
        let mut lines = Vec::new();
        let shared = equations(&self.annotator.shared(holders, state));
        if !shared.is_empty() {
            lines.push(format!("shared: {}", list(&shared, self.indent() + 2, self.style.width)));
        }
        lines.extend(state.threads.iter().map(|thread| self.thread(state, thread)));
        if state.threads.is_empty() {
            lines.push("no thread is left".to_string());
        }
        for line in lines {
            let _ = writeln!(text, "{:1$}{2}", "", self.indent(), paint(self.style.palette.dim, format!("| {line}")));
        }
    }

    /// Writes one thread of a state: its position, its stack from the first frame on, and its variables.
    fn thread(&self, state: &State, thread: &Thread) -> String {
        let shown = thread.stack.iter().filter(|frame| !is_wrapper(self.context.map, frame.proc));
        let frames = shown.map(|frame| {
            let place = self.annotator.place(frame.loc);
            let line = place.map(|span| format!(":{}", self.context.source.line(span.start as usize)));
            let locals = equations(&self.annotator.locals(frame)).join(", ");
            let line = line.unwrap_or_default();
            let name = self.annotator.proc_name(frame.proc);
            if locals.is_empty() { format!("{name}{line}") } else { format!("{name}{line}({locals})") }
        });
        let frames = frames.collect::<Vec<_>>().join(" > ");
        let vars = equations(&self.annotator.thread_vars(thread)).join(", ");
        let vars = if vars.is_empty() { vars } else { format!(" with {vars}") };
        let flag = if state.holder == Some(thread.id) { " [atomic]" } else { "" };
        format!("{}: {frames}{vars}{flag}", self.names.of(thread.id))
    }

    fn ending(&self, ending: &Ending, text: &mut String) {
        let palette = &self.style.palette;
        let place = self.context.source.place(ending.span.start as usize);
        let who = ending.callee.as_ref().map_or(ending.name.clone(), |callee| format!("{} in {callee}", ending.name));
        let who = if self.context.is_guarded() { String::new() } else { format!(", {who}") };
        match &ending.error {
            ReachedError::Assertion { operands, .. } => {
                let what = ending.note.as_deref().unwrap_or("assertion fails");
                let _ = writeln!(text, "{}: {place}{who}", paint(palette.bad, what));
                let _ = writeln!(text, "    {}", ending.text);
                let values: Vec<String> = operands.iter().map(Operand::text).collect();
                if !values.is_empty() {
                    let _ = writeln!(text, "    with {}", paint(palette.change, list(&values, 9, self.style.width)));
                }
            }
            ReachedError::Location { labels } => {
                let what = format!("label {} is reached", labels.join(", "));
                let _ = writeln!(text, "{}: {place}{who}", paint(palette.bad, what));
                let _ = writeln!(text, "    {}", ending.text);
            }
            ReachedError::Target { states } => {
                let _ = writeln!(text, "{}: {place}", paint(palette.bad, "the target is covered"));
                let _ = writeln!(text, "    {}", ending.text);
                let values: Vec<String> = states.iter().map(Operand::text).collect();
                let _ = writeln!(text, "    with {}", paint(palette.change, list(&values, 9, self.style.width)));
            }
            ReachedError::Together(stands) => {
                let what = format!("{} meet", count(stands.len(), "thread"));
                let _ = writeln!(text, "{}: {}", paint(palette.bad, what), self.context.source.name);
                for stand in stands {
                    let (labels, line) = (stand.labels.join(", "), stand.position.line);
                    let _ = writeln!(text, "    {} at {labels}, line {line}", stand.name);
                }
            }
            ReachedError::Deadlock(waits) => {
                let name = &self.context.source.name;
                let _ = writeln!(text, "{}: {name}, no thread can move", paint(palette.bad, "deadlock"));
                for wait in waits {
                    let _ = writeln!(text, "    {}", wait.sentence());
                }
            }
        }
    }
}

/// Returns what a step of a thread with this name did, in plain words.
pub fn event_text(name: &str, event: &Event) -> String {
    match event {
        Event::Condition(true) => "holds".to_string(),
        Event::Condition(false) => "does not hold".to_string(),
        Event::Calls { proc, params, locals } => {
            let call = format!("calls {proc}({})", equations(params).join(", "));
            let locals = equations(locals);
            if locals.is_empty() { call } else { format!("{call} with {}", locals.join(", ")) }
        }
        Event::WholeCall(proc) => format!("runs {proc} through its return"),
        Event::Returns(proc) => format!("returns from {proc}"),
        Event::Starts(thread) => {
            let bindings = equations(&thread.bindings);
            let with = if bindings.is_empty() { String::new() } else { format!(": {}", bindings.join(", ")) };
            format!("starts {}{with}", thread.name)
        }
        Event::NoRoom => "starts no thread: the limit on threads is reached".to_string(),
        Event::Ends => format!("{name} ends"),
        Event::AssertionFails => "fails".to_string(),
        Event::Reads(read) => format!("reads {}", equations(read).join(", ")),
        Event::Keeps(kept) => {
            let stays = |one: &Binding| format!("{} stays {}", one.name, shown(one.value, one.word.as_ref()));
            kept.iter().map(stays).collect::<Vec<_>>().join(", ")
        }
        Event::Input { function, free: true, .. } => format!("{function}() returned *"),
        Event::Input { function, value, free: false } => format!("{function}() returned {}", names::value(*value)),
    }
}

/// Returns what a statement's text does not say about the step.
fn note(role: Role) -> Option<&'static str> {
    match role {
        Role::Enforce => Some("enforced"),
        Role::Statement
        | Role::Holds
        | Role::Fails
        | Role::Initialise
        | Role::FallOff
        | Role::Section
        | Role::Violation => None,
    }
}

/// `x: 0 → 1`.
pub fn change_text(change: &Change) -> String {
    let whose = change.of.as_ref().map_or(String::new(), |(_, name)| format!("{name}'s "));
    let [word_before, word_after] = &change.words;
    let after = if change.free { "*".to_string() } else { shown(change.after, word_after.as_ref()) };
    match change.before {
        Some(before) => format!("{whose}{}: {} → {after}", change.name, shown(before, word_before.as_ref())),
        None => format!("{whose}{} = {after}", change.name),
    }
}
