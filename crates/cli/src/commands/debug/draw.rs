//! What the debugger shows: the program, the values, the steps around the position, and what can be done.

use selvedge_report::names;
use selvedge_report::story::{Binding, Told};
use selvedge_report::text::{change_text, event_text};

use super::app::{App, Break};
use super::screen::{Area, Colour, Look, Screen};

const HELP: &str = "\
→ j   step                      ← k   back
n N   over calls                o O   out of the procedure
s S   next, last switch         t T   next, last step of this thread
r R   run to a stop             b     stop at a line or condition     x   no stops
v     choose a variable         c C   next, last change of it
w     watch an expression       g     go to a step
Home End   start, end           q     quit";

const HELP_BY_HAND: &str = "\n↑ ↓ Enter   choose and make a step       u   take a step back";

type Line = Vec<(String, Look)>;

/// The screen of a size. Below a least size parts of it are cut off.
pub(crate) fn draw(app: &App<'_, '_>, width: usize, height: usize) -> Screen {
    let mut screen = Screen::new(width, height);
    let foot = if app.help { 11 } else { 3 };
    let steps = height * 35 / 100;
    let body = height.saturating_sub(1 + steps + foot);
    let left = width * 58 / 100;
    let place = format!(" step {} of {}", app.at, app.session.len());
    let end = screen.text(0, 0, width, &app.session.context.source.name, Look::STRONG);
    screen.text(end, 0, width, &place, Look::PLAIN);
    let program = Area { x: 0, y: 1, width: left, height: body };
    let values = Area { x: left, y: 1, width: width - left, height: body };
    show(&mut screen, program, "program", &program_lines(app, body.saturating_sub(2)));
    show(&mut screen, values, "values", &value_lines(app));
    let (title, lines) = step_lines(app, steps.saturating_sub(2));
    show(&mut screen, Area { x: 0, y: 1 + body, width, height: steps }, title, &lines);
    show(&mut screen, Area { x: 0, y: 1 + body + steps, width, height: foot }, "", &foot_lines(app));
    screen
}

fn show(screen: &mut Screen, area: Area, title: &str, lines: &[Line]) {
    let inside = screen.frame(area, title);
    for (row, line) in lines.iter().enumerate() {
        screen.line(inside, row, line);
    }
}

/// The lines around the next statement of the thread that moves next, with a mark where each thread stands.
fn program_lines(app: &App<'_, '_>, height: usize) -> Vec<Line> {
    let session = &app.session;
    let threads = session.threads(app.at);
    let stands: Vec<(usize, u32)> =
        threads.iter().filter_map(|thread| Some((thread.frames.first()?.position?.line, thread.id.0))).collect();
    let active = session.active(app.at).map(|thread| thread.0);
    let current = stands.iter().find(|(_, id)| Some(*id) == active).map(|(line, _)| *line);
    let lines: Vec<&str> = session.context.source.text().lines().collect();
    let first = current.unwrap_or(1).saturating_sub(height / 2 + 1).min(lines.len().saturating_sub(height));
    let row = |(number, text): (usize, &&str)| {
        let line = number + 1;
        let marks: Vec<u32> = stands.iter().filter(|(at, _)| *at == line).map(|(_, id)| *id).collect();
        let stop = if app.breaks.contains(&Break::Line(line)) { "●" } else { " " };
        let numbers = marks.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let mark = if marks.is_empty() { "    ".to_string() } else { format!("{numbers:>3}▸") };
        let mark_look = marks.first().map_or(Look::PLAIN, |id| Look::of(Colour::Thread(*id)));
        let text_look = if current == Some(line) { Look::STRONG } else { Look::PLAIN };
        vec![
            (stop.to_string(), Look::of(Colour::Bad)),
            (mark, mark_look),
            (format!("{line:>4} "), Look::of(Colour::Dim)),
            ((*text).to_string(), text_look),
        ]
    };
    lines.iter().enumerate().skip(first).take(height).map(row).collect()
}

fn value_lines(app: &App<'_, '_>) -> Vec<Line> {
    let mut rows: Vec<Line> = Vec::new();
    for (text, watch) in &app.watches {
        rows.push(vec![(format!("{text} is {}", app.watched(watch)), Look::STRONG)]);
    }
    rows.extend(bindings(app, &app.session.shared(app.at), ""));
    for thread in app.session.threads(app.at) {
        let kind = thread.kind.as_ref().map_or(String::new(), |kind| format!(" ({kind})"));
        let flag = if thread.atomic { ", atomic" } else { "" };
        rows.push(vec![(format!("thread {}{kind}{flag}", thread.id.0), Look::of(Colour::Thread(thread.id.0)))]);
        rows.extend(bindings(app, &thread.vars, "  "));
        for frame in &thread.frames {
            let line = frame.position.map_or(String::new(), |at| format!(":{}", at.line));
            rows.push(vec![(format!("  {}{line}", frame.name), Look::PLAIN)]);
            rows.extend(bindings(app, &frame.locals, "    "));
        }
    }
    rows
}

