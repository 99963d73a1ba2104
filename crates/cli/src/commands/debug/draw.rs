//! The screen of the debugger: the program, the values, the steps around the position, and the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};
use selvedge_frontend::visible::visible;
use selvedge_ir::trace::ThreadId;
use selvedge_report::annotated_trace::{AnnotatedStep, Binding, ReachedError};
use selvedge_report::names;
use selvedge_report::session::ThreadSight;
use selvedge_report::text::{change_text, event_text};
use selvedge_report::waits::Wait;

use super::app::{App, Break};

const HELP: &str = "\
→ j   step                    ← k   back
n N   over calls              o O   out of the procedure
s S   next, previous switch   t T   next, previous step of this thread
r R   run to a stop           b     stop at a line or condition
v     choose a variable       c C   next, previous change of it
w     watch an expression     g     go to a step
x X   remove one stop, all    W     remove a watch
/     find a text             f F   find it again, backwards
Home End   start, end         PgUp PgDn   move the values
?     close these lines       q     quit";

const HELP_BY_HAND: &str = "\n↑ ↓ Enter   choose, make a step   u   take a step back";

/// The most columns for the names of threads beside the program.
const MARGIN: usize = 12;

/// Threads have colours by their numbers.
const THREADS: [Color; 5] = [Color::Cyan, Color::Magenta, Color::Blue, Color::Green, Color::Yellow];
const DIM: Style = Style::new().fg(Color::DarkGray);
const BAD: Style = Style::new().fg(Color::Red);
const CHANGE: Style = Style::new().fg(Color::Yellow);

fn of_thread(thread: u32) -> Style {
    Style::new().fg(THREADS[thread as usize % THREADS.len()])
}

/// Draws everything. On a very small screen parts of it are cut off.
pub(crate) fn draw(app: &App<'_, '_>, frame: &mut Frame<'_>) {
    let steps = frame.area().height * 35 / 100;
    let rows = [Constraint::Length(1), Constraint::Fill(1), Constraint::Length(steps), Constraint::Length(3)];
    let [head, body, steps, foot] = Layout::vertical(rows).areas(frame.area());
    let columns = [Constraint::Percentage(58), Constraint::Percentage(42)];
    let [program, values] = Layout::horizontal(columns).areas(body);
    frame.render_widget(title(app), head);
    show(frame, program, "program", program_lines(app, inside(program)));
    let (name, lines) = value_lines(app, inside(values));
    show(frame, values, &name, lines);
    let (name, lines) = step_lines(app, inside(steps));
    show(frame, steps, &name, lines);
    show(frame, foot, "", vec![foot_line(app)]);
    if app.help {
        show_help(app, frame);
    }
}

/// The number of rows within a frame.
fn inside(area: Rect) -> usize {
    usize::from(area.height.saturating_sub(2))
}

fn show(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'_>>) {
    let block = Block::bordered().title(title.to_string()).border_style(DIM);
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn show_help(app: &App<'_, '_>, frame: &mut Frame<'_>) {
    let text = format!("{HELP}{}", if app.is_by_hand() { HELP_BY_HAND } else { "" });
    let width = text.lines().map(|line| line.chars().count()).max().unwrap_or(0) + 4;
    let height = text.lines().count() + 2;
    let length = |wanted: usize| Constraint::Length(u16::try_from(wanted).unwrap_or(u16::MAX));
    let area = frame.area().centered(length(width), length(height));
    frame.render_widget(Clear, area);
    let lines = text.lines().map(|line| Line::from(format!(" {line}"))).collect();
    show(frame, area, "keys", lines);
}

fn title(app: &App<'_, '_>) -> Line<'static> {
    let place = format!("  step {} of {}", app.at, app.session.len());
    Line::from(vec![app.session.context.source.name.clone().bold(), place.into()])
}

