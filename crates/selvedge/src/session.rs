//! Questions about one program after the other.

use crate::answer::check;
use crate::evidence::SavedEvidence;
use crate::{Answer, Error, Limits, Program, Question};

/// Questions about programs of which each is a changed form of the one before, as a loop of refinements asks them.
///
/// The evidence of the last answer is tried first: if the old execution still replays, or the judge still accepts the
/// old certificate, that is the answer, without a search. Otherwise engines search as [`check`](crate::check) does. So
/// the answers are judged in either case; which execution is shown can depend on the questions before.
///
/// ```
/// use selvedge::{Limits, Program, Question, Session, Verdict};
///
/// let text = "void main() begin decl a, b; a := *; b := a; assert(a = b); end";
/// let mut session = Session::new();
/// let first = session.check(&text.parse()?, &Question::new(), &Limits::default())?;
/// let changed: Program = text.replace("a := *", "a := 1").parse()?;
/// let second = session.check(&changed, &Question::new(), &Limits::default())?;
/// assert_eq!((first.verdict(), second.verdict()), (Verdict::Safe, Verdict::Safe));
/// # Ok::<(), selvedge::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Session {
    evidence: Option<SavedEvidence>,
}

impl Session {
    /// Creates a session in which nothing was asked.
    pub fn new() -> Session {
        Session::default()
    }

    /// Answers a question about a program, with what is known from the last answer.
    pub fn check(&mut self, program: &Program, question: &Question, limits: &Limits) -> Result<Answer, Error> {
        let answer = check(program, question, limits, self.evidence.clone())?;
        self.evidence = answer.evidence().or(self.evidence.take());
        Ok(answer)
    }
}
