//! The judge: what a program means, and whether evidence holds.
//!
//! [`interpreter`] defines the meaning of programs: every other engine is measured by it. It is written for reading,
//! keeps whole states, makes every choice explicit and shares no code with the engines beyond the representation.
//! [`mod@replay`] executes traces on it; [`certificate`] checks certificates. [`mod@judge`] is what the driver asks
//! before a verdict leaves it.

#![warn(missing_docs)]

pub mod canonical;
pub mod certificate;
pub mod commutation;
mod deadlock;
mod domain;
pub mod enumerate;
pub mod interpreter;
pub mod judge;
mod layout;
mod machine;
mod position;
mod program;
pub mod replay;
mod semantics;
mod words;

pub use interpreter::{Interpreter, Outcome};
pub use judge::{Judged, Reject, judge};
pub use replay::{Moment, replay};
pub use selvedge_check::execution::{Frame, Prelude, Replay, State, Thread, Violation};
