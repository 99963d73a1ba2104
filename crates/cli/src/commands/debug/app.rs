//! The debugger without a terminal: keys go in, positions and texts change.

use selvedge_ir::trace::Step;
use selvedge_replay::Outcome;
use selvedge_report::names;
use selvedge_report::session::{Direction, Session, Watch};
use selvedge_report::text::change_text;

/// A key, as far as the debugger knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Enter,
    Escape,
    Backspace,
    /// The user wants to leave, whatever is being typed.
    Interrupt,
}

/// The number of rows of values that a key moves by.
const SCROLL: usize = 5;

/// The effect of a key on the debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Stay,
    Quit,
}

/// A question that the user is typing the answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    Goto,
    Watch,
    Break,
    Variable,
    Search,
    /// Which breakpoint to remove.
    Unbreak,
    /// Which watch to remove.
    Unwatch,
    Quit,
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    Line(usize),
    Condition(String, Watch),
}

impl Break {
    pub(crate) fn text(&self) -> String {
        match self {
            Break::Line(line) => format!("line {line}"),
            Break::Condition(text, _) => format!("where {text}"),
        }
    }
}

/// Steps that can be made by hand at the end of the execution.
pub(crate) type Steps<'f> = dyn Fn(&Session<'_>) -> Vec<(Step, Outcome)> + 'f;

pub(crate) struct App<'s, 'a> {
    pub(crate) session: &'s mut Session<'a>,
    pub(crate) at: usize,
    pub(crate) breaks: Vec<Break>,
    pub(crate) watches: Vec<(String, Watch)>,
    pub(crate) variable: Option<String>,
    pub(crate) asking: Option<(Ask, String)>,
    pub(crate) message: String,
    /// The text that was searched for last.
    searched: String,
    pub(crate) help: bool,
    /// The first row of the values that is shown.
    pub(crate) scroll: usize,
    /// For executions that are made by hand: who lists the next steps, those there are, and the one under the cursor.
    by_hand: Option<&'s Steps<'s>>,
    pub(crate) choices: Vec<(Step, Outcome)>,
    pub(crate) cursor: usize,
    /// Says in which error a state or step ends.
    judge: Option<&'s Judge<'s>>,
}

/// Says in which error an execution ends after this step, if in one.
pub(crate) type Judge<'f> = dyn Fn(&Step, &Outcome) -> Option<selvedge_replay::Violation> + 'f;

impl<'s, 'a> App<'s, 'a> {
    /// Walks through a finished execution, from its start.
    pub(crate) fn new(session: &'s mut Session<'a>) -> App<'s, 'a> {
        App {
            session,
            at: 0,
            breaks: Vec::new(),
            watches: Vec::new(),
            variable: None,
            asking: None,
            message: String::new(),
            searched: String::new(),
            help: false,
            scroll: 0,
            by_hand: None,
            choices: Vec::new(),
            cursor: 0,
            judge: None,
        }
    }

    /// Makes an execution by hand.
    pub(crate) fn by_hand(session: &'s mut Session<'a>, steps: &'s Steps<'s>, judge: &'s Judge<'s>) -> App<'s, 'a> {
        let mut app = App::new(session);
        app.by_hand = Some(steps);
        app.judge = Some(judge);
        app.at = app.session.len();
        app.list_choices();
        app
    }

    pub(crate) fn is_by_hand(&self) -> bool {
        self.by_hand.is_some()
    }

    pub(crate) fn press(&mut self, key: Key) -> Next {
        if key == Key::Interrupt {
            return Next::Quit;
        }
        match self.asking.take() {
            Some((Ask::Quit, _)) if matches!(key, Key::Char('y' | 'q') | Key::Enter) => return Next::Quit,
            Some((Ask::Quit, _)) => return Next::Stay,
            Some((ask, typed)) => {
                self.type_on(ask, typed, key);
                return Next::Stay;
            }
            None => {}
        }
        self.message.clear();
        let at = self.at;
        match key {
            Key::Char('?') | Key::Escape if self.help => self.help = false,
            Key::Char('?') => self.help = true,
            Key::Char('q') => return Next::Quit,
            Key::Escape => self.ask(Ask::Quit),
            Key::Char('/') => self.ask(Ask::Search),
            Key::Char('f') => self.search(Direction::Forward),
            Key::Char('F') => self.search(Direction::Backward),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(SCROLL),
            Key::PageDown => self.scroll += SCROLL,
            Key::Char('g') => self.ask(Ask::Goto),
            Key::Char('w') => self.ask(Ask::Watch),
            Key::Char('b') => self.ask(Ask::Break),
            Key::Char('v') => self.ask(Ask::Variable),
            Key::Char('x') => self.remove(Ask::Unbreak),
            Key::Char('X') => self.breaks.clear(),
            Key::Char('W') => self.remove(Ask::Unwatch),
            Key::Up | Key::Down if !self.choices.is_empty() => {
                let last = self.choices.len() - 1;
                self.cursor = if key == Key::Up { self.cursor.saturating_sub(1) } else { (self.cursor + 1).min(last) };
            }
            Key::Enter if !self.choices.is_empty() => self.choose(),
            Key::Char('u') if self.is_by_hand() => self.take_back(),
            key => match self.target(key) {
                Some(position) => self.at = position,
                None => self.message = "nothing there".to_string(),
            },
        }
        if self.at != at {
            self.list_choices();
        }
        Next::Stay
    }

