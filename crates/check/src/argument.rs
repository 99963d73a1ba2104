//! Why nothing was left to look at.

use std::fmt;

/// An argument that closed a search, or a part of it. It explains a safe answer and is not evidence: it is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Argument {
    /// Longer paths repeat a state: the recurrence diameter, by SAT.
    RecurrenceDiameter,
    /// All that is reached next was reached before: a fixed point, by formulas with one alternation of quantifiers.
    FixedPoint,
    /// Calls that nest deeper repeat an entry together with its exit, by SAT.
    NestedSummaries,
    /// All states were looked at, and they are too many for a certificate.
    TooManyStates,
    /// Every state of one round more is reached in this many rounds, by a game of two players.
    Adequacy,
}

impl Argument {
    /// All arguments.
    pub const ALL: &'static [Argument] = &[
        Argument::RecurrenceDiameter,
        Argument::FixedPoint,
        Argument::NestedSummaries,
        Argument::TooManyStates,
        Argument::Adequacy,
    ];

    /// A name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Argument::RecurrenceDiameter => "recurrence-diameter",
            Argument::FixedPoint => "fixed-point",
            Argument::NestedSummaries => "nested-summaries",
            Argument::TooManyStates => "too-many-states",
            Argument::Adequacy => "adequacy",
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Argument::RecurrenceDiameter => "longer paths repeat a state (recurrence diameter, SAT)",
            Argument::FixedPoint => "nothing new is reached (fixed point, 2QBF)",
            Argument::Adequacy => "no round reaches a new state (adequacy game)",
            Argument::NestedSummaries => "deeper calls repeat an entry and its exit (unrolling with distinctness, SAT)",
            Argument::TooManyStates => "all states were explored, and they are too many for a certificate",
        })
    }
}
