//! Selvedge as a library: read a program with threads, ask whether an error can be reached, and get an answer with its
//! evidence, an execution that was replayed or a certificate that an independent judge accepted.
//!
//! ```
//! use selvedge::{Limits, Program, Question, check};
//!
//! fn main() -> Result<(), selvedge::Error> {
//!     let text = "decl lock := 0; decl inside := 0;
//!         void worker() begin while lock do skip; od; lock := 1;
//!             assert(!inside); inside := 1; inside := 0; lock := 0; end
//!         void main() begin start_thread worker(); start_thread worker(); end";
//!     let (program, question, limits) = (text.parse()?, Question::new().threads(3), Limits::default());
//!     let broken = check(&program, &question, &limits)?;
//!     for step in broken.trace().expect("the program is unsafe").steps() {
//!         println!("{}, line {}: {}", step.thread, step.line, step.statement);
//!     }
//!     let mended: Program = text.replace("while lock do skip; od; lock := 1;", "lock := 1 constrain !lock;").parse()?;
//!     let safe = check(&mended, &question, &limits)?;
//!     let certificate = safe.certificate().expect("the program is safe");
//!     certificate.verify(&mended, &question, &limits)?;
//!     assert!(certificate.verify(&program, &question, &limits).is_err());
//!     Ok(())
//! }
//! ```
//!
//! - [`Program`] is a text in one of the [`Language`]s; [`Reader`] has the options of reading it.
//! - [`Question`] says what is asked: about how many threads, about which errors.
//! - [`Limits`] says how: time, memory, engines, a switch to cancel, a listener for progress.
//! - [`check`] returns an [`Answer`], with a [`Trace`] or a [`Certificate`], which can be written, read and verified.
//! - [`Session`] asks about one program after the other, as a loop of refinements does.
//!
//! What the questions and languages mean is in the documentation of the command line, which asks the same questions.
//! Pushdown systems are for the command line alone.

#![warn(missing_docs)]

mod answer;
mod choices;
mod error;
mod evidence;
mod limits;
mod posed;
mod program;
mod question;
mod session;
mod trace;

pub use answer::{Answer, Verdict};
pub use choices::{DataModel, Dialect, Extern, Language, Property};
pub use error::{Diagnostic, Error, Severity};
pub use evidence::{Certificate, Verified};
pub use limits::{CancelToken, Limits, Progress};
pub use program::{Program, Reader};
pub use question::Question;
pub use session::Session;
pub use trace::{Change, Failure, Step, Trace, Value};

/// Answers a question about a program.
///
/// The answer is judged before it is returned: an unsafe one has an execution that was replayed, and a safe one says
/// whether a certificate was accepted ([`Answer::is_certified`]). What is not decided within the limits is an answer
/// too, [`Verdict::Unknown`]. An error means that there is no question to answer: the program has mistakes, or the
/// question does not fit it.
///
/// ```
/// use selvedge::{Limits, Program, Question, Verdict, check};
///
/// let program: Program = "void main() begin decl x; x := 1; assert(x); end".parse()?;
/// let answer = check(&program, &Question::new(), &Limits::default())?;
/// assert_eq!(answer.verdict(), Verdict::Safe);
/// # Ok::<(), selvedge::Error>(())
/// ```
pub fn check(program: &Program, question: &Question, limits: &Limits) -> Result<Answer, Error> {
    answer::check(program, question, limits, None)
}
