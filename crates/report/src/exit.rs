//! The exit codes: one contract for every subcommand of the command line, and for reports.

use selvedge_check::{Model, Outcome, Reason, Stop};

use crate::Tone;

/// The end of a command. The order of the variants is that of severity, worst first: several inputs end in the first
/// that occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// We are wrong: an engine and the judge disagree, or something that cannot happen happened.
    Internal,
    /// The user stopped it.
    Interrupted,
    /// The command line, or the question for this program, makes no sense.
    Usage,
    /// An input could not be read or has errors, or an output could not be written.
    Input,
    /// An error can be reached.
    Unsafe,
    /// The memory or node limit was reached.
    MemoryLimit,
    /// The time limit was reached.
    TimeLimit,
    /// Not decided: a bound was reached, or no engine takes the program.
    Unknown,
    /// Safe, or, where nothing is decided, done.
    Success,
}

impl Exit {
    /// All ends, the worst first.
    pub const ALL: [Exit; 9] = [
        Exit::Internal,
        Exit::Interrupted,
        Exit::Usage,
        Exit::Input,
        Exit::Unsafe,
        Exit::MemoryLimit,
        Exit::TimeLimit,
        Exit::Unknown,
        Exit::Success,
    ];

    /// The number that the caller of the program sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Internal => 6,
            Exit::Interrupted => 130,
            Exit::Usage => 1,
            Exit::Input => 2,
            Exit::Unsafe => 10,
            Exit::MemoryLimit => 12,
            Exit::TimeLimit => 11,
            Exit::Unknown => 5,
            Exit::Success => 0,
        }
    }

    /// Returns the tone of a result that ends in this way.
    pub fn tone(self) -> Tone {
        match self {
            Exit::Success => Tone::Good,
            Exit::Internal | Exit::Usage | Exit::Input | Exit::Unsafe => Tone::Bad,
            Exit::Interrupted | Exit::MemoryLimit | Exit::TimeLimit | Exit::Unknown => Tone::Open,
        }
    }

    /// Returns the end of a command with several inputs.
    pub fn worst(exits: impl IntoIterator<Item = Exit>) -> Exit {
        exits.into_iter().min().unwrap_or(Exit::Success)
    }
}

impl From<Stop> for Exit {
    fn from(stop: Stop) -> Exit {
        match stop {
            Stop::Cancelled => Exit::Interrupted,
            Stop::TimeLimit(_) => Exit::TimeLimit,
            Stop::MemoryLimit(_) | Stop::NodeLimit(_) | Stop::StateLimit(_) | Stop::NoThread => Exit::MemoryLimit,
            Stop::PartStopped | Stop::BoundReached(_) | Stop::NoSolver | Stop::Solver(_) => Exit::Unknown,
        }
    }
}

impl From<&Reason> for Exit {
    fn from(reason: &Reason) -> Exit {
        match reason {
            Reason::Stop(stop) => Exit::from(*stop),
            Reason::Undecided { reasons, .. } => Exit::worst(reasons.iter().map(Exit::from)),
            Reason::Unsupported(_) | Reason::Truncated => Exit::Unknown,
        }
    }
}

impl<M: Model> From<&Outcome<M>> for Exit {
    fn from(outcome: &Outcome<M>) -> Exit {
        match outcome {
            Outcome::Safe(_) => Exit::Success,
            Outcome::Unsafe(_) => Exit::Unsafe,
            Outcome::Unknown(reason) => Exit::from(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_exit_is_the_first_of_the_documented_order() {
        let order = [6, 130, 1, 2, 10, 12, 11, 5, 0];
        let mut exits = vec![
            Exit::Success,
            Exit::Unknown,
            Exit::TimeLimit,
            Exit::MemoryLimit,
            Exit::Unsafe,
            Exit::Input,
            Exit::Usage,
            Exit::Interrupted,
            Exit::Internal,
        ];
        for expected in order.into_iter().rev() {
            assert_eq!(Exit::worst(exits[..1].iter().copied()).code(), expected);
            exits.remove(0);
        }
        assert_eq!(Exit::worst([Exit::Success, Exit::Unsafe, Exit::Unknown]), Exit::Unsafe);
        assert_eq!(Exit::worst([Exit::Unsafe, Exit::Input]), Exit::Input);
    }
}
