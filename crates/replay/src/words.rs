//! The wording of what the judge finds. No judgement rests on it.

use std::fmt;

use selvedge_ir::pds::Pds;

use crate::certificate::{Flaw, Refused, Unjudged};
use crate::interpreter::Illegal;
use crate::judge::Reject;
use crate::replay::{Mismatch, Moment, Reason};

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Illegal::NoSuchThread(id) => write!(f, "there is no live thread {}", id.0),
            Illegal::AtomicElsewhere(_) => write!(f, "another thread holds the atomic flag"),
            Illegal::WrongPlace(edge) => write!(f, "the thread is not where edge {} begins", edge.index()),
            Illegal::WrongChoices => write!(f, "the choices are not those of the edge"),
            Illegal::WrongFresh(var) => write!(f, "variable {} does not start with any value here", var.index()),
            Illegal::WrongThreads => write!(f, "the program does not start with these threads"),
            Illegal::Overflow => write!(f, "an integer leaves the range of 64 bits"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.moment {
            Moment::Start => write!(f, "at the start: ")?,
            Moment::Step(number) => write!(f, "in step {}: ", number + 1)?,
            Moment::End => write!(f, "at the end: ")?,
        }
        match &self.reason {
            Reason::Illegal(illegal) => write!(f, "{illegal}"),
            Reason::Blocked => write!(f, "a condition does not hold"),
            Reason::OtherFailure => write!(f, "an assertion fails that was not asked for"),
            Reason::GoesOn => write!(f, "the trace goes on after its error"),
            Reason::NoError => write!(f, "the trace ends without an error"),
            Reason::TooManySteps => write!(f, "too many steps must be tried to see whether no thread can move"),
            Reason::TooLong => write!(f, "the shared bodies have too many steps, or are nested too deeply"),
            Reason::WrongBody => write!(f, "the shared body does not run from the callee's entry through its return"),
        }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reject::Trace(mismatch) => write!(f, "the trace does not replay: {mismatch}"),
            Reject::Certificate(flaw) => write!(f, "{}", flaw.rejection()),
        }
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Flaw::Start(loc) => write!(f, "it does not allow every start at location {}", loc.index()),
            Flaw::NotClosed(edge) => write!(f, "it is not closed under edge {}", edge.index()),
            Flaw::Entry(edge) => write!(f, "it does not allow every entry by the call of edge {}", edge.index()),
            Flaw::Summary(edge) => write!(f, "the summary lacks the return of edge {}", edge.index()),
            Flaw::Location(loc) => write!(f, "it allows a thread at the error location {}", loc.index()),
            Flaw::Assert(edge) => write!(f, "it allows the failure of the assertion of edge {}", edge.index()),
            Flaw::Deadlock(loc) => write!(f, "there is a deadlock with a thread at location {}", loc.index()),
            Flaw::Base(steps) => write!(f, "it denies an error within {steps} steps"),
            Flaw::Step => write!(f, "its induction step does not hold"),
            Flaw::Malformed(Some(proc)) => write!(f, "its formulas do not fit procedure {}", proc.index()),
            Flaw::Malformed(None) => write!(f, "it is malformed"),
            Flaw::OutOfScope(why) => write!(f, "it does not cover the program: {why}"),
            Flaw::SatProof => write!(f, "the SAT solver's proof does not check"),
            Flaw::Initial(number) => write!(f, "it does not allow all of start {number}"),
            Flaw::Rule(rule) => write!(f, "it is not closed under rule {rule}"),
            Flaw::Target(number) => write!(f, "it allows target {number}"),
            Flaw::SolversDisagree { sat, unsat } => {
                write!(f, "the solvers disagree: {unsat} says `unsat`, {sat} says `sat`")
            }
        }
    }
}

impl Refused {
    /// The flaw, if there is one.
    pub fn flaw(self) -> Option<Flaw> {
        match self {
            Refused::Flawed(flaw) => Some(flaw),
            Refused::Unjudged(_) => None,
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Flawed(flaw) => write!(f, "{flaw}"),
            Refused::Unjudged(unjudged) => write!(f, "{unjudged}"),
        }
    }
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unjudged::Beyond(why) => write!(f, "the judge cannot check it: {why}"),
            Unjudged::Stopped(stop) => write!(f, "its check was not finished: {stop}"),
        }
    }
}

impl Flaw {
    /// Says that a certificate is not accepted. Where solvers disagree, the certificate may be right.
    pub fn rejection(&self) -> String {
        match self {
            Flaw::SolversDisagree { .. } => format!("the certificate is not accepted: {self}"),
            _ => format!("the certificate is flawed: {self}"),
        }
    }

    /// Says what is wrong with a certificate about a pushdown system, in the names of the system.
    pub fn show(&self, pds: &Pds) -> String {
        let shown = match self {
            Flaw::Initial(number) => pds
                .initial
                .get(*number)
                .map(|config| format!("the initial configuration {} is on the wrong side", pds.show(config))),
            Flaw::Rule(number) => {
                pds.rules.iter().nth(*number).map(|rule| format!("it is not closed under {}", pds.show_rule(rule)))
            }
            Flaw::Target(number) => {
                pds.targets.get(*number).map(|head| format!("the target {} is on the wrong side", pds.show_head(*head)))
            }
            Flaw::Malformed(_) => Some("it speaks of states or symbols that are not there".to_string()),
            _ => None,
        };
        shown.unwrap_or_else(|| self.to_string())
    }
}