/// The lines around the next statement of the thread that moves next, with a mark at the position of each thread.
fn program_lines(app: &App<'_, '_>, height: usize) -> Vec<Line<'static>> {
    let session = &app.session;
    let threads = session.threads(app.at);
    let line = |thread: &ThreadSight| Some((thread.frames.first()?.position?.line, thread.id.0));
    let stands: Vec<(usize, u32)> = threads.iter().filter_map(line).collect();
    let width = session.names().all().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
    let width = (width + 2).min(MARGIN);
    let active = session.active(app.at).map(|thread| thread.0);
    let current = stands.iter().find(|(_, id)| Some(*id) == active).map(|(line, _)| *line);
    let lines: Vec<&str> = session.context.source.text().lines().collect();
    let first = current.unwrap_or(1).saturating_sub(height / 2 + 1).min(lines.len().saturating_sub(height));
    let row = |(number, text): (usize, &&str)| {
        let line = number + 1;
        let marks: Vec<u32> = stands.iter().filter(|(at, _)| *at == line).map(|(_, id)| *id).collect();
        let names: Vec<String> = marks.iter().map(|id| session.names().of(ThreadId(*id))).collect();
        let moves = active.is_some_and(|active| marks.contains(&active));
        let stop = if app.breaks.contains(&Break::Line(line)) { "●" } else { " " };
        let look = if current == Some(line) { Style::new().bold() } else { Style::new() };
        Line::from(vec![
            Span::styled(stop, BAD),
            Span::styled(mark(&names, moves, width), marks.first().map_or(Style::new(), |id| of_thread(*id))),
            Span::styled(format!("{line:>4} "), DIM),
            Span::styled(visible(text).into_owned(), look),
        ])
    };
    lines.iter().enumerate().skip(first).take(height).map(row).collect()
}

/// The threads at a line, in so many columns, with an arrow where one of them moves next.
fn mark(names: &[String], moves: bool, width: usize) -> String {
    let mut text = joined(names);
    if text.chars().count() > width {
        text = text.chars().take(width - 1).chain(['…']).collect();
    }
    let arrow = if moves { "▸" } else { " " };
    format!("{text:>width$}{arrow}")
}

/// The names with commas between them; those that differ in their numbers share the rest: `worker#1,2`.
fn joined(names: &[String]) -> String {
    let kind = |name: &String| name.rsplit_once('#').map(|(kind, _)| kind.to_string());
    let mut text = names.first().cloned().unwrap_or_default();
    for pair in names.windows(2) {
        let short = kind(&pair[0]).is_some_and(|first| kind(&pair[1]) == Some(first));
        let next = if short { pair[1].rsplit('#').next() } else { Some(pair[1].as_str()) };
        text = format!("{text},{}", next.unwrap_or_default());
    }
    text
}

/// The values that fit, from the row on that the user moved to; the title says whether there are more.
fn value_lines(app: &App<'_, '_>, height: usize) -> (String, Vec<Line<'static>>) {
    let rows = all_values(app);
    let first = app.scroll.min(rows.len().saturating_sub(height));
    let below = rows.len().saturating_sub(first + height);
    let title = match (first, below) {
        (0, 0) => "values".to_string(),
        (_, 0) => "values ▲".to_string(),
        (0, _) => format!("values ▼ {below} more"),
        _ => format!("values ▲▼ {below} more"),
    };
    (title, rows.into_iter().skip(first).take(height).collect())
}

fn all_values(app: &App<'_, '_>) -> Vec<Line<'static>> {
    let mut rows = failing_parts(app);
    for (text, watch) in &app.watches {
        rows.push(Line::from(format!("{text} is {}", app.watched(watch)).bold()));
    }
    rows.extend(bindings(app, &app.session.shared(app.at), ""));
    for thread in app.session.threads(app.at) {
        let flag = if thread.atomic { ", atomic" } else { "" };
        rows.push(Line::styled(format!("{}{flag}", thread.name), of_thread(thread.id.0)));
        rows.extend(bindings(app, &thread.vars, "  "));
        for frame in &thread.frames {
            let line = frame.position.map_or(String::new(), |at| format!(":{}", at.line));
            rows.push(Line::from(format!("  {}{line}", frame.name)));
            rows.extend(bindings(app, &frame.locals, "    "));
        }
    }
    rows
}

/// At the end: the values of the parts of the assertion that fails.
fn failing_parts(app: &App<'_, '_>) -> Vec<Line<'static>> {
    let at_end = app.at == app.session.len();
    let edge = app.session.ending().filter(|_| at_end).and(app.session.step(app.at)).map(|step| step.edge);
    let parts = edge.map(|edge| app.session.parts(edge)).unwrap_or_default();
    parts.into_iter().map(|(part, value)| Line::styled(format!("{part} is {value}"), BAD)).collect()
}