/// `x = 1`, set off where the last step changed it.
fn bindings(app: &App<'_, '_>, bindings: &[Binding], indent: &str) -> Vec<Line> {
    let row = |binding: &Binding| {
        let is_new = app.session.changes(app.at, &binding.name);
        let look = if is_new { Look { strong: true, colour: Some(Colour::Change) } } else { Look::PLAIN };
        let mark = if is_new { " ←" } else { "" };
        vec![(format!("{indent}{} = {}{mark}", binding.name, names::value(binding.value)), look)]
    };
    bindings.iter().map(row).collect()
}

fn step_lines(app: &App<'_, '_>, height: usize) -> (&'static str, Vec<Line>) {
    if app.choices.is_empty() {
        let first = app.at.saturating_sub(height / 2).min((app.session.len() + 1).saturating_sub(height));
        let positions = first..=(first + height.saturating_sub(1)).min(app.session.len());
        return ("steps", positions.map(|position| step(app, position)).collect());
    }
    let first = app.cursor.saturating_sub(height / 2).min(app.choices.len().saturating_sub(height));
    let numbers = first..(first + height).min(app.choices.len());
    ("next steps", numbers.map(|number| choice(app, number)).collect())
}

fn step(app: &App<'_, '_>, position: usize) -> Line {
    let here = if position == app.at { "▸" } else { " " };
    let look = if position == app.at { Look::STRONG } else { Look::PLAIN };
    let Some(told) = app.session.told(position) else {
        return vec![(format!("{here}{position:>6}  start"), look)];
    };
    let bar = if told.atomic { "┃" } else { " " };
    let head = format!("{here}{position:>6} {:>3} {bar} ", told.thread.0);
    let text = format!("{}{}  {}", "  ".repeat(told.depth.min(8)), told.text, effects(told));
    vec![(head, Look::of(Colour::Thread(told.thread.0))), (text, look)]
}

fn effects(told: &Told) -> String {
    let events = told.events.iter().map(|event| event_text(told.thread, event));
    events.chain(told.changes.iter().map(change_text)).collect::<Vec<_>>().join(", ")
}

/// A step that can be made: who, where, what, and what it would change.
fn choice(app: &App<'_, '_>, number: usize) -> Line {
    let (step, outcome) = &app.choices[number];
    let told = app.session.preview(step, outcome);
    let here = if number == app.cursor { "▸" } else { " " };
    let look = Look { strong: number == app.cursor, colour: Some(Colour::Thread(told.thread.0)) };
    let place = format!("thread {}, line {}", told.thread.0, told.position.line);
    vec![(format!("{here} {place}: {}  {}", told.text, effects(&told)), look)]
}

fn foot_lines(app: &App<'_, '_>) -> Vec<Line> {
    let mut text = String::new();
    if app.help {
        text.push_str(HELP);
        if app.is_by_hand() {
            text.push_str(HELP_BY_HAND);
        }
        text.push('\n');
    }
    match &app.asking {
        Some((ask, typed)) => text.push_str(&format!("{}: {typed}_", ask.title())),
        None => text.push_str(&status(app)),
    }
    text.lines().map(|line| vec![(line.to_string(), Look::PLAIN)]).collect()
}

/// The error at the end, the message of the last key, and what is set.
fn status(app: &App<'_, '_>) -> String {
    let ending = app.session.ending().filter(|_| app.at == app.session.len());
    let mut parts = Vec::new();
    if let Some(ending) = ending {
        parts.push(format!("error: thread {}, line {}: {}", ending.thread.0, ending.position.line, ending.text));
    }
    parts.extend((!app.message.is_empty()).then(|| app.message.clone()));
    parts.extend(app.variable.as_ref().map(|variable| format!("variable {variable}")));
    let stops = app.breaks.iter().map(|stop| match stop {
        Break::Line(line) => format!("stop at line {line}"),
        Break::Condition(text, _) => format!("stop where {text}"),
    });
    parts.extend(stops);
    parts.join(" · ")
}