    fn ask(&mut self, ask: Ask) {
        self.asking = Some((ask, String::new()));
    }

    /// Returns the words before the answer that is typed.
    pub(crate) fn title(&self, ask: Ask) -> String {
        let listed = |names: Vec<String>| {
            let numbered = names.iter().enumerate().map(|(number, name)| format!("{} {name}", number + 1));
            numbered.collect::<Vec<_>>().join(", ")
        };
        match ask {
            Ask::Goto => "go to step".to_string(),
            Ask::Watch => "watch the expression".to_string(),
            Ask::Break => "stop at the line, or where the expression holds".to_string(),
            Ask::Variable => "choose the variable".to_string(),
            Ask::Search => "find in statements and changes".to_string(),
            Ask::Unbreak => format!("remove which stop ({})", listed(self.breaks.iter().map(Break::text).collect())),
            Ask::Unwatch => {
                format!("remove which watch ({})", listed(self.watches.iter().map(|(text, _)| text.clone()).collect()))
            }
            Ask::Quit => "quit? y or n".to_string(),
        }
    }

    /// Removes the only breakpoint or watch there is, or asks which one.
    fn remove(&mut self, ask: Ask) {
        let count = if ask == Ask::Unbreak { self.breaks.len() } else { self.watches.len() };
        match count {
            0 => self.message = "there is nothing to remove".to_string(),
            1 => self.remove_number(ask, 1),
            _ => self.ask(ask),
        }
    }

    fn remove_number(&mut self, ask: Ask, number: usize) {
        match (ask, number.checked_sub(1)) {
            (Ask::Unbreak, Some(place)) if place < self.breaks.len() => drop(self.breaks.remove(place)),
            (Ask::Unwatch, Some(place)) if place < self.watches.len() => drop(self.watches.remove(place)),
            _ => self.message = format!("there is no number {number}"),
        }
    }

    /// Returns where a key leads.
    fn target(&self, key: Key) -> Option<usize> {
        use Direction::{Backward, Forward};
        let (session, at) = (&*self.session, self.at);
        let thread = session.step(at).map(|step| step.thread);
        let way = |char: char| if char.is_lowercase() { Forward } else { Backward };
        match key {
            Key::Right | Key::Char('j') => (at < session.len()).then_some(at + 1),
            Key::Left | Key::Char('k') => at.checked_sub(1),
            Key::Home => Some(0),
            Key::End => Some(session.len()),
            Key::Char(char @ ('s' | 'S')) => session.switch(at, way(char)),
            Key::Char(char @ ('t' | 'T')) => session.step_of(thread?, at, way(char)),
            Key::Char(char @ ('c' | 'C')) => session.change(self.variable.as_deref()?, at, way(char)),
            Key::Char(char @ ('n' | 'N')) => {
                let mover = session.active(at)?;
                session.within_depth(mover, session.depth(mover, at).max(1), at, way(char))
            }
            Key::Char(char @ ('o' | 'O')) => {
                let mover = session.active(at)?;
                let depth = session.depth(mover, at).saturating_sub(1);
                session.within_depth(mover, depth, at, way(char))
            }
            Key::Char(char @ ('r' | 'R')) => {
                let end = if char == 'r' { session.len() } else { 0 };
                Some(session.seek(at, way(char), |position| self.stops(position)).unwrap_or(end))
            }
            _ => None,
        }
    }