/// `x = 1`, set off where the last step changed it.
fn bindings(app: &App<'_, '_>, bindings: &[Binding], indent: &str) -> Vec<Line<'static>> {
    let row = |binding: &Binding| {
        let is_new = app.session.changes(app.at, &binding.name);
        let (look, mark) = if is_new { (CHANGE.bold(), " ←") } else { (Style::new(), "") };
        let value = binding.word.clone().unwrap_or_else(|| names::value(binding.value));
        Line::styled(format!("{indent}{} = {value}{mark}", binding.name), look)
    };
    bindings.iter().map(row).collect()
}

fn step_lines(app: &App<'_, '_>, height: usize) -> (String, Vec<Line<'static>>) {
    if app.choices.is_empty() {
        let first = app.at.saturating_sub(height / 2).min((app.session.len() + 1).saturating_sub(height));
        let positions = first..=(first + height.saturating_sub(1)).min(app.session.len());
        return ("steps".to_string(), positions.map(|position| step(app, position)).collect());
    }
    let first = app.cursor.saturating_sub(height / 2).min(app.choices.len().saturating_sub(height));
    let numbers = first..(first + height).min(app.choices.len());
    let title = format!("next steps: {} of {}", app.cursor + 1, app.choices.len());
    (title, numbers.map(|number| choice(app, number)).collect())
}

fn step(app: &App<'_, '_>, position: usize) -> Line<'static> {
    let here = if position == app.at { "▸" } else { " " };
    let look = if position == app.at { Style::new().bold() } else { Style::new() };
    let Some(told) = app.session.told(position) else {
        return Line::styled(format!("{here}{position:>6}  start"), look);
    };
    let bar = if told.atomic { "┃" } else { " " };
    let width = app.session.names().all().map(|(_, name)| name.chars().count()).max().unwrap_or(0);
    let head = format!("{here}{position:>6} {:<width$} {bar} ", told.name);
    let text = format!("{}{}  ", "  ".repeat(told.depth.min(8)), told.text);
    Line::from(vec![
        Span::styled(head, of_thread(told.thread.0)),
        Span::styled(text, look),
        Span::styled(effects(told), CHANGE),
    ])
}

fn effects(told: &AnnotatedStep) -> String {
    let events = told.events.iter().map(|event| event_text(&told.name, event));
    events.chain(told.changes.iter().map(change_text)).collect::<Vec<_>>().join(", ")
}

/// A step that can be made: who, where, what, and what it would change.
fn choice(app: &App<'_, '_>, number: usize) -> Line<'static> {
    let (step, outcome) = &app.choices[number];
    let told = app.session.preview(step, outcome);
    let (here, look) = if number == app.cursor { ("▸", Style::new().bold()) } else { (" ", Style::new()) };
    let place = format!("{here} {}, line {}: ", told.name, told.position.line);
    Line::from(vec![
        Span::styled(place, of_thread(told.thread.0).patch(look)),
        Span::styled(format!("{}  ", told.text), look),
        Span::styled(effects(&told), CHANGE),
    ])
}

fn foot_line(app: &App<'_, '_>) -> Line<'static> {
    match &app.asking {
        Some((ask, typed)) => Line::from(format!("{}: {typed}_", app.title(*ask))),
        None => status(app),
    }
}

/// The error at the end, the message of the last key, and what is set.
fn status(app: &App<'_, '_>) -> Line<'static> {
    let mut parts = Vec::new();
    if let Some(ending) = app.session.ending().filter(|_| app.at == app.session.len()) {
        let text = match &ending.error {
            ReachedError::Deadlock(waits) => {
                let waits: Vec<String> = waits.iter().map(Wait::sentence).collect();
                format!("deadlock: {}", waits.join("; "))
            }
            ReachedError::Target { .. } => {
                let place = app.session.context.source.place(ending.span.start as usize);
                format!("the target is covered: {place}: {}", ending.text)
            }
            _ => format!("error: {}, line {}: {}", ending.name, ending.position.line, ending.text),
        };
        parts.push(Span::styled(text, BAD.bold()));
    }
    parts.extend((!app.message.is_empty()).then(|| Span::from(app.message.clone())));
    parts.extend(app.variable.as_ref().map(|variable| Span::from(format!("variable {variable}"))));
    parts.extend(app.breaks.iter().map(|stop| match stop {
        Break::Line(_) => Span::from(format!("stop at {}", stop.text())),
        Break::Condition(..) => Span::from(format!("stop {}", stop.text())),
    }));
    parts.push(Span::styled("? keys", DIM));
    let between = |number: usize| (number > 0).then(|| Span::styled(" · ", DIM));
    parts.into_iter().enumerate().flat_map(|(number, part)| between(number).into_iter().chain([part])).collect()
}
