//! Breakpoints: on lines, labels, procedures and changes of variables, with conditions, numbers of hits and messages.
//!
//! The execution is given, so all places where a breakpoint is met are found when it is set. A hit has a number in the
//! whole execution: the third hit is the same place, whether it is met forwards or backwards, and however often.

use selvedge_report::session::{Direction, Session, Watch};
use serde_json::{Value, json};

use super::walker::Lines;

/// The kind of a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Before a statement of this line of a file.
    Line(String, usize),
    /// Before the first step of a procedure, or at a label.
    Name(String),
    /// A change of a variable of this name.
    Data(String),
}

/// A breakpoint as the client wishes it.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    id: u64,
    pub(super) kind: Kind,
    condition: String,
    hits: String,
    log: String,
}

/// All breakpoints.
#[derive(Clone, Debug, Default)]
pub(super) struct Breaks {
    pub(super) wishes: Vec<Wish>,
    set: Vec<Break>,
    last: u64,
}

/// A breakpoint that can be met.
#[derive(Clone, Debug)]
struct Break {
    id: u64,
    kind: Kind,
    /// The positions where it is met, in ascending order; of a change, those after the step that makes it.
    positions: Vec<usize>,
    /// What is written instead of a stop.
    log: Option<Message>,
}

/// A message with expressions in it.
#[derive(Clone, Debug)]
struct Message(Vec<Piece>);

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Value(Watch),
}

/// A breakpoint that ends a run, and why.
pub(super) struct Hit {
    pub(super) id: u64,
    pub(super) reason: &'static str,
}

impl Breaks {
    /// Replaces the breakpoints of a kind by those that the client wishes, and returns what it is told about them.
    pub(super) fn replace(
        &mut self,
        session: &Session<'_>,
        is_old: impl Fn(&Kind) -> bool,
        kind: impl Fn(&Value) -> Kind,
        wishes: &Value,
        lines: Lines,
    ) -> Value {
        self.wishes.retain(|wish| !is_old(&wish.kind));
        self.set.retain(|set| !is_old(&set.kind));
        let wishes = wishes.as_array().map_or(&[][..], Vec::as_slice);
        let told: Vec<Value> = wishes.iter().map(|wish| self.add(session, kind(wish), wish, lines)).collect();
        json!({ "breakpoints": told })
    }

    fn add(&mut self, session: &Session<'_>, kind: Kind, wish: &Value, lines: Lines) -> Value {
        self.last += 1;
        let text = |name: &str| wish[name].as_str().unwrap_or_default().trim().to_string();
        let (condition, hits, log) = (text("condition"), text("hitCondition"), text("logMessage"));
        let wish = Wish { id: self.last, kind, condition, hits, log };
        let mut told = json!({ "id": wish.id, "verified": true });
        if let Kind::Line(_, line) = &wish.kind {
            told["line"] = json!(lines.shown(*line));
        }
        match wish.set(session) {
            Ok(set) => self.set.push(set),
            Err(message) => (told["verified"], told["message"]) = (json!(false), json!(message)),
        }
        self.wishes.push(wish);
        told
    }

    /// Sets the breakpoints again, in another execution. Those that make no sense there are not met.
    pub(super) fn renew(&mut self, session: &Session<'_>) {
        self.set = self.wishes.iter().filter_map(|wish| wish.set(session).ok()).collect();
    }

    /// Returns the breakpoint that stops a run at a position. A change is met on its far side: forwards after the step
    /// that made it, backwards before that step.
    pub(super) fn stop_at(&self, position: usize, way: Direction) -> Option<Hit> {
        let is_met = |set: &&Break| set.log.is_none() && set.is_met(position, way);
        self.set.iter().find(is_met).map(|set| Hit { id: set.id, reason: set.reason() })
    }

    /// Returns the messages of a position that is reached forwards.
    pub(super) fn messages(&self, session: &Session<'_>, position: usize) -> Vec<String> {
        let met = self.set.iter().filter(|set| set.is_met(position, Direction::Forward));
        met.filter_map(|set| Some(set.log.as_ref()?.text(session, position))).collect()
    }
}

impl Break {
    fn is_met(&self, position: usize, way: Direction) -> bool {
        let position = match (&self.kind, way) {
            (Kind::Data(_), Direction::Backward) => position + 1,
            _ => position,
        };
        self.positions.binary_search(&position).is_ok()
    }

    /// Returns what the client is told.
    fn reason(&self) -> &'static str {
        match self.kind {
            Kind::Line(..) => "breakpoint",
            Kind::Name(_) => "function breakpoint",
            Kind::Data(_) => "data breakpoint",
        }
    }
}

impl Wish {
    /// Returns the breakpoint with all places where it is met, or why there can be none.
    fn set(&self, session: &Session<'_>) -> Result<Break, String> {
        if !is_known(session, &self.kind) {
            return Err("there is no such place in the program".to_string());
        }
        let watch = |text: &str| session.watch(text).map_err(|error| error.to_string());
        let condition = Some(self.condition.as_str()).filter(|text| !text.is_empty()).map(watch).transpose()?;
        let holds = |position: usize| {
            let thread = session.active(position);
            let lookup = |name: &str| session.lookup(position, thread, 0, name);
            condition.as_ref().is_none_or(|condition| condition.holds(&lookup).unwrap_or(false))
        };
        let met = (0..=session.len()).filter(|position| is_here(session, &self.kind, *position) && holds(*position));
        let counted = hits(&self.hits)?;
        let positions = met.zip(1..).filter(|(_, number)| counted(*number)).map(|(position, _)| position).collect();
        let log = Some(self.log.as_str()).filter(|text| !text.is_empty());
        let log = log.map(|text| Message::read(text, session)).transpose()?;
        Ok(Break { id: self.id, kind: self.kind.clone(), positions, log })
    }
}