    fn stops(&self, position: usize) -> bool {
        self.breaks.iter().any(|stop| match stop {
            Break::Line(line) => self.session.next_line(position) == Some(*line),
            Break::Condition(_, watch) => {
                let thread = self.session.active(position);
                let value = watch.holds(&|name| self.session.lookup(position, thread, 0, name));
                value.unwrap_or(false)
            }
        })
    }

    fn type_on(&mut self, ask: Ask, mut typed: String, key: Key) {
        match key {
            Key::Char(char) => typed.push(char),
            Key::Backspace => drop(typed.pop()),
            Key::Enter => return self.answer(ask, typed.trim()),
            Key::Escape => return,
            _ => {}
        }
        self.asking = Some((ask, typed));
    }

    fn answer(&mut self, ask: Ask, typed: &str) {
        match ask {
            Ask::Goto => match typed.parse::<usize>() {
                Ok(step) if step <= self.session.len() => {
                    self.at = step;
                    self.list_choices();
                }
                _ => self.message = format!("there is no step {typed}"),
            },
            Ask::Search => {
                if !typed.is_empty() {
                    self.searched = typed.to_string();
                }
                self.search(Direction::Forward);
            }
            Ask::Unbreak | Ask::Unwatch => match typed.parse() {
                Ok(number) => self.remove_number(ask, number),
                Err(_) => self.message = format!("`{typed}` is not one of the numbers"),
            },
            Ask::Quit => {}
            Ask::Watch => match self.session.watch(typed) {
                Ok(watch) => self.watches.push((typed.to_string(), watch)),
                Err(error) => self.message = error.to_string(),
            },
            Ask::Break => match (typed.parse::<usize>(), self.session.watch(typed)) {
                (Ok(line), _) if !self.session.has_statement(line) => {
                    self.message = format!("no statement begins on line {line}");
                }
                (Ok(line), _) => self.toggle(Break::Line(line)),
                (Err(_), Ok(watch)) => self.toggle(Break::Condition(typed.to_string(), watch)),
                (Err(_), Err(error)) => self.message = error.to_string(),
            },
            Ask::Variable => match self.session.watch(typed) {
                Ok(_) if self.session.variables().contains(typed) => self.variable = Some(typed.to_string()),
                Ok(_) => self.message = format!("`{typed}` is not a variable"),
                Err(error) => self.message = error.to_string(),
            },
        }
    }

    /// Goes to the nearest step in a direction whose line has the text that was asked for last.
    fn search(&mut self, way: Direction) {
        if self.searched.is_empty() {
            return self.ask(Ask::Search);
        }
        let has = |position: usize| {
            self.session.told(position).is_some_and(|told| {
                let changes = told.changes.iter().map(change_text);
                let mut texts = std::iter::once(told.text.clone()).chain(changes);
                texts.any(|text| text.contains(&self.searched))
            })
        };
        match self.session.seek(self.at, way, has) {
            Some(position) => {
                self.at = position;
                self.list_choices();
            }
            None => {
                let side = if way == Direction::Forward { "later" } else { "earlier" };
                self.message = format!("no {side} step has {}", self.searched);
            }
        }
    }

    fn toggle(&mut self, wanted: Break) {
        match self.breaks.iter().position(|known| *known == wanted) {
            Some(place) => drop(self.breaks.remove(place)),
            None => self.breaks.push(wanted),
        }
    }

    /// The value of a watch here, as text.
    pub(crate) fn watched(&self, watch: &Watch) -> String {
        let thread = self.session.active(self.at);
        match self.session.evaluate(self.at, thread, 0, watch) {
            Ok(value) => names::value(value),
            Err(error) => error.to_string(),
        }
    }

    fn list_choices(&mut self) {
        self.cursor = 0;
        let at_end = self.at == self.session.len() && self.session.ending().is_none();
        self.choices = match self.by_hand {
            Some(steps) if at_end => steps(self.session),
            _ => Vec::new(),
        };
    }

    /// Makes the step under the cursor.
    fn choose(&mut self) {
        let (step, outcome) = self.choices[self.cursor].clone();
        let violation = self.judge.and_then(|judge| judge(&step, &outcome));
        self.session.push(step, outcome, violation.as_ref());
        self.at = self.session.len();
    }

    /// Goes back to a position and forgets what came after it.
    fn take_back(&mut self) {
        let position = self.at.saturating_sub(usize::from(self.at == self.session.len()));
        self.session.truncate(position);
        self.at = position;
        self.list_choices();
    }
}
