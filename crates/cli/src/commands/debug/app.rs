//! The debugger without a terminal: keys go in, positions and texts change.

use std::collections::BTreeSet;

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
}

impl Ask {
    pub(crate) fn title(self) -> &'static str {
        match self {
            Ask::Goto => "go to step",
            Ask::Watch => "watch the expression",
            Ask::Break => "stop at the line, or where the expression holds",
            Ask::Variable => "choose the variable",
            Ask::Search => "find in statements and changes",
        }
    }
}

/// A breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Break {
    Line(usize),
    Condition(String, Watch),
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
        if let Some((ask, typed)) = self.asking.take() {
            self.type_on(ask, typed, key);
            return Next::Stay;
        }
        self.message.clear();
        let at = self.at;
        match key {
            Key::Char('?') | Key::Escape if self.help => self.help = false,
            Key::Char('?') => self.help = true,
            Key::Char('q') => return Next::Quit,
            Key::Escape => self.message = "press q to quit".to_string(),
            Key::Char('/') => self.asking = Some((Ask::Search, String::new())),
            Key::PageUp => self.scroll = self.scroll.saturating_sub(SCROLL),
            Key::PageDown => self.scroll += SCROLL,
            Key::Char('g') => self.asking = Some((Ask::Goto, String::new())),
            Key::Char('w') => self.asking = Some((Ask::Watch, String::new())),
            Key::Char('b') => self.asking = Some((Ask::Break, String::new())),
            Key::Char('v') => self.asking = Some((Ask::Variable, String::new())),
            Key::Char('x') => self.breaks.clear(),
            Key::Char('W') => self.watches.clear(),
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
            Ask::Search => self.search(typed),
            Ask::Watch => match Watch::parse(typed) {
                Ok(watch) => self.watches.push((typed.to_string(), watch)),
                Err(error) => self.message = error.to_string(),
            },
            Ask::Break => match (typed.parse::<usize>(), Watch::parse(typed)) {
                (Ok(line), _) => self.toggle(Break::Line(line)),
                (Err(_), Ok(watch)) => self.toggle(Break::Condition(typed.to_string(), watch)),
                (Err(_), Err(error)) => self.message = error.to_string(),
            },
            Ask::Variable => {
                let known = self.variables();
                if known.contains(typed) {
                    self.variable = Some(typed.to_string());
                } else {
                    self.message = format!("there is no variable {typed}");
                }
            }
        }
    }

    /// Goes to the next step whose line has a text; an empty text means the last one.
    fn search(&mut self, typed: &str) {
        if !typed.is_empty() {
            self.searched = typed.to_string();
        }
        let has = |position: &usize| {
            self.session.told(*position).is_some_and(|told| {
                let changes = told.changes.iter().map(change_text);
                let mut texts = std::iter::once(told.text.clone()).chain(changes);
                texts.any(|text| text.contains(&self.searched))
            })
        };
        match (self.at + 1..=self.session.len()).find(has) {
            Some(position) => {
                self.at = position;
                self.list_choices();
            }
            None => self.message = format!("no later step has {}", self.searched),
        }
    }

    fn toggle(&mut self, wanted: Break) {
        match self.breaks.iter().position(|known| *known == wanted) {
            Some(place) => drop(self.breaks.remove(place)),
            None => self.breaks.push(wanted),
        }
    }

    fn variables(&self) -> BTreeSet<String> {
        let program = self.session.context.program;
        let names = names::Names::new(program);
        program.vars.indices().map(|var| names.of(var)).collect()
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