/// Returns whether an execution is at a place at a position.
fn is_here(session: &Session<'_>, kind: &Kind, position: usize) -> bool {
    let program = session.context.program;
    match kind {
        Kind::Line(path, line) => next_place(session, position).is_some_and(|place| place == (path.clone(), *line)),
        Kind::Name(name) => session.next_loc(position).is_some_and(|loc| {
            let is_label = program.labels.iter().any(|label| label.loc == loc && label.name == *name);
            is_label || program.procs.iter().any(|proc| proc.entry == loc && proc.name == *name)
        }),
        Kind::Data(name) => session.changes(position, name),
    }
}

/// Returns the file and the line of the statement that is next.
fn next_place(session: &Session<'_>, position: usize) -> Option<(String, usize)> {
    session.next_span(position).map(|span| place(session, span.start as usize))
}

/// Returns the file and the line of a byte.
pub(super) fn place(session: &Session<'_>, offset: usize) -> (String, usize) {
    let (file, start) = session.context.source.part(offset);
    (absolute(&file.path), file.line(offset - start))
}

/// Returns a path as clients have it.
pub(super) fn absolute(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_string(), |path| path.to_string_lossy().into_owned())
}

/// Returns whether a breakpoint can be met.
fn is_known(session: &Session<'_>, kind: &Kind) -> bool {
    let program = session.context.program;
    match kind {
        Kind::Line(path, line) => statements(session).any(|place| place == (path.clone(), *line)),
        Kind::Name(name) => {
            let is_label = program.labels.iter().any(|label| label.name == *name);
            is_label || program.procs.iter().any(|proc| proc.name == *name)
        }
        Kind::Data(name) => session.variables().contains(name),
    }
}

/// Returns the file and the line of each statement.
pub(super) fn statements(session: &Session<'_>) -> impl Iterator<Item = (String, usize)> {
    session.context.map.edges.iter().map(|origin| place(session, origin.span.start as usize))
}

/// Reads which hits count: `= 3` the third, `3` or `>= 3` from the third on, `> 3`, `<= 3`, `< 3`, `% 3` each third;
/// without a text all.
fn hits(text: &str) -> Result<impl Fn(u64) -> bool, String> {
    let sign = text.find(|char: char| char.is_ascii_digit()).unwrap_or(text.len());
    let (sign, number) = (text[..sign].trim(), text[sign..].trim());
    let wrong = || format!("`{text}` is not a number of hits: write `= 3`, `>= 3`, `> 3`, `<= 3`, `< 3` or `% 3`");
    let is_known = matches!(sign, "" | "=" | "==" | ">=" | ">" | "<=" | "<" | "%");
    let wanted: u64 = if text.is_empty() { 0 } else { number.parse().map_err(|_| wrong())? };
    if !is_known || (sign == "%" && wanted == 0) {
        return Err(wrong());
    }
    let (sign, is_empty) = (sign.to_string(), text.is_empty());
    Ok(move |number: u64| match sign.as_str() {
        _ if is_empty => true,
        "" | ">=" => number >= wanted,
        ">" => number > wanted,
        "<=" => number <= wanted,
        "<" => number < wanted,
        "%" => number.is_multiple_of(wanted),
        _ => number == wanted,
    })
}

impl Message {
    /// Reads a message: an expression in braces stands for its value, and a brace behind `\` for itself.
    fn read(text: &str, session: &Session<'_>) -> Result<Message, String> {
        let (mut pieces, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some(first) = rest.chars().next() {
            let escaped =
                rest.strip_prefix('\\').and_then(|rest| rest.chars().next()).filter(|next| "{}\\".contains(*next));
            if let Some(next) = escaped {
                plain.push(next);
                rest = &rest[1 + next.len_utf8()..];
            } else if first == '{' {
                let (expression, behind) = rest[1..].split_once('}').ok_or("`{` has no `}`")?;
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
                pieces.push(Piece::Value(session.watch(expression).map_err(|error| error.to_string())?));
                rest = behind;
            } else {
                plain.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        pieces.push(Piece::Text(plain));
        Ok(Message(pieces))
    }

    /// Returns the message with the values at a position, as the thread sees them that moves next.
    fn text(&self, session: &Session<'_>, position: usize) -> String {
        let thread = session.active(position);
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(watch) => match session.evaluate(position, thread, 0, watch) {
                Ok(value) => selvedge_report::names::value(value),
                Err(error) => format!("<{error}>"),
            },
        };
        self.0.iter().map(piece).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::hits;

    #[test]
    fn numbers_of_hits_have_operators() {
        let counted =
            |text: &str| hits(text).map(|counts| (1..=6).filter(|number| counts(*number)).collect::<Vec<_>>());
        assert_eq!(counted(""), Ok(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!((counted("= 3"), counted("==3"), counted("5")), (Ok(vec![3]), Ok(vec![3]), Ok(vec![5, 6])));
        assert_eq!((counted(">=5"), counted("> 5")), (Ok(vec![5, 6]), Ok(vec![6])));
        assert_eq!((counted("<= 2"), counted("<2")), (Ok(vec![1, 2]), Ok(vec![1])));
        assert_eq!(counted("%2"), Ok(vec![2, 4, 6]));
        for wrong in ["often", "% 0", "3 times", "-1", "=> 3", "% "] {
            assert!(counted(wrong).is_err_and(|error| error.contains("number of hits")), "{wrong}");
        }
    }
}
