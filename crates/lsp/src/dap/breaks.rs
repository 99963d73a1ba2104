//! Breakpoints: on lines with conditions, on labels and procedures, and on changes of variables.

use selvedge_report::session::{Direction, Session, Watch};

/// A breakpoint.
pub(super) struct Break {
    pub(super) id: u64,
    pub(super) kind: Kind,
    pub(super) condition: Option<Watch>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Before a statement of this line.
    Line(usize),
    /// Before the first step of a procedure, or at a label.
    Name(String),
    /// A change of a variable of this name.
    Data(String),
}

impl Break {
    /// Returns what the client is told.
    pub(super) fn reason(&self) -> &'static str {
        match self.kind {
            Kind::Line(_) => "breakpoint",
            Kind::Name(_) => "function breakpoint",
            Kind::Data(_) => "data breakpoint",
        }
    }

    /// Returns whether a run in this direction stops at a position. A change is met on its far side: forwards after
    /// the step that made it, backwards before that step.
    pub(super) fn stops(&self, session: &Session<'_>, position: usize, way: Direction) -> bool {
        let here = match &self.kind {
            Kind::Line(line) => session.next_line(position) == Some(*line),
            Kind::Name(name) => is_named(session, position, name),
            Kind::Data(name) => {
                let step = match way {
                    Direction::Forward => position,
                    Direction::Backward => position + 1,
                };
                session.changes(step, name)
            }
        };
        here && self.condition.as_ref().is_none_or(|condition| {
            let thread = session.active(position);
            condition.holds(&|name| session.lookup(position, thread, 0, name)).unwrap_or(false)
        })
    }
}

fn is_named(session: &Session<'_>, position: usize, name: &str) -> bool {
    let program = session.context.program;
    let Some(loc) = session.next_loc(position) else { return false };
    let is_label = program.labels.iter().any(|label| label.loc == loc && label.name == name);
    is_label || program.procs.iter().any(|proc| proc.entry == loc && proc.name == name)
}

/// Returns whether a breakpoint on this name can be met.
pub(super) fn is_known(session: &Session<'_>, name: &str) -> bool {
    let program = session.context.program;
    program.labels.iter().any(|label| label.name == name) || program.procs.iter().any(|proc| proc.name == name)
}
